/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The turn of a node begins; then the ops that are made for it stand between its mark and itself. */
#include "node/node.h"

void node_begin(conversion *c, xir_op *op, const convert_class *cls, xir_node *at) {
    size_t n_out = xir_op_output_count(op);
    *at = (xir_node){ .c = c, .op = op, .cls = cls, .n_in = xir_op_input_count(op), .n_out = n_out,
                      .mark = xir_op_prev(op) };
    at->at_front = c->back.to && at->mark == c->back.front;
    while (at->n_in && !xir_op_input(op, (int64_t)at->n_in - 1)) at->n_in--;
    const size_t least = cls ? cls->least_out : 0;   /* these have no names in networks that are made, not read */
    while (at->n_out > least && !xir_value_uses(xir_op_output(op, (int64_t)at->n_out - 1)) &&
           xir_value_name(xir_op_output(op, (int64_t)at->n_out - 1)).size == 0) at->n_out--;
    at->given = node_take(at, (n_out + 1) * sizeof *at->given);
    if (at->given) memset((void *)at->given, 0, (n_out + 1) * sizeof *at->given);
}

xir_op *node_mark(const xir_node *at) { return at->at_front ? at->c->back.front : at->mark; }

bool node_made(const xir_node *at, const xir_value *v) {
    if (xir_value_is_params(v)) return !v->uses && v->id < 0;
    const xir_op *producer = xir_value_op(v);
    const xir_op *mark = node_mark(at);
    bool mine = producer && xir_op_is_placed(producer) && xir_op_before(producer, at->op) &&
        (!mark || xir_op_before(mark, producer));
    return mine && xir_value_name(v).size == 0;
}

void node_discard(xir_node *at) {
    for (xir_op *op; (op = xir_op_prev(at->op)) != node_mark(at);) {
        conversion_forget(at->c, op);
        if (xir_op_erase(op) != XIR_OK) break;   // only this node's ops can use it
    }
}
