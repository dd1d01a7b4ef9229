/* Proof by example. The first network that can be run fixes the inputs and the expected outputs. Every later network
 * is run on the same inputs, and its outputs are compared with the expected ones. Only if they differ are all values
 * of the last two networks computed, to find the first value that differs. */
#include <xir/prove.h>
#include <xir/symbols.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "graph.h"
#include "open_dims.h"
#include "sized.h"

struct xir_proof {
    xir_context      *ctx;
    arena             arena;       /* names of the given inputs             */
    xir_proof_input  *given;
    size_t            n_given;
    uint64_t          seed;
    double            absolute, relative;
    bool              each;
    size_t            n_samples;
    /* of the first network that could be run, sample after sample */
    xir_array       **inputs;
    size_t            n_inputs;
    xir_array       **outputs;
    size_t            n_outputs;
    bool             *channels_last;   /* of each input, then of each output: the present order of the arrays */
    xir_network      *last;        /* the network that was checked before    */
    xir_diags        *obstacle;
    xir_proof_state   state;
    bool              started;
    uint64_t          max_work;
    bool            (*cancel)(void *user);
    void             *user;
};

/* ---- making, freeing -------------------------------------------------------------------------------------------- */

#define INPUT SIZED(xir_proof_input, array)

static bool keep_given(xir_proof *p, const xir_proof_options *o, xir_diags *why) {
    p->given = arena_take(&p->arena, o->n_inputs * sizeof *p->given);
    if (!p->given) return diag_memory(why), false;
    for (size_t i = 0; i < o->n_inputs; i++) {
        xir_proof_input input;
        if (sized_take_at(INPUT, &input, o->inputs, i, why) != XIR_OK) return false;
        const char *name = arena_copy(&p->arena, input.name, strlen(input.name) + 1);
        if (!name) return diag_memory(why), false;
        p->given[p->n_given++] = XIR_INIT(xir_proof_input, .name = name,
                                          .array = xir_array_retain((xir_array *)(uintptr_t)input.array));
    }
    return true;
}

xir_proof *xir_proof_new(xir_context *ctx, const xir_proof_options *options, xir_diags *why) {
    xir_proof_options known;
    const xir_proof_options *o = &known;
    if (sized_take(SIZED(xir_proof_options, relative), &known, options, why) != XIR_OK) return NULL;
    xir_proof *p = mem_new(&ctx->alloc, sizeof *p);
    if (!p) {
        diag_memory(why);
        return NULL;
    }
    bool close = o->absolute > 0 || o->relative > 0;
    *p = (xir_proof){ .ctx = ctx, .seed = o->seed, .each = o->each, .n_samples = 1, .absolute = close
                      ? o->absolute : 1e-4,
                      .relative = close ? o->relative : 1e-4, .max_work = o->max_work, .cancel = o->cancel,
                      .user = o->user };
    arena_init(&p->arena, &ctx->alloc);
    context_retain(ctx);
    if (keep_given(p, o, why)) return p;
    xir_proof_free(p);
    return NULL;
}

static void free_arrays(xir_context *ctx, xir_array **arrays, size_t n) {
    for (size_t i = 0; arrays && i < n; i++) xir_array_free(arrays[i]);
    mem_free(&ctx->alloc, (void *)arrays, (n + 1) * sizeof *arrays);
}

/* An array of `n` arrays, all NULL. */
static xir_array **new_arrays(xir_context *ctx, size_t n) {
    xir_array **arrays = mem_new(&ctx->alloc, (n + 1) * sizeof *arrays);
    if (arrays) memset((void *)arrays, 0, (n + 1) * sizeof *arrays);
    return arrays;
}

void xir_proof_free(xir_proof *p) {
    if (!p) return;
    xir_context *ctx = p->ctx;
    for (size_t i = 0; i < p->n_given; i++) xir_array_free((xir_array *)(uintptr_t)p->given[i].array);
    free_arrays(ctx, p->inputs, p->n_inputs * p->n_samples);
    free_arrays(ctx, p->outputs, p->n_outputs * p->n_samples);
    xir_network_free(p->last);
    xir_diags_free(p->obstacle);
    arena_free(&p->arena);
    mem_free(&ctx->alloc, p, sizeof *p);
    xir_context_free(ctx);
}

