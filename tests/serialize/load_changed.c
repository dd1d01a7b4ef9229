/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files that change while a network is mapped from them: with XIR_VERIFY_ON_TOUCH, untouched parameters lose their
 * bytes, which is a status and a finding and never a signal; files that are replaced or removed stay unchanged for
 * the network. */
#include <fcntl.h>
#include <pthread.h>
#include <xir/icraft.h>
#include <xir/pass.h>
#include "support/load_net.h"

/* A time of change that no clock gives now, so that nothing depends on the resolution of the clock. */
static void set_time(const char *path, long seconds) {
    const struct timespec times[2] = { { seconds, 1 }, { seconds, 1 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void shorten(const char *path)  { assert_int_equal(truncate(path, 0), 0); }
static void shorten_by_one(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    set_time(path, st.st_mtim.tv_sec);
}
static void lengthen(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size + 1), 0);
}
static void rewrite(const char *path) {
    size_t size;
    uint8_t *bytes = scratch_get(path, &size);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    bytes[size - 1] ^= 1;
    assert_int_equal(pwrite(fd, bytes, size, 0), size);
    close(fd);
    free(bytes);
    set_time(path, 2000000000);
}
static void only_touch(const char *path) { set_time(path, 2000000000); }

static void (*const changes[])(const char *path) = { shorten, shorten_by_one, lengthen, rewrite, only_touch };

/* The file with the parameters. */
static const char *where_params(const char *name, const xir_format_info *f) {
    char raw[64];
    snprintf(raw, sizeof raw, "%s.raw", name);
    return load_is_pair(f) ? scratch(raw) : load_path(name, f);
}

static xir_network *load_watched(const char *name, const xir_format_info *f, xir_network *net) {
    const char *path = load_path(name, f);
    load_save(net, path, f);
    set_time(where_params(name, f), 1000000000);
    return load_must(path, &XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_ON_TOUCH));
}

/* One way to request bytes: whether there were any. */
static bool by_data(xir_value *v) {
    uint64_t size = 77;
    const void *data = xir_params_data(v, &size);
    assert_true(data ? size > 0 : size == 0);
    return data;
}
static bool by_typed(xir_value *v) { return xir_params_typed(v, 1); }
static bool by_read(xir_value *v) {
    uint8_t bytes[4] = { 0 };
    xir_status status = xir_params_read(v, 0, bytes, sizeof bytes);
    assert_true(status == XIR_OK || status == XIR_E_IO);
    return status == XIR_OK;
}
static bool by_edit(xir_value *v) { return xir_params_edit(v); }
static bool by_load(xir_value *v) {
    xir_status status = xir_params_load(v);
    assert_true(status == XIR_OK || status == XIR_E_IO);
    return status == XIR_OK;
}
static bool by_equal(xir_value *v) {
    xir_value *other = xir_params_new(xir_value_network(v), XIR_STR("other"), xir_value_type(v));
    raw_fill(other);
    uint64_t size;
    uint8_t *bytes = xir_params_edit(other);
    assert_int_equal(xir_type_bytes(xir_value_type(v), &size), XIR_OK);
    for (size_t i = 0; i < size; i++) bytes[i] = raw_byte(xir_value_id(v), i);
    return xir_params_equal(v, other);
}
static bool by_two(xir_value *v) {   /* the next request gives the same result */
    bool first = by_read(v);
    assert_int_equal(by_data(v), first);
    assert_int_equal(xir_params_has_data(v), first);
    return first;
}

static bool (*const askers[])(xir_value *v) = { by_data, by_typed, by_read, by_edit, by_load, by_equal, by_two };

/* ---- one thread ------------------------------------------------------------------------------------------------- */

static void bytes_of_a_changed_file_are_gone(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        for (size_t c = 0; c < COUNT(changes); c++) {
            for (size_t a = 0; a < COUNT(askers); a++) {
                xir_network *lazy = load_watched("changed", &f, net);
                changes[c](where_params("changed", &f));
                xir_value *v = value_of(lazy, 5);
                assert_true(xir_params_is_lazy(v));
                assert_true(xir_params_has_data(v));   /* nothing was noticed yet */
                assert_false(askers[a](v));
                assert_false(xir_params_has_data(v));
                assert_false(askers[a](v));
                assert_int_equal(xir_network_status(lazy), XIR_E_IO);
                assert_int_equal(xir_diags_count(xir_network_diags(lazy)), 1);
                const xir_diag *d = xir_diags_at(xir_network_diags(lazy), 0);
                assert_non_null(memmem(d->message.data, d->message.size, "'p2'", 4));
                CHECK_STR(d->file, where_params("changed", &f));
                assert_false(by_data(value_of(lazy, 11)));   /* the next request has its own finding */
                assert_int_equal(xir_diags_count(xir_network_diags(lazy)), 2);
                assert_true(xir_params_has_data(value_of(lazy, 7)));   /* it needs none */
                assert_int_equal(xir_params_read(value_of(lazy, 7), 0, NULL, 0), XIR_OK);
                xir_network_free(lazy);
            }
        }
    }
    xir_network_free(net);
}

