/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The example of traits in the original document (5.3, `op_trait`), through the public headers only. Its Region left
 * the original before 3.5 and is not a class here; its Flatten comes from a plug-in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <xir/xir.h>
#include <xir/icraft.h>
#include "support/program.h"

static xir_context *ctx;
static xir_diags   *why;

static const xir_type *fp32(void) { return xir_type_float(ctx, XIR_FLOAT_FP32); }

static void assert_type(const xir_op *op, int64_t output, const xir_type *expected) {
    assert_non_null(op);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(op, output)), expected));
}

typedef struct example { xir_network *net; xir_op *input, *reshape, *split, *relu, *prelu, *softmax; } example;

/* All types are inferred except those of the Input and the parameter. */
static example build(void) {
    example e = { .net = xir_network_new(ctx, "op_trait", XIR_FRAMEWORK_PYTORCH, "v1.9") };
    xir_at at = XIR_AT(e.net);
    e.input = xir_value_op(xir_input(at, NULL, XIR_TENSOR(ctx, fp32(), "NHWC", 1, 32, 32, 3)));

    xir_reshape_attrs flat = xir_reshape_init();
    flat.shape = (xir_i64s){ (const int64_t[]){ 1, 3072 }, 2 };
    flat.layout = xir_layout_parse(ctx, XIR_STR("NC"), why);
    e.reshape = xir_add_reshape(at, (xir_reshape_in){ .input = xir_op_output(e.input, 0) }, &flat);

    xir_split_attrs halves = xir_split_init();
    halves.sections = (xir_i64s){ (const int64_t[]){ 1536, 1536 }, 2 };
    e.split = xir_add_split(at, (xir_split_in){ .input = xir_op_output(e.reshape, 0) }, &halves);

    e.relu = xir_add_relu(at, (xir_relu_in){ .input = xir_op_output(e.split, 0) }, NULL);

    xir_prelu_attrs slope = xir_prelu_init();
    slope.alpha = xir_params_new(e.net, XIR_STR("slope"), XIR_TENSOR(ctx, fp32(), "C", 1536));
    e.prelu = xir_add_prelu(at, (xir_prelu_in){ .input = xir_op_output(e.split, 1) }, &slope);

    e.softmax = xir_add_softmax(at, (xir_softmax_in){ .input = xir_op_output(e.prelu, 0) }, NULL);
    assert_int_equal(xir_network_status(e.net), XIR_OK);
    return e;
}

static void types_follow_from_op_to_op(void **state) {
    (void)state;
    example e = build();
    const xir_type *half = XIR_TENSOR(ctx, fp32(), "NC", 1, 1536);
    assert_type(e.reshape, 0, XIR_TENSOR(ctx, fp32(), "NC", 1, 3072));
    assert_int_equal(xir_op_output_count(e.split), 2);
    assert_type(e.split, 0, half);
    assert_type(e.split, 1, half);
    assert_type(e.relu, 0, half);
    assert_type(e.prelu, 0, half);
    assert_type(e.softmax, 0, half);
    xir_network_free(e.net);
}

static void activations_say_so(void **state) {
    (void)state;
    example e = build();
    assert_true(xir_op_is_activation(e.relu));
    assert_true(xir_op_is_activation(e.prelu));
    assert_false(xir_op_is_activation(e.input));
    assert_false(xir_op_is_activation(e.reshape));
    assert_false(xir_op_is_activation(e.split));
    assert_false(xir_op_is_activation(e.softmax));
    assert_true(xir_class_traits(xir_op_class(e.prelu)) & XIR_TRAIT_ACTIVATION);
    assert_false(xir_class_traits(xir_op_class(e.softmax)) & XIR_TRAIT_ACTIVATION);
    xir_network_free(e.net);
}

/* The slope is a parameter of the network although it is not an op's input. */
static void the_slope_is_a_parameter(void **state) {
    (void)state;
    example e = build();
    xir_value *found[2];
    assert_int_equal(xir_op_params_attrs(e.prelu, found, 2), 1);
    assert_ptr_equal(found[0], xir_prelu_of(e.prelu)->alpha);
    assert_int_equal(xir_op_params_inputs(e.prelu, found, 2), 0);
    assert_int_equal(xir_network_params(e.net, found, 2), 1);
    assert_true(xir_value_id(found[0]) >= 0);
    assert_int_equal(xir_op_input_count(e.prelu), 1);
    xir_network_free(e.net);
}

static void the_network_is_valid_and_comes_back_from_json(void **state) {
    (void)state;
    example e = build();
    xir_output(XIR_AT(e.net), XIR_VALUES(xir_op_output(e.relu, 0), xir_op_output(e.softmax, 0)));
    assert_int_equal(xir_network_validate(e.net, why), XIR_OK);
    assert_int_equal(xir_network_infer(e.net, why), XIR_OK);

    xir_text_buffer text = { 0 };
    assert_int_equal(xir_json_print(e.net, 0, &text), XIR_OK);
    xir_network *back = xir_json_read(ctx, (xir_str){ text.data, text.size }, XIR_STR(""), why);
    assert_non_null(back);
    assert_true(xir_network_equal(e.net, back, true));
    const xir_op *prelu = xir_network_next_of_class(back, NULL, xir_prelu_class());
    assert_non_null(prelu);
    assert_true(xir_op_is_activation(prelu));
    xir_network_free(back);
    xir_text_free(&text);
    xir_network_free(e.net);
}

/* Errors are reported in the op's own words. */
static void halves_that_are_none_are_refused(void **state) {
    (void)state;
    example e = build();
    xir_split_attrs halves = xir_split_init();
    halves.sections = (xir_i64s){ (const int64_t[]){ 1536, 1535 }, 2 };
    assert_null(xir_add_split(XIR_AT(e.net), (xir_split_in){ .input = xir_op_output(e.reshape, 0) }, &halves));
    assert_int_equal(xir_network_status(e.net), XIR_E_INVALID);
    xir_network_clear_status(e.net);

    xir_reshape_attrs flat = xir_reshape_init();
    flat.shape = (xir_i64s){ (const int64_t[]){ 1, 3073 }, 2 };
    flat.layout = xir_layout_parse(ctx, XIR_STR("NC"), why);
    assert_null(xir_add_reshape(XIR_AT(e.net), (xir_reshape_in){ .input = xir_op_output(e.input, 0) }, &flat));
    assert_int_equal(xir_network_status(e.net), XIR_E_INVALID);
    xir_network_clear_status(e.net);

    assert_null(xir_add_prelu(XIR_AT(e.net), (xir_prelu_in){ .input = xir_op_output(e.split, 1) }, NULL));   // no slope
    assert_int_equal(xir_network_status(e.net), XIR_E_MISSING);
    xir_network_free(e.net);
}

static int begin(void **state) {
    (void)state;
    ctx = xir_context_new(NULL);
    why = xir_diags_new(ctx);
    return ctx && why ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    xir_diags_free(why);
    xir_context_free(ctx);
    return 0;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_follow_from_op_to_op),
        cmocka_unit_test(activations_say_so),
        cmocka_unit_test(the_slope_is_a_parameter),
        cmocka_unit_test(the_network_is_valid_and_comes_back_from_json),
        cmocka_unit_test(halves_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
