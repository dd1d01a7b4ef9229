/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* onnx-to-xir by example: ONNX nodes, and the ops that they become. Each model is made in memory, read like a file, and
 * converted; the result is written as in support/story.h, by the names of ops. ONNX's operator tests check that it
 * computes the same. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include "rows/row.h"
#include "support/onnx_make.h"
#include "support/story.h"

static om m;
static xir_network *net;
static float numbers[4096];

static int begin(void **state) {
    (void)state;
    m = om_begin("net");
    net = NULL;
    for (size_t i = 0; i < COUNT(numbers); i++) numbers[i] = (float)i;
    return 0;
}

static int end(void **state) {
    (void)state;
    om_free(&m);
    xir_network_free(net);
    return 0;
}

static void read_model(void) {
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_diags_clear(why);
    net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
}

static xir_status run_pass(const char *options) {
    xir_diags_clear(why);
    return xir_pass_run(net, "onnx-to-xir", options, NULL, why);
}

/* Reads and converts the model; prints all findings if that fails. */
static void convert(const char *options) {
    read_model();
    xir_status status = run_pass(options);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_diags *faults = xir_diags_new(ctx);
    assert_int_equal(xir_network_validate(net, faults), XIR_OK);
    xir_diags_free(faults);
}

#define BECOMES(expected) \
    do {                                      \
        convert(NULL);                        \
        assert_int_equal(xir_diags_count(why), 0); \
        CHECK_STORY(net, expected);           \
    } while (0)

/* "@fp(32) NHWC 1 8 8 3" */
static void check_type(const xir_value *v, const char *type, int line) {
    char found[200];
    const xir_type *t = xir_value_type(v);
    xir_str letters = xir_layout_text(xir_type_layout(t));
    size_t n = (size_t)snprintf(found, sizeof found, "%s %.*s", spelled(xir_type_element(t)), (int)letters.size,
                                letters.data);
    for (size_t i = 0; i < xir_type_rank(t); i++) {
        n += (size_t)snprintf(found + n, sizeof found - n, " %lld", (long long)xir_type_dim(t, (int64_t)i, false));
    }
    if (strcmp(found, type) != 0) fail_msg("line %d: it is %s, not %s", line, found, type);
}
#define CHECK_TYPE(name, type)    check_type(story_value(net, name), type, __LINE__)
#define CHECK_TYPE_OF(value, type) check_type(value, type, __LINE__)

/* The elements of fp32 or int64 Params as text. */
static const char *elements(const xir_value *v) {
    static char text[300];
    int64_t n, whole;
    float real;
    size_t at = 0;
    bool reals = xir_type_kind_of(xir_type_element(xir_value_type(v))) == XIR_TYPE_FLOAT;
    assert_int_equal(xir_type_elements(xir_value_type(v), &n), XIR_OK);
    *text = '\0';
    for (int64_t i = 0; i < n && at < sizeof text - 40; i++) {
        if (reals) {
            DOES(xir_params_read(v, (uint64_t)i * 4, &real, 4));
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%g", i ? " " : "", (double)real);
        } else {
            DOES(xir_params_read(v, (uint64_t)i * 8, &whole, 8));
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", i ? " " : "", (long long)whole);
        }
    }
    return text;
}

static void check_finding_at(size_t i, xir_severity severity, const char *path, const char *part) {
    const xir_diag *d = xir_diags_at(why, i);
    assert_non_null(d);
    assert_int_equal(d->severity, severity);
    CHECK_STR(d->path, path);
    if (!strstr(d->message.data, part)) fail_msg("'%.*s' has no '%s'", (int)d->message.size, d->message.data, part);
}

static void in_x(void) { om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 3, 8, 8)); }
static void out_y(void) { om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK); }

static void constant(const char *name, om_dims dims, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t all[] = { a, b, c, d };
    size_t n = 1;
    for (size_t i = 0; i < dims.size; i++) n *= (size_t)dims.data[i];
    om_int64s(&m, name, dims, all, n);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void a_row_is_one_op_with_its_attributes(void **state) {
    (void)state;
    in_x();
    om_node(&m, "LeakyRelu", "leak", "x", "a");
    om_node(&m, "Elu", "elu", "a", "b");
    om_float(&m, "alpha", 0.5f);
    om_node(&m, "HardSigmoid", "hard", "b", "c");
    om_node(&m, "Softplus", "soft", "c", "y");
    out_y();
    BECOMES("a = ReLU x [alpha=0.01]; b = ELU a [alpha=0.5]; c = Hardsigmoid b [alpha=0.2]; y = Softplus c "
            "[threshold=1e+30]; out y");
    CHECK_STR(xir_op_name(story_op(net, "b")), "elu");
}

static void values_keep_their_names_and_new_ones_derive_from_them(void **state) {
    (void)state;
    in_x();
    om_floats(&m, "w", OM_DIMS(2, 3, 3, 3), numbers, 54);
    om_node(&m, "Conv", "conv1", "x,w", "y");
    om_ints(&m, "strides", OM_DIMS(2, 1));
    om_ints(&m, "pads", OM_DIMS(0, 1, 2, 3));
    out_y();
    BECOMES("y.Transpose = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; "
            "y.Conv2d = Conv2d y.Transpose w [stride_height=2 pad_bottom=2 pad_left=1 pad_right=3]; "
            "y = Transpose y.Conv2d [dims=0,3,1,2 layout=@layout(****)]; out y");
    const xir_op *conv = xir_network_op_by_name(net, XIR_STR("conv1"));
    CHECK_STR(xir_op_name(xir_op_prev(conv)), "conv1.Transpose");
    CHECK_STR(xir_op_name(xir_op_next(conv)), "conv1.Transpose.2");
    CHECK_TYPE_OF(xir_op_input(conv, 1), "@fp(32) HWIO 3 3 3 2");
    /* [h, w, i, o] was [o, i, h, w] */
    float first[2];
    DOES(xir_params_read(xir_op_input(conv, 1), 0, first, sizeof first));
    assert_true(first[0] == 0 && first[1] == 27);
}

static void a_weight_of_two_convolutions_is_permuted_once(void **state) {
    (void)state;
    in_x();
    om_floats(&m, "w", OM_DIMS(3, 3, 1, 1), numbers, 9);
    om_node(&m, "Conv", "a", "x,w", "p");
    om_node(&m, "Conv", "b", "p,w", "q");
    om_node(&m, "ConvTranspose", "c", "q,w", "y");
    out_y();
    convert(NULL);
    const xir_value *w = xir_op_input(xir_network_op_by_name(net, XIR_STR("a")), 1);
    assert_ptr_equal(w, xir_op_input(xir_network_op_by_name(net, XIR_STR("b")), 1));
    const xir_value *turned = xir_op_input(xir_network_op_by_name(net, XIR_STR("c")), 1);
    assert_ptr_not_equal(w, turned);   /* with other letters */
    CHECK_STR(xir_layout_text(xir_type_layout(xir_value_type(turned))), "HWOI");
}

static void batch_normalisation_is_a_multiplier_and_an_addend(void **state) {
    (void)state;
    static const float scale[] = { 2, 3 }, bias[] = { 1, -1 }, mean[] = { 4, 5 }, var[] = { 3, 15 };
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 2, 4, 4));
    om_floats(&m, "s", OM_DIMS(2), scale, 2);
    om_floats(&m, "b", OM_DIMS(2), bias, 2);
    om_floats(&m, "m", OM_DIMS(2), mean, 2);
    om_floats(&m, "v", OM_DIMS(2), var, 2);
    om_node(&m, "BatchNormalization", "bn", "x,s,b,m,v", "y");
    om_float(&m, "epsilon", 1);
    out_y();
    convert(NULL);
    const xir_batch_norm2d_attrs *a = xir_op_body(xir_network_op_by_name(net, XIR_STR("bn")), xir_batch_norm2d_class());
    assert_non_null(a);
    assert_string_equal(elements(a->variance), "1 0.75");
    assert_string_equal(elements(a->mean), "-3 -4.75");
}

