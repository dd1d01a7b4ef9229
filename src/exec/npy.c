/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads and writes .npy files. Elements are converted to little-endian and row-major order while reading. Numbers that
 * NumPy has no type for are written as float32, or as the next wider integer. */
#include "npy.h"
#include <stdio.h>
#include "elements.h"
#include "file.h"

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static xir_status fail_at(xir_diags *why, xir_status code, xir_str name, size_t at, const char *sentence) {
    return xir_diags_append(why, &(xir_diag){
        .severity = XIR_ERROR, .code = code, .message = xir_str_of(sentence), .file = name, .byte = at });
}

static const xir_type *element_type(xir_context *ctx, const npy_header *h) {
    if (h->kind == 'b') return xir_type_bool(ctx);
    if (h->kind == 'i') return xir_type_sint(ctx, 8 * (int64_t)h->bytes);
    if (h->kind == 'u') return xir_type_uint(ctx, 8 * (int64_t)h->bytes);
    return xir_type_float(ctx, h->bytes == 2 ? XIR_FLOAT_FP16 : h->bytes == 4 ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64);
}

static void put(const npy_header *h, uint8_t *to, const uint8_t *from) {
    for (unsigned k = 0; k < h->bytes; k++) to[k] = from[h->big_endian ? h->bytes - 1 - k : k];
    if (h->kind == 'b') *to = *to != 0;
}

/* Copies elements in Fortran order: neighbours along dim k are `step[k]` elements of the file apart. */
static void copy_fortran(const npy_header *h, uint8_t *to, const uint8_t *from, size_t n) {
    size_t index[NPY_MOST_DIMS] = { 0 }, step[NPY_MOST_DIMS], at = 0;
    for (size_t k = 0, s = 1; k < h->rank; s *= (size_t)h->dims[k++]) step[k] = s;
    for (size_t i = 0; i < n; i++) {
        put(h, to + i * h->bytes, from + at * h->bytes);
        for (size_t k = h->rank; k-- > 0;) {
            at += step[k];
            if (++index[k] < (size_t)h->dims[k]) break;
            at -= step[k] * (size_t)h->dims[k];
            index[k] = 0;
        }
    }
}

xir_array *xir_array_read_npy(xir_context *ctx, const void *data, size_t size, xir_str name, xir_diags *why) {
    int64_t dims[NPY_MOST_DIMS];
    npy_header h = { .dims = dims };
    npy_fault fault;
    if (!npy_read_header(data, size, &h, &fault)) {
        fail_at(why, fault.status, name, fault.at, fault.sentence);
        return NULL;
    }
    const xir_type *element = element_type(ctx, &h),
                    *type = element ? xir_type_tensor(ctx, element, NULL, dims, h.rank) : NULL;
    xir_array *array = NULL;
    if (!type) {
        diag_memory(why);
        return NULL;
    }
    if (array_raw(ctx, type, NULL, &array, why)) return NULL;
    const uint8_t *from = (const uint8_t *)data + h.data;
    uint8_t *to = array_bytes(array);
    size_t n = array->count;
    if (h.fortran && h.rank > 1) copy_fortran(&h, to, from, n);
    else if (!h.big_endian && h.kind != 'b' && n) memcpy(to, from, n * h.bytes);
    else for (size_t i = 0; i < n; i++) put(&h, to + i * h.bytes, from + i * h.bytes);
    return array;
}

