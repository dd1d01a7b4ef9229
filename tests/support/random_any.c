/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random numbers, texts, and values without a class. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "support/random_parts.h"

/* ---- a text that grows -------------------------------------------------------------------------------------- */

void sheet_put(sheet *s, const void *data, size_t size) {
    if (s->size + size + 1 > s->room) {
        s->room = (s->size + size + 1) * 2;
        s->data = realloc(s->data, s->room);
        if (!s->data) abort();
    }
    if (size) memcpy(s->data + s->size, data, size);
    s->size += size;
    s->data[s->size] = '\0';
}

void sheet_str(sheet *s, const char *text) { sheet_put(s, text, strlen(text)); }

void sheet_print(sheet *s, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) abort();
    sheet_put(s, text, (size_t)n);
}

/* ---- chance ------------------------------------------------------------------------------------------------- */

/* SplitMix64. */
uint64_t rnd_bits(rnd *r) {
    uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t rnd_below(rnd *r, uint64_t n) { return rnd_bits(r) % n; }

/* Integers at which encodings change their size, and their neighbours. */
static uint64_t border(rnd *r) {
    static const uint8_t powers[] = { 0, 5, 7, 8, 15, 16, 31, 32, 53, 62, 63 };
    return (UINT64_C(1) << powers[rnd_below(r, sizeof powers)]) + rnd_below(r, 3) - 1;
}

int64_t rnd_i64(rnd *r) {
    switch (rnd_below(r, 5)) {
    case 0:  return (int64_t)border(r);
    case 1:  return (int64_t)(0 - border(r));
    case 2:  return (int64_t)rnd_bits(r);
    default: return (int64_t)rnd_below(r, 12) - 2;
    }
}

uint64_t rnd_u64(rnd *r) {
    switch (rnd_below(r, 5)) {
    case 0:  return border(r);
    case 1:  return 0 - border(r);
    case 2:  return rnd_bits(r);
    default: return rnd_below(r, 12);
    }
}

double rnd_double(rnd *r) {
    static const double some[] = { 0.0, -0.0, 1.0, 0.1, -4.8, 1e300, -1e-300, 5e-324, 1.7976931348623157e308,
                                   100000000000000.0, 1e16, 3.25 };
    if (rnd_once_in(r, 2)) return some[rnd_below(r, sizeof some / sizeof *some)];
    for (;;) {
        uint64_t bits = rnd_bits(r);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v)) return v;
    }
}

float rnd_float(rnd *r) {
    static const float some[] = { 0.0f, -0.0f, 1.0f, 0.1f, -4.8f, 1e-45f, 3.4028235e38f, 16777216.0f, 0.5f, 1e-5f };
    if (rnd_once_in(r, 2)) return some[rnd_below(r, sizeof some / sizeof *some)];
    for (;;) {
        uint32_t bits = (uint32_t)rnd_bits(r);
        float v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v)) return v;
    }
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

void rnd_quote(rnd *r, const char *text, size_t size) {
    static const char hex[] = "0123456789abcdef";
    sheet_put(r->out, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *known = c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\b' ? "\\b" : c == '\f' ? "\\f"
                          : c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
        if (known) sheet_str(r->out, known);
        else if (c < 0x20) sheet_put(r->out, (const char[]){ '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] }, 6);
        else sheet_put(r->out, text + i, 1);
    }
    sheet_put(r->out, "\"", 1);
}

/* One character in UTF-8. */
static size_t character(rnd *r, char *out) {
    uint32_t c;
    switch (rnd_below(r, 8)) {
    case 0:  c = (uint32_t)rnd_below(r, 0x20); break;
    case 1:  c = 0x80 + (uint32_t)rnd_below(r, 0x780); break;
    case 2:  c = 0x800 + (uint32_t)rnd_below(r, 0xD000); break;   /* below the surrogates */
    case 3:  c = 0xE000 + (uint32_t)rnd_below(r, 0x2000); break;
    case 4:  c = 0x10000 + (uint32_t)rnd_below(r, 0x100000); break;
    default: c = 0x20 + (uint32_t)rnd_below(r, 0x60); break;
    }
    if (c == 0) r->counts->zero_bytes++;
    if (c < 0x80) return out[0] = (char)c, 1;
    if (c < 0x800) return out[0] = (char)(0xC0 | c >> 6), out[1] = (char)(0x80 | (c & 0x3F)), 2;
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12), out[1] = (char)(0x80 | (c >> 6 & 0x3F)), out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18), out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F)), out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t rnd_words(rnd *r, char *out, size_t room) {
    static const char *const words[] = { "", "conv1", "@fp(32)", "icraft::xir::Params", "null", "inf", "a/b~c",
                                         "x y", "0" };
    if (rnd_once_in(r, 2)) {
        const char *word = words[rnd_below(r, sizeof words / sizeof *words)];
        memcpy(out, word, strlen(word));
        return strlen(word);
    }
    size_t size = 0;
    for (uint64_t n = rnd_below(r, 9); n > 0 && size + 4 <= room; n--) size += character(r, out + size);
    return size;
}

