/* The way to DeepX and back: every case of the executor's tables (tests/exec), and of deepx_back.txt, is an op of XIR.
 * As a network it becomes calls of DeepX, which are written as a text, read and checked, and become ops of XIR again,
 * which compute the same. DEEPX_BACK=1 prints for each class how many cases are converted, without windows and with
 * them, and why the first one is not; DEEPX_STAYS=1 prints each case that is not converted. */
#include <math.h>
#include <xir/deepx.h>
#include "passes/convert/way_back.h"
#include "support/kept.h"
#include "support/story.h"

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

static bool is_load(const xir_op *op) {
    return xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("deepx::loadtensordata"));
}

static xir_op *load_of(const xir_network *net, xir_str name) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (is_load(op) && xir_str_equal(xir_value_name(xir_op_output(op, 0)), name)) return op;
    return NULL;
}

/* Gives the calls that read files the tensors that these would have. */
static void give_files(const xir_network *from, xir_network *to) {
    for (xir_op *op = xir_network_first(from); op; op = xir_op_next(op)) {
        const xir_any *data = is_load(op) ? xir_map_find(xir_op_extra(op), XIR_STR("data")) : NULL;
        if (!data) continue;
        xir_op *same = load_of(to, xir_value_name(xir_op_output(op, 0)));
        uint64_t size;
        const void *bytes = xir_params_data(data->as.params, &size);
        assert_non_null(same);
        xir_value *copy = xir_params_copy(to, XIR_STR(""), xir_value_type(data->as.params), bytes, (size_t)size);
        const xir_any any = { .kind = XIR_ANY_PARAMS, .as.params = copy };
        assert_int_equal(xir_op_set_extra(same, XIR_STR("data"), &any), XIR_OK);
    }
}

/* Only the results that the other network has, in its order: those that exist at the end are all results. */
static bool set_results(const xir_network *from, xir_network *to) {
    xir_op *output = xir_network_output_op(to);
    const xir_op *own = xir_network_output_op(from);
    xir_value *found[MOST_OUTPUTS] = { NULL };
    for (size_t i = 0; i < xir_op_input_count(own); i++) {
        const xir_str name = xir_value_name(xir_op_input(own, (int64_t)i));
        for (size_t k = 0; k < xir_op_input_count(output); k++) {
            xir_value *v = xir_op_input(output, (int64_t)k);
            if (xir_str_equal(xir_value_name(v), name)) found[i] = v;
        }
        if (!found[i]) return false;
    }
    return xir_op_set_inputs(output, found, xir_op_input_count(own)) == XIR_OK;
}

static size_t input_named(const xir_network *net, xir_str name) {
    const xir_op *inputs = xir_network_input_op(net);
    for (size_t i = 0; i < xir_op_output_count(inputs); i++)
        if (xir_str_equal(xir_value_name(xir_op_output(inputs, (int64_t)i)), name)) return i;
    return SIZE_MAX;
}

/* A text does not have the types of inputs, nor those that nothing uses. */
static void give_types(const xir_network *from, xir_network *to) {
    const xir_op *own = xir_network_input_op(from), *inputs = xir_network_input_op(to);
    for (size_t i = 0; i < xir_op_output_count(inputs); i++) {
        xir_value *v = xir_op_output(inputs, (int64_t)i);
        const size_t k = input_named(from, xir_value_name(v));
        assert_true(k != SIZE_MAX);
        assert_int_equal(xir_value_set_type(v, xir_value_type(xir_op_output(own, (int64_t)k))), XIR_OK);
    }
}

/* The network as a text has it, which is without fault; NULL if it has one. */
static xir_network *written_and_read(xir_network *net) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx");
    buffer file;
    xir_network *again = NULL;
    buffer_init(&file, &memory_default);
    if (!xir_network_write(net, keep, &file, &options, why))
        again = xir_network_read(ctx, file.data, file.size, XIR_STR("x.ir"), NULL, why);
    if (getenv("DEEPX_TEXT")) printf("%.*s\n", (int)file.size, file.data);
    buffer_free(&file);
    if (again) give_files(net, again);
    if (again) give_types(net, again);
    if (again && !xir_deepx_check(again, why)) return again;
    xir_network_free(again);
    return NULL;
}

/* Both networks compute the same. */
static void compute(op_case *c, const xir_network *from, const xir_network *net, xir_array **in, const char *how) {
    xir_array *out[MOST_OUTPUTS] = { NULL }, *expected[MOST_OUTPUTS] = { NULL }, *args[MOST_INPUTS] = { NULL };
    xir_difference d;
    xir_diags_clear(why);
    const xir_array *const *own = (const xir_array *const *)in;
    assert_int_equal(xir_network_run(c->net, own, c->n_args, expected, c->n_outputs, NULL, why), XIR_OK);
    const xir_op *inputs = xir_network_input_op(net);
    const size_t n = xir_op_output_count(inputs);
    for (size_t i = 0; i < n; i++) {
        const size_t k = input_named(from, xir_value_name(xir_op_output(inputs, (int64_t)i)));
        assert_true(k < c->n_args);
        args[i] = as_there(in[k]);
    }
    const xir_status status = xir_network_run(net, (const xir_array *const *)args, n, out, c->n_outputs, NULL, why);
    if (status) op_case_fail(c, "results", "%s%s", way_first_message(), how);
    for (size_t i = 0; i < c->n_outputs; i++) {
        xir_array *there = as_there(expected[i]);
        const bool near = status || (xir_array_compare(out[i], there, 1e-5, 1e-5, &d) == XIR_OK && d.same_shape &&
                                     !d.count);
        if (!near) op_case_fail(c, "the same results", "element %zu: %g, not %g%s", d.first, d.a, d.b, how);
        xir_array_free(there);
        xir_array_free(expected[i]);
        xir_array_free(out[i]);
    }
    for (size_t i = 0; i < n; i++) xir_array_free(args[i]);
}

/* In the first column of a class are cases that are converted without windows, in the second with them. */
static void convert(way_case *w, bool windows) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net), *again = NULL;
    char how[60];
    snprintf(how, sizeof how, "%s%s", windows ? ", windows" : "", w->how);
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "xir-to-deepx", windows ? "windows=true,delete=true" : NULL, NULL, why);
    assert_true(status == XIR_OK || strstr(way_first_message(), "has open dims"));
    if (status || !way_is_whole(net, true)) {
        if (getenv("DEEPX_STAYS")) printf("%s%s: %s\n", w->c.text, how, way_first_message());
        way_reason(t, windows, way_first_message());
    } else {
        t->count[windows]++;
        xir_diags_clear(why);
        again = written_and_read(net);
        if (!again) op_case_fail(&w->c, "a text", "%s%s", way_first_message(), how);
        xir_diags_clear(why);
        const bool back = again && !xir_pass_run(again, "deepx-to-xir", "strict", NULL, why) &&
            way_is_whole(again, false) && set_results(net, again);
        if (again && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), how);
        if (back) compute(&w->c, net, again, w->in, how);
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

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("passes/convert/deepx_back.txt", each, &counts);
    way_summary("DEEPX_BACK", totals);
    printf("%zu classes: %zu become functions of DeepX, %zu with windows\n", way_n_classes, totals[0], totals[1]);
    assert_true(totals[0] >= 104 && totals[1] >= 116);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
    };
    return _cmocka_run_group_tests("deepx_back", tests, COUNT(tests), group_begin, group_end);
}
