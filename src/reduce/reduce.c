/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The search: which networks are tried in which order, and what becomes of the answers. */
#include "reduction.h"
#include "sized.h"

/* ---- asking ------------------------------------------------------------------------------------------------------ */

bool reduce_ends(const reducing *r) { return r->status || r->stopped; }

bool reduce_fails(reducing *r, xir_status status) {
    if (status == XIR_E_MEMORY) r->status = status;
    return status == XIR_E_MEMORY;
}

static size_t runs_left(const reducing *r) {
    return r->how.max_runs ? r->how.max_runs - r->runs : SIZE_MAX;
}

/* Makes a network the best one, and frees the one before. */
static void keep(reducing *r, xir_network *net) {
    xir_network_free(r->best);
    r->best = net;
    r->kept++;
    if (r->how.better && !r->how.better(r->how.user, net)) r->stopped = true;
}

/* The number of the first interesting network of the batch; `n`: none. */
static size_t ask(reducing *r, size_t n) {
    for (size_t k = 0; k < n; k++) r->answers[k] = XIR_REDUCE_UNKNOWN;
    r->how.ask(r->how.user, r->batch, n, r->answers);
    size_t k = 0;
    while (k < n && r->answers[k] != XIR_REDUCE_YES && r->answers[k] != XIR_REDUCE_STOP) k++;
    if (k < n && r->answers[k] == XIR_REDUCE_STOP) {
        r->stopped = true;
        return n;
    }
    r->runs += k < n ? k + 1 : n;
    return k;
}

/* Makes networks from index `from` on, as many as are asked about at once. Returns the index after the last one. */
static size_t fill(reducing *r, size_t from, size_t to, reduce_maker *make, const void *arg, size_t *n) {
    const size_t left = runs_left(r), most = left < r->jobs ? left : r->jobs;
    for (*n = 0; from < to && *n < most && !r->status; from++) {
        xir_network *net = make(r, from, arg);
        if (!net) continue;
        r->batch[*n] = net;
        r->places[(*n)++] = from;
    }
    return from;
}

size_t reduce_first(reducing *r, size_t from, size_t to, reduce_maker *make, const void *arg) {
    while (from < to && !reduce_ends(r)) {
        size_t n, found = 0;
        if (!runs_left(r)) {
            r->stopped = true;
            return to;
        }
        from = fill(r, from, to, make, arg, &n);
        if (!r->status && n) found = ask(r, n);
        const bool any = !r->status && found < n;
        for (size_t k = 0; k < n; k++)
            if (!any || k != found) xir_network_free(r->batch[k]);
        if (!any) continue;
        const size_t place = r->places[found];
        keep(r, r->batch[found]);
        return place;
    }
    return to;
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static size_t count_errors(reducing *r, const xir_network *net) {
    xir_diags *found = xir_diags_new(xir_network_context(net));
    if (!found) {
        r->status = XIR_E_MEMORY;
        return 0;
    }
    if (xir_network_validate(net, found) == XIR_E_MEMORY) r->status = XIR_E_MEMORY;
    const size_t n = xir_diags_count_of(found, XIR_ERROR);
    xir_diags_free(found);
    return n;
}

xir_network *reduce_clone(reducing *r) {
    xir_network *net = xir_network_clone(r->best);
    if (!net) r->status = XIR_E_MEMORY;
    return net;
}

xir_network *reduce_settle(reducing *r, xir_network *net, xir_status edited) {
    if (!net) return NULL;
    xir_status status = edited;
    if (!status && !r->is_dialect) status = xir_network_infer(net, NULL);
    reduce_fails(r, status);
    if (!status && count_errors(r, net) <= r->errors && !r->status) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- the order of the steps -------------------------------------------------------------------------------------- */

/* Removing ops may let dims shrink, and the other way round; each round ends with fewer ops, elements or settings. */
static void reduce_all(reducing *r) {
    (void)reduce_cut_ends(r);
    for (bool helped = true; helped && !reduce_ends(r);) {
        helped = reduce_remove_ops(r);
        helped = reduce_outputs(r) || helped;
        if (r->how.parts) continue;
        helped = reduce_dims(r) || helped;
        helped = reduce_attributes(r) || helped;
        helped = reduce_params(r) || helped;
    }
    if (!r->how.parts) (void)reduce_notes(r);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

#define OPTIONS SIZED(xir_reduce_options, parts)
#define STATE   SIZED(xir_reduce_state, stopped)

static xir_status refuse(xir_diags *why, xir_status status, const char *sentence) {
    return xir_diags_add(why, XIR_ERROR, status, XIR_STR(""), "%s", sentence);
}

static xir_status take_options(xir_reduce_options *how, const xir_reduce_options *given, xir_diags *why) {
    if (!given) return refuse(why, XIR_E_MISSING, "expected options, found NULL");
    const xir_status status = sized_take(OPTIONS, how, given, why);
    if (status) return status;
    return how->ask ? XIR_OK : refuse(why, XIR_E_MISSING, "expected a function that answers, found NULL");
}

static xir_status open(reducing *r, const xir_network *net, xir_diags *why) {
    r->jobs = r->how.jobs ? r->how.jobs : 1;
    r->alloc = xir_context_allocator(xir_network_context(net));
    r->is_dialect = xir_network_is_dialect(net);
    r->batch = reduce_new(r, r->jobs, sizeof *r->batch);
    r->places = reduce_new(r, r->jobs, sizeof *r->places);
    r->answers = reduce_new(r, r->jobs, sizeof *r->answers);
    if (!r->status) r->best = xir_network_clone(net);
    if (r->best && r->is_dialect) reduce_fails(r, reduce_find_types(r->best));
    if (r->best) r->errors = count_errors(r, r->best);
    if (!r->best || r->status) return no_memory(why);
    return xir_network_op_count(net) ? XIR_OK : refuse(why, XIR_E_INVALID, "the network has no ops");
}

/* The first network must be interesting. */
static xir_status ask_first(reducing *r, xir_diags *why) {
    r->batch[0] = r->best;
    if (ask(r, 1) == 0) return XIR_OK;
    return r->stopped ? refuse(why, XIR_E_CANCELLED, "the reduction was stopped before it began")
                      : refuse(why, XIR_E_INVALID, "the network itself does not show the fault");
}

static xir_status give_state(const reducing *r, xir_reduce_state *out, xir_diags *why) {
    const xir_reduce_state state = { 0, r->runs, r->kept, r->stopped };
    return out ? sized_fill(STATE, out, &state, why) : XIR_OK;
}

xir_network *xir_reduce(const xir_network *net, const xir_reduce_options *options, xir_reduce_state *state,
                        xir_diags *why) {
    reducing r = { 0 };
    if (!net) {
        refuse(why, XIR_E_MISSING, "expected a network, found NULL");
        return NULL;
    }
    if (take_options(&r.how, options, why) || give_state(&r, state, why)) return NULL;
    xir_status status = open(&r, net, why);
    if (!status) status = ask_first(&r, why);
    if (!status) {
        reduce_all(&r);
        if (r.status) status = no_memory(why);
    }
    give_state(&r, state, NULL);
    reduce_drop(&r, (void *)r.batch, r.jobs, sizeof *r.batch);
    reduce_drop(&r, r.places, r.jobs, sizeof *r.places);
    reduce_drop(&r, r.answers, r.jobs, sizeof *r.answers);
    if (!status) return r.best;
    xir_network_free(r.best);
    return NULL;
}
