/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The loops of each.h, and texts and findings as programs print them. */
#include <stdio.h>
#include "support/net.h"
#include "support/story.h"

static void ops_in_their_order(void **state) {
    (void)state;
    xir_network *net = small_net();
    int64_t expected = 0;
    XIR_EACH_OP(op, net) assert_int_equal(xir_op_id(op), expected++);
    assert_int_equal(expected, xir_network_op_count(net));
    xir_network_free(net);
    XIR_EACH_OP(op, NULL) fail_msg("an op of no network");
}

static void an_op_may_be_erased_in_its_turn(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU x; c = ReLU x; out b");
    size_t met = 0;
    XIR_EACH_OP(op, net) {
        met++;
        if (xir_op_is(op, xir_relu_class()) && !xir_value_uses(xir_op_output(op, 0))) DOES(xir_op_erase(op));
    }
    assert_int_equal(met, 5);
    CHECK_STORY(net, "b = ReLU x; out b");
    xir_network_free(net);
}

static void inputs_and_outputs_by_position(void **state) {
    (void)state;
    xir_network *net = story_net("x: 4 6; boxes: 1 4 4; scores: 1 1 4; iou: 0.5; p, q = Split x [axis=1 sections=2,4]; "
                                 "z = NonMaxSuppression boxes scores - iou; out p q z");
    size_t n = 0, absent = 0;
    XIR_EACH_INPUT(v, story_op(net, "z")) {
        n++;
        if (v) continue;
        absent++;
    }
    assert_true(n == 4 && absent == 1);
    const char *expected[] = { "p", "q" };
    n = 0;
    XIR_EACH_OUTPUT(v, story_op(net, "p")) CHECK_STR(xir_value_name(v), expected[n++]);
    assert_int_equal(n, 2);
    n = 0;
    XIR_EACH_OUTPUT(v, story_op(net, "p")) {
        n++;
        if (v) break;
    }
    assert_int_equal(n, 1);
    xir_network_free(net);
}

static void a_use_may_be_taken_away_in_its_turn(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; y: 2 3; a = Add x x; b = Add x y; out a b");
    size_t n = 0;
    XIR_EACH_USE(use, story_value(net, "x")) {
        n++;
        DOES(xir_op_set_input(xir_use_op(use), xir_use_index(use), story_value(net, "y")));
    }
    assert_int_equal(n, 3);
    CHECK_STORY(net, "a = Add y y; b = Add y y; out a b");
    xir_network_free(net);
}

static void texts_are_arguments_of_printf(void **state) {
    (void)state;
    char out[40];
    const xir_str none = { NULL, 0 }, part = { "Conv2dOp", 6 };
    snprintf(out, sizeof out, "[" XIR_PRI "][" XIR_PRI "]", XIR_ARG(part), XIR_ARG(none));
    assert_string_equal(out, "[Conv2d][]");
    assert_int_equal(xir_str_shown_(SIZE_MAX), INT32_MAX);   /* never negative: that would be a text without an end */
}

static void findings_of_a_network_join_another_list(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""), "first");
    assert_null(xir_op_create(net, XIR_STR("no such class")));
    const xir_status failed = xir_network_status(net);
    xir_network_move_diags(net, why);
    assert_int_equal(xir_diags_count(why), 2);
    assert_string_equal(xir_diags_at(why, 0)->message.data, "first");
    assert_int_equal(xir_diags_at(why, 1)->code, failed);
    assert_true(failed && xir_network_status(net) == failed && !xir_diags_count(xir_network_diags(net)));
    xir_network_move_diags(net, why);
    xir_network_move_diags(net, xir_network_diags(net));
    xir_network_move_diags(NULL, why);
    xir_network_move_diags(net, NULL);
    assert_int_equal(xir_diags_count(why), 2);
    xir_diags_clear(why);
    xir_network_free(net);
}

static void targets_have_names(void **state) {
    (void)state;
    assert_ptr_equal(xir_target_named(ctx, XIR_STR("host")), xir_target_of_kind(ctx, XIR_TARGET_HOST, NULL));
    assert_ptr_equal(xir_target_named(ctx, XIR_STR("icraft::xir::HostTarget")),
                     xir_target_of_kind(ctx, XIR_TARGET_HOST, NULL));
    assert_null(xir_target_named(ctx, XIR_STR("nowhere")));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_in_their_order),
        cmocka_unit_test(an_op_may_be_erased_in_its_turn),
        cmocka_unit_test(inputs_and_outputs_by_position),
        cmocka_unit_test(a_use_may_be_taken_away_in_its_turn),
        cmocka_unit_test(texts_are_arguments_of_printf),
        cmocka_unit_test(findings_of_a_network_join_another_list),
        cmocka_unit_test(targets_have_names),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