static void gemm_is_a_product_with_a_transposed_constant(void **state) {
    (void)state;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 3));
    om_floats(&m, "w", OM_DIMS(2, 3), numbers, 6);
    om_floats(&m, "b", OM_DIMS(2), numbers, 2);
    om_node(&m, "Gemm", "fc", "x,w,b", "h");
    om_int(&m, "transB", 1);
    om_floats(&m, "c", OM_DIMS(3), numbers, 3);
    om_node(&m, "Gemm", "scaled", "h,w,c", "y");
    om_float(&m, "alpha", 0.5f);
    om_float(&m, "beta", 2);
    out_y();
    BECOMES("h = Matmul x w b; y.Matmul = Matmul h w; y = Add y.Matmul c [alpha=0.5 beta=2]; out y");
    const xir_value *w = xir_op_input(xir_network_op_by_name(net, XIR_STR("fc")), 1);
    assert_string_equal(elements(w), "0 3 1 4 2 5");
    CHECK_STR(xir_value_name(w), "w");
}

static void auto_pad_and_ceil_mode_become_padding(void **state) {
    (void)state;
    in_x();
    om_node(&m, "MaxPool", "same", "x", "a");
    om_ints(&m, "kernel_shape", OM_DIMS(3, 2));
    om_ints(&m, "strides", OM_DIMS(2, 2));
    om_text(&m, "auto_pad", "SAME_LOWER");
    om_node(&m, "AveragePool", "ceil", "x", "y");
    om_ints(&m, "kernel_shape", OM_DIMS(3, 3));
    om_ints(&m, "strides", OM_DIMS(2, 4));
    om_int(&m, "ceil_mode", 1);
    om_output(&m, "a", ONNX_FLOAT, OM_NO_RANK);
    out_y();
    convert(NULL);
    const xir_max_pool2d_attrs *a = xir_op_body(xir_network_op_by_name(net, XIR_STR("same")), xir_max_pool2d_class());
    assert_true(a->pad_top == 1 && a->pad_bottom == 0 && a->pad_left == 0 && a->pad_right == 0);
    const xir_avg_pool2d_attrs *b = xir_op_body(xir_network_op_by_name(net, XIR_STR("ceil")), xir_avg_pool2d_class());
    assert_true(b->pad_bottom == 1 && b->pad_right == 0 && !b->count_include_pad);
    CHECK_TYPE("y", "@fp(32) **** 1 3 4 2");
}

/* Rounding up keeps a window that ends outside, even if it is the only one, unless a stride or more is missing: then
 * ONNX Runtime 1.30 makes a map without elements, or refuses. The maxima are those that it computes. */
static void the_only_window_may_end_outside(void **state) {
    static const struct { int64_t size, dilation, stride; float most; } rows[] = {
        { 5, 1, 3, 8 }, { 5, 1, 4, 8 }, { 3, 2, 3, 8 }, { 3, 3, 5, 0 },
        { 5, 1, 2, -1 }, { 3, 2, 2, -1 }, { 3, 3, 4, -1 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int64_t size = rows[i].size, dilation = rows[i].dilation, stride = rows[i].stride;
        om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 1, 3, 3));
        om_node(&m, "MaxPool", "p", "x", "y");
        om_ints(&m, "kernel_shape", OM_DIMS(size, size));
        om_ints(&m, "dilations", OM_DIMS(dilation, dilation));
        om_ints(&m, "strides", OM_DIMS(stride, stride));
        om_int(&m, "ceil_mode", 1);
        out_y();
        if (rows[i].most < 0) {
            read_model();
            assert_int_equal(run_pass(NULL), XIR_E_BOUNDS);
        } else {
            convert("strict");
            CHECK_TYPE("y", "@fp(32) **** 1 1 1 1");
            const xir_type *type = FP32("****", 1, 1, 3, 3);
            xir_array *in = xir_array_copy(ctx, type, numbers, 9 * sizeof *numbers, why), *out = NULL;
            DOES(xir_network_run(net, (const xir_array *const *)&in, 1, &out, 1, NULL, why));
            assert_true(*(const float *)xir_array_data(out, NULL) == rows[i].most);
            xir_array_free(in);
            xir_array_free(out);
        }
        end(NULL);
        begin(NULL);
    }
}

