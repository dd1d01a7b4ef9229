/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of RNN, LSTM and GRU: XIR's are ONNX's but for the batch, which runtimes take second only. */
#include <math.h>
#include "onnx/back.h"

static xir_value *turned(xir_node *at, xir_value *v) {
    static const int64_t swap[] = { 1, 0, 2 };
    return v ? xir_node_transposed(at, v, swap, 3, NULL) : NULL;
}

/* Activations that have alpha, or alpha and beta, and what they are if the op does not say them. Runtimes do not agree
 * about that, so all are written. */
static const struct { const char *name; bool has_beta; double alpha, beta; } shapes[] = {
    { "Affine",    true,  1,    0 }, { "Elu",        false, 1, 0 }, { "HardSigmoid",     true,  0.2, 0.5 },
    { "LeakyRelu", false, 0.01, 0 }, { "ScaledTanh", true,  1, 1 }, { "ThresholdedRelu", false, 1,   0   },
};

/* One list of numbers: given ones, then those of the remaining activations that have one. */
static void put_numbers(xir_node *at, onnx_form *f, const xir_any *words, const char *name, bool beta) {
    const xir_any *given = xir_node_attr(at, name);
    const size_t n = words->as.list.size, had = given && given->kind == XIR_ANY_LIST ? given->as.list.size : 0;
    xir_any *items = node_take(at, (n + 1) * sizeof *items),
            *all = node_take(at, sizeof *all);
    size_t count = 0;
    if (!items || !all) {
        (void)node_no_memory(at);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < COUNT(shapes) && words->as.list.items[i].kind == XIR_ANY_TEXT; k++) {
            if (!xir_str_equal(words->as.list.items[i].as.text, xir_str_of(shapes[k].name))) continue;
            if (beta && !shapes[k].has_beta) continue;
            items[count] = count < had ? given->as.list.items[count]
                                       : xir_any_real(beta ? shapes[k].beta : shapes[k].alpha);
            count++;
        }
    *all = xir_any_list(items, count);
    if (count) f->sets[f->n_sets++] = (xir_set){ .name = name, .kind = XIR_SET_ANY, .p = all };
}

static void put_activations(xir_node *at, onnx_form *f) {
    const xir_any *words = xir_node_attr(at, "activations");
    if (!words || words->kind != XIR_ANY_LIST || !words->as.list.size) return;
    f->sets[f->n_sets++] = (xir_set){ .name = "activations", .kind = XIR_SET_ANY, .p = words };
    put_numbers(at, f, words, "activation_alpha", false);
    put_numbers(at, f, words, "activation_beta", true);
}

static bool put_attributes(xir_node *at, onnx_form *f) {
    static const char *const words[][2] = {
        { "FORWARD", "forward" }, { "REVERSE", "reverse" }, { "BIDIRECTIONAL", "bidirectional" },
    };
    const double clip = xir_node_real(at, "clip", INFINITY);
    f->sets[f->n_sets++] = (xir_set)INT("hidden_size", xir_node_int(at, "hidden_size", 1));
    for (size_t i = 0; i < COUNT(words); i++)
        if (xir_node_is(at, "direction", words[i][0]))
            f->sets[f->n_sets++] = (xir_set)WORD("direction", xir_str_of(words[i][1]));
    if (isfinite(clip)) f->sets[f->n_sets++] = (xir_set)REAL("clip", clip);
    put_activations(at, f);
    if (node_is_class(at, "LSTM") && xir_node_bool(at, "input_forget", false))
        f->sets[f->n_sets++] = (xir_set)INT("input_forget", 1);
    if (node_is_class(at, "GRU") && xir_node_bool(at, "linear_before_reset", false))
        f->sets[f->n_sets++] = (xir_set)INT("linear_before_reset", 1);
    return !xir_node_failed(at);
}

/* The type of a result with the batch second: Y is [steps, directions, batch, hidden], a state [directions, batch,
 * hidden]; batch first, [batch, steps, directions, hidden] and [batch, directions, hidden]. */
static const xir_type *result_type(xir_node *at, size_t i, bool first) {
    static const size_t of_all[] = { 1, 2, 0, 3 }, of_state[] = { 1, 0, 2 };
    const xir_value *v = xir_op_output(at->op, (int64_t)i);
    if (!first) return xir_value_type(v);
    const xir_ints own = node_own_dims(at, v);
    xir_ints dims = xir_node_make_ints(at, own.n, 0);
    if (xir_node_failed(at) || own.n != (i ? 3U : 4U)) return NULL;
    for (size_t k = 0; k < own.n; k++) dims.v[k] = own.v[i ? of_state[k] : of_all[k]];
    return node_type(at, v_element(v), NULL, &dims);
}

bool onnx_back_recurrent(xir_node *at) {
    static const int64_t back[] = { 2, 0, 1, 3 };
    enum { LENGTHS = 4, STATES = 5, PEEPHOLES = 7 };
    const bool first = xir_node_int(at, "layout", 0) != 0;
    const xir_type *types[3];
    const size_t n = xir_op_output_count(at->op);
    onnx_form f = { .n_in = 0 };
    const xir_type *lengths = xir_type_sint(at->c->ctx, 32);
    if (!lengths) return node_no_memory(at);
    for (size_t i = 0; i < at->n_in && i < 8; i++) {
        xir_value *v = xir_node_optional_input(at, i);
        if (v && i == LENGTHS) v = xir_node_cast(at, v, lengths);
        if (v && first && (i == 0 || (i >= STATES && i < PEEPHOLES))) v = turned(at, v);
        onnx_put_input(&f, i, v);
    }
    if (xir_node_failed(at) || !put_attributes(at, &f) || n > 3) return false;
    for (size_t i = 0; i < n; i++) {
        types[i] = result_type(at, i, first);
        if (!types[i]) return node_no_memory(at);
    }
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, onnx_inputs(&f), onnx_sets(&f), types, n);
    at->main = op;
    for (size_t i = 0; op && i < n; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (first) v = i ? turned(at, v) : xir_node_transposed(at, v, back, 4, NULL);
        xir_node_result(at, i, v);
    }
    return op && !xir_node_failed(at);
}
