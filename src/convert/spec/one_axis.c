/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Axes that an attribute names: see one_axis.h. */
#include "spec/one_axis.h"

one_axis one_axis_in(xir_node *at, xir_value *x, const char *where, int64_t otherwise) {
    int64_t axis = xir_node_int(at, strchr(where, '/') + 1, otherwise);
    if (xir_node_failed(at) || !x || !xir_node_axis(at, where, axis, v_rank(x), &axis)) return (one_axis){ NULL, 0, 0 };
    return (one_axis){ x, (size_t)axis, v_dim(x, (size_t)axis) };
}

one_axis one_axis_of(xir_node *at, const char *where, int64_t otherwise) {
    return one_axis_in(at, xir_node_input(at, 0), where, otherwise);
}

one_axis known_axis_of(xir_node *at, const char *where, int64_t otherwise) {
    one_axis a = one_axis_of(at, where, otherwise);
    if (a.x && !xir_node_need_dims(at, a.x, a.axis, a.axis + 1)) a.x = NULL;
    return a;
}

bool axes_from_start(xir_node *at, const char *where, size_t rank, const xir_ints *axes) {
    for (size_t i = 0; i < axes->n; i++) if (!xir_node_axis(at, where, axes->v[i], rank, &axes->v[i])) return false;
    return !xir_node_failed(at);
}

xir_ints axes_marked(xir_node *at, const char *where, size_t rank, const xir_ints *axes) {
    xir_ints marks = xir_node_make_ints(at, rank, 0);
    for (size_t i = 0; i < axes->n && marks.v; i++) {
        int64_t axis;
        if (!xir_node_axis(at, where, axes->v[i], rank, &axis)) return (xir_ints){ NULL, 0 };
        marks.v[axis] = 1;
    }
    return marks;
}
