/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Running pipelines: which passes run, the checks after a pass, dumps and reproducers; and running out of memory is an
 * error like any other. */
#include <pthread.h>
#include <stdio.h>
#include "support/net.h"
#include "support/passes.h"
#include "support/scarce.h"
#include "support/scratch.h"

static xir_network     *net;
static xir_pass_report *report;

static float weight(size_t i) { return (float)i; }

static int begin_test(void **state) {
    (void)state;
    net = small_net();
    DOES(xir_params_fill_f32(value_of(net, 1), weight));
    report = xir_pass_report_new(ctx);
    memset(&passes_seen, 0, sizeof passes_seen);
    return net && report ? 0 : -1;
}

static int end_test(void **state) {
    (void)state;
    xir_network_free(net);
    xir_pass_report_free(report);
    xir_diags_clear(why);
    return 0;
}

static xir_pipeline *parse(const char *text) {
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(text), why);
    if (!p) xir_diags_print(why, stderr);
    assert_non_null(p);
    return p;
}

static xir_status run(const char *text, const xir_pass_settings *settings) {
    xir_pipeline *p = parse(text);
    xir_status status = xir_pipeline_run(p, net, settings, report, why);
    xir_pipeline_free(p);
    return status;
}

#define RUNS(text, ...)                                                                  \
    do {                                                                                 \
        xir_status status_ = run(text, &XIR_INIT(xir_pass_settings, __VA_ARGS__));             \
        if (status_) xir_diags_print(why, stderr);                                       \
        assert_int_equal(status_, XIR_OK);                                               \
    } while (0)
#define FAILS(text, code, sentence, ...)                                                 \
    do {                                                                                 \
        assert_int_equal(run(text, &XIR_INIT(xir_pass_settings, __VA_ARGS__)), code);          \
        assert_true(xir_diags_count(why) > 0);                                           \
        check_first(code, sentence);                                                     \
    } while (0)
#define NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }

/* The first finding. */
static void check_first(xir_status code, const char *part) {
    const xir_diag *d = xir_diags_at(why, 0);
    char said[1200];
    snprintf(said, sizeof said, "%.*s: %.*s", (int)d->path.size, d->path.data ? d->path.data : "", (int)d->message.size,
             d->message.data);
    if (d->code != code || !strstr(said, part)) fail_msg("expected '%s', found '%s'", part, said);
}

/* The report as text: "tag 1/1" is the step, its runs and changes; two spaces per depth, "+" added, "-" disabled, "^"
 * above the level. */
static void check_report(const char *expected) {
    char said[2000] = "";
    const xir_pass_row *row;
    for (size_t i = 0; (row = xir_pass_report_at(report, i)); i++) {
        char line[200];
        if (row->fate == XIR_PASS_RAN) {
            snprintf(line, sizeof line, "%s%*s%s%.*s %zu/%zu", i ? "\n" : "", (int)(2 * row->depth), "",
                     row->added ? "+" : "", (int)row->text.size, row->text.data, row->runs, row->changes);
        } else {
            snprintf(line, sizeof line, "%s%*s%s%.*s", i ? "\n" : "", (int)(2 * row->depth), "",
                     row->fate == XIR_PASS_DISABLED ? "-" : "^", (int)row->text.size, row->text.data);
        }
        strcat(said, line);
    }
    assert_string_equal(said, expected);
}

static int64_t tag(const char *key) {
    const xir_map *tags = xir_network_tags(net);
    const xir_any *any = tags ? xir_map_find(tags, xir_str_of(key)) : NULL;
    return any ? any->as.integer : -1;
}

/* ---- steps and groups ------------------------------------------------------------------------------------------- */

static void steps_run_in_order_and_are_counted(void **state) {
    (void)state;
    RUNS("tag{value=3},tag{value=3},tag{key=other}", 0);
    check_report("tag{value=3} 1/1\ntag{value=3} 1/0\ntag{key=other} 1/1");
    assert_int_equal(tag("tag"), 3);
    assert_int_equal(tag("other"), 1);
}

