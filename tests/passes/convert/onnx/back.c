/* The way to ONNX and back: every case of the executor's tables (tests/exec), and of onnx/back.txt, is an op of XIR. As
 * a network it becomes operators of ONNX, of several versions of the operator set, in which ONNX's own rules find no
 * fault. They become ops of XIR again, which compute the same. ONNX_BACK=1 prints for each class how many cases are
 * converted to versions 13 and 21, and why the first one is not; ONNX_STAYS=1 prints each case that is not
 * converted. */
#include <xir/convert.h>
#include "passes/convert/way_back.h"
#include "support/often.h"
#include "support/story.h"

/* Under a sanitizer the first ones: the oldest, and those that the summary counts. */
static const int versions[] = { 11, 13, 21, 12, 15, 17, 18 };
enum { SANITIZED_VERSIONS = 3, VERSIONS = IS_SANITIZED ? SANITIZED_VERSIONS : COUNT(versions) };

/* The same through a file: what is read from it is written to an equal one, and computes the same. Files have no
 * tensors of some types. */
static void through_file(way_case *w, xir_network *net, const char *how) {
    xir_network *once, *twice;
    xir_diags_clear(why);
    if (!(once = way_through_file(net, "onnx", NULL))) {
        const bool none = strstr(way_first_message(), "that ONNX does not have") != NULL;
        if (!none) op_case_fail(&w->c, "a file", "%s%s", way_first_message(), how);
        return;
    }
    xir_diags_clear(why);
    twice = way_through_file(once, "onnx", xir_dialect_check);
    if (!twice || !xir_network_equal(once, twice, true))
        op_case_fail(&w->c, "an equal file", "%s%s", way_first_message(), how);
    xir_network_free(twice);
    xir_diags_clear(why);
    const bool back = !xir_pass_run(once, "onnx-to-xir", "strict", NULL, why) && way_is_whole(once, false);
    if (!back) op_case_fail(&w->c, "ops of XIR from a file", "%s%s", way_first_message(), how);
    else way_compute(&w->c, NULL, once, w->in, way_input_stored, way_stored, how);
    xir_network_free(once);
}

/* In the first column of a class are cases that are converted to version 13, in the second those to 21. */
static void convert(way_case *w, int version) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net);
    char how[60], options[24];
    snprintf(how, sizeof how, ", version %d%s", version, w->how);
    snprintf(options, sizeof options, "opset=%d", version);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-onnx", options, NULL, why), XIR_OK);
    if (!way_is_whole(net, true)) {
        if (getenv("ONNX_STAYS")) printf("%s%s: %s\n", w->c.text, how, way_first_message());
        if (version == 13 || version == 21) way_reason(t, version == 21, way_first_message());
    } else {
        if (version == 13 || version == 21) t->count[version == 21]++;
        xir_diags_clear(why);
        const bool sound = xir_network_validate(net, why) == XIR_OK && xir_dialect_check(net, why) == XIR_OK;
        if (!sound) op_case_fail(&w->c, "sound operators", "%s%s", way_first_message(), how);
        if (sound) through_file(w, net, how);
        xir_diags_clear(why);
        const bool back = sound && !xir_pass_run(net, "onnx-to-xir", "strict", NULL, why) && way_is_whole(net, false);
        if (sound && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), how);
        if (back) way_compute(&w->c, NULL, net, w->in, way_input_stored, way_stored, how);
    }
    xir_network_free(net);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        for (size_t i = 0; w.op && i < VERSIONS; i++) convert(&w, versions[i]);
        counts->good += w.op != NULL;
        way_case_end(&w);
    }
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("passes/convert/onnx/back.txt", each, &counts);
    way_summary("ONNX_BACK", totals);
    printf("%zu classes: %zu become operators of version 13, %zu of version 21\n", way_n_classes, totals[0],
           totals[1]);
    assert_true(totals[0] >= 125 && totals[1] >= 126);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

/* ---- numbers that operators do not take ------------------------------------------------------------------------- */

