/* cse: keeps the first of equal ops; ops that differ in anything relevant stay. */
#include "support/op_list.h"

static const xir_type *image(void) { return FP32("NHWC", 1, 4, 4, 2); }

static void an_equal_branch_is_merged(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *w = xir_params_new(net, XIR_STR("w"), FP32("HWIO", 1, 1, 2, 2));
    xir_value *a = named(XIR_CONV2D(xir_at_end(net), .input = x, .weights = w), "a"), *r = relu(net, a, "r");
    xir_value *b = named(XIR_CONV2D(xir_at_end(net), .input = x, .weights = w), "b"), *s = relu(net, b, "s");
    results(net, XIR_VALUES(add(net, r, s, "y")));
    assert_int_equal(PASS(net, "cse"), 2);
    CHECK_OPS(net, "x = Input()", "a = Conv2d(x, w)", "r = ReLU(a)", "y = Add(r, r)", "Output(y)");
    xir_network_free(net);
}

static xir_value *leaky(xir_network *net, xir_value *x, double alpha, const char *name) {
    xir_relu_attrs attrs = xir_relu_init();
    attrs.alpha = alpha;
    return output_of(xir_add_relu(xir_at_end(net), (xir_relu_in){ x }, &attrs), name);
}

static void different_ops_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_op *in = xir_inputs(xir_at_end(net), "in", (const xir_type *const[]){ image(), image() }, 2);
    xir_value *x = named(xir_op_output(in, 0), "x"), *z = named(xir_op_output(in, 1), "z");
    xir_value *a = leaky(net, x, 0.5, "a"), *b = leaky(net, x, 0.25, "b"), *c = leaky(net, z, 0.5, "c"),
               *d = sigmoid(net, x, "d");
    xir_value *e = leaky(net, x, 0.5, "e"), *f = leaky(net, x, 0.5, "f"), *g = leaky(net, x, 0.5, "g"),
               *h = leaky(net, x, 0.5, "h");
    DOES(xir_op_set_target(xir_value_op(e), xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL)));
    DOES(xir_value_set_mtype(f, xir_mtype_onchip(ctx, 64)));
    DOES(xir_value_set_type(g, FP32("***C", 1, 4, 4, 2)));
    DOES(xir_op_set_extra(xir_value_op(h), XIR_STR("more"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 1 }));
    xir_value *p = add(net, x, z, "p"), *q = add(net, z, x, "q");
    results(net, XIR_VALUES(add(net, a, b, "ab"), add(net, c, d, "cd"), e, f, h, p, q, g));
    size_t changes;
    DOES(xir_pass_run(net, "cse", NULL, &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(net);
}

/* Equal lists of attributes in two places of memory are equal. */
static void attributes_are_compared_by_content(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_value *a = transpose(net, x, "NCHW", LIST(0, 3, 1, 2), "a"),
               *b = transpose(net, x, "NCHW", LIST(0, 3, 1, 2), "b");
    xir_value *c = transpose(net, x, "NCHW", LIST(0, 3, 2, 1), "c");
    results(net, XIR_VALUES(add(net, a, b, "y"), c));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "a = Transpose(x)", "c = Transpose(x)", "y = Add(a, a)", "Output(y, c)");
    xir_network_free(net);
}

static void all_outputs_are_replaced(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_split_attrs attrs = xir_split_init();
    attrs.sections = LIST(1, 3);
    attrs.axis = 1;
    xir_op *first = xir_add_split(xir_at_end(net), (xir_split_in){ x }, &attrs),
            *second = xir_add_split(xir_at_end(net), (xir_split_in){ x }, &attrs);
    named(xir_op_output(first, 0), "a"), named(xir_op_output(first, 1), "b");
    named(xir_op_output(second, 0), "c"), named(xir_op_output(second, 1), "d");
    xir_value *l = relu(net, xir_op_output(second, 0), "l"), *r = relu(net, xir_op_output(second, 1), "r");
    results(net, XIR_VALUES(xir_op_output(first, 0), l, r));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "a, b = Split(x)", "l = ReLU(a)", "r = ReLU(b)", "Output(a, l, r)");
    xir_network_free(net);
}

