/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "meter.h"

static bool take(meter *m, uint64_t more) {
    uint64_t used = atomic_load_explicit(&m->used, memory_order_relaxed);
    while (more <= m->limit && used <= m->limit - more)
        if (atomic_compare_exchange_weak_explicit(&m->used, &used, used + more, memory_order_relaxed,
                                                  memory_order_relaxed)) return true;
    atomic_store_explicit(&m->refused, more, memory_order_relaxed);
    return false;
}

static void give(meter *m, uint64_t less) { atomic_fetch_sub_explicit(&m->used, less, memory_order_relaxed); }

static void *resize(void *user, void *block, size_t old_size, size_t size) {
    meter *m = user;
    if (size > old_size && !take(m, size - old_size)) return NULL;
    void *now = m->base.resize(m->base.user, block, old_size, size);
    if (size && !now) {
        if (size > old_size) give(m, size - old_size);
        return NULL;
    }
    if (size < old_size) give(m, old_size - size);
    if (!block && size) atomic_fetch_add_explicit(&m->holders, 1, memory_order_relaxed);
    if (block && !size) meter_close(m);
    return now;
}

meter *meter_open(const xir_allocator *base, uint64_t limit) {
    meter *m = mem_new(base, sizeof *m);
    if (!m) return NULL;
    *m = (meter){ .alloc = { resize, m }, .base = *base, .limit = limit };
    atomic_init(&m->holders, 1);
    return m;
}

void meter_close(meter *m) {
    if (!m || atomic_fetch_sub_explicit(&m->holders, 1, memory_order_acq_rel) != 1) return;
    const xir_allocator base = m->base;
    mem_free(&base, m, sizeof *m);
}
