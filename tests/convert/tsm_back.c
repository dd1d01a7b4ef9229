/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back: networks of TensorStack's operators become XIR's, and those TensorStack's again, are written, read and
 * converted once more: they compute the same. What cannot be said stays, with a reason. */
#include <math.h>
#include <xir/convert.h>
#include "convert/tsm_text.h"
#include "support/story.h"

/* Classes of XIR, in ONNX's words, and whether they go to TSM: inputs, weights, nodes. */
static const struct row { const char *inputs, *weights, *nodes; } rows[] = {
#define A "a=(2,3,4)f32"
#define AB "a=(2,3,4)f32 b=(1,4)f32"
#define P "p=(2,3)f32"
#define IMAGE "a=(2,3,7,6)f32"
    { AB, "", "Add a,b y" }, { AB, "", "Sub a,b y" }, { AB, "", "Mul a,b y" }, { AB, "", "Div a,b y" },
    { AB, "", "Max a,b y" }, { AB, "", "Min a,b y" }, { "k=(2,3)i64", "i=[2]", "Mod k,i y fmod=1" },
    { "k=(2,3)i64", "i=[2]", "Div k,i y" }, { "k=(2,3)i64 k1=(2,3)i64", "", "Equal k,k1 y" },
    { "k=(2,3)i64 k1=(2,3)i64 a=(2,3)f32 b=(3)f32", "", "Equal k,k1 c;Where c,a,b y" },
    { A, "", "Abs a y" }, { A, "", "Ceil a y" }, { A, "", "Floor a y" }, { A, "", "Erf a y" }, { A, "", "Exp a y" },
    { A, "", "Tanh a y" }, { A, "", "Sigmoid a y" }, { A, "", "Softplus a y" }, { A, "", "Neg a y" },
    { P, "", "Sqrt p y" }, { P, "", "Reciprocal p y" }, { P, "c={0.5}", "Pow p,c y" }, { A, "", "Relu a y" },
    { A, "", "LeakyRelu a y alpha=0.25" }, { A, "", "HardSigmoid a y alpha=0.5 beta=0.25" }, { A, "", "HardSwish a y" },
    { A, "", "Sigmoid a s;Mul a,s y" }, { A, "w=(3,1)", "PRelu a,w y" }, { A, "w=(1)", "PRelu a,w y" },
    { A, "c={-1} d={0.5}", "Clip a,c,d y" }, { A, "", "Cast a y to=6" }, { "k=(2,3)i64", "", "Cast k y to=1" },
    { A, "", "Identity a y" }, { A, "", "Softsign a y" }, { A, "", "Mish a y" },
    { IMAGE, "w=(4,3,3,3) w1=(4)", "Conv a,w,w1 y pads=[1,0,1,2] strides=[2,1] dilations=[1,2]" },
    { IMAGE, "w=(3,1,3,2)", "Conv a,w y group=3 pads=[1,0,1,0]" },
    { "a=(2,4,7,6)f32", "w=(6,2,3,3) w1=(6)", "Conv a,w,w1 y group=2 pads=[1,1,1,1]" },
    { IMAGE, "w=(3,4,3,2) w1=(4)", "ConvTranspose a,w,w1 y pads=[1,0,0,1] strides=[2,2] output_padding=[1,0]" },
    { IMAGE, "", "MaxPool a y kernel_shape=[2,2] strides=[2,3]" },
    { IMAGE, "", "MaxPool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1" },
    { IMAGE, "", "AveragePool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]" },
    { IMAGE, "", "AveragePool a y kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] count_include_pad=1" },
    { IMAGE, "", "GlobalAveragePool a y" }, { IMAGE, "", "GlobalMaxPool a y" },
    { IMAGE, "w=(3) q=+(3) w1=(3) w2=(3)", "BatchNormalization a,w1,w2,w,q y" },
    { A, "w=(4) w1=(4)", "LayerNormalization a,w,w1 y" }, { IMAGE, "w=(3) w1=(3)", "InstanceNormalization a,w,w1 y" },
    { "a=(2,4,3,3)f32", "w=(4) w1=(4)", "GroupNormalization a,w,w1 y num_groups=2" },
    { A, "", "LpNormalization a y axis=1" },
    { A, "", "Softmax a y axis=1" }, { A, "i=[1,2]", "ReduceMean a,i y keepdims=1" },
    { A, "i=[0,2]", "ReduceMean a,i y keepdims=0" }, { A, "i=[0,1]", "ReduceSum a,i y keepdims=0" },
    { A, "i=[1]", "ReduceMax a,i y keepdims=1" }, { A, "i=[2]", "ReduceMin a,i y keepdims=0" },
    { A, "", "ArgMax a y axis=1 keepdims=0" }, { A, "i=[2]", "TopK a,i y,y1 axis=2" },
    { "a=(3,4)f32", "w=(4,5) w1=(5)", "Gemm a,w,w1 y" }, { "a=(3,4)f32 b=(4,5)f32", "", "MatMul a,b y" },
    { "a=(5,13,2,3)f32 b=(13,3,4)f32", "", "MatMul a,b y" }, { "a=(3,2,3)f32 b=(3,3,4)f32", "", "MatMul a,b y" },
    { A, "w=(4,5)", "MatMul a,w y" }, { A, "w=(4,5) w1=(5)", "MatMul a,w x;Add x,w1 y" },
    { "a=(4,2,3)f32", "w=(1,20,3) w1=(1,20,5) w2=(1,40)", "LSTM a,w,w1,w2 y,y1,y2 hidden_size=5" },
    { A, "i=[4,6]", "Reshape a,i y" }, { A, "", "Transpose a y perm=[2,0,1]" }, { "a=(1,3,1)f32", "", "Squeeze a y" },
    { "a=(3,1)f32", "i=[2,3,4]", "Expand a,i y" }, { "a=(2,3)f32", "i=[2,3]", "Tile a,i y" },
    { "a=(2,3)f32 b=(2,1)f32", "", "Concat a,b y axis=1" }, { "a=(2,7)f32", "i=[2,5]", "Split a,i y,y1 axis=1" },
    { "a=(4,5)f32", "i=[1,2] j=[3,5]", "Slice a,i,j y" },
    { "a=(4,5)f32", "i=[-1] j=[-9] k=[1] l=[-2]", "Slice a,i,j,k,l y" },
    { "a=(2,3)f32", "i=[1,-1,0,2]", "Pad a,i y" }, { "a=(3,4)f32 k=(2,3)i64", "", "Gather a,k y" },
    { "a=(3,3)f32 k=(4,2)i64", "", "GatherND a,k y" },
    { "a=(2,3,8,8)f32", "i=[2,3,4,5]", "Resize a,,,i y mode=linear coordinate_transformation_mode=half_pixel" },
    { "a=(2,3,4,5)f32", "i=[2,3,8,10]",
      "Resize a,,,i y mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor" },
    { "a=(1,4,4,4)f32", "", "DepthToSpace a y blocksize=2 mode=CRD" },
};

