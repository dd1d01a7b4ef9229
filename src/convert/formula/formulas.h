/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that several formats have and XIR writes as a few ops. Each returns its last value, NULL after a
 * failure. */
#ifndef CONVERT_FORMULAS_H
#define CONVERT_FORMULAS_H

#include "node/helpers.h"

/* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
xir_value *make_tanh_gelu(xir_node *at, xir_value *x);
/* x where it is positive, else x times its slope. With `channels` there is a slope for each channel, dim 1 of x, or one
 * for all, whatever the dims of the slope; without, its dims broadcast with those of x. */
xir_value *make_prelu(xir_node *at, xir_value *x, xir_value *slope, bool channels);
/* x / (k + alpha * mean)^beta: the mean of the squares over `size` neighbouring channels, dim 1, of which `before` come
 * before the own one. All dims but the first are known, and there are at least 3. */
xir_value *make_lrn(xir_node *at, xir_value *x, int64_t size, int64_t before, double alpha, double beta, double k);
/* The nearest integer, halves away from zero. */
xir_value *make_rounded(xir_node *at, xir_value *x);
/* The centres of the cells of an image with `n` sides, `cells` in all, as GridSample counts them: x first, and a 1
 * after the last; with `corners` those of the outermost cells are -1 and 1. NULL after a failure. */
double *grid_places(xir_node *at, const int64_t *sides, size_t n, int64_t cells, bool corners);
/* Images, whose channels come second, at the places of a grid. `word`: LINEAR, NEAREST or CUBIC; `padding`: zeros,
 * border or reflection. */
xir_value *make_grid_sample(xir_node *at, xir_value *x, xir_value *grid, const char *word, xir_str padding,
                            bool corners);

#endif
