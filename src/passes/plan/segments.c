#include "segments.h"
#include <inttypes.h>
#include <stdio.h>
#include "tags.h"

#define NOWHERE UINT64_MAX

typedef struct planner {
    xir_pass           *at;
    xir_diags          *said;           /* by the planner                                   */
    const plan_options *how;
    parts               parts;
    const xir_liveness *lives;
    xir_value         **params;         /* of the network                                   */
    uint64_t           *params_at;      /* by Params: the address, or NOWHERE               */
    size_t              n_params;
    pointer_table       viewed;         /* Params, and views of them, whose views are read  */
    range               theirs;         /* the Params that the compiler has placed          */
    range               of[SEGMENTS];
} planner;

static bool takes(void *user, const xir_value *v) { return parts_takes(&((const planner *)user)->parts, v); }

/* ---- places ------------------------------------------------------------------------------------------------------ */

static xir_status fail_far(const planner *p) {
    return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "an address would exceed 2^63 - 1");
}

/* The next multiple of an alignment; false beyond 2^63 - 1. */
static bool round_up(uint64_t *at, uint64_t align) {
    if (*at > INT64_MAX - (align - 1)) return false;
    *at = (*at + align - 1) & ~(align - 1);
    return true;
}

/* Reserves bytes at the end of a segment. */
static bool append(planner *p, segment s, uint64_t bytes, uint64_t align, uint64_t *address) {
    if (!round_up(&p->of[s].to, align) || bytes > INT64_MAX - p->of[s].to) return false;
    *address = p->of[s].to;
    p->of[s].to += bytes;
    return true;
}

/* The Params, or the view of them, that an op makes a view of. */
static const xir_value *viewed_by(const xir_op *op) {
    return op_inputs(op)[__builtin_ctzll(op->cls->more->shares.inputs)].value;
}

static bool is_view_of_params(const planner *p, const xir_value *v) {
    xir_life life = XIR_INIT(xir_life);
    return xir_liveness_of(p->lives, v, &life) && life.of_params;
}

/* Finds what planned ops read through views of Params: from the last op to the first, whatever a view is of that is
 * itself read, or viewed. */
static bool find_viewed(planner *p) {
    for (const xir_op *op = p->at->net->last; op; op = op->prev) {
        const xir_value *v = op->n_outputs ? &op_outputs(op)[0] : NULL;
        if (!v || !is_view_of_params(p, v)) continue;
        if (!parts_takes(&p->parts, v) && !pointer_table_find(&p->viewed, v)) continue;
        if (!pointer_table_add(&p->viewed, viewed_by(op), 0)) return false;
    }
    return true;
}

static bool is_planned(const planner *p, const xir_value *v) {
    if (pointer_table_find(&p->viewed, v)) return true;
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (parts_plans(&p->parts, u->user)) return true;
    }
    return false;
}

/* Finds addresses for the Params of planned ops, in the order of the network. */
static xir_status place_params(planner *p) {
    for (size_t i = 0; i < p->n_params; i++) {
        uint64_t bytes;
        if (!is_planned(p, p->params[i])) continue;
        if (xir_type_bytes(xir_value_type(p->params[i]), &bytes)) {
            const xir_str name = xir_value_name(p->params[i]);
            return xir_pass_fail(p->at, XIR_E_BOUNDS, NULL, "the bytes of Params '%.*s' are unknown", CLIP(name));
        }
        if (!append(p, SEGMENT_PARAMS, bytes, p->how->params_align, &p->params_at[i])) return fail_far(p);
    }
    return XIR_OK;
}

static xir_status place_apart(planner *p, segment s) {
    for (size_t i = 0; i < p->parts.n; i++) {
        part *its = &p->parts.all[i];
        if (its->its == s && !append(p, s, its->bytes, p->how->align, &its->address)) return fail_far(p);
    }
    return XIR_OK;
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static bool is_map(void *user, const xir_value *v) {
    const part *its = parts_find(&((const planner *)user)->parts, v);
    return its && its->its == SEGMENT_MAPS;
}

static xir_memory_buffers *buffers_of(const planner *p, bool (*which)(void *user, const xir_value *v)) {
    const xir_memory_buffers_options with =
        XIR_INIT(xir_memory_buffers_options, .align = p->how->align, .upper = p->how->upper, .takes = which,
                 .user = (void *)(uintptr_t)p);
    return xir_memory_buffers_new(p->lives, &with, p->said);
}

/* The status of what failed is in its finding. */
static xir_status status_of(const xir_diags *said) { return xir_diags_at(said, 0)->code; }

/* Whether a path names a buffer, "/17". */
static bool is_buffer(xir_str path, size_t *number) {
    *number = 0;
    for (size_t i = 1; i < path.size; i++) {
        if (path.data[i] < '0' || path.data[i] > '9' || *number > UINT32_MAX) return false;
        *number = *number * 10 + (size_t)(path.data[i] - '0');
    }
    return path.size > 1;
}

/* The finding that the maps exceed the limit, where they do not begin at 0: it has the limit that the user gave, not
 * the bytes that are left. */
static xir_status fail_limit(const planner *p, const xir_memory_buffers *maps) {
    const uint64_t from = p->of[SEGMENT_MAPS].from, limit = p->how->limit;
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    xir_memory_plan *any = xir_memory_buffers_plan(
        maps, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP), NULL);
    const xir_status status = any ? xir_memory_plan_peak(any, &peak, NULL) : XIR_E_LIMIT;
    xir_memory_plan_free(any);
    if (!status && peak.bound <= limit - from) {
        return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the maps begin at %" PRIu64 ", and no plan of them was found "
                             "that ends at the limit %" PRIu64, from, limit);
    }
    return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the maps begin at %" PRIu64 " and need at least %" PRIu64
                         " bytes, the limit is %" PRIu64, from, peak.bound, limit);
}

