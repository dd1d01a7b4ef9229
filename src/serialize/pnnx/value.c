/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values as PNNX reads and prints them. */
#include "diagnose.h"
#include "number.h"
#include "pnnx/value.h"

static bool is(xir_str text, const char *word) { return xir_str_equal(text, xir_str_of(word)); }

xir_pnnx_kind pnnx_scalar_kind(xir_str text) {
    const size_t sign = text.size && text.data[0] == '-';
    if (sign >= text.size || !is_digit(text.data[sign])) return XIR_PNNX_STRING;
    bool real = memchr(text.data, '.', text.size) || memchr(text.data, 'e', text.size);
    return real ? XIR_PNNX_FLOAT : XIR_PNNX_INT;
}

bool pnnx_take_scalar(xir_str text, xir_pnnx_kind kind, xir_any *out, bool *whole, bool *same) {
    char again[PNNX_FLOAT_ROOM];
    size_t n = text.size, size = n;
    if (kind == XIR_PNNX_INT) {
        int32_t v = 0;
        if (!(n = pnnx_take_int(text, &v))) return false;
        *out = (xir_any){ .kind = XIR_ANY_INT, .as.integer = v };
        size = number_put_i64(again, v);
    } else if (kind == XIR_PNNX_FLOAT) {
        float v = 0;
        if (!(n = pnnx_take_float(text, &v))) return false;
        *out = (xir_any){ .kind = XIR_ANY_REAL, .as.real = v };
        size = pnnx_put_float(again, v);
    } else {
        *out = (xir_any){ .kind = XIR_ANY_TEXT, .as.text = text };
    }
    *whole = n == text.size;
    *same = kind == XIR_PNNX_STRING || (size == text.size && memcmp(again, text.data, size) == 0);
    return true;
}

pnnx_items pnnx_items_of(xir_str list) {
    const char *at = list.size ? list.data : "";
    return (pnnx_items){ at, at + list.size, true };
}

bool pnnx_next_item(pnnx_items *walk, xir_str *out) {
    if (!walk->more) return false;
    const size_t left = (size_t)(walk->end - walk->at);
    const char *comma = left ? memchr(walk->at, ',', left) : NULL;
    *out = (xir_str){ walk->at, comma ? (size_t)(comma - walk->at) : left };
    walk->at += out->size + (comma != NULL);
    walk->more = comma != NULL;
    return true;
}

/* ---- reading as PNNX does -------------------------------------------------------------------------------------- */

static xir_status too_large(xir_diags *why, xir_str text) {
    return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "the number '%.*s' does not fit into 32 bits", CLIP(text));
}

/* The first character and the last are not looked at. */
static xir_str inner(xir_str list) {
    return list.size > 2 ? (xir_str){ list.data + 1, list.size - 2 } : (xir_str){ "", 0 };
}

static xir_status parse_list(xir_str text, xir_pnnx_kind *kind, xir_any *items, size_t room, size_t *n,
                             xir_diags *why) {
    xir_pnnx_kind last = XIR_PNNX_STRING;
    xir_str item;
    bool whole, same;
    for (pnnx_items walk = pnnx_items_of(inner(text)); pnnx_next_item(&walk, &item);) last = pnnx_scalar_kind(item);
    for (pnnx_items walk = pnnx_items_of(inner(text)); pnnx_next_item(&walk, &item);) {
        xir_any value;
        xir_pnnx_kind of = pnnx_scalar_kind(item);
        if (!pnnx_take_scalar(item, of, &value, &whole, &same)) return too_large(why, item);
        if (of != last) continue;
        if (*n < room) items[*n] = value;
        ++*n;
    }
    *kind = last == XIR_PNNX_INT ? XIR_PNNX_INTS : last == XIR_PNNX_FLOAT ? XIR_PNNX_FLOATS : XIR_PNNX_STRINGS;
    return XIR_OK;
}

xir_status xir_pnnx_value_parse(xir_str text, xir_pnnx_kind *kind, xir_any *items, size_t room, size_t *n,
                                xir_diags *why) {
    xir_pnnx_kind some_kind;
    size_t some_n;
    xir_any one;
    bool whole, same;
    if (!kind) kind = &some_kind;
    if (!n) n = &some_n;
    if (!items) room = 0;
    *n = 0;
    *kind = XIR_PNNX_NONE;
    if (text.size && memchr(text.data, '%', text.size)) {
        *kind = XIR_PNNX_STRING;
        one = (xir_any){ .kind = XIR_ANY_TEXT, .as.text = text };
    } else if (is(text, "None") || is(text, "()") || is(text, "[]")) {
        return XIR_OK;
    } else if (is(text, "True") || is(text, "False")) {
        *kind = XIR_PNNX_BOOL;
        one = (xir_any){ .kind = XIR_ANY_BOOL, .as.boolean = text.size == 4 };
    } else if (text.size && (text.data[0] == '(' || text.data[0] == '[')) {
        return parse_list(text, kind, items, room, n, why);
    } else {
        *kind = pnnx_scalar_kind(text);
        if (!pnnx_take_scalar(text, *kind, &one, &whole, &same)) return too_large(why, text);
    }
    if (room) items[0] = one;
    *n = 1;
    return XIR_OK;
}

