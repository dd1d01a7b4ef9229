/* What Transposes cost, and the search for orders that cost less.
 *
 * A root costs a Transpose for each order that it is needed in but not stored in. One beside a convolution, pool or resize costs a
 * little more: among plans with as many Transposes the orders of those spread, and the Transpose ends up at a border or before what
 * can't follow.
 *
 * The search starts at a Transpose. It lets one of its ends work in the other's order; whatever that takes from its neighbours, who
 * had what they needed before, it takes on, so that a region grows until all of its neighbours cost a Transpose already or can't
 * follow. Then ops leave the region again, the last one first, where it is cheaper without them. If the whole is cheaper than before
 * it stays, otherwise all is as it was. Costs fall with every region that stays, so there is an end, and a network that comes out has
 * no region that would be cheaper still. An op is in few regions a round, and rounds are few: the time is linear. */
#include "layout.h"

enum { COST = 16, COST_BESIDE_ANCHOR = 17, COST_NEVER = 1 << 20 };
enum { MOST_VISITS = 6, MOST_ROUNDS = 8 };

/* ---- roots ------------------------------------------------------------------------------------------------------- */

static uint32_t index_of(const plan *l, const xir_value *value) {
    return l->nodes[value->producer->slot].first + (uint32_t)(value - value->producer->outputs);
}

value_node *root_of(const plan *l, const xir_value *value, axis_order *view) {
    if (!value || !value->producer || !(value->producer->flags & OP_PLACED)) return NULL;
    const value_node *v = &l->values[index_of(l, value)];
    *view = v->view;
    return &l->values[v->root];
}

xir_value *value_at(const plan *l, const value_node *root) {
    const node *maker = &l->nodes[root->slot];
    return &maker->op->outputs[(uint32_t)(root - l->values) - maker->first];
}

static bool is_host(const xir_op *op) { return op->target == op->net->host || xir_target_kind_of(op->target) == XIR_TARGET_HOST; }

/* Whether all who use an op's outputs stand in the order: sub ops of others do not. */
static bool has_plain_users(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op->outputs[i].uses; u; u = u->next) {
            if (!(u->user->flags & OP_PLACED)) return false;
        }
    }
    return true;
}

/* Whether the op's inputs are there and made by ops that have been met, and all its types are understood. */
static bool is_plain_op(const plan *l, const xir_op *op, row_kind kind) {
    if (!is_host(op) || op->n_inputs == 0 || op->n_outputs == 0 || !op->inputs[0].value) return false;
    if (kind != ROW_EACH && kind != ROW_JOIN && kind != ROW_GAIN && value_is_params(op->inputs[0].value)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const value_more *more = op->outputs[i].more;
        if (!type_is_plain(op->outputs[i].type) || (more && more->mtype)) return false;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op->inputs[i].value;
        if (!v) continue;
        if (!value_is_params(v) && (!v->producer || !(v->producer->flags & OP_PLACED) || !l->nodes[v->producer->slot].met)) return false;
        if (!type_is_plain(v->type)) return false;
    }
    return has_plain_users(op);
}

/* The order of a Transpose. */
static bool order_of_op(const xir_op *op, axis_order *out) {
    const xir_transpose_attrs *a = op->attrs;
    size_t rank = xir_type_rank(op->inputs[0].value->type);
    uint32_t seen = 0;
    *out = ORDER_SAME;
    if (a->dims.size != rank || xir_type_rank(op->outputs->type) != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        int64_t axis = a->dims.data[i] < 0 ? a->dims.data[i] + (int64_t)rank : a->dims.data[i];
        if (axis < 0 || axis >= (int64_t)rank || seen >> axis & 1) return false;
        seen |= 1u << axis;
        *out = order_put(*out, i, (size_t)axis);
    }
    return true;
}

static bool is_result(const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (u->user->cls->traits & XIR_TRAIT_SINK) return true;
    }
    return false;
}

