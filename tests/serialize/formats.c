/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formats as rows: detection by content and by name, formats that are detected but refused, and places of findings in a
 * text. */
#include "support/load_net.h"
#include "support/probe.h"

static const char json_head[] = "{\"_type_key\":\"icraft::xir::Network\",\"name\":\"n\"}";
/* The header of a network of nothing: an index of five entries, and no data. */
#define NNB_HEAD "\2\0\0\0\1\0\0\0" "\0\0\0\0\2\0\0\0" "\0\0\0\0\3\0\0\0" "\0\0\0\0\4\0\0\0" "\0\0\0\0\0\0\0\0" \
                 "\0\0\0\0\1\0\0\0" "\5\0\0\0\0\0\0\0"
static const char pnnx_head[] = "7767517\n2 1\npnnx.Input  in 0 1 x\npnnx.Output out 1 0 x\n";
static const char ncnn_head[] = "7767517\n2 1\nInput       in 0 1 x\nConvolution c 1 1 x y 0=64\n";
static const char tsm_head[]  = "\0\0\0\0\x29\x09\x91\x19rest of it";

/* ---- grades ------------------------------------------------------------------------------------------------------ */

static void grades_of_the_library(void **state) {
    (void)state;
    static const struct { const format *f; const char *head; size_t size; xir_probe_grade grade; } rows[] = {
#define ROW(f, text, grade) { &format_##f, text, sizeof(text) - 1, XIR_PROBE_##grade }
        ROW(json, "{\"_type_key\":1", YES),   ROW(json, " \r\n\t{ \"ops\" :[]", YES),  ROW(json, "\xEF\xBB\xBF{\"name\":1", YES),
        ROW(json, "{\"graph\":1", LIKELY),    ROW(json, "{}", LIKELY),                 ROW(json, "{ } ", LIKELY),
        ROW(json, "{", MAYBE),                ROW(json, "{\"na", MAYBE),               ROW(json, "{\"name\"", MAYBE),
        ROW(json, "{\"name\" 1", MAYBE),      ROW(json, "{name: 1}", MAYBE),           ROW(json, "[", MAYBE),
        ROW(json, "[1, 2", MAYBE),            ROW(json, "", NO),                       ROW(json, "\"name\"", NO),
        ROW(json, "   ", NO),                 ROW(json, "7767517\n", NO),              ROW(json, "\xEF\xBB\xBF", NO),
        ROW(msgpack, "\x81\xA4name\xA1n", YES), ROW(msgpack, "\x81\xA4zzzz\xA1n", NO), ROW(msgpack, "\x80", NO),
        ROW(msgpack, "\x81\x01", NO),         ROW(msgpack, "{\"name\":1}", NO),        ROW(msgpack, "\x81", NO),
        ROW(onnx, "\x08\x07:\x02", LIKELY),       ROW(onnx, "\x08\0\0\0", NO),             ROW(onnx, "{\"ir_version\":7}", NO),
        ROW(pnnx, "7767517\n2 1\npnnx.Input in 0 1 x", YES), ROW(pnnx, "7767517\r\n2 1\r\naten::add a 2 1", YES),
        ROW(pnnx, "7767517\n2 1\nInput in 0 1 x.y", LIKELY), ROW(pnnx, "7767517\n2", LIKELY), ROW(pnnx, "7767517\n", LIKELY),
        ROW(pnnx, "7767517", NO),             ROW(pnnx, "77675170\n", NO),             ROW(pnnx, "7767517 2 1", NO),
        ROW(tsm, "\0\0\0\0\x29\x09\x91\x19", YES), ROW(tsm, "\0\0\0\0\x29\x09\x91", NO),
        ROW(tsm, "\x29\x09\x91\x19\x8\0\0\0", NO), ROW(tsm, "\x29\x09\x91\x19\x6\0\0\0", YES), ROW(tsm, "fastfastfastfastfastfast", NO),
        ROW(nnb, "anything", NO),             ROW(nnb, "\2\0\0", NO),                  ROW(nnb, "\2\0\0\0\1\0\0\0", MAYBE),
        ROW(nnb, NNB_HEAD, MAYBE),           ROW(nnb, "\4\0\0\0\1\0\0\0", NO),
        ROW(deepx, "add(a)->(b)", LIKELY),    ROW(deepx, "# note\n\nprint t ->", LIKELY), ROW(deepx, "// x\nadd (", NO),
        ROW(deepx, "deepxir f(a: f32)", YES), ROW(deepx, "func f(a: f32)", NO),      ROW(deepx, "add->(b)", NO),
        ROW(text, "xir 1\n", YES),            ROW(text, "// opt: fold\n\nxir 12", YES),     ROW(text, "xir", MAYBE),
        ROW(text, "\xEF\xBB\xBFxir 1", YES), ROW(text, "\xEF\xBB\xBF", NO), ROW(text, "\xFF\xFEx", NO),
        ROW(text, "xir ", MAYBE),             ROW(text, "xir x", NO),                  ROW(text, "xi", NO),
        ROW(text, "// note", NO),             ROW(text, "xirs 1", NO),                 ROW(text, "", NO),
        ROW(deepx, "a b", NO),                ROW(deepx, "->(b)", NO),                 ROW(deepx, "{\"a -> b\":1}", NO),
#undef ROW
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *exact = malloc(rows[i].size + !rows[i].size);   /* so that a sanitizer sees reads beyond it */
        memcpy(exact, rows[i].head, rows[i].size);
        xir_probe_grade grade = probe_head(rows[i].f, exact, rows[i].size);
        if (grade != rows[i].grade) fail_msg("row %zu, %s: expected %d, found %d", i, rows[i].f->name,
                                             rows[i].grade, grade);
        free(exact);
    }
}

