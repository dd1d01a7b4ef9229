/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See origins.h. */
#include "node/origins.h"

/* Ids of new ops grow, so the list is sorted. */
const body_frame *origin_of(const conversion *c, const xir_op *op, int64_t *number) {
    size_t from = 0, to = c->in.n_origins;
    *number = convert_number(dialect_of_class(op->cls), op);
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        const body_origin *o = &c->in.origins[mid];
        if (o->id == op->id) {
            *number = o->number;
            return o->frame;
        }
        if (o->id < op->id) from = mid + 1;
        else to = mid;
    }
    return NULL;
}

const body_frame *node_frame(const xir_node *at) {
    int64_t number;
    return origin_of(at->c, at->op, &number);
}

bool origin_note(conversion *c, const xir_op *copy, const xir_op *from, const body_frame *frame) {
    inlining *in = &c->in;
    if (!mem_reserve(context_alloc(c->ctx), (void **)&in->origins, &in->origin_room, in->n_origins + 1,
                     sizeof *in->origins)) return false;
    const int64_t number = convert_number(dialect_of_class(from->cls), from);
    in->origins[in->n_origins++] = (body_origin){ copy->id, number, frame };
    return true;
}
