/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays that know their size, which the allocator needs. */
#include <stdalign.h>
#include <string.h>
#include "make.h"

/* The head before the items. Its size keeps the alignment of the allocator. */
typedef union head {
    size_t  size;   /* bytes of the items */
    alignas(16) char align[16];
} head;

static head *head_of(void *items) { return (head *)items - 1; }

void *draw_new(const xir_allocator *alloc, size_t n, size_t size) {
    if (n > (SIZE_MAX / 2 - sizeof(head)) / size) return NULL;
    head *h = alloc->resize(alloc->user, NULL, 0, sizeof *h + n * size);
    if (!h) return NULL;
    h->size = n * size;
    memset(h + 1, 0, n * size);
    return h + 1;
}

static void *resize(const xir_allocator *alloc, void *items, size_t bytes) {
    head *old = items ? head_of(items) : NULL;
    head *h = alloc->resize(alloc->user, old, old ? sizeof *h + old->size : 0, sizeof *h + bytes);
    if (!h) return NULL;
    h->size = bytes;
    return h + 1;
}

void *draw_room(const xir_allocator *alloc, void *items, size_t need, size_t size) {
    const size_t had = items ? head_of(items)->size : 0;
    if (need > (SIZE_MAX / 4 - sizeof(head)) / size) return NULL;
    if (items && need * size <= had) return items;
    const size_t bytes = need * size + had / 2 + 16 * size;
    return resize(alloc, items, bytes);
}

void *draw_trim(const xir_allocator *alloc, void *items, size_t n, size_t size) {
    if (!items || head_of(items)->size <= n * size) return items;
    void *less = resize(alloc, items, n * size);
    return less ? less : items;
}

void draw_free(const xir_allocator *alloc, void *items) {
    if (items) alloc->resize(alloc->user, head_of(items), sizeof(head) + head_of(items)->size, 0);
}

size_t draw_span_add(draw_spans *spans, draw_span span) {
    draw_span *items = spans->failed ? NULL : draw_room(spans->alloc, spans->items, spans->n + 1, sizeof *items);
    if (!items) {
        spans->failed = true;
        return 0;
    }
    spans->items = items;
    items[spans->n] = span;
    return spans->n++;
}
