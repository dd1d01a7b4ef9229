/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that compute each element by itself. */
#include <math.h>
#include <string.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "pnnx/pnnx.h"
#include "spec/one_axis.h"

/* ---- activations ------------------------------------------------------------------------------------------------ */

FORMULA(pnnx_threshold, "x > threshold:0 ? x : value:0")

bool pnnx_rrelu(xir_node *at) {
    if (xir_node_bool(at, "training", false)) return xir_node_unsupported(at, "training");
    const double slope = (xir_node_real(at, "lower", 1.0 / 8) + xir_node_real(at, "upper", 1.0 / 3)) / 2;
    return xir_node_becomes(at, "ReLU", INS(xir_node_input(at, 0)), SETS(REAL("alpha", slope)));
}

/* A negative alpha turns the parts around: max(0, x) + min(0, alpha (e^(x / alpha) - 1)). */
bool pnnx_celu(xir_node *at) {
    const double alpha = xir_node_real(at, "alpha", 1);
    if (!(alpha > 0)) return xir_node_unsupported(at, "alpha is %g", alpha);
    return formula_gives(at, "ELU(x / a) * a", NUMBERS(alpha));
}

FORMULA(pnnx_selu, "ELU(x, alpha=1.6732632423543772) * 1.0507009873554805")

bool pnnx_gelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_one_of(at, "approximate", "none", "none|tanh")) return false;
    const bool tanh = xir_node_is(at, "approximate", "tanh");
    return xir_node_result(at, 0, tanh ? make_tanh_gelu(at, x) : xir_node_unary(at, "GELU", x));
}

/* a * sigmoid(b), the halves of a dim. */
bool pnnx_glu(xir_node *at) {
    const one_axis a = known_axis_of(at, "attribute/dim", -1);
    const int64_t half = a.n / 2;
    if (a.x && 2 * half != a.n) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "dim %lld: expected an even number of elements, found %lld",
                                (long long)a.axis, (long long)a.n);
    }
    xir_value *first = make_part(at, a.x, a.axis, 0, half, 1), *rest = make_part(at, a.x, a.axis, half, INT64_MAX, 1);
    return xir_node_result(at, 0, xir_node_product(at, first, xir_node_unary(at, "Sigmoid", rest)));
}

/* Without a dim PyTorch takes dim 0 of tensors with 0, 1 or 3 dims, else dim 1. */
bool pnnx_soft(xir_node *at) {
    const xir_str type = xir_node_type(at);
    const bool map = xir_str_equal(type, XIR_STR("nn.Softmax2d"));
    const bool least = xir_str_equal(type, XIR_STR("nn.Softmin")) || xir_str_equal(type, XIR_STR("F.softmin"));
    xir_value *x = xir_node_input(at, 0);
    int64_t axis;
    x = pnnx_cast_first(at, least ? xir_node_unary(at, "Neg", x) : x);
    if (!pnnx_is_none(at, "dtype") && !v_is_real(x)) return xir_node_unsupported(at, "a dtype of integers");
    const size_t rank = v_rank(x);
    const int64_t otherwise = map ? -3 : rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
    if (!node_axis(at, "dim", otherwise, rank, &axis)) return false;
    const char *cls = least || map ? "Softmax" : at->cls->row->cls;
    return xir_node_result(at, 0, pnnx_softmax(at, cls, x, axis));
}

/* One slope per channel, or one for all. */
bool pnnx_prelu(xir_node *at) {
    return xir_node_result(at, 0, make_prelu(at, xir_node_input(at, 0), xir_node_input(at, 1), true));
}

/* ---- two operands ----------------------------------------------------------------------------------------------- */

/* The other operand: an input, or a number. A real next to integers makes both real. */
static xir_value *other_side(xir_node *at, size_t i, const char *name, const xir_value *x) {
    if (xir_node_has(at, i)) return xir_node_input(at, i);
    const xir_any *a = xir_node_attr(at, name);
    if (!x || !a) return xir_node_unsupported(at, "%s is missing", name), NULL;
    const bool real = a->kind == XIR_ANY_REAL && xir_type_kind_of(v_element(x)) != XIR_TYPE_FLOAT;
    const bool whole = a->kind == XIR_ANY_INT && xir_type_kind_of(v_element(x)) == XIR_TYPE_BOOL;
    xir_context *ctx = xir_node_context(at);
    return xir_node_scalar(at, real ? xir_type_float(ctx, XIR_FLOAT_FP32) : whole ? xir_type_sint(ctx, 64)
                           : v_element(x), xir_node_real(at, name, 0));
}

bool pnnx_compare(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = other_side(at, 1, "other", x);
    if (!pnnx_promote(at, &x, &y)) return false;
    return xir_node_becomes(at, at->cls->row->cls, INS(x, y), NO_SETS);
}

bool pnnx_logic(xir_node *at) {
    xir_value *x = make_truth(at, xir_node_input(at, 0)),
              *y = at->n_in > 1 ? make_truth(at, xir_node_input(at, 1)) : NULL;
    return xir_node_becomes(at, at->cls->row->cls, at->n_in > 1 ? INS(x, y) : INS(x), NO_SETS);
}

