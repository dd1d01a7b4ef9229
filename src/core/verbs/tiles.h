/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files about tiles. A region is a list of steps, one for each op, over numbered values. Lists of steps
 * are walked from targets to inputs: the whole region, or a stage and the rest of the region. */
#ifndef CORE_TILES_H
#define CORE_TILES_H

#include <xir/tiles.h>
#include "graph.h"
#include "hash.h"
#include "needs_ask.h"

enum { TILE_AXES = 3 };
#define NO_VALUE UINT32_MAX

typedef struct tile_value {
    const xir_value *value;
    xir_box          whole;
    uint64_t         bits;      /* of an element                                        */
    double           bytes;     /* of all elements                                      */
    bool             params, made, output;
    uint32_t         step;      /* that makes it                                        */
} tile_value;

typedef struct tile_step {
    const xir_op   *op;
    const uint32_t *in;         /* values; NO_VALUE: absent                             */
    uint32_t        n_in, first_out, n_out;
} tile_step;

/* Tiles along an axis: the first and the last have sizes of their own. */
typedef struct tile_size { int64_t first, size, count; } tile_size;

/* Tile `place` of [0, n). */
static inline int64_t tile_begin(tile_size s, int64_t place) { return place ? s.first + (place - 1) * s.size : 0; }
static inline int64_t tile_end(tile_size s, int64_t n, int64_t place) {
    return place == s.count - 1 ? n : s.first + place * s.size;
}

/* Along an axis, the targets of a list are cut in proportion to `n`. */
typedef struct tile_axis {
    int64_t  n;
    uint32_t dim[8];            /* of each of the first targets                         */
} tile_axis;

typedef struct tile_list {
    uint32_t  *steps, n;        /* in execution order                                   */
    uint32_t  *targets, n_targets;
    /* Of each value: the steps of the list between which it is alive, first > last: never; and the value whose bytes
     * it is written over. */
    uint32_t  *first, *last, *over;
    uint32_t  *maps, n_maps;    /* values that are ever alive, and not Params           */
} tile_list;

struct xir_tiles {
    const xir_network   *net;
    const xir_allocator *alloc;
    arena                memory;        /* of everything below                          */
    tile_value          *values;
    tile_step           *steps;
    uint32_t             n_values, n_steps, n_outputs, most_in;
    uint32_t            *outputs;
    size_t               n_axes;
    tile_axis            axes[TILE_AXES];
    tile_size            size[TILE_AXES];
    tile_list            all;
    bool                 staged;
    tile_list            stage, rest;   /* if staged: `rest` reads the target of `stage` */
    int64_t              piece[XIR_BOX_DIMS];
    xir_tiles_cost       cost;
};

/* Parts of values on the way from targets to inputs. */
typedef struct tile_walk {
    xir_box  *parts;            /* of each value: what is computed, or read of an input */
    xir_box  *asked;            /* of each step: what is asked of its output            */
    xir_box  *in;               /* room for the inputs of one op                        */
    uint64_t *bytes;            /* of each value                                        */
    int64_t  *alive;            /* room for a list, and two                             */
    needs_asker *askers;        /* of each step with one output                         */
    uint32_t  n_askers;         /* of the first steps                                   */
} tile_walk;

enum { MOST_TARGETS = 8 };

/* Opens a walk, to be closed whatever is returned. */
xir_status tile_walk_open(const xir_tiles *t, arena *memory, tile_walk *w, xir_diags *why);
void       tile_walk_close(const xir_tiles *t, tile_walk *w);
/* Forgets all parts. */
void tile_walk_begin(const xir_tiles *t, tile_walk *w);
/* From the parts of the targets, which are set, to those of all other values. */
xir_status tile_walk_run(const xir_tiles *t, const tile_list *list, tile_walk *w, xir_diags *why);
/* Asks the op of a step again; seen->possible: it is the op of a part. */
xir_status tile_step_ask(uint32_t step, tile_walk *w, infer_needs_seen *seen, xir_diags *why);
/* Sets the bytes of each value from its part. */
void tile_walk_bytes(const xir_tiles *t, tile_walk *w);
/* The most bytes that are alive in a list, and at which of its steps. `held` are alive all the time. */
uint64_t tile_peak(const tile_list *list, const tile_walk *w, uint64_t held, uint32_t *at);
/* The part of a target i along an axis, for [begin, end) of its n. */
void tile_cut(const xir_tiles *t, const tile_list *list, size_t i, const tile_axis *axis, int64_t begin, int64_t end,
              xir_box *part);
/* The parts of the targets of a tile. */
void tile_targets(const xir_tiles *t, const tile_list *list, size_t tile, tile_walk *w);
size_t tile_count(const xir_tiles *t);
/* Piece i of a part of the stage's target; false past the last one. `counts` gets the pieces along each dim. */
bool tile_piece(const xir_tiles *t, const xir_box *part, size_t i, xir_box *piece, int64_t counts[XIR_BOX_DIMS]);

/* Makes a list of steps that are marked, for targets. False without memory. (tiles.c) */
bool tile_list_make(xir_tiles *t, const uint8_t *marks, const uint32_t *targets, uint32_t n_targets, tile_list *out);

/* Chooses size, count, stage, pieces and cost. (tile_search.c) */
xir_status tiles_search(xir_tiles *t, const xir_tiles_options *how, xir_diags *why);

#endif
