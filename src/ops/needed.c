/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NEEDS functions of ops that work element by element, along whole dims, or on matrices: functions,
 * sums of two, comparisons, norms, reductions, products. */
#include "axes.h"
#include "needed.h"
#include "needs_walk.h"

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

void need_broadcast(xir_infer *at, size_t i) {
    const xir_tensor_type *type = xir_type_as_tensor(xir_infer_input(at, i));
    const xir_box *part = xir_needs_part(at);
    const size_t rank = type ? type->shape.size : 0, more = part->rank - rank;
    for (size_t k = 0; k < rank && rank <= part->rank; k++)
        if (type->shape.data[k] != 1) xir_needs_along(at, i, k, part->begin[k + more], part->end[k + more]);
}

size_t channels_of_input(const xir_infer *at) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    const size_t rank = rank_of_input(at, 0);
    const int64_t c = xir_layout_rank(layout) == rank ? xir_layout_index(layout, 'C') : -1;
    return c < 0 ? rank - 1 : (size_t)c;
}

/* The batch: the letter N, otherwise the first dim. */
static size_t batch_of_input(const xir_infer *at) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    const int64_t n = xir_layout_rank(layout) == rank_of_input(at, 0) ? xir_layout_index(layout, 'N') : -1;
    return n < 0 ? 0 : (size_t)n;
}

enum { MOST_STEPS = 65536 };

bool span_of_cells(cell_fn *cell, const void *user, span over, int64_t n, span *out) {
    *out = (span){ 0, n };
    if (over.end - over.begin > MOST_STEPS) return false;
    span found = { INT64_MAX, 0 };
    for (int64_t p = over.begin; p < over.end; p++) {
        const int64_t c = cell(user, p);
        if (c < 0 || c >= n) continue;
        if (c < found.begin) found.begin = c;
        if (c >= found.end) found.end = c + 1;
    }
    *out = found.end ? found : (span){ 0, 0 };
    return true;
}

/* Every attribute and constant attribute of the op is for all channels, or the part has all channels. */
static bool keeps_channels(xir_infer *at) {
    return rank_of_input(at, 0) == 0 || part_is_whole(at, channels_of_input(at));
}

/* ---- element by element ----------------------------------------------------------------------------------------- */

xir_status each_needs(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++)
        if (xir_infer_input(at, i)) need_broadcast(at, i);
    xir_tile_same(at);
    return XIR_OK;
}

/* Attributes may have a number for each channel. */
xir_status each_channel_needs(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++)
        if (xir_infer_input(at, i)) need_broadcast(at, i);
    if (keeps_channels(at)) xir_tile_same(at);
    return XIR_OK;
}

xir_status multiply_needs(xir_infer *at) {
    const xir_multiply_attrs *a = xir_infer_attrs(at);
    return a->cut_scale && a->cut_scale->items.size ? each_channel_needs(at) : each_needs(at);
}

xir_status add_needs(xir_infer *at) {
    const xir_add_attrs *a = xir_infer_attrs(at);
    const bool one = a->alpha.size <= 1 && a->beta.size <= 1 && (!a->cut_scale || !a->cut_scale->items.size);
    return one ? each_needs(at) : each_channel_needs(at);
}

/* The same elements in the same places, if the layouts are equal. */
xir_status cast_needs(xir_infer *at) {
    const xir_type *in = xir_infer_input(at, 0), *out = xir_infer_output(at, 0);
    const size_t rank = rank_of_input(at, 0);
    if (rank != xir_type_rank(out) || !xir_layout_rank(xir_type_layout(in)) == !!rank) return XIR_E_UNSUPPORTED;
    if (!xir_str_equal(xir_layout_text(xir_type_layout(in)), xir_layout_text(xir_type_layout(out))))
        return XIR_E_UNSUPPORTED;
    for (size_t k = 0; k < rank; k++) {
        if (dim_of_input(at, 0, k) != dim_of_output(at, k)) return XIR_E_UNSUPPORTED;
        need_same(at, 0, k, k);
    }
    xir_tile_type(at, "target_dtype");
    return XIR_OK;
}

/* The dims of the input, not its elements. */
xir_status shape_needs(xir_infer *at) {
    xir_needs_none(at, 0);
    return XIR_OK;
}

