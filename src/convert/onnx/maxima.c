/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The positions of the maxima of windows, which MaxPool gives as its second output. */
#include <math.h>
#include "onnx/rows.h"
#include "formula/parts.h"
#include "spec/windows.h"

enum { MOST_CELLS = 1 << 22 };   /* of constants and of a dim */

/* For each window the place of its cells in the image, `size` where a cell is padding; with `turned` in an image whose
 * columns follow each other. */
static double *window_places(xir_node *at, const windows *w, const int64_t *out, int64_t n, int64_t cells,
                             bool turned) {
    double *v = node_reals(at, n * cells);
    for (int64_t i = 0; v && i < n * cells; i++) {
        int64_t window = i / cells, cell = i % cells, place = 0, step = 1, size = 1;
        bool inside = true;
        int64_t p[3];
        for (size_t k = w->n; k-- > 0;) {
            p[k] = window % out[k] * w->stride[k] - w->before[k] + cell % w->size[k] * w->dilation[k];
            window /= out[k], cell /= w->size[k];
            inside = inside && p[k] >= 0 && p[k] < w->input[k];
            size *= w->input[k];
        }
        for (size_t k = 0; k < w->n; k++) {
            const size_t axis = turned ? k : w->n - 1 - k;
            place += p[axis] * step;
            step *= w->input[axis];
        }
        v[i] = (double)(inside ? place : size);
    }
    return v;
}

/* The cells of each window are gathered; the first greatest one's place is looked up, and the first place of its
 * channel added. */
xir_value *onnx_places_of_maxima(xir_node *at, xir_value *x, const windows *w) {
    int64_t out[3], kernel[3], image[5];
    const int64_t exact = INT64_C(1) << 53;   /* the places are reals for a while */
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return NULL;
    const int64_t batch = image[0] = v_dim(x, 0), channels = image[1] = v_dim(x, 1);
    for (size_t k = 0; k < w->n; k++)
        out[k] = window_room(w, k) / w->stride[k] + 1, kernel[k] = w->size[k], image[2 + k] = w->input[k];
    const xir_ints outs = { out, w->n }, kernels = { kernel, w->n }, maps_alone = { image, 2 },
                   sides = { image + 2, w->n }, all_dims = { image, w->n + 2 };
    if (!node_elements_at_most(at, &outs, MOST_CELLS, "a channel of the output") ||
        !node_elements_at_most(at, &kernels, MOST_CELLS, "the kernel") ||
        !node_elements_at_most(at, &maps_alone, MOST_CELLS, "input 0 without its images") ||
        !node_elements_at_most(at, &sides, exact, "a channel of input 0") ||
        !node_elements_at_most(at, &all_dims, exact, "input 0")) return NULL;
    const int64_t n = product_of(&outs, 0, w->n), cells = product_of(&kernels, 0, w->n),
                  size = product_of(&sides, 0, w->n);
    const xir_ints flat = { (int64_t[]){ n, cells }, 2 };
    if (!node_elements_at_most(at, &flat, MOST_CELLS, "the table of the cells of all windows")) return NULL;
    const int64_t maps = batch * channels;
    const double *places = window_places(at, w, out, n, cells, false);
    const double *given = window_places(at, w, out, n, cells, xir_node_int(at, "storage_order", 0));
    double *firsts = node_reals(at, maps), *rows = node_reals(at, n);
    if (!places || !given || !firsts || !rows) return NULL;
    for (int64_t i = 0; i < maps; i++) firsts[i] = (double)(i * size);
    for (int64_t i = 0; i < n; i++) rows[i] = (double)(i * cells);
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    const xir_ints of_maps = { (int64_t[]){ batch, channels, 1 }, 3 }, edge = of_maps;
    xir_value *least = v_is_real(x) ? xir_node_filled(at, v_element(x), &edge, -INFINITY) : NULL;
    if (!least) return xir_node_unsupported(at, "the positions of maxima of integers"), NULL;
    xir_value *line = xir_node_make(at, "Concat", INS(make_shaped(at, x, (int64_t[]){ batch, channels, size }, 3),
                                                      least),
                                    SETS(INT("axis", 2)));
    xir_value *all = xir_node_make(at, "Gather",
                                   INS(line, xir_node_constant(at, whole, &flat, places, (size_t)(n * cells))),
                                   SETS(INT("axis", 2)));
    xir_value *which = xir_node_cast(at, xir_node_make(at, "Argmax", INS(all), SETS(INT("dim", 3), INT("keepdim", 0))),
                                     whole);
    which = xir_node_sum(at, which, xir_node_constant(at, whole, NULL, rows, (size_t)n), 1, 1);
    xir_value *table = xir_node_constant(at, whole, NULL, given, (size_t)(n * cells));
    xir_value *found = which ? xir_node_make(at, "Gather", INS(table, which), SETS(INT("axis", 0))) : NULL;
    found = xir_node_sum(at, found, xir_node_constant(at, whole, &of_maps, firsts, (size_t)maps), 1, 1);
    xir_ints to = xir_node_dims(at, x);
    if (xir_node_failed(at) || !found) return NULL;
    for (size_t k = 0; k < w->n; k++) to.v[2 + k] = out[k];
    return make_reshaped(at, found, &to);
}
