/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Effort 2. The packing falls into parts that no piece leaves; each is searched by itself for plans that are lower than
 * the best one. Only the highest part counts: so rounds begin with it, and go on to the next one as long as that is
 * higher than what the parts before could be lowered to. Within a round the rankings take turns, and each round has
 * longer turns. */
#include "search.h"
#include "sort.h"

typedef struct part {
    uint32_t from, n;     /* pieces                                                          */
    uint64_t peak;        /* of the best plan                                                */
    uint64_t least;       /* no plan is lower                                                */
} part;

typedef struct lowering {
    packing  *p;
    part     *parts;
    size_t    n_parts, room;
    keyed    *order, *spare; /* parts, the highest first                                        */
    uint64_t  enough;     /* the search ends at a peak of this                               */
    uint64_t  unit;       /* all offsets that a search can choose are multiples of it        */
    uint64_t  steps;      /* that are left                                                   */
    uint64_t  kept;       /* the highest part that is not searched                           */
    bool      first_fits; /* any plan that is low enough will do, and others do not help     */
    bool      memory;     /* ran out                                                         */
} lowering;

static const char *const rankings[RANKINGS] = SPACE_RANKINGS;

/* ---- one part ---------------------------------------------------------------------------------------------------- */

typedef struct tries {
    lowering *w;
    part     *it;
    space     spaces[RANKINGS];
    int       n;          /* rankings that are tried                                         */
    uint64_t *offsets;    /* of the items                                                    */
    uint64_t  turn;       /* the most steps of one                                           */
} tries;

/* A space lists for each item those that live together with it, and for each section its items. Either lists of all
 * rankings take at most 64 MiB: so a large part is searched by fewer. */
enum { MOST_ITEMS = 4096, MOST_IN_SECTIONS = 1 << 24, MOST_LISTED = 1 << 24 };

static int rankings_for(const space *s) {
    const size_t listed = s->n_rivals > s->n_members ? s->n_rivals : s->n_members;
    return listed > MOST_LISTED / RANKINGS ? (int)(MOST_LISTED / listed) : RANKINGS;
}

static void spend(lowering *w, uint64_t steps) { w->steps -= w->steps > steps ? steps : w->steps; }

static uint64_t round_up(uint64_t n, uint64_t unit) { return n % unit ? n + (unit - n % unit) : n; }

static bool tries_open(tries *t, lowering *w, part *it, uint64_t turn) {
    bool ok = true;
    *t = (tries){ .w = w, .it = it, .n = RANKINGS, .turn = turn };
    for (int i = 0; i < t->n && ok; i++) {
        ok = space_open(&t->spaces[i], w->p, it->from, it->n, rankings[i]);
        if (!i && ok) t->n = rankings_for(&t->spaces[0]);
        spend(w, (uint64_t)it->n * it->n);
    }
    t->offsets = packing_take(w->p, it->n, sizeof *t->offsets);
    if (!ok || !t->offsets) return false;
    const uint64_t bound = round_up(t->spaces[0].bound, w->unit);
    if (bound > it->least) it->least = bound;
    return true;
}

static void tries_close(tries *t) {
    packing_drop(t->w->p, t->offsets, t->it->n, sizeof *t->offsets);
    for (int i = 0; i < RANKINGS; i++) {
        if (t->spaces[i].p) space_close(&t->spaces[i]);
    }
}

static void accept(tries *t, const space *s) {
    t->it->peak = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint64_t end = t->offsets[i] + s->items[i].size;
        t->w->p->best[s->items[i].piece] = t->offsets[i];
        if (end > t->it->peak) t->it->peak = end;
    }
}

/* Searches for a plan within a capacity, by one ranking after the other. */
static found try_capacity(tries *t, uint64_t capacity) {
    lowering *w = t->w;
    found result = FOUND_OUT;
    for (int i = 0; i < t->n && result == FOUND_OUT && w->steps; i++) {
        const uint64_t given = t->turn < w->steps ? t->turn : w->steps;
        uint64_t steps = given;
        result = search_space(&t->spaces[i], capacity, &steps, t->offsets);
        w->steps -= given - steps;
        if (result == FOUND) accept(t, &t->spaces[i]);
    }
    if (result == FOUND_NONE) t->it->least = capacity + w->unit;
    if (result == FOUND_MEMORY) w->memory = true;
    return result;
}

/* Half the distance from one capacity to a higher one, in units. */
static uint64_t half(const lowering *w, uint64_t from, uint64_t to) { return (to - from) / w->unit / 2 * w->unit; }

/* Lowers a part towards a peak: first to the lowest that was not proven impossible, then to halves between what was
 * tried without success and the best plan. */
