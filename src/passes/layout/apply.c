/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Applies the plan to the network: first the ops that work in other orders, then the Transposes between roots and
 * users, then types by inference. A Transpose that still makes a needed order stays the same op. */
#include "layout/layout.h"
#include "provenance.h"

/* ---- Transposes ------------------------------------------------------------------------------------------------- */

/* NULL if the op was added just now. */
static node *node_of(const plan *l, const xir_op *op) {
    return op->flags & OP_PLACED && op->slot < l->n_slots ? &l->nodes[l->place[op->slot]] : NULL;
}

static bool is_order(xir_i64s dims, axis_order p) {
    for (size_t i = 0; i < dims.size; i++) {
        if (dims.data[i] != order_at(p, i)) return false;
    }
    return true;
}

static xir_transpose_attrs transpose_attrs(axis_order p, int64_t *room, size_t rank, const xir_layout *letters) {
    for (size_t i = 0; i < rank; i++) room[i] = order_at(p, i);
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = (xir_i64s){ room, rank };
    a.layout = letters;
    return a;
}

/* Keeps an existing Transpose that makes the root's order `as`, now from the stored order. */
static xir_status keep_transpose(plan *l, const value_node *root, xir_op *op, axis_order as, size_t *changes) {
    const xir_transpose_attrs *a = op->attrs;
    axis_order from_stored = order_then(order_inverse(root->stored), as);
    xir_status status = XIR_OK;
    bool changed = false;
    if (op_inputs(op)[0].value != value_at(l, root)) {
        status = xir_op_set_input(op, 0, value_at(l, root));
        changed = true;
    }
    if (!status && !is_order(a->dims, from_stored) && (changed || root->stored != ORDER_SAME)) {
        int64_t room[MOST_AXES];
        const xir_layout *letters = xir_type_layout(op_outputs(op)->type);
        xir_transpose_attrs now = transpose_attrs(from_stored, room, a->dims.size, letters);
        status = xir_op_set_body(op, xir_transpose_class(), &now);
        changed = true;
    }
    *changes += changed;
    l->nodes[l->place[op->slot]].dirty |= changed;
    return status;
}

/* The first Transpose that makes this order of the root. */
static xir_op *transpose_of(const plan *l, const value_node *root, axis_order as) {
    xir_op *found = NULL;
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        if (l->values[i].view == as) found = l->nodes[l->values[i].producer].op;
    }
    return found;
}

/* A Transpose whose result nothing needs any more. The name of a result moves to its replacement. */
static xir_op *transpose_to_spare(plan *l, const value_node *root) {
    uint32_t found = NONE;
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        const value_node *view = &l->values[i];
        const root_need *need = need_of(l, root, view->view);
        bool needed = need && need->count && need->as != root->stored;
        if (!view->claimed && !needed && !value_is_result(op_outputs(l->nodes[view->producer].op))) found = i;
    }
    if (found == NONE) return NULL;
    l->values[found].claimed = true;
    return l->nodes[l->values[found].producer].op;
}

/* Makes a needed order with a spare Transpose or, if there is none, with a new one. */
static xir_value *make_transpose(plan *l, const value_node *root, const root_need *need, size_t *changes) {
    xir_value *from = value_at(l, root);
    const xir_type *type = need->type;
    int64_t room[MOST_AXES];
    axis_order from_stored = order_then(order_inverse(root->stored), need->as);
    xir_transpose_attrs a = transpose_attrs(from_stored, room, xir_type_rank(from->type), xir_type_layout(type));
    xir_op *op = transpose_to_spare(l, root);
    ++*changes;
    if (op) {
        provenance_reused(op);
        l->nodes[l->place[op->slot]].dirty = true;
        bool done = xir_op_set_input(op, 0, from) == XIR_OK &&
            xir_op_set_body(op, xir_transpose_class(), &a) == XIR_OK &&
                    xir_value_set_type(op_outputs(op), type) == XIR_OK;
        return done ? op_outputs(op) : NULL;
    }
    op = xir_network_add(l->net, &XIR_INIT(xir_op_desc,
        .cls = xir_class_find_decl(l->net->ctx, xir_transpose_class()), .attrs = &a, .inputs = &from, .n_inputs = 1,
        .types = &type,
        .n_types = 1, .target = op_target(value_op(from)), .id = XIR_NO_ID, .before = value_op(from)->next));
    return op ? op_outputs(op) : NULL;
}

/* Finds the type that is expected in each needed order: the type that a user had, with its axes moved if the user now
 * works in another order. */
