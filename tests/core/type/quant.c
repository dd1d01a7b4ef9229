/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays of scales and ratios, quantised types, scalars: the samples of the original, texts, random ones with counts
 * from one to 2^63 - 1. */
#include <math.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/forms.h"

static const double ratios_3[] = { 1.1, 2.2, 3.3 };
static const int64_t m_2[] = { 3, 4 }, exp_2[] = { 3, 4 };
static const double origin_2[] = { 0.377, 0.27 };

/* ---- the original's samples --------------------------------------------------------------------------------- */

static void original_calibrated(void **state) {
    (void)state;
    const xir_type *storage[] = { xir_type_sint(ctx, 8), xir_type_float(ctx, XIR_FLOAT_BF16) };
    for (int i = 0; i < 2; i++) {
        const xir_type *t = xir_type_calibrated(ctx, -3.6, 4.8, 4.7, storage[i], NULL);
        assert_int_equal(xir_type_kind_of(t), XIR_TYPE_CALIBRATED);
        assert_ptr_equal(xir_type_storage(t), storage[i]);
        CHECK_SPELLED(xir_type_expressed(t), "@fp(32)");
        const xir_calibrated_type *c = xir_calibrated_type_of(xir_type_object(t));
        assert_int_equal(c->min.size, 1);
        assert_true(c->min.data[0] == (double)-3.6f && c->max.data[0] == (double)4.8f &&
                    c->sat.data[0] == (double)4.7f);
        assert_ptr_equal(xir_type_calibrated(ctx, -3.6f, 4.8, 4.7, storage[i], xir_type_float(ctx, XIR_FLOAT_FP32)), t);
    }
}

