/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inference and checks of the operations of real networks: the layers of a ResNet-50, a YOLOv5s and a transformer
 * encoder of 12 layers, one network of all three, repeated until N ops have been visited. Of 100 ops, 19 are
 * convolutions, 19 activations, 18 slices, reshapes and transpositions, 12 element by element on two tensors, 11
 * products of matrices, 10 batch norms, 6 softmaxes and layer norms, 5 joins and splits, and one a pool or similar.
 *
 * A network repeats its layers, so the results of many ops are needed again soon, and the library's memo of
 * inference may return them: that is the first line. In "unique" no two layers have the same size, so each op has to
 * be inferred again in each round. So it is in "large", which is one network of N ops that is visited once: its
 * parts are in no cache. Each layer starts from an argument of its own, so that sizes can be chosen freely. */
#include "bench.h"

#include <xir/xir.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum kind { STEM, BOTTLENECK, HEAD, FOCUS, C3, SPP, UPSAMPLE, DETECT, LAYER } kind;

/* Sizes are rows and columns, or the length of a sequence; then channels. */
typedef struct layer {
    kind    kind;
    int     times;
    int64_t size, channels;
} layer;

static const layer plan[] = {
    /* ResNet-50 */
    { STEM, 1, 224, 3 },
    { BOTTLENECK, 3, 56, 256 }, { BOTTLENECK, 4, 28, 512 }, { BOTTLENECK, 6, 14, 1024 },
    { BOTTLENECK, 3, 7, 2048 }, { HEAD, 1, 7, 2048 },
    /* YOLOv5s */
    { FOCUS, 1, 640, 3 }, { C3, 1, 160, 64 }, { C3, 3, 80, 128 }, { C3, 3, 40, 256 }, { SPP, 1, 20, 512 }, { C3, 1, 20, 512 },
    { UPSAMPLE, 1, 20, 256 }, { C3, 1, 40, 256 }, { UPSAMPLE, 1, 40, 128 }, { C3, 1, 80, 128 }, { C3, 1, 40, 256 },
    { C3, 1, 20, 512 }, { DETECT, 1, 80, 128 }, { DETECT, 1, 40, 256 }, { DETECT, 1, 20, 512 },
    /* a transformer encoder */
    { LAYER, 12, 128, 512 },
};
enum { PLAN = sizeof plan / sizeof plan[0] };

/* ---- making it ----------------------------------------------------------------------------------- */

typedef struct maker {
    xir_at          at;
    const xir_type *f32;
} maker;

static xir_value *param(maker *m, const int64_t *dims, size_t rank, const char *layout)
{
    xir_context *ctx = xir_network_context(m->at.net);
    const xir_type *type = layout ? xir_type_tensor_text(ctx, m->f32, layout, dims, rank)
                                  : xir_type_tensor(ctx, m->f32, NULL, dims, rank);
    return xir_params_new(m->at.net, XIR_STR(""), type);
}

