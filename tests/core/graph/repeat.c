/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An op that is like the latest ones of its class is added without checking it again. What makes it differ is seen all
 * the same: values, attributes, types, targets, places, the version of the network and functions of inference. */
#include "support/input_net.h"

static xir_op *elu(xir_value *of, double alpha) {
    xir_elu_attrs attrs = xir_elu_init();
    attrs.alpha = alpha;
    return xir_add_elu(xir_at_end(net), (xir_elu_in){ .input = of }, &attrs);
}

/* The second op finds the type of the first one, the third one is a copy. */
static xir_op *three(void) {
    xir_op *op = NULL;
    for (int i = 0; i < 3; i++) op = elu(x, 2);
    assert_non_null(op);
    return op;
}

static void it_is_a_whole_op(void **state) {
    (void)state;
    xir_op *third = three();
    xir_at at = xir_at_end(net);
    at.scope = XIR_STR("s/");
    at.name = XIR_STR("n");
    xir_elu_attrs attrs = xir_elu_init();
    attrs.alpha = 2;
    xir_op *named = xir_add_elu(at, (xir_elu_in){ .input = xir_op_output(third, 0) }, &attrs);
    CHECK_STR(xir_op_name(named), "s/n");
    assert_int_equal(xir_op_id(third), 3);
    assert_int_equal(xir_op_id(named), 4);
    assert_int_equal(xir_value_id(xir_op_output(named, 0)), 4);
    CHECK_INPUTS(named, "3");
    CHECK_USES(x, "1:0 2:0 3:0");
    assert_ptr_equal(xir_value_type(xir_op_output(named, 0)), xir_value_type(x));
    at = (xir_at){ .net = net, .before = third };
    xir_op *before = xir_add_elu(at, (xir_elu_in){ .input = x }, &attrs);
    CHECK_ORDER(net, "0 1 2 5 3 4");
    assert_true(xir_op_before(before, third));
    CHECK_SOUND(net);
}

static void params_get_their_number_first(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        xir_value *p = xir_params_new(net, XIR_STR(""), FP32("NHWC", 1, 8, 8, 4));
        xir_op *op = xir_add_add(xir_at_end(net), (xir_add_in){ .lhs = x, .rhs = p }, NULL);
        assert_int_equal(xir_value_id(p), 1 + 2 * i);
        assert_int_equal(xir_value_id(xir_op_output(op, 0)), 2 + 2 * i);
    }
    CHECK_SOUND(net);
}

static void after_a_question_about_ids_it_is_found(void **state) {
    (void)state;
    three();
    assert_null(xir_network_op_by_id(net, 4));
    xir_op *fourth = elu(x, 2);
    assert_ptr_equal(xir_network_op_by_id(net, 4), fourth);
    CHECK_SOUND(net);
}

static void other_attributes_are_seen(void **state) {
    (void)state;
    three();
    assert_true(xir_elu_of(elu(x, 3))->alpha == 3);
    assert_true(xir_elu_of(elu(x, 2))->alpha == 2);
    const xir_op *defaults = xir_add_elu(xir_at_end(net), (xir_elu_in){ .input = x }, NULL);
    assert_true(xir_elu_of(defaults)->alpha == xir_elu_init().alpha);
    const xir_elu_attrs by_hand = { .alpha = 2 };
    REFUSES_NULL(net, xir_add_elu(xir_at_end(net), (xir_elu_in){ .input = x }, &by_hand), XIR_E_INVALID,
                 "xir_elu_init");
}

static void other_types_are_seen(void **state) {
    (void)state;
    three();
    xir_cast_attrs attrs = xir_cast_init();
    attrs.target_dtype =
        xir_type_as_tensor(XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "NHWC", 1, 8, 8, 4));
    xir_value *y = XIR_OP(XIR_AT(net), cast, .input = x, .attrs = &attrs);
    assert_non_null(y);
    assert_ptr_equal(xir_value_type(xir_op_output(elu(y, 2), 0)), xir_value_type(y));
}

