/* What becomes of the element type of an input. Quantised types carry scales, ratios and zero points, often an item
 * for each element of an axis; they stay right only if the values do. So an op whose results are its input's values,
 * or lie between them, passes the type on, its arrays following the axis they lie along; an op that computes others
 * refuses it, since the type of the result is then for whoever quantises to say. */
#ifndef OPS_ELEMENT_H
#define OPS_ELEMENT_H

#include "shape.h"

/* The element type of input i, for results that are computed: XIR_E_UNSUPPORTED if it is quantised. */
xir_status computed_element(xir_infer *at, size_t i, const xir_type **out);

/* The element type of input i, for results that are its values in other places. `to[k]` is the dim of the output
 * that holds all of dim k in its order, or -1: dim k is merged, split, cut or gone. `dims` are the output's. Arrays
 * along a dim that stays follow it; arrays whose items are all alike lie along a dim of the output again, with as
 * many items as that has; others are refused (XIR_E_UNSUPPORTED). */
xir_status moved_element(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, const xir_type **out);

#endif
