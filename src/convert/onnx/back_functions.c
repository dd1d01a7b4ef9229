/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of xir::Call: its body becomes a function of the model, and the call a node of that. The body is
 * converted as a network of its own, calls within it first.
 *
 *     c = Call(x) { conv(x, w), relu }    ->    c = icraft.xir.calls.c(x, w)
 *                                               function c(x, w) { Conv(x, w), Relu }
 *
 * A function has no initializers. Constants of 1024 bytes and more are further inputs of it, so they are initializers
 * of the model, which can be mapped and shared; smaller ones are nodes of the function. Calls whose functions differ in
 * names alone have one function. A call is inlined if an op of its body stays XIR's. */
#include <xir/mapping.h>
#include <xir/ops.h>
#include <xir/region.h>
#include "onnx/back_functions.h"
#include "provenance.h"
#include "support/calls.h"
#include "support/upkeep.h"

enum { LEAST_INPUT = 1024 };

/* ---- the body as a network -------------------------------------------------------------------------------------- */

/* A call, its body as ops of ONNX, and the constants that become further inputs of the function. */
typedef struct made_call {
    xir_op      *call;
    xir_network *body;          /* all of it is ONNX's */
    xir_mapping *map;
    xir_value  **passed;        /* constants of the body that become inputs */
    size_t       n_passed;
} made_call;

static const xir_ops *body_of(const xir_op *call) { return &((const xir_call_op_attrs *)call->attrs)->body; }

/* An absent input of the call is one of the ops that use it. */
static bool drop_absent(const xir_op *call, const xir_network *body) {
    const xir_op *input = xir_network_input_op(body);
    for (uint32_t i = 0; i < call->n_inputs && i < input->n_outputs; i++) {
        if (op_inputs(call)[i].value) continue;
        for (xir_use *use = op_outputs(input)[i].uses, *next; use; use = next) {
            next = use->next;
            if (xir_op_set_input(use->user, xir_use_index(use), NULL)) return false;
        }
    }
    return true;
}

/* Copies a body, which its class has checked, into a network. */
static xir_status copy_body(writing *w, made_call *m, const xir_network *from) {
    const xir_entry version = { XIR_STR(""), xir_any_int(onnx_version(w->net, XIR_STR(""))) };
    const xir_any opset = xir_any_map(&version, 1);   /* others are added where nodes need them */
    const xir_ops ops = *body_of(m->call);
    m->body = xir_network_new(w->net->ctx, "", XIR_FRAMEWORK_ONNX, "");
    m->map = m->body ? xir_mapping_new((xir_network *)(uintptr_t)from, m->body) : NULL;
    if (!m->map || xir_network_set_tag(m->body, XIR_STR("onnx.opset"), &opset)) return XIR_E_MEMORY;
    for (size_t i = 0; i < ops.size; i++) {
        if (xir_mapping_clone(m->map, ops.data[i], NULL)) continue;
        const xir_status status = xir_network_status(m->body);
        return status == XIR_E_MEMORY ? status
                                      : xir_pass_fail(w->pass, status ? status : XIR_E_INVALID, m->call,
                                                      "op %zu of its body uses what the body does not have", i);
    }
    return drop_absent(m->call, m->body) ? XIR_OK : XIR_E_MEMORY;
}

static void close_call(made_call *m) {
    xir_mapping_free(m->map);
    xir_network_free(m->body);
}

/* A result that is an input is a value of its own: the names of two ports differ. */
static xir_status copy_inputs(xir_network *body) {
    xir_op *output = xir_network_output_op(body);
    const xir_op *input = xir_network_input_op(body);
    for (uint32_t i = 0; i < output->n_inputs; i++) {
        xir_value *v = op_inputs(output)[i].value;
        if (!v || value_is_params(v) || value_op(v) != input) continue;
        const xir_class *cls = xir_class_opaque(body->ctx, XIR_STR("onnx::Identity"));
        const xir_type *type = xir_value_type(v);
        xir_op *op = cls ? xir_network_add(body, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = &v, .n_inputs = 1,
                                           .types = &type, .n_types = 1, .id = XIR_NO_ID, .before = output)) : NULL;
        if (!op || xir_op_set_input(output, i, &op_outputs(op)[0])) return XIR_E_MEMORY;
    }
    return XIR_OK;
}

static bool is_passed(const xir_value *v) {
    uint64_t bytes;
    return v && value_is_params(v) && v->type && !xir_type_bytes(v->type, &bytes) && bytes >= LEAST_INPUT;
}

