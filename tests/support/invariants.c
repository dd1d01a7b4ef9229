/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/invariants.h"
#include "graph.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct family {        /* the ops that the network holds: placed ones and their sub ops */
    xir_network *net;
    xir_op     **ops;
    size_t       n, room;
    char        *slots;        /* a mark for each slot that was visited */
} family;

static char sentence[300];

static const char *wrong(const char *format, ...) XIR_PRINTF(1, 2);
static const char *wrong(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    return sentence;
}

static void *must(void *memory) {
    if (!memory) abort();
    return memory;
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static const char *meet(family *f, xir_op *op, const xir_op *parent) {
    if (op->net != f->net) return wrong("op %" PRId64 " claims to belong to another network", op->id);
    if (op->slot >= f->net->n_slots)
        return wrong("slot %" PRIu32 " of op %" PRId64 " is past the end", op->slot, op->id);
    if (f->slots[op->slot]) return wrong("slot %" PRIu32 " occurs twice", op->slot);
    f->slots[op->slot] = 1;
    if (op->flags & OP_ERASED) return wrong("op %" PRId64 " is in the network and marked as erased", op->id);
    if (!!(op->flags & OP_PLACED) == (parent != NULL))
        return wrong("op %" PRId64 ": an op is placed if and only if it is not a child", op->id);
    if (!!(op->flags & OP_CHILD) != (parent != NULL))
        return wrong("op %" PRId64 ": the flag of children is set if and only if it has a parent", op->id);
    if (xir_op_parent(op) != parent) return wrong("op %" PRId64 " has another parent", op->id);
    if (!op->attrs || !op_label(op) || !op_target(op) || !op->cls)
        return wrong("op %" PRId64 " is not complete", op->id);
    if (f->n == f->room) {
        f->room = f->room ? f->room * 2 : 64;
        f->ops = must(realloc(f->ops, f->room * sizeof *f->ops));
    }
    f->ops[f->n++] = op;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *field = &op->cls->fields[i];
        if (field->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, field);
        for (size_t k = 0; k < children->size; k++) {
            const char *why = meet(f, children->data[k], op);
            if (why) return why;
        }
    }
    return NULL;
}

static const char *check_list(family *f) {
    const xir_network *net = f->net;
    const xir_op *before = NULL;
    size_t n = 0;
    for (xir_op *op = net->first; op; before = op, op = op->next, n++) {
        if (n > net->n_ops) return wrong("the order is longer than %zu", net->n_ops);
        if (op->prev != before) return wrong("op %" PRId64 " does not point back to the op before it", op->id);
        if (before && before->position >= op->position) return wrong("op %" PRId64 " has too low a position", op->id);
        const char *why = meet(f, op, NULL);
        if (why) return why;
    }
    if (net->last != before) return wrong("the last op is not the last one");
    return n == net->n_ops ? NULL : wrong("%zu ops are in the order, %zu are counted", n, net->n_ops);
}

static bool belongs(const family *f, const xir_op *op) {
    return op->net == f->net && op->slot < f->net->n_slots && f->slots[op->slot];
}

/* ---- uses ------------------------------------------------------------------------------------------------------- */

/* Every use of a list is an input position of its user; counts those of users that belong. */
static const char *walk_uses(const family *f, const xir_value *v, size_t *total) {
    xir_use *const *link = &v->uses;
    size_t n = 0;
    for (const xir_use *u = v->uses; u; link = &u->next, u = u->next) {
        if (n++ > 10000000) return wrong("the uses of value %" PRId64 " form a circle", v->id);
        if (u->value != v) return wrong("a use of value %" PRId64 " has another value", v->id);
        if (u->link != (xir_use **)(uintptr_t)link)
            return wrong("a use of value %" PRId64 " does not point back", v->id);
        const xir_op *user = u->user;
        if (user->net != f->net) return wrong("value %" PRId64 " is used in another network", v->id);
        if (user->flags & OP_ERASED) return wrong("value %" PRId64 " is used by an op that is erased", v->id);
        if (u < op_inputs(user) || u >= op_inputs(user) + user->n_inputs) {
            return wrong("a use of value %" PRId64 " is not an input of op %" PRId64, v->id, user->id);
        }
        if (belongs(f, user)) ++*total;
    }
    return n == xir_value_use_count(v) ? NULL : wrong("the uses of value %" PRId64 " do not match their count", v->id);
}

