/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of images: convolutions at displaced positions, pools of regions, grids, blocks that overlap, maxima put back
 * in their places, and cuts around the centre. */
#include <stdio.h>
#include "formula/formulas.h"
#include "onnx/rows.h"
#include "formula/parts.h"
#include "formula/sampled.h"
#include "spec/borders.h"
#include "spec/windows.h"

enum { MOST_CELLS = 1 << 22, MOST_SIDE = 1 << 20 };   /* of constants and of a dim */

/* ---- DeformConv and RoiAlign ------------------------------------------------------------------------------------ */

bool onnx_deform_conv(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1);
    deformed d = { .groups = xir_node_int(at, "group", 1), .offset_groups = xir_node_int(at, "offset_group", 1),
                   .of_groups = "attribute/group", .of_offset_groups = "attribute/offset_group" };
    if (!node_has_rank(at, 0, x, 4) || !onnx_windows(at, x, kernel, &d.windows)) return false;
    return xir_node_result(at, 0, make_deformed(at, &d));
}

bool onnx_roi_align(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *regions = xir_node_input(at, 1), *batch = xir_node_input(at, 2);
    roi_pool p = { .n = { xir_node_int(at, "output_height", 1), xir_node_int(at, "output_width", 1) },
                   .samples = xir_node_int(at, "sampling_ratio", 0) };
    if (!xir_node_one_of(at, "mode", "avg", "avg|max") || !node_has_rank(at, 0, x, 4) ||
        !node_has_rank(at, 1, regions, 2) || !node_has_rank(at, 2, batch, 1)) return false;
    const char *transform = "coordinate_transformation_mode";
    if (!xir_node_one_of(at, transform, "half_pixel", "half_pixel|output_half_pixel")) return false;
    if (v_dim(regions, 1) >= 0 && v_dim(regions, 1) != 4) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                "dim 1 of input 1: expected 4, the corners of a region, found %lld",
                                (long long)v_dim(regions, 1));
    }
    for (int k = 0; k < 2; k++) {
        if (p.n[k] >= 1 && p.n[k] <= MOST_SIDE) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, k ? "attribute/output_width" : "attribute/output_height",
                                "expected 1 to %d, found %lld", MOST_SIDE, (long long)p.n[k]);
    }
    p.scale = xir_node_real(at, "spatial_scale", 1);
    p.max = xir_node_is(at, "mode", "max");
    p.halves = xir_node_version(at) >= 16 && !xir_node_is(at, transform, "output_half_pixel");
    return xir_node_result(at, 0, make_roi_align(at, x, regions, batch, &p));
}

/* ---- AffineGrid ------------------------------------------------------------------------------------------------- */

/* The matrix of each sample times the centres of the cells, with a 1 after the coordinates. */
bool onnx_affine_grid(xir_node *at) {
    xir_value *theta = xir_node_input(at, 0);
    xir_ints size;
    if (!node_has_rank(at, 0, theta, 3) || !xir_node_ints(at, 1, &size)) return false;
    const size_t n = size.n - 2;
    if (size.n != 4 && size.n != 5)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected 4 or 5 sizes, found %zu", size.n);
    if ((v_dim(theta, 1) >= 0 && v_dim(theta, 1) != (int64_t)n) ||
        (v_dim(theta, 2) >= 0 && v_dim(theta, 2) != (int64_t)n + 1)) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                "expected matrices of %zu rows and %zu columns, found %lld and "
                                "%lld", n, n + 1, (long long)v_dim(theta, 1), (long long)v_dim(theta, 2));
    }
    const bool corners = xir_node_int(at, "align_corners", 0);
    for (size_t i = 2; i < size.n; i++) {
        if (size.v[i] < 1 || size.v[i] > MOST_SIDE)
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "sizes[%zu]: expected 1 to %d, found %lld", i,
                                    MOST_SIDE,
                                    (long long)size.v[i]);
        if (corners && size.v[i] == 1) return xir_node_unsupported(at, "one cell between corners");
    }
    const xir_ints sides = { size.v + 2, size.n - 2 };
    const int64_t cells = product_of(&sides, 0, sides.n);
    if (!node_elements_at_most(at, &sides, MOST_CELLS / 4, "the grid")) return false;
    const double *v = grid_places(at, sides.v, n, cells, corners);
    if (!v) return false;
    const xir_ints dims = { (int64_t[]){ cells, (int64_t)n + 1 }, 2 };
    xir_value *base = xir_node_constant(at, v_element(theta), &dims, v, (size_t)(cells * ((int64_t)n + 1)));
    xir_value *y = make_matrix_product(at, base, make_swapped(at, theta));
    xir_ints to = xir_node_make_ints(at, n + 2, (int64_t)n);
    if (!y || !to.v) return false;
    to.v[0] = v_dim(y, 0) < 0 ? -1 : v_dim(y, 0);
    for (size_t i = 0; i < n; i++) to.v[1 + i] = size.v[2 + i];
    return xir_node_result(at, 0, make_reshaped(at, y, &to));
}

