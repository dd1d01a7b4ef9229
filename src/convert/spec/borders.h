/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Cells around a tensor: how many, and what they are. */
#ifndef CONVERT_BORDERS_H
#define CONVERT_BORDERS_H

#include "node/helpers.h"
#include "node/lists.h"

typedef struct borders {
    xir_ints     cells;      /* for each dim those before it and those after it; negative: fewer of its own. All are -1
                              * where `amounts` is computed                                                          */
    xir_value   *amounts;    /* an input of the op that gives them; NULL: none                                       */
    bool         computed;   /* and it is not a constant                                                             */
    xir_pad_mode mode;
    bool         filled;     /* `value` is given, else it is 0: of the cells of XIR_PAD_CONSTANT                     */
    double       value;
} borders;

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

/* The numbers of cells as items. If not all are numbers, ops make a list of them. The padding is one with zeros. False
 * after a failure. */
bool borders_of_items(xir_node *at, const list_items *cells, borders *p);
/* The Pad of x; NULL after a failure, or after the node has been refused: its elements cannot have the value. */
xir_value *op_of_borders(xir_node *at, xir_value *x, const borders *p);
/* The Pad of x with zeros. */
xir_value *zeros_around(xir_node *at, xir_value *x, const xir_ints *cells);

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

/* Reads the padding of the node's op, of x. Its list is the node's own, and may be changed. False after a failure, or
 * after the node has been refused: without numbers for each dim of x. */
bool borders_of_op(xir_node *at, const xir_value *x, borders *p);
/* The same; the node is refused if the numbers are computed. */
bool fixed_borders_of_op(xir_node *at, const xir_value *x, borders *p);
/* A dialect's word for the mode, of those that it has by xir_pad_mode; NULL after the node has been refused: it has
 * none. */
typedef struct pad_words { const char *of[XIR_PAD_SYMMETRIC + 1]; } pad_words;
const char *border_word(xir_node *at, const borders *p, const pad_words *words);

#endif
