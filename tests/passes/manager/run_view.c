/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes on a view: they see it as a network, what they leave takes its place, and all else stays as it was. */
#include <stdio.h>
#include <string.h>
#include <xir/provenance.h>
#include "support/often.h"
#include "support/scarce.h"
#include "support/story.h"
#include <xir/pass.h>
#include <xir/icraft.h>

/* A view of the ops from one name to another. */
static xir_view *from_to(xir_network *net, const char *first, const char *last) {
    xir_view *view = xir_view_id_range(net, xir_op_id(story_op(net, first)), xir_op_id(story_op(net, last)));
    assert_non_null(view);
    return view;
}

static xir_pipeline *parse(const char *passes) {
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    assert_non_null(p);
    return p;
}

static xir_status run(const char *passes, xir_view *view) {
    xir_pipeline *p = parse(passes);
    xir_status status = xir_pipeline_run_view(p, view, &XIR_INIT(xir_pass_settings, .verify = true), NULL, why);
    xir_pipeline_free(p);
    return status;
}

static void ops_are(const xir_view *view, const char *expected, int line) {
    char found[300] = "";
    for (const xir_op *op = xir_view_first(view); op; op = xir_view_next(view, op))
        snprintf(found + strlen(found), 40, "%s%.*s", *found ? " " : "", (int)xir_op_name(op).size,
                 xir_op_name(op).data);
    if (strcmp(found, expected) != 0) fail_msg("line %d: expected '%s', found '%s'", line, expected, found);
}

/* Runs passes on a part of a story; then the view has these ops. */
static void becomes(const char *before, const char *first, const char *last, const char *passes, const char *after,
                    const char *left, int line) {
    xir_network *net = story_net(before), *was = xir_network_clone(net);
    xir_view *view = from_to(net, first, last);
    if (run(passes, view) != XIR_OK) {
        xir_diags_print(why, stderr);
        fail_msg("line %d", line);
    }
    check_story(net, after, __FILE__, line);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    assert_false(xir_view_is_stale(view));
    ops_are(view, left, line);
    CHECK_SAME_NUMBERS(was, net);
    CHECK_SOUND(net);
    xir_view_free(view);
    xir_network_free(was);
    xir_network_free(net);
}
#define BECOMES(before, first, last, passes, after, left) \
    becomes(before, first, last, passes, after, left, __LINE__)

#define TWICE "x: 2 3; s = Sigmoid x; y = Multiply s x; t = Sigmoid y; z = Multiply y t; out z"

static void passes_change_what_lies_in_the_view(void **state) {
    (void)state;
    BECOMES(TWICE, "s", "y", "fuse", "y = SiLU x; t = Sigmoid y; z = Multiply y t; out z", "y");
    BECOMES(TWICE, "t", "z", "fuse", "s = Sigmoid x; y = Multiply s x; z = SiLU y; out z", "z");
    BECOMES(TWICE, "s", "z", "fuse", "y = SiLU x; z = SiLU y; out z", "y z");
    BECOMES(TWICE, "y", "t", "fuse", "s = Sigmoid x; y = Multiply s x; t = Sigmoid y; z = Multiply y t; out z", "y t");
    /* the result of an inner op leaves the view, so the pair is not closed */
    BECOMES("x: 2 3; s = Sigmoid x; y = Multiply s x; out y s", "s", "y", "fuse",
            "s = Sigmoid x; y = Multiply s x; out y s", "s y");
    BECOMES("x: 2 3; a = Neg x; b = Neg x; c = Neg x; d = Add a b; e = Add d c; out e", "a", "d", "cse",
            "c = Neg x; d = Add c c; e = Add d c; out e", "a d");   /* the op a now makes the result c */
}

/* Constants become Params of the network, and an op that does nothing gives way to what enters the view. */
static void results_may_be_params_or_inputs(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; p: params 2 3; a = Neg p; b = Add a x; out b");
    xir_view *view = from_to(net, "a", "a");
    assert_int_equal(run("fold", view), XIR_OK);
    CHECK_STORY(net, "b = Add a x; out b");
    assert_true(xir_value_is_params(story_value(net, "a")));
    assert_true(xir_value_id(story_value(net, "a")) >= 0);
    assert_int_equal(xir_view_op_count(view), 0);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
    xir_view_free(view);
    xir_network_free(net);
    BECOMES("x: 2 3; a = Neg x; b = Neg a; c = ReLU b; out c", "a", "b", "identity", "a = Neg x; b = Neg a; c = ReLU b; out c",
            "a b");
    BECOMES("x: 2 3; a = Neg x; b = Copy a; c = ReLU b; out c", "b", "c", "identity,dce", "a = Neg x; c = ReLU a; out c", "c");
}

