/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that compute each element by itself. */
#include <math.h>
#include "formula/text.h"
#include "onnx/back.h"

/* ---- one operand ------------------------------------------------------------------------------------------------ */

/* Copy; and what rounds integers, which does not change them. */
bool onnx_back_copy(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!node_is_class(at, "Copy") && !v_is_integer(x)) return xir_node_unsupported(at, "reals that are rounded");
    return onnx_becomes(at, INS(x), NO_SETS);
}

/* A function without attributes. */
bool onnx_back_unary(xir_node *at) {
    xir_str other;
    xir_value *x = xir_node_input(at, 0);
    if (!own_is_default(at->op, 0, &other))
        return xir_node_unsupported(at, "%.*s has another value than its default", (int)other.size, other.data);
    return x && onnx_becomes(at, INS(x), NO_SETS);
}

bool onnx_back_cast(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (xir_type_is_quantized(v_element(x)) || xir_type_is_quantized(v_element(y)))
        return onnx_back_pairs(at);
    if (!node_casts_in_place(at, x, y)) return false;
    const int64_t code = onnx_code_of(at, v_element(y));
    if (code < 0) return xir_node_unsupported(at, "elements that ONNX does not have");
    return onnx_becomes(at, INS(x), SETS(INT("to", code)));
}

/* A bound that says something, as an element; NULL for one that every element keeps. */
static xir_value *bound(xir_node *at, const xir_type *element, double v, bool low) {
    if (isinf(v) && (v < 0) == low) return NULL;
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    if (!whole) return xir_node_scalar(at, element, v);
    const int bits = (int)xir_type_storage_bits(element);
    const double most = ldexp(1, bits - whole->sign) - 1, least = whole->sign ? -ldexp(1, bits - 1) : 0;
    v = trunc(v);
    if (low ? v <= least : v >= most) return NULL;
    if (v < least || v > most) return xir_node_unsupported(at, "bounds that no element keeps"), NULL;
    return xir_node_scalar(at, element, v);
}

bool onnx_back_clip(xir_node *at) {
    const bool hard = node_is_class(at, "Hardtanh");
    xir_value *x = xir_node_input(at, 0);
    const double least = xir_node_real(at, hard ? "min_val" : "min", -INFINITY),
                 most = xir_node_real(at, hard ? "max_val" : "max", INFINITY);
    if (isnan(least) || isnan(most)) return xir_node_unsupported(at, "bounds that are not numbers");
    const bool wide = xir_type_storage_bits(v_element(x)) > (v_is_real(x) ? 32 : 16);
    if (wide && onnx_target(at) < 12) {   /* ONNX Runtime has a Clip of double since version 12 */
        x = xir_node_make(at, "Maximum", INS(x, xir_node_scalar(at, v_element(x), least)), NO_SETS);
        x = x ? xir_node_make(at, "Minimum", INS(x, xir_node_scalar(at, v_element(x), most)), NO_SETS) : NULL;
        return x && xir_node_result(at, 0, x);
    }
    return onnx_becomes(at, INS(x, bound(at, v_element(x), least, true), bound(at, v_element(x), most, false)),
                        NO_SETS);
}

/* x / 2 * (1 + erf(x / sqrt(2))) before version 20. */
bool onnx_back_gelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (onnx_target(at) >= 20) return onnx_becomes(at, INS(x), NO_SETS);
    return formula_gives(at, "e = Erf(x * 0.70710678118654752440) + 1; x * 0.5 * e", NULL);
}

bool onnx_back_shrink(xir_node *at) {
    const double lambda = xir_node_real(at, "lambda", 0.5);
    return onnx_becomes(at, INS(xir_node_input(at, 0)),
                        SETS(REAL("lambd", lambda), REAL("bias", node_is_class(at, "Softshrink") ? lambda : 0)));
}

/* ONNX has a bend of 1 and no threshold, beyond which both are x, as far as elements can tell. */
bool onnx_back_softplus(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double beta = xir_node_real(at, "beta", 1), threshold = xir_node_real(at, "threshold", 20);
    if (node_is_class(at, "LogSigmoid")) return formula_gives(at, "-Softplus(-x, threshold=1e30)", NULL);
    const bool wide = xir_type_storage_bits(v_element(x)) > 32;
    const bool all = threshold >= (wide ? 37 : 17);
    if (beta == 1 && all) return onnx_becomes(at, INS(x), NO_SETS);
    if (beta == 0 || !isfinite(beta)) return xir_node_unsupported(at, "a bend of %g", beta);
    xir_value *scaled = beta == 1 ? x : xir_node_scaled(at, x, beta);
    xir_value *y = make_formula(at, beta == 1 ? "Softplus(x, threshold=1e30)" : "Softplus(x, threshold=1e30) / a",
                                INS(scaled), NUMBERS(beta));
    if (!all) y = make_formula(at, "z > a ? x : y", INS(x, y, scaled), NUMBERS(threshold));
    return xir_node_result(at, 0, y);
}

