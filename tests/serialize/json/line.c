/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One line for an op or a value. */
#include "support/net.h"
#include "support/scarce.h"
#include "support/story.h"

static char line[400];

#define CHECK_OP(op, expected)       (xir_op_line((op), line, sizeof line), assert_string_equal(line, expected))
#define CHECK_VALUE(value, expected) (xir_value_line((value), line, sizeof line), assert_string_equal(line, expected))

static void an_op_is_results_class_inputs_attributes_name_id_and_types(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 8 8 3; w: params 3 = 1 2 3; y = Add x w [beta=-1]; "
                                 "z = ReLU y; out z");
    CHECK_OP(story_op(net, "y"), "%y = Add(%x, @w) {beta=[-1.0]} y #1 : @fp(32) NHWC [1,8,8,3]");
    CHECK_OP(xir_network_output_op(net), "Output(%z) #3");
    CHECK_VALUE(story_value(net, "w"), "@w #1 : @fp(32) * [3]");
    CHECK_OP(NULL, "");
    CHECK_VALUE(NULL, "");
    xir_network_free(net);
}

static void names_that_are_not_simple_are_quoted(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; y = onnx::Relu x [mode=fast]; out y");
    xir_op *op = story_op(net, "y");
    DOES(xir_op_set_name(op, XIR_STR("a \"b\"\x1b[2J")));
    DOES(xir_value_set_name(xir_op_output(op, 0), XIR_STR("")));
    CHECK_OP(op, "%1 = onnx::Relu(%x) {mode=\"fast\"} \"a \\\"b\\\"\\u001b[2J\" #1 : @fp(32) ** [2,3]");
    xir_network_free(net);
}

static void a_long_line_is_cut_before_a_character(void **state) {
    (void)state;
    char small[8] = "1234567";
    xir_network *net = story_net("x: 2 3; out x");
    xir_value *x = story_value(net, "x");
    DOES(xir_value_set_name(x, XIR_STR("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f")));
    const size_t all = xir_value_line(x, line, sizeof line);
    assert_int_equal(all, strlen(line));
    assert_int_equal(xir_value_line(x, small, sizeof small), all);
    assert_string_equal(small, "%\"\xc3\xa4\xc3\xb6");   /* the next character would end at byte 8 */
    assert_int_equal(xir_value_line(x, small, 1), all);
    assert_string_equal(small, "");
    assert_int_equal(xir_value_line(x, NULL, 0), all);
    xir_network_free(net);
}

/* A line never fails: what memory is too short for is missing. */
static void scarce_line(want *w) {
    xir_network *net;
    IN_PLENTY(w, net = story_net_in(w->ctx, "x: 2 3; y = Add x x [beta=-1]; out y"));
    char out[200];
    xir_op_line(story_op(net, "y"), out, sizeof out);
    assert_true(strlen(out) < sizeof out);
    IN_PLENTY(w, xir_network_free(net));
}
SCARCE_TEST(scarce_line)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_is_results_class_inputs_attributes_name_id_and_types),
        cmocka_unit_test(names_that_are_not_simple_are_quoted),
        cmocka_unit_test(a_long_line_is_cut_before_a_character),
        cmocka_unit_test(test_scarce_line),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
