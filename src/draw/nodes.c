/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops that are drawn, in execution order, and the edges between them. An op that depends on constants alone comes
 * just before its first user, so that it is in the same groups. An input that no drawn op makes has no edge:
 * Params, absent inputs, and in a broken network values without a maker. With a diff, the ops are those of both
 * networks, as merge.c lists them, and the edges are those of both.
 *
 * A call is not drawn, but the ops in its body are, without Input and Output: edges lead through its border. With a
 * diff or a selected op a call is drawn as an op. */
#include <xir/ops.h>
#include "merge.h"

enum { MOST = 1 << 28, MOST_BORDERS = 256 };   /* a value may pass so many borders of calls */

/* ---- the ops of one network, or of two --------------------------------------------------------------------------- */

/* Without a diff, `second` is NULL, and all ops are of the first network. */
typedef struct finding {
    picture           *p;
    const xir_network *first, *second;
    uint32_t          *index[2];   /* of the first and the second network, by slot: the node of an op plus one */
    uint8_t           *chosen[2];  /* by slot; NULL: all ops are drawn                                         */
    const xir_op     **queue;      /* the chosen ops                                                           */
    size_t             n;
    size_t             n_ops;      /* how many may be drawn                                                    */
    bool               opens;      /* some of them are in the bodies of calls                                  */
    const xir_op     **was;        /* of nodes before they are sorted; NULL without a diff                     */
} finding;

static bool is_of_second(const finding *f, const xir_op *op) { return f->second && xir_op_network(op) == f->second; }
static uint32_t *index_of(const finding *f, const xir_op *op) {
    return &f->index[is_of_second(f, op)][xir_op_slot(op)];
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The body of a call that is opened: an Input, ops, and an Output. Empty for other ops. */
static xir_ops body_of(const finding *f, const xir_op *op) {
    xir_attr body;
    const xir_ops none = { NULL, 0 };
    if (f->second || f->p->how.select || !xir_op_is(op, xir_call_op_class())) return none;
    if (xir_op_get(op, XIR_STR("body"), &body) || body.is_null || body.as.ops.size < 2) return none;
    const xir_op *first = body.as.ops.data[0], *last = body.as.ops.data[body.as.ops.size - 1];
    return xir_op_is(first, xir_input_class()) && xir_op_is(last, xir_output_class()) ? body.as.ops : none;
}

/* Counts the ops that are drawn for one, and lists them unless `ops` is NULL. */
static size_t list_op(const finding *f, const xir_op *op, const xir_op **ops) {
    const xir_ops body = body_of(f, op);
    size_t n = 0;
    if (!body.size && ops) *ops = op;
    if (!body.size) return 1;
    for (size_t i = 1; i + 1 < body.size; i++) n += list_op(f, body.data[i], ops ? ops + n : NULL);
    return n;
}

static size_t count_ops(finding *f) {
    size_t n = f->second ? (size_t)xir_network_op_count(f->second) : 0;
    for (const xir_op *op = xir_network_first(f->first); op; op = xir_op_next(op)) {
        f->opens |= body_of(f, op).size != 0;
        n += f->opens ? list_op(f, op, NULL) : 1;
    }
    return n;
}

/* The output of a drawn op that an input is, or what it is instead. */
static const xir_value *drawn_value(const finding *f, const xir_op *user, size_t input) {
    const xir_value *v = xir_op_input(user, (int64_t)input);
    if (!f->opens) return v;
    for (int i = 0; v && i < MOST_BORDERS; i++) {
        const xir_op *maker = xir_value_op(v), *call = maker ? xir_op_parent(maker) : NULL;
        const xir_ops inside = maker ? body_of(f, maker) : (xir_ops){ NULL, 0 };
        const bool enters = call && body_of(f, call).size && body_of(f, call).data[0] == maker;
        if (!inside.size && !enters) return v;
        v = xir_op_input(enters ? call : inside.data[inside.size - 1], (int64_t)xir_value_index(v));
    }
    return NULL;
}

/* ---- which ops --------------------------------------------------------------------------------------------------- */

static void choose_one(finding *f, const xir_op *op) {
    if (!op || !xir_op_is_placed(op) || xir_op_parent(op)) return;
    uint8_t *chosen = &f->chosen[is_of_second(f, op)][xir_op_slot(op)];
    if (*chosen) return;
    *chosen = 1;
    f->queue[f->n++] = op;
}

static void choose(finding *f, const xir_op *op) {
    choose_one(f, op);
    if (f->second && op) choose_one(f, draw_match(f->p->how.diff, op));
}

static void choose_neighbours(finding *f, const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        choose(f, v ? xir_value_op(v) : NULL);
    }
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_use *use = xir_value_uses(xir_op_output(op, (int64_t)i));
        for (; use; use = xir_use_next(use)) choose(f, xir_use_op(use));
    }
}

