/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rewriting: it terminates, in linear time, and has a limit; and what callbacks may do to the network meanwhile. */
#include <string.h>
#include "support/scarce.h"
#include "support/story.h"
#include <xir/pass.h>
#include <xir/pattern.h>
#include "graph.h"

#define OPEN(name_, rows_)   static const xir_pattern_decl name_ = { XIR_PATTERN_HEAD(#name_, rows_) }
#define CLOSED(name_, rows_) static const xir_pattern_decl name_ = { XIR_PATTERN_HEAD(#name_, rows_), .closed = true }

/* The rules of a test. */
static xir_rule rules[8];
static size_t n_rules;

static void rule(const xir_pattern_decl *decl, xir_rewrite_fn *rewrite, const void *user) {
    xir_pattern *p = xir_pattern_new(ctx, decl, why);
    assert_non_null(p);
    rules[n_rules++] = (xir_rule){ p, rewrite, user };
}

static void forget_rules(void) {
    while (n_rules) xir_pattern_free((xir_pattern *)(uintptr_t)rules[--n_rules].pattern);
}

static int end(void **state) {
    (void)state;
    forget_rules();   /* of a test that has failed */
    return 0;
}

/* Rewrites a story; returns the number of rewrites. */
static size_t rewrite(xir_network *net) {
    size_t n = 0;
    xir_status status = xir_network_rewrite(net, rules, n_rules, sizeof *rules, 0, &n, why);
    if (status) {
        xir_diags_print(why, stderr);
        fail();
    }
    CHECK_SOUND(net);
    return n;
}

/* Checks the story afterwards, and forgets all rules. */
static void becomes(const char *before, const char *after, size_t times, int line) {
    xir_network *net = story_net(before);
    size_t n = rewrite(net);
    check_story(net, after, __FILE__, line);
    if (n != times) fail_msg("line %d: expected %zu rewrites, found %zu", line, times, n);
    xir_network_free(net);
    forget_rules();
}
#define BECOMES(before, after, times) becomes(before, after, times, __LINE__)

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static size_t asked;   /* how often a pattern's condition was asked */
static bool count_asking(const xir_op *op, void *user) { return (void)op, (void)user, ++asked > 0; }

/* relu(relu(x)) -> relu(x) */
static const xir_pattern_row relus_rows[] = {
    { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1), .where = count_asking },
};
CLOSED(relus, relus_rows);
static xir_verdict keep_first(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, xir_match_replace(m, xir_match_value(m, 1));
}

/* relu(neg(x)) -> neg(relu(x)): it moves up, away from the next ops of the walk. */
static const xir_pattern_row up_rows[] = {
    { XIR_ROW_ANY }, { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1), .where = count_asking },
};
CLOSED(up, up_rows);
static xir_verdict exchange(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_at cursor = xir_match_at(m);
    xir_op *relu = xir_add_relu(cursor, (xir_relu_in){ .input = xir_match_value(m, 0) }, NULL);
    xir_op *neg = xir_add_neg(cursor, (xir_neg_in){ .input = xir_op_output(relu, 0) }, NULL);
    return xir_match_replace(m, xir_op_output(neg, 0));
}

