/* Axes as attributes name them: one or a list, from the end if negative, each once. */
#ifndef OPS_AXES_H
#define OPS_AXES_H

#include "sort.h"

/* Says that an axis of input 0 is outside of its dims. */
xir_status axis_outside(xir_infer *at, const char *where, int64_t axis, size_t rank);

/* marks->data[k] is 1 if the list, the value of attribute `where`, has dim k of input 0, otherwise 0. Made unless it
 * fails: XIR_E_BOUNDS for one outside, XIR_E_INVALID for one that is there twice. */
xir_status mark_axes(xir_infer *at, const char *where, xir_i64s axes, dim_list *marks);
/* Every dim. */
xir_status mark_all(xir_infer *at, dim_list *marks);

#endif
