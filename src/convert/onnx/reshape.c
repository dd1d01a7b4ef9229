/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reshape and Flatten. An item of a shape is a number, a dim of the input (which 0 keeps), or -1: what remains. Each
 * may be open. Open dims on both sides do not count among the elements. */
#include "node/lists.h"
#include "onnx/rows.h"

/* The product of items whose origin is not an unknown dim; EXPR_UNKNOWN if an item is unknown. */
static expr product_of_items(xir_node *at, const list_items *list, const bool *skip) {
    expr all = 1;
    for (size_t i = 0; i < list->n; i++) {
        if (!skip[i]) all = expr_mul(&at->c->net->pool, all, list->v[i].v);
    }
    return all;
}

/* Items of 0 become the dim that they keep. Returns the position of -1 in *rest, or the number of items. */
static bool keep_dims(xir_node *at, xir_value *x, list_items *shape, size_t *rest, const char *where) {
    const bool keeps = !xir_node_int(at, "allowzero", 0);
    *rest = shape->n;
    for (size_t i = 0; i < shape->n; i++) {
        list_item *item = &shape->v[i];
        if (!expr_is_number(item->v)) continue;
        if (item->v < -1) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "shape[%zu]: expected at least -1, found %lld", i,
                                    (long long)item->v);
        }
        if (item->v == -1 && *rest < shape->n) {
            return xir_node_invalid(at, XIR_E_INVALID, where, "shape[%zu] and shape[%zu] are -1; expected at most one",
                                    *rest, i);
        }
        if (item->v == -1) *rest = i;
        if (item->v || !keeps) continue;
        if (i >= v_rank(x)) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where,
                                    "shape[%zu] is 0, which keeps a dim, but input 0 has only %zu dims", i, v_rank(x));
        }
        *item = item_known_dim(x, i);
    }
    return true;
}

/* Items about which nothing is known may turn out to be 0, which keeps a dim: then the run replaces them. */
static bool keep_dims_later(xir_node *at, xir_value *x, list_items *shape) {
    bool any = false;
    for (size_t i = 0; i < shape->n; i++) any |= shape->v[i].v == EXPR_UNKNOWN && shape->v[i].origin == FROM_ITEM;
    if (!any || xir_node_int(at, "allowzero", 0)) return true;
    list_items own = make_items(at, shape->n, 0);
    for (size_t i = 0; i < own.n && i < v_rank(x); i++) own.v[i] = item_known_dim(x, i);
    const xir_ints none = { (int64_t[]){ 0 }, 1 };
    xir_value *asked = make_list(at, shape), *kept = make_list(at, &own);
    xir_value *is_zero = xir_node_make(at, "Equal", INS(asked, xir_node_integers(at, &none)), NO_SETS);
    xir_value *made = xir_node_make(at, "Where", INS(kept, asked, is_zero), NO_SETS);
    for (size_t i = 0; i < shape->n && made; i++) {
        list_item *item = &shape->v[i];
        if (item->v == EXPR_UNKNOWN && item->origin == FROM_ITEM)
            *item = (list_item){ .v = EXPR_UNKNOWN, .origin = FROM_ITEM, .of = made, .axis = (int64_t)i };
    }
    return !xir_node_failed(at);
}

/* The item that is -1 becomes what remains of x's elements, if that is known. An unknown dim of x that one item keeps
 * does not count on either side. */
