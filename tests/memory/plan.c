/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plans: small ones that a reader can check, fixed buffers, alignments, limits, what is refused, and random buffers. */
#include "support/buffers.h"
#include "support/often.h"
#include "task.h"

static void check_offsets(const char *text, xir_effort effort, const char *expected, int line) {
    const buffers b = buffers_of(text);
    char found[400] = "";
    size_t n = 0;
    xir_memory_plan *plan = plan_buffers(&b, &XIR_INIT(xir_memory_options, .effort = effort));
    for (size_t i = 0; i < b.n; i++) {
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%llu", i ? " " : "",
                              (unsigned long long)xir_memory_plan_offsets(plan)[i]);
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
    xir_memory_plan_free(plan);
}
#define OFFSETS(text, effort, expected) check_offsets(text, effort, expected, __LINE__)

/* ---- small plans ------------------------------------------------------------------------------------------------- */

static void buffers_that_never_meet_share_bytes(void **state) {
    (void)state;
    OFFSETS("0-1:64 1-2:32 2-2:64", XIR_EFFORT_SWEEP, "0 64 0");
    OFFSETS("0-0:5 1-1:7 2-2:6", XIR_EFFORT_ORDERS, "0 0 0");
    OFFSETS("5-9:4 0-9:4", XIR_EFFORT_SWEEP, "4 0");
}

static void a_life_contains_both_its_ends(void **state) {
    (void)state;
    OFFSETS("0-3:8 3-6:8 6-9:8", XIR_EFFORT_ORDERS, "8 0 8");
    OFFSETS("-9223372036854775807-9223372036854775807:8 0-0:8", XIR_EFFORT_ORDERS, "0 8");
}

static void the_sweep_takes_the_smallest_gap(void **state) {
    (void)state;
    /* Gaps of 40 and 10 bytes are free at moment 1. */
    OFFSETS("0-0:40 0-9:35 0-0:10 0-9:5 1-9:8", XIR_EFFORT_SWEEP, "0 40 75 85 75");
    /* Gaps that are neighbours become one. */
    OFFSETS("0-0:30 0-1:25 0-1:20 0-2:5 2-2:75", XIR_EFFORT_SWEEP, "0 30 55 75 0");
}

static void buffers_without_bytes_take_none(void **state) {
    (void)state;
    OFFSETS("0-9:0 0-9:8 0-9:0/64", XIR_EFFORT_SEARCH, "0 0 0");
    OFFSETS("0-9:0@108 0-9:8", XIR_EFFORT_SWEEP, "108 0");    // even where it is fixed beyond the end of the plan
    OFFSETS("", XIR_EFFORT_SEARCH, "");
    xir_memory_plan *plan = xir_memory_plan_new(ctx, NULL, 0, NULL, why);
    assert_int_equal(plan_peak(plan).bytes, 0);
    assert_true(plan_peak(plan).least);
    xir_memory_plan_free(plan);
}

static void sizes_are_rounded_up_to_the_alignment(void **state) {
    (void)state;
    OFFSETS("0-0:10/64 0-0:10/64", XIR_EFFORT_ORDERS, "0 64");
    const buffers b = buffers_of("0-0:10/64 0-0:10/64");
    assert_int_equal(peak_with(&b, XIR_EFFORT_DEFAULT), 128);
    OFFSETS("0-0:3 0-0:10/16 0-0:2", XIR_EFFORT_SWEEP, "16 0 19");
}

/* A gap below 2^63 - 1 does for what would end beyond it on top. */
static void gaps_are_used_up_to_the_end_of_addresses(void **state) {
    (void)state;
    OFFSETS("0-0:4611686018427387904 0-1:4611686018427387903 1-1:4611686018427387904", XIR_EFFORT_SWEEP,
            "0 4611686018427387904 0");
}

/* Four buffers for which no order of the first fit needs only what the bound says. */
static void a_search_proves_that_the_bound_is_out_of_reach(void **state) {
    (void)state;
    const buffers b = buffers_of("0-1:2 1-3:1 3-4:2 0-0:2 2-2:3 4-4:2 2-4:1");
    xir_memory_plan *plan = plan_buffers(&b, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH));
    assert_true(plan_peak(plan).least);
    xir_memory_plan_free(plan);
}

