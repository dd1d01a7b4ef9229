/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The figures of a pair: against a table, and against the formulas of compare.h, one element after the other. */
#include <math.h>
#include <stdio.h>
#include "comparison.h"
#include "loops.h"
#include "support/net.h"

#define NAN_ (0.0 / 0.0)
#define INF_ (1.0 / 0.0)

static xir_array *reals(const double *v, size_t n) {
    const int64_t dim = (int64_t)n;
    const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP64), NULL, &dim, 1);
    xir_array *array = xir_array_new(ctx, type, why);
    memcpy(xir_array_edit(array), v, n * sizeof *v);
    return array;
}

static compare_measure measured(const double *expected, const double *found, size_t n, double tolerance) {
    const struct xir_compare c = { .ctx = ctx, .how = { .absolute = tolerance, .relative = tolerance } };
    xir_array *e = reals(expected, n), *f = reals(found, n);
    compare_measure m;
    DOES(compare_measure_pair(&c, e, f, &m, why));
    xir_array_free(e);
    xir_array_free(f);
    return m;
}

enum { N = 3 };
static const struct {
    double              expected[N], found[N];
    xir_compare_figures g;
    size_t              differ, at;
} rows[] = {
    /* equal */
    { { 1, 2, 3 },       { 1, 2, 3 },       { 0, 0, 1, INF_, 0 },                     0, 0 },
    { { 0, 0, 0 },       { 0, 0, 0 },       { 0, 0, 1, INF_, 0 },                     0, 0 },
    { { 1, NAN_, INF_ }, { 1, NAN_, INF_ }, { 0, 0, 1, INF_, 1.0 / 3 },               0, 0 },
    /* one differs: 10 log10(9/1) */
    { { 0, 3, 0 },       { 0, 2, 0 },       { 1, 1.0 / 3, 1, 9.542425094393248, 0 },  1, 1 },
    /* opposite, at right angles, nothing expected, nothing found */
    { { 1, 0, 0 },       { -1, 0, 0 },      { 2, 2, -1, -6.020599913279624, 0 },      1, 0 },
    { { 1, 0, 0 },       { 0, 1, 0 },       { 1, 1, 0, -3.010299956639812, 0 },       2, 0 },
    { { 0, 0, 0 },       { 0, 0, 5 },       { 5, INF_, 0, -INF_, 0 },                 1, 2 },
    { { 0, 4, 0 },       { 0, 0, 0 },       { 4, 1, 0, 0, 0 },                        1, 1 },
    /* NaN or an infinity on one side */
    { { 1, 2, NAN_ },    { 1, 2, 3 },       { INF_, INF_, 0, -INF_, 0 },              1, 2 },
    { { 1, 2, 3 },       { 1, -INF_, 3 },   { INF_, INF_, 0, -INF_, 1.0 / 3 },        1, 1 },
    { { INF_, 9, 3 },    { -INF_, 2, 3 },   { INF_, INF_, 0, -INF_, 1.0 / 3 },        2, 0 },
};

static void check_near(size_t row, const char *what, double found, double expected) {
    if (found == expected || fabs(found - expected) <= 1e-12 * fabs(expected)) return;
    fail_msg("row %zu: %s is %.17g, expected %.17g", row, what, found, expected);
}

static void the_figures_are_those_of_the_table(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const compare_measure m = measured(rows[i].expected, rows[i].found, N, 1e-4);
        check_near(i, "the largest difference", m.figures.largest, rows[i].g.largest);
        check_near(i, "the relative one", m.figures.relative, rows[i].g.relative);
        check_near(i, "the cosine", m.figures.cosine, rows[i].g.cosine);
        check_near(i, "the SNR", m.figures.snr, rows[i].g.snr);
        check_near(i, "the saturated share", m.figures.saturated, rows[i].g.saturated);
        assert_int_equal(m.differ, rows[i].differ);
        assert_int_equal(m.at, rows[i].at);
        assert_int_equal(m.of, N);
    }
}

/* Numbers of several sizes, some of them equal; more than a block, and not a whole number of lanes. */
static void the_figures_are_those_of_the_formulas(void **state) {
    enum { MOST = 3000 };
    static double e[MOST], f[MOST];
    (void)state;
    for (size_t n = 1; n <= MOST; n = 2 * n + n / 3 + 1) {
        long double ee = 0, ff = 0, ef = 0, dd = 0;
        double largest = 0, most = 0;
        size_t differ = 0;
        for (size_t i = 0; i < n; i++) {
            e[i] = ((double)chance(2001) - 1000) / 100;
            f[i] = e[i] + (chance(3) ? ((double)chance(2001) - 1000) / 1e6 : 0);
            const double d = fabs(f[i] - e[i]);
            ee += (long double)e[i] * e[i];
            ff += (long double)f[i] * f[i];
            ef += (long double)e[i] * f[i];
            dd += (long double)d * d;
            largest = d > largest ? d : largest;
            most = fabs(e[i]) > most ? fabs(e[i]) : most;
            differ += d > 1e-5 + 1e-5 * fabs(e[i]);
        }
        const compare_measure m = measured(e, f, n, 1e-5);
        check_near(n, "the largest difference", m.figures.largest, largest);
        check_near(n, "the relative one", m.figures.relative, largest / most);
        check_near(n, "the cosine", m.figures.cosine, (double)fminl(ef / sqrtl(ee) / sqrtl(ff), 1));
        check_near(n, "the SNR", m.figures.snr, (double)(10 * log10l(ee / dd)));
        assert_int_equal(m.differ, differ);
    }
}

