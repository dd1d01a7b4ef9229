/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The scheme buyi on small networks: scales keep the bounds of the device, no weight is clipped, and the network still
 * computes the same, but for the steps of its values. */
#include <math.h>
#include <stdio.h>
#include "passes/quantize/quantized.h"
#include "support/story.h"

static xir_array *sample(const xir_network *net, uint64_t seed) {
    xir_value *in = NULL;
    xir_network_inputs(net, &in, 1);
    return xir_array_random(ctx, xir_value_type(in), seed, why);
}

static xir_network *quantized(const char *story, const char *options) {
    xir_network *net = story_net(story);
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    char text[300];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        xir_array *in = sample(net, seed);
        DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
        xir_array_free(in);
    }
    snprintf(text, sizeof text, "scheme=buyi,%s", options);
    quantise_by(net, c, text);
    return net;
}

/* ---- bounds ----------------------------------------------------------------------------------------------------- */

typedef struct scales { size_t n; int64_t e, least_m, most_m; } scales;

/* All scales of a constant have one exponent. */
static scales scales_of(const xir_value *constant) {
    const xir_scales *array = xir_type_scale(xir_value_type(constant));
    scales s = { xir_scales_count(array), 0, INT64_MAX, 0 };
    for (size_t i = 0; i < s.n; i++) {
        int64_t m, e;
        double origin;
        assert_true(xir_scales_exp_at(array, i, &m, &e, &origin));
        assert_true(i == 0 || e == s.e);
        assert_true(origin == ldexp((double)m, -(int)e));
        s.e = e;
        s.least_m = m < s.least_m ? m : s.least_m;
        s.most_m = m > s.most_m ? m : s.most_m;
    }
    return s;
}

/* Returns true if a constant holds w * factor, each within half a step. */
static void check_numbers(const xir_value *now, const xir_value *before, double factor) {
    xir_array *a = xir_array_from_params(now, why), *b = xir_array_from_params(before, why);
    const xir_scales *array = xir_type_scale(xir_value_type(now));
    const size_t n = xir_scales_count(array);
    assert_int_equal(xir_array_count(a), xir_array_count(b));
    for (size_t i = 0; i < xir_array_count(a); i++) {
        const double step = xir_scales_at(array, i % n), error = xir_array_real(a, i) - xir_array_real(b, i) * factor;
        if (fabs(error) > step * 0.5001) fail_msg("element %zu is wrong by %g; a step is %g", i, error, step);
    }
    xir_array_free(a);
    xir_array_free(b);
}

static double ratio(const xir_value *v) {
    const xir_norm_ratios *r = xir_type_norm_ratios(xir_value_type(v));
    return r ? xir_norm_ratios_at(r, 0) : 1;
}

static void check_product(const xir_network *net, const xir_network *real, const char *name, int64_t bits,
                          bool depthwise, size_t n) {
    const xir_op *op = story_op(net, name), *was = story_op(real, name);
    const xir_value *w = xir_op_input(op, 1), *b = xir_op_input(op, 2);
    const scales of_w = scales_of(w), of_b = scales_of(b);
    const double nx = ratio(xir_op_input(op, 0)), nz = ratio(xir_op_output(op, 0));
    assert_int_equal(xir_type_storage_bits(xir_value_type(w)), bits);
    assert_int_equal(xir_type_storage_bits(xir_value_type(b)), 2 * bits);
    assert_int_equal(of_w.n, n);
    assert_true(of_w.least_m >= 1 && of_w.most_m <= 255 && of_w.most_m > 127);
    assert_true(of_b.least_m == of_w.least_m && of_b.most_m == of_w.most_m);
    assert_true(of_w.e - of_b.e >= 0 && of_w.e - of_b.e <= (depthwise ? 0 : 5));
    assert_true(of_b.e >= bits && of_b.e <= 2 * bits);
    check_numbers(w, xir_op_input(was, 1), nx / nz);
    check_numbers(b, xir_op_input(was, 2), 1 / nz);
}

static void scales_keep_the_bounds(void **state) {
    (void)state;
    static const char *const options[] = { "bits=8,outputs=same", "bits=16,outputs=same" };
    static const char story[] = "x: NHWC 1 6 6 4; w: params HWIO 3 3 4 8; b: params 8; y = Conv2d x w b; r = ReLU y;"
                                "dw: params HWIO 3 3 1 8; db: params 8; d = Conv2d r dw db [groups=8]; out d";
    for (size_t i = 0; i < COUNT(options); i++) {
        xir_network *net = quantized(story, options[i]), *real = story_net(story);
        check_product(net, real, "y", i ? 16 : 8, false, 8);
        check_product(net, real, "d", i ? 16 : 8, true, 8);
        assert_true(ratio(story_value(net, "y")) == ratio(story_value(net, "r")));
        xir_network_free(net);
        xir_network_free(real);
    }
    static const char matrix[] = "x: 1 8; w: params 8 5; b: params 5; y = Matmul x w b; out y";
    xir_network *net = quantized(matrix, "bits=8,outputs=same"), *real = story_net(matrix);
    check_product(net, real, "y", 8, false, 1);
    xir_network_free(net);
    xir_network_free(real);
}

