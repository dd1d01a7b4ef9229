/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Normalisations and reductions. */
#include <math.h>
#include "nnb/nnb.h"
#include "spec/one_axis.h"

/* ---- batch normalisation ---------------------------------------------------------------------------------------- */

/* x, then those of beta, gamma, mean and variance that the node has: without no_bias and no_scale all four. */
typedef struct statistics { xir_value *beta, *gamma, *mean, *variance; } statistics;

static bool read_statistics(xir_node *at, statistics *s) {
    const bool no_bias = xir_node_bool(at, "no_bias", false), no_scale = xir_node_bool(at, "no_scale", false);
    const bool all = at->n_in >= 5;
    size_t i = 1;
    *s = (statistics){ NULL, NULL, NULL, NULL };
    if (!no_bias || all) s->beta = xir_node_optional_input(at, i++);
    if (!no_scale || all) s->gamma = xir_node_optional_input(at, i++);
    if (no_bias) s->beta = NULL;
    if (no_scale) s->gamma = NULL;
    s->mean = xir_node_optional_input(at, i++);
    s->variance = xir_node_optional_input(at, i);
    return !xir_node_failed(at);
}

/* gamma / sqrt(variance + eps) */
static xir_value *factor_of(xir_node *at, const statistics *s, double eps) {
    xir_value *root = xir_node_unary(at, "Sqrt", make_affine(at, s->variance, 1, eps));
    return s->gamma ? xir_node_quotient(at, s->gamma, root) : xir_node_unary(at, "Reciprocal", root);
}

/* beta - mean * factor */
static xir_value *addend_of(xir_node *at, const statistics *s, xir_value *factor) {
    xir_value *less = xir_node_unary(at, "Neg", xir_node_product(at, s->mean, factor));
    return s->beta ? xir_node_sum(at, less, s->beta, 1, 1) : less;
}

static bool is_channel_list(const xir_value *v, int64_t n) {
    int64_t count;
    return !v || (xir_value_is_params(v) && xir_type_elements(xir_value_type(v), &count) == XIR_OK && count == n);
}

/* XIR's op for maps whose channels come second and whose statistics are constants; else products and sums. */
static xir_value *with_statistics(xir_node *at, xir_value *x, const xir_ints *axes, const statistics *s, double eps) {
    const size_t rank = v_rank(x);
    if (!s->mean || !s->variance)
        return xir_node_invalid(at, XIR_E_MISSING, NULL, "mean and variance are missing"), NULL;
    xir_value *factor = factor_of(at, s, eps), *addend = addend_of(at, s, factor);
    if (xir_node_failed(at)) return NULL;
    const int64_t n = rank >= 2 ? v_dim(x, 1) : -1;
    const bool map = axes->n == 1 && axes->v[0] == 1 && rank >= 3 && rank <= 5 && n > 0;
    if (!map || !is_channel_list(factor, n) || !is_channel_list(addend, n))
        return xir_node_sum(at, xir_node_product(at, x, factor), addend, 1, 1);
    xir_value *y = xir_node_make(at, BY_RANK(rank - 2, "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
                                 INS(xir_node_channels_last(at, x)),
                                 SETS(OBJ("variance", make_shaped(at, factor, &n, 1)),
                                      OBJ("mean", make_shaped(at, addend, &n, 1))));
    return y ? xir_node_channels_second(at, y) : NULL;
}

static xir_value *scaled(xir_node *at, xir_value *y, xir_value *gamma, xir_value *beta) {
    if (gamma) y = xir_node_product(at, y, gamma);
    return beta ? xir_node_sum(at, y, beta, 1, 1) : y;
}

/* The statistics of x as further outputs, with dims of 1. */
static bool give_statistics(xir_node *at, xir_value *x, const xir_ints *axes) {
    xir_value *mean = xir_node_reduced(at, "Mean", x, axes, true), *off = xir_node_sum(at, x, mean, 1, -1);
    xir_value *variance = xir_node_reduced(at, "Mean", xir_node_product(at, off, off), axes, true);
    return xir_node_result(at, 1, mean) && (at->n_out < 3 || xir_node_result(at, 2, variance));
}

/* With batch_stat the statistics are those of x. FusedBatchNormalization adds z, then takes the ReLU. */
bool nnb_batch_norm(xir_node *at) {
    const bool fused = xir_node_variant(at);
    xir_value *x = xir_node_input(at, 0), *y;
    xir_ints axes;
    statistics s;
    const double eps = xir_node_real(at, "eps", 1e-5);
    if (!x || !nnb_axes(at, "axes", x, &axes) || !read_statistics(at, &s)) return false;
    if (xir_node_bool(at, "batch_stat", false)) {
        const xir_ints others = nnb_other_axes(at, &axes, v_rank(x));
        if (at->n_out > 1 && !give_statistics(at, x, &others)) return false;
        y = scaled(at, nnb_normalised(at, x, &others, eps), s.gamma, s.beta);
    } else {
        if (at->n_out > 1) return xir_node_unsupported(at, "it returns statistics that it does not compute");
        y = with_statistics(at, x, &axes, &s, eps);
    }
    if (fused && xir_node_has(at, 5)) y = xir_node_sum(at, y, xir_node_input(at, 5), 1, 1);
    if (fused) y = xir_node_unary(at, "ReLU", y);
    return xir_node_result(at, 0, y);
}

/* ---- statistics of the input ------------------------------------------------------------------------------------ */

static xir_value *own_scaled(xir_node *at, xir_value *y) {
    statistics s;
    if (at->n_out > 1) return xir_node_unsupported(at, "it returns statistics"), NULL;
    return read_statistics(at, &s) ? scaled(at, y, s.gamma, s.beta) : NULL;
}

static bool over_others(xir_node *at, xir_value *x, const xir_ints *kept) {
    const xir_ints axes = nnb_other_axes(at, kept, v_rank(x));
    return xir_node_result(at, 0, own_scaled(at, nnb_normalised(at, x, &axes, xir_node_real(at, "eps", 1e-5))));
}

/* Over all axes but those of the batch. */
bool nnb_layer_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints kept;
    return nnb_axes(at, "batch_axis", x, &kept) && over_others(at, x, &kept);
}

