/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Proof by example: what is compared, when, and the findings for a difference. */
#include <math.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/passes.h"
#include "support/proof.h"
#include "support/scarce.h"
#include "support/story.h"

/* x [1,4] -> Multiply(x, w) 'p' -> ReLU 'r' -> Add(r, b) 'y' */
static xir_network *line(xir_context *with, const float w[4], const float b[4]) {
    const xir_type *type = XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NC", 1, 4);
    xir_network *net = xir_network_new(with, "line", XIR_FRAMEWORK_PYTORCH, "v2.0");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", type);
    xir_value *wp = xir_params_copy(net, XIR_STR("w"), type, w, 16),
               *bp = xir_params_copy(net, XIR_STR("b"), type, b, 16);
    xir_value *p = XIR_OP(at, multiply, .lhs = x, .rhs = wp);
    xir_value *r = XIR_RELU(at, p);
    xir_value *y = XIR_OP(at, add, .lhs = r, .rhs = bp);
    if (!xir_output(at, XIR_VALUES(y))) return net;
    (void)xir_value_set_name(x, XIR_STR("x"));
    (void)xir_value_set_name(p, XIR_STR("p"));
    (void)xir_value_set_name(r, XIR_STR("r"));
    (void)xir_value_set_name(y, XIR_STR("y"));
    return net;
}

static const float ones[] = { 1, 1, 1, 1 }, twos[] = { 2, 2, 2, 2 }, nearly[] = { 1.000001f, 1, 1, 1 },
                   third[] = { 1, 1, -3, 1 };

static xir_array *array_of(const float v[4]) {
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NC", 1, 4);
    xir_array *a = xir_array_copy(ctx, type, v, 16, why);
    assert_non_null(a);
    return a;
}

/* A proof with the input 1 2 3 4. */
static xir_proof *proof_on(const char *name, double absolute, double relative) {
    const float v[] = { 1, 2, 3, 4 };
    xir_array *x = array_of(v);
    const xir_proof_input input = XIR_INIT(xir_proof_input, .name = name, .array = x);
    xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .inputs = &input, .n_inputs = 1,
                                                .absolute = absolute, .relative = relative), why);
    assert_non_null(p);
    xir_array_free(x);
    return p;
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static void networks_that_compute_the_same(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *a = line(ctx, ones, twos), *b = line(ctx, nearly, twos);
    assert_int_equal(state_of(p).networks, 0);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 1);
    assert_int_equal(xir_proof_check(p, b, why), XIR_OK);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    xir_proof_state s = state_of(p);
    assert_true(s.networks == 3 && s.outputs == 2 && s.largest < 1e-5);
    assert_int_equal(xir_diags_count(why), 0);
    assert_null(xir_proof_obstacle(p));
    xir_network_free(a);
    xir_network_free(b);
    xir_proof_free(p);
    xir_proof_free(NULL);
}

static void a_finding_names_the_first_value_that_differs(void **state) {
    (void)state;
    xir_proof *p = proof_on("x", 0, 0);
    xir_network *a = line(ctx, ones, twos), *b = line(ctx, third, twos);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(p, b, why), XIR_E_INVALID);
    assert_string_equal(findings(),
                        "the network computes something else: output 'y': 1 of 4 elements differs, the first is number 2: it was 5 and is 2 now; "
                        "the largest difference is 3\n"
                        "the first value that differs is 'p': 1 of 4 elements differs, the first is number 2: it was 3 and is -9 now; the largest "
                        "difference is 12");
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);  /* still compared with the first network */
    xir_network_free(a);
    xir_network_free(b);
    xir_proof_free(p);
}

