/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A program is saved with the folder of its tensors while the system refuses, or kills the process: text and folder are
 * both the old ones or both the new ones, or loading says that the save is unfinished. Nothing temporary is left, and
 * one finding says why. */
#include "support/faults.h"
#include <sys/wait.h>
#include "support/load_net.h"
#include "support/skips.h"

static const char program[] = "load(var<string>:/w)->()\n";

static void put_pair(const char *name, char letter) {
    static const char shape[] = "dtype: int8\ndim: 1\nshape: [2]\nstride: [1]\nsize: 2\n";
    const char bytes[2] = { letter, letter };
    char path[80];
    snprintf(path, sizeof path, "%s.data", name);
    assert_int_equal(mkdir(scratch(path), 0777), 0);
    snprintf(path, sizeof path, "%s.data/w.shape", name);
    scratch_put(scratch(path), shape, sizeof shape - 1);
    snprintf(path, sizeof path, "%s.data/w.data", name);
    scratch_put(scratch(path), bytes, sizeof bytes);
    snprintf(path, sizeof path, "%s.ir", name);
    scratch_put(scratch(path), program, sizeof program - 1);
}

static char letter_of(const xir_network *net) {
    const xir_any *data = xir_map_find(xir_op_extra(xir_network_op_at(net, 1)), XIR_STR("data"));
    return data ? *(const char *)xir_params_data(data->as.params, NULL) : '?';
}

static char letter_in(const char *path) {
    xir_network *net = load_must(path, NULL);
    const char letter = letter_of(net);
    xir_network_free(net);
    return letter;
}

/* A new empty folder, where programs are saved; paths of scratch() are soon used for others. */
static char target[PATH_MAX + 32], text_path[PATH_MAX + 64], data_path[PATH_MAX + 64];
static void make_target(void) {
    static unsigned n;
    char name[20];
    snprintf(name, sizeof name, "to%u", n++);
    snprintf(target, sizeof target, "%s", scratch(name));
    assert_int_equal(mkdir(target, 0777), 0);
    snprintf(text_path, sizeof text_path, "%s/x.ir", target);
    snprintf(data_path, sizeof data_path, "%s/x.data", target);
}

static xir_status save(xir_network *net, const char *path) {
    return xir_network_save(net, path, &XIR_INIT(xir_save_options, .unchecked = true), why);
}

static void any_call_of_a_save_may_fail(void **state) {
    static const struct { int what, error; } faults[] = { { FAIL, EIO }, { FAIL, ENOSPC }, { NOTHING, 0 } };
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_network *old = load_must(scratch("old.ir"), NULL), *new = load_must(scratch("new.ir"), NULL);
    for (size_t k = 0; k < COUNT(faults); k++) {
        unsigned failed = 0;
        bool over = false;
        for (unsigned at = 1; !over; at++) {
            make_target();
            set_fault(GO_ON, 0, 0);
            assert_int_equal(save(old, text_path), XIR_OK);
            set_fault(faults[k].what, faults[k].error, at);
            const xir_status status = save(new, text_path);
            trouble.on = false;
            over = !trouble.hit;
            const xir_diag *d = xir_diags_at(why, 0);
            const bool replaced = d && strncmp(d->message.data, "replaced, but", 13) == 0 &&
                                  xir_str_equal(d->file, xir_str_of(text_path));
            assert_true(status == XIR_OK || status == XIR_E_IO);
            assert_int_equal(xir_diags_count(why), status != XIR_OK);
            xir_diags_clear(why);
            assert_int_equal(letter_in(text_path), status == XIR_OK || replaced ? 'n' : 'o');
            const bool stays = !over && strstr("unlink unlinkat rmdir open lstat", trouble.hit);   /* what it removes */
            assert_in_range(scratch_count_in(target), 2, 2 + stays);
            assert_int_equal(scratch_count_in(data_path), 2);
            failed += status != XIR_OK;
        }
        assert_true(failed > 2);
    }
    xir_network_free(old);
    xir_network_free(new);
}

