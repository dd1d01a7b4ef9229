/* Copies of ops and networks. A cloned network owns its records, types and texts; parameter bytes are shared by
 * reference count. Values are found in the copy by identity: output i of the op with the same slot, or Params with
 * the same number. */
#include "graph.h"

/* ---- an op in its own network ------------------------------------------------------------------------------ */

static xir_op *clone_op(const xir_op *op);

/* If an input is a sibling's output, the copy's input becomes the output of the sibling's copy. */
static void relink(xir_op *copy, const xir_ops *from, xir_op *const *copies) {
    for (uint32_t i = 0; i < copy->n_inputs; i++) {
        const xir_value *v = copy->inputs[i].value;
        for (size_t k = 0; v && v->producer && k < from->size; k++) {
            if (v->producer != from->data[k]) continue;
            use_unlink(&copy->inputs[i]);
            use_link(&copy->inputs[i], copy, &copies[k]->outputs[v - v->producer->outputs]);
            break;
        }
    }
}

static bool drop_copies(const xir_op *op, const void *attrs) {
    for (uint32_t i = 0; i < op->cls->n_fields && attrs != op->attrs; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *copies = body_at(attrs, f);
        for (size_t j = 0; j < copies->size; j++) op_forget(copies->data[j]);
    }
    return false;
}

/* Shares attributes, but copies sub ops: each has one parent. False without memory; then nothing is left over. */
static bool clone_attrs(const xir_op *op, const void **out) {
    xir_network *net = op->net;
    bool any = false;
    *out = op->attrs;
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        any |= f->kind == XIR_KIND_OPS && ((const xir_ops *)body_at(op->attrs, f))->size;
    }
    if (!any) return true;
    void *body = arena_copy(&net->arena, op->attrs, op->cls->body_size);
    if (!body) return false;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind == XIR_KIND_OPS) *(xir_ops *)body_at(body, f) = (xir_ops){ NULL, 0 };
    }
    *out = body;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *from = body_at(op->attrs, f);
        xir_ops *to = body_at(body, f);
        xir_op **copies = arena_take(&net->arena, from->size * sizeof *copies);
        if (!copies) return drop_copies(op, body);
        for (to->data = copies; to->size < from->size; to->size++) {
            copies[to->size] = clone_op(from->data[to->size]);
            if (!copies[to->size]) return drop_copies(op, body);
        }
        for (size_t j = 0; j < from->size; j++) relink(copies[j], from, copies);
    }
    return true;
}

static bool clone_more(const xir_op *op, xir_op *copy) {
    if (op->more) {
        op_more *more = op_need_more(copy);
        if (!more) return false;
        more->tags = op->more->tags;
        more->extra = op->more->extra;
        more->absent = op->more->absent;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const value_more *from = op->outputs[i].more;
        value_more *to = from ? value_need_more(&copy->outputs[i]) : NULL;
        if (!from) continue;
        if (!to) return false;
        to->name = from->name;
        to->tags = from->tags;
        to->extra = from->extra;
        to->mtype = from->mtype;
    }
    return true;
}

static xir_op *clone_op(const xir_op *op) {
    xir_network *net = op->net;
    const void *attrs;
    if (!clone_attrs(op, &attrs)) return NULL;
    xir_op *copy = op_make(net, op->cls, attrs, op->n_inputs);
    size_t bytes = (op->n_outputs + (size_t)1) * sizeof(const xir_type *);
    const xir_type **types = mem_new(&net->alloc, bytes);
    for (uint32_t i = 0; i < op->n_outputs && types; i++) types[i] = op->outputs[i].type;
    bool ok = copy && types && op_make_outputs(copy, types, op->n_outputs) && clone_more(op, copy) &&
        !op_adopt_children(copy, attrs);
    mem_free(&net->alloc, (void *)types, bytes);
    if (!ok) {
        drop_copies(op, attrs);
        return NULL;
    }
    copy->name = op->name;
    copy->target = op->target;
    for (uint32_t i = 0; i < op->n_inputs; i++) use_link(&copy->inputs[i], copy, op->inputs[i].value);
    return copy;
}

xir_op *xir_op_clone(const xir_op *op) {
    if (!op) return NULL;
    xir_op *copy = clone_op(op);
    if (!copy) net_no_memory(op->net);
    return copy;
}

/* ---- a whole network --------------------------------------------------------------------------------------- */