static void the_tolerance_is_the_caller_s(void **state) {
    (void)state;
    const float more[] = { 1.5f, 1, 1, 1 };
    xir_network *a = line(ctx, ones, twos), *b = line(ctx, more, twos);
    xir_proof *loose = proof_on("x", 0.6, 0), *relative = proof_on("x", 0, 0.2), *tight = proof_on("x", 0.4, 0);
    assert_int_equal(xir_proof_check(loose, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(loose, b, why), XIR_OK);
    assert_true(state_of(loose).largest == 0.5);
    assert_int_equal(xir_proof_check(relative, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(relative, b, why), XIR_OK);
    assert_int_equal(xir_proof_check(tight, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(tight, b, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_proof_free(loose);
    xir_proof_free(relative);
    xir_proof_free(tight);
    xir_network_free(a);
    xir_network_free(b);
}

static void another_number_of_outputs_is_a_difference(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *a = line(ctx, ones, twos), *b = line(ctx, ones, twos);
    DOES(xir_op_add_input(xir_network_output_op(b), xir_op_output(xir_network_op_at(b, 2), 0)));
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(p, b, why), XIR_E_INVALID);
    assert_string_equal(findings(), "expected 1 outputs, as before, found 2");
    xir_network_free(a);
    xir_network_free(b);
    xir_proof_free(p);
}

static void unknown_names_of_inputs_are_errors(void **state) {
    (void)state;
    xir_proof *p = proof_on("z", 0, 0);
    xir_network *a = line(ctx, ones, twos);
    assert_int_equal(xir_proof_check(p, a, why), XIR_E_UNKNOWN);
    assert_string_equal(findings(), "an array was given for the input 'z', but the network has no such input");
    xir_proof_free(p);
    p = proof_on("0", 0, 0);   /* a number is a position */
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 1);
    xir_proof_free(p);
    xir_network_free(a);
}

/* Three inputs in one array; only for the second one the networks differ. */
static void each_sample_is_run_on_its_own(void **state) {
    (void)state;
    const float v[3][4] = { { -1, -1, -1, -1 }, { -1, 5, -1, -1 }, { -1, -1, -1, -1 } }, spoiled[] = { 1, 2, 1, 1 };
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NC", 3, 4);
    xir_array *x = xir_array_copy(ctx, type, v, sizeof v, why), *fewer =
        xir_array_copy(ctx, XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NC", 2, 2), v, 16, why);
    const xir_proof_input input = XIR_INIT(xir_proof_input, .name = "x", .array = x);
    xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .inputs = &input, .n_inputs = 1, .each = true), why);
    xir_network *a = line(ctx, ones, twos), *b = line(ctx, spoiled, twos);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    xir_proof_state s = state_of(p);
    assert_true(s.networks == 2 && s.outputs == 3);
    assert_int_equal(xir_proof_check(p, b, why), XIR_E_INVALID);
    assert_string_equal(findings(),
                        "the network computes something else: output 'y': 1 of 4 elements differs, the first is number 1: it was 7 and is 12 now; "
                        "the largest difference is 5\n"
                        "the first value that differs is 'p': 1 of 4 elements differs, the first is number 1: it was 5 and is 10 now; the largest "
                        "difference is 5");
    xir_proof_free(p);
    const xir_proof_input two[] = {
        XIR_INIT(xir_proof_input, .name = "x", .array = x),
        XIR_INIT(xir_proof_input, .name = "z", .array = fewer),
    };
    p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .inputs = two, .n_inputs = 2, .each = true), why);
    assert_int_equal(xir_proof_check(p, a, why), XIR_E_BOUNDS);
    assert_string_equal(findings(),
                        "the array for the input 'z': expected as many samples as in the others, found 2");
    xir_proof_free(p);
    xir_array_free(x);
    xir_array_free(fewer);
    xir_network_free(a);
    xir_network_free(b);
}

/* A network that can't be run does not count as the first one. */
static void a_proof_begins_with_the_first_network_that_can_be_run(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *open = line(ctx, ones, twos), *a = line(ctx, ones, twos);
    xir_value *bytes = xir_op_input(xir_network_op_at(open, 1), 1);
    xir_params_clear(bytes);
    assert_int_equal(xir_proof_check(p, open, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 0);
    assert_int_equal(xir_diags_count(why), 0);
    const xir_diag *d = xir_diags_at(xir_proof_obstacle(p), 0);
    assert_non_null(d);
    assert_int_equal(d->code, XIR_E_MISSING);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 1);
    assert_null(xir_proof_obstacle(p));
    assert_int_equal(xir_proof_check(p, open, why), XIR_E_MISSING);  /* from now on it must be possible to run it */
    xir_diags_clear(why);
    xir_network_free(open);
    xir_network_free(a);
    xir_proof_free(p);
}

