/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Copying into networks that exist. Entries are only added: an answer that is replaced stays in the list, and the table
 * leads to the newest. What a failed call has added is taken back by entries that say so. */
#include <xir/icraft.h>
#include <inttypes.h>
#include "copying.h"
#include "hash.h"
#include "provenance.h"
#include "sized.h"
#include "view.h"

typedef struct op_pair {
    const xir_op *from;
    xir_op       *copy;      /* NULL: taken back           */
    bool          is_own;    /* a rule gave it, with inputs */
} op_pair;

struct xir_mapping {
    xir_network      *from, *to;
    pointer_table     op_at, value_at;   /* places in the lists */
    op_pair          *ops;
    size_t            n_ops, op_room;
    xir_value       **values;
    size_t            n_values, value_room;
    xir_mapping_rules rules;
};

xir_mapping *xir_mapping_new(xir_network *from, xir_network *to) {
    if (!to) return NULL;
    if (!from) return net_null(to, "network"), NULL;
    if (from->ctx != to->ctx) {
        net_fail(to, XIR_E_INVALID, "the networks of a mapping have two contexts");
        return NULL;
    }
    xir_mapping *map = mem_new(&to->alloc, sizeof *map);
    if (!map) return net_no_memory(to), NULL;
    *map = (xir_mapping){ .from = from, .to = to };
    pointer_table_init(&map->op_at, &to->alloc);
    pointer_table_init(&map->value_at, &to->alloc);
    network_retain(from);
    network_retain(to);
    return map;
}

void xir_mapping_free(xir_mapping *map) {
    if (!map) return;
    xir_network *to = map->to;
    pointer_table_free(&map->op_at);
    pointer_table_free(&map->value_at);
    mem_free(&to->alloc, map->ops, map->op_room * sizeof *map->ops);
    mem_free(&to->alloc, map->values, map->value_room * sizeof *map->values);
    xir_network_free(map->from);
    mem_free(&to->alloc, map, sizeof *map);
    xir_network_free(to);
}

#define RULES_STRUCT SIZED(xir_mapping_rules, copies_params)

xir_status xir_mapping_set_rules(xir_mapping *map, const xir_mapping_rules *rules) {
    if (!map) return XIR_E_MISSING;
    if (!rules) return net_null(map->to, "struct of rules");
    xir_status status = sized_take(RULES_STRUCT, &map->rules, rules, map->to->diags);
    if (status && !map->to->status) map->to->status = status;
    return status;
}

/* ---- what is known ---------------------------------------------------------------------------------------------- */

xir_op *mapping_op(const xir_mapping *map, const xir_op *op) {
    const uint32_t *at = pointer_table_find(&map->op_at, op);
    xir_op *copy = at ? map->ops[*at].copy : NULL;
    return copy && !(copy->flags & OP_ERASED) ? copy : NULL;
}

static bool is_lost(const xir_value *v) { return value_op(v) ? value_op(v)->flags & OP_ERASED : value_is_spent(v); }

bool mapping_value(const xir_mapping *map, const xir_value *v, xir_value **out) {
    const uint32_t *at = pointer_table_find(&map->value_at, v);
    const xir_op *maker = value_op(v) ? mapping_op(map, value_op(v)) : NULL;
    *out = NULL;
    if (at) {
        *out = map->values[*at];
        return !*out || !is_lost(*out);
    }
    if (maker) {
        size_t i = xir_value_index(v);
        if (i < maker->n_outputs) *out = &op_outputs(maker)[i];
        return *out;
    }
    if (map->from != map->to || is_lost(v) || (map->rules.copies_params && value_is_params(v))) return false;
    *out = (xir_value *)(uintptr_t)v;
    return true;
}

/* Makes room for one more item, and lets the table lead from `key` to it. False without memory. */
static bool make_room(xir_mapping *map, pointer_table *at, const void *key, void **items, size_t *room, size_t n,
                      size_t size) {
    if (n == UINT32_MAX || !mem_reserve(&map->to->alloc, items, room, n + 1, size)) return false;
    uint32_t *place = pointer_table_add(at, key, 0);
    if (place) *place = (uint32_t)n;
    return place;
}

