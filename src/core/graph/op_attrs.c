/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes of an op, all or one by name, declared or not. Sets are shared, so setting an attribute makes a new
 * set; the op keeps the old one until the new one has been checked. Sub ops are added and removed with the set that
 * names them. */
#include "graph.h"

const void *xir_op_body(const xir_op *op, const xir_class_decl *decl) {
    return op && op->cls->decl == decl ? op->attrs : NULL;
}

static xir_status check_child(const xir_op *op, xir_op *child) {
    bool good = child && child->net == op->net && !(child->flags & (OP_PLACED | OP_ERASED)) &&
                (!(child->flags & OP_CHILD) || xir_op_parent(child) == op);
    for (const xir_op *up = op; good && up; up = xir_op_parent(up)) good = up != child;   /* nor the op itself */
    if (!good) return net_fail(op->net, XIR_E_INVALID, "a sub op must be an unplaced op of the same network");
    xir_status status = op_complete(child);
    return status || op_need_more(child) ? status : net_no_memory(op->net);
}

xir_status op_adopt_children(xir_op *op, const void *attrs) {
    for (int adopt = 0; adopt < 2; adopt++) {   /* the first round only checks */
        for (uint32_t i = 0; i < op->cls->n_fields; i++) {
            const xir_field *f = &op->cls->fields[i];
            if (f->kind != XIR_KIND_OPS) continue;
            const xir_ops *children = body_at(attrs, f);
            for (size_t j = 0; j < children->size; j++) {
                xir_op *child = children->data[j];
                xir_status status = adopt ? XIR_OK : check_child(op, child);
                if (status) return status;
                if (!adopt) continue;
                op_more_of(child)->parent = op;
                child->flags |= OP_CHILD;
            }
        }
    }
    return XIR_OK;
}

static void flag_children(const xir_op *op, const void *attrs, bool child, bool forget_strangers) {
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            xir_op *c = children->data[j];
            if (forget_strangers && !(c->flags & OP_CHILD)) {
                ids_forget_op(c);
                op_drop_uses(c);
                op_forget(c);
            } else if (!forget_strangers) {
                c->flags = child ? c->flags | OP_CHILD : c->flags & ~(uint32_t)OP_CHILD;
            }
        }
    }
}

static bool has_children(const xir_op *op, const void *attrs) {
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind == XIR_KIND_OPS && ((const xir_ops *)body_at(attrs, f))->size) return true;
    }
    return false;
}

/* Takes back that sub ops of new attributes are those of the op. */
static void give_back_children(const xir_op *op, const void *own, const void *old) {
    flag_children(op, own, false, false);
    flag_children(op, old, true, false);
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(own, f);
        for (size_t j = 0; j < children->size; j++)
            if (!(children->data[j]->flags & OP_CHILD)) op_leave_ids(children->data[j]);
    }
}

/* Erases sub ops of the old attributes that the new ones do not have. */
static void forget_old_children(const xir_op *op, const void *old, const void *now) {
    if (op->cls->plain || old == now) return;
    flag_children(op, old, false, false);
    flag_children(op, now, true, false);
    flag_children(op, old, false, true);
}

/* Sets all attributes. Reals are rounded if all are new; otherwise the caller has rounded those in `written`. */
static xir_status set_body(xir_op *op, const void *attrs, bool all, uint64_t written) {
    xir_network *net = op->net;
    size_t before = xir_diags_count(net->diags);
    const xir_str called = name_text(op_label(op));
    const void *own = !all && op->flags & OP_DRAFT ? draft_attrs(net, op->cls, attrs, written, called)
                    : net_checked_attrs(net, op->cls, attrs, all, called);
    if (!own) {
        const xir_diag *d = xir_diags_at(net->diags, before);
        return d ? d->code : XIR_E_MEMORY;
    }
    if (op_is_in(op) && has_children(op, own) && !net_build_ids(net)) return net_no_memory(net);
    xir_status status = op->cls->plain ? XIR_OK : op_adopt_children(op, own);
    if (status) return status;
    const void *old = op->attrs;
    op->attrs = own;
    if (op_is_in(op) && (status = op_enter_attrs(op))) {
        op->attrs = old;
        give_back_children(op, own, old);
        return status;
    }
    if (op_more_of(op)) op_more_of(op)->absent = 0;
    forget_old_children(op, old, own);
    net->epoch++;
    return XIR_OK;
}

static xir_status refuse_body(const xir_op *op) {
    xir_status status = body_refuse(op->cls, op->net->diags);
    if (!op->net->status) op->net->status = status;
    return status;
}

xir_status xir_op_set_body(xir_op *op, const xir_class_decl *decl, const void *attrs) {
    if (!op) return XIR_E_MISSING;
    if (op->cls->decl == decl) return body_is_made(op->cls, attrs) ? set_body(op, attrs, true, 0) : refuse_body(op);
    return net_fail(op->net, XIR_E_TYPE, "attributes of %s were given for a %.*s", decl->rows->name,
                    (int)op->cls->key.size, op->cls->key.data);
}

xir_status xir_op_get(const xir_op *op, xir_str attr, xir_attr *out) {
    if (!op) return XIR_E_MISSING;
    const xir_field *f = xir_class_field(op->cls, attr);
    if (!f) return XIR_E_UNKNOWN;
    body_get(f, op->attrs, out);
    return XIR_OK;
}

bool xir_op_has(const xir_op *op, xir_str attr) {
    if (!op) return false;
    return xir_class_field(op->cls, attr) || (op_more_of(op) && xir_map_find(op_more_of(op)->extra, attr));
}

