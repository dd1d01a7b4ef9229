/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts in the bytes of their wholes. Each op that joins or divides is tried, the one first that would save most bytes:
 * the sets of its parts go into the set of the whole, unless more bytes would live at the peak. */
#include <stdlib.h>
#include "class_shares.h"
#include "lives.h"
#include "range_sums.h"
#include "shares.h"

/* ---- sets -------------------------------------------------------------------------------------------------------- */

typedef struct joining {
    xir_liveness *l;
    range_sums    sums;
    uint32_t     *taken;    /* sets that go into a whole                        */
    uint64_t     *at;       /* where in it                                      */
    size_t        n, room, at_room;
} joining;

/* The set of a value: the number of its base. Sets *offset to where the value is in it. Shortens the way for later. */
static uint32_t set_of(xir_liveness *l, uint32_t number, uint64_t *offset) {
    uint64_t sum = 0;
    uint32_t base = number;
    for (; l->lives[base].base != base && l->lives[base].base != NONE; base = l->lives[base].base)
        sum += l->parts[base].offset;
    *offset = sum;
    for (uint32_t i = number, next; i != base; i = next) {
        const uint64_t own = l->parts[i].offset;
        next = l->lives[i].base;
        l->lives[i].base = base;
        l->parts[i].offset = sum;
        sum -= own;
    }
    return base;
}

/* Sets that a value of another memory, an input of the network or a result is in are kept. */
static void begin_sets(xir_liveness *l, const xir_liveness_options *how) {
    for (uint32_t at = 0; at < l->n_ops; at++) {
        const xir_op *op = l->ops[at];
        for (uint32_t i = l->values_of[at]; i < l->values_of[at + 1]; i++) {
            const uint32_t base = l->lives[i].base;
            const bool apart = op->cls->traits & XIR_TRAIT_SOURCE ||
                               (how->is_apart && how->is_apart(how->user, &op_outputs(op)[i - l->values_of[at]]));
            l->parts[i] = (life_part){ .begin = at };
            l->lives[i].next = NONE;
            if (base == NONE) continue;
            l->lives[base].kept |= apart || !l->lives[base].known;
            if (base != i && op->cls->more->shares.kind == SHARES_OVER) l->parts[base].over = at;
        }
    }
}

/* Returns true if the set of a part is nothing but the part, and may go into a set at an op. Two values of one set that
 * are written over each other need the whole not to be read in between. */
static bool may_join(xir_liveness *l, uint32_t part, uint64_t bytes, uint32_t whole, uint32_t at, bool joins,
                     uint32_t *set) {
    uint64_t offset;
    *set = set_of(l, part, &offset);
    const life *its = &l->lives[*set], *in = &l->lives[whole];
    if (*set == whole || offset || its->base == NONE || its->kept || its->bytes != bytes) return false;
    return joins ? l->parts[*set].over < at && (its->end <= at || l->parts[whole].over < at)
                 : !l->parts[*set].over || in->end == at;
}

