/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A format of a program: a made-up text format with its parameters in a second file. It is registered, then read,
 * detected, written and replaced like those of the library. */
#include <limits.h>
#include "support/load_net.h"
#include "formats.h"

/* ---- a format of a program -------------------------------------------------------------------------------------- */

/* The structure: a line "twin" and JSON. The parameters: a byte 't' and the bytes of all Params in the order of a
 * walk. */
enum { TWIN_HEAD = 5 };
static enum { TWIN_GOOD, TWIN_STOPS_EARLY, TWIN_STOPS_LATE, TWIN_MUTE } twin_mood;

static xir_probe_grade twin_probe(const xir_probe *file, void *user) {
    assert_ptr_equal(user, &twin_mood);
    assert_true(file->size == sizeof *file && file->head_size && file->head_size <= XIR_PROBE_HEAD);
    return file->head_size >= TWIN_HEAD && memcmp(file->head, "twin\n", TWIN_HEAD) == 0 ? XIR_PROBE_YES : XIR_PROBE_NO;
}

static xir_network *twin_read(const xir_format_reading *how) {
    const char *text = how->data;
    const char *bad = memchr(text, '!', how->data_size);
    if (twin_mood == TWIN_MUTE) return NULL;
    if (how->data_size >= TWIN_HEAD && memcmp(text, "twin\n", TWIN_HEAD) == 0 && !bad)
        return xir_json_read(how->ctx, (xir_str){ text + TWIN_HEAD, how->data_size - TWIN_HEAD }, how->name, how->why);
    xir_diags_append(how->why,
                     &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_SYNTAX, .message = XIR_STR("not a twin"),
                                         .byte = bad ? (uint64_t)(bad - text) : 0 });
    return NULL;
}

static xir_status twin_write(xir_network *net, const xir_format_writing *how) {
    if (twin_mood == TWIN_MUTE) return XIR_E_LIMIT;
    if (!how->write(how->user, "twin\n", TWIN_HEAD)) return XIR_E_IO;
    if (twin_mood == TWIN_STOPS_LATE)
        return xir_diags_add(how->why, XIR_ERROR, XIR_E_LIMIT, XIR_STR(""), "no more"), XIR_E_LIMIT;
    return xir_json_write(net, how->flags & XIR_WRITE_INDENT ? 4 : 0, how->write, how->user, how->why);
}

static xir_status twin_read_params(xir_network *net, const xir_format_reading *how) {
    if (twin_mood == TWIN_MUTE) return XIR_E_CORRUPT;
    xir_value *list[LOAD_PARAMS];
    size_t n = xir_network_params(net, list, LOAD_PARAMS);
    uint64_t at = 1, size;
    for (size_t i = 0; i < n; i++, at += size) {
        if (xir_type_bytes(xir_value_type(list[i]), &size) || xir_format_set_params(how, list[i], at, size)) {
            xir_diags_add(how->why, XIR_ERROR, XIR_E_CORRUPT, XIR_STR(""), "the file is too short");
            return XIR_E_CORRUPT;
        }
        assert_int_equal(xir_format_set_params(how, list[i], how->data_size, 1), XIR_E_BOUNDS);
        assert_int_equal(xir_format_set_params(how, list[i], UINT64_MAX, 2), XIR_E_BOUNDS);
        assert_int_equal(xir_format_set_params(how, list[i], 0, how->data_size), XIR_E_TYPE);
    }
    return XIR_OK;
}

static xir_status twin_write_params(xir_network *net, const xir_format_writing *how) {
    xir_value *list[LOAD_PARAMS];
    size_t n = xir_network_params(net, list, LOAD_PARAMS);
    if (twin_mood == TWIN_MUTE) return XIR_E_LIMIT;
    if (twin_mood == TWIN_STOPS_EARLY) {
        xir_diags_add(how->why, XIR_ERROR, XIR_E_LIMIT, XIR_STR(""), "no parameters");
        return XIR_E_LIMIT;
    }
    if (!how->write(how->user, "t", 1)) return XIR_E_IO;
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        const void *data = xir_params_data(list[i], &size);
        if (size && !how->write(how->user, data, (size_t)size)) return XIR_E_IO;
    }
    return XIR_OK;
}

/* Everything is at the beginning of the second line, except paths that nobody can find. */
static xir_status twin_find(xir_context *with, xir_str text, xir_format_place *places, size_t n, void *user) {
    assert_ptr_equal(user, &twin_mood);
    assert_non_null(with);
    for (size_t i = 0; i < n; i++) {
        assert_true(!i || place_order(places[i - 1].path, places[i].path) <= 0);
        if (!xir_str_equal(places[i].path,
                           XIR_STR("/nowhere"))) places[i].byte = text.size < TWIN_HEAD ? text.size : TWIN_HEAD;
    }
    return XIR_OK;
}

