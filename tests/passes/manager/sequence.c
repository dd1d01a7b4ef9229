/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pipelines of pass objects, settings that are current in a thread, and passes that are overridden and removed. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "support/net.h"
#include "support/passes.h"
#include "support/scarce.h"

static xir_network *net;
static xir_context *own;   /* of each test, because registering lasts */
static xir_diags   *found;

static int begin_test(void **state) {
    (void)state;
    own = xir_context_new(NULL);
    found = xir_diags_new(own);
    passes_for_tests(own);
    net = small_net_in(own);
    memset(&passes_seen, 0, sizeof passes_seen);
    return net && found ? 0 : -1;
}

static int end_test(void **state) {
    (void)state;
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(own);
    return 0;
}

/* The last finding, which is then forgotten. */
static void says(xir_status code, const char *part) {
    const xir_diag *d = xir_diags_at(found, xir_diags_count(found) - 1);
    assert_non_null(d);
    if (d->code != code || !strstr(d->message.data, part))
        fail_msg("expected '%s', found '%.*s' (%s)", part, (int)d->message.size, d->message.data,
                 xir_status_name(d->code));
    xir_diags_clear(found);
}

static void prints(const xir_pipeline *p, const char *expected) {
    xir_text_buffer out;
    DOES(xir_pipeline_print(p, &out));
    CHECK_STR(((xir_str){ out.data, out.size }), expected);
    xir_text_free(&out);
}

/* ---- pass objects ----------------------------------------------------------------------------------------------- */

static int runs;
static int64_t last_n;
static xir_status count_run(xir_pass *at) {
    runs++;
    last_n = xir_pass_int(at, "n");
    return XIR_OK;
}

static const xir_pass_option count_options[] = { { "n", XIR_PASS_INT, "5", "a number" } };
static const xir_pass_decl counting = { XIR_PASS_HEAD("counting", "counts its runs"), .level = XIR_LEVEL_FAST,
                                        .run = count_run, .options = count_options, .n_options = 1 };

static xir_pipeline *empty(void) {
    xir_pipeline *p = xir_pipeline_new(own, found);
    assert_non_null(p);
    return p;
}

static const xir_pass_decl *registered(const char *name) { return xir_pass_find(own, xir_str_of(name)); }

static xir_status ask_wrongly(xir_pass *at) {
    assert_int_equal(xir_pass_text(at, "n").size, 0);   /* it is an integer */
    return XIR_OK;
}
static const xir_pass_decl wrong = { XIR_PASS_HEAD("wrong", "asks for a text"), .run = ask_wrongly,
                                     .options = count_options, .n_options = 1 };

static void a_pass_that_asks_for_what_it_does_not_declare_fails(void **state) {
    (void)state;
    xir_pipeline *p = empty();
    DOES(xir_pipeline_add(p, &wrong, NULL, found));
    assert_int_equal(xir_pipeline_run(p, net, NULL, NULL, found), XIR_E_INVALID);
    says(XIR_E_INVALID, "wrong: the pass asks for an option 'n' that it does not declare with this kind");
    xir_pipeline_free(p);
}