/* A result that is its root over again, with a name of its own where the root has one that must stay, is no view. */
static bool must_stay(const xir_op *op, const value_node *root, const plan *l) {
    const xir_value *value = value_at(l, root);
    return is_result(op->outputs) && (value->producer->cls->traits & XIR_TRAIT_SOURCE || is_result(value));
}

static void make_view(plan *l, xir_op *op, uint32_t index) {
    axis_order own, before;
    const value_node *root = root_of(l, op->inputs[0].value, &before);
    value_node *v = &l->values[index];
    if (!root || !order_of_op(op, &own)) return;
    axis_order view = order_then(before, own);
    if (own == ORDER_SAME && !letters_agree(op->inputs[0].value->type, op->outputs->type)) return;   // it gives letters, that is all
    if (view == ORDER_SAME && (must_stay(op, root, l) || !letters_agree(value_at(l, root)->type, op->outputs->type))) return;
    v->root = (uint32_t)(root - l->values);
    v->view = view;
    v->next_view = l->values[v->root].next_view;
    l->values[v->root].next_view = index;
    l->nodes[op->slot].is_view = true;
}

static bool take_memory(plan *l) {
    size_t n_values = 0, n_uses = 0;
    l->n_slots = l->net->n_slots;
    for (const xir_op *op = l->net->first; op; op = op->next) {
        n_values += op->n_outputs;
        n_uses += op->n_inputs;
    }
    l->n_values = n_values;
    l->n_uses = n_uses;
    l->n_constants = l->net->n_params;
    if (n_values >= UINT32_MAX / 2 || n_uses >= UINT32_MAX / 2 || l->n_slots >= ORDER_MERGED) return false;
    l->nodes     = mem_new(l->alloc, (l->n_slots + 1) * sizeof *l->nodes);
    l->values    = mem_new(l->alloc, (n_values + 1) * sizeof *l->values);
    l->uses      = mem_new(l->alloc, (n_uses + 1) * sizeof *l->uses);
    l->types     = mem_new(l->alloc, (n_uses + 1) * sizeof *l->types);
    l->steps     = mem_new(l->alloc, (l->n_slots + 1) * sizeof *l->steps);
    l->constants = mem_new(l->alloc, (l->n_constants + 1) * sizeof *l->constants);
    if (!l->nodes || !l->values || !l->uses || !l->types || !l->steps || !l->constants) return false;
    memset(l->nodes, 0, l->n_slots * sizeof *l->nodes);
    memset(l->constants, 0, l->n_constants * sizeof *l->constants);
    return mem_reserve(l->alloc, (void **)&l->needs, &l->need_room, n_uses / 2 + 64, sizeof *l->needs);
}

void plan_free(plan *l) {
    mem_free(l->alloc, l->rows, l->row_room * sizeof *l->rows);
    mem_free(l->alloc, l->nodes, (l->n_slots + 1) * sizeof *l->nodes);
    mem_free(l->alloc, l->values, (l->n_values + 1) * sizeof *l->values);
    mem_free(l->alloc, l->uses, (l->n_uses + 1) * sizeof *l->uses);
    mem_free(l->alloc, (void *)l->types, (l->n_uses + 1) * sizeof *l->types);
    mem_free(l->alloc, l->steps, (l->n_slots + 1) * sizeof *l->steps);
    mem_free(l->alloc, l->constants, (l->n_constants + 1) * sizeof *l->constants);
    mem_free(l->alloc, l->needs, l->need_room * sizeof *l->needs);
    mem_free(l->alloc, l->reordered, l->reordered_room * sizeof *l->reordered);
}

