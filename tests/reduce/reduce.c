/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The network that remains while the answer to a question stays yes. */
#include <stdio.h>
#include "support/scarce.h"
#include "support/story.h"

/* The question, and what was asked. */
typedef struct asked {
    const char *text;       /* the story must have these pieces, separated by | */
    size_t      batches, best, stop_at;
    size_t      most;       /* networks in one call                              */
} asked;

/* The classes of the ops but Input and Output: "Neg Sign"; valid until the next call. */
static const char *kinds_of(const xir_network *net) {
    static char text[400];
    size_t n = 0;
    text[0] = '\0';
    for (const xir_op *op = xir_network_first(net); op && n < sizeof text - 40; op = xir_op_next(op)) {
        if (op == xir_network_input_op(net) || op == xir_network_output_op(net)) continue;
        const xir_str key = xir_class_key(xir_op_class(op));
        size_t from = key.size;
        while (from && key.data[from - 1] != ':') from--;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? " " : "", (int)(key.size - from),
                              key.data + from);
    }
    return text;
}

static bool has_pieces(const xir_network *net, const char *pieces) {
    char *text = story_text(net);
    bool all = true;
    for (const char *at = pieces; *at;) {
        char piece[80];
        const size_t size = strcspn(at, "|");
        snprintf(piece, sizeof piece, "%.*s", (int)size, at);
        all = all && strstr(text, piece);
        at += size + (at[size] == '|');
    }
    free(text);
    return all;
}

static void ask(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    asked *a = user;
    a->batches++;
    if (n > a->most) a->most = n;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(xir_network_validate(candidates[i], NULL), XIR_OK);
        answers[i] = a->stop_at && a->batches >= a->stop_at ? XIR_REDUCE_STOP
                   : has_pieces(candidates[i], a->text) ? XIR_REDUCE_YES : XIR_REDUCE_NO;
    }
}

static bool note_best(void *user, xir_network *best) {
    asked *a = user;
    a->best++;
    return has_pieces(best, a->text);
}

static xir_network *reduced(const char *story, asked *a, size_t jobs, size_t max_runs, xir_reduce_state *state) {
    xir_network *net = story_net(story);
    const xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = ask, .better = note_best, .user = a,
                                            .jobs = jobs, .max_runs = max_runs);
    xir_network *small = xir_reduce(net, &how, state, why);
    if (!small) xir_diags_print(why, stderr);
    assert_non_null(small);
    assert_true(has_pieces(net, a->text));   /* the network itself is what it was */
    xir_network_free(net);
    return small;
}

#define CHECK_REDUCED(story, pieces, left)                                               \
    do {                                                                                 \
        for (size_t jobs_ = 1; jobs_ <= 5; jobs_ += 2) {                                 \
            asked asked_ = { .text = pieces };                                           \
            xir_network *small_ = reduced(story, &asked_, jobs_, 0, NULL);               \
            assert_string_equal(kinds_of(small_), left);                                                   \
            assert_true(asked_.most <= jobs_);                                           \
            xir_network_free(small_);                                                    \
        }                                                                                \
    } while (0)

static void one_op_is_left_of_a_fault_of_one_op(void **state) {
    (void)state;
    static const char chain[] = "x: fp32 4; a = Neg x; b = Abs a; c = Sign b; d = Exp c; e = Tanh d; f = Floor e; out f";
    CHECK_REDUCED(chain, "Sign", "Sign");
    CHECK_REDUCED(chain, "Neg", "Neg");
    CHECK_REDUCED(chain, "Floor", "Floor");
}

static void ops_that_a_fault_needs_together_stay(void **state) {
    (void)state;
    CHECK_REDUCED("x: fp32 4; a = Neg x; b = Abs a; c = Sign b; d = Exp c; e = Tanh d; f = Floor e; out f", "Abs|Tanh",
                  "Abs Tanh");
    CHECK_REDUCED("x: fp32 4; a = Neg x; b = Abs x; c = Add a b; d = Exp c; out d b", "Neg|Add", "Neg Add");
}

