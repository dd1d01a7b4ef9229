/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX IR: a trace as front ends send it, read from memory, checked against the executor's definitions, and
 * written. */
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/deepx.h>

/* Four lines for each tensor; about 90 bytes a line, as in recorded traces. */
static const char *make_text(size_t lines, size_t *size)
{
    enum { LONGEST = 160 };
    char *text = pages_take(lines * LONGEST + LONGEST), *p = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < lines; i++) {
        const size_t t = i / 4;
        switch (i % 4) {
        case 0:
            p += sprintf(p, "newtensor (vector<int32>:[3 4]) -> (tensor<float32>:%zu) //  "
                            "created_at=1744724799.0650852\n", t);
            break;
        case 1:
            p += sprintf(p, "constant (var<float32>:0.5) -> (tensor<float32>:%zu) // author=miaobyte  "
                            "created_at=1744724799.0709360\n", t);
            break;
        case 2:
            p += sprintf(p, "mulscalar (tensor<float32>:%zu, var<float32>:2) -> (tensor<float32>:%zu) // "
                            "author=miaobyte  created_at=1744724799.07\n", t, t);
            break;
        default:
            p += sprintf(p, "deltensor () -> (tensor<float32>:%zu) //  created_at=1744724799.0709360\n", t);
        }
    }
    *size = (size_t)(p - text);
    return text;
}

static void *read_setup(const bench_input *in)
{
    reading *r = reading_new(in->ops);
    return r && (r->bytes = make_text(in->ops, &r->size)) ? r : NULL;
}
static void *copy_setup(const bench_input *in) { return reading_copy_setup(read_setup(in)); }

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = xir_network_read(r->ctx, r->bytes, r->size, XIR_STR("bench.ir"), NULL, r->why);
    return reading_done(r, out);
}

static void *net_setup(const bench_input *in)
{
    reading *r = copy_setup(in);
    bench_result ignored = { 0 };
    return r && read_run(r, &ignored) ? r : NULL;
}

static bool check_run(void *state, bench_result *out)
{
    reading *r = state;
    if (xir_deepx_check(r->net, r->why) != XIR_OK)
        return false;
    out->count = r->ops;
    out->bytes = r->size;
    return true;
}

typedef struct taking { char *to; size_t n; } taking;

static bool take(void *user, const void *data, size_t size)
{
    taking *t = user;
    memcpy(t->to + t->n, data, size);
    t->n += size;
    return true;
}

static bool write_run(void *state, bench_result *out)
{
    reading *r = state;
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx", .unchecked = true);
    taking t = { r->to, 0 };
    if (xir_network_write(r->net, take, &t, &options, r->why) != XIR_OK || t.n != r->size)
        return false;
    out->count = r->ops;
    out->bytes = r->size;
    return true;
}

const bench_case deepx_cases[] = {
    { "deepx-read", NULL, 0, read_setup, read_run, NULL, "xir_network_read of a trace in memory, line by line" },
    { "deepx-read", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "deepx-check", NULL, 0, net_setup, check_run, NULL, "xir_deepx_check of it, against the executor's definitions" },
    { "deepx-write", NULL, 0, net_setup, write_run, NULL, "xir_network_write of it, unchanged, into memory" },
    { "deepx-write", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { 0 },
};
