/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs that are stepped: what exists after a step, what is given back, and values that are exchanged. */
#include <xir/exec.h>
#include "support/scarce.h"
#include "support/story.h"

/* A call that fails with this status and a finding that has the text. */
#define FAILS(code, part, call)         \
    do {                                \
        assert_int_equal(call, code);   \
        check_finding(code, part);      \
    } while (0)

static const char chain[] = "x: fp32 4; a = Neg x; b = Sign a; c = Add a b; out c b";

static xir_array *fours(xir_context *in, float v) {
    const float many[4] = { v, v, v, v };
    const int64_t n = 4;
    const xir_type *type = xir_type_tensor(in, xir_type_float(in, XIR_FLOAT_FP32), NULL, &n, 1);
    return type ? xir_array_copy(in, type, many, sizeof many, NULL) : NULL;
}

static xir_run_state *begin(const xir_network *net, const xir_run_options *how) {
    xir_array *in = fours(ctx, 2);
    xir_run_state *run = xir_run_new(net, (const xir_array *const[]){ in }, 1, how, why);
    xir_array_free(in);   /* the run keeps it */
    assert_non_null(run);
    return run;
}

/* Steps until the op has had its turn. */
static void step_to(xir_run_state *run, const xir_op *until) {
    const xir_op *op;
    do DOES(xir_run_step(run, &op, why));
    while (op != until && op);
    assert_ptr_equal(op, until);
}

static double number(xir_run_state *run, const xir_network *net, const char *name) {
    xir_array *array = xir_run_value(run, story_value(net, name), why);
    assert_non_null(array);
    const double v = xir_array_real(array, 0);
    xir_array_free(array);
    return v;
}

static void check_missing(xir_run_state *run, const xir_network *net, const char *name) {
    assert_null(xir_run_value(run, story_value(net, name), why));
    check_finding(XIR_E_MISSING, "not computed yet, or not kept any more");
}

static void values_exist_from_their_step_to_their_last_use(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    xir_run_state *run = begin(net, NULL);
    check_missing(run, net, "x");
    step_to(run, xir_network_input_op(net));
    assert_true(number(run, net, "x") == 2);
    check_missing(run, net, "a");
    step_to(run, story_op(net, "a"));
    assert_true(number(run, net, "a") == -2 && number(run, net, "x") == 2);   /* what it read is still there */
    step_to(run, story_op(net, "b"));
    check_missing(run, net, "x");
    assert_true(number(run, net, "a") == -2);
    step_to(run, story_op(net, "c"));
    step_to(run, xir_network_output_op(net));
    check_missing(run, net, "a");
    assert_true(number(run, net, "c") == -3 && number(run, net, "b") == -1);
    step_to(run, NULL);
    step_to(run, NULL);
    assert_true(number(run, net, "c") == -3);
    xir_run_free(run);
    xir_network_free(net);
}

static void later_ops_see_the_value_that_was_set(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    for (size_t threads = 1; threads < 4; threads += 2) {
        xir_run_state *run = begin(net, &XIR_INIT(xir_run_options, .threads = threads));
        xir_array *other = fours(ctx, 5);
        FAILS(XIR_E_MISSING, "does not exist at this step", xir_run_set(run, story_value(net, "a"), other, why));
        step_to(run, story_op(net, "a"));
        DOES(xir_run_set(run, story_value(net, "a"), other, why));
        xir_array_free(other);
        assert_true(number(run, net, "a") == 5);
        step_to(run, xir_network_output_op(net));
        assert_true(number(run, net, "c") == 6 && number(run, net, "b") == 1);
        xir_run_free(run);
    }
    xir_network_free(net);
}

