/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Divides a network. The copy that the parts are taken from has the ops of all groups in place. In a second copy each
 * group is one op, so that its order is one of parts: there an op of the host has as its level the number of groups
 * that must have run before it, along the longest path, and so has a group. The ops of the host of one level are a
 * part. Whatever leaves it goes through a group and comes back at a higher level, so it is convex. */
#include <inttypes.h>
#include <stdlib.h>
#include <xir/division.h>
#include <xir/region.h>
#include "graph.h"
#include "legal.h"
#include "sized.h"
#include "view.h"

#define GROUP_TAG "xir.group"

/* An op and the part that it is in. */
typedef struct member {
    int64_t  group;      /* -1: the host's          */
    uint32_t level;
    uint64_t position;   /* in the order            */
    xir_op  *op;         /* of the whole            */
} member;

struct xir_division {
    xir_allocator alloc;
    xir_network  *whole;
    xir_division_part     *items;
    size_t        n, room;
};

typedef struct dividing {
    xir_division   *parts;
    xir_network *order;        /* in which groups are single ops */
    xir_diags   *why;
    member      *members;
    size_t       n;
    uint32_t    *level;        /* by slot of `order`             */
    size_t       slots;
} dividing;

static bool is_end(const xir_op *op) { return op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK); }

static int64_t tag_of(const xir_op *op) {
    const xir_any *tag = xir_map_find(xir_op_tags(op), XIR_STR(GROUP_TAG));
    return tag && tag->kind == XIR_ANY_INT && tag->as.integer >= 0 ? tag->as.integer : -1;
}

/* ---- groups that are calls -------------------------------------------------------------------------------------- */

static bool is_group(const xir_op *op) {
    return is_call(op->cls) && xir_target_row_of(op_target(op))->accelerator;
}

typedef struct numbering { xir_any number; xir_status status; } numbering;

static bool number_child(void *user, xir_op *op) {
    numbering *in = user;
    if (!is_end(op)) in->status = xir_op_set_tag(op, XIR_STR(GROUP_TAG), &in->number);
    return !in->status;
}

