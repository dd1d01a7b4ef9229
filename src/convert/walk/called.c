/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See called.h. The ops of a call follow one another when its node is done, so they are convex; what is made among them
 * later belongs to them. A call that none of them is left of is not made. */
#include "walk/called.h"
#include <xir/ops.h>
#include <xir/region.h>
#include "walk/opened.h"

enum { MOST_TAGS = 2 };

typedef struct called_op { const xir_op *op; int64_t id; uint32_t call; } called_op;

typedef struct called {
    xir_str   name;
    xir_entry tags[MOST_TAGS];
    size_t    n_tags;
    size_t    outer;             /* 1 + the call that contains it; 0: none is known       */
    xir_op   *first, *last;      /* of its ops, in the order of the network; NULL: none    */
} called;

/* ---- while the network is converted ------------------------------------------------------------------------------ */

static bool copy_text(conversion *c, xir_str from, xir_str *out) {
    char *text = arena_take(&c->scratch, from.size + 1);
    if (text && from.size) memcpy(text, from.data, from.size);
    *out = (xir_str){ text, from.size };
    return text;
}

/* The call of an op, as far as it was noted. */
static const called_op *noted(const inlining *in, const xir_op *op) {
    const uint32_t *i = pointer_table_find(&in->called_op_of, op);
    const called_op *found = i ? &in->called_ops[*i] : NULL;
    return found && found->id == op->id && found->call < in->n_calls ? found : NULL;
}

static bool note_op(conversion *c, const xir_op *op, size_t call) {
    inlining *in = &c->in;
    if (noted(in, op)) return true;
    const size_t n = in->n_called_ops;
    if (!mem_reserve(context_alloc(c->ctx), (void **)&in->called_ops, &in->called_op_room, n + 1,
                     sizeof *in->called_ops)) return false;
    uint32_t *place = pointer_table_add(&in->called_op_of, op, 0);
    if (!place) return false;
    *place = (uint32_t)n;
    in->called_ops[in->n_called_ops++] = (called_op){ op, op->id, (uint32_t)call };
    return true;
}

bool called_note(xir_node *at, const xir_entry *tags, size_t n) {
    conversion *c = at->c;
    inlining *in = &c->in;
    const opened_node *o = at->opened;
    called now = { .n_tags = n < MOST_TAGS ? n : MOST_TAGS };
    if (!mem_reserve(context_alloc(c->ctx), (void **)&in->calls, &in->call_room, in->n_calls + 1, sizeof *in->calls) ||
        !copy_text(c, xir_op_name(at->op), &now.name)) return node_no_memory(at);
    for (size_t i = 0; i < now.n_tags; i++) {
        now.tags[i].value.kind = XIR_ANY_TEXT;
        if (!copy_text(c, tags[i].key, &now.tags[i].key) ||
            !copy_text(c, tags[i].value.as.text, &now.tags[i].value.as.text)) return node_no_memory(at);
    }
    const size_t call = in->n_calls++;
    for (size_t i = o->n_calls; i < call; i++) if (!in->calls[i].outer) in->calls[i].outer = call + 1;
    in->calls[call] = now;
    const xir_op *op = o->mark ? xir_op_next(o->mark) : xir_network_first(c->net);
    for (; op && op != at->op; op = xir_op_next(op))
        if (!xir_op_is(op, xir_input_class()) && !note_op(c, op, call)) return node_no_memory(at);
    return true;
}

/* ---- at its end -------------------------------------------------------------------------------------------------- */

/* Finds the first and the last op of each call that are left. */
static void find_ends(conversion *c) {
    for (xir_op *op = xir_network_first(c->net); op; op = xir_op_next(op)) {
        const called_op *found = noted(&c->in, op);
        for (size_t k = found ? found->call + (size_t)1 : 0; k; k = c->in.calls[k - 1].outer) {
            called *call = &c->in.calls[k - 1];
            if (!call->first) call->first = op;
            call->last = op;
        }
    }
}

/* The calls around this one contain it in place of its ops. */
static void tell_outer(conversion *c, const called *inner, xir_op *op) {
    for (size_t k = inner->outer; k; k = c->in.calls[k - 1].outer) {
        called *call = &c->in.calls[k - 1];
        if (call->first == inner->first) call->first = op;
        if (call->last == inner->last) call->last = op;
    }
}

static xir_status set_tags(const called *call, xir_op *op) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < call->n_tags && !status; i++)
        if (call->tags[i].value.as.text.size) status = xir_op_set_tag(op, call->tags[i].key, &call->tags[i].value);
    return status;
}

/* Ops that the library cannot move together stay where they are. */
static xir_status stay(conversion *c, const called *call) {
    const xir_status status = xir_network_status(c->net);
    if (status == XIR_E_MEMORY) return status;
    xir_network_clear_status(c->net);
    return xir_diags_add(c->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%sthe function of '%.*s' is not a call: its ops "
                         "cannot run as one", c->prefix, CLIP_TO(call->name, 80));
}

static xir_status outline(conversion *c, const called *call) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    size_t n = 0;
    for (const xir_op *op = call->first; op; op = op == call->last ? NULL : xir_op_next(op)) n++;
    xir_op **ops = mem_new(alloc, n * sizeof *ops);
    if (!ops) return XIR_E_MEMORY;
    size_t i = 0;
    for (xir_op *op = call->first; i < n; op = xir_op_next(op)) ops[i++] = op;
    xir_op *made = xir_outline(c->net, ops, n, &XIR_INIT(xir_outline_options, .name = call->name));
    mem_free(alloc, ops, n * sizeof *ops);
    if (!made) return stay(c, call);
    tell_outer(c, call, made);
    return set_tags(call, made);
}

xir_status called_outline(conversion *c) {
    xir_status status = XIR_OK;
    if (c->in.n_calls) find_ends(c);
    for (size_t i = 0; i < c->in.n_calls && !status; i++)
        if (c->in.calls[i].first) status = outline(c, &c->in.calls[i]);
    return status == XIR_E_MEMORY ? diag_memory(c->why) : status;
}

void called_end(conversion *c) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    pointer_table_free(&c->in.called_op_of);
    mem_free(alloc, c->in.called_ops, c->in.called_op_room * sizeof *c->in.called_ops);
    mem_free(alloc, c->in.calls, c->in.call_room * sizeof *c->in.calls);
}