static xir_status expect_types(plan *l, const value_node *root) {
    for (uint32_t k = 0; k < root->n_uses; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        const node *user = &l->nodes[use->user];
        axis_order as = use_needs(l, root, use);
        root_need *need = as == root->stored ? NULL : need_of(l, root, as);
        if (!need || (need->type && user->row)) continue;
        need->type = type_in_order(l, l->ports[user->port + use->port].type,
                                   op_needs_order(l, user, use->port, user->in));
        if (!need->type) return XIR_E_MEMORY;
    }
    return XIR_OK;
}

static xir_status make_needed(plan *l, const value_node *root, size_t *changes) {
    for (uint32_t i = root->needs; i; i = l->needs[i].next) {
        root_need *need = &l->needs[i];
        if (!need->count) continue;
        if (need->as == root->stored) {
            need->value = value_at(l, root);
            continue;
        }
        xir_op *op = transpose_of(l, root, need->as);
        xir_status status = op ? keep_transpose(l, root, op, need->as, changes) : XIR_OK;
        if (op) provenance_reused(op);
        need->value = op ? op_outputs(op) : make_transpose(l, root, need, changes);
        if (status || !need->value) return status ? status : XIR_E_MEMORY;
    }
    return XIR_OK;
}

static root_need *need_of_use(const plan *l, const value_node *root, const root_use *use) {
    return need_of(l, root, use_needs(l, root, use));
}

/* Returns true if a Transpose is new, or makes another order than it did. */
static bool is_new(const plan *l, const xir_op *op) {
    const node *n = node_of(l, op);
    return !n || l->values[n->first].claimed;
}

/* Connects a result to the order that it needs; its name goes along. If that value has a name that must stay, the
 * result gets a Transpose of its own. */
static xir_status connect_result(plan *l, const value_node *root, const root_use *use, root_need *need,
                                 size_t *changes) {
    xir_op *user = l->nodes[use->user].op, *producer = l->nodes[root->producer].op;
    xir_value *was = op_inputs(user)[use->port].value, *now = need->value;
    bool from_root = value_op(was) == producer;
    if (need->was == was) return xir_op_set_input(user, use->port, need->became);
    axis_order by = order_then(order_inverse(from_root ? root->stored
                                             : l->ports[l->nodes[use->user].port + use->port].view), need->as);
    if (need->result || value_op(now)->cls->traits & XIR_TRAIT_SOURCE) {
        if (!from_root) return keep_transpose(l, root, value_op(was), need->as, changes);
        now = make_transpose(l, root, need, changes);
        if (!now || !name_move(was, now, by)) return XIR_E_MEMORY;
    } else if (!(from_root && is_new(l, value_op(now))) && name_exists(was) &&
               !name_move(was, now, by)) {   // else it has the name
        return XIR_E_MEMORY;
    }
    need->result = true;
    need->was = was;
    need->became = now;
    ++*changes;
    provenance_reordered(l->net, was, now);
    return xir_op_set_input(user, use->port, now);
}

/* Connects users to the orders that they need. A Transpose placed after one of its users moves to its input. */
static xir_status connect_users(plan *l, const value_node *root, size_t *changes) {
    for (uint32_t k = 0; k < root->n_uses; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        const xir_op *user = l->nodes[use->user].op;
        if (!is_sink(user)) continue;
        root_need *need = need_of_use(l, root, use);
        need->result |= op_inputs(user)[use->port].value == need->value;
    }
    for (uint32_t k = 0; k < root->n_uses; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        node *user = &l->nodes[use->user];
        root_need *need = need_of_use(l, root, use);
        xir_value *now = need->value;
        if (op_inputs(user->op)[use->port].value == now) continue;
        xir_status status;
        if (is_sink(user->op)) {
            status = connect_result(l, root, use, need, changes);
        } else {
            provenance_reordered(l->net, op_inputs(user->op)[use->port].value, now);
            status = xir_op_set_input(user->op, use->port, now);
            ++*changes;
        }
        const xir_op *producer = l->nodes[root->producer].op;
        if (!status && value_op(now) != producer && value_op(now)->position > user->op->position) {
            status = xir_op_move(value_op(now), producer->next);
        }
        if (status) return status;
        user->dirty = true;
    }
    return XIR_OK;
}

/* Removes unneeded Transposes, the last of a chain first. A root without a name of its own takes theirs. */
static xir_status drop_unneeded(plan *l, const value_node *root, size_t *changes) {
    xir_value *value = value_at(l, root);
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        xir_op *op = l->nodes[l->values[i].producer].op;
        if (op_outputs(op)->uses) continue;
        axis_order by = order_then(order_inverse(l->values[i].view), root->stored);
        if (name_is_better(op_outputs(op), value) && !name_move(op_outputs(op), value, by)) return XIR_E_MEMORY;
        const root_need *need = need_of(l, root, l->values[i].view);   /* what it made may be made by another one now */
        if (need && need->count && need->value != value) provenance_replaced(l->net, op_outputs(op), need->value);
        else provenance_passed(l->net, op_outputs(op), value);
        l->nodes[l->place[op->slot]].op = NULL;
        xir_status status = xir_op_erase(op);
        if (status) return status;
        ++*changes;
    }
    return XIR_OK;
}