/* x * sigmoid(x) -> silu(x) */
static const xir_pattern_row silu_rows[] = {
    { XIR_ROW_ANY }, { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(0) },
    { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1), .commutes = true, .where = count_asking },
};
CLOSED(silu, silu_rows);
static xir_verdict to_silu(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_silu(xir_match_at(m), (xir_silu_in){ .input = xir_match_value(m, 0) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* ---- termination ------------------------------------------------------------------------------------------------ */

static void rewriting_goes_on_until_nothing_matches(void **state) {
    (void)state;
    rule(&relus, keep_first, NULL);
    BECOMES("x: 2 3; a = ReLU x; b = ReLU a; c = ReLU b; d = Tanh c; e = ReLU d; f = ReLU e; out f", "c = ReLU x; d = Tanh c; f = ReLU d; out f", 3);
    rule(&up, exchange, NULL);
    BECOMES("x: 2 3; a = Neg x; b = Neg a; c = Neg b; d = ReLU c; out d", "%9 = ReLU x; %10 = Neg %9; %8 = Neg %10; d = Neg %8; out d", 3);
    rule(&silu, to_silu, NULL);
    BECOMES("x: 2 3; s = Sigmoid x; y = Multiply s x; t = Sigmoid y; z = Multiply y t; out z", "y = SiLU x; z = SiLU y; out z", 2);
    rule(&silu, to_silu, NULL);
    BECOMES("x: 2 3; a = ReLU x; out a", "a = ReLU x; out a", 0);
}

/* relu(op(x)) -> op(x), for an op of any class. */
static const xir_pattern_row after_rows[] = {
    { XIR_ROW_ANY }, { XIR_ROW_ANY_OP, XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1) },
};
CLOSED(after, after_rows);

/* Tanh is in no rule, and Sigmoid is in another one. */
static void any_op_may_make_an_input_of_the_root(void **state) {
    (void)state;
    rule(&silu, to_silu, NULL);
    rule(&after, keep_first, NULL);
    BECOMES("x: 2 3; a = Tanh x; b = ReLU a; c = Sigmoid b; d = ReLU c; e = ReLU d; out e",
            "b = Tanh x; e = Sigmoid b; out e", 3);
}

/* The result of one rule is the input of another. */
static void rules_feed_each_other(void **state) {
    (void)state;
    rule(&relus, keep_first, NULL);
    rule(&up, exchange, NULL);
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = ReLU b; d = Neg c; e = ReLU d; out e");
    assert_int_equal(rewrite(net), 5);
    assert_int_equal(xir_network_op_count(net), 5);   /* in, relu, two neg, out */
    CHECK_STR(xir_value_name(xir_op_input(xir_network_output_op(net), 0)), "e");
    xir_network_free(net);
    forget_rules();
}

/* A value loses a use, so that a pattern becomes closed above which nothing has changed. */
static void fewer_uses_are_noticed(void **state) {
    (void)state;
    rule(&silu, to_silu, NULL);
    rule(&relus, keep_first, NULL);
    /* The outer pair reads s. After it is rewritten, s is used only inside the first pair. */
    BECOMES("x: 2 3; s = Sigmoid x; y = Multiply x s; a = ReLU s; b = ReLU a; c = ReLU b; out y c",
            "s = Sigmoid x; y = Multiply x s; c = ReLU s; out y c", 2);
    static const xir_pattern_row drop_rows[] =
        { { XIR_ROW_ANY }, { XIR_ROW_ANY }, { XIR_ROW_OP(xir_maximum_class), XIR_ROW_INPUTS(0, 1) } };
    CLOSED(drop, drop_rows);
    rule(&silu, to_silu, NULL);
    rule(&drop, keep_first, NULL);   /* max(a, b) -> b */
    BECOMES("x: 2 3; s = Sigmoid x; y = Multiply x s; m = Maximum s x; out y m", "y = SiLU x; out y x", 2);
}

static void a_rewrite_without_effect_is_not_repeated_forever(void **state) {
    (void)state;
    rule(&relus, NULL, NULL);
    rules[0].rewrite = to_silu;   /* the type differs: nothing is replaced */
    xir_network *net = story_net("x: 2 3; a = Neg x; b = ReLU a; c = ReLU b; out c");
    xir_op *b = story_op(net, "b");
    DOES(xir_value_set_type(xir_op_output(story_op(net, "c"), 0), FP32("NC", 2, 3)));
    assert_int_equal(rewrite(net), 0);
    CHECK_STORY(net, "a = Neg x; b = ReLU a; c = ReLU b; out c");
    assert_int_equal(xir_op_output_count(b), 1);
    xir_network_free(net);
    forget_rules();
}

/* ---- linear ----------------------------------------------------------------------------------------------------- */

static void chains_take_linear_time(void **state) {
    (void)state;
    enum { N = 20000 };
    for (int upwards = 0; upwards < 2; upwards++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *x = xir_input(at, "x", FP32("*", 4));
        for (int i = 0; i < N; i++) {
            x = upwards ? XIR_OP(at, neg, .input = x) : XIR_RELU(at, x);
        }
        xir_output(at, XIR_VALUES(XIR_RELU(at, x)));
        if (upwards) rule(&up, exchange, NULL);
        else rule(&relus, keep_first, NULL);
        asked = 0;
        assert_int_equal(rewrite(net), N);
        if (asked > 4 * N) fail_msg("%zu questions for %d ops", asked, N);
        assert_int_equal(xir_network_op_count(net), upwards ? N + 3 : 3);
        xir_network_free(net);
        forget_rules();
    }
}

/* Many ops read one value, which loses a use in each rewrite. */
static void a_hub_is_not_visited_again_and_again(void **state) {
    (void)state;
    enum { N = 20000 };
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = XIR_OP(at, sigmoid, .input = xir_input(at, "x", FP32("*", 4))), *last = x;
    for (int i = 0; i < N; i++) {
        xir_op *s = xir_add_sigmoid(at, (xir_sigmoid_in){ .input = x }, NULL);
        last = XIR_OP(at, multiply, .lhs = x, .rhs = xir_op_output(s, 0));
    }
    xir_output(at, XIR_VALUES(last));
    rule(&silu, to_silu, NULL);
    asked = 0;
    assert_int_equal(rewrite(net), N);
    if (asked > 4 * N) fail_msg("%zu questions for %d ops", asked, N);
    xir_network_free(net);
    forget_rules();
}

/* The same with two constants in turn, for patterns that test their number of uses. */
static void constants_are_hubs_too(void **state) {
    (void)state;
    enum { N = 20000 };
    static const xir_pattern_row rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_PARAMS, .uses = 1 },
        { XIR_ROW_OP(xir_maximum_class), XIR_ROW_INPUTS(0, 1), .where = count_asking },
    };
    static const xir_pattern_row any_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_PARAMS }, { XIR_ROW_OP(xir_minimum_class), XIR_ROW_INPUTS(0, 1), .where = count_asking },
    };
    OPEN(lone, rows);
    OPEN(any, any_rows);
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    const xir_type *type = FP32("*", 4);
    xir_value *x = xir_input(at, "x", type), *last = x;
    xir_value *two[] = { xir_params_new(net, XIR_STR("p"), type), xir_params_new(net, XIR_STR("q"), type) };
    for (int i = 0; i < 2; i++) {
        xir_op *op = xir_add_maximum(at, (xir_maximum_in){ .lhs = last, .rhs = two[i] }, NULL);
        last = xir_op_output(op, 0);
    }
    for (int i = 0; i < N; i++) {
        last = XIR_OP(at, minimum, .lhs = last, .rhs = two[i % 2]);
    }
    xir_output(at, XIR_VALUES(last));
    rule(&lone, to_silu, NULL);
    rule(&any, to_silu, NULL);
    asked = 0;
    assert_int_equal(rewrite(net), N + 2);   /* finally each constant has one use */
    if (asked > 4 * N) fail_msg("%zu questions for %d ops", asked, N);
    xir_network_free(net);
    forget_rules();
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static const xir_pattern_row relu_rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) } };
OPEN(endless, relu_rows);
static xir_verdict another_relu(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    return xir_match_replace(m, xir_build_relu(xir_match_at(m), xir_match_value(m, 0), NULL));
}
static xir_verdict claim_a_rewrite(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)m, (void)user, XIR_REWRITE_DONE;
}

