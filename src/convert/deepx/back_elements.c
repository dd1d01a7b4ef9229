/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of functions of each element. Calls take tensors of one shape: others are broadcast before. The
 * executor gives -A for rsubscalar, and crashes in minscalar and powscalar: other calls say the same. Bools have no
 * functions but `invert`, comparisons and `switch`. */
#include <math.h>
#include <string.h>
#include "deepx/deepx.h"
#include "formula/text.h"

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static bool pair(xir_node *at, const char *key, const char *form, xir_value *x, xir_value *y) {
    static const char *const exactly[] = { "0" };   /* the epsilon of comparisons */
    x = deepx_spread(at, x, deepx_result(at)), y = deepx_spread(at, y, deepx_result(at));
    xir_value *v = deepx_call(at, key, form, INS(x, y), exactly, deepx_result(at));
    return v && xir_node_result(at, 0, v);
}

static bool by_number(xir_node *at, const char *key, xir_value *x, double v) {
    const char *texts[] = { deepx_digits(at, v), "0" };
    xir_value *y = deepx_call(at, key, strstr(key, "equal") ? "Tnf" : "Tn", INS(x), texts, deepx_result(at));
    return y && xir_node_result(at, 0, y);
}

static bool number_first(xir_node *at, const char *key, const char *form, double v, xir_value *x) {
    const char *texts[] = { deepx_digits(at, v) };
    xir_value *y = deepx_call(at, key, form, INS(x), texts, deepx_result(at));
    return y && xir_node_result(at, 0, y);
}

bool deepx_back_unary(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (x && !v_is_real(x)) return xir_node_unsupported(at, "a function of integers");
    return deepx_gives(at, "T", INS(x), NULL);
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

bool deepx_back_add(xir_node *at) {
    double a, b, c;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!node_factors(at, &a, &b) || !x || !y) return false;
    if (fabs(a) != 1 || fabs(b) != 1 || a + b == -2) return xir_node_unsupported(at, "factors of the operands");
    if (a == 1 && deepx_is_number(at, 1, &c))
        return by_number(at, b == 1 ? "deepx::addscalar" : "deepx::subscalar", x, c);
    if (b == 1 && deepx_is_number(at, 0, &c))
        return by_number(at, a == 1 ? "deepx::addscalar" : "deepx::subscalar", y, c);
    if (a == b) return pair(at, "deepx::add", "TT", x, y);
    return a == 1 ? pair(at, "deepx::sub", "TT", x, y) : pair(at, "deepx::sub", "TT", y, x);
}

/* A function with a number in the place of either operand, or of two tensors. */
static bool either(xir_node *at, const char *second, const char *first, const char *both, const char *form) {
    double c;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (deepx_is_number(at, 1, &c)) return by_number(at, second, x, c);
    if (deepx_is_number(at, 0, &c)) return by_number(at, first, y, c);
    return pair(at, both, form, x, y);
}

bool deepx_back_multiply(xir_node *at) {
    if (node_is_class(at, "Neg")) return by_number(at, "deepx::mulscalar", xir_node_input(at, 0), -1);
    return either(at, "deepx::mulscalar", "deepx::mulscalar", "deepx::mul", "TT");
}

/* x - trunc(x / y) y, of integers; with the sign of y one y more where both signs differ. */
static xir_value *remainder_of(xir_node *at, xir_value *x, xir_value *y, bool down) {
    xir_value *rest = make_formula(at, "x - Div(x, y, rounding_mode='TRUNC') * y", INS(x, y), NULL);
    if (!down || !rest) return rest;
    return make_formula(at, "o = x != 0; n = like(0); m = And(o, Xor(x < n, y < n)); x + like(m) * y", INS(rest, y),
                        NULL);
}

static bool divide(xir_node *at, xir_value *x, xir_value *y, bool number, double c, bool first) {
    const bool whole = v_is_integer(x), down = xir_node_is(at, "rounding_mode", "FLOOR"),
               cut = xir_node_is(at, "rounding_mode", "TRUNC");
    if (whole && down) {
        xir_value *rest = remainder_of(at, x, y, true);
        return xir_node_result(at, 0, make_formula(at, "Div(x - z, y, rounding_mode='TRUNC')", INS(x, y, rest), NULL));
    }
    if (!whole && (down || cut)) {
        xir_value *q = xir_node_quotient(at, x, y);
        return xir_node_result(at, 0, down ? xir_node_unary(at, "Floor", q) : deepx_cut(at, q));
    }
    if (number) return by_number(at, "deepx::divscalar", x, c);
    if (first) return number_first(at, "deepx::rdivscalar", "nT", c, y);
    return pair(at, "deepx::div", "TT", x, y);
}

