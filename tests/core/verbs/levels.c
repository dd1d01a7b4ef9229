/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The order of ops: levels and dominators by hand, against slow definitions in random networks whose order is
 * shuffled, in long chains, and in what is broken. */
#include <stdlib.h>
#include "support/often.h"
#include "support/story.h"

static xir_levels *levels(const xir_network *net) {
    xir_levels *l = xir_levels_new(net, why);
    assert_non_null(l);
    return l;
}

static xir_dominance *dominance(const xir_network *net) {
    xir_dominance *d = xir_dominance_new(net, why);
    assert_non_null(d);
    return d;
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

static const char diamond[] = "x: fp32 4; a = ReLU x; b = ReLU a; c = ReLU b; d = ReLU a; e = Add c d; out e";

static void a_level_is_the_longest_path(void **state) {
    (void)state;
    xir_network *net = story_net(diamond);
    xir_levels *l = levels(net);
    assert_int_equal(xir_levels_count(l), 6);
    assert_int_equal(xir_levels_of(l, xir_network_input_op(net)), 0);
    assert_int_equal(xir_levels_of(l, story_op(net, "a")), 1);
    assert_int_equal(xir_levels_of(l, story_op(net, "b")), 2);
    assert_int_equal(xir_levels_of(l, story_op(net, "d")), 2);
    assert_int_equal(xir_levels_of(l, story_op(net, "e")), 4);
    const xir_op *ops[3] = { NULL };
    assert_int_equal(xir_levels_ops(l, 2, ops, 3), 2);
    assert_true(ops[0] == story_op(net, "b") && ops[1] == story_op(net, "d") && !ops[2]);
    assert_int_equal(xir_levels_ops(l, 2, ops, 0), 2);
    assert_int_equal(xir_levels_ops(l, 6, ops, 3), 0);
    xir_levels_free(l);
    xir_network_free(net);
}

static void every_path_goes_through_a_dominator(void **state) {
    (void)state;
    xir_network *net = story_net(diamond);
    const xir_op *a = story_op(net, "a"), *b = story_op(net, "b"), *c = story_op(net, "c"), *d = story_op(net, "d"),
                 *e = story_op(net, "e");
    xir_dominance *of = dominance(net);
    assert_ptr_equal(xir_dominator(of, e), a);
    assert_ptr_equal(xir_dominator(of, c), b);
    assert_ptr_equal(xir_dominator(of, a), xir_network_input_op(net));
    assert_null(xir_dominator(of, xir_network_input_op(net)));
    assert_true(xir_dominates(of, a, e) && xir_dominates(of, b, c) && xir_dominates(of, e, e));
    assert_false(xir_dominates(of, b, e) || xir_dominates(of, e, a) || xir_dominates(of, b, d));
    assert_ptr_equal(xir_common_dominator(of, c, d), a);
    assert_ptr_equal(xir_common_dominator(of, c, b), b);
    assert_ptr_equal(xir_common_dominator(of, b, c), b);
    xir_dominance_free(of);
    xir_network_free(net);
}

/* An op that depends only on Params has no input above it. */
static void params_are_not_on_any_path(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; w: params 4; a = ReLU x; k = ReLU w; b = Add a k; out b");
    xir_levels *l = levels(net);
    assert_int_equal(xir_levels_of(l, story_op(net, "k")), 0);
    assert_int_equal(xir_levels_of(l, story_op(net, "b")), 2);
    xir_levels_free(l);
    xir_dominance *d = dominance(net);
    assert_null(xir_dominator(d, story_op(net, "b")));
    assert_null(xir_common_dominator(d, story_op(net, "a"), story_op(net, "k")));
    xir_dominance_free(d);
    xir_network_free(net);
}

static void a_value_precedes_what_runs_after_its_op(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; w: params 4; a = ReLU x; b = Add a w; out b"), *other = story_net(diamond);
    const xir_op *a = story_op(net, "a"), *b = story_op(net, "b");
    assert_true(xir_value_precedes(story_value(net, "x"), a));
    assert_true(xir_value_precedes(story_value(net, "a"), b));
    assert_true(xir_value_precedes(story_value(net, "w"), a));
    assert_false(xir_value_precedes(story_value(net, "a"), a));
    assert_false(xir_value_precedes(story_value(net, "b"), a));
    assert_false(xir_value_precedes(story_value(other, "a"), b));
    assert_false(xir_value_precedes(NULL, b) || xir_value_precedes(story_value(net, "a"), NULL));
    assert_false(xir_value_precedes(xir_value_new(net, XIR_STR("v"), FP32("*", 4), NULL), b));
    const xir_op *loose = xir_op_new(net, &(xir_op_desc)DESC(relu, INPUTS(story_value(net, "a"))));
    assert_false(xir_value_precedes(story_value(net, "a"), loose));
    assert_false(xir_value_precedes(xir_op_output(loose, 0), b));
    xir_network_free(other);
    xir_network_free(net);
}

static void sub_ops_count_as_their_parent(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = ReLU x; out b");
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(story_value(net, "a")), TYPES(FP32("*", 4))));
    xir_op *next = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(xir_op_output(part, 0)), TYPES(FP32("*", 4))));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ part, next }, 2 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, TYPES(FP32("*", 4)),
                                                           .before = xir_network_output_op(net)));
    assert_non_null(hard);
    part = xir_hard_op_of(hard)->sub_hard_ops.data[0];
    DOES(xir_op_set_input(xir_network_output_op(net), 0, xir_op_output(part, 0)));
    xir_levels *l = levels(net);
    assert_int_equal(xir_levels_of(l, hard), 2);
    assert_int_equal(xir_levels_of(l, part), -1);
    assert_int_equal(xir_levels_of(l, xir_network_output_op(net)), 3);
    xir_levels_free(l);
    assert_true(xir_value_precedes(story_value(net, "a"), part));
    assert_true(xir_value_precedes(xir_op_output(part, 0), xir_network_output_op(net)));
    /* In an order that is not sorted. */
    DOES(xir_op_move(hard, story_op(net, "a")));
    l = levels(net);
    assert_int_equal(xir_levels_of(l, hard), 2);
    assert_int_equal(xir_levels_of(l, xir_network_output_op(net)), 3);
    xir_levels_free(l);
    xir_dominance *d = dominance(net);
    assert_ptr_equal(xir_dominator(d, hard), story_op(net, "a"));
    assert_ptr_equal(xir_dominator(d, xir_network_output_op(net)), hard);
    xir_dominance_free(d);
    xir_network_free(net);
}

