/* Runs ops in execution order. Arrays are released after their last use. */
#include "actual.h"
#include "pool.h"
#include <stdio.h>
#include <xir/walk.h>
#include "sized.h"
#include "symbolic.h"
#include "types.h"

/* ---- one op ------------------------------------------------------------------------------------------------------ */

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
    return body_check(at->op->cls, at->op->attrs, name_text(at->op->name), xir_str_of(path), at->why);
}

/* Checks that the required inputs are present. */
static xir_status check_inputs(xir_kernel *at) {
    const xir_class *cls = at->op->cls;
    const class_more *more = cls->more;
    size_t n = at->n_inputs > more->n_inputs ? at->n_inputs : more->n_inputs;
    if (cls->opaque) return XIR_OK;
    for (size_t i = 0; i < n; i++) {
        char where[32];
        snprintf(where, sizeof where, "inputs/%zu", i);
        if (i >= more->n_inputs && !cls->many_inputs) {
            return xir_kernel_fail(at, XIR_E_INVALID, where, "the op has too many inputs: expected at most %u",
                                   more->n_inputs);
        }
        const xir_port *port = &more->inputs[i < more->n_inputs ? i : more->n_inputs - 1];
        bool absent = i >= at->n_inputs || !at->inputs[i].array;
        bool needed = port->decl == XIR_DECL_IN || (port->decl == XIR_DECL_VAR && i < at->n_inputs);
        if (absent && needed) {
            return xir_kernel_fail(at, XIR_E_MISSING, where, "%.*s is absent", (int)port->name.size, port->name.data);
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
        char where[32];
        snprintf(where, sizeof where, "outputs/%zu", i);
        if (!xir_type_as_tensor(at->outputs[i].type)) {
            return xir_kernel_fail(at, XIR_E_TYPE, where, "the output is not a tensor");
        }
        xir_status status = xir_type_elements(at->outputs[i].type, &n);
        if (status == XIR_E_LIMIT) return xir_kernel_fail(at, status, where, "the number of elements exceeds 64 bits");
        *any = *any || status || n != 0;
    }
    return XIR_OK;
}

/* Returns the array of an output under its declared type: with its layout, and with dims that it may leave open. */
static xir_status hand_out(xir_kernel *at, size_t i, xir_array **out) {
    xir_array *array = at->outputs[i].array;
    const xir_type *declared = at->op->outputs[i].type, *type;
    char where[32];
    sentence why;
    snprintf(where, sizeof where, "outputs/%zu", i);
    if (!xir_type_as_tensor(declared) || xir_type_equal(declared, array->type)) {
        at->outputs[i].array = NULL;
        *out = array;
        return XIR_OK;
    }
    xir_status status = agree(at->ctx, declared, array->type, &type, &why);
    if (!status) return array_as(array, type, out, at->why);
    return op_fail(at->op, status == XIR_E_BOUNDS ? XIR_E_INVALID : status, at->why, where, why.text);
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
        char where[32];
        if (xir_type_elements(at->outputs[i].type, &n) || (uint64_t)n <= b->elements) continue;
        b->refused = true;
        snprintf(where, sizeof where, "outputs/%zu", i);
        return xir_kernel_fail(at, XIR_E_LIMIT, where, "the output has %llu elements: the limit is %llu",
                               (unsigned long long)n, (unsigned long long)b->elements);
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
    const bool calls = class_kernel(at->op->cls) == kernel_call;
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

/* Sets input i to the given array, or to that of the Params. */
static xir_status take_input(xir_kernel *at, size_t i, const xir_array *given) {
    const xir_value *value = at->op->inputs[i].value;
    kernel_input *in = &at->inputs[i];
    char where[32];
    sentence why;
    snprintf(where, sizeof where, "inputs/%zu", i);
    if (!value) return XIR_OK;
    if (!given && !value_is_params(value))
        return op_fail(at->op, XIR_E_MISSING, at->why, where, "there is no array for the input");
    xir_array *array = NULL;
    xir_status status = XIR_OK;
    if (given) array = xir_array_retain((xir_array *)(uintptr_t)given);
    else status = array_of_params(value, &array, at->why);
    in->array = array;
    if (status) return status;
    status = agree(at->ctx, value->type, array->type, &in->type, &why);
    return status ? op_fail(at->op, status, at->why, where, why.text) : XIR_OK;
}

xir_status exec_op(const xir_op *op, const xir_array *const *inputs, xir_array **outputs, budget *within,
                   xir_diags *why) {
    xir_kernel at = { .op = op, .ctx = op->net->ctx, .within = within, .rooms = within ? within->rooms : NULL,
                      .why = why };
    size_t room = op->n_inputs * sizeof(kernel_input) + op->n_outputs * sizeof(kernel_output) + 1;
    void *memory = mem_new(&at.ctx->alloc, room);
    if (!memory) return diag_memory(why);
    memset(memory, 0, room);
    at.inputs = memory;
    at.outputs = (kernel_output *)(at.inputs + op->n_inputs);
    at.n_inputs = op->n_inputs;
    at.n_outputs = op->n_outputs;
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) status = take_input(&at, i, inputs ? inputs[i] : NULL);
    if (!status) status = compute(&at, outputs);
    for (size_t i = 0; i < op->n_inputs; i++) xir_array_free((xir_array *)(uintptr_t)at.inputs[i].array);
    kernel_end(&at);
    mem_free(&at.ctx->alloc, memory, room);
    return status;
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
        for (size_t i = 0; i < op->n_inputs; i++) types[i] = op->inputs[i].value ? op->inputs[i].value->type : NULL;
        for (size_t i = 0; i < op->n_outputs; i++) types[op->n_inputs + i] = op->outputs[i].type;
        status = op_numbers_of(op, types, &numbers, &fault);
        mem_free(alloc, (void *)types, n * sizeof *types);
    }
    *normalised = numbers.normalised;
    return status ? op_fail(op, status, why, *fault.where ? fault.where : NULL, fault.text) : XIR_OK;
}

