/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* cse: keeps the first of equal ops; ops that differ in anything relevant stay. cse.xir has the cases that are
 * texts. */
#include "support/op_list.h"

static const xir_type *image(void) { return FP32("NHWC", 1, 4, 4, 2); }

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

/* ---- Params ------------------------------------------------------------------------------------------------------ */

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
                                          "canon", "fold", "identity", "moves", "fold-products" };
    for (size_t i = 0; i < COUNT(passes); i++) {
        size_t changes = 1;
        DOES(xir_pass_run(net, passes[i], NULL, &changes, why));
        assert_int_equal(changes, 0);
    }
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_ops_stay),
        cmocka_unit_test(large_params_are_compared_by_address),
        cmocka_unit_test(impure_and_unknown_ops_are_never_merged),
        cmocka_unit_test(ids_stay_correct),
        cmocka_unit_test(many_readers_of_one_value),
        cmocka_unit_test(an_empty_network),
    };
    return RUN_GROUP(tests);
}
