/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The checker: what it finds, and that it agrees with a comparison of each two buffers. */
#include "support/buffers.h"
#include "support/often.h"

static void check_found(const char *text, const uint64_t *offsets, uint64_t limit, xir_status status,
                        const char *part) {
    const buffers b = buffers_of(text);
    assert_int_equal(xir_memory_plan_check(ctx, b.of, offsets, b.n, limit, why), status);
    if (status) check_finding(status, part);
}
#define FOUND_AT(text, limit, status, part, ...) \
    check_found(text, (const uint64_t[]){ __VA_ARGS__ }, limit, status, part)

static void overlaps_are_named(void **state) {
    (void)state;
    FOUND_AT("0-3:8 2-5:8", 16, XIR_OK, "", 0, 8);
    FOUND_AT("0-3:8 2-5:8", 0, XIR_E_INVALID, "bytes 7 to 14 overlap those of buffer 0, 0 to 7, at moment 2", 0, 7);
    FOUND_AT("2-5:8 0-3:8", 0, XIR_E_INVALID, "bytes 7 to 14 overlap those of buffer 1, 0 to 7, at moment 2", 7, 0);
    FOUND_AT("0-3:8 4-5:8", 0, XIR_OK, "", 0, 7);
    FOUND_AT("0-9:1 0-9:100 5-5:2", 0, XIR_E_INVALID, "bytes 98 to 99 overlap those of buffer 1, 1 to 100", 0, 1, 98);
    FOUND_AT("0-9:0 0-9:8", 0, XIR_OK, "", 4, 0);
    FOUND_AT("0-9:8#1 0-9:8#1 3-3:8#2", 0, XIR_E_INVALID, "bytes 11 to 18 overlap those of buffer 1", 0, 4, 11);
    FOUND_AT("0-9:100#1 0-9:8#1 3-3:8", 0, XIR_E_INVALID, "bytes 50 to 57 overlap those of buffer 0", 0, 20, 50);
    FOUND_AT("0-9:8#1 0-9:8#1 3-3:8#1", 0, XIR_OK, "", 0, 4, 2);
}

