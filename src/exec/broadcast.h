/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs that are broadcast to an output. Dims are matched from the last one; a dim of 1, or a missing one, is
 * repeated. Neighbouring dims along which all inputs advance evenly are merged, so rows are as long as possible.
 * Elements of an input are asked for in the order of the output: same shapes are read where they are, one element is
 * repeated, and other patterns are put together from rows. So a function of two numbers is one straight loop. */
#ifndef EXEC_BROADCAST_H
#define EXEC_BROADCAST_H

#include "blocks.h"

enum { BROADCAST_MOST = 3 };

typedef struct broadcast {
    size_t  n_inputs, rank;                 /* rank: number of remaining dims, the row included */
    size_t *dims, *strides[BROADCAST_MOST]; /* strides along them; 0 to repeat                  */
    bool    whole[BROADCAST_MOST];          /* the input has the elements of the output         */
    size_t  count;                          /* elements of the output                           */
    reader  in[BROADCAST_MOST];
} broadcast;

/* Opens the first `n` inputs of an op against output 0. Fails if they do not fit. */
xir_status broadcast_open(broadcast *b, xir_kernel *at, size_t n);

/* The numbers of an input for elements [from, from + n) of the output: in `room`, which has space for BLOCK, or where
 * they are. */
const double  *broadcast_reals(const broadcast *b, size_t input, size_t from, size_t n, double *room);
const int64_t *broadcast_i64s(const broadcast *b, size_t input, size_t from, size_t n, int64_t *room);

#endif
