/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Every model of ONNX's operator tests through the default pipeline, and through random pipelines. After each pass the
 * network is valid, the pass has reported its changes, and the executor computes the same. Then a second run changes
 * nothing. */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include "support/net.h"
#include "support/often.h"
#include "support/skips.h"

#define MODELS "/usr/share/libonnx-testdata/data"

enum { MOST = 4000 };
static char  *models[MOST];
static size_t n_models;

static int note(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    if (flag == FTW_F && strcmp(path + ftw->base, "model.onnx") == 0 && n_models < MOST)
        models[n_models++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void find_models(void) {
    if (!n_models) nftw(MODELS, note, 16, FTW_PHYS);
    qsort(models, n_models, sizeof *models, by_name);
    if (!n_models) SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", MODELS);
}

static xir_network *load(const char *path) {
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    if (!net) {
        xir_diags_print(why, stderr);
        fail_msg("can't read %s", path);
    }
    return net;
}

/* Returns true if anything was proven. A failure names the model and the pipeline. */
static bool prove(const char *path, const char *text, xir_network *net, uint64_t seed) {
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(text), why);
    xir_proof *proof = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .seed = seed), why);
    assert_true(p && proof);
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    xir_proof_watch(proof, &watch, why);
    xir_status status = xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .verify = true, .watches = &watch,
                                                           .n_watches = 1), NULL, why);
    if (status || xir_diags_count_of(why, XIR_WARNING)) {
        xir_diags_print(why, stderr);
        fail_msg("%s: %s", path, text);
    }
    xir_proof_state state = XIR_INIT(xir_proof_state);
    assert_int_equal(xir_proof_state_of(proof, &state, why), XIR_OK);
    bool proven = state.networks > 0;
    xir_proof_free(proof);
    xir_pipeline_free(p);
    xir_diags_clear(why);
    return proven;
}

static void check_quiet(const char *path, xir_network *net) {
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    xir_pass_report *report = xir_pass_report_new(ctx);
    assert_true(p && report);
    assert_int_equal(xir_pipeline_run(p, net, NULL, report, why), XIR_OK);
    const xir_pass_row *row;
    for (size_t i = 0; (row = xir_pass_report_at(report, i)); i++) {
        if (row->changes)
            fail_msg("%s: run again, %.*s makes %zu changes", path, (int)row->text.size, row->text.data, row->changes);
    }
    xir_pass_report_free(report);
    xir_pipeline_free(p);
    xir_diags_clear(why);
}

static void the_default_pipeline_changes_no_result(void **state) {
    (void)state;
    find_models();
    size_t proven = 0;
    for (size_t i = 0; i < n_models; i++) {
        xir_network *net = load(models[i]);
        proven += prove(models[i], xir_default_pipeline(), net, i);
        check_quiet(models[i], net);
        xir_network_free(net);
    }
    print_message("%zu of %zu models could be run\n", proven, n_models);
    assert_true(proven * 10 >= n_models * 6);   /* the others depend on data, or have values that are not tensors */
}

/* "onnx-to-xir" and one to eight passes, some in groups. */
static void make_pipeline(char *text) {
    static const char *const passes[] = { "sort", "infer", "dce", "cse", "dedup", "canon", "fold", "identity", "moves",
                                          "fold-batchnorm", "fold-products", "fuse", "layout" };
    strcpy(text, "onnx-to-xir");
    for (uint64_t n = 1 + chance(8); n; n--) {
        const char *a = passes[chance(COUNT(passes))], *b = passes[chance(COUNT(passes))];
        if (chance(5)) sprintf(text + strlen(text), ",%s", a);
        else sprintf(text + strlen(text), ",fix(%s,%s)", a, b);
    }
}

static void passes_in_any_order_change_no_result(void **state) {
    (void)state;
    find_models();
    char text[400];
    for (size_t i = 0; i < n_models; i++) {
        for (size_t k = 0; k < 2 && chance(5) < OFTEN(5); k++) {
            xir_network *net = load(models[i]);
            make_pipeline(text);
            (void)prove(models[i], text, net, i + k);
            xir_network_free(net);
        }
    }
}

static void digits(void **state) {
    (void)state;
    const char *path = XIR_TEST_DATA "/../examples/models/digits.onnx";
    xir_network *net = load(path);
    assert_true(prove(path, xir_default_pipeline(), net, 1));
    check_quiet(path, net);
    assert_null(xir_network_next_of_class(net, NULL, xir_batch_norm2d_class()));
    assert_non_null(xir_network_next_of_class(net, NULL, xir_hardswish_class()));
    size_t transposes = 0;
    for (const xir_op *op = NULL; (op = xir_network_next_of_class(net, op, xir_transpose_class()));) transposes++;
    assert_true(transposes <= 1);
    xir_network_free(net);
    char text[400];
    for (int i = 0; i < 20; i++) {
        net = load(path);
        make_pipeline(text);
        assert_true(prove(path, text, net, 1));
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits),
        cmocka_unit_test(the_default_pipeline_changes_no_result),
        cmocka_unit_test(passes_in_any_order_change_no_result),
    };
    return RUN_GROUP(tests);
}
