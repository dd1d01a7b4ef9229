/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Edits: inputs, uses, order, removing and replacing. After each edit the uses match the inputs exactly, in both
 * directions. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"

/* small_net: 0 in -> [0]; 1 conv([0], w [1]) -> [2]; 2 relu -> [3]; 3 pool -> [4]; 4 add([4], [4]) -> [5]; 5 out. */

static xir_network *net;

static int begin(void **state) {
    (void)state;
    net = small_net();
    return 0;
}

static int end(void **state) {
    (void)state;
    const char *broken = broken_invariant(net, ASK_ALL);
    if (broken) print_error("%s\n", broken);
    xir_network_free(net);
    return broken ? -1 : 0;
}

static xir_op    *op(int64_t id) { return op_of(net, id); }
static xir_value *value(int64_t id) { return value_of(net, id); }

/* An op with any number of inputs: op 6, which reads these values. */
static xir_op *wide(xir_values inputs) {
    const xir_type *type = FP32("*", 4);
    xir_op *made =
        xir_network_add(net, &(xir_op_desc)DESC(hard_op, .inputs = inputs.data, .n_inputs = inputs.size, TYPES(type)));
    assert_non_null(made);
    return made;
}

static xir_op *new_relu(xir_value *x) {
    xir_op *made = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(x)));
    assert_non_null(made);
    return made;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static void uses_are_kept_and_connected_again(void **state) {
    (void)state;
    xir_user users[4];
    assert_int_equal(xir_value_users(value(4), users, 4), 2);
    assert_int_equal(xir_value_users(value(4), users, 1), 2);
    assert_int_equal(xir_value_users(value(4), users, 2), 2);
    assert_true(users[0].op == op(4) && users[1].op == op(4) && users[0].index + users[1].index == 1);
    DOES(xir_op_set_inputs(op(4), (xir_value *const[]){ value(2), value(2) }, 2));
    CHECK_USES(value(4), "");
    DOES(xir_value_connect(value(4), users, 2));
    CHECK_INPUTS(op(4), "4 4");
    CHECK_USES(value(2), "2:0");
    DOES(xir_value_connect(value(3), users, 1));
    CHECK_USES(value(4), users[0].index ? "4:0" : "4:1");
    DOES(xir_value_connect(value(3), NULL, 0));
    assert_int_equal(xir_value_users(value(5), users, 0), 1);
}

static void users_that_make_no_sense_are_refused(void **state) {
    (void)state;
    xir_network *other = small_net();
    xir_user users[2] = { { op(2), 0 }, { op_of(other, 2), 0 } };
    REFUSES(net, xir_value_connect(value(0), users, 2), XIR_E_INVALID, "user 1 belongs to another network");
    users[1] = (xir_user){ op(4), 2 };
    REFUSES(net, xir_value_connect(value(0), users, 2), XIR_E_BOUNDS, "user 1 is input 2 of an op that has 2");
    users[1] = (xir_user){ NULL, 0 };
    REFUSES(net, xir_value_connect(value(0), users, 2), XIR_E_MISSING, "user 1 has no op");
    users[1] = (xir_user){ new_relu(value(5)), 0 };
    xir_value *gone = xir_op_output(users[1].op, 0);
    DOES(xir_op_erase(users[1].op));
    REFUSES(net, xir_value_connect(value(0), users, 2), XIR_E_INVALID, "user 1 is erased");
    REFUSES(net, xir_value_connect(gone, users, 1), XIR_E_INVALID, "the op of the value to connect is erased");
    CHECK_INPUTS(op(2), "2");   /* the first user is unchanged */
    xir_network_free(other);
}

static void params_get_an_id_when_they_are_connected(void **state) {
    (void)state;
    xir_value *late = xir_params_new(net, XIR_STR("late"), FP32("*", 4));
    xir_op *loose = new_relu(value(5));
    DOES(xir_value_connect(late, &(xir_user){ loose, 0 }, 1));
    assert_true(xir_value_id(late) < 0);
    DOES(xir_value_connect(late, &(xir_user){ op(4), 1 }, 1));
    assert_true(xir_value_id(late) >= 0);
    DOES(xir_op_erase(loose));
}

