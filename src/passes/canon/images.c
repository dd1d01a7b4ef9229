/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resize of rows and columns to known sizes is Upsample, whose formulas are the same and which has more of them. The
 * ways back and back ends treat both alike. Resize of one or three dims, or to sizes that are computed, stays. */
#include "canon/canon.h"
#include "types.h"

enum { X, OUT };

static bool has_known_sizes(const xir_match *m, void *user) {
    const xir_value *x = xir_match_value(m, X), *y = xir_op_output(m->root, 0);
    (void)user;
    return y && m->root->n_inputs == 1 && xir_resize_of(m->root)->dsize.size == 2 && canon_check_ops(m) &&
           fuse_is_plain(x->type) && fuse_is_plain(y->type);
}

static const xir_pattern_row rows[] = {
    [X]   = { XIR_ROW_ANY },
    [OUT] = { XIR_ROW_OP(xir_resize_class), XIR_ROW_INPUTS(X) },
};
static const xir_pattern_decl resize = { XIR_PATTERN_HEAD("resize", rows), .check = has_known_sizes };

static xir_verdict to_upsample(xir_rewriter *at, const xir_match *m, const void *user) {
    const xir_type *y = xir_op_output(m->root, 0)->type;
    xir_upsample_attrs a = xir_upsample_init();
    (void)at, (void)user;
    a.height = xir_type_axis_dim(y, 'H', false);
    a.width = xir_type_axis_dim(y, 'W', false);
    a.interpolation = xir_resize_of(m->root)->interpolation == XIR_RESIZE_INTER_NEAREST ? XIR_UPSAMPLE_NEAREST
                                                                                        : XIR_UPSAMPLE_BILINEAR;
    if (a.height < 1 || a.width < 1) return XIR_REWRITE_LEFT;
    xir_op *now = xir_add_upsample(xir_match_at(m), (xir_upsample_in){ xir_match_value(m, X) }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

const pass_rule canon_images[] = { { &resize, to_upsample }, { NULL, NULL } };
