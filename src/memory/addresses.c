/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The addresses of a network's values are sound if values that overlap and live together may do so. Op by op, each
 * value that is made is compared with those that live and overlap it. Values of the same addresses have one place, and
 * its rank. Those of a place that are in the same bytes by the rows of their classes are one set, which has the number
 * of the value that began it: a value that joins the set is not compared with it. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/memory.h>
#include <xir/ops.h>
#include "addresses_inside.h"
#include "class_shares.h"
#include "graph.h"
#include "hash.h"
#include "lives.h"
#include "places.h"
#include "shares.h"
#include "sized.h"
#include "sort.h"

#define OPTIONS_STRUCT SIZED(xir_memory_check_options, align)

/* A value, or Params. */
typedef struct addressed {
    const xir_value *value;
    const xir_value *in;               /* the oldest value in the same bytes, or the Params; NULL: unknown     */
    const xir_op    *reader;           /* of Params: the first op that reads them                              */
    uint32_t         input;            /* of that op                                                           */
    uint32_t         first, last;      /* positions                                                            */
    uint32_t         rank;
    uint32_t         set;
    uint32_t         before, after;    /* of those that live in that set; NO_PLACE: none                       */
    uint32_t         living;           /* of a set: one that lives                                             */
    uint32_t         older, newer;     /* of a set: those that live in the same place                          */
    uint32_t         next;             /* of those that end at the same op; NO_PLACE: none                     */
    uint32_t         read;             /* the position + 1 of the op that was looked at last, if that reads it */
    bool             named, unnamed;   /* that op reads it through an input that its row names, or not         */
    bool             kept;             /* a result, or Params                                                  */
} addressed;

typedef struct check {
    const xir_network *net;
    const xir_allocator *alloc;
    const xir_memory_check_options *how;
    const xir_liveness *lives;
    xir_diags     *why;
    xir_status     status;       /* of the first finding                                */
    addressed     *values;       /* Params, then values in the order of their making    */
    place         *all;          /* of `values`; later by rank                          */
    size_t         n, room, n_ranks;
    pointer_table  params;       /* the number of Params in `values`                    */
    uint32_t      *numbers;      /* by number of liveness: that in `values`, or NO_PLACE */
    pointer_table  views;        /* by view of Params: the place of these in `roots`    */
    const xir_value **roots;
    size_t         n_roots, root_room;
    uint32_t      *ending;       /* by position of the order: a value that ends there   */
    uint32_t      *sets;         /* by rank: the newest set that lives there; NO_PLACE  */
    size_t         n_ops;
    places         places;
    uint64_t       left;         /* comparisons that may still be made                  */
} check;

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static const char *const memories[] = { "the host", "on-chip memory", "external memory", "its chunk" };

static void fail_value(check *c, xir_status code, const addressed *v, const char *format, ...) XIR_PRINTF(4, 5);
static void fail_value(check *c, xir_status code, const addressed *v, const char *format, ...) {
    char path[64], sentence[SENTENCE_ROOM];
    va_list args;
    va_start(args, format);
    text_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    const xir_op *op = v->reader ? v->reader : value_op(v->value);
    snprintf(path, sizeof path, "/ops/%" PRId64 "/%s/%zu", xir_network_index_of(c->net, op),
             v->reader ? "inputs" : "outputs", v->reader ? v->input : (size_t)(v->value - op_outputs(op)));
    diag_fail(c->why, code, xir_str_of(path), "%s", sentence);
    if (!c->status) c->status = code;
}

static void report_overlap(check *c, const addressed *v, const addressed *other) {
    const place *it = &c->all[v->rank], *with = &c->all[other->rank];
    const xir_str name = xir_value_name(other->value);
    fail_value(c, XIR_E_INVALID, v, "bytes %" PRIu64 " to %" PRIu64 " of %s overlap those of %s '%.*s', %" PRIu64
               " to %" PRIu64 ", which live%s", it->from, it->to - 1,
               memories[xir_mtype_kind_of(xir_value_mtype(v->value))], other->reader ? "Params" : "value", CLIP(name),
               with->from, with->to - 1, other->reader ? " all the time" : "s at the same time");
}

/* ---- which overlaps are allowed ---------------------------------------------------------------------------------- */

/* Its rules may let it do anything with its values. */
static bool has_no_rules(const xir_op *op) {
    return xir_class_is_opaque(op->cls) || xir_op_is(op, xir_hard_op_class());
}

static bool joins_or_divides(const xir_op *op) { return op->cls->more->shares.kind >= SHARES_DIVIDES; }

