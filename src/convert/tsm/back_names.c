/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The names of a module: a node has one, for its op and for the value that it makes, and no two nodes have the same.
 * Inputs of the network keep theirs, then its results, then the other values in the order of the ops. A file that was
 * read may have a name twice: its nodes keep it. */
#include <string.h>
#include "tsm/tsm.h"
#include "number.h"

enum { MOST_STEM = 200 };

typedef struct naming {
    text_table    names;    /* 1: a node has it; 0: one wants it */
    pointer_table named;    /* values that have their names */
    uint64_t      number;   /* of the next name that is made */
    bool         *changed;
} naming;

static bool is_node(const xir_op *op) {
    return op && xir_class_is_dialect(xir_op_class(op)) && xir_op_output_count(op) == 1;
}

/* The name that a node has in the file, unless another has it. */
static xir_str wanted_name(const xir_value *v) {
    const xir_op *op = xir_value_is_params(v) ? NULL : xir_value_op(v);
    const xir_str name = xir_value_name(v);
    return name.size || !is_node(op) ? name : xir_op_name(op);
}

/* A name that the file had although another node has it too, which the tag says. */
static bool keeps_name(const xir_value *v, xir_str name) {
    const xir_op *op = xir_value_is_params(v) ? NULL : xir_value_op(v);
    const xir_any *tag = xir_map_find(is_node(op) ? xir_op_tags(op) : xir_value_tags(v), XIR_STR("tsm.params"));
    tag = tag && tag->kind == XIR_ANY_MAP ? xir_map_find(&tag->as.map, XIR_STR("name")) : NULL;
    return tag && tag->kind == XIR_ANY_TEXT && xir_str_equal(tag->as.text, name);
}

/* A value without a name gets one when the file is written. */
static bool name_value(naming *n, xir_value *v) {
    char text[MOST_STEM + 1 + NUMBER_ROOM];
    if (!v || pointer_table_find(&n->named, v)) return true;
    if (!pointer_table_add(&n->named, v, 0)) return false;
    xir_str name = wanted_name(v);
    if (!name.size) return true;
    uint32_t *given = text_table_add(&n->names, name, 0);
    if (!given) return false;
    const bool taken = *given && !keeps_name(v, name);
    *given = 1;
    if (taken) {
        const size_t size = (size_t)text_clip(name, MOST_STEM);
        memcpy(text, name.data, size);
        text[size] = '_';
        name = text_table_unused(&n->names, text, size + 1, &n->number);
    }
    if (!xir_str_equal(name, xir_value_name(v))) {
        if (xir_value_set_name(v, name)) return false;
        *n->changed = true;
    }
    return !taken || text_table_add(&n->names, xir_value_name(v), 1);
}

/* So that a name that is made is not one of a later node. */
static bool enter_name(naming *n, const xir_value *v) {
    const xir_str name = v ? wanted_name(v) : XIR_STR("");
    return !name.size || text_table_add(&n->names, name, 0);
}

static bool enter_names(naming *n, const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0, end = op_values(op); i < end; i++) if (!enter_name(n, op_value(op, i))) return false;
    }
    return true;
}

static bool name_values(naming *n, xir_network *net) {
    const xir_op *input = xir_network_input_op(net), *output = xir_network_output_op(net);
    for (size_t i = 0; input && i < xir_op_output_count(input); i++)
        if (!name_value(n, xir_op_output(input, (int64_t)i))) return false;
    for (size_t i = 0; output && i < xir_op_input_count(output); i++)
        if (!name_value(n, xir_op_input(output, (int64_t)i))) return false;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0, end = op_values(op); i < end; i++) if (!name_value(n, op_value(op, i))) return false;
    }
    return true;
}

static xir_status name_nodes(xir_network *net, bool *changed) {
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op)) {
        const xir_str name = is_node(op) ? xir_value_name(xir_op_output(op, 0)) : XIR_STR("");
        if (!name.size || xir_str_equal(name, xir_op_name(op))) continue;
        status = xir_op_set_name(op, name);
        *changed = true;
    }
    return status;
}

xir_status tsm_finish(xir_network *net, bool *changed) {
    naming n = { .number = 1, .changed = changed };
    text_table_init(&n.names, context_alloc(xir_network_context(net)));
    pointer_table_init(&n.named, context_alloc(xir_network_context(net)));
    const bool ok = enter_names(&n, net) && name_values(&n, net);
    text_table_free(&n.names);
    pointer_table_free(&n.named);
    return ok ? name_nodes(net, changed) : XIR_E_MEMORY;
}
