/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convex groups. Each op gets a level, so that along every data edge
 *
 *     level(user) >= level(maker)        if both are of one kind or both of none
 *     level(user) >= level(maker) + 1    otherwise
 *
 * and the groups are the ops of one kind and one level that are connected through data. A path that leaves a group
 * rises in level: the next op is of another kind, or of the same kind at a higher level. So it never comes back,
 * neither to the group nor to another one before it: groups are convex and form no cycle.
 *
 * First every level is the lowest possible. Then, from the last group to the first, a group whose users allow it rises
 * to the level of the next group of its kind that uses it, and joins it. Others rise as far as they can, out of the way
 * of what they read: ops of no kind, and groups that read none of their own kind, which could rise to them. Each step
 * looks at every op and use once. */
#include <inttypes.h>
#include "region_groups.h"

struct xir_groups {
    xir_allocator alloc;
    xir_context  *ctx;
    const xir_network *net; /* only compared: it may have been freed */
    size_t        slots, n, n_groups;
    uint32_t     *place;    /* by slot: the position in the order, or the number of its group once that is known */
    xir_op      **ops;      /* group by group                                                               */
    size_t       *start;    /* of each group, and the end of the last one                                   */
};

/* The older root stays, so that a group is found from its first op. */
static void join(member *of, uint32_t a, uint32_t b) {
    a = member_root(of, a);
    b = member_root(of, b);
    if (a < b) of[b].up = a;
    else of[a].up = b;
}

/* ---- the lowest levels ------------------------------------------------------------------------------------------ */

/* Visits the placed makers of what an op, or one of its sub ops, uses. */
typedef struct reading { gathering *g; uint32_t at; bool joins; } reading;

static bool read_inputs(void *user, xir_op *op) {
    const reading *r = user;
    gathering *g = r->g;
    member *me = &g->of[r->at];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const xir_op *maker = v ? placed_maker(v) : NULL;
        if (!maker || (maker == me->op && value_op(v) != maker)) continue;   /* a sub op makes it for another one */
        const uint32_t from = g->groups->place[maker->slot];
        if (from >= r->at) {
            g->status = diag_fail(g->why, XIR_E_INVALID, XIR_STR(""), "op %" PRId64 " is used by op %" PRId64
                                  " before it is run", maker->id, me->op->id);
            return false;
        }
        const member *it = &g->of[from];
        if (r->joins) {
            if (me->kind == NO_KIND || it->kind != me->kind) continue;
            if (it->level == me->level) join(g->of, from, r->at);
            else me->follows = true;
        } else {
            const int32_t least = it->level + (it->kind != me->kind);
            if (least > me->level) me->level = least;
        }
    }
    return op->cls->plain || op_each_child(op, read_inputs, user);
}

static bool find_levels(gathering *g, int (*kind)(const xir_op *op, void *user), void *user) {
    uint32_t i = 0;
    for (xir_op *op = g->net->first; op; op = op->next, i++) {
        const bool is_end = op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
        const int own = is_end ? NO_KIND : kind(op, user);
        g->of[i] = (member){ op, own < 0 ? NO_KIND : (int32_t)own, 0, i, false };
        g->groups->place[op->slot] = i;
    }
    for (int joins = 0; joins < 2; joins++) {
        for (i = 0; i < g->n; i++) {
            if (!read_inputs(&(reading){ g, i, joins }, g->of[i].op)) return false;
        }
    }
    return true;
}

/* ---- rising ----------------------------------------------------------------------------------------------------- */

/* The limit to which a group may rise: up to the lowest level of users of its kind, and below that of others. */
typedef struct ceiling { gathering *g; uint32_t group; int32_t kind, same, others; bool joins; int32_t level; } ceiling;

static bool read_users(void *user, xir_op *op) {
    ceiling *c = user;
    gathering *g = c->g;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            const xir_op *next = u->user;
            while (next && next->flags & OP_CHILD) next = op_more_of(next)->parent;
            if (!next || !(next->flags & OP_PLACED)) continue;
            const uint32_t to = member_root(g->of, g->groups->place[next->slot]);
            if (to == c->group) continue;
            const member *it = &g->of[to];
            if (c->joins) {
                if (it->kind == c->kind && it->level == c->level) {
                    join(g->of, to, c->group);
                    c->group = member_root(g->of, to);
                }
            } else if (it->kind == c->kind) {
                if (it->level < c->same) c->same = it->level;
            } else if (it->level - 1 < c->others) {
                c->others = it->level - 1;
            }
        }
    }
    return op->cls->plain || op_each_child(op, read_users, user);
}

/* The list of the positions of a group's ops begins at `first`. */
static void rise(gathering *g, uint32_t group, const uint32_t *next, uint32_t first) {
    member *me = &g->of[group];
    ceiling c = { .g = g, .group = group, .kind = me->kind, .same = INT32_MAX, .others = INT32_MAX };
    for (uint32_t i = first; i != NOWHERE; i = next[i]) (void)read_users(&c, g->of[i].op);
    if (me->kind == NO_KIND || c.same == INT32_MAX || c.same > c.others) {
        if (!me->follows) me->level = c.same < c.others ? c.same : c.others;
        return;
    }
    c.joins = true;
    c.level = me->level = c.same;
    for (uint32_t i = first; i != NOWHERE; i = next[i]) (void)read_users(&c, g->of[i].op);
    g->of[c.group].level = c.level;
}

/* Visits the groups from the highest level to the lowest, and within a level from the last op to the first. Buckets of
 * levels have lists of roots, and roots have lists of ops; the levels of members follow those of their roots. */
