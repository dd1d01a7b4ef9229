/* dce: unused ops are removed; impure ones stay. */
#include "support/op_list.h"

static const xir_type *image(void) { return FP32("NHWC", 1, 4, 4, 2); }

static void a_dead_branch_is_removed_with_its_params(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *w = xir_params_new(net, XIR_STR("w"), FP32("HWIO", 1, 1, 2, 2));
    xir_value *a = named(XIR_CONV2D(xir_at_end(net), .input = x, .weights = w), "a");
    sigmoid(net, a, "b");
    results(net, XIR_VALUES(relu(net, x, "r")));
    CHECK_OPS(net, "x = Input()", "a = Conv2d(x, w)", "b = Sigmoid(a)", "r = ReLU(x)", "Output(r)");
    assert_int_equal(xir_network_params(net, NULL, 0), 1);
    assert_int_equal(PASS(net, "dce"), 2);
    CHECK_OPS(net, "x = Input()", "r = ReLU(x)", "Output(r)");
    assert_int_equal(xir_network_params(net, NULL, 0), 0);
    assert_null(xir_network_op_by_id(net, 1));
    xir_network_free(net);
}

static void used_ops_stay(void **state) {
    (void)state;
    xir_network *net = small_net();
    assert_int_equal(PASS(net, "dce"), 0);
    assert_int_equal(xir_network_op_count(net), 6);
    xir_network_free(net);
}

static void one_output_in_use_keeps_the_op(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_split_attrs attrs = xir_split_init();
    attrs.sections = (xir_i64s){ (const int64_t[]){ 1, 3 }, 2 };
    attrs.axis = 1;
    xir_op *used = xir_add_split(xir_at_end(net), (xir_split_in){ x }, &attrs),
            *unused = xir_add_split(xir_at_end(net), (xir_split_in){ x }, &attrs);
    named(xir_op_output(used, 0), "a");
    named(xir_op_output(used, 1), "b");
    named(xir_op_output(unused, 0), "c");
    named(xir_op_output(unused, 1), "d");
    results(net, XIR_VALUES(xir_op_output(used, 1)));
    CHECK_OPS(net, "x = Input()", "a, b = Split(x)", "c, d = Split(x)", "Output(b)");
    assert_int_equal(PASS(net, "dce"), 1);
    CHECK_OPS(net, "x = Input()", "a, b = Split(x)", "Output(b)");
    xir_network_free(net);
}

/* An unused input is part of the network's interface. */
static void inputs_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_op *in = xir_inputs(xir_at_end(net), "in", (const xir_type *const[]){ image(), image() }, 2);
    named(xir_op_output(in, 0), "x");
    results(net, XIR_VALUES(named(xir_op_output(in, 1), "y")));
    assert_int_equal(PASS(net, "dce"), 0);
    CHECK_OPS(net, "x, y = Input()", "Output(y)");
    xir_network_free(net);
}

/* ---- impure ops ------------------------------------------------------------------------------------------------- */

static xir_value *hard(xir_network *net, xir_value *x, const char *name, const xir_hard_op_attrs *attrs) {
    const xir_type *type = image();
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(type), .attrs = attrs));
    assert_non_null(op);
    return named(xir_op_output(op, 0), name);
}

static void impure_ops_and_their_operands_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    hard(net, relu(net, x, "a"), "h", NULL);
    sigmoid(net, x, "b");
    results(net, XIR_VALUES(x));
    assert_int_equal(PASS(net, "dce"), 1);
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "h = HardOp(a)", "Output(x)");
    xir_network_free(net);
}

static void operands_of_sub_ops_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = image();
    xir_value *x = argument(net, "x", image()), *a = relu(net, x, "a");
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(a), TYPES(type)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ &part, 1 };
    hard(net, x, "h", &attrs);
    results(net, XIR_VALUES(x));
    assert_int_equal(PASS(net, "dce"), 0);
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "h = HardOp(x)", "Output(x)");
    xir_network_free(net);
}

static void of_dialects_only_pure_onnx_ops_are_removed(void **state) {
    (void)state;
    static const struct { const char *key; bool goes; } rows[] = {
        { "onnx::Conv", true },          { "onnx::Identity", true },        { "onnx::RandomNormal", false }, { "onnx::RandomUniformLike", false },
        { "onnx::Dropout", false },      { "onnx::If", false },             { "onnx::Loop", false },         { "onnx::Scan", false },
        { "onnx::Bernoulli", false },    { "onnx::com.microsoft::Gelu", false }, { "onnx::a.b::Conv", false }, { "onnx::a::Conv", false },
        { "onnx::", false },             { "pnnx::Conv", false },           { "someone::Op", false },        { "onnx", false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = new_net();
        xir_value *x = argument(net, "x", image());
        named(foreign(net, rows[i].key, image(), XIR_VALUES(x)), "y");
        results(net, XIR_VALUES(x));
        size_t changes = 7;
        DOES(xir_pass_run(net, "dce", NULL, &changes, why));
        if (changes != rows[i].goes) fail_msg("%s: %zu changes", rows[i].key, changes);
        assert_int_equal(xir_network_op_count(net), rows[i].goes ? 2 : 3);
        xir_network_free(net);
    }
}

/* ---- forms of graphs --------------------------------------------------------------------------------------------- */

static void a_dead_chain_of_a_million_ops_is_removed(void **state) {
    (void)state;
    enum { LENGTH = 1000000 };
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *v = x;
    for (int i = 0; i < LENGTH; i++) v = XIR_RELU(xir_at_end(net), v);
    results(net, XIR_VALUES(x));
    size_t changes;
    DOES(xir_pass_run(net, "dce", NULL, &changes, why));
    assert_int_equal(changes, LENGTH);
    CHECK_OPS(net, "x = Input()", "Output(x)");
    xir_network_free(net);
}

/* Producers after their users, as a broken file may have them. */
static void order_does_not_matter(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *v = x;
    xir_op *ops[100];
    for (int i = 0; i < 100; i++) {
        v = XIR_RELU(xir_at_end(net), v);
        ops[i] = xir_value_op(v);
    }
    for (int i = 99; i >= 0; i--) DOES(xir_op_move(ops[(i * 37) % 100], NULL));
    results(net, XIR_VALUES(x));
    size_t changes;
    DOES(xir_pass_run(net, "dce", NULL, &changes, why));
    assert_int_equal(changes, 100);
    CHECK_SOUND(net);
    CHECK_OPS(net, "x = Input()", "Output(x)");
    xir_network_free(net);
}

static void a_cycle_stays(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *a = relu(net, x, "a"), *b = relu(net, a, "b");
    results(net, XIR_VALUES(x));
    DOES(xir_op_set_input(xir_value_op(a), 0, b));
    size_t changes;
    DOES(xir_pass_run(net, "dce", NULL, &changes, why));
    assert_int_equal(changes, 0);
    assert_int_equal(xir_network_op_count(net), 4);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dead_branch_is_removed_with_its_params),
        cmocka_unit_test(used_ops_stay),
        cmocka_unit_test(one_output_in_use_keeps_the_op),
        cmocka_unit_test(inputs_stay),
        cmocka_unit_test(impure_ops_and_their_operands_stay),
        cmocka_unit_test(operands_of_sub_ops_stay),
        cmocka_unit_test(of_dialects_only_pure_onnx_ops_are_removed),
        cmocka_unit_test(a_dead_chain_of_a_million_ops_is_removed),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(a_cycle_stays),
    };
    return RUN_GROUP(tests);
}
