/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas that take an axis apart: what is combined over an axis is combined half by half; indices along an axis are
 * positions in the whole tensor; several matrix products are single ones, or sums of products of elements. */
#include <math.h>
#include "formula/parts.h"
#include "formula/simpler.h"
#include "formula/text.h"
#include "spec/borders.h"
#include "spec/one_axis.h"

enum { MOST_ITEMS_OF_AXIS = 1024, MOST_MATRICES = 64, MOST_ELEMENTS = 1 << 24 };

/* ---- half by half ----------------------------------------------------------------------------------------------- */

typedef xir_value *combine_fn(xir_node *at, xir_value *a, xir_value *b);

/* All items of an axis combined, with a dim of 1 in its place: the first half with the second, over and over. */
static xir_value *combined(xir_node *at, xir_value *x, size_t axis, combine_fn *of) {
    int64_t n = x ? v_dim(x, axis) : 0;
    if (n < 1 || n > MOST_ITEMS_OF_AXIS) return xir_node_unsupported(at, "%lld items of a dim", (long long)n), NULL;
    for (; n > 1 && x; n -= n / 2) {
        const int64_t half = n / 2;
        xir_value *y = of(at, make_part(at, x, axis, 0, half, 1), make_part(at, x, axis, half, 2 * half, 1));
        if (n % 2) y = xir_node_make(at, "Concat", INS(y, make_part(at, x, axis, n - 1, n, 1)),
                                     SETS(INT("axis", (int64_t)axis)));
        x = y;
    }
    return x;
}

bool simpler_prod(xir_node *at) {
    const xir_any *dim = xir_node_attr(at, "dim");
    xir_ints axes = { NULL, 0 };
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (dim && dim->kind == XIR_ANY_INT) axes = xir_node_make_ints(at, 1, dim->as.integer);
    else if (dim && dim->kind == XIR_ANY_LIST && !xir_node_items(at, "dim", &axes)) return false;
    if (!axes.n) axes = xir_node_series(at, 0, v_rank(x));
    if (!axes_from_start(at, "attribute/dim", v_rank(x), &axes)) return false;
    for (size_t i = 0; i < axes.n && x; i++) x = combined(at, x, (size_t)axes.v[i], xir_node_product);
    const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, 0));
    if (x == xir_node_input(at, 0)) x = xir_node_make(at, "Copy", INS(x), NO_SETS);
    return x && dims.v && xir_node_result(at, 0, make_reshaped(at, x, &dims));
}

/* log(e^a + e^b) */
static xir_value *log_of_both(xir_node *at, xir_value *a, xir_value *b) {
    return make_formula(at, "r = Softplus(Abs(x - y) * -1); Maximum(x, y) + r", INS(a, b), NULL);
}

/* x - log(sum e^x), without a logarithm of its own. */
bool simpler_log_softmax(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    return a.x && xir_node_result(at, 0, xir_node_sum(at, a.x, combined(at, a.x, a.axis, log_of_both), 1, -1));
}

/* ---- parts of an axis ------------------------------------------------------------------------------------------- */

/* Each element with the sum of the 1, then 2, 4, … before it, of which those outside are 0. */
bool simpler_cumsum_steps(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    const int64_t n = a.n;
    xir_value *x = a.x;
    if (n < 1 || n > MOST_ITEMS_OF_AXIS) return xir_node_unsupported(at, "a running sum of %lld items", (long long)n);
    if (xir_node_bool(at, "exclusive", false) || xir_node_bool(at, "reverse", false))
        return xir_node_unsupported(at, "a running sum of others, or backward");
    for (int64_t by = 1; by < n && x; by *= 2) {
        xir_ints pads = xir_node_make_ints(at, 2 * v_rank(x), 0);
        if (!pads.v) return false;
        pads.v[2 * a.axis] = by;
        xir_value *before = make_part(at, x, a.axis, 0, n - by, 1);
        x = before ? xir_node_sum(at, x, zeros_around(at, before, &pads), 1, 1) : NULL;
    }
    return x == xir_node_input(at, 0) ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : xir_node_result(at, 0, x);
}

/* Split, and each part without the dim. */
bool simpler_unstack(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    const size_t n = xir_op_output_count(at->op);
    const xir_ints ones = xir_node_make_ints(at, n, 1);
    xir_op *parts = xir_node_make_op(at, "Split", INS(a.x), SETS(LIST("sections", &ones), AXIS("axis", a)));
    for (size_t i = 0; i < n && parts; i++) {
        const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, (int64_t)i));
        xir_value *part = dims.v ? make_reshaped(at, xir_op_output(parts, (int64_t)i), &dims) : NULL;
        if (!part || !xir_node_result(at, i, part)) return false;
    }
    return !xir_node_failed(at) && parts;
}

