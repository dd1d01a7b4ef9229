/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Items are pieces in the order of a ranking. Lists of rivals and members are made once for each ranking. */
#include "space.h"
#include "sort.h"

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

typedef struct ranker {
    const space *s;
    keyed       *keyed, *spare;
    uint64_t    *totals;        /* by section: the bytes of all items */
} ranker;

/* The bytes of the fullest section of a piece. */
static uint64_t total_of(const ranker *r, const piece *it) {
    uint64_t most = 0;
    for (uint32_t i = it->first; i <= it->last; i++) {
        const uint64_t total = r->totals[i - r->s->section];
        if (total > most) most = total;
    }
    return most;
}

static uint64_t times_size(const piece *it, uint64_t life) {
    uint64_t area;
    return mul_u64(it->size, life, &area) ? area : UINT64_MAX;
}

static uint64_t rank_of(const ranker *r, const piece *it, char by) {
    switch (by) {
    case 'W': return piece_moments(r->s->p, it);
    case 'w': return piece_sections(it);
    case 'A': return times_size(it, piece_moments(r->s->p, it));
    case 'a': return times_size(it, piece_sections(it));
    default:  return total_of(r, it);
    }
}

/* The last sort matters most. Equal ranks keep the order of the pieces. */
static void rank_pieces(ranker *r, const char *ranking) {
    const space *s = r->s;
    for (uint32_t i = 0; i < s->n; i++) r->keyed[i].number = s->from + i;
    for (size_t at = strlen(ranking); at-- > 0;) {
        for (uint32_t i = 0; i < s->n; i++)
            r->keyed[i].key = UINT64_MAX - rank_of(r, &s->p->pieces[r->keyed[i].number], ranking[at]);
        sort_keyed(r->keyed, r->spare, s->n);
    }
}

static void sum_sections(space *s, uint64_t *totals) {
    memset(totals, 0, s->sections * sizeof *totals);
    for (uint32_t i = 0; i < s->n; i++) {
        const piece *it = &s->p->pieces[s->from + i];
        for (uint32_t at = it->first; at <= it->last; at++) totals[at - s->section] += it->size;
        if (it->fixed && it->offset + it->size > s->bound) s->bound = it->offset + it->size;
    }
    for (uint32_t i = 0; i < s->sections; i++) {
        if (totals[i] > s->bound) s->bound = totals[i];
    }
}

static item item_of(const space *s, uint32_t number) {
    const piece *it = &s->p->pieces[number];
    return (item){ .size = it->size, .fixed = it->fixed ? it->offset : NOT_FIXED, .first = it->first - s->section,
                   .last = it->last - s->section, .twin = NONE, .piece = number, .align = it->align };
}

static bool make_items(space *s, const char *ranking) {
    const packing *p = s->p;
    ranker r = { .s = s };
    r.keyed = packing_take(p, s->n, sizeof *r.keyed);
    r.spare = packing_take(p, s->n, sizeof *r.spare);
    r.totals = packing_take(p, s->sections, sizeof *r.totals);
    const bool ok = r.keyed && r.spare && r.totals;
    if (ok) {
        sum_sections(s, r.totals);
        rank_pieces(&r, ranking);
        for (uint32_t i = 0; i < s->n; i++) s->items[i] = item_of(s, r.keyed[i].number);
    }
    packing_drop(p, r.keyed, s->n, sizeof *r.keyed);
    packing_drop(p, r.spare, s->n, sizeof *r.spare);
    packing_drop(p, r.totals, s->sections, sizeof *r.totals);
    return ok;
}

/* ---- twins ------------------------------------------------------------------------------------------------------- */

static bool are_twins(const item *a, const item *b) {
    return a->first == b->first && a->last == b->last && a->size == b->size && a->align == b->align &&
           a->fixed == NOT_FIXED && b->fixed == NOT_FIXED;
}

