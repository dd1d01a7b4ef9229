/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds the class of a one-string spelling, and provides the steps with which all spellings are read. A spelling is
 * '@', a name of lower-case letters, digits and '_', and for most classes an argument in parentheses. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "context.h"
#include "forms.h"
#include "number.h"

/* ---- failing ----------------------------------------------------------------------------------------------- */

const void *form_fail(form_error *e, xir_status status, size_t at, const char *format, ...) {
    if (!e) return NULL;
    e->status = status;
    e->at = at;
    va_list args;
    va_start(args, format);
    text_vprint(e->message, sizeof e->message, format, args);
    va_end(args);
    return NULL;
}

void form_found(char out[FORM_FOUND], int c) {
    if (c < 0) snprintf(out, FORM_FOUND, "the end");
    else if (c == ' ') snprintf(out, FORM_FOUND, "a space");
    else if (c > ' ' && c < 0x7f) snprintf(out, FORM_FOUND, "'%c'", c);
    else snprintf(out, FORM_FOUND, "byte 0x%02x", (unsigned)c & 0xff);
}

bool form_expected(form_text *t, xir_status status, size_t at, const char *format, ...) {
    if (!t->why) return false;
    char what[140];
    va_list args;
    va_start(args, format);
    text_vprint(what, sizeof what, format, args);
    va_end(args);
    char found[FORM_FOUND];
    form_found(found, at < t->size ? (unsigned char)t->data[at] : -1);
    form_fail(t->why, status, at, "expected %s, found %s", what, found);
    return false;
}

/* ---- steps ------------------------------------------------------------------------------------------------- */

void form_begin(form_text *t, xir_str text, form_error *why) {
    *t = (form_text){ .data = text.data, .size = text.size, .why = why };
}

bool form_literal(form_text *t, const char *literal) {
    size_t n = strlen(literal);
    if (t->size - t->at >= n && memcmp(t->data + t->at, literal, n) == 0) {
        t->at += n;
        return true;
    }
    size_t same = 0;
    while (form_next(t) == (unsigned char)literal[same]) t->at++, same++;
    return form_expected(t, XIR_E_SYNTAX, t->at, "'%s'", literal + same);
}

bool form_open(form_text *t, xir_str text, const char *name, form_error *why) {
    form_begin(t, text, why);
    return form_literal(t, "@") && form_literal(t, name) && form_literal(t, "(");
}

bool form_close(form_text *t) {
    if (!form_literal(t, ")")) return false;
    return t->at == t->size || form_expected(t, XIR_E_SYNTAX, t->at, "the end");
}

/* The digits of a number up to `most`. On failure, the place of the fault is `start`, where its sign may be. */
static bool digits(form_text *t, size_t start, uint64_t most, const char *what, uint64_t *out) {
    if (!is_digit(form_next(t))) return form_expected(t, XIR_E_SYNTAX, t->at, "%s", what);
    size_t first = t->at;
    uint64_t v = 0;
    bool over = false;
    for (; is_digit(form_next(t)); t->at++) {
        uint64_t digit = (uint64_t)(form_next(t) - '0');
        if (!mul_u64(v, 10, &v) || !add_u64(v, digit, &v)) over = true;
    }
    if (t->data[first] == '0' && t->at - first > 1) {
        form_fail(t->why, XIR_E_SYNTAX, first, "expected %s without leading zeros, found '%.*s'", what,
                  (int)(t->at - first < 24 ? t->at - first : 24), t->data + first);
        return false;
    }
    if (over || v > most) {
        form_fail(t->why, XIR_E_BOUNDS, start, "expected %s that fits 64 bits, found '%.*s'", what,
                  (int)(t->at - start < 24 ? t->at - start : 24), t->data + start);
        return false;
    }
    *out = v;
    return true;
}

bool form_u64(form_text *t, const char *what, uint64_t *out) {
    return digits(t, t->at, UINT64_MAX, what, out);
}