/* ---- Col2Im ----------------------------------------------------------------------------------------------------- */

/* The three attributes, which count cells of each axis. */
static bool read_steps(xir_node *at, windows *w) {
    static const struct { const char *name; size_t times; int64_t least; } rows[] = {
        { "strides", 1, 1 }, { "dilations", 1, 1 }, { "pads", 2, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_ints list;
        char where[32];
        snprintf(where, sizeof where, "attribute/%s", rows[i].name);
        if (!xir_node_items(at, rows[i].name, &list)) list = xir_node_make_ints(at, rows[i].times * w->n,
                                                                                rows[i].least);
        if (xir_node_failed(at)) return false;
        if (list.n != rows[i].times * w->n) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected %zu items, found %zu", rows[i].name,
                                    rows[i].times * w->n, list.n);
        }
        for (size_t k = 0; k < list.n; k++) {
            if (list.v[k] >= rows[i].least && list.v[k] <= MOST_SIDE) continue;
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s[%zu]: expected %lld to %d, found %lld", rows[i].name,
                                    k,
                                    (long long)rows[i].least, MOST_SIDE, (long long)list.v[k]);
        }
        memcpy(i == 0 ? w->stride : i == 1 ? w->dilation : w->before, list.v, w->n * sizeof *list.v);
        if (i == 2) memcpy(w->after, list.v + w->n, w->n * sizeof *list.v);
    }
    return true;
}

/* The windows whose columns x has; `more`: the cells of the image after the last window. */
static bool read_blocks(xir_node *at, const xir_value *x, windows *w) {
    xir_ints image, block;
    int64_t places = 1;
    if (!node_has_rank(at, 0, x, 3) || !xir_node_ints(at, 1, &image) || !xir_node_ints(at, 2, &block)) return false;
    if (image.n < 1 || image.n > 3 || block.n != image.n)
        return xir_node_unsupported(at, "images of %zu dims, blocks of %zu", image.n, block.n);
    if (!xir_node_need_dims(at, x, 1, 3)) return false;
    w->n = image.n;
    if (!read_steps(at, w)) return false;
    for (size_t k = 0; k < w->n; k++) {
        w->size[k] = block.v[k];
        const bool fine = block.v[k] >= 1 && block.v[k] <= MOST_SIDE;
        if (!fine || image.v[k] < 1 || image.v[k] > MOST_SIDE) {
            return xir_node_invalid(at, XIR_E_BOUNDS, fine ? "input/1" : "input/2",
                                    "item %zu: expected 1 to %d, found %lld",
                                    k, MOST_SIDE, (long long)(fine ? image.v[k] : block.v[k]));
        }
        const int64_t room = image.v[k] + w->before[k] + w->after[k] - w->dilation[k] * (w->size[k] - 1) - 1;
        if (room < 0) return xir_node_invalid(at, XIR_E_BOUNDS, "input/2", "the block does not fit into the image");
        w->input[k] = room / w->stride[k] + 1, w->more[k] = room % w->stride[k];
        if (!node_at_most(at, w->input[k], INT64_MAX / places, "dim %zu of the places", k)) return false;
        places *= w->input[k];
    }
    const int64_t cells = product_of(&block, 0, block.n), channels = cells > 0 ? v_dim(x, 1) / cells : 0;
    if (cells < 1 || v_dim(x, 1) % cells || v_dim(x, 2) != places) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected a multiple of %lld rows, cells of a block, and "
                                "%lld columns, places of it, found %lld and %lld", (long long)cells, (long long)places,
                                (long long)v_dim(x, 1), (long long)v_dim(x, 2));
    }
    if (channels < 1) return xir_node_unsupported(at, "no channels");
    return node_at_most(at, cells, 1 << 12, "the number of a block's cells") &&
           node_at_most(at, channels, MOST_CELLS / (cells * cells), "the number of channels, each with %lld cells,",
                        (long long)cells);
}

/* Each of the kernel's cells has a channel of its own: a transposed convolution with a kernel of ones in the places of
 * the channels adds what overlaps. Its attributes are those of the node, and its output has the size of the image. */
bool onnx_col2im(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    windows w = { .n = 0 };
    int64_t cells = 1;
    if (xir_node_failed(at) || !read_blocks(at, x, &w)) return false;
    for (size_t k = 0; k < w.n; k++) cells *= w.size[k];
    const int64_t rows = v_dim(x, 1), n = cells * rows;
    double *ones = node_reals(at, n);
    xir_ints to = xir_node_make_ints(at, w.n + 2, -1), dims = node_line(at, w.n + 2, w.n + 1, rows);
    if (!ones || !to.v || !dims.v) return false;
    for (int64_t i = 0; i < n; i++) ones[i] = i / rows == i % cells;
    to.v[1] = rows;
    for (size_t k = 0; k < w.n; k++) to.v[2 + k] = w.input[k], dims.v[k] = w.size[k];
    xir_value *kernel = xir_node_constant(at, v_element(x), &dims, ones, (size_t)n);
    w.groups = rows / cells, w.transposed = true;
    x = xir_node_channels_last(at, make_reshaped(at, x, &to));
    return xir_node_result(at, 0, xir_node_channels_second(at, op_of_convolution(at, x, kernel, NULL, &w)));
}

