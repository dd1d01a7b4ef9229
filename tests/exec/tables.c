/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs every table of tests/exec/: results of operations. The format is that of tests/ops/ with the elements of all
 * inputs (support/op_case.h, support/exec_case.h). XIR_EXEC_TABLE=conv in the environment runs only conv.txt. */
#include <stdio.h>
#include "support/exec_case.h"

enum { MOST_TABLES = 100 };

static void table(void **state) {
    const char *name = *state;
    op_counts counts = { .out = stderr };
    op_cases_each(op_table_path("exec", name), exec_case_run, &counts);
    printf("%s: %zu results, %zu refusals\n", name, counts.good, counts.bad);
    if (counts.good + counts.bad == 0) fail_msg("%s has no cases", name);
    if (counts.failed) fail_msg("%zu cases of %s fail", counts.failed, name);
}

GROUP {
    static struct CMUnitTest tests[MOST_TABLES];
    size_t n = 0;
    const char *only = getenv("XIR_EXEC_TABLE");
    char **names = op_tables("exec");
    for (char **name = names; *name; name++) {
        if (!only || strcmp(only, *name) == 0) tests[n++] = (struct CMUnitTest){ *name, table, NULL, NULL, *name };
    }
    if (!n) {
        fprintf(stderr, "there is no table %s\n", only ? only : "");
        return 1;
    }
    int failed = _cmocka_run_group_tests("exec_tables", tests, n, group_begin, group_end);
    for (char **name = names; *name; name++) free(*name);
    free(names);
    return failed;
}
