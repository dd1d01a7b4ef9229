/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* PNNX: a text of many operators, read from memory; and a text with an archive of 100 MB of weights, opened and
 * written; and the operators of the text, converted both ways. */
#include "reading.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the text ---------------------------------------------------------------------------------- */

/* Convolution and activation in turn, in a chain, as the converter writes them. */
static size_t put_op(char *at, size_t i, size_t channels)
{
    enum { ROOM = 600 };
    char name[40];
    const size_t next = i + 1;
    if (i % 2) {
        snprintf(name, sizeof name, "F.relu_%zu", i);
        return (size_t)snprintf(at, ROOM, "F.relu                   %-24s 1 1 %zu %zu $input=%zu #%zu=(1,16,56,56)f32 "
                                "#%zu=(1,16,56,56)f32\n", name, i, next, i, i, next);
    }
    snprintf(name, sizeof name, "layer%zu.conv", i);
    return (size_t)snprintf(at, ROOM, "nn.Conv2d                %-24s 1 1 %zu %zu bias=False dilation=(1,1) groups=1 "
                            "in_channels=%zu kernel_size=(3,3) out_channels=%zu padding=(1,1) padding_mode=zeros "
                            "stride=(1,1) @weight=(%zu,%zu,3,3)f32 #%zu=(1,16,56,56)f32 #%zu=(1,16,56,56)f32\n", name,
                            i, next, channels, channels, channels, channels, i, next);
}

static char *make_text(size_t ops, size_t channels, size_t *size)
{
    enum { MOST_OP = 640, MOST_HEAD = 400 };
    char *text = pages_take(MOST_HEAD + ops * MOST_OP), *at = text;
    if (!text)
        return NULL;
    at += sprintf(at, "7767517\n%zu %zu\npnnx.Input               pnnx_input_0             0 1 0 #0=(1,16,56,56)f32\n",
                  ops + 2, ops + 1);
    for (size_t i = 0; i < ops; i++)
        at += put_op(at, i, channels);
    at += sprintf(at, "pnnx.Output              pnnx_output_0            1 0 %zu #%zu=(1,16,56,56)f32\n", ops, ops);
    *size = (size_t)(at - text);
    return text;
}

/* 200 operators; 100 of them have 1 MB of weights each. */
enum { LARGE_OPS = 200, LARGE_CHANNELS = 167 };

static bool fill(xir_network *net)
{
    static float numbers[LARGE_CHANNELS * LARGE_CHANNELS * 9];
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_map *extra = xir_op_extra(op);
        const xir_any *weight = extra ? xir_map_find(extra, XIR_STR("@weight")) : NULL;
        numbers[0] += 1;
        if (weight && xir_params_set_copy(weight->as.params, numbers, sizeof numbers) != XIR_OK)
            return false;
    }
    return true;
}

static bool write_both(xir_network *net, const char *text, const char *bin, xir_diags *why)
{
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "pnnx", .unchecked = true);
    int fds[2] = { open(bin, O_WRONLY | O_CREAT | O_TRUNC, 0600), open(text, O_WRONLY | O_CREAT | O_TRUNC, 0600) };
    bool ok = fds[0] >= 0 && fds[1] >= 0 &&
              xir_network_write_params(net, reading_to_fd, &fds[0], &options, why) == XIR_OK &&
              xir_network_write(net, reading_to_fd, &fds[1], &options, why) == XIR_OK;
    close(fds[0]);
    close(fds[1]);
    return ok;
}

/* ---- the cases --------------------------------------------------------------------------------- */

static reading *new_reading(size_t ops, size_t channels)
{
    reading *r = reading_new(ops);
    return r && (r->bytes = make_text(ops, channels, &r->size)) ? r : NULL;
}

static void *read_setup(const bench_input *in) { return new_reading(in->ops, 16); }
static void *copy_setup(const bench_input *in) { return reading_copy_setup(read_setup(in)); }

static xir_network *read_text(reading *r)
{
    return xir_network_read(r->ctx, r->bytes, r->size, XIR_STR("bench.pnnx.param"),
                            &XIR_INIT(xir_load_options, .no_params = true), r->why);
}

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = read_text(r);
    return reading_done(r, out);
}