/* ---- whole dims ------------------------------------------------------------------------------------------------- */

/* Every dim but those with a bit in `whole`; the output has the dims of the input. */
static void need_other_dims(xir_infer *at, uint64_t whole) {
    for (size_t k = 0; k < rank_of_input(at, 0); k++)
        if (!(whole >> k & 1)) need_same(at, 0, k, k);
}

/* The bits of a list of axes, from the end if negative. False for one that is outside. */
static bool axes_bits(xir_infer *at, xir_i64s axes, uint64_t *bits) {
    const size_t rank = rank_of_input(at, 0);
    *bits = 0;
    for (size_t i = 0; i < axes.size; i++) {
        const int64_t k = from_start(axes.data[i], rank);
        if (k < 0) return false;
        *bits |= UINT64_C(1) << k;
    }
    return true;
}

/* The op of a tile makes all elements along dims that are whole. */
static void tile_whole_dims(xir_infer *at, uint64_t whole) {
    xir_tile_same(at);
    for (size_t k = 0; k < rank_of_input(at, 0); k++)
        if (whole >> k & 1) xir_tile_makes(at, k, 0, dim_of_output(at, k));
}

static xir_status along_axis_needs(xir_infer *at, int64_t axis) {
    const int64_t k = from_start(axis, rank_of_input(at, 0));
    if (k < 0) return XIR_E_BOUNDS;
    need_other_dims(at, UINT64_C(1) << k);
    tile_whole_dims(at, UINT64_C(1) << k);
    return XIR_OK;
}

static xir_status along_axes_needs(xir_infer *at, xir_i64s axes, bool none_is_all) {
    uint64_t bits;
    if (!axes_bits(at, axes, &bits)) return XIR_E_BOUNDS;
    if (none_is_all && !axes.size) bits = UINT64_MAX;
    need_other_dims(at, bits);
    tile_whole_dims(at, bits);
    return XIR_OK;
}

xir_status softmax_needs(xir_infer *at) {
    return along_axis_needs(at, ((const xir_softmax_attrs *)xir_infer_attrs(at))->axis);
}
xir_status log_softmax_needs(xir_infer *at) {
    return along_axis_needs(at, ((const xir_log_softmax_attrs *)xir_infer_attrs(at))->axis);
}
xir_status layer_norm_needs(xir_infer *at) {
    return along_axes_needs(at, ((const xir_layer_norm_attrs *)xir_infer_attrs(at))->axis, false);
}
xir_status rms_norm_needs(xir_infer *at) {
    return along_axes_needs(at, ((const xir_rms_norm_attrs *)xir_infer_attrs(at))->axis, false);
}
xir_status normalize_needs(xir_infer *at) {
    return along_axes_needs(at, ((const xir_normalize_attrs *)xir_infer_attrs(at))->axis, true);
}

/* The image of each channel of each sample is whole. */
xir_status instance_norm_needs(xir_infer *at) {
    if (rank_of_input(at, 0) < 2) return XIR_E_INVALID;
    const size_t n = batch_of_input(at), c = channels_of_input(at);
    need_same(at, 0, n, n);
    need_same(at, 0, c, c);
    if (keeps_channels(at)) tile_whole_dims(at, ~(UINT64_C(1) << n | UINT64_C(1) << c));
    return XIR_OK;
}

