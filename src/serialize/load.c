/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loading in any format. Bytes come from a file, from memory or from a stream, into one blob. The format is detected
 * from the first bytes. Its reader makes the network, whose Params keep parts of the blob. If the format has a separate
 * parameter file, the blob has the structure alone and is released, and the parameters come from the file that the
 * format's row finds.
 *
 * Input that can be read only once is read to its end before it is decoded: a pipe is never opened twice, and its
 * size is never asked. It may never end, so its beginning must be one that some format has. */
#include <sys/stat.h>
#include "file.h"
#include "formats.h"
#include "memory_limit.h"
#include "raw/raw.h"
#include "spelled.h"
#include "sized.h"
#include "task.h"

typedef struct loading {
    xir_context      *ctx;
    xir_load_options  o;
    xir_diags        *why;
    xir_str           name;      /* in findings                                     */
    const char       *path;      /* of a regular file, which may have others next to it; NULL */
    format            format;
    xir_status        status;    /* if the options are wrong                        */
    memory_limit      memory;
    task              task;
} loading;

static void put(const loading *l, xir_severity severity, xir_status code, const char *sentence, ...) XIR_PRINTF(4, 5);
static void put(const loading *l, xir_severity severity, xir_status code, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    diag_failv(l->why, &(xir_diag){ .severity = severity, .code = code, .file = l->name, .byte = XIR_NO_BYTE },
               sentence, args);
    va_end(args);
}

/* ---- options ------------------------------------------------------------------------------------------------- */

static bool begin(loading *l, xir_context *ctx, xir_str name, const xir_load_options *options, xir_diags *why) {
    *l = (loading){ .ctx = ctx, .why = why, .name = name };
    if ((l->status = sized_take(SIZED(xir_load_options, verify), &l->o, options, why)) != XIR_OK) return false;
    l->status = XIR_E_INVALID;
    if (l->o.verify > XIR_VERIFY_MEANWHILE) {
        put(l, XIR_ERROR, l->status, "there is no level of verification %d", (int)l->o.verify);
        return false;
    }
    if (l->o.params && l->o.no_params) {
        put(l, XIR_ERROR, l->status, "a parameter file is named, but only the structure is requested");
        return false;
    }
    l->status = XIR_OK;
    if (l->o.verify == XIR_VERIFY_MEANWHILE && !l->o.lazy) l->o.verify = XIR_VERIFY_FULL;
    if (l->o.verify == XIR_VERIFY_DEFAULT) l->o.verify = l->o.lazy ? XIR_VERIFY_HEADER : XIR_VERIFY_FULL;
    task_begin(&l->task, l->o.cancel, l->o.progress, l->o.user);
    return true;
}

/* As the caller says, otherwise by content, otherwise by name. */
static bool choose(loading *l, const void *head, size_t size, uint64_t total) {
    bool known = !l->o.format && format_detect(l->ctx, head, size, total, l->name, &l->format);
    if (l->o.format && !(known = format_named(l->ctx, l->o.format, &l->format, l->why))) return false;
    if (!known && size == 0)
        put(l, XIR_ERROR, XIR_E_UNKNOWN, "the file is empty");
    else if (!known)
        put(l, XIR_ERROR, XIR_E_UNKNOWN, "neither the content nor the name identifies the format, expected one of %s",
            format_names(l->ctx, false).text);
    else if (!l->format.read)
        put(l, XIR_ERROR, XIR_E_UNSUPPORTED, "files of format %s cannot be read", l->format.name);
    else if (l->o.params && !l->format.params_found)
        put(l, XIR_ERROR, XIR_E_INVALID, "a file of format %s contains its parameters: no parameter file can be named",
            l->format.name);
    else return true;
    return false;
}

/* Returns true if the parameters are compared while the network is used. Other formats have other sums, or none. */
static bool is_meanwhile(const loading *l) {
    return l->o.verify == XIR_VERIFY_MEANWHILE &&
           (l->format.compare_claims || l->format.load_params == raw_load_params);
}

/* Returns true if they are compared before the network is used. */
static bool is_compared(const loading *l) {
    return l->o.verify == XIR_VERIFY_FULL || (l->o.verify == XIR_VERIFY_MEANWHILE && !is_meanwhile(l));
}

static bool is_watched(const loading *l) {
    return l->o.verify == XIR_VERIFY_ON_TOUCH || l->o.verify == XIR_VERIFY_MEANWHILE;
}

