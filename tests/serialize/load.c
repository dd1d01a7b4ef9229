/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loading in any format: from files, memory and streams, lazily and eagerly, with every level of verification;
 * detection; refusals. New formats are tested as soon as they are in the list. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <xir/icraft.h>
#include "support/load_net.h"

static const xir_verify levels[] = { XIR_VERIFY_DEFAULT, XIR_VERIFY_NEVER, XIR_VERIFY_HEADER, XIR_VERIFY_ON_TOUCH,
                                     XIR_VERIFY_FULL };

static void check_loaded(const xir_network *net, bool lazy) {
    assert_true(load_is_filled(net));
    assert_int_equal(xir_params_is_lazy(value_of(net, 5)), lazy);
    assert_int_equal(xir_network_status(net), XIR_OK);
}

/* ---- every format by every way ---------------------------------------------------------------------------------- */

static void files_of_every_format(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("every", &f);
        load_save(net, path, &f);
        for (size_t j = 0; j < 2 * COUNT(levels); j++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = j % 2, .verify = levels[j / 2]);
            xir_network *again = load_must(path, &options);
            check_loaded(again, options.lazy);
            assert_true(xir_network_equal(net, again, true));
            xir_network_free(again);
        }
        xir_network *again = load_must(path, NULL);
        check_loaded(again, false);
        xir_network_free(again);
    }
    xir_network_free(net);
}

static void memory_of_every_format(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("memory", &f), *raw = scratch("memory.raw");
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        for (size_t j = 0; j < 2 * COUNT(levels); j++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = j % 2, .verify = levels[j / 2],
                                                      .params = load_is_pair(&f) ? raw : NULL);
            uint8_t *given = malloc(size);   /* of exactly that size */
            assert_non_null(given);
            memcpy(given, bytes, size);
            xir_network *again = xir_network_read(ctx, given, size, XIR_STR("given"), &options, why);
            assert_non_null(again);
            assert_int_equal(xir_diags_count(why), 0);
            if (!options.lazy || load_is_pair(&f)) memset(given, 0xEE, size);   /* it was copied: free to change */
            check_loaded(again, options.lazy);
            assert_true(xir_network_equal(net, again, true));
            xir_network_free(again);
            free(given);
        }
        free(bytes);
    }
    xir_network_free(net);
}

/* Borrowed bytes need not be aligned to anything. */
static void memory_at_any_address(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("odd", &f);
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        for (size_t shift = 0; shift < 17; shift++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = true,
                                                      .params = load_is_pair(&f) ? scratch("odd.raw") : NULL);
            uint8_t *block = malloc(size + shift);
            assert_non_null(block);
            memcpy(block + shift, bytes, size);
            xir_network *again = xir_network_read(ctx, block + shift, size, XIR_STR(""), &options, why);
            if (!again) xir_diags_print(why, stderr);
            assert_non_null(again);
            check_loaded(again, true);
            xir_network_free(again);
            free(block);
        }
        free(bytes);
    }
    xir_network_free(net);
}

/* A stream that returns `step` bytes per call. */
typedef struct stream { const uint8_t *data; size_t size, at, step, fails_at; } stream;
static size_t read_stream(void *user, void *out, size_t room) {
    stream *s = user;
    size_t n = s->size - s->at;
    if (n > s->step) n = s->step;
    if (n > room) n = room;
    if (s->at >= s->fails_at) return SIZE_MAX;
    memcpy(out, s->data + s->at, n);
    s->at += n;
    return n;
}

static void streams_of_every_format(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("stream", &f), *raw = scratch("stream.raw");
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        const size_t steps[] = { 1, 7, 4096, SIZE_MAX };
        for (size_t j = 0; j < COUNT(steps); j++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .params = load_is_pair(&f) ? raw : NULL);
            stream s = { .data = bytes, .size = size, .step = steps[j], .fails_at = SIZE_MAX };
            xir_network *again = xir_network_read_stream(ctx, read_stream, &s, XIR_STR("stream"), &options, why);
            assert_non_null(again);
            check_loaded(again, false);
            xir_network_free(again);
        }
        stream s = { .data = bytes, .size = size, .step = 100, .fails_at = size / 2 };
        FAILS_TO_LOAD(xir_network_read_stream(ctx, read_stream, &s, XIR_STR("stream"), NULL, why), XIR_E_IO, "cannot be read");
        free(bytes);
    }
    xir_network_free(net);
}

