/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pipelines as text: parsing, canonical printing, and the findings for malformed ones, each with its place. */
#include <stdio.h>
#include "support/net.h"
#include "support/passes.h"
#include "support/scarce.h"

static xir_pipeline *parse(const char *text) {
    size_t size = strlen(text);
    char *block = malloc(size + 1);   /* exactly as large as the text: the sanitizer detects a read past its end */
    assert_non_null(block);
    memcpy(block, text, size);
    xir_pipeline *p = xir_pipeline_parse(ctx, (xir_str){ size ? block : NULL, size }, why);
    free(block);
    return p;
}

static void check_printed(const char *text, const char *canonical, int line) {
    xir_pipeline *p = parse(text);
    if (!p) {
        xir_diags_print(why, stderr);
        fail_msg("line %d: '%s' was refused", line, text);
    }
    xir_text_buffer out;
    assert_int_equal(xir_pipeline_print(p, &out), XIR_OK);
    if (out.size != strlen(canonical) || (out.size && memcmp(out.data, canonical, out.size) != 0)) {
        fail_msg("line %d: expected '%s', found '%.*s'", line, canonical, (int)out.size, out.data);
    }
    xir_text_free(&out);
    xir_pipeline_free(p);
}

/* Checks the canonical form of a text, and that the canonical form of that form is itself. */
#define PRINTS(text, canonical) \
    (check_printed(text, canonical, __LINE__), check_printed(canonical, canonical, __LINE__))

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

static void pipelines_print_canonically(void **state) {
    (void)state;
    PRINTS("", "");
    PRINTS(" \n\t", "");
    PRINTS("ping", "ping");
    PRINTS(" ping ,\n pong ", "ping,pong");
    PRINTS("ping,ping", "ping,ping");
    PRINTS("ping{}", "ping");
    PRINTS("options { n = 64K , x=0.5 }", "options{n=64K,x=0.5}");
    PRINTS("options{x=0.5,n=64K}", "options{n=64K,x=0.5}");          /* in the order of the declaration */
    PRINTS("options{flag}", "options{flag}");
    PRINTS("options{flag=true}", "options{flag}");
    PRINTS("options{flag=\"\"}", "options{flag}");
    PRINTS("options{flag=false}", "options{flag=false}");
    PRINTS("fix(ping,pong)", "fix(ping,pong)");
    PRINTS("fix{limit=3}(ping)", "fix{limit=3}(ping)");
    PRINTS("fix { } ( ping , fix(pong) , ping ), pong", "fix(ping,fix(pong),ping),pong");
}

static void values_in_quotes_hold_anything(void **state) {
    (void)state;
    PRINTS("options{word=abc}", "options{word=abc}");
    PRINTS("options{word=\"abc\"}", "options{word=abc}");            /* no quotes where they are not needed */
    PRINTS("options{word=a=b;c:d/e[1]'x'}", "options{word=a=b;c:d/e[1]'x'}");
    PRINTS("options{word=\"a,b\"}", "options{word=\"a,b\"}");
    PRINTS("options{word=\"a b\"}", "options{word=\"a b\"}");
    PRINTS("options{word=\"(){}\"}", "options{word=\"(){}\"}");
    PRINTS("options{word=\"\"}", "options{word=\"\"}");
    PRINTS("options{word=\"\\\"\\\\\"}", "options{word=\"\\\"\\\\\"}");
    PRINTS("options{word=back\\slash}", "options{word=back\\slash}");
    PRINTS("options{word=\"line\nend\"}", "options{word=\"line\nend\"}");
    PRINTS("options{word=\"\xC3\xA4\xFF\x01\"}", "options{word=\"\xC3\xA4\xFF\x01\"}");
    PRINTS("options{word=\xC3\xA4}", "options{word=\xC3\xA4}");
}

static void a_value_may_contain_a_zero_byte(void **state) {
    (void)state;
    xir_pipeline *p = xir_pipeline_parse(ctx, XIR_STR("options{word=\"a\0b\"}"), why);
    xir_text_buffer out;
    assert_non_null(p);
    assert_int_equal(xir_pipeline_print(p, &out), XIR_OK);
    assert_int_equal(out.size, sizeof "options{word=\"a.b\"}" - 1);
    assert_memory_equal(out.data, "options{word=\"a\0b\"}", out.size);
    xir_text_free(&out);
    xir_pipeline_free(p);
}

