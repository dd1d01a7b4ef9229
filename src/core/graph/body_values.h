/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values of a body: sub ops that run one after another, from an Input to an Output. Each value that one of them
 * makes has an index, so that code that walks the body keeps what it knows in arrays. The body has been checked by its
 * class, unless a function says otherwise. */
#ifndef CORE_BODY_VALUES_H
#define CORE_BODY_VALUES_H

#include "graph.h"

typedef struct body_values {
    const xir_allocator *alloc;
    xir_ops       ops;
    pointer_table places;   /* of the ops in the body                            */
    size_t       *first;    /* the index of the first output of each op          */
    size_t        n;        /* values in all                                     */
} body_values;

/* Numbers the values of any list of ops. XIR_E_MEMORY; XIR_E_EXISTS if an op is listed twice. body_close is needed in
 * either case. */
xir_status body_open(body_values *b, const xir_allocator *alloc, xir_ops ops);
void       body_close(body_values *b);

/* The position of an op, and the index of a value; SIZE_MAX if it is not in the body, or made elsewhere. */
size_t body_place(const body_values *b, const xir_op *op);
size_t body_index(const body_values *b, const xir_value *v);

/* The body's Input and Output. */
static inline const xir_op *body_input(const body_values *b)  { return b->ops.data[0]; }
static inline const xir_op *body_output(const body_values *b) { return b->ops.data[b->ops.size - 1]; }

/* Returns true if the inputs of an op that runs the body have the types of the values that stand for them. */
bool body_has_types(const xir_op *input, const xir_infer *at);

/* Infers the types of all values from those of the inputs of the op that runs the body, into `types`, which has room
 * for n. An op whose types do not follow from its inputs keeps those that it has, as in xir_network_infer. `work`, if
 * not NULL, gets the work of all ops together: XIR_E_BOUNDS if it depends on unknown dims. */
xir_status body_infer(const body_values *b, xir_infer *at, const xir_type **types, xir_work *work);

/* Replaces an inferred type by one with the declared elements, if these are another quantisation. (op.c) */
xir_status keep_conversion(const xir_op *op, xir_infer *at, const xir_type *declared, const xir_type **inferred);

#endif
