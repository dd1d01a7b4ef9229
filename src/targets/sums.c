/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The sums of products of stored numbers: the greatest possible |sum| of an output channel is the sum of its |w|, times
 * the greatest |x| of the map's type. Accumulators have 32 bits. A bias is added after the first cut, so it does not
 * count. */
#include <inttypes.h>
#include <math.h>
#include <xir/params.h>
#include <xir/quant.h>
#include "targets.h"

static const double most_sum = 2147483647;

/* The stored bits of a quantised type, if they are signed or unsigned integers of 8 or 16; otherwise 0. */
static uint64_t stored_bits(const xir_type *type, bool *sign) {
    const xir_type *storage = type && xir_type_is_quantized(xir_type_element(type)) ? xir_type_storage(type) : NULL;
    const xir_integer_type *integer = storage ? xir_integer_type_of(xir_type_object(storage)) : NULL;
    const uint64_t bits = integer ? xir_type_storage_bits(type) : 0;
    *sign = integer && integer->sign;
    return bits == 8 || bits == 16 ? bits : 0;
}

static double greatest(const xir_type *type) {
    bool sign;
    const uint64_t bits = stored_bits(type, &sign);
    return bits ? ldexp(1, (int)bits - (sign ? 1 : 0)) - (sign ? 0 : 1) : 0;
}

/* |w| of element i: integers are little-endian. */
static double size_of(const unsigned char *bytes, uint64_t bits, bool sign, size_t i) {
    const uint32_t raw = bits == 8 ? bytes[i] : (uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
    const int32_t half = bits == 8 ? 128 : 32768, v = (int32_t)raw;
    return fabs((double)(sign && v >= half ? v - 2 * half : v));
}

/* The greatest sum of |w| of the indexes of a dim; of all elements for a negative one. */
static double greatest_sum(const xir_value *weights, int64_t dim) {
    const xir_type *type = xir_value_type(weights);
    uint64_t size = 0;
    bool sign;
    const uint64_t bits = stored_bits(type, &sign);
    const unsigned char *bytes = xir_params_data(weights, &size);
    int64_t all = 0;
    if (!bits || !bytes || xir_type_elements(type, &all) || all <= 0 || (uint64_t)all > size / (bits / 8)) return 0;
    const size_t n = dim < 0 ? 1 : (size_t)xir_type_dim(type, dim, false);
    size_t inner = 1;
    for (int64_t k = dim + 1; dim >= 0 && k < (int64_t)xir_type_rank(type); k++)
        inner *= (size_t)xir_type_dim(type, k, false);
    double most = 0;
    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        for (size_t from = c * (dim < 0 ? 0 : inner); from < (size_t)all; from += dim < 0 ? (size_t)all : inner * n)
            for (size_t i = 0; i < (dim < 0 ? (size_t)all : inner); i++) sum += size_of(bytes, bits, sign, from + i);
        most = fmax(most, sum);
    }
    return most;
}

static bool fits(xir_infer *at, int64_t dim) {
    const xir_value *weights = xir_infer_input_is_params(at, 1) ? xir_infer_input_value(at, 1) : NULL;
    const double most = greatest(xir_infer_input(at, 0));
    const double sum = weights && most > 0 ? greatest_sum(weights, dim) * most : 0;
    if (sum <= most_sum) return true;
    xir_rule_found(at, "inputs/1", "a sum may reach %.0f", sum);
    return false;
}

bool conv_sums_fit(xir_infer *at) {
    return fits(at, xir_layout_index(xir_type_layout(xir_infer_input(at, 1)), 'O'));
}

bool matmul_sums_fit(xir_infer *at) {
    const int64_t rank = (int64_t)xir_type_rank(xir_infer_input(at, 1));
    return fits(at, rank >= 2 ? rank - 1 : -1);
}
