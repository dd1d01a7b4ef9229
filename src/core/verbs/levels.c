/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Levels: one pass in topological order, then a sort by counting. */
#include <xir/order.h>
#include "topological.h"

struct xir_levels {
    topological    order;
    uint32_t      *level;     /* by place in the order                                          */
    const xir_op **ops;       /* by level, in each level in execution order                     */
    uint32_t      *from;      /* by level: where its ops begin; one more                        */
    size_t         n;         /* of levels                                                      */
};

typedef struct leveling { const xir_levels *l; uint32_t level; } leveling;

static bool after(void *user, const xir_op *source) {
    leveling *at = user;
    const uint32_t place = topological_place(&at->l->order, source);
    const uint32_t level = at->l->level[place] + 1;
    if (level > at->level) at->level = level;
    return true;
}

static bool find_levels(xir_levels *l) {
    const topological *t = &l->order;
    for (size_t i = 0; i < t->n; i++) {
        leveling at = { .l = l };
        if (!op_each_source(t->ops[i], after, &at)) return false;
        l->level[i] = at.level;
        if (at.level >= l->n) l->n = at.level + (size_t)1;
    }
    return true;
}

/* Counts how many ops have each level, sums up, and puts each op where its level has come to. */
static void sort_by_level(xir_levels *l) {
    const topological *t = &l->order;
    memset(l->from, 0, (t->n + 1) * sizeof *l->from);
    for (size_t i = 0; i < t->n; i++) l->from[l->level[i] + 1]++;
    for (size_t i = 1; i <= l->n; i++) l->from[i] += l->from[i - 1];
    for (const xir_op *op = t->net->first; op; op = op->next)
        l->ops[l->from[l->level[topological_place(t, op)]]++] = op;
    for (size_t i = l->n; i > 0; i--) l->from[i] = l->from[i - 1];
    l->from[0] = 0;
}

void xir_levels_free(xir_levels *l) {
    if (!l) return;
    const xir_network *net = l->order.net;
    topological_drop(&l->order, l->level, l->order.n, sizeof *l->level);
    topological_drop(&l->order, (void *)l->ops, l->order.n, sizeof *l->ops);
    topological_drop(&l->order, l->from, l->order.n, sizeof *l->from);
    topological_free(&l->order);
    mem_free(&net->ctx->alloc, l, sizeof *l);
}

static xir_status fill(xir_levels *l, const xir_network *net, xir_diags *why) {
    xir_status status = topological_make(&l->order, net, why);
    if (status) return status;
    l->level = topological_take(&l->order, l->order.n, sizeof *l->level);
    l->ops = topological_take(&l->order, l->order.n, sizeof *l->ops);
    l->from = topological_take(&l->order, l->order.n, sizeof *l->from);
    if (!l->level || !l->ops || !l->from || !find_levels(l)) return diag_memory(why);
    sort_by_level(l);
    return XIR_OK;
}

xir_levels *xir_levels_new(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network"), NULL;
    xir_levels *l = mem_new(&net->ctx->alloc, sizeof *l);
    if (!l) return diag_memory(why), NULL;
    *l = (xir_levels){ 0 };
    if (!fill(l, net, why)) return l;
    xir_levels_free(l);
    return NULL;
}

size_t xir_levels_count(const xir_levels *l) { return l ? l->n : 0; }

int64_t xir_levels_of(const xir_levels *l, const xir_op *op) {
    const uint32_t place = l ? topological_place(&l->order, op) : TOPOLOGICAL_NONE;
    return place != TOPOLOGICAL_NONE ? (int64_t)l->level[place] : -1;
}

size_t xir_levels_ops(const xir_levels *l, size_t level, const xir_op **out, size_t room) {
    if (!l || level >= l->n) return 0;
    const size_t n = l->from[level + 1] - l->from[level], copied = n < room ? n : room;
    if (copied) memcpy((void *)out, &l->ops[l->from[level]], copied * sizeof *out);
    return n;
}
