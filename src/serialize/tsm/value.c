/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors as values, and back. A scalar is a number, a text a text, everything else a flat list of numbers. The usual
 * writer stores integers in 32 bits and reals as FLOAT32, with 64 bits only for what that cannot hold, and lists of
 * pads and crops as rows of two. */
#include <math.h>
#include "number.h"
#include "tsm/tsm.h"

/* ---- the usual writer -------------------------------------------------------------------------------------------- */

static bool is_float32(double v) { return isnan(v) || (double)(float)v == v; }

/* The common properties of the numbers of a list. */
typedef struct numbers { bool ints, reals, bools, texts, wide, above; } numbers;

static bool note(numbers *of, const xir_any *v) {
    switch (v->kind) {
    case XIR_ANY_BOOL: of->bools = true; return true;
    case XIR_ANY_UINT: of->ints = of->above = true; return true;
    case XIR_ANY_INT:
        of->ints = true;
        of->wide |= v->as.integer < INT32_MIN || v->as.integer > INT32_MAX;
        return true;
    case XIR_ANY_REAL:
        of->reals = true;
        of->wide |= !is_float32(v->as.real);
        return true;
    default: return false;
    }
}

static bool dtype_of(const numbers *of, uint8_t *out) {
    if (of->bools) *out = TSM_BOOLEAN;
    else if (of->reals) *out = of->wide || of->above ? TSM_FLOAT64 : TSM_FLOAT32;
    else *out = of->above ? TSM_UINT64 : of->wide ? TSM_INT64 : TSM_INT32;
    return !of->bools || !(of->ints || of->reals);
}

static bool is_of_pairs(xir_str name) { return tsm_is(name, "padding") || tsm_is(name, "crop"); }

static bool usual_list(xir_str name, const xir_list *list, tsm_usual *out) {
    numbers of = { .ints = false };
    for (size_t i = 0; i < list->size; i++)
        if (!note(&of, &list->items[i])) return false;
    const bool pairs = is_of_pairs(name) && list->size >= 4 && list->size % 2 == 0;
    *out = (tsm_usual){ .rank = pairs ? 2 : 1, .dims = { (int64_t)(pairs ? list->size / 2 : list->size), 2 } };
    return dtype_of(&of, &out->dtype);
}

/* A value of numbers or texts as the usual writer stores it; false for Params and what TSM cannot hold. */
static bool usual_of(xir_str name, const xir_any *value, tsm_usual *out) {
    numbers of = { .ints = false };
    if (!tsm_can_count(value, TSM_DIM_MOST)) return false;
    if (value->kind == XIR_ANY_LIST) return usual_list(name, &value->as.list, out);
    *out = (tsm_usual){ .dtype = TSM_CHAR8, .rank = 1, .dims = { 0 } };
    if (value->kind == XIR_ANY_TEXT) {
        out->dims[0] = (int64_t)value->as.text.size;
        return true;
    }
    out->rank = 0;
    return note(&of, value) && dtype_of(&of, &out->dtype);
}

