/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Search and rewriting in a view: all ops of a match lie in it, new ops join it, and what lies outside stays. */
#include <string.h>
#include "support/often.h"
#include "support/scarce.h"
#include "support/story.h"
#include <xir/pattern.h>
#include <xir/icraft.h>

#define CHAIN "x: 2 3; a = ReLU x; b = ReLU a; c = ReLU b; d = Tanh c; e = ReLU d; f = ReLU e; out f"

static size_t asked;
static bool count_asking(const xir_op *op, void *user) { return (void)op, (void)user, ++asked > 0; }

/* relu(relu(x)) -> relu(x) */
static const xir_pattern_row relus_rows[] = {
    { XIR_ROW_ANY }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) },
    { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1), .where = count_asking },
};
static const xir_pattern_decl relus = { XIR_PATTERN_HEAD("relus", relus_rows), .closed = true };
static xir_verdict keep_first(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, xir_match_replace(m, xir_match_value(m, 1));
}

static xir_pattern *make(const xir_pattern_decl *decl) {
    xir_pattern *p = xir_pattern_new(ctx, decl, why);
    assert_non_null(p);
    return p;
}

/* A view of the ops from one name to another. */
static xir_view *from_to(xir_network *net, const char *first, const char *last) {
    xir_view *view = xir_view_id_range(net, xir_op_id(story_op(net, first)), xir_op_id(story_op(net, last)));
    assert_non_null(view);
    return view;
}

/* The roots of all matches in a view, "b c". */
static void roots_are(const char *story, const char *first, const char *last, const xir_pattern_decl *decl,
                      const char *expected) {
    xir_network *net = story_net(story);
    xir_view *view = from_to(net, first, last);
    xir_pattern *p = make(decl);
    char found[200] = "";
    xir_match m = { 0 };
    while (xir_pattern_next_in(p, view, &m)) {
        snprintf(found + strlen(found), 20, "%s%.*s", *found ? " " : "", (int)xir_op_name(m.root).size,
                 xir_op_name(m.root).data);
        xir_match again = { 0 };
        assert_true(xir_pattern_match_in(p, view, m.root, &again));
        assert_memory_equal(again.ops, m.ops, 3 * sizeof *m.ops);
    }
    assert_string_equal(found, expected);
    assert_null(m.root);
    xir_pattern_free(p);
    xir_view_free(view);
    xir_network_free(net);
}

static void all_ops_of_a_match_are_in_the_view(void **state) {
    (void)state;
    roots_are(CHAIN, "a", "f", &relus, "b c f");
    roots_are(CHAIN, "b", "f", &relus, "c f");
    roots_are(CHAIN, "b", "e", &relus, "c");
    roots_are(CHAIN, "c", "e", &relus, "");
}

/* An alternative or an optional op outside does not count, so another way is found. */
static void other_ways_are_tried(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY },
        [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0), .optional = true },
        [2] = { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(1) },
    };
    static const xir_pattern_decl optional = { XIR_PATTERN_HEAD("optional", rows) };
    xir_network *net = story_net(CHAIN);
    xir_pattern *p = make(&optional);
    xir_view *with = from_to(net, "c", "d"), *without = from_to(net, "d", "d");
    xir_match m = { 0 };
    assert_true(xir_pattern_next_in(p, with, &m));
    assert_ptr_equal(xir_match_op(&m, 1), story_op(net, "c"));
    m = (xir_match){ 0 };
    assert_true(xir_pattern_next_in(p, without, &m));
    assert_null(xir_match_op(&m, 1));
    assert_ptr_equal(xir_match_value(&m, 0), story_value(net, "c"));   /* a value from outside */
    assert_false(xir_pattern_match_in(p, without, NULL, &m));
    xir_view_free(with);
    xir_view_free(without);
    xir_pattern_free(p);
    xir_network_free(net);
}

/* ---- rewriting -------------------------------------------------------------------------------------------------- */

static void rewrites(const char *before, const char *first, const char *last, const xir_pattern_decl *decl,
                     xir_rewrite_fn *fn, const char *after, size_t times, const char *left) {
    xir_network *net = story_net(before);
    xir_view *view = from_to(net, first, last);
    xir_pattern *p = make(decl);
    const xir_rule rule = { p, fn, NULL };
    size_t n = 7;
    DOES(xir_view_rewrite(view, &rule, 1, sizeof rule, 0, &n, why));
    assert_int_equal(n, times);
    CHECK_STORY(net, after);
    CHECK_SOUND(net);
    char found[200] = "";
    assert_false(xir_view_is_stale(view));
    for (const xir_op *op = xir_view_first(view); op; op = xir_view_next(view, op))
        snprintf(found + strlen(found), 20, "%s%.*s", *found ? " " : "", (int)xir_op_name(op).size,
                 xir_op_name(op).data);
    assert_string_equal(found, left);
    xir_match m = { 0 };
    assert_false(xir_pattern_next_in(p, view, &m));
    xir_pattern_free(p);
    xir_view_free(view);
    xir_network_free(net);
}

