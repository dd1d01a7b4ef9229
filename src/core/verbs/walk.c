/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Walks over ops, sub ops, values and Params. Sub ops wait on a list of this walk, not on the stack of the machine. */
#include <xir/walk.h>
#include "graph.h"
#include "sized.h"

#define WALKER_STRUCT SIZED(xir_walker, params)

/* An op whose sub ops are visited: the next one is item `item` of attribute `field`. */
typedef struct frame { const xir_op *op; uint32_t field; size_t item; } frame;

typedef struct walk {
    xir_walker           how;
    const xir_allocator *alloc;
    frame               *frames;
    size_t               depth, room;
    uint64_t            *seen;        /* Params that have been met, by number                 */
    size_t               words;
    pointer_table        loose;       /* values that no op makes and that have been met       */
    bool                 stopped, no_memory;
} walk;

static bool fails(walk *w) {
    w->no_memory = true;
    return false;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool meet_params(void *user, xir_value *v) {
    walk *w = user;
    if (!v || !value_is_params(v)) return true;
    const uint32_t n = value_params(v)->number;
    if (!w->seen) {
        w->words = value_net(v)->n_params / 64 + (size_t)1;
        w->seen = mem_new(w->alloc, w->words * sizeof *w->seen);
        if (!w->seen) return fails(w);
        memset(w->seen, 0, w->words * sizeof *w->seen);
    }
    if (n / 64 < w->words) {   /* otherwise a call of this walk has made them */
        if (w->seen[n / 64] >> (n % 64) & 1) return true;
        w->seen[n / 64] |= UINT64_C(1) << (n % 64);
    }
    w->stopped = w->how.params(w->how.user, v) == XIR_WALK_STOP;
    return !w->stopped;
}

static bool meet_value(walk *w, xir_value *v) {
    w->stopped = w->how.value(w->how.user, v) == XIR_WALK_STOP;
    return !w->stopped;
}

static bool meet_input(walk *w, xir_value *v) {
    if (!v || value_op(v)) return true;
    if (value_is_params(v)) return !w->how.params || meet_params(w, v);
    if (!w->how.value) return true;
    const size_t before = w->loose.n;
    if (!pointer_table_add(&w->loose, v, 0)) return fails(w);
    return w->loose.n == before || meet_value(w, v);
}

static bool meet_values(walk *w, const xir_op *op) {
    for (uint32_t i = 0; w->how.value && i < op->n_outputs; i++) {
        if (!meet_value(w, &op_outputs(op)[i])) return false;
    }
    for (uint32_t i = 0; (w->how.value || w->how.params) && i < op->n_inputs; i++) {
        if (!meet_input(w, op_inputs(op)[i].value)) return false;
    }
    return !w->how.params || op_walk_own_params(op, meet_params, w);
}

/* ---- ops --------------------------------------------------------------------------------------------------------- */

/* Visits an op and what is in it, except its sub ops: those get a frame. False ends the walk. */
static bool meet_op(walk *w, const xir_op *op) {
    const xir_walk_answer answer = w->how.op ? w->how.op(w->how.user, (xir_op *)(uintptr_t)op) : XIR_WALK_ON;
    w->stopped = answer == XIR_WALK_STOP;
    if (answer == XIR_WALK_PAST) return true;
    if (w->stopped || !meet_values(w, op)) return false;
    if (!op_has_children(op)) return true;
    if (!mem_reserve(w->alloc, (void **)&w->frames, &w->room, w->depth + 1, sizeof *w->frames)) return fails(w);
    w->frames[w->depth++] = (frame){ .op = op };
    return true;
}

/* The next sub op of the top frame; NULL if there is none. */
static const xir_op *next_child(frame *f) {
    const xir_class *cls = f->op->cls;
    for (; f->field < cls->n_fields; f->field++, f->item = 0) {
        if (cls->fields[f->field].kind != XIR_KIND_OPS) continue;
        const xir_ops *ops = body_at(f->op->attrs, &cls->fields[f->field]);
        if (f->item < ops->size) return ops->data[f->item++];
    }
    return NULL;
}

static bool walk_op(walk *w, const xir_op *op) {
    bool going = meet_op(w, op);
    while (going && w->depth) {
        const xir_op *child = next_child(&w->frames[w->depth - 1]);
        if (child) going = meet_op(w, child);
        else w->depth--;
    }
    return going;
}

static xir_status begin(walk *w, const xir_network *net, const xir_walker *how, xir_diags *why) {
    *w = (walk){ .alloc = &net->ctx->alloc };
    pointer_table_init(&w->loose, w->alloc);
    return how ? sized_take(WALKER_STRUCT, &w->how, how, why) : diag_null(why, "walker");
}

static xir_status end(walk *w, xir_diags *why) {
    mem_free(w->alloc, w->frames, w->room * sizeof *w->frames);
    mem_free(w->alloc, w->seen, w->words * sizeof *w->seen);
    pointer_table_free(&w->loose);
    return w->no_memory ? diag_memory(why) : XIR_OK;
}

xir_status xir_network_walk(const xir_network *net, const xir_walker *how, xir_diags *why) {
    walk w;
    if (!net) return diag_null(why, "network");
    xir_status status = begin(&w, net, how, why);
    if (status) return status;
    for (const xir_op *op = net->first, *next; op; op = next) {
        next = op->next;
        if (!walk_op(&w, op)) break;
    }
    return end(&w, why);
}

xir_status xir_op_walk(const xir_op *op, const xir_walker *how, xir_diags *why) {
    walk w;
    if (!op) return diag_null(why, "op");
    xir_status status = begin(&w, op->net, how, why);
    if (status) return status;
    walk_op(&w, op);
    return end(&w, why);
}
