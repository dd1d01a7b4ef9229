/* Whether the addresses of a network's values are sound. Op by op, each value that is made is compared with those that
 * live and overlap it. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/memory.h>
#include <xir/ops.h>
#include "class_shares.h"
#include "graph.h"
#include "places.h"
#include "sized.h"
#include "sort.h"

#define OPTIONS_STRUCT SIZED(xir_memory_check_options, align)

typedef struct addressed {
    const xir_value *value;
    const xir_value *in;            /* the oldest value in the same bytes               */
    uint32_t         first, last;   /* positions                                        */
    uint32_t         rank;
    uint32_t         next;          /* of those that end at the same op; NO_PLACE: none */
} addressed;

typedef struct check {
    const xir_network *net;
    const xir_allocator *alloc;
    const xir_memory_check_options *how;
    const xir_liveness *lives;
    xir_diags  *why;
    xir_status  status;          /* of the first finding                                */
    addressed  *values;          /* in the order in which they are made                 */
    place      *all;
    size_t      n, room, all_room;
    uint32_t   *ending;          /* by position of the order: a value that ends there   */
    size_t      n_ops;
    places      places;
    uint64_t    left;            /* comparisons that may still be made                  */
} check;

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static const char *const memories[] = { "the host", "on-chip memory", "external memory", "its chunk" };

static void fail_value(check *c, xir_status code, const xir_value *v, const char *format, ...) XIR_PRINTF(4, 5);
static void fail_value(check *c, xir_status code, const xir_value *v, const char *format, ...) {
    char path[64], sentence[SENTENCE_ROOM];
    va_list args;
    va_start(args, format);
    text_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    const xir_op *op = value_op(v);
    snprintf(path, sizeof path, "/ops/%" PRId64 "/outputs/%zu", xir_network_index_of(c->net, op),
             (size_t)(v - op_outputs(op)));
    diag_fail(c->why, code, xir_str_of(path), "%s", sentence);
    if (!c->status) c->status = code;
}

static void report_overlap(check *c, const place *it, const place *with) {
    const xir_value *v = c->values[it->value].value, *other = c->values[with->value].value;
    const xir_str name = xir_value_name(other);
    fail_value(c, XIR_E_INVALID, v, "bytes %" PRIu64 " to %" PRIu64 " of %s overlap those of value '%.*s', %" PRIu64
               " to %" PRIu64 ", which lives at the same time", it->from, it->to - 1,
               memories[xir_mtype_kind_of(xir_value_mtype(v))], CLIP(name), with->from, with->to - 1);
}

/* ---- which overlaps are allowed ---------------------------------------------------------------------------------- */

/* Its rules may let it do anything with its values. */
static bool has_no_rules(const xir_op *op) {
    return xir_class_is_opaque(op->cls) || xir_op_is(op, xir_hard_op_class());
}

static bool joins_or_divides(const xir_op *op) {
    return xir_op_is(op, xir_concat_class()) || xir_op_is(op, xir_stack_class()) || xir_op_is(op, xir_split_class()) ||
           xir_op_is(op, xir_unstack_class()) || xir_op_is(op, xir_slice_class());
}

static bool touches(check *c, const xir_op *op, const xir_value *v) {
    if (value_op(v) == op) return true;
    for (uint32_t i = 0; i < op->n_inputs && c->left; i++, c->left--) {
        if (op_inputs(op)[i].value == v) return true;
    }
    return false;
}

/* An op without rules reads or makes both. */
static bool share_such_an_op(check *c, const xir_value *a, const xir_value *b) {
    const xir_op *maker = value_op(a);
    if (has_no_rules(maker) && touches(c, maker, b)) return true;
    for (const xir_use *u = a->uses; u && c->left; u = u->next, c->left--) {
        if (has_no_rules(u->user) && touches(c, u->user, b)) return true;
    }
    return false;
}

/* The row of the op that makes `v` names the input `over`, which nothing reads later. */
static bool is_over(const addressed *v, const addressed *over) {
    const xir_op *op = value_op(v->value);
    const class_more *more = op->cls->more;
    if (more->shares.kind != SHARES_OVER || over->last != v->first) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const size_t port = i < more->n_inputs ? i : more->n_inputs - (size_t)1;
        if (op_inputs(op)[i].value == over->value && port < 64 && more->shares.inputs >> port & 1) return true;
    }
    return false;
}

