/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The elements of a tensor as numbers: see elements.h. They are converted by the loops of element_loops.h, those of
 * other widths one by one. Quantised ones are the stored numbers, to which scales and zero points are applied. */
#include <math.h>
#include <string.h>
#include <xir/quant.h>
#include "element_loops.h"
#include "object.h"

/* ---- opening --------------------------------------------------------------------------------------------------- */

static xir_status refuse_type(xir_diags *why, const char *sentence) {
    return diag_fail(why, XIR_E_UNSUPPORTED, (xir_str){ 0 }, "%s", sentence);
}

static xir_status open_storage(tensor_elements *e, const xir_type *storage, xir_diags *why) {
    e->format = element_format_of(storage);
    if (e->format.kind != ELEMENT_NONE) return XIR_OK;
    uint64_t bits = xir_type_storage_bits(storage);
    bool wide = bits == 0 || bits > 64;
    return refuse_type(why, wide ? "elements that are not numbers of up to 64 bits" : "elements that are not numbers");
}

/* Makes a row of `count` items along an axis of the type; or of one item for all. */
static xir_status open_row(tensor_elements *e, const xir_type *type, size_t count, int64_t axis, element_row *out,
                           xir_diags *why) {
    *out = (element_row){ .n = 1, .inner = 1 };
    if (count == 0) return XIR_OK;
    if (count > 1) {
        size_t rank = xir_type_rank(type);
        if (axis < 0) axis += (int64_t)rank;
        if (axis < 0 || (uint64_t)axis >= rank || xir_type_dim(type, axis, false) != (int64_t)count) {
            return refuse_type(
                why, "scales, ratios or zero points are not as many as the dim that they lie along has elements");
        }
        for (size_t k = (size_t)axis + 1; k < rank; k++) out->inner *= (size_t)xir_type_dim(type, (int64_t)k, false);
        if (out->inner == 0) return XIR_OK;   // no elements: nobody asks
    }
    out->items = mem_new(e->alloc, count * sizeof *out->items);
    if (!out->items) return diag_memory(why);
    out->n = count;
    return XIR_OK;
}

static xir_status open_quant(tensor_elements *e, const xir_type *type, xir_diags *why) {
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    xir_i64s zeros = xir_type_zero_points(type);
    int64_t axis = scales ? xir_scales_axis(scales) : -1;
    xir_status status = open_row(e, type, scales ? xir_scales_count(scales) : 0, axis, &e->scale, why);
    if (!status) status = open_row(e, type, zeros.size, axis, &e->zero, why);
    if (!status && ratios)
        status = open_row(e, type, xir_norm_ratios_count(ratios), xir_norm_ratios_axis(ratios), &e->ratio, why);
    if (status) return status;
    for (size_t i = 0; e->scale.items && i < e->scale.n; i++) e->scale.items[i] = xir_scales_at(scales, i);
    for (size_t i = 0; e->zero.items && i < e->zero.n; i++) e->zero.items[i] = (double)zeros.data[i];
    for (size_t i = 0; e->ratio.items && i < e->ratio.n; i++) e->ratio.items[i] = xir_norm_ratios_at(ratios, i);
    return XIR_OK;
}

/* The loops give equal numbers. The search for the best ones takes longer than they save for a few elements. */
static const element_loops *loops_of(const xir_type *type) {
    enum { FEW = 16 };
    int64_t n;
    return !xir_type_elements(type, &n) && n < FEW ? element_loops_at(0) : element_loops_now();
}

xir_status elements_open(tensor_elements *e, const xir_allocator *alloc, const xir_type *type, xir_diags *why) {
    *e = (tensor_elements){ .alloc = alloc };
    const xir_type *element = xir_type_element(type);
    if (!element) return refuse_type(why, "a type that is not a tensor");
    e->quantised = xir_type_is_quantized(element);
    xir_status status = open_storage(e, xir_type_storage(element), why);
    e->stored = (uint8_t)element_store_of(e->format);
    e->loops = loops_of(type);
    if (!status && e->quantised) status = open_quant(e, type, why);
    if (status) elements_close(e);
    return status;
}

static void close_row(const tensor_elements *e, element_row *row) {
    mem_free(e->alloc, row->items, row->n * sizeof *row->items);
    row->items = NULL;
}

void elements_close(tensor_elements *e) {
    close_row(e, &e->scale);
    close_row(e, &e->ratio);
    close_row(e, &e->zero);
}

