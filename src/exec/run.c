/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs a network, op by op in execution order. What an op has made and read exists until the next step begins; then
 * arrays are released whose last use it was. */
#include "run.h"
#include <stdio.h>
#include <xir/walk.h>
#include "actual.h"
#include "sized.h"
#include "symbolic.h"
#include "types.h"

bool xir_op_can_run(const xir_op *op) { return op && class_kernel(op->cls) != NULL && composed_can_run(op->cls); }

/* Returns true if an op has a kernel, and if it is a call, all ops of its body. Otherwise `lacks`, a const xir_op **,
 * gets the innermost op that has none. */
static bool can_run(void *lacks, xir_op *op) {
    xir_kernel_fn *kernel = class_kernel(op->cls);
    const bool is_end = op->flags & OP_CHILD && op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    if (is_end || (kernel && kernel != kernel_call && composed_can_run(op->cls))) return true;
    if (kernel == kernel_call) return op_each_child(op, can_run, lacks);
    *(const xir_op **)lacks = op;
    return false;
}

const xir_op *xir_network_first_unrunnable(const xir_network *net) {
    if (!net) return NULL;
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net), *lacks = NULL;
    for (const xir_op *op = net->first; op && !lacks; op = op->next) {
        if (op != in && op != out) (void)can_run(&lacks, (xir_op *)(uintptr_t)op);
    }
    return lacks;
}

/* The fate of an op: decided before the run, if values are known. */
enum { COMPUTED, KNOWN, IDLE };   /* IDLE: only ops that are KNOWN or IDLE use it */

running *running_of(const runner *r, const xir_value *value) {
    const xir_op *op = value_op(value);
    if (!op || op->net != r->net || !(op->flags & OP_PLACED)) return NULL;
    return &r->values[r->first[op->slot] + (size_t)(value - op_outputs(op))];
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const xir_array *array) { return array->data ? array->data->size : 0; }

/* A value begins to exist. */
static void count(runner *r, running *it, running *base) {
    it->base = base;
    r->memory.values++;
    r->memory.bytes += bytes_of(it->array);
    if (base && !base->sharers++) r->memory.held += bytes_of(it->array);
}

static void count_out(runner *r, const running *it) {
    r->memory.values--;
    r->memory.bytes -= bytes_of(it->array);
    if (it->base && !--it->base->sharers) r->memory.held -= bytes_of(it->array);
}

/* The value in whose bytes an output is: a kernel may have forwarded those of an input. */
static running *base_of(const runner *r, const xir_op *op, running *it) {
    const blob *data = it->array->data;
    for (size_t i = 0; data && i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (r->inputs[i] && r->inputs[i]->data == data) return running_of(r, v)->base;
        if (v && value_is_params(v) && value_params(v)->data == data) return NULL;
    }
    return it;
}

static void report_memory(const runner *r, const xir_op *op) {
    if (run_is_counted(r)) r->options.memory(r->options.user, op, &r->memory);
}

/* ---- the life of a value ----------------------------------------------------------------------------------------- */

static void release(runner *r, running *it) {
    if (it->array && run_is_counted(r)) count_out(r, it);
    if (it->array) planned_end(&r->planned, (size_t)(it - r->values));
    array_give_back(it->array, &r->rooms);
    it->array = NULL;
}

static void will_be_used(runner *r, running *it) {
    (void)r;
    it->uses++;
}

static void used(runner *r, running *it) {
    if (it->uses && --it->uses == 0) release(r, it);
}

typedef struct reading { runner *r; void (*visit)(runner *r, running *it); } reading;

static xir_walk_answer read_by(void *user, xir_op *op) {
    const reading *at = user;
    for (size_t i = 0; i < op->n_inputs; i++) {
        running *it = op_inputs(op)[i].value ? running_of(at->r, op_inputs(op)[i].value) : NULL;
        if (it) at->visit(at->r, it);
    }
    return XIR_WALK_ON;
}

