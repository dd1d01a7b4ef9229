/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pictures of a chain with branches and skips: every tenth op begins a branch, every fifth one adds a value from a few
 * ops before, every twentieth one from far above, up to 2000 ranks. */
#include "bench.h"

#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct drawing {
    xir_context    *ctx;
    xir_network    *net;
    xir_diags      *why;
    xir_draw_format format;
    xir_draw_group  group;
    bool            layout;     /* alone: the first piece that is written is refused */
} drawing;

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static xir_value *op_of(xir_at at, xir_value **values, size_t n, uint64_t *seed)
{
    const uint32_t kind = next(seed) % 100, far = next(seed) % 2000;
    if (kind < 20 && n > 8)
        return xir_build_add(at, values[n - 1], values[n - 2 - far % 5], 1, 1, NULL);
    if (kind < 25 && n > 60 + far)
        return xir_build_add(at, values[n - 1], values[n - 50 - far], 1, 1, NULL);
    return xir_build_relu(at, values[kind < 35 && n > 4 ? n - 2 : n - 1], NULL);
}

static void *make(const bench_input *in, xir_draw_format format, xir_draw_group group)
{
    drawing *d = calloc(1, sizeof *d);
    xir_value **values = calloc(in->ops + 2, sizeof *values);
    uint64_t seed = 1;
    if (!d || !values || !(d->ctx = xir_context_new(NULL)) || !(d->why = xir_diags_new(d->ctx)))
        return NULL;
    d->format = format;
    d->group = group;
    d->net = xir_network_new(d->ctx, "bench", XIR_FRAMEWORK_ONNX, "1.15");
    xir_at at = xir_at_end(d->net);
    values[0] = xir_input(at, "x", XIR_TENSOR(d->ctx, xir_type_float(d->ctx, XIR_FLOAT_FP32), "**", 1, 64));
    size_t n = 1;
    for (; n + 1 < in->ops; n++)
        values[n] = op_of(at, values, n, &seed);
    xir_output(at, XIR_VALUES(values[n - 1]));
    free(values);
    if (xir_network_status(d->net) == XIR_OK)
        return d;
    xir_diags_print(xir_network_diags(d->net), stderr);
    return NULL;
}

static bool count(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return true;
}

static bool refuse(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return false;
}

static bool run(void *state, bench_result *out)
{
    drawing *d = state;
    const xir_draw_options how = XIR_INIT(xir_draw_options, .group = d->group, .no_values = true);
    size_t bytes = 0;
    if (d->layout)
        return xir_draw(d->net, d->format, &how, refuse, NULL, NULL) == XIR_E_IO;
    if (xir_draw(d->net, d->format, &how, count, &bytes, d->why) == XIR_OK) {
        out->count = bytes;
        return true;
    }
    xir_diags_print(d->why, stderr);
    return false;
}

static void *svg_setup(const bench_input *in) { return make(in, XIR_DRAW_SVG, XIR_DRAW_NONE); }
static void *layout_setup(const bench_input *in)
{
    drawing *d = make(in, XIR_DRAW_SVG, XIR_DRAW_NONE);
    if (d)
        d->layout = true;
    return d;
}
static void *page_setup(const bench_input *in) { return make(in, XIR_DRAW_HTML, XIR_DRAW_BOTH); }
static void *repeats_setup(const bench_input *in) { return make(in, XIR_DRAW_SVG, XIR_DRAW_REPEAT); }
static void *dot_setup(const bench_input *in) { return make(in, XIR_DRAW_DOT, XIR_DRAW_NONE); }

const bench_case draw_cases[] = {
    { "draw-layout", NULL, BENCH_SLOW, layout_setup, run, NULL, "ranks, orders and coordinates of a chain with branches and skips" },
    { "draw-svg", NULL, BENCH_SLOW, svg_setup, run, NULL, "layout and SVG of it, without groups" },
    { "draw-repeats", NULL, BENCH_SLOW, repeats_setup, run, NULL, "the same with groups of repeated ops" },
    { "draw-dot", NULL, BENCH_SLOW, dot_setup, run, NULL, "DOT of it" },
    { "draw-page", NULL, BENCH_SLOW, page_setup, run, NULL, "the page of it, with groups, without values" },
    { 0 },
};
