/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matrix products, explicit quantisation, losses, recurrent networks. */
#include "formula/text.h"
#include "onnx/quantised.h"
#include "formula/parts.h"

/* ---- products --------------------------------------------------------------------------------------------------- */

bool onnx_matmul(xir_node *at) {
    return xir_node_result(at, 0, onnx_product(at, xir_node_input(at, 0), xir_node_input(at, 1), NULL));
}

/* alpha * A' * B' + beta * C; a constant B is transposed and scaled at once. */
xir_value *onnx_gemm_of(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1), *c = xir_node_optional_input(at, 2);
    if (!onnx_ranked(at, 0, a, 2, 2) || !onnx_ranked(at, 1, b, 2, 2)) return NULL;
    if (xir_node_int(at, "transA", 0)) a = make_swapped(at, a);
    if (xir_node_int(at, "transB", 0)) b = make_swapped(at, b);
    double alpha = xir_node_real(at, "alpha", 1), beta = xir_node_real(at, "beta", 1);
    if (!onnx_inner_dims_fit(at, a, b)) return NULL;
    int64_t rows = v_dim(a, 0), columns = v_dim(b, 1);
    for (size_t k = 1; c && k <= v_rank(c); k++) {
        int64_t dim = v_dim(c, v_rank(c) - k), of = k == 1 ? columns : k == 2 ? rows : 1;
        if (dim == of || dim == 1 || dim < 0 || of < 0) continue;
        return xir_node_invalid(at, XIR_E_INVALID, "input/2", "dim %zu of input 2: expected %lld or 1, found %lld",
                                v_rank(c) - k, (long long)of, (long long)dim), NULL;
    }
    bool plain = alpha == 1 && beta == 1;
    xir_value *y = onnx_product(at, a, b, plain ? c : NULL);
    if (c && !plain) y = xir_node_sum(at, y, c, alpha, beta);
    else if (alpha != 1) y = xir_node_scaled(at, y, alpha);
    return y;
}
bool onnx_gemm(xir_node *at) { return xir_node_result(at, 0, onnx_gemm_of(at)); }

bool onnx_einsum(xir_node *at) {
    return xir_node_becomes(at, "Einsum", node_inputs(at), SETS(WORD("equation", xir_node_text(at, "equation", ""))));
}

/* Integers minus their zero points, in 32 bits. */
xir_value *onnx_centred(xir_node *at, size_t i, size_t zero, size_t axis) {
    const xir_type *wide = xir_type_sint(at->c->ctx, 32);
    xir_value *x = xir_node_input(at, i);
    size_t rank = v_rank(x);
    x = xir_node_cast(at, x, wide);
    if (!xir_node_has(at, zero)) return x;
    xir_value *point = xir_node_cast(at, xir_node_input(at, zero), wide);
    if (v_rank(point) == 1 && v_dim(point, 0) != 1)   // one per channel
        point = make_line(at, point, rank > axis ? rank - axis : 1, 0);
    return xir_node_sum(at, x, point, 1, -1);
}

bool onnx_matmul_integer(xir_node *at) {
    const xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1);
    if (xir_node_failed(at)) return false;
    if (onnx_integer_product(at, false)) return true;
    xir_value *x = onnx_centred(at, 0, 2, v_rank(a) > 1 ? v_rank(a) - 2 : 0),    // a point for each row
              *y = onnx_centred(at, 1, 3, v_rank(b) > 1 ? v_rank(b) - 1 : 0);    // and for each column
    return xir_node_result(at, 0, onnx_product(at, x, y, NULL));
}

bool onnx_conv_integer(xir_node *at) {
    if (onnx_integer_product(at, true)) return true;
    xir_value *x = onnx_centred(at, 0, 2, 1), *kernel = onnx_centred(at, 1, 3, 0);
    return xir_node_result(at, 0, make_conv(at, x, kernel, NULL));
}

/* ---- explicit quantisation -------------------------------------------------------------------------------------- */

