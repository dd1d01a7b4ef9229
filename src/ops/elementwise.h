/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared rules of element-wise ops, with one operand or with a broadcast pair. */
#ifndef OPS_ELEMENTWISE_H
#define OPS_ELEMENTWISE_H

#include "broadcast.h"

/* The output has the type of the input. XIR_E_UNSUPPORTED if that is quantised, because the values are computed. */
xir_status function_infer(xir_infer *at);

/* Checks that the element types and shapes of both inputs fit. A tiled pair is checked only by rules of the target. */
xir_status check_pair(xir_infer *at);
/* Sets the result to the broadcast of both inputs. Tiled inputs must have the same layout. */
xir_status give_pair(xir_infer *at, const xir_type *element);

/* The number of channels of a shape in the layout of `like`: the dim C, else O, else I, else the last; 1 for rank 0. */
int64_t channels_of(const xir_type *like, const int64_t *dims, size_t rank);

#endif
