/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops of nodes that are like earlier ones: only their names are new. An op, its inputs and outputs, and all that
 * belongs to them lie together, so that a walk of the network meets them at once. */
#include "dialect/dialect.h"

static size_t rounded(size_t size) { return (size + 7) & ~(size_t)7; }
static size_t label_room(xir_str text) { return text.size ? rounded(sizeof(label) + text.size) : 0; }

static const label *put_label(char **at, xir_str text) {
    label *out = (label *)(void *)*at;
    if (!text.size) return &name_empty;
    out->size = (uint32_t)text.size;
    memcpy(out->bytes, text.data, text.size);
    *at += label_room(text);
    return out;
}

/* False: a name is too long for a label. */
static bool room_of(const dialect_again *n, size_t *out) {
    bool fits = n->name.size <= INT32_MAX;
    *out = label_room(n->name) + (n->extra ? sizeof(op_more) : 0);
    for (uint32_t i = 0; i < n->n_out; i++) {
        fits &= n->out[i].text.size <= INT32_MAX;
        if (n->out[i].text.size) *out += sizeof(value_more) + label_room(n->out[i].text);
    }
    return fits;
}

static bool name_output(dialect *d, xir_value *v, dialect_ref ref, char **at) {
    if (ref.text.size) {
        value_more *more = (value_more *)(void *)*at;
        *at += sizeof *more;
        *more = (value_more){ .net = d->net, .name = put_label(at, ref.text) };
        value_set_more(v, more);
    }
    return dialect_define(d, v, ref);
}

/* The values that the op uses; absent ones at the end are left out. */
static bool find_inputs(dialect *d, const dialect_again *n, xir_value **out, size_t *size) {
    *size = n->n_in;
    while (*size && dialect_is_nothing(n->in[*size - 1])) --*size;
    for (size_t i = 0; i < *size; i++) {
        const bool absent = dialect_is_nothing(n->in[i]);
        out[i] = absent ? NULL : dialect_use(d, n->in[i]);
        if (!absent && !out[i]) return false;
    }
    return true;
}

bool dialect_node_again(dialect *d, const dialect_again *n) {
    xir_value *inputs[DIALECT_AGAIN_IN];
    size_t n_inputs, room;
    void *rest;
    if (!dialect_node_fits(d) || !find_inputs(d, n, inputs, &n_inputs)) return false;
    xir_op *op = !room_of(n, &room) ? NULL : op_make_whole(d->net, n->type->cls, n->type->attrs, inputs, n_inputs,
                                                           n->n_out, room, &rest);
    if (!op) return trace_memory(&d->trace);
    char *at = rest;
    if (n->extra) {
        op_more *more = rest;
        *more = (op_more){ .extra = n->extra };
        op_set_more(op, more);
        at += sizeof(op_more);
    }
    op_set_label(op, put_label(&at, n->name));
    for (uint32_t i = 0; i < n->n_out; i++)
        if (!name_output(d, &op_outputs(op)[i], n->out[i], &at)) return false;
    op->id = ++d->n_nodes;   /* the network has no id tables yet that would need an update */
    op_link(op, NULL);
    return true;
}
