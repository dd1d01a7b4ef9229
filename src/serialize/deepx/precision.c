/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types as words and as bits. */
#include "deepx/precision.h"
#include "elements.h"

typedef struct word { const char *text; uint16_t bits; bool seed; } word;

/* In the order in which they are printed. */
static const word categories[] = {
    { "tensor", DEEPX_TENSOR, false }, { "vector", DEEPX_VECTOR, false }, { "var", DEEPX_VAR, false },
    { "listtensor", DEEPX_LISTTENSOR, false },
};

static const word precisions[] = {
    { "float64", 0x0001, false }, { "float32", 0x0002, false }, { "float16", 0x0004, false },
    { "bfloat16", 0x0008, false }, { "float8e5m2", 0x0010, false }, { "float8e4m3", 0x0020, false },
    { "float4e2m1", 0x0040, false }, { "int64", 0x0100, false }, { "int32", 0x0200, false }, { "int16", 0x0400, false },
    { "int8", 0x0800, false }, { "int4", 0x1000, false }, { "bool", DEEPX_BOOL, false },
    { "string", DEEPX_STRING, false },
    { "any", DEEPX_ANY, false }, { "float", DEEPX_FLOATS, false }, { "float8", DEEPX_FLOAT8S, false },
    { "int", DEEPX_INTS, false }, { "fp8", DEEPX_FLOAT8S, true }, { "fp4", 0x0040, true },
};
enum { CATEGORIES = sizeof categories / sizeof *categories, PRECISIONS = sizeof precisions / sizeof *precisions,
       SINGLE = 14 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same(xir_str text, const char *known, bool any_case) {
    const size_t n = strlen(known);
    if (text.size != n) return false;
    for (size_t i = 0; i < n; i++)
        if ((any_case ? lower(text.data[i]) : text.data[i]) != known[i]) return false;
    return true;
}

static const word *find(const word *words, size_t n, xir_str text, bool any_case) {
    for (size_t i = 0; i < n; i++)
        if (same(text, words[i].text, any_case)) return &words[i];
    return NULL;
}

/* The next of the alternatives; false at the end. */
static bool next(const char **p, const char *end, xir_str *out) {
    if (!*p) return false;
    const char *bar = *p < end ? memchr(*p, '|', (size_t)(end - *p)) : NULL;
    *out = (xir_str){ *p, (size_t)((bar ? bar : end) - *p) };
    *p = bar ? bar + 1 : NULL;
    return true;
}

static bool fail(deepx_type_fault *fault, const char *what, xir_str at) {
    *fault = (deepx_type_fault){ what, at };
    return false;
}

static bool read_categories(const char *p, const char *end, deepx_type *out, deepx_type_fault *fault) {
    const word *last = NULL;
    for (xir_str text; next(&p, end, &text);) {
        const word *w = find(categories, CATEGORIES, text, true);
        if (!w) return fail(fault, "is not a category: expected var, vector, tensor or listtensor", text);
        if (out->category & w->bits) return fail(fault, "appears twice in the type", text);
        if (!same(text, w->text, false)) out->capital = true;
        out->printed &= !out->capital && (!last || last < w);
        last = w;
        out->category |= (uint8_t)w->bits;
    }
    return true;
}

static bool read_precisions(const char *p, const char *end, deepx_type *out, deepx_type_fault *fault) {
    xir_str text;
    unsigned seen = 0;
    const word *last = NULL;
    for (size_t n = 0; next(&p, end, &text); n++) {
        const word *w = find(precisions, PRECISIONS, text, false);
        if (!w) return fail(fault, "is not a precision", text);
        if (seen & w->bits) return fail(fault, "appears twice in the type", text);
        seen |= w->bits;
        out->printed &= (!last || last < w) && (w - precisions < SINGLE || w->bits == DEEPX_ANY);
        last = w;
        out->seed |= w->seed;
        out->set |= n > 0 || w - precisions >= SINGLE;
        out->alternatives |= n > 0 || (w - precisions >= SINGLE && w->bits != DEEPX_ANY);
    }
    out->precision = (uint16_t)seen;
    return true;
}

bool deepx_type_read(xir_str text, deepx_type *out, deepx_type_fault *fault) {
    const char *end = text.data + text.size, *open = text.size ? memchr(text.data, '<', text.size) : NULL;
    const char *close = open ? memchr(open, '>', (size_t)(end - open)) : NULL;
    *out = (deepx_type){ .precision = DEEPX_ANY, .set = !open, .printed = open };
    if (!read_categories(text.data, open ? open : end, out, fault)) return false;
    out->alternatives = (out->category & (out->category - 1)) != 0;
    out->set |= out->alternatives;
    if (!open) return true;
    if (!close) return fail(fault, "has no '>'", text);
    const xir_str rest = { close + 1, (size_t)(end - close) - 1 };
    if (rest.size) return fail(fault, "is after the '>' of a type", rest);
    if (close == open + 1) return fail(fault, "has no precision between '<' and '>'", text);
    return read_precisions(open + 1, close, out, fault);
}

static void put_words(buffer *out, const word *words, size_t n, unsigned bits) {
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        if (!(bits & words[i].bits)) continue;
        if (!first) buffer_char(out, '|');
        buffer_str(out, words[i].text);
        first = false;
    }
}

void deepx_type_print(buffer *out, deepx_type type) {
    if (type.category) put_words(out, categories, CATEGORIES, type.category);
    else buffer_str(out, "unknown");
    buffer_char(out, '<');
    if (type.precision == DEEPX_ANY) buffer_str(out, "any");
    else put_words(out, precisions, SINGLE, type.precision);
    buffer_char(out, '>');
}

#define OTHER ELEMENT_NONE, 0
#define SINT  ELEMENT_SIGNED, 0
#define FLOAT(format) ELEMENT_FLOAT, XIR_FLOAT_##format

static const element_code rows[] = {
    [0]  = { "float64",    64, FLOAT(FP64),     1 },
    [1]  = { "float32",    32, FLOAT(FP32),     1 },
    [2]  = { "float16",    16, FLOAT(FP16),     1 },
    [3]  = { "bfloat16",   16, FLOAT(BF16),     1 },
    [4]  = { "float8e5m2",  8, OTHER,           1 },
    [5]  = { "float8e4m3",  8, OTHER,           1 },
    [6]  = { "float4e2m1",  4, OTHER,           1 },
    [7]  = { "",            0, OTHER,           1 },
    [8]  = { "int64",      64, SINT,            1 },
    [9]  = { "int32",      32, SINT,            1 },
    [10] = { "int16",      16, SINT,            1 },
    [11] = { "int8",        8, SINT,            1 },
    [12] = { "int4",        4, SINT,            1 },
    [13] = { "bool",        8, ELEMENT_BOOL, 0, 1 },
    [14] = { "",            0, OTHER,           1 },
    [15] = { "string",      0, OTHER,           1 },
};
const element_codes deepx_elements = { rows, sizeof rows / sizeof *rows };
