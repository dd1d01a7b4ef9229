/* What was planned becomes the network: attributes and constants of the ops that work in other orders, then the Transposes between
 * roots and users, then types by inference. A Transpose that made what is still needed stays the same op. */
#include "layout.h"

/* ---- attributes ---------------------------------------------------------------------------------------------------- */

static size_t rank_of(const xir_value *value) { return xir_type_rank(value->type); }

/* Where an axis of an attribute is now. */
static int64_t moved_axis(axis_order p, int64_t axis, size_t rank) {
    if (axis < 0) axis += (int64_t)rank;
    return axis < 0 || axis >= (int64_t)rank ? axis : (int64_t)order_find(p, (size_t)axis);
}

static xir_status set_list(const node *n, const xir_field *field, const int64_t *items, size_t size) {
    return xir_op_set(n->op, field->name, &(xir_attr){ .kind = XIR_KIND_I64S, .as.i64s = { items, size } });
}

static xir_status set_ref(const node *n, const char *name, const void *ref) {
    if (!ref) return XIR_E_MEMORY;
    return xir_op_set(n->op, xir_str_of(name), &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = ref });
}

static xir_status move_axes(const node *n, const xir_field *field, size_t rank) {
    const xir_i64s *axes = attr_at(n->op, field);
    int64_t now[MOST_AXES];
    bool same = true;
    if (axes->size > MOST_AXES) return XIR_OK;   // an axis twice: nothing that is valid
    for (size_t i = 0; i < axes->size; i++) {
        now[i] = moved_axis(n->in, axes->data[i], rank);
        same &= now[i] == axes->data[i];
    }
    return same ? XIR_OK : set_list(n, field, now, axes->size);
}

/* `each` items an axis; missing ones in front are 1. */
static xir_status move_items(const node *n, const xir_field *field, size_t rank, size_t each) {
    const xir_i64s *items = attr_at(n->op, field);
    int64_t now[2 * MOST_AXES];
    size_t missing = rank * each - items->size;
    if (items->size > rank * each) return XIR_OK;
    for (size_t i = 0; i < rank * each; i++) {
        size_t from = order_at(n->in, i / each) * each + i % each;
        now[i] = from < missing ? 1 : items->data[from - missing];
    }
    return set_list(n, field, now, rank * each);
}

/* The letters of a root in its new order: those of the view in that order, which had them from who wanted it so. */
static const xir_layout *letters_of(plan *l, const value_node *root, const xir_layout *was) {
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        const value_node *view = &l->values[i];
        if (view->view != root->stored) continue;
        const xir_layout *letters = xir_type_layout(l->nodes[view->maker].op->outputs->type);
        if (letters && xir_layout_rank(letters) == xir_layout_rank(was)) return letters;
    }
    return letters_in_order(l, was, root->stored);
}

static xir_status reorder_reshape(plan *l, const node *n) {
    const xir_reshape_attrs *a = n->op->attrs;
    int64_t shape[MOST_AXES];
    if (n->out == ORDER_SAME || order_is_merged(n->out)) return XIR_OK;
    for (size_t i = 0; i < a->shape.size; i++) shape[i] = a->shape.data[order_at(n->out, i)];
    const xir_layout *letters = letters_of(l, &l->values[n->first], a->layout);
    if (!letters) return XIR_E_MEMORY;
    return xir_op_set_body(n->op, xir_reshape_class(), &(xir_reshape_attrs){ .shape = { shape, a->shape.size }, .layout = letters });
}

static xir_status reorder_cast(plan *l, const node *n) {
    const xir_type *was = (const xir_type *)*(const xir_object *const *)attr_at(n->op, n->row->attr[0]);
    const xir_type *type = type_in_order(l, was, n->out);
    const xir_layout *letters = type ? xir_type_layout(was) : NULL;
    if (letters && !(letters = letters_of(l, &l->values[n->first], letters))) return XIR_E_MEMORY;
    if (letters) type = xir_type_with_layout(l->net->ctx, type, letters, NULL);
    return set_ref(n, n->row->row->attr[0], type);
}

