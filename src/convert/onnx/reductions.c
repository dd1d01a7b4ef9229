/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reductions and normalisations. */
#include <math.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "onnx/rows.h"
#include "spec/one_axis.h"
#include "spec/reduction.h"

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* The axes to reduce, counted from the start, each once; an empty list if nothing is reduced. */
static bool axes_of(xir_node *at, const xir_value *x, xir_ints *axes) {
    const char *where = xir_node_attr(at, "axes") ? "attribute/axes" : "input/1";
    bool there = xir_node_list(at, "axes", 1, axes);
    if (!there || axes->n == 0) {
        *axes = xir_node_int(at, "noop_with_empty_axes", 0) ? (xir_ints){ NULL, 0 } : xir_node_series(at, 0, v_rank(x));
        return !xir_node_failed(at);
    }
    return axes_from_start(at, where, v_rank(x), axes);
}

/* A reduction: the op on the elements before it, its class, and the op after it. */
static bool reduce(xir_node *at, const char *before, const char *cls, const char *after) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!axes_of(at, x, &axes)) return false;
    if (before) x = *before == '*' ? xir_node_product(at, x, x) : xir_node_unary(at, before, x);
    x = xir_node_reduced(at, cls, x, &axes, xir_node_int(at, "keepdims", 1));
    return xir_node_result(at, 0, after ? xir_node_unary(at, after, x) : x);
}
bool onnx_reduce_sum(xir_node *at)         { return reduce(at, NULL, "Sum", NULL); }
bool onnx_reduce_mean(xir_node *at)        { return reduce(at, NULL, "Mean", NULL); }
bool onnx_reduce_max(xir_node *at)         { return reduce(at, NULL, "Max", NULL); }
bool onnx_reduce_min(xir_node *at)         { return reduce(at, NULL, "Min", NULL); }
bool onnx_reduce_prod(xir_node *at)        { return reduce(at, NULL, "Prod", NULL); }
bool onnx_reduce_l1(xir_node *at)          { return reduce(at, "Abs", "Sum", NULL); }
bool onnx_reduce_l2(xir_node *at)          { return reduce(at, "*", "Sum", "Sqrt"); }
bool onnx_reduce_log_sum(xir_node *at)     { return reduce(at, NULL, "Sum", "Log"); }
bool onnx_reduce_sum_square(xir_node *at)  { return reduce(at, "*", "Sum", NULL); }

/* log(sum(exp(x - m))) + m, where m is the maximum, so that nothing overflows. An infinite m counts as 0. */
bool onnx_reduce_log_sum_exp(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    bool keep = xir_node_int(at, "keepdims", 1);
    if (!axes_of(at, x, &axes)) return false;
    if (axes.n == 0) return xir_node_result(at, 0, xir_node_unary(at, "Copy", x));
    xir_value *m = xir_node_reduced(at, "Max", x, &axes, true);
    m = xir_node_make(at, "ClampScalar", INS(m), SETS(REAL("min", -3e38), REAL("max", 3e38)));
    xir_value *sum = xir_node_reduced(at, "Sum", xir_node_unary(at, "Exp", xir_node_sum(at, x, m, 1, -1)), &axes, true);
    xir_value *y = xir_node_sum(at, xir_node_unary(at, "Log", sum), m, 1, 1);
    return xir_node_result(at, 0, keep ? y : xir_node_make(at, "Squeeze", INS(y), SETS(LIST("axis", &axes))));
}

/* The last of several equal elements is the first one in reversed order. */
static bool arg(xir_node *at, const char *cls) {
    const bool last = xir_node_int(at, "select_last_index", 0);
    const one_axis a = last ? known_axis_of(at, "attribute/axis", 0) : one_axis_of(at, "attribute/axis", 0);
    xir_value *x = a.x;
    if (x && last) {
        if (a.n > MOST_LISTED) return xir_node_unsupported(at, "an order of %lld", (long long)a.n);
        xir_ints order = xir_node_make_ints(at, (size_t)a.n, a.n - 1);
        for (size_t i = 0; i < order.n; i++) order.v[i] -= (int64_t)i;
        x = xir_node_make(at, "SwapOrder", INS(x), SETS(LIST("order", &order), AXIS("axis", a)));
    }
    x = xir_node_make(at, cls, INS(x), SETS(AXIS("dim", a), INT("keepdim", xir_node_int(at, "keepdims", 1))));
    if (last && x) x = xir_node_sum(at, xir_node_scalar(at, v_element(x), (double)(a.n - 1)), x, 1, -1);
    return xir_node_result(at, 0, x);
}
bool onnx_arg_max(xir_node *at) { return arg(at, "Argmax"); }
bool onnx_arg_min(xir_node *at) { return arg(at, "Argmin"); }