/* Over all axes but these. */
bool nnb_tensor_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints kept;
    return nnb_axes(at, "axes", x, &kept) && over_others(at, x, &kept);
}

/* The axes of the batch, and that of the channels. */
static bool batch_and_channel(xir_node *at, const xir_value *x, int64_t *channel, xir_ints *kept) {
    xir_ints batch;
    const one_axis c = one_axis_of(at, "argument/channel_axis", 0);
    *channel = (int64_t)c.axis;
    if (!nnb_axes(at, "batch_axis", x, &batch)) return false;
    *kept = xir_node_make_ints(at, batch.n + 1, 0);
    if (!kept->v) return false;
    kept->n = 0;
    bool put = false;
    for (size_t i = 0; i < batch.n; i++) {
        if (batch.v[i] == *channel)
            return xir_node_invalid(at, XIR_E_INVALID, "argument/channel_axis", "axis %lld is one of batch_axis too",
                                    (long long)*channel);
        if (!put && batch.v[i] > *channel) kept->v[kept->n++] = *channel, put = true;
        kept->v[kept->n++] = batch.v[i];
    }
    if (!put) kept->v[kept->n++] = *channel;
    return true;
}

bool nnb_instance_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t channel;
    xir_ints kept;
    return batch_and_channel(at, x, &channel, &kept) && over_others(at, x, &kept);
}

/* The channels as [groups, channels of a group]; statistics over all axes but batch and groups. */
bool nnb_group_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t channel;
    xir_ints kept;
    if (!batch_and_channel(at, x, &channel, &kept) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const int64_t groups = xir_node_int(at, "num_groups", 1), n = v_dim(x, (size_t)channel);
    if (groups < 1 || n % groups) return nnb_out_of_range(at, "num_groups", groups);
    const size_t rank = v_rank(x);
    const xir_ints dims = xir_node_dims(at, x);
    xir_ints apart = xir_node_make_ints(at, rank + 1, 0);
    for (size_t i = 0; i < apart.n; i++) {
        const size_t c = (size_t)channel;
        apart.v[i] = i < c ? dims.v[i] : i == c ? groups : i == c + 1 ? n / groups : dims.v[i - 1];
    }
    for (size_t i = 0; i < kept.n; i++) kept.v[i] += kept.v[i] > channel;
    const xir_ints axes = nnb_other_axes(at, &kept, rank + 1);
    xir_value *y = xir_node_failed(at) ? NULL : make_reshaped(at, x, &apart);
    y = nnb_normalised(at, y, &axes, xir_node_real(at, "eps", 1e-5));
    return xir_node_result(at, 0, own_scaled(at, y ? make_reshaped(at, y, &dims) : NULL));
}

/* (w - mean) / sqrt(variance + eps) over all axes but that of the channels. */
bool nnb_weight_standardize(xir_node *at) {
    const one_axis a = one_axis_of(at, "argument/channel_axis", 0);
    if (!a.x) return false;
    const xir_ints axes = nnb_other_axes(at, &(xir_ints){ (int64_t[]){ (int64_t)a.axis }, 1 }, v_rank(a.x));
    return xir_node_result(at, 0, nnb_normalised(at, a.x, &axes, xir_node_real(at, "eps", 1e-5)));
}