#define PARAM(m, layout, ...) \
    param((m), (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (layout))

static xir_value *out(const xir_op *op)
{
    return op ? xir_op_output(op, 0) : NULL;
}

static xir_value *conv(maker *m, xir_value *x, int64_t k, int64_t from, int64_t to, int64_t stride)
{
    xir_conv2d_attrs a = xir_conv2d_init();
    a.stride_width = a.stride_height = stride;
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = k / 2;
    xir_conv2d_in in = { .input = x, .weights = PARAM(m, "HWIO", k, k, from, to), .bias = PARAM(m, "O", to) };
    return out(xir_add_conv2d(m->at, in, &a));
}

static xir_value *norm(maker *m, xir_value *x, int64_t channels)
{
    xir_batch_norm2d_attrs a = xir_batch_norm2d_init();
    a.variance = PARAM(m, "C", channels);
    a.mean = PARAM(m, "C", channels);
    return out(xir_add_batch_norm2d(m->at, (xir_batch_norm2d_in){ .input = x }, &a));
}

static xir_value *relu(maker *m, xir_value *x)
{
    return out(xir_add_relu(m->at, (xir_relu_in){ .input = x }, NULL));
}

static xir_value *conv_silu(maker *m, xir_value *x, int64_t k, int64_t from, int64_t to)
{
    return out(xir_add_silu(m->at, (xir_silu_in){ .input = conv(m, x, k, from, to, 1) }, NULL));
}

static xir_value *add(maker *m, xir_value *a, xir_value *b)
{
    return out(xir_add_add(m->at, (xir_add_in){ .lhs = a, .rhs = b }, NULL));
}

static xir_value *multiply(maker *m, xir_value *a, xir_value *b)
{
    return out(xir_add_multiply(m->at, (xir_multiply_in){ .lhs = a, .rhs = b }, NULL));
}

static xir_value *pool(maker *m, xir_value *x, int64_t k, int64_t stride)
{
    xir_max_pool2d_attrs a = xir_max_pool2d_attrs_square(k, stride, k / 2, 1);
    return out(xir_add_max_pool2d(m->at, (xir_max_pool2d_in){ .input = x }, &a));
}

static xir_value *concat(maker *m, xir_values list, int64_t axis)
{
    xir_concat_attrs a = xir_concat_init();
    a.axis = axis;
    return out(xir_add_concat(m->at, (xir_concat_in){ .inputs = list }, &a));
}

static xir_value *slice(maker *m, xir_value *x, const int64_t *begin, const int64_t *end, const int64_t *stride,
                        size_t rank)
{
    xir_slice_attrs a = xir_slice_init();
    a.begin = (xir_i64s){ begin, rank };
    a.end = (xir_i64s){ end, rank };
    a.stride = (xir_i64s){ stride, rank };
    return out(xir_add_slice(m->at, (xir_slice_in){ .input = x }, &a));
}

static xir_value *reshape(maker *m, xir_value *x, const int64_t *dims, size_t rank)
{
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = (xir_i64s){ dims, rank };
    a.layout = xir_layout_default(xir_network_context(m->at.net), rank);
    return out(xir_add_reshape(m->at, (xir_reshape_in){ .input = x }, &a));
}

static xir_value *transpose(maker *m, xir_value *x, const int64_t *order, size_t rank)
{
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ order, rank };
    a.layout = xir_layout_default(xir_network_context(m->at.net), rank);
    return out(xir_add_transpose(m->at, (xir_transpose_in){ .input = x }, &a));
}

static xir_value *matmul(maker *m, xir_value *x, xir_value *k, xir_value *b)
{
    return out(xir_add_matmul(m->at, (xir_matmul_in){ .x = x, .k = k, .b = b }, NULL));
}

static xir_value *dense(maker *m, xir_value *x, int64_t from, int64_t to)
{
    return matmul(m, x, PARAM(m, NULL, from, to), PARAM(m, NULL, to));
}

static xir_value *softmax(maker *m, xir_value *x)
{
    return out(xir_add_softmax(m->at, (xir_softmax_in){ .input = x }, NULL));
}

static xir_value *layer_norm(maker *m, xir_value *x, int64_t channels)
{
    static const int64_t last = -1;
    xir_layer_norm_attrs a = xir_layer_norm_init();
    a.axis = (xir_i64s){ &last, 1 };
    a.gamma = PARAM(m, NULL, channels);
    a.beta = PARAM(m, NULL, channels);
    return out(xir_add_layer_norm(m->at, (xir_layer_norm_in){ .input = x }, &a));
}

/* conv norm relu, three times; add, relu: 10 ops */
static void make_bottleneck(maker *m, xir_value *x, int64_t c)
{
    xir_value *y = relu(m, norm(m, conv(m, x, 1, c, c / 4, 1), c / 4));
    y = relu(m, norm(m, conv(m, y, 3, c / 4, c / 4, 1), c / 4));
    relu(m, add(m, norm(m, conv(m, y, 1, c / 4, c, 1), c), x));
}