/* Finds the constants that become inputs, each once, in the order of their users. */
static xir_status find_passed(writing *w, made_call *m) {
    pointer_table seen;
    size_t n = 0;
    xir_status status = XIR_OK;
    pointer_table_init(&seen, w->alloc);
    for (const xir_op *op = m->body->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_inputs; i++) n += is_passed(op_inputs(op)[i].value);
    m->passed = arena_take(&w->room, (n + 1) * sizeof *m->passed);
    if (!m->passed) status = XIR_E_MEMORY;
    for (const xir_op *op = m->body->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (!is_passed(v) || pointer_table_find(&seen, v)) continue;
            if (!pointer_table_add(&seen, v, 0)) status = XIR_E_MEMORY;
            m->passed[m->n_passed++] = v;
        }
    }
    pointer_table_free(&seen);
    return status;
}

/* Makes these constants inputs of the body, which keep their names. Values lose their types: other calls of the
 * function may have other ones. */
static xir_status pass_constants(writing *w, made_call *m) {
    xir_op *input = xir_network_input_op(m->body);
    const size_t had = input->n_outputs, n = had + m->n_passed;
    const xir_type **types = mem_new(w->alloc, (n + 1) * sizeof *types);
    xir_status status = types ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; types && i < had; i++) types[i] = op_outputs(input)[i].type;
    for (size_t i = had; types && i < n; i++) types[i] = m->passed[i - had]->type;
    if (!status && n > had) status = xir_op_set_outputs(input, types, n);
    for (size_t i = had; i < n && !status; i++) {
        xir_value *v = m->passed[i - had], *port = &op_outputs(input)[i];
        status = xir_value_set_name(port, xir_value_name(v));
        if (!status) status = xir_value_replace(v, port);
    }
    mem_free(w->alloc, (void *)types, (n + 1) * sizeof *types);
    for (xir_op *op = m->body->first; op && !status; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++) op_outputs(op)[i].type = NULL;
    return status ? XIR_E_MEMORY : XIR_OK;
}
/* ---- its node --------------------------------------------------------------------------------------------------- */

/* Enters the constants that the body had, by their copies. */
static bool note_constants(made_call *m, pointer_table *own, xir_value **all, size_t *n) {
    const xir_ops ops = *body_of(m->call);
    for (size_t i = 0; i < ops.size; i++) {
        for (uint32_t k = 0; k < ops.data[i]->n_inputs; k++) {
            xir_value *v = op_inputs(ops.data[i])[k].value;
            const xir_value *copy = v && value_is_params(v) ? xir_mapping_value(m->map, v) : NULL;
            if (!copy || pointer_table_find(own, copy)) continue;
            if (!pointer_table_add(own, copy, (uint32_t)*n)) return false;
            all[(*n)++] = v;
        }
    }
    return true;
}

/* The values that the node passes as further inputs: the constants of the body themselves, as far as these are what the
 * function reads, so that two calls share them. */
static xir_status find_outside(const writing *w, made_call *m, xir_network *net, xir_value **out) {
    const xir_ops ops = *body_of(m->call);
    size_t most = 1, n = 0;
    for (size_t i = 0; i < ops.size; i++) most += ops.data[i]->n_inputs;
    pointer_table own;
    pointer_table_init(&own, w->alloc);
    xir_value **all = mem_new(w->alloc, most * sizeof *all);
    bool ok = all && note_constants(m, &own, all, &n);
    for (size_t i = 0; i < m->n_passed && ok; i++) {
        const xir_value *v = m->passed[i];
        const uint32_t *known = pointer_table_find(&own, v);
        const bool same = known && xir_type_equal(all[*known]->type, v->type);
        out[i] = same ? all[*known] : xir_value_clone(v, net);
        ok = out[i];
    }
    mem_free(w->alloc, (void *)all, most * sizeof *all);
    pointer_table_free(&own);
    return ok ? XIR_OK : XIR_E_MEMORY;
}

/* Puts the node in place of the call. `values`: its inputs, then its outputs' types. */
static xir_status put_node(writing *w, made_call *m, const made_function *f, xir_network *net, xir_value *const *in) {
    xir_op *call = m->call;
    const uint32_t n = call->n_outputs;
    const xir_class *cls = functions_class(w, f);
    const xir_type **types = arena_take(&w->room, (n + (size_t)1) * sizeof *types);
    if (!cls || !types) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < n; i++) types[i] = op_outputs(call)[i].type;
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = in, .name = xir_op_name(call),
                                                .n_inputs = call->n_inputs + m->n_passed, .types = types, .n_types = n,
                                                .id = XIR_NO_ID, .before = call));
    if (!op) return XIR_E_MEMORY;
    const xir_any overload = xir_any_text(f->overload);
    if (f->overload.size && xir_op_set_tag(op, XIR_STR("onnx.overload"), &overload)) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        xir_value *old = &op_outputs(call)[i], *now = &op_outputs(op)[i];
        if (!value_take_name(now, old) || xir_value_replace(old, now)) return XIR_E_MEMORY;
    }
    return xir_op_erase(call);
}