typedef struct copying {
    const xir_network *from;
    xir_network       *to;
    xir_op           **ops;      /* by slot            */
    xir_value        **params;   /* by number          */
    bool               failed;
} copying;

static xir_value *copy_params(copying *c, const xir_value *v);
static xir_op *copy_op(copying *c, const xir_op *op);
static const xir_map *copy_map(copying *c, const xir_map *from);

static bool copy_more(copying *c, const value_more *from, xir_value *to) {
    value_more *more = value_need_more(to);
    if (!more) return false;
    more->name = net_name(c->to, name_text(from->name));
    if (!more->name) return false;
    if (from->mtype) {
        more->mtype = (const xir_mtype *)net_intern(c->to, (const xir_object *)from->mtype);
        if (!more->mtype) return false;
    }
    more->tags = copy_map(c, from->tags);
    more->extra = copy_map(c, from->extra);
    return !c->failed;
}

static xir_value *copy_params(copying *c, const xir_value *v) {
    const params *from = v->more->params;
    if (c->params[from->number]) return c->params[from->number];
    const xir_type *type = net_type(c->to, v->type);
    if (v->type && !type) return NULL;
    xir_value *copy = params_make(c->to, type);
    if (!copy || !copy_more(c, v->more, copy)) return NULL;
    params *to = copy->more->params;
    to->raw_index = from->raw_index;
    to->table_index = from->table_index;
    to->allow_no_data = from->allow_no_data;
    to->data = from->data;
    if (to->data) blob_retain(to->data);
    /* Ids are copied unchanged, even temporary ones. */
    if (v->id >= 0) {
        if (!value_set_id(copy, v->id)) return NULL;
    }
    c->params[from->number] = copy;
    return copy;
}

/* The copy's value for a value of the source. If its op comes later (in a network that is out of order), it is made
 * now. */
static xir_value *copy_value(copying *c, const xir_value *v) {
    if (!v) return NULL;
    if (value_is_params(v)) {
        xir_value *copy = copy_params(c, v);
        c->failed |= !copy;
        return copy;
    }
    if (v->producer) {
        xir_op *maker = c->ops[v->producer->slot];
        if (maker) return &maker->outputs[v - v->producer->outputs];
        return NULL;   /* linked when its op exists: see link_later */
    }
    if (v->id >= 0 && !net_build_ids(c->to)) {   /* distinguishes "not found" from "no memory" */
        c->failed = true;
        return NULL;
    }
    xir_value *known = v->id >= 0 ? net_find_value(c->to, v->id) : NULL;
    if (known && !known->producer && !value_is_params(known)) return known;
    const xir_type *type = net_type(c->to, v->type);
    xir_value *copy = v->type && !type ? NULL : value_make_orphan(c->to, type);
    if (!copy || !copy_more(c, v->more, copy) || (v->id >= 0 && !value_set_id(copy, v->id))) {
        c->failed = true;
        return NULL;
    }
    return copy;
}

/* Params in copied dynamic values still belong to the source; replaces them. */
static void remap_any(copying *c, xir_any *any) {
    if (any->kind == XIR_ANY_PARAMS) {
        any->as.params = copy_params(c, any->as.params);
        c->failed |= !any->as.params;
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
        c->failed |= !*(xir_value **)at;
    } else if (f->kind == XIR_KIND_PARAMSS) {
        xir_values *list = at;
        xir_value **items = (xir_value **)(uintptr_t)list->data;
        for (size_t i = 0; i < list->size; i++) {
            if (!items[i]) continue;
            items[i] = copy_params(c, items[i]);
            c->failed |= !items[i];
        }
    } else if (f->kind == XIR_KIND_OPS) {
        xir_ops *list = at;
        xir_op **items = (xir_op **)(uintptr_t)list->data;
        for (size_t i = 0; i < list->size; i++) {
            items[i] = copy_op(c, items[i]);
            c->failed |= !items[i];
        }
    } else if (f->kind == XIR_KIND_MAP) {
        xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(xir_map *)at };
        remap_any(c, &map);
    }
}

static const void *copy_attrs(copying *c, const xir_op *op) {
    if (op->attrs == op->cls->defaults) return op->attrs;   /* the class's, shared by both networks */
    const void *attrs = net_attrs(c->to, op->cls, op->attrs);
    if (!attrs) c->failed = true;
    if (!attrs || op->cls->plain || attrs == op->cls->defaults) return attrs;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        remap_field(c, &op->cls->fields[i], body_at(attrs, &op->cls->fields[i]));
    }
    return attrs;
}

