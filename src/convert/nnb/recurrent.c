/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* RNN, LSTM and GRU: an op for each layer. NNabla's gates are i f g o and r z n, XIR's i o f g and z r n. The weights
 * of a gate are [hidden, features + hidden], first those of the input, then those of the state; the first layer has its
 * own tensor, the others share one. A bias has a list for each gate, GRU's one more, for the state's part of n. Dropout
 * and training only matter to NNabla when it trains. */
#include <stdio.h>
#include "nnb/nnb.h"
#include "spec/recurrent.h"

enum { MOST_LAYERS = 64, MOST_HIDDEN = 1 << 24 };

typedef struct cell {
    const recurrent_kind *kind;
    int64_t               layers, directions, hidden, features, batch;
    xir_value            *first, *others, *bias;
} cell;

/* Returns true if v has these dims. */
static bool has_dims(xir_node *at, const xir_value *v, const char *what, const int64_t *dims, size_t n) {
    char expected[100] = "", found[100] = "";
    if (type_has_dims(xir_value_type(v), dims, n)) return true;
    for (size_t i = 0, k = 0; i < n && k < 80; i++)
        k += (size_t)snprintf(expected + k, sizeof expected - k, "%s%lld", i ? ", " : "", (long long)dims[i]);
    for (size_t i = 0, k = 0; i < v_rank(v) && k < 80; i++)
        k += (size_t)snprintf(found + k, sizeof found - k, "%s%lld", i ? ", " : "", (long long)v_dim(v, i));
    return xir_node_invalid(at, XIR_E_TYPE, NULL, "%s: expected the dims [%s], found [%s]", what, expected, found);
}

/* Finds the weights and the bias. A function with several layers has one more input: the weights of the layers after
 * the first. */
static bool read_weights(xir_node *at, cell *c) {
    const size_t first = 1 + c->kind->states, others = c->layers > 1;
    c->first = xir_node_input(at, first);
    c->others = others ? xir_node_input(at, first + 1) : NULL;
    c->bias = xir_node_optional_input(at, first + 1 + others);
    if (xir_node_failed(at)) return false;
    if (at->n_in > first + 2 + others)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected %zu to %zu inputs for %lld layers, found %zu",
                                first + 1 + others, first + 2 + others, (long long)c->layers, at->n_in);
    const int64_t gates = c->kind->gates, lists = gates + (gates == 3), d = c->directions, h = c->hidden;
    const bool gated = gates > 1;
    const int64_t own[] = { d, gates, h, c->features + h }, plain[] = { d, h, c->features + h };
    const int64_t more[] = { c->layers - 1, d, gates, h, d * h + h }, few[] = { c->layers - 1, d, h, d * h + h };
    const int64_t bias[] = { c->layers, d, lists, h }, list[] = { c->layers, d, h };
    return has_dims(at, c->first, "weight_l0", gated ? own : plain, gated ? 4 : 3) &&
           (!others || has_dims(at, c->others, "weight", gated ? more : few, gated ? 5 : 4)) &&
           (!c->bias || has_dims(at, c->bias, "bias", gated ? bias : list, gated ? 4 : 3));
}

static bool read_cell(xir_node *at, cell *c) {
    *c = (cell){ .kind = &recurrent_kinds[xir_node_variant(at)] };
    const size_t states = c->kind->states;
    const xir_value *x = xir_node_input(at, 0), *h = xir_node_input(at, 1), *last = xir_node_input(at, states);
    if (v_rank(x) != 3 || v_rank(h) != 4)
        return xir_node_invalid(at, XIR_E_TYPE, NULL, "expected an input of 3 dims and a state of 4, found %zu and "
                                "%zu", v_rank(x), v_rank(h));
    if (!xir_node_need_dims(at, x, 0, 3) || !xir_node_need_dims(at, h, 0, 4)) return false;
    c->layers = xir_node_int(at, "num_layers", 1);
    c->directions = xir_node_bool(at, "bidirectional", false) ? 2 : 1;
    c->batch = v_dim(x, 1), c->features = v_dim(x, 2), c->hidden = v_dim(h, 3);
    if (c->layers < 1) return nnb_out_of_range(at, "num_layers", c->layers);
    if (c->layers > MOST_LAYERS || c->hidden < 1 || c->hidden > MOST_HIDDEN)
        return xir_node_unsupported(at, "%lld layers of %lld elements", (long long)c->layers, (long long)c->hidden);
    const int64_t state[] = { c->layers, c->directions, c->batch, c->hidden };
    return has_dims(at, h, "h", state, 4) && (states == 1 || has_dims(at, last, "c", state, 4)) &&
           read_weights(at, c);
}

