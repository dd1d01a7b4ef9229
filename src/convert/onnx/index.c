/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements by index, and ops whose results depend on data. */
#include "formula/parts.h"
#include "onnx/rows.h"
#include "spec/one_axis.h"

bool onnx_gather(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", 0);
    return xir_node_becomes(at, at->cls->row->cls, INS(a.x, xir_node_input(at, 1)), SETS(AXIS("axis", a)));
}

/* Returns true if an element type has all numbers below n: XIR's TopK gives positions in the element type of x. An
 * unknown dim is assumed to be small enough for fp32. */
static bool can_count(const xir_type *element, int64_t n) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    uint64_t bits = xir_type_storage_bits(element);
    if (real) bits = real->format == XIR_FLOAT_FP16 ? 12 : real->format == XIR_FLOAT_BF16
        ? 9 : real->format == XIR_FLOAT_FP32 ? 25 : 54;
    return bits >= 54 || (n < 0 && bits >= 25) || (n >= 0 && n <= INT64_C(1) << (bits - 1));
}

bool onnx_top_k(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_value *x = a.x, *k;
    if (at->cls->version < 10) {   /* k is an attribute */
        xir_ints one = xir_node_make_ints(at, 1, xir_node_int(at, "k", 0));
        k = one.v ? xir_node_integers(at, &one) : NULL;
    } else {
        k = xir_node_input(at, 1);
    }
    if (xir_node_failed(at)) return false;
    const xir_type *element = v_element(x);
    bool wide = !can_count(element, a.n);
    xir_op *op = xir_node_make_op(at, "TopK",
                                  INS(wide ? xir_node_cast(at, x, xir_type_float(at->c->ctx, XIR_FLOAT_FP64)) : x, k),
                                  SETS(AXIS("axis", a), INT("largest", xir_node_int(at, "largest", 1)),
                                       INT("sorted", xir_node_int(at, "sorted", 1))));
    if (!op) return false;
    xir_value *places = xir_node_cast(at, xir_op_output(op, 1), xir_type_sint(at->c->ctx, 64));
    return xir_node_result(at, 0, xir_node_cast(at, xir_op_output(op, 0), element)) && xir_node_result(at, 1, places);
}

bool onnx_gather_nd(xir_node *at) {
    xir_value *data = xir_node_input(at, 0), *indices = xir_node_input(at, 1);
    if (v_rank(indices) == 0) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected at least 1 dim, found none");
    }
    if (v_dim(indices, v_rank(indices) - 1) < 0) return xir_node_unsupported(at, "the rank of the output is unknown");
    return xir_node_becomes(at, "GatherND", INS(data, indices),
                            SETS(INT("batch_dims", xir_node_int(at, "batch_dims", 0))));
}

bool onnx_scatter_nd(xir_node *at) {
    xir_value *data = xir_node_input(at, 0), *indices = xir_node_input(at, 1), *updates = xir_node_input(at, 2);
    return xir_node_becomes(at, "ScatterND", INS(data, indices, updates),
                            SETS(WORD("reduction", xir_node_text(at, "reduction", "none"))));
}

bool onnx_non_zero(xir_node *at) {
    return xir_node_result(at, 0, xir_node_unary(at, "NonZero", xir_node_input(at, 0)));
}

bool onnx_non_max_suppression(xir_node *at) {
    xir_value *inputs[5] = { NULL };
    for (size_t i = 0; i < at->n_in && i < 5; i++) inputs[i] = xir_node_optional_input(at, i);
    return xir_node_becomes(at, "NonMaxSuppression", (xir_values){ inputs, at->n_in },
                            SETS(INT("center_point_box", xir_node_int(at, "center_point_box", 0))));
}

/* The positions where the condition holds, picked from the axis, or from all elements in one dim. */
bool onnx_compress(xir_node *at) {
    int64_t rest[] = { -1 }, axis = xir_node_int(at, "axis", 0);
    const xir_ints flat = { rest, 1 };
    xir_value *x = xir_node_input(at, 0), *condition = xir_node_input(at, 1);
    if (!xir_node_attr(at, "axis")) x = make_reshaped(at, x, &flat);
    if (xir_node_failed(at) || !xir_node_axis(at, "attribute/axis", axis, v_rank(x), &axis)) return false;
    xir_value *found = xir_node_unary(at, "NonZero", condition);
    xir_value *places = found && xir_value_is_params(found) ? make_reshaped(at, found, &flat)
                      : xir_node_make(at, "Reshape", INS(found),
                                      SETS(LIST("shape", &flat), OBJ("layout", xir_layout_default(at->c->ctx, 1))));
    return xir_node_becomes(at, "Gather", INS(x, places), SETS(INT("axis", axis)));
}

/* The second value where the index, counted from either end, is the position along the new axis; elsewhere the
 * first. */