static void the_text_is_copied(void **state) {
    (void)state;
    char text[] = "options{word=abc,n=2},fix{limit=4}(ping)";
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(p);
    memset(text, '#', sizeof text - 1);
    xir_text_buffer out;
    assert_int_equal(xir_pipeline_print(p, &out), XIR_OK);
    assert_memory_equal(out.data, "options{n=2,word=abc},fix{limit=4}(ping)", out.size);
    xir_text_free(&out);
    xir_pipeline_free(p);
}

/* ---- values of options ------------------------------------------------------------------------------------------ */

static void check_told(const char *options, int64_t n, double x, bool flag, const char *word) {
    xir_network *net = small_net();
    memset(&passes_seen, 0, sizeof passes_seen);
    size_t changes = 1;
    assert_int_equal(xir_pass_run(net, "options", options, &changes, why), XIR_OK);
    assert_int_equal(changes, 0);
    assert_int_equal(passes_seen.n, n);
    assert_true(passes_seen.x == x);
    assert_int_equal(passes_seen.flag, flag);
    assert_string_equal(passes_seen.word, word);
    xir_network_free(net);
}

static void options_have_the_pipeline_s_values_or_their_defaults(void **state) {
    (void)state;
    check_told(NULL, 1000000, 1e-5, false, "");
    check_told("", 1000000, 1e-5, false, "");
    check_told("n=7", 7, 1e-5, false, "");
    check_told("n=-7", -7, 1e-5, false, "");
    check_told("n=2K", 2000, 1e-5, false, "");
    check_told("n=3G", 3000000000, 1e-5, false, "");
    check_told("n=-9223372036854775808", INT64_MIN, 1e-5, false, "");
    check_told("x=3", 1000000, 3, false, "");
    check_told("x=-2.5e3, flag", 1000000, -2500, true, "");
    check_told("flag=false", 1000000, 1e-5, false, "");
    check_told("word=\"a, {b} \\\"c\\\"\",n=0", 0, 1e-5, false, "a, {b} \"c\"");
}

/* ---- errors ----------------------------------------------------------------------------------------------------- */

typedef struct refused {
    const char *text;
    xir_status  status;
    uint32_t    line, column;
    const char *sentence;
} refused;