/* A cross stage partial layer: 12 ops. */
static void make_c3(maker *m, xir_value *x, int64_t c)
{
    xir_value *a = conv_silu(m, x, 1, c, c / 2), *b = conv_silu(m, x, 1, c, c / 2);
    xir_value *y = conv_silu(m, conv_silu(m, a, 1, c / 2, c / 2), 3, c / 2, c / 2);
    y = concat(m, XIR_VALUES(add(m, a, y), b), 3);
    conv(m, y, 1, c, c, 1);
}

/* Every other cell, four times: 5 ops. */
static void make_focus(maker *m, xir_value *x)
{
    static const int64_t end[] = { 1, INT64_MAX, INT64_MAX, 3 }, step[] = { 1, 2, 2, 1 };
    xir_value *parts[4];
    for (int64_t i = 0; i < 4; i++)
        parts[i] = slice(m, x, (const int64_t[]){ 0, i / 2, i % 2, 0 }, end, step, 4);
    concat(m, (xir_values){ parts, 4 }, 3);
}

/* Boxes of three anchors: 12 ops. */
static void make_detect(maker *m, xir_value *x, int64_t rows, int64_t columns, int64_t c)
{
    static const int64_t order[] = { 0, 3, 1, 2, 4 }, step[] = { 1, 1, 1, 1, 1 };
    xir_value *y = reshape(m, conv(m, x, 1, c, 255, 1), (const int64_t[]){ 1, rows, columns, 3, 85 }, 5), *parts[3];
    y = out(xir_add_sigmoid(m->at, (xir_sigmoid_in){ .input = transpose(m, y, order, 5) }, NULL));
    for (int i = 0; i < 3; i++)
        parts[i] = slice(m, y, (const int64_t[]){ 0, 0, 0, 0, (const int[]){ 0, 2, 4 }[i] },
                         (const int64_t[]){ 1, 3, rows, columns, (const int[]){ 2, 4, 85 }[i] }, step, 5);
    parts[0] = add(m, multiply(m, parts[0], PARAM(m, NULL, 1)), PARAM(m, NULL, 1, 1, rows, columns, 2));
    parts[1] = multiply(m, multiply(m, parts[1], parts[1]), PARAM(m, NULL, 3, 1, 1, 2));
    reshape(m, concat(m, (xir_values){ parts, 3 }, 4), (const int64_t[]){ 1, 3 * rows * columns, 85 }, 3);
}

/* Attention of 8 heads and two dense layers: 22 ops. */
static void make_layer(maker *m, xir_value *x, int64_t length, int64_t c)
{
    static const int64_t by_head[] = { 0, 2, 1, 3 }, key[] = { 0, 2, 3, 1 };
    const int64_t sections[] = { c, c, c }, heads[] = { 1, length, 8, c / 8 }, joined[] = { 1, length, c };
    xir_split_attrs cut = xir_split_init();
    cut.sections = (xir_i64s){ sections, 3 };
    xir_op *split = xir_add_split(m->at, (xir_split_in){ .input = dense(m, layer_norm(m, x, c), c, 3 * c) }, &cut);
    if (!split)
        return;
    xir_value *part[3];
    for (int i = 0; i < 3; i++)
        part[i] = transpose(m, reshape(m, xir_op_output(split, i), heads, 4), i == 1 ? key : by_head, 4);
    xir_value *y = softmax(m, multiply(m, matmul(m, part[0], part[1], NULL), PARAM(m, NULL, 1)));
    y = reshape(m, transpose(m, matmul(m, y, part[2], NULL), by_head, 4), joined, 3);
    x = add(m, dense(m, y, c, c), x);
    y = out(xir_add_gelu(m->at, (xir_gelu_in){ .input = dense(m, layer_norm(m, x, c), c, 4 * c) }, NULL));
    add(m, dense(m, y, 4 * c, c), x);
}

