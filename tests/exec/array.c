/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays: their contents, shared bytes, comparison, and the elements of each type as numbers. */
#include <math.h>
#include <xir/icraft.h>
#include "support/net.h"

static xir_array *floats(const float *data, size_t n) {
    xir_array *array = xir_array_copy(ctx, FP32("*", (int64_t)n), data, n * sizeof *data, why);
    assert_non_null(array);
    return array;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static void a_new_array_is_zero(void **state) {
    (void)state;
    size_t size;
    xir_array *array = xir_array_new(ctx, FP32("NC", 2, 3), why);
    assert_int_equal(xir_array_count(array), 6);
    assert_non_null(xir_array_data(array, &size));
    assert_int_equal(size, 24);
    for (size_t i = 0; i < 6; i++) assert_true(xir_array_real(array, i) == 0);
    CHECK_SPELLED(xir_type_layout(xir_array_type(array)), "@layout(NC)");
    xir_array_free(array);
    xir_array_free(NULL);
}

static void who_has_made_it_may_write(void **state) {
    (void)state;
    xir_array *array = floats((const float[]){ 1, 2 }, 2);
    float *bytes = xir_array_edit(array);
    assert_non_null(bytes);
    bytes[1] = 5;
    assert_true(xir_array_real(array, 1) == 5);
    xir_array *again = xir_array_retain(array);
    assert_ptr_equal(again, array);
    assert_null(xir_array_edit(array));   /* shared */
    xir_array_free(again);
    assert_non_null(xir_array_edit(array));
    xir_array_free(array);
}

static void types_that_no_array_has(void **state) {
    (void)state;
    assert_null(xir_array_new(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), why));
    check_finding(XIR_E_TYPE, "expected a tensor type");
    assert_null(xir_array_new(ctx, NULL, why));
    check_finding(XIR_E_TYPE, "expected a tensor type");
    assert_null(xir_array_new(ctx, FP32("NC", -1, 3), why));
    check_finding(XIR_E_BOUNDS, "known dims");
    assert_null(xir_array_new(ctx, FP32("NC", INT64_MAX, 3), why));
    check_finding(XIR_E_LIMIT, "");
    assert_null(xir_array_new(ctx, FP32("NC", INT64_MAX / 8, 1), why));
    check_finding(XIR_E_LIMIT, "too large");
    assert_null(xir_array_copy(ctx, FP32("*", 3), "12345678", 8, why));
    check_finding(XIR_E_BOUNDS, "expected 12 bytes, found 8");
}

static void an_array_keeps_its_context(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_array *array = xir_array_new(own, XIR_TENSOR(own, xir_type_sint(own, 8), "*", 4), NULL);
    xir_context_free(own);
    assert_int_equal(xir_type_dim(xir_array_type(array), 0, false), 4);
    xir_array_free(array);
}

/* ---- Params ----------------------------------------------------------------------------------------------------- */

static void params_and_arrays_share_bytes(void **state) {
    (void)state;
    static const float data[] = { 1, 2, 3 };
    xir_network *net = new_net();
    xir_value *params = xir_params_copy(net, XIR_STR("w"), FP32("*", 3), data, sizeof data);
    xir_array *array = xir_array_from_params(params, why);
    assert_ptr_equal(xir_array_data(array, NULL), xir_params_data(params, NULL));
    /* a write to the Params copies the bytes */
    float *own = xir_params_edit(params);
    own[0] = 9;
    assert_true(xir_array_real(array, 0) == 1);
    xir_value *again = xir_params_from_array(net, XIR_STR("v"), array);
    assert_ptr_equal(xir_params_data(again, NULL), xir_array_data(array, NULL));
    CHECK_STR(xir_value_name(again), "v");
    xir_network_free(net);
    assert_true(xir_array_real(array, 2) == 3);
    xir_array_free(array);
}