static xir_status reorder_attrs(plan *l, const node *n) {
    const layout_row *row = n->row->row;
    size_t rank = row->kind == ROW_EACH ? 0 : rank_of(n->op->inputs[0].value);
    xir_status status = XIR_OK;
    for (size_t k = 0; k < MOST_ATTRS && row->attr[k] && !status; k++) {
        const xir_field *field = n->row->attr[k];
        switch (row->form) {
        case FORM_NONE:
            break;
        case FORM_AXIS: {
            bool gain = row->kind == ROW_GAIN;
            int64_t was = *(const int64_t *)attr_at(n->op, field), now = moved_axis(gain ? n->out : n->in, was, rank + gain);
            if (now != was) status = xir_op_set_i64(n->op, row->attr[k], now);
            break;
        }
        case FORM_AXIS_REF: {
            const xir_int_imm *was = *(const xir_int_imm *const *)attr_at(n->op, field);
            if (!was) break;
            xir_int_imm now = *was;
            now.value = moved_axis(n->in, was->value, rank);
            if (now.value != was->value) {
                status = set_ref(n, row->attr[k], xir_object_make(l->net->ctx, xir_int_imm_class(), &now, NULL));
            }
            break;
        }
        case FORM_AXES:
            status = move_axes(n, field, rank);
            break;
        case FORM_ITEMS:
            status = move_items(n, field, rank, 1);
            break;
        case FORM_PAIRS:
            status = move_items(n, field, rank, 2);
            break;
        case FORM_TYPE:
            status = reorder_cast(l, n);
            break;
        }
    }
    return !status && row->kind == ROW_RESHAPE ? reorder_reshape(l, n) : status;
}

/* Shape asks for the dims where they are now; where they do not stand together, for all of them, of which a Gather takes the right ones. */
static xir_status reorder_shape(plan *l, const node *n) {
    size_t from, to, count;
    axes_asked(n, &from, &to);
    if ((count = to - from) == 0) return XIR_OK;
    int64_t places[MOST_AXES];
    bool together = true;
    for (size_t i = 0; i < count; i++) {
        places[i] = (int64_t)order_find(n->in, from + i);
        together &= places[i] == places[0] + (int64_t)i;
    }
    xir_shape_attrs a = { .start = together ? places[0] : 0 };
    if (together) {
        a.end = xir_int_imm_make(l->net->ctx, &(xir_int_imm){ .value = places[0] + (int64_t)count }, NULL);
        return a.end ? xir_op_set_body(n->op, xir_shape_class(), &a) : XIR_E_MEMORY;
    }
    xir_value *dims = n->op->outputs;
    const xir_type *type = dims->type, *index = XIR_TENSOR(l->net->ctx, xir_sint(l->net->ctx, 64), "*", (int64_t)count);
    xir_value *which = index ? xir_params_copy(l->net, XIR_STR(""), index, places, count * sizeof *places) : NULL;
    if (!which) return XIR_E_MEMORY;
    xir_op *gather = xir_network_add(l->net, &(xir_op_desc){
        .cls = xir_class_of(l->net->ctx, xir_gather_class()), .inputs = (xir_value *const[]){ dims, which }, .n_inputs = 2,
        .types = &type, .n_types = 1, .target = n->op->target, .id = XIR_NO_ID, .before = n->op->next });
    if (!gather) return XIR_E_MEMORY;
    xir_status status = xir_value_replace(dims, gather->outputs);
    if (!status) status = xir_op_set_input(gather, 0, dims);
    if (!status && !name_move(dims, gather->outputs, ORDER_SAME)) status = XIR_E_MEMORY;
    return status ? status : xir_op_set_body(n->op, xir_shape_class(), &a);
}

/* ---- constants ------------------------------------------------------------------------------------------------------ */

static xir_status reorder_constants(plan *l, const node *n) {
    row_kind kind = n->row->row->kind;
    if (kind == ROW_MATMUL) {
        merged_axis rows;
        reshape_merged(&l->nodes[n->in & ~ORDER_MERGED], &rows);
        xir_value *now = params_rows_in_order(l, n->op->inputs[1].value, n->in, &rows);
        return now ? xir_op_set_input(n->op, 1, now) : XIR_E_MEMORY;
    }
    if (kind != ROW_EACH && kind != ROW_JOIN && kind != ROW_GAIN) return XIR_OK;
    for (uint32_t i = 0; i < n->op->n_inputs; i++) {
        xir_value *v = n->op->inputs[i].value;
        if (!v || !value_is_params(v)) continue;
        xir_value *now = params_in_order(l, v, kind == ROW_EACH ? rank_of(n->op->outputs) : rank_of(v), n->in);
        xir_status status = !now ? XIR_E_MEMORY : now == v ? XIR_OK : xir_op_set_input(n->op, i, now);
        if (status) return status;
    }
    return XIR_OK;
}

