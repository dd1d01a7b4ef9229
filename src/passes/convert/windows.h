/* Windows that slide over the last dims of an input whose channels come second, as convolutions and pools of foreign
 * formats have them; and the corresponding XIR attributes. */
#ifndef PASSES_CONVERT_WINDOWS_H
#define PASSES_CONVERT_WINDOWS_H

#include "convert/helpers.h"

/* By spatial axis, the first first. A dim of -1 is unknown. */
typedef struct windows {
    size_t  n;
    int64_t input[3], size[3], stride[3], dilation[3], before[3], after[3];
} windows;

/* The names of XIR's attributes for spatial axis k of n. */
typedef struct axis_words { const char *pool, *stride, *dilation, *before, *after, *more; } axis_words;
const axis_words *axis_words_of(size_t n, size_t k);

/* How many cells of the padded input are left after the first window; negative: it does not fit. */
static inline int64_t window_room(const windows *w, size_t k) {
    return w->input[k] + w->before[k] + w->after[k] - w->dilation[k] * (w->size[k] - 1) - 1;
}

/* Checks that a window fits into the padded input, input 0. */
bool node_windows_fit(xir_node *at, const windows *w);

/* Rounds the number of windows up: adds cells after the end, so that a window that begins inside the input, or in the
 * padding before it, counts even if it ends outside. The dims of the input must be known. Returns whether it added
 * any. */
bool windows_round_up(windows *w);

/* Integer attributes of one op. */
typedef struct window_sets {
    xir_set data[24];
    size_t  n;
} window_sets;
void window_set(window_sets *s, const char *name, int64_t v);
/* Strides and padding of all axes; with `pool` the sizes too, with `dilated` the dilations. */
void window_set_all(window_sets *s, const windows *w, bool pool, bool dilated);

#endif