/* Nodes and values in execution order. */
static void list_ops(plan *l) {
    uint32_t index = 0, port = 0;
    const xir_class *transpose = xir_class_of(l->net->ctx, xir_transpose_class());
    for (xir_op *op = l->net->first; op; op = op->next) {
        node *n = &l->nodes[op->slot];
        *n = (node){ .op = op, .first = index, .port = port, .in = ORDER_SAME, .out = ORDER_SAME };
        for (uint32_t i = 0; i < op->n_inputs; i++) l->types[port++] = op->inputs[i].value ? op->inputs[i].value->type : NULL;
        for (uint32_t i = 0; i < op->n_outputs; i++, index++) {
            l->values[index] = (value_node){ .root = index, .view = ORDER_SAME, .next_view = UINT32_MAX, .slot = op->slot,
                                             .stored = ORDER_SAME };
        }
        const known_row *row = row_of(l, op->cls);
        row_kind kind = row ? row->row->kind : ROW_NONE;
        bool plain = (row || op->cls == transpose) && is_plain_op(l, op, kind);
        if (op->cls == transpose && plain) make_view(l, op, n->first);
        n->anchor = plain && kind == ROW_ANCHOR;
        n->letters = kind == ROW_ANCHOR || kind == ROW_FIXED || op->cls->opaque;
        if (plain && row && kind != ROW_ANCHOR && kind != ROW_FIXED) n->row = row;
        n->met = true;
    }
}

static void list_uses(plan *l) {
    axis_order view;
    uint32_t from = 0;
    for (const xir_op *op = l->net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_inputs && !l->nodes[op->slot].is_view; i++) {
            value_node *root = root_of(l, op->inputs[i].value, &view);
            if (root) root->n_uses++;
        }
    }
    for (size_t i = 0; i < l->n_values; i++) {
        l->values[i].first_use = from;
        from += l->values[i].n_uses;
        l->values[i].n_uses = 0;
    }
    for (const xir_op *op = l->net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_inputs && !l->nodes[op->slot].is_view; i++) {
            value_node *root = root_of(l, op->inputs[i].value, &view);
            if (root) l->uses[root->first_use + root->n_uses++] = (root_use){ .slot = op->slot, .port = i, .view = view };
        }
    }
}

/* ---- costs --------------------------------------------------------------------------------------------------------- */

root_need *need_of(const plan *l, const value_node *root, axis_order as) {
    for (uint32_t i = root->needs; i; i = l->needs[i].next) {
        if (l->needs[i].as == as) return &l->needs[i];
    }
    return NULL;
}

static void need_more(plan *l, value_node *root, axis_order as, bool anchor) {
    root_need *n = need_of(l, root, as);
    if (!n) {
        if (!mem_reserve(l->alloc, (void **)&l->needs, &l->need_room, l->n_needs + 2, sizeof *l->needs)) {
            l->failed = true;
            return;
        }
        n = &l->needs[++l->n_needs];
        *n = (root_need){ .as = as, .next = root->needs };
        root->needs = (uint32_t)l->n_needs;
    }
    n->count++;
    n->anchors += anchor;
}

static void need_less(plan *l, const value_node *root, axis_order as) {
    root_need *n = need_of(l, root, as);
    if (n && n->count) n->count--;
}

static int64_t cost_of(const plan *l, const value_node *root) {
    int64_t cost = 0;
    for (uint32_t i = root->needs; i; i = l->needs[i].next) {
        const root_need *n = &l->needs[i];
        if (!n->count || n->as == root->stored) continue;
        if (order_is_merged(n->as | root->stored)) cost += COST_NEVER;
        else cost += n->anchors || l->nodes[root->slot].anchor ? COST_BESIDE_ANCHOR : COST;
    }
    return cost;
}

bool plan_make(plan *l) {
    if (!take_memory(l) || !rows_make(l)) return false;
    list_ops(l);
    list_uses(l);
    for (size_t i = 0; i < l->n_values; i++) {
        value_node *root = &l->values[i];
        for (uint32_t k = 0; k < root->n_uses; k++) {
            const root_use *use = &l->uses[root->first_use + k];
            need_more(l, root, use->view, l->nodes[use->slot].anchor);
        }
        l->cost += cost_of(l, root);
    }
    return !l->failed;
}