/* Walks from the selected op, hop by hop. */
static bool choose_all(finding *f) {
    const picture *p = f->p;
    if (!p->how.select) return true;
    f->chosen[0] = draw_new(p->alloc, xir_network_slot_count(f->first), sizeof **f->chosen);
    if (f->second) f->chosen[1] = draw_new(p->alloc, xir_network_slot_count(f->second), sizeof **f->chosen);
    f->queue = draw_new(p->alloc, f->n_ops, sizeof *f->queue);
    if (!f->chosen[0] || !f->queue || (f->second && !f->chosen[1])) return false;
    choose(f, p->how.select);
    size_t done = 0;
    for (uint32_t hop = 0; hop < p->how.hops && done < f->n; hop++) {
        const size_t end = f->n;
        while (done < end) choose_neighbours(f, f->queue[done++]);
    }
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool is_chosen(const finding *f, const xir_op *op) {
    return !f->queue || f->chosen[is_of_second(f, op)][xir_op_slot(op)];
}

/* The ops in their order, and of a pair the first one as `was`. */
static bool list_ops(finding *f, const xir_op **ops, size_t *n) {
    const picture *p = f->p;
    size_t all = 0;
    *n = 0;
    if (f->second && !draw_merge(p, ops, f->was, &all)) return false;
    if (!f->second)
        for (const xir_op *op = xir_network_first(f->first); op; op = xir_op_next(op)) {
            if (f->opens) all += list_op(f, op, ops + all);
            else ops[all++] = op;
        }
    for (size_t i = 0; i < all; i++) {
        if (!is_chosen(f, ops[i])) continue;
        ops[*n] = ops[i];
        if (f->was) f->was[*n] = f->was[i];
        ++*n;
        *index_of(f, ops[i]) = (uint32_t)*n;
        if (f->was && f->was[i]) *index_of(f, f->was[i]) = (uint32_t)*n;
    }
    return true;
}

/* An op without inputs that other ops make, unless those are constants. An Input is not a constant. */
static bool depends_on_constants(const finding *f, const draw_node *nodes, uint32_t i, const xir_op *op) {
    if (xir_class_traits(xir_op_class(op)) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)) return false;
    for (size_t k = 0; k < xir_op_input_count(op); k++) {
        const xir_value *v = drawn_value(f, op, k);
        const xir_op *maker = v ? xir_value_op(v) : NULL;
        const uint32_t at = maker ? *index_of(f, maker) : 0;
        if (maker && !(at && at - 1 < i && nodes[at - 1].constant)) return false;
    }
    return true;
}

static bool is_constant(const finding *f, const draw_node *nodes, uint32_t i) {
    const xir_op *was = f->was ? f->was[i] : NULL;
    return depends_on_constants(f, nodes, i, nodes[i].op) && (!was || depends_on_constants(f, nodes, i, was));
}

static uint32_t first_user(const finding *f, uint32_t i, const xir_op *op, const uint32_t *places, uint32_t place) {
    for (size_t k = 0; op && k < xir_op_output_count(op); k++) {
        const xir_use *use = xir_value_uses(xir_op_output(op, (int64_t)k));
        for (; use; use = xir_use_next(use)) {
            const xir_op *user = xir_use_op(use);
            const uint32_t at = user ? *index_of(f, user) : 0;
            if (at > i + 1 && places[at - 1] < place) place = places[at - 1];
        }
    }
    return place;
}

/* The position before which an op comes: its own, or that of the first user of a constant. Users have theirs. */
static uint32_t find_place(const finding *f, const draw_node *nodes, uint32_t i, const uint32_t *places) {
    if (!nodes[i].constant) return i;
    uint32_t place = first_user(f, i, nodes[i].op, places, UINT32_MAX);
    if (f->was) place = first_user(f, i, f->was[i], places, place);
    return place == UINT32_MAX ? i : place;
}

