/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions with indices, which are floats in files; sorting. */
#include "nnb/nnb.h"
#include "spec/one_axis.h"

/* Along one axis; with batch_dims, of which x and indices have the same, not converted. */
bool nnb_gather(xir_node *at) {
    const one_axis a = one_axis_of(at, "argument/axis", 0);
    xir_value *index = xir_node_input(at, 1);
    if (xir_node_int(at, "batch_dims", 0)) return xir_node_unsupported(at, "indices for each of a batch");
    return xir_node_becomes(at, "Gather", INS(a.x, nnb_index(at, index)), SETS(AXIS("axis", a)));
}

/* Positions, whose coordinates are the first dim in NNabla and the last in XIR. */
static xir_value *positions(xir_node *at, size_t i) {
    xir_value *index = nnb_index(at, xir_node_input(at, i));
    const size_t rank = index ? v_rank(index) : 0;
    xir_ints order = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return NULL;
    if (!rank) return xir_node_invalid(at, XIR_E_INVALID, "input/1", "expected 1 dim or more, found 0"), NULL;
    for (size_t k = 0; k + 1 < rank; k++) order.v[k] = (int64_t)k + 1;
    return rank > 1 ? xir_node_transposed(at, index, order.v, rank, NULL) : index;
}

bool nnb_gather_nd(xir_node *at) {
    return xir_node_becomes(at, "GatherND", INS(xir_node_input(at, 0), positions(at, 1)), NO_SETS);
}

/* Into zeros of a shape, or into a third input. */
bool nnb_scatter_nd(xir_node *at) {
    xir_value *data = xir_node_input(at, 0), *to = xir_node_optional_input(at, 2);
    xir_ints dims;
    if (!to) {
        if (!xir_node_items(at, "shape", &dims)) return xir_node_unsupported(at, "shape is missing");
        for (size_t i = 0; i < dims.n; i++) if (dims.v[i] < 0) return nnb_out_of_range(at, "shape", dims.v[i]);
        to = xir_node_filled(at, v_element(data), &dims, 0);
    }
    const xir_set reduction = WORD("reduction", xir_str_of(xir_node_bool(at, "add", false) ? "ADD" : "NONE"));
    return xir_node_becomes(at, "ScatterND", INS(to, positions(at, 1), data), (xir_sets){ &reduction, 1 });
}

/* x0 with x1 added at the indices along an axis. */
bool nnb_scatter_add(xir_node *at) {
    const one_axis a = one_axis_of(at, "argument/axis", 0);
    xir_value *index = xir_node_input(at, 1), *more = xir_node_input(at, 2);
    return xir_node_result(at, 0, make_scattered(at, a.x, index, more, a.axis, XIR_STR("ADD")));
}

/* 1 at the places that the last dim of x gives, in the dims of `shape`. */
bool nnb_one_hot(xir_node *at) {
    xir_ints shape;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_items(at, "shape", &shape)) return xir_node_unsupported(at, "shape is missing");
    const size_t rank = v_rank(x), n = shape.n;
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (!rank || v_dim(x, rank - 1) != (int64_t)n)
        return xir_node_invalid(at, XIR_E_INVALID, "argument/shape", "shape: expected as many items as the last dim "
                                "of the input has elements, found %zu", n);
    for (size_t i = 0; i < n; i++) if (shape.v[i] < 1) return nnb_out_of_range(at, "shape", shape.v[i]);
    const int64_t cells = product_of(&shape, 0, n);
    if (cells < 0 || cells > NNB_MOST_LISTED) return xir_node_unsupported(at, "a constant of more than 2^22 elements");
    xir_ints dims = xir_node_make_ints(at, rank - 1 + n, 1);
    for (size_t i = 0; i + 1 < rank && dims.v; i++) dims.v[i] = v_dim(x, i);
    xir_value *index = nnb_index(at, x), *all = NULL;
    for (size_t i = 0; i < n && !xir_node_failed(at); i++) {
        const xir_ints numbers = xir_node_series(at, 0, (size_t)shape.v[i]);
        xir_value *place = make_part(at, index, rank - 1, (int64_t)i, (int64_t)i + 1, 1);
        xir_value *here = xir_node_make(at, "Equal", INS(place ? make_reshaped(at, place, &dims) : NULL,
                                                         make_line(at, xir_node_integers(at, &numbers), n, i)),
                                        NO_SETS);
        all = all ? xir_node_make(at, "And", INS(all, here), NO_SETS) : here;
    }
    return xir_node_result(at, 0, nnb_number(at, all, v_element(x)));
}

/* ---- orders ----------------------------------------------------------------------------------------------------- */

static xir_op *top(xir_node *at, xir_value *x, int64_t axis, int64_t k, bool largest) {
    const xir_ints count = { (int64_t[]){ k }, 1 };
    return xir_node_make_op(at, "TopK", INS(x, xir_node_integers(at, &count)),
                            SETS(INT("axis", axis), INT("largest", largest)));
}

/* The numbers, with with_index their places too, or with only_index the places alone. */
bool nnb_sort(xir_node *at) {
    const one_axis a = known_axis_of(at, "argument/axis", 0);
    xir_op *op = top(at, a.x, (int64_t)a.axis, a.n, xir_node_bool(at, "reverse", false));
    if (!op) return false;
    const bool only = xir_node_bool(at, "only_index", false);
    if (!xir_node_result(at, 0, xir_op_output(op, only))) return false;
    return at->n_out < 2 || xir_node_result(at, 1, xir_op_output(op, 1));
}

/* The k greatest numbers, or those of greatest magnitude, of all dims from base_axis on; with `reduce` alone, else in
 * their places among zeros. */
bool nnb_top_k_data(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    size_t base;
    if (!x || !nnb_base(at, x, &base) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const int64_t k = xir_node_int(at, "k", 1);
    xir_value *flat = base < v_rank(x) ? nnb_flattened(at, x, base) : NULL;
    if (xir_node_failed(at) || !flat) return xir_node_unsupported(at, "nothing after base_axis");
    if (k < 1 || k > v_dim(flat, base)) return nnb_out_of_range(at, "k", k);
    const bool magnitude = xir_node_bool(at, "abs", false);
    xir_op *op = top(at, magnitude ? xir_node_unary(at, "Abs", flat) : flat, (int64_t)base, k,
                     xir_node_bool(at, "largest", true));
    if (!op) return false;
    xir_value *places = xir_op_output(op, 1), *y = xir_op_output(op, 0);
    if (magnitude) y = xir_node_make(at, "GatherElements", INS(flat, nnb_index(at, places)),
                                     SETS(INT("axis", (int64_t)base)));
    if (!xir_node_bool(at, "reduce", true)) {
        const xir_ints dims = xir_node_dims(at, x), all = xir_node_dims(at, flat);
        xir_value *zeros = xir_node_failed(at) ? NULL : xir_node_filled(at, v_element(x), &all, 0);
        y = make_scattered(at, zeros, places, y, base, XIR_STR("NONE"));
        y = y ? make_reshaped(at, y, &dims) : NULL;
    }
    return xir_node_result(at, 0, y) && (at->n_out < 2 || xir_node_result(at, 1, places));
}
