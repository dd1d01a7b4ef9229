/* Loading, whatever the format is. Bytes come from a file, from memory or from a stream, into one blob; the format is told by
 * the first of them; its reader makes the network, whose Params keep parts of the blob. Of a pair the blob is the structure alone
 * and is let go, and the parameters come from the raw file beside it.
 *
 * What can be asked only once is read to its end before anything is decided: a pipe is never opened twice and never sized. */
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include "formats.h"
#include "raw/payload.h"
#include "sized.h"

typedef struct loading {
    xir_context      *ctx;
    xir_load_options  o;
    xir_diags        *why;
    xir_str           name;      /* in findings                                     */
    const char       *path;      /* of a regular file, which others may lie beside; NULL */
    const format     *format;
} loading;

static void put(const loading *l, xir_severity severity, xir_status code, const char *sentence, ...) XIR_PRINTF(4, 5);
static void put(const loading *l, xir_severity severity, xir_status code, const char *sentence, ...) {
    char text[400];
    va_list args;
    va_start(args, sentence);
    int n = vsnprintf(text, sizeof text, sentence, args);
    va_end(args);
    if (n < 0) text[0] = '\0';
    xir_diags_put(l->why, &(xir_diag){
        .severity = severity, .code = code, .message = xir_str_of(text), .file = l->name, .byte = XIR_NO_BYTE });
}

/* ---- options ------------------------------------------------------------------------------------------------- */

static bool begin(loading *l, xir_context *ctx, xir_str name, const xir_load_options *options, xir_diags *why) {
    *l = (loading){ .ctx = ctx, .why = why, .name = name };
    if (sized_take(SIZED(xir_load_options, verify), &l->o, options, why) != XIR_OK) return false;
    if (l->o.verify > XIR_VERIFY_FULL) {
        put(l, XIR_ERROR, XIR_E_INVALID, "there is no level of verification %d", (int)l->o.verify);
        return false;
    }
    if (l->o.params && l->o.no_params) {
        put(l, XIR_ERROR, XIR_E_INVALID, "a file of parameters is named, and the structure alone is asked for");
        return false;
    }
    if (l->o.verify == XIR_VERIFY_DEFAULT) l->o.verify = l->o.lazy ? XIR_VERIFY_HEADER : XIR_VERIFY_FULL;
    return true;
}

/* As the caller says, by content, by name. */
static bool choose(loading *l, const void *head, size_t size) {
    if (l->o.format) {
        if (!(l->format = format_named(l->o.format, l->why))) return false;
    } else {
        l->format = format_of_head(head, size);
        if (!l->format) l->format = format_of_name(l->name);
    }
    if (!l->format && size == 0)
        put(l, XIR_ERROR, XIR_E_UNKNOWN, "the file is empty");
    else if (!l->format)
        put(l, XIR_ERROR, XIR_E_UNKNOWN, "neither content nor name tells the format; there are %s", format_words().text);
    else if (!l->format->read)
        put(l, XIR_ERROR, XIR_E_UNSUPPORTED, "files of format %s cannot be read", l->format->word);
    else if (l->o.params && !l->format->pair)
        put(l, XIR_ERROR, XIR_E_INVALID, "a file of format %s has its parameters inside: none can be named", l->format->word);
    else return true;
    return false;
}

/* ---- parameters of a pair ------------------------------------------------------------------------------------ */

/* Whether there is something under this name, even if it cannot be looked at: then opening it will say why. */
static bool is_there(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
}

/* X.raw or X.params; NULL if there is neither, with *status if there is no memory. */
static char *find_beside(const xir_allocator *alloc, const char *path, size_t *room, xir_status *status) {
    static const char *const suffixes[] = { "raw", "params" };
    for (int i = 0; i < 2; i++) {
        char *raw = path_beside(alloc, path, suffixes[i], room);
        if (!raw) {
            *status = XIR_E_MEMORY;
            return NULL;
        }
        if (strcmp(raw, path) != 0 && is_there(raw)) return raw;
        mem_free(alloc, raw, *room);
    }
    return NULL;
}

size_t xir_raw_beside(const char *json_path, char *out, size_t room) {
    size_t taken = 0, size = 0;
    xir_status status = XIR_OK;
    char *raw = find_beside(&memory_default, json_path, &taken, &status);
    if (!raw) return 0;
    size = strlen(raw);
    if (size < room) memcpy(out, raw, size + 1);
    mem_free(&memory_default, raw, taken);
    return size;
}

static bool lacks_none(void *user, xir_value *v) {
    if (xir_params_has_data(v) || xir_params_allow_no_data(v)) return true;
    *(bool *)user = true;
    return false;
}

