/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See reading.h. */
#include "reading.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

reading *reading_new(size_t ops)
{
    reading *r = calloc(1, sizeof *r);
    if (!r || !(r->ctx = xir_context_new(NULL)) || !(r->why = xir_diags_new(r->ctx)))
        return NULL;
    r->ops = ops;
    return r;
}

bool reading_done(reading *r, bench_result *out)
{
    if (!r->net)
        xir_diags_print(r->why, stderr);
    out->count = r->net ? xir_network_op_count(r->net) - 2 : 0;
    out->bytes = r->size;
    return out->count == r->ops;
}

reading *reading_copy_setup(reading *r)
{
    return r && (r->to = malloc(r->size)) && memset(r->to, 1, r->size) ? r : NULL;
}

bool reading_copy(void *state, bench_result *out)
{
    reading *r = state;
    memcpy(r->to, r->bytes, r->size);
    out->bytes = r->size;
    out->count = (unsigned char)r->to[r->size / 3];
    return true;
}

static bool load(reading *r, bool lazy, bench_result *out)
{
    r->net = xir_network_load(r->ctx, r->path, &XIR_INIT(xir_load_options, .lazy = lazy), r->why);
    return reading_done(r, out);
}

bool reading_lazy(void *state, bench_result *out)  { return load(state, true, out); }
bool reading_eager(void *state, bench_result *out) { return load(state, false, out); }

bool reading_fetch(reading *r, const char *path, bench_result *out)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || !(r->to = malloc((size_t)st.st_size)))
        return false;
    for (ssize_t n; out->bytes < (size_t)st.st_size; out->bytes += (size_t)n) {
        n = read(fd, r->to + out->bytes, (size_t)st.st_size - out->bytes);
        if (n <= 0)
            return false;
    }
    out->count = r->ops;
    return close(fd) == 0;
}

bool reading_to_fd(void *user, const void *data, size_t size) { return pages_write(*(int *)user, data, size); }

bool reading_put(const char *path, const void *bytes, size_t size, bench_result *out)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    out->bytes = size;
    return fd >= 0 && pages_write(fd, bytes, size) && close(fd) == 0;
}

/* ---- formats of one file ----------------------------------------------------------------------- */

static bool take(void *user, const void *data, size_t size)
{
    reading *r = user;
    if (size > r->size - r->filled)
        return false;
    memcpy(r->to + r->filled, data, size);
    r->filled += size;
    return true;
}

bool reading_write(reading *r, bench_result *out)
{
    const xir_save_options options = XIR_INIT(xir_save_options, .format = r->format, .unchecked = true);
    r->filled = 0;
    if (xir_network_write(r->net, take, r, &options, r->why) != XIR_OK || r->filled != r->size)
        return false;
    out->count = r->ops;
    out->bytes = r->size;
    return true;
}

reading *reading_on_disk(reading *r, const bench_input *in)
{
    if (!r)
        return NULL;
    snprintf(r->path, sizeof r->path, "%s/large.%s", in->path, r->format);
    snprintf(r->copy, sizeof r->copy, "%s/copy.%s", in->path, r->format);
    bench_result ignored = { 0 };
    return access(r->path, R_OK) == 0 || reading_put(r->path, r->bytes, r->size, &ignored) ? r : NULL;
}

reading *reading_loaded(reading *r, const bench_input *in)
{
    bench_result ignored = { 0 };
    r = reading_on_disk(r, in);
    return r && reading_eager(r, &ignored) ? r : NULL;
}

bool reading_fetch_file(void *state, bench_result *out)
{
    reading *r = state;
    return reading_fetch(r, r->path, out);
}

bool reading_save(void *state, bench_result *out)
{
    reading *r = state;
    const xir_save_options options = XIR_INIT(xir_save_options, .format = r->format, .unchecked = true);
    int fd = open(r->copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    out->count = r->ops;
    out->bytes = r->size;
    return fd >= 0 && xir_network_write(r->net, reading_to_fd, &fd, &options, r->why) == XIR_OK && close(fd) == 0;
}

bool reading_put_copy(void *state, bench_result *out)
{
    reading *r = state;
    out->count = r->ops;
    return reading_put(r->copy, r->bytes, r->size, out);
}
