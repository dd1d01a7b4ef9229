/* The grammar of MessagePack: what a first byte announces, and a look over a whole input before anything of it is
 * read. */
#ifndef SERIALIZE_MSGPACK_SCAN_H
#define SERIALIZE_MSGPACK_SCAN_H

#include "codec/codec.h"

/* As deep as msgpack-c reads; the outermost map is 1. Nothing deeper is read or written. */
enum { PACKED_DEEPEST = 32 };

/* What a first byte says of its item. */
typedef struct packed_head {
    uint8_t shape;   /* SHAPE_NONE: an extension, or no item at all               */
    uint8_t size;    /* of the item up to its text, bytes, or first member        */
    uint8_t wide;    /* bytes of a count behind the first byte; 0: it is in that  */
    uint8_t mask;    /* where it is                                               */
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

/* Behind the head of the item at `p`, and behind its text or bytes. *items: those that follow and belong to it. Of a
 * scanned input. */
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

/* Behind the item at `p` of a scanned input. */
static inline const uint8_t *packed_behind(const uint8_t *p) {
    for (uint64_t owed = 1, items; owed; owed += items - 1) p = packed_step(p, &items);
    return p;
}

/* How deep the item at `p` of a scanned input nests: 0 if it is no list or map. */
uint32_t packed_height(const uint8_t *p);

/* Whether an input is one item and nothing else: every first byte known, no extensions, every length and all counts
 * together within what is left, nothing deeper than `deepest` (at most PACKED_DEEPEST). False with a finding. Linear
 * time, no memory; what texts and bytes consist of is not touched. From then on whoever walks the input need not
 * look at its end. */
bool packed_scan(trace *t, const uint8_t *data, size_t size, uint32_t deepest);

#endif
