/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of images in other sizes, and at the places of a grid; NNabla has their channels second. What the C
 * runtime does not compute, or NNabla computes in another way, becomes products and slices (simpler_images.c). */
#include "nnb/nnb.h"
#include "spec/maps.h"
#include "spec/resizing.h"

/* The dims of the result in the order of NNabla's maps. */
static bool known_dims(xir_node *at, xir_ints *out) {
    return xir_node_need_dims(at, xir_op_output(at->op, 0), 0, SIZE_MAX) && map_result_dims(at, out);
}

static bool gives(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_ints *dims) {
    return map_give(at, foreign_tensor(at, key, inputs, sets, v_element(inputs.data[0]), dims));
}

/* Upsample and Resize. In NNabla an image of one cell has other linear cells, and one with aligned corners has other
 * nearest cells. */
bool nnb_back_resize(xir_node *at) {
    resizing r;
    xir_value *x = map_input(at);
    xir_ints dims;
    if (!x || !xir_node_need_dims(at, x, 2, SIZE_MAX) || !known_dims(at, &dims) || !resizing_form_of_op(at, &r))
        return false;
    const size_t n = v_rank(x) - 2;
    const bool corners = r.corners, nearest = r.way == CELL_NEAREST;
    const xir_ints size = { dims.v + 2, n };
    xir_ints kernel = xir_node_make_ints(at, n, 1);
    bool times = nearest && !corners, single = false;
    for (size_t k = 0; k < n && kernel.v; k++) {
        const int64_t in = v_dim(x, 2 + k), out = size.v[k];
        if (in < 1 || out < 1) return xir_node_unsupported(at, "a dim of %lld", (long long)(in < 1 ? in : out));
        times &= out % in == 0;
        single |= out == 1 && in > 1;
        kernel.v[k] = out / in;
    }
    if (!kernel.v) return false;
    if (times) {
        const xir_set sets[] = { LIST("kernel", &kernel), XIR_SETB("channel_last", false) };
        return gives(at, "nnb::Unpooling", INS(x), (xir_sets){ sets, nnb_level(at) >= 13 ? 2 : 1 }, &dims);
    }
    if (r.way == CELL_CUBIC) return xir_node_unsupported(at, "cubic convolutions");
    if (nearest ? corners : single && !corners) return xir_node_unsupported(at, "NNabla takes other cells");
    if (nnb_level(at) < 14) return xir_node_unsupported(at, "interpolation, which needs api level 14");
    return gives(at, "nnb::Interpolate", INS(x),
                 SETS(LIST("output_size", &size), WORD("mode", xir_str_of(nearest ? "nearest" : "linear")),
                      XIR_SETB("align_corners", corners), XIR_SETB("half_pixel", !corners),
                      XIR_SETB("half_pixel_for_nn", nearest), XIR_SETB("channel_last", false)), &dims);
}

/* The grid has its coordinates in the last axis. */
bool nnb_back_grid_sample(xir_node *at) {
    xir_value *x = map_input(at), *grid = xir_node_input(at, 1);
    xir_ints dims;
    if (!x || !grid || !known_dims(at, &dims)) return false;
    const xir_layout *layout = xir_type_layout(xir_value_type(grid));
    const int64_t c = layout ? xir_layout_index(layout, 'C') : -1;
    if (c >= 0 && c + 1 != (int64_t)v_rank(grid)) return xir_node_unsupported(at, "a grid in another order");
    if (!xir_node_is(at, "interpolation", "LINEAR"))
        return xir_node_unsupported(at, "NNabla takes another nearest cell of a half, and has no cubic ones");
    const char *padding = xir_node_is(at, "padding_mode", "ZEROS") ? "zero"
                        : xir_node_is(at, "padding_mode", "BORDER") ? "repeat" : "reflect";
    return gives(at, "nnb::WarpByGrid", INS(x, grid),
                 SETS(WORD("mode", XIR_STR("linear")), WORD("padding_mode", xir_str_of(padding)),
                      XIR_SETB("align_corners", xir_node_bool(at, "align_corners", false)),
                      XIR_SETB("channel_last", false)), &dims);
}