/* A slope for all, or one for each channel, in dims that broadcast with x. */
bool onnx_back_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *slope = onnx_weight(at, "alpha");
    if (!x || !slope) return false;
    const xir_ints own = xir_node_dims(at, slope);
    const xir_ints dims = node_line(at, v_rank(x), map_channels(x), product_of(&own, 0, own.n));
    /* dims of 1 before the channels say nothing */
    size_t skip = 0;
    while (skip + 1 < dims.n && dims.v[skip] == 1) skip++;
    const xir_ints rest = { dims.v + skip, dims.n - skip };
    return onnx_becomes(at, INS(x, make_reshaped(at, slope, &rest)), NO_SETS);
}

/* ---- two operands ----------------------------------------------------------------------------------------------- */

/* An operand times its factor, which may be one for each channel of the result. */
static xir_value *with_factor(xir_node *at, xir_value *x, const double *factor, size_t n) {
    const xir_value *y = xir_op_output(at->op, 0);
    if (!x || (n == 1 && *factor == 1)) return x;
    for (size_t i = 0; i < n; i++)
        if (!element_has(v_element(x), factor[i]))
            return xir_node_unsupported(at, "a factor that is not one of the integers"), NULL;
    if (n == 1) return xir_node_scaled(at, x, *factor);
    if (!v_rank(y)) return xir_node_unsupported(at, "factors of channels"), NULL;
    const xir_ints dims = node_line(at, v_rank(y), map_channels(y), (int64_t)n);
    return xir_node_product(at, x, xir_node_constant(at, v_element(x), &dims, factor, n));
}

bool onnx_back_add(xir_node *at) {
    const double *a, *b;
    size_t n, m;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!x || !y || !xir_node_real_items(at, "alpha", &a, &n) || !xir_node_real_items(at, "beta", &b, &m) || !n || !m)
        return xir_node_unsupported(at, "factors that are not numbers");
    const bool plus = n == 1 && *a == 1, minus = n == 1 && *a == -1;
    if (plus && m == 1 && *b == 1) return onnx_becomes(at, INS(x, y), NO_SETS);
    if (plus && m == 1 && *b == -1) return onnx_calls(at, "onnx::Sub", INS(x, y), NO_SETS);
    if (minus && m == 1 && *b == 1) return onnx_calls(at, "onnx::Sub", INS(y, x), NO_SETS);
    if (op_requantises(at)) return xir_node_unsupported(at, "requantisation");
    x = with_factor(at, x, a, n), y = with_factor(at, y, b, m);
    return x && y && xir_node_result(at, 0, xir_node_sum(at, x, y, 1, 1));
}

bool onnx_back_mul(xir_node *at) {
    return onnx_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

/* Quotients of integers are rounded towards 0 in ONNX, those of reals are not rounded. */
static bool floor_of_integers(xir_node *at, xir_value *x, xir_value *y) {
    return xir_node_result(at, 0, make_formula(at, "o = like(0); q = Div(x, y, rounding_mode='TRUNC'); "
        "n = Mod(x, y) != o; l = And(n, Xor(x < o, y < o)); q - like(l)", INS(x, y), NULL));
}

/* Integers by a number between integers: as reals that have them all. */
static bool by_fraction(xir_node *at, xir_value *x, double divisor) {
    const xir_type *real = xir_type_float(at->c->ctx, XIR_FLOAT_FP64);
    if (!real) return node_no_memory(at);
    if (xir_type_storage_bits(v_element(x)) > 32) return xir_node_unsupported(at, "integers by %g", divisor);
    xir_value *q = xir_node_make(at, "Div", INS(xir_node_cast(at, x, real), xir_node_scalar(at, real, divisor)),
                                 SETS(WORD("rounding_mode", xir_node_text(at, "rounding_mode", "NONE"))));
    return q && xir_node_result(at, 0, xir_node_cast(at, q, v_element(x)));
}

/* Integers of 64 bits without a sign, of which ONNX Runtime 1.20 has no Div, by a constant of powers of two. */
static bool shifts(xir_node *at, xir_value *x) {
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(v_element(x)));
    xir_ints list;
    if (!whole || whole->sign || xir_type_storage_bits(v_element(x)) != 64) return false;
    if (!xir_node_has(at, 1) || !xir_node_is_constant(at, 1) || !xir_node_ints(at, 1, &list)) return false;
    const xir_ints dims = xir_node_dims(at, xir_node_input(at, 1));
    double *exponents = node_reals(at, (int64_t)list.n);
    for (size_t i = 0; exponents && i < list.n; i++) {
        const uint64_t v = (uint64_t)list.v[i];
        if (!v || v & (v - 1)) return false;
        exponents[i] = __builtin_ctzll(v);
    }
    xir_value *by = exponents ? xir_node_constant(at, v_element(x), &dims, exponents, list.n) : NULL;
    return by && onnx_calls(at, "onnx::BitShift", INS(x, by), SETS(WORD("direction", XIR_STR("RIGHT"))));
}

