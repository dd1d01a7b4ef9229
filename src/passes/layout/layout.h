/* The pass `layout`, from inside.
 *
 * A value that a Transpose makes is a view of the value that the first of a chain of them took, its root. Transposes
 * are not ops here but something between a root and its users: each user needs the root in an order, and the root is
 * stored in one; where the two differ, a Transpose is left. All orders are relative to the root as it was. An op whose
 * class has a LAYOUT row can work in other orders than its own; any other op works in its own only.
 *
 *   label.c   the orders of one op
 *   reshape.c the same of Reshape
 *   roots.c   roots, views and users
 *   search.c  what Transposes cost, and the search for orders that cost less
 *   apply.c   what was planned becomes the network
 *   reorder.c the ops of it
 *   letters.c what axes are called in other orders
 *   names.c   what people know values by
 *   params.c  constants in other orders
 *   run.c     the pass */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include <xir/ops.h>
#include "layout/order.h"
#include "manager/pass.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

#define NONE UINT32_MAX   /* no index */

/* An op, by its place in the order. */
typedef struct node {
    xir_op          *op;       /* NULL: it has gone                                        */
    const class_layout *row;   /* NULL: works in its own order                             */
    axis_order       in, out;  /* of its leading input, of its outputs                     */
    uint32_t         first;    /* of its outputs, an index of values                       */
    uint32_t         port;     /* of its inputs, an index of ports                         */
    uint32_t         n_in, n_out;
    uint32_t         epoch;    /* the last search that has met it                          */
    uint8_t          visits;   /* searches of this round that have                         */
    uint8_t          rank;     /* of its first output                                      */
    bool             met;      /* when the network is walked                               */
    bool             strange;  /* ops that stand in no order use it                        */
    bool             is_view;  /* a Transpose whose output is one                          */
    bool             anchor;   /* its order spreads; it has letters for all of its axes     */
    bool             letters;  /* finds axes by their letters                              */
    bool             dirty;
} node;

/* An input, as it was. */
typedef struct port {
    const xir_type *type;
    uint32_t        root;      /* an index of values; NONE: absent, Params, or nobody makes it */
    axis_order      view;
    uint8_t         rank;
    bool            single;    /* of one element                                               */
} port;

/* A value by its index, and if it is a root what is known of its users. */
typedef struct value_node {
    uint32_t   root;           /* itself, or of what it is a view                          */
    axis_order view;           /* in which order                                           */
    uint32_t   next_view;      /* of a root the latest view, of a view the one before it   */
    uint32_t   maker;          /* an index of nodes                                        */
    uint32_t   first_use, n_uses;
    uint32_t   needs;          /* the first need, an index from 1; 0: none                 */
    axis_order stored;         /* of a root                                                */
    bool       claimed;        /* of a view: its op makes another order now                */
} value_node;

/* A use of a root by an op that stays, perhaps through a view. */
typedef struct root_use {
    uint32_t   user;           /* an index of nodes                                        */
    uint32_t   port : 31, follows : 1;   /* follows: takes it as it is stored, the network's result if that may be */
} root_use;

/* An order in which a root is needed. */
typedef struct root_need {
    axis_order      as;
    uint32_t        count, anchors, next;
    xir_value      *value;     /* when the network is changed: what has it,                */
    const xir_type *type;      /* the type that a user expects of it,                      */
    bool            result;    /* and whether that is a result, known by its name          */
    const xir_value *was;      /* the result that was connected last, and to what: one that is */
    xir_value       *became;   /* there twice stays one                                        */
} root_need;

/* An op in a search, and what it was. */
typedef struct region_step { uint32_t node; axis_order in, out; } region_step;

/* Constants in another order. */
typedef struct reordered {
    axis_order by;
    uint32_t   rank, next;     /* that it was broadcast to */
    xir_value *value;
} reordered;

/* What layout wants to know of a type. */
typedef struct type_facts {
    const xir_type *type;
    uint8_t         rank;
    bool            plain;     /* a tensor of few dims, not tiled, quantised or partly valid */
    bool            single;    /* one element, in as many dims as it likes: in every order  */
} type_facts;
enum { FACTS = 256 };

typedef struct plan {
    xir_pass            *at;
    xir_network         *net;
    const xir_allocator *alloc;
    uint32_t            *place;         /* by slot: an index of nodes                                    */
    node                *nodes;
    port                *ports;
    value_node          *values;
    root_use            *uses;
    root_need           *needs;         /* from 1                                                        */
    region_step         *steps;
    uint32_t            *constants;     /* by number of the Params: an index from 1 into reordered       */
    reordered           *reordered;     /* from 1                                                        */
    size_t               n_slots, n_nodes, n_values, n_ports, n_needs, need_room, n_steps, n_constants;
    size_t               n_reordered, reordered_room;
    int64_t              cost;          /* of all Transposes                                             */
    uint32_t             epoch;
    bool                 failed;        /* without memory                                                */
    bool                 first;         /* channels are to be first, not last                            */
    bool                 again;         /* what was planned may bring other orders to hand               */
    type_facts           facts[FACTS];
} plan;

