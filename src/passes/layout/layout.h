/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `layout`, internals.
 *
 * The root of a value is where a chain of Transposes starts; a value that the chain makes is a view of the root. The
 * plan has no Transpose ops. Instead each user needs its root in some order, and the root is stored in one order; where
 * the two differ, a Transpose remains. All orders are relative to the original order of the root. An op whose class has
 * a LAYOUT row can work in other orders; any other op works only in its own.
 *
 *   label.c   the orders of one op
 *   reshape.c the orders of Reshape
 *   roots.c   roots, views and users
 *   search.c  the cost of Transposes, and the search for cheaper orders
 *   apply.c   applies the plan to the network
 *   reorder.c changes the ops that work in another order
 *   letters.c the letters of axes in other orders
 *   names.c   the names and tags of values
 *   params.c  constants in other orders
 *   run.c     the pass */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include <xir/ops.h>
#include "layout/order.h"
#include "manager/pass.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

#define NONE UINT32_MAX   /* not an index */

/* An op, by its position in the execution order. */
typedef struct node {
    xir_op          *op;       /* NULL: removed                                            */
    const class_layout *row;   /* NULL: works only in its own order                        */
    axis_order       in, out;  /* of its leading input, of its outputs                     */
    uint32_t         first;    /* index in `values` of its first output                    */
    uint32_t         port;     /* index in `ports` of its first input                      */
    uint32_t         n_in, n_out;
    uint32_t         epoch;    /* the last search that visited it                          */
    uint8_t          visits;   /* number of searches of this round that visited it         */
    uint8_t          rank;     /* of its first output                                      */
    bool             met;      /* the walk over the network has reached it                 */
    bool             child_use; /* sub ops, which have no position, use it                 */
    bool             is_view;  /* a Transpose whose output is a view                       */
    bool             anchor;   /* its order spreads; it has letters for all its axes        */
    bool             letters;  /* finds axes by their letters                              */
    bool             dirty;
} node;

/* An input of an op, in its original form. */
typedef struct port {
    const xir_type *type;
    uint32_t        root;      /* index in `values`; NONE: absent, Params, or without producer*/
    axis_order      view;
    uint8_t         rank;
    bool            single;    /* has one element                                              */
} port;

/* A value by its index, and, if it is a root, what is known about its users. */
typedef struct value_node {
    uint32_t   root;           /* the value's root, maybe itself                           */
    axis_order view;           /* the order of this value relative to the root             */
    uint32_t   next_view;      /* of a root: its latest view; of a view: the previous view */
    uint32_t   producer;       /* index in `nodes`                                         */
    uint32_t   first_use, n_uses;
    uint32_t   needs;          /* the first need, an index from 1; 0: none                 */
    axis_order stored;         /* of a root: the order that the plan stores it in          */
    bool       claimed;        /* of a view: its op makes another order now                */
} value_node;

/* A use of a root by an op that stays, directly or through a view. */
typedef struct root_use {
    uint32_t   user;           /* index in `nodes`                                         */
    uint32_t   port : 31, follows : 1;   /* follows: a result of the network that may take any stored order */
} root_use;

/* An order in which a root is needed. */
typedef struct root_need {
    axis_order      as;
    uint32_t        count, anchors, next;
    bool            letters;   /* a user finds other axes by the letters of the root in this order */
    xir_value      *value;     /* while applying: the value in this order,                 */
    const xir_type *type;      /* the type that a user expects of it,                      */
    bool            result;    /* and whether it is a result, known by its name            */
    const xir_value *was;      /* the result connected last, and its replacement: a result */
    xir_value       *became;   /* that is listed twice stays one value                        */
} root_need;

/* An op of a region, and its orders from before the search. */
typedef struct region_step { uint32_t node; axis_order in, out; } region_step;

/* Constants in another order. */
typedef struct reordered {
    axis_order by;
    uint32_t   rank, next;     /* rank: what it was broadcast to */
    xir_value *value;
} reordered;

/* The facts about a type that this pass needs. */
typedef struct type_facts {
    const xir_type *type;
    uint8_t         rank;
    bool            plain;     /* a tensor of few dims, not tiled or partly valid, without ratios */
    bool            single;    /* one element, in any number of dims: every order is the same*/
} type_facts;
enum { FACTS = 256 };

/* A comparison of two layouts, the first one with reordered axes: `agree` is true if their letters match. */
typedef struct compared_letters {
    const xir_layout *x, *y;
    axis_order        by;
    uint32_t          rank;
    bool              agree;
} compared_letters;

typedef struct plan {
    xir_pass            *at;
    xir_network         *net;
    const xir_allocator *alloc;
    uint32_t            *place;         /* by slot: index in `nodes`                                     */
    node                *nodes;
    port                *ports;
    value_node          *values;
    root_use            *uses;
    root_need           *needs;         /* from 1                                                        */
    region_step         *steps;
    uint32_t            *constants;     /* by number of the Params: an index from 1 into `reordered`     */
    reordered           *reordered;     /* from 1                                                        */
    size_t               n_slots, n_nodes, n_values, n_ports, n_needs, need_room, n_steps, n_constants;
    size_t               n_reordered, reordered_room;
    int64_t              cost;          /* of all Transposes                                             */
    uint32_t             epoch;
    bool                 failed;        /* out of memory                                                 */
    bool                 first;         /* the aim is channels first, not last                           */
    bool                 again;         /* the plan may make further orders possible                     */
    bool                 letters;       /* letters keep some Transpose: they may be others afterwards    */
    type_facts           facts[FACTS];
    compared_letters     compared[16];
} plan;

