/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The verbs of the graph, on the chain that text.c prints: an Input, Conv2d and ReLU in turn, an Output. Everything
 * that the library does on its own is enabled: inference of every type, checks of bounds and references, use lists,
 * ids. */
#include "bench.h"

#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

/* The attributes of the convolutions: the same for all, so that they may be shared, or different for any two. Types
 * are the same in both cases: more padding on one side, less on the other. */
typedef enum attrs { EQUAL, UNIQUE } attrs;

static const char weights[16 * 16 * 3 * 3 * 4];

static xir_network *make(xir_context *ctx, size_t ops, attrs how, const void *data)
{
    const xir_type *f32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    const xir_type *image = XIR_TENSOR(ctx, f32, "NHWC", 1, 56, 56, 16);
    const xir_type *kernel = XIR_TENSOR(ctx, f32, "HWIO", 3, 3, 16, 16);
    xir_network *net = xir_network_new(ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    if (!net)
        return NULL;

    xir_at at = xir_at_end(net);
    xir_value *last = xir_input(at, "", image);
    xir_value *w = xir_params_new(net, XIR_STR(""), kernel);
    if (data && w)
        xir_params_set_borrow(w, data, sizeof weights, NULL, NULL);
    for (size_t i = 0; i < ops; i++) {
        xir_op *op;
        if (i % 2 == 0) {
            int64_t shift = how == UNIQUE ? (int64_t)i : 0;
            xir_conv2d_attrs a = xir_conv2d_init();
            a.stride_width = a.stride_height = 1;
            a.dilation_width = a.dilation_height = 1;
            a.pad_top = a.pad_bottom = 1;
            a.pad_left = 1 + shift;
            a.pad_right = 1 - shift;
            a.groups = 1;
            a.padding_mode = XIR_PADDING_ZEROS;
            op = xir_add_conv2d(at, (xir_conv2d_in){ .input = last, .weights = w }, &a);
        } else {
            xir_relu_attrs a = xir_relu_init();
            a.alpha = 0;
            op = xir_add_relu(at, (xir_relu_in){ .input = last }, &a);
        }
        last = op ? xir_op_output(op, 0) : NULL;
    }
    xir_output(at, XIR_VALUES(last));
    if (xir_network_status(net) == XIR_OK)
        return net;
    xir_diags_print(xir_network_diags(net), stderr);
    xir_network_free(net);
    return NULL;
}

xir_network *graph_make(xir_context *ctx, size_t ops)
{
    return make(ctx, ops, EQUAL, NULL);
}

typedef struct graph {
    xir_context *ctx;
    size_t       ops;
    xir_network *net, *copy;
    xir_diags   *why;
} graph;

/* A context that has made a small network before, as a peer's context has. */
static void *empty_setup(const bench_input *in)
{
    graph *g = calloc(1, sizeof *g);
    if (!g || !(g->ctx = xir_context_new(NULL)) || !(g->why = xir_diags_new(g->ctx)))
        return NULL;
    g->ops = in->ops;
    xir_network *small = make(g->ctx, 2, EQUAL, weights);
    if (!small)
        return NULL;
    xir_network_free(small);
    return g;
}

static void *built_setup(const bench_input *in)
{
    graph *g = empty_setup(in);
    if (!g || !(g->net = make(g->ctx, g->ops, EQUAL, weights)))
        return NULL;
    return g;
}

static void *unique_setup(const bench_input *in)
{
    graph *g = empty_setup(in);
    if (!g || !(g->net = make(g->ctx, g->ops, UNIQUE, weights)))
        return NULL;
    return g;
}

static bool build(graph *g, attrs how, bench_result *out)
{
    g->net = make(g->ctx, g->ops, how, weights);
    if (!g->net)
        return false;
    out->count = xir_network_op_count(g->net) - 2; /* without Input and Output */
    return out->count == g->ops;
}

static bool build_run(void *state, bench_result *out)
{
    return build(state, EQUAL, out);
}

#ifdef XIR_BENCH_CPP
/* graph.cpp */
xir_network *graph_make_cpp(xir_context *ctx, size_t ops, const void *data, size_t size);

static bool build_cpp_run(void *state, bench_result *out)
{
    graph *g = state;
    g->net = graph_make_cpp(g->ctx, g->ops, weights, sizeof weights);
    if (!g->net)
        return false;
    out->count = xir_network_op_count(g->net) - 2;
    return out->count == g->ops;
}
#endif

static bool build_unique_run(void *state, bench_result *out)
{
    return build(state, UNIQUE, out);
}

static bool validate_run(void *state, bench_result *out)
{
    graph *g = state;
    xir_status status = xir_network_validate(g->net, g->why);
    out->count = xir_diags_count(g->why);
    if (status != XIR_OK)
        xir_diags_print(g->why, stderr);
    return status == XIR_OK;
}

static bool validate_check(void *state)
{
    graph *g = state;
    xir_op *first = xir_op_next(xir_network_first(g->net));
    xir_op_set_input(first, 1, NULL); /* a fault must be detected */
    return xir_network_validate(g->net, g->why) != XIR_OK;
}

static bool clone_run(void *state, bench_result *out)
{
    graph *g = state;
    g->copy = xir_network_clone(g->net);
    if (!g->copy)
        return false;
    out->count = xir_network_op_count(g->copy) - 2;
    return true;
}

static bool clone_check(void *state)
{
    graph *g = state;
    return xir_network_equal(g->net, g->copy, true);
}

/* Every ReLU is erased; its users read its input. */
static bool erase_run(void *state, bench_result *out)
{
    graph *g = state;
    for (xir_op *op = xir_network_first(g->net), *next; op; op = next) {
        next = xir_op_next(op);
        if (!xir_op_is(op, xir_relu_class()))
            continue;
        if (xir_value_replace(xir_op_output(op, 0), xir_op_input(op, 0)) != XIR_OK ||
            xir_op_erase(op) != XIR_OK)
            return false;
        out->count++;
    }
    return true;
}

static bool erase_check(void *state)
{
    graph *g = state;
    return xir_network_op_count(g->net) - 2 == (g->ops + 1) / 2 &&
           xir_network_validate(g->net, g->why) == XIR_OK;
}

static bool free_run(void *state, bench_result *out)
{
    graph *g = state;
    xir_network_free(g->net);
    out->count = g->ops;
    return true;
}

/* From each operation over its inputs to their producers. */
static bool walk_run(void *state, bench_result *out)
{
    graph *g = state;
    for (const xir_op *op = xir_network_first(g->net); op; op = xir_op_next(op))
        for (size_t i = 0, n = xir_op_input_count(op); i < n; i++) {
            const xir_op *from = xir_value_op(xir_op_input(op, (int64_t)i));
            out->count += from ? xir_op_output_count(from) : 1;
        }
    return true;
}

/* From each value over its uses to the users: the same edges, in the other direction. */
static bool walk_uses_run(void *state, bench_result *out)
{
    graph *g = state;
    for (const xir_op *op = xir_network_first(g->net); op; op = xir_op_next(op))
        for (size_t i = 0, n = xir_op_output_count(op); i < n; i++) {
            const xir_use *u = xir_value_uses(xir_op_output(op, (int64_t)i));
            for (; u; u = xir_use_next(u))
                out->count += xir_use_op(u) != op;
        }
    return true;
}

static bool cost_run(void *state, bench_result *out)
{
    graph *g = state;
    xir_cost known = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    if (xir_network_cost(g->net, &known, &open, g->why) || open.multiply_adds || !known.multiply_adds)
        return false;
    out->count = xir_network_op_count(g->net) - 2;
    return true;
}

/* Each is made once and freed: what a program that asks one question pays. */
static bool liveness(graph *g, bool shared, bench_result *out)
{
    const xir_liveness_options how =
        XIR_INIT(xir_liveness_options, .views = shared, .in_place = shared);
    xir_liveness *l = xir_liveness_new(g->net, &how, g->why);
    out->count = l ? xir_liveness_op_count(l) - 2 : 0;
    xir_liveness_free(l);
    return out->count == g->ops;
}

static bool liveness_run(void *state, bench_result *out)
{
    return liveness(state, false, out);
}

static bool liveness_shared_run(void *state, bench_result *out)
{
    return liveness(state, true, out);
}

static bool levels_run(void *state, bench_result *out)
{
    graph *g = state;
    xir_levels *l = xir_levels_new(g->net, g->why);
    out->count = l ? xir_levels_count(l) - 2 : 0;
    xir_levels_free(l);
    return out->count == g->ops;
}

static bool dominance_run(void *state, bench_result *out)
{
    graph *g = state;
    xir_dominance *d = xir_dominance_new(g->net, g->why);
    if (d && xir_dominates(d, xir_network_first(g->net), xir_network_last(g->net)))
        out->count = g->ops;
    xir_dominance_free(d);
    return out->count == g->ops;
}

static xir_walk_answer count_op(void *user, xir_op *op)
{
    (void)op;
    ++*(uint64_t *)user;
    return XIR_WALK_ON;
}

static xir_walk_answer count_value(void *user, xir_value *value)
{
    (void)value;
    ++*(uint64_t *)user;
    return XIR_WALK_ON;
}

static bool walk_all_run(void *state, bench_result *out)
{
    graph *g = state;
    uint64_t n = 0;
    const xir_walker how = XIR_INIT(xir_walker, .user = &n, .op = count_op, .value = count_value,
                                    .params = count_value);
    if (xir_network_walk(g->net, &how, g->why) != XIR_OK)
        return false;
    out->count = xir_network_op_count(g->net) - 2;
    return n == 2 * g->ops + 4; /* ops and their outputs, and the weights */
}

/* Asks whether Buyi runs each of the ops. */
static bool legal_run(void *state, bench_result *out)
{
    graph *g = state;
    xir_tried tried = XIR_INIT(xir_tried);
    const xir_target *buyi = xir_target_of_kind(g->ctx, XIR_TARGET_BUYI, NULL);
    if (xir_network_try(g->net, buyi, NULL, &tried, g->why) != XIR_OK)
        return false;
    out->count = tried.legal;
    return tried.legal == g->ops;
}

const bench_case graph_cases[] = {
    { "build", NULL, 0, empty_setup, build_run, NULL,
      "conv2d-relu chain: attributes by name, types inferred, bounds and inputs checked" },
#ifdef XIR_BENCH_CPP
    { "build-cpp", NULL, 0, empty_setup, build_cpp_run, NULL, "the same as build, through xir.hpp" },
#endif
    { "build-unique", NULL, 0, empty_setup, build_unique_run, NULL,
      "the same as build, but no two convolutions have the same padding" },
    { "validate", NULL, 0, built_setup, validate_run, validate_check, "xir_network_validate" },
    { "legal", NULL, 0, built_setup, legal_run, NULL, "xir_network_try: whether Buyi runs the ops" },
    { "legal-unique", NULL, 0, unique_setup, legal_run, NULL,
      "the same, but no two convolutions have the same padding" },
    { "clone", NULL, 0, built_setup, clone_run, clone_check, "xir_network_clone" },
    { "erase", NULL, 0, built_setup, erase_run, erase_check,
      "xir_value_replace and xir_op_erase of every ReLU; time per op of the whole network" },
    { "free", NULL, 0, built_setup, free_run, NULL, "xir_network_free; the context stays" },
    { "walk", NULL, 0, built_setup, walk_run, NULL, "all inputs of all ops, to their producers" },
    { "walk-uses", NULL, 0, built_setup, walk_uses_run, NULL,
      "all uses of all outputs, to their ops" },
    { "walk-all", NULL, 0, built_setup, walk_all_run, NULL,
      "xir_network_walk: all ops, values and Params, a call for each" },
    { "cost", NULL, 0, built_setup, cost_run, NULL, "xir_network_cost" },
    { "liveness", NULL, 0, built_setup, liveness_run, NULL, "xir_liveness_new" },
    { "liveness-shared", NULL, 0, built_setup, liveness_shared_run, NULL,
      "the same with views and in-place pairs" },
    { "levels", NULL, 0, built_setup, levels_run, NULL, "xir_levels_new" },
    { "dominance", NULL, 0, built_setup, dominance_run, NULL, "xir_dominance_new" },
    { 0 },
};
