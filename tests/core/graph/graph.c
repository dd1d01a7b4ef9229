/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Building: ids as the original assigns them, refused calls that change nothing, types given or inferred, and
 * findings that name the place of the call. */
#include <stdio.h>
#include <xir/serialize.h>
#include <xir/icraft.h>
#include "support/net.h"

static xir_value *in_value(xir_network *net) {
    xir_value *x = xir_input(xir_at_end(net), "in", FP32("NHWC", 1, 8, 8, 3));
    assert_non_null(x);
    return x;
}

static xir_value *weights(xir_network *net, const char *name) {
    xir_value *w = xir_params_new(net, xir_str_of(name), FP32("HWIO", 3, 3, 3, 4));
    assert_non_null(w);
    return w;
}

static xir_value *words(xir_network *net, const char *name) {
    xir_value *w = xir_params_new(net, xir_str_of(name), FP32("*", 4));
    assert_non_null(w);
    return w;
}

/* A HardOp that is not placed: Params as instructions, sub ops, n outputs. */
static xir_op *hard(xir_network *net, xir_values instr, xir_ops parts, size_t n) {
    const xir_type *type = FP32("*", 4);
    const xir_type *const types[] = { type, type, type };
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.instr = instr;
    attrs.sub_hard_ops = parts;
    return xir_op_new(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, .types = types, .n_types = n));
}

#define OPS(...) ((xir_ops){ (xir_op *const[]){ __VA_ARGS__ }, COUNT(((xir_op *const[]){ __VA_ARGS__ })) })
#define NO_OPS   ((xir_ops){ NULL, 0 })
#define NO_VALUES ((xir_values){ NULL, 0 })

static int64_t v_id(const xir_op *op, int64_t i) { return xir_value_id(xir_op_output(op, i)); }

/* ---- ids -------------------------------------------------------------------------------------------------------- */

static void ops_are_numbered_from_0(void **state) {
    (void)state;
    xir_network *net = small_net();
    CHECK_ORDER(net, "0 1 2 3 4 5");
    assert_int_equal(xir_network_next_op_id(net), 6);
    assert_int_equal(xir_network_next_value_id(net), 6);
    CHECK_INPUTS(op_of(net, 1), "0 1");
    CHECK_INPUTS(op_of(net, 2), "2");
    CHECK_INPUTS(op_of(net, 3), "3");
    CHECK_INPUTS(op_of(net, 4), "4 4");
    CHECK_INPUTS(op_of(net, 5), "5");
    CHECK_USES(value_of(net, 0), "1:0");
    CHECK_USES(value_of(net, 1), "1:1");
    CHECK_USES(value_of(net, 4), "4:0 4:1");
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void after_100_comes_101(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = FP32("NHWC", 1, 8, 8, 3);
    xir_op *in = xir_network_add(net,
                                 &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_input_class()), TYPES(type),
                                           .id = 100));
    xir_value *x = xir_build_relu(xir_at_end(net), xir_op_output(in, 0), NULL);
    assert_int_equal(xir_op_id(in), 100);
    assert_int_equal(xir_op_id(xir_value_op(x)), 101);
    assert_int_equal(xir_value_id(x), 1);   /* values have their own numbers */
    xir_op *low = xir_network_add(net,
                                  &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_relu_class()), INPUTS(x),
                                            .id = 7));
    xir_op *next = xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(x)));
    assert_int_equal(xir_op_id(low), 7);
    assert_int_equal(xir_op_id(next), 102);
    CHECK_ORDER(net, "100 101 7 102");
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void an_id_set_later_counts_too(void **state) {
    (void)state;
    xir_network *net = small_net();
    DOES(xir_op_set_id(op_of(net, 2), 50));
    DOES(xir_value_set_id(value_of(net, 3), 1000));
    xir_value *x = xir_build_relu(xir_at_end(net), value_of(net, 5), NULL);
    assert_int_equal(xir_op_id(xir_value_op(x)), 51);
    assert_int_equal(xir_value_id(x), 1001);
    assert_null(xir_network_op_by_id(net, 2));
    assert_null(xir_network_value_by_id(net, 3));
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void params_inputs_then_params_attributes_then_outputs(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    xir_value *p[5];
    for (int i = 0; i < 5; i++) p[i] = words(net, "p");
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.instr = XIR_VALUES(p[0], p[1]);
    attrs.params = XIR_VALUES(p[2]);
    const xir_type *type = FP32("*", 4);
    xir_op *op =
        xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(p[3], x, p[4]), TYPES(type, type)));
    assert_non_null(op);
    CHECK_INPUTS(op, "1 0 2");
    assert_int_equal(xir_value_id(p[0]), 3);
    assert_int_equal(xir_value_id(p[1]), 4);
    assert_int_equal(xir_value_id(p[2]), 5);
    assert_int_equal(v_id(op, 0), 6);
    assert_int_equal(v_id(op, 1), 7);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void params_that_have_an_id_keep_it(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net), *w = weights(net, "w");
    assert_true(xir_value_id(w) < 0);
    DOES(xir_value_set_id(w, 40));
    xir_value *y = XIR_CONV2D(xir_at_end(net), .input = x, .weights = w, .pad = 1);
    xir_value *z = XIR_CONV2D(xir_at_end(net), .input = x, .weights = w, .pad = 1);   /* shared */
    assert_int_equal(xir_value_id(w), 40);
    assert_int_equal(xir_value_id(y), 41);
    assert_int_equal(xir_value_id(z), 42);
    CHECK_USES(w, "1:1 2:1");
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void unused_params_have_no_id(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *w = weights(net, "w");
    assert_true(xir_value_id(w) < 0);
    assert_int_equal(xir_network_params(net, NULL, 0), 1);
    assert_int_equal(xir_network_next_value_id(net), 6);
    xir_network_free(net);
}