/* An average counts the cells of the only window that are inside, and with count_include_pad those of the padding too,
 * but not those past it. The numbers are those of ONNX Runtime 1.30. */
static void the_only_average_may_end_outside(void **state) {
    static const struct { int64_t size, stride, pad, counts; float mean; } rows[] = {
        { 5, 3, 0, 0, 4 }, { 5, 4, 0, 1, 4 }, { 6, 4, 1, 0, 4 }, { 6, 4, 1, 1, 1.44f }, { 7, 3, 1, 1, 1.44f },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int64_t size = rows[i].size, stride = rows[i].stride, pad = rows[i].pad;
        om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 1, 3, 3));
        om_node(&m, "AveragePool", "p", "x", "y");
        om_ints(&m, "kernel_shape", OM_DIMS(size, size));
        om_ints(&m, "strides", OM_DIMS(stride, stride));
        om_ints(&m, "pads", OM_DIMS(pad, pad, pad, pad));
        om_int(&m, "ceil_mode", 1);
        om_int(&m, "count_include_pad", rows[i].counts);
        out_y();
        convert("strict");
        CHECK_TYPE("y", "@fp(32) **** 1 1 1 1");
        const xir_type *type = FP32("****", 1, 1, 3, 3);
        xir_array *in = xir_array_copy(ctx, type, numbers, 9 * sizeof *numbers, why), *out = NULL;
        DOES(xir_network_run(net, (const xir_array *const *)&in, 1, &out, 1, NULL, why));
        assert_true(*(const float *)xir_array_data(out, NULL) == rows[i].mean);
        xir_array_free(in);
        xir_array_free(out);
        end(NULL);
        begin(NULL);
    }
}

/* ---- changes of versions ---------------------------------------------------------------------------------------- */

static void attributes_that_became_inputs(void **state) {
    (void)state;
    for (int newer = 0; newer < 2; newer++) {
        static const float zero = 0, six = 6, half = 1.5f;
        om_opset(&m, "", newer ? 13 : 9);
        in_x();
        if (newer) {
            om_floats(&m, "zero", OM_SCALAR, &zero, 1);
            om_floats(&m, "six", OM_SCALAR, &six, 1);
            om_floats(&m, "half", OM_SCALAR, &half, 1);
            constant("starts", OM_DIMS(1), 1, 0, 0, 0);
            constant("ends", OM_DIMS(1), 3, 0, 0, 0);
            constant("one", OM_DIMS(1), 1, 0, 0, 0);
            constant("three", OM_DIMS(1), 3, 0, 0, 0);
            constant("sections", OM_DIMS(2), 4, 7, 0, 0);
            static const int64_t pads[] = { 0, 0, 1, 0, 0, 0, 2, 0 };
            om_int64s(&m, "pads", OM_DIMS(8), pads, 8);
        }
        om_node(&m, "Clip", "clip", newer ? "x,zero,six" : "x", "a");
        if (!newer) om_float(&m, "min", 0), om_float(&m, "max", 6);
        om_node(&m, "Slice", "slice", newer ? "a,starts,ends,one" : "a", "b");
        if (!newer) om_ints(&m, "starts", OM_DIMS(1)), om_ints(&m, "ends", OM_DIMS(3)), om_ints(&m, "axes", OM_DIMS(1));
        om_node(&m, "Pad", "pad", newer ? "b,pads,half" : "b", "c");
        if (!newer) om_ints(&m, "pads", OM_DIMS(0, 0, 1, 0, 0, 0, 2, 0)), om_float(&m, "value", 1.5f);
        om_node(&m, "ReduceSum", "sum", newer ? "c,three" : "c", "d");
        if (!newer) om_ints(&m, "axes", OM_DIMS(3));
        om_node(&m, "Squeeze", "squeeze", newer ? "d,three" : "d", "e");
        if (!newer) om_ints(&m, "axes", OM_DIMS(3));
        om_node(&m, "Unsqueeze", "unsqueeze", newer ? "e,one" : "e", "f");
        if (!newer) om_ints(&m, "axes", OM_DIMS(1));
        om_node(&m, "Split", "split", newer ? "f,sections" : "f", "g,y");
        om_int(&m, "axis", 3);
        if (!newer) om_ints(&m, "split", OM_DIMS(4, 7));
        om_output(&m, "g", ONNX_FLOAT, OM_NO_RANK);
        out_y();
        BECOMES("a = ClampScalar x [min=0 max=6]; "
                "b = Slice a [begin=0,1,0,0 end=9223372036854775807,3,9223372036854775807,9223372036854775807 "
                    "stride=1,1,1,1]; "
                "c = Pad b [padding=0,0,0,0,1,2,0,0 value=1.5]; d = Sum c [dim=3 keepdim=true]; e = Squeeze d [axis=3]; "
                "f = Reshape e [shape=1,1,2,11 layout=@layout(****)]; g, y = Split f [sections=4,7 axis=3]; out g y");
        end(NULL);
        begin(NULL);
    }
}

static void softmax_before_version_13_takes_all_dims_from_its_axis_on(void **state) {
    (void)state;
    om_opset(&m, "", 11);
    in_x();
    om_node(&m, "Softmax", "soft", "x", "y");
    out_y();
    BECOMES("y.Reshape = Reshape x [shape=1,192 layout=@layout(**)]; y.Softmax = Softmax y.Reshape [axis=1]; "
            "y = Reshape y.Softmax [shape=1,3,8,8 layout=@layout(****)]; out y");
}

