/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups that levels have kept apart. Two groups of one kind may be one if one reads what the other makes unless
 * another path leads from the first to the second. Pairs are tried in the order of the bytes that need not leave a
 * group any more.
 *
 * Groups, and ops outside of groups, have places in an order in which no edge leads back. The search for another path
 * from A to B only meets what is between them. If there is none, what is between them and depends on A moves after
 * the joined group, and what B depends on before it: these and the two share the places that they had. */
#include <stdlib.h>
#include "region_groups.h"

/* Two groups, one reading what the other makes, and the bytes of the values between them, each once. */
typedef struct pair { uint32_t maker, reader; uint64_t bytes; } pair;

typedef struct node_list { uint32_t *of; size_t n; } node_list;

typedef struct joining {
    gathering *g;
    uint32_t  *first, *last;     /* by root: the list of the positions of its ops               */
    uint32_t  *order;            /* by root: its place                                           */
    uint32_t  *seen;             /* by root: the number of the last search that has met it       */
    uint32_t   search;
    node_list  after, before;    /* what a search has met: what depends on A, and what B depends on */
    pair      *pairs;
    size_t     n_pairs, pair_room;
    uint32_t  *pair_of;          /* by root of the reader: its newest pair                       */
    const xir_value **counted;   /* by root of the reader: the newest value that it reads        */
    uint64_t   left;             /* steps that all searches may still take                       */
    bool       no_memory;
} joining;

static uint32_t root_of(const joining *j, const xir_op *placed) {
    return member_root(j->g->of, j->g->place[placed->slot]);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const xir_value *v) {
    uint64_t bytes;
    return v->type && xir_type_bytes(v->type, &bytes) == XIR_OK ? bytes : 0;
}

/* Visits what an op, or a sub op of it, makes for other groups of its kind. */
typedef struct listing { joining *j; uint32_t from; } listing;

static const xir_op *placed_user(const xir_use *use) {
    const xir_op *op = use->user;
    while (op && op->flags & OP_CHILD) op = op_more_of(op)->parent;
    return op && op->flags & OP_PLACED ? op : NULL;
}

/* Adds bytes to the pair of two groups; the pairs of one maker follow one another. */
static bool add_pair(joining *j, uint32_t maker, uint32_t reader, uint64_t bytes) {
    pair *known = j->pair_of[reader] < j->n_pairs ? &j->pairs[j->pair_of[reader]] : NULL;
    if (known && known->maker == maker && known->reader == reader) {
        if (!add_u64(known->bytes, bytes, &known->bytes)) known->bytes = UINT64_MAX;
        return true;
    }
    if (!mem_reserve(j->g->alloc, (void **)&j->pairs, &j->pair_room, j->n_pairs + 1, sizeof *j->pairs)) return false;
    j->pair_of[reader] = (uint32_t)j->n_pairs;
    j->pairs[j->n_pairs++] = (pair){ maker, reader, bytes };
    return true;
}

static bool list_pairs(void *user, xir_op *op) {
    const listing *l = user;
    joining *j = l->j;
    const member *of = j->g->of;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_value *v = &op_outputs(op)[i];
        for (const xir_use *use = v->uses; use; use = use->next) {
            const xir_op *next = placed_user(use);
            const uint32_t to = next ? root_of(j, next) : l->from;
            if (to == l->from || of[to].kind != of[l->from].kind || j->counted[to] == v) continue;
            j->counted[to] = v;
            if (!add_pair(j, l->from, to, bytes_of(v))) return !(j->no_memory = true);
        }
    }
    return op->cls->plain || op_each_child(op, list_pairs, user);
}

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Equal pairs are in the order of the network. */
static int by_bytes(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->bytes != y->bytes) return compare_u64(y->bytes, x->bytes);
    return x->maker != y->maker ? compare_u64(x->maker, y->maker) : compare_u64(x->reader, y->reader);
}

/* Those of equal bytes are in order already. */
static void sort_pairs(joining *j) {
    size_t i = 1;
    while (i < j->n_pairs && by_bytes(&j->pairs[i - 1], &j->pairs[i]) <= 0) i++;
    if (i < j->n_pairs) qsort(j->pairs, j->n_pairs, sizeof *j->pairs, by_bytes);
}

