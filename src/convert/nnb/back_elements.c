/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that compute each element by itself. Functions of two operands take tensors with the same
 * number of dims, at least one: NNabla's C runtime computes no others. Truth is 1 and 0, and integers are floats, so a
 * Cast from them changes nothing. The runtime has no comparisons: for finite numbers the sign of a difference says the
 * same. */
#include <math.h>
#include "formula/text.h"
#include "nnb/nnb.h"
#include "spec/maps.h"

/* ---- calls ------------------------------------------------------------------------------------------------------ */

bool nnb_calls(xir_node *at, const char *key, xir_values inputs, xir_sets sets) {
    return foreign_gives(at, xir_node_make_foreign(at, key, inputs, sets, NULL, 0));
}

static bool calls_on(xir_node *at, const char *key, xir_value *x) {
    return x && nnb_calls(at, key, INS(x), NO_SETS);
}

/* A function of x and a number. `later`: the api level since which it has the argument inplace; 0: it has none. */
static bool calls_with(xir_node *at, const char *key, xir_value *x, const char *name, double v, int64_t later) {
    const xir_set sets[] = { REAL(name, v), XIR_SETB("inplace", false) };
    return x && nnb_calls(at, key, INS(x), (xir_sets){ sets, later && nnb_level(at) >= later ? 2 : 1 });
}
static bool scalar(xir_node *at, const char *key, xir_value *x, double v) {
    return calls_with(at, key, x, "val", v, 21);
}

/* x with dims of 1 in front. */
static xir_value *raised(xir_node *at, xir_value *x, size_t rank) {
    return x && v_rank(x) < rank ? make_widened(at, x, rank, rank - v_rank(x)) : x;
}

/* Makes a function of two operands, whose dims it aligns, and gives its result to the node. */
static bool calls_pairwise(xir_node *at, const char *key, xir_value *x, xir_value *y, xir_sets sets) {
    const xir_value *old = xir_op_output(at->op, 0);
    if (xir_node_failed(at) || !x || !y) return false;
    const size_t rank = v_rank(x) > v_rank(y) ? v_rank(x) : v_rank(y), least = rank ? rank : 1;
    const xir_ints one = { (int64_t[]){ 1 }, 1 }, none = { (int64_t[]){ 0 }, 0 };
    const xir_type *type = rank ? xir_value_type(old) : node_type(at, v_element(old), NULL, &one);
    if (!type) return node_no_memory(at);
    x = raised(at, x, least), y = raised(at, y, least);
    xir_op *op = xir_node_make_foreign(at, key, INS(x, y), sets, &type, 1);
    at->main = op;
    return xir_node_result(at, 0, rank ? xir_op_output(op, 0) : make_reshaped(at, xir_op_output(op, 0), &none));
}

static bool pairwise(xir_node *at, const char *key, xir_value *x, xir_value *y, int64_t later) {
    const xir_set inplace = XIR_SETB("inplace", false);
    return calls_pairwise(at, key, x, y, (xir_sets){ &inplace, later && nnb_level(at) >= later ? 1 : 0 });
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

bool nnb_back_add(xir_node *at) {
    double a, b, c;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!node_factors(at, &a, &b) || !x || !y) return false;
    if (a == 1 && node_is_number(at, 1, &c)) return scalar(at, "nnb::AddScalar", x, b * c);
    if (b == 1 && node_is_number(at, 0, &c)) return scalar(at, "nnb::AddScalar", y, a * c);
    if (b == -1 && node_is_number(at, 0, &c)) return calls_with(at, "nnb::RSubScalar", y, "val", a * c, 0);
    if (a == 1 && b == 1) return pairwise(at, "nnb::Add2", x, y, 1);
    if (a == 1 && b == -1) return pairwise(at, "nnb::Sub2", x, y, 21);
    if (a == -1 && b == 1) return pairwise(at, "nnb::Sub2", y, x, 21);
    return xir_node_unsupported(at, "factors of the operands");
}

/* A function with a number in the place of either operand, or of two operands. `first`: that of a number and x; NULL:
 * the same. `later` is of those with the number second, and of two. */
static bool either(xir_node *at, const char *second, const char *first, const char *both, int64_t later) {
    double c;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (node_is_number(at, 1, &c)) return calls_with(at, second, x, "val", c, later);
    if (node_is_number(at, 0, &c)) return calls_with(at, first ? first : second, y, "val", c, first ? 0 : later);
    return pairwise(at, both, x, y, later);
}

bool nnb_back_multiply(xir_node *at) { return either(at, "nnb::MulScalar", NULL, "nnb::Mul2", 21); }

