/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops whose output element at [i, j, …] is the input element at from[0][i] + from[1][j] + …: transpositions, slices,
 * repetitions, shuffles, rotations, paddings. Each dim of the output has a table of offsets; NEW marks an element that
 * is not in the input. */
#ifndef EXEC_PICK_H
#define EXEC_PICK_H

#include "carry.h"
#include "dims.h"

typedef struct pick {
    size_t    rank;
    size_t   *dims;     /* sizes of the output dims                 */
    int64_t **from;     /* offset tables, initially zero            */
    size_t   *strides;  /* strides of the input, in elements        */
    int64_t   base;     /* added to every offset                    */
} pick;

/* Allocates the tables for an output of the kernel, and the strides of input 0. False on out of memory. */
bool       pick_open(pick *p, xir_kernel *at, size_t output);
/* Maps index i of output dim k to index first + i * step of input dim j. */
void       pick_along(pick *p, size_t k, size_t j, int64_t first, int64_t step);
/* Copies elements of input 0 to the output. New elements are zero. */
xir_status pick_run(pick *p, xir_kernel *at, size_t output);
/* The same with a carrier. New elements are copied from `fill`, which has the carrier's size; NULL: zero. */
xir_status pick_carry(pick *p, xir_kernel *at, const carrier *m, const void *fill);

#endif
