/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes of FlatBuffers: little-endian scalars at any address, offsets relative to their own place, tables whose
 * vtable says where their fields are. Nothing is checked here: see verify.c. */
#ifndef SERIALIZE_FLAT_WIRE_H
#define SERIALIZE_FLAT_WIRE_H

#include "little.h"

/* Offsets have 32 bits; the offset to a vtable is signed. */
#define FLAT_MOST UINT64_C(0x7FFFFFFF)

enum { FLAT_VTABLE_HEAD = 4 };   /* its own size and that of its tables; then a u16 per slot */

static inline int64_t flat_i64(const uint8_t *p) { return (int64_t)little_u64(p); }

static inline float flat_f32(const uint8_t *p) {
    uint32_t bits = little_u32(p);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The target of an offset. */
static inline const uint8_t *flat_follow(const uint8_t *p) { return p + little_u32(p); }

/* A table and its vtable. */
typedef struct flat_view { const uint8_t *at, *vtable; uint32_t vsize; } flat_view;

static inline flat_view flat_view_of(const uint8_t *table) {
    const uint8_t *vtable = table - (int32_t)little_u32(table);
    return (flat_view){ table, vtable, little_u16(vtable) };
}

/* The offset of a slot's field in the table; 0: absent. */
static inline uint32_t flat_field(const flat_view *t, uint32_t slot) {
    uint32_t at = FLAT_VTABLE_HEAD + 2 * slot;
    return at < t->vsize ? little_u16(t->vtable + at) : 0;
}

/* The field of a slot; NULL: absent. */
static inline const uint8_t *flat_field_at(const flat_view *t, uint32_t slot) {
    uint32_t at = flat_field(t, slot);
    return at ? t->at + at : NULL;
}

#endif