static void original_normalized(void **state) {
    (void)state;
    const xir_norm_ratios *ratios = xir_norm_ratios_from(ctx, ratios_3, 3, -1);
    const xir_type *sint16 = xir_type_normalized(ctx, ratios, xir_type_sint(ctx, 16), NULL);
    CHECK_SPELLED(xir_type_norm_ratios(sint16), "@norm_ratios([axis=-1]1.1,2.2,3.3)");
    const xir_type *tensor = XIR_TENSOR(ctx, sint16, "NHWC", 1024);
    assert_ptr_equal(xir_type_norm_ratios(tensor), xir_type_norm_ratios(sint16));
    CHECK_SPELLED(xir_type_storage(tensor), "@sint(16)");
    CHECK_SPELLED(xir_type_expressed(tensor), "@fp(32)");
    assert_int_equal(xir_type_storage_bits(tensor), 16);

    const xir_scales *scale = xir_exp_scales_from(ctx, m_2, exp_2, origin_2, 2, -1);
    const xir_type *quant = xir_type_normalized_quantized(ctx, sint16, scale, NULL, 0);
    assert_int_equal(xir_type_kind_of(quant), XIR_TYPE_NORMALIZED_QUANTIZED);
    CHECK_SPELLED(xir_type_norm_ratios(quant), "@norm_ratios([axis=-1]1.1,2.2,3.3)");
    CHECK_SPELLED(xir_type_scale(quant), "@exp_scales([axis=-1]3/3/0.377,4/4/0.27)");
    CHECK_SPELLED(xir_type_storage(quant), "@sint(16)");
    CHECK_SPELLED(xir_type_expressed(quant), "@fp(32)");
    assert_int_equal(xir_type_zero_points(quant).size, 0);
    /* the value is m * 2^-exp, not the origin */
    assert_true(xir_scales_at(xir_type_scale(quant), 0) == 0.375);
    assert_true(xir_scales_at(xir_type_scale(quant), 1) == 0.25);
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

/* The string is the specification's, with an '@' as all others have now. */
static void original_single_scales(void **state) {
    (void)state;
    const xir_exp_scale *e = xir_exp_scale_from(ctx, 3, 3, 0.377);
    CHECK_SPELLED(e, "@exp_scale(<3, 3>, 0.377)");
    assert_ptr_equal(read_text("@exp_scale(<3, 3>, 0.377)"), e);
    assert_true(xir_exp_scale_value(e) == 0.375 && xir_exp_scale_value(NULL) == 0);
    assert_true(e->m == 3 && e->exp == 3 && e->origin_scale == (double)0.377f);
    const xir_scale *s = xir_scale_from(ctx, 0.1);
    CHECK_SPELLED(s, "@scale(0.1)");
    assert_ptr_equal(read_text("@scale(0.10000000149011612)"), s);
    assert_true(s->origin_scale == (double)0.1f);
}

static void single_scales_are_items_of_arrays(void **state) {
    (void)state;
    const xir_scales *plain = read_text("@scales([axis=-1]3*0.5,0.1)");
    const xir_scales *exp = read_text("@exp_scales([axis=-1]3/3/0.377,4/4/0.27)");
    assert_ptr_equal(xir_scale_of(xir_scales_item(ctx, plain, 3)), xir_scale_from(ctx, 0.1));
    assert_ptr_equal(xir_exp_scale_of(xir_scales_item(ctx, exp, 1)), xir_exp_scale_from(ctx, 4, 4, 0.27));
    assert_null(xir_scale_of(xir_scales_item(ctx, exp, 1)));
    assert_null(xir_scales_item(ctx, plain, 4));
    assert_null(xir_scales_item(ctx, NULL, 0));
}

/* A double that its text would round is refused: it would not come back. */
static void a_single_scale_is_a_float32(void **state) {
    (void)state;
    xir_scale s = xir_scale_init();
    s.origin_scale = 0.1;
    assert_ptr_equal(xir_scale_make(ctx, &s, why), xir_scale_from(ctx, 0.1));
    assert_null(xir_object_make_exact(ctx, xir_scale_class(), &s, why));
    check_finding(XIR_E_INVALID, "is not a float32: expected one");
    xir_exp_scale e = xir_exp_scale_init();
    e.origin_scale = 0.27;
    assert_null(xir_object_make_exact(ctx, xir_exp_scale_class(), &e, NULL));
    e.origin_scale = 0.25;
    assert_ptr_equal(xir_object_make_exact(ctx, xir_exp_scale_class(), &e, why), xir_exp_scale_from(ctx, 0, 0, 0.25));
}

/* Networks before 3.30 hold doubles. */
static void an_exact_object_keeps_its_doubles(void **state) {
    (void)state;
    static const double most = 4.8;
    xir_calibrated_type c = xir_calibrated_type_init();
    c.max = (xir_reals){ &most, 1 };
    c.storage_dtype = xir_type_sint(ctx, 8);
    c.expressed_dtype = xir_type_float(ctx, XIR_FLOAT_FP32);
    const xir_calibrated_type *exact = (const void *)xir_object_make_exact(ctx, xir_calibrated_type_class(), &c, why);
    assert_true(exact->max.data[0] == 4.8);
    assert_true(xir_calibrated_type_make(ctx, &c, why)->max.data[0] == (double)4.8f);
    c.storage_dtype = NULL;   /* the checks are the same */
    assert_null(xir_object_make_exact(ctx, xir_calibrated_type_class(), &c, why));
}

static void good_ones_come_back(void **state) {
    (void)state;
    CHECK_ROUND("@scales([axis=-1])");
    CHECK_ROUND("@exp_scales([axis=-1])");
    CHECK_ROUND("@norm_ratios([axis=-1])");
    CHECK_ROUND("@scales([axis=-1]1)");
    CHECK_ROUND("@scales([axis=-2]384*1)");
    CHECK_ROUND("@scales([axis=4]2*0.5,0.25,2*0.5)");
    CHECK_ROUND("@scales([axis=2]3.0874726e-05,0.00013890066)");
    CHECK_ROUND("@scales([axis=0]-1,-0,0,1e-45,3.4028235e+38,1e+16,123456790)");
    CHECK_ROUND("@scales([axis=-9223372036854775808]1)");
    CHECK_ROUND("@scales([axis=9223372036854775807]1)");
    CHECK_ROUND("@scales([axis=-1]999999999999*1)");
    CHECK_ROUND("@scales([axis=-1]9223372036854775807*1)");
    CHECK_ROUND("@scales([axis=-1]9223372036854775806*1,2)");
    CHECK_ROUND("@scales([axis=-1]inf,-inf,2*nan)");
    CHECK_ROUND("@norm_ratios([axis=-1]1.1,2.2,3.3)");
    CHECK_ROUND("@norm_ratios([axis=-1]32*0.043307085,64*1)");
    CHECK_ROUND("@exp_scales([axis=-1]3/3/0.377,4/4/0.27)");
    CHECK_ROUND("@exp_scales([axis=4]2*3/3/0.375,3/3/0.377,30*1/8/1)");
    CHECK_ROUND("@exp_scales([axis=-1]-9223372036854775808/-9223372036854775808/-1,9223372036854775807/9223372036854775807/nan)");
    CHECK_ROUND("@exp_scales([axis=-1]64*1/0/1)");
    CHECK_ROUND("@scale(-0)");
    CHECK_ROUND("@scale(inf)");
    CHECK_ROUND("@exp_scale(<-9223372036854775808, 9223372036854775807>, nan)");
    /* other spellings of the same */
    CHECK_READ("@scales([axis=-1]1,1)", "@scales([axis=-1]2*1)");
    CHECK_READ("@scales([axis=-1]1*1)", "@scales([axis=-1]1)");
    CHECK_READ("@scales([axis=-1]2*1,3*1,1)", "@scales([axis=-1]6*1)");
    CHECK_READ("@scales([axis=-1]1.0,1e0,10e-1,0.50)", "@scales([axis=-1]3*1,0.5)");
    CHECK_READ("@scales([axis=-1]0.1,0.10000000149011612)", "@scales([axis=-1]2*0.1)");
    CHECK_READ("@scales([axis=-1]0,-0)", "@scales([axis=-1]0,-0)");   /* the bits differ */
    CHECK_READ("@exp_scales([axis=-1]3/3/0.375,3/3/0.375,3/3/0.376)",
               "@exp_scales([axis=-1]2*3/3/0.375,3/3/0.376)");
    CHECK_READ("@exp_scales([axis=-1]1/0/1,2/1/1,4/2/1)", "@exp_scales([axis=-1]1/0/1,2/1/1,4/2/1)");
}

static void bad_scales_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "@scales",                                     XIR_E_SYNTAX,  7 },
        { "@scales(",                                    XIR_E_SYNTAX,  8 },
        { "@scales()",                                   XIR_E_SYNTAX,  8 },
        { "@scales([axis=-1]",                           XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]1",                          XIR_E_SYNTAX, 18 },
        { "@scales([axis=]1)",                           XIR_E_SYNTAX, 14 },
        { "@scales([axis=-]1)",                          XIR_E_SYNTAX, 15 },
        { "@scales([axis=+1]1)",                         XIR_E_SYNTAX, 14 },
        { "@scales([axis=01]1)",                         XIR_E_SYNTAX, 14 },
        { "@scales([axis=-01]1)",                        XIR_E_SYNTAX, 15 },
        { "@scales([axis=-0]1)",                         XIR_E_SYNTAX, 14 },
        { "@scales([axis=1.0]1)",                        XIR_E_SYNTAX, 15 },
        { "@scales([axis=9223372036854775808]1)",        XIR_E_BOUNDS, 14 },
        { "@scales([axis=-9223372036854775809]1)",       XIR_E_BOUNDS, 14 },
        { "@scales([axis=-1)",                           XIR_E_SYNTAX, 16 },
        { "@scales([axes=-1]1)",                         XIR_E_SYNTAX, 11 },
        { "@scales([ axis=-1]1)",                        XIR_E_SYNTAX,  9 },
        { "@scales(axis=-1]1)",                          XIR_E_SYNTAX,  8 },
        { "@scales([axis=-1]1,)",                        XIR_E_SYNTAX, 19 },
        { "@scales([axis=-1],1)",                        XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]1,,1)",                      XIR_E_SYNTAX, 19 },
        { "@scales([axis=-1]1, 1)",                      XIR_E_SYNTAX, 19 },
        { "@scales([axis=-1] 1)",                        XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]1 )",                        XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1]1;2)",                       XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1]0*1)",                       XIR_E_BOUNDS, 17 },
        { "@scales([axis=-1]02*1)",                      XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]-2*1)",                      XIR_E_SYNTAX, 19 },
        { "@scales([axis=-1]2.0*1)",                     XIR_E_SYNTAX, 20 },
        { "@scales([axis=-1]*1)",                        XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]2*)",                        XIR_E_SYNTAX, 19 },
        { "@scales([axis=-1]2*3*1)",                     XIR_E_SYNTAX, 20 },
        { "@scales([axis=-1]9223372036854775808*1)",     XIR_E_BOUNDS, 17 },
        { "@scales([axis=-1]99999999999999999999999*1)", XIR_E_BOUNDS, 17 },
        { "@scales([axis=-1]9223372036854775807*1,2)",   XIR_E_LIMIT,  39 },
        { "@scales([axis=-1]9223372036854775807*1,1)",   XIR_E_LIMIT,  39 },
        { "@scales([axis=-1]5000000000000000000*1,5000000000000000000*2)", XIR_E_LIMIT, 39 },
        { "@scales([axis=-1]01)",                        XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1].5)",                        XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]+1)",                        XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]1.)",                        XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1]1e)",                        XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1]0x1)",                       XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1]1e39)",                      XIR_E_BOUNDS, 17 },
        { "@scales([axis=-1]-3.4028236e+38)",            XIR_E_BOUNDS, 17 },
        { "@scales([axis=-1]1e999999999999999999999)",   XIR_E_BOUNDS, 17 },
        { "@scales([axis=-1]Inf)",                       XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]in)",                        XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]infinity)",                  XIR_E_SYNTAX, 20 },
        { "@scales([axis=-1]-nan)",                      XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]-)",                         XIR_E_SYNTAX, 17 },
        { "@scales([axis=-1]1/0/1)",                     XIR_E_SYNTAX, 18 },
        { "@scales([axis=-1]1))",                        XIR_E_SYNTAX, 19 },
        { "@scales([axis=-1]1) ",                        XIR_E_SYNTAX, 19 },
        { "@scale([axis=-1]1)",                          XIR_E_SYNTAX,  7 },
    };
    CHECK_BAD(rows);
}