/* ---- broken ------------------------------------------------------------------------------------------------------ */

static void a_cycle_is_refused_at_one_of_its_ops(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; b = Add a x; c = ReLU b; d = ReLU c; out d");
    DOES(xir_op_set_input(story_op(net, "b"), 0, story_value(net, "c")));
    assert_null(xir_levels_new(net, why));
    const xir_str path = xir_diags_at(why, 0)->path;
    assert_true(xir_str_equal(path, XIR_STR("/ops/2")) || xir_str_equal(path, XIR_STR("/ops/3")));
    check_finding(XIR_E_INVALID, "depends on itself");
    xir_diags_clear(why);
    DOES(xir_op_set_input(story_op(net, "b"), 0, story_value(net, "b")));
    assert_null(xir_dominance_new(net, why));
    check_finding(XIR_E_INVALID, "'b' depends on itself");
    xir_diags_clear(why);
    DOES(xir_op_set_input(story_op(net, "b"), 0, NULL));
    xir_levels *l = levels(net);
    assert_int_equal(xir_levels_of(l, story_op(net, "b")), 1);
    xir_levels_free(l);
    assert_null(xir_levels_new(NULL, why));
    check_finding(XIR_E_MISSING, "network");
    xir_diags_clear(why);
    xir_network_free(net);
}

static void nothing_has_no_levels(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_levels *l = levels(net);
    assert_int_equal(xir_levels_count(l) + xir_levels_count(NULL) + xir_levels_ops(l, 0, NULL, 0), 0);
    assert_int_equal(xir_levels_of(l, NULL), -1);
    xir_levels_free(l);
    xir_levels_free(NULL);
    xir_dominance *d = dominance(net);
    assert_null(xir_dominator(d, NULL));
    assert_false(xir_dominates(NULL, NULL, NULL));
    xir_dominance_free(d);
    xir_dominance_free(NULL);
    xir_network_free(net);
}

/* Ops that were made later are in no answer, and those that are erased are still answered for. */
static void later_changes_do_no_harm(void **state) {
    (void)state;
    xir_network *net = story_net(diamond);
    xir_levels *l = levels(net);
    xir_dominance *d = dominance(net);
    const xir_op *e = story_op(net, "e"), *b = story_op(net, "b");
    xir_value *made = xir_build_relu(xir_at_end(net), NULL, "none");
    assert_null(made);
    xir_network_clear_status(net);
    DOES(xir_network_remove(net, story_op(net, "b")));
    assert_int_equal(xir_levels_of(l, e), 4);
    assert_int_equal(xir_levels_of(l, b), 2);
    assert_true(xir_dominates(d, story_op(net, "a"), e));
    xir_dominance_free(d);
    xir_levels_free(l);
    xir_network_free(net);
}

