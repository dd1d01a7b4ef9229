/* Chance that makes what a hostile file may hold: types, constants and attribute bodies of any class, tame and wild
 * ones. All that a pool holds shares a few dims, element types and layouts, so that tame things often fit together. */
#ifndef SUPPORT_HOSTILE_H
#define SUPPORT_HOSTILE_H

#include "support/net.h"
#include "graph.h"

enum { POOL_VALUES = 56, POOL_PARAMS = 28, POOL_BLOCKS = 256 };

typedef struct pool {
    xir_network    *net;
    const xir_type *elements[3];     /* tame ones                                   */
    int64_t         dims[3];
    size_t          rank;            /* that most tame types have                   */
    xir_value      *values[POOL_VALUES], *params[POOL_PARAMS];
    /* nothing is wrong with the type, as validate says, and arrays fit */
    bool            sound[POOL_VALUES + POOL_PARAMS];
    /* each list of a body is a block of just its size                  */
    void           *blocks[POOL_BLOCKS];
    size_t          n_blocks;
    bool            wild;            /* of the thing that is being made             */
    bool            body_sound;      /* of the last body: all types in it           */
} pool;

/* A network with an Input op, whose outputs and Params are the pool's. */
void pool_begin(pool *p);
void pool_end(pool *p);

/* Something of the pool, or NULL, once in many. */
xir_value *pool_value(pool *p, bool *sound);
/* An attribute body, its lists in blocks that live until the next one is made. `wild`: out of bounds, too long,
 * null. */
void *pool_body(pool *p, const xir_class *cls, bool wild);

/* Whether layout, distributions and arrays of a tensor type fit it. */
bool type_is_sound(const xir_type *type);

static inline bool once_in(uint64_t n) { return chance(n) == 0; }

#endif