/* A quotient by a power of two is a product. */
static bool has_inverse(double c) {
    int exponent;
    return isfinite(c) && fabs(frexp(c, &exponent)) == 0.5 && exponent > -120 && exponent < 120;
}

static bool unrounded(xir_node *at) {
    return xir_node_is(at, "rounding_mode", "NONE") || xir_node_unsupported(at, "rounded quotients");
}

bool nnb_back_div(xir_node *at) {
    double c;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!x || !y || !unrounded(at)) return false;
    if (node_is_number(at, 1, &c) && has_inverse(c)) return scalar(at, "nnb::MulScalar", x, 1 / c);
    if (node_is_number(at, 0, &c)) return calls_with(at, "nnb::RDivScalar", y, "val", c, 0);
    return pairwise(at, "nnb::Div2", x, y, 21);
}

static bool divide_scalar(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double c = xir_node_real(at, "divisor", 1);
    if (!x || !unrounded(at)) return false;
    if (has_inverse(c)) return scalar(at, "nnb::MulScalar", x, 1 / c);
    return pairwise(at, "nnb::Div2", x, xir_node_scalar(at, v_element(x), c), 21);
}

bool nnb_back_pow(xir_node *at) { return either(at, "nnb::PowScalar", "nnb::RPowScalar", "nnb::Pow2", 21); }

bool nnb_back_extreme2(xir_node *at) {
    const bool most = xir_op_is(at->op, xir_maximum_class());
    return either(at, most ? "nnb::MaximumScalar" : "nnb::MinimumScalar", NULL, at->to->row->name, 0);
}

bool nnb_back_mod(xir_node *at) {
    const xir_set fmod = XIR_SETB("fmod", true);
    if (!xir_node_bool(at, "fmod", false)) return xir_node_unsupported(at, "remainders of integers");
    return calls_pairwise(at, "nnb::Mod2", xir_node_input(at, 0), xir_node_input(at, 1), (xir_sets){ &fmod, 1 });
}

/* Neg, and DivideScalar. */
bool nnb_back_neg(xir_node *at) {
    if (xir_op_is(at->op, xir_divide_scalar_class())) return divide_scalar(at);
    return scalar(at, "nnb::MulScalar", xir_node_input(at, 0), -1);
}

bool nnb_back_sqrt(xir_node *at) { return scalar(at, "nnb::PowScalar", xir_node_input(at, 0), 0.5); }

bool nnb_back_reciprocal(xir_node *at) {
    return calls_with(at, "nnb::RDivScalar", xir_node_input(at, 0), "val", 1, 0);
}

/* 0 at 0. */
bool nnb_back_sign(xir_node *at) { return calls_with(at, "nnb::Sign", xir_node_input(at, 0), "alpha", 0, 0); }

/* ---- activations ------------------------------------------------------------------------------------------------ */

bool nnb_back_relu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double slope = xir_node_real(at, "alpha", 0), most = xir_node_real(at, "max_value", INFINITY);
    const xir_set inplace = XIR_SETB("inplace", false);
    if (xir_node_real(at, "threshold", 0) != 0) return xir_node_unsupported(at, "a threshold");
    if (most == INFINITY && slope == 0) return nnb_calls(at, "nnb::ReLU", INS(x), (xir_sets){ &inplace, 1 });
    if (most == INFINITY) return calls_with(at, "nnb::LeakyReLU", x, "alpha", slope, 2);
    if (most == 6 && slope == 0 && !nnb_for_runtime(at)) return calls_on(at, "nnb::ReLU6", x);
    return xir_node_unsupported(at, "a greatest value");
}

bool nnb_back_clamp(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const bool hard = xir_op_is(at->op, xir_hardtanh_class());
    const double least = xir_node_real(at, hard ? "min_val" : "min", -INFINITY),
                 most = xir_node_real(at, hard ? "max_val" : "max", INFINITY);
    if (v_is_integer(x) && (least != trunc(least) || most != trunc(most)))
        return xir_node_unsupported(at, "bounds between integers");
    if (hard && least == -1 && most == 1 && !nnb_for_runtime(at)) return calls_on(at, "nnb::HardTanh", x);
    if (isinf(most) && most > 0) return calls_with(at, "nnb::MaximumScalar", x, "val", least, 0);
    if (isinf(least) && least < 0) return calls_with(at, "nnb::MinimumScalar", x, "val", most, 0);
    x = xir_node_make(at, "ClampScalar", INS(x), SETS(REAL("min", least)));
    return calls_with(at, "nnb::MinimumScalar", x, "val", most, 0);
}