static xir_status reorder_ops(plan *l, size_t *changes) {
    for (size_t i = 0; i < l->n_nodes; i++) {
        node *n = &l->nodes[i];
        if (n->in == ORDER_SAME && n->out == ORDER_SAME) continue;
        /* Constants first: they are broadcast to what the types still say. */
        xir_status status = n->row ? reorder_constants(l, n) : XIR_OK;
        if (!status && n->row) status = n->row->row->kind == ROW_SHAPE ? reorder_shape(l, n) : reorder_attrs(l, n);
        if (status) return status;
        n->dirty = true;
        l->again |= n->row && has_choice(n);
        ++*changes;
    }
    return XIR_OK;
}

/* ---- Transposes ------------------------------------------------------------------------------------------------------ */

/* NULL: it has been added just now. */
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
    return (xir_transpose_attrs){ .dims = { room, rank }, .layout = letters };
}

/* A Transpose that is there makes the root's order `as` of what is stored. */
static xir_status keep_transpose(plan *l, const value_node *root, xir_op *op, axis_order as, size_t *changes) {
    const xir_transpose_attrs *a = op->attrs;
    axis_order from_stored = order_then(order_inverse(root->stored), as);
    xir_status status = XIR_OK;
    bool changed = false;
    if (op->inputs[0].value != value_at(l, root)) {
        status = xir_op_set_input(op, 0, value_at(l, root));
        changed = true;
    }
    if (!status && !is_order(a->dims, from_stored) && (changed || root->stored != ORDER_SAME)) {
        int64_t room[MOST_AXES];
        xir_transpose_attrs now = transpose_attrs(from_stored, room, a->dims.size, xir_type_layout(op->outputs->type));
        status = xir_op_set_body(op, xir_transpose_class(), &now);
        changed = true;
    }
    *changes += changed;
    l->nodes[l->place[op->slot]].dirty |= changed;
    return status;
}

/* The first of the Transposes that make a root's order. */
static xir_op *transpose_of(const plan *l, const value_node *root, axis_order as) {
    xir_op *found = NULL;
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        if (l->values[i].view == as) found = l->nodes[l->values[i].maker].op;
    }
    return found;
}

/* One that makes what nobody needs any more. A result's name goes to what takes its place. */
static xir_op *transpose_to_spare(plan *l, const value_node *root) {
    uint32_t found = NONE;
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        const root_need *need = need_of(l, root, l->values[i].view);
        if (!l->values[i].claimed && !value_is_result(l->nodes[l->values[i].maker].op->outputs) && (!need || !need->count || need->as == root->stored)) found = i;
    }
    if (found == NONE) return NULL;
    l->values[found].claimed = true;
    return l->nodes[l->values[found].maker].op;
}

/* Another one makes it: one to spare, else a new one. */
static xir_value *make_transpose(plan *l, const value_node *root, const root_need *need, size_t *changes) {
    xir_value *from = value_at(l, root);
    const xir_type *type = need->type;
    int64_t room[MOST_AXES];
    axis_order from_stored = order_then(order_inverse(root->stored), need->as);
    xir_transpose_attrs a = transpose_attrs(from_stored, room, rank_of(from), xir_type_layout(type));
    xir_op *op = transpose_to_spare(l, root);
    ++*changes;
    if (op) {
        l->nodes[l->place[op->slot]].dirty = true;
        bool done = xir_op_set_input(op, 0, from) == XIR_OK && xir_op_set_body(op, xir_transpose_class(), &a) == XIR_OK &&
                    xir_value_set_type(op->outputs, type) == XIR_OK;
        return done ? op->outputs : NULL;
    }
    op = xir_network_add(l->net, &(xir_op_desc){
        .cls = xir_class_of(l->net->ctx, xir_transpose_class()), .attrs = &a, .inputs = &from, .n_inputs = 1, .types = &type,
        .n_types = 1, .target = from->producer->target, .id = XIR_NO_ID, .before = from->producer->next });
    return op ? op->outputs : NULL;
}