bool mapping_add_op(xir_mapping *map, const xir_op *op, xir_op *copy) {
    if (!make_room(map, &map->op_at, op, (void **)&map->ops, &map->op_room, map->n_ops, sizeof *map->ops)) return false;
    map->ops[map->n_ops++] = (op_pair){ op, copy, false };
    return true;
}

bool mapping_add_value(xir_mapping *map, const xir_value *v, xir_value *copy) {
    if (!make_room(map, &map->value_at, v, (void **)&map->values, &map->value_room, map->n_values,
                   sizeof *map->values)) return false;
    map->values[map->n_values++] = copy;
    return true;
}

bool mapping_reserve_values(xir_mapping *map, size_t n) {
    return n < UINT32_MAX - map->n_values &&
           mem_reserve(&map->to->alloc, (void **)&map->values, &map->value_room, map->n_values + n,
                       sizeof *map->values) && pointer_table_reserve(&map->value_at, map->value_at.n + n);
}

bool mapping_ask_params(xir_mapping *map, const xir_value *v, xir_value **own) {
    *own = map->rules.params ? map->rules.params(map->rules.user, map, v) : NULL;
    if (!*own || (value_net(*own) == map->to && value_is_params(*own))) return true;
    *own = NULL;
    net_fail(map->to, XIR_E_INVALID, "the rule for Params gave something else for value %" PRId64, v->id);
    return false;
}

xir_status xir_mapping_set(xir_mapping *map, const xir_value *from, xir_value *to) {
    if (!map) return XIR_E_MISSING;
    if (!from) return net_null(map->to, "value");
    if (value_net(from) != map->from || (to && value_net(to) != map->to))
        return net_fail(map->to, XIR_E_INVALID, "a value to map is of another network");
    if (is_lost(from) || (to && is_lost(to)))
        return net_fail(map->to, XIR_E_INVALID, "a value to map is of an erased op");
    return mapping_add_value(map, from, to) ? XIR_OK : net_no_memory(map->to);
}

xir_value *xir_mapping_value(const xir_mapping *map, const xir_value *from) {
    xir_value *v;
    return map && from && value_net(from) == map->from && mapping_value(map, from, &v) ? v : NULL;
}

/* ---- copying ---------------------------------------------------------------------------------------------------- */

/* Forgets all copies that have been made since the list had `n` ops. */
static void take_back(xir_mapping *map, size_t n) {
    for (size_t i = map->n_ops; i-- > n;) {
        xir_op *copy = map->ops[i].copy;
        map->ops[i].copy = NULL;
        if (!copy) continue;
        if (copy->flags & OP_PLACED) {
            ids_forget_op(copy);
            op_unlink(copy);
        }
        op_forget(copy);
    }
}

static bool fits(const xir_mapping *map, const xir_op *op, const xir_op *own) {
    return own->net == map->to && own->n_outputs == op->n_outputs &&
           !(own->flags & (OP_PLACED | OP_CHILD | OP_ERASED));
}

/* The op that a rule gives, or a copy without inputs. */
static bool copy_first(copying *c, const xir_op *op) {
    xir_mapping *map = c->map;
    xir_op *own = map->rules.op ? map->rules.op(map->rules.user, map, op) : NULL;
    if (!own) return copy_op(c, op);
    if (!fits(map, op, own)) {
        net_fail(map->to, XIR_E_INVALID, "the rule's op for op %" PRId64 " is placed already or has other outputs",
                 op->id);
        return false;
    }
    if (!mapping_add_op(map, op, own)) return false;
    map->ops[map->n_ops - 1].is_own = true;
    return true;
}

static bool copy_second(copying *c, const xir_op *op) {
    const uint32_t *at = pointer_table_find(&c->map->op_at, op);
    return c->map->ops[*at].is_own || copy_inputs(c, op);
}

