/* Every table of tests/exec_cases/: what operations compute. See support/exec_case.h for how they are written; XIR_EXEC_CASES=norm in the
 * environment runs norm.txt alone. */
#include <dirent.h>
#include "support/exec_case.h"

#define FOLDER XIR_TEST_DATA "/exec_cases/"

enum { MOST_TABLES = 100 };

static void table(void **state) {
    const char *name = *state;
    char path[1024];
    snprintf(path, sizeof path, FOLDER "%s", name);
    op_counts counts = { .out = stderr };
    op_cases_each(path, exec_case_run, &counts);
    printf("%s: %zu cases that are computed, %zu that fail as they must\n", name, counts.good, counts.bad);
    if (counts.good == 0) fail_msg("%s has no cases", name);
    if (counts.failed) fail_msg("%zu cases of %s fail", counts.failed, name);
}

int main(void) {
    static struct CMUnitTest tests[MOST_TABLES];
    const char *only = getenv("XIR_EXEC_CASES");
    size_t n = 0;
    DIR *folder = opendir(FOLDER);
    if (!folder) return 1;
    for (struct dirent *entry; (entry = readdir(folder)) && n < MOST_TABLES;) {
        size_t size = strlen(entry->d_name);
        if (size < 5 || strcmp(entry->d_name + size - 4, ".txt") != 0) continue;
        if (only && (strncmp(only, entry->d_name, size - 4) != 0 || strlen(only) != size - 4)) continue;
        char *name = strdup(entry->d_name);
        tests[n++] = (struct CMUnitTest){ name, table, NULL, NULL, name };
    }
    closedir(folder);
    if (!n) return 1;
    int failed = _cmocka_run_group_tests("exec_cases", tests, n, group_begin, group_end);
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)tests[i].name);
    return failed;
}
