/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The examples of the specification that XIR implements, section by section, with the public headers alone. The
 * expected results are those that it prints, except where newer facts differ; each such place says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xir/xir.h>
#include <xir/icraft.h>
#include "support/program.h"
#include "support/scratch.h"

static xir_context *ctx;
static xir_diags   *why;

static void assert_text(xir_text_buffer *text, const char *expected) {
    char *terminated = malloc(text->size + 1);
    memcpy(terminated, text->data, text->size);
    terminated[text->size] = '\0';
    assert_string_equal(terminated, expected);
    free(terminated);
    xir_text_free(text);
}

static void assert_object(const void *object, int indent, const char *expected) {
    xir_text_buffer text = { 0 };
    assert_non_null(object);
    assert_int_equal(xir_object_print(ctx, object, indent, &text), XIR_OK);
    assert_text(&text, expected);
}

static void assert_value(const xir_value *value, const char *expected) {
    xir_text_buffer text = { 0 };
    assert_int_equal(xir_value_print(value, 0, &text), XIR_OK);
    assert_text(&text, expected);
}

static const xir_type *fp32(void) { return xir_type_float(ctx, XIR_FLOAT_FP32); }
static const xir_type *image(void) { return XIR_TENSOR(ctx, fp32(), "NHWC", 1, 416, 416, 3); }

/* ---- 1: building a network ------------------------------------------------------------------------------------ */

typedef struct whatever { xir_network *net; xir_value *weights, *pooled; } whatever;

static whatever build(void) {
    whatever w = { .net = xir_network_new(ctx, "whatever", XIR_FRAMEWORK_PYTORCH, "v1.9") };
    xir_at at = XIR_AT(w.net);
    xir_value *input = xir_input(at, NULL, image());
    w.weights = xir_params_new(w.net, XIR_STR(""), XIR_TENSOR(ctx, fp32(), "HWIO", 3, 3, 3, 16));
    xir_conv2d_attrs one = xir_conv2d_attrs_square(1, 1, 1, 1);
    xir_op *conv2d = xir_add_conv2d(at, (xir_conv2d_in){ .input = input, .weights = w.weights }, &one);
    xir_op *relu = xir_add_relu(at, (xir_relu_in){ .input = xir_op_output(conv2d, 0) }, NULL);
    xir_max_pool2d_attrs pool = xir_max_pool2d_attrs_square(3, 2, 1, 1);
    w.pooled = XIR_OP(at, max_pool2d, .input = xir_op_output(relu, 0), .attrs = &pool);
    xir_output(at, XIR_VALUES(w.pooled));
    assert_int_equal(xir_network_status(w.net), XIR_OK);
    return w;
}

static void the_network_is_numbered_and_typed_as_printed(void **state) {
    (void)state;
    whatever w = build();
    assert_int_equal(xir_network_op_count(w.net), 5);
    for (int64_t i = 0; i < 5; i++) assert_int_equal(xir_op_id(xir_network_op_at(w.net, i)), i);
    assert_int_equal(xir_value_id(w.weights), 1);
    assert_int_equal(xir_value_id(w.pooled), 4);
    assert_value(w.pooled,
        "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\","
        "\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NHWC)\",\"merged_distrs\":[],\"shape\":[1,208,208,16]},"
        "\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":4}");
    assert_int_equal(xir_network_validate(w.net, why), XIR_OK);
    xir_network_free(w.net);
}

/* ---- 2.1: output streams --------------------------------------------------------------------------------------- */

