/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas of XIR's normalisations, and of moves of channels, for formats without operations for them (simpler.c). */
#include <math.h>
#include "formula/parts.h"
#include "formula/simpler.h"
#include "spec/maps.h"
#include "spec/reduction.h"

static xir_value *unary(xir_node *at, const char *cls, xir_value *x) { return xir_node_unary(at, cls, x); }

/* ---- normalisations --------------------------------------------------------------------------------------------- */

static xir_value *weighted(xir_node *at, xir_value *y, const xir_ints *dims) {
    xir_value *gamma = xir_node_attr_params(at, "gamma"), *beta = xir_node_attr_params(at, "beta");
    if (gamma) y = xir_node_product(at, y, make_reshaped(at, gamma, dims));
    return beta ? xir_node_sum(at, y, make_reshaped(at, beta, dims), 1, 1) : y;
}

/* x / sqrt(mean(x^2) + eps) */
static xir_value *by_size(xir_node *at, xir_value *x, const xir_ints *axes) {
    xir_value *mean = xir_node_reduced(at, "Mean", xir_node_product(at, x, x), axes, true);
    xir_value *root = unary(at, "Sqrt", make_affine(at, mean, 1, xir_node_real(at, "eps", 1e-5)));
    return xir_node_quotient(at, x, root);
}

static xir_value *centred(xir_node *at, xir_value *x, const xir_ints *axes) {
    return xir_node_sum(at, x, xir_node_reduced(at, "Mean", x, axes, true), 1, -1);
}

bool simpler_layer_norm(xir_node *at) {
    normalisation n;
    xir_value *x = xir_node_input(at, 0);
    if (!norm_of_op(at, x, &n)) return false;
    x = by_size(at, n.rms ? x : centred(at, x, &n.axes), &n.axes);
    return xir_node_result(at, 0, weighted(at, x, &n.spread));
}

static int64_t batch_of(const xir_value *x) {
    const xir_layout *layout = xir_type_layout(xir_value_type(x));
    const int64_t axis = layout ? xir_layout_index(layout, 'N') : 0;
    return axis < 0 ? 0 : axis;
}

/* InstanceNorm, over all dims but batch and channels; GroupNorm, with the channels as [groups, channels of one]. */
bool simpler_channel_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x), c = map_channels(x), n = (size_t)batch_of(x);
    const bool groups = xir_op_is(at->op, xir_group_norm_class());
    const xir_ints own = xir_node_dims(at, x);
    const xir_ints dims = node_line(at, rank, c, v_dim(x, c));
    xir_ints axes = xir_node_series(at, 0, rank + groups);
    if (xir_node_failed(at) || c == n) return xir_node_unsupported(at, "a map without channels");
    xir_ints apart = xir_node_make_ints(at, rank + groups, 1);
    const int64_t parts = groups ? xir_node_int(at, "groups", 1) : 1;
    if (!apart.v || parts < 1) return false;
    for (size_t i = 0; i < apart.n && groups; i++)
        apart.v[i] = i < c ? own.v[i] : i == c ? parts : i == c + 1 ? own.v[c] / parts : own.v[i - 1];
    axes.n = 0;
    for (size_t i = 0; i < rank + groups; i++) {
        const bool batch = i == n + (groups && n > c);
        if (!batch && i != c) axes.v[axes.n++] = (int64_t)i;
    }
    xir_value *y = groups ? make_reshaped(at, x, &apart) : x;
    y = y ? by_size(at, centred(at, y, &axes), &axes) : NULL;
    if (groups && y) y = make_reshaped(at, y, &own);
    return xir_node_result(at, 0, weighted(at, y, &dims));
}

/* x times a factor of each channel plus an addend. */
bool simpler_batch_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *factor = xir_node_attr_params(at, "variance"),
              *addend = xir_node_attr_params(at, "mean");
    if (!x || !factor || !addend) return false;
    const size_t c = map_channels(x);
    const xir_ints dims = node_line(at, v_rank(x), c, v_dim(x, c));
    return xir_node_result(at, 0, xir_node_sum(at, xir_node_product(at, x, make_reshaped(at, factor, &dims)),
                                               make_reshaped(at, addend, &dims), 1, 1));
}

/* x / max(norm, eps) */
/* Powers of other norms lose digits, or have no numbers. */
#define LEAST_NORM 0.25
#define MOST_NORM  16.0