static void params_without_bytes_are_no_array(void **state) {
    (void)state;
    xir_network *net = new_net();
    assert_null(xir_array_from_params(xir_params_new(net, XIR_STR("w"), FP32("*", 3)), why));
    check_finding(XIR_E_MISSING, "'w' has no bytes");
    xir_array *none = xir_array_from_params(xir_params_new(net, XIR_STR("w"), FP32("*", 0)), why);
    assert_int_equal(xir_array_count(none), 0);
    assert_null(xir_array_data(none, NULL));
    xir_array_free(none);
    xir_value *input = xir_input(XIR_AT(net), "x", FP32("*", 3));
    assert_null(xir_array_from_params(input, why));
    check_finding(XIR_E_TYPE, "is not a parameter");
    xir_network_free(net);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static void check_bytes(const xir_type *element, const void *bytes, size_t size, const double *expected, size_t n) {
    xir_array *array = xir_array_copy(ctx, xir_type_tensor(ctx, element, NULL, (const int64_t[]){ (int64_t)n }, 1),
                                      bytes, size, why);
    assert_non_null(array);
    for (size_t i = 0; i < n; i++) {
        double found = xir_array_real(array, i);
        if (isnan(expected[i]) ? !isnan(found) : found != expected[i])
            fail_msg("%s: element %zu is %g, not %g", spelled(element), i, found, expected[i]);
    }
    xir_array_free(array);
}

static void elements_as_reals(void **state) {
    (void)state;
    check_bytes(xir_type_float(ctx, XIR_FLOAT_FP16), "\x00\x3c\x00\xc0\x01\x00\xff\x7b\x00\x7c\x00\x7e\xff\x03", 14,
                (const double[]){ 1, -2, 0x1p-24, 65504, INFINITY, NAN, 0x3ffp-24 }, 7);
    check_bytes(xir_type_float(ctx, XIR_FLOAT_BF16), "\x80\x3f\x80\xff\xc0\x7f\x01\x00", 8,
                (const double[]){ 1, -INFINITY, NAN, 0x1p-133 }, 4);
    check_bytes(xir_type_float(ctx, XIR_FLOAT_TF32), "\x00\x00\x80\x3f\x00\x20\x80\x3f", 8,
                (const double[]){ 1, 1 + 0x1p-10 }, 2);
    check_bytes(xir_type_float(ctx, XIR_FLOAT_FPE7M8), "\x00\x3f\x01\x3f\x01\x00", 6,
                (const double[]){ 1, 1 + 0x1p-8, 0x1p-70 }, 3);
    check_bytes(xir_type_float(ctx, XIR_FLOAT_FPE6M9), "\x00\x3e\x01\x3e\x01\x00", 6,
                (const double[]){ 1, 1 + 0x1p-9, 0x1p-39 }, 3);
    check_bytes(xir_type_float(ctx, XIR_FLOAT_FP64), "\x18\x2d\x44\x54\xfb\x21\x09\x40", 8,
                (const double[]){ 3.141592653589793 }, 1);
    check_bytes(xir_type_bool(ctx), "\x00\x01\x07", 3, (const double[]){ 0, 1, 1 }, 3);
    /* the lower half of a byte comes first */
    check_bytes(xir_type_sint(ctx, 4), "\x8f\x07", 2, (const double[]){ -1, -8, 7 }, 3);
    check_bytes(xir_type_uint(ctx, 3), "\xd1\x58", 2, (const double[]){ 1, 2, 3, 4, 5 }, 5);
    check_bytes(xir_type_sint(ctx, 1), "\x05", 1, (const double[]){ -1, 0, -1 }, 3);
    check_bytes(xir_type_uint(ctx, 24), "\x01\x00\x80", 3, (const double[]){ 8388609 }, 1);
    check_bytes(xir_type_uint(ctx, 64), "\xff\xff\xff\xff\xff\xff\xff\xff", 8, (const double[]){ 0x1p64 }, 1);
}

static void elements_as_integers(void **state) {
    (void)state;
    int64_t out[4];
    xir_array *array = floats((const float[]){ 1.9f, -1.9f, INFINITY, NAN }, 4);
    DOES(xir_array_i64s(array, 0, 4, out));
    assert_true(out[0] == 1 && out[1] == -1 && out[2] == INT64_MAX && out[3] == 0);
    DOES(xir_array_i64s(array, 4, 0, out));
    assert_int_equal(xir_array_i64s(array, 3, 2, out), XIR_E_BOUNDS);
    assert_int_equal(xir_array_reals(array, 5, 0, NULL), XIR_E_BOUNDS);
    assert_true(isnan(xir_array_real(array, 4)));
    xir_array_free(array);
    array = xir_array_copy(ctx, XIR_TENSOR(ctx, xir_type_sint(ctx, 128), "*", 1), "0123456789abcdef", 16, why);
    assert_int_equal(xir_array_i64s(array, 0, 1, out), XIR_E_TYPE);
    xir_array_free(array);
}

static void quantised_elements_are_what_they_stand_for(void **state) {
    (void)state;
    const xir_scales *scales = xir_scales_from(ctx, (const double[]){ 0.5, 2 }, 2, 0);
    const xir_type *type = XIR_TENSOR(ctx, xir_type_quantized(ctx, scales, (const int64_t[]){ 1, -1 }, 2,
                                                              xir_type_sint(ctx, 8), NULL), "**", 2, 2);
    xir_array *array = xir_array_copy(ctx, type, "\x03\xff\x03\xff", 4, why);
    assert_true(xir_array_real(array, 0) == 1 && xir_array_real(array, 1) == -1);    /* (3 - 1) * 0.5, (-1 - 1) * 0.5 */
    assert_true(xir_array_real(array, 2) == 8 && xir_array_real(array, 3) == 0);
    xir_array_free(array);
    /* m * 2^-exp exactly, times the ratio */
    const xir_scales *exp = xir_exp_scales_from(ctx, (const int64_t[]){ 3 }, (const int64_t[]){ 1 },
                                                (const double[]){ 1.25 }, 1, -1);
    const xir_type *ratio = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, (const double[]){ 10 }, 1, -1),
                                                xir_type_sint(ctx, 8), NULL);
    array = xir_array_copy(ctx, XIR_TENSOR(ctx, xir_type_normalized_quantized(ctx, ratio, exp, NULL, 0), "*", 1),
                           "\x02", 1, why);
    assert_true(xir_array_real(array, 0) == 30);
    xir_array_free(array);
    /* a wrong number of scales */
    const xir_type *wrong = XIR_TENSOR(ctx, xir_type_quantized(ctx, scales, NULL, 0, xir_type_sint(ctx, 8), NULL), "*",
                                       3);
    array = xir_array_new(ctx, wrong, why);
    double reals[3];
    assert_int_equal(xir_array_reals(array, 0, 3, reals), XIR_E_TYPE);
    xir_array_free(array);
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

