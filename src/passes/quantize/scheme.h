/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Schemes: what is stored where in a quantised network. A scheme is a row (xir/scheme.h); the pass works on a copy in
 * which members that an older row lacks are 0. */
#ifndef QUANTIZE_SCHEME_H
#define QUANTIZE_SCHEME_H

#include <xir/scheme.h>

typedef struct scheme {
    const char      *name;
    bool             pairs, zero_points, full_range, half_even, normalised, pow2, per_tensor;   /* XIR_SCHEME_... */
    uint32_t         map_bits, wide_bits, weight_bits;
    xir_scheme_bias  bias;
    xir_float_format bias_format;
    uint32_t         bias_bits, most_m, most_shift;
} scheme;

/* Sets the rules for registering schemes, and registers those of the library. XIR_E_MEMORY. */
xir_status schemes_define(xir_context *ctx);
/* Copies the scheme of a name; false if there is none. */
bool scheme_find(xir_context *ctx, xir_str name, scheme *out);
/* The names of all schemes for a sentence, "onnx, zhuge or buyi", as far as they fit. */
void scheme_names(xir_context *ctx, char *out, size_t room);

/* A quantiser of maps: q = round(x / scale) + zero. */
typedef struct map_quantum { double scale; int64_t zero; } map_quantum;

#endif