static const refused bad[] = {
    { "pingg",                    XIR_E_UNKNOWN, 1, 1,  "there is no pass 'pingg'; did you mean 'ping'?" },
    { "ping,\n  pogn",            XIR_E_UNKNOWN, 2, 3,  "did you mean 'pong'?" },
    { "xyzzy-plugh",              XIR_E_UNKNOWN, 1, 1,  "there is no pass 'xyzzy-plugh'" },
    { "Ping",                     XIR_E_UNKNOWN, 1, 1,  "there is no pass 'Ping'; did you mean 'ping'?" },
    { "ping_pong",                XIR_E_UNKNOWN, 1, 1,  "there is no pass 'ping_pong'" },
    { ",ping",                    XIR_E_SYNTAX,  1, 1,  "expected the name of a pass, found ','" },
    { "ping,",                    XIR_E_SYNTAX,  1, 6,  "expected the name of a pass, found the end" },
    { "ping,,pong",               XIR_E_SYNTAX,  1, 6,  "expected the name of a pass, found ','" },
    { "ping pong",                XIR_E_SYNTAX,  1, 6,  "expected ',', found 'p'" },
    { "ping)",                    XIR_E_SYNTAX,  1, 5,  "expected ',', found ')'" },
    { "ping\x01",                 XIR_E_SYNTAX,  1, 5,  "found the byte 0x01" },
    { "ping;pong",                XIR_E_SYNTAX,  1, 5,  "found ';'" },
    { "\"ping\"",                 XIR_E_SYNTAX,  1, 1,  "expected the name of a pass, found '\"'" },
    { "ping{",                    XIR_E_SYNTAX,  1, 6,  "expected the name of an option, found the end" },
    { "ping{x}",                  XIR_E_UNKNOWN, 1, 6,  "ping has no option 'x'" },
    { "options{nn=1}",            XIR_E_UNKNOWN, 1, 9,  "options has no option 'nn'; did you mean 'n'?" },
    { "options{flagg}",           XIR_E_UNKNOWN, 1, 9,  "did you mean 'flag'?" },
    { "options{n}",               XIR_E_SYNTAX,  1, 9,  "the option n has no value: expected n=..." },
    { "options{n=}",              XIR_E_SYNTAX,  1, 11, "expected a value, found '}'" },
    { "options{n=1",              XIR_E_SYNTAX,  1, 12, "expected ',' or '}', found the end" },
    { "options{n=1,}",            XIR_E_SYNTAX,  1, 13, "expected the name of an option, found '}'" },
    { "options{n=1 x=2}",         XIR_E_SYNTAX,  1, 13, "expected ',' or '}', found 'x'" },
    { "options{n=1,n=2}",         XIR_E_EXISTS,  1, 13, "duplicate option n" },
    { "options{n=one}",           XIR_E_TYPE,    1, 11, "option n of the pass options: expected an integer, found 'one'" },
    { "options{n=1.5}",           XIR_E_TYPE,    1, 11, "expected an integer" },
    { "options{n=1KK}",           XIR_E_TYPE,    1, 11, "expected an integer" },
    { "options{n=K}",             XIR_E_TYPE,    1, 11, "expected an integer" },
    { "options{n=01}",            XIR_E_TYPE,    1, 11, "expected an integer" },
    { "options{n=9223372036854775808}", XIR_E_TYPE, 1, 11, "expected an integer" },
    { "options{n=9223372036854776K}", XIR_E_TYPE, 1, 11, "expected an integer" },
    { "options{x=1e999}",         XIR_E_TYPE,    1, 11, "expected a number" },
    { "options{x=nan}",           XIR_E_TYPE,    1, 11, "expected a number" },
    { "options{flag=yes}",        XIR_E_TYPE,    1, 14, "expected true or false" },
    { "options{word=\"abc}",      XIR_E_SYNTAX,  1, 14, "the closing \" is missing" },
    { "options{word=\"abc\\\"}",  XIR_E_SYNTAX,  1, 14, "the closing \" is missing" },
    { "options{word=\"abc\\",     XIR_E_SYNTAX,  1, 14, "the closing \" is missing" },
    { "options{word=\"a\\n\"}",   XIR_E_SYNTAX,  1, 16, "after a backslash" },
    { "options{word=\"a\"b}",     XIR_E_SYNTAX,  1, 17, "expected ',' or '}', found 'b'" },
    { "options{n=1}{x=2}",        XIR_E_SYNTAX,  1, 13, "expected ',', found '{'" },
    { "fix",                      XIR_E_SYNTAX,  1, 4,  "expected '(', found the end" },
    { "fix()",                    XIR_E_SYNTAX,  1, 5,  "expected the name of a pass, found ')'" },
    { "fix(ping",                 XIR_E_SYNTAX,  1, 9,  "expected ',' or ')', found the end" },
    { "fix(ping))",               XIR_E_SYNTAX,  1, 10, "expected ',', found ')'" },
    { "fix(ping,)",               XIR_E_SYNTAX,  1, 10, "expected the name of a pass" },
    { "fix{limit=0}(ping)",       XIR_E_BOUNDS,  1, 1,  "expected a limit of at least 1 for a group" },
    { "fix{limit=x}(ping)",       XIR_E_TYPE,    1, 11, "expected an integer" },
    { "fix{limt=1}(ping)",        XIR_E_UNKNOWN, 1, 5,  "fix has no option 'limt'; did you mean 'limit'?" },
    { "ping(pong)",               XIR_E_SYNTAX,  1, 5,  "expected ',', found '('" },
};

static void errors_have_their_place(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        xir_diags_clear(why);
        assert_null(parse(bad[i].text));
        assert_int_equal(xir_diags_count(why), 1);
        const xir_diag *d = xir_diags_at(why, 0);
        char said[600];
        snprintf(said, sizeof said, "%.*s", (int)d->message.size, d->message.data);
        if (d->code != bad[i].status || d->line != bad[i].line || d->column != bad[i].column ||
            !strstr(said, bad[i].sentence)) {
            fail_msg("'%s': %s %u:%u %s", bad[i].text, xir_status_name(d->code), d->line, d->column, said);
        }
        CHECK_STR(d->file, "pipeline");
        xir_diags_clear(why);
        xir_diags *none = why;
        why = NULL;   /* without a list of findings */
        assert_null(parse(bad[i].text));
        why = none;
    }
}

