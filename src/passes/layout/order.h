/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Orders: permutations of at most 8 axes in one word. Axis i of a value transposed by p is axis order_at(p, i) of the
 * original, as in the attribute `dims` of Transpose. Axes after the rank stay in place, so one word is the same order
 * at any rank. */
#ifndef LAYOUT_ORDER_H
#define LAYOUT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t axis_order;

enum { MOST_AXES = 8 };
#define ORDER_SAME 0x76543210u
/* Not an order of axes: the elements within the last axis, which the Reshape at this position of the network has merged
 * from several axes, are in another order. */
#define ORDER_MERGED 0x80000000u
#define ORDER_SPLIT  0x40000000u   /* in addition: a Reshape will split the axis */
#define ORDER_PLACE  0x3fffffffu

static inline bool     order_is_merged(axis_order p) { return p & ORDER_MERGED; }
static inline uint32_t order_at(axis_order p, size_t i) { return p >> 4 * i & 7; }
static inline axis_order    order_put(axis_order p, size_t i, size_t axis) {
    return (p & ~(0xFu << 4 * i)) | (axis_order)axis << 4 * i;
}

/* Transposed by a, then by b. A merged order refers to the last value. */
static inline axis_order order_then(axis_order a, axis_order b) {
    if (a == ORDER_SAME || order_is_merged(b)) return b;
    if (b == ORDER_SAME) return a;
    axis_order out = 0;
    for (size_t i = 0; i < MOST_AXES; i++) out |= order_at(a, order_at(b, i)) << 4 * i;
    return out;
}

static inline axis_order order_inverse(axis_order p) {
    axis_order out = 0;
    for (size_t i = 0; i < MOST_AXES; i++) out |= (axis_order)i << 4 * order_at(p, i);
    return out;
}

/* The present position of an axis. */
static inline size_t order_find(axis_order p, size_t axis) {
    size_t i = 0;
    while (order_at(p, i) != axis) i++;
    return i;
}

/* Moves the channels, axis 1, after all other axes: NCHW to NHWC; and back. */
static inline axis_order order_channels_last(size_t rank) {
    axis_order p = ORDER_SAME;
    for (size_t i = 1; i + 1 < rank; i++) p = order_put(p, i, i + 1);
    return rank > 1 ? order_put(p, rank - 1, 1) : p;
}

#endif
