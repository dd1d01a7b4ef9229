/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Positions in several dims, of extremes, running sums, mirrored borders, dims as numbers: in terms of positions in one
 * dim, reductions and arithmetic. */
#include <math.h>
#include "formula/parts.h"
#include "formula/simpler.h"
#include "spec/borders.h"
#include "spec/moving.h"

enum { MOST_PLACES = 1 << 22 };

/* ---- positions -------------------------------------------------------------------------------------------------- */

xir_value *make_flat(xir_node *at, xir_value *x, size_t n) {
    if (xir_node_failed(at) || !x || n == 1) return x;
    xir_ints all = xir_node_dims(at, x), dims = xir_node_make_ints(at, all.n - n + 1, -1);
    const int64_t size = product_of(&all, 0, n);
    if (!dims.v) return NULL;
    if (size < 0) return xir_node_unsupported(at, "open dims that are indexed"), NULL;
    dims.v[0] = size;
    size_t open = 0;
    for (size_t i = n; i < all.n; i++) dims.v[i - n + 1] = all.v[i] < 0 ? -1 : all.v[i], open += all.v[i] < 0;
    if (open > 1) return xir_node_unsupported(at, "several open dims"), NULL;
    return make_reshaped(at, x, &dims);
}

/* The first positions in each batch of x, with the dims of the indices but the last. */
static xir_value *batches(xir_node *at, const xir_value *x, const xir_value *indices, size_t batch, size_t n) {
    const xir_ints all = xir_node_dims(at, x);
    const int64_t count = product_of(&all, 0, batch), step = product_of(&all, batch, batch + n);
    xir_ints dims = xir_node_make_ints(at, v_rank(indices) - 1, 1);
    if (!dims.v) return NULL;
    if (count < 0 || step < 0 || count > MOST_PLACES) return xir_node_unsupported(at, "very many batches"), NULL;
    double *first = node_take(at, ((size_t)count + 1) * sizeof *first);
    if (!first) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < count; i++) first[i] = (double)(i * step);
    for (size_t i = 0; i < batch; i++) dims.v[i] = all.v[i];
    return xir_node_constant(at, xir_type_sint(at->c->ctx, 64), &dims, first, (size_t)count);
}

xir_value *make_positions(xir_node *at, xir_value *x, xir_value *indices, size_t batch, size_t n) {
    if (xir_node_failed(at) || !x || !indices) return NULL;
    const xir_type *element = xir_type_sint(at->c->ctx, 64);
    const xir_ints all = xir_node_dims(at, x), line = { (int64_t[]){ (int64_t)n }, 1 }, last = { (int64_t[]){ -1 }, 1 };
    const int64_t size = product_of(&all, 0, batch + n);
    double *dims = node_take(at, 2 * (n + 1) * sizeof *dims), *steps = dims ? dims + n : NULL;
    if (!dims) return node_no_memory(at), NULL;
    if (size < 0) return xir_node_unsupported(at, "open dims that are indexed"), NULL;
    for (size_t i = 0; i < n; i++) {
        dims[i] = (double)(all.v[batch + i] > 0 ? all.v[batch + i] : 1);   /* of no elements nothing is picked */
        steps[i] = (double)product_of(&all, batch + i + 1, batch + n);
    }
    indices = xir_node_cast(at, indices, element);
    xir_value *of = xir_node_constant(at, element, &line, dims, n);
    xir_value *by = xir_node_constant(at, element, &line, steps, n);
    xir_value *from_start = indices && of ? xir_node_make(at, "Mod", INS(indices, of), NO_SETS) : NULL;
    xir_value *places = xir_node_reduced(at, "Sum", xir_node_product(at, from_start, by), &last, false);
    return batch ? xir_node_sum(at, places, batches(at, x, indices, batch, n), 1, 1) : places;
}

/* Gather of the dims that are indexed as one. */
bool simpler_gather_nd(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *indices = xir_node_input(at, 1);
    const size_t batch = (size_t)xir_node_int(at, "batch_dims", 0), rank = v_rank(indices);
    const int64_t n = rank ? v_dim(indices, rank - 1) : -1;
    if (n < 1 || batch + (size_t)n > v_rank(x)) return xir_node_unsupported(at, "positions of no dims");
    xir_value *places = make_positions(at, x, indices, batch, (size_t)n);
    x = make_flat(at, x, batch + (size_t)n);
    return places && x && xir_node_becomes(at, "Gather", INS(x, places), SETS(INT("axis", 0)));
}

/* ---- running sums ----------------------------------------------------------------------------------------------- */

