/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One walk over everything in a network: ops, the sub ops in their attributes, values and Params. A walk ends when the
 * caller says so. It takes linear time and no stack: sub ops may be nested to any depth. */
#ifndef XIR_WALK_H
#define XIR_WALK_H

#include <xir/network.h>

XIR_BEGIN

/* The answers of a call of a walk. */
typedef enum xir_walk_answer {
    XIR_WALK_ON,      /* go on                                                                                   */
    XIR_WALK_PAST,    /* for an op: go on without its values, its Params and its sub ops. Otherwise as ON        */
    XIR_WALK_STOP     /* the walk ends                                                                           */
} xir_walk_answer;

/* The calls of a walk; what has no call (NULL) is passed over. An op comes first, then its outputs, its inputs, the
 * Params in its attributes, in the order of their declaration, and then its sub ops, each likewise.
 *   op       every op of the execution order, and every sub op right after what is in its parent
 *   value    every value once: outputs of ops, and inputs that no op makes and that are not Params
 *   params   all Params once: of inputs, and of attributes in maps and lists too
 * A call may change types, names, tags and attributes other than sub ops, but neither order nor inputs nor outputs. */
typedef struct xir_walker {
    uint32_t size;    /* XIR_INIT(xir_walker) */
    void    *user;
    xir_walk_answer (*op)(void *user, xir_op *op);
    xir_walk_answer (*value)(void *user, xir_value *value);
    xir_walk_answer (*params)(void *user, xir_value *params);
} xir_walker;

/* Walk over a network in execution order; over one op and what is in it, wherever it is. XIR_OK also if a call has
 * ended the walk. XIR_E_MISSING if `net`, `op` or `how` is NULL, XIR_E_ABI, XIR_E_UNSUPPORTED; XIR_E_MEMORY: then the
 * walk may have ended anywhere. */
XIR_API xir_status xir_network_walk(const xir_network *net, const xir_walker *how, xir_diags *why);
XIR_API xir_status xir_op_walk(const xir_op *op, const xir_walker *how, xir_diags *why);

XIR_END

#endif
