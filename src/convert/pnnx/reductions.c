/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reductions, searches and running sums. */
#include "pnnx/pnnx.h"
#include "spec/one_axis.h"

/* The axes of the attribute dim; all axes if it is null, missing or empty. */
static xir_ints axes_of(xir_node *at, const xir_value *x) {
    xir_ints axes;
    if (pnnx_list(at, "dim", 0, &axes) && axes.n) return axes;
    return xir_node_series(at, 0, v_rank(x));
}

/* Without a type of their own, sums and products of integers are 64-bit integers. */
static xir_value *grown(xir_node *at, xir_value *x) {
    if (!x || !pnnx_is_none(at, "dtype") || v_is_real(x)) return pnnx_cast_first(at, x);
    return xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64));
}

bool pnnx_reduce(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x) return false;
    const char *cls = at->cls->row->cls;
    x = cls[0] == 'S' || cls[0] == 'P' ? grown(at, x) : pnnx_cast_first(at, x);
    const xir_ints axes = axes_of(at, x);
    return xir_node_result(at, 0, xir_node_reduced(at, cls, x, &axes, xir_node_bool(at, "keepdim", false)));
}

/* m + log(sum(e^(x - m))) with the maximum m. */
bool pnnx_logsumexp(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_ints axes = axes_of(at, x);
    xir_value *most = xir_node_reduced(at, "Max", x, &axes, true);
    xir_value *sum = xir_node_reduced(at, "Sum", xir_node_unary(at, "Exp", xir_node_sum(at, x, most, 1, -1)), &axes,
                                      true);
    xir_value *all = xir_node_sum(at, xir_node_unary(at, "Log", sum), most, 1, 1);
    if (xir_node_bool(at, "keepdim", false) || !all) return xir_node_result(at, 0, all);
    return xir_node_result(at, 0, xir_node_make(at, "Squeeze", INS(all), SETS(LIST("axis", &axes))));
}

bool pnnx_std(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x) return false;
    const xir_ints axes = axes_of(at, x);
    const bool keep = xir_node_bool(at, "keepdim", false);
    const double less = pnnx_is_none(at, "correction") ? xir_node_bool(at, "unbiased", true)
                                                       : xir_node_real(at, "correction", 1);
    double count = 1;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/dim", axes.v[i], v_rank(x), &axis) ||
            !xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        count *= (double)v_dim(x, (size_t)axis);
    }
    xir_value *off = xir_node_sum(at, x, xir_node_reduced(at, "Mean", x, &axes, true), 1, -1);
    xir_value *sum = xir_node_reduced(at, "Sum", xir_node_product(at, off, off), &axes, keep);
    const xir_set divisor = REAL("divisor", count - less);
    xir_value *variance = sum ? xir_node_make(at, "DivideScalar", INS(sum), (xir_sets){ &divisor, 1 }) : NULL;
    return xir_node_result(at, 0, xir_node_variant(at) ? xir_node_unary(at, "Sqrt", variance) : variance);
}

/* Positions are 64-bit integers. Without a dim they count all elements. */
static xir_value *places_of(xir_node *at, const char *cls, xir_value *x, bool keep) {
    int64_t axis = 0;
    if (pnnx_is_none(at, "dim")) {
        const xir_ints flat = { (int64_t[]){ -1 }, 1 };
        x = make_reshaped(at, x, &flat);
    } else if (!node_axis(at, "dim", 0, v_rank(x), &axis)) {
        return NULL;
    }
    xir_value *y = xir_node_make(at, cls, INS(x), SETS(INT("dim", axis), INT("keepdim", keep)));
    return y ? xir_node_cast(at, y, xir_type_sint(xir_node_context(at), 64)) : NULL;
}

/* Of all elements each kept dim is 1. */
bool pnnx_arg(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const bool keep = xir_node_bool(at, "keepdim", false), all = pnnx_is_none(at, "dim");
    xir_value *y = places_of(at, at->cls->row->cls, x, keep && !all);
    if (!keep || !all || !y) return xir_node_result(at, 0, y);
    const xir_ints ones = xir_node_make_ints(at, v_rank(x), 1);
    return ones.v && xir_node_result(at, 0, make_reshaped(at, y, &ones));
}

/* Of all elements, of two tensors, or along a dim with the positions. */
bool pnnx_min_max(xir_node *at) {
    const bool most = xir_node_variant(at), keep = xir_node_bool(at, "keepdim", false);
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_has(at, 1)) {
        xir_value *y = xir_node_input(at, 1);
        if (!pnnx_promote(at, &x, &y)) return false;
        return xir_node_becomes(at, most ? "Maximum" : "Minimum", INS(x, y), NO_SETS);
    }
    const xir_ints axes = axes_of(at, x);
    xir_node_result(at, 0, xir_node_reduced(at, most ? "Max" : "Min", x, &axes, keep));
    return at->n_out < 2 ? !xir_node_failed(at)
                         : xir_node_result(at, 1, places_of(at, most ? "Argmax" : "Argmin", x, keep));
}

/* torch.any and torch.all, along one dim or over all elements. The result of uint8 elements is uint8, else bool. */
bool pnnx_any(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *byte = xir_type_uint(xir_node_context(at), 8);
    const bool bytes = xir_type_equal(v_element(x), byte);
    const xir_ints axes = axes_of(at, x);
    xir_value *y = xir_node_reduced(at, xir_node_variant(at) ? "Max" : "Min", make_truth(at, x), &axes,
                                    xir_node_bool(at, "keepdim", false));
    return y && xir_node_result(at, 0, bytes ? xir_node_cast(at, y, byte) : y);
}

/* The k greatest or least elements along an axis, and where they are. */
static bool ranked(xir_node *at, const one_axis *a, int64_t count, bool largest, bool sorted) {
    xir_value *x = a->x;
    const xir_str type = xir_node_type(at);
    const xir_ints k = xir_node_make_ints(at, 1, count);
    const xir_type *element = v_element(x), *place = xir_type_sint(xir_node_context(at), 64);
    const bool places = xir_str_equal(type, XIR_STR("torch.argsort"));
    /* XIR's op gives positions in the elements of x */
    const bool wide = xir_type_storage_bits(element) < 32;
    if (wide) x = xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP64));
    xir_op *op = xir_node_make_op(at, "TopK", INS(x, xir_node_integers(at, &k)),
                                  SETS(AXIS("axis", *a), INT("largest", largest), INT("sorted", sorted)));
    if (places) return xir_node_result(at, 0, xir_node_cast(at, xir_op_output(op, 1), place));
    return xir_node_result(at, 0, xir_node_cast(at, xir_op_output(op, 0), element)) &&
           xir_node_result(at, 1, xir_node_cast(at, xir_op_output(op, 1), place));
}

bool pnnx_topk(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", -1);
    return ranked(at, &a, xir_node_int(at, "k", 1), xir_node_bool(at, "largest", true),
                  xir_node_bool(at, "sorted", true));
}

/* All of a dim. */
bool pnnx_sort(xir_node *at) {
    const one_axis a = known_axis_of(at, "attribute/dim", -1);
    return ranked(at, &a, a.n, xir_node_bool(at, "descending", false), true);
}

bool pnnx_cumsum(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    return xir_node_becomes(at, "CumSum", INS(grown(at, a.x)), SETS(AXIS("axis", a)));
}

bool pnnx_cumprod(xir_node *at) {
    const one_axis a = known_axis_of(at, "attribute/dim", 0);
    return a.x && xir_node_result(at, 0, make_running_product(at, grown(at, a.x), a.axis));
}
