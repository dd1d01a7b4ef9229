/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two functions of one number that one function can replace: the second undoes the first, or repeats it; and a
 * comparison with the opposite of its result. */
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

/* ---- the opposite of a comparison -------------------------------------------------------------------------------- */

enum { LEFT, RIGHT, COMPARED, NEGATED };

#define COMPARISONS                                                                                   \
    xir_equal_class, xir_not_equal_class, xir_less_class, xir_greater_equal_class, xir_greater_class, \
    xir_less_equal_class

/* The class that is true where the comparison is false. With a NaN both orders are false, so an order of floats has
 * none, while NotEqual is true. */
static const xir_class_decl *opposite_of(const xir_match *m) {
    static xir_class_fn *const pairs[][2] = { { xir_equal_class,   xir_not_equal_class     },
                                                   { xir_less_class,    xir_greater_equal_class },
                                                   { xir_greater_class, xir_less_equal_class    } };
    const xir_class_decl *of = xir_match_op(m, COMPARED)->cls->decl;
    const bool floats = element_is_float(element_format_of(xir_match_value(m, LEFT)->type));
    for (size_t i = 0; i < (floats ? 1 : sizeof pairs / sizeof *pairs); i++)
        for (size_t k = 0; k < 2; k++) if (of == pairs[i][k]()) return pairs[i][1 - k]();
    return NULL;
}

static const xir_pattern_row compared_rows[] = {
    [LEFT]     = { XIR_ROW_ANY },
    [RIGHT]    = { XIR_ROW_ANY },
    [COMPARED] = { XIR_ROW_OP(COMPARISONS), XIR_ROW_INPUTS(LEFT, RIGHT) },
    [NEGATED]  = { XIR_ROW_OP(xir_logical_not_class), XIR_ROW_INPUTS(COMPARED) },
};

/* Nothing else uses the comparison, so that one op remains of two. */
static bool has_opposite(const xir_match *m, void *user) {
    const xir_value *truth = xir_match_value(m, COMPARED), *y = xir_op_output(m->root, 0);
    (void)user;
    return y && canon_check_ops(m) && fuse_is_plain(xir_match_value(m, LEFT)->type) && fuse_is_plain(truth->type) &&
           xir_type_equal(truth->type, y->type) && truth->uses && !truth->uses->next && opposite_of(m);
}

static const xir_pattern_decl negated = { XIR_PATTERN_HEAD("negated", compared_rows), .check = has_opposite };

static xir_verdict to_opposite(xir_rewriter *at, const xir_match *m, const void *user) {
    const xir_equal_in in = { xir_match_value(m, LEFT), xir_match_value(m, RIGHT) };
    (void)at, (void)user;
    const xir_op *now = xir_op_build(xir_match_at(m), opposite_of(m), &in, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

const pass_rule canon_pairs[] = { { &pair, to_one }, { &negated, to_opposite }, { NULL, NULL } };