static void make_one(maker *m, const layer *l, xir_value *x)
{
    const xir_type *type = xir_value_type(x);
    int64_t rows = xir_type_dim(type, 1, false), columns = xir_type_dim(type, 2, false), c = l->channels;
    switch (l->kind) {
    case STEM:
        pool(m, relu(m, norm(m, conv(m, x, 7, c, 64, 2), 64)), 3, 2);
        break;
    case BOTTLENECK:
        make_bottleneck(m, x, c);
        break;
    case HEAD: {
        static const int64_t image[] = { 1, 2 };
        xir_mean_attrs a = xir_mean_init();
        a.dim = (xir_i64s){ image, 2 };
        softmax(m, dense(m, out(xir_add_mean(m->at, (xir_mean_in){ .input = x }, &a)), c, 1000));
        break;
    }
    case FOCUS:
        make_focus(m, x);
        break;
    case C3:
        make_c3(m, x, c);
        break;
    case SPP: {
        xir_value *a = pool(m, x, 5, 1), *b = pool(m, a, 5, 1);
        concat(m, XIR_VALUES(x, a, b, pool(m, b, 5, 1)), 3);
        break;
    }
    case UPSAMPLE: {
        xir_resize_attrs a = xir_resize_init();
        const int64_t twice[] = { 2 * rows, 2 * columns };
        a.dsize = (xir_i64s){ twice, 2 };
        a.interpolation = XIR_RESIZE_INTER_NEAREST;
        xir_value *y = out(xir_add_resize(m->at, (xir_resize_in){ .input = x }, &a));
        concat(m, XIR_VALUES(y, y), 3);
        break;
    }
    case DETECT:
        make_detect(m, x, rows, columns, c);
        break;
    case LAYER:
        make_layer(m, x, rows, c);
        break;
    }
}

/* The next layer of the plan; after the end it starts again. */
static const layer *next_layer(int *at, int *times)
{
    if (*times == plan[*at].times) {
        *times = 0;
        *at = (*at + 1) % PLAN;
    }
    ++*times;
    return &plan[*at];
}

typedef struct mix {
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    size_t       rounds;
} mix;

