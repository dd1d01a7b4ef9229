/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way to TSM and back: every case of the executor's tables (tests/exec), and of tsm_back.txt, is an op of XIR. As a
 * network it becomes operators of TensorStack. These are written to a file, read and checked, and become ops of XIR
 * again, which compute the same. XIR_TSM_BACK=1 prints for each class how many cases are converted, and why the first
 * one is not; XIR_TSM_STAYS=1 prints each case that is not converted. docs/tsm.md has the classes that are converted,
 * and those that are not. */
#include "convert/row_table.h"
#include "convert/way_back.h"

static void convert(way_case *w, const char *text, op_counts *counts) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net), *again = NULL;
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-tsm", NULL, NULL, why), XIR_OK);
    if (!way_is_whole(net, true)) {
        if (getenv("XIR_TSM_STAYS")) printf("%s%s: %s\n", text, w->how, way_first_message());
        way_reason(t, 0, way_first_message());
    } else {
        t->count[0]++;
        xir_diags_clear(why);
        again = way_through_file(net, "tsm", xir_dialect_check);
        if (!again) op_case_fail(&w->c, "a file", "%s%s", way_first_message(), w->how);
        xir_diags_clear(why);
        const bool back = again && !xir_pass_run(again, "tsm-to-xir", "strict", NULL, why) &&
            way_is_whole(again, false);
        if (again && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), w->how);
        if (back) way_compute(&w->c, NULL, again, w->in, NULL, NULL, w->how);
        counts->good++;
    }
    xir_network_free(net);
    xir_network_free(again);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        if (w.op) convert(&w, text, counts);
        way_case_end(&w);
    }
}

static bool is_converted(const way_class *t) { return t->count[0]; }
static bool is_not(const way_class *t) { return !t->count[0]; }

/* The classes, in the order of their names. */
static char *table_of_classes(size_t converted) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    way_sort();
    fprintf(out, "<!-- classes -->\n%zu classes of XIR become operators of TensorStack, %zu do not:\n\n| | classes |\n"
            "|---|---|\n| converted | ", converted, way_n_classes - converted);
    way_list(out, is_converted);
    fputs(" |\n| not converted | ", out);
    way_list(out, is_not);
    fputs(" |\n<!-- end of classes -->\n", out);
    fclose(out);
    return text;
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("convert/tsm_back.txt", each, &counts);
    way_summary("XIR_TSM_BACK", totals);
    printf("%zu classes: %zu become operators of TensorStack\n", way_n_classes, totals[0]);
    assert_true(totals[0] >= 111);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
    char *table = table_of_classes(totals[0]);
    const bool there = docs_have("tsm.md", table);
    free(table);
    assert_true(there);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
    };
    return _cmocka_run_group_tests("tsm_tables", tests, COUNT(tests), group_begin, group_end);
}
