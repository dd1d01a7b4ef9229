/* Builds FlatBuffers tables back to front. A position is the distance from the end of what is built to the first
 * byte of a thing: it is known at once, never changes, and a thing made later has a larger one, so that offsets,
 * which only lead forward in the file, are differences. 0 is no position. What is built lies in a few blocks that
 * are filled from their ends; nothing in them is ever moved. Everything is aligned to what it holds as long as the
 * whole is a multiple of 8. */
#ifndef SERIALIZE_FLAT_BUILD_H
#define SERIALIZE_FLAT_BUILD_H

#include "hash.h"

enum { FLAT_BLOCKS = 160, FLAT_SLOTS = 64 };

/* A file's offsets are of 32 bits, those from a table to its vtable have a sign. */
#define FLAT_MOST_BYTES UINT64_C(0x7FFFFFFF)

typedef struct flat_block {
    uint8_t *memory, *low;   /* in use from `low` to the end                  */
    size_t   size;
    uint64_t before;         /* bytes in the blocks before                    */
} flat_block;

typedef struct flat_builder {
    const xir_allocator *alloc;
    uint8_t    *low, *floor;   /* of the last block: the lowest byte in use, its first byte */
    uint64_t    size;          /* bytes built so far                                        */
    xir_status  status;        /* of the first failure: XIR_E_MEMORY, XIR_E_LIMIT           */
    uint32_t    n_blocks;
    size_t      next_block;
    flat_block  blocks[FLAT_BLOCKS];
    text_table  vtables;       /* the bytes of each, to its position                        */
} flat_builder;

void flat_builder_init(flat_builder *b, const xir_allocator *alloc);
void flat_builder_free(flat_builder *b);
/* Gives all that was built to a function, from the front; false if that stopped it. */
bool flat_builder_write(const flat_builder *b, bool (*write)(void *user, const void *data, size_t size), void *user);

uint8_t *flat_take_slow(flat_builder *b, size_t n, size_t pad);

/* `n` bytes in front of everything, zeros behind them so that their position leaves the rest `skew` when it is
 * divided by `align`; NULL after a failure. Until the next thing is taken their position is flat_here. */
static inline uint8_t *flat_take(flat_builder *b, size_t n, size_t align, size_t skew) {
    size_t pad = (skew - ((size_t)b->size + n)) & (align - 1);
    if (n > FLAT_MOST_BYTES || n + pad > (size_t)(b->low - b->floor) || b->status) return flat_take_slow(b, n, pad);
    b->low -= n + pad;
    b->size += n + pad;
    memset(b->low + n, 0, pad);
    return b->low;
}
static inline uint32_t flat_here(const flat_builder *b) { return (uint32_t)b->size; }

/* The byte at a position. */
uint8_t *flat_at(const flat_builder *b, uint32_t position);

/* Little-endian numbers anywhere. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline void flat_put16(uint8_t *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void flat_put32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void flat_put64(uint8_t *p, uint64_t v) { memcpy(p, &v, sizeof v); }
#else
static inline void flat_put16(uint8_t *p, uint16_t v) { p[0] = (uint8_t)v; p[1] = (uint8_t)(v >> 8); }
static inline void flat_put32(uint8_t *p, uint32_t v) {
    flat_put16(p, (uint16_t)v);
    flat_put16(p + 2, (uint16_t)(v >> 16));
}
static inline void flat_put64(uint8_t *p, uint64_t v) {
    flat_put32(p, (uint32_t)v);
    flat_put32(p + 4, (uint32_t)(v >> 32));
}
#endif
static inline uint32_t flat_get16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
static inline uint32_t flat_get32(const uint8_t *p) { return flat_get16(p) | flat_get16(p + 2) << 16; }

/* Each returns the position, 0 after a failure. */
uint32_t flat_string(flat_builder *b, const void *data, size_t size);   /* with a zero behind it */
/* A vector whose items the caller fills in; `item` is 1, 4 or 8 bytes. */
uint8_t *flat_vector(flat_builder *b, size_t n, size_t item, uint32_t *at);

/* A vector of offsets to the positions `at[i]`, `step` bytes one behind the other; position 0 is the offset 0. */
uint32_t flat_offsets(flat_builder *b, const uint32_t *at, size_t n, size_t step);

/* ---- tables ------------------------------------------------------------------------------------------------ */

/* A table in the making: bit k says that slot k is there. Slots that hold 0 are not. */
typedef struct flat_fields {
    uint64_t wide, middle, narrow;   /* of 8, 4 and 1 bytes            */
    uint64_t offsets;                /* those of 4 that are positions  */
    uint32_t height;                 /* levels of what it leads to: for who limits depth */
    uint64_t bits[FLAT_SLOTS];
} flat_fields;

/* What the last table of a kind was like: mostly the next one has the same slots. */
typedef struct flat_last { uint64_t wide, middle, narrow; uint32_t vtable, size; } flat_last;

static inline void flat_fields_init(flat_fields *f) { f->wide = f->middle = f->narrow = f->offsets = f->height = 0; }

static inline void flat_set8(flat_fields *f, uint32_t slot, uint8_t v) {
    f->bits[slot] = v;
    f->narrow |= (uint64_t)(v != 0) << slot;
}
static inline void flat_set32(flat_fields *f, uint32_t slot, uint32_t v) {
    f->bits[slot] = v;
    f->middle |= (uint64_t)(v != 0) << slot;
}
static inline void flat_set64(flat_fields *f, uint32_t slot, uint64_t v) {
    f->bits[slot] = v;
    f->wide |= (uint64_t)(v != 0) << slot;
}
/* Leads to a position; there is nothing if that is 0. */
static inline void flat_set_at(flat_fields *f, uint32_t slot, uint32_t at) {
    flat_set32(f, slot, at);
    f->offsets |= (uint64_t)1 << slot;
}

/* The largest fields stand first, so that nothing lies between them. 0 after a failure. */
uint32_t flat_table_put(flat_builder *b, const flat_fields *f, flat_last *last);
/* The position of what a slot of a table has; 0 if it is not there. */
uint32_t flat_table_slot(const flat_builder *b, uint32_t table, uint32_t slot);

#endif