static bool look(xir_context *with) {
    xir_network *net = story_net_in(with, diamond);
    const bool moved = net && !xir_op_move(story_op(net, "e"), story_op(net, "b"));   /* not sorted */
    xir_levels *l = moved ? xir_levels_new(net, NULL) : NULL;
    xir_dominance *d = l ? xir_dominance_new(net, NULL) : NULL;
    const bool done = d && xir_levels_of(l, story_op(net, "e")) == 4 &&
                      xir_dominates(d, story_op(net, "a"), story_op(net, "e"));
    xir_levels_free(l);
    xir_dominance_free(d);
    xir_network_free(net);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(look);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

enum { MOST = 40 };

static xir_network *random_ops(size_t n) {
    char story[3000];
    int at = snprintf(story, sizeof story, "x: fp32 4; w: params 4");
    for (size_t i = 0; i < n; i++) {
        char from[2][12];
        for (int k = 0; k < 2; k++) {
            const size_t v = i > 4 && chance(2) ? i - 1 - chance(4) : chance(i + 2);
            snprintf(from[k], sizeof from[k], v == i ? "x" : v == i + 1 ? "w" : "v%zu", v);
        }
        if (chance(2)) at += snprintf(story + at, sizeof story - (size_t)at, "; v%zu = Add %s %s", i, from[0], from[1]);
        else at += snprintf(story + at, sizeof story - (size_t)at, "; v%zu = ReLU %s", i, from[0]);
    }
    snprintf(story + at, sizeof story - (size_t)at, "; out v%zu", n - 1);
    return story_net(story);
}

/* The definitions, over the ops by id, which are numbered in a sorted order. */
static void compare_with_definitions(const xir_network *net) {
    uint64_t above[MOST];   /* the dominators of each op, as bits */
    int64_t level[MOST];
    const xir_op *ops[MOST];
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op), n++) ops[xir_op_id(op)] = op;
    xir_levels *l = levels(net);
    xir_dominance *d = dominance(net);
    for (size_t i = 0; i < n; i++) {
        uint64_t all = UINT64_MAX;
        level[i] = 0;
        for (size_t k = 0; k < xir_op_input_count(ops[i]); k++) {
            const xir_op *from = xir_value_op(xir_op_input(ops[i], (int64_t)k));
            if (!from) continue;
            all &= above[xir_op_id(from)];
            if (level[xir_op_id(from)] >= level[i]) level[i] = level[xir_op_id(from)] + 1;
        }
        above[i] = (all == UINT64_MAX ? 0 : all) | UINT64_C(1) << i;
        assert_int_equal(xir_levels_of(l, ops[i]), level[i]);
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            assert_int_equal(xir_dominates(d, ops[a], ops[b]), above[b] >> a & 1);
            const xir_op *both = xir_common_dominator(d, ops[a], ops[b]);
            const uint64_t common = above[a] & above[b];
            assert_true(common ? both == ops[63 - __builtin_clzll(common)] : !both);
        }
    }
    xir_levels_free(l);
    xir_dominance_free(d);
}

static void random_networks_agree_with_the_definitions(void **state) {
    (void)state;
    for (int i = 0; i < OFTEN(300); i++) {
        xir_network *net = random_ops(1 + chance(MOST - 3));
        compare_with_definitions(net);
        for (int k = 0; k < 6; k++) {
            xir_op *op = xir_network_op_at(net, (int64_t)chance(xir_network_op_count(net))),
                   *before = xir_network_op_at(net, (int64_t)chance(xir_network_op_count(net)));
            if (op != before) (void)xir_op_move(op, before);
        }
        compare_with_definitions(net);
        xir_network_free(net);
    }
}

/* Pairs of paths that meet again, one after the other and one around the other: the way to the common dominator is
 * long, and is taken for each op. */
static void deep_networks_are_fast(void **state) {
    (void)state;
    enum { N = OFTEN(100000) };
    xir_network *net = new_net();
    const xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("*", 2)), *first = x;
    xir_value **all = malloc(N * sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < N; i++) all[i] = x = XIR_OP(at, add, .lhs = x, .rhs = i % 2 ? first : x);
    for (size_t i = N; i-- > 0;) x = XIR_OP(at, add, .lhs = x, .rhs = all[i]);
    xir_output(at, XIR_VALUES(x));
    xir_levels *l = levels(net);
    assert_int_equal(xir_levels_count(l), 2 * N + 2);
    xir_levels_free(l);
    xir_dominance *d = dominance(net);
    assert_ptr_equal(xir_dominator(d, xir_value_op(x)), xir_network_input_op(net));
    xir_dominance_free(d);
    free(all);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_is_the_longest_path),
        cmocka_unit_test(every_path_goes_through_a_dominator),
        cmocka_unit_test(params_are_not_on_any_path),
        cmocka_unit_test(a_value_precedes_what_runs_after_its_op),
        cmocka_unit_test(sub_ops_count_as_their_parent),
        cmocka_unit_test(a_cycle_is_refused_at_one_of_its_ops),
        cmocka_unit_test(nothing_has_no_levels),
        cmocka_unit_test(later_changes_do_no_harm),
        cmocka_unit_test(failing_allocations_lose_nothing),
        cmocka_unit_test(random_networks_agree_with_the_definitions),
        cmocka_unit_test(deep_networks_are_fast),
    };
    return RUN_GROUP(tests);
}
