/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of reductions and products. A reduction never keeps its dims there, since the executor's crashes then:
 * they come back by `reshape`. A product is that of cblas, of float32 and float64; other elements are multiplied and
 * summed. */
#include <math.h>
#include "deepx/deepx.h"
#include "spec/reduction.h"

enum { MOST_SUMMED = 1 << 24, MOST_MIXED = 2048 };

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* Sum, Prod; Max, Min. */
bool deepx_back_reduce(xir_node *at) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return false;
    if (v_is_bool(x)) return xir_node_unsupported(at, "a reduction of bools");
    if (!r.axes.n) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    if (r.keep) {
        const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, 0));
        xir_value *y = xir_node_reduced(at, r.cls, x, &r.axes, false);
        return y && xir_node_result(at, 0, make_reshaped(at, y, &dims));
    }
    const char *texts[] = { deepx_vector(at, &r.axes), "false" };
    return deepx_gives(at, "TVb", INS(x), texts);
}

bool deepx_back_mean(xir_node *at) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    int64_t n = 1;
    for (size_t i = 0; i < r.axes.n; i++)
        if (__builtin_mul_overflow(n, v_dim(x, (size_t)r.axes.v[i]), &n)) return xir_node_unsupported(at, "very many");
    if (!r.axes.n) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    xir_value *sum = xir_node_make(at, "Sum", INS(x), SETS(LIST("dim", &r.axes), INT("keepdim", r.keep)));
    xir_value *by = xir_node_scalar(at, v_element(x), (double)n);
    return xir_node_becomes(at, "Div", INS(sum, by), SETS(WORD("rounding_mode", v_is_integer(x) ? XIR_STR("TRUNC")
                                                                                                : XIR_STR("NONE"))));
}

