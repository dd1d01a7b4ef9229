/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Replacing several outputs of a match: which uses move, what is erased, what must move after the new op, and
 * replacements that are refused. */
#include <string.h>
#include "support/often.h"
#include "support/scarce.h"
#include "support/story.h"
#include <xir/pattern.h>

/* a = relu(x), b = neg(a): one op with both outputs stands for the group. */
enum { X, A, B };
static const xir_pattern_row pair_rows[] = {
    [X] = { XIR_ROW_ANY }, [A] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(X) },
    [B] = { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(A) },
};
static const xir_pattern_decl pair = { XIR_PATTERN_HEAD("pair", pair_rows) };

/* An op with two outputs of these types. */
static xir_op *two_of(xir_at at, xir_value *x, const xir_type *first, const xir_type *second) {
    const xir_type *types[] = { first, second };
    xir_context *own = xir_network_context(at.net);
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(own, xir_hard_op_class()),
                                      .id = XIR_NO_ID, .inputs = &x, .n_inputs = 1, .types = types, .n_types = 2,
                                      .before = at.before, .name = at.name);
    return xir_network_add(at.net, &desc);
}

static xir_verdict to_two(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    const xir_type *type = xir_value_type(xir_match_value(m, A));
    xir_op *now = two_of(xir_match_at(m), xir_match_value(m, X), type, type);
    return xir_match_replace_outputs(m, (const xir_replacement[]){ { xir_match_value(m, A), xir_op_output(now, 0) },
                                                                   { xir_match_value(m, B), xir_op_output(now, 1) } },
                                     2);
}

/* The order and operands by name: "x>a,b a>c b>out". */
static void edges_are(const xir_network *net, const char *expected, int line) {
    char found[500] = "";
    for (const xir_op *op = xir_op_next(xir_network_first(net)); op; op = xir_op_next(op)) {
        char *end = found + strlen(found);
        end += sprintf(end, "%s", *found ? " " : "");
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            xir_str name = xir_value_name(xir_op_input(op, i));
            end += sprintf(end, "%s%.*s", i ? "," : "", (int)name.size, name.data);
        }
        end += sprintf(end, ">");
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            xir_str name = xir_value_name(xir_op_output(op, (int64_t)i));
            end += sprintf(end, "%s%.*s", i ? "," : "", (int)name.size, name.data);
        }
    }
    if (strcmp(found, expected) != 0) fail_msg("line %d: expected '%s', found '%s'", line, expected, found);
}

static size_t rewrite(xir_network *net, const xir_pattern_decl *decl, xir_rewrite_fn *fn, const void *user) {
    xir_pattern *p = xir_pattern_new(ctx, decl, why);
    assert_non_null(p);
    const xir_rule rule = { p, fn, user };
    size_t n;
    DOES(xir_network_rewrite(net, &rule, 1, sizeof rule, 0, &n, why));
    CHECK_SOUND(net);
    xir_pattern_free(p);
    return n;
}

static void becomes(const char *before, const char *after, size_t times, int line) {
    xir_network *net = story_net(before);
    const size_t n = rewrite(net, &pair, to_two, NULL);
    if (n != times) fail_msg("line %d: %zu rewrites", line, n);
    edges_are(net, after, line);
    xir_network_free(net);
}
#define BECOMES(before, after, times) becomes(before, after, times, __LINE__)

static void a_group_becomes_one_op_with_several_outputs(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = ReLU x; b = Neg a; c = Tanh a; d = Tanh b; out c d a", "x>a,b a>c b>d c,d,a>", 1);
    BECOMES("x: 2 3; a = ReLU x; b = Neg a; out b", "x>a,b b>", 1);   /* the inner output has no other uses */
    BECOMES("x: 2 3; a = ReLU x; b = Neg a; e = ReLU b; f = Neg e; out f a", "x>a,b b>e,f f,a>", 2);
}

static void users_between_the_ops_move_after_the_new_one(void **state) {
    (void)state;
    BECOMES("x: 2 3; a = ReLU x; c = Tanh a; d = Tanh c; e = Tanh x; b = Neg a; out b d e",
            "x>e x>a,b a>c c>d b,d,e>", 1);
    /* in their order, whatever the order of uses */
    BECOMES("x: 2 3; a = ReLU x; c = Tanh a; d = Add c a; e = Add a d; b = Neg a; out b e",
            "x>a,b a>c c,a>d a,d>e b,e>", 1);
}