static void inputs_without_params(void **state) {
    (void)state;
    xir_value *found[2];
    size_t at[2];
    assert_int_equal(xir_op_data_inputs(op(1), found, 2), 1);
    assert_ptr_equal(found[0], value(0));
    assert_int_equal(xir_op_data_inputs(op(4), found, 2), 2);
    assert_int_equal(xir_op_data_inputs(op(4), NULL, 0), 2);
    DOES(xir_op_set_input(op(4), 0, NULL));
    assert_int_equal(xir_op_data_inputs(op(4), found, 2), 1);
    assert_int_equal(xir_op_input_index_by_id(op(4), 4, at, 2), 1);
    assert_int_equal(at[0], 1);
    assert_int_equal(xir_op_input_index_by_id(op(4), 3, at, 2), 0);
}

static void an_input_is_set(void **state) {
    (void)state;
    DOES(xir_op_set_input(op(4), 0, value(3)));
    CHECK_INPUTS(op(4), "3 4");
    CHECK_USES(value(3), "3:0 4:0");
    CHECK_USES(value(4), "4:1");
    DOES(xir_op_set_input(op(4), 1, NULL));
    CHECK_INPUTS(op(4), "3 -");
    CHECK_USES(value(4), "");
    DOES(xir_op_set_input(op(4), 1, value(3)));
    CHECK_USES(value(3), "3:0 4:0 4:1");
}

static void inputs_are_inserted_and_the_others_move(void **state) {
    (void)state;
    xir_op *h = wide(XIR_VALUES(value(2), value(3)));
    DOES(xir_op_insert_input(h, 0, value(5)));
    CHECK_INPUTS(h, "5 2 3");
    DOES(xir_op_insert_input(h, 2, value(2)));
    CHECK_INPUTS(h, "5 2 2 3");
    DOES(xir_op_insert_input(h, 4, value(4)));
    CHECK_INPUTS(h, "5 2 2 3 4");
    DOES(xir_op_insert_input(h, 1, NULL));
    CHECK_INPUTS(h, "5 - 2 2 3 4");
    CHECK_USES(value(2), "2:0 6:2 6:3");
    CHECK_USES(value(3), "3:0 6:4");
    CHECK_USES(value(4), "4:0 4:1 6:5");
    CHECK_USES(value(5), "5:0 6:0");
}

static void a_hundred_inputs_are_added(void **state) {
    (void)state;
    xir_op *h = wide(XIR_VALUES(value(2)));
    for (int i = 0; i < 99; i++) {
        DOES(xir_op_add_input(h, value(2 + i % 3)));
        CHECK_SOUND(net);
    }
    assert_int_equal(xir_op_input_count(h), 100);
    assert_int_equal(xir_value_use_count(value(2)), 1 + 1 + 33);
    assert_int_equal(xir_value_use_count(value(3)), 1 + 33);
    assert_int_equal(xir_value_use_count(value(4)), 2 + 33);
}

static void an_input_is_removed_and_the_others_move(void **state) {
    (void)state;
    xir_op *h = wide(XIR_VALUES(value(2), value(3), value(2), value(4)));
    DOES(xir_op_remove_input(h, 1));
    CHECK_INPUTS(h, "2 2 4");
    CHECK_USES(value(3), "3:0");
    DOES(xir_op_remove_input_id(h, 2));
    CHECK_INPUTS(h, "4");
    CHECK_USES(value(2), "2:0");
    CHECK_USES(value(4), "4:0 4:1 6:0");
    DOES(xir_op_remove_input(h, 0));
    CHECK_INPUTS(h, "");
    CHECK_USES(value(4), "4:0 4:1");
}

static void all_inputs_are_set_or_cleared(void **state) {
    (void)state;
    xir_op *h = wide(XIR_VALUES(value(2), value(3)));
    DOES(xir_op_set_inputs(h, (xir_value *const[]){ value(5), value(5), NULL, value(2) }, 4));
    CHECK_INPUTS(h, "5 5 - 2");
    CHECK_USES(value(5), "5:0 6:0 6:1");
    CHECK_USES(value(3), "3:0");
    DOES(xir_op_set_inputs(h, (xir_value *const[]){ value(3) }, 1));
    CHECK_INPUTS(h, "3");
    CHECK_USES(value(5), "5:0");
    xir_op_clear_inputs(h);
    CHECK_INPUTS(h, "");
    CHECK_USES(value(3), "3:0");
    DOES(xir_op_set_inputs(h, NULL, 0));
    CHECK_INPUTS(h, "");
}

