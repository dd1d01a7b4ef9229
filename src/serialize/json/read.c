/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The JSON source: a cursor in the text itself. A map or list is entered without moving, so that the byte before a
 * member is '{' (or '[') for the first member and ',' for the others. A key that is the expected one costs one compare.
 *
 * Everything that becomes part of a network passes through here once and is checked: grammar, UTF-8, escapes. Only the
 * lookahead (`member`, `fingerprint`) walks over text without checking it. It never has the last word: what it finds is
 * read properly afterwards, or equals, byte for byte, text that was read properly before. No byte at or after `end` is
 * read. */
#include "json/json.h"
#include "number.h"
#include "utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline const char *here(const source *s) { return s->at; }
static inline const char *end_of(const source *s) { return s->end; }

/* Fails with "expected <what>, found <what is here>". */
static bool unexpected(source *s, const char *at, const char *what) {
    if (at >= end_of(s)) return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found the end of the text", what);
    const unsigned char c = (unsigned char)*at;
    const size_t left = (size_t)(end_of(s) - at);
    const char *other = utf8_other_mark(at, left);
    if (utf8_mark(at, left)) return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found a byte order mark", what);
    if (other)
        return source_fail(s, at, XIR_E_SYNTAX, "expected %s in UTF-8, found a byte order mark of %s", what, other);
    if (c > 0x20 && c < 0x7F) return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found '%c'", what, c);
    return source_fail(s, at, XIR_E_SYNTAX, "expected %s, found byte 0x%02x", what, c);
}

/* ---- blanks ------------------------------------------------------------------------------------------------ */

static const char *blanks_end(const char *p, const char *end) {
    for (;;) {
        while (end - p >= 8 && load8(p) == UINT64_C(0x2020202020202020)) p += 8;
        if (p == end || (*p != ' ' && *p != '\n' && *p != '\r' && *p != '\t')) return p;
        p++;
    }
}

static inline const char *skip_blanks(const char *p, const char *end) {
    return p < end && (unsigned char)*p <= ' ' ? blanks_end(p, end) : p;
}

/* ---- texts ------------------------------------------------------------------------------------------------- */

/* The first byte of [p, end) that cannot be copied as it is: quote, backslash, control, non-ASCII; or `end`. */
static inline const char *plain_end(const char *p, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i odd = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash)),
                                   _mm_cmplt_epi8(x, blank));   /* signed: also finds bytes from 0x80 on */
        int mask = _mm_movemask_epi8(odd);
        if (mask) return p + __builtin_ctz((unsigned)mask);
    }
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    for (; end - p >= 8; p += 8) {
        uint64_t x = load8(p), quote = x ^ (ones * '"'), backslash = x ^ (ones * '\\');
        uint64_t odd = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((x - ones * ' ') & ~x) | x;
        if (odd & high) break;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80) p++;
    return p;
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four hexadecimal digits after "\u"; -1 if they are not. */
static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4) return -1;
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* Reads the escape at p, a backslash. Writes its UTF-8 to *out and advances that: at most 4 bytes, and fewer than the
 * escape takes. Returns the end of the escape, NULL after a failure. */
static const char *unescape(source *s, const char *p, char **out) {
    const char *end = end_of(s);
    char c = end - p >= 2 ? p[1] : '\0', *o = *out;
    switch (c) {
    case '"': case '\\': case '/': *o++ = c; break;
    case 'b': *o++ = '\b'; break;
    case 'f': *o++ = '\f'; break;
    case 'n': *o++ = '\n'; break;
    case 'r': *o++ = '\r'; break;
    case 't': *o++ = '\t'; break;
    case 'u': {
        int32_t code = hex4(p + 2, end);
        if (code < 0) {
            source_fail(s, p, XIR_E_SYNTAX, "expected four hexadecimal digits after \\u");
            return NULL;
        }
        size_t length = 6;
        if (code >= 0xD800 && code <= 0xDFFF) {
            int32_t low = code <= 0xDBFF && end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, end) : -1;
            if (low < 0xDC00 || low > 0xDFFF) {
                source_fail(s, p, XIR_E_SYNTAX, "an unpaired surrogate: \\u%04x", (unsigned)code);
                return NULL;
            }
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            length = 12;
        }
        if (code < 0x80) {
            *o++ = (char)code;
        } else if (code < 0x800) {
            *o++ = (char)(0xC0 | code >> 6);
            *o++ = (char)(0x80 | (code & 0x3F));
        } else if (code < 0x10000) {
            *o++ = (char)(0xE0 | code >> 12);
            *o++ = (char)(0x80 | (code >> 6 & 0x3F));
            *o++ = (char)(0x80 | (code & 0x3F));
        } else {
            *o++ = (char)(0xF0 | code >> 18);
            *o++ = (char)(0x80 | (code >> 12 & 0x3F));
            *o++ = (char)(0x80 | (code >> 6 & 0x3F));
            *o++ = (char)(0x80 | (code & 0x3F));
        }
        *out = o;
        return p + length;
    }
    default:
        if (end - p < 2) unexpected(s, p + 1, "an escaped character");
        else source_fail(s, p, XIR_E_SYNTAX, "unknown escape, expected \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX");
        return NULL;
    }
    *out = o;
    return p + 2;
}