/* A scale or zero point for each block of an axis, repeated for the block's elements. */
static xir_value *of_blocks(xir_node *at, xir_value *v, const xir_value *x, size_t axis, int64_t block) {
    const int64_t n = v_dim(x, axis), blocks = n < 0 ? -1 : n / block + (n % block != 0);
    if (!xir_node_need_dims(at, x, axis, axis + 1)) return NULL;
    if (v_rank(v) != v_rank(x) || (v_dim(v, axis) >= 0 && v_dim(v, axis) != blocks)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/block_size", "block_size: expected %lld blocks of %lld "
                                "elements along dim %zu, found %lld in a scale or zero point of %zu dims",
                                (long long)blocks, (long long)block, axis,
                                (long long)(axis < v_rank(v) ? v_dim(v, axis) : 1), v_rank(v)), NULL;
    }
    if (!node_at_most(at, n, MOST_LISTED, "dim %zu", axis)) return NULL;
    xir_ints places = xir_node_series(at, 0, (size_t)n);
    for (size_t i = 0; i < places.n; i++) places.v[i] /= block;
    return make_taken(at, v, axis, &places);
}

/* A scale or zero point, one for all, for each element of the node's axis or for each block of it, in dims that
 * broadcast with x. */
static xir_value *along(xir_node *at, xir_value *v, const xir_value *x) {
    const int64_t block = xir_node_int(at, "block_size", 0);
    const size_t rank = x ? v_rank(x) : 0;
    int64_t axis;
    if (xir_node_failed(at) || !v || !x) return NULL;
    if (block < 0) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/block_size", "block_size: expected at least 0, found %lld",
                                (long long)block), NULL;
    }
    if (!block && (v_rank(v) == 0 || (v_rank(v) == 1 && v_dim(v, 0) == 1))) return v;
    if (!node_axis(at, "axis", 1, rank, &axis)) return NULL;
    if (block) return of_blocks(at, v, x, (size_t)axis, block);
    if (v_rank(v) != 1) return xir_node_unsupported(at, "a scale for each block"), NULL;
    return make_line(at, v, rank - (size_t)axis, 0);
}

/* The elements that an attribute names; without it, `otherwise`. */
static const xir_type *elements_named(xir_node *at, const char *name, const xir_type *otherwise) {
    const int64_t code = xir_node_int(at, name, 0);
    const xir_type *type = code ? onnx_element(at->c->ctx, code) : otherwise;
    if (type && xir_float_type_of(xir_type_object(type))) return type;
    return xir_node_unsupported(at, "%s: elements that XIR does not compute with", name), NULL;
}

/* Integers of more than 8 bits and sums of products have digits that floats of 16 bits lack, and exceed float16. */
const xir_type *onnx_float_of_integers(xir_node *at, const xir_type *real) {
    return xir_type_storage_bits(real) < 32 ? xir_type_float(at->c->ctx, XIR_FLOAT_FP32) : real;
}

static bool is_single(const xir_type *element) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    return real && real->format == XIR_FLOAT_FP32;
}