static void bad_exp_scales_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "@exp_scales",                                    XIR_E_SYNTAX, 11 },
        { "@exp_scales(",                                   XIR_E_SYNTAX, 12 },
        { "@exp_scales([axis=-1]1)",                        XIR_E_SYNTAX, 22 },
        { "@exp_scales([axis=-1]1/)",                       XIR_E_SYNTAX, 23 },
        { "@exp_scales([axis=-1]1/0)",                      XIR_E_SYNTAX, 24 },
        { "@exp_scales([axis=-1]1/0/)",                     XIR_E_SYNTAX, 25 },
        { "@exp_scales([axis=-1]1/0/1/)",                   XIR_E_SYNTAX, 26 },
        { "@exp_scales([axis=-1]1/0/1/1)",                  XIR_E_SYNTAX, 26 },
        { "@exp_scales([axis=-1]/0/1)",                     XIR_E_SYNTAX, 21 },
        { "@exp_scales([axis=-1]1//1)",                     XIR_E_SYNTAX, 23 },
        { "@exp_scales([axis=-1]1.0/0/1)",                  XIR_E_SYNTAX, 22 },
        { "@exp_scales([axis=-1]1/0.5/1)",                  XIR_E_SYNTAX, 24 },
        { "@exp_scales([axis=-1]1e1/0/1)",                  XIR_E_SYNTAX, 22 },
        { "@exp_scales([axis=-1]01/0/1)",                   XIR_E_SYNTAX, 21 },
        { "@exp_scales([axis=-1]-0/0/1)",                   XIR_E_SYNTAX, 21 },
        { "@exp_scales([axis=-1]1/00/1)",                   XIR_E_SYNTAX, 23 },
        { "@exp_scales([axis=-1]9223372036854775808/0/1)",  XIR_E_BOUNDS, 21 },
        { "@exp_scales([axis=-1]1/9223372036854775808/1)",  XIR_E_BOUNDS, 23 },
        { "@exp_scales([axis=-1]1/-9223372036854775809/1)", XIR_E_BOUNDS, 23 },
        { "@exp_scales([axis=-1]1/0/1e39)",                 XIR_E_BOUNDS, 25 },
        { "@exp_scales([axis=-1]1/0/x)",                    XIR_E_SYNTAX, 25 },
        { "@exp_scales([axis=-1]1 /0/1)",                   XIR_E_SYNTAX, 22 },
        { "@exp_scales([axis=-1]1/0/1,)",                   XIR_E_SYNTAX, 27 },
        { "@exp_scales([axis=-1]1/0/1, 1/0/1)",             XIR_E_SYNTAX, 27 },
        { "@exp_scales([axis=-1]0*1/0/1)",                  XIR_E_BOUNDS, 21 },
        { "@exp_scales([axis=-1]2*2*1/0/1)",                XIR_E_SYNTAX, 24 },
        { "@exp_scales([axis=-1]9223372036854775807*1/0/1,1/0/1)", XIR_E_LIMIT, 47 },
        { "@exp_scales([axis=-1]<1, 0>)",                   XIR_E_SYNTAX, 21 },
        { "@exp_scale",                                     XIR_E_SYNTAX, 10 },
        { "@exp_scale(3, 4, 0.5)",                          XIR_E_SYNTAX, 11 },
        { "@exp_scale(<3,4>, 0.5)",                         XIR_E_SYNTAX, 14 },
        { "@exp_scale(<3, 4>, 1e39)",                       XIR_E_BOUNDS, 19 },
        { "@exp_scale(<3, 4>, 0.5) ",                       XIR_E_SYNTAX, 23 },
        { "@exp_scale(<9223372036854775808, 4>, 0.5)",      XIR_E_BOUNDS, 12 },
    };
    CHECK_BAD(rows);
}

