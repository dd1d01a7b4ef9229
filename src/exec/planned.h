/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The memory of a run whose network has addresses: one block with a place for every value that has one. A wrong plan
 * computes wrong numbers in it, as on a device:
 *   - what is in no value's bytes, or no more, is the pattern of a NaN: before an op is computed, that is where its
 *     outputs go; after it, what its inputs leave that nothing reads any more
 *   - places that overlap are an island; bytes around islands are guards, which no op may change
 *   - Params are copied to their addresses once, if a value overlaps them.
 * Values may share bytes where the rows of their classes say so (liveness.h), at the same address. An op writes its
 * output at its address, or to other memory that is copied there, if it could read what it has written. Values without
 * an address are in memory of their own. */
#ifndef EXEC_PLANNED_H
#define EXEC_PLANNED_H

#include "array.h"
#include "hash.h"

/* Returns the number of reads of a value that are still to come, by its index. */
typedef size_t planned_uses_fn(const void *user, size_t index);

typedef struct planned {
    const xir_network   *net;
    const xir_allocator *alloc;       /* of the tables                                                 */
    const size_t        *first;       /* the index of the first output of the op in each slot          */
    planned_uses_fn     *uses_left;
    const void          *user;
    rooms               *rooms;
    uint8_t             *block;       /* NULL: the run has no plan                                     */
    uint8_t             *bytes;       /* of the block, aligned                                         */
    size_t               size;        /* of the block                                                  */
    struct planned_place *places;     /* by index of the value, then those of Params                   */
    size_t               n_values, n, room;
    struct planned_island *islands;
    size_t               n_islands, island_room;
    pointer_table        params;      /* from Params to their place                                    */
    xir_array          **arrays;      /* of Params, by place - n_values                                */
    size_t               n_arrays;
} planned;

/* Makes the block. `first` numbers the outputs of all ops from 0 on, `n_values` of them; the pointers must outlive it.
 *   XIR_E_MISSING   no value of the network has an address
 *   XIR_E_BOUNDS    the bytes of one that has are unknown
 *   XIR_E_LIMIT     the block exceeds the limit of the rooms, or all memory
 *   XIR_E_MEMORY, or what is wrong with Params */
xir_status planned_open(planned *p, const xir_network *net, const size_t *first, size_t n_values, rooms *from,
                        planned_uses_fn *uses_left, const void *user, xir_diags *why);
void       planned_close(planned *p);

/* The array of Params with an address; NULL for others. */
const xir_array *planned_params(const planned *p, const xir_value *value);

/* The outputs of an op begin to live, before they are computed. */
void       planned_begin(planned *p, const xir_op *op);
/* Sets *out to an array in whose bytes an op is to make its only output; NULL: wherever it likes. */
xir_status planned_into(const planned *p, const xir_op *op, xir_array **out, xir_diags *why);
/* Moves an output that is elsewhere to its address, and checks the guards around it: XIR_E_INVALID if they have
 * changed. An output without an address gets bytes of its own. Only of a run that has a plan. */
xir_status planned_settle(planned *p, const xir_op *op, uint32_t output, xir_array **array, xir_diags *why);
/* A value ends. */
void       planned_end(planned *p, size_t index);

#endif
