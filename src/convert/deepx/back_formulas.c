/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of functions that DeepX does not have, in terms of XIR's that it has: activations and rounding. What
 * every format needs is in the table of simpler classes. */
#include <math.h>
#include "deepx/deepx.h"

static xir_value *real_input(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || v_is_real(x)) return x;
    (void)xir_node_unsupported(at, "a function of integers");
    return NULL;
}

static xir_value *unary(xir_node *at, const char *cls, xir_value *x) { return xir_node_unary(at, cls, x); }

static xir_value *compared(xir_node *at, const char *cls, xir_value *x, double v) {
    return x ? xir_node_make(at, cls, INS(x, xir_node_scalar(at, v_element(x), v)), NO_SETS) : NULL;
}

static xir_value *chosen(xir_node *at, xir_value *where, xir_value *x, xir_value *otherwise) {
    return where ? xir_node_make(at, "Where", INS(x, otherwise, where), NO_SETS) : NULL;
}

/* ---- rounding --------------------------------------------------------------------------------------------------- */

/* From here on reals of a format have no fractions. */
static double whole_from(const xir_value *x) {
    const uint64_t bits = xir_type_storage_bits(v_element(x));
    return bits == 64 ? 0x1p52 : bits == 32 ? 0x1p23 : 0x1p10;
}

xir_value *deepx_cut(xir_node *at, xir_value *x) {
    xir_value *cut = xir_node_cast(at, xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64)), v_element(x));
    return chosen(at, compared(at, "Less", unary(at, "Abs", x), whole_from(x)), cut, x);
}

/* A truth as 1 or 0 is added. */
static xir_value *stepped(xir_node *at, xir_value *x, xir_value *where, double by) {
    return where ? xir_node_sum(at, x, xir_node_cast(at, where, v_element(x)), 1, by) : NULL;
}

static xir_value *floor_of(xir_node *at, xir_value *x, bool up) {
    xir_value *cut = deepx_cut(at, x);
    return cut ? stepped(at, cut, xir_node_make(at, up ? "Less" : "Greater", INS(cut, x), NO_SETS), up ? 1 : -1) : NULL;
}

/* Floor, Ceil, Round: halves become even. */
bool deepx_back_round(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (v_is_integer(x)) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    if (!node_is_class(at, "Round")) return xir_node_result(at, 0, floor_of(at, x, node_is_class(at, "Ceil")));
    xir_value *low = unary(at, "Floor", x), *half = xir_node_scaled(at, low, 0.5);
    xir_value *rest = xir_node_sum(at, x, low, 1, -1);
    xir_value *odd = half ? xir_node_make(at, "NotEqual", INS(half, unary(at, "Floor", half)), NO_SETS) : NULL;
    xir_value *tie = odd ? xir_node_make(at, "And", INS(compared(at, "Equal", rest, 0.5), odd), NO_SETS) : NULL;
    xir_value *up = tie ? xir_node_make(at, "Or", INS(compared(at, "Greater", rest, 0.5), tie), NO_SETS) : NULL;
    return xir_node_result(at, 0, stepped(at, low, up, 1));
}

/* ---- signs ------------------------------------------------------------------------------------------------------ */

/* The greater of x and -x; 1, 0 or -1. */
bool deepx_back_sign(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (node_is_class(at, "Abs")) return xir_node_becomes(at, "Maximum", INS(x, unary(at, "Neg", x)), NO_SETS);
    xir_value *above = compared(at, "Greater", x, 0), *below = compared(at, "Less", x, 0);
    return above && below && xir_node_result(at, 0, stepped(at, xir_node_cast(at, above, v_element(x)), below, -1));
}

/* ---- exponential functions -------------------------------------------------------------------------------------- */

/* 1 / (1 + exp(-x)) */
static xir_value *sigmoid(xir_node *at, xir_value *x) {
    return unary(at, "Reciprocal", make_affine(at, unary(at, "Exp", unary(at, "Neg", x)), 1, 1));
}

/* Sigmoid; Tanh, 2 sigmoid(2x) - 1. */
bool deepx_back_sigmoid(xir_node *at) {
    xir_value *x = real_input(at);
    if (node_is_class(at, "Sigmoid")) return xir_node_result(at, 0, sigmoid(at, x));
    return xir_node_result(at, 0, make_affine(at, sigmoid(at, x ? xir_node_scaled(at, x, 2) : NULL), 2, -1));
}

/* An odd function y of x that cancels near 0: x (1 + c x^2) there. */
static xir_value *near_zero(xir_node *at, xir_value *x, xir_value *y, double c) {
    if (xir_node_failed(at) || !x || !y) return NULL;
    const uint64_t bits = xir_type_storage_bits(v_element(x));
    xir_value *series = xir_node_product(at, make_affine(at, xir_node_product(at, x, x), c, 1), x);
    return chosen(at, compared(at, "Less", unary(at, "Abs", x), bits > 32 ? 0x1p-10 : bits > 16 ? 0x1p-5 : 0x1p-2),
                  series, y);
}