static void unknown_dims_are_one(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *net = xir_network_new(ctx, "open", XIR_FRAMEWORK_PYTORCH, "v2.0");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NC", -1, 4));
    assert_non_null(xir_output(at, XIR_VALUES(XIR_RELU(at, x))));
    assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
    assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 2);
    xir_network_free(net);
    xir_proof_free(p);
}

/* ---- as a watch ------------------------------------------------------------------------------------------------- */

/* A pass that makes the network compute something else: the first weight becomes 9. */
static xir_status run_spoil(xir_pass *at) {
    float *w = xir_params_edit(xir_op_input(xir_network_op_at(xir_pass_network(at), 1), 1));
    if (!w) return XIR_E_MEMORY;
    w[0] = 9;
    xir_pass_changed(at, 1);
    return XIR_OK;
}
static const xir_pass_decl spoil = { XIR_PASS_HEAD("spoil", "spoils a weight"), .level = XIR_LEVEL_MAX,
                                     .run = run_spoil };

static xir_status run(xir_network *net, xir_proof *p, const char *text) {
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    xir_proof_watch(p, &watch, why);
    xir_pipeline *passes = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(passes);
    xir_status status = xir_pipeline_run(passes, net, &XIR_INIT(xir_pass_settings, .watches = &watch, .n_watches = 1),
                                         NULL, why);
    xir_pipeline_free(passes);
    return status;
}

static void a_pipeline_is_proven_pass_by_pass(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *net = line(ctx, ones, twos);
    assert_int_equal(run(net, p, "tag{value=5},tag{value=5},fix(count-down)"), XIR_OK);
    assert_int_equal(state_of(p).networks, 7);   /* the first network, and one per change */
    xir_network_free(net);
    xir_proof_free(p);
}

static void the_pass_that_changes_the_result_is_named(void **state) {
    (void)state;
    xir_proof *p = proof_on("x", 0, 0);
    xir_network *net = line(ctx, ones, twos);
    assert_int_equal(run(net, p, "tag{value=5},spoil,tag{value=4}"), XIR_E_INVALID);
    assert_string_equal(findings(),
                        "spoil: the network is not proven to compute the same after this pass:\n"
                        "the network computes something else: output 'y': 1 of 4 elements differs, the first is number 0: it was 3 and is 11 now; "
                        "the largest difference is 8\n"
                        "the first value that differs is 'p': 1 of 4 elements differs, the first is number 0: it was 1 and is 9 now; the largest "
                        "difference is 8");
    xir_network_free(net);
    xir_proof_free(p);
}

/* in [1,c,2,2] -> channels last -> times `factor` -> channels second; without the transposes if inputs and outputs have
 * channels last. */
static xir_network *pictures(int64_t c, bool last, float factor) {
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    const xir_type *plain = XIR_TENSOR(ctx, fp32, "****", 1, c, 2, 2),
                    *nhwc = XIR_TENSOR(ctx, fp32, "NHWC", 1, 2, 2, c);
    float numbers[4];
    for (int i = 0; i < 4; i++) numbers[i] = factor * (float)(i + 1);
    xir_network *net = xir_network_new(ctx, "pictures", XIR_FRAMEWORK_ONNX, "v1");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", last ? nhwc : plain);
    xir_value *w = xir_params_copy(net, XIR_STR("w"), XIR_TENSOR(ctx, fp32, "*", c), numbers, 4 * (size_t)c);
    if (!last) x = XIR_TRANSPOSE(at, x, 0, 2, 3, 1);
    xir_value *y = XIR_OP(at, multiply, .lhs = x, .rhs = w);
    if (last) assert_int_equal(xir_value_set_type(y, nhwc), XIR_OK);
    else y = XIR_TRANSPOSE(at, y, 0, 3, 1, 2);
    assert_non_null(xir_output(at, XIR_VALUES(y)));
    return net;
}

