/* Walks inputs that are broadcast to an output, row by row. Dims are matched from the last one; a dim of 1, or a
 * missing one, is repeated. Neighbouring dims along which all inputs advance evenly are merged, so rows are as long as
 * possible. Rows are returned in pieces, and the run may be cancelled between pieces: then broadcast_next returns
 * false.
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
    size_t  n_inputs, rank;                 /* rank: number of remaining dims without the row */
    size_t *dims, *index, *strides[BROADCAST_MOST];
    size_t  rows;                           /* remaining rows                               */
    size_t  length, rest;                   /* elements of a row, and those that remain     */
    size_t  row;                            /* elements of the current piece                */
    size_t  at[BROADCAST_MOST];             /* where the piece starts in each input         */
    size_t  step[BROADCAST_MOST];           /* 1, or 0 to repeat one element                */
    bool    begun;
    xir_kernel *kernel;
} broadcast;

/* Starts a walk of the first `n` inputs of an op against output 0. Fails if they do not fit. */
xir_status broadcast_open(broadcast *b, xir_kernel *at, size_t n);
bool       broadcast_next(broadcast *b);

#endif