static void a_peak_says_where_it_is(void **state) {
    (void)state;
    const buffers b = buffers_of("0-3:8 2-5:16 4-9:4 8-8:100 20-20:108");
    xir_memory_plan *plan = plan_buffers(&b, NULL);
    const xir_memory_peak peak = plan_peak(plan);
    assert_int_equal(peak.bound, 108);
    assert_int_equal(peak.bytes, 108);
    assert_int_equal(peak.moment, 20);
    assert_true(peak.least && peak.steps > 0);
    xir_memory_plan_free(plan);
}

/* ---- fixed buffers ----------------------------------------------------------------------------------------------- */

static void fixed_buffers_stay_and_others_go_around_them(void **state) {
    (void)state;
    for (xir_effort effort = XIR_EFFORT_SWEEP; effort < XIR_EFFORT_COUNT; effort++) {
        OFFSETS("0-9:8@16 0-9:16 0-9:8", effort, "16 0 24");
        OFFSETS("5-9:8@0 0-6:8 0-4:8", effort, "0 8 0");
        OFFSETS("0-1:6@100 1-2:6@106", effort, "100 106");
    }
    const buffers b = buffers_of("0-0:8@1000");
    xir_memory_plan *plan = plan_buffers(&b, NULL);
    assert_int_equal(plan_peak(plan).bound, 1008);
    xir_memory_plan_free(plan);
}

/* So many live together that orders run out of steps: 5000 at one moment and one of them is fixed. */
static void any_number_of_buffers_is_planned_around_fixed_ones(void **state) {
    (void)state;
    enum { N = 5001 };
    xir_buffer *of = calloc(N, sizeof *of);
    static const struct { uint64_t fixed, peak; } cases[] = { { 0, 40008 }, { 40000, 40008 }, { 39999, 80008 },
                                                              { INT64_MAX - 8, INT64_MAX } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t j = 0; j < N; j++) of[j] = (xir_buffer){ .size = 8, .align = 1 };
        of[N - 1].offset = cases[i].fixed;
        of[N - 1].fixed = true;
        for (xir_effort effort = XIR_EFFORT_SWEEP; effort < XIR_EFFORT_COUNT; effort++) {
            xir_memory_plan *plan = xir_memory_plan_new(
                ctx, of, N, &XIR_INIT(xir_memory_options, .effort = effort, .steps = 1000), why);
            if (!plan) fail_msg("%.*s", (int)xir_diags_at(why, 0)->message.size, xir_diags_at(why, 0)->message.data);
            DOES(xir_memory_plan_check(ctx, of, xir_memory_plan_offsets(plan), N, 0, why));
            assert_true(plan_peak(plan).bytes <= cases[i].peak);
            xir_memory_plan_free(plan);
        }
    }
    free(of);
}