xir_status xir_proof_state_of(const xir_proof *p, xir_proof_state *out, xir_diags *why) {
    return sized_fill(SIZED(xir_proof_state, largest), out, &p->state, why);
}

const xir_diags *xir_proof_obstacle(const xir_proof *p) { return p->state.networks ? NULL : p->obstacle; }

/* ---- layouts of inputs and outputs ------------------------------------------------------------------------------ */

/* A pass may move the channels of a network's inputs and outputs last (layout{io=nhwc}): the arrays then follow. */

static bool has_channels_last(const xir_type *type) {
    const xir_layout *layout = xir_type_layout(type);
    size_t rank = xir_type_rank(type);
    return rank > 2 && layout && xir_layout_rank(layout) == rank && xir_layout_axis(layout, rank - 1) == 'C';
}

/* Whether a value accepts the array after its axis 1 is moved to the end. */
static bool fits_moved(const xir_type *type, const xir_array *array) {
    const xir_type *was = xir_array_type(array);
    int64_t rank = (int64_t)xir_type_rank(was);
    bool fits = has_channels_last(type) && (int64_t)xir_type_rank(type) == rank;
    for (int64_t i = 0; fits && i < rank; i++) {
        int64_t dim = xir_type_dim(type, i, false), from = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
        fits = dim < 0 || dim == xir_type_dim(was, from, false);
    }
    return fits;
}

static xir_status move_channels(xir_context *ctx, xir_array **array, xir_diags *why) {
    const xir_tensor_type *was = xir_type_as_tensor(xir_array_type(*array));
    size_t rank = was->shape.size, count = xir_array_count(*array), size;
    const char *from = xir_array_data(*array, &size);
    /* elements smaller than a byte are not moved; running the network then fails */
    if (count && size % count) return XIR_OK;
    int64_t *dims = mem_new(&ctx->alloc, rank * sizeof *dims);
    if (!dims) return diag_memory(why);
    memcpy(dims, was->shape.data, rank * sizeof *dims);
    memmove(dims + 1, dims + 2, (rank - 2) * sizeof *dims);
    dims[rank - 1] = was->shape.data[1];
    const xir_type *type = xir_type_tensor(ctx, was->element_dtype, NULL, dims, rank);
    size_t channels = (size_t)dims[rank - 1], outer = (size_t)dims[0], element = count ? size / count : 0;
    mem_free(&ctx->alloc, dims, rank * sizeof *dims);
    xir_array *moved = type ? xir_array_new(ctx, type, why) : NULL;
    if (!moved) return type ? XIR_E_MEMORY : diag_memory(why);
    char *to = xir_array_edit(moved);
    size_t inner = count ? count / channels / outer : 0;
    for (size_t n = 0; n < outer && inner; n++) {
        for (size_t k = 0; k < inner; k++) {
            for (size_t c = 0; c < channels; c++, to += element) {
                memcpy(to, from + ((n * channels + c) * inner + k) * element, element);
            }
        }
    }
    xir_array_free(*array);
    *array = moved;
    return XIR_OK;
}

/* Reorders the arrays of all samples where a value has changed its order; `flags` belongs to these values. */
static xir_status follow(xir_proof *p, xir_value *const *values, size_t n, xir_array **arrays, bool *flags,
                         xir_diags *why) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        if (flags[i] || !values[i] || !fits_moved(xir_value_type(values[i]), arrays[i])) continue;
        for (size_t k = 0; k < p->n_samples && !status; k++) status = move_channels(p->ctx, &arrays[k * n + i], why);
        flags[i] = true;
    }
    return status;
}

static xir_status follow_borders(xir_proof *p, const xir_network *net, xir_diags *why) {
    size_t n_in = xir_network_inputs(net, NULL, 0), n_out = p->n_outputs,
           room = (n_in + n_out + 1) * sizeof(xir_value *);
    if (n_in != p->n_inputs) return XIR_OK;   /* running the network reports it */
    xir_value **values = mem_new(&p->ctx->alloc, room);
    if (!values) return diag_memory(why);
    xir_network_inputs(net, values, n_in);
    xir_network_outputs(net, values + n_in, n_out);
    xir_status status = follow(p, values, n_in, p->inputs, p->channels_last, why);
    if (!status) status = follow(p, values + n_in, n_out, p->outputs, p->channels_last + n_in, why);
    mem_free(&p->ctx->alloc, (void *)values, room);
    return status;
}

