/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that are created by the name of their class, and get attributes, inputs and outputs one by one. */
#include "support/input_net.h"
#include <xir/icraft.h>
#include "support/own.h"

static xir_op *create(const char *key) {
    xir_op *op = xir_op_create(net, xir_str_of(key));
    assert_non_null(op);
    assert_true(xir_op_is_draft(op));
    return op;
}

static void an_op_is_created_by_name_and_filled_in(void **state) {
    (void)state;
    xir_op *pool = create("icraft::xir::MaxPool2d");
    assert_true(xir_op_id(pool) < 0 && !xir_op_is_placed(pool));
    assert_int_equal(xir_op_input_count(pool) + xir_op_output_count(pool), 0);
    DOES(xir_op_set_i64(pool, "pool_width", 2));    /* neither has a default */
    DOES(xir_op_set_i64(pool, "pool_height", 4));
    DOES(xir_op_set_i64(pool, "stride_width", 2));
    DOES(xir_op_set_name(pool, XIR_STR("pool")));
    DOES(xir_op_add_input(pool, x));
    DOES(xir_op_place(pool, NULL));
    assert_false(xir_op_is_draft(pool));
    assert_true(xir_op_is_placed(pool));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(pool, 0)), FP32("NHWC", 1, 5, 4, 4)));
    const xir_max_pool2d_attrs *a = xir_max_pool2d_of(pool);
    assert_true(a->pool_width == 2 && a->pool_height == 4 && a->stride_width == 2 && a->stride_height == 1);
    assert_non_null(xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(pool, 0))));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
}

static void an_old_name_creates_it_too(void **state) {
    (void)state;
    xir_op *norm = create("icraft::xir::Batchnorm");
    CHECK_STR(xir_class_key(xir_op_class(norm)), "icraft::xir::BatchNorm2d");
    xir_value *params = xir_params_new(net, XIR_STR("v"), FP32("C", 4));
    DOES(xir_op_add_input(norm, x));
    DOES(xir_op_set_params(norm, "variance", params));
    REFUSES(net, xir_op_place(norm, NULL), XIR_E_MISSING, "attribute mean of icraft::xir::BatchNorm2d has no default");
    DOES(xir_op_set_params(norm, "mean", params));
    DOES(xir_op_place(norm, NULL));
    assert_true(xir_value_id(params) >= 0);
    CHECK_SOUND(net);
}

/* Placing refuses everything that xir_network_add refuses; the op remains a draft and can be mended. */
static void what_is_missing_is_named_when_it_is_placed(void **state) {
    (void)state;
    xir_op *pool = create("icraft::xir::MaxPool2d");
    DOES(xir_op_set_i64(pool, "pool_width", 2));
    REFUSES(net, xir_op_place(pool, NULL), XIR_E_MISSING, "icraft::xir::MaxPool2d has no inputs");
    DOES(xir_op_add_input(pool, NULL));
    REFUSES(net, xir_op_place(pool, NULL), XIR_E_MISSING, "attribute pool_height");
    DOES(xir_op_set_i64(pool, "pool_height", 2));
    REFUSES(net, xir_op_place(pool, NULL), XIR_E_MISSING, "input 'input' of icraft::xir::MaxPool2d is absent");
    DOES(xir_op_set_input(pool, 0, x));
    DOES(xir_op_add_input(pool, x));
    REFUSES(net, xir_op_place(pool, NULL), XIR_E_INVALID, "takes at most 1 inputs");
    DOES(xir_op_remove_input(pool, 1));
    DOES(xir_op_set_i64(pool, "pool_height", 9));
    REFUSES(net, xir_op_place(pool, NULL), XIR_E_INVALID, "a window of 9 rows");
    assert_true(xir_op_is_draft(pool));
    assert_int_equal(xir_op_output_count(pool), 0);
    DOES(xir_op_set_i64(pool, "pool_height", 2));
    DOES(xir_op_place(pool, NULL));
    assert_int_equal(xir_op_output_count(pool), 1);
    CHECK_SOUND(net);
}

static void an_attribute_is_checked_when_it_is_set(void **state) {
    (void)state;
    xir_op *pool = create("icraft::xir::MaxPool2d");
    REFUSES(net, xir_op_set_i64(pool, "pool_width", 0), XIR_E_BOUNDS, "0 is below 1, the least pool_width");
    REFUSES(net, xir_op_set_i64(pool, "pool_with", 1), XIR_E_UNKNOWN, "did you mean 'pool_width'?");
    REFUSES(net, xir_op_set_text(pool, "pool_width", "a"), XIR_E_TYPE, "expected a value of kind int64");
    xir_op *norm = create("icraft::xir::BatchNorm2d");
    REFUSES(net, xir_op_set_params(norm, "mean", x), XIR_E_TYPE, "expected Params");
    REFUSES(net, xir_op_set_params(norm, "mean", NULL), XIR_E_MISSING, "attribute mean");
    xir_network *other = new_net();
    REFUSES(net, xir_op_set_params(norm, "mean", xir_params_new(other, XIR_STR("p"), FP32("C", 4))), XIR_E_INVALID,
            "belong to another network");
    xir_network_free(other);
}