bool onnx_cum_sum(xir_node *at) {
    xir_ints axis;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_ints(at, 1, &axis)) return false;
    if (axis.n != 1)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected one axis, found %zu", axis.n);
    if (!xir_node_axis(at, "input/1", axis.v[0], v_rank(x), &axis.v[0])) return false;
    return xir_node_becomes(at, "CumSum", INS(x), SETS(INT("axis", axis.v[0]),
                                                       INT("exclusive", xir_node_int(at, "exclusive", 0)),
                                                       INT("reverse", xir_node_int(at, "reverse", 0))));
}

/* The axis of Softmax and similar ops: by default the last one. Before version 13 it is the second one, merged with all
 * axes after it. */
static bool soft_axis(xir_node *at, const xir_value *x, int64_t *axis) {
    return !xir_node_failed(at) &&
           node_axis(at, "axis", at->cls->version < 13 ? 1 : -1, v_rank(x), axis);
}

/* Before version 13: x as a matrix, whose rows are normalised; otherwise x itself. */
static xir_value *as_matrix(xir_node *at, xir_value *x, int64_t *axis) {
    if (xir_node_failed(at) || at->cls->version >= 13 || (size_t)*axis + 1 == v_rank(x)) return x;
    xir_ints dims = xir_node_dims(at, x), flat = xir_node_make_ints(at, 2, 1);
    if (xir_node_failed(at)) return NULL;
    flat.v[0] = product_of(&dims, 0, (size_t)*axis);
    flat.v[1] = product_of(&dims, (size_t)*axis, dims.n);
    *axis = 1;
    return make_reshaped(at, x, &flat);
}

/* The result for the matrix `m` of x, with the dims of x; a matrix that is not x itself may have as many dims. */
static xir_value *from_matrix(xir_node *at, xir_value *y, const xir_value *m, const xir_value *x) {
    if (!y || m == x) return y;
    const xir_ints dims = xir_node_dims(at, x);
    return make_reshaped(at, y, &dims);
}

/* 1 at the position of the maximum, 0 elsewhere. */
bool onnx_hardmax(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t axis;
    if (!soft_axis(at, x, &axis)) return false;
    xir_value *m = as_matrix(at, x, &axis);
    if (!m || !xir_node_need_dims(at, m, (size_t)axis, (size_t)axis + 1)) return false;
    if (!node_at_most(at, v_dim(m, (size_t)axis), MOST_LISTED, "the dim of the axis")) return false;
    xir_value *where = xir_node_make(at, "Argmax", INS(m), SETS(INT("dim", axis), INT("keepdim", 1)));
    const xir_ints places = xir_node_series(at, 0, (size_t)v_dim(m, (size_t)axis));
    xir_value *line = make_line(at, xir_node_integers(at, &places), v_rank(m), (size_t)axis);
    if (xir_node_failed(at)) return false;
    xir_value *index = xir_node_cast(at, line, v_element(where));
    xir_value *one = xir_node_cast(at, xir_node_make(at, "Equal", INS(where, index), NO_SETS), v_element(x));
    return xir_node_result(at, 0, from_matrix(at, one, m, x));
}

static bool soft(xir_node *at, const char *cls) {
    xir_value *x = xir_node_input(at, 0);
    int64_t axis;
    if (!soft_axis(at, x, &axis)) return false;
    xir_value *m = as_matrix(at, x, &axis);
    return xir_node_result(at, 0, from_matrix(at, xir_node_make(at, cls, INS(m), SETS(INT("axis", axis))), m, x));
}
bool onnx_softmax(xir_node *at)     { return soft(at, "Softmax"); }
bool onnx_log_softmax(xir_node *at) { return soft(at, "LogSoftmax"); }

/* ---- normalisations --------------------------------------------------------------------------------------------- */

/* Checks that an input has one number per channel. */
static bool per_channel(xir_node *at, const xir_value *x, size_t i, size_t n) {
    char where[16] = { 'i', 'n', 'p', 'u', 't', '/', (char)('0' + i), 0 };
    int64_t channels = v_dim(x, 1);
    if (channels < 0 || (size_t)channels == n) return true;
    return xir_node_invalid(at, XIR_E_INVALID, where,
                            "input %zu: expected %lld elements, one for each channel, found %zu", i,
                            (long long)channels, n);
}

/* The node stays, but its type is known: what is missing here changes only numbers. */
static bool stays_typed(xir_node *at, const xir_value *x, const char *reason) {
    xir_node_type_output(at, 0, xir_value_type(x));
    return xir_node_unsupported(at, "%s", reason);
}

