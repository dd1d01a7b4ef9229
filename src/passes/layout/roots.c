/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Roots, views and users: the network without its Transposes. One walk over the ops puts the facts that the search
 * needs again and again into arrays in execution order, so the search does not touch the network. */
#include <xir/quant.h>
#include "layout/layout.h"
#include "support/listed.h"
#include "types.h"

xir_value *value_at(const plan *l, const value_node *root) {
    const node *producer = &l->nodes[root->producer];
    return &op_outputs(producer->op)[(uint32_t)(root - l->values) - producer->first];
}

bool value_is_result(const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (is_sink(u->user)) return true;
    }
    return false;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Sub ops have no position in the order: their operands must stay unchanged. */
static bool mark_producers(void *user, xir_op *child) {
    plan *l = user;
    for (uint32_t i = 0; i < child->n_inputs; i++) {
        const xir_value *v = op_inputs(child)[i].value;
        if (v && value_op(v) && value_op(v)->flags & OP_PLACED) l->nodes[l->place[value_op(v)->slot]].child_use = true;
    }
    return op_each_child(child, mark_producers, user);
}

static bool take_memory(plan *l) {
    bool children = false;
    l->n_slots = l->net->n_slots;
    l->place = mem_new(l->alloc, (l->n_slots + 1) * sizeof *l->place);
    if (!l->place) return false;
    for (const xir_op *op = l->net->first; op; op = op->next) {
        l->place[op->slot] = (uint32_t)l->n_nodes++;
        l->n_values += op->n_outputs;
        l->n_ports += op->n_inputs;
        children = children || op_has_children(op);
    }
    l->n_constants = l->net->n_params;
    if (l->n_values >= NONE / 2 || l->n_ports >= NONE / 2 || l->n_nodes >= ORDER_PLACE) return false;
    l->nodes     = mem_new(l->alloc, (l->n_nodes + 1) * sizeof *l->nodes);
    l->ports     = mem_new(l->alloc, (l->n_ports + 1) * sizeof *l->ports);
    l->values    = mem_new(l->alloc, (l->n_values + 1) * sizeof *l->values);
    l->uses      = mem_new(l->alloc, (l->n_ports + 1) * sizeof *l->uses);
    l->steps     = mem_new(l->alloc, (l->n_nodes + 1) * sizeof *l->steps);
    l->constants = mem_new(l->alloc, (l->n_constants + 1) * sizeof *l->constants);
    if (!l->nodes || !l->ports || !l->values || !l->uses || !l->steps || !l->constants) return false;
    memset(l->nodes, 0, l->n_nodes * sizeof *l->nodes);
    memset(l->constants, 0, l->n_constants * sizeof *l->constants);
    for (const xir_op *op = l->net->first; op && children; op = op->next) op_each_child(op, mark_producers, l);
    return mem_reserve(l->alloc, (void **)&l->needs, &l->need_room, l->n_values + 64, sizeof *l->needs);
}

void plan_free(plan *l) {
    mem_free(l->alloc, l->place, (l->n_slots + 1) * sizeof *l->place);
    mem_free(l->alloc, l->nodes, (l->n_nodes + 1) * sizeof *l->nodes);
    mem_free(l->alloc, l->ports, (l->n_ports + 1) * sizeof *l->ports);
    mem_free(l->alloc, l->values, (l->n_values + 1) * sizeof *l->values);
    mem_free(l->alloc, l->uses, (l->n_ports + 1) * sizeof *l->uses);
    mem_free(l->alloc, l->steps, (l->n_nodes + 1) * sizeof *l->steps);
    mem_free(l->alloc, l->constants, (l->n_constants + 1) * sizeof *l->constants);
    mem_free(l->alloc, l->needs, l->need_room * sizeof *l->needs);
    mem_free(l->alloc, l->reordered, l->reordered_room * sizeof *l->reordered);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static bool is_host(const xir_op *op) { return op_target(op) == op->net->host || target_is_host(op_target(op)); }

/* Returns true if the op's inputs are present and have earlier producers, and all its types are plain. */
static bool is_plain_op(plan *l, const node *n, layout_kind kind) {
    const xir_op *op = n->op;
    if (!is_host(op) || n->child_use || op->n_inputs == 0 || op->n_outputs == 0) return false;
    const xir_value *first = op_inputs(op)->value;
    if (!first) return false;
    if (kind != LAYOUT_EACH && kind != LAYOUT_JOIN && kind != LAYOUT_GAIN && value_is_params(first)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const value_more *more = value_more_of(&op_outputs(op)[i]);
        if (!facts_of(l, op_outputs(op)[i].type)->plain || (more && more->mtype)) return false;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v) continue;
        if (!value_is_params(v) && (l->ports[n->port + i].root == NONE || !l->nodes[l->place[value_op(v)->slot]].met))
            return false;
        if (!facts_of(l, v->type)->plain) return false;
        /* scales of an axis: a convolution finds the axes of its constants by their letters, and moves none of them */
        const bool stays = kind == LAYOUT_ANCHOR && i > 0;
        if (value_is_params(v) && !stays && xir_scales_count(xir_type_scale(v->type)) > 1) return false;
    }
    return true;
}