static const char *check_inputs_of(const family *f, const xir_op *op, size_t *total) {
    const uint32_t room = op->flags & OP_INPUTS_APART ? op_more_of(op)->input_room : op->room;
    if (op->n_inputs > room) return wrong("op %" PRId64 " has more inputs than room", op->id);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_use *u = &op_inputs(op)[i];
        if (u->user != op) return wrong("input %" PRIu32 " of op %" PRId64 " has another user", i, op->id);
        if (!u->value) {
            if (u->next || u->link) return wrong("absent input %" PRIu32 " of op %" PRId64 " is in a list", i, op->id);
            continue;
        }
        if (value_net(u->value) != f->net)
            return wrong("input %" PRIu32 " of op %" PRId64 " belongs to another network", i, op->id);
        const xir_op *maker = value_op(u->value);
        if (maker && (u->value < op_outputs(maker) || u->value >= op_outputs(maker) + maker->n_outputs)) {
            return wrong("input %" PRIu32 " of op %" PRId64 " is an output that op %" PRId64 " no longer has", i,
                         op->id, maker->id);
        }
        if (maker && maker->flags & OP_ERASED)
            return wrong("input %" PRIu32 " of op %" PRId64 " is an output of an erased op", i, op->id);
        /* The use is in the list of its value: `link` points to the head of the list, or to a use of the same value. */
        if (*u->link != u) return wrong("input %" PRIu32 " of op %" PRId64 " is not linked", i, op->id);
        ++*total;
    }
    return NULL;
}

static const char *check_uses_both_ways(const family *f) {
    size_t listed = 0, fed = 0, orphans = 0;
    const char *why = NULL;
    for (size_t i = 0; i < f->n && !why; i++) {
        const xir_op *op = f->ops[i];
        why = check_inputs_of(f, op, &fed);
        for (uint32_t k = 0; k < op->n_outputs && !why; k++) {
            if (value_op(&op_outputs(op)[k]) != op)
                why = wrong("output %" PRIu32 " of op %" PRId64 " has another producer", k, op->id);
            else why = walk_uses(f, &op_outputs(op)[k], &listed);
        }
        /* Values without a producer, and outputs of ops that are not placed, are only found here. */
        for (uint32_t k = 0; k < op->n_inputs && !why; k++) {
            const xir_value *v = op_inputs(op)[k].value;
            if (v && !value_is_params(v) && !(value_op(v) && belongs(f, value_op(v)))) orphans++;
        }
    }
    for (const xir_value *v = f->net->all_params; v && !why; v = value_params(v)->next) why = walk_uses(f, v, &listed);
    if (why) return why;
    return fed == listed + orphans ? NULL : wrong("%zu inputs are fed, the lists have %zu", fed, listed + orphans);
}

/* ---- ids -------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static const char *unique(int64_t *ids, size_t n, int64_t next, const char *what) {
    qsort(ids, n, sizeof *ids, by_number);
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0) return wrong("%s id %" PRId64 " is below 0", what, ids[i]);
        if (i && ids[i] == ids[i - 1]) return wrong("%s id %" PRId64 " appears twice", what, ids[i]);
        if (ids[i] >= next && ids[i] != INT64_MAX) {
            return wrong("%s id %" PRId64 " is not below the next one, %" PRId64, what, ids[i], next);
        }
    }
    return NULL;
}

static const char *check_ids(const family *f) {
    size_t values = 0, n = 0;
    for (size_t i = 0; i < f->n; i++) values += f->ops[i]->n_outputs;
    int64_t *op_ids = must(malloc((f->n + 1) * sizeof *op_ids));
    int64_t *value_ids = must(malloc((values + f->net->n_params + 1) * sizeof *value_ids));
    for (size_t i = 0; i < f->n; i++) {
        op_ids[i] = f->ops[i]->id;
        for (uint32_t k = 0; k < f->ops[i]->n_outputs; k++) value_ids[n++] = op_outputs(f->ops[i])[k].id;
    }
    for (const xir_value *v = f->net->all_params; v; v = value_params(v)->next) {
        if (v->id >= 0) value_ids[n++] = v->id;
    }
    const char *why = unique(op_ids, f->n, f->net->next_op_id, "op");
    if (!why) why = unique(value_ids, n, f->net->next_value_id, "value");
    free(op_ids);
    free(value_ids);
    return why;
}

static const char *check_table(const id_table *t, const char *what) {
    size_t n = 0;
    for (size_t i = 0; i < t->room; i++) n += t->slots[i] != NULL;
    return n == t->count ? NULL : wrong("the table of %s has %zu entries, its count is %zu", what, n, t->count);
}

static const char *check_tables(family *f, bool ask) {
    xir_network *net = f->net;
    if (!ask && !atomic_load(&net->has_ids)) return NULL;
    if (!net_build_ids(net)) return NULL;   /* a test in which memory has run out */
    const char *why = check_table(&net->op_ids, "ops");
    if (!why) why = check_table(&net->value_ids, "values");
    for (size_t i = 0; i < net->op_ids.room && !why; i++) {
        const xir_op *op = net->op_ids.slots[i];
        if (op && op->flags & OP_ERASED) why = wrong("op %" PRId64 " is erased and found by its id", op->id);
    }
    for (size_t i = 0; i < net->value_ids.room && !why; i++) {
        const xir_value *v = net->value_ids.slots[i];
        if (!v || !value_op(v)) continue;
        const xir_op *op = value_op(v);
        if (op->flags & OP_ERASED) why = wrong("value %" PRId64 " of an erased op is found by its id", v->id);
        else if (v < op_outputs(op) || v >= op_outputs(op) + op->n_outputs)
            why = wrong("value %" PRId64 " is found by its id, but the network does not have it", v->id);
    }
    for (size_t i = 0; i < f->n && !why; i++) {
        const xir_op *op = f->ops[i];
        if (xir_network_op_by_id(net, op->id) != op) why = wrong("op %" PRId64 " is not found by its id", op->id);
        for (uint32_t k = 0; k < op->n_outputs && !why; k++) {
            if (xir_network_value_by_id(net, op_outputs(op)[k].id) == &op_outputs(op)[k]) continue;
            why = wrong("value %" PRId64 " is not found by its id", op_outputs(op)[k].id);
        }
    }
    for (xir_value *v = net->all_params; v && !why; v = value_params(v)->next) {
        if (v->id >= 0 && xir_network_value_by_id(net, v->id) != v)
            why = wrong("Params %" PRId64 " are not found by id", v->id);
    }
    return why;
}

