/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Recorded inputs and outputs of ONNX's operator tests as arrays, and how close a result must be. */
#ifndef SUPPORT_ONNX_DATA_H
#define SUPPORT_ONNX_DATA_H

#include <xir/exec.h>
#include "support/onnx_wire.h"

/* XIR's name for a TensorProto.DataType; NULL for strings, complex numbers and unknown types. */
const xir_type *onnx_element_type(xir_context *ctx, uint64_t element);

/* The array of a TensorProto. NULL with a reason if it is invalid, or XIR does not have its element type (text,
 * complex numbers). `like` is a type of the value, or NULL: bf16 was recorded as uint16. */
xir_array *onnx_array(xir_context *ctx, pb_bytes tensor, const xir_type *like, char why_not[200]);

/* Returns true if `found` matches the recorded array: the same element type and dims, NaN where it has NaN, and |found
 * - recorded| at most 1e-7 + 1e-3 * |recorded|, the rule of the runner of ONNX's own tests. Otherwise sets the
 * reason. */
bool onnx_agrees(const xir_array *found, const xir_array *recorded, size_t output, char why_not[200]);

#endif