/* The order that a Transpose applies. */
static bool order_of_op(const xir_op *op, axis_order *out) {
    const xir_transpose_attrs *a = op->attrs;
    size_t rank = xir_type_rank(op_inputs(op)[0].value->type);
    uint32_t seen = 0;
    *out = ORDER_SAME;
    if (a->dims.size != rank || xir_type_rank(op_outputs(op)->type) != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        int64_t axis = a->dims.data[i] < 0 ? a->dims.data[i] + (int64_t)rank : a->dims.data[i];
        if (axis < 0 || axis >= (int64_t)rank || seen >> axis & 1) return false;
        seen |= 1u << axis;
        *out = order_put(*out, i, (size_t)axis);
    }
    return true;
}

/* A result that copies another value under its own name is not a view if the other value's name must stay, too. */
static bool must_stay(const xir_op *op, const xir_value *other) {
    if (!value_is_result(op_outputs(op))) return false;
    return value_op(other)->cls->traits & XIR_TRAIT_SOURCE || value_is_result(other);
}

static void make_view(plan *l, node *n) {
    const xir_op *op = n->op;
    const port *from = &l->ports[n->port];
    axis_order own;
    if (!order_of_op(op, &own)) return;
    axis_order view = order_then(from->view, own);
    value_node *root = &l->values[from->root];
    /* it only gives letters */
    if (own == ORDER_SAME && !letters_agree(l, from->type, ORDER_SAME, op_outputs(op)->type)) return;
    if (own == ORDER_SAME && must_stay(op, op_inputs(op)[0].value)) return;
    if (view == ORDER_SAME) {
        const xir_value *first = value_at(l, root);
        if (must_stay(op, first) || !letters_agree(l, first->type, ORDER_SAME, op_outputs(op)->type)) return;
    }
    value_node *v = &l->values[n->first];
    v->root = from->root;
    v->view = view;
    v->next_view = root->next_view;
    root->next_view = n->first;
    n->is_view = true;
}

/* Records what is known of an input. In an unsorted network its producer may come later: then nothing is known yet. */
static void list_port(plan *l, const xir_value *v, port *p) {
    *p = (port){ .root = NONE, .view = ORDER_SAME };
    if (!v) return;
    const type_facts *f = facts_of(l, v->type);
    p->type = v->type;
    p->rank = f->rank;
    p->single = f->single;
    if (!value_op(v) || !(value_op(v)->flags & OP_PLACED)) return;
    const node *producer = &l->nodes[l->place[value_op(v)->slot]];
    if (!producer->met) return;
    const value_node *made = &l->values[producer->first + (uint32_t)(v - op_outputs(value_op(v)))];
    p->root = made->root;
    p->view = made->view;
}

/* If the aim is channels first, an op that has its channels last and finds them by letter can work in that order. */
static void turn_anchor(plan *l, node *n) {
    const xir_type *type = op_inputs(n->op)[0].value->type;
    const xir_layout *letters = xir_type_layout(type);
    size_t rank = xir_type_rank(type);
    static const char *const last[] = { "NLC", "NWC", "NHWC", "NDHWC" };
    for (size_t i = 0; i < sizeof last / sizeof *last && letters; i++) {
        if (n->rank != rank || !xir_str_equal(xir_layout_text(letters), xir_str_of(last[i]))) continue;
        n->in = n->out = order_inverse(order_channels_last(rank));
        for (uint32_t k = 0; k < n->n_out; k++) l->values[n->first + k].stored = n->out;   // it has one output
    }
}

