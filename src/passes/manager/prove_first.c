/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The first network of a proof: its inputs, given or random, and its outputs, which the later networks must have too.
 * Open dims get numbers; if the network cannot be run on them, others are tried. */
#include <xir/symbols.h>
#include <inttypes.h>
#include <stdio.h>
#include "open_dims.h"
#include "proof.h"

/* Returns true if an input is meant: by name or by position. */
static bool is_called(const xir_value *v, size_t i, const char *name) {
    char position[24];
    snprintf(position, sizeof position, "%zu", i);
    return xir_str_equal(xir_value_name(v), xir_str_of(name)) || strcmp(position, name) == 0;
}

static const xir_array *given_for(const xir_proof *p, const xir_value *v, size_t i) {
    for (size_t k = 0; k < p->n_given; k++)
        if (is_called(v, i, p->given[k].name)) return p->given[k].array;
    return NULL;
}

static xir_status check_names(const xir_proof *p, xir_value *const *values, size_t n, xir_diags *why) {
    for (size_t i = 0; i < p->n_given; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++) known |= is_called(values[k], k, p->given[i].name);
        if (known) continue;
        return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""),
                         "an array was given for the input '%.80s', but the network has no such input",
                         p->given[i].name);
    }
    return XIR_OK;
}

/* The bytes that all inputs take so far, and the steps that those of one sample take. */
typedef struct making {
    uint64_t bytes, steps;
    bool     sought;        /* the numbers of open dims, which may be large (open_dims.h) */
} making;

/* The most elements of an input whose dims were sought. */
enum { MOST_SOUGHT = 1 << 26 };

/* Takes an input before it is made; false, with a finding, beyond a limit. */
static bool may_make(const xir_proof *p, making *m, const xir_type *type, xir_diags *why) {
    uint64_t bytes;
    int64_t n;
    if (xir_type_elements(type, &n) || xir_type_bytes(type, &bytes)) return true;   /* making it says what is wrong */
    if (m->sought && n > MOST_SOUGHT) {
        diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "all dims of the network are legal only for very large inputs, one of "
                  "them with %" PRId64 " elements: it is run on inputs that are given", n);
        return false;
    }
    m->bytes = xir_work_add(m->bytes, bytes);
    m->steps = xir_work_add(m->steps, xir_work_steps(&XIR_INIT(xir_work, .element_ops = (uint64_t)n)));
    if (p->max_work && m->steps > p->max_work) {
        diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "making the inputs takes %" PRIu64 " steps: the limit is %" PRIu64
                  " (max_work)", m->steps, p->max_work);
        return false;
    }
    if (p->max_memory && m->bytes > p->max_memory) {
        diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "the inputs take %" PRIu64 " bytes: the limit is %" PRIu64
                  " (max_memory)", m->bytes, p->max_memory);
        return false;
    }
    return true;
}

/* Random numbers for an input, among those that it takes; an unknown dim becomes 1. */
static xir_array *random_for(const xir_proof *p, const xir_value *v, size_t i, const xir_numbers *takes, making *m,
                             xir_diags *why) {
    const xir_type *type = xir_value_type(v);
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    xir_str name = xir_value_name(v);
    if (!tensor) {
        diag_fail(why, XIR_E_TYPE, XIR_STR(""), "the input '%.*s' is not a tensor: expected a given value",
                  CLIP_TO(name, 80));
        return NULL;
    }
    if (xir_type_has_unknown_dim(type)) {
        type = xir_type_with_known_dims(p->ctx, type, 1, why);
        if (!type) return NULL;
    }
    return may_make(p, m, type, why) ? xir_array_random_in(p->ctx, type, p->seed + i, takes, why) : NULL;
}

/* The number of samples in the given arrays: 1, or the first dim, on which they must agree. */
static xir_status count_samples(xir_proof *p, xir_diags *why) {
    p->n_samples = 1;
    for (size_t i = 0; i < p->n_given && p->each; i++) {
        const xir_type *type = xir_array_type(p->given[i].array);
        int64_t n = xir_type_rank(type) ? xir_type_dim(type, 0, false) : 0;
        if (n < 1 || (i && (size_t)n != p->n_samples)) {
            return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""),
                             "the array for the input '%.80s': expected %s, found %lld",
                             p->given[i].name, i ? "as many samples as in the others" : "at least one sample",
                             (long long)n);
        }
        p->n_samples = (size_t)n;
    }
    return XIR_OK;
}

