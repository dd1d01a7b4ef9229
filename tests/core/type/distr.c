/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Distributions: the example of the original, the builder against an array of booleans, texts. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/forms.h"

static const int64_t axes_2_3[] = { 2, 3 };

static const xir_distr *built(xir_distr_builder *b) {
    const xir_distr *d = xir_distr_build(b, why);
    assert_non_null(d);
    return d;
}

/* The original prints no '@' and, before 3.5, no ^ZERO; the values are the original's. */
static void original_sample(void **state) {
    (void)state;
    xir_distr_builder *b = xir_distr_new(ctx, axes_2_3, 2, 1024);
    xir_distr_set_invalid(b, 0, 100);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1024)})");
    xir_distr_set_invalid(b, 1000, 1023);
    CHECK_SPELLED(built(b),
                  "@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1000), u:[1000, 1023), v:[1023, 1024)})");
    xir_distr_set_invalid(b, 888, 888);
    CHECK_SPELLED(built(b),
                  "@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1000), u:[1000, 1023), v:[1023, 1024)})");
    xir_distr_append(b, 256, false);
    bool other[128];
    memset(other, true, sizeof other);
    xir_distr_append_mask(b, other, 128);
    const xir_distr *d = built(b);
    CHECK_SPELLED(d,
                  "@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1000), u:[1000, 1023), v:[1023, 1024), u:[1024, 1280), "
                     "v:[1280, 1408)})");
    static const xir_section all[] = {
        { 0,    100,  false }, { 100,  1000, true },  { 1000, 1023, false },
        { 1023, 1024, true },  { 1024, 1280, false }, { 1280, 1408, true },
    };
    xir_section found[6];
    assert_int_equal(xir_distr_all_sections(d, found, 6), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(found[i].start, all[i].start);
        assert_int_equal(found[i].end, all[i].end);
        assert_int_equal(found[i].valid, all[i].valid);
    }
    assert_int_equal(xir_distr_total(d), 1408);
    xir_distr_free(b);
}

static void original_old_spelling(void **state) {
    (void)state;
    const char *old = "@merged_distr([2, 3]:{u:[0, 100), v:[100, 1024)})";
    const xir_distr *d = read_text(old);
    CHECK_SPELLED(d, old);
    assert_true(d->legacy);
    assert_ptr_not_equal(d, read_text("@merged_distr([2, 3]^ZERO:{u:[0, 100), v:[100, 1024)})"));
    /* a copy of an old one has the old spelling as long as that can express it */
    xir_distr_builder *b = xir_distr_edit(ctx, d);
    xir_distr_set_valid(b, 0, 50);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]:{v:[0, 50), u:[50, 100), v:[100, 1024)})");
    xir_distr_set_zero(b, true);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]:{v:[0, 50), u:[50, 100), v:[100, 1024)})");
    xir_distr_set_zero(b, false);
    assert_false(built(b)->legacy);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]^NONE:{v:[0, 50), u:[50, 100), v:[100, 1024)})");
    xir_distr_set_zero(b, true);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]^ZERO:{v:[0, 50), u:[50, 100), v:[100, 1024)})");
    xir_distr_free(b);
}

