/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The tree is a treap: a node's priority is a hash of its number, and is not above that of the node over it. So its
 * depth does not depend on the order of calls, and nothing needs to be balanced. */
#include "gaps.h"

void gaps_init(gaps *g, const xir_allocator *alloc) { *g = (gaps){ .alloc = alloc, .n = 1 }; }

void gaps_free(gaps *g) { mem_free(g->alloc, g->blocks, g->room * sizeof *g->blocks); }

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Makes room for a block and the gaps on both sides of it. */
static bool reserve(gaps *g) {
    return mem_reserve(g->alloc, (void **)&g->blocks, &g->room, g->n + 3, sizeof *g->blocks);
}

static uint32_t new_block(gaps *g, uint64_t at, uint64_t size) {
    uint32_t number = g->unused;
    if (number) g->unused = g->blocks[number].after;
    else number = (uint32_t)g->n++;
    g->blocks[number] = (block){ .at = at, .size = size };
    return number;
}

/* Links a block in after another; after none, it is the first. */
static void link_after(gaps *g, uint32_t number, uint32_t before) {
    block *it = &g->blocks[number];
    it->before = before;
    it->after = before ? g->blocks[before].after : 0;
    if (before) g->blocks[before].after = number;
    if (it->after) g->blocks[it->after].before = number;
    else g->last = number;
}

static void remove_block(gaps *g, uint32_t number) {
    block *it = &g->blocks[number];
    if (it->before) g->blocks[it->before].after = it->after;
    if (it->after) g->blocks[it->after].before = it->before;
    else g->last = it->before;
    it->after = g->unused;
    g->unused = number;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static uint32_t priority(uint32_t number) {
    uint64_t hash = (number ^ 0xA5A5A5A5u) * 0x9E3779B97F4A7C15u;
    return (uint32_t)((hash ^ hash >> 29) * 0xBF58476D1CE4E5B9u >> 32);
}

static bool is_less(const block *a, const block *b) { return a->size != b->size ? a->size < b->size : a->at < b->at; }

static void add_gap(gaps *g, uint32_t number) {
    block *it = &g->blocks[number];
    uint32_t *link = &g->root;
    it->gap = true;
    while (*link && priority(*link) >= priority(number)) {
        block *over = &g->blocks[*link];
        link = is_less(it, over) ? &over->less : &over->more;
        g->steps++;
    }
    uint32_t rest = *link, *less = &it->less, *more = &it->more;
    *link = number;
    while (rest) {
        block *next = &g->blocks[rest];
        if (is_less(next, it)) {
            *less = rest;
            less = &next->more;
        } else {
            *more = rest;
            more = &next->less;
        }
        rest = is_less(next, it) ? next->more : next->less;
    }
    *less = *more = 0;
}

static void take_gap(gaps *g, uint32_t number) {
    block *it = &g->blocks[number];
    uint32_t *link = &g->root;
    while (*link != number) {
        block *over = &g->blocks[*link];
        link = is_less(it, over) ? &over->less : &over->more;
        g->steps++;
    }
    uint32_t less = it->less, more = it->more;
    while (less && more) {
        if (priority(less) >= priority(more)) {
            *link = less;
            link = &g->blocks[less].more;
            less = *link;
        } else {
            *link = more;
            link = &g->blocks[more].less;
            more = *link;
        }
    }
    *link = less ? less : more;
    it->gap = false;
}

/* The first gap that is not before a gap of this size at this address; 0: none. */
static uint32_t gap_from(gaps *g, uint64_t size, uint64_t at) {
    const block least = { .size = size, .at = at };
    uint32_t found = 0;
    for (uint32_t i = g->root; i;) {
        const block *it = &g->blocks[i];
        g->steps++;
        if (is_less(it, &least)) i = it->more;
        else {
            found = i;
            i = it->less;
        }
    }
    return found;
}

static bool has_room(const block *gap, uint64_t size, unsigned align) {
    const uint64_t skipped = align_up(gap->at, align) - gap->at;
    return gap->size >= skipped && gap->size - skipped >= size;
}

enum { TRIES = 8 };

/* The smallest gap for a block. If the first few lack room for the alignment, one that cannot. */
static uint32_t find_gap(gaps *g, uint64_t size, unsigned align) {
    uint32_t found = gap_from(g, size, 0);
    for (int i = 0; i < TRIES && found && !has_room(&g->blocks[found], size, align); i++)
        found = gap_from(g, g->blocks[found].size, g->blocks[found].at + 1);
    if (found && !has_room(&g->blocks[found], size, align))
        found = gap_from(g, size + ((uint64_t)1 << align) - 1, 0);
    return found;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void gap_after(gaps *g, uint32_t before, uint64_t at, uint64_t size) {
    if (!size) return;
    const uint32_t number = new_block(g, at, size);
    link_after(g, number, before);
    add_gap(g, number);
}

static uint32_t take_top(gaps *g, uint64_t size, unsigned align) {
    const uint64_t at = align_up(g->top, align);
    g->far = at > FAR || size > FAR - at;
    if (g->far) return 0;
    gap_after(g, g->last, g->top, at - g->top);
    const uint32_t number = new_block(g, at, size);
    link_after(g, number, g->last);
    g->top = at + size;
    return number;
}

uint32_t gaps_take(gaps *g, uint64_t size, unsigned align) {
    if (!reserve(g)) return 0;
    const uint32_t number = find_gap(g, size, align);
    if (!number) return take_top(g, size, align);
    take_gap(g, number);
    block *it = &g->blocks[number];
    const uint64_t from = it->at, end = it->at + it->size, at = align_up(from, align);
    it->at = at;
    it->size = size;
    const uint32_t before = it->before;
    gap_after(g, number, at + size, end - at - size);
    if (at > from) {
        const uint32_t gap = new_block(g, from, at - from);
        block *left = &g->blocks[gap], *taken = &g->blocks[number];
        left->before = before;
        left->after = number;
        taken->before = gap;
        if (before) g->blocks[before].after = gap;
        add_gap(g, gap);
    }
    return number;
}

void gaps_give(gaps *g, uint32_t number) {
    const uint32_t before = g->blocks[number].before, after = g->blocks[number].after;
    if (before && g->blocks[before].gap) {
        take_gap(g, before);
        g->blocks[number].at = g->blocks[before].at;
        g->blocks[number].size += g->blocks[before].size;
        remove_block(g, before);
    }
    if (!after) {
        g->top = g->blocks[number].at;
        remove_block(g, number);
        return;
    }
    if (g->blocks[after].gap) {
        take_gap(g, after);
        g->blocks[number].size += g->blocks[after].size;
        remove_block(g, after);
    }
    add_gap(g, number);
}