static bool passes(xir_network *net, const char *pass, const char *options) {
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, pass, options, NULL, why);
    if (status) xir_diags_print(why, stderr);
    return !status && xir_network_validate(net, why) == XIR_OK;
}

static struct { uint8_t bytes[1 << 20]; size_t size; } file;

static bool keep(void *user, const void *data, size_t n) {
    (void)user;
    if (n > sizeof file.bytes - file.size) return false;
    memcpy(file.bytes + file.size, data, n);
    file.size += n;
    return true;
}

/* Written and read; NULL after a finding. */
static xir_network *through_a_file(xir_network *net) {
    file.size = 0;
    xir_diags_clear(why);
    const xir_status status = xir_network_write(net, keep, NULL, &XIR_INIT(xir_save_options, .format = "tsm"), why);
    xir_network *read = status ? NULL : xir_network_read(ctx, file.bytes, file.size, XIR_STR("x.tsm"), NULL, why);
    if (!read) xir_diags_print(why, stderr);
    return read;
}

static bool agree(const xir_array *a, const xir_array *b) {
    xir_difference d;
    return xir_array_compare(a, b, 1e-4, 1e-5, &d) == XIR_OK && d.same_shape && !d.count;
}

static bool comes_back(xir_network *net) {
    xir_array *x[TSM_MOST_ENDS] = { NULL }, *y[TSM_MOST_ENDS] = { NULL };
    const size_t n = tsm_run(net, x);
    bool all = passes(net, "layout", "to=nchw") && passes(net, "xir-to-tsm", "strict");
    xir_network *back = all ? through_a_file(net) : NULL;
    all = back && xir_dialect_check(back, why) == XIR_OK && passes(back, "tsm-to-xir", "strict");
    if (all) assert_int_equal(tsm_run(back, y), n);
    for (size_t i = 0; i < n; i++) {
        all = all && agree(x[i], y[i]);
        xir_array_free(x[i]);
        xir_array_free(y[i]);
    }
    xir_network_free(back);
    return all;
}

