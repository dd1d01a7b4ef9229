/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Recurrent networks: RNN, GRU, LSTM. They differ in the numbers of gates and activations; LSTM has a second state. */
#include <inttypes.h>
#include "axes.h"
#include "element.h"
#include "sort.h"
#include "graph.h"

/* ORDER: the order of the inputs in recurrent.def */
enum { X, W, R, B, SEQUENCE_LENS, INITIAL_H, INITIAL_C, P };

/* The attributes of a class. */
typedef struct cell {
    int64_t   gates, functions;   /* per direction                     */
    bool      has_c;
    int64_t   hidden, directions;
    bool      batch_first;
    xir_texts activations;
    xir_reals alpha, beta;
} cell;

/* `a` is one of the three attribute structs, which share these members. */
#define CELL(a, n_gates, n_functions, c)                                                              \
    { .gates = (n_gates), .functions = (n_functions), .has_c = (c), .hidden = (a)->hidden_size,       \
      .directions = (a)->direction == XIR_DIRECTION_BIDIRECTIONAL ? 2 : 1, .batch_first = (a)->layout == 1, \
      .activations = (a)->activations, .alpha = (a)->activation_alpha, .beta = (a)->activation_beta }

static cell lstm_cell(xir_infer *at) {
    const xir_lstm_attrs *a = xir_infer_attrs(at);
    return (cell)CELL(a, 4, 3, true);
}
static cell gru_cell(xir_infer *at) {
    const xir_gru_attrs *a = xir_infer_attrs(at);
    return (cell)CELL(a, 3, 2, false);
}
static cell rnn_cell(xir_infer *at) {
    const xir_rnn_attrs *a = xir_infer_attrs(at);
    return (cell)CELL(a, 1, 1, false);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static bool is_activation(xir_str word) {
    static const char *const words[] = { "Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid",
                                         "Softplus", "Softsign", "Tanh", "ThresholdedRelu" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (xir_str_equal(word, xir_str_of(words[i]))) return true;
    }
    return false;
}

static xir_status check_numbers(xir_infer *at, const char *where, xir_reals numbers, int64_t functions) {
    if (numbers.size <= (uint64_t)functions) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, where,
                          "%zu numbers are given for %" PRId64 " activation%s: expected at most one each", numbers.size,
                          functions, functions == 1 ? "" : "s");
}

/* The rows of the class have bounds, but attributes from an unchecked file may violate them. */
static xir_status check_attributes(xir_infer *at, const cell *c) {
    int64_t functions = c->functions * c->directions;
    if (c->hidden < 1) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "hidden_size", "hidden_size is %" PRId64 ": expected at least 1",
                              c->hidden);
    }
    if (c->activations.size && c->activations.size != (uint64_t)functions) {
        return xir_infer_fail(at, XIR_E_INVALID, "activations", "%zu activation%s given: expected %" PRId64 " (%" PRId64
                              " for each of %" PRId64 " direction%s)", c->activations.size,
                              c->activations.size == 1 ? "" : "s", functions, c->functions, c->directions,
                              c->directions == 1 ? "" : "s");
    }
    for (size_t i = 0; i < c->activations.size; i++) {
        xir_str word = c->activations.data[i];
        if (is_activation(word)) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "activations", "'%.*s' is not an activation: expected Sigmoid, Tanh, "
                              "Relu, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign or "
                              "Softplus", CLIP_TO(word, 40));
    }
    xir_status status = check_numbers(at, "activation_alpha", c->alpha, functions);
    return status ? status : check_numbers(at, "activation_beta", c->beta, functions);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Checks the dims of an input; an unknown expected dim accepts any. */
static xir_status check_dims(xir_infer *at, size_t i, const int64_t *expected, size_t rank) {
    const xir_type *type = xir_infer_input(at, i);
    if (!type) return XIR_OK;
    size_t found = xir_type_rank(type);
    if (found != rank) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %zu dim%s: expected %zu",
                              input_name(at, i), found, found == 1 ? "" : "s", rank);
    }
    xir_status status = XIR_OK;
    for (size_t k = 0; k < rank && !status; k++) status = need_dim(at, i, k, expected[k]);
    return status;
}

static xir_status check_elements(xir_infer *at, size_t n) {
    xir_status status = need_reals(at, X);
    for (size_t i = W; i < n && !status; i++) {
        if (!xir_infer_input(at, i)) continue;
        status = i == SEQUENCE_LENS ? need_integers(at, i) : need_reals(at, i);
        if (!status && i != SEQUENCE_LENS) status = same_elements(at, X, i);
    }
    return status;
}

static size_t count_inputs(xir_infer *at, const cell *c) {
    size_t n = xir_infer_input_count(at), most = c->has_c ? P + 1 : INITIAL_H + 1;
    return n < most ? n : most;
}

/* Returns true if the required inputs have types, and the present ones are tensors. */
static bool known(xir_infer *at, size_t n) {
    if (!inputs_known(at, 3)) return false;
    for (size_t i = B; i < n; i++) {
        if (xir_infer_input(at, i) && !xir_type_as_tensor(xir_infer_input(at, i))) return false;
    }
    return true;
}

