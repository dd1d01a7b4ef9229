/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A search in depth for a plan within a capacity. Items are placed in the order of their offsets, those of one offset
 * by number, and each at the lowest offset that the items below allow: every plan can be pushed down to such a
 * canonical one. A branch ends
 *   - where an item or a section has no room for what must still come (ground.c);
 *   - where the next offset is not below the lowest end of any item to come, which would fit into the gap;
 *   - after an item that lives together with none to come, if the rest failed: it fails wherever that item is;
 *   - where the same items were to come, at the same lowest offsets, in a branch that failed.
 * If no item to come crosses a border of sections, both sides are searched by themselves. So the search is a tree of
 * choices, one of which must succeed, and of parts, which must all succeed. It is a loop over a list of levels. */
#include "search.h"
#include "ground.h"
#include "task.h"

/* An item and its lowest offset. Canonical plans have them in this order. */
typedef struct choice { uint64_t at; uint32_t item; } choice;

/* A level chooses an item of a part, the items order[from … to), which is then swapped to order[from]. */
typedef struct level {
    placement chosen;
    uint32_t  from, to;
    uint32_t  part;             /* order[part … to) is not searched yet                             */
    size_t    first_choice;     /* of those that are left, which are a heap                         */
    uint64_t  key;              /* of what is to come and where                                     */
} level;

typedef struct search {
    const space *s;
    ground    ground;
    uint32_t *order, *place;    /* the items, and where each one is in the order                    */
    level    *levels;
    size_t    n_levels;
    choice   *choices;
    size_t    n_choices, room;
    uint64_t *failed;           /* keys of levels that failed, by their low bits                    */
    size_t    n_failed;         /* a power of two                                                   */
    uint64_t *offsets;
} search;

/* More changes and choices than these are noted by no search that could end in time. */
enum { MOST_NOTES = 1 << 22 };

/* ---- choices: a heap, the first in canonical order on top -------------------------------------------------------- */

static bool is_before(const choice *a, const choice *b) {
    return a->at != b->at ? a->at < b->at : a->item < b->item;
}

static void sink(choice *heap, size_t n, size_t i) {
    const choice it = heap[i];
    for (size_t next; (next = 2 * i + 1) < n; i = next) {
        if (next + 1 < n && is_before(&heap[next + 1], &heap[next])) next++;
        if (!is_before(&heap[next], &it)) break;
        heap[i] = heap[next];
    }
    heap[i] = it;
}

static choice take_first(search *x, const level *l) {
    choice *heap = x->choices + l->first_choice, first = heap[0];
    heap[0] = x->choices[--x->n_choices];
    if (x->n_choices > l->first_choice) sink(heap, x->n_choices - l->first_choice, 0);
    return first;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t a) {
    a = (a ^ a >> 32) * 0xD6E8FEB86659FD93u;
    a = (a ^ a >> 29) * 0xBF58476D1CE4E5B9u;
    return a ^ a >> 32;
}

/* Returns the offset from which on nothing can be chosen: another item to come would fit below, or the fullest section
 * would have no room. */
static uint64_t end_of(const search *x, const level *l) {
    const ground *g = &x->ground;
    uint64_t end = UINT64_MAX, most = 0;
    for (uint32_t i = l->from; i < l->to; i++) {
        const uint64_t its = g->low[x->order[i]] + x->s->items[x->order[i]].size;
        if (its < end) end = its;
    }
    for (uint32_t i = l->chosen.first; i <= l->chosen.last; i++) {
        if (g->total[i] > most) most = g->total[i];
    }
    const uint64_t room = g->capacity - most + 1;
    return room < end ? room : end;
}

/* Lists what a level can choose, and makes its key. `below` is the choice before it; NULL: there is none. */
static void list_choices(search *x, level *l, const placement *below) {
    const ground *g = &x->ground;
    const choice least = { below ? below->at : 0, below ? below->item : 0 };
    const uint64_t end = end_of(x, l);
    bool depends = false;
    l->first_choice = x->n_choices;
    l->key = 0;
    for (uint32_t i = l->from; i < l->to; i++) {
        const choice it = { g->low[x->order[i]], x->order[i] };
        const bool blocked = is_before(&it, &least);
        const uint32_t twin = x->s->items[it.item].twin;
        depends |= blocked;
        l->key += mix(it.item * 0x9E3779B97F4A7C15u + 2 * it.at + blocked);
        if (!blocked && it.at < end && (twin == NONE || g->placed[twin])) x->choices[x->n_choices++] = it;
    }
    if (depends) l->key ^= mix(~least.at);   // no floor is lower
    for (size_t n = x->n_choices - l->first_choice, i = n / 2; i-- > 0;) sink(x->choices + l->first_choice, n, i);
}

/* Opens a level for order[from … to), which are in a range of sections. False without memory. */
static bool open_level(search *x, uint32_t from, uint32_t to, uint32_t first, uint32_t last, const placement *below) {
    const size_t need = x->n_choices + to - from;
    if (!mem_reserve(x->s->p->alloc, (void **)&x->choices, &x->room, need, sizeof *x->choices)) return false;
    level *l = &x->levels[x->n_levels++];
    *l = (level){ .from = from, .to = to, .chosen = { .item = NONE, .first = first, .last = last } };
    list_choices(x, l, below);
    ground_spend(&x->ground, 2 * (to - from) + (last - first) / 4);
    return true;
}

