/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations over dims, and of those that move elements. */
#include <math.h>
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/one_axis.h"
#include "spec/reduction.h"
#include "spec/slicing.h"
#include "tsm/tsm.h"

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* One dim after the other: reduce_sum takes one, and reduce_mean neighbours. */
bool tsm_back_reduce(xir_node *at) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return false;
    const bool sum = xir_op_is(at->op, xir_sum_class());
    if (!sum && v_is_integer(x)) return xir_node_unsupported(at, "a mean of integers");
    if (!v_rank(x)) return xir_node_unsupported(at, "a single number");
    xir_ints dims = xir_node_dims(at, x);
    for (size_t i = 0; i < r.axes.n && !xir_node_failed(at) && x; i++) {
        dims.v[r.axes.v[i]] = 1;
        const xir_type *type = tsm_tensor(at, v_element(x), NULL, &dims);
        const xir_ints one = { &r.axes.v[i], 1 };
        x = tsm_part(at, sum ? "tsm::reduce_sum" : "tsm::reduce_mean", INS(x),
                 SETS(LIST("dims", &one), XIR_SETB("keep_dims", true)), type);
    }
    if (r.keep) return tsm_gives(at, "tsm::_copy", INS(x), NO_SETS);
    return tsm_gives(at, "tsm::squeeze", INS(x), SETS(LIST("axes", &r.axes)));
}

/* -x; of an integer -1 - x, which each of them has. */
static xir_value *reversed(xir_node *at, xir_value *x) {
    return v_is_integer(x) ? xir_node_sum(at, xir_node_scalar(at, v_element(x), -1), x, 1, -1)
                           : xir_node_unary(at, "Neg", x);
}

/* The greatest of -x, as the least of x; the place of the least one is not that of NaN. */
static bool least_of(xir_node *at, xir_value *x) {
    const bool index = tsm_is_class(at, "Argmin"), sign = v_is_integer(x) && xir_integer_type_of(xir_type_object(
        v_element(x)))->sign;
    if (v_is_integer(x) && (index || !sign)) return xir_node_unsupported(at, "the least of integers");
    const xir_sets sets = xir_node_attr(at, "dim")
        ? SETS(INT("dim", xir_node_int(at, "dim", 0)), INT("keepdim", xir_node_bool(at, "keepdim", false)))
        : SETS(INT("keepdim", xir_node_bool(at, "keepdim", false)));
    xir_value *y = reversed(at, x);
    if (index) y = xir_node_make(at, "Where", INS(y, xir_node_scalar(at, v_element(x), -INFINITY),
                                                  xir_node_make(at, "Equal", INS(x, x), NO_SETS)), NO_SETS);
    x = xir_node_make(at, index ? "Argmax" : "Max", INS(y), sets);
    return x && xir_node_result(at, 0, index ? x : reversed(at, x));
}

/* max, which is also the least with two changes of sign; argmax, whose indices have 32 bits. Over all dims they are
 * over x as one. */
bool tsm_back_extreme(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t axis = 0;
    const xir_type *type = tsm_type(at, 0);
    const bool keep = xir_node_bool(at, "keepdim", false), one = xir_node_attr(at, "dim");
    if (tsm_is_class(at, "Min") || tsm_is_class(at, "Argmin")) return least_of(at, x);
    if (one && !node_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    if (!one) x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    xir_ints dims = xir_node_dims(at, x);
    if (!dims.v || !x) return false;
    for (size_t i = (size_t)axis; i + 1 < dims.n; i++) dims.v[i] = dims.v[i + 1];
    dims.n--;
    const bool index = tsm_is_class(at, "Argmax");
    const xir_type *element = index ? xir_type_sint(xir_node_context(at), 32) : v_element(x);
    const xir_type *own = one && !keep ? type : tsm_tensor(at, element, NULL, &dims);
    own = own ? tsm_typed_as(at, own, element) : NULL;
    xir_value *y = index ? tsm_part(at, "tsm::argmax", INS(x), SETS(INT("dim", axis)), own)
                         : tsm_part(at, "tsm::max", INS(x), SETS(INT("dim", axis), XIR_SETB("keep_dims", false)), own);
    dims = xir_node_dims(at, xir_op_output(at->op, 0));
    if (keep) y = make_reshaped(at, y, &dims);
    return y && xir_node_result(at, 0, xir_node_cast(at, y, xir_type_element(type)));
}

bool tsm_back_softmax(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    return row_becomes(at, INS(a.x), SETS(AXIS("dim", a), XIR_SETB("smooth", true)));
}

/* x / max(sqrt(sum(x^2)), eps) */
bool tsm_back_normalize(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_items(at, "axis", &axes)) return false;
    if (xir_node_real(at, "p", 2) != 2) return xir_node_unsupported(at, "another norm");
    if (!axes.n) axes = xir_node_series(at, 0, v_rank(x));
    xir_value *norm = xir_node_unary(at, "Sqrt", xir_node_reduced(at, "Sum", xir_node_product(at, x, x), &axes, true));
    const double eps = xir_node_real(at, "eps", 1e-12), least = node_least_real(v_element(x));
    xir_value *bound = xir_node_scalar(at, v_element(x), eps > 0 && eps < least ? least : eps);
    norm = xir_node_make(at, "Maximum", INS(norm, bound), NO_SETS);
    return xir_node_result(at, 0, xir_node_quotient(at, x, norm));
}

