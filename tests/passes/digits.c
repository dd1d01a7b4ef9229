/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A trained network, end to end: 64 digits that were not in its training set get PyTorch's logits, within 1e-4, after
 * every pass of the default pipeline and from every file format, eager and lazy. As ONNX and as PNNX it becomes the
 * same operations. */
#include <stdio.h>
#include <stdlib.h>
#include "support/again.h"
#include "support/formats.h"
#include "support/net.h"
#include "support/scratch.h"
#include "support/story.h"

#define MODELS XIR_TEST_DATA "/../examples/models/"

enum { IMAGES = 64, PIXELS = 64, CLASSES = 10 };
static const float tolerance = 1e-4f;

static float   images[IMAGES][PIXELS], logits[IMAGES][CLASSES];
static int64_t labels[IMAGES];

static void read_npy(const char *path, void *out, size_t size) {
    xir_array *array = xir_array_load_npy(ctx, path, why);
    if (!array) xir_diags_print(why, stderr);
    assert_non_null(array);
    size_t found;
    const void *data = xir_array_data(array, &found);
    assert_int_equal(found, size);
    memcpy(out, data, size);
    xir_array_free(array);
}

static xir_network *load(const char *path, bool lazy) {
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = lazy), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

/* Checks every logit against PyTorch's, and that the class of each digit is its label. */
static void check_logits(const xir_network *net, const char *when) {
    size_t right = 0;
    const size_t n = again_cases(IMAGES);
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "****", 1, 1, 8, 8);
        xir_array *in = xir_array_copy(ctx, type, images[i], sizeof images[i], why), *out = NULL;
        xir_status status = xir_network_run(net, (const xir_array *const *)&in, 1, &out, 1, NULL, why);
        if (status) xir_diags_print(why, stderr);
        assert_int_equal(status, XIR_OK);
        assert_int_equal(xir_array_count(out), CLASSES);
        int64_t best = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            double is = xir_array_real(out, k), should = logits[i][k];
            if (!(is - should <= tolerance && should - is <= tolerance)) {
                fail_msg("%s: digit %zu, logit %zu: expected %.9g, found %.9g", when, i, k, should, is);
            }
            if (is > xir_array_real(out, (size_t)best)) best = (int64_t)k;
        }
        right += best == labels[i];
        xir_array_free(in);
        xir_array_free(out);
    }
    assert_int_equal(right, n);
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

typedef struct seen_s { size_t runs, scored; } seen_s;

static xir_status score_after(void *user, const xir_pass_event *event) {
    seen_s *seen = user;
    char when[200];
    snprintf(when, sizeof when, "after run %zu, %.*s", event->run, (int)event->text.size, event->text.data);
    seen->runs++;
    if (!event->changes) return XIR_OK;   /* before to-xir it cannot be run */
    check_logits(event->net, when);
    seen->scored++;
    return XIR_OK;
}

static xir_network *optimised(const char *path, bool lazy) {
    xir_diags_clear(why);
    xir_network *net = load(path, lazy);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    seen_s seen = { 0, 0 };
    const xir_pass_watch watch = XIR_INIT(xir_pass_watch, .after = score_after, .user = &seen);
    xir_status status = xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .verify = true, .watches = &watch,
                                                           .n_watches = 1), NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    assert_true(seen.runs >= 10 && seen.scored >= 2);
    xir_pipeline_free(p);
    return net;
}

static size_t count_of(const xir_network *net, const xir_class_decl *decl) {
    size_t n = 0;
    for (const xir_op *op = NULL; (op = xir_network_next_of_class(net, op, decl));) n++;
    return n;
}

