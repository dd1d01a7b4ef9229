/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir_optimise: what it runs, what it proves and what it says. */
#include "support/net.h"
#include "support/passes.h"
#include "support/proof.h"
#include "support/scarce.h"
#include "support/story.h"

static const char foldable[] = "x: 1 4; a: 2; b: 3; c = Add a b; y = Multiply x c; z = ReLU y; out z",
                  weights[] = "x: 1 4; w: params 4 3; a = Matmul x w; v: params 4 3; b = Matmul x v; s = Add a b; out s",
                  zeros[] = "x: 1 4; w: params 4 3 = 0 0 0 0 0 0 0 0 0 0 0 0; a = Matmul x w; r = ReLU a; out r";

/* The first op with a second input loses it to another value. */
static xir_status run_swap(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    DOES(xir_op_set_input(story_op(net, "b"), 1, story_value(net, "w")));
    xir_pass_changed(at, 1);
    return XIR_OK;
}
static xir_status run_negate(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_op *relu = story_op(net, "r");
    xir_at before = { .net = net, .before = relu };
    xir_value *negated = XIR_OP(before, neg, .input = xir_op_input(relu, 0));
    DOES(xir_op_set_input(relu, 0, negated));
    xir_pass_changed(at, 1);
    return XIR_OK;
}
static const xir_pass_decl swap = { XIR_PASS_HEAD("swap", "reads the wrong weights"), .run = run_swap },
                           negate = { XIR_PASS_HEAD("negate", "a wrong sign"), .run = run_negate };

#define OPTIMISE(net, done, ...) xir_optimise((net), &XIR_INIT(xir_optimise_options, __VA_ARGS__), (done), why)

static void the_library_s_passes_run_by_default(void **state) {
    (void)state;
    xir_network *net = story_net(foldable);
    xir_optimised done = XIR_INIT(xir_optimised);
    assert_int_equal(xir_optimise(net, NULL, &done, why), XIR_OK);
    CHECK_STORY(net, "y = Multiply x c; z = ReLU y; out z");
    assert_true(done.changes > 0 && done.ops_before == 5 && done.ops_after == 4 && !done.networks && !done.filled);
    xir_network_free(net);
}

static void own_passes_follow_or_take_their_place(void **state) {
    (void)state;
    xir_network *net = story_net(foldable), *other = story_net(foldable);
    DOES(OPTIMISE(net, NULL, .then = "tag{key=done,value=7}"));
    CHECK_STORY(net, "y = Multiply x c; z = ReLU y; out z");
    assert_int_equal(xir_map_find(xir_network_tags(net), XIR_STR("done"))->as.integer, 7);
    DOES(OPTIMISE(other, NULL, .pipeline = "", .then = "tag{key=done,value=7}"));
    CHECK_STORY(other, "c = Add a b; y = Multiply x c; z = ReLU y; out z");
    xir_network_free(net);
    xir_network_free(other);
}

static void a_proof_compares_after_every_pass(void **state) {
    (void)state;
    xir_network *net = story_net(foldable), *wrong = story_net(weights);
    xir_optimised done = XIR_INIT(xir_optimised);
    DOES(OPTIMISE(net, &done, .prove = true));
    assert_true(done.networks > 1 && done.outputs > 0 && done.largest < 1e-5 && !done.filled);
    assert_int_equal(OPTIMISE(wrong, &done, .pipeline = "swap", .prove = true), XIR_E_INVALID);
    assert_non_null(strstr(findings(), "the first value that differs is 'b'"));
    xir_network_free(net);
    xir_network_free(wrong);
}

static void weights_of_zeros_are_filled_for_the_proof_only(void **state) {
    (void)state;
    xir_network *net = story_net(zeros);
    xir_optimised done = XIR_INIT(xir_optimised);
    DOES(OPTIMISE(net, &done, .prove = true));
    assert_true(done.filled && done.networks);
    assert_true(xir_network_weights_are_zero(net));
    assert_int_equal(OPTIMISE(net, &done, .pipeline = "negate", .prove = true), XIR_E_INVALID);
    const uint32_t no_size = 0;
    assert_int_equal(OPTIMISE(net, &done, .prove = true, .proof = (const void *)&no_size), XIR_E_ABI);
    CHECK_STORY(net, "a = Matmul x w; r = ReLU a; out r");
    xir_diags_clear(why);
    xir_network_free(net);
}

static void what_cannot_be_run_is_not_proven(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 4; y = acme::Unknown x; out y");
    assert_int_equal(OPTIMISE(net, NULL, .prove = true), XIR_E_UNSUPPORTED);
    const char *said = findings();
    assert_non_null(strstr(said, "acme::Unknown"));
    assert_non_null(strstr(said, "nothing was proven"));
    xir_network_free(net);
}