/* Along the last dim; indices come in 32 bits. */
bool tsm_back_top_k(xir_node *at) {
    xir_ints k;
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_ints(at, 1, &k) || k.n != 1) return false;
    if (!node_axis(at, "axis", -1, v_rank(x), &axis)) return false;
    if (axis + 1 != (int64_t)v_rank(x) || !xir_node_bool(at, "largest", true) || k.v[0] < 1 || k.v[0] > TSM_MOST_DIM)
        return xir_node_unsupported(at, "another dim than the last, or the least");
    xir_value *packed = tsm_part(at, "tsm::topkv2", INS(x), SETS(INT("number", k.v[0]), INT("sorted", 1)),
                                 tsm_type(at, 0));
    tsm_gives(at, "tsm::_field", INS(packed), SETS(INT("offset", 0)));
    if (at->n_out < 2) return !xir_node_failed(at);
    const int64_t dtype = tsm_dtype(at, xir_type_element(tsm_type(at, 1)));
    xir_value *index = tsm_part(at, "tsm::_field", INS(packed), SETS(INT("offset", 1)),
                            tsm_typed_as(at, tsm_type(at, 1), xir_type_sint(xir_node_context(at), 32)));
    if (!dtype) return xir_node_unsupported(at, "elements that TensorStack does not have");
    return xir_node_result(at, 1, tsm_part(at, "tsm::_cast", INS(index), SETS(INT("dtype", dtype)), tsm_type(at, 1)));
}

/* ---- moves ------------------------------------------------------------------------------------------------------ */

/* Reshape and Squeeze: the dims of the result; one of them may be open. */
bool tsm_back_reshape(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints dims;
    if (!dims_of_result(at, &dims) || !tsm_short_dims(at, xir_op_output(at->op, 0))) return false;
    for (size_t i = 0; i < dims.n; i++)
        if (dims.v[i] == 0) return xir_node_unsupported(at, "a dim of 0, which keeps one of the input");
    return tsm_gives(at, "tsm::_reshape", INS(x), SETS(LIST("shape", &dims)));
}

bool tsm_back_transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    return order_of_op(at, x, &order) && tsm_gives(at, "tsm::_transpose", INS(x), SETS(LIST("permute", &order)));
}

bool tsm_back_expand(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (!xir_node_need_dims(at, y, 0, SIZE_MAX)) return false;
    const xir_ints dims = xir_node_dims(at, y);
    return dims.v && tsm_gives(at, "tsm::broadcast", INS(x, tsm_list_of(at, &dims, NULL)), NO_SETS);
}

bool tsm_back_tile(xir_node *at) {
    xir_ints counts;
    xir_value *x = xir_node_input(at, 0);
    if (!x || xir_node_has(at, 1)) return xir_node_unsupported(at, "counts that are computed");
    if (!xir_node_items(at, "dims", &counts)) return false;
    for (size_t i = 0; i < counts.n; i++)
        if (counts.v[i] > TSM_MOST_DIM) return xir_node_unsupported(at, "a number of more than 32 bits");
    return tsm_gives(at, "tsm::tile", INS(x), SETS(LIST("repeats", &counts)));
}

bool tsm_back_join(xir_node *at) {
    joining j;
    if (!joining_of_op(at, &j)) return false;
    return tsm_gives(at, j.stacks ? "tsm::stack" : "tsm::concat", j.in, SETS(INT(j.stacks ? "axis" : "dim", j.axis)));
}

bool tsm_back_split(xir_node *at) {
    xir_ints sizes;
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    if (!xir_node_items(at, "sections", &sizes)) return false;
    return tsm_give_fields(at, "tsm::split", INS(a.x, tsm_list_of(at, &sizes, NULL)), SETS(AXIS("axis", a)));
}