void rnd_text(rnd *r) {
    char words[64];
    if (!rnd_once_in(r, 200)) {
        rnd_quote(r, words, rnd_words(r, words, sizeof words));
        return;
    }
    /* Lengths at which encodings change their size. */
    static const size_t sizes[] = { 31, 32, 255, 256, 65535, 65536 };
    size_t size = sizes[rnd_below(r, sizeof sizes / sizeof *sizes)];
    char *text = malloc(size);
    if (!text) abort();
    memset(text, 'l', size);
    rnd_quote(r, text, size);
    free(text);
    r->counts->long_texts++;
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

void rnd_put_i64(rnd *r, int64_t v) {
    char text[NUMBER_ROOM];
    sheet_put(r->out, text, number_put_i64(text, v));
}

void rnd_put_u64(rnd *r, uint64_t v) {
    char text[NUMBER_ROOM];
    sheet_put(r->out, text, number_put_u64(text, v));
}

void rnd_put_double(rnd *r, double v) {
    char text[NUMBER_ROOM];
    sheet_put(r->out, text, number_put_real(text, v));
}

void rnd_put_float(rnd *r, float v) {
    char text[NUMBER_ROOM];
    sheet_put(r->out, text, number_put_f32(text, v));
}

void rnd_real(rnd *r) {
    static const char *const special[] = { "\"inf\"", "\"-inf\"", "\"nan\"" };
    if (rnd_once_in(r, 10)) {
        sheet_str(r->out, special[rnd_below(r, 3)]);
        r->counts->specials++;
    } else if (r->loose && rnd_once_in(r, 3)) {
        rnd_put_i64(r, (int64_t)rnd_below(r, 100));   /* an integer is a valid real too */
    } else if (r->old && rnd_once_in(r, 2)) {
        rnd_put_double(r, rnd_double(r));
        r->counts->doubles++;
    } else {
        rnd_put_double(r, (double)rnd_float(r));
    }
}

/* ---- maps --------------------------------------------------------------------------------------------------- */

void rnd_map_open(rnd *r, rnd_map *m) {
    *m = (rnd_map){ 0 };
    sheet_put(r->out, "{", 1);
    m->start = r->out->size;
}

bool rnd_map_key(rnd *r, rnd_map *m, const char *key, size_t size) {
    if (size > sizeof m->members->key) abort();
    for (size_t i = 0; i < m->n; i++) {
        if (m->members[i].key_size == size && memcmp(m->members[i].key, key, size) == 0) return false;
    }
    if (m->n == m->room) {
        m->room = m->room ? m->room * 2 : 16;
        m->members = realloc(m->members, m->room * sizeof *m->members);
        if (!m->members) abort();
    }
    rnd_member *member = &m->members[m->n++];
    *member = (rnd_member){ .key_size = size, .at = r->out->size };
    memcpy(member->key, key, size);
    rnd_quote(r, key, size);
    sheet_put(r->out, ":", 1);
    return true;
}

bool rnd_map_word(rnd *r, rnd_map *m, const char *key) { return rnd_map_key(r, m, key, strlen(key)); }

typedef struct piece { const rnd_member *member; size_t size; } piece;

static int by_key(const void *a, const void *b) {
    const rnd_member *x = ((const piece *)a)->member, *y = ((const piece *)b)->member;
    return str_order((xir_str){ x->key, x->key_size }, (xir_str){ y->key, y->key_size });
}

void rnd_map_close(rnd *r, rnd_map *m) {
    size_t end = r->out->size;
    piece *pieces = malloc((m->n + 1) * sizeof *pieces);
    char *text = malloc(end - m->start + 1);
    if (!pieces || !text) abort();
    memcpy(text, r->out->data + m->start, end - m->start);
    for (size_t i = 0; i < m->n; i++) {
        pieces[i] = (piece){ &m->members[i], (i + 1 < m->n ? m->members[i + 1].at : end) - m->members[i].at };
    }
    qsort(pieces, m->n, sizeof *pieces, by_key);
    r->out->size = m->start;
    for (size_t i = 0; i < m->n; i++) {
        if (i) sheet_put(r->out, ",", 1);
        sheet_put(r->out, text + (pieces[i].member->at - m->start), pieces[i].size);
    }
    sheet_put(r->out, "}", 1);
    free(pieces);
    free(text);
    free(m->members);
}

/* ---- anything ----------------------------------------------------------------------------------------------- */

size_t rnd_free_key(rnd *r, char *out, size_t room) {
    static const char *const keys[] = { "", "A", "_", "_a", "_type_kez", "extra", "extra_params", "zeta", "dtype_type",
                                        "inputs_type", "k",
                                        "params_table", "data", "_data", "op", "values", "v", "list" };
    if (!rnd_once_in(r, 3)) {
        const char *key = keys[rnd_below(r, sizeof keys / sizeof *keys)];
        memcpy(out, key, strlen(key));
        return strlen(key);
    }
    return rnd_words(r, out, room);
}

void rnd_any_map(rnd *r, int depth, bool with_params) {
    rnd_map m;
    rnd_map_open(r, &m);
    r->counts->any[XIR_ANY_MAP]++;
    uint64_t n = depth > 0 ? rnd_below(r, rnd_once_in(r, 60) ? 40 : 4) : 0;
    while (n-- > 0) {
        char key[64];
        size_t size = rnd_once_in(r, 20) ? 0 : rnd_free_key(r, key, sizeof key);
        if (rnd_once_in(r, 10)) memcpy(key, "_type_key", size = 9);
        if (!rnd_map_key(r, &m, key, size)) continue;
        /* not Params */
        if (with_params && size == 9 && memcmp(key, "_type_key", 9) == 0) sheet_str(r->out, "\"someone::Map\"");
        else {
            size_t at = r->out->size;
            rnd_any(r, depth - 1, with_params);
            bool fake = size == 9 && memcmp(key, "_type_key", 9) == 0 &&
                strcmp(r->out->data + at, "\"icraft::xir::Params\"") == 0;
            r->ambiguous |= fake;
        }
    }
    rnd_map_close(r, &m);
}

/* Nested deeply, but within the limit of JSON wherever the value is placed. */
static void put_nested(rnd *r) {
    uint64_t n = 10 + rnd_below(r, 90), kinds = rnd_bits(r);
    for (uint64_t i = 0; i < n; i++) sheet_str(r->out, kinds >> (i % 64) & 1 ? "[" : "{\"k\":");
    sheet_str(r->out, "1");
    for (uint64_t i = n; i-- > 0;) sheet_str(r->out, kinds >> (i % 64) & 1 ? "]" : "}");
    r->refusable = true;
    r->counts->deep++;
}

void rnd_any(rnd *r, int depth, bool with_params) {
    if (depth > 0 && rnd_once_in(r, 3000)) {
        put_nested(r);
        return;
    }
    switch (rnd_below(r, depth > 0 ? 9 : 6)) {
    case 0:
        sheet_str(r->out, "null");
        r->counts->any[XIR_ANY_NULL]++;
        break;
    case 1:
        sheet_str(r->out, rnd_once_in(r, 2) ? "true" : "false");
        r->counts->any[XIR_ANY_BOOL]++;
        break;
    case 2:
        rnd_put_i64(r, rnd_i64(r));
        r->counts->any[XIR_ANY_INT]++;
        break;
    case 3:
        if (rnd_once_in(r, 2)) {
            rnd_put_u64(r, UINT64_C(1) << 63 | (rnd_once_in(r, 2) ? rnd_bits(r) : rnd_below(r, 2)));
            r->counts->any[XIR_ANY_UINT]++;
            break;
        }
        rnd_put_double(r, rnd_double(r));
        r->counts->any[XIR_ANY_REAL]++;
        break;
    case 4:
    case 5:
        rnd_text(r);
        r->counts->any[XIR_ANY_TEXT]++;
        break;
    case 6:
        if (with_params && rnd_once_in(r, 2)) {
            rnd_params(r);
            r->counts->any[XIR_ANY_PARAMS]++;
            break;
        }
        /* fall through */
    case 7: {
        sheet_put(r->out, "[", 1);
        uint64_t n = rnd_below(r, rnd_once_in(r, 60) ? 40 : 4);
        for (uint64_t i = 0; i < n; i++) {
            if (i) sheet_put(r->out, ",", 1);
            rnd_any(r, depth - 1, with_params);
        }
        sheet_put(r->out, "]", 1);
        r->counts->any[XIR_ANY_LIST]++;
        break;
    }
    default: rnd_any_map(r, depth, with_params); break;
    }
}