static void sub_ops_are_numbered_with_their_parent(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *p = words(net, "p");
    xir_op *a = hard(net, XIR_VALUES(p), NO_OPS, 1), *b = hard(net, NO_VALUES, NO_OPS, 1);
    xir_op *op = hard(net, NO_VALUES, OPS(a, b), 1);
    assert_true(xir_op_id(a) < 0 && xir_op_id(op) < 0);
    DOES(xir_op_place(op, NULL));
    assert_int_equal(xir_op_id(op), 6);
    assert_int_equal(xir_op_id(a), 7);
    assert_int_equal(xir_op_id(b), 8);
    assert_int_equal(xir_value_id(p), 6);
    assert_int_equal(v_id(a, 0), 7);
    assert_int_equal(v_id(b, 0), 8);
    assert_int_equal(v_id(op, 0), 9);
    assert_ptr_equal(xir_op_parent(a), op);
    assert_false(xir_op_is_placed(a));
    assert_ptr_equal(op_of(net, 7), a);
    assert_ptr_equal(value_of(net, 8), xir_op_output(b, 0));
    assert_int_equal(xir_network_op_count(net), 7);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void the_last_ids(void **state) {
    (void)state;
    xir_network *net = small_net();
    DOES(xir_op_set_id(op_of(net, 5), INT64_MAX - 1));
    REFUSES_NULL(net, xir_build_relu(xir_at_end(net), value_of(net, 5), NULL), XIR_E_LIMIT, "there is no op id left");
    DOES(xir_op_set_id(op_of(net, INT64_MAX - 1), 5));
    xir_network_free(net);

    net = small_net();
    DOES(xir_value_set_id(value_of(net, 5), INT64_MAX - 1));
    REFUSES_NULL(net, xir_build_relu(xir_at_end(net), value_of(net, 0), NULL), XIR_E_LIMIT, "there are no ids left");
    xir_value *w = weights(net, "w");
    REFUSES(net, xir_op_add_input(op_of(net, 4), w), XIR_E_LIMIT, "there are no ids left");
    REFUSES(net, xir_op_set_outputs(op_of(net, 2), (const xir_type *const[]){ NULL, NULL }, 2), XIR_E_LIMIT, "there are no ids left");
    xir_network_free(net);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void a_class_that_is_not_of_ops_is_refused(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op_desc none = XIR_INIT(xir_op_desc, .id = XIR_NO_ID), target = DESC(buyi_target, .name = XIR_STR(""));
    REFUSES_NULL(net, xir_network_add(net, &none), XIR_E_TYPE, "expected a class of operations");
    REFUSES_NULL(net, xir_op_new(net, &none), XIR_E_TYPE, "expected a class of operations");
    REFUSES_NULL(net, xir_network_add(net, &target), XIR_E_TYPE, "expected a class of operations, found icraft::xir::BuyiTarget");
    xir_network_free(net);
}

static void the_input_op_is_first_and_the_only_one(void **state) {
    (void)state;
    xir_network *net = small_net(), *empty = new_net();
    const xir_type *type = FP32("NHWC", 1, 8, 8, 3);
    REFUSES_NULL(net, xir_input(xir_at_end(net), "in2", type), XIR_E_INVALID, "icraft::xir::Input 'in2' was added to a network that has 6 ops");
    REFUSES_NULL(empty, xir_network_add(empty, &(xir_op_desc)DESC(relu, TYPES(type), .name = XIR_STR("r"))),
                 XIR_E_INVALID, "icraft::xir::ReLU 'r' was added to an empty network: the first op must be an Input");
    REFUSES_NULL(empty, xir_network_add(empty, &(xir_op_desc)DESC(hard_op, TYPES(type))), XIR_E_INVALID, "the first op must be an Input");
    xir_op *late = xir_op_new(net, &(xir_op_desc)DESC(input, TYPES(type)));
    REFUSES(net, xir_op_place(late, NULL), XIR_E_INVALID, "was added to a network that has 6 ops");
    xir_network_free(net);
    xir_network_free(empty);
}

static void a_taken_id_is_refused(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op_desc relu = DESC(relu, INPUTS(value_of(net, 0)), .name = XIR_STR("r"));
    for (relu.id = 0; relu.id < 6; relu.id++) {
        REFUSES_NULL(net, xir_network_add(net, &relu), XIR_E_EXISTS, "of icraft::xir::ReLU 'r' is taken");
    }
    relu.id = -5;
    REFUSES_NULL(net, xir_network_add(net, &relu), XIR_E_BOUNDS, "op id -5 is below 0");
    REFUSES(net, xir_op_set_id(op_of(net, 1), 2), XIR_E_EXISTS, "op id 2 is taken");
    REFUSES(net, xir_op_set_id(op_of(net, 1), -1), XIR_E_BOUNDS, "op id -1 is below 0");
    REFUSES(net, xir_value_set_id(value_of(net, 2), 1), XIR_E_EXISTS, "value id 1 is taken");
    REFUSES(net, xir_value_set_id(value_of(net, 2), -1), XIR_E_BOUNDS, "value id -1 is below 0");
    DOES(xir_op_set_id(op_of(net, 1), 1));
    DOES(xir_value_set_id(value_of(net, 2), 2));
    xir_network_free(net);
}

static void an_id_taken_before_placing_is_refused_then(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *op = hard(net, NO_VALUES, NO_OPS, 2);
    DOES(xir_op_set_id(op, 9));
    DOES(xir_value_set_id(xir_op_output(op, 0), 20));
    REFUSES(net, xir_value_set_id(xir_op_output(op, 1), 20), XIR_E_EXISTS, "value id 20 is taken");
    assert_null(xir_network_op_by_id(net, 9));   /* it has no place yet */
    assert_null(xir_network_value_by_id(net, 20));
    DOES(xir_op_set_id(op_of(net, 2), 9));
    REFUSES(net, xir_op_place(op, NULL), XIR_E_EXISTS, "op id 9 is taken");
    DOES(xir_op_set_id(op, 10));
    DOES(xir_value_set_id(value_of(net, 3), 20));
    REFUSES(net, xir_op_place(op, NULL), XIR_E_EXISTS, "value id 20 is taken");
    DOES(xir_value_set_id(xir_op_output(op, 0), 21));
    DOES(xir_op_place(op, NULL));
    assert_int_equal(xir_op_id(op), 10);
    assert_int_equal(v_id(op, 0), 21);
    assert_int_equal(v_id(op, 1), 22);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void ids_within_a_family_are_compared(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *a = hard(net, NO_VALUES, NO_OPS, 1), *b = hard(net, NO_VALUES, NO_OPS, 1),
            *op = hard(net, NO_VALUES, OPS(a, b), 0);
    DOES(xir_op_set_id(a, 30));
    DOES(xir_op_set_id(b, 30));
    REFUSES(net, xir_op_place(op, NULL), XIR_E_EXISTS, "op id 30 is taken");
    DOES(xir_op_set_id(b, 31));
    DOES(xir_op_set_id(op, 31));
    REFUSES(net, xir_op_place(op, NULL), XIR_E_EXISTS, "31 is taken");
    DOES(xir_op_set_id(op, 32));
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void an_erased_op_gives_its_ids_back(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *op = hard(net, NO_VALUES, NO_OPS, 1);
    DOES(xir_op_set_id(op, 9));
    DOES(xir_value_set_id(xir_op_output(op, 0), 20));
    DOES(xir_op_erase(op));
    DOES(xir_op_set_id(op_of(net, 2), 9));
    DOES(xir_value_set_id(value_of(net, 3), 20));
    DOES(xir_op_erase(op_of(net, 5)));
    DOES(xir_op_set_id(op_of(net, 4), 5));
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void required_inputs_must_be_given(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net), *w = weights(net, "w");
    xir_at at = xir_at_end(net);
    at.name = XIR_STR("c");
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(relu, .name = XIR_STR("r"))), XIR_E_MISSING, "icraft::xir::ReLU 'r' has no inputs");
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(conv2d, INPUTS(x), .name = XIR_STR("c"))), XIR_E_MISSING,
                 "icraft::xir::Conv2d 'c' needs 2 inputs, 1 were given");
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(conv2d, INPUTS(NULL, w), .name = XIR_STR("c"))),
                 XIR_E_MISSING, "input 'input' of icraft::xir::Conv2d 'c' is absent");
    REFUSES_NULL(net, xir_add_conv2d(at, (xir_conv2d_in){ .input = x }, NULL), XIR_E_MISSING, "input 'weights' of icraft::xir::Conv2d 'c' is absent");
    REFUSES_NULL(net, xir_add_conv2d(at, (xir_conv2d_in){ 0 }, NULL), XIR_E_MISSING, "icraft::xir::Conv2d 'c' has no inputs");
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(x, x))), XIR_E_INVALID, "takes at most 1 inputs, 2 were given");
    REFUSES_NULL(net, xir_output(at, NO_VALUES), XIR_E_MISSING, "has no inputs");
    REFUSES_NULL(net, xir_output(at, XIR_VALUES(x, NULL)), XIR_E_MISSING, "input 1 of icraft::xir::Output 'c' is absent");
    REFUSES_NULL(net, xir_output(at, XIR_VALUES(NULL, x)), XIR_E_MISSING, "input 0 of icraft::xir::Output 'c' is absent");
    xir_network_free(net);
}

