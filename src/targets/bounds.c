/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bounds of Buyi's scales, for ops whose maps are normalised integers of b bits. It multiplies by m * 2^-e with
 * 1 <= m <= 255:
 *
 *   maps     sint(8) or sint(16), of the scale 1: m = 1, e = 0
 *   weights  sint(b); one e for all channels, b <= e <= 2b + 5; the greatest m is above 127, unless e is 2b + 5
 *   bias     sint(2b) with the same m and one n: 0 <= e - n <= 5, b <= n <= 2b; of a depthwise convolution n = e <= 2b
 *   two maps a cut_scale of one e: 0 <= e <= 2b + 5, of a Multiply 0 <= e <= 2b */
#include <inttypes.h>
#include <stdio.h>
#include <xir/params.h>
#include <xir/quant.h>
#include "targets.h"

enum { LEAST_M = 1, MIDDLE_M = 128, MOST_M = 255, MOST_SHIFT = 5, MOST_CHANNELS = 65535 };

/* The m and e of an array of scales; e is that of the first. */
typedef struct exponents { int64_t least_m, most_m, e; bool one_e; size_t n; } exponents;

/* False if the scales are not m * 2^-e. More channels than a device has are not looked at: another rule finds them. */
static bool read_exponents(const xir_scales *scales, exponents *out) {
    int64_t m, e;
    double origin;
    *out = (exponents){ .least_m = INT64_MAX, .one_e = true, .n = xir_scales_count(scales) };
    for (size_t i = 0; i < out->n && i < MOST_CHANNELS; i++) {
        if (!xir_scales_exp_at(scales, i, &m, &e, &origin)) return false;
        if (!i) out->e = e;
        out->one_e &= e == out->e;
        out->least_m = m < out->least_m ? m : out->least_m;
        out->most_m = m > out->most_m ? m : out->most_m;
    }
    return out->n > 0;
}

static const xir_type *element_of(const xir_type *type) { return type ? xir_type_element(type) : NULL; }

static bool is_normalised(const xir_type *type) {
    return type && xir_type_kind_of(element_of(type)) == XIR_TYPE_NORMALIZED_QUANTIZED;
}

static bool is_quantised(const xir_type *type) {
    return type && xir_type_kind_of(element_of(type)) == XIR_TYPE_QUANTIZED;
}

static int64_t bits_of(const xir_type *type) { return (int64_t)xir_type_storage_bits(type); }

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static bool is_of_scale_one(xir_infer *at, const xir_type *type, const char *list, size_t i) {
    exponents x;
    char where[32];
    if (!is_normalised(type)) return true;
    if (read_exponents(xir_type_scale(type), &x) && x.least_m == 1 && x.most_m == 1 && x.e == 0 && x.one_e) return true;
    snprintf(where, sizeof where, "%s/%zu", list, i);
    xir_rule_found(at, where, "a scale of the normalised map is another number");
    return false;
}

bool maps_have_scale_one(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++)
        if (!xir_infer_input_is_params(at, i) && !is_of_scale_one(at, xir_infer_input(at, i), "inputs", i))
            return false;
    for (size_t i = 0; xir_infer_output(at, i); i++)
        if (!is_of_scale_one(at, xir_infer_output(at, i), "outputs", i)) return false;
    return true;
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

static bool m_fits(xir_infer *at, const char *where, const exponents *x) {
    if (x->least_m >= LEAST_M && x->most_m <= MOST_M) return true;
    xir_rule_found(at, where, "m is %" PRId64, x->least_m < LEAST_M ? x->least_m : x->most_m);
    return false;
}

static bool e_fits(xir_infer *at, const char *where, const exponents *x, int64_t least, int64_t most) {
    if (!x->one_e) xir_rule_found(at, where, "the channels have several exponents");
    else if (x->e < least || x->e > most) xir_rule_found(at, where, "the exponent is %" PRId64, x->e);
    else return true;
    return false;
}

/* Weights for maps of b bits; `most` is the greatest exponent. */
static bool weights_fit(xir_infer *at, const char *where, const xir_type *type, int64_t b, int64_t most, exponents *x) {
    if (bits_of(type) != b) {
        xir_rule_found(at, where, "weights of %" PRId64 " bits for maps of %" PRId64, bits_of(type), b);
        return false;
    }
    if (!read_exponents(xir_type_scale(type), x)) {
        xir_rule_found(at, where, "a scale is not m * 2^-e");
        return false;
    }
    if (!m_fits(at, where, x) || !e_fits(at, where, x, b, most)) return false;
    if (x->most_m >= MIDDLE_M || x->e == most) return true;
    xir_rule_found(at, where, "the greatest m is %" PRId64, x->most_m);
    return false;
}