static void content_and_name(void **state) {
    (void)state;
    static const struct { const char *head; size_t size; const char *name, *expected; } rows[] = {
#define ROW(text, name, expected) { text, sizeof(text) - 1, name, expected }
        ROW("", "x.json", "json"),            ROW("", "x.imodel", "imodel"),           ROW("", "x.msg", "imodel"),
        ROW("", "x.fb", "fb"),                ROW("", "x.onnx", "onnx"),               ROW("", "x.param", "pnnx"),
        ROW("", "x.pnnx.param", "pnnx"),      ROW("", "x.nnb", "nnb"),                 ROW("", "x.tsm", "tsm"),
        ROW("", "x.xir", "text"), ROW("", "x.ir", "deepx"),             ROW("", "x.dxir", "deepx"),            ROW("", "x", NULL),                      ROW("", "", NULL),
        ROW("", ".json", NULL),               ROW("", "d.json/x", NULL),               ROW("", "d/.json", NULL),
        ROW("", "x.JSON", NULL),              ROW("", "json", NULL),                   ROW("", "x.xyz", NULL),
        ROW("hello", "x.nnb", "nnb"),         ROW("hello", "x", NULL),                 ROW("hello", "x.json", "json"),
        ROW("[1]", "x", "json"),              ROW("[1]", "x.onnx", "json"),            ROW("{a", "x.fb", "json"),
#undef ROW
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *word = xir_format_detect(ctx, rows[i].head, rows[i].size, rows[i].size, xir_str_of(rows[i].name));
        if (!word != !rows[i].expected || (word && strcmp(word, rows[i].expected) != 0))
            fail_msg("row %zu, '%s': %s was expected, not %s", i, rows[i].name, rows[i].expected, word);
    }
    /* Each content under the name of each other format. */
    static const struct { const char *word, *head; size_t size; } contents[] = {
        { "json", json_head, sizeof json_head - 1 }, { "imodel", "\x81\xA4name\xA1n", 8 },     { "onnx", "\x08\x07\x3A\x02\x12\0", 6 },
        { "pnnx", pnnx_head, sizeof pnnx_head - 1 }, { "pnnx", ncnn_head, sizeof ncnn_head - 1 }, { "tsm", tsm_head, sizeof tsm_head - 1 },
    };
    xir_format_info f = XIR_INIT(xir_format_info);
    CHECK_STR(xir_str_of(xir_format_detect(ctx, NNB_HEAD, sizeof NNB_HEAD - 1, 76, XIR_STR("x.json"))), "nnb");
    assert_null(xir_format_detect(ctx, NNB_HEAD, sizeof NNB_HEAD - 1, 77, XIR_STR("x")));   /* its size is another */
    for (size_t i = 0; i < COUNT(contents); i++) {
        for (size_t j = 0; xir_context_format_at(ctx, j, &f, NULL) == XIR_OK; j++) {
            char name[40];
            snprintf(name, sizeof name, "x.%.*s", (int)strcspn(f.suffixes, " "), f.suffixes);
            const char *word = xir_format_detect(ctx, contents[i].head, contents[i].size, XIR_NO_BYTE,
                                                 xir_str_of(name));
            if (!word || strcmp(word, contents[i].word) != 0) fail_msg("%s in %s is %s", contents[i].word, name, word);
        }
    }
}