static void questions(void **state) {
    (void)state;
    const xir_distr *d = read_text("@merged_distr([1]^ZERO:{u:[0, 10), v:[10, 30), u:[30, 60)})");
    xir_section s[2];
    assert_int_equal(xir_distr_all_sections(d, NULL, 0), 3);
    assert_int_equal(xir_distr_all_sections(d, s, 2), 3);
    assert_int_equal(s[1].end, 30);
    assert_int_equal(xir_distr_valid_sections(d, s, 2), 1);
    assert_int_equal(s[0].start, 10);
    assert_true(s[0].valid);
    assert_int_equal(xir_distr_invalid_sections(d, s, 1), 2);
    assert_int_equal(s[0].end, 10);
    assert_int_equal(xir_distr_total(d), 60);
    assert_int_equal(xir_distr_total_valid(d), 20);
    assert_int_equal(xir_distr_total_invalid(d), 40);
    static const struct { int64_t i; bool valid; } at[] = {
        { INT64_MIN, false }, { -1, false }, { 0,  false }, { 9,  false }, { 10,        true },
        { 29,        true },  { 30, false }, { 59, false }, { 60, false }, { INT64_MAX, false },
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        assert_int_equal(xir_distr_is_valid(d, at[i].i), at[i].valid);
    }

    assert_int_equal(xir_distr_all_sections(NULL, NULL, 0), 0);
    assert_int_equal(xir_distr_total(NULL), 0);
    assert_int_equal(xir_distr_total_invalid(NULL), 0);
    assert_false(xir_distr_is_valid(NULL, 0));
}

static void good_ones_come_back(void **state) {
    (void)state;
    CHECK_ROUND("@merged_distr([1, 4]^ZERO:{v:[0, 64)})");
    CHECK_ROUND("@merged_distr([1, 4]^ZERO:{v:[0, 3), u:[3, 32)})");
    CHECK_ROUND("@merged_distr([1, 4]^NONE:{u:[0, 32), v:[32, 64)})");
    CHECK_ROUND("@merged_distr([3]^ZERO:{v:[0, 1)})");
    CHECK_ROUND("@merged_distr([0, 1, 2, 3]:{v:[0, 1)})");
    CHECK_ROUND("@merged_distr([]^ZERO:{v:[0, 1)})");
    CHECK_ROUND("@merged_distr([1]^ZERO:{})");
    CHECK_ROUND("@merged_distr([1]:{})");
    CHECK_ROUND("@merged_distr([]:{})");
    CHECK_ROUND("@merged_distr([-1]^ZERO:{v:[0, 1)})");   /* without a dim: a finding of validation */
    CHECK_ROUND("@merged_distr([9223372036854775807, -9223372036854775808]^ZERO:{v:[0, 9223372036854775807)})");
    CHECK_ROUND("@merged_distr([1]^ZERO:{v:[0, 1), u:[1, 2), v:[2, 3), u:[3, 4), v:[4, 5), u:[5, 6), v:[6, 7), u:[7, 8), v:[8, 9)})");
    /* equal neighbours become one */
    CHECK_READ("@merged_distr([1]^ZERO:{v:[0, 1), v:[1, 2), u:[2, 4), u:[4, 9)})",
               "@merged_distr([1]^ZERO:{v:[0, 2), u:[2, 9)})");
}