static void fixed_buffers_of_one_group_may_share_bytes(void **state) {
    (void)state;
    for (xir_effort effort = XIR_EFFORT_SWEEP; effort < XIR_EFFORT_COUNT; effort++)
        OFFSETS("0-9:8@0#1 0-9:8@4#1 3-3:4", effort, "0 4 12");
    buffers b = buffers_of("0-9:8@0#1 0-9:8@4#2 0-9:8@0");
    assert_null(xir_memory_plan_new(ctx, b.of, 2, NULL, why));
    check_finding(XIR_E_INVALID, "two fixed buffers overlap: bytes 4 to 11 overlap those of buffer 0, 0 to 7, at moment 0");
    b.of[1] = b.of[2];
    assert_null(xir_memory_plan_new(ctx, b.of, 2, NULL, why));
    check_finding(XIR_E_INVALID, "overlap those of buffer");
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void a_limit_below_the_bound_is_named(void **state) {
    (void)state;
    const buffers b = buffers_of("0-3:8 2-5:16 7-9:4");
    assert_null(xir_memory_plan_new(ctx, b.of, b.n, &XIR_INIT(xir_memory_options, .limit = 23), why));
    check_finding(XIR_E_LIMIT, "the buffers need at least 24 bytes, of which 24 live at moment 2; there are 23");
    xir_memory_plan_free(plan_buffers(&b, &XIR_INIT(xir_memory_options, .limit = 24)));
}

/* The optimum of these is 10, the bound 9. */
#define ABOVE_BOUND "0-0:1 0-1:3 0-4:5 1-2:1 2-3:3 3-4:1 4-4:3"

static void a_limit_between_bound_and_plan_is_not_called_impossible(void **state) {
    (void)state;
    const buffers b = buffers_of("0-1:4 0-2:3 1-5:2 2-4:5 3-6:3 5-7:4 6-7:2 0-0:2 7-9:5 4-4:1");
    const uint64_t peak = peak_with(&b, XIR_EFFORT_SEARCH), sweep = peak_with(&b, XIR_EFFORT_SWEEP);
    const uint64_t bound = 11;
    if (peak < sweep) {
        assert_null(xir_memory_plan_new(
            ctx, b.of, b.n, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP, .limit = sweep - 1), why));
        check_finding(XIR_E_LIMIT, "it is not proven that there is no plan within the limit");
    }
    if (peak > bound) {
        assert_null(xir_memory_plan_new(
            ctx, b.of, b.n, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH, .limit = peak - 1), why));
        check_finding(XIR_E_LIMIT, "");
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void check_refused(const char *text, xir_status status, const char *part) {
    const buffers b = buffers_of(text);
    assert_null(xir_memory_plan_new(ctx, b.of, b.n, NULL, why));
    check_finding(status, part);
}

static void bad_buffers_are_refused(void **state) {
    (void)state;
    check_refused("0-1:8 3-2:8", XIR_E_INVALID, "the life ends before it begins");
    check_refused("0-1:8/3", XIR_E_INVALID, "the alignment 3 is not a power of two");
    check_refused("0-1:8/8@4", XIR_E_INVALID, "the fixed offset 4 is not a multiple of 8");
    check_refused("0-1:9223372036854775808", XIR_E_BOUNDS, "9223372036854775808 bytes end beyond 2^63 - 1");
    check_refused("0-1:1@9223372036854775807", XIR_E_BOUNDS, "end beyond 2^63 - 1");
    check_refused("0-1:9223372036854775800/64", XIR_E_BOUNDS, "end beyond 2^63 - 1");
    check_refused("0-1:1/9223372036854775808", XIR_E_BOUNDS, "end beyond 2^63 - 1");
    check_refused("0-1:9223372036854775807 1-2:1", XIR_E_LIMIT, "more than 2^63 - 1 bytes live at the same time");
    check_refused("0-1:4 1-2:9223372036854775807@0", XIR_E_LIMIT, "more than 2^63 - 1 bytes");
    OFFSETS("0-0:9223372036854775807 1-1:9223372036854775807", XIR_EFFORT_SEARCH, "0 0");
    OFFSETS("0-0:1/4611686018427387904 0-0:4", XIR_EFFORT_SEARCH, "0 4611686018427387904");
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    const buffers b = buffers_of("0-1:8");
    xir_memory_peak peak = XIR_INIT(xir_memory_peak, .bytes = 7);
    assert_null(xir_memory_plan_new(NULL, b.of, b.n, NULL, why));
    check_finding(XIR_E_MISSING, "context");
    assert_null(xir_memory_plan_new(ctx, NULL, 1, NULL, why));
    check_finding(XIR_E_MISSING, "buffers");
    assert_null(xir_memory_plan_new(ctx, b.of, b.n, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_COUNT), why));
    check_finding(XIR_E_BOUNDS, "is not an effort");
    assert_null(xir_memory_plan_new(ctx, b.of, UINT32_MAX, NULL, why));
    check_finding(XIR_E_LIMIT, "more than 2^32 - 2 buffers");
    assert_int_equal(xir_memory_plan_peak(NULL, &peak, why), XIR_E_MISSING);
    assert_int_equal(peak.bytes, 0);
    check_finding(XIR_E_MISSING, "plan");
    assert_int_equal(xir_memory_plan_count(NULL), 0);
    assert_null(xir_memory_plan_offsets(NULL));
    xir_memory_plan_free(NULL);
}