static bool settle_rest(xir_node *at, xir_value *x, list_items *shape, size_t rest, const char *where) {
    list_items dims = make_items(at, v_rank(x), 0);
    bool *kept = node_take(at, dims.n + 1), *skip = node_take(at, shape->n + 1);
    if (xir_node_failed(at) || !kept || !skip) return node_no_memory(at);
    memset(kept, 0, dims.n + 1);
    memset(skip, 0, shape->n + 1);
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = item_dim(x, i);
    for (size_t i = 0; i < shape->n; i++) {
        const list_item *item = &shape->v[i];
        if (i == rest) skip[i] = true;
        if (item->v != EXPR_UNKNOWN || item->origin != FROM_DIM || item->of != x || kept[item->axis]) continue;
        skip[i] = kept[item->axis] = true;
    }
    expr have = product_of_items(at, &dims, kept), want = product_of_items(at, shape, skip);
    bool very_large = have == EXPR_UNKNOWN || want == EXPR_UNKNOWN;
    for (size_t i = 0; i < dims.n; i++) very_large = very_large && (kept[i] || expr_is_number(dims.v[i].v));
    for (size_t i = 0; i < shape->n; i++) very_large = very_large && (skip[i] || expr_is_number(shape->v[i].v));
    if (very_large) return xir_node_unsupported(at, "the product of the dims of %s is 2^62 or more",
                                                have == EXPR_UNKNOWN ? "input 0" : "the shape");
    if (expr_is_number(have) && expr_is_number(want) &&
        (rest == shape->n ? want != have : want <= 0 ? have != 0 : have % want != 0)) {
        return xir_node_invalid(at, XIR_E_INVALID, where,
                                "expected a shape for the %lld elements of input 0, found one for %s%lld",
                                (long long)have, rest == shape->n ? "" : "a multiple of ", (long long)want);
    }
    if (rest < shape->n && want != 0 && items_open(shape)) {   // among numbers -1 may stay
        expr left = expr_exact_div(&at->c->net->pool, have, want);
        if (expr_is_number(left)) shape->v[rest] = item_number(left);
    }
    return true;
}

bool onnx_reshape(xir_node *at) {
    list_items shape;
    size_t rest;
    xir_value *x = xir_node_input(at, 0);
    const char *where = xir_node_attr(at, "shape") ? "attribute/shape" : "input/1";
    if (!read_items_of(at, "shape", 1, &shape)) {
        return xir_node_failed(at) ? false : xir_node_invalid(at, XIR_E_MISSING, where, "shape is missing");
    }
    if (!keep_dims(at, x, &shape, &rest, where) || !settle_rest(at, x, &shape, rest, where) ||
        !keep_dims_later(at, x, &shape)) return false;
    return xir_node_result(at, 0, make_reshaped_to(at, x, &shape));
}

/* Both products depend on open dims: the first is computed, the second is the rest. */
static xir_value *flattened(xir_node *at, xir_value *x, int64_t axis) {
    const xir_ints dim = { (int64_t[]){ 0 }, 1 };
    xir_value *dims = xir_node_make(at, "Shape", INS(x), SETS(INT("start", 0), INT("end", axis)));
    xir_value *n = xir_node_make(at, "Prod", INS(dims), SETS(LIST("dim", &dim), INT("keepdim", 1)));
    list_items flat = make_items(at, 2, -1);
    if (xir_node_failed(at)) return NULL;
    flat.v[0] = (list_item){ .v = EXPR_UNKNOWN, .origin = FROM_ITEM, .of = n };
    return make_reshaped_to(at, x, &flat);
}

bool onnx_flatten(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints dims = xir_node_dims(at, x), flat = xir_node_make_ints(at, 2, 1);
    int64_t axis = xir_node_int(at, "axis", 1), found = axis;
    if (axis < 0) axis += (int64_t)dims.n;
    if (xir_node_failed(at)) return false;
    if (axis < 0 || (size_t)axis > dims.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/axis", "axis: expected %lld to %zu, found %lld",
                                -(long long)dims.n, dims.n, (long long)found);
    }
    flat.v[0] = product_of(&dims, 0, (size_t)axis);
    flat.v[1] = product_of(&dims, (size_t)axis, dims.n);
    if (flat.v[0] >= 0 || flat.v[1] >= 0) return xir_node_result(at, 0, make_reshaped(at, x, &flat));
    return xir_node_result(at, 0, flattened(at, x, axis));
}