/* Slopes of channels, which are dim 1 there. */
bool nnb_back_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_any *alpha = xir_node_attr(at, "alpha");
    if (!x || !alpha || alpha->kind != XIR_ANY_PARAMS) return x && xir_node_unsupported(at, "it has no slopes");
    xir_value *slope = make_shaped(at, alpha->as.params, (int64_t[]){ -1 }, 1);
    if (v_dim(slope, 0) != 1 && v_rank(x) != 2) {
        at->order = map_order(v_rank(x));
        if (!at->order.size) return xir_node_unsupported(at, "slopes of channels of %zu dims", v_rank(x));
        x = node_in_order(at, x, at->order);
    }
    return row_becomes(at, INS(x, slope), SETS(INT("base_axis", v_rank(x) > 1)));
}

/* ---- rounding --------------------------------------------------------------------------------------------------- */

static xir_value *call(xir_node *at, const char *key, xir_value *x) {
    return x ? foreign_value(at, key, INS(x), NO_SETS, xir_value_type(x)) : NULL;
}

static xir_value *minus(xir_node *at, xir_value *x, xir_value *y) { return xir_node_sum(at, x, y, 1, -1); }

/* From 2^24 on all numbers are even integers: what is beyond, and infinite, is that number for what follows. */
#define BOUNDED(v) "ClampScalar(" v ", min=-16777216, max=16777216)"

/* The runtime has only Round, halves away from 0: the result is 1 too much if it is above x, or too little below. */
bool nnb_back_whole(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const bool up = xir_op_is(at->op, xir_ceil_class());
    if (!nnb_for_runtime(at)) return calls_on(at, up ? "nnb::Ceil" : "nnb::Floor", x);
    const char *text = up ? "n = " BOUNDED("y") "; y + ReLU(Sign(" BOUNDED("x") " - n))"
                          : "n = " BOUNDED("y") "; y - ReLU(Sign(n - " BOUNDED("x") "))";
    return xir_node_result(at, 0, make_formula(at, text, INS(x, call(at, "nnb::Round", x)), NULL));
}

/* Halves to even: where x is in the middle and Round gives an odd number, that number is one too far from 0. t is 1 if
 * what Round adds or takes away is a half, which is the most, else 0. */
bool nnb_back_round(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *near = call(at, "nnb::Round", x);
    xir_value *whole = make_formula(at, BOUNDED("x"), INS(near), NULL);
    xir_value *half = call(at, "nnb::Round", xir_node_scaled(at, whole, 0.5));
    return xir_node_result(at, 0, make_formula(at, "o = Abs(z - w * 2); f = Abs(z - " BOUNDED("x") "); "
        "t = Sign(ReLU(f - like(a))) * o; y - Sign(x) * t", INS(x, near, whole, half), NUMBERS(nextafterf(0.5F, 0))));
}

/* ---- truth and whole numbers ------------------------------------------------------------------------------------ */

static bool is_fixed(const xir_value *v) { return nnb_fraction_of(v_element(v)) >= 0; }

/* Returns true if every number of the first type is one of the second: booleans are 0 and 1. */
static bool holds_all(const xir_value *from, const xir_value *to) {
    const xir_integer_type *a = xir_integer_type_of(xir_type_object(v_element(from))),
                           *b = xir_integer_type_of(xir_type_object(v_element(to)));
    if (v_is_bool(from) || v_is_real(to)) return true;
    if (!a || !b || (a->sign && !b->sign)) return false;
    const uint64_t bits = xir_type_storage_bits(v_element(from)), room = xir_type_storage_bits(v_element(to));
    return a->sign == b->sign ? bits <= room : bits < room;
}

/* Reals become whole numbers without their fractions, in the range of the type. */
static bool cast(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *old = xir_op_output(at->op, 0);
    if (!x) return false;
    if (!node_casts_in_place(at, x, old)) return false;
    if (is_fixed(old) || (is_fixed(x) && v_is_real(old))) return calls_on(at, "nnb::Identity", x);
    if (is_fixed(x)) x = xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP32));
    if (v_is_real(x) && v_is_real(old) && !xir_type_equal(v_element(x), v_element(old)))
        return xir_node_unsupported(at, "a cast between reals");
    if (v_is_bool(old) && !v_is_bool(x))
        return xir_node_becomes(at, "NotEqual", INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
    if (v_is_real(x) && !v_is_real(old)) {
        const xir_integer_type *whole = xir_integer_type_of(xir_type_object(v_element(old)));
        const int bits = (int)xir_type_storage_bits(v_element(old));
        if (!whole) return xir_node_unsupported(at, "elements that NNabla does not have");
        const double most = ldexp(1, bits - whole->sign) - 1, least = whole->sign ? -most - 1 : 0;
        x = xir_node_make(at, "ClampScalar", INS(x), SETS(REAL("min", least), REAL("max", most)));
        xir_value *size = xir_node_unary(at, "Floor", xir_node_unary(at, "Abs", x));
        x = xir_node_product(at, xir_node_unary(at, "Sign", x), size);
    } else if (!v_is_real(x) && !holds_all(x, old)) {
        return xir_node_unsupported(at, "a cast to a type that does not have all numbers");
    }
    return calls_on(at, "nnb::Identity", x);
}