/* Lists the sets of the parts of an op that may go into that of the whole. Sets *whole. False without memory. */
static bool list_parts(joining *j, uint32_t at, uint64_t align, uint32_t *whole) {
    xir_liveness *l = j->l;
    shares_parts parts;
    const xir_value *part;
    uint64_t offset, bytes, in;
    j->n = 0;
    if (!shares_begin_parts(l->ops[at], &parts)) return true;
    const uint32_t number = lives_number(l, parts.whole);
    *whole = number == NONE || l->lives[number].base == NONE ? NONE : set_of(l, number, &in);
    if (*whole == NONE || l->lives[*whole].kept || (!parts.joins && l->parts[*whole].over >= at)) return true;
    while (shares_next_part(&parts, &part, &offset, &bytes)) {
        const uint32_t its = lives_number(l, part);
        uint32_t set;
        if (its == NONE || (align && (in + offset) % align)) continue;
        if (!may_join(l, its, bytes, *whole, at, parts.joins, &set)) continue;
        if (!mem_reserve(&l->net->ctx->alloc, (void **)&j->taken, &j->room, j->n + 1, sizeof *j->taken) ||
            !mem_reserve(&l->net->ctx->alloc, (void **)&j->at, &j->at_room, j->n + 1, sizeof *j->at)) return false;
        if (l->lives[set].next == at) continue;   /* a value may be an input twice */
        l->lives[set].next = at;
        j->taken[j->n] = set;
        j->at[j->n++] = in + offset;
    }
    for (size_t i = 0; i < j->n; i++) l->lives[j->taken[i]].next = NONE;
    return true;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Adds the bytes of what is listed, in the bytes of the whole, or takes them away again. */
static void add_bytes(joining *j, uint32_t whole, uint32_t begin, uint32_t end, int sign) {
    const xir_liveness *l = j->l;
    const int64_t bytes = sign * (int64_t)l->lives[whole].bytes;
    range_sums_add(&j->sums, begin, l->parts[whole].begin, bytes);
    range_sums_add(&j->sums, l->lives[whole].end + (size_t)1, end + (size_t)1, bytes);
    for (size_t i = 0; i < j->n; i++) {
        const life *its = &l->lives[j->taken[i]];
        range_sums_add(&j->sums, l->parts[j->taken[i]].begin, its->end + (size_t)1, -sign * (int64_t)its->bytes);
    }
}

/* Joins what is listed with the whole, and returns true, unless the peak rises. */
static bool take_parts(joining *j, uint32_t whole) {
    xir_liveness *l = j->l;
    const int64_t peak = range_sums_most(&j->sums);
    uint32_t begin = l->parts[whole].begin, end = l->lives[whole].end, over = l->parts[whole].over;
    for (size_t i = 0; i < j->n; i++) {
        const uint32_t set = j->taken[i];
        if (l->parts[set].begin < begin) begin = l->parts[set].begin;
        if (l->lives[set].end > end) end = l->lives[set].end;
        if (l->parts[set].over > over) over = l->parts[set].over;
    }
    add_bytes(j, whole, begin, end, 1);
    if (range_sums_most(&j->sums) > peak) {
        add_bytes(j, whole, begin, end, -1);
        return false;
    }
    for (size_t i = 0; i < j->n; i++) {
        l->lives[j->taken[i]].base = whole;
        l->parts[j->taken[i]].offset = j->at[i];
    }
    l->parts[whole].begin = begin;
    l->parts[whole].over = over;
    l->lives[whole].end = end;
    return true;
}

/* The bytes of the whole are needed from the first part on: without that, they may fit. */
static void drop_first(joining *j) {
    size_t first = 0;
    for (size_t i = 1; i < j->n; i++)
        if (j->l->parts[j->taken[i]].begin < j->l->parts[j->taken[first]].begin) first = i;
    j->n--;
    j->taken[first] = j->taken[j->n];
    j->at[first] = j->at[j->n];
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

enum { MOST_TRIES = 8 };   /* for one op */

typedef struct candidate { uint64_t saved; uint32_t at; } candidate;

static int compare_candidates(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    if (left->saved != right->saved) return left->saved > right->saved ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static bool list_candidates(joining *j, uint64_t align, candidate **all, size_t *n, size_t *room) {
    xir_liveness *l = j->l;
    for (uint32_t at = 0, whole; at < l->n_ops; at++) {
        candidate it = { 0, at };
        if (!list_parts(j, at, align, &whole)) return false;
        for (size_t i = 0; i < j->n; i++) it.saved += l->lives[j->taken[i]].bytes;
        if (!it.saved) continue;
        if (!mem_reserve(&l->net->ctx->alloc, (void **)all, room, *n + 1, sizeof **all)) return false;
        (*all)[(*n)++] = it;
    }
    if (*n) qsort(*all, *n, sizeof **all, compare_candidates);
    return true;
}

static bool join_all(joining *j, uint64_t align) {
    candidate *all = NULL;
    size_t n = 0, room = 0;
    bool ok = list_candidates(j, align, &all, &n, &room);
    for (size_t i = 0; i < n && ok; i++) {
        uint32_t whole;
        ok = list_parts(j, all[i].at, align, &whole);
        for (unsigned tries = 0; ok && j->n && tries < MOST_TRIES && !take_parts(j, whole); tries++) drop_first(j);
    }
    mem_free(&j->l->net->ctx->alloc, all, room * sizeof *all);
    return ok;
}

/* Each value is in a base that is in no other. The bytes that live are the sums of the leaves. */
static void settle(joining *j) {
    xir_liveness *l = j->l;
    uint64_t offset;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->lives[i].base != NONE) (void)set_of(l, i, &offset);
    }
    l->peak = 0;
    for (size_t at = 0; at < l->n_ops; at++) {
        l->bytes[at] = (uint64_t)range_sums_at(&j->sums, at);
        if (l->bytes[at] > l->bytes[l->peak]) l->peak = at;
    }
}

bool lives_share_parts(xir_liveness *l, const xir_liveness_options *how) {
    enum { FAR = 62 };   /* sums beyond 2^FAR are not compared */
    if (!l->n_ops || l->bytes[l->peak] >> FAR) return true;
    const size_t bytes = (l->n + 1) * sizeof *l->parts;
    joining j = { .l = l };
    l->parts = mem_new(&l->net->ctx->alloc, bytes);
    bool ok = range_sums_open(&j.sums, &l->net->ctx->alloc, l->n_ops) && l->parts;
    for (size_t at = 0; at < l->n_ops && ok; at++) range_sums_add(&j.sums, at, at + 1, (int64_t)l->bytes[at]);
    if (ok) begin_sets(l, how);
    ok = ok && join_all(&j, how->part_align);
    if (ok) settle(&j);
    range_sums_close(&j.sums);
    mem_free(&l->net->ctx->alloc, j.taken, j.room * sizeof *j.taken);
    mem_free(&l->net->ctx->alloc, j.at, j.at_room * sizeof *j.at);
    return ok;
}
