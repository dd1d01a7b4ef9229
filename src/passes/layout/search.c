/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The cost of Transposes, and the search for cheaper orders.
 *
 * A root costs one Transpose for each order that it is needed in but not stored in, or in which it has other letters
 * than an op needs that finds its axes by them. A Transpose next to a convolution, pool or resize costs a little more:
 * so among plans with equally many Transposes the orders of these ops spread, and the Transpose ends up at an input or
 * result of the network, or next to an op that can't follow.
 *
 * The search starts at a Transpose. It lets the ops at one end work in the order of the other end. Where that breaks
 * the order that a neighbour needs, the neighbour joins: the region grows until every neighbour costs a Transpose
 * already or can't follow. Then ops leave the region again, the last one first, where that is cheaper. If the result
 * is cheaper than before, it stays; otherwise everything is restored. The cost falls with every accepted region, so
 * the search ends, and no region would make the result cheaper still. Each op joins only a few regions per round,
 * and the rounds are few: the time is linear. */
#include "layout/layout.h"

enum { COST = 16, COST_AT_ANCHOR = 17 };
#define COST_NEVER ((int64_t)1 << 48)   /* a need that no Transpose meets; above any sum of other costs */
enum { MOST_VISITS = 6, MOST_ROUNDS = 8, MOST_SHARED = 8 };   /* shared Transposes of a root that are tried */
/* A region that has become this much more expensive while growing is given up. */
enum { COST_GIVEN_UP = 4096 * COST };

/* ---- costs ------------------------------------------------------------------------------------------------------ */

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
        if (!n->count || (n->as == root->stored && !n->letters)) continue;
        if (order_is_merged(n->as | root->stored)) cost += COST_NEVER;
        else cost += n->anchors || l->nodes[root->producer].anchor ? COST_AT_ANCHOR : COST;
    }
    return cost;
}

/* ---- changing an op --------------------------------------------------------------------------------------------- */

/* The order of its root that input i of an op needs if the op works in this order. */
static axis_order port_needs(const plan *l, const node *n, uint32_t i, axis_order in) {
    return order_then(l->ports[n->port + i].view, op_needs_order(l, n, i, in));
}

axis_order use_needs(const plan *l, const value_node *root, const root_use *use) {
    const node *user = &l->nodes[use->user];
    return use->follows ? root->stored : port_needs(l, user, use->port, user->in);
}

/* A Transpose may give letters that its order does not. An op that finds axes by them needs a Transpose also where the
 * root is stored in the order that it needs. Such an op does not change its order. */
static void note_letters(plan *l, const value_node *root, const root_use *use) {
    const node *user = &l->nodes[use->user];
    const port *p = &l->ports[user->port + use->port];
    if (!user->letters || user->row || p->view == ORDER_SAME || p->rank < 3) return;
    root_need *n = need_of(l, root, use_needs(l, root, use));
    if (n && !letters_agree(l, value_at(l, root)->type, p->view, p->type)) n->letters = l->letters = true;
}

bool plan_count(plan *l) {
    for (size_t i = 0; i < l->n_values; i++) {
        value_node *root = &l->values[i];
        for (uint32_t k = 0; k < root->n_uses; k++) {
            const root_use *use = &l->uses[root->first_use + k];
            const node *user = &l->nodes[use->user];
            need_more(l, root, use_needs(l, root, use), user->anchor);
            note_letters(l, root, use);
        }
        l->cost += cost_of(l, root);
    }
    return !l->failed;
}

static void set_orders(plan *l, node *n, axis_order in, axis_order out) {
    for (uint32_t i = 0; i < n->n_in && n->in != in; i++) {
        uint32_t from = l->ports[n->port + i].root;
        if (from == NONE) continue;
        axis_order was = port_needs(l, n, i, n->in), now = port_needs(l, n, i, in);
        if (was == now) continue;
        value_node *root = &l->values[from];
        l->cost -= cost_of(l, root);
        need_less(l, root, was);
        need_more(l, root, now, false);
        l->cost += cost_of(l, root);
    }
    for (uint32_t i = 0; i < n->n_out && n->out != out; i++) {
        value_node *root = &l->values[n->first + i];
        l->cost -= cost_of(l, root);
        root->stored = out;
        l->cost += cost_of(l, root);
    }
    n->in = in;
    n->out = out;
}