/* With as many channels as rows the dims do not show the order; the layout does. */
static void arrays_follow_inputs_and_outputs_that_get_channels_last(void **state) {
    (void)state;
    for (int64_t c = 2; c < 5; c++) {
        xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .seed = (uint64_t)c), why);
        xir_network *a = pictures(c, false, 1), *b = pictures(c, true, 1), *wrong = pictures(c, true, 1.5f);
        xir_status status = xir_proof_check(p, a, why);
        if (!status) status = xir_proof_check(p, b, why);
        if (!status) status = xir_proof_check(p, b, why);
        if (status) xir_diags_print(why, stderr);
        assert_int_equal(status, XIR_OK);
        assert_int_equal(state_of(p).networks, 3);
        assert_true(state_of(p).largest == 0);
        assert_int_equal(xir_proof_check(p, wrong, why), XIR_E_INVALID);
        xir_diags_clear(why);
        xir_network_free(a);
        xir_network_free(b);
        xir_network_free(wrong);
        xir_proof_free(p);
    }
}

/* A cube, whose axis 1 the model moves to the end, times `factor`; the result has these letters. */
static xir_network *cube(const char *letters, float factor) {
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_network *net = xir_network_new(ctx, "cube", XIR_FRAMEWORK_ONNX, "v1");
    xir_at at = xir_at_end(net);
    xir_value *x = XIR_TRANSPOSE(at, xir_input(at, "x", XIR_TENSOR(ctx, fp32, "****", 1, 2, 2, 2)), 0, 2, 3, 1);
    xir_value *w = xir_params_copy(net, XIR_STR("w"), XIR_TENSOR(ctx, fp32, "*", 1), &factor, sizeof factor);
    xir_value *y = XIR_OP(at, multiply, .lhs = x, .rhs = w);
    assert_int_equal(xir_value_set_type(y, XIR_TENSOR(ctx, fp32, letters, 1, 2, 2, 2)), XIR_OK);
    assert_non_null(xir_output(at, XIR_VALUES(y)));
    return net;
}

/* An output that gets the letters of channels last, and keeps its order. */
static void an_output_that_gets_letters_alone_stays(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .seed = 1), why);
    xir_network *a = cube("****", 1), *b = cube("NHWC", 1), *wrong = cube("NHWC", 1.5f);
    xir_status status = xir_proof_check(p, a, why);
    for (int i = 0; i < 2 && !status; i++) status = xir_proof_check(p, b, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(state_of(p).networks, 3);
    assert_int_equal(xir_proof_check(p, wrong, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_network_free(a);
    xir_network_free(b);
    xir_network_free(wrong);
    xir_proof_free(p);
}

/* ---- random inputs that a network can be run on ----------------------------------------------------------------- */

/* A small BERT: words, token types and places index their tables, and a mask leaves words out. */
static const char bert[] =
    "ids: sint64 1 6; types: sint64 1 6; places: sint64 1 6; mask: sint64 1 6;"
    "words: params 30 8; kinds: params 2 8; rows: params 6 8; one: params 1 = 1; much: params 1 = -3.4e38;"
    "a = Gather words ids; b = Gather kinds types; c = Gather rows places; d = Add a b; e = Add d c;"
    "f = Cast mask [target_dtype=fp32,1,6]; g = Reshape f [shape=1,1,6 layout=@layout(***)]; h = Add one g [beta=-1];"
    "m = Multiply h much; k = Transpose e [dims=0,2,1 layout=@layout(***)]; s = Matmul e k; t = Add s m; p = Softmax t;"
    "y = Matmul p e; out y";

static void a_bert_is_proven_without_inputs(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .seed = seed), why);
        xir_network *net = story_net(bert);
        assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
        if (xir_proof_obstacle(p)) xir_diags_print(xir_proof_obstacle(p), stderr);
        assert_int_equal(state_of(p).networks, 1);
        assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
        assert_true(state_of(p).largest == 0);
        xir_network_free(net);
        xir_proof_free(p);
    }
}