static void bad_ones_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "@merged_distr",                                  XIR_E_SYNTAX, 13 },
        { "@merged_distr(",                                 XIR_E_SYNTAX, 14 },
        { "@merged_distr()",                                XIR_E_SYNTAX, 14 },
        { "@merged_distr([",                                XIR_E_SYNTAX, 15 },
        { "@merged_distr([1",                               XIR_E_SYNTAX, 16 },
        { "@merged_distr([1,",                              XIR_E_SYNTAX, 17 },
        { "@merged_distr([1,4]^ZERO:{v:[0, 4)})",           XIR_E_SYNTAX, 17 },
        { "@merged_distr([1 4]^ZERO:{v:[0, 4)})",           XIR_E_SYNTAX, 16 },
        { "@merged_distr([1,  4]^ZERO:{v:[0, 4)})",         XIR_E_SYNTAX, 18 },
        { "@merged_distr([1, ]^ZERO:{v:[0, 4)})",           XIR_E_SYNTAX, 18 },
        { "@merged_distr([, 1]^ZERO:{v:[0, 4)})",           XIR_E_SYNTAX, 15 },
        { "@merged_distr([01]^ZERO:{v:[0, 4)})",            XIR_E_SYNTAX, 15 },
        { "@merged_distr([-0]^ZERO:{v:[0, 4)})",            XIR_E_SYNTAX, 15 },
        { "@merged_distr([a]^ZERO:{v:[0, 4)})",             XIR_E_SYNTAX, 15 },
        { "@merged_distr([9223372036854775808]^ZERO:{})",   XIR_E_BOUNDS, 15 },
        { "@merged_distr([-9223372036854775809]^ZERO:{})",  XIR_E_BOUNDS, 15 },
        { "@merged_distr([1]",                              XIR_E_SYNTAX, 17 },
        { "@merged_distr([1]^",                             XIR_E_UNKNOWN, 18 },
        { "@merged_distr([1]^ONE:{v:[0, 4)})",              XIR_E_UNKNOWN, 18 },
        { "@merged_distr([1]^zero:{v:[0, 4)})",             XIR_E_UNKNOWN, 18 },
        { "@merged_distr([1]^ZEROS:{v:[0, 4)})",            XIR_E_SYNTAX, 22 },
        { "@merged_distr([1]ZERO:{v:[0, 4)})",              XIR_E_SYNTAX, 17 },
        { "@merged_distr([1]^ZERO{v:[0, 4)})",              XIR_E_SYNTAX, 22 },
        { "@merged_distr([1]^ZERO:v:[0, 4))",               XIR_E_SYNTAX, 23 },
        { "@merged_distr([1]^ZERO:{",                       XIR_E_SYNTAX, 24 },
        { "@merged_distr([1]^ZERO:{w:[0, 4)})",             XIR_E_SYNTAX, 24 },
        { "@merged_distr([1]^ZERO:{V:[0, 4)})",             XIR_E_SYNTAX, 24 },
        { "@merged_distr([1]^ZERO:{[0, 4)})",               XIR_E_SYNTAX, 24 },
        { "@merged_distr([1]^ZERO:{v[0, 4)})",              XIR_E_SYNTAX, 25 },
        { "@merged_distr([1]^ZERO:{v:(0, 4)})",             XIR_E_SYNTAX, 26 },
        { "@merged_distr([1]^ZERO:{v:[1, 4)})",             XIR_E_BOUNDS, 27 },
        { "@merged_distr([1]^ZERO:{v:[-1, 4)})",            XIR_E_BOUNDS, 27 },
        { "@merged_distr([1]^ZERO:{v:[0,4)})",              XIR_E_SYNTAX, 29 },
        { "@merged_distr([1]^ZERO:{v:[0, 0)})",             XIR_E_BOUNDS, 30 },
        { "@merged_distr([1]^ZERO:{v:[0, -4)})",            XIR_E_BOUNDS, 30 },
        { "@merged_distr([1]^ZERO:{v:[0, 4.0)})",           XIR_E_SYNTAX, 31 },
        { "@merged_distr([1]^ZERO:{v:[0, 4]})",             XIR_E_SYNTAX, 31 },
        { "@merged_distr([1]^ZERO:{v:[0, 9223372036854775808)})", XIR_E_BOUNDS, 30 },
        { "@merged_distr([1]^ZERO:{v:[0, 4)",               XIR_E_SYNTAX, 32 },
        { "@merged_distr([1]^ZERO:{v:[0, 4), })",           XIR_E_SYNTAX, 34 },
        { "@merged_distr([1]^ZERO:{v:[0, 4),u:[4, 5)})",    XIR_E_SYNTAX, 33 },
        { "@merged_distr([1]^ZERO:{v:[0, 4), u:[3, 5)})",   XIR_E_BOUNDS, 37 },
        { "@merged_distr([1]^ZERO:{v:[0, 4), u:[5, 6)})",   XIR_E_BOUNDS, 37 },
        { "@merged_distr([1]^ZERO:{v:[0, 4), u:[4, 4)})",   XIR_E_BOUNDS, 40 },
        { "@merged_distr([1]^ZERO:{v:[0, 4)}",              XIR_E_SYNTAX, 33 },
        { "@merged_distr([1]^ZERO:{v:[0, 4)})x",            XIR_E_SYNTAX, 34 },
        { "merged_distr([1]^ZERO:{v:[0, 4)})",              XIR_E_SYNTAX,  0 },
        { "@merged_dist([1]^ZERO:{v:[0, 4)})",              XIR_E_UNKNOWN, 1 },
    };
    CHECK_BAD(rows);
    form_error e = { 0 };
    const char *gap = "@merged_distr([1]^ZERO:{v:[0, 4), u:[5, 6)})";
    assert_null(try_text(gap, strlen(gap), &e));
    assert_string_equal(e.message, "expected a section that starts at 4, found one that starts at 5");
}