/* saturate(round(x / scale) + zero point): the standard divides in the elements of the scale. */
xir_value *onnx_quantized(xir_node *at, xir_value *x, xir_value *scale, xir_value *zero) {
    if (xir_node_failed(at)) return NULL;
    const int64_t code = xir_node_int(at, "output_dtype", 0);
    const xir_type *declared = code ? onnx_element(at->c->ctx, code) : xir_type_uint(at->c->ctx, 8);
    const xir_type *to = zero ? v_element(zero) : declared;
    if (!to) return xir_node_unsupported(at, "elements that XIR does not have"), NULL;
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(to));
    const xir_type *real = elements_named(at, "precision", v_element(scale));
    if (!real) return NULL;
    const int64_t axis = xir_node_int(at, "axis", 1);
    const xir_type *plain = xir_node_int(at, "block_size", 0) || !is_single(real) ||
                            !is_single(xir_type_expressed(v_element(x))) ? NULL
                          : onnx_quantised_type(at, to, scale, zero, axis < 0 ? axis + (int64_t)v_rank(x) : axis);
    if (plain) return onnx_as_stored(at, onnx_quantised_value(at, x, plain, true));
    uint64_t bits = xir_type_storage_bits(to);
    if (!integer || bits > 16) return xir_node_unsupported(at, "elements that are not integers of up to 16 bits"), NULL;
    double range = (double)(UINT64_C(1) << bits);
    xir_value *y = xir_node_unary(at, "Round", xir_node_quotient(at, xir_node_cast(at, x, real),
                                                                 xir_node_cast(at, along(at, scale, x), real)));
    if (bits > 8) y = xir_node_cast(at, y, real = onnx_float_of_integers(at, real));
    if (zero) y = xir_node_sum(at, y, xir_node_cast(at, along(at, zero, x), real), 1, 1);
    y = xir_node_make(at, "ClampScalar", INS(y), SETS(REAL("min", integer->sign ? -range / 2 : 0),
                                                      REAL("max", integer->sign ? range / 2 - 1 : range - 1)));
    return xir_node_cast(at, y, to);
}

/* Returns true if scale and zero point of inputs 1 and 2 suit input 0; those of blocks are checked where they are
 * used. */
static bool quantiser_fits(xir_node *at) {
    const xir_value *x = xir_node_input(at, 0);
    return x && (xir_node_int(at, "block_size", 0) || onnx_quantiser_fits(at, x, 1, 2, xir_node_int(at, "axis", 1)));
}

bool onnx_quantize_linear(xir_node *at) {
    if (!quantiser_fits(at)) return false;
    return xir_node_result(at, 0,
                           onnx_quantized(at, xir_node_input(at, 0), xir_node_input(at, 1),
                                          xir_node_optional_input(at, 2)));
}

bool onnx_dequantize_linear(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1), *zero = xir_node_optional_input(at, 2);
    if (xir_node_failed(at)) return false;
    if (!quantiser_fits(at)) return false;
    const xir_type *wide = xir_type_sint(at->c->ctx, 32), *real = v_element(scale),
                   *out = elements_named(at, "output_dtype", real);
    if (!out) return false;
    const int64_t axis = xir_node_int(at, "axis", 1);
    const xir_type *plain = xir_node_int(at, "block_size", 0) ? NULL
                          : onnx_quantised_type(at, v_element(x), scale, zero,
                                                axis < 0 ? axis + (int64_t)v_rank(x) : axis);
    if (plain)
        return xir_node_result(at, 0, xir_node_cast(at, onnx_dequantised(at, onnx_as_quantised(at, x, plain)), out));
    xir_value *y = xir_node_cast(at, x, wide);
    if (zero) y = xir_node_sum(at, y, xir_node_cast(at, along(at, zero, x), wide), 1, -1);
    if (xir_type_storage_bits(v_element(x)) > 8 || !xir_type_equal(out, real)) real = onnx_float_of_integers(at, real);
    y = xir_node_product(at, xir_node_cast(at, y, real), xir_node_cast(at, along(at, scale, x), real));
    return xir_node_result(at, 0, xir_node_cast(at, y, out));
}

/* Scales of input i, one for each element of a dim that `after` other dims follow, or one for all. */
static xir_value *scale_before(xir_node *at, size_t i, size_t after) {
    xir_value *scale = xir_node_input(at, i);
    return v_rank(scale) != 1 || v_dim(scale, 0) == 1 ? scale : make_line(at, scale, after + 1, 0);
}

/* Requantises the product of integers: inputs 6 and 7 are scale and zero point of the output. */
static bool give_requantized(xir_node *at, xir_value *y, xir_value *a_scale, xir_value *b_scale) {
    if (xir_node_failed(at)) return false;
    const xir_type *real = onnx_float_of_integers(at, v_element(a_scale));
    xir_value *scale = xir_node_product(at, xir_node_cast(at, a_scale, real), xir_node_cast(at, b_scale, real)),
              *one = xir_node_scalar(at, real, 1);
    scale = xir_node_quotient(at, scale, xir_node_cast(at, xir_node_input(at, 6), real));
    y = xir_node_product(at, xir_node_cast(at, y, real), scale);
    return xir_node_result(at, 0, onnx_quantized(at, y, one, xir_node_input(at, 7)));
}

