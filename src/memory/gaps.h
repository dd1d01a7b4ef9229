/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory as a list of blocks by address: blocks in use, and gaps between them, no two of which are neighbours. What is
 * beyond the last block in use is free. The gaps are in a tree by size, then by address. */
#ifndef MEMORY_GAPS_H
#define MEMORY_GAPS_H

#include "packing.h"

typedef struct block {
    uint64_t at, size;
    uint32_t before, after;   /* neighbours; of an unused record, `after` is the next one */
    uint32_t less, more;      /* of a gap: below it in the tree                           */
    bool     gap;
} block;

typedef struct gaps {
    const xir_allocator *alloc;
    block   *blocks;          /* record 0 stands for no block                              */
    size_t   n, room;
    uint32_t unused, root, last;
    uint64_t top;             /* the end of the last block                                */
    uint64_t steps;
    bool     far;             /* the latest block would have ended beyond FAR                  */
} gaps;

void gaps_init(gaps *g, const xir_allocator *alloc);
void gaps_free(gaps *g);

/* Takes a block at a multiple of the alignment: in the smallest gap with room for it, the lowest of several. Returns
 * its number; 0 without memory, or if it would end beyond FAR. */
uint32_t gaps_take(gaps *g, uint64_t size, unsigned align);
void     gaps_give(gaps *g, uint32_t number);

#endif
