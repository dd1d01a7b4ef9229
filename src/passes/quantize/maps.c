/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The types of maps. With zero points S = (high - low) / (2^b - 1) and Z = round(-low / S); signed numbers have
 * S = sat / (2^(b-1) - 1) and no zero point. A range of width 0 has the scale 1. */
#include <float.h>
#include <math.h>
#include "quantize.h"

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

const xir_type *map_element(const quantizing *q, const value_range *range) {
    xir_context *ctx = q->net->ctx;
    const map_quantum m = quantum_of(q, range);
    const xir_scales *scales = xir_scales_from(ctx, &m.scale, 1, -1);
    const xir_type *storage = q->symmetric ? xir_type_sint(ctx, q->bits) : xir_type_uint(ctx, q->bits);
    return scales && storage ? xir_type_quantized(ctx, scales, &m.zero, q->symmetric ? 0 : 1, storage, NULL) : NULL;
}