static void an_empty_pipeline_does_nothing(void **state) {
    (void)state;
    char *before = picture(net);
    RUNS("", .verify = true);
    check_report("");
    char *after = picture(net);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static void a_group_repeats_until_no_step_changes_anything(void **state) {
    (void)state;
    RUNS("tag{value=3},fix(count-down)", 0);
    check_report("tag{value=3} 1/1\nfix 4/3\n  count-down 4/3");
    assert_int_equal(tag("tag"), 0);
}

/* A step without changes is not repeated unless another step changes something after it. */
static void a_group_ends_in_the_middle_of_a_round(void **state) {
    (void)state;
    RUNS("tag{key=a,value=1},tag{key=b,value=2},fix(count-down{key=a},count-down{key=b},options)", 0);
    check_report("tag{key=a,value=1} 1/1\ntag{key=b,value=2} 1/1\nfix 3/3\n  count-down{key=a} 3/1\n  "
                 "count-down{key=b} 3/2\n  options 2/0");
}

static void nested_groups(void **state) {
    (void)state;
    RUNS("tag{key=a,value=2},tag{key=b,value=2},fix(fix(count-down{key=a}),count-down{key=b})", 0);
    check_report("tag{key=a,value=2} 1/1\ntag{key=b,value=2} 1/1\nfix 3/4\n  fix 5/2\n    count-down{key=a} 5/2\n  "
                 "count-down{key=b} 3/2");
    assert_true(tag("a") == 0 && tag("b") == 0);
}

static void a_group_without_a_fixed_point_is_an_error(void **state) {
    (void)state;
    FAILS("fix{limit=5}(ping,pong)", XIR_E_LIMIT, "fix{limit=5}(...) does not reach a fixed point: round 5 still made 2 changes", 0);
    check_report("fix{limit=5} 5/10\n  ping 5/5\n  pong 5/5");
    xir_diags_clear(why);
    FAILS("fix(ping,pong)", XIR_E_LIMIT, "round 100 still made 2 changes", 0);
    xir_diags_clear(why);
    RUNS("tag{value=2},fix{limit=3}(count-down)", 0);   /* only the last round must be without changes */
    FAILS("tag{value=3},fix{limit=3}(count-down)", XIR_E_LIMIT, "round 3 still made 1 change", 0);
}

static void a_report_says_how_many_ops_there_were(void **state) {
    (void)state;
    RUNS("dce,broken,fix(dce)", 0);
    const xir_pass_row *broken = xir_pass_report_at(report, 1);
    assert_int_equal(broken->ops_before, 6);
    assert_int_equal(broken->ops_after, 5);
    assert_ptr_equal(broken->pass, xir_pass_find(ctx, XIR_STR("broken")));
    const xir_pass_row *group = xir_pass_report_at(report, 2), *inside = xir_pass_report_at(report, 3);
    assert_null(group->pass);
    assert_int_equal(group->ns, inside->ns);
    assert_int_equal(group->ops_before, 5);
    assert_int_equal(inside->depth, 1);
    assert_null(xir_pass_report_at(report, 4));
}

/* ---- selection -------------------------------------------------------------------------------------------------- */

static void passes_above_the_level_are_skipped(void **state) {
    (void)state;
    RUNS("tag,fast,fix(max,tag)", .level = XIR_LEVEL_FAST);
    check_report("tag 1/1\nfast 1/0\nfix 1/0\n  ^max\n  tag 1/0");
}

static void level_zero_runs_everything(void **state) {
    (void)state;
    RUNS("tag,fast,max", 0);
    check_report("tag 1/1\nfast 1/0\nmax 1/0");
    RUNS("tag,fast,max", .level = XIR_LEVEL_NEEDED);
    check_report("^tag\n^fast\n^max");
}

static void required_passes_run_at_any_level(void **state) {
    (void)state;
    RUNS("tag,fast,max", .level = XIR_LEVEL_NEEDED, .required = NAMES("max", "tag"));
    check_report("tag 1/1\n^fast\nmax 1/0");
}

static void disabled_passes_do_not_run(void **state) {
    (void)state;
    RUNS("tag,fix(ping),max", .disabled = NAMES("ping", "max"));
    check_report("tag 1/1\nfix 1/0\n  -ping\n-max");
    RUNS("tag{value=9}", .disabled = NAMES("tag"), .required = NAMES("tag"));
    check_report("-tag{value=9}");
    assert_int_equal(tag("tag"), 1);
}

static void needed_passes_run_first_and_once(void **state) {
    (void)state;
    RUNS("needs-options,needs-both,needs-options", 0);
    check_report("+options 1/0\nneeds-options 1/0\n+tag 1/1\nneeds-both 1/0\nneeds-options 1/0");
    RUNS("options{n=5},needs-options", 0);
    check_report("options{n=5} 1/0\nneeds-options 1/0");
    RUNS("fix(needs-both)", 0);
    check_report("fix 1/0\n  +options 1/0\n  +needs-options 1/0\n  +tag 1/0\n  needs-both 1/0");
    RUNS("needs-both", .no_needs = true);
    check_report("needs-both 1/0");
    RUNS("options,needs-both", .level = XIR_LEVEL_NEEDED);   /* needed passes run at any level */
    check_report("^options\n+options 1/0\n+needs-options 1/0\n+tag 1/0\nneeds-both 1/0");
}

static void a_needed_pass_that_is_disabled_is_an_error(void **state) {
    (void)state;
    FAILS("options,needs-options", XIR_E_INVALID, "needs-options needs options, which is disabled", .disabled = NAMES("options"));
    assert_int_equal(passes_seen.runs, 0);
}

/* ---- settings --------------------------------------------------------------------------------------------------- */

#define CONFIG(...) &(const xir_map){ (const xir_entry[]){ __VA_ARGS__ }, COUNT(((const xir_entry[]){ __VA_ARGS__ })) }

static void configuration_overrides_defaults_but_not_the_pipeline(void **state) {
    (void)state;
    const xir_map *config = CONFIG({ XIR_STR("options.flag"), xir_any_bool(true) },
                                   { XIR_STR("options.n"), xir_any_int(5) },
                                   { XIR_STR("options.word"), xir_any_text(XIR_STR("hello")) }, { XIR_STR("options.x"), xir_any_real(0.25) },
                                   { XIR_STR("seen"), xir_any_null() });
    RUNS("options", .config = config);
    assert_true(passes_seen.n == 5 && passes_seen.x == 0.25 && passes_seen.flag && passes_seen.has_config);
    assert_string_equal(passes_seen.word, "hello");
    RUNS("options{n=6,flag=false}", .config = config);
    assert_true(passes_seen.n == 6 && passes_seen.x == 0.25 && !passes_seen.flag);
    const xir_map *texts = CONFIG({ XIR_STR("options.n"), xir_any_text(XIR_STR("3M")) },
                                  { XIR_STR("options.x"), xir_any_text(XIR_STR("1e3")) });
    RUNS("options", .config = texts);
    assert_true(passes_seen.n == 3000000 && passes_seen.x == 1000 && !passes_seen.has_config);
}

static void unknown_names_in_settings_are_refused_before_anything_runs(void **state) {
    (void)state;
    FAILS("tag", XIR_E_UNKNOWN, "there is no pass 'pign', which the settings disable; did you mean 'ping'?", .disabled = NAMES("pign"));
    xir_diags_clear(why);
    FAILS("tag", XIR_E_UNKNOWN, "'pong2', which the settings require; did you mean 'pong'?", .required = NAMES("ping", "pong2"));
    xir_diags_clear(why);
    FAILS("tag", XIR_E_UNKNOWN, "there is no pass 'tagg', but the configuration has an option for it; did you mean 'tag'?",
          .config = CONFIG({ XIR_STR("tagg.value"), xir_any_int(1) }));
    xir_diags_clear(why);
    FAILS("tag", XIR_E_UNKNOWN, "tag has no option 'valu'; did you mean 'value'?", .config = CONFIG({ XIR_STR("tag.valu"), xir_any_int(1) }));
    xir_diags_clear(why);
    FAILS("tag", XIR_E_TYPE, "option value of the pass tag: expected an integer, found 'one'",
          .config = CONFIG({ XIR_STR("tag.value"), xir_any_text(XIR_STR("one")) }));
    xir_diags_clear(why);
    FAILS("tag", XIR_E_TYPE, "tag.value of the configuration: expected a text, a number or a bool", .config = CONFIG({ XIR_STR("tag.value"), xir_any_null() }));
    xir_diags_clear(why);
    FAILS("tag", XIR_E_TYPE, "tag.key of the configuration: expected a text", .config = CONFIG({ XIR_STR("tag.key"), xir_any_int(1) }));
    assert_int_equal(tag("tag"), -1);
}

/* ---- checks after a pass ---------------------------------------------------------------------------------------- */

static void a_failing_pass_ends_the_run_with_a_finding(void **state) {
    (void)state;
    FAILS("tag,fails,tag{value=2}", XIR_E_UNSUPPORTED, "/ops/0: fails: icraft::xir::Input '", 0);
    check_first(XIR_E_UNSUPPORTED, "7 is too much");
    check_report("tag 1/1\nfails 1/0");
    xir_diags_clear(why);
    FAILS("mute", XIR_E_BOUNDS, "mute: the pass failed (bounds) without a finding", 0);
    xir_diags_clear(why);
    FAILS("clumsy", XIR_E_MISSING, "", 0);
}

static void a_failure_that_a_pass_ignores_is_an_error(void **state) {
    (void)state;
    xir_status status = run("careless,tag", NULL);
    assert_int_equal(status, XIR_E_INVALID);
    size_t n = xir_diags_count(why);
    CHECK_STR(xir_diags_at(why, n - 1)->message, "careless: the pass ignored the failure of a call that changes the network");
    assert_true(n > 1);   /* the failure is reported before */
    check_report("careless 1/0");
}

static void a_verified_pass_must_report_its_changes(void **state) {
    (void)state;
    RUNS("liar", 0);
    FAILS("liar", XIR_E_INVALID, "liar: the pass reports no change, but the network has changed", .verify = true);
    xir_diags_clear(why);
    RUNS("boaster", .verify = true);
    assert_int_equal(xir_diags_count_of(why, XIR_WARNING), 1);
    CHECK_STR(xir_diags_at(why, 0)->message, "boaster: the pass reports 3 changes, but the network is the same");
    xir_diags_clear(why);
    RUNS("tag{value=77},tag{value=77},count-down", .verify = true);
    assert_int_equal(xir_diags_count(why), 0);
}

static void a_verified_pass_must_leave_a_valid_network(void **state) {
    (void)state;
    RUNS("broken", 0);
    xir_network_free(net);
    net = small_net();
    FAILS("tag,broken,tag{value=2}", XIR_E_MISSING, "broken: the network is not valid any more after this pass:", .verify = true);
    assert_true(xir_diags_count(why) > 1);
    assert_int_equal(tag("tag"), 1);
}

/* A network that is invalid at first may become valid; if it does not, that is not an error of any pass. */
static void an_invalid_network_may_become_valid(void **state) {
    (void)state;
    RUNS("broken", 0);
    FAILS("tag,ping", XIR_E_MISSING, "", .verify = true);
    check_report("tag 1/1\nping 1/1");
    xir_diags_clear(why);
    RUNS("tag{value=4}", 0);
}

/* ---- watches ---------------------------------------------------------------------------------------------------- */

typedef struct log_s {
    char        words[400];
    const char *stop;    /* the event at which it fails */
} log_s;

static xir_status note(log_s *log, const char *when, const xir_pass_event *e) {
    char word[100];
    snprintf(word, sizeof word, "%s%s %.*s#%zu/%zu", *log->words ? ", " : "", when, (int)e->text.size, e->text.data,
             e->run, e->changes);
    strcat(log->words, word);
    assert_ptr_equal(e->net, net);
    assert_non_null(e->pass);
    if (!log->stop || !strstr(word, log->stop)) return XIR_OK;
    return xir_diags_add(e->why, XIR_ERROR, XIR_E_STALE, XIR_STR(""), "enough");
}
static xir_status before(void *user, const xir_pass_event *e) { return note(user, "before", e); }
static xir_status after(void *user, const xir_pass_event *e) { return note(user, "after", e); }

static void watches_are_called_before_and_after(void **state) {
    (void)state;
    log_s both = { "", NULL }, one = { "", NULL };
    const xir_pass_watch watches[] = {
        XIR_INIT(xir_pass_watch, .before = before, .after = after, .user = &both),
        XIR_INIT(xir_pass_watch, .after = after, .user = &one),
    };
    RUNS("tag{value=2},fix(count-down)", .watches = watches, .n_watches = 2);
    assert_string_equal(both.words,
                        "before tag{value=2}#1/0, after tag{value=2}#1/1, before count-down#2/0, after count-down#2/1, "
                                    "before count-down#3/0, after count-down#3/1, before count-down#4/0, after count-down#4/0");
    assert_string_equal(one.words,
                        "after tag{value=2}#1/1, after count-down#2/1, after count-down#3/1, after count-down#4/0");
}

static void a_watch_may_end_the_run(void **state) {
    (void)state;
    log_s log = { "", "before ping" };
    const xir_pass_watch watch = XIR_INIT(xir_pass_watch, .before = before, .after = after, .user = &log);
    FAILS("tag,ping,pong", XIR_E_STALE, "enough", .watches = &watch, .n_watches = 1);
    assert_string_equal(log.words, "before tag#1/0, after tag#1/1, before ping#2/0");
    check_report("tag 1/1\nping 0/0");
    log = (log_s){ "", "after ping" };
    xir_diags_clear(why);
    FAILS("tag,ping,pong", XIR_E_STALE, "enough", .watches = &watch, .n_watches = 1);
    check_report("tag 1/0\nping 1/1");
}

/* ---- dumps and reproducers -------------------------------------------------------------------------------------- */

static xir_network *must_load(const char *path) {
    xir_network *loaded = xir_network_load(ctx, path, NULL, why);
    if (!loaded) xir_diags_print(why, stderr);
    assert_non_null(loaded);
    return loaded;
}

static void dumps_are_made_after_each_pass_that_changed_something(void **state) {
    (void)state;
    const char *folder = scratch("dumps");
    xir_network *start = xir_network_clone(net);
    RUNS("tag{value=2},ping,ping,fix(count-down)", .dump_dir = folder);
    assert_int_equal(scratch_count_in(folder), 10);   /* 5 structures, each with its parameters */
    static const char *const names[] = { "00-start", "01-tag", "02-ping", "04-count-down", "05-count-down" };
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.json", folder, names[i]);
        xir_network *dump = must_load(path);
        if (i == 0) {
            assert_true(xir_network_equal(dump, start, true));
        } else {
            const xir_map *tags = xir_network_tags(dump);
            assert_int_equal(xir_map_find(tags, XIR_STR("tag"))->as.integer, i < 3 ? 2 : 4 - (int)i);
        }
        xir_network_free(dump);
    }
    xir_network_free(start);
    RUNS("tag{value=5}", .dump_dir = folder);   /* an existing folder is used */
    assert_int_equal(xir_pass_run(net, "tag", "value=6", NULL, why), XIR_OK);
}

