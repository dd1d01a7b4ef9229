/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "heap.h"

/* Moves the item at the root down to its place. */
static void sink(const ranking *r, item *heap, size_t n, size_t i) {
    const item moved = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && item_is_before(r, &heap[child], &heap[child + 1])) child++;
        if (!item_is_before(r, &moved, &heap[child])) break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

void heap_put(const ranking *r, item *heap, size_t *n, size_t k, item put) {
    if (*n == k) {
        heap[0] = put;
        sink(r, heap, k, 0);
        return;
    }
    size_t i = (*n)++;
    for (; i > 0 && item_is_before(r, &heap[(i - 1) / 2], &put); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = put;
}

void heap_sort(const ranking *r, item *heap, size_t n) {
    for (; n > 1; n--) {
        const item last = heap[0];
        heap[0] = heap[n - 1];
        sink(r, heap, n - 1, 0);
        heap[n - 1] = last;
    }
}