static void bytes_of_an_unchanged_file_remain(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        for (size_t a = 0; a < COUNT(askers); a++) {
            xir_network *lazy = load_watched("still", &f, net);
            assert_true(askers[a](value_of(lazy, 5)));
            assert_true(load_is_filled(lazy));
            assert_int_equal(xir_network_status(lazy), XIR_OK);
            xir_network_free(lazy);
        }
    }
    xir_network_free(net);
}

/* A touched parameter is checked again whenever somebody asks, but not one that got other bytes. */
static void touched_bytes_go_and_replaced_ones_stay(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        xir_network *lazy = load_watched("touched", &f, net);
        assert_true(by_data(value_of(lazy, 5)));
        only_touch(where_params("touched", &f));
        assert_false(by_data(value_of(lazy, 5)));
        assert_false(by_data(value_of(lazy, 11)));
        raw_fill(value_of(lazy, 11));
        assert_true(by_data(value_of(lazy, 11)));
        assert_true(raw_is_filled(value_of(lazy, 11)));
        xir_params_clear(value_of(lazy, 3));
        assert_false(xir_params_has_data(value_of(lazy, 3)));
        assert_int_equal(xir_diags_count(xir_network_diags(lazy)), 2);
        xir_network_free(lazy);
    }
    xir_network_free(net);
}

/* Reads bytes, changes the file, and reads again what it has planned with. */
static const char *changing;
static xir_status reads_twice(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    assert_true(by_data(value_of(net, 5)));
    only_touch(changing);
    assert_true(by_data(value_of(net, 5)));
    assert_true(by_data(value_of(net, 11)));
    return XIR_OK;
}
static const xir_pass_decl reading = {
    XIR_PASS_HEAD("reads-twice", "reads parameters before and after their file changes"), .level = XIR_LEVEL_EXACT,
    .run = reads_twice,
};

static void a_pass_keeps_its_bytes_and_fails_at_its_end(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    assert_int_equal(xir_pass_register(ctx, &reading, why), XIR_OK);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        xir_network *lazy = load_watched("passed", &f, net);
        changing = where_params("passed", &f);
        assert_int_equal(xir_pass_run(lazy, "reads-twice", NULL, NULL, why), XIR_E_IO);
        assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 2);
        CHECK_STR(xir_diags_at(why, 0)->file, changing);
        assert_false(by_data(value_of(lazy, 5)));
        xir_network_free(lazy);
        xir_diags_clear(why);
    }
    xir_network_free(net);
}

static void a_file_that_lost_its_name_is_unchanged(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        xir_network *lazy = load_watched("renamed", &f, net);
        const char *where = where_params("renamed", &f), *other = scratch("other");
        scratch_put(other, "something else", 14);
        assert_int_equal(rename(other, where), 0);
        assert_true(load_is_filled(lazy));
        xir_network_free(lazy);
        lazy = load_watched("renamed", &f, net);
        assert_int_equal(unlink(where_params("renamed", &f)), 0);
        xir_network *copy = xir_network_clone(lazy);
        xir_network_free(lazy);
        assert_true(load_is_filled(copy));
        assert_int_equal(xir_network_status(copy), XIR_OK);
        xir_network_free(copy);
    }
    xir_network_free(net);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static bool swallow(void *user, const void *data, size_t size) {
    (void)data;
    *(size_t *)user += size;
    return true;
}

static void lost_bytes_cannot_be_written(void **state) {
    (void)state;
    xir_format_info f, to;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        for (int touched = 0; touched < 2; touched++) {
            xir_network *lazy = load_watched("gone", &f, net);
            if (touched) assert_true(load_is_filled(lazy));   /* writing checks again nevertheless */
            shorten(where_params("gone", &f));
            size_t size = 0;
            FAILS_TO_SAVE(xir_raw_write(lazy, swallow, &size, why), XIR_E_IO, "the file was changed");
            assert_int_equal(size, 0);
            for (size_t j = 0; written_format_at(j, &to); j++) {
                const char *path = load_path("rescued", &to);
                const xir_save_options options = XIR_INIT(xir_save_options, .format = to.name, .unchecked = true);
                FAILS_TO_SAVE(xir_network_save(lazy, path, &options, why), XIR_E_IO, "the file was changed");
                assert_int_not_equal(access(path, F_OK), 0);
                assert_int_not_equal(access(scratch("rescued.raw"), F_OK), 0);
                const xir_save_options bare = XIR_INIT(xir_save_options, .format = to.name, .unchecked = true,
                                                       .no_params = true);
                if (j % 2) raw_fill(value_of(lazy, 3));   /* then the MD5 would be unknown */
                assert_int_equal(xir_network_save(lazy, path, &bare, why), XIR_OK);   /* the structure is in memory */
                xir_network *again = load_must(path, &XIR_INIT(xir_load_options, .no_params = true));
                assert_true(xir_str_equal(xir_network_text_of(again, XIR_TEXT_PARAMS_MD5),
                                          xir_network_text_of(lazy, XIR_TEXT_PARAMS_MD5)));
                assert_int_equal(xir_network_params_bytes(again), xir_network_params_bytes(lazy));
                xir_network_free(again);
                unlink(path);
            }
            xir_network_free(lazy);
        }
    }
    xir_network_free(net);
}

