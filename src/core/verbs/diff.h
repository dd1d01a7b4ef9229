/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Comparing two networks, in three steps: diff_match.c matches ops, diff.c walks both networks, diff_fields.c
 * compares the fields of ops and values. A record is one difference. If memory runs out, `failed` is set; from then
 * on nothing is recorded, and the walk ends at the next op. */
#ifndef CORE_DIFF_H
#define CORE_DIFF_H

#include <xir/diff.h>
#include "graph.h"

/* One of the two networks. */
typedef struct diff_side {
    const xir_network *net;
    size_t             slots;
    xir_op           **matches;  /* by slot: the op of the other network, or NULL                     */
    uint32_t          *index;    /* by slot: the position in the current list                         */
    size_t            *first;    /* by slot: the first record of an op plus one; 0: there is none     */
} diff_side;

/* Compared Params: those that several ops use are compared at their first use. */
typedef struct diff_pair { const xir_value *a, *b; } diff_pair;

struct xir_diff {
    const xir_allocator *alloc;
    xir_diff_options     how;
    diff_side            a, b;
    arena                memory;        /* fields and elements of records        */
    xir_diff_item      *records;
    size_t               n, room;
    size_t               of_network;    /* the first records are those of the network */
    xir_diff_counts      counts;
    bool                 failed;

    /* Only during the comparison. */
    xir_op              *at_a, *at_b;   /* the current ops; both NULL: the network */
    const xir_field     *attr;
    buffer               field;         /* "outputs/0/dtype" */
    diff_pair           *seen;          /* open addressing   */
    size_t               seen_room, seen_n;
    xir_diff_item       spare;         /* for records for which memory ran out      */
};

/* Returns `n` zeroed items, at least one; NULL without memory. */
void *diff_take(xir_diff *d, size_t n, size_t size);
void  diff_give(xir_diff *d, void *items, size_t n, size_t size);

/* ---- diff_match.c ------------------------------------------------------------------------------------------------ */

static inline xir_op *diff_match_of(const diff_side *side, const xir_op *op) { return side->matches[op->slot]; }

bool diff_same_class(const xir_class *a, const xir_class *b);

/* Matches two lists, which are the ops of the networks or the sub ops of two matching ops. */
void diff_match(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b);

/* Marks the ops that have moved: moved[i] refers to a[i]. Sets the positions of b's ops in `b.index`. */
void diff_find_moved(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b, bool *moved);

/* ---- records ------------------------------------------------------------------------------------------------ */

/* A new record: the current ops differ. */
void diff_changed(xir_diff *d, xir_diff_side a, xir_diff_side b);

/* Enters a part of a field; leave with its result. A NULL part: stays in the current field. */
size_t diff_into(xir_diff *d, xir_str part);
size_t diff_into_index(xir_diff *d, size_t i);
size_t diff_into_part(xir_diff *d, const char *part);
void   diff_leave(xir_diff *d, size_t size);

static inline xir_diff_side diff_side_value(xir_diff_what what, const xir_value *v) {
    return (xir_diff_side){ .what = what, .as.value = v };
}
static inline xir_diff_side diff_nothing(void) { return (xir_diff_side){ .what = XIR_DIFF_NOTHING }; }

/* Records something that one network has and the other, NULL, does not. */
static inline void diff_one_sided(xir_diff *d, xir_diff_what what, const xir_value *a, const xir_value *b) {
    diff_changed(d, a ? diff_side_value(what, a) : diff_nothing(), b ? diff_side_value(what, b) : diff_nothing());
}

/* ---- diff_fields.c: each enters the part of this name; NULL: stays in the current field ----------------------- */

void diff_texts(xir_diff *d, const char *part, xir_str a, xir_str b);
void diff_numbers(xir_diff *d, const char *part, int64_t a, int64_t b);
void diff_objects(xir_diff *d, const char *part, const xir_object *a, const xir_object *b);
void diff_maps(xir_diff *d, const char *part, const xir_map *a, const xir_map *b);
/* The intervals of symbols that both networks have. */
void diff_symbols(xir_diff *d, const xir_network *a, const xir_network *b);
/* The properties of a value, except the op that makes it. */
void diff_values(xir_diff *d, const xir_value *a, const xir_value *b);
void diff_params(xir_diff *d, const xir_value *a, const xir_value *b);
/* The attributes of the current ops, including undeclared ones, but not sub ops. */
void diff_attrs(xir_diff *d);

#endif