/* Visits what an op reads and what its sub ops read, once for each input. False without memory. */
static bool each_read(runner *r, const xir_op *op, void (*visit)(runner *r, running *it)) {
    reading at = { r, visit };
    if (!op_has_children(op)) return read_by(&at, (xir_op *)(uintptr_t)op) == XIR_WALK_ON;
    return !xir_op_walk(op, &XIR_INIT(xir_walker, .user = &at, .op = read_by), NULL);
}

/* Returns true if the caller knows all outputs of an op. */
static bool are_known(const runner *r, const xir_op *op) {
    for (size_t i = 0; i < op->n_outputs; i++)
        if (!r->options.known(r->options.user, &op_outputs(op)[i])) return false;
    return op->n_outputs != 0;
}

/* Decides what is computed and counts the uses by what is, from the last op to the first. An op that nothing uses is
 * computed, because it may fail. */
static bool plan(runner *r) {
    const xir_op *in = xir_network_input_op(r->net), *out = xir_network_output_op(r->net);
    for (const xir_op *op = r->net->last; op; op = op->prev) {
        bool used = false, needed = false;
        for (size_t i = 0; i < op->n_outputs; i++) {
            used = used || op_outputs(op)[i].uses;
            needed = needed || r->values[r->first[op->slot] + i].uses;
        }
        if (r->fates && op != in && op != out)
            r->fates[op->slot] = are_known(r, op) ? KNOWN : used && !needed ? IDLE : COMPUTED;
        if (r->fates && r->fates[op->slot] != COMPUTED) continue;
        if (!each_read(r, op, will_be_used)) return false;
    }
    return true;
}

static const xir_array *array_now(const void *user, const xir_value *value) {
    const running *it = running_of(user, value);
    return it ? it->array : NULL;
}

static size_t uses_left(const void *user, size_t index) { return ((const runner *)user)->values[index].uses; }

static bool prepare(runner *r) {
    const xir_allocator *alloc = &r->net->ctx->alloc;
    size_t slots = r->net->n_slots + (size_t)1;
    for (const xir_op *op = r->net->first; op; op = op->next) {
        r->n_values += op->n_outputs;
        if (op->n_inputs > r->n_inputs) r->n_inputs = op->n_inputs;
        if (op->n_outputs > r->n_outputs) r->n_outputs = op->n_outputs;
    }
    r->first = mem_new(alloc, slots * sizeof *r->first);
    r->values = mem_new(alloc, (r->n_values + 1) * sizeof *r->values);
    r->inputs = mem_new(alloc, (r->n_inputs + 1) * sizeof *r->inputs);
    r->outputs = mem_new(alloc, (r->n_outputs + 1) * sizeof *r->outputs);
    if (r->values) memset(r->values, 0, (r->n_values + 1) * sizeof *r->values);
    if (r->options.known) r->fates = mem_new(alloc, slots);
    if (r->fates) memset(r->fates, COMPUTED, slots);
    if (!r->first || !r->values || !r->inputs || !r->outputs || !r->fates != !r->options.known) return false;
    size_t n = 0;
    for (const xir_op *op = r->net->first; op; op = op->next) {
        r->first[op->slot] = n;
        n += op->n_outputs;
    }
    if (!plan(r)) return false;
    /* An array that waits for its turn would not be counted, or take the memory of an op before it. */
    if (!r->is_stepped && !run_is_counted(r) && !r->rooms.meter && !r->options.arena)
        ahead_open(&r->ahead, r->net, r->fates, r->first, r->n_values, &r->within, array_now, r);
    return true;
}

