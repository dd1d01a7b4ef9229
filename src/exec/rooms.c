/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "rooms.h"

/* Smaller blocks are cheap. From a page on, an allocator may give pages back between two ops. */
enum { SMALL = 1 << 12 };

static void drop(const rooms *r, const kept_room *it) {
    if (it->is_blob) blob_release(it->block);
    else mem_free(r->alloc, it->block, it->size);
}

/* Blocks that are not kept any more. They are freed without the lock, which others would wait for. */
typedef struct dropped {
    kept_room blocks[MOST_ROOMS];
    size_t    n;
} dropped;

static void drop_all(const rooms *r, const dropped *d) {
    for (size_t i = 0; i < d->n; i++) drop(r, &d->blocks[i]);
}

/* ---- with the lock ----------------------------------------------------------------------------------------------- */

static void forget(rooms *r, size_t i) {
    r->n--;
    memmove(&r->kept[i], &r->kept[i + 1], (r->n - i) * sizeof r->kept[0]);
}

/* The last block of this size that was given; NULL if there is none. */
static void *find(rooms *r, size_t size, bool is_blob) {
    for (size_t i = r->n; i-- > 0;) {
        if (r->kept[i].size != size || r->kept[i].is_blob != is_blob) continue;
        void *block = r->kept[i].block;
        r->kept_bytes -= size;
        forget(r, i);
        return block;
    }
    return NULL;
}

/* Keeps the newest blocks, at most n, that fit. */
static void shrink(rooms *r, size_t n, dropped *out) {
    const size_t unused = r->most - r->used, fits = unused > r->spare ? unused : r->spare;
    size_t gone = 0;
    while (gone < r->n && (r->n - gone > n || r->kept_bytes > fits))
        r->kept_bytes -= r->kept[gone++].size;
    memcpy(out->blocks, r->kept, gone * sizeof r->kept[0]);
    out->n = gone;
    r->n -= gone;
    memmove(r->kept, r->kept + gone, r->n * sizeof r->kept[0]);
}

/* Keeps a block that was in use. The sum of both stays the same. */
static void keep(rooms *r, void *block, size_t size, bool is_blob, dropped *out) {
    r->used -= size;
    shrink(r, MOST_ROOMS - 1, out);
    r->kept[r->n++] = (kept_room){ block, size, is_blob };
    r->kept_bytes += size;
}

/* ---- taking and giving ------------------------------------------------------------------------------------------- */

void rooms_open(rooms *r, const xir_allocator *alloc, meter *limit) {
    *r = (rooms){ .alloc = limit ? &limit->alloc : alloc, .meter = limit, .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* Counts a block as in use, before it is allocated. Returns one of its size; NULL if none is kept. */
static void *begin_use(rooms *r, size_t size, bool is_blob) {
    dropped d;
    pthread_mutex_lock(&r->lock);
    void *block = find(r, size, is_blob);
    r->used += size;
    if (r->used > r->most) r->most = r->used;
    shrink(r, MOST_ROOMS, &d);
    pthread_mutex_unlock(&r->lock);
    drop_all(r, &d);
    return block;
}

/* There is no memory for a block, so none is kept. Returns true if that has freed some. */
static bool undo_use(rooms *r, size_t size) {
    dropped d;
    pthread_mutex_lock(&r->lock);
    r->used -= size;
    r->most = r->used;
    shrink(r, 0, &d);
    pthread_mutex_unlock(&r->lock);
    drop_all(r, &d);
    return d.n;
}

/* If a block is refused, what is kept is freed, and the block may be had then. */
static void *take(rooms *r, size_t size, bool is_blob) {
    for (;;) {
        void *block = begin_use(r, size, is_blob);
        if (!block) block = is_blob ? (void *)blob_new(r->alloc, size) : mem_new(r->alloc, size);
        if (block || !undo_use(r, size)) return block;
    }
}

void *rooms_take(rooms *r, const xir_allocator *alloc, size_t size) {
    if (!r) return mem_new(alloc, size);
    return size < SMALL ? mem_new(r->alloc, size) : take(r, size, false);
}

void rooms_give(rooms *r, const xir_allocator *alloc, void *block, size_t size) {
    if (!r || !block || size < SMALL) {
        mem_free(r ? r->alloc : alloc, block, size);
        return;
    }
    dropped d;
    pthread_mutex_lock(&r->lock);
    keep(r, block, size, false, &d);
    pthread_mutex_unlock(&r->lock);
    drop_all(r, &d);
}

blob *rooms_take_blob(rooms *r, const xir_allocator *alloc, uint64_t size) {
    if (!r) return blob_new(alloc, size);
    return size < SMALL || size > SIZE_MAX / 2 ? blob_new(r->alloc, size) : take(r, (size_t)size, true);
}

void rooms_give_blob(rooms *r, blob *data) {
    if (!r || !data || data->size < SMALL || !blob_is_mine(data)) {
        blob_release(data);
        return;
    }
    dropped d = { .n = 0 };
    pthread_mutex_lock(&r->lock);
    const bool is_ours = r->used >= data->size;   /* what the run has not taken itself is not in `used` */
    if (is_ours) keep(r, data, (size_t)data->size, true, &d);
    pthread_mutex_unlock(&r->lock);
    if (is_ours) drop_all(r, &d);
    else blob_release(data);
}

void rooms_close(rooms *r) {
    while (r->n) drop(r, &r->kept[--r->n]);
    pthread_mutex_destroy(&r->lock);
}

/* ---- from run to run --------------------------------------------------------------------------------------------- */

struct rooms_left {
    kept_room kept[MOST_ROOMS];
    size_t    n;
};

static void free_left(xir_context *ctx) {
    const rooms own = { .alloc = &ctx->alloc };
    struct rooms_left *left = ctx->left;
    if (!left) return;
    while (left->n) drop(&own, &left->kept[--left->n]);
    mem_free(&ctx->alloc, left, sizeof *left);
}

/* Takes what the context has, for NULL; else gives it `left`, unless it has some already. Returns what the caller has
 * now. */
static struct rooms_left *exchange(xir_context *ctx, struct rooms_left *left) {
    pthread_mutex_lock(&ctx->lock);
    struct rooms_left *was = ctx->left;
    if (!was || !left) {
        ctx->left = left;
        ctx->free_left = free_left;
        left = was;
    }
    pthread_mutex_unlock(&ctx->lock);
    return left;
}

void rooms_open_for_run(rooms *r, xir_context *ctx) {
    rooms_open(r, &ctx->alloc, NULL);
    r->spare = SPARE;
    if (!(r->left = exchange(ctx, NULL))) return;
    r->n = r->left->n;
    memcpy(r->kept, r->left->kept, r->n * sizeof r->kept[0]);
    for (size_t i = 0; i < r->n; i++) r->kept_bytes += r->kept[i].size;
}

void rooms_close_run(rooms *r, xir_context *ctx) {
    struct rooms_left *left = r->left ? r->left
        : r->n && r->spare ? mem_new(&ctx->alloc, sizeof *left) : NULL;
    if (left) {
        dropped d;
        r->used = r->most = 0;
        shrink(r, MOST_ROOMS, &d);
        drop_all(r, &d);
        left->n = r->n;
        memcpy(left->kept, r->kept, r->n * sizeof r->kept[0]);
        if (!(left = exchange(ctx, left))) r->n = 0;
    }
    if (left) mem_free(&ctx->alloc, left, sizeof *left);
    rooms_close(r);
}
