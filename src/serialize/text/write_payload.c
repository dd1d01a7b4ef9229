/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes of Params: as numbers if these are read back as the same bytes, otherwise as hexadecimal digits. */
#include <math.h>
#include "elements.h"
#include "number.h"
#include "task.h"
#include "text/writer.h"

typedef struct numbers { element_format format; const uint8_t *bytes; size_t n, size; } numbers;

/* Elements of whole bytes whose text is exact. */
static bool has_numbers(numbers *all, const xir_type *type) {
    int64_t n;
    uint64_t size;
    const element_format f = all->format = element_format_of(type);
    const bool whole = f.bits == 8 || f.bits == 16 || f.bits == 32 || f.bits == 64;
    if (!whole || (f.kind == ELEMENT_FLOAT && f.bits == 32 && f.mantissa != 23)) return false;
    if (xir_type_elements(type, &n) || xir_type_bytes(type, &size) || size != all->size) return false;
    all->n = (size_t)n;
    if (f.kind != ELEMENT_BOOL) return true;
    for (size_t i = 0; i < all->n; i++) if (all->bytes[i] > 1) return false;
    return f.bits == 8;
}

static uint64_t bits_at(const numbers *all, size_t i) {
    const size_t size = all->format.bits / 8u;
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++) bits |= (uint64_t)all->bytes[i * size + k] << 8 * k;
    return bits;
}

/* NaN with the bits of the canonical one is `nan`; others have their bits. */
static size_t put_nan(const numbers *all, size_t i, char *out) {
    const element_format f = all->format;
    const uint64_t bits = bits_at(all, i), usual = (((UINT64_C(2) << f.exponent) - 1) << f.mantissa) >> 1;
    if (bits == (usual & ~((UINT64_C(1) << (f.mantissa - 1)) - 1))) return (size_t)snprintf(out, NUMBER_ROOM, "nan");
    return (size_t)snprintf(out, NUMBER_ROOM, "nan(0x%0*llx)", f.bits / 4, (unsigned long long)bits);
}

static size_t put_number(const numbers *all, size_t i, char *out) {
    const element_format f = all->format;
    if (f.kind != ELEMENT_FLOAT) {
        if (f.kind == ELEMENT_UNSIGNED && f.bits == 64) return number_put_u64(out, bits_at(all, i));
        return number_put_i64(out, element_i64(f, all->bytes, i));
    }
    const double v = element_real(f, all->bytes, i);
    if (isnan(v)) return put_nan(all, i, out);
    if (isinf(v)) return (size_t)snprintf(out, NUMBER_ROOM, v < 0 ? "-inf" : "inf");
    return f.bits == 64 ? number_put_real(out, v) : number_put_f32(out, (float)v);
}

static bool all_equal(const numbers *all) {
    const size_t size = all->format.bits / 8u;
    return all->n > 1 && memcmp(all->bytes, all->bytes + size, (all->n - 1) * size) == 0;
}

static void put_numbers(text_writer *w, const numbers *all) {
    const size_t n = all_equal(all) ? 1 : all->n;
    text_put(w, n < all->n ? "splat " : "[");
    for (size_t i = 0; i < n && !w->sink.status; i++) {
        if (i % 1024 == 0 && !task_worked(8 << 10)) text_fail(w, XIR_E_MEMORY);
        if (i) {
            buffer_char(&w->out, ',');
            text_may_break(w, GROUP_FILL);
        }
        if (buffer_reserve(&w->out, NUMBER_ROOM)) w->out.size += put_number(all, i, w->out.data + w->out.size);
        else text_fail(w, XIR_E_MEMORY);
    }
    if (n == all->n) buffer_char(&w->out, ']');
}

static void put_hex(text_writer *w, const uint8_t *bytes, size_t size) {
    enum { PIECE = 64 };
    static const char digits[] = "0123456789abcdef";
    text_put(w, "x");
    for (size_t from = 0; (from < size || !from) && !w->sink.status; from += PIECE) {
        const size_t n = size - from < PIECE ? size - from : PIECE;
        if (from) text_may_break(w, GROUP_FILL);
        if (!buffer_reserve(&w->out, 2 * n + 3)) break;
        char *p = w->out.data + w->out.size;
        *p++ = ' ';
        *p++ = '"';
        for (size_t i = 0; i < n; i++) {
            *p++ = digits[bytes[from + i] >> 4];
            *p++ = digits[bytes[from + i] & 15];
        }
        *p = '"';
        w->out.size += 2 * n + 3;
    }
}

void text_put_payload(text_writer *w, const xir_value *v) {
    const blob *b = value_params(v)->data;
    const bool optional = value_params(v)->allow_no_data, inside = b && w->is_inline && w->has_bytes && !w->is_part;
    const bool none = w->is_part || (b ? !w->is_inline && !w->has_bytes : optional || w->has_bytes);
    if (!inside && !optional && (w->is_part || !none)) return;
    text_put(w, optional ? " = optional " : " = ");
    if (!inside) {
        text_put(w, none ? "none" : "raw");
        return;
    }
    numbers all = { .bytes = b->bytes, .size = (size_t)b->size };
    if (has_numbers(&all, v->type)) put_numbers(w, &all);
    else put_hex(w, b->bytes, (size_t)b->size);
}