/* Nodes in the order of their places; `first` has zeros and room for one more than they are. */
static void sort_nodes(finding *f, const draw_node *nodes, uint32_t *places, uint32_t *first, uint32_t n) {
    picture *p = f->p;
    for (uint32_t i = n; i-- > 0;) {
        places[i] = find_place(f, nodes, i, places);
        first[places[i] + 1]++;
    }
    for (uint32_t i = 0; i < n; i++) first[i + 1] += first[i];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t to = first[places[i]]++;
        p->nodes[to] = nodes[i];
        if (f->was) p->was[to] = f->was[i];
    }
}

/* ---- constants that belong to their users ------------------------------------------------------------------------ */

/* The first of an op's users, which is after it in the order. NULL: there is none, or the network's Output is one. */
static const xir_op *user_of(const finding *f, uint32_t i, const xir_op *op) {
    const xir_op *best = NULL;
    for (size_t k = 0; k < xir_op_output_count(op); k++) {
        const xir_use *use = xir_value_uses(xir_op_output(op, (int64_t)k));
        for (; use; use = xir_use_next(use)) {
            const xir_op *user = xir_use_op(use);
            const uint32_t at = user ? *index_of(f, user) : 0;
            if (user && xir_class_traits(xir_op_class(user)) & XIR_TRAIT_SINK) return NULL;
            if (at > i + 1 && (!best || at < *index_of(f, best))) best = user;
        }
    }
    return best;
}

/* Removes ops that depend on constants alone and have a user: they are folded into it, and what is folded into a folded
 * op goes on to the user of that. `index` gets the new places. False without memory. */
static bool fold_constants(finding *f, draw_node *nodes, size_t *n) {
    picture *p = f->p;
    size_t left = 0;
    const xir_op **into = draw_new(p->alloc, *n, sizeof *into);
    p->folded = draw_new(p->alloc, *n, sizeof *p->folded);
    if (!into || !p->folded) {
        draw_free(p->alloc, (void *)into);
        return false;
    }
    for (uint32_t i = (uint32_t)*n; i-- > 0;) {
        const xir_op *user = nodes[i].constant && nodes[i].op != p->how.select ? user_of(f, i, nodes[i].op) : NULL;
        const xir_op *further = user ? into[*index_of(f, user) - 1] : NULL;
        into[i] = further ? further : user;
    }
    for (size_t i = 0; i < *n; i++) {
        if (into[i]) {
            *index_of(f, nodes[i].op) = 0;
            p->folded[p->n_folded++] = (draw_folded){ nodes[i].op, into[i], DRAW_NONE };
        } else {
            nodes[left++] = nodes[i];
            *index_of(f, nodes[i].op) = (uint32_t)left;
        }
    }
    draw_free(p->alloc, (void *)into);
    *n = left;
    return true;
}

/* ---- all nodes --------------------------------------------------------------------------------------------------- */

/* `index` gets the node of each op. */
static void number_values(finding *f, uint32_t n) {
    picture *p = f->p;
    uint64_t values = 0;
    for (uint32_t i = 0; i < n; i++) {
        const xir_op *op = p->nodes[i].op, *was = draw_was(p, i);
        const size_t outputs = xir_op_output_count(op), before = was ? xir_op_output_count(was) : 0;
        p->nodes[i].value = (uint32_t)values;
        *index_of(f, op) = i + 1;
        if (was) *index_of(f, was) = i + 1;
        values += outputs > before ? outputs : before;
        if (values > MOST) values = MOST;
    }
    p->nodes[n].value = (uint32_t)values;
    p->n_nodes = n;
}

