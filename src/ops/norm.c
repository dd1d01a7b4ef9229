/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Normalisations. The output has the type of the input, so only dims and per-channel constants are checked. Means and
 * sums skip padding, and padding stays padding. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "axes.h"
#include "element.h"
#include "sort.h"
#include "tiled.h"
#include "types.h"

/* ---- results ----------------------------------------------------------------------------------------------------- */

static xir_status give_same(xir_infer *at) {
    const xir_type *element;
    xir_status status = computed_element(at, 0, &element);
    return status ? status : xir_infer_result(at, xir_infer_input(at, 0));
}

xir_status norm_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 1);
    return status ? status : give_same(at);
}

/* Input and output have the same layout, so tiled inputs are allowed. */
xir_status norm_tiled_infer(xir_infer *at) {
    xir_status status = need_tensors(at, 1);
    return status ? status : give_same(at);
}

/* ---- dims of the input ------------------------------------------------------------------------------------------- */

/* A number of elements or channels: all, and those that are not padding. Negative: unknown. */
typedef struct count { int64_t all, valid; } count;

/* Counts the elements of one dim, or of the two dims of a tiled axis. */
static count count_dims(const xir_type *type, const int64_t *axes, size_t n) {
    count c = { 1, 0 };
    for (size_t i = 0; i < n && c.all >= 0; i++) {
        int64_t dim = type_dim(type, axes[i]);
        if (dim < 0 || !mul_i64(c.all, dim, &c.all)) c.all = UNKNOWN_DIM;
    }
    const xir_distr *distr = xir_type_distr(type, axes, n);
    c.valid = distr ? xir_distr_total_valid(distr) : c.all;
    return c;
}

static size_t count_tiles(const xir_layout *layout) {
    size_t n = 0;
    layout_axis a;
    for (form_text t = layout_walk(layout); layout_next(&t, &a);) n += a.unit != 0;
    return n;
}

/* The channels of an input with `least` to `most` dims: the axis C, or the last one. */
static xir_status count_channels(xir_infer *at, size_t least, size_t most, count *out) {
    const xir_type *type = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(type);
    size_t rank = xir_type_rank(type), letters = xir_layout_rank(layout), tiles = count_tiles(layout);
    if (rank < least + tiles || rank - tiles > most) {
        char expected[64];
        if (most == SIZE_MAX) snprintf(expected, sizeof expected, "%zu or more", least + tiles);
        else if (most > least) snprintf(expected, sizeof expected, "%zu or %zu", least + tiles, most + tiles);
        else snprintf(expected, sizeof expected, "%zu", least + tiles);
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "%s has %zu dim%s: expected %s%s", input_name(at, 0), rank,
                              rank == 1 ? "" : "s", expected, tiles ? " with its tiles" : "");
    }
    int64_t at_c = letters == rank ? xir_layout_index(layout, 'C') : -1;
    int64_t unit_at = tiles && at_c >= 0 ? xir_layout_index(layout, 'c') : -1;
    const int64_t axes[2] = { at_c < 0 ? (int64_t)rank - 1 : at_c, unit_at };
    /* If a tiled input has no C, its channel dim is ambiguous. */
    *out = tiles && at_c < 0 ? (count){ UNKNOWN_DIM, UNKNOWN_DIM } : count_dims(type, axes, unit_at < 0 ? 1 : 2);
    return XIR_OK;
}

