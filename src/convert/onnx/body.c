/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for hooks of nodes with subgraphs: their inputs, integers and stacked values, and opening a subgraph. */
#include <stdio.h>
#include <xir/onnx.h>
#include "rows/row.h"
#include "onnx/control.h"
#include "support/numbers.h"

size_t onnx_own_inputs(const xir_node *at) {
    const size_t n = at->opened ? at->opened->n_in : xir_op_input_count(at->op), captured = onnx_captured(at);
    return n > captured ? n - captured : 0;
}

bool onnx_known(xir_node *at, const xir_value *v, int64_t *out) {
    xir_ints list;
    int64_t n;
    if (xir_node_failed(at) || !v || !xir_type_as_tensor(xir_value_type(v))) return false;
    if (!xir_value_is_params(v)) {
        if (!conversion_ints(at->c, v, &list)) return at->c->no_memory && node_no_memory(at);
        *out = list.n == 1 ? list.v[0] : OPEN_ITEM;
        return *out != OPEN_ITEM;
    }
    const void *bytes = xir_params_has_data(v) && element_readable(v_element(v)) ? whole_params(v) : NULL;
    if (!bytes || xir_type_elements(xir_value_type(v), &n) || n != 1) return false;
    elements_to_ints(v_element(v), bytes, 0, 1, out);
    return true;
}

xir_value *onnx_integer(xir_node *at, int64_t v, bool listed) {
    const xir_ints one = xir_node_make_ints(at, 1, v);
    xir_value *made = one.v ? xir_node_integers(at, &one) : NULL;
    return listed || !made ? made : make_reshaped(at, made, &(xir_ints){ NULL, 0 });
}

xir_value *onnx_element_at(xir_node *at, xir_value *x, size_t axis, int64_t i) {
    xir_value *place = onnx_integer(at, i, false);
    return x && place ? xir_node_make(at, "Gather", INS(x, place), SETS(INT("axis", (int64_t)axis))) : NULL;
}

xir_value *onnx_stacked(xir_node *at, xir_value *const *v, size_t n, int64_t axis, const char *where) {
    xir_value **parts = node_take(at, (n + 1) * sizeof *parts);
    if (!parts) return node_no_memory(at), NULL;
    for (size_t i = 0; i < n; i++) {
        if (!v[i] || !xir_type_as_tensor(xir_value_type(v[i])))
            return xir_node_unsupported(at, "what a round returns has no tensor type"), NULL;
        if (!i && !xir_node_axis(at, where, axis, v_rank(v[i]) + 1, &axis)) return NULL;
        if (v_rank(v[i]) != v_rank(v[0]) || !xir_type_equal(v_element(v[i]), v_element(v[0])))
            return xir_node_unsupported(at, "the rounds return values of different types"), NULL;
        for (size_t k = 0; k < v_rank(v[i]); k++) {
            if (v_dim(v[i], k) >= 0 && v_dim(v[0], k) >= 0 && v_dim(v[i], k) != v_dim(v[0], k))
                return xir_node_unsupported(at, "the rounds return values of different dims"), NULL;
        }
        const xir_ints axes = xir_node_make_ints(at, 1, axis);
        parts[i] = axes.v ? xir_node_unsqueezed(at, v[i], &axes, where) : NULL;
        if (!parts[i]) return NULL;
    }
    return n == 1 ? parts[0] : xir_node_make(at, "Concat", (xir_values){ parts, n }, SETS(INT("axis", axis)));
}

bool onnx_give(xir_node *at, size_t i, xir_value *v) {
    const value_list *list = conversion_list(at->c, v);
    if (xir_node_failed(at) || !v || !node_wants(at, i)) return !xir_node_failed(at);
    if (list) return node_result_list(at, i, list->v, list->optional);
    if (!xir_type_as_tensor(xir_value_type(v)) && !node_has_inside(at, v)) {   /* XIR's Copy needs a type */
        v = foreign_value(at, "onnx::Identity", INS(v), NO_SETS, xir_value_type(v));
    }
    return v && xir_node_result(at, i, v);
}

/* Why a subgraph can't be read: what its file leaves out keeps the node, anything else is a fault of the file. */
static bool unreadable(xir_node *at, const char *attribute, const xir_diags *why) {
    char where[80];
    const xir_diag *d = xir_diags_at(why, 0);
    if (!d || d->code == XIR_E_MEMORY) return node_no_memory(at);
    const int size = text_clip(d->message, 160);
    snprintf(where, sizeof where, "attribute/%s", attribute);
    if (d->code == XIR_E_MISSING || d->code == XIR_E_IO || d->code == XIR_E_UNSUPPORTED || d->code == XIR_E_INVALID)
        return xir_node_unsupported(at, "%s: %.*s", attribute, size, d->message.data);
    return xir_node_invalid(at, d->code, where, "%.*s: %.*s", CLIP_TO(d->path, 60), size, d->message.data);
}

static xir_network *read_body(xir_node *at, const char *attribute) {
    const xir_any *map = xir_node_attr(at, attribute);
    const xir_any *bytes = map && map->kind == XIR_ANY_MAP ? xir_map_find(&map->as.map, XIR_STR("onnx.graph")) : NULL;
    if (!bytes || bytes->kind != XIR_ANY_PARAMS)
        return xir_node_unsupported(at, "the attribute %s is not a graph", attribute), NULL;
    xir_diags *why = xir_diags_new(at->c->ctx);
    xir_network *body = why ? xir_onnx_read_graph(bytes->as.params, why) : NULL;
    if (!why) node_no_memory(at);
    else if (!body) unreadable(at, attribute, why);
    xir_diags_free(why);
    return body;
}

/* "/graph/node/3/attribute/body/g/node/" */
static const char *place_of_body(xir_node *at, const char *attribute) {
    int64_t number;
    const body_frame *in = origin_of(at->c, at->op, &number);
    const char *nodes = in ? in->place : convert_nodes(at->cls->dialect);
    const size_t room = strlen(nodes) + strlen(attribute) + 60;
    char *text = node_affords(at, room) ? arena_take(&at->c->scratch, room) : NULL;
    if (!text) return node_no_memory(at), NULL;
    snprintf(text, room, "%s%lld/attribute/%s/g/node/", nodes, (long long)number, attribute);
    return text;
}

opened_node *onnx_open(xir_node *at, const char *attribute, bool unrolled, xir_convert_fn *resume) {
    if (xir_node_failed(at)) return NULL;
    const char *place = place_of_body(at, attribute);
    xir_network *body = place ? read_body(at, attribute) : NULL;
    opened_node *o = body ? node_open(at, body, true, place, resume) : NULL;
    if (o) o->frame.unrolled |= unrolled;
    return o;
}

bool onnx_keep(xir_node *at, void (*type)(xir_node *at)) {
    node_undo(at);
    if (at->fate != NODE_STAYS) return false;
    at->fate = NODE_GOES;
    type(at);
    if (at->fate == NODE_GOES) at->fate = NODE_STAYS;
    return false;
}
