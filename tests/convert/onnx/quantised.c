/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised types of converted ONNX files: which values have them, that constants are the bytes of the file, that every
 * format keeps them, and that no other pass or conversion loses them. The numbers are in cases.c. */
#include <xir/pass.h>
#include <xir/quant.h>
#include <xir/icraft.h>
#include "cases.h"
#include "support/ways.h"

/* A map of 8 bits, kernels of 8 bits with a scale for each channel, a bias of 32 bits; a pool; a result of 8 bits. */
static const char network[] =
    "qdq | | x=f32[1,3,6,6] *sx=f32[]{0.0123} *zx=u8[]{97} *w=i8[4,3,3,3] *sw=f32[4]{0.011,0.007,0.013,0.005} "
    "*b=i32[4]{100,-50,7,0} *sb=f32[4]{0.0001353,0.0000861,0.0001599,0.0000615} *sy=f32[]{0.031} *zy=u8[]{120} "
    "*v=i8[2,4,1,1] *sv=f32[]{0.02} | "
    "QuantizeLinear x,sx,zx q;DequantizeLinear q,sx,zx d;DequantizeLinear w,sw, e axis=0;DequantizeLinear b,sb, c axis=0;"
    "Conv d,e,c f pads=[1,1,1,1];Relu f r;QuantizeLinear r,sy,zy g;DequantizeLinear g,sy,zy h;"
    "MaxPool h i kernel_shape=[2,2] strides=[2,2];QuantizeLinear i,sy,zy j;DequantizeLinear j,sy,zy k;"
    "DequantizeLinear v,sv, l;Conv k,l m;QuantizeLinear m,sy,zy y | y";
/* The same operators with zero points that a run gives. */
static const char given[] =
    "given | | x=u8[1,2,5,5] p=u8[]{100} *q=u8[]{3} *w=u8[3,2,3,3] | ConvInteger x,w,p,q y | y";
static const char integers[] =
    "integers | | x=u8[1,2,5,5] *p=u8[]{100} *q=u8[]{3} *w=u8[3,2,3,3] | ConvInteger x,w,p,q y | y";

static onnx_case c;

static xir_network *converted(const char *line, const char *passes) {
    assert_true(case_read(&c, line));
    xir_network *net = case_network(&c);
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    assert_non_null(pipeline);
    assert_int_equal(xir_pipeline_run(pipeline, net, NULL, NULL, why), XIR_OK);
    xir_pipeline_free(pipeline);
    return net;
}

static bool is_quantised(const xir_value *v) {
    return v && xir_type_kind_of(xir_type_element(xir_value_type(v))) == XIR_TYPE_QUANTIZED;
}

static size_t count(const xir_network *net, const xir_class_decl *cls) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) n += xir_op_is(op, cls);
    return n;
}

static size_t count_quantised(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) n += is_quantised(xir_op_output(op, (int64_t)i));
    }
    return n;
}

static const xir_op *nth(const xir_network *net, const xir_class_decl *cls, size_t n) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_op_is(op, cls) && n-- == 0) return op;
    fail_msg("there are fewer of them");
    return NULL;
}

static void convolutions_have_quantised_operands(void **state) {
    (void)state;
    xir_network *net = converted(network, "to-xir{strict}");
    const xir_op *conv = nth(net, xir_conv2d_class(), 0);
    for (int64_t i = 0; i < 3; i++) assert_true(is_quantised(xir_op_input(conv, i)));
    const xir_type *map = xir_value_type(xir_op_input(conv, 0)), *kernel = xir_value_type(xir_op_input(conv, 1));
    assert_int_equal(xir_type_zero_points(map).data[0], 97);
    assert_true(xir_scales_at(xir_type_scale(map), 0) == (double)0.0123f);
    assert_int_equal(xir_scales_count(xir_type_scale(kernel)), 4);
    assert_int_equal(xir_scales_axis(xir_type_scale(kernel)), 0);
    assert_true(xir_type_equal(xir_type_storage(kernel), xir_type_sint(ctx, 8)));
    assert_true(xir_type_equal(xir_type_storage(xir_value_type(xir_op_input(conv, 2))), xir_type_sint(ctx, 32)));
    /* what the pool gives has the type of what it takes, and is not rounded again */
    assert_true(is_quantised(xir_op_output(nth(net, xir_max_pool2d_class(), 0), 0)));
    assert_int_equal(count(net, xir_quantize_class()), 3);
    const xir_quantize_attrs *rule = xir_quantize_of(nth(net, xir_quantize_class(), 0));
    assert_int_equal(rule->rounding, XIR_TIES_HALF_EVEN);
    assert_true(rule->full_range);
    /* the output of the network is what ONNX calls it: integers */
    const xir_value *out = xir_op_input(xir_network_output_op(net), 0);
    assert_true(xir_type_equal(xir_type_element(xir_value_type(out)), xir_type_uint(ctx, 8)));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

static void constants_are_the_bytes_of_the_file(void **state) {
    (void)state;
    assert_true(case_read(&c, network));
    xir_network *net = case_network(&c);
    const void *bytes = NULL;
    uint64_t size;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_value *v = xir_op_input(op, 0);
        if (v && xir_str_equal(xir_value_name(v), XIR_STR("w"))) bytes = xir_params_data(v, &size);
    }
    assert_non_null(bytes);
    assert_int_equal(xir_pass_run(net, "to-xir", NULL, NULL, why), XIR_OK);
    const xir_value *kernel = xir_op_input(nth(net, xir_conv2d_class(), 0), 1);
    assert_ptr_equal(xir_params_data(kernel, &size), bytes);
    assert_int_equal(size, 4 * 3 * 3 * 3);
    assert_true(xir_str_equal(xir_value_name(kernel), XIR_STR("w")));
    xir_network_free(net);
}