static void every_position_of_a_value_is_replaced(void **state) {
    (void)state;
    DOES(xir_op_replace_input(op(4), value(4), value(3)));
    CHECK_INPUTS(op(4), "3 3");
    CHECK_USES(value(4), "");
    CHECK_USES(value(3), "3:0 4:0 4:1");
    DOES(xir_op_replace_input(op(4), value(4), value(2)));   /* it has no such input */
    CHECK_INPUTS(op(4), "3 3");
    DOES(xir_op_replace_input(op(4), value(3), NULL));
    CHECK_INPUTS(op(4), "- -");
    DOES(xir_op_replace_input(op(4), NULL, value(2)));
    CHECK_INPUTS(op(4), "2 2");
}

static void params_get_their_id_when_they_are_used(void **state) {
    (void)state;
    xir_value *p[5];
    for (int i = 0; i < 5; i++) p[i] = xir_params_new(net, XIR_STR("p"), FP32("*", 4));
    xir_op *h = wide(XIR_VALUES(value(2)));   /* output [6] */
    DOES(xir_op_add_input(h, p[0]));
    DOES(xir_op_set_input(h, 0, p[1]));
    DOES(xir_op_replace_input(h, p[0], p[2]));
    DOES(xir_op_set_inputs(h, &p[3], 1));
    DOES(xir_value_replace(p[3], p[4]));
    for (int i = 0; i < 5; i++) assert_int_equal(xir_value_id(p[i]), 7 + i);
    CHECK_INPUTS(h, "11");
    assert_int_equal(xir_network_params(net, NULL, 0), 2);
}

static void params_of_sub_ops_too(void **state) {
    (void)state;
    const xir_type *type = FP32("*", 4);
    xir_value *p = xir_params_new(net, XIR_STR("p"), type), *q = xir_params_new(net, XIR_STR("q"), type);
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value(2)), TYPES(type)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ &part, 1 };
    assert_non_null(xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(value(2)), TYPES(type))));
    DOES(xir_op_add_input(part, p));
    assert_true(xir_value_id(p) >= 0);
    xir_hard_op_attrs inner = xir_hard_op_init();
    inner.instr = XIR_VALUES(q);
    DOES(xir_hard_op_set(part, &inner));
    assert_true(xir_value_id(q) >= 0);
    CHECK_SOUND(net);
    DOES(xir_op_set_outputs(part, (const xir_type *const[]){ type, type }, 2));
    assert_true(xir_value_id(xir_op_output(part, 1)) >= 0);
    assert_ptr_equal(value(xir_value_id(xir_op_output(part, 0))), xir_op_output(part, 0));
    assert_int_equal(xir_network_params(net, NULL, 0), 3);
}

static void invalid_inputs_are_refused(void **state) {
    (void)state;
    xir_network *other = small_net();
    xir_value *strange = value_of(other, 2);
    REFUSES(net, xir_op_set_input(op(4), 2, value(3)), XIR_E_BOUNDS, "input 2 of an op that has 2");
    REFUSES(net, xir_op_insert_input(op(4), 3, value(3)), XIR_E_BOUNDS, "input 3 of an op that has 2");
    REFUSES(net, xir_op_remove_input(op(4), 2), XIR_E_BOUNDS, "input 2 of an op that has 2");
    REFUSES(net, xir_op_remove_input_id(op(4), 3), XIR_E_MISSING, "value 3 is not an input of op 4");
    REFUSES(net, xir_op_set_input(op(4), 0, strange), XIR_E_INVALID, "belongs to another network");
    REFUSES(net, xir_op_add_input(op(4), strange), XIR_E_INVALID, "belongs to another network");
    REFUSES(net, xir_op_set_inputs(op(4), (xir_value *const[]){ value(2), strange }, 2), XIR_E_INVALID, "belongs to another network");
    REFUSES(net, xir_op_replace_input(op(4), value(4), strange), XIR_E_INVALID, "belongs to another network");
    REFUSES(net, xir_value_replace(value(4), strange), XIR_E_INVALID, "belongs to another network");
    REFUSES(net, xir_network_connect(net, strange, op(4), -1), XIR_E_INVALID, "belongs to another network");
    REFUSES(net, xir_network_connect(net, value(2), op_of(other, 4), -1), XIR_E_INVALID, "belongs to another network");
    CHECK_SOUND(other);
    xir_network_free(other);
}

