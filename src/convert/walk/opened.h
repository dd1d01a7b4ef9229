/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes with bodies: the branch of an If, the rounds of a Loop, the call of a function. Such a node is opened: copies
 * of a body's ops are put before it, and what the body returns becomes further inputs of the node. The walk goes back
 * to the first of these ops; when it comes to the node again, they have been converted, and the node's hook gives its
 * results or opens the next round. A node that can't be finished gets its own inputs again, and its ops are removed:
 * it is kept as it was.
 *
 * Lists: a value of a foreign format may be a list of values, whose number and members are known while converting. What
 * makes it is kept until the end of the walk, and erased then unless a node that is kept uses it (members.h). */
#ifndef CONVERT_OPENED_H
#define CONVERT_OPENED_H

#include <xir/mapping.h>
#include "node/node.h"
#include "node/members.h"
#include "node/origins.h"

/* A function of the file. */
typedef struct body_function {
    xir_network   *net;          /* NULL: it can't be read                                                         */
    xir_str        name;
    const xir_op  *defaults;     /* of the op that has its attributes with a default; NULL: none has               */
    const xir_map *own_defaults; /* the same in the memory of the network, once it has been called                 */
    const xir_map *versions;     /* of its operator sets                                                           */
    size_t         number;       /* in the file                                                                    */
} body_function;

typedef struct opened_node {
    struct opened_node *next;        /* the node around it, opened before */
    xir_op             *op;
    xir_op             *mark;        /* the op before the first of its ops; NULL: they come first                  */
    size_t              n_in;        /* the node's own inputs; results follow                                      */
    size_t              n_stayed, n_lists, n_kept, n_calls, changed;   /* when it was opened */
    xir_convert_fn     *resume;      /* goes on when the walk is at the node again                                 */
    xir_network        *body;
    bool                owns_body;
    xir_mapping        *map;
    const xir_op       *skipped;     /* of the body: is not copied                                                 */
    body_frame          frame;
    uint64_t            rounds;      /* that have been copied                                                      */
    void               *plan;        /* of the hook                                                                */
} opened_node;

/* A list, or an optional value: one of at most one member. */
typedef struct value_list {
    int64_t        id;               /* of the op that makes it                                                    */
    const member_tree *v;
    size_t         n;
    bool           optional;
} value_list;

/* ---- opening: for hooks ----------------------------------------------------------------------------------------- */

/* Begins to open a node with a network of the body, which it takes over if `owns`, also after a failure. `place` is
 * that of the body's nodes. The caller then completes the frame. A node that is open already keeps its ops, its results
 * and its plan, and ends its body. NULL after a failure. */
opened_node *node_open(xir_node *at, xir_network *body, bool owns, const char *place, xir_convert_fn *resume);
/* Copies the ops of the body before the node, with values in place of its inputs; `args` has as many. Sets *results to
 * what it returns, in memory of the conversion; some may be NULL. The node is kept if a limit is reached. `round` is a
 * part of names; SIZE_MAX: none. */
bool node_copy_body(xir_node *at, xir_value *const *args, size_t n, size_t round, xir_value ***results,
                    size_t *n_results);
/* Makes a value the input `i` of the node, counted after its own ones: replaces it, or adds it as the last. */
bool node_set_result_of_body(xir_node *at, size_t i, xir_value *v);
xir_value *node_result_of_body(const xir_node *at, size_t i);
/* Returns true if a value was made for the opened node: by an op of its body, or around it. */
bool node_has_inside(const xir_node *at, const xir_value *v);
/* The walk continues at the ops that were made since the node was begun, and comes back. Returns false, since the hook
 * has given no results. */
bool node_go_back(xir_node *at);
/* Makes the node as it was before it was opened. Does nothing for other nodes. */
void node_undo(xir_node *at);

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* The list that a value is; NULL if it is not a list, or an unknown one. */
const value_list *conversion_list(const conversion *c, const xir_value *v);
/* Makes output `i` of the node a list. */
bool node_result_list(xir_node *at, size_t i, const member_tree *v, bool optional);

/* ---- for the walk ----------------------------------------------------------------------------------------------- */

/* The opened node of an op; NULL if the op is not open. */
opened_node *opened_of(const conversion *c, const xir_op *op);
/* After the node's results are in place: forgets that it was open. */
void         opened_close(conversion *c, opened_node *o);
/* Keeps the op of a list, for which room was reserved, until the end of the walk; then erases those that nothing uses,
 * and reports others. */
bool         lists_reserve(xir_node *at);
void         lists_keep(xir_node *at);
xir_status   lists_settle(conversion *c);
/* After a failure of the walk: makes all open nodes as they were. */
void         opened_undo_all(conversion *c);
void         inlining_begin(conversion *c);
void         inlining_end(conversion *c);

#endif
