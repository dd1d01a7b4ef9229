/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Effort 1. Each piece of an order goes into the lowest gap, or the smallest, that has room for it among the pieces
 * placed before that live at the same time. An order ends when it cannot become better than the best plan. A better
 * plan is packed again from above and from below, which can only lower it. In a small packing, a piece that ends an
 * order is moved forward, and the order is tried again. */
#include "placed.h"
#include "sort.h"

/* Lives are counted in moments and in sections. */
typedef enum rank { BY_SIZE, BY_AREA, BY_LIFE, BY_START, BY_SECTION_AREA, BY_SECTIONS, RANKS } rank;

typedef struct orders {
    packing  *p;
    placed    placed;
    uint32_t *order;          /* numbers of pieces; fixed ones are not in it             */
    uint32_t  n, stuck;
    keyed    *keyed, *spare;
    uint64_t  n_finds;        /* pieces that were placed                                 */
    uint64_t  finds, steps;   /* the most that are placed, and the most steps for that   */
} orders;

/* ---- one order --------------------------------------------------------------------------------------------------- */

/* The offset for a piece among spans that are sorted by offset and may overlap. */
static uint64_t lowest_gap(const placed *t, const piece *it) {
    uint64_t at = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const span *s = &t->spans[i];
        if (s->from >= at && s->from - at >= it->size) return at;
        if (s->to > at) at = align_up(s->to, it->align);
    }
    return at;
}

static uint64_t smallest_gap(const placed *t, const piece *it) {
    uint64_t at = 0, best = FAR, least = UINT64_MAX;
    for (size_t i = 0; i < t->n_spans; i++) {
        const span *s = &t->spans[i];
        if (s->from >= at && s->from - at >= it->size && s->from - at < least) {
            best = at;
            least = s->from - at;
        }
        if (s->to > at) at = align_up(s->to, it->align);
    }
    return least != UINT64_MAX ? best : at;
}

static uint64_t place_fixed(placed *t) {
    uint64_t peak = 0;
    for (uint32_t i = 0; i < t->p->n && t->p->fixed; i++) {
        const piece *it = &t->p->pieces[i];
        if (!it->fixed) continue;
        placed_add(t, i, it->offset);
        if (it->offset + it->size > peak) peak = it->offset + it->size;
    }
    return peak;
}

/* Memory is read at any place: what is read for the pieces to come is asked for before. */
enum { AHEAD = 8 };

/* Places the order. Sets o->stuck to the place of the piece that ends the order; o->n: it is a better plan. False
 * without memory. */
static bool place_order(orders *o, bool best_gap) {
    placed *t = &o->placed;
    placed_clear(t);
    uint64_t peak = place_fixed(t);
    for (o->stuck = 0; o->stuck < o->n; o->stuck++) {
        const uint32_t number = o->order[o->stuck];
        if (o->n - o->stuck > 2 * AHEAD) {
            placed_expect(t, o->order[o->stuck + 2 * AHEAD]);
            placed_expect_soon(t, o->order[o->stuck + AHEAD]);
        }
        const piece *it = &o->p->pieces[number];
        if (!placed_find(t, number)) return false;
        const uint64_t at = best_gap ? smallest_gap(t, it) : lowest_gap(t, it);
        if (at > FAR || it->size > FAR - at || at + it->size >= o->p->peak) return true;
        if (t->steps > o->steps || ++o->n_finds > o->finds) return true;
        placed_add(t, number, at);
        if (at + it->size > peak) peak = at + it->size;
    }
    packing_offer(o->p, &t->at, peak);
    return true;
}

/* ---- which orders ------------------------------------------------------------------------------------------------ */

static uint64_t times_size(const piece *it, uint64_t life) {
    uint64_t area;
    return mul_u64(it->size, life, &area) ? area : UINT64_MAX;
}

static uint64_t key_of(const packing *p, const piece *it, rank by) {
    switch (by) {
    case BY_SIZE:         return UINT64_MAX - it->size;
    case BY_AREA:         return UINT64_MAX - times_size(it, piece_moments(p, it));
    case BY_LIFE:         return UINT64_MAX - piece_moments(p, it);
    case BY_SECTION_AREA: return UINT64_MAX - times_size(it, piece_sections(it));
    case BY_SECTIONS:     return UINT64_MAX - piece_sections(it);
    default:              return it->first;
    }
}

