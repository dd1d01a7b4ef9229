/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Both change by a walk from a rank to the top, and are asked by one that goes as far up as it must. */
#include "ranks.h"

/* ---- sets -------------------------------------------------------------------------------------------------------- */

bool rank_set_open(rank_set *s, const xir_allocator *alloc, uint32_t n) {
    *s = (rank_set){ .levels = 0 };
    for (size_t words = n; s->levels == 0 || words > 1; s->levels++) {
        words = words / 64 + 1;
        s->n[s->levels] = words;
        s->words[s->levels] = mem_new(alloc, words * sizeof(uint64_t));
        if (!s->words[s->levels]) return false;
        memset(s->words[s->levels], 0, words * sizeof(uint64_t));
    }
    return true;
}

void rank_set_close(rank_set *s, const xir_allocator *alloc) {
    for (unsigned i = 0; i < RANK_LEVELS; i++) mem_free(alloc, s->words[i], s->n[i] * sizeof(uint64_t));
}

void rank_set_add(rank_set *s, uint32_t rank) {
    for (unsigned i = 0; i < s->levels; i++, rank /= 64) s->words[i][rank / 64] |= (uint64_t)1 << rank % 64;
}

void rank_set_remove(rank_set *s, uint32_t rank) {
    for (unsigned i = 0; i < s->levels; i++, rank /= 64) {
        s->words[i][rank / 64] &= ~((uint64_t)1 << rank % 64);
        if (s->words[i][rank / 64]) break;
    }
}

uint32_t rank_set_below(const rank_set *s, uint32_t rank) {
    for (unsigned i = 0; i < s->levels; i++, rank /= 64) {
        uint64_t bits = s->words[i][rank / 64] & (((uint64_t)1 << rank % 64) - 1);
        if (!bits) continue;
        rank = rank / 64 * 64 + 63 - (uint32_t)__builtin_clzll(bits);
        for (; i > 0; i--) rank = rank * 64 + 63 - (uint32_t)__builtin_clzll(s->words[i - 1][rank]);
        return rank;
    }
    return NO_RANK;
}

uint32_t rank_set_above(const rank_set *s, uint32_t rank) {
    for (unsigned i = 0; i < s->levels; i++, rank /= 64) {
        uint64_t bits = s->words[i][rank / 64] & ~(((uint64_t)2 << rank % 64) - 1);
        if (!bits) continue;
        rank = rank / 64 * 64 + (uint32_t)__builtin_ctzll(bits);
        for (; i > 0; i--) rank = rank * 64 + (uint32_t)__builtin_ctzll(s->words[i - 1][rank]);
        return rank;
    }
    return NO_RANK;
}

/* ---- trees ------------------------------------------------------------------------------------------------------- */

bool rank_tree_open(rank_tree *t, const xir_allocator *alloc, const rank_end *ends, uint32_t n) {
    *t = (rank_tree){ .ends = ends, .room = 1 };
    while (t->room < n) t->room *= 2;
    t->nodes = mem_new(alloc, 2 * t->room * sizeof *t->nodes);
    if (t->nodes) memset(t->nodes, 0xFF, 2 * t->room * sizeof *t->nodes);
    return t->nodes != NULL;
}

void rank_tree_close(rank_tree *t, const xir_allocator *alloc) {
    mem_free(alloc, t->nodes, 2 * t->room * sizeof *t->nodes);
}

static bool is_one_group(const rank_tree *t, uint32_t a, uint32_t b) {
    return a == b || (t->ends[a].group && t->ends[a].group == t->ends[b].group);
}

static bool ends_later(const rank_tree *t, uint32_t a, uint32_t b) {
    return a != NO_RANK && (b == NO_RANK || t->ends[a].to > t->ends[b].to);
}

static rank_pair join(const rank_tree *t, rank_pair a, rank_pair b) {
    if (ends_later(t, b.last, a.last)) {
        const rank_pair swapped = a;
        a = b;
        b = swapped;
    }
    if (a.last == NO_RANK || b.last == NO_RANK) return a;
    const uint32_t next = is_one_group(t, a.last, b.last) ? b.other : b.last;
    if (ends_later(t, next, a.other)) a.other = next;
    return a;
}

static void update(rank_tree *t, uint32_t rank, rank_pair leaf) {
    size_t i = t->room + rank;
    for (t->nodes[i] = leaf, i /= 2; i; i /= 2) t->nodes[i] = join(t, t->nodes[2 * i], t->nodes[2 * i + 1]);
}

void rank_tree_add(rank_tree *t, uint32_t rank)    { update(t, rank, (rank_pair){ rank, NO_RANK }); }
void rank_tree_remove(rank_tree *t, uint32_t rank) { update(t, rank, (rank_pair){ NO_RANK, NO_RANK }); }

static uint32_t clash(const rank_tree *t, rank_pair with, uint32_t rank) {
    const uint32_t it = with.last != NO_RANK && is_one_group(t, with.last, rank) ? with.other : with.last;
    return it != NO_RANK && t->ends[it].to > t->ends[rank].from ? it : NO_RANK;
}

uint32_t rank_tree_find(const rank_tree *t, uint32_t rank, uint32_t end) {
    uint32_t found = NO_RANK;
    for (size_t from = t->room, to = t->room + end; from < to && found == NO_RANK; from /= 2, to /= 2) {
        if (from & 1) found = clash(t, t->nodes[from++], rank);
        if (to & 1 && found == NO_RANK) found = clash(t, t->nodes[--to], rank);
    }
    return found;
}