/* ---- Params, positions ------------------------------------------------------------------------------------------ */

typedef struct params_walk { const family *f; char *met; const char *why; } params_walk;

static bool visit_params(void *user, xir_value *v) {
    params_walk *w = user;
    if (!value_is_params(v) || value_more_of(v)->net != w->f->net)
        w->why = wrong("an attribute refers to Params that the network does not have");
    else if (v->id < 0) w->why = wrong("Params in use have no id: %" PRId64, v->id);
    else w->met[value_params(v)->number] |= 2;
    return !w->why;
}

static const char *check_params_of(const family *f) {
    const xir_network *net = f->net;
    params_walk w = { f, must(calloc((size_t)net->n_params + 1, 1)), NULL };
    size_t n = 0, used = 0;
    for (const xir_value *v = net->all_params; v && !w.why; v = value_params(v)->next, n++) {
        uint32_t number = value_params(v)->number;
        if (value_op(v)) w.why = wrong("Params %" PRId64 " have a producer", v->id);
        else if (number >= net->n_params || w.met[number])
            w.why = wrong("number %" PRIu32 " of Params occurs twice", number);
        else w.met[number] = 1;
    }
    if (!w.why && n != net->n_params) w.why = wrong("%zu Params exist, their count is %" PRIu32, n, net->n_params);
    for (size_t i = 0; i < f->n && !w.why; i++) {
        const xir_op *op = f->ops[i];
        for (uint32_t k = 0; k < op->n_inputs && !w.why; k++) {
            xir_value *v = op_inputs(op)[k].value;
            if (v && value_is_params(v)) visit_params(&w, v);
        }
        if (!w.why) op_walk_attr_params(op, visit_params, &w);
    }
    for (size_t i = 0; i < net->n_params; i++) used += w.met[i] >> 1;
    if (!w.why && used != xir_network_params(net, NULL, 0))
        w.why = wrong("%zu Params are in use, the network counts another number", used);
    free(w.met);
    return w.why;
}

static const char *check_index(const family *f) {
    const xir_network *net = f->net;
    int64_t i = 0, n = (int64_t)net->n_ops;
    for (xir_op *op = net->first; op; op = op->next, i++) {
        if (xir_network_index_of(net, op) != i)
            return wrong("op %" PRId64 " is not found at its position %" PRId64, op->id, i);
        if (xir_network_op_at(net, i) != op || xir_network_op_at(net, i - n) != op) {
            return wrong("at position %" PRId64 " another op is found", i);
        }
    }
    return xir_network_op_at(net, n) || xir_network_op_at(net, -n - 1) ? wrong("an op is found past the ends") : NULL;
}

const char *broken_invariant(xir_network *net, unsigned ask) {
    family f = { .net = net, .slots = must(calloc((size_t)net->n_slots + 1, 1)) };
    const char *why = check_list(&f);
    if (!why) why = check_uses_both_ways(&f);
    if (!why) why = check_ids(&f);
    if (!why) why = check_params_of(&f);
    if (!why) why = check_tables(&f, ask & ASK_IDS);
    if (!why && (ask & ASK_INDEX || atomic_load(&net->has_index))) why = check_index(&f);
    free(f.ops);
    free(f.slots);
    return why;
}