static void absent_optional_inputs_are_left_out(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net), *w = weights(net, "w");
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(conv2d, INPUTS(x, w, NULL)));
    CHECK_INPUTS(op, "0 1");
    xir_network_free(net);
}

static void values_of_another_network_are_refused(void **state) {
    (void)state;
    xir_network *net = small_net(), *other = small_net();
    xir_value *strange = value_of(other, 2), *strange_w = value_of(other, 1), *own = value_of(net, 0);
    REFUSES_NULL(net, xir_build_relu(xir_at_end(net), strange, "r"), XIR_E_INVALID, "input 0 of icraft::xir::ReLU 'r' belongs to another network");
    REFUSES_NULL(net, XIR_CONV2D(xir_at_end(net), .input = own, .weights = strange_w), XIR_E_INVALID, "input 1 of icraft::xir::Conv2d belongs to another");
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.instr = XIR_VALUES(strange_w);
    xir_op_desc desc = DESC(hard_op, .attrs = &attrs, .types = NULL);
    const xir_type *type = FP32("*", 4);
    desc.types = &type;
    desc.n_types = 1;
    REFUSES_NULL(net, xir_network_add(net, &desc), XIR_E_INVALID, "Params in an attribute belong to another network");
    attrs.instr = NO_VALUES;
    const xir_entry entry = { XIR_STR("table"), { .kind = XIR_ANY_PARAMS, .as.params = strange_w } };
    attrs.device_info = (xir_map){ &entry, 1 };
    REFUSES_NULL(net, xir_network_add(net, &desc), XIR_E_INVALID, "Params in an attribute belong to another network");
    CHECK_SOUND(other);
    xir_network_free(net);
    xir_network_free(other);
}

static void the_place_must_be_one(void **state) {
    (void)state;
    xir_network *net = small_net(), *other = small_net();
    xir_op_desc relu = DESC(relu, INPUTS(value_of(net, 0)), .before = op_of(other, 2));
    REFUSES_NULL(net, xir_network_add(net, &relu), XIR_E_INVALID, "is not in this network's order");
    relu.before = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(value_of(net, 0))));
    REFUSES_NULL(net, xir_network_add(net, &relu), XIR_E_INVALID, "is not in this network's order");
    xir_op *op = relu.before;
    REFUSES(net, xir_op_place(op, op), XIR_E_INVALID, "is not in this network's order");
    DOES(xir_op_place(op, op_of(net, 3)));
    CHECK_ORDER(net, "0 1 2 6 3 4 5");
    REFUSES(net, xir_op_place(op, NULL), XIR_E_EXISTS, "op 6 is in a network already");
    DOES(xir_op_erase(op));
    REFUSES(net, xir_op_place(op, NULL), XIR_E_EXISTS, "has been erased");
    xir_network_free(net);
    xir_network_free(other);
}

static void bad_attributes_are_refused(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    xir_at at = { .net = net, .name = XIR_STR("p") };
    xir_max_pool2d_attrs pool = xir_max_pool2d_init();   /* pool_width is required: it is still 0 */
    pool.pool_height = 2;
    REFUSES_NULL(net, xir_add_max_pool2d(at, (xir_max_pool2d_in){ x }, &pool), XIR_E_BOUNDS, "0 is below 1, the least pool_width of icraft::xir::MaxPool2d 'p'");
    REFUSES_NULL(net, xir_add_max_pool2d(at, (xir_max_pool2d_in){ x }, NULL), XIR_E_MISSING, "attribute pool_width of icraft::xir::MaxPool2d 'p' has no default and is not set");
    REFUSES_NULL(net, xir_add_squeeze(at, (xir_squeeze_in){ x }, NULL), XIR_E_MISSING, "attribute axis");
    const xir_squeeze_attrs none = xir_squeeze_init();   /* an empty list is a choice: every dim of 1 */
    assert_non_null(xir_add_squeeze(at, (xir_squeeze_in){ x }, &none));
    pool.pool_width = 20;
    REFUSES_NULL(net, xir_add_max_pool2d(at, (xir_max_pool2d_in){ x }, &pool), XIR_E_INVALID, "does not fit");
    REFUSES_NULL(net, xir_build_cast(at, x, NULL, "k"), XIR_E_MISSING, "attribute target_dtype of icraft::xir::Cast 'k' is null");
    REFUSES_NULL(net, xir_input(xir_at_end(net), "i", NULL), XIR_E_MISSING, "has no type");
    REFUSES_NULL(net, XIR_CONV2D(xir_at_end(net), .input = x, .weights = words(net, "w")), XIR_E_INVALID, "expected 4");
    xir_network_free(net);
}