static void close_level(search *x) { x->n_choices = x->levels[--x->n_levels].first_choice; }

static uint64_t *slot_of(const search *x, const level *l) { return &x->failed[l->key & (x->n_failed - 1)]; }

static void swap(search *x, uint32_t a, uint32_t b) {
    const uint32_t item_a = x->order[a], item_b = x->order[b];
    x->order[a] = item_b;
    x->order[b] = item_a;
    x->place[item_b] = a;
    x->place[item_a] = b;
}

/* Moves on to the next choice of a level. False if there is none. */
static bool choose(search *x, level *l) {
    if (x->n_choices == l->first_choice) return false;
    l->chosen.item = take_first(x, l).item;
    swap(x, l->from, x->place[l->chosen.item]);
    l->part = l->from + 1;
    return true;
}

/* Opens a level for the next part that is left of a level. Its items are gathered at the beginning of what is left. */
static bool open_part(search *x, level *l) {
    const item *items = x->s->items;
    const uint32_t *crossing = x->ground.crossing, from = l->part;
    uint32_t first = items[x->order[from]].first, last = items[x->order[from]].last;
    while (first > l->chosen.first && crossing[first - 1]) first--;
    while (last < l->chosen.last && crossing[last]) last++;
    for (uint32_t i = l->part; i < l->to; i++) {
        const item *it = &items[x->order[i]];
        if (it->first >= first && it->first <= last) swap(x, i, l->part++);
    }
    return open_level(x, from, l->part, first, last, &l->chosen);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

typedef enum next { CHOOSE, FAILED, PLACED } next;

/* The last level makes its next choice, or fails. */
static next advance(search *x, level *l) {
    const bool known = l->chosen.item == NONE && *slot_of(x, l) == l->key;
    if (!known && choose(x, l)) return ground_place(&x->ground, &l->chosen) ? PLACED : FAILED;
    *slot_of(x, l) = l->key;
    close_level(x);
    return FAILED;
}

/* The choice of the last level failed. */
static next fall_back(search *x, level *l) {
    ground_take_back(&x->ground, &l->chosen);
    if (!l->chosen.alone) return CHOOSE;
    *slot_of(x, l) = l->key;
    close_level(x);
    return FAILED;
}

static found run(search *x) {
    next now = CHOOSE;
    while (x->n_levels) {
        level *l = &x->levels[x->n_levels - 1];
        if (!x->ground.steps || x->ground.n_changes > MOST_NOTES || x->n_choices > MOST_NOTES) return FOUND_OUT;
        if (!task_worked(1)) return FOUND_MEMORY;    // the caller cancels
        if (now == CHOOSE) {
            if (!ground_reserve(&x->ground)) return FOUND_MEMORY;
            now = advance(x, l);
        } else if (now == FAILED) {
            now = fall_back(x, l);
        } else if (l->part < l->to) {
            if (!open_part(x, l)) return FOUND_MEMORY;
            now = CHOOSE;
        } else {    /* all parts of the level are placed */
            x->offsets[l->chosen.item] = l->chosen.at;
            ground_take_back(&x->ground, &l->chosen);
            close_level(x);
        }
    }
    return now == PLACED ? FOUND : FOUND_NONE;
}

/* A key for each few hundred steps. */
static size_t keys_for(uint64_t steps) {
    size_t n = (size_t)1 << 10;
    while (n < (size_t)1 << 20 && n < steps / 256) n *= 2;
    return n;
}

static bool search_open(search *x, uint64_t capacity, uint64_t steps) {
    const space *s = x->s;
    const packing *p = s->p;
    x->n_failed = keys_for(steps);
    x->order = packing_take(p, s->n, sizeof *x->order);
    x->place = packing_take(p, s->n, sizeof *x->place);
    x->levels = packing_take(p, s->n, sizeof *x->levels);
    x->failed = packing_take(p, x->n_failed, sizeof *x->failed);
    const bool taken = x->order && x->place && x->levels && x->failed;
    if (!ground_open(&x->ground, s, capacity, steps) || !taken) return false;
    ground_spend(&x->ground, x->n_failed / 16 + s->n);
    memset(x->failed, 0, x->n_failed * sizeof *x->failed);
    for (uint32_t i = 0; i < s->n; i++) x->order[i] = x->place[i] = i;
    return open_level(x, 0, s->n, 0, s->sections - 1, NULL);
}

static void search_close(search *x) {
    const space *s = x->s;
    const packing *p = s->p;
    packing_drop(p, x->order, s->n, sizeof *x->order);
    packing_drop(p, x->place, s->n, sizeof *x->place);
    packing_drop(p, x->levels, s->n, sizeof *x->levels);
    packing_drop(p, x->failed, x->n_failed, sizeof *x->failed);
    mem_free(p->alloc, x->choices, x->room * sizeof *x->choices);
    ground_close(&x->ground);
}

found search_space(const space *s, uint64_t capacity, uint64_t *steps, uint64_t *offsets) {
    search x = { .s = s, .offsets = offsets };
    const found result = search_open(&x, capacity, *steps) ? run(&x) : FOUND_MEMORY;
    if (result != FOUND_MEMORY) *steps = x.ground.steps;
    search_close(&x);
    return result;
}
