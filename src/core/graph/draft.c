/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Drafts: ops that have only a class at first. A draft has attributes that nobody has checked together, and perhaps no
 * inputs and outputs. While it is one, `absent` has a bit for each attribute that has no default and is not set yet.
 * Whatever places an op, adopts it as a sub op or infers it completes it first, and nothing else computes from one, so
 * that inference never meets an incomplete op. */
#include <stdio.h>
#include "graph.h"

/* ---- making ----------------------------------------------------------------------------------------------------- */

static xir_status no_class(xir_network *net, xir_str key) {
    xir_str near = { "", 0 };
    size_t distance = SIZE_MAX;
    const xir_class *cls = atomic_load_explicit(&net->ctx->first_class, memory_order_acquire);
    for (; cls; cls = cls->more->next) {
        if (cls->is_op && xir_str_is_nearer(key, cls->key, &distance)) near = cls->key;
    }
    return net_fail(net, XIR_E_UNKNOWN, "there is no class '%.*s'%s%.*s%s", CLIP_TO(key, 200),
                    near.size ? "; did you mean '" : "", WHOLE(near), near.size ? "'?" : "");
}

xir_op *xir_op_create(xir_network *net, xir_str key) {
    if (!net) return NULL;
    const xir_class *cls = xir_class_find(net->ctx, key);
    if (!cls ? no_class(net, key) : desc_check_class(net, &(xir_op_desc){ .cls = cls })) return NULL;
    xir_op *op = op_make(net, cls, cls->defaults, 0);
    op_more *more = op ? op_need_more(op) : NULL;
    if (!more) return net_no_memory(net), NULL;
    more->absent = cls->more->required;
    op->flags |= OP_DRAFT;
    return op;
}

/* ---- completing ------------------------------------------------------------------------------------------------- */

uint64_t op_unset(const xir_op *op) { return op_more_of(op) ? op_more_of(op)->absent & op->cls->more->required : 0; }

xir_status class_check_set(const xir_class *cls, uint64_t unset, xir_str op_name, xir_str path, xir_diags *why) {
    const char *quote = op_name.size ? "'" : "";
    xir_status status = XIR_OK;
    for (; unset; unset &= unset - 1) {
        const xir_str field = cls->fields[__builtin_ctzll(unset)].name;
        char at[256];
        const int n = snprintf(at, sizeof at, "%.*s/%.*s", CLIP_TO(path, 120), CLIP_TO(field, 120));
        status = diag_fail(why, XIR_E_MISSING, (xir_str){ at, n > 0 ? (size_t)n : 0 },
                           "attribute %.*s of %.*s%s%s%.*s%s has no default and is not set", CLIP_TO(field, 120),
                           WHOLE(cls->key), *quote ? " " : "", quote, CLIP_TO(op_name, 80), quote);
    }
    return status;
}

static xir_status check_attrs(xir_op *op) {
    xir_network *net = op->net;
    const xir_str called = name_text(op_label(op));
    xir_status status = class_check_set(op->cls, op_unset(op), called, XIR_STR(""), net->diags);
    if (!status) status = body_check(op->cls, op->attrs, called, XIR_STR(""), net->diags);
    if (status && !net->status) net->status = status;
    return status;
}

static xir_status check_inputs(xir_op *op) {
    xir_network *net = op->net;
    xir_value *few[8], **inputs = few;
    const size_t bytes = op->n_inputs * sizeof *inputs;
    if (bytes > sizeof few) inputs = mem_new(&net->alloc, bytes);
    if (!inputs) return net_no_memory(net);
    for (uint32_t i = 0; i < op->n_inputs; i++) inputs[i] = op_inputs(op)[i].value;
    const xir_op_desc desc = { .cls = op->cls, .inputs = inputs, .n_inputs = op->n_inputs,
                               .name = name_text(op_label(op)) };
    xir_status status = desc_check_inputs(net, &desc);
    if (inputs != few) mem_free(&net->alloc, inputs, bytes);
    return status;
}

static xir_status infer_outputs(xir_op *op) {
    xir_network *net = op->net;
    if (op->n_outputs) return XIR_OK;
    if (!xir_op_can_infer(op)) {
        if (!op->cls->more->n_outputs || op->cls->many_outputs) return XIR_OK;   // it may have none
        return net_fail(net, XIR_E_UNKNOWN, "%.*s has no type inference: its outputs must be set", WHOLE(op->cls->key));
    }
    xir_status status = op_infer(op, INFER_MISSING, 0, net->diags);
    if (status && !net->status) net->status = status;
    return status;
}

xir_status op_complete_draft(xir_op *op) {
    xir_status status = check_attrs(op);
    if (!status) status = check_inputs(op);
    if (!status) status = infer_outputs(op);
    if (!status) op->flags &= ~(uint32_t)OP_DRAFT;
    return status;
}