static void anything_prints(void **state) {
    (void)state;
    whatever w = build();
    assert_object(image(), 0,
        "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NHWC)\","
        "\"merged_distrs\":[],\"shape\":[1,416,416,3]}");
    /* The specification prints 416 input channels, its code has 3. */
    assert_value(w.weights,
        "{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\",\"dtype\":{\"_type_key\":"
        "\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(HWIO)\",\"merged_distrs\":[],"
        "\"shape\":[3,3,3,16]},\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":1}");
    xir_text_buffer text = { 0 };
    assert_int_equal(xir_op_print(xir_network_op_by_id(w.net, 3), 4, &text), XIR_OK);
    assert_text(&text,
        "{\n    \"_type_key\": \"icraft::xir::MaxPool2d\",\n    \"compile_target\": \"@hostt\",\n"
        "    \"dilation_height\": 1,\n    \"dilation_width\": 1,\n    \"inputs\": [\n        {\n"
        "            \"_type_key\": \"icraft::xir::Value\",\n            \"dtype\": {\n"
        "                \"_type_key\": \"icraft::xir::TensorType\",\n                \"element_dtype\": \"@fp(32)\",\n"
        "                \"layout\": \"@layout(NHWC)\",\n                \"merged_distrs\": [],\n"
        "                \"shape\": [\n                    1,\n                    416,\n                    416,\n"
        "                    16\n                ]\n            },\n            \"mtype\": \"@hostm\",\n"
        "            \"name\": \"\",\n            \"tags\": {},\n            \"v_id\": 3\n        }\n    ],\n"
        "    \"name\": \"\",\n    \"op_id\": 3,\n    \"outputs\": [\n        {\n"
        "            \"_type_key\": \"icraft::xir::Value\",\n            \"dtype\": {\n"
        "                \"_type_key\": \"icraft::xir::TensorType\",\n                \"element_dtype\": \"@fp(32)\",\n"
        "                \"layout\": \"@layout(NHWC)\",\n                \"merged_distrs\": [],\n"
        "                \"shape\": [\n                    1,\n                    208,\n                    208,\n"
        "                    16\n                ]\n            },\n            \"mtype\": \"@hostm\",\n"
        "            \"name\": \"\",\n            \"tags\": {},\n            \"v_id\": 4\n        }\n    ],\n"
        "    \"pad_bottom\": 1,\n    \"pad_left\": 1,\n    \"pad_right\": 1,\n    \"pad_top\": 1,\n"
        "    \"pool_height\": 3,\n    \"pool_width\": 3,\n    \"stride_height\": 2,\n    \"stride_width\": 2,\n"
        "    \"tags\": {}\n}");
    xir_network_free(w.net);
}

/* ---- 2.2 to 2.4: files ------------------------------------------------------------------------------------------- */

static float count_up(size_t i) { return (float)i; }

static void weights_come_back(unsigned how) {
    whatever w = build();
    assert_int_equal(xir_params_fill_f32(w.weights, count_up), XIR_OK);
    char json[PATH_MAX + 32], raw[PATH_MAX + 32];
    snprintf(json, sizeof json, "%s/whatever.json", scratch_folder);
    snprintf(raw, sizeof raw, "%s/whatever.params", scratch_folder);
    assert_int_equal(xir_json_save(w.net, json, 0, why), XIR_OK);
    assert_int_equal(xir_raw_save(w.net, raw, why), XIR_OK);

    xir_network *net = xir_json_load(ctx, json, why);
    assert_non_null(net);
    assert_int_equal(xir_raw_load(net, raw, how, why), XIR_OK);
    const xir_value *loaded = xir_op_input(xir_network_op_by_id(net, 1), 1);
    assert_true(xir_params_is_lazy(loaded) == (how == XIR_LOAD_LAZY));
    uint64_t size, expected;
    const void *bytes = xir_params_data(loaded, &size), *filled = xir_params_data(w.weights, &expected);
    assert_int_equal(size, expected);
    assert_int_equal(size, 3 * 3 * 3 * 16 * sizeof(float));
    assert_memory_equal(bytes, filled, size);
    xir_network_free(net);
    xir_network_free(w.net);
}

static void weights_come_back_at_once(void **state) {
    (void)state;
    weights_come_back(0);
}

static void weights_come_back_lazily(void **state) {
    (void)state;
    weights_come_back(XIR_LOAD_LAZY);
}

/* ---- 3.1: memory types ------------------------------------------------------------------------------------------- */

#define IMAGE_TYPE "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NHWC)\"," \
                   "\"merged_distrs\":[],\"shape\":[1,416,416,3]}"

/* The value of an op that has no place in the order has a negative id; its number does not matter. */
static void assert_unplaced(xir_value *value, const char *before, const char *after) {
    char expected[1000];
    assert_true(xir_value_id(value) < 0);
    snprintf(expected, sizeof expected, "%s\"dtype\":" IMAGE_TYPE ",%s,\"tags\":{},\"v_id\":%lld}", before, after,
             (long long)xir_value_id(value));
    assert_value(value, expected);
}

