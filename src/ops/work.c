/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The work of ops: the functions of WORK rows. An op without one takes one step for each element of its outputs
 * (outputs_work). That of Einsum is next to its equation (einsum.c). */
#include <xir/work.h>
#include "constant.h"
#include "rules.h"
#include "window_attrs.h"

static const xir_type *in(const xir_infer *at, size_t i) { return xir_infer_input(at, i); }
static uint64_t elements(xir_infer *at, size_t i)        { return xir_work_elements(at, in(at, i)); }
static uint64_t times(uint64_t a, uint64_t b)            { return xir_work_times(a, b); }
static uint64_t plus(uint64_t a, uint64_t b)             { return xir_work_add(a, b); }

/* ---- convolutions and products ---------------------------------------------------------------------------------- */

/* The positions of a map: its elements divided by the channels, which are the axis C (and c of tiled maps), or the last
 * axis. */
static uint64_t places(xir_infer *at, const xir_type *type) {
    const xir_layout *layout = xir_type_layout(type);
    const size_t rank = xir_type_rank(type);
    const bool named = xir_layout_has(layout, 'C');
    uint64_t n = 1;
    if (!xir_type_as_tensor(type)) return xir_work_elements(at, type);
    for (size_t i = 0; i < rank; i++) {
        const char letter = xir_layout_axis(layout, i);
        if (named ? letter != 'C' && letter != 'c' : i + 1 < rank) n = times(n, xir_work_dim(at, type, (int64_t)i));
    }
    return n;
}

/* The whole kernel is applied at every position of the output; in a transposed convolution, of the input. */
xir_status conv_work(xir_infer *at) {
    return xir_work_result(at, times(places(at, xir_infer_output(at, 0)), elements(at, 1)), xir_work_outputs(at));
}
xir_status conv_transpose_work(xir_infer *at) {
    return xir_work_result(at, times(places(at, in(at, 0)), elements(at, 1)), xir_work_outputs(at));
}

xir_status matmul_work(xir_infer *at) {
    const uint64_t n = xir_work_outputs(at);
    return xir_work_result(at, times(n, xir_work_dim(at, in(at, 0), -1)), n);
}

/* There is a score for each query and key. Each element of query is part of one score per key, and each element of the
 * output is a sum over the keys. */
xir_status attention_work(xir_infer *at) {
    const xir_attention_attrs *a = xir_infer_attrs(at);
    const xir_type *query = in(at, 0);
    const uint64_t n = xir_work_outputs(at), keys = xir_work_dim(at, in(at, 1), -2);
    const uint64_t heads = xir_type_rank(query) == 4 ? xir_work_dim(at, query, 1) : (uint64_t)a->q_num_heads;
    const uint64_t queries = times(times(xir_work_dim(at, query, 0), heads), xir_work_dim(at, query, -2));
    return xir_work_result(at, times(plus(elements(at, 0), n), keys), plus(times(queries, keys), n));
}

/* Every step of a sequence multiplies by all of W and R, and then computes one number for each of their rows. */
xir_status recurrent_work(xir_infer *at) {
    const uint64_t turns = times(xir_work_dim(at, in(at, 0), 0), xir_work_dim(at, in(at, 0), 1));
    const uint64_t rows = times(xir_work_dim(at, in(at, 1), 0), xir_work_dim(at, in(at, 1), 1));
    return xir_work_result(at, times(turns, plus(elements(at, 1), elements(at, 2))),
                           plus(times(turns, rows), xir_work_outputs(at)));
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static xir_status pool_work(xir_infer *at, window_attrs w) {
    uint64_t cells = 1, n = xir_work_outputs(at);
    for (size_t i = 0; i < w.n; i++) cells = times(cells, w.along[i].size > 0 ? (uint64_t)w.along[i].size : 0);
    return xir_work_elementwise(at, plus(times(n, cells), n));
}
xir_status avg_pool1d_work(xir_infer *at) { return pool_work(at, avg_pool1d_windows(xir_infer_attrs(at))); }
xir_status avg_pool2d_work(xir_infer *at) { return pool_work(at, avg_pool2d_windows(xir_infer_attrs(at))); }
xir_status avg_pool3d_work(xir_infer *at) { return pool_work(at, avg_pool3d_windows(xir_infer_attrs(at))); }
xir_status max_pool1d_work(xir_infer *at) { return pool_work(at, max_pool1d_windows(xir_infer_attrs(at))); }
xir_status max_pool2d_work(xir_infer *at) { return pool_work(at, max_pool2d_windows(xir_infer_attrs(at))); }
xir_status max_pool3d_work(xir_infer *at) { return pool_work(at, max_pool3d_windows(xir_infer_attrs(at))); }

/* Interpolation: a weighted sum of `cells` values along each of n axes; 1 is the nearest cell, which is only copied. */
static xir_status between(xir_infer *at, uint64_t cells, size_t n) {
    uint64_t all = 1, outputs = xir_work_outputs(at);
    for (size_t i = 0; i < n; i++) all = times(all, cells);
    if (cells == 1) return xir_work_elementwise(at, outputs);
    return xir_work_result(at, times(outputs, all), outputs);
}
static size_t spatial(const xir_infer *at) {
    const size_t rank = xir_type_rank(in(at, 0));
    return rank < 2 ? 0 : rank - 2;
}
xir_status resize_work(xir_infer *at) {
    const xir_resize_attrs *a = xir_infer_attrs(at);
    return between(at, a->interpolation == XIR_RESIZE_INTER_LINEAR ? 2 : 1, a->dsize.size);
}
xir_status upsample_work(xir_infer *at) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    return between(at, a->interpolation == XIR_UPSAMPLE_BICUBIC ? 4 : a->interpolation == XIR_UPSAMPLE_BILINEAR
                   ? 2 : 1, 2);
}
xir_status grid_sample_work(xir_infer *at) {
    const xir_grid_sample_attrs *a = xir_infer_attrs(at);
    return between(at, a->interpolation == XIR_GRID_CUBIC ? 4 : a->interpolation == XIR_GRID_LINEAR ? 2 : 1,
                   spatial(at));
}

