/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of values: a walk from results to inputs, in which each op is asked once which parts of its inputs it needs for
 * the parts of its outputs. */
#ifndef CORE_NEEDS_WALK_H
#define CORE_NEEDS_WALK_H

#include "graph.h"
#include "hash.h"

typedef struct needed_part { const xir_value *value; xir_box part; } needed_part;

typedef struct needs_walk {
    const xir_allocator *alloc;
    xir_diags           *why;
    pointer_table        places;    /* of each value, where its part is                */
    needed_part          *parts;     /* in the order in which they were first needed    */
    size_t               n, room;
} needs_walk;

void needs_open(needs_walk *w, const xir_allocator *alloc, xir_diags *why);
void needs_close(needs_walk *w);
/* Adds what is needed of a value to what is already. XIR_E_MEMORY. */
xir_status     needs_add(needs_walk *w, const xir_value *value, const xir_box *part);
/* The part of a value; NULL if nothing of it is needed. Valid until the next one is added. */
const xir_box *needs_find(const needs_walk *w, const xir_value *value);
/* Asks an op, all of whose users have been asked; a Call through its body. A finding names the op. */
xir_status     needs_ask(needs_walk *w, const xir_op *op);

/* The ops of a region in execution order, as a new array of n + 1 that the caller frees. XIR_E_INVALID for an op that
 * is not placed in the network or is listed twice. */
xir_status region_sort(const xir_network *net, xir_op *const *ops, size_t n, const xir_op ***out, xir_diags *why);

/* The NEEDS function of xir::Call: its body is asked. */
xir_status needs_of_call(xir_infer *at, xir_ops body);

#endif