static xir_difference compare(const float *a, const float *b, size_t n, double absolute, double relative) {
    xir_difference d;
    xir_array *x = floats(a, n), *y = floats(b, n);
    DOES(xir_array_compare(x, y, absolute, relative, &d));
    xir_array_free(x);
    xir_array_free(y);
    return d;
}

static void differences_are_found(void **state) {
    (void)state;
    xir_difference d = compare((const float[]){ 1, 2, 3 }, (const float[]){ 1, 2.5f, 3.25f }, 3, 0, 0);
    assert_true(d.same_shape && d.count == 2 && d.first == 1 && d.a == 2 && d.b == 2.5 && d.largest == 0.5);
    d = compare((const float[]){ 1, 2, 3 }, (const float[]){ 1, 2.5f, 3.25f }, 3, 0.5, 0);
    assert_true(d.count == 0 && d.first == SIZE_MAX && d.largest == 0.5);
    d = compare((const float[]){ 110 }, (const float[]){ 100 }, 1, 0, 0.1);
    assert_true(d.count == 0);
    d = compare((const float[]){ NAN, NAN, 1 }, (const float[]){ NAN, 1, NAN }, 3, 100, 0);
    assert_true(d.count == 2 && d.first == 1 && isnan(d.a) && d.largest == 0);
    d = compare((const float[]){ INFINITY, INFINITY, 1 }, (const float[]){ INFINITY, -INFINITY, INFINITY }, 3, 1, 1);
    assert_true(d.count == 2 && d.first == 1 && isinf(d.largest));
    d = compare((const float[]){ 0 }, (const float[]){ -0.0f }, 1, 0, 0);
    assert_true(d.count == 0);
}

