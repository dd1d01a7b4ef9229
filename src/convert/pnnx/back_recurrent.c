/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of recurrences: one layer of nn.LSTM, nn.GRU or nn.RNN. XIR's gates are i o f g and z r n, PyTorch's i
 * f g o and r z n; XIR has the directions in dim 1 of the results, PyTorch in the last one. */
#include <stdio.h>
#include "pnnx/pnnx.h"
#include "spec/recurrent.h"

/* Rows of one direction of [directions, parts * gates * hidden, columns], part `part`, with the gates in the file's
 * order. */
static xir_value *rows_of(xir_node *at, const recurrent *c, size_t input, int64_t direction, int64_t part,
                          int64_t parts, bool vector) {
    const double *from;
    size_t n;
    xir_value *all = xir_node_input(at, input);
    if (!all || !xir_node_reals(at, input, &from, &n)) return NULL;
    const int64_t rows = c->gates * c->hidden, columns = vector ? 1 : v_dim(all, 2);
    double *to = node_take(at, (size_t)(rows * columns + 1) * sizeof *to);
    if (!to) return node_no_memory(at), NULL;
    if ((int64_t)n != c->directions * parts * rows * columns)
        return xir_node_unsupported(at, "weights of other dims"), NULL;
    from += (direction * parts + part) * rows * columns;
    const size_t block = (size_t)(c->hidden * columns);
    for (int64_t g = 0; g < c->gates; g++)
        memcpy(to + (size_t)c->order[g] * block, from + (size_t)g * block, block * sizeof *to);
    const xir_ints dims = { (int64_t[]){ rows, columns }, vector ? 1 : 2 };
    return xir_node_constant(at, v_element(all), &dims, to, (size_t)(rows * columns));
}

bool pnnx_back_recurrent(xir_node *at) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    recurrent c;
    char names[8][24];
    xir_set sets[24];
    size_t n = 0;
    xir_value *x = xir_node_input(at, RECURRENT_X), *w = xir_node_params(at, RECURRENT_W),
              *r = xir_node_params(at, RECURRENT_R);
    if (!recurrent_read_form(at, &c)) return false;
    if (c.backward) return xir_node_unsupported(at, "only backward");
    if (c.batch_first) return xir_node_unsupported(at, "states with the batch first");
    if (v_rank(x) != 3 || v_rank(w) != 3 || v_rank(r) != 3) return xir_node_unsupported(at, "other dims");
    const bool bias = xir_node_has(at, RECURRENT_B), lstm = c.gates == 4;
    for (int64_t d = 0; d < c.directions; d++) {
        const char *suffix = d ? "_reverse" : "";
        for (int64_t part = 0; part < (bias ? 4 : 2); part++) {
            char *name = names[4 * d + part];
            const bool vector = part > 1;
            snprintf(name, sizeof names[0], "@%s_%s_l0%s", vector ? "bias" : "weight", part % 2 ? "hh" : "ih", suffix);
            xir_value *v = vector ? rows_of(at, &c, RECURRENT_B, d, part % 2, 2, true)
                : rows_of(at, &c, part ? RECURRENT_R : RECURRENT_W, d, 0, 1, false);
            if (!v) return false;
            sets[n++] = (xir_set)OBJ(name, v);
        }
    }
    sets[n++] = (xir_set)XIR_SETB("batch_first", false);
    sets[n++] = (xir_set)XIR_SETB("bias", bias);
    sets[n++] = (xir_set)XIR_SETB("bidirectional", c.directions > 1);
    sets[n++] = (xir_set)INT("hidden_size", c.hidden);
    sets[n++] = (xir_set)INT("input_size", v_dim(w, 2));
    sets[n++] = (xir_set)INT("num_layers", 1);
    if (lstm) sets[n++] = (xir_set)INT("proj_size", 0);
    if (c.gates == 1) sets[n++] = (xir_set)WORD("nonlinearity", xir_str_of(c.relu ? "relu" : "tanh"));
    const xir_value *y = xir_op_output(at->op, 0);
    const xir_ints dims = xir_node_dims(at, y);
    if (dims.n != 4) return xir_node_unsupported(at, "other dims");
    const int64_t joined[] = { dims.v[0], dims.v[2], c.directions * c.hidden },
                  apart[] = { dims.v[0], dims.v[2], c.directions, c.hidden };
    if (dims.v[0] < 0 || dims.v[2] < 0) return xir_node_unsupported(at, "open dims");
    const xir_type *types[3] = { node_type(at, v_element(x), NULL, &(xir_ints){ (int64_t *)(uintptr_t)joined, 3 }) };
    const size_t n_out = at->n_out > 1 ? lstm ? 3 : 2 : 1;
    for (size_t i = 1; i < n_out; i++) types[i] = xir_value_type(xir_op_output(at->op, (int64_t)i));
    if (!types[0]) return node_no_memory(at);
    xir_value *h = xir_node_optional_input(at, RECURRENT_H);
    xir_value *cells = lstm ? xir_node_optional_input(at, RECURRENT_C) : NULL;
    if (lstm && !h != !cells) return xir_node_unsupported(at, "one state of two");
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, lstm ? INS(x, h, cells) : INS(x, h),
                                       (xir_sets){ sets, n },
                                       types, n_out);
    at->main = op;
    xir_value *out = make_shaped(at, xir_op_output(op, 0), apart, 4);
    if (out && xir_value_uses(y)) xir_node_result(at, 0, xir_node_transposed(at, out, order, 4, NULL));
    for (size_t i = 1; i < at->n_out; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}