static void values_have_memories(void **state) {
    (void)state;
    xir_network *net = xir_network_new(ctx, "", XIR_FRAMEWORK_PYTORCH, "");
    const xir_type *types[] = { image(), image() };
    xir_op *op =
        xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_input_class()), .types = types,
                                  .n_types = 2,
                                                 .id = XIR_NO_ID));
    xir_value *host = xir_op_output(op, 0), *onchip = xir_op_output(op, 1);
    assert_int_equal(xir_value_set_mtype(onchip, xir_mtype_onchip(ctx, 1234)), XIR_OK);
    xir_value *params = xir_params_new(net, XIR_STR("params"), image());
    assert_int_equal(xir_value_set_mtype(params, xir_mtype_chunk(ctx, 1234, 100)), XIR_OK);

    assert_unplaced(host, "{\"_type_key\":\"icraft::xir::Value\",", "\"mtype\":\"@hostm\",\"name\":\"\"");
    assert_unplaced(onchip, "{\"_type_key\":\"icraft::xir::Value\",", "\"mtype\":\"@ocm(1234)\",\"name\":\"\"");
    assert_unplaced(params, "{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\",",
                    "\"mtype\":\"@chunk(1234@100)\",\"name\":\"params\"");
    /* A FloatImm in external memory prints without its type. Since 3.30 it holds a float32. */
    xir_float_imm imm = xir_float_imm_init();
    imm.value = 3.14;
    imm.mtype = xir_mtype_external(ctx, 5678);
    assert_object(xir_float_imm_make(ctx, &imm, why), 4, "3.140000104904175");
    xir_network_free(net);
}

/* ---- 3.2.1: ordinary types -------------------------------------------------------------------------------------- */

static void types_print_as_strings(void **state) {
    (void)state;
    assert_object(xir_type_sint(ctx, 8), 0, "\"@sint(8)\"");
    assert_object(xir_type_sint(ctx, 64), 0, "\"@sint(64)\"");
    assert_object(xir_type_uint(ctx, 12), 0, "\"@uint(12)\"");
    assert_object(fp32(), 0, "\"@fp(32)\"");
    assert_object(xir_type_float(ctx, XIR_FLOAT_BF16), 0, "\"@bf(16)\"");
    /* A layout that does not fit can be built; validation reports it. */
    assert_object(XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "NHWC", 1024), 4,
        "{\n    \"_type_key\": \"icraft::xir::TensorType\",\n    \"element_dtype\": \"@sint(64)\",\n"
        "    \"layout\": \"@layout(NHWC)\",\n    \"merged_distrs\": [],\n    \"shape\": [\n        1024\n    ]\n}");
}

/* The strings of the specification lack the '@' and the fill, which were added in 3.5. */
static void distributions_are_built_in_steps(void **state) {
    (void)state;
    const int64_t axes[] = { 2, 3 };
    xir_distr_builder *b = xir_distr_new(ctx, axes, 2, 1024);
    assert_int_equal(xir_distr_set_invalid(b, 0, 100), XIR_OK);
    assert_object(xir_distr_build(b, why), 0, "\"@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1024)})\"");
    assert_int_equal(xir_distr_set_invalid(b, 1000, 1023), XIR_OK);
    const char *three = "\"@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1000), u:[1000, 1023), v:[1023, 1024)})\"";
    assert_object(xir_distr_build(b, why), 0, three);
    assert_int_equal(xir_distr_set_invalid(b, 888, 888), XIR_OK);   /* half-open: no element */
    assert_object(xir_distr_build(b, why), 0, three);

    bool valid[128];
    memset(valid, true, sizeof valid);
    assert_int_equal(xir_distr_append(b, 256, false), XIR_OK);
    assert_int_equal(xir_distr_append_mask(b, valid, 128), XIR_OK);
    const xir_distr *distr = xir_distr_build(b, why);
    xir_distr_free(b);
    assert_object(distr, 0, "\"@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1000), u:[1000, 1023), v:[1023, 1024), "
                            "u:[1024, 1280), v:[1280, 1408)})\"");
    const xir_section expected[] = { { 0, 100, false }, { 100, 1000, true }, { 1000, 1023, false },
                                     { 1023, 1024, true },
                                     { 1024, 1280, false }, { 1280, 1408, true } };
    xir_section found[8];
    assert_int_equal(xir_distr_all_sections(distr, found, 8), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(found[i].start, expected[i].start);
        assert_int_equal(found[i].end, expected[i].end);
        assert_int_equal(found[i].valid, expected[i].valid);
    }
    assert_int_equal(xir_distr_total(distr), 1408);
}

