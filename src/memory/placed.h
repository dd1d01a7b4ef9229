/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pieces that a plan has placed so far, and which of them live together with another one. Pieces are numbered by
 * their first section: so those that live together with a piece are between two numbers. Where these are far apart, a
 * tree over all pieces helps: it knows the latest section of those placed in each block of 16, 256 and so on, and
 * blocks that end too early are passed over. */
#ifndef MEMORY_PLACED_H
#define MEMORY_PLACED_H

#include "packing.h"

enum { PLACED_FAN = 16, PLACED_LEVELS = 8 };

/* The bytes of a placed piece. */
typedef struct span { uint64_t from, to; } span;

typedef struct placed {
    packing  *p;
    uint64_t *at;                      /* by piece: its offset, if it is placed                                  */
    uint32_t *begun;                   /* by section: the number of pieces that begin in it or before            */
    uint32_t *alive;                   /* by section: the first piece that lives in it                           */
    uint32_t *until[PLACED_LEVELS];    /* by piece, by block of 16, …: the last section + 1; 0: none is placed   */
    uint32_t  width[PLACED_LEVELS];
    unsigned  levels;
    span     *spans, *spare;           /* those found, sorted by offset                                          */
    size_t    n_spans, room, spare_room;
    uint64_t  steps;                   /* taken so far: for each piece, and each comparison of spans             */
} placed;

bool placed_open(placed *t, packing *p);   /* false without memory; close it anyway */
void placed_close(placed *t);
void placed_clear(placed *t);
void placed_add(placed *t, uint32_t number, uint64_t at);
/* Finds the bytes of all placed pieces that live together with one. False without memory. */
bool placed_find(placed *t, uint32_t number);

/* Asks for the memory that placed_find reads for a piece: first that of the piece, later the rest. */
static inline void placed_expect(const placed *t, uint32_t number) { __builtin_prefetch(&t->p->pieces[number]); }
static inline void placed_expect_soon(const placed *t, uint32_t number) {
    const piece *it = &t->p->pieces[number];
    __builtin_prefetch(&t->alive[it->first]);
    __builtin_prefetch(&t->begun[it->last]);
    __builtin_prefetch(&t->until[0][number]);
    __builtin_prefetch(&t->at[number]);
}

#endif
