/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions at displaced positions: each cell of the kernel has an offset for each output. A GridSample collects the
 * cells of the image that the kernel meets, and a product with the kernel adds them up. */
#include "formula/formulas.h"
#include "formula/parts.h"
#include "formula/sampled.h"

enum { MOST_CELLS = 1 << 22, MOST_SIDE = 1 << 20 };   /* of constants and of a dim */

/* The undisplaced place of each cell of the kernel for each output, [1, kernel * rows, columns, 2]: x, then y. */
static xir_value *kernel_places(xir_node *at, const xir_type *e, const windows *w, const int64_t out[2]) {
    const int64_t k = w->size[0] * w->size[1], n = k * out[0] * out[1];
    double *v = node_reals(at, 2 * n);
    if (!v) return NULL;
    for (int64_t i = 0; i < n; i++) {
        const int64_t cell = i / (out[0] * out[1]), row = i / out[1] % out[0], column = i % out[1];
        const int64_t place[2] = { column, row }, in_kernel[2] = { cell % w->size[1], cell / w->size[1] };
        for (int d = 0; d < 2; d++) {
            const size_t axis = 1 - (size_t)d;
            v[2 * i + d] = (double)(place[d] * w->stride[axis] - w->before[axis] + in_kernel[d] * w->dilation[axis]);
        }
    }
    const xir_ints dims = { (int64_t[]){ 1, k * out[0], out[1], 2 }, 4 };
    return xir_node_constant(at, e, &dims, v, (size_t)(2 * n));
}

/* Positions in cells as those of GridSample: (2 p + 1) / size - 1. */
static xir_value *as_grid(xir_node *at, xir_value *p, const windows *w) {
    const double scale[2] = { 2 / (double)w->input[1], 2 / (double)w->input[0] };
    const double shift[2] = { 1 / (double)w->input[1] - 1, 1 / (double)w->input[0] - 1 };
    p = xir_node_product(at, p, xir_node_constant(at, v_element(p), NULL, scale, 2));
    return p ? xir_node_sum(at, p, xir_node_constant(at, v_element(p), NULL, shift, 2), 1, 1) : NULL;
}

/* Checks the dims of offsets or the mask, `parts` numbers for each cell of the kernel in each group. */
static bool moves_fit(xir_node *at, size_t i, const xir_value *v, const int64_t dims[4]) {
    const input_place here = place_of_input(i);
    if (!node_has_rank(at, i, v, 4) || !xir_node_need_dims(at, v, 0, 4)) return false;
    for (size_t d = 0; d < 4; d++) {
        if (v_dim(v, d) == dims[d]) continue;
        return xir_node_invalid(at, XIR_E_INVALID, here.text, "dim %zu of input %zu: expected %lld, found %lld", d, i,
                                (long long)dims[d], (long long)v_dim(v, d));
    }
    return true;
}

/* The image is sampled at the places of the kernel's cells plus their offsets: [batch, channels * cells, places]. */
static xir_value *sampled(xir_node *at, xir_value *x, xir_value *offset, xir_value *mask, const windows *w,
                          const int64_t out[2], int64_t groups) {
    static const int64_t order[] = { 0, 1, 2, 4, 5, 3 };
    const int64_t batch = v_dim(x, 0), channels = v_dim(x, 1), k = w->size[0] * w->size[1], n = out[0] * out[1];
    const xir_ints exchange = { (int64_t[]){ 1, 0 }, 2 };
    offset = make_shaped(at, offset, (int64_t[]){ batch, groups, k, 2, out[0], out[1] }, 6);
    offset = offset ? make_taken(at, xir_node_transposed(at, offset, order, 6, NULL), 5, &exchange) : NULL;
    offset = make_shaped(at, offset, (int64_t[]){ batch * groups, k * out[0], out[1], 2 }, 4);
    xir_value *grid = as_grid(at, xir_node_sum(at, offset, kernel_places(at, v_element(x), w, out), 1, 1), w);
    x = make_shaped(at, x, (int64_t[]){ batch * groups, channels / groups, w->input[0], w->input[1] }, 4);
    x = make_grid_sample(at, x, grid, "LINEAR", XIR_STR("zeros"), false);
    x = make_shaped(at, x, (int64_t[]){ batch, groups, channels / groups, k, n }, 5);
    if (mask && x) x = xir_node_product(at, x, make_shaped(at, mask, (int64_t[]){ batch, groups, 1, k, n }, 5));
    return x;
}

xir_value *make_deformed(xir_node *at, const deformed *d) {
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1), *offset = xir_node_input(at, 2),
              *bias = xir_node_optional_input(at, 3), *mask = xir_node_optional_input(at, 4);
    const windows *w = &d->windows;
    const int64_t group = d->groups, groups = d->offset_groups;
    if (!xir_node_need_dims(at, x, 0, 4) || !xir_node_need_dims(at, kernel, 0, 4) || !node_windows_fit(at, w))
        return NULL;
    const int64_t batch = v_dim(x, 0), channels = v_dim(x, 1), outputs = v_dim(kernel, 0),
                  k = w->size[0] * w->size[1];
    if (batch < 1 || channels < 1 || outputs < 1 || k < 1 || batch > MOST_SIDE || channels > MOST_SIDE ||
        outputs > MOST_SIDE || k > MOST_CELLS)
        return xir_node_unsupported(at, "a dim of 0, or a constant of more than 2^22 elements"), NULL;
    if (group < 1 || groups < 1 || channels % group || channels % groups || outputs % group) {
        const bool of_kernel = group < 1 || channels % group || outputs % group;
        return xir_node_invalid(at, XIR_E_INVALID, of_kernel ? d->of_groups : d->of_offset_groups,
                                "expected a divisor of the channels, found %lld",
                                (long long)(of_kernel ? group : groups)), NULL;
    }
    if (v_dim(kernel, 1) != channels / group) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/1", "dim 1 of the kernel: expected %lld, found %lld",
                                (long long)(channels / group), (long long)v_dim(kernel, 1)), NULL;
    }
    int64_t out[2];
    for (size_t i = 0; i < 2; i++) out[i] = window_room(w, i) / w->stride[i] + 1;
    const xir_ints all = { (int64_t[]){ k, out[0], out[1] }, 3 };
    const int64_t cells = product_of(&all, 0, 3), n = cells / k;
    if (cells < 0 || cells > MOST_CELLS)
        return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    if (!moves_fit(at, 2, offset, (int64_t[]){ batch, groups * k * 2, out[0], out[1] }) ||
        (mask && !moves_fit(at, 4, mask, (int64_t[]){ batch, groups * k, out[0], out[1] }))) return NULL;
    xir_value *y = sampled(at, x, offset, mask, w, out, groups);
    const int64_t rows = channels / group * k;
    y = make_shaped(at, y, (int64_t[]){ batch, group, rows, n }, 4);
    y = make_matrix_product(at, make_shaped(at, kernel, (int64_t[]){ group, outputs / group, rows }, 3), y);
    y = make_shaped(at, y, (int64_t[]){ batch, outputs, out[0], out[1] }, 4);
    if (!bias || !node_has_rank(at, 3, bias, 1)) return y;
    return xir_node_sum(at, y, make_shaped(at, bias, (int64_t[]){ outputs, 1, 1 }, 3), 1, 1);
}
