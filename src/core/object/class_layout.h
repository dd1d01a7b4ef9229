/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The LAYOUT row of a class: what an op does if its inputs come with their axes in another order. The pass `layout`
 * uses it; declare.h lists the words. */
#ifndef CORE_CLASS_LAYOUT_H
#define CORE_CLASS_LAYOUT_H

#include <xir/class.h>

/* The relations between the orders of inputs and outputs. ORDER LAYOUT */
typedef enum layout_kind {
    LAYOUT_NONE,
    LAYOUT_ANCHOR,    /* works in its own order, and its neighbours should too                                   */
    LAYOUT_FIXED,     /* works in its own order; axes are found by their letters                                  */
    LAYOUT_EACH,      /* element by element: all inputs broadcast to the output, in one order                     */
    LAYOUT_SAME,      /* the first input and the outputs are in one order                                         */
    LAYOUT_JOIN,      /* all inputs and the output are in one order                                               */
    LAYOUT_LOSE,      /* the output lacks the named axes                                                          */
    LAYOUT_GAIN,      /* the output has one axis more                                                             */
    LAYOUT_GATHER,    /* an axis of the first input becomes the axes of the second                                */
    LAYOUT_RESHAPE,   /* the same elements in row-major order, in other dims                                      */
    LAYOUT_SHAPE,     /* the dims in their original order, wherever they are now                                  */
    LAYOUT_MATMUL,    /* rows and columns of a constant follow the axes merged into the last one                  */
    LAYOUT_KINDS
} layout_kind;

/* The ways in which attributes of the row refer to axes. ORDER LAYOUT */
typedef enum layout_form {
    BY_NONE,
    BY_AXIS,          /* one axis, from the end if negative                                                       */
    BY_AXIS_REF,      /* one axis, or null for all of them                                                        */
    BY_AXES,          /* a list of axes                                                                           */
    BY_ITEMS,         /* an item for each axis, the last item for the last axis; missing items are 1              */
    BY_PAIRS,         /* two items for each axis                                                                  */
    BY_TYPE,          /* the type of the output                                                                   */
    BY_FACTORS,       /* numbers; channels as for LAYOUT_CHANNELS if an attribute has more than one               */
    BY_DIMS,          /* the dims of the output and its letters                                                   */
    BY_RANGE,         /* the first axis, and the one after the last; null: the rank                               */
    BY_FORMS
} layout_form;

/* ORDER LAYOUT */
enum {
    LAYOUT_CHANNELS = 1,   /* channels are the axis C, otherwise the last one, which must then be last     */
    LAYOUT_BATCH    = 2,   /* the batch is the axis N, otherwise the first one, which must then be first   */
    LAYOUT_IN_TURN  = 4,   /* the named axes keep their relative order                                     */
    LAYOUT_NAMED    = 8,   /* some axis must be named: all axes means something else                       */
    LAYOUT_ONES     = 16   /* if no axis is named, the dims of 1 are                                       */
};

enum { LAYOUT_ATTRS = 3 };

typedef struct class_layout {
    layout_kind      kind;
    layout_form      form;
    uint32_t         flags;
    const xir_field *attr[LAYOUT_ATTRS];   /* of the form; NULL past the last one          */
    const xir_field *keepdim;              /* LAYOUT_LOSE: whether axes become dims of 1; NULL: no */
} class_layout;

/* Reads the LAYOUT row of a class, whose attributes and ports are already known, into cls->more->layout. A row that
 * contradicts the class or itself is XIR_E_INVALID, with a finding. */
xir_status class_read_layout(xir_class *cls, const xir_row *row, xir_diags *why);

#endif
