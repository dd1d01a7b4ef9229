/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs recorded networks of TSM: each row of the corpus' folder tsm/values is converted by tsm-to-xir and computed; the
 * results must be those of TenniS within the tolerance of the row, elements and all, before and after the default
 * pipeline. What differs is listed with the reason in tsm_values.txt; a listed row that passes is an error, too.
 * XIR_TSM_ONLY names a single row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/recorded.h"

enum { MOST_ARRAYS = 16 };

static bool agree(const xir_array *found, const xir_array *expected, size_t output, double rtol, double atol,
                  char reason[RECORDED_REASON]) {
    if (!recorded_same_shape(found, expected, output, reason)) return false;
    if (!xir_type_equal(xir_type_element(xir_array_type(found)), xir_type_element(xir_array_type(expected)))) {
        snprintf(reason, RECORDED_REASON, "output %zu has other elements", output);
        return false;
    }
    for (size_t i = 0; i < xir_array_count(found); i++) {
        const double x = xir_array_real(found, i), y = xir_array_real(expected, i);
        if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= atol + rtol * fabs(y)) continue;
        snprintf(reason, RECORDED_REASON, "element %zu of output %zu is %.9g, expected %.9g", i, output, x, y);
        return false;
    }
    return true;
}

static bool fails(char reason[RECORDED_REASON], const char *what) {
    recorded_error(reason, what);
    return false;
}

/* Inputs without a type, and those of another size, have that of the recorded array. */
static void type_inputs(xir_network *net, const recorded *set, size_t n) {
    const xir_op *first = xir_network_input_op(net);
    assert_int_equal(xir_op_output_count(first), n);
    for (size_t i = 0; i < n; i++) {
        const xir_array *a = recorded_at(set, "in", i);
        assert_non_null(a);
        DOES(xir_value_set_type(xir_op_output(first, (int64_t)i), xir_array_type(a)));
    }
}

static bool try_pipeline(const xir_network *model, const char *text, const recorded *set, double rtol, double atol,
                         char reason[RECORDED_REASON]) {
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    const size_t n_in = recorded_count(set, "in"), n_out = recorded_count(set, "out");
    xir_network *net = xir_network_clone(model);
    const xir_array *in[MOST_ARRAYS] = { NULL };
    xir_array *out[MOST_ARRAYS] = { NULL };
    bool passes = true;
    assert_true(n_in && n_in <= MOST_ARRAYS && n_out && n_out <= MOST_ARRAYS);
    type_inputs(net, set, n_in);
    for (size_t i = 0; i < n_in; i++) in[i] = recorded_at(set, "in", i);
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    if (xir_pipeline_run(pipeline, net, &settings, NULL, why)) passes = fails(reason, "it is not converted");
    xir_pipeline_free(pipeline);
    if (passes && xir_network_first_unrunnable(net)) passes = fails(reason, "an operator is not converted");
    if (passes) assert_int_equal(xir_op_input_count(xir_network_output_op(net)), n_out);
    if (passes && xir_network_run(net, in, n_in, out, n_out, NULL, why)) passes = fails(reason, "it cannot be run");
    for (size_t i = 0; i < n_out && passes; i++)
        passes = agree(out[i], recorded_at(set, "out", i), i, rtol, atol, reason);
    for (size_t i = 0; i < MOST_ARRAYS; i++) xir_array_free(out[i]);
    xir_network_free(net);
    return passes;
}

/* A line of index.tsv: name, file, operators, inputs, outputs, rtol, atol, class, … Files of the corpus itself are in
 * the folder above. */
static recorded_verdict try_row(const char *folder, char *const fields[], char reason[RECORDED_REASON]) {
    const double rtol = strtod(fields[5], NULL), atol = strtod(fields[6], NULL);
    char path[600];
    recorded set;
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, i ? "%s/../%s" : "%s/%s", folder, fields[1]);
        if (access(path, R_OK) == 0) break;
    }
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    if (!model) fail_msg("%s cannot be read", path);
    snprintf(path, sizeof path, "%s/%s.npz", folder, fields[0]);
    recorded_read(&set, path);
    const bool passes = try_pipeline(model, "tsm-to-xir", &set, rtol, atol, reason) &&
                        try_pipeline(model, xir_default_pipeline(), &set, rtol, atol, reason);
    recorded_free(&set);
    xir_network_free(model);
    return passes ? RECORDED_PASSES : RECORDED_DIFFERS;
}

static void recorded_networks_compute_what_the_runtime_computed(void **state) {
    (void)state;
    const recorded_run run = { __func__, "tsm/values", "convert/tsm_values.txt", "XIR_TSM_ONLY", 8, try_row };
    const recorded_total total = recorded_run_all(&run);
    print_message("TSM: %zu rows, %zu give what was recorded\n", total.rows, total.passed);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_networks_compute_what_the_runtime_computed) };
    return RUN_GROUP(tests);
}