static void what_is_kept_keeps_ids_names_and_params(void **state) {
    (void)state;
    xir_network *net = small_net();   /* in, conv, relu, pool, add(pool, pool), out */
    DOES(xir_op_set_tag(op_of(net, 1), XIR_STR("mark"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 7 }));
    xir_value *w = value_of(net, 1);
    /* a copy of relu, which cse merges */
    xir_value *twin = xir_build_relu((xir_at){ .net = net, .before = op_of(net, 3) }, value_of(net, 2), "twin");
    DOES(xir_op_set_input(op_of(net, 4), 1, xir_op_output(op_of(net, 3), 0)));
    xir_op *pool = xir_op_clone(op_of(net, 3));
    DOES(xir_op_set_input(pool, 0, twin));
    DOES(xir_op_place(pool, op_of(net, 4)));
    DOES(xir_op_set_input(op_of(net, 4), 1, xir_op_output(pool, 0)));
    xir_view *view = xir_view_range(net, 1, -1);
    const xir_op *conv = op_of(net, 1);
    assert_int_equal(run("cse", view), XIR_OK);
    CHECK_ORDER(net, "0 1 2 3 4 5");
    assert_ptr_not_equal(op_of(net, 1), conv);   /* another record */
    assert_true(xir_op_is_erased(conv));
    assert_ptr_equal(xir_op_input(op_of(net, 1), 1), w);   /* the same weights */
    CHECK_INPUTS(op_of(net, 4), "4 4");
    CHECK_STR(xir_op_name(op_of(net, 2)), "relu");
    assert_non_null(xir_map_find(xir_op_tags(op_of(net, 1)), XIR_STR("mark")));
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
    xir_view_free(view);
    xir_network_free(net);
}

static float count_up(size_t i) { return (float)i; }

static xir_status write_weights(xir_pass *at) {
    xir_value *w = NULL;
    for (xir_op *op = xir_network_first(xir_pass_network(at)); op; op = xir_op_next(op))
        if (xir_op_is(op, xir_conv2d_class())) w = xir_op_input(op, 1);
    float *bytes = xir_params_edit(w);
    if (!bytes) return XIR_E_MEMORY;
    bytes[0] = 77;
    xir_pass_changed(at, 1);
    return XIR_OK;
}

/* Bytes are part of a network as ops are. */
static void a_pass_that_changes_only_bytes_counts(void **state) {
    (void)state;
    xir_network *net = small_net();
    assert_int_equal(xir_params_fill_f32(xir_op_input(op_of(net, 1), 1), count_up), XIR_OK);
    xir_view *view = xir_view_range(net, 1, -1);
    const xir_pass_decl decl = { XIR_PASS_HEAD("write-weights", "writes a weight"), .run = write_weights };
    xir_pipeline *p = xir_pipeline_new(ctx, why);
    assert_int_equal(xir_pipeline_add(p, &decl, NULL, why), XIR_OK);
    assert_int_equal(xir_pipeline_run_view(p, view, NULL, NULL, why), XIR_OK);
    const float *bytes = xir_params_data(xir_op_input(op_of(net, 1), 1), NULL);
    assert_true(bytes[0] == 77);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
    xir_pipeline_free(p);
    xir_view_free(view);
    xir_network_free(net);
}

static void a_view_that_nothing_changes_stays(void **state) {
    (void)state;
    xir_network *net = story_net(TWICE);
    xir_view *view = from_to(net, "s", "z");
    xir_op *s = story_op(net, "s");
    char *before = picture(net);
    assert_int_equal(run("cse,identity,dce", view), XIR_OK);
    char *after = picture(net);
    assert_string_equal(after, before);
    assert_ptr_equal(xir_view_first(view), s);   /* the same records */
    xir_op *first = xir_network_first(net);
    xir_view *none = xir_view_ops(net, NULL, 0), *ends = xir_view_ops(net, &first, 1);
    assert_int_equal(run("fuse", none), XIR_OK);
    assert_int_equal(run("fuse", ends), XIR_OK);
    assert_int_equal(xir_view_op_count(ends), 1);
    xir_view_free(none);
    xir_view_free(ends);
    free(before);
    free(after);
    xir_view_free(view);
    xir_network_free(net);
}

