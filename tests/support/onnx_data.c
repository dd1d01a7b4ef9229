/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdio.h>
#include <string.h>
#include "support/onnx_data.h"

enum { MOST_ITEMS = 64, MOST_ELEMENTS = 1 << 24 };

const xir_type *onnx_element_type(xir_context *ctx, uint64_t element) {
    switch (element) {
    case ONNX_BOOL:     return xir_type_bool(ctx);
    case ONNX_INT8:     return xir_type_sint(ctx, 8);
    case ONNX_INT16:    return xir_type_sint(ctx, 16);
    case ONNX_INT32:    return xir_type_sint(ctx, 32);
    case ONNX_INT64:    return xir_type_sint(ctx, 64);
    case ONNX_UINT8:    return xir_type_uint(ctx, 8);
    case ONNX_UINT16:   return xir_type_uint(ctx, 16);
    case ONNX_UINT32:   return xir_type_uint(ctx, 32);
    case ONNX_UINT64:   return xir_type_uint(ctx, 64);
    case ONNX_FLOAT16:  return xir_type_float(ctx, XIR_FLOAT_FP16);
    case ONNX_BFLOAT16: return xir_type_float(ctx, XIR_FLOAT_BF16);
    case ONNX_FLOAT:    return xir_type_float(ctx, XIR_FLOAT_FP32);
    case ONNX_DOUBLE:   return xir_type_float(ctx, XIR_FLOAT_FP64);
    default:            return NULL;
    }
}

enum { FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, DOUBLE_DATA = 10, UINT64_DATA = 11 };

/* The field that holds the elements of a type if they are not raw. */
static uint32_t field_of(uint64_t element, pb_wire *wire) {
    *wire = element == ONNX_FLOAT ? PB_FIXED32 : element == ONNX_DOUBLE ? PB_FIXED64 : PB_VARINT;
    switch (element) {
    case ONNX_FLOAT:  return FLOAT_DATA;
    case ONNX_DOUBLE: return DOUBLE_DATA;
    case ONNX_INT64:  return INT64_DATA;
    case ONNX_UINT32:
    case ONNX_UINT64: return UINT64_DATA;
    default:          return INT32_DATA;
    }
}

xir_array *onnx_array(xir_context *ctx, pb_bytes bytes, const xir_type *like, char why_not[200]) {
    onnx_tensor tensor;
    int64_t dims[MOST_ITEMS];
    if (!onnx_read_tensor(bytes, &tensor) || tensor.external) return snprintf(why_not, 200, "no tensor"), NULL;
    const xir_type *element = onnx_element_type(ctx, tensor.element), *bf16 = onnx_element_type(ctx, ONNX_BFLOAT16);
    if (tensor.element == ONNX_UINT16 && like && xir_type_equal(xir_type_element(like), bf16)) element = bf16;
    size_t rank = onnx_tensor_dims(&tensor, dims, MOST_ITEMS), size = onnx_element_size(tensor.element), room;
    if (!element || rank > MOST_ITEMS) {
        return snprintf(why_not, 200, "XIR does not have its element type %d", (int)tensor.element), NULL;
    }
    /* If a sequence or an optional is read as a tensor, it has any dims. */
    size_t elements = 1;
    for (size_t k = 0; k < rank; k++) {
        if (dims[k] < 0 || __builtin_mul_overflow(elements, (size_t)dims[k], &elements) || elements > MOST_ELEMENTS) {
            return snprintf(why_not, 200, "its dims are invalid"), NULL;
        }
    }
    xir_array *array = xir_array_new(ctx, xir_type_tensor(ctx, element, NULL, dims, rank), NULL);
    if (!array) return snprintf(why_not, 200, "its dims are invalid"), NULL;
    xir_array_data(array, &room);
    char *out = xir_array_edit(array);
    if (tensor.raw.data) {
        if (tensor.raw.size == room) return room ? (void)memcpy(out, tensor.raw.data, room) : (void)0, array;
    } else {
        pb_wire wire;
        uint32_t field = field_of(tensor.element, &wire);
        pb_numbers numbers = pb_numbers_of(tensor.whole, field, wire);
        size_t at = 0;
        for (uint64_t v; at + size <= room && pb_numbers_next(&numbers, &v); at += size) memcpy(out + at, &v, size);
        if (at == room) return array;
    }
    xir_array_free(array);
    snprintf(why_not, 200, "its elements are fewer than its dims say");
    return NULL;
}

bool onnx_agrees(const xir_array *found, const xir_array *recorded, size_t output, char why_not[200]) {
    const xir_type *a = xir_array_type(found), *b = xir_array_type(recorded);
    xir_difference d;
    if (!xir_type_equal(xir_type_element(a), xir_type_element(b))) {
        return snprintf(why_not, 200, "output %zu has other elements", output), false;
    }
    if (xir_array_compare(found, recorded, 1e-7, 1e-3, &d) != XIR_OK || !d.same_shape) {
        return snprintf(why_not, 200, "output %zu has another shape", output), false;
    }
    if (d.count == 0) return true;
    snprintf(why_not, 200, "%zu elements of output %zu of %zu differ, the first is %zu: %.9g, recorded is %.9g",
             d.count, output, xir_array_count(found), d.first, d.a, d.b);
    return false;
}
