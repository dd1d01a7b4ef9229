/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The grammar of JSON, without networks: what RFC 8259 allows is read, and written as nlohmann::json writes it; what it
 * forbids is refused at the wrong byte. With XIR_CORPUS set, all of JSONTestSuite too. */
#include <dirent.h>
#include "json/json.h"
#include "support/json_net.h"
#include "support/scratch.h"
#include "support/skips.h"

/* ---- one text ---------------------------------------------------------------------------------------------- */

static xir_status read_any(const char *text, size_t size, paper *out) {
    char *block = block_of(text, size);
    arena a;
    arena_init(&a, context_alloc(ctx));
    xir_any any;
    xir_status status = json_read_any(ctx, &a, (xir_str){ block, size }, &any, why);
    if (status == XIR_OK && out) {
        xir_text_buffer printed;
        assert_int_equal(xir_any_print(ctx, &any, 0, &printed), XIR_OK);
        put_bytes(out, printed.data, printed.size);
        xir_text_free(&printed);
    }
    assert_int_equal(status != XIR_OK, xir_diags_count(why));
    arena_free(&a);
    free(block);
    return status;
}

typedef struct good_json { const char *text, *written; } good_json;

static const good_json good[] = {
    { "null", "null" },
    { "true", "true" },
    { "false", "false" },
    { " \t\r\n null \t\r\n ", "null" },
    { "0", "0" },
    { "-0", "0" },
    { "-0.0", "-0.0" },
    { "-0e1", "-0.0" },
    { "1", "1" },
    { "-1", "-1" },
    { "1234567890123456789", "1234567890123456789" },
    { "9223372036854775807", "9223372036854775807" },
    { "-9223372036854775808", "-9223372036854775808" },
    { "9223372036854775808", "9223372036854775808" },
    { "18446744073709551615", "18446744073709551615" },
    { "18446744073709551616", "1.8446744073709552e+19" },
    { "-9223372036854775809", "-9.223372036854776e+18" },
    { "1.0", "1.0" },
    { "1e2", "100.0" },
    { "1E+2", "100.0" },
    { "1e-2", "0.01" },
    { "0.1", "0.1" },
    { "4.8", "4.8" },
    { "0.10000000149011612", "0.10000000149011612" },
    { "123.456e-789", "0.0" },
    { "1.7976931348623157e308", "1.7976931348623157e+308" },
    { "5e-324", "5e-324" },
    { "1e15", "1e+15" },
    { "1e14", "100000000000000.0" },
    { "0.0001", "0.0001" },
    { "0.00001", "1e-05" },
    { "\"\"", "\"\"" },
    { "\"a\"", "\"a\"" },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
    { "\"\\u0000\"", "\"\\u0000\"" },
    { "\"\\u0041\\u00e9\\u4E2D\"", "\"A\xC3\xA9\xE4\xB8\xAD\"" },
    { "\"\\uD83D\\uDE00\"", "\"\xF0\x9F\x98\x80\"" },
    { "\"\\ud83d\\ude00 x\"", "\"\xF0\x9F\x98\x80 x\"" },
    { "\"\\uFFFF\\uFFFE\"", "\"\xEF\xBF\xBF\xEF\xBF\xBE\"" },
    { "\"\\u001f\\u007f\"", "\"\\u001f\x7F\"" },
    { "\"\x7F\"", "\"\x7F\"" },
    { "\"\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"",
      "\"\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"" },
    { "\"0123456789abcdef0123456789abcdef\\n0123456789abcdef\xC3\xA9\"", "\"0123456789abcdef0123456789abcdef\\n0123456789abcdef\xC3\xA9\"" },
    { "\"\\\\\"", "\"\\\\\"" },
    { "\"\\\\\\\"\"", "\"\\\\\\\"\"" },
    { "[]", "[]" },
    { "[ ]", "[]" },
    { "[1]", "[1]" },
    { "[1,2]", "[1,2]" },
    { "[ 1 , 2 ]", "[1,2]" },
    { "[[],[[]],{}]", "[[],[[]],{}]" },
    { "[null,true,false,\"x\",1.5]", "[null,true,false,\"x\",1.5]" },
    { "{}", "{}" },
    { "{ }", "{}" },
    { "{\"a\":1}", "{\"a\":1}" },
    { "{ \"a\" : 1 , \"b\" : 2 }", "{\"a\":1,\"b\":2}" },
    { "{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}" },
    { "{\"a\":1,\"a\":2}", "{\"a\":2}" },
    { "{\"c\":0,\"a\":1,\"b\":{},\"a\":[2],\"c\":3}", "{\"a\":[2],\"b\":{},\"c\":3}" },
    { "{\"\":0}", "{\"\":0}" },
    { "{\"\\u0061\":1,\"a\":2}", "{\"a\":2}" },
    { "{\"a\\nb\":1}", "{\"a\\nb\":1}" },
    { "{\"ab\":1,\"a\":2,\"B\":3}", "{\"B\":3,\"a\":2,\"ab\":1}" },
    { "{\"\xC3\xA9\":1,\"z\":2}", "{\"z\":2,\"\xC3\xA9\":1}" },
    { "{\"a\":{\"b\":{\"c\":[{}]}}}", "{\"a\":{\"b\":{\"c\":[{}]}}}" },
    { "[1e0,1E0,1e+00,1.50]", "[1.0,1.0,1.0,1.5]" },
};

static void good_texts_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        paper p = { 0 };
        xir_status status = read_any(good[i].text, strlen(good[i].text), &p);
        if (status) fprintf(stderr, "refused: %s\n", good[i].text), show_findings();
        assert_int_equal(status, XIR_OK);
        assert_string_equal(p.data, good[i].written);
        free(p.data);
    }
}