/* Which type is needed in which order: what a user had, with its axes moved if it works in another order now. */
static xir_status expect_types(plan *l, const value_node *root) {
    for (uint32_t k = 0; k < root->n_uses; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        const node *user = &l->nodes[use->user];
        axis_order as = use_needs(l, root, use);
        root_need *need = as == root->stored ? NULL : need_of(l, root, as);
        if (!need || (need->type && user->row)) continue;
        need->type = type_in_order(l, l->ports[user->port + use->port].type, op_needs(l, user, use->port, user->in));
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
        need->value = op ? op->outputs : make_transpose(l, root, need, changes);
        if (status || !need->value) return status ? status : XIR_E_MEMORY;
    }
    return XIR_OK;
}

static root_need *need_of_use(const plan *l, const value_node *root, const root_use *use) {
    return need_of(l, root, use_needs(l, root, use));
}

/* Whether a Transpose is new, or has come to make another order than it did. */
static bool is_new(const plan *l, const xir_op *op) {
    const node *n = node_of(l, op);
    return !n || l->values[n->first].claimed;
}

/* A result takes what it needs, and its name along. Where that has a name that must stay, it has a Transpose of its own. */
static xir_status connect_result(plan *l, const value_node *root, const root_use *use, root_need *need, size_t *changes) {
    xir_op *user = l->nodes[use->user].op, *maker = l->nodes[root->maker].op;
    xir_value *was = user->inputs[use->port].value, *now = need->value;
    bool from_root = was->producer == maker;
    axis_order by = order_then(order_inverse(from_root ? root->stored : l->ports[l->nodes[use->user].port + use->port].view), need->as);
    if (need->result || now->producer->cls->traits & XIR_TRAIT_SOURCE) {
        if (!from_root) return keep_transpose(l, root, was->producer, need->as, changes);
        now = make_transpose(l, root, need, changes);
        if (!now || !name_move(was, now, by)) return XIR_E_MEMORY;
    } else if (!(from_root && is_new(l, now->producer)) && name_is_there(was) && !name_move(was, now, by)) {   // else it has the name
        return XIR_E_MEMORY;
    }
    need->result = true;
    ++*changes;
    return xir_op_set_input(user, use->port, now);
}

/* Users take what they need. A Transpose that stood behind one of its users now moves to its input. */
static xir_status connect_users(plan *l, const value_node *root, size_t *changes) {
    for (uint32_t k = 0; k < root->n_uses; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        const xir_op *user = l->nodes[use->user].op;
        if (!is_sink(user)) continue;
        root_need *need = need_of_use(l, root, use);
        need->result |= user->inputs[use->port].value == need->value;
    }
    for (uint32_t k = 0; k < root->n_uses; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        node *user = &l->nodes[use->user];
        root_need *need = need_of_use(l, root, use);
        xir_value *now = need->value;
        if (user->op->inputs[use->port].value == now) continue;
        xir_status status;
        if (is_sink(user->op)) {
            status = connect_result(l, root, use, need, changes);
        } else {
            status = xir_op_set_input(user->op, use->port, now);
            ++*changes;
        }
        const xir_op *maker = l->nodes[root->maker].op;
        if (!status && now->producer != maker && now->producer->position > user->op->position) {
            status = xir_op_move(now->producer, maker->next);
        }
        if (status) return status;
        user->dirty = true;
    }
    return XIR_OK;
}

