/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised types for ONNX's quantised tensors: see quantised.c. All calls do nothing after a failure of the node. */
#ifndef CONVERT_ONNX_QUANTISED_H
#define CONVERT_ONNX_QUANTISED_H

#include "onnx/rows.h"

/* Checks that the scale and the zero point of x, inputs of the node, are each a single number or as many as dim `axis`
 * has indices, and as many as the other one. A fault is an error of the node. */
bool onnx_quantiser_fits(xir_node *at, const xir_value *x, size_t scale_at, size_t zero_at, int64_t axis);

/* The quantised type of integers with this scale and zero point (NULL: 0), along an axis if there are several. NULL if
 * their form is not plain or the pass uses arithmetic, without a failure of the node; and after a failure. */
const xir_type *onnx_quantised_type(xir_node *at, const xir_type *stored, const xir_value *scale, const xir_value *zero,
                                    int64_t axis);

/* The stored bits of v as other elements of the same width; v itself if it has them. */
xir_value *onnx_bits_as(xir_node *at, xir_value *v, const xir_type *element);
/* Integers as the quantised numbers that they store, without a copy of constants. */
xir_value *onnx_as_quantised(xir_node *at, xir_value *v, const xir_type *element);
/* Quantised numbers as the integers that they store. */
xir_value *onnx_as_stored(xir_node *at, xir_value *q);
/* Quantised numbers as float32. */
xir_value *onnx_dequantised(xir_node *at, xir_value *q);
/* Reals, or sums of products, as quantised numbers: half to even, in the full range, or without the least number of
 * signed ones. */
xir_value *onnx_quantised_value(xir_node *at, xir_value *x, const xir_type *element, bool full);

/* The row of QLinearConv or QLinearMatMul, of ConvInteger or MatMulInteger, with quantised types. False if their form
 * is not plain, or after a failure. */
bool onnx_linear_product(xir_node *at, bool conv);
bool onnx_integer_product(xir_node *at, bool conv);

#endif
