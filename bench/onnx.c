/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX: a graph of many nodes, read from memory and written, and a file of 256 MiB of weights, opened and written. The
 * bytes are written here by hand, in the way of exporters: names of layers, five attributes for a convolution, raw
 * data. */
#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the bytes --------------------------------------------------------------------------------- */

enum { VARINT = 0, BYTES = 2 };

/* Messages are written here; the caller has enough room. */
typedef struct message {
    unsigned char *at;
} message;

static void put_varint(message *o, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        *o->at++ = (unsigned char)(v | 0x80);
    *o->at++ = (unsigned char)v;
}

static void put_int(message *o, unsigned field, uint64_t v)
{
    put_varint(o, field << 3 | VARINT);
    put_varint(o, v);
}

static void put_bytes(message *o, unsigned field, const void *bytes, size_t size)
{
    put_varint(o, field << 3 | BYTES);
    put_varint(o, size);
    memcpy(o->at, bytes, size);
    o->at += size;
}

static void put_text(message *o, unsigned field, const char *text) { put_bytes(o, field, text, strlen(text)); }

static void put_ints(message *node, const char *name, const int *values, size_t n)
{
    unsigned char room[64];
    message a = { room };
    put_text(&a, 1, name);
    for (size_t i = 0; i < n; i++)
        put_int(&a, 8, (uint64_t)values[i]);
    put_int(&a, 20, 7);
    put_bytes(node, 5, room, (size_t)(a.at - room));
}

static void put_group(message *node)
{
    unsigned char room[64];
    message a = { room };
    put_text(&a, 1, "group");
    put_int(&a, 3, 1);
    put_int(&a, 20, 2);
    put_bytes(node, 5, room, (size_t)(a.at - room));
}

/* Convolution and activation in turn, in a chain; `own`: each convolution has its own weights. */
static void put_node(message *graph, size_t i, bool own)
{
    static const int threes[] = { 3, 3 }, ones[] = { 1, 1, 1, 1 };
    unsigned char room[512];
    char text[64];
    message node = { room };
    snprintf(text, sizeof text, i ? "/layer/v%zu_output_0" : "x", i);
    put_text(&node, 1, text);
    if (i % 2 == 0) {
        snprintf(text, sizeof text, own ? "layer.%zu.weight" : "w", i);
        put_text(&node, 1, text);
    }
    snprintf(text, sizeof text, "/layer/v%zu_output_0", i + 1);
    put_text(&node, 2, text);
    snprintf(text, sizeof text, i % 2 ? "/layer/relu.%zu" : "/layer/conv.%zu", i);
    put_text(&node, 3, text);
    put_text(&node, 4, i % 2 ? "Relu" : "Conv");
    if (i % 2 == 0) {
        put_ints(&node, "dilations", ones, 2);
        put_group(&node);
        put_ints(&node, "kernel_shape", threes, 2);
        put_ints(&node, "pads", ones, 4);
        put_ints(&node, "strides", ones, 2);
    }
    put_bytes(graph, 1, room, (size_t)(node.at - room));
}

static void put_value(message *graph, unsigned field, const char *name)
{
    static const unsigned char type[] = { 10, 20, 8, 1, 18, 16, 10, 2, 8, 1, 10, 2, 8, 16, 10, 2, 8, 56, 10, 2, 8,
                                          56 };
    unsigned char room[128];
    message value = { room };
    put_text(&value, 1, name);
    put_bytes(&value, 2, type, sizeof type);
    put_bytes(graph, field, room, (size_t)(value.at - room));
}

static const char zeros[16 * 16 * 3 * 3 * 4];

/* A kernel of 16 x 16 x 3 x 3, `times` as many output channels. */
static void put_weight(message *graph, const char *name, size_t times)
{
    size_t raw = sizeof zeros * times;
    unsigned char room[128];
    message head = { room };
    put_int(&head, 1, 16 * times);
    put_int(&head, 1, 16);
    put_int(&head, 1, 3);
    put_int(&head, 1, 3);
    put_int(&head, 2, 1);
    put_text(&head, 8, name);
    put_varint(&head, 9 << 3 | BYTES);
    put_varint(&head, raw);
    size_t size = (size_t)(head.at - room);
    put_varint(graph, 5 << 3 | BYTES);
    put_varint(graph, size + raw);
    memcpy(graph->at, room, size);
    graph->at += size;
    for (size_t i = 0; i < times; i++, graph->at += sizeof zeros)
        memcpy(graph->at, zeros, sizeof zeros);
}

