/* The operators of QONNX, which Brevitas writes, too: numbers of few bits that stay reals in the file. Quant becomes a
 * Quantize to a type of these bits, and a Cast back. The rules are those of qonnx.custom_op.general, version 1. */
#include <math.h>
#include <string.h>
#include <xir/quant.h>
#include "convert/onnx/quantised.h"
#include "convert/onnx/rows.h"

enum { LEAST_BITS = 2, MOST_BITS = 32, MOST_NUMBERS = 1 << 20 };

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* The numbers of input i, and the dim of x along which they lie; -1: one for all. */
static bool read_along(xir_node *at, size_t i, const xir_value *x, const double **out, size_t *n, int64_t *axis) {
    const xir_value *v = xir_node_input(at, i);
    char words[80];
    if (!xir_node_reals(at, i, out, n)) return false;
    if (v_rank(v) > v_rank(x))
        return xir_node_unsupported(at, "%s of more dims than the tensor has", node_input_words(at, i, words));
    *axis = -1;
    for (size_t k = 0; k < v_rank(v); k++) {
        if (v_dim(v, k) == 1) continue;
        const int64_t along = (int64_t)(v_rank(x) - v_rank(v) + k);
        if (*axis >= 0 || *n > MOST_NUMBERS)
            return xir_node_unsupported(at, "%s for more than one dim", node_input_words(at, i, words));
        *axis = along;
    }
    return *n > 0 || xir_node_unsupported(at, "no %s", node_input_words(at, i, words));
}

/* A whole number of input i. */
static bool read_whole(xir_node *at, size_t i, double *out) {
    const double *v;
    size_t n;
    char words[80];
    if (!xir_node_reals(at, i, &v, &n)) return false;
    *out = n ? v[0] : NAN;
    for (size_t k = 0; k < n; k++)
        if (v[k] != *out) *out = NAN;
    return *out == floor(*out) || xir_node_unsupported(at, "%s: not one whole number", node_input_words(at, i, words));
}

static bool rounds_half_to_even(xir_node *at, const char *usual) {
    const xir_str mode = xir_node_text(at, "rounding_mode", usual);
    return xir_str_equal(mode, XIR_STR("ROUND")) || xir_str_equal(mode, XIR_STR("HALF_EVEN"));
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static const xir_type *type_of_bits(xir_node *at, const xir_value *x, bool sign, double bits) {
    const double *scales, *zeros;
    size_t n, n_zeros;
    int64_t axis, zero_axis;
    if (!read_along(at, 1, x, &scales, &n, &axis) || !read_along(at, 2, x, &zeros, &n_zeros, &zero_axis)) return NULL;
    if (zero_axis >= 0 && (zero_axis != axis || n_zeros != n))
        return xir_node_unsupported(at, "zero points that are not one for each scale"), NULL;
    if (axis >= 0 && v_dim(x, (size_t)axis) != (int64_t)n)
        return xir_node_unsupported(at, "%zu scales along a dim of %lld", n, (long long)v_dim(x, (size_t)axis)), NULL;
    xir_ints list = xir_node_make_ints(at, n, 0);
    bool any = false;
    for (size_t i = 0; i < n && list.v; i++) {
        const double zero = zeros[n_zeros > 1 ? i : 0];
        if (!(scales[i] > 0) || isinf(scales[i])) return xir_node_unsupported(at, "the scale %g", scales[i]), NULL;
        if (zero != floor(zero) || fabs(zero) > ldexp(1, 31))
            return xir_node_unsupported(at, "the zero point %g", zero), NULL;
        list.v[i] = (int64_t)zero;
        any = any || zero != 0;
    }
    if (!list.v) return NULL;
    xir_context *ctx = at->c->ctx;
    const xir_type *stored = sign ? xir_type_sint(ctx, (uint8_t)bits) : xir_type_uint(ctx, (uint8_t)bits);
    const xir_scales *array = xir_scales_from(ctx, scales, n, n > 1 ? axis : -1);
    const xir_type *type = stored && array ? xir_type_quantized(ctx, array, list.v, any ? n : 0, stored, NULL) : NULL;
    if (!type) node_no_memory(at);
    return type;
}

/* x, scale, zero point, bits: clamp(round(x / scale + zero)), as the real number that it stands for. */
bool onnx_qonnx_quant(xir_node *at) {
    double bits;
    xir_value *x = xir_node_input(at, 0);
    const bool sign = xir_node_int(at, "signed", 1), narrow = xir_node_int(at, "narrow", 0);
    if (xir_node_failed(at) || !read_whole(at, 3, &bits)) return false;
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(x)));
    if (!real || real->format != XIR_FLOAT_FP32) return xir_node_unsupported(at, "numbers other than float");
    if (bits < LEAST_BITS || bits > MOST_BITS) return xir_node_unsupported(at, "%g bits", bits);
    if (narrow && !sign) return xir_node_unsupported(at, "a narrow range without a sign");
    if (!rounds_half_to_even(at, "ROUND")) return xir_node_unsupported(at, "a rounding other than ROUND");
    if (at->c->arithmetic) return xir_node_unsupported(at, "a quantised type, which the option excludes");
    const xir_type *type = type_of_bits(at, x, sign, bits);
    return type && xir_node_result(at, 0, onnx_dequantised(at, onnx_quantised_value(at, x, type, !narrow)));
}

/* The scale, or minus the scale below 0. */
bool onnx_qonnx_bipolar(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1);
    if (!xir_node_same_elements(at, 0, x, 1, scale)) return false;
    xir_value *above = xir_node_make(at, "GreaterEqual", INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
    xir_value *below = xir_node_unary(at, "Neg", scale);
    return xir_node_result(at, 0, xir_node_make(at, "Where", INS(scale, below, above), NO_SETS));
}

/* x, scale, zero point, bits before and after: the lowest bits are dropped. */
bool onnx_qonnx_trunc(xir_node *at) {
    double before, after;
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1), *zero = xir_node_input(at, 2);
    const bool down = xir_str_equal(xir_node_text(at, "rounding_mode", "FLOOR"), XIR_STR("FLOOR"));
    if (xir_node_failed(at) || !read_whole(at, 3, &before) || !read_whole(at, 4, &after)) return false;
    if (!xir_node_same_elements(at, 0, x, 1, scale) || !xir_node_same_elements(at, 0, x, 2, zero)) return false;
    if (!down && !rounds_half_to_even(at, "FLOOR"))
        return xir_node_unsupported(at, "a rounding other than FLOOR and ROUND");
    if (!(fabs(before - after) <= MOST_BITS)) return xir_node_unsupported(at, "%g bits less", before - after);
    xir_value *y = xir_node_unary(at, "Round", xir_node_sum(at, xir_node_quotient(at, x, scale), zero, 1, 1));
    y = xir_node_scaled(at, y, ldexp(1, (int)(after - before)));
    y = xir_node_unary(at, down ? "Floor" : "Round", y);
    return xir_node_result(at, 0, xir_node_product(at, xir_node_sum(at, y, zero, 1, -1), scale));
}