static void upsample_and_resize_become_sizes(void **state) {
    (void)state;
    static const float scales[] = { 1, 1, 2, 3 };
    for (int version = 7; version <= 13; version += version == 7 ? 2 : version == 9 ? 1 : 3) {
        om_opset(&m, "", version);
        in_x();
        if (version > 7) om_floats(&m, "s", OM_DIMS(4), scales, 4);
        om_node(&m, version < 10 ? "Upsample" : "Resize", "up", version == 7 ? "x" : version < 11 ? "x,s"
                : "x,,s", "y");
        if (version == 7) om_reals(&m, "scales", scales, 4);
        if (version == 13)
            om_text(&m, "coordinate_transformation_mode", "asymmetric"), om_text(&m, "nearest_mode", "floor");
        out_y();
        convert(NULL);
        const xir_upsample_attrs *a = xir_op_body(xir_network_op_by_name(net, XIR_STR("up")), xir_upsample_class());
        assert_true(a && a->height == 16 && a->width == 24 && a->interpolation == XIR_UPSAMPLE_NEAREST &&
                    !a->align_corners);
        end(NULL);
        begin(NULL);
    }
}

static void a_right_operand_along_an_axis(void **state) {
    (void)state;
    om_opset(&m, "", 6);
    in_x();
    om_floats(&m, "b", OM_DIMS(3), numbers, 3);
    om_node(&m, "Add", "add", "x,b", "y");
    om_int(&m, "broadcast", 1);
    om_int(&m, "axis", 1);
    out_y();
    convert(NULL);
    CHECK_TYPE_OF(xir_op_input(xir_network_op_by_name(net, XIR_STR("add")), 1), "@fp(32) *** 3 1 1");
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* x.reshape(x.shape[0], -1, x.shape[2] * 2), as exporters write it. */
static void shape_arithmetic(om_dims dims) {
    om_input(&m, "x", ONNX_FLOAT, dims);
    constant("zero", OM_DIMS(1), 0, 0, 0, 0);
    constant("at", OM_SCALAR, 2, 0, 0, 0);
    constant("two", OM_SCALAR, 2, 0, 0, 0);
    constant("rest", OM_DIMS(1), -1, 0, 0, 0);
    om_node(&m, "Shape", "shape", "x", "s");
    om_node(&m, "Gather", "batch", "s,zero", "n");
    om_node(&m, "Gather", "rows", "s,at", "h");
    om_node(&m, "Mul", "twice", "h,two", "h2");
    om_node(&m, "Unsqueeze", "list", "h2,zero", "h3");
    om_node(&m, "Concat", "all", "n,rest,h3", "sizes");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "reshape", "x,sizes", "y");
    out_y();
}

static void shape_arithmetic_becomes_an_attribute(void **state) {
    (void)state;
    shape_arithmetic(OM_DIMS(2, 3, 8, 8));
    convert(NULL);
    CHECK_STORY(net, "y = Reshape x [shape=2,-1,16 layout=@layout(***)]; out y");
}

/* x [?, 3, 8, 8] in the shape (its first dim, a, b). */
static void shape_of_open(int64_t a, int64_t b, const char *type) {
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1, 3, 8, 8));
    constant("zero", OM_DIMS(1), 0, 0, 0, 0);
    constant("others", OM_DIMS(2), a, b, 0, 0);
    om_node(&m, "Shape", "shape", "x", "s");
    om_node(&m, "Slice", "batch", "s,zero,one", "n");
    constant("one", OM_DIMS(1), 1, 0, 0, 0);
    om_node(&m, "Concat", "all", "n,others", "sizes");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "reshape", "x,sizes", "y");
    out_y();
    convert(NULL);
    CHECK_TYPE("y", type);
    end(NULL);
    begin(NULL);
}

static void an_unknown_dim_does_not_affect_the_others(void **state) {
    (void)state;
    shape_of_open(192, 1, "@fp(32) *** -1 192 1");
    shape_of_open(3, -1, "@fp(32) *** -1 3 64");
    shape_of_open(0, 64, "@fp(32) *** -1 3 64");
    shape_of_open(-1, 1, "@fp(32) *** -1 192 1");
}

/* x.expand(x.shape[0], 5, -1) as exporters write it: the shape, with 1 where it is -1. */
static void expansion_by_a_shape_with_an_unknown_dim(void **state) {
    (void)state;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1, 1, 8));
    constant("zero", OM_DIMS(1), 0, 0, 0, 0);
    constant("one", OM_DIMS(1), 1, 0, 0, 0);
    constant("others", OM_DIMS(2), 5, -1, 0, 0);
    constant("minus", OM_SCALAR, -1, 0, 0, 0);
    constant("ones", OM_DIMS(3), 1, 1, 1, 0);
    om_node(&m, "Shape", "shape", "x", "s");
    om_node(&m, "Slice", "batch", "s,zero,one", "n");
    om_node(&m, "Concat", "all", "n,others", "sizes");
    om_int(&m, "axis", 0);
    om_node(&m, "Equal", "kept", "sizes,minus", "k");
    om_node(&m, "Where", "asked", "k,ones,sizes", "t");
    om_node(&m, "Expand", "expand", "x,t", "y");
    out_y();
    convert(NULL);
    CHECK_TYPE("y", "@fp(32) *** -1 5 8");
}

static void options_set_dims_by_input_and_by_name(void **state) {
    (void)state;
    static const char *const options[] = { "bind=N0=2", "input-shape=x=2,3,8,8" };
    for (size_t i = 0; i < COUNT(options); i++) {
        om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1, 3, 8, 8));
        om_node(&m, "Relu", "relu", "x", "h");
        om_value(&m, "h", ONNX_FLOAT, OM_DIMS(-1, 3, 8, 8));
        om_node(&m, "Flatten", "flat", "h", "y");
        om_output(&m, "y", ONNX_FLOAT, OM_DIMS(-1, 192));
        read_model();
        char text[200];
        snprintf(text, sizeof text, "onnx-to-xir{%.*s\"%s\"}",
                 (int)(strchr(options[i], '=') + 1 - options[i]), options[i], strchr(options[i], '=') + 1);
        xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(text), why);
        assert_non_null(p);
        assert_int_equal(xir_pipeline_run(p, net, NULL, NULL, why), XIR_OK);
        xir_pipeline_free(p);
        CHECK_TYPE("y", "@fp(32) ** 2 192");
        const xir_map *tags = xir_value_tags(story_value(net, "h"));
        assert_true(!tags || !xir_map_find(tags, XIR_STR("source.dims")));
        end(NULL);
        begin(NULL);
    }
}

