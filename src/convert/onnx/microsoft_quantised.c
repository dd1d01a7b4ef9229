/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators on quantised tensors of ONNX Runtime (com.microsoft): integers, each with a scale and a zero point, are
 * computed as reals, or as 32-bit integers where ONNX Runtime does that, and rounded to the scale of the output. */
#include "onnx/quantised.h"
#include "formula/parts.h"
#include "spec/one_axis.h"
#include "spec/windows.h"

/* Input i, its scale the next input, its zero point the one after: (x - zero) * scale. */
static xir_value *real_of(xir_node *at, size_t i) {
    xir_value *q = xir_node_input(at, i), *zero = xir_node_optional_input(at, i + 2);
    if (xir_node_failed(at) || !onnx_quantiser_fits(at, q, i + 1, i + 2, 1)) return NULL;
    const xir_type *plain = onnx_quantised_type(at, v_element(q), xir_node_input(at, i + 1), zero, 1);
    if (plain) return onnx_dequantised(at, onnx_as_quantised(at, q, plain));
    xir_value *x = onnx_centred(at, i, i + 2, 1), *scale = xir_node_input(at, i + 1);
    return xir_node_failed(at) ? NULL : xir_node_product(at, xir_node_cast(at, x, v_element(scale)), scale);
}

/* Without a zero point the output has the elements of input `like`, and 0 in the middle. */
static xir_value *quantized_as(xir_node *at, xir_value *y, size_t scale_at, size_t like) {
    xir_value *scale = xir_node_input(at, scale_at), *zero = xir_node_optional_input(at, scale_at + 1);
    if (!zero) zero = xir_node_scalar(at, v_element(xir_node_input(at, like)), 0);
    return onnx_quantized(at, y, scale, zero);
}

/* A result in steps of its scale, to which ONNX Runtime adds the zero point before it rounds: scale and zero point of
 * the output are inputs `scale_at` and the next one. */
static xir_value *rounded_steps(xir_node *at, xir_value *y, size_t scale_at) {
    xir_value *scale = xir_node_input(at, scale_at), *zero = xir_node_optional_input(at, scale_at + 1);
    const xir_type *stored = v_element(zero ? zero : xir_node_input(at, 0)), *real = v_element(scale);
    if (zero) y = xir_node_sum(at, y, xir_node_cast(at, zero, real), 1, 1);
    y = onnx_quantized(at, y, xir_node_scalar(at, real, 1), xir_node_scalar(at, stored, 0));
    const xir_type *plain = onnx_quantised_type(at, stored, scale, zero, -1);
    return plain ? onnx_as_stored(at, onnx_as_quantised(at, y, plain)) : y;
}

/* Integers minus their zero point, as real numbers, times a scale. */
static xir_value *scaled_steps(xir_node *at, xir_value *centred, xir_value *scale) {
    if (xir_node_failed(at) || !centred || !scale) return NULL;
    return xir_node_product(at, xir_node_cast(at, centred, v_element(scale)), scale);
}

/* ---- element by element ----------------------------------------------------------------------------------------- */

static bool sides_fit(xir_node *at) {
    const xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 3);
    if (!a || !b || !onnx_quantiser_fits(at, a, 1, 2, 1) || !onnx_quantiser_fits(at, b, 4, 5, 1)) return false;
    return xir_node_same_elements(at, 0, a, 3, b) && xir_node_broadcasts(at, 0, a, 3, b);
}
bool onnx_ms_qlinear_add(xir_node *at) {
    if (!sides_fit(at)) return false;
    xir_value *of_y = xir_node_input(at, 6), *a = xir_node_quotient(at, xir_node_input(at, 1), of_y),
              *b = xir_node_quotient(at, xir_node_input(at, 4), of_y);
    a = scaled_steps(at, onnx_centred(at, 0, 2, 1), a);
    b = scaled_steps(at, onnx_centred(at, 3, 5, 1), b);
    return xir_node_result(at, 0, rounded_steps(at, xir_node_sum(at, a, b, 1, 1), 6));
}
bool onnx_ms_qlinear_mul(xir_node *at) {
    if (!sides_fit(at)) return false;
    xir_value *y = xir_node_product(at, onnx_centred(at, 0, 2, 1), onnx_centred(at, 3, 5, 1));
    xir_value *scale = xir_node_product(at, xir_node_input(at, 1), xir_node_input(at, 4));
    scale = xir_node_quotient(at, scale, xir_node_input(at, 6));
    return xir_node_result(at, 0, rounded_steps(at, scaled_steps(at, y, scale), 6));
}

