/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Saves of two files that ended between the two renames: what their record may say, what is lost, where the parameters
 * are. A record that a stranger has written makes no file change its name but those of the pair. */
#include "support/faults.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "support/load_net.h"
#include "support/skips.h"

static const xir_save_options plain = { .size = sizeof plain, .format = "json", .unchecked = true };

static xir_network *letter_net(char letter) {
    xir_network *net = load_net(ctx);
    *(char *)xir_params_edit(value_of(net, 5)) = letter;
    return net;
}

/* A new empty folder, and paths in it. */
static char folder[PATH_MAX + 32], json[PATH_MAX + 64], raw[PATH_MAX + 64], journal[PATH_MAX + 80];
static void make_folder(void) {
    static unsigned n;
    snprintf(folder, sizeof folder, "%s/u%u", scratch_folder, n++);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(json, sizeof json, "%s/net.json", folder);
    snprintf(raw, sizeof raw, "%s/net.raw", folder);
    snprintf(journal, sizeof journal, "%s.xir-save", json);
}

static const char *in_folder(const char *name) {
    static char paths[4][PATH_MAX + 300];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void save(char letter, const char *path, const xir_save_options *options) {
    xir_network *net = letter_net(letter);
    set_fault(GO_ON, 0, 0);
    DOES(xir_network_save(net, path, options, why));
    trouble.on = false;
    xir_network_free(net);
}

/* Saves 'o', then 'n' in a process that is killed at a call. Returns true if the call was made. */
static bool kill_at(const char *path, const xir_save_options *options, unsigned at) {
    save('o', path, options);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        xir_network *new = letter_net('n');
        set_fault(KILL, 0, at);
        _exit(xir_network_save(new, path, options, NULL) ? 1 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

/* At the first call, or the last, after which the save is unfinished. */
static void leave_unfinished(const char *path, const xir_save_options *options, bool late) {
    unsigned found = 0;
    for (unsigned at = 1; (late || !found) && kill_at(path, options, at); at++)
        if (xir_save_check(ctx, path, NULL)) found = at;
        else if (found) break;
    if (late) kill_at(path, options, found);
    assert_int_equal(xir_save_check(ctx, path, NULL), XIR_E_CORRUPT);
}

static char letter_in(const char *path, const char *params) {
    xir_network *net = load_must(path, &XIR_INIT(xir_load_options, .params = params));
    const char letter = *(const char *)xir_params_data(value_of(net, 5), NULL);
    xir_network_free(net);
    return letter;
}

static void check(xir_status expected, xir_status status, const char *part, int line) {
    if (status != expected) xir_diags_print(why, stderr);
    assert_int_equal(status, expected);
    load_check_finding(expected, part, line);
}
#define CHECK(expected, call, part) check(expected, call, part, __LINE__)

/* ---- where the parameters are ----------------------------------------------------------------------------------- */

static void parameters_elsewhere_must_be_named(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    for (unsigned late = 0; late < 2; late++) {
        make_folder();
        assert_int_equal(mkdir(in_folder("other"), 0700), 0);
        char params[PATH_MAX + 64], wrong[PATH_MAX + 64], command[3 * PATH_MAX];
        snprintf(params, sizeof params, "%s", in_folder("other/weights"));
        snprintf(wrong, sizeof wrong, "%s", in_folder("weights"));
        xir_save_options options = plain;
        bool finished = false;
        options.params = params;
        leave_unfinished(json, &options, late);
        snprintf(command, sizeof command, "was interrupted: xir check --repair %s --params ", json);
        CHECK(XIR_E_CORRUPT, xir_save_check(ctx, json, why), command);
        CHECK(XIR_E_MISSING, xir_save_finish(ctx, json, NULL, &finished, why), "name the file");
        CHECK(XIR_E_MISSING, xir_save_finish(ctx, json, raw, &finished, why), "name the file");
        /* The name is right, but the folder is not: it has nothing of that save. */
        CHECK(XIR_E_CORRUPT, xir_save_finish(ctx, json, wrong, &finished, why), "cannot be finished");
        assert_false(finished);
        DOES(xir_save_finish(ctx, json, params, &finished, why));
        assert_true(finished || late);    /* late: both have their names already */
        assert_int_equal(letter_in(json, params), 'n');
        assert_int_equal(scratch_count_in(folder), 2);
        assert_int_equal(scratch_count_in(in_folder("other")), 1);
    }
}

/* The record is next to the file that a link leads to, and is found by both names. */
static void a_link_is_followed(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    make_folder();
    assert_int_equal(mkdir(in_folder("store"), 0700), 0);
    assert_int_equal(symlink("store/net.json", json), 0);
    leave_unfinished(json, &plain, true);
    assert_int_equal(access(journal, F_OK), -1);
    assert_int_equal(access(in_folder("store/net.json.xir-save"), F_OK), 0);
    CHECK(XIR_E_CORRUPT, xir_save_check(ctx, in_folder("store/net.json"), why), "was interrupted");
    DOES(xir_save_finish(ctx, json, NULL, NULL, why));
    assert_int_equal(letter_in(json, NULL), 'n');
    assert_int_equal(scratch_count_in(folder), 3);
    assert_int_equal(scratch_count_in(in_folder("store")), 1);
}

/* ---- what cannot be finished ------------------------------------------------------------------------------------ */

/* The name of a temporary file of the folder. */
static const char *temporary(void) {
    static char name[300];
    DIR *dir = opendir(folder);
    *name = '\0';
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strncmp(e->d_name, ".xir-", 5) == 0) snprintf(name, sizeof name, "%s", e->d_name);
    closedir(dir);
    assert_true(*name);
    return in_folder(name);
}

static void what_is_lost_is_reported(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_network *net = letter_net('x');
    make_folder();
    leave_unfinished(json, &plain, false);
    assert_int_equal(unlink(temporary()), 0);
    for (int i = 0; i < 2; i++) {
        CHECK(XIR_E_CORRUPT, xir_save_finish(ctx, json, NULL, NULL, why), "the save cannot be finished: neither this nor ");
        CHECK(XIR_E_CORRUPT, xir_network_save(net, json, &plain, why), "Save both files again, after removing ");
    }
    assert_int_equal(unlink(journal), 0);
    assert_int_equal(letter_in(json, NULL), 'o');
    /* something else has the name of a file of the pair */
    make_folder();
    leave_unfinished(json, &plain, false);
    assert_int_equal(unlink(raw) | mkdir(raw, 0700), 0);
    CHECK(XIR_E_EXISTS, xir_save_finish(ctx, json, NULL, NULL, why), "it exists and is not a file");
    assert_int_equal(rmdir(raw), 0);
    DOES(xir_save_finish(ctx, json, NULL, NULL, why));
    assert_int_equal(letter_in(json, NULL), 'n');
    xir_network_free(net);
}

/* ---- records of strangers --------------------------------------------------------------------------------------- */

/* The journal with a part replaced by another one. */
static void change(const char *from, const char *to) {
    size_t size;
    char *text = (char *)scratch_get(journal, &size), *at = memmem(text, size, from, strlen(from));
    char *changed = malloc(size + strlen(to) + 1);
    assert_non_null(at);
    const size_t before = (size_t)(at - text), after = size - before - strlen(from);
    memcpy(changed, text, before);
    memcpy(changed + before, to, strlen(to));
    memcpy(changed + before + strlen(to), at + strlen(from), after);
    scratch_put(journal, changed, before + strlen(to) + after);
    free(text);
    free(changed);
}

static void no_record_touches_other_files(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    static const struct { const char *from, *to; xir_status status; } rows[] = {
        { "\nnet.raw\n", "\nvic.tim\n", XIR_E_MISSING },            /* another file of the folder     */
        { "\nnet.raw\n", "\n../v.im\n", XIR_E_CORRUPT },            /* or of another folder           */
        { "\n.xir-", "\n.xix-", XIR_E_MISSING },                    /* not a name of a temporary file */
        { "\n.xir-", "\n/xir-", XIR_E_CORRUPT },
        { ".tmp\nnet.raw", ".tmq\nnet.raw", XIR_E_MISSING },
        { "\nnet.json\n", "\nnet.jsom\n", XIR_E_CORRUPT },          /* the record of another file     */
        { "xir unfinished save 1", "xir unfinished save 2", XIR_E_CORRUPT },
        { "\nend\n", "\nend\n\n", XIR_E_CORRUPT },
        { "\nend\n", "\nen", XIR_E_CORRUPT },
        { "\nfile ", "\nfile 99999999999999999999", XIR_E_CORRUPT },
        { "\nfile ", "\nfile -", XIR_E_CORRUPT },
        { "\nfile ", "\nfolder ", XIR_E_MISSING },
        { "\nfile ", "\nfile 1", XIR_E_CORRUPT },                   /* other bytes                    */
    };
    make_folder();
    leave_unfinished(json, &plain, false);
    size_t size;
    uint8_t *text = scratch_get(journal, &size);
    scratch_put(in_folder("vic.tim"), "victim", 6);
    const int files = scratch_count_in(folder);
    for (size_t i = 0; i < COUNT(rows); i++) {
        scratch_put(journal, text, size);
        change(rows[i].from, rows[i].to);
        const xir_status status = xir_save_finish(ctx, json, NULL, NULL, why);
        if (status != rows[i].status) fail_msg("row %zu: %s", i, xir_status_name(status));
        load_check_finding(rows[i].status, "", __LINE__);
        assert_null(xir_network_load(ctx, json, NULL, why));
        load_check_finding(XIR_E_CORRUPT, "", __LINE__);
        assert_int_equal(scratch_count_in(folder), files);
        size_t n;
        uint8_t *victim = scratch_get(in_folder("vic.tim"), &n);
        assert_memory_equal(victim, "victim", 6);
        free(victim);
    }
    for (size_t cut = 0; cut < size; cut++) {
        scratch_put(journal, text, cut);
        CHECK(XIR_E_CORRUPT, xir_save_finish(ctx, json, NULL, NULL, why), "it is not the record of a save of ");
    }
    uint8_t *large = calloc(1, 100000);
    memcpy(large, text, size);
    scratch_put(journal, large, 100000);
    CHECK(XIR_E_CORRUPT, xir_save_finish(ctx, json, NULL, NULL, why), "it is not the record of a save of ");
    free(large);
    scratch_put(journal, text, size);
    DOES(xir_save_finish(ctx, json, NULL, NULL, why));
    assert_int_equal(letter_in(json, NULL), 'n');
    free(text);
}

/* Whatever has the name of a record is not followed, waited for or written over. */
static void what_is_not_a_record(void **state) {
    (void)state;
    xir_network *net = letter_net('x');
    for (int kind = 0; kind < 3; kind++) {
        make_folder();
        save('o', json, &plain);
        scratch_put(in_folder("victim"), "victim", 6);
        assert_int_equal(kind == 0 ? symlink("victim", journal) : kind == 1 ? mkfifo(journal, 0600)
                                                                            : mkdir(journal, 0700), 0);
        const xir_status expected = kind == 0 || kind == 2 ? XIR_E_IO : XIR_E_CORRUPT;
        CHECK(expected, xir_save_check(ctx, json, why), "");
        CHECK(expected, xir_network_save(net, json, &plain, why), "");
        CHECK(expected, xir_json_save(net, json, XIR_SAVE_UNCHECKED, why), "");
        size_t n;
        uint8_t *victim = scratch_get(in_folder("victim"), &n);
        assert_memory_equal(victim, "victim", 6);
        free(victim);
        assert_int_equal(scratch_count_in(folder), 4);
        remove(journal);
        assert_int_equal(letter_in(json, NULL), 'o');
    }
    xir_network_free(net);
}

/* ---- other processes and signals -------------------------------------------------------------------------------- */

/* While a process replaces the files, it has the lock of the record: another one waits, then reads what it finds. */
static void loading_waits_for_a_save(void **state) {
    (void)state;
    int ready[2];
    char byte = 0;
    make_folder();
    save('o', json, &plain);
    scratch_put(journal, "", 0);
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fd = open(journal, O_RDONLY);
        const bool locked = fd >= 0 && flock(fd, LOCK_EX) == 0 && write(ready[1], "", 1) == 1;
        usleep(50000);
        _exit(locked && unlink(journal) == 0 ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(letter_in(json, NULL), 'o');
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
}

/* Several processes save the same pair: all succeed, and the files are always those of one save. */
static void saves_at_the_same_time_do_not_mix(void **state) {
    (void)state;
    enum { PROCESSES = 4, SAVES = 25 };
    pid_t children[PROCESSES];
    make_folder();
    save('o', json, &plain);
    for (int i = 0; i < PROCESSES; i++) {
        fflush(NULL);
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] > 0) continue;
        xir_network *net = letter_net((char)('a' + i));
        bool ok = true;
        set_fault(GO_ON, 0, 0);
        for (int k = 0; k < SAVES && ok; k++) {
            ok = !xir_network_save(net, json, &plain, why);
            if (!ok) xir_diags_print(why, stderr);
        }
        _exit(ok ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_in_range(letter_in(json, NULL), 'a', 'a' + PROCESSES - 1);
    assert_int_equal(scratch_count_in(folder), 2);
}

enum { ABANDONED = 10, REPLACING = 11 };
static void be_interrupted(void) { _exit(xir_abandon_saves() ? REPLACING : ABANDONED); }

/* A signal at any call: the files that a record names are not removed. */
static void an_interrupted_save_is_whole_or_unfinished(void **state) {
    (void)state;
    if (!HAVE_FAULTS) SKIP("system calls are intercepted on x86-64 alone");
    xir_network *new = letter_net('n');
    unsigned unfinished = 0, abandoned = 0;
    for (unsigned at = 1;; at++) {
        make_folder();
        save('o', json, &plain);
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            set_fault(CHANGE, 0, at);
            trouble.change = be_interrupted;
            _exit(xir_network_save(new, json, &plain, NULL) ? 1 : 0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        const int code = WEXITSTATUS(status);
        if (code == 0) break;
        assert_true(code == ABANDONED || code == REPLACING);
        abandoned += code == ABANDONED;
        if (xir_save_check(ctx, json, NULL)) {
            assert_int_equal(code, REPLACING);
            DOES(xir_save_finish(ctx, json, NULL, NULL, why));
            assert_int_equal(letter_in(json, NULL), 'n');
            assert_int_equal(scratch_count_in(folder), 2);
            unfinished++;
        } else {
            (void)letter_in(json, NULL);
            if (code == ABANDONED) assert_in_range(scratch_count_in(folder), 2, 3);    /* one that is just being made */
        }
    }
    assert_true(unfinished > 3 && abandoned > 20);
    xir_network_free(new);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_elsewhere_must_be_named),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(what_is_lost_is_reported),
        cmocka_unit_test(no_record_touches_other_files),
        cmocka_unit_test(what_is_not_a_record),
        cmocka_unit_test(loading_waits_for_a_save),
        cmocka_unit_test(saves_at_the_same_time_do_not_mix),
        cmocka_unit_test(an_interrupted_save_is_whole_or_unfinished),
    };
    return RUN_GROUP(tests);
}
