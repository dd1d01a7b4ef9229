/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ranges of each method, compared with what slow loops over the numbers themselves find. */
#include <math.h>
#include <stdlib.h>
#include "support/story.h"

enum { N = 4096 };

static float numbers[N];

/* Counts the numbers, one sample; the value is called x. */
static xir_calibration *count(const float *v, int64_t n) {
    const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, &n, 1);
    xir_network *net = xir_network_new(ctx, "n", XIR_FRAMEWORK_ONNX, "");
    xir_at at = XIR_AT(net);
    xir_output(at, XIR_VALUES(xir_input(at, "x", type)));
    xir_array *in = xir_array_copy(ctx, type, v, (size_t)n * sizeof *v, why);
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    xir_array_free(in);
    xir_network_free(net);
    return c;
}

typedef struct range { double low, high; } range;

static range range_of(const xir_calibration *c, const xir_range_options *how) {
    range r;
    DOES(xir_calibration_range(c, 0, how, &r.low, &r.high, why));
    assert_true(r.low <= 0 && r.high >= 0);
    return r;
}

#define METHOD(...) &XIR_INIT(xir_range_options, __VA_ARGS__)

/* A skewed distribution with outliers on both sides. */
static void draw(void) {
    chance_begin(7);
    for (int i = 0; i < N; i++) {
        double sum = -5;
        for (int k = 0; k < 12; k++) sum += (double)chance(1u << 20) / (1u << 20);
        numbers[i] = (float)(sum > 0 ? sum * 2 : sum);
    }
    numbers[17] = 40;
    numbers[18] = -25;
}

static void the_whole_range(void **state) {
    (void)state;
    xir_calibration *c = count((float[]){ -3, 1, 2 }, 3);
    range r = range_of(c, NULL);
    assert_true(r.low == -3 && r.high == 2);
    r = range_of(c, METHOD(.symmetric = true));
    assert_true(r.low == -3 && r.high == 3);
    xir_calibration_free(c);
    c = count((float[]){ 5, 1, 2 }, 3);   /* zero is always in it */
    r = range_of(c, NULL);
    assert_true(r.low == 0 && r.high == 5);
    xir_calibration_free(c);
}

static void values_that_are_always_zero(void **state) {
    (void)state;
    xir_calibration *c = count((float[]){ 0, -0.0f, 0 }, 3);
    for (int method = XIR_RANGE_MAX; method <= XIR_RANGE_KLD; method++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            const range r = range_of(c, METHOD(.method = (xir_range_method)method, .symmetric = symmetric != 0));
            assert_true(r.low == 0 && r.high == 0);
        }
    xir_calibration_free(c);
}