static void dims_and_attributes_and_weights_shrink(void **state) {
    (void)state;
    asked a = { .text = "Matmul" };
    xir_reduce_state told = XIR_INIT(xir_reduce_state);
    xir_network *small = reduced("x: fp32 1 64 96; w: params 96 48; a = Neg x; m = Matmul a w; b = Add m m [beta=3]; out b",
                                 &a, 1, 0, &told);
    const xir_op *op = xir_op_next(xir_network_input_op(small));
    assert_int_equal(xir_network_op_count(small), 3);
    assert_true(xir_type_dim(xir_value_type(xir_op_output(op, 0)), -1, false) == 1);
    const xir_value *w = xir_op_input(op, 1);
    float v = 7;
    DOES(xir_params_read(w, 0, &v, sizeof v));
    assert_true(v == 0);
    assert_int_equal(told.runs, a.batches);
    assert_int_equal(told.kept, a.best);
    assert_false(told.stopped);
    xir_network_free(small);
}

static void what_the_fault_needs_is_kept(void **state) {
    (void)state;
    asked a = { .text = "beta=3" };
    xir_network *small = reduced("x: fp32 1 64; a = Neg x; b = Add a x [beta=3]; out b", &a, 1, 0, NULL);
    assert_int_equal(xir_network_op_count(small), 3);
    assert_true(has_pieces(small, "Add|beta=3"));
    assert_int_equal(xir_op_name(xir_op_next(xir_network_input_op(small))).size, 0);
    xir_network_free(small);
}

/* A network in the text format. */
static xir_network *text_net(const char *text) {
    xir_load_options how = XIR_INIT(xir_load_options, .format = "text");
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("model"), &how, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

/* Answers yes while the check of the dialect finds nothing and there is an op of the class. */
static void find_foreign(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    for (size_t i = 0; i < n; i++) {
        DOES(xir_dialect_check(candidates[i], why));
        char *text = story_text(candidates[i]);
        answers[i] = strstr(text, user) ? XIR_REDUCE_YES : XIR_REDUCE_NO;
        free(text);
    }
}

static xir_network *foreign_reduced(const char *text, const char *needs) {
    xir_network *net = text_net(text);
    const xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = find_foreign, .user = (void *)(uintptr_t)needs);
    xir_network *small = xir_reduce(net, &how, NULL, why);
    assert_non_null(small);
    xir_network_free(net);
    return small;
}

/* Types of values follow, and numbers in attributes: the groups of a depthwise convolution. Attributes that a node may
 * lack are gone. */
static void a_dialect_has_smaller_dims_and_default_attributes(void **state) {
    (void)state;
    static const char model[] = "xir 1\n.name \"m\" .framework ONNX \"opset13\" .tags {onnx.opset={\"\"=13}}\n"
        "%x = Input() : fp32 **** [1,32,17,17]\n"
        "%a = onnx::Relu(%x) : none\n"
        "%b = onnx::Conv(%a, @w : fp32 **** [32,1,3,3] = splat 2) {\"group\"=32, \"pads\"=[1,1,1,1], "
        "\"strides\"=[2,2]} : fp32 **** [1,32,9,9]\n"
        "%c = onnx::Reshape(%b, @s : int64 * [2] = [32,-1]) : none\n"
        "Output(%c)\n";
    xir_network *small = foreign_reduced(model, "onnx::Conv");
    assert_string_equal(kinds_of(small), "Conv");
    const xir_op *conv = xir_op_next(xir_network_input_op(small));
    assert_true(!xir_op_extra(conv) || !xir_op_extra(conv)->size);
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(xir_type_dim(xir_value_type(xir_op_input(conv, 1)), i, false), 1);
        assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(conv, 0)), i, false), 1);
    }
    xir_network_free(small);
    small = foreign_reduced(model, "onnx::Reshape");
    assert_string_equal(kinds_of(small), "Reshape");
    const xir_op *reshape = xir_op_next(xir_network_input_op(small));
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(reshape, 0)), 1, false), 1);
    xir_network_free(small);
}

/* No rule of an op tells the types of its outputs, or which attributes it needs. */
static void an_op_without_a_row_keeps_its_types_and_attributes(void **state) {
    (void)state;
    xir_network *small = foreign_reduced("xir 1\n.name \"m\" .framework ONNX \"opset13\" "
        ".tags {onnx.opset={\"\"=13, \"com.acme\"=1}}\n"
        "%x = Input() : fp32 ** [8,6]\n"
        "%a = onnx::Relu(%x) : none\n"
        "%b = onnx::com.acme.Odd(%a) {\"beta\"=3} : fp32 ** [8,6]\n"
        "%c = onnx::Relu(%b) : none\n"
        "Output(%c)\n", "Odd");
    assert_string_equal(kinds_of(small), "com.acme.Odd");
    const xir_op *odd = xir_op_next(xir_network_input_op(small));
    assert_int_equal(xir_op_extra(odd)->size, 1);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(odd, 0)), 0, false), 8);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_input(odd, 0)), 1, false), 6);
    xir_network_free(small);
}