/* Equal pieces have neighbouring numbers, and a ranking keeps their order. */
static bool find_twins(space *s) {
    uint32_t *numbers = packing_take(s->p, s->n, sizeof *numbers);   // by piece
    if (!numbers) return false;
    for (uint32_t i = 0; i < s->n; i++) numbers[s->items[i].piece - s->from] = i;
    for (uint32_t i = 1; i < s->n; i++) {
        const uint32_t before = numbers[i - 1], number = numbers[i];
        if (before < number && are_twins(&s->items[before], &s->items[number])) s->items[number].twin = before;
    }
    packing_drop(s->p, numbers, s->n, sizeof *numbers);
    return true;
}

/* ---- who lives together ------------------------------------------------------------------------------------------ */

/* Lists the items of each section. */
static bool list_members(space *s) {
    uint32_t *at = s->member_at;
    memset(at, 0, (s->sections + (size_t)1) * sizeof *at);
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t section = s->items[i].first; section <= s->items[i].last; section++) at[section]++;
    }
    for (uint32_t i = 0; i < s->sections; i++) s->n_members += at[i];
    s->members = packing_take(s->p, s->n_members, sizeof *s->members);
    if (!s->members) return false;
    for (uint32_t i = 1; i <= s->sections; i++) at[i] += at[i - 1];   // where the list of a section ends
    for (uint32_t i = s->n; i-- > 0;) {
        for (uint32_t section = s->items[i].first; section <= s->items[i].last; section++)
            s->members[--at[section]] = i;
    }
    return true;
}

/* Fixed items are placed already, whether they share bytes or not. */
static bool are_rivals(const item *a, const item *b) {
    return a->first <= b->last && b->first <= a->last && (a->fixed == NOT_FIXED || b->fixed == NOT_FIXED);
}

static bool list_rivals(space *s) {
    uint32_t *at = s->rival_at;
    memset(at, 0, (s->n + (size_t)1) * sizeof *at);
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const bool rivals = are_rivals(&s->items[i], &s->items[j]);
            at[i] += rivals;
            at[j] += rivals;
        }
    }
    for (uint32_t i = 0; i <= s->n; i++) {   // where the list of an item begins
        const uint32_t n = at[i];
        at[i] = (uint32_t)s->n_rivals;
        s->n_rivals += n;
    }
    s->rivals = packing_take(s->p, s->n_rivals, sizeof *s->rivals);
    if (!s->rivals) return false;
    for (uint32_t i = 0; i < s->n; i++) {    // each list grows in the order of numbers, to where the next one begins
        for (uint32_t j = 0; j < i; j++) {
            if (!are_rivals(&s->items[i], &s->items[j])) continue;
            s->rivals[at[i]++] = j;
            s->rivals[at[j]++] = i;
        }
    }
    memmove(at + 1, at, s->n * sizeof *at);
    at[0] = 0;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

bool space_open(space *s, const packing *p, uint32_t from, uint32_t n, const char *ranking) {
    *s = (space){ .p = p, .from = from, .n = n, .section = p->pieces[from].first };
    for (uint32_t i = from; i < from + n; i++) {
        const piece *it = &p->pieces[i];
        if (it->last - s->section >= s->sections) s->sections = it->last - s->section + 1;
        if (p->best[i] + it->size > s->peak) s->peak = p->best[i] + it->size;
    }
    s->items = packing_take(p, n, sizeof *s->items);
    s->rival_at = packing_take(p, n, sizeof *s->rival_at);
    s->member_at = packing_take(p, s->sections, sizeof *s->member_at);
    return s->items && s->rival_at && s->member_at && make_items(s, ranking) && find_twins(s) && list_members(s) &&
           list_rivals(s);
}

void space_close(space *s) {
    const packing *p = s->p;
    packing_drop(p, s->items, s->n, sizeof *s->items);
    packing_drop(p, s->rival_at, s->n, sizeof *s->rival_at);
    packing_drop(p, s->rivals, s->n_rivals, sizeof *s->rivals);
    packing_drop(p, s->member_at, s->sections, sizeof *s->member_at);
    packing_drop(p, s->members, s->n_members, sizeof *s->members);
}
