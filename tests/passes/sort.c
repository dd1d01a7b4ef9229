/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* sort: puts ops in order where needed; ops in order stay in place. */
#include "support/op_list.h"
#include "support/story.h"

static const xir_type *row(void) { return FP32("NC", 1, 4); }

/* Runs the pass on a network that may be invalid before it and must be valid after it. Returns the changes. */
static size_t sort(xir_network *net) {
    size_t changes, again;
    DOES(xir_pass_run(net, "sort", NULL, &changes, why));
    CHECK_SOUND(net);
    xir_diags_clear(why);
    if (xir_network_validate(net, why)) xir_diags_print(why, stderr);
    assert_int_equal(xir_network_validate(net, NULL), XIR_OK);
    DOES(xir_pass_run(net, "sort", NULL, &again, why));
    assert_int_equal(again, 0);
    return changes;
}

static void an_op_pulls_its_producers_in_front_of_itself(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", row()), *c = relu(net, x, "c"), *b = sigmoid(net, x, "b"),
               *d = add(net, c, b, "d");
    results(net, XIR_VALUES(d));
    xir_op *out = xir_network_last(net);
    DOES(xir_op_move(xir_value_op(d), xir_value_op(c)));
    DOES(xir_op_move(out, xir_value_op(b)));
    CHECK_OPS(net, "x = Input()", "d = Add(c, b)", "c = ReLU(x)", "Output(d)", "b = Sigmoid(x)");
    assert_true(sort(net) > 0);
    CHECK_OPS(net, "x = Input()", "c = ReLU(x)", "b = Sigmoid(x)", "d = Add(c, b)", "Output(d)");
    xir_network_free(net);
}

static void sorted_ops_stay(void **state) {
    (void)state;
    xir_network *net = small_net();
    uint32_t slots[6], i = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) slots[i++] = xir_op_slot(op);
    assert_int_equal(PASS(net, "sort"), 0);
    i = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) assert_int_equal(xir_op_slot(op), slots[i++]);
    xir_network_free(net);
}

/* Ops unrelated to the fault keep their order, even where another order is valid, too. */
static void the_rest_keeps_its_order(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", row());
    xir_value *a = relu(net, x, "a"), *b = relu(net, x, "b"), *c = relu(net, a, "c"), *d = relu(net, x, "d"),
               *e = relu(net, b, "e");
    results(net, XIR_VALUES(c, d, e));
    DOES(xir_op_move(xir_value_op(b), xir_network_last(net)));   /* after e, which reads it */
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "c = ReLU(a)", "d = ReLU(x)", "e = ReLU(b)", "b = ReLU(x)", "Output(c, d, e)");
    sort(net);
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "c = ReLU(a)", "d = ReLU(x)", "b = ReLU(x)", "e = ReLU(b)", "Output(c, d, e)");
    xir_network_free(net);
}

static void input_comes_first_and_output_last(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", row()), *a = relu(net, x, "a"), *b = relu(net, x, "b");
    results(net, XIR_VALUES(a));
    DOES(xir_op_move(xir_network_last(net), xir_value_op(b)));
    DOES(xir_op_move(xir_network_first(net), xir_value_op(b)));
    CHECK_OPS(net, "a = ReLU(x)", "Output(a)", "x = Input()", "b = ReLU(x)");
    sort(net);
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "b = ReLU(x)", "Output(a)");
    xir_network_free(net);
}

/* A file may have an Output that gives a value. It stands where its reader pulls it, and stays there. */
static void an_output_that_is_read_stands_like_other_ops(void **state) {
    (void)state;
    static const char text[] = "xir 1\n%x = Input() : fp32 NC [1,4]\n%d = Add(%o, %r) ~ : fp32 NC [1,4]\n"
                               "%o = Output(%x) ~ : fp32 NC [1,4]\n%r = ReLU(%x) ~ : fp32 NC [1,4]\nOutput(%d)\n";
    xir_network *net = xir_network_read(ctx, text, sizeof text - 1, XIR_STR("text"),
                                        &XIR_INIT(xir_load_options, .format = "text"), why);
    size_t changes;
    DOES(xir_pass_run(net, "sort", NULL, &changes, why));
    CHECK_OPS(net, "x = Input()", "o = Output(x)", "r = ReLU(x)", "d = Add(o, r)", "Output(d)");
    DOES(xir_pass_run(net, "sort", NULL, &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(net);
}

/* The operands of a sub op must be ready when its parent runs. */
static void sub_ops_wait_too(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = row();
    xir_value *x = argument(net, "x", type), *a = relu(net, x, "a"), *b = relu(net, x, "b");
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(a, b), TYPES(type)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ &part, 1 };
    xir_value *h = output_of(xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(x), TYPES(type), .attrs = &attrs)),
                             "h");
    xir_value *y = relu(net, named(xir_op_output(part, 0), "p"), "y");   /* made inside h */
    results(net, XIR_VALUES(h, y));
    xir_op *hard = xir_value_op(h);
    DOES(xir_op_move(hard, xir_value_op(a)));
    DOES(xir_op_move(xir_value_op(y), hard));
    CHECK_OPS(net, "x = Input()", "y = ReLU(p)", "h = HardOp(x)", "a = ReLU(x)", "b = ReLU(x)", "Output(h, y)");
    sort(net);
    CHECK_OPS(net, "x = Input()", "b = ReLU(x)", "a = ReLU(x)", "h = HardOp(x)", "y = ReLU(p)", "Output(h, y)");
    xir_network_free(net);
}

