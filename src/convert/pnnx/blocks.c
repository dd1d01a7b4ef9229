/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that exchange blocks of an image with channels: shuffles, windows as columns and back. */
#include <string.h>
#include "pnnx/pnnx.h"
#include "spec/borders.h"

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* x taken apart into dims, which are put into another order and joined. */
static bool blocks(xir_node *at, xir_value *x, const int64_t *apart, const int64_t *order, size_t n,
                   const int64_t *back, size_t rank) {
    xir_value *y = make_shaped(at, x, apart, n);
    y = y ? xir_node_transposed(at, y, order, n, NULL) : NULL;
    return xir_node_result(at, 0, make_shaped(at, y, back, rank));
}

/* [n, c, h, w] of x with known channels and image; dims before them become n. */
static bool image_of(xir_node *at, const char *name, xir_value **x, int64_t *factor, int64_t dims[4]) {
    *x = xir_node_input(at, 0);
    *factor = xir_node_int(at, name, 1);
    if (!*x) return false;
    const size_t rank = v_rank(*x);
    if (rank < 3) return xir_node_unsupported(at, "an input of %zu dims", rank);
    if (*factor < 1 || *factor > 1 << 10) return xir_node_unsupported(at, "a factor of %lld", (long long)*factor);
    if (!xir_node_need_dims(at, *x, rank - 3 > 1 ? 0 : rank - 3, SIZE_MAX)) return false;
    const xir_ints all = xir_node_dims(at, *x);
    for (size_t i = 1; i < 4 && all.v; i++) dims[i] = all.v[rank - 4 + i];
    dims[0] = all.v ? product_of(&all, 0, rank - 3) : -1;
    return all.v;
}

/* The same dims before the last three. */
static bool image_blocks(xir_node *at, xir_value *x, const int64_t *apart, const int64_t *order,
                         const int64_t image[3]) {
    xir_ints back = xir_node_dims(at, x);
    for (size_t i = 0; i < 3 && back.v; i++) back.v[back.n - 3 + i] = image[i];
    return back.v && blocks(at, x, apart, order, 6, back.v, back.n);
}

bool pnnx_pixel_shuffle(xir_node *at) {
    static const int64_t order[] = { 0, 1, 4, 2, 5, 3 };
    xir_value *x;
    int64_t r, d[4];
    if (!image_of(at, "upscale_factor", &x, &r, d)) return false;
    if (d[1] % (r * r)) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected a multiple of %lld channels, found %lld",
                                (long long)(r * r), (long long)d[1]);
    }
    const int64_t c = d[1] / (r * r);
    return image_blocks(at, x, (int64_t[]){ d[0], c, r, r, d[2], d[3] }, order, (int64_t[]){ c, d[2] * r, d[3] * r });
}

bool pnnx_pixel_unshuffle(xir_node *at) {
    static const int64_t order[] = { 0, 1, 3, 5, 2, 4 };
    xir_value *x;
    int64_t r, d[4];
    if (!image_of(at, "downscale_factor", &x, &r, d)) return false;
    if (d[2] % r || d[3] % r)
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected rows and columns that are multiples of %lld",
                                (long long)r);
    return image_blocks(at, x, (int64_t[]){ d[0], d[1], d[2] / r, r, d[3] / r, r }, order,
                        (int64_t[]){ d[1] * r * r, d[2] / r, d[3] / r });
}

bool pnnx_channel_shuffle(xir_node *at) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    xir_value *x = xir_node_input(at, 0);
    const int64_t groups = xir_node_int(at, "groups", 1);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_ints dims = xir_node_dims(at, x);
    if (dims.n < 2 || groups < 1 || dims.v[1] % groups)
        return xir_node_unsupported(at, "channels that are not divided");
    const int64_t rest = product_of(&dims, 2, dims.n);
    return blocks(at, x, (int64_t[]){ dims.v[0], groups, dims.v[1] / groups, rest }, order, 4, dims.v, dims.n);
}

/* ---- windows as columns ----------------------------------------------------------------------------------------- */

typedef struct patches { int64_t size[2], stride[2], dilation[2], pad[2], out[2], in[2]; } patches;

