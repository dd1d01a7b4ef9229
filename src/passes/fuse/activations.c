/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Activations that an exporter took apart. Constants are compared with the precision of the smallest floats. */
#include "fuse/fuse.h"
#include <math.h>

enum { DIGITS = 2000 };   /* fp16 has 11 bits: a relative error of at most 1/2048 */

static bool scales_by(const xir_op *op, double wanted) {
    double x;
    return fuse_factor(op, &x) && number_near(x, wanted, 1.0 / DIGITS);
}

static bool by_half(const xir_op *op, void *user)      { return (void)user, scales_by(op, 0.5); }
static bool by_sixth(const xir_op *op, void *user)     { return (void)user, scales_by(op, 1.0 / 6); }
static bool by_root_half(const xir_op *op, void *user) { return (void)user, scales_by(op, sqrt(0.5)); }

/* A row for x * factor, x / divisor or DivideScalar(x); the constant has a row of its own. */
#define SCALED(by, x, constant)                                                                                 \
    { XIR_ROW_OP(xir_multiply_class, xir_div_class, xir_divide_scalar_class), XIR_ROW_INPUTS(x, constant),       \
      .commutes = true, .where = (by) }
#define CONSTANT { XIR_ROW_PARAMS, .optional = true }
#define PRODUCT(a, b) \
    { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(a, b), .commutes = true, .where = fuse_plain_product }
#define SUM(a, b) { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(a, b), .commutes = true, .where = fuse_plain_sum }

/* ---- SiLU: x * sigmoid(x) --------------------------------------------------------------------------------------- */

enum { X };   /* row 0 of every pattern here */

static const xir_pattern_row silu_rows[] = {
    [X] = { XIR_ROW_ANY },
    [1] = { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(X) },
    [2] = PRODUCT(X, 1),
};
static const xir_pattern_decl silu = { XIR_PATTERN_HEAD("silu", silu_rows), .closed = true, .check = fuse_check_same };

