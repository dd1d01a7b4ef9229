/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Names that PNNX's own reader needs. Each weight is a member of the archive, named by its operator, so an operator
 * with weights but without a name gets one, and so does one whose name an earlier operator has. The name of an input
 * goes to the first input with its operand, so an operator with named inputs has no operand twice. */
#include "pnnx/pnnx.h"
#include "number.h"
#include "source_tags.h"

static bool has_weights(const xir_op *op) {
    const xir_map *extra = xir_class_is_opaque(xir_op_class(op)) ? xir_op_extra(op) : NULL;
    for (size_t i = 0; extra && i < extra->size; i++)
        if (extra->entries[i].value.kind == XIR_ANY_PARAMS) return true;
    return false;
}

/* A name that no operator has; *next is the number to try first. */
static xir_status give_name(xir_op *op, text_table *names, uint64_t *next, uint32_t position) {
    char text[12 + NUMBER_ROOM] = "pnnx_unique_";
    const xir_status status = xir_op_set_name(op, text_table_unused(names, text, strlen(text), next));
    if (status) return status;
    return text_table_add(names, xir_op_name(op), position) ? XIR_OK : XIR_E_MEMORY;
}

xir_status pnnx_name_weights(xir_network *net, bool *changed) {
    text_table names;
    xir_status status = XIR_OK;
    uint64_t next = 0;
    uint32_t position = 0;
    text_table_init(&names, context_alloc(xir_network_context(net)));
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op), position++)
        if (xir_op_name(op).size && !text_table_add(&names, xir_op_name(op), position)) status = XIR_E_MEMORY;
    position = 0;
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op), position++) {
        const uint32_t *first = xir_op_name(op).size ? text_table_find(&names, xir_op_name(op)) : NULL;
        if (!has_weights(op) || (first && *first == position)) continue;
        status = give_name(op, &names, &next, position);
        *changed = true;
    }
    text_table_free(&names);
    return status;
}

/* ---- named inputs ------------------------------------------------------------------------------------------------ */

enum { MOST_NAMED = 16 };

static bool has_before(const xir_op *op, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (xir_op_input(op, (int64_t)k) == xir_op_input(op, (int64_t)i)) return true;
    return false;
}

static xir_status copy_input(xir_network *net, xir_op *op, size_t i) {
    xir_value *v = xir_op_input(op, (int64_t)i);
    const xir_type *type = xir_value_type(v);
    const xir_class *cls = xir_class_opaque(xir_network_context(net), XIR_STR("pnnx::Tensor.clone"));
    const xir_status before = xir_network_status(net);
    xir_op *copy = cls ? xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = &v, .n_inputs = 1,
                                                        .types = &type, .n_types = 1, .id = XIR_NO_ID, .before = op))
                       : NULL;
    if (!copy && !before) xir_network_clear_status(net);
    return copy ? xir_op_set_input(op, i, xir_op_output(copy, 0)) : XIR_E_MEMORY;
}

xir_status pnnx_part_inputs(xir_network *net, bool *changed) {
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op)) {
        const size_t n = xir_op_input_count(op);
        if (!source_tag_find(xir_op_tags(op), SOURCE_INPUTS) || n > MOST_NAMED) continue;
        for (size_t i = 1; i < n && !status; i++) {
            if (!xir_op_input(op, (int64_t)i) || !has_before(op, i)) continue;
            status = copy_input(net, op, i);
            *changed = true;
        }
    }
    return status;
}