static void clean_up(runner *r) {
    const xir_allocator *alloc = &r->net->ctx->alloc;
    ahead_close(&r->ahead);
    for (size_t i = 0; r->values && i < r->n_values; i++) release(r, &r->values[i]);
    planned_close(&r->planned);
    rooms_close_run(&r->rooms, r->net->ctx);
    mem_free(alloc, r->first, (r->net->n_slots + (size_t)1) * sizeof *r->first);
    mem_free(alloc, r->values, (r->n_values + 1) * sizeof *r->values);
    if (r->fates) mem_free(alloc, r->fates, r->net->n_slots + (size_t)1);
    mem_free(alloc, (void *)r->inputs, (r->n_inputs + 1) * sizeof *r->inputs);
    mem_free(alloc, (void *)r->outputs, (r->n_outputs + 1) * sizeof *r->outputs);
}

/* An array for the caller, who may keep it: a copy of one in the memory of the plan. */
static xir_status hand_out(const runner *r, const xir_array *array, xir_array **out) {
    size_t size;
    const void *data = xir_array_data(array, &size);
    *out = r->planned.block ? xir_array_copy(array->ctx, array->type, data, size, r->why)
                            : xir_array_retain((xir_array *)(uintptr_t)array);
    return *out ? XIR_OK : XIR_E_MEMORY;
}

static xir_status stopped(const runner *r, const xir_value *value, const xir_array *array) {
    xir_array *seen;
    if (!r->options.watch) return XIR_OK;
    xir_status status = hand_out(r, array, &seen);
    if (status) return status;
    if (!r->options.watch(r->options.user, value, seen))
        status = array_fail(r->why, XIR_E_INVALID, "the run was stopped");
    xir_array_free(seen);
    return status;
}

static xir_status cancelled(const runner *r) {
    if (!r->within.cancel || !r->within.cancel(r->within.user)) return XIR_OK;
    return array_fail(r->why, XIR_E_CANCELLED, "the run was cancelled");
}

/* Finds the array of an input of an op; NULL for Params that have no address in a plan, which run_op looks up. */
static xir_status find_input(const runner *r, const xir_op *op, size_t i, const xir_array **out) {
    const xir_value *value = op_inputs(op)[i].value;
    *out = NULL;
    if (value && value_is_params(value)) *out = planned_params(&r->planned, value);
    if (!value || value_is_params(value)) return XIR_OK;
    const running *it = running_of(r, value);
    char where[PORT_PATH];
    if (!it || !it->array)
        return op_fail(op, XIR_E_INVALID, r->why, port_path(where, "inputs", i),
                       it ? "the input is used before it is computed" : "no op of the network computes the input");
    *out = it->array;
    return XIR_OK;
}

static void release_unused(runner *r, const xir_op *op) {
    for (size_t i = 0; i < op->n_outputs; i++) {
        running *it = &r->values[r->first[op->slot] + i];
        if (!it->uses) release(r, it);
    }
}

/* Brings the outputs of an op to their addresses. */
static xir_status settle(runner *r, const xir_op *op) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; r->planned.block && i < op->n_outputs && !status; i++)
        status = planned_settle(&r->planned, op, i, &r->values[r->first[op->slot] + i].array, r->why);
    return status;
}

/* Sets the outputs of an op to the arrays that the caller knows. */
static xir_status take_known(runner *r, const xir_op *op) {
    xir_status status = XIR_OK;
    planned_begin(&r->planned, op);
    for (size_t i = 0; !status && i < op->n_outputs; i++) {
        const xir_value *value = &op_outputs(op)[i];
        const xir_array *array = r->options.known(r->options.user, value);
        running *it = &r->values[r->first[op->slot] + i];
        const xir_type *type = NULL;
        sentence why = { "the value is not known any more" };
        char where[PORT_PATH];
        status = array ? agree(r->net->ctx, value->type, array->type, &type, &why) : XIR_E_MISSING;
        if (status) return op_fail(op, status, r->why, port_path(where, "outputs", i), why.text);
        status = array_as(array, type, &it->array, r->why);
        if (!status && run_is_counted(r)) count(r, it, it);
    }
    if (!status) status = settle(r, op);
    if (!status) report_memory(r, op);
    return status;
}