static xir_op *copy_op(copying *c, const xir_op *op) {
    const void *attrs = copy_attrs(c, op);
    xir_op *copy = attrs && !c->failed ? op_make(c->to, op->cls, attrs, op->n_inputs) : NULL;
    if (!copy || (op->more && !op_need_more(copy)) || op_adopt_children(copy, attrs)) return NULL;
    copy->name = net_name(c->to, name_text(op->name));
    copy->target = op->target == c->from->host ? c->to->host
                 : (const xir_target *)net_intern(c->to, (const xir_object *)op->target);
    if (!copy->name || !copy->target) return NULL;
    if (op->more) {
        copy->more->tags = copy_map(c, op->more->tags);
        copy->more->extra = copy_map(c, op->more->extra);
        copy->more->absent = op->more->absent;
    }
    xir_value *values = arena_take(&c->to->arena, op->n_outputs * sizeof *values);
    if (!values) return NULL;
    copy->outputs = values;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_value *v = &op->outputs[i];
        values[i] = (xir_value){ .type = net_type(c->to, v->type), .id = c->to->next_temp_id--, .producer = copy };
        copy->n_outputs = i + 1;
        if ((v->type && !values[i].type) || (v->more && !copy_more(c, v->more, &values[i]))) return NULL;
        if (v->id >= 0 && !value_set_id(&values[i], v->id)) return NULL;
    }
    if (op->id >= 0 && !op_set_id(copy, op->id)) return NULL;
    c->ops[op->slot] = copy;
    for (uint32_t i = 0; i < op->n_inputs; i++) use_link(&copy->inputs[i], copy, copy_value(c, op->inputs[i].value));
    return c->failed ? NULL : copy;
}

/* Links inputs whose op comes later in the order, also of sub ops. */
static void link_op(copying *c, const xir_op *op) {
    xir_op *copy = c->ops[op->slot];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op->inputs[i].value;
        if (!v || copy->inputs[i].value) continue;
        use_link(&copy->inputs[i], copy, copy_value(c, v));
    }
    if (op->cls->plain) return;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) link_op(c, children->data[j]);
    }
}

static void link_later(copying *c) {
    for (const xir_op *op = c->from->first; op; op = op->next) link_op(c, op);
}

static bool copy_fields(copying *c) {
    for (int i = 0; i < XIR_TEXT_COUNT; i++) {
        if (xir_network_set_text(c->to, (xir_network_text)i, c->from->text[i])) return false;
    }
    c->to->params_bytes = c->from->params_bytes;
    if (xir_network_set_ai_target(c->to, c->from->ai_target)) return false;
    c->to->ai_target_new = c->from->ai_target_new;
    c->to->absent = c->from->absent;
    c->to->tags = copy_map(c, c->from->tags);
    c->to->extra = copy_map(c, c->from->extra);
    return !c->failed;
}

static bool copy_network(copying *c) {
    if (!copy_fields(c)) return false;
    for (const xir_op *op = c->from->first; op; op = op->next) {
        xir_op *copy = copy_op(c, op);
        if (!copy) return false;
        op_link(copy, NULL);
    }
    link_later(c);
    ids_free(c->to);   /* if built, then while an op was not linked yet */
    if (c->to->next_op_id < c->from->next_op_id) c->to->next_op_id = c->from->next_op_id;
    if (c->to->next_value_id < c->from->next_value_id) c->to->next_value_id = c->from->next_value_id;
    return !c->failed;
}

xir_network *xir_network_clone(const xir_network *net) {
    if (!net) return NULL;
    copying c = { .from = net, .to = network_new(net->ctx) };
    if (!c.to) return NULL;
    size_t ops = ((size_t)net->n_slots + 1) * sizeof *c.ops, values = ((size_t)net->n_params + 1) * sizeof *c.params;
    c.ops = mem_new(&net->alloc, ops);
    c.params = mem_new(&net->alloc, values);
    bool ok = c.ops && c.params;
    if (ok) {
        memset(c.ops, 0, ops);
        memset(c.params, 0, values);
        ok = copy_network(&c);
    }
    mem_free(&net->alloc, c.ops, ops);
    mem_free(&net->alloc, c.params, values);
    if (ok) return c.to;
    xir_network_free(c.to);
    return NULL;
}
