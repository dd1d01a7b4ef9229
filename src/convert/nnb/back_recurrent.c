/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of recurrences: one layer of RNN, LSTM or GRU. NNabla's gates are i f g o and r z n, XIR's i o f g and
 * z r n. A gate has one matrix for input and state, and one bias, but for the last one of GRU. NNabla has no absent
 * states, no backward direction alone, and the batch second. */
#include "nnb/nnb.h"
#include "spec/recurrent.h"

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/* [directions, gates, hidden, features + hidden] */
static xir_value *weights(xir_node *at, const recurrent *c) {
    const int64_t columns = c->features + c->hidden, rows = c->directions * c->gates * c->hidden;
    const double *w = recurrent_numbers(at, RECURRENT_W, rows * c->features),
                 *r = recurrent_numbers(at, RECURRENT_R, rows * c->hidden);
    double *to = node_take(at, (size_t)(rows * columns) * sizeof *to);
    if (xir_node_failed(at)) return NULL;
    if (!to) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t gate = i / c->hidden % c->gates, other = c->order[gate] - gate;
        double *row = to + (i + other * c->hidden) * columns;
        memcpy(row, w + i * c->features, (size_t)c->features * sizeof *row);
        memcpy(row + c->features, r + i * c->hidden, (size_t)c->hidden * sizeof *row);
    }
    int64_t dims[] = { c->directions, c->gates, c->hidden, columns }, plain[] = { c->directions, c->hidden, columns };
    const xir_ints list = c->gates > 1 ? (xir_ints){ dims, 4 } : (xir_ints){ plain, 3 };
    return xir_node_constant(at, v_element(xir_node_input(at, RECURRENT_W)), &list, to, (size_t)(rows * columns));
}

/* [1, directions, gates, hidden], GRU's with one gate more: the state's part of the last one. */
static xir_value *bias(xir_node *at, const recurrent *c) {
    const int64_t own = c->gates * c->hidden, lists = c->gates + (c->gates == 3), n = c->directions * lists * c->hidden;
    const double *b = recurrent_numbers(at, RECURRENT_B, 2 * c->directions * own);
    double *to = node_take(at, (size_t)n * sizeof *to);
    if (xir_node_failed(at)) return NULL;
    if (!to) return node_no_memory(at), NULL;
    for (int64_t d = 0; d < c->directions; d++)
        for (int64_t i = 0; i < own; i++) {
            const int64_t gate = i / c->hidden;
            const double *of_x = b + 2 * d * own + i, *of_h = of_x + own;
            double *v = to + (d * lists + c->order[gate]) * c->hidden + i % c->hidden;
            const bool apart = c->gates == 3 && gate == 2;
            *v = apart ? *of_x : *of_x + *of_h;
            if (apart) v[c->hidden] = *of_h;
        }
    int64_t gated[] = { 1, c->directions, lists, c->hidden }, plain[] = { 1, c->directions, c->hidden };
    const xir_ints list = c->gates > 1 ? (xir_ints){ gated, 4 } : (xir_ints){ plain, 3 };
    return xir_node_constant(at, v_element(xir_node_input(at, RECURRENT_B)), &list, to, (size_t)n);
}

/* ---- the function ----------------------------------------------------------------------------------------------- */

static xir_value *turned(xir_node *at, const recurrent *c, xir_value *x) {
    return c->backward ? make_part(at, x, 0, INT64_MAX, INT64_MIN, -1) : x;
}

bool nnb_back_recurrent(xir_node *at) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    recurrent c;
    if (!recurrent_read(at, &c)) return false;
    int64_t joined[] = { c.steps, c.batch, c.directions * c.hidden }, kept[] = { 1, c.directions, c.batch, c.hidden };
    const int64_t apart[] = { c.steps, c.batch, c.directions, c.hidden };
    const xir_type *element = v_element(xir_node_input(at, RECURRENT_X)), *types[3];
    xir_value *in[6], *states[2] = { NULL };
    size_t n = 0;
    in[n++] = turned(at, &c, recurrent_input(at, &c));
    for (size_t i = 0; i < c.states; i++) in[n++] = make_shaped(at, recurrent_state(at, &c, RECURRENT_H + i), kept, 4);
    in[n++] = weights(at, &c);
    if (xir_node_has(at, RECURRENT_B)) in[n++] = bias(at, &c);
    types[0] = node_type(at, element, NULL, &(xir_ints){ joined, 3 });
    types[1] = types[2] = node_type(at, element, NULL, &(xir_ints){ kept, 4 });
    if (xir_node_failed(at)) return false;
    if (!types[0] || !types[1]) return node_no_memory(at);
    const xir_set sets[] = { INT("num_layers", 1), REAL("dropout", 0), XIR_SETB("bidirectional", c.directions > 1),
                             XIR_SETB("training", false),
                             WORD("nonlinearity", xir_str_of(c.relu ? "relu" : "tanh")) };
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, (xir_values){ in, n },
                                       (xir_sets){ sets, c.gates > 1 ? 4 : 5 }, types, 1 + c.states);
    at->main = op;
    if (!op) return false;
    xir_value *y = make_shaped(at, turned(at, &c, xir_op_output(op, 0)), apart, 4);
    for (size_t i = 0; i < c.states; i++)
        states[i] = make_shaped(at, xir_op_output(op, 1 + (int64_t)i), kept + 1, 3);
    return y && recurrent_give(at, &c, xir_node_transposed(at, y, order, 4, NULL), states);
}