/* Positions in x as one dim: the index along the axis, and the element's own place in the other dims. */
bool simpler_gather_elements(xir_node *at) {
    enum { MOST_PLACES = 1 << 22 };
    int64_t axis;
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1);
    if (xir_node_failed(at) || !node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, index, 0, SIZE_MAX)) return false;
    const xir_ints dims = xir_node_dims(at, x), own = xir_node_dims(at, index), flat = { (int64_t[]){ -1 }, 1 };
    if (xir_node_failed(at)) return false;
    const int64_t n = product_of(&own, 0, own.n), size = product_of(&dims, 0, dims.n);
    if (n < 1 || n > MOST_PLACES || size < 1) return xir_node_unsupported(at, "very many positions, or none");
    const double step = (double)product_of(&dims, (size_t)axis + 1, dims.n), count = (double)dims.v[axis];
    double *places = node_take(at, (size_t)n * sizeof *places);
    if (!places) return node_no_memory(at);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, by = 1;
        places[i] = 0;
        for (size_t k = own.n; k-- > 0; rest /= own.v[k], by *= dims.v[k])
            if ((int64_t)k != axis) places[i] += (double)(rest % own.v[k] * by);
    }
    const xir_type *element = xir_type_sint(xir_node_context(at), 64);
    index = make_affine(at, xir_node_cast(at, index, element), 1, count);   /* negative ones count from the end */
    index = index ? xir_node_make(at, "Mod", INS(index, xir_node_scalar(at, element, count)), SETS(INT("fmod", 1)))
                  : NULL;
    index = xir_node_sum(at, make_affine(at, index, step, 0),
                         xir_node_constant(at, element, &own, places, (size_t)n), 1, 1);
    x = make_reshaped(at, x, &flat);
    return x && index && xir_node_becomes(at, "Gather", INS(x, index), SETS(INT("axis", 0)));
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* Matrix i of those that x has as one dim. */
static xir_value *matrix(xir_node *at, xir_value *x, int64_t i) {
    xir_value *part = make_part(at, x, 0, i, i + 1, 1);
    return part ? make_shaped(at, part, (int64_t[]){ v_dim(x, 1), v_dim(x, 2) }, 2) : NULL;
}

/* The matrices of x, which has batch dims or broadcasts to them, as one dim of matrices. */
static xir_value *matrices(xir_node *at, xir_value *x, const xir_ints *batch, int64_t n) {
    const int64_t rows = v_dim(x, v_rank(x) - 2), columns = v_dim(x, v_rank(x) - 1);
    xir_ints dims = xir_node_make_ints(at, batch->n + 2, 0);
    if (!dims.v) return NULL;
    for (size_t i = 0; i < batch->n; i++) dims.v[i] = batch->v[i];
    dims.v[batch->n] = rows, dims.v[batch->n + 1] = columns;
    const xir_ints own = xir_node_dims(at, x);
    if (product_of(&own, 0, own.n) != product_of(&dims, 0, dims.n))
        x = xir_node_make(at, "Expand", INS(x), SETS(LIST("sizes", &dims)));
    return make_shaped(at, x, (int64_t[]){ n, rows, columns }, 3);
}

/* Products of matrices one by one. */
static xir_value *one_by_one(xir_node *at, xir_value *a, xir_value *b, int64_t n) {
    xir_value *parts[MOST_MATRICES];
    for (int64_t i = 0; i < n && a && b; i++) parts[i] = make_matrix_product(at, matrix(at, a, i), matrix(at, b, i));
    if (xir_node_failed(at) || !a || !b) return NULL;
    return n > 1 ? xir_node_make(at, "Stack", (xir_values){ parts, (size_t)n }, SETS(INT("dim", 0))) : parts[0];
}

/* Products of matrices as sums of products of elements, all of which exist at one time: [n, m, k, 1] times
 * [n, 1, k, p]. */
static xir_value *by_elements(xir_node *at, xir_value *a, xir_value *b, int64_t n) {
    const int64_t rows = v_dim(a, 1), depth = v_dim(a, 2), columns = v_dim(b, 2);
    const xir_ints all = { (int64_t[]){ n, rows, depth, columns }, 4 }, axis = { (int64_t[]){ 2 }, 1 };
    if (!node_elements_at_most(at, &all, MOST_ELEMENTS, "the tensor of all products")) return NULL;
    a = make_shaped(at, a, (int64_t[]){ n, rows, depth, 1 }, 4);
    b = make_shaped(at, b, (int64_t[]){ n, 1, depth, columns }, 4);
    return xir_node_reduced(at, "Sum", xir_node_product(at, a, b), &axis, false);
}

bool simpler_matmul(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !xir_node_need_dims(at, a, 0, SIZE_MAX) || !xir_node_need_dims(at, b, 0, SIZE_MAX))
        return false;
    if (v_rank(a) < 2 || v_rank(b) < 2) return xir_node_unsupported(at, "a product with a vector");
    const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, 0));
    if (xir_node_failed(at)) return false;
    if (bias) {
        xir_value *sum = xir_node_sum(at, make_matrix_product(at, a, b), bias, 1, 1);
        return sum && dims.v && xir_node_result(at, 0, v_rank(sum) == dims.n ? sum : make_reshaped(at, sum, &dims));
    }
    const xir_ints batch = { dims.v, dims.n - 2 };
    const int64_t n = product_of(&batch, 0, batch.n);
    if (n < 1) return xir_node_unsupported(at, "%s products of matrices", n ? "very many" : "no");
    a = matrices(at, a, &batch, n), b = matrices(at, b, &batch, n);
    xir_value *y = n <= MOST_MATRICES ? one_by_one(at, a, b, n) : by_elements(at, a, b, n);
    return y && xir_node_result(at, 0, make_reshaped(at, y, &dims));
}
