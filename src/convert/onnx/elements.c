/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Op types that work element by element. */
#include <math.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "onnx/rows.h"

/* The right operand of a binary op. Before version 7 the attribute `axis` aligns its dims with those of the left
 * one. */
static xir_value *any_right_side(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    int64_t axis;
    if (at->cls->version < 7 && xir_node_attr(at, "axis") && v_rank(y)) {
        if (!node_axis(at, "axis", 0, v_rank(x), &axis)) return NULL;
        if (v_rank(x) > v_rank(y) + (size_t)axis) y = make_widened(at, y, v_rank(x) - (size_t)axis, 0);
    }
    return xir_node_broadcasts(at, 0, x, 1, y) ? y : NULL;
}

static xir_value *right_side(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = any_right_side(at);
    return xir_node_same_elements(at, 0, x, 1, y) ? y : NULL;
}

bool onnx_add(xir_node *at) {
    return xir_node_result(at, 0, xir_node_sum(at, xir_node_input(at, 0), right_side(at), 1, 1));
}
bool onnx_sub(xir_node *at) {
    return xir_node_result(at, 0, xir_node_sum(at, xir_node_input(at, 0), right_side(at), 1, -1));
}
bool onnx_mul(xir_node *at) {
    return xir_node_result(at, 0, xir_node_product(at, xir_node_input(at, 0), right_side(at)));
}
bool onnx_pow(xir_node *at) {
    return xir_node_becomes(at, "Pow", INS(xir_node_input(at, 0), any_right_side(at)), NO_SETS);
}

bool onnx_div(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = right_side(at);
    return xir_node_becomes(at, "Div", INS(x, y),
                            SETS(WORD("rounding_mode", xir_str_of(v_is_integer(x) ? "TRUNC" : "NONE"))));
}

/* Comparisons, And, Or, Xor and Mod: an op of the row's class. */
bool onnx_binary(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = right_side(at);
    const xir_set fmod[] = { INT("fmod", xir_node_int(at, "fmod", 0)) };
    const xir_sets sets = { fmod, xir_node_attr(at, "fmod") ? 1 : 0 };
    return xir_node_becomes(at, at->cls->row->cls, INS(x, y), sets);
}

/* Max, Min, Sum and Mean of any number of inputs. */
static xir_value *chain_of(xir_node *at, const char *cls) {
    xir_value *all = at->n_in == 1 ? xir_node_unary(at, "Copy", xir_node_input(at, 0)) : xir_node_input(at, 0);
    for (size_t i = 1; i < at->n_in; i++) {
        if (!xir_node_same_elements(at, 0, all, i, xir_node_input(at, i)) ||
            !xir_node_broadcasts(at, i - 1, all, i, xir_node_input(at, i))) return NULL;
        all = xir_node_make(at, cls, INS(all, xir_node_input(at, i)), NO_SETS);
    }
    return all;
}
bool onnx_max(xir_node *at)  { return xir_node_result(at, 0, chain_of(at, "Maximum")); }
bool onnx_min(xir_node *at)  { return xir_node_result(at, 0, chain_of(at, "Minimum")); }
bool onnx_sum(xir_node *at)  { return xir_node_result(at, 0, chain_of(at, "Add")); }
bool onnx_mean(xir_node *at) {
    return xir_node_becomes(at, "DivideScalar", INS(chain_of(at, "Add")), SETS(REAL("divisor", (double)at->n_in)));
}

bool onnx_where(xir_node *at) {
    xir_value *condition = xir_node_input(at, 0), *x = xir_node_input(at, 1), *y = xir_node_input(at, 2);
    if (!xir_node_same_elements(at, 1, x, 2, y) || !xir_node_broadcasts(at, 1, x, 2, y) ||
        !xir_node_broadcasts(at, 0, condition, 1, x) || !xir_node_broadcasts(at, 0, condition, 2, y)) return false;
    return xir_node_becomes(at, "Where", INS(x, y, condition), NO_SETS);
}

/* ---- one input -------------------------------------------------------------------------------------------------- */

static bool cast(xir_node *at, const xir_type *to) {
    xir_value *x = xir_node_input(at, 0);
    xir_value *y = xir_node_cast(at, x, to);
    return xir_node_result(at, 0, y == x ? xir_node_unary(at, "Copy", x) : y);
}

bool onnx_cast(xir_node *at) {
    int64_t to = xir_node_int(at, "to", 0);
    const xir_type *element = onnx_given_element(at, to);
    if (to < 1 || to > 64) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/to",
                                "to: expected an element type, such as 1 for float, found %lld", (long long)to);
    }
    return element ? cast(at, element)
           : xir_node_unsupported(at, "elements of TensorProto.DataType %lld", (long long)to);
}

bool onnx_cast_like(xir_node *at) {
    xir_value *like = xir_node_input(at, 1);
    return !xir_node_failed(at) && cast(at, v_element(like));
}

/* Attributes of XIR's ops are rounded to fp32: a bound that rounding would change becomes an operand. */
static bool is_single(double v) { return (double)(float)v == v || v != v; }

