/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A block knows the greatest end in it: adding raises it, removing looks at all of the block again. */
#include "places.h"

bool places_open(places *s, const xir_allocator *alloc, const place *all, uint32_t n) {
    *s = (places){ .alloc = alloc, .all = all, .n = n };
    for (uint32_t width = n; s->levels == 0 || width > PLACES_FAN; s->levels++) {
        if (s->levels) width = width / PLACES_FAN + (width % PLACES_FAN != 0);
        s->width[s->levels] = width;
        s->ends[s->levels] = mem_new(alloc, ((size_t)width + 1) * sizeof **s->ends);
        if (!s->ends[s->levels]) return false;
        memset(s->ends[s->levels], 0, ((size_t)width + 1) * sizeof **s->ends);
    }
    return true;
}

void places_close(places *s) {
    for (unsigned level = 0; level < PLACES_LEVELS; level++)
        mem_free(s->alloc, s->ends[level], ((size_t)s->width[level] + 1) * sizeof **s->ends);
}

void places_add(places *s, uint32_t rank) {
    const uint64_t end = s->all[rank].to;
    for (unsigned level = 0; level < s->levels; level++, rank /= PLACES_FAN) {
        if (s->ends[level][rank] < end) s->ends[level][rank] = end;
    }
}

void places_remove(places *s, uint32_t rank) {
    s->ends[0][rank] = 0;
    for (unsigned level = 1; level < s->levels; level++) {
        const uint32_t block = rank / PLACES_FAN, from = block * PLACES_FAN;
        const uint64_t *below = s->ends[level - 1];
        uint64_t end = 0;
        for (uint32_t i = from; i < from + PLACES_FAN && i < s->width[level - 1]; i++) {
            if (below[i] > end) end = below[i];
        }
        if (s->ends[level][block] == end) break;
        s->ends[level][block] = end;
        rank = block;
    }
}

uint32_t places_next(const places *s, uint32_t at, uint64_t address) {
    unsigned level = 0;
    while (at < s->width[level]) {
        if (s->ends[level][at] > address) {
            if (!level) return at;
            level--;
            at *= PLACES_FAN;
            continue;
        }
        for (at++; at % PLACES_FAN == 0 && level + 1 < s->levels; level++) at /= PLACES_FAN;
    }
    return NO_PLACE;
}

uint32_t places_of_memory(const places *s, uint64_t memory) {
    uint32_t start = 0, end = s->n;
    while (start < end) {
        const uint32_t middle = start + (end - start) / 2;
        if (s->all[middle].memory < memory) start = middle + 1;
        else end = middle;
    }
    return start;
}