static format_reading reading_of(const loading *l) {
    return (format_reading){
        .ctx = l->ctx, .format = &l->format, .name = l->name, .path = l->path, .lazy = l->o.lazy,
        .watch = is_watched(l), .no_params = l->o.no_params, .compare = is_compared(l), .meanwhile = is_meanwhile(l),
        .silent = l->o.verify == XIR_VERIFY_NEVER, .why = l->why };
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Counts all that readers make, whatever the format. The bytes of the file count already. */
static void begin_memory(loading *l, uint64_t size) {
    enum { ALWAYS = 16, BINARY = 2 };
    const uint64_t once = l->ctx->limits.max_read_memory;
    if (l->format.traits & XIR_FORMAT_TEXT) memory_limit_begin(&l->memory, once, ALWAYS, size);
    else if (size <= once / (ALWAYS - BINARY)) memory_limit_begin(&l->memory, once, BINARY, size);
    else memory_limit_begin(&l->memory, 0, ALWAYS, size);
}

/* Ends the limit. Returns the status of what was read. */
static xir_status end_memory(loading *l, xir_status status) {
    memory_limit_end(&l->memory);
    return status == XIR_E_MEMORY && l->memory.said ? XIR_E_LIMIT : status;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

/* Ends what a successful `begin` has begun. */
static xir_status end_status(loading *l, xir_status status) { return task_end(&l->task, status, l->why); }

/* A call that works on parameters expects them not to change. If a file changes, saving them fails. */
static void hush(const loading *l, const xir_network *net) {
    if (l->o.verify != XIR_VERIFY_MEANWHILE) return;
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        const blob *b = value_params(v)->data;
        if (b && b->watch) blob_hush(b);
    }
}

/* The network has its parameters after a success, which is too late for a cancelling. */
static xir_status end_params(loading *l, xir_network *net, xir_status status) {
    hush(l, net);
    if (!status) {
        l->task.final = true;
        l->task.cancelled = false;
    }
    return end_status(l, status);
}

static xir_network *end_network(loading *l, xir_network *net) {
    if (net) hush(l, net);
    if (!end_status(l, net ? XIR_OK : XIR_E_INVALID)) return net;
    xir_network_free(net);
    return NULL;
}

/* The bytes of work that a file of parameters takes: reading them, and comparing them. */
static uint64_t work_of_params(const loading *l, const char *path) {
    struct stat st;
    if (!path || stat(path, &st) || !S_ISREG(st.st_mode)) return 0;
    const uint64_t size = (uint64_t)st.st_size;
    return (l->o.lazy ? 0 : size) + (is_compared(l) ? size : 0);
}

/* The same for the file that lies next to the structure, if there is one: it may turn out not to be needed. */
static uint64_t work_of_companion(const loading *l) {
    const xir_allocator *alloc = &l->ctx->alloc;
    size_t room = 0;
    xir_status status = XIR_OK;
    if (!l->o.progress || l->o.no_params || !l->format.params_found) return 0;
    if (l->o.params) return work_of_params(l, l->o.params);
    char *found = companion_find(alloc, &l->format, l->path, &room, &status);
    const uint64_t work = work_of_params(l, found);
    mem_free(alloc, found, room);
    return work;
}

/* The work of a file of `size` bytes: reading it unless it is mapped, decoding it, and comparing its parameters. */
static void expect_file(const loading *l, uint64_t size) {
    const bool maps = l->o.lazy && !l->format.params_found;
    const bool compares = l->format.compare_claims && is_compared(l) && !l->o.no_params;
    task_expect(size + (maps ? 0 : size) + (compares ? size : 0) + work_of_companion(l));
}

/* ---- separate parameter files ---------------------------------------------------------------------------------- */

static xir_status load_params_of(const loading *l, xir_network *net, const char *path) {
    format_reading how = reading_of(l);
    how.path = path;
    how.name = xir_str_of(path);
    return l->format.load_params(net, &how);
}

static xir_status load_params(const loading *l, xir_network *net) {
    const xir_allocator *alloc = &l->ctx->alloc;
    size_t room = 0;
    char *found = NULL;
    bool lacks, needs_file;
    if (l->o.no_params) return XIR_OK;
    if (l->o.params) return load_params_of(l, net, l->o.params);
    xir_status status = companion_is_needed(&l->format, net, &lacks, &needs_file, l->why);
    if (status) return status;
    if (needs_file && l->path) found = companion_find(alloc, &l->format, l->path, &room, &status);
    if (status) return diag_memory(l->why);
    if (found) status = load_params_of(l, net, found);
    else if (lacks)
        put(l, XIR_WARNING, XIR_OK, "there is no parameter file next to it: the structure alone is read");
    mem_free(alloc, found, room);
    return status;
}

/* Options for parameters alone: the format must be named, and have a separate parameter file. */
static bool begin_params(loading *l, xir_network *net, xir_str name, const xir_load_options *options, xir_diags *why) {
    if (!begin(l, net->ctx, name, options, why)) return false;
    l->status = XIR_E_INVALID;
    if (!l->o.format) {
        put(l, XIR_ERROR, l->status, "the format must be named");
    } else if (!format_named(l->ctx, l->o.format, &l->format, why)) {
        l->status = XIR_E_UNKNOWN;
    } else if (!l->format.params_found) {
        put(l, XIR_ERROR, l->status, "a file of format %s contains its parameters: no parameter file can be named",
            l->format.name);
    } else {
        l->status = XIR_OK;
    }
    if (l->status) l->status = end_status(l, l->status);
    return l->status == XIR_OK;
}

/* The network is in memory: what is listed of each of its Params takes less than it. As many bytes of a file. */
static uint64_t size_of_lists(const xir_network *net) {
    enum { A_PARAMS = 16 };
    return A_PARAMS * (uint64_t)net->n_params;
}

xir_status xir_network_load_params(xir_network *net, const char *path, const xir_load_options *options,
                                   xir_diags *why) {
    if (!net) return diag_null(why, "network");
    loading l;
    if (!begin_params(&l, net, xir_str_of(path), options, why)) return l.status;
    begin_memory(&l, size_of_lists(net));
    task_expect(work_of_params(&l, path));
    return end_params(&l, net, end_memory(&l, load_params_of(&l, net, path)));
}

xir_status xir_network_read_params(xir_network *net, const void *data, size_t size, xir_str name,
                                   const xir_load_options *options, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    loading l;
    if (!begin_params(&l, net, name, options, why)) return l.status;
    const format_reading how = reading_of(&l);
    begin_memory(&l, size + size_of_lists(net));
    return end_params(&l, net, end_memory(&l, l.format.read_params(net, &how, data, size)));
}

/* ---- from bytes ---------------------------------------------------------------------------------------------- */

static xir_status complete(loading *l, const format_reading *how, xir_network *net) {
    xir_status status = spelled_read(net, l->name, l->why);
    if (!status && l->format.params_found) status = load_params(l, net);
    bool claims = l->format.compare_claims && !how->no_params && !how->silent;
    return !status && claims ? l->format.compare_claims(net, how) : status;
}

/* Returns true if a file that is not a text begins as no file of the format does: what its reader says of the first
 * bytes then means nothing. */
static bool is_something_else(const loading *l, const blob *whole) {
    const bool text = l->format.traits & XIR_FORMAT_TEXT;
    return !text && whole->size && l->format.may_begin && !l->format.may_begin(whole->bytes, (size_t)whole->size);
}

/* Adds findings; the first error says first that this is not a file of the format. */
static void say_what_it_is_not(const loading *l, const xir_diags *found) {
    const char *meaning = l->format.meaning;
    bool said = false;
    for (size_t i = 0; i < xir_diags_count(found); i++) {
        xir_diag d = *xir_diags_at(found, i);
        char sentence[600];
        const bool strange = d.code == XIR_E_SYNTAX || d.code == XIR_E_CORRUPT || d.code == XIR_E_BOUNDS;
        if (d.severity == XIR_ERROR && strange && !said) {
            snprintf(sentence, sizeof sentence, "this is not a%s %.*s file: %.*s", strchr("AEIOU", *meaning) ? "n" : "",
                     (int)strcspn(meaning, " "), meaning, CLIP_TO(d.message, 400));
            d.message = xir_str_of(sentence);
        }
        said |= d.severity == XIR_ERROR;
        xir_diags_append(l->why, &d);
    }
}

static xir_network *read_format(loading *l, blob *whole) {
    format_reading how = reading_of(l);
    xir_diags *found = l->why && is_something_else(l, whole) ? xir_diags_new(l->ctx) : NULL;
    if (found) how.why = found;
    xir_network *net = l->format.read(&how, whole);
    if (found && net) diags_append(l->why, found);
    else if (found) say_what_it_is_not(l, found);
    xir_diags_free(found);
    return net;
}

/* Reads the blob, and releases it. */
static xir_network *read_whole(loading *l, blob *whole) {
    const format_reading how = reading_of(l);
    begin_memory(l, whole->size);
    task_decodes(whole->bytes, whole->size);
    xir_network *net = read_format(l, whole);
    task_decoded();
    blob_release(whole);
    if (net && complete(l, &how, net)) {
        xir_network_free(net);
        net = NULL;
    }
    memory_limit_end(&l->memory);
    return net;
}

static xir_network *read_memory(loading *l, const void *data, size_t size) {
    const xir_allocator *alloc = &l->ctx->alloc;
    if (!l->o.lazy && size > l->ctx->limits.max_bytes) {
        put(l, XIR_ERROR, XIR_E_LIMIT, "%zu bytes are more than the limit of %llu", size,
            (unsigned long long)l->ctx->limits.max_bytes);
        return NULL;
    }
    bool borrow = l->o.lazy || l->format.params_found || l->o.no_params;   /* nothing of a structure is kept */
    blob *whole = borrow ? blob_borrow(alloc, data, size, l->o.lazy, NULL, NULL) : blob_new(alloc, size);
    if (!whole) {
        diag_memory(l->why);
        return NULL;
    }
    if (!borrow && !task_copy((void *)(uintptr_t)whole->bytes, data, size)) {
        blob_release(whole);
        return NULL;
    }
    return read_whole(l, whole);
}

xir_network *xir_network_read(xir_context *ctx, const void *data, size_t size, xir_str name,
                              const xir_load_options *options, xir_diags *why) {
    loading l;
    if (!begin(&l, ctx, name, options, why)) return NULL;
    return end_network(&l, choose(&l, data, size, size) ? read_memory(&l, data, size) : NULL);
}

/* ---- from a stream ------------------------------------------------------------------------------------------- */

/* A stream may never end: its beginning is checked before the rest is read. */
static bool reads_on(void *user, const void *head, size_t size) {
    loading *l = user;
    return choose(l, head, size, XIR_NO_BYTE) && format_may_begin(&l->format, head, size, l->name, l->why);
}

static bool read_to_end(loading *l, buffer *all, xir_read_fn *read, void *user) {
    const xir_limits *limits = &l->ctx->limits;
    uint64_t most = limits->max_stream < limits->max_bytes ? limits->max_stream : limits->max_bytes;
    for (bool asked = false;;) {
        if (!buffer_reserve(all, STREAM_HEAD)) {
            diag_memory(l->why);
            return false;
        }
        size_t room = all->room - all->size, n = read(user, all->data + all->size, room);
        if (n > room) {
            put(l, XIR_ERROR, XIR_E_IO,
                n == SIZE_MAX ? "the stream cannot be read" : "the stream returned more bytes than were asked for");
            return false;
        }
        if (n == 0) return true;
        all->size += n;
        if (!task_did(n)) return false;
        if (all->size > most) {
            put(l, XIR_ERROR, XIR_E_LIMIT, "more than %llu bytes come, which is the limit", (unsigned long long)most);
            return false;
        }
        if (!asked && all->size >= STREAM_HEAD && !reads_on(l, all->data, all->size)) return false;
        asked = all->size >= STREAM_HEAD;
    }
}

xir_network *xir_network_read_stream(xir_context *ctx, xir_read_fn *read, void *user, xir_str name,
                                     const xir_load_options *options, xir_diags *why) {
    loading l;
    buffer all;
    blob *whole = NULL;
    if (!begin(&l, ctx, name, options, why)) return NULL;
    buffer_init(&all, &ctx->alloc);
    if (read_to_end(&l, &all, read, user) && choose(&l, all.data, all.size, all.size)) {
        whole = blob_of_buffer(&all);
        if (!whole) diag_memory(why);
    }
    buffer_free(&all);
    return end_network(&l, whole ? read_whole(&l, whole) : NULL);
}

/* ---- from a file --------------------------------------------------------------------------------------------- */

/* The whole of a file of known format, mapped if that is requested and possible. */
static blob *take_regular(const loading *l, file_reader *r) {
    expect_file(l, r->size);
    if (!l->o.lazy || l->format.params_found) return file_reader_all(r, l->ctx->limits.max_bytes);
    return is_watched(l) ? file_reader_map_watched(r) : file_reader_map(r);
}

static blob *take_file(loading *l, file_reader *r) {
    uint8_t head[XIR_PROBE_HEAD];
    blob *whole = NULL;
    if (r->regular) {
        size_t size = r->size < sizeof head ? (size_t)r->size : sizeof head;
        if (file_reader_at(r, 0, head, size) != XIR_OK || !choose(l, head, size, r->size)) return NULL;
        return take_regular(l, r);
    }
    r->reads_on = reads_on;
    r->user = l;
    whole = file_reader_all(r, l->ctx->limits.max_bytes);
    if (!whole || choose(l, whole->bytes, (size_t)whole->size, whole->size)) return whole;
    blob_release(whole);
    return NULL;
}

static bool is_regular(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static xir_network *load_file(loading *l, const char *path) {
    file_reader r;
    if (unfinished_check(l->ctx, path, l->why) || file_reader_open(&r, l->ctx, path, l->why)) return NULL;
    if (r.regular || is_regular(path)) l->path = path;
    blob *whole = take_file(l, &r);
    file_reader_close(&r);
    return whole ? read_whole(l, whole) : NULL;
}

xir_network *xir_network_load(xir_context *ctx, const char *path, const xir_load_options *options, xir_diags *why) {
    loading l;
    if (!begin(&l, ctx, xir_str_of(path), options, why)) return NULL;
    return end_network(&l, load_file(&l, path));
}
