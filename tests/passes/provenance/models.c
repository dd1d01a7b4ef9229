/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* After the default pipeline, the ops of real networks name their sources, and keep the rule about paths: digits.onnx,
 * exported networks with open dims, those of XIR_CORPUS/onnx, and some of the other formats there. */
#include <glob.h>
#include "passes/layout/unpacked.h"
#include "support/path_rule.h"
#include "support/skips.h"

static void check_model(xir_network *net, const char *name, path_counts *all) {
    path_counts n = { 0 };
    xir_network *was = xir_network_clone(net);
    xir_provenance *p = xir_provenance_new(net, why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    assert_non_null(was);
    assert_non_null(p);
    if (xir_pipeline_run(pipeline, net, NULL, NULL, why)) fail_msg("%s: the pipeline fails", name);
    const char *broken = broken_path(p, was, &n);
    print_message("%-32s %6zu ops, %6zu name sources\n", name, n.ops, n.named);
    if (broken) fail_msg("%s: %s", name, broken);
    all->ops += n.ops;
    all->named += n.named;
    xir_pipeline_free(pipeline);
    xir_provenance_free(p);
    xir_network_free(was);
    xir_network_free(net);
    xir_diags_clear(why);
}

/* At least 99 of 100 ops. */
static void check_counts(const path_counts *all) {
    assert_true(all->ops > 0);
    print_message("%-32s %6zu ops, %6zu name sources: %.2f %%\n", "all", all->ops, all->named,
                  100 * (double)all->named / (double)all->ops);
    assert_true(all->named * 100 >= all->ops * 99);
}

static void models_of_the_tree(void **state) {
    static const char *const models[] = {
        "../examples/models/digits", "convert/onnx/dynamic/yolo", "convert/onnx/dynamic/gpt",
        "convert/onnx/dynamic/convnext", "convert/onnx/dynamic/efficientnet",
        "convert/onnx/dynamic/swin", "convert/onnx/dynamic/mlp", "convert/onnx/dynamic/bert",
        "convert/onnx/dynamic/encoder", "convert/onnx/dynamic/distilbert",
        "convert/onnx/dynamic/tagger", "convert/onnx/dynamic/vit", "convert/onnx/dynamic/unet",
        "convert/onnx/dynamic/optimised/bert", "convert/onnx/dynamic/extended/gpt",
    };
    (void)state;
    path_counts all = { 0 };
    for (size_t i = 0; i < COUNT(models); i++) {
        char path[400];
        snprintf(path, sizeof path, XIR_TEST_DATA "/%s.onnx", models[i]);
        xir_network *net = xir_network_load(ctx, path, NULL, why);
        if (!net) fail_msg("%s cannot be read", path);
        check_model(net, models[i], &all);
    }
    check_counts(&all);
}

static void models_of_other_formats(void **state) {
    static const char *const models[] = {
        "nnb/lenet_fixed8_v3.nnb", "nnb/gd_mnist.nnb", "nnb/edgeai_chap09.nnb", "tsm/face_landmarker_pts5_net1.tsm",
        "tsm/smallnet.tsm", "deepx/seed.ir", "pnnx/converter/gen_yolo_head.pnnx.param",
        "icraft/superpoint_test_softmax_BY.json",
    };
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    path_counts all = { 0 };
    for (size_t i = 0; i < COUNT(models); i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", corpus, models[i]);
        xir_network *net = xir_network_load(ctx, path, NULL, NULL);
        if (net) check_model(net, models[i], &all);
    }
    if (!all.ops) SKIP("XIR_CORPUS has none of these models");
    check_counts(&all);
}

/* All files in XIR_CORPUS/onnx. */
static void models_of_the_corpus(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    path_counts all = { 0 };
    char pattern[1200];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/onnx/*.onnx.xz", corpus);
    if (glob(pattern, 0, NULL, &files)) SKIP("XIR_CORPUS/onnx has no models");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *slash = strrchr(files.gl_pathv[i], '/') + 1;
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(slash) - strlen(".onnx.xz")), slash);
        xir_network *net = unpacked(corpus, name);
        if (net) check_model(net, name, &all);
    }
    globfree(&files);
    if (!all.ops) SKIP("xz is missing");
    check_counts(&all);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_the_tree),
        cmocka_unit_test(models_of_the_corpus),
        cmocka_unit_test(models_of_other_formats),
    };
    return RUN_GROUP(tests);
}
