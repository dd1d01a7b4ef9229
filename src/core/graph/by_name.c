/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finding ops and values by name. Two tables, one of ops and one of values, list who got which name. They are built by
 * the first question and kept up to date by whatever names or places, so that a program that never asks never pays.
 * Nothing is ever taken out of a list: records keep their addresses and a record keeps its label until it gets another,
 * so an item is valid if its record is in the order and still has that label. */
#include "graph.h"

#define NO_ITEM UINT32_MAX

static bool note(xir_network *net, label_table *t, const void *record, const label *name) {
    if (name->size == 0) return true;
    if (t->n == NO_ITEM || !mem_reserve(&net->alloc, (void **)&t->items, &t->room, t->n + 1, sizeof *t->items))
        return false;
    uint32_t *newest = text_table_add(&t->newest, name_text(name), NO_ITEM);
    if (!newest) return false;
    if (*newest != NO_ITEM && t->items[*newest].record == record && t->items[*newest].name == name) return true;
    t->items[t->n] = (label_item){ record, name, *newest };
    *newest = (uint32_t)t->n++;
    return true;
}

static bool note_op(xir_network *net, const xir_op *op) { return note(net, &net->op_names, op, op_label(op)); }

static bool note_value(xir_network *net, const xir_value *v) {
    return !value_more_of(v) || note(net, &net->value_names, v, value_more_of(v)->name);
}

/* ---- building and keeping ---------------------------------------------------------------------------------- */

static void drop(xir_network *net, label_table *t) {
    if (t->newest.alloc) text_table_free(&t->newest);
    mem_free(&net->alloc, t->items, t->room * sizeof *t->items);
    t->items = NULL;
    t->room = t->n = t->built = 0;
    atomic_store_explicit(&t->is_known, false, memory_order_relaxed);
}

static bool fill_ops(xir_network *net) {
    bool ok = true;
    for (const xir_op *op = net->first; ok && op; op = op->next) ok = note_op(net, op);
    return ok;
}

static bool fill_values(xir_network *net) {
    bool ok = true;
    for (const xir_op *op = net->first; ok && op; op = op->next) {
        for (uint32_t i = 0; ok && i < op->n_outputs; i++) ok = note_value(net, &op_outputs(op)[i]);
        for (uint32_t i = 0; ok && i < op->n_inputs; i++) {
            const xir_value *v = op_inputs(op)[i].value;   /* one that no op makes; a use more notes nothing */
            if (v && !value_op(v) && !value_is_params(v)) ok = note_value(net, v);
        }
    }
    for (const xir_value *v = net->all_params; ok && v; v = value_params(v)->next) ok = note_value(net, v);
    return ok;
}

static bool build(xir_network *net, label_table *t, bool (*fill)(xir_network *net)) {
    if (atomic_load_explicit(&t->is_known, memory_order_acquire)) return true;
    pthread_mutex_lock(&net->cache_lock);
    bool ok = atomic_load_explicit(&t->is_known, memory_order_relaxed);
    if (!ok) {
        text_table_init(&t->newest, &net->alloc);
        ok = fill(net);
        t->built = t->n;
        if (ok) atomic_store_explicit(&net->asked_names, true, memory_order_relaxed);
        if (ok) atomic_store_explicit(&t->is_known, true, memory_order_release);
        else drop(net, t);
    }
    pthread_mutex_unlock(&net->cache_lock);
    return ok;
}

/* A table without memory for one more item, or with more items than twice its names, is built again when somebody
 * asks. */
static void keep(xir_network *net, label_table *t, bool noted) {
    if (!noted || t->n / 2 > t->built + 512) drop(net, t);
}

void value_note_name(const xir_value *v) {
    xir_network *net = value_net(v);
    if (value_op(v) && !(value_op(v)->flags & OP_PLACED)) return;
    keep(net, &net->value_names, note_value(net, v));
}

