/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* XIR_VERIFY_MEANWHILE: parameters are compared with their MD5 while the network is used, and no file gets its name
 * before that; with a thread, and without one. */
#include <fcntl.h>
#include <pthread.h>
#include <xir/icraft.h>
#include "support/load_net.h"
#include "raw/meanwhile.h"

static const xir_load_options meanwhile_how = { .size = sizeof meanwhile_how, .lazy = true,
                                                .verify = XIR_VERIFY_MEANWHILE };

static void set_way(int way) {
    meanwhile_least = way ? 0 : UINT64_MAX;
    meanwhile_refused = way == 2;
}

static void forget_ways(void) {
    meanwhile_least = 1 << 20;
    meanwhile_refused = false;
}

/* Formats that state an MD5 of their parameters. */
static bool states_md5(const xir_format_info *f) {
    return strcmp(f->name, "json") == 0 || strcmp(f->name, "text") == 0 || strcmp(f->name, "imodel") == 0 ||
           strcmp(f->name, "fb") == 0;
}

static const char *where_params(const char *name, const xir_format_info *f) {
    char raw[64];
    snprintf(raw, sizeof raw, "%s.raw", name);
    return load_is_pair(f) ? scratch(raw) : load_path(name, f);
}

/* Saves a file of which the last payload ends the file, or is near its end. */
static const char *saved(const xir_format_info *f) {
    xir_network *net = load_net(ctx);
    load_save(net, load_path("meanwhile", f), f);
    xir_network_free(net);
    return load_path("meanwhile", f);
}

static void change(const char *path, const uint8_t *part, size_t part_size) {
    size_t size;
    uint8_t *bytes = scratch_get(path, &size), *at = memmem(bytes, size, part, part_size);
    assert_non_null(at);
    at[part_size / 2] ^= 1;
    scratch_put(path, bytes, size);
    free(bytes);
}

/* Bytes of the payload of Params 11. */
static const uint8_t *some_bytes(void) {
    static uint8_t some[64];
    for (size_t i = 0; i < sizeof some; i++) some[i] = raw_byte(11, 4000 + i);
    return some;
}

static void what_agrees_is_saved(void **state) {
    (void)state;
    xir_format_info f, to;
    for (int way = 0; way < 3; way++) {
        set_way(way);
        for (size_t i = 0; written_format_at(i, &f); i++) {
            if (!f.reads) continue;
            xir_network *net = load_must(saved(&f), &meanwhile_how);
            assert_true(load_is_filled(net));
            for (size_t j = 0; written_format_at(j, &to); j++) load_save(net, load_path("meanwhile-to", &to), &to);
            assert_int_equal(xir_network_verified(net, why), XIR_OK);
            xir_network_free(net);
        }
    }
    forget_ways();
}

static void what_differs_gets_no_name(void **state) {
    (void)state;
    static const char *const files[] = { "no.json", "no.fb", "no.imodel" };
    xir_format_info f;
    for (int way = 0; way < 3; way++) {
        set_way(way);
        for (size_t i = 0; written_format_at(i, &f); i++) {
            if (!states_md5(&f)) continue;
            const char *path = saved(&f);
            change(where_params("meanwhile", &f), some_bytes(), 64);
            FAILS_TO_LOAD(xir_network_load(ctx, path, NULL, why), XIR_E_CORRUPT, "the MD5 of");
            xir_network *net = load_must(path, &meanwhile_how), *copy = xir_network_clone(net);
            for (size_t j = 0; j < COUNT(files); j++) {
                const xir_save_options how = XIR_INIT(xir_save_options, .unchecked = true);
                FAILS_TO_SAVE(xir_network_save(net, scratch(files[j]), &how, why), XIR_E_CORRUPT, "params_md5");
                FAILS_TO_SAVE(xir_network_save(copy, scratch(files[j]), &how, why), XIR_E_CORRUPT, "params_md5");
                assert_int_equal(access(scratch(files[j]), F_OK), -1);
            }
            FAILS_TO_SAVE(xir_raw_save(net, scratch("no.raw"), why), XIR_E_CORRUPT, "params_md5");
            assert_int_equal(access(scratch("no.raw"), F_OK), -1);
            xir_network_free(net);
            FAILS_TO_SAVE(xir_network_verified(copy, why), XIR_E_CORRUPT, "params_md5");
            xir_network_free(copy);
        }
    }
    forget_ways();
}