static bool bias_fits(xir_infer *at, const xir_type *type, const xir_scales *weights, int64_t b, int64_t e,
                      bool depthwise) {
    const xir_scales *scales = xir_type_scale(type);
    exponents x;
    if (bits_of(type) != 2 * b) {
        xir_rule_found(at, "inputs/2", "a bias of %" PRId64 " bits for maps of %" PRId64, bits_of(type), b);
        return false;
    }
    if (!read_exponents(scales, &x)) {
        xir_rule_found(at, "inputs/2", "a scale is not m * 2^-n");
        return false;
    }
    const size_t n = xir_scales_count(weights);
    for (size_t i = 0; i < x.n && i < MOST_CHANNELS && x.n == n; i++) {
        int64_t m, m_of_weights, exponent;
        double origin;
        if (!xir_scales_exp_at(scales, i, &m, &exponent, &origin) ||
            !xir_scales_exp_at(weights, i, &m_of_weights, &exponent, &origin) || m == m_of_weights) continue;
        xir_rule_found(at, "inputs/2", "m is %" PRId64 " at channel %zu, and %" PRId64 " that of the weights", m, i,
                       m_of_weights);
        return false;
    }
    if (!m_fits(at, "inputs/2", &x) || !e_fits(at, "inputs/2", &x, b, 2 * b)) return false;
    const int64_t shift = e - x.e;
    if (shift >= 0 && shift <= (depthwise ? 0 : MOST_SHIFT)) return true;
    xir_rule_found(at, "inputs/2", "the exponents of weights and bias are %" PRId64 " and %" PRId64, e, x.e);
    return false;
}

static bool product_fits(xir_infer *at, bool depthwise) {
    const xir_type *map = xir_infer_input(at, 0), *weights = xir_infer_input(at, 1), *bias = xir_infer_input(at, 2);
    exponents x;
    if (!is_normalised(map) || !is_quantised(weights) || !xir_infer_input_is_params(at, 1)) return true;
    const int64_t b = is_normalised(xir_infer_output(at, 0)) ? bits_of(xir_infer_output(at, 0)) : bits_of(weights);
    if (!weights_fit(at, "inputs/1", weights, b, depthwise && bias ? 2 * b : 2 * b + MOST_SHIFT, &x)) return false;
    return !is_quantised(bias) || bias_fits(at, bias, xir_type_scale(weights), b, x.e, depthwise);
}

bool conv_scales_fit(xir_infer *at) {
    const xir_conv2d_attrs *a = xir_infer_attrs(at);
    return product_fits(at, a->groups > 1 && xir_type_axis_dim(xir_infer_input(at, 1), 'I', false) == 1);
}

bool product_scales_fit(xir_infer *at) { return product_fits(at, false); }

/* Of compiled ops only the weights are seen. Maps of other bits are another rule's. */
bool hard_scales_fit(xir_infer *at) {
    const xir_hard_op_attrs *a = xir_infer_attrs(at);
    const xir_type *map = xir_infer_output(at, 0);
    const int64_t b = is_normalised(map) ? bits_of(map) : 0;
    for (size_t i = 0; i < a->params.size && (b == 8 || b == 16); i++) {
        const xir_type *type = xir_value_type(a->params.data[i]);
        exponents x;
        char where[32];
        snprintf(where, sizeof where, "params/%zu", i);
        if (is_quantised(type) && !weights_fit(at, where, type, b, 2 * b + MOST_SHIFT, &x)) return false;
    }
    return true;
}

/* ---- two maps ---------------------------------------------------------------------------------------------------- */

static bool cut_fits(xir_infer *at, const xir_scales *cut, int64_t beyond) {
    const xir_type *x = xir_infer_input(at, 0), *y = xir_infer_input(at, 1), *z = xir_infer_output(at, 0);
    exponents found;
    if (!xir_scales_count(cut) || !is_normalised(x) || !is_normalised(y)) return true;
    const int64_t b = z ? bits_of(z) : bits_of(x);
    if (!read_exponents(cut, &found)) {
        xir_rule_found(at, "cut_scale", "it is not m * 2^-e");
        return false;
    }
    return m_fits(at, "cut_scale", &found) && e_fits(at, "cut_scale", &found, 0, 2 * b + beyond);
}

bool matmul_cut_fits(xir_infer *at) {
    const xir_matmul_attrs *a = xir_infer_attrs(at);
    return cut_fits(at, a->cut_scale, MOST_SHIFT);
}

bool multiply_cut_fits(xir_infer *at) {
    const xir_multiply_attrs *a = xir_infer_attrs(at);
    return cut_fits(at, a->cut_scale, 0);
}