static void tags_and_undeclared_keys_take_params_of_their_own_network_only(void **state) {
    (void)state;
    xir_network *other = small_net();
    const xir_any own = { .kind = XIR_ANY_PARAMS, .as.params = value(1) },
                  strange = { .kind = XIR_ANY_PARAMS, .as.params = value_of(other, 1) };
    REFUSES(net, xir_op_set_tag(op(4), XIR_STR("t"), &strange), XIR_E_INVALID, "belong to another network");
    REFUSES(net, xir_value_set_tag(value(4), XIR_STR("t"), &strange), XIR_E_INVALID, "belong to another network");
    REFUSES(net, xir_network_set_tag(net, XIR_STR("t"), &strange), XIR_E_INVALID, "belong to another network");
    REFUSES(net, xir_network_set_extra(net, XIR_STR("t"), &strange), XIR_E_INVALID, "belong to another network");
    DOES(xir_op_set_tag(op(4), XIR_STR("t"), &own));
    DOES(xir_network_set_tag(net, XIR_STR("t"), &own));
    xir_network_free(other);
}

static void a_refused_list_of_inputs_numbers_nothing(void **state) {
    (void)state;
    xir_network *other = small_net();
    xir_value *p = xir_params_new(net, XIR_STR("p"), FP32("*", 4));
    REFUSES(net, xir_op_set_inputs(op(4), (xir_value *const[]){ p, value_of(other, 2) }, 2), XIR_E_INVALID, "another network");
    assert_true(xir_value_id(p) < 0);
    xir_network_free(other);
}

static void a_value_is_connected(void **state) {
    (void)state;
    xir_op *h = wide(XIR_VALUES(value(2)));
    DOES(xir_network_connect(net, value(5), h, -1));
    DOES(xir_network_connect(net, value(4), h, 0));
    CHECK_INPUTS(h, "4 5");
    CHECK_USES(value(5), "5:0 6:1");
    REFUSES(net, xir_network_connect(net, value(5), h, 2), XIR_E_BOUNDS, "input 2 of an op that has 2");
}

static void every_use_of_a_value_is_replaced(void **state) {
    (void)state;
    DOES(xir_value_replace(value(4), value(2)));
    CHECK_USES(value(4), "");
    CHECK_USES(value(2), "2:0 4:0 4:1");
    CHECK_INPUTS(op(4), "2 2");
    DOES(xir_value_replace(value(2), value(2)));
    CHECK_USES(value(2), "2:0 4:0 4:1");
    DOES(xir_value_replace(value(4), value(3)));   /* it has no uses */
    CHECK_USES(value(3), "3:0");
    DOES(xir_value_replace(value(1), value(0)));   /* Params as well */
    CHECK_INPUTS(op(1), "0 0");
}

/* ---- erasing and removing --------------------------------------------------------------------------------------- */

static void an_op_in_use_is_not_erased(void **state) {
    (void)state;
    REFUSES(net, xir_op_erase(op(3)), XIR_E_IN_USE, "output 0 of op 3 is used by op 4 'add'");
    DOES(xir_op_erase(op(5)));
    DOES(xir_op_erase(op(4)));
    CHECK_ORDER(net, "0 1 2 3");
    CHECK_USES(value(4), "");
    DOES(xir_op_erase(op(3)));
    assert_null(xir_network_op_by_id(net, 3));
    assert_null(xir_network_value_by_id(net, 4));
    assert_ptr_equal(xir_network_last(net), op(2));
    assert_null(xir_op_next(op(2)));
}

static void an_op_that_is_not_placed_is_erased(void **state) {
    (void)state;
    xir_op *late = new_relu(value(2));
    assert_int_equal(xir_value_use_count(value(2)), 2);
    DOES(xir_op_erase(late));
    CHECK_USES(value(2), "2:0");
    CHECK_ORDER(net, "0 1 2 3 4 5");
}

static void a_user_that_is_not_placed_is_a_user(void **state) {
    (void)state;
    xir_op *late = new_relu(value(5));
    DOES(xir_op_erase(op(5)));
    REFUSES(net, xir_op_erase(op(4)), XIR_E_IN_USE, "output 0 of op 4 is used by op -");
    DOES(xir_op_erase(late));
    DOES(xir_op_erase(op(4)));
}

static void the_last_op_is_erased(void **state) {
    (void)state;
    for (int64_t id = 5; id >= 0; id--) {
        DOES(xir_op_erase(op(id)));
        CHECK_SOUND(net);
    }
    assert_null(xir_network_first(net));
    assert_null(xir_network_last(net));
    assert_non_null(xir_input(xir_at_end(net), "in", FP32("NHWC", 1, 8, 8, 3)));   /* the network is empty again */
    assert_int_equal(xir_op_id(xir_network_first(net)), 6);   /* ids continue */
}

