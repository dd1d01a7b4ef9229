/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Walking a view and finding in it: neighbours, values by id, names that ops outside have too; views that are made
 * valid again after edits; and what a view cannot answer. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/scarce.h"
#include "support/story.h"

#define BRANCHES "x: 2 3; w: params 2 3; a = ReLU x; b = Neg a; c = Add b w; d = Tanh c; e = Sigmoid d; out e b"

/* A view of the ops with these names, "b d". */
static xir_view *view_of(xir_network *net, const char *names) {
    xir_op *ops[16];
    size_t n = 0;
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        ops[n++] = xir_network_op_by_name(net, (xir_str){ at, size });
        at += size;
    }
    xir_view *view = xir_view_ops(net, ops, n);
    assert_non_null(view);
    return view;
}

/* The names of a view's ops, forwards and backwards. */
static void walks(const xir_view *view, const char *expected, const char *backwards) {
    char text[2][200] = { "", "" };
    for (const xir_op *op = xir_view_first(view); op; op = xir_view_next(view, op))
        snprintf(text[0] + strlen(text[0]), 20, "%.*s ", (int)xir_op_name(op).size, xir_op_name(op).data);
    for (const xir_op *op = xir_view_last(view); op; op = xir_view_prev(view, op))
        snprintf(text[1] + strlen(text[1]), 20, "%.*s ", (int)xir_op_name(op).size, xir_op_name(op).data);
    assert_string_equal(text[0], expected);
    assert_string_equal(text[1], backwards);
}

static void a_view_is_walked_in_both_directions(void **state) {
    (void)state;
    xir_network *net = story_net(BRANCHES);
    xir_view *some = view_of(net, "e b c"), *none = xir_view_ops(net, NULL, 0), *whole = xir_view_range(net, 1, -1);
    walks(some, "b c e ", "e c b ");
    walks(none, "", "");
    walks(whole, "a b c d e ", "e d c b a ");
    assert_null(xir_view_next(some, story_op(net, "a")));   /* outside: it is not told what follows */
    assert_null(xir_view_prev(some, story_op(net, "d")));
    assert_null(xir_view_next(some, NULL));
    xir_view_free(some);
    xir_view_free(none);
    xir_view_free(whole);
    xir_network_free(net);
}

static void values_are_those_that_a_view_makes_and_reads(void **state) {
    (void)state;
    xir_network *net = story_net(BRANCHES);
    xir_view *view = view_of(net, "c d");
    const struct { const char *name; bool is_in; } rows[] = {
        { "x", false }, { "w", true }, { "a", false }, { "b", true }, { "c", true }, { "d", true }, { "e", false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_value *v = story_value(net, rows[i].name), *found = rows[i].is_in ? v : NULL;
        if (xir_view_has_value(view, v) != rows[i].is_in) fail_msg("value %s", rows[i].name);
        assert_ptr_equal(xir_view_value_by_id(view, xir_value_id(v)), found);
        assert_ptr_equal(xir_view_value_by_name(view, xir_str_of(rows[i].name)), found);
    }
    assert_null(xir_view_value_by_id(view, 1000));
    assert_null(xir_view_value_by_id(view, -1));
    assert_null(xir_view_value_by_name(view, XIR_STR("")));
    assert_null(xir_view_op_by_name(view, XIR_STR("b")));
    assert_ptr_equal(xir_view_op_by_name(view, XIR_STR("d")), story_op(net, "d"));
    xir_view_free(view);
    xir_network_free(net);
}

/* The network finds the first op of a name, the view its own first. */
static void a_name_that_ops_outside_have_too(void **state) {
    (void)state;
    xir_network *net = story_net(BRANCHES);
    xir_op *a = story_op(net, "a"), *c = story_op(net, "c"), *d = story_op(net, "d"), *e = story_op(net, "e");
    xir_op *const all[] = { a, c, d, e };
    for (size_t i = 0; i < COUNT(all); i++) {
        DOES(xir_op_set_name(all[i], XIR_STR("same")));
        DOES(xir_value_set_name(xir_op_output(all[i], 0), XIR_STR("same")));
    }
    xir_view *view = xir_view_ops(net, (xir_op *const[]){ e, d }, 2);
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("same")), a);
    assert_ptr_equal(xir_view_op_by_name(view, XIR_STR("same")), d);
    assert_ptr_equal(xir_view_value_by_name(view, XIR_STR("same")), xir_op_output(c, 0));   /* d reads it */
    xir_view_free(view);
    xir_network_free(net);
}

static void values_of_sub_ops_are_in_the_view(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *part = xir_op_new(net, &(xir_op_desc)DESC(hard_op, INPUTS(value_of(net, 3)), TYPES(FP32("*", 4))));
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ part }, 1 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(value_of(net, 3)),
                                                           TYPES(FP32("*", 4)), .before = op_of(net, 3)));
    xir_view *view = xir_view_ops(net, &hard, 1), *other = xir_view_range(net, 0, 2);
    xir_value *inner = xir_op_output(part, 0);
    assert_ptr_equal(xir_view_value_by_id(view, xir_value_id(inner)), inner);
    assert_false(xir_view_has_value(other, inner));
    xir_view_free(view);
    xir_view_free(other);
    xir_network_free(net);
}

