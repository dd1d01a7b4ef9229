/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The operators that the way back makes: their inputs and attributes in the form of the network's operator set. */
#include <stdio.h>
#include "onnx/back.h"

/* ---- forms ------------------------------------------------------------------------------------------------------ */

void onnx_put_input(onnx_form *f, size_t i, xir_value *v) {
    while (f->n_in <= i) f->in[f->n_in++] = NULL;
    f->in[i] = v;
}

void onnx_put_list(xir_node *at, onnx_form *f, const char *name, size_t i, int64_t since, const xir_ints *list) {
    if (onnx_target(at) >= since) {
        onnx_put_input(f, i, xir_node_integers(at, list));
        return;
    }
    f->lists[f->n_lists] = *list;
    f->sets[f->n_sets++] = (xir_set)LIST(name, &f->lists[f->n_lists++]);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static xir_values without_end(xir_values in) {
    while (in.size && !in.data[in.size - 1]) in.size--;
    return in;
}

/* The operator on wider elements. */
static bool calls_wider(xir_node *at, const char *key, size_t of, const xir_type *own, const xir_type *wide,
                        xir_values inputs, xir_sets sets) {
    xir_value **in = node_take(at, (inputs.size + 1) * sizeof *in);
    const xir_type **types = node_take(at, (at->n_out + 1) * sizeof *types);
    if (!in || !types) return node_no_memory(at);
    for (size_t i = 0; i < inputs.size; i++) {
        in[i] = inputs.data[i];
        if (i >= of && in[i] && xir_type_equal(v_element(in[i]), own)) in[i] = xir_node_cast(at, in[i], wide);
    }
    for (size_t i = 0; i < at->n_out; i++) {
        types[i] = xir_value_type(xir_op_output(at->op, (int64_t)i));
        if (xir_type_equal(xir_type_element(types[i]), own))
            types[i] = xir_type_with_element(at->c->ctx, types[i], wide, NULL);
        if (!types[i]) return node_no_memory(at);
    }
    xir_op *op = xir_node_make_foreign(at, key, (xir_values){ in, inputs.size }, sets, types, at->n_out);
    at->main = op;
    for (size_t i = 0; op && i < at->n_out; i++) {
        const xir_type *element = v_element(xir_op_output(at->op, (int64_t)i));
        xir_node_result(at, i, xir_node_cast(at, xir_op_output(op, (int64_t)i), element));
    }
    return op && !xir_node_failed(at);
}

bool onnx_calls_on(xir_node *at, const char *key, size_t of, xir_values inputs, xir_sets sets) {
    if (xir_node_failed(at)) return false;
    if (op_requantises(at)) return xir_node_unsupported(at, "requantisation");
    inputs = without_end(inputs);
    const xir_type *own = of < inputs.size && inputs.data[of] ? v_element(inputs.data[of]) : NULL;
    const xir_type *wide = own ? onnx_element_for(at, key, own) : NULL;
    if (wide && !xir_type_equal(wide, own)) return calls_wider(at, key, of, own, wide, inputs, sets);
    return foreign_gives(at, xir_node_make_foreign(at, key, inputs, sets, NULL, 0));
}

bool onnx_name_rest(xir_node *at, xir_op *op) {
    char name[24];
    for (size_t i = at->n_out; i < xir_op_output_count(op); i++) {
        const int n = snprintf(name, sizeof name, "unused.%zu", i);
        if (xir_value_set_name(xir_op_output(op, (int64_t)i), (xir_str){ name, (size_t)n })) return node_no_memory(at);
    }
    return true;
}

bool onnx_calls(xir_node *at, const char *key, xir_values inputs, xir_sets sets) {
    return onnx_calls_on(at, key, 0, inputs, sets);
}

bool onnx_becomes(xir_node *at, xir_values inputs, xir_sets sets) {
    return onnx_calls(at, at->to->row->name, inputs, sets);
}

bool onnx_becomes_map(xir_node *at, xir_values inputs, xir_sets sets) {
    return row_becomes(at, without_end(inputs), sets);
}

xir_value *onnx_call(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *element,
                     const xir_ints *dims) {
    return foreign_tensor(at, key, without_end(inputs), sets, element, dims);
}

/* ---- the op itself on other elements ---------------------------------------------------------------------------- */

/* The attributes of the op; requantisation inside of it, which the types of results say, has its default. */
static void *attributes_of(xir_node *at) {
    const xir_class *cls = at->op->cls;
    const xir_field *cut = xir_class_field(cls, XIR_STR("cut_scale"));
    char *body = node_take(at, cls->body_size + 16);
    if (!body) return node_no_memory(at), NULL;
    memcpy(body, at->op->attrs, cls->body_size);
    if (cut && cut->kind == XIR_KIND_REFS)
        memcpy(body + cut->offset, (const char *)cls->defaults + cut->offset, sizeof(xir_refs));
    return body;
}

xir_op *node_remade(xir_node *at, xir_value *const *in, size_t n) {
    const void *attrs = attributes_of(at);
    conversion *c = at->c;
    if (!attrs || xir_node_failed(at)) return NULL;
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = at->op->cls, .attrs = attrs, .inputs = in, .n_inputs = n,
                                      .target = xir_op_target(at->op), .name = xir_op_name(at->op), .id = XIR_NO_ID,
                                      .before = at->op);
    const xir_status status = xir_network_status(c->net);
    const size_t before = xir_diags_count(xir_network_diags(c->net));
    xir_op *op = xir_network_add(c->net, &desc);
    if (op) return op;
    const xir_diag *d = xir_diags_at(xir_network_diags(c->net), before);
    const int n_text = d && d->message.size < 200 ? (int)d->message.size : 200;
    if (!d || d->code == XIR_E_MEMORY) node_no_memory(at);
    else xir_node_unsupported(at, "with other elements: %.*s", n_text, d->message.data);
    if (!status) xir_network_clear_status(c->net);
    return NULL;
}

