/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs that become constants. */
#include "support/forms.h"
#include "support/story.h"

static xir_status fix(xir_network *net, const char *name, const xir_type *type, double number) {
    xir_array *array = type ? xir_array_filled(ctx, type, number, why) : NULL;
    if (type) assert_non_null(array);
    const xir_status status = xir_network_fix_input(net, xir_str_of(name), array, why);
    xir_array_free(array);
    return status;
}

static void the_constant_takes_all_uses(void **state) {
    (void)state;
    xir_network *net = story_net("a: fp32 3; b: fp32 3; c: fp32 3; s = Add b c; t = Multiply s b; u = Add t a; out u b");
    const int64_t id = xir_value_id(story_value(net, "c"));
    assert_non_null(xir_network_value_by_name(net, XIR_STR("b")));   /* the table of names exists */
    DOES(fix(net, "b", FP32("*", 3), 2));
    CHECK_STORY(net, "s = Add b c; t = Multiply s b; u = Add t a; out u b");
    DOES(xir_network_validate(net, why));
    assert_int_equal(xir_network_inputs(net, NULL, 0), 2);
    xir_value *b = story_value(net, "b"), *c = story_value(net, "c");
    assert_true(xir_value_is_params(b) && !xir_value_is_params(c));
    assert_int_equal(xir_value_index(c), 1);
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("c")), c);
    assert_ptr_equal(xir_network_value_by_id(net, id), c);
    const float *v = xir_params_elements(b, sizeof *v);
    assert_true(v[0] == 2 && v[2] == 2);
    DOES(fix(net, "a", FP32("*", 3), 1));
    DOES(fix(net, "c", FP32("*", 3), 4));
    assert_int_equal(xir_network_inputs(net, NULL, 0), 0);
    xir_array *out[2] = { NULL };
    DOES(xir_network_run(net, NULL, 0, out, 2, NULL, why));
    assert_true(xir_array_real(out[0], 1) == 13 && xir_array_real(out[1], 1) == 2);
    for (int i = 0; i < 2; i++) xir_array_free(out[i]);
    xir_network_free(net);
}

static void its_layout_stays(void **state) {
    (void)state;
    xir_network *net = story_net("a: NHWC 1 2 2 3; b = Neg a; out b");
    DOES(fix(net, "a", FP32("****", 1, 2, 2, 3), 2));
    CHECK_SPELLED(xir_type_layout(xir_value_type(story_value(net, "a"))), "@layout(NHWC)");
    xir_network_free(net);
}

/* x[n, 3], y[n, 3], z[n + 1, 3] */
static xir_network *open_net(void) {
    xir_network *net = new_net();
    const xir_type *like = FP32("**", 1, 3);
    const xir_str n[] = { XIR_STR("n"), XIR_STR("3") }, more[] = { XIR_STR("n + 1"), XIR_STR("3") };
    const xir_type *one = xir_network_type_with_dims(net, like, n, 2, why),
                   *types[] = { one, one, xir_network_type_with_dims(net, like, more, 2, why) };
    xir_op *in = xir_inputs(XIR_AT(net), "in", types, 3);
    static const char *const names[] = { "x", "y", "z" };
    for (int64_t i = 0; i < 3; i++) DOES(xir_value_set_name(xir_op_output(in, i), xir_str_of(names[i])));
    xir_value *sum = xir_build_add(XIR_AT(net), xir_op_output(in, 0), xir_op_output(in, 1), 1, 1, "sum");
    assert_non_null(xir_output(XIR_AT(net), XIR_VALUES(sum, xir_op_output(in, 2))));
    return net;
}

static void symbols_get_the_numbers_of_its_dims(void **state) {
    (void)state;
    xir_network *net = open_net();
    DOES(fix(net, "x", FP32("**", 5, 3), 1));
    assert_int_equal(xir_type_dim(xir_value_type(story_value(net, "y")), 0, false), 5);
    assert_int_equal(xir_type_dim(xir_value_type(story_value(net, "z")), 0, false), 6);
    DOES(xir_network_validate(net, why));
    assert_int_equal(fix(net, "z", FP32("**", 5, 3), 1), XIR_E_BOUNDS);
    DOES(fix(net, "z", FP32("**", 6, 3), 1));
    xir_network_free(net);
}