static void validating_lists_what_is_missing(void **state) {
    (void)state;
    xir_op *pool = create("icraft::xir::MaxPool2d");
    assert_int_equal(xir_op_validate(pool, why), XIR_E_MISSING);
    assert_int_equal(xir_diags_count(why), 3);
    CHECK_STR(xir_diags_at(why, 0)->path, "/pool_width");
    CHECK_STR(xir_diags_at(why, 1)->path, "/pool_height");
    CHECK_STR(xir_diags_at(why, 2)->path, "/inputs");
    xir_diags_clear(why);
    DOES(xir_op_set_i64(pool, "pool_width", 2));
    DOES(xir_op_set_i64(pool, "pool_height", 2));
    DOES(xir_op_add_input(pool, x));
    DOES(xir_op_validate(pool, why));          /* its outputs are inferred when it is completed */
    assert_true(xir_op_is_draft(pool));
}

static void the_whole_struct_is_set_at_once(void **state) {
    (void)state;
    xir_op *pool = create("icraft::xir::MaxPool2d");
    xir_max_pool2d_attrs a = xir_max_pool2d_init();
    REFUSES(net, xir_max_pool2d_set(pool, &a), XIR_E_BOUNDS, "the least pool_width");
    a.pool_width = a.pool_height = 8;
    DOES(xir_max_pool2d_set(pool, &a));
    DOES(xir_op_add_input(pool, x));
    DOES(xir_op_place(pool, NULL));
}

static void inferring_completes_it(void **state) {
    (void)state;
    xir_op *relu = create("icraft::xir::ReLU");
    REFUSES(net, xir_op_infer(relu, false), XIR_E_MISSING, "needs 1 inputs");
    DOES(xir_op_add_input(relu, x));
    DOES(xir_op_infer(relu, false));
    assert_false(xir_op_is_draft(relu));
    assert_int_equal(xir_op_output_count(relu), 1);
    /* A chain, before anything is placed. */
    xir_op *next = create("icraft::xir::Sigmoid");
    DOES(xir_op_add_input(next, xir_op_output(relu, 0)));
    DOES(xir_op_place(relu, NULL));
    DOES(xir_op_place(next, NULL));
    CHECK_ORDER(net, "0 1 2");
    CHECK_SOUND(net);
}

