/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inferring a whole network again: the effect of an edit reaches the ops after it and no others. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"

enum { STEPS = 50 };

/* in -> (conv 1x1, relu) many times -> out, and next to it a relu of the input. Value i of the chain is the result
 * of step i. */
typedef struct chain {
    xir_network *net;
    xir_value   *input, *step[2 * STEPS], *aside;
} chain;

static chain make_chain(void) {
    chain c = { .net = new_net() };
    xir_at at = xir_at_end(c.net);
    xir_value *x = c.input = xir_input(at, "in", FP32("NHWC", 1, 8, 8, 4));
    c.aside = xir_build_relu(at, x, "aside");
    for (size_t i = 0; i < STEPS; i++) {
        xir_value *w = xir_params_new(c.net, XIR_STR("w"), FP32("HWIO", 1, 1, 4, 4));
        c.step[2 * i] = x = XIR_CONV2D(at, .input = x, .weights = w);
        c.step[2 * i + 1] = x = xir_build_relu(at, x, "relu");
    }
    xir_output(at, XIR_VALUES(x, c.aside));
    DOES(xir_network_status(c.net));
    return c;
}

typedef const xir_type *types[2 * STEPS];
static void types_of(const chain *c, types out) {
    for (size_t i = 0; i < 2 * STEPS; i++) out[i] = xir_value_type(c->step[i]);
}

