/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Asks the parts of a composed op one after another: for the rows that follow from the composition. The types of the
 * values are inferred first; values of types alone stand for the results. */
#ifndef CORE_COMPOSE_ASK_H
#define CORE_COMPOSE_ASK_H

#include "compose_walk.h"

enum { STAND_INS = 24, MARKS = 8 };

typedef struct asking {
    compose_walk w;
    xir_infer   *at;
    value_more   plain, constant;             /* of stand-ins: of results, of numbers               */
    params       no_bytes;
    xir_value  **inputs;                      /* of the op                                          */
    size_t       n_inputs;
    xir_value   *own, few[STAND_INS];         /* by value of the composition                        */
    xir_value   *few_inputs[STAND_INS];
    bool         read_values;                 /* a part has looked at bytes                         */
    struct { value_more more; xir_value value; } marks[MARKS];   /* of inputs that are constants of a run */
} asking;

/* Begins for an op; false without memory. asking_end is needed in either case. */
bool asking_begin(asking *a, xir_infer *at);
void asking_end(asking *a);

/* Asks something more of a part whose types are in q. */
typedef xir_status asking_more_fn(asking *a, const compose_part *p, xir_infer *q, void *user);
/* Infers all parts; sets *failed to the one that fails. `more` may be NULL; then types of values may be loose. */
xir_status asking_infer(asking *a, asking_more_fn *more, void *user, const compose_part **failed);
/* Puts all loose types into the pool; XIR_E_MEMORY. */
xir_status asking_settle(asking *a);
/* Starts a question to a part whose attributes and inputs have been gathered (compose_enter). */
void asking_start(asking *a, const compose_part *p, xir_infer *q, xir_diags *why);
/* Returns true if the part was left out: its result is its first operand. */
bool asking_left_out(const asking *a, const compose_part *p);

#endif
