/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Effort 0. Section by section, the pieces that begin there are taken from the free memory, the largest first, and
 * those that end there are given back. The same backwards is another plan: pieces that live to the end are then placed
 * first. Fixed pieces are passed over: the others are then moved, all by as much, to where none of them ever is. */
#include "gaps.h"
#include "sort.h"

typedef struct sweep {
    packing  *p;
    uint32_t *order;     /* pieces in the order in which they begin; NULL: that of their numbers           */
    uint32_t *ending;    /* by section: one of the pieces that end there                                   */
    uint32_t *next;      /* by piece: the next one that ends there                                         */
    uint32_t *taken;     /* by piece: its block                                                            */
    uint64_t *at;
    gaps      free;
    bool      backwards;
} sweep;

static uint32_t begins(const sweep *s, uint32_t i) {
    const packing *p = s->p;
    return s->backwards ? p->sections - 1 - p->pieces[i].last : p->pieces[i].first;
}

static uint32_t ends(const sweep *s, uint32_t i) {
    const packing *p = s->p;
    return s->backwards ? p->sections - 1 - p->pieces[i].first : p->pieces[i].last;
}

static bool open_sweep(sweep *s, packing *p, bool backwards) {
    *s = (sweep){ .p = p, .backwards = backwards };
    gaps_init(&s->free, p->alloc);
    s->ending = packing_take(p, p->sections, sizeof *s->ending);
    s->next = packing_take(p, p->n, sizeof *s->next);
    s->taken = packing_take(p, p->n, sizeof *s->taken);
    s->at = packing_take(p, p->n, sizeof *s->at);
    return s->ending && s->next && s->taken && s->at;
}

static void close_sweep(sweep *s) {
    packing *p = s->p;
    p->steps += s->free.steps + p->n;
    packing_drop(p, s->order, p->n, sizeof *s->order);
    packing_drop(p, s->ending, p->sections, sizeof *s->ending);
    packing_drop(p, s->next, p->n, sizeof *s->next);
    packing_drop(p, s->taken, p->n, sizeof *s->taken);
    packing_drop(p, s->at, p->n, sizeof *s->at);
    gaps_free(&s->free);
}

/* Pieces by their last section, the latest first. Those of one section keep their order, which is by first section:
 * so they are sorted by size before. */
static bool order_backwards(sweep *s) {
    const packing *p = s->p;
    keyed *keyed_ = packing_take(p, p->n, sizeof *keyed_), *spare = packing_take(p, p->n, sizeof *spare);
    s->order = packing_take(p, p->n, sizeof *s->order);
    const bool ok = keyed_ && spare && s->order;
    for (uint32_t i = 0; ok && i < p->n; i++) keyed_[i] = (keyed){ UINT64_MAX - p->pieces[i].size, i };
    if (ok) sort_keyed(keyed_, spare, p->n);
    for (uint32_t i = 0; ok && i < p->n; i++) keyed_[i].key = begins(s, keyed_[i].number);
    if (ok) sort_keyed(keyed_, spare, p->n);
    for (uint32_t i = 0; ok && i < p->n; i++) s->order[i] = keyed_[i].number;
    packing_drop(p, keyed_, p->n, sizeof *keyed_);
    packing_drop(p, spare, p->n, sizeof *spare);
    return ok;
}

static void list_ends(sweep *s) {
    const packing *p = s->p;
    memset(s->ending, 0xFF, p->sections * sizeof *s->ending);
    for (uint32_t i = p->n; i-- > 0;) {
        s->next[i] = s->ending[ends(s, i)];
        s->ending[ends(s, i)] = i;
    }
}

/* False without memory. Ends early, with s->free.far, if a piece would end too far away. */
static bool take_pieces(sweep *s, uint64_t *peak) {
    const packing *p = s->p;
    for (uint32_t section = 0, n = 0; section < p->sections; section++) {
        for (; n < p->n && begins(s, s->order ? s->order[n] : n) == section; n++) {
            const uint32_t i = s->order ? s->order[n] : n;
            if (p->pieces[i].fixed) continue;
            s->taken[i] = gaps_take(&s->free, p->pieces[i].size, p->pieces[i].align);
            if (!s->taken[i]) return s->free.far;
            s->at[i] = s->free.blocks[s->taken[i]].at;
            if (s->free.top > *peak) *peak = s->free.top;
        }
        for (uint32_t i = s->ending[section]; i != NONE; i = s->next[i]) {
            if (!p->pieces[i].fixed) gaps_give(&s->free, s->taken[i]);
        }
    }
    return true;
}

/* ---- fixed pieces ------------------------------------------------------------------------------------------------ */

/* The lowest offset at which `bytes` are free of fixed pieces at all moments. `by_offset` are these. */
static uint64_t free_of_fixed(const packing *p, const keyed *by_offset, uint64_t bytes, unsigned align) {
    uint64_t base = 0;
    for (uint32_t i = 0; i < p->fixed; i++) {
        const piece *it = &p->pieces[by_offset[i].number];
        if (it->offset >= base && it->offset - base >= bytes) return base;
        if (it->offset + it->size > base) base = align_up(it->offset + it->size, align);
    }
    return base;
}

/* Moves the sweep to where no fixed piece ever is. False without memory. */
static bool avoid_fixed(sweep *s, uint64_t *peak) {
    const packing *p = s->p;
    keyed *fixed = packing_take(p, p->fixed, sizeof *fixed), *spare = packing_take(p, p->fixed, sizeof *spare);
    uint64_t end = 0;
    uint32_t n = 0;
    unsigned align = 0;
    const bool ok = fixed && spare;
    for (uint32_t i = 0; i < p->n && ok; i++) {
        const piece *it = &p->pieces[i];
        if (it->fixed) fixed[n++] = (keyed){ it->offset, i };
        if (it->fixed && it->offset + it->size > end) end = it->offset + it->size;
        if (!it->fixed && it->align > align) align = it->align;
    }
    if (ok) {
        sort_keyed(fixed, spare, n);
        const uint64_t base = free_of_fixed(p, fixed, *peak, align);
        s->free.far = base > FAR || *peak > FAR - base;
        for (uint32_t i = 0; i < p->n && !s->free.far; i++)
            s->at[i] = p->pieces[i].fixed ? p->pieces[i].offset : s->at[i] + base;
        *peak = base + *peak > end ? base + *peak : end;
    }
    packing_drop(p, fixed, p->fixed, sizeof *fixed);
    packing_drop(p, spare, p->fixed, sizeof *spare);
    return ok;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

bool packing_sweep(packing *p, bool backwards) {
    sweep s;
    uint64_t peak = 0;
    bool ok = open_sweep(&s, p, backwards) && (!backwards || order_backwards(&s));
    if (ok) {
        list_ends(&s);
        ok = take_pieces(&s, &peak) && (!p->fixed || s.free.far || avoid_fixed(&s, &peak));
    }
    if (ok && !s.free.far) packing_offer(p, &s.at, peak);
    close_sweep(&s);
    return ok;
}
