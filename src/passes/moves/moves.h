/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the families of `moves`. */
#ifndef PASSES_MOVES_H
#define PASSES_MOVES_H

#include "manager/pass.h"
#include "moves/map.h"
#include "pattern/families.h"

extern const pass_rule moves_turns[], moves_parts[], moves_picks[];

/* Returns true if an op is a Reshape, a Squeeze or a Transpose that only moves plain elements, on the host. */
bool move_turns(const xir_op *op);

/* Merges runs of reshapes, transpositions, slices and concatenations (runs.c). */
xir_status moves_merge(xir_pass *at);

/* The steps that move elements from one value to another: a Reshape, a Transpose and a Reshape, each of which may be
 * missing. */
typedef struct move_plan {
    bool    reshapes, turns, ends;     /* a Reshape to `first`, then `order`, then a Reshape to the result */
    size_t  n;                         /* of `first` and `order`                                           */
    int64_t first[MAP_FACTORS], order[MAP_FACTORS];
} move_plan;

static inline int plan_ops(const move_plan *p) { return p->reshapes + p->turns + p->ends; }

/* The shortest plan for a map from a value to a value of another type; false if no Reshape can say its dims. */
bool plan_of(const move_map *m, const xir_value *x, const xir_type *to, move_plan *out);
/* Adds the ops of a plan with at least one op; NULL if one has been refused. */
xir_value *plan_write(xir_at at, xir_value *x, const xir_type *to, const move_plan *p);

#endif
