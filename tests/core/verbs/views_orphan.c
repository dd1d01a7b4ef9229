/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Views of networks with what only files have: values that no op makes, which are inputs, and undeclared keys. */
#include "support/net.h"
#include <xir/icraft.h>
#include "graph.h"

static void values_without_a_producer_are_inputs(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "in", FP32("*", 4)), *y = xir_build_relu(at, x, "left");
    xir_value *sum = xir_build_add(at, y, y, 1, 1, "sum");
    assert_non_null(xir_output(at, XIR_VALUES(xir_build_relu(at, sum, "last"))));
    xir_value *orphan = value_make_orphan(net, xir_value_type(y));
    assert_true(value_set_id(orphan, 90));
    DOES(xir_op_set_input(op_of(net, 2), 1, orphan));
    xir_view *view = xir_view_id_range(net, 2, 3);
    xir_value *values[4];
    assert_int_equal(xir_view_inputs(view, values, COUNT(values)), 2);
    assert_ptr_equal(values[0], y);
    assert_ptr_equal(values[1], orphan);
    assert_int_equal(xir_view_outputs(view, values, COUNT(values)), 1);
    assert_int_equal(xir_view_params(view, values, COUNT(values)), 0);
    xir_network *part = xir_view_to_network(view);
    assert_int_equal(xir_value_id(xir_op_output(xir_network_first(part), 1)), 90);
    assert_int_equal(xir_network_validate(part, why), XIR_OK);
    xir_network_free(part);
    xir_view_free(view);
    xir_network_free(net);
}

static void an_input_keeps_the_undeclared_keys_of_its_value(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_entry entry = { XIR_STR("k"), xir_any_int(7) };
    const xir_map extra = { &entry, 1 };
    value_more *more = value_need_more(value_of(net, 2));   /* files give a value such keys */
    assert_non_null(more);
    more->extra = &extra;
    xir_view *view = xir_view_id_range(net, 2, 4);
    xir_network *part = xir_view_to_network(view);
    const xir_map *kept = xir_value_extra(xir_op_output(xir_network_first(part), 0));
    assert_true(xir_map_equal(kept, &extra));
    xir_network_free(part);
    xir_view_free(view);
    more->extra = NULL;
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_without_a_producer_are_inputs),
        cmocka_unit_test(an_input_keeps_the_undeclared_keys_of_its_value),
    };
    return RUN_GROUP(tests);
}
