/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs one op: checks it, finds its actual types and numbers, charges its work, calls its kernel, and hands out what
 * the kernel made under the types that the network declares. */
#include "actual.h"
#include "pool.h"
#include <inttypes.h>
#include <stdio.h>
#include "sized.h"
#include "types.h"

static bool is_tiled(const xir_kernel *at) {
    for (size_t i = 0; i < at->n_inputs; i++) {
        if (at->inputs[i].type && xir_type_is_layouted(at->inputs[i].type)) return true;
    }
    for (size_t i = 0; i < at->n_outputs; i++) {
        if (at->outputs[i].type && xir_type_is_layouted(at->outputs[i].type)) return true;
    }
    return false;
}

/* Checks the bounds and words of the rows. An op from an unchecked file may violate them, and inference does not check
 * them. */
static xir_status check_attrs(const xir_kernel *at) {
    char path[100] = "";
    if (body_check(at->op->cls, at->op->attrs, XIR_STR(""), XIR_STR(""), NULL) == XIR_OK) return XIR_OK;
    if (op_is_in(at->op)) op_path(at->op, path, sizeof path);
    return body_check(at->op->cls, at->op->attrs, name_text(op_label(at->op)), xir_str_of(path), at->why);
}

/* Checks that the required inputs are present. */
static xir_status check_inputs(xir_kernel *at) {
    const xir_class *cls = at->op->cls;
    const class_more *more = cls->more;
    size_t n = at->n_inputs > more->n_inputs ? at->n_inputs : more->n_inputs;
    if (cls->opaque) return XIR_OK;
    for (size_t i = 0; i < n; i++) {
        char where[PORT_PATH];
        if (i >= more->n_inputs && !cls->many_inputs) {
            return xir_kernel_fail(at, XIR_E_INVALID, port_path(where, "inputs", i),
                                   "the op has too many inputs: expected at most %u", more->n_inputs);
        }
        const xir_port *port = &more->inputs[i < more->n_inputs ? i : more->n_inputs - 1];
        bool absent = i >= at->n_inputs || !at->inputs[i].array;
        bool needed = port->decl == XIR_DECL_IN || (port->decl == XIR_DECL_VAR && i < at->n_inputs);
        if (absent && needed) {
            return xir_kernel_fail(at, XIR_E_MISSING, port_path(where, "inputs", i), "%.*s is absent",
                                   (int)port->name.size, port->name.data);
        }
    }
    return XIR_OK;
}

/* Sets *any to whether an output has, or may have, elements. XIR_E_LIMIT if their number exceeds 64 bits, XIR_E_TYPE if
 * an output is not a tensor. */
static xir_status count_outputs(xir_kernel *at, bool *any) {
    *any = at->n_outputs == 0;
    for (size_t i = 0; i < at->n_outputs; i++) {
        int64_t n;
        char where[PORT_PATH];
        if (!xir_type_as_tensor(at->outputs[i].type))
            return xir_kernel_fail(at, XIR_E_TYPE, port_path(where, "outputs", i), "the output is not a tensor");
        xir_status status = xir_type_elements(at->outputs[i].type, &n);
        if (status == XIR_E_LIMIT)
            return xir_kernel_fail(at, status, port_path(where, "outputs", i),
                                   "the number of elements exceeds 64 bits");
        *any = *any || status || n != 0;
    }
    return XIR_OK;
}

/* Returns the array of an output under its declared type: with its layout, and with dims that it may leave open. */
static xir_status hand_out(xir_kernel *at, size_t i, xir_array **out) {
    xir_array *array = at->outputs[i].array;
    const xir_type *declared = op_outputs(at->op)[i].type, *type;
    char where[PORT_PATH];
    sentence why;
    if (!xir_type_as_tensor(declared) || xir_type_equal(declared, array->type)) {
        at->outputs[i].array = NULL;
        *out = array;
        return XIR_OK;
    }
    xir_status status = agree(at->ctx, declared, array->type, &type, &why);
    if (!status) return array_as(array, type, out, at->why);
    return op_fail(at->op, status == XIR_E_BOUNDS ? XIR_E_INVALID : status, at->why, port_path(where, "outputs", i),
                   why.text);
}