/* The quote that ends the text containing `p`, or `end`. Checks nothing. */
static const char *text_end(const char *p, const char *end) {
    for (;;) {
        p = plain_end(p, end);
        if (p == end || *p == '"') return p;
        p += *p == '\\' && end - p > 1 ? 2 : 1;
    }
}

/* A text with a special byte at `odd`. Without escapes it is borrowed. Escapes become shorter, so the copy fits in as
 * many bytes as the original. */
static bool odd_text(source *s, const char *begin, const char *odd, xir_str *out) {
    const char *end = end_of(s), *p = odd;
    char *copy = NULL, *o = NULL;
    while (p < end && *p != '"') {
        if (*p == '\\') {
            if (!copy) {
                copy = arena_take(s->scratch, (size_t)(text_end(p, end) - begin));
                if (!copy) return trace_memory(s->trace);
                memcpy(copy, begin, (size_t)(p - begin));
                o = copy + (p - begin);
            }
            p = unescape(s, p, &o);
            if (!p) return false;
        } else if ((unsigned char)*p < 0x20) {
            return source_fail(s, p, XIR_E_SYNTAX, "byte 0x%02x must be escaped in a text", (unsigned char)*p);
        } else {
            size_t length = utf8_length(p, end);
            if (!length) return source_fail(s, p, XIR_E_SYNTAX, "byte 0x%02x is not UTF-8 here", (unsigned char)*p);
            if (o) {
                memcpy(o, p, length);
                o += length;
            }
            p += length;
        }
        const char *plain = plain_end(p, end);
        if (o) {
            memcpy(o, p, (size_t)(plain - p));
            o += plain - p;
        }
        p = plain;
    }
    if (p == end) return unexpected(s, p, "the '\"' at the end of a text");
    *out = copy ? (xir_str){ copy, (size_t)(o - copy) } : (xir_str){ begin, (size_t)(p - begin) };
    s->at = p + 1;
    return true;
}

/* The text whose opening quote is at `p`. */
static inline bool text_at(source *s, const char *p, xir_str *out) {
    const char *close = plain_end(p + 1, end_of(s));
    if (close < end_of(s) && *close == '"') {
        *out = (xir_str){ p + 1, (size_t)(close - p - 1) };
        s->at = close + 1;
        return true;
    }
    return odd_text(s, p + 1, close, out);
}

static bool on_text(source *s, xir_str *out) {
    if (here(s) < end_of(s) && *here(s) == '"') return text_at(s, here(s), out);
    return source_expected(s, shape_words(SHAPE_TEXT));
}

/* ---- single values ----------------------------------------------------------------------------------------- */

static shape on_shape(source *s) {
    const char *p = here(s);
    if (p < end_of(s)) {
        switch (*p) {
        case '{': return SHAPE_MAP;
        case '[': return SHAPE_LIST;
        case '"': return SHAPE_TEXT;
        case 't':
        case 'f': return SHAPE_BOOL;
        case 'n': return SHAPE_NULL;
        case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
            return SHAPE_NUMBER;
        default: break;
        }
    }
    unexpected(s, p, "a value");
    return SHAPE_NONE;
}

static bool word(source *s, const char *text, size_t size) {
    const char *p = here(s);
    if ((size_t)(end_of(s) - p) >= size && memcmp(p, text, size) == 0) {
        s->at = p + size;
        return true;
    }
    while (p < end_of(s) && *p == *text) p++, text++;
    return source_fail(s, p, XIR_E_SYNTAX, "expected true, false or null");
}

static bool on_null(source *s) { return word(s, "null", 4); }

