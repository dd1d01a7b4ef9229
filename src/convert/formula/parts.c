/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of axes, products with constant matrices, angles, curves. */
#include <math.h>
#include "formula/parts.h"
#include "formula/text.h"
#include "spec/slicing.h"

xir_value *make_part(xir_node *at, xir_value *x, size_t axis, int64_t begin, int64_t end, int64_t step) {
    slicing s;
    if (xir_node_failed(at) || !x || !slicing_begin(at, v_rank(x), &s)) return NULL;
    s.begin.v[axis] = begin, s.end.v[axis] = end, s.step.v[axis] = step;
    return op_of_slicing(at, x, &s);
}

xir_value *make_taken(xir_node *at, xir_value *x, size_t axis, const xir_ints *places) {
    xir_value *index = places->v ? xir_node_integers(at, places) : NULL;
    return xir_node_make(at, "Gather", INS(x, index), SETS(INT("axis", (int64_t)axis)));
}

int64_t mirrored_place(int64_t i, int64_t n, bool with_border) {
    const int64_t period = with_border ? 2 * n : n > 1 ? 2 * (n - 1) : 1;
    i = ((i % period) + period) % period;
    return i < n ? i : (with_border ? period - 1 : period) - i;
}

xir_value *make_bordered(xir_node *at, xir_value *x, size_t axis, int64_t before, int64_t after, xir_pad_mode mode) {
    const int64_t n = v_dim(x, axis);
    xir_ints places = xir_node_make_ints(at, (size_t)(before + n + after), 0);
    for (size_t i = 0; i < places.n; i++) {
        const int64_t k = (int64_t)i - before;
        places.v[i] = mode != XIR_PAD_REPLICATION ? mirrored_place(k, n, mode == XIR_PAD_SYMMETRIC)
                    : k < 0 ? 0 : k < n ? k : n - 1;
    }
    return make_taken(at, x, axis, &places);
}

xir_value *make_wrapped(xir_node *at, xir_value *x, const xir_ints *cells) {
    enum { MOST_WRAPPED = 1 << 22 };
    bool any = false;
    for (size_t axis = 0; x && axis < v_rank(x) && !xir_node_failed(at); axis++) {
        const int64_t before = cells->v[2 * axis], after = cells->v[2 * axis + 1];
        if (before == 0 && after == 0) continue;
        if (!xir_node_need_dims(at, x, axis, axis + 1)) return NULL;
        const int64_t dim = v_dim(x, axis);
        if (!node_at_most(at, dim, MOST_WRAPPED, "dim %zu", axis) ||
            !node_at_most(at, before, MOST_WRAPPED, "the padding before dim %zu", axis) ||
            !node_at_most(at, after, MOST_WRAPPED, "the padding after dim %zu", axis)) return NULL;
        if (dim < 1 || before < -dim || after < -dim || dim + before + after < 0)
            return xir_node_unsupported(at, "dim %zu is %lld, padded by %lld and %lld", axis, (long long)dim,
                                        (long long)before, (long long)after), NULL;
        xir_ints places = xir_node_series(at, 0, (size_t)(dim + before + after));
        for (size_t i = 0; i < places.n; i++) places.v[i] = ((places.v[i] - before) % dim + dim) % dim;
        x = make_taken(at, x, axis, &places);
        any = true;
    }
    return any || !x ? x : xir_node_unary(at, "Copy", x);
}

/* The order of axes with one of them moved to the end, or back from there. */
static xir_value *axis_moved(xir_node *at, xir_value *x, size_t axis, bool back) {
    if (xir_node_failed(at) || !x) return NULL;
    const size_t rank = v_rank(x);
    xir_ints order = xir_node_series(at, 0, rank);
    if (!order.v || axis + 1 == rank) return x;
    for (size_t i = axis; i + 1 < rank; i++) order.v[back ? i + 1 : i] = (int64_t)(back ? i : i + 1);
    order.v[back ? axis : rank - 1] = (int64_t)(back ? rank - 1 : axis);
    return xir_node_transposed(at, x, order.v, rank, NULL);
}

xir_value *make_clamped(xir_node *at, xir_value *x, double least, double most) {
    return x ? xir_node_make(at, "ClampScalar", INS(x), SETS(REAL("min", least), REAL("max", most))) : NULL;
}

