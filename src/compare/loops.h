/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loops over the elements of a pair, for each instruction set. A sum has LANES parts, and element i belongs to part
 * i % LANES: so an addition need not wait for the one before it, and all paths give the same bits. */
#ifndef COMPARE_LOOPS_H
#define COMPARE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

enum { LANES = 8 };

/* Sums over the elements that are finite on both sides, and the largest numbers. */
typedef struct sums {
    double of_expected[LANES], of_found[LANES], of_product[LANES], of_error[LANES];   /* of squares, but the third */
    double largest[LANES];        /* |expected|         */
    double gap[LANES];            /* |found - expected| */
} sums;

/* Numbers at a limit: from `high` on, or up to `low` unless equal to `zero`. */
typedef struct number_limits { int64_t low, high, zero; } number_limits;

/* `n` is a multiple of LANES. */
typedef struct compare_loops {
    void   (*add)(sums *s, const double *restrict expected, const double *restrict found, size_t n);
    /* Counts the elements with |found - expected| > absolute + relative * |expected|. */
    size_t (*count_beyond)(double absolute, double relative, const double *restrict expected,
                           const double *restrict found, size_t n);
    size_t (*count_at_limits)(const number_limits *l, const int64_t *numbers, size_t n);
} compare_loops;

/* Returns the loops of index `i`, NULL past the last ones that the processor can run. The last ones are the fastest. */
const compare_loops *compare_loops_at(size_t i);

#endif