/* An attribute of an op where its class has it. */
static inline const void *attr_at(const xir_op *op, const xir_field *field) {
    return (const char *)op->attrs + field->offset;
}

/* ---- label.c ----------------------------------------------------------------------------------------------------- */

const type_facts *facts_of(plan *l, const xir_type *type);
/* Whether an op with a row is what the row takes for granted. */
bool  row_fits(plan *l, const node *n);
/* In which order an op whose leading input is in the order `in` needs input i. */
axis_order op_needs(const plan *l, const node *n, size_t i, axis_order in);
/* The orders of an op that needs its input i in the order `as`, or makes its outputs in it. False if it can't. */
bool  orders_by_input(plan *l, const node *n, size_t i, axis_order as, axis_order *in, axis_order *out);
bool  orders_by_output(plan *l, const node *n, axis_order as, axis_order *in, axis_order *out);
/* Whether an op finds by the letters of input i, as it is now, the axes that it found. */
bool  finds_same_axes(plan *l, const node *n, uint32_t i);
/* Whether there were several orders for an op to work in, of which one was taken without looking further. */
bool  has_choice(const node *n);
/* The axes that an attribute of the row names, a bit each. */
uint32_t axes_named(const node *n);
/* Of Shape: the axes asked for, [*from, *to). */
void  axes_asked(const node *n, size_t *from, size_t *to);

/* ---- reshape.c --------------------------------------------------------------------------------------------------- */

bool reshape_forward(plan *l, const node *n, axis_order in, axis_order *out);
bool reshape_backward(const plan *l, const node *n, axis_order out, axis_order *in);
/* The dims that are merged into the last axis of the output, or that the last axis of the input is split into,
 * `count` of them: their sizes, and for each of the new order its place in the old one. */
typedef struct merged_axis { int64_t dims[MOST_AXES]; size_t from[MOST_AXES], count; } merged_axis;
void reshape_merged(const node *n, merged_axis *out);

/* ---- roots.c ----------------------------------------------------------------------------------------------------- */

bool       plan_make(plan *l);
void       plan_free(plan *l);
xir_value *value_at(const plan *l, const value_node *root);
static inline bool is_sink(const xir_op *op) { return op->cls->traits & XIR_TRAIT_SINK; }
/* Whether a value is a result of the network. */
bool       value_is_result(const xir_value *v);

/* ---- search.c ---------------------------------------------------------------------------------------------------- */

/* Counts what is needed at first. False without memory. */
bool       plan_count(plan *l);
/* Whether it has found anything. */
bool       plan_search(plan *l);
/* Lets the network's arguments and results be as they are stored, where that is channels last. */
void       plan_open_borders(plan *l);
root_need *need_of(const plan *l, const value_node *root, axis_order as);
/* What a use needs of its root. */
axis_order use_needs(const plan *l, const value_node *root, const root_use *use);

/* ---- letters.c --------------------------------------------------------------------------------------------------- */

/* Letters with their axes in another order, and a type. NULL without memory. What has no letters and comes to have
 * its channels last gets those. */
const xir_layout *letters_in_order(plan *l, const xir_layout *letters, axis_order by);
const xir_type   *type_in_order(plan *l, const xir_type *type, axis_order by);
/* Whether an op that finds axes by their letters, or where letters are missing by their place, finds the same in
 * both. */
bool letters_agree(const xir_type *a, const xir_type *b);

/* ---- names.c ----------------------------------------------------------------------------------------------------- */

bool name_is_there(const xir_value *v);
/* Whether one value's name is rather for people than the other's. */
bool name_is_better(const xir_value *of, const xir_value *than);
/* Name and tags of a value go to another one, whose axes are those of the first in the order `by`; or they exchange
 * them. What tags say of axes follows, as it does where a value's axes have changed. False without memory. */
bool name_move(xir_value *from, xir_value *to, axis_order by);
bool names_swap(xir_value *a, xir_value *b, axis_order to_b, axis_order to_a);
bool tags_follow(xir_value *v, axis_order by);

/* ---- params.c ---------------------------------------------------------------------------------------------------- */

/* Whether the elements of Params can be moved: they are there, and whole bytes. */
bool       params_movable(const xir_value *value);
/* Params that are broadcast to `rank` dims, in the order `by` of those; and Params one axis of which is in the order
 * of a merged one. The same Params are made once. NULL without memory. */
xir_value *params_in_order(plan *l, xir_value *value, size_t rank, axis_order by);
xir_value *params_merged_in_order(plan *l, xir_value *value, axis_order by, size_t axis, const merged_axis *merged);

/* ---- reorder.c --------------------------------------------------------------------------------------------------- */

/* Counts the ops that work in another order. */
xir_status reorder_ops(plan *l, size_t *changes);
/* The letters of a root in its new order: those of the view in that order, which had them from who wanted it so. */
const xir_layout *letters_of(plan *l, const value_node *root, const xir_layout *was);

/* ---- apply.c ----------------------------------------------------------------------------------------------------- */

xir_status plan_apply(plan *l);

#endif