static void dims_that_options_cannot_set(void **state) {
    (void)state;
    static const struct { const char *text; xir_status code; const char *part; } rows[] = {
        { "input-shape=\"z=1\"",           XIR_E_UNKNOWN, "there is no input 'z'" },
        { "input-shape=\"x=1,3\"",         XIR_E_BOUNDS,  "expected 4 dims for the input 'x', found 2" },
        { "input-shape=\"x=1,4,8,8\"",     XIR_E_BOUNDS,  "dim 1 of the input 'x': expected 3, found 4" },
        { "input-shape=\"x=1,3,8,\"",      XIR_E_SYNTAX,  "found '1,3,8,'" },
        { "input-shape=\"x=1,three\"",     XIR_E_SYNTAX,  "found '1,three'" },
        { "input-shape=\"x=99999999999999999999,1,1,1\"", XIR_E_SYNTAX, "expected dims like 1,3,224,224" },
        { "bind=\"M=2\"",                  XIR_E_UNKNOWN, "no open dim has the name 'M'" },
        { "bind=\"N0=-2\"",                XIR_E_BOUNDS,  "expected values" },
        { "bind=\"N0=3..2\"",              XIR_E_BOUNDS,  "expected values" },
        { "bind=\"N0=2,N0=2\"",            XIR_E_EXISTS,  "bind, 'N0=2': the name 'N0' appears twice" },
        { "bind=\"N0=2x\"",                XIR_E_SYNTAX,  "bind, 'N0=2x', character 5: expected '..', found 'x'" },
        { "bind=\"N0=99999999999999999999\"", XIR_E_BOUNDS, "bind, 'N0=99999999999999999999', character 4" },
        { "bind=\"N0\"",                   XIR_E_SYNTAX,  "bind, 'N0', character 1: expected NAME=N or NAME=A..B" },
    };
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1, 3, 8, 8));
    om_node(&m, "Relu", "relu", "x", "y");
    out_y();
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        read_model();
        snprintf(text, sizeof text, "onnx-to-xir{%s}", rows[i].text);
        xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(text), why);
        assert_non_null(p);
        assert_int_equal(xir_pipeline_run(p, net, NULL, NULL, why), rows[i].code);
        xir_pipeline_free(p);
        check_finding(rows[i].code, rows[i].part);
        xir_network_free(net);
        net = NULL;
    }
}

/* ---- kept ops --------------------------------------------------------------------------------------------------- */

static void an_op_without_counterpart_stays_with_a_note(void **state) {
    (void)state;
    in_x();
    om_node(&m, "Relu", "a", "x", "p");
    om_node(&m, "Det", "det", "p", "q");
    om_value(&m, "q", ONNX_FLOAT, OM_DIMS(1, 3));
    om_node(&m, "Bernoulli", "chance", "p", "i");
    om_output(&m, "i", ONNX_FLOAT, OM_NO_RANK);
    om_node(&m, "Exp", "e", "q", "y");
    out_y();
    convert(NULL);
    CHECK_STORY(net, "p = ReLU x; q = onnx::Det p; i = onnx::Bernoulli p; y = Exp q; out i y");
    check_finding_at(0, XIR_NOTE, "/graph/node/1",
                     "to-xir: Det 'det' (node 1): not converted: matrices of 8 rows");
    check_finding_at(1, XIR_NOTE, "/graph/node/2", "not converted: XIR has no operation for it");
    check_finding_at(2, XIR_NOTE, "", "to-xir: 2 of 4 nodes are not converted, for 2 reasons");
    assert_int_equal(xir_diags_count(why), 3);
    /* with `strict` that is an error; an XIR network is unchanged */
    assert_int_equal(run_pass("strict"), XIR_E_UNKNOWN);
    check_finding_at(0, XIR_ERROR, "/graph/node/1", "not converted");
}

/* A conversion does not write out as many elements as a file only claims to have. */
static void a_group_of_very_many_channels_stays(void **state) {
    (void)state;
    const float two[] = { 1, 1 };
    om_opset(&m, "", 18);
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, INT64_C(1) << 40, 4));
    om_floats(&m, "g", OM_DIMS(2), two, 2);
    om_node(&m, "GroupNormalization", "gn", "x,g,g", "y");
    om_int(&m, "num_groups", 2);
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1, INT64_C(1) << 40, 4));
    convert(NULL);
    CHECK_STORY(net, "y = onnx::GroupNormalization x g g; out y");
    check_finding_at(0, XIR_NOTE, "/graph/node/0", "not converted: the number of channels is 1099511627776: "
                                                   "a conversion takes at most 1048576");
}

/* The first output of both branches has the type that both declare: [2, ?]. */
static void an_if_stays_with_the_types_of_its_branches(void **state) {
    (void)state;
    in_x();
    om_input(&m, "c", ONNX_BOOL, OM_SCALAR);
    om then = om_begin("then"), other = om_begin("else");
    om_node(&then, "Flatten", "f", "x", "t");
    om_output(&then, "t", ONNX_FLOAT, OM_DIMS(2, 3));
    om_node(&other, "Flatten", "g", "x", "e");
    om_output(&other, "e", ONNX_FLOAT, OM_DIMS(2, 4));
    om_node(&m, "If", "if", "c", "h");
    om_graph_attr(&m, "then_branch", &then);
    om_graph_attr(&m, "else_branch", &other);
    om_node(&m, "Exp", "exp", "h", "y");
    out_y();
    convert(NULL);
    CHECK_TYPE("h", "@fp(32) ** 2 -1");
    CHECK_STORY(net, "h = onnx::If c x; y = Exp h; out y");
    check_finding_at(0, XIR_NOTE, "/graph/node/0", "the branch depends on the input 'c', which can be fixed");
    size_t changes = 1;
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", NULL, &changes, why), XIR_OK);
    assert_int_equal(changes, 0);
}

