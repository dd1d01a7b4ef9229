/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See words.h. */
#include "text/words.h"
#include <stdio.h>
#include "types.h"

#define LETTER TEXT_NAME | TEXT_LAYOUT
#define DIGIT  TEXT_NAME | TEXT_LAYOUT | TEXT_DIGIT
#define ROW_OF_LETTERS(a, b, c, d, e, f, g, h, i, j, k, l, m) \
    [a] = LETTER, [b] = LETTER, [c] = LETTER, [d] = LETTER, [e] = LETTER, [f] = LETTER, [g] = LETTER, [h] = LETTER, \
    [i] = LETTER, [j] = LETTER, [k] = LETTER, [l] = LETTER, [m] = LETTER

const uint8_t text_letters[256] = {
    ROW_OF_LETTERS('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'),
    ROW_OF_LETTERS('n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'),
    ROW_OF_LETTERS('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M'),
    ROW_OF_LETTERS('N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z'),
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT, ['6'] = DIGIT,
    ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
    ['_'] = TEXT_NAME, ['.'] = TEXT_NAME, ['/'] = TEXT_NAME, ['-'] = TEXT_NAME, [':'] = TEXT_NAME, ['*'] = TEXT_LAYOUT,
};

bool text_is_int(xir_str word) {
    size_t i = word.size && word.data[0] == '-';
    if (i == word.size) return false;
    while (i < word.size && text_is(word.data[i], TEXT_DIGIT)) i++;
    return i == word.size;
}

bool text_is_name(xir_str text) {
    return text.size && text_name_length(text.data, text.data + text.size) == text.size && !text_is_int(text);
}

text_alike text_alike_of(xir_str result) {
    static const char ending[] = "_output_0";
    enum { SIZE = sizeof ending - 1 };
    for (size_t i = 1; i + SIZE <= result.size; i++) {
        const char *p = memchr(result.data + i, '_', result.size - SIZE + 1 - i);
        if (!p) break;
        i = (size_t)(p - result.data);
        const bool ends = i + SIZE == result.size || p[SIZE] == '.';
        if (ends && memcmp(p, ending, SIZE) == 0) return (text_alike){ i, i + SIZE };
    }
    return (text_alike){ result.size, result.size };
}

bool text_is_alike(xir_str op, xir_str result) {
    if (!op.size || op.size > result.size || memcmp(op.data, result.data, 1) != 0) return false;
    const text_alike a = text_alike_of(result);
    const size_t more = result.size - a.rest;
    return op.size == a.cut + more && memcmp(op.data, result.data, a.cut) == 0 &&
           memcmp(op.data + a.cut, result.data + a.rest, more) == 0;
}

size_t text_form_length(const char *p, const char *end) {
    const char *from = p;
    size_t open = 0;
    for (p++; p < end && (text_is(*p, TEXT_LAYOUT) || *p == '_') && *p != '*'; p++) {}
    if (p == end || *p != '(') return (size_t)(p - from);
    for (; p < end && *p != '\n'; p++) {
        if (*p == '(' || *p == '[' || *p == '{') open++;
        if ((*p == ')' || *p == ']' || *p == '}') && --open == 0) return (size_t)(p + 1 - from);
    }
    return (size_t)(p - from);
}

/* ---- classes ------------------------------------------------------------------------------------------------- */

const xir_str text_own = { "icraft::xir::", 13 };

static bool has_colons(xir_str key) {
    for (size_t i = 0; i + 1 < key.size; i++) {
        if (key.data[i] == ':' && key.data[i + 1] == ':') return true;
    }
    return false;
}

xir_str text_class_word(xir_str key) {
    static const xir_str none = { "", 0 };
    xir_str word = key;
    if (key.size > text_own.size && memcmp(key.data, text_own.data, text_own.size) == 0) {
        const xir_str rest = { key.data + text_own.size, key.size - text_own.size };
        if (!has_colons(rest)) word = rest;
    } else if (!has_colons(key)) {
        return none;
    }
    return text_is_name(word) && !xir_str_equal(word, XIR_STR("end")) ? word : none;
}

/* ---- element types --------------------------------------------------------------------------------------------- */

/* ORDER FLOAT */
static const char *const floats[] = { "fp16", "fp32", "fp64", "bf16", "tf32", "fpe7m8", "fpe6m9" };
enum { FLOATS = sizeof floats / sizeof floats[0] };

size_t text_element_word(const xir_object *type, char out[TEXT_ELEMENT]) {
    int n = 0;
    const xir_class *cls = type->cls;
    const xir_class *const *types = (const xir_class *const *)cls->ctx->types;
    if (cls == types[CLASS_bool_type]) {
        n = snprintf(out, TEXT_ELEMENT, "bool");
    } else if (cls == types[CLASS_integer_type]) {
        const xir_integer_type *integer = (const xir_integer_type *)type;
        n = snprintf(out, TEXT_ELEMENT, "%sint%lld", integer->sign ? "" : "u", (long long)integer->ibits);
    } else if (cls == types[CLASS_float_type]) {
        const unsigned format = ((const xir_float_type *)type)->format;
        if (format < FLOATS) n = snprintf(out, TEXT_ELEMENT, "%s", floats[format]);
    }
    return n > 0 ? (size_t)n : 0;
}

/* Reads "8" or "(8)" after "int": a width. */
static bool width_of(xir_str word, size_t at, int64_t *out) {
    const bool open = at < word.size && word.data[at] == '(' && word.data[word.size - 1] == ')';
    const size_t from = at + open, to = word.size - open;
    *out = 0;
    if (from >= to || to - from > 6 || word.data[from] == '0') return false;
    for (size_t i = from; i < to; i++) {
        if (!text_is(word.data[i], TEXT_DIGIT)) return false;
        *out = *out * 10 + (word.data[i] - '0');
    }
    return *out <= TYPE_BITS_MOST;
}

static bool begins(xir_str word, const char *with) {
    const size_t n = strlen(with);
    return word.size > n && memcmp(word.data, with, n) == 0;
}

static const xir_type *kept(const xir_type *type, bool *failed) {
    *failed = !type;
    return type;
}

const xir_type *text_element_of(object_pool *pool, xir_str word, bool *failed) {
    int64_t bits;
    *failed = false;
    if (xir_str_equal(word, XIR_STR("bool"))) return kept(type_bool(pool), failed);
    for (int i = 0; i < FLOATS; i++) {   // "fp32", and "fp(32)" as one-string forms have it
        const xir_str name = xir_str_of(floats[i]);
        const bool has_form = name.size == 4 && word.size == 6 && word.data[2] == '(' && word.data[5] == ')' &&
            memcmp(word.data, name.data, 2) == 0 && memcmp(word.data + 3, name.data + 2, 2) == 0;
        if (has_form || xir_str_equal(word, name)) return kept(type_float(pool, (xir_float_format)i), failed);
    }
    const bool plain = begins(word, "u"), sint = begins(word, "sint"), integer = begins(word, "int");
    if (!plain && !sint && !integer) return NULL;
    if (plain && !begins(word, "uint")) return NULL;
    if (!width_of(word, integer ? 3 : 4, &bits)) return NULL;
    return kept(type_integer(pool, !plain, bits), failed);
}

uint64_t text_required(const xir_class *cls) {
    uint64_t required = cls->is_op ? cls->more->required : 0;
    for (uint64_t rest = required; rest; rest &= rest - 1) {
        const xir_kind kind = cls->fields[__builtin_ctzll(rest)].kind;
        if (kind == XIR_KIND_REF || kind == XIR_KIND_PARAMS) required &= ~(rest & -rest);
    }
    return required;
}
