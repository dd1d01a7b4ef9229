/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "segments.h"
#include <inttypes.h>
#include <stdio.h>
#include <xir/ops.h>
#include "bodies.h"
#include "onchip.h"
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
    uint64_t            kept_to;        /* the greatest end of an address that is kept      */
    uint64_t            kept_on_chip;   /* the same on the chip                             */
    xir_memory_buffers *maps;           /* NULL: they share no bytes                        */
    uint64_t           *maps_at;        /* the address of each                              */
    range               of[SEGMENTS];
} planner;

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static bool is_kept(const planner *p, const xir_value *v) {
    return p->how->keep && xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_HOST;
}

static bool is_in_chunk(const xir_value *v) {
    return xir_mtype_kind_of(xir_value_mtype(v)) == XIR_MTYPE_CHUNK && !xir_mtype_addr(xir_value_mtype(v));
}

/* The value whose address a value has, and its place there, because that is kept; NULL if it is to be planned. In a
 * chunk, others are planned around what is kept. */
static const xir_value *kept_for(const planner *p, const xir_value *v, uint64_t *offset) {
    xir_life life = XIR_INIT(xir_life);
    const xir_value *whole = xir_liveness_of(p->lives, v, &life) && life.in ? life.in : v;
    const bool around = !p->how->etm && !p->how->apart;
    const xir_value *of = is_kept(p, v) ? v : is_kept(p, whole) ? whole : NULL;
    *offset = of == v ? 0 : life.offset;
    return of && around && is_in_chunk(of) ? NULL : of;
}

static bool is_fixed(void *user, const xir_value *v, uint64_t *offset) {
    const planner *p = user;
    *offset = xir_mtype_offset(xir_value_mtype(v));
    return is_kept(p, v) && !p->how->etm && !p->how->apart && is_in_chunk(v);
}

static void keep_until(planner *p, const xir_value *v) {
    uint64_t bytes, to;
    if (!v || !is_kept(p, v)) return;
    const xir_mtype_kind kind = xir_mtype_kind_of(xir_value_mtype(v));
    if (xir_type_bytes(xir_value_type(v), &bytes) || !add_u64(xir_mtype_addr(xir_value_mtype(v)), bytes, &to)) return;
    if (kind == XIR_MTYPE_EXTERNAL && to > p->kept_to) p->kept_to = to;
    if (kind == XIR_MTYPE_ONCHIP && to > p->kept_on_chip) p->kept_on_chip = to;
}

/* Those in bodies of calls, too. */
static bool find_kept_of(void *user, xir_op *op) {
    planner *p = user;
    for (uint32_t i = 0; i < op->n_outputs; i++) keep_until(p, &op_outputs(op)[i]);
    for (uint32_t i = 0; i < op->n_inputs; i++) keep_until(p, op_inputs(op)[i].value);
    return !xir_op_is(op, xir_call_op_class()) || op_each_child(op, find_kept_of, user);
}

static void find_kept(planner *p) {
    for (xir_op *op = p->at->net->first; op; op = op->next) (void)find_kept_of(p, op);
}

/* Returns true if what the body of a call makes is planned with the call. */
static bool takes_inside(const planner *p, const xir_value *v) {
    const xir_op *op = value_op(v);
    while (xir_op_parent(op)) op = xir_op_parent(op);
    return parts_plans(&p->parts, op) && !(p->how->etm && is_kept(p, v));
}

static bool takes(void *user, const xir_value *v) {
    const planner *p = user;
    uint64_t offset;
    if (xir_op_parent(value_op(v))) return takes_inside(p, v);
    return parts_takes(&p->parts, v) && !kept_for(p, v, &offset);
}

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
        if (!is_planned(p, p->params[i]) || is_kept(p, p->params[i])) continue;
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
        if (its->its != s || its->onchip) continue;
        if (!append(p, s, its->bytes, p->how->align, &its->address)) return fail_far(p);
    }
    return XIR_OK;
}

static part *input_named(const planner *p, xir_str name) {
    for (size_t i = 0; i < p->parts.n; i++) {
        part *its = &p->parts.all[i];
        if (its->its == SEGMENT_INPUT && xir_str_equal(xir_value_name(its->first), name)) return its;
    }
    return NULL;
}