/* The proof reaches all parts of a table. A changed row of each is a difference. */
static void a_proof_sees_the_tables_and_the_mask(void **state) {
    (void)state;
    static const char *const params[] = { "words", "kinds", "rows" };
    for (size_t i = 0; i < COUNT(params); i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *net = story_net(bert);
        assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
        float *w = xir_params_edit(story_value(net, params[i]));
        uint64_t size;
        (void)xir_params_data(story_value(net, params[i]), &size);
        for (size_t k = size / 8; k < size / 4; k++) w[k] += 1;   /* the second half */
        assert_int_equal(xir_proof_check(p, net, why), XIR_E_INVALID);
        xir_diags_clear(why);
        xir_network_free(net);
        xir_proof_free(p);
    }
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *net = story_net(bert);
    assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
    ((float *)xir_params_edit(story_value(net, "one")))[0] = 0;   /* 0 - mask: leaves out other words */
    assert_int_equal(xir_proof_check(p, net, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_network_free(net);
    xir_proof_free(p);
}

/* Each row of the batch has a length of its own, up to that of x. */
static void a_proof_draws_lengths_of_sequences(void **state) {
    (void)state;
    static const char *const stories[] = {
        "x: 7 4 3; w: params 1 20 3; r: params 1 20 5; l: sint32 4; y, h, c = LSTM x w r - l [hidden_size=5]; out y h c",
        "x: 4 7 3; w: params 1 15 3; r: params 1 15 5; l: sint32 4; y, h = GRU x w r - l [hidden_size=5 layout=1]; out y",
        "x: -1 4 3; w: params 1 5 3; r: params 1 5 5; l: sint64 4; y, h = RNN x w r - l [hidden_size=5]; out y",
    };
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *net = story_net(stories[i]);
        assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
        if (!state_of(p).networks) fail_msg("%s", xir_diags_at(xir_proof_obstacle(p), 0)->message.data);
        xir_network_free(net);
        xir_proof_free(p);
    }
}

/* ---- open dims -------------------------------------------------------------------------------------------------- */

/* A story whose inputs x and z get dims by expressions. */
static xir_network *open_net(const char *story, const char *x0, const char *x1, const char *z0, const char *z1) {
    xir_network *net = story_net(story);
    const char *texts[2][2] = { { x0, x1 }, { z0, z1 } };
    for (size_t i = 0; i < 2; i++) {
        xir_value *v = xir_op_output(xir_network_input_op(net), (int64_t)i);
        const xir_str dims[] = { xir_str_of(texts[i][0]), xir_str_of(texts[i][1]) };
        const xir_type *type = xir_network_type_with_dims(net, xir_value_type(v), dims, 2, why);
        assert_non_null(type);
        DOES(xir_value_set_type(v, type));
    }
    assert_int_equal(xir_network_infer(net, why), XIR_OK);
    return net;
}

static const char sum[] = "x: -1 -1; z: -1 -1; a = Add x z; y = Softmax a [axis=1]; out y";
static const char double_sum[] = "x: -1 -1; z: -1 -1; c: params 1 = 2; a = Add x z; b = Multiply a c;"
                                 "y = Softmax b [axis=1]; out y";

/* With dims of 1 a softmax is always 1, and every network would compute the same. */
static void symbols_have_numbers_that_inputs_share(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *a = open_net(sum, "batch", "length", "batch", "length"),
                *wrong = open_net(double_sum, "batch", "length", "batch", "length");
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 1);
    assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
    assert_int_equal(xir_proof_check(p, wrong, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_network_free(a);
    xir_network_free(wrong);
    xir_proof_free(p);
}

/* An expression has the number that the symbols of the other input give. */
static void expressions_follow_their_symbols(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *net = open_net("x: -1 -1; z: -1 -1; a = Concat x x [axis=1]; y = Add a z; out y", "batch", "length",
                                "batch", "2*length");
    assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 1);
    xir_network_free(net);
    xir_proof_free(p);
}

/* Rows of four, rows of 32: other numbers are tried. */
static void numbers_that_a_network_cannot_be_run_on_are_replaced(void **state) {
    (void)state;
    static const char *const stories[] = {
        "x: -1 -1; z: -1 -1; a = Add x z; y = Reshape a [shape=-1,4 layout=@layout(**)]; out y",
        "x: -1 -1; z: -1 -1; a = Add x z; y = Reshape a [shape=-1,32 layout=@layout(**)]; out y",
    };
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *net = open_net(stories[i], "batch", "1", "batch", "1");
        assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
        assert_int_equal(state_of(p).networks, 1);
        xir_network_free(net);
        xir_proof_free(p);
    }
}

