/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Programs of DeepX become networks of XIR, those programs again, and so on: from the second time on, the networks and
 * the texts are equal, and each computes what the first one did. The passes of the default pipeline keep what a program
 * gives; so do passes over its calls. Programs are those with formulas and, with XIR_CORPUS, those of the corpus. */
#include <glob.h>
#include <xir/pass.h>
#include "convert/deepx_formulas.h"
#include "convert/deepx_text.h"

enum { TIMES = 3, MOST_RESULTS = 256 };

static xir_network *as_network(const char *text, const char *path) {
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "deepx");
    xir_diags_clear(why);
    xir_network *net = path ? xir_network_load(ctx, path, &options, why)
                            : xir_network_read(ctx, text, strlen(text), XIR_STR("x.ir"), &options, why);
    assert_non_null(net);
    return net;
}

static void run_pass(xir_network *net, const char *pass, const char *options) {
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, pass, options, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
}

static char *text_of(xir_network *net) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx");
    buffer file;
    buffer_init(&file, &memory_default);
    assert_int_equal(xir_network_write(net, keep, &file, &options, why), XIR_OK);
    buffer_put(&file, "", 1);
    char *text = strdup((const char *)file.data);
    buffer_free(&file);
    return text;
}

/* The results of the network, by name, are those of the other one. */
static void gives_the_same(const xir_network *a, const xir_network *b, const char *name) {
    xir_array *x[MOST_RESULTS] = { NULL }, *y[MOST_RESULTS] = { NULL };
    const xir_op *of_a = xir_network_output_op(a), *of_b = xir_network_output_op(b);
    const size_t n = xir_op_input_count(of_a);
    assert_true(n == xir_op_input_count(of_b) && n <= MOST_RESULTS);
    xir_diags_clear(why);
    assert_int_equal(xir_network_run(a, NULL, 0, x, n, NULL, why), XIR_OK);
    assert_int_equal(xir_network_run(b, NULL, 0, y, n, NULL, why), XIR_OK);
    for (size_t i = 0; i < n; i++) {
        xir_difference d;
        size_t k = 0;
        while (k < n && !xir_str_equal(xir_value_name(xir_op_input(of_b, (int64_t)k)),
                                       xir_value_name(xir_op_input(of_a, (int64_t)i)))) k++;
        if (k == n || xir_array_compare(y[k], x[i], 1e-6, 1e-6, &d) || !d.same_shape || d.count)
            fail_msg("%s: result %zu is another one", name, i);
    }
    for (size_t i = 0; i < n; i++) {
        xir_array_free(x[i]);
        xir_array_free(y[i]);
    }
}

static size_t tried, inputs_missing;

/* Frees the network, which is a program. */
static void again_and_again(xir_network *net, const char *name) {
    char *texts[TIMES] = { NULL };
    xir_network *nets[TIMES + 1] = { net };
    run_pass(net, "deepx-to-xir", "strict");
    const bool runs = !xir_op_output_count(xir_network_input_op(net)) &&
        xir_op_input_count(xir_network_output_op(net)) > 0;
    for (size_t i = 0; i < TIMES && runs; i++) {
        xir_network *calls = xir_network_clone(nets[i]);
        run_pass(calls, "xir-to-deepx", "strict,delete=true");
        texts[i] = text_of(calls);
        nets[i + 1] = deepx_through_text(calls);
        if (!nets[i + 1]) xir_diags_print(why, stderr);
        assert_non_null(nets[i + 1]);
        run_pass(nets[i + 1], "deepx-to-xir", "strict");
        gives_the_same(net, nets[i + 1], name);
        if (i && (strcmp(texts[i], texts[i - 1]) != 0 || !xir_network_equal(nets[i + 1], nets[i], true)))
            fail_msg("%s: time %zu:\n%s\nand then\n%s", name, i, texts[i - 1], texts[i]);
        xir_network_free(calls);
    }
    tried += runs;
    inputs_missing += !runs;
    for (size_t i = 0; i < TIMES; i++) free(texts[i]);
    for (size_t i = 0; i <= TIMES; i++) xir_network_free(nets[i]);
}

static void programs_are_equal_from_the_second_time_on(void **state) {
    (void)state;
    tried = 0;
    for (size_t i = 0; i < COUNT(programs); i++) again_and_again(as_network(programs[i].text, NULL), programs[i].text);
    for (size_t i = 0; i < COUNT(bools); i++) again_and_again(as_network(bools[i].text, NULL), bools[i].text);
    assert_int_equal(tried, COUNT(programs) + COUNT(bools));
}

static void each_program_of_the_corpus(void (*each)(xir_network *, const char *), size_t least) {
    static const char *const patterns[] = { "%s/deepx/trace_*.ir", "%s/deepx/values/*.ir" };
    const char *corpus = getenv("XIR_CORPUS");
    if (!corpus) skip();
    tried = inputs_missing = 0;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        char pattern[400];
        glob_t found;
        snprintf(pattern, sizeof pattern, patterns[i], corpus);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++) each(as_network(NULL, found.gl_pathv[k]), found.gl_pathv[k]);
        globfree(&found);
    }
    print_message("%zu programs, %zu without results or with inputs\n", tried, inputs_missing);
    assert_true(tried >= least);
}

static void those_of_the_corpus_too(void **state) {
    (void)state;
    each_program_of_the_corpus(again_and_again, 80);
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static void keeps_its_results(xir_network *net, const char *name) {
    xir_network *before = xir_network_clone(net);
    run_pass(before, "deepx-to-xir", "strict");
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    assert_non_null(pipeline);
    assert_int_equal(xir_pipeline_run(pipeline, net, &settings, NULL, why), XIR_OK);
    xir_pipeline_free(pipeline);
    const bool runs = !xir_op_output_count(xir_network_input_op(before));
    if (runs) gives_the_same(before, net, name);
    tried += runs;
    inputs_missing += !runs;
    xir_network_free(before);
    xir_network_free(net);
}

/* A pass over the calls themselves, before they are converted. */
static void cleaned(xir_network *net, const char *name) {
    xir_network *before = xir_network_clone(net);
    run_pass(net, "cse", NULL);
    run_pass(net, "fold", NULL);
    run_pass(net, "dce", NULL);
    char *text = text_of(net);
    free(text);
    run_pass(before, "deepx-to-xir", "strict");
    run_pass(net, "deepx-to-xir", "strict");
    if (!xir_op_output_count(xir_network_input_op(before))) gives_the_same(before, net, name), tried++;
    xir_network_free(before);
    xir_network_free(net);
}

static void passes_keep_what_a_program_gives(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(programs); i++) {
        keeps_its_results(as_network(programs[i].text, NULL), programs[i].text);
        cleaned(as_network(programs[i].text, NULL), programs[i].text);
    }
}

static void those_of_the_corpus_keep_it_too(void **state) {
    (void)state;
    each_program_of_the_corpus(keeps_its_results, 80);
    each_program_of_the_corpus(cleaned, 80);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_equal_from_the_second_time_on),
        cmocka_unit_test(those_of_the_corpus_too),
        cmocka_unit_test(passes_keep_what_a_program_gives),
        cmocka_unit_test(those_of_the_corpus_keep_it_too),
    };
    return _cmocka_run_group_tests("deepx_again", tests, COUNT(tests), group_begin, group_end);
}
