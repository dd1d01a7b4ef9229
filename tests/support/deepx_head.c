/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Emulates the executor's parser (array2d/deepx at 6bdfc47): it cuts and trims, looks words up exactly, and refuses
 * only a line without an arrow and numbers without digits. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "deepx/deepx.h"
#include "support/deepx_head.h"

/* ---- the answer: a text of any length in a room ------------------------------------------------------------------ */

typedef struct answer { char *out; size_t room, size; } answer;

static void put(answer *a, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++, a->size++)
        if (a->size + 1 < a->room) a->out[a->size] = p[i];
}
static void put_str(answer *a, xir_str text) { put(a, text.data, text.size); }
static void put_text(answer *a, const char *text) { put(a, text, strlen(text)); }
static void put_number(answer *a, const char *form, uint64_t v) {
    char text[40];
    const int n = snprintf(text, sizeof text, form, v);
    put(a, text, (size_t)n);
}

/* ---- cutting ---------------------------------------------------------------------------------------------------- */

static xir_str part(const char *from, const char *to) { return (xir_str){ from, (size_t)(to - from) }; }

static const char *find(xir_str text, const char *word) {
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.size; i++)
        if (memcmp(text.data + i, word, n) == 0) return text.data + i;
    return NULL;
}

/* Blanks alone, no tabs. */
static xir_str trimmed(xir_str t) {
    while (t.size && *t.data == ' ') t.data++, t.size--;
    while (t.size && t.data[t.size - 1] == ' ') t.size--;
    return t;
}

/* Returns the text between the first '(' and the last ')'; all of it, if one of them is missing. */
static xir_str inner(xir_str text) {
    const char *open = find(text, "("), *end = text.data + text.size, *close = NULL;
    for (const char *p = text.data; p < end; p++) if (*p == ')') close = p;
    if (!open || !close) return text;
    return close > open ? part(open + 1, close) : part(open + 1, end);
}

/* The next parameter, up to a comma wherever it is; empty ones do not count. */
static bool next_parameter(xir_str *rest, xir_str *out) {
    while (rest->size) {
        const char *comma = find(*rest, ","), *end = rest->data + rest->size;
        *out = trimmed(part(rest->data, comma ? comma : end));
        *rest = comma ? part(comma + 1, end) : part(end, end);
        if (out->size) return true;
    }
    return false;
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static const struct { const char *word; unsigned bits; } categories[] = {
    { "tensor", DEEPX_TENSOR }, { "vector", DEEPX_VECTOR }, { "var", DEEPX_VAR }, { "listtensor", DEEPX_LISTTENSOR },
};
static const struct { const char *word; unsigned bits; } precisions[] = {
    { "float64", 0x1 }, { "float32", 0x2 }, { "float16", 0x4 }, { "bfloat16", 0x8 }, { "float8e5m2", 0x10 },
    { "float8e4m3", 0x20 }, { "float4e2m1", 0x40 }, { "int64", 0x100 }, { "int32", 0x200 }, { "int16", 0x400 },
    { "int8", 0x800 }, { "int4", 0x1000 }, { "bool", DEEPX_BOOL }, { "string", DEEPX_STRING },
    { "any", DEEPX_ANY }, { "float", DEEPX_FLOATS }, { "float8", DEEPX_FLOAT8S }, { "int", DEEPX_INTS },
};
enum { SINGLES = 14, PRECISIONS = sizeof precisions / sizeof *precisions };

static unsigned categories_in(xir_str text) {
    unsigned bits = 0;
    for (const char *end = text.data + text.size; text.data <= end;) {
        const char *bar = find(text, "|");
        const xir_str word = part(text.data, bar ? bar : end);
        for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
            if (xir_str_equal(word, xir_str_of(categories[i].word))) bits |= categories[i].bits;
        if (!bar) break;
        text = part(bar + 1, end);
    }
    return bits;
}

static unsigned precision_of(xir_str word) {
    for (size_t i = 0; i < PRECISIONS; i++)
        if (xir_str_equal(word, xir_str_of(precisions[i].word))) return precisions[i].bits;
    return DEEPX_ANY;
}

/* Before the first '<', and between it and the first '>'; without both the whole text is the category. */
static void read_type(xir_str text, unsigned *category, unsigned *precision) {
    const char *open = find(text, "<"), *end = text.data + text.size, *close = find(text, ">");
    *precision = open && close ? precision_of(close > open ? part(open + 1, close) : part(open + 1, end)) : DEEPX_ANY;
    *category = categories_in(open && close ? part(text.data, open) : text);
}

static void put_type(answer *a, unsigned category, unsigned precision) {
    bool first = true;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (!(category & categories[i].bits)) continue;
        if (!first) put_text(a, "|");
        put_text(a, categories[i].word);
        first = false;
    }
    put_text(a, category ? "<" : "unknown<");
    first = true;
    if (precision == DEEPX_ANY) put_text(a, "any");
    for (size_t i = 0; i < SINGLES && precision != DEEPX_ANY; i++) {
        if (!(precision & precisions[i].bits)) continue;
        if (!first) put_text(a, "|");
        put_text(a, precisions[i].word);
        first = false;
    }
    put_text(a, ">");
}

/* ---- metadata --------------------------------------------------------------------------------------------------- */

