/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An op, the uses of its inputs and its outputs are one piece of memory. It is small, since what few ops have is apart.
 * Ops that get it keep everything else. */
#include <stdio.h>
#include "graph.h"
#include "support/input_net.h"

static xir_op *relu(const char *name) { return xir_value_op(XIR_OP(XIR_AT(net), relu, .input = x, .name = name)); }

static void they_are_small_and_lie_together(void **state) {
    (void)state;
    assert_int_equal(sizeof(xir_op), 80);
    assert_int_equal(sizeof(xir_use), 32);
    assert_int_equal(sizeof(xir_value), 32);
    const xir_op *op = relu("");
    assert_ptr_equal(op_inputs(op), op + 1);
#ifndef XIR_DEBUG_ARENA   /* there every piece of memory is apart */
    assert_null(op_more_of(op));
    assert_ptr_equal(op_outputs(op), op_inputs(op) + 1);
#endif
    assert_null(value_more_of(op_outputs(op)));
}

/* Every target is of a core of its own, so there are more than a network lists. */
enum { MANY = 3 * TARGETS };

static const xir_target *target(int i) {
    char core[16];
    snprintf(core, sizeof core, "%d", 100 + i);
    const xir_target *t = xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, core);
    assert_non_null(t);
    return t;
}

static void check_targets(const xir_network *of, int first) {
    int i = first;
    for (const xir_op *op = xir_op_next(xir_network_first(of)); op; op = xir_op_next(op), i++)
        assert_true(xir_object_equal((const xir_object *)xir_op_target(op), (const xir_object *)target(i % MANY)));
    assert_int_equal(i, first + MANY);
}

static void an_op_has_the_target_that_it_got(void **state) {
    (void)state;
    for (int i = 0; i < MANY; i++) DOES(xir_op_set_target(relu(""), target(i)));
    check_targets(net, 0);
    xir_network *copy = xir_network_clone(net);
    assert_non_null(copy);
    check_targets(copy, 0);
    assert_true(xir_network_equal(net, copy, true));
    xir_network_free(copy);

    int i = 7;
    for (xir_op *op = xir_op_next(xir_network_first(net)); op; op = xir_op_next(op))
        DOES(xir_op_set_target(op, target(i++ % MANY)));
    check_targets(net, 7);
    CHECK_SOUND(net);

    xir_op *last = xir_network_last(net);
    DOES(xir_op_set_target(last, NULL));
    assert_int_equal(xir_target_kind_of(xir_op_target(last)), XIR_TARGET_HOST);
}

static void it_keeps_everything_when_it_gets_more(void **state) {
    (void)state;
    xir_op *op = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(FP32("C", 1))));
    assert_non_null(op);
    DOES(xir_op_place(op, NULL));
    DOES(xir_op_set_name(op, XIR_STR("n")));
    DOES(xir_value_set_name(xir_op_output(op, 0), XIR_STR("v")));
    for (int i = 0; i < MANY; i++) DOES(xir_op_set_target(op, target(i)));
    xir_op *user = xir_value_op(XIR_OP(XIR_AT(net), relu, .input = xir_op_output(op, 0)));
    for (int i = 0; i < 20; i++) DOES(xir_op_add_input(op, x));
    const xir_type *types[30];
    for (int i = 0; i < 30; i++) types[i] = FP32("C", i + 1);
    DOES(xir_op_set_outputs(op, types, 30));
    DOES(xir_op_set_tag(op, XIR_STR("k"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 3 }));

    CHECK_STR(xir_op_name(op), "n");
    CHECK_STR(xir_value_name(xir_op_output(op, 0)), "v");
    assert_ptr_equal(xir_op_input(user, 0), xir_op_output(op, 0));
    assert_ptr_equal(xir_value_op(xir_op_output(op, 29)), op);
    assert_int_equal(xir_value_index(xir_op_output(op, 29)), 29);
    assert_int_equal(xir_op_input_count(op), 21);
    assert_int_equal(xir_value_use_count(x), 21);
    assert_true(xir_object_equal((const xir_object *)xir_op_target(op), (const xir_object *)target(MANY - 1)));
    CHECK_SOUND(net);

    DOES(xir_op_set_name(op, XIR_STR("other")));
    CHECK_STR(xir_op_name(op), "other");
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("other")), op);
    assert_non_null(xir_map_find(xir_op_tags(op), XIR_STR("k")));
    CHECK_SOUND(net);
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, begin_with_input, end_net)

/* A sentence may contain a whole name, and "%.*s" takes its length as an int. Only the size is read: the text does not
 * exist. */
static void a_name_has_less_than_2_gib(void **state) {
    (void)state;
    const xir_str name = { "x", (size_t)INT32_MAX + 1 };
    xir_network *other = new_net();
    xir_op *op = relu("");
    assert_int_equal(xir_op_set_name(op, name), XIR_E_MEMORY);
    assert_int_equal(xir_value_set_name(xir_op_output(op, 0), name), XIR_E_MEMORY);
    assert_null(xir_params_new(other, name, FP32("", 1)));
    assert_null(xir_class_opaque(ctx, name));
    xir_network_clear_status(net);
    xir_network_free(other);
}

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(they_are_small_and_lie_together),
        STORY(an_op_has_the_target_that_it_got),
        STORY(it_keeps_everything_when_it_gets_more),
        STORY(a_name_has_less_than_2_gib),
    };
    return RUN_GROUP(tests);
}
