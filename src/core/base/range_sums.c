/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "range_sums.h"

bool range_sums_open(range_sums *s, const xir_allocator *alloc, size_t n) {
    *s = (range_sums){ .alloc = alloc, .n = 2 };
    while (s->n < n) s->n *= 2;
    s->most = mem_new(alloc, 2 * s->n * sizeof *s->most);
    s->added = mem_new(alloc, s->n * sizeof *s->added);
    if (!s->most || !s->added) return false;
    memset(s->most, 0, 2 * s->n * sizeof *s->most);
    memset(s->added, 0, s->n * sizeof *s->added);
    return true;
}

void range_sums_close(range_sums *s) {
    mem_free(s->alloc, s->most, 2 * s->n * sizeof *s->most);
    mem_free(s->alloc, s->added, s->n * sizeof *s->added);
}

static void add_to(range_sums *s, size_t node, int64_t number) {
    s->most[node] += number;
    if (node < s->n) s->added[node] += number;
}

static void renew_above(range_sums *s, size_t node) {
    while (node >>= 1) {
        const int64_t left = s->most[2 * node], right = s->most[2 * node + 1];
        s->most[node] = (left > right ? left : right) + s->added[node];
    }
}

void range_sums_add(range_sums *s, size_t from, size_t to, int64_t number) {
    if (from >= to) return;
    size_t left = from + s->n, right = to + s->n;
    for (; left < right; left >>= 1, right >>= 1) {
        if (left & 1) add_to(s, left++, number);
        if (right & 1) add_to(s, --right, number);
    }
    renew_above(s, from + s->n);
    renew_above(s, to - 1 + s->n);
}

/* Returns the sum of what was added above a node. */
static int64_t above(const range_sums *s, size_t node) {
    int64_t sum = 0;
    while (node >>= 1) sum += s->added[node];
    return sum;
}

int64_t range_sums_at(const range_sums *s, size_t at) { return s->most[s->n + at] + above(s, s->n + at); }

int64_t range_sums_most_in(const range_sums *s, size_t from, size_t to) {
    int64_t most = INT64_MIN;
    if (from >= to) return 0;
    size_t left = from + s->n, right = to + s->n;
    for (; left < right; left >>= 1, right >>= 1) {
        if (left & 1) {
            const int64_t now = s->most[left] + above(s, left);
            if (now > most) most = now;
            left++;
        }
        if (right & 1) {
            right--;
            const int64_t now = s->most[right] + above(s, right);
            if (now > most) most = now;
        }
    }
    return most;
}
