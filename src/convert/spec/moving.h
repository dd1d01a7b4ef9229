/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operations that keep all elements, and join tensors, give them other dims, or their axes another order. Axes count
 * from the start here, also where an op or a file counts from the end. */
#ifndef CONVERT_MOVING_H
#define CONVERT_MOVING_H

#include "node/helpers.h"
#include "node/lists.h"

/* ---- from files ------------------------------------------------------------------------------------------------- */

/* Checks an order of `rank` axes that the part `where` of the node has ("attribute/perm"): each occurs once. False
 * after a finding. */
bool order_is_sound(xir_node *at, const char *where, xir_ints *order, size_t rank);
/* A Concat or Stack of all inputs, which have the same elements, along the axis in an attribute; of a Stack it is one
 * of the result. */
bool op_of_joining(xir_node *at, const char *cls, const char *name, int64_t otherwise);

/* Sizes that add up to n: as often as it goes `size`, and the rest. At least one. */
xir_ints sizes_of_parts(xir_node *at, int64_t n, int64_t size);

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

/* All of them are false after a failure. */

/* Concat and Stack: the inputs, and the axis of the result. */
typedef struct joining { xir_values in; int64_t axis; bool stacks; } joining;
bool joining_of_op(xir_node *at, joining *j);
/* Transpose of x: axis i of the result is axis order[i] of x. */
bool order_of_op(xir_node *at, const xir_value *x, xir_ints *order);
/* Reshape, Squeeze: the dims of the result; one of them may be open, -1. */
bool dims_of_result(xir_node *at, xir_ints *dims);
/* Shape of x: the dims from `from` up to `to`. */
bool part_of_shape(xir_node *at, const xir_value *x, int64_t *from, int64_t *to);

#endif