static xir_status connect_root(plan *l, const value_node *root, size_t *changes) {
    xir_value *value = value_at(l, root);
    xir_status status = tags_follow(value, root->stored) ? expect_types(l, root) : XIR_E_MEMORY;
    if (!status) status = make_needed(l, root, changes);
    const root_need *as_was = root->stored != ORDER_SAME ? need_of(l, root, ORDER_SAME) : NULL;
    if (!status && as_was && as_was->count && is_new(l, value_op(as_was->value))) {
        /* The root's name stands for the root in its old order. */
        const node *made = node_of(l, value_op(as_was->value));
        axis_order there = made ? l->values[made->first].view : ORDER_SAME;
        axis_order to_root = order_then(order_inverse(there), root->stored);
        if (!names_swap(value, as_was->value, order_inverse(root->stored), to_root)) return XIR_E_MEMORY;
    }
    if (!status) status = connect_users(l, root, changes);
    return status ? status : drop_unneeded(l, root, changes);
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static void mark_users(const plan *l, const xir_value *value) {
    for (const xir_use *u = value->uses; u; u = u->next) {
        node *user = node_of(l, u->user);
        if (user) user->dirty = true;
    }
}

/* An op that ignores letters may have inputs with other letters now. They get the old letters back from a Transpose
 * that moves nothing. */
static xir_status restore_letters(plan *l, const node *n, size_t *changes) {
    for (uint32_t i = 0; i < n->n_in; i++) {
        xir_value *v = op_inputs(n->op)[i].value;
        const port *p = &l->ports[n->port + i];
        if (p->root == NONE || (v->type == p->type && n->in == ORDER_SAME) || finds_same_axes(l, n, i)) continue;
        const xir_type *type = type_in_order(l, p->type, op_needs_order(l, n, i, n->in));
        int64_t room[MOST_AXES];
        if (!type) return XIR_E_MEMORY;
        xir_transpose_attrs a = transpose_attrs(ORDER_SAME, room, p->rank, xir_type_layout(type));
        xir_op *op = xir_network_add(l->net, &XIR_INIT(xir_op_desc,
            .cls = xir_class_find_decl(l->net->ctx, xir_transpose_class()), .attrs = &a, .inputs = &v, .n_inputs = 1,
            .types = &type, .n_types = 1, .target = op_target(n->op), .id = XIR_NO_ID, .before = n->op));
        xir_status status = op ? xir_op_set_input(n->op, i, op_outputs(op)) : XIR_E_MEMORY;
        if (status) return status;
        l->again = true;   // it stands where a Transpose was free to move
        ++*changes;
    }
    return XIR_OK;
}

/* Returns true if an op is unchanged and the types of all its operands are, too. */
static bool is_unchanged(const plan *l, const node *n) {
    if (n->in != ORDER_SAME || n->out != ORDER_SAME) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const xir_value *v = op_inputs(n->op)[i].value;
        if (v && v->type != l->ports[n->port + i].type) return false;
    }
    return true;
}

/* The quantised type of what an op computes, or the type of what it computes from quantised numbers, may not follow
 * from its inputs. Then the outputs keep their elements, in the order that they have now. */
static xir_status keep_elements(plan *l, const node *n) {
    for (uint32_t i = 0; i < n->op->n_outputs; i++) {
        const xir_type *type = type_in_order(l, op_outputs(n->op)[i].type, n->out);
        if (!type || xir_value_set_type(&op_outputs(n->op)[i], type) != XIR_OK) return XIR_E_MEMORY;
    }
    return XIR_OK;
}

static bool is_quantised(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && xir_type_is_quantized(xir_type_element(v->type))) return true;
    }
    return false;
}

/* Returns true if the axis of a quantised type that the op computes is another one now. */
static bool moves_quantised(const node *n) {
    for (uint32_t i = 0; i < n->op->n_outputs; i++) {
        const xir_type *type = op_outputs(n->op)[i].type;
        if (type && n->out != ORDER_SAME && xir_type_is_quantized(xir_type_element(type))) return true;
    }
    return false;
}

