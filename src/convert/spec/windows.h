/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Windows that slide over the last dims of an input whose channels come second, as convolutions and pools of foreign
 * formats have them; and the corresponding XIR attributes, in both directions. */
#ifndef CONVERT_WINDOWS_H
#define CONVERT_WINDOWS_H

#include "node/helpers.h"

/* The greatest number along an axis that a format can have: a sum of two products of two of them does not overflow. */
enum { WINDOW_MOST = INT32_MAX };

/* By spatial axis, the first first. A dim of -1 is unknown. */
typedef struct windows {
    size_t  n;
    int64_t input[3], size[3], stride[3], dilation[3], before[3], after[3];
    int64_t more[3];      /* output padding: cells that a transposed convolution adds at the end */
    int64_t     groups;   /* of convolutions                                                     */
    xir_padding mode;     /* of convolutions that are not transposed                             */
    int64_t     divisor;  /* of means, instead of the number of elements; 0: none                */
    bool        transposed, max, counts;   /* max: a pool that takes the greatest; counts: means count padding */
} windows;

/* The names of XIR's attributes for spatial axis k of n. */
typedef struct axis_words { const char *pool, *stride, *dilation, *before, *after, *more; } axis_words;
const axis_words *axis_words_of(size_t n, size_t k);

/* Returns the number of cells of the padded input after the first window; negative: it does not fit. */
static inline int64_t window_room(const windows *w, size_t k) {
    return w->input[k] + w->before[k] + w->after[k] - w->dilation[k] * (w->size[k] - 1) - 1;
}

/* Checks that a window fits into the padded input, input 0. */
bool node_windows_fit(xir_node *at, const windows *w);

/* Rounds the number of windows up: adds cells after the end, so that a window that begins inside the input, or in the
 * padding before it, counts even if it ends outside. That may be the only one: a window may exceed the padded input by
 * less than a stride. The dims of the input must be known. Returns true if it added any. */
bool windows_round_up(windows *w);

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

/* Reads the windows of the node's op, a convolution or pool of XIR, over x, whose spatial axes begin at axis `first`.
 * The sizes are those of the kernel, whose spatial axes are the last ones; without a kernel (NULL), of the pool, and 0
 * for a convolution. The node is kept if x has other dims than the op's maps, or if a number, positive or negative,
 * exceeds WINDOW_MOST. */
bool windows_of_op(xir_node *at, const xir_value *x, size_t first, const xir_value *kernel, windows *w);

/* The only window over all of x, which has 3 to 5 dims, channels second. The node is kept if it has no cells, or an
 * unknown number of them. */
bool window_of_map(xir_node *at, const xir_value *x, windows *w);

/* Numbers of all axes as a list, which shares their memory. */
static inline xir_ints window_list(const windows *w, int64_t numbers[3]) { return (xir_ints){ numbers, w->n }; }
/* Padding: before each axis, then after each. Without items after a failure. */
xir_ints window_pads(xir_node *at, const windows *w);
/* Returns true if there is padding; if some of it is negative; if it is the same, and not negative, on both sides. */
bool window_has_pads(const windows *w);
bool window_cuts(const windows *w);
bool window_is_even(const windows *w);

/* x with the padding as cells, by a Pad of this mode; `value` is that of XIR_PAD_CONSTANT. Then the windows slide over
 * it, and have no padding. */
xir_value *window_padded(xir_node *at, xir_value *x, windows *w, xir_pad_mode mode, double value);

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

/* Integer attributes of one op. */
typedef struct window_sets {
    xir_set data[24];
    size_t  n;
} window_sets;
void window_set(window_sets *s, const char *name, int64_t v);

/* Ops of x, whose channels are last, as those of the result are. They return NULL after a failure. A pool takes the
 * greatest cells (w->max) or means. A kernel has XIR's order, [cells, in, out], or, transposed, [cells, out, in]; a
 * kernel [out, in, cells], or, transposed, [in, out, cells], is permuted so. */
xir_value *op_of_pool(xir_node *at, xir_value *x, const windows *w);
xir_value *op_of_convolution(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias, const windows *w);
xir_value *window_kernel(xir_node *at, xir_value *kernel, bool transposed);
/* The same of x whose channels come second, and a kernel that is not permuted yet. */
xir_value *op_of_pool_second(xir_node *at, xir_value *x, const windows *w);
xir_value *op_of_convolution_second(xir_node *at, xir_value *x, xir_value *kernel, xir_value *bias, const windows *w);

#endif
