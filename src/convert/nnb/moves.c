/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that move elements, repeat them, or join tensors; and constants. */
#include <math.h>
#include "nnb/nnb.h"
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/one_axis.h"
#include "spec/slicing.h"

/* A note of the conversion, where NNabla's C runtime computes something else. */
static void unlike_runtime(const xir_node *at, const char *where, const char *what) {
    if (!at->c->checking) node_say(at, XIR_WARNING, XIR_OK, where, "%s", what);
}

/* ---- joins and shapes ------------------------------------------------------------------------------------------- */

bool nnb_concat(xir_node *at) {
    const xir_values in = node_inputs(at);
    const one_axis a = one_axis_of(at, "argument/axis", 0);
    return xir_node_becomes(at, "Concat", in, SETS(AXIS("axis", a)));
}

bool nnb_reshape(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_items(at, "shape", &dims)) return xir_node_unsupported(at, "shape is missing");
    for (size_t i = 0; i < dims.n; i++) if (dims.v[i] < -1) return nnb_out_of_range(at, "shape", dims.v[i]);
    return xir_node_result(at, 0, make_reshaped(at, x, &dims));
}

bool nnb_transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (!nnb_list(at, "axes", rank, INT32_MIN, 0, false, &order)) return false;
    return order_is_sound(at, "argument/axes", &order, rank) &&
           xir_node_result(at, 0, xir_node_transposed(at, x, order.v, rank, NULL));
}

/* The dims from `start` to `end`, numbers; an end of 0 is the last. */
bool nnb_shape(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const int64_t rank = (int64_t)v_rank(x);
    int64_t from = xir_node_int(at, "start", 0), to = xir_node_int(at, "end", 0);
    from = from < 0 ? from + rank : from;
    to = to <= 0 ? to + rank : to;
    from = from < 0 ? 0 : from > rank ? rank : from;
    to = to < from ? from : to > rank ? rank : to;
    double *v = node_take(at, ((size_t)rank + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    for (int64_t i = from; i < to; i++) v[i - from] = (double)v_dim(x, (size_t)i);
    return xir_node_result(at, 0, xir_node_constant(at, v_element(x), NULL, v, (size_t)(to - from)));
}

/* y in the dims of x, from axis on; without an axis its last dims are those of x. */
bool nnb_broadcast_to(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x), own = v_rank(y);
    const int64_t axis = xir_node_int(at, "axis", -1);
    if (own > rank)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "expected at most %zu dims, found %zu", rank, own);
    if (axis >= 0 && (size_t)axis + own > rank) return nnb_out_of_range(at, "axis", axis);
    const size_t from = axis < 0 ? rank - own : (size_t)axis;
    const xir_ints to = xir_node_dims(at, x);
    return xir_node_becomes(at, "Expand", INS(make_widened(at, y, rank, from)), SETS(LIST("sizes", &to)));
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* The lists belong to the last dims. */
bool nnb_slice(xir_node *at) {
    xir_ints start, stop, step;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_items(at, "start", &start)) return xir_node_unsupported(at, "start is missing");
    const size_t rank = v_rank(x), n = start.n;
    if (n > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "argument/start", "start: expected at most %zu items, found %zu",
                                rank, n);
    if (!nnb_list(at, "stop", n, INT32_MIN, INT32_MAX, false, &stop) ||
        !nnb_list(at, "step", n, INT32_MIN, 1, false, &step)) return false;
    slicing s;
    if (!slicing_begin(at, rank, &s)) return false;
    bool unlike = false;
    for (size_t i = 0; i < n; i++) {
        if (!step.v[i]) return nnb_out_of_range(at, "step", 0);
        s.begin.v[rank - n + i] = start.v[i];
        s.end.v[rank - n + i] = stop.v[i] == INT32_MAX ? INT64_MAX : stop.v[i];
        s.step.v[rank - n + i] = step.v[i];
        unlike |= start.v[i] < 0 || step.v[i] < 0;
    }
    if (unlike) unlike_runtime(at, "argument/start", "a negative start or step counts from the end, as in NNabla: its "
                               "C runtime takes 0 and 1");
    return xir_node_result(at, 0, op_of_slicing(at, x, &s));
}

bool nnb_flip(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!nnb_axes(at, "axes", x, &axes)) return false;
    for (size_t i = 0; i < axes.n; i++) x = make_part(at, x, (size_t)axes.v[i], INT64_MAX, INT64_MIN, -1);
    return axes.n ? xir_node_result(at, 0, x) : xir_convert_copy(at);
}

/* y[j] = x[j - shift] along an axis. */
static xir_value *shifted(xir_node *at, xir_value *x, size_t axis, int64_t shift, bool reflect) {
    if (!shift || !x || !xir_node_need_dims(at, x, axis, axis + 1)) return x;
    const int64_t n = v_dim(x, axis);
    if (n > NNB_MOST_LISTED) return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    xir_ints places = xir_node_make_ints(at, (size_t)n, 0);
    for (int64_t j = 0; j < n && places.v; j++) {
        const int64_t i = j - shift;
        places.v[j] = reflect ? mirrored_place(i, n, true) : i < 0 ? 0 : i >= n ? n - 1 : i;
    }
    return make_taken(at, x, axis, &places);
}

