/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The class xir::Call, which runs a body. Its rule is what everybody who walks a body relies on: an Input, ops that use
 * only what earlier ones make and Params, an Output; and ports that agree with them. Positions in the body are found
 * through a table, so that everything is linear. */
#include <inttypes.h>
#include <stdio.h>
#include "body_values.h"
#include "rules.h"

/* ---- ports ------------------------------------------------------------------------------------------------------ */

static xir_status check_count(xir_infer *at, const char *where, const char *what, size_t found, size_t expected) {
    if (found == expected) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, where, "there are %zu %s: expected %zu, one for each port of the body",
                          found, what, expected);
}

/* Names are unique and not empty. */
static xir_status check_names(xir_infer *at, const char *where, xir_texts names) {
    text_table seen;
    xir_status status = XIR_OK;
    text_table_init(&seen, &at->ctx->alloc);
    for (size_t i = 0; i < names.size && !status; i++) {
        const xir_str name = names.data[i];
        const uint32_t *place = name.size ? text_table_add(&seen, name, (uint32_t)i) : NULL;
        if (!name.size) status = xir_infer_fail(at, XIR_E_INVALID, where, "name %zu is empty", i);
        else if (!place) status = rule_failed(at, XIR_E_MEMORY);
        else if (*place != i)
            status = xir_infer_fail(at, XIR_E_EXISTS, where, "name %zu is '%.*s', as name %" PRIu32 " is", i,
                                    CLIP_TO(name, 100), *place);
    }
    text_table_free(&seen);
    return status;
}

/* Types agree if one value can have both: the same elements, and no dim that is known in both and differs. */
static xir_status check_type(xir_infer *at, const char *port, size_t i, const xir_type *outside,
                             const xir_type *inside) {
    const xir_tensor_type *a = xir_type_as_tensor(outside), *b = xir_type_as_tensor(inside);
    char where[40];
    if (!a || !b) return XIR_OK;
    snprintf(where, sizeof where, "%s/%zu", port, i);
    if (!xir_type_equal(a->element_dtype, b->element_dtype))
        return xir_infer_fail(at, XIR_E_TYPE, where, "its elements are not those of the body's value");
    if (a->shape.size != b->shape.size)
        return xir_infer_fail(at, XIR_E_TYPE, where, "it has %zu dims, the body's value %zu", a->shape.size,
                              b->shape.size);
    for (size_t k = 0; k < a->shape.size; k++) {
        const int64_t x = a->shape.data[k], y = b->shape.data[k];
        if (x < 0 || y < 0 || x == y) continue;
        return xir_infer_fail(at, XIR_E_TYPE, where, "dim %zu is %" PRId64 ", that of the body's value %" PRId64, k, x,
                              y);
    }
    return XIR_OK;
}

static xir_status check_ports(xir_infer *at, const xir_call_op_attrs *a, const xir_op *in, const xir_op *out) {
    xir_status status = check_count(at, "inputs", "inputs", at->n_inputs, in->n_outputs);
    if (!status) status = check_count(at, "takes", "names", a->takes.size, in->n_outputs);
    if (!status) status = check_count(at, "gives", "names", a->gives.size, out->n_inputs);
    if (!status) status = check_names(at, "takes", a->takes);
    if (!status) status = check_names(at, "gives", a->gives);
    if (!status && at->op && at->op->n_outputs) {
        status = check_count(at, "outputs", "outputs", at->op->n_outputs, out->n_inputs);
        for (uint32_t i = 0; i < out->n_inputs && !status; i++)
            status = check_type(at, "outputs", i, op_outputs(at->op)[i].type, op_inputs(out)[i].value->type);
    }
    for (uint32_t i = 0; i < in->n_outputs && !status; i++)
        status = check_type(at, "inputs", i, xir_infer_input(at, i), op_outputs(in)[i].type);
    return status;
}

/* ---- the body --------------------------------------------------------------------------------------------------- */

typedef struct checking {
    xir_infer         *at;
    const body_values *b;
    size_t             place;   /* of the op that is checked */
    xir_status         status;
} checking;

/* Returns true if an op is a sub op, at any depth, of another. */
static bool is_within(const xir_op *op, const xir_op *other) {
    while (op && op != other) op = xir_op_parent(op);
    return op != NULL;
}

/* Checks what an op of the body uses, or one of its sub ops. */
static bool check_uses(void *user, xir_op *op) {
    checking *c = user;
    const xir_op *own = c->b->ops.data[c->place];
    for (uint32_t i = 0; i < op->n_inputs && !c->status; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v || value_is_params(v)) continue;
        const size_t place = body_place(c->b, value_op(v));
        if (place < c->place || (op != own && value_op(v) && value_op(v) != own && is_within(value_op(v), own)))
            continue;
        char where[64];
        snprintf(where, sizeof where, op == own ? "body/%zu/inputs/%" PRIu32 : "body/%zu", c->place, i);
        c->status = place == SIZE_MAX
            ? xir_infer_fail(c->at, XIR_E_INVALID, where, "value %" PRId64 " is not made in the body", v->id)
            : xir_infer_fail(c->at, XIR_E_INVALID, where, "value %" PRId64 " is used before op %" PRId64 " makes it",
                             v->id, value_op(v)->id);
    }
    /* A Call checks its own body. */
    return !c->status && (op->cls == c->at->cls || op_each_child(op, check_uses, c));
}