/* Checks attributes and types. Sets the sequence length and the batch size, both from X. */
static xir_status check_cell(xir_infer *at, const cell *c, size_t n, int64_t *length, int64_t *batch) {
    int64_t rows, halves, peepholes;
    if (!mul_i64(c->gates, c->hidden, &rows) || !mul_i64(rows, 2, &halves) || !mul_i64(c->hidden, 3, &peepholes)) {
        return xir_infer_fail(at, XIR_E_LIMIT, "hidden_size",
                              "hidden_size is %" PRId64 ": the products with it exceed 64 bits", c->hidden);
    }
    const int64_t any[] = { -1, -1, -1 };
    xir_status status = check_elements(at, n);
    if (!status) status = check_dims(at, X, any, 3);
    if (status) return status;
    const xir_type *x = xir_infer_input(at, X);
    *length = type_dim(x, c->batch_first ? 1 : 0);
    *batch = type_dim(x, c->batch_first ? 0 : 1);
    const int64_t w[] = { c->directions, rows, type_dim(x, 2) };
    const int64_t r[] = { c->directions, rows, c->hidden };
    const int64_t b[] = { c->directions, halves };
    const int64_t p[] = { c->directions, peepholes };
    const int64_t state[] = { c->batch_first ? *batch : c->directions, c->batch_first ? c->directions : *batch,
                              c->hidden };
    status = check_dims(at, W, w, 3);
    if (!status) status = check_dims(at, R, r, 3);
    if (!status) status = check_dims(at, B, b, 2);
    if (!status) status = check_dims(at, SEQUENCE_LENS, batch, 1);
    if (!status) status = check_dims(at, INITIAL_H, state, 3);
    if (!status && c->has_c) status = check_dims(at, INITIAL_C, state, 3);
    if (!status && c->has_c) status = check_dims(at, P, p, 2);
    return status;
}

static xir_status check(xir_infer *at, cell c) {
    int64_t length = UNKNOWN_DIM, batch = UNKNOWN_DIM;
    size_t n = count_inputs(at, &c);
    xir_status status = check_attributes(at, &c);
    return status || !known(at, n) || inputs_tiled(at, n) ? status : check_cell(at, &c, n, &length, &batch);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* Padding of the input size does not matter, but padding of the sequence or the batch would reach the outputs. */
static xir_status need_no_padding(xir_infer *at) {
    const xir_tensor_type *x = xir_type_as_tensor(xir_infer_input(at, X));
    for (size_t i = 0; i < x->merged_distrs.size; i++) {
        const xir_distr *distr = xir_distr_of(x->merged_distrs.data[i]);
        for (size_t k = 0; distr && xir_distr_total_invalid(distr) && k < distr->merged_axis.size; k++) {
            if (from_start(distr->merged_axis.data[k], 3) == 2) continue;
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "distribution %zu of %s is over its length or "
                                  "batch: the valid elements of the outputs cannot be determined", i,
                                  input_name(at, X));
        }
    }
    return XIR_OK;
}

/* Checks the types of the optional inputs that are present, as need_inputs does for the required ones. */
static xir_status need_options(xir_infer *at, size_t n) {
    for (size_t i = B; i < n; i++) {
        const xir_type *type = xir_infer_input(at, i);
        if (type && !xir_type_as_tensor(type)) {
            return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text, "%s is not a tensor", input_name(at, i));
        }
        if (xir_type_is_layouted(type)) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                                  "%s is tiled: there is no inference rule for tiled inputs", input_name(at, i));
        }
    }
    return XIR_OK;
}

static xir_status infer(xir_infer *at, cell c) {
    int64_t length = UNKNOWN_DIM, batch = UNKNOWN_DIM;
    const xir_type *element;
    size_t n = count_inputs(at, &c);
    xir_status status = need_inputs(at, 3);
    if (!status) status = need_options(at, n);
    if (!status) status = check_cell(at, &c, n, &length, &batch);
    for (size_t i = X; i <= R && !status; i++) status = computed_element(at, i, &element);
    if (!status) status = need_no_padding(at);
    if (status) return status;
    const int64_t all[2][4] = { { length, c.directions, batch, c.hidden }, { batch, length, c.directions, c.hidden } };
    const int64_t last[2][3] = { { c.directions, batch, c.hidden }, { batch, c.directions, c.hidden } };
    element = xir_type_element(xir_infer_input(at, X));
    status = xir_infer_result_tensor(at, element, NULL, all[c.batch_first], 4);
    if (!status) status = xir_infer_result_tensor(at, element, NULL, last[c.batch_first], 3);
    if (!status && c.has_c) status = xir_infer_result_tensor(at, element, NULL, last[c.batch_first], 3);
    return status;
}

xir_status lstm_check(xir_infer *at) { return check(at, lstm_cell(at)); }
xir_status lstm_infer(xir_infer *at) { return infer(at, lstm_cell(at)); }
xir_status gru_check(xir_infer *at)  { return check(at, gru_cell(at)); }
xir_status gru_infer(xir_infer *at)  { return infer(at, gru_cell(at)); }
xir_status rnn_check(xir_infer *at)  { return check(at, rnn_cell(at)); }
xir_status rnn_infer(xir_infer *at)  { return infer(at, rnn_cell(at)); }
