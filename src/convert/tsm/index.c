/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators with indices, which count from the end if they are negative. */
#include <stdio.h>
#include "spec/one_axis.h"
#include "tsm/tsm.h"

bool tsm_gather(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", 0);
    xir_value *index = tsm_index(at, xir_node_input(at, 1));
    return xir_node_becomes(at, at->cls->row->cls, INS(a.x, index), SETS(AXIS("axis", a)));
}
bool tsm_gather_elements(xir_node *at) { return tsm_gather(at); }

bool tsm_gather_nd(xir_node *at) {
    return xir_node_becomes(at, "GatherND", INS(xir_node_input(at, 0), tsm_index(at, xir_node_input(at, 1))), NO_SETS);
}

bool tsm_scatter_nd(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *index = tsm_index(at, xir_node_input(at, 1)), *more = xir_node_input(at, 2);
    if (!xir_node_same_elements(at, 0, x, 2, more)) return false;
    return xir_node_becomes(at, "ScatterND", INS(x, index, more), NO_SETS);
}

bool tsm_dimshuffle(xir_node *at) {
    xir_ints places;
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !node_axis(at, "dim", 0, v_rank(x), &axis) || !tsm_list(at, "shuffle", SIZE_MAX, 0, &places))
        return false;
    const int64_t n = v_dim(x, (size_t)axis);
    for (size_t i = 0; i < places.n && n >= 0; i++)
        if (places.v[i] >= n) return tsm_out_of_range(at, "shuffle", places.v[i]);
    return xir_node_result(at, 0, make_taken(at, x, (size_t)axis, &places));
}
