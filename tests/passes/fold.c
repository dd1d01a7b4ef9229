/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* fold: an op of constants becomes a constant with the same name, type and numbers; and the types of the ops after it
 * become known. fold.xir has the cases that are texts. */
#include "support/op_list.h"
#include "support/story.h"
#include "graph.h"

/* The network after folding, which must be consistent and valid; folding again must change nothing. */
static size_t changes;
static xir_network *folded_with(const char *before, const char *options, int line) {
    xir_network *net = story_net(before);
    changes = run_pass(net, "fold", options, __FILE__, line);
    return net;
}

/* Checks sint(64) or fp32 numbers of named Params among the inputs of the op that makes `user`. */
static void check_numbers(const xir_network *net, const char *user, size_t input, const char *name,
                          const double *expected, size_t n, int line) {
    const xir_op *op = strcmp(user, "out") == 0 ? xir_network_last(net) : story_op(net, user);
    const xir_value *v = xir_op_input(op, (int64_t)input);
    if (!v || !xir_value_is_params(v)) fail_msg("line %d: no Params", line);
    if (name) CHECK_STR(xir_value_name(v), name);
    xir_array *array = xir_array_from_params(v, why);
    assert_non_null(array);
    if (xir_array_count(array) != n) fail_msg("line %d: %zu numbers", line, xir_array_count(array));
    for (size_t i = 0; i < n; i++) {
        if (xir_array_real(array, i) != expected[i])
            fail_msg("line %d: number %zu: expected %g, found %g", line, i, expected[i], xir_array_real(array, i));
    }
    xir_array_free(array);
}
#define NUMBERS(net, user, input, name, ...) \
    check_numbers(net, user, input, name, (const double[]){ __VA_ARGS__ }, \
                  COUNT(((const double[]){ __VA_ARGS__ })), __LINE__)

/* ---- large results ---------------------------------------------------------------------------------------------- */

static void the_limit_is_an_option(void **state) {
    (void)state;
    static const char text[] = "x: C 4; p: params 100; n = Neg p; out n x";
    xir_network *net = folded_with(text, "limit=100", __LINE__);
    assert_int_equal(changes, 1);
    xir_network_free(net);
    net = folded_with(text, "limit=99", __LINE__);
    assert_int_equal(changes, 0);
    xir_network_free(net);
    net = folded_with("x: C 4; p: params 100; n = Copy p; m = Reshape n [shape=10,10] [layout=@layout(**)]; out n m x",
                      "limit=1", __LINE__);
    assert_int_equal(changes, 2);   /* the bytes are shared */
    const xir_value *n = xir_op_input(xir_network_last(net), 0), *m = xir_op_input(xir_network_last(net), 1);
    assert_ptr_equal(xir_params_data(n, NULL), xir_params_data(m, NULL));
    xir_network_free(net);
}

/* ---- impure ops, and ops that fail ------------------------------------------------------------------------------- */

static void impure_unknown_and_other_targets_stay(void **state) {
    (void)state;
    xir_network *net = story_net("x: C 2; p: params 2 = 1 2; a = Neg p; b = Neg p; c = Neg p; out a b c x");
    DOES(xir_op_set_target(story_op(net, "a"), xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL)));
    DOES(xir_value_set_mtype(story_value(net, "b"), xir_mtype_onchip(ctx, 64)));
    DOES(xir_op_set_extra(story_op(net, "c"), XIR_STR("more"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 1 }));
    size_t n;
    DOES(xir_pass_run(net, "fold", NULL, &n, why));
    assert_int_equal(n, 0);
    xir_network_free(net);
}

/* The op would fail in every run: a warning, and the network stays unchanged. */
static void a_constant_that_fails_is_a_warning(void **state) {
    (void)state;
    xir_network *net = story_net("x: C 2; p: params 3 = 1 2 3; i: params sint64 300; g = Gather p i; out g x");
    int64_t *indices = xir_params_edit(xir_op_input(story_op(net, "g"), 1));
    indices[299] = 7;   /* inference checks at most 256 */
    xir_diags_clear(why);
    size_t n;
    DOES(xir_pass_run(net, "fold", NULL, &n, why));
    assert_int_equal(n, 0);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(xir_diags_at(why, 0)->severity, XIR_WARNING);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data,
                           "fold: icraft::xir::Gather 'g': its inputs are constants, but it can't be computed: "));
    xir_diags_clear(why);
    xir_network_free(net);
}

static void without_an_executor_shapes_are_folded(void **state) {
    (void)state;
    run_op_fn *executor = ctx->run_op;
    ctx->run_op = NULL;
    xir_network *net = story_net("x: 2 3; p: params 2 = 1 2; a = Neg p; s = Shape x; out a s");
    xir_diags_clear(why);
    size_t n;
    DOES(xir_pass_run(net, "fold", NULL, &n, why));
    ctx->run_op = executor;
    assert_int_equal(n, 1);
    NUMBERS(net, "out", 1, "s", 2, 3);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(xir_diags_at(why, 0)->severity, XIR_NOTE);
    xir_diags_clear(why);
    xir_network_free(net);
}

