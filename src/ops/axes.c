/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <inttypes.h>
#include "axes.h"

xir_status axis_outside(xir_infer *at, const char *where, int64_t axis, size_t rank) {
    return xir_infer_fail(at, XIR_E_BOUNDS, where, "%s %" PRId64 " is outside the %zu dim%s of %s", where, axis, rank,
                          rank == 1 ? "" : "s", input_name(at, 0));
}

static xir_status mark(xir_infer *at, dim_list *marks, int64_t value) {
    if (!dims_init(at, marks, xir_type_rank(xir_infer_input(at, 0)))) return XIR_E_MEMORY;
    for (size_t k = 0; k < marks->size; k++) marks->data[k] = value;
    return XIR_OK;
}

xir_status mark_all(xir_infer *at, dim_list *marks) { return mark(at, marks, 1); }

xir_status mark_axes(xir_infer *at, const char *where, xir_i64s axes, dim_list *marks) {
    xir_status status = mark(at, marks, 0);
    if (status) return status;
    for (size_t i = 0; i < axes.size && !status; i++) {
        int64_t axis = from_start(axes.data[i], marks->size);
        if (axis < 0) status = axis_outside(at, where, axes.data[i], marks->size);
        else if (marks->data[axis]++) {
            status = xir_infer_fail(at, XIR_E_INVALID, where, "%s lists dim %" PRId64 " of %s twice", where, axis,
                                    input_name(at, 0));
        }
    }
    if (status) dims_free(marks);
    return status;
}
