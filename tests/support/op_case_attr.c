/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads the values of attributes into a body, by the kind of the row. The library checks their bounds and classes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "support/op_case.h"

static bool is_integer(const char *text) {
    text += *text == '-';
    size_t digits = strspn(text, "0123456789");
    return digits && !strchr(".eE", text[digits] ? text[digits] : ' ');
}

static bool read_bool(op_text *t, bool *out) {
    *out = op_text_word(t, "true");
    return *out || op_text_word(t, "false") || op_text_fail(t, "true or false was expected");
}

static bool read_u64(op_text *t, uint64_t *out) {
    char c = op_text_next(t);
    char *end;
    errno = 0;
    *out = strtoull(t->at, &end, 10);
    if (c < '0' || c > '9' || errno) return op_text_fail(t, "an integer without sign was expected");
    t->at = end;
    return true;
}

static bool read_real(op_text *t, double *out) {
    op_text_next(t);
    char *end;
    *out = strtod(t->at, &end);
    if (end == t->at) return op_text_fail(t, "a number was expected");
    t->at = end;
    return true;
}

static bool read_text_of(op_text *t, xir_str *out) {
    if (!op_text_expect(t, '"')) return false;
    const char *end = strchr(t->at, '"');
    if (!end) return op_text_fail(t, "a text has no end");
    char *copy = op_text_keep(t, (size_t)(end - t->at) + 1);
    memcpy(copy, t->at, (size_t)(end - t->at));
    *out = (xir_str){ copy, (size_t)(end - t->at) };
    t->at = end + 1;
    return true;
}

static bool read_enum(op_text *t, const xir_enum *words, int *out) {
    op_text_next(t);
    if (is_integer(t->at)) {
        int64_t v;
        if (!op_text_i64(t, &v)) return false;
        *out = (int)v;
        return v == *out || op_text_fail(t, "a word's number was expected");
    }
    for (size_t i = 0; i < words->size; i++) {
        if (!op_text_word(t, words->names[i])) continue;
        *out = (int)i;
        return true;
    }
    return op_text_fail(t, "a word of %s was expected", words->name);
}

/* For example {[3],[8]}. */
static const xir_object *read_unit(op_text *t) {
    xir_aligned_unit unit = xir_aligned_unit_init();
    if (!op_text_expect(t, '{') || !op_text_i64s(t, &unit.index) || !op_text_expect(t, ',') ||
        !op_text_i64s(t, &unit.unit) || !op_text_expect(t, '}')) return NULL;
    const xir_object *object = (const xir_object *)xir_aligned_unit_make(ctx, &unit, why);
    if (!object) op_text_fail(t, "no aligned unit is like this");
    return object;
}

/* Any object; `null` is NULL. */
static bool read_ref(op_text *t, const xir_object **out) {
    *out = NULL;
    if (op_text_word(t, "null")) return true;
    char c = op_text_next(t);
    if (c == '@') *out = op_text_object(t);
    else if (c == '(') *out = (const xir_object *)op_text_any_type(t);
    else if (c == '{') *out = read_unit(t);
    else if (op_text_word(t, "true")) *out = (const xir_object *)xir_scalar_bool(ctx, true);
    else if (op_text_word(t, "false")) *out = (const xir_object *)xir_scalar_bool(ctx, false);
    else if (is_integer(t->at)) {
        int64_t v;
        if (op_text_i64(t, &v)) *out = (const xir_object *)xir_scalar_int(ctx, v);
    } else {
        double v;
        if (read_real(t, &v)) *out = (const xir_object *)xir_scalar_real(ctx, v);
    }
    return *out || op_text_fail(t, "an object was expected");
}

static bool read_params(op_text *t, xir_value **out) {
    *out = NULL;
    if (op_text_word(t, "null")) return true;
    if (!op_text_word(t, "param")) return op_text_fail(t, "param(TYPE) was expected");
    return op_text_expect(t, '(') && (*out = op_text_params(t)) && op_text_expect(t, ')');
}