static void *setup(size_t ops, size_t rounds, bool unique)
{
    mix *g = calloc(1, sizeof *g);
    if (!g || !(g->ctx = xir_context_new(NULL)) || !(g->why = xir_diags_new(g->ctx)))
        return NULL;
    g->net = xir_network_new(g->ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    size_t layers = ops / 10 + 1;
    const xir_type **types = calloc(layers, sizeof *types);
    if (!g->net || !types)
        return NULL;
    g->rounds = rounds;
    maker m = { xir_at_end(g->net), xir_type_float(g->ctx, XIR_FLOAT_FP32) };
    int at = 0, times = 0;
    for (size_t i = 0; i < layers; i++) {
        const layer *l = next_layer(&at, &times);
        int64_t rows = l->size + (unique ? 2 * (int64_t)i : 0);
        types[i] = l->kind == LAYER ? XIR_TENSOR(g->ctx, m.f32, "***", 1, rows, l->channels)
                                    : XIR_TENSOR(g->ctx, m.f32, "NHWC", 1, rows, l->size, l->channels);
    }
    xir_op *input = xir_inputs(m.at, "", types, layers);
    at = times = 0;
    for (size_t i = 0; i < layers && xir_network_op_count(g->net) <= ops; i++)
        make_one(&m, next_layer(&at, &times), xir_op_output(input, (int64_t)i));
    free((void *)types);
    xir_output(m.at, XIR_VALUES(xir_op_output(xir_network_last(g->net), 0)));
    if (xir_network_status(g->net) == XIR_OK)
        return g;
    xir_diags_print(xir_network_diags(g->net), stderr);
    return NULL;
}

static bool put_text(void *user, const void *data, size_t size)
{
    return pages_write(*(const int *)user, data, size);
}

/* Runs in its own process, which frees the network when it ends. */
bool infer_text(const char *path, size_t ops, bool unique)
{
    pid_t child = fork();
    if (child == 0) {
        const mix *g = setup(ops, 1, unique);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        _exit(g && fd >= 0 && xir_json_write(g->net, 0, put_text, &fd, g->why) == XIR_OK ? 0 : 1);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* The number of ops in the plan. */
enum { ONCE = 650 };

static void *repeated_setup(const bench_input *in)
{
    return setup(ONCE, in->ops / ONCE + 1, false);
}

static void *unique_setup(const bench_input *in)
{
    return setup(ONCE, in->ops / ONCE + 1, true);
}

static void *large_setup(const bench_input *in)
{
    return setup(in->ops, 1, true);
}

/* ---- what is timed ------------------------------------------------------------------------------- */

typedef xir_status look(const mix *g);

/* Infers or checks the network, round by round. */
static bool rounds(void *state, look *f, bench_result *result)
{
    mix *g = state;
    for (size_t i = 0; i < g->rounds; i++) {
        if (f(g)) {
            xir_diags_print(g->why, stderr);
            return false;
        }
        result->count += xir_network_op_count(g->net);
    }
    return true;
}

static xir_status infer(const mix *g)
{
    return xir_network_infer(g->net, g->why);
}

static xir_status validate(const mix *g)
{
    return xir_network_validate(g->net, g->why);
}

static xir_status validate_ops(const mix *g)
{
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(g->net); op && !status; op = xir_op_next(op))
        status = xir_op_validate(op, g->why);
    return status;
}

static bool infer_run(void *state, bench_result *result)    { return rounds(state, infer, result); }
static bool validate_run(void *state, bench_result *result) { return rounds(state, validate, result); }
static bool ops_run(void *state, bench_result *result)      { return rounds(state, validate_ops, result); }

/* If the output of an op has a wrong type, inference restores the right one. */
static bool infer_check(void *state)
{
    mix *g = state;
    xir_value *v = xir_op_output(xir_op_next(xir_network_first(g->net)), 0);
    const xir_type *right = xir_value_type(v);
    xir_value_set_type(v, XIR_TENSOR(g->ctx, xir_type_float(g->ctx, XIR_FLOAT_FP32), "NHWC", 1, 1, 1, 1));
    return infer(g) == XIR_OK && xir_value_type(v) == right;
}

/* A kernel of another size is detected. */
static bool validate_check(void *state)
{
    mix *g = state;
    xir_value_set_type(xir_op_input(xir_op_next(xir_network_first(g->net)), 1),
                       XIR_TENSOR(g->ctx, xir_type_float(g->ctx, XIR_FLOAT_FP32), "HWIO", 1, 1, 5, 7));
    return validate(g) != XIR_OK && validate_ops(g) != XIR_OK;
}

const bench_case infer_cases[] = {
    { "infer", NULL, 0, repeated_setup, infer_run, infer_check,
      "xir_network_infer: every type of a network of 650 ops again, layers repeat as in real networks" },
    { "infer", "unique", 0, unique_setup, infer_run, infer_check, "the same, but no two layers have the same size" },
    { "infer", "large", 0, large_setup, infer_run, infer_check, "the same in one network of all ops, once" },
    { "check", NULL, 0, repeated_setup, validate_run, validate_check,
      "xir_network_validate of this network: rows, ports, types, rules of classes, ids, order" },
    { "check", "unique", 0, unique_setup, validate_run, validate_check, "the same, but no two layers have the same size" },
    { "check", "op", 0, unique_setup, ops_run, validate_check,
      "xir_op_validate of each op: rows, ports, types, rules of classes" },
    { "check", "large", 0, large_setup, validate_run, validate_check, "xir_network_validate of one network of all ops, once" },
    { 0 },
};