static xir_verdict to_silu(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_silu(xir_match_at(m), (xir_silu_in){ .input = xir_match_value(m, X) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- Hardsigmoid: relu6(x + 3) / 6 ------------------------------------------------------------------------------ */

static bool is_relu6(const xir_op *op, void *user) {
    (void)user;
    const xir_relu_attrs *relu = xir_relu_of(op);
    const xir_clamp_scalar_attrs *clamp = xir_clamp_scalar_of(op);
    const xir_hardtanh_attrs *tanh = xir_hardtanh_of(op);
    return relu  ? relu->alpha == 0 && relu->threshold == 0 && relu->max_value == 6
         : clamp ? clamp->min == 0 && clamp->max == 6
         : tanh && tanh->min_val == 0 && tanh->max_val == 6;
}

#define RELU6(x) \
    { XIR_ROW_OP(xir_relu_class, xir_clamp_scalar_class, xir_hardtanh_class), XIR_ROW_INPUTS(x), .where = is_relu6 }

enum { HS_THREE = 1, HS_SUM, HS_CUT, HS_SIX, HS_OUT };
static const xir_pattern_row hardsigmoid_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [HS_THREE] = { XIR_ROW_NUMBER(3) },
    [HS_SUM]   = SUM(X, HS_THREE),
    [HS_CUT]   = RELU6(HS_SUM),
    [HS_SIX]   = CONSTANT,
    [HS_OUT]   = SCALED(by_sixth, HS_CUT, HS_SIX),
};
static const xir_pattern_decl hardsigmoid = {
    XIR_PATTERN_HEAD("hardsigmoid", hardsigmoid_rows), .closed = true, .check = fuse_check_same,
};

static xir_verdict to_hardsigmoid(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_hardsigmoid(xir_match_at(m), (xir_hardsigmoid_in){ .input = xir_match_value(m, X) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- Hardswish: x * hardsigmoid(x), and x * relu6(x + 3) with a division by 6 anywhere else --------------------- */

static bool is_default_hardsigmoid(const xir_op *op, void *user) {
    (void)user;
    const xir_hardsigmoid_attrs *a = xir_hardsigmoid_of(op);
    return number_near(a->alpha, 1.0 / 6, 1e-6) && number_near(a->beta, 0.5, 1e-6);
}

enum { HW_GATE = 1, HW_GATED, HW_THREE, HW_SUM, HW_CUT, HW_SIX, HW_PRODUCT, HW_LAST, HW_FIRST, HW_BEFORE, HW_OUT };
static const xir_pattern_row hardswish_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [HW_GATE]    = { XIR_ROW_OP(xir_hardsigmoid_class), XIR_ROW_INPUTS(X), .where = is_default_hardsigmoid },
    [HW_GATED]   = PRODUCT(X, HW_GATE),
    [HW_THREE]   = { XIR_ROW_NUMBER(3) },
    [HW_SUM]     = SUM(X, HW_THREE),
    [HW_CUT]     = RELU6(HW_SUM),
    [HW_SIX]     = CONSTANT,
    [HW_PRODUCT] = PRODUCT(X, HW_CUT),
    [HW_LAST]    = SCALED(by_sixth, HW_PRODUCT, HW_SIX),
    [HW_FIRST]   = SCALED(by_sixth, X, HW_SIX),
    [HW_BEFORE]  = PRODUCT(HW_FIRST, HW_CUT),
    [HW_OUT]     = { XIR_ROW_EITHER(HW_GATED, HW_LAST, HW_BEFORE) },
};
static const xir_pattern_decl hardswish = {
    XIR_PATTERN_HEAD("hardswish", hardswish_rows), .closed = true, .check = fuse_check_same,
};

static xir_verdict to_hardswish(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_hardswish(xir_match_at(m), (xir_hardswish_in){ .input = xir_match_value(m, X) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- GELU: x * (1 + erf(x / sqrt(2))) / 2, in any association --------------------------------------------------- */

enum { G_ROOT = 1, G_ARGUMENT, G_ERF, G_ONE, G_SUM, G_HALF, G_PRODUCT, G_LAST, G_INNER, G_AFTER, G_FIRST,
       G_BEFORE, G_OUT };
static const xir_pattern_row gelu_rows[] = {
    [X]          = { XIR_ROW_ANY },
    [G_ROOT]     = CONSTANT,
    [G_ARGUMENT] = SCALED(by_root_half, X, G_ROOT),
    [G_ERF]      = { XIR_ROW_OP(xir_erf_class), XIR_ROW_INPUTS(G_ARGUMENT) },
    [G_ONE]      = { XIR_ROW_NUMBER(1) },
    [G_SUM]      = SUM(G_ERF, G_ONE),
    [G_HALF]     = CONSTANT,
    [G_PRODUCT]  = PRODUCT(X, G_SUM),
    [G_LAST]     = SCALED(by_half, G_PRODUCT, G_HALF),
    [G_INNER]    = SCALED(by_half, G_SUM, G_HALF),
    [G_AFTER]    = PRODUCT(X, G_INNER),
    [G_FIRST]    = SCALED(by_half, X, G_HALF),
    [G_BEFORE]   = PRODUCT(G_FIRST, G_SUM),
    [G_OUT]      = { XIR_ROW_EITHER(G_LAST, G_AFTER, G_BEFORE) },
};
static const xir_pattern_decl gelu = { XIR_PATTERN_HEAD("gelu", gelu_rows), .closed = true, .check = fuse_check_same };

static xir_verdict to_gelu(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_gelu(xir_match_at(m), (xir_gelu_in){ .input = xir_match_value(m, X) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- Softplus: log(1 + exp(x)), which it computes without an overflow ------------------------------------------- */

enum { SP_EXP = 1, SP_ONE, SP_SUM, SP_OUT };
static const xir_pattern_row softplus_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [SP_EXP] = { XIR_ROW_OP(xir_exp_class), XIR_ROW_INPUTS(X) },
    [SP_ONE] = { XIR_ROW_NUMBER(1) },
    [SP_SUM] = SUM(SP_EXP, SP_ONE),
    [SP_OUT] = { XIR_ROW_OP(xir_log_class), XIR_ROW_INPUTS(SP_SUM) },
};
static const xir_pattern_decl softplus = {
    XIR_PATTERN_HEAD("softplus", softplus_rows), .closed = true, .check = fuse_check_same,
};

static xir_verdict to_softplus(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_softplus_attrs a = xir_softplus_init();
    xir_op *now = xir_add_softplus(xir_match_at(m), (xir_softplus_in){ .input = xir_match_value(m, X) }, &a);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- Mish: x * tanh(softplus(x)) -------------------------------------------------------------------------------- */

/* From the threshold on the result is x, whose tanh is 1 as far as floats go. */
static bool is_whole_softplus(const xir_op *op, void *user) {
    (void)user;
    return xir_softplus_of(op)->beta == 1 && xir_softplus_of(op)->threshold >= 15;
}

enum { M_PLUS = 1, M_TANH, M_OUT };
static const xir_pattern_row mish_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [M_PLUS] = { XIR_ROW_OP(xir_softplus_class), XIR_ROW_INPUTS(X), .where = is_whole_softplus },
    [M_TANH] = { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(M_PLUS) },
    [M_OUT]  = PRODUCT(X, M_TANH),
};
static const xir_pattern_decl mish = { XIR_PATTERN_HEAD("mish", mish_rows), .closed = true, .check = fuse_check_same };

static xir_verdict to_mish(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_mish(xir_match_at(m), (xir_mish_in){ .input = xir_match_value(m, X) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

const fuse_rule fuse_activations[] = {
    { &silu,        to_silu        },
    { &hardsigmoid, to_hardsigmoid },
    { &hardswish,   to_hardswish   },
    { &gelu,        to_gelu        },
    { &softplus,    to_softplus    },
    { &mish,        to_mish        },
    { NULL, NULL },
};