static void every_pass_keeps_the_logits(void **state) {
    (void)state;
    xir_network *net = optimised(MODELS "digits.onnx", false);
    assert_int_equal(count_of(net, xir_batch_norm2d_class()), 0);
    assert_int_equal(count_of(net, xir_hardswish_class()), 1);
    assert_true(count_of(net, xir_transpose_class()) <= 1);   /* at the input or the result */
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        xir_str key = xir_class_key(xir_op_class(op));
        assert_true(key.size > 6 && memcmp(key.data, "onnx::", 6) != 0);
    }
    CHECK_STR(xir_value_name(xir_op_output(xir_network_input_op(net), 0)), "image");
    CHECK_STR(xir_value_name(xir_op_input(xir_network_output_op(net), 0)), "logits");
    xir_network_free(net);
}

/* ---- PNNX ------------------------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The statements of a story, sorted, without names of values: "ReLU", "Reshape [shape=1,128]". */
static size_t operations(char *story, char **out) {
    size_t n = 0;
    char *rest = NULL;
    for (char *p = strtok_r(story, ";", &rest); p; p = strtok_r(NULL, ";", &rest)) {
        char *made = strstr(p, " = "), *attributes = strchr(p, '[');
        if (!made) continue;
        made += 3;
        const size_t name = strcspn(made, " ");
        if (attributes) memmove(made + name + 1, attributes, strlen(attributes) + 1);
        made[attributes ? name : strcspn(made, " ")] = attributes ? ' ' : '\0';
        out[n++] = made;
    }
    qsort(out, n, sizeof *out, by_text);
    return n;
}

