/* Inputs that are broadcast to an output, row by row: dims are matched from the last one on, a dim of 1, or a missing
 * one, is repeated. Neighbouring dims along which every input goes on evenly are one, so rows are as long as they can
 * be; what is given are pieces of them, after each of which the run may be cancelled: then there are no more.
 *
 *     broadcast b;
 *     xir_status status = broadcast_open(&b, at, 2);
 *     for (size_t o = 0; !status && broadcast_next(&b);) {
 *         for (size_t i = 0; i < b.row; i++) y[o++] = x[b.at[0] + i * b.step[0]] + z[b.at[1] + i * b.step[1]];
 *     } */
#ifndef EXEC_BROADCAST_H
#define EXEC_BROADCAST_H

#include "kernels.h"

enum { BROADCAST_MOST = 3 };

typedef struct broadcast {
    size_t  n_inputs, rank;                 /* rank: of what is left to walk, the row apart */
    size_t *dims, *index, *strides[BROADCAST_MOST];
    size_t  rows;                           /* to come                                      */
    size_t  length, rest;                   /* elements of a row, and those still to come   */
    size_t  row;                            /* elements of the piece of it                  */
    size_t  at[BROADCAST_MOST];             /* where the piece begins in each input         */
    size_t  step[BROADCAST_MOST];           /* 1, or 0: the same element again              */
    bool    begun;
    xir_kernel *kernel;
} broadcast;

/* The first `n` inputs of an op against its output 0. Fails if they do not fit it. */
xir_status broadcast_open(broadcast *b, xir_kernel *at, size_t n);
bool       broadcast_next(broadcast *b);

#endif
