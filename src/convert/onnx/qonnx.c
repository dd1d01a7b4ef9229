/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operators of QONNX, which Brevitas writes, too: numbers of few bits that stay reals in the file. Quant becomes a
 * Quantize to a type of these bits, and a Cast back; FloatQuant a Cast to a type of XIR's, if one has its numbers. The
 * rules are those of qonnx.custom_op.general, versions 1 and 2. */
#include <math.h>
#include <string.h>
#include <xir/quant.h>
#include "formula/text.h"
#include "onnx/quantised.h"
#include "onnx/rows.h"
#include "elements.h"

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
/* The class that rounds as the node says, in capitals or not; NULL for a mode that has none. */
static const char *rounding_of(xir_node *at, const char *usual) {
    static const struct { const char *mode, *cls; } modes[] = {
        { "ROUND", "Round" }, { "HALF_EVEN", "Round" }, { "CEIL", "Ceil" }, { "FLOOR", "Floor" },
    };
    const xir_str mode = xir_node_text(at, "rounding_mode", usual);
    for (size_t i = 0; i < COUNT(modes); i++) if (same_word(mode, xir_str_of(modes[i].mode))) return modes[i].cls;
    return NULL;
}

static bool rounds_half_to_even(xir_node *at) {
    const char *cls = rounding_of(at, "ROUND");
    return cls && strcmp(cls, "Round") == 0;
}

static bool is_float(const xir_value *x) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(x)));
    return real && real->format == XIR_FLOAT_FP32;
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

/* Integers without a sign; none is the greatest one of their type. */
static xir_value *narrowed(xir_node *at, xir_value *q, double bits) {
    xir_value *stored = onnx_as_stored(at, q);
    xir_value *most = xir_node_scalar(at, v_element(stored), ldexp(1, (int)bits) - 2);
    return onnx_as_quantised(at, xir_node_make(at, "Minimum", INS(stored, most), NO_SETS), v_element(q));
}

/* x, scale, zero point, bits: clamp(round(x / scale + zero)), as the real number that it stands for. */
bool onnx_qonnx_quant(xir_node *at) {
    double bits;
    xir_value *x = xir_node_input(at, 0);
    const bool sign = xir_node_int(at, "signed", 1), narrow = xir_node_int(at, "narrow", 0);
    if (xir_node_failed(at) || !read_whole(at, 3, &bits)) return false;
    if (!is_float(x)) return xir_node_unsupported(at, "numbers other than float");
    if (bits < LEAST_BITS || bits > MOST_BITS) return xir_node_unsupported(at, "%g bits", bits);
    if (!rounds_half_to_even(at)) return xir_node_unsupported(at, "a rounding other than ROUND");
    if (at->c->arithmetic) return xir_node_unsupported(at, "a quantised type, which the option excludes");
    const xir_type *type = type_of_bits(at, x, sign, bits);
    xir_value *q = type ? onnx_quantised_value(at, x, type, !(narrow && sign)) : NULL;
    if (q && narrow && !sign) q = narrowed(at, q, bits);
    return q && xir_node_result(at, 0, onnx_dequantised(at, q));
}

/* The scale, or minus the scale below 0. */
bool onnx_qonnx_bipolar(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1);
    if (!xir_node_same_elements(at, 0, x, 1, scale)) return false;
    return formula_gives(at, "x >= 0 ? y : -y", NULL);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* Returns true if a number above 0 is one of those with so many bits after the first one, and this least exponent. */
static bool is_number_of(double v, double mantissa, double least) {
    const double exponent = fmax(floor(log2(v)), least), count = ldexp(v, (int)(mantissa - exponent));
    return v > 0 && isfinite(v) && count == floor(count);
}

/* The type of XIR's that has the floats with these bits in the mantissa and this bias, at least up to `most`. NULL: no
 * type, or memory is out, which the node then says. */
static const xir_type *float_type(xir_node *at, double mantissa, double bias, double most) {
    static const xir_float_format formats[] = { XIR_FLOAT_FP16, XIR_FLOAT_BF16, XIR_FLOAT_TF32, XIR_FLOAT_FPE7M8,
                                                XIR_FLOAT_FPE6M9 };
    for (size_t i = 0; i < COUNT(formats); i++) {
        const xir_type *type = xir_type_float(at->c->ctx, formats[i]);
        if (!type) return node_no_memory(at), NULL;
        const element_format f = element_format_of(type);
        const double own = ldexp(1, f.exponent - 1) - 1, greatest = ldexp(2 - ldexp(1, -(int)f.mantissa), (int)own);
        if (mantissa == f.mantissa && bias == own && most <= greatest) return type;
    }
    return NULL;
}

