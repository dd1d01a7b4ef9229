/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass of docs/writing-a-pass.md, in a program and in a plug-in. */
#include "../../plugins/custompass/inverse.c"
#include "support/net.h"
#include "support/skips.h"

static int begin(void **state) {
    int result = group_begin(state);
    return xir_pass_register(ctx, &inverse_pass, why) == XIR_OK ? result : -1;
}

/* x[1,2] / d -> y */
static xir_network *quotient(xir_context *with, float a, float b) {
    const float numbers[] = { a, b };
    const xir_type *type = XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NC", 1, 2);
    xir_network *net = xir_network_new(with, "quotient", XIR_FRAMEWORK_PYTORCH, "v2.0");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", type);
    xir_value *d = xir_params_copy(net, XIR_STR("d"), type, numbers, sizeof numbers);
    at.name = XIR_STR("y");
    xir_value *y = XIR_OP(at, div, .lhs = x, .rhs = d);
    DOES(xir_value_set_name(y, XIR_STR("y")));
    at.name = XIR_STR("");
    assert_non_null(xir_output(at, XIR_VALUES(y)));
    return net;
}

/* The code of a program that runs the pass. */
static xir_status optimise(xir_network *net, const char *passes, xir_diags *found) {
    xir_context *with = xir_network_context(net);
    xir_pipeline *pipeline = xir_pipeline_parse(with, xir_str_of(passes), found);
    xir_proof *proof = xir_proof_new(with, NULL, found);
    if (!pipeline || !proof) return XIR_E_INVALID;
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    xir_proof_watch(proof, &watch, why);
    xir_pass_settings settings = XIR_INIT(xir_pass_settings, .verify = true, .watches = &watch, .n_watches = 1);
    xir_status status = xir_pipeline_run(pipeline, net, &settings, NULL, found);
    xir_proof_free(proof);
    xir_pipeline_free(pipeline);
    return status;
}

static void must_optimise(xir_network *net, const char *passes) {
    xir_status status = optimise(net, passes, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
}

static void check_product(const xir_network *net, float a, float b) {
    const xir_op *op = xir_network_op_at(net, 1);
    assert_true(xir_op_is(op, xir_multiply_class()));
    CHECK_STR(xir_op_name(op), "y");
    CHECK_STR(xir_value_name(xir_op_output(op, 0)), "y");
    CHECK_STR(xir_value_name(xir_op_input(op, 1)), "d");
    float numbers[2];
    DOES(xir_params_read(xir_op_input(op, 1), 0, numbers, sizeof numbers));
    assert_true(numbers[0] == a && numbers[1] == b);
    assert_int_equal(xir_network_op_count(net), 3);
}

static void quotients_become_products(void **state) {
    (void)state;
    xir_network *net = quotient(ctx, 3, -8);
    must_optimise(net, "inverse");
    check_product(net, 1.0f / 3, -0.125f);
    xir_network_free(net);
}

static void only_exact_inverses_on_request(void **state) {
    (void)state;
    xir_network *net = quotient(ctx, 3, -8);
    must_optimise(net, "inverse{exact}");
    assert_true(xir_op_is(xir_network_op_at(net, 1), xir_div_class()));
    xir_network_free(net);
    net = quotient(ctx, 0.25f, -8);
    must_optimise(net, "fix(inverse{exact})");
    check_product(net, 4, -0.125f);
    xir_network_free(net);
}

static void numbers_without_an_inverse_stay(void **state) {
    (void)state;
    const float bad[] = { 0, -0.0f, INFINITY, NAN, 1e-40f, 3e38f };
    for (size_t i = 0; i < COUNT(bad); i++) {
        xir_network *net = quotient(ctx, 2, bad[i]);
        assert_int_equal(xir_pass_run(net, "inverse", NULL, NULL, why), XIR_OK);
        assert_true(xir_op_is(xir_network_op_at(net, 1), xir_div_class()));
        xir_network_free(net);
    }
}

static void a_plug_in_registers_it(void **state) {
    (void)state;
#ifndef XIR_PLUGINS
    SKIP("built without plug-ins");
#else
    xir_context *with = xir_context_new(NULL);
    assert_null(xir_pass_find(with, XIR_STR("inverse")));
    assert_int_equal(xir_plugin_load(with, XIR_PLUGINS "/custompass.so", why), XIR_OK);
    assert_non_null(xir_pass_find(with, XIR_STR("inverse")));
    xir_network *net = quotient(with, 4, 0.5f);
    assert_null(strstr(xir_default_pipeline(), "inverse"));
    must_optimise(net, "inverse");
    check_product(net, 0.25f, 2);
    xir_network_free(net);
    xir_context_free(with);
#endif
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_become_products),
        cmocka_unit_test(only_exact_inverses_on_request),
        cmocka_unit_test(numbers_without_an_inverse_stay),
        cmocka_unit_test(a_plug_in_registers_it),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
