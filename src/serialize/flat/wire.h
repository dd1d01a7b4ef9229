/* The bytes of FlatBuffers: little-endian scalars at any address, offsets relative to their own place, tables whose
 * vtable says where their fields are. Nothing is checked here: see verify.c. */
#ifndef SERIALIZE_FLAT_WIRE_H
#define SERIALIZE_FLAT_WIRE_H

#include <stdint.h>
#include <string.h>

/* Offsets have 32 bits; the offset to a vtable is signed. */
#define FLAT_MOST UINT64_C(0x7FFFFFFF)

enum { FLAT_VTABLE_HEAD = 4 };   /* its own size and that of its tables; then a u16 per slot */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FLAT_ORDER(bits, v) __builtin_bswap##bits(v)
#else
#define FLAT_ORDER(bits, v) (v)
#endif

static inline uint16_t flat_u16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return FLAT_ORDER(16, v);
}

static inline uint32_t flat_u32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return FLAT_ORDER(32, v);
}

static inline uint64_t flat_u64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return FLAT_ORDER(64, v);
}

static inline int64_t flat_i64(const uint8_t *p) { return (int64_t)flat_u64(p); }

static inline float flat_f32(const uint8_t *p) {
    uint32_t bits = flat_u32(p);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The target of an offset. */
static inline const uint8_t *flat_follow(const uint8_t *p) { return p + flat_u32(p); }

/* A table and its vtable. */
typedef struct flat_view { const uint8_t *at, *vtable; uint32_t vsize; } flat_view;

static inline flat_view flat_view_of(const uint8_t *table) {
    const uint8_t *vtable = table - (int32_t)flat_u32(table);
    return (flat_view){ table, vtable, flat_u16(vtable) };
}

/* The offset of a slot's field in the table; 0: absent. */
static inline uint32_t flat_field(const flat_view *t, uint32_t slot) {
    uint32_t at = FLAT_VTABLE_HEAD + 2 * slot;
    return at < t->vsize ? flat_u16(t->vtable + at) : 0;
}

/* The field of a slot; NULL: absent. */
static inline const uint8_t *flat_field_at(const flat_view *t, uint32_t slot) {
    uint32_t at = flat_field(t, slot);
    return at ? t->at + at : NULL;
}

#endif