/* Div, DivideScalar, Reciprocal, Mod. */
bool deepx_back_div(xir_node *at) {
    double c = 1;
    xir_value *x = xir_node_input(at, 0);
    if (node_is_class(at, "Reciprocal")) return number_first(at, "deepx::rdivscalar", "nT", 1, x);
    if (node_is_class(at, "DivideScalar")) {
        const double by = xir_node_real(at, "divisor", 1);
        if (!element_has(v_element(x), by)) return xir_node_unsupported(at, "an integer by another kind of number");
        const bool said = deepx_holds(by) && (!v_is_integer(x) || fabs(by) <= 0x1p24);
        return divide(at, x, xir_node_scalar(at, v_element(x), by), said, by, false);
    }
    xir_value *y = xir_node_input(at, 1);
    if (node_is_class(at, "Mod")) {
        if (!v_is_integer(x)) return xir_node_unsupported(at, "a remainder of reals");
        return xir_node_result(at, 0, remainder_of(at, x, y, !xir_node_bool(at, "fmod", false)));
    }
    if (deepx_is_number(at, 1, &c)) return divide(at, x, y, true, c, false);
    const bool first = deepx_is_number(at, 0, &c);
    return divide(at, x, y, false, c, first);
}

/* The executor refuses integers. */
bool deepx_back_pow(xir_node *at) {
    double c;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    const bool number = deepx_is_number(at, 1, &c);
    if (number && c == 2) return xir_node_result(at, 0, xir_node_product(at, x, x));
    if (!v_is_real(x)) return xir_node_unsupported(at, "a power of integers");
    y = xir_node_cast(at, y, v_element(x));
    if (!number && deepx_is_number(at, 0, &c)) return number_first(at, "deepx::rpowscalar", "fT", c, y);
    return pair(at, "deepx::pow", "TT", x, y);
}

/* ---- extremes --------------------------------------------------------------------------------------------------- */

/* Maximum, Minimum. */
bool deepx_back_extreme2(xir_node *at) {
    if (node_is_class(at, "Maximum")) return either(at, "deepx::maxscalar", "deepx::maxscalar", "deepx::max", "TT");
    return pair(at, "deepx::min", "TT", xir_node_input(at, 0), xir_node_input(at, 1));
}

static xir_value *chosen(xir_node *at, xir_value *where, xir_value *x, xir_value *otherwise) {
    return xir_node_make(at, "Where", INS(x, otherwise, where), NO_SETS);
}

/* minimum(maximum(x, least), most), without bounds that are infinite. */
static xir_value *between(xir_node *at, xir_value *x, double least, double most) {
    if (!isinf(least) || least > 0)
        x = xir_node_make(at, "Maximum", INS(x, xir_node_scalar(at, v_element(x), least)), NO_SETS);
    if (!isinf(most) || most < 0)
        x = xir_node_make(at, "Minimum", INS(x, xir_node_scalar(at, v_element(x), most)), NO_SETS);
    return x;
}

/* ReLU: from the threshold on x, below a line; a greatest value comes first. */
bool deepx_back_relu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *line = x, *y;
    const double slope = xir_node_real(at, "alpha", 0), most = xir_node_real(at, "max_value", INFINITY),
                 from = xir_node_real(at, "threshold", 0);
    const bool bounded = most < INFINITY;
    if (isnan(from)) return xir_node_unsupported(at, "a threshold that is not a number");
    if (slope == 0 && from == 0 && !bounded) return by_number(at, "deepx::maxscalar", x, 0);
    if (slope == 0 && from == 0 && most > 0 && v_is_real(x)) return xir_node_result(at, 0, between(at, x, 0, most));
    if (!v_is_real(x) && (slope != 0 || from != trunc(from) || bounded))
        return xir_node_unsupported(at, "a curve of integers");
    xir_value *start = xir_node_scalar(at, v_element(x), from), *top = xir_node_scalar(at, v_element(x), most);
    if (from != 0) line = xir_node_sum(at, x, start, 1, -1);
    line = slope == 0 ? xir_node_scalar(at, v_element(x), 0) : xir_node_scaled(at, line, slope);
    y = chosen(at, xir_node_make(at, "Less", INS(x, start), NO_SETS), line, x);
    if (bounded) y = chosen(at, xir_node_make(at, "GreaterEqual", INS(x, top), NO_SETS), top, y);
    return xir_node_result(at, 0, y);
}