static void the_limit_is_an_error_that_names_the_pattern(void **state) {
    (void)state;
    xir_rewrite_fn *const both[] = { another_relu, claim_a_rewrite };
    for (size_t i = 0; i < COUNT(both); i++) {
        size_t n;
        xir_network *net = story_net("x: 2 3; a = ReLU x; out a");
        rule(&silu, to_silu, NULL);
        rule(&endless, both[i], NULL);
        assert_int_equal(xir_network_rewrite(net, rules, n_rules, sizeof *rules, 50, &n, why), XIR_E_LIMIT);
        assert_int_equal(n, 50);
        check_finding(XIR_E_LIMIT, "pattern 'endless' reached the limit of 50 rewrites");
        assert_int_equal(xir_network_rewrite(net, rules, n_rules, sizeof *rules, 0, &n, why), XIR_E_LIMIT);
        assert_int_equal(n, 1030);   /* ten times three ops, and 1000 */
        check_finding(XIR_E_LIMIT, "pattern 'endless'");
        CHECK_SOUND(net);
        xir_network_free(net);
        forget_rules();
    }
    /* Exactly as many rewrites as allowed are not an error. */
    size_t n;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU a; c = ReLU b; out c");
    rule(&relus, keep_first, NULL);
    assert_int_equal(xir_network_rewrite(net, rules, n_rules, sizeof *rules, 2, &n, why), XIR_OK);
    assert_int_equal(n, 2);
    xir_network_free(net);
    forget_rules();
}

