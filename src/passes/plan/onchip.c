/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "onchip.h"
#include <stdlib.h>
#include <xir/work.h>
#include "range_sums.h"

enum { MOST_EXACT = 24, MOST_NODES = 1 << 20, MOST_PLANS = 64 };

typedef struct candidate {
    uint32_t buffer;
    uint64_t worth;      /* bytes that are read and written */
    uint64_t size;       /* a multiple of the alignment     */
    bool     taken;
} candidate;

typedef struct choice {
    const parts              *p;
    const plan_options       *how;
    uint64_t                  from, room;   /* addresses begin at `from`; so many bytes   */
    const xir_buffer         *buffers;
    const xir_memory_buffers *maps;
    xir_context              *ctx;
    candidate                *all;
    size_t                    n;
    range_sums                live;      /* bytes of what is taken, by moment             */
    xir_buffer               *chosen;    /* of one group, to be planned                   */
    xir_status                status;
} choice;

/* ---- worth ------------------------------------------------------------------------------------------------------- */

static void add_worth(const choice *c, uint64_t *worth, const xir_liveness *lives, const xir_value *v) {
    const size_t number = v ? xir_memory_buffers_find(c->maps, v) : SIZE_MAX;
    xir_life life = XIR_INIT(xir_life);
    if (number == SIZE_MAX || !xir_liveness_of(lives, v, &life)) return;
    worth[number] = xir_work_add(worth[number], life.known ? life.bytes : c->buffers[number].size);
}

/* A view moves no bytes. */
static void find_worth(const choice *c, const xir_liveness *lives, uint64_t *worth) {
    for (const xir_op *op = c->p->net->first; op; op = op->next) {
        if (op->cls->more->shares.kind == SHARES_VIEW || !parts_plans(c->p, op)) continue;
        for (uint32_t i = 0; i < op->n_inputs; i++) add_worth(c, worth, lives, op_inputs(op)[i].value);
        for (uint32_t i = 0; i < op->n_outputs; i++) add_worth(c, worth, lives, &op_outputs(op)[i]);
    }
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static bool has_room(const choice *c, const candidate *it) {
    const xir_buffer *b = &c->buffers[it->buffer];
    const int64_t most = range_sums_most_in(&c->live, (size_t)b->from, (size_t)b->to + 1);
    return it->size <= c->room - (uint64_t)most;
}

static void take(choice *c, candidate *it, bool taken) {
    const xir_buffer *b = &c->buffers[it->buffer];
    const int64_t bytes = (int64_t)it->size;
    range_sums_add(&c->live, (size_t)b->from, (size_t)b->to + 1, taken ? bytes : -bytes);
    it->taken = taken;
}

/* Plans what is taken of a group; NULL if it does not fit. */
static xir_memory_plan *plan_taken(choice *c, const candidate *group, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (group[i].taken) c->chosen[k++] = c->buffers[group[i].buffer];
    xir_diags *why = xir_diags_new(c->ctx);
    xir_memory_plan *plan = why ? xir_memory_plan_new(c->ctx, c->chosen, k,
                                                      &XIR_INIT(xir_memory_options, .effort = c->how->effort,
                                                                .limit = c->room), why) : NULL;
    const xir_diag *found = why ? xir_diags_at(why, 0) : NULL;
    if (!plan && (!found || found->code != XIR_E_LIMIT)) c->status = found ? found->code : XIR_E_MEMORY;
    xir_diags_free(why);
    return plan;
}

static bool fits(choice *c, const candidate *group, size_t n) {
    xir_memory_plan *plan = plan_taken(c, group, n);
    xir_memory_plan_free(plan);
    return plan != NULL;
}

static xir_status place_taken(choice *c, const candidate *group, size_t n) {
    xir_memory_plan *plan = plan_taken(c, group, n);
    for (size_t i = 0, k = 0; plan && i < n; i++) {
        if (!group[i].taken) continue;
        part *its = parts_find(c->p, xir_memory_buffers_value(c->maps, group[i].buffer));
        its->onchip = true;
        its->address = c->from + xir_memory_plan_offsets(plan)[k++];
    }
    xir_memory_plan_free(plan);
    return c->status;
}

/* ---- a small group: all choices ---------------------------------------------------------------------------------- */

typedef struct search {
    choice    *c;
    candidate *group;
    size_t     n;
    uint64_t   worth, best, rest[MOST_EXACT + 1];   /* rest: of those from an index on       */
    uint32_t   taken;                               /* bits of the best                      */
    unsigned   nodes, plans;
} search;

/* `at` is at most MOST_EXACT. */
static void search_from(search *s, size_t at) {
    if (s->worth + s->rest[at] <= s->best || s->nodes++ >= MOST_NODES || s->plans >= MOST_PLANS || s->c->status) return;
    if (at == s->n) {
        s->plans++;
        if (!fits(s->c, s->group, s->n)) return;
        s->best = s->worth;
        s->taken = 0;
        for (size_t i = 0; i < s->n; i++) s->taken |= (uint32_t)s->group[i].taken << i;
        return;
    }
    candidate *it = &s->group[at];
    if (has_room(s->c, it)) {
        take(s->c, it, true);
        s->worth += it->worth;
        search_from(s, at + 1);
        s->worth -= it->worth;
        take(s->c, it, false);
    }
    search_from(s, at + 1);
}

static void choose_exactly(choice *c, candidate *group, size_t n) {
    search s = { .c = c, .group = group, .n = n };
    for (size_t i = n; i-- > 0;) s.rest[i] = s.rest[i + 1] + group[i].worth;
    search_from(&s, 0);
    for (size_t i = 0; i < n; i++)
        if (s.taken >> i & 1) take(c, &group[i], true);
}

/* ---- a large one: one after the other ---------------------------------------------------------------------------- */

/* Of what has room by its sums, as many of the first ones as a plan has room for. */
static void choose_greedily(choice *c, candidate *group, size_t n) {
    size_t low = 0, high = n;   /* so many fit; so many may */
    for (size_t i = 0; i < n; i++)
        if (has_room(c, &group[i])) take(c, &group[i], true);
    if (fits(c, group, n)) return;
    while (low < high && !c->status) {
        const size_t middle = high - (high - low) / 2;
        if (fits(c, group, middle)) low = middle;
        else high = middle - 1;
    }
    for (size_t i = low; i < n; i++)
        if (group[i].taken) take(c, &group[i], false);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static int compare_worth(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    if (left->worth != right->worth) return left->worth > right->worth ? -1 : 1;
    return left->buffer < right->buffer ? -1 : left->buffer > right->buffer;
}

/* Those whose bytes are read and written most often come first. */
static int compare_uses(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    const __uint128_t uses = (__uint128_t)left->worth * right->size, other = (__uint128_t)right->worth * left->size;
    return uses != other ? (uses > other ? -1 : 1) : compare_worth(a, b);
}

static void choose_group(choice *c, candidate *group, size_t n) {
    const bool exact = n <= MOST_EXACT;
    qsort(group, n, sizeof *group, exact ? compare_worth : compare_uses);
    if (exact) choose_exactly(c, group, n);
    else choose_greedily(c, group, n);
    if (!c->status) c->status = place_taken(c, group, n);
}

/* Candidates are in the order in which they begin. A group ends where none lives on. */
static void choose_all(choice *c) {
    for (size_t from = 0, to; from < c->n && !c->status; from = to) {
        int64_t end = c->buffers[c->all[from].buffer].to;
        for (to = from + 1; to < c->n && c->buffers[c->all[to].buffer].from <= end; to++)
            if (c->buffers[c->all[to].buffer].to > end) end = c->buffers[c->all[to].buffer].to;
        choose_group(c, &c->all[from], to - from);
    }
}

static void list_candidates(choice *c, size_t n, const uint64_t *worth) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t bytes = c->buffers[i].size, align = c->how->align;
        if (!xir_memory_buffers_value(c->maps, i) || !worth[i] || !bytes || bytes > c->room) continue;
        c->all[c->n++] = (candidate){ .buffer = (uint32_t)i, .worth = worth[i],
                                      .size = (bytes + align - 1) & ~(align - 1) };
    }
}

