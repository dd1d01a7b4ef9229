/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <inttypes.h>
#include "copying.h"

static xir_op *known_op(const copying *c, const xir_op *op) {
    return c->map ? mapping_op(c->map, op) : c->ops[op->slot];
}

static bool remember_op(copying *c, const xir_op *op, xir_op *copy) {
    if (c->map) return mapping_add_op(c->map, op, copy);
    c->ops[op->slot] = copy;
    return true;
}

/* A negative id is temporary and not set. */
static bool keeps_id(const copying *c, int64_t id) { return c->ids && id >= 0; }

/* ---- what is known by its address ------------------------------------------------------------------------------ */

static xir_value *known_value(const copying *c, const xir_value *v) {
    const uint32_t *at = pointer_table_find(&c->made_at, v);
    return at ? c->made[*at].copy : NULL;
}

/* False without memory. */
static bool remember_value(copying *c, const xir_value *v, xir_value *copy) {
    const xir_allocator *alloc = &c->to->alloc;
    if (!c->made) pointer_table_init(&c->made_at, alloc);
    if (c->n_made == UINT32_MAX ||
        !mem_reserve(alloc, (void **)&c->made, &c->made_room, c->n_made + 1, sizeof *c->made) ||
        !pointer_table_add(&c->made_at, v, (uint32_t)c->n_made)) return false;
    c->made[c->n_made++] = (value_pair){ v, copy };
    return true;
}

void copying_end(copying *c) {
    if (!c->made) return;
    pointer_table_free(&c->made_at);
    mem_free(&c->to->alloc, c->made, c->made_room * sizeof *c->made);
    c->made = NULL;
    c->n_made = c->made_room = 0;
}

static const xir_map *copy_map(copying *c, const xir_map *from);

/* ---- values ---------------------------------------------------------------------------------------------------- */

static bool copy_more(copying *c, const value_more *from, xir_value *to) {
    value_more *more = value_need_more(to);
    if (!more) return false;
    const label *name = net_name(c->to, name_text(from->name));
    if (!name) return false;   /* Params stay in the list of all Params */
    more->name = name;
    if (from->mtype) {
        more->mtype = (const xir_mtype *)net_intern(c->to, (const xir_object *)from->mtype);
        if (!more->mtype) return false;
    }
    more->tags = copy_map(c, from->tags);
    more->extra = copy_map(c, from->extra);
    value_named(to);
    return !c->failed;
}

/* Remembers a copy that has no tags yet: they may name the original again. Most Params of a part have none, and the
 * mapping gets those when they are complete. False without memory. */
static bool remember_params(copying *c, const xir_value *v, xir_value *copy) {
    if (c->params) c->params[value_params(v)->number] = copy;
    else if (c->depth > 1 || value_more_of(v)->tags || value_more_of(v)->extra) return remember_value(c, v, copy);
    return true;
}

static xir_value *new_params(copying *c, const xir_value *v) {
    const params *from = value_more_of(v)->params;
    const xir_type *type = net_type(c->to, v->type);
    if (v->type && !type) return NULL;
    xir_value *copy = params_make(c->to, type);
    if (!copy || !remember_params(c, v, copy) || !copy_more(c, value_more_of(v), copy)) return NULL;
    params *to = value_more_of(copy)->params;
    if (c->ids) {
        to->raw_index = from->raw_index;
        to->table_index = from->table_index;
    }
    to->allow_no_data = from->allow_no_data;
    to->data = from->data;
    if (to->data) blob_retain(to->data);
    if (c->ids && v->id < 0) copy->id = v->id;   /* a whole clone is equal, Params that only tags name too */
    return keeps_id(c, v->id) && !value_set_id(copy, v->id) ? NULL : copy;
}

/* Gives the mapping complete Params and those that they name, all or none. False without memory. */
static bool keep_params(copying *c, const xir_value *v, xir_value *copy) {
    if (!c->n_made) return mapping_add_value(c->map, v, copy);
    bool ok = mapping_reserve_values(c->map, c->n_made);   /* `v` is one of these */
    for (size_t i = 0; ok && i < c->n_made; i++) ok = mapping_add_value(c->map, c->made[i].from, c->made[i].copy);
    return ok;
}

xir_value *copy_params(copying *c, const xir_value *v) {
    xir_value *copy = c->params ? c->params[value_params(v)->number] : known_value(c, v);
    if (copy) return copy;
    if (c->map) {
        if (mapping_value(c->map, v, &copy)) return copy;
        c->failed |= !mapping_ask_params(c->map, v, &copy);
        if (copy) c->failed |= !mapping_add_value(c->map, v, copy);
        if (copy || c->failed) return copy;
    }
    c->depth++;
    copy = new_params(c, v);
    c->depth--;
    c->failed |= !copy;
    if (c->map && c->depth == 0) {
        c->failed = c->failed || !keep_params(c, v, copy);
        copying_end(c);
    }
    return copy;
}

