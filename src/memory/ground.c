/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Each change of a lowest offset or a floor is noted, so that a placement can be taken back. */
#include "ground.h"

/* ---- changes ----------------------------------------------------------------------------------------------------- */

bool ground_reserve(ground *g) {
    const size_t need = g->n_changes + g->s->n + 2 * (size_t)g->s->sections;
    return need <= g->room || mem_reserve(g->s->p->alloc, (void **)&g->changes, &g->room, need, sizeof *g->changes);
}

static void note(ground *g, uint32_t number, uint64_t was) { g->changes[g->n_changes++] = (change){ number, was }; }

static void set_floor(ground *g, uint32_t section, uint64_t floor) {
    if (g->floor[section] == floor) return;
    note(g, section + g->s->n, g->floor[section]);
    g->floor[section] = floor;
}

/* ---- placing ----------------------------------------------------------------------------------------------------- */

/* Lifts the items to come over the placed one, and widens the range of sections to theirs. False if one has no room any
 * more. */
static bool lift(ground *g, placement *p, uint32_t *first, uint32_t *last) {
    const space *s = g->s;
    const uint64_t top = p->at + s->items[p->item].size;
    p->alone = true;
    for (uint32_t i = s->rival_at[p->item]; i < s->rival_at[p->item + 1]; i++) {
        const uint32_t rival = s->rivals[i];
        if (g->placed[rival]) continue;
        p->alone = false;
        if (g->low[rival] >= top) continue;
        const item *it = &s->items[rival];
        const uint64_t low = align_up(top, it->align);
        if (low + it->size > g->capacity || low > it->fixed) return false;
        note(g, rival, g->low[rival]);
        g->low[rival] = low;
        if (it->first < *first) *first = it->first;
        if (it->last > *last) *last = it->last;
    }
    return true;
}

/* Raises the floor of a section to the lowest offset of an item to come. As long as the witness is to come and at the
 * floor, it stays. */
static void raise_floor(ground *g, uint32_t section) {
    const space *s = g->s;
    const uint64_t floor = g->floor[section];
    uint32_t witness = g->witness[section];
    if (!g->total[section] || (!g->placed[witness] && g->low[witness] <= floor)) return;
    uint64_t least = UINT64_MAX;
    uint32_t i = s->member_at[section];
    for (; i < s->member_at[section + 1] && least > floor; i++) {
        const uint32_t member = s->members[i];
        if (g->placed[member] || g->low[member] >= least) continue;
        least = g->low[member];
        witness = member;
    }
    ground_spend(g, i - s->member_at[section]);
    g->witness[section] = witness;
    if (least > floor) set_floor(g, section, least);
}

/* Returns true if each section has room for the items to come, which are not below the placed one. */
static bool has_room(const ground *g, const placement *p) {
    bool room = true;
    for (uint32_t i = p->first; i <= p->last; i++) {
        const uint64_t floor = g->floor[i] > p->at ? g->floor[i] : p->at;
        room &= floor + g->total[i] <= g->capacity;
    }
    return room;
}

bool ground_place(ground *g, placement *p) {
    const space *s = g->s;
    const item *it = &s->items[p->item];
    uint32_t first = it->first, last = it->last;
    p->at = g->low[p->item];
    p->changes = g->n_changes;
    g->placed[p->item] = true;
    for (uint32_t i = it->first; i <= it->last; i++) {
        set_floor(g, i, p->at + it->size);
        g->total[i] -= it->size;
    }
    for (uint32_t i = it->first; i < it->last; i++) g->crossing[i]--;
    ground_spend(g, s->rival_at[p->item + 1] - s->rival_at[p->item] + (p->last - p->first) / 4 + 8);
    if (!lift(g, p, &first, &last)) return false;
    for (uint32_t i = first; i <= last; i++) raise_floor(g, i);
    ground_spend(g, last - first);
    return has_room(g, p);
}

void ground_take_back(ground *g, const placement *p) {
    const item *it = &g->s->items[p->item];
    while (g->n_changes > p->changes) {
        const change *c = &g->changes[--g->n_changes];
        if (c->number < g->s->n) g->low[c->number] = c->was;
        else g->floor[c->number - g->s->n] = c->was;
    }
    g->placed[p->item] = false;
    for (uint32_t i = it->first; i <= it->last; i++) g->total[i] += it->size;
    for (uint32_t i = it->first; i < it->last; i++) g->crossing[i]++;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void begin(ground *g) {
    const space *s = g->s;
    for (uint32_t i = 0; i < s->sections; i++) {
        g->floor[i] = g->total[i] = 0;
        g->crossing[i] = 0;
        g->witness[i] = s->members[s->member_at[i]];
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const item *it = &s->items[i];
        g->low[i] = it->fixed == NOT_FIXED ? 0 : it->fixed;
        g->placed[i] = false;
        for (uint32_t at = it->first; at <= it->last; at++) g->total[at] += it->size;
        for (uint32_t at = it->first; at < it->last; at++) g->crossing[at]++;
    }
}

bool ground_open(ground *g, const space *s, uint64_t capacity, uint64_t steps) {
    const packing *p = s->p;
    *g = (ground){ .s = s, .capacity = capacity, .steps = steps };
    g->low = packing_take(p, s->n, sizeof *g->low);
    g->placed = packing_take(p, s->n, sizeof *g->placed);
    g->floor = packing_take(p, s->sections, sizeof *g->floor);
    g->total = packing_take(p, s->sections, sizeof *g->total);
    g->witness = packing_take(p, s->sections, sizeof *g->witness);
    g->crossing = packing_take(p, s->sections, sizeof *g->crossing);
    if (!g->low || !g->placed || !g->floor || !g->total || !g->witness || !g->crossing) return false;
    begin(g);
    return true;
}

void ground_close(ground *g) {
    const space *s = g->s;
    const packing *p = s->p;
    packing_drop(p, g->low, s->n, sizeof *g->low);
    packing_drop(p, g->placed, s->n, sizeof *g->placed);
    packing_drop(p, g->floor, s->sections, sizeof *g->floor);
    packing_drop(p, g->total, s->sections, sizeof *g->total);
    packing_drop(p, g->witness, s->sections, sizeof *g->witness);
    packing_drop(p, g->crossing, s->sections, sizeof *g->crossing);
    mem_free(p->alloc, g->changes, g->room * sizeof *g->changes);
}
