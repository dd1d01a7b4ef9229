/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "support/group.h"

xir_context *ctx;
xir_diags   *why;

/* ---- an allocator that counts and refuses ------------------------------------------------------------------ */

/* The threads of a run allocate at the same time. */
typedef struct counts {
    atomic_size_t blocks, bytes;
    atomic_size_t calls, refuse_from;   /* from this call on, all are refused */
} counts;

static counts shared = { .refuse_from = SIZE_MAX };

/* Not cmocka's fail: this runs inside the library, which holds locks. */
static void stop(const char *what) {
    fprintf(stderr, "allocator: %s\n", what);
    abort();
}

enum { HEAD = 16 };

static void *counting(void *user, void *block, size_t old_size, size_t size) {
    counts *c = user;
    char *raw = block ? (char *)block - HEAD : NULL;
    size_t known = 0;
    if (raw) memcpy(&known, raw, sizeof known);
    if (known != old_size) stop("an old size that was never asked for");
    if (size == 0) {
        if (raw) {
            c->blocks--;
            c->bytes -= known;
        }
        free(raw);
        return NULL;
    }
    if (c->calls++ >= c->refuse_from) return NULL;
    char *now = realloc(raw, HEAD + size);
    if (!now) return NULL;
    memcpy(now, &size, sizeof size);
    c->blocks += !raw;
    c->bytes += size - known;
    return now + HEAD;
}

void check_memory(bool (*work)(xir_context *with)) {
    bool done = false;
    for (size_t n = 0; !done; n++) {
        counts c = { .refuse_from = SIZE_MAX };
        xir_allocator alloc = { counting, &c };
        xir_context *with = xir_context_new(&alloc);
        assert_non_null(with);
        c.refuse_from = c.calls + n;
        done = work(with);
        if (done) c.refuse_from = SIZE_MAX;
        xir_context_free(with);
        assert_int_equal(c.blocks, 0);
        assert_int_equal(c.bytes, 0);
        assert_true(n < 10000);
    }
}

/* ---- the group's context ----------------------------------------------------------------------------------- */

int group_begin(void **state) {
    (void)state;
    xir_allocator alloc = { counting, &shared };
    ctx = xir_context_new(&alloc);
    why = ctx ? xir_diags_new(ctx) : NULL;
    return why ? 0 : -1;
}

int group_end(void **state) {
    (void)state;
    xir_diags_free(why);
    xir_context_free(ctx);
    if (shared.blocks == 0) return 0;
    fprintf(stderr, "%zu blocks of %zu bytes are left\n", (size_t)shared.blocks, (size_t)shared.bytes);
    return -1;
}

static size_t refused_from;   /* the number given to refuse_after */

void refuse_after(size_t n) { shared.refuse_from = refused_from = shared.calls + n; }

bool refuse_end(void) {
    bool refused = shared.calls > refused_from;
    shared.refuse_from = SIZE_MAX;
    return refused;
}

/* ---- chance: splitmix64 ------------------------------------------------------------------------------------ */

static uint64_t seed = 20240607;

static uint64_t bits(void) {
    uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t chance(uint64_t n) { return bits() % n; }
void     chance_begin(uint64_t n) { seed = n * 0xD1342543DE82EF95u; }

int64_t some_number(void) {
    switch (chance(4)) {
    case 0:  return (int64_t)chance(10);
    case 1:  return (int64_t)(((uint64_t)1 << chance(63)) - chance(2));
    case 2:  return -(int64_t)chance(1000);
    default: return (int64_t)bits();
    }
}