static void a_part_has_the_ops_of_the_network(void **state) {
    (void)state;
    asked a = { .text = "Add|beta=3" };
    xir_network *net = story_net("x: fp32 1 64; a = Neg x; b = Add a x [beta=3]; c = Abs b; d = Tanh b; out c d");
    const xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = ask, .user = &a, .parts = true);
    xir_network *small = xir_reduce(net, &how, NULL, why);
    assert_non_null(small);
    CHECK_STORY(small, "b = Add a x [beta=3]; out b");
    xir_network_free(small);
    xir_network_free(net);
}

/* A chain of `n` ops with branches that join again; the one at `at` is an Exp. */
static xir_network *long_net(size_t n, size_t at) {
    static const char *const kinds[] = { "icraft::xir::Neg", "icraft::xir::Abs", "xir::Sign", "xir::Floor",
                                        "icraft::xir::Tanh", "xir::Ceil" };
    xir_network *net = xir_network_new(ctx, "long", XIR_FRAMEWORK_ONNX, "");
    xir_value *v[4] = { xir_input(XIR_AT(net), "x", FP32("*", 4)) };
    for (size_t i = 0; i < n; i++) {
        const bool joins = i > 4 && i % 5 == 0 && i != at;
        const char *key = i == at ? "xir::Exp" : joins ? "icraft::xir::Maximum" : kinds[chance(6)];
        const xir_op_desc desc = { .size = sizeof desc, .cls = xir_class_find(ctx, xir_str_of(key)), .id = XIR_NO_ID,
                                   .inputs = (xir_value *const[]){ v[0], v[3] }, .n_inputs = joins ? 2 : 1 };
        xir_op *op = xir_network_add(net, &desc);
        if (!op) xir_diags_print(xir_network_diags(net), stderr);
        assert_non_null(op);
        memmove(v + 1, v, 3 * sizeof *v);
        v[0] = xir_op_output(op, 0);
    }
    xir_output(XIR_AT(net), XIR_VALUES(v[0]));
    return net;
}

static void find_exp(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    (void)user;
    for (size_t i = 0; i < n; i++)
        answers[i] = xir_network_next_of_class(candidates[i], NULL, xir_exp_class()) ? XIR_REDUCE_YES : XIR_REDUCE_NO;
}

/* At 20 places of 10 000 ops. */
static void few_runs_find_one_op_of_many(void **state) {
    enum { OPS = 10000, MOST_RUNS = 400, MOST_OPS = 5, PLACES = 20 };
    (void)state;
    size_t least = SIZE_MAX, worst = 0, runs[PLACES];
    for (size_t k = 0; k < PLACES; k++) {
        const size_t at = k == 0 ? 0 : k == 1 ? OPS - 1 : (size_t)chance(OPS);
        xir_network *net = long_net(OPS, at);
        xir_reduce_state told = XIR_INIT(xir_reduce_state);
        const xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = find_exp, .max_runs = MOST_RUNS);
        xir_network *small = xir_reduce(net, &how, &told, why);
        assert_non_null(small);
        if (xir_network_op_count(small) > MOST_OPS)
            fail_msg("op %zu: %zu ops are left after %zu runs", at, xir_network_op_count(small), told.runs);
        runs[k] = told.runs;
        least = told.runs < least ? told.runs : least;
        worst = told.runs > worst ? told.runs : worst;
        xir_network_free(small);
        xir_network_free(net);
    }
    for (size_t i = 0; i < PLACES; i++)   /* the median */
        for (size_t k = i + 1; k < PLACES; k++)
            if (runs[k] < runs[i]) { const size_t t = runs[i]; runs[i] = runs[k]; runs[k] = t; }
    print_message("runs for one op of %d: least %zu, median %zu, worst %zu\n", OPS, least, runs[PLACES / 2], worst);
}

