/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The examples of the specification's chapter on operations, and the whole network that its first chapter prints. */
#include "support/net.h"
#include "support/scratch.h"
#include <xir/plugin.h>
#include <xir/serialize.h>
#include <xir/sugar.h>
#include <xir/icraft.h>

#define XIR_DEFS "library/seed_ops.def"
#include <xir/declare.h>
#define XIR_DEFS "library/seed_ops.def"
#include <xir/define.h>

/* ---- 1: the whole network --------------------------------------------------------------------------------------- */

/* The network of the first chapter, in its version, with weights from 0 on. */
static xir_network *whatever(void) {
    xir_network *net = xir_network_new(ctx, "whatever", XIR_FRAMEWORK_PYTORCH, "v1.9");
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.6.2.82")));
    DOES(xir_network_set_text(net, XIR_TEXT_ICRAFT_VERSION, XIR_STR("v0.0.0")));
    xir_at at = XIR_AT(net);
    xir_value *input = xir_input(at, NULL, FP32("NHWC", 1, 416, 416, 3));
    xir_value *weights = xir_params_new(net, XIR_STR(""), FP32("HWIO", 3, 3, 3, 16));
    xir_conv2d_attrs one = xir_conv2d_attrs_square(1, 1, 1, 1);
    xir_value *conv = XIR_OP(at, conv2d, .input = input, .weights = weights, .attrs = &one);
    xir_max_pool2d_attrs pool = xir_max_pool2d_attrs_square(3, 2, 1, 1);
    xir_output(at, XIR_VALUES(XIR_OP(at, max_pool2d, .input = XIR_OP(at, relu, .input = conv), .attrs = &pool)));
    DOES(xir_network_status(net));
    return net;
}

static char *golden(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/library/%s", XIR_TEST_DATA, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 16) - 1, in);
    fclose(in);
    while (n && text[n - 1] == '\n') text[--n] = '\0';
    return text;
}

/* As printed in the specification, but for the input channels of the weights: 3, as in its code, where it prints
 * 416. */
static void the_network_prints_as_in_the_specification(void **state) {
    (void)state;
    xir_network *net = whatever();
    xir_text_buffer text = { 0 };
    DOES(xir_json_print(net, 4, &text));
    char *expected = golden("seed_network.json"), *found = calloc(1, text.size + 1);
    memcpy(found, text.data, text.size);
    while (text.size && found[text.size - 1] == '\n') found[--text.size] = '\0';
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    xir_text_free(&text);
    xir_network_free(net);
}

/* ---- 2: files ---------------------------------------------------------------------------------------------------- */

static float count_up(size_t i) { return (float)i; }

static void weights_come_back_from(xir_network *net, const xir_value *expected) {
    assert_non_null(net);
    const xir_value *loaded = xir_op_input(xir_network_op_by_id(net, 1), 1);
    uint64_t size, all;
    const void *bytes = xir_params_data(loaded, &size), *filled = xir_params_data(expected, &all);
    assert_int_equal(size, all);
    assert_memory_equal(bytes, filled, size);
    xir_network_free(net);
}

static void every_format_brings_the_weights_back(void **state) {
    (void)state;
    xir_network *net = whatever();
    xir_value *weights = xir_op_input(xir_network_op_by_id(net, 1), 1);
    DOES(xir_params_fill_f32(weights, count_up));
    char msg[PATH_MAX + 32], flat[PATH_MAX + 32];
    snprintf(msg, sizeof msg, "%s/whatever.imodel", scratch_folder);
    snprintf(flat, sizeof flat, "%s/whatever.fb", scratch_folder);
    DOES(xir_msg_save(net, msg, 0, why));
    DOES(xir_flat_save(net, flat, 0, why));
    weights_come_back_from(xir_msg_load(ctx, msg, 0, why), weights);
    weights_come_back_from(xir_flat_load(ctx, flat, 0, why), weights);
    weights_come_back_from(xir_flat_load(ctx, flat, XIR_LOAD_LAZY, why), weights);
    xir_network_free(net);
}

/* ---- 5.1 and 5.2: declarations ----------------------------------------------------------------------------------- */

xir_status seed_conv2d_check(xir_infer *at) {
    if (xir_infer_input_count(at) >= 2) return XIR_OK;
    return xir_infer_fail(at, XIR_E_MISSING, "inputs/1", "expected at least two inputs");
}

