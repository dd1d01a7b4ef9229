/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* If and Loop: the branch of a condition that is known, and the rounds of a loop whose end is known, become nodes of
 * the network. */
#include <stdio.h>
#include "onnx/control.h"

/* ---- If --------------------------------------------------------------------------------------------------------- */

static bool keep_if(xir_node *at) { return onnx_keep(at, onnx_type_if); }

static bool resume_if(xir_node *at) {
    for (size_t i = 0; i < at->n_out; i++) onnx_give(at, i, node_result_of_body(at, i));
    return !xir_node_failed(at) || keep_if(at);
}

bool onnx_if_(xir_node *at) {
    int64_t yes;
    xir_value **results;
    size_t n;
    if (!onnx_known(at, xir_op_input(at->op, 0), &yes))
        return xir_node_failed(at) ? keep_if(at) : onnx_both_branches(at);
    const char *branch = yes ? "then_branch" : "else_branch";
    if (!onnx_open(at, branch, false, resume_if) || !node_copy_body(at, NULL, 0, SIZE_MAX, &results, &n))
        return keep_if(at);
    if (n < at->n_out) {
        return xir_node_invalid(at, XIR_E_BOUNDS, yes ? "attribute/then_branch" : "attribute/else_branch",
                                "%s: expected %zu outputs, like the node, found %zu", branch, at->n_out, n);
    }
    for (size_t i = 0; i < n; i++) node_set_result_of_body(at, i, results[i]);
    return node_go_back(at);
}

/* ---- Loop ------------------------------------------------------------------------------------------------------- */

/* The inputs after the node's own: the condition, the carried values, and for each round what it collects. */
typedef struct loop_plan {
    int64_t trips;               /* -1: until the condition is false */
    size_t  carried, collected;
    bool    listed_count, listed_condition;   /* the body has them as lists of one number */
} loop_plan;

static bool keep_loop(xir_node *at) { return onnx_keep(at, onnx_type_loop); }

/* The result of a loop without rounds: nothing, of known dims. */
static xir_value *nothing(xir_node *at, size_t i) {
    const xir_type *type = onnx_body_type(at, "body", i);
    xir_ints dims = type ? xir_node_make_ints(at, xir_type_rank(type) + 1, 0) : (xir_ints){ NULL, 0 };
    for (size_t k = 1; k < dims.n; k++) {
        dims.v[k] = xir_type_dim(type, (int64_t)k - 1, false);
        if (dims.v[k] < 0) dims.v = NULL;
        if (!dims.v) break;
    }
    if (!dims.v) return xir_node_unsupported(at, "there are no rounds, and the dims of output %zu are unknown", i - 1),
                        NULL;
    return xir_node_filled(at, xir_type_element(type), &dims, 0);
}

static bool finish_loop(xir_node *at, const loop_plan *p) {
    const size_t rounds = (size_t)at->opened->rounds;
    for (size_t i = 0; i < p->carried; i++) onnx_give(at, i, node_result_of_body(at, 1 + i));
    for (size_t i = 0; i < p->collected; i++) {
        if (!node_wants(at, p->carried + i)) continue;
        xir_value **parts = node_take(at, (rounds + 1) * sizeof *parts);
        if (!parts) return node_no_memory(at);
        for (size_t k = 0; k < rounds; k++) parts[k] = node_result_of_body(at, 1 + p->carried + k * p->collected + i);
        onnx_give(at, p->carried + i, rounds ? onnx_stacked(at, parts, rounds, 0, "attribute/body")
                                             : nothing(at, 1 + p->carried + i));
    }
    return !xir_node_failed(at);
}

static bool next_round(xir_node *at, const loop_plan *p) {
    const size_t round = (size_t)at->opened->rounds, n = 2 + p->carried;
    xir_value **args = node_take(at, n * sizeof *args), **results;
    size_t n_results;
    if (!args) return node_no_memory(at);
    args[0] = onnx_integer(at, (int64_t)round, p->listed_count);
    for (size_t i = 0; i < 1 + p->carried; i++) args[1 + i] = node_result_of_body(at, i);
    if (!node_copy_body(at, args, n, round, &results, &n_results)) return false;
    if (n_results != 1 + p->carried + p->collected) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/body", "body: expected %zu outputs, found %zu",
                                1 + p->carried + p->collected, n_results);
    }
    for (size_t i = 0; i < n_results; i++)
        node_set_result_of_body(at, i <= p->carried ? i : i + round * p->collected, results[i]);
    return node_go_back(at);
}

