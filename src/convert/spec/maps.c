/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Feature maps: see maps.h. */
#include "spec/maps.h"
#include "types.h"

xir_str map_order(size_t rank) {
    static const char *const orders[] = { "NCW", "NCHW", "NCDHW" };
    return rank >= 3 && rank <= 5 ? xir_str_of(orders[rank - 3]) : (xir_str){ NULL, 0 };
}

size_t map_channels(const xir_value *x) {
    const xir_layout *layout = xir_type_layout(xir_value_type(x));
    const int64_t axis = layout ? xir_layout_index(layout, 'C') : -1;
    return axis >= 0 ? (size_t)axis : v_rank(x) - (v_rank(x) > 0);
}

xir_value *map_input(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    at->order = map_order(v_rank(x));
    if (!at->order.size) return xir_node_unsupported(at, "a map of %zu dims", v_rank(x)), NULL;
    return node_in_order(at, x, at->order);
}

xir_value *map_as_output(xir_node *at, size_t i, xir_value *v) {
    const xir_value *y = xir_op_output(at->op, (int64_t)i);
    int64_t axes[8], back[8];
    char letters[9] = "";
    bool same;
    if (!v || !at->order.size) return v;
    if (xir_node_failed(at) || !node_axes_in(at, y, at->order, axes, &same)) return NULL;
    if (same) return v;
    const xir_layout *layout = xir_type_layout(xir_value_type(y));
    for (size_t k = 0; k < at->order.size; k++) back[axes[k]] = (int64_t)k;
    if (layout) (void)layout_letters(layout, letters, sizeof letters - 1);
    return xir_node_transposed(at, v, back, at->order.size, layout ? letters : NULL);
}

bool map_give(xir_node *at, xir_value *v) { return v && xir_node_result(at, 0, map_as_output(at, 0, v)); }

bool map_result_dims(xir_node *at, xir_ints *out) {
    const xir_value *y = xir_op_output(at->op, 0);
    int64_t axes[8];
    bool same;
    *out = xir_node_make_ints(at, at->order.size, 0);
    if (!out->v || !node_axes_in(at, y, at->order, axes, &same)) return false;
    for (size_t k = 0; k < out->n; k++) out->v[k] = v_dim(y, (size_t)axes[k]);
    return true;
}