/* NULL if the value has no address. */
static addressed *addressed_of(const check *c, const xir_value *v) {
    uint32_t number = NO_PLACE;
    if (v && value_is_params(v)) {
        const uint32_t *found = pointer_table_find(&c->params, v);
        if (found) number = *found;
    } else {
        const uint32_t at = lives_number(c->lives, v);
        if (at != NONE) number = c->numbers[at];
    }
    return number != NO_PLACE ? &c->values[number] : NULL;
}

static bool reads(check *c, const xir_op *op, const xir_value *v) {
    for (uint32_t i = 0; i < op->n_inputs && c->left; i++, c->left--) {
        if (op_inputs(op)[i].value == v) return true;
    }
    return false;
}

/* Notes which values an op reads, and through which inputs. */
static void note_inputs(check *c, const xir_op *op, uint32_t at) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        addressed *v = addressed_of(c, op_inputs(op)[i].value);
        if (!v) continue;
        if (v->read != at + 1) v->named = v->unnamed = false;
        v->read = at + 1;
        if (shares_names_input(op, i)) v->named = true;
        else v->unnamed = true;
    }
}

/* The op that makes `v` was looked at last. It reads `other`, or makes it. */
static bool maker_has(const addressed *v, const addressed *other) {
    return other->read == v->first + 1 || value_op(other->value) == value_op(v->value);
}

/* An op without rules reads both, or makes `v` and has the other. */
static bool share_such_an_op(check *c, const addressed *v, const addressed *other) {
    const xir_op *maker = value_op(v->value);
    if (maker && has_no_rules(maker) && maker_has(v, other)) return true;
    for (const xir_use *u = v->value->uses; u && c->left; u = u->next, c->left--) {
        if (has_no_rules(u->user) && reads(c, u->user, other->value)) return true;
    }
    return false;
}

/* `v` is the first output of an op whose row names the input `over`, which nothing reads later, and which this op reads
 * through no other input. Both have as many elements of as many bits. */
static bool is_over(const addressed *v, const addressed *over) {
    const xir_op *op = value_op(v->value);
    return op->cls->more->shares.kind == SHARES_OVER && v->value == &op_outputs(op)[0] && !op_has_children(op) &&
           over->last == v->first && !over->kept && over->read == v->first + 1 && over->named && !over->unnamed &&
           shares_same_places(v->value->type, over->value->type);
}

static bool same_bytes(const place *a, const place *b) { return a->from == b->from && a->to == b->to; }

/* The place of a value; NULL if it has none. */
static const place *place_of(const check *c, const xir_value *v) {
    const addressed *it = addressed_of(c, v);
    return it ? &c->all[it->rank] : NULL;
}

/* Returns true if a part is at its place in the whole. */
static bool is_part_at(const place *part, const place *whole, uint64_t offset) {
    return part && whole && part->memory == whole->memory && part->from == whole->from + offset;
}

/* The op that makes `v` does not write the bytes of `other`: `v` is a view at the address of what it is of; or the op
 * divides, and `v` is at its place in the whole; or it joins, and `other` is in a part that is at its place. */
static bool is_not_written(check *c, const addressed *v, const addressed *other) {
    const place *with = &c->all[other->rank];
    const xir_op *op = value_op(v->value);
    const size_t input = (size_t)__builtin_ctzll(op->cls->more->shares.inputs);
    if (op->cls->more->shares.kind == SHARES_VIEW)
        return shares_is_view(op, input) && is_part_at(&c->all[v->rank], place_of(c, op_inputs(op)[input].value), 0);
    const xir_value *part;
    shares_parts parts;
    uint64_t offset, bytes;
    if (!shares_begin_parts(op, &parts)) return false;
    const place *whole = place_of(c, parts.whole);
    for (; c->left && shares_next_part(&parts, &part, &offset, &bytes); c->left--) {
        if (!parts.joins && part != v->value) continue;
        const place *its = place_of(c, part);
        const bool kept = is_part_at(its, whole, offset);
        if (!parts.joins || (kept && with->from >= its->from && with->to <= its->to)) return kept;
    }
    return false;
}

/* `v` is made later than `other`, or by the same op. */
static bool may_overlap(check *c, const addressed *v, const addressed *other) {
    const xir_op *maker = value_op(v->value);
    if (maker && same_bytes(&c->all[v->rank], &c->all[other->rank]) && is_over(v, other)) return true;
    if (maker && joins_or_divides(maker) && value_op(other->value) != maker && maker_has(v, other)) return true;
    if (maker && maker->cls->more->shares.kind && is_not_written(c, v, other)) return true;
    return share_such_an_op(c, v, other);
}

