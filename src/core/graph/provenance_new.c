/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The new ops of a rewriting, one by one. Not each of them does the work of all ops of the match: what moves the second
 * operand of a product has nothing to do with the ops above the first. A new op stands for the replaced ops that depend
 * on what it reads, and on which the value depends that it leads to. Both are sets of at most 64 ops, as bits. New ops
 * are found from the values that took the place of others, upward; those that lead nowhere are left to the caller. */
#include "provenance.h"

_Static_assert(SCOPE_OPS <= 64, "a set has a bit for each op");

/* For each op of the scope those that depend on it, and those on which it depends; with itself. */
typedef struct scope_sets { op_set below[SCOPE_OPS], above[SCOPE_OPS], all, replaced; } scope_sets;

static void find_sets(const xir_provenance *p, const provenance_scope *s, scope_sets *sets) {
    sets->all = s->n == 64 ? ~(op_set)0 : ((op_set)1 << s->n) - 1;
    sets->replaced = 0;
    for (size_t i = 0; i < s->n; i++) {
        sets->below[i] = sets->above[i] = (op_set)1 << i;
        if (scope_is_replaced(s, s->ops[i])) sets->replaced |= (op_set)1 << i;
    }
    for (bool changed = true; changed;) {   /* as many rounds as the match is deep */
        changed = false;
        for (size_t k = s->reads; k < p->n_reads; k++) {
            const scope_read r = p->reads[k];
            const size_t maker = value_op(r.value) ? scope_place(s, value_op(r.value)) : SCOPE_OPS;
            if (maker == SCOPE_OPS) continue;
            const op_set below = sets->below[maker] | sets->below[r.op], above = sets->above[r.op] | sets->above[maker];
            changed |= below != sets->below[maker] || above != sets->above[r.op];
            sets->below[maker] = below;
            sets->above[r.op] = above;
        }
    }
}

/* The ops that depend on a value that is not new. The match may not know the value: then it may be anything. */
static op_set below_value(const xir_provenance *p, const provenance_scope *s, const scope_sets *sets,
                          const xir_value *v) {
    op_set below = 0;
    for (size_t k = s->reads; k < p->n_reads; k++)
        if (p->reads[k].value == v) below |= sets->below[p->reads[k].op];
    return below ? below : sets->all;
}

static new_op *find_new(const xir_provenance *p, const xir_op *op) {
    for (size_t i = p->n_news; i-- > 0;)
        if (p->news[i].op == op) return &p->news[i];
    return NULL;
}

static bool is_new(const provenance_scope *s, const xir_op *op) { return op && op->slot >= s->slots; }

static bool push(xir_provenance *p, const xir_op *op) {
    enum { MOST = 256 };   /* a rule makes a few; more stand for the whole match */
    if (p->n_news == MOST || !PROVENANCE_ROOM(p, news, n_news, news_room)) return false;
    p->news[p->n_news++] = (new_op){ .op = op };
    return true;
}

/* Finds the new ops above one, and itself. */
static bool gather(xir_provenance *p, const provenance_scope *s, const xir_op *first) {
    if (!is_new(s, first) || find_new(p, first)) return true;
    size_t at = p->n_news;
    if (!push(p, first)) return false;
    for (; at < p->n_news; at++) {
        const xir_op *op = p->news[at].op;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const xir_value *v = op_inputs(op)[i].value;
            if (!v || !is_new(s, value_op(v)) || find_new(p, value_op(v))) continue;
            if (!push(p, value_op(v))) return false;
        }
    }
    return true;
}

static bool grow_below(const xir_provenance *p, const provenance_scope *s, const scope_sets *sets, new_op *n) {
    op_set below = n->below;
    bool reads = false;
    for (uint32_t i = 0; i < n->op->n_inputs; i++) {
        const xir_value *v = op_inputs(n->op)[i].value;
        if (!v || value_is_params(v)) continue;
        const new_op *maker = is_new(s, value_op(v)) ? find_new(p, value_op(v)) : NULL;
        below |= maker ? maker->below : below_value(p, s, sets, v);
        reads = true;
    }
    if (!reads) below = sets->all;   /* it reads constants alone */
    const bool grows = below != n->below;
    n->below = below;
    return grows;
}

static bool grow_above(const xir_provenance *p, const provenance_scope *s, const new_op *n) {
    bool grows = false;
    for (uint32_t i = 0; i < n->op->n_inputs; i++) {
        const xir_value *v = op_inputs(n->op)[i].value;
        new_op *maker = v && is_new(s, value_op(v)) ? find_new(p, value_op(v)) : NULL;
        if (!maker || (maker->above | n->above) == maker->above) continue;
        maker->above |= n->above;
        grows = true;
    }
    return grows;
}

static void give(xir_provenance *p, const provenance_scope *s, const scope_sets *sets, const new_op *n) {
    const size_t from = p->parents.n;
    const op_set both = n->below & n->above;
    op_set set = both & sets->replaced ? both & sets->replaced : both;
    bool ok = !origin_at(&p->of_op, n->op->slot);
    const bool any = ok && set;
    for (; set && ok; set &= set - 1) ok = origin_add_own(p, from, s->ops[__builtin_ctzll(set)]);
    if (ok && any) origin_add(p, n->op->slot, from, p->parents.n - from);   /* of nothing: it serves its users, too */
    else p->parents.n = from;
}

void scope_give_each(xir_provenance *p, const provenance_scope *s) {
    enum { MOST = 512 };   /* reads: with more, as of a Concat of many parts, new ops stand for the whole match */
    scope_sets sets;
    bool ok = p->net->n_slots > s->slots && p->n_reads - s->reads <= MOST;
    p->n_news = 0;
    for (size_t i = s->heirs; i < p->n_heirs && ok; i++) ok = gather(p, s, value_op(p->heirs[i].to));
    if (!ok || !p->n_news) return;
    find_sets(p, s, &sets);
    for (size_t i = s->heirs; i < p->n_heirs; i++) {
        const origin_heir *h = &p->heirs[i];
        new_op *n = is_new(s, value_op(h->to)) ? find_new(p, value_op(h->to)) : NULL;
        const size_t place = h->from ? scope_place(s, h->from) : SCOPE_OPS;
        if (n) n->above |= place < SCOPE_OPS ? sets.above[place] : sets.all;
    }
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t i = p->n_news; i-- > 0;) grows |= grow_below(p, s, &sets, &p->news[i]);
        for (size_t i = 0; i < p->n_news; i++) grows |= grow_above(p, s, &p->news[i]);
    }
    for (size_t i = 0; i < p->n_news; i++) give(p, s, &sets, &p->news[i]);
}