static void set_time(const char *path, long seconds) {
    const struct timespec times[2] = { { seconds, 1 }, { seconds, 1 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void shorten(const char *path)    { assert_int_equal(truncate(path, 0), 0); }
static void only_touch(const char *path) { set_time(path, 2000000000); }

/* Files of all formats, of those without an MD5, too. */
static void a_file_that_changes_is_an_error(void **state) {
    (void)state;
    static void (*const changes[])(const char *) = { shorten, only_touch };
    xir_format_info f;
    for (int way = 0; way < 3; way++) {
        set_way(way);
        for (size_t i = 0; written_format_at(i, &f); i++) {
            if (!f.reads || strcmp(f.name, "deepx") == 0) continue;    /* whose parameters are many files */
            if (load_is_pair(&f) && !states_md5(&f)) continue;         /* and whose file has another name */
            for (size_t c = 0; c < COUNT(changes); c++) {
                const char *path = saved(&f), *params = where_params("meanwhile", &f);
                set_time(params, 1000000000);
                xir_network *net = load_must(path, &meanwhile_how);
                changes[c](params);
                if (changes[c] == only_touch) assert_true(load_is_filled(net));    /* no pass meets lost bytes */
                const xir_save_options how = XIR_INIT(xir_save_options, .unchecked = true);
                assert_int_equal(xir_network_save(net, scratch("gone.fb"), &how, why), XIR_E_IO);
                CHECK_STR(xir_diags_at(why, 0)->file, params);
                xir_diags_clear(why);
                assert_int_equal(access(scratch("gone.fb"), F_OK), -1);
                xir_network_free(net);
            }
        }
    }
    forget_ways();
}

/* The file that a network is mapped from may be replaced by it. */
static void a_network_replaces_its_own_file(void **state) {
    (void)state;
    xir_format_info f;
    size_t size, now_size;
    for (int way = 0; way < 3; way++) {
        set_way(way);
        for (size_t i = 0; written_format_at(i, &f); i++) {
            if (!states_md5(&f)) continue;
            const char *path = saved(&f), *params = where_params("meanwhile", &f);
            uint8_t *was = scratch_get(params, &size);
            xir_network *net = load_must(path, &meanwhile_how);
            load_save(net, path, &f);
            load_save(net, path, &f);    /* the file is another one now */
            xir_network_free(net);
            uint8_t *now = scratch_get(params, &now_size);
            assert_int_equal(size, now_size);
            assert_memory_equal(was, now, size);
            free(was);
            free(now);
        }
    }
    forget_ways();
}

/* A network that is freed, and one that loses its parameters, do not wait and do not read what is gone. */
static void nobody_has_to_ask(void **state) {
    (void)state;
    xir_format_info f;
    set_way(1);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (!states_md5(&f)) continue;
        const char *path = saved(&f);
        for (int times = 0; times < 20; times++) {
            xir_network *net = load_must(path, &meanwhile_how), *copy = times % 2 ? xir_network_clone(net) : NULL;
            for (size_t k = 0; k < LOAD_PARAMS && times % 3 == 0; k++)
                xir_params_clear(xir_network_value_by_id(net, load_params[k].id));
            xir_network_free(net);
            if (times % 4 == 1) assert_int_equal(xir_network_verified(copy, why), XIR_OK);
            xir_network_free(copy);
        }
    }
    forget_ways();
}

static void *asks(void *user) {
    return (void *)(uintptr_t)xir_network_verified(user, NULL);
}

static void several_threads_may_ask(void **state) {
    (void)state;
    enum { THREADS = 7 };
    const xir_format_info f = { .name = "fb", .suffixes = "fb" };
    for (int way = 0; way < 3; way++) {
        set_way(way);
        xir_network *net = load_must(saved(&f), &meanwhile_how);
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, asks, net), 0);
        for (int i = 0; i < THREADS; i++) {
            void *status;
            pthread_join(threads[i], &status);
            assert_null(status);
        }
        xir_network_free(net);
    }
    forget_ways();
}

/* Memory is compared at once, and so is what is read into memory. */
static void what_is_not_mapped_is_compared_at_once(void **state) {
    (void)state;
    xir_format_info f;
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (!states_md5(&f) || load_is_pair(&f)) continue;
        const char *path = saved(&f);
        change(path, some_bytes(), 64);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        FAILS_TO_LOAD(xir_network_read(ctx, bytes, size, XIR_STR("memory"), &meanwhile_how, why), XIR_E_CORRUPT, "MD5");
        free(bytes);
        const xir_load_options eager = XIR_INIT(xir_load_options, .verify = XIR_VERIFY_MEANWHILE);
        FAILS_TO_LOAD(xir_network_load(ctx, path, &eager, why), XIR_E_CORRUPT, "MD5");
    }
    assert_int_not_equal(xir_network_verified(NULL, why), XIR_OK);
    xir_diags_clear(why);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_agrees_is_saved),
        cmocka_unit_test(what_differs_gets_no_name),
        cmocka_unit_test(a_file_that_changes_is_an_error),
        cmocka_unit_test(a_network_replaces_its_own_file),
        cmocka_unit_test(nobody_has_to_ask),
        cmocka_unit_test(several_threads_may_ask),
        cmocka_unit_test(what_is_not_mapped_is_compared_at_once),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
