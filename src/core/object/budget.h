/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The limit of work: in one run of a network, or for all constants of one pipeline run or one check. The code that
 * begins such a run makes a budget, and each op that is computed first takes its work from it. An op for which not
 * enough is left is not started, and takes nothing. */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include <xir/context.h>

typedef struct budget {
    uint64_t op_work;            /* the most steps that one op may take; UINT64_MAX: no limit                     */
    uint64_t work;               /* the rest, in steps (work.h); UINT64_MAX: no limit                              */
    uint64_t elements;           /* the most that an output may have; UINT64_MAX: no limit                        */
    uint64_t params;             /* bytes of the network's Params at the start of the run;                        */
    bool     has_params;         /* false: not counted                                                            */
    uint64_t convertible;        /* bytes that conversions of the run may make; 0: none has begun                 */
    uint64_t converted;          /* bytes that they have made                                                     */
    uint64_t free;               /* bytes that constants of the pass fold may have beyond twice that              */
    uint64_t kept;               /* bytes of such constants that were made and still exist                        */
    struct rooms *rooms;         /* memory that the run uses again (src/exec/rooms.h); NULL: none                 */
    const struct xir_array *into;   /* for output 0 of the next op (src/exec/kernel.h); NULL: none               */
    bool   (*cancel)(void *user);   /* NULL: never                                                                */
    void    *user;
    size_t   threads;            /* that may compute a constant; the executor makes them and ends them            */
    struct pool *pool;           /* the threads of the run (src/exec/pool.h); NULL: the calling one               */
    bool     alone;              /* the next constant has too few elements for more than the calling thread       */
    bool     said;               /* some op has a note about it, and OP_LEFT                                      */
    bool     refused;            /* the last op was not started                                                   */
    uint64_t asked;              /* because of this work; 0: because its outputs would be too large               */
} budget;

#define NO_BUDGET { .op_work = UINT64_MAX, .work = UINT64_MAX, .elements = UINT64_MAX }

/* The budget of a run in a context, from its limits. */
static inline budget budget_of(const xir_limits *limits) {
    return (budget){ .op_work = limits->max_op_work, .work = limits->max_work, .elements = UINT64_MAX };
}

#endif
