/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs recorded networks of NNB: each row of the corpus' folder nnb/values is converted by nnb-to-xir and computed; the
 * results must be those of NNabla's C runtime within the tolerance of the row, or, where the row is flagged as a
 * deviation, what NNabla documents (doc0, …), before and after the default pipeline. What differs is listed with the
 * reason in nnb_values.txt; a listed row that passes is an error, too. XIR_NNB_ONLY names a single row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "elements.h"
#include "support/recorded.h"

enum { MOST_ARRAYS = 16 };

/* "exact", "rel:T": T times the greater of 1 and the expected number, or "abs:T". */
static bool is_near(double found, double expected, const char *tolerance) {
    if (isnan(expected) || isinf(expected)) return isnan(expected) ? isnan(found) : found == expected;
    const double t = *tolerance == 'e' ? 0 : strtod(tolerance + 4, NULL) * 1.00001;   /* it has 6 digits */
    return fabs(found - expected) <= (*tolerance == 'r' ? t * fmax(1, fabs(expected)) : t);
}

static bool agree(const xir_array *found, const xir_array *expected, size_t output, const char *tolerance,
                  char reason[RECORDED_REASON]) {
    if (!recorded_same_shape(found, expected, output, reason)) return false;
    for (size_t i = 0; i < xir_array_count(found); i++) {
        const double x = xir_array_real(found, i), y = xir_array_real(expected, i);
        if (is_near(x, y, tolerance)) continue;
        snprintf(reason, RECORDED_REASON, "element %zu of output %zu is %.9g, expected %.9g", i, output, x, y);
        return false;
    }
    return true;
}

/* The numbers in elements of another type. */
static xir_array *stored_as(const xir_array *a, const xir_type *type) {
    tensor_elements e;
    xir_array *made = xir_array_new(ctx, type, why);
    assert_non_null(made);
    assert_int_equal(xir_array_count(made), xir_array_count(a));
    DOES(elements_open(&e, &memory_default, type, why));
    for (size_t i = 0; i < xir_array_count(a); i++)
        elements_write_reals(&e, xir_array_edit(made), i, 1, (double[]){ xir_array_real(a, i) });
    elements_close(&e);
    return made;
}

static bool fails(char reason[RECORDED_REASON], const char *what) {
    recorded_error(reason, what);
    return false;
}

static bool try_pipeline(const xir_network *model, const char *text, const recorded *set, const char *tolerance,
                         char reason[RECORDED_REASON]) {
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    const size_t n_in = recorded_count(set, "in"), n_out = recorded_count(set, "out");
    xir_network *net = xir_network_clone(model);
    xir_array *in[MOST_ARRAYS] = { NULL }, *out[MOST_ARRAYS] = { NULL };
    bool passes = true;
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    if (xir_pipeline_run(pipeline, net, &settings, NULL, why)) passes = fails(reason, "it is not converted");
    xir_pipeline_free(pipeline);
    if (passes && xir_network_first_unrunnable(net)) passes = fails(reason, "a function is not converted");
    const xir_op *first = xir_network_input_op(net);
    assert_true(n_in && n_in <= MOST_ARRAYS && n_out && n_out <= MOST_ARRAYS);
    assert_int_equal(xir_op_output_count(first), n_in);
    assert_int_equal(xir_op_input_count(xir_network_output_op(net)), n_out);
    for (size_t i = 0; i < n_in && passes; i++)   /* fixed-point inputs take the numbers that are stored */
        in[i] = stored_as(recorded_at(set, "in", i), xir_value_type(xir_op_output(first, (int64_t)i)));
    if (passes && xir_network_run(net, (const xir_array *const *)in, n_in, out, n_out, NULL, why))
        passes = fails(reason, "it cannot be run");
    for (size_t i = 0; i < n_out && passes; i++) {
        const xir_array *documented = recorded_at(set, "doc", i);
        passes = agree(out[i], documented ? documented : recorded_at(set, "out", i), i, tolerance, reason);
    }
    for (size_t i = 0; i < MOST_ARRAYS; i++) xir_array_free(in[i]), xir_array_free(out[i]);
    xir_network_free(net);
    return passes;
}

/* A line of index.tsv: name, function, arguments, inputs, outputs, tolerance, flags. The arguments of a whole network
 * begin with file=. */
static recorded_verdict try_row(const char *folder, char *const fields[], char reason[RECORDED_REASON]) {
    const char *name = fields[0], *arguments = fields[2], *tolerance = fields[5];
    char path[600];
    recorded set;
    if (strncmp(arguments, "file=", 5) == 0)
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(arguments + 5, " "), arguments + 5);
    else
        snprintf(path, sizeof path, "%s/%s.nnb", folder, name);
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    assert_non_null(model);
    snprintf(path, sizeof path, "%s/%s.npz", folder, name);
    recorded_read(&set, path);
    const bool passes = try_pipeline(model, "nnb-to-xir", &set, tolerance, reason) &&
        try_pipeline(model, xir_default_pipeline(), &set, tolerance, reason);
    recorded_free(&set);
    xir_network_free(model);
    return passes ? RECORDED_PASSES : RECORDED_DIFFERS;
}

static void recorded_networks_compute_what_the_runtime_computed(void **state) {
    (void)state;
    const recorded_run run = { __func__, "nnb/values", "convert/nnb_values.txt", "XIR_NNB_ONLY", 7, try_row };
    const recorded_total total = recorded_run_all(&run);
    print_message("NNB: %zu rows, %zu give what was recorded\n", total.rows, total.passed);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_networks_compute_what_the_runtime_computed) };
    return RUN_GROUP(tests);
}
