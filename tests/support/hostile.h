/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random contents of hostile files: types, constants and attribute bodies of any class, tame and wild. Everything in
 * a pool shares a few dims, element types and layouts, so that tame things often fit together. */
#ifndef SUPPORT_HOSTILE_H
#define SUPPORT_HOSTILE_H

#include "support/net.h"
#include "graph.h"

enum { POOL_VALUES = 56, POOL_PARAMS = 28, POOL_BLOCKS = 256 };

typedef struct pool {
    xir_network    *net;
    const xir_type *elements[3];     /* tame ones                                   */
    int64_t         dims[3];
    size_t          rank;            /* of most tame types                          */
    xir_value      *values[POOL_VALUES], *params[POOL_PARAMS];
    /* the type is valid for xir_type validation, and its arrays fit */
    bool            sound[POOL_VALUES + POOL_PARAMS];
    /* each list of a body is a block of exactly its size */
    void           *blocks[POOL_BLOCKS];
    size_t          n_blocks;
    bool            wild;            /* whether the thing in the making is wild     */
    bool            body_sound;      /* whether all types in the last body are sound */
} pool;

/* A network with an Input op, whose outputs and Params belong to the pool. */
void pool_begin(pool *p);
void pool_end(pool *p);

/* Something from the pool; rarely NULL. */
xir_value *pool_value(pool *p, bool *sound);
/* An attribute body. Its lists are in blocks that live until the next body is made. A `wild` one is out of bounds,
 * too long, or null. */
void *pool_body(pool *p, const xir_class *cls, bool wild);

/* Returns true if the layout, distributions and arrays of a tensor type fit it. */
bool type_is_sound(const xir_type *type);

static inline bool once_in(uint64_t n) { return chance(n) == 0; }

#endif