static const xir_format_decl twin = {
    XIR_FORMAT_HEAD("twin", "two files"), .suffixes = "twin.text text", .traits = XIR_FORMAT_TEXT | XIR_FORMAT_INDENTS,
    .user = &twin_mood, .probe = twin_probe, .read = twin_read, .write = twin_write, .params_found = "twin.bytes bytes",
    .params_written = "twin.bytes bytes", .read_params = twin_read_params, .write_params = twin_write_params,
    .find_places = twin_find,
};

static const xir_save_options as_twin = { .size = sizeof as_twin, .format = "twin", .unchecked = true };

static void a_format_is_registered(void **state) {
    (void)state;
    xir_format_info f = XIR_INIT(xir_format_info);
    DOES(xir_format_register(ctx, &twin, why));
    DOES(xir_format_register(ctx, &twin, why));
    size_t n = 0, found = 0;
    for (; xir_context_format_at(ctx, n, &f, NULL) == XIR_OK; n++) {
        if (strcmp(f.name, "twin") != 0) continue;
        found++;
        assert_string_equal(f.meaning, "two files");
        assert_true(f.reads && f.writes && f.pair && f.text && f.indents && !f.aligns);
    }
    assert_int_equal(found, 1);
    assert_int_equal(xir_context_format_at(ctx, n + 1, &f, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "there is no format");
    assert_int_equal(xir_format_at(n - 1, &f, why), XIR_E_BOUNDS);   /* only the library's */
    check_finding(XIR_E_BOUNDS, "there is no format");
    xir_context *other = xir_context_new(NULL);
    assert_null(xir_format_detect(other, "twin\n{", 6, 6, XIR_STR("x.text")));
    assert_string_equal(xir_format_detect(ctx, "twin\n{", 6, 6, XIR_STR("x.json")), "twin");
    assert_null(xir_format_of("twin\n{", 6));
    xir_context_free(other);
}

static void declarations_that_are_refused(void **state) {
    (void)state;
    xir_format_decl same = twin;
    xir_format_decl cases[13];
    static const struct { xir_status status; const char *sentence; } expected[COUNT(cases)] = {
        { XIR_E_ABI, "another version" },    { XIR_E_ABI, "another version" },     { XIR_E_INVALID, "not a format name" },
        { XIR_E_INVALID, "not a format name" },     { XIR_E_INVALID, "not a format name" },      { XIR_E_INVALID, "no suffix" },
        { XIR_E_INVALID, "no suffix" },      { XIR_E_INVALID, "no description" },  { XIR_E_INVALID, "a parameter file" },
        { XIR_E_INVALID, "a parameter file" }, { XIR_E_INVALID, "a parameter file" }, { XIR_E_EXISTS, "a format 'json' already" },
        { XIR_E_EXISTS, "a format 'twin' already" } };
    for (size_t i = 0; i < COUNT(cases); i++) cases[i] = twin;
    cases[0].abi = XIR_ABI + 1;
    cases[1].size--;
    cases[2].name = "Twin";
    cases[3].name = "";
    cases[4].name = NULL;
    cases[5].suffixes = NULL;
    cases[6].suffixes = "  ";
    cases[7].doc = NULL;
    cases[8].read_params = NULL;
    cases[9].params_written = NULL;
    cases[10].write = NULL;
    cases[11].name = "json";
    cases[12] = same;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(xir_format_register(ctx, &cases[i], why), expected[i].status);
        check_finding(expected[i].status, expected[i].sentence);
    }
    assert_int_equal(xir_format_register(ctx, NULL, why), XIR_E_INVALID);
    xir_diags_clear(why);
}