static void a_dump_folder_that_cannot_be_made_is_an_error(void **state) {
    (void)state;
    scratch_put(scratch("plain"), "x", 1);
    FAILS("tag", XIR_E_IO, "can't make the folder", .dump_dir = scratch("no/such"));
    xir_diags_clear(why);
    assert_int_equal(run("tag", &XIR_INIT(xir_pass_settings, .dump_dir = scratch("plain"))), XIR_E_IO);
    assert_int_equal(tag("tag"), -1);
}

static const char *last_note(void) {
    static char said[2000];
    const xir_diag *d = xir_diags_at(why, xir_diags_count(why) - 1);
    assert_non_null(d);
    assert_int_equal(d->severity, XIR_NOTE);
    snprintf(said, sizeof said, "%.*s", (int)d->message.size, d->message.data);
    return said;
}

static void a_failure_leaves_a_reproducer(void **state) {
    (void)state;
    const char *path = scratch("net.failed.json");
    FAILS("tag{value=4},fails", XIR_E_UNSUPPORTED, "7 is too much", .reproduce = path);
    char expected[PATH_MAX * 2];
    snprintf(expected, sizeof expected,
             "the network before fails is kept; this repeats the failure: xir opt %s --passes fails", path);
    assert_string_equal(last_note(), expected);
    xir_network *before_it = must_load(path);
    assert_int_equal(xir_map_find(xir_network_tags(before_it), XIR_STR("tag"))->as.integer, 4);
    assert_int_equal(xir_network_op_count(before_it), 6);
    xir_network_free(before_it);
}

