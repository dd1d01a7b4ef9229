/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes by name, for each kind of attribute: set, got, compared, printed; one at a time and several at once. */
#include "support/net.h"
#include "support/own.h"
#include <xir/serialize.h>
#include <xir/icraft.h>

static xir_network *net;
static xir_op      *all;   /* with a row of nearly every kind */

static int set_up(void **state) {
    (void)state;
    net = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("NHWC", 1, 4, 4, 2));
    all = xir_add_own_all(at, (xir_own_all_in){ .inputs = XIR_VALUES(x) }, NULL);
    return all ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    xir_network_free(net);
    return 0;
}

static void check_printed(const xir_op *op, const char *name, const char *expected) {
    xir_text_buffer text = { 0 };
    assert_int_equal(xir_op_attr_print(op, xir_str_of(name), 0, &text), XIR_OK);
    CHECK_STR(((xir_str){ text.data, text.size }), expected);
    xir_text_free(&text);
}

static void what_is_set_is_got(void **state) {
    (void)state;
    xir_value *table = xir_params_new(net, XIR_STR("t"), FP32("C", 2));
    const xir_object *scalar = (const xir_object *)xir_scalar_int(ctx, 7);
    xir_own_grain grain = xir_own_grain_init();
    const xir_object *thing = (const xir_object *)xir_own_grain_make(ctx, &grain, why);
    const xir_entry entry = { XIR_STR("a"), { .kind = XIR_ANY_INT, .as.integer = 5 } };
    DOES(xir_op_set_bool(all, "flag", true));
    DOES(xir_op_set_u64(all, "count", 3));
    DOES(xir_op_set_text(all, "label", "written"));
    DOES(xir_op_set_params(all, "table", table));
    DOES(xir_op_set_values(all, "tables", (xir_value *const[]){ table, table }, 2));
    DOES(xir_op_set_bools(all, "flags", (const bool[]){ true, false }, 2));
    DOES(xir_op_set_reals(all, "reals", (const double[]){ 0.5, 2 }, 2));
    DOES(xir_op_set_texts(all, "texts", (const xir_str[]){ XIR_STR("one"), XIR_STR("two") }, 2));
    DOES(xir_op_set_runs(all, "layers", &(const xir_run){ .end = 4, .value = 1 }, 1));
    DOES(xir_op_set_refs(all, "things", &thing, 1));
    DOES(xir_op_set_map(all, "notes", (xir_map){ &entry, 1 }));

    bool flag = false;
    uint64_t count = 0;
    xir_str label;
    xir_value *got_table = NULL;
    xir_values tables;
    xir_bools flags;
    xir_reals reals;
    xir_texts texts;
    xir_runs layers;
    xir_refs things;
    xir_map notes;
    DOES(xir_op_get_bool(all, "flag", &flag));
    DOES(xir_op_get_u64(all, "count", &count));
    DOES(xir_op_get_text(all, "label", &label));
    DOES(xir_op_get_params(all, "table", &got_table));
    DOES(xir_op_get_values(all, "tables", &tables));
    DOES(xir_op_get_bools(all, "flags", &flags));
    DOES(xir_op_get_reals(all, "reals", &reals));
    DOES(xir_op_get_texts(all, "texts", &texts));
    DOES(xir_op_get_runs(all, "layers", &layers));
    DOES(xir_op_get_refs(all, "things", &things));
    DOES(xir_op_get_map(all, "notes", &notes));
    assert_true(flag && count == 3 && got_table == table && tables.size == 2 && tables.data[1] == table);
    CHECK_STR(label, "written");
    assert_true(flags.size == 2 && flags.data[0] && !flags.data[1] && reals.size == 2 && reals.data[0] == 0.5);
    CHECK_STR(texts.data[1], "two");
    assert_true(layers.size == 1 && layers.data[0].end == 4 && things.size == 1 && notes.size == 1);
    assert_true(xir_object_equal(things.data[0], thing));
    check_printed(all, "flag", "true");
    check_printed(all, "count", "3");
    check_printed(all, "label", "\"written\"");
    check_printed(all, "reals", "[0.5,2.0]");
    check_printed(all, "notes", "{\"a\":5}");
    DOES(xir_op_set_params(all, "table", NULL));
    check_printed(all, "table", "null");
    assert_int_equal(xir_op_get_params(all, "table", &got_table), XIR_E_MISSING);
    assert_ptr_equal(got_table, table);   /* as it was */
    assert_int_equal(xir_op_set_refs(all, "things", &scalar, 1), XIR_E_TYPE);
}

