/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sequences and optional values: lists whose members are known while converting. What takes a member of one takes the
 * member itself, so that no list is left. */
#include <stdio.h>
#include "onnx/control.h"
#include "formula/parts.h"

/* The list that input `i` is; NULL: the node is kept. */
static const value_list *list_at(xir_node *at, size_t i) {
    xir_value *v = node_input_at(at, i);
    const value_list *list = conversion_list(at->c, v);
    const xir_str name = v ? xir_value_name(v) : XIR_STR("");
    if (xir_node_failed(at) || list) return list;
    at->waits_for = v;
    return xir_node_unsupported(at, "input %zu '%.*s' is a list of unknown length", i, CLIP_TO(name, 100)), NULL;
}

/* A position that may count from the end: from -n to `last`. */
static bool position_at(xir_node *at, size_t i, size_t n, int64_t last, int64_t otherwise, int64_t *out) {
    char where[32];
    *out = otherwise;
    if (xir_node_failed(at) || !xir_node_has(at, i)) return !xir_node_failed(at);
    at->waits_for = node_input_at(at, i);
    if (!onnx_known(at, node_input_at(at, i), out))
        return !xir_node_failed(at) && xir_node_unsupported(at, "the position depends on data");
    at->waits_for = NULL;
    const int64_t found = *out;
    if (found < 0) *out += (int64_t)n;
    if (*out >= 0 && *out <= last) return true;
    snprintf(where, sizeof where, "input/%zu", i);
    if (!n && last < 0)
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "the list is empty, found position %lld", (long long)found);
    return xir_node_invalid(at, XIR_E_BOUNDS, where,
                            "expected a position from -%zu to %lld of a list of %zu, found %lld", n, (long long)last, n,
                            (long long)found);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

bool onnx_identity(xir_node *at) {
    const value_list *list = conversion_list(at->c, node_input_at(at, 0));
    return list ? node_result_list(at, 0, list->v, list->optional) : xir_convert_copy(at);
}

bool onnx_sequence_empty(xir_node *at) { return node_result_list(at, 0, NULL, false); }

bool onnx_sequence_construct(xir_node *at) {
    xir_value **v = node_take(at, (at->n_in + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    for (size_t i = 0; i < at->n_in; i++) {
        v[i] = node_input_at(at, i);
        if (!v[i]) return xir_node_unsupported(at, "input %zu is absent", i);
    }
    return node_result_list(at, 0, members_of(at->c, v, at->n_in), false);
}

bool onnx_sequence_insert(xir_node *at) {
    const value_list *list = list_at(at, 0);
    xir_value *x = node_input_at(at, 1);
    int64_t place;
    if (!list || !position_at(at, 2, list->n, (int64_t)list->n, (int64_t)list->n, &place)) return false;
    if (!x) return xir_node_unsupported(at, "input 1 is absent");
    return node_affords(at, 0) &&
           node_result_list(at, 0, members_insert(at->c, list->v, (size_t)place, x), false);
}

bool onnx_sequence_erase(xir_node *at) {
    const value_list *list = list_at(at, 0);
    int64_t place;
    if (!list || !position_at(at, 1, list->n, (int64_t)list->n - 1, (int64_t)list->n - 1, &place)) return false;
    if (!list->n) return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected a list with a member, found none");
    return node_result_list(at, 0, members_erase(at->c, list->v, (size_t)place), false);
}

bool onnx_sequence_at(xir_node *at) {
    const value_list *list = list_at(at, 0);
    int64_t place;
    if (!list || !position_at(at, 1, list->n, (int64_t)list->n - 1, 0, &place)) return false;
    return onnx_give(at, 0, members_at(list->v, (size_t)place));
}

bool onnx_sequence_length(xir_node *at) {
    const value_list *list = list_at(at, 0);
    return list && xir_node_result(at, 0, onnx_integer(at, (int64_t)list->n, false));
}

bool onnx_concat_from_sequence(xir_node *at) {
    const value_list *list = list_at(at, 0);
    int64_t axis = xir_node_int(at, "axis", 0);
    if (!list) return false;
    if (!list->n) return xir_node_unsupported(at, "the list is empty");
    xir_value *const *all = members_all(at, list->v);
    for (size_t i = 0; all && i < list->n; i++) {
        const xir_value *v = all[i];
        if (!xir_type_as_tensor(xir_value_type(v))) {
            at->waits_for = v;
            return xir_node_unsupported(at, "member %zu has no tensor type", i);
        }
        if (v_rank(v) != v_rank(all[0]) || !xir_type_equal(v_element(v), v_element(all[0])))
            return xir_node_invalid(at, XIR_E_INVALID, "input/0", "member %zu has another type than member 0", i);
    }
    if (!all) return false;
    const bool stacks = xir_node_bool(at, "new_axis", false);
    if (!xir_node_axis(at, "attribute/axis", axis, v_rank(all[0]) + stacks, &axis)) return false;
    if (stacks) return xir_node_result(at, 0, onnx_stacked(at, all, list->n, axis, "attribute/axis"));
    if (list->n == 1) return onnx_give(at, 0, all[0]);
    return xir_node_becomes(at, "Concat", (xir_values){ all, list->n }, SETS(INT("axis", axis)));
}

/* ---- parts of a tensor ------------------------------------------------------------------------------------------ */

/* Finds the number of elements of each member: those of the list, or for one number as many each; without it 1. */
static bool sections_of(xir_node *at, xir_value *x, size_t axis, xir_ints *out) {
    xir_ints given = { (int64_t[]){ 1 }, 1 };
    const bool has = xir_node_has(at, 1), listed = has && v_rank(node_input_at(at, 1)) == 1;
    const int64_t dim = v_dim(x, axis);
    int64_t sum = 0;
    if ((has && !xir_node_ints(at, 1, &given)) || !xir_node_need_dims(at, x, axis, axis + 1)) return false;
    if (listed) {
        *out = given;
    } else {
        const int64_t each = given.n == 1 ? given.v[0] : 0;
        if (each < 1) return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "split: expected at least 1");
        const int64_t n = dim / each + (dim % each != 0);
        if (n > 1 << 16) return xir_node_unsupported(at, "%lld members", (long long)n);
        *out = xir_node_make_ints(at, (size_t)n, each);
        if (out->v && dim % each) out->v[n - 1] = dim % each;
    }
    for (size_t i = 0; i < out->n; i++) {
        if (out->v[i] < 0 || __builtin_add_overflow(sum, out->v[i], &sum))
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "split[%zu]: expected at least 0, found %lld", i,
                                    (long long)out->v[i]);
    }
    if (sum == dim || xir_node_failed(at)) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_INVALID, "input/1", "expected sections with %lld elements together, found %lld",
                            (long long)dim, (long long)sum);
}