static bool read_patches(xir_node *at, patches *p) {
    xir_ints list;
    static const char *const names[] = { "kernel_size", "stride", "dilation", "padding" };
    int64_t *const to[] = { p->size, p->stride, p->dilation, p->pad };
    for (size_t k = 0; k < 4; k++) {
        to[k][0] = to[k][1] = k < 3;
        if (pnnx_list(at, names[k], 2, &list)) memcpy(to[k], list.v, 2 * sizeof *list.v);
        if (xir_node_failed(at)) return false;
        for (size_t i = 0; i < 2; i++)
            if (to[k][i] < (k < 3) || to[k][i] > 1 << 16) return xir_node_unsupported(at, "this %s", names[k]);
    }
    for (size_t i = 0; i < 2; i++) {
        if (p->in[i] < 0 || p->in[i] > 1 << 24) return xir_node_unsupported(at, "a dim above 2^24");
        const int64_t room = p->in[i] + 2 * p->pad[i] - p->dilation[i] * (p->size[i] - 1) - 1;
        if (room < 0) return xir_node_unsupported(at, "windows that do not fit");
        p->out[i] = room / p->stride[i] + 1;
    }
    return true;
}

/* [n, c k, places]: the channels are outermost. */
bool pnnx_unfold(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    patches p;
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) != 4) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x));
    p.in[0] = v_dim(x, 2), p.in[1] = v_dim(x, 3);
    if (!read_patches(at, &p)) return false;
    const int64_t n = v_dim(x, 0), c = v_dim(x, 1);
    for (size_t i = 0; i < 2; i++)
        if (!node_at_most(at, p.out[i] * p.size[i], PNNX_MOST_LISTED, "the number of rows of all windows along dim %zu",
                          2 + i)) return false;
    const xir_ints pads = { (int64_t[]){ 0, 0, 0, 0, p.pad[0], p.pad[0], p.pad[1], p.pad[1] }, 8 };
    if (p.pad[0] || p.pad[1]) x = zeros_around(at, x, &pads);
    for (size_t i = 0; i < 2; i++) {
        xir_ints places = xir_node_make_ints(at, (size_t)(p.out[i] * p.size[i]), 0);
        for (size_t k = 0; k < places.n; k++)
            places.v[k] = (int64_t)k / p.out[i] * p.dilation[i] + (int64_t)k % p.out[i] * p.stride[i];
        x = make_taken(at, x, 2 + i, &places);
    }
    static const int64_t order[] = { 0, 1, 2, 4, 3, 5 };
    return blocks(at, x, (int64_t[]){ n, c, p.size[0], p.out[0], p.size[1], p.out[1] }, order, 6,
                  (int64_t[]){ n, c * p.size[0] * p.size[1], p.out[0] * p.out[1] }, 3);
}

/* Sums over windows, one axis after the other: a product with the 0 and 1 that say which cells a window covers. */
bool pnnx_fold(xir_node *at) {
    static const int64_t order[] = { 0, 1, 2, 4, 3, 5 };
    xir_value *x = xir_node_input(at, 0);
    xir_ints size;
    patches p;
    if (!x || !pnnx_list(at, "output_size", 2, &size) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) != 3) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x));
    p.in[0] = size.v[0], p.in[1] = size.v[1];
    if (!read_patches(at, &p)) return false;
    const int64_t n = v_dim(x, 0), cells = p.size[0] * p.size[1], c = v_dim(x, 1) / cells;
    if (v_dim(x, 1) % cells || v_dim(x, 2) != p.out[0] * p.out[1])
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected %lld places", (long long)(p.out[0] * p.out[1]));
    x = make_shaped(at, x, (int64_t[]){ n, c, p.size[0], p.size[1], p.out[0], p.out[1] }, 6);
    x = x ? xir_node_transposed(at, x, order, 6, NULL) : NULL;
    x = make_shaped(at, x, (int64_t[]){ n, c, p.size[0] * p.out[0], p.size[1] * p.out[1] }, 4);
    for (size_t i = 0; i < 2 && x; i++) {
        const int64_t rows = p.size[i] * p.out[i], columns = p.in[i];
        const xir_ints dims = { (int64_t[]){ rows, columns }, 2 };
        if (!node_elements_at_most(at, &dims, PNNX_MOST_LISTED, "a matrix of the windows")) return false;
        double *matrix = node_take(at, (size_t)(rows * columns + 1) * sizeof *matrix);
        if (!matrix) return node_no_memory(at);
        memset(matrix, 0, (size_t)(rows * columns) * sizeof *matrix);
        for (int64_t k = 0; k < rows; k++) {
            const int64_t cell = k / p.out[i] * p.dilation[i] + k % p.out[i] * p.stride[i] - p.pad[i];
            if (cell >= 0 && cell < columns) matrix[k * columns + cell] = 1;
        }
        x = make_mixed(at, x, 2 + i, matrix, (size_t)columns);
    }
    return xir_node_result(at, 0, x);
}