/* Fails unless every use of an op's outputs is within the call. */
static xir_status check_users(checking *c, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs && c->at->op; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            if (is_within(u->user, c->at->op)) continue;
            char where[64];
            snprintf(where, sizeof where, "body/%zu/outputs/%" PRIu32, c->place, i);
            return xir_infer_fail(c->at, XIR_E_INVALID, where, "op %" PRId64 ", outside of the body, uses it",
                                  u->user->id);
        }
    }
    return XIR_OK;
}

/* An Output must have all its inputs. */
static xir_status check_results(xir_infer *at, size_t place, const xir_op *out) {
    for (uint32_t i = 0; i < out->n_inputs; i++) {
        char where[64];
        if (op_inputs(out)[i].value) continue;
        snprintf(where, sizeof where, "body/%zu/inputs/%" PRIu32, place, i);
        return xir_infer_fail(at, XIR_E_MISSING, where, "result %" PRIu32 " of the body is absent", i);
    }
    return XIR_OK;
}

static xir_status check_kind(xir_infer *at, const body_values *b, size_t i) {
    const uint32_t expected = i == 0 ? XIR_TRAIT_SOURCE : i + 1 == b->ops.size ? XIR_TRAIT_SINK : 0;
    const xir_op *op = b->ops.data[i];
    const xir_class *cls = expected ? i ? at->ctx->output_class : at->ctx->input_class : NULL;
    char where[40];
    if (cls ? op->cls == cls : !(op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK))) return XIR_OK;
    snprintf(where, sizeof where, "body/%zu", i);
    return xir_infer_fail(at, XIR_E_INVALID, where, "expected %s, found a %.*s",
                          expected ? i ? "an Output at the end of the body" : "an Input at its head"
                          : "an op between Input and Output", (int)op->cls->key.size, op->cls->key.data);
}

static xir_status check_body(xir_infer *at, const xir_call_op_attrs *a, const body_values *b) {
    checking c = { .at = at, .b = b };
    xir_status status = XIR_OK;
    for (c.place = 0; c.place < b->ops.size && !status; c.place++) {
        status = check_kind(at, b, c.place);
        if (!status) (void)check_uses(&c, b->ops.data[c.place]);
        if (!status) status = c.status;
        if (!status) status = check_users(&c, b->ops.data[c.place]);
    }
    if (!status) status = check_results(at, b->ops.size - 1, body_output(b));
    return status ? status : check_ports(at, a, body_input(b), body_output(b));
}

xir_status call_check(xir_infer *at) {
    const xir_call_op_attrs *a = at->attrs;
    body_values b;
    at->read_values = true;   /* the answer depends on more than the attributes: somebody may edit the body */
    if (a->body.size < 2)
        return xir_infer_fail(at, XIR_E_INVALID, "body", "the body has %zu ops: expected an Input and an Output, and "
                              "ops between them", a->body.size);
    if (a->places.size % 2)
        return xir_infer_fail(at, XIR_E_INVALID, "places", "there are %zu ids: expected pairs", a->places.size);
    xir_status status = body_open(&b, &at->ctx->alloc, a->body);
    if (status == XIR_E_MEMORY) rule_failed(at, XIR_E_MEMORY);
    else if (status) status = xir_infer_fail(at, status, "body", "an op is in the body twice");
    else status = check_body(at, a, &b);
    body_close(&b);
    return status;
}

/* ---- types and work --------------------------------------------------------------------------------------------- */

static xir_status infer_body(xir_infer *at, const body_values *b, xir_work *work, bool gives) {
    const xir_op *out = body_output(b);
    const xir_type **types = mem_new(b->alloc, (b->n + 1) * sizeof *types);
    if (!types) return rule_failed(at, XIR_E_MEMORY);
    xir_status status = body_infer(b, at, types, work);
    if (status == XIR_E_MEMORY) rule_failed(at, XIR_E_MEMORY);
    else if (status && !at->status) at->status = status;
    for (uint32_t i = 0; i < out->n_inputs && !status && gives; i++) {
        const xir_value *v = op_inputs(out)[i].value;
        status = xir_infer_result(at, value_is_params(v) ? v->type : types[body_index(b, v)]);
    }
    mem_free(b->alloc, (void *)types, (b->n + 1) * sizeof *types);
    return status;
}

xir_status call_infer(xir_infer *at) {
    const xir_call_op_attrs *a = at->attrs;
    const xir_op *in = a->body.data[0], *out = a->body.data[a->body.size - 1];
    at->read_values = true;
    body_values b;
    xir_status status = XIR_OK;
    if (body_has_types(in, at)) {
        for (uint32_t i = 0; i < out->n_inputs && !status; i++)
            status = xir_infer_result(at, op_inputs(out)[i].value->type);
        return status;
    }
    status = body_open(&b, &at->ctx->alloc, a->body) ? rule_failed(at, XIR_E_MEMORY) : infer_body(at, &b, NULL, true);
    body_close(&b);
    return status;
}

/* The work of all ops of the body. */
xir_status call_work(xir_infer *at) {
    const xir_call_op_attrs *a = at->attrs;
    body_values b;
    xir_work work = XIR_INIT(xir_work);
    if (a->body.size < 2 || a->body.data[0]->n_outputs > at->n_inputs) return XIR_E_BOUNDS;   /* not checked */
    xir_status status = body_open(&b, &at->ctx->alloc, a->body) ? XIR_E_MEMORY : infer_body(at, &b, &work, false);
    body_close(&b);
    return status ? status : xir_work_result(at, work.multiply_adds, work.element_ops);
}
