/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The sides of a map that convolutions and pools pad, with the attributes that they have along each axis. */
#ifndef PASSES_SIDES_H
#define PASSES_SIDES_H

#include <xir/ops.h>
#include "graph.h"

/* W, H, D, and L, as some maps of one axis call theirs. */
typedef struct side { char letter; const char *before, *after; } side;
enum { SIDES = 4 };
extern const side sides[SIDES];

/* The classes that have them. */
#define SIDES_CLASSES \
    xir_conv1d_class, xir_conv2d_class, xir_conv3d_class, xir_avg_pool1d_class, xir_avg_pool2d_class, \
    xir_avg_pool3d_class, xir_max_pool1d_class, xir_max_pool2d_class, xir_max_pool3d_class

/* An integer attribute of the op along an axis; `otherwise` if its class has none of that name. */
int64_t side_number(const xir_op *op, const char *name, int64_t otherwise);

/* Cells of padding, for each side. */
typedef struct amounts { int64_t before, after; } amounts;

/* Adds cells to the op's padding, or takes them away, on all sides at once: on failure the op is unchanged. With
 * `zeros` the padding is zeros then, which a mean counts. Sides with amounts must be those of the op's class. */
xir_status sides_add(xir_op *op, const amounts *a, bool zeros);

#endif