/* A value of the match that the list does not name is kept for its users. */
static xir_verdict only_inner(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_at cursor = xir_match_at(m);
    cursor.name = XIR_STR("t");
    const xir_replacement one = { xir_match_value(m, A), XIR_OP(cursor, tanh, .input = xir_match_value(m, X)) };
    return xir_match_replace_outputs(m, &one, 1);
}

static void uses_inside_the_match_stay(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [X] = { XIR_ROW_ANY }, [A] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(X), .uses = 2 },
        [B] = { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(A) },
    };
    static const xir_pattern_decl twice = { XIR_PATTERN_HEAD("twice", rows) };
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = Tanh a; out b c");
    assert_int_equal(rewrite(net, &twice, only_inner, NULL), 1);
    edges_are(net, "x>a x>a a>b a>c b,c>", __LINE__);
    assert_true(xir_op_is(xir_value_op(xir_op_input(xir_network_op_by_name(net, XIR_STR("b")), 0)), xir_relu_class()));
    assert_true(xir_op_is(xir_value_op(xir_op_input(xir_network_op_by_name(net, XIR_STR("c")), 0)), xir_tanh_class()));
    xir_network_free(net);
}

/* By what the match reads, and by Params. */
static xir_verdict to_leaves(xir_rewriter *at, const xir_match *m, const void *user) {
    const float zeros[6] = { 0 };
    xir_value *b = xir_match_value(m, B);
    (void)user;
    const xir_replacement both[] = {
        { xir_match_value(m, A), xir_match_value(m, X) },
        { b, xir_params_copy(xir_rewriter_network(at), XIR_STR("zeros"), xir_value_type(b), zeros, sizeof zeros) },
    };
    return xir_match_replace_outputs(m, both, 2);
}

static void any_values_may_replace(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = Tanh a; d = Add b c; out d");
    assert_int_equal(rewrite(net, &pair, to_leaves, NULL), 1);
    edges_are(net, "x>c zeros,c>d d>", __LINE__);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

/* After a replacement by values that exist, users of both are visited again. */
static void users_of_all_outputs_are_visited_again(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [X] = { XIR_ROW_PARAMS }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(X) },
    };
    static const xir_pattern_decl constant = { XIR_PATTERN_HEAD("constant", rows) };
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; r = ReLU b; s = ReLU a; out r s");
    xir_pattern *one = xir_pattern_new(ctx, &constant, why), *two = xir_pattern_new(ctx, &pair, why);
    const xir_rule rules[] = { { one, only_inner, NULL }, { two, to_leaves, NULL } };
    xir_match m = { 0 };
    assert_false(xir_pattern_next(one, net, &m));
    size_t n;
    xir_rule first = rules[1];
    DOES(xir_network_rewrite(net, &first, 1, sizeof first, 0, &n, why));
    edges_are(net, "zeros>r x>s r,s>", __LINE__);
    assert_true(xir_pattern_next(one, net, &m));
    xir_pattern_free(one);
    xir_pattern_free(two);
    xir_network_free(net);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

/* u reads a and is read by the group: whatever reads u would have to run before what u reads. */
static const xir_pattern_row ring_rows[] = {
    [X] = { XIR_ROW_ANY }, [A] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(X) },
    [B] = { XIR_ROW_ANY }, [3] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(A, B) },
};
static const xir_pattern_decl ring = { XIR_PATTERN_HEAD("ring", ring_rows) };

static xir_verdict to_ring(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    const xir_type *type = xir_value_type(xir_match_value(m, A));
    xir_op *now = two_of(xir_match_at(m), xir_match_value(m, B), type, type);   /* reads what u makes */
    return xir_match_replace_outputs(m, (const xir_replacement[]){ { xir_match_value(m, A), xir_op_output(now, 0) },
                                                                   { xir_match_value(m, 3), xir_op_output(now, 1) } },
                                     2);
}

