/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks as bytes in memory, in the formats that have structure and parameters in one file, here without the bytes of
 * parameters: written from a network, read into one, and verified. The written bytes must be read as the network of
 * text.c, and the network that was read must print as its text.
 *
 * Memory that is written to is fresh and on huge pages, as for the yardsticks. */
#include "bench.h"

#include <xir/xir.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The bytes that a writer has passed on. */
typedef struct gathering {
    char  *to;   /* NULL: they are only counted */
    size_t size, room;
} gathering;

typedef struct bytes {
    const bench_input *in;
    const char        *format;
    xir_context       *ctx;
    xir_diags         *why;
    xir_network       *net;
    const char        *data;  /* to be read */
    size_t             size;
    char               path[32];
    gathering          got;   /* the bytes that were written */
} bytes;

static bytes *new_bytes(const bench_input *in, const char *format)
{
    bytes *b = calloc(1, sizeof *b);
    if (!b || !(b->ctx = xir_context_new(NULL)) || !(b->why = xir_diags_new(b->ctx)))
        return NULL;
    b->in = in;
    b->format = format;
    return b;
}

static bool said(const bytes *b, bool ok)
{
    if (!ok)
        xir_diags_print(b->why, stderr);
    return ok;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static bool gather(void *user, const void *data, size_t size)
{
    gathering *g = user;
    if (g->to) {
        if (size > g->room - g->size)
            return false;
        memcpy(g->to + g->size, data, size);
    }
    g->size += size;
    return true;
}

static bool write_into(bytes *b, gathering *g)
{
    xir_save_options how = XIR_INIT(xir_save_options, .format = b->format, .unchecked = true);
    return said(b, xir_network_write(b->net, gather, g, &how, b->why) == XIR_OK);
}

/* No format takes more than twice the room of the text. */
static bool write_out(bytes *b, gathering *g)
{
    *g = (gathering){ .room = 2 * b->in->size + (1 << 20) };
    g->to = pages_take(g->room);
    return g->to && write_into(b, g);
}

static bool make_network(bytes *b)
{
    if (!b->in->path)
        return (b->net = graph_make(b->ctx, b->in->ops)) != NULL;
    xir_load_options how = XIR_INIT(xir_load_options, .no_params = true);
    return said(b, (b->net = xir_network_load(b->ctx, b->in->path, &how, b->why)) != NULL);
}

static void *write_setup(const bench_input *in, const char *format)
{
    bytes *b = new_bytes(in, format);
    return b && make_network(b) ? b : NULL;
}

static bool write_run(void *state, bench_result *out)
{
    bytes *b = state;
    if (!write_out(b, &b->got))
        return false;
    out->bytes = b->got.size;
    out->count = xir_network_op_count(b->net);
    return true;
}

static bool count_run(void *state, bench_result *out)
{
    bytes *b = state;
    if (!write_into(b, &b->got))
        return false;
    out->bytes = b->got.size;
    out->count = xir_network_op_count(b->net);
    return true;
}

static bool write_check(void *state)
{
    const bytes *b = state;
    return bytes_same(b->in, b->format, b->got.to, b->got.size);
}

const char *bytes_make(const bench_input *in, const char *format, size_t *size)
{
    bytes *b = write_setup(in, format);
    if (!b || !write_out(b, &b->got))
        return NULL;
    const char *made = b->got.to;
    *size = b->got.size;
    xir_network_free(b->net);
    xir_diags_free(b->why);
    xir_context_free(b->ctx);
    free(b);
    return made;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool read_whole(bytes *b)
{
    xir_load_options how = XIR_INIT(xir_load_options, .format = b->format, .lazy = true);
    b->net = xir_network_read(b->ctx, b->data, b->size, XIR_STR("bench"), &how, b->why);
    return said(b, b->net != NULL);
}

bool bytes_same(const bench_input *in, const char *format, const void *data, size_t size)
{
    bytes *b = new_bytes(in, format);
    if (!b)
        return false;
    b->data = data;
    b->size = size;
    return read_whole(b) && json_same(b->net, in);
}

static void *read_setup(const bench_input *in, const char *format)
{
    size_t size;
    const char *data = bytes_make(in, format, &size);
    bytes *b = data ? new_bytes(in, format) : NULL;
    if (!b)
        return NULL;
    b->data = data;
    b->size = size;
    return b;
}

static bool read_run(void *state, bench_result *out)
{
    bytes *b = state;
    if (!read_whole(b))
        return false;
    out->bytes = b->size;
    out->count = xir_network_op_count(b->net);
    return true;
}

/* The same bytes in a file without a name on a disk. */
static void *load_setup(const bench_input *in, const char *format)
{
    bytes *b = read_setup(in, format);
    int fd = b ? memfd_create("xir-bench", 0) : -1;
    if (fd < 0 || !pages_write(fd, b->data, b->size))
        return NULL;
    snprintf(b->path, sizeof b->path, "/proc/self/fd/%d", fd);
    return b;
}

static bool load_run(void *state, bench_result *out)
{
    bytes *b = state;
    xir_load_options how = XIR_INIT(xir_load_options, .format = b->format);
    if (!said(b, (b->net = xir_network_load(b->ctx, b->path, &how, b->why)) != NULL))
        return false;
    out->bytes = b->size;
    out->count = xir_network_op_count(b->net);
    return true;
}

static bool read_check(void *state)
{
    const bytes *b = state;
    return json_same(b->net, b->in);
}

static bool verify_run(void *state, bench_result *out)
{
    bytes *b = state;
    xir_status status = xir_flat_verify(b->ctx, b->data, b->size, XIR_STR("bench"), b->why);
    out->bytes = b->size;
    out->count = xir_diags_count(b->why);
    return said(b, status == XIR_OK);
}

/* A fault must be detected: the first byte is part of the offset of the root table. */
static bool verify_check(void *state)
{
    bytes *b = state;
    char *root = (char *)(uintptr_t)b->data;
    root[3] = 0x7f;
    return xir_flat_verify(b->ctx, b->data, b->size, XIR_STR("bench"), b->why) != XIR_OK;
}

/* ---- the tables ------------------------------------------------------------------------------- */

#define SETUP(name, verb, format) \
    static void *name(const bench_input *in) { return verb##_setup(in, format); }

SETUP(flat_write_setup, write, "fb")
SETUP(flat_read_setup,  read,  "fb")
SETUP(flat_load_setup,  load,  "fb")
SETUP(msg_write_setup,  write, "imodel")
SETUP(msg_read_setup,   read,  "imodel")
SETUP(msg_load_setup,   load,  "imodel")

#define WRITTEN "xir_network_write, unchecked, its pieces copied into fresh memory"
#define COUNTED "the same, but what it writes is only counted"
#define READ    "xir_network_read of borrowed memory: a live network with types, edges and uses"
#define LOADED  "xir_network_load of a cached file, eagerly: its bytes are in the memory too"

const bench_case bytes_cases[] = {
    { "flat-write", NULL, BENCH_TEXT, flat_write_setup, write_run, write_check, WRITTEN },
    { "flat-write", "xir-counted", BENCH_TEXT, flat_write_setup, count_run, NULL, COUNTED },
    { "flat-read", NULL, BENCH_TEXT, flat_read_setup, read_run, read_check, READ },
    { "flat-read", "xir-load", BENCH_TEXT, flat_load_setup, load_run, read_check, LOADED },
    { "flat-open", NULL, BENCH_TEXT, flat_read_setup, verify_run, verify_check,
      "xir_flat_verify of such bytes: every offset, length, text, tag and alignment" },
    { "msgpack-write", NULL, BENCH_TEXT, msg_write_setup, write_run, write_check, WRITTEN },
    { "msgpack-write", "xir-counted", BENCH_TEXT, msg_write_setup, count_run, NULL, COUNTED },
    { "msgpack-read", NULL, BENCH_TEXT, msg_read_setup, read_run, read_check, READ },
    { "msgpack-read", "xir-load", BENCH_TEXT, msg_load_setup, load_run, read_check, LOADED },
    { 0 },
};