/* After ReLU was removed MaxPool has an absent input. */
static void removing_leaves_absent_inputs(void **state) {
    (void)state;
    DOES(xir_network_remove(net, op(2)));
    CHECK_ORDER(net, "0 1 3 4 5");
    CHECK_INPUTS(op(3), "-");
    CHECK_USES(value(2), "");
    assert_int_equal(xir_network_validate(net, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "absent");
    DOES(xir_network_remove(net, op(3)));
    CHECK_INPUTS(op(4), "- -");
    xir_op *late = new_relu(value(2));
    REFUSES(net, xir_network_remove(net, late), XIR_E_MISSING, "is not in the order of this network");
}

static bool is_even(const xir_op *o, void *user) {
    ++*(int *)user;
    return xir_op_id(o) % 2 == 0;
}

static void many_are_removed(void **state) {
    (void)state;
    size_t removed = 0;
    int asked = 0;
    DOES(xir_network_remove_if(net, is_even, &asked, &removed));
    assert_int_equal(removed, 3);
    assert_int_equal(asked, 6);
    CHECK_ORDER(net, "1 3 5");
    CHECK_INPUTS(op(1), "- 1");
    CHECK_INPUTS(op(3), "-");
    CHECK_INPUTS(op(5), "-");
    DOES(xir_network_remove_if(net, is_even, &asked, NULL));
    CHECK_ORDER(net, "1 3 5");
}

/* ---- bypassing -------------------------------------------------------------------------------------------------- */

static void a_bypassed_op_s_users_read_what_it_read(void **state) {
    (void)state;
    DOES(xir_network_bypass(net, (xir_op *const[]){ op(2) }, 1));
    CHECK_ORDER(net, "0 1 3 4 5");
    CHECK_INPUTS(op(3), "2");
    CHECK_USES(value(2), "3:0");
    DOES(xir_network_bypass(net, (xir_op *const[]){ op(1) }, 1));   /* its Params are not bypassed */
    CHECK_INPUTS(op(3), "0");
    CHECK_USES(value(1), "");
}

static void chains_are_bypassed_in_any_order(void **state) {
    (void)state;
    DOES(xir_network_bypass(net, (xir_op *const[]){ op(2), op(3), op(1) }, 3));
    CHECK_ORDER(net, "0 4 5");
    CHECK_INPUTS(op(4), "0 0");
    CHECK_USES(value(0), "4:0 4:1");
}

static void output_i_becomes_input_i(void **state) {
    (void)state;
    const xir_type *type = FP32("*", 4);
    xir_value *p = xir_params_new(net, XIR_STR("p"), type);
    xir_op *two = xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(value(2), p, value(3)), TYPES(type, type)));
    xir_op *reader = wide(XIR_VALUES(xir_op_output(two, 1), xir_op_output(two, 0), xir_op_output(two, 1)));
    DOES(xir_network_bypass(net, &two, 1));
    CHECK_INPUTS(reader, "3 2 3");
}

static void ops_that_cannot_be_bypassed(void **state) {
    (void)state;
    const xir_type *type = FP32("*", 4);
    REFUSES(net, xir_network_bypass(net, (xir_op *const[]){ op(2), op(0) }, 2), XIR_E_INVALID, "op 0 has no input to stand in for its output 0");
    REFUSES(net, xir_network_bypass(net, (xir_op *const[]){ op(2), op(2) }, 2), XIR_E_EXISTS, "op 2 is named twice");
    xir_op *late = new_relu(value(2));
    REFUSES(net, xir_network_bypass(net, &late, 1), XIR_E_MISSING, "is not in the order");
    xir_op *two = xir_network_add(net,
                                  &(xir_op_desc)DESC(hard_op, INPUTS(value(2), value(3)), TYPES(type, type, type)));
    wide(XIR_VALUES(xir_op_output(two, 2)));
    REFUSES(net, xir_network_bypass(net, &two, 1), XIR_E_INVALID, "has no input to stand in for its output 2");
    /* An add reads the same value twice, so the choice is clear. */
    DOES(xir_network_bypass(net, (xir_op *const[]){ op(4) }, 1));
    CHECK_INPUTS(op(5), "4");
}

