/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Regions when memory runs out: what fails changes nothing, and succeeds when it is repeated. */
#include <stdlib.h>
#include <xir/exec.h>
#include "support/region_net.h"
#include "support/scarce.h"

/* x -> a -> u -> b -> out, with f between that does not depend on a; Params, names that repeat, ids out of order. */
static void make(want *w, xir_op **ops) {
    xir_network *net = xir_network_new(w->ctx, "scarce", XIR_FRAMEWORK_PYTORCH, "1");
    xir_at at = xir_at_end(net);
    const xir_type *type = XIR_TENSOR(w->ctx, xir_type_float(w->ctx, XIR_FLOAT_FP32), "*", 4);
    xir_value *x = xir_input(at, "x", type), *p = xir_params_copy(net, XIR_STR("p"), type, "0123456789abcde", 16);
    xir_value *a = xir_build_add(at, x, p, 1, 1, "a"), *u = xir_build_relu(at, a, "x");
    xir_value *f = xir_build_relu(at, x, "x"), *b = xir_build_add(at, a, f, 1, 1, "a");
    assert_non_null(xir_output(at, XIR_VALUES(u, b)));
    DOES(xir_op_set_id(xir_value_op(a), 90));
    ops[0] = xir_value_op(a);
    ops[1] = xir_value_op(b);
    w->net = net;
}

static void outlining(want *w) {
    xir_op *ops[2], *call, *outer;
    IN_PLENTY(w, make(w, ops));
    TRY_MAKE(w, call, xir_outline(w->net, ops, 2, &XIR_INIT(xir_outline_options, .name = XIR_STR("part"))));
    TRY_MAKE(w, outer, xir_outline(w->net, &call, 1, NULL));
    TRY(w, xir_network_validate(w->net, w->why));
    TRY(w, xir_op_inline(outer));
    TRY(w, xir_op_inline(call));
    IN_PLENTY(w, w->result = picture(w->net));
}

/* With tables of ids and names, which must keep what they have. */
static void outlining_with_tables(want *w) {
    xir_op *ops[2], *call;
    IN_PLENTY(w, make(w, ops));
    IN_PLENTY(w, (void)xir_network_op_by_id(w->net, 90));
    IN_PLENTY(w, (void)xir_network_value_by_name(w->net, XIR_STR("a")));
    TRY_MAKE(w, call, xir_outline(w->net, ops, 2, NULL));
    IN_PLENTY(w, CHECK_SOUND(w->net));
    TRY(w, xir_op_inline(call));
    IN_PLENTY(w, CHECK_SOUND(w->net));
    IN_PLENTY(w, w->result = picture(w->net));
}

static int every_relu(const xir_op *op, void *user) {
    (void)user;
    return xir_op_is(op, xir_relu_class()) ? 0 : -1;
}

static void asking(want *w) {
    xir_op *ops[2], *path[4];
    xir_groups *groups;
    IN_PLENTY(w, make(w, ops));
    TRY(w, xir_region_check(w->net, ops, 2, w->why));
    TRY_MAKE(w, groups, xir_groups_new(w->net, every_relu, NULL, w->why));
    assert_int_equal(xir_groups_count(groups), 2);
    xir_groups_free(groups);
    assert_int_equal(xir_region_path(w->net, ops, 2, path, 4), 0);
    xir_network *part;
    xir_value *end = xir_op_output(ops[1], 0), *begin = xir_op_output(ops[0], 0);
    TRY_MAKE(w, part, xir_extract(w->net, &begin, 1, &end, 1, w->why));
    IN_PLENTY(w, w->result = picture(part));
    xir_network_free(part);
}

static void running(want *w) {
    xir_op *ops[2];
    xir_array *in, *out[2];
    IN_PLENTY(w, make(w, ops));
    IN_PLENTY(w, assert_non_null(xir_outline(w->net, ops, 2, NULL)));
    IN_PLENTY(w, in = xir_array_random(w->ctx, xir_value_type(xir_op_output(xir_network_first(w->net), 0)), 1, NULL));
    TRY(w, xir_network_run(w->net, (const xir_array *const *)&in, 1, out, 2, NULL, w->why));
    for (int i = 0; i < 2; i++) xir_array_free(out[i]);
    xir_array_free(in);
    IN_PLENTY(w, w->result = picture(w->net));
}

SCARCE_TEST(outlining)
SCARCE_TEST(outlining_with_tables)
SCARCE_TEST(asking)
SCARCE_TEST(running)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlining), cmocka_unit_test(test_outlining_with_tables), cmocka_unit_test(test_asking),
        cmocka_unit_test(test_running),
    };
    return RUN_GROUP(tests);
}
