/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups that PyTorch's exporter takes apart, in small networks of the same structure as the real ones: after the
 * default pipeline each group is one op again, and almost no Transposes are left between the ops. */
#include <stdio.h>
#include <xir/pass.h>
#include <xir/prove.h>
#include <xir/serialize.h>
#include "passes/layout/unpacked.h"
#include "support/onnx_make.h"
#include "support/skips.h"

enum { MOST_NUMBERS = 20000 };

/* A model in the making; each function adds nodes and returns the number of the value that they make, "v7". */
typedef struct maker { om m; int last; } maker;

typedef struct name { char text[200]; } name;
static name name_of(int v) {
    name n;
    snprintf(n.text, sizeof n.text, "v%d", v);
    return n;
}

static int node(maker *a, const char *type, const char *inputs) {
    om_node(&a->m, type, "", inputs, name_of(++a->last).text);
    return a->last;
}

static int unary(maker *a, const char *type, int x) { return node(a, type, name_of(x).text); }

static int binary(maker *a, const char *type, int x, int y) {
    char inputs[40];
    snprintf(inputs, sizeof inputs, "v%d,v%d", x, y);
    return node(a, type, inputs);
}

/* Weights of numbers from 0.5 to 1.5, or around 0, or the same everywhere. */
static int weights(maker *a, const int64_t *dims, size_t rank, float from, float to) {
    static float numbers[MOST_NUMBERS];
    size_t n = 1;
    for (size_t i = 0; i < rank; i++) n *= (size_t)dims[i];
    assert_true(n <= MOST_NUMBERS);
    const size_t seed = (size_t)a->last * 31;
    for (size_t i = 0; i < n; i++) numbers[i] = from + (to - from) * (float)((i * 7919 + seed) % 101) / 100;
    om_floats(&a->m, name_of(++a->last).text, (om_dims){ dims, rank }, numbers, n);
    return a->last;
}
#define WEIGHTS(a, from, to, ...) \
    weights((a), (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })), (from), (to))

static int integers(maker *a, const int64_t *list, size_t n) {
    om_int64s(&a->m, name_of(++a->last).text, OM_DIMS((int64_t)n), list, n);
    return a->last;
}

static int reshape(maker *a, int x, const int64_t *dims, size_t n) {
    return binary(a, "Reshape", x, integers(a, dims, n));
}
#define RESHAPE(a, x, ...) \
    reshape((a), (x), (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })))

static int transpose(maker *a, int x, om_dims dims) {
    int y = unary(a, "Transpose", x);
    om_ints(&a->m, "perm", dims);
    return y;
}

static int slice(maker *a, int x, int64_t axis, int64_t from, int64_t to) {
    char inputs[80];
    int begin = integers(a, &from, 1), end = integers(a, &to, 1), axes = integers(a, &axis, 1);
    snprintf(inputs, sizeof inputs, "v%d,v%d,v%d,v%d", x, begin, end, axes);
    return node(a, "Slice", inputs);
}

static int concat(maker *a, int x, int y, int64_t axis) {
    int z = binary(a, "Concat", x, y);
    om_int(&a->m, "axis", axis);
    return z;
}

static int conv(maker *a, int x, int64_t in, int64_t out, int64_t k, int64_t stride, int64_t group) {
    char inputs[80];
    int w = WEIGHTS(a, -0.3f, 0.3f, out, in / group, k, k), b = WEIGHTS(a, -0.1f, 0.1f, out);
    snprintf(inputs, sizeof inputs, "v%d,v%d,v%d", x, w, b);
    int y = node(a, "Conv", inputs);
    om_ints(&a->m, "kernel_shape", OM_DIMS(k, k));
    om_ints(&a->m, "strides", OM_DIMS(stride, stride));
    om_ints(&a->m, "pads", OM_DIMS(k / 2, k / 2, k / 2, k / 2));
    om_int(&a->m, "group", group);
    return y;
}

static xir_network *network_of(maker *a, int result) {
    size_t size;
    om_output(&a->m, name_of(result).text, ONNX_FLOAT, OM_NO_RANK);
    const void *bytes = om_done(&a->m, &size);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    om_free(&a->m);
    return net;
}

static maker begin(int64_t opset, om_dims dims) {
    maker a = { om_begin("net"), 0 };
    om_opset(&a.m, "", opset);
    om_input(&a.m, "v0", ONNX_FLOAT, dims);
    return a;
}

/* ---- after the default pipeline --------------------------------------------------------------------------------- */

static size_t count_ops(const xir_network *net, const char *cls) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op));
        const size_t size = strlen(cls);
        n += key.size > size && key.data[key.size - size - 1] == ':' &&
             memcmp(key.data + key.size - size, cls, size) == 0;
    }
    return n;
}

