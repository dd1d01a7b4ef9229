/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Saving in any format, to files and to callbacks: a refusal leaves no file; the same network gives the same bytes;
 * and a file can be saved over while a network is mapped from it. */
#include <fcntl.h>
#include <xir/icraft.h>
#include "support/load_net.h"

static void take_findings(void) {
    if (xir_diags_count(why)) xir_diags_print(why, stderr);
    assert_int_equal(xir_diags_count(why), 0);
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static void the_same_network_gives_the_same_bytes(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("same", &f);
        load_save(net, path, &f);
        size_t size, now_size;
        uint8_t *bytes = scratch_get(path, &size);
        for (int lazy = 0; lazy < 2; lazy++) {
            xir_network *again = load_must(path, &XIR_INIT(xir_load_options, .lazy = lazy));
            load_save(again, load_path("same-again", &f), &f);
            uint8_t *now = scratch_get(load_path("same-again", &f), &now_size);
            assert_int_equal(now_size, size);
            assert_memory_equal(now, bytes, size);
            raw_memory m = { 0 };
            const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true,
                                                      .flags = load_flags(&f));
            assert_int_equal(xir_network_write(again, raw_memory_write, &m, &options, why), XIR_OK);
            assert_int_equal(m.size, size);
            assert_memory_equal(m.data, bytes, size);
            free(m.data);
            free(now);
            xir_network_free(again);
        }
        free(bytes);
    }
    xir_network_free(net);
}

/* From every format into every other and back. */
static void there_and_back(void **state) {
    (void)state;
    xir_format_info f, to;
    xir_network *net = load_net(ctx);
    load_save(net, scratch("first.json"), &(xir_format_info){ .name = "json" });
    size_t json_size, raw_size, size;
    uint8_t *json = scratch_get(scratch("first.json"), &json_size), *raw = scratch_get(scratch("first.raw"), &raw_size);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        for (size_t j = 0; written_format_at(j, &to); j++) {
            for (int lazy = 0; lazy < 2; lazy++) {
                const xir_load_options how = XIR_INIT(xir_load_options, .lazy = lazy);
                load_save(net, load_path("one", &f), &f);
                xir_network *one = load_must(load_path("one", &f), &how);
                load_save(one, load_path("two", &to), &to);
                xir_network_free(one);
                xir_network *two = load_must(load_path("two", &to), &how);
                load_save(two, scratch("last.json"), &(xir_format_info){ .name = "json" });
                xir_network_free(two);
                uint8_t *now = scratch_get(scratch("last.json"), &size);
                assert_int_equal(size, json_size);
                assert_memory_equal(now, json, size);
                free(now);
                now = scratch_get(scratch("last.raw"), &size);
                assert_int_equal(size, raw_size);
                assert_memory_equal(now, raw, size);
                free(now);
            }
        }
    }
    free(json);
    free(raw);
    xir_network_free(net);
}

/* Without the MD5 a file is the same but for that text, and reading it says that nothing could be compared. */
static void without_the_md5(void **state) {
    (void)state;
    static const char *const names[] = { "json", "imodel", "fb" };
    xir_network *net = load_net(ctx);
    for (size_t i = 0; i < COUNT(names); i++) {
        xir_format_info f = { .name = names[i] };
        const char *path = scratch("no-md5.file");
        const xir_save_options how = XIR_INIT(xir_save_options, .format = names[i], .flags = XIR_SAVE_NO_MD5);
        assert_int_equal(xir_network_save(net, path, &how, why), XIR_OK);
        take_findings();
        for (int lazy = 0; lazy < 2; lazy++) {
            xir_network *again = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = lazy), why);
            assert_non_null(again);
            assert_int_equal(xir_network_text_of(again, XIR_TEXT_PARAMS_MD5).size, 0);
            assert_true(xir_network_params_bytes(again) > 0);
            assert_true(xir_network_equal(net, again, true));
            assert_int_equal(xir_diags_count(why), lazy ? 0 : 1);
            if (!lazy) {
                assert_int_equal(xir_diags_at(why, 0)->severity, XIR_NOTE);
                assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "has no params_md5"));
            }
            xir_diags_clear(why);
            load_save(again, path, &f);   /* saved as usual, the file has one again */
            xir_network_free(again);
            again = load_must(path, &XIR_INIT(xir_load_options, .lazy = lazy));
            assert_int_equal(xir_network_text_of(again, XIR_TEXT_PARAMS_MD5).size, 32);
            xir_network_free(again);
            assert_int_equal(xir_network_save(net, path, &how, why), XIR_OK);
        }
    }
    xir_network_free(net);
}

