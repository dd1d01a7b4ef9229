/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The search finds the lowest plan: compared with all orders in which buffers can be put on top of each other. */
#include "support/buffers.h"
#include "support/often.h"

typedef struct tower {
    const buffers *b;
    uint64_t       ends[9];
    bool           placed[9];
    uint64_t       best;
} tower;

static bool meet(const xir_buffer *a, const xir_buffer *b) { return a->from <= b->to && b->from <= a->to; }

/* Puts each buffer that is left on top of those that it meets. */
static void pile(tower *t, size_t n, uint64_t peak) {
    if (n == t->b->n) t->best = peak;
    for (size_t i = 0; i < t->b->n; i++) {
        const xir_buffer *it = &t->b->of[i];
        const uint64_t align = it->align ? it->align : 1;
        uint64_t at = 0;
        if (t->placed[i]) continue;
        for (size_t j = 0; j < t->b->n; j++) {
            if (t->placed[j] && meet(it, &t->b->of[j]) && t->ends[j] > at) at = t->ends[j];
        }
        if (it->fixed && at > it->offset) continue;
        at = it->fixed ? it->offset : (at + align - 1) / align * align;
        const uint64_t end = at + (it->fixed ? it->size : (it->size + align - 1) / align * align);
        if (end >= t->best) continue;
        t->placed[i] = true;
        t->ends[i] = end;
        pile(t, n + 1, end > peak ? end : peak);
        t->placed[i] = false;
    }
}

/* True if a plan was above the bound. */
static bool check_least(const buffers *b) {
    xir_memory_plan *plan = plan_buffers(b, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH));
    const xir_memory_peak peak = plan_peak(plan);
    assert_true(peak.least);
    xir_memory_plan_free(plan);
    if (peak.bytes == peak.bound) return false;
    tower t = { .b = b, .best = peak.bytes };
    pile(&t, 0, 0);
    assert_int_equal(t.best, peak.bytes);
    /* A limit that cannot be met is proven to be one. */
    assert_null(xir_memory_plan_new(ctx, b->of, b->n, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH,
                                                                .limit = peak.bytes - 1), why));
    check_finding(XIR_E_LIMIT, "there is no plan within it");
    return true;
}

/* Without alignments and fixed buffers the bound of so few can nearly always be reached. */
static void plans_of_few_buffers_are_the_lowest(void **state) {
    (void)state;
    size_t above = 0, n = OFTEN(100000);
    for (uint64_t i = 0; i < n; i++) {
        chance_begin(i);
        const buffers b = buffers_random(&(buffers_how){ .n = i % 50 == 0 ? 9 : i % 5 ? 7 : 1 + chance(7),
                                                         .moments = 3 + chance(5), .longest = 3,
                                                         .largest = 2 + chance(30), .aligned = i % 3 == 1,
                                                         .fixed = i % 3 == 2 });
        above += check_least(&b);
    }
    if (above <= n / 200) fail_msg("only %zu plans are above their bound", above);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(plans_of_few_buffers_are_the_lowest) };
    return RUN_GROUP(tests);
}