static void a_registered_format_by_every_way(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    const char *path = scratch("way.twin.text");
    DOES(xir_network_save(net, path, &as_twin, why));
    for (int lazy = 0; lazy < 2; lazy++) {
        xir_network *again = load_must(path, &XIR_INIT(xir_load_options, .lazy = lazy));
        assert_true(load_is_filled(again));
        assert_int_equal(xir_params_is_lazy(value_of(again, 5)), lazy);
        assert_true(xir_network_equal(net, again, true));
        xir_network_free(again);
    }
    size_t size;
    uint8_t *bytes = scratch_get(path, &size);
    xir_network *alone = xir_network_read(ctx, bytes, size, XIR_STR(""),
                                          &XIR_INIT(xir_load_options, .no_params = true), why);
    assert_non_null(alone);
    size_t bytes_size;
    uint8_t *data = scratch_get(scratch("way.twin.bytes"), &bytes_size);
    const xir_load_options named = XIR_INIT(xir_load_options, .format = "twin");
    DOES(xir_network_read_params(alone, data, bytes_size, XIR_STR("memory"), &named, why));
    free(data);   /* it was copied */
    assert_true(load_is_filled(alone));
    raw_memory out = { 0 };
    DOES(xir_network_write(alone, raw_memory_write, &out, &as_twin, why));
    assert_int_equal(out.size, size);
    assert_memory_equal(out.data, bytes, size);
    free(out.data);
    out = (raw_memory){ 0 };
    DOES(xir_network_write_params(alone, raw_memory_write, &out, &as_twin, why));
    assert_int_equal(out.size, bytes_size);
    free(out.data);
    free(bytes);
    DOES(xir_network_load_params(alone, scratch("way.twin.bytes"), &named, why));
    assert_int_equal(xir_network_load_params(alone, scratch("nothing"), &named, why), XIR_E_IO);
    xir_diags_clear(why);
    assert_int_equal(xir_network_load_params(alone, path, &XIR_INIT(xir_load_options, .format = "fb"), why),
                     XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "contains its parameters");
    assert_int_equal(xir_network_load_params(alone, path, &XIR_INIT(xir_load_options, .format = "fbx"), why),
                     XIR_E_UNKNOWN);
    check_finding(XIR_E_UNKNOWN, "no format 'fbx'");
    assert_int_equal(xir_network_load_params(alone, path, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "must be named");
    assert_int_equal(xir_network_save_params(alone, path, &XIR_INIT(xir_save_options, .format = "fb"), why),
                     XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "contains its parameters");
    DOES(xir_network_save_params(alone, scratch("alone.bytes"), &as_twin, why));
    xir_network_free(alone);
    xir_network_free(net);
}

typedef struct stream { const char *data; size_t size, at; } stream;
static size_t stream_read(void *user, void *out, size_t room) {
    stream *s = user;
    size_t n = s->size - s->at < 7 ? s->size - s->at : 7;
    if (n > room) n = room;
    memcpy(out, s->data + s->at, n);
    s->at += n;
    return n;
}

static void a_stream_is_detected_when_it_has_ended(void **state) {
    (void)state;
    stream s = { "twin\n{}!", 8, 0 };
    assert_null(xir_network_read_stream(ctx, stream_read, &s, XIR_STR("piped"), NULL, why));
    check_finding(XIR_E_SYNTAX, "not a twin");
    s = (stream){ "\0\0\0\0\x29\x09\x91\x19", 8, 0 };
    assert_null(xir_network_read_stream(ctx, stream_read, &s, XIR_STR("piped"), NULL, why));
    check_finding(XIR_E_CORRUPT, "expected a header of 128 bytes, found 8");
}

/* ---- what lies next to a file ----------------------------------------------------------------------------------- */

static void names_of_companions(void **state) {
    (void)state;
    static const struct { const char *format, *path, *present, *found, *written; } rows[] = {
        { "twin", "a.twin.text", "",                       NULL,           "a.twin.bytes" },
        { "twin", "a.text",      "",                       NULL,           "a.bytes"      },
        { "twin", "a.other",     "",                       NULL,           "a.bytes"      },
        { "twin", "a",           "",                       NULL,           "a.bytes"      },
        { "twin", "a.twin.text", "a.twin.bytes",           "a.twin.bytes", "a.twin.bytes" },
        { "twin", "a.text",      "a.twin.bytes",           "a.twin.bytes", "a.bytes"      },
        { "twin", "a.twin.text", "a.bytes",                "a.bytes",      "a.twin.bytes" },
        { "twin", "a.text",      "a.bytes a.twin.bytes",   "a.twin.bytes", "a.bytes"      },
        { "twin", "a.b.c",       "a.b.bytes",              "a.b.bytes",    "a.b.bytes"    },
        { "twin", "a.bytes",     "a.bytes",                NULL,           "a.bytes"      },   /* not itself */
        { "json", "a.json",      "a.raw a.params",         "a.raw",        "a.raw"        },
        { "json", "a.json",      "a.params",               "a.params",     "a.raw"        },
        { "json", "a",           "a.raw",                  "a.raw",        "a.raw"        },
        { "fb",   "a.fb",        "a.raw",                  NULL,           NULL           },
        { "none", "a.json",      "a.raw",                  NULL,           NULL           },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char present[100], out[PATH_MAX], path[PATH_MAX];
        snprintf(present, sizeof present, "%s", rows[i].present);
        for (char *name = strtok(present, " "); name; name = strtok(NULL, " ")) scratch_put(scratch(name), "t", 1);
        snprintf(path, sizeof path, "%s", scratch(rows[i].path));
        for (int written = 0; written < 2; written++) {
            const char *expected = written ? rows[i].written : rows[i].found;
            memset(out, 0, sizeof out);
            size_t n, again;
            xir_status known = strcmp(rows[i].format, "none") != 0 ? XIR_OK : XIR_E_UNKNOWN;
            assert_int_equal(written ? xir_params_file_name(ctx, rows[i].format, path, out, sizeof out, &n, why)
                                     : xir_params_file_find(ctx, rows[i].format, path, out, sizeof out, &n, why),
                                     known);
            if (n != strlen(out) || strcmp(out, expected ? scratch(expected) : "") != 0)
                fail_msg("row %zu: expected %s, found %s", i, expected, out);
            char small[2] = "?";
            assert_int_equal(written ? xir_params_file_name(ctx, rows[i].format, path, small, 1, &again, why)
                                     : xir_params_file_find(ctx, rows[i].format, path, small, 1, &again, why), known);
            assert_true(again == n && small[0] == '?');
            xir_diags_clear(why);
        }
        snprintf(present, sizeof present, "%s", rows[i].present);
        for (char *name = strtok(present, " "); name; name = strtok(NULL, " ")) unlink(scratch(name));
    }
}

static void companions_are_found_named_or_missed(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    DOES(xir_network_save(net, scratch("pair.text"), &as_twin, why));
    xir_network_free(load_must(scratch("pair.text"), NULL));
    rename(scratch("pair.bytes"), scratch("pair.moved"));
    xir_network *again = xir_network_load(ctx, scratch("pair.text"), NULL, why);
    assert_non_null(again);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(xir_diags_at(why, 0)->severity, XIR_WARNING);
    xir_diags_clear(why);
    xir_network_free(again);
    again = load_must(scratch("pair.text"), &XIR_INIT(xir_load_options, .params = scratch("pair.moved")));
    assert_true(load_is_filled(again));
    xir_network_free(again);
    xir_network_free(load_must(scratch("pair.text"), &XIR_INIT(xir_load_options, .no_params = true)));
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("pair.text"), &XIR_INIT(xir_load_options, .params = scratch("none")), why),
                  XIR_E_IO, "");
    scratch_put(scratch("pair.bytes"), "t", 1);
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("pair.text"), NULL, why), XIR_E_CORRUPT, "too short");
    /* A name of the caller for the parameters, and none at all. */
    DOES(xir_network_save(net, scratch("named.text"), &XIR_INIT(xir_save_options, .unchecked = true,
                                                                           .params = scratch("named.moved")), why));
    assert_int_equal(access(scratch("named.bytes"), F_OK), -1);
    again = load_must(scratch("named.text"), &XIR_INIT(xir_load_options, .params = scratch("named.moved")));
    xir_network_free(again);
    DOES(xir_network_save(net, scratch("bare.text"), &XIR_INIT(xir_save_options, .unchecked = true, .no_params = true), why));
    assert_int_equal(access(scratch("bare.bytes"), F_OK), -1);
    xir_network_free(net);
}

