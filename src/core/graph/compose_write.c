/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes ops of the parts of a composed op: for the executor, which runs them, and for the pass that puts them into its
 * place. Numbers become Params. */
#include <stdio.h>
#include "compose_walk.h"
#include "elements.h"

typedef struct writing {
    compose_walk w;
    xir_network *net;
    xir_at       at;
} writing;

/* Params of one number, in the format of the type. */
static xir_value *make_constant(void *user, const xir_type *type, double number) {
    writing *to = user;
    uint8_t bytes[16] = { 0 };
    uint64_t size;
    if (xir_type_bytes(type, &size) != XIR_OK || size > sizeof bytes) return NULL;
    (void)elements_fill(xir_type_element(type), number, 1, bytes);   /* it fits: compose_enter has tried */
    return xir_params_copy(to->net, XIR_STR(""), type, bytes, (size_t)size);
}

/* "conv1", or "conv1.c" for a part that makes no output. NULL data without memory. */
static xir_str name_of(writing *to, const compose_part *p, xir_str name) {
    const composition *c = to->w.c;
    if (!name.data) return p->label;
    for (uint32_t i = 0; i < c->n_outputs; i++)
        if (c->outputs[i] >= p->first && c->outputs[i] < p->first + p->n_results) return name;
    if (!name.size) return name;
    char *text = arena_take(&to->w.own, name.size + 1 + p->label.size);
    if (!text) return (xir_str){ NULL, 0 };
    memcpy(text, name.data, name.size);
    text[name.size] = '.';
    memcpy(text + name.size + 1, p->label.data, p->label.size);
    return (xir_str){ text, name.size + 1 + p->label.size };
}

/* Adds why the attributes of a part do not follow. */
static xir_status refuse(writing *to, const compose_part *p, xir_status status, xir_str name) {
    if (status == XIR_E_MEMORY) return net_no_memory(to->net);
    return net_fail(to->net, status, "%.*s '%.*s': part %%%.*s: %s", CLIP_TO(to->w.cls->key, 200), CLIP(name),
                    CLIP(p->label), to->w.fault.text);
}

static xir_status write_part(writing *to, const compose_part *p, xir_str name) {
    const xir_status status = compose_enter(&to->w, p);
    const xir_str called = name_of(to, p, name);
    if (status) return refuse(to, p, status, name);
    if (!called.data) return net_no_memory(to->net);
    const part_question q = { p->cls, to->w.body, to->at.target, to->w.inputs, to->w.n_inputs, p->n_results };
    const xir_type **types = arena_take(&to->w.own, (p->n_results + 1) * sizeof *types);
    size_t n_types = 0;
    if (!types || compose_real_types(to->net, &q, types, &n_types)) return net_no_memory(to->net);
    const xir_op *op = xir_network_add(to->net, &XIR_INIT(xir_op_desc, .cls = p->cls, .attrs = to->w.body,
        .inputs = to->w.inputs, .n_inputs = to->w.n_inputs, .target = to->at.target, .name = called, .id = XIR_NO_ID,
        .types = n_types ? types : NULL, .n_types = n_types, .before = to->at.before));
    if (!op) return to->net->status ? to->net->status : XIR_E_INVALID;
    if (op->n_outputs != p->n_results)
        return net_fail(to->net, XIR_E_INVALID, "%.*s: part %%%.*s has %u results, the composition names %u",
                        CLIP_TO(to->w.cls->key, 200), CLIP(p->label), op->n_outputs, p->n_results);
    for (uint32_t i = 0; i < p->n_results; i++) to->w.now[p->first + i] = &op_outputs(op)[i];
    /* A value between has the name of its op; the outputs get those of the values that they stand for. */
    if (p->n_results > 1 || called.data == name.data || !called.size) return XIR_OK;
    value_more *more = value_need_more(&op_outputs(op)[0]);
    if (!more) return net_no_memory(to->net);
    more->name = op_label(op);
    value_named(&op_outputs(op)[0]);
    return XIR_OK;
}

xir_status compose_write(xir_network *net, const xir_class *cls, const void *attrs, xir_value *const *given, size_t n,
                         const xir_target *target, xir_str name, xir_op *before, xir_value **outputs) {
    const composition *c = cls->more->composed;
    writing to = { .net = net, .at = { .net = net, .target = target, .before = before } };
    xir_status status = compose_begin(&to.w, &net->pool, net->ctx, cls, attrs, given, n) ? XIR_OK : net_no_memory(net);
    to.w.constant = make_constant;
    to.w.user = &to;
    for (uint32_t i = 0; i < c->n_parts && !status; i++)
        if (!compose_is_left_out(&to.w, &c->parts[i])) status = write_part(&to, &c->parts[i], name);
    for (uint32_t i = 0; i < c->n_outputs && !status; i++) outputs[i] = to.w.now[c->outputs[i]];
    compose_end(&to.w);
    return status;
}
