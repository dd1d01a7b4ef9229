/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs recorded programs of DeepX: each row of the corpus' folder deepx/values is converted by deepx-to-xir and
 * computed; the tensors that exist at its end must be those of the executor, or, where it crashes or is wrong, those of
 * the formula, within the tolerance of the row, before and after the default pipeline. XIR_DEEPX_ONLY names a single
 * row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/recorded.h"

enum { MOST_RESULTS = 256 };

static bool agrees(const xir_array *found, const xir_array *expected, double relative, double absolute,
                   char reason[RECORDED_REASON]) {
    if (!xir_type_equal(xir_type_element(xir_array_type(found)), xir_type_element(xir_array_type(expected)))) {
        snprintf(reason, RECORDED_REASON, "it has other elements");
        return false;
    }
    if (!recorded_same_shape(found, expected, 0, reason)) return false;
    for (size_t i = 0; i < xir_array_count(found); i++) {
        const double x = xir_array_real(found, i), y = xir_array_real(expected, i);
        if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= absolute + relative * fabs(y)) continue;
        snprintf(reason, RECORDED_REASON, "element %zu is %.17g, expected %.17g", i, x, y);
        return false;
    }
    return true;
}

static size_t result_named(const xir_network *net, const char *name) {
    const xir_op *output = xir_network_output_op(net);
    for (size_t i = 0; i < xir_op_input_count(output); i++)
        if (xir_str_equal(xir_value_name(xir_op_input(output, (int64_t)i)), xir_str_of(name))) return i;
    fail_msg("no result is '%s'", name);
    return 0;
}

static bool try_pipeline(const xir_network *model, const char *text, const recorded *set, double relative,
                         double absolute, char reason[RECORDED_REASON]) {
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    xir_network *net = xir_network_clone(model);
    xir_array *out[MOST_RESULTS] = { NULL };
    bool passes = true;
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    const xir_status status = xir_pipeline_run(pipeline, net, &settings, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_pipeline_free(pipeline);
    const size_t n = xir_op_input_count(xir_network_output_op(net));
    assert_true(n <= MOST_RESULTS && !xir_network_first_unrunnable(net));
    assert_int_equal(xir_op_output_count(xir_network_input_op(net)), 0);
    DOES(xir_network_run(net, NULL, 0, out, n, NULL, why));
    for (size_t i = 0; i < set->n; i++) {
        char what[RECORDED_REASON];
        const recorded_array *a = &set->arrays[i];
        assert_non_null(a->array);
        if (agrees(out[result_named(net, a->name)], a->array, relative, absolute, what)) continue;
        snprintf(reason, RECORDED_REASON, "%.80s: %s: %.250s", text, a->name, what);
        passes = false;
    }
    for (size_t i = 0; i < n; i++) xir_array_free(out[i]);
    xir_network_free(net);
    return passes;
}

/* A line of index.tsv: name, file, functions, tensors, relative and absolute tolerance, and notes. Traces lie in the
 * folder above. */
static recorded_verdict try_row(const char *folder, char *const fields[], char reason[RECORDED_REASON]) {
    const double relative = atof(fields[4]), absolute = atof(fields[5]);
    const char *slash = strrchr(fields[1], '/');
    const bool trace = strncmp(fields[0], "corpus__", 8) == 0;
    char path[700];
    recorded set;
    snprintf(path, sizeof path, "%s/%s%s", folder, trace ? "../" : "", slash ? slash + 1 : fields[1]);
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    assert_non_null(model);
    snprintf(path, sizeof path, "%s/%s.npz", folder, fields[0]);
    recorded_read(&set, path);
    const bool passes = try_pipeline(model, "deepx-to-xir", &set, relative, absolute, reason) &&
        try_pipeline(model, xir_default_pipeline(), &set, relative, absolute, reason);
    recorded_free(&set);
    xir_network_free(model);
    return passes ? RECORDED_PASSES : RECORDED_DIFFERS;
}

static void recorded_programs_give_their_tensors(void **state) {
    (void)state;
    const recorded_run run = { __func__, "deepx/values", NULL, "XIR_DEEPX_ONLY", 6, try_row };
    const recorded_total total = recorded_run_all(&run);
    print_message("DeepX: %zu programs, %zu give what was recorded\n", total.rows, total.passed);
    assert_true(total.rows >= 83 || getenv(run.only));
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_programs_give_their_tensors) };
    return RUN_GROUP(tests);
}