/* Checks that a constant attribute has `expected` elements, called `things` in messages. Accepts one without a type. */
static xir_status check_constants(xir_infer *at, const char *where, const xir_value *params, count expected,
                                  const char *things) {
    const xir_type *type = params ? xir_value_type(params) : NULL;
    if (!xir_type_as_tensor(type)) return XIR_OK;
    xir_type_kind kind = xir_type_kind_of(xir_type_element(type));
    if (kind == XIR_TYPE_BOOL || kind == XIR_TYPE_INTEGER) {
        char room[40];
        return xir_infer_fail(at, XIR_E_TYPE, where, "the elements of %s are %s: expected floating-point numbers",
                              where, element_word(xir_type_element(type), room, sizeof room));
    }
    int64_t n;
    if (expected.all < 0 || expected.valid < 0 || xir_type_elements(type, &n)) return XIR_OK;
    if (n == expected.valid || n == expected.all) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, where, "%s has %" PRId64 " element%s, but %s has %" PRId64 " %s", where, n,
                          n == 1 ? "" : "s", input_name(at, 0), expected.valid, things);
}

/* ---- BatchNorm, InstanceNorm, GroupNorm -------------------------------------------------------------------------- */

static xir_status check_batch_norm(xir_infer *at, const xir_value *variance, const xir_value *mean, size_t least,
                                   size_t most) {
    count channels = { UNKNOWN_DIM, UNKNOWN_DIM };
    if (!inputs_checkable(at, 1)) return XIR_OK;
    xir_status status = need_reals(at, 0);
    if (!status) status = count_channels(at, least, most, &channels);
    if (!status) status = check_constants(at, "variance", variance, channels, "channels");
    return status ? status : check_constants(at, "mean", mean, channels, "channels");
}

xir_status batch_norm1d_check(xir_infer *at) {
    const xir_batch_norm1d_attrs *a = xir_infer_attrs(at);
    return check_batch_norm(at, a->variance, a->mean, 2, 3);
}

xir_status batch_norm2d_check(xir_infer *at) {
    const xir_batch_norm2d_attrs *a = xir_infer_attrs(at);
    return check_batch_norm(at, a->variance, a->mean, 4, 4);
}

xir_status batch_norm3d_check(xir_infer *at) {
    const xir_batch_norm3d_attrs *a = xir_infer_attrs(at);
    return check_batch_norm(at, a->variance, a->mean, 5, 5);
}

static xir_status check_affine(xir_infer *at, const xir_value *gamma, const xir_value *beta, size_t least, size_t most,
                               count *channels) {
    xir_status status = need_reals(at, 0);
    if (!status) status = count_channels(at, least, most, channels);
    if (!status) status = check_constants(at, "gamma", gamma, *channels, "channels");
    return status ? status : check_constants(at, "beta", beta, *channels, "channels");
}

static xir_status check_instance_norm(xir_infer *at, const xir_value *gamma, const xir_value *beta, size_t rank) {
    count channels = { UNKNOWN_DIM, UNKNOWN_DIM };
    return inputs_checkable(at, 1) ? check_affine(at, gamma, beta, rank, rank, &channels) : XIR_OK;
}

xir_status instance_norm1d_check(xir_infer *at) {
    const xir_instance_norm1d_attrs *a = xir_infer_attrs(at);
    return check_instance_norm(at, a->gamma, a->beta, 3);
}

xir_status instance_norm2d_check(xir_infer *at) {
    const xir_instance_norm2d_attrs *a = xir_infer_attrs(at);
    return check_instance_norm(at, a->gamma, a->beta, 4);
}

xir_status instance_norm3d_check(xir_infer *at) {
    const xir_instance_norm3d_attrs *a = xir_infer_attrs(at);
    return check_instance_norm(at, a->gamma, a->beta, 5);
}

xir_status group_norm_check(xir_infer *at) {
    const xir_group_norm_attrs *a = xir_infer_attrs(at);
    count channels = { UNKNOWN_DIM, UNKNOWN_DIM };
    if (!inputs_known(at, 1) || inputs_tiled(at, 1)) return XIR_OK;
    if (a->groups < 1) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "groups", "%" PRId64 " groups: expected at least 1", a->groups);
    }
    xir_status status = check_affine(at, a->gamma, a->beta, 2, SIZE_MAX, &channels);
    if (status || channels.valid < 0 || channels.valid % a->groups == 0) return status;
    return xir_infer_fail(at, XIR_E_INVALID, "groups",
                          "%s has %" PRId64 " channels: expected a multiple of %" PRId64 " groups", input_name(at, 0),
                          channels.valid, a->groups);
}