xir_status onnx_inferred(xir_node *at, const xir_op *op, const xir_type ***out) {
    xir_infer q;
    *out = node_take(at, (op->n_outputs + 1) * sizeof **out);
    if (!*out) return node_no_memory(at), XIR_E_MEMORY;
    infer_start(&q, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, XIR_STR(""), NULL);
    q.op = op;
    xir_status status = infer_run(&q);
    if (status == XIR_E_MEMORY) node_no_memory(at);
    if (!status && q.n_out != op->n_outputs) status = XIR_E_BOUNDS;
    for (size_t i = 0; !status && i < q.n_out; i++) (*out)[i] = q.out[i];
    infer_end(&q);
    return status;
}

/* ---- dims of 1 -------------------------------------------------------------------------------------------------- */

xir_value *onnx_unsqueezed(xir_node *at, xir_value *v, int64_t axis) {
    onnx_form f = { .in = { v }, .n_in = 1 };
    const size_t rank = v_rank(v) + 1;
    const xir_ints own = node_own_dims(at, v), list = { &axis, 1 };
    xir_ints dims = xir_node_make_ints(at, rank, 1);
    if (xir_node_failed(at)) return NULL;
    for (size_t i = 0, k = 0; i < rank; i++) if ((int64_t)i != axis) dims.v[i] = own.v[k++];
    onnx_put_list(at, &f, "axes", 1, 13, &list);
    return onnx_call(at, "onnx::Unsqueeze", onnx_inputs(&f), onnx_sets(&f), v_element(v), &dims);
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

xir_value *onnx_long(xir_node *at, xir_value *v) {
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    return whole ? xir_node_cast(at, v, whole) : (node_no_memory(at), NULL);
}

xir_value *onnx_weight(xir_node *at, const char *name) {
    const xir_value *x = xir_op_input(at->op, 0);
    xir_value *v = xir_node_attr(at, name) ? xir_node_attr_params(at, name) : NULL;
    return v && x ? xir_node_cast(at, v, v_element(x)) : NULL;
}