static void a_value_of_another_type_is_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; p: params 4 = 1 2 3 4; a = Add x p; out a");
    xir_run_state *run = begin(net, NULL);
    const int64_t two = 2, four = 4;
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32), *i32 = xir_type_sint(ctx, 32);
    xir_array *shorter = xir_array_new(ctx, xir_type_tensor(ctx, fp32, NULL, &two, 1), why);
    xir_array *integers = xir_array_new(ctx, xir_type_tensor(ctx, i32, NULL, &four, 1), why);
    xir_array *same = fours(ctx, 1);
    step_to(run, story_op(net, "a"));
    FAILS(XIR_E_BOUNDS, "expected", xir_run_set(run, story_value(net, "a"), shorter, why));
    FAILS(XIR_E_TYPE, "expected", xir_run_set(run, story_value(net, "a"), integers, why));
    FAILS(XIR_E_MISSING, "does not exist", xir_run_set(run, story_value(net, "p"), same, why));
    assert_true(number(run, net, "a") == 3 && number(run, net, "p") == 1);   /* Params have arrays */
    xir_run_free(run);
    xir_array_free(shorter);
    xir_array_free(integers);
    xir_array_free(same);
    xir_network_free(net);
}

static void a_failure_stays(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; i: sint32 1; n = Neg x; g = Gather n i; out g");
    const int64_t one = 1;
    const int32_t far = 9;
    xir_array *in[2] = { fours(ctx, 2), xir_array_copy(ctx, xir_type_tensor(ctx, xir_type_sint(ctx, 32), NULL, &one, 1),
                                                       &far, sizeof far, why) };
    xir_run_state *run = xir_run_new(net, (const xir_array *const *)in, 2, NULL, why);
    assert_non_null(run);
    step_to(run, story_op(net, "n"));
    const xir_op *op = xir_network_first(net);
    xir_status status = xir_run_step(run, &op, why);
    assert_true(status != XIR_OK && !op);
    xir_diags_clear(why);
    FAILS(status, "failed before", xir_run_step(run, NULL, why));
    xir_run_free(run);
    xir_array_free(in[0]);
    xir_array_free(in[1]);
    xir_network_free(net);
}

static void what_a_run_refuses_a_stepped_one_does(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    assert_null(xir_run_new(net, NULL, 0, NULL, why));
    check_finding(XIR_E_BOUNDS, "expected 1 inputs of the network, found 0");
    xir_run_state *run = begin(net, &XIR_INIT(xir_run_options, .max_work = 1));
    step_to(run, xir_network_input_op(net));
    FAILS(XIR_E_LIMIT, "steps", xir_run_step(run, NULL, why));
    xir_run_free(run);
    xir_run_free(NULL);
    xir_network_free(net);
}

/* Every allocation refused: a run that was not made is made again. */
static void scarce_steps(want *w) {
    xir_network *net = NULL;
    xir_array *in = NULL, *other = NULL, *got = NULL;
    xir_run_state *run = NULL;
    const xir_op *op;
    IN_PLENTY(w, net = story_net_in(w->ctx, chain); in = fours(w->ctx, 2); other = fours(w->ctx, 5));
    TRY_MAKE(w, run, xir_run_new(net, (const xir_array *const[]){ in }, 1, NULL, w->why));
    xir_status status = XIR_OK;
    do status = xir_run_step(run, &op, w->why);
    while (!status && op && op != story_op(net, "a"));
    if (!status) {
        TRY(w, xir_run_set(run, story_value(net, "a"), other, w->why));
        TRY_MAKE(w, got, xir_run_value(run, story_value(net, "a"), w->why));
        assert_true(xir_array_real(got, 0) == 5);
        xir_array_free(got);
    } else {
        assert_true(status == XIR_E_MEMORY && w->memory.refused);
    }
    xir_run_free(run);
    xir_array_free(in);
    xir_array_free(other);
    IN_PLENTY(w, xir_network_free(net));
}
SCARCE_TEST(scarce_steps)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_exist_from_their_step_to_their_last_use),
        cmocka_unit_test(later_ops_see_the_value_that_was_set),
        cmocka_unit_test(a_value_of_another_type_is_refused),
        cmocka_unit_test(a_failure_stays),
        cmocka_unit_test(what_a_run_refuses_a_stepped_one_does),
        cmocka_unit_test(test_scarce_steps),
    };
    return RUN_GROUP(tests);
}
