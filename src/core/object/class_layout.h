/* What a class's LAYOUT row says: what an op does when its inputs come with their axes in another order. The pass
 * `layout` reads it; declare.h lists the words. */
#ifndef CORE_CLASS_LAYOUT_H
#define CORE_CLASS_LAYOUT_H

#include <xir/class.h>

/* How the orders of inputs and outputs are related. ORDER LAYOUT */
typedef enum layout_kind {
    LAYOUT_NONE,
    LAYOUT_ANCHOR,    /* works in its own order, and its neighbours should                                       */
    LAYOUT_FIXED,     /* works in its own order; axes are found by their letters                                  */
    LAYOUT_EACH,      /* element by element: all inputs broadcast to the output, in one order                     */
    LAYOUT_SAME,      /* the first input and the outputs are in one order                                         */
    LAYOUT_JOIN,      /* all inputs and the output are                                                            */
    LAYOUT_LOSE,      /* the output lacks the axes that are named                                                 */
    LAYOUT_GAIN,      /* the output has one axis more                                                             */
    LAYOUT_GATHER,    /* an axis of the first input becomes those of the second                                   */
    LAYOUT_RESHAPE,   /* the same elements in row-major order, in other dims                                      */
    LAYOUT_SHAPE,     /* the dims as they were, from wherever they are                                            */
    LAYOUT_MATMUL,    /* rows and columns of a constant follow what is merged into the last axis                  */
    LAYOUT_KINDS
} layout_kind;

/* What the attributes of the row say of axes. ORDER LAYOUT */
typedef enum layout_form {
    BY_NONE,
    BY_AXIS,          /* one, from the end if negative                                                            */
    BY_AXIS_REF,      /* one or null: all of them                                                                 */
    BY_AXES,          /* a list                                                                                   */
    BY_ITEMS,         /* an item for each axis, the last for the last; missing ones are 1                         */
    BY_PAIRS,         /* two items for each                                                                       */
    BY_TYPE,          /* the type of the output                                                                   */
    BY_FACTORS,       /* numbers; channels as LAYOUT_CHANNELS has them if an attribute has more than one          */
    BY_DIMS,          /* the dims of the output and its letters                                                   */
    BY_RANGE,         /* the first axis, and the one after the last; null: the rank                               */
    BY_FORMS
} layout_form;

/* ORDER LAYOUT */
enum {
    LAYOUT_CHANNELS = 1,   /* channels are the axis C, else the last one: it has to be the last one then   */
    LAYOUT_BATCH    = 2,   /* the batch is the axis N, else the first one: it has to be the first one then */
    LAYOUT_IN_TURN  = 4,   /* the axes that are named stay in their order                                  */
    LAYOUT_NAMED    = 8,   /* some axis has to be named: all of them are something else                    */
    LAYOUT_ONES     = 16   /* where no axis is named, the dims of 1 are                                    */
};

enum { LAYOUT_ATTRS = 3 };

typedef struct class_layout {
    layout_kind      kind;
    layout_form      form;
    uint32_t         flags;
    const xir_field *attr[LAYOUT_ATTRS];   /* of the form; NULL past the last one          */
    const xir_field *keepdim;              /* of LAYOUT_LOSE: axes become dims of 1; NULL: no */
} class_layout;

/* Reads the LAYOUT row of a class, whose attributes and ports are known, into cls->layout. A row that contradicts the
 * class or itself is XIR_E_INVALID, with a finding. */
xir_status class_read_layout(xir_class *cls, const xir_row *row, xir_diags *why);

#endif