static void bad_ratios_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "@norm_ratios",                                XIR_E_SYNTAX, 12 },
        { "@norm_ratios(",                               XIR_E_SYNTAX, 13 },
        { "@norm_ratios)",                               XIR_E_UNKNOWN, 1 },
        { "@norm_ratios()",                              XIR_E_SYNTAX, 13 },
        { "@norm_ratios([])",                            XIR_E_SYNTAX, 14 },
        { "@norm_ratios([axis])",                        XIR_E_SYNTAX, 18 },
        { "@norm_ratios([axis=a])",                      XIR_E_SYNTAX, 19 },
        { "@norm_ratios([axis=-1]",                      XIR_E_SYNTAX, 22 },
        { "@norm_ratios([axis=-1]1.1",                   XIR_E_SYNTAX, 25 },
        { "@norm_ratios([axis=-1]1.1,",                  XIR_E_SYNTAX, 26 },
        { "@norm_ratios([axis=-1]1.1,2.2",               XIR_E_SYNTAX, 29 },
        { "@norm_ratios([axis=-1]1.1 2.2)",              XIR_E_SYNTAX, 25 },
        { "@norm_ratios([axis=-1]1.1,a)",                XIR_E_SYNTAX, 26 },
        { "@norm_ratios([axis=-1]1.1])",                 XIR_E_SYNTAX, 25 },
        { "@norm_ratios([axis=-1][1.1])",                XIR_E_SYNTAX, 22 },
        { "@norm_ratios([axis=-1]1,1;)",                 XIR_E_SYNTAX, 25 },
        { "@norm_ratios([axis=-1]1_000)",                XIR_E_SYNTAX, 23 },
        { "@norm_ratios([axis=-1]3*)",                   XIR_E_SYNTAX, 24 },
        { "@norm_ratios([axis=-1]3*,1)",                 XIR_E_SYNTAX, 24 },
        { "@norm_ratios([axis=-1]*3)",                   XIR_E_SYNTAX, 22 },
        { "@norm_ratios([axis=-1]0*3)",                  XIR_E_BOUNDS, 22 },
        { "@norm_ratios([axis=-1]18446744073709551616*3)", XIR_E_BOUNDS, 22 },
        { "@norm_ratios([axis=-1]4e38)",                 XIR_E_BOUNDS, 22 },
        { "@norm_ratios([axis=-1]1)(",                   XIR_E_SYNTAX, 24 },
        { "@norm_ratios([axis=-1]1/2/3)",                XIR_E_SYNTAX, 23 },
        { "@norm_ratio([axis=-1]1)",                     XIR_E_UNKNOWN, 1 },
    };
    CHECK_BAD(rows);
}

static void damaged_ones(void **state) {
    (void)state;
    check_damaged("@scales([axis=-1])");
    check_damaged("@scales([axis=-2]384*1,0.5,-1e-05)");
    check_damaged("@scales([axis=-1]9223372036854775806*1,inf)");
    check_damaged("@norm_ratios([axis=4]2*0.00013890066,nan)");
    check_damaged("@scale(0.00013890066)");
    check_damaged("@exp_scale(<-3, 4>, 1e-05)");
    check_damaged("@exp_scales([axis=-1]32*3/3/0.377,-4/-4/0.27)");
}

/* ---- arrays ------------------------------------------------------------------------------------------------- */

static void arrays(void **state) {
    (void)state;
    static const double scale[] = { 0.5, 0.5, 0.1, 0.5 };
    const xir_scales *s = xir_scales_from(ctx, scale, 4, 1);
    CHECK_SPELLED(s, "@scales([axis=1]2*0.5,0.1,0.5)");
    assert_ptr_equal(read_text("@scales([axis=1]2*0.5,0.1,0.5)"), s);
    assert_int_equal(xir_scales_count(s), 4);
    assert_int_equal(xir_scales_axis(s), 1);
    assert_false(xir_scales_is_exp(s));
    assert_true(xir_scales_at(s, 1) == 0.5 && xir_scales_at(s, 2) == (double)0.1f &&
                xir_scales_at(s, 3) == 0.5);
    assert_true(xir_scales_at(s, 4) == 0 && xir_scales_at(s, SIZE_MAX) == 0);
    int64_t m, exp;
    double origin;
    assert_false(xir_scales_exp_at(s, 0, &m, &exp, &origin));
    CHECK_SPELLED(xir_scales_from(ctx, NULL, 0, -1), "@scales([axis=-1])");
    assert_int_equal(xir_scales_count(xir_scales_from(ctx, NULL, 0, -1)), 0);

    const xir_scales *e = xir_exp_scales_from(ctx, m_2, exp_2, origin_2, 2, -1);
    assert_true(xir_scales_is_exp(e));
    assert_true(xir_scales_exp_at(e, 1, &m, &exp, &origin));
    assert_true(m == 4 && exp == 4 && origin == (double)0.27f);
    assert_false(xir_scales_exp_at(e, 2, &m, &exp, &origin));
    static const int64_t extreme_m[]   = { 1,     1,    INT64_MIN, 3 };
    static const int64_t extreme_exp[] = { -1023, 1074, -10,       INT64_MAX };
    static const double ones[] = { 1, 1, 1, 1 };
    e = xir_exp_scales_from(ctx, extreme_m, extreme_exp, ones, 4, -1);
    assert_true(xir_scales_at(e, 0) == 0x1p1023);
    assert_true(xir_scales_at(e, 1) == 0x1p-1074);
    assert_true(xir_scales_at(e, 2) == -0x1p73);
    assert_true(xir_scales_at(e, 3) == 0);
    const int64_t far = INT64_MIN;
    assert_true(isinf(xir_scales_at(xir_exp_scales_from(ctx, m_2, &far, ones, 1, 0), 0)));

    const xir_norm_ratios *r = xir_norm_ratios_from(ctx, ratios_3, 3, -2);
    assert_int_equal(xir_norm_ratios_count(r), 3);
    assert_int_equal(xir_norm_ratios_axis(r), -2);
    assert_true(xir_norm_ratios_at(r, 2) == (double)3.3f && xir_norm_ratios_at(r, 3) == 0);

    const xir_scales *many = read_text("@scales([axis=-1]999999999999*1,2,9000000000000000000*3)");
    assert_int_equal(xir_scales_count(many), 9000001000000000000u);
    assert_true(xir_scales_at(many, 999999999998) == 1 && xir_scales_at(many, 999999999999) == 2);
    assert_true(xir_scales_at(many, 1000000000000) == 3 && xir_scales_at(many, 9000001000000000000u) == 0);

    const double wide[] = { 1e300, -1e300, NAN };
    CHECK_SPELLED(xir_scales_from(ctx, wide, 3, -1), "@scales([axis=-1]inf,-inf,nan)");
    assert_ptr_equal(xir_scales_from(ctx, (const double[]){ 1.1, 1.1f }, 2, 0),
                     xir_scales_from(ctx, (const double[]){ 1.1f, 1.1 }, 2, 0));
    assert_ptr_not_equal((const void *)s, (const void *)xir_norm_ratios_from(ctx, scale, 4, 1));

    assert_int_equal(xir_scales_count(NULL), 0);
    assert_int_equal(xir_norm_ratios_count(NULL), 0);
    assert_false(xir_scales_is_exp(NULL));
    assert_true(xir_scales_at(NULL, 0) == 0 && xir_norm_ratios_at(NULL, 0) == 0);
}

