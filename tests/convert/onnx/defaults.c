/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs with a default: Params that an ONNX file declares as an input, too. They stay inputs through conversions, no
 * pass computes with their bytes, and a value of its own can take the place of one. */
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/kept.h"
#include "support/story.h"

static void make_default(xir_network *net, const char *name, int64_t place) {
    const xir_any input = xir_any_int(place);
    xir_value *v = story_value(net, name);
    assert_non_null(v);
    DOES(xir_value_set_tag(v, XIR_STR("onnx.input"), &input));
    assert_true(xir_params_is_default(v));
}

static void run_pass(xir_network *net, const char *pass, const char *options) {
    xir_diags_clear(why);
    DOES(xir_pass_run(net, pass, options, NULL, why));
}

static xir_network *through_file(xir_network *net) {
    buffer file;
    buffer_init(&file, &memory_default);
    DOES(xir_network_write(net, keep, &file, &XIR_INIT(xir_save_options, .format = "onnx"), why));
    xir_network *again = xir_network_read(ctx, file.data, file.size, XIR_STR("x.onnx"), NULL, why);
    assert_non_null(again);
    buffer_free(&file);
    return again;
}

static void files_say_which_inputs_have_a_default(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 2; b: params 1 2 = 3 4; y = Add x b; out y");
    make_default(net, "b", 1);
    run_pass(net, "xir-to-onnx", NULL);
    assert_int_equal(xir_diags_count(why), 0);
    xir_network *read = through_file(net);
    assert_int_equal(xir_network_inputs(read, NULL, 0), 1);
    assert_true(xir_params_is_default(story_value(read, "b")));
    run_pass(read, "to-xir", NULL);
    assert_int_equal(xir_diags_count(why), 0);
    assert_true(xir_params_is_default(story_value(read, "b")));
    run_pass(read, "xir-to-pnnx", NULL);   /* which has no such inputs */
    assert_int_equal(xir_diags_count(why), 1);
    xir_network_free(read);
    xir_network_free(net);
}

/* Until version 3 of the format all weights were declared as inputs. */
static void older_files_have_constants(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 2; b: params 1 2 = 3 4; y = Add x b; out y");
    const xir_any version = xir_any_int(3), place = xir_any_int(1);
    make_default(net, "b", 1);
    run_pass(net, "xir-to-onnx", NULL);
    DOES(xir_network_set_tag(net, XIR_STR("onnx.ir_version"), &version));
    xir_network *read = through_file(net), *again = through_file(read);
    for (int i = 0; i < 2; i++) {
        xir_value *b = story_value(i ? again : read, "b");
        assert_false(xir_params_is_default(b));
        assert_true(xir_any_equal(xir_map_find(xir_value_tags(b), XIR_STR("onnx.listed_input")), &place));
    }
    xir_network_free(again);
    xir_network_free(read);
    xir_network_free(net);
}

static void passes_do_not_compute_with_defaults(void **state) {
    (void)state;
    static const char *const passes[] = { "fold", "identity", "fuse", "fold-batchnorm", "cse" };
    static const char story[] = "x: 1 2; b: params 1 2 = 0 0; k: params 1 2 = 0 0; c = Neg b; s = Add x b; t = Add s k; "
                                "u = Add t c; out u";
    for (size_t i = 0; i < COUNT(passes); i++) {
        xir_network *net = story_net(story);
        make_default(net, "b", 1);
        run_pass(net, passes[i], NULL);
        CHECK_STORY(net, "c = Neg b; s = Add x b; t = Add s k; u = Add t c; out u");
        xir_network_free(net);
    }
    xir_network *net = story_net(story);
    make_default(net, "b", 1);
    DOES(xir_params_fix_default(story_value(net, "b")));
    DOES(xir_params_fix_default(story_value(net, "b")));
    run_pass(net, "fold", NULL);
    CHECK_STORY(net, "s = Add x b; t = Add s k; u = Add t c; out u");
    xir_network_free(net);
}

static void another_value_takes_the_place_of_a_default(void **state) {
    (void)state;
    static const float x[] = { 1, 2 }, b[] = { 10, 20 };
    xir_network *net = story_net("x: 1 2; b: params 1 2 = 3 4; y = Add x b; z = Multiply y b; out z");
    xir_value *no = story_value(net, "b"), *yes;
    assert_null(xir_params_make_input(no));
    xir_network_clear_status(net);
    make_default(net, "b", 1);
    yes = xir_params_make_input(story_value(net, "b"));
    assert_non_null(yes);
    assert_int_equal(xir_network_inputs(net, NULL, 0), 2);
    assert_true(xir_str_equal(xir_value_name(yes), XIR_STR("b")));
    assert_true(!xir_value_tags(yes) || !xir_map_find(xir_value_tags(yes), XIR_STR("onnx.input")));
    DOES(xir_network_validate(net, why));
    xir_array *in[2], *out = NULL;
    in[0] = xir_array_copy(ctx, FP32("**", 1, 2), x, sizeof x, why);
    in[1] = xir_array_copy(ctx, FP32("**", 1, 2), b, sizeof b, why);
    DOES(xir_network_run(net, (const xir_array *const *)in, 2, &out, 1, NULL, why));
    assert_true(xir_array_real(out, 0) == 110 && xir_array_real(out, 1) == 440);
    xir_array_free(in[0]);
    xir_array_free(in[1]);
    xir_array_free(out);
    xir_network_free(net);
}

/* A conversion takes numbers that it needs from the default, with a note; with an option it takes all, without a
 * note. */
static void a_default_that_is_computed_with_becomes_a_constant(void **state) {
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        xir_network *net = story_net("x: 2 3; y = Reshape x [shape=3,2 layout=@layout(**)]; out y");
        run_pass(net, "xir-to-onnx", NULL);
        xir_value *params[2];
        assert_int_equal(xir_network_params(net, params, 2), 1);
        DOES(xir_value_set_name(params[0], XIR_STR("shape")));
        make_default(net, "shape", 1);
        run_pass(net, "to-xir", fixed ? "fix-defaults" : NULL);
        assert_int_equal(xir_diags_count(why), !fixed);
        if (!fixed) assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "the input 'shape' becomes a constant"));
        CHECK_STORY(net, "y = Reshape x [shape=3,2 layout=@layout(**)]; out y");
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_say_which_inputs_have_a_default),
        cmocka_unit_test(older_files_have_constants),
        cmocka_unit_test(passes_do_not_compute_with_defaults),
        cmocka_unit_test(another_value_takes_the_place_of_a_default),
        cmocka_unit_test(a_default_that_is_computed_with_becomes_a_constant),
    };
    return RUN_GROUP(tests);
}