/* Dims that are below 1 for small numbers, or for large ones: the numbers are doubled or halved. */
static void numbers_make_all_dims_legal(void **state) {
    (void)state;
    static const struct { const char *x[2], *z[2]; int64_t least[2]; } cases[] = {
        { { "batch", "length - 41" },            { "batch", "length - 41" },            { 1, 42 } },
        { { "batch", "floor((a + b - 90)/2)" },  { "batch", "floor((a + b - 90)/2)" },  { 1, 92 } },
        { { "batch", "max(0, length - 500)" },   { "batch", "max(0, length - 500)" },   { 1, 501 } },
        { { "batch", "8 - length" },             { "batch", "8 - length" },             { 1, 1 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *net = open_net("x: -1 -1; z: -1 -1; y = Add x z; out y", cases[i].x[0], cases[i].x[1],
                                    cases[i].z[0], cases[i].z[1]);
        DOES(xir_proof_check(p, net, why));
        const xir_proof_state s = state_of(p);
        if (s.networks != 1 || s.n_dims < 2 || s.n_dims > 3) fail_msg("case %zu: %zu dims", i, s.n_dims);
        CHECK_STR(s.dims[0].name, "batch");
        int64_t sum_of = 0;
        for (size_t k = 1; k < s.n_dims; k++) sum_of += s.dims[k].least;
        if (sum_of < cases[i].least[1] || s.dims[0].least != s.dims[0].most)
            fail_msg("case %zu: %lld", i, (long long)sum_of);
        xir_network_free(net);
        xir_proof_free(p);
    }
}

/* Every dim is legal for numbers near 2^20: a terabyte of them is not tried. */
static void inputs_that_would_be_huge_are_an_obstacle(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *net = open_net("x: -1 -1; z: -1 -1; y = Add x z; out y", "max(0, a - 500000)*2", "max(0, a - 500000)",
                                "max(0, a - 500000)*2", "max(0, a - 500000)");
    DOES(xir_proof_check(p, net, why));
    assert_int_equal(state_of(p).networks, 0);
    assert_int_equal(xir_diags_at(xir_proof_obstacle(p), 0)->code, XIR_E_LIMIT);
    xir_network_free(net);
    xir_proof_free(p);
}

static void bind_batch(xir_network *net, int64_t least, int64_t most) {
    const xir_symbol batch = { XIR_STR("batch"), least, most };
    DOES(xir_network_bind(net, &batch, 1, why));
}

/* A pass that binds a symbol: the network before is run again, on inputs that fit. */
static void a_bound_network_is_compared_with_the_open_one(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const char *rows = k < 4 ? "batch" : "2*batch";
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *a = open_net(sum, rows, "length", rows, "length"),
                    *bound = open_net(k % 2 ? double_sum : sum, rows, "length", rows, "length");
        bind_batch(bound, 6, k % 4 < 2 ? 6 : 100);   /* a number, or an interval without the number of the first run */
        assert_int_equal(xir_proof_check(p, a, why), XIR_OK);
        assert_int_equal(xir_proof_check(p, bound, why), k % 2 ? XIR_E_INVALID : XIR_OK);
        xir_diags_clear(why);
        xir_network_free(a);
        xir_network_free(bound);
        xir_proof_free(p);
    }
}

/* A given array says what its symbols are, whatever their names. */
static void given_arrays_determine_symbols(void **state) {
    (void)state;
    xir_array *x = xir_array_random(ctx, FP32("**", 3, 11), 1, why);
    const xir_proof_input input = XIR_INIT(xir_proof_input, .name = "x", .array = x);
    xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .inputs = &input, .n_inputs = 1), why);
    xir_network *net = open_net(sum, "'batch size'", "length", "'batch size'", "length");
    assert_int_equal(xir_proof_check(p, net, why), XIR_OK);
    assert_int_equal(state_of(p).networks, 1);
    xir_network_free(net);
    xir_proof_free(p);
    xir_array_free(x);
}

