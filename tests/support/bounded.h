/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An allocator that counts the requests of one trial and refuses sizes that no trial may need. It measures work: a
 * rule or kernel that a hostile file misleads requests memory again and again, or much at once. */
#ifndef SUPPORT_BOUNDED_H
#define SUPPORT_BOUNDED_H

#include <stddef.h>

/* The limit of one block: the arrays of a type may have a million items, whatever a file claims. */
enum { BOUNDED_MOST = 64 << 20 };

typedef struct bounded_counts {
    size_t calls, bytes;   /* the number of requests, and the sum of the blocks */
    size_t largest;        /* the largest request                                             */
} bounded_counts;

/* Counts since bounded_start. */
extern bounded_counts bounded;
void bounded_start(void);

/* Creates and destroys `ctx` and `why` on this allocator; destroying fails the test if a block is left. */
int bounded_begin(void **state);
int bounded_end(void **state);

#endif