/* Invalid networks may have cycles. */
static void a_cycle_is_not_bypassed(void **state) {
    (void)state;
    DOES(xir_op_set_input(op(2), 0, value(4)));   /* relu reads the pool that reads it */
    REFUSES(net, xir_network_bypass(net, (xir_op *const[]){ op(2), op(3) }, 2), XIR_E_INVALID, "op 3 has no input to stand in for its output 0");
    DOES(xir_network_bypass(net, (xir_op *const[]){ op(3) }, 1));   /* now relu reads itself */
    CHECK_INPUTS(op(2), "3");
    CHECK_INPUTS(op(4), "3 3");
    REFUSES(net, xir_network_bypass(net, (xir_op *const[]){ op(2) }, 1), XIR_E_INVALID, "op 2 has no input to stand in");
    REFUSES(net, xir_op_erase(op(2)), XIR_E_IN_USE, "is used by op 4");
}

static void outputs_are_bypassed_too(void **state) {
    (void)state;
    DOES(xir_network_bypass(net, (xir_op *const[]){ op(5) }, 1));
    CHECK_ORDER(net, "0 1 2 3 4");
    CHECK_USES(value(5), "");
}

/* ---- replacing -------------------------------------------------------------------------------------------------- */

static void a_replacement_keeps_place_and_uses(void **state) {
    (void)state;
    xir_op *now = new_relu(value(3));
    DOES(xir_network_replace_keep_uses(net, op(3), now));
    CHECK_ORDER(net, "0 1 2 6 4 5");
    CHECK_INPUTS(op(4), "6 6");
    CHECK_USES(value(3), "6:0");
    CHECK_USES(value(6), "4:0 4:1");
    assert_null(xir_network_op_by_id(net, 3));
    assert_null(xir_network_value_by_id(net, 4));
}

static void or_drops_them(void **state) {
    (void)state;
    DOES(xir_network_replace(net, op(3), new_relu(value(3))));
    CHECK_ORDER(net, "0 1 2 6 4 5");
    CHECK_INPUTS(op(4), "- -");
    CHECK_USES(value(6), "");
}

static void ends_are_replaced_by_ops_of_their_class(void **state) {
    (void)state;
    const xir_type *type = FP32("NHWC", 1, 8, 8, 3);
    xir_op *in = xir_op_new(net, &(xir_op_desc)DESC(input, TYPES(type), .name = XIR_STR("other")));
    DOES(xir_network_replace_keep_uses(net, op(0), in));
    CHECK_ORDER(net, "6 1 2 3 4 5");
    CHECK_INPUTS(op(1), "6 1");
    assert_ptr_equal(xir_network_input_op(net), in);
    xir_op *out = xir_op_new(net, &(xir_op_desc)DESC(output, INPUTS(value(3))));
    DOES(xir_network_replace(net, op(5), out));
    CHECK_ORDER(net, "6 1 2 3 4 7");
    CHECK_USES(value(5), "");
    DOES(xir_network_validate(net, why));
}

static void ops_that_cannot_replace(void **state) {
    (void)state;
    const xir_type *type = FP32("*", 4);
    xir_op *two = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value(2)), TYPES(type, type)));
    REFUSES(net, xir_network_replace_keep_uses(net, op(3), two), XIR_E_INVALID, "op 3 has 1 outputs, its replacement 2");
    xir_op *reader = new_relu(value(4)), *late = new_relu(value(2));
    REFUSES(net, xir_network_replace_keep_uses(net, op(3), reader), XIR_E_INVALID, "the replacement of op 3 reads what that op makes");
    REFUSES(net, xir_network_replace(net, op(3), op(2)), XIR_E_INVALID, "must be an unplaced op of this network");
    REFUSES(net, xir_network_replace(net, op(3), op(3)), XIR_E_INVALID, "must be an unplaced op of this network");
    REFUSES(net, xir_network_replace(net, op(0), late), XIR_E_INVALID, "an Input is replaced by an Input only");
    xir_op *in = xir_op_new(net, &(xir_op_desc)DESC(input, TYPES(type)));
    REFUSES(net, xir_network_replace(net, op(2), in), XIR_E_INVALID, "an Input is replaced by an Input only");
    REFUSES(net, xir_network_replace(net, two, in), XIR_E_MISSING, "is not in the order of this network");
    xir_network *other = small_net();
    xir_op *strange = xir_op_new(other, &(xir_op_desc)DESC(relu, INPUTS(value_of(other, 2))));
    REFUSES(net, xir_network_replace(net, op(3), strange), XIR_E_INVALID, "must be an unplaced op of this network");
    CHECK_SOUND(other);
    xir_network_free(other);
    DOES(xir_op_set_id(two, 40));
    DOES(xir_op_set_id(op(1), 40));
    REFUSES(net, xir_network_replace(net, op(3), two), XIR_E_EXISTS, "op id 40 is taken");
}

