/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas of functions that rise in parts: exponents on one side of 0, signs, roundings. Those that are texts alone
 * are in simpler.c. */
#include <math.h>
#include "formula/parts.h"
#include "formula/simpler.h"
#include "formula/text.h"

/* max(x, 0) + log(1 + exp(-a |x|)) / a */
#define SOFTPLUS "r = Log(Exp(-(Abs(x) * a)) + 1) * (1 / a); "

bool simpler_softplus(xir_node *at) {
    const double beta = xir_node_real(at, "beta", 1);
    if (!(beta > 0) || isinf(beta) || !(xir_node_real(at, "threshold", 20) >= 16))
        return xir_node_unsupported(at, "its threshold");
    return formula_gives(at, SOFTPLUS "ReLU(x) + r", NUMBERS(beta));
}

bool simpler_mish(xir_node *at) { return formula_gives(at, SOFTPLUS "x * Tanh(ReLU(x) + r)", NUMBERS(1)); }

#define BELOW_0 "r = Exp(ClampScalar(x, min=-inf, max=0)) - 1; "
#define ABOVE_0 "ClampScalar(x, min=0, max=inf)"

bool simpler_elu(xir_node *at) {
    const double alpha = xir_node_real(at, "alpha", 1);
    if (!isfinite(alpha)) return xir_node_unsupported(at, "a slope that is not finite");
    return formula_gives(at, alpha == 1 ? BELOW_0 ABOVE_0 " + r" : BELOW_0 "r = r * alpha; " ABOVE_0 " + r", NULL);
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
    return formula_gives(at, "s = ClampScalar(x * a * a, min=-1, max=1); x == x ? s : 0", NUMBERS(large));
}

/* Numbers of at least 2^23 have no fraction, and the sum with that rounds to the even integer. */
bool simpler_round(xir_node *at) {
    double exact, large;
    xir_value *x = xir_node_input(at, 0);
    if (v_is_integer(x)) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    if (!real_of(at, x, &exact, &large) || exact == 0) return xir_node_unsupported(at, "reals of less than 32 bits");
    return formula_gives(at, "s = Abs(x); t = ClampScalar(s, min=0, max=a); (t + a - a + (s - t)) * Sign(x)",
                         NUMBERS(exact));
}
