/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of the values of a dialect's network: whether each is made before it is used, and whether names are unique. */
#include <stdio.h>
#include "walk/walk.h"
#include "source_tags.h"

#define NAME(s) CLIP_TO(s, 200)

static void check_inputs(xir_node *at, bool sorted) {
    char where[32];
    for (size_t i = 0; i < at->op->n_inputs; i++) {
        const xir_value *v = op_inputs(at->op)[i].value;
        if (!v || value_is_params(v)) continue;
        snprintf(where, sizeof where, "input/%zu", i);
        if (!value_op(v)) {
            node_say(at, XIR_ERROR, XIR_E_MISSING, where,
                     "input %zu '%.*s' is undefined: expected %s output, %s", i, NAME(xir_value_name(v)),
                     convert_node(at->cls->dialect), convert_sources(at->cls->dialect));
        } else if (!sorted && at->op->id < value_op(v)->id) {
            node_say(at, XIR_ERROR, XIR_E_INVALID, where,
                     "input %zu '%.*s' is used before it is made: expected '%.*s' (%s %lld) earlier",
                     i, NAME(xir_value_name(v)), NAME(xir_op_name(value_op(v))), convert_node(at->cls->dialect),
                     (long long)convert_number(at->cls->dialect, value_op(v)));
        }
    }
}

#define APPEARS_TWICE "%.*s appears twice, and readers differ in which one counts: expected it once"

/* Item i of the names that appear again; false past the end. Names that are not texts are empty. */
static bool repeated_at(const xir_map *tags, size_t i, xir_str *out) {
    const xir_any *names = source_tag_find(tags, SOURCE_REPEATED);
    if (!names || names->kind != XIR_ANY_LIST || i >= names->as.list.size) return false;
    const xir_any *name = &names->as.list.items[i];
    *out = name->kind == XIR_ANY_TEXT ? name->as.text : XIR_STR("");
    return true;
}

/* `whose`: "input 1 'w': "; empty: the node's own. */
static void check_repeated(xir_node *at, const xir_map *tags, const char *where, const char *whose) {
    xir_str name;
    for (size_t i = 0; repeated_at(tags, i, &name); i++)
        node_say(at, XIR_ERROR, XIR_E_EXISTS, where, "%s" APPEARS_TWICE, whose, NAME(name));
}

/* The same of Params that no node uses: results of the network, and what nothing uses. */
static bool check_repeated_params(void *user, xir_value *v) {
    conversion *c = user;
    const xir_use *use = xir_value_uses(v);
    xir_str name;
    if (use && xir_class_is_dialect(xir_op_class(xir_use_op(use)))) return true;
    for (size_t i = 0; repeated_at(xir_value_tags(v), i, &name); i++) {
        if (!c->status) c->status = XIR_E_EXISTS;
        xir_diags_add(c->why, XIR_ERROR, XIR_E_EXISTS, XIR_STR("/"), "the constant '%.*s': " APPEARS_TWICE,
                      NAME(xir_value_name(v)), NAME(name));
    }
    return true;
}

/* Attributes of a node that appear twice; those of Params are said where they are used first, those of the network's
 * inputs at the first node. */
static void check_attributes(xir_node *at) {
    char where[32], whose[250];
    const xir_op *first = at->op->prev;
    check_repeated(at, xir_op_tags(at->op), "attributes", "");
    for (size_t i = 0; i < at->op->n_inputs; i++) {
        const xir_value *v = op_inputs(at->op)[i].value;
        if (!v || !value_is_params(v) || xir_use_op(xir_value_uses(v)) != at->op) continue;
        snprintf(where, sizeof where, "input/%zu", i);
        snprintf(whose, sizeof whose, "input %zu '%.*s': ", i, NAME(xir_value_name(v)));
        check_repeated(at, xir_value_tags(v), where, whose);
    }
    for (size_t i = 0; first && xir_op_is(first, xir_input_class()) && i < first->n_outputs; i++) {
        const xir_value *v = &op_outputs(first)[i];
        snprintf(whose, sizeof whose, "the network's input '%.*s': ", NAME(xir_value_name(v)));
        check_repeated(at, xir_value_tags(v), NULL, whose);
    }
}

/* Two nodes of one name: findings and tools name a node by it, and a reader that finds nodes by name finds one. */
static void check_name(xir_node *at, text_table *names) {
    xir_str name = xir_op_name(at->op);
    if (!name.size) return;
    const uint32_t number = (uint32_t)convert_number(at->cls->dialect, at->op), *first = text_table_find(names, name);
    if (first) {
        node_say(at, XIR_WARNING, XIR_E_EXISTS, "name", "duplicate name; expected a unique one, found that of %s %u",
                 convert_node(at->cls->dialect), *first);
    } else if (!text_table_add(names, name, number)) {
        at->c->no_memory = true;
    }
}

xir_status conversion_check_values(conversion *c, bool sorted) {
    text_table names;
    char where[80];
    text_table_init(&names, context_alloc(c->ctx));
    const xir_op *last = xir_network_output_op(c->net);
    for (size_t i = 0; last && i < last->n_inputs; i++) {
        const xir_value *v = op_inputs(last)[i].value;
        if (!v || value_op(v) || value_is_params(v)) continue;
        snprintf(where, sizeof where, "%.50s%zu", convert_results(c->dialect), i);
        if (!c->status) c->status = XIR_E_MISSING;
        xir_diags_add(c->why, XIR_ERROR, XIR_E_MISSING, xir_str_of(where),
                      "output '%.*s' is undefined: expected %s output, %s", NAME(xir_value_name(v)),
                      convert_node(c->dialect), convert_sources(c->dialect));
    }
    for (xir_op *op = xir_network_first(c->net); op; op = xir_op_next(op)) {
        if (!xir_class_is_opaque(op->cls)) continue;
        const convert_class *cls = conversion_class(c, op->cls);
        if (!cls) c->no_memory = true;
        if (c->no_memory) break;
        if (!cls->dialect) continue;
        xir_node at = { .c = c, .op = op, .cls = cls };
        check_name(&at, &names);
        check_inputs(&at, sorted);
        check_attributes(&at);
        for (size_t i = 0; i < op->n_outputs; i++) {
            if (!source_is_duplicate(&op_outputs(op)[i])) continue;
            snprintf(where, sizeof where, "output/%zu", i);
            node_say(&at, XIR_ERROR, XIR_E_EXISTS, where,
                     "output %zu: duplicate name '%.*s'; expected a unique name", i,
                     NAME(xir_value_name(&op_outputs(op)[i])));
        }
    }
    text_table_free(&names);
    net_walk_params(c->net, check_repeated_params, c);
    return c->no_memory ? XIR_E_MEMORY : XIR_OK;
}