/* The network as the pass found it, not as the pass left it. */
static void a_reproducer_has_the_network_before_the_pass(void **state) {
    (void)state;
    const char *path = scratch("it's before.json");
    log_s log = { "", NULL };
    const xir_pass_watch watch = XIR_INIT(xir_pass_watch, .after = after, .user = &log,
                                           .options = "--prove --seed 3");
    FAILS("options{word=\"a b\"},broken", XIR_E_MISSING, "broken:", .reproduce = path, .verify = true,
          .watches = &watch, .n_watches = 1,
          .config = CONFIG({ XIR_STR("options.n"), xir_any_int(4) },
                           { XIR_STR("who"), xir_any_text(XIR_STR("me too")) }));
    char expected[PATH_MAX * 2];
    snprintf(expected, sizeof expected,
             "xir opt '%s/it'\\''s before.json' --passes broken --verify --set options.n=4 --set 'who=me too' "
             "--prove --seed 3", scratch_folder);
    if (!strstr(last_note(), expected)) fail_msg("expected '%s' in '%s'", expected, last_note());
    xir_network *before_it = must_load(path);
    assert_int_equal(xir_network_op_count(before_it), 6);
    assert_int_equal(xir_network_validate(before_it, why), XIR_OK);
    xir_network_free(before_it);
    xir_diags_clear(why);
    FAILS("needs-options,options{word=\"a b,c\"}", XIR_E_STALE, "", .reproduce = path,
          .watches = &XIR_INIT(xir_pass_watch, .before = before,
          .user = &(log_s){ "", "before options{" }), .n_watches = 1);
    if (!strstr(last_note(), "--passes 'options{word=\"a b,c\"}'")) fail_msg("%s", last_note());
    xir_diags_clear(why);
    FAILS("needs-options", XIR_E_STALE, "", .reproduce = path, .watches = &XIR_INIT(xir_pass_watch, .before = before,
          .user = &(log_s){ "", "before needs" }), .n_watches = 1);
    if (!strstr(last_note(), "--passes needs-options --no-needs")) fail_msg("%s", last_note());
}