bool onnx_clip(xir_node *at) {
    double least = -INFINITY, greatest = INFINITY;
    xir_value *x = xir_node_input(at, 0);
    const bool known = (!xir_node_has(at, 1) || xir_node_is_constant(at, 1)) &&
                       (!xir_node_has(at, 2) || xir_node_is_constant(at, 2));
    if (known && (!xir_node_number(at, "min", 1, -INFINITY, &least) ||
                  !xir_node_number(at, "max", 2, INFINITY, &greatest))) return false;
    if (known && is_single(least) && is_single(greatest)) {
        return xir_node_becomes(at, "ClampScalar", INS(x), SETS(REAL("min", least), REAL("max", greatest)));
    }
    for (size_t i = 1; i < 3; i++) {
        xir_value *bound = xir_node_optional_input(at, i);
        if (!bound) continue;
        if (!xir_node_same_elements(at, 0, x, i, bound)) return false;
        if (v_rank(bound) > 1 || (v_rank(bound) == 1 && (v_dim(bound, 0) != 1 || !v_rank(x)))) {
            return xir_node_invalid(at, XIR_E_BOUNDS, i == 1 ? "input/1" : "input/2",
                                    "input %zu: expected no dims, found "
                                    "%zu", i, v_rank(bound));
        }
        x = xir_node_make(at, i == 1 ? "Maximum" : "Minimum", INS(x, bound), NO_SETS);
    }
    return xir_node_result(at, 0, x);
}

bool onnx_gelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_one_of(at, "approximate", "none", "none|tanh")) return false;
    const bool tanh = xir_node_is(at, "approximate", "tanh");
    return xir_node_result(at, 0, tanh ? make_tanh_gelu(at, x) : xir_node_unary(at, "GELU", x));
}

/* Slopes of channels have one dim less than x, [channels, 1, …]; before version 7 one dim. */
bool onnx_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *slope = xir_node_input(at, 1);
    const xir_ints dims = xir_node_dims(at, slope);
    const size_t rank = v_rank(x);
    bool channels = rank >= 2 && dims.n == rank - 1 && product_of(&dims, 1, dims.n) == 1;
    if (dims.n == 1 && at->cls->version < 7) channels = rank >= 2;
    else if (!xir_node_broadcasts(at, 0, x, 1, slope)) return false;
    return xir_node_result(at, 0, make_prelu(at, x, slope, channels));
}

/* x + bias below -lambda, else x - bias above lambda, else 0. */
static bool shrunk_by(xir_node *at, double bias, double lambda) {
    const xir_type *element = v_element(xir_node_input(at, 0));
    if (!element_has(element, bias) || !element_has(element, lambda))
        return xir_node_unsupported(at, "a bias or lambd that is not one of the integers");
    return formula_gives(at, "s = like(a); l = x < -b; m = x > b; h = x - s; h = m ? h : 0; l ? x + s : h",
                         NUMBERS(bias, lambda));
}

bool onnx_shrink(xir_node *at) {
    double bias = xir_node_real(at, "bias", 0), lambda = xir_node_real(at, "lambd", 0.5);
    if (bias != 0 && bias != lambda) return shrunk_by(at, bias, lambda);
    return xir_node_becomes(at, bias == 0 ? "Hardshrink" : "Softshrink", INS(xir_node_input(at, 0)),
                            SETS(REAL("lambda", lambda)));
}

FORMULA(onnx_selu, "ELU(x, alpha=alpha:1.67326319217681884765625) * gamma:1.05070102214813232421875")

FORMULA(onnx_celu, "ELU(x / alpha:1) * alpha:1")

/* A plain ReLU would keep the threshold itself. */
FORMULA(onnx_thresholded_relu, "x > alpha:1 ? x : 0")

FORMULA(onnx_is_nan, "x != x")

bool onnx_is_inf(xir_node *at) {
    const bool above = xir_node_int(at, "detect_positive", 1), below = xir_node_int(at, "detect_negative", 1);
    if (!above && !below) return xir_node_unsupported(at, "a test for neither infinity");
    return formula_gives(at, above && below ? "Abs(x) == inf" : above ? "x == inf" : "x == -inf", NULL);
}

/* Outside of training: the input itself, and a mask that is true everywhere. */
bool onnx_dropout(xir_node *at) {
    xir_ints training;
    double ratio;
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_has(at, 2)) {
        if (!xir_node_ints(at, 2, &training)) return false;
        if (training.n == 1 && training.v[0]) {
            if (!xir_node_number(at, "ratio", 1, 0.5, &ratio)) return false;
            if (ratio != 0) return xir_node_unsupported(at, "training");
        }
    }
    if (at->cls->version < 7 && !xir_node_int(at, "is_test", 0)) return xir_node_unsupported(at, "training");
    if (at->n_out > 1) {
        const xir_type *element = at->cls->version >= 10 ? xir_type_bool(at->c->ctx) : v_element(x);
        xir_ints dims = xir_node_dims(at, x);
        xir_value *shape = v_is_open(x) ? xir_node_unary(at, "Shape", x) : xir_node_integers(at, &dims);
        xir_node_result(at, 1, xir_node_make(at, "ConstantOfShape", INS(shape),
                                             SETS(INT("value", 1), OBJ("element_dtype", element))));
    }
    return xir_node_result(at, 0, xir_node_unary(at, "Copy", x));
}

/* x * 2^y or x / 2^y; 0 if all bits are shifted out. */
bool onnx_bit_shift(xir_node *at) {
    if (!xir_node_one_of(at, "direction", "", "LEFT|RIGHT")) return false;
    if (xir_node_is(at, "direction", "LEFT")) return formula_gives(at, "x * Pow(like(2), y)", NULL);
    return formula_gives(at, "p = Pow(like(2), y); i = like(1); o = like(0); "
                             "l = Div(x, Maximum(p, i), rounding_mode='TRUNC'); p == o ? o : l", NULL);
}