static void the_structure_alone(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx), *digest;
    load_save(net, scratch("digest.json"), &(xir_format_info){ .name = "json" });
    digest = load_must(scratch("digest.json"), &XIR_INIT(xir_load_options, .no_params = true));
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("alone", &f);
        const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true,
                                                  .no_params = true);
        assert_int_equal(xir_network_save(net, path, &options, why), XIR_OK);
        assert_int_not_equal(access(scratch("alone.raw"), F_OK), 0);
        xir_network *again = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .no_params = true), why);
        take_findings();
        assert_non_null(again);
        assert_true(xir_network_equal(net, again, false));
        assert_false(xir_params_has_data(value_of(again, 5)));
        assert_int_equal(xir_network_params_bytes(again), xir_network_params_bytes(digest));
        assert_true(xir_str_equal(xir_network_text_of(again, XIR_TEXT_PARAMS_MD5),
                                  xir_network_text_of(digest, XIR_TEXT_PARAMS_MD5)));
        assert_true(xir_params_has_data(value_of(net, 5)));   /* bytes that are not saved are not lost */
        /* A network without bytes is written without them. */
        assert_int_equal(xir_network_save(again, path, &XIR_INIT(xir_save_options, .unchecked = true), why), XIR_OK);
        xir_network_free(again);
        again = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .no_params = true), why);
        assert_int_equal(xir_network_params_bytes(again), xir_network_params_bytes(digest));
        xir_network_free(again);
    }
    xir_network_free(digest);
    xir_network_free(net);
}

static void some_bytes_and_not_others(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    xir_params_clear(value_of(net, 5));
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("some", &f);
        const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true);
        FAILS_TO_SAVE(xir_network_save(net, path, &options, why), XIR_E_MISSING, "v_id 5");
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_not_equal(access(scratch("some.raw"), F_OK), 0);
    }
    xir_network_free(net);
}

static void json_has_a_parameter_file_next_to_it(void **state) {
    (void)state;
    xir_network *net = load_net(ctx);
    const xir_save_options indented = XIR_INIT(xir_save_options, .format = "json", .unchecked = true, .indent = true);
    assert_int_equal(xir_network_save(net, scratch("x.network"), &indented, why), XIR_OK);
    xir_network_free(load_must(scratch("x.network"), NULL));   /* finds x.raw, as saving named it */
    assert_int_equal(access(scratch("x.raw"), F_OK), 0);
    size_t size;
    char *text = (char *)scratch_get(scratch("x.network"), &size);
    assert_non_null(strstr(text, "\n    \""));
    free(text);
    const xir_save_options named = XIR_INIT(xir_save_options, .params = scratch("elsewhere.bin"), .unchecked = true);
    assert_int_equal(xir_network_save(net, scratch("y.json"), &named, why), XIR_OK);
    assert_int_not_equal(access(scratch("y.raw"), F_OK), 0);
    xir_network_free(load_must(scratch("y.json"), &XIR_INIT(xir_load_options, .params = scratch("elsewhere.bin"))));
    const xir_save_options same = XIR_INIT(xir_save_options, .params = scratch("z.json"), .unchecked = true);
    assert_int_equal(xir_network_save(net, scratch("z.json"), &same, why), XIR_E_EXISTS);
    assert_int_not_equal(access(scratch("z.json"), F_OK), 0);
    xir_diags_clear(why);
    xir_network_free(net);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void validation_comes_first(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *good = small_net();
    xir_network *bad = xir_network_new(ctx, "bad", XIR_FRAMEWORK_PYTORCH, "v1");   /* neither input nor output */
    raw_fill(value_of(good, 1));
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("valid", &f);
        assert_int_equal(xir_network_save(good, path, NULL, why), XIR_OK);
        take_findings();
        xir_network *again = load_must(path, NULL);
        assert_true(xir_network_equal(good, again, true));
        xir_network_free(again);
        size_t size, now_size;
        uint8_t *before = scratch_get(path, &size);
        assert_int_not_equal(xir_network_save(bad, path, NULL, why), XIR_OK);
        assert_true(xir_diags_count(why) > 0);
        xir_diags_clear(why);
        raw_memory m = { 0 };
        assert_int_not_equal(xir_network_write(bad, raw_memory_write, &m,
                                               &XIR_INIT(xir_save_options, .format = f.name), why), XIR_OK);
        assert_int_equal(m.size, 0);
        xir_diags_clear(why);
        uint8_t *now = scratch_get(path, &now_size);
        assert_int_equal(now_size, size);
        assert_memory_equal(now, before, size);
        free(now);
        free(before);
        free(m.data);
        assert_int_equal(xir_network_save(bad, path, &XIR_INIT(xir_save_options, .unchecked = true), why), XIR_OK);
    }
    xir_network_free(good);
    xir_network_free(bad);
}

