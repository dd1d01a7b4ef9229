/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that compute each element by itself. */
#include <math.h>
#include "formula/formulas.h"
#include "nnb/nnb.h"

/* ---- activations ------------------------------------------------------------------------------------------------ */

bool nnb_selu(xir_node *at) {
    return xir_node_result(at, 0, make_selu(at, xir_node_input(at, 0), xir_node_real(at, "alpha", 1.67326),
                                            xir_node_real(at, "scale", 1.0507)));
}

/* f(x) and f(-x), one after the other. */
static bool both_signs(xir_node *at, const char *cls, xir_sets sets) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !nnb_axis(at, "axis", v_rank(x), &axis)) return false;
    xir_value *plus = xir_node_make(at, cls, INS(x), sets);
    xir_value *minus = xir_node_make(at, cls, INS(xir_node_unary(at, "Neg", x)), sets);
    return xir_node_becomes(at, "Concat", INS(plus, minus), SETS(INT("axis", axis)));
}
bool nnb_crelu(xir_node *at) { return both_signs(at, "ReLU", NO_SETS); }
bool nnb_celu(xir_node *at)  { return both_signs(at, "ELU", SETS(REAL("alpha", xir_node_real(at, "alpha", 1)))); }

/* One slope for all, or one for each index of base_axis. */
bool nnb_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *slope = xir_node_input(at, 1);
    size_t base;
    if (xir_node_failed(at) || !nnb_base(at, x, &base)) return false;
    const size_t rank = v_rank(x);
    if (v_rank(slope) > 1)
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the slopes: expected 1 dim, found %zu", v_rank(slope));
    const int64_t n = v_rank(slope) ? v_dim(slope, 0) : 1;
    if (n != 1 && base >= rank) return nnb_out_of_range(at, "base_axis", xir_node_int(at, "base_axis", 1));
    if (n == 1 || base == 1) return xir_node_result(at, 0, make_prelu(at, x, slope, true));
    if (n < 0) return xir_node_unsupported(at, "unknown slopes");
    return xir_node_result(at, 0, make_prelu(at, x, make_line(at, slope, rank - base, 0), false));
}

/* sin(x) / x, 1 at 0. */
bool nnb_sinc(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *element = v_element(x);
    xir_value *zero = xir_node_make(at, "Equal", INS(x, xir_node_scalar(at, element, 0)), NO_SETS);
    xir_value *y = xir_node_quotient(at, xir_node_unary(at, "Sin", x), x);
    return xir_node_becomes(at, "Where", INS(xir_node_scalar(at, element, 1), y, zero), NO_SETS);
}