/* Passes on why there is no plan of the maps, with the values' places instead of those of the buffers. */
static xir_status fail_maps(const planner *p, const xir_memory_buffers *maps) {
    const xir_status status = status_of(p->said);
    const xir_diag *said;
    for (size_t i = 0, number; (said = xir_diags_at(p->said, i)) != NULL; i++) {
        xir_diag it = *said;
        char path[64];
        if (status == XIR_E_LIMIT && !i && p->how->limit && p->of[SEGMENT_MAPS].from) {
            fail_limit(p, maps);
            continue;
        }
        if (is_buffer(it.path, &number) && number < xir_memory_buffers_count(maps)) {
            const xir_value *v = xir_memory_buffers_value(maps, number);
            const xir_op *op = value_op(v);
            snprintf(path, sizeof path, "/ops/%" PRId64 "/outputs/%zu", xir_network_index_of(p->at->net, op),
                     (size_t)(v - op_outputs(op)));
            it.path = xir_str_of(path);
        }
        xir_diags_append(p->at->why, &it);
    }
    diags_append_more(p->at->why, p->said);
    xir_diags_clear(p->said);
    return status;
}

/* Plans the maps, which share bytes, from the beginning of their segment on. */
static xir_status plan_maps(planner *p, const xir_memory_buffers *maps) {
    range *its = &p->of[SEGMENT_MAPS];
    const uint64_t limit = p->how->limit;
    if (limit && limit < its->from) {
        return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the other segments end at %" PRIu64 ", the limit is %" PRIu64,
                             its->from, limit);
    }
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    const xir_memory_options options =
        XIR_INIT(xir_memory_options, .effort = p->how->effort, .limit = limit ? limit - its->from : 0);
    xir_memory_plan *plan = xir_memory_buffers_plan(maps, &options, p->said);
    if (!plan) return fail_maps(p, maps);
    xir_status status = xir_memory_plan_peak(plan, &peak, p->said);
    if (!status && peak.bytes > INT64_MAX - its->from) status = fail_far(p);
    for (size_t i = 0; i < xir_memory_buffers_count(maps) && !status; i++) {
        part *of = parts_find(&p->parts, xir_memory_buffers_value(maps, i));
        of->address = its->from + xir_memory_plan_offsets(plan)[i];
    }
    its->to = its->from + peak.bytes;
    xir_memory_plan_free(plan);
    return status;
}

static xir_status place_maps(planner *p) {
    if (!p->how->reuse) return place_apart(p, SEGMENT_MAPS);
    xir_memory_buffers *maps = buffers_of(p, is_map);
    xir_status status = !maps ? status_of(p->said) : xir_memory_buffers_count(maps) ? plan_maps(p, maps) : XIR_OK;
    xir_memory_buffers_free(maps);
    return status;
}

/* ---- all segments ------------------------------------------------------------------------------------------------ */

/* Begins a segment after the one before. */
static bool begin(planner *p, segment s) {
    range *its = &p->of[s];
    its->from = s ? p->of[s - 1].to : p->how->base;
    if (!s && p->how->etm && its->from < p->theirs.to) its->from = p->theirs.to;
    if (!round_up(&its->from, p->how->align)) return false;
    its->to = its->from;
    return true;
}

/* Where the compiler has placed its instructions, nothing else may be. */
static xir_status check_instructions(const planner *p) {
    const range its = tags_instructions(p->at->net), all = { p->of[SEGMENT_PARAMS].from, p->of[SEGMENT_MAPS].to };
    if (!p->how->etm || its.from == its.to || all.to <= its.from || its.to <= all.from) return XIR_OK;
    return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the segments, %" PRIu64 " to %" PRIu64 ", would lie over the "
                         "instructions of the compiler, %" PRIu64 " to %" PRIu64, all.from, all.to, its.from, its.to);
}

static xir_status place_all(planner *p) {
    xir_status status = XIR_OK;
    for (segment s = SEGMENT_PARAMS; s < SEGMENTS && !status; s++) {
        if (!begin(p, s)) return fail_far(p);
        status = s == SEGMENT_PARAMS ? (p->how->etm ? place_params(p) : XIR_OK)
               : s == SEGMENT_MAPS   ? place_maps(p)
                                     : place_apart(p, s);
    }
    if (!status && p->how->limit && p->of[SEGMENT_MAPS].to > p->how->limit) {
        return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the plan ends at %" PRIu64 ", the limit is %" PRIu64,
                             p->of[SEGMENT_MAPS].to, p->how->limit);
    }
    return status ? status : check_instructions(p);
}