void elements_normalise(tensor_elements *e) { close_row(e, &e->ratio); }
void elements_unscale(tensor_elements *e)   { close_row(e, &e->scale); }

tensor_elements elements_plain(element_format f) {
    return (tensor_elements){ .format = f, .stored = (uint8_t)element_store_of(f), .loops = element_loops_now() };
}

/* ---- many of a tensor ------------------------------------------------------------------------------------------ */

enum { SOME = 256 };   /* elements at once */

static size_t at_most(size_t n, size_t most) { return n < most ? n : most; }
static size_t width_of(const tensor_elements *e) { return e->format.bits / 8; }

/* The items of a row for elements [from, from + n). */
static void read_row(const element_row *row, size_t from, size_t n, double otherwise, double *out) {
    if (!row->items || row->n == 1) {
        for (size_t i = 0; i < n; i++) out[i] = row->items ? row->items[0] : otherwise;
        return;
    }
    for (size_t i = 0, run; i < n; i += run) {
        const size_t k = (from + i) / row->inner % row->n;
        run = at_most(n - i, row->inner == 1 ? row->n - k : row->inner - (from + i) % row->inner);
        for (size_t j = 0; j < run; j++) out[i + j] = row->items[row->inner == 1 ? k + j : k];
    }
}

static double row_at(const element_row *row, size_t i, double otherwise) {
    if (!row->items) return otherwise;
    return row->n == 1 ? row->items[0] : row->items[i / row->inner % row->n];
}

void elements_scales(const tensor_elements *e, size_t from, size_t n, double *out) {
    read_row(&e->scale, from, n, 1, out);
}
void elements_zeros(const tensor_elements *e, size_t from, size_t n, double *out) {
    read_row(&e->zero, from, n, 0, out);
}

typedef struct quantum_room { double factor[SOME], zero[SOME]; } quantum_room;

/* Factors and zero points of at most SOME elements. */
static quantum read_quantum(const tensor_elements *e, size_t from, size_t n, quantum_room *room) {
    const double most = ldexp(1, (int)e->format.bits - (e->format.kind == ELEMENT_SIGNED)) - 1;
    elements_scales(e, from, n, room->factor);
    elements_zeros(e, from, n, room->zero);
    if (e->ratio.items) {
        double ratio[SOME];
        read_row(&e->ratio, from, n, 1, ratio);
        for (size_t i = 0; i < n; i++) room->factor[i] *= ratio[i];
    }
    return (quantum){ room->factor, room->zero, e->format.kind == ELEMENT_SIGNED ? -most : 0, most };
}

void elements_read_stored(const tensor_elements *e, const void *bytes, size_t from, size_t n, double *out) {
    to_reals_fn *loop = n ? e->loops->to_reals[e->stored] : NULL;
    if (loop) loop(e->format, (const uint8_t *)bytes + from * width_of(e), n, out);
    else for (size_t i = 0; i < n; i++) out[i] = element_real(e->format, bytes, from + i);
}

void elements_write_stored(const tensor_elements *e, void *bytes, size_t from, size_t n, const double *in) {
    of_reals_fn *loop = n ? e->loops->of_reals[e->stored] : NULL;
    if (loop) loop(e->format, in, n, (uint8_t *)bytes + from * width_of(e));
    else for (size_t i = 0; i < n; i++) element_put_real(e->format, bytes, from + i, in[i]);
}

void elements_read_reals(const tensor_elements *e, const void *bytes, size_t from, size_t n, double *out) {
    elements_read_stored(e, bytes, from, n, out);
    for (size_t i = 0, some; e->quantised && i < n; i += some) {
        quantum_room room;
        some = at_most(n - i, SOME);
        const quantum q = read_quantum(e, from + i, some, &room);
        e->loops->dequantise(&q, some, out + i);
    }
}

void elements_write_reals(const tensor_elements *e, void *bytes, size_t from, size_t n, const double *in) {
    if (!e->quantised) {
        elements_write_stored(e, bytes, from, n, in);
        return;
    }
    for (size_t i = 0, some; i < n; i += some) {
        quantum_room room;
        double stored[SOME];
        some = at_most(n - i, SOME);
        const quantum q = read_quantum(e, from + i, some, &room);
        if (e->format.kind == ELEMENT_FLOAT) e->loops->rescale(&q, some, in + i, stored);
        else                                 e->loops->quantise(&q, some, in + i, stored);
        elements_write_stored(e, bytes, from + i, some, stored);
    }
}

