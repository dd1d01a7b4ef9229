/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by convolutions, pools, resizes and im2col: maps with one, two or three spatial axes, named W, H W or D H W,
 * and the attributes for each axis. One implementation handles all three. */
#ifndef OPS_SPATIAL_H
#define OPS_SPATIAL_H

#include "sort.h"
#include "tiled.h"
#include "window_attrs.h"

enum { MOST_SPATIAL = WINDOW_AXES };

/* The axis letters of a map with n spatial axes, "NHWC". Dims 1 to n are spatial, dim n + 1 is the channels. */
const char *map_letters(size_t n);

/* The names for axis k of n. */
typedef struct axis_words {
    const char *thing, *axis;                        /* "row", "height"             */
    const char *before, *after;                      /* "pad_top", "pad_bottom"     */
    const char *pool, *kernel, *extra;               /* "pool_height" …, "output_pad_height" */
} axis_words;
const axis_words *words_of_axis(size_t n, size_t k);

/* XIR_E_BOUNDS unless stride_… and dilation_… are at least 1. The rows check this too, but not for unchecked files. */
xir_status check_steps(xir_infer *at, const steps *m, const axis_words *words);
/* XIR_E_BOUNDS unless the window size is at least 1. */
xir_status check_size(xir_infer *at, const char *attribute, int64_t size);

#endif
