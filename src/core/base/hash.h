/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Hashes, and two growing tables over them: from pointers and from texts to 32-bit numbers. Both use open addressing,
 * are at most half full, and never remove a single key. The caller owns the keys: a text must live as long as the
 * table. A zeroed table with an allocator is empty, and an empty table holds no memory.
 *
 * They serve wherever each item is looked up a few times. Some tables have their own layout because it is faster;
 * they say so: ids.c, intern.c, codec/value.c, codec/object.c, cse.c. */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include "memory.h"

/* ---- hashes ------------------------------------------------------------------------------------------------ */

/* Hashes bytes of any length; the result is the same in every run. */
uint64_t hash_bytes(uint64_t seed, const void *data, size_t size);

/* Tables take their slots from the low bits of the result. Records of one size lie at equal distances in an arena,
 * so that the middle bits of the product alone may advance by less than a slot from one to the next; the top bits do
 * not. */
static inline uint64_t hash_pointer(const void *p) {
    uint64_t product = (uint64_t)(uintptr_t)p * 0x9E3779B97F4A7C15u;
    return product >> 32 ^ product >> 51;
}

/* Folds the product of two words into one; it depends on all bits of both. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t hash = (a ^ b >> 32) * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 29 ^ b) * 0xFF51AFD7ED558CCDu;
#endif
}

static inline uint64_t hash_word(const char *at, size_t size) {
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

/* Hashes names, which are short: up to 16 bytes are two words, which may overlap. Every bit of the result may be used.
 * With a seed that differs from run to run, no file can be crafted to fill one slot of a table. *bits gathers all bytes
 * by a bitwise or: a text is ASCII if no byte of it has its highest bit. */
static inline uint64_t hash_text_bits(uint64_t seed, const char *text, size_t size, uint64_t *bits) {
    const uint64_t k0 = 0x9E3779B97F4A7C15u, k1 = 0xC4CEB9FE1A85EC53u;
    uint64_t hash = seed ^ size * k1, a = 0, b = 0;
    for (; size > 16; size -= 16, text += 16) {
        a = hash_word(text, 8);
        b = hash_word(text + 8, 8);
        *bits |= a | b;
        hash = hash_mix(a ^ k0, b ^ hash);
    }
    a = b = 0;
    if (size >= 8) {
        a = hash_word(text, 8);
        b = hash_word(text + size - 8, 8);
    } else if (size >= 4) {
        a = hash_word(text, 4);
        b = hash_word(text + size - 4, 4);
    } else if (size) {
        a = (uint64_t)(unsigned char)text[0] << 16 | (uint64_t)(unsigned char)text[size / 2] << 8 |
            (unsigned char)text[size - 1];
    }
    *bits |= a | b;
    return hash_mix(hash_mix(a ^ k0, b ^ hash), k1);
}

static inline uint64_t hash_text(uint64_t seed, const char *text, size_t size) {
    uint64_t bits = 0;
    return hash_text_bits(seed, text, size, &bits);
}

/* The highest bit of each byte of a word. */
#define HASH_NOT_ASCII UINT64_C(0x8080808080808080)

/* ---- from pointers ----------------------------------------------------------------------------------------- */

typedef struct pointer_slot { const void *key; uint32_t value; } pointer_slot;   /* key NULL: free */
typedef struct pointer_table {
    const xir_allocator *alloc;
    pointer_slot        *slots;
    size_t               room, n;   /* room: 0 or a power of two */
} pointer_table;

static inline void pointer_table_init(pointer_table *t, const xir_allocator *alloc) {
    *t = (pointer_table){ .alloc = alloc };
}
void pointer_table_free(pointer_table *t);
/* Makes room for `n` keys in all; false without memory, with the table unchanged. */
bool pointer_table_reserve(pointer_table *t, size_t n);

/* Returns the slot of a key, or the free slot where it belongs. The table must have room. */
static inline pointer_slot *pointer_table_slot(const pointer_table *t, const void *key) {
    size_t i = hash_pointer(key) & (t->room - 1);
    while (t->slots[i].key && t->slots[i].key != key) i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

/* Returns the value of a key, NULL if there is none. Valid until the next key is added. The key is not NULL. */
static inline uint32_t *pointer_table_find(const pointer_table *t, const void *key) {
    pointer_slot *slot = t->n ? pointer_table_slot(t, key) : NULL;
    return slot && slot->key ? &slot->value : NULL;
}

/* The same, but a missing key is added with `value`; NULL without memory. */
static inline uint32_t *pointer_table_add(pointer_table *t, const void *key, uint32_t value) {
    if ((t->n + 1) * 2 > t->room && !pointer_table_reserve(t, t->n + 1)) return NULL;
    pointer_slot *slot = pointer_table_slot(t, key);
    if (!slot->key) {
        *slot = (pointer_slot){ key, value };
        t->n++;
    }
    return &slot->value;
}

/* ---- from texts -------------------------------------------------------------------------------------------- */

typedef struct text_item { const char *text; size_t size; uint32_t value; } text_item;
typedef struct text_slot { uint32_t hash, number; } text_slot;   /* number of an item, from 1; 0: free */
typedef struct text_table {
    const xir_allocator *alloc;
    uint64_t             seed;
    text_item           *items;     /* in the order in which they were added; slots are half empty, this is not */
    size_t               item_room;
    text_slot           *slots;
    size_t               room, n;   /* room: 0 or a power of two */
} text_table;

void text_table_init(text_table *t, const xir_allocator *alloc);
void text_table_free(text_table *t);
/* Forgets all keys, and keeps the room. */
void text_table_clear(text_table *t);
/* Makes room for `n` keys in all; false without memory, with the table unchanged. */
bool text_table_reserve(text_table *t, size_t n);
/* Returns the value of a key, NULL if there is none. Valid until the next key is added. */
uint32_t *text_table_find(const text_table *t, xir_str key);
/* The same, but a missing key is added with `value`; NULL without memory. The text is not copied. */
uint32_t *text_table_add(text_table *t, xir_str key, uint32_t value);
/* The hash of a key that is added soon; asks memory for its slot. The table must have room. */
uint32_t  text_table_expect(const text_table *t, xir_str key);
uint32_t *text_table_add_hashed(text_table *t, xir_str key, uint32_t hash, uint32_t value);

/* Returns a key that the table does not have: the stem, which is the first `size` bytes of `text`, and the first number
 * from *next on that makes such a key. Writes the number after the stem, where `text` has NUMBER_ROOM bytes, and sets
 * *next to the number after it. Numbers never decrease, so each key of the table costs at most one attempt: all names
 * together are linear, whatever a file calls its items. */
xir_str    text_table_unused(const text_table *t, char *text, size_t size, uint64_t *next);

#endif
