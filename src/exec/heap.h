/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The first k of many items in an order without ties: by number, and where numbers are the same by index. NaN is
 * greater than any number. Only k items exist at a time: a heap whose root is the last one of them. */
#ifndef EXEC_HEAP_H
#define EXEC_HEAP_H

#include "blocks.h"

typedef struct item {
    number  value;
    int64_t index;
} item;

typedef struct ranking {
    bool    real, largest;   /* largest: the greatest number is the first */
    int64_t order;           /* of integers, from order_of                */
} ranking;

/* Returns true if a real is greater than another. */
static inline bool real_is_greater(double a, double b) { return a > b || (a != a && b == b); }

/* Returns true if a is before b. */
static inline bool item_is_before(const ranking *r, const item *a, const item *b) {
    const item *first = r->largest ? a : b, *second = r->largest ? b : a;
    bool greater, less;
    if (r->real) {
        greater = real_is_greater(first->value.real, second->value.real);
        less = real_is_greater(second->value.real, first->value.real);
    } else {
        greater = (first->value.integer ^ r->order) > (second->value.integer ^ r->order);
        less = (first->value.integer ^ r->order) < (second->value.integer ^ r->order);
    }
    return greater || (!less && a->index < b->index);
}

/* Puts an item into a heap of *n of the k first ones: at its end, or instead of the last one if it is full. */
void heap_put(const ranking *r, item *heap, size_t *n, size_t k, item put);
/* Offers an item to it; most are not among the first ones. */
static inline void heap_offer(const ranking *r, item *heap, size_t *n, size_t k, item offered) {
    if (*n < k || (k && item_is_before(r, &offered, heap))) heap_put(r, heap, n, k, offered);
}
/* Makes a heap a list in order. */
void heap_sort(const ranking *r, item *heap, size_t n);

#endif