static xir_status step_known(runner *r, const xir_op *op) {
    unsigned char *fate = &r->fates[op->slot];
    r->reads = *fate == COMPUTED;
    if (*fate == IDLE) return XIR_OK;
    *fate = KNOWN;
    return take_known(r, op);
}

/* Sets `outputs` to the arrays that an op computes, or has computed ahead. */
static xir_status compute(runner *r, const xir_op *op) {
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) status = find_input(r, op, i, &r->inputs[i]);
    for (size_t i = 0; i < op->n_outputs; i++) r->outputs[i] = NULL;
    if (!status) status = ahead_compute(&r->ahead, op, r->why);
    if (status || ahead_take(&r->ahead, op, r->outputs)) return status;
    xir_array *into;
    planned_begin(&r->planned, op);
    status = planned_into(&r->planned, op, &into, r->why);
    if (status) return status;
    r->within.into = into;
    status = exec_op(op, r->inputs, r->outputs, &r->within, r->why);
    r->within.into = NULL;
    xir_array_free(into);
    return status;
}

static xir_status run_one(runner *r, const xir_op *op) {
    if (r->fates && (r->fates[op->slot] != COMPUTED || are_known(r, op))) {
        ahead_drop(&r->ahead, op);
        return step_known(r, op);
    }
    xir_status status = compute(r, op);
    if (status) return status;
    r->reads = true;
    for (size_t i = 0; i < op->n_outputs; i++) {
        running *it = &r->values[r->first[op->slot] + i];
        it->array = r->outputs[i];
        if (run_is_counted(r)) count(r, it, base_of(r, op, it));
    }
    status = settle(r, op);
    for (size_t i = 0; i < op->n_outputs && !status; i++)
        status = stopped(r, &op_outputs(op)[i], r->values[r->first[op->slot] + i].array);
    if (!status) report_memory(r, op);
    return status;
}

/* Sets an input of the network, under its declared layout. */
static xir_status enter_one(runner *r, const xir_op *op, size_t i, const xir_array *array) {
    const xir_value *value = &op_outputs(op)[i];
    running *it = &r->values[r->first[op->slot] + i];
    sentence why = { "there is no array for the input" };
    char text[600];
    const xir_type *type = NULL;
    xir_status status = array ? agree(r->net->ctx, value->type, array->type, &type, &why) : XIR_E_MISSING;
    if (status) {
        xir_str name = xir_value_name(value);
        snprintf(text, sizeof text, "input %zu '%.*s' of the network: %s", i, CLIP_TO(name, 80), why.text);
        return array_fail(r->why, status, "%s", text);
    }
    status = array_as(array, type, &it->array, r->why);
    if (!status && run_is_counted(r)) count(r, it, it);
    return status;
}

static xir_status enter(runner *r, const xir_op *op) {
    xir_status status = XIR_OK;
    planned_begin(&r->planned, op);
    for (size_t i = 0; !status && i < op->n_outputs; i++) status = enter_one(r, op, i, r->given[i]);
    if (!status) status = settle(r, op);
    if (!status) report_memory(r, op);
    return status;
}

/* ---- stepping ---------------------------------------------------------------------------------------------------- */

/* Releases what the last op has read and nothing else reads, and what nothing reads of what it has made. */
static xir_status finish(runner *r) {
    const xir_op *op = r->done;
    if (!op) return XIR_OK;
    r->done = NULL;
    release_unused(r, op);
    return !r->reads || each_read(r, op, used) ? XIR_OK : diag_memory(r->why);
}

xir_status run_step(runner *r) {
    const xir_op *op = r->next;
    xir_status status = finish(r);
    if (!status) status = cancelled(r);
    if (status) return status;
    r->reads = false;
    if (op == xir_network_input_op(r->net)) status = enter(r, op);
    else if (op == xir_network_output_op(r->net)) report_memory(r, op);
    else status = run_one(r, op);
    if (status) return status;
    r->done = op;
    r->next = op->next;
    return XIR_OK;
}

