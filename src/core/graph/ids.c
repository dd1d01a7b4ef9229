/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ids are sparse 64-bit numbers; two hash tables map them to pointers. The tables are built on first use, so a program
 * that never asks never pays, and are then kept up to date. They are specialised: ids are removed again, and an item
 * contains its id, so that a slot is only a pointer. */
#include "graph.h"

typedef int64_t id_of(const void *item);
static int64_t op_id(const void *item)    { return ((const xir_op *)item)->id; }
static int64_t value_id(const void *item) { return ((const xir_value *)item)->id; }

static size_t first_slot(const id_table *t, int64_t id) {
    uint64_t hash = (uint64_t)id * 0x9E3779B97F4A7C15u;
    return (size_t)(hash >> 32) & (t->room - 1);
}

static bool reserve(id_table *t, const xir_allocator *alloc, size_t more, id_of *id) {
    if (more > SIZE_MAX / 4 - t->count) return false;
    size_t need = (t->count + more) * 3 / 2 + 1;
    if (need <= t->room) return true;
    id_table bigger = { NULL, t->room ? t->room : 16, 0 };
    while (bigger.room < need) bigger.room *= 2;
    bigger.slots = mem_new(alloc, bigger.room * sizeof *bigger.slots);
    if (!bigger.slots) return false;
    memset((void *)bigger.slots, 0, bigger.room * sizeof *bigger.slots);
    for (size_t i = 0; i < t->room; i++) {
        if (!t->slots[i]) continue;
        size_t at = first_slot(&bigger, id(t->slots[i]));
        while (bigger.slots[at]) at = (at + 1) & (bigger.room - 1);
        bigger.slots[at] = t->slots[i];
        bigger.count++;
    }
    mem_free(alloc, (void *)t->slots, t->room * sizeof *t->slots);
    *t = bigger;
    return true;
}

/* Room must have been reserved. */
static void put(id_table *t, void *item, int64_t id) {
    size_t at = first_slot(t, id);
    while (t->slots[at] && t->slots[at] != item) at = (at + 1) & (t->room - 1);
    if (!t->slots[at]) t->count++;
    t->slots[at] = item;
}

static void *find(const id_table *t, int64_t wanted, id_of *id) {
    if (!t->room) return NULL;
    for (size_t at = first_slot(t, wanted); t->slots[at]; at = (at + 1) & (t->room - 1)) {
        if (id(t->slots[at]) == wanted) return t->slots[at];
    }
    return NULL;
}

/* Removes an item; items after it that belong further up move there. */
static void cut(id_table *t, const void *item, int64_t wanted, id_of *id) {
    if (!t->room) return;
    size_t at = first_slot(t, wanted);
    while (t->slots[at] && t->slots[at] != item) at = (at + 1) & (t->room - 1);
    if (!t->slots[at]) return;
    t->count--;
    size_t hole = at;
    for (size_t next = (at + 1) & (t->room - 1); t->slots[next]; next = (next + 1) & (t->room - 1)) {
        size_t wants = first_slot(t, id(t->slots[next]));
        bool stays = hole <= next ? hole < wants && wants <= next : hole < wants || wants <= next;
        if (stays) continue;
        t->slots[hole] = t->slots[next];
        hole = next;
    }
    t->slots[hole] = NULL;
}

/* ---- the network's two ------------------------------------------------------------------------------------- */

static void drop(xir_network *net) {
    mem_free(&net->alloc, (void *)net->op_ids.slots, net->op_ids.room * sizeof(void *));
    mem_free(&net->alloc, (void *)net->value_ids.slots, net->value_ids.room * sizeof(void *));
    net->op_ids = net->value_ids = (id_table){ 0 };
}

static bool put_op(xir_network *net, xir_op *op);

static bool put_children(xir_network *net, const xir_op *op) {
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            if (!put_op(net, children->data[j])) return false;
        }
    }
    return true;
}