static void new_arrays(void **state) {
    (void)state;
    const xir_scales *a = read_text("@scales([axis=2]2*1,3)"), *b = read_text("@scales([axis=2]3,4)");
    CHECK_SPELLED(xir_scales_concat(ctx, a, b, why), "@scales([axis=2]2*1,2*3,4)");
    CHECK_SPELLED(xir_scales_repeat(ctx, a, 2, why), "@scales([axis=2]2*1,3,2*1,3)");
    CHECK_SPELLED(xir_scales_repeat(ctx, a, 0, why), "@scales([axis=2])");
    CHECK_SPELLED(xir_scales_repeat(ctx, read_text("@scales([axis=2]2*1)"), 500000000000, why),
                  "@scales([axis=2]1000000000000*1)");
    CHECK_SPELLED(xir_scales_repeat(ctx, read_text("@scales([axis=2])"), SIZE_MAX, why), "@scales([axis=2])");
    CHECK_SPELLED(xir_scales_slice(ctx, a, 1, 3, why), "@scales([axis=2]1,3)");
    CHECK_SPELLED(xir_scales_slice(ctx, a, 3, 3, why), "@scales([axis=2])");
    assert_ptr_equal(xir_scales_slice(ctx, a, 0, 3, why), a);

    assert_null(xir_scales_slice(ctx, a, 2, 4, why));
    check_finding(XIR_E_BOUNDS, "expected a part of 3 items, found [2, 4)");
    assert_null(xir_scales_slice(ctx, a, 2, 1, NULL));
    assert_null(xir_scales_concat(ctx, a, read_text("@scales([axis=-1]3)"), why));
    check_finding(XIR_E_INVALID, "expected an array along axis 2, found one along -1");
    assert_null(xir_scales_concat(ctx, a, read_text("@exp_scales([axis=2]3/3/3)"), why));
    check_finding(XIR_E_TYPE, "expected plain scales, found exponent ones");
    assert_null(xir_scales_concat(ctx, a, NULL, why));
    check_finding(XIR_E_MISSING, "expected an array of scales, found none");
    assert_null(xir_scales_repeat(ctx, a, SIZE_MAX, why));
    check_finding(XIR_E_LIMIT, "found more");
    assert_null(xir_scales_repeat(ctx, a, INT64_MAX / 3 + 1, why));
    check_finding(XIR_E_LIMIT, "found more");
    const xir_scales *full = read_text("@scales([axis=2]9223372036854775807*1)");
    assert_null(xir_scales_concat(ctx, full, a, why));
    check_finding(XIR_E_LIMIT, "found more");

    const xir_scales *e = read_text("@exp_scales([axis=-1]3/3/0.377,2*4/4/0.27)");
    CHECK_SPELLED(xir_scales_concat(ctx, e, e, why),
                  "@exp_scales([axis=-1]3/3/0.377,2*4/4/0.27,3/3/0.377,2*4/4/0.27)");
    CHECK_SPELLED(xir_scales_slice(ctx, e, 2, 3, why), "@exp_scales([axis=-1]4/4/0.27)");
    const xir_norm_ratios *r = read_text("@norm_ratios([axis=-1]1.1,2.2)");
    CHECK_SPELLED(xir_norm_ratios_concat(ctx, r, r, why), "@norm_ratios([axis=-1]1.1,2.2,1.1,2.2)");
    CHECK_SPELLED(xir_norm_ratios_repeat(ctx, r, 2, why), "@norm_ratios([axis=-1]1.1,2.2,1.1,2.2)");
    CHECK_SPELLED(xir_norm_ratios_slice(ctx, r, 1, 2, why), "@norm_ratios([axis=-1]2.2)");
    assert_null(xir_norm_ratios_slice(ctx, NULL, 0, 0, why));
    check_finding(XIR_E_MISSING, "expected an array of ratios, found none");
    assert_null(xir_norm_ratios_concat(ctx, r, NULL, NULL));
    assert_null(xir_norm_ratios_repeat(ctx, NULL, 1, NULL));
}