void run_close(runner *r) {
    pool_close(&r->threads);
    clean_up(r);
    meter_close(r->limit);
}

xir_status run_open(runner *r, const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                    const xir_run_options *options, xir_diags *why) {
    const xir_op *in = xir_network_input_op(net), *lacks = xir_network_first_unrunnable(net);
    size_t needs = in ? in->n_outputs : 0;
    if (n_inputs != needs) return count_fail(why, "inputs of the network", needs, n_inputs);
    if (lacks) return op_fail(lacks, XIR_E_UNSUPPORTED, why, NULL, "the executor has no kernel for this class");
    xir_status status = sized_take(SIZED(xir_run_options, user), &r->options, options, why);
    if (!status && in) status = check_symbols(in, inputs, why);
    if (status) return status;
    r->net = net;
    r->next = net->first;
    r->why = why;
    r->given = (xir_array **)(uintptr_t)inputs;
    r->within = (budget)NO_BUDGET;
    r->memory = XIR_INIT(xir_run_memory);
    r->limit = r->options.max_memory ? meter_open(&net->ctx->alloc, r->options.max_memory) : NULL;
    if (r->options.max_memory && !r->limit) return diag_memory(why);
    if (r->limit || r->options.arena) rooms_open(&r->rooms, &net->ctx->alloc, r->limit);
    else rooms_open_for_run(&r->rooms, net->ctx);
    if (r->options.max_work) r->within.work = r->options.max_work;
    r->within.rooms = &r->rooms;
    r->within.cancel = r->options.cancel;
    r->within.user = r->options.user;
    pool_open(&r->threads, r->options.threads);
    r->within.pool = &r->threads;
    status = prepare(r) ? XIR_OK : diag_memory(why);
    if (!status && r->options.arena)
        status = planned_open(&r->planned, net, r->first, r->n_values, &r->rooms, uses_left, r, why);
    if (status) run_close(r);
    return status;
}

xir_status run_take(const runner *r, const xir_value *value, xir_array **out) {
    const bool is_params = value_is_params(value);
    const running *it = is_params ? NULL : running_of(r, value);
    const xir_array *placed = is_params ? planned_params(&r->planned, value) : NULL;
    *out = NULL;
    if (placed) return hand_out(r, placed, out);
    if (is_params) return array_of_params(value, out, r->why);
    if (it && it->array) return hand_out(r, it->array, out);
    const xir_str name = xir_value_name(value);
    return array_fail(r->why, XIR_E_MISSING, "the value %lld '%.*s' is not computed yet, or not kept any more",
                      (long long)xir_value_id(value), CLIP_TO(name, 80));
}

static xir_status leave(const runner *r, const xir_op *op, xir_array **outputs) {
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) {
        const xir_value *value = op_inputs(op)[i].value;
        const xir_array *array;
        if (!value) return op_fail(op, XIR_E_MISSING, r->why, NULL, "an output of the network is absent");
        status = find_input(r, op, i, &array);
        if (!status) status = run_take(r, value, &outputs[i]);
    }
    return status;
}

xir_status xir_network_run(const xir_network *net, const xir_array *const *inputs, size_t n_inputs, xir_array **outputs,
                           size_t n_outputs, const xir_run_options *options, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    size_t needs = in ? in->n_outputs : 0, gives = out ? out->n_inputs : 0;
    if (n_inputs == needs && n_outputs != gives) return count_fail(why, "outputs of the network", gives, n_outputs);
    runner r = { 0 };
    xir_status status = run_open(&r, net, inputs, n_inputs, options, why);
    if (status) return status;
    while (!status && r.next) {
        const xir_op *op = r.next;
        status = run_step(&r);
        if (!status && op == out) status = leave(&r, op, outputs);
    }
    run_close(&r);
    for (size_t i = 0; status && i < n_outputs; i++) {
        xir_array_free(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
