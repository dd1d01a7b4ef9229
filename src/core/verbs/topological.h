/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops of an execution order in an order in which each comes after all that it depends on (xir/order.h). */
#ifndef CORE_TOPOLOGICAL_H
#define CORE_TOPOLOGICAL_H

#include "view.h"

typedef struct topological {
    const xir_network *net;
    const xir_op     **ops;      /* the execution order itself if it is sorted                     */
    uint32_t          *place;    /* by slot: the place in `ops` + 1; 0: not in the execution order */
    size_t             n, n_slots;
} topological;

/* XIR_E_INVALID with a finding for a cycle, XIR_E_MISSING if `net` is NULL, XIR_E_MEMORY. Must be freed in any case.
 * Linear. */
xir_status topological_make(topological *t, const xir_network *net, xir_diags *why);
void       topological_free(topological *t);

/* The place of an op, or TOPOLOGICAL_NONE. */
#define TOPOLOGICAL_NONE UINT32_MAX
static inline uint32_t topological_place(const topological *t, const xir_op *op) {
    return op && op->net == t->net && op->slot < t->n_slots ? t->place[op->slot] - 1 : TOPOLOGICAL_NONE;
}

/* Visits every op that `op` depends on, once for each input, until a call returns false. False without memory, or if a
 * call has returned false. */
typedef bool source_fn(void *user, const xir_op *source);
bool op_each_source(const xir_op *op, source_fn *visit, void *user);

/* An array of n items and one more, freed with the same n. */
static inline void *topological_take(const topological *t, size_t n, size_t size) {
    void *block = mem_new(&t->net->ctx->alloc, (n + 1) * size);
    if (block) (void)memory_advise_huge(block, (n + 1) * size);
    return block;
}
static inline void topological_drop(const topological *t, void *block, size_t n, size_t size) {
    mem_free(&t->net->ctx->alloc, block, (n + 1) * size);
}

#endif