/* 5.4: the inference that the specification registers for the host. */
xir_status seed_conv2d_infer(xir_infer *at) {
    const xir_seed_conv2d_attrs *op = xir_infer_attrs(at);
    const xir_type *input = xir_infer_input(at, 0), *weights = xir_infer_input(at, 1);
    const int64_t dims[] = {
        xir_type_dim(input, 0, false),
        (xir_type_dim(input, 1, false) + op->pad_top + op->pad_bottom -
         op->dilation_height * (xir_type_dim(weights, 0, false) - 1) - 1) / op->stride_height + 1,
        (xir_type_dim(input, 2, false) + op->pad_left + op->pad_right -
         op->dilation_width * (xir_type_dim(weights, 1, false) - 1) - 1) / op->stride_width + 1,
        xir_type_dim(weights, 3, false),
    };
    return xir_infer_result_like(at, input, dims, 4);
}

static void an_operation_is_declared_by_rows(void **state) {
    (void)state;
    const xir_class *cls = xir_class_find(ctx, XIR_STR("seed::Conv2d"));
    const xir_field *stride = xir_class_field(cls, XIR_STR("stride_width"));
    const xir_field *pad = xir_class_field(cls, XIR_STR("pad_top"));
    const xir_field *groups = xir_class_field(cls, XIR_STR("groups"));
    assert_true(stride->default_value.i == 1 && stride->has_min && stride->min.i == 1);
    assert_true(pad->default_value.i == 0 && pad->has_min && pad->min.i == 0);
    assert_true(groups->default_value.i == 1 && !groups->has_min);
}

static xir_value *seed_input(xir_network *net) {
    return xir_input(xir_at_end(net), NULL, FP32("NHWC", 1, 416, 416, 3));
}

static void bounds_and_inputs_are_checked(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *input = seed_input(net), *weights = xir_params_new(net, XIR_STR(""), FP32("HWIO", 3, 3, 3, 16));
    xir_seed_conv2d_attrs attrs = xir_seed_conv2d_init();
    attrs.stride_width = 0;
    xir_seed_conv2d_in in = { .input = input, .weights = weights };
    assert_null(xir_add_seed_conv2d(xir_at_end(net), in, &attrs));
    assert_int_equal(xir_network_status(net), XIR_E_BOUNDS);
    xir_network_clear_status(net);
    in.weights = NULL;
    assert_null(xir_add_seed_conv2d(xir_at_end(net), in, NULL));
    assert_int_equal(xir_network_status(net), XIR_E_MISSING);
    xir_diags_clear(why);
    xir_network_free(net);
}

/* ---- 5.4: inference ---------------------------------------------------------------------------------------------- */

static void inference_gives_the_output_when_an_op_is_added(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *input = seed_input(net), *weights = xir_params_new(net, XIR_STR(""), FP32("HWIO", 3, 3, 3, 16));
    xir_seed_conv2d_attrs attrs = xir_seed_conv2d_init();
    attrs.pad_top = attrs.pad_bottom = attrs.pad_left = attrs.pad_right = 1;
    const xir_type *expected = FP32("NHWC", 1, 416, 416, 16);
    const xir_value *y = XIR_OP(xir_at_end(net), seed_conv2d, .input = input, .weights = weights, .attrs = &attrs);
    assert_true(xir_type_equal(xir_value_type(y), expected));
    xir_network_free(net);
}

/* ---- 5.3: traits ------------------------------------------------------------------------------------------------- */

