/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs that the caller steps: the same as xir_network_run, with a look at values between the ops. */
#include "run.h"
#include "actual.h"
#include "types.h"

static void forget_inputs(runner *r) {
    for (size_t i = 0; r->given && i < r->n_given; i++) xir_array_free(r->given[i]);
    if (r->given) mem_free(&r->net->ctx->alloc, (void *)r->given, (r->n_given + 1) * sizeof *r->given);
    r->given = NULL;
}

xir_run_state *xir_run_new(const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                           const xir_run_options *options, xir_diags *why) {
    if (!net) {
        diag_null(why, "network");
        return NULL;
    }
    const xir_allocator *alloc = &net->ctx->alloc;
    runner *r = mem_new(alloc, sizeof *r);
    xir_array **given = mem_new(alloc, (n_inputs + 1) * sizeof *given);
    if (r) *r = (runner){ .is_stepped = true };
    xir_status status = r && given ? run_open(r, net, inputs, n_inputs, options, why) : diag_memory(why);
    if (status) {
        if (given) mem_free(alloc, (void *)given, (n_inputs + 1) * sizeof *given);
        if (r) mem_free(alloc, r, sizeof *r);
        return NULL;
    }
    for (size_t i = 0; i < n_inputs; i++)
        given[i] = inputs[i] ? xir_array_retain((xir_array *)(uintptr_t)inputs[i]) : NULL;
    r->given = given;
    r->n_given = n_inputs;
    return r;
}

void xir_run_free(xir_run_state *run) {
    if (!run) return;
    const xir_allocator *alloc = &run->net->ctx->alloc;
    run_close(run);
    forget_inputs(run);
    mem_free(alloc, run, sizeof *run);
}

xir_status xir_run_step(xir_run_state *run, const xir_op **op, xir_diags *why) {
    if (op) *op = NULL;
    if (!run) return diag_null(why, "run");
    run->why = why;
    if (run->status) return array_fail(why, run->status, "the run has failed before");
    const xir_op *next = run->next;
    if (!next) return XIR_OK;
    run->status = run_step(run);
    if (next == xir_network_input_op(run->net)) forget_inputs(run);
    if (op && !run->status) *op = next;
    return run->status;
}

xir_array *xir_run_value(xir_run_state *run, const xir_value *value, xir_diags *why) {
    xir_array *array = NULL;
    if (!run) diag_null(why, "run");
    else if (!value) diag_null(why, "value");
    if (!run || !value) return NULL;
    run->why = why;
    (void)run_take(run, value, &array);
    return array;
}

xir_status xir_run_set(xir_run_state *run, const xir_value *value, const xir_array *array, xir_diags *why) {
    if (!run) return diag_null(why, "run");
    if (!value) return diag_null(why, "value");
    if (!array) return diag_null(why, "array");
    running *it = value_is_params(value) ? NULL : running_of(run, value);
    const xir_type *type = NULL;
    sentence told;
    if (run->options.arena || run_is_counted(run))
        return array_fail(why, XIR_E_UNSUPPORTED, "a run in a plan, or one that counts memory, takes no other values");
    if (!it || !it->array) return array_fail(why, XIR_E_MISSING, "the value does not exist at this step of the run");
    xir_status status = agree(run->net->ctx, value->type, array->type, &type, &told);
    if (status) return array_fail(why, status, "%s", told.text);
    xir_array *now = NULL;
    status = array_as((xir_array *)(uintptr_t)array, type, &now, why);
    if (status) return status;
    array_give_back(it->array, &run->rooms);
    it->array = now;
    return XIR_OK;
}