/* As the loops before them. */
static void each_path_gives_the_same_bits(void **state) {
    enum { MOST_ELEMENTS = 40 * LANES };
    double e[MOST_ELEMENTS], f[MOST_ELEMENTS];
    int64_t numbers[MOST_ELEMENTS];
    const compare_loops *plain = compare_loops_at(0), *other;
    const number_limits ends = { -127, 127, 3 }, none = { 0, 255, 0 };
    (void)state;
    for (size_t i = 0; i < MOST_ELEMENTS; i++) {
        e[i] = ((double)chance(2001) - 1000) / 7;
        f[i] = ((double)chance(2001) - 1000) / 11;
        numbers[i] = (int64_t)chance(257) - 128;
    }
    e[9] = -0.0, f[9] = 0.0, e[17] = 1e300, f[20] = 5e-324;
    for (size_t i = 1; (other = compare_loops_at(i)); i++) {
        for (size_t n = 0; n <= MOST_ELEMENTS; n += LANES) {
            sums a = { { 0 } }, b = { { 0 } };
            plain->add(&a, f, e, LANES);
            plain->add(&a, e, f, n);
            other->add(&b, f, e, LANES);
            other->add(&b, e, f, n);
            assert_memory_equal(&a, &b, sizeof a);
            assert_int_equal(other->count_beyond(1, 0.5, e, f, n), plain->count_beyond(1, 0.5, e, f, n));
            assert_int_equal(other->count_at_limits(&ends, numbers, n), plain->count_at_limits(&ends, numbers, n));
            assert_int_equal(other->count_at_limits(&none, numbers, n), plain->count_at_limits(&none, numbers, n));
        }
    }
    assert_ptr_equal(compare_loops_at(99), NULL);
}

static void loops_count_what_is_beyond_and_at_limits(void **state) {
    (void)state;
    const double e[LANES] = { 0, 1, -4, 100, 100, 0, 0, 1 }, f[LANES] = { 0.5, 2, 4, 151, 152, -0.5, -0.51, 2.01 };
    const int64_t numbers[LANES] = { -128, -127, -126, 0, 3, 126, 127, 128 };
    const compare_loops *loops;
    for (size_t i = 0; (loops = compare_loops_at(i)); i++) {
        assert_int_equal(loops->count_beyond(0.5, 0.5, e, f, LANES), 5);   /* -4, both 100, -0.51, 2.01 */
        assert_int_equal(loops->count_at_limits(&(number_limits){ -127, 127, 0 }, numbers, LANES), 4);
        assert_int_equal(loops->count_at_limits(&(number_limits){ 0, 127, 0 }, numbers, LANES), 5);
    }
}

/* Of quantised numbers: at a limit, unless that is zero. */
static void saturated_elements_are_at_a_limit_of_their_type(void **state) {
    static const struct { int bits; bool is_signed; int64_t zero; int64_t stored[4]; double share; } all[] = {
        { 8,  true,  0,   { 127, -127, -128, 126 }, 0.75 },
        { 8,  true,  0,   { 0, 1, -126, 5 },        0    },
        { 8,  false, 0,   { 0, 255, 254, 1 },       0.25 },   /* 0 stands for 0: after a ReLU it says nothing */
        { 8,  false, 128, { 0, 255, 128, 1 },       0.5  },
        { 16, true,  0,   { 32767, 127, -127, 1 },  0.25 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        const xir_type *storage = all[i].is_signed ? xir_type_sint(ctx, all[i].bits) : xir_type_uint(ctx, all[i].bits);
        const xir_scales *scale = xir_scales_from(ctx, (const double[]){ 0.5 }, 1, -1);
        const xir_type *element = xir_type_quantized(ctx, scale, &all[i].zero, 1, storage, NULL);
        const int64_t four = 4;
        const xir_type *type = xir_type_tensor(ctx, element, NULL, &four, 1);
        xir_array *array = xir_array_new(ctx, type, why);
        assert_non_null(array);
        const size_t size = (size_t)all[i].bits / 8;
        for (size_t k = 0; k < 4; k++) memcpy((char *)xir_array_edit(array) + k * size, &all[i].stored[k], size);
        const struct xir_compare c = { .ctx = ctx, .how = { .absolute = 1 } };
        compare_measure m;
        DOES(compare_measure_pair(&c, array, array, &m, why));
        check_near(i, "the saturated share", m.figures.saturated, all[i].share);
        assert_true(m.differ == 0 && m.figures.snr == INF_);
        xir_array_free(array);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figures_are_those_of_the_table),
        cmocka_unit_test(the_figures_are_those_of_the_formulas),
        cmocka_unit_test(each_path_gives_the_same_bits),
        cmocka_unit_test(loops_count_what_is_beyond_and_at_limits),
        cmocka_unit_test(saturated_elements_are_at_a_limit_of_their_type),
    };
    return RUN_GROUP(tests);
}