static xir_status infer_op(plan *l, const node *n, size_t place) {
    xir_op *op = n->op;
    uint32_t count = op->n_outputs;   // a broken network's op may come to have more
    const xir_type *few[4], **was = count <= 4 ? few : mem_new(l->alloc, count * sizeof *was);
    if (!was) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < count; i++) was[i] = op_outputs(op)[i].type;
    const bool quantised = is_quantised(op);
    xir_status status = moves_quantised(n) ? keep_elements(l, n) : XIR_OK;   // inference then finds these declared
    const bool kept = !status && moves_quantised(n);
    if (!status && count) status = op_infer(op, INFER_CONVERSIONS_STAY, place, quantised ? NULL : l->at->why);
    if (status == XIR_E_UNSUPPORTED && quantised) status = kept ? XIR_OK : keep_elements(l, n);
    else if (status && quantised) status = op_infer(op, INFER_CONVERSIONS_STAY, place, l->at->why);   // for the finding
    for (uint32_t i = 0; i < count; i++) {
        if (op_outputs(op)[i].type != was[i]) mark_users(l, &op_outputs(op)[i]);
    }
    if (was != few) mem_free(l->alloc, (void *)was, count * sizeof *was);
    return status == XIR_E_UNKNOWN && !n->row ? XIR_OK : status;   // nobody infers dialects
}

/* A Cast finds axes by letter. If its letters, which may be those of a Transpose that is gone, lead to others than
 * before, it gets the ones that it had, in its order; then its input does (restore_letters). */
static xir_status settle_cast(plan *l, const node *n) {
    if (!n->row || n->row->form != BY_TYPE || n->n_in != 1 || l->ports[n->port].root == NONE || cast_finds_axes(l, n))
        return XIR_OK;
    const xir_field *field = n->row->attr[0];
    const xir_type *type = (const xir_type *)*(const xir_object *const *)attr_at(n->op, field);
    const xir_layout *letters = xir_type_layout(op_outputs(n->op)[0].type);
    if (!letters) return XIR_OK;
    letters = letters_in_order(l, letters, n->out);
    if (letters) type = xir_type_with_layout(l->net->ctx, type, letters, NULL);
    if (!letters || !type) return XIR_E_MEMORY;
    return xir_op_set(n->op, field->name, &(xir_attr){ .kind = XIR_KIND_REF,
                                                      .as.ref = xir_type_object(type) });
}

/* Infers the ops after a change, as far as their types change. Transposes already have their types. */
static xir_status infer_again(plan *l, size_t *changes) {
    size_t place = 0;
    xir_status status = XIR_OK;
    for (xir_op *op = l->net->first; op && !status; op = op->next) {
        const node *n = node_of(l, op);
        place++;
        if (!n || !n->dirty || n->is_view) continue;
        status = settle_cast(l, n);
        if (!status) status = restore_letters(l, n, changes);
        if (!status && !is_unchanged(l, n)) status = infer_op(l, n, place);
    }
    return status;
}

/* Sets the types of the network's inputs that are stored in another order: nothing infers them. */
static xir_status retype_arguments(plan *l) {
    for (size_t i = 0; i < l->n_nodes; i++) {
        const node *n = &l->nodes[i];
        for (uint32_t k = 0; k < n->n_out && n->op->cls->traits & XIR_TRAIT_SOURCE; k++) {
            const value_node *root = &l->values[n->first + k];
            if (root->stored == ORDER_SAME) continue;
            const xir_type *type = type_in_order(l, op_outputs(n->op)[k].type, root->stored);
            const xir_layout *letters = xir_type_layout(op_outputs(n->op)[k].type);
            if (letters) letters = letters_of(l, root, letters);
            if (type && letters) type = xir_type_with_layout(l->net->ctx, type, letters, NULL);
            if (!type || xir_value_set_type(&op_outputs(n->op)[k], type) != XIR_OK) return XIR_E_MEMORY;
        }
    }
    return XIR_OK;
}

/* Returns true if the root keeps its order and all users take it in that order. */
static bool is_untouched(const plan *l, const value_node *root) {
    if (root->next_view != NONE || root->stored != ORDER_SAME) return false;
    for (uint32_t i = root->needs; i; i = l->needs[i].next) {
        if (l->needs[i].count && l->needs[i].as != ORDER_SAME) return false;
    }
    return true;
}

xir_status plan_apply(plan *l) {
    size_t changes = 0;
    xir_status status = reorder_ops(l, &changes);
    if (!status) status = retype_arguments(l);
    for (size_t i = 0; i < l->n_values && !status; i++) {
        const value_node *root = &l->values[i];
        if (root->root == i && !is_untouched(l, root)) status = connect_root(l, root, &changes);
    }
    if (!status && changes) status = infer_again(l, &changes);
    l->again |= changes && l->letters;
    xir_pass_changed(l->at, changes);
    return status;
}
