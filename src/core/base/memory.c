/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arena chunks double from 4 KiB, so that a small network stays small. From 2 MiB on they are aligned to 2 MiB and
 * advised as huge pages: fresh memory costs 0.4 ns per byte through 4 KiB pages and 0.17 through huge ones (2-vCPU
 * Xeon VM), which is most of the cost of building a large network. */
#include <stdlib.h>
#include <sys/mman.h>
#include "memory.h"
#include "memory_limit.h"
#include "task.h"

void *memory_resize(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

const xir_allocator memory_default = MEMORY_DEFAULT;

void *mem_grow(const xir_allocator *a, void *block, size_t old_size, size_t size) {
    if (!task_allows(size > old_size ? size : 0) || !memory_limit_take(old_size, size)) return NULL;
    void *moved = a->resize(a->user, block, old_size, size);
    if (!moved && size) (void)memory_limit_take(size, old_size);
    return moved;
}

bool mem_reserve(const xir_allocator *a, void **items, size_t *room, size_t need, size_t size) {
    if (need <= *room) return true;
    size_t grown = *room ? *room : 8;
    while (grown < need) {
        if (grown > SIZE_MAX / 2) return false;
        grown *= 2;
    }
    if (grown > SIZE_MAX / size) return false;
    void *block = mem_grow(a, *items, *room * size, grown * size);
    if (!block) return false;
    *items = block;
    *room = grown;
    return true;
}

/* Only advice: a kernel or an allocator that does not use it changes nothing. */
void *memory_advise_huge(void *block, size_t size) {
    enum { HUGE = 2 << 20 };
    uintptr_t begin = ((uintptr_t)block + HUGE - 1) & ~(uintptr_t)(HUGE - 1);
    uintptr_t end = ((uintptr_t)block + size) & ~(uintptr_t)(HUGE - 1);
    if (size < 2 * (size_t)HUGE || end <= begin) return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
    return (void *)begin;
}

/* ---- arena ------------------------------------------------------------------------------------------------- */

enum { CHUNK_FIRST = 4096, CHUNK_MOST = 32 << 20 };

struct arena_chunk {
    arena_chunk *older;
    size_t       size;   /* of the block from the allocator */
};

void arena_init(arena *a, const xir_allocator *alloc) {
    *a = (arena){ .alloc = alloc };
}

void arena_free(arena *a) {
    for (arena_chunk *c = a->chunks; c;) {
        arena_chunk *older = c->older;
        mem_free(a->alloc, c, c->size);
        c = older;
    }
    *a = (arena){ .alloc = a->alloc };
}

void arena_clear(arena *a) {
    if (!a->chunks || a->chunks->older || a->chunks->size != CHUNK_FIRST) {
        arena_free(a);
    } else {
        a->next = (char *)(a->chunks + 1);
        a->taken = 0;
    }
}

/* Under a limit of memory the last chunks are small, so that nearly all of it can be used. */
static size_t next_chunk_size(const arena *a) {
    const size_t before = a->chunks ? a->chunks->size : 0, fourth = memory_limit_left() / 4;
    const size_t size = before >= CHUNK_MOST ? CHUNK_MOST : 2 * before;
    return size < CHUNK_FIRST || fourth < CHUNK_FIRST ? CHUNK_FIRST : size < fourth ? size : fourth;
}

/* The start of the pieces of a chunk. In a large one it is the first 2 MiB boundary; the pages before it are never
 * touched and so cost nothing. */
static char *chunk_begin(arena_chunk *c, size_t need) {
    char *begin = (char *)(c + 1);
    char *aligned = memory_advise_huge(begin, c->size - sizeof *c);
    return aligned && (size_t)((char *)c + c->size - aligned) >= need ? aligned : begin;
}

void *arena_take_slow(arena *a, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size_t rounded = (size + 7) & ~(size_t)7;
    size_t block = next_chunk_size(a);
#ifdef XIR_DEBUG_ARENA
    block = 0;   /* every piece is a separate block, so that a sanitizer detects an overrun */
#endif
    if (block < rounded + sizeof(arena_chunk)) block = rounded + sizeof(arena_chunk);
    arena_chunk *c = mem_new(a->alloc, block);
    if (!c) return NULL;
    c->size = block;
    /* A piece that fills a chunk alone goes after the current one, whose remaining room stays in use. */
    bool alone = a->chunks && (size_t)(a->end - a->next) > block - rounded - sizeof *c;
    char *begin = alone ? (char *)(c + 1) : chunk_begin(c, rounded);
    if (alone) {
        c->older = a->chunks->older;
        a->chunks->older = c;
    } else {
        c->older = a->chunks;
        a->chunks = c;
        a->next = begin + rounded;
        a->end = (char *)c + block;
    }
    a->taken += rounded;
    return begin;
}

void *arena_copy(arena *a, const void *data, size_t size) {
    void *copy = arena_take(a, size);
    if (copy && size) memcpy(copy, data, size);
    return copy;
}

bool arena_text(arena *a, xir_str text, xir_str *out) {
    char *copy = arena_copy(a, text.data, text.size);
    if (!copy) return false;
    *out = (xir_str){ copy, text.size };
    return true;
}

/* ---- buffer ------------------------------------------------------------------------------------------------ */

void buffer_init(buffer *b, const xir_allocator *alloc) {
    *b = (buffer){ .alloc = alloc };
}

void buffer_free(buffer *b) {
    mem_free(b->alloc, b->data, b->room);
    *b = (buffer){ .alloc = b->alloc };
}

bool buffer_reserve_slow(buffer *b, size_t more) {
    if (b->failed) return false;
    if (b->room - b->size >= more) return true;
    size_t need;
    if (__builtin_add_overflow(b->size, more, &need) ||
        !mem_reserve(b->alloc, (void **)&b->data, &b->room, need, 1)) {
        b->failed = true;
        return false;
    }
    return true;
}
