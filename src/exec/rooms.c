#include "rooms.h"

/* Smaller blocks are cheap: the allocator has pages for them. */
enum { SMALL = 1 << 15 };

static void drop(rooms *r, const kept_room *it) {
    r->kept_bytes -= it->size;
    if (it->is_blob) blob_release(it->block);
    else mem_free(r->alloc, it->block, it->size);
}

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

/* Frees the oldest blocks until what is kept fits. */
static void shrink(rooms *r, size_t n) {
    size_t gone = 0;
    while (gone < r->n && (r->n - gone > n || r->kept_bytes > r->most - r->used)) drop(r, &r->kept[gone++]);
    r->n -= gone;
    memmove(r->kept, r->kept + gone, r->n * sizeof r->kept[0]);
}

/* Counts a block as in use, before it is allocated. Returns the former `most`. */
static size_t begin_use(rooms *r, size_t size) {
    const size_t most = r->most;
    r->used += size;
    if (r->used > r->most) r->most = r->used;
    shrink(r, MOST_ROOMS);
    return most;
}

static void undo_use(rooms *r, size_t size, size_t most) {
    r->used -= size;
    r->most = most;
    shrink(r, MOST_ROOMS);
}

/* Keeps a block that was in use. The sum of both stays the same. */
static void keep(rooms *r, void *block, size_t size, bool is_blob) {
    r->used -= size;
    shrink(r, MOST_ROOMS - 1);
    r->kept[r->n++] = (kept_room){ block, size, is_blob };
    r->kept_bytes += size;
}

void *rooms_take(rooms *r, const xir_allocator *alloc, size_t size) {
    if (!r || size < SMALL) return mem_new(alloc, size);
    void *block = find(r, size, false);
    const size_t most = begin_use(r, size);
    if (!block) block = mem_new(alloc, size);
    if (!block) undo_use(r, size, most);
    return block;
}

void rooms_give(rooms *r, const xir_allocator *alloc, void *block, size_t size) {
    if (!r || !block || size < SMALL) {
        mem_free(alloc, block, size);
        return;
    }
    keep(r, block, size, false);
}

blob *rooms_take_blob(rooms *r, const xir_allocator *alloc, uint64_t size) {
    if (!r || size < SMALL || size > SIZE_MAX / 2) return blob_new(alloc, size);
    blob *data = find(r, (size_t)size, true);
    const size_t most = begin_use(r, (size_t)size);
    if (!data) data = blob_new(alloc, size);
    if (!data) undo_use(r, (size_t)size, most);
    return data;
}

void rooms_give_blob(rooms *r, blob *data) {
    /* What the run has not taken itself is not in `used`. */
    if (!r || !data || data->size < SMALL || !blob_is_mine(data) || r->used < data->size) {
        blob_release(data);
        return;
    }
    keep(r, data, (size_t)data->size, true);
}

void rooms_close(rooms *r) {
    while (r->n) drop(r, &r->kept[--r->n]);
}
