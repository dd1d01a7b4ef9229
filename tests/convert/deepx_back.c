/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way to DeepX and back: every case of the executor's tables (tests/exec), and of deepx_back.txt, is an op of XIR.
 * As a network it becomes calls of DeepX, which are written as a text, read and checked, and become ops of XIR again,
 * which compute the same. DEEPX_BACK=1 prints for each class how many cases are converted, without windows and with
 * them, and why the first one is not; DEEPX_STAYS=1 prints each case that is not converted. docs/deepx.md has the
 * classes of all three kinds. */
#include "convert/deepx_text.h"
#include "convert/row_table.h"

/* A tensor without dims has one of 1 there. */
static xir_array *as_there(const xir_array *a) {
    const int64_t one = 1;
    size_t size;
    const void *data = xir_array_data(a, &size);
    const xir_type *type = xir_array_type(a);
    if (!xir_type_rank(type)) type = xir_type_tensor(ctx, xir_type_element(type), NULL, &one, 1);
    xir_array *out = xir_array_copy(ctx, type, data, size, why);
    assert_non_null(out);
    return out;
}

static xir_array *input_there(const xir_array *a, const xir_value *input) {
    (void)input;
    return as_there(a);
}

/* In the first column of a class are cases that are converted without windows, in the second with them. */
static void convert(way_case *w, bool windows) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net), *again = NULL;
    char how[60];
    snprintf(how, sizeof how, "%s%s", windows ? ", windows" : "", w->how);
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "xir-to-deepx", windows ? "delete=true" : "windows=false", NULL, why);
    assert_true(status == XIR_OK || strstr(way_first_message(), "has open dims"));
    if (status || !way_is_whole(net, true)) {
        if (getenv("DEEPX_STAYS")) printf("%s%s: %s\n", w->c.text, how, way_first_message());
        way_reason(t, windows, way_first_message());
    } else {
        t->count[windows]++;
        xir_diags_clear(why);
        again = deepx_through_text(net);
        if (!again) op_case_fail(&w->c, "a text", "%s%s", way_first_message(), how);
        xir_diags_clear(why);
        const bool back = again && !xir_pass_run(again, "deepx-to-xir", "strict", NULL, why) &&
            way_is_whole(again, false) && deepx_set_results(net, again);
        if (again && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), how);
        if (back) way_compute(&w->c, net, again, w->in, input_there, as_there, how);
    }
    xir_network_free(net);
    xir_network_free(again);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        if (w.op) {
            convert(&w, false);
            convert(&w, true);
            counts->good++;
        }
        way_case_end(&w);
    }
}

static bool is_converted(const way_class *t) { return t->count[0]; }
static bool is_by_windows(const way_class *t) { return !t->count[0] && t->count[1]; }
static bool is_not(const way_class *t) { return !t->count[0] && !t->count[1]; }

/* The classes, in the order of their names. */
static char *table_of_classes(const size_t totals[2]) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    way_sort();
    fprintf(out, "<!-- classes -->\nOf the %zu classes in the tables of the executor's tests %zu have cases that become "
                 "calls, %zu with places of windows:\n\n| | classes |\n|---|---|\n| converted | ", way_n_classes, totals[0],
            totals[1]);
    way_list(out, is_converted);
    fputs(" |\n| by places of windows | ", out);
    way_list(out, is_by_windows);
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
    way_each("convert/deepx_back.txt", each, &counts);
    way_summary("DEEPX_BACK", totals);
    printf("%zu classes: %zu become functions of DeepX, %zu with windows\n", way_n_classes, totals[0], totals[1]);
    assert_true(totals[0] >= 104 && totals[1] >= 116);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
    char *table = table_of_classes(totals);
    const bool there = docs_have("deepx.md", table);
    free(table);
    assert_true(there);
}

/* The way there of Argmax takes a constant that counts the places of a dim. */
static void a_constant_that_no_memory_holds_is_not_made(void **state) {
    (void)state;
    const int64_t dims[] = { INT64_C(1) << 40 };
    xir_network *net = new_net();
    const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, dims, 1);
    xir_value *x = xir_input(XIR_AT(net), "x", type);
    xir_op *places = xir_network_add(net, &(xir_op_desc)DESC(argmax, INPUTS(x)));
    assert_non_null(places);
    assert_non_null(xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(places, 0))));
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-deepx", NULL, NULL, why), XIR_OK);
    assert_false(way_is_whole(net, true));
    assert_non_null(strstr(way_first_message(), "it takes a list of more than 2^24 numbers"));
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
        cmocka_unit_test(a_constant_that_no_memory_holds_is_not_made),
    };
    return _cmocka_run_group_tests("deepx_back", tests, COUNT(tests), group_begin, group_end);
}
