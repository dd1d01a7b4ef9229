/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes that a sink wrote for objects, by the objects' addresses. */
#include "codec/known.h"

void known_init(known_items *k, const xir_allocator *alloc) {
    *k = (known_items){ .items = NULL };
    arena_init(&k->kept, alloc);
    pointer_table_init(&k->last, alloc);
}

void known_free(known_items *k) {
    mem_free(k->kept.alloc, k->items, k->room * sizeof *k->items);
    pointer_table_free(&k->last);
    arena_free(&k->kept);
}

/* An object occurs at few depths, at most as many as the nesting limit. */
const known_item *known_find(const known_items *k, const xir_object *object, uint32_t depth) {
    const uint32_t *last = pointer_table_find(&k->last, object);
    for (uint32_t i = last ? *last : 0; i; i = k->items[i - 1].next) {
        if (k->items[i - 1].depth == depth) return &k->items[i - 1];
    }
    return NULL;
}

known_item *known_learn(known_items *k, const xir_object *object, uint32_t depth, const char *bytes, size_t size) {
    if (k->n == UINT32_MAX) return NULL;
    if (!mem_reserve(k->kept.alloc, (void **)&k->items, &k->room, k->n + 1, sizeof *k->items)) return NULL;
    const char *copy = arena_copy(&k->kept, bytes, size);
    uint32_t *last = copy ? pointer_table_add(&k->last, object, 0) : NULL;
    if (!last) return NULL;
    k->items[k->n++] = (known_item){ .depth = depth, .next = *last, .bytes = copy, .size = size };
    *last = (uint32_t)k->n;
    return &k->items[k->n - 1];
}