static void options_that_make_no_sense(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    size_t files = (size_t)scratch_count_in(scratch_folder);
#define SAVE(path, ...) \
    xir_network_save(net, scratch(path), &XIR_INIT(xir_save_options, .unchecked = true, __VA_ARGS__), why)
#define WRITE(...) \
    xir_network_write(net, raw_memory_write, &m, &XIR_INIT(xir_save_options, .unchecked = true, __VA_ARGS__), why)
    raw_memory m = { 0 };
    FAILS_TO_SAVE(SAVE("a.xyz", .format = NULL), XIR_E_UNKNOWN, "the name does not identify the format");
    FAILS_TO_SAVE(SAVE("a", .format = NULL), XIR_E_UNKNOWN, "the name does not identify the format");
    FAILS_TO_SAVE(SAVE("a.json", .format = "pnxn"), XIR_E_UNKNOWN, "no format 'pnxn'");
    FAILS_TO_SAVE(SAVE("a.onnx", .format = NULL), XIR_E_UNSUPPORTED, "ONNX has no operator for ");
    FAILS_TO_SAVE(SAVE("a.json", .flags = XIR_SAVE_EXTERNAL), XIR_E_INVALID, "in a file that it names");
    FAILS_TO_SAVE(SAVE("a.onnx", .flags = XIR_SAVE_EXTERNAL, .no_params = true), XIR_E_INVALID, "only the structure");
    FAILS_TO_SAVE(SAVE("a.json", .params = scratch("a.raw"), .no_params = true), XIR_E_INVALID, "only the structure");
    FAILS_TO_SAVE(SAVE("a.json", .align = 3), XIR_E_INVALID, "power of two");
    FAILS_TO_SAVE(SAVE("a.json", .align = UINT32_C(1) << 31), XIR_E_INVALID, "power of two");
    FAILS_TO_SAVE(WRITE(.format = NULL), XIR_E_INVALID, "needs a format");
    FAILS_TO_SAVE(WRITE(.format = "json", .params = "a.raw"), XIR_E_INVALID, "xir_network_save_params");
    FAILS_TO_SAVE(xir_network_write(net, raw_memory_write, &m, NULL, why), XIR_E_INVALID, "needs a format");
    for (size_t i = 0; written_format_at(i, &f); i++)
        if (!load_is_pair(&f))
            FAILS_TO_SAVE(SAVE("a.x", .format = f.name, .params = "x"), XIR_E_INVALID, "contains its parameters");
    FAILS_TO_SAVE(SAVE("no/such/folder.json", .format = NULL), XIR_E_IO, "");
    assert_int_equal(m.size, 0);
    assert_int_equal(scratch_count_in(scratch_folder), files);
    xir_network_free(net);
}

/* ---- callbacks that stop ---------------------------------------------------------------------------------------- */