/* Group by group, in the order of their first ops. */
static bool find_pairs(joining *j) {
    const gathering *g = j->g;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->of[i].up != i || g->of[i].kind == NO_KIND) continue;
        listing l = { j, i };
        for (uint32_t k = j->first[i]; k != NOWHERE && !j->no_memory; k = g->next[k])
            (void)list_pairs(&l, g->of[k].op);
    }
    if (!j->no_memory) sort_pairs(j);
    return !j->no_memory;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

/* Levels are at most the number of ops, or that much below the greatest number: of groups that nothing keeps down. */
static size_t place_of_level(size_t n, int32_t level) {
    return (size_t)level <= n ? (size_t)level : 2 * n + 1 - (size_t)(INT32_MAX - level);
}

/* By levels, and within a level by the order of the network: edges within a level are those of the network's order. */
static bool find_order(joining *j) {
    const gathering *g = j->g;
    const size_t bytes = (2 * g->n + 3) * sizeof(uint32_t);
    uint32_t *start = mem_new(g->alloc, bytes);
    if (!start) return false;
    memset(start, 0, bytes);
    for (uint32_t i = 0; i < g->n; i++) if (g->of[i].up == i) start[place_of_level(g->n, g->of[i].level) + 1]++;
    for (size_t k = 0; k < 2 * g->n + 2; k++) start[k + 1] += start[k];
    for (uint32_t i = 0; i < g->n; i++)
        if (g->of[i].up == i) j->order[i] = start[place_of_level(g->n, g->of[i].level)]++;
    mem_free(g->alloc, start, bytes);
    return true;
}

static void list_ops(const joining *j) {
    const gathering *g = j->g;
    memset(j->first, 0xFF, g->n * sizeof *j->first);
    for (uint32_t i = (uint32_t)g->n; i-- > 0;) {
        const uint32_t r = member_root(g->of, i);
        g->next[i] = j->first[r];
        if (j->first[r] == NOWHERE) j->last[r] = i;
        j->first[r] = i;
    }
}

/* ---- one pair ---------------------------------------------------------------------------------------------------- */

typedef struct searching {
    joining *j;
    uint32_t at, from, to;   /* the node that is looked at, A and B */
    uint64_t left;
    bool     met;            /* another path to B */
} searching;

/* Meets a node between A and B once. */
static void meet(searching *s, uint32_t node, node_list *list) {
    joining *j = s->j;
    if (j->seen[node] == j->search) return;
    j->seen[node] = j->search;
    list->of[list->n++] = node;
}

static bool spend(searching *s) {
    if (!s->left) return false;
    s->left--;
    return true;
}

static bool look_on(void *user, xir_op *op) {
    searching *s = user;
    joining *j = s->j;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *use = op_outputs(op)[i].uses; use; use = use->next) {
            const xir_op *next = placed_user(use);
            const uint32_t to = next ? root_of(j, next) : s->at;
            if (!spend(s)) return false;
            if (to == s->at) continue;
            if (to == s->to && s->at != s->from) return !(s->met = true);
            if (to != s->to && j->order[to] < j->order[s->to]) meet(s, to, &j->after);
        }
    }
    return op->cls->plain || op_each_child(op, look_on, user);
}

static bool look_back(void *user, xir_op *op) {
    searching *s = user;
    joining *j = s->j;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const xir_op *maker = v ? placed_maker(v) : NULL;
        if (!spend(s)) return false;
        const uint32_t from = maker ? root_of(j, maker) : s->at;
        if (from != s->at && from != s->from && j->order[from] > j->order[s->from]) meet(s, from, &j->before);
    }
    return op->cls->plain || op_each_child(op, look_back, user);
}

/* Looks at all ops of a node; false: another path was met, or the steps are spent. */
static bool look(searching *s, uint32_t node, bool (*each)(void *user, xir_op *op)) {
    s->at = node;
    for (uint32_t i = s->j->first[node]; i != NOWHERE; i = s->j->g->next[i])
        if (!spend(s) || !each(s, s->j->g->of[i].op)) return false;
    return true;
}

/* Finds what is between A and B; false: they cannot be joined. */
static bool search(searching *s) {
    joining *j = s->j;
    j->after.n = j->before.n = 0;
    j->search++;
    bool ok = look(s, s->from, look_on);
    for (size_t i = 0; i < j->after.n && ok; i++) ok = look(s, j->after.of[i], look_on);
    if (ok) ok = look(s, s->to, look_back);
    for (size_t i = 0; i < j->before.n && ok; i++) ok = look(s, j->before.of[i], look_back);
    return ok && !s->met;
}