/* ---- regions ---------------------------------------------------------------------------------------------------- */

static bool add_step(plan *l, node *n, axis_order in, axis_order out) {
    if (n->epoch == l->epoch || n->visits == MOST_VISITS || (n->in == in && n->out == out)) return false;
    n->epoch = l->epoch;
    n->visits++;
    l->steps[l->n_steps++] = (region_step){ (uint32_t)(n - l->nodes), n->in, n->out };
    set_orders(l, n, in, out);
    return true;
}

/* Adds the producers of values whose needed order was the stored one and is not any more. */
static void follow_inputs(plan *l, const node *n, const region_step *s) {
    for (uint32_t i = 0; i < n->n_in && n->in != s->in; i++) {
        uint32_t from = l->ports[n->port + i].root;
        if (from == NONE) continue;
        const value_node *root = &l->values[from];
        node *producer = &l->nodes[root->producer];
        if (!producer->row || producer->epoch == l->epoch) continue;
        axis_order was = port_needs(l, n, i, s->in), now = port_needs(l, n, i, n->in), in, out;
        if (was == now || was != root->stored) continue;
        if (orders_by_output(l, producer, now, &in, &out)) add_step(l, producer, in, out);
    }
}

/* The order in which a user takes a root that it takes as stored. */
static axis_order order_as_stored(const value_node *root, const port *p) {
    return order_then(order_inverse(p->view), root->stored);
}

/* Adds the users that had the order they need and do not have it any more. */
static void follow_outputs(plan *l, const node *n, const region_step *s) {
    for (uint32_t i = 0; i < n->n_out && n->out != s->out; i++) {
        const value_node *root = &l->values[n->first + i];
        for (uint32_t k = 0; k < root->n_uses; k++) {
            const root_use *use = &l->uses[root->first_use + k];
            node *user = &l->nodes[use->user];
            const port *p = &l->ports[user->port + use->port];
            axis_order in, out;
            if (!user->row || user->epoch == l->epoch) continue;
            axis_order needs = port_needs(l, user, use->port, user->in);
            if (needs != s->out || needs == root->stored) continue;
            if (order_is_merged(root->stored) && p->view != ORDER_SAME) continue;
            if (orders_by_input(l, user, use->port, order_as_stored(root, p), &in, &out)) add_step(l, user, in, out);
        }
    }
}

static bool is_given_up(const plan *l, int64_t before) { return l->cost % COST_NEVER >= before + COST_GIVEN_UP; }

/* Adds to the region all ops whose orders its steps break. Returns true if the result is cheaper; otherwise the orders
 * are those of before. */
static bool grow_region(plan *l, int64_t before) {
    for (size_t i = 0; i < l->n_steps && !is_given_up(l, before); i++) {
        const region_step s = l->steps[i];
        follow_inputs(l, &l->nodes[s.node], &s);
        follow_outputs(l, &l->nodes[s.node], &s);
    }
    for (size_t i = l->n_steps; i-- > 0 && !is_given_up(l, before);) {
        const region_step s = l->steps[i];
        node *member = &l->nodes[s.node];
        axis_order now_in = member->in, now_out = member->out;
        int64_t with = l->cost;
        set_orders(l, member, s.in, s.out);
        if (l->cost >= with) set_orders(l, member, now_in, now_out);
    }
    if (l->cost < before) return true;
    for (size_t i = l->n_steps; i-- > 0;) set_orders(l, &l->nodes[l->steps[i].node], l->steps[i].in, l->steps[i].out);
    return false;
}

static void begin_region(plan *l) {
    l->epoch++;
    l->n_steps = 0;
}

/* Lets an op work in other orders. */
static bool try_op(plan *l, node *n, axis_order in, axis_order out) {
    const int64_t before = l->cost;
    begin_region(l);
    return add_step(l, n, in, out) && grow_region(l, before);
}

