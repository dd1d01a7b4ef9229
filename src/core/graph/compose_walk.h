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

/* A type that follows without a question. It is put into the pool when something else than such a rule looks at it.
 * (compose_floats.c) */
typedef struct loose_type {
    xir_tensor_type type;
    moved_dims      dims;
    const xir_type *narrows;       /* that of an operand whose dims these are, but for some that are 1; NULL: none */
    int64_t         count;         /* of its elements; 0: not computed                                             */
    const xir_type *own;           /* the same type in the pool; NULL: not yet                                     */
} loose_type;

enum { COMPOSE_FEW = 40, COMPOSE_ROOM = 2048, COMPOSE_LOOSE = 8 };

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
    bool                *floats;       /* by value: its type is known to be a plain tensor of floats; room for all */
    const xir_type      *element;      /* the last element type found to be of floats,          */
    const xir_type      *plain;        /* the last type of Params that was found plain,         */
    const xir_type      *broad;        /* and the type to which it was found to broadcast       */
    loose_type           loose[COMPOSE_LOOSE], *next_loose;
    compose_fault        fault;
    xir_value           *few[COMPOSE_FEW], *few_inputs[COMPOSE_FEW];
    bool                 few_floats[COMPOSE_FEW];
    size_t               room;         /* of `now` and of `inputs`                              */
    arena                own;          /* of lists and bodies that do not fit into the space     */
    size_t               used;
    _Alignas(16) char    space[COMPOSE_ROOM];
} compose_walk;

/* Begins a walk; false without memory. compose_end is needed in either case. */
bool compose_begin(compose_walk *w, object_pool *pool, xir_context *ctx, const xir_class *cls, const void *attrs,
                   xir_value *const *given, size_t n);
void compose_end(compose_walk *w);

/* Memory until the next part is entered; NULL if there is none. Most bodies and lists fit into the space of the walk,
 * so that nothing is allocated. */
static inline void *compose_room(compose_walk *w, size_t size) {
    const size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded > sizeof w->space - w->used) return arena_take(&w->own, size);
    void *piece = w->space + w->used;
    w->used += rounded;
    return piece;
}

/* Returns true if an optional part is left out: then its result is its first operand, which w->now gets. */
bool compose_leave_out(compose_walk *w, const compose_part *p);
static inline bool compose_is_left_out(compose_walk *w, const compose_part *p) {
    return p->optional && compose_leave_out(w, p);
}
/* Gathers inputs and attributes of a part, whose operands are known. They are valid until the next part. On failure
 * w->fault says why; XIR_E_MEMORY leaves no text. */
xir_status compose_enter(compose_walk *w, const compose_part *p);

/* Gathers the attributes alone, into w->body. */
xir_status compose_body(compose_walk *w, const compose_part *p);
/* Writes the numbers of a list of integers. False if one has no result, or depends on a dim that is not known. */
bool compose_dims(compose_walk *w, const compose_setting *s, int64_t *out);
/* Computes a term for the op; as compose_compute. */
bool compose_number_of(compose_walk *w, const compose_term *term, compose_number *out);
/* The Params of an operand; NULL: they are absent. */
static inline xir_value *compose_params(const compose_walk *w, const compose_operand *o) {
    return *(xir_value *const *)body_at(w->attrs, o->field);
}

/* ---- types that follow without a question (compose_floats.c) ----------------------------------------------------- */

/* Returns the type of the result of a part, on this kind of target, if it follows from the rule of the part's class for
 * floats; NULL if the part has to be asked. The type may be loose. */
const xir_type *compose_floats(compose_walk *w, const compose_part *p, unsigned target);
/* Returns true if the result of a part that is `kept` has the type of its first operand, on the host: the most frequent
 * case. */
static inline bool compose_keeps(compose_walk *w, const compose_part *p) {
    if (!w->floats[p->operands[0].value] || p->cls->more->floats != FLOATS_KEPT) return false;
    return w->floats[p->first] = true;
}
/* Returns the loose type with this address; NULL for a type in a pool. */
static inline loose_type *compose_loose(compose_walk *w, const xir_type *type) {
    return (uintptr_t)type - (uintptr_t)w->loose < sizeof w->loose ? (loose_type *)(uintptr_t)type : NULL;
}
/* Puts the type of a value into the pool, if it is loose. False without memory. */
bool compose_settle(compose_walk *w, xir_value *v);

/* ---- others ----------------------------------------------------------------------------------------------------- */

/* Finds the place in the composed op for a finding about a part at `path`: "inputs/0", "stride_width". Empty if no
 * single place of the op is to blame. */
void compose_blame(const composition *c, const compose_part *p, xir_str path, char *out, size_t room);

/* An op that may be made, and the number of its results. */
typedef struct part_question {
    const xir_class   *cls;
    const void        *attrs;
    const xir_target  *target;
    xir_value *const  *inputs;
    size_t             n_inputs, n_results;
} part_question;

/* Writes the types of the results of a part whose quantised operands do not tell them (compose_reals.c). *n is 0 if
 * they follow without that, or not even so. XIR_E_MEMORY. */
xir_status compose_real_types(xir_network *net, const part_question *q, const xir_type **out, size_t *n);

/* Makes ops of the parts before `before` (NULL: at the end), of a target; those that make the outputs of the composed
 * op have its name, the others the name and their label after a dot; with a name whose data is NULL, all have their
 * label. Writes the outputs. The inputs are values of the network. On failure, with a finding in the network, ops may
 * have been made. */
xir_status compose_write(xir_network *net, const xir_class *cls, const void *attrs, xir_value *const *given, size_t n,
                         const xir_target *target, xir_str name, xir_op *before, xir_value **outputs);

/* The functions that follow from a composition, for the rows INFER, CHECK, WORK, TAKES and NEEDS. */
xir_infer_fn composed_infer, composed_check, composed_work, composed_takes, composed_needs;

#endif