/* ---- setting ----------------------------------------------------------------------------------------------------- */

static xir_status set_params(const planner *p) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < p->n_params && !status; i++) {
        const bool placed = p->params_at[i] != NOWHERE;
        status = plan_place(p->at, p->params[i], placed ? XIR_MTYPE_EXTERNAL : XIR_MTYPE_HOST, p->params_at[i]);
    }
    return status;
}

/* A view of Params is where those are. */
static xir_status set_like_params(const planner *p, const xir_op *op, xir_value *v) {
    const xir_mtype *mtype = xir_value_mtype(viewed_by(op));
    return plan_place(p->at, v, xir_mtype_kind_of(mtype), xir_mtype_addr(mtype));
}

/* A value that is not planned is on the host: an earlier plan may have placed it. */
static xir_status set_value(const planner *p, const xir_op *op, xir_value *v) {
    const part *its = parts_find(&p->parts, v);
    if (its) return plan_place(p->at, v, p->how->etm ? XIR_MTYPE_EXTERNAL : XIR_MTYPE_CHUNK, its->address);
    if (is_view_of_params(p, v)) return set_like_params(p, op, v);
    return plan_place(p->at, v, XIR_MTYPE_HOST, 0);
}

static xir_status set_tags(const planner *p) {
    range all = p->of[SEGMENT_PARAMS];
    const bool own = all.to > all.from, foreign = p->theirs.to > p->theirs.from;
    if (foreign) all = (range){ p->theirs.from, own ? all.to : p->theirs.to };
    xir_status status = tags_set(p->at, SEGMENT_PARAMS, own || foreign ? &all : NULL);
    for (segment s = SEGMENT_INPUT; s < SEGMENTS && !status; s++) status = tags_set(p->at, s, &p->of[s]);
    return status;
}

/* Which Params are the compiler's is seen from the tags and the addresses of Params: where memory runs out in between,
 * Params have addresses without tags, never tags without addresses. */
static xir_status set_all(const planner *p) {
    xir_status status = p->how->etm ? XIR_OK : tags_clear(p->at);
    if (!status) status = set_params(p);
    if (!status && p->how->etm) status = set_tags(p);
    for (xir_op *op = p->at->net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = set_value(p, op, &op_outputs(op)[i]);
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static xir_status plan_with_params(planner *p) {
    xir_network *net = p->at->net;
    const size_t n = (p->n_params = xir_network_params(net, NULL, 0)) + 1;
    p->params = mem_new(&net->alloc, n * sizeof *p->params);
    p->params_at = mem_new(&net->alloc, n * sizeof *p->params_at);
    xir_status status = p->params && p->params_at ? XIR_OK : pass_no_memory(p->at);
    pointer_table_init(&p->viewed, &net->alloc);
    if (!status) {
        xir_network_params(net, p->params, p->n_params);
        for (size_t i = 0; i < p->n_params; i++) p->params_at[i] = NOWHERE;
        p->theirs = tags_foreign_params(net);
        status = !p->how->etm || find_viewed(p) ? place_all(p) : pass_no_memory(p->at);
    }
    if (!status) status = set_all(p);
    pointer_table_free(&p->viewed);
    mem_free(&net->alloc, (void *)p->params, n * sizeof *p->params);
    mem_free(&net->alloc, p->params_at, n * sizeof *p->params_at);
    return status;
}

static xir_liveness *lives_of(const planner *p, bool in_place) {
    return xir_liveness_new(p->at->net, &XIR_INIT(xir_liveness_options, .views = true, .in_place = in_place), p->said);
}

static xir_status plan_parts(planner *p) {
    xir_liveness *lives = lives_of(p, p->how->in_place), *views = NULL;
    xir_memory_buffers *sets = NULL;
    xir_status status = XIR_OK;
    p->lives = lives;
    if (lives) sets = buffers_of(p, takes);
    if (sets && p->how->etm && p->how->in_place) views = lives_of(p, false);
    if (!sets || (p->how->etm && p->how->in_place && !views)) status = status_of(p->said);
    p->parts.sets = sets;
    if (!status) {
        status = parts_make(&p->parts, views ? views : lives) ? plan_with_params(p) : pass_no_memory(p->at);
        parts_close(&p->parts);
    }
    xir_memory_buffers_free(sets);
    xir_liveness_free(views);
    xir_liveness_free(lives);
    return status;
}

xir_status segments_plan(xir_pass *at, const plan_options *how) {
    planner p = { .at = at, .how = how, .parts = { .net = at->net, .etm = how->etm } };
    for (const xir_op *op = at->net->first; op && !p.parts.accelerated; op = op->next)
        p.parts.accelerated = parts_is_accelerated(op);
    p.said = xir_diags_new(at->net->ctx);
    if (!p.said) return pass_no_memory(at);
    const xir_status status = plan_parts(&p);
    diags_append(at->why, p.said);
    xir_diags_free(p.said);
    return status;
}
