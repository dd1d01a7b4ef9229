/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions and pools: strides that divide, kernels that are small enough, means over rows and columns, sizes. */
#include <string.h>
#include "legalize/legalize.h"
#include "support/sides.h"

/* The windows of an op along an axis of its map. */
typedef struct window {
    const char *stride_name, *before_name, *after_name;
    char        axis;
    int64_t     place;                       /* the dim of the map                     */
    int64_t     in, out, span, stride, before, after;
} window;

/* Reads the windows along W or H; false if a dim is unknown. */
static bool read_window(const xir_op *op, bool height, window *w) {
    const xir_value *map = xir_op_input(op, 0), *kernel = xir_op_input(op, 1), *y = xir_op_output(op, 0);
    *w = height ? (window){ "stride_height", "pad_top", "pad_bottom", 'H' }
                : (window){ "stride_width", "pad_left", "pad_right", 'W' };
    const xir_layout *layout = xir_type_layout(map->type);
    w->place = layout ? xir_layout_index(layout, w->axis) : -1;
    if (w->place < 0 || !known_dims(map) || !known_dims(y)) return false;
    const int64_t size = side_number(op, height ? "pool_height" : "pool_width",
                                     kernel ? xir_type_axis_dim(kernel->type, w->axis, false) : 0);
    const int64_t dilation = side_number(op, height ? "dilation_height" : "dilation_width", 1);
    if (size < 1 || size > INT32_MAX || dilation > INT32_MAX) return false;
    w->in = known_dims(map)->data[w->place];
    w->out = xir_type_axis_dim(y->type, w->axis, false);
    w->span = dilation * (size - 1) + 1;
    w->stride = side_number(op, w->stride_name, 1);
    w->before = side_number(op, w->before_name, 0);
    w->after = side_number(op, w->after_name, 0);
    const int64_t most = INT32_MAX;
    return w->out > 0 && w->in > 0 && w->stride > 0 && w->before <= most && w->after <= most && w->before >= 0;
}

/* A part of the map: rows [from, to) along each of both windows' dims. */
static xir_value *crop(const legalizer *l, xir_op *op, xir_value *map, const window both[2], const int64_t from[2],
                       const int64_t to[2]) {
    const xir_i64s *dims = known_dims(map);
    int64_t begin[MOST_DIMS] = { 0 }, end[MOST_DIMS];
    bool whole = true;
    memcpy(end, dims->data, dims->size * sizeof *end);
    for (int i = 0; i < 2; i++) {
        begin[both[i].place] = from[i];
        end[both[i].place] = to[i];
        whole &= from[i] == 0 && to[i] == both[i].in;
    }
    return whole ? map : slice_of(l, op, map, begin, end, dims->size);
}

/* ---- cells that no window reads are left out --------------------------------------------------------------------- */

static bool cut(const legalizer *l, xir_op *op, xir_value **out) {
    window w[2];
    xir_named_attr set[2];
    int64_t from[2] = { 0, 0 }, to[2];
    bool any = false;
    for (int i = 0; i < 2; i++) {
        if (!read_window(op, i == 1, &w[i])) return false;
        const int64_t rest = w[i].in + w[i].before + w[i].after - w[i].span - w[i].stride * (w[i].out - 1);
        if (rest < 0) return false;
        const int64_t padding = w[i].after < 0 ? 0 : rest < w[i].after ? rest : w[i].after;
        set[i] = named_i64(w[i].after_name, w[i].after - padding);
        to[i] = w[i].in - (rest - padding);
        if (to[i] < 1) return false;
        any |= rest > 0;
    }
    if (!any) return false;
    xir_value *inputs[MOST_DIMS];
    const size_t n = op->n_inputs;
    for (size_t i = 0; i < n && n <= MOST_DIMS; i++) inputs[i] = xir_op_input(op, (int64_t)i);
    if (n > MOST_DIMS) return false;
    inputs[0] = crop(l, op, inputs[0], w, from, to);
    out[0] = inputs[0] ? rebuild(l, op, inputs, n, set, 2) : NULL;
    return true;
}

/* ---- kernels in parts ------------------------------------------------------------------------------------------- */

enum { CELLS = 2048, PARTS = 256 };

