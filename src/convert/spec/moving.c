/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Joins, orders of axes, and dims: see moving.h. */
#include "spec/moving.h"
#include "spec/one_axis.h"

/* ---- from files ------------------------------------------------------------------------------------------------- */

bool order_is_sound(xir_node *at, const char *where, xir_ints *order, size_t rank) {
    const char *name = strchr(where, '/') + 1;
    xir_ints seen = xir_node_make_ints(at, rank, 0);
    for (size_t i = 0; i < order->n && seen.v; i++) {
        const int64_t found = order->v[i];
        if (!xir_node_axis(at, where, found, rank, &order->v[i])) return false;
        if (seen.v[order->v[i]]++)
            return xir_node_invalid(at, XIR_E_INVALID, where, "%s: expected each dim once, found %lld twice", name,
                                    (long long)found);
    }
    return !xir_node_failed(at);
}

bool op_of_joining(xir_node *at, const char *cls, const char *name, int64_t otherwise) {
    const bool stacks = strcmp(cls, "Stack") == 0;
    const xir_values in = node_inputs(at);
    int64_t axis;
    for (size_t i = 1; i < in.size; i++) if (!xir_node_same_elements(at, 0, in.data[0], i, in.data[i])) return false;
    if (!in.size || !node_axis(at, name, otherwise, v_rank(in.data[0]) + stacks, &axis)) return false;
    return xir_node_becomes(at, cls, in, SETS(INT(stacks ? "dim" : "axis", axis)));
}

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

xir_ints sizes_of_parts(xir_node *at, int64_t n, int64_t size) {
    xir_ints parts = xir_node_make_ints(at, (size_t)(n ? n / size + (n % size != 0) : 1), size);
    if (parts.v) parts.v[parts.n - 1] = n - (int64_t)(parts.n - 1) * size;
    return parts;
}

bool joining_of_op(xir_node *at, joining *j) {
    *j = (joining){ .in = node_inputs(at), .stacks = xir_op_is(at->op, xir_stack_class()) };
    return node_axis(at, j->stacks ? "dim" : "axis", 0, v_rank(xir_op_output(at->op, 0)), &j->axis);
}

bool order_of_op(xir_node *at, const xir_value *x, xir_ints *order) {
    return xir_node_items(at, "dims", order) && axes_from_start(at, "attribute/dims", v_rank(x), order);
}

bool dims_of_result(xir_node *at, xir_ints *dims) {
    size_t open = 0;
    *dims = xir_node_dims(at, xir_op_output(at->op, 0));
    for (size_t i = 0; i < dims->n; i++) if (dims->v[i] < 0) dims->v[i] = -1, open++;
    return open < 2 ? !xir_node_failed(at) : xir_node_unsupported(at, "%zu open dims", open);
}

static int64_t within(int64_t v, int64_t least, int64_t most) { return v < least ? least : v > most ? most : v; }

bool part_of_shape(xir_node *at, const xir_value *x, int64_t *from, int64_t *to) {
    const int64_t rank = (int64_t)v_rank(x);
    const int64_t first = xir_node_int(at, "start", 0), end = xir_node_int(at, "end", rank);
    *from = within(first < 0 ? first + rank : first, 0, rank);
    *to = within(end < 0 ? end + rank : end, *from, rank);
    return !xir_node_failed(at);
}