/* Finds the number format for which the op's constants are stored. */
static xir_status find_numbers(xir_kernel *at) {
    bool any = false;
    for (size_t i = 0; !any && i < at->n_inputs; i++) any = type_is_normalised(at->inputs[i].type);
    for (size_t i = 0; !any && i < at->n_outputs; i++) any = type_is_normalised(at->outputs[i].type);
    if (!any) return XIR_OK;
    const xir_type **types = xir_kernel_alloc(at, at->n_inputs + at->n_outputs, sizeof *types);
    if (!types) return diag_memory(at->why);
    for (size_t i = 0; i < at->n_inputs; i++) types[i] = at->inputs[i].type;
    for (size_t i = 0; i < at->n_outputs; i++) types[at->n_inputs + i] = at->outputs[i].type;
    numbers_fault why;
    xir_status status = op_numbers_of(at->op, types, &at->numbers, &why);
    return status ? xir_kernel_fail(at, status, *why.where ? why.where : NULL, "%s", why.text) : XIR_OK;
}

/* The work of an op whose output dims only its kernel knows: one step for each element of its inputs. */
static uint64_t count_inputs(const xir_kernel *at) {
    uint64_t n = 1;
    for (size_t i = 0; i < at->n_inputs; i++) n = xir_work_add(n, at->inputs[i].array ? at->inputs[i].array->count : 0);
    return n;
}

static xir_status refuse_size(xir_kernel *at, budget *b) {
    for (size_t i = 0; i < at->n_outputs; i++) {
        int64_t n;
        char where[PORT_PATH];
        if (xir_type_elements(at->outputs[i].type, &n) || (uint64_t)n <= b->elements) continue;
        b->refused = true;
        return xir_kernel_fail(at, XIR_E_LIMIT, port_path(where, "outputs", i),
                               "the output has %llu elements: the limit is %llu", (unsigned long long)n,
                               (unsigned long long)b->elements);
    }
    return XIR_OK;
}

/* Charges the work of the op to the budget. */
static xir_status take_work(xir_kernel *at) {
    budget *b = at->within;
    if (!b) return XIR_OK;
    xir_status status = b->elements < UINT64_MAX ? refuse_size(at, b) : XIR_OK;
    if (status || (b->op_work == UINT64_MAX && b->work == UINT64_MAX)) return status;
    xir_work work;
    status = actual_work(at, &work);
    if (status == XIR_E_MEMORY) return diag_memory(at->why);
    if (status) work = XIR_INIT(xir_work, .element_ops = count_inputs(at));
    const uint64_t all = xir_work_steps(&work), most = b->op_work < b->work ? b->op_work : b->work;
    if (all <= most) {
        if (b->work != UINT64_MAX) b->work -= all;
        return XIR_OK;
    }
    b->refused = true;
    b->asked = all;
    return xir_kernel_fail(at, XIR_E_LIMIT, NULL, "the op takes %llu steps, but only %llu are %s",
                           (unsigned long long)all, (unsigned long long)most,
                           b->op_work < b->work ? "allowed" : "left");
}