static xir_status become_node(writing *w, made_call *m, const made_function *f, xir_network *net) {
    provenance_scope scope;
    xir_value **in = arena_take(&w->room, (m->call->n_inputs + m->n_passed + 1) * sizeof *in);
    if (!in) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < m->call->n_inputs; i++) in[i] = op_inputs(m->call)[i].value;
    provenance_begin(net, &scope, m->call);
    xir_status status = find_outside(w, m, net, in + m->call->n_inputs);
    if (!status) status = put_node(w, m, f, net, in);
    provenance_end(net, &scope);
    return status;
}

/* ---- one call --------------------------------------------------------------------------------------------------- */

static xir_status convert_all_in(writing *w, xir_network *net, unsigned depth, bool *all);

/* The body is ONNX's: makes it a function with a node. What no function can have makes *made false. */
static xir_status make_function(writing *w, made_call *m, xir_network *net, bool *made) {
    made_function f;
    xir_diags *why = xir_diags_new(net->ctx);
    xir_status status = why ? copy_inputs(m->body) : XIR_E_MEMORY;
    if (!status) status = find_passed(w, m);
    if (!status) status = pass_constants(w, m);
    if (!status) status = functions_find(w, m->call, m->body, &f, why);
    xir_diags_free(why);
    *made = !status;
    if (status) return status == XIR_E_MEMORY ? status : XIR_OK;
    return become_node(w, m, &f, net);
}

static bool has_ratios(const xir_value *v) {
    const xir_type *element = v ? xir_type_element(xir_value_type(v)) : NULL;
    return element && xir_type_norm_ratios(element);
}

/* Maps that hold x / ratio become others in the body, and would not outside. */
static bool is_normalised(const xir_op *call) {
    for (uint32_t i = 0; i < call->n_inputs; i++) if (has_ratios(op_inputs(call)[i].value)) return true;
    for (uint32_t i = 0; i < call->n_outputs; i++) if (has_ratios(&op_outputs(call)[i])) return true;
    return false;
}

static bool is_meant(const void *user, const xir_op *call) {
    (void)user;
    return is_normalised(call);
}

static xir_status convert_call(writing *w, xir_network *net, xir_op *call, unsigned depth, bool *made) {
    made_call m = { .call = call };
    bool whole = depth < net->ctx->limits.max_depth && body_of(call)->size >= 2 && !is_normalised(call);
    xir_status status = whole ? copy_body(w, &m, net) : XIR_OK;
    if (!status && whole) status = convert_all_in(w, m.body, depth + 1, &whole);
    if (!status && whole) status = xir_dialect_convert_body(w->pass, m.body, &whole);
    *made = false;
    if (!status && whole) status = make_function(w, &m, net, made);
    close_call(&m);
    return status;
}

/* Calls that the pass denormalize would inline: what is in them is converted with the body. */
static xir_status open_normalised(writing *w, xir_network *net) {
    size_t n;
    xir_pass inner = *w->pass;
    inner.net = net;
    return inline_calls_that(&inner, is_meant, NULL, &n);
}

/* Converts the calls of a body. *all: all are nodes now; at the first that is not, it ends. */
static xir_status convert_all_in(writing *w, xir_network *net, unsigned depth, bool *all) {
    xir_status status = open_normalised(w, net);
    for (xir_op *op = net->first, *next; op && *all && !status; op = next) {
        next = op->next;
        if (xir_op_is(op, xir_call_op_class())) status = convert_call(w, net, op, depth, all);
    }
    return status;
}

/* Those of the model. A call that stays is inlined, and calls of its body are met in the next round. */
static xir_status convert_all(writing *w, bool *again) {
    xir_status status = XIR_OK;
    *again = false;
    for (xir_op *op = w->net->first, *next; op && !status; op = next) {
        bool made;
        next = op->next;
        if (!xir_op_is(op, xir_call_op_class())) continue;
        status = convert_call(w, w->net, op, 0, &made);
        if (status) continue;
        xir_pass_changed(w->pass, 1);
        if (made) continue;
        status = xir_op_inline(op);
        if (status && status != XIR_E_MEMORY) return xir_pass_fail(w->pass, status, op, "the call cannot be inlined");
        *again = true;
        w->n_inlined++;
    }
    return status;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

static bool has_calls(const xir_network *net) {
    for (const xir_op *op = net->first; op; op = op->next) if (xir_op_is(op, xir_call_op_class())) return true;
    return false;
}

xir_status onnx_back_functions(xir_pass *pass) {
    writing w = { .pass = pass, .net = xir_pass_network(pass) };
    bool again = true;
    if (!has_calls(w.net)) return XIR_OK;
    functions_begin(&w);
    xir_status status = functions_note(&w);
    while (again && !status) status = convert_all(&w, &again);
    if (!status) status = functions_store(&w);
    if (!status && w.n_inlined)
        xir_pass_diag(pass, XIR_NOTE, NULL, "%zu call%s inlined: a function of ONNX has operators alone", w.n_inlined,
                      w.n_inlined == 1 ? " is" : "s are");
    functions_end(&w);
    return status == XIR_E_MEMORY ? diag_memory(pass->why) : status;
}
