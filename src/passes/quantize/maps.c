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
static map_quantum quantum_of(const quantizing *q, const value_range *range, uint32_t bits) {
    map_quantum out = { 1, 0 };
    if (q->symmetric) {
        if (range->sat > 0) out.scale = scale_of(q, range->sat / (ldexp(1, (int)bits - 1) - 1));
        return out;
    }
    const double most = ldexp(1, (int)bits) - 1, width = range->high - range->low;
    if (!(width > 0)) return out;
    out.scale = scale_of(q, width / most);
    out.zero = (int64_t)fmin(fmax(rint(-range->low / out.scale), 0), most);
    return out;
}

static const xir_scales *ones_of(const quantizing *q, int64_t n) {
    run_list scales;
    run_list_init(&scales, &q->net->alloc);
    const xir_scales *ones = run_list_add(&scales, n, 1, 0, 1) ? NULL
        : scales_make(context_pool(q->net->ctx), true, run_list_runs(&scales), -1);
    run_list_free(&scales);
    return ones;
}

static const xir_type *normalised_element(const quantizing *q, const xir_type *type, uint32_t bits) {
    xir_context *ctx = q->net->ctx;
    const int64_t rank = (int64_t)xir_type_rank(type), n = rank ? xir_type_dim(type, rank - 1, false) : 1;
    const xir_type *was = xir_type_element(type);
    const xir_type *real = xir_type_kind_of(was) == XIR_TYPE_FLOAT ? was : xir_type_expressed(was);
    run_list runs;
    run_list_init(&runs, &q->net->alloc);
    const xir_norm_ratios *ratios = run_list_add(&runs, n, 0, 0, PROBE) ? NULL
        : norm_ratios_make(context_pool(ctx), run_list_runs(&runs), -1);
    run_list_free(&runs);
    const xir_type *storage = q->real_maps ? real : xir_type_sint(ctx, bits);
    const xir_type *made = ratios && storage ? xir_type_normalized(ctx, ratios, storage, real) : NULL;
    const xir_scales *ones = made && !q->real_maps ? ones_of(q, n) : NULL;
    if (q->real_maps) return made;
    return ones ? xir_type_normalized_quantized(ctx, made, ones, NULL, 0) : NULL;
}

const xir_type *map_element(const quantizing *q, const xir_type *type, const value_range *range, uint32_t bits) {
    xir_context *ctx = q->net->ctx;
    if (q->scheme.normalised) return normalised_element(q, type, bits);
    const map_quantum m = quantum_of(q, range, bits);
    const xir_scales *scales = xir_scales_from(ctx, &m.scale, 1, -1);
    const xir_type *storage = q->symmetric ? xir_type_sint(ctx, bits) : xir_type_uint(ctx, bits);
    return scales && storage ? xir_type_quantized(ctx, scales, &m.zero, q->symmetric ? 0 : 1, storage, NULL) : NULL;
}
