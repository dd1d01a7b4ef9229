/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A run of a network between its steps. */
#ifndef EXEC_RUN_H
#define EXEC_RUN_H

#include "ahead.h"
#include "planned.h"

/* One entry for each value that an op produces, in the order of slots. */
typedef struct running running;
struct running {
    xir_array *array;    /* NULL: not computed yet, or already released                                  */
    size_t     uses;     /* remaining uses                                                               */
    running   *base;     /* the oldest value in the same bytes; NULL: they are those of Params           */
    size_t     sharers;  /* of a base: how many values in its bytes exist                                */
};

typedef struct xir_run_state runner;
struct xir_run_state {
    const xir_network     *net;
    xir_run_options        options;
    xir_diags             *why;          /* of the step that is being made                                   */
    const xir_op          *next;         /* the op of the next step                                          */
    const xir_op          *done;         /* that of the last step, while its values are to be released; or NULL */
    bool                   reads;        /* `done` has read its inputs: it was not known                     */
    bool                   is_stepped;   /* by the caller, who may exchange values                           */
    xir_status             status;       /* of a stepped run: the first failure                              */
    xir_array            **given;        /* the inputs of the network; owned if it is stepped                */
    size_t                 n_given;
    meter                 *limit;
    pool                   threads;
    size_t                *first;        /* the first value of the op in each slot                           */
    unsigned char         *fates;        /* of the op in each slot; NULL: all are COMPUTED                   */
    running               *values;
    size_t                 n_values;
    const xir_array      **inputs;       /* storage for the op with the most inputs                          */
    xir_array            **outputs;
    size_t                 n_inputs, n_outputs;
    budget                 within;
    rooms                  rooms;        /* memory of values and kernels that is used again                  */
    ahead                  ahead;        /* ops that are computed before their turn                          */
    planned                planned;      /* the memory of the network's plan, if it is used                  */
    xir_run_memory         memory;       /* only counted if somebody asks                                    */
};

/* Returns true if somebody asks how much memory the values take. */
static inline bool run_is_counted(const runner *r) { return r->options.memory != NULL; }

/* The entry of a value that an op of the order makes; NULL for other values. */
running   *running_of(const runner *r, const xir_value *value);
/* Begins a run in a zeroed struct; after a failure everything is freed. The inputs must live until the Input op has had
 * its step. */
xir_status run_open(runner *r, const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                    const xir_run_options *options, xir_diags *why);
void       run_close(runner *r);
/* Computes the next op. The Output op computes nothing: its inputs exist from then on until the end. */
xir_status run_step(runner *r);
/* The array of a value that exists, or of Params, for the caller, who frees it. */
xir_status run_take(const runner *r, const xir_value *value, xir_array **out);

#endif