/* ---- edits ------------------------------------------------------------------------------------------------------ */

static void a_stale_view_finds_nothing(void **state) {
    (void)state;
    xir_network *net = story_net(BRANCHES), *other = story_net(BRANCHES);
    xir_view *view = view_of(net, "c d");
    xir_op *c = story_op(net, "c");
    assert_null(xir_view_next(view, story_op(other, "c")));
    assert_false(xir_view_has_value(view, story_value(other, "c")));
    DOES(xir_op_set_name(c, XIR_STR("new")));
    assert_true(xir_view_is_stale(view));
    assert_null(xir_view_first(view));
    assert_null(xir_view_last(view));
    assert_null(xir_view_next(view, c));
    assert_null(xir_view_op_by_name(view, XIR_STR("d")));
    assert_null(xir_view_value_by_name(view, XIR_STR("d")));
    assert_null(xir_view_value_by_id(view, xir_value_id(story_value(net, "d"))));
    assert_false(xir_view_has_value(view, story_value(net, "d")));
    xir_view_free(view);
    xir_network_free(net);
    xir_network_free(other);
}

static void a_view_is_renewed_with_the_ops_that_remain(void **state) {
    (void)state;
    xir_network *net = story_net(BRANCHES);
    xir_view *view = view_of(net, "b c d e");
    xir_value *out[4];
    DOES(xir_view_renew(view));   /* nothing has changed */
    DOES(xir_network_bypass(net, (xir_op *const[]){ story_op(net, "c") }, 1));
    DOES(xir_op_move(story_op(net, "e"), story_op(net, "b")));
    assert_non_null(xir_build_relu((xir_at){ .net = net, .before = story_op(net, "d") }, story_value(net, "b"), "new"));
    assert_null(xir_view_first(view));
    DOES(xir_view_renew(view));
    assert_false(xir_view_is_stale(view));
    walks(view, "e b d ", "d b e ");   /* in the order of now, without the new op */
    assert_int_equal(xir_view_inputs(view, out, COUNT(out)), 1);
    assert_ptr_equal(out[0], story_value(net, "a"));
    assert_int_equal(xir_view_params(view, NULL, 0), 0);
    /* an op that comes back does not join the view again */
    xir_op *d = story_op(net, "d");
    DOES(xir_network_remove(net, d));
    DOES(xir_view_renew(view));
    walks(view, "e b ", "b e ");
    assert_int_equal(xir_view_renew(NULL), XIR_E_MISSING);
    xir_view_free(view);
    xir_network_free(net);
}

/* Every other op: each neighbour is found by a search, all others in constant time. */
static void a_long_view_is_walked_at_once(void **state) {
    (void)state;
    enum { N = 100000 };
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    for (size_t i = 0; i < N; i++) x = XIR_RELU(at, x);
    for (int64_t step = 1; step <= 2; step++) {
        xir_op **ops = malloc(N * sizeof *ops);
        size_t n = 0, seen = 0;
        for (int64_t i = 1; i <= N; i += step) ops[n++] = xir_network_op_at(net, i);
        xir_view *view = xir_view_ops(net, ops, n);
        for (const xir_op *op = xir_view_first(view); op; op = xir_view_next(view, op))
            assert_ptr_equal(op, ops[seen++]);
        assert_int_equal(seen, n);
        xir_view_free(view);
        free(ops);
    }
    xir_network_free(net);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void renewing(want *w) {
    xir_view *view;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, BRANCHES));
    TRY_MAKE(w, view, xir_view_range(w->net, 1, -1));
    IN_PLENTY(w, assert_int_equal(xir_op_erase(xir_op_prev(xir_network_last(w->net))), XIR_E_IN_USE);
              xir_network_clear_status(w->net);
              assert_int_equal(xir_network_remove(w->net, xir_op_prev(xir_network_last(w->net))), XIR_OK));
    TRY(w, xir_view_renew(view));
    assert_int_equal(xir_view_op_count(view), 4);
    xir_view_free(view);
}

static void failing_allocations_leave_a_stale_view(void **state) {
    (void)state;
    run_scarcely("renewing", renewing, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_walked_in_both_directions),
        cmocka_unit_test(values_are_those_that_a_view_makes_and_reads),
        cmocka_unit_test(a_name_that_ops_outside_have_too),
        cmocka_unit_test(values_of_sub_ops_are_in_the_view),
        cmocka_unit_test(a_stale_view_finds_nothing),
        cmocka_unit_test(a_view_is_renewed_with_the_ops_that_remain),
        cmocka_unit_test(a_long_view_is_walked_at_once),
        cmocka_unit_test(failing_allocations_leave_a_stale_view),
    };
    return RUN_GROUP(tests);
}