/* ---- random buffers ---------------------------------------------------------------------------------------------- */

static bool same_buffer(const xir_buffer *a, const xir_buffer *b) { return !memcmp(a, b, sizeof *a); }

/* Shuffled buffers get the same offsets, but equal ones may trade them. */
static void check_shuffled(const buffers *b, xir_effort effort) {
    buffers shuffled = *b;
    buffers_shuffle(&shuffled);
    xir_memory_plan *plan = plan_buffers(b, &XIR_INIT(xir_memory_options, .effort = effort, .steps = 1 << 16));
    xir_memory_plan *other = plan_buffers(&shuffled, &XIR_INIT(xir_memory_options, .effort = effort, .steps = 1 << 16));
    bool taken[BUFFERS_ROOM] = { false };
    assert_int_equal(plan_peak(plan).steps, plan_peak(other).steps);
    for (size_t i = 0; i < b->n; i++) {
        size_t j = 0;
        while (j < b->n && (taken[j] || !same_buffer(&b->of[i], &shuffled.of[j]) ||
                            xir_memory_plan_offsets(plan)[i] != xir_memory_plan_offsets(other)[j])) j++;
        assert_true(j < b->n);
        taken[j] = true;
    }
    xir_memory_plan_free(plan);
    xir_memory_plan_free(other);
}

static void more_effort_never_needs_more(void **state) {
    (void)state;
    for (uint64_t i = 0; i < OFTEN(300); i++) {
        chance_begin(i);
        const buffers_how how = { .n = 50 + chance(150), .moments = 1 + chance(200), .longest = 1 + chance(60),
                                  .largest = 1 + chance(1000), .aligned = i % 3 == 1, .fixed = i % 5 == 2,
                                  .grouped = i % 7 == 3 };
        const buffers b = buffers_random(&how);
        uint64_t peaks[XIR_EFFORT_COUNT];
        for (xir_effort effort = XIR_EFFORT_SWEEP; effort < XIR_EFFORT_COUNT; effort++) {
            xir_memory_plan *plan = plan_buffers(
                &b, &XIR_INIT(xir_memory_options, .effort = effort, .steps = 1 << 16));
            peaks[effort] = plan_peak(plan).bytes;
            xir_memory_plan_free(plan);
        }
        assert_true(peaks[XIR_EFFORT_SEARCH] <= peaks[XIR_EFFORT_ORDERS]);
        assert_true(peaks[XIR_EFFORT_ORDERS] <= peaks[XIR_EFFORT_SWEEP]);
        if (i % 8 == 0) check_shuffled(&b, (xir_effort)(XIR_EFFORT_SWEEP + i / 8 % 3));
    }
}

/* A search whose steps are used up returns the best plan so far. */
static void a_search_ends_with_its_steps(void **state) {
    (void)state;
    chance_begin(7);
    const buffers b = buffers_random(&(buffers_how){ .n = 200, .moments = 60, .longest = 40, .largest = 1000 });
    for (uint64_t steps = 1; steps < 100000; steps *= 3) {
        xir_memory_plan *plan = plan_buffers(
            &b, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH, .steps = steps));
        xir_memory_plan_free(plan);
    }
}

static bool counts_down(void *user) { return !(*(size_t *)user)--; }

/* The caller is asked before the sweep and in each step of a search, and ends it at any of them. Fixed buffers leave
 * gaps of 999 bytes, for which the others are packed. */
static void a_search_ends_when_it_is_cancelled(void **state) {
    (void)state;
    enum { FIXED = 12, N = 48 };
    xir_buffer of[N];
    for (int64_t i = 0; i < N; i++) {
        of[i] = (xir_buffer){ .from = i % 4, .to = 5 + i % 3, .size = (uint64_t)(250 + i * 97 % 170) };
        if (i < FIXED)
            of[i] = (xir_buffer){ .to = 9, .size = 1, .fixed = true, .offset = (uint64_t)(1000 * (i + 1)) };
    }
    task_each = 1;
    for (size_t stop = 0; stop < 2000; stop += stop < 5 ? 1 : 333) {
        size_t left = stop;
        assert_null(xir_memory_plan_new(ctx, of, N, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH,
                                                              .cancel = counts_down, .user = &left), why));
        check_finding(XIR_E_CANCELLED, "cancelled");
    }
    task_each = TASK_EACH;
}