static void a_cut_head_is_never_another_format(void **state) {
    (void)state;
    xir_format_info f = XIR_INIT(xir_format_info);
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("cut", &f);
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        for (size_t n = 0; n <= XIR_PROBE_HEAD && n <= size; n++) {
            uint8_t *head = malloc(n + !n);
            memcpy(head, bytes, n);
            const char *word = xir_format_detect(ctx, head, n, XIR_NO_BYTE, XIR_STR(""));
            if (word && strcmp(word, f.name) != 0) fail_msg("%zu bytes of %s are %s", n, f.name, word);
            free(head);
        }
        free(bytes);
    }
    xir_network_free(net);
}

static void formats_that_are_only_detected_are_refused(void **state) {
    static const xir_format_decl seen = { XIR_FORMAT_HEAD("seen", "only detected"), .suffixes = "seen" };
    (void)state;
    assert_int_equal(xir_format_register(ctx, &seen, why), XIR_OK);
    scratch_put(scratch("a.seen"), "x", 1);
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("a.seen"), NULL, why), XIR_E_UNSUPPORTED,
                  "files of format seen cannot be read");
    FAILS_TO_LOAD(xir_network_read(ctx, "x", 1, XIR_STR("a.seen"), NULL, why), XIR_E_UNSUPPORTED,
                  "files of format seen cannot be read");
}

/* ---- equal grades ----------------------------------------------------------------------------------------------- */

/* Both formats grade a file by its second byte; the third, if it is '=', must be the size of the file. */
static xir_probe_grade said(const xir_probe *file, char first) {
    const char *head = file->head;
    if (file->head_size < 2 || head[0] != first) return XIR_PROBE_NO;
    if (file->head_size > 2 && head[2] == '=') {
        if (file->total == XIR_NO_BYTE) return XIR_PROBE_MAYBE;
        if (file->total != 4) return XIR_PROBE_NO;
    }
    return (xir_probe_grade)(head[1] - '0');
}
static xir_probe_grade both_say(const xir_probe *file, void *user) {
    (void)user;
    return said(file, '#');
}
static xir_probe_grade second_says(const xir_probe *file, void *user) {
    const xir_probe_grade grade = said(file, '#'), own = said(file, '%');
    (void)user;
    return own ? own : grade > XIR_PROBE_MAYBE ? grade - 1 : grade;   /* less sure of the other's files */
}

static const xir_format_decl first = { XIR_FORMAT_HEAD("tie-first", "one"), .suffixes = "one x.both",
                                       .probe = both_say };
static const xir_format_decl second = { XIR_FORMAT_HEAD("tie-second", "two"), .suffixes = "two both",
                                        .probe = second_says };

