/* Counts skips. cmocka does not return how many tests were skipped, so the linker puts this function before the one
 * that runs a group (--wrap). */
#include <stdio.h>
#include <stdlib.h>
#include "support/skips.h"

enum { EXIT_SKIPPED = 77 };

static size_t n_skipped;

void skip_test(const char *test, const char *format, ...) {
    const char *path = getenv("XIR_SKIPS");
    FILE *files[] = { stdout, path ? fopen(path, "a") : NULL };
    for (size_t i = 0; i < 2; i++) {
        if (!files[i]) continue;
        va_list arguments;
        va_start(arguments, format);
        fprintf(files[i], i ? "%s " : "skipped: %s: ", test);
        vfprintf(files[i], format, arguments);
        fprintf(files[i], "\n");
        va_end(arguments);
    }
    if (files[1]) fclose(files[1]);
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

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction set_up,
                                   CMFixtureFunction tear_down) {
    n_skipped = 0;
    if (getenv("XIR_SKIPS")) remove(getenv("XIR_SKIPS"));
    int failed = __real__cmocka_run_group_tests(name, tests, n, set_up, tear_down);
    if (failed) return 1;
    return n && n_skipped == n ? EXIT_SKIPPED : 0;
}