bool onnx_batch_normalization(xir_node *at) {
    const double *k[4];
    size_t n[4];
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (!onnx_ranked(at, 0, x, 2, SIZE_MAX)) return false;
    if (xir_node_int(at, "training_mode", 0) || at->n_out > 1 ||
        (at->cls->version < 7 && !xir_node_int(at, "is_test", 0))) {
        return stays_typed(at, x, "training");
    }
    if (at->cls->version < 9 && !xir_node_int(at, "spatial", 1))
        return stays_typed(at, x, "statistics for each element");
    for (size_t i = 0; i < 4; i++) {
        if (!xir_node_is_constant(at, 1 + i)) return stays_typed(at, x, "the statistics are not constant");
        if (!xir_node_reals(at, 1 + i, &k[i], &n[i]) || !per_channel(at, x, 1 + i, n[i])) return false;
        if (n[i] != n[0]) {
            return xir_node_invalid(at, XIR_E_INVALID, NULL,
                                    "the statistics: expected equally many elements, found %zu and %zu", n[0], n[i]);
        }
    }
    if (rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    const channel_statistics s = { n[0], xir_node_real(at, "epsilon", 1e-5), k[0], k[1], k[2], k[3] };
    return xir_node_result(at, 0, op_of_statistics(at, x, &s));
}

bool onnx_instance_normalization(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *gamma = xir_node_params(at, 1), *beta = xir_node_params(at, 2);
    size_t rank = v_rank(x);
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    if (!per_channel(at, x, 1, (size_t)v_dim(gamma, 0)) || !per_channel(at, x, 2, (size_t)v_dim(beta, 0))) return false;
    xir_value *y = xir_node_make(at, BY_RANK(rank - 2, "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
                                 INS(xir_node_channels_last(at, x)),
                                 SETS(REAL("eps", xir_node_real(at, "epsilon", 1e-5)), OBJ("gamma", gamma),
                                      OBJ("beta", beta)));
    return xir_node_result(at, 0, xir_node_channels_second(at, y));
}

/* From version 21 on gamma and beta have one element per channel, like XIR's; before, one per group. */
bool onnx_group_normalization(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *gamma = xir_node_params(at, 1), *beta = xir_node_params(at, 2);
    int64_t groups = xir_node_int(at, "num_groups", 0);
    size_t rank = v_rank(x);
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    if (at->cls->version < 21) {
        const double *v;
        size_t n, per;
        int64_t channels = v_dim(x, 1);
        for (size_t k = 1; k <= 2; k++) {
            if (!xir_node_need_dims(at, x, 1, 2) || !xir_node_reals(at, k, &v, &n)) return false;
            if ((int64_t)n != groups || groups < 1 || channels % groups) {
                return xir_node_invalid(at, XIR_E_INVALID, k == 1 ? "input/1" : "input/2",
                                        "expected %lld elements, one for each group, found %zu", (long long)groups, n);
            }
            if (!node_at_most(at, channels, MOST_LISTED, "the number of channels")) return false;
            per = (size_t)(channels / groups);
            double *spread = node_take(at, ((size_t)channels + 1) * sizeof *spread);
            if (!spread) return node_no_memory(at);
            for (size_t i = 0; i < (size_t)channels; i++) spread[i] = v[i / per];
            xir_value *made = xir_node_constant(at, v_element(gamma), NULL, spread, (size_t)channels);
            *(k == 1 ? &gamma : &beta) = made;
        }
    }
    xir_value *y = xir_node_make(at, "GroupNorm", INS(xir_node_channels_last(at, x)),
                                 SETS(INT("groups", groups), REAL("eps", xir_node_real(at, "epsilon", 1e-5)),
                                      OBJ("gamma", gamma), OBJ("beta", beta)));
    return xir_node_result(at, 0, xir_node_channels_second(at, y));
}

xir_value *onnx_layer_norm(xir_node *at, xir_value *x, xir_value *gamma, xir_value *beta, const xir_ints *axes,
                           double eps) {
    if (xir_node_failed(at) || !x || !gamma) return NULL;
    bool constant = xir_value_is_params(gamma) && (!beta || xir_value_is_params(beta));
    const xir_set sets[] = { LIST("axis", axes), REAL("eps", eps), OBJ("gamma", gamma), OBJ("beta", beta) };
    xir_value *y = xir_node_make(at, "LayerNorm", INS(x), (xir_sets){ sets, !constant ? 2 : beta ? 4 : 3 });
    if (!constant) y = xir_node_product(at, y, gamma);
    return !constant && beta ? xir_node_sum(at, y, beta, 1, 1) : y;
}

/* An attribute holds a factor for each element of the axes; any other gamma is a factor by itself. */
xir_value *onnx_rms_norm(xir_node *at, xir_value *x, xir_value *gamma, const xir_ints *axes, double eps) {
    if (xir_node_failed(at) || !x || !gamma) return NULL;
    bool constant = xir_value_is_params(gamma) && v_rank(gamma) == axes->n;
    for (size_t i = 0; i < axes->n && constant; i++) constant = v_dim(gamma, i) == v_dim(x, (size_t)axes->v[i]);
    const xir_set sets[] = { LIST("axis", axes), REAL("eps", eps), OBJ("gamma", gamma) };
    xir_value *y = xir_node_make(at, "RMSNorm", INS(x), (xir_sets){ sets, constant ? 3 : 2 });
    return constant ? y : xir_node_product(at, y, gamma);
}

xir_value *onnx_reciprocal_deviation(xir_node *at, xir_value *x, xir_value *mean, const xir_ints *axes, double eps) {
    xir_value *off = mean ? xir_node_sum(at, x, mean, 1, -1) : x;
    xir_value *variance = xir_node_reduced(at, "Mean", xir_node_product(at, off, off), axes, true);
    return make_formula(at, "Reciprocal(Sqrt(x + a))", INS(variance), NUMBERS(eps));
}

/* The axes from the attribute `axis` to the last one. */
static bool axes_from(xir_node *at, const xir_value *x, xir_ints *axes) {
    int64_t axis;
    if (xir_node_failed(at) ||
        !node_axis(at, "axis", -1, v_rank(x), &axis)) return false;
    *axes = xir_node_series(at, axis, v_rank(x) - (size_t)axis);
    return axes->v;
}

/* One op computes Y; others compute the mean and the reciprocal of the deviation, which it does not return. */
bool onnx_layer_normalization(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *gamma = xir_node_input(at, 1), *beta = xir_node_optional_input(at, 2);
    xir_ints axes;
    if (!axes_from(at, x, &axes) || !onnx_broadcasts_to(at, x, 1, gamma) ||
        (beta && !onnx_broadcasts_to(at, x, 2, beta))) return false;
    const double eps = xir_node_real(at, "epsilon", 1e-5);
    if (!xir_node_result(at, 0, onnx_layer_norm(at, x, gamma, beta, &axes, eps)) || at->n_out == 1)
        return !xir_node_failed(at);
    xir_value *mean = xir_node_reduced(at, "Mean", x, &axes, true);
    return xir_node_result(at, 1, mean) &&
           xir_node_result(at, 2, onnx_reciprocal_deviation(at, x, mean, &axes, eps));
}

/* RMSNormalization, and what ONNX Runtime calls SimplifiedLayerNormalization, with the reciprocal of the root. */
bool onnx_rms_normalization(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *gamma = xir_node_input(at, 1);
    xir_ints axes;
    if (!onnx_broadcasts_to(at, x, 1, gamma) || !axes_from(at, x, &axes)) return false;
    const double eps = xir_node_real(at, "epsilon", 1e-5);
    if (node_wants(at, 1)) xir_node_result(at, 1, onnx_reciprocal_deviation(at, x, NULL, &axes, eps));
    return xir_node_result(at, 0, onnx_rms_norm(at, x, gamma, &axes, eps));
}

/* (x - mean) / (deviation + 1e-9); LayerNorm adds its eps to the variance. */
bool onnx_mean_variance_normalization(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_items(at, "axes", &axes)) {
        axes = xir_node_make_ints(at, 3, 0);
        if (axes.v) axes.v[1] = 2, axes.v[2] = 3;
    }
    if (!axes_from_start(at, "attribute/axes", v_rank(x), &axes)) return false;
    xir_value *off = xir_node_sum(at, x, xir_node_reduced(at, "Mean", x, &axes, true), 1, -1);
    xir_value *variance = xir_node_reduced(at, "Mean", xir_node_product(at, off, off), &axes, true);
    return xir_node_result(at, 0, make_formula(at, "x / (Sqrt(y) + 1e-9)", INS(off, variance), NULL));
}

/* A vector of zeros stays one. */
bool onnx_lp_normalization(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints axis = xir_node_make_ints(at, 1, xir_node_int(at, "axis", -1));
    if (xir_node_failed(at) || !xir_node_axis(at, "attribute/axis", axis.v[0], v_rank(x), &axis.v[0])) return false;
    return xir_node_becomes(at, "Normalize", INS(x),
                            SETS(LIST("axis", &axis), REAL("p", (double)xir_node_int(at, "p", 2)),
                                 REAL("eps", node_least_real(v_element(x)))));
}

/* ONNX counts the half of an even size after the channel. */
bool onnx_lrn(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const int64_t size = xir_node_int(at, "size", 1);
    if (!xir_node_need_dims(at, x, 1, SIZE_MAX)) return false;
    if (!onnx_ranked(at, 0, x, 3, SIZE_MAX)) return false;
    if (size < 1 || size > 1 << 20) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/size", "size: expected at least 1, found %lld",
                                (long long)size);
    }
    return xir_node_result(at, 0, make_lrn(at, x, size, (size - 1) / 2, xir_node_real(at, "alpha", 1e-4),
                                           xir_node_real(at, "beta", 0.75), xir_node_real(at, "bias", 1)));
}