bool onnx_split_to_sequence(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints sections = { NULL, 0 };
    int64_t axis, from = 0;
    if (!x || !node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    if (!sections_of(at, x, (size_t)axis, &sections)) return false;
    xir_value **v = node_take(at, (sections.n + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    const bool removed = !xir_node_has(at, 1) && !xir_node_bool(at, "keepdims", true);
    for (size_t i = 0; i < sections.n && !xir_node_failed(at); i++, from += sections.v[i - 1]) {
        v[i] = removed ? onnx_element_at(at, x, (size_t)axis, (int64_t)i)
                       : make_part(at, x, (size_t)axis, from, from + sections.v[i], 1);
    }
    return !xir_node_failed(at) && node_result_list(at, 0, members_of(at->c, v, sections.n), false);
}

/* ---- SequenceMap ------------------------------------------------------------------------------------------------ */

static bool finish_map(xir_node *at) {
    const size_t n = (size_t)at->opened->rounds, *members = at->opened->plan;
    xir_value **v = node_take(at, (n + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    for (size_t i = 0; i < *members && i < at->n_out; i++) {
        for (size_t k = 0; k < n; k++) {
            v[k] = node_result_of_body(at, k * *members + i);
            if (!v[k]) return xir_node_unsupported(at, "output %zu of its body is absent", i);
        }
        node_result_list(at, i, members_of(at->c, v, n), false);
    }
    return !xir_node_failed(at);
}

/* The body gets a member of each list, and tensors as they are. */
bool onnx_sequence_map(xir_node *at) {
    const value_list *list = list_at(at, 0);
    const size_t own = onnx_own_inputs(at);
    size_t n, *members = node_take(at, sizeof *members);
    xir_value **results, **args = node_take(at, (own + 1) * sizeof *args);
    if (!list) return false;
    if (!members || !args) return node_no_memory(at);
    const uint64_t most = at->c->ctx->limits.max_rounds;
    if (list->n > most)
        return xir_node_unsupported(at, "there are %zu rounds, more than %llu", list->n, (unsigned long long)most);
    opened_node *o = onnx_open(at, "body", true, finish_map);
    if (!o) return false;
    const xir_op *input = xir_network_input_op(o->body), *output = xir_network_output_op(o->body);
    *members = output ? xir_op_input_count(output) : 0;
    o->plan = members;
    if (xir_op_output_count(input) != own || *members < at->n_out) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/body",
                                "body: expected %zu inputs and %zu outputs, found %zu and %zu", own, at->n_out,
                                xir_op_output_count(input), *members);
    }
    const size_t rounds = conversion_list(at->c, xir_op_input(at->op, 0))->n;
    for (size_t k = 0; k < rounds; k++) {
        for (size_t i = 0; i < own; i++) {
            args[i] = xir_op_input(at->op, (int64_t)i);
            const value_list *other = conversion_list(at->c, args[i]);
            if (other && other->n != rounds)
                return xir_node_invalid(at, XIR_E_INVALID, "input", "input %zu: expected %zu members, like input 0, "
                                        "found %zu", i, rounds, other->n);
            if (other) args[i] = members_at(other->v, k);
        }
        if (!node_copy_body(at, args, own, k, &results, &n)) return false;
        for (size_t i = 0; i < n; i++) node_set_result_of_body(at, k * n + i, results[i]);
    }
    return rounds ? node_go_back(at) : finish_map(at);
}

/* ---- optional values -------------------------------------------------------------------------------------------- */

bool onnx_optional(xir_node *at) {
    xir_value *v = node_input_at(at, 0);
    return node_result_list(at, 0, members_of(at->c, &v, v ? 1 : 0), true);
}

/* From version 18 on the input may be a tensor or a list itself, which is always there. */
bool onnx_optional_get(xir_node *at) {
    xir_value *v = node_input_at(at, 0);
    const value_list *list = conversion_list(at->c, v);
    if (!list || !list->optional) return list ? onnx_identity(at) : xir_convert_copy(at);
    if (!list->n) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "the optional value is empty");
    return onnx_give(at, 0, members_at(list->v, 0));
}

bool onnx_optional_has(xir_node *at) {
    xir_value *v = node_input_at(at, 0);
    const value_list *list = conversion_list(at->c, v);
    const bool tensor = v && xir_type_as_tensor(xir_value_type(v));
    if (v && !list && !tensor) return list_at(at, 0) != NULL;
    const xir_ints scalar = { NULL, 0 };
    const bool has = v && (!list || !list->optional || list->n);
    return xir_node_result(at, 0, xir_node_filled(at, xir_type_bool(at->c->ctx), &scalar, has));
}