static void a_constant_is_shared_under_its_names(void **state) {
    (void)state;
    in_x();
    om_floats(&m, "w", OM_DIMS(8), numbers, 8);
    om_node(&m, "Identity", "again", "w", "v");
    om_node(&m, "Add", "a", "x,w", "p");
    om_node(&m, "Add", "b", "p,v", "y");
    out_y();
    BECOMES("p = Add x w; y = Add p v; out y");
    const xir_value *w = xir_op_input(xir_network_op_by_name(net, XIR_STR("a")),
                                      1), *v = xir_op_input(xir_network_op_by_name(net, XIR_STR("b")), 1);
    assert_ptr_not_equal(w, v);
    assert_ptr_equal(xir_params_data(w, NULL), xir_params_data(v, NULL));
}

static void a_file_in_any_order_is_sorted(void **state) {
    (void)state;
    in_x();
    om_node(&m, "Relu", "c", "q", "y");
    om_node(&m, "Sigmoid", "b", "p", "q");
    om_node(&m, "Tanh", "a", "x", "p");
    out_y();
    BECOMES("p = Tanh x; q = Sigmoid p; y = ReLU q; out y");
}

static void a_cycle_is_an_error_and_the_rest_is_converted(void **state) {
    (void)state;
    in_x();
    om_node(&m, "Add", "a", "x,q", "p");
    om_node(&m, "Relu", "b", "p", "q");
    om_node(&m, "Tanh", "c", "x", "y");
    out_y();
    read_model();
    assert_int_equal(run_pass(NULL), XIR_E_INVALID);
    check_finding_at(0, XIR_ERROR, "/graph/node/0", "the graph has a cycle");
    assert_int_equal(xir_diags_count(why), 1);
}

