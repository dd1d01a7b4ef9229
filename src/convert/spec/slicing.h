/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A slice: which elements of each dim a tensor keeps. Bounds are those of XIR's Slice: negative ones count from the
 * end, and no number is out of bounds. */
#ifndef CONVERT_SLICING_H
#define CONVERT_SLICING_H

#include "node/helpers.h"
#include "node/lists.h"

/* An item for each dim. */
typedef struct slicing {
    xir_ints   begin, end, step;   /* begin and end are -1 where `bounds` is computed                        */
    xir_value *bounds;             /* an input of the op that gives all begins, then all ends; NULL: none    */
    bool       computed;           /* and it is not a constant                                               */
} slicing;

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

/* All elements of a tensor of `rank` dims. False after a failure. */
bool slicing_begin(xir_node *at, size_t rank, slicing *s);
/* From the begins of all dims, then their ends, as items, and the steps. If not all items are numbers, ops make a list
 * of them. False after a failure. */
bool slicing_of_items(xir_node *at, const list_items *bounds, const xir_ints *step, slicing *s);
/* The Slice of x; NULL after a failure. */
xir_value *op_of_slicing(xir_node *at, xir_value *x, const slicing *s);

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

/* Reads the slice of the node's op, of x. Its lists are the node's own, and may be changed. False after a failure, or
 * after the node has been refused: without an item for each dim of x. */
bool slicing_of_op(xir_node *at, const xir_value *x, slicing *s);
/* The same; the node is refused if bounds are computed, or a dim of x is unknown. */
bool fixed_slicing_of_op(xir_node *at, const xir_value *x, slicing *s);

/* A slice takes `count` of the n elements of a dim, from `first` on. The next one in this direction would be
 * at `end` or after it. All count from 0; backward, -1 is before the first element. */
typedef struct slice_part { int64_t first, end, count; } slice_part;
slice_part slicing_picks(const slicing *s, size_t axis, int64_t n);

#endif
