/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the search for tiles: what one axis, cut into parts of one size, needs of every value. */
#ifndef CORE_TILE_MODELS_H
#define CORE_TILE_MODELS_H

#include "tiles.h"

static inline tile_size tile_size_of(int64_t n, int64_t size) {
    return (tile_size){ size, size, (n - 1) / size + 1 };
}

/* The boxes that the largest parts of a size along one axis need of every value. */
typedef struct axis_model {
    const tile_list *list;
    uint32_t         axis;
    tile_size        size;
    bool             all;       /* of all places; otherwise of some                             */
    int64_t        (*extent)[XIR_BOX_DIMS];
    double          *share;     /* of the whole value, summed over all parts                    */
    uint32_t         next;      /* 1 + the model before in its bucket; 0: none                  */
} axis_model;

enum { MODEL_BUCKETS = 128, MOST_WALKS = 1 << 16 };

typedef struct searching {
    xir_tiles  *t;
    xir_diags  *why;
    arena       memory;
    tile_walk   w;
    axis_model *models;
    size_t      n_models, model_room;
    uint32_t    buckets[MODEL_BUCKETS]; /* 1 + the last model of each */
    tile_axis   of_cut[XIR_BOX_DIMS];   /* the dims of the value of a stage */
    uint64_t    limit;
    double      most;                   /* of a stage: scores from here on are of no use */
} searching;

/* Fills `out` with the model of a size; `all`: of all places, if they are not too many. It stays valid while others are
 * made. False with a status. */
bool tile_model(searching *s, const tile_list *list, uint32_t axis, tile_size size, bool all, axis_model *out,
                xir_status *status);
/* Forgets models that are not of the whole region: another stage is tried. */
void tile_models_forget(searching *s);
/* Sets the bytes of each value of a list, at most: the smallest extent that any axis leaves along each dim. Returns
 * what all tiles make together, and sets what they read. */
double tile_combine(searching *s, const tile_list *list, const axis_model *models, size_t n, double *read);

#endif
