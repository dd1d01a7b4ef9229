/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB: a chain of many functions, read from memory and written; and a file of 100 MB of weights, opened and written. */
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---------------------------------------------------------------------------------- */

typedef struct laid {
    unsigned char *bytes;
    size_t         base, at, entry, entries;
} laid;

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

/* A block of words. Returns its entry. */
static uint32_t put_block(laid *l, const uint32_t *words, size_t n)
{
    put32(l->bytes + 56 + 4 * l->entry, (uint32_t)(l->at - l->base));
    for (size_t i = 0; i < n; i++)
        put32(l->bytes + l->at + 4 * i, words[i]);
    l->at += 4 * n;
    return (uint32_t)l->entry++;
}

#define PUT(l, ...) put_block((l), (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)

/* A chain of ReLU, as the exporter lays it out; of PReLU with `weights` floats each if that is not 0. */
static const char *make_file(size_t ops, size_t weights, size_t *size)
{
    const size_t per = weights ? 2 : 1, variables = 1 + ops * per;
    laid l = { .entries = 5 + 2 * variables + 3 * ops + (weights ? ops : 0) };
    l.base = l.at = 56 + 4 * l.entries;
    l.bytes = pages_take(l.base + 100 + 32 * variables + 36 * ops + 4 * ops * (weights + 1));
    uint32_t *list = malloc(4 * (variables + ops));
    if (!l.bytes || !list)
        return NULL;
    PUT(&l, 0);
    PUT(&l, (uint32_t)(variables - 1));
    PUT(&l, 4096, 4096);
    for (size_t i = 0; i < variables; i++) {
        const bool stored = weights && i % 2;
        const uint32_t shape = stored ? PUT(&l, (uint32_t)weights) : PUT(&l, 1024);
        uint32_t data = (uint32_t)-1 - (uint32_t)(i / per % 2);
        if (stored) {
            data = PUT(&l, (uint32_t)i);
            l.at += 4 * (weights - 1);
        }
        list[i] = PUT(&l, (uint32_t)i, 1, shape, 0, data);
    }
    const uint32_t all = put_block(&l, list, variables);
    for (size_t i = 0; i < ops; i++) {
        const uint32_t x = (uint32_t)(i * per), y = (uint32_t)((i + 1) * per);
        const uint32_t in = weights ? PUT(&l, x, x + 1) : PUT(&l, x), out = PUT(&l, y);
        list[i] = PUT(&l, weights ? 21 : 14, (uint32_t)per, in, 1, out, 1);
    }
    const uint32_t functions = put_block(&l, list, ops);
    const uint32_t head[14] = { 3, 44, 2, 2, (uint32_t)variables, all, (uint32_t)ops, functions, 1, 0, 1, 1,
                                (uint32_t)l.entries, (uint32_t)(l.at - l.base) };
    for (size_t i = 0; i < 14; i++)
        put32(l.bytes + 4 * i, head[i]);
    free(list);
    *size = l.at;
    return (const char *)l.bytes;
}

/* 100 functions with 1 MB of weights each. */
enum { LARGE_OPS = 100, LARGE_WEIGHTS = 250000 };

/* ---- the cases --------------------------------------------------------------------------------- */

static reading *new_reading(size_t ops, size_t weights)
{
    reading *r = reading_new(ops);
    if (!r)
        return NULL;
    r->format = "nnb";
    r->bytes = make_file(ops, weights, &r->size);
    return r->bytes ? r : NULL;
}

static void *read_setup(const bench_input *in) { return new_reading(in->ops, 0); }
static void *copy_setup(const bench_input *in) { return reading_copy_setup(read_setup(in)); }

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = xir_network_read(r->ctx, r->bytes, r->size, XIR_STR("bench.nnb"), NULL, r->why);
    return reading_done(r, out);
}

static void *write_setup(const bench_input *in)
{
    reading *r = copy_setup(in);
    bench_result ignored = { 0 };
    return r && read_run(r, &ignored) ? r : NULL;
}

/* Without the tag of the file, numbers and buffers are chosen again. */
static void *pack_setup(const bench_input *in)
{
    reading *r = write_setup(in);
    return r && xir_network_set_tag(r->net, XIR_STR("nnb.file"), NULL) == XIR_OK ? r : NULL;
}

static bool write_run(void *state, bench_result *out) { return reading_write(state, out); }

static void *load_setup(const bench_input *in) { return reading_on_disk(new_reading(LARGE_OPS, LARGE_WEIGHTS), in); }
static void *save_setup(const bench_input *in) { return reading_loaded(new_reading(LARGE_OPS, LARGE_WEIGHTS), in); }

const bench_case nnb_cases[] = {
    { "nnb-read", NULL, 0, read_setup, read_run, NULL, "xir_network_read of NNB in memory: a chain of ReLU" },
    { "nnb-read", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "nnb-write", NULL, 0, write_setup, write_run, NULL, "xir_network_write of the chain, unchanged, into memory" },
    { "nnb-write", "packed", 0, pack_setup, write_run, NULL, "the same with variables numbered and packed again" },
    { "nnb-write", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "nnb-load", NULL, BENCH_FOLDER, load_setup, reading_lazy, NULL,
      "xir_network_load of a cached file of 100 MB of weights, mapped" },
    { "nnb-load", "eager", BENCH_FOLDER, load_setup, reading_eager, NULL, "the same, read" },
    { "nnb-load", "read", BENCH_FOLDER, load_setup, reading_fetch_file, NULL, "read(2) of the file into fresh memory" },
    { "nnb-save", NULL, BENCH_FOLDER, save_setup, reading_save, NULL, "xir_network_write of it into a file, not flushed" },
    { "nnb-save", "write", BENCH_FOLDER, load_setup, reading_put_copy, NULL, "write(2) of the file" },
    { 0 },
};