static void every_bad_attribute_is_a_finding(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    const xir_max_pool2d_attrs *pool = XIR_ATTRS(max_pool2d, (pool_width, 0), (pool_height, 0), (stride_width, 0),
                                                 (stride_height, 0), (dilation_height, 0));
    assert_null(xir_add_max_pool2d(xir_at_end(net), (xir_max_pool2d_in){ x }, pool));
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 5);
    CHECK_STR(xir_diags_at(xir_network_diags(net), 4)->path, "/dilation_height");
    xir_network_free(net);
}

static void sub_ops_must_be_free(void **state) {
    (void)state;
    xir_network *net = small_net(), *other = small_net();
    xir_op *a = hard(net, NO_VALUES, NO_OPS, 1), *family = hard(net, NO_VALUES, OPS(a), 1),
            *strange = hard(other, NO_VALUES, NO_OPS, 1);
    REFUSES_NULL(net, hard(net, NO_VALUES, OPS(a), 1), XIR_E_INVALID, "a sub op must be an unplaced op of the same network");
    REFUSES_NULL(net, hard(net, NO_VALUES, OPS(strange), 1), XIR_E_INVALID, "a sub op must be");
    REFUSES_NULL(net, hard(net, NO_VALUES, OPS(op_of(net, 2)), 1), XIR_E_INVALID, "a sub op must be");
    REFUSES_NULL(net, hard(net, NO_VALUES, OPS(NULL), 1), XIR_E_INVALID, "a sub op must be");
    REFUSES(net, xir_op_place(a, NULL), XIR_E_EXISTS, "is in a network already");
    REFUSES(net, xir_op_erase(a), XIR_E_IN_USE, "is a sub op: change its parent");
    xir_hard_op_attrs self = xir_hard_op_init();
    self.sub_hard_ops = OPS(family);
    REFUSES(net, xir_hard_op_set(family, &self), XIR_E_INVALID, "a sub op must be");
    REFUSES(net, xir_hard_op_set(a, &self), XIR_E_INVALID, "a sub op must be");

    /* One of several is not free: the others are unchanged. */
    xir_op *b = hard(net, NO_VALUES, NO_OPS, 1);
    REFUSES_NULL(net, hard(net, NO_VALUES, OPS(b, a), 1), XIR_E_INVALID, "a sub op must be");
    assert_null(xir_op_parent(b));
    assert_non_null(hard(net, NO_VALUES, OPS(b), 1));
    CHECK_SOUND(net);
    xir_network_free(net);
    xir_network_free(other);
}

static void a_refused_op_releases_its_sub_ops(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *part = hard(net, NO_VALUES, NO_OPS, 1);
    DOES(xir_value_set_id(xir_op_output(part, 0), 77));
    DOES(xir_value_set_id(value_of(net, 3), 77));   /* so that placing is refused at the end */
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = OPS(part);
    const xir_type *type = FP32("*", 4);
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, TYPES(type))), XIR_E_EXISTS, "value id 77 is taken");
    assert_null(xir_op_parent(part));
    DOES(xir_op_place(part, NULL) == XIR_E_EXISTS ? XIR_OK : XIR_E_INVALID);
    xir_network_clear_status(net);
    DOES(xir_value_set_id(xir_op_output(part, 0), 78));
    DOES(xir_op_place(part, NULL));
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- two steps -------------------------------------------------------------------------------------------------- */

static void an_op_that_is_not_placed_uses_its_inputs(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *op = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(value_of(net, 2)), .name = XIR_STR("late")));
    assert_non_null(op);
    assert_false(xir_op_is_placed(op));
    assert_true(xir_op_id(op) < 0);
    assert_true(v_id(op, 0) < 0);
    assert_int_equal(xir_value_use_count(value_of(net, 2)), 2);
    assert_int_equal(xir_network_op_count(net), 6);
    assert_int_equal(xir_network_index_of(net, op), -1);
    assert_null(xir_network_op_by_name(net, XIR_STR("late")));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), xir_value_type(value_of(net, 2))));
    xir_value *out = xir_op_output(op, 0);
    DOES(xir_op_place(op, op_of(net, 3)));
    assert_ptr_equal(xir_op_output(op, 0), out);   /* no pointer changes */
    assert_int_equal(xir_op_id(op), 6);
    assert_int_equal(xir_value_id(out), 6);
    assert_ptr_equal(xir_op_next(op), op_of(net, 3));
    assert_ptr_equal(xir_op_prev(op), op_of(net, 2));
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("late")), op);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void an_op_that_is_never_placed_dies_with_its_network(void **state) {
    (void)state;
    xir_network *net = small_net();
    for (int i = 0; i < 5; i++) assert_non_null(xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(value_of(net, 2)))));
    CHECK_SOUND(net);
    xir_network_free(net);   /* the group's allocator counts */
}

static void chains_are_made_before_they_are_placed(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *first = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(value_of(net, 0))));
    xir_op *second = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(xir_op_output(first, 0))));
    DOES(xir_op_place(second, NULL));
    DOES(xir_op_place(first, second));
    CHECK_ORDER(net, "0 1 2 3 4 5 7 6");
    CHECK_INPUTS(second, "7");
    assert_true(xir_op_before(first, second));
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void an_op_is_placed_where_the_caller_says(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_at at = { .net = net, .before = op_of(net, 3) };
    xir_build_relu(at, value_of(net, 3), "a");
    xir_build_relu(at, value_of(net, 3), "b");
    at.before = op_of(net, 1);
    xir_build_relu(at, value_of(net, 0), "c");
    CHECK_ORDER(net, "0 8 1 2 6 7 3 4 5");
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static void types_that_are_given_are_kept(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    const xir_type *other = FP32("*", 5);
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(x), TYPES(other)));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), other));
    DOES(xir_op_infer(op, false));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), other));
    DOES(xir_op_infer(op, true));
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), xir_value_type(x)));
    xir_network_free(net);
}