/* The least place that has the greatest element, or the least one. NaN is the greatest, and never the least. */
bool deepx_back_place(xir_node *at) {
    int64_t axis = 0;
    xir_value *x = xir_node_input(at, 0);
    const char *best = node_is_class(at, "Argmax") ? "Max" : "Min";
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const xir_type *whole = xir_type_sint(xir_node_context(at), 64);
    const xir_ints result = xir_node_dims(at, xir_op_output(at->op, 0));
    if (!xir_node_attr(at, "dim")) x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    else if (!node_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    if (xir_node_failed(at) || !x || !v_rank(x)) return xir_node_unsupported(at, "a single number");
    const xir_ints one = { &axis, 1 };
    const int64_t n = v_dim(x, (size_t)axis);
    const xir_ints places = xir_node_series(at, 0, (size_t)n);
    xir_value *here = make_line(at, xir_node_integers(at, &places), v_rank(x), (size_t)axis);
    const bool most = node_is_class(at, "Argmax");
    if (v_is_real(x) && !most)
        x = xir_node_make(at, "Where", INS(x, xir_node_scalar(at, v_element(x), INFINITY),
                                           xir_node_make(at, "Equal", INS(x, x), NO_SETS)), NO_SETS);
    xir_value *is_best = xir_node_make(at, "Equal", INS(x, xir_node_reduced(at, best, x, &one, true)), NO_SETS);
    if (v_is_real(x) && most)
        is_best = xir_node_make(at, "Or", INS(is_best, xir_node_make(at, "NotEqual", INS(x, x), NO_SETS)), NO_SETS);
    xir_value *list = xir_node_make(at, "Where", INS(here, xir_node_scalar(at, whole, (double)n), is_best),
                                    NO_SETS);
    xir_value *y = list ? xir_node_reduced(at, "Min", list, &one, false) : NULL;
    return y && xir_node_result(at, 0, xir_node_bool(at, "keepdim", false) || !xir_node_attr(at, "dim")
                                       ? make_reshaped(at, y, &result) : y);
}

/* A product with a triangle of ones. */
bool deepx_back_cumsum(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !node_axis(at, "axis", -1, v_rank(x), &axis) ||
        !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t n = (size_t)v_dim(x, (size_t)axis);
    if (n < 1 || n > MOST_MIXED) return xir_node_unsupported(at, "no elements, or very many");
    return xir_node_result(at, 0, make_running_sum(at, x, (size_t)axis, xir_node_bool(at, "exclusive", false),
                                                   xir_node_bool(at, "reverse", false)));
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* Leading dims of x and k, broadcast, and then the last two of v. */
static xir_value *led(xir_node *at, xir_value *v, const xir_ints *lead) {
    xir_ints dims = xir_node_make_ints(at, lead->n + 2, 1);
    if (xir_node_failed(at) || !v) return NULL;
    for (size_t i = 0; i < lead->n; i++) dims.v[i] = lead->v[i];
    for (size_t i = 0; i < 2; i++) dims.v[lead->n + i] = v_dim(v, v_rank(v) - 2 + i);
    const xir_type *type = node_type(at, v_element(v), NULL, &dims);
    return type ? deepx_spread(at, v, type) : (node_no_memory(at), NULL);
}

static bool lead_of(xir_node *at, const xir_value *x, const xir_value *k, xir_ints *out) {
    const size_t n = (v_rank(x) > v_rank(k) ? v_rank(x) : v_rank(k)) - 2;
    *out = xir_node_make_ints(at, n, 1);
    for (size_t i = 0; i < n && out->v; i++) {
        const size_t back = n - i + 2;
        const int64_t a = v_rank(x) >= back ? v_dim(x, v_rank(x) - back) : 1,
                      b = v_rank(k) >= back ? v_dim(k, v_rank(k) - back) : 1;
        out->v[i] = a == 1 ? b : a;
    }
    return !xir_node_failed(at);
}

/* [..., n, m, 1] times [..., 1, m, p], summed over m. */
static xir_value *summed(xir_node *at, xir_value *x, xir_value *k, const xir_type *type) {
    int64_t n;
    const int64_t m = v_dim(x, v_rank(x) - 1);
    if (xir_type_elements(type, &n) || __builtin_mul_overflow(n, m, &n) || n > MOST_SUMMED)
        return xir_node_unsupported(at, "a product of many elements that are not float32 or float64"), NULL;
    const xir_ints last = { (int64_t[]){ (int64_t)v_rank(x) }, 1 },
                   third = { (int64_t[]){ (int64_t)v_rank(k) - 2 }, 1 };
    x = xir_node_unsqueezed(at, x, &last, NULL), k = xir_node_unsqueezed(at, k, &third, NULL);
    const xir_ints axis = { (int64_t[]){ -2 }, 1 };
    return xir_node_reduced(at, "Sum", xir_node_product(at, x, k), &axis, false);
}

bool deepx_back_matmul(xir_node *at) {
    xir_ints lead;
    xir_value *x = xir_node_input(at, 0), *k = xir_node_input(at, 1), *b = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, k, 0, SIZE_MAX))
        return false;
    const xir_ints shaped = xir_node_dims(at, xir_op_output(at->op, 0));
    if (v_rank(x) == 1) x = make_shaped(at, x, (int64_t[]){ 1, v_dim(x, 0) }, 2);
    if (v_rank(k) == 1) k = make_shaped(at, k, (int64_t[]){ v_dim(k, 0), 1 }, 2);
    if (!x || !k) return false;
    if (v_rank(k) == 2 && v_rank(x) > 2) x = make_shaped(at, x, (int64_t[]){ -1, v_dim(x, v_rank(x) - 1) }, 2);
    if (!x || !lead_of(at, x, k, &lead)) return false;
    x = led(at, x, &lead), k = led(at, k, &lead);
    xir_ints dims = xir_node_make_ints(at, lead.n + 2, 1);
    if (xir_node_failed(at) || !x || !k) return false;
    for (size_t i = 0; i < lead.n; i++) dims.v[i] = lead.v[i];
    dims.v[lead.n] = v_dim(x, lead.n), dims.v[lead.n + 1] = v_dim(k, lead.n + 1);
    const xir_type *type = node_type(at, v_element(x), NULL, &dims);
    if (!type) return node_no_memory(at);
    const bool blas = v_is_real(x) && xir_type_storage_bits(v_element(x)) >= 32;
    xir_value *y = blas ? deepx_call(at, "deepx::matmul", "TT", INS(x, k), NULL, type) : summed(at, x, k, type);
    bool same = y && shaped.n == dims.n;
    for (size_t i = 0; same && i < dims.n; i++) same = shaped.v[i] == dims.v[i];
    if (y && !same) y = make_reshaped(at, y, &shaped);
    if (b && v_rank(b) > shaped.n) {   /* its dims in front are 1 */
        xir_ints own = xir_node_dims(at, b);
        own.v += own.n - shaped.n, own.n = shaped.n;
        b = make_reshaped(at, b, &own);
    }
    return xir_node_result(at, 0, y && b ? xir_node_sum(at, y, b, 1, 1) : y);
}