/* ---- Params ------------------------------------------------------------------------------------------------------ */

static void small_params_are_compared_by_bytes(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *row = FP32("C", 2), *other = FP32("*", 2);
    xir_value *x = argument(net, "x", image());
    xir_value *a = add(net, x, FLOATS(net, "p", row, 1, 2), "a"), *b = add(net, x, FLOATS(net, "q", row, 1, 2), "b");
    xir_value *c = add(net, x, FLOATS(net, "r", row, 1, 3), "c"), *d = add(net, x, FLOATS(net, "s", other, 1, 2), "d");
    results(net, XIR_VALUES(add(net, a, b, "y"), c, d));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "a = Add(x, p)", "c = Add(x, r)", "d = Add(x, s)", "y = Add(a, a)", "Output(y, c, d)");
    xir_network_free(net);
}

/* Large Params are equal only if they share their memory: the pass does not compare gigabytes. */
static void large_params_are_compared_by_address(void **state) {
    (void)state;
    static const float bytes[2][8192];
    xir_network *net = new_net();
    const xir_type *type = FP32("**", 1, 8192);
    xir_value *x = argument(net, "x", type);
    xir_value *p = xir_params_borrow(net, XIR_STR("p"), type, bytes[0], sizeof bytes[0], NULL, NULL);
    xir_value *q = xir_params_borrow(net, XIR_STR("q"), type, bytes[0], sizeof bytes[0], NULL, NULL);
    xir_value *r = xir_params_borrow(net, XIR_STR("r"), type, bytes[1], sizeof bytes[1], NULL, NULL);
    xir_value *a = add(net, x, p, "a"), *b = add(net, x, q, "b"), *c = add(net, x, r, "c");
    results(net, XIR_VALUES(add(net, a, b, "y"), c));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "a = Add(x, p)", "c = Add(x, r)", "y = Add(a, a)", "Output(y, c)");
    xir_network_free(net);
}

static void params_without_bytes_equal_only_themselves(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *row = FP32("C", 2);
    xir_value *x = argument(net, "x", image()), *p = xir_params_new(net, XIR_STR("p"), row),
               *q = xir_params_new(net, XIR_STR("q"), row);
    xir_value *a = add(net, x, p, "a"), *b = add(net, x, q, "b"), *c = add(net, x, p, "c");
    results(net, XIR_VALUES(add(net, a, b, "y"), add(net, c, c, "z")));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "a = Add(x, p)", "b = Add(x, q)", "y = Add(a, b)", "z = Add(a, a)", "Output(y, z)");
    xir_network_free(net);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void a_result_passes_its_name_on(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_value *a = relu(net, x, "a"), *y = relu(net, x, "y");
    results(net, XIR_VALUES(y, add(net, a, a, "z")));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "z = Add(y, y)", "Output(y, z)");
    xir_network_free(net);
}

/* Two names that callers know need two values; other readers of the second value read the first. */
static void two_equal_results_stay_two(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_value *a = relu(net, x, "a"), *b = relu(net, x, "b");
    xir_value *c = sigmoid(net, a, "c"), *d = sigmoid(net, b, "d");
    results(net, XIR_VALUES(a, b, add(net, c, d, "y")));
    assert_int_equal(PASS(net, "cse"), 2);
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "b = ReLU(x)", "c = Sigmoid(a)", "y = Add(c, c)", "Output(a, b, y)");
    xir_network_free(net);
}

static void a_nameless_value_takes_the_name(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_value *a = XIR_RELU(xir_at_end(net), x), *b = relu(net, x, "b");
    results(net, XIR_VALUES(add(net, a, b, "y")));
    assert_int_equal(PASS(net, "cse"), 1);
    CHECK_OPS(net, "x = Input()", "b = ReLU(x)", "y = Add(b, b)", "Output(y)");
    xir_network_free(net);
}

/* ---- impure ops ------------------------------------------------------------------------------------------------- */

