/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Weights: parts of the file, or of files that it names, and the Params that own them. Making a part touches no byte: a
 * mapping is read when and where the data is used. */
#include <stdio.h>
#include "dialect/dialect.h"

/* ---- parts of a blob ------------------------------------------------------------------------------------------- */

enum { PARTS_FIRST = 16, PARTS_MOST = 4096 };

static bool add_keeper(dialect *d, dialect_parts *p) {
    size_t n = p->next ? p->next : PARTS_FIRST;
    blob *keeper = blob_new(d->alloc, n * sizeof(blob));
    if (!keeper) return trace_memory(&d->trace);
    keeper->parent = p->whole;
    blob_retain(p->whole);
    blob_retain_many(keeper, n);   /* for all its heads; unused ones are released at the end */
    blob_release(p->keeper);
    p->keeper = keeper;
    p->left = n;
    p->next = n < PARTS_MOST ? 2 * n : n;
    return true;
}

void dialect_parts_free(dialect_parts *p) {
    if (p->keeper) atomic_fetch_sub_explicit(&p->keeper->references, p->left, memory_order_relaxed);
    blob_release(p->keeper);
}

static bool holds(dialect *d, const dialect_parts *p, uint64_t offset, uint64_t size) {
    uint64_t all = p->whole->size;
    return (offset <= all && size <= all - offset) ||
           DIALECT_FAIL(d, XIR_NO_BYTE, XIR_E_CORRUPT,
                        "%" PRIu64 " bytes from %" PRIu64 " on reach beyond the end, at %" PRIu64, size, offset, all);
}

blob *dialect_part(dialect *d, dialect_parts *parts, uint64_t offset, uint64_t size) {
    dialect_parts *p = parts ? parts : &d->parts;
    if (dialect_failed(d) || !holds(d, p, offset, size) || (!p->left && !add_keeper(d, p))) return NULL;
    blob *head = (blob *)(void *)(uintptr_t)p->keeper->bytes + --p->left;
    blob_part_in(head, p->keeper, p->whole, offset, size);
    return head;
}

/* ---- files that the file names --------------------------------------------------------------------------------- */

static void begin_files(dialect *d) {
    d->files = (named_files){ .ctx = d->ctx, .alloc = d->alloc, .path = d->how->path, .lazy = d->how->lazy,
                              .watch = d->how->watch, .most = d->ctx->limits.max_bytes, .why = d->how->why };
    named_files_begin(&d->files);
    d->has_files = true;
}

dialect_parts *dialect_file(dialect *d, xir_str location, named_fault *fault) {
    *fault = (named_fault){ .status = XIR_E_MEMORY };
    if (dialect_failed(d)) {
        fault->status = d->trace.status;
        return NULL;
    }
    if (!d->has_files) begin_files(d);
    size_t n = d->file_parts.size;
    dialect_parts *made = dialect_add(d, &d->file_parts, sizeof *made);   /* reserve first, so that both lists agree */
    if (!made) return NULL;
    d->file_parts.size = n;
    int64_t i = named_files_find(&d->files, location, fault);
    if (i < 0) return NULL;
    if ((size_t)i == n) {
        *made = (dialect_parts){ .whole = d->files.files[i].whole };
        d->file_parts.size = n + 1;
    }
    return (dialect_parts *)d->file_parts.data + i;
}

bool dialect_no_file(dialect *d, uint64_t byte, const named_fault *fault, const char *what, ...) {
    if (dialect_failed(d)) return false;
    if (fault->status == XIR_E_MEMORY) return trace_memory(&d->trace);
    if (fault->folder) return DIALECT_FAIL(d, XIR_NO_BYTE, fault->status, "%s", fault->what);
    if (!fault->what[0]) {
        d->trace.status = fault->status;   /* the finding exists */
        return false;
    }
    char text[256];
    va_list args;
    va_start(args, what);
    text_vprint(text, sizeof text, what, args);
    va_end(args);
    return DIALECT_FAIL(d, byte, fault->status, "%s: %s", text, fault->what);
}

/* ---- Params ---------------------------------------------------------------------------------------------------- */

xir_value *dialect_params(dialect *d, xir_str name, const xir_type *type, blob *data) {
    int64_t elements = 0;
    if (!dialect_failed(d) && xir_type_as_tensor(type) && xir_type_elements(type, &elements) == XIR_OK &&
        (uint64_t)elements > d->ctx->limits.max_elements)
        DIALECT_FAIL(d, XIR_NO_BYTE, XIR_E_LIMIT, "'%.*s' has %" PRId64 " elements: the limit is %" PRIu64, CLIP(name),
                     elements, d->ctx->limits.max_elements);
    xir_value *v = dialect_failed(d) ? NULL : params_make(d->net, type);
    if (!v || !dialect_name_value(d, v, name)) {
        blob_release(data);
        trace_memory(&d->trace);
        return NULL;
    }
    value_params(v)->data = data;
    return v;
}

bool dialect_constant_ref(dialect *d, xir_value *v, dialect_ref ref) {
    return v && (dialect_is_nothing(ref) ? !dialect_failed(d) : dialect_define(d, v, ref));
}

bool dialect_constant(dialect *d, xir_value *v) {
    return v && dialect_constant_ref(d, v, dialect_name(d, name_text(value_more_of(v)->name)));
}

bool dialect_any_params(dialect *d, xir_value *v, xir_any *out) {
    if (!v || dialect_failed(d)) return false;
    v->id = d->net->next_value_id++;
    *out = (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = v };
    return true;
}
