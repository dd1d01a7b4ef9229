/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Puts the ops of a body in the place of the op that runs it. Types are inferred first; after that nothing fails. */
#include <inttypes.h>
#include "body_values.h"
#include "provenance.h"
#include "region.h"

/* ---- types that the body is not made for ------------------------------------------------------------------------ */

/* Infers the types of all values of the body from the inputs of the call, as types of the network. */
static xir_status find_types(const body_values *b, xir_infer *at, xir_network *net, const xir_type **types) {
    xir_status status = body_infer(b, at, types, NULL);
    for (size_t i = 0; i < b->n && !status; i++) {
        if (!types[i]) continue;
        types[i] = net_type(net, types[i]);
        if (!types[i]) status = XIR_E_MEMORY;
    }
    if (status == XIR_E_MEMORY) return net_no_memory(net);
    if (status && !net->status) net->status = status;
    return status;
}

/* Checks the call by the rule of its class, and fills `types` if its inputs have other types than the body's; NULL
 * otherwise. */
static xir_status check(xir_op *call, const body_values *b, const xir_type ***types) {
    xir_network *net = call->net;
    xir_infer at;
    infer_start(&at, net, call->cls, call->attrs, op_target(call), NULL, call->n_inputs, name_text(op_label(call)),
                net->diags);
    at.op = call;
    xir_status status = infer_check(&at);
    if (status && !net->status) net->status = status;
    if (!status && !body_has_types(body_input(b), &at)) {
        *types = mem_new(&net->alloc, (b->n + 1) * sizeof **types);
        status = *types ? find_types(b, &at, net, *types) : net_no_memory(net);
    }
    infer_end(&at);
    return status;
}

/* ---- moving ----------------------------------------------------------------------------------------------------- */

static void set_types(const body_values *b, const xir_type *const *types) {
    for (size_t i = 1; i + 1 < b->ops.size; i++) {
        xir_op *op = b->ops.data[i];
        for (uint32_t k = 0; k < op->n_outputs; k++) op_outputs(op)[k].type = types[b->first[i] + k];
    }
}

/* Turns every use of a value into one of another; NULL: into absent inputs. An op that makes `to` does not stand for
 * one that made `from`: the body comes back, nothing is replaced. */
static void move_uses(xir_value *from, xir_value *to) {
    while (from->uses) {
        xir_use *use = from->uses;
        xir_op *user = use->user;
        use_unlink(use);
        use_link(use, user, to);
    }
}

/* Returns the value outside for a result of the body: an input of the call, if the body passes it through. */
static xir_value *outside_of(const xir_op *call, const xir_op *input, xir_value *v) {
    return value_op(v) == input ? op_inputs(call)[v - op_outputs(input)].value : v;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* The value of the body that output `i` of the call stands for; NULL if the body passes it through. */
static xir_value *result_at(const body_values *b, uint32_t i) {
    xir_value *v = op_inputs(b->ops.data[b->ops.size - 1])[i].value;
    return v && value_op(v) && value_op(v) != b->ops.data[0] ? v : NULL;
}

static bool join_tags(xir_network *net, const xir_map *own, const xir_map *more, const xir_map **out) {
    *out = own && own->size ? own : more;
    for (size_t i = 0; *out != more && more && i < more->size; i++)
        if (!map_with(&net->arena, *out, more->entries[i].key, &more->entries[i].value, out)) return false;
    return true;
}

/* Finds the tags that the results will have, and makes room for their names. */
static bool prepare_results(const body_values *b, const xir_op *call, const xir_map **tags) {
    for (uint32_t i = 0; i < call->n_outputs; i++) {
        xir_value *v = result_at(b, i);
        const value_more *of = value_more_of(&op_outputs(call)[i]);
        if (!v || !of) continue;
        if (!value_need_more(v) || !join_tags(call->net, xir_value_tags(v), of->tags, &tags[i])) return false;
    }
    return true;
}

/* The results take the names, types and tags of the call's outputs. The first output comes last: of several that are
 * the same value it decides. */
static void describe_results(const body_values *b, const xir_op *call, const xir_map *const *tags) {
    for (uint32_t i = call->n_outputs; i-- > 0;) {
        xir_value *v = result_at(b, i);
        const value_more *of = value_more_of(&op_outputs(call)[i]);
        if (!v || !of) continue;
        if (of->name->size) value_more_of(v)->name = of->name;
        if (of->mtype) value_more_of(v)->mtype = of->mtype;
        if (of->tags) value_more_of(v)->tags = tags[i];
    }
}

/* ---- leaving ---------------------------------------------------------------------------------------------------- */

static void leave(xir_op *op) {
    ids_forget_op(op);
    op_forget(op);
}

static void release(const body_values *b, xir_op *call) {
    xir_op *input = b->ops.data[0], *output = b->ops.data[b->ops.size - 1];
    for (uint32_t i = 0; i < output->n_inputs; i++) {
        xir_value *to = outside_of(call, input, op_inputs(output)[i].value);
        move_uses(&op_outputs(call)[i], to);
        if (to) provenance_inlined(call->net, &op_outputs(call)[i], to);
    }
    for (uint32_t i = 0; i < input->n_outputs; i++) move_uses(&op_outputs(input)[i], op_inputs(call)[i].value);
    for (size_t i = 0; i < b->ops.size; i++) b->ops.data[i]->flags &= ~(uint32_t)OP_CHILD;
    for (size_t i = 1; i + 1 < b->ops.size; i++) {
        op_more_of(b->ops.data[i])->parent = NULL;
        op_link(b->ops.data[i], call);
    }
    leave(input);
    leave(output);
    call->attrs = call->cls->defaults;   /* they are not its sub ops any more */
    op_unlink(call);
    leave(call);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

/* The check that everything that an op uses, also through sub ops, is made before it if it comes after `prev`. */
typedef struct placing { const xir_op *op, *prev; } placing;

static bool is_made_before(void *user, xir_op *op) {
    const placing *p = user;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_op *maker = op_inputs(op)[i].value ? placed_maker(op_inputs(op)[i].value) : NULL;
        if (maker && maker != p->op && (!p->prev || maker->position > p->prev->position)) return false;
    }
    return op_each_child(op, is_made_before, user);
}

static bool is_end(const xir_op *op) { return op && op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK); }

