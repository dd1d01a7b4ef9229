/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A reduction from inside: the best network so far, and ways to make smaller ones of it. */
#ifndef REDUCE_REDUCTION_H
#define REDUCE_REDUCTION_H

#include <string.h>
#include <xir/xir.h>
#include "no_memory.h"

typedef struct reducing {
    const xir_allocator *alloc;
    xir_reduce_options   how;
    xir_network         *best;
    size_t               errors;     /* of the first network; one that is tried has no more                    */
    bool                 is_dialect;
    size_t               faults;     /* of a dialect's best network at the beginning of a step, likewise       */
    size_t               runs, kept;
    bool                 stopped;
    xir_status           status;     /* a failure: XIR_E_MEMORY. Then nothing more is tried                    */
    xir_network        **batch;      /* room for `jobs` networks                                               */
    size_t              *places;     /* and for their indices                                                  */
    xir_reduce_answer   *answers;
    size_t               jobs;
} reducing;

/* Makes network `i` of a sequence from the best one. NULL: there is none, or no memory (r->status). */
typedef xir_network *reduce_maker(reducing *r, size_t i, const void *arg);

/* Tries the networks [from, to) of a sequence in order. The first interesting one becomes the best: returns its index;
 * `to` if none is. */
size_t reduce_first(reducing *r, size_t from, size_t to, reduce_maker *make, const void *arg);
bool   reduce_ends(const reducing *r);    /* whether nothing more is to be tried */

/* Returns `n` zeroed items, NULL without memory, which r->status says then. Give back with the same numbers. */
static inline void *reduce_new(reducing *r, size_t n, size_t size) {
    void *items = n < SIZE_MAX / size ? r->alloc->resize(r->alloc->user, NULL, 0, (n + 1) * size) : NULL;
    if (items) memset(items, 0, (n + 1) * size);
    else r->status = XIR_E_MEMORY;
    return items;
}

static inline void reduce_drop(const reducing *r, void *items, size_t n, size_t size) {
    if (items) r->alloc->resize(r->alloc->user, items, (n + 1) * size, 0);
}

/* A copy of the best network to edit; NULL without memory. */
xir_network *reduce_clone(reducing *r);
/* Infers and checks a copy that was edited. Returns it, or frees it and returns NULL if it is not valid. */
xir_network *reduce_settle(reducing *r, xir_network *net, xir_status edited);
/* The same for a copy whose inputs, Params or attributes have changed. In a dialect, too, all types are found again. */
xir_network *reduce_settle_again(reducing *r, xir_network *net, xir_status edited);
/* Returns true if a status is a failure of memory, which is noted. */
bool         reduce_fails(reducing *r, xir_status status);

/* ---- dialect.c --------------------------------------------------------------------------------------------------- */

/* Types the values of a dialect's network that have none, where the conversion of a copy finds it. */
xir_status reduce_find_types(xir_network *net);
/* The number of errors that the check of the dialect finds; r->status without memory. */
size_t     reduce_count_faults(reducing *r, const xir_network *net);
/* Removes the i-th undeclared attribute of an op, or with SIZE_MAX all of them. XIR_E_MISSING: it has none. */
xir_status reduce_drop_attribute(xir_op *op, size_t i);
/* Returns true for Params that are an integer or a list of integers, most often a shape. */
bool       reduce_is_list(const xir_value *params);
/* Replaces a number in such Params and in the attributes of a dialect's ops. Sets *any if it is somewhere. */
xir_status reduce_replace_numbers(reducing *r, xir_network *net, int64_t was, int64_t now, bool *any);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The steps. They return true if the best network has become smaller. */
bool reduce_cut_ends(reducing *r);     /* cut.c    */
bool reduce_remove_ops(reducing *r);
bool reduce_outputs(reducing *r);
bool reduce_dims(reducing *r);         /* shrink.c */
bool reduce_attributes(reducing *r);   /* plain.c  */
bool reduce_params(reducing *r);
bool reduce_notes(reducing *r);

#endif
