/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Layouts: the examples of the original, what is refused and where, and random ones. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/forms.h"

static const xir_layout *layout(const char *axes) {
    const xir_layout *l = xir_layout_parse(ctx, xir_str_of(axes), why);
    assert_non_null(l);
    return l;
}

#define CHECK_AXES(layout, axes)                                                \
    do {                                                                        \
        xir_str text_ = xir_layout_text(layout);                                \
        assert_int_equal(text_.size, strlen(axes));                             \
        assert_memory_equal(text_.data, axes, text_.size);                      \
    } while (0)

static void original_samples(void **state) {
    (void)state;
    CHECK_SPELLED(layout("NCHW"), "@layout(NCHW)");
    CHECK_SPELLED(layout("OIHW"), "@layout(OIHW)");

    xir_layout_steps s = xir_layout_start();
    for (const char *axis = "NHCD"; *axis; axis++) xir_layout_put(&s, *axis, 1);
    CHECK_SPELLED(xir_layout_finish(ctx, &s, why), "@layout(NHCD)");

    s = xir_layout_start();
    xir_layout_put(&s, 'N', 1);
    xir_layout_put(&s, '*', 1);
    xir_layout_put(&s, '*', 1);
    xir_layout_put(&s, 'D', 1);
    CHECK_SPELLED(xir_layout_finish(ctx, &s, why), "@layout(N**D)");

    s = xir_layout_start();
    xir_layout_put(&s, 'N', 1);
    xir_layout_put(&s, '*', 2);
    xir_layout_put(&s, 'D', 1);
    xir_layout_put(&s, 'd', 32);
    xir_layout_put(&s, 'n', 4);
    CHECK_SPELLED(xir_layout_finish(ctx, &s, why), "@layout(N**Dd32n4)");

    assert_int_equal(xir_layout_index(layout("NHWC"), 'C'), 3);
    assert_int_equal(xir_layout_index(layout("NC**c32"), 'c'), 4);
}

static void good_ones_come_back(void **state) {
    (void)state;
    CHECK_ROUND("@layout()");
    CHECK_ROUND("@layout(*)");
    CHECK_ROUND("@layout(NHWC)");
    CHECK_ROUND("@layout(NLHWDCIO*)");
    CHECK_ROUND("@layout(n1l2h3w4d5c6i7o8)");
    CHECK_ROUND("@layout(NCHWc32)");
    CHECK_ROUND("@layout(OIHWo32i32)");
    CHECK_ROUND("@layout(IOo16i32)");
    CHECK_ROUND("@layout(**C*c32)");
    CHECK_ROUND("@layout(N**Cc4)");
    CHECK_ROUND("@layout(c32)");      /* not against the grammar: a finding of validation */
    CHECK_ROUND("@layout(NNNN)");
    CHECK_ROUND("@layout(Cc9223372036854775807)");
    CHECK_ROUND("@layout(" "****************" "****************" "****************" "****************" ")");
}

