/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The element type of outputs. Quantised types carry scales, ratios and zero points, often one item for each element of
 * an axis; they are right only for the values they were made for. An op whose results are values of its input, or lie
 * between them, keeps the type, and its arrays follow their axis. An op that computes other values refuses a quantised
 * type, because only the quantiser can choose the type of the result. */
#ifndef OPS_ELEMENT_H
#define OPS_ELEMENT_H

#include "shape.h"

/* The element type of input i, for computed results: XIR_E_UNSUPPORTED if it is quantised. */
xir_status computed_element(xir_infer *at, size_t i, const xir_type **out);

/* The element type of input i, for results that are its values in other places. `to[k]` is the dim of the output
 * that holds all of dim k in order, or -1: dim k is merged, split, sliced or removed. `dims` are those of the
 * output. An array along a kept dim follows it. An array of equal items is laid along a dim of the output, with the
 * item count of that dim. Others are refused (XIR_E_UNSUPPORTED). */
xir_status moved_element(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, const xir_type **out);

#endif