static void made_by_hand(void **state) {
    (void)state;
    xir_run runs[2] = { { .end = 4, .value = 1 }, { .end = 9, .value = 2 } };
    xir_scales s = xir_scales_init();
    assert_int_equal(s.axis, -1);
    s.items = (xir_runs){ runs, 2 };
    assert_ptr_equal(xir_scales_make(ctx, &s, why), read_text("@scales([axis=-1]4*1,5*2)"));
    static const xir_run wrong[] = {
        { .end = 9, .value = 1 }, { .end = 4, .value = 2 }, { .end = -1, .value = 2 }, { .end = 9, .m = 1, .value = 2 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        runs[1] = wrong[i];
        assert_null(xir_scales_make(ctx, &s, why));
        check_finding(XIR_E_INVALID, "found others");
    }
    runs[1] = (xir_run){ .end = 9, .value = 2 };
    runs[0].exp = 1;
    assert_null(xir_scales_make(ctx, &s, why));
    check_finding(XIR_E_INVALID, "found others");
    runs[0].exp = 0;
    runs[1] = wrong[3];
    xir_exp_scales e = xir_exp_scales_init();
    e.items = (xir_runs){ runs, 2 };
    assert_ptr_equal(xir_exp_scales_make(ctx, &e, why), read_text("@exp_scales([axis=-1]4*0/0/1,5*1/0/2)"));
    runs[0].end = 0;
    xir_norm_ratios r = xir_norm_ratios_init();
    r.items = (xir_runs){ runs, 2 };
    assert_null(xir_norm_ratios_make(ctx, &r, why));
    check_finding(XIR_E_INVALID, "found others");
}

/* ---- chance ------------------------------------------------------------------------------------------------- */

static float some_float(void) {
    static const float usual[] = { 1, 0.5f, 0, -0.0f, 1e-5f, 3.0874726e-05f, 16777216, 1e16f };
    if (chance(2)) return usual[chance(sizeof usual / sizeof *usual)];
    uint32_t bits = (uint32_t)chance((uint64_t)1 << 32);
    float f;
    memcpy(&f, &bits, sizeof f);
    return isnan(f) ? NAN : f;
}

static void random_arrays(void **state) {
    (void)state;
    enum { ITEMS = 40 };
    for (int turn = 0; turn < 5000; turn++) {
        double value[ITEMS];
        int64_t m[ITEMS], exp[ITEMS];
        size_t n = chance(ITEMS);
        for (size_t i = 0; i < n; i++) {
            bool again = i && chance(2);
            value[i] = again ? value[i - 1] : (double)some_float();
            m[i] = again && chance(4) ? m[i - 1] : some_number();
            exp[i] = again && chance(4) ? exp[i - 1] : some_number();
        }
        int64_t axis = some_number();
        const xir_scales *e = xir_exp_scales_from(ctx, m, exp, value, n, axis);
        const xir_scales *s = xir_scales_from(ctx, value, n, axis);
        const xir_norm_ratios *r = xir_norm_ratios_from(ctx, value, n, axis);
        assert_ptr_equal(read_text(spelled(e)), e);
        assert_ptr_equal(read_text(spelled(s)), s);
        assert_ptr_equal(read_text(spelled(r)), r);
        assert_true(runs_canonical(e->items) && runs_canonical(s->items) && runs_canonical(r->items));
        assert_int_equal(xir_scales_count(e), n);
        assert_int_equal(xir_scales_axis(s), axis);
        for (size_t i = 0; i < n; i++) {
            int64_t m_i, exp_i;
            double origin, plain = xir_scales_at(s, i), ratio = xir_norm_ratios_at(r, i);
            assert_true(xir_scales_exp_at(e, i, &m_i, &exp_i, &origin));
            assert_true(m_i == m[i] && exp_i == exp[i]);
            assert_memory_equal(&origin, &value[i], sizeof origin);
            assert_memory_equal(&plain, &value[i], sizeof plain);
            assert_memory_equal(&ratio, &value[i], sizeof ratio);
        }
        /* parts and the whole */
        size_t cut = n ? chance(n + 1) : 0;
        const xir_scales *head = xir_scales_slice(ctx, e, 0, cut, why);
        const xir_scales *tail = xir_scales_slice(ctx, e, cut, n, why);
        assert_ptr_equal(xir_scales_concat(ctx, head, tail, why), e);
        assert_ptr_equal(xir_scales_repeat(ctx, s, 3, why),
                         xir_scales_concat(ctx, s, xir_scales_concat(ctx, s, s, why), why));
    }
}

static void random_counts(void **state) {
    (void)state;
    for (int turn = 0; turn < 3000; turn++) {
        run_list l;
        run_list_init(&l, &memory_default);
        int64_t total = 0;
        for (size_t i = chance(12); i; i--) {
            int64_t count = some_number() & INT64_MAX, sum;
            bool fits = add_i64(total, count, &sum);
            assert_int_equal(run_list_add(&l, count, 0, 0, some_float()), fits ? XIR_OK : XIR_E_LIMIT);
            if (fits) total = sum;
            assert_int_equal(runs_total(run_list_runs(&l)), total);
        }
        const xir_scales *s = scales_make(context_pool(ctx), false, run_list_runs(&l), -1);
        run_list_free(&l);
        assert_ptr_equal(read_text(spelled(s)), s);
        assert_int_equal(xir_scales_count(s), total);
    }
}

/* ---- types -------------------------------------------------------------------------------------------------- */

static void types(void **state) {
    (void)state;
    const xir_scales *s = read_text("@exp_scales([axis=-1]1/0/1)");
    const xir_norm_ratios *r = read_text("@norm_ratios([axis=-1]1.1)");
    const int64_t zero[] = { 3, -4 };
    const xir_type *q = xir_type_quantized(ctx, s, zero, 2, xir_type_sint(ctx, 8), NULL);
    assert_int_equal(xir_type_kind_of(q), XIR_TYPE_QUANTIZED);
    assert_true(xir_type_is_quantized(q) && xir_type_is_scalar(q));
    assert_ptr_equal(xir_type_scale(q), s);
    assert_int_equal(xir_type_zero_points(q).size, 2);
    assert_int_equal(xir_type_zero_points(q).data[1], -4);
    assert_null(xir_type_norm_ratios(q));
    assert_int_equal(xir_type_storage_bits(q), 8);
    CHECK_SPELLED(xir_type_expressed(q), "@fp(32)");

    const xir_type *n = xir_type_normalized(ctx, r, xir_type_sint(ctx, 8), xir_type_float(ctx, XIR_FLOAT_FP16));
    assert_null(xir_type_scale(n));
    assert_int_equal(xir_type_zero_points(n).size, 0);
    const xir_type *nq = xir_type_normalized_quantized(ctx, n, s, zero, 2);
    CHECK_SPELLED(xir_type_expressed(nq), "@fp(16)");
    assert_ptr_equal(xir_type_norm_ratios(nq), r);

    assert_null(xir_type_quantized(ctx, NULL, NULL, 0, xir_type_sint(ctx, 8), NULL));
    assert_null(xir_type_quantized(ctx, s, NULL, 0, NULL, NULL));
    assert_null(xir_type_quantized(ctx, s, NULL, 0, XIR_TENSOR(ctx, q, "N", 2), NULL));
    assert_null(xir_type_quantized(ctx, s, NULL, 0, xir_type_sint(ctx, 8), XIR_TENSOR(ctx, q, "N", 2)));
    assert_null(xir_type_normalized(ctx, NULL, xir_type_sint(ctx, 8), NULL));
    assert_null(xir_type_normalized_quantized(ctx, q, s, NULL, 0));
    assert_null(xir_type_normalized_quantized(ctx, NULL, s, NULL, 0));
    assert_null(xir_type_normalized_quantized(ctx, n, NULL, NULL, 0));
    assert_null(xir_type_calibrated(ctx, 0, 1, 1, NULL, NULL));

    const xir_type *plain[] = {
        NULL, xir_type_sint(ctx, 8), xir_type_bool(ctx), XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "N", 2),
    };
    for (size_t i = 0; i < 4; i++) {
        assert_null(xir_type_scale(plain[i]));
        assert_null(xir_type_norm_ratios(plain[i]));
        assert_int_equal(xir_type_zero_points(plain[i]).size, 0);
        assert_false(xir_type_is_quantized(plain[i]));
    }
}