/* Item `i` of the first axis of v, in n dims. */
static xir_value *item(xir_node *at, xir_value *v, int64_t i, const int64_t *dims, size_t n) {
    return make_shaped(at, v_dim(v, 0) == 1 ? v : make_part(at, v, 0, i, i + 1, 1), dims, n);
}

/* W, from column 0, or R, from the column of the state. [directions, gates * hidden, columns] */
static xir_value *matrix(xir_node *at, const cell *c, int64_t layer, int64_t from, int64_t columns) {
    const int64_t all = c->hidden + (layer ? c->directions * c->hidden : c->features);
    const int64_t gates = c->kind->gates, parts[] = { c->directions, gates, c->hidden, all },
                  rows[] = { c->directions, gates * c->hidden, columns };
    xir_value *w = layer ? item(at, c->others, layer - 1, parts, 4) : make_shaped(at, c->first, parts, 4);
    if (gates > 1) w = make_taken(at, w, 1, &(xir_ints){ (int64_t *)(uintptr_t)c->kind->order, (size_t)gates });
    return make_shaped(at, make_part(at, w, 3, from, from + columns, 1), rows, 3);
}

/* XIR has two lists for each gate, whose sum counts, but for the last of GRU. */
static xir_value *bias_of(xir_node *at, const cell *c, int64_t layer) {
    const int64_t gates = c->kind->gates, d = c->directions, h = c->hidden;
    const int64_t parts[] = { d, gates + (gates == 3), h }, rows[] = { d, 2 * gates * h };
    const xir_ints places = { (int64_t *)(uintptr_t)c->kind->order, (size_t)gates };
    const xir_ints last = { (int64_t[]){ 3 }, 1 };   /* the state's part of n */
    if (!c->bias) return NULL;
    xir_value *all = item(at, c->bias, layer, parts, 3), *own = all, *more = NULL;
    if (gates > 1) own = make_taken(at, all, 1, &places);
    const xir_ints none = { (int64_t[]){ d, gates - (gates == 3), h }, 3 };
    xir_value *zeros = xir_node_filled(at, v_element(c->bias), &none, 0);
    if (gates == 3) more = make_taken(at, all, 1, &last);
    return make_shaped(at, xir_node_make(at, "Concat", more ? INS(own, zeros, more) : INS(own, zeros),
                                         SETS(INT("axis", 1))), rows, 2);
}

/* A layer of x, [steps, batch, features]; its last states are in `last`. */
static xir_value *layer_of(xir_node *at, const cell *c, int64_t layer, xir_value *x, xir_value *last[2]) {
    const int64_t state[] = { c->directions, c->batch, c->hidden }, columns = v_dim(x, 2);
    const size_t states = c->kind->states;
    xir_value *in[7] = { x, matrix(at, c, layer, 0, columns), matrix(at, c, layer, columns, c->hidden),
                         bias_of(at, c, layer) };
    for (size_t k = 0; k < states; k++) in[5 + k] = item(at, xir_node_input(at, 1 + k), layer, state, 3);
    xir_op *op = op_of_recurrent(at, c->kind, c->hidden, (size_t)c->directions,
                                 xir_node_is(at, "nonlinearity", "relu"), (xir_values){ in, 5 + states });
    if (!op) return NULL;
    for (size_t k = 0; k < states; k++) last[k] = xir_op_output(op, 1 + (int64_t)k);
    return recurrent_joined(at, xir_op_output(op, 0));
}

bool nnb_recurrent(xir_node *at) {
    cell c;
    xir_value *last[2][MOST_LAYERS] = { { NULL } }, *x = xir_node_input(at, 0);
    if (!x || !xir_node_one_of(at, "nonlinearity", "tanh", "tanh|relu") || !read_cell(at, &c)) return false;
    for (int64_t l = 0; l < c.layers && x; l++) {
        xir_value *states[2] = { NULL };
        x = layer_of(at, &c, l, x, states);
        last[0][l] = states[0], last[1][l] = states[1];
    }
    if (xir_node_failed(at) || !xir_node_result(at, 0, x)) return false;
    for (size_t k = 0; k + 1 < at->n_out; k++) {
        xir_value *all = xir_node_make(at, "Stack", (xir_values){ last[k], (size_t)c.layers }, SETS(INT("dim", 0)));
        if (!all || !xir_node_result(at, 1 + k, all)) return false;
    }
    return true;
}
