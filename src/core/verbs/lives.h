/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The notes of liveness about each value. */
#ifndef CORE_LIVES_H
#define CORE_LIVES_H

#include <xir/liveness.h>
#include "graph.h"

#define NONE UINT32_MAX

typedef struct life {
    uint64_t bytes;
    uint32_t first, last;
    uint32_t base;      /* the oldest value in the same bytes; NONE: it is in those of Params        */
    uint32_t end;       /* of a base: the greatest `last` of all values in it                        */
    uint32_t next;      /* of a base: the next one with the same end; while sharing is looked for, the
                           position of the last op that reads it through an input that its row does not name  */
    bool     known;
    bool     kept;      /* a result, or the base of one                                              */
} life;

/* The position of a value in its base, and the time in which the bytes of a base are needed. */
typedef struct life_part {
    uint64_t offset;
    uint32_t begin;     /* of a base: the least `first` of all values in it                          */
    uint32_t over;      /* of a base: the last position at which a value is written over another; 0: none is  */
} life_part;

/* A sum of 64-bit numbers, which are also taken away again. */
typedef struct wide { uint64_t low, high; } wide;

static inline void wide_add(wide *sum, uint64_t n) {
    sum->low += n;
    sum->high += sum->low < n;
}

static inline void wide_take(wide *sum, uint64_t n) {
    sum->high -= sum->low < n;
    sum->low -= n;
}

struct xir_liveness {
    const xir_network *net;
    const xir_op     **ops;        /* by position                                                    */
    uint32_t          *values_of;  /* by position: the number of the first value of the op; one more */
    uint32_t          *place;      /* by slot: the position + 1; 0: not in the order                 */
    size_t             n_ops, n_slots;
    life              *lives;
    life_part         *parts;      /* by value; NULL: parts do not share                             */
    size_t             n, room;
    uint64_t          *bytes;      /* by position; before they are summed up, what a body takes       */
    uint32_t          *unknown;    /* by position; NULL: all 0                                       */
    uint64_t           n_unknown;
    size_t             peak;
};

/* The number of a value, NONE if no op of the order makes it. */
uint32_t lives_number(const xir_liveness *l, const xir_value *v);

/* The value of a number; NULL if its op has fewer outputs now. */
static inline const xir_value *lives_value(const xir_liveness *l, uint32_t number) {
    const uint32_t at = l->lives[number].first, i = number - l->values_of[at];
    return i < l->ops[at]->n_outputs ? &op_outputs(l->ops[at])[i] : NULL;
}

/* Fills in the most bytes that values in the body of a call take at the same time. False without memory. */
bool lives_inside(const xir_liveness *l, const xir_op *call, uint64_t *most);

/* Joins parts with their wholes, and sums up again. False without memory. */
bool lives_share_parts(xir_liveness *l, const xir_liveness_options *how);

#endif