static void integers_words_references_and_sub_ops(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_op *pad = xir_add_pad(at, (xir_pad_in){ .input = value_of(net, 0) },
                              XIR_ATTRS(pad, (padding, XIR_I64S(0, 0, 1, 1, 1, 1, 0, 0)),
                                        (value, xir_scalar_int(ctx, 0))));
    assert_non_null(pad);
    DOES(xir_op_set_text(pad, "mode", "REFLECTION"));
    xir_str mode;
    DOES(xir_op_get_text(pad, "mode", &mode));
    CHECK_STR(mode, "REFLECTION");
    check_printed(pad, "mode", "\"REFLECTION\"");
    xir_i64s padding;
    DOES(xir_op_get_i64s(pad, "padding", &padding));
    assert_true(padding.size == 8 && padding.data[2] == 1);
    DOES(xir_op_set_ref(pad, "value", (const xir_object *)xir_scalar_int(ctx, 3)));
    const xir_object *value = NULL;
    DOES(xir_op_get_ref(pad, "value", &value));
    assert_int_equal(((const xir_int_imm *)value)->value, 3);

    xir_op *pool = xir_add_max_pool2d(at, (xir_max_pool2d_in){ .input = value_of(net, 0) },
                                      XIR_ATTRS(max_pool2d, (pool_width, 2), (pool_height, 2)));
    int64_t width = 0;
    double real = 0;
    DOES(xir_op_get_i64(pool, "pool_width", &width));
    DOES(xir_op_get_real(pool, "pool_width", &real));   /* an integer is given as a real */
    assert_true(width == 2 && real == 2);
    bool flag = true;
    assert_int_equal(xir_op_get_bool(pool, "pool_width", &flag), XIR_E_TYPE);
    assert_int_equal(xir_op_get_bool(pool, "nothing", &flag), XIR_E_UNKNOWN);
    assert_true(flag);

    const xir_op_desc desc = DESC(own_all, INPUTS(value_of(net, 0)));
    xir_op *part = xir_op_new(net, &desc);
    DOES(xir_op_set_ops(all, "parts", &part, 1));
    xir_ops parts;
    DOES(xir_op_get_ops(all, "parts", &parts));
    assert_true(parts.size == 1 && parts.data[0] == part);
}

static void a_value_is_asked_for(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_op *relu = xir_add_relu(at, (xir_relu_in){ .input = value_of(net, 0) }, XIR_ATTRS(relu, (max_value, 0.1)));
#define REAL_OF(x) (&(xir_attr){ .kind = XIR_KIND_REAL, .as.real = (x) })
    assert_true(xir_op_attr_is(relu, XIR_STR("max_value"), REAL_OF(0.1)));   /* which the op holds as a float32 */
    assert_false(xir_op_attr_is(relu, XIR_STR("max_value"), REAL_OF(0.2)));
    const xir_attr none = { .kind = XIR_KIND_I64, .as.i64 = 0 };
    const xir_attr word = { .kind = XIR_KIND_TEXT, .as.text = XIR_STR("none") };
    assert_true(xir_op_attr_is(relu, XIR_STR("alpha"), &none));
    assert_false(xir_op_attr_is(relu, XIR_STR("alpha"), &word));
    assert_false(xir_op_attr_is(relu, XIR_STR("other"), REAL_OF(0)));
    assert_true(xir_op_attr_is(all, XIR_STR("label"), &word));
    const xir_attr empty = { .kind = XIR_KIND_REALS, .as.reals = { NULL, 0 } };
    assert_true(xir_op_attr_is(all, XIR_STR("reals"), &empty));
    DOES(xir_op_set_extra(relu, XIR_STR("mine"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 4 }));
    check_printed(relu, "mine", "4");
    xir_text_buffer text = { 0 };
    assert_int_equal(xir_op_attr_print(relu, XIR_STR("nobody's"), 0, &text), XIR_E_UNKNOWN);
    assert_int_equal(xir_network_status(net), XIR_OK);   /* questions leave no finding */
}

/* All of them, or none. */
static void several_are_set_at_once(void **state) {
    (void)state;
    xir_op *tanh = xir_add_hardtanh(XIR_AT(net), (xir_hardtanh_in){ .input = value_of(net, 0) }, NULL);
    const xir_named_attr both[] = { { XIR_STR("min_val"), { .kind = XIR_KIND_REAL, .as.real = 4 } },
                                    { XIR_STR("max_val"), { .kind = XIR_KIND_REAL, .as.real = 6 } } };
    DOES(xir_op_set_named(tanh, both, 2));
    double low = 0, high = 0;
    DOES(xir_op_get_real(tanh, "min_val", &low));
    DOES(xir_op_get_real(tanh, "max_val", &high));
    assert_true(low == 4 && high == 6);
    const xir_named_attr bad[] = { { XIR_STR("min_val"), { .kind = XIR_KIND_REAL, .as.real = 1 } },
                                   { XIR_STR("max_vall"), { .kind = XIR_KIND_REAL, .as.real = 2 } } };
    assert_int_equal(xir_op_set_named(tanh, bad, 2), XIR_E_UNKNOWN);
    assert_non_null(strstr(xir_diags_at(xir_network_diags(net), 0)->message.data, "did you mean 'max_val'?"));
    DOES(xir_op_get_real(tanh, "min_val", &low));
    assert_true(low == 4);
}

static int group_up(void **state) {
    int failed = group_begin(state);
    const xir_class_decl *decls[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                      xir_own_all_class() };
    for (size_t i = 0; !failed && i < sizeof decls / sizeof *decls; i++) {
        failed = xir_class_register(ctx, decls[i], why) != XIR_OK;
    }
    return failed;
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(what_is_set_is_got),
        STORY(integers_words_references_and_sub_ops),
        STORY(a_value_is_asked_for),
        STORY(several_are_set_at_once),
    };
    return cmocka_run_group_tests(tests, group_up, group_end);
}