static bool read_any(op_text *t, xir_any *out) {
    char c = op_text_next(t);
    *out = xir_any_null();
    if (op_text_word(t, "null")) return true;
    if (c == '"') {
        out->kind = XIR_ANY_TEXT;
        return read_text_of(t, &out->as.text);
    }
    if (c == 't' || c == 'f') {
        out->kind = XIR_ANY_BOOL;
        return read_bool(t, &out->as.boolean);
    }
    out->kind = is_integer(t->at) ? XIR_ANY_INT : XIR_ANY_REAL;
    return out->kind == XIR_ANY_INT ? op_text_i64(t, &out->as.integer) : read_real(t, &out->as.real);
}

/* For example {"a": 1, "b": true}; keys are in order. */
static bool read_map(op_text *t, xir_map *out) {
    enum { MOST = 16 };
    xir_entry *entries = op_text_keep(t, MOST * sizeof *entries);
    size_t n = 0;
    if (!op_text_expect(t, '{')) return false;
    while (!op_text_skip(t, '}')) {
        if (n == MOST || (n && !op_text_expect(t, ',')))
            return op_text_fail(t, "a map has at most %d entries here", MOST);
        if (!read_text_of(t, &entries[n].key) || !op_text_expect(t, ':') || !read_any(t, &entries[n].value))
            return false;
        n++;
    }
    *out = (xir_map){ entries, n };
    return true;
}

/* Reads one item of a list into items[n]. */
static bool read_item(op_text *t, xir_kind kind, void *items, size_t n) {
    switch (kind) {
    case XIR_KIND_BOOLS:   return read_bool(t, (bool *)items + n);
    case XIR_KIND_I64S:    return op_text_i64(t, (int64_t *)items + n);
    case XIR_KIND_REALS:   return read_real(t, (double *)items + n);
    case XIR_KIND_TEXTS:   return read_text_of(t, (xir_str *)items + n);
    case XIR_KIND_REFS:    return read_ref(t, (const xir_object **)items + n);
    case XIR_KIND_PARAMSS: return read_params(t, (xir_value **)items + n);
    default:               return op_text_fail(t, "attributes of this kind can't be written here");
    }
}

/* Every list in a body is a pointer and a size. */
static bool read_list(op_text *t, const xir_field *f, void *to) {
    enum { MOST = 4096 };
    struct { const void *data; size_t size; } list = { NULL, 0 };
    if (op_text_word(t, "null")) {
        if (!(f->flags & XIR_FIELD_OPTIONAL)) return op_text_fail(t, "%s can't be null", f->name.data);
    } else {
        void *items = op_text_keep(t, MOST * sizeof(xir_str));
        if (!op_text_expect(t, '[')) return false;
        while (!op_text_skip(t, ']')) {
            if (list.size == MOST) return op_text_fail(t, "a list is longer than %d items", MOST);
            if (list.size && !op_text_expect(t, ',')) return false;
            if (!read_item(t, f->kind, items, list.size++)) return false;
        }
        list.data = items;
    }
    memcpy(to, &list, sizeof list);
    return true;
}

bool op_text_attr(op_text *t, const xir_field *f, void *body) {
    void *to = (char *)body + f->offset;
    switch (f->kind) {
    case XIR_KIND_BOOL:    return read_bool(t, to);
    case XIR_KIND_I64:     return op_text_i64(t, to);
    case XIR_KIND_U64:     return read_u64(t, to);
    case XIR_KIND_REAL:    return read_real(t, to);
    case XIR_KIND_TEXT:    return read_text_of(t, to);
    case XIR_KIND_ENUM:    return read_enum(t, f->members, to);
    case XIR_KIND_REF:     return read_ref(t, to);
    case XIR_KIND_PARAMS:  return read_params(t, to);
    case XIR_KIND_MAP:     return read_map(t, to);
    case XIR_KIND_BOOLS:
    case XIR_KIND_I64S:
    case XIR_KIND_REALS:
    case XIR_KIND_TEXTS:
    case XIR_KIND_REFS:
    case XIR_KIND_PARAMSS: return read_list(t, f, to);
    case XIR_KIND_RUNS:
    case XIR_KIND_OPS:
    case XIR_KIND_COUNT:   break;
    }
    return op_text_fail(t, "attributes of this kind can't be written here");
}
