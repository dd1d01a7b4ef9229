/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "sort_memory.h"
#include <xir/memory.h>
#include "class_shares.h"

typedef struct sized_value {
    uint64_t bytes;      /* that the op that makes it adds; 0 for a view */
    uint32_t readers;    /* ops that have not read it yet                */
    uint32_t seen;       /* the number + 1 of the op that is looked at   */
    uint32_t ran;        /* that of the last op that read it             */
} sized_value;

typedef struct ready { int64_t growth; uint32_t number; } ready;

typedef struct scheduler {
    xir_network *net;
    xir_op     **ops;        /* by number, in the present order                        */
    xir_op     **order;
    uint32_t    *number;     /* by slot                                                */
    uint32_t    *waiting;    /* by number: inputs that are not made yet; DONE: it ran  */
    size_t      *first;      /* by number: its first value                             */
    sized_value *values;
    size_t       n, n_values, n_order;
    ready       *heap;       /* an op may be in it more than once                      */
    size_t       n_heap, room;
} scheduler;

#define DONE UINT32_MAX

/* ---- the ops that may run next ----------------------------------------------------------------------------------- */

static bool is_before(const ready *a, const ready *b) {
    return a->growth != b->growth ? a->growth < b->growth : a->number < b->number;
}

static bool heap_add(scheduler *s, ready it) {
    if (!mem_reserve(&s->net->alloc, (void **)&s->heap, &s->room, s->n_heap + 1, sizeof *s->heap)) return false;
    size_t i = s->n_heap++;
    for (; i > 0 && is_before(&it, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = it;
    return true;
}

static ready heap_take(scheduler *s) {
    const ready top = s->heap[0], last = s->heap[--s->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
        if (child + 1 < s->n_heap && is_before(&s->heap[child + 1], &s->heap[child])) child++;
        if (!is_before(&s->heap[child], &last)) break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return top;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static xir_op *top_of(xir_op *op) {
    while (op && op->flags & OP_CHILD) op = xir_op_parent(op);
    return op && op->flags & OP_PLACED ? op : NULL;
}

static sized_value *value_at(const scheduler *s, const xir_value *v) {
    const xir_op *op = v && !value_is_params(v) ? value_op(v) : NULL;
    if (!op || op->net != s->net || !(op->flags & OP_PLACED)) return NULL;
    return &s->values[s->first[s->number[op->slot]] + (size_t)(v - op_outputs(op))];
}

static bool is_view(const xir_op *op) { return op->cls->more->shares.kind == SHARES_VIEW; }

/* Results, and what sub ops read, have a reader that never runs. */
static void begin_value(scheduler *s, const xir_op *op, uint32_t i, sized_value *it) {
    const xir_value *v = &op_outputs(op)[i];
    *it = (sized_value){ .readers = 0 };
    if (is_view(op) || !v->type || xir_type_bytes(v->type, &it->bytes) || it->bytes > INT64_MAX / 4) it->bytes = 0;
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *reader = top_of(u->user);
        if (!reader || reader == op) continue;
        s->waiting[s->number[reader->slot]]++;
        it->readers += reader != u->user || reader->cls->traits & XIR_TRAIT_SINK;
    }
}

/* Counts the ops that read each value, each once. */
static void count_readers(scheduler *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        for (uint32_t i = 0; i < s->ops[k]->n_inputs; i++) {
            sized_value *v = value_at(s, op_inputs(s->ops[k])[i].value);
            if (!v || v->seen == k + 1) continue;
            v->seen = k + 1;
            v->readers++;
        }
    }
    for (size_t i = 0; i < s->n_values; i++) s->values[i].seen = 0;
}

/* Returns how many more bytes live after an op: its outputs, without the inputs that nothing else reads. */
static int64_t growth_of(const scheduler *s, uint32_t number) {
    const xir_op *op = s->ops[number];
    int64_t growth = 0;
    for (uint32_t i = 0; i < op->n_outputs; i++) growth += (int64_t)s->values[s->first[number] + i].bytes;
    for (uint32_t i = 0; i < op->n_inputs && !is_view(op); i++) {
        sized_value *v = value_at(s, op_inputs(op)[i].value);
        if (v && v->readers == 1 && v->seen != number + 1) growth -= (int64_t)v->bytes;
        if (v) v->seen = number + 1;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        sized_value *v = value_at(s, op_inputs(op)[i].value);
        if (v) v->seen = 0;
    }
    return growth;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

/* The last op that reads a value frees its bytes: it may be worth running earlier now. */
static bool offer_last_reader(scheduler *s, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *reader = top_of(u->user);
        const uint32_t number = reader ? s->number[reader->slot] : 0;
        if (!reader || s->waiting[number]) continue;
        return heap_add(s, (ready){ growth_of(s, number), number });
    }
    return true;
}

static bool run_op(scheduler *s, uint32_t number) {
    xir_op *op = s->ops[number];
    bool ok = true;
    s->order[s->n_order++] = op;
    s->waiting[number] = DONE;
    for (uint32_t i = 0; i < op->n_inputs && ok; i++) {
        sized_value *v = value_at(s, op_inputs(op)[i].value);
        if (!v || v->ran == number + 1) continue;
        v->ran = number + 1;
        if (v->readers && --v->readers == 1) ok = offer_last_reader(s, op_inputs(op)[i].value);
    }
    for (uint32_t i = 0; i < op->n_outputs && ok; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u && ok; u = u->next) {
            const xir_op *reader = top_of(u->user);
            const uint32_t its = reader ? s->number[reader->slot] : 0;
            if (!reader || reader == op || --s->waiting[its] || reader->cls->traits & XIR_TRAIT_SINK) continue;
            ok = heap_add(s, (ready){ growth_of(s, its), its });
        }
    }
    return ok;
}

/* Inputs come first, Outputs last. */
static bool schedule(scheduler *s) {
    bool ok = true;
    for (uint32_t k = 0; k < s->n && ok; k++)
        if (s->ops[k]->cls->traits & XIR_TRAIT_SOURCE) ok = run_op(s, k);
    for (uint32_t k = 0; k < s->n && ok; k++) {
        if (s->waiting[k] || s->ops[k]->cls->traits & XIR_TRAIT_SINK) continue;
        ok = heap_add(s, (ready){ growth_of(s, k), k });
    }
    while (s->n_heap && ok) {
        const ready it = heap_take(s);
        if (s->waiting[it.number] != DONE) ok = run_op(s, it.number);
    }
    for (uint32_t k = 0; k < s->n && ok; k++)
        if (s->waiting[k] != DONE) ok = run_op(s, k);
    return ok;
}

/* ---- taking it --------------------------------------------------------------------------------------------------- */

/* The bytes that a plan needs in an order; UINT64_MAX if there is no plan. */
static uint64_t planned_bytes(const xir_network *net, xir_op *const *order, size_t n) {
    xir_memory_peak peak = XIR_INIT(xir_memory_peak, .bytes = UINT64_MAX);
    const xir_liveness_options how = XIR_INIT(xir_liveness_options, .views = true, .in_place = true,
                                              .order = (const xir_op *const *)order, .n_order = order ? n : 0);
    xir_liveness *lives = xir_liveness_new(net, &how, NULL);
    xir_memory_buffers *buffers = lives ? xir_memory_buffers_new(lives, NULL, NULL) : NULL;
    xir_memory_plan *plan = buffers ? xir_memory_buffers_plan(buffers, NULL, NULL) : NULL;
    if (!plan || xir_memory_plan_peak(plan, &peak, NULL)) peak.bytes = UINT64_MAX;
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(buffers);
    xir_liveness_free(lives);
    return peak.bytes;
}

static void take_order(xir_pass *at, const scheduler *s) {
    size_t moved = 0;
    for (size_t i = 0; i < s->n; i++) moved += s->order[i] != s->ops[i];
    if (!moved || planned_bytes(s->net, s->order, s->n) >= planned_bytes(s->net, NULL, 0)) return;
    order_set(s->net, s->order);
    xir_pass_changed(at, moved);
}

static void number_ops(scheduler *s) {
    for (xir_op *op = s->net->first; op; op = op->next) {
        s->number[op->slot] = (uint32_t)s->n;
        s->first[s->n] = s->n_values;
        s->ops[s->n++] = op;
        s->n_values += op->n_outputs;
    }
    memset(s->waiting, 0, s->n * sizeof *s->waiting);
}

xir_status sort_for_memory(xir_pass *at) {
    xir_network *net = at->net;
    const size_t n = net->n_ops + (size_t)1, slots = net->n_slots + (size_t)1;
    scheduler s = { .net = net };
    s.ops = mem_new(&net->alloc, n * sizeof *s.ops);
    s.order = mem_new(&net->alloc, n * sizeof *s.order);
    s.number = mem_new(&net->alloc, slots * sizeof *s.number);
    s.waiting = mem_new(&net->alloc, n * sizeof *s.waiting);
    s.first = mem_new(&net->alloc, n * sizeof *s.first);
    bool ok = s.ops && s.order && s.number && s.waiting && s.first;
    if (ok) number_ops(&s);
    const size_t room = s.n_values + 1;
    s.values = ok ? mem_new(&net->alloc, room * sizeof *s.values) : NULL;
    for (uint32_t k = 0; k < s.n && s.values; k++) {
        for (uint32_t i = 0; i < s.ops[k]->n_outputs; i++) begin_value(&s, s.ops[k], i, &s.values[s.first[k] + i]);
    }
    if (s.values) count_readers(&s);
    ok = s.values && schedule(&s);
    if (ok && s.n_order == s.n) take_order(at, &s);
    mem_free(&net->alloc, (void *)s.ops, n * sizeof *s.ops);
    mem_free(&net->alloc, (void *)s.order, n * sizeof *s.order);
    mem_free(&net->alloc, s.number, slots * sizeof *s.number);
    mem_free(&net->alloc, s.waiting, n * sizeof *s.waiting);
    mem_free(&net->alloc, s.first, n * sizeof *s.first);
    mem_free(&net->alloc, s.values, room * sizeof *s.values);
    mem_free(&net->alloc, s.heap, s.room * sizeof *s.heap);
    return ok ? XIR_OK : pass_no_memory(at);
}
