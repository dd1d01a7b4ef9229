/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The origins of ops: those that are copies from a body have its nodes' numbers in findings (opened.h). */
#ifndef CONVERT_ORIGINS_H
#define CONVERT_ORIGINS_H

#include "node/node.h"

/* The sources of the ops of a body, in memory of the conversion, because findings about them come at its end. */
typedef struct body_frame {
    const struct body_frame *up;     /* of the node that has the body; NULL: it is a node of the network           */
    const char    *place;            /* the path of the body's nodes in the file, up to their numbers              */
    xir_str        prefix;           /* of names of ops and values                                                 */
    const void    *function;         /* identifies the function whose body this is; NULL: the body of an attribute */
    xir_str        name;             /* of the function                                                            */
    const xir_map *given, *defaults; /* attributes that stand for references in a function's body; in the memory of
                                        the network                                                                */
    const xir_map *versions;         /* of operator sets, in a function's body; NULL: those of the network         */
    bool           unrolled;         /* within a loop                                                              */
    unsigned       depth;
} body_frame;

typedef struct body_origin { int64_t id, number; const body_frame *frame; } body_origin;

/* The frame of an op that is a copy from a body, and its number there; NULL: it is an op of the network. */
const body_frame *origin_of(const conversion *c, const xir_op *op, int64_t *number);
/* Notes that an op is a copy of `from`; false: out of memory. */
bool              origin_note(conversion *c, const xir_op *copy, const xir_op *from, const body_frame *frame);
/* The frame of the body that the node is in; NULL: it is in the network. */
const body_frame *node_frame(const xir_node *at);

#endif