static void very_large_windows_stay(void **state) {
    (void)state;
    static const struct { const char *op, *attributes; } cases[] = {
        { "MaxPool2d",       "pool_height=2 pool_width=2 stride_height=4611686018427387904" },
        { "MaxPool2d",       "pool_height=2 pool_width=2 stride_width=2147483648" },
        { "AvgPool2d",       "pool_height=2 pool_width=2 stride_height=2147483648" },
        { "AvgPool2d",       "pool_height=2 pool_width=2 stride_height=2147483648 divisor_override=3" },
        { "MaxPool2d",       "pool_height=2147483650 pool_width=2 pad_top=2147483648" },
        { "Conv2d",          "stride_height=2147483648" },
        { "Conv2d",          "dilation_width=2147483648" },
        { "Conv2d",          "stride_height=2147483647 pad_top=2147483648" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        const bool conv = strncmp(cases[i].op, "Conv", 4) == 0;
        snprintf(text, sizeof text, "x: NHWC 1 4 4 2; w: params HWIO 1 1 2 3; y = %s x%s [%s]; out y", cases[i].op,
                 conv ? " w" : "", cases[i].attributes);
        xir_network *net = story_net(text);
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-onnx", "", NULL, why), XIR_OK);
        assert_false(way_is_whole(net, true));
        assert_non_null(strstr(way_first_message(), "very large windows"));
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* ---- versions and names ----------------------------------------------------------------------------------------- */

static int64_t version_of(const xir_network *net) {
    const xir_any *opset = xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset"));
    assert_true(opset && opset->kind == XIR_ANY_MAP && opset->as.map.size == 1);
    return opset->as.map.entries[0].value.as.integer;
}

static void the_version_is_that_of_the_option(void **state) {
    (void)state;
    static const struct { const char *options; int64_t version; xir_status status; } cases[] = {
        { "", 13, XIR_OK },          { "opset=11", 11, XIR_OK },       { "opset=21", 21, XIR_OK },
        { "opset=10", 0, XIR_E_BOUNDS }, { "opset=22", 0, XIR_E_BOUNDS }, { "opset=-1", 0, XIR_E_BOUNDS },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = story_net("x: 2 3; y = ReLU x; out y");
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-onnx", cases[i].options, NULL, why), cases[i].status);
        if (!cases[i].status) {
            assert_int_equal(version_of(net), cases[i].version);
            xir_diags_clear(why);   /* operators keep their version */
            assert_int_equal(xir_pass_run(net, "xir-to-onnx", "", NULL, why), XIR_OK);
            assert_int_equal(version_of(net), cases[i].version);
            assert_int_equal(xir_pass_run(net, "xir-to-onnx", "opset=12", NULL, why), XIR_E_INVALID);
        }
        xir_network_clear_status(net);
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* Results that are constants, or twice the same value, are values of their own; all names differ. */
static void names_are_unique(void **state) {
    (void)state;
    xir_network *net = story_net("x: NCHW 1 2 4 4; w: params 4 2; u: 3 4; l = Matmul u w; s = Sum u [dim=1];"
                                 "m = MaxPool2d x [pool_height=2 pool_width=2]; out l w l s m");
    xir_str seen[64];
    size_t n = 0;
    assert_int_equal(xir_pass_run(net, "xir-to-onnx", "strict", NULL, why), XIR_OK);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++, n++) {
            assert_true(n < COUNT(seen));
            seen[n] = xir_value_name(xir_op_output(op, (int64_t)i));
        }
    }
    const xir_op *output = xir_network_output_op(net);
    for (size_t i = 0; i < xir_op_input_count(output); i++) {
        const xir_value *v = xir_op_input(output, (int64_t)i);
        assert_false(xir_value_is_params(v));
        for (size_t k = 0; k < i; k++) assert_ptr_not_equal(v, xir_op_input(output, (int64_t)k));
    }
    CHECK_STR(xir_value_name(xir_op_input(output, 0)), "l");
    CHECK_STR(xir_value_name(xir_op_input(output, 1)), "w");
    CHECK_STR(xir_value_name(xir_op_output(xir_network_input_op(net), 0)), "x");
    for (size_t i = 0; i < n; i++) {
        assert_true(seen[i].size);
        for (size_t k = 0; k < i; k++) assert_false(xir_str_equal(seen[i], seen[k]));
    }
    xir_network_free(net);
}

/* The operators that one op becomes, and ops of one name, have names of their own; the first keeps it. */
static void names_of_operators_are_unique(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Sigmoid a; c = Tanh b; d = Exp c; e = Abs d; out e");
    static const char *const given[] = { "n", "n", "n.1", "", "n" };
    xir_str seen[16];
    size_t n = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (op == xir_network_input_op(net) || op == xir_network_output_op(net)) continue;
        assert_true(n < COUNT(given));
        assert_int_equal(xir_op_set_name(op, xir_str_of(given[n++])), XIR_OK);
    }
    assert_int_equal(n, COUNT(given));
    assert_int_equal(xir_pass_run(net, "xir-to-onnx", "strict", NULL, why), XIR_OK);
    n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (op == xir_network_input_op(net) || op == xir_network_output_op(net)) continue;
        assert_true(n < COUNT(seen));
        seen[n++] = xir_op_name(op);
        for (size_t k = 0; seen[n - 1].size && k + 1 < n; k++) assert_false(xir_str_equal(seen[n - 1], seen[k]));
    }
    assert_int_equal(n, 5);
    CHECK_STR(seen[0], "n");
    CHECK_STR(seen[1], "n.2");
    CHECK_STR(seen[2], "n.1");
    CHECK_STR(seen[3], "");
    CHECK_STR(seen[4], "n.3");
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
        cmocka_unit_test(very_large_windows_stay),
        cmocka_unit_test(the_version_is_that_of_the_option),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(names_of_operators_are_unique),
    };
    return _cmocka_run_group_tests("onnx_back", tests, COUNT(tests), group_begin, group_end);
}