static void the_name_decides_between_equal_grades(void **state) {
    (void)state;
    DOES(xir_format_register(ctx, &first, why));
    DOES(xir_format_register(ctx, &second, why));
    static const struct { const char *head; uint64_t total; const char *name, *expected; } rows[] = {
        { "#1", 2, "", "tie-first" },             /* by order */
        { "#1", 2, "a.one", "tie-first" },        { "#1", 2, "a.two", "tie-second" },
        { "#1", 2, "a.json", "tie-first" },       /* a suffix of a format that says NO */
        { "#1", 2, "a.both", "tie-second" },      { "#1", 2, "a.x.both", "tie-first" },   /* the longer one */
        { "#2", 2, "a.two", "tie-first" },        { "#3", 2, "a.two", "tie-first" },      /* a higher grade */
        { "%1", 2, "a.one", "tie-second" },       { "%3", 2, "a.one", "tie-second" },
        { "#0", 2, "a.two", "tie-second" },       /* by name alone */
        { "#0", 2, "a", NULL },
        { "#3=x", 4, "a", "tie-first" },          { "#3=x", 5, "a", NULL },
        { "#3=x", XIR_NO_BYTE, "a", "tie-first" },
        { "#3=x", XIR_NO_BYTE, "a.two", "tie-second" },   /* without a size both say MAYBE */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *word = xir_format_detect(ctx, rows[i].head, strlen(rows[i].head), rows[i].total,
                                             xir_str_of(rows[i].name));
        if (!word != !rows[i].expected || (word && strcmp(word, rows[i].expected) != 0))
            fail_msg("row %zu: %s was expected, not %s", i, rows[i].expected, word);
    }
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

/* "path@byte", "line:column" of each finding, in order; '-' has no place. */
static void check_places(const char *name, const char *text, const char *asked, const char *expected) {
    xir_diags *from = xir_diags_new(ctx), *to = xir_diags_new(ctx);
    char words[200], got[400] = "";
    snprintf(words, sizeof words, "%s", asked);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *at = strchr(word, '@');
        if (at) *at = '\0';
        xir_diags_append(from, &(xir_diag){
            .severity = XIR_ERROR, .code = XIR_E_INVALID, .path = xir_str_of(strcmp(word, ".") == 0 ? "" : word),
            .message = XIR_STR("m"), .byte = at ? strtoull(at + 1, NULL, 10) : XIR_NO_BYTE });
    }
    DOES(xir_format_place_findings(ctx, name, xir_str_of(text), XIR_STR("file"), from, to));
    for (size_t i = 0; i < xir_diags_count(to); i++) {
        const xir_diag *d = xir_diags_at(to, i);
        CHECK_STR(d->file, "file");
        size_t n = strlen(got);
        if (d->line) snprintf(got + n, sizeof got - n, "%s%u:%u", i ? " " : "", d->line, d->column);
        else snprintf(got + n, sizeof got - n, "%s-", i ? " " : "");
    }
    assert_string_equal(got, expected);
    xir_diags_free(from);
    xir_diags_free(to);
}

static void places_in_a_text(void **state) {
    (void)state;
    static const char json[] = "{\"a\": [1,\n 2, {\"b/c\": 3}],\n\"d\": 4}";
    check_places("json", json, "/a/1", "2:2");
    check_places("json", json, "/d /a/0 /a/2/b~1c .", "1:1 1:8 2:13 3:6");
    check_places("json", json, "/nothing /a/7", "1:1 1:7");       /* the place that would contain it */
    check_places("json", json, "x @0 @11 @33", "1:1 2:2 3:7 -");
    check_places("json", json, "x@9999 @9999", "1:1 -");
    check_places("fb", "binary", "/ops/1 @2", "1:3 -");
    static const char pnnx[] = "7767517\n4 3\npnnx.Input i 0 1 0\npnnx.Input j 0 1 1\n torch.t t 1 1 0 2\npnnx.Output o 1 0 2\n";
    check_places("pnnx", pnnx, "/ops/0 /ops/0/outputs/1 /ops/1/inputs/0 /ops/2/inputs/0", "3:1 4:1 5:2 6:1");
    check_places("json", "", "/a @0", "1:1 1:1");
    xir_diags *from = xir_diags_new(ctx), *to = xir_diags_new(ctx);
    DOES(xir_format_place_findings(ctx, "json", XIR_STR("{}"), XIR_STR("f"), from, to));
    xir_diags_append(from, &(xir_diag){ .path = XIR_STR("/a"), .file = XIR_STR("another"), .byte = 1,
                                     .message = XIR_STR("m") });
    DOES(xir_format_place_findings(ctx, "json", XIR_STR("{}"), XIR_STR("f"), from, to));
    assert_int_equal(xir_diags_at(to, 0)->line, 0);               /* of another file */
    CHECK_STR(xir_diags_at(to, 0)->file, "another");
    assert_int_equal(xir_format_place_findings(ctx, "jsom", XIR_STR("{}"), XIR_STR("f"), from, to), XIR_E_UNKNOWN);
    assert_int_equal(xir_diags_count(to), 2);
    CHECK_STR(xir_diags_at(to, 1)->message, "there is no format 'jsom', expected one of json, imodel, fb, onnx, pnnx, nnb, tsm, deepx, text");
    xir_diags_free(from);
    xir_diags_free(to);
}