static size_t gives_too_much(void *user, void *out, size_t room) {
    (void)user;
    memset(out, ' ', room);
    return room + 1;
}

static size_t gives_for_ever(void *user, void *out, size_t room) {
    (void)user;
    memset(out, ' ', room);
    return room;
}

static void a_stream_that_lies_and_one_that_never_ends(void **state) {
    (void)state;
    FAILS_TO_LOAD(xir_network_read_stream(ctx, gives_too_much, NULL, XIR_STR("s"), NULL, why), XIR_E_IO,
                  "more bytes than were asked for");
    xir_context *narrow = xir_context_new(NULL);
    xir_context_set_limits(narrow, &XIR_INIT(xir_limits, .max_bytes = 1 << 20), NULL);
    FAILS_TO_LOAD(xir_network_read_stream(narrow, gives_for_ever, NULL, XIR_STR("s.json"), NULL, why), XIR_E_LIMIT,
                  "1048576 bytes");
    xir_context_free(narrow);
}

typedef struct endless { const char *again; size_t given; } endless;

static size_t gives_again_and_again(void *user, void *out, size_t room) {
    endless *e = user;
    const size_t size = strlen(e->again) + 1;   /* and its terminating zero */
    for (size_t i = 0; i < room; i++) ((char *)out)[i] = e->again[(e->given + i) % size];
    e->given += room;
    return room;
}