static xir_status load_raw(loading *l, xir_network *net, const char *path) {
    unsigned flags = RAW_ANY;
    if (l->o.lazy) flags |= XIR_LOAD_LAZY;
    if (l->o.verify == XIR_VERIFY_FULL) flags |= XIR_LOAD_MD5;
    else flags |= XIR_LOAD_NO_MD5;
    if (l->o.verify == XIR_VERIFY_ON_TOUCH) flags |= RAW_WATCH;
    if (l->o.verify == XIR_VERIFY_NEVER) flags |= RAW_SILENT;
    return raw_load(net, path, flags, l->why);
}

static xir_status load_params(loading *l, xir_network *net) {
    const xir_allocator *alloc = &l->ctx->alloc;
    xir_status status = XIR_OK;
    size_t room = 0;
    char *beside = NULL;
    if (l->o.no_params) return XIR_OK;
    if (!l->o.params && l->path) beside = find_beside(alloc, l->path, &room, &status);
    if (status) return diag_memory(l->why);
    const char *path = beside ? beside : l->o.params;
    bool lacks = false;
    if (path) status = load_raw(l, net, path);
    else if (!net_walk_params(net, lacks_none, &lacks) && !lacks) status = diag_memory(l->why);
    else if (lacks)
        put(l, XIR_WARNING, XIR_OK, "there is no parameter file beside it: the structure alone is taken");
    mem_free(alloc, beside, room);
    return status;
}

/* Of parameters that came with their structure: whether it says how many bytes their raw file would have. */
static xir_status compare_size(const loading *l, xir_network *net) {
    if (!net->params_bytes) return XIR_OK;
    raw_listing raw = { .wide_ids = true };
    xir_status status = raw_plan(&raw, net, "", NULL);
    if (status == XIR_OK && raw.n && raw.total != net->params_bytes)
        put(l, XIR_WARNING, XIR_OK, "params_bytes is %llu, the parameters make a raw file of %llu",
            (unsigned long long)net->params_bytes, (unsigned long long)raw.total);
    raw_list_free(&raw);
    return status == XIR_E_MEMORY ? diag_memory(l->why) : XIR_OK;
}

/* ---- from bytes ---------------------------------------------------------------------------------------------- */

/* Reads what is in the blob, and lets it go. */
static xir_network *read_whole(loading *l, blob *whole) {
    const format_reading how = {
        .ctx = l->ctx, .name = l->name, .path = l->path, .lazy = l->o.lazy, .watch = l->o.verify == XIR_VERIFY_ON_TOUCH,
        .no_params = l->o.no_params, .compare = l->o.verify == XIR_VERIFY_FULL, .why = l->why };
    xir_network *net = l->format->read(&how, whole);
    blob_release(whole);
    if (!net) return NULL;
    xir_status status = l->format->pair ? load_params(l, net)
                      : l->o.no_params || l->o.verify == XIR_VERIFY_NEVER ? XIR_OK : compare_size(l, net);
    if (status == XIR_OK) return net;
    xir_network_free(net);
    return NULL;
}

static xir_network *read_memory(loading *l, const void *data, size_t size) {
    const xir_allocator *alloc = &l->ctx->alloc;
    if (!l->o.lazy && size > l->ctx->limits.max_bytes) {
        put(l, XIR_ERROR, XIR_E_LIMIT, "%zu bytes are more than the limit of %llu", size,
            (unsigned long long)l->ctx->limits.max_bytes);
        return NULL;
    }
    bool borrow = l->o.lazy || l->format->pair || l->o.no_params;   /* of a structure nothing is kept */
    blob *whole = borrow ? blob_borrow(alloc, data, size, l->o.lazy, NULL, NULL) : blob_new(alloc, size);
    if (!whole) {
        diag_memory(l->why);
        return NULL;
    }
    if (!borrow && size) memcpy((void *)(uintptr_t)whole->bytes, data, size);
    return read_whole(l, whole);
}

xir_network *xir_network_read(xir_context *ctx, const void *data, size_t size, xir_str name, const xir_load_options *options,
                              xir_diags *why) {
    loading l;
    return begin(&l, ctx, name, options, why) && choose(&l, data, size) ? read_memory(&l, data, size) : NULL;
}

/* ---- from a stream ------------------------------------------------------------------------------------------- */

enum { STREAM_PIECE = 256 << 10 };