/* Transposes that neither read an input of the network nor make a result. */
static size_t inner_transposes(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (!xir_op_is(op, xir_transpose_class())) continue;
        const xir_op *from = xir_value_op(xir_op_input(op, 0));
        bool border = from && xir_op_is(from, xir_input_class());
        for (const xir_use *u = xir_value_uses(xir_op_output(op, 0)); u; u = xir_use_next(u))
            border |= xir_op_is(xir_use_op(u), xir_output_class());
        n += !border;
    }
    return n;
}

/* Runs the default pipeline, proves that the network computes the same before and after it, and that a second run
 * changes nothing. */
static void optimise(xir_network *net) {
    xir_proof_options options = XIR_INIT(xir_proof_options);
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    xir_proof *proof = xir_proof_new(ctx, &options, why);
    assert_non_null(proof);
    DOES(xir_proof_watch(proof, &watch, why));
    xir_pass_settings settings = XIR_INIT(xir_pass_settings);
    settings.watches = &watch;
    settings.n_watches = 1;
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    assert_non_null(p);
    if (xir_pipeline_run(p, net, &settings, NULL, why)) xir_diags_print(why, stderr), fail();
    xir_proof_state state = XIR_INIT(xir_proof_state);
    DOES(xir_proof_state_of(proof, &state, why));
    assert_true(state.networks > 1);
    xir_proof_free(proof);
    xir_pass_report *again = xir_pass_report_new(ctx);
    assert_non_null(again);
    if (xir_pipeline_run(p, net, NULL, again, why)) xir_diags_print(why, stderr), fail();
    for (size_t i = 0; xir_pass_report_at(again, i); i++) assert_int_equal(xir_pass_report_at(again, i)->changes, 0);
    xir_pass_report_free(again);
    xir_pipeline_free(p);
}

/* ---- U-Net with GroupNorm --------------------------------------------------------------------------------------- */

/* As opsets before 18 have it: an instance is a group, and the factors follow. */
static int group_norm(maker *a, int x, int64_t channels, int64_t groups, int64_t size) {
    char inputs[80];
    int y = RESHAPE(a, x, 0, groups, -1);
    int one = WEIGHTS(a, 1, 1, groups), zero = WEIGHTS(a, 0, 0, groups);
    snprintf(inputs, sizeof inputs, "v%d,v%d,v%d", y, one, zero);
    y = node(a, "InstanceNormalization", inputs);
    om_float(&a->m, "epsilon", 1e-5f);
    y = RESHAPE(a, y, 1, channels, size, size);
    y = binary(a, "Mul", y, WEIGHTS(a, 0.5f, 1.5f, channels, 1, 1));
    return binary(a, "Add", y, WEIGHTS(a, -0.5f, 0.5f, channels, 1, 1));
}

static int silu(maker *a, int x) { return binary(a, "Mul", x, unary(a, "Sigmoid", x)); }

static int residual(maker *a, int x, int64_t in, int64_t out, int64_t size) {
    int y = conv(a, silu(a, group_norm(a, x, in, 2, size)), in, out, 3, 1, 1);
    y = conv(a, silu(a, group_norm(a, y, out, 2, size)), out, out, 3, 1, 1);
    return binary(a, "Add", y, in == out ? x : conv(a, x, in, out, 1, 1, 1));
}

static int upsample(maker *a, int x) {
    char inputs[80];
    const float scales[] = { 1, 1, 2, 2 };
    om_floats(&a->m, name_of(++a->last).text, OM_DIMS(4), scales, 4);
    snprintf(inputs, sizeof inputs, "v%d,,v%d", x, a->last);
    int y = node(a, "Resize", inputs);
    om_text(&a->m, "mode", "nearest");
    om_text(&a->m, "coordinate_transformation_mode", "asymmetric");
    om_text(&a->m, "nearest_mode", "floor");
    return y;
}

static void a_u_net_with_group_norms(void **state) {
    (void)state;
    maker a = begin(14, OM_DIMS(1, 3, 8, 8));
    int d1 = residual(&a, conv(&a, 0, 3, 8, 3, 1, 1), 8, 8, 8);
    int d2 = residual(&a, conv(&a, d1, 8, 16, 3, 2, 1), 16, 16, 4);
    int mid = residual(&a, d2, 16, 16, 4);
    int u2 = residual(&a, concat(&a, mid, d2, 1), 32, 16, 4);
    int u1 = residual(&a, concat(&a, conv(&a, upsample(&a, u2), 16, 8, 3, 1, 1), d1, 1), 16, 8, 8);
    int y = conv(&a, silu(&a, group_norm(&a, u1, 8, 2, 8)), 8, 3, 3, 1, 1);
    xir_network *net = network_of(&a, y);
    optimise(net);
    assert_int_equal(inner_transposes(net), 0);
    assert_int_equal(count_ops(net, "GroupNorm"), 11);
    assert_int_equal(count_ops(net, "InstanceNorm1d"), 0);
    assert_int_equal(count_ops(net, "Reshape"), 0);
    assert_int_equal(count_ops(net, "Multiply"), 0);
    assert_int_equal(count_ops(net, "Add"), 5);   /* the residuals */
    xir_network_free(net);
}