xir_status net_no_attr(xir_network *net, const xir_class *cls, xir_str attr) {
    xir_str near = class_suggest(cls, attr);
    return net_fail(net, XIR_E_UNKNOWN, "%.*s has no attribute '%.*s'%s%.*s%s", (int)cls->key.size, cls->key.data,
                    CLIP(attr), near.size ? "; did you mean '" : "", (int)near.size,
                    near.size ? near.data : "", near.size ? "'?" : "");
}

static xir_status set_one(const xir_op *op, void *body, const xir_named_attr *given, uint64_t *written) {
    xir_network *net = op->net;
    const xir_field *f = xir_class_field(op->cls, given->name);
    if (!f) return net_no_attr(net, op->cls, given->name);
    xir_status status = body_set(op->cls, f, body, &given->value, net->diags);
    if (status && !net->status) net->status = status;
    bool rounds = !network_keeps_doubles(net);
    if (!status && rounds && !field_round(&net->arena, f, body)) status = net_no_memory(net);
    size_t i = (size_t)(f - op->cls->fields);
    if (i < 64) *written |= (uint64_t)1 << i;
    return status;
}

xir_status xir_op_set_named(xir_op *op, const xir_named_attr *attrs, size_t n) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    _Alignas(16) char space[512];
    char *body = op->cls->body_size <= sizeof space ? space : mem_new(&net->alloc, op->cls->body_size);
    if (!body) return net_no_memory(net);
    memcpy(body, op->attrs, op->cls->body_size);
    xir_status status = XIR_OK;
    uint64_t written = 0, absent = op_more_of(op) ? op_more_of(op)->absent : 0;
    for (size_t i = 0; i < n && !status; i++) status = set_one(op, body, &attrs[i], &written);
    /* The other reals stay as they are: a network of an older version holds doubles. */
    if (!status && n) status = set_body(op, body, false, written);
    /* Only the attributes that were set are now written for certain. */
    if (!status && op_more_of(op)) op_more_of(op)->absent = absent & ~written;
    if (body != space) mem_free(&net->alloc, body, op->cls->body_size);
    return status;
}

xir_status xir_op_set(xir_op *op, xir_str attr, const xir_attr *value) {
    return xir_op_set_named(op, &(xir_named_attr){ attr, *value }, 1);
}

bool xir_op_attr_is(const xir_op *op, xir_str attr, const xir_attr *value) {
    const xir_field *f = op ? xir_class_field(op->cls, attr) : NULL;
    if (!f) return false;
    xir_field alone = *f;   /* the same row of a body that has no other */
    alone.offset = 0;
    xir_attr room;
    arena lists;   /* rounded reals */
    arena_init(&lists, &op->net->alloc);
    bool same = body_set(op->cls, &alone, &room, value, NULL) == XIR_OK &&
                (network_keeps_doubles(op->net) || field_round(&lists, &alone, &room)) &&
                field_equal(&alone, body_at(op->attrs, f), &room);
    arena_free(&lists);
    return same;
}

static xir_status set_extra(xir_op *op, xir_str attr, const xir_any *value, bool shares) {
    xir_network *net = op->net;
    if (class_find_key(op->cls, attr, UINT32_MAX)) {
        return net_fail(net, XIR_E_EXISTS, "%.*s declares '%.*s': set it as an attribute", (int)op->cls->key.size,
                        op->cls->key.data, (int)attr.size, attr.data);
    }
    xir_status status = value ? any_check_params(net, value) : XIR_OK;
    if (status) return status;
    const xir_map *extra = NULL;
    op_more *more = op_need_more(op);
    const bool set = more && (shares ? map_sharing(&net->arena, more->extra, attr, value, &extra)
                                     : map_with(&net->arena, more->extra, attr, value, &extra));
    if (!set) return net_no_memory(net);
    const xir_map *old = more->extra;
    more->extra = extra;
    if (op_is_in(op)) {
        if ((status = op_reserve_ids(op))) {
            more->extra = old;
            return status;
        }
        op_number_attrs(op);
    }
    net->epoch++;
    return XIR_OK;
}

/* Of entries with one key, the last counts. */
static size_t drop_repeated(xir_entry *entries, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !xir_str_equal(entries[i].key, entries[i + 1].key)) entries[kept++] = entries[i];
    return kept;
}

xir_status op_add_extras(xir_op *op, const xir_entry *entries, size_t n) {
    xir_network *net = op->net;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = any_check_params(net, &entries[i].value);
    op_more *more = status || !n ? NULL : op_need_more(op);
    if (!n || status) return status;
    const xir_any given = xir_any_map(entries, n);
    xir_any copy;
    xir_map *map = arena_take(&net->arena, sizeof *map);
    if (!more || !map || !any_copy(&net->arena, &given, &copy)) return net_no_memory(net);
    *map = copy.as.map;
    more->extra = map;   /* Params get their ids in the order of the list */
    if (op_is_in(op) && (status = op_reserve_ids(op))) return more->extra = NULL, status;
    if (op_is_in(op)) op_number_attrs(op);
    xir_entry *own = (xir_entry *)(uintptr_t)map->entries;
    if (!entries_sort(&net->arena, own, n)) return more->extra = NULL, net_no_memory(net);
    map->size = drop_repeated(own, n);
    net->epoch++;
    return XIR_OK;
}

xir_status op_take_extras(xir_op *op, const xir_map *extras) {
    op_more *more = op_need_more(op);
    if (!more) return net_no_memory(op->net);
    more->extra = extras;
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_set_extra(xir_op *op, xir_str attr, const xir_any *value) {
    return op ? set_extra(op, attr, value, false) : XIR_E_MISSING;
}

xir_status op_share_extra(xir_op *op, xir_str attr, const xir_any *value) { return set_extra(op, attr, value, true); }
