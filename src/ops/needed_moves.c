/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NEEDS functions of ops that move elements: reshapes, joins, slices, paddings, and elements that are
 * picked by indices. */
#include "list.h"
#include "needed.h"

/* ---- reshapes --------------------------------------------------------------------------------------------------- */

/* The list of sizes of the part, for the op of a tile. */
static void tile_dims(xir_infer *at, const char *name) {
    const xir_box *part = xir_needs_part(at);
    int64_t dims[XIR_BOX_DIMS] = { 0 };
    for (uint32_t k = 0; k < part->rank; k++) dims[k] = part->end[k] - part->begin[k];
    xir_tile_i64s(at, name, dims, part->rank);
}

/* Equal dims at both ends follow the part. What is between them is one run of elements in both, of which the part
 * spans an interval: it bounds the outermost dim. */
xir_status reshape_needs(xir_infer *at) {
    const xir_box *part = xir_needs_part(at);
    const size_t in = rank_of_input(at, 0), out = part->rank;
    size_t head = 0, tail = 0;
    while (head < in && head < out && dim_of_input(at, 0, head) == dim_of_output(at, head)) head++;
    while (tail < in - head && tail < out - head &&
           dim_of_input(at, 0, in - 1 - tail) == dim_of_output(at, out - 1 - tail)) tail++;
    for (size_t k = 0; k < head; k++) need_same(at, 0, k, k);
    for (size_t k = 0; k < tail; k++) need_same(at, 0, in - 1 - k, out - 1 - k);
    bool middle = true;
    int64_t first = 0, last = 0, inner = 1;
    for (size_t k = head; k < out - tail; k++) {
        const int64_t dim = dim_of_output(at, k);
        const span s = part_along(at, k);
        middle &= part_is_whole(at, k);
        if (!mul_i64(first, dim, &first) || !mul_i64(last, dim, &last)) return XIR_E_LIMIT;
        first += s.begin;
        last += s.end - 1;
    }
    size_t k = head;
    while (k < in - tail && dim_of_input(at, 0, k) == 1) k++;
    for (size_t d = k + 1; d < in - tail; d++)
        if (!mul_i64(inner, dim_of_input(at, 0, d), &inner)) return XIR_E_LIMIT;
    if (!middle && k < in - tail && inner > 0) xir_needs_along(at, 0, k, first / inner, last / inner + 1);
    if (middle && !has_list(at)) tile_dims(at, "shape");
    return XIR_OK;
}

xir_status transpose_needs(xir_infer *at) {
    const xir_transpose_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    if (a->dims.size != rank) return XIR_E_INVALID;
    for (size_t k = 0; k < rank; k++) {
        const int64_t from = from_start(a->dims.data[k], rank);
        if (from < 0) return XIR_E_BOUNDS;
        need_same(at, 0, (size_t)from, k);
    }
    xir_tile_same(at);
    return XIR_OK;
}

/* Without a list all dims of 1 are removed: the op of a tile would remove those that became 1. */
xir_status squeeze_needs(xir_infer *at) {
    const xir_squeeze_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    uint64_t gone = 0;
    for (size_t i = 0; i < a->axis.size; i++) {
        const int64_t k = from_start(a->axis.data[i], rank);
        if (k < 0) return XIR_E_BOUNDS;
        gone |= UINT64_C(1) << k;
    }
    for (size_t k = 0; k < rank && !a->axis.size; k++)
        if (dim_of_input(at, 0, k) == 1) gone |= UINT64_C(1) << k;
    size_t o = 0;
    for (size_t k = 0; k < rank; k++)
        if (!(gone >> k & 1)) need_same(at, 0, k, o++);
    if (a->axis.size) xir_tile_same(at);
    return XIR_OK;
}

xir_status expand_needs(xir_infer *at) {
    need_broadcast(at, 0);
    if (!has_list(at)) tile_dims(at, "sizes");
    return XIR_OK;
}

