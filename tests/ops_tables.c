/* Every table of tests/ops/: what operations give, and what they refuse. See support/op_case.h for how they are written;
 * XIR_OPS_TABLE=conv in the environment runs conv.txt alone. */
#include <dirent.h>
#include <stdio.h>
#include "support/op_case.h"

#define FOLDER XIR_TEST_DATA "/ops"

enum { LEAST_BAD = 1, MOST_TABLES = 64 };

static op_counts all;
static const char *only;

/* Other tests' tables. */
static bool is_ours(const char *name) {
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".txt") == 0 && strcmp(name, "classes.txt") != 0 && strcmp(name, "onnx_unlike.txt") != 0;
}

static void table(void **state) {
    char path[1024];
    op_counts counts = { .out = stderr };
    snprintf(path, sizeof path, FOLDER "/%s.txt", (const char *)*state);
    op_cases_run(path, &counts);
    all.good += counts.good;
    all.bad += counts.bad;
    all.failed += counts.failed;
    printf("%s: %zu good cases, %zu bad ones\n", (const char *)*state, counts.good, counts.bad);
    if (counts.good + counts.bad == 0) fail_msg("%s has no cases", path);
    if (counts.failed) fail_msg("%zu cases of %s fail", counts.failed, path);
}

static void there_are_enough(void **state) {
    (void)state;
    printf("in all: %zu good cases, %zu bad ones\n", all.good, all.bad);
    if (!only) assert_true(all.bad >= LEAST_BAD);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

int main(void) {
    static struct CMUnitTest tests[MOST_TABLES + 1];
    size_t n = 0;
    only = getenv("XIR_OPS_TABLE");
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!is_ours(entry->d_name) || n == MOST_TABLES) continue;
        char *name = strndup(entry->d_name, strlen(entry->d_name) - 4);
        if (!name) abort();
        if (only && strcmp(only, name) != 0) free(name);
        else tests[n++] = (struct CMUnitTest){ name, table, NULL, NULL, name };
    }
    if (folder) closedir(folder);
    if (!n) {
        fprintf(stderr, "there is no table %s in " FOLDER "\n", only ? only : "");
        return 1;
    }
    qsort(tests, n, sizeof *tests, by_name);
    tests[n] = (struct CMUnitTest){ "there_are_enough", there_are_enough, NULL, NULL, NULL };
    int failed = _cmocka_run_group_tests("ops_tables", tests, n + 1, group_begin, group_end);
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)tests[i].name);
    return failed;
}