/* Sums without the element itself are those of the elements one place later; backward they are those of the reverse. */
bool simpler_cumsum(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    const bool exclusive = xir_node_bool(at, "exclusive", false), reverse = xir_node_bool(at, "reverse", false);
    if (!x || !node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    if (!exclusive && !reverse) return xir_node_unsupported(at, "a running sum");
    if (reverse) x = make_part(at, x, (size_t)axis, -1, INT64_MIN, -1);
    if (exclusive && x) {
        xir_ints pads = xir_node_make_ints(at, 2 * v_rank(x), 0);
        if (!pads.v) return false;
        pads.v[2 * axis] = 1;
        x = make_part(at, zeros_around(at, x, &pads), (size_t)axis, 0, -1, 1);
    }
    xir_value *y = x ? xir_node_make(at, "CumSum", INS(x), SETS(INT("axis", axis))) : NULL;
    return xir_node_result(at, 0, reverse ? make_part(at, y, (size_t)axis, -1, INT64_MIN, -1) : y);
}

/* ---- mirrored borders ------------------------------------------------------------------------------------------- */

/* x with cells of a constant before and after an axis. */
static xir_value *joined(xir_node *at, xir_value *x, size_t axis, int64_t before, int64_t after, double value) {
    xir_ints dims = xir_node_dims(at, x);
    const xir_ints all = dims;
    xir_value *parts[3];
    size_t n = 0;
    if (xir_node_failed(at)) return NULL;
    dims.v[axis] = before > after ? before : after;
    const int64_t count = product_of(&all, 0, all.n);
    if (count < 0 || count > MOST_PLACES) return xir_node_unsupported(at, "very many cells, or an open dim"), NULL;
    dims.v[axis] = before;
    if (before) parts[n++] = xir_node_filled(at, v_element(x), &dims, value);
    parts[n++] = x;
    dims.v[axis] = after;
    if (after) parts[n++] = xir_node_filled(at, v_element(x), &dims, value);
    return xir_node_make(at, "Concat", (xir_values){ parts, n }, SETS(INT("axis", (int64_t)axis)));
}

/* A Pad that mirrors takes these places of each dim; one of infinite cells, which formats do not hold as a number, is
 * joined with them. */
bool simpler_pad(xir_node *at) {
    borders b;
    xir_value *x = xir_node_input(at, 0);
    if (!fixed_borders_of_op(at, x, &b)) return false;
    const bool filled = b.mode == XIR_PAD_CONSTANT;
    if (filled && isfinite(b.value)) return xir_node_unsupported(at, "cells of %g", b.value);
    for (size_t axis = 0; axis < v_rank(x); axis++) {
        const int64_t before = b.cells.v[2 * axis], after = b.cells.v[2 * axis + 1], n = v_dim(x, axis);
        if (!before && !after) continue;
        if (before < 0 || after < 0) return xir_node_unsupported(at, "removed elements");
        if (n < 1 || before > MOST_PLACES || after > MOST_PLACES || n > MOST_PLACES)
            return xir_node_unsupported(at, "mirrored elements of an open dim");
        x = filled ? joined(at, x, axis, before, after, b.value) : make_bordered(at, x, axis, before, after, b.mode);
        if (!x) return false;
    }
    return xir_node_result(at, 0, x);
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* Argmax and Argmin: the least place whose element is the extreme. Without a dim all elements are in one. */
bool simpler_place(xir_node *at) {
    const xir_any *dim = xir_node_attr(at, "dim");
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    const xir_ints to = xir_node_dims(at, y);
    int64_t axis = 0;
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const bool all = !dim || dim->kind == XIR_ANY_NULL;
    if (all) x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    else if (!node_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    const int64_t n = x ? v_dim(x, (size_t)axis) : 0;
    if (n < 1 || n > MOST_PLACES) return xir_node_unsupported(at, "no elements, or very many");
    const xir_type *real = xir_type_float(at->c->ctx, XIR_FLOAT_FP32);
    const xir_ints line = node_line(at, v_rank(x), (size_t)axis, n);
    double *numbers = node_take(at, (size_t)n * sizeof *numbers);
    if (xir_node_failed(at)) return false;
    if (!numbers || !real) return node_no_memory(at);
    for (int64_t i = 0; i < n; i++) numbers[i] = (double)i;
    const xir_ints axes = { &axis, 1 };
    const bool most = xir_op_is(at->op, xir_argmax_class());
    xir_value *extreme = xir_node_reduced(at, most ? "Max" : "Min", x, &axes, true);
    xir_value *here = extreme ? xir_node_make(at, "Equal", INS(x, extreme), NO_SETS) : NULL;
    xir_value *places = xir_node_constant(at, real, &line, numbers, (size_t)n);
    xir_value *after = xir_node_scalar(at, real, (double)n);
    xir_value *v = here && places ? xir_node_make(at, "Where", INS(places, after, here), NO_SETS) : NULL;
    v = xir_node_reduced(at, "Min", v, &axes, true);
    v = v ? xir_node_cast(at, v, v_element(y)) : NULL;
    return v && xir_node_result(at, 0, make_reshaped(at, v, &to));
}

/* Known dims are constants. */
bool simpler_shape(xir_node *at) {
    const xir_value *x = xir_op_input(at->op, 0);
    const xir_ints dims = xir_node_dims(at, x);
    int64_t from, until;
    if (!part_of_shape(at, x, &from, &until)) return false;
    if (until <= from) return xir_node_unsupported(at, "no dims");
    for (int64_t i = from; i < until; i++) if (dims.v[i] < 0) return xir_node_unsupported(at, "open dims");
    return xir_node_result(at, 0, xir_node_integers(at, &(xir_ints){ dims.v + from, (size_t)(until - from) }));
}
