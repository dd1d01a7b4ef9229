/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Queries of types never fail. So each of them accepts NULL, a type of a foreign class, and an incomplete body from a
 * broken file. Making a type means filling a body and interning it. */
#include "symbol.h"
#include "types.h"

/* ---- making ------------------------------------------------------------------------------------------------ */

const xir_type *type_bool(object_pool *pool) {
    return (const xir_type *)pool_intern(pool, &(xir_object){ .cls = pool->ctx->types[CLASS_bool_type] });
}

const xir_type *type_integer(object_pool *pool, bool sign, int64_t bits) {
    if (bits < 1 || bits > TYPE_BITS_MOST) return NULL;
    xir_integer_type type = { { .cls = pool->ctx->types[CLASS_integer_type] }, sign, bits };
    return (const xir_type *)pool_intern(pool, &type.head);
}

const xir_type *type_float(object_pool *pool, xir_float_format format) {
    if ((unsigned)format > XIR_FLOAT_FPE6M9) return NULL;
    xir_float_type type = { { .cls = pool->ctx->types[CLASS_float_type] }, format };
    return (const xir_type *)pool_intern(pool, &type.head);
}

const xir_type *type_tensor(object_pool *pool, const xir_type *element, const xir_layout *layout, xir_i64s shape,
                            xir_refs distrs) {
    if (!layout) layout = layout_default(pool, shape.size);
    if (!layout) return NULL;
    xir_tensor_type type = { { .cls = pool->ctx->types[CLASS_tensor_type] }, element, shape, layout, distrs };
    return (const xir_type *)pool_intern(pool, &type.head);
}

const xir_type *xir_type_bool(xir_context *ctx)        { return type_bool(context_pool(ctx)); }
const xir_type *xir_type_sint(xir_context *ctx, int64_t bits)   { return type_integer(context_pool(ctx), true, bits); }
const xir_type *xir_type_uint(xir_context *ctx, int64_t bits)   { return type_integer(context_pool(ctx), false, bits); }
const xir_type *xir_type_float(xir_context *ctx, xir_float_format format) {
    return type_float(context_pool(ctx), format);
}

const xir_type *xir_type_tensor(xir_context *ctx, const xir_type *element, const xir_layout *layout,
                                const int64_t *dims, size_t rank) {
    if (!element || xir_type_as_tensor(element)) return NULL;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] >= XIR_UNKNOWN_DIM) continue;
        context_refuse(ctx, "expected dims from -1 on (-1: unknown), found %lld as dim %zu", (long long)dims[i], i);
        return NULL;
    }
    return type_tensor(context_pool(ctx), element, layout, (xir_i64s){ dims, rank }, (xir_refs){ 0 });
}

const xir_type *xir_type_tensor_text(xir_context *ctx, const xir_type *element, const char *layout,
                                     const int64_t *dims, size_t rank) {
    form_error e = { 0 };
    const xir_layout *parsed = layout ? layout_make(context_pool(ctx), xir_str_of(layout), 0, &e) : NULL;
    if (layout && !parsed) {
        if (e.status == XIR_E_MEMORY) return NULL;
        context_refuse(ctx, LAYOUT_REFUSED, CLIP_TO(xir_str_of(layout), 80), e.message, e.at + 1);
        return NULL;
    }
    if (!element) context_refuse(ctx, "expected the type of an element, found NULL");
    return xir_type_tensor(ctx, element, parsed, dims, rank);
}

/* ---- asking any type --------------------------------------------------------------------------------------- */

xir_type_kind xir_type_kind_of(const xir_type *type) {
    int what = object_what(type);
    return what ? (xir_type_kind)(what - 1) : XIR_TYPE_OTHER;
}

bool xir_type_equal(const xir_type *a, const xir_type *b) {
    return xir_object_equal((const xir_object *)a, (const xir_object *)b);
}

bool xir_type_is_scalar(const xir_type *type) {
    if (!type) return false;
    const xir_class *cls = ((const xir_object *)type)->cls;
    return xir_class_is_a(cls, cls->ctx->types[CLASS_scalar_type]);
}

static bool is_quantised_kind(xir_type_kind kind) {
    return kind == XIR_TYPE_CALIBRATED || kind == XIR_TYPE_NORMALIZED || kind == XIR_TYPE_QUANTIZED ||
           kind == XIR_TYPE_NORMALIZED_QUANTIZED;
}

bool xir_type_is_quantized(const xir_type *type) {
    if (!type) return false;
    if (object_what(type)) return is_quantised_kind(xir_type_kind_of(type));   /* every inference asks this */
    const xir_class *cls = ((const xir_object *)type)->cls;
    return xir_class_is_a(cls, cls->ctx->types[CLASS_quant_type]);
}

