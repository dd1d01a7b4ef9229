/* What computing may take: all of one run of a network, or all constants that a run of a pipeline, or a check,
 * computes. Whoever begins such a run makes a budget; each op that is computed takes its work from it first. An op
 * for which not enough is left is not begun, and takes nothing. */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include <xir/context.h>

typedef struct budget {
    uint64_t op_work;            /* the most steps that one op may take; UINT64_MAX: no limit                     */
    uint64_t work;               /* what is left, in steps (work.h); UINT64_MAX: no limit                          */
    uint64_t elements;           /* the most that an output may have; UINT64_MAX: no limit                        */
    uint64_t params;             /* bytes of the Params that the network had when the run began,                  */
    bool     has_params;         /* which somebody has counted                                                    */
    uint64_t free;               /* bytes that constants may have beyond twice those                              */
    uint64_t kept;               /* bytes of constants that were made and are still there                         */
    bool   (*cancel)(void *user);   /* NULL: never                                                                */
    void    *user;
    bool     said;               /* of some op a note says so: it has OP_LEFT                                     */
    bool     refused;            /* whether the last op was not begun;                                            */
    uint64_t asked;              /* for its work, which this is; 0: its outputs would be too large                */
} budget;

#define NO_BUDGET { .op_work = UINT64_MAX, .work = UINT64_MAX, .elements = UINT64_MAX }

/* The budget of a run in a context: what its limits say. */
static inline budget budget_of(const xir_limits *limits) {
    return (budget){ .op_work = limits->max_op_work, .work = limits->max_work, .elements = UINT64_MAX };
}

#endif
