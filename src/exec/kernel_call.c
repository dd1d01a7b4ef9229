/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The kernel of xir::Call: runs the ops of its body as a network runs, and releases arrays after their last use. What
 * the body computes is checked and charged op by op. The parts of a composed op run in the same way. */
#include "actual.h"
#include "body_values.h"
#include "kernels.h"

typedef struct running {
    xir_kernel       *at;
    const xir_array *const *given;   /* of the outputs of the body's Input; NULL items: absent */
    body_values       b;
    xir_array       **arrays;    /* by index of the value; NULL: not computed yet, or released */
    size_t           *uses;      /* that are still to come                                     */
    const xir_array **inputs;    /* of one op                                                  */
    xir_array       **outputs;
    size_t            n_inputs, n_outputs;
} running;

static bool begin(running *r) {
    const xir_ops ops = r->b.ops;
    for (size_t i = 0; i < ops.size; i++) {
        if (ops.data[i]->n_inputs > r->n_inputs) r->n_inputs = ops.data[i]->n_inputs;
        if (ops.data[i]->n_outputs > r->n_outputs) r->n_outputs = ops.data[i]->n_outputs;
    }
    r->arrays = xir_kernel_alloc(r->at, r->b.n + 1, sizeof *r->arrays);
    r->uses = xir_kernel_alloc(r->at, r->b.n + 1, sizeof *r->uses);
    r->inputs = xir_kernel_alloc(r->at, r->n_inputs + 1, sizeof *r->inputs);
    r->outputs = xir_kernel_alloc(r->at, r->n_outputs + 1, sizeof *r->outputs);
    if (!r->arrays || !r->uses || !r->inputs || !r->outputs) return false;
    for (size_t i = 0; i < ops.size; i++) {
        for (uint32_t k = 0; k < ops.data[i]->n_inputs; k++) {
            const xir_value *v = op_inputs(ops.data[i])[k].value;
            const size_t index = v ? body_index(&r->b, v) : SIZE_MAX;
            if (index != SIZE_MAX) r->uses[index]++;
        }
    }
    for (size_t i = 0; i < ops.data[0]->n_outputs; i++) {
        const xir_array *given = r->given[i];
        if (given && r->uses[i]) r->arrays[i] = xir_array_retain((xir_array *)(uintptr_t)given);
    }
    return true;
}

static void used(running *r, const xir_value *v) {
    const size_t index = v ? body_index(&r->b, v) : SIZE_MAX;
    if (index == SIZE_MAX || --r->uses[index]) return;
    array_give_back(r->arrays[index], r->at->rooms);
    r->arrays[index] = NULL;
}

static xir_status run_one(running *r, size_t place) {
    const xir_op *op = r->b.ops.data[place];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const size_t index = v ? body_index(&r->b, v) : SIZE_MAX;
        r->inputs[i] = index == SIZE_MAX ? NULL : r->arrays[index];
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) r->outputs[i] = NULL;
    xir_status status = exec_op(op, r->inputs, r->outputs, r->at->within, r->at->why);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const size_t index = r->b.first[place] + i;
        if (status || !r->uses[index]) xir_array_free(r->outputs[i]);
        else r->arrays[index] = r->outputs[i];
    }
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) used(r, op_inputs(op)[i].value);
    return status;
}

static xir_status give(running *r) {
    const xir_op *out = body_output(&r->b);
    for (uint32_t i = 0; i < out->n_inputs; i++) {
        const xir_value *v = op_inputs(out)[i].value;
        const size_t index = body_index(&r->b, v);
        xir_array *array = NULL;
        xir_status status = XIR_OK;
        if (index != SIZE_MAX && r->arrays[index]) array = xir_array_retain(r->arrays[index]);
        else if (value_is_params(v)) status = array_of_params(v, &array, r->at->why);
        else status = xir_kernel_fail(r->at, XIR_E_MISSING, NULL, "result %u of the body is not computed", (unsigned)i);
        if (status) return status;
        kernel_output *to = &r->at->outputs[i];
        to->array = array;
        to->type = array->type;
        to->state = OUTPUT_ARRAY;
    }
    return XIR_OK;
}

static xir_status run_body(running *r) {
    xir_status status = XIR_OK;
    if (!begin(r)) return XIR_E_MEMORY;
    for (size_t i = 1; i + 1 < r->b.ops.size && !status; i++) status = run_one(r, i);
    if (!status) status = give(r);
    for (size_t i = 0; i < r->b.n; i++) xir_array_free(r->arrays[i]);
    return status;
}

xir_status kernel_run_ops(xir_kernel *at, xir_ops ops, const xir_array *const *given) {
    running r = { .at = at, .given = given };
    xir_status status = body_open(&r.b, &at->ctx->alloc, ops) ? XIR_E_MEMORY : run_body(&r);
    body_close(&r.b);
    return status;
}

xir_status kernel_call(xir_kernel *at) {
    const xir_call_op_attrs *a = xir_kernel_attrs(at);
    const size_t n = a->body.size ? a->body.data[0]->n_outputs : 0;
    const xir_array **given = xir_kernel_alloc(at, n + 1, sizeof *given);
    if (!given) return XIR_E_MEMORY;
    for (size_t i = 0; i < n && i < at->n_inputs; i++) given[i] = at->inputs[i].array;
    xir_status status = kernel_run_ops(at, a->body, given);
    /* An op of the body has added the finding. */
    if (status && status != XIR_E_MEMORY && !at->status) at->status = status;
    return status;
}

kernel_table kernels_call = {
    { xir_call_op_class, kernel_call },
    { NULL, NULL },
};
