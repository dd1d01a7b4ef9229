/* Loops over many elements, split into pieces between which the run may be cancelled:
 *
 *     for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
 *         for (; i < end; i++) y[i] = f(x[i]);
 *     } */
#ifndef EXEC_PIECES_H
#define EXEC_PIECES_H

#include "kernels.h"

enum { PIECE = 4096 };

/* The end of the piece of [0, n) that starts at `from`; `from` itself at the end or if the run is cancelled. */
static inline int64_t next_piece(xir_kernel *at, int64_t from, int64_t n) {
    const int64_t end = n - from < PIECE ? n : from + PIECE;
    return end > from && !xir_kernel_stops(at, (uint64_t)(end - from)) ? end : from;
}

#endif