static void networks_keep_their_metadata(void **state) {
    (void)state;
    in_x();
    om_metadata(&m, "author", "us");
    om_node(&m, "Relu", "a", "x", "y");
    out_y();
    read_model();
    assert_non_null(xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset")));
    assert_int_equal(run_pass(NULL), XIR_OK);
    assert_non_null(xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset")));
    assert_non_null(xir_map_find(xir_network_tags(net), XIR_STR("onnx.metadata")));
    CHECK_STR(xir_network_text_of(net, XIR_TEXT_FRAMEWORK), "ONNX");
    size_t changes = 1;
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", NULL, &changes, why), XIR_OK);
    assert_int_equal(changes, 0);
}

/* ---- rows of programs ------------------------------------------------------------------------------------------- */

/* x * sigmoid(beta * x), which is SiLU if beta is 1. */
static bool swish(xir_node *at) {
    if (xir_node_real(at, "beta", 1) != 1)
        return xir_node_unsupported(at, "a beta of %g", xir_node_real(at, "beta", 1));
    return xir_node_becomes(at, "SiLU", XIR_VALUES(xir_node_input(at, 0)), XIR_NO_SETS);
}

static void programs_register_rows(void **state) {
    (void)state;
    static const xir_convert_row rows[] = {
        { XIR_CONVERT_HEAD, "onnx::com.example.Swish", "1", "1", "beta:f", "SiLU", NULL, swish },
        { XIR_CONVERT_HEAD, "onnx::com.example.Leaky", "1", "1", "slope:f!", "ReLU", "alpha=slope max_value=6", NULL },
    };
    DOES(xir_convert_register(ctx, rows, COUNT(rows), why));
    assert_ptr_equal(xir_convert_find(ctx, XIR_STR("onnx::com.example.Leaky")), &rows[1]);
    in_x();
    om_opset(&m, "", 17);
    om_opset(&m, "com.example", 3);
    om_node(&m, "com.example.Swish", "s", "x", "p");
    om_node(&m, "com.example.Leaky", "l", "p", "q");
    om_float(&m, "slope", 0.25f);
    om_node(&m, "com.example.Swish", "t", "q", "y");
    om_float(&m, "beta", 2);
    out_y();
    convert(NULL);
    CHECK_STORY(net, "p = SiLU x; q = ReLU p [alpha=0.25 max_value=6]; y = onnx::com.example.Swish q; out y");
    check_finding_at(0, XIR_NOTE, "/graph/node/2", "not converted: a beta of 2");
}

/* An axis from a real: a whole number is accepted if an integer can hold it. */
static void reals_are_integers_only_if_they_are_whole(void **state) {
    static const xir_convert_row row = { XIR_CONVERT_HEAD, "onnx::com.example.Along", "1", "1", "along:f", "Softmax",
                                         "axis=along", NULL };
    static const struct { float along; const char *story; } cases[] = {
        { 1,         "y = Softmax x [axis=1]; out y" },
        { 0.5f,      "y = onnx::com.example.Along x; out y" },
        { 1e30f,     "y = onnx::com.example.Along x; out y" },
        { -1e30f,    "y = onnx::com.example.Along x; out y" },
        { 0x1p63f,   "y = onnx::com.example.Along x; out y" },
    };
    DOES(xir_convert_register(ctx, &row, 1, why));
    for (size_t i = 0; i < COUNT(cases); i++) {
        end(state);
        begin(state);
        in_x();
        om_opset(&m, "", 17);
        om_opset(&m, "com.example", 3);
        om_node(&m, "com.example.Along", "l", "x", "y");
        om_float(&m, "along", cases[i].along);
        out_y();
        convert(NULL);
        CHECK_STORY(net, cases[i].story);
        if (i) check_finding_at(0, XIR_NOTE, "/graph/node/0", "Softmax takes another kind for its attribute axis");
    }
}

static void invalid_rows_are_refused(void **state) {
    (void)state;
    static const struct { xir_convert_row row; xir_status code; const char *part; } cases[] = {
        { { XIR_CONVERT_HEAD, "onnx::Relu", "1", "1", "", "ReLU", NULL, NULL },            XIR_E_EXISTS,
          "there is a conversion row 'onnx::Relu' already" },
        { { XIR_CONVERT_HEAD, "onnx::com.example.Swish", "1", "1", "", "SiLU", NULL, NULL }, XIR_E_EXISTS, "already" },
        { { XIR_CONVERT_HEAD, "Relu", "1", "1", "", "ReLU", NULL, NULL },                  XIR_E_INVALID,
          "not a key of a known dialect" },
        { { XIR_CONVERT_HEAD, NULL, "1", "1", "", "ReLU", NULL, NULL },                    XIR_E_INVALID,
          "not a key of a known dialect" },
        { { XIR_CONVERT_HEAD, "onnx::A", "", "1", "", "ReLU", NULL, NULL },                XIR_E_INVALID,
          "number of inputs" },
        { { XIR_CONVERT_HEAD, "onnx::A", "2-1", "1", "", "ReLU", NULL, NULL },             XIR_E_INVALID,
          "number of inputs" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1-x", "", "ReLU", NULL, NULL },             XIR_E_INVALID,
          "number of outputs" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1", "alpha", "ReLU", NULL, NULL },          XIR_E_INVALID,
          "list of attributes" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1", "alpha:q", "ReLU", NULL, NULL },        XIR_E_INVALID,
          "list of attributes" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1", "a:f b:i?", "ReLU", NULL, NULL },       XIR_E_INVALID,
          "list of attributes" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1", "a:f", "ReLU", "alpha", NULL },         XIR_E_INVALID, "list of sets" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1", "a:f", "ReLU", "alpha=a:x", NULL },     XIR_E_INVALID, "list of sets" },
        { { XIR_CONVERT_HEAD, "onnx::A", "1", "1", "a:f", NULL, NULL, NULL },              XIR_E_INVALID,
          "no class and no hook" },
        { { .abi = 0, .size = 8 },                                                         XIR_E_ABI,
          "another version" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_diags_clear(why);
        assert_int_equal(xir_convert_register(ctx, &cases[i].row, 1, why), cases[i].code);
        check_finding(cases[i].code, cases[i].part);
    }
    const xir_convert_row twice[] = { { XIR_CONVERT_HEAD, "onnx::B", "1", "1", "", "ReLU", NULL, NULL },
                                      { XIR_CONVERT_HEAD, "onnx::B", "1", "1", "", "ReLU", NULL, NULL } };
    assert_int_equal(xir_convert_register(ctx, twice, 2, why), XIR_E_EXISTS);
    assert_null(xir_convert_find(ctx, XIR_STR("onnx::B")));
    xir_diags_clear(why);
}

/* The built-in rows are well-formed, have distinct names, and, without a hook, set existing attributes. */
static void the_built_in_dialect_is_valid(void **state) {
    (void)state;
    const xir_dialect_decl *onnx = xir_dialect_find(ctx, XIR_STR("onnx::Relu"));
    const void *items[] = { onnx };
    const char *name;
    assert_non_null(onnx);
    assert_int_equal(ctx->lists[REGISTRY_DIALECT].rules->check(ctx, items, 0, &name, why), XIR_OK);
    CHECK_STR(xir_str_of(name), "onnx::");
    assert_int_equal(xir_dialect_register(ctx, onnx, NULL), XIR_E_EXISTS);
}

static void the_built_in_rows_are_valid(void **state) {
    (void)state;
    const xir_convert_row *row;
    size_t n = 0;
    for (; (row = xir_convert_at(ctx, n)); n++) {
        size_t least, most;
        row_attribute attribute;
        row_set set;
        const char *attributes = row->attributes, *sets = row->sets;
        assert_ptr_equal(xir_convert_find(ctx, xir_str_of(row->name)), row);
        assert_true(row_range(row->inputs, &least, &most) && row_range(row->outputs, &least, &most));
        while (row_next_attribute(&attributes, &attribute)) {}
        assert_int_equal(attributes ? *attributes : 0, 0);
        const bool there_only = !row->from || (row->back && !row->hook);   /* what the sets are of */
        const char *classes = row->sets && there_only ? row->cls : convert_row_classes(row);
        for (char word[64]; convert_next_class(&classes, word); sets = row->sets) {
            const xir_class *cls = find_class(ctx, word);
            assert_non_null(cls);
            while (row_next_set(&sets, &set)) assert_non_null(xir_class_field(cls, set.field));
            assert_int_equal(sets ? *sets : 0, 0);
        }
        while (row_next_set(&sets, &set)) {}
        assert_int_equal(sets ? *sets : 0, 0);
    }
    assert_true(n > 180);
}

/* Built-in rows: other tests may add some of other domains. */
static bool is_onnx(const xir_convert_row *row) {
    static const char own[] = "onnx::", microsoft[] = "onnx::com.microsoft.";
    if (strncmp(row->name, own, strlen(own)) != 0) return false;
    return !strchr(row->name, '.') || strncmp(row->name, microsoft, strlen(microsoft)) == 0;
}

/* The table of docs/onnx.md, from the rows. */
static char *table_of_rows(void) {
    char *text = NULL;
    size_t size, n_stay = 0;
    FILE *out = open_memstream(&text, &size);
    const xir_convert_row *row;
    assert_non_null(out);
    fputs("<!-- rows -->\n| ONNX | becomes | comes from |\n|---|---|---|\n", out);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (!row->cls || !is_onnx(row)) continue;
        fprintf(out, "| %s | %s%s%s%s | %s |\n", row->name + strlen("onnx::"), row->cls, row->sets ? " (" : "",
                row->sets ? row->sets : "", row->sets ? ")" : "", convert_row_classes(row));
    }
    fputs("\nNot converted:", out);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (row->cls || !is_onnx(row)) continue;
        fprintf(out, "%s %s", n_stay++ ? "," : "", row->name + strlen("onnx::"));
    }
    fputs(".\n<!-- end of rows -->\n", out);
    fclose(out);
    return text;
}

