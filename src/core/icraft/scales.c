/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One scale as an object of its own, and the bits of an element in a memory. */
#include <xir/icraft.h>
#include "number.h"
#include "types.h"

static const xir_object *plain(xir_context *ctx, double origin) {
    const xir_scale scale = { { .cls = ctx->types[CLASS_scale] }, origin };
    return pool_intern(context_pool(ctx), &scale.head);
}

static const xir_object *power(xir_context *ctx, int64_t m, int64_t exp, double origin) {
    const xir_exp_scale scale = { { .cls = ctx->types[CLASS_exp_scale] }, m, exp, origin };
    return pool_intern(context_pool(ctx), &scale.head);
}

const xir_scale *xir_scale_from(xir_context *ctx, double scale) {
    return (const xir_scale *)plain(ctx, number_to_f32(scale));
}

const xir_exp_scale *xir_exp_scale_from(xir_context *ctx, int64_t m, int64_t exp, double origin) {
    return (const xir_exp_scale *)power(ctx, m, exp, number_to_f32(origin));
}

const xir_object *xir_scales_item(xir_context *ctx, const xir_scales *scales, size_t i) {
    int64_t m, exp;
    double origin;
    if (i >= xir_scales_count(scales)) return NULL;
    if (xir_scales_exp_at(scales, i, &m, &exp, &origin)) return power(ctx, m, exp, origin);
    return plain(ctx, xir_scales_at(scales, i));
}

double xir_exp_scale_value(const xir_exp_scale *scale) { return scale ? scale_power(scale->m, scale->exp) : 0; }

uint64_t xir_mtype_storage_bits(const xir_mtype *mtype, uint64_t bits) {
    (void)mtype;
    return bits;
}