/* ---- changing an op -------------------------------------------------------------------------------------------------- */

static void set_orders(plan *l, node *n, axis_order in, axis_order out) {
    xir_op *op = n->op;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        axis_order view;
        value_node *root = root_of(l, op->inputs[i].value, &view);
        if (!root) continue;
        axis_order was = order_then(view, op_needs(l, n, i, n->in, n->out)), now = order_then(view, op_needs(l, n, i, in, out));
        if (was == now) continue;
        l->cost -= cost_of(l, root);
        need_less(l, root, was);
        need_more(l, root, now, false);
        l->cost += cost_of(l, root);
    }
    for (uint32_t i = 0; i < op->n_outputs && n->out != out; i++) {
        value_node *root = &l->values[n->first + i];
        l->cost -= cost_of(l, root);
        root->stored = out;
        l->cost += cost_of(l, root);
    }
    n->in = in;
    n->out = out;
}

/* ---- regions ---------------------------------------------------------------------------------------------------------- */

static bool add_step(plan *l, node *n, axis_order in, axis_order out) {
    if (n->epoch == l->epoch || n->visits == MOST_VISITS || (n->in == in && n->out == out)) return false;
    n->epoch = l->epoch;
    n->visits++;
    l->steps[l->n_steps++] = (region_step){ n->op->slot, n->in, n->out };
    set_orders(l, n, in, out);
    return true;
}

/* Makers of what was as needed and is not any more. */
static void follow_inputs(plan *l, const node *n, const region_step *s) {
    for (uint32_t i = 0; i < n->op->n_inputs; i++) {
        axis_order view, in, out;
        const value_node *root = root_of(l, n->op->inputs[i].value, &view);
        if (!root) continue;
        axis_order was = order_then(view, op_needs(l, n, i, s->in, s->out)), now = order_then(view, op_needs(l, n, i, n->in, n->out));
        node *maker = &l->nodes[root->slot];
        if (was == now || was != root->stored || maker->epoch == l->epoch) continue;
        if (orders_by_output(l, maker, now, &in, &out)) add_step(l, maker, in, out);
    }
}

/* Users that had what they needed and have not any more. */
static void follow_outputs(plan *l, const node *n, const region_step *s) {
    for (uint32_t i = 0; i < n->op->n_outputs && n->out != s->out; i++) {
        const value_node *root = &l->values[n->first + i];
        for (uint32_t k = 0; k < root->n_uses; k++) {
            const root_use *use = &l->uses[root->first_use + k];
            node *user = &l->nodes[use->slot];
            axis_order in, out;
            if (!user->row || user->epoch == l->epoch) continue;
            axis_order needs = order_then(use->view, op_needs(l, user, use->port, user->in, user->out));
            if (needs != s->out || needs == root->stored) continue;
            if (order_is_merged(root->stored) && use->view != ORDER_SAME) continue;
            axis_order as = order_then(order_inverse(use->view), root->stored);
            if (orders_by_input(l, user, use->port, as, &in, &out)) add_step(l, user, in, out);
        }
    }
}

/* Lets an op work in other orders, and what follows from it. Whether that is cheaper; if not, nothing has changed. */
static bool try_region(plan *l, node *n, axis_order in, axis_order out) {
    int64_t before = l->cost;
    l->epoch++;
    l->n_steps = 0;
    if (!add_step(l, n, in, out)) return false;
    for (size_t i = 0; i < l->n_steps; i++) {
        const region_step s = l->steps[i];
        const node *member = &l->nodes[s.slot];
        follow_inputs(l, member, &s);
        follow_outputs(l, member, &s);
    }
    for (size_t i = l->n_steps; i-- > 0;) {
        const region_step s = l->steps[i];
        node *member = &l->nodes[s.slot];
        axis_order now_in = member->in, now_out = member->out;
        int64_t with = l->cost;
        set_orders(l, member, s.in, s.out);
        if (l->cost >= with) set_orders(l, member, now_in, now_out);
    }
    if (l->cost < before) return true;
    for (size_t i = l->n_steps; i-- > 0;) set_orders(l, &l->nodes[l->steps[i].slot], l->steps[i].in, l->steps[i].out);
    return false;
}