bool onnx_back_div(xir_node *at) {
    const bool scalar = node_is_class(at, "DivideScalar");
    const double divisor = xir_node_real(at, "divisor", 1);
    xir_value *x = xir_node_input(at, 0), *y = NULL;
    if (scalar && !element_has(v_element(x), divisor)) return by_fraction(at, x, divisor);
    if (scalar) y = xir_node_scalar(at, v_element(x), divisor);
    else y = xir_node_input(at, 1);
    const bool down = xir_node_is(at, "rounding_mode", "FLOOR"), exact = xir_node_is(at, "rounding_mode", "NONE");
    if (!scalar && v_is_integer(x) && shifts(at, x)) return true;
    if (v_is_integer(x)) return down ? floor_of_integers(at, x, y) : onnx_becomes(at, INS(x, y), NO_SETS);
    if (exact) return onnx_becomes(at, INS(x, y), NO_SETS);
    /* with 64 bits, since a quotient that is rounded to an integer first is another one */
    const xir_type *own = v_element(x), *real = xir_type_float(at->c->ctx, XIR_FLOAT_FP64);
    if (!real) return node_no_memory(at);
    xir_value *q = xir_node_quotient(at, xir_node_cast(at, x, real), xir_node_cast(at, y, real));
    q = make_formula(at, down ? "Floor(x)" : "s = Floor(Abs(x)); Sign(x) * s", INS(q), NULL);
    return xir_node_result(at, 0, xir_node_cast(at, q, own));
}

bool onnx_back_pow(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!xir_type_equal(v_element(x), v_element(y))) {   /* as one type, where that changes no number */
        if (onnx_target(at) < 12 || !onnx_takes(at, "onnx::Pow", v_element(x)))
            return xir_node_unsupported(at, "operands of two types");
    }
    return onnx_becomes(at, INS(x, y), NO_SETS);
}

bool onnx_back_mod(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    return onnx_becomes(at, INS(x, y), SETS(INT("fmod", xir_node_bool(at, "fmod", false))));
}

/* Max and Min; and a ReLU of integers, as the maximum with 0. */
bool onnx_back_extreme2(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!node_is_class(at, "ReLU")) return onnx_becomes(at, INS(x, xir_node_input(at, 1)), NO_SETS);
    const bool plain = xir_node_real(at, "alpha", 0) == 0 && xir_node_real(at, "max_value", INFINITY) == INFINITY &&
                       xir_node_real(at, "threshold", 0) == 0;
    if (!v_is_integer(x) || !plain) return xir_node_unsupported(at, "this form of it");
    return onnx_becomes(at, INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
}

/* Equal; NotEqual; and Not of numbers, which is true where they are 0. */
bool onnx_back_equal(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (node_is_class(at, "Not"))
        return v_is_bool(x) ? xir_node_unsupported(at, "truth")
                            : onnx_becomes(at, INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
    if (node_is_class(at, "Equal")) return onnx_becomes(at, INS(x, xir_node_input(at, 1)), NO_SETS);
    return formula_gives(at, "Not(x == y)", NULL);
}

static const char *own_class(const xir_node *at) {
    static const char *const names[] = { "Greater", "GreaterEqual", "Less", "LessEqual" };
    size_t i = 0;
    while (i + 1 < COUNT(names) && !node_is_class(at, names[i])) i++;
    return names[i];
}

/* Truth is compared as numbers. */
bool onnx_back_compare(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (v_is_bool(x)) {
        const xir_type *whole = xir_type_sint(at->c->ctx, 32);
        if (!whole) return node_no_memory(at);
        x = xir_node_cast(at, x, whole), y = xir_node_cast(at, y, whole);
        return x && y && xir_node_becomes(at, own_class(at), INS(x, y), NO_SETS);
    }
    const bool or_equal = node_is_class(at, "GreaterEqual") || node_is_class(at, "LessEqual");
    if (!or_equal || onnx_target(at) >= 12) return onnx_becomes(at, INS(x, y), NO_SETS);
    return formula_gives(at, node_is_class(at, "GreaterEqual") ? "Or(x > y, x == y)" : "Or(x < y, x == y)", NULL);
}

bool onnx_back_logic(xir_node *at) {
    return onnx_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

bool onnx_back_where(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1), *condition = xir_node_input(at, 2);
    return x && y && condition && onnx_calls_on(at, at->to->row->name, 1, INS(condition, x, y), NO_SETS);
}