static void values_that_no_op_may_read_are_refused(void **state) {
    (void)state;
    xir_op *third = three();
    xir_network *other = new_net();
    xir_value *theirs = xir_input(XIR_AT(other), "x", FP32("NHWC", 1, 8, 8, 4));
    REFUSES_NULL(net, elu(theirs, 2), XIR_E_INVALID, "another network");
    REFUSES_NULL(net, elu(NULL, 2), XIR_E_MISSING, "has no inputs");
    xir_value *spent = xir_value_new(net, XIR_STR(""), xir_value_type(x), NULL);
    assert_non_null(xir_op_set_output(third, 0, spent));
    REFUSES_NULL(net, elu(spent, 2), XIR_E_INVALID, "");
    xir_network_free(other);
}

static void other_targets_and_places_are_seen(void **state) {
    (void)state;
    xir_op *third = three();
    xir_elu_attrs attrs = xir_elu_init();
    attrs.alpha = 2;
    xir_at at = xir_at_end(net);
    at.target = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    for (int i = 0; i < 3; i++) {
        const xir_op *there = xir_add_elu(at, (xir_elu_in){ .input = x }, &attrs);
        assert_int_equal(xir_target_kind_of(xir_op_target(there)), XIR_TARGET_BUYI);
    }
    DOES(xir_op_erase(third));
    at = (xir_at){ .net = net, .before = third };
    REFUSES_NULL(net, xir_add_elu(at, (xir_elu_in){ .input = x }, &attrs), XIR_E_INVALID,
                 "not in this network's order");
    assert_int_equal(xir_target_kind_of(xir_op_target(elu(x, 2))), XIR_TARGET_HOST);
}

static void a_new_version_rounds_at_once(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) assert_true(xir_elu_of(elu(x, 4.8))->alpha == (double)4.8f);
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.6.2.82")));
    assert_true(xir_elu_of(elu(x, 4.8))->alpha == 4.8);
}

static xir_status infer_as_bool(xir_infer *at) { return xir_infer_result(at, xir_type_bool(xir_infer_context(at))); }

static void a_new_function_counts_at_once(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_network *here = xir_network_new(own, "n", XIR_FRAMEWORK_PYTORCH, "1");
    const xir_type *type = XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "NC", 1, 2);
    xir_value *in = xir_input(XIR_AT(here), "x", type);
    xir_op *op = NULL;
    for (int i = 0; i < 3; i++) op = xir_add_elu(xir_at_end(here), (xir_elu_in){ .input = in }, NULL);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), type));
    DOES(xir_infer_register(own, xir_elu_class(), XIR_TARGET_HOST, infer_as_bool));
    op = xir_add_elu(xir_at_end(here), (xir_elu_in){ .input = in }, NULL);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), xir_type_bool(own)));
    xir_network_free(here);
    xir_context_free(own);
}

/* Attributes may refer to an object of a network that is freed; another object may get its address. */
static void objects_of_other_networks_are_not_compared_by_address(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) {
        xir_network *other = new_net();
        xir_value *a = xir_input(XIR_AT(other), "a", FP32("NHWC", 1, 8, 8, 4));
        xir_cast_attrs attrs = xir_cast_init();
        const xir_type *type = i < 3 ? XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "NHWC", 1, 8, 8, 4)
                                     : XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP64), "NHWC", 1, 8, 8, 4);
        attrs.target_dtype = xir_type_as_tensor(type);
        xir_value *b = XIR_OP(XIR_AT(other), cast, .input = a, .attrs = &attrs);
        attrs.target_dtype = xir_cast_of(xir_value_op(b))->target_dtype;
        const xir_op *here = xir_add_cast(xir_at_end(net), (xir_cast_in){ .input = x }, &attrs);
        assert_true(xir_cast_of(here)->target_dtype != attrs.target_dtype);
        assert_true(xir_type_equal(xir_value_type(xir_op_output(here, 0)), type));
        xir_network_free(other);
    }
}

/* ---- classes with lists ----------------------------------------------------------------------------------------- */