static void bad_ones_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "@layout",                         XIR_E_SYNTAX,  7 },
        { "@layout(",                        XIR_E_SYNTAX,  8 },
        { "@layout(N",                       XIR_E_SYNTAX,  9 },
        { "@layout)",                        XIR_E_UNKNOWN, 1 },
        { "@layout(NHWC",                    XIR_E_SYNTAX, 12 },
        { "@layout(NHWC))",                  XIR_E_SYNTAX, 13 },
        { "@layout(NHWC) ",                  XIR_E_SYNTAX, 13 },
        { "@layout(NHWC)x",                  XIR_E_SYNTAX, 13 },
        { "@layout( NHWC)",                  XIR_E_SYNTAX,  8 },
        { "@layout(N HWC)",                  XIR_E_SYNTAX,  9 },
        { "@layout(NHWC )",                  XIR_E_SYNTAX, 12 },
        { "@layout(NHXC)",                   XIR_E_SYNTAX, 10 },
        { "@layout(NHWCx4)",                 XIR_E_SYNTAX, 12 },
        { "@layout(N4)",                     XIR_E_SYNTAX,  9 },
        { "@layout(*4)",                     XIR_E_SYNTAX,  9 },
        { "@layout(4)",                      XIR_E_SYNTAX,  8 },
        { "@layout(NCc)",                    XIR_E_SYNTAX, 11 },
        { "@layout(NCcN)",                   XIR_E_SYNTAX, 11 },
        { "@layout(NCc-4)",                  XIR_E_SYNTAX, 11 },
        { "@layout(NCc+4)",                  XIR_E_SYNTAX, 11 },
        { "@layout(NCc 4)",                  XIR_E_SYNTAX, 11 },
        { "@layout(NCc032)",                 XIR_E_SYNTAX, 11 },
        { "@layout(NCc00)",                  XIR_E_SYNTAX, 11 },
        { "@layout(NCc0)",                   XIR_E_BOUNDS, 11 },
        { "@layout(NCc9223372036854775808)", XIR_E_BOUNDS, 11 },
        { "@layout(NCc99999999999999999999)", XIR_E_BOUNDS, 11 },
        { "@layout(NCc32.0)",                XIR_E_SYNTAX, 13 },
        { "@layout(N,C)",                    XIR_E_SYNTAX,  9 },
        { "@layout(N\nC)",                   XIR_E_SYNTAX,  9 },
        { "@layout(N\xc3\xa9)",              XIR_E_SYNTAX,  9 },
        { "@layout(NHWC@layout(NHWC))",      XIR_E_SYNTAX, 12 },
        { "@Layout(NHWC)",                   XIR_E_UNKNOWN, 1 },
        { "@layou(NHWC)",                    XIR_E_UNKNOWN, 1 },
        { "layout(NHWC)",                    XIR_E_SYNTAX,  0 },
    };
    CHECK_BAD(rows);

    form_error e = { 0 };
    assert_null(try_text("@layout(NX)", 11, &e));
    assert_string_equal(e.message, "expected an axis letter (N L H W D C I O * or n l h w d c i o), found 'X'");
    assert_null(try_text("@layout(N\0)", 11, &e));
    assert_string_equal(e.message,
                        "expected an axis letter (N L H W D C I O * or n l h w d c i o), found byte 0x00");
    assert_null(xir_layout_parse(ctx, XIR_STR("NHXC"), why));
    check_finding(XIR_E_SYNTAX,
                  "layout 'NHXC': expected an axis letter (N L H W D C I O * or n l h w d c i o), found 'X', at character 3");
    assert_null(xir_layout_parse(ctx, XIR_STR("NCc"), NULL));
}

static void damaged_ones(void **state) {
    (void)state;
    check_damaged("@layout()");
    check_damaged("@layout(NHWC)");
    check_damaged("@layout(OIHWo32i32)");
    check_damaged("@layout(N**Cc9223372036854775807)");
}

static void equal_ones_are_one(void **state) {
    (void)state;
    assert_ptr_equal(layout("NHWC"), layout("NHWC"));
    assert_ptr_equal(layout("NHWC"), read_text("@layout(NHWC)"));
    assert_ptr_equal(layout("***"), xir_layout_default(ctx, 3));
    assert_ptr_equal(layout(""), xir_layout_default(ctx, 0));
    assert_ptr_not_equal(layout("NHWC"), layout("NCHW"));
    assert_int_equal(xir_layout_rank(xir_layout_default(ctx, 15)), 15);
    assert_int_equal(xir_layout_rank(xir_layout_default(ctx, 16)), 16);
    assert_int_equal(xir_layout_rank(xir_layout_default(ctx, 17)), 17);
    assert_int_equal(xir_layout_rank(xir_layout_default(ctx, 1000)), 1000);
}

static void questions(void **state) {
    (void)state;
    const xir_layout *l = layout("NCHWc32");
    CHECK_AXES(l, "NCHWc32");
    assert_int_equal(xir_layout_rank(l), 5);
    assert_int_equal(xir_layout_axis(l, 0), 'N');
    assert_int_equal(xir_layout_axis(l, 4), 'c');
    assert_int_equal(xir_layout_axis(l, 5), 0);
    assert_int_equal(xir_layout_axis(l, SIZE_MAX), 0);
    assert_int_equal(xir_layout_unit(l, 4), 32);
    assert_int_equal(xir_layout_unit(l, 1), 0);
    assert_int_equal(xir_layout_unit(l, 5), 0);
    assert_int_equal(xir_layout_index(l, 'C'), 1);
    assert_int_equal(xir_layout_index(l, 'c'), 4);
    assert_int_equal(xir_layout_index(l, 'D'), -1);
    assert_int_equal(xir_layout_index(l, '3'), -1);
    assert_int_equal(xir_layout_index(l, '\0'), -1);
    assert_true(xir_layout_has(l, 'H'));
    assert_false(xir_layout_has(l, 'h'));
    assert_true(xir_layout_is_layouted(l));
    assert_false(xir_layout_is_layouted(layout("NHWC")));
    assert_int_equal(xir_layout_index(layout("N**C"), '*'), 1);

    assert_int_equal(xir_layout_rank(NULL), 0);
    assert_int_equal(xir_layout_axis(NULL, 0), 0);
    assert_int_equal(xir_layout_index(NULL, 'N'), -1);
    assert_false(xir_layout_is_layouted(NULL));
    assert_int_equal(xir_layout_text(NULL).size, 0);
}

