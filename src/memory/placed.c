/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Blocks that end too early are passed over, level by level. Those found are sorted by merging runs. */
#include "placed.h"
#include <string.h>

static uint32_t blocks_of(uint32_t n) { return n / PLACED_FAN + (n % PLACED_FAN != 0); }

bool placed_open(placed *t, packing *p) {
    *t = (placed){ .p = p };
    t->at = packing_take(p, p->n, sizeof *t->at);
    t->begun = packing_take(p, p->sections, sizeof *t->begun);
    t->alive = packing_take(p, p->sections, sizeof *t->alive);
    if (!t->at || !t->begun || !t->alive) return false;
    for (uint32_t n = p->n; t->levels == 0 || n > PLACED_FAN; t->levels++) {
        if (t->levels) n = blocks_of(n);
        t->width[t->levels] = n;
        t->until[t->levels] = packing_take(p, n, sizeof **t->until);
        if (!t->until[t->levels]) return false;
    }
    for (uint32_t section = 0, begun = 0, alive = 0; section < p->sections; section++) {
        while (begun < p->n && p->pieces[begun].first == section) begun++;
        while (p->pieces[alive].last < section) alive++;
        t->begun[section] = begun;
        t->alive[section] = alive;
    }
    return true;
}

void placed_close(placed *t) {
    packing_drop(t->p, t->at, t->p->n, sizeof *t->at);
    packing_drop(t->p, t->begun, t->p->sections, sizeof *t->begun);
    packing_drop(t->p, t->alive, t->p->sections, sizeof *t->alive);
    for (unsigned level = 0; level < PLACED_LEVELS; level++)
        packing_drop(t->p, t->until[level], t->width[level], sizeof **t->until);
    mem_free(t->p->alloc, t->spans, t->room * sizeof *t->spans);
    mem_free(t->p->alloc, t->spare, t->spare_room * sizeof *t->spare);
}

void placed_clear(placed *t) {
    for (unsigned level = 0; level < t->levels; level++)
        memset(t->until[level], 0, t->width[level] * sizeof **t->until);
}

void placed_add(placed *t, uint32_t number, uint64_t at) {
    const uint32_t until = t->p->pieces[number].last + 1;
    t->at[number] = at;
    for (unsigned level = 0; level < t->levels; level++, number /= PLACED_FAN) {
        if (t->until[level][number] < until) t->until[level][number] = until;
        else if (level) break;
    }
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static void insert_each(span *spans, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const span it = spans[i];
        size_t at = i;
        for (; at > 0 && spans[at - 1].from > it.from; at--) spans[at] = spans[at - 1];
        spans[at] = it;
    }
}

static void merge(const span *a, const span *a_end, const span *b, const span *b_end, span *out) {
    while (a < a_end && b < b_end) *out++ = b->from < a->from ? *b++ : *a++;
    while (a < a_end) *out++ = *a++;
    while (b < b_end) *out++ = *b++;
}

enum { RUN = 16 };

/* Sorts runs, and merges neighbours. */
static bool sort_spans(placed *t) {
    const size_t n = t->n_spans;
    for (size_t i = 0; i < n; i += RUN) insert_each(t->spans + i, n - i < RUN ? n - i : RUN);
    if (n <= RUN) return true;
    if (!mem_reserve(t->p->alloc, (void **)&t->spare, &t->spare_room, t->room, sizeof *t->spare)) return false;
    for (size_t run = RUN; run < n; run *= 2) {
        t->steps += n;
        for (size_t i = 0; i < n; i += 2 * run) {
            const size_t middle = i + run < n ? i + run : n, end = middle + run < n ? middle + run : n;
            merge(t->spans + i, t->spans + middle, t->spans + middle, t->spans + end, t->spare + i);
        }
        span *sorted = t->spare;
        const size_t room = t->spare_room;
        t->spare = t->spans;
        t->spare_room = t->room;
        t->spans = sorted;
        t->room = room;
    }
    return true;
}

static bool add_span(placed *t, uint32_t number) {
    if (t->n_spans == t->room &&
        !mem_reserve(t->p->alloc, (void **)&t->spans, &t->room, t->room + RUN, sizeof *t->spans)) return false;
    t->spans[t->n_spans++] = (span){ t->at[number], t->at[number] + t->p->pieces[number].size };
    return true;
}

/* Looks at pieces one after the other. */
static bool scan(placed *t, uint32_t from, uint32_t to, uint32_t first) {
    const uint32_t *until = t->until[0];
    for (uint32_t i = from; i < to; i++) {
        if (until[i] > first && !add_span(t, i)) return false;
    }
    return true;
}

/* at[level] is the next block to look at; one level down, the next of its blocks. Blocks before `from` are passed over
 * quickly. */
static bool descend(placed *t, uint32_t from, uint32_t to, uint32_t first) {
    uint32_t at[PLACED_LEVELS] = { 0 };
    unsigned level = t->levels - 1;
    at[level] = from >> 4 * level;
    for (;;) {
        const uint32_t *until = t->until[level];
        const uint32_t over = level + 1 < t->levels ? at[level + 1] * PLACED_FAN : t->width[level];
        const uint32_t last = (to - 1) >> 4 * level, end = over < last + 1 ? over : last + 1;
        uint32_t i = at[level];
        while (i < end && until[i] <= first) i++;
        at[level] = i + 1;
        if (i >= end) {
            if (++level >= t->levels) return true;
        } else if (level) {
            at[--level] = i * PLACED_FAN;
        } else if (!add_span(t, i)) {
            return false;
        }
    }
}

enum { SCANNED = 128 };

bool placed_find(placed *t, uint32_t number) {
    const piece *it = &t->p->pieces[number];
    const uint32_t from = t->alive[it->first], to = t->begun[it->last];
    t->n_spans = 0;
    const bool ok = to - from <= SCANNED ? scan(t, from, to, it->first) : descend(t, from, to, it->first);
    t->steps += t->n_spans + 1;
    return ok && sort_spans(t);
}
