/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A blob is reference counted, and its bytes never move. An owned blob is a single allocation that begins with its
 * head. A borrowed one stores what to call when its last user is gone. A part lies in another blob, which lives as long
 * as the part. Only owned bytes are ever written, and only by their single user.
 *
 * Large owned bytes begin on a huge page. Touching fresh memory costs more than filling it: reading 1 GiB from the
 * page cache into 4 KiB pages takes 0.52 s, into huge pages 0.31 s (2-vCPU Xeon VM). */
#include <sys/mman.h>
#include "file.h"

enum { ALIGNED = 16, HUGE_PAGE = 2 << 20, LARGE = 2 * HUGE_PAGE };

/* The allocation for an owned blob of `size` bytes; 0 if no memory is that large. Alignment is done here, so any
 * allocator will do. */
static size_t owned_room(uint64_t size, size_t *aligned) {
    *aligned = size >= LARGE ? HUGE_PAGE : ALIGNED;
    size_t more = sizeof(blob) + *aligned - 1;
    return size <= SIZE_MAX / 2 - more ? (size_t)size + more : 0;
}

blob *blob_new(const xir_allocator *alloc, uint64_t size) {
    size_t aligned;
    size_t room = owned_room(size, &aligned);
    blob *b = room ? mem_new(alloc, room) : NULL;
    if (!b) return NULL;
    uint8_t *bytes = (uint8_t *)(((uintptr_t)(b + 1) + aligned - 1) & ~(uintptr_t)(aligned - 1));
#ifdef MADV_HUGEPAGE
    /* Only advice: if it cannot be followed, nothing changes. The end is left out, because it may share its page. */
    if (aligned == HUGE_PAGE) (void)madvise(bytes, (size_t)size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    *b = (blob){ .alloc = *alloc, .bytes = bytes, .size = size, .owned = true };
    atomic_init(&b->references, 1);
    return b;
}

blob *blob_borrow(const xir_allocator *alloc, const void *data, uint64_t size, bool mapped,
                  void (*release)(void *, const void *), void *user) {
    blob *b = mem_new(alloc, sizeof *b);
    if (!b) return NULL;
    *b = (blob){ .alloc = *alloc, .bytes = data, .size = size, .mapped = mapped, .release = release, .user = user };
    atomic_init(&b->references, 1);
    return b;
}

/* Parts may outlive the context: the buffer and a copy of the allocator are kept together. */
typedef struct kept_buffer {
    buffer        bytes;
    xir_allocator alloc;
} kept_buffer;

static void release_buffer(void *user, const void *data) {
    (void)data;
    kept_buffer *kept = user;
    xir_allocator alloc = kept->alloc;
    mem_free(&alloc, kept->bytes.data, kept->bytes.room);
    mem_free(&alloc, kept, sizeof *kept);
}

blob *blob_of_buffer(buffer *bytes) {
    const xir_allocator *alloc = bytes->alloc;
    kept_buffer *kept = mem_new(alloc, sizeof *kept);
    blob *b = kept ? blob_borrow(alloc, NULL, bytes->size, false, release_buffer, kept) : NULL;
    if (!b) {
        mem_free(alloc, kept, sizeof *kept);
        return NULL;
    }
    char *fit = bytes->size ? mem_grow(alloc, bytes->data, bytes->room, bytes->size) : NULL;
    *kept = (kept_buffer){ *bytes, *alloc };
    if (fit) {
        kept->bytes.data = fit;
        kept->bytes.room = bytes->size;
    }
    b->bytes = (const uint8_t *)kept->bytes.data;
    buffer_init(bytes, alloc);
    return b;
}

blob *blob_part(blob *whole, uint64_t offset, uint64_t size) {
    blob *b = blob_borrow(&whole->alloc, whole->bytes + offset, size, whole->mapped, NULL, NULL);
    if (!b) return NULL;
    b->watch = whole->watch;
    b->parent = whole;
    blob_retain(whole);
    return b;
}

void blob_part_in(blob *head, blob *keeper, const blob *whole, uint64_t offset, uint64_t size) {
    *head = (blob){ .alloc = whole->alloc, .bytes = whole->bytes + offset, .size = size, .mapped = whole->mapped,
                    .inside = true, .watch = whole->watch, .parent = keeper };
    atomic_init(&head->references, 1);
}

bool blob_is_mine(const blob *b) {
    return b->owned && atomic_load_explicit(&((blob *)(uintptr_t)b)->references, memory_order_acquire) == 1;
}

void blob_retain(blob *b) { blob_retain_many(b, 1); }

void blob_retain_many(blob *b, size_t n) { atomic_fetch_add_explicit(&b->references, n, memory_order_relaxed); }

void blob_release(blob *b) {
    while (b && atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) == 1) {
        blob *parent = b->parent;
        if (b->release) b->release(b->user, b->bytes);
        if (!b->inside) {
            xir_allocator alloc = b->alloc;
            size_t aligned;
            mem_free(&alloc, b, b->owned ? owned_room(b->size, &aligned) : sizeof *b);
        }
        b = parent;
    }
}