/* Transposes that nobody needs any more go, the last of a chain first. A root that has no name of its own takes theirs. */
static xir_status drop_unneeded(plan *l, const value_node *root, size_t *changes) {
    xir_value *value = value_at(l, root);
    for (uint32_t i = root->next_view; i != NONE; i = l->values[i].next_view) {
        xir_op *op = l->nodes[l->values[i].maker].op;
        if (op->outputs->uses) continue;
        axis_order by = order_then(order_inverse(l->values[i].view), root->stored);
        if (name_is_better(op->outputs, value) && !name_move(op->outputs, value, by)) return XIR_E_MEMORY;
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
    if (!status && as_was && as_was->count && is_new(l, as_was->value->producer)) {
        /* What people know by the root's name is the root as it was. */
        const node *made = node_of(l, as_was->value->producer);
        axis_order there = made ? l->values[made->first].view : ORDER_SAME;
        if (!names_swap(value, as_was->value, order_inverse(root->stored), order_then(order_inverse(there), root->stored))) return XIR_E_MEMORY;
    }
    if (!status) status = connect_users(l, root, changes);
    return status ? status : drop_unneeded(l, root, changes);
}

/* ---- types ------------------------------------------------------------------------------------------------------------ */

static void mark_users(const plan *l, const xir_value *value) {
    for (const xir_use *u = value->uses; u; u = u->next) {
        node *user = node_of(l, u->user);
        if (user) user->dirty = true;
    }
}

/* Inputs that are called otherwise than they were, by who thinks nothing of it, get their letters from a Transpose that moves nothing. */
static xir_status call_right(plan *l, const node *n, size_t *changes) {
    for (uint32_t i = 0; i < n->n_in; i++) {
        xir_value *v = n->op->inputs[i].value;
        const port *p = &l->ports[n->port + i];
        if (p->root == NONE || v->type == p->type || finds_same_axes(l, n, i)) continue;
        const xir_type *type = type_in_order(l, p->type, op_needs(l, n, i, n->in));
        int64_t room[MOST_AXES];
        if (!type) return XIR_E_MEMORY;
        xir_transpose_attrs a = transpose_attrs(ORDER_SAME, room, p->rank, xir_type_layout(type));
        xir_op *op = xir_network_add(l->net, &(xir_op_desc){
            .cls = xir_class_of(l->net->ctx, xir_transpose_class()), .attrs = &a, .inputs = &v, .n_inputs = 1, .types = &type,
            .n_types = 1, .target = n->op->target, .id = XIR_NO_ID, .before = n->op });
        xir_status status = op ? xir_op_set_input(n->op, i, op->outputs) : XIR_E_MEMORY;
        if (status) return status;
        ++*changes;
    }
    return XIR_OK;
}

/* Whether an op is what it was, and all that it reads is of the types that it was. */
static bool is_as_before(const plan *l, const node *n) {
    if (n->in != ORDER_SAME || n->out != ORDER_SAME) return false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const xir_value *v = n->op->inputs[i].value;
        if (v && v->type != l->ports[n->port + i].type) return false;
    }
    return true;
}

static xir_status infer_op(plan *l, const node *n, size_t place) {
    xir_op *op = n->op;
    const xir_type *few[4], **was = op->n_outputs <= 4 ? few : mem_new(l->alloc, op->n_outputs * sizeof *was);
    if (!was) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < op->n_outputs; i++) was[i] = op->outputs[i].type;
    xir_status status = op->n_outputs ? op_infer(op, true, place, l->at->why) : XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i].type != was[i]) mark_users(l, &op->outputs[i]);
    }
    if (was != few) mem_free(l->alloc, (void *)was, op->n_outputs * sizeof *was);
    return status == XIR_E_UNKNOWN && !n->row ? XIR_OK : status;   // nobody infers dialects
}

/* What is behind something that has changed, as far as that changes types. Transposes have theirs already. */
static xir_status infer_again(plan *l, size_t *changes) {
    size_t place = 0;
    xir_status status = XIR_OK;
    for (xir_op *op = l->net->first; op && !status; op = op->next) {
        const node *n = node_of(l, op);
        place++;
        if (!n || !n->dirty || n->is_view) continue;
        status = call_right(l, n, changes);
        if (!status && !is_as_before(l, n)) status = infer_op(l, n, place);
    }
    return status;
}

/* What is stored in another order has a type that nobody infers: an argument's. */
static xir_status retype_arguments(plan *l) {
    for (size_t i = 0; i < l->n_nodes; i++) {
        const node *n = &l->nodes[i];
        for (uint32_t k = 0; k < n->n_out && n->op->cls->traits & XIR_TRAIT_SOURCE; k++) {
            const value_node *root = &l->values[n->first + k];
            if (root->stored == ORDER_SAME) continue;
            const xir_type *type = type_in_order(l, n->op->outputs[k].type, root->stored);
            const xir_layout *letters = xir_type_layout(n->op->outputs[k].type);
            if (letters) letters = letters_of(l, root, letters);
            if (type && letters) type = xir_type_with_layout(l->net->ctx, type, letters, NULL);
            if (!type || xir_value_set_type(&n->op->outputs[k], type) != XIR_OK) return XIR_E_MEMORY;
        }
    }
    return XIR_OK;
}

/* Whether all users take a root as it is, which is as it was. */
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
    xir_pass_changed(l->at, changes);
    return status;
}