/* Lets the user work in the order in which the root is stored, if it can. */
static bool add_user(plan *l, const value_node *root, const root_use *use) {
    node *user = &l->nodes[use->user];
    axis_order in, out;
    return user->row && orders_by_input(l, user, use->port, order_as_stored(root, &l->ports[user->port + use->port]),
                                        &in, &out) && add_step(l, user, in, out);
}

/* Tries regions from the Transposes of a root: all users that share one work in the stored order; one of them does; or
 * the producer works in the needed one. */
static bool try_root(plan *l, const value_node *root) {
    bool found = false;
    int tried = 0;
    for (uint32_t i = root->needs, next; i && tried < MOST_SHARED && !l->failed; i = next) {
        const root_need need = l->needs[i];
        const int64_t before = l->cost;
        next = need.next;
        if (need.count < 2 || need.as == root->stored || order_is_merged(need.as | root->stored)) continue;
        tried++;
        begin_region(l);
        for (uint32_t k = 0; k < root->n_uses; k++)
            if (use_needs(l, root, &l->uses[root->first_use + k]) == need.as)
                (void)add_user(l, root, &l->uses[root->first_use + k]);
        found |= l->n_steps && grow_region(l, before);
    }
    for (uint32_t k = 0; k < root->n_uses && !l->failed; k++) {
        const root_use *use = &l->uses[root->first_use + k];
        const int64_t before = l->cost;
        node *user = &l->nodes[use->user], *producer = &l->nodes[root->producer];
        axis_order in, out, needs = port_needs(l, user, use->port, user->in);
        if (needs == root->stored || order_is_merged(needs | root->stored)) continue;
        begin_region(l);
        if (add_user(l, root, use) && grow_region(l, before)) found = true;
        else if (producer->row && orders_by_output(l, producer, needs, &in, &out))
            found |= try_op(l, producer, in, out);
    }
    return found;
}

bool plan_search(plan *l) {
    bool found = true, any = false;
    for (int round = 0; round < MOST_ROUNDS && found && !l->failed; round++) {
        found = false;
        for (size_t i = 0; i < l->n_nodes && round; i++) l->nodes[i].visits = 0;
        for (size_t i = 0; i < l->n_values && l->cost > 0; i++) {
            const value_node *root = &l->values[i];
            if (root->n_uses && cost_of(l, root)) found |= try_root(l, root);
        }
        any |= found;
    }
    return any;
}

/* ---- inputs and results of the network -------------------------------------------------------------------------- */

static void open_argument(plan *l, value_node *root, size_t rank) {
    axis_order last = order_channels_last(rank);
    for (uint32_t k = 0; k < root->n_uses; k++) {
        if (is_sink(l->nodes[l->uses[root->first_use + k].user].op)) return;
    }
    for (uint32_t i = root->needs; i; i = l->needs[i].next) {
        if (l->needs[i].count && l->needs[i].as != last) return;
    }
    l->cost -= cost_of(l, root);
    root->stored = last;
}

static void open_result(plan *l, const node *n, uint32_t i) {
    const port *p = &l->ports[n->port + i];
    if (p->root == NONE || p->rank < 3 || p->rank > 5) return;
    value_node *root = &l->values[p->root];
    if (order_then(p->view, order_channels_last(p->rank)) != root->stored) return;
    for (uint32_t k = 0; k < root->n_uses; k++) {
        root_use *use = &l->uses[root->first_use + k];
        if (use->user == (uint32_t)(n - l->nodes) && use->port == i) use->follows = true;
    }
    l->cost -= cost_of(l, root);
    need_less(l, root, p->view);
    need_more(l, root, root->stored, false);
    l->cost += cost_of(l, root);
}

void plan_open_borders(plan *l) {
    for (size_t i = 0; i < l->n_nodes; i++) {
        const node *n = &l->nodes[i];
        for (uint32_t k = 0; k < n->n_out && n->op->cls->traits & XIR_TRAIT_SOURCE; k++) {
            value_node *root = &l->values[n->first + k];
            const type_facts *f = facts_of(l, op_outputs(n->op)[k].type);
            if (root->n_uses && f->plain && f->rank >= 3 && f->rank <= 5) open_argument(l, root, f->rank);
        }
        for (uint32_t k = 0; k < n->n_in && is_sink(n->op); k++) open_result(l, n, k);
    }
}
