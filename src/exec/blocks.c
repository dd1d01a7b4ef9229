/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "blocks.h"

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { STORED_AS_HERE = true };
#else
enum { STORED_AS_HERE = false };
#endif

/* Return true if the elements, numbers of `size` bytes, have the byte order and the alignment of the processor: any of
 * the type; floats with this number of bits of mantissa; signed integers of 64 bits. */
static bool is_here(const tensor_elements *e, const uint8_t *bytes, bool of_type, size_t size) {
    return STORED_AS_HERE && of_type && !e->quantised && bytes && (uintptr_t)bytes % size == 0;
}
static bool is_float(const tensor_elements *e, const uint8_t *bytes, unsigned mantissa, size_t size) {
    return is_here(e, bytes, e->format.kind == ELEMENT_FLOAT && e->format.mantissa == mantissa, size);
}
static bool is_long(const tensor_elements *e, const uint8_t *bytes) {
    return is_here(e, bytes, e->format.kind == ELEMENT_SIGNED && e->format.bits == 64, sizeof(int64_t));
}

bool reader_open(reader *r, xir_kernel *at, size_t i) {
    const kernel_input *in = kernel_open_input(at, i);
    if (!in) return false;
    const uint8_t *bytes = array_bytes(in->array);
    *r = (reader){ .elements = &in->elements, .bytes = bytes, .reals = in->reals, .i64s = in->i64s };
    if (!r->reals && is_float(r->elements, bytes, 52, sizeof *r->reals)) r->reals = (const double *)(const void *)bytes;
    if (!r->i64s && is_long(r->elements, bytes)) r->i64s = (const int64_t *)(const void *)bytes;
    return true;
}

const float *reader_singles(const reader *r) {
    return is_float(r->elements, r->bytes, 23, sizeof(float)) ? (const float *)(const void *)r->bytes : NULL;
}

float *writer_singles(const writer *w) {
    return !w->cut && is_float(w->elements, w->bytes, 23, sizeof(float)) ? (float *)(void *)w->bytes : NULL;
}

bool writer_open(writer *w, xir_kernel *at, size_t i) {
    kernel_output *out = kernel_open_output(at, i);
    if (!out) return false;
    *w = (writer){ .elements = &out->elements, .bytes = array_bytes(out->array), .cut = at->numbers.cut, .inner = 1 };
    return !w->cut || kernel_cut(at, i, &w->n_cuts, &w->inner);
}

/* Multiplies numbers [from, from + n) of the output by their constant factors. */
static void apply_cut(const writer *w, size_t from, size_t n, double *numbers) {
    for (size_t k = 0; k < n;) {
        const double scale = xir_scales_at(w->cut, (from + k) / w->inner % w->n_cuts);
        size_t end = w->n_cuts > 1 ? k + w->inner - (from + k) % w->inner : n;
        if (end > n) end = n;
        for (; k < end; k++) numbers[k] *= scale;
    }
}

void write_reals(const writer *w, size_t from, size_t n, double *numbers) {
    if (w->cut) apply_cut(w, from, n, numbers);
    elements_write_reals(w->elements, w->bytes, from, n, numbers);
}

void copy_numbers(const reader *r, bool real, size_t from, size_t n, number *out) {
    const number *found = read_numbers(r, real, from, n, out);
    if (found != out) memcpy(out, found, n * sizeof *out);
}
