/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of functions that DeepX does not have, in terms of XIR's that it has: activations and rounding. What
 * every format needs is in the table of simpler classes. */
#include <math.h>
#include "deepx/deepx.h"
#include "formula/text.h"
#include "spec/maps.h"

static xir_value *real_input(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || v_is_real(x)) return x;
    (void)xir_node_unsupported(at, "a function of integers");
    return NULL;
}

static xir_value *unary(xir_node *at, const char *cls, xir_value *x) { return xir_node_unary(at, cls, x); }

/* ---- rounding --------------------------------------------------------------------------------------------------- */

/* From here on reals of a format have no fractions. */
static double whole_from(const xir_value *x) {
    const uint64_t bits = xir_type_storage_bits(v_element(x));
    return bits == 64 ? 0x1p52 : bits == 32 ? 0x1p23 : 0x1p10;
}

xir_value *deepx_cut(xir_node *at, xir_value *x) {
    xir_value *cut = xir_node_cast(at, xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64)), v_element(x));
    return make_formula(at, "Abs(x) < a ? y : x", INS(x, cut), NUMBERS(whole_from(x)));
}

/* Floor, Ceil, Round: halves become even. */
bool deepx_back_round(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (v_is_integer(x)) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    if (node_is_class(at, "Round"))
        return formula_gives(at, "f = Floor(x); h = f * 0.5; r = x - f; o = h != Floor(h); t = And(r == 0.5, o); "
                                 "f + like(Or(r > 0.5, t))", NULL);
    const char *text = node_is_class(at, "Ceil") ? "y + like(y < x)" : "y - like(y > x)";
    return xir_node_result(at, 0, make_formula(at, text, INS(x, deepx_cut(at, x)), NULL));
}

/* ---- signs ------------------------------------------------------------------------------------------------------ */

bool deepx_back_sign(xir_node *at) {
    return formula_gives(at, node_is_class(at, "Abs") ? "Maximum(x, -x)"
                                                      : "p = x > 0; n = x < 0; like(p) - like(n)", NULL);
}

/* ---- exponential functions -------------------------------------------------------------------------------------- */

bool deepx_back_sigmoid(xir_node *at) {
    return real_input(at) && formula_gives(at, node_is_class(at, "Sigmoid") ? "Reciprocal(Exp(-x) + 1)"
                                               : "Reciprocal(Exp(-(x * 2)) + 1) * 2 - 1", NULL);
}

/* An odd function y of x that cancels near 0: x (1 + c x^2) there. */
static xir_value *near_zero(xir_node *at, xir_value *x, xir_value *y, double c) {
    const uint64_t bits = xir_type_storage_bits(v_element(x));
    return make_formula(at, "s = (x * x * a + 1) * x; Abs(x) < b ? s : y", INS(x, y),
                        NUMBERS(c, bits > 32 ? 0x1p-10 : bits > 16 ? 0x1p-5 : 0x1p-2));
}

bool deepx_back_hyperbolic(xir_node *at) {
    const bool odd = node_is_class(at, "Sinh");
    xir_value *x = real_input(at);
    xir_value *y = make_formula(at, odd ? "n = Exp(-x); (Exp(x) - n) * 0.5" : "n = Exp(-x); (Exp(x) + n) * 0.5",
                                INS(x), NULL);
    return xir_node_result(at, 0, odd ? near_zero(at, x, y, 1.0 / 6) : y);
}

/* ACosh is NaN below 1. */
bool deepx_back_area(xir_node *at) {
    xir_value *x = real_input(at), *y;
    if (node_is_class(at, "ACosh"))
        return x && formula_gives(at, "r = Sqrt(x + 1); r = Sqrt(x - 1) * r; Log(x + r)", NULL);
    const bool hyperbola = node_is_class(at, "ATanh");
    y = make_formula(at, hyperbola ? "q = x * -1 + 1; Log((x + 1) / q) * 0.5"
                                   : "r = Sqrt(x * x + 1); Log(Abs(x) + r) * Sign(x)", INS(x), NULL);
    return xir_node_result(at, 0, near_zero(at, x, y, hyperbola ? 1.0 / 3 : -1.0 / 6));
}

bool deepx_back_elu(xir_node *at) {
    const bool plain = xir_node_real(at, "alpha", 1) == 1;
    return real_input(at) && formula_gives(at, plain ? "l = Exp(x) - 1; x > 0 ? x : l"
                                                     : "l = (Exp(x) - 1) * alpha; x > 0 ? x : l", NULL);
}

/* 1 - (a1 t + ... + a5 t^5) exp(-x^2) with t = 1 / (1 + p |x|), and the sign of x: within 1.5e-7 of the function
 * (Abramowitz and Stegun, 7.1.26). */
static xir_value *error_function(xir_node *at, xir_value *x) {
    if (xir_type_storage_bits(v_element(x)) > 32)
        return xir_node_unsupported(at, "an error function of more than 32 bits"), NULL;
    return make_formula(at, "t = Reciprocal(Abs(x) * 0.3275911 + 1); s = t * 1.061405429 - 1.453152027; "
                            "s = s * t + 1.421413741; s = s * t - 0.284496736; s = s * t + 0.254829592; "
                            "e = Exp(-(x * x)); s = s * t * e * -1 + 1; Sign(x) * s", INS(x), NULL);
}

/* Erf; GELU, x (1 + erf(x / sqrt(2))) / 2. */
bool deepx_back_erf(xir_node *at) {
    xir_value *x = real_input(at);
    if (node_is_class(at, "Erf")) return xir_node_result(at, 0, error_function(at, x));
    xir_value *erf = error_function(at, x ? xir_node_scaled(at, x, 0.70710678118654752440) : NULL);
    return xir_node_result(at, 0, make_formula(at, "x * (y * 0.5 + 0.5)", INS(x, erf), NULL));
}

/* Softmax: exp(x - max) / sum; LogSoftmax: x - max - log(sum). */
bool deepx_back_softmax(xir_node *at) {
    int64_t axis;
    xir_value *x = real_input(at);
    if (!x || !node_axis(at, "axis", -1, v_rank(x), &axis)) return false;
    const xir_ints one = { &axis, 1 };
    x = xir_node_sum(at, x, xir_node_reduced(at, "Max", x, &one, true), 1, -1);
    xir_value *exp = unary(at, "Exp", x), *sum = exp ? xir_node_reduced(at, "Sum", exp, &one, true) : NULL;
    if (node_is_class(at, "Softmax")) return xir_node_result(at, 0, xir_node_quotient(at, exp, sum));
    return xir_node_result(at, 0, xir_node_sum(at, x, unary(at, "Log", sum), 1, -1));
}

/* Slopes of channels, or one. */
bool deepx_back_prelu(xir_node *at) {
    xir_value *x = real_input(at);
    const xir_any *alpha = xir_node_attr(at, "alpha");
    if (!x || !alpha || alpha->kind != XIR_ANY_PARAMS) return x && xir_node_unsupported(at, "it has no slopes");
    int64_t n = 0;
    if (xir_type_elements(xir_value_type(alpha->as.params), &n)) return false;
    const xir_ints dims = node_line(at, v_rank(x), map_channels(x), n);
    xir_value *slope = make_reshaped(at, alpha->as.params, &dims);
    return xir_node_result(at, 0, make_formula(at, "p = x * y; x < 0 ? p : x", INS(x, slope), NULL));
}
