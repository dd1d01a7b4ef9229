/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MessagePack as XIR reads and writes it: the codec's events and questions, implemented with msgpack-c. */
#ifndef SERIALIZE_MSGPACK_PACKED_H
#define SERIALIZE_MSGPACK_PACKED_H

#include <xir/serialize.h>
#include "codec/known.h"
#include "scan.h"

/* A key as msgpack-c packs it. All baked keys have their size in the first byte. */
static inline uint8_t packed_bake(xir_str key, char *out) {
    if (key.size + 1 > BAKED) return 0;
    out[0] = (char)(0xA0 | key.size);
    if (key.size) memcpy(out + 1, key.data, key.size);
    return (uint8_t)(key.size + 1);
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

/* The position in `out` at which a value was last written, and the depth of its nesting. */
typedef struct packed_value { const xir_value *value; size_t start, size; uint32_t height; } packed_value;
enum { PACKED_VALUES = 64 };

typedef struct packed_sink {
    sink          sink;
    xir_context  *ctx;
    buffer        out;
    uint32_t      depth, deepest;
    uint32_t      peak;                      /* the greatest depth since it was reset             */
    bool          too_large;                 /* the failure is a count or length above 2^32 - 1   */
    xir_write_fn *write;
    void         *user;
    known_items   known;
    packed_value  values[PACKED_VALUES];     /* direct-mapped; cleared when a piece is flushed     */
} packed_sink;

/* Bytes from this size on are not copied before they are written. */
enum { PACKED_DIRECT = 1 << 14 };

/* Starts one item, as if it were inside `depth` lists and maps. */
void       packed_sink_init(packed_sink *p, xir_context *ctx, uint32_t depth, xir_write_fn *write, void *user);
/* Flushes the rest, and returns the final status. */
xir_status packed_sink_end(packed_sink *p);
void       packed_sink_free(packed_sink *p);
/* Packs the head of so many bytes, which the caller then writes to where the sink writes. */
void       packed_begin_bytes(sink *s, uint64_t size);

/* ---- reading ----------------------------------------------------------------------------------------------- */

extern const source_ops packed_source;

/* The counts of open lists and maps. */
typedef struct packed_levels { uint32_t left[PACKED_DEEPEST]; } packed_levels;

/* Points a source at an input that packed_scan has accepted. */
void packed_begin(decoder *d, source *s, packed_levels *levels, const uint8_t *data, size_t size);

/* Reads bytes. False with a finding. */
bool packed_bytes(source *s, const uint8_t **data, uint32_t *size);

#endif
