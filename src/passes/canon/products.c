/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quotients and powers of floats that are simpler to the last bit: by powers of two, squares, reciprocals and roots. */
#include <math.h>
#include <xir/sugar.h>
#include "canon/canon.h"

enum { X, NUMBER, OUT };

/* The divisor; a power of two whose reciprocal every float format has as a normal number. */
static bool divisor_of(const xir_op *op, double *out) {
    const xir_divide_scalar_attrs *by = xir_divide_scalar_of(op);
    const xir_div_attrs *div = xir_div_of(op);
    if (by) *out = by->divisor;
    else if (!div || !number_of_params(xir_op_input(op, 1), out)) return false;
    if ((by ? by->rounding_mode : div->rounding_mode) != XIR_ROUNDING_NONE) return false;
    int exponent;
    return fabs(frexp(*out, &exponent)) == 0.5 && exponent >= -14 && exponent <= 15;
}

static bool is_quotient(const xir_op *op, void *user) {
    double divisor;
    (void)user;
    return divisor_of(op, &divisor);
}

static const xir_pattern_row quotient_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [NUMBER] = { XIR_ROW_PARAMS, .optional = true },
    [OUT]    = { XIR_ROW_OP(xir_div_class, xir_divide_scalar_class), XIR_ROW_INPUTS(X, NUMBER), .where = is_quotient },
};
static const xir_pattern_decl quotient = {
    XIR_PATTERN_HEAD("quotient", quotient_rows), .check = canon_check_floats,
};

static xir_verdict to_product(xir_rewriter *at, const xir_match *m, const void *user) {
    double divisor;
    (void)at, (void)user;
    if (!divisor_of(m->root, &divisor)) return XIR_REWRITE_LEFT;
    xir_value *x = xir_match_value(m, X);
    xir_value *factor = canon_number(m, 1 / divisor);
    return xir_match_replace(m, XIR_OP(xir_match_at(m), multiply, .lhs = x, .rhs = factor));
}

/* ---- squares ----------------------------------------------------------------------------------------------------- */

static const xir_pattern_row square_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [NUMBER] = { XIR_ROW_NUMBER(2) },
    [OUT]    = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(X, NUMBER) },
};
static const xir_pattern_decl square = { XIR_PATTERN_HEAD("square", square_rows), .check = canon_check_floats };

static xir_verdict to_square(xir_rewriter *at, const xir_match *m, const void *user) {
    double two;
    (void)at, (void)user;
    if (!number_of_params(xir_match_value(m, NUMBER), &two) || two != 2) return XIR_REWRITE_LEFT;
    xir_value *x = xir_match_value(m, X);
    return xir_match_replace(m, XIR_OP(xir_match_at(m), multiply, .lhs = x, .rhs = x));
}

/* ---- reciprocals and roots --------------------------------------------------------------------------------------- */

/* Returns true if the value is never below 0, nor -0: x ^ 0.5 is 0 for -0 and infinite for -inf, unlike the root. */
static bool is_from_zero(const xir_value *v, int depth) {
    const xir_op *op = value_op(v);
    double number;
    if (!op || depth == 0) return op ? false : number_of_params(v, &number) && number > 0;
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1);
    const xir_class_decl *of = op->cls->decl;
    if (of == xir_abs_class() || of == xir_exp_class() || of == xir_sigmoid_class()) return true;
    if (of == xir_multiply_class()) return x == y && fuse_plain_product(op, NULL);
    if (of == xir_pow_class()) return number_of_params(y, &number) && number == 2;
    if (of == xir_mean_class()) return is_from_zero(x, depth - 1);
    return of == xir_add_class() && fuse_plain_sum(op, NULL) &&
           is_from_zero(x, depth - 1) && is_from_zero(y, depth - 1);
}

/* Reals of 24 digits and less: the results of both are so far from where rounding changes that both round alike. */
static bool is_power(const xir_match *m, void *user) {
    double number;
    if (!canon_check_floats(m, user) || element_format_of(xir_match_value(m, X)->type).bits > 32) return false;
    if (!number_of_params(xir_match_value(m, NUMBER), &number)) return false;
    return number == -1 || (number == 0.5 && is_from_zero(xir_match_value(m, X), 4));
}

static const xir_pattern_row power_rows[] = {
    [X]      = { XIR_ROW_ANY },
    [NUMBER] = { XIR_ROW_PARAMS },
    [OUT]    = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(X, NUMBER) },
};
static const xir_pattern_decl power = { XIR_PATTERN_HEAD("power", power_rows), .check = is_power };

static xir_verdict to_function(xir_rewriter *at, const xir_match *m, const void *user) {
    double number;
    (void)at, (void)user;
    if (!number_of_params(xir_match_value(m, NUMBER), &number)) return XIR_REWRITE_LEFT;
    xir_value *x = xir_match_value(m, X);
    return xir_match_replace(m, number < 0 ? XIR_OP(xir_match_at(m), reciprocal, .input = x)
                                           : XIR_OP(xir_match_at(m), sqrt, .input = x));
}

const pass_rule canon_products[] = {
    { &quotient, to_product },
    { &square,   to_square  },
    { &power,    to_function },
    { NULL, NULL },
};