static bool on_boolean(source *s, bool *out) {
    const char *p = here(s);
    if (p == end_of(s) || (*p != 't' && *p != 'f')) return source_expected(s, shape_words(SHAPE_BOOL));
    *out = *p == 't';
    return *out ? word(s, "true", 4) : word(s, "false", 5);
}

static bool on_number(source *s, number *out) {
    const char *p = here(s);
    if (p == end_of(s) || (*p != '-' && (unsigned char)(*p - '0') > 9)) {
        return source_expected(s, shape_words(SHAPE_NUMBER));
    }
    size_t length = number_parse(p, (size_t)(end_of(s) - p), out);
    if (!length) return unexpected(s, p + 1, "a digit");
    if (out->kind == NUMBER_OVERFLOW) {
        return source_fail(s, p, XIR_E_BOUNDS, "%.*s is more than a double can hold", CLIP(((xir_str){ p, length })));
    }
    s->at = p + length;
    return true;
}

static bool whole_number(source *s, int64_t *out) {
    const char *p = here(s);
    number n;
    if (!on_number(s, &n)) return false;
    xir_str text = { p, (size_t)(here(s) - p) };
    s->at = p;
    if (n.kind == NUMBER_I64) {
        *out = n.i64;
        s->at = p + text.size;
        return true;
    }
    if (n.kind == NUMBER_U64)
        return source_fail(s, p, XIR_E_BOUNDS, "%.*s does not fit 64 bits with a sign", CLIP(text));
    if (!memchr(p, '.', text.size) && !memchr(p, 'e', text.size) && !memchr(p, 'E', text.size)) {
        return source_fail(s, p, XIR_E_BOUNDS, "%.*s does not fit 64 bits", CLIP(text));
    }
    return source_fail(s, p, XIR_E_TYPE, "expected an integer, found %.*s", CLIP(text));
}

static bool on_integer(source *s, int64_t *out) {
    const char *begin = here(s), *end = end_of(s), *p = begin;
    bool minus = p < end && *p == '-';
    p += minus;
    const char *digits = p;
    uint64_t v = 0;
    while (p < end && (unsigned char)(*p - '0') <= 9 && p - digits < 18) v = v * 10 + (unsigned char)(*p++ - '0');
    /* Fast path: up to 18 digits, followed by something that is not part of a number. */
    bool simple = p > digits && (*digits != '0' || p - digits == 1) && p < end &&
                  (*p == ',' || *p == '}' || *p == ']' || *p == '\n');
    if (!simple) return whole_number(s, out);
    *out = minus ? -(int64_t)v : (int64_t)v;
    s->at = p;
    return true;
}

/* ---- maps and lists ---------------------------------------------------------------------------------------- */

static bool on_enter(source *s) {
    if (s->depth >= s->deepest) {
        return source_fail(s, here(s), XIR_E_LIMIT, "values are nested deeper than %u", s->deepest);
    }
    s->depth++;
    return true;
}

/* Moves to the next member after a bracket or comma: 1: there is one; 0: the end; -1: failed. */
static inline int step(source *s, bool first, char close) {
    const char *p = here(s), *end = end_of(s);
    if (first) {
        p = skip_blanks(p + 1, end);
        if (p < end && *p == close) {
            s->at = p + 1;
            s->depth--;
            return 0;
        }
        s->at = p;
        return 1;
    }
    p = skip_blanks(p, end);
    if (p < end && *p == ',') {
        s->at = skip_blanks(p + 1, end);
        return 1;
    }
    if (p < end && *p == close) {
        s->at = p + 1;
        s->depth--;
        return 0;
    }
    unexpected(s, p, close == '}' ? "',' or '}'" : "',' or ']'");
    return -1;
}

static int on_item(source *s, bool first) { return step(s, first, ']'); }

static int on_key(source *s, bool first, xir_str *out) {
    int stepped = step(s, first, '}');
    if (stepped <= 0) return stepped;
    const char *end = end_of(s);
    if (here(s) == end || *here(s) != '"') {
        unexpected(s, here(s), first ? "a key or '}'" : "a key");
        return -1;
    }
    if (!text_at(s, here(s), out)) return -1;
    const char *p = skip_blanks(here(s), end);
    if (p == end || *p != ':') {
        unexpected(s, p, "':'");
        return -1;
    }
    s->at = skip_blanks(p + 1, end);
    return 1;
}

