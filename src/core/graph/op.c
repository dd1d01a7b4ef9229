/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Queries and changes of one op. A failed change leaves the op unchanged, with a finding in its network. */
#include <inttypes.h>
#include <stdlib.h>
#include "body_values.h"
#include "graph.h"
#include "types.h"

/* ---- asking ------------------------------------------------------------------------------------------------ */

xir_network      *xir_op_network(const xir_op *op) { return op ? op->net : NULL; }
const xir_class  *xir_op_class(const xir_op *op)   { return op ? op->cls : NULL; }
bool              xir_op_is(const xir_op *op, const xir_class_decl *decl) { return xir_op_body(op, decl) != NULL; }
bool              xir_op_is_activation(const xir_op *op) { return op && op->cls->traits & XIR_TRAIT_ACTIVATION; }
int64_t           xir_op_id(const xir_op *op)      { return op ? op->id : -1; }
xir_str           xir_op_name(const xir_op *op)    { return op ? name_text(op_label(op)) : (xir_str){ "", 0 }; }
const xir_target *xir_op_target(const xir_op *op)  { return op ? op_target(op) : NULL; }
xir_op           *xir_op_parent(const xir_op *op) {
    return op && op->flags & OP_CHILD ? op_more_of(op)->parent : NULL;
}
bool              xir_op_has_trait(const xir_op *op, xir_trait t) { return op && xir_class_has_trait(op->cls, t); }
bool              xir_op_is_draft(const xir_op *op) { return op && op->flags & OP_DRAFT; }
bool              xir_op_is_placed(const xir_op *op) { return op && op->flags & OP_PLACED; }
uint32_t          xir_op_slot(const xir_op *op)    { return op ? op->slot : 0; }
xir_op           *xir_op_next(const xir_op *op)    { return op ? op->next : NULL; }
xir_op           *xir_op_prev(const xir_op *op)    { return op ? op->prev : NULL; }
bool              xir_op_before(const xir_op *a, const xir_op *b) { return a && b && a->position < b->position; }

static bool resolve(int64_t i, uint32_t n, uint32_t *out) {
    if (i < 0) i += n;
    if (i < 0 || i >= (int64_t)n) return false;
    *out = (uint32_t)i;
    return true;
}

size_t xir_op_input_count(const xir_op *op) { return op ? op->n_inputs : 0; }

xir_value *xir_op_input(const xir_op *op, int64_t i) {
    if (!op) return NULL;
    uint32_t at;
    return resolve(i, op->n_inputs, &at) ? op_inputs(op)[at].value : NULL;
}

xir_value *xir_op_input_named(const xir_op *op, xir_str port) {
    if (!op) return NULL;
    for (uint32_t i = 0; i < op->cls->more->n_inputs && i < op->n_inputs; i++) {
        if (xir_str_equal(op->cls->more->inputs[i].name, port)) return op_inputs(op)[i].value;
    }
    return NULL;
}

size_t xir_op_input_index(const xir_op *op, const xir_value *value, size_t *out, size_t room) {
    if (!op) return 0;
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value != value) continue;
        if (n < room) out[n] = i;
        n++;
    }
    return n;
}

size_t xir_op_output_count(const xir_op *op) { return op ? op->n_outputs : 0; }

xir_value *xir_op_output(const xir_op *op, int64_t i) {
    uint32_t at;
    return op && resolve(i, op->n_outputs, &at) ? &op_outputs(op)[at] : NULL;
}

bool value_gather(void *user, xir_value *v) {
    value_room *g = user;
    if (g->n < g->room) g->out[g->n] = v;
    g->n++;
    return true;
}

/* ---- name, id, target, tags -------------------------------------------------------------------------------- */

xir_status xir_op_set_name(xir_op *op, xir_str text) {
    if (!op) return XIR_E_MISSING;
    const label *n = net_name(op->net, text);
    if (!n) return net_no_memory(op->net);
    op_set_label(op, n);
    op_named(op);
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_set_id(xir_op *op, int64_t id) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    if (id < 0) return net_fail(net, XIR_E_BOUNDS, "op id %" PRId64 " is below 0", id);
    if (id < net->next_op_id && !net_build_ids(net)) return net_no_memory(net);
    const xir_op *other = id < net->next_op_id ? net_find_op(net, id) : NULL;
    if (other && other != op) return net_fail(net, XIR_E_EXISTS, "op id %" PRId64 " is taken", id);
    if (!op_is_in(op)) {
        op->id = id;   /* entered into the table when it is placed */
        if (id >= net->next_op_id && id < INT64_MAX) net->next_op_id = id + 1;
        return XIR_OK;
    }
    if (!op_set_id(op, id)) return net_no_memory(net);
    net->epoch++;
    return XIR_OK;
}

xir_status xir_op_set_target(xir_op *op, const xir_target *target) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    const xir_target *own = target ? (const xir_target *)net_intern(net, (const xir_object *)target) : net->host;
    if (!own || !op_set_own_target(op, own)) return net_no_memory(net);
    net->epoch++;
    return XIR_OK;
}

const xir_map *xir_op_tags(const xir_op *op)  { return op ? op_tags(op) : NULL; }
const xir_map *xir_op_extra(const xir_op *op) { return op && op_more_of(op) ? op_more_of(op)->extra : NULL; }

xir_status xir_op_set_tag(xir_op *op, xir_str key, const xir_any *value) {
    if (!op) return XIR_E_MISSING;
    xir_status status = value ? any_check_params(op->net, value) : XIR_OK;
    if (status) return status;
    const xir_map *tags = NULL;
    op_more *more = op_need_more(op);
    if (!more || !map_with(&op->net->arena, more->tags, key, value, &tags)) return net_no_memory(op->net);
    more->tags = tags;
    op->net->epoch++;
    return XIR_OK;
}

