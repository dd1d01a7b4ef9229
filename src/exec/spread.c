/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "spread.h"
#include "pool.h"

/* An element takes some steps: it is loaded, computed, rounded and stored. */
enum { STEPS_AN_ELEMENT = 4 };

typedef struct blocks { block_fn *fn; void *user; } blocks;

static void each_block(pool_share *share, size_t from, size_t to, void *user) {
    const blocks *b = user;
    while (from < to) {
        const size_t n = to - from < BLOCK ? to - from : BLOCK;
        b->fn(from, n, b->user);
        from += n;
        if (from < to && pool_stops(share, n)) return;
    }
}

xir_status spread_blocks_of(xir_kernel *at, size_t count, uint64_t steps, block_fn *fn, void *user) {
    blocks b = { fn, user };
    return pool_for(at, count, steps, each_block, &b) ? XIR_OK : XIR_E_CANCELLED;
}

xir_status spread_blocks(xir_kernel *at, size_t count, block_fn *fn, void *user) {
    return spread_blocks_of(at, count, STEPS_AN_ELEMENT, fn, user);
}

typedef struct rows {
    rows_fn *fn;
    void    *user;
    double  *room;
    size_t   room_each, count, at_once, steps;
} rows;

/* Items are `at_once` rows. */
static void each_rows(pool_share *share, size_t from, size_t to, void *user) {
    const rows *r = user;
    for (size_t i = from; i < to; i++) {
        const size_t first = i * r->at_once, rest = r->count - first, n = rest < r->at_once ? rest : r->at_once;
        r->fn(first, n, r->room + pool_thread(share) * r->room_each, r->user);
        if (i + 1 < to && pool_stops(share, n * r->steps)) return;
    }
}

xir_status spread_rows(xir_kernel *at, size_t count, size_t at_once, size_t steps, size_t room, const writer *y,
                       rows_fn *fn, void *user) {
    const size_t threads = !y || writer_has_bytes(y) ? pool_width(at) : 1;
    rows r = { .fn = fn, .user = user, .room_each = (room + 7) / 8 * 8, .count = count, .at_once = at_once,
               .steps = steps };
    r.room = kernel_room(at, r.room_each + 1, threads * sizeof *r.room);
    if (!r.room) return XIR_E_MEMORY;
    const size_t items = count / at_once + (count % at_once != 0);
    if (threads > 1)
        return pool_for(at, items, (uint64_t)at_once * steps * STEPS_AN_ELEMENT, each_rows, &r) ? XIR_OK
               : XIR_E_CANCELLED;
    for (size_t first = 0; first < count; first += at_once) {
        const size_t n = count - first < at_once ? count - first : at_once;
        for (size_t i = 0; i < n; i++) if (xir_kernel_stops(at, steps)) return XIR_E_CANCELLED;
        fn(first, n, r.room, user);
    }
    return XIR_OK;
}
