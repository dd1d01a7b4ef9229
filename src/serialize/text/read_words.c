/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The words of the text, and the source: a cursor in the text itself. s->left counts open brackets. Texts and numbers
 * are those of JSON. */
#include <math.h>
#include <stdio.h>
#include "json/json.h"
#include "text/reader.h"

/* ---- failing ------------------------------------------------------------------------------------------------- */

bool text_expected(source *s, const char *at, const char *sentence, ...) {
    char what[200];
    va_list args;
    va_start(args, sentence);
    text_vprint(what, sizeof what, sentence, args);
    va_end(args);
    if (at >= end_of(s)) return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found the end of the text", what);
    const size_t n = text_name_length(at, end_of(s));
    const unsigned char c = (unsigned char)*at;
    if (n) return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found '%.*s'", what, CLIP(((xir_str){ at, n })));
    if (c == '\n' || (c == '\r' && end_of(s) - at > 1 && at[1] == '\n'))
        return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found the end of the line", what);
    if (c > 0x20 && c < 0x7F) return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found '%c'", what, c);
    return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found byte 0x%02x", what, c);
}

/* ---- words --------------------------------------------------------------------------------------------------- */

const char *text_blanks(const source *s, const char *p) {
    const char *end = end_of(s);
    for (; p < end; p++) {
        if (*p == ' ' || *p == '\t' || *p == '\r') continue;
        if (*p == '\n' && s->left) continue;
        if (*p != '/' || end - p < 2 || p[1] != '/') return p;
        const char *line = memchr(p, '\n', (size_t)(end - p));
        p = (line ? line : end) - 1;
    }
    return end;
}

bool text_need(source *s, char c) { return text_take(s, c) || text_expected(s, here(s), "'%c'", c); }

bool text_open(source *s, char c) {
    if (!text_need(s, c)) return false;
    if (s->depth >= s->deepest)
        return source_fail(s, here(s) - 1, XIR_E_LIMIT, "values are nested deeper than %u", s->deepest);
    s->depth++;
    s->left++;
    return true;
}

bool text_close(source *s, char c) {
    if (!text_need(s, c)) return false;
    s->depth--;
    s->left--;
    return true;
}

word_kind text_word(source *s, xir_str *out) {
    text_skip(s);
    const char *p = here(s);
    if (p < end_of(s) && *p == '"') return json_source.text(s, out) ? WORD_STRING : WORD_NONE;
    const size_t n = text_name_length(p, end_of(s));
    *out = (xir_str){ p, n };
    s->at = p + n;
    return !n ? WORD_NONE : text_is_int(*out) ? WORD_INT : WORD_NAME;
}

bool text_takes_word(source *s, const char *word) {
    text_skip(s);
    if (here(s) == end_of(s) || *here(s) != *word) return false;
    const size_t n = text_name_length(here(s), end_of(s));
    if (strlen(word) != n || memcmp(here(s), word, n) != 0) return false;
    s->at = here(s) + n;
    return true;
}

/* ---- the source ---------------------------------------------------------------------------------------------- */

static xir_str peek(const source *s) {
    return (xir_str){ here(s), text_name_length(here(s), end_of(s)) };
}

static bool is_one_of(xir_str word, const char *a, const char *b, const char *c) {
    return xir_str_equal(word, xir_str_of(a)) || xir_str_equal(word, xir_str_of(b)) ||
        xir_str_equal(word, xir_str_of(c));
}

static shape on_shape(source *s) {
    const char *p = here(s);
    const char c = p < end_of(s) ? *p : '\0';
    switch (c) {
    case '{': case '@': case '!': return SHAPE_MAP;
    case '[': return SHAPE_LIST;
    case '"': case '*': return SHAPE_TEXT;
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        return SHAPE_NUMBER;
    default: break;
    }
    const xir_str word = peek(s);
    if (is_one_of(word, "true", "false", "false")) return SHAPE_BOOL;
    if (is_one_of(word, "null", "none", "none")) return SHAPE_NULL;
    if (is_one_of(word, "inf", "nan", "nan")) return SHAPE_NUMBER;
    if (word.size) return SHAPE_TEXT;
    text_expected(s, p, "a value");
    return SHAPE_NONE;
}

static bool on_null(source *s) {
    s->at = here(s) + 4;
    return true;
}

static bool on_boolean(source *s, bool *out) {
    const xir_str word = peek(s);
    *out = xir_str_equal(word, XIR_STR("true"));
    if (!*out && !xir_str_equal(word, XIR_STR("false"))) return source_expected(s, shape_words(SHAPE_BOOL));
    s->at = here(s) + word.size;
    return true;
}

/* "inf", "-inf", "nan" and "nan(0x…)" with the bits of a double. */
static bool odd_number(source *s, number *out) {
    const char *p = here(s), *end = end_of(s);
    const bool minus = p < end && *p == '-';
    *out = (number){ .kind = NUMBER_REAL };
    if (end - p >= 3 + minus && memcmp(p + minus, "inf", 3) == 0) {
        out->real = minus ? -(double)INFINITY : (double)INFINITY;
        s->at = p + 3 + minus;
        return true;
    }
    if (minus || end - p < 3 || memcmp(p, "nan", 3) != 0) return false;
    out->real = (double)NAN;
    p += 3;
    if (end - p > 3 && memcmp(p, "(0x", 3) == 0) {
        uint64_t bits = 0;
        int n = 0;
        for (p += 3; p < end && n < 16 && text_is(*p, TEXT_NAME); p++, n++) {
            const char low = (char)(*p | 0x20);
            const int digit = *p >= '0' && *p <= '9' ? *p - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
            if (digit < 0) break;
            bits = bits << 4 | (uint64_t)digit;
        }
        if (n != 16 || p == end || *p != ')') return text_expected(s, p, "16 hexadecimal digits and ')'");
        memcpy(&out->real, &bits, sizeof bits);
        p++;
    }
    s->at = p;
    return true;
}