/* An endless stream that cannot become a network, whatever follows, is refused after its first block. */
static void an_impossible_beginning_ends_a_stream(void **state) {
    (void)state;
    static const struct { const char *format, *again, *said; } rows[] = {
        { "json",   "",           "a file of format json does not begin with the bytes 00 00 00 00 00 00 00 00: the rest" },
        { "json",   " \n[",       "a file of format json does not begin with the bytes 20 0A 5B 00" },
        { "json",   "{1",         "a file of format json does not begin with the bytes 7B 31 00" },
        { "imodel", "",           "a file of format imodel does not begin with" },
        { "imodel", "\x81\x01",   "a file of format imodel does not begin with" },
        { "fb",     "",           "a file of format fb does not begin with" },
        { "fb",     "yyyyyyy",    "a file of format fb does not begin with" },
        { "onnx",   "",           "a file of format onnx does not begin with" },
        { "onnx",   "\x08\x07\x0a\x01", "a file of format onnx does not begin with" },
        { NULL,     "",           "neither the content nor the name identifies the format" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        endless e = { .again = rows[i].again };
        const xir_load_options o = XIR_INIT(xir_load_options, .format = rows[i].format);
        FAILS_TO_LOAD(xir_network_read_stream(ctx, gives_again_and_again, &e, XIR_STR("s"), &o, why),
                      rows[i].format ? XIR_E_SYNTAX : XIR_E_UNKNOWN, rows[i].said);
        if (e.given > 256 << 10) fail_msg("row %zu: %zu bytes were read", i, e.given);
        if (*rows[i].again) continue;
        FAILS_TO_LOAD(xir_network_load(ctx, "/dev/zero", &o, why), rows[i].format ? XIR_E_SYNTAX : XIR_E_UNKNOWN,
                      rows[i].said);
    }
    /* A stream that may still become a network is read up to the limit. */
    xir_context *narrow = xir_context_new(NULL);
    xir_context_set_limits(narrow, &XIR_INIT(xir_limits, .max_stream = 1 << 20), NULL);
    static const struct { const char *format, *again; } right[] = {
        { "json", "{\"a" }, { "imodel", "\x81\xA1" "a" }, { "onnx", "\x08\x07\x3A\xFF\xFF\xFF\x7F" } };
    for (size_t i = 0; i < COUNT(right); i++) {
        endless e = { .again = right[i].again };
        const xir_load_options o = XIR_INIT(xir_load_options, .format = right[i].format);
        FAILS_TO_LOAD(xir_network_read_stream(narrow, gives_again_and_again, &e, XIR_STR("s"), &o, why), XIR_E_LIMIT,
                      "1048576 bytes");
    }
    xir_context_free(narrow);
}

/* Input without a size may never end: it has its own limit, which does not apply to files. */
static void a_device_that_never_ends(void **state) {
    (void)state;
    xir_limits limits = XIR_INIT(xir_limits);
    xir_context *narrow = xir_context_new(NULL);
    assert_int_equal(xir_context_limits(narrow, &limits, why), XIR_OK);
    assert_true(limits.max_stream == (uint64_t)4 << 30 && limits.max_bytes == (uint64_t)1 << 40);
    xir_context_set_limits(narrow, &XIR_INIT(xir_limits, .max_stream = 100000), NULL);
    const xir_load_options json = XIR_INIT(xir_load_options, .format = "json");
    FAILS_TO_LOAD(xir_network_load(narrow, "/dev/zero", &json, why), XIR_E_LIMIT,
                  "more than 100000 bytes come, which is the limit");
    FAILS_TO_LOAD(xir_network_load(narrow, "/dev/zero", NULL, why), XIR_E_LIMIT, "more than 100000 bytes");
    FAILS_TO_LOAD(xir_network_read_stream(narrow, gives_for_ever, NULL, XIR_STR("s"), NULL, why), XIR_E_LIMIT, "100000 bytes");

    /* Exactly as many bytes as the limit are read, one more is too many; a regular file may have more. */
    size_t size;
    xir_network *net = small_net();
    const char *path = scratch("limit.json");
    assert_int_equal(xir_network_save(net, path, &XIR_INIT(xir_save_options, .no_params = true, .unchecked = true),
                                      why), XIR_OK);
    uint8_t *bytes = scratch_get(path, &size);
    const xir_load_options structure = XIR_INIT(xir_load_options, .no_params = true);
    for (size_t more = 0; more < 2; more++) {
        stream s = { .data = bytes, .size = size, .step = SIZE_MAX, .fails_at = SIZE_MAX };
        xir_context_set_limits(narrow, &XIR_INIT(xir_limits, .max_stream = size - more), NULL);
        xir_network *read = xir_network_read_stream(narrow, read_stream, &s, XIR_STR("s"), &structure, why);
        if (more) check_finding(XIR_E_LIMIT, "which is the limit");
        else assert_non_null(read);
        xir_network_free(read);
    }
    xir_network *loaded = xir_network_load(narrow, path, &structure, why);
    assert_non_null(loaded);
    xir_network_free(loaded);
    free(bytes);
    xir_network_free(net);
    xir_context_free(narrow);
}

/* The bytes of a stream belong to the Params, whose clone outlives network and stream. */
static void a_clone_keeps_the_bytes(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("clone", &f), *raw = scratch("clone.raw");
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        const xir_load_options options = XIR_INIT(xir_load_options, .params = load_is_pair(&f) ? raw : NULL);
        stream s = { .data = bytes, .size = size, .step = 1000, .fails_at = SIZE_MAX };
        xir_network *again = xir_network_read_stream(ctx, read_stream, &s, XIR_STR("stream"), &options, why);
        free(bytes);
        assert_non_null(again);
        xir_network *copy = xir_network_clone(again);
        xir_network_free(again);
        check_loaded(copy, false);
        xir_network_free(copy);
    }
    xir_network_free(net);
}

/* ---- detection -------------------------------------------------------------------------------------------------- */