static void a_cycle_is_reported_and_nothing_moves(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", row()), *a = relu(net, x, "a"), *b = sigmoid(net, a, "b"),
               *c = add(net, b, x, "c");
    results(net, XIR_VALUES(c));
    DOES(xir_op_set_name(xir_value_op(a), XIR_STR("first")));
    DOES(xir_op_set_name(xir_value_op(b), XIR_STR("second")));
    DOES(xir_op_set_name(xir_value_op(c), XIR_STR("third")));
    DOES(xir_op_set_input(xir_value_op(a), 0, c));
    DOES(xir_op_move(xir_value_op(c), xir_value_op(a)));
    char *before = op_list(net), *after;
    size_t changes;
    assert_int_equal(xir_pass_run(net, "sort", NULL, &changes, why), XIR_E_INVALID);
    after = op_list(net);
    assert_string_equal(before, after);
    free(before);
    free(after);
    CHECK_SOUND(net);
    check_finding(XIR_E_INVALID,
                  "3 ops form a cycle: icraft::xir::Add 'third', which reads icraft::xir::Sigmoid 'second', "
                                 "which reads icraft::xir::ReLU 'first'");
    xir_network_free(net);
}

static void an_op_that_reads_itself_is_a_cycle(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", row()), *a = relu(net, x, "a");
    results(net, XIR_VALUES(x));
    DOES(xir_op_set_name(xir_value_op(a), XIR_STR("self")));
    DOES(xir_op_set_input(xir_value_op(a), 0, a));
    assert_int_equal(xir_pass_run(net, "sort", NULL, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "1 ops form a cycle: icraft::xir::ReLU 'self'");
    xir_network_free(net);
}

/* A long chain in reverse order: it needs no recursion, and not quadratic time, which would be hours. */
static void a_million_ops_backwards(void **state) {
    (void)state;
    enum { LENGTH = 1000000 };
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", row()), *v = x;
    for (int i = 0; i < LENGTH; i++) v = XIR_RELU(xir_at_end(net), v);
    xir_op *last = xir_value_op(v), *first = xir_op_next(xir_network_first(net));
    for (xir_op *op = first; op != last; ) {
        xir_op *next = xir_op_next(op);
        DOES(xir_op_move(op, xir_op_next(last)));   /* each directly after the last op of the chain */
        op = next;
    }
    results(net, XIR_VALUES(v));
    assert_ptr_equal(xir_op_next(xir_network_first(net)), last);
    assert_true(sort(net) >= LENGTH - 1);
    assert_ptr_equal(xir_op_next(xir_network_first(net)), first);
    assert_ptr_equal(xir_op_next(last), xir_network_last(net));
    xir_network_free(net);
}

/* Any order becomes a valid one, in which ops in valid places have not moved. */
static void any_order_becomes_a_valid_one(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        xir_network *net = new_net();
        xir_value *values[60];
        values[0] = argument(net, "x", row());
        for (int i = 1; i < 60; i++)
            values[i] = add(net, values[chance((uint64_t)i)], values[chance((uint64_t)i)], "v");
        results(net, XIR_VALUES(values[59], values[58]));
        for (uint64_t i = 0, n = chance(60); i < n; i++) {
            xir_op *op = xir_value_op(values[1 + chance(59)]), *to = xir_value_op(values[1 + chance(59)]);
            DOES(xir_op_move(op, to));
        }
        sort(net);
        xir_network_free(net);
    }
}

/* ---- order=memory ------------------------------------------------------------------------------------------------ */

#define FOUR "[axis=1]"
#define ONE "[begin=0,0 end=1,1 stride=1,1]"

static void branches_are_finished_one_after_the_other(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 1 4; a = Concat x x x x " FOUR "; b = Concat x x x x " FOUR "; c = Slice a " ONE
                                 "; d = Slice b " ONE "; e = Add c d; out e");
    size_t changes;
    DOES(xir_pass_run(net, "sort", "order=memory", &changes, why));
    assert_true(changes > 0);
    const char *const names[] = { "", "a", "c", "b", "d", "e", "" };
    size_t i = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op), i++)
        if (*names[i]) CHECK_STR(xir_op_name(op), names[i]);
    assert_int_equal(xir_network_validate(net, NULL), XIR_OK);
    DOES(xir_pass_run(net, "sort", "order=memory", &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(net);
}

/* The order is kept if no plan needs fewer bytes. */
static void an_order_that_saves_nothing_is_not_taken(void **state) {
    (void)state;
    size_t changes;
    xir_network *net = story_net("x: fp32 1 4; a = Sigmoid x; b = Sigmoid x; c = Slice x " ONE "; d = Add a b; out d c");
    DOES(xir_pass_run(net, "sort", "order=memory", &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(net);
    net = story_net("x: fp32 -1 4; a = Concat x x " FOUR "; b = Concat x x " FOUR "; c = ReLU a; d = ReLU b; out c d");
    DOES(xir_pass_run(net, "sort", "order=memory", &changes, why));
    assert_int_equal(changes, 0);
    assert_int_equal(xir_pass_run(net, "sort", "order=random", NULL, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "order: expected stable or memory, found 'random'");
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_pulls_its_producers_in_front_of_itself),
        cmocka_unit_test(sorted_ops_stay),
        cmocka_unit_test(the_rest_keeps_its_order),
        cmocka_unit_test(input_comes_first_and_output_last),
        cmocka_unit_test(an_output_that_is_read_stands_like_other_ops),
        cmocka_unit_test(sub_ops_wait_too),
        cmocka_unit_test(a_cycle_is_reported_and_nothing_moves),
        cmocka_unit_test(an_op_that_reads_itself_is_a_cycle),
        cmocka_unit_test(a_million_ops_backwards),
        cmocka_unit_test(any_order_becomes_a_valid_one),
        cmocka_unit_test(branches_are_finished_one_after_the_other),
        cmocka_unit_test(an_order_that_saves_nothing_is_not_taken),
    };
    return RUN_GROUP(tests);
}