static void both_files_are_replaced_or_none(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    const char *text = scratch("both.text"), *bytes = scratch("both.bytes");
    scratch_put(text, "old", 3);
    scratch_put(bytes, "OLD", 3);
    int files = scratch_count_in(scratch_folder);
    static const struct { int mood; xir_status status; const char *sentence; } rows[] = {
        { TWIN_STOPS_EARLY, XIR_E_LIMIT, "no parameters" }, { TWIN_STOPS_LATE, XIR_E_LIMIT, "no more" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        twin_mood = rows[i].mood;
        FAILS_TO_SAVE(xir_network_save(net, text, &as_twin, why), rows[i].status, rows[i].sentence);
        twin_mood = TWIN_GOOD;
        size_t size;
        uint8_t *was = scratch_get(text, &size);
        assert_true(size == 3 && memcmp(was, "old", 3) == 0);
        free(was);
        was = scratch_get(bytes, &size);
        assert_true(size == 3 && memcmp(was, "OLD", 3) == 0);
        free(was);
        assert_int_equal(scratch_count_in(scratch_folder), files);
    }
    xir_save_options one = as_twin;
    one.params = text;
    FAILS_TO_SAVE(xir_network_save(net, text, &one, why), XIR_E_EXISTS, "cannot be saved to one file");
    one.params = scratch("no/such/folder");
    FAILS_TO_SAVE(xir_network_save(net, text, &one, why), XIR_E_IO, "");
    assert_int_equal(scratch_count_in(scratch_folder), files);
    DOES(xir_network_save(net, text, &as_twin, why));
    assert_int_equal(scratch_count_in(scratch_folder), files);
    xir_network_free(load_must(text, NULL));
    xir_network_free(net);
}

static bool stops_at_once(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return false;
}

static void a_callback_that_stops(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    assert_int_equal(xir_network_write_params(net, stops_at_once, NULL, &as_twin, why), XIR_E_IO);
    check_finding(XIR_E_IO, "the write callback accepted no more bytes");
    assert_int_equal(xir_network_write_params(net, stops_at_once, NULL,
                                              &XIR_INIT(xir_save_options, .format = "json"), why), XIR_E_IO);
    check_finding(XIR_E_IO, "the write callback accepted no more bytes");
    xir_network_free(net);
}

/* The library must add a finding. */
static void a_format_that_fails_without_a_finding(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    const char *text = scratch("mute.text");
    DOES(xir_network_save(net, text, &as_twin, why));
    const xir_load_options by_name = XIR_INIT(xir_load_options, .format = "twin");
    twin_mood = TWIN_MUTE;
    FAILS_TO_LOAD(xir_network_load(ctx, text, NULL, why), XIR_E_INVALID, "the format twin failed without a finding");
    FAILS_TO_SAVE(xir_network_load_params(net, scratch("mute.bytes"), &by_name, why), XIR_E_CORRUPT, "failed without a finding");
    FAILS_TO_SAVE(xir_network_save(net, text, &as_twin, why), XIR_E_LIMIT, "failed without a finding");
    FAILS_TO_SAVE(xir_network_write_params(net, stops_at_once, NULL, &as_twin, why), XIR_E_LIMIT,
                  "failed without a finding");
    twin_mood = TWIN_GOOD;
    xir_network_free(net);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static void findings_of_a_reader_get_lines(void **state) {
    (void)state;
    const char *path = scratch("bad.text");
    scratch_put(path, "twin\n{\n  !", 10);
    assert_null(xir_network_load(ctx, path, NULL, why));
    const xir_diag *d = xir_diags_at(why, 0);
    assert_true(d && d->line == 3 && d->column == 3 && d->byte == 9);
    CHECK_STR(d->file, path);
    xir_diags_clear(why);
    assert_null(xir_network_load(ctx, path, NULL, NULL));

    xir_diags *from = xir_diags_new(ctx);
    xir_diags_add(from, XIR_ERROR, XIR_E_INVALID, XIR_STR("/nowhere"), "first");
    xir_diags_add(from, XIR_ERROR, XIR_E_INVALID, XIR_STR("/ops/1"), "second");
    DOES(xir_format_place_findings(ctx, "twin", XIR_STR("twin\n{}"), XIR_STR("file"), from, why));
    assert_int_equal(xir_diags_count(why), 2);
    CHECK_STR(xir_diags_at(why, 0)->message, "second");
    assert_int_equal(xir_diags_at(why, 0)->line, 2);
    assert_int_equal(xir_diags_at(why, 1)->line, 0);
    xir_diags_free(from);
    xir_diags_clear(why);
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

static void without_memory(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    DOES(xir_network_save(net, scratch("scarce.text"), &as_twin, why));
    for (size_t n = 0, done = 0; !done; n++) {
        assert_true(n < 10000);
        refuse_after(n);
        xir_status status = xir_network_save(net, scratch("scarce.text"), &as_twin, why);
        xir_network *again = status ? NULL : xir_network_load(ctx, scratch("scarce.text"), NULL, why);
        bool refused = refuse_end();
        done = again && !refused;
        assert_true(status == XIR_OK || (refused && status == XIR_E_MEMORY));
        assert_true(again || refused);
        xir_network_free(again);
        xir_diags_clear(why);
    }
    xir_network_free(net);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_is_registered),
        cmocka_unit_test(declarations_that_are_refused),
        cmocka_unit_test(a_registered_format_by_every_way),
        cmocka_unit_test(a_stream_is_detected_when_it_has_ended),
        cmocka_unit_test(names_of_companions),
        cmocka_unit_test(companions_are_found_named_or_missed),
        cmocka_unit_test(both_files_are_replaced_or_none),
        cmocka_unit_test(a_callback_that_stops),
        cmocka_unit_test(a_format_that_fails_without_a_finding),
        cmocka_unit_test(findings_of_a_reader_get_lines),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