static void impure_and_unknown_ops_are_never_merged(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = image();
    xir_value *x = argument(net, "x", type);
    xir_value *v[8];
    for (int i = 0; i < 2; i++) {
        v[i] = output_of(xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(type))), i ? "h1" : "h0");
        v[2 + i] = named(foreign(net, "someone::Op", type, XIR_VALUES(x)), i ? "s1" : "s0");
        v[4 + i] = named(foreign(net, "onnx::RandomNormalLike", type, XIR_VALUES(x)), i ? "n1" : "n0");
        v[6 + i] = named(foreign(net, "onnx::Relu", type, XIR_VALUES(x)), i ? "r1" : "r0");
    }
    results(net, XIR_VALUES(add(net, v[0], v[1], "h"), add(net, v[2], v[3], "s"), add(net, v[4], v[5], "n"),
                            add(net, v[6], v[7], "r")));
    size_t changes;
    DOES(xir_pass_run(net, "cse", NULL, &changes, why));
    assert_int_equal(changes, 1);
    CHECK_SOUND(net);
    CHECK_OPS(net, "x = Input()", "h0 = HardOp(x)", "s0 = someone::Op(x)", "n0 = onnx::RandomNormalLike(x)", "r0 = onnx::Relu(x)", "h1 = HardOp(x)",
              "s1 = someone::Op(x)", "n1 = onnx::RandomNormalLike(x)", "h = Add(h0, h1)", "s = Add(s0, s1)", "n = Add(n0, n1)", "r = Add(r0, r0)",
              "Output(h, s, n, r)");
    xir_network_free(net);
}

/* Ids are found after many ops were removed, also if the index of ids was built before. */
static void ids_stay_correct(void **state) {
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        xir_network *net = new_net();
        xir_value *x = argument(net, "x", image()), *v = x;
        for (int i = 0; i < 1000; i++) v = add(net, relu(net, v, "a"), relu(net, v, "b"), "c");
        results(net, XIR_VALUES(v));
        if (asked) assert_non_null(xir_network_op_by_id(net, 5));
        assert_int_equal(PASS(net, "cse"), 1000);
        assert_int_equal(xir_network_op_count(net), 2002);
        xir_network_free(net);
    }
}

/* A value with as many readers as there are ops; each reader equals another one a thousand ops away. */
static void many_readers_of_one_value(void **state) {
    (void)state;
    enum { READERS = 100000, KINDS = 1000 };
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 1, 1)), *last = x;
    for (int i = 0; i < READERS; i++) last = leaky(net, x, (double)(i % KINDS), "");
    results(net, XIR_VALUES(last));
    size_t changes;
    DOES(xir_pass_run(net, "cse", NULL, &changes, why));
    assert_int_equal(changes, READERS - KINDS);
    xir_network_free(net);
}

static void an_empty_network(void **state) {
    (void)state;
    xir_network *net = new_net();
    static const char *const passes[] = { "sort", "infer", "dce",      "cse",  "dedup",
                                          "canon", "fold", "identity", "merge" };
    for (size_t i = 0; i < COUNT(passes); i++) {
        size_t changes = 1;
        DOES(xir_pass_run(net, passes[i], NULL, &changes, why));
        assert_int_equal(changes, 0);
    }
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_branch_is_merged),
        cmocka_unit_test(different_ops_stay),
        cmocka_unit_test(attributes_are_compared_by_content),
        cmocka_unit_test(all_outputs_are_replaced),
        cmocka_unit_test(small_params_are_compared_by_bytes),
        cmocka_unit_test(large_params_are_compared_by_address),
        cmocka_unit_test(params_without_bytes_equal_only_themselves),
        cmocka_unit_test(a_result_passes_its_name_on),
        cmocka_unit_test(two_equal_results_stay_two),
        cmocka_unit_test(a_nameless_value_takes_the_name),
        cmocka_unit_test(impure_and_unknown_ops_are_never_merged),
        cmocka_unit_test(ids_stay_correct),
        cmocka_unit_test(many_readers_of_one_value),
        cmocka_unit_test(an_empty_network),
    };
    return RUN_GROUP(tests);
}
