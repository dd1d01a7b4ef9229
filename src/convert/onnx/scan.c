/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Scan: its rounds become nodes of the network if the length of what it scans is known. Version 8 has a batch: it scans
 * each member by itself, along axis 1, and begins each with its own states. */
#include <stdio.h>
#include "onnx/control.h"

typedef struct scan_plan {
    size_t   first;                  /* the input that is the first state                     */
    size_t   states, scanned, collected;
    int64_t  length, batch;          /* -1: there is no batch                                 */
    xir_ints axes, back, to, turned; /* of each scanned input, of each collected output       */
} scan_plan;

static bool keep_scan(xir_node *at) { return onnx_keep(at, onnx_type_scan); }

/* The inputs after the node's own: the states; then for each member of the batch what its rounds collect, and its last
 * states. */
static size_t place_of(const scan_plan *p, size_t member, size_t round) {
    return p->states + member * ((size_t)p->length * p->collected + p->states) + round * p->collected;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Collects one member of all rounds. */
static xir_value *collected(xir_node *at, const scan_plan *p, size_t member, size_t i) {
    const size_t n = (size_t)p->length;
    xir_value **parts = node_take(at, (n + 1) * sizeof *parts);
    if (!parts) return node_no_memory(at), NULL;
    for (size_t k = 0; k < n; k++)
        parts[p->turned.v[i] ? n - 1 - k : k] = node_result_of_body(at, place_of(p, member, k) + i);
    return onnx_stacked(at, parts, n, p->to.v[i], "attribute/scan_output_axes");
}

static bool finish_scan(xir_node *at, const scan_plan *p) {
    const size_t members = p->batch < 0 ? 1 : (size_t)p->batch;
    xir_value **parts = node_take(at, (members + 1) * sizeof *parts);
    if (!parts) return node_no_memory(at);
    for (size_t i = 0; i < p->states + p->collected; i++) {
        if (!node_wants(at, i)) continue;
        for (size_t m = 0; m < members; m++)
            parts[m] = i < p->states ? node_result_of_body(at, place_of(p, m, (size_t)p->length) + i)
                                     : collected(at, p, m, i - p->states);
        if (xir_node_failed(at)) return false;
        onnx_give(at, i, p->batch < 0 ? parts[0] : onnx_stacked(at, parts, members, 0, "attribute/body"));
    }
    return !xir_node_failed(at);
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

static xir_value *slice_of(xir_node *at, const scan_plan *p, size_t i, size_t member, int64_t round) {
    xir_value *x = xir_op_input(at->op, (int64_t)(p->first + p->states + i));
    const int64_t place = p->back.v[i] ? p->length - 1 - round : round;
    if (p->batch >= 0) x = onnx_element_at(at, x, 0, (int64_t)member);
    return onnx_element_at(at, x, (size_t)p->axes.v[i], place);
}

static bool next_round(xir_node *at, const scan_plan *p) {
    const size_t n = p->states + p->scanned, all = (size_t)at->opened->rounds;
    const size_t member = all / (size_t)p->length, round = all % (size_t)p->length;
    xir_value **args = node_take(at, (n + 1) * sizeof *args), **results;
    size_t n_results;
    if (!args) return node_no_memory(at);
    for (size_t i = 0; i < n && !xir_node_failed(at); i++) {
        if (i >= p->states) args[i] = slice_of(at, p, i - p->states, member, (int64_t)round);
        else args[i] = node_result_of_body(at, i);
        if (i < p->states && p->batch >= 0 && !round)
            args[i] = onnx_element_at(at, xir_op_input(at->op, (int64_t)(p->first + i)), 0, (int64_t)member);
    }
    if (!node_copy_body(at, args, n, all, &results, &n_results)) return false;
    for (size_t i = 0; i < p->collected; i++)
        node_set_result_of_body(at, place_of(p, member, round) + i, results[p->states + i]);
    for (size_t i = 0; i < p->states; i++) {
        node_set_result_of_body(at, i, results[i]);
        if (round + 1 == (size_t)p->length) node_set_result_of_body(at, place_of(p, member, round + 1) + i, results[i]);
    }
    return node_go_back(at);
}

static bool resume_scan(xir_node *at) {
    const scan_plan *p = at->opened->plan;
    const uint64_t all = (uint64_t)p->length * (p->batch < 0 ? 1 : (uint64_t)p->batch);
    if (at->opened->rounds < all ? next_round(at, p) : finish_scan(at, p)) return true;
    return at->fate == NODE_OPENED ? false : keep_scan(at);
}

/* ---- the beginning ---------------------------------------------------------------------------------------------- */

/* An item for each of `n` values, 0 for those that the list does not have. */
static xir_ints list_of(xir_node *at, const char *name, size_t n) {
    xir_ints given, all = xir_node_make_ints(at, n, 0);
    char where[80];
    snprintf(where, sizeof where, "attribute/%s", name);
    if (!xir_node_items(at, name, &given) || !all.v) return all;
    if (given.n != n)
        xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected %zu items, found %zu", name, n, given.n);
    else if (n) memcpy(all.v, given.v, n * sizeof *all.v);
    return all;
}

/* The axes of what is scanned, which all have the same length there. */
static bool find_length(xir_node *at, scan_plan *p) {
    for (size_t i = 0; i < p->scanned; i++) {
        xir_value *x = xir_node_input(at, p->first + p->states + i);
        if (!x) return false;
        const size_t rank = v_rank(x), after = p->batch < 0 ? 0 : 1;
        if (!xir_node_axis(at, "attribute/scan_input_axes", p->axes.v[i] + (int64_t)after, rank, &p->axes.v[i]))
            return false;
        const int64_t length = v_dim(x, (size_t)p->axes.v[i]);
        if (length < 0) return xir_node_unsupported(at, "the number of rounds is an open dim");
        if (i && length != p->length) {
            return xir_node_invalid(at, XIR_E_INVALID, NULL, "expected %lld rounds by each scanned input, found %lld",
                                    (long long)p->length, (long long)length);
        }
        p->length = length;
        if (after && p->batch != v_dim(x, 0)) return xir_node_unsupported(at, "the batch is not the same everywhere");
        p->axes.v[i] -= (int64_t)after;   /* once a member of the batch has been taken */
    }
    if (p->length < 1) return xir_node_unsupported(at, "there are no rounds");
    return true;
}

/* Version 8: an optional input of lengths comes first, and everything has a batch. */
static bool begin_batch(xir_node *at, scan_plan *p) {
    xir_ints lengths;
    p->batch = -1;
    if (at->cls->version >= 9) return true;
    p->first = 1;
    xir_value *x = xir_node_input(at, 1);
    if (!x || !v_rank(x)) return xir_node_unsupported(at, "input 1 has no batch");
    p->batch = v_dim(x, 0);
    if (p->batch < 1) return xir_node_unsupported(at, "the batch is an open dim, or empty");
    if (!xir_node_has(at, 0)) return true;
    if (!xir_node_ints(at, 0, &lengths)) return false;
    const xir_value *scanned = xir_op_input(at->op, (int64_t)(p->first + p->states));
    for (size_t i = 0; i < lengths.n; i++) {
        if (!scanned || v_rank(scanned) < 2 || v_dim(scanned, 1) != lengths.v[i])
            return xir_node_unsupported(at, "members of the batch have lengths of their own");
    }
    return true;
}

static bool begin_scan(xir_node *at, scan_plan *p) {
    const size_t own = onnx_own_inputs(at), first = at->cls->version < 9;
    const int64_t scanned = xir_node_int(at, "num_scan_inputs", 0);
    if (scanned < 1 || own < first || (uint64_t)scanned > own - first) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/num_scan_inputs",
                                "num_scan_inputs: expected 1 to %zu, found %lld", own - (own ? first : 0),
                                (long long)scanned);
    }
    *p = (scan_plan){ .scanned = (size_t)scanned, .states = own - first - (size_t)scanned };
    if (!begin_batch(at, p)) return false;
    p->axes = list_of(at, first ? "" : "scan_input_axes", p->scanned);
    p->back = list_of(at, first ? "directions" : "scan_input_directions", p->scanned);
    if (xir_node_failed(at) || !find_length(at, p)) return false;
    const uint64_t most = at->c->ctx->limits.max_rounds, all = at->c->ctx->limits.max_unrolled;
    if (p->batch > 0 && (uint64_t)p->batch > all / (uint64_t)p->length)
        return xir_node_unsupported(at, "all members of the batch have more than %llu rounds", (unsigned long long)all);
    if ((uint64_t)p->length <= most) return true;
    return xir_node_unsupported(at, "there are %lld rounds, more than %llu", (long long)p->length,
                                (unsigned long long)most);
}

bool onnx_scan(xir_node *at) {
    scan_plan *p = node_take(at, sizeof *p);
    if (!p) return node_no_memory(at);
    opened_node *o = begin_scan(at, p) ? onnx_open(at, "body", true, resume_scan) : NULL;
    if (!o) return keep_scan(at);
    const xir_op *input = xir_network_input_op(o->body), *output = xir_network_output_op(o->body);
    const size_t n_in = xir_op_output_count(input), n_out = output ? xir_op_input_count(output) : 0;
    if (n_in != p->states + p->scanned || n_out < p->states) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/body",
                                "body: expected %zu inputs and at least %zu outputs, found %zu and %zu",
                                p->states + p->scanned, p->states, n_in, n_out);
    }
    o->plan = p;
    p->collected = n_out - p->states;
    p->to = list_of(at, at->cls->version < 9 ? "" : "scan_output_axes", p->collected);
    p->turned = list_of(at, at->cls->version < 9 ? "" : "scan_output_directions", p->collected);
    for (size_t i = 0; i < p->states; i++)
        node_set_result_of_body(at, i, xir_op_input(at->op, (int64_t)(p->first + i)));
    return xir_node_failed(at) ? keep_scan(at) : resume_scan(at);
}