typedef struct meta { int64_t id, created, repeat; xir_str author; const char *fault; } meta;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The number at the beginning of a text, whatever follows. */
static bool leading_number(xir_str text, bool real, double *out) {
    char copy[64];
    char *after;
    const size_t n = text.size < sizeof copy - 1 ? text.size : sizeof copy - 1;
    memcpy(copy, text.data, n);
    copy[n] = '\0';
    errno = 0;
    *out = real ? strtod(copy, &after) : (double)strtol(copy, &after, 10);
    return after > copy && errno != ERANGE && (real || (*out >= INT32_MIN && *out <= INT32_MAX));
}

static void read_pair(meta *m, xir_str key, xir_str value) {
    static const char *const times[] = { "created_at", "sent_at", "recv_at" };
    double v;
    const bool id = xir_str_equal(key, XIR_STR("id")), repeat = xir_str_equal(key, XIR_STR("benchmark.repeat"));
    if (xir_str_equal(key, XIR_STR("author"))) m->author = value;
    if (id || repeat) {
        if (!leading_number(value, false, &v)) m->fault = "stoi";
        else if (id) m->id = (int64_t)v;
        else m->repeat = (int64_t)v;
    }
    for (size_t i = 0; i < 3 && !m->fault; i++) {
        if (!xir_str_equal(key, xir_str_of(times[i]))) continue;
        if (!leading_number(value, true, &v)) m->fault = "stod";
        else if (i == 0) m->created = v > -9e18 && v < 9e18 ? (int64_t)v : INT64_MIN;
    }
}

static meta read_meta(xir_str text) {
    meta m = { .author = { "", 0 } };
    const char *p = text.data, *end = p + text.size;
    while (p < end && !m.fault) {
        while (p < end && is_space(*p)) p++;
        const char *start = p;
        while (p < end && !is_space(*p)) p++;
        const xir_str word = part(start, p);
        const char *equal = find(word, "=");
        if (equal) read_pair(&m, part(start, equal), part(equal + 1, p));
    }
    return m;
}

/* ---- a line ----------------------------------------------------------------------------------------------------- */

static size_t count_of(xir_str list) {
    size_t n = 0;
    for (xir_str one; next_parameter(&list, &one);) n++;
    return n;
}

/* Each parameter, "type:value"; without a ':' the whole text is both. `what` NULL: as the line is printed again. */
static void put_slots(answer *a, xir_str list, const char *what) {
    xir_str one;
    for (size_t i = 0; next_parameter(&list, &one); i++) {
        unsigned category, precision;
        const char *colon = find(one, ":"), *end = one.data + one.size;
        const xir_str type = colon ? trimmed(part(one.data, colon)) : one;
        const xir_str value = colon ? trimmed(part(colon + 1, end)) : one;
        read_type(type, &category, &precision);
        if (what) {
            put_text(a, "  ");
            put_text(a, what);
            put_number(a, "%" PRIu64 " type=", i);
        } else if (i) {
            put_text(a, ", ");
        }
        put_type(a, category, precision);
        if (what) put_number(a, " raw=0x%" PRIx64 " text=[", (uint64_t)category | (uint64_t)precision << 16);
        else put_text(a, ":");
        put_str(a, value);
        if (what) put_text(a, "]\n");
    }
}

size_t deepx_head_read(xir_str line, char *out, size_t room) {
    answer a = { out, room, 0 };
    if (!line.data) line.data = "";
    const char *end = line.data + line.size, *slashes = find(line, "//");
    const xir_str body = part(line.data, slashes ? slashes : end);
    const char *arrow = find(body, "->"), *stop = body.data + body.size;
    const meta m = read_meta(slashes ? part(slashes + 2, end) : part(end, end));
    put_text(&a, "IR ");
    put_str(&a, line);
    put_text(&a, "\n");
    if (!arrow || m.fault) {
        put_text(&a, "  ERROR ");
        put_text(&a, arrow ? m.fault : "Invalid IR format: missing arrow");
        put_text(&a, "\n");
    } else {
        const xir_str in = part(body.data, arrow);
        size_t n = 0;
        while (n < in.size && in.data[n] != ' ' && in.data[n] != '(') n++;
        const xir_str name = part(in.data, in.data + n);
        xir_str rest = part(in.data + n, arrow);
        if (rest.size && *rest.data == ' ') rest = part(rest.data + 1, arrow);
        const xir_str args = inner(rest), rets = inner(part(arrow + 2, stop));
        put_text(&a, "  name=[");
        put_str(&a, name);
        put_number(&a, "] nargs=%" PRIu64, count_of(args));
        put_number(&a, " nret=%" PRIu64, count_of(rets));
        put_number(&a, " id=%" PRId64, (uint64_t)m.id);
        put_text(&a, " author=[");
        put_str(&a, m.author);
        put_number(&a, "] created=%" PRId64, (uint64_t)m.created);
        put_number(&a, " bench=%" PRId64 "\n", (uint64_t)m.repeat);
        put_slots(&a, args, "arg");
        put_slots(&a, rets, "ret");
        put_text(&a, "  canon ");
        put_str(&a, name);
        put_text(&a, "(");
        put_slots(&a, args, NULL);
        put_text(&a, ")->(");
        put_slots(&a, rets, NULL);
        put_text(&a, ")\n");
    }
    if (room) out[a.size < room ? a.size : room - 1] = '\0';
    return a.size;
}