bool nnb_back_copy(xir_node *at) {
    return xir_op_is(at->op, xir_cast_class()) ? cast(at) : calls_on(at, "nnb::Identity", xir_node_input(at, 0));
}

/* x as reals. */
static xir_value *as_reals(xir_node *at, xir_value *x) {
    const xir_type *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    if (!real) return node_no_memory(at), NULL;
    return x ? xir_node_cast(at, x, real) : NULL;
}

bool nnb_back_compare(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!nnb_for_runtime(at)) return pairwise(at, at->to->row->name, x, y, 0);
    x = as_reals(at, x), y = as_reals(at, y);
    const bool or_equal = xir_op_is(at->op, xir_less_equal_class()) || xir_op_is(at->op, xir_greater_equal_class()),
               less = xir_op_is(at->op, xir_less_class()) || xir_op_is(at->op, xir_less_equal_class());
    xir_value *sign = xir_node_unary(at, "Sign", less ? minus(at, y, x) : minus(at, x, y));
    if (xir_op_is(at->op, xir_not_equal_class())) return calls_on(at, "nnb::Abs", sign);
    if (xir_op_is(at->op, xir_equal_class()))
        return calls_with(at, "nnb::RSubScalar", xir_node_unary(at, "Abs", sign), "val", 1, 0);
    if (!or_equal) return calls_with(at, "nnb::MaximumScalar", sign, "val", 0, 0);
    return scalar(at, "nnb::AddScalar", xir_node_make(at, "ClampScalar", INS(sign), SETS(REAL("max", 0))), 1);
}

bool nnb_back_logic(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!v_is_bool(x)) return xir_node_unsupported(at, "bits of integers");
    if (!nnb_for_runtime(at)) return pairwise(at, at->to->row->name, x, y, 0);
    if (xir_op_is(at->op, xir_logical_and_class())) return pairwise(at, "nnb::Mul2", x, y, 21);
    if (xir_op_is(at->op, xir_logical_or_class())) return pairwise(at, "nnb::Maximum2", x, y, 0);
    return calls_on(at, "nnb::Abs", minus(at, as_reals(at, x), as_reals(at, y)));
}

bool nnb_back_not(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!v_is_bool(x)) return xir_node_unsupported(at, "bits of integers");
    if (!nnb_for_runtime(at)) return calls_on(at, "nnb::LogicalNot", x);
    return calls_with(at, "nnb::RSubScalar", x, "val", 1, 0);
}

/* Returns true if input i is a constant with an element that is not finite. */
static bool is_wild(xir_node *at, size_t i) {
    const double *v;
    size_t n;
    if (!xir_node_is_constant(at, i) || !xir_node_reals(at, i, &v, &n)) return false;
    for (size_t k = 0; k < n; k++) if (!isfinite(v[k])) return true;
    return false;
}

/* yes * c + no * (1 - c) for the runtime; otherwise all three in the same dims. */
bool nnb_back_where(xir_node *at) {
    xir_value *yes = xir_node_input(at, 0), *no = xir_node_input(at, 1), *c = xir_node_input(at, 2);
    const xir_value *old = xir_op_output(at->op, 0);
    if (!nnb_for_runtime(at)) {
        const xir_ints dims = xir_node_dims(at, old);
        if (xir_node_failed(at) || !xir_node_need_dims(at, old, 0, SIZE_MAX)) return false;
        xir_value *all[3] = { c, yes, no };
        for (size_t i = 0; i < 3; i++)
            if (all[i] && !v_same_dims(all[i], old))
                all[i] = xir_node_make(at, "Expand", INS(all[i]), SETS(LIST("sizes", &dims)));
        return nnb_calls(at, "nnb::Where", INS(all[0], all[1], all[2]), NO_SETS);
    }
    if (!v_is_real(old)) return xir_node_unsupported(at, "a choice between integers");
    if (is_wild(at, 0) || is_wild(at, 1)) return xir_node_unsupported(at, "a choice of an infinite number");
    c = as_reals(at, c);
    xir_value *other = c ? xir_node_sum(at, xir_node_scalar(at, v_element(c), 1), c, 1, -1) : NULL;
    yes = xir_node_product(at, c, yes), no = xir_node_product(at, other, no);
    return xir_node_result(at, 0, xir_node_sum(at, yes, no, 1, 1));
}