static void content_decides_before_the_name(void **state) {
    (void)state;
    xir_format_info f, other;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("content", &f);
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        assert_string_equal(xir_format_of(bytes, size), f.name);
        assert_string_equal(xir_format_of(bytes, size < 256 ? size : 256), f.name);
        for (size_t j = 0; written_format_at(j, &other); j++) {   /* under every other name */
            const char *wrong = load_path("wrong", &other);
            scratch_put(wrong, bytes, size);
            const xir_load_options options = XIR_INIT(xir_load_options, .no_params = true);
            xir_network *again = load_must(wrong, &options);
            assert_true(xir_network_equal(net, again, false));
            xir_network_free(again);
            unlink(wrong);
        }
        const xir_load_options named = XIR_INIT(xir_load_options, .format = f.name, .no_params = true);
        const char *bare = scratch("bare");
        scratch_put(bare, bytes, size);
        xir_network_free(load_must(bare, &named));
        free(bytes);
    }
    xir_network_free(net);
}

static void files_that_are_not_a_network(void **state) {
    (void)state;
    static const char hello[] = "hello, this is nothing that anybody knows";
    xir_format_info f;
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("hello", &f);   /* the name decides: the reader reports the fault */
        scratch_put(path, hello, sizeof hello - 1);
        assert_null(xir_network_load(ctx, path, NULL, why));
        assert_int_equal(xir_diags_count(why), 1);
        assert_int_not_equal(xir_diags_at(why, 0)->code, XIR_E_UNKNOWN);
        CHECK_STR(xir_diags_at(why, 0)->file, path);
        xir_diags_clear(why);
        path = load_path("empty", &f);
        scratch_put(path, "", 0);
        for (int lazy = 0; lazy < 2; lazy++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = lazy);
            assert_null(xir_network_load(ctx, path, &options, why));
            assert_int_equal(xir_diags_count(why), 1);
            assert_int_not_equal(xir_diags_at(why, 0)->code, XIR_E_UNKNOWN);
            xir_diags_clear(why);
            assert_null(xir_network_read(ctx, NULL, 0, xir_str_of(path), &options, why));
            assert_int_equal(xir_diags_count(why), 1);
            xir_diags_clear(why);
        }
    }
    scratch_put(scratch("hello"), hello, sizeof hello - 1);
    scratch_put(scratch("hello.xyz"), hello, sizeof hello - 1);
    scratch_put(scratch("empty"), "", 0);
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("hello"), NULL, why), XIR_E_UNKNOWN,
                  "neither the content nor the name");
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("hello.xyz"), NULL, why), XIR_E_UNKNOWN,
                  "neither the content nor the name");
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("empty"), NULL, why), XIR_E_UNKNOWN, "empty");
    FAILS_TO_LOAD(xir_network_read(ctx, hello, sizeof hello, XIR_STR(""), NULL, why), XIR_E_UNKNOWN,
                  "neither the content nor the name");
    FAILS_TO_LOAD(xir_network_read(ctx, NULL, 0, XIR_STR(""), NULL, why), XIR_E_UNKNOWN, "empty");
    assert_null(xir_format_of(hello, sizeof hello));
    assert_null(xir_format_of(NULL, 0));
}

static void options_that_make_no_sense(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    const char *json = scratch("sense.json");
    load_save(net, json, &(xir_format_info){ .name = "json" });
    FAILS_TO_LOAD(xir_network_load(ctx, json, &XIR_INIT(xir_load_options, .format = "jsom"), why), XIR_E_UNKNOWN,
                  "no format 'jsom'");
    FAILS_TO_LOAD(xir_network_load(ctx, json, &XIR_INIT(xir_load_options, .params = "x", .no_params = true), why),
                  XIR_E_INVALID, "only the structure");
    FAILS_TO_LOAD(xir_network_load(ctx, json, &XIR_INIT(xir_load_options, .verify = (xir_verify)9), why),
                  XIR_E_INVALID, "verification 9");
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (load_is_pair(&f)) continue;
        const char *path = load_path("sense", &f);
        load_save(net, path, &f);
        FAILS_TO_LOAD(xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .params = "x"), why), XIR_E_INVALID,
                      "contains its parameters");
    }
    xir_network_free(net);
}

