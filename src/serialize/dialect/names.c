/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See names.h. */
#include "dialect/names.h"

void name_table_init(name_table *t, const xir_allocator *alloc) {
    *t = (name_table){ .alloc = alloc, .seed = (uint64_t)(uintptr_t)t << 20 ^ (uint64_t)(uintptr_t)alloc };
}

static void free_slots(name_table *t) {
    mem_free(t->alloc, t->marks, t->room * sizeof *t->marks);
    mem_free(t->alloc, t->numbers, t->room * sizeof *t->numbers);
}

void name_table_free(name_table *t) {
    free_slots(t);
    mem_free(t->alloc, (void *)t->values, t->value_room * sizeof *t->values);
}

/* The upper half of a hash selects the slot, the lowest bits distinguish the names there. */
static uint8_t mark_of(uint64_t hash) { return (uint8_t)(hash | 128); }

static void put(name_table *t, uint64_t hash, uint32_t number) {
    size_t at = (size_t)(hash >> 32) & (t->room - 1);
    while (t->marks[at]) at = (at + 1) & (t->room - 1);
    t->marks[at] = mark_of(hash);
    t->numbers[at] = number;
}

/* Half of the slots stay free. */
static bool grow(name_table *t, size_t n) {
    size_t room = t->room ? t->room : 64;
    while (room < 2 * n) room *= 2;
    if (room == t->room) return true;
    uint8_t *marks = mem_new(t->alloc, room * sizeof *marks);
    uint32_t *numbers = marks ? mem_new(t->alloc, room * sizeof *numbers) : NULL;
    if (!numbers) {
        mem_free(t->alloc, marks, room * sizeof *marks);
        return false;
    }
    memory_advise_huge(marks, room * sizeof *marks);
    memory_advise_huge(numbers, room * sizeof *numbers);
    memset(marks, 0, room * sizeof *marks);
    free_slots(t);
    t->marks = marks;
    t->numbers = numbers;
    t->room = room;
    for (size_t i = 0; i < t->n; i++) {
        xir_str text = name_text(value_more_of(t->values[i])->name);
        put(t, hash_text(t->seed, text.data, text.size), (uint32_t)i);
    }
    return true;
}

bool name_table_reserve(name_table *t, size_t n) {
    if (n >= UINT32_MAX / 2) return false;
    return mem_reserve(t->alloc, (void **)&t->values, &t->value_room, n, sizeof *t->values) && grow(t, n);
}

/* The place of a name among the values, or NULL. */
static xir_value **find(const name_table *t, xir_str text, uint64_t hash) {
    if (!t->room) return NULL;
    for (size_t at = (size_t)(hash >> 32) & (t->room - 1); t->marks[at]; at = (at + 1) & (t->room - 1)) {
        if (t->marks[at] != mark_of(hash)) continue;
        xir_value **v = &t->values[t->numbers[at]];
        if (name_is(*v, text)) return v;
    }
    return NULL;
}

xir_value *name_find_slowly(name_table *t, xir_str text, uint64_t hash) {
    bool guessed = t->guess < t->n && name_is(t->values[t->guess], text);
    xir_value **v = guessed ? &t->values[t->guess] : find(t, text, hash);
    if (!v) return NULL;
    t->recent[hash % NAME_RECENT] = (name_recent){ hash, *v, (size_t)(v - t->values) };
    t->guess = (size_t)(v - t->values) + 1;
    return *v;
}

bool name_add(name_table *t, xir_value *value, uint64_t hash) {
    if ((t->n + 1 > t->value_room || 2 * (t->n + 1) > t->room) && !name_table_reserve(t, t->n + 1)) return false;
    t->values[t->n++] = value;
    put(t, hash, (uint32_t)t->n - 1);
    t->recent[hash % NAME_RECENT] = (name_recent){ hash, value, t->n - 1 };
    return true;
}

void name_replace(name_table *t, xir_value *old, xir_value *value, uint64_t hash) {
    name_recent *recent = &t->recent[hash % NAME_RECENT];
    const bool known = recent->value == old && recent->hash == hash;
    xir_value **place = known ? &t->values[recent->number] : find(t, name_text(value_more_of(old)->name), hash);
    if (!place) return;
    *place = value;
    *recent = (name_recent){ hash, value, (size_t)(place - t->values) };
}
