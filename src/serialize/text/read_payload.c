/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes of Params in the text: numbers, one number for all, or hexadecimal digits. They are gathered in one buffer,
 * of which the Params get parts when the text has been read. */
#include <math.h>
#include "elements.h"
#include "little.h"
#include "number.h"
#include "task.h"
#include "text/reader.h"

/* Memory for `size` more bytes of a payload, after `before` that have been read; also for none. NULL with a finding: it
 * ran out. */
static uint8_t *grow(text_reader *r, uint64_t before, uint64_t size) {
    if (size < SIZE_MAX - before && buffer_reserve(&r->bytes, (size_t)(before + size) + 1))
        return (uint8_t *)r->bytes.data + r->bytes.size + before;
    r->bytes.failed = false;
    trace_memory(&r->d.trace);
    return NULL;
}

static bool note_payload(text_reader *r, xir_value *v, uint64_t size) {
    if (!mem_reserve(context_alloc(r->d.ctx), (void **)&r->payloads, &r->payload_room, r->n_payloads + 1,
                     sizeof *r->payloads)) return trace_memory(&r->d.trace);
    r->payloads[r->n_payloads++] = (text_payload){ v, r->bytes.size, size };
    r->bytes.size += (size_t)size;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void put_bits(uint8_t *out, uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size; i++) out[i] = (uint8_t)(bits >> 8 * i);
}

static bool read_nan(source *s, element_format f, uint8_t *out) {
    const char *p = here(s) + 3, *end = end_of(s);
    const unsigned digits = f.bits / 4u;
    uint64_t bits = ((UINT64_C(1) << (f.exponent + 1)) - 1) << (f.mantissa - 1);   /* the quiet one, without a sign */
    if (p < end && *p == '(') {
        unsigned n = 0;
        bits = 0;
        if (end - p < 3 || memcmp(p, "(0x", 3) != 0) return text_expected(s, p, "'(0x' and the bits of the NaN");
        for (p += 3; p < end && n < digits; p++, n++) {
            const char low = (char)(*p | 0x20);
            const int digit = *p >= '0' && *p <= '9' ? *p - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
            if (digit < 0) break;
            bits = bits << 4 | (uint64_t)digit;
        }
        if (n != digits || p == end || *p != ')') return text_expected(s, p, "%u hexadecimal digits and ')'", digits);
        p++;
        const uint64_t exponent = ((UINT64_C(1) << f.exponent) - 1) << f.mantissa;
        if ((bits & exponent) != exponent || !(bits & ((UINT64_C(1) << f.mantissa) - 1)))
            return source_fail(s, here(s), XIR_E_BOUNDS, "these bits are not a NaN");
    }
    put_bits(out, bits, f.bits / 8u);
    s->at = p;
    return true;
}

static bool read_float(source *s, element_format f, uint8_t *out) {
    const char *p = here(s), *end = end_of(s);
    float v;
    size_t n = 0;
    number wide;
    const bool minus = p < end && *p == '-';
    if (p < end && *p == 'n' && end - p >= 3 && memcmp(p, "nan", 3) == 0) return read_nan(s, f, out);
    if (end - p >= 3 + minus && memcmp(p + minus, "inf", 3) == 0) {
        element_put_real(f, out, 0, minus ? -(double)INFINITY : (double)INFINITY);
        s->at = p + 3 + minus;
        return true;
    }
    if (f.bits == 32) {
        n = number_parse_f32(p, (size_t)(end - p), &v);
        memcpy(out, &v, n ? sizeof v : 0);
    } else if (f.bits == 64) {
        n = number_parse(p, (size_t)(end - p), &wide);
        if (n && wide.kind == NUMBER_OVERFLOW) n = 0;
        if (n && wide.kind == NUMBER_I64 && minus && wide.i64 == 0) wide =
            (number){ .kind = NUMBER_REAL, .real = -0.0 };
        if (n) element_put_real(f, out, 0, wide.kind == NUMBER_I64 ? (double)wide.i64 :
                                wide.kind == NUMBER_U64 ? (double)wide.u64 : wide.real);
    } else if ((n = number_parse_f32(p, (size_t)(end - p), &v)) != 0) {
        element_put_real(f, out, 0, (double)v);
        if (isinf(element_real(f, out, 0))) n = 0;
    }
    if (!n && number_parse(p, (size_t)(end - p), &wide))
        return source_fail(s, p, XIR_E_BOUNDS, "the number is more than an element of %u bits holds", f.bits);
    if (!n) return text_expected(s, p, "a number");
    s->at = p + n;
    return true;
}