static void operations_come_back(void **state) {
    (void)state;
    size_t wrong = 0;
    const char *only = getenv("XIR_TSM_ONLY");
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (only && atoi(only) != (int)i) continue;
        const char *nodes = rows[i].nodes;
        const char *outputs = strstr(nodes, "y,y1,y2") ? "y y1 y2" : strstr(nodes, "y,y1") ? "y y1" : "y";
        xir_network *net = onnx_net(rows[i].inputs, rows[i].weights, nodes, outputs);
        if (!comes_back(net)) print_error("%zu: %s: %s\n", i, rows[i].inputs, nodes), wrong++;
        xir_network_free(net);
    }
    assert_int_equal(wrong, 0);
}

/* TSM has `equal` alone, for reals; NNB has all comparisons and logic. */
static void comparisons_go_on_to_nnb(void **state) {
    (void)state;
    static const char *const nodes[] = {
        "Greater g,h c", "GreaterOrEqual g,h c", "Less g,h c", "LessOrEqual g,h c", "Equal g,h c", "Equal g,h d;Not d c",
        "Greater g,h d;Less b,e f;And d,f c", "Greater g,h d;Less b,e f;Or d,f c", "Greater g,h d;Less b,e f;Xor d,f c",
    };
    for (size_t i = 0; i < COUNT(nodes); i++) {
        char text[200];
        snprintf(text, sizeof text, "Ceil a g;Ceil b h;%s;Where c,a,b y", nodes[i]);   /* some are equal */
        xir_network *net = onnx_net("a=(2,3,4)f32 b=(2,3,4)f32 e=(2,3,4)f32", "", text, "y");
        xir_array *x[TSM_MOST_ENDS] = { NULL }, *y[TSM_MOST_ENDS] = { NULL };
        assert_int_equal(tsm_run(net, x), 1);
        if (!passes(net, "xir-to-tsm", "strict") || !passes(net, "tsm-to-xir", "strict") ||
            !passes(net, "xir-to-nnb", "strict") || !passes(net, "nnb-to-xir", "strict")) fail_msg("%s", text);
        assert_int_equal(tsm_run(net, y), 1);
        if (!agree(x[0], y[0])) fail_msg("%s: other numbers", text);
        xir_array_free(x[0]);
        xir_array_free(y[0]);
        xir_network_free(net);
    }
}

/* More than 64 products of matrices are sums of products of elements, if these are at most 2^24. The reason is that of
 * the product, also in an attention. */
static void large_products_stay(void **state) {
    (void)state;
    static const struct { const char *inputs, *nodes; } cases[] = {
        { "a=(65,128,64)f32 b=(65,64,128)f32", "MatMul a,b y" },
        { "a=(65,1,128,64)f32 b=(65,1,128,64)f32",
          "Transpose b t perm=[0,1,3,2];MatMul a,t s;Softmax s p;MatMul p,b y" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = onnx_net(cases[i].inputs, "", cases[i].nodes, "y");
        assert_true(passes(net, "fuse", ""));
        assert_true(passes(net, "xir-to-tsm", ""));
        const xir_diag *d = xir_diags_at(why, 0);
        assert_non_null(d);
        char text[400];
        snprintf(text, sizeof text, "%.*s", (int)(d->message.size < 390 ? d->message.size : 390), d->message.data);
        if (!strstr(text, "the tensor of all products has 65*128*64*128 elements: a conversion takes at most 16777216"))
            fail_msg("%zu: %s", i, text);
        xir_network_free(net);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void a_name_that_is_made_is_not_one_of_a_later_node(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; p = ReLU x; q = Abs p; s = Sigmoid q; r = Tanh s; out r");
    xir_value *p = story_value(net, "p"), *q = story_value(net, "q"), *s = story_value(net, "s");
    DOES(xir_value_set_name(p, XIR_STR("a")));
    DOES(xir_value_set_name(q, XIR_STR("a")));
    DOES(xir_value_set_name(s, XIR_STR("a_1")));
    DOES(xir_pass_run(net, "xir-to-tsm", "", NULL, why));
    const char *const expected[] = { "a", "a_2", "a_1", "r" };
    size_t n = 0;
    XIR_EACH_OP(op, net)
        if (xir_class_is_opaque(xir_op_class(op))) CHECK_STR(xir_value_name(xir_op_output(op, 0)), expected[n++]);
    assert_int_equal(n, 4);
    xir_diags_clear(why);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_made_is_not_one_of_a_later_node),
        cmocka_unit_test(operations_come_back), cmocka_unit_test(comparisons_go_on_to_nnb),
        cmocka_unit_test(large_products_stay),
    };
    return RUN_GROUP(tests);
}