static void arithmetic_has_no_quantised_types(void **state) {
    (void)state;
    static const char *const lines[] = { network, integers };
    for (size_t i = 0; i < COUNT(lines); i++) {
        xir_network *net = converted(lines[i], "to-xir{strict,quantized=arithmetic}");
        assert_int_equal(count_quantised(net), 0);
        xir_network_free(net);
    }
    xir_network *net = converted(given, "to-xir{strict}");   // no plain form
    assert_int_equal(count_quantised(net), 0);
    xir_network_free(net);
    net = converted(integers, "to-xir{strict}");
    assert_true(count_quantised(net) > 0);
    xir_network_free(net);
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, XIR_STR("to-xir{quantized=never}"), why);
    assert_true(case_read(&c, network));
    net = case_network(&c);
    assert_int_equal(xir_pipeline_run(pipeline, net, NULL, NULL, why), XIR_E_SYNTAX);
    xir_pipeline_free(pipeline);
    xir_network_free(net);
}

/* Transposes are left where the network takes and gives its own order. */
static void no_transposes_are_left_inside(void **state) {
    (void)state;
    char pipeline[1000];
    snprintf(pipeline, sizeof pipeline, "to-xir{strict},%s", xir_default_pipeline() + strlen("bind,to-xir,"));
    xir_network *net = converted(network, pipeline);
    assert_int_equal(count(net, xir_transpose_class()), 2);
    assert_int_equal(count(net, xir_quantize_class()), 3);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

/* ---- formats ---------------------------------------------------------------------------------------------------- */

typedef struct written { char *data; size_t size; } written;
static bool keep(void *user, const void *data, size_t size) {
    written *w = user;
    char *more = realloc(w->data, w->size + size + 1);
    if (!more) return false;
    w->data = more;
    memcpy(w->data + w->size, data, size);
    w->size += size;
    return true;
}

static void every_format_keeps_them(void **state) {
    (void)state;
    static const char *const formats[] = { "json", "imodel", "fb" }, *const lines[] = { network, integers };
    for (size_t i = 0; i < COUNT(formats) * COUNT(lines); i++) {
        xir_network *net = converted(lines[i % COUNT(lines)], "to-xir{strict}");
        written w = { NULL, 0 }, raw = { NULL, 0 };
        const char *format = formats[i / COUNT(lines)];
        const xir_save_options save = XIR_INIT(xir_save_options, .format = format);
        const xir_load_options load = XIR_INIT(xir_load_options, .format = format);
        assert_int_equal(xir_network_write(net, keep, &w, &save, why), XIR_OK);
        xir_network *back = xir_network_read(ctx, w.data, w.size, XIR_STR("written"), &load, why);
        assert_non_null(back);
        if (strcmp(format, "json") == 0) {   // the structure; the elements are in a file of their own
            assert_int_equal(xir_raw_write(net, keep, &raw, why), XIR_OK);
            assert_int_equal(xir_raw_read(back, raw.data, raw.size, 0, why), XIR_OK);
        }
        if (!xir_network_equal(net, back, true)) fail_msg("%s: line %zu is not the same", format, i % COUNT(lines));
        free(w.data);
        free(raw.data);
        xir_network_free(net);
        xir_network_free(back);
    }
}

/* ---- other formats' operations ---------------------------------------------------------------------------------- */

/* No other format computes with quantised numbers: these ops stay, and no foreign op gets one. */
static void they_stay_in_other_conversions(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        if (strcmp(dialect_formats[i], "onnx") == 0) continue;
        xir_network *net = converted(network, "to-xir{strict}");
        xir_diags_clear(why);
        (void)xir_pass_run(net, ways_back[i], NULL, NULL, why);
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            for (size_t k = 0; k < xir_op_input_count(op); k++) {
                if (is_quantised(xir_op_input(op, (int64_t)k)) && xir_class_is_dialect(xir_op_class(op)))
                    fail_msg("%s: %.*s takes quantised numbers", ways_back[i],
                             (int)xir_class_key(xir_op_class(op)).size, xir_class_key(xir_op_class(op)).data);
            }
        }
        assert_int_equal(count(net, xir_quantize_class()), 3);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_have_quantised_operands), cmocka_unit_test(constants_are_the_bytes_of_the_file),
        cmocka_unit_test(arithmetic_has_no_quantised_types),    cmocka_unit_test(no_transposes_are_left_inside),
        cmocka_unit_test(every_format_keeps_them),              cmocka_unit_test(they_stay_in_other_conversions),
    };
    return RUN_GROUP(tests);
}
