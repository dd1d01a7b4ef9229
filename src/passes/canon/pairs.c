/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two functions of one number that one function can replace: the second undoes the first, or repeats it. */
#include <xir/sugar.h>
#include "canon/canon.h"

enum { X, INNER, OUT };

#define FUNCTIONS                                                                               \
    xir_abs_class, xir_ceil_class, xir_floor_class, xir_round_class, xir_neg_class, xir_sign_class, \
    xir_logical_not_class

typedef enum keep { KEEP_NOTHING, KEEP_X, KEEP_INNER, KEEP_OUTER } keep;

/* Results of these are integers, whose rounding is the number itself. */
static bool is_rounding(const xir_class_decl *d) {
    return d == xir_ceil_class() || d == xir_floor_class() || d == xir_round_class();
}

static keep kept_of(const xir_op *outer, const xir_op *inner) {
    const xir_class_decl *of = outer->cls->decl, *in = inner->cls->decl;
    if (of == in && (of == xir_neg_class() || of == xir_logical_not_class())) return KEEP_X;
    if (of == in && (of == xir_abs_class() || of == xir_sign_class())) return KEEP_INNER;
    if (is_rounding(of) && (is_rounding(in) || in == xir_sign_class())) return KEEP_INNER;
    if (of == xir_abs_class() && in == xir_neg_class()) return KEEP_OUTER;
    return KEEP_NOTHING;
}

static const xir_pattern_row rows[] = {
    [X]     = { XIR_ROW_ANY },
    [INNER] = { XIR_ROW_OP(FUNCTIONS), XIR_ROW_INPUTS(X) },
    [OUT]   = { XIR_ROW_OP(FUNCTIONS), XIR_ROW_INPUTS(INNER) },
};

/* Not of numbers gives truths: the result has another type than X. */
static bool is_pair(const xir_match *m, void *user) {
    return canon_check(m, user) && kept_of(m->root, xir_match_op(m, INNER)) != KEEP_NOTHING;
}

static const xir_pattern_decl pair = { XIR_PATTERN_HEAD("pair", rows), .check = is_pair };

static xir_verdict to_one(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    switch (kept_of(m->root, xir_match_op(m, INNER))) {
    case KEEP_X:     return canon_keep(m, xir_match_value(m, X));
    case KEEP_INNER: return canon_keep(m, xir_match_value(m, INNER));
    case KEEP_OUTER: return xir_match_replace(m, XIR_OP(xir_match_at(m), abs, .input = xir_match_value(m, X)));
    default:         return XIR_REWRITE_LEFT;
    }
}

const pass_rule canon_pairs[] = { { &pair, to_one }, { NULL, NULL } };
