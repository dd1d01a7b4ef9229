/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Builds FlatBuffers tables back to front. A position is the distance from the end of the output to the first byte of
 * an item. It is known at once and never changes, and a later item has a larger one; offsets in the file only lead
 * forward, so they are differences of positions. Position 0 means none. The output lies in a few blocks that are filled
 * from their ends and never move. Every item is aligned for its contents, provided the whole is a multiple of 8. */
#ifndef SERIALIZE_FLAT_BUILD_H
#define SERIALIZE_FLAT_BUILD_H

#include "hash.h"
#include "little.h"

enum { FLAT_BLOCKS = 160, FLAT_SLOTS = 64 };

/* Offsets in a file have 32 bits; those from a table to its vtable are signed. */
#define FLAT_MOST_BYTES UINT64_C(0x7FFFFFFF)

typedef struct flat_block {
    uint8_t *memory, *low;   /* in use from `low` to the end                  */
    size_t   size;
    uint64_t before;         /* bytes in earlier blocks                       */
} flat_block;

typedef struct flat_builder {
    const xir_allocator *alloc;
    uint8_t    *low, *floor;   /* of the last block: the lowest byte in use, its first byte */
    uint64_t    size;          /* bytes built so far                                        */
    xir_status  status;        /* of the first failure: XIR_E_MEMORY, XIR_E_LIMIT           */
    uint32_t    n_blocks;
    size_t      next_block;
    flat_block  blocks[FLAT_BLOCKS];
    text_table  vtables;       /* from their bytes to their positions                       */
} flat_builder;

void flat_builder_init(flat_builder *b, const xir_allocator *alloc);
void flat_builder_free(flat_builder *b);
/* Passes the whole output to a function, front to back. False if the function stopped it. */
bool flat_builder_write(const flat_builder *b, bool (*write)(void *user, const void *data, size_t size), void *user);

uint8_t *flat_take_slow(flat_builder *b, size_t n, size_t pad);

/* Takes `n` bytes in front of everything, followed by zeros such that their position modulo `align` is `skew`. NULL
 * after a failure. Their position is flat_here until the next item is taken. */
static inline uint8_t *flat_take(flat_builder *b, size_t n, size_t align, size_t skew) {
    size_t pad = (skew - ((size_t)b->size + n)) & (align - 1);
    if (n > FLAT_MOST_BYTES || n + pad > (size_t)(b->low - b->floor) || b->status) return flat_take_slow(b, n, pad);
    b->low -= n + pad;
    b->size += n + pad;
    if (pad && pad < 8 && n + pad >= 8) memset(b->low + n + pad - 8, 0, 8);   // one store; the item is written later
    else memset(b->low + n, 0, pad);
    return b->low;
}
static inline uint32_t flat_here(const flat_builder *b) { return (uint32_t)b->size; }

/* The byte at a position. */
uint8_t *flat_at(const flat_builder *b, uint32_t position);

/* Each returns the position, 0 after a failure. */
uint32_t flat_string(flat_builder *b, const void *data, size_t size);   /* with a terminating zero */
/* A vector whose items the caller fills in; `item` is 1, 4 or 8 bytes. */
static inline uint8_t *flat_vector(flat_builder *b, size_t n, size_t item, uint32_t *at) {
    *at = 0;
    if (n > FLAT_MOST_BYTES / item) return flat_take_slow(b, SIZE_MAX, 0);
    uint8_t *p = item == 8 ? flat_take(b, 4 + n * item, 8, 4) : flat_take(b, 4 + n * item, 4, 0);
    if (!p) return NULL;
    little_put32(p, (uint32_t)n);
    *at = flat_here(b);
    return p + 4;
}

/* A vector of offsets to the positions `at[i]`, where consecutive `i` are `step` bytes apart. Position 0 gives
 * offset 0. Returns its position, 0 after a failure. */
static inline uint32_t flat_offsets(flat_builder *b, const uint32_t *at, size_t n, size_t step) {
    uint32_t vector;
    uint8_t *p = flat_vector(b, n, 4, &vector);
    for (size_t i = 0; p && i < n; i++) {
        uint32_t to = *(const uint32_t *)(const void *)((const char *)at + i * step);
        little_put32(p + 4 * i, to ? vector - 4 - 4 * (uint32_t)i - to : 0);
    }
    return vector;
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

/* A table being built: bit k is set if slot k is present. Slots that hold 0 are absent. */
typedef struct flat_fields {
    uint64_t wide, middle, narrow;   /* of 8, 4 and 1 bytes            */
    uint64_t offsets;                /* those of 4 that are positions  */
    uint32_t height;                 /* levels below the table, to limit depth */
    uint64_t bits[FLAT_SLOTS];
} flat_fields;

/* The last table of its kind: the next one usually has the same slots. */
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
/* Sets a slot to a position; position 0 leaves it absent. */
static inline void flat_set_at(flat_fields *f, uint32_t slot, uint32_t at) {
    flat_set32(f, slot, at);
    f->offsets |= (uint64_t)1 << slot;
}

/* Places the largest fields first, so that there is no padding between fields. 0 after a failure. */
uint32_t flat_table_put(flat_builder *b, const flat_fields *f, flat_last *last);
/* The position that a slot of a table leads to; 0 if the slot is absent. */
uint32_t flat_table_slot(const flat_builder *b, uint32_t table, uint32_t slot);

#endif