static void damaged_ones(void **state) {
    (void)state;
    check_damaged("@merged_distr([1, 4]^ZERO:{u:[0, 32), v:[32, 64)})");
    check_damaged("@merged_distr([2, 3]:{u:[0, 100), v:[100, 1024)})");
    check_damaged("@merged_distr([]^NONE:{})");
}

static void refusals(void **state) {
    (void)state;
    assert_null(xir_distr_new(ctx, axes_2_3, 2, -1));
    assert_null(xir_distr_new(ctx, axes_2_3, SIZE_MAX, 1));
    assert_null(xir_distr_edit(ctx, NULL));
    xir_distr_builder *b = xir_distr_new(ctx, axes_2_3, 2, 100);
    assert_int_equal(xir_distr_set_valid(b, -1, 5), XIR_E_BOUNDS);
    assert_int_equal(xir_distr_set_valid(b, 0, 101), XIR_E_BOUNDS);
    assert_int_equal(xir_distr_set_invalid(b, 6, 5), XIR_E_BOUNDS);
    assert_int_equal(xir_distr_set_invalid(b, INT64_MIN, INT64_MAX), XIR_E_BOUNDS);
    assert_int_equal(xir_distr_set_invalid(b, 100, 100), XIR_OK);
    assert_int_equal(xir_distr_set_invalid(b, 101, 101), XIR_E_BOUNDS);
    assert_int_equal(xir_distr_append(b, -1, true), XIR_E_BOUNDS);
    assert_int_equal(xir_distr_append(b, INT64_MAX - 99, false), XIR_E_LIMIT);
    assert_int_equal(xir_distr_append(b, 0, false), XIR_OK);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]^ZERO:{v:[0, 100)})");
    assert_int_equal(xir_distr_append(b, INT64_MAX - 100, false), XIR_OK);
    const bool mask[3] = { false, true, true };
    assert_int_equal(xir_distr_append_mask(b, mask, 3), XIR_E_LIMIT);
    CHECK_SPELLED(built(b), "@merged_distr([2, 3]^ZERO:{v:[0, 100), u:[100, 9223372036854775807)})");
    xir_distr_free(b);

    b = xir_distr_new(ctx, NULL, 0, INT64_MAX - 2);
    assert_int_equal(xir_distr_append_mask(b, mask, 3), XIR_E_LIMIT);   /* two of three would fit */
    const bool merging[3] = { true, false, false };
    /* the first of these becomes part of an existing run */
    assert_int_equal(xir_distr_append_mask(b, merging, 3), XIR_E_LIMIT);
    assert_int_equal(xir_distr_total(built(b)), INT64_MAX - 2);
    xir_distr_free(b);

    b = xir_distr_new(ctx, axes_2_3, 1, 0);
    CHECK_SPELLED(built(b), "@merged_distr([2]^ZERO:{})");
    assert_int_equal(xir_distr_append_mask(b, NULL, 0), XIR_OK);
    assert_int_equal(xir_distr_append_mask(b, mask, 3), XIR_OK);
    CHECK_SPELLED(built(b), "@merged_distr([2]^ZERO:{u:[0, 1), v:[1, 3)})");
    xir_distr_free(b);

    assert_int_equal(xir_distr_set_valid(NULL, 0, 1), XIR_E_MEMORY);
    assert_int_equal(xir_distr_append(NULL, 1, true), XIR_E_MEMORY);
    assert_int_equal(xir_distr_append_mask(NULL, mask, 3), XIR_E_MEMORY);
    assert_null(xir_distr_build(NULL, why));
    check_finding(XIR_E_MEMORY, "");
    xir_distr_set_zero(NULL, true);
    xir_distr_free(NULL);
}

