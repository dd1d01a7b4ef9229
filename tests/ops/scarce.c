/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Out of memory while an op is added and inferred again. For each class this tries the first good case of the
 * tables, and the first ones with distributions and with quantised elements. */
#include <stdio.h>
#include "support/op_case.h"
#include "support/scarce.h"

static const char *line_text, *line_file;
static int         line_number;

/* Reads the case with enough memory, in the scenario's context; then adds, infers and validates the op. */
static void adding(want *w) {
    xir_context *group_ctx = ctx;
    xir_diags *group_why = why;
    op_counts counts = { .out = stderr };
    op_case c;
    ctx = w->ctx;
    why = w->why;
    bool read;
    IN_PLENTY(w, read = op_case_begin(&c, line_text, line_file, line_number, &counts));
    assert_true(read);
    w->net = c.net;
    xir_op *op;
    TRY_MAKE(w, op, op_case_add(&c));
    TRY(w, xir_op_infer(op, true));
    TRY(w, xir_op_validate(op, w->why));
    c.net = NULL;   /* the scenario's runner frees it */
    op_case_end(&c);
    ctx = group_ctx;
    why = group_why;
}

/* The cases of a class that have been tried: the first of each kind. */
enum { PLAIN, PADDED, QUANTISED, SORTS };
enum { MOST_CLASSES = 400 };
static struct { const xir_class *cls; bool had[SORTS]; } seen[MOST_CLASSES];
static size_t tried;

static bool is_new(const xir_class *cls, const char *text) {
    int sort = strstr(text, "{@scales") || strstr(text, "{@norm") ? QUANTISED : strstr(text, "@merged_distr")
        ? PADDED : PLAIN;
    size_t i = 0;
    while (seen[i].cls && seen[i].cls != cls) i++;
    assert_true(i + 1 < MOST_CLASSES);
    seen[i].cls = cls;
    bool had = seen[i].had[sort];
    seen[i].had[sort] = true;
    return !had;
}

static void try_line(const char *text, const char *file, int line, op_counts *counts) {
    op_case c;
    bool good = op_case_begin(&c, text, file, line, counts) && !c.bad && op_case_can_infer(&c);
    const xir_class *cls = c.cls;
    op_case_end(&c);
    if (!good || !is_new(cls, text)) return;
    line_text = text;
    line_file = file;
    line_number = line;
    run_scarcely(text, adding, false);
    tried++;
}

static void memory_ends_anywhere(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    char **names = op_tables("ops");
    for (char **name = names; *name; name++) {
        op_cases_each(op_table_path("ops", *name), try_line, &counts);
        free(*name);
    }
    free(names);
    printf("%zu cases\n", tried);
    assert_true(tried >= 100);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_ends_anywhere) };
    return RUN_GROUP(tests);
}
