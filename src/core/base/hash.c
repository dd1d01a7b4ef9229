/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See hash.h. A table doubles when it grows, so that the cost per added key is constant. Large tables ask for huge
 * pages, because every access to them is a cache miss. */
#include "hash.h"
#include "number.h"

/* Words are multiplied independently of each other, so that the multiplications overlap, and the sum is mixed once. */
uint64_t hash_bytes(uint64_t seed, const void *data, size_t size) {
    static const uint64_t k[4] = { 0x9E3779B97F4A7C15u, 0xFF51AFD7ED558CCDu, 0xC4CEB9FE1A85EC53u, 0xD6E8FEB86659FD93u };
    const unsigned char *p = data;
    uint64_t hash = (seed ^ size) * k[0];
    for (; size >= 32; size -= 32, p += 32) {
        uint64_t w[4];
        memcpy(w, p, 32);
        uint64_t sum = (w[0] ^ (w[0] >> 32)) * k[0] + (w[1] ^ (w[1] >> 32)) * k[1] + (w[2] ^ (w[2] >> 32)) * k[2] +
                       (w[3] ^ (w[3] >> 32)) * k[3];
        hash = (hash ^ (hash >> 29)) * k[1] + sum;
    }
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        hash = (hash ^ (hash >> 29)) * k[1] + (w ^ (w >> 32)) * k[2];
    }
    uint64_t rest = 0;
    if (size) memcpy(&rest, p, size);
    hash = (hash ^ rest ^ (hash >> 31)) * k[2];
    return hash ^ (hash >> 32);
}

/* Returns cleared slots for `n` keys, more than `room` of them, and sets `room` to their number. NULL without
 * memory. */
static void *more_slots(const xir_allocator *alloc, size_t *room, size_t n, size_t size) {
    size_t grown = *room ? *room : 16;
    if (n > SIZE_MAX / 4 / size) return NULL;
    while (grown < 2 * n) grown *= 2;
    void *slots = mem_new(alloc, grown * size);
    if (!slots) return NULL;
    memory_advise_huge(slots, grown * size);
    memset(slots, 0, grown * size);
    *room = grown;
    return slots;
}

/* ---- from pointers ----------------------------------------------------------------------------------------- */

void pointer_table_free(pointer_table *t) {
    mem_free(t->alloc, t->slots, t->room * sizeof *t->slots);
    pointer_table_init(t, t->alloc);
}

bool pointer_table_reserve(pointer_table *t, size_t n) {
    if (2 * n <= t->room && n <= SIZE_MAX / 2) return true;
    pointer_table bigger = { .alloc = t->alloc, .room = t->room, .n = t->n };
    bigger.slots = more_slots(t->alloc, &bigger.room, n, sizeof *t->slots);
    if (!bigger.slots) return false;
    for (size_t i = 0; i < t->room; i++) {
        if (t->slots[i].key) *pointer_table_slot(&bigger, t->slots[i].key) = t->slots[i];
    }
    pointer_table_free(t);
    *t = bigger;
    return true;
}

/* ---- from texts -------------------------------------------------------------------------------------------- */

void text_table_init(text_table *t, const xir_allocator *alloc) {
    *t = (text_table){ .alloc = alloc, .seed = (uint64_t)(uintptr_t)t << 20 ^ (uint64_t)(uintptr_t)alloc };
}

void text_table_free(text_table *t) {
    mem_free(t->alloc, t->slots, t->room * sizeof *t->slots);
    mem_free(t->alloc, t->items, t->item_room * sizeof *t->items);
    text_table_init(t, t->alloc);
}

void text_table_clear(text_table *t) {
    if (t->room) memset(t->slots, 0, t->room * sizeof *t->slots);
    t->n = 0;
}

static uint32_t hash_key(const text_table *t, xir_str key) {
    return (uint32_t)(hash_text(t->seed, key.data, key.size) >> 32);
}

/* The low bits of a hash select the slot, all of them distinguish the keys there. */
static text_slot *slot_of(const text_table *t, xir_str key, uint32_t hash) {
    size_t i = hash & (t->room - 1);
    for (;; i = (i + 1) & (t->room - 1)) {
        text_slot *slot = &t->slots[i];
        if (!slot->number) return slot;
        const text_item *item = &t->items[slot->number - 1];
        if (slot->hash == hash && item->size == key.size && memcmp(item->text, key.data, key.size) == 0) return slot;
    }
}

static text_slot *free_slot(const text_table *t, uint32_t hash) {
    size_t i = hash & (t->room - 1);
    while (t->slots[i].number) i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

/* An empty key may come without a pointer. */
static xir_str with_pointer(xir_str key) { return key.data ? key : XIR_STR(""); }

bool text_table_reserve(text_table *t, size_t n) {
    if (2 * n <= t->room && n <= t->item_room && n <= SIZE_MAX / 2) return true;
    if (n > UINT32_MAX || !mem_reserve(t->alloc, (void **)&t->items, &t->item_room, n, sizeof *t->items)) return false;
    if (2 * n <= t->room) return true;
    text_table bigger = *t;
    bigger.slots = more_slots(t->alloc, &bigger.room, n, sizeof *t->slots);
    if (!bigger.slots) return false;
    for (size_t i = 0; i < t->room; i++) {
        if (t->slots[i].number) *free_slot(&bigger, t->slots[i].hash) = t->slots[i];
    }
    mem_free(t->alloc, t->slots, t->room * sizeof *t->slots);
    *t = bigger;
    return true;
}

uint32_t *text_table_find(const text_table *t, xir_str key) {
    key = with_pointer(key);
    const text_slot *slot = t->n ? slot_of(t, key, hash_key(t, key)) : NULL;
    return slot && slot->number ? &t->items[slot->number - 1].value : NULL;
}

uint32_t text_table_expect(const text_table *t, xir_str key) {
    const uint32_t hash = hash_key(t, with_pointer(key));
    __builtin_prefetch(&t->slots[hash & (t->room - 1)], 1);
    return hash;
}

uint32_t *text_table_add(text_table *t, xir_str key, uint32_t value) {
    return text_table_add_hashed(t, key, hash_key(t, with_pointer(key)), value);
}

uint32_t *text_table_add_hashed(text_table *t, xir_str key, uint32_t hash, uint32_t value) {
    key = with_pointer(key);
    if (((t->n + 1) * 2 > t->room || t->n == t->item_room) && !text_table_reserve(t, t->n + 1)) return NULL;
    text_slot *slot = slot_of(t, key, hash);
    if (!slot->number) {
        t->items[t->n++] = (text_item){ key.data, key.size, value };
        *slot = (text_slot){ hash, (uint32_t)t->n };
    }
    return &t->items[slot->number - 1].value;
}

xir_str text_table_unused(const text_table *t, char *text, size_t size, uint64_t *next) {
    xir_str key;
    do key = (xir_str){ text, size + number_put_u64(text + size, (*next)++) };
    while (text_table_find(t, key));
    return key;
}