/* ---- normalisations and reductions ------------------------------------------------------------------------------ */

/* So much work for each element of the output. */
static xir_status each(xir_infer *at, uint64_t multiply_adds, uint64_t element_ops) {
    const uint64_t n = xir_work_outputs(at);
    if (!multiply_adds) return xir_work_elementwise(at, times(n, element_ops));
    return xir_work_result(at, times(n, multiply_adds), times(n, element_ops));
}
xir_status outputs_work(xir_infer *at)    { return each(at, 0, 1); }
xir_status unknown_work(xir_infer *at)    { return xir_work_unknown(at); }
xir_status batch_norm_work(xir_infer *at) { return each(at, 1, 1); }   // a factor and an addend
xir_status variance_work(xir_infer *at)   { return each(at, 2, 2); }   // the mean; squares; a factor and an addend
xir_status rms_norm_work(xir_infer *at)   { return each(at, 1, 1); }   // squares; a quotient
xir_status normalize_work(xir_infer *at)  { return each(at, 0, 2); }   // the norm; a quotient
xir_status softmax_work(xir_infer *at)    { return each(at, 0, 3); }   // the greatest; exp; a quotient

xir_status reduce_work(xir_infer *at) { return xir_work_elementwise(at, plus(elements(at, 0), xir_work_outputs(at))); }

/* ---- functions that take longer than others --------------------------------------------------------------------- */

/* Angles of many turns, and remainders of large numbers by tiny ones, are found digit by digit. */
xir_status angle_work(xir_infer *at) { return each(at, 0, 6); }
xir_status pow_work(xir_infer *at)   { return each(at, 0, 3); }
xir_status mod_work(xir_infer *at) {
    const xir_mod_attrs *a = xir_infer_attrs(at);
    return each(at, 0, a->fmod ? 15 : 2);
}

/* ---- picking ---------------------------------------------------------------------------------------------------- */

/* Returns how many times each of n elements is compared in a sort: log2(n), rounded up. */
static uint64_t sorting(uint64_t n) {
    uint64_t looks = 0;
    while (looks < 63 && (uint64_t)1 << looks < n) looks++;
    return looks;
}

xir_status top_k_work(xir_infer *at) {
    const xir_top_k_attrs *a = xir_infer_attrs(at);
    const uint64_t line = xir_work_dim(at, in(at, 0), a->axis);
    return xir_work_elementwise(at, plus(times(elements(at, 0), sorting(line)), xir_work_outputs(at)));
}

/* Of their first input, these read as many elements as they give; at most all, if indices are repeated. */
static uint64_t picked(xir_infer *at) {
    const uint64_t n = xir_work_outputs(at);
    int64_t all;
    const bool fewer = in(at, 0) && xir_type_elements(in(at, 0), &all) == XIR_OK && (uint64_t)all < n;
    xir_work_reads(at, 0, fewer ? (uint64_t)all : n);
    return n;
}
xir_status slice_work(xir_infer *at)           { return xir_work_elementwise(at, picked(at)); }
xir_status gather_work(xir_infer *at)          { return xir_work_elementwise(at, picked(at)); }
xir_status gather_elements_work(xir_infer *at) { return xir_work_elementwise(at, picked(at)); }
xir_status gather_nd_work(xir_infer *at) {
    return xir_work_elementwise(at, plus(elements(at, 1), picked(at)));
}

/* Dims are part of the type. */
xir_status shape_work(xir_infer *at) {
    xir_work_reads(at, 0, 0);
    return outputs_work(at);
}

xir_status scatter_nd_work(xir_infer *at) {
    return xir_work_elementwise(at, plus(plus(elements(at, 1), elements(at, 2)), xir_work_outputs(at)));
}

/* Each element is tested. In the worst case all are found, and each has one index per dim. */
xir_status non_zero_work(xir_infer *at) {
    return xir_work_elementwise(at, times(elements(at, 0), (uint64_t)xir_type_rank(in(at, 0)) + 1));
}

/* Boxes are sorted by score. Then each is compared with all selected ones, in the worst case with all boxes. */
xir_status non_max_suppression_work(xir_infer *at) {
    const uint64_t boxes = xir_work_dim(at, in(at, 1), 2);
    uint64_t most = boxes;
    constant_number limit = { 0 };
    if (!in(at, 2)) most = 0;
    else if (need_one(at, 2) == XIR_OK && read_number(at, 2, &limit) == XIR_OK && limit.known &&
             limit.real < (double)boxes) {
        most = limit.real > 0 ? (uint64_t)limit.real : 0;
    }
    return xir_work_elementwise(at, times(elements(at, 1), plus(plus(sorting(boxes), 1), most)));
}
