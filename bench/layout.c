/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass layout on networks from formats with channels first: blocks of
 *
 *     Transpose Conv2d Transpose ReLU Add(block's input) Multiply([C,1,1])
 *
 * one after the other. Of six ops two are removed. "again" runs it on its own result; in "region" there is one
 * convolution at each end, and the ReLU, Add and Multiply between them all change their order of axes for it. */
#include "bench.h"

#include <xir/pass.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef enum shape { BLOCKS, REGION } shape;

typedef struct relayout {
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    size_t       left;      /* ops that must be left */
} relayout;

static const char weights[16 * 16 * 3 * 3 * 4];

typedef struct parts { xir_at at; xir_value *kernel, *factors; } parts;

static xir_value *turn(const parts *p, xir_value *x, bool last)
{
    static const int64_t channels_last[] = { 0, 2, 3, 1 }, channels_first[] = { 0, 3, 1, 2 };
    xir_context *ctx = xir_network_context(p->at.net);
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ last ? channels_last : channels_first, 4 };
    a.layout = last ? xir_layout_parse(ctx, XIR_STR("NHWC"), NULL) : xir_layout_default(ctx, 4);
    xir_op *op = xir_add_transpose(p->at, (xir_transpose_in){ x }, &a);
    return op ? xir_op_output(op, 0) : NULL;
}

static xir_value *conv(const parts *p, xir_value *x)
{
    return turn(p, XIR_CONV2D(p->at, .input = turn(p, x, true), .weights = p->kernel, .pad = 1), false);
}

static xir_value *between(const parts *p, xir_value *x, xir_value *skip)
{
    x = xir_build_add(p->at, xir_build_relu(p->at, x, NULL), skip, 1, 1, NULL);
    xir_op *op = xir_add_multiply(p->at, (xir_multiply_in){ x, p->factors }, NULL);
    return op ? xir_op_output(op, 0) : NULL;
}

static xir_value *params(xir_network *net, const char *layout, const int64_t *dims, size_t rank)
{
    xir_context *ctx = xir_network_context(net);
    const xir_type *type = xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), layout, dims, rank);
    uint64_t size = 0;
    xir_type_bytes(type, &size);
    return xir_params_borrow(net, XIR_STR(""), type, weights, size, NULL, NULL);
}

static void *make(const bench_input *in, shape how)
{
    relayout *r = calloc(1, sizeof *r);
    if (!r || !(r->ctx = xir_context_new(NULL)) || !(r->why = xir_diags_new(r->ctx)))
        return NULL;
    r->net = xir_network_new(r->ctx, "bench", XIR_FRAMEWORK_ONNX, "1.15");
    const xir_type *image = XIR_TENSOR(r->ctx, xir_type_float(r->ctx, XIR_FLOAT_FP32), "****", 1, 16, 28, 28);
    parts p = { .at = xir_at_end(r->net) };
    xir_value *x = xir_input(p.at, "x", image);
    p.kernel = params(r->net, "HWIO", (const int64_t[]){ 3, 3, 16, 16 }, 4);
    p.factors = params(r->net, "***", (const int64_t[]){ 16, 1, 1 }, 3);
    size_t blocks = in->ops / (how == REGION ? 3 : 6);
    if (how == REGION)
        x = conv(&p, x);
    for (size_t i = 0; i < blocks; i++)
        x = between(&p, how == BLOCKS ? conv(&p, x) : x, x);
    if (how == REGION)
        x = conv(&p, x);
    xir_output(p.at, XIR_VALUES(x));
    r->left = how == BLOCKS ? 4 * blocks + 4 : 3 * blocks + 6;
    if (xir_network_status(r->net) == XIR_OK)
        return r;
    xir_diags_print(xir_network_diags(r->net), stderr);
    return NULL;
}

static bool run(void *state, bench_result *out)
{
    relayout *r = state;
    if (xir_pass_run(r->net, "layout", NULL, &out->count, r->why) == XIR_OK)
        return true;
    xir_diags_print(r->why, stderr);
    return false;
}

static void *blocks_setup(const bench_input *in) { return make(in, BLOCKS); }
static void *region_setup(const bench_input *in) { return make(in, REGION); }

static void *again_setup(const bench_input *in)
{
    relayout *r = make(in, BLOCKS);
    bench_result ignored;
    return r && run(r, &ignored) ? r : NULL;
}

static bool check(void *state)
{
    relayout *r = state;
    size_t changes;
    return xir_network_op_count(r->net) == r->left && xir_network_validate(r->net, r->why) == XIR_OK &&
           xir_pass_run(r->net, "layout", NULL, &changes, r->why) == XIR_OK && changes == 0;
}

const bench_case layout_cases[] = {
    { "pass-layout", NULL, 0, blocks_setup, run, check,
      "the pass layout on blocks with a convolution between Transposes: two ops of six are removed; "
      "time per op of the network before" },
    { "pass-layout-again", NULL, 0, again_setup, run, check, "the same on its own result: nothing changes" },
    { "pass-layout-region", NULL, 0, region_setup, run, check, "one region of ReLU, Add and Multiply between two convolutions" },
    { 0 },
};
