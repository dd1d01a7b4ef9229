/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reshape rules that tiled and untiled tensors share. */
#ifndef OPS_RESHAPE_H
#define OPS_RESHAPE_H

#include "move.h"

/* The dims of the output, created unless it fails. -1 in `shape` stands for the remaining elements. */
xir_status reshape_dims(xir_infer *at, xir_i64s input, xir_i64s shape, dim_list *out);

/* Finds the dims that a reshape keeps whole: the element counts before and after them are the same in input and output.
 * to[k] is the output dim of dim k, -1 for the others. Dims of 1 are ignored. */
void find_whole(xir_i64s in, xir_i64s out, int64_t *to);

/* Checks a reshape from or to tiles; with `give` it also sets the result. */
xir_status retile(xir_infer *at, bool give);

#endif