static bool rise_all(gathering *g) {
    const xir_allocator *alloc = &g->groups->alloc;
    int32_t most = 0;
    for (size_t i = 0; i < g->n; i++) most = g->of[i].level > most ? g->of[i].level : most;
    const size_t levels = (size_t)most + 1, size = (g->n + 1) * sizeof(uint32_t);
    uint32_t *bucket = mem_new(alloc, levels * sizeof *bucket), *below = mem_new(alloc, size),
             *first = mem_new(alloc, size);
    const bool ready = bucket && below && first;
    if (ready) {
        memset(bucket, 0xFF, levels * sizeof *bucket);
        memset(first, 0xFF, size);
        for (uint32_t i = 0; i < g->n; i++) {   /* the last root of a level becomes the first of its list */
            if (member_root(g->of, i) != i) continue;
            below[i] = bucket[g->of[i].level];
            bucket[g->of[i].level] = i;
        }
        for (uint32_t i = (uint32_t)g->n; i-- > 0;) {
            const uint32_t r = member_root(g->of, i);
            g->next[i] = first[r];
            first[r] = i;
            g->of[r].follows |= g->of[i].follows;
        }
        for (size_t level = levels; level-- > 0;)
            for (uint32_t r = bucket[level]; r != NOWHERE; r = below[r]) rise(g, r, g->next, first[r]);
    }
    mem_free(alloc, bucket, levels * sizeof *bucket);
    mem_free(alloc, below, size);
    mem_free(alloc, first, size);
    return ready;
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* Numbers the groups by their first ops, and sorts the ops by group. */
static bool sort_ops(gathering *g) {
    xir_groups *s = g->groups;
    for (uint32_t i = 0; i < g->n; i++) {
        const member *me = &g->of[i];
        const uint32_t r = member_root(g->of, i);
        g->next[i] = me->kind == NO_KIND ? NOWHERE : r == i ? (uint32_t)s->n_groups++ : g->next[r];
        s->n += me->kind != NO_KIND;
    }
    s->ops = mem_new(&s->alloc, (s->n + 1) * sizeof *s->ops);
    s->start = mem_new(&s->alloc, (s->n_groups + 2) * sizeof *s->start);
    if (!s->ops || !s->start) return false;
    memset(s->start, 0, (s->n_groups + 2) * sizeof *s->start);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->next[i] != NOWHERE) s->start[g->next[i] + 2]++;
    for (size_t k = 2; k < s->n_groups + 2; k++) s->start[k] += s->start[k - 1];
    for (uint32_t i = 0; i < g->n; i++) {
        s->place[g->of[i].op->slot] = g->next[i];
        if (g->next[i] != NOWHERE) s->ops[s->start[g->next[i] + 1]++] = g->of[i].op;
    }
    return true;
}

static xir_status gather(gathering *g, int (*kind)(const xir_op *op, void *user), void *user) {
    xir_groups *s = g->groups;
    if (g->n >= INT32_MAX - 1) return diag_fail(g->why, XIR_E_LIMIT, XIR_STR(""), "there are too many ops");
    s->place = mem_new(&s->alloc, s->slots * sizeof *s->place);
    g->of = mem_new(&s->alloc, (g->n + 1) * sizeof *g->of);
    g->next = mem_new(&s->alloc, (g->n + 1) * sizeof *g->next);
    if (!s->place || !g->of || !g->next) return diag_memory(g->why);
    memset(s->place, 0xFF, s->slots * sizeof *s->place);
    g->place = s->place;
    if (!find_levels(g, kind, user)) return g->status;
    return rise_all(g) && groups_join(g) && sort_ops(g) ? XIR_OK : diag_memory(g->why);
}

xir_groups *xir_groups_new(const xir_network *net, int (*kind)(const xir_op *op, void *user), void *user,
                           xir_diags *why) {
    if (!net || !kind) {
        (void)diag_null(why, net ? "kind" : "net");
        return NULL;
    }
    xir_groups *groups = mem_new(&net->ctx->alloc, sizeof *groups);
    if (!groups) {
        (void)diag_memory(why);
        return NULL;
    }
    *groups = (xir_groups){ .alloc = net->ctx->alloc, .ctx = net->ctx, .net = net,
                             .slots = (size_t)net->n_slots + 1 };
    context_retain(groups->ctx);
    gathering g = { .net = net, .groups = groups, .n = net->n_ops, .alloc = &groups->alloc, .why = why };
    const xir_status status = gather(&g, kind, user);
    mem_free(&groups->alloc, g.of, (g.n + 1) * sizeof *g.of);
    mem_free(&groups->alloc, g.next, (g.n + 1) * sizeof *g.next);
    if (!status) return groups;
    xir_groups_free(groups);
    return NULL;
}

void xir_groups_free(xir_groups *s) {
    if (!s) return;
    xir_context *ctx = s->ctx;
    const xir_allocator alloc = s->alloc;
    mem_free(&alloc, s->place, s->slots * sizeof *s->place);
    mem_free(&alloc, s->ops, (s->n + 1) * sizeof *s->ops);
    mem_free(&alloc, s->start, (s->n_groups + 2) * sizeof *s->start);
    mem_free(&alloc, s, sizeof *s);
    xir_context_free(ctx);
}

size_t xir_groups_count(const xir_groups *s) { return s ? s->n_groups : 0; }

xir_ops xir_groups_at(const xir_groups *s, size_t i) {
    if (!s || i >= s->n_groups) return (xir_ops){ NULL, 0 };
    return (xir_ops){ s->ops + s->start[i], s->start[i + 1] - s->start[i] };
}

int64_t xir_groups_of(const xir_groups *s, const xir_op *op) {
    if (!s || !op || op->net != s->net || op->slot >= s->slots || s->place[op->slot] == NOWHERE) return -1;
    return s->place[op->slot];
}
