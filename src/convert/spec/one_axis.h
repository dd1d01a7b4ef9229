/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Axes that an attribute names: one of input 0, as Gather, Softmax and Split have it, or a list. They count from the
 * start here, also where an op or a file counts from the end. A place is that of the attribute, with its name:
 * "attribute/axis". */
#ifndef CONVERT_ONE_AXIS_H
#define CONVERT_ONE_AXIS_H

#include "node/helpers.h"

/* Input 0, one of its axes, and the dim there, which is negative if it is unknown. After a failure x is NULL. */
typedef struct one_axis { xir_value *x; size_t axis; int64_t n; } one_axis;
#define AXIS(name, a) INT(name, (int64_t)(a).axis)
one_axis one_axis_of(xir_node *at, const char *where, int64_t otherwise);
/* The same of another value. */
one_axis one_axis_in(xir_node *at, xir_value *x, const char *where, int64_t otherwise);
/* The node is kept if the dim is unknown. */
one_axis known_axis_of(xir_node *at, const char *where, int64_t otherwise);

/* Counts a list from the start. False after a failure, with a finding if an axis is out of bounds. */
bool axes_from_start(xir_node *at, const char *where, size_t rank, const xir_ints *axes);
/* For each of `rank` axes 1 if the list has it, else 0. Without items after a failure. */
xir_ints axes_marked(xir_node *at, const char *where, size_t rank, const xir_ints *axes);

#endif