static void a_type_may_be_missing(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    const xir_type *none = NULL;
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(x), TYPES(none)));
    assert_non_null(op);
    assert_null(xir_value_type(xir_op_output(op, 0)));
    REFUSES_NULL(net, xir_build_relu(xir_at_end(net), xir_op_output(op, 0), "r"), XIR_E_MISSING, "input is absent or has no type");
    xir_network_free(net);
}

static void inference_follows_what_changes(void **state) {
    (void)state;
    xir_network *net = small_net();
    DOES(xir_value_set_type(value_of(net, 0), FP32("NHWC", 1, 16, 16, 3)));
    assert_true(xir_type_equal(xir_value_type(value_of(net, 5)), FP32("NHWC", 1, 4, 4, 4)));
    DOES(xir_network_infer(net, why));
    assert_true(xir_type_equal(xir_value_type(value_of(net, 2)), FP32("NHWC", 1, 16, 16, 4)));
    assert_true(xir_type_equal(xir_value_type(value_of(net, 5)), FP32("NHWC", 1, 8, 8, 4)));
    assert_int_equal(xir_diags_count(why), 0);

    DOES(xir_op_set_i64(op_of(net, 1), "stride_width", 2));
    DOES(xir_op_infer(op_of(net, 1), true));
    assert_true(xir_type_equal(xir_value_type(value_of(net, 2)), FP32("NHWC", 1, 16, 8, 4)));
    assert_true(xir_type_equal(xir_value_type(value_of(net, 3)), FP32("NHWC", 1, 16, 16, 4)));   /* not inferred */
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void inference_of_a_network_says_where_it_fails(void **state) {
    (void)state;
    xir_network *net = small_net();
    DOES(xir_value_set_type(value_of(net, 0), FP32("NHWC", 1, 16, 16, 5)));
    assert_int_equal(xir_network_infer(net, why), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 1);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1/inputs/1");
    check_finding(XIR_E_INVALID,
                  "icraft::xir::Conv2d 'conv': input has 5 channels, the kernel takes 3 in each of 1 group: expected channels");
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void a_class_without_inference_is_reported(void **state) {
    (void)state;
    xir_network *net = new_net();
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(input, .types = NULL)), XIR_E_UNKNOWN, "icraft::xir::Input has no type inference: its output types must be given");
    xir_value *x = in_value(net);
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), .name = XIR_STR("h"))), XIR_E_UNKNOWN,
                 "icraft::xir::HardOp 'h' has no type inference");
    assert_int_equal(xir_op_infer(xir_value_op(x), true), XIR_E_UNKNOWN);
    xir_network_clear_status(net);
    DOES(xir_network_infer(net, why));   /* they keep their types */
    xir_network_free(net);
}

static void names_are_found_after_every_change(void **state) {
    (void)state;
    xir_network *net = small_net();
    assert_null(xir_network_op_by_name(net, XIR_STR("twin")));
    assert_null(xir_network_value_by_name(net, XIR_STR("twin")));
    DOES(xir_op_set_name(op_of(net, 3), XIR_STR("twin")));
    DOES(xir_op_set_name(op_of(net, 2), XIR_STR("twin")));
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("twin")), op_of(net, 2));   /* the first of the order */
    DOES(xir_op_move(op_of(net, 3), op_of(net, 1)));
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("twin")), op_of(net, 3));
    DOES(xir_op_set_name(op_of(net, 3), XIR_STR("")));
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("twin")), op_of(net, 2));
    assert_null(xir_network_op_by_name(net, XIR_STR("")));

    DOES(xir_value_set_name(value_of(net, 5), XIR_STR("twin")));
    xir_value *table = xir_params_new(net, XIR_STR("twin"), FP32("*", 4));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("twin")), value_of(net, 5));   /* nothing uses the other */
    DOES(xir_op_add_input(op_of(net, 2), table));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("twin")), table);
    DOES(xir_network_remove(net, op_of(net, 2)));
    assert_null(xir_network_op_by_name(net, XIR_STR("twin")));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("twin")), value_of(net, 5));
    for (int i = 0; i < 3000; i++)   /* more names than the table keeps */
        DOES(xir_op_set_name(op_of(net, 4), i % 2 ? XIR_STR("odd") : XIR_STR("even")));
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("odd")), op_of(net, 4));
    assert_null(xir_network_op_by_name(net, XIR_STR("even")));
    xir_network_free(net);
}

static void several_ids_are_found_at_once(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *ops[3];
    xir_value *values[3];
    const int64_t ids[] = { 4, 99, 0 };
    assert_int_equal(xir_network_ops_by_id(net, ids, 3, ops), 2);
    assert_int_equal(xir_network_values_by_id(net, ids, 3, values), 2);
    assert_true(ops[0] == op_of(net, 4) && !ops[1] && ops[2] == op_of(net, 0));
    assert_true(values[0] == value_of(net, 4) && !values[1] && values[2] == value_of(net, 0));
    xir_network_free(net);
}

static void outputs_follow_their_types(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *in = op_of(net, 0);
    const xir_type *a = FP32("NHWC", 1, 8, 8, 3), *b = FP32("*", 2);
    DOES(xir_value_set_name(value_of(net, 0), XIR_STR("image")));
    DOES(xir_op_set_outputs(in, (const xir_type *const[]){ a, b, b }, 3));   /* all of them move */
    assert_int_equal(xir_op_output_count(in), 3);
    assert_int_equal(v_id(in, 0), 0);
    assert_int_equal(v_id(in, 1), 6);
    assert_int_equal(v_id(in, 2), 7);
    CHECK_STR(xir_value_name(value_of(net, 0)), "image");
    CHECK_USES(value_of(net, 0), "1:0");
    CHECK_INPUTS(op_of(net, 1), "0 1");
    CHECK_SOUND(net);
    xir_value *relu = xir_build_relu(xir_at_end(net), value_of(net, 7), NULL);
    REFUSES(net, xir_op_set_outputs(in, (const xir_type *const[]){ a }, 1), XIR_E_IN_USE, "output 2 of op 0 is used by op 6");
    DOES(xir_op_erase(xir_value_op(relu)));
    DOES(xir_op_set_outputs(in, (const xir_type *const[]){ b }, 1));
    assert_true(xir_type_equal(xir_value_type(value_of(net, 0)), b));
    assert_null(xir_network_value_by_id(net, 6));
    REFUSES(net, xir_op_set_outputs(in, NULL, 0), XIR_E_IN_USE, "output 0 of op 0 is used by op 1");
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void outputs_of_an_op_that_is_not_placed_move_too(void **state) {
    (void)state;
    xir_network *net = small_net();
    const xir_type *type = FP32("*", 4);
    xir_op *op = hard(net, NO_VALUES, NO_OPS, 1);
    CHECK_SOUND(net);   /* this looks ids up: the tables exist from now on */
    DOES(xir_value_set_id(xir_op_output(op, 0), 50));
    xir_op *reader = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(xir_op_output(op, 0))));
    DOES(xir_op_set_outputs(op, (const xir_type *const[]){ type, type, type }, 3));
    assert_ptr_equal(xir_op_input(reader, 0), xir_op_output(op, 0));
    assert_true(v_id(op, 1) < 0);
    assert_null(xir_network_value_by_id(net, 50));
    DOES(xir_op_place(op, NULL));
    assert_ptr_equal(value_of(net, 50), xir_op_output(op, 0));
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- what is kept of what was given ----------------------------------------------------------------------------- */

