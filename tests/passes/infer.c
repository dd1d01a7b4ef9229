/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* infer: types follow from the inputs; a value whose type cannot be inferred keeps its type. */
#include "support/op_list.h"

static void types_follow_from_the_input(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NHWC", -1, -1, -1, 3));
    xir_value *w = xir_params_new(net, XIR_STR("w"), FP32("HWIO", 3, 3, 3, 16));
    xir_value *c = named(XIR_CONV2D(xir_at_end(net), .input = x, .weights = w, .stride = 2, .pad = 1), "c"),
               *y = relu(net, c, "y");
    results(net, XIR_VALUES(y));
    CHECK_TYPED_OPS(net, "x:fp32[?,?,?,3]NHWC = Input()", "c:fp32[?,?,?,16]NHWC = Conv2d(x, w)", "y:fp32[?,?,?,16]NHWC = ReLU(c)", "Output(y)");
    DOES(xir_value_set_type(x, FP32("NHWC", 1, 224, 224, 3)));
    assert_int_equal(PASS(net, "infer"), 2);
    CHECK_TYPED_OPS(net, "x:fp32[1,224,224,3]NHWC = Input()", "c:fp32[1,112,112,16]NHWC = Conv2d(x, w)", "y:fp32[1,112,112,16]NHWC = ReLU(c)",
                    "Output(y)");
    xir_network_free(net);
}

static void unchanged_types_are_not_counted(void **state) {
    (void)state;
    xir_network *net = small_net();
    assert_int_equal(PASS(net, "infer"), 0);
    xir_network_free(net);
}

/* A half-converted network: the outputs of an unknown op have no type. */
static void a_reader_of_an_untyped_value_keeps_its_type(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = FP32("NC", 1, 4);
    xir_value *x = argument(net, "x", type), *f = named(foreign(net, "someone::Op", type, XIR_VALUES(x)), "f");
    xir_value *y = relu(net, f, "y"), *z = relu(net, y, "z");
    results(net, XIR_VALUES(z));
    DOES(xir_value_set_type(f, NULL));
    DOES(xir_value_set_type(y, FP32("NC", 2, 4)));
    size_t changes;
    DOES(xir_pass_run(net, "infer", NULL, &changes, why));
    assert_int_equal(changes, 1);
    CHECK_TYPED_OPS(net, "x:fp32[1,4]NC = Input()", "f:? = someone::Op(x)", "y:fp32[2,4]NC = ReLU(f)", "z:fp32[2,4]NC = ReLU(y)", "Output(z)");
    xir_network_free(net);
}

static void every_refused_op_is_a_finding(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 1, 4)), *p = xir_params_new(net, XIR_STR("p"), FP32("NC", 1, 4));
    xir_value *a = add(net, x, p, "a"), *b = add(net, x, p, "b"), *c = relu(net, x, "c");
    results(net, XIR_VALUES(a, b, c));
    DOES(xir_value_set_type(x, FP32("NC", 1, 5)));
    xir_diags_clear(why);
    size_t changes;
    assert_int_equal(xir_pass_run(net, "infer", NULL, &changes, why), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 2);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1/inputs/1");
    CHECK_STR(xir_diags_at(why, 1)->path, "/ops/2/inputs/1");
    assert_int_equal(changes, 1);   /* c gets its type nevertheless */
    CHECK_TYPED_OPS(net, "x:fp32[1,5]NC = Input()", "a:fp32[1,4]NC = Add(x, p)", "b:fp32[1,4]NC = Add(x, p)", "c:fp32[1,5]NC = ReLU(x)", "Output(a, b, c)");
    CHECK_SOUND(net);
    xir_diags_clear(why);
    xir_network_free(net);
}

static void a_tiled_input_keeps_the_types_of_its_users(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NHWC", 1, 4, 4, 32)),
               *y = named(XIR_MAX_POOL2D(xir_at_end(net), .input = x, .k = 2, .stride = 2), "y");
    results(net, XIR_VALUES(y));
    DOES(xir_value_set_type(x, FP32("NCHWc32", 1, 1, 4, 4, 32)));
    DOES(xir_value_set_type(y, FP32("NCHWc32", 1, 1, 2, 2, 32)));
    size_t changes;
    DOES(xir_pass_run(net, "infer", NULL, &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_follow_from_the_input),
        cmocka_unit_test(unchanged_types_are_not_counted),
        cmocka_unit_test(a_reader_of_an_untyped_value_keeps_its_type),
        cmocka_unit_test(every_refused_op_is_a_finding),
        cmocka_unit_test(a_tiled_input_keeps_the_types_of_its_users),
    };
    return RUN_GROUP(tests);
}