/* g w / sqrt(sum(w^2) + eps), the sum over all axes but `dim`. */
bool nnb_weight_norm(xir_node *at) {
    const one_axis a = one_axis_of(at, "argument/dim", 0);
    xir_value *w = a.x, *g = xir_node_input(at, 1);
    if (xir_node_failed(at)) return false;
    const xir_ints axes = nnb_other_axes(at, &(xir_ints){ (int64_t[]){ (int64_t)a.axis }, 1 }, v_rank(w));
    const xir_ints along = node_line(at, v_rank(w), a.axis, a.n);
    xir_value *sum = xir_node_reduced(at, "Sum", xir_node_product(at, w, w), &axes, true);
    xir_value *root = xir_node_unary(at, "Sqrt", make_affine(at, sum, 1, xir_node_real(at, "eps", 1e-12)));
    xir_value *factor = xir_node_quotient(at, make_reshaped(at, g, &along), root);
    return xir_node_result(at, 0, xir_node_product(at, w, factor));
}

/* x minus the running mean, which has the dims from base_axis on. */
bool nnb_mean_subtraction(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *mean = xir_node_input(at, 1);
    size_t base;
    if (xir_node_failed(at) || !nnb_base(at, x, &base)) return false;
    if (v_rank(mean) != v_rank(x) - base)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the mean: expected %zu dims, found %zu",
                                v_rank(x) - base, v_rank(mean));
    return xir_node_result(at, 0, xir_node_sum(at, x, mean, 1, -1));
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

static bool keeps(const xir_node *at) { return xir_node_bool(at, "keep_dims", false); }

bool nnb_reduce(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints axes;
    if (!nnb_axes(at, "axes", x, &axes)) return false;
    return xir_node_result(at, 0, xir_node_reduced(at, at->cls->row->cls, x, &axes, keeps(at)));
}

bool nnb_reduce_all(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_ints axes = xir_node_series(at, 0, v_rank(x));
    return xir_node_result(at, 0, xir_node_reduced(at, at->cls->row->cls, x, &axes, false));
}

/* The place of the extreme along one axis, as a number. */
static xir_value *place_of(xir_node *at, xir_value *x, const xir_ints *axes) {
    const char *cls = at->cls->row->cls[1] == 'a' ? "Argmax" : "Argmin";
    if (axes->n != 1) return xir_node_unsupported(at, "places over %zu axes", axes->n), NULL;
    xir_value *y = xir_node_make(at, cls, INS(x), SETS(INT("dim", axes->v[0]), INT("keepdim", keeps(at))));
    return y ? xir_node_cast(at, y, v_element(x)) : NULL;
}

/* Max and Min: the numbers, both, or the places alone. */
bool nnb_extreme(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints axes;
    if (!nnb_axes(at, "axes", x, &axes)) return false;
    if (xir_node_bool(at, "only_index", false)) return xir_node_result(at, 0, place_of(at, x, &axes));
    xir_node_result(at, 0, xir_node_reduced(at, at->cls->row->cls, x, &axes, keeps(at)));
    return at->n_out < 2 ? !xir_node_failed(at) : xir_node_result(at, 1, place_of(at, x, &axes));
}

/* The axes of a norm: all of them if the list is empty. */
static bool norm_axes(xir_node *at, const xir_value *x, double p, xir_ints *axes) {
    if (!nnb_axes(at, "axes", x, axes)) return false;
    if (!axes->n) *axes = xir_node_series(at, 0, v_rank(x));
    if (!(p > 0) || isinf(p)) return xir_node_unsupported(at, "a norm of %g", p);
    return !xir_node_failed(at);
}

bool nnb_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double p = xir_node_real(at, "p", 2);
    xir_ints axes;
    if (!norm_axes(at, x, p, &axes)) return false;
    xir_value *sum = xir_node_reduced(at, "Sum", make_powers(at, x, p), &axes, keeps(at));
    return xir_node_result(at, 0, make_root(at, sum, p));
}

/* x / (sum(|x|^p) + eps)^(1/p) */
bool nnb_norm_normalize(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double p = xir_node_real(at, "p", 2);
    xir_ints axes;
    if (!norm_axes(at, x, p, &axes)) return false;
    xir_value *sum = xir_node_reduced(at, "Sum", make_powers(at, x, p), &axes, true);
    sum = make_affine(at, sum, 1, xir_node_real(at, "eps", 1e-12));
    return xir_node_result(at, 0, xir_node_quotient(at, x, make_root(at, sum, p)));
}

bool nnb_cum_prod(xir_node *at) {
    const one_axis a = known_axis_of(at, "argument/axis", 0);
    if (xir_node_bool(at, "exclusive", false) || xir_node_bool(at, "reverse", false))
        return xir_node_unsupported(at, "products without the own element, or from the end");
    return xir_node_result(at, 0, make_running_product(at, a.x, a.axis));
}