static void only_what_lies_in_the_view_is_rewritten(void **state) {
    (void)state;
    rewrites(CHAIN, "a", "f", &relus, keep_first, "c = ReLU x; d = Tanh c; f = ReLU d; out f", 3, "a d e");
    rewrites(CHAIN, "b", "e", &relus, keep_first, "a = ReLU x; c = ReLU a; d = Tanh c; e = ReLU d; f = ReLU e; out f", 1, "b d e");
    rewrites(CHAIN, "d", "e", &relus, keep_first, "a = ReLU x; b = ReLU a; c = ReLU b; d = Tanh c; e = ReLU d; f = ReLU e; out f", 0, "d e");
}

/* relu(neg(x)) -> neg(relu(x)): two new ops, which match again. */
static const xir_pattern_row up_rows[] = {
    { XIR_ROW_ANY }, { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(0) },
    { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1), .where = count_asking },
};
static const xir_pattern_decl up = { XIR_PATTERN_HEAD("up", up_rows), .closed = true };
static xir_verdict exchange(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_at cursor = xir_match_at(m);
    cursor.name = XIR_STR("n");
    xir_value *relu = XIR_OP(cursor, relu, .input = xir_match_value(m, 0));
    return xir_match_replace(m, XIR_OP(cursor, neg, .input = relu));
}

static void new_ops_are_in_the_view(void **state) {
    (void)state;
    rewrites("x: 2 3; a = Neg x; b = Neg a; c = Neg b; d = ReLU c; out d", "a", "d", &up, exchange,
             "%9 = ReLU x; %10 = Neg %9; %8 = Neg %10; d = Neg %8; out d", 3, "n n n n");
    rewrites("x: 2 3; a = Neg x; b = Neg a; c = Neg b; d = ReLU c; out d", "b", "d", &up, exchange,
             "a = Neg x; %7 = ReLU a; %8 = Neg %7; d = Neg %8; out d", 2, "n n n");
}

