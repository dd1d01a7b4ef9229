/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Proof by example. The first network that can be run fixes the inputs and the expected outputs. Every later network
 * is run on the same inputs, and its outputs are compared with the expected ones. If it has ops of a foreign format,
 * a copy is run in which they are XIR's again. Only if outputs differ are all values of the last two networks computed,
 * to find the first value that differs. */
#include <time.h>
#include <xir/symbols.h>
#include "manager/manager.h"
#include "proof.h"
#include "sized.h"

enum { USUAL_KEPT = 512 << 20 };   /* bytes of values of one network */

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
                      .relative = close ? o->relative : 1e-4, .max_work = o->max_work,
                      .max_memory = o->max_memory, .cancel = o->cancel, .user = o->user,
                      .max_kept = o->max_kept ? o->max_kept : USUAL_KEPT, .threads = o->threads };
    if (o->max_memory && p->max_kept > o->max_memory / 4) p->max_kept = o->max_memory / 4;
    arena_init(&p->arena, &ctx->alloc);
    context_retain(ctx);
    if (keep_given(p, o, why)) return p;
    xir_proof_free(p);
    return NULL;
}

void proof_free_arrays(xir_context *ctx, xir_array **arrays, size_t n) {
    for (size_t i = 0; arrays && i < n; i++) xir_array_free(arrays[i]);
    mem_free(&ctx->alloc, (void *)arrays, (n + 1) * sizeof *arrays);
}

xir_array **proof_new_arrays(xir_context *ctx, size_t n) {
    xir_array **arrays = mem_new(&ctx->alloc, (n + 1) * sizeof *arrays);
    if (arrays) memset((void *)arrays, 0, (n + 1) * sizeof *arrays);
    return arrays;
}

void xir_proof_free(xir_proof *p) {
    if (!p) return;
    xir_context *ctx = p->ctx;
    for (size_t i = 0; i < p->n_given; i++) xir_array_free((xir_array *)(uintptr_t)p->given[i].array);
    proof_free_arrays(ctx, p->inputs, p->n_inputs * p->n_samples);
    proof_free_arrays(ctx, p->outputs, p->n_outputs * p->n_samples);
    proof_free_reuses(p);
    xir_network_free(p->last);
    xir_network_free(p->seen);
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

/* Returns true if the dims of an array stay when its axis 1 is moved to the end: they do not say whether it was. */
static bool is_square(const xir_array *array) {
    const xir_type *type = xir_array_type(array);
    bool same = true;
    for (int64_t i = 2; same && i < (int64_t)xir_type_rank(type); i++)
        same = xir_type_dim(type, i, false) == xir_type_dim(type, 1, false);
    return same;
}

/* Returns true if a value accepts the array after its axis 1 is moved to the end. */
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

/* Reorders the arrays of all samples where a value has changed its order; `flags` belongs to these values. Of outputs
 * there are also the arrays that were computed `now`: where dims do not say whether axis 1 was moved, these do, because
 * letters alone may be those of a Transpose that the model has. */
static xir_status follow(xir_proof *p, xir_value *const *values, size_t n, xir_array **arrays, bool *flags,
                         xir_array *const *now, xir_diags *why) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        xir_difference d;
        if (flags[i] || !values[i] || !fits_moved(xir_value_type(values[i]), arrays[i])) continue;
        if (now && is_square(arrays[i]) &&
            (xir_array_compare(now[i], arrays[i], p->absolute, p->relative, &d) || !d.count)) continue;
        for (size_t k = 0; k < p->n_samples && !status; k++) status = move_channels(p->ctx, &arrays[k * n + i], why);
        flags[i] = true;
    }
    return status;
}

static xir_status follow_inputs(xir_proof *p, const xir_network *net, xir_diags *why) {
    size_t n = xir_network_inputs(net, NULL, 0), room = (n + 1) * sizeof(xir_value *);
    if (n != p->n_inputs) return XIR_OK;   /* running the network reports it */
    xir_value **values = mem_new(&p->ctx->alloc, room);
    if (!values) return diag_memory(why);
    xir_network_inputs(net, values, n);
    xir_status status = follow(p, values, n, p->inputs, p->channels_last, NULL, why);
    mem_free(&p->ctx->alloc, (void *)values, room);
    return status;
}