/* A value that no op makes, even if the original is an output. NULL on failure. */
static xir_value *new_loose(copying *c, const xir_value *v) {
    const xir_type *type = net_type(c->to, v->type);
    xir_value *copy = v->type && !type ? NULL : value_make_orphan(c->to, type);
    return copy && (!value_more_of(v) || copy_more(c, value_more_of(v), copy)) ? copy : NULL;
}

xir_value *xir_value_clone(const xir_value *v, xir_network *to) {
    if (!v || !to) return NULL;
    if (value_net(v)->ctx != to->ctx) {
        net_fail(to, XIR_E_INVALID, "the value to copy is of another context");
        return NULL;
    }
    if (value_op(v) ? value_op(v)->flags & OP_ERASED : value_is_spent(v)) {
        net_fail(to, XIR_E_INVALID, "the value to copy is of an erased op, or has become an output");
        return NULL;
    }
    copying c = { .to = to, .depth = 1 };
    xir_value *copy = value_is_params(v) ? new_params(&c, v) : new_loose(&c, v);
    copying_end(&c);
    if (!copy) net_no_memory(to);
    return copy;
}

/* A value that no copied op makes: it has no op, its op is not placed, or only a sub op of a part uses it. */
static xir_value *copy_loose(copying *c, const xir_value *v) {
    xir_value *copy = c->map ? NULL : known_value(c, v);
    if (copy) return copy;
    copy = new_loose(c, v);
    if (copy && v->id < 0) copy->id = v->id;   /* temporary ids tell such values apart when networks are compared */
    if (!copy || (v->id >= 0 && !value_set_id(copy, v->id))) return NULL;
    return (c->map ? mapping_add_value(c->map, v, copy) : remember_value(c, v, copy)) ? copy : NULL;
}

/* Returns the value that becomes an input of a copy. */
static xir_value *copy_value(copying *c, const xir_value *v) {
    if (value_is_params(v)) return copy_params(c, v);
    xir_value *copy = NULL;
    if (c->map) {
        if (mapping_value(c->map, v, &copy)) return copy;
        if (c->ids) copy = copy_loose(c, v);
        else net_fail(c->to, XIR_E_MISSING, "value %" PRId64 " '%.*s' is not mapped", v->id,
                      CLIP_TO(xir_value_name(v), 100));
    } else {
        const xir_op *maker = value_op(v) ? known_op(c, value_op(v)) : NULL;
        copy = maker ? &op_outputs(maker)[xir_value_index(v)] : copy_loose(c, v);
    }
    c->failed |= !copy;
    return copy;
}

/* ---- attributes and tags --------------------------------------------------------------------------------------- */

/* Params in copied dynamic values still belong to the source; replaces them. */
static void remap_any(copying *c, xir_any *any) {
    if (any->kind == XIR_ANY_PARAMS) {
        any->as.params = copy_params(c, any->as.params);
        if (!any->as.params) *any = xir_any_null();
    } else if (any->kind == XIR_ANY_LIST) {
        for (size_t i = 0; i < any->as.list.size; i++) remap_any(c, (xir_any *)(uintptr_t)&any->as.list.items[i]);
    } else if (any->kind == XIR_ANY_MAP) {
        for (size_t i = 0; i < any->as.map.size; i++) remap_any(c, (xir_any *)(uintptr_t)&any->as.map.entries[i].value);
    }
}

static const xir_map *copy_map(copying *c, const xir_map *from) {
    if (!from) return NULL;
    xir_any map = { .kind = XIR_ANY_MAP, .as.map = *from }, copy;
    xir_map *to = arena_take(&c->to->arena, sizeof *to);
    if (!to || !any_copy(&c->to->arena, &map, &copy)) {
        c->failed = true;
        return NULL;
    }
    remap_any(c, &copy);
    *to = copy.as.map;
    return to;
}

/* Lists have been copied into the new arena, so their items may be replaced in place. */
static void remap_field(copying *c, const xir_field *f, void *at) {
    if (f->kind == XIR_KIND_PARAMS && *(xir_value **)at) {
        *(xir_value **)at = copy_params(c, *(xir_value **)at);
    } else if (f->kind == XIR_KIND_PARAMSS) {
        xir_values *list = at;
        xir_value **items = (xir_value **)(uintptr_t)list->data;
        for (size_t i = 0; i < list->size; i++) {
            if (items[i]) items[i] = copy_params(c, items[i]);
        }
    } else if (f->kind == XIR_KIND_OPS) {
        xir_ops *list = at;
        xir_op **items = (xir_op **)(uintptr_t)list->data;
        for (size_t i = 0; i < list->size && !c->failed; i++) {
            items[i] = copy_op(c, items[i]);
            c->failed |= !items[i];
        }
    } else if (f->kind == XIR_KIND_MAP) {
        xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(xir_map *)at };
        remap_any(c, &map);
    }
}