static xir_status count_fail(xir_diags *why, const char *what, size_t expected, size_t found) {
    return array_fail(why, XIR_E_BOUNDS, "expected %zu %s, found %zu", expected, what, found);
}

xir_status xir_op_run(const xir_op *op, const xir_array *const *inputs, size_t n_inputs, xir_array **outputs,
                      size_t n_outputs, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    if (op->flags & OP_DRAFT) return array_fail(why, XIR_E_MISSING, "the op is a draft: complete it first");
    if (inputs && n_inputs != op->n_inputs) return count_fail(why, "inputs", op->n_inputs, n_inputs);
    if (n_outputs != op->n_outputs) return count_fail(why, "outputs", op->n_outputs, n_outputs);
    return exec_op(op, inputs, outputs, NULL, why);
}

xir_status exec_constant(const xir_op *op, xir_array **outputs, size_t n_outputs, budget *within, xir_diags *why) {
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = NULL;
    within->refused = false;
    within->asked = 0;
    return exec_op(op, NULL, outputs, within, why);
}

/* ---- a network --------------------------------------------------------------------------------------------------- */

bool xir_op_can_run(const xir_op *op) { return op && class_kernel(op->cls) != NULL; }

/* Whether an op has a kernel, and if it is a call, all ops of its body. */
static bool can_run(void *user, xir_op *op) {
    xir_kernel_fn *kernel = class_kernel(op->cls);
    const bool is_end = op->flags & OP_CHILD && op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    return is_end || (kernel && (kernel != kernel_call || op_each_child(op, can_run, user)));
}

const xir_op *xir_network_first_unrunnable(const xir_network *net) {
    if (!net) return NULL;
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    for (const xir_op *op = net->first; op; op = op->next) {
        if (op != in && op != out && !can_run(NULL, (xir_op *)(uintptr_t)op)) return op;
    }
    return NULL;
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
    xir_run_memory         memory;    /* only counted if somebody asks             */
} runner;

static running *running_of(const runner *r, const xir_value *value) {
    const xir_op *op = value->producer;
    if (!op || op->net != r->net || !(op->flags & OP_PLACED)) return NULL;
    return &r->values[r->first[op->slot] + (size_t)(value - op->outputs)];
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
        const xir_value *v = op->inputs[i].value;
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
        running *it = op->inputs[i].value ? running_of(at->r, op->inputs[i].value) : NULL;
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
        if (!r->options->known(r->options->user, &op->outputs[i])) return false;
    return op->n_outputs != 0;
}

/* Decides what is computed and counts the uses by what is, from the last op to the first. An op that nothing uses is
 * computed, because it may fail. */
static bool plan(runner *r) {
    const xir_op *in = xir_network_input_op(r->net), *out = xir_network_output_op(r->net);
    for (const xir_op *op = r->net->last; op; op = op->prev) {
        bool used = false, needed = false;
        for (size_t i = 0; i < op->n_outputs; i++) {
            used = used || op->outputs[i].uses;
            needed = needed || r->values[r->first[op->slot] + i].uses;
        }
        if (r->fates && op != in && op != out)
            r->fates[op->slot] = are_known(r, op) ? KNOWN : used && !needed ? IDLE : COMPUTED;
        if (r->fates && r->fates[op->slot] != COMPUTED) continue;
        if (!each_read(r, op, will_be_used)) return false;
    }
    return true;
}

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
    return plan(r);
}