static void a_callback_may_stop_anywhere(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true);
        raw_memory all = { 0 };
        assert_int_equal(xir_network_write(net, raw_memory_write, &all, &options, why), XIR_OK);
        for (size_t most = 1; most < all.size; most += most < 300 ? 1 : 997) {
            raw_memory m = { .most = most };
            assert_int_equal(xir_network_write(net, raw_memory_write, &m, &options, NULL), XIR_E_IO);
            assert_true(m.size <= most);
            if (m.size) assert_memory_equal(m.data, all.data, m.size);
            free(m.data);
        }
        free(all.data);
    }
    if (access("/dev/full", W_OK) == 0) {
        for (size_t i = 0; written_format_at(i, &f); i++) {
            const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true,
                                                      .no_params = true);
            FAILS_TO_SAVE(xir_network_save(net, "/dev/full", &options, why), XIR_E_IO, "No space left");
        }
    }
    xir_network_free(net);
}

/* ---- over itself ------------------------------------------------------------------------------------------------ */

static void saving_over_the_mapped_file(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("self", &f);
        load_save(net, path, &f);
        xir_network *lazy = load_must(path, &XIR_INIT(xir_load_options, .lazy = true));
        for (int k = 0; k < 3; k++) {
            load_save(lazy, path, &f);
            assert_true(load_is_filled(lazy));
            assert_true(xir_params_is_lazy(value_of(lazy, 5)));
        }
        memset(xir_params_edit(value_of(lazy, 5)), 'X', 10);
        load_save(lazy, path, &f);
        xir_network *again = load_must(path, NULL);   /* the MD5 is that of the new bytes */
        assert_true(xir_network_equal(lazy, again, true));
        assert_memory_equal(xir_params_data(value_of(again, 5), NULL), "XXXXXXXXXX", 10);
        xir_network_free(again);
        xir_network_free(lazy);
    }
    xir_network_free(net);
}

static void one_format_each(void **state) {
    (void)state;
    xir_network *net = load_net(ctx), *again;
    xir_network *bad = xir_network_new(ctx, "bad", XIR_FRAMEWORK_PYTORCH, "v1");   /* neither input nor output */
    const struct {
        const char *word, *path;
        xir_status (*save)(xir_network *, const char *, unsigned, xir_diags *);
        xir_network *(*load)(xir_context *, const char *, unsigned, xir_diags *);
    } ways[] = {
        { "imodel", "one.imodel", xir_msg_save,  xir_msg_load  },
        { "fb",     "one.fb",     xir_flat_save, xir_flat_load },
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        const char *path = scratch(ways[i].path);
        xir_status status = ways[i].save(net, path, XIR_SAVE_UNCHECKED, why);
        if (status == XIR_E_UNKNOWN) {   /* not a format of the library */
            xir_diags_clear(why);
            continue;
        }
        assert_int_equal(status, XIR_OK);
        assert_int_not_equal(ways[i].save(bad, path, 0, NULL), XIR_OK);
        const unsigned flags[] = { 0, XIR_LOAD_LAZY, XIR_LOAD_NO_MD5, XIR_LOAD_LAZY | XIR_LOAD_MD5 };
        for (size_t j = 0; j < COUNT(flags); j++) {
            again = ways[i].load(ctx, path, flags[j], why);
            take_findings();
            assert_true(load_is_filled(again));
            assert_int_equal(xir_params_is_lazy(value_of(again, 5)), (flags[j] & XIR_LOAD_LAZY) != 0);
            xir_network_free(again);
        }
        assert_null(ways[i].load(ctx, scratch("missing"), 0, why));
        xir_diags_clear(why);
    }
    xir_network_free(bad);
    xir_network_free(net);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        STORY(the_same_network_gives_the_same_bytes),
        STORY(there_and_back),
        STORY(without_the_md5),
        STORY(the_structure_alone),
        STORY(some_bytes_and_not_others),
        STORY(json_has_a_parameter_file_next_to_it),
        STORY(validation_comes_first),
        STORY(options_that_make_no_sense),
        STORY(a_callback_may_stop_anywhere),
        STORY(saving_over_the_mapped_file),
        STORY(one_format_each),
    };
    return RUN_GROUP(tests);
}