static void groups_nest_at_most_sixteen_deep(void **state) {
    (void)state;
    char text[400] = "";
    for (int i = 0; i < 16; i++) strcat(text, "fix(");
    strcat(text, "ping");
    for (int i = 0; i < 16; i++) strcat(text, ")");
    PRINTS(text, text);
    char deeper[500];
    snprintf(deeper, sizeof deeper, "fix(%s)", text);
    assert_null(parse(deeper));
    check_finding(XIR_E_LIMIT, "at most 16 nested groups");
    char deepest[100001];   /* no unbounded recursion */
    for (size_t i = 0; i < 100000; i += 4) memcpy(deepest + i, "fix(", 4);
    deepest[100000] = '\0';
    assert_null(parse(deepest));
    check_finding(XIR_E_LIMIT, "at most 16 nested groups");
}

static void every_beginning_and_every_other_byte(void **state) {
    (void)state;
    static const char text[] = "tag{key=\"a,b\\\"\",value=2},fix{limit=3}(options{flag,x=1e3},ping)";
    for (size_t n = 0; n < sizeof text; n++) {
        for (int other = -1; other < 128; other++) {
            char copy[sizeof text];
            memcpy(copy, text, n);
            copy[n] = '\0';
            if (other >= 0 && n) copy[n - 1] = (char)other;
            size_t size = n;
            if (other >= 0) {   /* one byte is replaced; the rest follows */
                memcpy(copy, text, sizeof text);
                if (n) copy[n - 1] = (char)other;
                size = sizeof text - 1;
            }
            xir_pipeline *p = xir_pipeline_parse(ctx, (xir_str){ copy, size }, why);
            if (p) {
                xir_text_buffer out, again;
                assert_int_equal(xir_pipeline_print(p, &out), XIR_OK);
                xir_pipeline *q = xir_pipeline_parse(ctx, (xir_str){ out.data, out.size }, why);
                assert_non_null(q);
                assert_int_equal(xir_pipeline_print(q, &again), XIR_OK);
                assert_int_equal(again.size, out.size);
                if (out.size) assert_memory_equal(again.data, out.data, out.size);
                xir_text_free(&out);
                xir_text_free(&again);
                xir_pipeline_free(q);
            } else {
                assert_int_equal(xir_diags_count(why), 1);
            }
            xir_pipeline_free(p);
            xir_diags_clear(why);
        }
    }
}

/* ---- registration ----------------------------------------------------------------------------------------------- */

static xir_status nothing(xir_pass *at) {
    (void)at;
    return XIR_OK;
}

typedef struct bad_decl {
    xir_pass_decl decl;
    xir_status    status;
    const char   *sentence;
} bad_decl;

#define GOOD(name_) XIR_PASS_HEAD(name_, "x"), .level = XIR_LEVEL_EXACT, .run = nothing
#define WITH(...) \
    .options = (const xir_pass_option[]){ __VA_ARGS__ }, .n_options = \
        COUNT(((const xir_pass_option[]){ __VA_ARGS__ }))

static const char *const needs_nobody[] = { "nobody", NULL };
static const char *const needs_itself[] = { "itself", NULL };

