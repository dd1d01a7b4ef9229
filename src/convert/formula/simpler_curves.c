/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas of functions that rise in parts: exponents on one side of 0, signs, roundings. */
#include <math.h>
#include "formula/parts.h"
#include "formula/simpler.h"

/* max(x, 0) + alpha (e^min(x, 0) - 1) */
bool simpler_elu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double alpha = xir_node_real(at, "alpha", 1);
    if (!isfinite(alpha)) return xir_node_unsupported(at, "a slope that is not finite");
    xir_value *below = make_affine(at, xir_node_unary(at, "Exp", make_clamped(at, x, -INFINITY, 0)), 1, -1);
    return xir_node_result(at, 0, xir_node_sum(at, make_clamped(at, x, 0, INFINITY), make_affine(at, below, alpha, 0),
                                               1, 1));
}

/* x (1 + erf(x / sqrt(2))) / 2 */
bool simpler_gelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_value *gate = make_affine(at, xir_node_unary(at, "Erf", xir_node_scaled(at, x, sqrt(0.5))), 1, 1);
    return xir_node_result(at, 0, xir_node_product(at, x, xir_node_scaled(at, gate, 0.5)));
}

static xir_value *cosh_of(xir_node *at, xir_value *x) {
    xir_value *up = xir_node_unary(at, "Exp", x), *down = xir_node_unary(at, "Exp", xir_node_scaled(at, x, -1));
    return xir_node_scaled(at, xir_node_sum(at, up, down, 1, 1), 0.5);
}

bool simpler_cosh(xir_node *at) { return xir_node_result(at, 0, cosh_of(at, xir_node_input(at, 0))); }

/* tanh(x) cosh(x), which is exact near 0 */
bool simpler_sinh(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return xir_node_result(at, 0, xir_node_product(at, xir_node_unary(at, "Tanh", x), cosh_of(at, x)));
}

/* The number from which on a real has no fraction, 0 for formats of less than 32 bits, and a power of two that its
 * elements hold: the product of the least number and its square is above 1. */
static bool real_of(xir_node *at, const xir_value *x, double *exact, double *large) {
    if (xir_node_failed(at) || !x || xir_type_kind_of(v_element(x)) != XIR_TYPE_FLOAT) return false;
    const element_format f = element_format_of(v_element(x));
    *exact = f.mantissa >= 23 ? ldexp(1, (int)f.mantissa) : 0;
    *large = ldexp(1, (1 << (f.exponent - 2)) + (int)f.mantissa / 2 + 1);
    return true;
}

/* Any number, made very large, cut to 1; of NaN 0. */
bool simpler_sign(xir_node *at) {
    double exact, large;
    xir_value *x = xir_node_input(at, 0);
    if (v_is_integer(x)) return xir_node_result(at, 0, make_clamped(at, x, -1, 1));
    if (!real_of(at, x, &exact, &large)) return xir_node_unsupported(at, "elements that are not numbers");
    xir_value *y = make_clamped(at, xir_node_scaled(at, xir_node_scaled(at, x, large), large), -1, 1);
    xir_value *number = xir_node_make(at, "Equal", INS(x, x), NO_SETS);
    return y && number && xir_node_becomes(at, "Where", INS(y, xir_node_scalar(at, v_element(x), 0), number), NO_SETS);
}

/* Numbers of at least 2^23 have no fraction, and the sum with that rounds to the even integer. */
bool simpler_round(xir_node *at) {
    double exact, large;
    xir_value *x = xir_node_input(at, 0);
    if (v_is_integer(x)) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    if (!real_of(at, x, &exact, &large) || exact == 0) return xir_node_unsupported(at, "reals of less than 32 bits");
    xir_value *size = xir_node_unary(at, "Abs", x), *small = make_clamped(at, size, 0, exact);
    xir_value *whole = make_affine(at, make_affine(at, small, 1, exact), 1, -exact);
    xir_value *rest = xir_node_sum(at, size, small, 1, -1);
    whole = xir_node_sum(at, whole, rest, 1, 1);
    return xir_node_result(at, 0, xir_node_product(at, whole, xir_node_unary(at, "Sign", x)));
}