static void a_pass_object_need_not_be_registered(void **state) {
    (void)state;
    xir_pipeline *p = empty();
    runs = 0;
    DOES(xir_pipeline_add(p, registered("tag"), "value=3", found));
    DOES(xir_pipeline_add(p, &counting, "n=7", found));
    DOES(xir_pipeline_add(p, &counting, NULL, found));
    prints(p, "tag{value=3},counting{n=7},counting");
    DOES(xir_pipeline_run(p, net, NULL, NULL, found));
    assert_int_equal(runs, 2);
    assert_int_equal(last_n, 5);
    assert_null(registered("counting"));
    /* settings know it by name */
    const xir_pass_settings off = XIR_INIT(xir_pass_settings, .disabled = (const char *const[]){ "counting", NULL });
    const xir_pass_settings low = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_EXACT);
    const xir_entry entry = { XIR_STR("counting.n"), xir_any_int(9) };
    const xir_map config = { &entry, 1 };
    const xir_pass_settings set = XIR_INIT(xir_pass_settings, .config = &config);
    DOES(xir_pipeline_run(p, net, &off, NULL, found));
    DOES(xir_pipeline_run(p, net, &low, NULL, found));
    assert_int_equal(runs, 2);
    DOES(xir_pipeline_run(p, net, &set, NULL, found));
    assert_int_equal(last_n, 9);
    xir_pipeline_free(p);
    p = empty();   /* which does not have it */
    assert_int_equal(xir_pipeline_run(p, net, &off, NULL, found), XIR_E_UNKNOWN);
    says(XIR_E_UNKNOWN, "there is no pass 'counting', which the settings disable");
    assert_int_equal(xir_pipeline_run(p, net, &set, NULL, found), XIR_E_UNKNOWN);
    says(XIR_E_UNKNOWN, "there is no pass 'counting'");
    xir_pipeline_free(p);
}

static void pipelines_are_appended_and_repeated(void **state) {
    (void)state;
    xir_pipeline *p = empty(), *down = empty();
    DOES(xir_pipeline_add(down, registered("count-down"), NULL, found));
    DOES(xir_pipeline_add(p, registered("tag"), "value=3", found));
    DOES(xir_pipeline_append(p, down, 10, found));
    prints(p, "tag{value=3},fix{limit=10}(count-down)");
    DOES(xir_pipeline_append(p, p, 0, found));
    prints(p, "tag{value=3},fix{limit=10}(count-down),tag{value=3},fix{limit=10}(count-down)");
    DOES(xir_pipeline_append(down, p, 2, found));
    xir_pipeline_free(p);   /* what was appended is copied */
    prints(down, "count-down,fix{limit=2}(tag{value=3},fix{limit=10}(count-down),tag{value=3},fix{limit=10}(count-down))");
    xir_pipeline *again = xir_pipeline_parse(own, XIR_STR("count-down,fix{limit=10}(count-down)"), found);
    DOES(xir_pipeline_run(again, net, NULL, NULL, found));
    DOES(xir_pipeline_append(again, again, 0, found));
    prints(again, "count-down,fix{limit=10}(count-down),count-down,fix{limit=10}(count-down)");
    DOES(xir_pipeline_run(again, net, NULL, NULL, found));
    assert_int_equal(xir_pipeline_run(down, net, NULL, NULL, found), XIR_E_LIMIT);
    says(XIR_E_LIMIT, "fix{limit=2}(...) does not reach a fixed point");
    xir_pipeline_free(again);
    xir_pipeline_free(down);
}

static void steps_that_cannot_be_added_are_refused(void **state) {
    (void)state;
    xir_pass_decl bad = counting, strange = counting;
    bad.run = NULL;
    strange.flags = 4;
    xir_pipeline *p = empty(), *other = xir_pipeline_new(ctx, why);
    assert_int_equal(xir_pipeline_add(p, &bad, NULL, found), XIR_E_INVALID);
    says(XIR_E_INVALID, "the pass counting has no function");
    assert_int_equal(xir_pipeline_add(p, &strange, NULL, found), XIR_E_UNSUPPORTED);
    says(XIR_E_UNSUPPORTED, "sets a member that this version does not know");
    assert_int_equal(xir_pipeline_add(p, &counting, "m=1", found), XIR_E_UNKNOWN);
    says(XIR_E_UNKNOWN, "counting has no option 'm'");
    assert_int_equal(xir_pipeline_add(p, &counting, "n=x", found), XIR_E_TYPE);
    says(XIR_E_TYPE, "expected an integer, found 'x'");
    assert_int_equal(xir_pipeline_add(p, &counting, "n=1}", found), XIR_E_SYNTAX);
    says(XIR_E_SYNTAX, "expected ','");
    assert_int_equal(xir_pipeline_add(p, NULL, NULL, found), XIR_E_MISSING);
    assert_int_equal(xir_pipeline_add(NULL, &counting, NULL, found), XIR_E_MISSING);
    assert_int_equal(xir_pipeline_append(p, NULL, 0, found), XIR_E_MISSING);
    assert_int_equal(xir_pipeline_append(p, other, 0, found), XIR_E_INVALID);
    says(XIR_E_INVALID, "two contexts");
    assert_int_equal(xir_pipeline_append(p, p, -1, found), XIR_E_BOUNDS);
    says(XIR_E_BOUNDS, "expected a limit of at least 1");
    prints(p, "");
    xir_status status = XIR_OK;   /* a group of a group of … */
    int depth = 0;
    while (!status) {
        xir_pipeline *next = empty();
        status = xir_pipeline_append(next, p, 3, found);
        depth += !status;
        xir_pipeline_free(p);
        p = next;
    }
    assert_int_equal(status, XIR_E_LIMIT);
    says(XIR_E_LIMIT, "expected at most 16 nested groups, found more");
    assert_int_equal(depth, 16);
    prints(p, "");
    xir_pipeline_free(other);
    xir_pipeline_free(p);
}