bool proof_note_borders(xir_proof *p, const xir_network *net, size_t n_in, size_t n_out) {
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
    proof_describe_difference("the network computes something else: output", name, (int64_t)i, now, &d, why);
    return XIR_E_INVALID;
}

/* Describes the first sample that differs. */
static xir_status compare_outputs(xir_proof *p, const xir_network *net, xir_array *const *outputs, xir_diags *why) {
    const size_t n = p->n_outputs;
    xir_value **values = mem_new(&p->ctx->alloc, (n + 1) * sizeof *values);
    if (!values) return diag_memory(why);
    xir_network_outputs(net, values, n);
    xir_status first = follow(p, values, n, p->outputs, p->channels_last + p->n_inputs, outputs, why);
    for (size_t k = 0; k < p->n_samples && !first; k++) {
        for (size_t i = 0; i < n; i++) {
            xir_status status = compare_output(p, values[i], i, p->outputs[k * n + i], outputs[k * n + i], why);
            if (!first) first = status;
        }
        if (first == XIR_E_INVALID) proof_report_first(p, net, k, outputs, why);
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
    xir_status status = proof_follow_dims(p, net, why);
    if (!status) status = follow_inputs(p, net, why);
    if (status) return status;
    xir_array **outputs = proof_new_arrays(p->ctx, n * p->n_samples);
    if (!outputs) return diag_memory(why);
    status = proof_run_samples(p, net, p->inputs, p->n_inputs, outputs, n, why);
    if (!status) {
        p->state.networks++;
        status = compare_outputs(p, net, outputs, why);
    }
    proof_settle(p, !status);
    proof_free_arrays(p->ctx, outputs, n * p->n_samples);
    return status;
}

/* Makes a copy of the network, and another one without foreign ops, as far as the pass to-xir converts them: the same
 * if there are none. Both are for the caller to free. */
static xir_status copy_in_own_ops(const xir_network *net, xir_network **copy, xir_network **own, xir_diags *why) {
    const xir_op *op = xir_network_first(net);
    while (op && !xir_class_is_opaque(xir_op_class(op))) op = xir_op_next(op);
    *copy = xir_network_clone(net);
    if (!*copy) return diag_memory(why);
    if (!op || !xir_pass_find(net->ctx, XIR_STR("to-xir"))) {
        network_retain(*copy);
        *own = *copy;
        return XIR_OK;
    }
    *own = xir_network_clone(net);
    return *own ? pass_run_alone(*own, "to-xir", why) : diag_memory(why);
}

/* The first network is one that needs no conversion: ONNX's own tests prove that. */
static xir_status copy_as_it_is(const xir_network *net, xir_network **copy, xir_network **own, xir_diags *why) {
    *copy = xir_network_clone(net);
    if (!*copy) return diag_memory(why);
    network_retain(*copy);
    *own = *copy;
    return XIR_OK;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static xir_status check(xir_proof *p, const xir_network *net, xir_diags *why) {
    xir_network *copy = NULL, *own = NULL;
    xir_status status;
    if (p->state.networks) {
        status = copy_in_own_ops(net, &copy, &own, why);
        if (!status) status = check_later(p, own, why);
    } else {
        status = copy_as_it_is(net, &copy, &own, why);
        if (!status) status = proof_check_first(p, own, own, why);
    }
    p->started = true;
    if (status) {
        xir_network_free(own);
        xir_network_free(copy);
        return status;
    }
    xir_network_free(p->last);
    xir_network_free(p->seen);
    p->last = own;
    p->seen = copy;
    return XIR_OK;
}

xir_status xir_proof_check(xir_proof *p, const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    const uint64_t begun = now();
    xir_status status = check(p, net, why);
    p->state.ns += now() - begun;
    return status;
}

/* ---- as a watch ------------------------------------------------------------------------------------------------- */

static xir_status watch_before(void *user, const xir_pass_event *event) {
    xir_proof *p = user;
    return p->started ? XIR_OK : xir_proof_check(p, event->net, event->why);
}

/* The number that a pass reports does not count: the network is compared with the one that was checked. */
static bool is_unchanged(xir_proof *p, const xir_network *net) {
    const uint64_t begun = now();
    const bool same = p->seen && xir_network_equal(p->seen, net, true);
    p->state.ns += now() - begun;
    return same;
}

static xir_status watch_after(void *user, const xir_pass_event *event) {
    if (is_unchanged(user, event->net)) return XIR_OK;
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