static bool read_whole(source *s, element_format f, uint8_t *out) {
    const char *p = here(s);
    number n;
    const size_t length = p < end_of(s) ? number_parse(p, (size_t)(end_of(s) - p), &n) : 0;
    if (!length) return text_expected(s, p, "an integer");
    if (n.kind != NUMBER_I64 && n.kind != NUMBER_U64)
        return source_fail(s, p, XIR_E_TYPE, "expected an integer, found %.*s", CLIP(((xir_str){ p, length })));
    const bool sign = f.kind == ELEMENT_SIGNED;
    const unsigned bits = f.kind == ELEMENT_BOOL ? 1 : f.bits;
    const int64_t least = sign ? INT64_MIN >> (64 - bits) : 0;
    const uint64_t most = sign ? (uint64_t)(INT64_MAX >> (64 - bits)) : UINT64_MAX >> (64 - bits);
    if ((n.kind == NUMBER_I64 && n.i64 < least) || ((n.kind == NUMBER_U64 || n.i64 > 0) && n.u64 > most))
        return source_fail(s, p, XIR_E_BOUNDS, "%.*s is outside %" PRId64 " to %" PRIu64,
                           CLIP(((xir_str){ p, length })), least, most);
    put_bits(out, n.u64, f.bits / 8u);
    s->at = p + length;
    return true;
}

static bool read_one(source *s, element_format f, uint8_t *out) {
    text_skip(s);
    const bool ok = f.kind == ELEMENT_FLOAT ? read_float(s, f, out) : read_whole(s, f, out);
    if (ok && here(s) < end_of(s) && text_is(*here(s), TEXT_NAME) && *here(s) != '/')
        return text_expected(s, here(s), "the end of a number");
    return ok;
}

/* The elements and bytes that the type takes; elements must be numbers of whole bytes. */
static bool needs_numbers(source *s, const xir_value *v, element_format *f, uint64_t *n, uint64_t *size) {
    int64_t elements;
    *f = element_format_of(v->type);
    const bool whole = f->bits == 8 || f->bits == 16 || f->bits == 32 || f->bits == 64;
    if (!whole) return source_fail(s, here(s), XIR_E_TYPE,
                                   "numbers cannot stand for these elements: expected x and hexadecimal "
                                   "digits");
    if (xir_type_elements(v->type, &elements) || xir_type_bytes(v->type, size) ||
        *size / (f->bits / 8u) != (uint64_t)elements)
        return source_fail(s, here(s), XIR_E_TYPE, "the type has no known number of elements");
    *n = (uint64_t)elements;
    return true;
}

static bool read_list(text_reader *r, source *s, xir_value *v) {
    element_format f;
    uint64_t n, size, got = 0;
    const char *at = here(s);
    if (!needs_numbers(s, v, &f, &n, &size)) return false;
    if (n > (uint64_t)(end_of(s) - at))
        return source_fail(s, at, XIR_E_MISSING, "the type has %" PRIu64 " elements, more than the text has bytes", n);
    uint8_t *out = text_open(s, '[') ? grow(r, 0, size) : NULL;
    if (!out) return false;
    const unsigned each = f.bits / 8u;
    text_skip(s);
    if (here(s) < end_of(s) && *here(s) != ']') {
        do {
            if (got == n) return source_fail(s, here(s), XIR_E_BOUNDS,
                                             "more numbers than the %" PRIu64 " elements of the type", n);
            if (!read_one(s, f, out + got * each)) return false;
            if (++got % 1024 == 0 && !task_worked(8 << 10)) return trace_memory(s->trace);
        } while (text_take(s, ','));
    }
    if (!text_close(s, ']')) return false;
    if (got < n) return source_fail(s, at, XIR_E_MISSING, "%" PRIu64 " numbers, but the type has %" PRIu64 " elements",
                                    got, n);
    return note_payload(r, v, size);
}

static bool read_splat(text_reader *r, source *s, xir_value *v) {
    element_format f;
    uint64_t n, size;
    uint8_t one[8];
    if (!needs_numbers(s, v, &f, &n, &size) || !read_one(s, f, one)) return false;
    uint8_t *out = grow(r, 0, size);
    if (!out) return false;
    const unsigned each = f.bits / 8u;
    for (uint64_t i = 0; i < n; i++) memcpy(out + i * each, one, each);
    return note_payload(r, v, size);
}

/* ---- digits ---------------------------------------------------------------------------------------------------- */

/* 0 to 15; 255 for a letter that is not a digit. */
static uint8_t digit_of(unsigned char c) {
    static const uint8_t values[256] = {
        ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
        ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12, ['C'] = 13,
        ['D'] = 14, ['E'] = 15, ['F'] = 16,
    };
    return (uint8_t)(values[c] - 1);
}

/* Bit 7 of each byte that is from `low` to `high`; the bytes are below 128. */
static uint64_t bytes_within(uint64_t x, uint64_t low, uint64_t high) {
    const uint64_t each = UINT64_C(0x0101010101010101);
    return (x + each * (128 - low)) & ~(x + each * (127 - high)) & each * 128;
}

/* Eight digits as four bytes, computed side by side. Returns false if one of them is not a digit. */
static bool eight_digits(const char *p, uint8_t *out) {
    const uint64_t each = UINT64_C(0x0101010101010101), x = little_u64((const uint8_t *)p), top = each * 128;
    const uint64_t known = bytes_within(x & ~top, '0', '9') | bytes_within((x & ~top) | each * 32, 'a', 'f');
    if (known != top || x & top) return false;
    uint64_t v = (x & each * 15) + 9 * (x >> 6 & each);   /* letters have bit 6 */
    v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v >> 8) & UINT64_C(0x0000ffff0000ffff);
    little_put32(out, (uint32_t)(v | v >> 16));
    return true;
}

