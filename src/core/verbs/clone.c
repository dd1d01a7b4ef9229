/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Copies of an op in its own network, and of whole networks. */
#include "copying.h"
#include "provenance.h"

/* ---- an op in its own network ------------------------------------------------------------------------------ */

static xir_op *clone_op(const xir_op *op);

/* If an input is a sibling's output, the copy's input becomes the output of the sibling's copy. Siblings are found in a
 * table. */
static void relink(xir_op *copy, const pointer_table *siblings, xir_op *const *copies) {
    for (uint32_t i = 0; i < copy->n_inputs; i++) {
        const xir_value *v = op_inputs(copy)[i].value;
        const uint32_t *place = v && value_op(v) ? pointer_table_find(siblings, value_op(v)) : NULL;
        if (!place) continue;
        use_unlink(&op_inputs(copy)[i]);
        use_link(&op_inputs(copy)[i], copy, &op_outputs(copies[*place])[v - op_outputs(value_op(v))]);
    }
}

/* The same for all; false without memory. */
static bool relink_all(const xir_ops *from, xir_op *const *copies) {
    pointer_table siblings;
    bool good = from->size < UINT32_MAX;
    if (!from->size) return true;
    pointer_table_init(&siblings, &from->data[0]->net->alloc);
    for (size_t j = 0; j < from->size && good; j++)
        good = pointer_table_add(&siblings, from->data[j], (uint32_t)j) != NULL;
    for (size_t j = 0; j < from->size && good; j++) relink(copies[j], &siblings, copies);
    pointer_table_free(&siblings);
    return good;
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
        if (!relink_all(from, copies)) return drop_copies(op, body);
    }
    return true;
}

static bool clone_more(const xir_op *op, xir_op *copy) {
    if (op_more_of(op)) {
        op_more *more = op_need_more(copy);
        if (!more) return false;
        more->tags = op_more_of(op)->tags;
        more->extra = op_more_of(op)->extra;
        more->absent = op_more_of(op)->absent;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const value_more *from = value_more_of(&op_outputs(op)[i]);
        value_more *to = from ? value_need_more(&op_outputs(copy)[i]) : NULL;
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
    for (uint32_t i = 0; i < op->n_outputs && types; i++) types[i] = op_outputs(op)[i].type;
    bool ok = copy && types && op_make_outputs(copy, types, op->n_outputs) && clone_more(op, copy) &&
        op_set_own_target(copy, op_target(op)) && !op_adopt_children(copy, attrs);
    mem_free(&net->alloc, (void *)types, bytes);
    if (!ok) {
        drop_copies(op, attrs);
        return NULL;
    }
    op_set_label(copy, op_label(op));
    copy->flags |= op->flags & OP_DRAFT;
    for (uint32_t i = 0; i < op->n_inputs; i++) use_link(&op_inputs(copy)[i], copy, op_inputs(op)[i].value);
    provenance_copied(copy, op);
    return copy;
}

xir_op *xir_op_clone(const xir_op *op) {
    if (!op) return NULL;
    xir_op *copy = clone_op(op);
    if (!copy) net_no_memory(op->net);
    return copy;
}

/* ---- a whole network --------------------------------------------------------------------------------------- */

static bool copy_network(copying *c, const xir_network *from) {
    if (!copy_fields(c, from)) return false;
    for (const xir_op *op = from->first; op; op = op->next) {
        xir_op *copy = copy_op(c, op);
        if (!copy) return false;
        op_link(copy, NULL);
    }
    for (const xir_op *op = from->first; op; op = op->next) {
        if (!copy_inputs(c, op)) return false;
    }
    ids_free(c->to);   /* if built, then while an op was not linked yet */
    if (c->to->next_op_id < from->next_op_id) c->to->next_op_id = from->next_op_id;
    if (c->to->next_value_id < from->next_value_id) c->to->next_value_id = from->next_value_id;
    return !c->failed;
}

xir_network *xir_network_clone(const xir_network *net) {
    if (!net) return NULL;
    copying c = { .to = network_new(net->ctx), .ids = true };
    if (!c.to) return NULL;
    size_t ops = ((size_t)net->n_slots + 1) * sizeof *c.ops, values = ((size_t)net->n_params + 1) * sizeof *c.params;
    c.ops = mem_new(&net->alloc, ops);
    c.params = mem_new(&net->alloc, values);
    bool ok = c.ops && c.params;
    if (ok) {
        memset(c.ops, 0, ops);
        memset(c.params, 0, values);
        ok = copy_network(&c, net);
    }
    copying_end(&c);
    mem_free(&net->alloc, c.ops, ops);
    mem_free(&net->alloc, c.params, values);
    if (ok) net_share_check(net, c.to);
    if (ok) return c.to;
    xir_network_free(c.to);
    return NULL;
}