const xir_tensor_type *xir_type_as_tensor(const xir_type *type) {
    return xir_type_kind_of(type) == XIR_TYPE_TENSOR ? (const xir_tensor_type *)type : NULL;
}

static const xir_type *element_of(const xir_type *type) {
    return xir_type_as_tensor(type) ? xir_type_as_tensor(type)->element_dtype : type;
}

const xir_type *xir_type_storage(const xir_type *type) {
    type = element_of(type);
    switch (xir_type_kind_of(type)) {
    case XIR_TYPE_CALIBRATED:           return ((const xir_calibrated_type *)type)->storage_dtype;
    case XIR_TYPE_NORMALIZED:           return ((const xir_normalized_type *)type)->storage_dtype;
    case XIR_TYPE_QUANTIZED:            return ((const xir_quantized_type *)type)->storage_dtype;
    case XIR_TYPE_NORMALIZED_QUANTIZED: return ((const xir_normalized_quantized_type *)type)->storage_dtype;
    default:                            return type;
    }
}

const xir_type *xir_type_expressed(const xir_type *type) {
    type = element_of(type);
    switch (xir_type_kind_of(type)) {
    case XIR_TYPE_CALIBRATED:           return ((const xir_calibrated_type *)type)->expressed_dtype;
    case XIR_TYPE_NORMALIZED:           return ((const xir_normalized_type *)type)->expressed_dtype;
    case XIR_TYPE_QUANTIZED:            return ((const xir_quantized_type *)type)->expressed_dtype;
    case XIR_TYPE_NORMALIZED_QUANTIZED: return ((const xir_normalized_quantized_type *)type)->expressed_dtype;
    default:                            return type;
    }
}

/* ORDER FLOAT */
static const uint8_t float_bits[] = { 16, 32, 64, 16, 32, 16, 16 };

/* Files may nest quantised types; but objects never contain themselves, so this ends. */
uint64_t xir_type_storage_bits(const xir_type *type) {
    for (const xir_type *inner;; type = inner) {
        inner = xir_type_storage(type);
        if (inner == type) break;
    }
    switch (xir_type_kind_of(type)) {
    case XIR_TYPE_BOOL:    return 8;
    case XIR_TYPE_INTEGER: {
        int64_t bits = ((const xir_integer_type *)type)->ibits;
        return bits < 1 || bits > TYPE_BITS_MOST ? 0 : (uint64_t)bits;
    }
    case XIR_TYPE_FLOAT: {
        unsigned format = ((const xir_float_type *)type)->format;
        return format < sizeof float_bits ? float_bits[format] : 0;
    }
    default: return 0;
    }
}

/* ---- asking tensors ---------------------------------------------------------------------------------------- */

const xir_type *xir_type_element(const xir_type *type) {
    return xir_type_as_tensor(type) ? xir_type_as_tensor(type)->element_dtype : NULL;
}

const xir_layout *xir_type_layout(const xir_type *type) {
    return xir_type_as_tensor(type) ? xir_type_as_tensor(type)->layout : NULL;
}

static xir_i64s shape_of(const xir_type *type) {
    return xir_type_as_tensor(type) ? xir_type_as_tensor(type)->shape : (xir_i64s){ 0 };
}

size_t xir_type_rank(const xir_type *type) { return shape_of(type).size; }

/* A dim as callers see it. */
static int64_t shown(int64_t dim) { return dim < 0 ? XIR_UNKNOWN_DIM : dim; }

int64_t type_dim(const xir_type *type, int64_t i) {
    xir_i64s shape = shape_of(type);
    if (i < 0) i += (int64_t)shape.size;
    return i >= 0 && (uint64_t)i < shape.size ? shape.data[i] : 0;
}

/* The dim of a tiled axis times its unit; unknown if either is, or if the product overflows. */
static int64_t combined(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || b < 0 || !mul_i64(a, b, &product) ? -1 : product;
}

static char other_case(char axis) { return axis == '*' ? axis : (char)(axis ^ 0x20); }

/* The dim of the first axis with a letter; false if the layout has none or the shape is too short for it. */
static bool letter_dim(const xir_type *type, char axis, int64_t *dim) {
    int64_t at = xir_layout_index(xir_type_layout(type), axis);
    xir_i64s shape = shape_of(type);
    if (at < 0 || (uint64_t)at >= shape.size) return false;
    *dim = shape.data[at];
    return true;
}