/* ---- moving ----------------------------------------------------------------------------------------------------- */

static void ops_move(void **state) {
    (void)state;
    DOES(xir_op_move(op(1), op(4)));
    CHECK_ORDER(net, "0 2 3 1 4 5");
    assert_true(xir_op_before(op(3), op(1)));
    DOES(xir_op_move(op(1), NULL));
    CHECK_ORDER(net, "0 2 3 4 5 1");
    DOES(xir_op_move(op(1), op(0)));
    CHECK_ORDER(net, "1 0 2 3 4 5");
    DOES(xir_op_move(op(0), op(0)));
    DOES(xir_op_move(op(0), op(2)));   /* no change */
    DOES(xir_op_move(op(5), NULL));    /* no change */
    CHECK_ORDER(net, "1 0 2 3 4 5");
    assert_int_equal(xir_network_op_count(net), 6);
    xir_op *late = new_relu(value(2));
    REFUSES(net, xir_op_move(late, NULL), XIR_E_MISSING, "is not in the order");
    REFUSES(net, xir_op_move(op(1), late), XIR_E_MISSING, "is not in the order");
    xir_network *other = small_net();
    REFUSES(net, xir_op_move(op(1), op_of(other, 2)), XIR_E_MISSING, "is not in the order");
    xir_network_free(other);
}

/* ---- sub ops ---------------------------------------------------------------------------------------------------- */

typedef struct family { xir_op *parent, *a, *b; } family;

/* Op 6 with the sub ops a (reads [2]) and b (reads a). */
static family make_family(void) {
    const xir_type *type = FP32("*", 4);
    family f;
    f.a = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value(2)), TYPES(type)));
    f.b = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(xir_op_output(f.a, 0)), TYPES(type)));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ f.a, f.b }, 2 };
    f.parent = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(value(2)), TYPES(type)));
    assert_non_null(f.parent);
    return f;
}

/* A program that keeps a list of ops can ask which of them still exist. */
static void erased_ops_say_so(void **state) {
    (void)state;
    xir_op *all[6], *unplaced = new_relu(value(0)), *other = new_relu(value(2));
    for (int i = 0; i < 6; i++) all[i] = op(i);
    assert_false(xir_op_is_erased(NULL));
    for (int i = 0; i < 6; i++) assert_false(xir_op_is_erased(all[i]));
    assert_false(xir_op_is_erased(unplaced));
    DOES(xir_op_erase(unplaced));
    assert_true(xir_op_is_erased(unplaced));
    DOES(xir_network_replace_keep_uses(net, all[2], other));
    assert_true(xir_op_is_erased(all[2]) && !xir_op_is_erased(other));
    assert_int_equal(xir_op_erase(all[3]), XIR_E_IN_USE);
    assert_false(xir_op_is_erased(all[3]));
    DOES(xir_network_remove(net, all[4]));
    DOES(xir_network_bypass(net, (xir_op *const[]){ all[3] }, 1));
    assert_true(xir_op_is_erased(all[3]) && xir_op_is_erased(all[4]));
    assert_false(xir_op_is_erased(all[0]) || xir_op_is_erased(all[1]) || xir_op_is_erased(all[5]));
    xir_network_clear_status(net);
}

static void sub_ops_leave_with_their_parent(void **state) {
    (void)state;
    family f = make_family();
    int64_t ids[] = { xir_op_id(f.parent), xir_op_id(f.a), xir_op_id(f.b) };
    CHECK_USES(value(2), "2:0 6:0 7:0");
    DOES(xir_op_erase(f.parent));
    CHECK_USES(value(2), "2:0");
    for (size_t i = 0; i < 3; i++) assert_null(xir_network_op_by_id(net, ids[i]));
    DOES(xir_network_remove(net, make_family().parent));
    CHECK_USES(value(2), "2:0");
}

