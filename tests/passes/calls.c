/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* inline and outline: bodies of calls, by tag and by name, and back. */
#include <xir/region.h>
#include "support/story.h"

static size_t run_pass(xir_network *net, const char *name, const char *options) {
    size_t changes = 0;
    xir_diags_clear(why);
    if (xir_pass_run(net, name, options, &changes, why)) {
        xir_diags_print(why, stderr);
        fail();
    }
    CHECK_SOUND(net);
    return changes;
}

static size_t calls_of(const xir_network *net) {
    size_t n = 0;
    XIR_EACH_OP(op, net) n += xir_op_is(op, xir_call_op_class());
    return n;
}

#define TEXT "x: 2 3; a/s = Sigmoid x; a/t = Tanh a/s; b/e/s = Exp a/t; b/e/r = ReLU b/e/s; b/f/s = Sigmoid b/e/r; c = ReLU b/f/s; out c"

static void names_make_calls(void **state) {
    (void)state;
    xir_network *net = story_net(TEXT), *before = xir_network_clone(net);
    assert_int_equal(run_pass(net, "outline", "by=name"), 2);
    assert_int_equal(calls_of(net), 2);
    CHECK_STR(xir_op_name(xir_network_op_at(net, 1)), "a");
    CHECK_STR(xir_op_name(xir_network_op_at(net, 2)), "b");
    CHECK_SAME_NUMBERS(before, net);
    assert_int_equal(run_pass(net, "outline", "by=name"), 0);
    assert_int_equal(run_pass(net, "inline", "name=b"), 1);
    assert_int_equal(calls_of(net), 1);
    assert_int_equal(run_pass(net, "outline", "by=name,depth=2,min=2"), 1);
    CHECK_STR(xir_op_name(xir_network_op_at(net, 2)), "b/e");
    assert_int_equal(run_pass(net, "inline", NULL), 2);
    CHECK_STORY(net, "a/s = Sigmoid x; a/t = Tanh a/s; b/e/s = Exp a/t; b/e/r = ReLU b/e/s; b/f/s = Sigmoid b/e/r; c = ReLU "
                "b/f/s; out c");
    assert_int_equal(run_pass(net, "inline", NULL), 0);
    xir_network_free(before);
    xir_network_free(net);
}

/* Calls in calls come out, too. */
static void nested_calls_are_inlined(void **state) {
    (void)state;
    xir_network *net = story_net(TEXT);
    run_pass(net, "outline", "by=name,depth=2");
    run_pass(net, "outline", "by=name");
    assert_int_equal(calls_of(net), 2);
    assert_int_equal(run_pass(net, "inline", NULL), 4);
    assert_int_equal(calls_of(net), 0);
    xir_network_free(net);
}

/* Formats without functions have no ops with a body. */
static void conversions_inline_calls(void **state) {
    (void)state;
    static const struct { const char *pass, *note; } ways[] = {
        { "xir-to-pnnx",  "2 calls are inlined: PNNX has no calls"  },
        { "xir-to-nnb",   "2 calls are inlined: NNB has no calls"   },
        { "xir-to-tsm",   "2 calls are inlined: TSM has no calls"   },
        { "xir-to-deepx", "2 calls are inlined: DeepX has no calls" },
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        xir_network *net = story_net(TEXT);
        run_pass(net, "outline", "by=name");
        xir_diags_clear(why);
        DOES(xir_pass_run(net, ways[i].pass, NULL, NULL, why));
        assert_int_equal(calls_of(net), 0);
        const xir_op *first = xir_op_next(xir_network_first(net));
        assert_true(xir_class_is_opaque(xir_op_class(first)));
        const xir_str said = xir_diags_at(why, 0)->message;
        assert_non_null(memmem(said.data, said.size, ways[i].note, strlen(ways[i].note)));
        xir_network_free(net);
    }
}

static void groups_make_calls(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Sigmoid x; e = Erf a; b = Tanh e; out b");
    xir_network *before = xir_network_clone(net);
    assert_int_equal(run_pass(net, "outline", NULL), 0);
    run_pass(net, "partition", "target=buyi");
    assert_int_equal(run_pass(net, "outline", NULL), 2);
    assert_int_equal(xir_target_kind_of(xir_op_target(xir_network_op_at(net, 1))), XIR_TARGET_BUYI);
    CHECK_SAME_NUMBERS(before, net);
    assert_int_equal(run_pass(net, "outline", NULL), 0);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "outline", "by=luck", NULL, why), XIR_E_INVALID);
    assert_int_equal(xir_pass_run(net, "outline", "depth=0", NULL, why), XIR_E_INVALID);
    xir_network_free(before);
    xir_network_free(net);
}

static bool there_and_back(xir_context *with) {
    xir_network *net = story_net_in(with, "x: 2 3; a/s = Sigmoid x; a/t = Tanh a/s; out a/t");
    const bool done = net && xir_pass_run(net, "outline", "by=name", NULL, NULL) == XIR_OK &&
                      xir_pass_run(net, "inline", NULL, NULL, NULL) == XIR_OK;
    xir_network_free(net);
    return done;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(there_and_back);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_make_calls),
        cmocka_unit_test(nested_calls_are_inlined),
        cmocka_unit_test(conversions_inline_calls),
        cmocka_unit_test(groups_make_calls),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_GROUP(tests);
}