static xir_verdict once(xir_rewriter *at, const xir_match *m, const void *user) {
    xir_rewriter_stop(at);
    return *(const bool *)user ? keep_first(at, m, NULL) : XIR_REWRITE_LEFT;
}

static void a_callback_can_stop_it(void **state) {
    (void)state;
    bool yes = true, no = false;
    rule(&relus, once, &yes);
    BECOMES("x: 2 3; a = ReLU x; b = ReLU a; c = ReLU b; out c", "b = ReLU x; c = ReLU b; out c", 1);
    rule(&relus, once, &no);
    rule(&relus, keep_first, NULL);
    BECOMES("x: 2 3; a = ReLU x; b = ReLU a; c = ReLU b; out c", "a = ReLU x; b = ReLU a; c = ReLU b; out c", 0);
}

static xir_verdict wrong_op(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    /* without weights */
    xir_op *now = xir_add_conv2d(xir_match_at(m), (xir_conv2d_in){ .input = xir_match_value(m, 0) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

static void a_failure_has_the_finding_of_the_network(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU a; out b");
    rule(&relus, wrong_op, NULL);
    size_t n = 7;
    assert_int_equal(xir_network_rewrite(net, rules, n_rules, sizeof *rules, 0, &n, why), XIR_E_MISSING);
    assert_int_equal(n, 0);
    check_finding(XIR_E_MISSING, "rewriting pattern 'relus': input 'weights' of icraft::xir::Conv2d 'b' is absent");
    xir_network_clear_status(net);
    CHECK_STORY(net, "a = ReLU x; b = ReLU a; out b");
    xir_network_free(net);
    forget_rules();
}

static void more_than_64_rules_are_refused(void **state) {
    (void)state;
    xir_rule many[XIR_RULES + 1];
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU a; out b");
    rule(&relus, keep_first, NULL);
    for (size_t i = 0; i < COUNT(many); i++) many[i] = rules[0];
    assert_int_equal(xir_network_rewrite(net, many, XIR_RULES + 1, sizeof *many, 0, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "expected at most 64 rules, found 65");
    assert_int_equal(xir_network_rewrite(net, many, XIR_RULES, sizeof *many, 0, NULL, why), XIR_OK);
    assert_int_equal(xir_network_rewrite(net, many, 0, sizeof *many, 0, NULL, why), XIR_OK);
    CHECK_STORY(net, "b = ReLU x; out b");
    xir_network_free(net);
    forget_rules();
}

/* ---- callbacks -------------------------------------------------------------------------------------------------- */

/* Erases the root's users before the root: also the op that would be looked at next. */
static xir_verdict erase_below(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    xir_network *net = xir_rewriter_network(at);
    for (xir_op *op = m->root->next, *next; op && xir_op_is(op, xir_relu_class()); op = next) {
        next = op->next;
        if (xir_value_replace(xir_op_output(op, 0), xir_op_output(m->root, 0)) || xir_op_erase(op))
            return XIR_REWRITE_FAILED;
    }
    xir_op *root = m->root,
            *tanh = xir_add_tanh(xir_match_at(m), (xir_tanh_in){ .input = xir_match_value(m, 0) }, NULL);
    xir_value_replace(xir_op_output(root, 0), xir_op_output(tanh, 0));
    return xir_network_remove(net, root) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

static void a_callback_may_erase_the_next_op(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) } };
    OPEN(below, rows);
    for (int length = 1; length < 200; length += 33) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *x = xir_input(at, "x", FP32("*", 4));
        for (int i = 0; i < 3 * length; i++) {
            x = i % length ? XIR_RELU(at, x) : XIR_OP(at, neg, .input = x);
        }
        xir_output(at, XIR_VALUES(x));
        rule(&below, erase_below, NULL);
        size_t n = rewrite(net);
        assert_int_equal(n, length == 1 ? 0 : 3);
        assert_int_equal(xir_network_op_count(net), length == 1 ? 5 : 8);
        xir_network_free(net);
        forget_rules();
    }
}

/* Makes ops far away, which fit. */
static xir_verdict make_at_start(xir_rewriter *at, const xir_match *m, const void *user) {
    int *left = *(int *const *)user;
    xir_network *net = xir_rewriter_network(at);
    if (!(*left)--) return XIR_REWRITE_LEFT;
    xir_at start = { .net = net, .before = xir_op_next(xir_network_first(net)), .name = XIR_STR("new") };
    xir_value *x = xir_op_output(xir_network_first(net), 0);
    xir_op *one = xir_add_relu(start, (xir_relu_in){ .input = x }, NULL);
    start.before = xir_op_next(one);
    xir_add_relu(start, (xir_relu_in){ .input = xir_op_output(one, 0) }, NULL);
    return (void)m, XIR_REWRITE_DONE;
}

static void ops_made_far_away_are_found(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(0) } };
    OPEN(tanhs, rows);
    int left = 1, *counter = &left;
    rule(&tanhs, make_at_start, &counter);
    rule(&relus, keep_first, NULL);
    BECOMES("x: 2 3; a = Neg x; b = Neg a; c = Tanh b; out c", "%4 = ReLU x; a = Neg x; b = Neg a; c = Tanh b; out c", 2);
}