static void all_arguments_are_copied(void **state) {
    (void)state;
    xir_network *net = new_net();
    char name[] = "conv1", scope[] = "stem/";
    xir_value *x = in_value(net), *w = weights(net, "w");
    xir_value *inputs[] = { x, w };
    xir_conv2d_attrs attrs = xir_conv2d_attrs_square(1, 1, 1, 1);
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(conv2d, .attrs = &attrs, .inputs = inputs, .n_inputs = 2,
                                                         .name = { name, 5 }));
    xir_at at = { .net = net, .scope = { scope, 5 } };
    xir_value *y = xir_build_relu(at, xir_op_output(op, 0), "r");
    memset(name, 'x', 5), memset(scope, 'x', 5), memset(&attrs, 0, sizeof attrs), memset(inputs, 0, sizeof inputs);
    CHECK_STR(xir_op_name(op), "conv1");
    CHECK_STR(xir_op_name(xir_value_op(y)), "stem/r");
    CHECK_INPUTS(op, "0 1");
    assert_int_equal(xir_conv2d_of(op)->pad_left, 1);
    xir_network_free(net);
}

static void a_network_outlives_the_context_s_types(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_network *net = small_net_in(own);
    xir_context_free(own);   /* the network keeps it alive */
    char *text = picture(net);
    assert_non_null(strstr(text, "icraft::xir::TensorType"));
    free(text);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void reals_are_rounded_and_equal_attributes_shared(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    xir_relu_attrs attrs = xir_relu_init();
    attrs.alpha = 0.1;
    xir_op *a = xir_add_relu(xir_at_end(net), (xir_relu_in){ x }, &attrs),
            *b = xir_add_relu(xir_at_end(net), (xir_relu_in){ x }, &attrs);
    assert_true(xir_relu_of(a)->alpha == (double)0.1f);
    assert_ptr_equal(xir_relu_of(a), xir_relu_of(b));
    DOES(xir_op_set_real(a, "alpha", 0.2));
    assert_true(xir_relu_of(b)->alpha == (double)0.1f);
    xir_network_free(net);
}

static void tags_names_and_targets(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *conv = op_of(net, 1);
    xir_value *v = value_of(net, 2);
    char text[] = "text";
    const xir_any tag = xir_any_text((xir_str){ text, 4 }), number = xir_any_int(3);
    DOES(xir_op_set_tag(conv, XIR_STR("t"), &tag));
    DOES(xir_value_set_tag(v, XIR_STR("t"), &tag));
    DOES(xir_network_set_tag(net, XIR_STR("t"), &tag));
    memset(text, 'x', 4);
    xir_str found;
    int64_t n;
    assert_true(xir_tag_text(xir_op_tags(conv), "t", &found));
    CHECK_STR(found, "text");
    assert_true(xir_tag_text(xir_value_tags(v), "t", &found));
    CHECK_STR(found, "text");
    assert_true(xir_tag_text(xir_network_tags(net), "t", &found));
    CHECK_STR(found, "text");
    assert_false(xir_tag_int(xir_op_tags(conv), "t", &n));
    DOES(xir_op_set_tag(conv, XIR_STR("t"), &number));
    assert_true(xir_tag_int(xir_op_tags(conv), "t", &n) && n == 3);
    DOES(xir_op_set_tag(conv, XIR_STR("t"), NULL));
    assert_null(xir_op_tags(conv));

    const xir_target *buyi = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    DOES(xir_op_set_target(conv, buyi));
    assert_int_equal(xir_target_kind_of(xir_op_target(conv)), XIR_TARGET_BUYI);
    DOES(xir_op_set_target(conv, NULL));
    assert_int_equal(xir_target_kind_of(xir_op_target(conv)), XIR_TARGET_HOST);
    DOES(xir_op_set_name(conv, XIR_STR("new name")));
    CHECK_STR(xir_op_name(conv), "new name");
    DOES(xir_value_set_mtype(v, xir_mtype_onchip(ctx, 4096)));
    assert_int_equal(xir_mtype_addr(xir_value_mtype(v)), 4096);
    DOES(xir_value_set_mtype(v, NULL));
    assert_int_equal(xir_mtype_kind_of(xir_value_mtype(v)), XIR_MTYPE_HOST);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

static void a_new_network_describes_itself(void **state) {
    (void)state;
    xir_network *net = new_net();
    static const char *const texts[XIR_TEXT_COUNT] = { "net", "PYTORCH", "v1.9", "v3.33.1", "3.33.1.0",
                                                       "d41d8cd98f00b204e9800998ecf8427e" };
    for (int i = 0; i < XIR_TEXT_COUNT; i++) CHECK_STR(xir_network_text_of(net, (xir_network_text)i), texts[i]);
    assert_int_equal(xir_target_kind_of(xir_network_ai_target(net)), XIR_TARGET_BUYI);
    assert_null(xir_network_first(net));
    assert_null(xir_network_last(net));
    assert_null(xir_network_op_at(net, 0));
    assert_null(xir_network_op_at(net, -1));
    assert_null(xir_network_op_by_id(net, 0));
    assert_null(xir_network_input_op(net));
    assert_null(xir_network_output_op(net));
    assert_int_equal(xir_network_inputs(net, NULL, 0), 0);
    assert_int_equal(xir_network_outputs(net, NULL, 0), 0);
    assert_int_equal(xir_network_params(net, NULL, 0), 0);
    REFUSES(net, xir_network_set_text(net, XIR_TEXT_COUNT, XIR_STR("x")), XIR_E_BOUNDS, "a network has no text");
    CHECK_SOUND(net);
    xir_network_free(net);
    xir_network_free(NULL);
}

static void ops_are_found_every_way(void **state) {
    (void)state;
    xir_network *net = small_net();
    const xir_op *pool = op_of(net, 3);
    assert_ptr_equal(xir_network_op_at(net, 3), pool);
    assert_ptr_equal(xir_network_op_at(net, -3), pool);
    assert_null(xir_network_op_at(net, 6));
    assert_null(xir_network_op_at(net, -7));
    assert_int_equal(xir_network_index_of(net, pool), 3);
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("pool")), pool);
    assert_null(xir_network_op_by_name(net, XIR_STR("poo")));
    assert_ptr_equal(xir_network_next_of_class(net, NULL, xir_max_pool2d_class()), pool);
    assert_null(xir_network_next_of_class(net, pool, xir_max_pool2d_class()));
    assert_ptr_equal(xir_network_input_op(net), op_of(net, 0));
    assert_ptr_equal(xir_network_output_op(net), op_of(net, 5));
    xir_value *in = NULL, *out = NULL, *w = NULL;
    assert_int_equal(xir_network_inputs(net, &in, 1), 1);
    assert_int_equal(xir_network_outputs(net, &out, 1), 1);
    assert_int_equal(xir_network_params(net, &w, 1), 1);
    assert_ptr_equal(in, value_of(net, 0));
    assert_ptr_equal(out, value_of(net, 5));
    assert_ptr_equal(w, value_of(net, 1));
    assert_int_equal(xir_value_index(out), 0);
    assert_null(xir_value_op(w));
    assert_true(xir_value_is_params(w));
    assert_ptr_equal(xir_op_output(op_of(net, 4), -1), out);
    assert_null(xir_op_output(op_of(net, 4), 1));
    assert_null(xir_op_input(op_of(net, 4), -3));
    assert_ptr_equal(xir_op_input(op_of(net, 1), -1), w);
    xir_network_free(net);
}

