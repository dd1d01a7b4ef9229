/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files of the corpus' folder nnb: a check finds nothing in any of them, all functions are converted, and every
 * inferred type is the stored one. LeNet reads the digit 5. (In fixed point it cannot: the file scales the image to
 * less than its smallest step.) The functions of zoo_all_v2.nnb have shapes that contradict them; it is only
 * converted. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/net.h"
#include "support/skips.h"

enum { PIXELS = 28 * 28, DIGITS = 10 };

static xir_network *load(const char *path) {
    xir_diags_clear(why);
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    assert_non_null(net);
    return net;
}

static const xir_value *named(const xir_network *net, xir_str name) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            if (xir_str_equal(xir_value_name(xir_op_output(op, (int64_t)i)), name))
                return xir_op_output(op, (int64_t)i);
    return NULL;
}

/* The values of the file that remain have its dims and elements. Returns their number. */
static size_t same_types(const xir_network *model, const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(model); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            const xir_value *a = xir_op_output(op, (int64_t)i), *b = named(net, xir_value_name(a));
            if (!b) continue;
            const xir_type *s = xir_value_type(a), *t = xir_value_type(b);
            assert_true(xir_type_equal(xir_type_element(s), xir_type_element(t)));
            assert_int_equal(xir_type_rank(s), xir_type_rank(t));
            for (size_t k = 0; k < xir_type_rank(s); k++)
                assert_int_equal(xir_type_dim(s, (int64_t)k, false), xir_type_dim(t, (int64_t)k, false));
            n++;
        }
    }
    return n;
}

static void try_file(const char *path) {
    xir_network *model = load(path), *net = xir_network_clone(model);
    const bool zoo = strstr(path, "zoo_all_v2") != NULL;
    xir_diags_clear(why);
    const xir_status checked = xir_dialect_check(net, why);
    assert_int_equal(checked == XIR_OK && !xir_diags_count(why), !zoo);
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "nnb-to-xir", zoo ? NULL : "strict", NULL, why);
    if (!zoo && (status || xir_diags_count(why))) {
        xir_diags_print(why, stderr);
        fail_msg("%s is not converted", path);
    }
    if (!zoo) {
        assert_null(xir_network_first_unrunnable(net));
        assert_int_equal(xir_pass_run(net, "infer", NULL, NULL, why), XIR_OK);
        assert_true(same_types(model, net) > 1);
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
    }
    xir_network_free(net);
    xir_network_free(model);
}

static void files_are_converted_whole(void **state) {
    (void)state;
    char pattern[500];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/nnb/*.nnb", CORPUS_OR_SKIP());
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 8);
    for (size_t i = 0; i < found.gl_pathc; i++) try_file(found.gl_pathv[i]);
    globfree(&found);
}

/* The logits of the image 5.bin: 28 x 28 floats from 0 to 255. */
static void read_digit(const char *file, const char *passes, double logits[DIGITS]) {
    char path[500];
    float pixels[PIXELS];
    snprintf(path, sizeof path, "%s/nnb/5.bin", CORPUS_OR_SKIP());
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(pixels, sizeof *pixels, PIXELS, f), PIXELS);
    fclose(f);
    snprintf(path, sizeof path, "%s/nnb/%s", CORPUS_OR_SKIP(), file);
    xir_network *net = load(path);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    assert_non_null(pipeline);
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    DOES(xir_pipeline_run(pipeline, net, &settings, NULL, why));
    xir_pipeline_free(pipeline);
    const xir_type *type = xir_value_type(xir_op_output(xir_network_input_op(net), 0));
    xir_array *in = xir_array_copy(ctx, type, pixels, sizeof pixels, why), *out = NULL;
    assert_non_null(in);
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, NULL, why));
    assert_int_equal(xir_array_count(out), DIGITS);
    for (size_t i = 0; i < DIGITS; i++) logits[i] = xir_array_real(out, i);
    xir_array_free(in);
    xir_array_free(out);
    xir_network_free(net);
}

static int greatest(const double logits[DIGITS]) {
    int best = 0;
    for (int i = 1; i < DIGITS; i++) if (logits[i] > logits[best]) best = i;
    return best;
}

static void lenet_reads_a_digit(void **state) {
    (void)state;
    static const double expected[DIGITS] = { -19.48, -25.07, -16.5, 6.8, -3.06, 41.89, 3.65, -11.27, 12.95, -1.8 };
    const char *const pipelines[] = { "nnb-to-xir", xir_default_pipeline() };
    for (size_t i = 0; i < COUNT(pipelines); i++) {
        double logits[DIGITS];
        read_digit("lenet_f32_v3_api44.nnb", pipelines[i], logits);
        for (size_t k = 0; k < DIGITS; k++)
            if (!(fabs(logits[k] - expected[k]) <= 0.01)) fail_msg("logit %zu: %g", k, logits[k]);
        assert_int_equal(greatest(logits), 5);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_converted_whole),
        cmocka_unit_test(lenet_reads_a_digit),
    };
    return RUN_GROUP(tests);
}
