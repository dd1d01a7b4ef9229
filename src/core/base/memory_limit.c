/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The limit of a thread. Memory that was obtained before the limit began, or on another thread, may be freed while it
 * holds, so that the sum may become negative. */
#include <inttypes.h>
#include <stdio.h>
#include "memory.h"
#include "memory_limit.h"

/* Findings need some memory after a refusal. */
enum { TO_REPORT = 1 << 20, TIMES_ADDED = 2 };

/* In the block of static thread-local storage: it is read at every allocation. */
static _Thread_local memory_limit *limit __attribute__((tls_model("initial-exec")));

static int64_t within(uint64_t n) { return n < INT64_MAX ? (int64_t)n : INT64_MAX; }

/* Returns the bytes that a block takes with the head that an allocator gives it. Heads do not count where each piece of
 * an arena is a block of its own, so that a sanitizer sees it: they would be most of the sum. */
static int64_t block(size_t size) {
#ifdef XIR_DEBUG_ARENA
    enum { HEAD = 0 };
#else
    enum { HEAD = 24 };
#endif
    return size ? within((uint64_t)size + HEAD) : 0;
}

void memory_limit_begin(memory_limit *l, uint64_t once, uint64_t times, uint64_t size) {
    uint64_t more, most;
    if (!mul_u64(times, size, &more) || !add_u64(once, more, &most)) most = INT64_MAX;
    *l = (memory_limit){ .outer = limit, .once = once, .times = times, .most = within(most), .held = within(size) };
    limit = l;
}

void memory_limit_end(memory_limit *l) { limit = l->outer; }

memory_limit *memory_limit_exchange(memory_limit *l) {
    memory_limit *before = limit;
    limit = l;
    return before;
}

void memory_limit_add(uint64_t size) {
    uint64_t more;
    if (!limit) return;
    if (!mul_u64(TIMES_ADDED, size, &more) || !add_u64((uint64_t)limit->most, more, &more)) more = INT64_MAX;
    limit->most = within(more);
}

bool memory_limit_take(size_t old_size, size_t size) {
    memory_limit *l = limit;
    if (!l) return true;
    const int64_t more = block(size) - block(old_size);
    if (more > 0 && l->held > l->most - more) {
        l->exceeded = true;
        return false;
    }
    l->held += more;
    return true;
}

size_t memory_limit_left(void) {
    if (!limit) return SIZE_MAX;
    return limit->held < limit->most ? (size_t)(limit->most - limit->held) : 0;
}

bool memory_limit_exceeded(void) { return limit && limit->exceeded; }

bool memory_limit_say(char out[MEMORY_LIMIT_ROOM]) {
    memory_limit *l = limit;
    if (!l || !l->exceeded || l->said) return false;
    snprintf(out, MEMORY_LIMIT_ROOM, "more than %" PRId64 " bytes of memory are needed: the limit is %" PRIu64 ", and %"
             PRIu64 " for each byte of the file", l->most, l->once, l->times);
    l->said = true;
    if (l->most < INT64_MAX - TO_REPORT) l->most += TO_REPORT;
    return true;
}