/* The record of the save is durable before the first of the two gets its name. */
static void the_journal_is_durable_before_the_folder(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_network *net = load_must(scratch("new.ir"), NULL);
    unsigned renames = 0, flushed = 0, placed = 0;
    for (unsigned at = 1;; at++) {
        make_target();
        set_fault(GO_ON, 0, at);
        assert_int_equal(save(net, text_path), XIR_OK);
        trouble.on = false;
        if (!trouble.hit) break;
        renames += strcmp(trouble.hit, "rename") == 0;
        placed += strcmp(trouble.hit, "renameat2") == 0;
        flushed += renames == 2 && placed == 1 && strcmp(trouble.hit, "fsync") == 0;
    }
    assert_int_equal(renames, 4);    /* two files of the folder; the folder and the text, which are new */
    assert_int_equal(placed, 3);     /* the journal; the same two, which find nothing to exchange names with */
    assert_int_equal(flushed, 1);
    xir_network_free(net);
}

/* A save is killed at each call in turn. */
static void kill_everywhere(xir_network *old, xir_network *new) {
    unsigned olds = 0, news = 0, unfinished = 0;
    bool over = false;
    for (unsigned at = 1; !over; at++) {
        make_target();
        set_fault(GO_ON, 0, 0);
        assert_int_equal(save(old, text_path), XIR_OK);
        trouble.on = false;
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            set_fault(KILL, 0, at);
            _exit(xir_network_save(new, text_path, &XIR_INIT(xir_save_options, .unchecked = true), NULL) ? 1 : 0);
        }
        int status;
        waitpid(child, &status, 0);
        over = WIFEXITED(status);
        const bool finish = xir_save_check(ctx, text_path, why) != XIR_OK;
        if (finish) {
            bool finished;
            check_finding(XIR_E_CORRUPT, "was interrupted: xir check --repair ");
            DOES(xir_save_finish(ctx, text_path, NULL, &finished, why));
            assert_int_equal(scratch_count_in(target), 2);
            unfinished++;
        }
        const char letter = letter_in(text_path);
        assert_int_equal(scratch_count_in(data_path), 2);
        if (letter == 'o') assert_int_equal(news + unfinished, 0);
        if (finish) assert_int_equal(letter, 'n');
        olds += letter == 'o';
        news += letter == 'n' && !finish;
    }
    assert_true(olds > 10 && news > 1 && unfinished > 3);
}

static void a_killed_save_can_be_finished(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_network *old = load_must(scratch("old.ir"), NULL), *new = load_must(scratch("new.ir"), NULL);
    kill_everywhere(old, new);
    trouble.no_exchange = true;
    kill_everywhere(old, new);
    trouble.no_exchange = false;
    xir_network_free(old);
    xir_network_free(new);
}

static void a_place_that_cannot_be_written(void **state) {
    (void)state;
    xir_network *net = load_must(scratch("new.ir"), NULL);
    scratch_put(scratch("file"), "", 0);
    assert_int_equal(save(net, scratch("file/x.ir")), XIR_E_IO);
    check_finding(XIR_E_IO, "cannot examine it: ");
    assert_int_equal(save(net, scratch("none/x.ir")), XIR_E_IO);
    check_finding(XIR_E_IO, "cannot make a folder next to it: ");
    assert_int_equal(mkdir(scratch("readonly"), 0555), 0);
    if (access(scratch("readonly"), W_OK) != 0) {      /* it is writable for root */
        assert_int_equal(save(net, scratch("readonly/x.ir")), XIR_E_IO);
        check_finding(XIR_E_IO, "cannot make a folder next to it: ");
        assert_int_equal(scratch_count_in(scratch("readonly")), 0);
    }
    xir_network_free(net);
}

static int begin(void **state) {
    scratch_make();
    put_pair("old", 'o');
    put_pair("new", 'n');
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_of_a_save_may_fail),
        cmocka_unit_test(the_journal_is_durable_before_the_folder),
        cmocka_unit_test(a_killed_save_can_be_finished),
        cmocka_unit_test(a_place_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