/* The dims are those of the input, and nobody knows how many images there are, or how large they are. */
static void group_norms_of_open_dims(void **state) {
    (void)state;
    maker a = begin(14, OM_DIMS(-1, 6, -1, -1));
    char inputs[80];
    int x = conv(&a, 0, 6, 6, 3, 1, 1), dims = unary(&a, "Shape", x), y = RESHAPE(&a, x, 0, 3, -1);
    int one = WEIGHTS(&a, 1, 1, 3), zero = WEIGHTS(&a, 0, 0, 3);
    snprintf(inputs, sizeof inputs, "v%d,v%d,v%d", y, one, zero);
    y = binary(&a, "Reshape", node(&a, "InstanceNormalization", inputs), dims);
    y = binary(&a, "Mul", WEIGHTS(&a, 0.5f, 1.5f, 6, 1, 1), y);
    y = binary(&a, "Add", y, WEIGHTS(&a, -0.5f, 0.5f, 6, 1, 1));
    xir_network *net = network_of(&a, conv(&a, y, 6, 3, 3, 1, 1));
    optimise(net);
    assert_int_equal(inner_transposes(net), 0);
    assert_int_equal(count_ops(net, "GroupNorm"), 1);
    assert_int_equal(count_ops(net, "Reshape"), 0);
    assert_int_equal(count_ops(net, "Add"), 0);
    xir_network_free(net);
}

/* ---- ShuffleNet ------------------------------------------------------------------------------------------------- */

static int channel_shuffle(maker *a, int x, int64_t channels, int64_t groups, int64_t size) {
    int y = transpose(a, RESHAPE(a, x, 1, groups, channels / groups, size, size), OM_DIMS(0, 2, 1, 3, 4));
    return RESHAPE(a, y, 1, -1, size, size);
}

static int branch(maker *a, int x, int64_t in, int64_t out, int64_t stride) {
    int y = unary(a, "Relu", conv(a, x, in, out, 1, 1, 1));
    y = conv(a, y, out, out, 3, stride, out);
    return unary(a, "Relu", conv(a, y, out, out, 1, 1, 1));
}

/* Blocks as in torchvision's shufflenet_v2: the first of a stage halves the map, the others split the channels. */
static void a_shuffle_net(void **state) {
    (void)state;
    maker a = begin(14, OM_DIMS(1, 3, 16, 16));
    int64_t channels = 8, size = 8;
    int x = unary(&a, "Relu", conv(&a, 0, 3, 8, 3, 2, 1));
    for (int stage = 0; stage < 3; stage++) {
        int left = conv(&a, x, channels, channels, 3, 2, channels);
        left = unary(&a, "Relu", conv(&a, left, channels, channels, 1, 1, 1));
        x = concat(&a, left, branch(&a, x, channels, channels, 2), 1);
        channels *= 2;
        size /= 2;
        x = channel_shuffle(&a, x, channels, 2, size);
        for (int block = 1; block < 3; block++) {
            int half = slice(&a, x, 1, 0, channels / 2), other = slice(&a, x, 1, channels / 2, channels);
            x = concat(&a, half, branch(&a, other, channels / 2, channels / 2, 1), 1);
            x = channel_shuffle(&a, x, channels, 2, size);
        }
    }
    x = unary(&a, "Relu", conv(&a, x, channels, 32, 1, 1, 1));
    x = unary(&a, "ReduceMean", x);
    om_ints(&a.m, "axes", OM_DIMS(2, 3));
    om_int(&a.m, "keepdims", 0);
    xir_network *net = network_of(&a, binary(&a, "MatMul", x, WEIGHTS(&a, -1, 1, 32, 10)));
    optimise(net);
    assert_int_equal(inner_transposes(net), 0);
    assert_int_equal(count_ops(net, "ChannelShuffle"), 8);   /* the last one is an order of the last weights */
    assert_int_equal(count_ops(net, "Reshape"), 0);
    xir_network_free(net);
}

/* ---- Swin ------------------------------------------------------------------------------------------------------- */