/* ---- CenterCropPad ---------------------------------------------------------------------------------------------- */

bool onnx_center_crop_pad(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints shape, axes;
    if (xir_node_failed(at) || !xir_node_ints(at, 1, &shape)) return false;
    const size_t rank = v_rank(x);
    if (!xir_node_items(at, "axes", &axes)) axes = xir_node_series(at, 0, rank);
    xir_ints cells = xir_node_make_ints(at, 2 * rank, 0);
    if (xir_node_failed(at)) return false;
    if (shape.n != axes.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected %zu sizes, one for each axis, found %zu", axes.n,
                                shape.n);
    }
    bool pads = false;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/axes", axes.v[i], rank, &axis)) return false;
        if (!xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        const int64_t dim = v_dim(x, (size_t)axis), to = shape.v[i];
        if (to < 0 || to > INT32_MAX)
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "shape[%zu]: expected at least 0, found %lld", i,
                                    (long long)to);
        if (to < dim) x = make_part(at, x, (size_t)axis, (dim - to) / 2, (dim - to) / 2 + to, 1);
        if (to <= dim || !x) continue;
        cells.v[2 * axis] = (to - dim) / 2;
        cells.v[2 * axis + 1] = to - dim - (to - dim) / 2;
        pads = true;
    }
    if (!pads) return xir_node_result(at, 0, x == xir_node_input(at, 0) ? xir_node_unary(at, "Copy", x) : x);
    return xir_node_result(at, 0, zeros_around(at, x, &cells));
}

/* ---- maxima with places ----------------------------------------------------------------------------------------- */

/* Each element of x goes to its place in the output, whose other elements are 0. Places count in the output that the
 * kernel implies; a larger one has that in its first corner. */
bool onnx_max_unpool(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *places = xir_node_input(at, 1);
    windows w;
    xir_ints shape;
    if (!onnx_windows(at, x, NULL, &w) || !node_has_rank(at, 1, places, v_rank(x))) return false;
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x);
    xir_ints dims = xir_node_dims(at, x), cells = xir_node_make_ints(at, 2 * rank, 0);
    const int64_t count = xir_node_failed(at) ? -1 : product_of(&dims, 0, rank);
    if (xir_node_failed(at)) return false;
    if (!node_elements_at_most(at, &dims, MOST_CELLS, "input 0")) return false;
    for (size_t i = 0; i < rank; i++) {   /* one of 0 hides the others from the count */
        if (!node_at_most(at, dims.v[i], MOST_CELLS, "dim %zu of input 0", i)) return false;
        if (v_dim(places, i) == dims.v[i] || v_dim(places, i) < 0) continue;
        return xir_node_invalid(at, XIR_E_INVALID, "input/1",
                                "dim %zu of input 1: expected %lld, like input 0, found %lld", i,
                                (long long)dims.v[i], (long long)v_dim(places, i));
    }
    for (size_t k = 0; k < w.n; k++) {
        dims.v[2 + k] = (dims.v[2 + k] - 1) * w.stride[k] + w.size[k] - w.before[k] - w.after[k];
        if (dims.v[2 + k] < 1) return xir_node_unsupported(at, "an output without cells");
    }
    const int64_t n = product_of(&dims, 0, rank);
    if (!node_elements_at_most(at, &dims, MOST_CELLS, "the output")) return false;
    bool larger = false;
    if (xir_node_has(at, 2)) {
        if (!xir_node_ints(at, 2, &shape)) return false;
        for (size_t i = 0; i < rank; i++) {
            if (shape.n == rank && shape.v[i] >= dims.v[i] && shape.v[i] <= MOST_SIDE) {
                cells.v[2 * i + 1] = shape.v[i] - dims.v[i];
                larger |= shape.v[i] != dims.v[i];
                continue;
            }
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/2",
                                    "expected %zu sizes of at least those that the kernel implies",
                                    rank);
        }
    }
    const xir_ints flat = { (int64_t[]){ n }, 1 };
    xir_value *zeros = xir_node_filled(at, v_element(x), &flat, 0);
    xir_value *y = xir_node_make(at, "ScatterND", INS(zeros, make_shaped(at, places, (int64_t[]){ count, 1 }, 2),
                                                      make_shaped(at, x, (int64_t[]){ count }, 1)), NO_SETS);
    y = y ? make_reshaped(at, y, &dims) : NULL;
    if (larger && y)
        y = op_of_borders(at, y, &(borders){ .cells = cells, .filled = true });
    return xir_node_result(at, 0, y);
}
