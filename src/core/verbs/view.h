/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The contents of a view: its ops in execution order, and what was found about them when it was made. view.c makes
 * views and answers queries, view_network.c makes networks of them. */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include <xir/view.h>
#include "graph.h"
#include "hash.h"

/* Values in the order in which they were added, each once. */
typedef struct value_list {
    xir_value   **items;
    size_t        n, room;
    pointer_table places;   /* indexes; of outputs only while it grows */
} value_list;

/* Adds a value, unless the list has it; false without memory. A closed list does not change and is not searched. */
bool value_list_add(value_list *l, xir_value *v);
bool value_list_has(const value_list *l, const xir_value *v);
void value_list_close(value_list *l);
void value_list_free(value_list *l);

struct xir_view {
    xir_network *net;
    uint64_t     epoch;
    xir_op     **ops;
    size_t       n_ops, op_room;
    uint64_t    *members;      /* one bit for each slot of the network                 */
    size_t       member_words;
    value_list   inputs, outputs, params;
    bool         ordered;      /* the caller has set the order of the outputs          */
    bool         busy;         /* a rewriting or passes run on it                      */
};

static inline bool view_has(const xir_view *view, const xir_op *op) {
    return op->net == view->net && op->slot / 64 < view->member_words &&
           view->members[op->slot / 64] >> (op->slot % 64) & 1;
}

/* The op of the execution order that an op is or is part of; NULL if there is none. */
static inline const xir_op *placed_op(const xir_op *op) {
    while (op && !(op->flags & OP_PLACED)) op = op_more_of(op) ? op_more_of(op)->parent : NULL;
    return op;
}

/* The placed op of a use: for a sub op its parent; NULL for an op that was never placed. */
static inline const xir_op *placed_user(const xir_use *use) { return placed_op(use->user); }

static inline bool is_source(const xir_op *op) { return op->cls->traits & XIR_TRAIT_SOURCE; }
static inline bool is_sink(const xir_op *op)   { return op->cls->traits & XIR_TRAIT_SINK; }

/* Returns true if an op outside of the view uses the value. */
bool       view_is_used_outside(const xir_view *view, const xir_value *v);
/* XIR_E_STALE, with a finding in the network. */
xir_status view_stale(const xir_view *view);
/* Checks that the view may be changed: it is not NULL, up to date, and not in use. Adds a finding to `why`. */
xir_status view_check(const xir_view *view, xir_diags *why);
/* Gives a view these placed ops of its network, in any order. XIR_E_MEMORY with a finding in the network: the view is
 * unchanged. */
xir_status view_remake(xir_view *view, xir_op *const *ops, size_t n);

/* ---- networks of their own (view_network.c) ---- */

/* Makes a network of a view that is up to date and convex. NULL without memory, with a finding in its network. */
xir_network *view_network(const xir_view *view);
/* Makes an Input or Output that is not in the order yet. NULL without memory. */
xir_op *view_make_end(xir_network *net, const xir_class *cls, const xir_type *const *types, size_t n_types,
                      size_t n_inputs);

#endif