static float one(size_t i) { return (float)(i % 7); }

/* A long chain of constants: one walk, which releases each intermediate result. */
static void a_long_chain_keeps_one_result(void **state) {
    (void)state;
    enum { LENGTH = 300 };
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 1, 10000)),
               *v = xir_params_new(net, XIR_STR("p"), FP32("NC", 1, 10000));
    DOES(xir_params_fill_f32(v, one));
    for (int i = 0; i < LENGTH; i++) v = relu(net, v, "");
    results(net, XIR_VALUES(add(net, x, v, "y")));
    size_t n, bytes = 0;
    DOES(xir_pass_run(net, "fold", NULL, &n, why));
    assert_int_equal(n, LENGTH);
    for (const xir_value *p = net->all_params; p; p = value_params(p)->next) {
        uint64_t size;
        xir_params_data(p, &size);
        bytes += (size_t)size;
    }
    assert_int_equal(bytes, 2 * 40000);   /* p and the last result */
    xir_network_free(net);
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

/* Folds within limits. The only finding, if one is expected, is a note about an op that begins like this. */
static xir_network *folded_within(const char *story, const char *pipeline, uint64_t op_work, uint64_t work,
                                  const char *note) {
    xir_limits before = XIR_INIT(xir_limits);
    DOES(xir_context_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_op_work = op_work, .max_work = work), why));
    xir_network *net = story_net(story);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(pipeline), why);
    xir_diags_clear(why);
    DOES(xir_pipeline_run(p, net, NULL, NULL, why));
    if (xir_diags_count(why) != (note ? 1 : 0)) xir_diags_print(why, stderr);
    assert_int_equal(xir_diags_count(why), note ? 1 : 0);
    if (note) {
        const xir_diag *d = xir_diags_at(why, 0);
        assert_int_equal(d->severity, XIR_NOTE);
        if (!strstr(d->message.data, note)) fail_msg("'%s' has no '%s'", d->message.data, note);
    }
    xir_diags_clear(why);
    xir_pipeline_free(p);
    DOES(xir_context_set_limits(ctx, &before, why));
    return net;
}

/* Each of these would take days or years. */
static void expensive_constants_stay(void **state) {
    (void)state;
    static const char six[] =
        "x: 2 2; a: params C 900; b: params C 900; c: params C 900; d: params C 900; e: params C 900; f: params C 900; "
                              "y = Einsum a b c d e f [equation=a,b,c,d,e,f->]; z = Add x y; out z";
    xir_network *net = folded_within(six, "fold", 0, 0,
                                     "fold: icraft::xir::Einsum 'y': its inputs are constants, but it is not computed: "
                                     "it takes 2657205000000000010 steps, and a constant may take 2000000000");
    CHECK_STORY(net, "y = Einsum a b c d e f [equation=a,b,c,d,e,f->]; z = Add x y; out z");
    xir_network_free(net);
    static const char wide[] =
        "x: NHWC 1 701 701 1; a: params NHWC 1 1400 1400 1; k: params HWIO 700 700 1 1; y = Conv2d a k; z = Add x y; "
        "out z";
    net = folded_within(wide, "fold", 0, 0,
                        "fold: icraft::xir::Conv2d 'y': its inputs are constants, but it is not computed: it takes "
                        "240791404010 steps, and a constant may take 2000000000");
    CHECK_STORY(net, "y = Conv2d a k; z = Add x y; out z");
    xir_network_free(net);
}

/* Products of 10 x 10 matrices: 2000 steps each; and a last small op of 10 steps, for which enough are left. */
static const char products[] =
    "x: 10 10; a: params 10 10; s: params C 1; n = Neg a; p = Einsum n n [equation=ij,jk->ik]; q = Einsum p n "
    "[equation=ij,jk->ik]; r = Einsum q n [equation=ij,jk->ik]; t = Neg s; "
                               "z = Add x r; y = Add z t; out y";

static void a_run_has_a_limit_of_work(void **state) {
    (void)state;
    xir_network *net = folded_within(products, "fold", 0, 1000 + 3 * 2000 + 10, NULL);
    CHECK_STORY(net, "z = Add x r; y = Add z t; out y");
    xir_network_free(net);
    net = folded_within(products, "fold", 0, 1000 + 2 * 2000 + 1999,
                        "icraft::xir::Einsum 'r': its inputs are constants, but it is not computed: it "
                        "takes 2000 steps, and 1999 are left for constants");
    CHECK_STORY(net, "r = Einsum q n [equation=ij,jk->ik]; z = Add x r; y = Add z t; out y");
    xir_network_free(net);
    net = folded_within(
        products, "fold", 1999, 0,
        "icraft::xir::Einsum 'p': its inputs are constants, but it is not computed: it takes 2000 steps, and a "
                        "constant may take 1999");
    CHECK_STORY(net, "p = Einsum n n [equation=ij,jk->ik]; q = Einsum p n [equation=ij,jk->ik]; r = Einsum q n [equation=ij,jk->ik]; z = Add x r; y = Add z t; out y");
    xir_network_free(net);
}