bool onnx_ms_qlinear_unary(xir_node *at) {
    xir_value *x = real_of(at, 0);
    const bool leaky = node_is_class(at, "QLinearLeakyRelu");
    x = leaky ? xir_node_make(at, "ReLU", INS(x), SETS(REAL("alpha", xir_node_real(at, "alpha", 0.01))))
      : xir_node_unary(at, "Sigmoid", x);
    return xir_node_result(at, 0, quantized_as(at, x, 3, 0));
}

bool onnx_ms_qlinear_softmax(xir_node *at) {
    const one_axis a = one_axis_in(at, real_of(at, 0), "attribute/axis", -1);
    const bool old = xir_node_int(at, "opset", 13) < 13;
    if (a.x && old && a.axis + 1 != v_rank(a.x)) return xir_node_unsupported(at, "a Softmax of several dims");
    xir_value *y = xir_node_make(at, "Softmax", INS(a.x), SETS(AXIS("axis", a)));
    return xir_node_result(at, 0, quantized_as(at, y, 3, 0));
}

/* Inputs: scale and zero point of the output, then each part with its own. */
bool onnx_ms_qlinear_concat(xir_node *at) {
    const size_t n = (at->n_in - 2) / 3;
    if (at->n_in % 3 != 2) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected 2 inputs and 3 for each part, found %zu", at->n_in);
    }
    xir_value **parts = node_take(at, (n + 1) * sizeof *parts);
    if (!parts) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) parts[i] = real_of(at, 2 + 3 * i);
    int64_t axis;
    if (!node_axis(at, "axis", 0, v_rank(parts[0]), &axis)) return false;
    xir_value *all = xir_node_make(at, "Concat", (xir_values){ parts, n }, SETS(INT("axis", axis)));
    return xir_node_result(at, 0, quantized_as(at, all, 0, 2));
}

