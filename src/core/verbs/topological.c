/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nearly every network is sorted: then one pass over inputs finds that out, and the order is the one of the network.
 * Otherwise ops are taken as soon as all that they depend on has been taken (A. B. Kahn, 1962). */
#include "topological.h"
#include <inttypes.h>
#include <stdio.h>
#include <xir/order.h>
#include <xir/walk.h>

/* ---- dependencies ------------------------------------------------------------------------------------------------ */

typedef struct sources { const xir_op *op; source_fn *visit; void *user; bool going; } sources;

/* The op of the execution order that makes an input; NULL if there is none. */
static const xir_op *source_of(const xir_op *reader, size_t input) {
    const xir_value *v = op_inputs(reader)[input].value;
    return v ? placed_op(value_op(v)) : NULL;
}

/* An op that reads what it makes depends on itself; what its sub ops read from it or from each other is inside. */
static bool own_sources(sources *s) {
    for (size_t i = 0; i < s->op->n_inputs && s->going; i++) {
        const xir_op *source = source_of(s->op, i);
        if (source && (source != s->op || value_op(op_inputs(s->op)[i].value) == s->op))
            s->going = s->visit(s->user, source);
    }
    return s->going;
}

static xir_walk_answer sources_inside(void *user, xir_op *op) {
    sources *s = user;
    for (size_t i = 0; op != s->op && i < op->n_inputs && s->going; i++) {
        const xir_op *source = source_of(op, i);
        if (source && source != s->op) s->going = s->visit(s->user, source);
    }
    return s->going ? XIR_WALK_ON : XIR_WALK_STOP;
}

bool op_each_source(const xir_op *op, source_fn *visit, void *user) {
    sources s = { .op = op, .visit = visit, .user = user, .going = true };
    if (!own_sources(&s) || !op_has_children(op)) return s.going;
    return xir_op_walk(op, &XIR_INIT(xir_walker, .user = &s, .op = sources_inside), NULL) == XIR_OK && s.going;
}

bool xir_value_precedes(const xir_value *value, const xir_op *op) {
    if (!value || !op || value_net(value) != op->net) return false;
    const xir_op *maker = placed_op(value_op(value)), *reader = placed_op(op);
    if (!reader) return false;
    return maker ? maker->position < reader->position : value_is_params(value);
}

/* ---- sorted ------------------------------------------------------------------------------------------------------ */

typedef struct looking { const xir_op *at; bool backwards; } looking;

static bool is_before(void *user, const xir_op *source) {
    looking *l = user;
    l->backwards = source->position >= l->at->position;
    return !l->backwards;
}

/* Fills the order as it is stored. False without memory; *sorted says whether it can be used. */
static bool take_stored(topological *t, bool *sorted) {
    looking l = { 0 };
    size_t n = 0;
    for (const xir_op *op = t->net->first; op; op = op->next) {
        t->ops[n++] = op;
        t->place[op->slot] = (uint32_t)n;
    }
    for (l.at = t->net->first; l.at; l.at = l.at->next) {
        if (op_each_source(l.at, is_before, &l)) continue;
        *sorted = false;
        return l.backwards;
    }
    *sorted = true;
    return true;
}

/* ---- not sorted -------------------------------------------------------------------------------------------------- */

typedef struct sorting {
    topological *t;
    const xir_op *at;
    uint32_t *waits;    /* by slot: how many inputs wait for their op       */
    uint32_t *from;     /* by slot: where the readers of its outputs begin  */
    const xir_op **readers;
    size_t    n_readers;
} sorting;

static bool count_reader(void *user, const xir_op *source) {
    sorting *s = user;
    s->waits[s->at->slot]++;
    s->from[source->slot + 1]++;
    s->n_readers++;
    return true;
}

static bool note_reader(void *user, const xir_op *source) {
    sorting *s = user;
    s->readers[s->from[source->slot]++] = s->at;
    return true;
}