/* Second copies of inputs, so that the next run may be written while this one computes. */
static xir_status place_doubles(planner *p) {
    xir_str rest = p->how->doubled;
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        const xir_str name = { rest.data, comma ? (size_t)(comma - rest.data) : rest.size };
        part *its = input_named(p, name);
        if (!its)
            return xir_pass_fail(p->at, XIR_E_UNKNOWN, NULL, "double: no input '%.*s' is planned", CLIP(name));
        if (!append(p, SEGMENT_INPUT, its->bytes, p->how->align, &its->second)) return fail_far(p);
        its->twice = true;
        rest = comma ? (xir_str){ comma + 1, rest.size - name.size - 1 } : (xir_str){ NULL, 0 };
    }
    return XIR_OK;
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static bool is_map(void *user, const xir_value *v) {
    if (xir_op_parent(value_op(v))) return takes_inside(user, v);
    const part *its = parts_find(&((const planner *)user)->parts, v);
    return its && its->its == SEGMENT_MAPS && !its->onchip;
}

static xir_memory_buffers *buffers_of(const planner *p, bool (*which)(void *user, const xir_value *v)) {
    const xir_memory_buffers_options with =
        XIR_INIT(xir_memory_buffers_options, .align = p->how->align, .upper = p->how->upper, .takes = which,
                 .is_fixed = is_fixed, .user = (void *)(uintptr_t)p);
    return xir_memory_buffers_new(p->lives, &with, p->said);
}

/* The status of what failed is in its finding. */
static xir_status status_of(const xir_diags *said) { return xir_diags_at(said, 0)->code; }

/* Returns true if a path names a buffer, "/17". */
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
        const xir_value *v = is_buffer(it.path, &number) ? xir_memory_buffers_value(maps, number) : NULL;
        if (v) {
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
    p->maps_at = mem_new(&p->at->net->alloc, (xir_memory_buffers_count(maps) + 1) * sizeof *p->maps_at);
    if (!status && !p->maps_at) status = pass_no_memory(p->at);
    for (size_t i = 0; i < xir_memory_buffers_count(maps) && !status; i++) {
        const xir_value *v = xir_memory_buffers_value(maps, i);   /* NULL: what the body of a call makes */
        p->maps_at[i] = its->from + xir_memory_plan_offsets(plan)[i];
        if (v) parts_find(&p->parts, v)->address = p->maps_at[i];
    }
    its->to = its->from + peak.bytes;
    xir_memory_plan_free(plan);
    return status;
}

/* A chunk for each part, after those that are kept. */
static xir_status place_in_chunks(planner *p) {
    uint64_t next = 0;
    for (const xir_op *op = p->at->net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_mtype *mtype = xir_value_mtype(&op_outputs(op)[i]);
            const bool chunk = is_kept(p, &op_outputs(op)[i]) && xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK;
            if (chunk && xir_mtype_addr(mtype) >= next) next = xir_mtype_addr(mtype) + 1;
        }
    }
    for (size_t i = 0; i < p->parts.n; i++) p->parts.all[i].address = next + i;
    return XIR_OK;
}

static xir_status place_on_chip(planner *p) {
    uint64_t from = p->kept_on_chip;
    if (!p->how->onchip || !round_up(&from, p->how->align)) return XIR_OK;
    xir_memory_buffers *maps = buffers_of(p, is_map);
    if (!maps) return status_of(p->said);
    const xir_status status = onchip_choose(&p->parts, p->how, from, maps, p->lives, p->said);
    xir_memory_buffers_free(maps);
    return status;
}

static xir_status place_maps(planner *p) {
    if (p->how->apart) return place_in_chunks(p);
    const xir_status chosen = place_on_chip(p);
    if (chosen) return chosen;
    if (!p->how->reuse) return place_apart(p, SEGMENT_MAPS);
    p->maps = buffers_of(p, is_map);
    return !p->maps ? status_of(p->said) : xir_memory_buffers_count(p->maps) ? plan_maps(p, p->maps) : XIR_OK;
}

/* ---- all segments ------------------------------------------------------------------------------------------------ */

/* Begins a segment after the one before. */
static bool begin(planner *p, segment s) {
    range *its = &p->of[s];
    its->from = s ? p->of[s - 1].to : p->how->base;
    if (!s && p->how->etm && its->from < p->theirs.to) its->from = p->theirs.to;
    if (!s && p->how->etm && its->from < p->kept_to) its->from = p->kept_to;
    if (!round_up(&its->from, p->how->align)) return false;
    its->to = its->from;
    return true;
}

/* Nothing may be in the place of the compiler's instructions. */
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
        if (!status && s == SEGMENT_INPUT) status = place_doubles(p);
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
        if (is_kept(p, p->params[i])) continue;
        status = plan_place(p->at, p->params[i], placed ? XIR_MTYPE_EXTERNAL : XIR_MTYPE_HOST, 0, p->params_at[i]);
    }
    return status;
}

/* A view of Params is where those are. */
static xir_status set_like_params(const planner *p, const xir_op *op, xir_value *v) {
    const xir_mtype *mtype = xir_value_mtype(viewed_by(op));
    return plan_place(p->at, v, xir_mtype_kind_of(mtype), 0, xir_mtype_addr(mtype));
}

