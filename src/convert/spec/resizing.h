/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Images in another size: Resize, for one to three spatial axes, and Upsample, for two, which has corners and curves.
 * Foreign formats have the channels second. */
#ifndef CONVERT_RESIZING_H
#define CONVERT_RESIZING_H

#include "node/helpers.h"
#include "node/lists.h"

/* The ways to compute a cell: it is the nearest one, or lies on a line or a curve between cells. */
typedef enum cell_way { CELL_NEAREST, CELL_LINEAR, CELL_CUBIC } cell_way;

typedef struct resizing {
    cell_way   way;
    bool       corners;   /* the outermost centres stay in place, instead of the borders         */
    bool       up;        /* it is an Upsample                                                   */
    bool       last;      /* the channels are last already                                       */
    list_items size;      /* of the spatial axes of the result                                   */
    xir_value *given;     /* an input of the op that gives them; NULL: none                      */
    bool       computed;  /* and it is not a constant                                            */
} resizing;

/* x in the size, whose items are all numbers for an Upsample. NULL after a failure. */
xir_value *op_of_resizing(xir_node *at, xir_value *x, const resizing *r);
/* The numbers of a list from item `first` on, as sizes. */
list_items size_of(xir_node *at, const xir_ints *list, size_t first);

/* Reads the node's op, without or with the size: that of its output in at->order (see map_input), in which -1 is an
 * open dim. False after a failure. */
bool resizing_form_of_op(xir_node *at, resizing *r);
bool resizing_of_op(xir_node *at, resizing *r);

#endif