typedef struct bad_json { const char *text; size_t size; xir_status status; uint64_t byte; } bad_json;
#define BAD(text, status, byte) { text, sizeof(text) - 1, XIR_E_##status, byte }

static const bad_json bad[] = {
    BAD("", SYNTAX, 0),
    BAD(" ", SYNTAX, 1),
    BAD("\xEF\xBB\xBF{}", SYNTAX, 0),
    BAD("nul", SYNTAX, 3),
    BAD("nulL", SYNTAX, 3),
    BAD("nullx", SYNTAX, 4),
    BAD("True", SYNTAX, 0),
    BAD("tru", SYNTAX, 3),
    BAD("fals", SYNTAX, 4),
    BAD("NaN", SYNTAX, 0),
    BAD("Infinity", SYNTAX, 0),
    BAD("-Infinity", SYNTAX, 1),
    BAD("-", SYNTAX, 1),
    BAD("+1", SYNTAX, 0),
    BAD("01", SYNTAX, 1),
    BAD("-01", SYNTAX, 2),
    BAD("00", SYNTAX, 1),
    BAD("1.", SYNTAX, 1),
    BAD(".5", SYNTAX, 0),
    BAD("-.5", SYNTAX, 1),
    BAD("1e", SYNTAX, 1),
    BAD("1e+", SYNTAX, 1),
    BAD("1.e1", SYNTAX, 1),
    BAD("0x1", SYNTAX, 1),
    BAD("1 2", SYNTAX, 2),
    BAD("1,", SYNTAX, 1),
    BAD("1e309", BOUNDS, 0),
    BAD("-1e400", BOUNDS, 0),
    BAD("\"", SYNTAX, 1),
    BAD("\"a", SYNTAX, 2),
    BAD("'a'", SYNTAX, 0),
    BAD("\"a\nb\"", SYNTAX, 2),
    BAD("\"a\tb\"", SYNTAX, 2),
    BAD("\"a\0b\"", SYNTAX, 2),
    BAD("\"\x1F\"", SYNTAX, 1),
    BAD("\"\\\"", SYNTAX, 3),
    BAD("\"\\", SYNTAX, 2),
    BAD("\"\\x41\"", SYNTAX, 1),
    BAD("\"\\a\"", SYNTAX, 1),
    BAD("\"\\U0041\"", SYNTAX, 1),
    BAD("\"\\u\"", SYNTAX, 1),
    BAD("\"\\u12\"", SYNTAX, 1),
    BAD("\"\\u123", SYNTAX, 1),
    BAD("\"\\u12G4\"", SYNTAX, 1),
    BAD("\"\\uD800\"", SYNTAX, 1),
    BAD("\"\\uD800x\"", SYNTAX, 1),
    BAD("\"\\uD800\\n\"", SYNTAX, 1),
    BAD("\"\\uD800\\u0041\"", SYNTAX, 1),
    BAD("\"\\uD800\\uD800\"", SYNTAX, 1),
    BAD("\"\\uDC00\"", SYNTAX, 1),
    BAD("\"ab\\uDFFF\"", SYNTAX, 3),
    BAD("\"\x80\"", SYNTAX, 1),
    BAD("\"\xC3\"", SYNTAX, 1),
    BAD("\"\xC0\xAF\"", SYNTAX, 1),
    BAD("\"\xC1\xBF\"", SYNTAX, 1),
    BAD("\"\xE0\x80\x80\"", SYNTAX, 1),
    BAD("\"\xE0\x9F\xBF\"", SYNTAX, 1),
    BAD("\"\xE4\xB8\"", SYNTAX, 1),
    BAD("\"\xED\xA0\x80\"", SYNTAX, 1),
    BAD("\"\xED\xBF\xBF\"", SYNTAX, 1),
    BAD("\"\xF0\x80\x80\x80\"", SYNTAX, 1),
    BAD("\"\xF0\x8F\xBF\xBF\"", SYNTAX, 1),
    BAD("\"\xF4\x90\x80\x80\"", SYNTAX, 1),
    BAD("\"\xF5\x80\x80\x80\"", SYNTAX, 1),
    BAD("\"\xFF\"", SYNTAX, 1),
    BAD("\"abcdefghijklmnopqrstuvwxyz\xC3\"", SYNTAX, 27),
    BAD("\"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\"", SYNTAX, 6),
    BAD("\xC3\xA9", SYNTAX, 0),
    BAD("[", SYNTAX, 1),
    BAD("[1", SYNTAX, 2),
    BAD("[1,", SYNTAX, 3),
    BAD("[1,]", SYNTAX, 3),
    BAD("[,1]", SYNTAX, 1),
    BAD("[1 2]", SYNTAX, 3),
    BAD("[1}", SYNTAX, 2),
    BAD("[1]]", SYNTAX, 3),
    BAD("]", SYNTAX, 0),
    BAD("[\"a\":1]", SYNTAX, 4),
    BAD("[1,,2]", SYNTAX, 3),
    BAD("[\x0C]", SYNTAX, 1),
    BAD("[\xC2\xA0]", SYNTAX, 1),
    BAD("[1] // x", SYNTAX, 4),
    BAD("/* x */ 1", SYNTAX, 0),
    BAD("{", SYNTAX, 1),
    BAD("{\"a\"", SYNTAX, 4),
    BAD("{\"a\":", SYNTAX, 5),
    BAD("{\"a\":1", SYNTAX, 6),
    BAD("{\"a\":1,", SYNTAX, 7),
    BAD("{\"a\":1,}", SYNTAX, 7),
    BAD("{,\"a\":1}", SYNTAX, 1),
    BAD("{\"a\" 1}", SYNTAX, 5),
    BAD("{\"a\",1}", SYNTAX, 4),
    BAD("{\"a\"::1}", SYNTAX, 5),
    BAD("{a:1}", SYNTAX, 1),
    BAD("{1:1}", SYNTAX, 1),
    BAD("{'a':1}", SYNTAX, 1),
    BAD("{\"a\":1]", SYNTAX, 6),
    BAD("{\"a\":1 \"b\":2}", SYNTAX, 7),
    BAD("{\"a\":1}{", SYNTAX, 7),
    BAD("{\"a\":1{\"b\":2}", SYNTAX, 6),
    BAD("[1[2]", SYNTAX, 2),
    BAD("{\"a\":tru}", SYNTAX, 8),
    BAD("{\"a\\x\":1}", SYNTAX, 3),
    BAD("}", SYNTAX, 0),
    BAD("\0", SYNTAX, 0),
    BAD("1\0", SYNTAX, 1),
};

