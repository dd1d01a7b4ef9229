/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two schemes of quantisation, as a vendor would bring them. docs/quantize.md shows the first. */
#include <xir/plugin.h>

/* Signed maps of 8 or 12 bits between Quantize and Dequantize, weights of 6 bits, a bias of 24; shifts do what scales
 * would. */
static const xir_scheme_decl shifts = {
    XIR_SCHEME_HEAD("acme-shifts", "powers of two, weights of 6 bits"),
    .traits = XIR_SCHEME_PAIRS | XIR_SCHEME_POW2 | XIR_SCHEME_PER_TENSOR,
    .map_bits = 8, .wide_bits = 12, .weight_bits = 6, .bias = XIR_SCHEME_BIAS_PRODUCT, .bias_bits = 24,
};

/* Normalised maps of 10 bits; scales m * 2^-e with m of 4 bits. */
static const xir_scheme_decl ratios = {
    XIR_SCHEME_HEAD("acme-ratios", "normalised numbers of 10 bits"), .traits = XIR_SCHEME_NORMALISED,
    .map_bits = 10, .bias = XIR_SCHEME_BIAS_EXP, .most_m = 15, .most_shift = 3,
};

static const xir_scheme_decl *const schemes[] = { &shifts, &ratios };
static const xir_plugin plugin = { XIR_PLUGIN_HEAD("scheme"), .schemes = schemes, .n_schemes = 2 };

const xir_plugin *xir_plugin_entry(void) { return &plugin; }
