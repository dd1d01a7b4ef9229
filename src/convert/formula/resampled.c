/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An axis of an image in another length: see sampled.h. */
#include <math.h>
#include "formula/parts.h"
#include "formula/sampled.h"

/* A cell outside is the one at the border. */
static int64_t inside(double cell, int64_t n) { return cell < 0 ? 0 : cell < (double)n ? (int64_t)cell : n - 1; }

double *mixing_matrix(xir_node *at, int64_t in, int64_t out) {
    enum { MOST = 1 << 22 };
    if (in > MOST / out) return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    double *matrix = node_reals(at, in * out);
    for (int64_t i = 0; matrix && i < in * out; i++) matrix[i] = 0;
    return matrix;
}

xir_value *make_resampled(xir_node *at, xir_value *x, size_t axis, const double *places, int64_t out, cell_way way) {
    if (xir_node_failed(at) || !x || !places) return NULL;
    const int64_t in = v_dim(x, axis), more = way == CELL_CUBIC;
    if (way == CELL_NEAREST) {
        xir_ints cells = xir_node_make_ints(at, (size_t)out, 0);
        for (size_t p = 0; p < cells.n; p++) cells.v[p] = inside(floor(places[p]), in);
        return make_taken(at, x, axis, &cells);
    }
    double *matrix = mixing_matrix(at, in, out);
    for (int64_t p = 0; p < out && matrix; p++)
        for (int64_t i = -more; i < 2 + more; i++) {
            const double cell = floor(places[p]) + (double)i;
            matrix[inside(cell, in) * out + p] += curve_weight(places[p] - cell, more, -0.75);
        }
    return matrix ? make_mixed(at, x, axis, matrix, (size_t)out) : NULL;
}

xir_value *make_weighed(xir_node *at, xir_value *x, size_t axis, size_t n, int64_t out, int64_t *cells,
                        const double *weights) {
    if (xir_node_failed(at) || !x) return NULL;
    const xir_ints dims = node_line(at, v_rank(x) - axis, 0, out);
    xir_value *sum = NULL;
    for (int64_t k = 0; k < (int64_t)n; k++) {
        xir_value *y = make_taken(at, x, axis, &(xir_ints){ cells + k * out, (size_t)out });
        if (weights) y = xir_node_product(at, y, xir_node_constant(at, v_element(x), &dims, weights + k * out,
                                                                   (size_t)out));
        sum = k ? xir_node_sum(at, sum, y, 1, 1) : y;
    }
    return sum;
}