static void what_is_wrong_with_one_buffer_is_named(void **state) {
    (void)state;
    FOUND_AT("0-1:8/16", 0, XIR_E_INVALID, "the offset 8 is not a multiple of 16", 8);
    FOUND_AT("0-1:8@16", 0, XIR_E_INVALID, "the offset is fixed to 16, but is 8", 8);
    FOUND_AT("0-1:8", 15, XIR_E_LIMIT, "8 bytes at 8 end beyond the limit, 15", 8);
    FOUND_AT("0-1:8", 1, XIR_E_LIMIT, "8 bytes at 8 end beyond the limit, 1", 8);
    FOUND_AT("0-1:8", 0, XIR_E_LIMIT, "8 bytes end beyond 2^64 - 1", UINT64_MAX - 7);
    FOUND_AT("1-0:8", 0, XIR_E_INVALID, "the life ends before it begins", 0);
    FOUND_AT("0-1:8/6", 0, XIR_E_INVALID, "the alignment 6 is not a power of two", 0);
    assert_int_equal(xir_memory_plan_check(NULL, NULL, NULL, 0, 0, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "context");
    const buffers b = buffers_of("0-1:8");
    assert_int_equal(xir_memory_plan_check(ctx, b.of, NULL, 1, 0, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "offsets");
}

static void each_fault_is_a_finding(void **state) {
    (void)state;
    const buffers b = buffers_of("0-9:8/8 0-9:8 0-9:8 5-6:8/16");
    const uint64_t offsets[] = { 4, 8, 20, 24 };
    assert_int_equal(xir_memory_plan_check(ctx, b.of, offsets, b.n, 30, why), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 5);   /* off twice, beyond, two overlaps */
    CHECK_STR(xir_diags_at(why, 0)->path, "/0");
    CHECK_STR(xir_diags_at(why, 2)->path, "/3");
    xir_diags_clear(why);
}

/* Its status is that of the first finding, also if a later buffer is malformed; then buffers are not compared. */
static void malformed_buffers_do_not_hide_other_faults(void **state) {
    (void)state;
    const buffers b = buffers_of("0-9:8 1-0:8 0-9:8/16 0-9:8/3");
    const uint64_t offsets[] = { 8, 0, 8, 8 };
    assert_int_equal(xir_memory_plan_check(ctx, b.of, offsets, b.n, 15, why), XIR_E_LIMIT);
    assert_int_equal(xir_diags_count(why), 5);   /* beyond, ends before, off and beyond, not a power of two */
    CHECK_STR(xir_diags_at(why, 0)->path, "/0");
    CHECK_STR(xir_diags_at(why, 1)->path, "/1");
    CHECK_STR(xir_diags_at(why, 4)->path, "/3");
    xir_diags_clear(why);
}

/* Of three in a row, the second overlaps both others: it is in a finding, and the third is not compared with it. */
static void buffers_in_a_finding_are_not_compared(void **state) {
    (void)state;
    const buffers b = buffers_of("0-9:8 0-9:8 0-9:4");
    assert_int_equal(xir_memory_plan_check(ctx, b.of, (const uint64_t[]){ 0, 4, 10 }, b.n, 0, why), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 1);
    CHECK_STR(xir_diags_at(why, 0)->path, "/1");
    xir_diags_clear(why);
}

/* Moves a buffer, swaps two, or lets one live longer. */
static void mutate(buffers *b, uint64_t *offsets) {
    const size_t i = chance(b->n), j = chance(b->n);
    const uint64_t it = offsets[i];
    switch (chance(4)) {
    case 0: offsets[i] += 1 + chance(20); break;
    case 1: offsets[i] -= chance(offsets[i] + 1); break;
    case 2: offsets[i] = offsets[j], offsets[j] = it; break;
    default: b->of[i].to += (int64_t)chance(30), b->of[j].from -= (int64_t)chance(30);
    }
}

static void mutated_plans_are_judged_as_by_brute_force(void **state) {
    (void)state;
    size_t wrong = 0, n = OFTEN(5000);
    for (uint64_t i = 0; i < n; i++) {
        chance_begin(i);
        buffers b = buffers_random(&(buffers_how){ .n = 2 + chance(60), .moments = 1 + chance(40), .longest = 20,
                                                   .largest = 1 + chance(100), .aligned = i % 4 == 1,
                                                   .grouped = i % 3 == 2 });
        xir_memory_plan *plan = plan_buffers(&b, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP));
        uint64_t offsets[BUFFERS_ROOM];
        memcpy(offsets, xir_memory_plan_offsets(plan), b.n * sizeof *offsets);
        const uint64_t limit = i % 5 ? 0 : plan_peak(plan).bytes;
        xir_memory_plan_free(plan);
        for (uint64_t left = 1 + chance(3); left; left--) mutate(&b, offsets);
        const bool right = offsets_are_right(&b, offsets, limit);
        const xir_status status = xir_memory_plan_check(ctx, b.of, offsets, b.n, limit, why);
        if (right != !status) fail_msg("case %llu: brute force says %d, the checker %s", (unsigned long long)i, right,
                                       xir_status_name(status));
        wrong += !right;
        xir_diags_clear(why);
    }
    assert_true(wrong > n / 4 && wrong < n - n / 20);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_are_named),
        cmocka_unit_test(what_is_wrong_with_one_buffer_is_named),
        cmocka_unit_test(each_fault_is_a_finding),
        cmocka_unit_test(malformed_buffers_do_not_hide_other_faults),
        cmocka_unit_test(buffers_in_a_finding_are_not_compared),
        cmocka_unit_test(mutated_plans_are_judged_as_by_brute_force),
    };
    return RUN_GROUP(tests);
}
