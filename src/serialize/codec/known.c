/* What a sink has written of objects, by their addresses. */
#include "codec/known.h"

void known_init(known_items *k, const xir_allocator *alloc) {
    *k = (known_items){ .items = NULL };
    arena_init(&k->kept, alloc);
}

void known_free(known_items *k) {
    mem_free(k->kept.alloc, k->items, k->room * sizeof *k->items);
    arena_free(&k->kept);
}

static known_item *slot_of(const known_items *k, const xir_object *object, uint32_t depth) {
    uint64_t hash = (((uint64_t)(uintptr_t)object >> 3) + depth) * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash >> 32) & (k->room - 1);
    while (k->items[at].object && (k->items[at].object != object || k->items[at].depth != depth)) at = (at + 1) & (k->room - 1);
    return &k->items[at];
}

const known_item *known_find(const known_items *k, const xir_object *object, uint32_t depth) {
    const known_item *item = k->room ? slot_of(k, object, depth) : NULL;
    return item && item->object ? item : NULL;
}

static bool grow(known_items *k) {
    known_item *old = k->items;
    size_t old_room = k->room, room = old_room ? old_room * 2 : 64;
    known_item *items = mem_new(k->kept.alloc, room * sizeof *items);
    if (!items) return false;
    memset(items, 0, room * sizeof *items);
    k->items = items;
    k->room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].object) *slot_of(k, old[i].object, old[i].depth) = old[i];
    }
    mem_free(k->kept.alloc, old, old_room * sizeof *old);
    return true;
}

known_item *known_learn(known_items *k, const xir_object *object, uint32_t depth, const char *bytes, size_t size) {
    if ((k->count + 1) * 2 > k->room && !grow(k)) return NULL;
    const char *copy = arena_copy(&k->kept, bytes, size);
    if (!copy) return NULL;
    known_item *item = slot_of(k, object, depth);
    if (!item->object) k->count++;
    *item = (known_item){ .object = object, .depth = depth, .bytes = copy, .size = size };
    return item;
}