static void bad_texts_are_refused_at_the_bad_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        xir_status status = read_any(bad[i].text, bad[i].size, NULL);
        const xir_diag *d = xir_diags_at(why, 0);
        if (status != bad[i].status || !d || d->byte != bad[i].byte) {
            fprintf(stderr, "%s: byte %" PRIu64 " was expected\n", bad[i].text, bad[i].byte);
            show_findings();
        }
        assert_int_equal(status, bad[i].status);
        assert_non_null(d);
        assert_int_equal(d->code, bad[i].status);
        assert_int_equal(d->byte, bad[i].byte);
        xir_diags_clear(why);
    }
}

static void nesting_is_limited(void **state) {
    (void)state;
    for (size_t depth = 1; depth < 140; depth++) {
        for (int map = 0; map < 2; map++) {
            paper p = { 0 };
            for (size_t i = 0; i < depth; i++) put(&p, "%s", map ? "{\"k\":" : "[");
            put(&p, "1");
            for (size_t i = 0; i < depth; i++) put(&p, "%s", map ? "}" : "]");
            assert_int_equal(read_any(p.data, p.size, NULL), depth <= 128 ? XIR_OK : XIR_E_LIMIT);
            xir_diags_clear(why);
            free(p.data);
        }
    }
    /* Whatever limit a program sets, the stack is safe. */
    xir_limits limits = XIR_INIT(xir_limits), wide;
    assert_int_equal(xir_context_limits(ctx, &limits, why), XIR_OK);
    wide = limits;
    wide.max_depth = UINT32_MAX;
    xir_context_set_limits(ctx, &wide, why);
    size_t size = 1000000;
    char *open = malloc(size);
    memset(open, '[', size);
    assert_int_equal(read_any(open, size, NULL), XIR_E_LIMIT);
    xir_diags_clear(why);
    for (size_t i = 0; i < size; i++) open[i] = "{\"\":"[i % 4];
    assert_int_equal(read_any(open, size, NULL), XIR_E_LIMIT);
    xir_diags_clear(why);
    free(open);
    xir_context_set_limits(ctx, &limits, why);
}

