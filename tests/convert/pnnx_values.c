/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs recorded networks of PNNX: each file of the corpus' folder pnnx/values is converted by pnnx-to-xir and computed;
 * the results must be those that PyTorch gave, before and after the default pipeline, and after the way to files of
 * PNNX and back. Inputs and outputs are arrays in an archive NAME.npz, and NAME.2.npz for a second run with other dims.
 * What does not convert, or not whole, is listed with the reason in pnnx_values.txt; a listed file that passes is an
 * error, too. XIR_PNNX_ONLY names a single file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/recorded.h"
#include "support/scratch.h"

enum { MOST_ARRAYS = 256 };

/* |found - expected| <= tolerance (1 + |expected|) */
static bool agree(const xir_array *found, const xir_array *expected, size_t i, double tolerance,
                  char reason[RECORDED_REASON]) {
    xir_difference d;
    if (!xir_type_equal(xir_type_element(xir_array_type(found)), xir_type_element(xir_array_type(expected))))
        return snprintf(reason, RECORDED_REASON, "output %zu has other elements", i), false;
    if (xir_array_compare(found, expected, tolerance, tolerance, &d) != XIR_OK || !d.same_shape)
        return snprintf(reason, RECORDED_REASON, "output %zu has another shape", i), false;
    if (!d.count) return true;
    snprintf(reason, RECORDED_REASON, "%zu elements of output %zu of %zu differ, the first is %zu: %.9g, expected %.9g",
             d.count, i, xir_array_count(found), d.first, d.a, d.b);
    return false;
}

/* Writes PNNX's files, and reads them again. */
static xir_status through_files(xir_network **net) {
    char path[600];
    snprintf(path, sizeof path, "%s", scratch("back.pnnx.param"));
    xir_status status = xir_network_save(*net, path, NULL, why);
    xir_network_free(*net);
    *net = status ? NULL : xir_network_load(ctx, path, NULL, why);
    return *net ? xir_pass_run(*net, "pnnx-to-xir", NULL, NULL, why) : status ? status : XIR_E_IO;
}

static recorded_verdict run_and_compare(const xir_network *net, const recorded *set, double tolerance,
                                        char reason[RECORDED_REASON]) {
    const size_t n_in = recorded_count(set, "in"), n_out = recorded_count(set, "out");
    const xir_array *in[MOST_ARRAYS];
    xir_array *out[MOST_ARRAYS] = { NULL };
    recorded_verdict v = RECORDED_PASSES;
    assert_true(n_in <= MOST_ARRAYS && n_out && n_out <= MOST_ARRAYS);
    for (size_t i = 0; i < n_in; i++) in[i] = recorded_at(set, "in", i);
    for (size_t i = 0; i < n_in + n_out; i++) {
        if (i < n_in ? in[i] != NULL : recorded_at(set, "out", i - n_in) != NULL) continue;
        snprintf(reason, RECORDED_REASON, "complex elements");
        return RECORDED_STAYS;
    }
    if (xir_op_input_count(xir_network_output_op(net)) != n_out) {
        snprintf(reason, RECORDED_REASON, "%zu outputs, recorded are %zu",
                 xir_op_input_count(xir_network_output_op(net)), n_out);
        return RECORDED_DIFFERS;
    }
    xir_diags_clear(why);
    if (xir_network_run(net, in, n_in, out, n_out, NULL, why)) {
        recorded_error(reason, "it cannot be run");
        v = RECORDED_DIFFERS;
    }
    for (size_t i = 0; i < n_out && v == RECORDED_PASSES; i++)
        if (!agree(out[i], recorded_at(set, "out", i), i, tolerance, reason)) v = RECORDED_DIFFERS;
    for (size_t i = 0; i < n_out; i++) xir_array_free(out[i]);
    return v;
}

static recorded_verdict try_pipeline(const xir_network *model, const char *text, bool written, const recorded *set,
                                     double tolerance, char reason[RECORDED_REASON]) {
    xir_network *net = xir_network_clone(model);
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    recorded_verdict v = RECORDED_DIFFERS;
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    xir_status status = xir_pipeline_run(pipeline, net, &settings, NULL, why);
    xir_pipeline_free(pipeline);
    if (!status && written) status = through_files(&net);
    const xir_op *stays = status ? NULL : xir_network_first_unrunnable(net);
    if (status) {
        recorded_error(reason, "it is not converted");
    } else if (stays) {
        xir_str key = xir_class_key(xir_op_class(stays));
        char what[200];
        snprintf(what, sizeof what, "%.*s", (int)key.size, key.data);
        recorded_error(reason, what);
        v = RECORDED_STAYS;
    } else {
        v = run_and_compare(net, set, tolerance, reason);
    }
    xir_network_free(net);
    return v;
}

/* A line of index.tsv: the name, the script, two counts, the tolerance, a difference, and the noise of float32. */
static recorded_verdict try_file(const char *folder, char *const fields[], char reason[RECORDED_REASON]) {
    const double tolerance = atof(fields[4]) >= 1e-3 || atof(fields[6]) > 2e-5 ? 1e-3 : 1e-4;
    char path[600], back[1200];
    snprintf(path, sizeof path, "%s/%s.pnnx.param", folder, fields[0]);
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    assert_non_null(model);
    xir_pipeline_to(ctx, "pnnx", back, sizeof back);
    const char *const pipelines[] = { "pnnx-to-xir", xir_default_pipeline(), back };
    recorded_verdict v = RECORDED_PASSES;
    for (size_t run = 0; run < 2 && v == RECORDED_PASSES; run++) {
        recorded set;
        snprintf(path, sizeof path, "%s/%s%s.npz", folder, fields[0], run ? ".2" : "");
        if (run && access(path, R_OK) != 0) break;   /* most have one run */
        recorded_read(&set, path);
        for (size_t i = 0; i < COUNT(pipelines) && v == RECORDED_PASSES; i++)
            v = try_pipeline(model, pipelines[i], i == 2, &set, tolerance, reason);
        recorded_free(&set);
    }
    xir_network_free(model);
    return v;
}

static void recorded_networks_compute_what_pytorch_computed(void **state) {
    (void)state;
    const recorded_run run = { __func__, "pnnx/values", "convert/pnnx_values.txt", "XIR_PNNX_ONLY", 8,
                               try_file };
    const recorded_total total = recorded_run_all(&run);
    print_message("PNNX: %zu files; %zu convert whole, %zu of them give what was recorded\n", total.rows,
                  total.rows - total.stay, total.passed);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_networks_compute_what_pytorch_computed) };
    scratch_make();
    return RUN_GROUP(tests);
}