/* Inputs: x, its scale and zero point; the kernel, its scale and zero point; scale and zero point of the output; the
 * bias. */
bool onnx_qlinear_conv(xir_node *at) {
    if (onnx_linear_product(at, true)) return true;
    xir_value *x = onnx_centred(at, 0, 2, 1), *kernel = onnx_centred(at, 3, 5, 0),
               *y = make_conv(at, x, kernel, xir_node_optional_input(at, 8));
    if (xir_node_failed(at)) return false;
    return give_requantized(at, y, xir_node_input(at, 1), scale_before(at, 4, v_rank(y) - 2));
}

/* Inputs: a, its scale and zero point; b, its scale and zero point; scale and zero point of the output. Rows of a and
 * columns of b may have separate scales. */
bool onnx_qlinear_matmul(xir_node *at) {
    const xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 3);
    if (v_rank(a) < 2 || v_rank(b) < 2) return xir_node_unsupported(at, "a vector");
    if (onnx_linear_product(at, false)) return true;
    xir_value *y = onnx_product(at, onnx_centred(at, 0, 2, v_rank(a) - 2), onnx_centred(at, 3, 5, v_rank(b) - 1), NULL);
    return give_requantized(at, y, scale_before(at, 1, 1), scale_before(at, 4, 0));
}

/* Maps the range of x, extended to include 0, onto 0 to 255. If x is 0 everywhere the scale is 1. */
xir_value *onnx_dynamically_quantized(xir_node *at, xir_value *x, xir_value **scale, xir_value **zero) {
    if (xir_node_failed(at) || !x) return NULL;
    xir_value *none = xir_node_scalar(at, v_element(x), 0);
    xir_value *least = make_formula(at, "Minimum(Min(x), y)", INS(x, none), NULL);
    *scale = make_formula(at, "g = Maximum(Max(x), y) - z; e = g == y; g = g / 255; e ? 1 : g", INS(x, none, least), NULL);
    xir_value *point = make_formula(at, "ClampScalar(Round(-x / y), min=0, max=255)", INS(least, *scale), NULL);
    *zero = xir_node_cast(at, point, xir_type_uint(at->c->ctx, 8));
    return onnx_quantized(at, x, *scale, *zero);
}

bool onnx_dynamic_quantize_linear(xir_node *at) {
    xir_value *scale, *zero, *y = onnx_dynamically_quantized(at, xir_node_input(at, 0), &scale, &zero);
    return y && xir_node_result(at, 0, y) && xir_node_result(at, 1, scale) && xir_node_result(at, 2, zero);
}

/* ---- losses ----------------------------------------------------------------------------------------------------- */

/* -input[n, target[n, …], …] * weight[target], or 0 where the target is ignored; then, by `reduction`, as it is, its
 * sum, or its weighted mean. */