/* ---- current settings ------------------------------------------------------------------------------------------- */

static const xir_entry seen_entry = { { "seen", 4 }, { .kind = XIR_ANY_INT, .as.integer = 1 } };
static const xir_map seen_config = { &seen_entry, 1 };

static xir_status run_options(void) { return xir_pass_run(net, "options", NULL, NULL, found); }

static void runs_without_settings_have_those_of_the_scope(void **state) {
    (void)state;
    xir_pass_settings now = XIR_INIT(xir_pass_settings);
    assert_false(xir_pass_current(own, &now));
    DOES(run_options());
    assert_false(passes_seen.has_config);
    const xir_pass_settings outer = XIR_INIT(xir_pass_settings, .config = &seen_config, .level = XIR_LEVEL_EXACT);
    const xir_pass_settings inner = XIR_INIT(xir_pass_settings, .disabled = (const char *const[]){ "options", NULL });
    xir_pass_scope *a = xir_pass_scope_new(own, &outer, found), *b;
    DOES(run_options());
    assert_true(passes_seen.has_config);
    assert_true(xir_pass_current(own, &now));
    assert_int_equal(now.level, XIR_LEVEL_EXACT);
    assert_ptr_equal(now.config, &seen_config);
    assert_true(xir_pass_is_enabled(own, registered("options")));
    assert_false(xir_pass_is_enabled(own, registered("max")));
    b = xir_pass_scope_new(own, &inner, found);
    assert_false(xir_pass_is_enabled(own, registered("options")));
    assert_true(xir_pass_is_enabled(own, registered("max")));
    passes_seen.runs = 0;
    DOES(run_options());
    assert_int_equal(passes_seen.runs, 0);   /* disabled */
    xir_pipeline *p = xir_pipeline_parse(own, XIR_STR("options"), found);
    DOES(xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings), NULL, found));
    assert_int_equal(passes_seen.runs, 1);   /* with settings of its own */
    assert_false(passes_seen.has_config);
    xir_pass_scope_free(a);   /* in any order */
    DOES(xir_pipeline_run(p, net, NULL, NULL, found));
    assert_int_equal(passes_seen.runs, 1);
    xir_pass_scope_free(b);
    xir_pass_scope_free(NULL);
    DOES(xir_pipeline_run(p, net, NULL, NULL, found));
    assert_int_equal(passes_seen.runs, 2);
    assert_false(xir_pass_current(own, &now));
    assert_true(xir_pass_is_enabled(own, registered("max")));
    xir_pipeline_free(p);
}