/* Bounds as numbers from 0 on; backward to before the first element by a mask. */
bool tsm_back_slice(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0);
    if (!fixed_slicing_of_op(at, x, &s) || !tsm_short_dims(at, x)) return false;
    const size_t rank = v_rank(x);
    int64_t mask = 0;
    if (rank > 31) return xir_node_unsupported(at, "%zu dims", rank);
    for (size_t i = 0; i < rank; i++) {
        const slice_part p = slicing_picks(&s, i, v_dim(x, i));
        if (!p.count) return xir_node_unsupported(at, "no elements");
        if (s.step.v[i] > TSM_MOST_DIM || s.step.v[i] < -TSM_MOST_DIM)
            return xir_node_unsupported(at, "a number of more than 32 bits");
        if (p.end < 0) mask |= INT64_C(1) << i;
        s.begin.v[i] = p.first, s.end.v[i] = p.end < 0 ? 0 : p.end;
    }
    return tsm_gives(at, "tsm::strided_slice", INS(x),
                     SETS(LIST("begin", &s.begin), LIST("end", &s.end), LIST("stride", &s.step),
                          INT("end_mask", mask)));
}

bool tsm_back_pad(xir_node *at) {
    static const pad_words constant = { { "" } };
    borders b;
    xir_value *x = xir_node_input(at, 0);
    if (!fixed_borders_of_op(at, x, &b) || !border_word(at, &b, &constant)) return false;
    const xir_ints dims = { (int64_t[]){ (int64_t)v_rank(x), 2 }, 2 };
    return tsm_gives(at, "tsm::pad", INS(x, tsm_list_of(at, &b.cells, &dims)), SETS(REAL("padding_value", b.value)));
}

bool tsm_back_gather_nd(xir_node *at) {
    if (xir_node_int(at, "batch_dims", 0)) return xir_node_unsupported(at, "dims of a batch");
    return row_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

/* TenniS takes positions in the first dim alone. */
bool tsm_back_scatter_nd(xir_node *at) {
    const xir_value *index = xir_node_input(at, 1);
    if (!xir_node_is(at, "reduction", "NONE")) return xir_node_unsupported(at, "sums of updates");
    if (!index || v_rank(index) != 2 || v_dim(index, 1) != 1)
        return xir_node_unsupported(at, "positions in more than the first dim");
    xir_value *places = xir_node_cast(at, xir_node_input(at, 1), xir_type_sint(xir_node_context(at), 32));
    return tsm_gives(at, "tsm::scatter_nd", INS(xir_node_input(at, 0), places, xir_node_input(at, 2)), NO_SETS);
}

/* A series of constants is one. */
bool tsm_back_range(xir_node *at) {
    const double *step;
    size_t n;
    xir_value *known = xir_node_is_constant(at, 0) && xir_node_is_constant(at, 1) && xir_node_is_constant(at, 2)
        ? conversion_computed(at, at->op) : NULL;
    if (known || xir_node_failed(at)) return known && xir_node_becomes(at, "Copy", INS(known), NO_SETS);
    if (!xir_node_is_constant(at, 2) || !xir_node_reals(at, 2, &step, &n) || n != 1 || !(step[0] > 0))
        return xir_node_unsupported(at, "steps that are computed or negative, of which TenniS drops the last");
    return row_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1), xir_node_input(at, 2)), NO_SETS);
}

bool tsm_back_constant_of_shape(xir_node *at) {
    xir_value *known = xir_node_is_constant(at, 0) ? conversion_computed(at, at->op) : NULL;
    if (known || xir_node_failed(at)) return known && xir_node_becomes(at, "Copy", INS(known), NO_SETS);
    const xir_type *type = tsm_type(at, 0), *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    xir_value *dims = xir_node_cast(at, xir_node_input(at, 0), xir_type_sint(xir_node_context(at), 32));
    xir_value *y = tsm_part(at, "tsm::constant_of_shape", INS(dims), SETS(REAL("value", xir_node_real(at, "value", 0))),
                            tsm_typed_as(at, type, real));
    return y && xir_node_result(at, 0, xir_node_cast(at, y, xir_type_element(type)));
}

/* The dims, which have 32 bits, and a part of them. */
bool tsm_back_shape(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t rank = (int64_t)v_rank(x), from, to;
    if (!part_of_shape(at, x, &from, &to)) return false;
    const xir_type *all = tsm_tensor(at, xir_type_sint(xir_node_context(at), 32), NULL, &(xir_ints){ &rank, 1 });
    xir_value *y = tsm_part(at, "tsm::_shape", INS(x), NO_SETS, all);
    if (to - from != rank) y = make_part(at, y, 0, from, to, 1);
    return y && xir_node_result(at, 0, xir_node_cast(at, y, xir_type_element(tsm_type(at, 0))));
}
