/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of ONNX Runtime (com.microsoft), which its optimiser writes for several of the standard: activations with a
 * bias, products with transposes or an activation. Those of packed weights, quantised tensors, normalisations and
 * attention are in microsoft_*.c. */
#include "formula/formulas.h"
#include "formula/text.h"
#include "onnx/rows.h"
#include "formula/parts.h"
#include "spec/borders.h"

/* The layout of ONNX Runtime's own convolutions on one processor: its width is that of a vector register there. */
bool onnx_ms_nchwc(xir_node *at) {
    return xir_node_unsupported(at, "its channels are in blocks (NCHWc), which depend on the processor that optimised "
                                "the file; the optimiser's level 'extended' does not write them");
}

/* ---- activations ------------------------------------------------------------------------------------------------ */

static bool give_swish(xir_node *at, double alpha) {
    return formula_gives(at, alpha == 1 ? "SiLU(x)" : "x * Sigmoid(x * a)", NUMBERS(alpha));
}
bool onnx_swish(xir_node *at)         { return give_swish(at, xir_node_real(at, "alpha", 1)); }
bool onnx_ms_quick_gelu(xir_node *at) { return give_swish(at, xir_node_real(at, "alpha", 1.702)); }

/* Input 0 plus input 1, which is a bias for the elements of the last dim. */
static xir_value *biased(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *bias = xir_node_optional_input(at, 1);
    if (!bias || xir_node_failed(at)) return x;
    if (v_rank(bias) != 1) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "input 1: expected 1 dim, found %zu", v_rank(bias)), NULL;
    }
    return xir_node_broadcasts(at, 0, x, 1, bias) ? xir_node_sum(at, x, bias, 1, 1) : NULL;
}
bool onnx_ms_bias_gelu(xir_node *at) { return xir_node_result(at, 0, xir_node_unary(at, "GELU", biased(at))); }
bool onnx_ms_fast_gelu(xir_node *at) {
    xir_value *x = biased(at);
    return xir_node_result(at, 0, x ? make_tanh_gelu(at, x) : NULL);
}

/* The sum's left half times the GELU of its right half. */
bool onnx_ms_bias_split_gelu(xir_node *at) {
    xir_value *x = biased(at);
    const size_t last = v_rank(x) - 1;
    if (!xir_node_need_dims(at, x, last, last + 1)) return false;
    const int64_t half = v_dim(x, last) / 2;
    if (v_dim(x, last) % 2)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "the last dim: expected an even one, found %lld",
                                (long long)v_dim(x, last));
    xir_value *right = xir_node_unary(at, "GELU", make_part(at, x, last, half, 2 * half, 1));
    return xir_node_result(at, 0, xir_node_product(at, make_part(at, x, last, 0, half, 1), right));
}

/* x + bias + skip */
bool onnx_ms_bias_add(xir_node *at) {
    return xir_node_result(at, 0, xir_node_sum(at, biased(at), xir_node_input(at, 2), 1, 1));
}

/* Returns true if the dims of x over which the bias is repeated, broadcast from the right, are those that the node
 * means: with `inner` the last ones before the axis, otherwise the first ones. The axis is the last dim. */
static bool repeats_so(const xir_value *x, const xir_value *bias, bool inner) {
    const size_t rank = v_rank(x), missing = rank - v_rank(bias);
    bool second = false;   // whether the dims of the second kind have begun
    for (size_t d = 0; d < rank; d++) {
        const bool repeated = d < missing || v_dim(bias, d - missing) == 1;
        if (v_dim(x, d) == 1) continue;
        if (d + 1 == rank) return !repeated;
        if (repeated == inner) second = true;
        else if (second) return false;
    }
    return true;
}

/* Softmax over the last dim of x + bias. */
bool onnx_ms_bias_softmax(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *bias = xir_node_input(at, 1);
    int64_t axis;
    if (xir_node_failed(at) ||
        !node_axis(at, "axis", 1, v_rank(x), &axis)) return false;
    if ((size_t)axis + 1 != v_rank(x)) return xir_node_unsupported(at, "a Softmax of several dims");
    if (!onnx_broadcasts_to(at, x, 1, bias)) return false;
    if (!repeats_so(x, bias, xir_node_int(at, "is_inner_broadcast", 0)))
        return xir_node_unsupported(at, "a bias for other dims than its own");
    return xir_node_becomes(at, "Softmax", INS(xir_node_sum(at, x, bias, 1, 1)), SETS(INT("axis", axis)));
}

