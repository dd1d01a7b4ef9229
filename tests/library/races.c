/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plug-ins are loaded while other threads work on the same context. Seven threads build, save and load, infer, run
 * passes, run networks, print and compare, each with its own networks. The eighth loads plug-ins, which register
 * classes, targets, inference of existing classes, kernels, passes and formats. Every result is that of a single
 * thread; ThreadSanitizer detects unordered accesses. */
#include <stdio.h>
#include "support/crew.h"
#include "support/scratch.h"

static const char *const arriving[] = {
    XIR_TEST_PLUGINS "/flatten.so", XIR_TEST_PLUGINS "/npu.so", XIR_TEST_PLUGINS "/axes.so",
    XIR_TEST_PLUGINS "/lines.so",
#ifdef XIR_PLUGINS
    XIR_PLUGINS "/customop.so", XIR_PLUGINS "/customkernel.so", XIR_PLUGINS "/custompass.so",
#endif
};

/* The results of a single thread, in a context without plug-ins. */
static char *expected_text;
static float expected_sum;

static float number_of(size_t i) { return (float)(i % 7) - 3; }

static xir_network *network_in(xir_context *with) {
    xir_network *net = small_net_in(with);
    xir_value *w = net ? xir_network_value_by_id(net, 1) : NULL;
    EXPECT(net && w && xir_network_status(net) == XIR_OK && xir_params_fill_f32(w, number_of) == XIR_OK);
    return net;
}

/* ---- kinds of work ---------------------------------------------------------------------------------------------- */

static void build(xir_context *with, int number) {
    (void)number;
    xir_network *net = network_in(with), *copy = xir_network_clone(net);
    EXPECT(xir_network_validate(net, NULL) == XIR_OK && copy && xir_network_equal(net, copy, true));
    xir_network_free(net);
    xir_network_free(copy);
}

static void save_and_load(xir_context *with, int number) {
    static const char *const suffixes[] = { "json", "imodel", "fb" };
    xir_network *net = network_in(with);
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char name[40], path[4200];
        snprintf(name, sizeof name, "/races%d.%s", number, suffixes[i]);
        snprintf(path, sizeof path, "%s%s", scratch_folder, name);
        EXPECT(xir_network_save(net, path, NULL, NULL) == XIR_OK);
        xir_network *read = xir_network_load(with, path, NULL, NULL);
        EXPECT(read && xir_network_equal(net, read, true));
        xir_network_free(read);
    }
    xir_network_free(net);
}

static void infer(xir_context *with, int number) {
    (void)number;
    xir_network *net = network_in(with);
    xir_op *relu = xir_network_op_by_id(net, 2);
    EXPECT(xir_network_infer(net, NULL) == XIR_OK);
    EXPECT(relu && xir_class_infers_on(xir_op_class(relu), XIR_TARGET_HOST) && xir_op_validate(relu, NULL) == XIR_OK);
    xir_network_free(net);
}

static void run_passes(xir_context *with, int number) {
    (void)number;
    xir_network *net = network_in(with);
    xir_pipeline *pipeline = xir_pipeline_parse(with, XIR_STR("infer,fold,cse,dce,fuse,merge,layout"), NULL);
    EXPECT(pipeline && xir_pipeline_run(pipeline, net, NULL, NULL, NULL) == XIR_OK);
    xir_pipeline_free(pipeline);
    xir_network_free(net);
}

static float sum_of(const xir_array *array) {
    float sum = 0;
    size_t size = 0;
    const float *x = xir_array_data(array, &size);
    for (size_t i = 0; i < size / sizeof *x; i++) sum += x[i];
    return sum;
}

static float result_of(xir_context *with) {
    xir_network *net = network_in(with);
    xir_array *in = xir_array_random(with, xir_value_type(xir_network_value_by_id(net, 0)), 1, NULL), *out = NULL;
    EXPECT(in && xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, NULL, NULL) == XIR_OK);
    float sum = out ? sum_of(out) : 0;
    xir_array_free(in);
    xir_array_free(out);
    xir_network_free(net);
    return sum;
}

static void run(xir_context *with, int number) {
    (void)number;
    EXPECT(result_of(with) == expected_sum);
}

static char *text_of(xir_context *with) {
    xir_network *net = network_in(with);
    xir_text_buffer text = { 0 };
    EXPECT(xir_json_print(net, 0, &text) == XIR_OK);
    char *copy = text.data ? strndup(text.data, text.size) : NULL;
    xir_text_free(&text);
    xir_network_free(net);
    return copy;
}

static void print(xir_context *with, int number) {
    (void)number;
    char *text = text_of(with);
    EXPECT(text && strcmp(text, expected_text) == 0);
    free(text);
}

static void compare(xir_context *with, int number) {
    (void)number;
    xir_network *a = network_in(with), *b = network_in(with);
    EXPECT(xir_op_set_name(xir_network_op_by_id(b, 3), XIR_STR("another")) == XIR_OK);
    xir_diff *diff = xir_diff_new(a, b, NULL, NULL);
    EXPECT(xir_diff_count(diff) == 1);
    xir_diff_free(diff);
    for (size_t i = 0; xir_context_class_at(with, i); i++)
        EXPECT(xir_class_key(xir_context_class_at(with, i)).size > 0);
    xir_network_free(a);
    xir_network_free(b);
}

static void (*const kinds[])(xir_context *with, int number) = { build, save_and_load, infer, run_passes, run,
                                                                print, compare };
enum { KINDS = sizeof kinds / sizeof kinds[0], THREADS = KINDS + 1 };

static void work(int number, void *user) {
    xir_context *with = user;
    if (number == KINDS) {
        for (size_t i = 0; i < COUNT(arriving); i++) {
            EXPECT(xir_plugin_load(with, arriving[i], NULL) == XIR_OK);
            save_and_load(with, number);   /* so that the others have begun when the next one is loaded */
        }
        return;
    }
    for (int k = 0; k < KINDS; k++) kinds[(number + k) % KINDS](with, number);
}

/* ---- all at once ------------------------------------------------------------------------------------------------ */

static void plugins_are_loaded_while_other_threads_work(void **state) {
    (void)state;
    expected_text = text_of(ctx);
    expected_sum = result_of(ctx);
    assert_non_null(expected_text);
    for (int round = 0; round < 20; round++) {
        xir_context *with = xir_context_new(NULL);
        assert_non_null(with);
        all_at_once(THREADS, work, with);
        xir_context_free(with);
    }
    free(expected_text);
}

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

static int end(void **state) {
    scratch_remove();
    return group_end(state);
}

GROUP {
    static const struct CMUnitTest tests[] = { cmocka_unit_test(plugins_are_loaded_while_other_threads_work) };
    return cmocka_run_group_tests(tests, begin, end);
}