/* Notes the readers of each op: those of slot i are from from[i - 1] up to from[i]. */
static bool find_readers(sorting *s) {
    topological *t = s->t;
    for (s->at = t->net->first; s->at; s->at = s->at->next) {
        if (!op_each_source(s->at, count_reader, s)) return false;
    }
    for (size_t i = 1; i <= t->n_slots; i++) s->from[i] += s->from[i - 1];
    s->readers = topological_take(t, s->n_readers, sizeof *s->readers);
    for (s->at = s->readers ? t->net->first : NULL; s->at; s->at = s->at->next) {
        if (!op_each_source(s->at, note_reader, s)) return false;
    }
    return s->readers != NULL;
}

/* Returns how many ops could be taken. */
static size_t take_ready(sorting *s) {
    topological *t = s->t;
    size_t n = 0, taken = 0;
    for (const xir_op *op = t->net->first; op; op = op->next) {
        t->place[op->slot] = 0;
        if (!s->waits[op->slot]) t->ops[n++] = op;
    }
    for (; taken < n; taken++) {
        const xir_op *op = t->ops[taken];
        t->place[op->slot] = (uint32_t)taken + 1;
        for (uint32_t i = op->slot ? s->from[op->slot - 1] : 0; i < s->from[op->slot]; i++) {
            if (--s->waits[s->readers[i]->slot] == 0) t->ops[n++] = s->readers[i];
        }
    }
    return taken;
}

/* Stops at the first source that has not been taken. */
static bool find_waiting(void *user, const xir_op *source) {
    sorting *s = user;
    if (s->t->place[source->slot]) return true;
    s->at = source;
    return false;
}

/* Reports one op of a cycle. An op that was not taken waits for another one that was not: that way leads into a cycle,
 * and is in it when it comes to an op for the second time. */
static xir_status report_cycle(sorting *s, xir_diags *why) {
    char path[40];
    const xir_op *op = s->t->net->first;
    memset(s->from, 0, (s->t->n_slots + 1) * sizeof *s->from);
    while (op->next && s->t->place[op->slot]) op = op->next;
    while (!s->from[op->slot]++) {
        s->at = op;
        if (op_each_source(op, find_waiting, s)) break;
        op = s->at;
    }
    snprintf(path, sizeof path, "/ops/%" PRId64, xir_network_index_of(s->t->net, op));
    return diag_fail(why, XIR_E_INVALID, xir_str_of(path), "%.*s '%.*s' depends on itself", CLIP_TO(op->cls->key, 100),
                     CLIP_TO(name_text(op_label(op)), 100));
}

static xir_status sort(topological *t, xir_diags *why) {
    sorting s = { .t = t };
    s.waits = topological_take(t, t->n_slots, sizeof *s.waits);
    s.from = topological_take(t, t->n_slots, sizeof *s.from);
    xir_status status = XIR_E_MEMORY;
    if (s.waits && s.from) {
        memset(s.waits, 0, (t->n_slots + 1) * sizeof *s.waits);
        memset(s.from, 0, (t->n_slots + 1) * sizeof *s.from);
        if (find_readers(&s)) {
            status = take_ready(&s) < t->n ? report_cycle(&s, why) : XIR_OK;
        }
    }
    if (status == XIR_E_MEMORY) status = diag_memory(why);
    topological_drop(t, (void *)s.readers, s.n_readers, sizeof *s.readers);
    topological_drop(t, s.from, t->n_slots, sizeof *s.from);
    topological_drop(t, s.waits, t->n_slots, sizeof *s.waits);
    return status;
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

xir_status topological_make(topological *t, const xir_network *net, xir_diags *why) {
    *t = (topological){ .net = net };
    if (!net) return diag_null(why, "network");
    t->n = net->n_ops;
    t->n_slots = net->n_slots;
    t->ops = topological_take(t, net->n_ops, sizeof *t->ops);
    t->place = topological_take(t, t->n_slots, sizeof *t->place);
    bool sorted = false;
    if (!t->ops || !t->place) return diag_memory(why);
    memset(t->place, 0, t->n_slots * sizeof *t->place);
    if (!take_stored(t, &sorted)) return diag_memory(why);
    return sorted ? XIR_OK : sort(t, why);
}

void topological_free(topological *t) {
    if (!t->net) return;
    topological_drop(t, (void *)t->ops, t->n, sizeof *t->ops);
    topological_drop(t, t->place, t->n_slots, sizeof *t->place);
    *t = (topological){ 0 };
}