static void activations_are_told_apart(void **state) {
    (void)state;
    DOES(xir_plugin_load(ctx, XIR_TEST_PLUGINS "/flatten.so", why));
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *input = xir_input(at, NULL, FP32("NHWC", 1, 32, 32, 3));
    xir_value *row = xir_build_reshape(at, input, "NC", (const int64_t[]){ 1, 3072 }, 2, NULL);
    const int64_t halves[] = { 1536, 1536 };
    xir_split_attrs sections = xir_split_init();
    sections.sections = (xir_i64s){ halves, 2 };
    const xir_op *split = xir_add_split(at, (xir_split_in){ .input = row }, &sections);
    xir_op *relu = xir_add_relu(at, (xir_relu_in){ .input = xir_op_output(split, 0) }, NULL);
    xir_prelu_attrs slopes = xir_prelu_init();
    slopes.alpha = xir_params_new_untyped(net, XIR_STR(""));
    const xir_op *prelu = xir_add_prelu(at, (xir_prelu_in){ .input = xir_op_output(split, 1) }, &slopes);
    const xir_op *softmax = xir_add_softmax(at, (xir_softmax_in){ .input = xir_op_output(prelu, 0) }, NULL);
    at.types = (const xir_type *[]){ FP32("NC", 1, 1536) };   /* nobody knows what a Region computes */
    at.n_types = 1;
    xir_op *region = xir_add_region(at, (xir_region_in){ .inputs = XIR_VALUES(xir_op_output(prelu, 0)) }, NULL);
    assert_non_null(softmax);
    assert_non_null(region);

    xir_op *flatten = xir_op_create(net, XIR_STR("whatever::Flatten"));
    assert_non_null(flatten);
    const xir_any items[] = { { XIR_ANY_INT, .as.integer = 1 }, { XIR_ANY_INT, .as.integer = 2 },
                              { XIR_ANY_INT, .as.integer = 3 }, { XIR_ANY_INT, .as.integer = 4 } };
    const xir_any unused = { .kind = XIR_ANY_LIST, .as.list = { items, 4 } };
    DOES(xir_op_set_extra(flatten, XIR_STR("unused"), &unused));
    DOES(xir_op_add_input(flatten, xir_op_output(relu, 0)));
    DOES(xir_op_place(flatten, NULL));

    assert_true(xir_op_is_activation(relu));
    assert_true(xir_op_is_activation(prelu));
    assert_false(xir_op_is_activation(xir_network_input_op(net)));
    assert_false(xir_op_is_activation(region));
    xir_network_free(net);
}

/* ---- operations of older versions -------------------------------------------------------------------------------- */

/* They come back with their attributes, which nobody declares. */
static void former_operations_are_kept(void **state) {
    (void)state;
    static const char *const keys[] = { "Region", "Reorg", "Yolo", "MultiYolo", "SSDOutput", "Route", "InnerProduct" };
    static const char head[] = "{\"_type_key\":\"icraft::xir::PriorBox\",\"min_size\":30.0}";
    for (size_t i = 0; i < COUNT(keys); i++) {
        char json[4000];
        const char *type = "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":"
                           "\"@layout(NC)\",\"merged_distrs\":[],\"shape\":[1,4]}";
        snprintf(json, sizeof json,
                 "{\"_type_key\":\"icraft::xir::%s\",\"box\":%s,\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\","
                 "\"num\":5,\"op_id\":1,\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":%s,\"mtype\":\"@hostm\","
                 "\"name\":\"\",\"tags\":{},\"v_id\":7}],\"tags\":{}}", keys[i], head, type);
        char whole[5000];
        snprintf(whole, sizeof whole, "{\"_type_key\":\"icraft::xir::Network\",\"framework_kind\":\"DARKNET\","
                 "\"framework_version\":\"\",\"icraft_version\":\"\",\"icraft_xir_version\":\"3.3.0\",\"name\":\"old\","
                 "\"ops\":[%s],\"params_bytes\":0,\"params_md5\":\"d41d8cd98f00b204e9800998ecf8427e\",\"tags\":{}}", json);
        xir_network *net = xir_json_read(ctx, xir_str_of(whole), XIR_STR("old.json"), why);
        assert_non_null(net);
        const xir_op *op = xir_network_op_by_id(net, 1);
        assert_false(xir_class_is_opaque(xir_op_class(op)));
        assert_non_null(xir_op_extra(op));
        xir_text_buffer text = { 0 };
        DOES(xir_json_print(net, 0, &text));
        CHECK_STR(((xir_str){ text.data, text.size }), whole);
        xir_text_free(&text);
        xir_network_free(net);
    }
}

static int set_up(void **state) {
    scratch_make();
    if (group_begin(state)) return -1;
    return xir_class_register(ctx, xir_seed_conv2d_class(), why) ? -1 : 0;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_network_prints_as_in_the_specification),
        cmocka_unit_test(every_format_brings_the_weights_back),
        cmocka_unit_test(an_operation_is_declared_by_rows),
        cmocka_unit_test(bounds_and_inputs_are_checked),
        cmocka_unit_test(inference_gives_the_output_when_an_op_is_added),
        cmocka_unit_test(activations_are_told_apart),
        cmocka_unit_test(former_operations_are_kept),
    };
    return cmocka_run_group_tests(tests, set_up, group_end);
}
