/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The work of ops. work.txt has the figures of each class; this file tests properties of all classes, and cases that
 * no table can express. */
#include <stdio.h>
#include "support/story.h"
#include "graph.h"
#include "rules.h"

/* ---- every class ------------------------------------------------------------------------------------------------ */

/* Classes with a kernel that take one step for each element of their outputs. */
static const char *const elementwise[] = {
    "ACos", "ACosh", "ASin", "ASinh", "ATan", "ATanh", "Abs", "Add", "AlignAxis", "And", "BitCast", "Cast", "Ceil",
    "ChannelShuffle", "ClampScalar", "Concat", "ConstantOfShape", "Copy", "Cosh", "CumSum", "Div", "DivideScalar", "ELU", "Equal", "Erf", "Exp", "Expand", "Floor",
    "GELU", "Greater", "GreaterEqual", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Less",
    "LessEqual", "Log", "LogSigmoid", "Maximum", "Minimum", "Mish", "Multiply", "Neg", "Not", "NotEqual", "Or", "PReLU", "Pad",
    "PixelShuffle", "PruneAxis", "Quantize", "Range", "ReLU", "Reciprocal", "Reshape", "Roll", "Round", "SiLU",
    "Sigmoid", "Sign", "Sinh", "Softplus", "Softshrink", "Softsign", "Split", "Sqrt", "Squeeze", "Stack", "SwapOrder", "Tanh",
    "Tanhshrink", "Tile", "Transpose", "Unfold", "Unstack", "Where", "Xor",
};

static bool is_elementwise(const xir_class *cls) {
    const char *name = strrchr(cls->key.data, ':') + 1;
    for (size_t i = 0; i < COUNT(elementwise); i++) {
        if (strcmp(name, elementwise[i]) == 0) return true;
    }
    return false;
}

static void a_class_that_can_be_run_says_how_much_it_computes(void **state) {
    (void)state;
    size_t faults = 0, seen = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!class_kernel(cls) || strncmp(cls->key.data, "test::", 6) == 0) continue;
        seen += is_elementwise(cls);
        if (is_elementwise(cls) == (cls->more->work == outputs_work)) continue;
        fprintf(stderr, "%s %s\n", cls->key.data,
                is_elementwise(cls) ? "has a WORK row and is called elementwise" : "has no WORK row");
        faults++;
    }
    if (faults) fail_msg("%zu classes", faults);
    assert_int_equal(seen, COUNT(elementwise));
}

/* ---- what is known ---------------------------------------------------------------------------------------------- */

static void check(const xir_network *net, const char *name, xir_status status, uint64_t multiply_adds,
                  uint64_t element_ops) {
    xir_work work = XIR_INIT(xir_work, .multiply_adds = 7, .element_ops = 7);
    xir_diags_clear(why);
    assert_int_equal(xir_op_work(story_op(net, name), &work, why), status);
    assert_int_equal(work.multiply_adds, multiply_adds);
    assert_int_equal(work.element_ops, element_ops);
    assert_int_equal(xir_diags_count(why), status ? 1 : 0);
}

static void what_63_bits_cannot_count_is_the_greatest_number(void **state) {
    (void)state;
    xir_network *net =
        story_net("x: 3000000000 2 3000000000; y: 3000000000 3000000000 2; e = Einsum x y [equation=abc,cde->ad]; "
                  "s = Softmax x; r = ReLU x; out e s r");
    check(net, "e", XIR_OK, UINT64_MAX, UINT64_C(9000000000000000000));
    check(net, "s", XIR_OK, 0, UINT64_MAX);
    check(net, "r", XIR_OK, 0, UINT64_MAX);
    xir_network_free(net);
    assert_true(xir_work_add(UINT64_MAX, 1) == UINT64_MAX && xir_work_add(0, UINT64_MAX) == UINT64_MAX &&
                xir_work_add(INT64_MAX, 1) == UINT64_MAX && xir_work_add(INT64_MAX - 1, 1) == INT64_MAX &&
                xir_work_add(1, 2) == 3);
    assert_true(xir_work_times(1u << 31, UINT64_C(1) << 32) == UINT64_MAX &&
                xir_work_times(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(xir_work_times(0, UINT64_MAX) == 0 && xir_work_times(UINT64_MAX, 0) == 0 && xir_work_times(6, 7) == 42);
    assert_true(xir_work_steps(&XIR_INIT(xir_work, .multiply_adds = UINT64_MAX, .element_ops = 1)) == UINT64_MAX);
    assert_true(xir_work_steps(&XIR_INIT(xir_work, .multiply_adds = 3, .element_ops = UINT64_MAX / 9)) == UINT64_MAX);
    assert_true(xir_work_steps(&XIR_INIT(xir_work, .multiply_adds = 3, .element_ops = 4)) == 43);
}

static void of_open_dims_it_is_not_known(void **state) {
    (void)state;
    xir_network *net = story_net("x: NC -1 3; z: 0 -1; w: params 3 4; y = Matmul x w; r = ReLU z; out y r");
    check(net, "y", XIR_E_BOUNDS, 0, 0);
    CHECK_STR(xir_diags_at(why, 0)->message, "icraft::xir::Matmul: how much it computes depends on dims that are not known");
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1");
    check(net, "r", XIR_OK, 0, 0);   /* nothing, however many */
    xir_work small = { .size = 4 };
    assert_int_equal(xir_op_work(story_op(net, "y"), &small, NULL), XIR_E_ABI);
    xir_network_free(net);
}

static void an_op_that_nobody_knows_takes_the_elements_of_its_outputs(void **state) {
    (void)state;
    xir_network *net = story_net("x: NC 2 3; y = whatever::Thing x; out y");
    check(net, "y", XIR_OK, 0, 6);
    xir_network_free(net);
}

static void a_plug_in_brings_its_own(void **state) {
    (void)state;
    xir_context *with = xir_context_new(NULL);
    assert_int_equal(xir_plugin_load(with, XIR_TEST_PLUGINS "/npu.so", why), XIR_OK);
    xir_network *net = story_net_in(with, "x: 2 3; g = acme::Grow x [by=4]; t = acme::Twice x; out g t");
    check(net, "g", XIR_OK, 24, 6);
    check(net, "t", XIR_OK, 0, 6);
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void limits_are_the_contexts(void **state) {
    (void)state;
    xir_context *with = xir_context_new(NULL);
    xir_limits limits = XIR_INIT(xir_limits);
    DOES(xir_context_limits(with, &limits, why));
    assert_int_equal(limits.max_op_work, 2000000000);
    assert_int_equal(limits.max_work, 2000000000);
    DOES(xir_context_set_limits(with, &XIR_INIT(xir_limits, .max_work = 5), why));
    DOES(xir_context_limits(with, &limits, why));
    assert_int_equal(limits.max_op_work, 2000000000);
    assert_int_equal(limits.max_work, 5);
    assert_int_equal(limits.max_depth, 128);
    xir_context_free(with);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_that_can_be_run_says_how_much_it_computes),
        cmocka_unit_test(what_63_bits_cannot_count_is_the_greatest_number),
        cmocka_unit_test(of_open_dims_it_is_not_known),
        cmocka_unit_test(an_op_that_nobody_knows_takes_the_elements_of_its_outputs),
        cmocka_unit_test(a_plug_in_brings_its_own),
        cmocka_unit_test(limits_are_the_contexts),
    };
    return RUN_GROUP(tests);
}