/* The part along a dim of n that repeats. */
static void need_repeated(xir_infer *at, size_t k, int64_t n, span part) {
    if (n < 1 || part.end - part.begin >= n) return;
    const int64_t begin = part.begin % n, end = (part.end - 1) % n + 1;
    if (begin < end) xir_needs_along(at, 0, k, begin, end);
}

xir_status tile_needs(xir_infer *at) {
    const size_t rank = rank_of_input(at, 0), all = xir_needs_part(at)->rank;
    if (rank > all) return XIR_E_INVALID;
    for (size_t k = 0; k < rank; k++) need_repeated(at, k, dim_of_input(at, 0, k), part_along(at, k + all - rank));
    return XIR_OK;
}

typedef struct shuffle { int64_t groups, size; } shuffle;
static int64_t shuffled(const void *user, int64_t c) {
    const shuffle *s = user;
    return c % s->groups * s->size + c / s->groups;
}

xir_status channel_shuffle_needs(xir_infer *at) {
    const xir_channel_shuffle_attrs *a = xir_infer_attrs(at);
    if (!rank_of_input(at, 0) || a->groups < 1) return XIR_E_INVALID;
    const size_t c = channels_of_input(at);
    const shuffle s = { a->groups, dim_of_input(at, 0, c) / a->groups };
    span needed;
    for (size_t k = 0; k < rank_of_input(at, 0); k++)
        if (k != c) need_same(at, 0, k, k);
    if (part_is_whole(at, c)) xir_tile_same(at);
    else if (span_of_cells(shuffled, &s, part_along(at, c), dim_of_input(at, 0, c), &needed))
        xir_needs_along(at, 0, c, needed.begin, needed.end);
    else xir_needs_wide(at, 0);
    return XIR_OK;
}

/* The residues modulo r of an interval: the least and the greatest. */
static span residues(span part, int64_t r) {
    if (part.end - part.begin >= r || part.begin % r > (part.end - 1) % r) return (span){ 0, r };
    return (span){ part.begin % r, (part.end - 1) % r + 1 };
}

xir_status pixel_shuffle_needs(xir_infer *at) {
    const xir_pixel_shuffle_attrs *a = xir_infer_attrs(at);
    const int64_t r = a->upscale_factor;
    named_dims x;
    xir_status status = read_dims(at, 0, "NHWC", &x);
    if (status || r < 1 || r > (int64_t)1 << 20) return status ? status : XIR_E_BOUNDS;
    const span h = part_along(at, x.at[1]), w = part_along(at, x.at[2]), c = part_along(at, x.at[3]);
    const span y = residues(h, r), z = residues(w, r);
    need_same(at, 0, x.at[0], x.at[0]);
    xir_needs_along(at, 0, x.at[1], h.begin / r, (h.end - 1) / r + 1);
    xir_needs_along(at, 0, x.at[2], w.begin / r, (w.end - 1) / r + 1);
    if (!xir_tile_asked(at)) {
        xir_needs_along(at, 0, x.at[3], (c.begin * r + y.begin) * r + z.begin,
                        ((c.end - 1) * r + y.end - 1) * r + z.end);
        return XIR_OK;
    }
    xir_needs_along(at, 0, x.at[3], c.begin * r * r, c.end * r * r);
    xir_tile_makes(at, x.at[1], h.begin / r * r, (h.end - 1) / r * r + r);
    xir_tile_makes(at, x.at[2], w.begin / r * r, (w.end - 1) / r * r + r);
    xir_tile_same(at);
    return XIR_OK;
}

/* ---- joins and divisions ---------------------------------------------------------------------------------------- */

xir_status concat_needs(xir_infer *at) {
    const xir_concat_attrs *a = xir_infer_attrs(at);
    const size_t rank = xir_needs_part(at)->rank;
    const int64_t axis = from_start(a->axis, rank);
    int64_t before = 0;
    if (axis < 0) return XIR_E_BOUNDS;
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        const int64_t own = dim_of_input(at, i, (size_t)axis);
        const span part = part_along(at, (size_t)axis);
        for (size_t k = 0; k < rank; k++)
            if (k != (size_t)axis) need_same(at, i, k, k);
        xir_needs_along(at, i, (size_t)axis, part.begin - before, part.end - before);
        before += own;
    }
    if (part_is_whole(at, (size_t)axis)) xir_tile_same(at);
    return XIR_OK;
}

