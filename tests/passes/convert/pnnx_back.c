/* The way to PNNX and back: every case of the executor's tables (tests/exec), and of pnnx_back.txt, is an op of XIR.
 * As a network it becomes operators of PNNX, and these become ops of XIR again, which compute the same. The class and
 * its attributes are the same again, except for classes that PNNX has in terms of others. XIR_PNNX_BACK=1 prints for
 * each class how many cases are converted, how many come back with the same attributes, and the first that do not;
 * XIR_PNNX_STAYS=1 prints each case that is not converted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/serialize.h>
#include "support/exec_case.h"

enum { MOST_CLASSES = 256, MOST_REASON = 300 };

/* ---- classes ---------------------------------------------------------------------------------------------------- */

typedef struct tried { char name[64]; size_t converted, same; char reason[MOST_REASON], other[MOST_REASON]; } tried;
static tried  classes[MOST_CLASSES];
static size_t n_classes;

static tried *class_named(xir_str key) {
    size_t from = key.size, i = 0;
    while (from > 0 && key.data[from - 1] != ':') from--;
    const xir_str name = { key.data + from, key.size - from };
    while (i < n_classes && !xir_str_equal(name, xir_str_of(classes[i].name))) i++;
    if (i == n_classes) {
        assert_true(n_classes < MOST_CLASSES && name.size < sizeof classes->name);
        memcpy(classes[n_classes++].name, name.data, name.size);
    }
    return &classes[i];
}

/* ---- one case --------------------------------------------------------------------------------------------------- */

static const char *first_message(void) {
    static char text[MOST_REASON];
    const xir_diag *d = xir_diags_at(why, 0);
    snprintf(text, sizeof text, "%.*s", d ? (int)(d->message.size < 280 ? d->message.size : 280) : 0, d
             ? d->message.data : "");
    return text;
}

static bool is_whole(const xir_network *net, bool foreign) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const bool ends = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
        if (!ends && xir_class_is_opaque(xir_op_class(op)) != foreign) return false;
    }
    return true;
}

/* An op of the same class whose attributes are equal, except Params and layouts. */
static bool has_again(const xir_network *net, const xir_op *was) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        bool same = xir_op_class(op) == xir_op_class(was);
        const xir_field *f;
        for (size_t i = 0; same && (f = xir_class_field_at(xir_op_class(was), i)); i++) {
            xir_attr attr;
            if (f->kind == XIR_KIND_PARAMS || xir_str_equal(f->name, XIR_STR("layout"))) continue;
            same = xir_op_get(was, f->name, &attr) == XIR_OK && xir_op_attr_is(op, f->name, &attr);
        }
        if (same) return true;
    }
    return false;
}

/* Both networks compute the same. */
static void compute(op_case *c, const xir_network *net, xir_array **in, const char *how) {
    xir_array *out[MOST_OUTPUTS] = { NULL }, *expected[MOST_OUTPUTS] = { NULL };
    xir_difference d;
    const xir_array *const *args = (const xir_array *const *)in;
    xir_diags_clear(why);
    assert_int_equal(xir_network_run(c->net, args, c->n_args, expected, c->n_outputs, NULL, why), XIR_OK);
    const xir_status status = xir_network_run(net, args, c->n_args, out, c->n_outputs, NULL, why);
    if (status) op_case_fail(c, "results", "%s%s", first_message(), how);
    for (size_t i = 0; i < c->n_outputs; i++) {
        const bool near = status || (xir_array_compare(out[i], expected[i], 1e-5, 1e-5, &d) == XIR_OK && d.same_shape &&
                                     !d.count);
        if (!near) op_case_fail(c, "the same results", "element %zu: %g, not %g%s", d.first, d.a, d.b, how);
        xir_array_free(expected[i]);
        xir_array_free(out[i]);
    }
}

/* Whether PNNX's files can hold a network. */
static bool goes_on(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}
static bool is_written(xir_network *net) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "pnnx");
    return !xir_network_write(net, goes_on, NULL, &options, why) &&
           !xir_network_write_params(net, goes_on, NULL, &options, why);
}

/* `constants`: all inputs but the first are Params. */
static void there_and_back(const char *text, const char *file, int line, op_counts *counts, bool constants) {
    op_case c;
    xir_array *in[MOST_INPUTS] = { NULL };
    xir_value *outputs[MOST_OUTPUTS];
    assert_true(op_case_begin(&c, text, file, line, counts));
    for (size_t i = 0, n = 0; i < c.n_inputs && !c.bad; i++) {
        if (!c.is_arg[i]) continue;
        in[n] = xir_array_from_params(c.given[n], why);
        if (constants && i) c.inputs[i] = c.given[n];
        n++;
    }
    xir_op *op = c.bad ? NULL : op_case_add(&c);
    xir_network_clear_status(c.net);
    if (op) {
        for (size_t i = 0; i < c.n_outputs; i++) outputs[i] = xir_op_output(op, (int64_t)i);
        assert_non_null(xir_output(xir_at_end(c.net), (xir_values){ outputs, c.n_outputs }));
        tried *t = class_named(xir_class_key(xir_op_class(op)));
        xir_network *net = xir_network_clone(c.net);
        const char *how = constants ? ", with constants" : "";
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-pnnx", NULL, NULL, why), XIR_OK);
        if (!is_whole(net, true)) {
            if (getenv("XIR_PNNX_STAYS")) printf("%s%s: %s\n", text, how, first_message());
            if (!*t->reason) snprintf(t->reason, sizeof t->reason, "%.220s", first_message());
        } else {
            t->converted++;
            xir_diags_clear(why);
            if (!is_written(net)) op_case_fail(&c, "files", "%s%s", first_message(), how);
            xir_diags_clear(why);
            const xir_status status = xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why);
            if (status || !is_whole(net, false)) op_case_fail(&c, "ops of XIR", "%s%s", first_message(), how);
            else compute(&c, net, in, how);
            if (has_again(net, op)) t->same++;
            else if (!*t->other) snprintf(t->other, sizeof t->other, "%.220s", text);
            counts->good++;
        }
        xir_network_free(net);
    }
    for (size_t i = 0; i < c.n_args; i++) xir_array_free(in[i]);
    op_case_end(&c);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    there_and_back(text, file, line, counts, false);
    there_and_back(text, file, line, counts, true);
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    char **names = op_tables("exec");
    for (char **name = names; *name; name++) {
        op_cases_each(op_table_path("exec", *name), each, &counts);
        free(*name);
    }
    free(names);
    op_cases_each(XIR_TEST_DATA "/passes/convert/pnnx_back.txt", each, &counts);
    size_t converted = 0, same = 0;
    for (size_t i = 0; i < n_classes; i++) {
        const tried *t = &classes[i];
        converted += t->converted > 0, same += t->same > 0;
        if (getenv("XIR_PNNX_BACK"))
            printf("%-20s %3zu %3zu  %s%s%s\n", t->name, t->converted, t->same, t->reason, *t->other ? " | " : "",
                   t->other);
    }
    printf("%zu classes: %zu are converted, %zu come back\n", n_classes, converted, same);
    assert_true(converted >= 127 && same >= 117);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
    };
    return _cmocka_run_group_tests("pnnx_back", tests, COUNT(tests), group_begin, group_end);
}