/* ---- values with addresses --------------------------------------------------------------------------------------- */

static void check_place(check *c, const addressed *v, const place *it, xir_mtype_kind kind) {
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

/* Adds a value with its number of liveness, or Params; unless it has no address. */
static xir_status add_value(check *c, const addressed *v, uint32_t number, uint64_t bytes) {
    const xir_mtype *mtype = xir_value_mtype(v->value);
    const xir_mtype_kind kind = xir_mtype_kind_of(mtype);
    if (kind == XIR_MTYPE_HOST || !bytes) return XIR_OK;
    const bool chunk = kind == XIR_MTYPE_CHUNK;
    place it = { .memory = chunk ? xir_mtype_addr(mtype) * 4 + kind : (uint64_t)kind,
                 .from = chunk ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype) };
    if (!add_u64(it.from, bytes, &it.to)) {
        fail_value(c, XIR_E_LIMIT, v, "%" PRIu64 " bytes at %" PRIu64 " end beyond 2^64 - 1", bytes, it.from);
        return XIR_OK;
    }
    if (!v->reader) c->numbers[number] = (uint32_t)c->n;
    else if (!pointer_table_add(&c->params, v->value, (uint32_t)c->n)) return diag_memory(c->why);
    c->values[c->n] = *v;
    c->all[c->n++] = it;
    check_place(c, v, &it, kind);
    return XIR_OK;
}

/* Params live all the time. */
static xir_status add_params_of(check *c, const xir_op *op) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        uint64_t bytes;
        if (!v || !value_is_params(v) || xir_mtype_kind_of(xir_value_mtype(v)) == XIR_MTYPE_HOST ||
            pointer_table_find(&c->params, v) || params_size(v, &bytes)) continue;
        const addressed it = { .value = v, .in = v, .reader = op, .input = i, .last = (uint32_t)c->n_ops - 1,
                               .kept = true };
        status = add_value(c, &it, NONE, bytes);
    }
    return status;
}

/* Finds the Params that a value is a view of. The op that makes it is a view of these, or of another such value. */
static xir_status find_root(check *c, const xir_value *v, const xir_value **root) {
    const xir_op *op = value_op(v);
    const xir_value *from = op_inputs(op)[__builtin_ctzll(op->cls->more->shares.inputs)].value;
    const uint32_t *known = pointer_table_find(&c->views, from);
    *root = known ? c->roots[*known] : from;
    if (!mem_reserve(c->alloc, (void **)&c->roots, &c->root_room, c->n_roots + 1, sizeof *c->roots) ||
        !pointer_table_add(&c->views, v, (uint32_t)c->n_roots)) return diag_memory(c->why);
    c->roots[c->n_roots++] = *root;
    return XIR_OK;
}

static xir_status add_output(check *c, const xir_value *v, uint32_t number) {
    const life *its = &c->lives->lives[number];
    addressed it = { .value = v, .first = its->first, .last = its->last };
    xir_status status = XIR_OK;
    if (its->base != NONE) it.in = lives_value(c->lives, its->base);
    else status = find_root(c, v, &it.in);
    return !status && its->known ? add_value(c, &it, number, its->bytes) : status;
}

static void keep_results(check *c) {
    const xir_op *output = xir_network_output_op(c->net);
    for (uint32_t i = 0; output && i < output->n_inputs; i++) {
        addressed *v = addressed_of(c, op_inputs(output)[i].value);
        if (v) v->kept = true;
    }
}

static xir_status add_values(check *c) {
    xir_status status = XIR_OK;
    for (size_t at = 0; at < c->n_ops && !status; at++)
        status = add_params_of(c, xir_liveness_op_at(c->lives, (int64_t)at));
    for (uint32_t number = 0; number < c->lives->n && !status; number++)
        status = add_output(c, lives_value(c->lives, number), number);
    if (!status) keep_results(c);
    return status;
}

