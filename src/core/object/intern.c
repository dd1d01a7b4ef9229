/* A home holds each of its objects once. Its table is open addressing over the objects' hashes, at most two thirds
 * full. An object is deep-copied into the home on first sight, with all that it refers to, so a home refers to
 * nothing outside but classes. The table is one of its own: an object has its hash in itself, so a slot is only a
 * pointer. */
#include "context.h"

void home_init(home *h, xir_context *ctx, pthread_mutex_t *lock) {
    *h = (home){ .ctx = ctx, .lock = lock };
    arena_init(&h->arena, context_alloc(ctx));
}

void home_free(home *h) {
    mem_free(h->arena.alloc, (void *)h->table, h->room * sizeof *h->table);
    arena_free(&h->arena);
    h->table = NULL;
    h->room = h->count = 0;
}

home *context_home(xir_context *ctx) { return &ctx->home; }

uint32_t xir_object_hash(const xir_object *object) {
    if (!object) return 0;
    if (object->hash) return object->hash;
    uint64_t hash = (uint64_t)(uintptr_t)object->cls;
    body_hash_into(object->cls, object, &hash);
    if (object->extra) hash = map_hash(hash, object->extra);
    hash ^= hash >> 32;
    return (uint32_t)hash | 1;   /* 0 says "not computed" */
}

bool xir_object_equal(const xir_object *a, const xir_object *b) {
    if (a == b) return true;
    if (!a || !b || a->cls != b->cls) return false;
    if (a->hash && b->hash && a->hash != b->hash) return false;
    return xir_map_equal(a->extra, b->extra) && body_equal(a->cls, a, b);
}

static bool grow(home *h) {
    size_t room = h->room ? h->room * 2 : 32;
    const xir_object **table = mem_new(h->arena.alloc, room * sizeof *table);
    if (!table) return false;
    memset((void *)table, 0, room * sizeof *table);
    for (size_t i = 0; i < h->room; i++) {
        const xir_object *o = h->table[i];
        if (!o) continue;
        size_t at = o->hash & (room - 1);
        while (table[at]) at = (at + 1) & (room - 1);
        table[at] = o;
    }
    mem_free(h->arena.alloc, (void *)h->table, h->room * sizeof *h->table);
    h->table = table;
    h->room = room;
    return true;
}

/* The slot of an equal object that is also spelled alike (the same rows left out), or the free one where it belongs.
 * The table is not empty. */
static const xir_object **find(home *h, const xir_object *object, uint32_t hash) {
    size_t at = hash & (h->room - 1);
    for (;; at = (at + 1) & (h->room - 1)) {
        const xir_object *o = h->table[at];
        if (!o || o == object) return &h->table[at];
        if (o->hash == hash && o->absent == object->absent && xir_object_equal(o, object)) return &h->table[at];
    }
}

static const xir_object *copy_into(home *h, const xir_object *object, uint32_t hash) {
    xir_object *copy = arena_take(&h->arena, object->cls->body_size);
    if (!copy) return NULL;
    memcpy(copy, object, object->cls->body_size);
    copy->hash = hash;
    if (object->extra) {
        xir_any from = { .kind = XIR_ANY_MAP, .as.map = *object->extra }, to;
        xir_map *map = arena_take(&h->arena, sizeof *map);
        if (!map || !any_copy(&h->arena, &from, &to)) return NULL;
        *map = to.as.map;
        copy->extra = map;
    }
    return body_copy(h, &h->arena, object->cls, copy, object) ? copy : NULL;
}

const xir_object *home_intern_held(home *h, const xir_object *object) {
    uint32_t hash = xir_object_hash(object);
    if ((h->count + 1) * 3 > h->room * 2 && !grow(h)) return NULL;
    const xir_object **slot = find(h, object, hash);
    if (*slot) return *slot;
    const xir_object *copy = copy_into(h, object, hash);
    if (!copy) return NULL;
    /* Copying interned the parts, which may have moved the table. */
    if ((h->count + 1) * 3 > h->room * 2 && !grow(h)) return NULL;
    slot = find(h, object, hash);
    *slot = copy;
    h->count++;
    return copy;
}

const xir_object *home_intern(home *h, const xir_object *object) {
    if (!h->lock) return home_intern_held(h, object);
    pthread_mutex_lock(h->lock);
    const xir_object *interned = home_intern_held(h, object);
    pthread_mutex_unlock(h->lock);
    return interned;
}
