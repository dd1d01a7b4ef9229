/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The kernel of composed classes: makes a network of the parts, for the types of the run, and runs its ops one after
 * another. The network is small and is freed with the run of the op; constants share the bytes of the op's. */
#include "actual.h"
#include "compose_walk.h"

bool composed_can_run(const xir_class *cls) {
    const composition *c = cls->more->composed;
    if (class_kernel(cls) != kernel_composed) return true;
    for (uint32_t i = 0; c && i < c->n_parts; i++) {
        const xir_class *part = c->parts[i].cls;
        if (!class_kernel(part) || !composed_can_run(part)) return false;
    }
    return c != NULL;
}

/* The network of the parts, and the arrays of the outputs of its Input. */
typedef struct expanded {
    xir_kernel       *at;
    xir_network      *net;
    void             *body;      /* of the op, with Params of this network */
    xir_value       **values;    /* for the inputs of the op               */
    xir_value       **outputs;
    const xir_array **given;
    const xir_type  **types;     /* of them                                */
    size_t            n_given;
    xir_ops           ops;
} expanded;

static bool is_constant(const xir_kernel *at, size_t i) {
    const xir_value *v = op_inputs(at->op)[i].value;
    return v && value_is_params(v);
}

static bool prepare(expanded *e) {
    xir_kernel *at = e->at;
    const xir_class *cls = at->op->cls;
    e->values = xir_kernel_alloc(at, at->n_inputs + 1, sizeof *e->values);
    e->given = xir_kernel_alloc(at, at->n_inputs + 1, sizeof *e->given);
    e->types = xir_kernel_alloc(at, at->n_inputs + 1, sizeof *e->types);
    e->outputs = xir_kernel_alloc(at, at->n_outputs + 1, sizeof *e->outputs);
    e->body = xir_kernel_alloc(at, cls->body_size + 1, 1);
    if (!e->values || !e->given || !e->types || !e->outputs || !e->body) return false;
    memcpy(e->body, at->op->attrs, cls->body_size);
    for (size_t i = 0; i < at->n_inputs; i++) {
        if (!at->inputs[i].array || is_constant(at, i)) continue;
        e->types[e->n_given] = at->inputs[i].type;
        e->given[e->n_given++] = at->inputs[i].array;
    }
    return true;
}

/* Params that are attributes. */
static bool copy_params(expanded *e) {
    const xir_class *cls = e->at->op->cls;
    for (uint32_t i = 0; i < cls->n_fields && cls->more->has_params; i++) {
        const xir_field *f = &cls->fields[i];
        if (f->kind == XIR_KIND_PARAMS) {
            xir_value **v = (xir_value **)(void *)((char *)e->body + f->offset);
            if (*v && !(*v = xir_value_clone(*v, e->net))) return false;
        } else if (f->kind == XIR_KIND_PARAMSS) {
            xir_values *list = (xir_values *)(void *)((char *)e->body + f->offset);
            xir_value **now = xir_kernel_alloc(e->at, list->size + 1, sizeof *now);
            for (size_t k = 0; now && k < list->size; k++)
                if (list->data[k] && !(now[k] = xir_value_clone(list->data[k], e->net))) return false;
            if (!now) return false;
            list->data = now;
        }
    }
    return true;
}

static bool copy_inputs(expanded *e) {
    const xir_kernel *at = e->at;
    const xir_op *input = xir_network_add(e->net, &XIR_INIT(xir_op_desc, .cls = at->ctx->input_class, .types = e->types,
                                                            .n_types = e->n_given, .id = XIR_NO_ID));
    size_t n = 0;
    if (!input) return false;
    for (size_t i = 0; i < at->n_inputs; i++) {
        if (!at->inputs[i].array) continue;
        e->values[i] = is_constant(at, i) ? xir_value_clone(op_inputs(at->op)[i].value, e->net)
                                          : &op_outputs(input)[n++];
        if (!e->values[i]) return false;
    }
    return true;
}

static bool list_ops(expanded *e) {
    xir_op **ops = xir_kernel_alloc(e->at, e->net->n_ops + 1, sizeof *ops);
    size_t n = 0;
    for (xir_op *op = ops ? e->net->first : NULL; op; op = op->next) ops[n++] = op;
    e->ops = (xir_ops){ ops, n };
    return ops;
}

/* A result that the network declares as quantised is stored so by the part that makes it, and rounded once. */
static bool store_as(expanded *e, xir_value *v, const xir_type *declared) {
    const xir_type *element = declared ? xir_type_element(declared) : NULL;
    const xir_op *op = xir_value_op(v);
    if (!element || !xir_type_is_quantized(element) || !op || op->cls == e->at->ctx->input_class ||
        xir_type_equal(xir_type_element(v->type), element)) return true;
    const xir_type *type = xir_type_with_element(e->at->ctx, v->type, element, NULL);
    return type && xir_value_set_type(v, type) == XIR_OK;
}

/* On failure the network has the finding. */
static xir_status expand(expanded *e) {
    const xir_kernel *at = e->at;
    const xir_op *op = at->op;
    memcpy(e->net->version, op->net->version, sizeof e->net->version);   /* it decides how reals are rounded */
    if (!copy_inputs(e) || !copy_params(e)) return e->net->status ? e->net->status : XIR_E_MEMORY;
    const xir_status status = compose_write(e->net, op->cls, e->body, e->values, at->n_inputs, op_target(op),
                                            (xir_str){ NULL, 0 }, NULL, e->outputs);
    if (status) return status;
    for (size_t i = 0; i < at->n_outputs; i++)
        if (!store_as(e, e->outputs[i], at->outputs[i].type)) return XIR_E_MEMORY;
    if (!xir_network_add(e->net, &XIR_INIT(xir_op_desc, .cls = at->ctx->output_class, .inputs = e->outputs,
                                           .n_inputs = at->n_outputs, .id = XIR_NO_ID)))
        return e->net->status ? e->net->status : XIR_E_MEMORY;
    return list_ops(e) ? XIR_OK : XIR_E_MEMORY;
}

/* A finding about a part becomes one about the op. */
static xir_status report(xir_kernel *at, xir_status status, const xir_diags *found) {
    const xir_diag *d = found ? xir_diags_at(found, 0) : NULL;
    if (status == XIR_E_MEMORY || at->status) return status;
    if (!d) return at->status = status;
    return xir_kernel_fail(at, status, NULL, "part %.*s", CLIP_TO(d->message, 400));
}

xir_status kernel_composed(xir_kernel *at) {
    expanded e = { .at = at };
    if (!prepare(&e)) return XIR_E_MEMORY;
    e.net = network_new(at->ctx);
    if (!e.net) return XIR_E_MEMORY;
    xir_status status = expand(&e);
    if (status) {
        status = report(at, status, xir_network_diags(e.net));
        xir_network_free(e.net);
        return status;
    }
    xir_diags *why = at->why, *found = why ? xir_diags_new(at->ctx) : NULL;
    if (why && !found) status = XIR_E_MEMORY;
    at->why = found;
    if (!status) status = kernel_run_ops(at, e.ops, e.given);
    at->why = why;
    if (status) status = report(at, status, found);
    xir_diags_free(found);
    xir_network_free(e.net);
    return status;
}