/* The bounds of integers lose their fractions. NaN does not bound reals. */
bool deepx_back_clamp(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    double least = xir_node_real(at, "min", -INFINITY), most = xir_node_real(at, "max", INFINITY);
    if (isnan(least)) least = v_is_integer(x) ? 0 : -INFINITY;
    if (isnan(most)) most = v_is_integer(x) ? 0 : INFINITY;
    if (v_is_integer(x)) {
        const int bits = (int)xir_type_storage_bits(v_element(x));
        const double low = -ldexp(1, bits - 1), high = ldexp(1, bits - 1);
        least = trunc(least), most = trunc(most);
        if (least <= low) least = -INFINITY;
        if (most >= high - 1) most = INFINITY;
        if (least >= high || most < low) return xir_node_unsupported(at, "bounds beyond the integers");
    }
    xir_value *y = between(at, x, least, most);
    return y == x ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : xir_node_result(at, 0, y);
}

/* ---- truth ------------------------------------------------------------------------------------------------------ */

/* Less, Greater, Equal, NotEqual. */
bool deepx_back_compare(xir_node *at) {
    static const char less[] = "deepx::lessscalar", greater[] = "deepx::greaterscalar",
                      equal[] = "deepx::equalscalar", unlike[] = "deepx::notequalscalar";
    if (node_is_class(at, "Less")) return either(at, less, greater, "deepx::less", "TT");
    if (node_is_class(at, "Greater")) return either(at, greater, less, "deepx::greater", "TT");
    if (node_is_class(at, "Equal")) return either(at, equal, equal, "deepx::equal", "TTf");
    return either(at, unlike, unlike, "deepx::notequal", "TTf");
}

/* LessEqual, GreaterEqual: of NaN neither holds. */
bool deepx_back_at_most(xir_node *at) {
    const bool less = node_is_class(at, "LessEqual");
    if (!v_is_real(xir_node_input(at, 0))) return formula_gives(at, less ? "Not(x > y)" : "Not(x < y)", NULL);
    return formula_gives(at, less ? "Or(x < y, x == y)" : "Or(x > y, x == y)", NULL);
}

/* And, Or: one chooses between both; Xor: they are unlike. */
bool deepx_back_logic(xir_node *at) {
    xir_value *x = make_truth(at, xir_node_input(at, 0)), *y = make_truth(at, xir_node_input(at, 1));
    if (node_is_class(at, "Xor")) return xir_node_becomes(at, "NotEqual", INS(x, y), NO_SETS);
    const bool both = node_is_class(at, "And");
    return xir_node_becomes(at, "Where", both ? INS(y, x, x) : INS(x, y, x), NO_SETS);
}

bool deepx_back_not(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!v_is_bool(x)) return xir_node_becomes(at, "Equal", INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
    return deepx_gives(at, "T", INS(x), NULL);
}

/* Of two tensors the first where the case is false. */
bool deepx_back_where(xir_node *at) {
    const xir_type *type = deepx_result(at);
    xir_value *x = deepx_spread(at, xir_node_input(at, 0), type), *y = deepx_spread(at, xir_node_input(at, 1), type),
              *where = deepx_spread(at, make_truth(at, xir_node_input(at, 2)), type);
    return x && y && where && deepx_gives(at, "LT", INS(y, x, where), NULL);
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

bool deepx_back_cast(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *type = deepx_result(at);
    if (!x || !node_casts_in_place(at, x, xir_op_output(at->op, 0))) return false;
    if (v_is_open(xir_op_output(at->op, 0))) return xir_node_unsupported(at, "open dims");
    if (xir_type_equal(v_element(x), xir_type_element(type))) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    return deepx_gives(at, "T", INS(x), NULL);
}

bool deepx_back_copy(xir_node *at) { return deepx_gives(at, "T", INS(xir_node_input(at, 0)), NULL); }