/* Records the order of the inputs and outputs of the first network. */
static bool note_borders(xir_proof *p, const xir_network *net, size_t n_in, size_t n_out) {
    xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    p->channels_last = arena_take(&p->arena, (n_in + n_out) * sizeof *p->channels_last);
    if (!p->channels_last) return false;
    for (size_t i = 0; i < n_in; i++)
        p->channels_last[i] = has_channels_last(xir_value_type(xir_op_output(in, (int64_t)i)));
    for (size_t i = 0; i < n_out; i++) {
        const xir_value *v = xir_op_input(out, (int64_t)i);
        p->channels_last[n_in + i] = v && has_channels_last(xir_value_type(v));
    }
    return true;
}

/* ---- the first network ------------------------------------------------------------------------------------------ */

/* Whether an input is meant: by name or by position. */
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

/* Random numbers for an input, among those that it takes; an unknown dim becomes 1. */
static xir_array *random_for(const xir_proof *p, const xir_value *v, size_t i, const xir_numbers *takes,
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
    return xir_array_random_in(p->ctx, type, p->seed + i, takes, why);
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
static xir_array *sample_of(const xir_proof *p, const xir_array *array, size_t k, xir_diags *why) {
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
    return type ? xir_array_copy(p->ctx, type, data + k * size, size, why) : NULL;
}

/* Makes the inputs of all samples. A failure is an obstacle, not an error, unless memory ran out: every caller would
 * meet it. */
static xir_status make_inputs(const xir_proof *p, const xir_network *net, xir_value *const *values, size_t n,
                              xir_array **inputs, xir_diags *why) {
    xir_numbers *takes = mem_new(&p->ctx->alloc, (n + 1) * sizeof *takes);
    xir_status status = takes ? check_names(p, values, n, why) : diag_memory(why);
    for (size_t i = 0; takes && i < n; i++) takes[i] = xir_numbers_any();
    if (!status) status = xir_network_input_numbers(net, takes, n, why);
    for (size_t i = 0; !status && i < n * p->n_samples; i++) {
        const xir_array *given = given_for(p, values[i % n], i % n);
        const size_t findings = xir_diags_count(why), errors = xir_diags_count_of(why, XIR_ERROR);
        inputs[i] = given ? sample_of(p, given, i / n, why) : random_for(p, values[i % n], i, &takes[i % n], why);
        if (inputs[i]) continue;
        const xir_diag *d = xir_diags_at(why, findings);
        bool said = xir_diags_count_of(why, XIR_ERROR) > errors;
        status = !said || (d && d->code == XIR_E_MEMORY) ? XIR_E_MEMORY : XIR_E_TYPE;
    }
    mem_free(&p->ctx->alloc, takes, (n + 1) * sizeof *takes);
    return status;
}

/* Runs a network on every sample; the outputs are ordered like the proof's. */
static xir_status run_samples(const xir_proof *p, const xir_network *net, xir_array *const *inputs, size_t n_in,
                              xir_array **outputs, size_t n_out, xir_diags *why) {
    const xir_run_options options = XIR_INIT(xir_run_options, .user = p->user, .cancel = p->cancel,
                                             .max_work = p->max_work);
    xir_status status = XIR_OK;
    for (size_t k = 0; !status && k < p->n_samples; k++) {
        const xir_array *const *sample = (const xir_array *const *)inputs + k * n_in;
        status = xir_network_run(net, sample, n_in, outputs + k * n_out, n_out, &options, why);
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
} first_run;

/* One attempt. */
static xir_status run_first(xir_proof *p, first_run *f, unsigned attempt, xir_diags *why) {
    const xir_array **given = list_given(p, f->like, f->n_in);
    xir_value **values = mem_new(&p->ctx->alloc, (f->n_in + 1) * sizeof *values);
    xir_network *bound = NULL;
    xir_status status = given && values ? XIR_OK : diag_memory(why);
    const bool can_run = !xir_network_first_unrunnable(f->net);
    if (!status && can_run) status = open_dims_bind(f->like, given, p->each, attempt, &bound, why);
    f->again = can_run && (bound || status);
    if (!status) {
        const xir_network *like = bound ? bound : f->like;
        xir_network_inputs(like, values, f->n_in);
        status = make_inputs(p, like, values, f->n_in, f->inputs, why);
    }
    if (!status) status = run_samples(p, f->net, f->inputs, f->n_in, f->outputs, f->n_out, why);
    if (values) mem_free(&p->ctx->alloc, (void *)values, (f->n_in + 1) * sizeof *values);
    free_given(p, given, f->n_in);
    xir_network_free(bound);
    return status;
}

/* Whether a failure is one of the proof, not of the network. */
static bool is_fatal(xir_status status) {
    return status == XIR_E_UNKNOWN || status == XIR_E_MEMORY || status == XIR_E_CANCELLED;
}

static void first_free(const xir_proof *p, first_run *f) {
    free_arrays(p->ctx, f->inputs, f->n_in * p->n_samples);
    free_arrays(p->ctx, f->outputs, f->n_out * p->n_samples);
    f->inputs = f->outputs = NULL;
}

static xir_status first_make(xir_proof *p, first_run *f) {
    f->inputs = new_arrays(p->ctx, f->n_in * p->n_samples);
    f->outputs = new_arrays(p->ctx, f->n_out * p->n_samples);
    xir_diags_free(p->obstacle);
    p->obstacle = xir_diags_new(p->ctx);
    return f->inputs && f->outputs && p->obstacle ? XIR_OK : XIR_E_MEMORY;
}

/* Runs the first network on inputs of its own, which fit those of `like`. An obstacle is not a failure, except for
 * unknown names and memory. */
static xir_status check_first(xir_proof *p, const xir_network *net, const xir_network *like, xir_diags *why) {
    xir_status status = count_samples(p, why);
    if (status) return status;
    first_run f = { .net = net, .like = like, .n_in = xir_network_inputs(net, NULL, 0),
                    .n_out = xir_network_outputs(net, NULL, 0) };
    for (unsigned attempt = 0; attempt < OPEN_DIMS_ATTEMPTS; attempt++) {
        status = first_make(p, &f);
        if (status) {
            first_free(p, &f);
            return diag_memory(why);
        }
        status = run_first(p, &f, attempt, p->obstacle);
        if (!status && !note_borders(p, net, f.n_in, f.n_out)) status = diag_memory(p->obstacle);
        if (!status || is_fatal(status) || !f.again) break;
        first_free(p, &f);
    }
    if (!status) {
        p->inputs = f.inputs;
        p->n_inputs = f.n_in;
        p->outputs = f.outputs;
        p->n_outputs = f.n_out;
        p->state.networks += !p->state.networks;
        return XIR_OK;
    }
    first_free(p, &f);
    if (!is_fatal(status)) return XIR_OK;
    const xir_diag *d = xir_diags_at(p->obstacle, 0);
    return d && why ? xir_diags_append(why, d) : status;
}

/* If open dims have got numbers that the inputs do not have, the network before is run again on inputs that have them,
 * and its outputs are expected from now on. */
static xir_status follow_dims(xir_proof *p, const xir_network *net, xir_diags *why) {
    const size_t n = xir_network_inputs(net, NULL, 0);
    if (n != p->n_inputs || !p->last) return XIR_OK;
    const xir_array **given = list_given(p, net, n);
    if (!given) return diag_memory(why);
    const bool fit = open_dims_fit(p->last, net, given, (const xir_array *const *)p->inputs);
    free_given(p, given, n);
    if (fit) return XIR_OK;
    first_run old = { .inputs = p->inputs, .outputs = p->outputs, .n_in = p->n_inputs, .n_out = p->n_outputs };
    p->inputs = p->outputs = NULL;
    xir_status status = check_first(p, p->last, net, why);
    if (status || !p->inputs) {   /* an obstacle: the run of `net` on the old inputs names it */
        p->inputs = old.inputs;
        p->outputs = old.outputs;
        return status;
    }
    first_free(p, &old);
    return XIR_OK;
}

/* ---- the first value that differs ------------------------------------------------------------------------------- */

typedef struct seen_value {
    xir_str    name;
    int64_t    id;
    xir_array *array;
} seen_value;

/* All values of a run, recorded in order. */
typedef struct seen {
    const xir_proof *p;
    seen_value      *items;
    size_t           n, room;
    bool             failed;
} seen;

static bool remember(void *user, const xir_value *value, const xir_array *array) {
    seen *s = user;
    if (s->p->cancel && s->p->cancel(s->p->user)) return false;
    s->failed |= !mem_reserve(&s->p->ctx->alloc, (void **)&s->items, &s->room, s->n + 1, sizeof *s->items);
    if (s->failed) return false;
    xir_array *kept = xir_array_retain((xir_array *)(uintptr_t)array);
    s->items[s->n++] = (seen_value){ xir_value_name(value), xir_value_id(value), kept };
    return true;
}

/* Orders by name, and values without a name by id. */
static int by_name(const void *a, const void *b) {
    const seen_value *x = a, *y = b;
    int order = str_order(x->name, y->name);
    return order || x->name.size ? order : (x->id > y->id) - (x->id < y->id);
}

typedef struct search {
    const xir_proof *p;
    const seen      *was;
    xir_diags       *why;
    bool             found;
} search;

static void describe_difference(const char *what, xir_str name, int64_t id, const xir_array *now,
                                const xir_difference *d, xir_diags *why) {
    size_t count = xir_array_count(now);
    char called[120];
    if (name.size) snprintf(called, sizeof called, "'%.*s'", CLIP_TO(name, 80));
    else snprintf(called, sizeof called, "%" PRId64, id);
    diag_fail(why, XIR_E_INVALID, XIR_STR(""),
              "%s %s: %zu of %zu elements %s, the first is number %zu: it was %.9g and is %.9g now; the largest "
              "difference is %.3g", what, called, d->count, count, d->count == 1 ? "differs" : "differ", d->first,
              d->b, d->a, d->largest);
}

/* Whether the value differs from the earlier value of its name. A new value, or one with another shape, can't be
 * compared. */
static bool find_first(void *user, const xir_value *value, const xir_array *array) {
    search *s = user;
    const seen_value key = { xir_value_name(value), xir_value_id(value), NULL };
    const seen_value *was = s->was->n ? bsearch(&key, s->was->items, s->was->n, sizeof key, by_name) : NULL;
    xir_difference d;
    if (s->p->cancel && s->p->cancel(s->p->user)) return false;
    if (!was || xir_array_compare(array, was->array, s->p->absolute, s->p->relative, &d) != XIR_OK) return true;
    if (!d.same_shape || !d.count) return true;
    describe_difference("the first value that differs is", key.name, key.id, array, &d, s->why);
    s->found = true;
    return false;
}

/* Describes the first difference in one sample. The runs only improve a finding, so their failures are ignored. */
static void report_first(xir_proof *p, const xir_network *net, size_t sample, xir_diags *why) {
    seen was = { .p = p };
    search s = { p, &was, why, false };
    const xir_array *const *inputs = (const xir_array *const *)p->inputs + sample * p->n_inputs;
    xir_array **outputs = new_arrays(p->ctx, p->n_outputs);
    const xir_run_options remembering = XIR_INIT(xir_run_options, .watch = remember, .user = &was),
                          searching = XIR_INIT(xir_run_options, .watch = find_first, .user = &s);
    if (outputs && p->last &&
        xir_network_run(p->last, inputs, p->n_inputs, outputs, p->n_outputs, &remembering, NULL) == XIR_OK) {
        for (size_t i = 0; i < p->n_outputs; i++) {
            xir_array_free(outputs[i]);
            outputs[i] = NULL;
        }
        if (was.n) qsort(was.items, was.n, sizeof *was.items, by_name);
        (void)xir_network_run(net, inputs, p->n_inputs, outputs, p->n_outputs, &searching, NULL);
    }
    for (size_t i = 0; i < was.n; i++) xir_array_free(was.items[i].array);
    mem_free(&p->ctx->alloc, was.items, was.room * sizeof *was.items);
    free_arrays(p->ctx, outputs, p->n_outputs);
}

/* ---- later networks --------------------------------------------------------------------------------------------- */

static xir_status compare_output(xir_proof *p, const xir_value *value, size_t i, const xir_array *was,
                                 const xir_array *now, xir_diags *why) {
    xir_difference d;
    xir_str name = value ? xir_value_name(value) : (xir_str){ NULL, 0 };
    xir_status status = xir_array_compare(now, was, p->absolute, p->relative, &d);
    if (status) {
        return diag_fail(why, status, XIR_STR(""), "output %zu '%.*s' can't be compared (%s)", i, CLIP_TO(name, 80),
                         xir_status_name(status));
    }
    if (!d.same_shape) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "output %zu '%.*s' has another shape than before", i,
                         CLIP_TO(name, 80));
    }
    p->state.outputs++;
    if (d.largest > p->state.largest) p->state.largest = d.largest;
    if (!d.count) return XIR_OK;
    describe_difference("the network computes something else: output", name, (int64_t)i, now, &d, why);
    return XIR_E_INVALID;
}

