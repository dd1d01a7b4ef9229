/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that move elements, repeat or join them; products and reductions. */
#include "deepx/deepx.h"

/* x in the dims of the tensor that the call writes into, if it has as many elements. */
static xir_value *fitted(xir_node *at, xir_value *x) {
    const xir_type *type = deepx_target(at);
    int64_t n, m;
    if (xir_node_failed(at) || !x || !type || v_is_open(x) || xir_type_has_unknown_dim(type)) return x;
    if (xir_type_elements(type, &n) || xir_type_elements(xir_value_type(x), &m) || n != m) return x;
    xir_ints dims = xir_node_make_ints(at, xir_type_rank(type), 0);
    bool same = dims.n == v_rank(x);
    for (size_t i = 0; i < dims.n && dims.v; i++) {
        dims.v[i] = xir_type_dim(type, (int64_t)i, false);
        same = same && dims.v[i] == v_dim(x, i);
    }
    return same || !dims.v ? x : make_reshaped(at, x, &dims);
}

bool deepx_matmul(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!x || !y || !xir_node_same_elements(at, 0, x, 1, y)) return false;
    if (v_rank(x) < 2 || v_rank(x) != v_rank(y))
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "expected two tensors of the same rank, at least 2, "
                                "found %zu and %zu dims", v_rank(x), v_rank(y));
    for (size_t i = 0; i + 2 < v_rank(x); i++)
        if (v_dim(x, i) >= 0 && v_dim(y, i) >= 0 && v_dim(x, i) != v_dim(y, i))
            return xir_node_invalid(at, XIR_E_INVALID, "input/1", "dim %zu: expected %lld as in A, found %lld", i,
                                    (long long)v_dim(x, i), (long long)v_dim(y, i));
    return xir_node_result(at, 0, make_matrix_product(at, x, y));
}

/* Over no axes it is over all of them. */
bool deepx_reduce(xir_node *at) {
    xir_ints axes;
    bool keep = false;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_axes(at, 1, v_rank(x), &axes)) return false;
    if (deepx_text(at, 2).size && !deepx_flag(at, 2, &keep)) return false;
    return xir_node_result(at, 0, fitted(at, xir_node_reduced(at, at->cls->row->cls, x, &axes, keep)));
}

bool deepx_reshape(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_ints(at, 1, &dims)) return false;
    for (size_t i = 0; i < dims.n; i++)
        if (dims.v[i] < -1) return deepx_invalid(at, 1, XIR_E_BOUNDS, "expected dims");
    return xir_node_result(at, 0, make_reshaped(at, x, &dims));
}

/* The tensor that it writes into keeps its dims. */
bool deepx_transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_ints(at, 1, &order)) return false;
    const size_t rank = v_rank(x);
    xir_ints seen = xir_node_make_ints(at, rank, 0);
    if (!seen.v) return false;
    if (order.n != rank) return deepx_invalid(at, 1, XIR_E_BOUNDS, "expected a number for each dim of the tensor");
    for (size_t i = 0; i < rank; i++) {
        if (order.v[i] < 0) order.v[i] += (int64_t)rank;
        if (order.v[i] < 0 || order.v[i] >= (int64_t)rank || seen.v[order.v[i]]++)
            return deepx_invalid(at, 1, XIR_E_BOUNDS, "expected the number of each dim once");
    }
    return xir_node_result(at, 0, fitted(at, xir_node_transposed(at, x, order.v, rank, NULL)));
}

static bool take_axis(xir_node *at, size_t i, size_t rank, int64_t *out) {
    double v;
    *out = 0;
    if (!deepx_number(at, i, &v)) return false;
    if (!(v >= -(double)rank && v < (double)rank))
        return deepx_invalid(at, i, XIR_E_BOUNDS, "expected a dim of the tensor");
    *out = (int64_t)v + (v < 0 ? (int64_t)rank : 0);
    return true;
}

bool deepx_concat(xir_node *at) {
    int64_t axis;
    const xir_values in = node_inputs(at);
    if (!in.size || !take_axis(at, 1, v_rank(in.data[0]), &axis)) return false;
    return xir_node_becomes(at, "Concat", in, SETS(INT("axis", axis)));
}

bool deepx_broadcast(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_ints(at, 1, &dims)) return false;
    for (size_t i = 0; i < dims.n; i++)
        if (dims.v[i] < 0) return deepx_invalid(at, 1, XIR_E_BOUNDS, "expected dims");
    return xir_node_becomes(at, "Expand", INS(x), SETS(LIST("sizes", &dims)));
}

bool deepx_indexselect(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1);
    if (!x || !index || !take_axis(at, 2, v_rank(x), &axis)) return false;
    return xir_node_becomes(at, "Gather", INS(x, index), SETS(INT("axis", axis)));
}

/* Each element several times, along every dim: not tiles. */
bool deepx_repeat(xir_node *at) {
    xir_ints times;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_ints(at, 1, &times) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x);
    if (times.n != rank) return deepx_invalid(at, 1, XIR_E_BOUNDS, "expected a number for each dim of the tensor");
    xir_ints apart = xir_node_make_ints(at, 2 * rank, 1), wide = xir_node_make_ints(at, 2 * rank, 1),
             dims = xir_node_make_ints(at, rank, 1);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank; i++) {
        if (times.v[i] < 1) return deepx_invalid(at, 1, XIR_E_BOUNDS, "expected numbers from 1 on");
        apart.v[2 * i] = wide.v[2 * i] = v_dim(x, i);
        wide.v[2 * i + 1] = times.v[i];
        if (__builtin_mul_overflow(v_dim(x, i), times.v[i], &dims.v[i]))
            return deepx_invalid(at, 1, XIR_E_LIMIT, "the tensor would be too large");
    }
    x = xir_node_make(at, "Expand", INS(make_reshaped(at, x, &apart)), SETS(LIST("sizes", &wide)));
    return xir_node_result(at, 0, x ? make_reshaped(at, x, &dims) : NULL);
}