/* Changes an op that has nothing to do with the match. */
static xir_verdict rewire(xir_rewriter *at, const xir_match *m, const void *user) {
    const bool *telling = user;
    xir_network *net = xir_rewriter_network(at);
    xir_op *far = xir_network_op_by_name(net, XIR_STR("far")), *near = xir_network_op_by_name(net, XIR_STR("near"));
    (void)m;
    if (!far || xir_op_input(far, 0) == xir_op_output(near, 0)) return XIR_REWRITE_LEFT;
    if (xir_op_set_input(far, 0, xir_op_output(near, 0))) return XIR_REWRITE_FAILED;
    if (*telling) xir_rewriter_touch(at, far);
    return XIR_REWRITE_DONE;
}

static void touched_ops_are_visited_again(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(0) } };
    OPEN(tanhs, rows);
    bool yes = true;
    rule(&tanhs, rewire, &yes);
    rule(&relus, keep_first, NULL);
    BECOMES("x: 2 3; near = ReLU x; far = ReLU x; t = Tanh far; u = Tanh x; out near t u",
            "near = ReLU x; far = ReLU near; t = Tanh far; u = Tanh x; out near t u", 1);   /* near has other uses */
    rule(&tanhs, rewire, &yes);
    static const xir_pattern_row open_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1) },
    };
    OPEN(open, open_rows);
    rule(&open, keep_first, NULL);
    BECOMES("x: 2 3; near = ReLU x; far = ReLU x; t = Neg far; u = Tanh x; out near t u", "far = ReLU x; t = Neg far; u = Tanh x; out far t u", 2);
}

/* All users of a touched op are visited again, however many there are. */
static bool is_the_one(const xir_op *op, void *user) {
    return (void)user, xir_str_equal(xir_op_name(op), XIR_STR("the one"));
}

static void many_users_are_visited_again(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(0) } };
    static const xir_pattern_row three_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1) },
        { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(2), .where = is_the_one },
    };
    OPEN(tanhs, rows);
    OPEN(three, three_rows);
    bool yes = true;
    /* the first op is the last in the list of uses; later ones are not */
    for (int users = 1; users < 40; users++) {
        xir_network *net = story_net("x: 2 3; near = ReLU x; far = ReLU x; t = Tanh x; out near t");
        xir_at at = { .net = net, .before = story_op(net, "t") };
        for (int i = 0; i < users; i++) {
            at.name = i == users / 20 * 19 ? XIR_STR("the one") : XIR_STR("another");
            xir_add_neg(at, (xir_neg_in){ .input = xir_op_output(xir_network_op_by_name(net, XIR_STR("far")), 0) },
                        NULL);
        }
        rule(&tanhs, rewire, &yes);
        rule(&three, to_silu, NULL);
        assert_int_equal(rewrite(net), 2);
        xir_network_free(net);
        forget_rules();
    }
}

/* An op of the match that stays and is changed has users that nobody looked at again otherwise. */
static xir_verdict bend_relu(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *relu = xir_match_op(m, 1);
    if (xir_relu_of(relu)->alpha == 0.5) return XIR_REWRITE_LEFT;
    return xir_op_set_real(relu, "alpha", 0.5) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
}

