/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A number for each position of a range, of which some are made larger at a time: the greatest is known at once. Adding
 * takes O(log n), by a tree whose nodes know what was added to all positions below them. */
#ifndef CORE_RANGE_SUMS_H
#define CORE_RANGE_SUMS_H

#include "memory.h"

typedef struct range_sums {
    const xir_allocator *alloc;
    int64_t *most;    /* of a node: the greatest number below it, with what was added to it itself */
    int64_t *added;   /* to all positions below a node                                             */
    size_t   n;       /* leaves, a power of two: node n + i is position i                          */
} range_sums;

/* All are 0. False without memory; close it anyway. Sums must fit. */
bool    range_sums_open(range_sums *s, const xir_allocator *alloc, size_t n);
void    range_sums_close(range_sums *s);
/* Adds to the positions [from, to). */
void    range_sums_add(range_sums *s, size_t from, size_t to, int64_t number);
/* The number at a position, and the greatest of all of them, 0 included. */
int64_t range_sums_at(const range_sums *s, size_t at);
static inline int64_t range_sums_most(const range_sums *s) { return s->most[1]; }
/* The greatest in [from, to), 0 if that is empty. */
int64_t range_sums_most_in(const range_sums *s, size_t from, size_t to);

#endif