static xir_pass_settings within;   /* what a pass found current */
static xir_status look_around(xir_pass *at) {
    xir_network *other = small_net_in(xir_pass_context(at));
    within = XIR_INIT(xir_pass_settings);
    assert_true(xir_pass_current(xir_pass_context(at), &within));
    assert_int_equal(xir_pass_run(other, "options", NULL, NULL, NULL), XIR_OK);
    xir_network_free(other);
    return XIR_OK;
}
static const xir_pass_decl looking = { XIR_PASS_HEAD("looking", "asks what is current"), .run = look_around };

static size_t watched;
static xir_status watch(void *user, const xir_pass_event *event) { return (void)user, (void)event, watched++, XIR_OK; }

static void a_run_within_a_run_has_its_settings(void **state) {
    (void)state;
    xir_pipeline *p = empty();
    const xir_pass_watch before = XIR_INIT(xir_pass_watch, .before = watch);
    const xir_pass_settings set = XIR_INIT(xir_pass_settings, .config = &seen_config, .level = XIR_LEVEL_FAST,
                                           .watches = &before, .n_watches = 1);
    watched = 0;
    DOES(xir_pipeline_add(p, &looking, NULL, found));
    DOES(xir_pipeline_run(p, net, &set, NULL, found));
    assert_int_equal(within.level, XIR_LEVEL_FAST);
    assert_true(passes_seen.has_config);
    assert_int_equal(within.n_watches, 0);
    assert_int_equal(watched, 1);   /* the pass, and not the run on another network */
    xir_pass_settings now = XIR_INIT(xir_pass_settings);
    assert_false(xir_pass_current(own, &now));
    xir_pipeline_free(p);
}

static void *in_another_thread(void *user) {
    xir_pass_settings now = XIR_INIT(xir_pass_settings);
    *(bool *)user = xir_pass_current(own, &now);
    xir_pass_scope *scope = xir_pass_scope_new(own, &XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX), NULL);
    for (int i = 0; i < 1000; i++) assert_true(xir_pass_current(own, &now) && now.level == XIR_LEVEL_MAX);
    xir_pass_scope_free(scope);
    return NULL;
}

static void a_scope_is_of_its_thread_and_context(void **state) {
    (void)state;
    pthread_t threads[3];
    bool had[3];
    xir_pass_settings now = XIR_INIT(xir_pass_settings);
    xir_pass_scope *scope = xir_pass_scope_new(own, &XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_EXACT), found);
    for (size_t i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, in_another_thread, &had[i]), 0);
    for (size_t i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_false(had[i]);
    }
    assert_false(xir_pass_current(ctx, &now));
    assert_true(xir_pass_current(own, &now));
    assert_int_equal(now.level, XIR_LEVEL_EXACT);
    xir_pass_scope_free(scope);
}

static void wrong_scopes_are_refused(void **state) {
    (void)state;
    const xir_pass_settings unknown = XIR_INIT(xir_pass_settings, .disabled = (const char *const[]){ "nobody", NULL });
    assert_null(xir_pass_scope_new(own, &unknown, found));
    says(XIR_E_UNKNOWN, "there is no pass 'nobody', which the settings disable");
    assert_null(xir_pass_scope_new(own, &(xir_pass_settings){ 0 }, found));
    xir_pass_settings small = { .size = 1 };
    assert_false(xir_pass_current(own, &small));
}

/* ---- overriding and removing ------------------------------------------------------------------------------------ */

static xir_status claim(xir_pass *at) { return (*(int *)xir_pass_user(at))++, XIR_OK; }

