/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* to-parts: puts the parts of composed ops in their places.
 *
 *     y = tern::Conv(x, w, b, r){max_value=6}   ->   c = Conv2d(x, w, b), s = Add(c, r), y = ReLU(s){max_value=6}
 *
 * The executor runs a composed op that has no kernel of its own in just this way, so the bits are the same. An op whose
 * results have types that do not follow from its parts, as quantised ones, stays. */
#include "compose/compose.h"
#include "provenance.h"
#include "support/upkeep.h"

xir_status pass_composed_class(xir_pass *at, const xir_class **out) {
    const xir_str key = xir_pass_text(at, "class");
    *out = key.size ? xir_class_find(xir_pass_context(at), key) : NULL;
    if (!key.size) return XIR_OK;
    if (!*out || !(*out)->is_op)
        return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "option class: there is no operation %.*s", CLIP_TO(key, 200));
    if ((*out)->more->composed) return XIR_OK;
    return xir_pass_fail(at, XIR_E_INVALID, NULL, "option class: %.*s is not composed", CLIP_TO(key, 200));
}

/* Removes what has been made before the op, the last first. */
static void remove_made(const xir_op *before, xir_op *op) {
    while (op->prev != before && op_is_unused(op->prev)) op_drop(op->prev);
}

static bool are_like(const xir_op *op, xir_value *const *now) {
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!is_same_type(op_outputs(op)[i].type, now[i]->type)) return false;
    return true;
}

/* The parts have the tags of the op, and its results their memory types. */
static bool hand_down(const xir_op *before, const xir_op *op, xir_value *const *now) {
    const xir_map *tags = xir_op_tags(op);
    for (xir_op *made = before ? before->next : op->net->first; made != op && tags; made = made->next) {
        op_more *more = op_need_more(made);
        if (!more) return false;
        more->tags = tags;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const value_more *of = value_more_of(&op_outputs(op)[i]);
        const bool is_new = value_op(now[i]) && value_op(now[i])->position > (before ? before->position : 0);
        if (!of || !of->mtype || !is_new) continue;
        if (xir_value_set_mtype(now[i], of->mtype)) return false;
    }
    return true;
}

/* Moves the uses of the results. *done is false if the op stays, because a result of the network would lose its
 * name. */
static xir_status replace(xir_op *op, xir_value *const *now, bool *done) {
    size_t moved = 0;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_status status = value_replace(now[i], &op_outputs(op)[i], true, &moved);
        if (status) return status;
    }
    *done = op_is_unused(op);
    if (*done) op_drop(op);
    return XIR_OK;
}

static xir_status write_out(xir_pass *at, xir_op *op, bool *done) {
    xir_network *net = op->net;
    xir_value **inputs = mem_new(&net->alloc, (op->n_inputs + 1) * sizeof *inputs);
    xir_value **now = mem_new(&net->alloc, (op->n_outputs + 1) * sizeof *now);
    const xir_op *before = op->prev;
    xir_status status = inputs && now ? XIR_OK : pass_no_memory(at);
    provenance_scope scope;
    const size_t found = xir_diags_count(net->diags);
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) inputs[i] = op_inputs(op)[i].value;
    provenance_begin(net, &scope, op);
    if (!status) {
        status = compose_write(net, op->cls, op->attrs, inputs, op->n_inputs, op_target(op), name_text(op_label(op)),
                               op, now);
        const xir_diag *d = status ? xir_diags_at(net->diags, found) : NULL;
        if (status == XIR_E_MEMORY) status = pass_no_memory(at);
        else if (status)
            status = xir_pass_fail(at, status, op, "the op cannot be written out: %.*s", d ? (int)d->message.size : 0,
                                   d ? d->message.data : "");
    }
    if (!status && op->n_outputs == op->cls->more->composed->n_outputs && are_like(op, now)) {
        status = hand_down(before, op, now) ? replace(op, now, done) : pass_no_memory(at);
    }
    provenance_end(net, &scope);
    if (!*done) remove_made(before, op);
    mem_free(&net->alloc, (void *)inputs, (op->n_inputs + 1) * sizeof *inputs);
    mem_free(&net->alloc, (void *)now, (op->n_outputs + 1) * sizeof *now);
    return status;
}

static xir_status run(xir_pass *at) {
    const xir_class *only;
    xir_status status = pass_composed_class(at, &only);
    for (xir_op *op = at->net->first, *next; op && !status; op = next) {
        xir_op *before = op->prev;
        bool done = false;
        if (op->cls->more->composed && (!only || op->cls == only)) status = write_out(at, op, &done);
        if (done) xir_pass_changed(at, 1);
        /* Parts may be composed, too. */
        next = !done ? op->next : before ? before->next : at->net->first;
    }
    return status;
}

static const xir_pass_option options[] = {
    { "class", XIR_PASS_TEXT, "", "the key of the class whose ops are written out; if not given, all composed classes" },
};

const xir_pass_decl pass_to_parts = {
    XIR_PASS_HEAD("to-parts", "puts the parts of composed ops in their places"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
