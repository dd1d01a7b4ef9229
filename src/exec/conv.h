/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A convolution of one run: its dims, strides and windows. The kernel is read as taps, each of `in` channels for each
 * of `out` channels; k counts them: the channels of the first tap, then those of the second. Sums run in the order of
 * k. */
#ifndef EXEC_CONV_H
#define EXEC_CONV_H

#include "gemm.h"
#include "windows.h"

typedef struct conv {
    size_t      n;          /* number of spatial axes                                                   */
    window      w;          /* slides over the input; transposed: over the output                       */
    int64_t     groups;
    xir_padding mode;
    bool        transposed;
    bool        whole;      /* integers, whose sums are exact in double                                 */
    axes        x, k, y;    /* axes of input, kernel, output; D, H, W of the kernel are its dims 0 to 2 */
    int64_t     in, out;    /* input and output channels of a group                                     */
    int64_t     in_step, out_step, group_step;   /* strides of the kernel                               */
    size_t      pixels;     /* window positions: pixels of the output; transposed: of the input         */
} conv;

/* Convolutions of reals, through the functions of gemm.h; the sum of each output runs in the order of k. XIR_E_MEMORY
 * without a finding. */
xir_status conv_products(xir_kernel *at, const conv *c);
xir_status conv_transposed(xir_kernel *at, const conv *c);
/* Returns true if each output channel has one input channel, and neighbours are channels or pixels; and their sums. */
bool       conv_is_depthwise(const conv *c);
xir_status conv_depthwise(xir_kernel *at, const conv *c);

/* The coordinates of pixel `i` of a map, in row-major order. */
static inline void pixel_at(const axes *map, size_t i, int64_t p[SPATIAL]) {
    for (size_t a = SPATIAL; a-- > 0; i /= (size_t)map->dim[D + a]) p[a] = (int64_t)(i % (size_t)map->dim[D + a]);
}

static inline int64_t pixel_offset(const axes *map, const int64_t p[SPATIAL]) {
    return p[0] * map->step[D] + p[1] * map->step[H] + p[2] * map->step[W];
}

static inline int64_t tap_offset(const conv *c, const int64_t tap[SPATIAL]) {
    return tap[0] * c->k.step[0] + tap[1] * c->k.step[1] + tap[2] * c->k.step[2];
}

#endif