static void the_list_of_formats(void **state) {
    (void)state;
    xir_format_info f = XIR_INIT(xir_format_info);
    size_t n = 0;
    for (; xir_format_at(n, &f, NULL) == XIR_OK; n++) {
        assert_true(*f.name && *f.meaning && *f.suffixes);
        assert_int_equal(f.reads, strcmp(f.name, "c") != 0 && strcmp(f.name, "py") != 0);
        assert_true(f.writes);
        assert_int_equal(f.pair, strstr("json pnnx py deepx text", f.name) != NULL);
        assert_int_equal(f.text, strstr("json pnnx deepx text", f.name) != NULL);
        assert_int_equal(f.indents, strcmp(f.name, "json") == 0);
        assert_int_equal(f.aligns, strcmp(f.name, "fb") == 0);
    }
    assert_true(n >= 1);
    assert_int_equal(xir_format_at(n + 1, &f, why), XIR_E_BOUNDS);
    assert_int_equal(xir_format_at(SIZE_MAX, &f, why), XIR_E_BOUNDS);
    assert_int_equal(xir_diags_count(why), 2);
    xir_diags_clear(why);
}

/* A structure that lists all its Params, none of which lacks bytes, is not completed by a file of its name: that is of
 * something else. */
static void a_stale_file_is_not_looked_at(void **state) {
    (void)state;
    static const char *const stale[] = { "json", "pnnx" };
    static const char none[] = "7767517\n2 1\npnnx.Input a 0 1 x #x=(1)f32\npnnx.Output b 1 0 x #x=(1)f32\n";
    char found[PATH_MAX];
    size_t size;
    for (size_t i = 0; i < COUNT(stale); i++) {
        const char *path = scratch(i ? "stale.param" : "stale.json"), *file = scratch(i ? "stale.bin" : "stale.raw");
        scratch_put(scratch("none.param"), none, sizeof none - 1);
        xir_network *net = load_must(scratch("none.param"), NULL);
        scratch_put(file, "of something else", 17);
        const xir_save_options options = XIR_INIT(xir_save_options, .format = stale[i], .no_params = true);
        DOES(xir_network_save(net, path, &options, why));
        xir_network *again = load_must(path, NULL);
        DOES(xir_network_params_file(again, stale[i], path, found, sizeof found, &size, why));
        assert_int_equal(size, 0);
        DOES(xir_params_file_find(ctx, stale[i], path, found, sizeof found, &size, why));
        assert_string_equal(found, file);
        FAILS_TO_LOAD(xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .params = file), why), XIR_E_CORRUPT, "");
        xir_network_free(net);
        xir_network_free(again);
    }
    /* Params that may stay without bytes: the file has them, unless the structure states that it has none. */
    xir_network *net = load_net(ctx);
    for (size_t i = 0; i < LOAD_PARAMS; i++) xir_params_set_allow_no_data(value_of(net, load_params[i].id), true);
    load_save(net, scratch("may.json"), &(xir_format_info){ .name = "json" });
    xir_network *again = load_must(scratch("may.json"), NULL);
    assert_true(load_is_filled(again));
    xir_network_free(net);
    xir_network_free(again);
    FAILS_TO_SAVE(xir_network_params_file(NULL, "json", "x", found, 1, &size, why), XIR_E_MISSING, "a network");
}

/* ---- a parameter file next to JSON ------------------------------------------------------------------------------ */

