/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised element types and single numbers. The four quantised classes have different bodies. `parts` is one view of
 * all of them; queries and variants use it. */
#include <math.h>
#include <xir/icraft.h>
#include "number.h"
#include "types.h"

/* ---- parts ------------------------------------------------------------------------------------------------- */

/* Pointers into a body; NULL if its class does not have the part. */
typedef struct parts {
    const xir_scales      **scale;
    const xir_norm_ratios **ratios;
    xir_i64s               *zero_points;
    const xir_type        **storage, **expressed;
} parts;

typedef union body {
    xir_object                    head;
    xir_calibrated_type           calibrated;
    xir_normalized_type           normalized;
    xir_quantized_type            quantized;
    xir_normalized_quantized_type both;
} body;

static parts parts_of(xir_type_kind kind, body *b) {
    switch (kind) {
    case XIR_TYPE_CALIBRATED:
        return (parts){ NULL, NULL, NULL, &b->calibrated.storage_dtype, &b->calibrated.expressed_dtype };
    case XIR_TYPE_NORMALIZED:
        return (parts){ NULL, &b->normalized.normratio, NULL, &b->normalized.storage_dtype,
                        &b->normalized.expressed_dtype };
    case XIR_TYPE_QUANTIZED:
        return (parts){ &b->quantized.scale, NULL, &b->quantized.zero_points, &b->quantized.storage_dtype,
                        &b->quantized.expressed_dtype };
    case XIR_TYPE_NORMALIZED_QUANTIZED:
        return (parts){ &b->both.scale, &b->both.normratio, &b->both.zero_points, &b->both.storage_dtype,
                        &b->both.expressed_dtype };
    default:
        return (parts){ 0 };
    }
}

/* The parts of a type, or of a tensor's element type, for reading only. */
static parts look(const xir_type *type) {
    if (xir_type_as_tensor(type)) type = xir_type_element(type);
    return parts_of(xir_type_kind_of(type), (body *)(uintptr_t)type);
}

const xir_scales *xir_type_scale(const xir_type *type) {
    parts p = look(type);
    return p.scale ? *p.scale : NULL;
}

const xir_norm_ratios *xir_type_norm_ratios(const xir_type *type) {
    parts p = look(type);
    return p.ratios ? *p.ratios : NULL;
}

xir_i64s xir_type_zero_points(const xir_type *type) {
    parts p = look(type);
    return p.zero_points ? *p.zero_points : (xir_i64s){ 0 };
}

/* ---- making ------------------------------------------------------------------------------------------------ */

static const xir_type *made(xir_context *ctx, const body *b) {
    return (const xir_type *)pool_intern(context_pool(ctx), &b->head);
}

/* Makes a body of a class with storage and expressed type; false if the storage type is invalid. */
static bool start(xir_context *ctx, class_number cls, const xir_type *storage, const xir_type *expressed,
                  body *b) {
    if (!storage || xir_type_as_tensor(storage) || xir_type_as_tensor(expressed)) return false;
    memset(b, 0, sizeof *b);
    b->head.cls = ctx->types[cls];
    parts p = parts_of((xir_type_kind)(b->head.cls->what - 1), b);
    *p.storage = storage;
    *p.expressed = expressed ? expressed : ctx->fp32;
    return true;
}

const xir_type *xir_type_calibrated(xir_context *ctx, double min, double max, double sat, const xir_type *storage,
                                    const xir_type *expressed) {
    body b;
    if (!start(ctx, CLASS_calibrated_type, storage, expressed, &b)) return NULL;
    const double rounded[3] = { number_to_f32(min), number_to_f32(max), number_to_f32(sat) };
    b.calibrated.min = (xir_reals){ &rounded[0], 1 };
    b.calibrated.max = (xir_reals){ &rounded[1], 1 };
    b.calibrated.sat = (xir_reals){ &rounded[2], 1 };
    return made(ctx, &b);
}

const xir_type *xir_type_normalized(xir_context *ctx, const xir_norm_ratios *ratios, const xir_type *storage,
                                    const xir_type *expressed) {
    body b;
    if (!ratios || !start(ctx, CLASS_normalized_type, storage, expressed, &b)) return NULL;
    b.normalized.normratio = ratios;
    return made(ctx, &b);
}

