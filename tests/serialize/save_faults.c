/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loading and saving in every format while the system refuses, does less than requested, changes the file meanwhile, or
 * kills the process: the name has the old file or the new one, and a failed load has one finding that says why. */
#include "support/faults.h"
#include <fcntl.h>
#include <sys/wait.h>
#include "support/load_net.h"
#include "support/skips.h"

/* A new empty folder, and files in it. */
static const char *folder;
static void make_folder(void) {
    static unsigned n;
    static char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/f%u", scratch_folder, n++);
    assert_int_equal(mkdir(path, 0700), 0);
    folder = path;
}

static const char *in_folder(const xir_format_info *f) {
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/net.%.*s", folder, (int)strcspn(f->suffixes, " "), f->suffixes);
    return path;
}

/* Two networks with one structure: the bytes of the second begin with another letter. */
static xir_network *letter_net(char letter) {
    xir_network *net = load_net(ctx);
    *(char *)xir_params_edit(value_of(net, 5)) = letter;
    return net;
}

/* Returns the file that has the name, one of the two; '?' if loading says that the save is unfinished, which only one
 * of a pair is. */
static char letter_in(const xir_format_info *f) {
    xir_network *net = xir_network_load(ctx, in_folder(f), NULL, why);
    if (!net) {
        assert_true(load_is_pair(f));
        load_check_finding(XIR_E_CORRUPT, "was interrupted: xir check --repair ", __LINE__);
        return '?';
    }
    assert_int_equal(xir_diags_count(why), 0);
    char letter = *(const char *)xir_params_data(value_of(net, 5), NULL);
    xir_network_free(net);
    return letter;
}

/* An unfinished save can be finished, and so it is before the next one. Nothing else is left then. */
static void finish(const xir_format_info *f) {
    bool finished = false;
    DOES(xir_save_finish(ctx, in_folder(f), NULL, &finished, why));
    assert_true(finished);
    assert_int_equal(letter_in(f), 'n');
    assert_int_equal(scratch_count_in(folder), 2);
    DOES(xir_save_finish(ctx, in_folder(f), NULL, &finished, why));
    assert_false(finished);
}

static xir_status save_in(xir_network *net, const xir_format_info *f, xir_diags *findings) {
    return xir_network_save(net, in_folder(f), &XIR_INIT(xir_save_options, .unchecked = true, .flags = load_flags(f)),
                            findings);
}

/* An undisturbed save that does not wait for the disk. */
static void save_before(xir_network *net, const xir_format_info *f) {
    set_fault(GO_ON, 0, 0);
    assert_int_equal(save_in(net, f, why), XIR_OK);
    trouble.on = false;
}

/* ---- saving ----------------------------------------------------------------------------------------------------- */

static void any_call_of_a_save_may_fail(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    static const struct { int what, error; } faults[] = { { FAIL, EIO }, { FAIL, ENOSPC }, { NOTHING, 0 } };
    xir_format_info f;
    xir_network *old = letter_net('o'), *new = letter_net('n');
    for (size_t i = 0; written_format_at(i, &f); i++) {
        unsigned failed = 0;
        for (size_t k = 0; k < COUNT(faults); k++) {
            bool over = false;
            for (unsigned at = 1; !over; at++) {
                make_folder();
                save_before(old, &f);
                int files = scratch_count_in(folder);
                set_fault(faults[k].what, faults[k].error, at);
                xir_status status = save_in(new, &f, why);
                trouble.on = false;
                over = !trouble.hit;
                const bool removes = !over && strcmp(trouble.hit, "unlink") == 0;   /* then what it removes stays */
                assert_in_range(scratch_count_in(folder), files, files + removes);
                assert_int_equal(xir_diags_count(why), status != XIR_OK);
                if (status) assert_int_equal(status, XIR_E_IO);
                xir_diags_clear(why);
                char letter = letter_in(&f);
                assert_true(letter != '?');
                if (status == XIR_OK) assert_int_equal(letter, 'n');
                failed += status != XIR_OK;
            }
        }
        assert_true(failed > 10);
    }
    xir_network_free(old);
    xir_network_free(new);
}

static void a_killed_save_leaves_the_old_file_or_the_new_one(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_format_info f;
    xir_network *old = letter_net('o'), *new = letter_net('n');
    for (size_t i = 0; written_format_at(i, &f); i++) {
        unsigned olds = 0, news = 0, unfinished = 0;
        bool over = false;
        for (unsigned at = 1; !over; at++) {
            make_folder();
            save_before(old, &f);
            fflush(NULL);
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                set_fault(KILL, 0, at);
                _exit(save_in(new, &f, NULL) == XIR_OK ? 0 : 1);
            }
            int status;
            waitpid(child, &status, 0);
            over = WIFEXITED(status);
            if (over) assert_int_equal(WEXITSTATUS(status), 0);
            char letter = letter_in(&f);
            if (letter == 'o') assert_int_equal(news, 0);
            olds += letter == 'o';
            news += letter == 'n';
            if (letter == '?' && unfinished++ % 2) finish(&f);
            else if (letter == '?') save_before(old, &f), assert_int_equal(letter_in(&f), 'o');
        }
        assert_true(olds > 5 && news > 1 && (unfinished > 3) == load_is_pair(&f));
    }
    xir_network_free(old);
    xir_network_free(new);
}

/* Another program shortens the file that the network is mapped from, between two calls of a save: the finding names
 * that file, not the target. Large parameters go from the mapping to the system, which raises no signal. */
static char source[PATH_MAX + 64];
static void shorten_source(void) {
    if (truncate(source, 4096) != 0) abort();
}

enum { SAVED, NAMED, NOT_NAMED };