/* Copies of a part for which the orders miss the bound, one after the other: each is searched, in time linear in their
 * number. What is done for each is counted. */
static void a_search_lowers_any_number_of_parts(void **state) {
    (void)state;
    const buffers part = buffers_of("0-2:9 2-5:1 3-6:8 7-8:6 1-1:3 7-9:5 6-9:8 3-5:5 1-3:3 2-5:6 5-7:9 0-2:5");
    enum { COPIES = 20000 };
    const size_t n = COPIES * part.n;
    xir_buffer *of = calloc(n, sizeof *of);
    for (size_t i = 0; i < n; i++) {
        of[i] = part.of[i % part.n];
        of[i].from += (int64_t)(i / part.n * 20);
        of[i].to += (int64_t)(i / part.n * 20);
    }
    for (xir_effort effort = XIR_EFFORT_ORDERS; effort < XIR_EFFORT_COUNT; effort++) {
        xir_memory_plan *plan = xir_memory_plan_new(ctx, of, n, &XIR_INIT(xir_memory_options, .effort = effort), why);
        const xir_memory_peak peak = plan_peak(plan);
        DOES(xir_memory_plan_check(ctx, of, xir_memory_plan_offsets(plan), n, 0, why));
        assert_int_equal(peak.bound, 29);
        assert_true(peak.least == (effort == XIR_EFFORT_SEARCH));
        assert_true(peak.steps < (uint64_t)200 * n);
        xir_memory_plan_free(plan);
    }
    free(of);
}

static bool plan_all(xir_context *with) {
    static const xir_effort efforts[] = { XIR_EFFORT_SWEEP, XIR_EFFORT_ORDERS, XIR_EFFORT_SEARCH };
    chance_begin(11);
    for (size_t i = 0; i < COUNT(efforts); i++) {
        const buffers b = buffers_random(&(buffers_how){ .n = 60, .moments = 30, .longest = 30, .largest = 100,
                                                         .fixed = i == 2 });
        xir_memory_plan *plan = xir_memory_plan_new(
            with, b.of, b.n, &XIR_INIT(xir_memory_options, .effort = efforts[i], .steps = 50000), NULL);
        const bool ok = plan && !xir_memory_plan_check(with, b.of, xir_memory_plan_offsets(plan), b.n, 0, NULL);
        xir_memory_plan_free(plan);
        if (!ok) return false;
    }
    return true;
}

static void memory_may_run_out(void **state) {
    (void)state;
    check_memory(plan_all);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_that_never_meet_share_bytes),
        cmocka_unit_test(a_life_contains_both_its_ends),
        cmocka_unit_test(the_sweep_takes_the_smallest_gap),
        cmocka_unit_test(buffers_without_bytes_take_none),
        cmocka_unit_test(sizes_are_rounded_up_to_the_alignment),
        cmocka_unit_test(gaps_are_used_up_to_the_end_of_addresses),
        cmocka_unit_test(a_search_proves_that_the_bound_is_out_of_reach),
        cmocka_unit_test(a_peak_says_where_it_is),
        cmocka_unit_test(fixed_buffers_stay_and_others_go_around_them),
        cmocka_unit_test(any_number_of_buffers_is_planned_around_fixed_ones),
        cmocka_unit_test(fixed_buffers_of_one_group_may_share_bytes),
        cmocka_unit_test(a_limit_below_the_bound_is_named),
        cmocka_unit_test(a_limit_between_bound_and_plan_is_not_called_impossible),
        cmocka_unit_test(bad_buffers_are_refused),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(more_effort_never_needs_more),
        cmocka_unit_test(a_search_ends_with_its_steps),
        cmocka_unit_test(a_search_ends_when_it_is_cancelled),
        cmocka_unit_test(a_search_lowers_any_number_of_parts),
        cmocka_unit_test(memory_may_run_out),
    };
    return RUN_GROUP(tests);
}
