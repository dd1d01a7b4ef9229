/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* layout: ops of a plug-in between two convolutions. A class with a LAYOUT row joins the region; any other class splits
 * it. */
#include "support/nchw.h"

typedef struct story {
    const char *key;
    size_t      transposes;   /* what remains: 2 at input and result, 2 around an op with an order of its own */
} story;

static const story stories[] = {
    { "axes::Halve",   2 },
    { "axes::Mirror",  2 },
    { "axes::Silent",  4 },
    { "axes::Untyped", 4 },   /* the letters of its output in another order are unknown */
};

static xir_value *made_by(xir_value *x, const xir_class *cls) {
    xir_network *net = xir_value_network(x);
    const xir_type *type = xir_value_type(x);
    xir_op *op = xir_network_add(net, &(xir_op_desc){ .size = sizeof(xir_op_desc), .cls = cls, .inputs = &x,
                                                      .n_inputs = 1, .types = &type, .n_types = 1, .id = XIR_NO_ID });
    assert_non_null(op);
    return named(xir_op_output(op, 0), "made");
}

static void a_row_makes_an_op_part_of_the_region(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        const story *s = &stories[i];
        const xir_class *cls = xir_class_find(ctx, xir_str_of(s->key));
        xir_network *net;
        assert_non_null(cls);
        xir_value *x = made_by(nchw_conv(NCHW_BEGIN(&net, 1, 3, 4, 5), 4, 3, "a"), cls);
        xir_op *op = xir_value_op(x);
        bool axis = xir_class_field(cls, XIR_STR("axis"));
        if (axis) DOES(xir_op_set_i64(op, "axis", 1));
        NCHW_END(nchw_conv(x, 2, 1, "z"));
        PROVE(net, NULL);
        if (TRANSPOSES(net) != s->transposes)
            fail_msg("%s: %zu transposes are left\n%s", s->key, TRANSPOSES(net), op_list_typed(net));
        xir_attr now;
        if (axis) DOES(xir_op_get(op, XIR_STR("axis"), &now));
        if (axis) assert_int_equal(now.as.i64, 3);
        xir_network_free(net);
    }
}

static void a_class_shows_its_row(void **state) {
    (void)state;
    CHECK_STR(xir_class_note(xir_class_find(ctx, XIR_STR("axes::Mirror")), XIR_DECL_LAYOUT, 0), "SAME, AXIS, axis");
    CHECK_STR(xir_class_note(xir_class_find(ctx, XIR_STR("axes::Silent")), XIR_DECL_LAYOUT, 0), "");
}

static int begin(void **state) {
    return group_begin(state) || xir_plugin_load(ctx, XIR_TEST_PLUGINS "/axes.so", why) != XIR_OK;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_makes_an_op_part_of_the_region),
        cmocka_unit_test(a_class_shows_its_row),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