static bool add_nodes(finding *f) {
    picture *p = f->p;
    const size_t most = f->n_ops;
    size_t n = 0;
    const xir_op **ops = draw_new(p->alloc, most, sizeof *ops);
    if (f->second) f->was = draw_new(p->alloc, most, sizeof *f->was);
    bool ok = ops && (!f->second || f->was) && list_ops(f, ops, &n);
    draw_node *nodes = draw_new(p->alloc, n, sizeof *nodes);
    uint32_t *places = draw_new(p->alloc, n, sizeof *places);
    uint32_t *first = draw_new(p->alloc, n + 1, sizeof *first);
    p->nodes = draw_new(p->alloc, n + 1, sizeof *p->nodes);
    if (f->second) p->was = draw_new(p->alloc, n + 1, sizeof *p->was);
    ok = ok && nodes && places && first && p->nodes && (!f->second || p->was);
    if (ok) {
        for (size_t i = 0; i < n; i++) nodes[i].op = ops[i];
        for (uint32_t i = 0; i < n; i++) nodes[i].constant = is_constant(f, nodes, i);
        ok = p->how.constants || f->second || fold_constants(f, nodes, &n);
    }
    if (ok) {
        sort_nodes(f, nodes, places, first, (uint32_t)n);
        number_values(f, (uint32_t)n);
        for (size_t i = 0; i < p->n_folded; i++) p->folded[i].node = *index_of(f, p->folded[i].into) - 1;
    }
    draw_free(p->alloc, (void *)ops);
    draw_free(p->alloc, nodes);
    draw_free(p->alloc, places);
    draw_free(p->alloc, first);
    return ok;
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

/* The node that a record is about, for a sub op too; DRAW_NONE: the network itself, or an op that is not drawn. */
static uint32_t node_of(const finding *f, const xir_diff_item *record) {
    const xir_op *op = record->b ? record->b : record->a;
    while (op && xir_op_parent(op)) op = xir_op_parent(op);
    return op && xir_op_is_placed(op) ? *index_of(f, op) - 1 : DRAW_NONE;
}

static bool find_changes(const finding *f) {
    picture *p = f->p;
    const size_t n = xir_diff_count(p->how.diff);
    if (!f->second) return true;
    p->changes = draw_new(p->alloc, p->n_nodes + 1, sizeof *p->changes);
    p->records = draw_new(p->alloc, n, sizeof *p->records);
    p->differing = draw_new(p->alloc, p->n_nodes + 1, sizeof *p->differing);
    if (!p->changes || !p->records || !p->differing) return false;
    for (size_t i = 0; i < p->n_nodes; i++)
        if (!p->was[i]) p->changes[i] = is_of_second(f, p->nodes[i].op) ? XIR_DIFF_ADDED : XIR_DIFF_REMOVED;
    for (size_t i = 0; i < n; i++) {
        const xir_diff_item *record = xir_diff_at(p->how.diff, i);
        const uint32_t node = p->records[i] = node_of(f, record);
        if (node == DRAW_NONE || !p->was[node]) continue;
        const xir_op *op = record->b ? record->b : record->a;   /* a sub op may be new; then its op has changed */
        p->changes[node] |= (uint8_t)(xir_op_parent(op) ? XIR_DIFF_CHANGED : record->kind);
    }
    for (size_t i = 0; i < p->n_nodes; i++) p->differing[i + 1] = p->differing[i] + (p->changes[i] != 0);
    return true;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Adds edges one by one; with `out` NULL they are only counted. `mark` is by value, for a diff. */
typedef struct linking {
    const finding *f;
    draw_edge     *out;
    size_t         n;
    uint32_t      *mark;
} linking;

/* Of an input; false if no drawn op makes it. */
static bool edge_of(const finding *f, const xir_op *op, size_t input, uint32_t to, draw_edge *out) {
    const picture *p = f->p;
    const xir_value *v = drawn_value(f, op, input);
    const xir_op *maker = v ? xir_value_op(v) : NULL;
    const uint32_t from = maker ? *index_of(f, maker) : 0;
    if (!from) return false;
    *out = (draw_edge){ .from = from - 1, .to = to, .input = (uint32_t)input & (MOST - 1), .stub = from - 1 >= to,
                        .value = p->nodes[from - 1].value + (uint32_t)xir_value_index(v) };
    return true;
}

static void add_edge(linking *l, draw_edge e) {
    if (l->out) l->out[l->n] = e;
    l->n++;
}

static void link_op(linking *l, uint32_t to, draw_change change) {
    const xir_op *op = l->f->p->nodes[to].op;
    draw_edge e;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        if (!edge_of(l->f, op, i, to, &e)) continue;
        e.change = (unsigned)change & 3;
        add_edge(l, e);
    }
}

enum { MARK_WAS = 1, MARK_BOTH, MARK_LOST, MARKS };

/* Of a pair: the inputs of the second op, then those that only the first one has, which are the node's last inputs.
 * `base` is a multiple of MARKS that no other call has, so that old marks mean nothing. */
static void link_pair(linking *l, uint32_t to, const xir_op *was, uint32_t base) {
    const finding *f = l->f;
    const xir_op *op = f->p->nodes[to].op;
    uint32_t lost = 0;
    draw_edge e;
    for (size_t i = 0; i < xir_op_input_count(was); i++)
        if (edge_of(f, was, i, to, &e)) l->mark[e.value] = base + MARK_WAS;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        if (!edge_of(f, op, i, to, &e)) continue;
        if (l->mark[e.value] == base + MARK_WAS) l->mark[e.value] = base + MARK_BOTH;
        if (l->mark[e.value] != base + MARK_BOTH) e.change = DRAW_NEW;
        add_edge(l, e);
    }
    for (size_t i = 0; i < xir_op_input_count(was); i++) {
        if (!edge_of(f, was, i, to, &e) || l->mark[e.value] != base + MARK_WAS) continue;
        l->mark[e.value] = base + MARK_LOST;
        e.input = ((uint32_t)xir_op_input_count(op) + lost++) & (MOST - 1);
        e.change = DRAW_GONE;
        add_edge(l, e);
    }
    f->p->lost[to] = lost;
}