static int by_size(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The range of a percentage is that of the sorted numbers, but for the width of a bin. */
static void a_percentage_of_the_numbers(void **state) {
    (void)state;
    draw();
    xir_calibration *c = count(numbers, N);
    static float sorted[N];
    const double width = 64.0 / 4096;
    static const double percents[] = { 100, 99.9, 99, 90, 50 };
    for (size_t i = 0; i < COUNT(percents); i++) {
        const size_t cut = (size_t)(N * (100 - percents[i]) / 100 + 1e-9);
        for (int k = 0; k < N; k++) sorted[k] = fabsf(numbers[k]);
        qsort(sorted, N, sizeof *sorted, by_size);
        range r = range_of(c, METHOD(.method = XIR_RANGE_PERCENTILE, .percent = percents[i], .symmetric = true));
        assert_true(fabs(r.high - sorted[N - 1 - cut]) <= width && r.low == -r.high);
        memcpy(sorted, numbers, sizeof sorted);
        qsort(sorted, N, sizeof *sorted, by_size);
        r = range_of(c, METHOD(.method = XIR_RANGE_PERCENTILE, .percent = percents[i]));
        const size_t side = (size_t)(N * (100 - percents[i]) / 200 + 1e-9);
        assert_true(fabs(r.high - fmax(sorted[N - 1 - side], 0)) <= width);
        assert_true(fabs(r.low - fmin(sorted[side], 0)) <= width);
    }
    xir_calibration_free(c);
}

/* The squared error of the numbers themselves. */
static double error_of(range r, double levels) {
    double sum = 0;
    const double step = (r.high - r.low) / levels;
    for (int i = 0; i < N; i++) {
        const double in = fmin(fmax(numbers[i], r.low), r.high), e = numbers[i] - rint(in / step) * step;
        sum += e * e;
    }
    return sum;
}

/* The range that the bins choose has nearly the least error of all ranges that are tried with the numbers. */
static void the_least_squared_error(void **state) {
    (void)state;
    draw();
    xir_calibration *c = count(numbers, N);
    for (uint32_t bits = 3; bits <= 8; bits++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            const double levels = ldexp(1, (int)bits) - (symmetric ? 2 : 1);
            double least = INFINITY;
            for (int k = 50; k <= 400; k++) {
                const range all = symmetric ? (range){ -40, 40 } : (range){ -25, 40 };
                least = fmin(least, error_of((range){ all.low * k / 400, all.high * k / 400 }, levels));
            }
            const range r = range_of(c, METHOD(.method = XIR_RANGE_MSE, .bits = bits, .symmetric = symmetric != 0));
            assert_true(error_of(r, levels) <= least * 1.1);
            assert_true(error_of(r, levels) < error_of(symmetric ? (range){ -40, 40 } : (range){ -25, 40 }, levels));
        }
    xir_calibration_free(c);
}

/* Outliers are cut, and numbers with levels of their own are not. */
static void the_least_divergence(void **state) {
    (void)state;
    draw();
    xir_calibration *c = count(numbers, N);
    range r = range_of(c, METHOD(.method = XIR_RANGE_KLD, .symmetric = true));
    assert_true(r.high < 40 && r.high > 2 && r.low == -r.high);
    const range asymmetric = range_of(c, METHOD(.method = XIR_RANGE_KLD));
    assert_true(asymmetric.high == r.high && asymmetric.low == -fmin(r.high, 25));
    xir_calibration_free(c);
    for (int i = 0; i < N; i++) numbers[i] = (float)(i % 128) / 128;   /* 128 numbers, all equally frequent */
    c = count(numbers, N);
    r = range_of(c, METHOD(.method = XIR_RANGE_KLD, .symmetric = true));
    assert_true(r.high > 0.9);
    xir_calibration_free(c);
}

/* The mean range of samples, of which one has an outlier. */
static void the_mean_of_samples(void **state) {
    (void)state;
    xir_calibration *c = count((float[]){ -1, 2 }, 2), *other = count((float[]){ -3, 10 }, 2);
    DOES(xir_calibration_merge(c, other, why));
    range r = range_of(c, METHOD(.method = XIR_RANGE_AVERAGE));
    assert_true(r.low == -2 && r.high == 6);
    r = range_of(c, METHOD(.method = XIR_RANGE_AVERAGE, .symmetric = true));
    assert_true(r.high == 6 && r.low == -6);
    xir_calibration_free(c);
    xir_calibration_free(other);
}

static void options_out_of_bounds_are_refused(void **state) {
    (void)state;
    double low, high;
    xir_calibration *c = count((float[]){ 1 }, 1);
    static const struct { size_t i; xir_range_options how; xir_status code; } rows[] = {
        { 1, { .size = sizeof(xir_range_options) }, XIR_E_BOUNDS },
        { 0, { .size = sizeof(xir_range_options), .method = (xir_range_method)5 }, XIR_E_INVALID },
        { 0, { .size = sizeof(xir_range_options), .percent = -1 }, XIR_E_BOUNDS },
        { 0, { .size = sizeof(xir_range_options), .percent = 101 }, XIR_E_BOUNDS },
        { 0, { .size = sizeof(xir_range_options), .percent = NAN }, XIR_E_BOUNDS },
        { 0, { .size = sizeof(xir_range_options), .bits = 1 }, XIR_E_BOUNDS },
        { 0, { .size = sizeof(xir_range_options), .bits = 17 }, XIR_E_BOUNDS },
        { 0, { 0 }, XIR_E_ABI },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(xir_calibration_range(c, rows[i].i, &rows[i].how, &low, &high, why), rows[i].code);
        check_finding(rows[i].code, "");
    }
    xir_range_method method;
    assert_true(xir_range_method_of(XIR_STR("kld"), &method) && method == XIR_RANGE_KLD);
    assert_false(xir_range_method_of(XIR_STR("klt"), &method));
    xir_calibration_free(c);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_range),
        cmocka_unit_test(values_that_are_always_zero),
        cmocka_unit_test(a_percentage_of_the_numbers),
        cmocka_unit_test(the_least_squared_error),
        cmocka_unit_test(the_least_divergence),
        cmocka_unit_test(the_mean_of_samples),
        cmocka_unit_test(options_out_of_bounds_are_refused),
    };
    return RUN_GROUP(tests);
}