static void made_by_hand(void **state) {
    (void)state;
    xir_run runs[3] = { { .end = 4, .m = 1 }, { .end = 9, .m = 0 }, { .end = 10, .m = 1 } };
    xir_distr d = xir_distr_init();
    d.merged_axis = (xir_i64s){ axes_2_3, 2 };
    d.sections = (xir_runs){ runs, 3 };
    assert_ptr_equal(xir_distr_make(ctx, &d, why),
                     read_text("@merged_distr([2, 3]^ZERO:{v:[0, 4), u:[4, 9), v:[9, 10)})"));
    static const xir_run wrong[] = {
        { .end = 4, .m = 0 }, { .end = 3, .m = 0 }, { .end = 9, .m = 2 }, { .end = 9, .exp = 1 }, { .end = 9, .value = 1 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        runs[1] = wrong[i];
        assert_null(xir_distr_make(ctx, &d, why));
        check_finding(XIR_E_INVALID, "found others");
    }
}

/* ---- the builder against an array of booleans --------------------------------------------------------------- */

enum { MODEL = 300 };
typedef struct model {
    bool   valid[MODEL];
    size_t n;
} model;

static void compare(const model *m, xir_distr_builder *b) {
    const xir_distr *d = built(b);
    assert_int_equal(xir_distr_total(d), m->n);
    size_t sections = 0, valid = 0;
    for (size_t i = 0; i < m->n; i++) {
        sections += i == 0 || m->valid[i] != m->valid[i - 1];
        valid += m->valid[i];
        assert_int_equal(xir_distr_is_valid(d, (int64_t)i), m->valid[i]);
    }
    assert_int_equal(xir_distr_total_valid(d), valid);
    assert_int_equal(xir_distr_total_invalid(d), m->n - valid);
    xir_section all[MODEL];
    assert_int_equal(xir_distr_all_sections(d, all, MODEL), sections);
    for (size_t i = 0; i < sections; i++) {
        assert_int_equal(all[i].start, i ? all[i - 1].end : 0);
        assert_int_equal(all[i].valid, m->valid[all[i].start]);
        assert_true(i == 0 || all[i].valid != all[i - 1].valid);
    }
    assert_int_equal(xir_distr_valid_sections(d, all, 0) + xir_distr_invalid_sections(d, all, 0), sections);
    assert_ptr_equal(read_text(spelled(d)), d);
}

static void random_marks(void **state) {
    (void)state;
    for (int turn = 0; turn < 300; turn++) {
        model m = { .n = chance(60) };
        memset(m.valid, true, m.n);
        xir_distr_builder *b = xir_distr_new(ctx, axes_2_3, 2, (int64_t)m.n);
        for (int step = 0; step < 60; step++) {
            bool valid = chance(2);
            size_t count = chance(6);
            if (chance(8) == 0 && m.n + count <= MODEL) {
                bool mask[6];
                for (size_t i = 0; i < count; i++) m.valid[m.n++] = mask[i] = chance(2);
                assert_int_equal(xir_distr_append_mask(b, mask, count), XIR_OK);
            } else if (chance(8) == 0 && m.n + count <= MODEL) {
                memset(m.valid + m.n, valid, count);
                m.n += count;
                assert_int_equal(xir_distr_append(b, (int64_t)count, valid), XIR_OK);
            } else if (chance(12) == 0) {
                const xir_distr *d = built(b);
                xir_distr_free(b);
                b = xir_distr_edit(ctx, d);
            } else {
                size_t start = chance(m.n + 1), end = start + chance(chance(3) ? 8 : MODEL);
                bool inside = end <= m.n;
                xir_status status = valid ? xir_distr_set_valid(b, (int64_t)start, (int64_t)end)
                                          : xir_distr_set_invalid(b, (int64_t)start, (int64_t)end);
                assert_int_equal(status, inside ? XIR_OK : XIR_E_BOUNDS);
                if (inside) memset(m.valid + start, valid, end - start);
            }
            compare(&m, b);
        }
        xir_distr_free(b);
    }
}

/* A billion elements cost as much as their runs; marking in order costs the same each time. */
static void long_ones(void **state) {
    (void)state;
    enum { MARKS = 100000 };
    xir_distr_builder *b = xir_distr_new(ctx, axes_2_3, 2, INT64_MAX);
    for (int64_t i = 0; i < MARKS; i++) {
        assert_int_equal(xir_distr_set_invalid(b, i << 40, (i << 40) + 7), XIR_OK);
    }
    const xir_distr *d = built(b);
    assert_int_equal(xir_distr_total_invalid(d), 7LL * MARKS);
    assert_int_equal(xir_distr_invalid_sections(d, NULL, 0), MARKS);
    assert_false(xir_distr_is_valid(d, (50000LL << 40) + 6));
    assert_true(xir_distr_is_valid(d, (50000LL << 40) + 7));
    assert_int_equal(xir_distr_set_valid(b, 0, INT64_MAX), XIR_OK);
    assert_int_equal(xir_distr_all_sections(built(b), NULL, 0), 1);
    xir_distr_free(b);
}

static bool work(xir_context *with) {
    xir_diags *findings = xir_diags_new(with);
    xir_distr_builder *b = xir_distr_new(with, axes_2_3, 2, 1000);
    bool done = findings && b;
    for (int64_t i = 0; i < 20; i++) {
        xir_section before[64], after[64];
        const xir_distr *old = xir_distr_build(b, findings);
        size_t n = xir_distr_all_sections(old, before, 64);
        xir_status status = i % 5 == 4 ? xir_distr_append(b, 3, i & 1)
                                       : xir_distr_set_invalid(b, i * 40, i * 40 + 20);
        done &= status == XIR_OK;
        /* a failure leaves the builder unchanged */
        const xir_distr *now = xir_distr_build(b, findings);
        done &= old && now;
        if (status && old && now) {
            assert_int_equal(xir_distr_all_sections(now, after, 64), n);
            for (size_t j = 0; j < n; j++) {
                assert_true(before[j].end == after[j].end && before[j].valid == after[j].valid);
            }
        }
    }
    form_error e = { 0 };
    xir_str text = XIR_STR("@merged_distr([1, 2, 3, 4, 5, 6, 7, 8, 9]^ZERO:{u:[0, 1), v:[1, 2), u:[2, 3), v:[3, 4), "
                           "u:[4, 5), v:[5, 6)})");
    const void *read = form_parse(context_pool(with), text, &e);
    assert_int_equal(e.status, read ? XIR_OK : XIR_E_MEMORY);
    done &= read != NULL;
    xir_distr_builder *again = xir_distr_edit(with, xir_distr_build(b, findings));
    done &= again != NULL;
    xir_distr_free(again);
    xir_distr_free(b);
    xir_diags_free(findings);
    return done;
}

static void without_memory(void **state) {
    (void)state;
    check_memory(work);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_sample),
        cmocka_unit_test(original_old_spelling),
        cmocka_unit_test(questions),
        cmocka_unit_test(good_ones_come_back),
        cmocka_unit_test(bad_ones_say_where),
        cmocka_unit_test(damaged_ones),
        cmocka_unit_test(refusals),
        cmocka_unit_test(made_by_hand),
        cmocka_unit_test(random_marks),
        cmocka_unit_test(long_ones),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
