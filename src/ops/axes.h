/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Axes in attributes: a single axis or a list; negative ones count from the end; each may appear once. */
#ifndef OPS_AXES_H
#define OPS_AXES_H

#include "sort.h"

/* Reports an axis that is outside the dims of input 0. */
xir_status axis_outside(xir_infer *at, const char *where, int64_t axis, size_t rank);

/* Creates marks: marks->data[k] is 1 if the list, the value of attribute `where`, contains dim k of input 0,
 * otherwise 0. Fails with XIR_E_BOUNDS for an axis outside the dims and XIR_E_INVALID for a duplicate. */
xir_status mark_axes(xir_infer *at, const char *where, xir_i64s axes, dim_list *marks);
/* Marks every dim. */
xir_status mark_all(xir_infer *at, dim_list *marks);

#endif
