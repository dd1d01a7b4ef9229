#include "segments.h"
#include <inttypes.h>

typedef enum segment { SEGMENT_PARAMS, SEGMENT_INPUT, SEGMENT_OUTPUT, SEGMENT_MAPS, SEGMENTS } segment;

static const char *const names[SEGMENTS] = { "params", "input", "output", "ftmp" };

typedef struct planner {
    xir_pass           *at;
    xir_diags          *said;           /* by the planner                                   */
    const plan_options *how;
    bool                accelerated;    /* some ops run on an accelerator                   */
    xir_memory_buffers *buffers;
    uint64_t           *addresses;      /* by buffer                                        */
    uint8_t            *segment_of;     /* by buffer                                        */
    uint64_t            from[SEGMENTS], to[SEGMENTS];
} planner;

/* ---- which values ------------------------------------------------------------------------------------------------ */

static bool is_accelerated(const xir_op *op) { return xir_target_row_of(xir_op_target(op))->accelerator; }

/* Ops whose values are planned: those of the accelerator, or all of a network without one. */
static bool is_planned(const planner *p, const xir_op *op) { return !p->accelerated || is_accelerated(op); }

static bool takes(void *user, const xir_value *v) {
    const planner *p = user;
    if (is_planned(p, value_op(v))) return true;
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (is_planned(p, u->user)) return true;
    }
    return false;
}

/* An input comes from the host, or is one of the network. */
static bool is_input(const planner *p, const xir_value *v) {
    const xir_op *op = value_op(v);
    return p->accelerated ? !is_accelerated(op) : op->cls->traits & XIR_TRAIT_SOURCE;
}

static bool is_output(const planner *p, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (p->accelerated ? !is_accelerated(u->user) : u->user->cls->traits & XIR_TRAIT_SINK) return true;
    }
    return false;
}

static segment segment_for(const planner *p, const xir_value *v) {
    if (!p->how->etm) return SEGMENT_MAPS;
    return is_input(p, v) ? SEGMENT_INPUT : is_output(p, v) ? SEGMENT_OUTPUT : SEGMENT_MAPS;
}

/* A set of values that share bytes is in the first segment of one of them. */
static void classify(planner *p) {
    for (size_t i = 0; i < xir_memory_buffers_count(p->buffers); i++) p->segment_of[i] = SEGMENT_MAPS;
    for (const xir_op *op = p->at->net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const size_t number = xir_memory_buffers_find(p->buffers, &op_outputs(op)[i]);
            if (number == SIZE_MAX) continue;
            const segment its = segment_for(p, &op_outputs(op)[i]);
            if (its < p->segment_of[number]) p->segment_of[number] = (uint8_t)its;
        }
    }
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

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
    if (!round_up(&p->to[s], align) || bytes > INT64_MAX - p->to[s]) return false;
    *address = p->to[s];
    p->to[s] += bytes;
    return true;
}

static xir_status place_params(planner *p, xir_value *v) {
    uint64_t bytes, address;
    const xir_str name = xir_value_name(v);
    if (xir_type_bytes(xir_value_type(v), &bytes))
        return xir_pass_fail(p->at, XIR_E_BOUNDS, NULL, "the bytes of Params '%.*s' are unknown", CLIP(name));
    if (!append(p, SEGMENT_PARAMS, bytes, p->how->params_align, &address)) return fail_far(p);
    return plan_place(p->at, v, XIR_MTYPE_EXTERNAL, address);
}

/* Params of planned ops, in the order of the network. */
static xir_status place_all_params(planner *p) {
    xir_network *net = p->at->net;
    const size_t n = xir_network_params(net, NULL, 0);
    xir_value **all = mem_new(&net->alloc, (n + 1) * sizeof *all);
    if (!all) return pass_no_memory(p->at);
    xir_status status = XIR_OK;
    xir_network_params(net, all, n);
    for (size_t i = 0; i < n && !status; i++) {
        bool planned = false;
        for (const xir_use *u = all[i]->uses; u && !planned; u = u->next) planned = is_planned(p, u->user);
        if (planned) status = place_params(p, all[i]);
    }
    mem_free(&net->alloc, (void *)all, (n + 1) * sizeof *all);
    return status;
}