/* Sample `k` of an array: a slice of size 1 along the first dim. */
static xir_array *sample_of(const xir_proof *p, const xir_array *array, size_t k, making *m, xir_diags *why) {
    if (!p->each) return xir_array_retain((xir_array *)(uintptr_t)array);
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_array_type(array));
    size_t rank = tensor->shape.size, size;
    int64_t *dims = mem_new(&p->ctx->alloc, rank * sizeof *dims);
    if (!dims) {
        diag_memory(why);
        return NULL;
    }
    memcpy(dims, tensor->shape.data, rank * sizeof *dims);
    dims[0] = 1;
    const xir_type *type = xir_type_with_shape(p->ctx, xir_array_type(array), dims, rank, why);
    mem_free(&p->ctx->alloc, dims, rank * sizeof *dims);
    const char *data = xir_array_data(array, &size);
    size /= p->n_samples;
    return type && may_make(p, m, type, why) ? xir_array_copy(p->ctx, type, data + k * size, size, why) : NULL;
}

/* Makes the inputs of all samples. A failure is an obstacle, not an error, unless memory ran out: every caller would
 * meet it. */
static xir_status make_inputs(const xir_proof *p, const xir_network *net, xir_value *const *values, size_t n,
                              bool sought, xir_array **inputs, xir_diags *why) {
    xir_numbers *takes = mem_new(&p->ctx->alloc, (n + 1) * sizeof *takes);
    making m = { 0, 0, sought };
    xir_status status = takes ? check_names(p, values, n, why) : diag_memory(why);
    for (size_t i = 0; takes && i < n; i++) takes[i] = xir_numbers_any();
    if (!status) status = xir_network_input_numbers(net, takes, n, why);
    for (size_t i = 0; !status && i < n * p->n_samples; i++) {
        const xir_array *given = given_for(p, values[i % n], i % n);
        const size_t findings = xir_diags_count(why), errors = xir_diags_count_of(why, XIR_ERROR);
        if (i % n == 0) m.steps = 0;
        inputs[i] = given ? sample_of(p, given, i / n, &m, why)
                          : random_for(p, values[i % n], i, &takes[i % n], &m, why);
        if (inputs[i]) continue;
        const xir_diag *d = xir_diags_at(why, findings);
        bool said = xir_diags_count_of(why, XIR_ERROR) > errors;
        status = !said || (d && d->code == XIR_E_MEMORY) ? XIR_E_MEMORY : XIR_E_TYPE;
    }
    mem_free(&p->ctx->alloc, takes, (n + 1) * sizeof *takes);
    return status;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Samples whose values are kept: a part of the room for each. */
enum { MOST_REUSES = 16 };

/* A proof without memory for this knows nothing, and computes everything. */
static void make_reuses(xir_proof *p) {
    const size_t n = p->n_samples < MOST_REUSES ? p->n_samples : MOST_REUSES;
    if (p->reuses) return;
    p->reuses = mem_new(&p->ctx->alloc, MOST_REUSES * sizeof *p->reuses);
    while (p->reuses && p->n_reuses < n) {
        p->reuses[p->n_reuses] = reuse_new(p->ctx, p->max_kept / n);
        if (!p->reuses[p->n_reuses]) return;
        p->n_reuses++;
    }
}

void proof_free_reuses(xir_proof *p) {
    for (size_t i = 0; i < p->n_reuses; i++) reuse_free(p->reuses[i]);
    mem_free(&p->ctx->alloc, (void *)p->reuses, MOST_REUSES * sizeof *p->reuses);
}

void proof_settle(xir_proof *p, bool keep) {
    for (size_t i = 0; i < p->n_reuses; i++) reuse_end(p->reuses[i], keep);
}

/* The `user` of the executor. */
typedef struct sample_run {
    const xir_proof *p;
    reuse           *k;          /* NULL: nothing is known or kept */
    size_t           computed;   /* ops                            */
} sample_run;

static bool note_value(void *user, const xir_value *value, const xir_array *array) {
    sample_run *s = user;
    s->computed += xir_value_index(value) == 0;
    if (s->k) reuse_note(s->k, value, array);
    return true;
}

static const xir_array *find_value(void *user, const xir_value *value) {
    const sample_run *s = user;
    return reuse_find(s->k, value);
}

static bool is_cancelled(void *user) {
    const sample_run *s = user;
    return s->p->cancel(s->p->user);
}

static uint64_t bytes_of(xir_array *const *arrays, size_t n) {
    uint64_t bytes = 0;
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        if (arrays[i] && xir_array_data(arrays[i], &size)) bytes = xir_work_add(bytes, size);
    return bytes;
}

uint64_t proof_held(const xir_proof *p, xir_array *const *inputs, size_t n_in, xir_array *const *outputs,
                    size_t n_out) {
    if (!p->max_memory) return 0;
    const uint64_t own = p->outputs ? bytes_of(p->outputs, p->n_outputs * p->n_samples) : 0;
    return xir_work_add(own, xir_work_add(bytes_of(inputs, n_in), bytes_of(outputs, n_out)));
}

xir_status proof_room(const xir_proof *p, uint64_t held, uint64_t *room, xir_diags *why) {
    *room = 0;
    if (!p->max_memory) return XIR_OK;
    for (size_t i = 0; i < p->n_reuses; i++) held = xir_work_add(held, reuse_bytes(p->reuses[i]));
    if (held < p->max_memory) *room = p->max_memory - held;
    return *room ? XIR_OK
         : diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "the arrays of the proof take %" PRIu64 " bytes: the limit is %"
                     PRIu64 " (max_memory)", held, p->max_memory);
}