/* `times` 0: one weight for all. */
static unsigned char *make_model(size_t ops, size_t times, size_t *size)
{
    enum { NODE = 256, HEAD = 64 };
    size_t weights = times ? ops / 2 + 1 : 1, each = 128 + sizeof zeros * (times ? times : 1);
    size_t room = HEAD + ops * NODE + weights * each + 1024;
    unsigned char *bytes = pages_take(room), *graph_at = bytes + HEAD;
    if (!bytes)
        return NULL;
    char text[64];
    message graph = { graph_at }, head = { bytes };
    for (size_t i = 0; i < ops; i++)
        put_node(&graph, i, times > 0);
    put_text(&graph, 2, "bench");
    for (size_t i = 0; i < (times ? ops : 1); i += 2) {
        snprintf(text, sizeof text, times ? "layer.%zu.weight" : "w", i);
        put_weight(&graph, text, times ? times : 1);
    }
    put_value(&graph, 11, "x");
    snprintf(text, sizeof text, "/layer/v%zu_output_0", ops);
    put_value(&graph, 12, text);
    size_t graph_size = (size_t)(graph.at - graph_at);
    put_int(&head, 1, 8);
    put_text(&head, 2, "bench");
    put_varint(&head, 7 << 3 | BYTES);
    put_varint(&head, graph_size);
    memmove(head.at, graph_at, graph_size);
    head.at += graph_size;
    put_bytes(&head, 8, "\x10\x11", 2);
    *size = (size_t)(head.at - bytes);
    return bytes;
}

const char *onnx_make(size_t ops, size_t *size) { return (const char *)make_model(ops, 0, size); }

/* 20 000 nodes, 10 000 of which have weights that take 256 MiB together. */
enum { LARGE_OPS = 20000, LARGE_TIMES = 3 };

const char *onnx_make_file(const bench_input *in)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/large.onnx", in->path);
    if (access(path, R_OK) == 0)
        return path;
    size_t size;
    unsigned char *bytes = make_model(LARGE_OPS, LARGE_TIMES, &size);
    int fd = bytes ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    return fd >= 0 && pages_write(fd, bytes, size) && close(fd) == 0 ? path : NULL;
}

/* ---- XIR --------------------------------------------------------------------------------------- */

static void *read_setup(const bench_input *in)
{
    reading *r = reading_new(in->ops);
    return r && (r->bytes = onnx_make(in->ops, &r->size)) ? r : NULL;
}

static void *copy_setup(const bench_input *in) { return reading_copy_setup(read_setup(in)); }

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = xir_network_read(r->ctx, r->bytes, r->size, XIR_STR("bench.onnx"),
                              &XIR_INIT(xir_load_options, .lazy = true), r->why);
    return reading_done(r, out);
}

static void *write_setup(const bench_input *in)
{
    reading *r = copy_setup(in);
    bench_result ignored = { 0 };
    if (r)
        r->format = "onnx";
    return r && read_run(r, &ignored) ? r : NULL;
}

static bool write_run(void *state, bench_result *out) { return reading_write(state, out); }

/* The file in memory, and its network. */
static void *save_setup(const bench_input *in)
{
    reading *r = reading_new(LARGE_OPS);
    if (!r || !(r->bytes = (const char *)make_model(LARGE_OPS, LARGE_TIMES, &r->size)))
        return NULL;
    r->format = "onnx";
    return reading_loaded(r, in);
}

static void *load_setup(const bench_input *in)
{
    reading *r = reading_new(LARGE_OPS);
    const char *path = r ? onnx_make_file(in) : NULL;
    if (path)
        snprintf(r->path, sizeof r->path, "%s", path);
    return path ? r : NULL;
}

static bool load_check(void *state)
{
    const reading *r = state;
    const xir_value *w = xir_op_input(xir_op_next(xir_network_first(r->net)), 1);
    return xir_params_is_lazy(w) && xir_params_has_data(w);
}

static bool save_run(void *state, bench_result *out)
{
    const reading *r = state;
    const xir_save_options options = XIR_INIT(xir_save_options, .format = r->format, .unchecked = true);
    out->count = r->ops;
    out->bytes = r->size;
    return xir_network_save(r->net, r->copy, &options, r->why) == XIR_OK;
}

/* A new file, as a save makes one. */
static bool put_run(void *state, bench_result *out)
{
    const reading *r = state;
    int fd = open(r->copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    out->count = r->ops;
    out->bytes = r->size;
    return fd >= 0 && pages_write(fd, r->bytes, r->size) && fsync(fd) == 0 && close(fd) == 0;
}

static bool fetch_run(void *state, bench_result *out)
{
    reading *r = state;
    return reading_fetch(r, r->path, out);
}

const bench_case onnx_read_cases[] = {
    { "onnx-read", NULL, 0, read_setup, read_run, NULL,
      "xir_network_read of ONNX in memory, lazily: a chain of Conv and Relu" },
    { "onnx-read", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "onnx-write", NULL, 0, write_setup, write_run, NULL, "xir_network_write of it, unchanged, into memory" },
    { "onnx-write", "read", 0, read_setup, read_run, NULL, "reading it" },
    { "onnx-write", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "onnx-load", NULL, BENCH_FOLDER, load_setup, reading_lazy, load_check,
      "xir_network_load of a cached file of 256 MiB of weights in 20 000 nodes, mapped" },
    { "onnx-load", "read", BENCH_FOLDER, load_setup, fetch_run, NULL, "read(2) of the file into fresh memory" },
    { "onnx-save", NULL, BENCH_FOLDER, save_setup, save_run, NULL, "xir_network_save of it, flushed" },
    { "onnx-save", "write", BENCH_FOLDER, save_setup, put_run, NULL, "write(2) of the file, and fsync(2)" },
    { 0 },
};