static void scarce_open(want *w) {
    xir_network *net;
    IN_PLENTY(w, net = story_net_in(w->ctx, sum));
    IN_PLENTY(w, {
        for (int64_t i = 0; i < 2; i++) {
            xir_value *v = xir_op_output(xir_network_input_op(net), i);
            const xir_str dims[] = { XIR_STR("batch"), XIR_STR("length") };
            (void)xir_value_set_type(v, xir_network_type_with_dims(net, xir_value_type(v), dims, 2, NULL));
        }
        (void)xir_network_infer(net, NULL);
    });
    xir_proof *p;
    TRY_MAKE(w, p, xir_proof_new(w->ctx, NULL, w->why));
    TRY(w, xir_proof_check(p, net, w->why));
    assert_true(state_of(p).networks >= 1);
    IN_PLENTY(w, xir_network_free(net); xir_proof_free(p));
}

static void every_allocation_with_open_dims(void **state) {
    (void)state;
    run_scarcely("checking networks with open dims", scarce_open, false);
}

/* ---- networks without weights ----------------------------------------------------------------------------------- */

/* The vector is a scale; the numbers of one element are not weights. */
static const char empty_net[] =
    "x: 1 4; w: params 4 3 = 0 0 0 0 0 0 0 0 0 0 0 0; v: params 3 = 0 0 0; c: params 1 = 2;"
    "a = Matmul x w; b = Multiply a c; y = Add b v; out y";

static void weights_of_zeros_are_noticed(void **state) {
    (void)state;
    xir_network *net = story_net(empty_net), *full = story_net("x: 1 4; w: params 4 3; a = Matmul x w; out a"),
                *none = story_net("x: 1 4; w: params 4 3 = none; a = Matmul x w; out a"),
                *without = story_net("x: 1 4; c: params 1 = 0; a = Add x c; out a");
    assert_true(xir_network_weights_are_zero(net));
    assert_false(xir_network_weights_are_zero(full));
    assert_false(xir_network_weights_are_zero(none));
    assert_false(xir_network_weights_are_zero(without));
    assert_false(xir_network_weights_are_zero(NULL));
    xir_network_free(net);
    xir_network_free(full);
    xir_network_free(none);
    xir_network_free(without);
}

static const float *numbers_of(const xir_network *net, const char *name) {
    return xir_params_typed(story_value(net, name), 4);
}

static void a_copy_is_filled_and_the_network_is_not(void **state) {
    (void)state;
    xir_network *net = story_net(empty_net), *copy = xir_network_clone(net), *again = xir_network_clone(net);
    assert_int_equal(xir_network_fill_weights(copy, 7, why), XIR_OK);
    assert_int_equal(xir_network_fill_weights(again, 7, why), XIR_OK);
    assert_true(xir_network_weights_are_zero(net));
    assert_false(xir_network_weights_are_zero(copy));
    assert_memory_equal(numbers_of(copy, "w"), numbers_of(again, "w"), 48);
    for (size_t i = 0; i < 12; i++) assert_true(fabs(numbers_of(copy, "w")[i]) <= 1 && numbers_of(copy, "w")[i] != 0);
    for (size_t i = 0; i < 3; i++) assert_true(numbers_of(copy, "v")[i] >= 0.5f && numbers_of(copy, "v")[i] <= 1.5f);
    assert_true(numbers_of(copy, "c")[0] == 2);
    assert_int_equal(xir_network_fill_weights(again, 8, why), XIR_OK);   /* what is not zero stays */
    assert_memory_equal(numbers_of(copy, "w"), numbers_of(again, "w"), 48);
    xir_network_free(net);
    xir_network_free(copy);
    xir_network_free(again);
}