/* The same network, as PNNX's converter wrote it, becomes the same operations. */
static void pnnx_becomes_the_same_operations(void **state) {
    (void)state;
    xir_network *onnx = optimised(MODELS "digits.onnx", false);
    char *expected = story_text(onnx), *a[64], *b[64];
    const size_t n = operations(expected, a);
    for (int lazy = 0; lazy < 2; lazy++) {
        xir_network *net = optimised(MODELS "digits.pnnx.param", lazy);
        check_logits(net, "digits.pnnx.param");
        char *found = story_text(net);
        assert_int_equal(operations(found, b), n);
        for (size_t i = 0; i < n; i++) assert_string_equal(b[i], a[i]);
        free(found);
        xir_network_free(net);
    }
    free(expected);
    xir_network_free(onnx);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void every_format_keeps_the_logits(void **state) {
    (void)state;
    xir_network *net = optimised(MODELS "digits.onnx", false);
    xir_format_info format = XIR_INIT(xir_format_info);
    size_t formats = 0;
    for (size_t i = 0; written_format_at(i, &format); i++) {
        char name[40];
        snprintf(name, sizeof name, "digits.%.*s", (int)strcspn(format.suffixes, " "), format.suffixes);
        const char *path = scratch(name);
        DOES(xir_network_save(net, path, NULL, why));
        for (int lazy = 0; lazy < 2; lazy++) {
            xir_network *again = load(path, lazy);
            assert_int_equal(
                xir_params_is_lazy(xir_op_input(xir_network_next_of_class(again, NULL, xir_conv2d_class()), 1)), lazy);
            check_logits(again, path);
            xir_network_free(again);
        }
        formats++;
    }
    assert_true(formats >= 3);
    xir_network_free(net);
}

/* The unconverted network also survives every format, and is then converted as if it came from its ONNX file. */
static void every_format_keeps_the_unconverted_network(void **state) {
    (void)state;
    xir_network *net = load(MODELS "digits.onnx", false);
    static const char *const names[] = { "dialect.json", "dialect.imodel", "dialect.fb", "dialect.onnx" };
    for (size_t i = 0; i < COUNT(names); i++) {
        DOES(xir_network_save(net, scratch(names[i]), &XIR_INIT(xir_save_options, .unchecked = true), why));
        xir_network *again = load(scratch(names[i]), true);
        xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
        assert_int_equal(xir_pipeline_run(p, again, NULL, NULL, why), XIR_OK);
        check_logits(again, names[i]);
        xir_pipeline_free(p);
        xir_network_free(again);
    }
    xir_network_free(net);
}

/* As PNNX, and from there to XIR again: the same operations with the same attributes. */
static void pnnx_keeps_the_logits(void **state) {
    (void)state;
    char text[1024];
    xir_pipeline_to(ctx, "pnnx", text, sizeof text);
    assert_non_null(strstr(text, ",layout{to=nchw},xir-to-pnnx"));
    xir_network *net = optimised(MODELS "digits.onnx", false);
    DOES(xir_pass_run(net, "layout", "to=nchw", NULL, why));
    DOES(xir_pass_run(net, "xir-to-pnnx", "strict", NULL, why));
    const char *path = scratch("digits.pnnx.param");
    DOES(xir_network_save(net, path, NULL, why));
    for (int lazy = 0; lazy < 2; lazy++) {
        xir_network *again = load(path, lazy), *plain = optimised(MODELS "digits.onnx", false);
        xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
        DOES(xir_pipeline_run(p, again, NULL, NULL, why));
        check_logits(again, path);
        const xir_op *a = xir_network_first(again), *b = xir_network_first(plain);
        for (; a && b; a = xir_op_next(a), b = xir_op_next(b)) {
            const xir_field *f;
            assert_ptr_equal(xir_op_class(a), xir_op_class(b));
            for (size_t i = 0; (f = xir_class_field_at(xir_op_class(a), i)); i++) {
                xir_attr attr;
                if (f->kind == XIR_KIND_PARAMS) continue;
                DOES(xir_op_get(a, f->name, &attr));
                assert_true(xir_op_attr_is(b, f->name, &attr));
            }
        }
        assert_true(!a && !b);
        xir_pipeline_free(p);
        xir_network_free(again);
        xir_network_free(plain);
    }
    xir_network_free(net);
}

/* From each of the other formats to ONNX, and from there to XIR again. */
static void onnx_keeps_the_logits(void **state) {
    (void)state;
    static const struct { const char *pass, *file; } formats[] = {
        { "xir-to-pnnx", "again.pnnx.param" }, { "xir-to-tsm", "again.tsm" }, { "xir-to-nnb", "again.nnb" },
    };
    char text[1024];
    xir_pipeline_to(ctx, "onnx", text, sizeof text);
    assert_non_null(strstr(text, ",layout{to=nchw},xir-to-onnx"));
    for (size_t i = 0; i < COUNT(formats); i++) {
        xir_network *first = optimised(MODELS "digits.onnx", false);
        DOES(xir_pass_run(first, "layout", "to=nchw", NULL, why));
        DOES(xir_pass_run(first, formats[i].pass, "strict", NULL, why));
        const char *path = scratch(formats[i].file);
        DOES(xir_network_save(first, path, NULL, why));
        xir_network *net = load(path, false);
        xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
        DOES(xir_pipeline_run(p, net, NULL, NULL, why));
        DOES(xir_pass_run(net, "layout", "to=nchw", NULL, why));
        DOES(xir_pass_run(net, "xir-to-onnx", "strict", NULL, why));
        DOES(xir_dialect_check(net, why));
        DOES(xir_pass_run(net, "onnx-to-xir", "strict", NULL, why));
        check_logits(net, path);
        xir_pipeline_free(p);
        xir_network_free(net);
        xir_network_free(first);
    }
}

static int begin(void **state) {
    int result = group_begin(state);
    read_npy(MODELS "digits_inputs.npy", images, sizeof images);
    read_npy(MODELS "digits_logits.npy", logits, sizeof logits);
    read_npy(MODELS "digits_labels.npy", labels, sizeof labels);
    return result;
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_keeps_the_logits),
        cmocka_unit_test(pnnx_becomes_the_same_operations),
        cmocka_unit_test(every_format_keeps_the_logits),
        cmocka_unit_test(every_format_keeps_the_unconverted_network),
        cmocka_unit_test(pnnx_keeps_the_logits),
        cmocka_unit_test(onnx_keeps_the_logits),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