/* Files of every format with some of their first bytes changed: where the format says that it cannot begin like this,
 * its reader refuses the whole. */
static void impossible_beginnings_are_refused(void **state) {
    (void)state;
    enum { TIMES = 4000, HEAD = 48 };
    xir_format_info f;
    xir_network *net = small_net();
    uint64_t chance = 7;
    for (size_t i = 0; written_format_at(i, &f); i++) {
        size_t size, refused = 0;
        char name[40];
        snprintf(name, sizeof name, "begin.%.*s", (int)strcspn(f.suffixes, " "), f.suffixes);
        DOES(xir_network_save(net, scratch(name), &XIR_INIT(xir_save_options, .unchecked = true), why));
        uint8_t *bytes = scratch_get(scratch(name), &size);
        assert_true(size > HEAD && xir_format_may_begin(ctx, f.name, bytes, size, XIR_STR(""), why));
        for (size_t k = 0; k < TIMES; k++) {
            uint8_t *changed = memcpy(malloc(size), bytes, size);
            for (size_t n = 0; n < 1 + k % 3; n++) {
                chance = chance * 6364136223846793005u + 1442695040888963407u;
                changed[(chance >> 33) % (n ? HEAD : 4)] = (uint8_t)(chance >> 56);
            }
            if (!xir_format_may_begin(ctx, f.name, changed, size, XIR_STR(""), why)) {
                refused++;
                const xir_load_options o = XIR_INIT(xir_load_options, .format = f.name, .no_params = true);
                assert_null(xir_network_read(ctx, changed, size, XIR_STR(""), &o, why));
            }
            xir_diags_clear(why);
            free(changed);
        }
        if (refused < TIMES / 4) fail_msg("%s: only %zu of %d are refused by their beginning", f.name, refused, TIMES);
        free(bytes);
    }
    xir_network_free(net);
    assert_true(xir_format_may_begin(ctx, "no-such", "", 0, XIR_STR(""), why));
}

/* Only JSON has its parameters in another file. */
static void beginnings_of_parameter_files(void **state) {
    (void)state;
    static const uint8_t raw[] = "\xA5ICRAFT_RAW\xA5\0\0\0", none[sizeof raw];
    assert_true(xir_params_may_begin(ctx, "json", raw, sizeof raw, XIR_STR("x.raw"), why));
    assert_true(xir_params_may_begin(ctx, "fb", none, sizeof none, XIR_STR("x.raw"), why));
    assert_true(xir_params_may_begin(ctx, "no-such", none, sizeof none, XIR_STR("x.raw"), why));
    assert_int_equal(xir_diags_count(why), 0);
    assert_false(xir_params_may_begin(ctx, "json", none, sizeof none, XIR_STR("x.raw"), why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_SYNTAX);
    xir_diags_clear(why);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grades_of_the_library),
        cmocka_unit_test(content_and_name),
        cmocka_unit_test(a_cut_head_is_never_another_format),
        cmocka_unit_test(formats_that_are_only_detected_are_refused),
        cmocka_unit_test(the_name_decides_between_equal_grades),
        cmocka_unit_test(places_in_a_text),
        cmocka_unit_test(impossible_beginnings_are_refused),
        cmocka_unit_test(beginnings_of_parameter_files),
    };
    return RUN_GROUP(tests);
}