static void a_pass_is_overridden_with_the_flag_only(void **state) {
    (void)state;
    int mine = 0;
    static const char *const needs_ping[] = { "ping", NULL };
    xir_pass_decl decl = { XIR_PASS_HEAD("tag", "another"), .run = claim, .user = &mine, .needs = needs_ping };
    const xir_pass_decl *old = registered("tag");
    size_t at = 0, n = 0;
    while (xir_pass_at(own, n)) n++;
    while (xir_pass_at(own, at) != old) at++;
    xir_pipeline *before = xir_pipeline_parse(own, XIR_STR("tag"), found);
    assert_int_equal(xir_pass_register(own, &decl, found), XIR_E_EXISTS);
    says(XIR_E_EXISTS, "there is a pass 'tag' already");
    decl.flags = XIR_PASS_OVERRIDES;
    DOES(xir_pass_register(own, &decl, found));
    assert_ptr_equal(registered("tag"), &decl);
    assert_ptr_equal(xir_pass_at(own, at), &decl);   /* in its place */
    assert_null(xir_pass_at(own, n));
    xir_pipeline *after = xir_pipeline_parse(own, XIR_STR("tag"), found);
    DOES(xir_pipeline_run(before, net, NULL, NULL, found));
    assert_int_equal(mine, 0);
    assert_non_null(xir_map_find(xir_network_tags(net), XIR_STR("tag")));
    DOES(xir_pipeline_run(after, net, NULL, NULL, found));
    assert_int_equal(mine, 1);
    /* both are disabled by their name; a pass that needs it gets the new one */
    const xir_pass_settings off = XIR_INIT(xir_pass_settings, .disabled = (const char *const[]){ "tag", NULL });
    DOES(xir_pipeline_run(before, net, &off, NULL, found));
    DOES(xir_pipeline_run(after, net, &off, NULL, found));
    assert_int_equal(mine, 1);
    xir_pipeline *needing = xir_pipeline_parse(own, XIR_STR("needs-both"), found);
    DOES(xir_pipeline_run(needing, net, NULL, NULL, found));
    assert_int_equal(mine, 2);
    /* a pass that nobody has yet may have the flag too */
    xir_pass_decl fresh = { XIR_PASS_HEAD("fresh", "new"), .run = claim, .user = &mine, .flags = XIR_PASS_OVERRIDES };
    DOES(xir_pass_register(own, &fresh, found));
    assert_ptr_equal(xir_pass_at(own, n), &fresh);
    xir_pipeline_free(before);
    xir_pipeline_free(after);
    xir_pipeline_free(needing);
}

/* needs-both needs needs-options, which needs options. */
static void an_override_makes_no_cycle(void **state) {
    (void)state;
    int mine = 0;
    static const char *const far[] = { "ping", "needs-both", NULL }, *const itself[] = { "options", NULL };
    xir_pass_decl decl = { XIR_PASS_HEAD("options", "x"), .run = claim, .user = &mine, .needs = far,
                           .flags = XIR_PASS_OVERRIDES };
    const xir_pass_decl *old = registered("options");
    assert_int_equal(xir_pass_register(own, &decl, found), XIR_E_INVALID);
    says(XIR_E_INVALID, "the pass options cannot override the one of its name, because needs-");
    decl.needs = itself;
    assert_int_equal(xir_pass_register(own, &decl, found), XIR_E_INVALID);
    says(XIR_E_INVALID, "it itself");
    assert_ptr_equal(registered("options"), old);
    decl.needs = NULL;
    DOES(xir_pass_register(own, &decl, found));
    xir_pipeline *p = xir_pipeline_parse(own, XIR_STR("needs-both"), found);
    DOES(xir_pipeline_run(p, net, NULL, NULL, found));
    assert_int_equal(mine, 1);
    xir_pipeline_free(p);
}

static void a_removed_pass_is_not_found(void **state) {
    (void)state;
    size_t n = 0;
    while (xir_pass_at(own, n)) n++;
    const xir_pass_decl *ping = registered("ping");
    xir_pipeline *before = xir_pipeline_parse(own, XIR_STR("ping"), found);
    assert_int_equal(xir_pass_remove(own, "options", found), XIR_E_IN_USE);
    says(XIR_E_IN_USE, "the pass needs-options needs options");
    assert_int_equal(xir_pass_remove(own, "pin", found), XIR_E_UNKNOWN);
    says(XIR_E_UNKNOWN, "there is no pass 'pin'; did you mean 'ping'?");
    assert_int_equal(xir_pass_remove(own, NULL, found), XIR_E_UNKNOWN);
    DOES(xir_pass_remove(own, "ping", found));
    assert_null(registered("ping"));
    assert_null(xir_pass_at(own, n - 1));
    for (size_t i = 0; i + 1 < n; i++) {   /* the others are found as before */
        const xir_pass_decl *pass = xir_pass_at(own, i);
        assert_non_null(pass);
        assert_ptr_equal(registered(pass->name), pass);
    }
    assert_null(xir_pipeline_parse(own, XIR_STR("ping"), found));
    DOES(xir_pipeline_run(before, net, NULL, NULL, found));   /* an old pipeline has it */
    DOES(xir_pass_register(own, ping, found));
    assert_ptr_equal(registered("ping"), ping);
    assert_ptr_equal(xir_pass_at(own, n - 1), ping);
    xir_pipeline_free(before);
}

