/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Real attributes that a program sets: doubles in networks of versions before 3.30, rounded to float32 from 3.30 on
 * and in those without a version. */
#include "support/net.h"
#include "support/scratch.h"
#include <xir/serialize.h>

/* A network of that version with an ELU. */
static xir_network *elu_net(const char *version, double alpha) {
    xir_network *net = new_net();
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, xir_str_of(version)));
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("NHWC", 1, 4, 4, 2));
    xir_elu_attrs attrs = xir_elu_init();
    attrs.alpha = alpha;
    xir_output(at, XIR_VALUES(XIR_OP(at, elu, .input = x, .attrs = &attrs)));
    DOES(xir_network_status(net));
    return net;
}

static double alpha_of(const xir_network *net) { return xir_elu_of(xir_network_op_at(net, 1))->alpha; }

static bool alpha_is(const xir_network *net, double v) {
    return xir_op_attr_is(xir_network_op_at(net, 1), XIR_STR("alpha"), &(xir_attr){ XIR_KIND_REAL, .as.real = v });
}

static void older_networks_keep_doubles(void **state) {
    (void)state;
    xir_network *net = elu_net("3.29.9", 4.8);
    assert_true(alpha_of(net) == 4.8);
    assert_true(alpha_is(net, 4.8) && !alpha_is(net, (double)4.8f));
    xir_text_buffer text = { 0 };
    DOES(xir_op_attr_print(xir_network_op_at(net, 1), XIR_STR("alpha"), 0, &text));
    CHECK_STR(((xir_str){ text.data, text.size }), "4.8");
    xir_text_free(&text);
    DOES(xir_op_set_real(xir_network_op_at(net, 1), "alpha", 0.1));
    assert_true(alpha_of(net) == 0.1);
    xir_network_free(net);
}

/* A reader rounds what it finds in a file without a version, so what is set later is rounded as well. */
static void networks_without_a_version_round(void **state) {
    (void)state;
    static const char text[] = "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"icraft::xir::Softplus\","
                               "\"op_id\":1,\"beta\":0.1,\"inputs\":[],\"outputs\":[]}]}";
    xir_network *net = xir_network_read(ctx, text, sizeof text - 1, XIR_STR("json"),
                                        &XIR_INIT(xir_load_options, .format = "json", .no_params = true), why);
    assert_non_null(net);
    xir_op *op = xir_network_first(net);
    assert_true(xir_softplus_of(op)->beta == (double)0.1f);
    DOES(xir_op_set_real(op, "beta", 4.8));
    assert_true(xir_softplus_of(op)->beta == (double)4.8f);
    xir_network_free(net);
}

static void newer_networks_round(void **state) {
    (void)state;
    xir_network *net = elu_net("3.30", 4.8);
    assert_true(alpha_of(net) == (double)4.8f);
    assert_true(alpha_is(net, 4.8) && alpha_is(net, (double)4.8f));
    DOES(xir_op_set_real(xir_network_op_at(net, 1), "alpha", 0.1));
    assert_true(alpha_of(net) == (double)0.1f);
    xir_network_free(net);
}

/* Equal attributes are shared, but not with those of the version before. */
static void a_new_version_counts_at_once(void **state) {
    (void)state;
    xir_network *net = elu_net("3.6.2.82", 4.8);
    xir_elu_attrs attrs = xir_elu_init();
    attrs.alpha = 4.8;
    xir_value *x = xir_op_output(xir_network_input_op(net), 0);
    xir_at at = { .net = net, .before = xir_network_output_op(net) };
    const xir_value *same = XIR_OP(at, elu, .input = x, .attrs = &attrs);
    assert_true(xir_elu_of(xir_value_op(same))->alpha == 4.8);
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.33.1.0")));
    const xir_value *later = XIR_OP(at, elu, .input = x, .attrs = &attrs);
    assert_true(xir_elu_of(xir_value_op(later))->alpha == (double)4.8f);
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.6.2.82")));
    const xir_value *again = XIR_OP(at, elu, .input = x, .attrs = &attrs);
    assert_true(xir_elu_of(xir_value_op(again))->alpha == 4.8);
    xir_network_free(net);
}

/* The double that remains of an older version is not what a new op gets. */
static void attributes_that_remain_are_not_shared_with_new_ones(void **state) {
    (void)state;
    xir_network *net = elu_net("3.20", 4.8);
    xir_value *x = xir_op_output(xir_network_input_op(net), 0);
    xir_at at = { .net = net, .before = xir_network_output_op(net) };
    xir_softplus_attrs attrs = xir_softplus_init();
    attrs.beta = 0.1;
    xir_op *old = xir_value_op(XIR_OP(at, softplus, .input = x, .attrs = &attrs));
    DOES(xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.33")));
    DOES(xir_op_set_real(old, "threshold", 8));
    assert_true(xir_softplus_of(old)->beta == 0.1);
    attrs.threshold = 8;
    const xir_value *now = XIR_OP(at, softplus, .input = x, .attrs = &attrs);
    assert_true(xir_softplus_of(xir_value_op(now))->beta == (double)0.1f);
    xir_network_free(net);
}

static void files_of_every_format_keep_them(void **state) {
    (void)state;
    static const char *const suffixes[] = { "json", "imodel", "fb" };
    xir_network *net = elu_net("3.6.2.82", 4.8);
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char path[PATH_MAX + 32];
        snprintf(path, sizeof path, "%s/doubles.%s", scratch_folder, suffixes[i]);
        DOES(xir_network_save(net, path, NULL, why));
        xir_network *back = xir_network_load(ctx, path, NULL, why);
        assert_non_null(back);
        assert_true(alpha_of(back) == 4.8);
        xir_network_free(back);
    }
    xir_network_free(net);
}

static void a_copy_holds_reals_as_its_network_does(void **state) {
    (void)state;
    xir_network *old = elu_net("3.6.2.82", 4.8), *clone = xir_network_clone(old);
    assert_true(alpha_of(clone) == 4.8);
    xir_network *now = new_net();
    xir_value *x = xir_input(xir_at_end(now), "x", FP32("NHWC", 1, 4, 4, 2));
    xir_mapping *map = xir_mapping_new(old, now);
    DOES(xir_mapping_set(map, xir_op_output(xir_network_input_op(old), 0), x));
    assert_non_null(xir_mapping_clone(map, xir_network_op_at(old, 1), NULL));
    assert_true(alpha_of(now) == (double)4.8f);
    xir_mapping_free(map);
    xir_network_free(now);
    xir_network_free(clone);
    xir_network_free(old);
}

static int set_up(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_networks_keep_doubles),
        cmocka_unit_test(networks_without_a_version_round),
        cmocka_unit_test(newer_networks_round),
        cmocka_unit_test(a_new_version_counts_at_once),
        cmocka_unit_test(attributes_that_remain_are_not_shared_with_new_ones),
        cmocka_unit_test(files_of_every_format_keep_them),
        cmocka_unit_test(a_copy_holds_reals_as_its_network_does),
    };
    return cmocka_run_group_tests(tests, set_up, group_end);
}