xir_value *mapping_copy_params(xir_mapping *map, const xir_value *v) {
    copying c = { .to = map->to, .map = map };
    xir_value *copy = copy_params(&c, v);
    return c.failed ? NULL : copy;
}

/* Returns true if the copies may be placed, with all memory that placing takes. In an empty network only the first can
 * be asked yet. */
static bool may_place(const xir_mapping *map, xir_op *const *copies, size_t n, const xir_op *before) {
    const size_t most = map->to->n_ops || n == 0 ? n : 1;
    bool parents = false;
    for (size_t i = 0; i < n; i++) {
        if (i < most && op_check_place(copies[i], before)) return false;
        parents |= !copies[i]->cls->plain;   /* the ids of sub ops are entered into tables */
    }
    return (!parents || net_build_ids(map->to)) && ops_reserve_ids(map->to, copies, n) == XIR_OK;
}

/* Copies and places ops, all or none. Each is replaced by its copy in `ops`. */
static xir_status clone_ops(xir_mapping *map, xir_op **ops, size_t n, xir_op *before) {
    xir_network *to = map->to;
    const size_t first = map->n_ops, findings = xir_diags_count(to->diags);
    copying c = { .to = to, .map = map };
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) ok = copy_first(&c, ops[i]);
    for (size_t i = 0; ok && i < n; i++) ok = copy_second(&c, ops[i]);
    for (size_t i = 0; ok && i < n && map->from == to; i++) provenance_copied(mapping_op(map, ops[i]), ops[i]);
    for (size_t i = 0; ok && i < n; i++) ops[i] = mapping_op(map, ops[i]);
    ok = ok && may_place(map, ops, n, before);
    for (size_t i = 0; ok && i < n; i++) ok = xir_op_place(ops[i], before) == XIR_OK;
    if (ok) return XIR_OK;
    take_back(map, first);
    const xir_diag *why = xir_diags_at(to->diags, findings);   /* none: memory has run out */
    return why ? why->code : net_no_memory(to);
}

xir_op *xir_mapping_clone(xir_mapping *map, const xir_op *op, xir_op *before) {
    if (!map) return NULL;
    if (!op) return net_null(map->to, "op"), NULL;
    if (op->net != map->from || op->flags & OP_ERASED) {
        net_fail(map->to, XIR_E_INVALID, "the op to copy is erased or of another network");
        return NULL;
    }
    xir_op *copy = (xir_op *)(uintptr_t)op;
    return clone_ops(map, &copy, 1, before) ? NULL : copy;
}

/* An end of the copied part for which `to` has no place. */
static bool stays_away(const xir_mapping *map, const xir_op *op) {
    if (is_sink(op)) return map->to->n_ops;
    if (!is_source(op) || !op->n_outputs) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!pointer_table_find(&map->value_at, &op_outputs(op)[i])) return false;
    }
    return true;
}

xir_status xir_mapping_clone_view(xir_mapping *map, const xir_view *view, xir_op *before) {
    if (!map) return XIR_E_MISSING;
    if (!view) return net_null(map->to, "view");
    if (view->net != map->from) return net_fail(map->to, XIR_E_INVALID, "the view is of another network");
    if (xir_view_is_stale(view))
        return net_fail(map->to, XIR_E_STALE, "the network has been changed since the view was made");
    const xir_allocator *alloc = &map->to->alloc;
    const size_t bytes = (view->n_ops + 1) * sizeof(xir_op *);
    xir_op **ops = mem_new(alloc, bytes);
    if (!ops) return net_no_memory(map->to);
    size_t n = 0;
    for (size_t i = 0; i < view->n_ops; i++) {
        if (!stays_away(map, view->ops[i])) ops[n++] = view->ops[i];
    }
    xir_status status = clone_ops(map, ops, n, before);
    mem_free(alloc, ops, bytes);
    return status;
}
