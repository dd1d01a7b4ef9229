/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The types of nodes that are not converted: ONNX's own rules, so that what follows is converted, and the report about
 * such nodes. The rules are compared with what ONNX recorded for each of its operator tests, also of operators that are
 * converted. */
#include <stdio.h>
#include <string.h>
#include <xir/array.h>
#include <xir/convert.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include <xir/symbols.h>
#include "walk/walk.h"
#include "onnx/onnx.h"
#include "convert/model.h"
#include "support/onnx_data.h"
#include "support/onnx_tests.h"
#include "support/skips.h"
#include "support/story.h"

static xir_network *net;

static xir_network *read_model(void) {
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_diags_clear(why);
    xir_network *made = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    if (!made) xir_diags_print(why, stderr);
    assert_non_null(made);
    return made;
}

static void convert(void) {
    net = read_model();
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", NULL, NULL, why), XIR_OK);
    assert_int_equal(xir_network_validate(net, NULL), XIR_OK);
}

/* Compares all findings, one per line. */
static void check_report(const char *expected) {
    static char text[4000];
    size_t n = 0;
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? "\n" : "", (int)d->message.size,
                              d->message.data);
    }
    assert_string_equal(text, expected);
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static void what_follows_is_converted(void **state) {
    (void)state;
    static const float weights[60] = { 1 };
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 3, 8, 8));
    om_input(&m, "regions", ONNX_FLOAT, OM_DIMS(5, 4));
    om_input(&m, "of", ONNX_INT64, OM_DIMS(5));
    om_floats(&m, "w", OM_DIMS(12, 5), weights, 60);
    om_node(&m, "RoiAlign", "regions", "x,regions,of", "r");
    om_int(&m, "sampling_ratio", 2000);
    om_int(&m, "output_height", 2);
    om_int(&m, "output_width", 2);
    om_node(&m, "Flatten", "flat", "r", "f");
    om_node(&m, "Gemm", "fc", "f,w", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(5, 5));
    convert();
    CHECK_STORY(net, "r = onnx::RoiAlign x regions of; f = Reshape r [shape=5,12 layout=@layout(**)]; "
                     "y = Matmul f w; out y");
    check_report("to-xir: RoiAlign 'regions' (node 0): not converted: 2000 samples\n"
                 "to-xir: 1 of 3 nodes is not converted, for 1 reason");
    size_t changes = 1;
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", NULL, &changes, why), XIR_OK);
    assert_int_equal(changes, 0);
    xir_network_free(net);
}

static void declared_dims_that_are_unknown_become_known(void **state) {
    (void)state;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(7, 8, 8));
    om_node(&m, "Det", "det", "x", "y");
    om_value(&m, "y", ONNX_FLOAT, OM_DIMS(-1));
    om_node(&m, "Exp", "exp", "y", "z");
    om_output(&m, "z", ONNX_FLOAT, OM_DIMS(-1));
    convert();
    assert_int_equal(xir_type_dim(xir_value_type(story_value(net, "z")), 0, false), 7);
    xir_network_free(net);
}

/* An expression of an input's dim is one of the output's. */
static void names_of_dims_go_through(void **state) {
    (void)state;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2, 8, 8));
    om_node(&m, "Det", "det", "x", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    net = read_model();
    xir_value *x = story_value(net, "x");
    const xir_str dims[] = { XIR_STR("batch + 1"), XIR_STR("8"), XIR_STR("8") };
    const xir_type *type = xir_network_type_with_dims(net, xir_value_type(x), dims, 3, why);
    assert_non_null(type);
    DOES(xir_value_set_type(x, type));
    assert_int_equal(xir_pass_run(net, "onnx-to-xir", NULL, NULL, why), XIR_OK);
    char text[40];
    xir_type_dim_text(xir_value_type(story_value(net, "y")), 0, text, sizeof text);
    assert_string_equal(text, "batch + 1");
    xir_network_free(net);
}

/* Nothing is known about the output of an operator of another domain; a declared type is trusted. */
static void causes_come_first_with_what_waits_for_them(void **state) {
    (void)state;
    om_opset(&m, "", 17);
    om_opset(&m, "com.example", 1);
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 8, 8));
    om_node(&m, "Det", "d", "x", "a");
    om_node(&m, "com.example.Foo", "foo", "x", "b");
    om_node(&m, "Relu", "r1", "b", "c");
    om_node(&m, "com.example.Bar", "bar", "x", "e");
    om_node(&m, "Tanh", "t1", "e", "f");
    om_node(&m, "Tanh", "t2", "f", "g");
    om_node(&m, "Add", "add", "g,c", "h");
    om_node(&m, "com.example.Bar", "typed", "x", "i");
    om_value(&m, "i", ONNX_FLOAT, OM_DIMS(1, 8, 8));
    om_node(&m, "Abs", "abs", "i", "y");
    om_output(&m, "a", ONNX_FLOAT, OM_DIMS(1));
    om_output(&m, "h", ONNX_FLOAT, OM_NO_RANK);
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1, 8, 8));
    convert();
    check_report("to-xir: Bar 'bar' (node 3): not converted, nor is 1 more of its type, nor 3 that wait for them: XIR has "
                 "no known equivalent\n"
                 "to-xir: Foo 'foo' (node 1): not converted, nor is 1 that waits for it: XIR has no known equivalent\n"
                 "to-xir: Det 'd' (node 0): not converted: matrices of 8 rows\n"
                 "to-xir: 8 of 9 nodes are not converted, for 3 reasons");
    xir_network_free(net);
}

