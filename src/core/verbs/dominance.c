/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Dominators of a graph without cycles: in topological order, the dominator of an op is the nearest common dominator of
 * the ops that it depends on (K. Cooper, T. Harvey, K. Kennedy, "A simple, fast dominance algorithm", 2001). Each op
 * has a jump, so that the way up takes logarithmic time (E. Myers, "An applicative random-access stack", 1983). Ops
 * that depend on nothing hang on a root that does not stand for an op.
 *
 * The tree of dominators is then numbered, parents first and each subtree without gaps: so "dominates" is a
 * comparison. */
#include <xir/order.h>
#include "topological.h"

typedef struct node {
    uint32_t up, jump;       /* nodes; of the root itself                                   */
    uint32_t depth;
    uint32_t number, size;   /* of the subtree: numbers from `number` up to number + size   */
} node;

struct xir_dominance {
    topological order;
    node       *nodes;       /* 0: the root; then the ops by place in the order, from 1     */
};

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* The nearest node above both, or one of them. */
static uint32_t common(const node *nodes, uint32_t a, uint32_t b) {
    if (nodes[a].depth < nodes[b].depth) {
        const uint32_t deeper = b;
        b = a;
        a = deeper;
    }
    while (nodes[a].depth > nodes[b].depth)
        a = nodes[nodes[a].jump].depth >= nodes[b].depth ? nodes[a].jump : nodes[a].up;
    while (a != b) {   /* nodes of one depth have jumps of one length */
        const bool far = nodes[a].jump != nodes[b].jump;
        a = far ? nodes[a].jump : nodes[a].up;
        b = far ? nodes[b].jump : nodes[b].up;
    }
    return a;
}

static void hang(node *nodes, uint32_t at, uint32_t up) {
    const node *above = &nodes[up], *further = &nodes[above->jump];
    const bool even = above->depth - further->depth == further->depth - nodes[further->jump].depth;
    nodes[at] = (node){ .up = up, .depth = above->depth + 1, .jump = even ? further->jump : up, .size = 1 };
}

typedef struct meeting { const xir_dominance *d; uint32_t up; bool any; } meeting;

static bool meet(void *user, const xir_op *source) {
    meeting *m = user;
    const uint32_t at = topological_place(&m->d->order, source) + 1;
    m->up = m->any ? common(m->d->nodes, m->up, at) : at;
    m->any = true;
    return true;
}

static void number_all(xir_dominance *d) {
    node *nodes = d->nodes;
    const size_t n = d->order.n + 1;
    for (size_t i = n - 1; i > 0; i--) nodes[nodes[i].up].size += nodes[i].size;
    /* `jump` is no longer needed: it becomes the next free number below a node. */
    nodes[0].number = 0;
    nodes[0].jump = 1;
    for (size_t i = 1; i < n; i++) {
        node *up = &nodes[nodes[i].up];
        nodes[i].number = up->jump;
        nodes[i].jump = up->jump + 1;
        up->jump += nodes[i].size;
    }
}

static xir_status fill(xir_dominance *d, const xir_network *net, xir_diags *why) {
    xir_status status = topological_make(&d->order, net, why);
    if (status) return status;
    d->nodes = topological_take(&d->order, d->order.n, sizeof *d->nodes);
    if (!d->nodes) return diag_memory(why);
    d->nodes[0] = (node){ .size = 1 };
    for (size_t i = 0; i < d->order.n; i++) {
        meeting m = { .d = d };
        if (!op_each_source(d->order.ops[i], meet, &m)) return diag_memory(why);
        hang(d->nodes, (uint32_t)i + 1, m.up);
    }
    number_all(d);
    return XIR_OK;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

xir_dominance *xir_dominance_new(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network"), NULL;
    xir_dominance *d = mem_new(&net->ctx->alloc, sizeof *d);
    if (!d) return diag_memory(why), NULL;
    *d = (xir_dominance){ 0 };
    if (!fill(d, net, why)) return d;
    xir_dominance_free(d);
    return NULL;
}

void xir_dominance_free(xir_dominance *d) {
    if (!d) return;
    const xir_network *net = d->order.net;
    topological_drop(&d->order, d->nodes, d->order.n, sizeof *d->nodes);
    topological_free(&d->order);
    mem_free(&net->ctx->alloc, d, sizeof *d);
}

/* The node of an op, 0 if it has none. */
static uint32_t node_of(const xir_dominance *d, const xir_op *op) {
    return d ? topological_place(&d->order, op) + 1 : 0;
}

static const xir_op *op_of(const xir_dominance *d, uint32_t at) { return at ? d->order.ops[at - 1] : NULL; }

static bool is_above(const node *a, const node *b) { return b->number >= a->number && b->number - a->number < a->size; }

bool xir_dominates(const xir_dominance *d, const xir_op *a, const xir_op *b) {
    const uint32_t above = node_of(d, a), below = node_of(d, b);
    return above && below && is_above(&d->nodes[above], &d->nodes[below]);
}

const xir_op *xir_dominator(const xir_dominance *d, const xir_op *op) {
    const uint32_t at = node_of(d, op);
    return at ? op_of(d, d->nodes[at].up) : NULL;
}

const xir_op *xir_common_dominator(const xir_dominance *d, const xir_op *a, const xir_op *b) {
    uint32_t above = node_of(d, a);
    const uint32_t below = node_of(d, b);
    if (!above || !below) return NULL;
    while (above && !is_above(&d->nodes[above], &d->nodes[below])) above = d->nodes[above].up;
    return op_of(d, above);
}