/* Weights and biases of very different sizes: Nz grows where no scale would fit. */
static void extreme_constants_keep_the_bounds(void **state) {
    (void)state;
    static const char *const stories[] = {
        "x: 1 2; w: params 2 2 = 1e6 1 2 3; b: params 2 = 0 0; y = Matmul x w b; out y",
        "x: 1 2; w: params 2 2 = 1e-3 1e-3 1e-3 1e-3; b: params 2 = 1e6 -1e6; y = Matmul x w b; out y",
    };
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *net = quantized(stories[i], "outputs=same");
        const xir_op *op = story_op(net, "y");
        const scales w = scales_of(xir_op_input(op, 1)), b = scales_of(xir_op_input(op, 2));
        assert_true(w.e >= 8 && w.e <= 21 && b.e >= 8 && b.e <= 16 && w.e - b.e >= 0 && w.e - b.e <= 5);
        xir_network_free(net);
    }
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* 10 log10 of the power of the results over that of the error, on samples that were calibrated. */
static double decibels(const xir_network *real, const xir_network *net) {
    double power = 0, error = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        xir_array *in = sample(real, seed), *a = NULL, *b = NULL;
        DOES(xir_network_run(real, (const xir_array *const[]){ in }, 1, &a, 1, NULL, why));
        DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &b, 1, NULL, why));
        for (size_t i = 0; i < xir_array_count(a); i++) {
            const double x = xir_array_real(a, i), e = x - xir_array_real(b, i);
            power += x * x;
            error += e * e;
        }
        xir_array_free(in);
        xir_array_free(a);
        xir_array_free(b);
    }
    return 10 * log10(power / error);
}

static void each_op_computes_the_same(void **state) {
    (void)state;
    static const char *const stories[] = {
        "x: NHWC 1 6 6 4; w: params HWIO 3 3 4 8; b: params 8; y = Conv2d x w b; r = ReLU y; out r",
        "x: NHWC 1 6 6 4; w: params HWIO 3 3 1 4; b: params 4; y = Conv2d x w b [groups=4]; out y",
        "x: NHWC 1 4 4 4; w: params HWOI 2 2 3 4; b: params 3; y = ConvTranspose2d x w b; out y",
        "x: 3 4; s = Sigmoid x; y = Add x s [alpha=2 beta=-1]; out y",
        "x: 3 4; c: params 3 4; y = Add x c [beta=0.5]; out y",
        "x: 3 4; s = Sigmoid x; y = Multiply x s; out y",
        "x: 3 4; c: params 3 4; y = Multiply x c; out y",
        "x: 3 4; c: params 1; y = Multiply c x; out y",
        "x: 4 4; s = Tanh x; y = Matmul x s; out y",
        "x: 3 4; s = Softmax x [axis=-1]; y = Tanh s; out y",
    };
    for (size_t i = 0; i < COUNT(stories); i++)
        for (int wide = 0; wide < 2; wide++) {
            xir_network *real = story_net(stories[i]), *net = quantized(stories[i], wide ? "bits=16" : "bits=8");
            size_t casts = 0;   /* one of x, one of a result at most: no floats in between */
            for (const xir_op *op = NULL; (op = xir_network_next_of_class(net, op, xir_cast_class()));) casts++;
            if (casts < 1 || casts > 2) fail_msg("%s: %zu casts", stories[i], casts);
            const double db = decibels(real, net);
            if (!(db > (wide ? 65 : 28))) fail_msg("%s: %.1f dB with %d bits", stories[i], db, wide ? 16 : 8);
            xir_network_free(real);
            xir_network_free(net);
        }
}

/* An op that has constants and no rule for them stays a float between Casts. */
static void an_op_without_a_rule_stays_a_float(void **state) {
    (void)state;
    static const char story[] = "x: 3 4; c: params 3 4; y = Maximum x c; z = Tanh y; out z";
    xir_network *real = story_net(story), *net = quantized(story, "bits=16");
    assert_int_equal(xir_type_kind_of(xir_type_element(xir_value_type(story_value(net, "y")))), XIR_TYPE_FLOAT);
    assert_true(decibels(real, net) > 60);
    xir_network_free(real);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_keep_the_bounds),
        cmocka_unit_test(extreme_constants_keep_the_bounds),
        cmocka_unit_test(each_op_computes_the_same),
        cmocka_unit_test(an_op_without_a_rule_stays_a_float),
    };
    return RUN_GROUP(tests);
}
