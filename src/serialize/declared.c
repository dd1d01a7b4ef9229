/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formats that programs and plug-ins declare, as rows like the library's. The public structs are filled from the
 * private ones, and the bytes of a file become a blob that Params may keep parts of. */
#include "file.h"
#include "formats.h"
#include "task.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* The fields that both have. Findings about a text go through a separate list, so that they get lines. */
static xir_format_reading reading_of(const format_reading *how, blob *whole, xir_diags *why) {
    unsigned flags = how->no_params ? XIR_READ_NO_PARAMS : 0;
    if (how->lazy) flags |= XIR_READ_LAZY;
    if (how->compare) flags |= XIR_READ_COMPARE;
    if (how->silent) flags |= XIR_READ_SILENT;
    return (xir_format_reading){
        .size = sizeof(xir_format_reading), .flags = flags, .format = how->format->decl, .ctx = how->ctx,
        .data = whole->bytes,
        .data_size = whole->size, .name = how->name, .path = how->path, .why = why, .bytes = whole };
}

/* Adds a finding if a declared function failed without one. `before` is the number of errors before the call. */
static xir_status report_silence(const format *f, xir_str file, xir_status status, size_t before, xir_diags *why) {
    if (!why || xir_diags_count_of(why, XIR_ERROR) > before) return status;
    if (status == XIR_E_MEMORY) return diag_memory(why);
    char sentence[120];
    snprintf(sentence, sizeof sentence, "the format %.60s failed without a finding", f->name);
    return xir_diags_append(why, &(xir_diag){
        .severity = XIR_ERROR, .code = status, .file = file, .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

static xir_network *read_declared(const format_reading *how, blob *whole) {
    bool text = how->format->traits & XIR_FORMAT_TEXT && how->why;
    xir_diags *found = text ? xir_diags_new(how->ctx) : how->why;
    if (text && !found) {
        diag_memory(how->why);
        return NULL;
    }
    const xir_format_reading reading = reading_of(how, whole, found);
    const size_t before = xir_diags_count_of(found, XIR_ERROR);
    xir_network *net = how->format->decl->read(&reading);
    if (!net) (void)report_silence(how->format, how->name, XIR_E_INVALID, before, found);
    if (!text) return net;
    xir_str bytes = { (const char *)whole->bytes, (size_t)whole->size };
    format plain = *how->format;
    plain.find_places = NULL;   /* the paths are the file's, not a network's */
    xir_status status = format_place_findings(how->ctx, &plain, bytes, how->name, found, how->why);
    xir_diags_free(found);
    if (!status) return net;
    xir_network_free(net);
    return NULL;
}

static xir_status read_blob(xir_network *net, const format_reading *how, blob *whole, xir_status status) {
    if (!whole) return status;
    const xir_format_reading reading = reading_of(how, whole, how->why);
    const size_t before = xir_diags_count_of(how->why, XIR_ERROR);
    status = how->format->decl->read_params(net, &reading);
    blob_release(whole);
    return status ? report_silence(how->format, how->name, status, before, how->why) : XIR_OK;
}

static xir_status load_params(xir_network *net, const format_reading *how) {
    file_reader r;
    if (file_reader_open(&r, how->ctx, how->path, how->why) != XIR_OK) return r.status;
    blob *whole = !how->lazy || !r.regular ? file_reader_all(&r, how->ctx->limits.max_bytes)
                : how->watch ? file_reader_map_watched(&r) : file_reader_map(&r);
    file_reader_close(&r);
    return read_blob(net, how, whole, r.status);
}

static xir_status read_params(xir_network *net, const format_reading *how, const void *data, size_t size) {
    const xir_allocator *alloc = &how->ctx->alloc;
    blob *whole = how->lazy ? blob_borrow(alloc, data, size, true, NULL, NULL) : blob_new(alloc, size);
    if (!whole) return diag_memory(how->why);
    if (!how->lazy && !task_copy((void *)(uintptr_t)whole->bytes, data, size)) {
        blob_release(whole);
        return diag_memory(how->why);
    }
    return read_blob(net, how, whole, XIR_OK);
}

xir_status xir_format_set_params(const xir_format_reading *how, xir_value *value, uint64_t offset, uint64_t size) {
    blob *whole = how->bytes;
    uint64_t takes;
    if (!xir_value_is_params(value)) return XIR_E_TYPE;
    if (offset > whole->size || size > whole->size - offset) return XIR_E_BOUNDS;
    const xir_type *type = xir_value_type(value);
    if (type && (xir_type_bytes(type, &takes) != XIR_OK || takes != size)) return XIR_E_TYPE;
    params *p = value_params(value);
    blob *part = blob_part(whole, offset, size);
    if (!part) return XIR_E_MEMORY;
    blob_release(p->data);
    p->data = part;
    p->raw_index = UINT32_MAX;
    return XIR_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Notes whether the write callback stopped: then the callback reports the failure. */
typedef struct watched_write { const format_writing *how; bool stopped; } watched_write;

static bool write_watched(void *user, const void *data, size_t size) {
    watched_write *w = user;
    w->stopped = w->stopped || !w->how->write(w->how->user, data, size);
    return !w->stopped;
}

static xir_format_writing writing_of(const format_writing *how, watched_write *w) {
    unsigned flags = how->no_params ? XIR_WRITE_NO_PARAMS : 0;
    if (how->flags & XIR_SAVE_INDENT) flags |= XIR_WRITE_INDENT;
    if (how->plain) flags |= XIR_WRITE_PLAIN;
    return (xir_format_writing){
        .size = sizeof(xir_format_writing), .flags = flags, .format = how->format->decl, .path = how->path,
        .align = how->align,
        .write = write_watched, .user = w, .why = how->why };
}

typedef xir_status declared_write_fn(xir_network *net, const xir_format_writing *how);

static xir_status write_by(declared_write_fn *write, xir_network *net, const format_writing *how) {
    watched_write w = { .how = how };
    const xir_format_writing writing = writing_of(how, &w);
    const size_t before = xir_diags_count_of(how->why, XIR_ERROR);
    xir_status status = write(net, &writing);
    return status && !w.stopped ? report_silence(how->format, xir_str_of(how->path), status, before, how->why) : status;
}

static xir_status write_declared(xir_network *net, const format_writing *how) {
    return write_by(how->format->decl->write, net, how);
}

static xir_status write_params(xir_network *net, const format_writing *how) {
    return write_by(how->format->decl->write_params, net, how);
}

/* ---- the row --------------------------------------------------------------------------------------------------- */

format format_declared(const xir_format_decl *decl) {
    return (format){
        .name = decl->name, .meaning = decl->doc, .suffixes = decl->suffixes, .traits = decl->traits, .decl = decl,
        .probe = decl->probe, .read = decl->read ? read_declared : NULL, .write = decl->write ? write_declared : NULL,
        .params_found = decl->read_params ? decl->params_found : NULL,
        .params_written = decl->write_params ? decl->params_written : NULL, .makes_params = true,
        .load_params = load_params, .read_params = read_params, .write_params = write_params,
        .find_places = decl->find_places };
}
