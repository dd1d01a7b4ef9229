/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations on elements, and of products. */
#include <math.h>
#include <xir/array.h>
#include "formula/simpler.h"
#include "formula/text.h"
#include "spec/maps.h"
#include "tsm/tsm.h"

/* ---- elements --------------------------------------------------------------------------------------------------- */

static bool is_number(xir_node *at, const char *name, double expected) {
    const double *v;
    size_t n;
    return !xir_node_real_items(at, name, &v, &n) || (n == 1 && v[0] == expected);
}

/* add, or sub. */
bool tsm_back_sum(xir_node *at) {
    if (tsm_is_class(at, "Not")) return tsm_back_logic(at);
    if (!is_number(at, "alpha", 1) || !is_number(at, "beta", (double)xir_node_variant(at)))
        return xir_node_unsupported(at, "other factors than 1");
    return row_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

/* Multiply, and Neg. */
bool tsm_back_product(xir_node *at) {
    if (tsm_is_class(at, "And")) return tsm_back_logic(at);
    if (tsm_is_class(at, "Neg")) return xir_node_result(at, 0, xir_node_scaled(at, xir_node_input(at, 0), -1));
    return row_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

bool tsm_back_maximum(xir_node *at) {
    if (tsm_is_class(at, "Or")) return tsm_back_logic(at);
    return row_becomes(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

/* Div, DivideScalar and Reciprocal; the quotient of integers is truncated, that of reals is not. */
bool tsm_back_div(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const bool inverse = tsm_is_class(at, "Reciprocal");
    if (!inverse && !xir_node_is(at, "rounding_mode", v_is_integer(x) ? "TRUNC" : "NONE"))
        return xir_node_unsupported(at, "another rounding");
    if (inverse) return xir_node_result(at, 0, xir_node_quotient(at, xir_node_scalar(at, v_element(x), 1), x));
    if (tsm_is_class(at, "Div")) return row_becomes(at, INS(x, xir_node_input(at, 1)), NO_SETS);
    const double number = xir_node_real(at, "divisor", 1);
    if (!element_has(v_element(x), number)) return xir_node_unsupported(at, "integers over another kind of number");
    xir_value *divisor = xir_node_scalar(at, v_element(x), number);
    return xir_node_becomes(at, "Div", INS(x, divisor),
                            SETS(WORD("rounding_mode", xir_node_text(at, "rounding_mode", "NONE"))));
}

bool tsm_back_mod(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || !v_is_integer(x) || !xir_node_bool(at, "fmod", false))
        return xir_node_unsupported(at, "a remainder of reals, or with the sign of the divisor");
    return row_becomes(at, INS(x, xir_node_input(at, 1)), NO_SETS);
}

bool tsm_back_where(xir_node *at) {
    return row_becomes(at, INS(xir_node_input(at, 2), xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

bool tsm_back_pow(xir_node *at) {
    const double *y;
    size_t n;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_is_constant(at, 1) || !xir_node_reals(at, 1, &y, &n) || n != 1 ||
        v_rank(xir_node_input(at, 1)) > v_rank(x))
        return xir_node_unsupported(at, "an exponent that is not a number");
    return row_becomes(at, INS(x), SETS(REAL("y", y[0])));
}

/* Softplus, whose line past a threshold differs by less than a float says; x tanh(softplus(x)); -softplus(-x). */
bool tsm_back_softplus(xir_node *at) {
    const double threshold = xir_node_real(at, "threshold", 20);
    if (xir_node_real(at, "beta", 1) != 1 || threshold < 17) return xir_node_unsupported(at, "another curve");
    xir_value *x = xir_node_input(at, 0);
    if (tsm_is_class(at, "Mish")) return formula_gives(at, "x * Tanh(Softplus(x))", NULL);
    if (tsm_is_class(at, "LogSigmoid")) return formula_gives(at, "-Softplus(-x)", NULL);
    if (x && !xir_type_equal(v_element(x), xir_type_float(xir_node_context(at), XIR_FLOAT_FP32)))
        return xir_node_unsupported(at, "other elements than reals of 32 bits, of which TenniS computes the first alone");
    return x && tsm_gives(at, "tsm::softplus", INS(x), NO_SETS);
}

/* relu_max, or the lesser and the greater of two. */
bool tsm_back_clamp(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double least = xir_node_real(at, "min", -INFINITY), most = xir_node_real(at, "max", INFINITY);
    if (isnan(least) || isnan(most)) return xir_node_unsupported(at, "bounds that are not numbers");
    if (least == 0 && most >= 0 && isfinite(most) && xir_type_kind_of(v_element(x)) == XIR_TYPE_FLOAT)
        return row_becomes(at, INS(x), SETS(REAL("max", most)));
    if (least != -INFINITY)
        x = xir_node_make(at, "Maximum", INS(x, xir_node_scalar(at, v_element(x), least)), NO_SETS);
    if (x && most != INFINITY)
        x = xir_node_make(at, "Minimum", INS(x, xir_node_scalar(at, v_element(x), most)), NO_SETS);
    return x == xir_node_input(at, 0) ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : xir_node_result(at, 0, x);
}

/* TensorStack has no quantised elements: constants become the numbers that they stand for. */
static bool dequantised(xir_node *at, const xir_value *x, const xir_type *to) {
    const xir_type *element = xir_type_element(to);
    const xir_ints dims = xir_node_dims(at, x);
    if (!xir_value_is_params(x) || !xir_params_has_data(x) || xir_type_kind_of(element) != XIR_TYPE_FLOAT)
        return xir_node_unsupported(at, "quantised elements");
    xir_array *array = xir_array_from_params(x, NULL);
    const size_t n = array ? xir_array_count(array) : 0;
    double *v = dims.v ? node_take(at, (n + 1) * sizeof *v) : NULL;
    const bool read = array && v && !xir_array_reals(array, 0, n, v);
    xir_array_free(array);
    if (!read) return node_no_memory(at);
    xir_value *made = xir_node_constant(at, element, &dims, v, n);
    return made && xir_node_result(at, 0, made);
}

bool tsm_back_cast(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *to = tsm_type(at, 0);
    if (!x || !node_casts_in_place(at, x, xir_op_output(at->op, 0))) return false;
    if (xir_type_is_quantized(v_element(x))) return dequantised(at, x, to);
    const int64_t dtype = tsm_dtype(at, xir_type_element(to));
    if (!dtype || !tsm_dtype(at, v_element(x)))
        return xir_node_unsupported(at, "elements that TensorStack does not have");
    if (xir_type_kind_of(xir_type_element(to)) == XIR_TYPE_BOOL)
        return xir_node_unsupported(at, "numbers as truth, of which TenniS keeps the low byte");
    /* what short integers cannot hold is their least or greatest number, of which TenniS keeps the lower bits */
    const xir_integer_type *integer = v_is_real(x) ? xir_integer_type_of(xir_type_object(xir_type_element(to))) : NULL;
    const int bits = (int)xir_type_storage_bits(xir_type_element(to));
    if (integer && bits == 32 && !integer->sign)
        return xir_node_unsupported(at, "reals as unsigned integers of 32 bits, whose greatest number no float is");
    if (integer && bits < 32 && xir_type_storage_bits(v_element(x)) < 32)
        x = xir_node_cast(at, x, xir_type_float(xir_node_context(at), XIR_FLOAT_FP32));
    if (integer && bits < 32 && x)
        x = xir_node_make(at, "ClampScalar", INS(x),
                          SETS(REAL("min", integer->sign ? -ldexp(1, bits - 1) : 0),
                               REAL("max", ldexp(1, bits - integer->sign) - 1)));
    return x && xir_node_result(at, 0, tsm_part(at, "tsm::_cast", INS(x), SETS(INT("dtype", dtype)), to));
}

/* One slope for each channel: of dim 1, or, without letters, of the last dim. */
bool tsm_back_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *slope = xir_node_attr_params(at, "alpha");
    if (!x || !slope || v_rank(x) < 1) return false;
    slope = xir_node_cast(at, make_shaped(at, slope, (int64_t[]){ -1 }, 1), v_element(x));
    const size_t axis = map_channels(x);
    if (v_dim(slope, 0) == 1 && v_dim(x, axis) > 1) {
        const xir_ints dims = { (int64_t[]){ v_dim(x, axis) }, 1 };
        slope = xir_node_make(at, "Expand", INS(slope), SETS(LIST("sizes", &dims)));
    }
    return row_becomes(at, INS(x, slope), SETS(INT("dim", (int64_t)axis)));
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* gemm with a bias, inner_prod without, both of matrices; else matmul with a matrix on the right, and a sum. */
bool tsm_back_matmul(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *k = xir_node_input(at, 1), *b = xir_node_optional_input(at, 2);
    if (v_rank(k) != 2 || !v_rank(x)) return simpler_matmul(at);
    const xir_type *type = tsm_type(at, 0);
    if (v_rank(x) == 2 && b && v_rank(b) <= 2)
        return xir_node_result(at, 0, tsm_part(at, "tsm::gemm", INS(x, k, b),
                                           SETS(REAL("alpha", 1), REAL("beta", 1), XIR_SETB("transA", false),
                                                XIR_SETB("transB", false)), type));
    if (b) {
        const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, 0));
        xir_value *sum = xir_node_sum(at, make_matrix_product(at, x, k), b, 1, 1);
        return sum && xir_node_result(at, 0, v_rank(sum) == dims.n ? sum : make_reshaped(at, sum, &dims));
    }
    const char *key = v_rank(x) == 2 ? "tsm::inner_prod" : "tsm::matmul";
    return xir_node_result(at, 0, tsm_part(at, key, INS(x, k), NO_SETS, type));
}

/* Zeros in place of an input that an LSTM does not have. */
static xir_value *no_biases(xir_node *at) {
    const xir_value *w = xir_node_input(at, 1);
    if (!w || v_dim(w, 0) < 0 || v_dim(w, 1) < 0) return xir_node_unsupported(at, "weights of open dims"), NULL;
    return xir_node_filled(at, v_element(w), &(xir_ints){ (int64_t[]){ v_dim(w, 0), 2 * v_dim(w, 1) }, 2 }, 0);
}

static xir_value *no_state(xir_node *at) {
    const xir_value *x = xir_node_input(at, 0), *r = xir_node_input(at, 2);
    if (!x || !r || v_dim(r, 0) < 0 || v_dim(x, 1) < 0) return xir_node_unsupported(at, "an open batch"), NULL;
    return xir_node_filled(at, v_element(x), &(xir_ints){ (int64_t[]){ v_dim(r, 0), v_dim(x, 1), v_dim(r, 2) }, 3 }, 0);
}

bool tsm_back_lstm(xir_node *at) {
    static const char *const lists[] = { "activations", "activation_alpha", "activation_beta" };
    xir_value *in[6];
    size_t n = 0;
    const bool states = xir_node_has(at, 5) || xir_node_has(at, 6);
    for (size_t i = 0; i < 7; i++) {
        xir_value *v = xir_node_optional_input(at, i);
        if (i == 4 && v) return xir_node_unsupported(at, "lengths of sequences");
        if (i == 3 && !v) v = no_biases(at);
        if (i > 4 && !v && states) v = no_state(at);
        if (v && i != 4) in[n++] = v;
    }
    if (xir_node_has(at, 7)) return xir_node_unsupported(at, "peepholes");
    for (size_t i = 0; i < COUNT(lists); i++) {
        const xir_any *a = xir_node_attr(at, lists[i]);
        if (a && a->kind == XIR_ANY_LIST && a->as.list.size) return xir_node_unsupported(at, "other activations");
    }
    const bool both = xir_node_is(at, "direction", "BIDIRECTIONAL");
    if (xir_node_int(at, "layout", 0) || xir_node_bool(at, "input_forget", false) ||
        xir_node_real(at, "clip", INFINITY) != INFINITY || (!both && !xir_node_is(at, "direction", "FORWARD")))
        return xir_node_unsupported(at, "batch first, clipped, coupled or reverse");
    return tsm_give_fields(at, "tsm::LSTM", (xir_values){ in, n },
                       SETS(WORD("direction", both ? XIR_STR("bidirectional") : XIR_STR("forward")),
                            INT("hidden_size", xir_node_int(at, "hidden_size", 1))));
}