static void variants(void **state) {
    (void)state;
    const xir_scales *s = read_text("@exp_scales([axis=-1]1/0/1)"), *t = read_text("@scales([axis=-1]0.5)");
    const xir_norm_ratios *r = read_text("@norm_ratios([axis=-1]1.1)");
    const xir_norm_ratios *u = read_text("@norm_ratios([axis=-1]2)");
    const int64_t zero[] = { 3 };
    const xir_type *q = xir_type_quantized(ctx, s, zero, 1, xir_type_sint(ctx, 8), NULL);
    const xir_type *n = xir_type_normalized(ctx, r, xir_type_sint(ctx, 8), NULL);
    const xir_type *nq = xir_type_normalized_quantized(ctx, n, s, zero, 1);
    const xir_type *c = xir_type_calibrated(ctx, 0, 1, 1, xir_type_sint(ctx, 8), NULL);

    assert_ptr_equal(xir_type_with_scale(ctx, q, t, why),
                     xir_type_quantized(ctx, t, zero, 1, xir_type_sint(ctx, 8), NULL));
    assert_ptr_equal(xir_type_with_scale(ctx, q, s, why), q);
    assert_ptr_equal(xir_type_with_scale(ctx, nq, t, why), xir_type_normalized_quantized(ctx, n, t, zero, 1));
    assert_ptr_equal(xir_type_with_norm_ratios(ctx, n, u, why),
                     xir_type_normalized(ctx, u, xir_type_sint(ctx, 8), NULL));
    assert_ptr_equal(xir_type_norm_ratios(xir_type_with_norm_ratios(ctx, nq, u, why)), u);
    assert_ptr_equal(xir_type_with_zero_points(ctx, q, NULL, 0, why),
                     xir_type_quantized(ctx, s, NULL, 0, xir_type_sint(ctx, 8), NULL));
    assert_ptr_equal(xir_type_with_storage(ctx, q, xir_type_sint(ctx, 4), why),
                     xir_type_quantized(ctx, s, zero, 1, xir_type_sint(ctx, 4), NULL));
    assert_ptr_equal(xir_type_with_storage(ctx, c, xir_type_sint(ctx, 4), why),
                     xir_type_calibrated(ctx, 0, 1, 1, xir_type_sint(ctx, 4), NULL));

    const xir_type *tensor = XIR_TENSOR(ctx, q, "NHWC", 1, 2, 3, 4);
    const xir_type *wide = xir_type_with_storage(ctx, tensor, xir_type_sint(ctx, 16), why);
    assert_int_equal(xir_type_rank(wide), 4);
    assert_int_equal(xir_type_storage_bits(wide), 16);
    assert_ptr_equal(xir_type_layout(wide), xir_type_layout(tensor));
    assert_ptr_equal(xir_type_scale(wide), s);

    assert_null(xir_type_with_scale(ctx, n, t, why));
    check_finding(XIR_E_TYPE, "expected a type with a scale, found one without");
    assert_null(xir_type_with_scale(ctx, XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "N", 2), t, why));
    check_finding(XIR_E_TYPE, "expected a type with a scale, found one without");
    assert_null(xir_type_with_norm_ratios(ctx, q, u, why));
    check_finding(XIR_E_TYPE, "expected a type with ratios, found one without");
    assert_null(xir_type_with_zero_points(ctx, c, zero, 1, why));
    check_finding(XIR_E_TYPE, "expected a type with zero points, found one without");
    assert_null(xir_type_with_storage(ctx, NULL, xir_type_sint(ctx, 8), why));
    check_finding(XIR_E_TYPE, "expected a type with a storage type, found none");
    assert_null(xir_type_with_storage(ctx, q, tensor, why));
    check_finding(XIR_E_TYPE, "expected a scalar type as storage, found a tensor");
    assert_null(xir_type_with_storage(ctx, q, NULL, NULL));
    assert_null(xir_type_with_scale(ctx, q, NULL, why));
    check_finding(XIR_E_MISSING, "expected a scale, found none");
    assert_null(xir_type_with_norm_ratios(ctx, n, NULL, NULL));
}

