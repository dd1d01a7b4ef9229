/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs that are given values: what is known is not computed, nor what only that needed, whether it is known before the
 * run or when its turn comes. */
#include <stdio.h>
#include <xir/exec.h>
#include "support/scarce.h"
#include "support/story.h"

/* The values of these names are known, to be all `of`; those of `late` only once `after` has been computed. What is
 * computed is listed. */
typedef struct oracle {
    const char  *early, *late, *after;
    double       of;
    bool         come, forgets;   /* forgets: what was known before the run is not known any more */
    char         seen[100];
    xir_context *in;
    xir_array   *given;
    size_t       asked, forget_after;
} oracle;

static bool lists(const char *names, xir_str name) {
    char word[20], all[100];
    snprintf(word, sizeof word, " %.*s ", (int)name.size, name.data);
    snprintf(all, sizeof all, " %s ", names ? names : "");
    return strstr(all, word) != NULL;
}

static bool note(void *user, const xir_value *value, const xir_array *array) {
    oracle *o = user;
    xir_str name = xir_value_name(value);
    size_t n = strlen(o->seen);
    assert_non_null(array);
    snprintf(o->seen + n, sizeof o->seen - n, "%s%.*s", n ? " " : "", (int)name.size, name.data);
    if (o->after && xir_str_equal(name, xir_str_of(o->after))) o->come = true;
    return true;
}

static const xir_array *know(void *user, const xir_value *value) {
    oracle *o = user;
    xir_str name = xir_value_name(value);
    if (++o->asked > o->forget_after && o->forgets) return NULL;
    return lists(o->early, name) || (o->come && lists(o->late, name)) ? o->given : NULL;
}

static xir_array *all_of(xir_context *in, double of, int64_t n) {
    const float v = (float)of, many[4] = { v, v, v, v };
    const xir_type *type = xir_type_tensor(in, xir_type_float(in, XIR_FLOAT_FP32), NULL, &n, 1);
    return type ? xir_array_copy(in, type, many, (size_t)n * sizeof v, NULL) : NULL;
}

/* Runs a story on four twos. */
static xir_status run(const char *story, oracle *o, uint64_t max_work, int64_t given, double *result) {
    xir_network *net = story_net(story);
    xir_array *in = all_of(ctx, 2, 4), *out[2] = { NULL };
    o->given = all_of(ctx, o->of, given);
    const xir_run_options how = XIR_INIT(xir_run_options, .watch = note, .user = o, .known = know,
                                         .max_work = max_work);
    const size_t n = xir_network_outputs(net, NULL, 0);
    xir_status status = xir_network_run(net, (const xir_array *const[]){ in }, 1, out, n, &how, why);
    assert_int_equal(!status, out[0] != NULL);
    *result = out[0] ? xir_array_real(out[0], 0) : 0;
    for (int i = 0; i < 2; i++) xir_array_free(out[i]);
    xir_array_free(in);
    xir_array_free(o->given);
    xir_network_free(net);
    return status;
}

static const struct {
    const char *story;
    oracle      o;
    const char *computed;
    double      result;
} rows[] = {
    /* nothing is known */
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg b; out c", { 0 },                             "a b c", -2 },
    /* what is known, and what only that needed, is not computed */
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg b; out c", { .early = "b", .of = 7 },         "c",     -7 },
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg b; out c", { .early = "c", .of = 7 },         "",       7 },
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg b; out c", { .early = "a b c", .of = 7 },     "",       7 },
    { "x: fp32 4; a = Neg x; b = Neg a; c = Add a b; out c", { .early = "b", .of = 7 },       "a c",    5 },
    /* late: b was going to be computed, so a was */
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg b; out c", { .late = "b", .after = "a", .of = 7 }, "a c", -7 },
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg b; out c", { .late = "c", .after = "a", .of = 7 }, "a b",  7 },
    { "x: fp32 4; a = Neg x; b = Neg a; c = Add b b; out c", { .late = "b c", .after = "a", .of = 7 }, "a", 7 },
    /* an op that nothing uses is computed all the same, and so is what it needs */
    { "x: fp32 4; a = Neg x; b = Neg a; c = Neg x; out c", { .early = "c", .of = 7 },         "a b",    7 },
    /* all outputs of an op, or none */
    { "x: fp32 4; a, b = Split x [sections=2,2 axis=0]; c = Add a b; out c c", { .early = "a", .of = 7 }, "a b c", 4 },
};

static void what_is_known_is_not_computed(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        oracle o = rows[i].o;
        double result;
        DOES(run(rows[i].story, &o, 0, 4, &result));
        if (strcmp(o.seen, rows[i].computed) || result != rows[i].result)
            fail_msg("row %zu: computed %s, result %g", i, o.seen, result);
    }
}

static void known_values_are_not_charged(void **state) {
    (void)state;
    double result;
    oracle none = { 0 }, some = { .early = "b" };
    uint64_t all = 1;   /* the work of three ops */
    while (run(rows[0].story, &none, all, 4, &result) == XIR_E_LIMIT) all++;
    xir_diags_clear(why);
    assert_true(all >= 3 && all % 3 == 0);
    DOES(run(rows[0].story, &some, all / 3, 4, &result));
    assert_int_equal(run(rows[0].story, &some, all / 3 - 1, 4, &result), XIR_E_LIMIT);
    xir_diags_clear(why);
}

static void an_array_that_does_not_fit_is_refused(void **state) {
    (void)state;
    double result;
    oracle o = { .early = "b" };
    assert_int_equal(run(rows[0].story, &o, 0, 3, &result), XIR_E_BOUNDS);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "'b'"));
    xir_diags_clear(why);
    o = (oracle){ .early = "b", .forgets = true, .forget_after = 3 };   /* asked about a, b and c before the run */
    assert_int_equal(run(rows[0].story, &o, 0, 4, &result), XIR_E_MISSING);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "the value is not known any more"));
    xir_diags_clear(why);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_is_not_computed),
        cmocka_unit_test(known_values_are_not_charged),
        cmocka_unit_test(an_array_that_does_not_fit_is_refused),
    };
    return RUN_GROUP(tests);
}