/* BinarySigmoid, 1 above 0 and else 0; BinaryTanh, 1 and -1. */
bool nnb_binary_sign(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *element = v_element(x);
    const double below = (double)xir_node_variant(at);
    xir_value *above = xir_node_make(at, "Greater", INS(x, xir_node_scalar(at, element, 0)), NO_SETS);
    return xir_node_becomes(at, "Where",
                            INS(xir_node_scalar(at, element, 1), xir_node_scalar(at, element, below), above), NO_SETS);
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

/* AddN and MulN: any number of operands. */
bool nnb_chain(xir_node *at) {
    xir_value *y = xir_node_input(at, 0);
    for (size_t i = 1; i < at->n_in && y; i++)
        y = xir_node_make(at, at->cls->row->cls, INS(y, xir_node_input(at, i)), NO_SETS);
    return xir_node_result(at, 0, y);
}

/* x as often as its dims need it to be like those of y, if these are multiples. NNabla refuses such operands, but its C
 * runtime takes indices modulo the dim. */
static xir_value *repeated(xir_node *at, xir_value *x, const xir_value *y, const char *where) {
    const size_t rank = x ? v_rank(x) : 0;
    if (xir_node_failed(at) || !x || !y || v_rank(y) != rank) return x;
    xir_ints times = xir_node_make_ints(at, rank, 1);
    bool any = false;
    for (size_t i = 0; i < rank && times.v; i++) {
        const int64_t dim = v_dim(x, i), other = v_dim(y, i);
        if (dim < 2 || other <= dim || other % dim) continue;
        times.v[i] = other / dim;
        any = true;
    }
    if (!any || !times.v) return x;
    node_say(at, XIR_WARNING, XIR_OK, where, "the C runtime repeats this operand; NNabla refuses dims that do not "
             "broadcast");
    return xir_node_make(at, "Tile", INS(x), SETS(LIST("dims", &times)));
}

bool nnb_binary(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    xir_value *a = repeated(at, x, y, "input/0"), *b = repeated(at, y, x, "input/1");
    if (xir_str_equal(xir_node_type(at), XIR_STR("Sub2"))) return xir_node_result(at, 0, xir_node_sum(at, a, b, 1, -1));
    return xir_node_becomes(at, at->cls->row->cls, INS(a, b), NO_SETS);
}

/* x and a number. */
bool nnb_scalar(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return xir_node_becomes(at, at->cls->row->cls,
                            INS(x, xir_node_scalar(at, v_element(x), xir_node_real(at, "val", 1))), NO_SETS);
}

/* A number and x: val - x, val / x, val to the power of x. */
bool nnb_scalar_first(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const char *cls = at->cls->row->cls;
    xir_value *v = xir_node_scalar(at, v_element(x), xir_node_real(at, "val", 1));
    if (cls[0] == 'A') return xir_node_result(at, 0, xir_node_sum(at, v, x, 1, -1));
    return xir_node_becomes(at, cls, INS(v, x), NO_SETS);
}

/* -1, 1, or alpha at 0. */
bool nnb_sign(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *sign = xir_node_unary(at, "Sign", x);
    const double alpha = xir_node_real(at, "alpha", 1);
    if (!sign || alpha == 0) return xir_node_result(at, 0, sign);
    const xir_type *element = v_element(x);
    xir_value *zero = xir_node_make(at, "Equal", INS(x, xir_node_scalar(at, element, 0)), NO_SETS);
    return xir_node_becomes(at, "Where", INS(xir_node_scalar(at, element, alpha), sign, zero), NO_SETS);
}

bool nnb_round(xir_node *at) { return xir_node_result(at, 0, make_rounded(at, xir_node_input(at, 0))); }

bool nnb_atan2(xir_node *at) {
    return xir_node_result(at, 0, make_atan2(at, xir_node_input(at, 0), xir_node_input(at, 1)));
}

/* The sign of the result is that of x0 with fmod, else that of x1: x0 - x1 floor(x0 / x1). */
bool nnb_mod(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (xir_node_bool(at, "fmod", false)) return xir_node_becomes(at, "Mod", INS(x, y), SETS(INT("fmod", 1)));
    xir_value *whole = xir_node_unary(at, "Floor", xir_node_quotient(at, x, y));
    return xir_node_result(at, 0, xir_node_sum(at, x, xir_node_product(at, whole, y), 1, -1));
}

/* x * 2^shift, or the whole part of x / 2^shift. */
bool nnb_bit_shift(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *shift = xir_node_input(at, 1);
    if (!xir_node_one_of(at, "direction", "LEFT", "LEFT|RIGHT") || !x || !shift) return false;
    xir_value *power = xir_node_make(at, "Pow", INS(xir_node_scalar(at, v_element(x), 2), shift), NO_SETS);
    if (!xir_node_is(at, "direction", "RIGHT")) return xir_node_result(at, 0, xir_node_product(at, x, power));
    return xir_node_result(at, 0, xir_node_unary(at, "Floor", xir_node_quotient(at, x, power)));
}

/* ---- logic: numbers are true where they are not 0, and truth is 1 ------------------------------------------------ */

static bool give_truth(xir_node *at, xir_value *truth, const xir_value *x) {
    return x && xir_node_result(at, 0, nnb_number(at, truth, v_element(x)));
}

bool nnb_logic(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    return give_truth(at, xir_node_make(at, at->cls->row->cls, INS(nnb_truth(at, x), nnb_truth(at, y)), NO_SETS), x);
}

bool nnb_logic_scalar(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_value *v = xir_node_scalar(at, xir_type_bool(xir_node_context(at)), xir_node_bool(at, "val", false));
    return give_truth(at, xir_node_make(at, at->cls->row->cls, INS(nnb_truth(at, x), v), NO_SETS), x);
}

bool nnb_compare(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    return give_truth(at, xir_node_make(at, at->cls->row->cls, INS(x, y), NO_SETS), x);
}

bool nnb_compare_scalar(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_value *v = xir_node_scalar(at, v_element(x), xir_node_real(at, "val", 1));
    return give_truth(at, xir_node_make(at, at->cls->row->cls, INS(x, v), NO_SETS), x);
}

bool nnb_logical_not(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return give_truth(at, xir_node_unary(at, "Not", nnb_truth(at, x)), x);
}

static xir_value *is_nan(xir_node *at, xir_value *x) { return xir_node_make(at, "NotEqual", INS(x, x), NO_SETS); }

static xir_value *is_inf(xir_node *at, xir_value *x) {
    return xir_node_make(at, "Equal", INS(xir_node_unary(at, "Abs", x), xir_node_scalar(at, v_element(x), INFINITY)),
                         NO_SETS);
}

bool nnb_is_nan(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return give_truth(at, is_nan(at, x), x);
}

bool nnb_is_inf(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return give_truth(at, is_inf(at, x), x);
}

/* val where the condition holds, else x. */
static bool replaced(xir_node *at, const char *name, xir_value *x, xir_value *where) {
    return xir_node_becomes(at, "Where",
                            INS(xir_node_scalar(at, v_element(x), xir_node_real(at, name, 0)), x, where), NO_SETS);
}

bool nnb_reset_nan(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return replaced(at, "val", x, is_nan(at, x));
}

bool nnb_reset_inf(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return replaced(at, "val", x, is_inf(at, x));
}

bool nnb_bool_fill(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return replaced(at, "value", x, nnb_truth(at, xir_node_input(at, 1)));
}

/* The condition has the first dims of x_true. */
bool nnb_where(xir_node *at) {
    xir_value *condition = xir_node_input(at, 0), *yes = xir_node_input(at, 1), *no = xir_node_input(at, 2);
    const size_t rank = v_rank(yes), own = v_rank(condition);
    if (own > rank)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "the condition: expected at most %zu dims, found %zu",
                                rank, own);
    if (own < rank) condition = make_widened(at, condition, rank, 0);
    return xir_node_becomes(at, "Where", INS(yes, no, nnb_truth(at, condition)), NO_SETS);
}