static void what_does_not_fit_changes_nothing(void **state) {
    (void)state;
    xir_network *net = open_net();
    xir_network *before = xir_network_clone(net);
    const xir_symbol few = { XIR_STR("n"), 1, 4 };
    assert_int_equal(fix(net, "w", FP32("**", 1, 3), 1), XIR_E_UNKNOWN);
    check_finding(XIR_E_UNKNOWN, "the network has no input 'w'");
    assert_int_equal(fix(net, "x", FP32("**", 1, 4), 1), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "the input 'x': expected ");
    assert_int_equal(fix(net, "x", FP32("*", 3), 1), XIR_E_BOUNDS);
    assert_int_equal(fix(net, "x", XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "**", 1, 3), 1), XIR_E_TYPE);
    assert_int_equal(fix(net, "x", NULL, 0), XIR_E_MISSING);
    assert_int_equal(fix(NULL, "x", FP32("*", 3), 0), XIR_E_MISSING);
    assert_true(xir_network_equal(net, before, true));
    DOES(xir_network_bind(net, &few, 1, why));
    assert_int_equal(fix(net, "x", FP32("**", 5, 3), 1), XIR_E_BOUNDS);
    assert_int_equal(xir_network_inputs(net, NULL, 0), 3);
    xir_network_free(before);
    xir_network_free(net);
}

/* A dim of another value would be negative. */
static void a_number_that_no_op_takes_changes_nothing(void **state) {
    (void)state;
    xir_network *net = open_net();
    const xir_str less[] = { XIR_STR("n - 4"), XIR_STR("3") };
    DOES(xir_value_set_type(story_value(net, "sum"),
                            xir_network_type_with_dims(net, FP32("**", 1, 3), less, 2, why)));
    assert_int_equal(fix(net, "x", FP32("**", 2, 3), 1), XIR_E_BOUNDS);
    xir_diags_clear(why);
    assert_int_equal(xir_network_params(net, NULL, 0), 0);
    assert_int_equal(xir_network_inputs(net, NULL, 0), 3);
    xir_network_free(net);
}

static void arrays_of_one_number(void **state) {
    (void)state;
    const xir_type *i8 = XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "*", 3);
    const xir_type *truth = XIR_TENSOR(ctx, xir_type_bool(ctx), "*", 3);
    xir_array *a = xir_array_filled(ctx, i8, -128, why);
    assert_true(a && xir_array_real(a, 0) == -128 && xir_array_real(a, 2) == -128);
    xir_array_free(a);
    assert_true((a = xir_array_filled(ctx, truth, 1, why)) && xir_array_real(a, 2) == 1);
    xir_array_free(a);
    xir_diags_clear(why);
    assert_null(xir_array_filled(ctx, i8, 128, why));
    check_finding(XIR_E_BOUNDS, "the elements of the array cannot be 128");
    assert_null(xir_array_filled(ctx, i8, 0.5, why));
    check_finding(XIR_E_BOUNDS, "cannot be 0.5");
    assert_null(xir_array_filled(ctx, truth, 2, why));
    check_finding(XIR_E_BOUNDS, "cannot be 2");
    assert_null(xir_array_filled(ctx, FP32("*", -1), 2, why));
    check_finding(XIR_E_BOUNDS, "known dims");
    assert_null(xir_array_filled(ctx, NULL, 2, why));
    check_finding(XIR_E_TYPE, "expected a tensor type");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_constant_takes_all_uses),
        cmocka_unit_test(its_layout_stays),
        cmocka_unit_test(symbols_get_the_numbers_of_its_dims),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
        cmocka_unit_test(a_number_that_no_op_takes_changes_nothing),
        cmocka_unit_test(arrays_of_one_number),
    };
    return RUN_GROUP(tests);
}
