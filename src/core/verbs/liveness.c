/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lives of values. One pass over the order notes where each value is made and last read. With views and in-place pairs,
 * a second pass finds the values that are in the bytes of an older one. Then a sum runs along the order: it grows where
 * bytes are taken and shrinks where they are no longer needed. Values are numbered in the order in which they are
 * made. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/liveness.h>
#include <xir/walk.h>
#include "legal.h"
#include "lives.h"
#include "shares.h"
#include "sized.h"

#define OPTIONS_STRUCT SIZED(xir_liveness_options, n_order)
#define LIFE_STRUCT    SIZED(xir_life, end)
#define PEAK_STRUCT    SIZED(xir_live_peak, unknown)

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Types are shared by many values: the answers for some are remembered. */
enum { TYPE_MEMO = 64 };
typedef struct type_bytes { const xir_type *type; uint64_t bytes; bool known; } type_bytes;

static type_bytes measure(const xir_type *type) {
    type_bytes m = { .type = type };
    const xir_status status = type ? xir_type_bytes(type, &m.bytes) : XIR_E_UNKNOWN;
    m.known = !status || status == XIR_E_LIMIT;
    if (status) m.bytes = status == XIR_E_LIMIT ? UINT64_MAX : 0;
    return m;
}

static const type_bytes *bytes_of(type_bytes *memo, const xir_type *type) {
    type_bytes *m = &memo[hash_pointer(type) % TYPE_MEMO];
    if (m->type != type || !type) *m = measure(type);
    return m;
}

/* ---- lives ------------------------------------------------------------------------------------------------------- */

typedef struct maker {
    xir_liveness *l;
    xir_diags    *why;
    xir_status    status;
    size_t        at;       /* the position of the op that is looked at */
    bool          keeps;    /* it is the Output op                      */
    type_bytes    memo[TYPE_MEMO];
} maker;

uint32_t lives_number(const xir_liveness *l, const xir_value *v) {
    const xir_op *op = v ? value_op(v) : NULL;
    if (!op || op->net != l->net || op->slot >= l->n_slots || !l->place[op->slot]) return NONE;
    const size_t at = l->place[op->slot] - 1, i = (size_t)(v - op_outputs(op));
    return i < l->values_of[at + 1] - l->values_of[at] ? l->values_of[at] + (uint32_t)i : NONE;
}

static xir_status fail_at(maker *m, size_t input, const char *sentence) {
    char path[64];
    const int64_t at = xir_network_index_of(m->l->net, m->l->ops[m->at]);
    snprintf(path, sizeof path, "/ops/%" PRId64 "/inputs/%zu", at, input);
    return m->status = diag_fail(m->why, XIR_E_INVALID, xir_str_of(path), "%s", sentence);
}

/* The op at the position, or a sub op of it, reads a value. */
static bool reads(maker *m, const xir_op *reader, size_t input) {
    const xir_value *v = op_inputs(reader)[input].value;
    const xir_op *op = v && !value_is_params(v) ? value_op(v) : NULL;
    if (!op || !(op->flags & OP_PLACED)) return true;
    const uint32_t place = m->l->place[op->slot];
    if (place == m->at + 1) {
        if (reader->flags & OP_CHILD) return true;   /* it is inside of what makes the value */
        return fail_at(m, input, "the op reads a value that it makes itself"), false;
    }
    if (!place) return fail_at(m, input, "the input is used before it is computed: sort the network"), false;
    life *it = &m->l->lives[m->l->values_of[place - 1] + (size_t)(v - op_outputs(op))];
    it->last = (uint32_t)m->at;
    it->kept |= m->keeps;
    return true;
}

static xir_walk_answer child_reads(void *user, xir_op *op) {
    maker *m = user;
    for (size_t i = 0; i < op->n_inputs && op != m->l->ops[m->at]; i++) {
        if (!reads(m, op, i)) return XIR_WALK_STOP;
    }
    return XIR_WALK_ON;
}