static void ops_of_the_match_may_change_and_stay(void **state) {
    (void)state;
    static const xir_pattern_row bend_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(1) },
    };
    static const xir_pattern_row bent_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0), XIR_ROW_ATTRS(XIR_ATTR_REAL("alpha", 0.5)) },
        { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(1) },
    };
    OPEN(bend, bend_rows);
    OPEN(bent, bent_rows);
    rule(&bend, bend_relu, NULL);
    rule(&bent, to_silu, NULL);
    BECOMES("x: 2 3; r = ReLU x; s = Sigmoid r; t = Tanh r; out s t", "r = ReLU x [alpha=0.5]; s = SiLU x; t = Tanh r; out s t", 2);
    /* Also as far down as the pattern is deep. */
    static const xir_pattern_row far_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0), XIR_ROW_ATTRS(XIR_ATTR_REAL("alpha", 0.5)) },
        { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(1) }, { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(2) },
        { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(3) },
    };
    OPEN(far, far_rows);
    rule(&bend, bend_relu, NULL);
    rule(&far, to_silu, NULL);
    BECOMES("x: 2 3; r = ReLU x; a = Neg r; b = Neg a; s = Sigmoid b; t = Tanh r; out s t", "r = ReLU x [alpha=0.5]; s = SiLU x; t = Tanh r; out s t", 2);
}

/* Params that stand for what was computed, which their users may match now. */
static xir_verdict to_params(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    xir_value *old = xir_match_value(m, 1);
    const float zeros[6] = { 0 };
    return xir_match_replace(m, xir_params_copy(xir_rewriter_network(at), xir_value_name(old), xir_value_type(old),
                                                zeros, sizeof zeros));
}

static void params_replace_a_value(void **state) {
    (void)state;
    static const xir_pattern_row rows[] =
        { { XIR_ROW_PARAMS }, { XIR_ROW_ANY_OP, .traits = XIR_TRAIT_ACTIVATION, XIR_ROW_INPUTS(0) } };
    OPEN(constants, rows);
    rule(&constants, to_params, NULL);
    BECOMES("x: 2 3; p: params 2 3; a = ReLU p; b = Tanh a; c = Neg b; y = Add x c; out y", "y = Add x c; out y", 3);
}

/* The same after all ops have been looked at: what stands there then is Params, and all below follow one by one. */
static xir_verdict feed_constant(xir_rewriter *at, const xir_match *m, const void *user) {
    xir_op *far = xir_network_op_by_name(xir_rewriter_network(at), XIR_STR("far"));
    (void)user;
    if (xir_op_set_input(far, 0, xir_match_value(m, 1))) return XIR_REWRITE_FAILED;
    xir_rewriter_touch(at, far);
    return xir_match_replace(m, xir_match_value(m, 0));
}

static void params_replace_a_value_later(void **state) {
    (void)state;
    static const xir_pattern_row rows[] =
        { { XIR_ROW_PARAMS }, { XIR_ROW_ANY_OP, .traits = XIR_TRAIT_ACTIVATION, XIR_ROW_INPUTS(0) } };
    static const xir_pattern_row feed_rows[] = { { XIR_ROW_ANY }, { XIR_ROW_PARAMS },
                                                 { XIR_ROW_OP(xir_maximum_class), XIR_ROW_INPUTS(0, 1) } };
    OPEN(constants, rows);
    OPEN(feed, feed_rows);
    rule(&constants, to_params, NULL);
    rule(&feed, feed_constant, NULL);
    BECOMES("x: 2 3; p: params 2 3; far = ReLU x; a = Tanh far; b = Neg a; c = Neg b; d = Neg c; y = Add x d; z = Maximum x p; out y z",
            "y = Add x d; out y x", 6);
}

/* ---- replacing -------------------------------------------------------------------------------------------------- */

/* The new value has other dims than the old: the rule is not applied, and says so once. */
static xir_verdict to_flat(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at;
    const int64_t *dims = user;
    xir_value *flat = XIR_OP(xir_match_at(m), reshape, .input = xir_match_value(m, 0),
                             .attrs = XIR_ATTRS(reshape, (shape, { dims, 1 }), (layout, xir_layout_default(ctx, 1))));
    return xir_match_replace(m, flat);
}

