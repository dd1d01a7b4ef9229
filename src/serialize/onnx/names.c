#include "onnx/names.h"
#include "object.h"

void name_table_init(name_table *t, const xir_allocator *alloc) {
    *t = (name_table){ .alloc = alloc, .seed = (uint64_t)(uintptr_t)t << 20 ^ (uint64_t)(uintptr_t)alloc };
}

void name_table_free(name_table *t) {
    mem_free(t->alloc, t->slots, t->room * sizeof *t->slots);
    mem_free(t->alloc, (void *)t->values, t->value_room * sizeof *t->values);
}

uint64_t name_hash(uint64_t seed, const char *text, size_t size) { return hash_bytes(seed, text, size); }

static void put(name_table *t, name_slot slot) {
    size_t at = slot.hash & (t->room - 1);
    while (t->slots[at].value) at = (at + 1) & (t->room - 1);
    t->slots[at] = slot;
}

/* Half of the places stay free. */
static bool grow(name_table *t, size_t n) {
    size_t room = t->room ? t->room : 64;
    while (room < 2 * n) room *= 2;
    if (room == t->room) return true;
    name_slot *slots = mem_new(t->alloc, room * sizeof *slots);
    if (!slots) return false;
    memory_advise_huge(slots, room * sizeof *slots);
    memset(slots, 0, room * sizeof *slots);
    name_slot *old = t->slots;
    size_t old_room = t->room;
    t->slots = slots;
    t->room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].value) put(t, old[i]);
    }
    mem_free(t->alloc, old, old_room * sizeof *old);
    return true;
}

bool name_table_reserve(name_table *t, size_t n) {
    if (n >= UINT32_MAX / 2) return false;
    return mem_reserve(t->alloc, (void **)&t->values, &t->value_room, n, sizeof *t->values) && grow(t, n);
}

xir_value **name_find(const name_table *t, xir_str text, uint64_t hash) {
    if (!t->room) return NULL;
    uint32_t key = (uint32_t)(hash ^ hash >> 32);
    for (size_t at = key & (t->room - 1); t->slots[at].value; at = (at + 1) & (t->room - 1)) {
        if (t->slots[at].hash != key) continue;
        xir_value **v = &t->values[t->slots[at].value - 1];
        const label *name = (*v)->more->name;
        if (name->size == text.size && memcmp(name->bytes, text.data, text.size) == 0) return v;
    }
    return NULL;
}

bool name_add(name_table *t, xir_value *value, uint64_t hash) {
    if ((t->n + 1 > t->value_room || 2 * (t->n + 1) > t->room) && !name_table_reserve(t, t->n + 1)) return false;
    t->values[t->n++] = value;
    put(t, (name_slot){ (uint32_t)(hash ^ hash >> 32), (uint32_t)t->n });
    return true;
}
