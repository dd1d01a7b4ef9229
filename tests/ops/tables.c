/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs every table of tests/ops/: results and refusals of operations. support/op_case.h describes the format.
 * XIR_OPS_TABLE=conv in the environment runs only conv.txt. */
#include <stdio.h>
#include "support/op_case.h"

enum { LEAST_BAD = 400, MOST_TABLES = 100 };

static op_counts all;
static const char *only;

static void table(void **state) {
    const char *name = *state;
    op_counts counts = { .out = stderr };
    op_cases_run(op_table_path("ops", name), &counts);
    all.good += counts.good;
    all.bad += counts.bad;
    printf("%s: %zu good cases, %zu bad ones\n", name, counts.good, counts.bad);
    if (counts.good + counts.bad == 0) fail_msg("%s has no cases", name);
    if (counts.failed) fail_msg("%zu cases of %s fail", counts.failed, name);
}

static void there_are_enough(void **state) {
    (void)state;
    printf("in all: %zu good cases, %zu bad ones\n", all.good, all.bad);
    if (!only && all.bad < LEAST_BAD) fail_msg("%d bad cases were expected", LEAST_BAD);
}

GROUP {
    static struct CMUnitTest tests[MOST_TABLES + 1];
    size_t n = 0;
    only = getenv("XIR_OPS_TABLE");
    char **names = op_tables("ops");
    for (char **name = names; *name; name++) {
        if (!only || strcmp(only, *name) == 0) tests[n++] = (struct CMUnitTest){ *name, table, NULL, NULL, *name };
    }
    if (!n) {
        fprintf(stderr, "there is no table %s\n", only ? only : "");
        return 1;
    }
    tests[n] = (struct CMUnitTest){ "there_are_enough", there_are_enough, NULL, NULL, NULL };
    int failed = _cmocka_run_group_tests("ops_tables", tests, n + 1, group_begin, group_end);
    for (char **name = names; *name; name++) free(*name);
    free(names);
    return failed;
}
