/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Scalars are the simplest objects: a bool, an integer, or a real that is stored as float32. */
#include <math.h>
#include "context.h"
#include "number.h"

const xir_scalar *xir_scalar_bool(xir_context *ctx, bool v) {
    xir_bool_imm scalar = { .head.cls = ctx->types[CLASS_bool_imm], .value = v };
    return (const xir_scalar *)pool_intern(context_pool(ctx), &scalar.head);
}

const xir_scalar *xir_scalar_int(xir_context *ctx, int64_t v) {
    xir_int_imm scalar = { .head.cls = ctx->types[CLASS_int_imm], .value = v };
    return (const xir_scalar *)pool_intern(context_pool(ctx), &scalar.head);
}

const xir_scalar *xir_scalar_real(xir_context *ctx, double v) {
    xir_float_imm scalar = { .head.cls = ctx->types[CLASS_float_imm], .value = number_to_f32(v) };
    return (const xir_scalar *)pool_intern(context_pool(ctx), &scalar.head);
}

double xir_scalar_as_real(const xir_scalar *scalar) {
    switch (object_what(scalar)) {
    case WHAT_BOOL: return ((const xir_bool_imm *)scalar)->value;
    case WHAT_INT:  return (double)((const xir_int_imm *)scalar)->value;
    case WHAT_REAL: return ((const xir_float_imm *)scalar)->value;
    default:        return 0;
    }
}

/* A value that does not fit becomes the nearest one that does; NaN becomes 0. */
static int64_t truncated(double v) {
    if (isnan(v)) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

int64_t xir_scalar_as_int(const xir_scalar *scalar) {
    switch (object_what(scalar)) {
    case WHAT_BOOL: return ((const xir_bool_imm *)scalar)->value;
    case WHAT_INT:  return ((const xir_int_imm *)scalar)->value;
    case WHAT_REAL: return truncated(((const xir_float_imm *)scalar)->value);
    default:        return 0;
    }
}