/* Sorts the places by memory and address, and gives the same rank to those that are equal. */
static bool rank_values(check *c) {
    const size_t n = c->room;
    keyed *keys = mem_new(c->alloc, n * sizeof *keys), *spare = mem_new(c->alloc, n * sizeof *spare);
    place *sorted = mem_new(c->alloc, n * sizeof *sorted);
    const bool ok = keys && spare && sorted;
    for (unsigned digit = 0; ok && digit < 3; digit++) {    // the least significant one first
        for (uint32_t i = 0; i < c->n; i++) {
            const uint32_t number = digit ? keys[i].number : i;
            const place *it = &c->all[number];
            keys[i] = (keyed){ digit == 0 ? it->to : digit == 1 ? it->from : it->memory, number };
        }
        sort_keyed(keys, spare, c->n);
    }
    uint32_t start = 0;
    for (uint32_t i = 0; ok && i < c->n; i++) {
        const place *it = &c->all[keys[i].number];
        if (!c->n_ranks || sorted[c->n_ranks - 1].memory != it->memory || !same_bytes(&sorted[c->n_ranks - 1], it)) {
            if (c->n_ranks && sorted[start].memory != it->memory) start = (uint32_t)c->n_ranks;
            sorted[c->n_ranks] = *it;
            sorted[c->n_ranks++].start = start;
        }
        c->values[keys[i].number].rank = (uint32_t)c->n_ranks - 1;
    }
    mem_free(c->alloc, keys, n * sizeof *keys);
    mem_free(c->alloc, spare, n * sizeof *spare);
    mem_free(c->alloc, ok ? c->all : sorted, n * sizeof *sorted);
    if (ok) c->all = sorted;
    return ok;
}

/* ---- the sweep --------------------------------------------------------------------------------------------------- */

/* Compares a value with those that live in a set. Returns false if it has a finding. */
static bool compare_with(check *c, const addressed *v, uint32_t set) {
    for (uint32_t i = c->values[set].living; i != NO_PLACE && c->left; i = c->values[i].after) {
        const addressed *other = &c->values[i];
        c->left--;
        if (may_overlap(c, v, other) || !c->left) continue;
        report_overlap(c, v, other);
        return false;
    }
    return true;
}

/* Compares a value with the sets that live in a place, and joins the one in the same bytes. */
static bool compare_at(check *c, addressed *v, uint32_t rank) {
    for (uint32_t set = c->sets[rank]; set != NO_PLACE && c->left; set = c->values[set].older) {
        if (rank == v->rank && v->in && v->in == c->values[set].in) {
            v->set = set;
            c->left--;
        } else if (!compare_with(c, v, set)) {
            return false;
        }
    }
    return true;
}

/* Compares a value with those that live. One finding is enough. */
static void compare(check *c, addressed *v) {
    const place *it = &c->all[v->rank];
    for (uint32_t rank = places_next(&c->places, it->start, it->from); rank != NO_PLACE && c->left;
         rank = places_next(&c->places, rank + 1, it->from)) {
        if (c->all[rank].memory != it->memory || c->all[rank].from >= it->to || !compare_at(c, v, rank)) return;
    }
}

static void begin_set(check *c, uint32_t set) {
    addressed *v = &c->values[set];
    uint32_t *newest = &c->sets[v->rank];
    v->living = v->newer = NO_PLACE;
    v->older = *newest;
    if (v->older != NO_PLACE) c->values[v->older].newer = set;
    else places_add(&c->places, v->rank);
    *newest = set;
}

static void end_set(check *c, const addressed *v) {
    if (v->older != NO_PLACE) c->values[v->older].newer = v->newer;
    if (v->newer != NO_PLACE) c->values[v->newer].older = v->older;
    else c->sets[v->rank] = v->older;
    if (c->sets[v->rank] == NO_PLACE) places_remove(&c->places, v->rank);
}

static void begin_life(check *c, uint32_t number) {
    addressed *v = &c->values[number];
    if (v->set == number) begin_set(c, number);
    uint32_t *living = &c->values[v->set].living;
    if (*living != NO_PLACE) c->values[*living].before = number;
    v->before = NO_PLACE;
    v->after = *living;
    *living = number;
    v->next = c->ending[v->last];
    c->ending[v->last] = number;
}

static void end_life(check *c, const addressed *v) {
    addressed *set = &c->values[v->set];
    if (v->after != NO_PLACE) c->values[v->after].before = v->before;
    if (v->before != NO_PLACE) c->values[v->before].after = v->after;
    else set->living = v->after;
    if (set->living == NO_PLACE) end_set(c, set);
}

/* A value that lives and has bytes of a place. */
static const xir_value *living_at(void *user, const place *it) {
    const check *c = user;
    const uint32_t rank = places_next(&c->places, places_of_memory(&c->places, it->memory), it->from);
    const bool shares = rank != NO_PLACE && c->all[rank].memory == it->memory && c->all[rank].from < it->to;
    return shares ? c->values[c->values[c->sets[rank]].living].value : NULL;
}

static void check_body(check *c, const xir_op *call) {
    inside_check inside = { .ctx = c->net->ctx, .how = c->how, .why = c->why, .living = living_at, .user = c };
    const xir_status status = inside_check_call(&inside, call, xir_network_index_of(c->net, call));
    if (!c->status) c->status = status ? status : inside.status;
}