bool simpler_normalize(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints axes;
    const double p = xir_node_real(at, "p", 2);
    if (!x || !xir_node_items(at, "axis", &axes)) return false;
    if (!axes.n) axes = xir_node_series(at, 0, v_rank(x));
    if (!(p >= LEAST_NORM && p <= MOST_NORM)) return xir_node_unsupported(at, "a norm with p = %g", p);
    xir_value *norm = make_root(at, xir_node_reduced(at, "Sum", make_powers(at, x, p), &axes, true), p);
    const double eps = xir_node_real(at, "eps", 1e-12), least = node_least_real(v_element(x));
    norm = make_clamped(at, norm, eps > 0 && eps < least ? least : eps, INFINITY);   /* elements may not have eps */
    return xir_node_result(at, 0, xir_node_quotient(at, x, norm));
}

/* ---- moves ------------------------------------------------------------------------------------------------------ */

/* x in other dims, permuted, and in the dims of the result. */
static bool shuffled(xir_node *at, xir_value *x, const xir_ints *apart, const int64_t *order) {
    const xir_ints to = xir_node_dims(at, xir_op_output(at->op, 0));
    x = apart->v ? make_reshaped(at, x, apart) : NULL;
    x = x ? xir_node_transposed(at, x, order, apart->n, NULL) : NULL;
    return x && xir_node_result(at, 0, make_reshaped(at, x, &to));
}

/* The channels [groups, each] become [each, groups]. */
bool simpler_channel_shuffle(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t c = map_channels(x), rank = v_rank(x);
    const int64_t groups = xir_node_int(at, "groups", 1);
    xir_ints apart = xir_node_make_ints(at, rank + 1, 1), order = xir_node_series(at, 0, rank + 1);
    if (xir_node_failed(at) || groups < 1) return false;
    for (size_t i = 0; i < apart.n; i++)
        apart.v[i] = i < c ? v_dim(x, i) : i == c ? groups : i == c + 1 ? v_dim(x, c) / groups : v_dim(x, i - 1);
    order.v[c] = (int64_t)c + 1, order.v[c + 1] = (int64_t)c;
    return shuffled(at, x, &apart, order.v);
}

/* The channels [c, r, r] become parts of rows and columns. */
bool simpler_pixel_shuffle(xir_node *at) {
    static const int64_t order[] = { 0, 1, 4, 2, 5, 3 };
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t c = map_channels(x);
    const int64_t r = xir_node_int(at, "upscale_factor", 1);
    xir_ints apart = xir_node_make_ints(at, 6, r);
    if (xir_node_failed(at) || r < 1) return false;
    if (v_rank(x) != 4 || batch_of(x) || (c != 1 && c != 3)) return xir_node_unsupported(at, "axes in another order");
    const bool last = c == 3;   /* [n, h, w, c, r, r], or [n, c, r, r, h, w] */
    for (size_t i = 0; i < 3; i++) apart.v[last || !i ? i : i + 3] = v_dim(x, last || !i ? i : i + 1);
    apart.v[last ? 3 : 1] = v_dim(x, c) / (r * r);
    return shuffled(at, x, &apart, order);
}

/* The last elements of each dim come first. The dims that are rolled must be known, or all if none is named. */
bool simpler_roll(xir_node *at) {
    xir_ints shifts, axes = { NULL, 0 };
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_items(at, "shifts", &shifts)) return false;
    const xir_ints own = xir_node_dims(at, x);
    const bool flat = !xir_node_attr(at, "dims") || !xir_node_items(at, "dims", &axes) || !axes.n;
    if (xir_node_failed(at) || (flat && !xir_node_need_dims(at, x, 0, SIZE_MAX))) return false;
    if (flat) {
        axes = xir_node_make_ints(at, shifts.n, 0);
        x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    }
    for (size_t i = 0; i < shifts.n && i < axes.n && x; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/dims", axes.v[i], v_rank(x), &axis)) return false;
        if (!flat && !xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        const int64_t n = v_dim(x, (size_t)axis), by = n > 0 ? (shifts.v[i] % n + n) % n : 0;
        if (!by) continue;
        x = xir_node_make(at, "Concat", INS(make_part(at, x, (size_t)axis, n - by, n, 1),
                                            make_part(at, x, (size_t)axis, 0, n - by, 1)), SETS(INT("axis", axis)));
    }
    if (flat && x) x = make_reshaped(at, x, &own);
    return x == xir_node_input(at, 0) ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : xir_node_result(at, 0, x);
}