static void another_type_is_refused_with_a_sentence(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) } };
    OPEN(to_one_dim, rows);
    static const int64_t six = 6;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU a; out b");
    rule(&to_one_dim, to_flat, &six);
    assert_int_equal(rewrite(net), 0);
    assert_int_equal(xir_diags_count(why), 1);
    const xir_diag *said = xir_diags_at(why, 0);
    assert_int_equal(said->severity, XIR_NOTE);
    CHECK_STR(said->message, "pattern 'to_one_dim' was not rewritten at icraft::xir::ReLU 'a' (op 1): expected a value "
                             "of type @fp(32) ** [2,3], found @fp(32) * [6]");
    xir_diags_clear(why);
    CHECK_STORY(net, "a = ReLU x; b = ReLU a; out b");
    forget_rules();
    xir_network_free(net);
}

static void names_go_to_what_is_new(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_copy_class), XIR_ROW_INPUTS(0) } };
    OPEN(copies, rows);
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Copy a; out b");
    xir_pattern *p = xir_pattern_new(ctx, &copies, why);
    xir_match m = { 0 };
    assert_true(xir_pattern_next(p, net, &m));
    /* a value that the match reads keeps its name */
    assert_int_equal(xir_match_replace(&m, xir_match_value(&m, 0)), XIR_REWRITE_DONE);
    CHECK_STORY(net, "a = ReLU x; out a");
    xir_pattern_free(p);
    xir_network_free(net);
    net = story_net("x: 2 3; a = ReLU x; b = ReLU a; out b");
    p = xir_pattern_new(ctx, &relus, why);
    m = (xir_match){ 0 };
    assert_true(xir_pattern_next(p, net, &m));
    xir_at at = xir_match_at(&m);
    CHECK_STR(at.name, "b");
    assert_ptr_equal(at.before, m.root);
    assert_int_equal(xir_match_replace(&m, NULL), XIR_REWRITE_FAILED);
    xir_op *other = xir_add_reshape(at, (xir_reshape_in){ .input = xir_match_value(&m, 0) },
                                    XIR_ATTRS(reshape, (shape, XIR_I64S(6)), (layout, xir_layout_default(ctx, 1))));
    /* of another type: it goes again */
    assert_int_equal(xir_match_replace(&m, xir_op_output(other, 0)), XIR_REWRITE_LEFT);
    CHECK_STORY(net, "a = ReLU x; b = ReLU a; out b");
    /* by itself: only unused ops are erased */
    assert_int_equal(xir_match_replace(&m, xir_match_value(&m, 2)), XIR_REWRITE_DONE);
    CHECK_STORY(net, "a = ReLU x; b = ReLU a; out b");
    CHECK_SOUND(net);
    xir_pattern_free(p);
    xir_network_free(net);
}

/* ---- random ----------------------------------------------------------------------------------------------------- */

static xir_verdict keep_input(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, xir_match_replace(m, xir_match_value(m, 0));
}

static xir_verdict to_tanh(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *now = xir_add_tanh(xir_match_at(m), (xir_tanh_in){ .input = xir_match_value(m, 0) }, NULL);
    return xir_match_replace(m, xir_op_output(now, 0));
}