enum { SIDE = 8, WINDOW = 4, WIDTH = 6 };

/* torch.roll of rows and columns, one after the other. */
static int rolled(maker *a, int x, int64_t by) {
    for (int64_t axis = 1; axis <= 2; axis++)
        x = concat(a, slice(a, x, axis, -by, INT64_MAX), slice(a, x, axis, 0, -by), axis);
    return x;
}

static int linear(maker *a, int x, int64_t in, int64_t out) {
    return binary(a, "Add", WEIGHTS(a, -0.1f, 0.1f, out), binary(a, "MatMul", x, WEIGHTS(a, -0.5f, 0.5f, in, out)));
}

static int layer_norm(maker *a, int x) {
    char inputs[80];
    int g = WEIGHTS(a, 0.5f, 1.5f, WIDTH), b = WEIGHTS(a, -0.5f, 0.5f, WIDTH);
    snprintf(inputs, sizeof inputs, "v%d,v%d,v%d", x, g, b);
    return node(a, "LayerNormalization", inputs);
}

/* A block on a map with channels last: what mixes the rows of a window is a mean of them in place of attention. */
static int window_block(maker *a, int x, int64_t shift) {
    const int64_t n = SIDE / WINDOW;
    int y = layer_norm(a, x);
    if (shift) y = rolled(a, y, -shift);
    y = transpose(a, RESHAPE(a, y, 1, n, WINDOW, n, WINDOW, WIDTH), OM_DIMS(0, 1, 3, 2, 4, 5));
    y = linear(a, RESHAPE(a, y, n * n, WINDOW * WINDOW, WIDTH), WIDTH, WIDTH);
    int mean = unary(a, "ReduceMean", y);
    om_ints(&a->m, "axes", OM_DIMS(1));
    y = linear(a, binary(a, "Add", y, mean), WIDTH, WIDTH);
    y = transpose(a, RESHAPE(a, y, 1, n, n, WINDOW, WINDOW, WIDTH), OM_DIMS(0, 1, 3, 2, 4, 5));
    y = RESHAPE(a, y, 1, SIDE, SIDE, WIDTH);
    if (shift) y = rolled(a, y, shift);
    x = binary(a, "Add", x, y);
    return binary(a, "Add", x, linear(a, linear(a, layer_norm(a, x), WIDTH, 2 * WIDTH), 2 * WIDTH, WIDTH));
}

/* Only the windows that are not shifted are cut and joined by Transposes. */
static void shifted_windows(void **state) {
    (void)state;
    maker a = begin(17, OM_DIMS(1, 3, 2 * SIDE, 2 * SIDE));
    int x = transpose(&a, conv(&a, 0, 3, WIDTH, 3, 2, 1), OM_DIMS(0, 2, 3, 1));
    for (int i = 0; i < 4; i++) x = window_block(&a, x, i % 2 * (WINDOW / 2));
    xir_network *net = network_of(&a, x);
    optimise(net);
    assert_int_equal(inner_transposes(net), 4);
    assert_int_equal(count_ops(net, "Gather"), 4);
    assert_int_equal(count_ops(net, "Roll"), 0);
    assert_int_equal(count_ops(net, "Slice"), 0);
    assert_int_equal(count_ops(net, "Concat"), 0);
    assert_int_equal(count_ops(net, "LayerNorm"), 8);
    xir_network_free(net);
}

/* ---- the corpus ------------------------------------------------------------------------------------------------- */

/* Transposes of maps that are cut into windows have six dims, those of heads fewer. */
static size_t window_transposes(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_op_is(op, xir_transpose_class()) && xir_type_rank(xir_value_type(xir_op_input(op, 0))) == 6;
    return n;
}

static void the_corpus(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    xir_network *swin = unpacked(corpus, "swin_t"), *u_net = unpacked(corpus, "unet_small");
    assert_non_null(p);
    if (swin) {
        DOES(xir_pipeline_run(p, swin, NULL, NULL, why));
        assert_int_equal(window_transposes(swin), 10);
        assert_int_equal(count_ops(swin, "Roll"), 0);
    }
    if (u_net) {
        DOES(xir_pipeline_run(p, u_net, NULL, NULL, why));
        assert_int_equal(inner_transposes(u_net), 0);
    }
    xir_network_free(swin);
    xir_network_free(u_net);
    xir_pipeline_free(p);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_u_net_with_group_norms),
        cmocka_unit_test(group_norms_of_open_dims),
        cmocka_unit_test(a_shuffle_net),
        cmocka_unit_test(shifted_windows),
        cmocka_unit_test(the_corpus),
    };
    return RUN_GROUP(tests);
}