void elements_read_i64s(const tensor_elements *e, const void *bytes, size_t from, size_t n, int64_t *out) {
    if (elements_are_real(e)) {
        double v[SOME];
        for (size_t i = 0, some; i < n; i += some) {
            some = at_most(n - i, SOME);
            elements_read_reals(e, bytes, from + i, some, v);
            for (size_t k = 0; k < some; k++) out[i + k] = element_cut(v[k]);
        }
        return;
    }
    to_i64s_fn *loop = n ? e->loops->to_i64s[e->stored] : NULL;
    if (loop) loop((const uint8_t *)bytes + from * width_of(e), n, out);
    else for (size_t i = 0; i < n; i++) out[i] = element_i64(e->format, bytes, from + i);
}

void elements_write_i64s(const tensor_elements *e, void *bytes, size_t from, size_t n, const int64_t *in) {
    if (elements_are_real(e)) {
        double v[SOME];
        for (size_t i = 0, some; i < n; i += some) {
            some = at_most(n - i, SOME);
            for (size_t k = 0; k < some; k++)
                v[k] = e->quantised ? (double)in[i + k] : element_of_i64(e->format, in[i + k]);
            elements_write_reals(e, bytes, from + i, some, v);
        }
        return;
    }
    of_i64s_fn *loop = n ? e->loops->of_i64s[e->stored] : NULL;
    if (loop) loop(in, n, (uint8_t *)bytes + from * width_of(e));
    else for (size_t i = 0; i < n; i++) element_put_i64(e->format, bytes, from + i, in[i]);
}

/* ---- many of a tensor, in any order ----------------------------------------------------------------------------- */

#define COPY_AT(size)                                                                            \
    for (size_t i = 0; i < n; i++) {                                                             \
        if (at[i] < 0) memset(out + i * (size), 0, size);                                        \
        else memcpy(out + i * (size), bytes + (base + at[i]) * (size), size);                    \
    }

static void copy_at(size_t width, const uint8_t *restrict bytes, int64_t base, const int64_t *restrict at, size_t n,
                    uint8_t *restrict out) {
    switch (width) {   // a constant size is one move
    case 1:  COPY_AT (1) break;
    case 2:  COPY_AT (2) break;
    case 4:  COPY_AT (4) break;
    default: COPY_AT (8) break;
    }
}

/* At most SOME elements that have loops: they are put next to each other. */
static void read_some_at(const tensor_elements *e, const void *bytes, int64_t base, const int64_t *at, size_t n,
                         double *reals, int64_t *i64s) {
    uint8_t near[SOME * 8];
    copy_at(width_of(e), bytes, base, at, n, near);
    if (i64s) {
        e->loops->to_i64s[e->stored](near, n, i64s);
        return;
    }
    e->loops->to_reals[e->stored](e->format, near, n, reals);
    if (!e->quantised) return;
    for (size_t i = 0; i < n; i++) {
        const size_t k = (size_t)(base + at[i]);
        if (at[i] < 0) reals[i] = 0;
        else reals[i] = (reals[i] - row_at(&e->zero, k, 0)) * (row_at(&e->scale, k, 1) * row_at(&e->ratio, k, 1));
    }
}

void elements_read_reals_at(const tensor_elements *e, const void *bytes, int64_t base, const int64_t *at, size_t n,
                            double *out) {
    for (size_t i = 0, some; n && i < n; i += some) {
        some = at_most(n - i, SOME);
        if (e->loops->to_reals[e->stored]) {
            read_some_at(e, bytes, base, at + i, some, out + i, NULL);
            continue;
        }
        for (size_t k = i; k < i + some; k++) {
            out[k] = 0;
            if (at[k] >= 0) elements_read_reals(e, bytes, (size_t)(base + at[k]), 1, out + k);
        }
    }
}

void elements_read_i64s_at(const tensor_elements *e, const void *bytes, int64_t base, const int64_t *at, size_t n,
                           int64_t *out) {
    const bool has_loop = n && !elements_are_real(e) && e->loops->to_i64s[e->stored];
    for (size_t i = 0, some; i < n; i += some) {
        some = at_most(n - i, SOME);
        if (has_loop) {
            read_some_at(e, bytes, base, at + i, some, NULL, out + i);
            continue;
        }
        for (size_t k = i; k < i + some; k++) {
            out[k] = 0;
            if (at[k] >= 0) elements_read_i64s(e, bytes, (size_t)(base + at[k]), 1, out + k);
        }
    }
}