/* Reads the op's LAYOUT row. The op can use it only if the types of its outputs can be inferred again. */
static void list_op(plan *l, node *n, bool transpose) {
    const class_layout *row = n->op->cls->more->layout;
    layout_kind kind = row ? row->kind : LAYOUT_NONE;
    bool plain = (row || transpose) && is_plain_op(l, n, kind) && xir_class_infers_on(n->op->cls, XIR_TARGET_HOST);
    if (plain && transpose) make_view(l, n);
    n->anchor = plain && kind == LAYOUT_ANCHOR;
    if (n->anchor && l->first) turn_anchor(l, n);
    n->letters = kind == LAYOUT_ANCHOR || kind == LAYOUT_FIXED || n->op->cls->opaque;
    /* the order of a list that is computed cannot be changed */
    if (plain && row && kind != LAYOUT_ANCHOR && kind != LAYOUT_FIXED && !op_is_listed(n->op)) {
        n->row = row;
        if (!row_fits(l, n)) n->row = NULL;
    }
}

/* Lists nodes, ports and values in execution order. Returns whether every input was made before it was read. */
static bool list_ops(plan *l) {
    uint32_t value = 0, input = 0;
    bool sorted = true;
    const xir_class *transpose = xir_class_find_decl(l->net->ctx, xir_transpose_class());
    for (xir_op *op = l->net->first; op; op = op->next) {
        uint32_t at = l->place[op->slot];
        node *n = &l->nodes[at];
        *n = (node){ .op = op, .first = value, .port = input, .n_in = op->n_inputs, .n_out = op->n_outputs,
                     .in = ORDER_SAME, .out = ORDER_SAME, .child_use = n->child_use };
        if (op->n_outputs) n->rank = facts_of(l, op_outputs(op)->type)->rank;
        for (uint32_t i = 0; i < op->n_inputs; i++, input++) {
            const xir_value *v = op_inputs(op)[i].value;
            list_port(l, v, &l->ports[input]);
            sorted &= l->ports[input].root != NONE || !v || value_is_params(v) || !value_op(v);
        }
        for (uint32_t i = 0; i < op->n_outputs; i++, value++) {
            l->values[value] = (value_node){ .root = value, .view = ORDER_SAME, .next_view = NONE, .producer = at,
                                             .stored = ORDER_SAME };
        }
        list_op(l, n, op->cls == transpose);
        n->met = true;
    }
    return sorted;
}

static void list_uses(plan *l) {
    uint32_t from = 0;
    for (size_t i = 0; i < l->n_nodes; i++) {
        const node *n = &l->nodes[i];
        for (uint32_t k = 0; k < n->n_in && !n->is_view; k++) {
            uint32_t root = l->ports[n->port + k].root;
            if (root != NONE) l->values[root].n_uses++;
        }
    }
    for (size_t i = 0; i < l->n_values; i++) {
        l->values[i].first_use = from;
        from += l->values[i].n_uses;
        l->values[i].n_uses = 0;
    }
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        const node *n = &l->nodes[i];
        for (uint32_t k = 0; k < n->n_in && !n->is_view; k++) {
            uint32_t root = l->ports[n->port + k].root;
            if (root != NONE)
                l->uses[l->values[root].first_use + l->values[root].n_uses++] = (root_use){ .user = i, .port = k };
        }
    }
}

bool plan_make(plan *l) {
    if (!take_memory(l)) return false;
    if (!list_ops(l)) {
        for (size_t i = 0; i < l->n_nodes; i++) {
            const node *n = &l->nodes[i];
            for (uint32_t k = 0; k < n->n_in && !n->is_view; k++)
                list_port(l, op_inputs(n->op)[k].value, &l->ports[n->port + k]);
        }
    }
    list_uses(l);
    return plan_count(l);
}
