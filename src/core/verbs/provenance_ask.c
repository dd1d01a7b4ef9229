/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Questions about provenance. The origins above an origin are walked depth first, each once. Parents have lower numbers
 * than what is made of them, so the way from a source down needs one pass over all origins. */
#include "provenance_ask.h"
#include <stdlib.h>

/* ---- walks ------------------------------------------------------------------------------------------------------ */

/* Origins are keys of the table of visited ones. */
static bool visit(origin_walk *w, uint32_t i) {
    const size_t before = w->seen.n;
    if (!pointer_table_add(&w->seen, (const void *)(uintptr_t)i, 0)) return false;
    return w->seen.n == before || u32_push(w->p->alloc, &w->stack, i);
}

static void begin(origin_walk *w) {
    enum { KEPT = 1024 };   /* slots: one origin with many sources does not make all later walks slow */
    w->stack.n = w->found.n = 0;
    if (w->seen.room > KEPT) pointer_table_free(&w->seen);
    if (!w->seen.room) pointer_table_init(&w->seen, w->p->alloc);
    if (w->seen.n) memset((void *)w->seen.slots, 0, w->seen.room * sizeof *w->seen.slots);
    w->seen.n = 0;
}

void origin_walk_free(origin_walk *w) {
    const xir_allocator *alloc = w->p->alloc;
    pointer_table_free(&w->seen);
    mem_free(alloc, w->stack.items, w->stack.room * sizeof(uint32_t));
    mem_free(alloc, w->found.items, w->found.room * sizeof(uint32_t));
    mem_free(alloc, w->ids, w->id_room * sizeof *w->ids);
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int ids_compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool origin_walk_sources(origin_walk *w, uint32_t first) {
    const xir_provenance *p = w->p;
    begin(w);
    if (first && first <= p->n_sources)   /* most ops of a network that stays */
        return u32_push(p->alloc, &w->found, first - 1);
    bool ok = !first || visit(w, first);
    while (ok && w->stack.n) {
        const uint32_t i = w->stack.items[--w->stack.n];
        const origin *o = &p->origins[i];
        if (i <= p->n_sources) ok = u32_push(p->alloc, &w->found, i - 1);
        for (uint32_t k = 0; k < o->n && ok; k++) ok = visit(w, p->parents.items[o->from + k]);
    }
    if (ok && w->found.n > 1) qsort(w->found.items, w->found.n, sizeof(uint32_t), by_number);
    return ok;
}

static bool visit_value(origin_walk *w, uint32_t i, size_t *n) {
    const value_origin v = w->p->values[i];
    if (v.b) return visit(w, v.a) && visit(w, v.b);
    if (!mem_reserve(w->p->alloc, (void **)&w->ids, &w->id_room, *n + 1, sizeof *w->ids)) return false;
    w->ids[(*n)++] = v.id;
    return true;
}

size_t ids_in_order(int64_t *ids, size_t n) {
    size_t kept = 0;
    if (n > 1) qsort(ids, n, sizeof *ids, ids_compare);
    for (size_t i = 0; i < n; i++)
        if (!i || ids[i] != ids[i - 1]) ids[kept++] = ids[i];
    return kept;
}

static const int64_t no_ids[1];

const int64_t *origin_walk_ids(origin_walk *w, uint32_t of, size_t *n) {
    *n = 0;
    if (!origin_walk_sources(w, of) ||
        !mem_reserve(w->p->alloc, (void **)&w->ids, &w->id_room, w->found.n + 1, sizeof *w->ids)) return NULL;
    for (size_t i = 0; i < w->found.n; i++) w->ids[i] = w->p->sources[w->found.items[i]].id;
    *n = ids_in_order(w->ids, w->found.n);
    return w->ids;
}

const int64_t *value_walk_ids(origin_walk *w, uint32_t of, size_t *n) {
    *n = 0;
    begin(w);
    bool ok = !of || visit(w, of);
    while (ok && w->stack.n) ok = visit_value(w, w->stack.items[--w->stack.n], n);
    *n = ok ? ids_in_order(w->ids, *n) : 0;
    return !ok ? NULL : w->ids ? w->ids : no_ids;
}

/* ---- what ops and values stand for ------------------------------------------------------------------------------ */

/* The checks of every question: there is a recorder, and the thing is of its network. */
static xir_status check(const xir_provenance *p, const void *thing, const xir_network *net, size_t *n) {
    if (n) *n = 0;
    if (!p || !thing || !n) return XIR_E_MISSING;
    return net != p->net ? XIR_E_INVALID : p->status;
}

static void give(const int64_t *ids, size_t n, int64_t *out, size_t room) {
    const size_t fits = n < room ? n : room;
    if (fits) memcpy(out, ids, fits * sizeof *out);
}

static xir_status give_sources(const xir_provenance *p, uint32_t of, int64_t *out, size_t room, size_t *n) {
    origin_walk w = { .p = p };
    const int64_t *ids = origin_walk_ids(&w, of, n);
    if (ids) give(ids, *n, out, room);
    origin_walk_free(&w);
    return ids ? XIR_OK : XIR_E_MEMORY;
}

xir_status xir_provenance_of_op(const xir_provenance *p, const xir_op *op, int64_t *ids, size_t room, size_t *n) {
    const xir_status status = check(p, op, op ? op->net : NULL, n);
    return status ? status : give_sources(p, origin_of_op(p, op), ids, room, n);
}

xir_status xir_provenance_of_value(const xir_provenance *p, const xir_value *v, int64_t *ids, size_t room, size_t *n) {
    const xir_status status = check(p, v, v ? value_net(v) : NULL, n);
    return status ? status : give_sources(p, origin_of_value(p, v), ids, room, n);
}

xir_status xir_provenance_values_of(const xir_provenance *p, const xir_value *v, int64_t *ids, size_t room, size_t *n) {
    const xir_status status = check(p, v, v ? value_net(v) : NULL, n);
    if (status) return status;
    origin_walk w = { .p = p };
    const int64_t *list = value_walk_ids(&w, value_origin_of(p, v), n);
    if (list) give(list, *n, ids, room);
    origin_walk_free(&w);
    return list ? XIR_OK : XIR_E_MEMORY;
}

/* ---- what became of a source ------------------------------------------------------------------------------------ */

/* For each origin whether it is made of a source. NULL without memory; n_origins bytes. */
static uint8_t *reached_from(const xir_provenance *p, int64_t source) {
    uint8_t *reached = mem_new(p->alloc, p->n_origins);
    if (!reached) return NULL;
    memset(reached, 0, p->n_origins);
    for (size_t i = 0; i < p->n_sources; i++) reached[i + 1] = p->sources[i].id == source;
    for (size_t i = p->n_sources + 1; i < p->n_origins; i++) {
        const origin *o = &p->origins[i];
        for (uint32_t k = 0; k < o->n && !reached[i]; k++) reached[i] = reached[p->parents.items[o->from + k]];
    }
    return reached;
}

typedef struct found {
    const xir_provenance *p;
    const uint8_t        *reached;
    xir_op              **ops;        /* or Params */
    xir_value           **params;
    size_t                room, n;
} found;

static bool find_op(void *user, xir_op *op) {
    found *f = user;
    if (f->reached[origin_of_op(f->p, op)] && f->n++ < f->room) f->ops[f->n - 1] = op;
    return op->cls->plain || op_each_child(op, find_op, user);
}

static bool find_params(void *user, xir_value *v) {
    found *f = user;
    if (f->reached[origin_of_value(f->p, v)] && f->n++ < f->room) f->params[f->n - 1] = v;
    return true;
}

/* Finds the ops, or the Params. */
static xir_status find_all(found *f, int64_t source, bool of_params, size_t *n) {
    const xir_provenance *p = f->p;
    const xir_status status = check(p, p, p ? p->net : NULL, n);
    if (status) return status;
    uint8_t *reached = reached_from(p, source);
    if (!reached) return XIR_E_MEMORY;
    f->reached = reached;
    for (xir_op *op = of_params ? NULL : p->net->first; op; op = op->next) find_op(f, op);
    if (of_params) net_walk_params(p->net, find_params, f);
    *n = f->n;
    mem_free(p->alloc, reached, p->n_origins);
    return XIR_OK;
}

xir_status xir_provenance_became(const xir_provenance *p, int64_t source, xir_op **ops, size_t room, size_t *n) {
    return find_all(&(found){ .p = p, .ops = ops, .room = room }, source, false, n);
}

xir_status xir_provenance_became_params(const xir_provenance *p, int64_t source, xir_value **out, size_t room,
                                        size_t *n) {
    return find_all(&(found){ .p = p, .params = out, .room = room }, source, true, n);
}

/* ---- history ---------------------------------------------------------------------------------------------------- */

typedef struct history {
    origin_walk           w;      /* stack: the front, which stands before the step; seen: those it has or had */
    const xir_provenance *p;
    xir_provenance_item  *out;
    size_t                room, n;
} history;

static xir_provenance_item item_of(const xir_provenance *p, size_t step, uint32_t i) {
    const uint32_t target = p->origins[i].target, number = target & ~ORIGIN_PARAMS;
    const xir_value *v = target & ORIGIN_PARAMS && number < p->param_room ? p->params[number] : NULL;
    const xir_op *op = !(target & ORIGIN_PARAMS) && number < p->op_room ? p->ops[number] : NULL;
    if (i <= p->n_sources) {
        const xir_provenance_source *s = &p->sources[i - 1];
        return (xir_provenance_item){ step, false, s->id, s->name, s->cls };
    }
    if (v) return (xir_provenance_item){ step, true, v->id, xir_value_name(v), NULL };
    return (xir_provenance_item){ step, !op && target & ORIGIN_PARAMS, op ? op->id : -1,
                                  op ? name_text(op_label(op)) : (xir_str){ "", 0 }, op ? op->cls : NULL };
}

static uint32_t step_of(const history *h, uint32_t i) {
    return i <= h->p->n_sources ? 0 : origin_step(&h->p->origins[i]);
}

/* Puts an origin into the front, unless that has or had it. */
static bool join_front(history *h, uint32_t i) {
    const size_t before = h->w.seen.n;
    if (!pointer_table_add(&h->w.seen, (const void *)(uintptr_t)i, 0)) return false;
    return h->w.seen.n == before || u32_push(h->p->alloc, &h->w.stack, i);
}

/* Replaces the origins of one step in the front by what they are made of. A tag is step 0 and ends in sources. */
static bool go_back(history *h, uint32_t step) {
    size_t kept = 0;
    for (size_t i = 0; i < h->w.stack.n; i++) {
        const uint32_t it = h->w.stack.items[i];
        const origin *o = &h->p->origins[it];
        if (it <= h->p->n_sources || origin_step(o) < step) continue;
        for (uint32_t k = 0; k < o->n; k++)
            if (!join_front(h, h->p->parents.items[o->from + k])) return false;
    }
    for (size_t i = 0; i < h->w.stack.n; i++) {
        const uint32_t it = h->w.stack.items[i];
        if (it <= h->p->n_sources || origin_step(&h->p->origins[it]) < step) h->w.stack.items[kept++] = it;
    }
    h->w.stack.n = kept;
    if (kept > 1) qsort(h->w.stack.items, kept, sizeof(uint32_t), by_number);
    return true;
}

/* The newest step in the front; false if it has only sources. */
static bool newest_step(const history *h, uint32_t *step) {
    bool any = false;
    *step = 0;
    for (size_t i = 0; i < h->w.stack.n; i++) {
        const uint32_t it = h->w.stack.items[i];
        if (it <= h->p->n_sources) continue;
        if (!any || step_of(h, it) > *step) *step = step_of(h, it);
        any = true;
    }
    return any;
}

static bool walk_back(history *h, uint32_t first) {
    uint32_t step;
    if (first && !join_front(h, first)) return false;
    while (newest_step(h, &step)) {
        if (!go_back(h, step)) return false;
        for (size_t i = 0; i < h->w.stack.n; i++, h->n++)
            if (h->n < h->room) h->out[h->n] = item_of(h->p, step, h->w.stack.items[i]);
    }
    return true;
}

xir_status xir_provenance_history(const xir_provenance *p, const xir_op *op, xir_provenance_item *items, size_t room,
                                  size_t *n) {
    const xir_status status = check(p, op, op ? op->net : NULL, n);
    if (status) return status;
    history h = { .w.p = p, .p = p, .out = items, .room = room };
    pointer_table_init(&h.w.seen, p->alloc);
    const bool ok = walk_back(&h, origin_of_op(p, op));
    *n = ok ? h.n : 0;
    origin_walk_free(&h.w);
    return ok ? XIR_OK : XIR_E_MEMORY;
}
