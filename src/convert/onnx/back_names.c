/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Prepares a network to be a graph of ONNX, in which a value is its name: names become unique, and values without one
 * get one. Inputs and results of the network keep theirs. A result is a value of its own that a node makes. Nodes have
 * names too, and no two of them the same. */
#include <stdio.h>
#include "onnx/back.h"
#include "onnx/onnx.h"
#include "manager/pass.h"
#include "number.h"

typedef struct naming {
    xir_pass     *pass;
    xir_network  *net;
    text_table    names, op_names;
    pointer_table named, results;
    uint64_t      number, op_number;   /* of the next names that are made */
    bool          no_memory;
} naming;

static bool failed(naming *n) {
    n->no_memory = true;
    return false;
}

static bool take(naming *n, xir_str name) {
    const size_t before = n->names.n;
    return text_table_add(&n->names, name, 0) ? n->names.n > before : failed(n);
}

static size_t put(char *to, size_t at, xir_str text) {
    if (text.size) memcpy(to + at, text.data, text.size);
    return at + text.size;
}

/* "base.WORD", with a number if that is taken. */
static bool new_name(naming *n, xir_value *v, xir_str base, const char *word) {
    enum { MOST_BASE = 200 };
    char text[MOST_BASE + 20 + NUMBER_ROOM];
    size_t used = put(text, 0, (xir_str){ base.data, (size_t)text_clip(base, MOST_BASE) });
    if (used && *word) used = put(text, used, XIR_STR("."));
    used = put(text, used, xir_str_of(word));
    xir_str name = { text, used };
    used = put(text, used, XIR_STR("."));
    if (!name.size || text_table_find(&n->names, name))
        name = text_table_unused(&n->names, text, used, &n->number);
    if (xir_value_set_name(v, name)) return failed(n);
    xir_pass_changed(n->pass, 1);
    return take(n, xir_value_name(v)) || !n->no_memory;
}

/* An output that an op makes, which is met once. */
static bool name_output(naming *n, xir_value *v, xir_str base, const char *word) {
    const xir_str own = xir_value_name(v);
    if (own.size && take(n, own)) return true;
    if (n->no_memory) return false;
    return own.size ? new_name(n, v, own, "") : new_name(n, v, base, word);
}

