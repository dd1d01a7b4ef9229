/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convexity of a set of ops. A walk in breadth from the outside users of the set reaches each op outside once and
 * notes from where; the first use back inside ends it, so the path is a shortest one. */
#include <inttypes.h>
#include <stdio.h>
#include "region.h"
#include "view.h"

/* By slot: how an op was reached. */
typedef struct ways {
    const xir_network *net;
    const xir_op     **from;      /* the op before it on the way; NULL: not reached */
    const xir_op     **reached;   /* ops outside, in the order in which they were reached */
    uint64_t          *members;   /* the set, one bit for each slot */
    size_t             slots, n;
    const xir_op      *last, *back;   /* the last op outside on a path back, and the op inside that it leads to */
} ways;

static bool has(const ways *w, const xir_op *op) { return w->members[op->slot / 64] >> (op->slot % 64) & 1; }

static bool ways_open(ways *w, const xir_network *net) {
    w->net = net;
    w->slots = (size_t)net->n_slots + 1;
    w->from = mem_new(&net->alloc, w->slots * sizeof *w->from);
    w->reached = mem_new(&net->alloc, w->slots * sizeof *w->reached);
    w->members = mem_new(&net->alloc, (w->slots / 64 + 1) * sizeof *w->members);
    if (!w->from || !w->reached || !w->members) return false;
    memset((void *)w->from, 0, w->slots * sizeof *w->from);
    memset(w->members, 0, (w->slots / 64 + 1) * sizeof *w->members);
    return true;
}

static void ways_close(ways *w) {
    const xir_allocator *alloc = &w->net->alloc;
    mem_free(alloc, (void *)w->from, w->slots * sizeof *w->from);
    mem_free(alloc, (void *)w->reached, w->slots * sizeof *w->reached);
    mem_free(alloc, w->members, (w->slots / 64 + 1) * sizeof *w->members);
}

/* Why an item is not a placed op of the network; NULL: it is one. */
static const char *stranger(const xir_network *net, const xir_op *op) {
    return !op                       ? "is NULL"
         : op->net != net            ? "belongs to another network"
         : op->flags & OP_ERASED     ? "has been erased"
         : op->flags & OP_CHILD      ? "is a sub op"
         : !(op->flags & OP_PLACED)  ? "is not placed"
         : NULL;
}

xir_status region_op_check(const xir_network *net, const xir_op *op, size_t i, xir_diags *why) {
    const char *fault = stranger(net, op);
    return fault ? diag_fail(why, XIR_E_INVALID, XIR_STR(""), "op %zu of the region %s", i, fault) : XIR_OK;
}

static xir_status gather(ways *w, xir_op *const *ops, size_t n, xir_diags *why) {
    for (size_t i = 0; i < n; i++) {
        xir_status status = region_op_check(w->net, ops[i], i, why);
        if (status) return status;
        if (has(w, ops[i])) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "op %" PRId64 " is in the region twice", ops[i]->id);
        }
        w->members[ops[i]->slot / 64] |= (uint64_t)1 << (ops[i]->slot % 64);
    }
    return XIR_OK;
}

/* Visits the users of what an op, or one of its sub ops, makes. False once a path leads back. */
typedef struct follower { ways *w; const xir_op *op; } follower;

static bool follow(void *user, xir_op *maker) {
    const follower *f = user;
    ways *w = f->w;
    for (uint32_t i = 0; i < maker->n_outputs; i++) {
        for (const xir_use *u = op_outputs(maker)[i].uses; u; u = u->next) {
            const xir_op *next = placed_user(u);
            if (!next || next == f->op) continue;
            if (has(w, next)) {
                if (has(w, f->op)) continue;
                w->last = f->op;
                w->back = next;
                return false;
            }
            if (w->from[next->slot]) continue;
            w->from[next->slot] = f->op;
            w->reached[w->n++] = next;
        }
    }
    return maker->cls->plain || op_each_child(maker, follow, user);
}

/* Sets w->last and w->back if the set is not convex. */
static void search(ways *w, xir_op *const *ops, size_t n) {
    for (size_t i = 0; i < n; i++) (void)follow(&(follower){ w, ops[i] }, ops[i]);
    for (size_t i = 0; i < w->n && !w->back; i++)
        (void)follow(&(follower){ w, w->reached[i] }, (xir_op *)(uintptr_t)w->reached[i]);
}

/* Steps along the path from its end to its start. The first and the last op may be the same one. */
typedef struct step { const xir_op *op; bool began; } step;

static step first_step(const ways *w) { return (step){ w->back, false }; }   /* no op: the set is convex */

static step step_back(const ways *w, step at) {
    if (!at.began) return (step){ w->last, true };
    return (step){ has(w, at.op) ? NULL : w->from[at.op->slot], true };
}

static size_t path_length(const ways *w) {
    size_t n = 0;
    for (step at = first_step(w); at.op; at = step_back(w, at)) n++;
    return n;
}

/* Writes the path from its start, up to `room`, and returns its length. */
static size_t write_path(const ways *w, xir_op **out, size_t room) {
    const size_t n = path_length(w);
    size_t i = n;
    for (step at = first_step(w); at.op; at = step_back(w, at)) {
        if (--i < room) out[i] = (xir_op *)(uintptr_t)at.op;
    }
    return n;
}

enum { SHOWN = 4 };   /* ops at each end of a long path */

static xir_status not_convex(const ways *w, xir_diags *why) {
    xir_op **path = NULL;
    const size_t n = path_length(w);
    char text[1200];
    size_t size = 0;
    if (!why) return XIR_E_INVALID;
    path = mem_new(&w->net->alloc, n * sizeof *path);
    if (!path) return diag_memory(why);
    (void)write_path(w, path, n);
    for (size_t i = 0; i < n && size < sizeof text; i++) {
        const xir_str name = name_text(op_label(path[i]));
        int wrote;
        if (n > 2 * SHOWN && i == SHOWN) {
            wrote = snprintf(text + size, sizeof text - size, ", %zu more ops", n - 2 * SHOWN);
            i = n - SHOWN - 1;
        } else {
            wrote = snprintf(text + size, sizeof text - size, "%sop %" PRId64 "%s%.*s%s", i ? ", " : "", path[i]->id,
                             name.size ? " '" : "", name.size > 60 ? 60 : (int)name.size, name.data,
                             name.size ? "'" : "");
        }
        size += wrote < 0 ? 0 : (size_t)wrote;
    }
    xir_status status = diag_fail(why, XIR_E_INVALID, XIR_STR(""),
                                  "the region is not convex: a path leads out of it and back in: %s", text);
    mem_free(&w->net->alloc, path, n * sizeof *path);
    return status;
}

xir_status xir_region_check(const xir_network *net, xir_op *const *ops, size_t n, xir_diags *why) {
    ways w = { 0 };
    if (!net) return diag_null(why, "net");
    if (n && !ops) return diag_null(why, "ops");
    xir_status status = ways_open(&w, net) ? gather(&w, ops, n, why) : diag_memory(why);
    if (!status) search(&w, ops, n);
    if (!status && w.back) status = not_convex(&w, why);
    ways_close(&w);
    return status;
}

size_t xir_region_path(const xir_network *net, xir_op *const *ops, size_t n, xir_op **out, size_t room) {
    ways w = { 0 };
    if (!net || (n && !ops)) return 0;
    size_t found = 0;
    if (ways_open(&w, net) && !gather(&w, ops, n, NULL)) {
        search(&w, ops, n);
        found = write_path(&w, out, room);
    }
    ways_close(&w);
    return found;
}