/* ---- printing -------------------------------------------------------------------------------------------------- */

typedef struct printing { char *out; size_t room, size; } printing;

static void put(printing *p, const char *text, size_t size) {
    if (p->size < p->room) memcpy(p->out + p->size, text, size < p->room - p->size ? size : p->room - p->size);
    p->size += size;
}

static xir_status wrong_item(xir_diags *why, size_t i, const char *what) {
    return diag_fail(why, XIR_E_TYPE, XIR_STR(""), "item %zu of the value is not %s", i, what);
}

static xir_status put_item(printing *p, xir_pnnx_kind kind, const xir_any *item, size_t i, xir_diags *why) {
    char text[PNNX_FLOAT_ROOM];
    switch (kind) {
    case XIR_PNNX_BOOL:
        if (item->kind != XIR_ANY_BOOL) return wrong_item(why, i, "a bool");
        put(p, item->as.boolean ? "True" : "False", item->as.boolean ? 4 : 5);
        return XIR_OK;
    case XIR_PNNX_INT: case XIR_PNNX_INTS:
        if (item->kind != XIR_ANY_INT) return wrong_item(why, i, "an integer");
        if (item->as.integer != (int32_t)item->as.integer)
            return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "the integer %lld does not fit into 32 bits",
                             (long long)item->as.integer);
        put(p, text, number_put_i64(text, item->as.integer));
        return XIR_OK;
    case XIR_PNNX_STRING: case XIR_PNNX_STRINGS:
        if (item->kind != XIR_ANY_TEXT) return wrong_item(why, i, "a text");
        put(p, item->as.text.size ? item->as.text.data : "", item->as.text.size);
        return XIR_OK;
    default:
        if (item->kind != XIR_ANY_REAL) return wrong_item(why, i, "a real");
        if (number_beyond_f32(item->as.real))
            return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "the real %g is too large for a float", item->as.real);
        bool plain = kind == XIR_PNNX_FLOAT || kind == XIR_PNNX_FLOATS;
        const float v = (float)number_to_f32(item->as.real);
        put(p, text, plain ? pnnx_put_float(text, v) : pnnx_put_scientific(text, v));
        return XIR_OK;
    }
}

/* Returns how many entries of the list of items are one item of the value. */
static size_t width_of(xir_pnnx_kind kind) { return kind == XIR_PNNX_COMPLEX || kind == XIR_PNNX_COMPLEXES ? 2 : 1; }

static bool is_list(xir_pnnx_kind kind) {
    return kind == XIR_PNNX_INTS || kind == XIR_PNNX_FLOATS || kind == XIR_PNNX_STRINGS || kind == XIR_PNNX_COMPLEXES;
}

static bool is_kind(xir_pnnx_kind kind) {
    return kind <= XIR_PNNX_STRINGS || kind == XIR_PNNX_COMPLEX || kind == XIR_PNNX_COMPLEXES;
}

static xir_status put_value(printing *p, xir_pnnx_kind kind, const xir_any *items, size_t n, xir_diags *why) {
    const size_t width = width_of(kind);
    xir_status status = XIR_OK;
    if (kind == XIR_PNNX_NONE) put(p, "None", 4);
    if (is_list(kind)) put(p, "(", 1);
    for (size_t i = 0; i < n && !status; i++) {
        if (i && i % width == 0) put(p, ",", 1);
        if (i % width == 1) put(p, "+", 1);
        status = put_item(p, kind, &items[i], i, why);
        if (i % width == 1) put(p, "j", 1);
    }
    if (is_list(kind)) put(p, ")", 1);
    return status;
}

xir_status xir_pnnx_value_print(xir_pnnx_kind kind, const xir_any *items, size_t n, char *out, size_t room,
                                size_t *size, xir_diags *why) {
    printing p = { out, out && room ? room - 1 : 0, 0 };
    if (out && room) out[0] = '\0';
    if (size) *size = 0;
    if (!is_kind(kind))
        return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "there is no kind %d of values", (int)kind);
    bool right = is_list(kind) ? n % width_of(kind) == 0 : n == (kind == XIR_PNNX_NONE ? 0 : width_of(kind));
    if (!right) return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "a value of this kind does not have %zu items", n);
    if (n && !items) return diag_null(why, "items");
    xir_status status = put_value(&p, kind, items, n, why);
    if (out && room) out[status ? 0 : p.size < room ? p.size : room - 1] = '\0';
    if (size && !status) *size = p.size;
    return status;
}
