/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pool holds each of its objects once. Its table uses open addressing over the objects' hashes and is at most two
 * thirds full. When an object is first interned, it is deep-copied into the pool with everything it refers to, so a
 * pool refers to nothing outside except classes. The table is specialised: an object contains its hash, so a slot is
 * only a pointer. */
#include "context.h"
#include "symbol_table.h"

void pool_init(object_pool *pool, xir_context *ctx, pthread_mutex_t *lock) {
    *pool = (object_pool){ .ctx = ctx, .lock = lock };
    arena_init(&pool->arena, context_alloc(ctx));
}

void pool_init_reader(object_pool *pool, const object_pool *base) {
    pool_init(pool, base->ctx, NULL);
    pool->base = base;
}

void pool_free(object_pool *pool) {
    symbols_free(pool);
    mem_free(pool->arena.alloc, (void *)pool->table, pool->room * sizeof *pool->table);
    arena_free(&pool->arena);
    pool->table = NULL;
    pool->room = pool->count = 0;
}

object_pool *context_pool(xir_context *ctx) { return &ctx->pool; }

/* Tensor types are asked for more often than all else. Most have a shape, an element type and a layout alone. */
static bool is_plain_tensor(const xir_object *o) {
    return o->cls == o->cls->ctx->tensor_class && !o->extra && !((const xir_tensor_type *)o)->merged_distrs.size;
}

static uint64_t hash_tensor(const xir_tensor_type *t) {
    const uint64_t element = xir_object_hash((const xir_object *)t->element_dtype),
                   layout = xir_object_hash((const xir_object *)t->layout);
    return hash_bytes(element << 32 ^ layout, t->shape.data, t->shape.size * sizeof *t->shape.data);
}

uint32_t xir_object_hash(const xir_object *object) {
    if (!object) return 0;
    if (object->hash) return object->hash;
    uint64_t hash = (uint64_t)(uintptr_t)object->cls;
    if (is_plain_tensor(object)) hash = hash_tensor((const xir_tensor_type *)object);
    else body_hash_into(object->cls, object, &hash);
    if (object->extra) hash = map_hash(hash, object->extra);
    hash ^= hash >> 32;
    return (uint32_t)hash | 1;   /* 0 means "not computed" */
}

static bool same_tensors(const xir_tensor_type *a, const xir_tensor_type *b) {
    const size_t rank = a->shape.size;
    if (rank != b->shape.size || (rank && memcmp(a->shape.data, b->shape.data, rank * sizeof *a->shape.data) != 0))
        return false;
    return xir_object_equal((const xir_object *)a->element_dtype, (const xir_object *)b->element_dtype) &&
           xir_object_equal((const xir_object *)a->layout, (const xir_object *)b->layout);
}

bool xir_object_equal(const xir_object *a, const xir_object *b) {
    if (a == b) return true;
    if (!a || !b || a->cls != b->cls) return false;
    if (a->hash && b->hash && a->hash != b->hash) return false;
    if (is_plain_tensor(a) && is_plain_tensor(b))
        return same_tensors((const xir_tensor_type *)a, (const xir_tensor_type *)b);
    return xir_map_equal(a->extra, b->extra) && body_equal(a->cls, a, b);
}

static bool grow(object_pool *pool) {
    size_t room = pool->room ? pool->room * 2 : 32;
    const xir_object **table = mem_new(pool->arena.alloc, room * sizeof *table);
    if (!table) return false;
    memset((void *)table, 0, room * sizeof *table);
    for (size_t i = 0; i < pool->room; i++) {
        const xir_object *o = pool->table[i];
        if (!o) continue;
        size_t at = o->hash & (room - 1);
        while (table[at]) at = (at + 1) & (room - 1);
        table[at] = o;
    }
    mem_free(pool->arena.alloc, (void *)pool->table, pool->room * sizeof *pool->table);
    pool->table = table;
    pool->room = room;
    return true;
}

/* The slot of an equal object with the same spelling (the same rows left out), or the free slot where it belongs. The
 * table is not empty. */
static const xir_object **find(object_pool *pool, const xir_object *object, uint32_t hash) {
    size_t at = hash & (pool->room - 1);
    for (;; at = (at + 1) & (pool->room - 1)) {
        const xir_object *o = pool->table[at];
        if (!o || o == object) return &pool->table[at];
        if (o->hash == hash && o->absent == object->absent && xir_object_equal(o, object)) return &pool->table[at];
    }
}

static const xir_object *copy_into(object_pool *pool, const xir_object *object, uint32_t hash) {
    xir_object *copy = arena_take(&pool->arena, object->cls->body_size);
    if (!copy) return NULL;
    memcpy(copy, object, object->cls->body_size);
    copy->hash = hash;
    if (object->extra) {
        xir_any from = { .kind = XIR_ANY_MAP, .as.map = *object->extra }, to;
        xir_map *map = arena_take(&pool->arena, sizeof *map);
        if (!map || !any_copy(&pool->arena, &from, &to)) return NULL;
        *map = to.as.map;
        copy->extra = map;
    }
    if (!body_copy(pool, &pool->arena, object->cls, copy, object)) return NULL;
    bool tensor = object->cls == pool->ctx->tensor_class;
    return !tensor || tensor_set_pool(pool, (xir_tensor_type *)copy) ? copy : NULL;
}

static inline const xir_object *intern(object_pool *pool, const xir_object *object) {
    uint32_t hash = xir_object_hash(object);
    if ((pool->count + 1) * 3 > pool->room * 2 && !grow(pool)) return NULL;
    const xir_object **slot = find(pool, object, hash);
    if (*slot) return *slot;
    const xir_object *copy = copy_into(pool, object, hash);
    if (!copy) return NULL;
    /* Copying interned the object's parts, which may have moved the table. */
    if ((pool->count + 1) * 3 > pool->room * 2 && !grow(pool)) return NULL;
    slot = find(pool, object, hash);
    *slot = copy;
    pool->count++;
    return copy;
}

const xir_object *pool_intern_settled(object_pool *pool, const xir_object *object) { return intern(pool, object); }

const xir_object *pool_intern_held(object_pool *pool, const xir_object *object) {
    const xir_tensor_type *tensor = (const xir_tensor_type *)object;
    bool symbolic = object->cls == pool->ctx->tensor_class && dims_symbolic(tensor->shape);
    if (!symbolic) return intern(pool, object);
    return tensor_pool(tensor) == pool ? *find(pool, object, object->hash) : tensor_intern_moved(pool, tensor);
}

const xir_object *pool_intern(object_pool *pool, const xir_object *object) {
    if (!pool->lock) return pool_intern_held(pool, object);
    pthread_mutex_lock(pool->lock);
    const xir_object *interned = pool_intern_held(pool, object);
    pthread_mutex_unlock(pool->lock);
    return interned;
}