static void a_needed_pass_that_was_removed_is_an_error(void **state) {
    (void)state;
    xir_pipeline *p = xir_pipeline_parse(own, XIR_STR("needs-options"), found);
    DOES(xir_pass_remove(own, "needs-both", found));
    DOES(xir_pass_remove(own, "needs-options", found));
    DOES(xir_pass_remove(own, "options", found));
    assert_int_equal(xir_pipeline_run(p, net, NULL, NULL, found), XIR_E_UNKNOWN);
    says(XIR_E_UNKNOWN, "needs-options needs options, which is not registered any more");
    xir_pipeline_free(p);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void composing(want *w) {
    xir_pipeline *p, *steps;
    xir_pass_scope *scope;
    static const char *const needs[] = { "needs-options", "tag", NULL };
    static const xir_pass_decl mine = { XIR_PASS_HEAD("ping", "x"), .run = count_run, .needs = needs,
                                        .options = count_options, .n_options = 1, .flags = XIR_PASS_OVERRIDES };
    IN_PLENTY(w, passes_for_tests(w->ctx); w->net = small_net_in(w->ctx));
    TRY_MAKE(w, p, xir_pipeline_new(w->ctx, w->why));
    TRY_MAKE(w, steps, xir_pipeline_new(w->ctx, w->why));
    TRY(w, xir_pipeline_add(steps, &counting, "n=7", w->why));
    TRY(w, xir_pipeline_append(p, steps, 5, w->why));
    TRY(w, xir_pipeline_append(p, p, 0, w->why));
    TRY(w, xir_pass_register(w->ctx, &mine, w->why));
    TRY(w, xir_pass_remove(w->ctx, "pong", w->why));
    TRY_MAKE(w, scope, xir_pass_scope_new(w->ctx, &XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_EXACT), w->why));
    TRY(w, xir_pipeline_run(p, w->net, NULL, NULL, w->why));
    xir_pass_scope_free(scope);
    IN_PLENTY(w, prints(p, "fix{limit=5}(counting{n=7}),fix{limit=5}(counting{n=7})"));
    xir_pipeline_free(p);
    xir_pipeline_free(steps);
}

static void failing_allocations_change_nothing(void **state) {
    (void)state;
    run_scarcely("composing pipelines", composing, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

GROUP {
    const struct CMUnitTest tests[] = {
        TEST(a_pass_object_need_not_be_registered),
        TEST(a_pass_that_asks_for_what_it_does_not_declare_fails),
        TEST(pipelines_are_appended_and_repeated),
        TEST(steps_that_cannot_be_added_are_refused),
        TEST(runs_without_settings_have_those_of_the_scope),
        TEST(a_run_within_a_run_has_its_settings),
        TEST(a_scope_is_of_its_thread_and_context),
        TEST(wrong_scopes_are_refused),
        TEST(a_pass_is_overridden_with_the_flag_only),
        TEST(an_override_makes_no_cycle),
        TEST(a_removed_pass_is_not_found),
        TEST(a_needed_pass_that_was_removed_is_an_error),
        cmocka_unit_test(failing_allocations_change_nothing),
    };
    return RUN_GROUP(tests);
}
