/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Images that are sampled at computed positions, between their cells, as several formats have them. Each returns its
 * last value, NULL after a failure. */
#ifndef CONVERT_SAMPLED_H
#define CONVERT_SAMPLED_H

#include "spec/resizing.h"
#include "spec/windows.h"

/* deformed.c: a convolution each of whose kernel's cells is displaced by an offset of its own for each output. The
 * inputs of the row are x, the kernel, the offsets, and perhaps a bias and a mask, which weighs the samples. */
typedef struct deformed {
    windows     windows;
    int64_t     groups, offset_groups;        /* each of the latter has its own offsets  */
    const char *of_groups, *of_offset_groups; /* the places of both, for findings        */
} deformed;
xir_value *make_deformed(xir_node *at, const deformed *d);

/* roi_align.c: pools of regions of an image. Each of the n[0] rows and n[1] columns of bins has samples * samples
 * samples, or, if `samples` is 0, one for each cell of the image. `regions`, [regions, 4], are x1, y1, x2, y2 before
 * they are scaled; `batch` has the image of each region. */
typedef struct roi_pool {
    int64_t n[2], samples;
    double  scale;
    bool    max;      /* the maximum of the samples, or else their mean                            */
    bool    halves;   /* cells are squares around their positions; or else regions have at least one */
} roi_pool;
xir_value *make_roi_align(xir_node *at, xir_value *x, xir_value *regions, xir_value *batch, const roi_pool *p);

/* resampled.c: an axis in the length `out`. Each cell of the result has a place among those of x: it is the one there,
 * rounded down, or lies on a line or a curve between neighbours. Cells outside are the one at the border. */
xir_value *make_resampled(xir_node *at, xir_value *x, size_t axis, const double *places, int64_t out, cell_way way);
/* A matrix of zeros [in, out], for make_mixed. */
double *mixing_matrix(xir_node *at, int64_t in, int64_t out);
/* The sum of n tensors, each x with `out` of its cells along an axis, times their weights, if there are some. Cells and
 * weights of tensor k begin at k * out. */
xir_value *make_weighed(xir_node *at, xir_value *x, size_t axis, size_t n, int64_t out, int64_t *cells,
                        const double *weights);

#endif