xir_array *xir_array_load_npy(xir_context *ctx, const char *path, xir_diags *why) {
    blob *b = file_read(ctx, path, why);
    if (!b) return NULL;
    xir_array *array = xir_array_read_npy(ctx, b->bytes, (size_t)b->size, xir_str_of(path), why);
    blob_release(b);
    return array;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* The form in which elements of a type are written: unchanged, or converted to another type. */
typedef struct npy_written {
    char     descr[8];
    unsigned bytes;
    bool     as_they_are, as_reals;
} npy_written;

static void choose(const tensor_elements *e, npy_written *w) {
    element_format f = e->format;
    bool whole = !e->quantised && (f.bits == 8 || f.bits == 16 || f.bits == 32 || f.bits == 64);
    bool known = f.kind != ELEMENT_FLOAT || (f.bits == 16 && f.exponent == 5) || f.mantissa == 23 || f.bits == 64;
    w->as_they_are = whole && known;
    w->as_reals = elements_are_real(e);
    w->bytes = f.bits <= 8 ? 1 : f.bits <= 16 ? 2 : f.bits <= 32 ? 4 : 8;
    if (w->as_reals && !w->as_they_are) w->bytes = 4;
    char kind = w->as_reals ? 'f' : f.kind == ELEMENT_BOOL ? 'b' : f.kind == ELEMENT_SIGNED ? 'i' : 'u';
    snprintf(w->descr, sizeof w->descr, "%c%c%u", w->bytes == 1 ? '|' : '<', kind, w->bytes);
}

/* Writes version 1. Blanks after the dict align the elements to a multiple of 64. */
static bool write_header(file_writer *f, const xir_type *type, const npy_written *w) {
    buffer b;
    buffer_init(&b, context_alloc(f->ctx));
    size_t rank = xir_type_rank(type);
    buffer_put(&b, "\x93NUMPY\x01\x00\x00\x00", 10);
    buffer_str(&b, "{'descr': '");
    buffer_str(&b, w->descr);
    buffer_str(&b, "', 'fortran_order': False, 'shape': (");
    for (size_t k = 0; k < rank; k++) {
        char dim[32];
        snprintf(dim, sizeof dim, "%s%lld", k ? ", " : "", (long long)xir_type_dim(type, (int64_t)k, false));
        buffer_str(&b, dim);
    }
    if (rank == 1) buffer_char(&b, ',');   // makes it a tuple, not a number in parentheses
    buffer_str(&b, "), }");
    while ((b.size + 1) % 64 && !b.failed) buffer_char(&b, ' ');
    buffer_char(&b, '\n');
    bool good = !b.failed && b.size - 10 <= UINT16_MAX;
    if (good) {
        b.data[8] = (char)((b.size - 10) & 0xff);
        b.data[9] = (char)((b.size - 10) >> 8);
        good = file_write(f, b.data, b.size);
    } else if (!f->status) {
        f->status = b.failed ? diag_memory(f->why) : file_fail(f->why, XIR_E_LIMIT, f->path, XIR_NO_BYTE,
                                                               "the type has %zu dims, which do not fit the header",
                                                               rank);
    }
    buffer_free(&b);
    return good;
}

static bool write_elements(file_writer *f, const xir_array *array, const tensor_elements *e, const npy_written *w) {
    enum { AT_ONCE = 512 };
    size_t size;
    const void *data = xir_array_data(array, &size);
    if (size == 0) return true;
    if (w->as_they_are) return file_write(f, data, size);
    const tensor_elements plain = elements_plain((element_format){
        .kind = w->as_reals ? ELEMENT_FLOAT : e->format.kind, .bits = (uint8_t)(8 * w->bytes), .exponent = 8,
        .mantissa = w->as_reals ? 23 : 0 });
    for (size_t from = 0; from < array->count; from += AT_ONCE) {
        size_t n = array->count - from < AT_ONCE ? array->count - from : AT_ONCE;
        double reals[AT_ONCE];
        int64_t whole[AT_ONCE];
        uint8_t bytes[AT_ONCE * 8];
        if (w->as_reals) {
            elements_read_reals(e, data, from, n, reals);
            elements_write_reals(&plain, bytes, 0, n, reals);
        } else {
            elements_read_i64s(e, data, from, n, whole);
            elements_write_i64s(&plain, bytes, 0, n, whole);
        }
        if (!file_write(f, bytes, n * w->bytes)) return false;
    }
    return true;
}

xir_status xir_array_save_npy(const xir_array *array, const char *path, xir_diags *why) {
    tensor_elements e;
    npy_written w;
    file_writer f;
    xir_status status = elements_open(&e, &array->ctx->alloc, array->type, why);
    if (status) return status;
    choose(&e, &w);
    status = file_open(&f, array->ctx, path, why);
    if (!status && write_header(&f, array->type, &w) && write_elements(&f, array, &e, &w)) status = file_commit(&f);
    else if (!status) {
        status = f.status;
        file_abort(&f);
    }
    elements_close(&e);
    return status;
}