int64_t xir_type_dim(const xir_type *type, int64_t i, bool combine) {
    xir_i64s shape = shape_of(type);
    if (i < 0) i += (int64_t)shape.size;
    if (i < 0 || (uint64_t)i >= shape.size) return 0;
    char axis = combine ? xir_layout_axis(xir_type_layout(type), (size_t)i) : '*';
    int64_t partner;
    if (axis == '\0' || axis == '*' || !letter_dim(type, other_case(axis), &partner))
        return shown(shape.data[i]);
    return combined(shape.data[i], partner);
}

int64_t xir_type_axis_dim(const xir_type *type, char axis, bool combine) {
    int64_t dim = 0, partner = 1;
    bool has = letter_dim(type, axis, &dim);
    if (!combine || axis == '*') return has ? shown(dim) : 0;
    bool has_partner = letter_dim(type, other_case(axis), &partner);
    if (has && has_partner) return combined(dim, partner);
    return has ? shown(dim) : has_partner ? shown(partner) : 0;
}

int64_t xir_type_channels(const xir_type *type) {
    const xir_layout *layout = xir_type_layout(type);
    for (const char *axis = "COI"; *axis; axis++) {
        bool has = xir_layout_has(layout, *axis) || xir_layout_has(layout, other_case(*axis));
        if (has) return xir_type_axis_dim(type, *axis, true);
    }
    return 0;
}

bool xir_type_is_layouted(const xir_type *type) { return xir_layout_is_layouted(xir_type_layout(type)); }

bool xir_type_has_unknown_dim(const xir_type *type) {
    xir_i64s shape = shape_of(type);
    for (size_t i = 0; i < shape.size; i++) {
        if (shape.data[i] < 0) return true;
    }
    return false;
}

bool xir_type_is_symbolic(const xir_type *type) { return dims_symbolic(shape_of(type)); }

size_t xir_type_dim_text(const xir_type *type, int64_t i, char *out, size_t size) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    xir_i64s shape = shape_of(type);
    if (i < 0) i += (int64_t)shape.size;
    if (i >= 0 && (uint64_t)i < shape.size) return dim_text(tensor_pool(tensor), shape.data[i], out, size);
    if (size) out[0] = '\0';
    return 0;
}

/* A dim of 0 makes the product 0, however large the others are. */
static xir_status product_of(xir_i64s dims, int64_t *out) {
    bool unknown = false, zero = false, over = false;
    int64_t product = 1;
    for (size_t i = 0; i < dims.size; i++) {
        unknown |= dims.data[i] < 0;
        zero |= dims.data[i] == 0;
        over |= !mul_i64(product, dims.data[i], &product);
    }
    *out = 0;
    if (unknown) return XIR_E_BOUNDS;
    if (over && !zero) return XIR_E_LIMIT;
    *out = zero ? 0 : product;
    return XIR_OK;
}

xir_status xir_type_elements(const xir_type *type, int64_t *out) {
    *out = 0;
    if (xir_type_as_tensor(type)) return product_of(shape_of(type), out);
    if (!xir_type_is_scalar(type)) return XIR_E_UNKNOWN;
    *out = 1;
    return XIR_OK;
}

xir_status xir_type_bytes(const xir_type *type, uint64_t *out) {
    int64_t elements;
    *out = 0;
    xir_status status = xir_type_elements(type, &elements);
    if (status) return status;
    uint64_t bits = xir_type_storage_bits(type), n = (uint64_t)elements, whole, bytes;
    if (bits == 0) return XIR_E_UNKNOWN;
    /* Eight elements take `bits` bytes; the number of bits itself may not fit. */
    if (!mul_u64(n / 8, bits, &whole) || !add_u64(whole, (n % 8 * bits + 7) / 8, &bytes)) return XIR_E_LIMIT;
    *out = bytes;
    return XIR_OK;
}

static bool same_axes(const xir_distr *distr, const int64_t *axes, size_t n) {
    return distr->merged_axis.size == n && (n == 0 || memcmp(distr->merged_axis.data, axes, n * sizeof *axes) == 0);
}

size_t tensor_find_distr(const xir_tensor_type *tensor, const int64_t *axes, size_t n) {
    size_t i = 0;
    for (; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        if (distr && same_axes(distr, axes, n)) break;
    }
    return i;
}

const xir_distr *xir_type_distr(const xir_type *type, const int64_t *axes, size_t n) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    size_t i = tensor ? tensor_find_distr(tensor, axes, n) : 0;
    return tensor && i < tensor->merged_distrs.size ? (const xir_distr *)tensor->merged_distrs.data[i] : NULL;
}

const xir_object *xir_type_object(const xir_type *type) { return (const xir_object *)type; }