static void elements_of_any_two_types_compare(void **state) {
    (void)state;
    xir_difference d;
    xir_array *a = floats((const float[]){ 1, -1 }, 2);
    xir_array *b = xir_array_copy(ctx, XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "C", 2), "\x01\xff", 2, why);
    xir_array *c = xir_array_copy(ctx, XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "NC", 1, 2), "\x01\xff", 2, why);
    DOES(xir_array_compare(a, b, 0, 0, &d));
    assert_true(d.same_shape && d.count == 0);
    DOES(xir_array_compare(a, c, 0, 0, &d));
    assert_false(d.same_shape);
    xir_array_free(a);
    xir_array_free(b);
    xir_array_free(c);
}

static void many_elements_compare(void **state) {
    (void)state;
    enum { N = 2000 };
    float *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b);
    b[1777] = 1;
    xir_difference d = compare(a, b, N, 0, 0);
    assert_true(d.count == 1 && d.first == 1777);
    free(a);
    free(b);
}

/* ---- random numbers --------------------------------------------------------------------------------------------- */

static void the_same_seed_gives_the_same_numbers(void **state) {
    (void)state;
    xir_difference d;
    const xir_type *type = FP32("*", 1000);
    xir_array *a = xir_array_random(ctx, type, 5, why), *b = xir_array_random(ctx, type, 5, why),
               *c = xir_array_random(ctx, type, 6, why);
    DOES(xir_array_compare(a, b, 0, 0, &d));
    assert_int_equal(d.count, 0);
    DOES(xir_array_compare(a, c, 0, 0, &d));
    assert_true(d.count > 900);
    assert_true(xir_array_real(a, 0) == -0.846572995185852);   /* on every machine */
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 1000; i++) {
        sum += xir_array_real(a, i);
        squares += xir_array_real(a, i) * xir_array_real(a, i);
    }
    assert_true(fabs(sum / 1000) < 0.1 && fabs(squares / 1000 - 1) < 0.15);
    xir_array_free(a);
    xir_array_free(b);
    xir_array_free(c);
}

static void random_integers_and_truths(void **state) {
    (void)state;
    int64_t out[200];
    bool seen[10] = { false };
    xir_array *array = xir_array_random(ctx, XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", 200), 1, why);
    DOES(xir_array_i64s(array, 0, 200, out));
    for (size_t i = 0; i < 200; i++) {
        assert_in_range(out[i], 0, 9);
        seen[out[i]] = true;
    }
    for (size_t i = 0; i < 10; i++) assert_true(seen[i]);
    xir_array_free(array);
    array = xir_array_random(ctx, XIR_TENSOR(ctx, xir_type_bool(ctx), "*", 200), 1, why);
    DOES(xir_array_i64s(array, 0, 200, out));
    int64_t ones = 0;
    for (size_t i = 0; i < 200; i++) ones += out[i];
    assert_in_range(ones, 60, 140);
    xir_array_free(array);
}

static bool make_and_compare(xir_context *with) {
    const xir_scales *scales = xir_scales_from(with, (const double[]){ 0.5, 2 }, 2, 0);
    const xir_type *sint8 = xir_type_sint(with, 8),
                    *element = scales && sint8 ? xir_type_quantized(with, scales, NULL, 0, sint8, NULL) : NULL;
    const xir_type *type = element ? xir_type_tensor(with, element, NULL, (const int64_t[]){ 2, 3 }, 2) : NULL;
    xir_array *a = type ? xir_array_random(with, type, 1, NULL) : NULL, *b = a ? xir_array_new(with, type, NULL) : NULL;
    xir_difference d;
    bool done = b && xir_array_compare(a, b, 0, 0, &d) == XIR_OK;
    xir_array_free(a);
    xir_array_free(b);
    return done;
}

static void without_memory(void **state) {
    (void)state;
    check_memory(make_and_compare);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_array_is_zero),                   cmocka_unit_test(who_has_made_it_may_write),
        cmocka_unit_test(types_that_no_array_has),               cmocka_unit_test(an_array_keeps_its_context),
        cmocka_unit_test(params_and_arrays_share_bytes),         cmocka_unit_test(params_without_bytes_are_no_array),
        cmocka_unit_test(elements_as_reals),                     cmocka_unit_test(elements_as_integers),
        cmocka_unit_test(quantised_elements_are_what_they_stand_for), cmocka_unit_test(differences_are_found),
        cmocka_unit_test(elements_of_any_two_types_compare),     cmocka_unit_test(many_elements_compare),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers),  cmocka_unit_test(random_integers_and_truths),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