static xir_status compute(xir_kernel *at, xir_array **outputs) {
    bool any;
    if (!class_kernel(at->op->cls)) return kernel_run(at);   // reports the missing kernel
    xir_status status = check_inputs(at);
    if (!status) status = check_attrs(at);
    if (!status) status = actual_types(at);
    if (status) return status;
    if (is_tiled(at))
        return op_fail(at->op, XIR_E_UNSUPPORTED, at->why, NULL, "the executor does not run tiled layouts");
    const bool calls = op_runs_others(at->op);
    if (!calls) status = find_numbers(at);
    at->sums = !status && !calls && kernel_sums(at);
    if (!status) status = count_outputs(at, &any);
    if (!status && any && !calls) status = take_work(at);
    /* Without elements, other dims may be too large to walk. */
    if (!status) status = any ? kernel_run(at) : kernel_store(at);
    for (size_t i = 0; !status && i < at->n_outputs; i++) status = hand_out(at, i, &outputs[i]);
    for (size_t i = 0; status && i < at->n_outputs; i++) {
        xir_array_free(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}

/* Sets input i to the given array, or to that of the Params. An op that runs others may make an input its output, so it
 * gets an array of its own. */
static xir_status take_input(xir_kernel *at, size_t i, const xir_array *given) {
    const xir_value *value = op_inputs(at->op)[i].value;
    kernel_input *in = &at->inputs[i];
    char where[PORT_PATH];
    sentence why;
    if (!value) return XIR_OK;
    if (!given && !value_is_params(value))
        return op_fail(at->op, XIR_E_MISSING, at->why, port_path(where, "inputs", i),
                       "there is no array for the input");
    if (!given && !op_runs_others(at->op)) {
        in->type = value->type;
        const xir_status status = array_lend(value, &in->lent, at->why);
        if (!status) in->array = &in->lent;
        return status;
    }
    xir_array *array = NULL;
    xir_status status = XIR_OK;
    if (given) array = xir_array_retain((xir_array *)(uintptr_t)given);
    else status = array_of_params(value, &array, at->why);
    in->array = array;
    if (status) return status;
    status = agree(at->ctx, value->type, array->type, &in->type, &why);
    return status ? op_fail(at->op, status, at->why, port_path(where, "inputs", i), why.text) : XIR_OK;
}

static void give_input_back(const kernel_input *in) {
    if (in->array != &in->lent) xir_array_free((xir_array *)(uintptr_t)in->array);
}

enum { FEW = 2 };   /* inputs and outputs that take no memory of their own */

static xir_status run_op(const xir_op *op, const xir_array *const *inputs, xir_array **outputs, budget *within,
                         xir_diags *why) {
    xir_kernel at = { .op = op, .ctx = op->net->ctx, .within = within, .rooms = within ? within->rooms : NULL,
                      .why = why };
    if (within) {
        at.into = within->into;
        within->into = NULL;   /* not for the ops of a body */
    }
    struct { kernel_input inputs[FEW]; kernel_output outputs[FEW]; } few;
    const size_t room = op->n_inputs * sizeof(kernel_input) + op->n_outputs * sizeof(kernel_output) + 1;
    void *memory = room <= sizeof few ? &few : mem_new(&at.ctx->alloc, room);
    if (!memory) return diag_memory(why);
    memset(memory, 0, room);
    at.inputs = memory;
    at.outputs = (kernel_output *)(at.inputs + op->n_inputs);
    at.n_inputs = op->n_inputs;
    at.n_outputs = op->n_outputs;
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) status = take_input(&at, i, inputs ? inputs[i] : NULL);
    if (!status) status = compute(&at, outputs);
    for (size_t i = 0; i < op->n_inputs; i++) give_input_back(&at.inputs[i]);
    kernel_end(&at);
    if (memory != &few) mem_free(&at.ctx->alloc, memory, room);
    return status;
}

/* Runs an op under a meter. If the meter has refused memory, the status is that of a limit. */
static xir_status run_metered(const xir_op *op, const xir_array *const *inputs, xir_array **outputs, budget *within,
                              xir_diags *why) {
    meter *m = within->rooms->meter;
    char text[160];
    xir_diags *found = why ? xir_diags_new(op->net->ctx) : NULL;
    if (why && !found) return diag_memory(why);
    atomic_store_explicit(&m->refused, 0, memory_order_relaxed);
    xir_status status = run_op(op, inputs, outputs, within, found);
    const uint64_t refused = atomic_load_explicit(&m->refused, memory_order_relaxed);
    if (status == XIR_E_MEMORY && refused) {
        snprintf(text, sizeof text, "the op asks for %" PRIu64 " bytes more: the values of the run take %" PRIu64
                 ", and the limit is %" PRIu64 " (max_memory)", refused,
                 atomic_load_explicit(&m->used, memory_order_relaxed), m->limit);
        status = op_fail(op, XIR_E_LIMIT, why, NULL, text);
    } else {
        diags_append(why, found);
    }
    xir_diags_free(found);
    return status;
}

xir_status exec_op(const xir_op *op, const xir_array *const *inputs, xir_array **outputs, budget *within,
                   xir_diags *why) {
    const bool metered = within && within->rooms && within->rooms->meter;
    return (metered ? run_metered : run_op)(op, inputs, outputs, within, why);
}

xir_status xir_op_is_normalised(const xir_op *op, bool *normalised, xir_diags *why) {
    *normalised = false;
    if (!op) return diag_null(why, "op");
    const xir_allocator *alloc = &op->net->ctx->alloc;
    size_t n = (size_t)op->n_inputs + op->n_outputs;
    op_numbers numbers = { false, NULL };
    numbers_fault fault;
    xir_status status = XIR_OK;
    if (op_has_normalised(op)) {
        const xir_type **types = mem_new(alloc, n * sizeof *types);
        if (!types) return diag_memory(why);
        for (size_t i = 0; i < op->n_inputs; i++) types[i] = xir_value_type(op_inputs(op)[i].value);
        for (size_t i = 0; i < op->n_outputs; i++) types[op->n_inputs + i] = op_outputs(op)[i].type;
        status = op_numbers_of(op, types, &numbers, &fault);
        mem_free(alloc, (void *)types, n * sizeof *types);
    }
    *normalised = numbers.normalised;
    return status ? op_fail(op, status, why, *fault.where ? fault.where : NULL, fault.text) : XIR_OK;
}

xir_status count_fail(xir_diags *why, const char *what, size_t expected, size_t found) {
    return array_fail(why, XIR_E_BOUNDS, "expected %zu %s, found %zu", expected, what, found);
}

/* Runs an op by itself, with threads that end with it. */
static xir_status run_alone(const xir_op *op, const xir_array *const *inputs, xir_array **outputs, budget *within,
                            xir_diags *why) {
    pool threads;
    pool_open(&threads, within->threads);
    within->pool = &threads;
    xir_status status = exec_op(op, inputs, outputs, within, why);
    within->pool = NULL;
    pool_close(&threads);
    return status;
}

xir_status xir_op_run(const xir_op *op, const xir_array *const *inputs, size_t n_inputs, xir_array **outputs,
                      size_t n_outputs, const xir_run_options *options, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    if (op->flags & OP_DRAFT) return array_fail(why, XIR_E_MISSING, "the op is a draft: complete it first");
    if (inputs && n_inputs != op->n_inputs) return count_fail(why, "inputs", op->n_inputs, n_inputs);
    if (n_outputs != op->n_outputs) return count_fail(why, "outputs", op->n_outputs, n_outputs);
    xir_run_options known;
    xir_status status = sized_take(SIZED(xir_run_options, user), &known, options, why);
    if (status) return status;
    budget within = NO_BUDGET;
    if (known.max_work) within.work = known.max_work;
    within.cancel = known.cancel;
    within.user = known.user;
    within.threads = known.threads;
    if (!known.max_memory) return run_alone(op, inputs, outputs, &within, why);
    meter *limit = meter_open(&op->net->ctx->alloc, known.max_memory);
    if (!limit) return diag_memory(why);
    rooms metered;
    rooms_open(&metered, &op->net->ctx->alloc, limit);
    within.rooms = &metered;
    status = run_alone(op, inputs, outputs, &within, why);
    rooms_close(&metered);
    meter_close(limit);
    return status;
}

xir_status exec_constant(const xir_op *op, xir_array **outputs, size_t n_outputs, budget *within, xir_diags *why) {
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    within->refused = false;
    within->asked = 0;
    return within->alone ? exec_op(op, NULL, outputs, within, why) : run_alone(op, NULL, outputs, within, why);
}