static void settings_levels_and_watches_are_kept(void **state) {
    (void)state;
    xir_network *net = story_net(foldable);
    const char *const disabled[] = { "fold", NULL };
    xir_proof *own = xir_proof_new(ctx, NULL, why);
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    DOES(xir_proof_watch(own, &watch, why));
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .disabled = disabled, .watches = &watch,
                                                .n_watches = 1);
    xir_optimised done = XIR_INIT(xir_optimised);
    DOES(OPTIMISE(net, &done, .settings = &settings, .prove = true, .then = "tag{key=k,value=1}"));
    CHECK_STORY(net, "c = Add a b; y = Multiply x c; z = ReLU y; out z");
    assert_true(done.networks && state_of(own).networks == done.networks);
    DOES(OPTIMISE(net, NULL, .level = XIR_LEVEL_NEEDED));
    CHECK_STORY(net, "c = Add a b; y = Multiply x c; z = ReLU y; out z");
    xir_proof_free(own);
    xir_network_free(net);
}

static void a_network_that_becomes_invalid_is_found(void **state) {
    (void)state;
    xir_network *net = story_net(foldable);
    assert_int_not_equal(OPTIMISE(net, NULL, .pipeline = "broken"), XIR_OK);
    assert_non_null(strstr(findings(), "broken"));
    xir_network_free(net);
}

static void tags_say_what_ops_stand_for(void **state) {
    (void)state;
    xir_network *net = story_net(foldable);
    DOES(OPTIMISE(net, NULL, .provenance = true));
    assert_true(xir_provenance_has_tags(net));
    xir_network_free(net);
}

static void texts_that_are_no_pipelines_change_nothing(void **state) {
    (void)state;
    xir_network *net = story_net(foldable);
    assert_int_equal(OPTIMISE(net, NULL, .then = "dice"), XIR_E_UNKNOWN);
    assert_non_null(strstr(findings(), "dice"));
    assert_int_equal(OPTIMISE(net, NULL, .pipeline = "fold{"), XIR_E_SYNTAX);
    assert_int_equal(OPTIMISE(net, NULL, .then = "fold{limit=many}"), XIR_E_TYPE);
    const char *const nobody[] = { "nobody", NULL };
    assert_int_equal(OPTIMISE(net, NULL, .settings = &XIR_INIT(xir_pass_settings, .disabled = nobody)), XIR_E_UNKNOWN);
    assert_int_equal(xir_optimise(net, &(xir_optimise_options){ .prove = true }, NULL, why), XIR_E_ABI);
    assert_int_equal(xir_optimise(NULL, NULL, NULL, NULL), XIR_E_MISSING);
    CHECK_STORY(net, "c = Add a b; y = Multiply x c; z = ReLU y; out z");
    xir_diags_clear(why);
    xir_network_free(net);
}

static void a_recorder_and_a_result_without_a_size_are_refused_first(void **state) {
    (void)state;
    xir_network *net = story_net(foldable);
    xir_provenance *own = xir_provenance_new(net, why);
    xir_optimised nothing = { .size = 0 };
    assert_int_equal(OPTIMISE(net, NULL, .provenance = true), XIR_E_IN_USE);
    assert_int_equal(xir_optimise(net, NULL, &nothing, why), XIR_E_ABI);
    CHECK_STORY(net, "c = Add a b; y = Multiply x c; z = ReLU y; out z");
    xir_diags_clear(why);
    xir_provenance_free(own);
    xir_network_free(net);
}

static void scarce_optimise(want *w) {
    xir_network *net;
    const xir_optimise_options how = XIR_INIT(xir_optimise_options, .then = "dce", .prove = true, .provenance = true);
    IN_PLENTY(w, net = story_net_in(w->ctx, zeros));
    TRY_LOOSELY(w, xir_optimise(net, &how, NULL, w->why));
    IN_PLENTY(w, xir_network_free(net));
}
SCARCE_TEST(scarce_optimise)

static int begin(void **state) {
    const int result = group_begin(state);
    passes_for_tests(ctx);
    const bool ready = xir_pass_register(ctx, &swap, why) == XIR_OK && xir_pass_register(ctx, &negate, why) == XIR_OK;
    return ready ? result : -1;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_s_passes_run_by_default),
        cmocka_unit_test(own_passes_follow_or_take_their_place),
        cmocka_unit_test(a_proof_compares_after_every_pass),
        cmocka_unit_test(weights_of_zeros_are_filled_for_the_proof_only),
        cmocka_unit_test(what_cannot_be_run_is_not_proven),
        cmocka_unit_test(settings_levels_and_watches_are_kept),
        cmocka_unit_test(a_network_that_becomes_invalid_is_found),
        cmocka_unit_test(tags_say_what_ops_stand_for),
        cmocka_unit_test(texts_that_are_no_pipelines_change_nothing),
        cmocka_unit_test(a_recorder_and_a_result_without_a_size_are_refused_first),
        cmocka_unit_test(test_scarce_optimise),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