static void the_raw_file_is_found_next_to_it(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    const char *json = scratch("pair.json"), *raw = scratch("pair.raw"), *other = scratch("pair.params");
    char found[PATH_MAX];
    load_save(net, json, &(xir_format_info){ .name = "json" });
    size_t size;
    DOES(xir_raw_find(json, found, sizeof found, &size, why));
    assert_string_equal(found, raw);
    assert_int_equal(size, strlen(raw));
    DOES(xir_raw_find(json, found, 3, &size, why));
    assert_int_equal(size, strlen(raw));
    rename(raw, other);
    DOES(xir_raw_find(json, found, sizeof found, &size, why));
    assert_string_equal(found, other);
    xir_network *again = load_must(json, NULL);
    check_loaded(again, false);
    xir_network_free(again);

    scratch_put(raw, "no raw", 6);   /* X.raw comes first */
    FAILS_TO_LOAD(xir_network_load(ctx, json, NULL, why), XIR_E_CORRUPT, "");
    again = load_must(json, &XIR_INIT(xir_load_options, .params = other));
    check_loaded(again, false);
    xir_network_free(again);
    again = load_must(json, &XIR_INIT(xir_load_options, .no_params = true));
    assert_null(xir_params_data(value_of(again, 5), NULL));
    xir_network_free(again);

    unlink(raw);
    unlink(other);
    DOES(xir_raw_find(json, found, sizeof found, &size, why));
    assert_int_equal(size, 0);
    again = xir_network_load(ctx, json, NULL, why);   /* the structure alone, with a warning */
    assert_non_null(again);
    assert_int_equal(xir_diags_count(why), 1);
    assert_int_equal(xir_diags_count_of(why, XIR_WARNING), 1);
    xir_diags_clear(why);
    assert_null(xir_params_data(value_of(again, 5), NULL));
    xir_network_free(again);
    FAILS_TO_LOAD(xir_network_load(ctx, json, &XIR_INIT(xir_load_options, .params = raw), why), XIR_E_IO,
                  "cannot open");
    xir_network_free(net);
}

static void a_network_that_needs_no_bytes_has_nothing_to_warn_of(void **state) {
    (void)state;
    static const char text[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"icraft_xir_version\":\"3.33.1.0\",\"ops\":[]}";
    scratch_put(scratch("none.json"), text, sizeof text - 1);
    xir_network_free(load_must(scratch("none.json"), NULL));
    xir_network *net = xir_network_read(ctx, text, sizeof text - 1, XIR_STR(""), NULL, why);
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_free(net);
}

/* ---- refusals of the system ------------------------------------------------------------------------------------- */

static void what_cannot_be_opened(void **state) {
    (void)state;
    for (int lazy = 0; lazy < 2; lazy++) {
        const xir_load_options options = XIR_INIT(xir_load_options, .lazy = lazy);
        FAILS_TO_LOAD(xir_network_load(ctx, scratch("missing.json"), &options, why), XIR_E_IO, "No such file");
        FAILS_TO_LOAD(xir_network_load(ctx, scratch_folder, &options, why), XIR_E_IO, "Is a directory");
        FAILS_TO_LOAD(xir_network_load(ctx, "", &options, why), XIR_E_IO, "No such file");
    }
    if (geteuid() != 0) {
        scratch_put(scratch("secret.json"), "{}", 2);
        chmod(scratch("secret.json"), 0);
        FAILS_TO_LOAD(xir_network_load(ctx, scratch("secret.json"), NULL, why), XIR_E_IO, "Permission denied");
    }
}

typedef struct feeding { const char *fifo; const uint8_t *data; size_t size; } feeding;
static void *feed(void *user) {
    feeding *f = user;
    int fd = open(f->fifo, O_WRONLY);
    for (size_t at = 0; fd >= 0 && at < f->size;) {
        size_t n = f->size - at < 777 ? f->size - at : 777;
        ssize_t wrote = write(fd, f->data + at, n);
        if (wrote <= 0) break;
        at += (size_t)wrote;
    }
    close(fd);
    return NULL;
}

static void a_fifo_is_read_to_its_end_lazily_too(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("fed", &f), *raw = scratch("fed.raw"), *fifo = scratch("fifo");
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        for (int lazy = 0; lazy < 2; lazy++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = lazy,
                                                      .params = load_is_pair(&f) ? raw : NULL);
            assert_int_equal(mkfifo(fifo, 0600), 0);
            feeding with = { fifo, bytes, size };
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, feed, &with), 0);
            xir_network *again = load_must(fifo, &options);
            pthread_join(thread, NULL);
            check_loaded(again, lazy && load_is_pair(&f));
            xir_network_free(again);
            unlink(fifo);
        }
        free(bytes);
    }
    xir_network_free(net);
}