/* The attribute of an op at a field of its class. */
static inline const void *attr_at(const xir_op *op, const xir_field *field) {
    return (const char *)op->attrs + field->offset;
}

/* ---- label.c ----------------------------------------------------------------------------------------------------- */

const type_facts *facts_of(plan *l, const xir_type *type);
/* Returns true if an op with a row is what the row assumes. */
bool  row_fits(plan *l, const node *n);
/* The order in which an op needs input i if its leading input is in the order `in`. */
axis_order op_needs_order(const plan *l, const node *n, size_t i, axis_order in);
/* The orders of an op that needs its input i in the order `as`, or makes its outputs in it. False: it can't. */
bool  orders_by_input(plan *l, const node *n, size_t i, axis_order as, axis_order *in, axis_order *out);
bool  orders_by_output(plan *l, const node *n, axis_order as, axis_order *in, axis_order *out);
/* Returns true if the letters of input i, as it is now, lead the op to the same axes as before. */
bool  finds_same_axes(plan *l, const node *n, uint32_t i);
/* The same for a Cast, whose target has been put into the new order. */
bool  cast_finds_axes(plan *l, const node *n);
/* Returns true if the op could work in several orders. Then the first one was taken. */
bool  has_choice(const node *n);
/* Of Shape: the requested axes [*from, *to). */
void  axes_asked(const node *n, size_t *from, size_t *to);

/* ---- reshape.c --------------------------------------------------------------------------------------------------- */

bool reshape_forward(plan *l, const node *n, axis_order in, axis_order *out);
bool reshape_backward(const plan *l, const node *n, axis_order out, axis_order *in);
/* The `count` dims that are merged into the last axis of the output, or that the last axis of the input is split into:
 * their sizes, and for each position in the new order its position in the old one. */
typedef struct merged_axis { int64_t dims[MOST_AXES]; size_t from[MOST_AXES], count; } merged_axis;
void reshape_merged(const node *n, merged_axis *out);

/* ---- roots.c ----------------------------------------------------------------------------------------------------- */

bool       plan_make(plan *l);
void       plan_free(plan *l);
xir_value *value_at(const plan *l, const value_node *root);
static inline bool is_sink(const xir_op *op) { return op->cls->traits & XIR_TRAIT_SINK; }
/* Returns true if a value is a result of the network. */
bool       value_is_result(const xir_value *v);

/* ---- search.c ---------------------------------------------------------------------------------------------------- */

/* Counts the initial needs. False: out of memory. */
bool       plan_count(plan *l);
/* Returns true if the search has found a cheaper plan. */
bool       plan_search(plan *l);
/* Lets the network's inputs and results take the stored order, if that is channels last. */
void       plan_open_borders(plan *l);
root_need *need_of(const plan *l, const value_node *root, axis_order as);
/* The order of its root that a use needs. */
axis_order use_needs(const plan *l, const value_node *root, const root_use *use);

/* ---- letters.c --------------------------------------------------------------------------------------------------- */

/* Letters, or a type, with the axes in another order. NULL: out of memory. If there are no letters, and the channels
 * become last, the usual letters are given. */
const xir_layout *letters_in_order(plan *l, const xir_layout *letters, axis_order by);
const xir_type   *type_in_order(plan *l, const xir_type *type, axis_order by);
/* Returns true if an op that finds axes by letter, or by position if letters are missing, finds the same axes in both
 * types, the first with its axes in another order. */
bool letters_agree(plan *l, const xir_type *a, axis_order by, const xir_type *b);

/* ---- names.c ----------------------------------------------------------------------------------------------------- */

bool name_exists(const xir_value *v);
/* Returns true if the name of `of` says more to a user than the name of `than`. */
bool name_is_better(const xir_value *of, const xir_value *than);
/* Moves name and tags from a value to another one, whose axes are those of the first in the order `by`; or exchanges
 * them. Tags that describe axes are adjusted, also by tags_follow, for a value whose axes have changed. False: out of
 * memory. */
bool name_move(xir_value *from, xir_value *to, axis_order by);
bool names_swap(xir_value *a, xir_value *b, axis_order to_b, axis_order to_a);
bool tags_follow(xir_value *v, axis_order by);

/* ---- params.c ---------------------------------------------------------------------------------------------------- */

/* Returns true if the elements of Params can be moved: they are present, and each takes whole bytes. */
bool       params_movable(const xir_value *value);
/* Params broadcast to `rank` dims in the order `by`; and Params one axis of which is in the order of a merged one. The
 * same Params are made only once. NULL: out of memory. */
xir_value *params_in_order(plan *l, xir_value *value, size_t rank, axis_order by);
xir_value *params_merged_in_order(plan *l, xir_value *value, axis_order by, size_t axis, const merged_axis *merged);

/* ---- reorder.c --------------------------------------------------------------------------------------------------- */

/* Changes the ops that work in another order, and counts them. */
xir_status reorder_ops(plan *l, size_t *changes);
/* The letters of a root in its new order: those of its view in that order. */
const xir_layout *letters_of(plan *l, const value_node *root, const xir_layout *was);

/* ---- apply.c ----------------------------------------------------------------------------------------------------- */

xir_status plan_apply(plan *l);

#endif