static bool nll(xir_node *at, xir_value *input) {
    static int64_t one[] = { 1 };
    static const xir_ints second = { one, 1 };
    const xir_ints all = { NULL, 0 };
    xir_value *target = xir_node_input(at, 1), *weight = xir_node_optional_input(at, 2);
    if (!xir_node_one_of(at, "reduction", "mean", "none|sum|mean")) return false;
    const xir_type *real = v_element(input);
    bool ignore = xir_node_attr(at, "ignore_index");
    xir_value *ignored = NULL, *kept = NULL;
    if (ignore) {
        ignored = make_formula(at, "x == a", INS(target), NUMBERS((double)xir_node_int(at, "ignore_index", -1)));
        target = make_formula(at, "y ? 0 : x", INS(target, ignored), NULL);
    }
    xir_value *places = xir_node_unsqueezed(at, target, &second, "input/1");
    xir_value *picked = xir_node_make(at, "GatherElements", INS(input, places), SETS(INT("axis", 1)));
    xir_value *loss = xir_node_unary(at, "Neg", xir_node_make(at, "Squeeze", INS(picked), SETS(LIST("axis", &second))));
    if (weight) kept = xir_node_make(at, "Gather", INS(weight, target), SETS(INT("axis", 0)));
    if (ignore) {
        kept = kept ? kept : xir_node_scalar(at, real, 1);
        kept = make_formula(at, "y ? 0 : x", INS(kept, ignored), NULL);
    }
    if (kept) loss = xir_node_product(at, loss, kept);
    if (xir_node_is(at, "reduction", "none")) return xir_node_result(at, 0, loss);
    bool sum = xir_node_is(at, "reduction", "sum");
    loss = xir_node_make(at, sum || kept ? "Sum" : "Mean", INS(loss), SETS(LIST("dim", &all)));
    if (!sum && kept) loss = xir_node_quotient(at, loss, xir_node_make(at, "Sum", INS(kept), SETS(LIST("dim", &all))));
    return xir_node_result(at, 0, loss);
}
bool onnx_nll_loss(xir_node *at) { return nll(at, xir_node_input(at, 0)); }

bool onnx_softmax_cross_entropy_loss(xir_node *at) {
    xir_value *log_prob = xir_node_make(at, "LogSoftmax", INS(xir_node_input(at, 0)), SETS(INT("axis", 1)));
    if (at->n_out > 1) xir_node_result(at, 1, log_prob);
    return nll(at, log_prob);
}

/* ---- recurrent -------------------------------------------------------------------------------------------------- */

/* hidden_size is optional: the recurrence weights determine it. */
static bool recurrent(xir_node *at, const char *cls, size_t n_inputs) {
    xir_value *inputs[8] = { NULL };
    xir_set sets[10];
    size_t n = 0;
    if (!xir_node_one_of(at, "direction", "forward", "forward|reverse|bidirectional")) return false;
    for (size_t i = 0; i < at->n_in && i < n_inputs; i++) inputs[i] = xir_node_optional_input(at, i);
    const xir_value *weights = xir_node_input(at, 2);
    if (xir_node_failed(at)) return false;
    int64_t hidden = v_rank(weights) == 3 ? v_dim(weights, 2) : -1, said = xir_node_int(at, "hidden_size", hidden);
    if (hidden >= 0 && said != hidden) {
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/hidden_size",
                                "hidden_size: expected %lld, like the recurrence weights, found %lld",
                                (long long)hidden, (long long)said);
    }
    if (said < 1) return xir_node_unsupported(at, "the hidden size is unknown");
    sets[n++] = (xir_set)INT("hidden_size", said);
    sets[n++] = (xir_set)WORD("direction", xir_node_text(at, "direction", "forward"));
    sets[n++] = (xir_set)INT("layout", xir_node_int(at, "layout", 0));
    if (xir_node_attr(at, "clip")) sets[n++] = (xir_set)REAL("clip", xir_node_real(at, "clip", 0));
    if (xir_node_int(at, "linear_before_reset", 0)) sets[n++] = (xir_set)INT("linear_before_reset", 1);
    if (xir_node_int(at, "input_forget", 0)) sets[n++] = (xir_set)INT("input_forget", 1);
    static const char *const lists[] = { "activations", "activation_alpha", "activation_beta" };
    for (size_t i = 0; i < COUNT(lists); i++) {
        const xir_any *a = xir_node_attr(at, lists[i]);
        if (a) sets[n++] = (xir_set){ .name = lists[i], .kind = XIR_SET_ANY, .p = a };
    }
    return node_gives(at, xir_node_make_op(at, cls, (xir_values){ inputs, n_inputs }, (xir_sets){ sets, n }));
}
bool onnx_lstm(xir_node *at) { return recurrent(at, "LSTM", 8); }
bool onnx_gru(xir_node *at)  { return recurrent(at, "GRU", 6); }
bool onnx_rnn(xir_node *at)  { return recurrent(at, "RNN", 6); }