/* `v` is made later than `with`, or by the same op. */
static bool may_overlap(check *c, const place *it, const place *with) {
    const addressed *v = &c->values[it->value], *other = &c->values[with->value];
    const xir_op *maker = value_op(v->value);
    const bool same = it->from == with->from && it->to == with->to;
    if (same && ((v->in && v->in == other->in) || is_over(v, other))) return true;
    if (joins_or_divides(maker) && value_op(other->value) != maker && touches(c, maker, other->value)) return true;
    return share_such_an_op(c, v->value, other->value) || share_such_an_op(c, other->value, v->value);
}

/* ---- values with addresses --------------------------------------------------------------------------------------- */

static void check_place(check *c, const place *it, xir_mtype_kind kind) {
    const xir_value *v = c->values[it->value].value;
    if (c->how->align > 1 && it->from % c->how->align) {
        fail_value(c, XIR_E_INVALID, v, "the address %" PRIu64 " in %s is not a multiple of %" PRIu64, it->from,
                   memories[kind], c->how->align);
    }
    if (kind == XIR_MTYPE_ONCHIP && c->how->onchip && it->to > c->how->onchip) {
        fail_value(c, XIR_E_LIMIT, v,
                   "%" PRIu64 " bytes at %" PRIu64 " end beyond the on-chip memory, which has %" PRIu64,
                   it->to - it->from, it->from, c->how->onchip);
    }
}

static bool add_value(check *c, const xir_value *v) {
    const xir_mtype *mtype = xir_value_mtype(v);
    const xir_mtype_kind kind = xir_mtype_kind_of(mtype);
    xir_life life = XIR_INIT(xir_life);
    if (kind == XIR_MTYPE_HOST || !xir_liveness_of(c->lives, v, &life) || !life.known || !life.bytes) return true;
    const bool chunk = kind == XIR_MTYPE_CHUNK;
    place it = { .memory = chunk ? xir_mtype_addr(mtype) * 4 + kind : (uint64_t)kind,
                 .from = chunk ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype), .value = (uint32_t)c->n };
    if (!add_u64(it.from, life.bytes, &it.to)) {
        fail_value(c, XIR_E_LIMIT, v, "%" PRIu64 " bytes at %" PRIu64 " end beyond 2^64 - 1", life.bytes, it.from);
        return true;
    }
    if (!mem_reserve(c->alloc, (void **)&c->values, &c->room, c->n + 1, sizeof *c->values) ||
        !mem_reserve(c->alloc, (void **)&c->all, &c->all_room, c->n + 1, sizeof *c->all)) return false;
    c->values[c->n] = (addressed){ .value = v, .in = life.in, .first = (uint32_t)life.first,
                                   .last = (uint32_t)life.last };
    c->all[c->n++] = it;
    check_place(c, &it, kind);
    return true;
}

static bool add_values(check *c) {
    for (size_t at = 0; at < c->n_ops; at++) {
        const xir_op *op = xir_liveness_op_at(c->lives, (int64_t)at);
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            if (!add_value(c, &op_outputs(op)[i])) return false;
        }
    }
    return true;
}

/* Sorts the places by memory and address. */
static bool rank_values(check *c) {
    keyed *keys = mem_new(c->alloc, (c->n + 1) * sizeof *keys), *spare = mem_new(c->alloc, (c->n + 1) * sizeof *spare);
    place *sorted = mem_new(c->alloc, (c->n + 1) * sizeof *sorted);
    const bool ok = keys && spare && sorted;
    for (uint32_t i = 0; ok && i < c->n; i++) keys[i] = (keyed){ c->all[i].from, i };
    if (ok) sort_keyed(keys, spare, c->n);
    for (uint32_t i = 0; ok && i < c->n; i++) keys[i].key = c->all[keys[i].number].memory;
    if (ok) sort_keyed(keys, spare, c->n);
    for (uint32_t i = 0; ok && i < c->n; i++) {
        sorted[i] = c->all[keys[i].number];
        c->values[sorted[i].value].rank = i;
    }
    if (ok && c->n) memcpy(c->all, sorted, c->n * sizeof *sorted);
    mem_free(c->alloc, keys, (c->n + 1) * sizeof *keys);
    mem_free(c->alloc, spare, (c->n + 1) * sizeof *spare);
    mem_free(c->alloc, sorted, (c->n + 1) * sizeof *sorted);
    return ok;
}

