/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks with many equal parts. A search among equals would make the time a square of the number of ops, so compare
 * the time per op of 1e4 and of 1e6 ops:
 *
 *     pass-cse-results   the pass cse merges equal ops. Each is a result of the network, and an op of its own reads it
 *     prove-values       a proof watches cse and dce on a chain of Tanh and Sigmoid, which soon has two values only
 *     prove-constants    the same proof watches a chain of sums with equal constants */
#include "bench.h"

#include <xir/pass.h>
#include <xir/prove.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct equals {
    xir_context *ctx;
    xir_network *net;
    xir_diags   *why;
    size_t       ops;
} equals;

typedef xir_value *step_fn(equals *e, xir_at at, xir_value *x, size_t i);

static const xir_type *vector(xir_context *ctx)
{
    return XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NC", 1, 4);
}

static bool begin(equals *e, const bench_input *in)
{
    *e = (equals){ .ctx = xir_context_new(NULL), .ops = in->ops };
    e->why = e->ctx ? xir_diags_new(e->ctx) : NULL;
    e->net = e->ctx ? xir_network_new(e->ctx, "equal", XIR_FRAMEWORK_PYTORCH, "2.1") : NULL;
    return e->why && e->net;
}

static bool is_sound(const equals *e)
{
    if (xir_network_status(e->net) == XIR_OK)
        return true;
    xir_diags_print(xir_network_diags(e->net), stderr);
    return false;
}

static void *results_setup(const bench_input *in)
{
    equals *e = malloc(sizeof *e);
    if (!e || !begin(e, in))
        return NULL;
    xir_at at = xir_at_end(e->net);
    size_t n = e->ops / 2;
    xir_value *x = xir_input(at, "x", vector(e->ctx)), **all = malloc((2 * n + 1) * sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        const double alpha = 0.5 + (double)i / (double)n;
        all[2 * i] = XIR_OP(at, sigmoid, .input = x);
        all[2 * i + 1] = XIR_OP(at, elu, .input = all[2 * i], .attrs = XIR_ATTRS(elu, (alpha, alpha)));
    }
    if (all)
        xir_output(at, (xir_values){ all, 2 * n });
    free(all);
    return is_sound(e) ? e : NULL;
}

static bool results_run(void *state, bench_result *out)
{
    equals *e = state;
    size_t changes;
    if (xir_pass_run(e->net, "cse", NULL, &changes, e->why) != XIR_OK)
        return false;
    out->count = changes;
    return true;
}

static void *chain(const bench_input *in, step_fn *step)
{
    equals *e = malloc(sizeof *e);
    if (!e || !begin(e, in))
        return NULL;
    xir_at at = xir_at_end(e->net);
    xir_value *x = xir_input(at, "x", vector(e->ctx));
    for (size_t i = 0; i < e->ops / 2; i++)
        x = step(e, at, x, i);
    xir_output(at, XIR_VALUES(x));
    return is_sound(e) ? e : NULL;
}

static xir_value *two_steps(equals *e, xir_at at, xir_value *x, size_t i)
{
    (void)e, (void)i;
    return XIR_OP(at, tanh, .input = XIR_OP(at, sigmoid, .input = x));
}

static xir_value *with_constant(equals *e, xir_at at, xir_value *x, size_t i)
{
    static const float ones[4] = { 1, 1, 1, 1 };
    (void)i;
    xir_value *w = xir_params_copy(e->net, XIR_STR("w"), vector(e->ctx), ones, sizeof ones);
    return XIR_OP(at, add, .lhs = x, .rhs = XIR_OP(at, tanh, .input = w));
}

static void *values_setup(const bench_input *in)    { return chain(in, two_steps); }
static void *constants_setup(const bench_input *in) { return chain(in, with_constant); }

static bool prove_run(void *state, bench_result *out)
{
    equals *e = state;
    xir_proof *proof = xir_proof_new(e->ctx, NULL, e->why);
    xir_pipeline *clean = xir_pipeline_parse(e->ctx, XIR_STR("cse,dce"), e->why);
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    xir_proof_state proven = XIR_INIT(xir_proof_state);
    bool done = proof && clean && xir_proof_watch(proof, &watch, e->why) == XIR_OK;
    const xir_pass_settings how = XIR_INIT(xir_pass_settings, .watches = &watch, .n_watches = 1);
    done = done && xir_pipeline_run(clean, e->net, &how, NULL, e->why) == XIR_OK &&
           xir_proof_state_of(proof, &proven, e->why) == XIR_OK;
    out->count = proven.networks;
    xir_pipeline_free(clean);
    xir_proof_free(proof);
    return done && proven.networks;
}

static bool check(void *state)
{
    equals *e = state;
    return xir_network_validate(e->net, e->why) == XIR_OK;
}

const bench_case equal_cases[] = {
    { "pass-cse-results", NULL, 0, results_setup, results_run, check,
      "the pass cse: equal ops that are all results, and read inside" },
    { "prove-values", NULL, 0, values_setup, prove_run, check, "cse and dce, proven, of a chain with few values" },
    { "prove-constants", NULL, 0, constants_setup, prove_run, check, "the same, with equal constants" },
    { 0 },
};