/* The node is kept because of a value that is not known. Returns false. */
static bool depends(xir_node *at, const xir_value *waits_for, const xir_value *v, const char *what) {
    char text[DECIDERS_ROOM];
    at->waits_for = waits_for;
    return xir_node_unsupported(at, "%s depends on %s", what, conversion_deciders(at->c, v, text, sizeof text));
}

/* Goes on while the condition, which must be known, is true. */
static bool resume_loop(xir_node *at) {
    const loop_plan *p = at->opened->plan;
    const uint64_t most = at->c->ctx->limits.max_rounds, rounds = at->opened->rounds;
    int64_t goes_on;
    bool done = p->trips >= 0 && rounds >= (uint64_t)p->trips;
    if (!done && !onnx_known(at, node_result_of_body(at, 0), &goes_on)) {
        char after[60];
        snprintf(after, sizeof after, "after round %llu the condition", (unsigned long long)rounds);
        if (!xir_node_failed(at)) depends(at, NULL, node_result_of_body(at, 0), after);
        return keep_loop(at);
    }
    done = done || !goes_on;
    if (!done && rounds >= most)
        xir_node_unsupported(at, "there are more than %llu rounds", (unsigned long long)most);
    if (done ? finish_loop(at, p) : !xir_node_failed(at) && next_round(at, p)) return true;
    return at->fate == NODE_OPENED ? false : keep_loop(at);
}

static bool is_list_of_one(const xir_value *input) {
    const xir_type *type = xir_value_type(input);
    return xir_type_as_tensor(type) && xir_type_rank(type) == 1;
}

/* Returns true if each round returns the condition that it gets, or true. */
static bool goes_on_always(const xir_network *body) {
    const xir_op *input = xir_network_input_op(body), *output = xir_network_output_op(body);
    const xir_value *v = output ? xir_op_input(output, 0) : NULL;
    for (size_t i = 0; v && i < 64; i++) {
        const xir_op *op = xir_value_op(v);
        if (!op) return false;
        if (op == input) return xir_value_index(v) == 1;
        if (!xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Identity"))) return false;
        v = xir_op_input(op, 0);
    }
    return false;
}

/* The number of trips and the first condition; false: they are not known. */
static bool begin_loop(xir_node *at, loop_plan *p, int64_t *goes_on) {
    xir_value *trips = xir_op_input(at->op, 0), *condition = onnx_own_inputs(at) > 1 ? xir_op_input(at->op, 1) : NULL;
    p->trips = -1;
    *goes_on = 1;
    if (onnx_own_inputs(at) && trips) {
        if (!onnx_known(at, trips, &p->trips)) return depends(at, trips, trips, "the number of rounds");
        if (p->trips < 0) p->trips = 0;
    }
    if (condition && p->trips) {
        if (!onnx_known(at, condition, goes_on)) return depends(at, condition, condition, "the condition");
    }
    return true;
}

bool onnx_loop(xir_node *at) {
    loop_plan *p = node_take(at, sizeof *p);
    int64_t goes_on;
    if (!p) return node_no_memory(at);
    const size_t own = onnx_own_inputs(at);
    *p = (loop_plan){ .carried = own > 2 ? own - 2 : 0 };
    opened_node *o = begin_loop(at, p, &goes_on) ? onnx_open(at, "body", true, resume_loop) : NULL;
    if (!o) return keep_loop(at);
    const xir_op *input = xir_network_input_op(o->body), *output = xir_network_output_op(o->body);
    const size_t n_in = xir_op_output_count(input), n_out = output ? xir_op_input_count(output) : 0;
    o->plan = p;
    if (n_in != 2 + p->carried || n_out < 1 + p->carried) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/body",
                                "body: expected %zu inputs and at least %zu outputs, found %zu and %zu",
                                2 + p->carried, 1 + p->carried, n_in, n_out);
    }
    p->collected = n_out - 1 - p->carried;
    p->listed_count = is_list_of_one(xir_op_output(input, 0));
    p->listed_condition = is_list_of_one(xir_op_output(input, 1));
    const uint64_t most = at->c->ctx->limits.max_rounds;
    if (goes_on && p->trips > 0 && (uint64_t)p->trips > most && goes_on_always(o->body)) {
        xir_node_unsupported(at, "there are %lld rounds, more than %llu", (long long)p->trips,
                             (unsigned long long)most);
        return keep_loop(at);
    }
    const xir_ints one = { (int64_t[]){ 1 }, p->listed_condition };
    node_set_result_of_body(at, 0, xir_node_filled(at, xir_type_bool(at->c->ctx), &one, goes_on != 0));
    for (size_t i = 0; i < p->carried; i++) node_set_result_of_body(at, 1 + i, xir_op_input(at->op, (int64_t)i + 2));
    return xir_node_failed(at) ? keep_loop(at) : resume_loop(at);
}