/* The activations that a fused node names, of numbers a, b and c, and how many of them have no default. */
typedef struct activation { const char *name, *text; size_t needed; } activation;
static const activation activations[] = {
    { "Relu", "ReLU(x)" }, { "Sigmoid", "Sigmoid(x)" }, { "Tanh", "Tanh(x)" }, { "Softsign", "Softsign(x)" },
    { "Abs", "Abs(x)" }, { "Neg", "-x" }, { "Gelu", "GELU(x)" }, { "HardSwish", "Hardswish(x)" },
    { "LeakyRelu", "ReLU(x, alpha=a)", 1 }, { "Elu", "ELU(x, alpha=a)" }, { "Softplus", "Softplus(x, threshold=1e30)" },
    { "Clip", "ClampScalar(x, min=a, max=b)", 2 }, { "HardSigmoid", "Hardsigmoid(x, alpha=a, beta=b)", 2 },
    { "Selu", "ELU(x, alpha=a) * c" }, { "ThresholdedRelu", "x > a ? x : 0" },
};

static const activation *activation_of(xir_node *at) {
    for (size_t i = 0; i < COUNT(activations); i++)
        if (xir_node_is(at, "activation", activations[i].name)) return &activations[i];
    return NULL;
}

/* x after the activation; an absent one leaves x. */
static xir_value *activated(xir_node *at, xir_value *x, double alpha, double beta, double gamma) {
    const xir_str name = xir_node_text(at, "activation", "");
    const activation *a = activation_of(at);
    if (xir_node_failed(at) || !x || !name.size) return x;
    if (a) return make_formula(at, a->text, INS(x), NUMBERS(alpha, beta, gamma));
    return xir_node_unsupported(at, "the activation %.*s", CLIP_TO(name, 60)), NULL;
}