static void findings_have_line_column_and_path(void **state) {
    (void)state;
    static const char text[] = "{\n  \"a/b\": [\n    1,\n    {\"~\": tru}\n  ]\n}";
    assert_int_equal(read_any(text, strlen(text), NULL), XIR_E_SYNTAX);
    const xir_diag *d = xir_diags_at(why, 0);
    assert_int_equal(d->line, 4);
    assert_int_equal(d->column, 14);
    assert_true(xir_str_equal(d->path, XIR_STR("/a~1b/1/~0")));
    xir_diags_clear(why);
}

/* ---- damage ------------------------------------------------------------------------------------------------ */

/* Any text is refused with a finding, or read and written so that it is read back as the same. */
static void check_survives(const char *text, size_t size) {
    paper once = { 0 }, twice = { 0 };
    if (read_any(text, size, &once) == XIR_OK) {
        assert_int_equal(read_any(once.data, once.size, &twice), XIR_OK);
        check_same(once.data, once.size, twice.data, twice.size);
    }
    xir_diags_clear(why);
    free(once.data);
    free(twice.data);
}

static void damaged_texts_are_survived(void **state) {
    (void)state;
    for (int i = 0; i < 60; i++) {
        paper p = { 0 };
        random_any(&p, 4);
        for (size_t n = 0; n < p.size; n++) check_survives(p.data, n);
        for (size_t at = 0; at < p.size; at++) {
            char was = p.data[at];
            for (int k = 0; k < 8; k++) {
                static const char common[] = "\"\\{}[],:0-.eE u\n\x80\xC3\xED\xF4";
                p.data[at] = k < 4 ? common[chance(sizeof common - 1)] : (char)(was ^ (1 << chance(8)));
                check_survives(p.data, p.size);
            }
            p.data[at] = was;
        }
        free(p.data);
    }
}

/* ---- JSONTestSuite ----------------------------------------------------------------------------------------- */

static void the_test_suite_agrees(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    static const char *const folders[] = { "test_parsing", "test_transform" };
    size_t seen[3] = { 0 };
    for (int i = 0; i < 2; i++) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/json/%s", corpus, folders[i]);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            char path[8192];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (entry->d_name[0] == '.') continue;
            size_t size = 0;
            char *text = (char *)scratch_get(path, &size);
            assert_non_null(text);
            xir_status status = read_any(text, size, NULL);
            char wanted = i ? 'i' : entry->d_name[0];
            if ((wanted == 'y' && status) || (wanted == 'n' && !status)) fprintf(stderr, "%s\n", path), show_findings();
            if (wanted == 'y') assert_int_equal(status, XIR_OK);
            if (wanted == 'n') assert_int_not_equal(status, XIR_OK);
            seen[wanted == 'y' ? 0 : wanted == 'n' ? 1 : 2]++;
            xir_diags_clear(why);
            check_survives(text, size);
            free(text);
        }
        closedir(dir);
    }
    assert_true(seen[0] >= 95 && seen[1] >= 188);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts_are_read),
        cmocka_unit_test(bad_texts_are_refused_at_the_bad_byte),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(findings_have_line_column_and_path),
        cmocka_unit_test(damaged_texts_are_survived),
        cmocka_unit_test(the_test_suite_agrees),
    };
    return RUN_GROUP(tests);
}