static xir_status place_apart(planner *p, segment s) {
    for (size_t i = 0; i < xir_memory_buffers_count(p->buffers); i++) {
        const uint64_t bytes = xir_memory_buffers_data(p->buffers)[i].size;
        if (p->segment_of[i] == s && !append(p, s, bytes, p->how->align, &p->addresses[i])) return fail_far(p);
    }
    return XIR_OK;
}

/* The status of what failed is in its finding. */
static xir_status status_of(const xir_diags *said) { return xir_diags_at(said, 0)->code; }

/* Plans the maps, which share bytes, from the beginning of their segment on. */
static xir_status plan_maps(planner *p, xir_buffer *maps, uint32_t *numbers) {
    size_t n = 0;
    for (size_t i = 0; i < xir_memory_buffers_count(p->buffers); i++) {
        if (p->segment_of[i] != SEGMENT_MAPS) continue;
        numbers[n] = (uint32_t)i;
        maps[n++] = xir_memory_buffers_data(p->buffers)[i];
    }
    const uint64_t from = p->from[SEGMENT_MAPS], limit = p->how->limit;
    if (limit && n && limit <= from) {
        return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the other segments end at %" PRIu64 ", the limit is %" PRIu64,
                             from, limit);
    }
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    const xir_memory_options options =
        XIR_INIT(xir_memory_options, .effort = p->how->effort, .limit = limit ? limit - from : 0);
    xir_memory_plan *plan = n == xir_memory_buffers_count(p->buffers)
                          ? xir_memory_buffers_plan(p->buffers, &options, p->said)   // names what lives at the peak
                          : xir_memory_plan_new(p->at->net->ctx, maps, n, &options, p->said);
    if (!plan) return status_of(p->said);
    xir_status status = xir_memory_plan_peak(plan, &peak, p->said);
    if (!status && peak.bytes > INT64_MAX - from) status = fail_far(p);
    for (size_t i = 0; i < n && !status; i++) p->addresses[numbers[i]] = from + xir_memory_plan_offsets(plan)[i];
    p->to[SEGMENT_MAPS] = from + peak.bytes;
    xir_memory_plan_free(plan);
    return status;
}

static xir_status place_maps(planner *p) {
    xir_network *net = p->at->net;
    const size_t n = xir_memory_buffers_count(p->buffers) + 1;
    if (!p->how->reuse) return place_apart(p, SEGMENT_MAPS);
    xir_buffer *maps = mem_new(&net->alloc, n * sizeof *maps);
    uint32_t *numbers = mem_new(&net->alloc, n * sizeof *numbers);
    xir_status status = maps && numbers ? plan_maps(p, maps, numbers) : pass_no_memory(p->at);
    mem_free(&net->alloc, maps, n * sizeof *maps);
    mem_free(&net->alloc, numbers, n * sizeof *numbers);
    return status;
}

/* Begins a segment after the one before. */
static bool begin(planner *p, segment s) {
    p->from[s] = s ? p->to[s - 1] : p->how->base;
    if (!round_up(&p->from[s], p->how->align)) return false;
    p->to[s] = p->from[s];
    return true;
}