/* A pass that forgets the product: the network becomes Add(x * 0 …). */
static xir_status run_forget(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    DOES(xir_op_set_input(story_op(net, "b"), 1, story_value(net, "v")));
    xir_pass_changed(at, 1);
    return XIR_OK;
}
static const xir_pass_decl forget = { XIR_PASS_HEAD("forget", "multiplies by the wrong constant"),
                                      .level = XIR_LEVEL_MAX, .run = run_forget };

static void only_weights_show_that_a_pass_is_wrong(void **state) {
    (void)state;
    for (int filled = 0; filled < 2; filled++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *net = story_net(empty_net);
        if (filled) assert_int_equal(xir_network_fill_weights(net, 0, why), XIR_OK);
        assert_int_equal(run(net, p, "forget"), filled ? XIR_E_INVALID : XIR_OK);
        assert_int_equal(state_of(p).networks, 2);
        xir_diags_clear(why);
        xir_network_free(net);
        xir_proof_free(p);
    }
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

static void scarce_look(want *w) {
    xir_network *a, *b;
    IN_PLENTY(w, a = line(w->ctx, ones, twos); b = line(w->ctx, third, twos));
    xir_proof *p;
    TRY_MAKE(w, p, xir_proof_new(w->ctx, NULL, w->why));
    TRY(w, xir_proof_check(p, a, w->why));
    assert_true(state_of(p).networks >= 1);   /* running out of memory does not count as "can't be run" */
    TRY(w, xir_proof_check(p, a, w->why));
    IN_PLENTY(w, xir_network_free(a); xir_network_free(b); xir_proof_free(p));
}

static void every_allocation(void **state) {
    (void)state;
    run_scarcely("checking networks", scarce_look, false);
}

static int begin(void **state) {
    int result = group_begin(state);
    passes_for_tests(ctx);
    bool ready = xir_pass_register(ctx, &spoil, why) == XIR_OK && xir_pass_register(ctx, &forget, why) == XIR_OK;
    return ready ? result : -1;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_that_compute_the_same),
        cmocka_unit_test(a_finding_names_the_first_value_that_differs),
        cmocka_unit_test(the_tolerance_is_the_caller_s),
        cmocka_unit_test(another_number_of_outputs_is_a_difference),
        cmocka_unit_test(unknown_names_of_inputs_are_errors),
        cmocka_unit_test(each_sample_is_run_on_its_own),
        cmocka_unit_test(a_proof_begins_with_the_first_network_that_can_be_run),
        cmocka_unit_test(unknown_dims_are_one),
        cmocka_unit_test(arrays_follow_inputs_and_outputs_that_get_channels_last),
        cmocka_unit_test(an_output_that_gets_letters_alone_stays),
        cmocka_unit_test(a_pipeline_is_proven_pass_by_pass),
        cmocka_unit_test(the_pass_that_changes_the_result_is_named),
        cmocka_unit_test(a_bert_is_proven_without_inputs),
        cmocka_unit_test(a_proof_sees_the_tables_and_the_mask),
        cmocka_unit_test(a_proof_draws_lengths_of_sequences),
        cmocka_unit_test(symbols_have_numbers_that_inputs_share),
        cmocka_unit_test(expressions_follow_their_symbols),
        cmocka_unit_test(numbers_that_a_network_cannot_be_run_on_are_replaced),
        cmocka_unit_test(numbers_make_all_dims_legal),
        cmocka_unit_test(inputs_that_would_be_huge_are_an_obstacle),
        cmocka_unit_test(a_bound_network_is_compared_with_the_open_one),
        cmocka_unit_test(given_arrays_determine_symbols),
        cmocka_unit_test(every_allocation_with_open_dims),
        cmocka_unit_test(weights_of_zeros_are_noticed),
        cmocka_unit_test(a_copy_is_filled_and_the_network_is_not),
        cmocka_unit_test(only_weights_show_that_a_pass_is_wrong),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