static void sort_order(orders *o, rank by) {
    for (uint32_t i = 0; i < o->n; i++)
        o->keyed[i] = (keyed){ key_of(o->p, &o->p->pieces[o->order[i]], by), o->order[i] };
    sort_keyed(o->keyed, o->spare, o->n);
    for (uint32_t i = 0; i < o->n; i++) o->order[i] = o->keyed[i].number;
}

/* By a rank, and then by size, life and start. */
static void make_order(orders *o, rank by) {
    o->n = 0;
    for (uint32_t i = 0; i < o->p->n; i++) {
        if (!o->p->pieces[i].fixed) o->order[o->n++] = i;
    }
    sort_order(o, BY_LIFE);
    sort_order(o, BY_SIZE);
    if (by != BY_SIZE) sort_order(o, by);
}

/* From the piece that ends highest in the best plan to the one that ends lowest. Seen from above, the best plan is the
 * one in which each piece of this order is as low as it can be, or a worse one: so no end is higher. */
static void reverse_order(orders *o) {
    const packing *p = o->p;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t number = o->order[i];
        o->keyed[i] = (keyed){ UINT64_MAX - (p->best[number] + p->pieces[number].size), number };
    }
    sort_keyed(o->keyed, o->spare, o->n);
    for (uint32_t i = 0; i < o->n; i++) o->order[i] = o->keyed[i].number;
}

static bool orders_open(orders *o, packing *p) {
    *o = (orders){ .p = p, .finds = ((uint64_t)1 << 19) + p->n,
                    .steps = ((uint64_t)1 << 26) + (uint64_t)64 * p->n };
    o->order = packing_take(p, p->n, sizeof *o->order);
    o->keyed = packing_take(p, p->n, sizeof *o->keyed);
    o->spare = packing_take(p, p->n, sizeof *o->spare);
    return placed_open(&o->placed, p) && o->order && o->keyed && o->spare;
}

static void orders_close(orders *o) {
    o->p->steps += o->placed.steps;
    packing_drop(o->p, o->order, o->p->n, sizeof *o->order);
    packing_drop(o->p, o->keyed, o->p->n, sizeof *o->keyed);
    packing_drop(o->p, o->spare, o->p->n, sizeof *o->spare);
    placed_close(&o->placed);
}

/* Packs the best plan again as long as that lowers it. False without memory. */
static bool pack_again(orders *o, uint64_t before) {
    bool ok = true;
    while (ok && o->p->peak > o->p->bound && o->p->peak < before) {
        before = o->p->peak;
        reverse_order(o);
        ok = place_order(o, false);
    }
    return ok;
}

/* Places an order again and again, each time with the piece that ended it moved halfway to the front. False without
 * memory. */
static bool promote(orders *o, bool best_gap, uint64_t steps) {
    const uint64_t end = o->placed.steps + steps;
    bool ok = true;
    while (ok && o->p->peak > o->p->bound && o->placed.steps < end) {
        const uint64_t before = o->p->peak;
        ok = place_order(o, best_gap);
        if (o->stuck == o->n) {
            ok = ok && pack_again(o, before);
            continue;
        }
        const uint32_t it = o->order[o->stuck], at = o->stuck / 2;
        memmove(o->order + at + 1, o->order + at, (o->stuck - at) * sizeof *o->order);
        o->order[at] = it;
    }
    return ok;
}

/* Steps for moving pieces forward, of each order. In larger packings they would not do for a few dozen attempts. */
enum { MOST_PROMOTED = 1 << 11 };
static uint64_t promotion(const packing *p) {
    const uint64_t steps = (uint64_t)8 * p->n * p->n;
    return steps < 40000 ? steps : 40000;
}

bool packing_orders(packing *p) {
    orders o;
    bool ok = orders_open(&o, p);
    for (int by = 0; by < RANKS && ok && p->peak > p->bound; by++) {
        const uint64_t before = p->peak;
        make_order(&o, by);
        ok = place_order(&o, false) && (p->peak == p->bound || place_order(&o, true)) && pack_again(&o, before);
    }
    for (int i = 0; i < 2 * RANKS && ok && p->n <= MOST_PROMOTED && p->peak > p->bound; i++) {
        make_order(&o, i / 2);
        ok = promote(&o, i % 2, promotion(p));
    }
    orders_close(&o);
    return ok;
}