/* ---- LayerNorm, RMSNorm, Normalize ------------------------------------------------------------------------------- */

/* Counts the elements of the marked dims together. */
static xir_status count_marked(xir_infer *at, const dim_list *marks, count *out) {
    const xir_type *type = xir_infer_input(at, 0);
    bool unknown = false, zero = false, over = false;
    *out = (count){ 1, 1 };
    for (size_t k = 0; k < marks->size; k++) {
        if (!marks->data[k]) continue;
        const int64_t axis = (int64_t)k;
        count dim = count_dims(type, &axis, 1);
        unknown |= dim.all < 0;
        zero |= dim.all == 0;
        over |= !mul_i64(out->all, dim.all, &out->all) || !mul_i64(out->valid, dim.valid, &out->valid);
    }
    if (unknown) *out = (count){ UNKNOWN_DIM, UNKNOWN_DIM };
    else if (zero) *out = (count){ 0, 0 };
    else if (over) {
        return xir_infer_fail(at, XIR_E_LIMIT, "axis", "the number of elements in the dims of axis exceeds 64 bits");
    }
    return XIR_OK;
}

static xir_status check_axes(xir_infer *at, xir_i64s axes, const xir_value *gamma, const xir_value *beta) {
    dim_list marks;
    count elements;
    if (axes.size == 0)
        return xir_infer_fail(at, XIR_E_INVALID, "axis", "axis is empty: expected at least one dim");
    xir_status status = need_reals(at, 0);
    if (!status) status = mark_axes(at, "axis", axes, &marks);
    if (status) return status;
    if ((gamma || beta) && !inputs_tiled(at, 1)) {
        status = count_marked(at, &marks, &elements);
        if (!status) status = check_constants(at, "gamma", gamma, elements, "in the dims of axis");
        if (!status) status = check_constants(at, "beta", beta, elements, "in the dims of axis");
    }
    dims_free(&marks);
    return status;
}

xir_status layer_norm_check(xir_infer *at) {
    const xir_layer_norm_attrs *a = xir_infer_attrs(at);
    return inputs_checkable(at, 1) ? check_axes(at, a->axis, a->gamma, a->beta) : XIR_OK;
}

xir_status rms_norm_check(xir_infer *at) {
    const xir_rms_norm_attrs *a = xir_infer_attrs(at);
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? check_axes(at, a->axis, a->gamma, NULL) : XIR_OK;
}

xir_status normalize_check(xir_infer *at) {
    const xir_normalize_attrs *a = xir_infer_attrs(at);
    dim_list marks;
    if (isnan(a->p)) return xir_infer_fail(at, XIR_E_BOUNDS, "p", "p is NaN: expected a number");
    if (!inputs_checkable(at, 1)) return XIR_OK;
    xir_status status = need_reals(at, 0);
    if (!status) status = mark_axes(at, "axis", a->axis, &marks);
    if (!status) dims_free(&marks);
    return status;
}

/* ---- Softmax, LogSoftmax ----------------------------------------------------------------------------------------- */

static xir_status check_softmax(xir_infer *at, int64_t axis) {
    if (!inputs_checkable(at, 1)) return XIR_OK;
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    xir_status status = need_reals(at, 0);
    return !status && from_start(axis, rank) < 0 ? axis_outside(at, "axis", axis, rank) : status;
}

xir_status softmax_check(xir_infer *at) {
    const xir_softmax_attrs *a = xir_infer_attrs(at);
    return check_softmax(at, a->axis);
}

xir_status log_softmax_check(xir_infer *at) {
    const xir_log_softmax_attrs *a = xir_infer_attrs(at);
    return check_softmax(at, a->axis);
}