/* x, scale, bits of the exponent and of the mantissa, bias, greatest number: x / scale as such a float, times scale. */
bool onnx_qonnx_float(xir_node *at) {
    double exponent, mantissa, bias;
    const double *limit;
    size_t n;
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1);
    if (xir_node_failed(at) || !read_whole(at, 2, &exponent) || !read_whole(at, 3, &mantissa) ||
        !read_whole(at, 4, &bias) || !xir_node_reals(at, 5, &limit, &n)) return false;
    if (!is_float(x)) return xir_node_unsupported(at, "numbers other than float");
    if (!xir_node_same_elements(at, 0, x, 1, scale)) return false;
    if (!rounds_half_to_even(at)) return xir_node_unsupported(at, "a rounding other than ROUND");
    if (!xir_node_int(at, "saturation", 1)) return xir_node_unsupported(at, "numbers that do not saturate");
    if (n != 1 || isnan(limit[0])) return xir_node_unsupported(at, "no single greatest number");
    if (!(exponent >= 1 && exponent <= 8 && mantissa >= 1 && mantissa <= 23 && fabs(bias) <= 256))
        return xir_node_unsupported(at, "a float of %g and %g bits, bias %g", exponent, mantissa, bias);
    const double all = ldexp(2 - ldexp(1, -(int)mantissa), (int)(ldexp(1, (int)exponent) - 1 - bias)),
                 most = fmin(all, limit[0]);
    const xir_type *type = float_type(at, mantissa, bias, most);
    if (!type) return xir_node_unsupported(at, "a float of %g and %g bits, bias %g, up to %g: XIR has no type for it",
                                           exponent, mantissa, bias, most);
    if (!is_number_of(most, mantissa, 1 - bias))
        return xir_node_unsupported(at, "a greatest number, %g, that the format does not have", most);
    xir_value *y = xir_node_make(at, "ClampScalar", INS(xir_node_quotient(at, x, scale)),
                                 SETS(REAL("min", -most), REAL("max", most)));
    y = xir_node_cast(at, xir_node_cast(at, y, type), v_element(x));
    return xir_node_result(at, 0, xir_node_product(at, y, scale));
}

/* ---- fewer bits -------------------------------------------------------------------------------------------------- */

/* The exponent of the power of two that is nearest to output scale / scale, constants, in logarithms: one for all. */
static bool read_shift(xir_node *at, double *out) {
    const double *from, *to;
    size_t n, m;
    if (!xir_node_reals(at, 1, &from, &n) || !xir_node_reals(at, 4, &to, &m)) return false;
    if (!n || !m || (n != m && n != 1 && m != 1)) return xir_node_unsupported(at, "%zu scales, then %zu", n, m);
    for (size_t i = 0; i < (n > m ? n : m); i++) {
        const double shift = rint(log2(to[m > 1 ? i : 0] / from[n > 1 ? i : 0]));
        if (!(fabs(shift) <= MOST_BITS)) return xir_node_unsupported(at, "a quotient of scales that is not near 1");
        if (i && shift != *out) return xir_node_unsupported(at, "several quotients of scales");
        *out = shift;
    }
    return true;
}

/* Checks that the zero point of the output is that of the input, as the scale changes. The operator ignores it. */
static bool zero_follows(xir_node *at, double shift) {
    const double *from, *to;
    size_t n, m;
    if (!xir_node_reals(at, 2, &from, &n) || !xir_node_reals(at, 5, &to, &m)) return false;
    if (!n || !m) return xir_node_unsupported(at, "no zero point");
    for (size_t i = 0; i < (n > m ? n : m); i++)
        if ((n != m && n != 1 && m != 1) || to[m > 1 ? i : 0] != ldexp(from[n > 1 ? i : 0], -(int)shift))
            return xir_node_unsupported(at, "an output zero point that is not that of the input, rescaled");
    return true;
}

/* Inputs of version 1: x, scale, zero point, bits before and after: the lowest bits are dropped, and the scale stays.
 * Of version 2: x, scale, zero point, bits before, output scale, perhaps an output zero point, and bits after, in which
 * numbers are limited. */
bool onnx_qonnx_trunc(xir_node *at) {
    double before, after, shift = 0;
    xir_value *x = xir_node_input(at, 0), *scale = xir_node_input(at, 1), *zero = xir_node_input(at, 2), *out = scale;
    const bool limits = at->n_in > 5, sign = xir_node_int(at, "signed", 1), narrow = xir_node_int(at, "narrow", 0);
    const char *cls = rounding_of(at, "FLOOR");
    if (xir_node_failed(at) || !read_whole(at, at->n_in - 1, &after)) return false;
    if (!xir_node_same_elements(at, 0, x, 1, scale) || !xir_node_same_elements(at, 0, x, 2, zero)) return false;
    if (!cls) return xir_node_unsupported(at, "a rounding other than ROUND, CEIL and FLOOR");
    if (limits) {
        out = xir_node_input(at, 4);
        if (xir_node_failed(at) || !xir_node_same_elements(at, 0, x, 4, out) || !read_shift(at, &shift)) return false;
        if (!(after >= 1 && after <= MOST_BITS)) return xir_node_unsupported(at, "%g bits", after);
        if (at->n_in == 7 && !zero_follows(at, shift)) return false;
    } else {
        if (!read_whole(at, 3, &before)) return false;
        shift = before - after;
        if (!(fabs(shift) <= MOST_BITS)) return xir_node_unsupported(at, "%g bits less", shift);
    }
    xir_value *y = xir_node_unary(at, "Round", xir_node_sum(at, xir_node_quotient(at, x, scale), zero, 1, 1));
    y = xir_node_scaled(at, y, ldexp(1, -(int)shift));
    if (limits) {
        const double half = ldexp(1, (int)after - 1), least = sign ? -half + narrow : 0,
                     most = sign ? half - 1 : 2 * half - 1 - narrow;
        y = xir_node_make(at, "ClampScalar", INS(y), SETS(REAL("min", least), REAL("max", most)));
        zero = xir_node_scaled(at, zero, ldexp(1, -(int)shift));
    }
    y = xir_node_unary(at, cls, y);
    return xir_node_result(at, 0, xir_node_product(at, xir_node_sum(at, y, zero, 1, -1), out));
}
