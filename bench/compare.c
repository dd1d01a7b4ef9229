/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The cost of a pair of elements in xir_compare: two chains of ReLUs over maps of 4 million elements, the second one
 * with its channels moved, quantised, or both. A yardstick runs the same two chains without comparing, so the time of
 * a row less that of its yardstick, divided by `count`, is what a pair of elements costs. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include <xir/compare.h>
#include <xir/xir.h>

enum { SIDE = 256, CHANNELS = 64, RELUS = 8 };

typedef struct two_nets {
    xir_network *nets[2];
    xir_array   *inputs[2];
    xir_diags   *why;
} two_nets;

static bool chain(two_nets *t, int which, xir_context *ctx, const xir_type *type)
{
    static const char *const names[RELUS] = { "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7" };
    xir_network *net = xir_network_new(ctx, "chain", XIR_FRAMEWORK_PYTORCH, "1.9");
    if (!net)
        return false;
    const xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "image", type);
    for (int i = 0; x && i < RELUS; i++) {
        x = XIR_RELU(at, x);
        if (x)
            (void)xir_value_set_name(x, xir_str_of(names[i]));
    }
    xir_output(at, XIR_VALUES(x));
    t->nets[which] = net;
    t->inputs[which] = xir_array_random(ctx, type, 1, t->why);
    return xir_network_status(net) == XIR_OK && t->inputs[which];
}

static void *make(bool moved, bool quantised)
{
    static const int64_t zero = 0;
    two_nets *t = calloc(1, sizeof *t);
    xir_context *ctx = xir_context_new(NULL);
    if (!t || !ctx || !(t->why = xir_diags_new(ctx)))
        return NULL;
    const xir_type *f32 = xir_type_float(ctx, XIR_FLOAT_FP32), *element = f32;
    if (quantised) {
        const xir_scales *scale = xir_scales_from(ctx, (const double[]){ 0.01 }, 1, -1);
        element = xir_type_quantized(ctx, scale, &zero, 1, xir_type_sint(ctx, 8), NULL);
    }
    const bool made =
        chain(t, 0, ctx, XIR_TENSOR(ctx, f32, "NCHW", 1, CHANNELS, SIDE, SIDE)) &&
        chain(t, 1, ctx, moved ? XIR_TENSOR(ctx, element, "NHWC", 1, SIDE, SIDE, CHANNELS)
                               : XIR_TENSOR(ctx, element, "NCHW", 1, CHANNELS, SIDE, SIDE));
    if (!made)
        xir_diags_print(t->why, stderr);
    return made ? t : NULL;
}

static void *plain_setup(const bench_input *in)     { (void)in; return make(false, false); }
static void *moved_setup(const bench_input *in)     { (void)in; return make(true, false); }
static void *quantised_setup(const bench_input *in) { (void)in; return make(false, true); }
static void *both_setup(const bench_input *in)      { (void)in; return make(true, true); }

static bool compare_run(void *state, bench_result *out)
{
    two_nets *t = state;
    const xir_compare_options how = XIR_INIT(xir_compare_options, .absolute = 1e9, .threads = bench_threads);
    xir_compare *c = xir_compare_new(t->nets[0], t->nets[1], &how, t->why);
    if (!c || xir_compare_run(c, (const xir_array *const *)t->inputs, 1, t->why) || xir_compare_first_bad(c)) {
        xir_diags_print(t->why, stderr);
        return false;
    }
    const xir_compare_pair *pair;
    for (size_t i = 0; (pair = xir_compare_at(c, i)) != NULL; i++)
        out->count += pair->of;
    return out->count == (uint64_t)SIDE * SIDE * CHANNELS * RELUS;
}

static bool both_run(void *state, bench_result *out)
{
    two_nets *t = state;
    const xir_run_options how = XIR_INIT(xir_run_options, .threads = bench_threads);
    for (int i = 0; i < 2; i++) {
        xir_array *result;
        if (xir_network_run(t->nets[i], (const xir_array *const *)&t->inputs[i], 1, &result, 1, &how, t->why)) {
            xir_diags_print(t->why, stderr);
            return false;
        }
        out->count += xir_array_count(result) * RELUS;
    }
    return true;
}

const bench_case compare_cases[] = {
    { "compare-plain", NULL, BENCH_BY_BYTE, plain_setup, compare_run, NULL,
      "two equal chains of 8 ReLUs, compared; count is the pairs of elements" },
    { "compare-plain", "runs", BENCH_BY_BYTE, plain_setup, both_run, NULL, "both chains, run alone" },
    { "compare-moved", NULL, BENCH_BY_BYTE, moved_setup, compare_run, NULL, "the same, NCHW and NHWC" },
    { "compare-moved", "runs", BENCH_BY_BYTE, moved_setup, both_run, NULL, "both chains, run alone" },
    { "compare-quantised", NULL, BENCH_BY_BYTE, quantised_setup, compare_run, NULL, "the same, float and int8" },
    { "compare-quantised", "runs", BENCH_BY_BYTE, quantised_setup, both_run, NULL, "both chains, run alone" },
    { "compare-both", NULL, BENCH_BY_BYTE, both_setup, compare_run, NULL, "the same, float NCHW and int8 NHWC" },
    { "compare-both", "runs", BENCH_BY_BYTE, both_setup, both_run, NULL, "both chains, run alone" },
    { 0 },
};