bool nnb_shift(xir_node *at) {
    xir_ints shifts;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_one_of(at, "border_mode", "nearest", "nearest|reflect")) return false;
    if (!xir_node_items(at, "shifts", &shifts)) return xir_node_unsupported(at, "shifts is missing");
    const size_t rank = v_rank(x), n = shifts.n;
    if (n > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "argument/shifts", "shifts: expected at most %zu items, found %zu",
                                rank, n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        any |= shifts.v[i] != 0;
        x = shifted(at, x, rank - n + i, shifts.v[i], xir_node_is(at, "border_mode", "reflect"));
    }
    return xir_node_failed(at) ? false : any ? xir_node_result(at, 0, x) : xir_convert_copy(at);
}

/* More cells than the axis has are reflected again and again. */
static xir_value *reflected_far(xir_node *at, xir_value *x, size_t axis, int64_t before, int64_t after) {
    const int64_t n = v_dim(x, axis);
    if (n < 1 || n + before + after > NNB_MOST_LISTED)
        return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    return make_bordered(at, x, axis, before, after, XIR_PAD_REFLECTION);
}

/* Pairs for the last dims. */
bool nnb_pad(xir_node *at) {
    xir_ints pads;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_one_of(at, "mode", "constant", "constant|reflect|repeat")) return false;
    if (!xir_node_items(at, "pad_width", &pads)) return xir_node_unsupported(at, "pad_width is missing");
    const size_t rank = v_rank(x), n = pads.n / 2;
    if (pads.n % 2 || n > rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, "argument/pad_width", "pad_width: expected an even number of at most "
                                "%zu items, found %zu", 2 * rank, pads.n);
    const bool reflect = xir_node_is(at, "mode", "reflect"), repeat = xir_node_is(at, "mode", "repeat");
    borders b = { .cells = xir_node_make_ints(at, 2 * rank, 0), .filled = true,
                  .mode = reflect ? XIR_PAD_REFLECTION : repeat ? XIR_PAD_REPLICATION : XIR_PAD_CONSTANT,
                  .value = xir_node_real(at, "constant_value", 0) };
    if (!b.cells.v || (reflect && !xir_node_need_dims(at, x, rank - n, rank))) return false;
    bool far = false, near = false;
    for (size_t i = 0; i < n; i++) {
        const size_t axis = rank - n + i;
        const int64_t before = pads.v[2 * i], after = pads.v[2 * i + 1];
        if (before < 0 || after < 0) return nnb_out_of_range(at, "pad_width", before < 0 ? before : after);
        if (reflect && (before >= v_dim(x, axis) || after >= v_dim(x, axis)) && (before || after)) {
            x = reflected_far(at, x, axis, before, after);
            far = true;
            if (!x) return false;
        } else {
            b.cells.v[2 * axis] = before, b.cells.v[2 * axis + 1] = after;
            near |= before || after;
        }
    }
    if (far && !near) return xir_node_result(at, 0, x);
    if (repeat) unlike_runtime(at, "argument/mode", "the outermost cells are repeated, as in NNabla: its C runtime "
                               "writes nothing");
    return xir_node_result(at, 0, op_of_borders(at, x, &b));
}

/* ---- matrices --------------------------------------------------------------------------------------------------- */

/* A mask [n, m] of the places where j - i >= k (or == k). */
static xir_value *diagonal_mask(xir_node *at, int64_t n, int64_t m, int64_t k, bool above) {
    int64_t count;
    if (n < 0 || m < 0 || __builtin_mul_overflow(n, m, &count) || count > NNB_MOST_LISTED)
        return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    return make_band(at, xir_type_bool(xir_node_context(at)), &(xir_ints){ (int64_t[]){ n, m }, 2 }, k,
                     above ? INT64_MAX : k);
}

/* [..., n] becomes [..., n, n] with the elements on the diagonal. */
bool nnb_matrix_diag(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    if (!rank) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 1 dim or more, found 0");
    if (!xir_node_need_dims(at, x, rank - 1, rank)) return false;
    const int64_t n = v_dim(x, rank - 1);
    const xir_ints axis = { (int64_t[]){ (int64_t)rank - 1 }, 1 };
    xir_value *zero = xir_node_scalar(at, v_element(x), 0), *mask = diagonal_mask(at, n, n, 0, false);
    return xir_node_becomes(at, "Where", INS(xir_node_unsqueezed(at, x, &axis, NULL), zero, mask), NO_SETS);
}

/* The last two of x's dims, known and not too large. */
static bool matrix_of(xir_node *at, const xir_value *x, int64_t *n, int64_t *m) {
    const size_t rank = v_rank(x);
    if (rank < 2) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 2 dims or more, found %zu", rank);
    if (!xir_node_need_dims(at, x, rank - 2, rank)) return false;
    *n = v_dim(x, rank - 2), *m = v_dim(x, rank - 1);
    return true;
}