static void a_value_that_would_depend_on_itself_is_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; u = Tanh a; v = Neg u; s = Add a v; t = Add a x; out s");
    char *before = story_text(net);
    rewrite(net, &ring, to_ring, NULL);
    const xir_diag *said = xir_diags_at(why, 0);
    assert_int_equal(xir_diags_count(why), 1);   /* once */
    assert_int_equal(said->severity, XIR_NOTE);
    CHECK_STR(said->message, "pattern 'ring' was not rewritten at icraft::xir::Add 's' (op 4): what it makes would "
                             "depend on itself, through op 2");
    xir_diags_clear(why);
    char *after = story_text(net);
    assert_null(strstr(after, "HardOp v"));
    free(before);
    free(after);
    xir_network_free(net);
}

static xir_verdict to_other_types(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    const xir_type *type = xir_value_type(xir_match_value(m, A));
    xir_op *now = two_of(xir_match_at(m), xir_match_value(m, X), type, FP32("*", 4));
    return xir_match_replace_outputs(m, (const xir_replacement[]){ { xir_match_value(m, A), xir_op_output(now, 0) },
                                                                   { xir_match_value(m, B), xir_op_output(now, 1) } },
                                     2);
}

static void another_type_replaces_none(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = Tanh a; out b c");
    assert_int_equal(rewrite(net, &pair, to_other_types, NULL), 0);
    check_finding(XIR_E_TYPE, "was not rewritten at icraft::xir::Neg 'b' (op 2): expected a value of type @fp(32) ** "
                              "[2,3], found @fp(32) * [4]");
    CHECK_STORY(net, "a = ReLU x; b = Neg a; c = Tanh a; out b c");
    xir_network_free(net);
}

static void wrong_lists_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = Tanh a; out b c"), *other = small_net();
    xir_pattern *p = xir_pattern_new(ctx, &pair, why);
    xir_match m = { 0 };
    assert_true(xir_pattern_next(p, net, &m));
    xir_value *x = story_value(net, "x"), *a = story_value(net, "a"), *b = story_value(net, "b");
    xir_op *dead = xir_op_clone(story_op(net, "c"));
    xir_value *lost = xir_op_output(dead, 0);
    DOES(xir_op_erase(dead));
    const struct { xir_replacement list[2]; size_t n; xir_status code; const char *sentence; } rows[] = {
        { { { NULL, NULL } },                 0, XIR_E_MISSING, "list of replacements" },
        { { { NULL, x } },                    1, XIR_E_MISSING, "value to replace"     },
        { { { a, NULL } },                    1, XIR_E_MISSING, "replacement"          },
        { { { x, a } },                       1, XIR_E_INVALID, "value 0 to replace is not made by an op of the match" },
        { { { story_value(net, "c"), a } },   1, XIR_E_INVALID, "value 0 to replace is not made by an op of the match" },
        { { { value_of(other, 2), a } },      1, XIR_E_INVALID, "value 0 to replace is not made by an op of the match" },
        { { { b, x }, { b, x } },             2, XIR_E_INVALID, "value 1 to replace is listed twice" },
        { { { b, x }, { a, b } },             2, XIR_E_INVALID, "replacement 1 is itself replaced"   },
        { { { b, b } },                       1, XIR_E_INVALID, "replacement 0 is itself replaced"   },
        { { { b, value_of(other, 2) } },      1, XIR_E_INVALID, "replacement 0 is of another network" },
        { { { b, lost } },                    1, XIR_E_INVALID, "or of an erased op" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        refusal r = refusal_begin(net, __FILE__, (int)i);
        assert_int_equal(xir_match_replace_outputs(&m, rows[i].list, rows[i].n), XIR_REWRITE_FAILED);
        refusal_end(&r, rows[i].code, rows[i].code, rows[i].sentence);
    }
    xir_pattern_free(p);
    xir_network_free(net);
    xir_network_free(other);
}

/* ---- names and random ------------------------------------------------------------------------------------------- */

/* Names are found after values have taken them. */
static void new_values_are_found_by_their_names(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = Tanh a; out b c");
    assert_ptr_equal(xir_value_op(xir_network_value_by_name(net, XIR_STR("a"))), story_op(net, "a"));   /* the table */
    assert_int_equal(rewrite(net, &pair, to_two, NULL), 1);
    const xir_value *a = xir_network_value_by_name(net, XIR_STR("a"));
    const xir_value *b = xir_network_value_by_name(net, XIR_STR("b"));
    assert_non_null(a);
    assert_ptr_equal(xir_value_op(a), xir_value_op(b));
    assert_int_equal(xir_value_index(b), 1);
    xir_network_free(net);
}