static void a_limit_and_a_stop_keep_the_best_so_far(void **state) {
    (void)state;
    static const char chain[] = "x: fp32 4; a = Neg x; b = Abs a; c = Sign b; d = Exp c; e = Tanh d; f = Floor e; out f";
    asked a = { .text = "Sign" };
    xir_reduce_state told = XIR_INIT(xir_reduce_state);
    xir_network *small = reduced(chain, &a, 3, 2, &told);
    assert_true(told.stopped && told.runs == 2 && xir_network_op_count(small) < 8);
    xir_network_free(small);
    a = (asked){ .text = "Sign", .stop_at = 3 };
    small = reduced(chain, &a, 1, 0, &told);
    assert_true(told.stopped && a.batches == 3);
    xir_network_free(small);
}

static void refuse_all(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    (void)candidates;
    for (size_t i = 0; i < n; i++) answers[i] = *(const xir_reduce_answer *)user;
}

static void what_is_not_interesting_is_not_reduced(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Neg x; out a");
    xir_reduce_answer answer = XIR_REDUCE_NO;
    xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = refuse_all, .user = &answer);
    assert_null(xir_reduce(net, &how, NULL, why));
    check_finding(XIR_E_INVALID, "does not show the fault");
    answer = XIR_REDUCE_UNKNOWN;
    assert_null(xir_reduce(net, &how, NULL, why));
    check_finding(XIR_E_INVALID, "does not show the fault");
    answer = XIR_REDUCE_STOP;
    assert_null(xir_reduce(net, &how, NULL, why));
    check_finding(XIR_E_CANCELLED, "stopped");
    how.ask = NULL;
    assert_null(xir_reduce(net, &how, NULL, why));
    check_finding(XIR_E_MISSING, "function");
    assert_null(xir_reduce(net, NULL, NULL, why));
    check_finding(XIR_E_MISSING, "options");
    xir_network_free(net);
}

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

static want *scarcity;

/* Questions do not count. */
static void ask_in_plenty(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    IN_PLENTY(scarcity, ask(user, candidates, n, answers));
}

static void scarce_reduce(want *w) {
    xir_network *net = NULL, *small = NULL;
    asked a = { .text = "Matmul" };
    scarcity = w;
    IN_PLENTY(w, net = story_net_in(w->ctx, "x: fp32 2 3; w: params 3 2; a = Neg x; m = Matmul a w; b = Abs m; out b"));
    const xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = ask_in_plenty, .user = &a, .jobs = 2);
    TRY_MAKE(w, small, xir_reduce(net, &how, NULL, w->why));
    IN_PLENTY(w, w->result = story_text(small));
    xir_network_free(small);
    xir_network_free(net);
}
SCARCE_TEST(scarce_reduce)

static void scarce_dialect(want *w) {
    static const char model[] = "xir 1\n.name \"m\" .framework ONNX \"opset13\" .tags {onnx.opset={\"\"=13}}\n"
        "%x = Input() : fp32 **** [1,2,1,1]\n"
        "%b = onnx::Conv(%x, @w : fp32 **** [2,1,1,1] = splat 2) {\"group\"=2} : fp32 **** [1,2,1,1]\n"
        "%c = onnx::Reshape(%b, @s : int64 * [2] = [2,-1]) : none\n"
        "Output(%c)\n";
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    xir_network *net = NULL, *small = NULL;
    asked a = { .text = "onnx::Conv|onnx::Reshape" };
    scarcity = w;
    IN_PLENTY(w, net = xir_network_read(w->ctx, model, sizeof model - 1, XIR_STR("model"), &from, w->why));
    const xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = ask_in_plenty, .user = &a);
    TRY_MAKE(w, small, xir_reduce(net, &how, NULL, w->why));
    IN_PLENTY(w, w->result = story_text(small));
    xir_network_free(small);
    xir_network_free(net);
}
SCARCE_TEST(scarce_dialect)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_op_is_left_of_a_fault_of_one_op),
        cmocka_unit_test(ops_that_a_fault_needs_together_stay),
        cmocka_unit_test(dims_and_attributes_and_weights_shrink),
        cmocka_unit_test(what_the_fault_needs_is_kept),
        cmocka_unit_test(a_dialect_has_smaller_dims_and_default_attributes),
        cmocka_unit_test(an_op_without_a_row_keeps_its_types_and_attributes),
        cmocka_unit_test(a_part_has_the_ops_of_the_network),
        cmocka_unit_test(few_runs_find_one_op_of_many),
        cmocka_unit_test(a_limit_and_a_stop_keep_the_best_so_far),
        cmocka_unit_test(what_is_not_interesting_is_not_reduced),
        cmocka_unit_test(test_scarce_reduce),
        cmocka_unit_test(test_scarce_dialect),
    };
    return RUN_GROUP(tests);
}