/* Describes the first sample that differs. */
static xir_status compare_outputs(xir_proof *p, const xir_network *net, xir_array *const *outputs, xir_diags *why) {
    const size_t n = p->n_outputs;
    xir_value **values = mem_new(&p->ctx->alloc, (n + 1) * sizeof *values);
    if (!values) return diag_memory(why);
    xir_network_outputs(net, values, n);
    xir_status first = XIR_OK;
    for (size_t k = 0; k < p->n_samples && !first; k++) {
        for (size_t i = 0; i < n; i++) {
            xir_status status = compare_output(p, values[i], i, p->outputs[k * n + i], outputs[k * n + i], why);
            if (!first) first = status;
        }
        if (first == XIR_E_INVALID) report_first(p, net, k, why);
    }
    mem_free(&p->ctx->alloc, (void *)values, (n + 1) * sizeof *values);
    return first;
}

static xir_status check_later(xir_proof *p, const xir_network *net, xir_diags *why) {
    size_t n = xir_network_outputs(net, NULL, 0);
    if (n != p->n_outputs) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "expected %zu outputs, as before, found %zu",
                         p->n_outputs, n);
    }
    xir_status status = follow_dims(p, net, why);
    if (!status) status = follow_borders(p, net, why);
    if (status) return status;
    xir_array **outputs = new_arrays(p->ctx, n * p->n_samples);
    if (!outputs) return diag_memory(why);
    status = run_samples(p, net, p->inputs, p->n_inputs, outputs, n, why);
    if (!status) {
        p->state.networks++;
        status = compare_outputs(p, net, outputs, why);
    }
    free_arrays(p->ctx, outputs, n * p->n_samples);
    return status;
}

