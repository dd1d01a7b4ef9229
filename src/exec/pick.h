/* Moves whose output element at [i, j, …] is the input element at from[0][i] + from[1][j] + … : transpositions,
 * slices, repetitions, shuffles, rotations, paddings. Each dim of the output has a table of what its index adds; NEW
 * says that there the output has an element of its own. */
#ifndef EXEC_PICK_H
#define EXEC_PICK_H

#include "carry.h"
#include "dims.h"

enum { NEW = -1 };

typedef struct pick {
    size_t    rank;
    size_t   *dims;     /* of the output                            */
    int64_t **from;     /* tables, zero to begin with               */
    size_t   *strides;  /* of the input: elements to the next index */
    int64_t   base;     /* added to all                             */
} pick;

/* Makes the tables for an output of the kernel, and the strides of its input 0. False without memory. */
bool       pick_open(pick *p, xir_kernel *at, size_t output);
/* Index i of dim k of the output is index first + i * step of dim j of the input. */
void       pick_along(pick *p, size_t k, size_t j, int64_t first, int64_t step);
/* Moves elements of input 0 to the output. New elements are zero. */
xir_status pick_run(pick *p, xir_kernel *at, size_t output);
/* The same with a carrier, and with new elements being the element at `fill`, of the carrier's size; NULL: zero. */
xir_status pick_carry(pick *p, xir_kernel *at, const carrier *m, const void *fill);

#endif