/* Sorts nodes by their places: a heap, whose greatest node goes to the end. */
static void sift(const uint32_t *order, uint32_t *of, size_t i, size_t n) {
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && order[of[k]] < order[of[k + 1]]) k++;
        if (order[of[i]] >= order[of[k]]) return;
        const uint32_t node = of[i];
        of[i] = of[k];
        of[k] = node;
    }
}

static void sort_nodes(const uint32_t *order, node_list *list) {
    for (size_t i = list->n / 2; i-- > 0;) sift(order, list->of, i, list->n);
    for (size_t n = list->n; n-- > 1;) {
        const uint32_t node = list->of[0];
        list->of[0] = list->of[n];
        list->of[n] = node;
        sift(order, list->of, 0, n);
    }
}

/* Gives the nodes new places, of those that they had: `before`, the joined group, `after`. */
static void move(joining *j, uint32_t from, uint32_t to, uint32_t joined) {
    uint32_t *places = j->before.of + j->before.n;   /* after the list is room for both lists and two more */
    const size_t n = j->before.n + j->after.n + 2;
    size_t a = 0, b = 0, k = 0;
    sort_nodes(j->order, &j->before);
    sort_nodes(j->order, &j->after);
    places[k++] = j->order[from];
    while (a < j->after.n || b < j->before.n) {   /* A has the first place, and B the last one */
        const bool left = b == j->before.n ||
                          (a < j->after.n && j->order[j->after.of[a]] < j->order[j->before.of[b]]);
        places[k++] = left ? j->order[j->after.of[a++]] : j->order[j->before.of[b++]];
    }
    places[k] = j->order[to];
    for (size_t i = 0; i < j->before.n; i++) j->order[j->before.of[i]] = places[i];
    for (size_t i = 0; i < j->after.n; i++) j->order[j->after.of[i]] = places[n - j->after.n + i];
    j->order[joined] = places[j->before.n];
}

static void unite(joining *j, uint32_t from, uint32_t to) {
    member *of = j->g->of;
    const uint32_t joined = from < to ? from : to, other = from < to ? to : from;
    move(j, from, to, joined);
    of[other].up = joined;
    j->g->next[j->last[joined]] = j->first[other];
    j->last[joined] = j->last[other];
}

static void try_all(joining *j) {
    for (size_t i = 0; i < j->n_pairs && j->left > 1; i++) {
        const uint32_t from = member_root(j->g->of, j->pairs[i].maker), to = member_root(j->g->of, j->pairs[i].reader);
        if (from == to || j->order[from] > j->order[to]) continue;
        const uint64_t most = j->left / 2;   /* so that something is left for the others */
        searching s = { .j = j, .from = from, .to = to, .left = most };
        if (search(&s)) unite(j, from, to);
        j->left -= most - s.left + 1;
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static uint64_t count_uses(const gathering *g) {
    uint64_t uses = 0;
    for (uint32_t i = 0; i < g->n; i++) uses += g->of[i].op->n_inputs;
    return uses;
}

static bool join_all(joining *j) {
    list_ops(j);
    if (!find_pairs(j)) return false;
    if (!j->n_pairs) return true;
    if (!find_order(j)) return false;
    try_all(j);
    return true;
}

bool groups_join(gathering *g) {
    enum { ARRAYS = 9, STEPS = 4, ALWAYS = 1024 };
    joining j = { .g = g, .left = STEPS * (g->n + count_uses(g)) + ALWAYS };
    const size_t bytes = (ARRAYS * g->n + 2) * sizeof(uint32_t), n_counted = (g->n + 1) * sizeof *j.counted;
    uint32_t *all = mem_new(g->alloc, bytes);
    j.counted = mem_new(g->alloc, n_counted);
    bool ok = all && j.counted;
    if (ok) {
        memset(all, 0, bytes);
        memset((void *)j.counted, 0, n_counted);
        j.first = all;
        j.last = all + g->n;
        j.order = all + 2 * g->n;
        j.seen = all + 3 * g->n;
        j.pair_of = all + 4 * g->n;
        j.after.of = all + 5 * g->n;
        j.before.of = all + 6 * g->n;   /* with room for what `move` needs */
        ok = join_all(&j);
    }
    mem_free(g->alloc, all, bytes);
    mem_free(g->alloc, (void *)j.counted, n_counted);
    mem_free(g->alloc, j.pairs, j.pair_room * sizeof *j.pairs);
    return ok;
}
