/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Replacing a match: callbacks put new values in its place, one value for the root's, or several. A match that is not
 * convex, or whose results are used before the new op runs, needs care: the users that run too early, and all that
 * depends on them up to the new op, are found first. If the new op is one of those, it would depend on itself: nothing
 * is changed. */
#include <stdlib.h>
#include "pattern/pattern.h"
#include "provenance.h"
#include "support/upkeep.h"

xir_at xir_match_at(const xir_match *m) {
    xir_op *root = m->root;
    return (xir_at){ .net = root->net, .target = op_target(root), .name = name_text(op_label(root)), .before = root };
}

/* Returns true if the match reads the value without making it: its row is not an op. */
static bool is_leaf(const xir_match *m, const xir_value *v) {
    for (uint64_t rows = m->pattern->leaf_rows; rows; rows &= rows - 1) {
        if (m->values[__builtin_ctzll(rows)] == v) return true;
    }
    return false;
}

/* Leaves the match as it is. */
static void erase_maker(const xir_match *m, const xir_value *now) {
    xir_op *maker = value_op(now);
    if (maker && !(maker->flags & OP_ERASED) && op_is_unused(maker) && !xir_match_has(m, maker)) xir_op_erase(maker);
}

static xir_verdict refuse_type(const xir_value *old, const xir_value *now) {
    value_net(old)->refused = now->type;
    value_net(old)->replaced = old;
    return XIR_REWRITE_LEFT;
}

/* False without memory. */
static bool take_name(const xir_match *m, xir_value *now, const xir_value *old) {
    if (!value_op(now) || is_leaf(m, now) || value_take_name(now, old)) return true;
    net_no_memory(value_net(now));
    return false;
}

static bool makes_one(const xir_op *op, const xir_replacement *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (value_op(list[i].now) == op) return true;
    }
    return false;
}

/* Erases what nothing uses any more, from the root up. */
static xir_verdict erase_unused(const xir_match *m, const xir_replacement *list, size_t n) {
    for (uint64_t rows = m->pattern->op_rows; rows;) {
        int i = 63 - __builtin_clzll(rows);
        xir_op *op = m->ops[i];
        rows &= ~((uint64_t)1 << i);
        if (!op || op->flags & OP_ERASED || !op_is_unused(op) || makes_one(op, list, n)) continue;
        if (xir_op_erase(op) != XIR_OK) return XIR_REWRITE_FAILED;
    }
    return XIR_REWRITE_DONE;
}

xir_verdict xir_match_replace(const xir_match *m, xir_value *now) {
    xir_value *old = m->values[m->pattern->root];
    if (!now || !old) return XIR_REWRITE_FAILED;
    if (!is_same_type(now->type, old->type)) {
        const xir_verdict left = refuse_type(old, now);
        erase_maker(m, now);
        return left;
    }
    if (!take_name(m, now, old) || xir_value_replace(old, now) != XIR_OK) return XIR_REWRITE_FAILED;
    return erase_unused(m, &(xir_replacement){ old, now }, 1);
}

/* ---- several outputs -------------------------------------------------------------------------------------------- */

typedef struct replacing {
    const xir_match       *m;
    const xir_replacement *list;
    size_t                 n;
    xir_network           *net;
    xir_op                *last;     /* the last op of those that make new values; NULL: none is made    */
    xir_op               **late;     /* ops before it that depend on what is replaced: they must move    */
    size_t                 n_late, room;
} replacing;

static bool is_gone(const xir_value *v) {
    return value_op(v) ? value_op(v)->flags & OP_ERASED : value_is_spent(v);
}

/* Adds the old value to those that are seen. */
static xir_status check_old(const replacing *r, size_t i, pointer_table *seen) {
    const xir_value *old = r->list[i].old;
    if (!old) return net_null(r->net, "value to replace");
    if (!value_op(old) || is_gone(old) || !xir_match_has(r->m, value_op(old)))
        return net_fail(r->net, XIR_E_INVALID, "value %zu to replace is not made by an op of the match", i);
    const size_t before = seen->n;
    if (!pointer_table_add(seen, old, 0)) return net_no_memory(r->net);
    return seen->n > before ? XIR_OK
         : net_fail(r->net, XIR_E_INVALID, "value %zu to replace is listed twice", i);
}

static xir_status check_now(const replacing *r, size_t i, const pointer_table *seen) {
    const xir_value *now = r->list[i].now;
    if (!now) return net_null(r->net, "replacement");
    if (value_net(now) != r->net || is_gone(now))
        return net_fail(r->net, XIR_E_INVALID, "replacement %zu is of another network or of an erased op", i);
    return !pointer_table_find(seen, now) ? XIR_OK
         : net_fail(r->net, XIR_E_INVALID, "replacement %zu is itself replaced", i);
}

static xir_status check_list(const replacing *r) {
    if (!r->n || !r->list) return net_null(r->net, "list of replacements");
    pointer_table seen;
    pointer_table_init(&seen, &r->net->alloc);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < r->n && !status; i++) status = check_old(r, i, &seen);
    for (size_t i = 0; i < r->n && !status; i++) status = check_now(r, i, &seen);
    pointer_table_free(&seen);
    return status;
}

/* A use that moves: by a placed op, or inside one, that the match does not have. Uses by ops that are not placed move
 * too, but do not run. */