static xir_status add(maker *m, const xir_op *op) {
    xir_liveness *l = m->l;
    for (size_t i = 0; i < op->n_inputs; i++) {
        if (!reads(m, op, i)) return m->status;
    }
    if (op_has_children(op)) {
        xir_status status = xir_op_walk(op, &XIR_INIT(xir_walker, .user = m, .op = child_reads), m->why);
        if (status || m->status) return status ? status : m->status;
    }
    const size_t n = l->n + op->n_outputs;
    if (n >= NONE) return diag_fail(m->why, XIR_E_LIMIT, XIR_STR(""), "the network has more than 2^32 - 2 values");
    if (!mem_reserve(&l->net->ctx->alloc, (void **)&l->lives, &l->room, n, sizeof *l->lives))
        return diag_memory(m->why);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const type_bytes *of = bytes_of(m->memo, op_outputs(op)[i].type);
        const uint32_t at = (uint32_t)m->at, number = (uint32_t)l->n++;
        l->lives[number] = (life){ .bytes = of->bytes, .first = at, .last = at, .base = number, .next = NONE,
                                    .known = of->known };
        l->n_unknown += !of->known;
    }
    l->values_of[m->at + 1] = (uint32_t)l->n;
    return XIR_OK;
}

/* Appends an op to the order. */
static xir_status place(maker *m, const xir_op *op, const xir_op *output) {
    m->l->ops[m->at] = op;
    m->keeps = op == output;
    m->l->place[op->slot] = (uint32_t)m->at + 1;
    m->l->bytes[m->at] = 0;
    if (is_call(op->cls) && !lives_inside(m->l, op, &m->l->bytes[m->at])) return diag_memory(m->why);
    return add(m, op);
}

static xir_status fail_order(maker *m, const char *sentence) {
    return diag_fail(m->why, XIR_E_INVALID, XIR_STR(""), "item %zu of the order %s", m->at, sentence);
}

static xir_status place_all(maker *m, const xir_liveness_options *how) {
    xir_liveness *l = m->l;
    const xir_op *op = l->net->first, *output = xir_network_output_op(l->net);
    xir_status status = XIR_OK;
    if (how->order && how->n_order != l->n_ops) {
        return diag_fail(m->why, XIR_E_INVALID, XIR_STR(""), "the order has %zu ops, the network has %zu", how->n_order,
                         l->n_ops);
    }
    for (m->at = 0; m->at < l->n_ops && !status; m->at++) {
        if (how->order) op = how->order[m->at];
        if (!op) return fail_order(m, "is NULL");
        if (op->net != l->net) return fail_order(m, "is an op of another network");
        if (!(op->flags & OP_PLACED)) return fail_order(m, "is an op that is not placed");
        if (l->place[op->slot]) return fail_order(m, "is an op that is before it too");
        status = place(m, op, output);
        op = op->next;
    }
    for (size_t i = 0; i < l->n && !status; i++) {
        life *it = &l->lives[i];
        if (it->kept) it->last = (uint32_t)l->n_ops - 1;
        it->end = it->last;
    }
    return status;
}

/* ---- shared bytes ------------------------------------------------------------------------------------------------ */

static void join(xir_liveness *l, life *made, uint32_t base) {
    made->base = base;
    if (base == NONE) return;
    life *in = &l->lives[base];
    if (made->last > in->end) in->end = made->last;
    in->kept |= made->kept;
}

/* Makes the first output of an op a view of an input. */
static void view(xir_liveness *l, const xir_op *op, size_t input, life *made) {
    if (!shares_is_view(op, input)) return;
    const xir_value *v = op_inputs(op)[input].value;
    const uint32_t number = lives_number(l, v);
    if (value_is_params(v)) join(l, made, NONE);
    else if (number != NONE) join(l, made, l->lives[number].base);
}

/* Stamps what the op reads through inputs that its row does not name. */
static void stamp_others(xir_liveness *l, const xir_op *op, uint32_t stamp) {
    for (size_t i = 0; i < op->n_inputs; i++) {
        const uint32_t number = !shares_names_input(op, i) ? lives_number(l, op_inputs(op)[i].value) : NONE;
        const uint32_t base = number != NONE ? l->lives[number].base : NONE;
        if (base != NONE) l->lives[base].next = stamp;
    }
}

/* Writes the first output over the first input that allows it. */
static void write_over(xir_liveness *l, const xir_op *op, uint32_t at, life *made) {
    if (op_has_children(op)) return;
    if (op->n_inputs > 1) stamp_others(l, op, at);
    for (size_t i = 0; i < op->n_inputs; i++) {
        const uint32_t number = shares_names_input(op, i) ? lives_number(l, op_inputs(op)[i].value) : NONE;
        const uint32_t base = number != NONE ? l->lives[number].base : NONE;
        if (base == NONE) continue;
        const life *in = &l->lives[base];
        if (in->end != at || in->kept || !in->known || l->ops[in->first]->cls->traits & XIR_TRAIT_SOURCE) continue;
        if (in->next == at || !shares_same_places(op_inputs(op)[i].value->type, op_outputs(op)[0].type)) continue;
        join(l, made, base);
        return;
    }
}

