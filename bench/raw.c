/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parameters from a raw file that is in the page cache, into a network that was read before: one parameter of 1 KiB
 * for every convolution. */
#include "bench.h"

#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct raw {
    const bench_input *in;
    xir_diags         *why;
    xir_network       *net;
} raw;

static void *raw_setup(const bench_input *in)
{
    raw *r = calloc(1, sizeof *r);
    xir_context *ctx = xir_context_new(NULL);
    if (!r || !ctx || !(r->why = xir_diags_new(ctx)))
        return NULL;
    r->in = in;
    r->net = xir_json_read(ctx, (xir_str){ in->text, in->size }, XIR_STR("bench.json"), r->why);
    if (!r->net)
        xir_diags_print(r->why, stderr);
    return r->net ? r : NULL;
}

static bool load(raw *r, unsigned flags, bench_result *out)
{
    if (xir_raw_load(r->net, r->in->path, flags, r->why) != XIR_OK) {
        xir_diags_print(r->why, stderr);
        return false;
    }
    out->bytes = flags & XIR_LOAD_LAZY ? 0 : (size_t)xir_network_params_bytes(r->net);
    out->count = (r->in->ops + 1) / 2;
    return true;
}

static bool eager_run(void *state, bench_result *out)
{
    return load(state, 0, out);
}

static bool unchecked_run(void *state, bench_result *out)
{
    return load(state, XIR_LOAD_NO_MD5, out);
}

static bool lazy_run(void *state, bench_result *out)
{
    return load(state, XIR_LOAD_LAZY, out);
}

/* Every byte of parameter i of the file is i & 63. */
static bool raw_check(void *state)
{
    raw *r = state;
    size_t i = 0;
    for (const xir_op *op = xir_network_first(r->net); op; op = xir_op_next(op)) {
        if (!xir_op_is(op, xir_conv2d_class()))
            continue;
        uint64_t size = 0;
        const unsigned char *bytes = xir_params_data(xir_op_input(op, 1), &size);
        if (!bytes || size != 1024 || bytes[0] != (i & 63) || bytes[1023] != (i & 63)) {
            fprintf(stderr, "xir-bench: parameter %zu differs from the file\n", i);
            return false;
        }
        i++;
    }
    return i == (r->in->ops + 1) / 2;
}

const bench_case raw_cases[] = {
    { "raw-eager", NULL, BENCH_RAW, raw_setup, eager_run, raw_check,
      "xir_raw_load, with MD5: half the ops have a parameter of 1 KiB" },
    { "raw-eager-unchecked", NULL, BENCH_RAW, raw_setup, unchecked_run, raw_check,
      "the same without MD5" },
    { "raw-lazy", NULL, BENCH_RAW, raw_setup, lazy_run, raw_check,
      "xir_raw_load, mapped: no parameter is touched" },
    { 0 },
};
