/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* identity: ops whose output equals their input are removed. identity.xir has the cases; this one is too long for a
 * text. */
#include "support/op_list.h"

static void a_chain_is_removed_as_a_whole(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *v = argument(net, "x", FP32("NHWC", 1, 4, 4, 2));
    for (int i = 0; i < 10000; i++) v = copy(net, v, "");
    results(net, XIR_VALUES(relu(net, v, "y")));
    assert_int_equal(PASS(net, "identity"), 10000);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "Output(y)");
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_chain_is_removed_as_a_whole) };
    return RUN_GROUP(tests);
}
