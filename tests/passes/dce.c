/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* dce: unused ops are removed; impure ones stay. dce.xir has the cases that are texts. */
#include "support/op_list.h"

static const xir_type *image(void) { return FP32("NHWC", 1, 4, 4, 2); }

/* ---- impure ops ------------------------------------------------------------------------------------------------- */

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
        cmocka_unit_test(of_dialects_only_pure_onnx_ops_are_removed),
        cmocka_unit_test(a_dead_chain_of_a_million_ops_is_removed),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(a_cycle_stays),
    };
    return RUN_GROUP(tests);
}