static bool put_op(xir_network *net, xir_op *op) {
    if (!reserve(&net->op_ids, &net->alloc, 1, op_id) ||
        !reserve(&net->value_ids, &net->alloc, op->n_outputs, value_id)) {
        return false;
    }
    put(&net->op_ids, op, op->id);
    for (uint32_t i = 0; i < op->n_outputs; i++) put(&net->value_ids, &op_outputs(op)[i], op_outputs(op)[i].id);
    for (uint32_t i = 0; i < op->n_inputs; i++) {   /* only this finds values that no op makes */
        xir_value *v = op_inputs(op)[i].value;
        if (!v || value_op(v) || value_is_params(v)) continue;
        if (!reserve(&net->value_ids, &net->alloc, 1, value_id)) return false;
        put(&net->value_ids, v, v->id);
    }
    return put_children(net, op);
}

static bool build(xir_network *net) {
    bool ok = reserve(&net->op_ids, &net->alloc, net->n_ops, op_id);
    for (xir_op *op = net->first; ok && op; op = op->next) ok = put_op(net, op);
    for (xir_value *v = net->all_params; ok && v; v = value_params(v)->next) {
        ok = reserve(&net->value_ids, &net->alloc, 1, value_id);
        if (ok) put(&net->value_ids, v, v->id);
    }
    if (!ok) drop(net);
    return ok;
}

bool net_build_ids(const xir_network *of) {
    xir_network *net = net_cache(of);
    if (atomic_load_explicit(&net->has_ids, memory_order_acquire)) return true;
    pthread_mutex_lock(&net->cache_lock);
    bool ok = atomic_load_explicit(&net->has_ids, memory_order_relaxed) || build(net);
    if (ok) atomic_store_explicit(&net->has_ids, true, memory_order_release);
    pthread_mutex_unlock(&net->cache_lock);
    return ok;
}

bool net_reserve_ids(xir_network *net, size_t ops, size_t values) {
    if (!atomic_load_explicit(&net->has_ids, memory_order_relaxed)) return true;
    return reserve(&net->op_ids, &net->alloc, ops, op_id) && reserve(&net->value_ids, &net->alloc, values, value_id);
}

xir_op *net_find_op(const xir_network *net, int64_t id) {
    return net_build_ids(net) ? find(&net->op_ids, id, op_id) : NULL;
}

xir_value *net_find_value(const xir_network *net, int64_t id) {
    return net_build_ids(net) ? find(&net->value_ids, id, value_id) : NULL;
}

/* Apart from `enter`, into which the compiler joins it: most networks have no tables while they are made. */
static __attribute__((noinline)) bool move(xir_network *net, id_table *t, void *item, int64_t before, int64_t id,
                                           id_of *of) {
    if (before == id && find(t, id, of) == item) return true;
    if (!reserve(t, &net->alloc, 1, of)) return false;
    cut(t, item, before, of);
    put(t, item, id);
    return true;
}

/* Moves an item of the table to another id; an item that has this id stays. */
static inline bool enter(xir_network *net, id_table *t, void *item, int64_t before, int64_t id, id_of *of) {
    return !atomic_load_explicit(&net->has_ids, memory_order_relaxed) || move(net, t, item, before, id, of);
}

bool op_set_id(xir_op *op, int64_t id) {
    xir_network *net = op->net;
    if (!enter(net, &net->op_ids, op, op->id, id, op_id)) return false;
    op->id = id;
    if (id >= net->next_op_id && id < INT64_MAX) net->next_op_id = id + 1;
    return true;
}

bool value_set_id(xir_value *value, int64_t id) {
    xir_network *net = value_net(value);
    if (!enter(net, &net->value_ids, value, value->id, id, value_id)) return false;
    value->id = id;
    if (id >= net->next_value_id && id < INT64_MAX) net->next_value_id = id + 1;
    return true;
}

void ids_forget_op(xir_op *op) {
    xir_network *net = op->net;
    if (!atomic_load_explicit(&net->has_ids, memory_order_relaxed)) return;
    cut(&net->op_ids, op, op->id, op_id);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        xir_value *v = &op_outputs(op)[i];
        cut(&net->value_ids, v, v->id, value_id);
    }
}

void ids_forget_value(xir_value *value) {
    xir_network *net = value_net(value);
    if (atomic_load_explicit(&net->has_ids, memory_order_relaxed)) cut(&net->value_ids, value, value->id, value_id);
}

void ids_free(xir_network *net) {
    drop(net);
    atomic_store_explicit(&net->has_ids, false, memory_order_relaxed);
}