static void params_come_inputs_first_each_once(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net), *a = words(net, "a"), *b = words(net, "b"), *c = words(net, "c"),
               *d = words(net, "d");
    const xir_type *type = FP32("*", 4);
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(c, a), TYPES(type)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.instr = XIR_VALUES(b);
    attrs.sub_hard_ops = OPS(part);
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(x, a), TYPES(type)));
    xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(d, a, b), TYPES(type)));
    xir_value *out[8];
    assert_int_equal(xir_network_params(net, out, 8), 4);
    xir_value *const order[] = { a, d, b, c };
    assert_memory_equal(out, order, sizeof order);
    assert_int_equal(xir_op_params_inputs(op, out, 8), 1);
    assert_ptr_equal(out[0], a);
    assert_int_equal(xir_op_params_attrs(op, out, 8), 3);   /* b, and the Params that the sub op reads */
    out[0] = NULL;
    assert_int_equal(xir_op_params_attrs(op, out, 0), 3);
    assert_null(out[0]);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- status and place ------------------------------------------------------------------------------------------- */

static void the_first_failure_stays(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = in_value(net);
    xir_value *bad = XIR_CONV2D(at, .input = x, .weights = words(net, "w"), .name = "bad");
    assert_null(bad);
    assert_int_equal(xir_network_status(net), XIR_E_INVALID);
    /* Later calls fail silently: their inputs are missing because of this failure. */
    bad = XIR_RELU(at, bad);
    bad = XIR_MAX_POOL2D(at, .input = bad, .k = 2);
    assert_null(xir_output(at, XIR_VALUES(bad)));
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 1);
    /* A call that does not depend on it succeeds, and does not clear the status. */
    assert_non_null(XIR_RELU(at, x));
    assert_int_equal(xir_op_set_i64(xir_value_op(x), "nothing", 1), XIR_E_UNKNOWN);
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 2);
    assert_int_equal(xir_network_status(net), XIR_E_INVALID);
    xir_network_clear_status(net);
    assert_int_equal(xir_network_status(net), XIR_OK);
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 0);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void check_place(const xir_network *net, int line) {
    const xir_diag *d = xir_diags_at(xir_network_diags((xir_network *)(uintptr_t)net), 0);
    assert_non_null(d);
    assert_true(d->file.size >= 7 && memcmp(d->file.data + d->file.size - 7, "graph.c", 7) == 0);
    assert_int_equal(d->line, line);
}

static void a_finding_names_the_op_and_the_caller_s_line(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    int at_line = __LINE__ - 1;
    xir_value *x = in_value(net), *w = words(net, "w");
    XIR_CONV2D(at, .input = x, .weights = w, .name = "conv1"); int line = __LINE__;
    check_place(net, line);
    const xir_diag *d = xir_diags_at(xir_network_diags(net), 0);
    assert_non_null(memmem(d->message.data, d->message.size, "'conv1'", 7));
    CHECK_STR(d->path, "/inputs/1");
    xir_network_clear_status(net);

    xir_add_conv2d(at, (xir_conv2d_in){ .input = x, .weights = w }, NULL);   /* at the cursor's place */
    check_place(net, at_line);
    xir_network_clear_status(net);

    XIR_RELU(at, NULL); line = __LINE__;
    check_place(net, line);
    xir_network_clear_status(net);

    assert_null(xir_network_add(net, &(xir_op_desc)DESC(relu, .types = NULL)));   /* without a place */
    assert_int_equal(xir_diags_at(xir_network_diags(net), 0)->line, 0);
    xir_network_free(net);
}

static void all_findings_of_a_call_have_its_place(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    xir_at at = XIR_AT(net); int line = __LINE__;
    xir_add_max_pool2d(at, (xir_max_pool2d_in){ x }, XIR_ATTRS(max_pool2d, (pool_width, 0), (stride_width, 0)));
    const xir_diags *found = xir_network_diags(net);
    for (size_t i = 0; i < xir_diags_count(found); i++) assert_int_equal(xir_diags_at(found, i)->line, line);
    xir_network_free(net);
}

/* ---- producers and consumers ------------------------------------------------------------------------------------ */

static void check_ops(xir_op *const *ops, size_t n, const char *expected) {
    char text[200] = "";
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i ? " %d" : "%d", (int)xir_op_id(ops[i]));
    assert_string_equal(text, expected);
}