static void the_cost_is_that_of_the_view(void **state) {
    (void)state;
    enum { N = 20000, PART = 100 };
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    for (int i = 0; i < N; i++) x = XIR_RELU(at, x);
    xir_output(at, XIR_VALUES(x));
    xir_view *view = xir_view_range(net, N / 2, N / 2 + PART);
    xir_pattern *p = make(&relus);
    const xir_rule rule = { p, keep_first, NULL };
    size_t n;
    asked = 0;
    DOES(xir_view_rewrite(view, &rule, 1, sizeof rule, 0, &n, why));
    assert_int_equal(n, PART - 1);
    assert_int_equal(xir_view_op_count(view), 1);
    if (asked > 4 * PART) fail_msg("%zu questions for %d ops", asked, PART);
    xir_pattern_free(p);
    xir_view_free(view);
    xir_network_free(net);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static xir_view *busy;

static xir_verdict uses_the_view(xir_rewriter *at, const xir_match *m, const void *user) {
    const xir_rule rule = { m->pattern, keep_first, NULL };
    (void)user;
    assert_int_equal(xir_view_rewrite(busy, &rule, 1, sizeof rule, 0, NULL, why), XIR_E_IN_USE);
    check_finding(XIR_E_IN_USE, "runs on the view already");
    assert_int_equal(xir_view_renew(busy), XIR_E_IN_USE);
    xir_network_clear_status(xir_rewriter_network(at));
    return XIR_REWRITE_LEFT;
}

static void views_that_cannot_be_rewritten_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net(CHAIN);
    xir_pattern *p = make(&relus);
    xir_rule rule = { p, uses_the_view, NULL };
    size_t n = 7;
    busy = from_to(net, "a", "f");
    DOES(xir_view_rewrite(busy, &rule, 1, sizeof rule, 0, &n, why));
    assert_int_equal(n, 0);
    DOES(xir_op_set_name(story_op(net, "a"), XIR_STR("other")));
    rule.rewrite = keep_first;
    n = 7;
    assert_int_equal(xir_view_rewrite(busy, &rule, 1, sizeof rule, 0, &n, why), XIR_E_STALE);
    check_finding(XIR_E_STALE, "the network has been changed since the view was made");
    assert_int_equal(n, 0);
    xir_match m = { 0 };
    assert_false(xir_pattern_next_in(p, busy, &m));
    assert_false(xir_pattern_match_in(p, busy, story_op(net, "c"), &m));
    assert_int_equal(xir_view_rewrite(NULL, &rule, 1, sizeof rule, 0, &n, why), XIR_E_MISSING);
    xir_diags_clear(why);
    DOES(xir_view_renew(busy));
    assert_int_equal(xir_view_rewrite(busy, &rule, 1, sizeof rule, 1, &n, why), XIR_E_LIMIT);
    check_finding(XIR_E_LIMIT, "pattern 'relus' reached the limit of 1 rewrites");
    assert_int_equal(n, 1);
    assert_int_equal(xir_view_op_count(busy), 5);   /* renewed after the failure, too */
    assert_int_equal(xir_view_rewrite(busy, &rule, XIR_RULES + 1, sizeof rule, 0, &n, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_view_free(busy);
    xir_pattern_free(p);
    xir_network_free(net);
}

/* ---- random ----------------------------------------------------------------------------------------------------- */

static bool pick(const xir_op *op, void *user) { return ((const bool *)user)[xir_op_slot(op)]; }

/* Ops outside keep class, attributes and place; the result computes the same; and in the end nothing in the view
 * matches, though outside it may. */
static void what_lies_outside_stays(void **state) {
    (void)state;
    const xir_class_decl *(*const unary[])(void) = { xir_relu_class, xir_neg_class };
    size_t total = 0;
    for (int i = 0; i < OFTEN(3000); i++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *values[40];
        size_t n = 0, rewritten;
        bool in[80] = { false };
        values[n++] = xir_input(at, "x", FP32("*", 4));
        for (uint64_t k = 5 + chance(30); k; k--) {
            xir_value *a = values[n - 1 - chance(n < 3 ? n : 3)];
            xir_op *op = xir_op_build(at, unary[chance(2)](), &(xir_relu_in){ .input = a }, NULL);
            values[n++] = xir_op_output(op, 0);
            in[xir_op_slot(op)] = chance(4) > 0;
        }
        xir_output(at, XIR_VALUES(values[n - 1], values[chance(n)]));
        xir_network *was = xir_network_clone(net);
        const uint32_t slots = xir_network_slot_count(net);
        xir_op *outside[40];
        size_t n_outside = 0;
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            if (!in[xir_op_slot(op)]) outside[n_outside++] = op;
        }
        xir_view *view = xir_view_if(net, pick, in);
        xir_pattern *one = make(&relus), *two = make(&up);
        const xir_rule rules[] = { { one, keep_first, NULL }, { two, exchange, NULL } };
        const size_t n_rules = 1 + i % 2;   /* the second changes numbers */
        DOES(xir_view_rewrite(view, rules, n_rules, sizeof *rules, 0, &rewritten, why));
        total += rewritten;
        for (size_t k = 0; k < n_outside; k++) {
            if (xir_op_is_erased(outside[k])) fail_msg("case %d: an op outside has been erased", i);
            if (xir_view_has(view, outside[k])) fail_msg("case %d: an op outside has joined the view", i);
            if (k && xir_network_index_of(net, outside[k - 1]) > xir_network_index_of(net, outside[k]))
                fail_msg("case %d: ops outside have changed places", i);
        }
        size_t members = 0;
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
            members += xir_op_slot(op) >= slots || in[xir_op_slot(op)];
        assert_int_equal(xir_view_op_count(view), members);
        for (size_t r = 0; r < n_rules; r++) {
            xir_match m = { 0 };
            if (xir_pattern_next_in(rules[r].pattern, view, &m)) fail_msg("case %d: rule %zu still matches", i, r);
        }
        if (i % 10 == 0) CHECK_SAME_NUMBERS(was, net);
        CHECK_SOUND(net);
        xir_view_free(view);
        xir_pattern_free(one);
        xir_pattern_free(two);
        xir_network_free(was);
        xir_network_free(net);
    }
    if (total < (size_t)OFTEN(2000)) fail_msg("%zu rewrites: too few for a conclusion", total);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* After a failure the view may be stale. */
static xir_status rewrite_renewed(want *w, xir_view *view, const xir_rule *rule) {
    IN_PLENTY(w, assert_int_equal(xir_view_renew(view), XIR_OK));
    return xir_view_rewrite(view, rule, 1, sizeof *rule, 0, NULL, w->why);
}

static void rewriting(want *w) {
    xir_pattern *p;
    xir_view *view;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "x: 2 3; a = Neg x; b = Neg a; c = ReLU b; d = ReLU c; out d"));
    TRY_MAKE(w, p, xir_pattern_new(w->ctx, &up, w->why));
    TRY_MAKE(w, view, xir_view_range(w->net, 1, -1));
    const xir_rule rule = { p, exchange, NULL };
    TRY_LOOSELY(w, rewrite_renewed(w, view, &rule));
    assert_false(xir_view_is_stale(view));
    xir_view_free(view);
    xir_pattern_free(p);
    /* ops that failures left unused */
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK));
    w->result = malloc(20);
    snprintf(w->result, 20, "%zu ops", xir_network_op_count(w->net));
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("rewriting a view", rewriting, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ops_of_a_match_are_in_the_view),
        cmocka_unit_test(other_ways_are_tried),
        cmocka_unit_test(only_what_lies_in_the_view_is_rewritten),
        cmocka_unit_test(new_ops_are_in_the_view),
        cmocka_unit_test(the_cost_is_that_of_the_view),
        cmocka_unit_test(views_that_cannot_be_rewritten_are_refused),
        cmocka_unit_test(what_lies_outside_stays),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