xir_status xir_proof_check(xir_proof *p, const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    xir_status status = p->state.networks ? check_later(p, net, why) : check_first(p, net, net, why);
    p->started = true;
    if (status || !p->state.networks) return status;
    xir_network *copy = xir_network_clone(net);
    if (!copy) return diag_memory(why);
    xir_network_free(p->last);
    p->last = copy;
    return XIR_OK;
}

/* ---- as a watch ------------------------------------------------------------------------------------------------- */

static xir_status watch_before(void *user, const xir_pass_event *event) {
    xir_proof *p = user;
    return p->started ? XIR_OK : xir_proof_check(p, event->net, event->why);
}

static xir_status watch_after(void *user, const xir_pass_event *event) {
    if (!event->changes) return XIR_OK;
    xir_diags *found = event->why ? xir_diags_new(((xir_proof *)user)->ctx) : NULL;
    if (event->why && !found) return diag_memory(event->why);
    xir_status status = xir_proof_check(user, event->net, found);
    if (status && status != XIR_E_MEMORY) {
        diag_fail(event->why, status, XIR_STR(""), "%s: the network is not proven to compute the same after this pass:",
                  event->pass->name);
    }
    diags_append(event->why, found);
    xir_diags_free(found);
    return status;
}

xir_status xir_proof_watch(xir_proof *p, xir_pass_watch *out, xir_diags *why) {
    const xir_pass_watch watch = XIR_INIT(xir_pass_watch, .before = watch_before, .after = watch_after, .user = p,
                                          .options = "--prove");
    return sized_fill(SIZED(xir_pass_watch, options), out, &watch, why);
}