/* Finally nothing matches any more: no op was forgotten. Each rule makes the network smaller, so it terminates. */
static void finally_nothing_matches(void **state) {
    (void)state;
    static const xir_pattern_row negs_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(0) },
        { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(1) } };
    static const xir_pattern_row same_rows[] =
        { { XIR_ROW_ANY }, { XIR_ROW_OP(xir_maximum_class), XIR_ROW_INPUTS(0, 0) } };
    static const xir_pattern_row lone_rows[] = {
        { XIR_ROW_ANY, .uses = 1 }, { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(0) },
        { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(1) } };
    static const xir_pattern_row deep_rows[] = {
        { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) }, { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(1), .optional = true },
        { XIR_ROW_OP(xir_tanh_class, xir_sigmoid_class), XIR_ROW_INPUTS(2) }, { XIR_ROW_OP(xir_maximum_class), XIR_ROW_INPUTS(3, 0), .commutes = true },
    };
    OPEN(negs, negs_rows);
    OPEN(same, same_rows);
    CLOSED(lone, lone_rows);
    CLOSED(deep, deep_rows);
    const xir_pattern_decl *decls[] = { &negs, &same, &lone, &deep, &silu, &relus };
    xir_rewrite_fn *fns[] = { keep_input, keep_input, to_tanh, to_tanh, to_silu, keep_first };
    static const xir_class_decl *(*const unary[])(void) = { xir_relu_class, xir_sigmoid_class, xir_neg_class,
                                                            xir_tanh_class };
    static const xir_class_decl *(*const binary[])(void) = { xir_multiply_class, xir_maximum_class };
    size_t total = 0;
    for (int i = 0; i < 3000; i++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *values[80];
        size_t n = 0;
        values[n++] = xir_input(at, "x", FP32("*", 4));
        for (uint64_t k = 5 + chance(60); k; k--) {
            xir_value *a = values[n - 1 - chance(n < 5 ? n : 5)],
                       *b = values[chance(3) ? n - 1 - chance(n < 3 ? n : 3) : chance(n)];
            xir_op *op = chance(5) < 3 ? xir_op_build(at, unary[chance(4)](), &(xir_relu_in){ .input = a }, NULL)
                                       : xir_op_build(at, binary[chance(2)](),
                                                      &(xir_add_in){ .lhs = a, .rhs = b }, NULL);
            values[n++] = xir_op_output(op, 0);
        }
        xir_output(at, chance(2) ? XIR_VALUES(values[n - 1]) : XIR_VALUES(values[n - 1], values[chance(n)]));
        for (size_t r = 0; r < COUNT(decls); r++) {
            if (chance(4)) rule(decls[r], fns[r], NULL);
        }
        total += rewrite(net);
        for (size_t r = 0; r < n_rules; r++) {
            xir_match m = { 0 };
            if (xir_pattern_next(rules[r].pattern, net, &m)) {
                fail_msg("case %d: pattern '%s' still matches op %d", i, xir_pattern_name(rules[r].pattern),
                         (int)xir_op_id(m.root));
            }
        }
        xir_network_free(net);
        forget_rules();
    }
    if (total < 5000) fail_msg("%zu rewrites: too few for a conclusion", total);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void rewriting(want *w) {
    xir_pattern *one, *two;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "x: 2 3; s = Sigmoid x; y = Multiply s x; a = Neg y; b = Neg a; c = ReLU b; d = ReLU c; out d y"));
    TRY_MAKE(w, one, xir_pattern_new(w->ctx, &silu, w->why));
    TRY_MAKE(w, two, xir_pattern_new(w->ctx, &up, w->why));
    const xir_rule both[] = { { one, to_silu, NULL }, { two, exchange, NULL } };
    TRY_LOOSELY(w, xir_network_rewrite(w->net, both, 2, sizeof *both, 0, NULL, w->why));
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK));   /* ops that failures left unused */
    w->result = malloc(20);
    snprintf(w->result, 20, "%zu ops", xir_network_op_count(w->net));
    xir_pattern_free(one);
    xir_pattern_free(two);
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("rewriting", rewriting, false);
}

#define STORY(f) cmocka_unit_test_teardown(f, end)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(rewriting_goes_on_until_nothing_matches),
        STORY(any_op_may_make_an_input_of_the_root),
        STORY(rules_feed_each_other),
        STORY(fewer_uses_are_noticed),
        STORY(a_rewrite_without_effect_is_not_repeated_forever),
        STORY(chains_take_linear_time),
        STORY(a_hub_is_not_visited_again_and_again),
        STORY(constants_are_hubs_too),
        STORY(the_limit_is_an_error_that_names_the_pattern),
        STORY(a_callback_can_stop_it),
        STORY(a_failure_has_the_finding_of_the_network),
        STORY(more_than_64_rules_are_refused),
        STORY(a_callback_may_erase_the_next_op),
        STORY(ops_made_far_away_are_found),
        STORY(touched_ops_are_visited_again),
        STORY(many_users_are_visited_again),
        STORY(ops_of_the_match_may_change_and_stay),
        STORY(params_replace_a_value),
        STORY(params_replace_a_value_later),
        STORY(names_go_to_what_is_new),
        STORY(another_type_is_refused_with_a_sentence),
        STORY(finally_nothing_matches),
        STORY(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