/* Groups of channels, each whole. */
xir_status group_norm_needs(xir_infer *at) {
    const xir_group_norm_attrs *a = xir_infer_attrs(at);
    if (rank_of_input(at, 0) < 2) return XIR_E_INVALID;
    const size_t n = batch_of_input(at), c = channels_of_input(at);
    const int64_t size = a->groups > 0 ? dim_of_input(at, 0, c) / a->groups : 0;
    const span part = part_along(at, c);
    if (size < 1) return XIR_E_INVALID;
    need_same(at, 0, n, n);
    xir_needs_along(at, 0, c, part.begin / size * size, (part.end - 1) / size * size + size);
    if (keeps_channels(at)) tile_whole_dims(at, ~(UINT64_C(1) << n));
    return XIR_OK;
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* The output lacks the dims with a bit in `gone`, or has 1 in their places. */
static xir_status reduce_needs(xir_infer *at, uint64_t gone, bool keepdim) {
    size_t o = 0;
    for (size_t k = 0; k < rank_of_input(at, 0); k++) {
        const bool reduced = gone >> k & 1;
        if (!reduced) need_same(at, 0, k, o);
        o += keepdim || !reduced;
    }
    xir_tile_same(at);
    return XIR_OK;
}

static xir_status reduce_dim_needs(xir_infer *at, const xir_int_imm *dim, bool keepdim) {
    dim = xir_int_imm_of((const xir_object *)dim);
    const int64_t k = dim ? from_start(dim->value, rank_of_input(at, 0)) : 0;
    if (k < 0) return XIR_E_BOUNDS;
    return reduce_needs(at, dim ? UINT64_C(1) << k : UINT64_MAX, keepdim);
}

static xir_status reduce_list_needs(xir_infer *at, xir_i64s dims, bool keepdim) {
    uint64_t bits;
    if (!axes_bits(at, dims, &bits)) return XIR_E_BOUNDS;
    return reduce_needs(at, dims.size ? bits : UINT64_MAX, keepdim);
}

#define REDUCES(name, how) \
    xir_status name##_needs(xir_infer *at) { \
        const xir_##name##_attrs *a = xir_infer_attrs(at); \
        return how(at, a->dim, a->keepdim); \
    }
REDUCES(argmax, reduce_dim_needs)
REDUCES(argmin, reduce_dim_needs)
REDUCES(max,    reduce_dim_needs)
REDUCES(min,    reduce_dim_needs)
REDUCES(mean,   reduce_list_needs)
REDUCES(sum,    reduce_list_needs)
REDUCES(prod,   reduce_list_needs)

xir_status cum_sum_needs(xir_infer *at) {
    const xir_cum_sum_attrs *a = xir_infer_attrs(at);
    const int64_t axis = from_start(a->axis, rank_of_input(at, 0));
    if (axis < 0) return XIR_E_BOUNDS;
    const size_t k = (size_t)axis;
    const span part = part_along(at, k);
    need_other_dims(at, UINT64_C(1) << k);
    if (part_is_whole(at, k)) xir_tile_same(at);
    if (xir_tile_asked(at)) return XIR_OK;   /* the op of a tile has the whole axis */
    if (a->reverse) xir_needs_along(at, 0, k, part.begin + a->exclusive, INT64_MAX);
    else xir_needs_along(at, 0, k, 0, part.end - a->exclusive);
    return XIR_OK;
}

/* x whole along the axis, and k. */
xir_status top_k_needs(xir_infer *at) {
    return along_axis_needs(at, ((const xir_top_k_attrs *)xir_infer_attrs(at))->axis);
}

/* ---- products --------------------------------------------------------------------------------------------------- */

xir_status matmul_needs(xir_infer *at) {
    const xir_matmul_attrs *a = xir_infer_attrs(at);
    const size_t all = xir_needs_part(at)->rank, x = rank_of_input(at, 0), k = rank_of_input(at, 1);
    if (!x || !k) return XIR_E_INVALID;
    const size_t own = (x > 1) + (size_t)(k > 1);   /* dims of the matrix in the output */
    if (all < own) return XIR_E_INVALID;
    const size_t batches = all - own;
    for (size_t i = 0; i < 2; i++) {
        const size_t rank = i ? k : x, mine = rank > 2 ? rank - 2 : 0;
        if (mine > batches) return XIR_E_INVALID;
        for (size_t d = 0; d < mine; d++)
            if (dim_of_input(at, i, d) != 1) need_same(at, i, d, d + batches - mine);
    }
    if (x > 1) need_same(at, 0, x - 2, batches);
    if (k > 1) need_same(at, 1, k - 1, all - 1);
    if (xir_infer_input(at, 2)) {
        const size_t rank = rank_of_input(at, 2);
        for (size_t d = 0; d < rank; d++)
            if (dim_of_input(at, 2, d) != 1 && d + all >= rank) need_same(at, 2, d, d + all - rank);
    }
    if (!a->cut_scale || !a->cut_scale->items.size) xir_tile_same(at);
    return XIR_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

xir_status call_needs(xir_infer *at) {
    const xir_call_op_attrs *a = xir_infer_attrs(at);
    return needs_of_call(at, a->body);
}
