/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* XIR's own ops in a network that is partly converted: shape arithmetic is known again, as if the whole network were
 * converted at once, and types follow what the walk has changed. A network that the walk does not change keeps these
 * ops as they are. */
#include "walk/walk.h"
#include "support/listed.h"

static bool is_open(const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_type *type = xir_value_type(xir_op_output(op, (int64_t)i));
        if (!type || (xir_type_as_tensor(type) && xir_type_has_unknown_dim(type))) return true;
    }
    return false;
}

static bool inputs_have_types(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v && !xir_type_as_tensor(xir_value_type(v))) return false;
    }
    return true;
}

/* Infers an op whose dims are unknown again. An op that inference refuses keeps its types. False: out of memory. */
static bool infer_again(conversion *c, xir_op *op) {
    const xir_status before = xir_network_status(c->net);
    bool changed = false;
    if (!is_open(op) || !inputs_have_types(op) || !xir_op_can_infer(op)) return true;
    const size_t n = xir_op_output_count(op);
    const xir_type **types = arena_take(&c->brief, (n + 1) * sizeof *types);
    if (!types) return false;
    for (size_t i = 0; i < n; i++) types[i] = xir_value_type(xir_op_output(op, (int64_t)i));
    const xir_status status = xir_op_infer(op, true);
    if (status && !before) xir_network_clear_status(c->net);
    for (size_t i = 0; i < n && i < xir_op_output_count(op); i++) {
        changed |= types[i] != xir_value_type(xir_op_output(op, (int64_t)i));
    }
    c->changed += changed;
    return status != XIR_E_MEMORY;
}

/* Puts new Params in the place of the only output of an op. False: out of memory. */
static bool replace(conversion *c, xir_op *op, xir_value *made) {
    xir_value *old = xir_op_output(op, 0);
    const xir_map *tags = xir_value_tags(old);
    if (!made || xir_value_set_name(made, xir_value_name(old))) return false;
    for (size_t k = 0; tags && k < tags->size; k++) {
        if (xir_value_set_tag(made, tags->entries[k].key, &tags->entries[k].value)) return false;
    }
    if (xir_value_replace(old, made)) return false;
    conversion_forget(c, op);
    c->changed++;
    return xir_op_erase(op) == XIR_OK;
}

bool conversion_look_through(conversion *c, xir_op *op) {
    if (xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class())) return true;
    const bool renewed = c->changed || c->reshaped;
    bool settled = false;
    if (renewed && !infer_again(c, op)) return false;
    if (renewed && op_settle_list(op, &settled) == XIR_E_MEMORY) return false;
    c->changed += settled;
    const bool learned = conversion_learn(c, op);
    if (c->no_memory) return false;
    if (learned) return replace(c, op, conversion_known_params(c, op));
    if (!renewed) return true;
    const convert_class *cls = conversion_class(c, op->cls);
    xir_node at = { .c = c, .op = op, .cls = cls };
    xir_value *made = cls ? conversion_computed(&at, op) : NULL;
    if (!cls || at.fate == NODE_NO_MEMORY) return false;
    return !made || replace(c, op, made);
}
