/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* All memory comes from one allocator through these calls. An arena hands out pieces that are freed together; they are
 * 8-aligned and not cleared. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <string.h>
#include <xir/base.h>

extern const xir_allocator memory_default;
void *memory_resize(void *user, void *block, size_t old_size, size_t size);
#define MEMORY_DEFAULT { memory_resize, NULL }   /* its value, for constants */

void *mem_grow(const xir_allocator *a, void *block, size_t old_size, size_t size);
static inline void *mem_new(const xir_allocator *a, size_t size) { return mem_grow(a, NULL, 0, size); }
static inline void mem_free(const xir_allocator *a, void *block, size_t size) {
    if (block) mem_grow(a, block, size, 0);
}

/* Grows an array to at least `need` items of `size` bytes by doubling; false without memory, with the array
 * unchanged. */
bool mem_reserve(const xir_allocator *a, void **items, size_t *room, size_t need, size_t size);

/* Asks for huge pages for the part of a large block that contains whole ones, and returns where that part begins; NULL
 * if the block is too small. */
void *memory_advise_huge(void *block, size_t size);

typedef struct arena_chunk arena_chunk;
typedef struct arena {
    const xir_allocator *alloc;
    arena_chunk         *chunks;
    char                *next, *end;
    size_t               taken;   /* bytes handed out */
} arena;

void  arena_init(arena *a, const xir_allocator *alloc);
void  arena_free(arena *a);
/* Frees all pieces, and keeps a small chunk for the next ones. */
void  arena_clear(arena *a);
void *arena_take_slow(arena *a, size_t size);

/* Returns `size` uninitialised bytes, NULL without memory. Size 0 gives a valid pointer. */
static inline void *arena_take(arena *a, size_t size) {
#ifndef XIR_DEBUG_ARENA
    size_t rounded = (size + 7) & ~(size_t)7;
    if (rounded >= size && rounded < (size_t)(a->end - a->next)) {   // less: an empty arena has no valid pointer
        void *piece = a->next;
        a->next += rounded;
        a->taken += rounded;
        return piece;
    }
#endif
    return arena_take_slow(a, size);
}
/* Enlarges the most recent piece in place; false if the piece is not the most recent one or there is no room. */
static inline bool arena_extend(arena *a, const void *piece, size_t old_size, size_t size) {
    size_t old = (old_size + 7) & ~(size_t)7, rounded = (size + 7) & ~(size_t)7;
    if (!piece || (const char *)piece + old != a->next || rounded < old || rounded - old > (size_t)(a->end - a->next))
        return false;
    a->next += rounded - old;
    a->taken += rounded - old;
    return true;
}
void *arena_copy(arena *a, const void *data, size_t size);
/* Copies a text; false without memory. */
bool  arena_text(arena *a, xir_str text, xir_str *out);

/* A growing sequence of bytes. After a refused allocation `failed` stays set and appending does nothing. */
typedef struct buffer {
    const xir_allocator *alloc;
    char                *data;
    size_t               size, room;
    bool                 failed;
} buffer;

void buffer_init(buffer *b, const xir_allocator *alloc);
void buffer_free(buffer *b);
bool buffer_reserve_slow(buffer *b, size_t more);
/* Makes room for `more` bytes after `data + size`. */
static inline bool buffer_reserve(buffer *b, size_t more) {
    return b->room - b->size >= more || buffer_reserve_slow(b, more);
}
static inline void buffer_put(buffer *b, const void *data, size_t size) {
    if (size == 0 || !buffer_reserve(b, size)) return;
    memcpy(b->data + b->size, data, size);
    b->size += size;
}
static inline void buffer_char(buffer *b, char c) {
    if (buffer_reserve(b, 1)) b->data[b->size++] = c;
}
static inline void buffer_str(buffer *b, const char *terminated) {
    buffer_put(b, terminated, strlen(terminated));
}

/* The order of keys: by bytes; if one text begins with the other, the shorter comes first. */
static inline int str_order(xir_str a, xir_str b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Words at any address, to compare many bytes at once. */
static inline uint64_t load8(const void *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}
static inline uint32_t load4(const void *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Checked arithmetic for all numbers from files: false on overflow. */
static inline bool add_u64(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool mul_u64(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool add_i64(int64_t a, int64_t b, int64_t *out)    { return !__builtin_add_overflow(a, b, out); }
static inline bool sub_i64(int64_t a, int64_t b, int64_t *out)    { return !__builtin_sub_overflow(a, b, out); }
static inline bool mul_i64(int64_t a, int64_t b, int64_t *out)    { return !__builtin_mul_overflow(a, b, out); }

#endif
