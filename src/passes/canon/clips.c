/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Bounds of one number: ReLU from 0, otherwise ClampScalar. Their bits are those of minimum(maximum(x, low), high): a
 * NaN stays, and so does -0 between the bounds. */
#include <math.h>
#include "canon/canon.h"

typedef struct clip { double low, high; } clip;

enum { X };   /* row 0 of every pattern here */

/* ReLU gives 0 for what is below, never -0, and its maximum for what is equal to it. */
static bool is_relu(clip c) { return c.low == 0 && !signbit(c.low) && c.high > 0; }

/* Attributes are float32 in files of today. */
static bool is_storable(double v) { return (double)(float)v == v; }

static bool clip_of(const xir_op *op, clip *out) {
    const xir_relu_attrs *relu = xir_relu_of(op);
    const xir_clamp_scalar_attrs *clamp = xir_clamp_scalar_of(op);
    const xir_hardtanh_attrs *tanh = xir_hardtanh_of(op);
    *out = relu  ? (clip){ 0, relu->max_value }
         : clamp ? (clip){ clamp->min, clamp->max }
         : tanh  ? (clip){ tanh->min_val, tanh->max_val } : (clip){ 1, 0 };
    if (relu && (relu->alpha != 0 || relu->threshold != 0 || !is_relu(*out))) return false;
    return out->low <= out->high;
}

/* Returns true if the bounds exclude no number. */
static bool has_no_bound(clip c) { return c.low == -INFINITY && c.high == INFINITY; }

static double clipped(double x, clip c) {
    const double y = x < c.low ? c.low : x;
    return y > c.high ? c.high : y;
}

static xir_verdict clip_by(const xir_match *m, clip c) {
    xir_value *x = xir_match_value(m, X);
    if (has_no_bound(c)) return canon_keep(m, x);
    if (is_relu(c)) {
        xir_relu_attrs a = xir_relu_init();
        a.max_value = c.high;
        return xir_match_replace(m, xir_op_output(xir_add_relu(xir_match_at(m), (xir_relu_in){ x }, &a), 0));
    }
    xir_clamp_scalar_attrs a = xir_clamp_scalar_init();
    a.min = c.low;
    a.max = c.high;
    xir_op *now = xir_add_clamp_scalar(xir_match_at(m), (xir_clamp_scalar_in){ x }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- one form ---------------------------------------------------------------------------------------------------- */

static bool has_another_form(const xir_op *op, void *user) {
    clip c;
    (void)user;
    return clip_of(op, &c) && (xir_hardtanh_of(op) || (xir_clamp_scalar_of(op) && (is_relu(c) || has_no_bound(c))));
}

static const xir_pattern_row form_rows[] = {
    [X] = { XIR_ROW_ANY },
    [1] = { XIR_ROW_OP(xir_clamp_scalar_class, xir_hardtanh_class), XIR_ROW_INPUTS(X), .where = has_another_form },
};
static const xir_pattern_decl form = { XIR_PATTERN_HEAD("clip-form", form_rows), .check = canon_check_floats };

static xir_verdict to_form(xir_rewriter *at, const xir_match *m, const void *user) {
    clip c;
    (void)at, (void)user;
    return clip_of(m->root, &c) ? clip_by(m, c) : XIR_REWRITE_LEFT;
}

/* ---- maximum(x, number), minimum(x, number) ---------------------------------------------------------------------- */

/* The number as the first operand decides the sign of a zero. */
static bool bound_of(const xir_op *op, clip *out) {
    double number;
    const bool first = number_of_params(xir_op_input(op, 0), &number);
    if (!first && !number_of_params(xir_op_input(op, 1), &number)) return false;
    *out = xir_maximum_of(op) ? (clip){ number, INFINITY } : (clip){ -INFINITY, number };
    return !isnan(number) && is_storable(number) && (!first || number != 0);
}

static bool is_bound(const xir_op *op, void *user) {
    clip c;
    (void)user;
    return bound_of(op, &c);
}

enum { B_NUMBER = 1, B_OUT };
static const xir_pattern_row bound_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [B_NUMBER] = { XIR_ROW_PARAMS },
    [B_OUT]    = { XIR_ROW_OP(xir_maximum_class, xir_minimum_class), XIR_ROW_INPUTS(X, B_NUMBER), .commutes = true,
                   .where = is_bound },
};
static const xir_pattern_decl bound = { XIR_PATTERN_HEAD("bound", bound_rows), .check = canon_check_floats };

static xir_verdict to_bound(xir_rewriter *at, const xir_match *m, const void *user) {
    clip c;
    (void)at, (void)user;
    return bound_of(m->root, &c) ? clip_by(m, c) : XIR_REWRITE_LEFT;
}

/* ---- bounds of bounds -------------------------------------------------------------------------------------------- */

#define BOUNDED(x) { XIR_ROW_OP(xir_relu_class, xir_clamp_scalar_class, xir_hardtanh_class), XIR_ROW_INPUTS(x) }

enum { C_INNER = 1, C_OUT };
static const xir_pattern_row twice_rows[] = {
    [X]       = { XIR_ROW_ANY },
    [C_INNER] = BOUNDED(X),
    [C_OUT]   = BOUNDED(C_INNER),
};

static bool both_of(const xir_match *m, clip *inner, clip *outer) {
    return clip_of(xir_match_op(m, C_INNER), inner) && clip_of(m->root, outer);
}

/* Combines two clips. A bound of 0 lets a zero of either sign pass, so the inner bounds must have let it pass, too. */
static bool compose(clip inner, clip outer, clip *both) {
    *both = (clip){ clipped(inner.low, outer), clipped(inner.high, outer) };
    return (inner.low <= 0 && inner.high >= 0) || (both->low != 0 && both->high != 0);
}

/* The outer bounds change nothing, or the inner op is used only here, so that one op remains of two. */
static bool is_twice(const xir_match *m, void *user) {
    clip inner, outer, both;
    if (!canon_check_floats(m, user) || !both_of(m, &inner, &outer) || !compose(inner, outer, &both)) return false;
    const bool changes_nothing = both.low == inner.low && both.high == inner.high;
    const xir_use *use = xir_match_value(m, C_INNER)->uses;
    return changes_nothing || (use && !use->next);
}

static const xir_pattern_decl twice = { XIR_PATTERN_HEAD("clip-twice", twice_rows), .check = is_twice };

static xir_verdict to_once(xir_rewriter *at, const xir_match *m, const void *user) {
    clip inner, outer, both;
    (void)at, (void)user;
    if (!both_of(m, &inner, &outer) || !compose(inner, outer, &both)) return XIR_REWRITE_LEFT;
    if (both.low == inner.low && both.high == inner.high) return canon_keep(m, xir_match_value(m, C_INNER));
    return clip_by(m, both);
}

const pass_rule canon_clips[] = {
    { &form,  to_form  },
    { &bound, to_bound },
    { &twice, to_once  },
    { NULL, NULL },
};