/* XIR saves by renaming: the mapped file stays, and so do the bytes mapped from it. */
static void saving_over_the_watched_file(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        xir_network *lazy = load_watched("over", &f, net);
        for (int k = 0; k < 3; k++) load_save(lazy, load_path("over", &f), &f);
        assert_true(load_is_filled(lazy));
        assert_true(xir_params_is_lazy(value_of(lazy, 5)));
        assert_int_equal(xir_network_status(lazy), XIR_OK);
        xir_network_free(lazy);
        lazy = load_must(load_path("over", &f), NULL);
        assert_true(load_is_filled(lazy));
        xir_network_free(lazy);
    }
    xir_network_free(net);
}

/* ---- many threads ----------------------------------------------------------------------------------------------- */

enum { THREADS = 4 };
typedef struct asking { xir_network *net; pthread_barrier_t *start; bool has_bytes; } asking;

static void *ask_all(void *user) {
    asking *a = user;
    pthread_barrier_wait(a->start);
    a->has_bytes = true;
    for (size_t i = 0; i < LOAD_PARAMS; i++) {
        xir_value *v = xir_network_value_by_id(a->net, load_params[i].id);
        if (load_params[i].size) a->has_bytes &= xir_params_data(v, NULL) != NULL;
    }
    return NULL;
}

static void threads_touch_at_once(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        for (int changed = 0; changed < 2; changed++) {
            xir_network *lazy = load_watched("threads", &f, net);
            if (changed) shorten(where_params("threads", &f));
            pthread_barrier_t start;
            pthread_barrier_init(&start, NULL, THREADS);
            pthread_t threads[THREADS];
            asking asks[THREADS];
            for (int t = 0; t < THREADS; t++) {
                asks[t] = (asking){ .net = lazy, .start = &start };
                assert_int_equal(pthread_create(&threads[t], NULL, ask_all, &asks[t]), 0);
            }
            for (int t = 0; t < THREADS; t++) {
                pthread_join(threads[t], NULL);
                assert_int_equal(asks[t].has_bytes, !changed);
            }
            assert_int_equal(xir_diags_count(xir_network_diags(lazy)), changed ? LOAD_PARAMS - 1 : 0);
            pthread_barrier_destroy(&start);
            xir_network_free(lazy);
        }
    }
    xir_network_free(net);
}

/* ---- costs ------------------------------------------------------------------------------------------------------ */

static void only_this_level_keeps_the_file_open(void **state) {
    (void)state;
    xir_format_info f;
    xir_network *net = load_net(ctx);
    int before = scratch_count_in("/proc/self/fd");
    for (size_t i = 0; written_format_at(i, &f); i++) {
        const char *path = load_path("open", &f);
        load_save(net, path, &f);
        for (int level = XIR_VERIFY_DEFAULT; level <= XIR_VERIFY_FULL; level++) {
            xir_network *lazy = load_must(path, &XIR_INIT(xir_load_options, .lazy = true, .verify = (xir_verify)level));
            assert_int_equal(scratch_count_in("/proc/self/fd"), before + (level == XIR_VERIFY_ON_TOUCH));
            xir_network_free(lazy);
            assert_int_equal(scratch_count_in("/proc/self/fd"), before);
        }
        xir_network_free(load_must(path, NULL));
        assert_int_equal(scratch_count_in("/proc/self/fd"), before);
    }
    xir_network_free(net);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        STORY(bytes_of_a_changed_file_are_gone),
        STORY(bytes_of_an_unchanged_file_remain),
        STORY(a_pass_keeps_its_bytes_and_fails_at_its_end),
        STORY(touched_bytes_go_and_replaced_ones_stay),
        STORY(a_file_that_lost_its_name_is_unchanged),
        STORY(lost_bytes_cannot_be_written),
        STORY(saving_over_the_watched_file),
        STORY(threads_touch_at_once),
        STORY(only_this_level_keeps_the_file_open),
    };
    return RUN_GROUP(tests);
}