static bool read_piece(text_reader *r, source *s, uint64_t *size) {
    const char *p = here(s) + 1, *close = memchr(p, '"', (size_t)(end_of(s) - p));
    const size_t n = close ? (size_t)(close - p) : 0;
    if (!close) return source_fail(s, here(s), XIR_E_SYNTAX, "expected the '\"' at the end of hexadecimal digits");
    uint8_t *out = grow(r, *size, n / 2);
    if (!out) return false;
    size_t i = 0;
    while (n - i >= 8 && eight_digits(p + i, out + i / 2)) i += 8;
    for (; i + 1 < n; i += 2) {
        const unsigned high = digit_of((unsigned char)p[i]), low = digit_of((unsigned char)p[i + 1]);
        if (high > 15 || low > 15) return text_expected(s, p + i + (high <= 15), "a hexadecimal digit");
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    if (n % 2) return text_expected(s, close, "another hexadecimal digit");
    *size += n / 2;
    s->at = close + 1;
    return true;
}

static bool read_digits(text_reader *r, source *s, xir_value *v) {
    uint64_t size = 0, takes;
    text_skip(s);
    const char *at = here(s);
    if (at == end_of(s) || *at != '"') return text_expected(s, at, "hexadecimal digits in quotes");
    while (here(s) < end_of(s) && *here(s) == '"') {
        if (!read_piece(r, s, &size)) return false;
        text_skip(s);
    }
    const xir_status status = v->type ? params_size(v, &takes) : XIR_OK;
    if (v->type && status) return source_fail(s, at, status, "the type has no known number of bytes");
    if (v->type && takes != size)
        return source_fail(s, at, XIR_E_BOUNDS, "%" PRIu64 " bytes, but the type takes %" PRIu64, size, takes);
    return note_payload(r, v, size);
}

/* ---- payloads -------------------------------------------------------------------------------------------------- */

static bool read_inline(text_reader *r, source *s, xir_value *v) {
    if (*here(s) == '[') return read_list(r, s, v);
    return text_takes_word(s, "splat") ? read_splat(r, s, v) : (s->at = here(s) + 1, read_digits(r, s, v));
}

bool text_payload_of(text_reader *r, source *s, xir_value *v) {
    text_skip(s);
    const char *at = here(s);
    const xir_str word = { at, text_name_length(at, end_of(s)) };
    if (text_takes_word(s, "none")) return true;
    const bool is_raw = text_takes_word(s, "raw");
    const bool is_inline = at < end_of(s) && (*at == '[' || xir_str_equal(word, XIR_STR("x")) ||
                                              xir_str_equal(word, XIR_STR("splat")));
    if (!is_raw && !is_inline) return text_expected(s, at, "numbers in brackets, splat, x, raw or none");
    if (is_raw ? r->first_inline != NULL : r->first_raw != NULL)
        return source_fail(s, at, XIR_E_INVALID,
                           "some Params have their bytes here, and others in the raw file: expected one "
                           "place for all");
    if (is_raw) r->first_raw = at;
    else r->first_inline = at;
    return is_raw || read_inline(r, s, v);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

/* Sets positions in the raw file that these Params were read from, if a list of ids says so. */
static bool set_order(text_reader *r, const gathered *ids, bool of_table) {
    const int64_t *id = ids->data;
    for (size_t i = 0; i < ids->size; i++) {
        xir_value *v = net_find_value(r->d.net, id[i]);
        if (!v || !value_is_params(v))
            return source_fail(&r->s, r->s.start, XIR_E_UNKNOWN, "the order of the raw file has %" PRId64
                               ", which is not Params", id[i]);
        value_params(v)->table_index = (uint32_t)i;
        if (!of_table) value_params(v)->raw_index = (uint32_t)i;
    }
    return true;
}

static bool attach(text_reader *r) {
    blob *whole = blob_of_buffer(&r->bytes);
    if (!whole) return trace_memory(&r->d.trace);
    bool ok = true;
    for (size_t i = 0; i < r->n_payloads && ok; i++) {
        const text_payload *p = &r->payloads[i];
        params *of = value_params(p->value);
        blob *part = blob_part(whole, p->offset, p->size);
        ok = part || trace_memory(&r->d.trace);
        if (!part) break;
        blob_release(of->data);
        of->data = part;
        of->raw_index = of->table_index = UINT32_MAX;   /* in the order of a walk */
    }
    blob_release(whole);
    return ok;
}

bool text_attach(text_reader *r) {
    if (!r->n_payloads) return true;
    if (!attach(r)) return false;
    return (!r->raw_order.size || set_order(r, &r->raw_order, false)) &&
        (!r->raw_table.size || set_order(r, &r->raw_table, true));
}
