/* The way to TSM and back: every case of the executor's tables (tests/exec), and of tsm_back.txt, is an op of XIR. As a
 * network it becomes operators of TensorStack. These are written to a file, read and checked, and become ops of XIR
 * again, which compute the same. XIR_TSM_BACK=1 prints for each class how many cases are converted, and why the first
 * one is not; XIR_TSM_STAYS=1 prints each case that is not converted. docs/tsm.md has the classes that are converted,
 * and those that are not. */
#include "passes/convert/row_table.h"
#include "passes/convert/way_back.h"
#include "support/kept.h"

/* Both networks compute the same. */
static void compute(op_case *c, const xir_network *net, xir_array **in, const char *how) {
    xir_array *out[MOST_OUTPUTS] = { NULL }, *expected[MOST_OUTPUTS] = { NULL };
    xir_difference d;
    const xir_array *const *args = (const xir_array *const *)in;
    xir_diags_clear(why);
    assert_int_equal(xir_network_run(c->net, args, c->n_args, expected, c->n_outputs, NULL, why), XIR_OK);
    const xir_status status = xir_network_run(net, args, c->n_args, out, c->n_outputs, NULL, why);
    if (status) op_case_fail(c, "results", "%s%s", way_first_message(), how);
    for (size_t i = 0; i < c->n_outputs; i++) {
        const bool near = status || (xir_array_compare(out[i], expected[i], 1e-5, 1e-5, &d) == XIR_OK && d.same_shape &&
                                     !d.count);
        if (!near) op_case_fail(c, "the same results", "element %zu: %g, not %g%s", d.first, d.a, d.b, how);
        xir_array_free(expected[i]);
        xir_array_free(out[i]);
    }
}

/* The network as a file has it, which is without fault; NULL if it has one. */
static xir_network *written_and_read(xir_network *net) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "tsm");
    buffer file;
    xir_network *again = NULL;
    buffer_init(&file, &memory_default);
    if (!xir_network_write(net, keep, &file, &options, why))
        again = xir_network_read(ctx, file.data, file.size, XIR_STR("x.tsm"), NULL, why);
    buffer_free(&file);
    if (again && !xir_dialect_check(again, why)) return again;
    xir_network_free(again);
    return NULL;
}

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
        again = written_and_read(net);
        if (!again) op_case_fail(&w->c, "a file", "%s%s", way_first_message(), w->how);
        xir_diags_clear(why);
        const bool back = again && !xir_pass_run(again, "tsm-to-xir", "strict", NULL, why) &&
            way_is_whole(again, false);
        if (again && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), w->how);
        if (back) compute(&w->c, again, w->in, w->how);
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

static int by_name(const void *a, const void *b) {
    return strcmp(((const way_class *)a)->name, ((const way_class *)b)->name);
}

static void list(FILE *out, bool converted) {
    size_t n = 0;
    for (const way_class *t = way_classes; t < way_classes + way_n_classes; t++)
        if (converted == (t->count[0] > 0)) fprintf(out, "%s%s", n++ ? ", " : "", t->name);
}

/* The classes, in the order of their names. */
static char *table_of_classes(size_t converted) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    qsort(way_classes, way_n_classes, sizeof *way_classes, by_name);
    fprintf(out, "<!-- classes -->\n%zu classes of XIR become operators of TensorStack, %zu do not:\n\n| | classes |\n"
            "|---|---|\n| converted | ", converted, way_n_classes - converted);
    list(out, true);
    fputs(" |\n| not converted | ", out);
    list(out, false);
    fputs(" |\n<!-- end of classes -->\n", out);
    fclose(out);
    return text;
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("passes/convert/tsm_back.txt", each, &counts);
    way_summary("XIR_TSM_BACK", totals);
    printf("%zu classes: %zu become operators of TensorStack\n", way_n_classes, totals[0]);
    assert_true(totals[0] >= 111);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
    char *table = table_of_classes(totals[0]);
    const bool there = docs_have("tsm.md", table);
    free(table);
    assert_true(there);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
    };
    return _cmocka_run_group_tests("tsm_tables", tests, COUNT(tests), group_begin, group_end);
}