static void a_reader_of_a_sub_op_keeps_its_parent(void **state) {
    (void)state;
    family f = make_family();
    xir_op *reader = wide(XIR_VALUES(xir_op_output(f.b, 0)));
    REFUSES(net, xir_op_erase(f.parent), XIR_E_IN_USE, "output 0 of op 8 is used by op 9");
    DOES(xir_network_remove(net, f.parent));
    CHECK_INPUTS(reader, "-");
}

static void sub_ops_that_leave_an_attribute_are_erased(void **state) {
    (void)state;
    family f = make_family();
    xir_op *reader = wide(XIR_VALUES(xir_op_output(f.b, 0)));
    xir_op *c = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value(3)),
                                                   .types = (const xir_type *const[]){ NULL }, .n_types = 1));
    xir_hard_op_attrs attrs = *xir_hard_op_of(f.parent);
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ f.a, c }, 2 };
    DOES(xir_hard_op_set(f.parent, &attrs));
    assert_ptr_equal(xir_op_parent(f.a), f.parent);
    assert_ptr_equal(xir_op_parent(c), f.parent);
    assert_int_equal(xir_op_id(c), 10);
    assert_null(xir_network_op_by_id(net, 8));
    CHECK_INPUTS(reader, "-");
    CHECK_USES(xir_op_output(f.a, 0), "");
    REFUSES(net, xir_op_place(f.b, NULL), XIR_E_EXISTS, "has been erased");
}

static void a_clone_has_sub_ops_of_its_own(void **state) {
    (void)state;
    family f = make_family();
    xir_op *copy = xir_op_clone(f.parent);
    assert_non_null(copy);
    const xir_ops parts = xir_hard_op_of(copy)->sub_hard_ops;
    assert_int_equal(parts.size, 2);
    assert_ptr_not_equal(parts.data[0], f.a);
    assert_ptr_equal(xir_op_parent(parts.data[0]), copy);
    assert_ptr_equal(xir_op_input(parts.data[0], 0), value(2));
    assert_ptr_equal(xir_op_input(parts.data[1], 0), xir_op_output(parts.data[0], 0));   /* its sibling */
    CHECK_USES(xir_op_output(f.a, 0), "8:0");
    DOES(xir_op_place(copy, NULL));
    CHECK_SOUND(net);
    DOES(xir_op_erase(f.parent));
    CHECK_SOUND(net);
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, begin, end)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(uses_are_kept_and_connected_again),
        STORY(users_that_make_no_sense_are_refused),
        STORY(params_get_an_id_when_they_are_connected),
        STORY(inputs_without_params),
        STORY(an_input_is_set),
        STORY(inputs_are_inserted_and_the_others_move),
        STORY(a_hundred_inputs_are_added),
        STORY(an_input_is_removed_and_the_others_move),
        STORY(all_inputs_are_set_or_cleared),
        STORY(every_position_of_a_value_is_replaced),
        STORY(params_get_their_id_when_they_are_used),
        STORY(params_of_sub_ops_too),
        STORY(invalid_inputs_are_refused),
        STORY(tags_and_undeclared_keys_take_params_of_their_own_network_only),
        STORY(a_refused_list_of_inputs_numbers_nothing),
        STORY(a_value_is_connected),
        STORY(every_use_of_a_value_is_replaced),
        STORY(an_op_in_use_is_not_erased),
        STORY(an_op_that_is_not_placed_is_erased),
        STORY(a_user_that_is_not_placed_is_a_user),
        STORY(the_last_op_is_erased),
        STORY(removing_leaves_absent_inputs),
        STORY(many_are_removed),
        STORY(a_bypassed_op_s_users_read_what_it_read),
        STORY(chains_are_bypassed_in_any_order),
        STORY(output_i_becomes_input_i),
        STORY(ops_that_cannot_be_bypassed),
        STORY(a_cycle_is_not_bypassed),
        STORY(outputs_are_bypassed_too),
        STORY(a_replacement_keeps_place_and_uses),
        STORY(or_drops_them),
        STORY(ends_are_replaced_by_ops_of_their_class),
        STORY(ops_that_cannot_replace),
        STORY(ops_move),
        STORY(erased_ops_say_so),
        STORY(sub_ops_leave_with_their_parent),
        STORY(a_reader_of_a_sub_op_keeps_its_parent),
        STORY(sub_ops_that_leave_an_attribute_are_erased),
        STORY(a_clone_has_sub_ops_of_its_own),
    };
    return RUN_GROUP(tests);
}