bool pnnx_bits(xir_node *at) {
    const pnnx_bit_function f = (pnnx_bit_function)xir_node_variant(at);
    xir_value *x = xir_node_input(at, 0);
    if (f == PNNX_NOT) {
        if (xir_type_kind_of(v_element(x)) == XIR_TYPE_BOOL) return xir_node_becomes(at, "Not", INS(x), NO_SETS);
        return formula_gives(at, "-x - 1", NULL);   /* two's complement */
    }
    xir_value *y = other_side(at, 1, "other", x);
    if (!pnnx_promote(at, &x, &y)) return false;
    const char *shift = f == PNNX_LEFT ? "x * Pow(like(2), y)" : f == PNNX_RIGHT
        ? "Div(x, Pow(like(2), y), rounding_mode='FLOOR')" : NULL;
    return xir_node_result(at, 0, shift ? make_formula(at, shift, INS(x, y), NULL) : pnnx_make_bits(at, f, x, y));
}

bool pnnx_clamp(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_has(at, 1) || xir_node_has(at, 2)) {
        if (xir_node_has(at, 1)) x = xir_node_make(at, "Maximum", INS(x, xir_node_input(at, 1)), NO_SETS);
        if (xir_node_has(at, 2)) x = xir_node_make(at, "Minimum", INS(x, xir_node_input(at, 2)), NO_SETS);
    }
    const double least = xir_node_real(at, "min", -INFINITY), greatest = xir_node_real(at, "max", INFINITY);
    if (least == -INFINITY && greatest == INFINITY) return xir_node_result(at, 0, x);
    return xir_node_becomes(at, "ClampScalar", INS(x), SETS(REAL("min", least), REAL("max", greatest)));
}

/* log(x / (1 - x)), of x within eps of 0 and 1. */
bool pnnx_logit(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!v_is_real(x)) x = xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP32));
    const double eps = xir_node_real(at, "eps", 0);
    if (!pnnx_is_none(at, "eps"))
        x = xir_node_make(at, "ClampScalar", INS(x), SETS(REAL("min", eps), REAL("max", 1 - eps)));
    return xir_node_result(at, 0, make_formula(at, "Log(x / (x * -1 + 1))", INS(x), NULL));
}

bool pnnx_to(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *to = xir_node_has(at, 1) ? NULL
                                             : pnnx_element(xir_node_context(at), xir_node_text(at, "dtype", ""));
    if (xir_node_has(at, 1)) {
        const xir_value *like = xir_node_input(at, 1);
        if (!like) return false;
        to = v_element(like);
    }
    if (!to) return xir_node_unsupported(at, "elements that XIR does not have");
    return xir_node_result(at, 0, xir_node_cast(at, x, to));
}

/* A value given as a number or an input, in the elements of x. */
static xir_value *filler(xir_node *at, size_t i, const char *name, const xir_value *x) {
    if (xir_node_has(at, i)) return xir_node_cast(at, xir_node_input(at, i), v_element(x));
    return xir_node_scalar(at, v_element(x), xir_node_real(at, name, 0));
}

/* Every element becomes the value. */
bool pnnx_fill(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *v = filler(at, 1, "value", x);
    xir_value *never = xir_node_scalar(at, xir_type_bool(xir_node_context(at)), 0);
    return xir_node_becomes(at, "Where", INS(x, v, never), NO_SETS);
}

bool pnnx_masked_fill(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *mask = xir_node_input(at, 1);
    return xir_node_becomes(at, "Where", INS(filler(at, 2, "value", x), x, mask), NO_SETS);
}

bool pnnx_where(xir_node *at) {
    xir_value *condition = xir_node_input(at, 0), *x = xir_node_optional_input(at, 1),
              *y = xir_node_optional_input(at, 2);
    if (!x) x = other_side(at, 1, "input", y);
    if (!y) y = other_side(at, 2, "other", x);
    if (!pnnx_promote(at, &x, &y)) return false;
    return xir_node_becomes(at, "Where", INS(x, y, condition), NO_SETS);
}

/* a[1] b[2] - a[2] b[1], and so on around a dim of 3. */
bool pnnx_cross(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1);
    if (!pnnx_promote(at, &a, &b) || !xir_node_need_dims(at, a, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(a);
    size_t first = 0;
    while (first < rank && v_dim(a, first) != 3) first++;
    int64_t axis = (int64_t)first;
    if (!pnnx_is_none(at, "dim") && !node_axis(at, "dim", -1, rank, &axis)) return false;
    if (axis >= (int64_t)rank || v_dim(a, (size_t)axis) != 3) return xir_node_unsupported(at, "no dim of 3 elements");
    const xir_ints next = { (int64_t[]){ 1, 2, 0 }, 3 }, after = { (int64_t[]){ 2, 0, 1 }, 3 };
    const size_t k = (size_t)axis;
    xir_value *plus = xir_node_product(at, make_taken(at, a, k, &next), make_taken(at, b, k, &after));
    xir_value *minus = xir_node_product(at, make_taken(at, a, k, &after), make_taken(at, b, k, &next));
    return xir_node_result(at, 0, xir_node_sum(at, plus, minus, 1, -1));
}
