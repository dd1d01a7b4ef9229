/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions and pools have no padding after the end that no window reads: a stride may step over it. The measure is
 * cells of padding. Formats that have one number for both sides get it back where it reads no more either. */
#include "canon/canon.h"
#include "support/sides.h"
#include "window_attrs.h"

enum { X, WEIGHTS, BIAS, OUT };

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
        size_t i = w.n - 1 - k;
        if (!i && xir_layout_index(layout, 'W') < 0) i = SIDES - 1;
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

const pass_rule canon_windows[] = { { &unread, without }, { NULL, NULL } };