/* The first rank whose memory and address are not before these. */
static uint32_t rank_from(const check *c, uint64_t memory, uint64_t address) {
    uint32_t from = 0, to = (uint32_t)c->n;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const place *it = &c->all[middle];
        if (it->memory < memory || (it->memory == memory && it->from < address)) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* ---- the sweep --------------------------------------------------------------------------------------------------- */

/* Compares a value with those that live. One finding is enough. */
static void compare(check *c, const place *it) {
    const uint32_t from = rank_from(c, it->memory, 0), to = rank_from(c, it->memory, it->to);
    for (uint32_t rank = places_next(&c->places, from, to, it->from); rank != NO_PLACE && c->left;
         rank = places_next(&c->places, rank + 1, to, it->from)) {
        c->left--;
        if (may_overlap(c, it, &c->all[rank]) || !c->left) continue;
        report_overlap(c, it, &c->all[rank]);
        return;
    }
}

static void sweep(check *c) {
    memset(c->ending, 0xFF, c->n_ops * sizeof *c->ending);
    uint32_t made = 0;
    for (size_t at = 0; at < c->n_ops && c->left; at++) {
        for (; made < c->n && c->values[made].first == at; made++) {
            addressed *v = &c->values[made];
            compare(c, &c->all[v->rank]);
            places_add(&c->places, v->rank);
            v->next = c->ending[v->last];
            c->ending[v->last] = made;
        }
        for (uint32_t i = c->ending[at]; i != NO_PLACE; i = c->values[i].next)
            places_remove(&c->places, c->values[i].rank);
    }
    if (!c->left) {
        diag_fail(c->why, XIR_E_LIMIT, XIR_STR(""), "too many values overlap: not all were compared");
        if (!c->status) c->status = XIR_E_LIMIT;
    }
}

static bool has_addresses(const xir_network *net) {
    for (const xir_op *op = net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            if (xir_mtype_kind_of(xir_value_mtype(&op_outputs(op)[i])) != XIR_MTYPE_HOST) return true;
        }
    }
    return false;
}

static xir_status run(check *c) {
    c->n_ops = xir_liveness_op_count(c->lives);
    c->ending = mem_new(c->alloc, (c->n_ops + 1) * sizeof *c->ending);
    bool ok = c->ending && add_values(c) && rank_values(c) &&
              places_open(&c->places, c->alloc, c->all, (uint32_t)c->n);
    c->left = 64 * (uint64_t)c->n + ((uint64_t)1 << 24);
    if (ok) sweep(c);
    places_close(&c->places);
    mem_free(c->alloc, c->ending, (c->n_ops + 1) * sizeof *c->ending);
    mem_free(c->alloc, c->values, c->room * sizeof *c->values);
    mem_free(c->alloc, c->all, c->all_room * sizeof *c->all);
    return ok ? c->status : diag_memory(c->why);
}

/* The status of liveness is in its finding. */
static xir_status make_lives(const xir_network *net, xir_liveness **out, xir_diags *why) {
    xir_diags *said = xir_diags_new(net->ctx);
    if (!said) return diag_memory(why);
    *out = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .views = true, .in_place = true), said);
    const xir_status status = *out ? XIR_OK : xir_diags_at(said, 0)->code;
    diags_append(why, said);
    xir_diags_free(said);
    return status;
}

xir_status xir_memory_check(const xir_network *net, const xir_memory_check_options *options, xir_diags *why) {
    xir_memory_check_options how;
    if (!net) return diag_null(why, "network");
    xir_status status = sized_take(OPTIONS_STRUCT, &how, options, why);
    if (status || !has_addresses(net)) return status;
    xir_liveness *lives = NULL;
    status = make_lives(net, &lives, why);
    if (status) return status;
    check c = { .net = net, .alloc = &net->ctx->alloc, .how = &how, .lives = lives, .why = why };
    c.places.alloc = c.alloc;
    status = run(&c);
    xir_liveness_free(lives);
    return status;
}