/* A value that may be met again. */
static bool name_value(naming *n, xir_value *v, xir_str base, const char *word) {
    if (!v || pointer_table_find(&n->named, v)) return true;
    return pointer_table_add(&n->named, v, 0) ? name_output(n, v, base, word) : failed(n);
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* A constant that is a result, and the second of two results that are one value, are copied. */
static bool copy_results(naming *n) {
    xir_op *output = xir_network_output_op(n->net);
    for (size_t i = 0; output && i < xir_op_input_count(output); i++) {
        xir_value *v = xir_op_input(output, (int64_t)i);
        if (!v) continue;
        const bool earlier = pointer_table_find(&n->results, v);
        if (!earlier && !pointer_table_add(&n->results, v, 0)) return failed(n);
        if (!earlier && !xir_value_is_params(v)) continue;
        const xir_type *type = xir_value_type(v);
        const xir_class *cls = xir_class_opaque(xir_network_context(n->net), XIR_STR("onnx::Identity"));
        const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = &v, .n_inputs = 1, .types = &type,
                                          .n_types = 1, .id = XIR_NO_ID, .before = output);
        const xir_status before = xir_network_status(n->net);
        xir_op *op = cls ? xir_network_add(n->net, &desc) : NULL;
        if (!op && !before) xir_network_clear_status(n->net);
        if (!op || xir_op_set_input(output, i, xir_op_output(op, 0))) return failed(n);
        const bool constant = xir_value_is_params(v);
        if (constant && xir_value_set_name(xir_op_output(op, 0), xir_value_name(v))) return failed(n);
        xir_pass_changed(n->pass, 1);
    }
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static bool is_node(const naming *n, const xir_op *op) {
    return op != xir_network_input_op(n->net) && op != xir_network_output_op(n->net);
}

/* Gives an op the name "NAME.k", which no other has. */
static bool rename_op(naming *n, xir_op *op, xir_str own) {
    enum { MOST_NAME = 200 };
    char text[MOST_NAME + 1 + NUMBER_ROOM];
    const size_t size = put(text, put(text, 0, (xir_str){ own.data, (size_t)text_clip(own, MOST_NAME) }), XIR_STR("."));
    if (xir_op_set_name(op, text_table_unused(&n->op_names, text, size, &n->op_number))) return failed(n);
    xir_pass_changed(n->pass, 1);
    return text_table_add(&n->op_names, xir_op_name(op), 1) || failed(n);
}

/* An op without a name gets that of its first result: ONNX Runtime names what it fuses after a node, and refuses two
 * of one name. */
static bool name_op(naming *n, xir_op *op) {
    const xir_str result = xir_op_output_count(op) ? xir_value_name(xir_op_output(op, 0)) : XIR_STR("");
    const xir_str name = result.size ? result : XIR_STR("node");
    if (text_table_find(&n->op_names, name)) return rename_op(n, op, name);
    if (xir_op_set_name(op, name)) return failed(n);
    xir_pass_changed(n->pass, 1);
    return text_table_add(&n->op_names, xir_op_name(op), 1) || failed(n);
}

/* The first op of a name keeps it. All names are in the table first, with 0 until an op of that name is met: so a new
 * name is not that of a later op. */
static bool name_ops(naming *n) {
    for (const xir_op *op = xir_network_first(n->net); op; op = xir_op_next(op)) {
        const bool named = is_node(n, op) && xir_op_name(op).size;
        if (named && !text_table_add(&n->op_names, xir_op_name(op), 0)) return failed(n);
    }
    for (xir_op *op = xir_network_first(n->net); op; op = xir_op_next(op)) {
        if (!is_node(n, op)) continue;
        if (!xir_op_name(op).size) {
            if (!name_op(n, op)) return false;
            continue;
        }
        uint32_t *met = text_table_find(&n->op_names, xir_op_name(op));
        if (!*met) *met = 1;
        else if (!rename_op(n, op, xir_op_name(op))) return false;
    }
    return true;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool name_all(naming *n) {
    const xir_op *input = xir_network_input_op(n->net), *output = xir_network_output_op(n->net);
    for (size_t i = 0; input && i < xir_op_output_count(input); i++)
        if (!name_value(n, xir_op_output(input, (int64_t)i), XIR_STR("input"), "")) return false;
    for (size_t i = 0; output && i < xir_op_input_count(output); i++)
        if (!name_value(n, xir_op_input(output, (int64_t)i), XIR_STR("output"), "")) return false;
    for (const xir_op *op = xir_network_first(n->net); op; op = xir_op_next(op)) {
        const xir_str name = xir_op_name(op), base = name.size ? name : XIR_STR("value");
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            xir_value *v = xir_op_output(op, (int64_t)i);
            if (!xir_value_uses(v) && !xir_value_name(v).size) continue;   /* an output that is absent */
            if (pointer_table_find(&n->named, v)) continue;   /* an end of the network */
            if (!name_output(n, v, base, name.size ? "output" : "")) return false;
        }
    }
    for (const xir_op *op = xir_network_first(n->net); op; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            xir_value *v = xir_op_input(op, (int64_t)i);
            if (!xir_value_op(v) && !name_value(n, v, xir_op_name(op), "constant")) return false;
        }
    return true;
}

xir_status onnx_end_back(xir_pass *pass) {
    naming n = { .pass = pass, .net = xir_pass_network(pass), .number = 1, .op_number = 1 };
    const xir_allocator *alloc = context_alloc(xir_pass_context(pass));
    char text[32];
    const int size = snprintf(text, sizeof text, "opset%lld", (long long)onnx_version(n.net, (xir_str){ NULL, 0 }));
    text_table_init(&n.names, alloc);
    text_table_init(&n.op_names, alloc);
    pointer_table_init(&n.named, alloc);
    pointer_table_init(&n.results, alloc);
    const size_t ops = xir_network_op_count(n.net);
    const bool done = text_table_reserve(&n.names, ops) && text_table_reserve(&n.op_names, ops) &&
        !onnx_settle_types(pass) && copy_results(&n) && name_all(&n) && name_ops(&n) && !onnx_rename_captures(pass) &&
        !xir_network_set_text(n.net, XIR_TEXT_FRAMEWORK, XIR_STR("ONNX")) &&
        !xir_network_set_text(n.net, XIR_TEXT_FRAMEWORK_VERSION, (xir_str){ text, (size_t)size });
    text_table_free(&n.names);
    text_table_free(&n.op_names);
    pointer_table_free(&n.named);
    pointer_table_free(&n.results);
    return done ? XIR_OK : xir_pass_fail(pass, XIR_E_MEMORY, NULL, "out of memory");
}