xir_status stack_needs(xir_infer *at) {
    const xir_stack_attrs *a = xir_infer_attrs(at);
    const size_t rank = xir_needs_part(at)->rank;
    const int64_t axis = from_start(a->dim, rank);
    if (axis < 0) return XIR_E_BOUNDS;
    const span part = part_along(at, (size_t)axis);
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        for (size_t k = 0; k + 1 < rank; k++) need_same(at, i, k, k + (k >= (size_t)axis));
        if ((int64_t)i < part.begin || (int64_t)i >= part.end) xir_needs_none(at, i);
    }
    if (part_is_whole(at, (size_t)axis)) xir_tile_same(at);
    return XIR_OK;
}

xir_status split_needs(xir_infer *at) {
    const xir_split_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0), output = xir_needs_output(at);
    const int64_t axis = from_start(a->axis, rank);
    int64_t before = 0;
    if (axis < 0 || output >= a->sections.size) return XIR_E_BOUNDS;
    for (size_t i = 0; i < output; i++)
        if (!add_i64(before, a->sections.data[i], &before)) return XIR_E_LIMIT;
    const span part = part_along(at, (size_t)axis);
    for (size_t k = 0; k < rank; k++)
        if (k != (size_t)axis) need_same(at, 0, k, k);
    if (before < 0 || before > dim_of_input(at, 0, (size_t)axis)) return XIR_E_BOUNDS;
    xir_needs_along(at, 0, (size_t)axis, before + part.begin, before + part.end);
    return XIR_OK;
}

xir_status unstack_needs(xir_infer *at) {
    const xir_unstack_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    const int64_t axis = from_start(a->dim, rank), output = (int64_t)xir_needs_output(at);
    if (axis < 0) return XIR_E_BOUNDS;
    for (size_t k = 0, o = 0; k < rank; k++)
        if (k != (size_t)axis) need_same(at, 0, k, o++);
    xir_needs_along(at, 0, (size_t)axis, output, output + 1);
    return XIR_OK;
}

/* ---- parts and paddings ----------------------------------------------------------------------------------------- */

/* The first element that a Slice takes of a dim of n. */
static int64_t slice_start(int64_t begin, int64_t stride, int64_t n) {
    if (begin < 0) begin = begin < -n ? (stride < 0 ? -1 : 0) : begin + n;
    return stride < 0 ? (begin > n - 1 ? n - 1 : begin) : begin > n ? n : begin;
}

xir_status slice_needs(xir_infer *at) {
    const xir_slice_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    int64_t begin[XIR_BOX_DIMS] = { 0 }, end[XIR_BOX_DIMS] = { 0 };
    if (has_list(at)) return XIR_E_UNSUPPORTED;
    if (a->begin.size != rank || a->stride.size != rank || rank > XIR_BOX_DIMS) return XIR_E_INVALID;
    for (size_t k = 0; k < rank; k++) {
        const int64_t n = dim_of_input(at, 0, k), stride = a->stride.data[k];
        const int64_t start = slice_start(a->begin.data[k], stride, n);
        const span part = part_along(at, k);
        int64_t first, last;
        if (!mul_i64(part.begin, stride, &first) || !add_i64(start, first, &first)) return XIR_E_LIMIT;
        if (!mul_i64(part.end - 1, stride, &last) || !add_i64(start, last, &last)) return XIR_E_LIMIT;
        const span needed = first < last ? (span){ first, last + 1 } : (span){ last, first + 1 };
        xir_needs_along(at, 0, k, needed.begin, needed.end);
        begin[k] = stride < 0 ? needed.end - needed.begin - 1 : 0;
        end[k] = stride < 0 ? -(needed.end - needed.begin) - 1 : needed.end - needed.begin;
    }
    xir_tile_i64s(at, "begin", begin, rank);
    xir_tile_i64s(at, "end", end, rank);
    return XIR_OK;
}