/* A file may nest quantised types as deeply as its reader allows. */
static void nested_types(void **state) {
    (void)state;
    const xir_scales *s = read_text("@scales([axis=-1]1)");
    const xir_type *t = xir_type_sint(ctx, 5);
    for (int i = 0; i < 1000; i++) {
        const xir_type *deeper = xir_type_quantized(ctx, s, NULL, 0, t, NULL);
        assert_ptr_equal(xir_type_storage(deeper), t);
        t = deeper;
    }
    assert_int_equal(xir_type_storage_bits(t), 5);
    assert_int_equal(xir_type_storage_bits(XIR_TENSOR(ctx, t, NULL, 8)), 5);
}

/* ---- scalars ------------------------------------------------------------------------------------------------ */

static void scalars(void **state) {
    (void)state;
    assert_true(xir_scalar_as_real(xir_scalar_real(ctx, 3.14)) == (double)3.14f);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, -3.99)), -3);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, 1e30)), INT64_MAX);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, -1e30)), INT64_MIN);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, 0x1p63)), INT64_MAX);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, -0x1p63)), INT64_MIN);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, (double)NAN)), 0);
    assert_int_equal(xir_scalar_as_int(xir_scalar_real(ctx, (double)INFINITY)), INT64_MAX);
    assert_int_equal(xir_scalar_as_int(xir_scalar_int(ctx, INT64_MIN)), INT64_MIN);
    assert_true(xir_scalar_as_real(xir_scalar_int(ctx, -7)) == -7);
    assert_int_equal(xir_scalar_as_int(xir_scalar_bool(ctx, true)), 1);
    assert_true(xir_scalar_as_real(xir_scalar_bool(ctx, false)) == 0);
    assert_ptr_equal(xir_scalar_int(ctx, 5), xir_scalar_int(ctx, 5));
    assert_ptr_not_equal(xir_scalar_int(ctx, 1), xir_scalar_real(ctx, 1));
    assert_ptr_not_equal(xir_scalar_real(ctx, 0), xir_scalar_real(ctx, -0.0));
    assert_int_equal(xir_scalar_as_int(NULL), 0);
    assert_true(xir_scalar_as_real(NULL) == 0);
}

static bool work(xir_context *with) {
    xir_diags *findings = xir_diags_new(with);
    form_error e = { 0 };
    object_pool *pool = context_pool(with);
    const double scale[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    const xir_scales *s = xir_scales_from(with, scale, 10, -1);
    const xir_norm_ratios *r = xir_norm_ratios_from(with, scale, 10, -1);
    bool done = findings && s && r;
    done &= form_parse(pool, XIR_STR("@exp_scales([axis=-1]1/2/3,2/3/4,3/4/5,4/5/6,5/6/7)"), &e) != NULL;
    assert_true(e.status == XIR_OK || e.status == XIR_E_MEMORY);
    if (s) {
        done &= xir_scales_concat(with, s, s, findings) != NULL;
        done &= xir_scales_repeat(with, s, 5, findings) != NULL;
        done &= xir_scales_slice(with, s, 2, 9, findings) != NULL;
    }
    const xir_type *storage = xir_type_sint(with, 8);
    const xir_type *n = r && storage ? xir_type_normalized(with, r, storage, NULL) : NULL;
    const xir_type *nq = n && s ? xir_type_normalized_quantized(with, n, s, (const int64_t[]){ 1 }, 1) : NULL;
    const int64_t dims[] = { 3, 4 };
    const xir_type *tensor = nq ? xir_type_tensor(with, nq, NULL, dims, 2) : NULL;
    done &= tensor && xir_type_with_zero_points(with, tensor, NULL, 0, findings);
    done &= storage && xir_type_calibrated(with, 0, 1, 1, storage, NULL);
    done &= xir_scale_from(with, 0.5) && xir_exp_scale_from(with, 1, 1, 0.5) && s && xir_scales_item(with, s, 0);
    done &= xir_scalar_real(with, 0.5) && xir_scalar_int(with, 77) && xir_scalar_bool(with, true);
    xir_diags_free(findings);
    return done;
}

static void without_memory(void **state) {
    (void)state;
    check_memory(work);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_calibrated),
        cmocka_unit_test(original_normalized),
        cmocka_unit_test(original_single_scales),
        cmocka_unit_test(single_scales_are_items_of_arrays),
        cmocka_unit_test(a_single_scale_is_a_float32),
        cmocka_unit_test(an_exact_object_keeps_its_doubles),
        cmocka_unit_test(good_ones_come_back),
        cmocka_unit_test(bad_scales_say_where),
        cmocka_unit_test(bad_exp_scales_say_where),
        cmocka_unit_test(bad_ratios_say_where),
        cmocka_unit_test(damaged_ones),
        cmocka_unit_test(arrays),
        cmocka_unit_test(new_arrays),
        cmocka_unit_test(made_by_hand),
        cmocka_unit_test(random_arrays),
        cmocka_unit_test(random_counts),
        cmocka_unit_test(types),
        cmocka_unit_test(variants),
        cmocka_unit_test(nested_types),
        cmocka_unit_test(scalars),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
