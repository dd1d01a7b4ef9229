/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Images in other sizes, and their windows as columns, in terms of products with matrices, picked cells and slices. */
#include <math.h>
#include <string.h>
#include "formula/parts.h"
#include "formula/sampled.h"
#include "formula/simpler.h"
#include "spec/borders.h"
#include "spec/resizing.h"
#include "spec/slicing.h"

enum { MOST_CELLS = 1 << 22, MOST_WINDOW = 256 };

/* The place of a letter among the axes of a map; without a layout the channels come last. */
static bool axis_of(xir_node *at, const xir_value *x, char letter, size_t *out) {
    static const char *const orders[] = { "NLC", "NHWC", "NDHWC" };
    const size_t rank = v_rank(x);
    const xir_layout *layout = xir_type_layout(xir_value_type(x));
    const char *order = rank >= 3 && rank <= 5 ? orders[rank - 3] : "", *p = strchr(order, letter);
    int64_t axis = layout ? xir_layout_index(layout, letter) : -1;
    if (layout && axis < 0 && letter == 'L') axis = xir_layout_index(layout, 'W');
    bool named = false;
    for (size_t i = 0; layout && i < xir_layout_rank(layout); i++) named |= xir_layout_axis(layout, i) != '*';
    if (axis < 0 && !named && p) axis = p - order;
    *out = (size_t)axis;
    return axis >= 0 || xir_node_unsupported(at, "axes with other letters");
}

/* ---- other sizes ------------------------------------------------------------------------------------------------ */

/* The axis in another length; the nearest cell of a place is that of half a cell after it. */
static xir_value *resized_axis(xir_node *at, xir_value *x, size_t axis, int64_t out, const resizing *r) {
    const int64_t in = v_dim(x, axis);
    const bool near = r->way == CELL_NEAREST;
    double *places = node_reals(at, out);
    for (int64_t p = 0; p < out && places; p++) {
        places[p] = !r->corners ? ((double)p + 0.5) * (double)in / (double)out - 0.5
                  : out > 1 ? (double)p * (double)(in - 1) / (double)(out - 1) : 0;
        if (near) places[p] += 0.5;
    }
    return make_resampled(at, x, axis, places, out, r->way);
}

/* Resize and Upsample: one axis after the other. */
bool simpler_resize(xir_node *at) {
    static const char *const letters[] = { "L", "HW", "DHW" };
    resizing r;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (!resizing_form_of_op(at, &r)) return false;
    const bool near = r.way == CELL_NEAREST;
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, y, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(x);
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "a map of %zu dims", rank);
    if (!near && v_is_integer(x)) return xir_node_unsupported(at, "integers between those of the cells");
    const xir_value *given = x;
    for (const char *letter = letters[rank - 3]; *letter && x; letter++) {
        size_t axis;
        if (!axis_of(at, given, *letter, &axis)) return false;
        const int64_t in = v_dim(given, axis), out = v_dim(y, axis);
        if (in < 1 || out < 1 || out > MOST_CELLS) return xir_node_unsupported(at, "no elements, or very many");
        if (in != out) x = resized_axis(at, x, axis, out, &r);
    }
    return x == given ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : x && xir_node_result(at, 0, x);
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* One slice for each cell of the window, in a dim after the channels. */
static xir_value *window_slices(xir_node *at, xir_value *x, const int64_t size[2], const int64_t stride[2],
                                const int64_t dilation[2]) {
    xir_value *parts[MOST_WINDOW];
    size_t n = 0;
    int64_t begin[4] = { 0 }, end[4] = { INT64_MAX, INT64_MAX }, step[4] = { 1, 1, stride[0], stride[1] };
    for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++) {
            begin[2] = i * dilation[0], begin[3] = j * dilation[1];
            for (size_t k = 0; k < 2; k++) end[2 + k] = v_dim(x, 2 + k) - (size[k] - 1) * dilation[k] + begin[2 + k];
            parts[n++] = op_of_slicing(at, x, &(slicing){ { begin, 4 }, { end, 4 }, { step, 4 }, NULL, false });
        }
    return xir_node_failed(at) ? NULL : xir_node_make(at, "Stack", (xir_values){ parts, n }, SETS(INT("dim", 2)));
}

/* The dims N, L and C come in the order of N, the first of H and W, and C. */
bool simpler_unfold(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    const int64_t size[] = { xir_node_int(at, "kernel_height", 1), xir_node_int(at, "kernel_width", 1) },
                  stride[] = { xir_node_int(at, "stride_height", 1), xir_node_int(at, "stride_width", 1) },
                  dilation[] = { xir_node_int(at, "dilation_height", 1), xir_node_int(at, "dilation_width", 1) };
    size_t n, c, h, w;
    int64_t pads[] = { 0, 0, 0, 0, xir_node_int(at, "pad_top", 0), xir_node_int(at, "pad_bottom", 0),
                       xir_node_int(at, "pad_left", 0), xir_node_int(at, "pad_right", 0) };
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, y, 0, SIZE_MAX)) return false;
    if (!axis_of(at, x, 'N', &n) || !axis_of(at, x, 'C', &c) || !axis_of(at, x, 'H', &h) || !axis_of(at, x, 'W', &w))
        return false;
    if (size[0] > MOST_WINDOW || size[1] > MOST_WINDOW || size[0] * size[1] > MOST_WINDOW)
        return xir_node_unsupported(at, "a window of %lld x %lld cells", (long long)size[0], (long long)size[1]);
    const int64_t second[] = { (int64_t)n, (int64_t)c, (int64_t)h, (int64_t)w };
    const xir_ints cells = { pads, 8 };
    bool padded = false, same = true;
    for (size_t i = 0; i < 4; i++) same &= second[i] == (int64_t)i;
    for (size_t i = 4; i < 8; i++) padded |= pads[i] != 0;
    if (!same) x = xir_node_transposed(at, x, second, 4, NULL);
    if (padded) x = zeros_around(at, x, &cells);
    x = x ? window_slices(at, x, size, stride, dilation) : NULL;
    /* the places of N, C * kernel and L in the result */
    const size_t first = h < w ? h : w, rank_n = (n > c) + (n > first), rank_c = (c > n) + (c > first),
                 rank_l = (first > n) + (first > c);
    int64_t order[3];
    order[rank_n] = 0, order[rank_c] = 1, order[rank_l] = 2;
    const int64_t dims[] = { v_dim(y, rank_n), v_dim(y, rank_c), v_dim(y, rank_l) };
    x = make_shaped(at, x, dims, 3);
    if (x && !(rank_n == 0 && rank_c == 1)) x = xir_node_transposed(at, x, order, 3, NULL);
    return x && xir_node_result(at, 0, x);
}