/* Regions from the Transposes of a root: its user works in the order that is stored, or its maker in the order that is needed. */
static bool try_root(plan *l, const value_node *root) {
    bool found = false;
    for (uint32_t k = 0; k < root->n_uses && !l->failed; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        node *user = &l->nodes[use->slot], *maker = &l->nodes[root->slot];
        axis_order in, out, needs = order_then(use->view, op_needs(l, user, use->port, user->in, user->out));
        if (needs == root->stored || order_is_merged(needs | root->stored)) continue;
        axis_order as = order_then(order_inverse(use->view), root->stored);
        if (user->row && orders_by_input(l, user, use->port, as, &in, &out) && try_region(l, user, in, out)) {
            found = true;
            continue;
        }
        if (maker->row && orders_by_output(l, maker, needs, &in, &out)) found |= try_region(l, maker, in, out);
    }
    return found;
}

bool plan_search(plan *l) {
    bool found = true, any = false;
    for (int round = 0; round < MOST_ROUNDS && found && !l->failed; round++) {
        found = false;
        for (size_t i = 0; i < l->n_slots; i++) l->nodes[i].visits = 0;
        for (const xir_op *op = l->net->first; op && l->cost > 0; op = op->next) {
            for (uint32_t i = 0; i < op->n_outputs; i++) {
                const value_node *root = &l->values[l->nodes[op->slot].first + i];
                if (root->n_uses && cost_of(l, root)) found |= try_root(l, root);
            }
        }
        any |= found;
    }
    return any;
}

/* ---- borders ----------------------------------------------------------------------------------------------------------- */

static void open_argument(plan *l, value_node *root, size_t rank) {
    axis_order last = order_channels_last(rank);
    for (uint32_t k = 0; k < root->n_uses; k++) {
        if (l->nodes[l->uses[root->first_use + k].slot].op->cls->traits & XIR_TRAIT_SINK) return;
    }
    for (uint32_t i = root->needs; i; i = l->needs[i].next) {
        if (l->needs[i].count && l->needs[i].as != last) return;
    }
    l->cost -= cost_of(l, root);
    root->stored = last;
}

static void open_result(plan *l, const xir_op *op, uint32_t port) {
    axis_order view;
    value_node *root = root_of(l, op->inputs[port].value, &view);
    size_t rank = root ? xir_type_rank(op->inputs[port].value->type) : 0;
    if (!root || rank < 3 || rank > 5 || order_then(view, order_channels_last(rank)) != root->stored) return;
    for (uint32_t k = 0; k < root->n_uses; k++) {
        root_use *use = &l->uses[root->first_use + k];
        if (use->slot == op->slot && use->port == port) use->follows = true;
    }
    l->cost -= cost_of(l, root);
    need_less(l, root, view);
    need_more(l, root, root->stored, false);
    l->cost += cost_of(l, root);
}

void plan_open_borders(plan *l) {
    for (const xir_op *op = l->net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && op->cls->traits & XIR_TRAIT_SOURCE; i++) {
            value_node *root = &l->values[l->nodes[op->slot].first + i];
            size_t rank = xir_type_rank(op->outputs[i].type);
            if (root->n_uses && type_is_plain(op->outputs[i].type) && rank >= 3 && rank <= 5) open_argument(l, root, rank);
        }
        for (uint32_t i = 0; i < op->n_inputs && op->cls->traits & XIR_TRAIT_SINK; i++) open_result(l, op, i);
    }
}
