/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that are computed ahead of their turn. Ops whose loops are too short for threads, or which keep to one thread for
 * another reason, leave the other threads of a run idle. So paths of such ops whose inputs exist are computed at the
 * same time, each path by one thread, when the turn of the first one comes. Results wait until the turn of their op.
 *
 * The caller notices nothing but the time: findings, limits, `watch` and `known` meet the ops in turn. What fails ahead
 * is forgotten, and computed again in its turn. Only kernels of the library are called on other threads. */
#ifndef EXEC_AHEAD_H
#define EXEC_AHEAD_H

#include "pool.h"

/* Returns the array of a value whose op has had its turn; NULL: it does not exist. */
typedef const xir_array *ahead_array_fn(const void *user, const xir_value *value);

typedef struct ahead {
    budget              *within;      /* of the run                                                       */
    const size_t        *first;       /* the index of the first output of the op in each slot             */
    ahead_array_fn      *array_of;
    const void          *user;
    const xir_allocator *alloc;
    struct ahead_turn   *turns;       /* by slot; NULL: every op is computed in its turn                  */
    const xir_op       **early;       /* the ops whose inputs exist before their turn, in execution order */
    xir_array          **arrays;      /* what waits, by index                                             */
    size_t               slots, n_ops, n_early, n_arrays;
    size_t               passed;      /* so many of `early` have had their turn                           */
} ahead;

/* Finds out which ops may be computed ahead: with one thread none, and without memory none. Those of slots for which
 * `left_out` is not 0 are never computed; NULL: all are. `first` numbers the outputs of all ops from 0 on, `n_arrays`
 * of them. The pointers must outlive it. */
void       ahead_open(ahead *a, const xir_network *net, const unsigned char *left_out, const size_t *first,
                      size_t n_arrays, budget *within, ahead_array_fn *array_of, const void *user);
/* At the turn of `op`, which is to be computed: computes it together with ops after it, if that is worth it.
 * XIR_E_CANCELLED with a finding. */
xir_status ahead_compute(ahead *a, const xir_op *op, xir_diags *why);
/* Hands out the arrays of an op if they wait and the limit allows its work, which is then charged. */
bool       ahead_take(ahead *a, const xir_op *op, xir_array **outputs);
/* Frees the arrays of an op that is not to be computed after all, and those that were computed from them. */
void       ahead_drop(ahead *a, const xir_op *op);
void       ahead_close(ahead *a);

#endif