static void nothing_changes_without_a_change(void **state) {
    (void)state;
    chain c = make_chain();
    types before, after;
    types_of(&c, before);
    char *was = picture(c.net);
    xir_view *view = xir_view_range(c.net, 0, 3);
    assert_non_null(view);
    DOES(xir_network_infer(c.net, why));
    types_of(&c, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(xir_view_op_count(view), 3);   /* not stale: nothing was edited */
    xir_view_free(view);
    char *is = picture(c.net);
    assert_string_equal(was, is);
    free(was);
    free(is);
    xir_network_free(c.net);
}

static void an_edit_changes_the_ops_after_it(void **state) {
    (void)state;
    chain c = make_chain();
    types before, after;
    types_of(&c, before);
    enum { AT = 20 };
    xir_value *wide = xir_params_new(c.net, XIR_STR("wide"), FP32("HWIO", 1, 1, 4, 6));
    xir_value *narrow = xir_params_new(c.net, XIR_STR("narrow"), FP32("HWIO", 1, 1, 6, 4));
    /* Six channels from one convolution, four again from the next: four values change, and no others. */
    DOES(xir_op_set_input(xir_value_op(c.step[2 * AT]), 1, wide));
    DOES(xir_op_set_input(xir_value_op(c.step[2 * AT + 2]), 1, narrow));
    DOES(xir_network_infer(c.net, why));
    types_of(&c, after);
    for (size_t i = 0; i < 2 * STEPS; i++) {
        bool between = i == 2 * AT || i == 2 * AT + 1;
        if (between) assert_true(xir_type_equal(after[i], FP32("NHWC", 1, 8, 8, 6)));
        else assert_ptr_equal(after[i], before[i]);
    }
    /* And back again. */
    DOES(xir_op_set_input(xir_value_op(c.step[2 * AT]), 1, xir_op_input(xir_value_op(c.step[0]), 1)));
    DOES(xir_op_set_input(xir_value_op(c.step[2 * AT + 2]), 1, xir_op_input(xir_value_op(c.step[0]), 1)));
    DOES(xir_network_infer(c.net, why));
    types_of(&c, after);
    assert_memory_equal(before, after, sizeof before);
    DOES(xir_network_validate(c.net, why));
    xir_network_free(c.net);
}

static void a_new_input_reaches_the_end(void **state) {
    (void)state;
    chain c = make_chain();
    DOES(xir_value_set_type(c.input, FP32("NHWC", 2, -1, 5, 4)));
    DOES(xir_network_infer(c.net, why));
    for (size_t i = 0; i < 2 * STEPS; i++) {
        assert_true(xir_type_equal(xir_value_type(c.step[i]), FP32("NHWC", 2, -1, 5, 4)));
        assert_ptr_equal(xir_value_type(c.step[i]), xir_value_type(c.input));
    }
    assert_ptr_equal(xir_value_type(c.aside), xir_value_type(c.input));
    xir_network_free(c.net);
}

/* Values that have users, names and ids keep them. */
static void values_keep_their_identity(void **state) {
    (void)state;
    chain c = make_chain();
    int64_t id = xir_value_id(c.step[7]);
    DOES(xir_value_set_name(c.step[7], XIR_STR("seven")));
    DOES(xir_value_set_type(c.input, FP32("NHWC", 1, 9, 9, 4)));
    DOES(xir_network_infer(c.net, why));
    assert_ptr_equal(xir_network_value_by_id(c.net, id), c.step[7]);
    CHECK_STR(xir_value_name(c.step[7]), "seven");
    assert_int_equal(xir_value_use_count(c.step[7]), 1);
    assert_int_equal(xir_type_dim(xir_value_type(c.step[7]), 1, false), 9);
    CHECK_SOUND(c.net);
    xir_network_free(c.net);
}

/* An op that cannot be inferred keeps its type and is reported with its place; inference continues after it. */
static void a_fault_has_a_place(void **state) {
    (void)state;
    chain c = make_chain();
    types before, after;
    types_of(&c, before);
    DOES(xir_op_set_input(xir_value_op(c.step[10]), 1, xir_params_new(c.net, XIR_STR(""), FP32("HWIO", 1, 1, 3, 4))));
    DOES(xir_value_set_type(c.step[30], FP32("NHWC", 1, 1, 1, 4)));   /* is detected and corrected */
    xir_diags_clear(why);
    assert_int_equal(xir_network_infer(c.net, why), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 1);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/12/inputs/1");
    check_finding(XIR_E_INVALID, "channels = I * groups");
    types_of(&c, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(xir_network_infer(c.net, NULL), XIR_E_INVALID);
    xir_network_free(c.net);
}

/* The result of a quantised convolution does not follow from its inputs: the quantiser has set it, and it is kept. */
static void types_that_do_not_follow_are_kept(void **state) {
    (void)state;
    chain c = make_chain();
    const xir_type *q8 = read_text("@sint(8)");
    xir_quantized_type body = xir_quantized_type_init();
    body.scale = read_text("@scales([axis=-1]4*0.5)");
    body.storage_dtype = q8;
    body.expressed_dtype = xir_type_float(ctx, XIR_FLOAT_FP32);
    const xir_type *element = (const xir_type *)xir_quantized_type_make(ctx, &body, why);
    assert_non_null(element);
    const xir_type *quantised = XIR_TENSOR(ctx, element, "NHWC", 1, 8, 8, 4);
    for (size_t i = 0; i < 2 * STEPS; i++) DOES(xir_value_set_type(c.step[i], quantised));
    DOES(xir_value_set_type(c.input, quantised));
    DOES(xir_network_infer(c.net, why));
    for (size_t i = 0; i < 2 * STEPS; i++) assert_true(xir_type_equal(xir_value_type(c.step[i]), quantised));
    DOES(xir_value_set_type(c.step[6], NULL));
    assert_int_equal(xir_network_infer(c.net, why), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_UNSUPPORTED);
    xir_diags_clear(why);
    xir_network_free(c.net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes_without_a_change),
        cmocka_unit_test(an_edit_changes_the_ops_after_it),
        cmocka_unit_test(a_new_input_reaches_the_end),
        cmocka_unit_test(values_keep_their_identity),
        cmocka_unit_test(a_fault_has_a_place),
        cmocka_unit_test(types_that_do_not_follow_are_kept),
    };
    return RUN_GROUP(tests);
}