static void tensors_carry_distributions(void **state) {
    (void)state;
    const int64_t one_four[] = { 1, 4 }, two_three[] = { 2, 3 };
    const xir_type *type = XIR_TENSOR(ctx, fp32(), "NHWC", 1, 2, 416, 416, 32);
    assert_int_equal(xir_type_as_tensor(type)->merged_distrs.size, 0);

    type = xir_type_add_distr(ctx, type, one_four, 2, why);
    const xir_distr *distr = xir_type_distr(type, one_four, 2);
    assert_int_equal(xir_distr_total(distr), 64);
    assert_true(xir_distr_is_valid(distr, 31));
    assert_null(xir_type_distr(type, two_three, 2));
    assert_null(xir_type_add_distr(ctx, type, one_four, 2, NULL));            /* the dim has one */
    assert_null(xir_type_mark_distr(ctx, type, two_three, 2, 0, 1, false, NULL));   /* the dims have none */

    type = xir_type_mark_distr(ctx, type, one_four, 2, 0, 32, false, why);
    assert_false(xir_distr_is_valid(xir_type_distr(type, one_four, 2), 31));
    type = xir_type_add_distr(ctx, type, two_three, 2, why);
    assert_int_equal(xir_type_as_tensor(type)->merged_distrs.size, 2);
    /* The specification prints an mtype in the type; since then it has moved to the value. */
    assert_object(type, 0,
        "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NHWC)\","
        "\"merged_distrs\":[\"@merged_distr([1, 4]^ZERO:{u:[0, 32), v:[32, 64)})\","
        "\"@merged_distr([2, 3]^ZERO:{v:[0, 173056)})\"],\"shape\":[1,2,416,416,32]}");
}

/* ---- 3.2.2: quantised types ------------------------------------------------------------------------------------- */

/* As printed in the specification, whose version is older than 3.30. */
static void reals_of_older_versions_print_as_given(void **state) {
    (void)state;
    const double min = -3.6, max = 4.8, sat = 4.7;
    xir_calibrated_type type = xir_calibrated_type_init();
    type.min = (xir_reals){ &min, 1 };
    type.max = (xir_reals){ &max, 1 };
    type.sat = (xir_reals){ &sat, 1 };
    type.storage_dtype = xir_type_sint(ctx, 8);
    type.expressed_dtype = fp32();
    assert_object(xir_object_make_exact(ctx, xir_calibrated_type_class(), &type, why), 0,
        "{\"_type_key\":\"icraft::xir::CalibratedType\",\"expressed_dtype\":\"@fp(32)\",\"max\":[4.8],"
        "\"min\":[-3.6],\"sat\":[4.7],\"storage_dtype\":\"@sint(8)\"}");
    xir_float_imm imm = xir_float_imm_init();
    imm.value = 3.14;
    imm.mtype = xir_mtype_external(ctx, 5678);
    assert_object(xir_object_make_exact(ctx, xir_float_imm_class(), &imm, why), 4, "3.14");
}

/* Reals are float32 since 3.30. */
static void calibrated_types_print(void **state) {
    (void)state;
    assert_object(xir_type_calibrated(ctx, -3.6, 4.8, 4.7, xir_type_sint(ctx, 8), NULL), 0,
        "{\"_type_key\":\"icraft::xir::CalibratedType\",\"expressed_dtype\":\"@fp(32)\",\"max\":[4.800000190734863],"
        "\"min\":[-3.5999999046325684],\"sat\":[4.699999809265137],\"storage_dtype\":\"@sint(8)\"}");
    assert_object(xir_type_calibrated(ctx, -3.6, 4.8, 4.7, xir_type_float(ctx, XIR_FLOAT_BF16), NULL), 0,
        "{\"_type_key\":\"icraft::xir::CalibratedType\",\"expressed_dtype\":\"@fp(32)\",\"max\":[4.800000190734863],"
        "\"min\":[-3.5999999046325684],\"sat\":[4.699999809265137],\"storage_dtype\":\"@bf(16)\"}");
}