/* Returns how many rows or columns of a kernel fit, if `others` cells are spanned along the other axis. */
static int64_t fitting(int64_t dilation, int64_t size, int64_t others) {
    const int64_t room = CELLS / others;
    const int64_t n = room < 1 ? 0 : (room - 1) / dilation + 1;
    return n < size ? n : size;
}

typedef struct splitting {
    const legalizer *l;
    xir_op          *op;
    window           w[2];        /* along W, H */
    int64_t          size[2], dilation[2], places[2];   /* of the kernel, and its dims */
    xir_value       *sum, *bias;
} splitting;

/* Adds the convolution with the part of the kernel that begins at `at` and has `n` columns and rows. */
static bool add_part(splitting *s, const int64_t at[2], const int64_t n[2]) {
    xir_value *map = xir_op_input(s->op, 0), *kernel = xir_op_input(s->op, 1);
    const xir_i64s *dims = known_dims(kernel);
    int64_t begin[MOST_DIMS] = { 0 }, sizes[MOST_DIMS], from[2], to[2];
    xir_named_attr set[4];
    memcpy(sizes, dims->data, dims->size * sizeof *sizes);
    for (int i = 0; i < 2; i++) {
        const window *w = &s->w[i];
        const int64_t span = s->dilation[i] * (n[i] - 1) + 1, before = w->before - s->dilation[i] * at[i];
        const int64_t after = w->stride * (w->out - 1) + span - w->in - before;
        begin[s->places[i]] = at[i];
        sizes[s->places[i]] = n[i];
        from[i] = before < 0 ? -before : 0;
        to[i] = after < 0 ? w->in + after : w->in;
        if (from[i] >= to[i]) return true;   /* it reads padding alone */
        set[2 * i] = named_i64(w->before_name, before < 0 ? 0 : before);
        set[2 * i + 1] = named_i64(w->after_name, after < 0 ? 0 : after);
    }
    xir_value *part = params_part(s->l->net, kernel, begin, sizes, dims->size);
    xir_value *x = part ? crop(s->l, s->op, map, s->w, from, to) : NULL;
    xir_value *inputs[] = { x, part, s->sum ? NULL : s->bias };
    xir_value *y = x ? rebuild(s->l, s->op, inputs, inputs[2] ? 3 : 2, set, 4) : NULL;
    if (!y) return false;
    s->sum = s->sum ? XIR_OP(last_at(s->l, s->op), add, .lhs = s->sum, .rhs = y) : y;
    return s->sum;
}

static bool split_kernel(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_conv2d_attrs *a = xir_conv2d_of(op);
    xir_value *kernel = xir_op_input(op, 1);
    splitting s = { .l = l, .op = op, .bias = xir_op_input(op, 2),
                    .dilation = { a->dilation_width, a->dilation_height } };
    if (!kernel || !value_is_params(kernel) || !known_dims(kernel)) return false;
    if (a->padding_mode != XIR_PADDING_ZEROS) return false;
    const xir_layout *layout = xir_type_layout(kernel->type);
    for (int i = 0; i < 2; i++) {
        if (!read_window(op, i == 1, &s.w[i])) return false;
        s.places[i] = xir_layout_index(layout, s.w[i].axis);
        s.size[i] = known_dims(kernel)->data[s.places[i]];
    }
    if (s.w[0].span * s.w[1].span <= CELLS) return false;
    int64_t n[2] = { fitting(s.dilation[0], s.size[0], 1), 1 };
    n[1] = n[0] < 1 ? 0 : fitting(s.dilation[1], s.size[1], s.dilation[0] * (n[0] - 1) + 1);
    if (n[0] < 1 || n[1] < 1) return false;
    if (((s.size[0] - 1) / n[0] + 1) * ((s.size[1] - 1) / n[1] + 1) > PARTS) return false;
    for (int64_t h = 0; h < s.size[1]; h += n[1]) {
        for (int64_t w = 0; w < s.size[0]; w += n[0]) {
            const int64_t at[] = { w, h };
            const int64_t left[] = { s.size[0] - w, s.size[1] - h };
            const int64_t has[] = { n[0] < left[0] ? n[0] : left[0], n[1] < left[1] ? n[1] : left[1] };
            if (!add_part(&s, at, has)) return false;
        }
    }
    out[0] = s.sum;
    return s.sum;
}

/* ---- means over rows and columns --------------------------------------------------------------------------------- */