static void lower(tries *t, uint64_t enough) {
    lowering *w = t->w;
    uint64_t from = round_up(t->it->least > enough ? t->it->least : enough, w->unit), at = from;
    while (at < t->it->peak && w->steps && !w->memory) {
        const found result = try_capacity(t, at);
        if (w->first_fits) break;
        if (result == FOUND_OUT && t->it->peak - at <= t->it->peak / 512) break;   // little to win
        if (result != FOUND) from = at + w->unit;
        at = from < t->it->peak ? from + half(w, from, t->it->peak) : from;
    }
}

/* ---- all parts --------------------------------------------------------------------------------------------------- */

static uint64_t common(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void find_unit(lowering *w) {
    for (uint32_t i = 0; i < w->p->n; i++) {
        const piece *it = &w->p->pieces[i];
        w->unit = common(common(w->unit, it->size), it->offset);
        if (it->align) w->unit = common(w->unit, (uint64_t)1 << it->align);
    }
}

/* Returns the part that begins with a piece. *fits is set to whether it can be searched. */
static part part_from(const packing *p, uint32_t from, bool *fits) {
    part it = { .from = from };
    uint32_t last = p->pieces[from].last;
    uint64_t in_sections = 0;
    *fits = true;
    for (uint32_t i = from; i < p->n && p->pieces[i].first <= last; i++, it.n++) {
        const piece *its = &p->pieces[i];
        if (its->last > last) last = its->last;
        in_sections += piece_sections(its);
        if (p->best[i] + its->size > it.peak) it.peak = p->best[i] + its->size;
        if (its->fixed && its->group) *fits = false;   // a search would count shared bytes twice
    }
    *fits = *fits && it.n <= MOST_ITEMS && in_sections <= MOST_IN_SECTIONS;
    return it;
}

/* Lists the parts that are too high. False without memory. */
static bool list_parts(lowering *w) {
    const packing *p = w->p;
    bool fits;
    for (uint32_t from = 0; from < p->n;) {
        const part it = part_from(p, from, &fits);
        from += it.n;
        if (it.peak <= w->enough || !fits) {
            if (it.peak > w->kept) w->kept = it.peak;
            continue;
        }
        if (!mem_reserve(p->alloc, (void **)&w->parts, &w->room, w->n_parts + 1, sizeof *w->parts)) return false;
        w->parts[w->n_parts++] = it;
    }
    return true;
}

static bool open_order(lowering *w) {
    w->order = packing_take(w->p, w->n_parts, sizeof *w->order);
    w->spare = packing_take(w->p, w->n_parts, sizeof *w->spare);
    return w->order && w->spare;
}

/* Orders the parts by their peaks, the highest first. In a round only the one that is searched gets another peak. */
static void order_parts(lowering *w) {
    for (uint32_t i = 0; i < w->n_parts; i++) w->order[i] = (keyed){ UINT64_MAX - w->parts[i].peak, i };
    sort_keyed(w->order, w->spare, w->n_parts);
    spend(w, w->n_parts);
}

/* Returns false if no part can or need be lowered any more. */
static bool lower_parts(lowering *w, uint64_t turn) {
    uint64_t reached = w->enough > w->kept ? w->enough : w->kept;
    bool open = false;
    order_parts(w);
    for (size_t i = 0; i < w->n_parts && w->steps && !w->memory; i++) {
        part *it = &w->parts[w->order[i].number];
        tries t;
        if (it->peak <= reached) break;
        if (!tries_open(&t, w, it, turn)) w->memory = true;
        else lower(&t, reached);
        open |= it->peak > it->least && it->peak > reached;
        if (it->peak > reached) reached = it->peak;
        tries_close(&t);
        if (w->first_fits && it->least > w->enough) return false;
    }
    return open;
}

enum { FIRST_TURN = 1 << 14 };

bool packing_search(packing *p, uint64_t enough, uint64_t steps, bool *proven) {
    lowering w = { .p = p, .enough = enough > p->bound ? enough : p->bound, .steps = steps, .first_fits = enough };
    find_unit(&w);
    w.enough -= w.enough % w.unit;
    w.memory = !list_parts(&w) || !open_order(&w);
    uint64_t turn = FIRST_TURN, least = 0;
    while (!w.memory && w.steps && lower_parts(&w, turn)) turn = turn < steps ? turn * 4 : turn;
    p->peak = w.kept;
    for (size_t i = 0; i < w.n_parts; i++) {
        if (w.parts[i].peak > p->peak) p->peak = w.parts[i].peak;
        if (w.parts[i].least > least) least = w.parts[i].least;
    }
    *proven = enough ? least > w.enough : least >= p->peak;
    p->steps += steps - w.steps;
    packing_drop(p, w.order, w.n_parts, sizeof *w.order);
    packing_drop(p, w.spare, w.n_parts, sizeof *w.spare);
    mem_free(p->alloc, w.parts, w.room * sizeof *w.parts);
    return !w.memory;
}