static void link_all(linking *l, uint32_t base) {
    const picture *p = l->f->p;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const xir_op *was = draw_was(p, i);
        const unsigned change = draw_changes(p, i);   /* of a node that is not a pair, it is one of two */
        if (was) link_pair(l, i, was, base + MARKS * i);
        else link_op(l, i, change & XIR_DIFF_REMOVED ? DRAW_GONE : change & XIR_DIFF_ADDED ? DRAW_NEW : DRAW_SAME);
    }
}

static bool add_edges(const finding *f) {
    picture *p = f->p;
    linking l = { .f = f };
    if (f->second) {
        l.mark = draw_new(p->alloc, (size_t)p->nodes[p->n_nodes].value + 1, sizeof *l.mark);
        p->lost = draw_new(p->alloc, p->n_nodes + 1, sizeof *p->lost);
    }
    bool ok = !f->second || (l.mark && p->lost);
    if (ok) link_all(&l, 0);
    if (ok && l.n <= MOST) {   /* picture_make refuses more */
        p->edges = l.out = draw_new(p->alloc, l.n, sizeof *p->edges);
        l.n = 0;
        ok = l.out != NULL;
        if (ok) link_all(&l, MARKS * (uint32_t)p->n_nodes);
        p->n_edges = l.n;
    }
    draw_free(p->alloc, l.mark);
    return ok;
}

static xir_status too_large(xir_diags *why) {
    return xir_diags_add(why, XIR_ERROR, XIR_E_LIMIT, XIR_STR(""),
                         "the network has more ops or values than a picture can have, %d", MOST);
}

xir_status draw_find_nodes(picture *p, xir_diags *why) {
    finding f = { .p = p, .first = p->net, .second = xir_diff_b(p->how.diff) };
    f.n_ops = count_ops(&f);
    if (f.n_ops >= MOST) return too_large(why);
    f.index[0] = draw_new(p->alloc, (size_t)xir_network_slot_count(f.first) + 1, sizeof **f.index);
    if (f.second) f.index[1] = draw_new(p->alloc, (size_t)xir_network_slot_count(f.second) + 1, sizeof **f.index);
    const bool made = f.index[0] && (!f.second || f.index[1]) && choose_all(&f) && add_nodes(&f);
    const bool fits = made && p->nodes[p->n_nodes].value < MOST;
    const bool ok = made && (!fits || (find_changes(&f) && add_edges(&f)));
    for (int i = 0; i < 2; i++) {
        draw_free(p->alloc, f.index[i]);
        draw_free(p->alloc, f.chosen[i]);
    }
    draw_free(p->alloc, (void *)f.queue);
    draw_free(p->alloc, (void *)f.was);
    if (!ok) return no_memory(why);
    return !fits || !p->edges ? too_large(why) : XIR_OK;
}

uint32_t *draw_edges_to(const picture *p) {
    uint32_t *first = draw_new(p->alloc, p->n_nodes + 1, sizeof *first);
    if (!first) return NULL;
    size_t e = 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        first[i] = (uint32_t)e;
        while (e < p->n_edges && p->edges[e].to == i) e++;
    }
    first[p->n_nodes] = (uint32_t)e;
    return first;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

const xir_value *draw_output(const picture *p, size_t node, size_t k) {
    const xir_op *op = p->nodes[node].op, *was = draw_was(p, node);
    return xir_op_output(was && k >= xir_op_output_count(op) ? was : op, (int64_t)k);
}