static void clean_up(runner *r) {
    const xir_allocator *alloc = &r->net->ctx->alloc;
    for (size_t i = 0; r->values && i < r->n_values; i++) release(r, &r->values[i]);
    rooms_close(&r->rooms);
    mem_free(alloc, r->first, (r->net->n_slots + (size_t)1) * sizeof *r->first);
    mem_free(alloc, r->values, (r->n_values + 1) * sizeof *r->values);
    if (r->fates) mem_free(alloc, r->fates, r->net->n_slots + (size_t)1);
    mem_free(alloc, (void *)r->inputs, (r->n_inputs + 1) * sizeof *r->inputs);
    mem_free(alloc, (void *)r->outputs, (r->n_outputs + 1) * sizeof *r->outputs);
}

static xir_status stopped(const runner *r, const xir_value *value, const xir_array *array) {
    if (!r->options || !r->options->watch || r->options->watch(r->options->user, value, array)) return XIR_OK;
    return array_fail(r->why, XIR_E_INVALID, "the run was stopped");
}

static xir_status cancelled(const runner *r) {
    if (!r->within.cancel || !r->within.cancel(r->within.user)) return XIR_OK;
    return array_fail(r->why, XIR_E_CANCELLED, "the run was cancelled");
}

/* Finds the array of an input of an op; NULL for Params, which run_op looks up. */
static xir_status find_input(const runner *r, const xir_op *op, size_t i, const xir_array **out) {
    const xir_value *value = op->inputs[i].value;
    *out = NULL;
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

/* Sets the outputs of an op to the arrays that the caller knows. */
static xir_status take_known(runner *r, const xir_op *op) {
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_outputs; i++) {
        const xir_value *value = &op->outputs[i];
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

static xir_status step(runner *r, const xir_op *op) {
    if (r->fates && (r->fates[op->slot] != COMPUTED || are_known(r, op))) return step_known(r, op);
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) status = find_input(r, op, i, &r->inputs[i]);
    for (size_t i = 0; i < op->n_outputs; i++) r->outputs[i] = NULL;
    if (!status) status = exec_op(op, r->inputs, r->outputs, &r->within, r->why);
    if (status) return status;
    for (size_t i = 0; i < op->n_outputs; i++) {
        running *it = &r->values[r->first[op->slot] + i];
        it->array = r->outputs[i];
        if (is_counted(r)) count(r, it, base_of(r, op, it));
        if (!status) status = stopped(r, &op->outputs[i], it->array);
    }
    if (!status) report_memory(r, op);
    release_unused(r, op);
    if (!each_read(r, op, used) && !status) status = diag_memory(r->why);
    return status;
}

/* Sets an input of the network, under its declared layout. */
static xir_status enter_one(runner *r, const xir_op *op, size_t i, const xir_array *array) {
    const xir_value *value = &op->outputs[i];
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
    for (size_t i = 0; !status && i < op->n_outputs; i++) status = enter_one(r, op, i, inputs[i]);
    if (status) return status;
    report_memory(r, op);
    release_unused(r, op);
    return XIR_OK;
}

static xir_status leave(runner *r, const xir_op *op, xir_array **outputs) {
    xir_status status = XIR_OK;
    for (size_t i = 0; !status && i < op->n_inputs; i++) {
        const xir_array *array;
        const xir_value *value = op->inputs[i].value;
        status = find_input(r, op, i, &array);
        if (status) break;
        if (array) outputs[i] = xir_array_retain((xir_array *)(uintptr_t)array);
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
    runner r = { .net = net, .options = &known, .why = why, .within = NO_BUDGET, .memory = XIR_INIT(xir_run_memory),
                 .rooms = { .alloc = &net->ctx->alloc } };
    if (known.max_work) r.within.work = known.max_work;
    r.within.rooms = &r.rooms;
    r.within.cancel = known.cancel;
    r.within.user = known.user;
    pool threads;
    pool_open(&threads, known.threads);
    r.within.pool = &threads;
    status = prepare(&r) ? run_all(&r, inputs, outputs) : diag_memory(why);
    pool_close(&threads);
    clean_up(&r);
    for (size_t i = 0; status && i < n_outputs; i++) {
        xir_array_free(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
