/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* RNN, LSTM and GRU, for formulas and formats: reading the op, and its two orders of steps and batch. */
#include <math.h>
#include "spec/recurrent.h"

const recurrent_kind recurrent_kinds[] = {
    [RECURRENT_RNN]  = { "RNN",  1, 1, { 0 } },
    [RECURRENT_GRU]  = { "GRU",  1, 3, { 1, 0, 2 } },
    [RECURRENT_LSTM] = { "LSTM", 2, 4, { 0, 3, 1, 2 } },
};

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

xir_op *op_of_recurrent(xir_node *at, const recurrent_kind *kind, int64_t hidden, size_t directions, bool relu,
                        xir_values in) {
    xir_any words[2] = { xir_any_text(XIR_STR("Relu")), xir_any_text(XIR_STR("Relu")) };
    const xir_any list = xir_any_list(words, directions);
    xir_set sets[4] = { INT("hidden_size", hidden),
                        WORD("direction", xir_str_of(directions > 1 ? "bidirectional" : "forward")) };
    size_t n = 2;
    if (kind->gates == 3) sets[n++] = (xir_set)INT("linear_before_reset", 1);
    if (kind->gates == 1 && relu) sets[n++] = (xir_set){ .name = "activations", .kind = XIR_SET_ANY, .p = &list };
    return xir_node_make_op(at, kind->cls, in, (xir_sets){ sets, n });
}

xir_value *recurrent_joined(xir_node *at, xir_value *y) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    if (xir_node_failed(at) || !y) return NULL;
    const xir_ints dims = { (int64_t[]){ v_dim(y, 0), v_dim(y, 2), v_dim(y, 1) * v_dim(y, 3) }, 3 };
    return make_reshaped(at, xir_node_transposed(at, y, order, 4, NULL), &dims);
}

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

static const recurrent_kind *kind_of(const xir_op *op) {
    return &recurrent_kinds[xir_op_is(op, xir_lstm_class()) ? RECURRENT_LSTM
                            : xir_op_is(op, xir_gru_class()) ? RECURRENT_GRU : RECURRENT_RNN];
}

/* Returns true if the activations are the usual ones; those of an RNN may also be Relu. */
static bool usual(xir_node *at, recurrent *c) {
    static const char *const words[] = { "Sigmoid", "Tanh", "Tanh" };
    const xir_any *a = xir_node_attr(at, "activations"), *x = xir_node_attr(at, "activation_alpha"),
                  *y = xir_node_attr(at, "activation_beta");
    const size_t n = a ? a->as.list.size : 0;
    size_t due = 0, relu = 0;
    if ((x && x->as.list.size) || (y && y->as.list.size)) return false;
    for (size_t i = 0; i < n; i++) {
        const xir_str word = a->as.list.items[i].as.text;
        const char *expected = c->gates == 1 ? "Tanh" : words[i % (size_t)(c->gates - 1)];
        due += xir_str_equal(word, xir_str_of(expected));
        relu += c->gates == 1 && xir_str_equal(word, XIR_STR("Relu"));
    }
    c->relu = n && relu == n;
    return due == n || c->relu;
}

bool recurrent_read_form(xir_node *at, recurrent *c) {
    const recurrent_kind *kind = kind_of(at->op);
    if (xir_node_failed(at)) return false;
    *c = (recurrent){ .states = kind->states, .gates = kind->gates, .hidden = xir_node_int(at, "hidden_size", 1),
                      .directions = xir_node_is(at, "direction", "BIDIRECTIONAL") ? 2 : 1,
                      .backward = xir_node_is(at, "direction", "REVERSE"),
                      .batch_first = xir_node_int(at, "layout", 0) != 0 };
    memcpy(c->order, kind->order, sizeof c->order);
    if (xir_node_has(at, RECURRENT_LENGTHS) || xir_node_has(at, RECURRENT_PEEPHOLES))
        return xir_node_unsupported(at, "lengths or peepholes");
    if (isfinite(xir_node_real(at, "clip", INFINITY))) return xir_node_unsupported(at, "clipped activations");
    if (xir_node_bool(at, "input_forget", false)) return xir_node_unsupported(at, "coupled gates");
    if (c->gates == 3 && !xir_node_bool(at, "linear_before_reset", false))
        return xir_node_unsupported(at, "a reset before the product");
    return usual(at, c) || xir_node_unsupported(at, "other activations");
}

bool recurrent_read(xir_node *at, recurrent *c) {
    const xir_value *x = xir_node_input(at, RECURRENT_X);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) != 3) return xir_node_unsupported(at, "other dims");
    if (!recurrent_read_form(at, c)) return false;
    c->steps = v_dim(x, c->batch_first), c->batch = v_dim(x, !c->batch_first), c->features = v_dim(x, 2);
    return (c->steps >= 1 && c->batch >= 1 && c->features >= 1) || xir_node_unsupported(at, "no elements");
}

const double *recurrent_numbers(xir_node *at, size_t input, int64_t n) {
    const double *v;
    size_t found;
    if (!xir_node_reals(at, input, &v, &found)) return NULL;
    return (int64_t)found == n ? v : (xir_node_unsupported(at, "weights of other dims"), NULL);
}

/* ---- steps and batch -------------------------------------------------------------------------------------------- */

static xir_value *swapped(xir_node *at, xir_value *x, const int64_t *order, size_t rank) {
    return xir_node_failed(at) || !x ? NULL : xir_node_transposed(at, x, order, rank, NULL);
}

static const int64_t swap[] = { 1, 0, 2 };

xir_value *recurrent_input(xir_node *at, const recurrent *c) {
    xir_value *x = xir_node_input(at, RECURRENT_X);
    return c->batch_first ? swapped(at, x, swap, 3) : x;
}

xir_value *recurrent_state(xir_node *at, const recurrent *c, size_t input) {
    const xir_ints dims = { (int64_t[]){ c->directions, c->batch, c->hidden }, 3 };
    xir_value *v = xir_node_optional_input(at, input);
    if (!v) return xir_node_filled(at, v_element(xir_node_input(at, RECURRENT_X)), &dims, 0);
    return c->batch_first ? swapped(at, v, swap, 3) : v;
}

bool recurrent_give(xir_node *at, const recurrent *c, xir_value *y, xir_value *const states[2]) {
    static const int64_t batch_first[] = { 2, 0, 1, 3 };
    if (c->batch_first) y = swapped(at, y, batch_first, 4);
    if (xir_node_failed(at) || !y || !xir_node_result(at, 0, y)) return false;
    for (size_t i = 0; i < c->states && 1 + i < at->n_out; i++) {
        xir_value *v = c->batch_first ? swapped(at, states[i], swap, 3) : states[i];
        if (!v || !xir_node_result(at, 1 + i, v)) return false;
    }
    return true;
}