bool proof_is_planned(const xir_network *net) {
    bool any = false;
    for (const xir_op *op = net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_value *v = &op_outputs(op)[i];
            uint64_t bytes;
            if (xir_mtype_kind_of(xir_value_mtype(v)) == XIR_MTYPE_HOST) continue;
            if (!v->type || xir_type_bytes(v->type, &bytes)) return false;
            any = true;
        }
    }
    return any;
}

xir_status proof_run_samples(xir_proof *p, const xir_network *net, xir_array *const *inputs, size_t n_in,
                             xir_array **outputs, size_t n_out, xir_diags *why) {
    const size_t ops = net->n_ops - !!xir_network_input_op(net) - !!xir_network_output_op(net);
    uint64_t held = proof_held(p, inputs, n_in * p->n_samples, NULL, 0);
    const bool planned = p->outputs && proof_is_planned(net);   /* a plan is checked by every op */
    xir_status status = XIR_OK;
    for (size_t k = 0; !status && k < p->n_samples; k++) {
        const xir_array *const *sample = (const xir_array *const *)inputs + k * n_in;
        sample_run s = { p, k < p->n_reuses ? p->reuses[k] : NULL, 0 };
        xir_run_options options = XIR_INIT(xir_run_options, .user = &s, .watch = note_value,
                                           .known = s.k && !planned ? find_value : NULL, .arena = planned,
                                           .cancel = p->cancel ? is_cancelled : NULL, .max_work = p->max_work,
                                           .threads = p->threads);
        status = proof_room(p, held, &options.max_memory, why);
        if (status) break;
        if (s.k) reuse_begin(s.k, net, sample, n_in);
        status = xir_network_run(net, sample, n_in, outputs + k * n_out, n_out, &options, why);
        held = xir_work_add(held, bytes_of(outputs + k * n_out, n_out));
        p->state.computed += s.computed;
        if (!status && s.computed < ops) p->state.reused += ops - s.computed;
    }
    return status;
}

/* The given array of each input, NULL for the others. */
static const xir_array **list_given(const xir_proof *p, const xir_network *net, size_t n) {
    const xir_array **given = mem_new(&p->ctx->alloc, (n + 1) * sizeof *given);
    const xir_op *in = xir_network_input_op(net);
    for (size_t i = 0; given && i < n; i++) given[i] = given_for(p, xir_op_output(in, (int64_t)i), i);
    return given;
}

static void free_given(const xir_proof *p, const xir_array **given, size_t n) {
    if (given) mem_free(&p->ctx->alloc, (void *)given, (n + 1) * sizeof *given);
}

/* Inputs and outputs of the first network, sample after sample. */
typedef struct first_run {
    const xir_network *net;       /* that is run                                           */
    const xir_network *like;      /* whose inputs the arrays fit: `net`, or one made of it */
    xir_array        **inputs, **outputs;
    size_t             n_in, n_out;
    bool               again;     /* other numbers for the open dims may help              */
    open_dims          taken;     /* those of the last attempt                             */
} first_run;