static void nothing_is_computed_from_a_draft(void **state) {
    (void)state;
    xir_op *split = create("icraft::xir::Split");
    DOES(xir_op_add_input(split, x));
    assert_int_equal(xir_op_try(split, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "a draft");
    xir_work work = XIR_INIT(xir_work);
    assert_int_equal(xir_op_work(split, &work, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "a draft");
    assert_int_equal(xir_op_run(split, NULL, 0, NULL, 0, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "a draft");
    xir_op *copy = xir_op_clone(split);
    assert_true(xir_op_is_draft(copy));
    REFUSES(net, xir_op_place(copy, NULL), XIR_E_MISSING, "attribute sections");
}

static void outputs_may_be_given(void **state) {
    (void)state;
    xir_op *hard = create("icraft::xir::HardOp");
    DOES(xir_op_add_input(hard, x));
    xir_value *made = xir_op_set_output(hard, 0, xir_value_new(net, XIR_STR("y"), FP32("C", 2), NULL));
    assert_non_null(made);
    DOES(xir_op_place(hard, NULL));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("y")), made);
    xir_op *in = xir_op_create(net, XIR_STR("icraft::xir::Input"));
    REFUSES(net, xir_op_place(in, NULL), XIR_E_INVALID, "must be the first");
}

static void an_input_op_is_created_too(void **state) {
    (void)state;
    xir_network *empty = new_net();
    xir_op *in = xir_op_create(empty, XIR_STR("icraft::xir::Input"));
    assert_non_null(xir_op_set_output(in, 0, xir_value_new(empty, XIR_STR("x"), FP32("C", 2), NULL)));
    DOES(xir_op_place(in, NULL));
    xir_op *out = xir_op_create(empty, XIR_STR("icraft::xir::Output"));
    DOES(xir_op_add_input(out, xir_op_output(in, 0)));
    DOES(xir_op_place(out, NULL));
    DOES(xir_network_validate(empty, why));
    xir_network_free(empty);
}

/* Whatever places an op, or takes it as a sub op, completes it. */
static void replacements_and_sub_ops_are_completed(void **state) {
    (void)state;
    xir_op *relu = xir_value_op(XIR_OP(XIR_AT(net), relu, .input = x));
    xir_op *draft = create("icraft::xir::Tanh");
    REFUSES(net, xir_network_replace_keep_uses(net, relu, draft), XIR_E_MISSING, "needs 1 inputs");
    DOES(xir_op_add_input(draft, x));
    DOES(xir_network_replace_keep_uses(net, relu, draft));
    assert_true(xir_op_is_placed(draft) && !xir_op_is_draft(draft));

    xir_op *all = create("test::All"), *part = create("test::Tap");
    REFUSES(net, xir_op_set_ops(all, "parts", &part, 1), XIR_E_MISSING, "attribute pressure");
    DOES(xir_op_set_i64(part, "pressure", 3));
    DOES(xir_op_set_ops(all, "parts", &part, 1));
    assert_ptr_equal(xir_op_parent(part), all);
    DOES(xir_op_add_input(all, x));
    DOES(xir_op_place(all, NULL));
    assert_true(xir_op_id(part) >= 0);
    CHECK_SOUND(net);
}

static void a_copy_in_another_network_is_completed_there(void **state) {
    (void)state;
    xir_network *other = small_net();
    xir_op *pool = create("icraft::xir::MaxPool2d"), *before = xir_network_last(other);
    DOES(xir_op_set_i64(pool, "pool_width", 2));
    DOES(xir_op_add_input(pool, x));
    xir_mapping *map = xir_mapping_new(net, other);
    DOES(xir_mapping_set(map, x, value_of(other, 2)));
    REFUSES_NULL(other, xir_mapping_clone(map, pool, before), XIR_E_MISSING, "attribute pool_height");
    DOES(xir_op_set_i64(pool, "pool_height", 2));
    xir_op *copy = xir_mapping_clone(map, pool, before);
    assert_true(copy && xir_op_is_placed(copy) && !xir_op_is_draft(copy) && xir_op_is_draft(pool));
    assert_int_equal(xir_op_output_count(copy), 1);
    xir_mapping_free(map);
    CHECK_SOUND(other);
    xir_network_free(other);
}

static void unknown_classes_are_refused(void **state) {
    (void)state;
    REFUSES_NULL(net, xir_op_create(net, XIR_STR("icraft::xir::Conv2")), XIR_E_UNKNOWN,
                 "did you mean 'icraft::xir::Conv2d'?");
    REFUSES_NULL(net, xir_op_create(net, XIR_STR("")), XIR_E_UNKNOWN, "there is no class ''");
    REFUSES_NULL(net, xir_op_create(net, XIR_STR("icraft::xir::Layout")), XIR_E_TYPE, "expected a class of operations");
    assert_non_null(xir_class_opaque(ctx, XIR_STR("someone::Unknown")));
    REFUSES_NULL(net, xir_op_create(net, XIR_STR("someone::Unknown")), XIR_E_UNKNOWN, "there is no class");
}

static void an_erased_draft_is_not_placed(void **state) {
    (void)state;
    xir_op *relu = create("icraft::xir::ReLU");
    DOES(xir_op_erase(relu));
    assert_false(xir_op_is_draft(relu));
    REFUSES(net, xir_op_place(relu, NULL), XIR_E_EXISTS, "has been erased");
}

static int group_up(void **state) {
    int failed = group_begin(state);
    const xir_class_decl *decls[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                      xir_own_all_class(), xir_own_tap_class() };
    for (size_t i = 0; !failed && i < COUNT(decls); i++) failed = xir_class_register(ctx, decls[i], why) != XIR_OK;
    return failed;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, begin_with_input, end_net)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(an_op_is_created_by_name_and_filled_in),
        STORY(an_old_name_creates_it_too),
        STORY(what_is_missing_is_named_when_it_is_placed),
        STORY(an_attribute_is_checked_when_it_is_set),
        STORY(validating_lists_what_is_missing),
        STORY(the_whole_struct_is_set_at_once),
        STORY(inferring_completes_it),
        STORY(nothing_is_computed_from_a_draft),
        STORY(outputs_may_be_given),
        STORY(an_input_op_is_created_too),
        STORY(replacements_and_sub_ops_are_completed),
        STORY(a_copy_in_another_network_is_completed_there),
        STORY(unknown_classes_are_refused),
        STORY(an_erased_draft_is_not_placed),
    };
    return cmocka_run_group_tests(tests, group_up, group_end);
}