const xir_type *xir_type_quantized(xir_context *ctx, const xir_scales *scale, const int64_t *zero_points, size_t n,
                                   const xir_type *storage, const xir_type *expressed) {
    body b;
    if (!scale || !start(ctx, CLASS_quantized_type, storage, expressed, &b)) return NULL;
    b.quantized.scale = scale;
    b.quantized.zero_points = (xir_i64s){ zero_points, n };
    return made(ctx, &b);
}

const xir_type *xir_type_normalized_quantized(xir_context *ctx, const xir_type *normalized, const xir_scales *scale,
                                              const int64_t *zero_points, size_t n) {
    body b;
    if (!scale || xir_type_kind_of(normalized) != XIR_TYPE_NORMALIZED) return NULL;
    const xir_type *storage = xir_type_storage(normalized), *expressed = xir_type_expressed(normalized);
    if (!start(ctx, CLASS_normalized_quantized_type, storage, expressed, &b)) return NULL;
    b.both.normratio = xir_type_norm_ratios(normalized);
    b.both.scale = scale;
    b.both.zero_points = (xir_i64s){ zero_points, n };
    return made(ctx, &b);
}

/* ---- variants ---------------------------------------------------------------------------------------------- */

/* Copies the body of a quantised type, or of a tensor's element type, and returns the copy's parts. */
static parts copy(const xir_type *type, body *b) {
    if (xir_type_as_tensor(type)) type = xir_type_element(type);
    xir_type_kind kind = xir_type_kind_of(type);
    if (!look(type).storage) return (parts){ 0 };
    memset(b, 0, sizeof *b);
    memcpy(b, type, ((const xir_object *)type)->cls->body_size);
    b->head.hash = b->head.absent = 0;
    return parts_of(kind, b);
}

static const xir_type *lacks(const xir_type *type, const char *part, xir_diags *why) {
    const char *found = type ? "one without" : "none";
    return refuse(why, XIR_E_TYPE, "", "expected a type with %s, found %s", part, found);
}

static const xir_type *missing(const char *part, xir_diags *why) {
    return refuse(why, XIR_E_MISSING, "", "expected %s, found none", part);
}

/* The changed element type, in a tensor if it came from one. */
static const xir_type *changed(xir_context *ctx, const xir_type *type, const body *b, xir_diags *why) {
    const xir_type *element = made(ctx, b);
    if (!element) return out_of_memory(why);
    return xir_type_as_tensor(type) ? xir_type_with_element(ctx, type, element, why) : element;
}

const xir_type *xir_type_with_scale(xir_context *ctx, const xir_type *type, const xir_scales *scale,
                                    xir_diags *why) {
    body b;
    parts p = copy(type, &b);
    if (!p.scale) return lacks(type, "a scale", why);
    if (!scale) return missing("a scale", why);
    *p.scale = scale;
    return changed(ctx, type, &b, why);
}

const xir_type *xir_type_with_norm_ratios(xir_context *ctx, const xir_type *type,
                                          const xir_norm_ratios *ratios, xir_diags *why) {
    body b;
    parts p = copy(type, &b);
    if (!p.ratios) return lacks(type, "ratios", why);
    if (!ratios) return missing("ratios", why);
    *p.ratios = ratios;
    return changed(ctx, type, &b, why);
}

const xir_type *xir_type_with_zero_points(xir_context *ctx, const xir_type *type, const int64_t *zero,
                                          size_t n, xir_diags *why) {
    body b;
    parts p = copy(type, &b);
    if (!p.zero_points) return lacks(type, "zero points", why);
    *p.zero_points = (xir_i64s){ zero, n };
    return changed(ctx, type, &b, why);
}

const xir_type *xir_type_with_storage(xir_context *ctx, const xir_type *type, const xir_type *storage,
                                      xir_diags *why) {
    body b;
    parts p = copy(type, &b);
    if (!p.storage) return lacks(type, "a storage type", why);
    if (!storage || xir_type_as_tensor(storage)) {
        return refuse(why, XIR_E_TYPE, "", "expected a scalar type as storage, found %s",
                      storage ? "a tensor" : "none");
    }
    *p.storage = storage;
    return changed(ctx, type, &b, why);
}
