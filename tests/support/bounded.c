/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One allocator for the whole program: a context needs its allocator for as long as it lives. */
#include "support/bounded.h"
#include "support/net.h"

bounded_counts bounded;

static size_t blocks_left;

static void *resize(void *user, void *block, size_t old_size, size_t size) {
    (void)user, (void)old_size;
    if (size > bounded.largest) bounded.largest = size;
    bounded.calls += size != 0;
    if (size > BOUNDED_MOST) return NULL;
    bounded.bytes += size;
    if (!size) {
        blocks_left -= block != NULL;
        free(block);
        return NULL;
    }
    blocks_left += block == NULL;
    return realloc(block, size);
}

void bounded_start(void) { bounded = (bounded_counts){ 0 }; }

int bounded_begin(void **state) {
    (void)state;
    const xir_allocator alloc = { resize, NULL };
    ctx = xir_context_new(&alloc);
    why = ctx ? xir_diags_new(ctx) : NULL;
    return why ? 0 : -1;
}

int bounded_end(void **state) {
    (void)state;
    xir_diags_free(why);
    xir_context_free(ctx);
    return blocks_left ? -1 : 0;
}