bool onnx_one_hot(xir_node *at) {
    xir_ints depth, axes = xir_node_make_ints(at, 1, xir_node_int(at, "axis", -1));
    xir_value *index = xir_node_input(at, 0), *values = xir_node_input(at, 2);
    if (!xir_node_ints(at, 1, &depth)) return false;
    if (depth.n != 1 || depth.v[0] < 1) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected one positive number");
    }
    if (depth.v[0] > MOST_LISTED) return xir_node_unsupported(at, "a depth of %lld", (long long)depth.v[0]);
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    index = xir_node_unsqueezed(at, xir_node_cast(at, index, whole), &axes, "attribute/axis");
    if (xir_node_failed(at) || !xir_node_axis(at, "attribute/axis", axes.v[0], v_rank(index), &axes.v[0])) return false;
    xir_ints places = xir_node_series(at, 0, (size_t)depth.v[0]), from_end =
        xir_node_series(at, -depth.v[0], (size_t)depth.v[0]);
    const xir_ints dims = node_line(at, v_rank(index), (size_t)axes.v[0], depth.v[0]);
    const xir_ints zero = { (int64_t[]){ 0 }, 1 }, one = { (int64_t[]){ 1 }, 1 };
    xir_value *hot = xir_node_make(at, "Equal", INS(index, make_reshaped(at, xir_node_integers(at, &places), &dims)),
                                   NO_SETS);
    xir_value *end = xir_node_make(at, "Equal", INS(index, make_reshaped(at, xir_node_integers(at, &from_end), &dims)),
                                   NO_SETS);
    xir_value *off = xir_node_make(at, "Gather", INS(values, xir_node_integers(at, &zero)), SETS(INT("axis", 0)));
    xir_value *on = xir_node_make(at, "Gather", INS(values, xir_node_integers(at, &one)), SETS(INT("axis", 0)));
    return xir_node_becomes(at, "Where", INS(on, off, xir_node_make(at, "Or", INS(hot, end), NO_SETS)), NO_SETS);
}

xir_value *onnx_places_along(xir_node *at, xir_value *x, size_t axis, bool column) {
    const xir_ints zero = { (int64_t[]){ 0 }, 1 }, one = { (int64_t[]){ 1 }, 1 }, dims = { (int64_t[]){ -1, 1 }, 2 };
    xir_value *n = xir_node_make(at, "Shape", INS(x), SETS(INT("start", (int64_t)axis), INT("end", (int64_t)axis + 1)));
    xir_value *line = xir_node_make(at, "Range", INS(xir_node_integers(at, &zero), n, xir_node_integers(at, &one)),
                                    NO_SETS);
    return column ? make_reshaped(at, line, &dims) : line;
}

/* The mask of a Trilu over open dims, or whose diagonal a run gives. */
static xir_value *open_mask(xir_node *at, xir_value *x, xir_value *k, bool above) {
    xir_value *row = onnx_places_along(at, x, v_rank(x) - 2, true), *column = onnx_places_along(at, x, v_rank(x) - 1,
                                                                                                false);
    xir_value *diagonal = xir_node_sum(at, row, k, 1, 1);
    return xir_node_make(at, above ? "GreaterEqual" : "LessEqual", INS(column, diagonal), NO_SETS);
}

/* Zeros outside of a mask over the last two dims, which is constant if they are known. */
bool onnx_trilu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints k = xir_node_make_ints(at, 1, 0);
    const bool given = xir_node_has(at, 1), known = !given || xir_node_is_constant(at, 1);
    if (given && known && !xir_node_ints(at, 1, &k)) return false;
    size_t rank = v_rank(x);
    if (!onnx_ranked(at, 0, x, 2, SIZE_MAX)) return false;
    if (k.n != 1) return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected one number, found %zu", k.n);
    bool above = xir_node_int(at, "upper", 1);
    if (!known || v_dim(x, rank - 2) < 0 || v_dim(x, rank - 1) < 0) {
        xir_value *mask = open_mask(at, x, known ? xir_node_integers(at, &k) : xir_node_input(at, 1), above);
        return xir_node_becomes(at, "Where", INS(x, xir_node_scalar(at, v_element(x), 0), mask), NO_SETS);
    }
    xir_ints dims = xir_node_make_ints(at, 2, 0);
    if (!dims.v) return false;
    dims.v[0] = v_dim(x, rank - 2), dims.v[1] = v_dim(x, rank - 1);
    if (!node_elements_at_most(at, &dims, 4 * MOST_LISTED, "the mask")) return false;
    xir_value *where = make_band(at, xir_type_bool(at->c->ctx), &dims, above ? k.v[0] : INT64_MIN,
                                 above ? INT64_MAX : k.v[0]);
    return xir_node_becomes(at, "Where", INS(x, xir_node_scalar(at, v_element(x), 0), where), NO_SETS);
}