xir_status onchip_choose(const parts *p, const plan_options *how, uint64_t from, const xir_memory_buffers *maps,
                         const xir_liveness *lives, xir_diags *said) {
    const size_t n = xir_memory_buffers_count(maps), moments = xir_liveness_op_count(lives);
    const xir_allocator *alloc = &p->net->ctx->alloc;
    if (from >= how->onchip) return XIR_OK;
    choice c = { .p = p, .how = how, .from = from, .room = how->onchip - from,
                 .buffers = xir_memory_buffers_data(maps), .maps = maps, .ctx = p->net->ctx,
                 .all = mem_new(alloc, (n + 1) * sizeof *c.all), .chosen = mem_new(alloc, (n + 1) * sizeof *c.chosen) };
    uint64_t *worth = mem_new(alloc, (n + 1) * sizeof *worth);
    if (range_sums_open(&c.live, alloc, moments) && c.all && c.chosen && worth) {
        memset(worth, 0, (n + 1) * sizeof *worth);
        find_worth(&c, lives, worth);
        list_candidates(&c, n, worth);
        choose_all(&c);
    } else {
        c.status = XIR_E_MEMORY;
    }
    range_sums_close(&c.live);
    mem_free(alloc, c.all, (n + 1) * sizeof *c.all);
    mem_free(alloc, c.chosen, (n + 1) * sizeof *c.chosen);
    mem_free(alloc, worth, (n + 1) * sizeof *worth);
    return c.status == XIR_E_MEMORY ? diag_memory(said) : c.status;
}
