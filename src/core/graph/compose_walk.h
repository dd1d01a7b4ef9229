/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A walk over the parts of a composed op. A value of the composition is stood for by a value of a network: an input of
 * the op by the input itself, what a part makes by what the caller says. The walk gives the inputs and the attributes
 * of each part; whether these are types that are inferred or ops that are made, is the caller's matter. */
#ifndef CORE_COMPOSE_WALK_H
#define CORE_COMPOSE_WALK_H

#include "compose.h"
#include "graph.h"

/* Why the attributes of a part do not follow: an attribute of the part that is out of bounds, or a dim. */
typedef struct compose_fault {
    xir_status       status;
    const xir_field *field;        /* of the part */
    char             text[300];
} compose_fault;

/* Makes a constant of one element of a type. NULL without memory. */
typedef xir_value *compose_constant_fn(void *user, const xir_type *type, double number);

enum { COMPOSE_FEW = 40, COMPOSE_ROOM = 2048, COMPOSE_PLAIN = 4 };

typedef struct compose_walk {
    const composition   *c;
    const xir_class     *cls;
    const void          *attrs;        /* of the composed op                                    */
    object_pool         *pool;         /* for objects that attributes refer to                  */
    xir_context         *ctx;
    xir_value *const    *given;        /* the inputs of the op                                  */
    size_t               n_given;
    compose_constant_fn *constant;
    void                *user;
    xir_value          **now;          /* by value of the composition                           */
    xir_value          **inputs;       /* of the part                                           */
    size_t               n_inputs;
    const void          *body;         /* its attributes                                        */
    const xir_type      *number_element, *number_type;   /* of the last number                 */
    const xir_type      *floats;       /* the last element type found to be of floats         */
    const xir_type      *plain[COMPOSE_PLAIN];   /* types found to be plain tensors of floats */
    size_t               n_plain;
    compose_fault        fault;
    xir_value           *few[COMPOSE_FEW], *few_inputs[COMPOSE_FEW];
    size_t               room;         /* of `now` and of `inputs`                              */
    arena                own;          /* of lists and bodies that do not fit into the space     */
    size_t               used;
    _Alignas(16) char    space[COMPOSE_ROOM];
} compose_walk;

/* Begins a walk; false without memory. compose_end is needed in either case. */
bool compose_begin(compose_walk *w, object_pool *pool, xir_context *ctx, const xir_class *cls, const void *attrs,
                   xir_value *const *given, size_t n);
void compose_end(compose_walk *w);

/* Memory until the next part is entered; NULL if there is none. */
void *compose_room(compose_walk *w, size_t size);

/* Returns true if a part is left out: then its result is its first operand, which w->now gets. */
bool compose_is_left_out(compose_walk *w, const compose_part *p);
/* Gathers inputs and attributes of a part, whose operands are known. They are valid until the next part. On failure
 * w->fault says why; XIR_E_MEMORY leaves no text. */
xir_status compose_enter(compose_walk *w, const compose_part *p);

/* Returns the type of the result of a part, on this kind of target, if it follows from the rule of the part's class for
 * floats; NULL if the part has to be asked. */
const xir_type *compose_floats(compose_walk *w, const compose_part *p, unsigned target);

/* Finds the place in the composed op for a finding about a part at `path`: "inputs/0", "stride_width". Empty if no
 * single place of the op is to blame. */
void compose_blame(const composition *c, const compose_part *p, xir_str path, char *out, size_t room);

/* Makes ops of the parts before `before` (NULL: at the end), of a target; those that make the outputs of the composed
 * op have its name, the others the name and their label after a dot; with a name whose data is NULL, all have their
 * label. Writes the outputs. The inputs are values of the network. On failure, with a finding in the network, ops may
 * have been made. */
xir_status compose_write(xir_network *net, const xir_class *cls, const void *attrs, xir_value *const *given, size_t n,
                         const xir_target *target, xir_str name, xir_op *before, xir_value **outputs);

/* The functions that follow from a composition, for the rows INFER, CHECK, WORK, TAKES and NEEDS. */
xir_infer_fn composed_infer, composed_check, composed_work, composed_takes, composed_needs;

#endif
