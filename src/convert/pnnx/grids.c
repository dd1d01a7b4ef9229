/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators whose elements depend on their places: triangles, grids and outer products. */
#include "pnnx/pnnx.h"

/* Each matrix keeps what lies on one side of a diagonal, and has 0 elsewhere. */
bool pnnx_triangle(xir_node *at) {
    enum { MOST = 1 << 22 };
    const bool upper = xir_node_variant(at);
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (rank < 2) return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected a matrix, found %zu dims", rank);
    if (!xir_node_need_dims(at, x, rank - 2, rank)) return false;
    const xir_ints dims = { (int64_t[]){ v_dim(x, rank - 2), v_dim(x, rank - 1) }, 2 };
    if (!node_elements_at_most(at, &dims, MOST, "the matrix")) return false;
    const int64_t diagonal = xir_node_int(at, "diagonal", 0);
    xir_value *mask = make_band(at, xir_type_bool(xir_node_context(at)), &dims, upper ? diagonal : INT64_MIN,
                                upper ? INT64_MAX : diagonal);
    return mask && xir_node_becomes(at, "Where", INS(x, xir_node_scalar(at, v_element(x), 0), mask), NO_SETS);
}

/* Output i has the elements of input i along dim i, and is the same along the others. With "xy" dims 0 and 1 are
 * swapped. */
bool pnnx_meshgrid(xir_node *at) {
    const bool swaps = xir_node_is(at, "indexing", "xy") && at->n_in > 1;
    xir_ints sizes = xir_node_make_ints(at, at->n_in, 1);
    if (!sizes.v) return false;
    if (at->n_out > at->n_in)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected %zu outputs, found %zu", at->n_in, at->n_out);
    for (size_t i = 0; i < at->n_in; i++) {
        const xir_value *v = xir_node_input(at, i);
        if (!v) return false;
        if (v_rank(v) > 1) return xir_node_unsupported(at, "a grid of %zu dims", v_rank(v));
        if (!xir_node_need_dims(at, v, 0, SIZE_MAX)) return false;
        sizes.v[swaps && i < 2 ? 1 - i : i] = v_rank(v) ? v_dim(v, 0) : 1;
    }
    for (size_t i = 0; i < at->n_out; i++) {
        const size_t axis = swaps && i < 2 ? 1 - i : i;
        const xir_ints line = node_line(at, at->n_in, axis, sizes.v[axis]);
        xir_value *y = make_reshaped(at, xir_node_input(at, i), &line);
        y = y ? xir_node_make(at, "Expand", INS(y), SETS(LIST("sizes", &sizes))) : NULL;
        if (!y || !xir_node_result(at, i, y)) return false;
    }
    return !xir_node_failed(at);
}

/* Each element of one vector times each of the other. */
bool pnnx_outer(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (v_rank(x) != 1 || v_rank(y) != 1)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected vectors, found %zu and %zu dims", v_rank(x),
                                v_rank(y));
    if (!pnnx_promote(at, &x, &y)) return false;
    return xir_node_result(at, 0, xir_node_product(at, make_shaped(at, x, (int64_t[]){ -1, 1 }, 2), y));
}