xir_value *make_truth(xir_node *at, xir_value *x) {
    if (!x || v_is_bool(x)) return x;
    return xir_node_make(at, "NotEqual", INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
}

xir_value *make_running_product(xir_node *at, xir_value *x, size_t axis) {
    for (int64_t step = 1, n = x ? v_dim(x, axis) : 0; step < n && x; step *= 2) {
        xir_value *head = make_part(at, x, axis, 0, step, 1), *tail = make_part(at, x, axis, step, INT64_MAX, 1);
        xir_value *before = make_part(at, x, axis, 0, n - step, 1);
        x = xir_node_make(at, "Concat", INS(head, xir_node_product(at, tail, before)),
                          SETS(INT("axis", (int64_t)axis)));
    }
    return x;
}

xir_value *make_mixed(xir_node *at, xir_value *x, size_t axis, const double *matrix, size_t n) {
    const xir_ints dims = { (int64_t[]){ v_dim(x, axis), (int64_t)n }, 2 };
    xir_value *k = xir_node_constant(at, v_element(x), &dims, matrix, (size_t)dims.v[0] * n);
    return axis_moved(at, make_matrix_product(at, axis_moved(at, x, axis, false), k), axis, true);
}

xir_value *make_matrix_product(xir_node *at, xir_value *lhs, xir_value *rhs) {
    if (xir_node_failed(at) || !lhs || !rhs) return NULL;
    return xir_node_make(at, "Matmul", INS(lhs, rhs), NO_SETS);
}

xir_value *make_shaped(xir_node *at, xir_value *x, const int64_t *dims, size_t n) {
    const xir_ints list = { (int64_t *)(uintptr_t)dims, n };
    return xir_node_failed(at) || !x ? NULL : make_reshaped(at, x, &list);
}

xir_value *make_affine(xir_node *at, xir_value *x, double factor, double addend) {
    if (x && factor != 1) x = xir_node_scaled(at, x, factor);
    return x && addend != 0 ? xir_node_sum(at, x, xir_node_scalar(at, v_element(x), addend), 1, 1) : x;
}

/* From atan(y / x) by the signs of both: atan(y / x) where x > 0, that plus or minus pi where x < 0, else by y
 * alone. */
xir_value *make_atan2(xir_node *at, xir_value *y, xir_value *x) {
    static const double pi = 3.14159265358979323846;
    return make_formula(at, "o = like(0); p = ATan(y / x); t = y < o ? -a : a; l = x < o; e = x == o; "
                            "u = Sign(y) * (a / 2); p = l ? p + t : p; e ? u : p", INS(x, y), NUMBERS(pi));
}

xir_value *make_powers(xir_node *at, xir_value *x, double p) {
    return make_formula(at, p == 2 ? "x * x" : p == 1 ? "Abs(x)" : "Pow(Abs(x), a)", INS(x), NUMBERS(p));
}

xir_value *make_root(xir_node *at, xir_value *x, double p) {
    return p == 1 ? x : make_formula(at, p == 2 ? "Sqrt(x)" : "Pow(x, 1 / a)", INS(x), NUMBERS(p));
}

xir_value *make_running_sum(xir_node *at, xir_value *x, size_t axis, bool exclusive, bool reverse) {
    const int64_t n = v_dim(x, axis);
    double *matrix = node_reals(at, n * n);
    if (!matrix) return NULL;
    for (int64_t i = 0; i < n * n; i++) {
        const int64_t from = i / n, to = i % n;
        matrix[i] = from == to ? !exclusive : reverse ? from > to : from < to;
    }
    if (v_rank(x) > 1) return make_mixed(at, x, axis, matrix, (size_t)n);
    x = make_mixed(at, make_shaped(at, x, (int64_t[]){ 1, n }, 2), 1, matrix, (size_t)n);
    return make_shaped(at, x, &n, 1);
}

xir_value *make_band(xir_node *at, const xir_type *element, const xir_ints *dims, int64_t first, int64_t last) {
    const int64_t n = product_of(dims, 0, 2);
    double *v = node_reals(at, n);
    if (!v) return NULL;
    for (int64_t i = 0; i < n; i++) {
        const int64_t off = i % dims->v[1] - i / dims->v[1];
        v[i] = off >= first && off <= last;
    }
    return xir_node_constant(at, element, dims, v, (size_t)n);
}

double curve_weight(double distance, bool cubic, double a) {
    const double d = fabs(distance);
    if (!cubic) return d < 1 ? 1 - d : 0;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}