static void normalized_and_quantized_types_print(void **state) {
    (void)state;
    const double ratios[] = { 1.1, 2.2, 3.3 }, origin[] = { 0.377, 0.27 };
    const int64_t m[] = { 3, 4 }, exp[] = { 3, 4 };
    const xir_type *normalized = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, ratios, 3, -1),
                                                     xir_type_sint(ctx, 16), NULL);
    assert_object(XIR_TENSOR(ctx, normalized, "NHWC", 1024), 0,
        "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":{\"_type_key\":\"icraft::xir::NormalizedType\","
        "\"expressed_dtype\":\"@fp(32)\",\"normratio\":\"@norm_ratios([axis=-1]1.1,2.2,3.3)\",\"storage_dtype\":"
        "\"@sint(16)\"},\"layout\":\"@layout(NHWC)\",\"merged_distrs\":[],\"shape\":[1024]}");
    const xir_scales *scales = xir_exp_scales_from(ctx, m, exp, origin, 2, -1);
    assert_object(xir_type_normalized_quantized(ctx, normalized, scales, NULL, 0), 0,
        "{\"_type_key\":\"icraft::xir::NormalizedQuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"normratio\":"
        "\"@norm_ratios([axis=-1]1.1,2.2,3.3)\",\"scale\":\"@exp_scales([axis=-1]3/3/0.377,4/4/0.27)\","
        "\"storage_dtype\":\"@sint(16)\",\"zero_points\":[]}");
}

/* ---- 3.3 and 4: targets and layouts ----------------------------------------------------------------------------- */

static void targets_are_known(void **state) {
    (void)state;
    assert_object(xir_target_of_kind(ctx, XIR_TARGET_HOST, NULL), 0, "\"@hostt\"");
    assert_object(xir_target_of_kind(ctx, XIR_TARGET_FPGA, NULL), 0, "\"@fpgat\"");
    assert_object(xir_target_of_kind(ctx, XIR_TARGET_CUSTOM, NULL), 0, "\"@customt\"");
    assert_object(xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL), 0, "\"@buyit\"");
    assert_object(xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, "330"), 0, "\"@zhuget(330)\"");
}

static void layouts_are_built_and_queried(void **state) {
    (void)state;
    assert_object(xir_layout_parse(ctx, XIR_STR("NCHW"), why), 0, "\"@layout(NCHW)\"");
    assert_object(xir_layout_parse(ctx, XIR_STR("OIHW"), why), 0, "\"@layout(OIHW)\"");
    xir_layout_steps s = xir_layout_start();
    for (const char *p = "NHCD"; *p; p++) xir_layout_put(&s, *p, 1);
    assert_object(xir_layout_finish(ctx, &s, why), 0, "\"@layout(NHCD)\"");
    s = xir_layout_start();
    for (const char *p = "N**D"; *p; p++) xir_layout_put(&s, *p, 1);
    assert_object(xir_layout_finish(ctx, &s, why), 0, "\"@layout(N**D)\"");
    s = xir_layout_start();
    xir_layout_put(&s, 'N', 1);
    xir_layout_put(&s, '*', 2);
    xir_layout_put(&s, 'D', 1);
    xir_layout_put(&s, 'd', 32);
    xir_layout_put(&s, 'n', 4);
    assert_object(xir_layout_finish(ctx, &s, why), 0, "\"@layout(N**Dd32n4)\"");
    assert_int_equal(xir_layout_index(xir_layout_parse(ctx, XIR_STR("NHWC"), why), 'C'), 3);
    assert_int_equal(xir_layout_index(xir_layout_parse(ctx, XIR_STR("NC**c32"), why), 'c'), 4);
}

/* ---- 5: operations ---------------------------------------------------------------------------------------------- */