void op_note_name(const xir_op *op) {
    xir_network *net = op->net;
    if (op->flags & OP_PLACED) keep(net, &net->op_names, note_op(net, op));
}

void op_note_names(const xir_op *op) {
    op_named(op);
    for (uint32_t i = 0; i < op->n_outputs && names_known(&op->net->value_names); i++) value_named(&op_outputs(op)[i]);
    for (uint32_t i = 0; i < op->n_inputs && names_known(&op->net->value_names); i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && !value_op(v) && !value_is_params(v)) value_named(v);
    }
}

void labels_free(xir_network *net) {
    drop(net, &net->op_names);
    drop(net, &net->value_names);
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

/* Returns the newest item of a name, or NO_ITEM. */
static uint32_t newest(const label_table *t, xir_str name) {
    const uint32_t *at = name.size ? text_table_find(&t->newest, name) : NULL;
    return at ? *at : NO_ITEM;
}

xir_op *net_op_named(const xir_network *of, xir_str name, bool (*in)(const void *user, const xir_op *op),
                     const void *user) {
    if (!of || !build(net_cache(of), &net_cache(of)->op_names, fill_ops)) return NULL;
    const label_table *t = &of->op_names;
    xir_op *first = NULL;
    for (uint32_t i = newest(t, name); i != NO_ITEM; i = t->items[i].older) {
        xir_op *op = (xir_op *)(uintptr_t)t->items[i].record;
        if (!(op->flags & OP_PLACED) || op_label(op) != t->items[i].name) continue;
        if ((!first || op->position < first->position) && (!in || in(user, op))) first = op;
    }
    return first;
}

xir_op *xir_network_op_by_name(const xir_network *net, xir_str name) { return net_op_named(net, name, NULL, NULL); }

/* The moment at which a walk of the order meets a value: the op, its inputs before its outputs, and the position
 * there. */
typedef struct meeting { uint32_t op, is_output, index; } meeting;

static bool meets_before(const meeting *a, const meeting *b) {
    if (a->op != b->op) return a->op < b->op;
    return a->is_output != b->is_output ? a->is_output < b->is_output : a->index < b->index;
}

static bool first_meeting(const xir_value *v, meeting *out) {
    const xir_op *op = value_op(v);
    if (op) {
        uintptr_t bytes = (uintptr_t)v - (uintptr_t)op_outputs(op);
        /* An op that gets more outputs has them elsewhere in memory. */
        if (!(op->flags & OP_PLACED) || bytes >= op->n_outputs * sizeof *v) return false;
        *out = (meeting){ op->position, 1, (uint32_t)(bytes / sizeof *v) };
        return true;
    }
    bool met = false;
    for (const xir_use *u = v->uses; u; u = u->next) {
        meeting here = { u->user->position, 0, (uint32_t)(u - op_inputs(u->user)) };
        if (!(u->user->flags & OP_PLACED) || (met && !meets_before(&here, out))) continue;
        *out = here;
        met = true;
    }
    return met;
}

xir_value *net_value_named(const xir_network *of, xir_str name, bool (*in)(const void *user, const xir_value *v),
                           const void *user) {
    if (!of || !build(net_cache(of), &net_cache(of)->value_names, fill_values)) return NULL;
    const label_table *t = &of->value_names;
    xir_value *first = NULL;
    meeting best = { 0 }, here = { 0 };
    for (uint32_t i = newest(t, name); i != NO_ITEM; i = t->items[i].older) {
        xir_value *v = (xir_value *)(uintptr_t)t->items[i].record;
        if (!value_more_of(v) || value_more_of(v)->name != t->items[i].name || !first_meeting(v, &here)) continue;
        if ((first && !meets_before(&here, &best)) || (in && !in(user, v))) continue;
        first = v;
        best = here;
    }
    return first;
}

xir_value *xir_network_value_by_name(const xir_network *net, xir_str name) {
    return net_value_named(net, name, NULL, NULL);
}
