/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A radix sort, from the lowest byte to the highest. Bytes that all keys have in common are passed over, so that keys
 * which are small numbers take few rounds. Few items are inserted one after the other. */
#include "sort.h"
#include <string.h>

enum { FEW = 48, DIGITS = 256 };

static void insert_each(keyed *items, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const keyed item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void distribute(const keyed *from, keyed *to, size_t n, unsigned shift) {
    size_t next[DIGITS] = { 0 }, sum = 0;
    for (size_t i = 0; i < n; i++) next[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        const size_t count = next[digit];
        next[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) to[next[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void sort_keyed(keyed *items, keyed *spare, size_t n) {
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++) differ |= items[i].key ^ items[0].key;
    if (n <= FEW) {
        insert_each(items, n);
        return;
    }
    keyed *from = items, *to = spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & (DIGITS - 1))) continue;
        distribute(from, to, n, shift);
        keyed *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}