static const xir_op *outside_user(const replacing *r, const xir_use *u) {
    const xir_op *op = placed_user(u);
    return op && !xir_match_has(r->m, op) ? op : NULL;
}

/* Notes that an op is late. False without memory. */
static bool add_late(replacing *r, const xir_op *user) {
    xir_op *op = (xir_op *)(uintptr_t)user;
    if (op->position > r->last->position || op->flags & OP_REACHED) return true;
    if (!mem_reserve(&r->net->alloc, (void **)&r->late, &r->room, r->n_late + 1, sizeof *r->late)) return false;
    op->flags |= OP_REACHED;
    r->late[r->n_late++] = op;
    return true;
}

static bool find_late(replacing *r) {
    for (size_t i = 0; i < r->n; i++) {
        const xir_op *op = value_op(r->list[i].now);
        const bool counts = op && op->flags & OP_PLACED;
        if (counts && (!r->last || op->position > r->last->position)) r->last = value_op(r->list[i].now);
    }
    bool ok = true;
    for (size_t i = 0; i < r->n && ok && r->last; i++) {
        for (const xir_use *u = r->list[i].old->uses; u && ok; u = u->next) {
            const xir_op *user = outside_user(r, u);
            if (user) ok = add_late(r, user);
        }
    }
    for (size_t i = 0; i < r->n_late && ok; i++) {
        const xir_op *op = r->late[i];
        for (uint32_t k = 0; k < op->n_outputs && ok; k++) {
            for (const xir_use *u = op_outputs(op)[k].uses; u && ok; u = u->next) {
                const xir_op *user = placed_user(u);
                if (user) ok = add_late(r, user);
            }
        }
    }
    return ok;
}

/* The op through which a new value would depend on itself. */
static const xir_op *find_cycle(const replacing *r) {
    for (size_t i = 0; i < r->n; i++) {
        const xir_op *op = value_op(r->list[i].now);
        if (op && op->flags & OP_REACHED) return r->late[0];
    }
    return NULL;
}

static int by_position(const void *a, const void *b) {
    uint32_t x = (*(xir_op *const *)a)->position, y = (*(xir_op *const *)b)->position;
    return (x > y) - (x < y);
}

/* Moves the late ops after the new ones, in their order. */
static void move_late(const replacing *r) {
    if (!r->n_late) return;
    xir_op *before = r->last->next;
    if (r->net->rewriter && r->last->position > r->m->root->position) rewriter_moved(r->net->rewriter);
    if (r->n_late > 1) qsort(r->late, r->n_late, sizeof *r->late, by_position);
    for (size_t i = 0; i < r->n_late; i++) xir_op_move(r->late[i], before);
}

static void forget_late(replacing *r) {
    for (size_t i = 0; i < r->n_late; i++) r->late[i]->flags &= ~(uint32_t)OP_REACHED;
    mem_free(&r->net->alloc, (void *)r->late, r->room * sizeof *r->late);
}

static bool is_inside(const replacing *r, const xir_op *user) {
    while (user && user->flags & OP_CHILD) user = xir_op_parent(user);
    return user && xir_match_has(r->m, user);
}

/* Everything that may fail comes before the first use moves. */
static xir_verdict move_uses(const replacing *r) {
    for (size_t i = 0; i < r->n; i++) {
        xir_value *now = r->list[i].now;
        if (value_is_params(now) && now->id < 0 && value_number(now) != XIR_OK) return XIR_REWRITE_FAILED;
        if (!take_name(r->m, now, r->list[i].old)) return XIR_REWRITE_FAILED;
    }
    for (size_t i = 0; i < r->n; i++) {
        provenance_replaced(r->net, r->list[i].old, r->list[i].now);
        for (xir_use *u = r->list[i].old->uses, *next; u; u = next) {
            xir_op *user = u->user;
            next = u->next;
            if (is_inside(r, user)) continue;
            use_unlink(u);
            use_link(u, user, r->list[i].now);
        }
        value_met(r->list[i].now);
        if (r->net->rewriter) rewriter_replaced(r->net->rewriter, r->list[i].now);
    }
    move_late(r);
    r->net->epoch++;
    return erase_unused(r->m, r->list, r->n);
}

static xir_verdict replace(replacing *r) {
    for (size_t i = 0; i < r->n; i++) {
        const xir_replacement *it = &r->list[i];
        if (!is_same_type(it->now->type, it->old->type)) return refuse_type(it->old, it->now);
    }
    if (!find_late(r)) {
        net_no_memory(r->net);
        return XIR_REWRITE_FAILED;
    }
    const xir_op *cycle = find_cycle(r);
    if (cycle && r->net->rewriter) rewriter_cycle(r->net->rewriter, cycle);
    return cycle ? XIR_REWRITE_LEFT : move_uses(r);
}

xir_verdict xir_match_replace_outputs(const xir_match *m, const xir_replacement *list, size_t n) {
    if (!m || !m->root) return XIR_REWRITE_FAILED;
    replacing r = { .m = m, .list = list, .n = n, .net = m->root->net };
    if (check_list(&r) != XIR_OK) return XIR_REWRITE_FAILED;
    const xir_verdict verdict = replace(&r);
    forget_late(&r);
    for (size_t i = 0; i < n && verdict == XIR_REWRITE_LEFT; i++) erase_maker(m, list[i].now);
    return verdict;
}
