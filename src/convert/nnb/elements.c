/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that compute each element by itself. */
#include <math.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "nnb/nnb.h"
#include "spec/one_axis.h"

/* ---- activations ------------------------------------------------------------------------------------------------ */

FORMULA(nnb_selu, "ELU(x, alpha=alpha:1.67326) * scale:1.0507")

/* f(x) and f(-x), one after the other. */
static bool both_signs(xir_node *at, const char *cls, xir_sets sets) {
    const one_axis a = one_axis_of(at, "argument/axis", 0);
    xir_value *plus = xir_node_make(at, cls, INS(a.x), sets);
    xir_value *minus = xir_node_make(at, cls, INS(xir_node_unary(at, "Neg", a.x)), sets);
    return xir_node_becomes(at, "Concat", INS(plus, minus), SETS(AXIS("axis", a)));
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

FORMULA(nnb_sinc, "x == 0 ? 1 : Sin(x) / x")

/* BinarySigmoid, 1 above 0 and else 0; BinaryTanh, 1 and -1. */
bool nnb_binary_sign(xir_node *at) {
    return formula_gives(at, "x > 0 ? 1 : a", NUMBERS((double)xir_node_variant(at)));
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

FORMULA(nnb_scalar, "Row(x, val:1)")

FORMULA(nnb_scalar_first, "Row(val:1, x)")
FORMULA(nnb_from_scalar, "val:1 - x")

/* -1, 1, or alpha at 0. */
bool nnb_sign(xir_node *at) {
    const bool plain = xir_node_real(at, "alpha", 1) == 0;
    return formula_gives(at, plain ? "Sign(x)" : "s = Sign(x); x == 0 ? alpha:1 : s", NULL);
}

bool nnb_round(xir_node *at) { return xir_node_result(at, 0, make_rounded(at, xir_node_input(at, 0))); }

bool nnb_atan2(xir_node *at) {
    return xir_node_result(at, 0, make_atan2(at, xir_node_input(at, 0), xir_node_input(at, 1)));
}

/* The sign of the result is that of x with fmod, else that of y. */
bool nnb_mod(xir_node *at) {
    return formula_gives(at, xir_node_bool(at, "fmod", false) ? "Mod(x, y, fmod=1)" : "x - Floor(x / y) * y", NULL);
}

bool nnb_bit_shift(xir_node *at) {
    if (!xir_node_one_of(at, "direction", "LEFT", "LEFT|RIGHT")) return false;
    const bool right = xir_node_is(at, "direction", "RIGHT");
    return formula_gives(at, right ? "Floor(x / Pow(like(2), y))" : "x * Pow(like(2), y)", NULL);
}

/* ---- logic: numbers are true where they are not 0, and truth is 1 ------------------------------------------------ */

FORMULA(nnb_logic, "like(Row(x != 0, y != 0))")

FORMULA(nnb_logic_scalar, "like(Row(x != 0, val:0))")

FORMULA(nnb_compare, "like(Row(x, y))")

FORMULA(nnb_compare_scalar, "like(Row(x, val:1))")

FORMULA(nnb_logical_not, "like(Not(x != 0))")

FORMULA(nnb_is_nan, "like(x != x)")

FORMULA(nnb_is_inf, "like(Abs(x) == inf)")

FORMULA(nnb_reset_nan, "x != x ? val:0 : x")

FORMULA(nnb_reset_inf, "Abs(x) == inf ? val:0 : x")

FORMULA(nnb_bool_fill, "y != 0 ? value:0 : x")

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

FORMULA(nnb_dequantize_linear, "(x - z) * y")

/* ---- losses ----------------------------------------------------------------------------------------------------- */

/* log(1 + e^x) - x y */
FORMULA(nnb_sigmoid_cross_entropy, "s = LogSigmoid(-x); Add(s, x * y, alpha=-1, beta=-1)")

FORMULA(nnb_binary_cross_entropy,
        "p = y * Log(x); q = Log(x * -1 + 1); q = (y * -1 + 1) * q; Add(p, q, alpha=-1, beta=-1)")

/* -log(p) of the class that the target names, p = softmax(x) or x. */
bool nnb_softmax_cross_entropy(xir_node *at) {
    const one_axis a = one_axis_of(at, "argument/axis", 0);
    xir_value *x = a.x, *t = xir_node_input(at, 1);
    if (x && t && v_rank(t) != v_rank(x))
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the target: expected %zu dims, found %zu", v_rank(x),
                                v_rank(t));
    const bool soft = at->cls->row->cls[0] == 'L';   /* LogSoftmax */
    xir_value *logs = soft ? xir_node_make(at, "LogSoftmax", INS(x), SETS(AXIS("axis", a)))
                           : xir_node_unary(at, "Log", x);
    xir_value *own = xir_node_make(at, "GatherElements", INS(logs, nnb_index(at, t)), SETS(AXIS("axis", a)));
    return xir_node_result(at, 0, xir_node_unary(at, "Neg", own));
}

FORMULA(nnb_squared_error, "e = x - y; e * e")

FORMULA(nnb_absolute_error, "Abs(x - y)")

/* e^2 where |e| < delta, else delta (2 |e| - delta): with m = min(|e|, delta), m (2 |e| - m). */
FORMULA(nnb_huber_loss, "e = Abs(x - y); m = ClampScalar(e, max=delta:1); m * Add(e, m, alpha=2, beta=-1)")

bool nnb_epsilon_loss(xir_node *at) {
    const bool exact = xir_node_real(at, "epsilon", 0) == 0;
    return formula_gives(at, exact ? "ReLU(Abs(x - y))" : "ReLU(Abs(x - y) - epsilon:0)", NULL);
}

/* The sum over all dims from base_axis on. */
bool nnb_kl_multinomial(xir_node *at) {
    xir_value *p = xir_node_input(at, 0), *q = xir_node_input(at, 1);
    size_t base;
    if (xir_node_failed(at) || !nnb_base(at, p, &base)) return false;
    const xir_ints axes = xir_node_series(at, (int64_t)base, v_rank(p) - base);
    xir_value *y = make_formula(at, "x * Log(x / y)", INS(p, q), NULL);
    return xir_node_result(at, 0, xir_node_reduced(at, "Sum", y, &axes, false));
}

/* 1 where one of both is at least 0.5 and the other is not. */
FORMULA(nnb_binary_error, "h = like(0.5); like(Xor(x >= h, y >= h))")