/* (exp(x) - exp(-x)) / 2, or the sum. */
bool deepx_back_hyperbolic(xir_node *at) {
    const bool odd = node_is_class(at, "Sinh");
    xir_value *x = real_input(at);
    xir_value *sum = xir_node_sum(at, unary(at, "Exp", x), unary(at, "Exp", unary(at, "Neg", x)), 1, odd ? -1 : 1);
    xir_value *y = sum ? xir_node_scaled(at, sum, 0.5) : NULL;
    return xir_node_result(at, 0, odd ? near_zero(at, x, y, 1.0 / 6) : y);
}

/* log(x + sqrt(x - 1) sqrt(x + 1)), which is NaN below 1; log(|x| + sqrt(x^2 + 1)) with the sign of x;
 * log((1 + x) / (1 - x)) / 2. */
bool deepx_back_area(xir_node *at) {
    xir_value *x = real_input(at), *y, *root;
    if (node_is_class(at, "ATanh")) {
        y = unary(at, "Log", xir_node_quotient(at, make_affine(at, x, 1, 1), make_affine(at, x, -1, 1)));
        return xir_node_result(at, 0, near_zero(at, x, y ? xir_node_scaled(at, y, 0.5) : NULL, 1.0 / 3));
    }
    if (node_is_class(at, "ACosh")) {
        root = xir_node_product(at, unary(at, "Sqrt", make_affine(at, x, 1, -1)),
                                unary(at, "Sqrt", make_affine(at, x, 1, 1)));
        return xir_node_result(at, 0, unary(at, "Log", xir_node_sum(at, x, root, 1, 1)));
    }
    root = unary(at, "Sqrt", make_affine(at, xir_node_product(at, x, x), 1, 1));
    y = unary(at, "Log", xir_node_sum(at, unary(at, "Abs", x), root, 1, 1));
    return xir_node_result(at, 0, near_zero(at, x, xir_node_product(at, y, unary(at, "Sign", x)), -1.0 / 6));
}

/* x where it is above 0, else alpha (exp(x) - 1). */
bool deepx_back_elu(xir_node *at) {
    xir_value *x = real_input(at), *low = make_affine(at, unary(at, "Exp", x), 1, -1);
    const double alpha = xir_node_real(at, "alpha", 1);
    if (low && alpha != 1) low = xir_node_scaled(at, low, alpha);
    return xir_node_result(at, 0, chosen(at, compared(at, "Greater", x, 0), x, low));
}

/* 1 - (a1 t + ... + a5 t^5) exp(-x^2) with t = 1 / (1 + p |x|), and the sign of x: within 1.5e-7 of the function
 * (Abramowitz and Stegun, 7.1.26). */
static xir_value *error_function(xir_node *at, xir_value *x) {
    static const double a[] = { 1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592 };
    if (xir_type_storage_bits(v_element(x)) > 32)
        return xir_node_unsupported(at, "an error function of more than 32 bits"), NULL;
    xir_value *t = unary(at, "Reciprocal", make_affine(at, unary(at, "Abs", x), 0.3275911, 1));
    xir_value *sum = make_affine(at, t, a[0], a[1]);
    for (size_t i = 2; i < COUNT(a); i++) sum = make_affine(at, xir_node_product(at, sum, t), 1, a[i]);
    xir_value *bell = unary(at, "Exp", unary(at, "Neg", xir_node_product(at, x, x)));
    xir_value *y = xir_node_product(at, xir_node_product(at, sum, t), bell);
    return xir_node_product(at, unary(at, "Sign", x), make_affine(at, y, -1, 1));
}

/* Erf; GELU, x (1 + erf(x / sqrt(2))) / 2. */
bool deepx_back_erf(xir_node *at) {
    xir_value *x = real_input(at);
    if (node_is_class(at, "Erf")) return xir_node_result(at, 0, error_function(at, x));
    xir_value *erf = error_function(at, x ? xir_node_scaled(at, x, 0.70710678118654752440) : NULL);
    return xir_node_result(at, 0, xir_node_product(at, x, make_affine(at, erf, 0.5, 0.5)));
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
    const size_t rank = v_rank(x);
    if (xir_type_elements(xir_value_type(alpha->as.params), &n)) return false;
    const xir_layout *layout = xir_type_layout(xir_value_type(x));
    size_t axis = rank ? rank - 1 : 0;
    for (size_t i = 0; layout && i < xir_layout_rank(layout); i++) if (xir_layout_axis(layout, i) == 'C') axis = i;
    const xir_ints dims = node_line(at, rank, axis, n);
    xir_value *slope = make_reshaped(at, alpha->as.params, &dims);
    return xir_node_result(at, 0, chosen(at, compared(at, "Less", x, 0), xir_node_product(at, x, slope), x));
}