/* One attempt. */
static xir_status run_first(xir_proof *p, first_run *f, unsigned attempt, xir_diags *why) {
    const xir_array **given = list_given(p, f->like, f->n_in);
    xir_value **values = mem_new(&p->ctx->alloc, (f->n_in + 1) * sizeof *values);
    xir_network *bound = NULL;
    xir_status status = given && values ? XIR_OK : diag_memory(why);
    const bool can_run = !xir_network_first_unrunnable(f->net);
    if (!status && can_run)
        status = open_dims_bind(f->like, given, p->each, attempt, &p->arena, &f->taken, &bound, why);
    f->again = can_run && (bound || status);
    if (!status) {
        const xir_network *like = bound ? bound : f->like;
        xir_network_inputs(like, values, f->n_in);
        status = make_inputs(p, like, values, f->n_in, f->taken.sought, f->inputs, why);
    }
    if (!status) status = proof_run_samples(p, f->net, f->inputs, f->n_in, f->outputs, f->n_out, why);
    if (values) mem_free(&p->ctx->alloc, (void *)values, (f->n_in + 1) * sizeof *values);
    free_given(p, given, f->n_in);
    xir_network_free(bound);
    return status;
}

/* Returns true if a failure is one of the proof, not of the network. */
static bool is_fatal(xir_status status) {
    return status == XIR_E_UNKNOWN || status == XIR_E_MEMORY || status == XIR_E_CANCELLED;
}

static void first_free(const xir_proof *p, first_run *f) {
    proof_free_arrays(p->ctx, f->inputs, f->n_in * p->n_samples);
    proof_free_arrays(p->ctx, f->outputs, f->n_out * p->n_samples);
    f->inputs = f->outputs = NULL;
}

static xir_status first_make(xir_proof *p, first_run *f) {
    f->inputs = proof_new_arrays(p->ctx, f->n_in * p->n_samples);
    f->outputs = proof_new_arrays(p->ctx, f->n_out * p->n_samples);
    xir_diags_free(p->obstacle);
    p->obstacle = xir_diags_new(p->ctx);
    return f->inputs && f->outputs && p->obstacle ? XIR_OK : XIR_E_MEMORY;
}

xir_status proof_check_first(xir_proof *p, const xir_network *net, const xir_network *like, xir_diags *why) {
    xir_status status = count_samples(p, why);
    if (status) return status;
    make_reuses(p);
    first_run f = { .net = net, .like = like, .n_in = xir_network_inputs(net, NULL, 0),
                    .n_out = xir_network_outputs(net, NULL, 0) };
    for (unsigned attempt = 0; attempt < OPEN_DIMS_ATTEMPTS; attempt++) {
        status = first_make(p, &f);
        if (status) {
            first_free(p, &f);
            return diag_memory(why);
        }
        status = run_first(p, &f, attempt, p->obstacle);
        if (!status && !proof_note_borders(p, net, f.n_in, f.n_out)) status = diag_memory(p->obstacle);
        if (!status || is_fatal(status) || !f.again) break;
        first_free(p, &f);
    }
    proof_settle(p, !status);
    if (!status) {
        p->inputs = f.inputs;
        p->n_inputs = f.n_in;
        p->outputs = f.outputs;
        p->n_outputs = f.n_out;
        p->state.networks += !p->state.networks;
        p->state.dims = f.taken.list;
        p->state.n_dims = f.taken.n;
        return XIR_OK;
    }
    first_free(p, &f);
    if (!is_fatal(status)) return XIR_OK;
    const xir_diag *d = xir_diags_at(p->obstacle, 0);
    return d && why ? xir_diags_append(why, d) : status;
}

xir_status proof_follow_dims(xir_proof *p, const xir_network *net, xir_diags *why) {
    const size_t n = xir_network_inputs(net, NULL, 0);
    if (n != p->n_inputs || !p->last) return XIR_OK;
    const xir_array **given = list_given(p, net, n);
    if (!given) return diag_memory(why);
    const bool fit = open_dims_fit(p->last, net, given, (const xir_array *const *)p->inputs);
    free_given(p, given, n);
    if (fit) return XIR_OK;
    first_run old = { .inputs = p->inputs, .outputs = p->outputs, .n_in = p->n_inputs, .n_out = p->n_outputs };
    p->inputs = p->outputs = NULL;
    xir_status status = proof_check_first(p, p->last, net, why);
    if (status || !p->inputs) {   /* an obstacle: the run of `net` on the old inputs names it */
        p->inputs = old.inputs;
        p->outputs = old.outputs;
        return status;
    }
    first_free(p, &old);
    return XIR_OK;
}