/* Inputs: the condition, both parts with scale and zero point, scale and zero point of the output. */
bool onnx_ms_qlinear_where(xir_node *at) {
    xir_value *condition = xir_node_input(at, 0), *x = real_of(at, 1), *y = real_of(at, 4);
    if (xir_node_failed(at) || !x || !y || !xir_node_broadcasts(at, 1, x, 4, y) ||
        !xir_node_broadcasts(at, 0, condition, 1, x) || !xir_node_broadcasts(at, 0, condition, 4, y)) return false;
    return xir_node_result(at, 0, quantized_as(at, xir_node_make(at, "Where", INS(x, y, condition), NO_SETS), 7, 1));
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

bool onnx_ms_qlinear_pool(xir_node *at) {
    const bool last = xir_node_int(at, "channels_last", 0);
    xir_value *x = real_of(at, 0);
    xir_value *y = onnx_average(at, last ? onnx_channels_second(at, x) : x);
    if (last) y = xir_node_channels_last(at, y);
    return xir_node_result(at, 0, rounded_steps(at, y ? xir_node_quotient(at, y, xir_node_input(at, 3)) : NULL, 3));
}

/* Integers are added; the sum times (scale of x / number of elements) is rounded. */
bool onnx_ms_qlinear_global_pool(xir_node *at) {
    xir_value *x = onnx_centred(at, 0, 2, 1), *scale = xir_node_input(at, 1);
    const size_t first = xir_node_int(at, "channels_last", 0) ? 1 : 2;
    if (!onnx_ranked(at, 0, x, 3, SIZE_MAX) || !xir_node_need_dims(at, x, first, first + v_rank(x) - 2)) return false;
    const xir_ints axes = xir_node_series(at, (int64_t)first, v_rank(x) - 2), dims = xir_node_dims(at, x);
    const double n = (double)product_of(&dims, first, first + axes.n);
    if (n < 1) return xir_node_unsupported(at, "an image without cells");
    xir_value *sum = xir_node_cast(at, xir_node_reduced(at, "Sum", x, &axes, true), v_element(scale));
    xir_value *y = xir_node_product(at, sum, xir_node_scaled(at, scale, 1 / n));
    return xir_node_result(at, 0, quantized_as(at, y, 3, 0));
}

bool onnx_ms_qlinear_conv(xir_node *at) {
    if (xir_node_int(at, "channels_last", 0)) return xir_node_unsupported(at, "channels in the last dim");
    return onnx_qlinear_conv(at);
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* The product of integers, times both scales; of b one for each column. */
static xir_value *scaled_product(xir_node *at, xir_value *product, xir_value *a_scale, xir_value *b_scale) {
    if (xir_node_failed(at) || !product || !a_scale || !b_scale) return NULL;
    const xir_type *real = onnx_float_of_integers(at, v_element(a_scale));
    xir_value *scale = xir_node_product(at, xir_node_cast(at, a_scale, real), xir_node_cast(at, b_scale, real));
    return xir_node_cast(at, xir_node_product(at, xir_node_cast(at, product, real), scale), v_element(a_scale));
}

/* Inputs: a, b, their scales, their zero points, a bias. */
bool onnx_ms_matmul_integer_to_float(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 6);
    if (xir_node_failed(at)) return false;
    a = onnx_centred(at, 0, 4, v_rank(a) > 1 ? v_rank(a) - 2 : 0);
    b = onnx_centred(at, 1, 5, v_rank(b) - 1);
    xir_value *y = scaled_product(at, onnx_product(at, a, b, NULL), xir_node_input(at, 2), xir_node_input(at, 3));
    return xir_node_result(at, 0, bias && y ? xir_node_sum(at, y, bias, 1, 1) : y);
}

/* Inputs: a real a, b, its scale and zero point, a bias. The range of a, extended to include 0, becomes 0 to 255. */
bool onnx_ms_dynamic_quantize_matmul(xir_node *at) {
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 4), *scale,
        *zero;
    if (xir_node_failed(at)) return false;
    const xir_type *wide = xir_type_sint(at->c->ctx, 32);
    if (v_rank(b) < 2) return xir_node_unsupported(at, "a vector");
    xir_value *q = onnx_dynamically_quantized(at, a, &scale, &zero);
    if (!q) return false;
    q = xir_node_sum(at, xir_node_cast(at, q, wide), xir_node_cast(at, zero, wide), 1, -1);
    xir_value *y = scaled_product(at, onnx_product(at, q, onnx_centred(at, 1, 3, v_rank(b) - 1), NULL), scale,
                                  xir_node_input(at, 2));
    return xir_node_result(at, 0, bias && y ? xir_node_sum(at, y, bias, 1, 1) : y);
}

/* Inputs: a, b, each with scale and zero point; a bias in 32 bits, in the scale of the product; scale and zero point of
 * the output, which is real without them. */
bool onnx_ms_qgemm(xir_node *at) {
    xir_value *a = onnx_centred(at, 0, 2, 0), *b = xir_node_input(at, 3), *bias = xir_node_optional_input(at, 6);
    const bool turn = xir_node_int(at, "transB", 0);
    const double alpha = xir_node_real(at, "alpha", 1);
    if (!onnx_ranked(at, 0, a, 2, 2) || !onnx_ranked(at, 3, b, 2, 2)) return false;
    b = onnx_centred(at, 3, 5, turn ? 0 : 1);
    if (xir_node_int(at, "transA", 0)) a = make_swapped(at, a);
    if (turn) b = make_swapped(at, b);
    xir_value *y = onnx_product(at, a, b, NULL);
    if (bias && y) y = xir_node_sum(at, y, bias, 1, 1);
    y = scaled_product(at, y, xir_node_input(at, 1), xir_node_input(at, 4));
    if (y && alpha != 1) y = xir_node_scaled(at, y, alpha);
    return xir_node_result(at, 0, xir_node_has(at, 7) ? quantized_as(at, y, 7, 0) : y);
}