/* ---- quantisation ----------------------------------------------------------------------------------------------- */

/* The nearest multiple of delta in the range of n bits, halves away from 0. */
bool nnb_fixed_quantize(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double delta = xir_node_real(at, "delta", 0.0625);
    const int64_t n = xir_node_int(at, "n", 8);
    const bool sign = xir_node_bool(at, "sign", true);
    if (n < 1 || n > 32) return nnb_out_of_range(at, "n", n);
    if (!(delta > 0) || isinf(delta)) return xir_node_unsupported(at, "a step of %g", delta);
    const double most = (ldexp(1, (int)n - sign) - 1) * delta;
    xir_value *y = make_rounded(at, x ? xir_node_make(at, "DivideScalar", INS(x), SETS(REAL("divisor", delta))) : NULL);
    return xir_node_becomes(at, "ClampScalar", INS(xir_node_scaled(at, y, delta)),
                            SETS(REAL("min", sign ? -most : 0), REAL("max", most)));
}

/* x / scale rounded, plus the zero point, in the range of 8 bits. The element type is NumPy's number. */
bool nnb_quantize_linear(xir_node *at) {
    enum { INT8 = 1, UINT8 = 2 };
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1), *zero = xir_node_input(at, 2);
    const int64_t type = xir_node_int(at, "dtype", INT8);
    if (!xir_node_one_of(at, "round_mode", "HALF_AWAY_FROM_ZERO", "HALF_AWAY_FROM_ZERO|HALF_TO_EVEN")) return false;
    if (type != INT8 && type != UINT8) return xir_node_unsupported(at, "elements of the type %lld", (long long)type);
    const double narrow = xir_node_bool(at, "narrow_range", false), least = type == INT8 ? -128 : 0;
    xir_value *y = xir_node_quotient(at, x, scale);
    y = xir_node_is(at, "round_mode", "HALF_TO_EVEN") ? xir_node_unary(at, "Round", y) : make_rounded(at, y);
    return xir_node_becomes(at, "ClampScalar", INS(xir_node_sum(at, y, zero, 1, 1)),
                            SETS(REAL("min", least + narrow), REAL("max", least + 255)));
}

bool nnb_dequantize_linear(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1), *zero = xir_node_input(at, 2);
    return xir_node_result(at, 0, xir_node_product(at, xir_node_sum(at, x, zero, 1, -1), scale));
}

