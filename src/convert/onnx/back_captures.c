/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes that are kept have graphs, which know the values that they take from outside by their names. If such a value
 * has another name now, as in the branch of an If that has become nodes of the network, the graph gets the new one. */
#include <xir/onnx.h>
#include "onnx/back.h"
#include "manager/pass.h"
#include "source_tags.h"

typedef struct captures {
    arena    *room;
    xir_op   *op;
    size_t    first, n;     /* inputs of the op                                                           */
    xir_str  *names;        /* where names differ: the old one and the new one, and so on                 */
    size_t    n_names;
    bool      refused;      /* a graph has the new name already: all keep the old ones, and the writer says so */
} captures;

/* Collects the captures of an op whose names differ. Returns false without memory. */
static bool collect(captures *c) {
    const xir_any *tag = source_tag_find(xir_op_tags(c->op), SOURCE_CAPTURES);
    c->n = tag && tag->kind == XIR_ANY_LIST ? tag->as.list.size : 0;
    c->n_names = 0;
    if (!c->n || c->n > xir_op_input_count(c->op)) return true;
    c->first = xir_op_input_count(c->op) - c->n;
    c->names = arena_take(c->room, 2 * c->n * sizeof *c->names);
    for (size_t i = 0; c->names && i < c->n; i++) {
        const xir_value *v = xir_op_input(c->op, (int64_t)(c->first + i));
        const xir_any *name = &tag->as.list.items[i];
        if (!v || name->kind != XIR_ANY_TEXT || xir_str_equal(name->as.text, xir_value_name(v))) continue;
        c->names[c->n_names++] = name->as.text;
        c->names[c->n_names++] = xir_value_name(v);
    }
    return c->names;
}

static bool rename_graph(captures *c, const xir_value *graph, xir_any *out) {
    xir_entry *entry = arena_take(c->room, sizeof *entry);
    xir_diags *why = xir_diags_new(xir_network_context(xir_op_network(c->op)));
    xir_value *made = entry && why ? xir_onnx_rename_captures(graph, c->names, c->n_names / 2, why) : NULL;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    const bool refused = !made && d && d->code != XIR_E_MEMORY;
    xir_diags_free(why);
    c->refused |= refused;
    if (!made) return refused;
    *entry = (xir_entry){ XIR_STR("onnx.graph"), { .kind = XIR_ANY_PARAMS, .as.params = made } };
    *out = xir_any_map(entry, 1);
    return true;
}

/* Renames the graphs of an attribute: it is one, or a list of some. */
static bool rename_any(captures *c, const xir_any *from, xir_any *out) {
    const xir_any *graph = from->kind == XIR_ANY_MAP ? xir_map_find(&from->as.map, XIR_STR("onnx.graph")) : NULL;
    *out = *from;
    if (graph && graph->kind == XIR_ANY_PARAMS) return rename_graph(c, graph->as.params, out);
    if (from->kind != XIR_ANY_LIST || !from->as.list.size) return true;
    xir_any *items = arena_take(c->room, from->as.list.size * sizeof *items);
    for (size_t i = 0; items && i < from->as.list.size; i++)
        if (!rename_any(c, &from->as.list.items[i], &items[i])) return false;
    if (items) *out = xir_any_list(items, from->as.list.size);
    return items;
}

/* The names of all captures, for the tag. A value that two graphs took by two names is one capture of both. */
static bool take_names(captures *c) {
    const xir_any *old = source_tag_find(xir_op_tags(c->op), SOURCE_CAPTURES)->as.list.items;
    xir_any *names = arena_take(c->room, c->n * sizeof *names);
    size_t n = 0;
    for (size_t i = 0; names && i < c->n; i++) {
        const xir_value *v = xir_op_input(c->op, (int64_t)(c->first + n));
        bool again = false;
        for (size_t k = 0; k < n; k++) again |= v == xir_op_input(c->op, (int64_t)(c->first + k));
        if (!v || !again) names[n++] = v ? xir_any_text(xir_value_name(v)) : old[i];
        else if (xir_op_remove_input(c->op, c->first + n)) return false;
    }
    const xir_any list = xir_any_list(names, n);
    return names && !xir_op_set_tag(c->op, source_tag_key(SOURCE_CAPTURES), &list);
}

/* All graphs first, so that either all attributes get theirs or none. */
static bool rename_all(captures *c, bool *changed) {
    const xir_map *extra = xir_op_extra(c->op);
    const size_t n = extra ? extra->size : 0;
    xir_any *now = arena_take(c->room, (n + 1) * sizeof *now);
    xir_str *keys = arena_take(c->room, (n + 1) * sizeof *keys);
    if (!now || !keys) return false;
    for (size_t i = 0; i < n; i++) {
        keys[i] = extra->entries[i].key;
        if (!rename_any(c, &extra->entries[i].value, &now[i])) return false;
    }
    if (c->refused) return true;
    *changed = true;
    for (size_t i = 0; i < n; i++) {
        const bool graphs = now[i].kind == XIR_ANY_MAP || now[i].kind == XIR_ANY_LIST;
        if (graphs && xir_op_set_extra(c->op, keys[i], &now[i])) return false;
    }
    return take_names(c);
}

xir_status onnx_rename_captures(xir_pass *pass) {
    arena room;
    bool ok = true, changed = false;
    arena_init(&room, context_alloc(xir_pass_context(pass)));
    for (xir_op *op = xir_network_first(xir_pass_network(pass)); ok && op; op = xir_op_next(op)) {
        captures c = { .room = &room, .op = op };
        if (!xir_op_tags(op)) continue;
        ok = collect(&c) && (!c.n_names || rename_all(&c, &changed));
    }
    arena_free(&room);
    if (changed) xir_pass_changed(pass, 1);
    return ok ? XIR_OK : XIR_E_MEMORY;
}