typedef struct padded { xir_pad_mode mode; int64_t before, n; } padded;
static int64_t padded_element(const void *user, int64_t position) {
    const padded *p = user;
    const int64_t j = position - p->before, n = p->n;
    if (j >= 0 && j < n) return j;
    switch (p->mode) {
    case XIR_PAD_REPLICATION: return j < 0 ? 0 : n - 1;
    case XIR_PAD_REFLECTION:  return j < 0 ? -j : 2 * (n - 1) - j;
    case XIR_PAD_SYMMETRIC:   return j < 0 ? -1 - j : 2 * n - 1 - j;
    default:                  return -1;
    }
}

xir_status pad_needs(xir_infer *at) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    int64_t amounts[2 * XIR_BOX_DIMS] = { 0 };
    bool constant = true;
    if (has_list(at)) return XIR_E_UNSUPPORTED;
    if (a->padding.size != 2 * rank || rank > XIR_BOX_DIMS) return XIR_E_INVALID;
    for (size_t k = 0; k < rank; k++) {
        const padded p = { a->mode, a->padding.data[2 * k], dim_of_input(at, 0, k) };
        const span part = part_along(at, k);
        const int64_t most = (int64_t)1 << 62;
        if (p.before < -most || p.before > most) return XIR_E_LIMIT;
        span needed = { part.begin - p.before, part.end - p.before };
        const bool inside = needed.begin >= 0 && needed.end <= p.n;
        if (!inside && a->mode != XIR_PAD_CONSTANT) {
            constant = false;
            if (!span_of_cells(padded_element, &p, part, p.n, &needed)) xir_needs_wide(at, 0);
        }
        const int64_t begin = needed.begin < 0 ? 0 : needed.begin, end = needed.end > p.n ? p.n : needed.end;
        amounts[2 * k] = begin - (part.begin - p.before);
        amounts[2 * k + 1] = part.end - p.before - end;
        constant &= begin < end;
        xir_needs_along(at, 0, k, needed.begin, needed.end);
    }
    if (constant) xir_tile_i64s(at, "padding", amounts, 2 * rank);
    return XIR_OK;
}

/* Without dims, all elements are rotated in row-major order. */
xir_status roll_needs(xir_infer *at) {
    const xir_roll_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    if (!a->dims.size) return XIR_E_UNSUPPORTED;
    if (a->shifts.size != a->dims.size) return XIR_E_INVALID;
    int64_t shift[XIR_BOX_DIMS] = { 0 };
    for (size_t i = 0; i < a->dims.size; i++) {
        const int64_t k = from_start(a->dims.data[i], rank), n = k < 0 ? 0 : dim_of_input(at, 0, (size_t)k);
        if (k < 0 || n < 1) return XIR_E_BOUNDS;
        shift[k] = (shift[k] + a->shifts.data[i] % n + n) % n;
    }
    for (size_t k = 0; k < rank; k++) {
        const int64_t n = dim_of_input(at, 0, k);
        const span part = part_along(at, k);
        need_repeated(at, k, n, (span){ part.begin - shift[k] + n, part.end - shift[k] + n });
    }
    return XIR_OK;
}

static int64_t ordered(const void *user, int64_t position) { return ((const xir_i64s *)user)->data[position]; }

xir_status swap_order_needs(xir_infer *at) {
    const xir_swap_order_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    const int64_t axis = from_start(a->axis, rank);
    span needed;
    if (axis < 0 || a->order.size != (size_t)dim_of_input(at, 0, (size_t)axis)) return XIR_E_INVALID;
    for (size_t k = 0; k < rank; k++)
        if (k != (size_t)axis) need_same(at, 0, k, k);
    if (part_is_whole(at, (size_t)axis)) xir_tile_same(at);
    else if (span_of_cells(ordered, &a->order, part_along(at, (size_t)axis), (int64_t)a->order.size, &needed))
        xir_needs_along(at, 0, (size_t)axis, needed.begin, needed.end);
    else xir_needs_wide(at, 0);
    return XIR_OK;
}

/* ---- elements picked by indices --------------------------------------------------------------------------------- */