/* Nobody can shorten it or write to it: then mapping is as safe as reading. */
static void a_sealed_memory_file(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("sealed", &f), *where = load_is_pair(&f) ? scratch("sealed.raw") : path;
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(where, &size);
        char sealed[64];
        int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, bytes, size), size);
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL), 0);
        snprintf(sealed, sizeof sealed, "/proc/self/fd/%d", fd);
        const xir_load_options options = XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_ON_TOUCH,
                                                  .params = load_is_pair(&f) ? sealed : NULL);
        xir_network *again = load_must(load_is_pair(&f) ? path : sealed, &options);
        assert_int_not_equal(ftruncate(fd, 0), 0);
        close(fd);
        check_loaded(again, true);
        xir_network_free(again);
        free(bytes);
    }
    xir_network_free(net);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void a_limit_is_about_what_is_read_into_memory(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    xir_context *narrow = xir_context_new(NULL);
    xir_context_set_limits(narrow, &XIR_INIT(xir_limits, .max_bytes = 8000), NULL);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("limit", &f);
        load_save(net, path, &f);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        xir_network *eager = xir_network_load(narrow, path, NULL, why);
        if (st.st_size > 8000) {
            assert_null(eager);
            load_check_finding(XIR_E_LIMIT, "the limit is 8000", __LINE__);
        } else {
            assert_non_null(eager);
            xir_network_free(eager);
        }
        xir_network *lazy = xir_network_load(narrow, path, &XIR_INIT(xir_load_options, .lazy = true), why);
        if (!lazy) xir_diags_print(why, stderr);
        assert_non_null(lazy);
        check_loaded(lazy, true);
        xir_network_free(lazy);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        if (size > 8000)
            FAILS_TO_LOAD(xir_network_read(narrow, bytes, size, XIR_STR(""), NULL, why), XIR_E_LIMIT,
                          "the limit of 8000");
        free(bytes);
    }
    xir_context_free(narrow);
    xir_network_free(net);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 3 };

/* The context of the group counts its memory, for one thread only. */
static xir_context *common;

/* Each thread has networks and findings of its own, all in one context: failures are counted. */
static void *load_and_save(void *user) {
    size_t number = (size_t)(uintptr_t)user, wrong = 0;
    xir_diags *mine = xir_diags_new(common);
    xir_format_info f;
    for (size_t k = 0; k < ROUNDS; k++) {
        for (size_t i = 0; written_format_at(i, &f); i++) {
            char from[PATH_MAX + 64], to[PATH_MAX + 64];
            const int suffix = (int)strcspn(f.suffixes, " ");
            snprintf(from, sizeof from, "%s/shared.%.*s", scratch_folder, suffix, f.suffixes);
            snprintf(to, sizeof to, "%s/thread%zu.%.*s", scratch_folder, number, suffix, f.suffixes);
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = (number + k) % 2,
                                                      .verify = levels[(number + k + i) % COUNT(levels)]);
            xir_network *net = xir_network_load(common, from, &options, mine);
            wrong += !net || !load_is_filled(net);
            if (net) wrong += xir_network_save(net, to, &XIR_INIT(xir_save_options, .unchecked = true), mine) != XIR_OK;
            xir_network_free(net);
        }
    }
    wrong += xir_diags_count(mine);
    xir_diags_free(mine);
    return (void *)(uintptr_t)wrong;
}

static void threads_share_a_context_and_files(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) load_save(net, load_path("shared", &f), &f);
    pthread_t threads[THREADS];
    common = xir_context_new(NULL);
    assert_non_null(common);
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, load_and_save, (void *)(uintptr_t)t), 0);
    for (size_t t = 0; t < THREADS; t++) {
        void *wrong;
        pthread_join(threads[t], &wrong);
        assert_null(wrong);
    }
    xir_context_free(common);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        xir_network *again = load_must(load_path("thread2", &f), NULL);
        assert_true(xir_network_equal(net, again, true));
        xir_network_free(again);
    }
    xir_network_free(net);
}