/* ---- inference ---------------------------------------------------------------------------------------------- */

xir_status keep_conversion(const xir_op *op, xir_infer *at, const xir_type *declared, const xir_type **inferred) {
    const xir_tensor_type *of = xir_type_as_tensor(declared), *now = xir_type_as_tensor(*inferred);
    if (!of || !now || xir_type_equal(of->element_dtype, now->element_dtype)) return XIR_OK;
    if (!xir_type_is_quantized(of->element_dtype) && !xir_type_is_quantized(now->element_dtype)) return XIR_OK;
    *inferred = type_tensor(at->pool, of->element_dtype, now->layout, now->shape, now->merged_distrs);
    return *inferred ? XIR_OK : net_no_memory(op->net);
}

xir_status op_infer(xir_op *op, infer_mode mode, size_t place, xir_diags *why) {
    xir_infer at;
    infer_memo memo = { .cls = op->cls, .attrs = op->attrs, .target = op_target(op) };
    for (uint32_t i = 0; i < op->n_inputs && i < INFER_INPUTS; i++) memo.in[i] = infer_key_of(op_inputs(op)[i].value);
    const bool known = op->n_inputs <= INFER_INPUTS && infer_recall(op->net, &memo);
    if (known && op->n_outputs == 1 && op_outputs(op)->type == memo.out) return XIR_OK;   /* nothing has changed */
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), why);
    at.op = op;
    at.place = place;
    xir_status status = XIR_OK;
    if (known) {
        at.out[0] = memo.out;
        at.n_out = 1;
    } else {
        composed_question question;
        if (!composed_recall(&at, op->net, &question)) {
            status = infer_run(&at);
            if (!status) infer_remember(&at, op->net, &memo);
            if (!status) composed_remember(&at, op->net, &question);
        }
    }
    if (!status) {
        bool same = op->n_outputs == at.n_out;
        bool override = mode != INFER_MISSING;
        for (uint32_t i = 0; mode == INFER_CONVERSIONS_STAY && !status && i < op->n_outputs && i < at.n_out; i++) {
            status = keep_conversion(op, &at, op_outputs(op)[i].type, &at.out[i]);
        }
        if (!override && op->n_outputs) {
            for (uint32_t i = 0; i < op->n_outputs && i < at.n_out; i++) at.out[i] = op_outputs(op)[i].type;
            if (op->n_outputs > at.n_out) at.n_out = op->n_outputs;
        }
        for (uint32_t i = 0; same && i < op->n_outputs; i++) same = xir_type_equal(op_outputs(op)[i].type, at.out[i]);
        if (!status && !same && (override || at.n_out > op->n_outputs))
            status = xir_op_set_outputs(op, at.out, at.n_out);
    }
    infer_end(&at);
    return status;
}

bool xir_op_can_infer(const xir_op *op) {
    if (!op) return false;
    return class_can_infer(op->cls, xir_target_kind_of(op_target(op)));
}

xir_status xir_op_infer(xir_op *op, bool override) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    xir_status draft = op_complete(op);
    if (draft) return draft;
    if (!xir_op_can_infer(op)) {
        return net_fail(net, XIR_E_UNKNOWN, "%.*s has no type inference", (int)op->cls->key.size, op->cls->key.data);
    }
    xir_status status = op_infer(op, override ? INFER_REPLACE : INFER_MISSING, 0, net->diags);
    if (status && !net->status) net->status = status;
    return status;
}

bool xir_op_is_erased(const xir_op *op) { return op && op->flags & OP_ERASED; }

/* ---- erasing ----------------------------------------------------------------------------------------------- */

/* A removed op takes its sub ops along. Their inputs may be removed too. */
void op_forget(xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) use_unlink(&op_inputs(op)[i]);
    op->flags = (op->flags | OP_ERASED) & ~(uint32_t)OP_DRAFT;
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            ids_forget_op(children->data[j]);
            op_forget(children->data[j]);
        }
    }
}

/* A use of the op's outputs, or of its sub ops' outputs, by an op that remains. */
typedef struct obstacle { const xir_op *leaving; const xir_use *use; } obstacle;

static bool no_obstacle(void *user, xir_op *op) {
    obstacle *o = user;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            const xir_op *up = u->user;
            while (up && up != o->leaving) up = xir_op_parent(up);
            if (up) continue;
            o->use = u;
            return false;
        }
    }
    return op->cls->plain || op_each_child(op, no_obstacle, o);
}

xir_status xir_op_erase(xir_op *op) {
    if (!op) return XIR_E_MISSING;
    xir_network *net = op->net;
    obstacle o = { op, NULL };
    if (!no_obstacle(&o, op)) {
        const xir_value *v = o.use->value;
        const xir_op *user = o.use->user;
        return net_fail(net, XIR_E_IN_USE, "output %zu of op %" PRId64 " is used by op %" PRId64 " '%.*s'",
                        xir_value_index(v), value_op(v)->id, user->id, WHOLE(name_text(op_label(user))));
    }
    if (op->flags & OP_CHILD)
        return net_fail(net, XIR_E_IN_USE, "op %" PRId64 " is a sub op: change its parent", op->id);
    if (op->flags & OP_PLACED) {
        ids_forget_op(op);
        op_unlink(op);
    }
    op_forget(op);
    net->epoch++;
    return XIR_OK;
}

bool op_is_of(const xir_op *op, const char *prefix, const char *type) {
    const size_t n = strlen(prefix);
    const xir_str key = op ? op->cls->key : XIR_STR("");
    return key.size > n && memcmp(key.data, prefix, n) == 0 &&
           xir_str_equal((xir_str){ key.data + n, key.size - n }, xir_str_of(type));
}