static void attributes_describe_themselves(void **state) {
    (void)state;
    const xir_class *conv2d = xir_class_find(ctx, XIR_STR("icraft::xir::Conv2d"));
    const xir_field *stride = xir_class_field(conv2d, XIR_STR("stride_width"));
    assert_true(stride->has_default && stride->has_min && !stride->has_max);
    assert_int_equal(stride->default_value.i, 1);
    assert_int_equal(stride->min.i, 1);
    assert_true(stride->doc.size > 0);
    /* In the specification pads must be at least 0; they are not bounded any more. */
    assert_false(xir_class_field(conv2d, XIR_STR("pad_top"))->has_min);
}

static void validate_checks_bounds_and_inputs(void **state) {
    (void)state;
    xir_network *net = xir_network_new(ctx, "", XIR_FRAMEWORK_PYTORCH, "");
    xir_at at = xir_at_end(net);
    xir_value *input = xir_input(at, NULL, image());
    assert_null(xir_add_conv2d(at, (xir_conv2d_in){ .input = input }, NULL));   /* at least two inputs */
    assert_int_equal(xir_network_status(net), XIR_E_MISSING);
    xir_network_clear_status(net);
    xir_value *weights = xir_params_new(net, XIR_STR(""), XIR_TENSOR(ctx, fp32(), "HWIO", 3, 3, 3, 16));
    xir_conv2d_attrs attrs = xir_conv2d_attrs_square(1, 1, 1, 1);
    attrs.stride_width = -1;
    assert_null(xir_add_conv2d(at, (xir_conv2d_in){ .input = input, .weights = weights }, &attrs));
    assert_int_equal(xir_network_status(net), XIR_E_BOUNDS);
    xir_network_free(net);
}

static void types_are_inferred_or_given(void **state) {
    (void)state;
    xir_network *net = xir_network_new(ctx, "", XIR_FRAMEWORK_PYTORCH, "");
    xir_at at = xir_at_end(net);
    xir_value *input = xir_input(at, NULL, image());
    xir_value *weights = xir_params_new(net, XIR_STR(""), XIR_TENSOR(ctx, fp32(), "HWIO", 3, 3, 3, 16));
    xir_conv2d_attrs attrs = xir_conv2d_attrs_square(1, 1, 1, 1);
    xir_conv2d_in in = { .input = input, .weights = weights };
    const xir_type *output = XIR_TENSOR(ctx, fp32(), "NHWC", 1, 416, 416, 16);
    xir_value *y = XIR_OP(at, conv2d, .input = in.input, .weights = in.weights, .bias = in.bias, .attrs = &attrs);
    assert_true(xir_type_equal(xir_value_type(y), output));

    const xir_type *mine[] = { XIR_TENSOR(ctx, fp32(), "NHWC", 1, 9, 9, 16) };   /* the caller's type counts */
    at.types = mine;
    at.n_types = 1;
    xir_op *given = xir_add_conv2d(at, in, &attrs);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(given, 0)), mine[0]));
    assert_int_equal(xir_op_infer(given, false), XIR_OK);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(given, 0)), mine[0]));
    assert_int_equal(xir_op_infer(given, true), XIR_OK);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(given, 0)), output));
    xir_network_free(net);
}

static int set_up(void **state) {
    (void)state;
    scratch_make();
    ctx = xir_context_new(NULL);
    why = xir_diags_new(ctx);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    xir_diags_print(why, stderr);
    xir_diags_free(why);
    xir_context_free(ctx);
    return 0;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_network_is_numbered_and_typed_as_printed),
        cmocka_unit_test(anything_prints),
        cmocka_unit_test(weights_come_back_at_once),
        cmocka_unit_test(weights_come_back_lazily),
        cmocka_unit_test(values_have_memories),
        cmocka_unit_test(types_print_as_strings),
        cmocka_unit_test(distributions_are_built_in_steps),
        cmocka_unit_test(tensors_carry_distributions),
        cmocka_unit_test(reals_of_older_versions_print_as_given),
        cmocka_unit_test(calibrated_types_print),
        cmocka_unit_test(normalized_and_quantized_types_print),
        cmocka_unit_test(targets_are_known),
        cmocka_unit_test(layouts_are_built_and_queried),
        cmocka_unit_test(attributes_describe_themselves),
        cmocka_unit_test(validate_checks_bounds_and_inputs),
        cmocka_unit_test(types_are_inferred_or_given),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