static void sweep(check *c) {
    memset(c->ending, 0xFF, c->n_ops * sizeof *c->ending);
    memset(c->sets, 0xFF, c->n_ranks * sizeof *c->sets);
    uint32_t made = 0;
    for (uint32_t at = 0; at < c->n_ops && c->left; at++) {
        if (made < c->n && c->values[made].first == at) note_inputs(c, xir_liveness_op_at(c->lives, at), at);
        for (; made < c->n && c->values[made].first == at; made++) {
            c->values[made].set = made;
            compare(c, &c->values[made]);
            begin_life(c, made);
        }
        const xir_op *op = xir_liveness_op_at(c->lives, at);
        if (op_has_children(op) && xir_op_is(op, xir_call_op_class())) check_body(c, op);
        for (uint32_t i = c->ending[at]; i != NO_PLACE; i = c->values[i].next) end_life(c, &c->values[i]);
    }
    if (!c->left) {
        diag_fail(c->why, XIR_E_LIMIT, XIR_STR(""), "too many values overlap: not all were compared");
        if (!c->status) c->status = XIR_E_LIMIT;
    }
}

static bool has_address(const xir_value *v) { return v && xir_mtype_kind_of(xir_value_mtype(v)) != XIR_MTYPE_HOST; }

static bool count_in(void *user, xir_op *op) {
    size_t *n = user;
    for (uint32_t i = 0; i < op->n_outputs; i++) *n += has_address(&op_outputs(op)[i]);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        *n += v && value_is_params(v) && has_address(v);
    }
    return !xir_op_is(op, xir_call_op_class()) || op_each_child(op, count_in, user);
}

/* A bound of the number of values that have addresses, also in bodies: Params are counted as often as they are read. */
static size_t count_addresses(const xir_network *net) {
    size_t n = 0;
    for (xir_op *op = net->first; op; op = op->next) (void)count_in(&n, op);
    return n;
}

static xir_status compare_all(check *c) {
    if (!rank_values(c) || !places_open(&c->places, c->alloc, c->all, (uint32_t)c->n_ranks)) return diag_memory(c->why);
    c->ending = mem_new(c->alloc, (c->n_ops + 1) * sizeof *c->ending);
    c->sets = mem_new(c->alloc, c->room * sizeof *c->sets);
    if (!c->ending || !c->sets) return diag_memory(c->why);
    c->left = 64 * (uint64_t)c->n + ((uint64_t)1 << 24);
    sweep(c);
    return c->status;
}

static xir_status run(check *c) {
    const size_t n_lives = c->lives->n;
    if (c->room >= NO_PLACE)
        return diag_fail(c->why, XIR_E_LIMIT, XIR_STR(""), "more than 2^32 - 2 values and Params have addresses");
    c->n_ops = xir_liveness_op_count(c->lives);
    pointer_table_init(&c->params, c->alloc);
    pointer_table_init(&c->views, c->alloc);
    c->values = mem_new(c->alloc, c->room * sizeof *c->values);
    c->all = mem_new(c->alloc, c->room * sizeof *c->all);
    c->numbers = mem_new(c->alloc, (n_lives + 1) * sizeof *c->numbers);
    xir_status status = c->values && c->all && c->numbers ? XIR_OK : diag_memory(c->why);
    if (!status) memset(c->numbers, 0xFF, n_lives * sizeof *c->numbers);    // NO_PLACE
    if (!status) status = add_values(c);
    if (!status) status = compare_all(c);
    places_close(&c->places);
    pointer_table_free(&c->params);
    pointer_table_free(&c->views);
    mem_free(c->alloc, (void *)c->roots, c->root_room * sizeof *c->roots);
    mem_free(c->alloc, c->ending, (c->n_ops + 1) * sizeof *c->ending);
    mem_free(c->alloc, c->sets, c->room * sizeof *c->sets);
    mem_free(c->alloc, c->numbers, (n_lives + 1) * sizeof *c->numbers);
    mem_free(c->alloc, c->values, c->room * sizeof *c->values);
    mem_free(c->alloc, c->all, c->room * sizeof *c->all);
    return status;
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
    const size_t room = status ? 0 : count_addresses(net);
    if (!room) return status;
    xir_liveness *lives = NULL;
    status = make_lives(net, &lives, why);
    if (status) return status;
    check c = { .net = net, .alloc = &net->ctx->alloc, .how = &how, .lives = lives, .why = why,
                .room = room };
    c.places.alloc = c.alloc;
    status = run(&c);
    xir_liveness_free(lives);
    return status;
}