bool nnb_matrix_diag_part(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t n, m;
    if (!matrix_of(at, x, &n, &m)) return false;
    if (n != m)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected square matrices, found %lld x %lld",
                                (long long)n, (long long)m);
    if (n > NNB_MOST_LISTED) return xir_node_unsupported(at, "a constant of more than 2^22 elements");
    xir_ints places = xir_node_make_ints(at, (size_t)n, 0);
    for (int64_t i = 0; i < n && places.v; i++) places.v[i] = i * (n + 1);
    const size_t rank = v_rank(x);
    return xir_node_result(at, 0, make_taken(at, nnb_flattened(at, x, rank - 2), rank - 2, &places));
}

/* The elements on and above the k-th diagonal, or on and below it; else 0. */
bool nnb_trilu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t n, m;
    if (!matrix_of(at, x, &n, &m)) return false;
    const int64_t k = xir_node_int(at, "k", 0);
    const bool upper = xir_node_bool(at, "upper", true);
    xir_value *mask = diagonal_mask(at, n, m, upper ? k : k + 1, true), *zero = xir_node_scalar(at, v_element(x), 0);
    return xir_node_becomes(at, "Where", upper ? INS(x, zero, mask) : INS(zero, x, mask), NO_SETS);
}

bool nnb_eye_like(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t n, m;
    if (!matrix_of(at, x, &n, &m)) return false;
    if (v_rank(x) != 2)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected 2 dims, found %zu", v_rank(x));
    xir_value *mask = diagonal_mask(at, n, m, xir_node_int(at, "k", 0), false);
    return mask && xir_node_result(at, 0, xir_node_cast(at, mask, v_element(x)));
}

/* Each input along its own axis; without ij_indexing the first two are swapped. */
bool nnb_meshgrid(xir_node *at) {
    const size_t n = at->n_in;
    const bool ij = xir_node_bool(at, "ij_indexing", false);
    if (n > 8) return xir_node_unsupported(at, "%zu axes", n);
    if (at->n_out > n) return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected %zu outputs, found %zu", n, at->n_out);
    xir_ints dims = xir_node_make_ints(at, n, 1), own = xir_node_make_ints(at, n, 1);
    for (size_t i = 0; i < n; i++) {
        const size_t axis = ij || i > 1 || n < 2 ? i : 1 - i;
        const xir_value *x = xir_node_input(at, i);
        if (xir_node_failed(at)) return false;
        if (v_rank(x) != 1 || v_dim(x, 0) < 0) return xir_node_unsupported(at, "an input that is not a list");
        dims.v[axis] = v_dim(x, 0);
    }
    for (size_t i = 0; i < at->n_out; i++) {
        const size_t axis = ij || i > 1 || n < 2 ? i : 1 - i;
        for (size_t k = 0; k < n; k++) own.v[k] = k == axis ? dims.v[k] : 1;
        xir_value *x = make_reshaped(at, xir_node_input(at, i), &own);
        if (!xir_node_result(at, i, xir_node_make(at, "Expand", INS(x), SETS(LIST("sizes", &dims))))) return false;
    }
    return true;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static const xir_type *reals(const xir_node *at) {
    return xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
}

bool nnb_constant(xir_node *at) {
    xir_ints dims;
    if (!xir_node_items(at, "shape", &dims)) return xir_node_unsupported(at, "shape is missing");
    for (size_t i = 0; i < dims.n; i++) if (dims.v[i] < 0) return nnb_out_of_range(at, "shape", dims.v[i]);
    return xir_node_result(at, 0, xir_node_filled(at, reals(at), &dims, xir_node_real(at, "val", 0)));
}

/* `n` numbers from start on. */
static bool give_series(xir_node *at, double start, double step, double n) {
    if (!(n >= 0 && n <= NNB_MOST_LISTED)) return xir_node_unsupported(at, "a list of %g numbers", n);
    double *v = node_take(at, ((size_t)n + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    for (size_t i = 0; i < (size_t)n; i++) v[i] = start + (double)i * step;
    return xir_node_result(at, 0, xir_node_constant(at, reals(at), NULL, v, (size_t)n));
}

bool nnb_arange(xir_node *at) {
    const double start = xir_node_real(at, "start", 0), stop = xir_node_real(at, "stop", 0),
                 step = xir_node_real(at, "step", 1);
    if (!(step != 0)) return nnb_out_of_range(at, "step", 0);
    const double n = ceil((stop - start) / step);
    return give_series(at, start, step, n < 0 ? 0 : n);
}

bool nnb_linspace(xir_node *at) {
    const double start = xir_node_real(at, "start", 0), stop = xir_node_real(at, "stop", 0);
    const int64_t n = xir_node_int(at, "num", 1);
    if (n < 0) return nnb_out_of_range(at, "num", n);
    return give_series(at, start, n > 1 ? (stop - start) / (double)(n - 1) : 0, (double)n);
}

/* In inference nothing is dropped. */
bool nnb_dropout(xir_node *at) {
    if (xir_node_real(at, "p", 0) != 0)
        unlike_runtime(at, NULL, "nothing is dropped, as in NNabla's inference: its C runtime multiplies by 1 - p");
    return xir_convert_copy(at);
}