/* ---- networks that are converted in part ------------------------------------------------------------------------ */

static bool same_elements(xir_node *at) {
    return xir_node_becomes(at, "ReLU", XIR_VALUES(xir_node_input(at, 0)), XIR_NO_SETS);
}
static const xir_convert_row late[] = {
    { XIR_CONVERT_HEAD, "onnx::com.example.Late", "1", "1", "", "ReLU", NULL, same_elements },
};

/* x.reshape(x.shape[0] * x.shape[1], -1) of a value whose dims are known when its operator is. */
static void shape_arithmetic(void) {
    static const int64_t zero[] = { 0 }, one[] = { 1 }, rest[] = { -1 };
    om_opset(&m, "", 17);
    om_opset(&m, "com.example", 1);
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2, 3, 4, 5));
    om_int64s(&m, "zero", OM_DIMS(1), zero, 1);
    om_int64s(&m, "one", OM_DIMS(1), one, 1);
    om_int64s(&m, "rest", OM_DIMS(1), rest, 1);
    om_node(&m, "com.example.Late", "late", "x", "h");
    om_value(&m, "h", ONNX_FLOAT, OM_DIMS(-1, -2, 4, 5));
    om_node(&m, "Shape", "shape", "h", "s");
    om_node(&m, "Gather", "batch", "s,zero", "n");
    om_node(&m, "Gather", "channels", "s,one", "c");
    om_node(&m, "Mul", "times", "n,c", "p");
    om_node(&m, "Concat", "to", "p,rest", "d");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "reshape", "h,d", "r");
    om_node(&m, "Shape", "again", "r", "t");
    om_node(&m, "Exp", "exp", "r", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    om_output(&m, "t", ONNX_INT64, OM_NO_RANK);
}