static bool on_key_is(source *s, bool first, const codec_key *key) {
    const char *p = here(s), *end = end_of(s), *k = key->baked;
    size_t n = key->size;
    if (end - p < 1 + BAKED || *p != (first ? '{' : ',') || n < 4) return false;
    p++;
    if ((unsigned char)*p <= ' ') {
        p = blanks_end(p, end);
        if (end - p < BAKED) return false;
    }
    if (n < 8) {
        if (load4(p) != load4(k) || load4(p + n - 4) != load4(k + n - 4)) return false;
    } else if (load8(p) != load8(k) || load8(p + n - 8) != load8(k + n - 8) ||
               (n > 16 && load8(p + 8) != load8(k + 8))) {
        return false;
    }
    s->at = skip_blanks(p + n, end);
    return true;
}

/* ---- looking ahead ----------------------------------------------------------------------------------------- */

/* The end of the value at `p`, which is not checked; NULL if it does not end. */
static const char *value_end(const char *p, const char *end) {
    size_t open = 0;
    while (p < end) {
        char c = *p;
        if (c == '"') {
            p = text_end(p + 1, end);
            if (p == end) return NULL;
            p++;
            if (!open) return p;
        } else if (c == '{' || c == '[') {
            open++;
            p++;
        } else if (c == '}' || c == ']') {
            if (!open) return p;
            p++;
            if (--open == 0) return p;
        } else if (c == ',' && !open) {
            return p;
        } else {
            p++;
        }
    }
    return open ? NULL : p;
}

static bool on_member(const source *from, xir_str key, xir_str *out) {
    trace silent = { .ctx = from->trace->ctx };
    source s = *from;
    s.trace = &silent;
    const char *end = end_of(&s);
    if (here(&s) == end || *here(&s) != '{') return false;
    xir_str name;
    for (bool first = true;; first = false) {
        if (on_key(&s, first, &name) <= 0) return false;
        if (xir_str_equal(name, key)) return here(&s) < end && *here(&s) == '"' && text_at(&s, here(&s), out);
        s.at = value_end(here(&s), end);
        if (!s.at) return false;
    }
}

/* Members that equal the memo's, byte for byte, have been read at the same point of the grammar. Only a number at the
 * end could continue here. */
static bool on_skip_members(source *s, const codec_memo *memo) {
    const char *p = here(s), *was = memo->start;
    size_t n = memo->size;
    if (n < 8 || (size_t)(end_of(s) - p) <= n) return false;
    if (load8(p + n - 8) != load8(was + n - 8) || memcmp(p, was, n) != 0) return false;
    p += n;
    bool after_value = p[-1] != ':' && (unsigned char)p[-1] > ' ';
    if (after_value && *p != ',' && *p != '}' && (unsigned char)*p > ' ') return false;
    s->at = skip_blanks(p, end_of(s));
    return true;
}

static bool on_repeats(source *s, const codec_memo *memo) {
    const char *p = here(s), *was = memo->start;
    size_t n = memo->size;
    if (n < 8 || (size_t)(end_of(s) - p) < n) return false;
    /* Compares the last bytes first: they hold the number of a value, the shape of a type. */
    if (load8(p + n - 8) != load8(was + n - 8) || memcmp(p, was, n) != 0) return false;
    s->at = p + n;
    return true;
}

static bool on_fingerprint(const source *s, codec_memo *out, uint64_t *hash) {
    const char *p = here(s), *close = value_end(p, end_of(s));
    if (!close) return false;
    *out = (codec_memo){ .start = p, .size = (size_t)(close - p) };
    *hash = codec_hash(p, out->size);
    return true;
}

static uint64_t on_offset(const source *s, const void *at) {
    return (uint64_t)((const char *)at - (const char *)s->start);
}

const source_ops json_source = {
    .bake = json_bake, .shape = on_shape, .null = on_null, .boolean = on_boolean, .integer = on_integer,
    .number = on_number,
    .text = on_text, .enter = on_enter, .key = on_key, .item = on_item, .key_is = on_key_is, .member = on_member,
    .skip_members = on_skip_members, .repeats = on_repeats, .fingerprint = on_fingerprint, .offset = on_offset,
};

/* ---- the whole --------------------------------------------------------------------------------------------- */

void json_begin(source *s) { s->at = skip_blanks(here(s), end_of(s)); }

bool json_at_end(source *s) {
    const char *p = skip_blanks(here(s), end_of(s));
    return p == end_of(s) || unexpected(s, p, "the end of the text");
}