static void a_reproducer_that_cannot_be_saved_is_a_note(void **state) {
    (void)state;
    FAILS("fails", XIR_E_UNSUPPORTED, "7 is too much", .reproduce = scratch("no/such.json"));
    if (!strstr(last_note(), "could not be kept in")) fail_msg("%s", last_note());
}

/* ---- copies ----------------------------------------------------------------------------------------------------- */

static void a_run_on_a_copy_does_not_change_the_network(void **state) {
    (void)state;
    char *was = picture(net);
    xir_pipeline *good = parse("tag,broken"), *bad = parse("tag,broken,fails");
    xir_network *copy = xir_pipeline_run_copy(good, net, NULL, report, why);
    assert_non_null(copy);
    assert_int_equal(xir_network_op_count(copy), 5);
    check_report("tag 1/1\nbroken 1/1");
    assert_null(xir_pipeline_run_copy(bad, net, NULL, NULL, why));
    check_first(XIR_E_UNSUPPORTED, "7 is too much");
    char *is = picture(net);
    assert_string_equal(is, was);
    free(was);
    free(is);
    xir_network_free(copy);
    xir_pipeline_free(good);
    xir_pipeline_free(bad);
}

static void one_pass_alone(void **state) {
    (void)state;
    size_t changes = 99;
    assert_int_equal(xir_pass_run(net, "tag", "value=3", &changes, why), XIR_OK);
    assert_int_equal(changes, 1);
    assert_int_equal(xir_pass_run(net, "tag", "value=3", &changes, why), XIR_OK);
    assert_int_equal(changes, 0);
    assert_int_equal(xir_pass_run(net, "needs-options", NULL, NULL, why), XIR_OK);   /* alone */
    assert_int_equal(passes_seen.runs, 0);
    assert_int_equal(xir_pass_run(net, "fails", NULL, &changes, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "7 is too much");
    assert_int_equal(xir_pass_run(net, "tga", NULL, NULL, why), XIR_E_UNKNOWN);
    check_finding(XIR_E_UNKNOWN, "there is no pass 'tga'; did you mean 'tag'?");
    assert_int_equal(xir_pass_run(net, "tag", "value=x", NULL, why), XIR_E_TYPE);
    check_finding(XIR_E_TYPE, "expected an integer");
    assert_int_equal(xir_pass_run(net, "tag", "value=1}", NULL, why), XIR_E_SYNTAX);
    check_finding(XIR_E_SYNTAX, "expected ',', found '}'");
    assert_int_equal(xir_pass_run(net, "tag", "value=1,", NULL, why), XIR_E_SYNTAX);
    xir_diags_clear(why);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

typedef struct shared_s { xir_context *with; xir_pipeline *pipeline; } shared_s;

static void *run_often(void *user) {
    const shared_s *s = user;
    for (int i = 0; i < 20; i++) {
        xir_network *own = small_net_in(s->with);
        xir_pass_report *r = xir_pass_report_new(s->with);
        xir_diags *found = xir_diags_new(s->with);
        if (xir_pipeline_run(s->pipeline, own, &XIR_INIT(xir_pass_settings, .verify = true), r,
                             found) != XIR_OK) abort();
        xir_diags_free(found);
        xir_pass_report_free(r);
        xir_network_free(own);
    }
    return NULL;
}

static void threads_run_one_pipeline(void **state) {
    (void)state;
    shared_s s = { xir_context_new(NULL), NULL };   /* without the group's lock on its counts */
    passes_for_tests(s.with);
    s.pipeline = xir_pipeline_parse(s.with, XIR_STR("tag{value=3},fix(count-down,dce,cse,fuse),infer"), why);
    assert_non_null(s.pipeline);
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++) assert_int_equal(pthread_create(&threads[i], NULL, run_often, &s), 0);
    for (size_t i = 0; i < COUNT(threads); i++) pthread_join(threads[i], NULL);
    xir_pipeline_free(s.pipeline);
    xir_context_free(s.with);
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

static void scarce_run(want *w) {
    xir_pipeline *p = NULL;
    xir_pass_report *r = NULL;
    IN_PLENTY(w,
        passes_for_tests(w->ctx);
        w->net = small_net_in(w->ctx);
        p = xir_pipeline_parse(w->ctx, XIR_STR("needs-both,fix(count-down,fix(dce)),tag{value=3}"), NULL);
        r = xir_pass_report_new(w->ctx));
    TRY_LOOSELY(w, xir_pipeline_run(p, w->net, &XIR_INIT(xir_pass_settings, .verify = true), r, w->why));
    xir_network *copy;
    TRY_MAKE(w, copy, xir_pipeline_run_copy(p, w->net, NULL, NULL, w->why));
    xir_network_free(copy);
    xir_pass_report_free(r);
    xir_pipeline_free(p);
}

static void every_allocation(void **state) {
    (void)state;
    run_scarcely("running a pipeline", scarce_run, false);
}

static int begin(void **state) {
    int result = group_begin(state);
    passes_for_tests(ctx);
    return result;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        TEST(steps_run_in_order_and_are_counted),
        TEST(an_empty_pipeline_does_nothing),
        TEST(a_group_repeats_until_no_step_changes_anything),
        TEST(a_group_ends_in_the_middle_of_a_round),
        TEST(nested_groups),
        TEST(a_group_without_a_fixed_point_is_an_error),
        TEST(a_report_says_how_many_ops_there_were),
        TEST(passes_above_the_level_are_skipped),
        TEST(level_zero_runs_everything),
        TEST(required_passes_run_at_any_level),
        TEST(disabled_passes_do_not_run),
        TEST(needed_passes_run_first_and_once),
        TEST(a_needed_pass_that_is_disabled_is_an_error),
        TEST(configuration_overrides_defaults_but_not_the_pipeline),
        TEST(unknown_names_in_settings_are_refused_before_anything_runs),
        TEST(a_failing_pass_ends_the_run_with_a_finding),
        TEST(a_failure_that_a_pass_ignores_is_an_error),
        TEST(a_verified_pass_must_report_its_changes),
        TEST(a_verified_pass_must_leave_a_valid_network),
        TEST(an_invalid_network_may_become_valid),
        TEST(watches_are_called_before_and_after),
        TEST(a_watch_may_end_the_run),
        TEST(dumps_are_made_after_each_pass_that_changed_something),
        TEST(a_dump_folder_that_cannot_be_made_is_an_error),
        TEST(a_failure_leaves_a_reproducer),
        TEST(a_reproducer_has_the_network_before_the_pass),
        TEST(a_reproducer_that_cannot_be_saved_is_a_note),
        TEST(a_run_on_a_copy_does_not_change_the_network),
        TEST(one_pass_alone),
        TEST(threads_run_one_pipeline),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