/* A value that shares the bytes of one that is kept. */
static xir_status set_like_kept(const planner *p, xir_value *v, const xir_value *of, uint64_t offset) {
    const xir_mtype *mtype = xir_value_mtype(of);
    const bool chunk = xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK;
    const uint64_t at = chunk ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype);
    return v == of ? XIR_OK : plan_place(p->at, v, xir_mtype_kind_of(mtype), chunk ? xir_mtype_addr(mtype) : 0,
                                         at + offset);
}

/* A value that is not planned is on the host: an earlier plan may have placed it. */
static xir_status set_value(const planner *p, const xir_op *op, xir_value *v) {
    const part *its = parts_find(&p->parts, v);
    xir_life life = XIR_INIT(xir_life);
    uint64_t offset;
    const xir_value *kept = its ? NULL : kept_for(p, v, &offset);
    if (kept) return set_like_kept(p, v, kept, offset);
    xir_status status = plan_double(p->at, v, its && its->twice && its->first == v ? &its->second : NULL);
    if (status) return status;
    if (!its || !xir_liveness_of(p->lives, v, &life))
        return is_view_of_params(p, v) ? set_like_params(p, op, v) : plan_place(p->at, v, XIR_MTYPE_HOST, 0, 0);
    if (p->how->apart) return plan_place(p->at, v, XIR_MTYPE_CHUNK, its->address, life.offset);
    const xir_mtype_kind kind = !p->how->etm ? XIR_MTYPE_CHUNK : its->onchip ? XIR_MTYPE_ONCHIP : XIR_MTYPE_EXTERNAL;
    return plan_place(p->at, v, kind, 0, its->address + life.offset);
}

static xir_status set_tags(const planner *p) {
    range all = p->of[SEGMENT_PARAMS];
    const bool own = all.to > all.from, foreign = p->theirs.to > p->theirs.from;
    if (foreign) all = (range){ p->theirs.from, own ? all.to : p->theirs.to };
    const bool keep = p->how->keep;   /* and nothing new: the tags are kept, too */
    xir_status status = keep && !own ? XIR_OK : tags_set(p->at, SEGMENT_PARAMS, own || foreign ? &all : NULL);
    for (segment s = SEGMENT_INPUT; s < SEGMENTS && !status; s++) {
        const bool empty = p->of[s].from == p->of[s].to;
        status = keep && empty ? XIR_OK : tags_set(p->at, s, &p->of[s]);
    }
    return status;
}

/* Tags and addresses say which Params are the compiler's: where memory runs out in between, Params have addresses
 * without tags, never tags without addresses. */
static xir_status set_all(const planner *p) {
    xir_status status = p->how->etm ? XIR_OK : tags_clear(p->at);
    if (!status) status = set_params(p);
    if (!status && p->how->etm) status = set_tags(p);
    for (xir_op *op = p->at->net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = set_value(p, op, &op_outputs(op)[i]);
    }
    return status ? status : bodies_set(&(bodies){ p->at, p->how, &p->parts, p->maps, p->maps_at });
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
        find_kept(p);
        status = !p->how->etm || find_viewed(p) ? place_all(p) : pass_no_memory(p->at);
    }
    if (!status) status = set_all(p);
    pointer_table_free(&p->viewed);
    mem_free(&net->alloc, p->maps_at, (xir_memory_buffers_count(p->maps) + 1) * sizeof *p->maps_at);
    xir_memory_buffers_free(p->maps);
    mem_free(&net->alloc, (void *)p->params, n * sizeof *p->params);
    mem_free(&net->alloc, p->params_at, n * sizeof *p->params_at);
    return status;
}

static bool is_apart(void *user, const xir_value *v) {
    const planner *p = user;
    return !parts_is_map(&p->parts, v) || is_kept(p, v);
}

static xir_liveness *lives_of(const planner *p, bool in_place, bool with_parts) {
    const xir_liveness_options with =
        XIR_INIT(xir_liveness_options, .views = true, .in_place = in_place, .parts = with_parts,
                 .part_align = p->how->align, .is_apart = is_apart, .user = (void *)(uintptr_t)p);
    return xir_liveness_new(p->at->net, &with, p->said);
}

static xir_status plan_parts(planner *p) {
    xir_liveness *lives = lives_of(p, p->how->in_place, p->how->parts), *views = NULL;
    xir_memory_buffers *sets = NULL;
    xir_status status = XIR_OK;
    p->lives = lives;
    if (lives) sets = buffers_of(p, takes);
    if (sets && p->how->etm && p->how->in_place) views = lives_of(p, false, false);
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