/* ---- losses ----------------------------------------------------------------------------------------------------- */

/* log(1 + e^x) - x t */
bool nnb_sigmoid_cross_entropy(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *t = xir_node_input(at, 1);
    xir_value *soft = xir_node_unary(at, "LogSigmoid", xir_node_unary(at, "Neg", x));
    return xir_node_result(at, 0, xir_node_sum(at, soft, xir_node_product(at, x, t), -1, -1));
}

/* -(t log(x) + (1 - t) log(1 - x)) */
bool nnb_binary_cross_entropy(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *t = xir_node_input(at, 1);
    xir_value *yes = xir_node_product(at, t, xir_node_unary(at, "Log", x));
    xir_value *no = xir_node_product(at, make_affine(at, t, -1, 1),
                                     xir_node_unary(at, "Log", make_affine(at, x, -1, 1)));
    return xir_node_result(at, 0, xir_node_sum(at, yes, no, -1, -1));
}

/* -log(p) of the class that the target names, p = softmax(x) or x. */
bool nnb_softmax_cross_entropy(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *t = xir_node_input(at, 1);
    int64_t axis;
    if (xir_node_failed(at) || !nnb_axis(at, "axis", v_rank(x), &axis)) return false;
    if (v_rank(t) != v_rank(x))
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the target: expected %zu dims, found %zu", v_rank(x),
                                v_rank(t));
    const bool soft = at->cls->row->cls[0] == 'L';   /* LogSoftmax */
    xir_value *logs = soft ? xir_node_make(at, "LogSoftmax", INS(x), SETS(INT("axis", axis)))
                           : xir_node_unary(at, "Log", x);
    xir_value *own = xir_node_make(at, "GatherElements", INS(logs, nnb_index(at, t)), SETS(INT("axis", axis)));
    return xir_node_result(at, 0, xir_node_unary(at, "Neg", own));
}

static xir_value *difference(xir_node *at) {
    return xir_node_sum(at, xir_node_input(at, 0), xir_node_input(at, 1), 1, -1);
}

bool nnb_squared_error(xir_node *at) {
    xir_value *d = difference(at);
    return xir_node_result(at, 0, xir_node_product(at, d, d));
}

bool nnb_absolute_error(xir_node *at) { return xir_node_result(at, 0, xir_node_unary(at, "Abs", difference(at))); }

/* d^2 where |d| < delta, else delta (2 |d| - delta): with m = min(|d|, delta), m (2 |d| - m). */
bool nnb_huber_loss(xir_node *at) {
    xir_value *d = xir_node_unary(at, "Abs", difference(at));
    xir_value *m = d ? xir_node_make(at, "ClampScalar", INS(d), SETS(REAL("max", xir_node_real(at, "delta", 1))))
                     : NULL;
    return xir_node_result(at, 0, xir_node_product(at, m, xir_node_sum(at, d, m, 2, -1)));
}

bool nnb_epsilon_loss(xir_node *at) {
    xir_value *d = xir_node_unary(at, "Abs", difference(at));
    return xir_node_result(at, 0, xir_node_unary(at, "ReLU",
                                                 make_affine(at, d, 1, -xir_node_real(at, "epsilon", 0))));
}

/* The sum of p log(p / q) over all dims from base_axis on. */
bool nnb_kl_multinomial(xir_node *at) {
    xir_value *p = xir_node_input(at, 0), *q = xir_node_input(at, 1);
    size_t base;
    if (xir_node_failed(at) || !nnb_base(at, p, &base)) return false;
    const xir_ints axes = xir_node_series(at, (int64_t)base, v_rank(p) - base);
    xir_value *y = xir_node_product(at, p, xir_node_unary(at, "Log", xir_node_quotient(at, p, q)));
    return xir_node_result(at, 0, xir_node_reduced(at, "Sum", y, &axes, false));
}

/* 1 where one of both is at least 0.5 and the other is not. */
bool nnb_binary_error(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *t = xir_node_input(at, 1);
    xir_value *half = xir_node_scalar(at, v_element(x), 0.5);
    xir_value *a = xir_node_make(at, "GreaterEqual", INS(x, half), NO_SETS),
              *b = xir_node_make(at, "GreaterEqual", INS(t, half), NO_SETS);
    return give_truth(at, xir_node_make(at, "Xor", INS(a, b), NO_SETS), x);
}