static xir_value *turned(xir_value *of, const int64_t *dims, size_t n, const xir_layout *layout) {
    xir_transpose_attrs attrs = xir_transpose_init();
    attrs.dims = (xir_i64s){ dims, n };
    attrs.layout = layout;
    return xir_op_output(xir_add_transpose(xir_at_end(net), (xir_transpose_in){ .input = of }, &attrs), 0);
}

/* Lists of a program may be on its stack; each call has another one. */
static xir_value *to(xir_value *of, const char *letters) {
    const int64_t first[] = { 0, 3, 1, 2 }, last[] = { 0, 2, 3, 1 };
    const xir_layout *layout = xir_layout_parse(ctx, xir_str_of(letters), NULL);
    return turned(of, strcmp(letters, "NCHW") == 0 ? first : last, 4, layout);
}

static const void *attrs_of(const xir_value *v) { return xir_transpose_of(xir_value_op(v)); }

static void equal_lists_are_stored_once(void **state) {
    (void)state;
    const xir_value *a = to(x, "NCHW"), *b = to(x, "NCHW");
    assert_ptr_equal(attrs_of(a), attrs_of(b));
    const int64_t other[] = { 0, 3, 2, 1 };
    const xir_value *c = turned(x, other, 4, xir_layout_parse(ctx, XIR_STR("NCHW"), NULL));
    assert_ptr_not_equal(attrs_of(a), attrs_of(c));
    assert_int_equal(xir_transpose_of(xir_value_op(c))->dims.data[2], 2);
    CHECK_SOUND(net);
}

static void a_layout_that_is_spelled_otherwise_is_another_attribute(void **state) {
    (void)state;
    const xir_value *plain = to(x, "NCHW");
    xir_layout spelled = *xir_layout_parse(ctx, XIR_STR("NCHW"), NULL);
    spelled.head.absent = 1;   /* a file that leaves a row out */
    spelled.head.hash = 0;
    const int64_t first[] = { 0, 3, 1, 2 };
    const xir_value *other = turned(x, first, 4, &spelled);
    assert_ptr_not_equal(attrs_of(plain), attrs_of(other));
    assert_int_equal(((const xir_object *)xir_transpose_of(xir_value_op(other))->layout)->absent, 1);
    assert_int_equal(((const xir_object *)xir_transpose_of(xir_value_op(to(x, "NCHW")))->layout)->absent, 0);
}

/* An op and its inverse in turn, and a class between them. */
static void two_of_a_class_are_remembered(void **state) {
    (void)state;
    xir_value *v = x;
    for (int i = 0; i < 6; i++) {
        xir_value *first = to(v, "NCHW");
        assert_int_equal(xir_type_dim(xir_value_type(first), 1, false), 4);
        v = to(xir_op_output(elu(first, 2), 0), "NHWC");
        assert_ptr_equal(xir_value_type(v), xir_value_type(x));
    }
    assert_int_equal(xir_op_id(xir_value_op(v)), 18);
    assert_int_equal(xir_value_id(v), 18);
    xir_value *third = to(to(v, "NCHW"), "NCHW");   /* the same attributes on another type */
    assert_int_equal(xir_type_dim(xir_value_type(third), 1, false), 8);
    CHECK_SOUND(net);
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, begin_with_input, end_net)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(it_is_a_whole_op),
        STORY(params_get_their_number_first),
        STORY(after_a_question_about_ids_it_is_found),
        STORY(other_attributes_are_seen),
        STORY(other_types_are_seen),
        STORY(values_that_no_op_may_read_are_refused),
        STORY(other_targets_and_places_are_seen),
        STORY(a_new_version_rounds_at_once),
        STORY(a_new_function_counts_at_once),
        STORY(objects_of_other_networks_are_not_compared_by_address),
        STORY(equal_lists_are_stored_once),
        STORY(a_layout_that_is_spelled_otherwise_is_another_attribute),
        STORY(two_of_a_class_are_remembered),
    };
    return RUN_GROUP(tests);
}