static bool read_to_end(loading *l, buffer *all, xir_read_fn *read, void *user) {
    uint64_t most = l->ctx->limits.max_bytes;
    for (;;) {
        if (!buffer_reserve(all, STREAM_PIECE)) {
            diag_memory(l->why);
            return false;
        }
        size_t room = all->room - all->size, n = read(user, all->data + all->size, room);
        if (n > room) {
            put(l, XIR_ERROR, XIR_E_IO,
                n == SIZE_MAX ? "the stream cannot be read" : "the stream gives more than there is room for");
            return false;
        }
        if (n == 0) return true;
        all->size += n;
        if (all->size > most) {
            put(l, XIR_ERROR, XIR_E_LIMIT, "more than %llu bytes come, which is the limit", (unsigned long long)most);
            return false;
        }
    }
}

/* The bytes of a stream stay where they were read, as long as parts of them are in use. */
static void release_buffer(void *user, const void *data) {
    (void)data;
    buffer *all = user;
    xir_allocator alloc = *all->alloc;
    buffer own = *all;
    own.alloc = &alloc;
    buffer_free(&own);
    mem_free(&alloc, all, sizeof *all + sizeof alloc);
}

static blob *blob_of_buffer(loading *l, buffer *all) {
    const xir_allocator *alloc = &l->ctx->alloc;
    buffer *kept = mem_new(alloc, sizeof *kept + sizeof *alloc);
    if (!kept) return NULL;
    xir_allocator *own = (xir_allocator *)(void *)(kept + 1);   /* parts may outlive the context */
    *own = *alloc;
    *kept = *all;
    kept->alloc = own;
    blob *b = blob_borrow(alloc, all->data, all->size, false, release_buffer, kept);
    if (!b) mem_free(alloc, kept, sizeof *kept + sizeof *alloc);
    else buffer_init(all, alloc);
    return b;
}

xir_network *xir_network_read_stream(xir_context *ctx, xir_read_fn *read, void *user, xir_str name,
                                     const xir_load_options *options, xir_diags *why) {
    loading l;
    buffer all;
    blob *whole = NULL;
    if (!begin(&l, ctx, name, options, why)) return NULL;
    buffer_init(&all, &ctx->alloc);
    if (read_to_end(&l, &all, read, user) && choose(&l, all.data, all.size)) {
        whole = blob_of_buffer(&l, &all);
        if (!whole) diag_memory(why);
    }
    buffer_free(&all);
    return whole ? read_whole(&l, whole) : NULL;
}

/* ---- from a file --------------------------------------------------------------------------------------------- */

/* The whole of a file whose format is known, mapped if that is wanted and can be. */
static blob *take_regular(const loading *l, file_reader *r) {
    if (!l->o.lazy || l->format->pair) return file_reader_all(r, l->ctx->limits.max_bytes);
    return l->o.verify == XIR_VERIFY_ON_TOUCH ? file_reader_map_watched(r) : file_reader_map(r);
}

static blob *take_file(loading *l, file_reader *r) {
    uint8_t head[FORMAT_HEAD];
    blob *whole = NULL;
    if (r->regular) {
        size_t size = r->size < sizeof head ? (size_t)r->size : sizeof head;
        if (file_reader_at(r, 0, head, size) != XIR_OK || !choose(l, head, size)) return NULL;
        return take_regular(l, r);
    }
    whole = file_reader_all(r, l->ctx->limits.max_bytes);
    if (!whole || choose(l, whole->bytes, whole->size < FORMAT_HEAD ? (size_t)whole->size : FORMAT_HEAD)) return whole;
    blob_release(whole);
    return NULL;
}

static bool is_regular(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

xir_network *xir_network_load(xir_context *ctx, const char *path, const xir_load_options *options, xir_diags *why) {
    loading l;
    file_reader r;
    if (!begin(&l, ctx, xir_str_of(path), options, why) || file_reader_open(&r, ctx, path, why) != XIR_OK) return NULL;
    if (r.regular || is_regular(path)) l.path = path;
    blob *whole = take_file(&l, &r);
    file_reader_close(&r);
    return whole ? read_whole(&l, whole) : NULL;
}

/* ---- one format ---------------------------------------------------------------------------------------------- */

static xir_network *load_as(xir_context *ctx, const char *word, const char *path, unsigned flags, xir_diags *why) {
    bool lazy = flags & XIR_LOAD_LAZY;
    const xir_load_options options = XIR_INIT(xir_load_options,
        .format = word, .lazy = lazy,
        .verify = flags & XIR_LOAD_MD5 ? XIR_VERIFY_FULL : flags & XIR_LOAD_NO_MD5 ? XIR_VERIFY_HEADER : XIR_VERIFY_DEFAULT);
    return xir_network_load(ctx, path, &options, why);
}

xir_network *xir_msg_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why) {
    return load_as(ctx, "imodel", path, flags, why);
}

xir_network *xir_flat_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why) {
    return load_as(ctx, "fb", path, flags, why);
}