/* The rows of the first conversion are those of a context without the late one. */
static void converting_the_rest_gives_what_converting_at_once_gives(void **state) {
    (void)state;
    shape_arithmetic();
    convert();
    assert_true(xir_network_is_dialect(net));
    xir_network *parts = net;
    char *half = picture(parts);
    size_t changes = 1;
    assert_int_equal(xir_pass_run(parts, "onnx-to-xir", NULL, &changes, why), XIR_OK);   /* and nothing again */
    assert_int_equal(changes, 0);
    char *again = picture(parts);
    assert_string_equal(half, again);
    DOES(xir_convert_register(ctx, late, COUNT(late), why));
    assert_int_equal(xir_pass_run(parts, "onnx-to-xir", NULL, &changes, why), XIR_OK);
    convert();   /* at once */
    char *once = story_text(net), *twice = story_text(parts);
    assert_string_equal(once, twice);
    CHECK_STORY(net, "h = ReLU x; r = Reshape h [shape=6,-1 layout=@layout(**)]; y = Exp r; out y t");
    free(half);
    free(again);
    free(once);
    free(twice);
    xir_network_free(parts);
    xir_network_free(net);
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static struct { size_t outputs, known, open, untyped, twice; } total;
static char untyped[2000], open_types[2000];

static void note_type(char *list, xir_str type) {
    char word[80];
    snprintf(word, sizeof word, " %.*s ", (int)type.size, type.data);
    if (!strstr(list, word)) strcat(*list ? list + strlen(list) - 1 : list, word);
}

/* The result of a pipeline, which must succeed; its number of changes. */
static size_t optimised(xir_network *model) {
    size_t changes = 0;
    const xir_pass_row *row;
    xir_pass_report *report = xir_pass_report_new(ctx);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    assert_non_null(report);
    assert_int_equal(xir_pipeline_run(pipeline, model, NULL, report, why), XIR_OK);
    for (size_t i = 0; (row = xir_pass_report_at(report, i)); i++) changes += row->changes;
    xir_pipeline_free(pipeline);
    xir_pass_report_free(report);
    return changes;
}

/* The default pipeline leaves nothing for itself to do, also where nodes stay. */
static void optimise_twice(const char *folder, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    xir_network *model = xir_network_load(ctx, path, NULL, NULL);
    if (model) (void)optimised(model);
    if (model && xir_network_is_dialect(model)) {
        char *once = picture(model);
        total.twice++;
        if (optimised(model)) fail_msg("%s: there is something left to do", name);
        char *twice = picture(model);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
    }
    xir_network_free(model);
}

static void nothing_is_left_to_do(void **state) {
    (void)state;
    onnx_each_test(optimise_twice);
    if (total.twice == 0) SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", onnx_tests_folder());
    print_message("ONNX: %zu models with nodes that are not converted\n", total.twice);
}

/* Compares the type that the rules give to an output with the recorded elements. */
static void compare_output(const xir_node *at, size_t i, const char *name, pb_bytes recorded) {
    char why_not[200];
    xir_array *array = onnx_array(ctx, recorded, NULL, why_not);
    const xir_type *type = xir_value_type(xir_op_output(at->op, (int64_t)i));
    if (!array) return;
    total.outputs++;
    const xir_type *expected = xir_array_type(array);
    const bool bf16 = type && xir_type_equal(xir_type_element(type), xir_type_float(ctx, XIR_FLOAT_BF16));
    if (!type) {
        total.untyped++;
        note_type(untyped, at->cls->type);
    } else if (xir_type_rank(type) != xir_type_rank(expected) ||
               (!bf16 && !xir_type_equal(xir_type_element(type), xir_type_element(expected)))) {
        fail_msg("%s: output %zu has another rank or other elements", name, i);
    }
    bool open = false;
    for (size_t k = 0; type && k < xir_type_rank(type); k++) {
        const int64_t dim = xir_type_dim(type, (int64_t)k, false), real = xir_type_dim(expected, (int64_t)k, false);
        if (dim >= 0 && dim != real) fail_msg("%s: output %zu: dim %zu is %lld, not %lld", name, i, k, (long long)real,
                                              (long long)dim);
        open |= dim < 0;
    }
    if (open) note_type(open_types, at->cls->type);
    total.open += open;
    total.known += type && !open;
    xir_array_free(array);
}

static void type_model(const char *folder, const char *name) {
    char path[600];
    onnx_files set;
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    xir_diags_clear(why);
    xir_network *model = xir_network_load(ctx, path, NULL, NULL);
    xir_op *op = model && xir_network_op_count(model) == 3 ? xir_network_op_at(model, 1) : NULL;
    onnx_read_set(folder, 0, &set);
    if (op && xir_class_is_dialect(xir_op_class(op)) && set.n_out) {
        onnx_bind_inputs(model, &set, false);
        conversion c;
        budget within = budget_of(&ctx->limits);
        conversion_begin(&c, model, why);
        c.within = &within;
        xir_node at = { .c = &c, .op = op, .cls = conversion_class(&c, xir_op_class(op)),
                        .n_in = xir_op_input_count(op), .n_out = xir_op_output_count(op), .fate = NODE_STAYS };
        while (at.n_in && !xir_op_input(op, (int64_t)at.n_in - 1)) at.n_in--;
        for (size_t i = 0; i < at.n_out; i++) xir_op_output(op, (int64_t)i)->type = NULL;
        onnx_types(&at);
        const xir_op *last = xir_network_op_at(model, 2);
        for (size_t i = 0; i < set.n_out && i < xir_op_input_count(last); i++) {
            for (size_t k = 0; k < at.n_out; k++) {
                if (xir_op_input(last, (int64_t)i) == xir_op_output(op, (int64_t)k)) {
                    compare_output(&at, k, name, set.out[i]);
                }
            }
        }
        assert_int_equal(xir_diags_count(why), 0);
        conversion_end(&c);
    }
    onnx_free_set(&set);
    xir_network_free(model);
}

/* Dims are unknown that depend on data; the first input is not a constant here, even if it is the size of a window.
 * Without a type are constants, elements that XIR does not have, what a graph inside declares, and training. */
static void rules_agree_with_what_was_recorded(void **state) {
    (void)state;
    onnx_each_test(type_model);
    if (total.outputs == 0) SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", onnx_tests_folder());
    print_message("ONNX: %zu outputs; %zu have the recorded type, %zu some unknown dims, %zu no type\n", total.outputs,
                  total.known, total.open, total.untyped);
    assert_string_equal(open_types, " BlackmanWindow  Compress  ConstantOfShape  HammingWindow  HannWindow "
                                    " MelWeightMatrix  NonMaxSuppression  NonZero  Range  Unique ");
    assert_string_equal(untyped, " Adagrad  Adam  Cast  CastLike  Constant  If  Loop  Momentum  OptionalGetElement "
                                 " Scan ");
}

GROUP {
    const struct CMUnitTest tests[] = {
        MODEL_TEST(what_follows_is_converted),
        MODEL_TEST(declared_dims_that_are_unknown_become_known),
        MODEL_TEST(names_of_dims_go_through),
        MODEL_TEST(causes_come_first_with_what_waits_for_them),
        MODEL_TEST(converting_the_rest_gives_what_converting_at_once_gives),
        MODEL_TEST(rules_agree_with_what_was_recorded),
        MODEL_TEST(nothing_is_left_to_do),
    };
    return RUN_GROUP(tests);
}