static void neighbours_are_listed_once(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = in_value(net);
    xir_at at = xir_at_end(net);
    xir_value *a = xir_build_relu(at, x, "1"), *b = xir_build_relu(at, x, "2"), *c = xir_build_add(at, b, a, 1, 1, "3");
    xir_build_add(at, a, a, 1, 1, "4");
    xir_network_add(net, &(xir_op_desc)DESC(output, INPUTS(c, b, a, c)));
    xir_op *out[8];
    check_ops(out, xir_op_producers(op_of(net, 5), false, out, 8), "3 2 1");
    check_ops(out, xir_op_producers(op_of(net, 5), true, out, 8), "1 2 3");
    check_ops(out, xir_op_producers(op_of(net, 0), true, out, 8), "");
    check_ops(out, xir_op_consumers(op_of(net, 1), true, out, 8), "3 4 5");
    check_ops(out, xir_op_consumers(op_of(net, 2), true, out, 8), "3 5");
    check_ops(out, xir_op_consumers(op_of(net, 5), true, out, 8), "");
    assert_int_equal(xir_op_consumers(op_of(net, 0), false, out, 8), 2);
    assert_int_equal(xir_op_producers(op_of(net, 5), true, out, 1), 3);
    size_t at_which[4];
    assert_int_equal(xir_op_input_index(op_of(net, 5), c, at_which, 4), 2);
    assert_true(at_which[0] == 0 && at_which[1] == 3);
    assert_int_equal(xir_op_input_index(op_of(net, 5), x, at_which, 4), 0);
    xir_network_free(net);
}

static void neighbours_of_a_wide_op_are_listed_once(void **state) {
    (void)state;
    enum { WIDE = 100 };
    xir_network *net = new_net();
    xir_value *x = in_value(net), *many[2 * WIDE];
    for (int i = 0; i < WIDE; i++) many[i] = many[2 * WIDE - 1 - i] = xir_build_relu(xir_at_end(net), x, NULL);
    xir_op *end = xir_output(xir_at_end(net), (xir_values){ many, 2 * WIDE });
    xir_op *out[WIDE];
    assert_int_equal(xir_op_producers(end, true, out, WIDE), WIDE);
    for (int i = 0; i < WIDE; i++) assert_ptr_equal(out[i], xir_value_op(many[i]));
    assert_int_equal(xir_op_consumers(op_of(net, 0), true, out, WIDE), WIDE);
    for (int i = 0; i < WIDE; i++) assert_ptr_equal(out[i], xir_value_op(many[i]));
    xir_network_free(net);
}

/* Readers keep the types of a file; a builder that gives the same types is checked nevertheless. */
static void builders_are_checked_even_if_readers_are_not(void **state) {
    (void)state;
    xir_network *net = xir_network_new(ctx, "net", XIR_FRAMEWORK_ONNX, "");
    xir_value *x = in_value(net), *w = weights(net, "w");
    assert_non_null(xir_add_conv2d(xir_at_end(net), (xir_conv2d_in){ .input = x, .weights = w }, NULL));
    xir_text_buffer text = { 0 };
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    xir_network_free(net);
    static const char key[] = "\"stride_width\":1";
    char *found = memmem(text.data, text.size, key, sizeof key - 1);
    assert_non_null(found);
    found[sizeof key - 2] = '0';

    net = xir_json_read(ctx, (xir_str){ text.data, text.size }, XIR_STR(""), why);
    assert_non_null(net);
    const xir_op *conv = xir_network_op_by_id(net, 1);
    const xir_conv2d_attrs *bad = xir_conv2d_of(conv);
    assert_int_equal(bad->stride_width, 0);
    assert_int_equal(xir_op_validate(conv, NULL), XIR_E_BOUNDS);
    xir_conv2d_in in = { .input = xir_op_input(conv, 0), .weights = xir_op_input(conv, 1) };
    assert_null(xir_add_conv2d(xir_at_end(net), in, bad));
    assert_int_equal(xir_network_status(net), XIR_E_BOUNDS);
    xir_network_free(net);
    xir_text_free(&text);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(ops_are_numbered_from_0),
        STORY(after_100_comes_101),
        STORY(an_id_set_later_counts_too),
        STORY(params_inputs_then_params_attributes_then_outputs),
        STORY(params_that_have_an_id_keep_it),
        STORY(unused_params_have_no_id),
        STORY(sub_ops_are_numbered_with_their_parent),
        STORY(the_last_ids),
        STORY(a_class_that_is_not_of_ops_is_refused),
        STORY(the_input_op_is_first_and_the_only_one),
        STORY(a_taken_id_is_refused),
        STORY(an_id_taken_before_placing_is_refused_then),
        STORY(ids_within_a_family_are_compared),
        STORY(an_erased_op_gives_its_ids_back),
        STORY(required_inputs_must_be_given),
        STORY(absent_optional_inputs_are_left_out),
        STORY(values_of_another_network_are_refused),
        STORY(the_place_must_be_one),
        STORY(bad_attributes_are_refused),
        STORY(every_bad_attribute_is_a_finding),
        STORY(sub_ops_must_be_free),
        STORY(a_refused_op_releases_its_sub_ops),
        STORY(an_op_that_is_not_placed_uses_its_inputs),
        STORY(an_op_that_is_never_placed_dies_with_its_network),
        STORY(chains_are_made_before_they_are_placed),
        STORY(an_op_is_placed_where_the_caller_says),
        STORY(types_that_are_given_are_kept),
        STORY(a_type_may_be_missing),
        STORY(inference_follows_what_changes),
        STORY(inference_of_a_network_says_where_it_fails),
        STORY(a_class_without_inference_is_reported),
        STORY(names_are_found_after_every_change),
        STORY(several_ids_are_found_at_once),
        STORY(outputs_follow_their_types),
        STORY(outputs_of_an_op_that_is_not_placed_move_too),
        STORY(all_arguments_are_copied),
        STORY(a_network_outlives_the_context_s_types),
        STORY(reals_are_rounded_and_equal_attributes_shared),
        STORY(tags_names_and_targets),
        STORY(a_new_network_describes_itself),
        STORY(ops_are_found_every_way),
        STORY(params_come_inputs_first_each_once),
        STORY(the_first_failure_stays),
        STORY(a_finding_names_the_op_and_the_caller_s_line),
        STORY(all_findings_of_a_call_have_its_place),
        STORY(neighbours_are_listed_once),
        STORY(neighbours_of_a_wide_op_are_listed_once),
        STORY(builders_are_checked_even_if_readers_are_not),
    };
    return RUN_GROUP(tests);
}