/* All rounds share one budget and give one note. */
static void rounds_of_a_run_share_the_budget(void **state) {
    (void)state;
    xir_network *net = folded_within(products, "fix(fold,dce),fold", 0, 1000 + 2 * 2000 + 1999,
                                     "icraft::xir::Einsum 'r'");
    CHECK_STORY(net, "r = Einsum q n [equation=ij,jk->ik]; z = Add x r; y = Add z t; out y");
    xir_network_free(net);
    net = folded_within("x: NC 1 2; a: params 10 10; n = Neg a; p = Einsum n n [equation=ij,jk->ik]; out p x",
                        "fold,fold,fold", 0, 1000 + 1999, "icraft::xir::Einsum 'p'");
    xir_network_free(net);
}

/* A later run repeats the note of an earlier one. */
static void each_run_reports_what_it_leaves(void **state) {
    (void)state;
    xir_network *net = folded_within(products, "fold", 1999, 0, "icraft::xir::Einsum 'p'");
    for (int i = 0; i < 2; i++) {
        DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_op_work = 1999), why));
        DOES(xir_pass_run(net, "fold", NULL, NULL, why));
        DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_op_work = 2000000000), why));
        assert_int_equal(xir_diags_count(why), 1);
        xir_diags_clear(why);
    }
    xir_network_free(net);
}

/* 40 results of 256 KiB each, each from one number; the Params have 8 bytes. */
static void all_results_together_have_a_limit(void **state) {
    (void)state;
    enum { N = 40, EACH = 65536 * 4 };
    static const struct { const char *pipeline; size_t folded, noted; } rows[] = {
        { "fold",                 N,  0      }, { "fold{memory=2621440}", 10, N - 10 },
        { "fold{memory=2621439}", 10, N - 10 }, { "fold{memory=2621423}", 9,  N - 9  },
        { "fold{memory=0}",       0,  N      }, { "fold{memory=2621440},fold{memory=5242880}", 20, N - 10 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = new_net();
        xir_value *x = argument(net, "x", FP32("C", 1)), *all[N + 1] = { x };
        const int64_t size = 65536;
        xir_value *shape = xir_params_copy(net, XIR_STR("shape"), xir_type_tensor(ctx, xir_type_sint(ctx, 64), NULL,
                                                                                  (const int64_t[]){ 1 }, 1), &size,
                                                                                  sizeof size);
        for (int k = 0; k < N; k++) {
            all[k + 1] = XIR_OP(xir_at_end(net), constant_of_shape, .input = shape);
        }
        results(net, (xir_values){ all, N + 1 });
        xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(rows[i].pipeline), why);
        xir_diags_clear(why);
        DOES(xir_pipeline_run(p, net, NULL, NULL, why));
        if (xir_network_op_count(net) != 2 + N - rows[i].folded) xir_diags_print(why, stderr);
        assert_int_equal(xir_network_op_count(net), 2 + N - rows[i].folded);
        assert_int_equal(xir_diags_count_of(why, XIR_NOTE), rows[i].noted);
        if (rows[i].folded < N)
            assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "it has 262144 bytes, and "));
        xir_diags_clear(why);
        xir_pipeline_free(p);
        xir_network_free(net);
    }
}

static bool at_once(void *user) {
    size_t *left = user;
    return (*left)-- == 0;
}

static void a_run_of_passes_is_cancelled(void **state) {
    (void)state;
    static const char story[] = "x: C 1; a: params 100 100; n = Neg a; p = Abs n; s = Sum p; y = Add x s; out y";
    xir_pipeline *p = xir_pipeline_parse(ctx, XIR_STR("infer,fold"), why);
    static const char *const said[] = { "the run was cancelled before infer", "the run was cancelled before fold",
                                        "fold: icraft::xir::Neg 'n': the run was cancelled while it was computed" };
    for (size_t i = 0; i < COUNT(said); i++) {
        xir_network *net = story_net(story);
        size_t left = i;
        xir_diags_clear(why);
        assert_int_equal(xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .cancel = at_once, .cancel_user = &left),
                                          NULL, why), XIR_E_CANCELLED);
        assert_non_null(strstr(xir_diags_at(why, 0)->message.data, said[i]));
        xir_network_free(net);
    }
    xir_diags_clear(why);
    xir_pipeline_free(p);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_an_option),
        cmocka_unit_test(impure_unknown_and_other_targets_stay),
        cmocka_unit_test(a_constant_that_fails_is_a_warning),
        cmocka_unit_test(without_an_executor_shapes_are_folded),
        cmocka_unit_test(a_long_chain_keeps_one_result),
        cmocka_unit_test(expensive_constants_stay),
        cmocka_unit_test(a_run_has_a_limit_of_work),
        cmocka_unit_test(rounds_of_a_run_share_the_budget),
        cmocka_unit_test(each_run_reports_what_it_leaves),
        cmocka_unit_test(all_results_together_have_a_limit),
        cmocka_unit_test(a_run_of_passes_is_cancelled),
    };
    return RUN_GROUP(tests);
}
