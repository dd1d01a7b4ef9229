/* What convolutions, pools, resizes and im2col share: maps with one, two or three spatial axes, W, H and W, or D, H
 * and W, and the numbers that a class has for each of them. One body of code serves all three. */
#ifndef OPS_SPATIAL_H
#define OPS_SPATIAL_H

#include "sort.h"
#include "tiled.h"
#include "window_attrs.h"

enum { MOST_SPATIAL = WINDOW_AXES };

/* The letters of a map with n spatial axes, "NHWC"; its spatial dims are then 1 to n, its channels n + 1. */
const char *map_letters(size_t n);

/* What axis k of n is called. */
typedef struct axis_words {
    const char *thing, *axis;                        /* "row", "height"             */
    const char *before, *after;                      /* "pad_top", "pad_bottom"     */
    const char *pool, *kernel, *extra;               /* "pool_height" …, "output_pad_height" */
} axis_words;
const axis_words *words_of_axis(size_t n, size_t k);

/* XIR_E_BOUNDS unless stride_… and dilation_… are at least 1: what rows say, of files that were not checked. */
xir_status check_steps(xir_infer *at, const steps *m, const axis_words *words);
/* XIR_E_BOUNDS unless a window is at least 1 wide. */
xir_status check_size(xir_infer *at, const char *attribute, int64_t size);

#endif