static int save_shortened(const xir_format_info *f, unsigned at, bool *over) {
    xir_network *net = load_must(source, &XIR_INIT(xir_load_options, .lazy = true));
    set_fault(CHANGE, 0, at);
    trouble.change = shorten_source;
    xir_status status = save_in(net, f, why);
    trouble.on = false;
    *over = !trouble.hit;
    const xir_diag *d = xir_diags_at(why, 0);
    bool named = d && xir_diags_count(why) == 1 && xir_str_equal(d->file, xir_str_of(source)) &&
        strstr(d->message.data, "shorter");
    int result = status == XIR_OK ? SAVED : status == XIR_E_IO && named ? NAMED : NOT_NAMED;
    if (result == NOT_NAMED) xir_diags_print(why, stderr);
    xir_diags_clear(why);
    xir_network_free(net);
    return result;
}

static void a_mapped_source_that_becomes_shorter_is_named(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    enum { LARGE = 1 << 20 };
    const raw_param large[] = { { 5, LARGE } };
    xir_value *values[1];
    xir_network *net = raw_network(ctx, large, 1, 1, values);
    raw_fill(values[0]);
    xir_format_info f;
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (load_is_pair(&f)) continue;   /* their parameters are read for the MD5 */
        make_folder();
        snprintf(source, sizeof source, "%s/source.fb", folder);
        unsigned named = 0;
        bool over = false;
        for (unsigned at = 1; !over; at++) {
            DOES(xir_network_save(net, source, &XIR_INIT(xir_save_options, .unchecked = true), why));
            int files = scratch_count_in(folder);
            int result = save_shortened(&f, at, &over);
            assert_int_not_equal(result, NOT_NAMED);
            named += result == NAMED;
            if (result == NAMED) assert_int_equal(scratch_count_in(folder), files);
        }
        assert_true(named > 3);
    }
    xir_network_free(net);
}

/* ---- loading ---------------------------------------------------------------------------------------------------- */

#define WAY .size = sizeof(xir_load_options)
static const xir_load_options ways[] = {
    { WAY, .lazy = false }, { WAY, .lazy = true }, { WAY, .lazy = true, .verify = XIR_VERIFY_ON_TOUCH },
    { WAY, .no_params = true },
};

static void any_call_of_a_load_may_fail(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        make_folder();
        save_before(net, &f);
        for (size_t w = 0; w < COUNT(ways); w++) {
            unsigned failed = 0;
            for (int what = FAIL; what <= NOTHING; what++) {
                bool over = false;
                for (unsigned at = 1; !over; at++) {
                    set_fault(what, EIO, at);
                    xir_network *again = xir_network_load(ctx, in_folder(&f), &ways[w], why);
                    trouble.on = false;
                    over = !trouble.hit;
                    assert_int_equal(xir_diags_count(why), !again);
                    if (!again) {
                        load_check_finding(XIR_E_IO, "", __LINE__);
                        failed++;
                    } else if (!ways[w].no_params) {
                        assert_true(load_is_filled(again));
                    }
                    xir_network_free(again);
                }
            }
            assert_true(failed >= 3);
        }
    }
    xir_network_free(net);
}

/* A file whose state cannot be queried counts as changed. */
static void a_watch_that_cannot_query(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        make_folder();
        save_before(net, &f);
        xir_network *again = load_must(in_folder(&f), &ways[2]);
        set_fault(FAIL, EIO, 1);
        const void *data = xir_params_data(value_of(again, 5), NULL);
        trouble.on = false;
        assert_string_equal(trouble.hit, "fstat");
        assert_null(data);
        assert_int_equal(xir_network_status(again), XIR_E_IO);
        assert_non_null(xir_params_data(value_of(again, 11), NULL));
        xir_network_free(again);
    }
    xir_network_free(net);
}

/* Another program writes one byte between two calls of loading: either it is noticed, or the loaded bytes are right. */
static const char *changing;
static size_t changing_at;
static void change_byte(void) {
    FILE *file = fopen(changing, "r+b");
    if (!file || fseek(file, (long)changing_at, SEEK_SET) != 0) abort();
    int c = fgetc(file);
    if (fseek(file, (long)changing_at, SEEK_SET) != 0 || fputc(c ^ 0x55, file) == EOF || fclose(file) != 0) abort();
}

/* The old bytes, without emptying the file first: some file systems then wait for the disk. */
static void restore(const char *path, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, 0), size);
    close(fd);
}

static void a_file_that_changes_while_it_is_read_with_its_md5(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_format_info f;
    xir_network *net = load_net(ctx);
    for (size_t i = 0; written_format_at(i, &f); i++) {
        make_folder();
        const char *path = in_folder(&f);
        save_before(net, &f);
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        changing = path;
        for (changing_at = 0; changing_at < size; changing_at += changing_at < 64 ? 1 : size / 50) {
            bool over = false;
            for (unsigned at = 1; !over; at++) {
                restore(path, bytes, size);
                set_fault(CHANGE, 0, at);
                trouble.change = change_byte;
                xir_network *again = xir_network_load(ctx, path, NULL, why);
                trouble.on = false;
                over = !trouble.hit;
                if (again) assert_true(load_is_filled(again));
                else assert_true(xir_diags_count(why) > 0);
                xir_network_free(again);
                xir_diags_clear(why);
            }
        }
        free(bytes);
    }
    xir_network_free(net);
}

#define STORY(f) cmocka_unit_test(f)

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        STORY(any_call_of_a_save_may_fail),
        STORY(a_killed_save_leaves_the_old_file_or_the_new_one),
        STORY(a_mapped_source_that_becomes_shorter_is_named),
        STORY(any_call_of_a_load_may_fail),
        STORY(a_watch_that_cannot_query),
        STORY(a_file_that_changes_while_it_is_read_with_its_md5),
    };
    return RUN_GROUP(tests);
}
