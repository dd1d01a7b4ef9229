/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values of a network that have addresses, and which of them live at a moment. A tree over all of them, in the
 * order of memories and addresses, knows the greatest end in each block of 16, 256 and so on. */
#ifndef MEMORY_PLACES_H
#define MEMORY_PLACES_H

#include "memory.h"

enum { PLACES_FAN = 16, PLACES_LEVELS = 8 };
#define NO_PLACE UINT32_MAX

typedef struct place {
    uint64_t memory;                     /* a number for each memory: its kind and chunk       */
    uint64_t from, to;
    uint32_t start;                      /* by rank: the first rank in that memory             */
} place;

typedef struct places {
    const xir_allocator *alloc;
    const place *all;                    /* by rank: sorted by memory and address              */
    uint32_t     n;
    uint64_t    *ends[PLACES_LEVELS];    /* of those that live; 0: none does. The last level
                                            has at most PLACES_FAN                             */
    uint32_t     width[PLACES_LEVELS];
    unsigned     levels;
} places;

/* False without memory; close it anyway. */
bool     places_open(places *s, const xir_allocator *alloc, const place *all, uint32_t n);
void     places_close(places *s);
void     places_add(places *s, uint32_t rank);
void     places_remove(places *s, uint32_t rank);
/* The first rank from `at` on of a place that lives and ends after an address, in whichever memory; or NO_PLACE. */
uint32_t places_next(const places *s, uint32_t at, uint64_t address);
/* The first rank of a memory; of the next one, or the number of ranks, if nothing is in it. */
uint32_t places_of_memory(const places *s, uint64_t memory);

#endif
