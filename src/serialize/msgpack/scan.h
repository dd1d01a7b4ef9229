/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The grammar of MessagePack: what a first byte announces, and a scan of a whole input before any of it is read. */
#ifndef SERIALIZE_MSGPACK_SCAN_H
#define SERIALIZE_MSGPACK_SCAN_H

#include "codec/codec.h"

/* The depth that msgpack-c reads; the outermost map is 1. Nothing deeper is read or written. */
enum { PACKED_DEEPEST = 32 };

/* The meaning of a first byte. */
typedef struct packed_head {
    uint8_t shape;   /* SHAPE_NONE: an extension, or not an item                 */
    uint8_t size;    /* of the head: up to the text, bytes or first member        */
    uint8_t wide;    /* bytes of the count after the first byte; 0: it is in that */
    uint8_t mask;    /* of the bits with the count                                */
} packed_head;
extern const packed_head packed_heads[256];

static inline const packed_head *packed_head_at(const uint8_t *p) { return &packed_heads[*p]; }

/* The count of a text, bytes, list or map whose head lies in memory. */
static inline uint32_t packed_count(const packed_head *h, const uint8_t *p) {
    switch (h->wide) {
    case 0:  return *p & h->mask;
    case 1:  return p[1];
    case 2:  return (uint32_t)p[1] << 8 | p[2];
    default: return (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
    }
}

/* The end of the head of the item at `p`, and of its text or bytes. *items: the number of items inside it, which
 * follow. Only for a scanned input. */
static inline const uint8_t *packed_step(const uint8_t *p, uint64_t *items) {
    const packed_head *h = packed_head_at(p);
    *items = 0;
    switch (h->shape) {
    case SHAPE_TEXT:
    case SHAPE_BYTES: return p + h->size + packed_count(h, p);
    case SHAPE_LIST:  *items = packed_count(h, p); break;
    case SHAPE_MAP:   *items = 2 * (uint64_t)packed_count(h, p); break;
    default: break;
    }
    return p + h->size;
}

/* The end of the item at `p` of a scanned input. */
static inline const uint8_t *packed_end(const uint8_t *p) {
    for (uint64_t owed = 1, items; owed; owed += items - 1) p = packed_step(p, &items);
    return p;
}

/* Returns the depth of nesting of the item at `p` of a scanned input: 0 if it is not a list or map. */
uint32_t packed_height(const uint8_t *p);

/* Returns true if an input is exactly one item: every first byte known, no extensions, every length and the sum of all
 * counts within the bytes left, nothing deeper than `deepest` (at most PACKED_DEEPEST). False with a finding. Linear
 * time, no memory; the contents of texts and bytes are not touched. After that, code that walks the input need not
 * check for its end. */
bool packed_scan(trace *t, const uint8_t *data, size_t size, uint32_t deepest);

#endif