static bool has_numbers(xir_node *at, const char *where, size_t found) {
    const activation *a = activation_of(at);
    if (!a || found >= a->needed) return true;
    return xir_node_invalid(at, XIR_E_MISSING, where, "expected %zu number%s for the activation, found %zu", a->needed,
                            a->needed == 1 ? "" : "s", found);
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* A matrix with its last two dims exchanged, or, before that, with its first dim moved to the place before the last.
 * Vectors stay. */
static xir_value *turned(xir_node *at, xir_value *x, bool rows, bool batch) {
    if (xir_node_failed(at) || !x || v_rank(x) < 2) return x;
    const size_t rank = v_rank(x);
    xir_ints order = xir_node_series(at, 0, rank);
    if (!order.v) return NULL;
    for (size_t i = 0; batch && i + 1 < rank; i++) order.v[i] = i + 2 < rank ? (int64_t)i + 1 : 0;
    if (rows) {
        const int64_t last = order.v[rank - 1];
        order.v[rank - 1] = order.v[rank - 2], order.v[rank - 2] = last;
    }
    return rows || batch ? xir_node_transposed(at, x, order.v, rank, NULL) : x;
}

static xir_value *fused_matmul(xir_node *at) {
    xir_value *a = turned(at, xir_node_input(at, 0), xir_node_int(at, "transA", 0), xir_node_int(at, "transBatchA", 0));
    xir_value *b = turned(at, xir_node_input(at, 1), xir_node_int(at, "transB", 0), xir_node_int(at, "transBatchB", 0));
    const double alpha = xir_node_real(at, "alpha", 1);
    xir_value *y = onnx_product(at, a, b, NULL);
    return y && alpha != 1 ? xir_node_scaled(at, y, alpha) : y;
}
bool onnx_ms_fused_matmul(xir_node *at) { return xir_node_result(at, 0, fused_matmul(at)); }

/* The activation that the attributes describe, after x. */
static bool give_activated(xir_node *at, xir_value *x) {
    const size_t found = xir_node_attr(at, "activation_alpha") ? 1 + !!xir_node_attr(at, "activation_beta") : 0;
    if (!has_numbers(at, "attribute/activation_alpha", found)) return false;
    const bool selu = xir_node_is(at, "activation", "Selu");
    return xir_node_result(at, 0, activated(at, x,
                           xir_node_real(at, "activation_alpha", selu ? 1.67326319217681884765625 : 1),
                           xir_node_real(at, "activation_beta", 0),
                           xir_node_real(at, "activation_gamma", 1.05070102214813232421875)));
}
bool onnx_ms_fused_matmul_activation(xir_node *at) { return give_activated(at, fused_matmul(at)); }
bool onnx_ms_fused_gemm(xir_node *at)              { return give_activated(at, onnx_gemm_of(at)); }

/* Each channel is convolved with the elements up to its own, those of the state in front: without a state zeros. The
 * last ones are the new state. Inputs: x as [batch, channels, length], the kernel [channels, 1, size], a bias, the
 * state. */
bool onnx_ms_causal_conv(xir_node *at) {
    static const int64_t order[] = { 2, 1, 0 };
    enum { MOST = 1 << 20 };
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1), *state = xir_node_optional_input(at, 3);
    if (!xir_node_one_of(at, "activation", "none", "none|silu|swish") || xir_node_failed(at)) return false;
    if (xir_node_int(at, "ndim", 1) != 1) return xir_node_unsupported(at, "more than one dim to convolve");
    if (!onnx_ranked(at, 0, x, 3, 3) || !onnx_ranked(at, 1, kernel, 3, 3)) return false;
    if (state && !onnx_ranked(at, 3, state, 3, 3)) return false;
    if (!xir_node_need_dims(at, x, 1, 2) || !xir_node_need_dims(at, kernel, 0, 3)) return false;
    const int64_t channels = v_dim(x, 1), size = v_dim(kernel, 2);
    if (v_dim(kernel, 0) != channels || v_dim(kernel, 1) != 1 || size < 1 || size > MOST) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "the kernel: expected [%lld, 1, size], found [%lld, %lld, "
                                "%lld]", (long long)channels, (long long)v_dim(kernel, 0), (long long)v_dim(kernel, 1),
                                (long long)size);
    }
    if (state && ((v_dim(state, 1) >= 0 && v_dim(state, 1) != channels) ||
                  (v_dim(state, 2) >= 0 && v_dim(state, 2) != size - 1))) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/3", "the state: expected %lld channels of %lld elements",
                                (long long)channels, (long long)size - 1);
    }
    if (state) {
        x = xir_node_make(at, "Concat", INS(state, x), SETS(INT("axis", 2)));
    } else {
        const xir_ints cells = { (int64_t[]){ 0, 0, 0, 0, size - 1, 0 }, 6 };
        x = zeros_around(at, x, &cells);
    }
    xir_value *y = xir_node_make(at, "Conv1d", INS(xir_node_channels_last(at, x),
                                                   xir_node_transposed(at, kernel, order, 3, NULL),
                                                   xir_node_optional_input(at, 2)), SETS(INT("groups", channels)));
    y = xir_node_channels_second(at, y);
    if (size == 1 && node_wants(at, 1)) return xir_node_unsupported(at, "a state without elements");
    if (node_wants(at, 1)) xir_node_result(at, 1, make_part(at, x, 2, 1 - size, INT64_MAX, 1));
    return xir_node_result(at, 0, xir_node_is(at, "activation", "none") || !xir_node_attr(at, "activation") ? y
                           : xir_node_unary(at, "SiLU", y));
}

/* Conv, plus input 3, then the activation. */
bool onnx_ms_fused_conv(xir_node *at) {
    const double *numbers = NULL;
    size_t n = 0;
    (void)xir_node_real_items(at, "activation_params", &numbers, &n);
    if (xir_node_failed(at) || !has_numbers(at, "attribute/activation_params", n)) return false;
    xir_value *more = xir_node_optional_input(at, 3);
    xir_value *y = make_conv(at, xir_node_input(at, 0), xir_node_input(at, 1), xir_node_optional_input(at, 2));
    if (more && y && xir_node_broadcasts(at, 0, y, 3, more)) y = xir_node_sum(at, y, more, 1, 1);
    return xir_node_result(at, 0, activated(at, y, n > 0 ? numbers[0] : 1, n > 1 ? numbers[1] : 0, 1));
}