/* ---- verification ----------------------------------------------------------------------------------------------- */

/* The place of the bytes of raw_byte(5) in a file. */
static size_t place_of(const uint8_t *bytes, size_t size) {
    uint8_t wanted[64];
    for (size_t i = 0; i < sizeof wanted; i++) wanted[i] = raw_byte(5, i);
    const uint8_t *at = memmem(bytes, size, wanted, sizeof wanted);
    assert_non_null(at);
    return (size_t)(at - bytes);
}

static void a_changed_byte_is_seen_by_comparing(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("flip", &f), *where = load_is_pair(&f) ? scratch("flip.raw") : path;
        load_save(net, path, &f);
        size_t size;
        uint8_t *bytes = scratch_get(where, &size);
        bytes[place_of(bytes, size) + 100] ^= 1;
        scratch_put(where, bytes, size);
        free(bytes);
        for (size_t j = 0; j < 2 * COUNT(levels); j++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = j % 2, .verify = levels[j / 2]);
            if (options.verify == XIR_VERIFY_FULL || (options.verify == XIR_VERIFY_DEFAULT && !options.lazy)) {
                FAILS_TO_LOAD(xir_network_load(ctx, path, &options, why), XIR_E_CORRUPT, "MD5");
            } else {
                xir_network *again = load_must(path, &options);
                assert_false(load_is_filled(again));
                xir_network_free(again);
            }
        }
    }
    xir_network_free(net);
}

static void a_size_that_is_only_claimed_is_a_warning(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (!load_is_pair(&f)) continue;   /* others compute their claims when they are written */
        const char *path = load_path("claim", &f);
        load_save(net, path, &f);
        size_t size;
        const char *key = strcmp(f.name, "text") == 0 ? ".params " : "\"params_bytes\":";
        char *text = (char *)scratch_get(path, &size), *number = strstr(text, key);
        assert_non_null(number);
        number += strlen(key);
        *number = *number == '9' ? '8' : '9';
        scratch_put(path, text, size);
        free(text);
        for (size_t j = 0; j < 2 * COUNT(levels); j++) {
            const xir_load_options options = XIR_INIT(xir_load_options, .lazy = j % 2, .verify = levels[j / 2]);
            xir_network *again = xir_network_load(ctx, path, &options, why);
            assert_non_null(again);
            assert_int_equal(xir_diags_count(why), options.verify != XIR_VERIFY_NEVER);
            assert_int_equal(xir_diags_count_of(why, XIR_WARNING), options.verify != XIR_VERIFY_NEVER);
            xir_diags_clear(why);
            xir_network_free(again);
        }
    }
    xir_network_free(net);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        STORY(files_of_every_format),
        STORY(memory_of_every_format),
        STORY(memory_at_any_address),
        STORY(streams_of_every_format),
        STORY(a_stream_that_lies_and_one_that_never_ends),
        cmocka_unit_test(an_impossible_beginning_ends_a_stream),
        STORY(a_device_that_never_ends),
        STORY(a_clone_keeps_the_bytes),
        STORY(content_decides_before_the_name),
        STORY(files_that_are_not_a_network),
        STORY(options_that_make_no_sense),
        STORY(the_list_of_formats),
        STORY(a_stale_file_is_not_looked_at),
        STORY(the_raw_file_is_found_next_to_it),
        STORY(a_network_that_needs_no_bytes_has_nothing_to_warn_of),
        STORY(what_cannot_be_opened),
        STORY(a_fifo_is_read_to_its_end_lazily_too),
        STORY(a_sealed_memory_file),
        STORY(a_limit_is_about_what_is_read_into_memory),
        STORY(threads_share_a_context_and_files),
        STORY(a_changed_byte_is_seen_by_comparing),
        STORY(a_size_that_is_only_claimed_is_a_warning),
    };
    return RUN_GROUP(tests);
}