/* Data whole along the axis, whose place the dims of indices take in the output. */
xir_status gather_needs(xir_infer *at) {
    const xir_gather_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0), of_indices = rank_of_input(at, 1);
    const int64_t axis = from_start(a->axis, rank);
    if (axis < 0) return XIR_E_BOUNDS;
    for (size_t k = 0; k < rank; k++)
        if (k != (size_t)axis) need_same(at, 0, k, k < (size_t)axis ? k : k + of_indices - 1);
    for (size_t k = 0; k < of_indices; k++) need_same(at, 1, k, (size_t)axis + k);
    xir_tile_same(at);
    return XIR_OK;
}

xir_status gather_elements_needs(xir_infer *at) {
    const xir_gather_elements_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0);
    const int64_t axis = from_start(a->axis, rank);
    if (axis < 0 || rank_of_input(at, 1) != rank) return XIR_E_BOUNDS;
    for (size_t k = 0; k < rank; k++) {
        if (k != (size_t)axis) need_same(at, 0, k, k);
        need_same(at, 1, k, k);
    }
    xir_tile_same(at);
    return XIR_OK;
}

xir_status gather_nd_needs(xir_infer *at) {
    const xir_gather_nd_attrs *a = xir_infer_attrs(at);
    const size_t rank = rank_of_input(at, 0), of_indices = rank_of_input(at, 1);
    if (!of_indices || a->batch_dims < 0 || (size_t)a->batch_dims >= of_indices) return XIR_E_INVALID;
    const size_t batch = (size_t)a->batch_dims, picked = batch + (size_t)dim_of_input(at, 1, of_indices - 1);
    for (size_t k = 0; k < batch; k++) need_same(at, 0, k, k);
    for (size_t k = picked; k < rank; k++) need_same(at, 0, k, k - picked + of_indices - 1);
    for (size_t k = 0; k + 1 < of_indices; k++) need_same(at, 1, k, k);
    return XIR_OK;
}

/* Any update may be written anywhere; slices of data keep their dims. */
xir_status scatter_nd_needs(xir_infer *at) {
    const size_t rank = rank_of_input(at, 0), of_indices = rank_of_input(at, 1);
    if (!of_indices) return XIR_E_INVALID;
    const size_t picked = (size_t)dim_of_input(at, 1, of_indices - 1);
    for (size_t k = 0; k < rank; k++) {
        need_same(at, 0, k, k);
        if (k >= picked) need_same(at, 2, k - picked + of_indices - 1, k);
    }
    return XIR_OK;
}

/* ---- sequences -------------------------------------------------------------------------------------------------- */

/* Samples do not mix: attention within those of the batch, and recurrent networks, whose other dims are whole. */
xir_status attention_needs(xir_infer *at) {
    const bool heads = rank_of_input(at, 0) == 4;
    for (size_t i = 0; i < 3; i++) need_same(at, i, 0, 0);
    need_same(at, 0, heads ? 2 : 1, heads ? 2 : 1);   /* queries */
    if (heads) need_same(at, 0, 1, 1);
    return XIR_OK;
}

static xir_status recurrent_needs(xir_infer *at, bool batch_first) {
    const size_t batch = batch_first ? 0 : 1, output = xir_needs_output(at);
    const size_t of_output = batch_first ? 0 : output ? 1 : 2;
    if (rank_of_input(at, 0) != 3) return XIR_E_INVALID;
    need_same(at, 0, batch, of_output);
    need_same(at, 4, 0, of_output);
    for (size_t i = 5; i < 7; i++) need_same(at, i, batch, of_output);
    return XIR_OK;
}
xir_status lstm_needs(xir_infer *at) {
    return recurrent_needs(at, ((const xir_lstm_attrs *)xir_infer_attrs(at))->layout == 1);
}
xir_status gru_needs(xir_infer *at) {
    return recurrent_needs(at, ((const xir_gru_attrs *)xir_infer_attrs(at))->layout == 1);
}
xir_status rnn_needs(xir_infer *at) {
    return recurrent_needs(at, ((const xir_rnn_attrs *)xir_infer_attrs(at))->layout == 1);
}
