/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes of a node, and the lists of numbers that hooks make. */
#include <math.h>
#include "node/helpers.h"
#include "support/numbers.h"

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* A list may be as long as a dim, and a type may have dims that no memory holds. */
enum { MOST_NUMBERS = 1 << 24 };

xir_ints xir_node_make_ints(xir_node *at, size_t n, int64_t fill) {
    xir_ints list = { NULL, 0 };
    if (xir_node_failed(at)) return list;
    if (n > MOST_NUMBERS) return xir_node_unsupported(at, "it takes a list of more than 2^24 numbers"), list;
    list.v = node_take(at, (n + 1) * sizeof *list.v);
    if (!list.v) return node_no_memory(at), list;
    list.n = n;
    for (size_t i = 0; i < n; i++) list.v[i] = fill;
    return list;
}

xir_ints xir_node_series(xir_node *at, int64_t first, size_t n) {
    xir_ints list = xir_node_make_ints(at, n, first);
    for (size_t i = 0; i < list.n; i++) list.v[i] += (int64_t)i;
    return list;
}

bool params_elements(const xir_value *v, const xir_type **element, const void **bytes, size_t *n) {
    int64_t count;
    if (!v || !xir_value_is_params(v) || !xir_params_has_data(v)) return false;
    *element = xir_type_element(xir_value_type(v));
    if (!element_readable(*element) || xir_type_elements(xir_value_type(v), &count) != XIR_OK) return false;
    *n = (size_t)count;
    *bytes = whole_params(v);
    return *bytes || !*n;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

const xir_any *xir_node_attr(const xir_node *at, const char *name) {
    if (at->c->back.to) return own_attr(at, xir_str_of(name));
    return xir_map_find(xir_op_extra(at->op), xir_str_of(name));
}

/* One number, of any kind, in Params. */
static bool one_element(const xir_any *a, const xir_type **element, const void **bytes) {
    size_t n;
    return a && a->kind == XIR_ANY_PARAMS && params_elements(a->as.params, element, bytes, &n) && n == 1;
}

int64_t xir_node_int(const xir_node *at, const char *name, int64_t otherwise) {
    const xir_any *a = xir_node_attr(at, name);
    const xir_type *element;
    const void *bytes;
    if (a && a->kind == XIR_ANY_INT) return a->as.integer;
    if (a && a->kind == XIR_ANY_BOOL) return a->as.boolean;
    if (one_element(a, &element, &bytes)) elements_to_ints(element, bytes, 0, 1, &otherwise);
    return otherwise;
}

bool xir_node_bool(const xir_node *at, const char *name, bool otherwise) {
    return xir_node_int(at, name, otherwise) != 0;
}

bool node_real_word(xir_str text, double *out) {
    static const struct { const char *word; double value; } words[] = {
        { "inf", INFINITY }, { "-inf", -INFINITY }, { "nan", NAN }, { "-nan", NAN }, { "nan.0", NAN }, { "-nan.0", NAN },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (xir_str_equal(text, xir_str_of(words[i].word))) return *out = words[i].value, true;
    return false;
}

/* Reals that JSON can't represent are kept as Params, or are words. */
double node_any_real(const xir_any *a, double otherwise) {
    const xir_type *element;
    const void *bytes;
    if (a && a->kind == XIR_ANY_REAL) return a->as.real;
    if (a && a->kind == XIR_ANY_INT) return (double)a->as.integer;
    if (a && a->kind == XIR_ANY_BOOL) return a->as.boolean;
    if (a && a->kind == XIR_ANY_TEXT) node_real_word(a->as.text, &otherwise);
    else if (one_element(a, &element, &bytes)) elements_to_reals(element, bytes, 0, 1, &otherwise);
    return otherwise;
}

double xir_node_real(const xir_node *at, const char *name, double otherwise) {
    return node_any_real(xir_node_attr(at, name), otherwise);
}

xir_str xir_node_text(const xir_node *at, const char *name, const char *otherwise) {
    const xir_any *a = xir_node_attr(at, name);
    return a && a->kind == XIR_ANY_TEXT ? a->as.text : xir_str_of(otherwise);
}

bool xir_node_is(const xir_node *at, const char *name, const char *text) {
    return xir_str_equal(xir_node_text(at, name, ""), xir_str_of(text));
}

bool xir_node_items(xir_node *at, const char *name, xir_ints *out) {
    const xir_i64s *own = at->c->back.to ? own_ints(at, xir_str_of(name)) : NULL;
    const xir_any *a = own ? NULL : xir_node_attr(at, name);
    const xir_type *element;
    const void *bytes;
    size_t n;
    *out = (xir_ints){ NULL, 0 };
    if (xir_node_failed(at) || (!a && !own)) return false;
    if (own) {
        *out = xir_node_make_ints(at, own->size, 0);
        if (out->n) memcpy(out->v, own->data, own->size * sizeof *out->v);
        return out->v;
    }
    if (a->kind == XIR_ANY_PARAMS && params_elements(a->as.params, &element, &bytes, &n)) {
        *out = xir_node_make_ints(at, n, 0);
        if (out->v) elements_to_ints(element, bytes, 0, n, out->v);
        return out->v;
    }
    if (a->kind != XIR_ANY_LIST) return false;
    *out = xir_node_make_ints(at, a->as.list.size, 0);
    for (size_t i = 0; i < out->n; i++) {
        const xir_any *item = &a->as.list.items[i];
        out->v[i] = item->kind == XIR_ANY_INT ? item->as.integer : item->kind == XIR_ANY_BOOL && item->as.boolean;
    }
    return out->v;
}

bool xir_node_real_items(xir_node *at, const char *name, const double **out, size_t *n) {
    const xir_any *a = xir_node_attr(at, name);
    const xir_type *element;
    const void *bytes = NULL;
    *out = NULL;
    *n = 0;
    if (xir_node_failed(at) || !a) return false;
    const bool tensor = a->kind == XIR_ANY_PARAMS && params_elements(a->as.params, &element, &bytes, n);
    if (!tensor && a->kind != XIR_ANY_LIST) return false;
    if (!tensor) *n = a->as.list.size;
    double *v = *n < SIZE_MAX / sizeof *v ? node_take(at, (*n + 1) * sizeof *v) : NULL;
    if (!v) return node_no_memory(at);
    if (tensor) elements_to_reals(element, bytes, 0, *n, v);
    for (size_t i = 0; !tensor && i < *n; i++) v[i] = node_any_real(&a->as.list.items[i], 0);
    *out = v;
    return true;
}

xir_value *xir_node_attr_params(xir_node *at, const char *name) {
    const xir_any *a = xir_node_attr(at, name);
    if (xir_node_failed(at) || !a) return NULL;
    if (a->kind != XIR_ANY_PARAMS)
        return xir_node_unsupported(at, "the attribute %s is not a tensor of numbers", name), NULL;
    if (!xir_type_as_tensor(xir_value_type(a->as.params))) {
        return xir_node_unsupported(at, "the attribute %s is not a tensor of numbers", name), NULL;
    }
    return a->as.params;
}
