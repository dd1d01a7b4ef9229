/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Moment by moment, a buffer that begins to live is compared with those that live, and then is one of them. One that
 * overlaps another is not added: so without groups the buffers that live share no bytes. */
#include "overlap.h"
#include <inttypes.h>
#include "place.h"
#include "ranks.h"
#include "sort.h"

typedef struct sweep {
    const overlaps *o;
    keyed    *starts, *ends, *spare;
    rank_end *by_rank;
    uint32_t *number;           /* by rank; buffers without bytes have none                                          */
    bool     *absent;           /* by rank: it overlaps another                                                      */
    uint32_t  n;
    bool      grouped;
    rank_set  set;
    rank_tree tree;
} sweep;

static uint32_t number_at(const overlaps *o, uint32_t i) { return o->numbers ? o->numbers[i] : i; }

static uint64_t moment_key(int64_t moment) { return (uint64_t)moment ^ (uint64_t)1 << 63; }

static bool take_arrays(sweep *s) {
    const xir_allocator *alloc = s->o->alloc;
    const size_t n = (size_t)s->o->n + 1;
    s->starts = mem_new(alloc, n * sizeof *s->starts);
    s->ends = mem_new(alloc, n * sizeof *s->ends);
    s->spare = mem_new(alloc, n * sizeof *s->spare);
    s->by_rank = mem_new(alloc, n * sizeof *s->by_rank);
    s->number = mem_new(alloc, n * sizeof *s->number);
    s->absent = mem_new(alloc, n * sizeof *s->absent);
    return s->starts && s->ends && s->spare && s->by_rank && s->number && s->absent;
}

static void drop_arrays(sweep *s) {
    const xir_allocator *alloc = s->o->alloc;
    const size_t n = (size_t)s->o->n + 1;
    mem_free(alloc, s->starts, n * sizeof *s->starts);
    mem_free(alloc, s->ends, n * sizeof *s->ends);
    mem_free(alloc, s->spare, n * sizeof *s->spare);
    mem_free(alloc, s->by_rank, n * sizeof *s->by_rank);
    mem_free(alloc, s->number, n * sizeof *s->number);
    mem_free(alloc, s->absent, n * sizeof *s->absent);
    rank_set_close(&s->set, alloc);
    rank_tree_close(&s->tree, alloc);
}

/* Ranks the buffers with bytes by offset. */
static void rank_buffers(sweep *s) {
    const overlaps *o = s->o;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t number = number_at(o, i);
        if (o->buffers[number].size) s->starts[s->n++] = (keyed){ o->offsets[number], number };
    }
    sort_keyed(s->starts, s->spare, s->n);
    for (uint32_t rank = 0; rank < s->n; rank++) {
        const uint32_t number = s->starts[rank].number;
        const xir_buffer *b = &o->buffers[number];
        s->number[rank] = number;
        s->by_rank[rank] = (rank_end){ o->offsets[number], o->offsets[number] + b->size, b->group };
        s->absent[rank] = false;
        s->grouped |= b->group != 0;
        s->starts[rank] = (keyed){ moment_key(b->from), rank };
        s->ends[rank] = (keyed){ moment_key(b->to), rank };
    }
    sort_keyed(s->starts, s->spare, s->n);
    sort_keyed(s->ends, s->spare, s->n);
}

/* The rank from which on offsets are not below the end of a buffer. */
static uint32_t rank_after(const sweep *s, uint32_t rank) {
    uint32_t from = rank + 1, to = s->n;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (s->by_rank[middle].from < s->by_rank[rank].to) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* A buffer that lives and overlaps this one. */
static uint32_t clash_of(const sweep *s, uint32_t rank) {
    if (s->grouped) return rank_tree_find(&s->tree, rank, rank_after(s, rank));
    const uint32_t below = rank_set_below(&s->set, rank), above = rank_set_above(&s->set, rank);
    if (below != NO_RANK && s->by_rank[below].to > s->by_rank[rank].from) return below;
    return above != NO_RANK && s->by_rank[above].from < s->by_rank[rank].to ? above : NO_RANK;
}

static xir_status report(const sweep *s, uint32_t rank, uint32_t with, const char *what, xir_diags *why) {
    const rank_end *a = &s->by_rank[rank], *b = &s->by_rank[with];
    return FAIL_BUFFER(why, XIR_E_INVALID, s->number[rank],
                       "%sbytes %" PRIu64 " to %" PRIu64 " overlap those of buffer %" PRIu32 ", %" PRIu64 " to %" PRIu64
                       ", at moment %" PRId64, what, a->from, a->to - 1, s->number[with], b->from, b->to - 1,
                       s->o->buffers[s->number[rank]].from);
}

static xir_status sweep_all(sweep *s, const char *what, xir_diags *why) {
    xir_status status = XIR_OK;
    for (uint32_t start = 0, end = 0; start < s->n;) {
        if (s->ends[end].key < s->starts[start].key) {
            const uint32_t rank = s->ends[end++].number;
            if (s->absent[rank]) continue;
            if (s->grouped) rank_tree_remove(&s->tree, rank);
            else rank_set_remove(&s->set, rank);
            continue;
        }
        const uint32_t rank = s->starts[start++].number, with = clash_of(s, rank);
        s->absent[rank] = with != NO_RANK;
        if (s->absent[rank]) status = report(s, rank, with, what, why);
        else if (s->grouped) rank_tree_add(&s->tree, rank);
        else rank_set_add(&s->set, rank);
    }
    return status;
}

xir_status overlaps_find(const overlaps *o, const char *what, xir_diags *why) {
    sweep s = { .o = o };
    bool ok = take_arrays(&s);
    if (ok) {
        rank_buffers(&s);
        ok = s.grouped ? rank_tree_open(&s.tree, o->alloc, s.by_rank, s.n) : rank_set_open(&s.set, o->alloc, s.n);
    }
    xir_status status = ok ? sweep_all(&s, what, why) : diag_memory(why);
    drop_arrays(&s);
    return status;
}
