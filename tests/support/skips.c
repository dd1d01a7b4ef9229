/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts skips, and lists or selects tests. cmocka does not return how many tests were skipped, so the linker puts this
 * function before the one that runs a group (--wrap). */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/again.h"
#include "support/program.h"
#include "support/skips.h"

enum { EXIT_SKIPPED = 77 };

static size_t n_skipped;

static void note(const char *test, const char *format, va_list arguments) {
    const char *path = getenv("XIR_SKIPS");
    FILE *files[] = { stdout, path ? fopen(path, "a") : NULL };
    for (size_t i = 0; i < 2; i++) {
        if (!files[i]) continue;
        va_list mine;
        va_copy(mine, arguments);
        fprintf(files[i], i ? "%s " : "skipped: %s: ", test);
        vfprintf(files[i], format, mine);
        fprintf(files[i], "\n");
        va_end(mine);
    }
    if (files[1]) fclose(files[1]);
}

static void note_skip(const char *test, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(test, format, arguments);
    va_end(arguments);
}

void skip_test(const char *test, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(test, format, arguments);
    va_end(arguments);
    n_skipped++;
    skip();
}

const char *corpus_or_skip(const char *test) {
    const char *corpus = getenv("XIR_CORPUS");
    if (!corpus || !*corpus) skip_test(test, "XIR_CORPUS names no folder of real files");
    return corpus;
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction set_up,
                                   CMFixtureFunction tear_down);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction set_up,
                                   CMFixtureFunction tear_down);

/* The tests whose names match the program's second argument, in `chosen`. */
static size_t choose(struct CMUnitTest *chosen, const struct CMUnitTest *tests, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (group_argc < 2 || fnmatch(group_argv[1], tests[i].name, 0) == 0) chosen[found++] = tests[i];
    return found;
}

/* cmocka 1.1.5 prints that a group's tear-down failed, and returns 0 all the same. */
static CMFixtureFunction group_tear_down;
static bool              tear_down_failed;
static int tear_down_group(void **state) {
    int code = group_tear_down ? group_tear_down(state) : 0;
    tear_down_failed = code != 0;
    return code;
}

static int run_chosen(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction set_up,
                      CMFixtureFunction tear_down) {
    n_skipped = 0;
    if (getenv("XIR_SKIPS")) remove(getenv("XIR_SKIPS"));
    const char *lacks = missing_path ? missing_path() : NULL;
    if (lacks) note_skip("path", "the processor lacks %s, so the tests run on its best path", lacks);
    group_tear_down = tear_down;
    tear_down_failed = false;
    bool failed = __real__cmocka_run_group_tests(name, tests, n, set_up, tear_down_group) || tear_down_failed;
    if (again_took_nothing && again_took_nothing()) {
        print_error("%s: XIR_TEST_AGAIN has chosen none of the cases\n", name);
        failed = true;
    }
    if (failed) return 1;
    return n && n_skipped == n ? EXIT_SKIPPED : 0;
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction set_up,
                                   CMFixtureFunction tear_down) {
    for (size_t i = 0; group_is_listed && i < n; i++) printf("    %s\n", tests[i].name);
    if (group_is_listed) return 0;
    struct CMUnitTest *chosen = calloc(n + 1, sizeof *chosen);
    size_t n_chosen = chosen ? choose(chosen, tests, n) : 0;
    int code = n_chosen ? run_chosen(name, chosen, n_chosen, set_up, tear_down) : 1;
    if (!n_chosen) fprintf(stderr, "%s: no test matches %s\n", group_argv[0], group_argc < 2 ? "*" : group_argv[1]);
    free(chosen);
    return code;
}