/* relu, neg -> two ops, the second of which is made of the first's result, so that the numbers can be compared. */
static xir_verdict the_same_again(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_at cursor = xir_match_at(m);
    cursor.name = XIR_STR("done");
    xir_value *a = XIR_OP(cursor, relu, .input = xir_match_value(m, X));
    xir_value *b = XIR_OP(cursor, neg, .input = a);
    return xir_match_replace_outputs(m, (const xir_replacement[]){ { xir_match_value(m, A), a },
                                                                   { xir_match_value(m, B), b } }, 2);
}

static bool is_not_done(const xir_op *op, void *user) {
    return (void)user, !xir_str_equal(xir_op_name(op), XIR_STR("done"));
}

/* In any network the order stays one in which every op runs after what it reads, and the numbers are the same. */
static void random_groups_are_replaced(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [X] = { XIR_ROW_ANY },
        [A] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(X), .where = is_not_done },
        [B] = { XIR_ROW_OP(xir_neg_class), XIR_ROW_INPUTS(A) },
    };
    static const xir_pattern_decl plain = { XIR_PATTERN_HEAD("plain", rows) };
    size_t total = 0;
    for (int i = 0; i < OFTEN(2000); i++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *v[40];
        size_t n = 0;
        v[n++] = xir_input(at, "x", FP32("*", 4));
        for (uint64_t k = 5 + chance(30); k; k--) {
            xir_value *a = v[n - 1 - chance(n < 6 ? n : 6)], *b = v[chance(n)];
            const uint64_t kind = chance(5);
            v[n++] = kind < 2 ? xir_build_relu(at, a, NULL) : kind < 4 ? XIR_OP(at, neg, .input = a)
                   : XIR_OP(at, add, .lhs = a, .rhs = b);
        }
        xir_output(at, XIR_VALUES(v[n - 1], v[chance(n)], v[chance(n)]));
        xir_network *was = xir_network_clone(net);
        total += rewrite(net, &plain, the_same_again, NULL);
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            for (size_t k = 0; k < xir_op_input_count(op); k++) {
                const xir_op *maker = xir_value_op(xir_op_input(op, k));
                if (xir_network_index_of(net, maker) >= xir_network_index_of(net, op))
                    fail_msg("case %d: op %d runs before what it reads", i, (int)xir_op_id(op));
            }
        }
        if (xir_network_validate(net, why) != XIR_OK) {
            xir_diags_print(why, stderr);
            fail_msg("case %d is not valid", i);
        }
        if (i % 10 == 0) CHECK_SAME_NUMBERS(was, net);
        xir_network_free(was);
        xir_network_free(net);
    }
    if (total < (size_t)OFTEN(3000)) fail_msg("%zu rewrites: too few for a conclusion", total);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void replacing(want *w) {
    xir_pattern *p;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "x: 2 3; a = ReLU x; c = Tanh a; d = Tanh c; b = Neg a; out b d"));
    TRY_MAKE(w, p, xir_pattern_new(w->ctx, &pair, w->why));
    const xir_rule rule = { p, to_two, NULL };
    TRY_LOOSELY(w, xir_network_rewrite(w->net, &rule, 1, sizeof rule, 0, NULL, w->why));
    xir_pattern_free(p);
    w->result = malloc(20);
    snprintf(w->result, 20, "%zu", xir_op_output_count(xir_value_op(xir_op_input(xir_network_last(w->net), 0))));
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("replacing", replacing, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_becomes_one_op_with_several_outputs),
        cmocka_unit_test(users_between_the_ops_move_after_the_new_one),
        cmocka_unit_test(uses_inside_the_match_stay),
        cmocka_unit_test(any_values_may_replace),
        cmocka_unit_test(users_of_all_outputs_are_visited_again),
        cmocka_unit_test(a_value_that_would_depend_on_itself_is_refused),
        cmocka_unit_test(another_type_replaces_none),
        cmocka_unit_test(wrong_lists_are_refused),
        cmocka_unit_test(new_values_are_found_by_their_names),
        cmocka_unit_test(random_groups_are_replaced),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
