/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes that remove half of a network. It consists of Conv2d and ReLU in turn, in two chains that begin at the input
 * and are made step by step, an op of the one and an op of the other:
 *
 *     dce   nothing uses the end of the second chain
 *     cse   the second chain is equal to the first, and the results are added; in "far" it is made after the first is
 *           complete, so that equal ops are half of the network apart in memory; in "nothing" no two convolutions have
 *           the same padding */
#include "bench.h"

#include <xir/pass.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef enum shape { DEAD, EQUAL, EQUAL_FAR, UNEQUAL } shape;

typedef struct passing {
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    size_t       ops;
} passing;

static const char weights[16 * 16 * 3 * 3 * 4];

static xir_value *step(xir_at at, xir_value *x, xir_value *w, size_t i, int64_t shift)
{
    xir_op *op;
    if (i % 2 == 0) {
        xir_conv2d_attrs a = xir_conv2d_init();
        a.pad_top = a.pad_bottom = 1;
        a.pad_left = 1 + shift;
        a.pad_right = 1 - shift;
        op = xir_add_conv2d(at, (xir_conv2d_in){ .input = x, .weights = w }, &a);
    } else {
        op = xir_add_relu(at, (xir_relu_in){ .input = x }, NULL);
    }
    return op ? xir_op_output(op, 0) : NULL;
}

static void *make(const bench_input *in, shape how)
{
    passing *p = calloc(1, sizeof *p);
    if (!p || !(p->ctx = xir_context_new(NULL)) || !(p->why = xir_diags_new(p->ctx)))
        return NULL;
    const xir_type *f32 = xir_type_float(p->ctx, XIR_FLOAT_FP32);
    p->ops = in->ops / 2;
    p->net = xir_network_new(p->ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    xir_at at = xir_at_end(p->net);
    xir_value *a = xir_input(at, "", XIR_TENSOR(p->ctx, f32, "NHWC", 1, 56, 56, 16)), *b = a;
    xir_value *w = xir_params_borrow(p->net, XIR_STR(""), XIR_TENSOR(p->ctx, f32, "HWIO", 3, 3, 16, 16), weights,
                                     sizeof weights, NULL, NULL);
    for (size_t i = 0; i < p->ops; i++) {
        a = step(at, a, w, i, how == UNEQUAL ? (int64_t)i : 0);
        if (how != EQUAL_FAR)
            b = step(at, b, w, i, how == UNEQUAL ? -1 - (int64_t)i : 0);
    }
    for (size_t i = 0; how == EQUAL_FAR && i < p->ops; i++)
        b = step(at, b, w, i, 0);
    if (how != DEAD)
        a = xir_build_add(at, a, b, 1, 1, NULL);
    xir_output(at, XIR_VALUES(a));
    if (xir_network_status(p->net) == XIR_OK)
        return p;
    xir_diags_print(xir_network_diags(p->net), stderr);
    return NULL;
}

#define SETUP(name, how)                          \
    static void *name(const bench_input *in)      \
    {                                             \
        return make(in, how);                     \
    }
SETUP(dead_setup, DEAD)
SETUP(equal_setup, EQUAL)
SETUP(far_setup, EQUAL_FAR)
SETUP(unequal_setup, UNEQUAL)

static bool pass_run(passing *p, const char *name, bench_result *out)
{
    size_t changes;
    if (xir_pass_run(p->net, name, NULL, &changes, p->why) != XIR_OK) {
        xir_diags_print(p->why, stderr);
        return false;
    }
    out->count = changes;
    return true;
}

static bool dce_run(void *state, bench_result *out)
{
    return pass_run(state, "dce", out);
}

static bool cse_run(void *state, bench_result *out)
{
    return pass_run(state, "cse", out);
}

static bool check(passing *p, size_t expected)
{
    return xir_network_op_count(p->net) == expected && xir_network_validate(p->net, p->why) == XIR_OK;
}

static bool dce_check(void *state)
{
    passing *p = state;
    return check(p, p->ops + 2);
}

static bool cse_check(void *state)
{
    passing *p = state;
    return check(p, p->ops + 3);
}

static bool nothing_check(void *state)
{
    passing *p = state;
    return check(p, p->ops * 2 + 3);
}

const bench_case passes_cases[] = {
    { "pass-dce", NULL, 0, dead_setup, dce_run, dce_check,
      "the pass dce: one of two chains is removed; time per op of the network before, as below" },
    { "pass-cse", NULL, 0, equal_setup, cse_run, cse_check, "the pass cse: of two equal chains, made by turns, one goes" },
    { "pass-cse-far", NULL, 0, far_setup, cse_run, cse_check, "the same, one chain made after the other" },
    { "pass-cse-nothing", NULL, 0, unequal_setup, cse_run, nothing_check, "the same where no two convolutions are equal" },
    { 0 },
};