static void rules(void **state) {
    (void)state;
    static const char *const good[] = {
        "", "*", "****", "NHWC", "NCHWc32", "OIHWo32i32", "IOo16i32", "**C*c32", "Oo32", "N**Dd32n4", "***C",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (xir_layout_check(layout(good[i]), why) != XIR_OK) fail_msg("%s", good[i]);
    }
    assert_int_equal(xir_layout_check(layout("NHWc32"), why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID,
                  "layout 'NHWc32': axis 3 is the unit c32, expected an axis C with it, found none");
    assert_int_equal(xir_layout_check(layout("NHWH"), why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "layout 'NHWH': axes 1 and 3 are both H, expected each letter once");
    assert_int_equal(xir_layout_check(layout("Cc4c8"), NULL), XIR_E_INVALID);
    assert_int_equal(xir_layout_check(NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "found none");

    /* every fault, not only the first */
    xir_layout_check(layout("NNo1d2"), why);
    assert_int_equal(xir_diags_count(why), 3);
    xir_diags_clear(why);
}

static void variants(void **state) {
    (void)state;
    const xir_layout *l = layout("NCHWc32");
    CHECK_AXES(xir_layout_swap(ctx, l, 1, 4, why), "Nc32HWC");
    CHECK_AXES(xir_layout_swap(ctx, l, 4, 1, why), "Nc32HWC");
    CHECK_AXES(xir_layout_swap(ctx, l, 0, 1, why), "CNHWc32");
    CHECK_AXES(xir_layout_swap(ctx, l, 3, 4, why), "NCHc32W");
    assert_ptr_equal(xir_layout_swap(ctx, l, 2, 2, why), l);
    assert_ptr_equal(xir_layout_swap(ctx, l, 4, 4, why), l);
    assert_null(xir_layout_swap(ctx, l, 0, 5, why));
    check_finding(XIR_E_BOUNDS, "expected an axis below 5, found 5");
    assert_null(xir_layout_swap(ctx, l, SIZE_MAX, 0, NULL));

    CHECK_AXES(xir_layout_erase(ctx, l, 0, why), "CHWc32");
    CHECK_AXES(xir_layout_erase(ctx, l, 4, why), "NCHW");
    CHECK_AXES(xir_layout_erase(ctx, layout("*"), 0, why), "");
    assert_null(xir_layout_erase(ctx, layout(""), 0, why));
    check_finding(XIR_E_BOUNDS, "expected an axis below 0, found 0");

    CHECK_AXES(xir_layout_insert(ctx, layout("NHWC"), 4, 'c', 16, why), "NHWCc16");
    CHECK_AXES(xir_layout_insert(ctx, layout("NHWC"), 0, '*', 0, why), "*NHWC");
    CHECK_AXES(xir_layout_insert(ctx, l, 5, 'D', 0, why), "NCHWc32D");
    CHECK_AXES(xir_layout_insert(ctx, l, 4, 'n', 7, why), "NCHWn7c32");
    CHECK_AXES(xir_layout_insert(ctx, layout(""), 0, 'N', 0, why), "N");
    assert_null(xir_layout_insert(ctx, l, 6, 'D', 0, why));
    check_finding(XIR_E_BOUNDS, "expected a position up to 5, found 6");
    assert_null(xir_layout_insert(ctx, l, 0, 'X', 0, why));
    check_finding(XIR_E_INVALID, ", found 'X'");
    assert_null(xir_layout_insert(ctx, l, 0, '\0', 0, why));
    check_finding(XIR_E_INVALID, ", found byte 0x00");
    assert_null(xir_layout_insert(ctx, l, 0, 'd', 0, why));
    check_finding(XIR_E_BOUNDS, "expected a unit of at least 1 for the axis d, found 0");
    assert_null(xir_layout_insert(ctx, l, 0, 'D', 3, why));
    check_finding(XIR_E_BOUNDS, "expected the unit 0 for the axis D, found 3");
    assert_null(xir_layout_insert(ctx, NULL, 0, 'D', 0, NULL));
}

static void steps_keep_errors(void **state) {
    (void)state;
    static const struct { char axis; int64_t number; } bad[] = {
        { 'X', 1 }, { '\0', 1 }, { 'N', 0 }, { 'N', -1 }, { 'c', 0 }, { 'N', 241 }, { '*', INT64_MAX }, { 'c', INT64_MIN },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        xir_layout_steps s = xir_layout_start();
        xir_layout_put(&s, bad[i].axis, bad[i].number);
        xir_layout_put(&s, 'N', 1);
        assert_null(xir_layout_finish(ctx, &s, why));
        check_finding(XIR_E_INVALID, "layout steps: expected axis letters");
    }
    xir_layout_steps s = xir_layout_start();
    CHECK_AXES(xir_layout_finish(ctx, &s, why), "");
    xir_layout_put(&s, '*', 240);
    assert_int_equal(xir_layout_rank(xir_layout_finish(ctx, &s, why)), 240);
    xir_layout_put(&s, '*', 1);
    assert_null(xir_layout_finish(ctx, &s, NULL));
    s = xir_layout_start();
    for (int i = 0; i < 12; i++) xir_layout_put(&s, 'c', INT64_MAX);
    assert_int_equal(xir_layout_rank(xir_layout_finish(ctx, &s, why)), 12);   /* just fits */
    xir_layout_put(&s, 'c', 1);
    assert_null(xir_layout_finish(ctx, &s, NULL));
}

/* A struct that a program fills by hand is checked when the layout is made. */
static void made_by_hand(void **state) {
    (void)state;
    xir_layout l = xir_layout_init();
    l.axes = XIR_STR("NHWCc4");
    assert_ptr_equal(xir_layout_make(ctx, &l, why), layout("NHWCc4"));
    l.axes = XIR_STR("NH\"");
    assert_null(xir_layout_make(ctx, &l, why));
    check_finding(XIR_E_SYNTAX, ", found '\"', at character 3");
}

static void random_layouts(void **state) {
    (void)state;
    static const char letters[] = "NLHWDCIO*nlhwdcio";
    for (int turn = 0; turn < 5000; turn++) {
        char axes[400];
        size_t rank = chance(12), size = 0;
        char letter[12];
        int64_t unit[12];
        for (size_t i = 0; i < rank; i++) {
            letter[i] = letters[chance(sizeof letters - 1)];
            unit[i] = 0;
            axes[size++] = letter[i];
            if (letter[i] < 'a') continue;
            do unit[i] = some_number();
            while (unit[i] < 1);
            size += (size_t)snprintf(axes + size, sizeof axes - size, "%lld", (long long)unit[i]);
        }
        axes[size] = '\0';
        const xir_layout *l = layout(axes);
        CHECK_AXES(l, axes);
        assert_ptr_equal(read_text(spelled(l)), l);
        assert_int_equal(xir_layout_rank(l), rank);
        for (size_t i = 0; i < rank; i++) {
            assert_int_equal(xir_layout_axis(l, i), letter[i]);
            assert_int_equal(xir_layout_unit(l, i), unit[i]);
        }
        if (rank == 0) continue;
        /* removing an axis and putting it back, or exchanging two axes twice, changes nothing */
        size_t i = chance(rank), j = chance(rank);
        const xir_layout *without = xir_layout_erase(ctx, l, i, why);
        assert_int_equal(xir_layout_rank(without), rank - 1);
        assert_ptr_equal(xir_layout_insert(ctx, without, i, letter[i], unit[i], why), l);
        const xir_layout *swapped = xir_layout_swap(ctx, l, i, j, why);
        assert_int_equal(xir_layout_axis(swapped, i), letter[j]);
        assert_int_equal(xir_layout_unit(swapped, j), unit[i]);
        assert_ptr_equal(xir_layout_swap(ctx, swapped, j, i, why), l);
    }
}

static bool work(xir_context *with) {
    xir_diags *findings = xir_diags_new(with);
    form_error e = { 0 };
    xir_layout_steps s = xir_layout_start();
    xir_layout_put(&s, 'N', 2);
    const void *made[] = {
        xir_layout_parse(with, XIR_STR("NCHWc32"), findings),
        xir_layout_default(with, 5),
        xir_layout_default(with, 500),
        form_parse(context_pool(with), XIR_STR("@layout(NCHWc64)"), &e),
        xir_layout_finish(with, &s, findings),
    };
    bool done = findings != NULL;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) done &= made[i] != NULL;
    assert_true(made[3] || e.status == XIR_E_MEMORY);
    const xir_layout *l = made[0];
    if (l) {
        done &= xir_layout_swap(with, l, 0, 4, findings) != NULL;
        done &= xir_layout_erase(with, l, 1, findings) != NULL;
        done &= xir_layout_insert(with, l, 1, 'd', 5, findings) != NULL;
    }
    assert_true(done || !findings || l || xir_diags_at(findings, 0)->code == XIR_E_MEMORY);
    xir_diags_free(findings);
    return done;
}

static void without_memory(void **state) {
    (void)state;
    check_memory(work);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_samples),
        cmocka_unit_test(good_ones_come_back),
        cmocka_unit_test(bad_ones_say_where),
        cmocka_unit_test(damaged_ones),
        cmocka_unit_test(equal_ones_are_one),
        cmocka_unit_test(questions),
        cmocka_unit_test(rules),
        cmocka_unit_test(variants),
        cmocka_unit_test(steps_keep_errors),
        cmocka_unit_test(made_by_hand),
        cmocka_unit_test(random_layouts),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