bool form_i64(form_text *t, const char *what, int64_t *out) {
    size_t start = t->at;
    bool minus = form_skip(t, '-');
    uint64_t v = 0;
    if (!digits(t, start, (uint64_t)INT64_MAX + minus, what, &v)) return false;
    if (minus && v == 0) {
        form_fail(t->why, XIR_E_SYNTAX, start, "expected %s, found '-0'", what);
        return false;
    }
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

bool form_f32(form_text *t, const char *what, float *out) {
    size_t left = t->size - t->at, length = number_parse_f32(t->data + t->at, left, out);
    if (length) {
        t->at += length;
        return true;
    }
    number wide;
    length = number_parse(t->data + t->at, left, &wide);
    if (length) {
        form_fail(t->why, XIR_E_BOUNDS, t->at, "expected %s that fits a float32, found '%.*s'", what,
                  (int)(length < 24 ? length : 24), t->data + t->at);
        return false;
    }
    size_t start = t->at;
    bool minus = form_skip(t, '-');
    const char *word = t->data + t->at;
    if (t->size - t->at >= 3 && memcmp(word, "inf", 3) == 0) *out = minus ? -INFINITY : INFINITY;
    else if (!minus && t->size - t->at >= 3 && memcmp(word, "nan", 3) == 0) *out = NAN;
    else return form_expected(t, XIR_E_SYNTAX, start, "%s", what);
    t->at += 3;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

void form_put_i64(buffer *out, int64_t v) {
    if (buffer_reserve(out, NUMBER_ROOM)) out->size += number_put_i64(out->data + out->size, v);
}

void form_put_u64(buffer *out, uint64_t v) {
    if (buffer_reserve(out, NUMBER_ROOM)) out->size += number_put_u64(out->data + out->size, v);
}

void form_put_f32(buffer *out, float v) {
    if (isnan(v)) buffer_str(out, "nan");
    else if (isinf(v)) buffer_str(out, v < 0 ? "-inf" : "inf");
    else if (buffer_reserve(out, NUMBER_ROOM)) out->size += number_put_f32(out->data + out->size, v);
}

/* ---- finding the class ------------------------------------------------------------------------------------- */

/* Returns true if `name` is one of a form's names, which are separated by '|'. */
static bool has_name(const char *names, const char *name, size_t size) {
    for (;; names++) {
        size_t same = 0;
        while (same < size && names[same] == name[same] && names[same] != '|' && names[same]) same++;
        names += same;
        if (same == size && (*names == '|' || !*names)) return true;
        while (*names && *names != '|') names++;
        if (!*names) return false;
    }
}

/* The class whose form has the name in a "@…" text; NULL if there is none. */
static const xir_class *form_class(xir_context *ctx, xir_str text) {
    if (text.size < 2 || text.data[0] != '@') return NULL;
    enum { NAME_MOST = 32 };
    const char *name = text.data + 1;
    size_t size = 0;
    while (size < text.size - 1 && size < NAME_MOST && name[size] != '(') size++;
    for (size_t i = 0; i < ctx->n_forms; i++) {
        if (has_name(ctx->forms[i]->more->form->name, name, size)) return ctx->forms[i];
    }
    return NULL;
}

const xir_object *form_parse(object_pool *pool, xir_str text, form_error *e) {
    const xir_class *cls = form_class(pool->ctx, text);
    if (cls) return cls->more->form->parse(pool, cls, text, e);
    form_text t;
    form_begin(&t, text, e);
    if (form_literal(&t, "@")) {
        size_t name = 0;
        while (name < 32 && t.at + name < t.size && t.data[t.at + name] != '(') name++;
        form_fail(e, XIR_E_UNKNOWN, t.at,
                  "expected the name of an object (fp, layout, hostm, ...), found '%.*s'", (int)name,
                  t.data + t.at);
    }
    return NULL;
}

const xir_object *form_made(object_pool *pool, const xir_object *candidate, form_error *why) {
    const xir_object *made = pool_intern(pool, candidate);
    return made ? made : form_fail(why, XIR_E_MEMORY, 0, "out of memory");
}

/* ---- words ------------------------------------------------------------------------------------------------- */

void form_word_print(const xir_object *object, buffer *out) {
    buffer_char(out, '@');
    buffer_str(out, object->cls->more->form->name);
}

const xir_object *form_word_parse(object_pool *pool, const xir_class *cls, xir_str text, form_error *why) {
    form_text t;
    form_begin(&t, text, why);
    if (!form_literal(&t, "@") || !form_literal(&t, cls->more->form->name)) return NULL;
    if (t.at < t.size) {
        form_expected(&t, XIR_E_SYNTAX, t.at, "the end");
        return NULL;
    }
    return form_made(pool, &(xir_object){ .cls = cls }, why);
}