/* The files are made once for all runs. */
static void *load_setup(const bench_input *in)
{
    reading *r = new_reading(LARGE_OPS, LARGE_CHANNELS);
    if (!r)
        return NULL;
    snprintf(r->path, sizeof r->path, "%s/large.pnnx.param", in->path);
    snprintf(r->params, sizeof r->params, "%s/large.pnnx.bin", in->path);
    snprintf(r->copy, sizeof r->copy, "%s/copy.pnnx.param", in->path);
    snprintf(r->copy_params, sizeof r->copy_params, "%s/copy.pnnx.bin", in->path);
    if (access(r->path, R_OK) == 0)
        return r;
    xir_network *net = read_text(r);
    bool ok = net && fill(net) && write_both(net, r->path, r->params, r->why);
    xir_network_free(net);
    return ok ? r : NULL;
}

static bool fetch_run(void *state, bench_result *out)
{
    reading *r = state;
    return reading_fetch(r, r->params, out);
}

static void *save_setup(const bench_input *in)
{
    reading *r = load_setup(in);
    bench_result ignored = { 0 };
    return r && reading_eager(r, &ignored) ? r : NULL;
}

static bool save_run(void *state, bench_result *out)
{
    reading *r = state;
    out->count = LARGE_OPS;
    return write_both(r->net, r->copy, r->copy_params, r->why);
}

static void *put_setup(const bench_input *in)
{
    reading *r = load_setup(in);
    bench_result fetched = { 0 };
    bool ok = r && fetch_run(r, &fetched);
    if (ok)
        r->size = fetched.bytes;
    return ok ? r : NULL;
}

static bool put_run(void *state, bench_result *out)
{
    reading *r = state;
    out->count = LARGE_OPS;
    return reading_put(r->copy_params, r->to, r->size, out);
}

/* ---- the conversion ------------------------------------------------------------------------------ */

static bool converted(reading *r, const char *pass)
{
    return r && r->net && xir_pass_run(r->net, pass, NULL, NULL, r->why) == XIR_OK;
}

static void *from_setup(const bench_input *in)
{
    reading *r = read_setup(in);
    if (r)
        r->net = read_text(r);
    return r && r->net ? r : NULL;
}

static void *to_setup(const bench_input *in)
{
    reading *r = from_setup(in);
    return converted(r, "pnnx-to-xir") && xir_pass_run(r->net, "layout", "to=nchw", NULL, r->why) == XIR_OK ? r : NULL;
}

static bool to_run(void *state, bench_result *out)
{
    return converted(state, "xir-to-pnnx") && reading_done(state, out);
}

static bool from_run(void *state, bench_result *out)
{
    reading *r = state;
    out->count = r->ops;
    return converted(r, "pnnx-to-xir");
}

const bench_case pnnx_cases[] = {
    { "pnnx-read", NULL, 0, read_setup, read_run, NULL,
      "xir_network_read of PNNX in memory: a chain of nn.Conv2d and F.relu" },
    { "pnnx-read", "memcpy", 0, copy_setup, reading_copy, NULL, "the same bytes copied" },
    { "pnnx-load", NULL, BENCH_FOLDER, load_setup, reading_lazy, NULL,
      "xir_network_load of a cached archive of 100 MB of weights, mapped" },
    { "pnnx-load", "eager", BENCH_FOLDER, load_setup, reading_eager, NULL, "the same, read, with checksums" },
    { "pnnx-load", "read", BENCH_FOLDER, load_setup, fetch_run, NULL, "read(2) of the archive into fresh memory" },
    { "pnnx-save", NULL, BENCH_FOLDER, save_setup, save_run, NULL,
      "xir_network_write and _write_params of it into files, not flushed" },
    { "pnnx-save", "write", BENCH_FOLDER, put_setup, put_run, NULL, "write(2) of the archive" },
    { "to-pnnx", NULL, 0, to_setup, to_run, NULL, "xir-to-pnnx of a chain of Conv2d and ReLU" },
    { "to-pnnx", "from", 0, from_setup, from_run, NULL, "pnnx-to-xir of the operators that it becomes" },
    { 0 },
};
