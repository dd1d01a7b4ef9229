/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The types of maps. With zero points S = (high - low) / (2^b - 1) and Z = round(-low / S); signed numbers have
 * S = sat / (2^(b-1) - 1) and no zero point. A range of width 0 has the scale 1. Normalised maps hold x / N in integers
 * of the scale 1, where N is such an S. */
#include <float.h>
#include <math.h>
#include <xir/icraft.h>
#include "quantize.h"
#include "types.h"

double scale_of(const quantizing *q, double scale) {
    if (q->pow2 && scale > 0) {
        int e;
        const double m = frexp(scale, &e);
        scale = ldexp(1, m == 0.5 ? e - 1 : e);
    }
    const float out = (float)scale;
    return out > FLT_MAX ? (double)FLT_MAX : out < FLT_MIN ? (double)FLT_MIN : (double)out;
}

/* The quantum of a range: the least scale that reaches both ends, in float32. */
static map_quantum quantum_of(const quantizing *q, const value_range *range) {
    map_quantum out = { 1, 0 };
    if (q->symmetric) {
        if (range->sat > 0) out.scale = scale_of(q, range->sat / (ldexp(1, (int)q->bits - 1) - 1));
        return out;
    }
    const double most = ldexp(1, (int)q->bits) - 1, width = range->high - range->low;
    if (!(width > 0)) return out;
    out.scale = scale_of(q, width / most);
    out.zero = (int64_t)fmin(fmax(rint(-range->low / out.scale), 0), most);
    return out;
}

const xir_type *normalised_element(const quantizing *q, const xir_type *type, double ratio) {
    xir_context *ctx = q->net->ctx;
    const int64_t rank = (int64_t)xir_type_rank(type), n = rank ? xir_type_dim(type, rank - 1, false) : 1;
    const xir_norm_ratios *ratios = NULL;
    const xir_scales *ones = NULL;
    run_list runs, scales;
    run_list_init(&runs, &q->net->alloc);
    run_list_init(&scales, &q->net->alloc);
    if (!run_list_add(&runs, n, 0, 0, (float)ratio) && !run_list_add(&scales, n, 1, 0, 1)) {
        ratios = norm_ratios_make(context_pool(ctx), run_list_runs(&runs), -1);
        ones = scales_make(context_pool(ctx), true, run_list_runs(&scales), -1);
    }
    run_list_free(&runs);
    run_list_free(&scales);
    const xir_type *storage = xir_type_sint(ctx, q->bits);
    const xir_type *normalised = ratios && storage ? xir_type_normalized(ctx, ratios, storage, NULL) : NULL;
    return normalised && ones ? xir_type_normalized_quantized(ctx, normalised, ones, NULL, 0) : NULL;
}

const xir_type *map_element(const quantizing *q, const xir_type *type, const value_range *range) {
    xir_context *ctx = q->net->ctx;
    const map_quantum m = quantum_of(q, range);
    if (q->scheme->normalised) return normalised_element(q, type, m.scale < 1e-20 ? 1 : m.scale);
    const xir_scales *scales = xir_scales_from(ctx, &m.scale, 1, -1);
    const xir_type *storage = q->symmetric ? xir_type_sint(ctx, q->bits) : xir_type_uint(ctx, q->bits);
    return scales && storage ? xir_type_quantized(ctx, scales, &m.zero, q->symmetric ? 0 : 1, storage, NULL) : NULL;
}
