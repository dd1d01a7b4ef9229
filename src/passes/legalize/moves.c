/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that only move or limit elements, as classes that more targets run. */
#include <string.h>
#include "legalize/legalize.h"

static bool squeeze_to_reshape(const legalizer *l, xir_op *op, xir_value **out) {
    out[0] = reshape_like(l, op, xir_op_input(op, 0), 0);
    return out[0];
}

/* One element of a dim for each output, and the dim removed. */
static bool unstack_to_slices(const legalizer *l, xir_op *op, xir_value **out) {
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v);
    if (!dims) return false;
    const size_t axis = (size_t)from_end(xir_unstack_of(op)->dim, (int64_t)dims->size);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        int64_t begin[MOST_DIMS] = { 0 }, end[MOST_DIMS];
        memcpy(end, dims->data, dims->size * sizeof *end);
        begin[axis] = i;
        end[axis] = (int64_t)i + 1;
        xir_value *part = slice_of(l, op, v, begin, end, dims->size);
        out[i] = part ? reshape_like(l, op, part, i) : NULL;
        if (!out[i]) return false;
    }
    return op->n_outputs > 0;
}

static bool split_to_slices(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_split_attrs *a = xir_split_of(op);
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v);
    if (!dims) return false;
    const size_t axis = (size_t)from_end(a->axis, (int64_t)dims->size);
    int64_t at = 0;
    for (uint32_t i = 0; i < op->n_outputs && i < a->sections.size; i++) {
        int64_t begin[MOST_DIMS] = { 0 }, end[MOST_DIMS];
        memcpy(end, dims->data, dims->size * sizeof *end);
        begin[axis] = at;
        end[axis] = at += a->sections.data[i];
        out[i] = slice_of(l, op, v, begin, end, dims->size);
        if (!out[i]) return false;
    }
    return op->n_outputs > 0;
}

/* Channels become rows and columns: [n, h, w, c, r, r] -> [n, h, r, w, r, c], or
 * [n, c, r, r, h, w] -> [n, c, h, r, w, r]. */
static bool shuffle_to_transpose(const legalizer *l, xir_op *op, xir_value **out) {
    static const int64_t order[] = { 0, 1, 4, 2, 5, 3 };
    const int64_t r = xir_pixel_shuffle_of(op)->upscale_factor;
    xir_value *v = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    const xir_i64s *in = known_dims(v), *to = known_dims(y);
    const xir_layout *layout = xir_type_layout(v->type);
    if (!in || !to || in->size != 4 || !layout) return false;
    const xir_str letters = xir_layout_text(layout);
    const bool last = xir_str_equal(letters, XIR_STR("NHWC")), first = xir_str_equal(letters, XIR_STR("NCHW"));
    if (!last && !first) return false;
    const int64_t apart_last[]  = { in->data[0], in->data[1], in->data[2], to->data[3], r, r },
                  apart_first[] = { in->data[0], to->data[1], r, r, in->data[2], in->data[3] };
    v = reshape_to(step_at(l, op), v, last ? apart_last : apart_first, 6, NULL);
    v = v ? xir_build_transpose(step_at(l, op), v, order, 6, NULL) : NULL;
    out[0] = v ? reshape_like(l, op, v, 0) : NULL;
    return true;
}

static bool clamp_to_hardtanh(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_clamp_scalar_attrs *a = xir_clamp_scalar_of(op);
    xir_hardtanh_attrs now = xir_hardtanh_init();
    now.min_val = a->min;
    now.max_val = a->max;
    if (!(a->min <= a->max)) return false;
    out[0] = XIR_OP(last_at(l, op), hardtanh, .input = xir_op_input(op, 0), .attrs = &now);
    return true;
}

/* All elements as one dim. */
static bool roll_one_dim(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_roll_attrs *a = xir_roll_of(op);
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v);
    int64_t n;
    static const int64_t zero = 0;
    if (!dims || a->dims.size || xir_type_elements(v->type, &n) || a->shifts.size != 1) return false;
    xir_roll_attrs now = *a;
    now.dims = (xir_i64s){ &zero, 1 };
    v = reshape_to(step_at(l, op), v, &n, 1, NULL);
    v = v ? XIR_OP(step_at(l, op), roll, .input = v, .attrs = &now) : NULL;
    out[0] = v ? reshape_like(l, op, v, 0) : NULL;
    return true;
}

/* The same elements with an end that the steps meet, if the map reaches that far. */
static bool slice_to_last(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_slice_attrs *a = xir_slice_of(op);
    xir_value *v = xir_op_input(op, 0);
    const xir_i64s *dims = known_dims(v), *to = known_dims(&op_outputs(op)[0]);
    int64_t begin[MOST_DIMS], end[MOST_DIMS];
    bool moves = false;
    if (!dims || !to || op->n_inputs > 1 || a->stride.size != dims->size || a->begin.size != dims->size) return false;
    for (size_t i = 0; i < dims->size; i++) {
        const int64_t n = dims->data[i], step = a->stride.data[i];
        if (step < 1) return false;
        begin[i] = from_end(a->begin.data[i], n);
        begin[i] = begin[i] < 0 ? 0 : begin[i] > n ? n : begin[i];
        if (__builtin_mul_overflow(to->data[i], step, &end[i])) return false;
        if (__builtin_add_overflow(begin[i], end[i], &end[i])) return false;
        if (end[i] > n) return false;
        moves |= end[i] != a->end.data[i] || begin[i] != a->begin.data[i];
    }
    if (!moves) return false;
    const xir_named_attr set[] = {
        { XIR_STR("begin"), { .kind = XIR_KIND_I64S, .as.i64s = { begin, dims->size } } },
        { XIR_STR("end"),   { .kind = XIR_KIND_I64S, .as.i64s = { end, dims->size } } },
    };
    out[0] = rebuild(l, op, &v, 1, set, 2);
    return true;
}

const rewrite legalize_moves[] = {
    { xir_squeeze_class,       squeeze_to_reshape,   true  },
    { xir_unstack_class,       unstack_to_slices,    true  },
    { xir_split_class,         split_to_slices,      true  },
    { xir_pixel_shuffle_class, shuffle_to_transpose, true  },
    { xir_clamp_scalar_class,  clamp_to_hardtanh,    false },
    { xir_roll_class,          roll_one_dim,         true  },
    { xir_slice_class,         slice_to_last,        true  },
    { NULL },
};