static void input_and_output_of_the_network_stay(void **state) {
    (void)state;
    xir_network *net = story_net(TWICE);
    xir_op *in = xir_network_first(net), *out = xir_network_last(net);
    xir_view *view = xir_view_range(net, 0, INT64_MAX);
    assert_int_equal(run("fuse", view), XIR_OK);
    CHECK_STORY(net, "y = SiLU x; z = SiLU y; out z");
    assert_ptr_equal(xir_view_first(view), in);
    assert_ptr_equal(xir_view_last(view), out);
    assert_int_equal(xir_view_op_count(view), 4);
    xir_view_free(view);
    xir_network_free(net);
}

/* u runs between the ops of the view and reads what the first makes; v only runs there. */
static void ops_between_that_depend_on_the_view_move(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Copy x; u = Tanh a; v = Sigmoid x; b = Add a v; c = Add b u; out c");
    xir_view *view = xir_view_ops(net, (xir_op *const[]){ story_op(net, "a"), story_op(net, "b") }, 2);
    assert_int_equal(run("identity,dce", view), XIR_OK);
    CHECK_STORY(net, "v = Sigmoid x; a = Copy x; b = Add x v; u = Tanh a; c = Add b u; out c");
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_view_free(view);
    xir_network_free(net);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static xir_status add_result(xir_pass *at) {
    xir_op *out = xir_network_output_op(xir_pass_network(at));
    xir_pass_changed(at, 1);
    return xir_op_add_input(out, xir_op_input(out, 0));
}
static xir_status change_result(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_pass_changed(at, 1);
    return xir_value_set_type(xir_op_input(xir_network_output_op(net), 0), FP32("*", 6));
}
static xir_status change_input(xir_pass *at) {
    xir_pass_changed(at, 1);
    return xir_value_set_type(xir_op_output(xir_network_input_op(xir_pass_network(at)), 0), FP32("*", 6));
}
static xir_status lose_result(xir_pass *at) {
    xir_pass_changed(at, 1);
    return xir_op_set_input(xir_network_output_op(xir_pass_network(at)), 0, NULL);
}
static xir_status give_up(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    if (xir_op_set_name(xir_op_next(xir_network_first(net)), XIR_STR("changed"))) return XIR_E_MEMORY;
    return xir_pass_fail(at, XIR_E_INVALID, NULL, "it gives up");
}

static void refused(xir_status (*fn)(xir_pass *at), xir_status code, const char *sentence) {
    const xir_pass_decl decl = { XIR_PASS_HEAD("wrong", "breaks what it may not"), .run = fn };
    xir_network *net = story_net(TWICE);
    xir_view *view = from_to(net, "y", "t");
    xir_pipeline *p = xir_pipeline_new(ctx, why);
    DOES(xir_pipeline_add(p, &decl, NULL, why));
    char *before = picture(net);
    assert_int_equal(xir_pipeline_run_view(p, view, NULL, NULL, why), code);
    check_finding(code, sentence);
    char *after = picture(net);
    assert_string_equal(after, before);
    assert_int_equal(xir_network_status(net), XIR_OK);
    assert_false(xir_view_is_stale(view));
    free(before);
    free(after);
    xir_pipeline_free(p);
    xir_view_free(view);
    xir_network_free(net);
}

static void passes_that_break_the_border_are_refused(void **state) {
    (void)state;
    refused(add_result, XIR_E_INVALID, "the passes changed the number of outputs of the view: expected 2, found 3");
    refused(change_result, XIR_E_TYPE, "the passes changed the type of output 0 of the view");
    refused(change_input, XIR_E_TYPE, "the passes changed the type of input 0 of the view");
    refused(lose_result, XIR_E_INVALID, "the passes left no output 0 of the view");
    refused(give_up, XIR_E_INVALID, "it gives up");
}

static xir_view *busy;
static xir_pipeline *same;
static xir_status run_again(xir_pass *at) {
    assert_int_equal(xir_pipeline_run_view(same, busy, NULL, NULL, why), XIR_E_IN_USE);
    check_finding(XIR_E_IN_USE, "runs on the view already");
    (void)at;
    return XIR_OK;
}

static void views_that_passes_cannot_get_are_refused(void **state) {
    (void)state;
    const xir_pass_decl again = { XIR_PASS_HEAD("again", "runs on the same view"), .run = run_again };
    xir_network *net = story_net("x: 2 3; a = Neg x; u = Tanh a; b = Add a u; out b");
    xir_view *view = xir_view_ops(net, (xir_op *const[]){ story_op(net, "a"), story_op(net, "b") }, 2);
    char *before = picture(net);
    assert_int_equal(run("fuse", view), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the region is not convex: a path leads out of it and back in: op 1 'a', op 2 'u'");
    assert_int_equal(xir_network_status(net), XIR_OK);
    char *after = picture(net);
    assert_string_equal(after, before);
    same = xir_pipeline_new(ctx, why);
    DOES(xir_pipeline_add(same, &again, NULL, why));
    busy = from_to(net, "a", "b");
    DOES(xir_pipeline_run_view(same, busy, NULL, NULL, why));
    assert_int_equal(xir_pipeline_run_view(same, NULL, NULL, NULL, why), XIR_E_MISSING);
    assert_int_equal(xir_pipeline_run_view(NULL, busy, NULL, NULL, why), XIR_E_MISSING);
    xir_diags_clear(why);
    DOES(xir_op_set_name(story_op(net, "a"), XIR_STR("new")));
    assert_int_equal(xir_pipeline_run_view(same, busy, NULL, NULL, why), XIR_E_STALE);
    check_finding(XIR_E_STALE, "has been changed");
    xir_pipeline_free(same);
    xir_view_free(busy);
    xir_view_free(view);
    free(before);
    free(after);
    xir_network_free(net);
}

/* ---- random ----------------------------------------------------------------------------------------------------- */

static bool pick(const xir_op *op, void *user) { return ((const bool *)user)[xir_op_slot(op)]; }

/* Any convex view, and passes that change much: the network is valid, computes the same, and what lies outside is still
 * there. */
static void any_view_of_any_network(void **state) {
    (void)state;
    const char *const passes[] = { "fuse,dce", "cse,dce", "identity,dce", "fold,cse,fuse,dce" };
    size_t changed = 0;
    for (int i = 0; i < OFTEN(600); i++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *v[40];
        size_t n = 0, n_outside = 0;
        bool in[80] = { false };
        const float fours[4] = { 1, 2, 3, 4 };
        v[n++] = xir_input(at, "x", FP32("*", 4));
        v[n++] = xir_params_copy(net, XIR_STR("p"), FP32("*", 4), fours, sizeof fours);
        for (uint64_t k = 5 + chance(25); k; k--) {
            xir_value *a = v[n - 1 - chance(n < 4 ? n : 4)], *b = v[chance(n)];
            const uint64_t kind = chance(6);
            v[n++] = kind == 0 ? XIR_OP(at, sigmoid, .input = a) : kind == 1 ? XIR_OP(at, multiply, .lhs = a, .rhs = b)
                   : kind == 2 ? XIR_OP(at, neg, .input = a) : kind == 3 ? XIR_OP(at, copy, .input = a)
                   : kind == 4 ? XIR_OP(at, multiply, .lhs = a, .rhs = XIR_OP(at, sigmoid, .input = a))
                               : XIR_OP(at, add, .lhs = a, .rhs = b);
        }
        xir_output(at, XIR_VALUES(v[n - 1], v[chance(n)]));
        if (xir_value_is_params(xir_op_input(xir_network_output_op(net), 1)))
            DOES(xir_op_set_input(xir_network_output_op(net), 1, v[0]));
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
        xir_network *was = xir_network_clone(net);
        const uint64_t most = 4 + chance(5);
        xir_op *outside[80];
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            in[xir_op_slot(op)] = chance(8) < most;
            if (!in[xir_op_slot(op)]) outside[n_outside++] = op;
        }
        xir_view *view = xir_view_if(net, pick, in);
        xir_status status = run(passes[chance(COUNT(passes))], view);
        if (status == XIR_E_INVALID) check_finding(XIR_E_INVALID, "the region is not convex");
        else if (status) {
            xir_diags_print(why, stderr);
            fail_msg("case %d", i);
        }
        xir_diags_clear(why);
        if (xir_network_validate(net, why) != XIR_OK) {
            xir_diags_print(why, stderr);
            fail_msg("case %d is not valid any more", i);
        }
        for (size_t k = 0; k < n_outside; k++) {
            if (xir_op_is_erased(outside[k]) || xir_view_has(view, outside[k])) fail_msg("case %d: op outside", i);
        }
        assert_int_equal(xir_view_op_count(view) + n_outside, xir_network_op_count(net));
        changed += !status && !xir_network_equal(was, net, true);
        if (!status) CHECK_SAME_NUMBERS(was, net);
        CHECK_SOUND(net);
        xir_view_free(view);
        xir_network_free(was);
        xir_network_free(net);
    }
    if (changed < (size_t)OFTEN(100)) fail_msg("%zu changes: too few for a conclusion", changed);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* After a failure the network is unchanged, and the view is valid; or only renewing it has failed. */
static xir_status run_renewed(want *w, const xir_pipeline *p, xir_view *view) {
    char *before, *after;
    IN_PLENTY(w, assert_int_equal(xir_view_renew(view), XIR_OK); before = story_text(w->net));
    xir_status status = xir_pipeline_run_view(p, view, NULL, NULL, w->why);
    IN_PLENTY(w, after = story_text(w->net));
    if (status && !xir_view_is_stale(view)) assert_string_equal(after, before);
    free(before);
    free(after);
    return status;
}

static size_t not_recorded;   /* runs that ended because what the copies stand for could not be recorded */

/* The same with a recorder. Its second step is the run. */
static xir_status run_recorded(want *w, const xir_pipeline *p, xir_view *view) {
    xir_provenance *recorder;
    IN_PLENTY(w, recorder = xir_provenance_new(w->net, w->why));
    const xir_status status = run_renewed(w, p, view);
    not_recorded += status && !xir_view_is_stale(view) && xir_provenance_status(recorder) &&
                    xir_provenance_step_count(recorder) == 2;
    xir_provenance_free(recorder);
    return status;
}

static void running_with(want *w, xir_status (*attempt)(want *w, const xir_pipeline *p, xir_view *view)) {
    xir_pipeline *p;
    xir_view *view;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, "x: 2 3; p: params 2 3; a = Neg p; s = Sigmoid x; y = Multiply s x; "
                                               "z = Add y a; t = Tanh z; out t");
              p = xir_pipeline_parse(w->ctx, XIR_STR("fold,fuse,dce"), w->why);
              view = xir_view_range(w->net, 1, 5));
    TRY_LOOSELY(w, attempt(w, p, view));
    xir_view_free(view);
    xir_pipeline_free(p);
    IN_PLENTY(w, w->result = story_text(w->net));
}

static void running(want *w)  { running_with(w, run_renewed); }
static void recorded(want *w) { running_with(w, run_recorded); }

static void failing_allocations_change_nothing(void **state) {
    (void)state;
    run_scarcely("passes on a view", running, false);
    run_scarcely("passes on a view that are recorded", recorded, false);
    assert_true(not_recorded || !scarce_is_complete());
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_change_what_lies_in_the_view),
        cmocka_unit_test(results_may_be_params_or_inputs),
        cmocka_unit_test(what_is_kept_keeps_ids_names_and_params),
        cmocka_unit_test(a_pass_that_changes_only_bytes_counts),
        cmocka_unit_test(a_view_that_nothing_changes_stays),
        cmocka_unit_test(input_and_output_of_the_network_stay),
        cmocka_unit_test(ops_between_that_depend_on_the_view_move),
        cmocka_unit_test(passes_that_break_the_border_are_refused),
        cmocka_unit_test(views_that_passes_cannot_get_are_refused),
        cmocka_unit_test(any_view_of_any_network),
        cmocka_unit_test(failing_allocations_change_nothing),
    };
    return RUN_GROUP(tests);
}
