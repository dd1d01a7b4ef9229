/* PNNX: a text of many operators, read from memory; and a text with an archive of 100 MB of weights, opened and
 * written. */
#include "bench.h"

#include <xir/xir.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* 200 operators, of which 100 have 1 MB of weights each. */
enum { LARGE_OPS = 200, LARGE_CHANNELS = 167 };

static bool to_fd(void *user, const void *data, size_t size) { return pages_write(*(int *)user, data, size); }

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
    bool ok = fds[0] >= 0 && fds[1] >= 0 && xir_network_write_params(net, to_fd, &fds[0], &options, why) == XIR_OK &&
              xir_network_write(net, to_fd, &fds[1], &options, why) == XIR_OK;
    close(fds[0]);
    close(fds[1]);
    return ok;
}

/* ---- the cases --------------------------------------------------------------------------------- */

typedef struct reading {
    size_t       ops, size;
    char        *text, *to, path[300], bin[300], copy[300], copy_bin[300];
    xir_context *ctx;
    xir_diags   *why;
    xir_network *net;
} reading;

static reading *new_reading(size_t ops, size_t channels)
{
    reading *r = calloc(1, sizeof *r);
    bool ok = r && (r->ctx = xir_context_new(NULL)) && (r->why = xir_diags_new(r->ctx)) &&
              (r->text = make_text(ops, channels, &r->size));
    if (!ok)
        return NULL;
    r->ops = ops;
    return r;
}

static void *read_setup(const bench_input *in) { return new_reading(in->ops, 16); }

static bool done(reading *r, bench_result *out)
{
    if (!r->net)
        xir_diags_print(r->why, stderr);
    out->count = r->net ? xir_network_op_count(r->net) - 2 : 0;
    return out->count == r->ops;
}

static xir_network *read_text(reading *r)
{
    return xir_network_read(r->ctx, r->text, r->size, XIR_STR("bench.pnnx.param"),
                            &XIR_INIT(xir_load_options, .no_params = true), r->why);
}

static bool read_run(void *state, bench_result *out)
{
    reading *r = state;
    r->net = read_text(r);
    out->bytes = r->size;
    return done(r, out);
}

static void *copy_setup(const bench_input *in)
{
    reading *r = read_setup(in);
    return r && (r->to = malloc(r->size)) && memset(r->to, 1, r->size) ? r : NULL;
}

static bool copy_run(void *state, bench_result *out)
{
    reading *r = state;
    memcpy(r->to, r->text, r->size);
    out->bytes = r->size;
    out->count = (unsigned char)r->to[r->size / 3];
    return true;
}

/* The files are made once for all runs. */
static void *load_setup(const bench_input *in)
{
    reading *r = new_reading(LARGE_OPS, LARGE_CHANNELS);
    if (!r)
        return NULL;
    snprintf(r->path, sizeof r->path, "%s/large.pnnx.param", in->path);
    snprintf(r->bin, sizeof r->bin, "%s/large.pnnx.bin", in->path);
    snprintf(r->copy, sizeof r->copy, "%s/copy.pnnx.param", in->path);
    snprintf(r->copy_bin, sizeof r->copy_bin, "%s/copy.pnnx.bin", in->path);
    if (access(r->path, R_OK) == 0)
        return r;
    xir_network *net = read_text(r);
    bool ok = net && fill(net) && write_both(net, r->path, r->bin, r->why);
    xir_network_free(net);
    return ok ? r : NULL;
}

static bool load(reading *r, bool lazy, bench_result *out)
{
    r->net = xir_network_load(r->ctx, r->path, &XIR_INIT(xir_load_options, .lazy = lazy), r->why);
    return done(r, out);
}

static bool lazy_run(void *state, bench_result *out)  { return load(state, true, out); }
static bool eager_run(void *state, bench_result *out) { return load(state, false, out); }

static bool fetch_run(void *state, bench_result *out)
{
    reading *r = state;
    struct stat st;
    int fd = open(r->bin, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || !(r->to = malloc((size_t)st.st_size)))
        return false;
    for (ssize_t n; out->bytes < (size_t)st.st_size; out->bytes += (size_t)n) {
        n = read(fd, r->to + out->bytes, (size_t)st.st_size - out->bytes);
        if (n <= 0)
            return false;
    }
    out->count = LARGE_OPS;
    return close(fd) == 0;
}

static void *save_setup(const bench_input *in)
{
    reading *r = load_setup(in);
    bench_result ignored = { 0 };
    return r && load(r, false, &ignored) ? r : NULL;
}

static bool save_run(void *state, bench_result *out)
{
    reading *r = state;
    out->count = LARGE_OPS;
    return write_both(r->net, r->copy, r->copy_bin, r->why);
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
    int fd = open(r->copy_bin, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    out->count = LARGE_OPS;
    out->bytes = r->size;
    return fd >= 0 && pages_write(fd, r->to, r->size) && close(fd) == 0;
}

const bench_case pnnx_cases[] = {
    { "pnnx-read", NULL, 0, read_setup, read_run, NULL,
      "xir_network_read of PNNX in memory: a chain of nn.Conv2d and F.relu" },
    { "pnnx-read", "memcpy", 0, copy_setup, copy_run, NULL, "the same bytes copied" },
    { "pnnx-load", NULL, BENCH_FOLDER, load_setup, lazy_run, NULL,
      "xir_network_load of a cached archive of 100 MB of weights, mapped" },
    { "pnnx-load", "eager", BENCH_FOLDER, load_setup, eager_run, NULL, "the same, read, with checksums" },
    { "pnnx-load", "read", BENCH_FOLDER, load_setup, fetch_run, NULL, "read(2) of the archive into fresh memory" },
    { "pnnx-save", NULL, BENCH_FOLDER, save_setup, save_run, NULL,
      "xir_network_write and _write_params of it into files, not flushed" },
    { "pnnx-save", "write", BENCH_FOLDER, put_setup, put_run, NULL, "write(2) of the archive" },
    { 0 },
};
