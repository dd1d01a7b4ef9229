/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pass that halves a network: Matmul and Add of a constant in turn, each pair of which becomes one Matmul with a
 * bias. All rules of the pass are enabled. And a walk over the same network in which no rule matches. */
#include "bench.h"

#include <xir/pass.h>
#include <xir/pattern.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct fusing {
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    size_t       ops;
} fusing;

static const char kernel[16 * 16 * 4], row[16 * 4];

static void *make(const bench_input *in, bool fits)
{
    fusing *f = calloc(1, sizeof *f);
    if (!f || !(f->ctx = xir_context_new(NULL)) || !(f->why = xir_diags_new(f->ctx)))
        return NULL;
    const xir_type *f32 = xir_type_float(f->ctx, XIR_FLOAT_FP32);
    f->ops = in->ops;
    f->net = xir_network_new(f->ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    xir_at at = xir_at_end(f->net);
    xir_value *k = xir_params_copy(f->net, XIR_STR("k"), XIR_TENSOR(f->ctx, f32, "**", 16, 16), kernel, sizeof kernel);
    xir_value *b = xir_params_copy(f->net, XIR_STR("b"), XIR_TENSOR(f->ctx, f32, "*", 16), row, sizeof row);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(f->ctx, f32, "**", 4, 16)), *first = x;
    for (size_t i = 0; i < f->ops; i++) {
        xir_op *op;
        if (i % 2 == 0)
            op = xir_add_matmul(at, (xir_matmul_in){ .x = x, .k = k }, NULL);
        else
            op = xir_add_add(at, (xir_add_in){ .lhs = x, .rhs = fits ? b : first }, NULL);
        x = xir_op_output(op, 0);
    }
    xir_output(at, XIR_VALUES(x));
    if (xir_network_status(f->net) == XIR_OK)
        return f;
    xir_diags_print(xir_network_diags(f->net), stderr);
    return NULL;
}

static void *fitting_setup(const bench_input *in)
{
    return make(in, true);
}

static void *other_setup(const bench_input *in)
{
    return make(in, false);
}

static bool fuse_run(void *state, bench_result *out)
{
    fusing *f = state;
    size_t changes;
    if (xir_pass_run(f->net, "fuse", NULL, &changes, f->why) != XIR_OK) {
        xir_diags_print(f->why, stderr);
        return false;
    }
    out->count = changes;
    return true;
}

static bool fuse_check(void *state)
{
    fusing *f = state;
    return xir_network_op_count(f->net) - 2 == (f->ops + 1) / 2 && xir_network_validate(f->net, f->why) == XIR_OK;
}

static bool other_check(void *state)
{
    fusing *f = state;
    return xir_network_op_count(f->net) - 2 == f->ops;
}

const bench_case fuse_cases[] = {
    { "pass-fuse", NULL, 0, fitting_setup, fuse_run, fuse_check,
      "the pass fuse: each Matmul and its Add become one; time per op of the network before" },
    { "pass-fuse-nothing", NULL, 0, other_setup, fuse_run, other_check,
      "the same where no rule matches: the Adds are of computed values" },
    { 0 },
};