static xir_status place_all(planner *p) {
    xir_status status = XIR_OK;
    for (segment s = SEGMENT_PARAMS; s < SEGMENTS && !status; s++) {
        if (!begin(p, s)) return fail_far(p);
        status = s == SEGMENT_PARAMS ? (p->how->etm ? place_all_params(p) : XIR_OK)
               : s == SEGMENT_MAPS   ? place_maps(p)
                                     : place_apart(p, s);
    }
    if (!status && p->how->limit && p->to[SEGMENT_MAPS] > p->how->limit) {
        return xir_pass_fail(p->at, XIR_E_LIMIT, NULL, "the plan ends at %" PRIu64 ", the limit is %" PRIu64,
                             p->to[SEGMENT_MAPS], p->how->limit);
    }
    return status;
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

/* Sets a tag, or removes it; a tag that changes is a change of the network. */
static xir_status set_tag(xir_pass *at, segment s, const char *what, const uint64_t *value) {
    char key[64];
    snprintf(key, sizeof key, "%s_segment_%s", names[s], what);
    const xir_map *tags = xir_network_tags(at->net);
    const xir_any *old = tags ? xir_map_find(tags, xir_str_of(key)) : NULL;
    const xir_any now = xir_any_int(value ? (int64_t)*value : 0);
    if (value ? old && xir_any_equal(old, &now) : !old) return XIR_OK;
    xir_pass_changed(at, 1);
    return xir_network_set_tag(at->net, xir_str_of(key), value ? &now : NULL) ? pass_no_memory(at) : XIR_OK;
}

static xir_status set_tags(const planner *p) {
    xir_status status = XIR_OK;
    for (segment s = SEGMENT_PARAMS; s < SEGMENTS && !status; s++) {
        const uint64_t bytes = p->to[s] - p->from[s];
        if (s == SEGMENT_PARAMS && !bytes) continue;   // those of HardOps are placed by their compiler
        status = set_tag(p->at, s, "addr", &p->from[s]);
        if (!status) status = set_tag(p->at, s, "bytesize", &bytes);
    }
    return status;
}

xir_status segments_clear_tags(xir_pass *at) {
    xir_status status = XIR_OK;
    for (segment s = SEGMENT_PARAMS; s < SEGMENTS && !status; s++) {
        status = set_tag(at, s, "addr", NULL);
        if (!status) status = set_tag(at, s, "bytesize", NULL);
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static xir_status assign(const planner *p) {
    const xir_mtype_kind kind = p->how->etm ? XIR_MTYPE_EXTERNAL : XIR_MTYPE_CHUNK;
    xir_status status = XIR_OK;
    for (xir_op *op = p->at->net->first; op && !status; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
            xir_value *v = &op_outputs(op)[i];
            const size_t number = xir_memory_buffers_find(p->buffers, v);
            if (number != SIZE_MAX) status = plan_place(p->at, v, kind, p->addresses[number]);
        }
    }
    return status;
}

static xir_status plan_values(planner *p) {
    xir_network *net = p->at->net;
    const size_t n = xir_memory_buffers_count(p->buffers) + 1;
    p->addresses = mem_new(&net->alloc, n * sizeof *p->addresses);
    p->segment_of = mem_new(&net->alloc, n * sizeof *p->segment_of);
    xir_status status = p->addresses && p->segment_of ? XIR_OK : pass_no_memory(p->at);
    if (!status) {
        classify(p);
        status = place_all(p);
    }
    if (!status) status = assign(p);
    if (!status && p->how->etm) status = set_tags(p);
    mem_free(&net->alloc, p->addresses, n * sizeof *p->addresses);
    mem_free(&net->alloc, p->segment_of, n * sizeof *p->segment_of);
    return status;
}

xir_status segments_plan(xir_pass *at, const plan_options *how) {
    planner p = { .at = at, .how = how };
    for (const xir_op *op = at->net->first; op && !p.accelerated; op = op->next) p.accelerated = is_accelerated(op);
    p.said = xir_diags_new(at->net->ctx);
    if (!p.said) return pass_no_memory(at);
    xir_liveness *l = xir_liveness_new(
        at->net, &XIR_INIT(xir_liveness_options, .views = true, .in_place = how->in_place), p.said);
    const xir_memory_buffers_options which = XIR_INIT(xir_memory_buffers_options, .align = how->align,
                                                      .upper = how->upper, .takes = takes, .user = &p);
    p.buffers = l ? xir_memory_buffers_new(l, &which, p.said) : NULL;
    xir_status status = p.buffers ? plan_values(&p) : status_of(p.said);
    diags_append(at->why, p.said);
    xir_memory_buffers_free(p.buffers);
    xir_liveness_free(l);
    xir_diags_free(p.said);
    return status;
}