/* Ops share attributes: those that were copied before are found by their address. NULL without memory. */
static const void *same_attrs_in(copying *c, const xir_op *op) {
    if (!op->cls->plain) return net_attrs(c->to, op->cls, op->attrs);
    attrs_pair *pair = &c->attrs[hash_pointer(op->attrs) % ATTRS_PAIRS];
    if (pair->from == op->attrs) return pair->copy;
    const void *copy = net_attrs(c->to, op->cls, op->attrs);
    if (copy) *pair = (attrs_pair){ op->attrs, copy };
    return copy;
}

/* The attributes with reals as the other network holds them. NULL without memory. */
static const void *attrs_in(copying *c, const xir_op *op) {
    if (network_since(op->net, 3, 30) || !network_since(c->to, 3, 30)) return same_attrs_in(c, op);
    void *body = arena_copy(&c->to->arena, op->attrs, op->cls->body_size);
    return body && body_round(&c->to->arena, op->cls, body) ? net_attrs(c->to, op->cls, body) : NULL;
}

static const void *copy_attrs(copying *c, const xir_op *op) {
    if (op->attrs == op->cls->defaults) return op->attrs;   /* the class's, shared by both networks */
    const void *attrs = attrs_in(c, op);
    if (!attrs) c->failed = true;
    if (!attrs || op->cls->plain || attrs == op->cls->defaults) return attrs;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        remap_field(c, &op->cls->fields[i], body_at(attrs, &op->cls->fields[i]));
    }
    return attrs;
}

/* ---- ops ------------------------------------------------------------------------------------------------------- */

static const xir_target *copy_target(copying *c, const xir_op *op) {
    return op_target(op) == op->net->host ? c->to->host
         : (const xir_target *)net_intern(c->to, (const xir_object *)op_target(op));
}

bool copy_value_to(copying *c, const xir_value *v, xir_value *to) {
    to->type = net_type(c->to, v->type);
    return (to->type || !v->type) && (!value_more_of(v) || copy_more(c, value_more_of(v), to)) &&
           (!keeps_id(c, v->id) || value_set_id(to, v->id));
}

static bool copy_outputs(copying *c, const xir_op *op, xir_op *copy) {
    bool copied = true;
    for (uint32_t i = 0; i < op->n_outputs && copied; i++)
        copied = copy_value_to(c, &op_outputs(op)[i], &op_outputs(copy)[i]);
    return copied;
}

xir_op *copy_op(copying *c, const xir_op *op) {
    const void *attrs = copy_attrs(c, op);
    xir_op *copy = attrs && !c->failed ? op_make(c->to, op->cls, attrs, op->n_inputs) : NULL;
    if (!copy || !op_make_outputs(copy, NULL, op->n_outputs) || !remember_op(c, op, copy)) return NULL;
    if ((op_more_of(op) && !op_need_more(copy)) || op_adopt_children(copy, attrs)) return NULL;
    const label *text = net_name(c->to, name_text(op_label(op)));
    const xir_target *target = text ? copy_target(c, op) : NULL;
    if (!target || !op_set_own_target(copy, target)) return NULL;
    op_set_label(copy, text);
    copy->flags |= op->flags & OP_DRAFT;
    if (op_more_of(op)) {
        op_more_of(copy)->tags = copy_map(c, op_more_of(op)->tags);
        op_more_of(copy)->extra = copy_map(c, op_more_of(op)->extra);
        op_more_of(copy)->absent = op_more_of(op)->absent;
    }
    if (!copy_outputs(c, op, copy) || (keeps_id(c, op->id) && !op_set_id(copy, op->id))) return NULL;
    return c->failed ? NULL : copy;
}

bool copy_inputs(copying *c, const xir_op *op) {
    xir_op *copy = known_op(c, op);
    for (uint32_t i = 0; i < op->n_inputs && !c->failed; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v) use_link(&op_inputs(copy)[i], copy, copy_value(c, v));
    }
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain && !c->failed; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) copy_inputs(c, children->data[j]);
    }
    return !c->failed;
}

/* ---- the rest of a network ------------------------------------------------------------------------------------- */

bool copy_fields(copying *c, const xir_network *from) {
    for (int i = 0; i < XIR_TEXT_COUNT; i++) {
        if (xir_network_set_text(c->to, (xir_network_text)i, from->text[i])) return false;
    }
    memcpy(c->to->version, from->version, sizeof c->to->version);   /* an empty text does not decide it */
    c->to->params_bytes = from->params_bytes;
    if (xir_network_set_ai_target(c->to, from->ai_target)) return false;
    c->to->ai_target_new = from->ai_target_new;
    c->to->absent = from->absent;
    c->to->next_temp_id = from->next_temp_id;   /* copies of values that no op makes keep theirs */
    c->to->tags = copy_map(c, from->tags);
    c->to->extra = copy_map(c, from->extra);
    return !c->failed;
}
