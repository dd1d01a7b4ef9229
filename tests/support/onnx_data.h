/* Recorded inputs and outputs of ONNX's operator tests as arrays, and how near a result must be. */
#ifndef SUPPORT_ONNX_DATA_H
#define SUPPORT_ONNX_DATA_H

#include <xir/exec.h>
#include "support/onnx_wire.h"

/* The element type of a TensorProto.DataType in our words; NULL for strings, complex numbers and what is unknown. */
const xir_type *onnx_element_type(xir_context *ctx, uint64_t element);

/* The array of a TensorProto; NULL with a reason if it is none, or its elements are none of ours (text, complex
 * numbers). `like` is a type of the value, NULL if it has none: bf16 was recorded as uint16. */
xir_array *onnx_array(xir_context *ctx, pb_bytes tensor, const xir_type *like, char why_not[200]);

/* Whether `found` is what was recorded: the same element type and dims, NaN where it is NaN, and |found - recorded| at
 * most 1e-7 + 1e-3 * |recorded|, as the runner of ONNX's own tests has it. Otherwise the reason. */
bool onnx_agrees(const xir_array *found, const xir_array *recorded, size_t output, char why_not[200]);

#endif
