/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The problem of a plan without what does not matter: pieces in sections. A section is a moment at which as many
 * buffers live as possible, so that the buffers of one section are a subset of no other's; what lives at the same time
 * is in a common section. Sections are numbered in the order of time, and a piece is in a range of them. */
#ifndef MEMORY_PACKING_H
#define MEMORY_PACKING_H

#include <xir/memory.h>
#include "memory.h"

#define NONE UINT32_MAX
#define FAR  ((uint64_t)INT64_MAX)   /* no piece ends beyond it; sums of two offsets do not overflow */

/* A buffer with bytes. Pieces are numbered in this order: by first section, size (the largest first), last section (the
 * latest first), moments of life and the other members. Pieces that are equal in all of that can trade places in every
 * plan. */
typedef struct piece {
    uint64_t size;          /* rounded up to the alignment, unless it is fixed                            */
    uint64_t offset;        /* if it is fixed, otherwise 0                                                */
    uint32_t first, last;   /* sections                                                                   */
    uint32_t buffer;        /* the caller's number                                                        */
    uint32_t group;
    uint8_t  align;         /* the logarithm of the alignment                                             */
    bool     fixed;
} piece;

typedef struct packing {
    const xir_allocator *alloc;
    const xir_buffer    *buffers;
    piece    *pieces;
    uint32_t  n, n_buffers;
    uint32_t  sections;
    uint32_t  fixed;        /* the number of fixed pieces                                                 */
    uint64_t  bound;        /* the least that a plan can need                                             */
    int64_t   moment;       /* the first at which the most bytes live                                     */
    uint64_t  live;         /* the bytes that live then                                                   */
    /* The best plan so far. */
    uint64_t *best;         /* by piece                                                                   */
    uint64_t  peak;         /* UINT64_MAX: there is none                                                  */
    uint64_t  steps;        /* taken so far                                                               */
} packing;

/* Reads and checks the buffers; the findings are those of xir_memory_plan_new. packing_close accepts a packing that was
 * not opened completely. */
xir_status packing_open(packing *p, const xir_allocator *alloc, const xir_buffer *buffers, size_t n, xir_diags *why);
void       packing_close(packing *p);

/* Arrays of `n` items, which may be 0; NULL without memory. */
void *packing_take(const packing *p, size_t n, size_t size);
void  packing_drop(const packing *p, void *array, size_t n, size_t size);

/* Takes `trial` for the best plan, and gives the best one for it, if its peak is less. */
void packing_offer(packing *p, uint64_t **trial, uint64_t peak);

static inline uint64_t align_up(uint64_t offset, unsigned align) {
    const uint64_t mask = ((uint64_t)1 << align) - 1;
    return (offset + mask) & ~mask;
}

static inline uint64_t piece_sections(const piece *it) { return (uint64_t)it->last - it->first + 1; }

/* The moments of its life; at most 2^64 - 1. */
static inline uint64_t piece_moments(const packing *p, const piece *it) {
    const xir_buffer *b = &p->buffers[it->buffer];
    const uint64_t after = (uint64_t)b->to - (uint64_t)b->from;
    return after + (after < UINT64_MAX);
}

/* ---- efforts ----------------------------------------------------------------------------------------------------- */

/* Each offers plans to the packing, and returns false without memory. If there are fixed pieces, the others of a sweep
 * are all between two of them, or above. */
bool packing_sweep(packing *p, bool backwards);
bool packing_orders(packing *p);
/* Ends once the peak is at most `enough`, or, if that is 0, the bound. Sets *proven if no plan is within `enough`, or,
 * if that is 0, below p->peak. */
bool packing_search(packing *p, uint64_t enough, uint64_t steps, bool *proven);

#endif