static bool on_number(source *s, number *out) {
    const char *p = here(s);
    const char c = p < end_of(s) ? *p : '\0';
    if (c == 'i' || c == 'n' || (c == '-' && end_of(s) - p > 1 && p[1] == 'i'))
        return odd_number(s, out) || (!s->trace->status && source_expected(s, shape_words(SHAPE_NUMBER)));
    if (c != '-' && !text_is(c, TEXT_DIGIT)) return source_expected(s, shape_words(SHAPE_NUMBER));
    if (!json_source.number(s, out)) return false;
    if (here(s) < end_of(s) && text_is(*here(s), TEXT_NAME) && *here(s) != '/')
        return text_expected(s, here(s), "the end of a number");
    return true;
}

static bool on_integer(source *s, int64_t *out) {
    const char *p = here(s);
    number n;
    if (!on_number(s, &n)) return false;
    *out = n.i64;
    if (n.kind == NUMBER_I64) return true;
    const xir_str text = { p, (size_t)(here(s) - p) };
    s->at = p;
    if (n.kind == NUMBER_U64)
        return source_fail(s, p, XIR_E_BOUNDS, "%.*s does not fit 64 bits with a sign", CLIP(text));
    return source_fail(s, p, XIR_E_TYPE, "expected an integer, found %.*s", CLIP(text));
}

bool text_int(source *s, int64_t *out) {
    text_skip(s);
    const char *p = here(s);
    if (p == end_of(s) || (*p != '-' && !text_is(*p, TEXT_DIGIT))) return text_expected(s, p, "an integer");
    return on_integer(s, out);
}

static bool on_text(source *s, xir_str *out) {
    if (here(s) < end_of(s) && *here(s) == '"') return json_source.text(s, out);
    const xir_str word = peek(s);
    if (!word.size || text_is(*here(s), TEXT_DIGIT) || *here(s) == '-') return source_expected(s,
        shape_words(SHAPE_TEXT));
    *out = word;
    s->at = here(s) + word.size;
    return true;
}

static bool on_enter(source *s) { return text_open(s, *here(s) == '[' ? '[' : '{'); }

static int step(source *s, bool first, char close) {
    text_skip(s);
    const char *p = here(s);
    if (p < end_of(s) && *p == close) {
        s->depth--;
        s->left--;
        s->at = p + 1;
        return 0;
    }
    if (first) return 1;
    if (p == end_of(s) || *p != ',') {
        text_expected(s, p, "',' or '%c'", close);
        return -1;
    }
    s->at = p + 1;
    text_skip(s);
    return 1;
}

static int on_item(source *s, bool first) { return step(s, first, ']'); }

static int on_key(source *s, bool first, xir_str *out) {
    const int stepped = step(s, first, '}');
    if (stepped != 1) return stepped;
    const char *p = here(s);
    const word_kind kind = text_word(s, out);
    if (kind == WORD_NONE || kind == WORD_INT) {
        if (!s->trace->status) text_expected(s, p, first ? "a key or '}'" : "a key");
        return -1;
    }
    if (!text_need(s, '=')) return -1;
    text_skip(s);
    return 1;
}

static bool on_key_is(source *s, bool first, const codec_key *key) {
    (void)s;
    (void)first;
    (void)key;
    return false;
}

static bool on_member(const source *s, xir_str key, xir_str *out) {
    (void)s;
    (void)key;
    (void)out;
    return false;   /* a class stands before its braces */
}

static bool on_params(source *s, xir_value **out) {
    text_reader *r = reader_of(s);
    if (here(s) == end_of(s) || *here(s) != '@') return false;
    if (r->plain) return source_fail(s, here(s), XIR_E_TYPE, "expected plain data, found Params");
    return text_params(r, s, out);
}

static bool on_repeats(source *s, const codec_memo *memo) {
    (void)s;
    (void)memo;
    return false;
}

static bool on_fingerprint(const source *s, codec_memo *out, uint64_t *hash) {
    (void)s;
    (void)out;
    (void)hash;
    return false;
}

static uint64_t on_offset(const source *s, const void *at) {
    return (uint64_t)((const char *)at - (const char *)s->start);
}

bool text_plain_map(text_reader *r, source *s, xir_map *out) {
    const bool was = r->plain;
    text_skip(s);
    r->plain = true;
    const bool ok = decode_map(&r->d, s, out, false);
    r->plain = was;
    return ok;
}

const source_ops text_source = {
    .shape = on_shape, .null = on_null, .boolean = on_boolean, .integer = on_integer, .number = on_number,
    .text = on_text, .params = on_params, .enter = on_enter, .key = on_key, .item = on_item, .key_is = on_key_is,
    .member = on_member, .repeats = on_repeats, .fingerprint = on_fingerprint, .offset = on_offset,
    .object = text_object,
};