static bool mean_to_pool(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_mean_attrs *a = xir_mean_of(op);
    xir_value *x = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(x);
    const xir_layout *layout = xir_type_layout(x->type);
    const int64_t h = layout ? xir_layout_index(layout, 'H') : -1, w = layout ? xir_layout_index(layout, 'W') : -1;
    xir_avg_pool2d_attrs pool = xir_avg_pool2d_init();
    pool.pool_height = pool.pool_width = 1;
    if (!dims || dims->size != 4 || h < 0 || w < 0 || !a->dim.size || !dims->data[h] || !dims->data[w]) return false;
    for (size_t i = 0; i < a->dim.size; i++) {
        const int64_t axis = from_end(a->dim.data[i], 4);
        if (axis == h) pool.pool_height = dims->data[h];
        else if (axis == w) pool.pool_width = dims->data[w];
        else return false;
    }
    xir_value *y = XIR_OP(a->keepdim ? last_at(l, op) : step_at(l, op), avg_pool2d, .input = x, .attrs = &pool);
    if (y && !same_kind(y, &op_outputs(op)[0])) y = reshape_like(l, op, y, 0);
    out[0] = y;
    return true;
}

/* ---- other sizes ------------------------------------------------------------------------------------------------- */

static bool resize_to_upsample(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_resize_attrs *a = xir_resize_of(op);
    xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    xir_upsample_attrs up = xir_upsample_init();
    up.height = xir_type_axis_dim(y->type, 'H', false);
    up.width = xir_type_axis_dim(y->type, 'W', false);
    up.interpolation = a->interpolation == XIR_RESIZE_INTER_NEAREST ? XIR_UPSAMPLE_NEAREST : XIR_UPSAMPLE_BILINEAR;
    if (xir_type_rank(x->type) != 4 || up.height < 1 || up.width < 1 || !known_dims(x)) return false;
    out[0] = XIR_OP(last_at(l, op), upsample, .input = x, .attrs = &up);
    return true;
}

/* The greatest divisor of a factor that is at most `most`. */
static int64_t divisor(int64_t factor, int64_t most) {
    for (int64_t d = factor < most ? factor : most; d > 1; d--) {
        if (factor % d == 0) return d;
    }
    return 1;
}

/* NEAREST by whole factors, and any interpolation that keeps the corners where they are and each cell a cell, is the
 * same in steps. */
static bool upsample_in_steps(const legalizer *l, xir_op *op, xir_value **out) {
    enum { MOST = 22 };   /* times itself: below 512 */
    const xir_upsample_attrs *a = xir_upsample_of(op);
    xir_value *x = xir_op_input(op, 0);
    int64_t size[2] = { xir_type_axis_dim(x->type, 'H', false), xir_type_axis_dim(x->type, 'W', false) };
    const int64_t to[2] = { a->height, a->width };
    const int64_t less = a->align_corners ? 1 : 0;
    if (a->interpolation == XIR_UPSAMPLE_BICUBIC || (a->interpolation == XIR_UPSAMPLE_BILINEAR && !less)) return false;
    if (a->interpolation == XIR_UPSAMPLE_NEAREST && less) return false;   /* halves may round differently */
    xir_upsample_attrs step = *a;
    int64_t now[2];
    bool smaller = false;
    for (int i = 0; i < 2; i++) {
        const int64_t from = size[i] - less, last = to[i] - less;
        if (size[i] < 1 || from < 0 || (from ? last % from : last != 0)) return false;
        const int64_t factor = from ? last / from : 1, d = divisor(factor, MOST - less);
        smaller |= d < factor;
        now[i] = from * d + less;
    }
    if (!smaller) return false;
    step.height = now[0];
    step.width = now[1];
    xir_value *middle = XIR_OP(step_at(l, op), upsample, .input = x, .attrs = &step);
    if (middle) out[0] = rebuild(l, op, &middle, 1, NULL, 0);
    return true;
}

const rewrite legalize_windows[] = {
    { xir_conv2d_class,     cut,                false },
    { xir_conv2d_class,     split_kernel,       false },
    { xir_max_pool2d_class, cut,                false },
    { xir_avg_pool2d_class, cut,                false },
    { xir_mean_class,       mean_to_pool,       false },
    { xir_resize_class,     resize_to_upsample, false },
    { xir_upsample_class,   upsample_in_steps,  false },
    { NULL },
};