static void the_docs_have_all_rows(void **state) {
    (void)state;
    char *expected = table_of_rows(), *found = NULL;
    FILE *f = fopen(XIR_TEST_DATA "/../docs/onnx.md", "r");
    size_t size = 0, room = 1 << 20;
    assert_true(f && (found = malloc(room + 1)));
    size = fread(found, 1, room, f);
    fclose(f);
    found[size] = '\0';
    bool there = strstr(found, expected);
    if (!there) fprintf(stderr, "docs/onnx.md should have:\n%s", expected);
    free(found);
    free(expected);
    assert_true(there);
}

/* ---- quantisation ----------------------------------------------------------------------------------------------- */

/* Without a zero point output_dtype gives the elements, and they the bounds. */
static void quantised_elements_have_the_bounds_of_output_dtype(void **state) {
    (void)state;
    static const float x[] = { -300, -8.4f, -0.6f, 0.4f, 6.6f, 15.4f, 300, 70000 };
    static const struct { int code; const char *element; float least, most; } rows[] = {
        { 0,            "@uint(8)",  0,      255   },   /* the attribute is absent */
        { ONNX_UINT8,   "@uint(8)",  0,      255   },
        { ONNX_INT8,    "@sint(8)",  -128,   127   },
        { ONNX_UINT16,  "@uint(16)", 0,      65535 },
        { ONNX_INT16,   "@sint(16)", -32768, 32767 },
        { 21,           "@uint(4)",  0,      15    },   /* UINT4 */
        { 22,           "@sint(4)",  -8,     7     },   /* INT4  */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        om_opset(&m, "", 21);
        om_input(&m, "x", ONNX_FLOAT, OM_DIMS(COUNT(x)));
        om_floats(&m, "scale", OM_SCALAR, &numbers[1], 1);
        om_node(&m, "QuantizeLinear", "quantize", "x,scale", "q");
        if (rows[i].code) om_int(&m, "output_dtype", rows[i].code);
        om_node(&m, "Cast", "cast", "q", "y");
        om_int(&m, "to", ONNX_FLOAT);
        om_output(&m, "y", ONNX_FLOAT, OM_DIMS(COUNT(x)));
        convert("strict");
        assert_string_equal(spelled(xir_type_element(xir_value_type(story_value(net, "q")))), rows[i].element);
        xir_array *in = xir_array_copy(ctx, FP32("*", COUNT(x)), x, sizeof x, why), *out = NULL;
        DOES(xir_network_run(net, (const xir_array *const *)&in, 1, &out, 1, NULL, why));
        const float *y = xir_array_data(out, NULL);
        for (size_t k = 0; k < COUNT(x); k++) {
            const float whole = roundf(x[k]);
            const float expected = whole < rows[i].least ? rows[i].least : whole > rows[i].most ? rows[i].most : whole;
            if (y[k] != expected) fail_msg("%s: %g becomes %g, expected %g", rows[i].element, x[k], y[k], expected);
        }
        xir_array_free(in);
        xir_array_free(out);
        end(NULL);
        begin(NULL);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* Every element type that the reader maps to an XIR element can be a Cast's target, including narrow ones. */
static const struct { int code; const char *type; } casts[] = {
    { 2, "@uint(8)" }, { 10, "@fp(16)" }, { 16, "@bf(16)" }, { 21, "@uint(4)" }, { 22, "@sint(4)" }, { 25, "@uint(2)" },
    { 26, "@sint(2)" }, { 17, NULL }, { 23, NULL }, { 27, NULL },
};
static void cast_accepts_the_element_types_of_the_reader(void **state) {
    for (size_t i = 0; i < COUNT(casts); i++) {
        end(state);
        begin(state);
        in_x();
        om_node(&m, "Cast", "c", "x", "y");
        om_int(&m, "to", casts[i].code);
        om_output(&m, "y", casts[i].code, OM_DIMS(1, 3, 8, 8));
        read_model();
        assert_int_equal(run_pass(NULL), XIR_OK);
        if (casts[i].type) {
            char expected[64];
            snprintf(expected, sizeof expected, "%s **** 1 3 8 8", casts[i].type);
            CHECK_TYPE("y", expected);
            assert_true(xir_op_is(xir_value_op(story_value(net, "y")), xir_cast_class()));
        } else {
            check_finding_at(0, XIR_NOTE, "/graph/node/0", "elements of TensorProto.DataType");
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        TEST(quantised_elements_have_the_bounds_of_output_dtype),
        TEST(a_row_is_one_op_with_its_attributes),
        TEST(cast_accepts_the_element_types_of_the_reader),
        TEST(values_keep_their_names_and_new_ones_derive_from_them),
        TEST(a_weight_of_two_convolutions_is_permuted_once),
        TEST(batch_normalisation_is_a_multiplier_and_an_addend),
        TEST(gemm_is_a_product_with_a_transposed_constant),
        TEST(auto_pad_and_ceil_mode_become_padding),
        TEST(the_only_window_may_end_outside),
        TEST(the_only_average_may_end_outside),
        TEST(attributes_that_became_inputs),
        TEST(softmax_before_version_13_takes_all_dims_from_its_axis_on),
        TEST(upsample_and_resize_become_sizes),
        TEST(a_right_operand_along_an_axis),
        TEST(shape_arithmetic_becomes_an_attribute),
        TEST(an_unknown_dim_does_not_affect_the_others),
        TEST(expansion_by_a_shape_with_an_unknown_dim),
        TEST(options_set_dims_by_input_and_by_name),
        TEST(dims_that_options_cannot_set),
        TEST(an_op_without_counterpart_stays_with_a_note),
        TEST(a_group_of_very_many_channels_stays),
        TEST(an_if_stays_with_the_types_of_its_branches),
        TEST(a_constant_is_shared_under_its_names),
        TEST(a_file_in_any_order_is_sorted),
        TEST(a_cycle_is_an_error_and_the_rest_is_converted),
        TEST(networks_keep_their_metadata),
        TEST(programs_register_rows),
        TEST(reals_are_integers_only_if_they_are_whole),
        TEST(invalid_rows_are_refused),
        TEST(the_built_in_dialect_is_valid),
        TEST(the_built_in_rows_are_valid),
        TEST(the_docs_have_all_rows),
    };
    return RUN_GROUP(tests);
}
