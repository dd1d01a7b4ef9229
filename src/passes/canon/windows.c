/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions and pools have no padding after the end that no window reads: a stride may step over it. The measure is
 * cells of padding. Formats that have one number for both sides get it back where it reads no more either.
 *
 * An average of the whole map is a Mean, whose sum has the same order. Formats that have pools for it write these. */
#include "canon/canon.h"
#include "support/sides.h"
#include "window_attrs.h"

enum { X, WEIGHTS, BIAS, OUT };

/* The index in `sides` of axis k of the windows. */
static size_t side_of(const xir_layout *layout, const window_attrs *w, size_t k) {
    const size_t i = w->n - 1 - k;
    return !i && xir_layout_index(layout, 'W') < 0 ? SIDES - 1 : i;
}

/* ---- padding that no window reads -------------------------------------------------------------------------------- */

static bool is_small(int64_t v) { return v >= -INT32_MAX && v <= INT32_MAX; }

/* The cells after the end along the axis of `letter` that no window reads; 0 if that is not known. */
static int64_t unread_along(const xir_op *op, const steps *s, char letter) {
    const xir_value *kernel = xir_op_input(op, 1);
    const int64_t in = xir_type_axis_dim(xir_op_input(op, 0)->type, letter, false);
    const int64_t size = s->size || !kernel ? s->size : xir_type_axis_dim(kernel->type, letter, false);
    if (in < 0 || size < 1 || s->stride < 1 || s->dilation < 1) return 0;
    if (!is_small(in) || !is_small(size) || !is_small(s->dilation)) return 0;
    if (!is_small(s->before) || !is_small(s->after)) return 0;
    const int64_t room = in + s->before + s->after - s->dilation * (size - 1) - 1;
    const int64_t rest = room < 0 ? 0 : room % s->stride;
    return rest < s->after ? rest : s->after;
}

/* Finds the change of the padding; false if there is none. */
static bool unread_cells(const xir_op *op, amounts out[SIDES]) {
    const window_attrs w = window_attrs_of(op->cls->decl, op->attrs);
    const xir_layout *layout = xir_type_layout(xir_op_input(op, 0)->type);
    bool any = false;
    for (size_t i = 0; i < SIDES; i++) out[i] = (amounts){ 0, 0 };
    for (size_t k = 0; k < w.n && layout; k++) {
        if (w.along[k].after < 1) continue;
        const size_t i = side_of(layout, &w, k);
        out[i].after = -unread_along(op, &w.along[k], sides[i].letter);
        any |= out[i].after != 0;
    }
    return any;
}

static bool has_unread(const xir_op *op, void *user) {
    amounts a[SIDES];
    (void)user;
    return op->n_inputs && xir_op_input(op, 0) && unread_cells(op, a);
}

static bool may_change(const xir_match *m, void *user) {
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    (void)user;
    return y && canon_check_ops(m) && fuse_is_plain(x->type) && fuse_is_plain(y->type);
}

static const xir_pattern_row rows[] = {
    [X]       = { XIR_ROW_ANY },
    [WEIGHTS] = { XIR_ROW_ANY, .optional = true },
    [BIAS]    = { XIR_ROW_ANY, .optional = true },
    [OUT]     = { XIR_ROW_OP(SIDES_CLASSES), XIR_ROW_INPUTS(X, WEIGHTS, BIAS), .where = has_unread },
};
static const xir_pattern_decl unread = { XIR_PATTERN_HEAD("unread-padding", rows), .check = may_change };

static xir_verdict without(xir_rewriter *at, const xir_match *m, const void *user) {
    amounts a[SIDES];
    (void)at, (void)user;
    if (!unread_cells(m->root, a)) return XIR_REWRITE_LEFT;
    return sides_add(m->root, a, false) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

/* ---- averages of the whole map ----------------------------------------------------------------------------------- */

/* Finds the axes of the map that the pool's only window covers, and returns their number; 0 if there may be several
 * windows, if padding counts, or if the map's axes have another order than the window's. */
static size_t whole_map(const xir_op *op, int64_t axes[WINDOW_AXES]) {
    const window_attrs w = window_attrs_of(op->cls->decl, op->attrs);
    const xir_type *x = xir_op_input(op, 0)->type;
    const xir_layout *layout = xir_type_layout(x);
    if (!layout || w.divisor) return 0;
    for (size_t k = 0; k < w.n; k++) {
        const steps *s = &w.along[k];
        const char letter = sides[side_of(layout, &w, k)].letter;
        axes[k] = xir_layout_index(layout, letter);
        if (s->size < 1 || s->before || s->after || xir_type_axis_dim(x, letter, false) != s->size) return 0;
        if (k && axes[k] <= axes[k - 1]) return 0;
    }
    return w.n;
}

static bool covers_map(const xir_op *op, void *user) {
    int64_t axes[WINDOW_AXES];
    (void)user;
    return op->n_inputs == 1 && xir_op_input(op, 0) && whole_map(op, axes);
}

static const xir_pattern_row whole_rows[] = {
    [X]     = { XIR_ROW_ANY },
    [X + 1] = { XIR_ROW_OP(xir_avg_pool1d_class, xir_avg_pool2d_class, xir_avg_pool3d_class), XIR_ROW_INPUTS(X),
                .where = covers_map },
};
static const xir_pattern_decl whole = { XIR_PATTERN_HEAD("whole-map", whole_rows), .check = may_change };

static xir_verdict to_mean(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t axes[WINDOW_AXES];
    xir_mean_attrs a = xir_mean_init();
    (void)at, (void)user;
    a.dim = (xir_i64s){ axes, whole_map(m->root, axes) };
    a.keepdim = true;
    xir_op *now = xir_add_mean(xir_match_at(m), (xir_mean_in){ xir_match_value(m, X) }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

const pass_rule canon_windows[] = { { &unread, without }, { &whole, to_mean }, { NULL, NULL } };