static void share(xir_liveness *l, const xir_liveness_options *how) {
    const bool views = how->views, in_place = how->in_place, shares = how->is_view || views || in_place;
    for (uint32_t at = 0; at < l->n_ops && shares; at++) {
        const uint32_t from = l->values_of[at];
        if (from == l->values_of[at + 1] || !l->lives[from].known) continue;
        const xir_op *op = l->ops[at];
        const class_shares *row = &op->cls->more->shares;
        if (how->is_view && how->is_view(how->user, op)) view(l, op, 0, &l->lives[from]);
        else if (row->kind == SHARES_VIEW && views)
            view(l, op, (size_t)__builtin_ctzll(row->inputs), &l->lives[from]);
        else if (row->kind == SHARES_OVER && in_place) write_over(l, op, at, &l->lives[from]);
    }
}

/* ---- the sum ----------------------------------------------------------------------------------------------------- */

/* `ends` has room for a list of bases for each position. */
static void sum_up(xir_liveness *l, uint32_t *ends) {
    wide sum = { 0 };
    uint64_t most = 0;
    uint32_t unknown = 0, born = 0;
    memset(ends, 0xFF, l->n_ops * sizeof *ends);   /* NONE */
    for (uint32_t at = 0; at < l->n_ops; at++) {
        for (; born < l->values_of[at + 1]; born++) {
            life *it = &l->lives[born];
            if (it->base != born) continue;
            wide_add(&sum, it->bytes);
            unknown += !it->known;
            it->next = ends[it->end];
            ends[it->end] = born;
        }
        wide now = sum;
        wide_add(&now, l->bytes[at]);
        const uint64_t here = now.high ? UINT64_MAX : now.low;
        l->bytes[at] = here;
        if (l->unknown) l->unknown[at] = unknown;
        if (here > most) {
            most = here;
            l->peak = at;
        }
        for (uint32_t i = ends[at]; i != NONE; i = l->lives[i].next) {
            wide_take(&sum, l->lives[i].bytes);
            unknown -= !l->lives[i].known;
        }
    }
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Of a large network most of the time would go into touching fresh memory. */
static void *take(const xir_liveness *l, size_t n, size_t size) {
    void *block = mem_new(&l->net->ctx->alloc, (n + 1) * size);
    if (block) (void)memory_advise_huge(block, (n + 1) * size);
    return block;
}

static void drop(const xir_liveness *l, void *block, size_t n, size_t size) {
    mem_free(&l->net->ctx->alloc, block, (n + 1) * size);
}

void xir_liveness_free(xir_liveness *l) {
    if (!l) return;
    xir_network *net = net_cache(l->net);
    drop(l, (void *)l->ops, l->n_ops, sizeof *l->ops);
    drop(l, l->values_of, l->n_ops, sizeof *l->values_of);
    drop(l, l->place, l->n_slots, sizeof *l->place);
    drop(l, l->bytes, l->n_ops, sizeof *l->bytes);
    drop(l, l->unknown, l->n_ops, sizeof *l->unknown);
    mem_free(&net->ctx->alloc, l->lives, l->room * sizeof *l->lives);
    drop(l, l->parts, l->n, sizeof *l->parts);
    mem_free(&net->ctx->alloc, l, sizeof *l);
}

static bool take_memory(xir_liveness *l) {
    l->ops = take(l, l->n_ops, sizeof *l->ops);
    l->values_of = take(l, l->n_ops, sizeof *l->values_of);
    l->place = take(l, l->n_slots, sizeof *l->place);
    l->bytes = take(l, l->n_ops, sizeof *l->bytes);
    if (!l->ops || !l->values_of || !l->place || !l->bytes) return false;
    memset(l->place, 0, l->n_slots * sizeof *l->place);
    l->values_of[0] = 0;
    l->bytes[0] = 0;
    l->room = l->n_ops + 1;
    l->lives = take(l, l->n_ops, sizeof *l->lives);   /* most ops have one output */
    return l->lives != NULL;
}

static xir_status fill(xir_liveness *l, const xir_liveness_options *how, xir_diags *why) {
    maker m = { .l = l, .why = why };
    xir_status status = place_all(&m, how);
    if (status) return status;
    uint32_t *ends = take(l, l->n_ops, sizeof *ends);
    if (l->n_unknown) l->unknown = take(l, l->n_ops, sizeof *l->unknown);
    if (!ends || (l->n_unknown && !l->unknown)) {
        drop(l, ends, l->n_ops, sizeof *ends);
        return diag_memory(why);
    }
    share(l, how);
    sum_up(l, ends);
    drop(l, ends, l->n_ops, sizeof *ends);
    return !how->parts || lives_share_parts(l, how) ? XIR_OK : diag_memory(why);
}

xir_liveness *xir_liveness_new(const xir_network *net, const xir_liveness_options *options, xir_diags *why) {
    xir_liveness_options how;
    if (!net) return diag_null(why, "network"), NULL;
    if (sized_take(OPTIONS_STRUCT, &how, options, why)) return NULL;
    xir_liveness *l = mem_new(&net->ctx->alloc, sizeof *l);
    if (!l) return diag_memory(why), NULL;
    *l = (xir_liveness){ .net = net, .n_ops = net->n_ops, .n_slots = net->n_slots };
    xir_status status = take_memory(l) ? fill(l, &how, why) : diag_memory(why);
    if (!status) return l;
    xir_liveness_free(l);
    return NULL;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

bool xir_liveness_of(const xir_liveness *l, const xir_value *value, xir_life *out) {
    xir_life made = XIR_INIT(xir_life);
    const uint32_t number = l && value && !value_is_params(value) ? lives_number(l, value) : NONE;
    if (number != NONE) {
        const life *it = &l->lives[number], *base = it->base != NONE ? &l->lives[it->base] : NULL;
        made.known = it->known;
        made.of_params = !base;
        made.first = it->first;
        made.last = it->last;
        made.bytes = it->bytes;
        made.in = base ? lives_value(l, it->base) : NULL;
        made.end = base ? base->end : it->last;
        made.begin = base && l->parts ? l->parts[it->base].begin : base ? base->first : it->first;
        made.offset = base && l->parts ? l->parts[number].offset : 0;
    }
    return !sized_fill(LIFE_STRUCT, out, &made, NULL) && number != NONE;
}

static bool has_position(const xir_liveness *l, int64_t at) { return l && at >= 0 && (uint64_t)at < l->n_ops; }

size_t xir_liveness_op_count(const xir_liveness *l) { return l ? l->n_ops : 0; }

const xir_op *xir_liveness_op_at(const xir_liveness *l, int64_t position) {
    return has_position(l, position) ? l->ops[position] : NULL;
}

uint64_t xir_liveness_bytes_at(const xir_liveness *l, int64_t position) {
    return has_position(l, position) ? l->bytes[position] : 0;
}

size_t xir_liveness_unknown_at(const xir_liveness *l, int64_t position) {
    return has_position(l, position) && l->unknown ? l->unknown[position] : 0;
}

int64_t xir_liveness_position(const xir_liveness *l, const xir_op *op) {
    return l && op && op->net == l->net && op->slot < l->n_slots ? (int64_t)l->place[op->slot] - 1 : -1;
}

size_t xir_liveness_values_at(const xir_liveness *l, int64_t position, const xir_value **out, size_t room) {
    size_t n = 0;
    if (!has_position(l, position)) return 0;
    for (uint32_t i = 0; i < l->values_of[position + 1]; i++) {
        const xir_value *value = l->lives[i].last >= position ? lives_value(l, i) : NULL;
        if (value && n++ < room) out[n - 1] = value;
    }
    return n;
}

const xir_network *xir_liveness_network(const xir_liveness *l) { return l ? l->net : NULL; }

xir_status xir_liveness_peak(const xir_liveness *l, xir_live_peak *out, xir_diags *why) {
    xir_live_peak made = XIR_INIT(xir_live_peak, .position = -1);
    if (l) {
        made.exact = !l->n_unknown;
        made.values = l->n;
        made.unknown = l->n_unknown;
    }
    if (l && l->n_ops) {
        made.bytes = l->bytes[l->peak];
        made.op = l->ops[l->peak];
        made.position = (int64_t)l->peak;
    }
    xir_status status = sized_fill(PEAK_STRUCT, out, &made, why);
    return status || l ? status : diag_null(why, "liveness");
}

typedef struct params_sum { uint64_t bytes; size_t unknown; } params_sum;

static bool add_params(void *user, xir_value *v) {
    params_sum *sum = user;
    uint64_t bytes = 0;
    const xir_status status = params_size(v, &bytes);
    if (status && status != XIR_E_LIMIT) sum->unknown++;
    else sum->bytes = xir_work_add(sum->bytes, status ? UINT64_MAX : bytes);
    return true;
}

uint64_t xir_liveness_params(const xir_liveness *l, size_t *unknown) {
    params_sum sum = { 0 };
    if (l) net_walk_params(l->net, add_params, &sum);
    if (unknown) *unknown = sum.unknown;
    return sum.bytes;
}
