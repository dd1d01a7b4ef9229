/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of what resizes images or exchanges their blocks with channels. */
#include "pnnx/pnnx.h"
#include "spec/maps.h"

/* Resize and Upsample: sizes are given, so both ends of the cells are at the borders, unless the corners are aligned.
 * */
bool pnnx_back_resize(xir_node *at) {
    xir_value *x = map_input(at);
    xir_ints dims;
    if (!x) return false;
    const size_t n = v_rank(x) - 2;
    const bool corners = xir_node_bool(at, "align_corners", false);
    const bool nearest = xir_node_is(at, "interpolation", "INTER_NEAREST") ||
        xir_node_is(at, "interpolation", "NEAREST");
    const bool cubic = xir_node_is(at, "interpolation", "BICUBIC");
    if (!nearest && v_is_integer(x)) return xir_node_unsupported(at, "integers between those of the cells");
    if (xir_node_has(at, 1) && !xir_node_is_constant(at, 1)) {   /* of Resize, which does not align corners */
        const char *how = nearest ? "nearest-exact" : BY_RANK(n, "linear", "bilinear", "trilinear");
        return row_becomes(at, INS(x, pnnx_listed(at, xir_node_input(at, 1))), SETS(WORD("mode", xir_str_of(how))));
    }
    if (!map_result_dims(at, &dims)) return false;
    const xir_ints size = { dims.v + 2, n };
    for (size_t k = 0; k < n; k++) if (size.v[k] < 1) return xir_node_unsupported(at, "an open size");
    if (nearest && corners) return xir_node_unsupported(at, "nearest cells with aligned corners");
    bool whole = true;
    for (size_t k = 0; k < n && whole; k++) whole = v_dim(x, 2 + k) > 0 && size.v[k] % v_dim(x, 2 + k) == 0;
    const char *word = nearest ? whole ? "nearest" : "nearest-exact"
                     : cubic ? "bicubic" : BY_RANK(n, "linear", "bilinear", "trilinear");
    const xir_any none = xir_any_null();
    const xir_set aligned = nearest ? (xir_set){ .name = "align_corners", .kind = XIR_SET_ANY, .p = &none }
                                    : (xir_set)XIR_SETB("align_corners", corners);
    return row_becomes(at, INS(x), SETS(LIST("size", &size), WORD("mode", xir_str_of(word)), aligned));
}

/* The grid has its places in the last axis. */
bool pnnx_back_grid_sample(xir_node *at) {
    xir_value *x = map_input(at), *grid = xir_node_input(at, 1);
    if (!x || !grid) return false;
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
    static const int64_t swap[] = { 0, 2, 1 };
    const xir_value *own = xir_node_input(at, 0);
    xir_value *x = map_input(at);
    xir_set sets[COUNT(names)];
    if (!x) return false;
    at->order = (xir_str){ NULL, 0 };
    if (x == own) return row_becomes(at, INS(x), NO_SETS);
    for (size_t i = 0; i < COUNT(names); i++) sets[i] = (xir_set)INT(names[i], xir_node_int(at, names[i], 0));
    xir_value *y = xir_node_make(at, "Unfold", INS(x), (xir_sets){ sets, COUNT(names) });
    return xir_node_result(at, 0, y ? xir_node_transposed(at, y, swap, 3, NULL) : NULL);
}