bool tsm_is_usual(xir_str name, const xir_any *value, const tsm_tensor *t) {
    tsm_usual usual;
    if (!usual_of(name, value, &usual) || usual.dtype != t->dtype || usual.rank != t->rank) return false;
    for (uint32_t i = 0; i < t->rank; i++)
        if (usual.dims[i] != tsm_dim(t, i)) return false;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static element_format format_of(uint8_t dtype) {
    switch (dtype) {
    case TSM_FLOAT16: return (element_format){ ELEMENT_FLOAT, 16, 5, 10 };
    case TSM_FLOAT32: return (element_format){ ELEMENT_FLOAT, 32, 8, 23 };
    case TSM_FLOAT64: return (element_format){ ELEMENT_FLOAT, 64, 11, 52 };
    default:          break;
    }
    const element_code *e = element_code_at(&element_codes_tsm, dtype);
    return (element_format){ e ? (element_kind)e->kind : ELEMENT_NONE, e ? (uint8_t)e->bits : 0, 0, 0 };
}

/* A number that comes back with the same bits; false for the others: NaN, infinities, bools that are not 0 or 1. */
static bool read_number(element_format f, const tsm_tensor *t, size_t i, xir_any *out) {
    if (f.kind == ELEMENT_FLOAT) {
        *out = xir_any_real(element_real(f, t->data, i));
        return isfinite(out->as.real);
    }
    if (f.kind == ELEMENT_BOOL) {
        *out = xir_any_bool(t->data[i] == 1);
        return t->data[i] <= 1;
    }
    const int64_t v = element_i64(f, t->data, i);
    *out = xir_any_int(v);
    if (t->dtype == TSM_UINT64 && v < 0) *out = (xir_any){ .kind = XIR_ANY_UINT, .as.uinteger = (uint64_t)v };
    return true;
}

static bool read_text(tsm_reader *r, const tsm_tensor *t, xir_any *out) {
    xir_str text;
    if (t->rank > 1 || !tsm_is_utf8(tsm_text(t))) return false;
    if (!arena_text(&r->d.net->arena, tsm_text(t), &text)) return trace_memory(&r->d.trace);
    *out = xir_any_text(text);
    return true;
}

bool tsm_read_plain(tsm_reader *r, const tsm_tensor *t, xir_any *out) {
    const element_format f = format_of(t->dtype);
    if (t->dtype == TSM_CHAR8) return read_text(r, t, out);
    if (f.kind == ELEMENT_NONE || t->elements > TSM_LIST_MOST || t->rank > TSM_RANK_MOST) return false;
    if (t->rank == 0) return read_number(f, t, 0, out);
    const size_t n = (size_t)t->elements;
    xir_any *items = arena_take(&r->d.net->arena, n * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < n; i++)
        if (!read_number(f, t, i, &items[i])) return false;
    *out = xir_any_list(items, n);
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

bool tsm_code_of(const xir_type *element, uint8_t *out) {
    const element_format f = element_format_of(element);
    if (f.kind == ELEMENT_NONE || xir_type_kind_of(element) == XIR_TYPE_QUANTIZED) return false;
    if (f.kind == ELEMENT_BOOL) {
        *out = TSM_BOOLEAN;
        return true;
    }
    for (uint8_t code = TSM_INT8; code <= TSM_FLOAT64; code++) {
        const element_format e = format_of(code);
        const bool float_as = f.kind != ELEMENT_FLOAT || (e.exponent == f.exponent && e.mantissa == f.mantissa);
        if (e.kind != f.kind || e.bits != f.bits || !float_as) continue;
        *out = code;
        return true;
    }
    return false;
}

void tsm_put_word(buffer *out, uint32_t v) {
    uint8_t word[4];
    little_put32(word, v);
    buffer_put(out, word, sizeof word);
}

void tsm_put_text(buffer *out, xir_str text) {
    tsm_put_word(out, (uint32_t)text.size);
    buffer_put(out, text.data, text.size);
}

void tsm_put_head(buffer *out, uint8_t dtype, const int64_t *dims, size_t rank) {
    buffer_char(out, (char)dtype);
    tsm_put_word(out, (uint32_t)rank);
    for (size_t i = 0; i < rank; i++) tsm_put_word(out, (uint32_t)dims[i]);
}

static bool put_number(uint8_t *out, element_format f, const xir_any *v) {
    uint64_t word;
    const bool is_int = v->kind == XIR_ANY_INT || v->kind == XIR_ANY_UINT;
    if (f.kind == ELEMENT_BOOL || v->kind == XIR_ANY_BOOL) {
        *out = v->kind == XIR_ANY_BOOL && v->as.boolean;
        return f.kind == ELEMENT_BOOL && v->kind == XIR_ANY_BOOL;
    }
    memset(out, 0, 8);
    if (f.kind == ELEMENT_FLOAT) {
        const double real = v->kind == XIR_ANY_REAL ? v->as.real
                          : v->kind == XIR_ANY_INT ? (double)v->as.integer : (double)v->as.uinteger;
        element_put_real(f, out, 0, real);
        return v->kind == XIR_ANY_REAL && (isnan(real) || element_real(f, out, 0) == real);
    }
    if (!is_int) return false;
    word = v->kind == XIR_ANY_UINT ? v->as.uinteger : (uint64_t)v->as.integer;
    for (unsigned i = 0; i < f.bits / 8u; i++) out[i] = (uint8_t)(word >> 8 * i);
    const bool fits = f.bits == 64 || element_i64(f, out, 0) == (int64_t)word;
    return fits && (v->kind != XIR_ANY_UINT || f.kind == ELEMENT_UNSIGNED) &&
           (v->kind != XIR_ANY_INT || v->as.integer >= 0 || f.kind == ELEMENT_SIGNED);
}

/* Returns true if all numbers of a value are exactly those of a type; they are appended. `any`: a number of ints among
 * reals is converted. */
static bool put_numbers(buffer *out, uint8_t dtype, const xir_any *value, bool any) {
    const element_format f = format_of(dtype);
    const size_t n = value->kind == XIR_ANY_LIST ? value->as.list.size : 1, at = out->size;
    const xir_any *items = value->kind == XIR_ANY_LIST ? value->as.list.items : value;
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++) {
        if (!put_number(bytes, f, &items[i]) && !any) {
            out->size = at;
            return false;
        }
        buffer_put(out, bytes, f.bits / 8u);
    }
    return true;
}

/* The head and the elements as a tag says, if the value has as many. */
static bool put_kept(buffer *out, const xir_any *value, const xir_any *kept) {
    int64_t dims[TSM_RANK_MOST];
    const xir_list *list = kept && kept->kind == XIR_ANY_LIST ? &kept->as.list : NULL;
    const size_t at = out->size, rank = list && list->size ? list->size - 1 : 0;
    uint64_t n = 1;
    bool zero = false, over = false;
    if (!list || !list->size || rank > TSM_RANK_MOST || list->items[0].kind != XIR_ANY_INT) return false;
    const uint8_t dtype = (uint8_t)list->items[0].as.integer;
    if (dtype != list->items[0].as.integer) return false;
    for (size_t i = 0; i < rank; i++) {
        dims[i] = list->items[i + 1].kind == XIR_ANY_INT ? list->items[i + 1].as.integer : -1;
        if (dims[i] < 0 || dims[i] > INT32_MAX) return false;
        zero |= dims[i] == 0;
        over |= !mul_u64(n, (uint64_t)dims[i], &n);
    }
    if (zero) n = 0;
    else if (over) return false;
    const bool text = value->kind == XIR_ANY_TEXT;
    const size_t has = text ? value->as.text.size : value->kind == XIR_ANY_LIST ? value->as.list.size : 1;
    if (n != has || (dtype == TSM_CHAR8) != text || (text && rank > 1)) return false;
    if ((value->kind == XIR_ANY_LIST) != (rank && !text)) return false;
    tsm_put_head(out, dtype, dims, rank);
    if (text) buffer_put(out, value->as.text.data, has);
    else if (format_of(dtype).kind == ELEMENT_NONE || !put_numbers(out, dtype, value, false)) {
        out->size = at;
        return false;
    }
    return true;
}

bool tsm_put_plain(buffer *out, xir_str name, const xir_any *value, const xir_any *kept) {
    tsm_usual usual;
    if (kept && put_kept(out, value, kept)) return true;
    if (!usual_of(name, value, &usual)) return false;
    tsm_put_head(out, usual.dtype, usual.dims, usual.rank);
    if (value->kind == XIR_ANY_TEXT) buffer_put(out, value->as.text.data, value->as.text.size);
    else put_numbers(out, usual.dtype, value, true);
    return true;
}

/* ---- bytes as text ----------------------------------------------------------------------------------------------- */

void tsm_put_digits(buffer *out, const uint8_t *p, size_t n) {
    if (!buffer_reserve(out, 2 * n)) return;
    for (size_t i = 0; i < n; i++) {
        out->data[out->size++] = "0123456789abcdef"[p[i] >> 4];
        out->data[out->size++] = "0123456789abcdef"[p[i] & 15];
    }
}

static int digit_of(char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

bool tsm_take_digits(xir_str text, buffer *out) {
    for (size_t i = 0; i + 1 < text.size; i += 2) {
        const int high = digit_of(text.data[i]), low = digit_of(text.data[i + 1]);
        if (high < 0 || low < 0) return false;
        buffer_char(out, (char)(high << 4 | low));
    }
    return text.size % 2 == 0;
}