static const bad_decl bad_decls[] = {
    { { .abi = XIR_ABI + 1, .size = sizeof(xir_pass_decl) }, XIR_E_ABI, "another version of the binary interface" },
    { { .abi = XIR_ABI, .size = 8 },                    XIR_E_ABI,     "another version" },
    { { GOOD(NULL) },                                   XIR_E_INVALID, "'' is not a name for a pass" },
    { { GOOD("") },                                     XIR_E_INVALID, "'' is not a name for a pass" },
    { { GOOD("Upper") },                                XIR_E_INVALID, "'Upper' is not a name for a pass" },
    { { GOOD("a b") },                                  XIR_E_INVALID, "'a b' is not a name" },
    { { GOOD("1st") },                                  XIR_E_INVALID, "'1st' is not a name" },
    { { GOOD("fix") },                                  XIR_E_INVALID, "'fix' is not a name" },
    { { XIR_PASS_HEAD("x", "x") },                      XIR_E_INVALID, "the pass x has no function" },
    { { XIR_PASS_HEAD("x", NULL), .run = nothing },     XIR_E_INVALID, "no function, description or level" },
    { { XIR_PASS_HEAD("x", "x"), .run = nothing, .level = 5 },  XIR_E_INVALID, "no function, description or level" },
    { { XIR_PASS_HEAD("x", "x"), .run = nothing, .level = -1 }, XIR_E_INVALID, "no function, description or level" },
    { { GOOD("x"), .n_options = 1 },                    XIR_E_INVALID, "the pass x has" },
    { { GOOD("x"), .needs = needs_nobody },             XIR_E_INVALID, "the pass x needs nobody, which is not registered" },
    { { GOOD("itself"), .needs = needs_itself },        XIR_E_INVALID, "the pass itself needs itself" },
    { { GOOD("ping") },                                 XIR_E_EXISTS,  "there is a pass 'ping' already" },
    { { GOOD("x"), WITH({ "n", XIR_PASS_INT, "one", "d" }) },  XIR_E_INVALID, "option n of the pass x: expected an integer, found 'one'" },
    { { GOOD("x"), WITH({ "n", XIR_PASS_INT, NULL, "d" }) },   XIR_E_INVALID, "option n of the pass x has no default" },
    { { GOOD("x"), WITH({ "n", XIR_PASS_BOOL, NULL, "d" }) },  XIR_E_INVALID, "option n of the pass x has no default" },
    { { GOOD("x"), WITH({ "n", XIR_PASS_INT, "1", NULL }) },   XIR_E_INVALID, "and a description" },
    { { GOOD("x"), WITH({ "a.b", XIR_PASS_INT, "1", "d" }) },  XIR_E_INVALID, "option 'a.b' of the pass x" },
    { { GOOD("x"), WITH({ NULL, XIR_PASS_INT, "1", "d" }) },   XIR_E_INVALID, "option '' of the pass x" },
    { { GOOD("x"), WITH({ "n", XIR_PASS_INT, "1", "d" }, { "n", XIR_PASS_INT, "1", "d" }) }, XIR_E_INVALID, "expected a unique name" },
    { { GOOD("x"), WITH({ "n", (xir_pass_kind)9, "1", "d" }) }, XIR_E_INVALID, "expected an option of a known kind" },
};

static void invalid_passes_are_not_registered(void **state) {
    (void)state;
    size_t n = 0;
    while (xir_pass_at(ctx, n)) n++;
    for (size_t i = 0; i < COUNT(bad_decls); i++) {
        if (xir_pass_register(ctx, &bad_decls[i].decl, why) != bad_decls[i].status) fail_msg("row %zu", i);
        check_finding(bad_decls[i].status, bad_decls[i].sentence);
        assert_null(xir_pass_at(ctx, n));
    }
    assert_int_equal(xir_pass_register(ctx, NULL, why), XIR_E_INVALID);
    xir_diags_clear(why);
}

static void passes_are_found_by_name_and_by_position(void **state) {
    (void)state;
    size_t n = 0;
    for (const xir_pass_decl *pass; (pass = xir_pass_at(ctx, n)); n++)
        assert_ptr_equal(xir_pass_find(ctx, xir_str_of(pass->name)), pass);
    assert_true(n >= 16);
    assert_null(xir_pass_find(ctx, XIR_STR("pin")));
    assert_null(xir_pass_find(ctx, XIR_STR("")));
}

static void the_default_pipeline_is_valid(void **state) {
    (void)state;
    PRINTS(xir_default_pipeline(), xir_default_pipeline());
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

static void parse_and_print(want *w) {
    xir_pipeline *p;
    IN_PLENTY(w, passes_for_tests(w->ctx));
    TRY_MAKE(w, p, xir_pipeline_parse(w->ctx, XIR_STR("tag{key=\"a,b\",value=2},fix{limit=3}(options{flag,x=1e3},ping),pong,ping,pong,ping,pong"),
                                      w->why));
    xir_text_buffer out;
    TRY(w, xir_pipeline_print(p, &out));
    xir_text_free(&out);
    xir_pipeline_free(p);
}

static void every_allocation(void **state) {
    (void)state;
    run_scarcely("parsing and printing", parse_and_print, false);
}

static int begin(void **state) {
    int result = group_begin(state);
    passes_for_tests(ctx);
    return result;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelines_print_canonically),
        cmocka_unit_test(values_in_quotes_hold_anything),
        cmocka_unit_test(a_value_may_contain_a_zero_byte),
        cmocka_unit_test(the_text_is_copied),
        cmocka_unit_test(options_have_the_pipeline_s_values_or_their_defaults),
        cmocka_unit_test(errors_have_their_place),
        cmocka_unit_test(groups_nest_at_most_sixteen_deep),
        cmocka_unit_test(every_beginning_and_every_other_byte),
        cmocka_unit_test(invalid_passes_are_not_registered),
        cmocka_unit_test(passes_are_found_by_name_and_by_position),
        cmocka_unit_test(the_default_pipeline_is_valid),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
