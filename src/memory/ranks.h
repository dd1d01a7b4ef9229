/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sets of buffers by rank, their place in the order of offsets: those that live at a moment. */
#ifndef MEMORY_RANKS_H
#define MEMORY_RANKS_H

#include "memory.h"

#define NO_RANK UINT32_MAX

/* Buffers of no group: those in the set share no bytes, so that only neighbours of a rank need to be looked at. Level 0
 * has a bit for each rank, a level above a bit for each word that is not 0. */
enum { RANK_LEVELS = 6 };
typedef struct rank_set {
    uint64_t *words[RANK_LEVELS];
    size_t    n[RANK_LEVELS];
    unsigned  levels;
} rank_set;

/* False without memory; close it anyway. */
bool     rank_set_open(rank_set *s, const xir_allocator *alloc, uint32_t n);
void     rank_set_close(rank_set *s, const xir_allocator *alloc);
void     rank_set_add(rank_set *s, uint32_t rank);
void     rank_set_remove(rank_set *s, uint32_t rank);
/* The nearest rank of the set below or above one. */
uint32_t rank_set_below(const rank_set *s, uint32_t rank);
uint32_t rank_set_above(const rank_set *s, uint32_t rank);

/* Buffers of any groups: each node of a tree over the ranks knows which of those below it end last, the last of all and
 * the last of another group. */
typedef struct rank_end { uint64_t from, to; uint32_t group; } rank_end;
typedef struct rank_pair { uint32_t last, other; } rank_pair;
typedef struct rank_tree {
    const rank_end *ends;     /* by rank */
    rank_pair      *nodes;    /* node 1 is the root, and the last `room` nodes are the leaves */
    size_t          room;
} rank_tree;

bool     rank_tree_open(rank_tree *t, const xir_allocator *alloc, const rank_end *ends, uint32_t n);
void     rank_tree_close(rank_tree *t, const xir_allocator *alloc);
void     rank_tree_add(rank_tree *t, uint32_t rank);
void     rank_tree_remove(rank_tree *t, uint32_t rank);
/* A rank of the tree, below `end`, that ends after this one begins and is of another group. */
uint32_t rank_tree_find(const rank_tree *t, uint32_t rank, uint32_t end);

#endif