static xir_op *placed(const xir_network *net, int64_t id) {
    xir_op *op = id < 0 ? NULL : net_find_op(net, id);
    return op && op->flags & OP_PLACED ? op : NULL;
}

/* Puts each op after the one that it came after, in their order: it moves forward, past what is not in its place yet. A
 * pair that is not possible any more changes nothing. */
static void restore(xir_network *net, const int64_t *places, size_t n) {
    for (size_t i = 0; i + 1 < n; i += 2) {
        xir_op *op = placed(net, places[i]), *prev = placed(net, places[i + 1]);
        if (!op || op == prev || is_end(op) || (!prev && places[i + 1] >= 0)) continue;
        if (prev && (prev->position > op->position || prev->cls->traits & XIR_TRAIT_SINK)) continue;
        if (!prev && is_end(net->first)) continue;
        if (op->prev == prev || !is_made_before(&(placing){ op, prev }, op)) continue;
        (void)xir_op_move(op, prev ? prev->next : net->first);   /* both are placed: it does not fail */
    }
}

xir_status xir_op_inline(xir_op *call) {
    if (!call) return XIR_E_MISSING;
    xir_network *net = call->net;
    const xir_class *cls = xir_class_find(net->ctx, XIR_STR("xir::Call"));
    if (call->cls != cls) return net_fail(net, XIR_E_TYPE, "op %" PRId64 " is a %.*s: expected an xir::Call", call->id,
                                          (int)call->cls->key.size, call->cls->key.data);
    if (!(call->flags & OP_PLACED))
        return net_fail(net, XIR_E_INVALID, "op %" PRId64 " is not in the order of a network", call->id);
    for (uint32_t i = 0; i < call->n_inputs; i++) {
        const xir_value *v = op_inputs(call)[i].value;
        if (v && value_op(v) && placed_maker(v) == call)
            return net_fail(net, XIR_E_INVALID, "op %" PRId64 " uses what it makes itself", call->id);
    }
    xir_attr body, places;
    if (xir_op_get(call, XIR_STR("body"), &body) || xir_op_get(call, XIR_STR("places"), &places))
        return net_fail(net, XIR_E_UNKNOWN, "the class xir::Call has no body");
    const xir_type **types = NULL;
    const xir_map **tags = mem_new(&net->alloc, (call->n_outputs + (size_t)1) * sizeof *tags);
    if (!tags) return net_no_memory(net);
    body_values b;
    xir_status status = body_open(&b, &net->alloc, body.as.ops);
    if (status == XIR_E_MEMORY) status = net_no_memory(net);
    else status = check(call, &b, &types);   /* which also refuses an op that is listed twice */
    /* Restoring looks for ids. */
    if (!status && ((places.as.i64s.size && !net_build_ids(net)) || !prepare_results(&b, call, tags)))
        status = net_no_memory(net);
    if (!status) {
        if (types) set_types(&b, types);
        describe_results(&b, call, tags);
        release(&b, call);
        restore(net, places.as.i64s.data, places.as.i64s.size);
        net_changed(net);
    }
    mem_free(&net->alloc, (void *)tags, (call->n_outputs + (size_t)1) * sizeof *tags);
    mem_free(&net->alloc, (void *)types, (b.n + 1) * sizeof *types);
    body_close(&b);
    return status;
}
