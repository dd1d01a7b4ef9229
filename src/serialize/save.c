/* Saving, whatever the format is: the options are judged and the network validated before a file is made, so that what is
 * refused leaves none; the format writes into a temporary file, which then takes the name at once. A file that the network is
 * mapped from can be saved over: the mapping keeps the old one. */
#include <stdarg.h>
#include "file.h"
#include "formats.h"
#include "sized.h"

enum { USUAL_ALIGN = 4096, MOST_ALIGN = 1 << 30 };

typedef struct saving {
    xir_network      *net;
    xir_save_options  o;
    xir_diags        *why;
    const char       *path;      /* NULL: a writer */
    const format     *format;
} saving;

static bool refuse(const saving *s, xir_status *status, xir_status code, const char *sentence, ...) XIR_PRINTF(4, 5);
static bool refuse(const saving *s, xir_status *status, xir_status code, const char *sentence, ...) {
    char text[400];
    va_list args;
    va_start(args, sentence);
    int n = vsnprintf(text, sizeof text, sentence, args);
    va_end(args);
    if (n < 0) text[0] = '\0';
    *status = file_fail(s->why, code, s->path ? s->path : "", XIR_NO_BYTE, "%s", text);
    return false;
}

static bool has_bytes(void *user, xir_value *v) {
    if (!value_params(v)->data) return true;
    *(bool *)user = true;
    return false;
}

static bool choose(saving *s, xir_status *status) {
    if (s->o.format) {
        s->format = format_named(s->o.format, s->why);
        if (!s->format) *status = XIR_E_UNKNOWN;
    } else if (s->path) {
        s->format = format_of_name(xir_str_of(s->path));
        if (!s->format)
            refuse(s, status, XIR_E_UNKNOWN, "the name does not tell the format; there are %s", format_words().text);
    } else {
        refuse(s, status, XIR_E_INVALID, "who writes to a function must say the format: %s", format_words().text);
    }
    return s->format;
}

static bool begin(saving *s, const xir_save_options *options, xir_status *status) {
    *status = sized_take(SIZED(xir_save_options, align), &s->o, options, s->why);
    if (*status || !choose(s, status)) return false;
    if (!s->format->write)
        return refuse(s, status, XIR_E_UNSUPPORTED, "files of format %s cannot be written", s->format->word);
    if (s->o.params && !s->format->pair)
        return refuse(s, status, XIR_E_INVALID, "a file of format %s has its parameters inside: no other can be named",
                      s->format->word);
    if (s->o.params && !s->path)
        return refuse(s, status, XIR_E_INVALID, "only the structure goes to a function: xir_raw_save writes the parameters");
    if (s->o.params && s->o.no_params)
        return refuse(s, status, XIR_E_INVALID, "a file for the parameters is named, and the structure alone is asked for");
    if (!s->o.align) s->o.align = USUAL_ALIGN;
    if (s->o.align & (s->o.align - 1) || s->o.align > MOST_ALIGN)
        return refuse(s, status, XIR_E_INVALID, "parameters are aligned to a power of two up to 2^30, not to %u", s->o.align);
    *status = s->o.unchecked ? XIR_OK : xir_network_validate(s->net, s->why);
    return *status == XIR_OK;
}

static xir_status write_all(const saving *s, xir_write_fn *write, void *user) {
    const format_writing how = {
        .path = s->path ? s->path : "", .flags = s->o.indent ? XIR_SAVE_INDENT : 0, .align = s->o.align,
        .no_params = s->o.no_params, .write = write, .user = user, .why = s->why };
    return s->format->write(s->net, &how);
}

static xir_status save_one(const saving *s) {
    file_writer w;
    xir_status status = file_open(&w, s->net->ctx, s->path, s->why);
    if (status) return status;
    status = write_all(s, file_write, &w);
    if (status == XIR_OK) return file_commit(&w);
    if (w.status) status = w.status;   /* why it stopped */
    file_abort(&w);
    return status;
}

/* The structure, and the parameters if there are any. */
static xir_status save_pair(const saving *s) {
    bool any = s->o.params;
    if (!any && !s->o.no_params && !net_walk_params(s->net, has_bytes, &any) && !any) return diag_memory(s->why);
    if (s->o.no_params || !any) return save_one(s);
    const xir_allocator *alloc = &s->net->ctx->alloc;
    size_t room = 0;
    char *beside = s->o.params ? NULL : path_beside(alloc, s->path, "raw", &room);
    const char *raw = beside ? beside : s->o.params;
    if (!raw) return diag_memory(s->why);
    unsigned flags = XIR_SAVE_UNCHECKED | (s->o.indent ? (unsigned)XIR_SAVE_INDENT : 0);
    xir_status status = xir_json_raw_save(s->net, s->path, raw, flags, s->why);
    mem_free(alloc, beside, room);
    return status;
}

xir_status xir_network_save(xir_network *net, const char *path, const xir_save_options *options, xir_diags *why) {
    saving s = { .net = net, .why = why, .path = path };
    xir_status status = XIR_OK;
    if (!begin(&s, options, &status)) return status;
    return s.format->pair ? save_pair(&s) : save_one(&s);
}

xir_status xir_network_write(xir_network *net, xir_write_fn *write, void *user, const xir_save_options *options,
                             xir_diags *why) {
    saving s = { .net = net, .why = why };
    xir_status status = XIR_OK;
    return begin(&s, options, &status) ? write_all(&s, write, user) : status;
}

/* ---- one format ---------------------------------------------------------------------------------------------- */

static xir_status save_as(xir_network *net, const char *word, const char *path, unsigned flags, xir_diags *why) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = word,
                                              .unchecked = flags & XIR_SAVE_UNCHECKED);
    return xir_network_save(net, path, &options, why);
}

xir_status xir_msg_save(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    return save_as(net, "imodel", path, flags, why);
}

xir_status xir_flat_save(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    return save_as(net, "fb", path, flags, why);
}