/* Puts the bodies of such calls in their places, with a number that no other group has. */
static xir_status open_calls(dividing *d) {
    int64_t next = 0;
    for (const xir_op *op = d->parts->whole->first; op; op = op->next) {
        const int64_t own = tag_of(op);
        if (own >= next && own < INT64_MAX) next = own + 1;
    }
    for (xir_op *op = d->parts->whole->first, *after; op; op = after) {
        after = op->next;
        if (!is_group(op)) continue;
        const int64_t own = tag_of(op);
        numbering in = { xir_any_int(own < 0 ? next++ : own), XIR_OK };
        (void)op_each_child(op, number_child, &in);
        if (in.status) return diag_memory(d->why);
        const xir_status status = xir_op_inline(op);
        if (status) return status == XIR_E_MEMORY ? diag_memory(d->why)
                           : diag_fail(d->why, status, XIR_STR(""), "a call cannot be inlined");
    }
    return XIR_OK;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static int by_group(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static int by_part(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return by_group(a, b);   /* the host's first */
}

/* Lists the ops of a network, without its ends, by group. */
static void list_members(dividing *d, const xir_network *net) {
    d->n = 0;
    for (xir_op *op = net->first; op; op = op->next) {
        if (is_end(op)) continue;
        d->members[d->n] = (member){ .group = tag_of(op), .position = d->n, .op = op };
        d->n++;
    }
    qsort(d->members, d->n, sizeof *d->members, by_group);
}

/* The members from `from` on that are in one part, as ops. */
static size_t take_ops(const dividing *d, size_t from, bool levels, xir_op **out) {
    const member *first = &d->members[from];
    size_t n = 0;
    for (size_t i = from; i < d->n; i++) {
        const member *m = &d->members[i];
        if (m->group != first->group || (levels && m->level != first->level)) break;
        out[n++] = m->op;
    }
    return n;
}

/* Makes each group of the second copy one op. */
static xir_status join_groups(dividing *d, xir_op **ops) {
    list_members(d, d->order);
    for (size_t i = 0, n; i < d->n; i += n) {
        const int64_t group = d->members[i].group;
        n = take_ops(d, i, false, ops);
        if (group < 0) continue;
        xir_op *call = xir_outline(d->order, ops, n, NULL);
        if (!call) {
            const xir_diag *said = xir_diags_at(xir_network_diags(d->order), 0);
            const xir_status status = xir_network_status(d->order);
            if (status == XIR_E_MEMORY || !said) return diag_memory(d->why);
            return diag_fail(d->why, status, XIR_STR(""), "group %" PRId64 ": %.*s", group,
                             CLIP_TO(said->message, 300));
        }
        const xir_any number = xir_any_int(group);
        if (xir_op_set_tag(call, XIR_STR(GROUP_TAG), &number)) return diag_memory(d->why);
    }
    return XIR_OK;
}

/* ---- levels ----------------------------------------------------------------------------------------------------- */

static void find_levels(dividing *d) {
    for (xir_op *op = d->order->first; op; op = op->next) {
        uint32_t level = 0;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const xir_value *v = op_inputs(op)[i].value;
            const xir_op *maker = v ? value_op(v) : NULL;
            if (!maker) continue;
            const uint32_t after = d->level[maker->slot] + (tag_of(maker) >= 0);
            if (after > level) level = after;
        }
        d->level[op->slot] = level;
    }
}

typedef struct lowering { dividing *d; uint32_t level; } lowering;

static bool lower_child(void *user, xir_op *op) {
    lowering *in = user;
    if (op->slot < in->d->slots) in->d->level[op->slot] = in->level;
    return true;
}

/* Gives the ops of the whole the levels of the second copy, in which they have the same ids. */
static void spread_levels(dividing *d) {
    for (xir_op *op = d->order->first; op; op = op->next) {
        lowering in = { d, d->level[op->slot] };
        if (tag_of(op) >= 0) (void)op_each_child(op, lower_child, &in);
    }
    list_members(d, d->parts->whole);
    for (size_t i = 0; i < d->n; i++) {
        const xir_op *same = xir_network_op_by_id(d->order, d->members[i].op->id);
        d->members[i].level = same && same->slot < d->slots ? d->level[same->slot] : 0;
    }
    qsort(d->members, d->n, sizeof *d->members, by_part);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* The network of the ops of a part: nobody asks again whether it is convex. NULL with a finding in the whole, or
 * without memory. */
static xir_network *network_of(xir_network *whole, xir_op *const *ops, size_t n) {
    xir_view *view = xir_view_ops(whole, ops, n);
    xir_network *net = view ? view_network(view) : NULL;
    xir_view_free(view);
    return net;
}

static xir_status cut(dividing *d, xir_op **ops) {
    xir_division *parts = d->parts;
    for (size_t i = 0, n; i < d->n; i += n) {
        n = take_ops(d, i, true, ops);
        if (!mem_reserve(&parts->alloc, (void **)&parts->items, &parts->room, parts->n + 1, sizeof *parts->items))
            return diag_memory(d->why);
        xir_network *net = network_of(parts->whole, ops, n);
        if (!net) {
            const xir_diag *said = xir_diags_at(xir_network_diags(parts->whole), 0);
            if (!said || said->code == XIR_E_MEMORY) return diag_memory(d->why);
            return xir_diags_append(d->why, said);
        }
        const int64_t group = d->members[i].group;
        parts->items[parts->n++] = XIR_INIT(xir_division_part, .net = net, .group = group, .ops = n,
                                            .target = group < 0 ? NULL : op_target(ops[0]));
    }
    return XIR_OK;
}

static xir_status divide(dividing *d) {
    const xir_allocator *alloc = &d->parts->alloc;
    xir_status status = open_calls(d);
    d->order = status ? NULL : xir_network_clone(d->parts->whole);
    if (!status && !d->order) return diag_memory(d->why);
    const size_t n = d->parts->whole->n_ops + 1;
    xir_op **ops = status ? NULL : mem_new(alloc, n * sizeof *ops);
    d->members = status ? NULL : mem_new(alloc, n * sizeof *d->members);
    if (!status && (!ops || !d->members)) status = diag_memory(d->why);
    if (!status) status = join_groups(d, ops);
    d->slots = d->order ? xir_network_slot_count(d->order) : 0;
    d->level = status ? NULL : mem_new(alloc, (d->slots + 1) * sizeof *d->level);
    if (!status && !d->level) status = diag_memory(d->why);
    if (!status) {
        memset(d->level, 0, (d->slots + 1) * sizeof *d->level);
        find_levels(d);
        spread_levels(d);
        status = cut(d, ops);
    }
    mem_free(alloc, (void *)ops, n * sizeof *ops);
    mem_free(alloc, d->members, n * sizeof *d->members);
    mem_free(alloc, d->level, (d->slots + 1) * sizeof *d->level);
    return status;
}

/* ---- the public calls ------------------------------------------------------------------------------------------- */

xir_division *xir_division_new(const xir_network *net, xir_diags *why) {
    if (!net) {
        (void)diag_null(why, "network");
        return NULL;
    }
    xir_division *parts = mem_new(&net->alloc, sizeof *parts);
    if (!parts) {
        (void)diag_memory(why);
        return NULL;
    }
    *parts = (xir_division){ .alloc = net->alloc, .whole = xir_network_clone(net) };
    dividing d = { .parts = parts, .why = why };
    const xir_status status = parts->whole ? divide(&d) : diag_memory(why);
    xir_network_free(d.order);
    if (!status) return parts;
    xir_division_free(parts);
    return NULL;
}

void xir_division_free(xir_division *parts) {
    if (!parts) return;
    const xir_allocator alloc = parts->alloc;
    for (size_t i = 0; i < parts->n; i++) xir_network_free(parts->items[i].net);
    mem_free(&alloc, parts->items, parts->room * sizeof *parts->items);
    xir_network_free(parts->whole);
    mem_free(&alloc, parts, sizeof *parts);
}

size_t xir_division_count(const xir_division *parts) { return parts ? parts->n : 0; }

xir_status xir_division_at(const xir_division *parts, size_t i, xir_division_part *out) {
    if (i >= xir_division_count(parts)) return XIR_E_BOUNDS;
    return sized_fill(SIZED(xir_division_part, ops), out, &parts->items[i], NULL);
}

const xir_network *xir_division_whole(const xir_division *parts) { return parts ? parts->whole : NULL; }
