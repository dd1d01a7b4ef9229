/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of what resizes images or exchanges their blocks with channels. */
#include "pnnx/pnnx.h"
#include "spec/maps.h"
#include "spec/resizing.h"

/* Resize and Upsample: sizes are given, so both ends of the cells are at the borders, unless the corners are
 * aligned. */
bool pnnx_back_resize(xir_node *at) {
    resizing r;
    xir_value *x = map_input(at);
    if (!x || !resizing_of_op(at, &r)) return false;
    const size_t n = r.size.n;
    const bool nearest = r.way == CELL_NEAREST;
    const char *between = r.way == CELL_CUBIC ? "bicubic" : BY_RANK(n, "linear", "bilinear", "trilinear");
    if (!nearest && v_is_integer(x)) return xir_node_unsupported(at, "integers between those of the cells");
    if (r.computed)   /* of Resize, which does not align corners */
        return row_becomes(at, INS(x, pnnx_listed(at, r.given)),
                           SETS(WORD("mode", xir_str_of(nearest ? "nearest-exact" : between))));
    xir_ints size = xir_node_make_ints(at, n, 0);
    bool whole = true;
    for (size_t k = 0; k < size.n; k++) {
        const int64_t to = size.v[k] = r.size.v[k].v, from = v_dim(x, 2 + k);
        if (to < 1) return xir_node_unsupported(at, "an open size");
        whole = whole && from > 0 && to % from == 0;
    }
    if (nearest && r.corners) return xir_node_unsupported(at, "nearest cells with aligned corners");
    const char *word = !nearest ? between : whole ? "nearest" : "nearest-exact";
    const xir_any none = xir_any_null();
    const xir_set aligned = nearest ? (xir_set){ .name = "align_corners", .kind = XIR_SET_ANY, .p = &none }
                                    : (xir_set)XIR_SETB("align_corners", r.corners);
    return row_becomes(at, INS(x), SETS(LIST("size", &size), WORD("mode", xir_str_of(word)), aligned));
}

/* The grid has its places in the last axis. */
bool pnnx_back_grid_sample(xir_node *at) {
    xir_value *x = map_input(at), *grid = xir_node_input(at, 1);
    const xir_layout *layout = xir_type_layout(xir_value_type(grid));
    const int64_t c = layout ? xir_layout_index(layout, 'C') : -1;
    if (c >= 0 && c + 1 != (int64_t)v_rank(grid)) return xir_node_unsupported(at, "a grid in another order");
    return row_becomes(at, INS(x, grid), NO_SETS);
}

/* ChannelShuffle and PixelShuffle. */
bool pnnx_back_shuffle(xir_node *at) {
    xir_value *x = map_input(at);
    return x && row_becomes(at, INS(x), NO_SETS);
}

/* Windows as columns, [n, c k, places], from maps with the channels second; others have [n, places, c k]. */
bool pnnx_back_unfold(xir_node *at) {
    static const char *const names[] = { "kernel_width", "kernel_height", "stride_width", "stride_height", "pad_top",
                                         "pad_bottom", "pad_left", "pad_right", "dilation_width", "dilation_height" };
    const xir_value *own = xir_node_input(at, 0);
    xir_value *x = map_input(at);
    xir_set sets[COUNT(names)];
    at->order = (xir_str){ NULL, 0 };
    if (x == own) return row_becomes(at, INS(x), NO_SETS);
    for (size_t i = 0; i < COUNT(names); i++) sets[i] = (xir_set)INT(names[i], xir_node_int(at, names[i], 0));
    xir_value *y = xir_node_make(at, "Unfold", INS(x), (xir_sets){ sets, COUNT(names) });
    return xir_node_result(at, 0, y ? make_swapped(at, y) : NULL);
}
