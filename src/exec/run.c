/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs a network: its ops in execution order. Arrays are released after their last use. */
#include "actual.h"
#include "ahead.h"
#include <stdio.h>
#include <xir/walk.h>
#include "planned.h"
#include "sized.h"
#include "symbolic.h"
#include "types.h"

bool xir_op_can_run(const xir_op *op) { return op && class_kernel(op->cls) != NULL; }

/* Returns true if an op has a kernel, and if it is a call, all ops of its body. Otherwise `lacks`, a const xir_op **,
 * gets the innermost op that has none. */
static bool can_run(void *lacks, xir_op *op) {
    xir_kernel_fn *kernel = class_kernel(op->cls);
    const bool is_end = op->flags & OP_CHILD && op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    if (is_end || (kernel && kernel != kernel_call)) return true;
    if (kernel) return op_each_child(op, can_run, lacks);
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

/* What becomes of an op: decided before the run, if values are known. */
enum { COMPUTED, KNOWN, IDLE };   /* IDLE: only ops that are KNOWN or IDLE use it */

/* One entry for each value that an op produces, in the order of slots. */
typedef struct running running;
struct running {
    xir_array *array;    /* NULL: not computed yet, or already released                                  */
    size_t     uses;     /* remaining uses                                                               */
    running   *base;     /* the oldest value in the same bytes; NULL: they are those of Params           */
    size_t     sharers;  /* of a base: how many values in its bytes exist                                */
};

typedef struct runner {
    const xir_network     *net;
    const xir_run_options *options;
    xir_diags             *why;
    size_t                *first;     /* the first value of the op in each slot    */
    unsigned char         *fates;     /* of the op in each slot; NULL: all are COMPUTED */
    running               *values;
    size_t                 n_values;
    const xir_array      **inputs;    /* storage for the op with the most inputs   */
    xir_array            **outputs;
    size_t                 n_inputs, n_outputs;
    budget                 within;
    rooms                  rooms;     /* memory of values and kernels that is used again */
    ahead                  ahead;     /* ops that are computed before their turn         */
    planned                planned;   /* the memory of the network's plan, if it is used */
    xir_run_memory         memory;    /* only counted if somebody asks             */
} runner;

static running *running_of(const runner *r, const xir_value *value) {
    const xir_op *op = value_op(value);
    if (!op || op->net != r->net || !(op->flags & OP_PLACED)) return NULL;
    return &r->values[r->first[op->slot] + (size_t)(value - op_outputs(op))];
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool is_counted(const runner *r) { return r->options->memory != NULL; }

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
    if (is_counted(r)) r->options->memory(r->options->user, op, &r->memory);
}

/* ---- the life of a value ----------------------------------------------------------------------------------------- */

static void release(runner *r, running *it) {
    if (it->array && is_counted(r)) count_out(r, it);
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

/* Whether the caller knows all outputs of an op. */
static bool are_known(const runner *r, const xir_op *op) {
    for (size_t i = 0; i < op->n_outputs; i++)
        if (!r->options->known(r->options->user, &op_outputs(op)[i])) return false;
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
    if (r->options->known) r->fates = mem_new(alloc, slots);
    if (r->fates) memset(r->fates, COMPUTED, slots);
    if (!r->first || !r->values || !r->inputs || !r->outputs || !r->fates != !r->options->known) return false;
    size_t n = 0;
    for (const xir_op *op = r->net->first; op; op = op->next) {
        r->first[op->slot] = n;
        n += op->n_outputs;
    }
    if (!plan(r)) return false;
    /* An array that waits for its turn would not be counted, or take the memory of an op before it. */
    if (!is_counted(r) && !r->rooms.meter && !r->options->arena)
        ahead_open(&r->ahead, r->net, r->fates, r->first, r->n_values, &r->within, array_now, r);
    return true;
}

static void clean_up(runner *r) {
    const xir_allocator *alloc = &r->net->ctx->alloc;
    ahead_close(&r->ahead);
    for (size_t i = 0; r->values && i < r->n_values; i++) release(r, &r->values[i]);
    planned_close(&r->planned);
    rooms_close(&r->rooms);
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
    if (!r->options->watch) return XIR_OK;
    xir_status status = hand_out(r, array, &seen);
    if (status) return status;
    if (!r->options->watch(r->options->user, value, seen))
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
    char where[32];
    snprintf(where, sizeof where, "inputs/%zu", i);
    if (!it) return op_fail(op, XIR_E_INVALID, r->why, where, "no op of the network computes the input");
    if (!it->array) return op_fail(op, XIR_E_INVALID, r->why, where, "the input is used before it is computed");
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
        const xir_array *array = r->options->known(r->options->user, value);
        running *it = &r->values[r->first[op->slot] + i];
        const xir_type *type = NULL;
        sentence why = { "the value is not known any more" };
        char where[32];
        snprintf(where, sizeof where, "outputs/%zu", i);
        status = array ? agree(r->net->ctx, value->type, array->type, &type, &why) : XIR_E_MISSING;
        if (status) return op_fail(op, status, r->why, where, why.text);
        status = array_as(array, type, &it->array, r->why);
        if (!status && is_counted(r)) count(r, it, it);
    }
    if (!status) status = settle(r, op);
    if (!status) report_memory(r, op);
    release_unused(r, op);
    return status;
}

static xir_status step_known(runner *r, const xir_op *op) {
    unsigned char *fate = &r->fates[op->slot];
    if (*fate == IDLE) return XIR_OK;
    const bool beforehand = *fate == KNOWN;
    *fate = KNOWN;
    xir_status status = take_known(r, op);
    if (!beforehand && !each_read(r, op, used) && !status) status = diag_memory(r->why);
    return status;
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

static xir_status step(runner *r, const xir_op *op) {
    if (r->fates && (r->fates[op->slot] != COMPUTED || are_known(r, op))) {
        ahead_drop(&r->ahead, op);
        return step_known(r, op);
    }
    xir_status status = compute(r, op);
    if (status) return status;
    for (size_t i = 0; i < op->n_outputs; i++) {
        running *it = &r->values[r->first[op->slot] + i];
        it->array = r->outputs[i];
        if (is_counted(r)) count(r, it, base_of(r, op, it));
    }
    status = settle(r, op);
    for (size_t i = 0; i < op->n_outputs && !status; i++)
        status = stopped(r, &op_outputs(op)[i], r->values[r->first[op->slot] + i].array);
    if (!status) report_memory(r, op);
    release_unused(r, op);
    if (!each_read(r, op, used) && !status) status = diag_memory(r->why);
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
    if (!status && is_counted(r)) count(r, it, it);
    return status;
}

static xir_status enter(runner *r, const xir_op *op, const xir_array *const *inputs) {
    xir_status status = XIR_OK;
    planned_begin(&r->planned, op);
    for (size_t i = 0; !status && i < op->n_outputs; i++) status = enter_one(r, op, i, inputs[i]);
    if (!status) status = settle(r, op);
    if (status) return status;
    report_memory(r, op);
    release_unused(r, op);
    return XIR_OK;
}

static xir_status leave(runner *r, const xir_op *op, xir_array **outputs) {
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) {
        const xir_array *array;
        const xir_value *value = op_inputs(op)[i].value;
        status = find_input(r, op, i, &array);
        if (status) break;
        if (array) status = hand_out(r, array, &outputs[i]);
        else if (value) status = array_of_params(value, &outputs[i], r->why);
        else status = op_fail(op, XIR_E_MISSING, r->why, NULL, "an output of the network is absent");
    }
    return status;
}

static xir_status run_all(runner *r, const xir_array *const *inputs, xir_array **outputs) {
    xir_status status = XIR_OK;
    const xir_op *in = xir_network_input_op(r->net), *out = xir_network_output_op(r->net);
    for (const xir_op *op = r->net->first; !status && op; op = op->next) {
        status = cancelled(r);
        if (status) break;
        if (op == in) {
            status = enter(r, op, inputs);
        } else if (op == out) {
            status = leave(r, op, outputs);
            if (!status) report_memory(r, op);
        } else {
            status = step(r, op);
        }
    }
    return status;
}

xir_status xir_network_run(const xir_network *net, const xir_array *const *inputs, size_t n_inputs, xir_array **outputs,
                           size_t n_outputs, const xir_run_options *options, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net),
                  *lacks = xir_network_first_unrunnable(net);
    size_t needs = in ? in->n_outputs : 0, gives = out ? out->n_inputs : 0;
    if (n_inputs != needs) return count_fail(why, "inputs of the network", needs, n_inputs);
    if (n_outputs != gives) return count_fail(why, "outputs of the network", gives, n_outputs);
    if (lacks) return op_fail(lacks, XIR_E_UNSUPPORTED, why, NULL, "the executor has no kernel for this class");
    xir_run_options known;
    xir_status status = sized_take(SIZED(xir_run_options, user), &known, options, why);
    if (!status && in) status = check_symbols(in, inputs, why);
    if (status) return status;
    runner r = { .net = net, .options = &known, .why = why, .within = NO_BUDGET, .memory = XIR_INIT(xir_run_memory) };
    meter *limit = known.max_memory ? meter_open(&net->ctx->alloc, known.max_memory) : NULL;
    if (known.max_memory && !limit) return diag_memory(why);
    rooms_open(&r.rooms, &net->ctx->alloc, limit);
    if (known.max_work) r.within.work = known.max_work;
    r.within.rooms = &r.rooms;
    r.within.cancel = known.cancel;
    r.within.user = known.user;
    pool threads;
    pool_open(&threads, known.threads);
    r.within.pool = &threads;
    status = prepare(&r) ? XIR_OK : diag_memory(why);
    if (!status && known.arena)
        status = planned_open(&r.planned, net, r.first, r.n_values, &r.rooms, uses_left, &r, why);
    if (!status) status = run_all(&r, inputs, outputs);
    pool_close(&threads);
    clean_up(&r);
    meter_close(limit);
    for (size_t i = 0; status && i < n_outputs; i++) {
        xir_array_free(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
