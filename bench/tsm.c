/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* TSM: many nodes, half of them constants, read from memory and written; and a file of 100 MB of weights, opened,
 * read and written. */
#include "reading.h"

#include <stdio.h>
#include <string.h>

/* ---- the file ---------------------------------------------------------------------------------- */

enum { HEADER = 128, NODE = 160, CHAR8 = 13, INT32 = 5, FLOAT32 = 10 };

static void put32(unsigned char **p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        *(*p)++ = (unsigned char)(v >> 8 * i);
}

static void put_text(unsigned char **p, const char *text)
{
    put32(p, (uint32_t)strlen(text));
    memcpy(*p, text, strlen(text));
    *p += strlen(text);
}

/* A parameter that is one tensor, up to its elements. */
static void put_head(unsigned char **p, const char *name, unsigned char type, size_t rank, uint32_t dim)
{
    put_text(p, name);
    put32(p, 1);
    *(*p)++ = type;
    put32(p, (uint32_t)rank);
    if (rank)
        put32(p, dim);
}

static void put_word(unsigned char **p, const char *name, const char *text)
{
    put_head(p, name, CHAR8, 1, (uint32_t)strlen(text));
    memcpy(*p, text, strlen(text));
    *p += strlen(text);
}

static void put_node(unsigned char **p, const char *kind, size_t number, const char *op, uint32_t params)
{
    char name[32];
    snprintf(name, sizeof name, "%s%zu", kind, number);
    put32(p, params);
    put_word(p, "#name", name);
    put_word(p, "#op", op);
}

/* x + w0 + w1 + …: an `add` after each constant of `weights` floats, as the front end lays them out. */
static const char *make_file(size_t ops, size_t weights, size_t *size)
{
    unsigned char *bytes = pages_take(HEADER + 64 + NODE + ops * (2 * NODE + 4 * weights)), *p = bytes;
    if (!bytes)
        return NULL;
    put32(&p, 0);
    put32(&p, 0x19910929);
    p = bytes + HEADER;
    put32(&p, 1);
    put32(&p, 0);
    put32(&p, 1);
    put32(&p, (uint32_t)(2 * ops));
    put32(&p, (uint32_t)(2 * ops + 1));
    put32(&p, 4);
    put_head(&p, "#dtype", INT32, 0, 0);
    put32(&p, FLOAT32);
    put_word(&p, "#name", "x");
    put_word(&p, "#op", "<param>");
    put_head(&p, "#shape", INT32, 1, 1);
    put32(&p, (uint32_t)weights);
    put32(&p, 0);
    for (size_t i = 0; i < ops; i++) {
        put_node(&p, "w", i, "<const>", 3);
        put_head(&p, "value", FLOAT32, 1, (uint32_t)weights);
        p += 4 * weights;
        put32(&p, 0);
        put_node(&p, "y", i, "add", 2);
        put32(&p, 2);
        put32(&p, (uint32_t)(2 * i));
        put32(&p, (uint32_t)(2 * i + 1));
    }
    *size = (size_t)(p - bytes);
    return (const char *)bytes;
}

/* 100 operators with 1 MB of weights each. */
enum { LARGE_OPS = 100, LARGE_WEIGHTS = 250000 };

/* ---- the cases --------------------------------------------------------------------------------- */

static reading *new_reading(size_t ops, size_t weights)
{
    reading *r = reading_new(ops);
    if (!r)
        return NULL;
    r->format = "tsm";
    r->bytes = make_file(ops, weights, &r->size);
    return r->bytes ? r : NULL;
}

/* As many nodes as the run has ops. */
static void *read_setup(const bench_input *in) { return new_reading(in->ops / 2, 4); }
static void *copy_setup(const bench_input *in) { return reading_copy_setup(read_setup(in)); }

/* The time is for each node of the file. */
static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = xir_network_read(r->ctx, r->bytes, r->size, XIR_STR("bench.tsm"), NULL, r->why);
    const bool done = reading_done(r, out);
    out->count *= 2;
    return done;
}

static void *write_setup(const bench_input *in)
{
    reading *r = copy_setup(in);
    bench_result ignored = { 0 };
    return r && read_run(r, &ignored) ? r : NULL;
}

static bool write_run(void *state, bench_result *out)
{
    reading *r = state;
    const bool done = reading_write(r, out);
    out->count *= 2;
    return done;
}

static void *load_setup(const bench_input *in) { return reading_on_disk(new_reading(LARGE_OPS, LARGE_WEIGHTS), in); }
static void *save_setup(const bench_input *in) { return reading_loaded(new_reading(LARGE_OPS, LARGE_WEIGHTS), in); }

const bench_case tsm_cases[] = {
    { "tsm-read", NULL, 0, read_setup, read_run, NULL, "xir_network_read of TSM in memory: adds, each of a constant" },
    { "tsm-read", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "tsm-write", NULL, 0, write_setup, write_run, NULL, "xir_network_write of it, unchanged, into memory" },
    { "tsm-write", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "tsm-load", NULL, BENCH_FOLDER, load_setup, reading_lazy, NULL,
      "xir_network_load of a cached file of 100 MB of weights, mapped" },
    { "tsm-load", "eager", BENCH_FOLDER, load_setup, reading_eager, NULL, "the same, read" },
    { "tsm-load", "read", BENCH_FOLDER, load_setup, reading_fetch_file, NULL, "read(2) of the file into fresh memory" },
    { "tsm-save", NULL, BENCH_FOLDER, save_setup, reading_save, NULL, "xir_network_write of it into a file, not flushed" },
    { "tsm-save", "write", BENCH_FOLDER, load_setup, reading_put_copy, NULL, "write(2) of the file" },
    { 0 },
};
