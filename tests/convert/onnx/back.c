/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way to ONNX and back: every case of the executor's tables (tests/exec), and of onnx/back.txt, is an op of XIR. As
 * a network it becomes operators of ONNX, of several versions of the operator set, in which ONNX's own rules find no
 * fault. They become ops of XIR again, which compute the same. ONNX_BACK=1 prints for each class how many cases are
 * converted to versions 13 and 21, and why the first one is not; ONNX_STAYS=1 prints each case that is not
 * converted. */
#include <xir/convert.h>
#include "convert/way_back.h"
#include "support/often.h"
#include "support/story.h"

/* Under a sanitizer the first ones: the oldest, those that the summary counts, and the newest. */
static const int versions[] = { 11, 13, 21, 23, 12, 15, 17, 18 };
enum { SANITIZED_VERSIONS = 4, VERSIONS = IS_SANITIZED ? SANITIZED_VERSIONS : COUNT(versions) };

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
    way_each("convert/onnx/back.txt", each, &counts);
    way_summary("ONNX_BACK", totals);
    printf("%zu classes: %zu become operators of version 13, %zu of version 21\n", way_n_classes, totals[0],
           totals[1]);
    assert_true(totals[0] >= 125 && totals[1] >= 126);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

/* ---- versions --------------------------------------------------------------------------------------------------- */

static int64_t version_of(const xir_network *net) {
    const xir_any *opset = xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset"));
    assert_true(opset && opset->kind == XIR_ANY_MAP && opset->as.map.size == 1);
    return opset->as.map.entries[0].value.as.integer;
}

static void the_version_is_that_of_the_option(void **state) {
    (void)state;
    static const struct { const char *options; int64_t version; xir_status status; } cases[] = {
        { "", 13, XIR_OK },          { "opset=11", 11, XIR_OK },       { "opset=23", 23, XIR_OK },
        { "opset=10", 0, XIR_E_BOUNDS }, { "opset=24", 0, XIR_E_BOUNDS }, { "opset=-1", 0, XIR_E_BOUNDS },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = story_net("x: 2 3; y = Softmax x; out y");
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-onnx", cases[i].options, NULL, why), cases[i].status);
        if (!cases[i].status) {
            assert_int_equal(version_of(net), cases[i].version);
            xir_diags_clear(why);   /* operators keep their version */
            assert_int_equal(xir_pass_run(net, "xir-to-onnx", "", NULL, why), XIR_OK);
            assert_int_equal(version_of(net), cases[i].version);
            const char *other = cases[i].version == 11 ? "opset=13" : "opset=11";   /* where Softmax is another one */
            assert_int_equal(xir_pass_run(net, "xir-to-onnx", other, NULL, why), XIR_E_INVALID);
            assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "a Softmax of version"));
        }
        xir_network_clear_status(net);
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* Without the option, it is that of the source, as far as the way back knows it, or a newer one that ops need. */
static void the_version_is_that_of_the_source(void **state) {
    (void)state;
    static const struct { int64_t source; const char *text; int64_t version; } cases[] = {
        { 17, "x: 2 3; y = ReLU x; out y", 17 },
        { 11, "x: 2 3; y = ReLU x; out y", 11 },
        { 9,  "x: 2 3; y = ReLU x; out y", 11 },
        { 23, "x: 2 3; y = ReLU x; out y", 23 },
        { 24, "x: 2 3; y = ReLU x; out y", 23 },
        { 14, "x: NCHW 1 2 3 4; g: NHWC 1 2 2 2; y = GridSample x g; out y", 16 },
        { 18, "x: NCHW 1 2 3 4; g: NHWC 1 2 2 2; y = GridSample x g; out y", 18 },
        /* operators that stay are the same in a version that an op needs */
        { 14, "x: NCHW 1 2 3 4; g: NHWC 1 2 2 2; y = GridSample x g; z = onnx::Relu y; out z", 16 },
        { 24, "x: 2 3; y = onnx::Relu x; z = ReLU y; out z", 24 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = story_net(cases[i].text);
        const xir_entry entry = { XIR_STR(""), xir_any_int(cases[i].source) };
        const xir_any map = xir_any_map(&entry, 1);
        DOES(xir_network_set_tag(net, XIR_STR("onnx.opset"), &map));
        DOES(xir_pass_run(net, "xir-to-onnx", "", NULL, why));
        if (version_of(net) != cases[i].version) fail_msg("case %zu: version %lld", i, (long long)version_of(net));
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* A version that an op needs is refused if an operator that stays means something else there. */
static void a_version_in_which_an_operator_differs(void **state) {
    (void)state;
    static const struct { int64_t source; const char *text, *part; } cases[] = {
        { 12, "x: NCHW 1 2 3 4; g: NHWC 1 2 2 2; y = GridSample x g; z = onnx::Softmax y; out z",
          "opset: a Softmax of version 12 means something else in version 16, or nothing" },
        { 14, "x: NCHW 1 2 3 4; g: NHWC 1 2 2 2; y = onnx::Clip x [max=1.5]; z = GridSample y g; out z",
          "opset: a Clip of version 14 means something else in version 16, or nothing" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = story_net(cases[i].text);
        const xir_entry entry = { XIR_STR(""), xir_any_int(cases[i].source) };
        const xir_any map = xir_any_map(&entry, 1);
        DOES(xir_network_set_tag(net, XIR_STR("onnx.opset"), &map));
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-onnx", "", NULL, why), XIR_E_INVALID);
        const char *found = xir_diags_at(why, 0)->message.data;
        if (!strstr(found, cases[i].part)) fail_msg("case %zu: %s", i, found);
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* Without the option and a source, it is the least from 13 on that has operators for all ops. */
static void the_version_is_what_ops_need(void **state) {
    (void)state;
    static const struct { const char *text; int64_t version; } cases[] = {
        { "x: 2 3; y = ReLU x; out y", 13 },
        { "x: NCHW 1 2 3 4; g: NHWC 1 2 2 2; y = GridSample x g; out y", 16 },
        { "x: NCDHW 1 2 3 3 4; g: NDHWC 1 2 2 2 3; y = GridSample x g; out y", 20 },
        { "x: 2 0 3; y = Reshape x [shape=0,6 layout=@layout(**)]; out y", 14 },
        { "x: 0 3; y = Reshape x [shape=0,3 layout=@layout(**)]; out y", 13 },
        { "x: 3 2; i: sint64 2 1; u: 2 2; y = ScatterND x i u [reduction=ADD]; out y", 16 },
        { "x: 3 2; i: sint64 2 1; u: 2 2; y = ScatterND x i u [reduction=MAX]; z = ReLU y; out z", 18 },
        { "x: 3 2; i: sint64 2 1; u: 2 2; y = ScatterND x i u; out y", 13 },
        { "x: sint4 2 3; y = Reshape x [shape=6 layout=@layout(*)]; out y", 21 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = story_net(cases[i].text);
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "xir-to-onnx", "strict", NULL, why), XIR_OK);
        if (version_of(net) != cases[i].version)
            fail_msg("%s: expected %lld, found %lld", cases[i].text, (long long)cases[i].version,
                     (long long)version_of(net));
        xir_network_free(net);
    }
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

/* The network of a case of an operation, as operators of version 17. */
static xir_network *operators_of(op_case *c, const char *text) {
    static op_counts counts;
    counts.out = stderr;
    if (!op_case_begin(c, text, "back.c", __LINE__, &counts)) fail_msg("%s: %s", text, c->t.fault);
    const xir_op *op = op_case_add(c);
    assert_non_null(op);
    assert_non_null(xir_output(xir_at_end(c->net), XIR_VALUES(xir_op_output(op, 0))));
    xir_diags_clear(why);
    if (xir_pass_run(c->net, "xir-to-onnx", "opset=17,strict", NULL, why))
        fail_msg("%s: %s", text, way_first_message());
    return c->net;
}

static const char *element_word(const xir_type *element, char out[16]) {
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const unsigned bits = (unsigned)xir_type_storage_bits(element);
    if (whole) snprintf(out, 16, "%c%u", whole->sign ? 'i' : 'u', bits);
    else snprintf(out, 16, "%s%u", real && real->format == XIR_FLOAT_BF16 ? "bf" : real ? "fp" : "other ", bits);
    return out;
}

/* ONNX Runtime has no kernels of these operators for all elements that the standard lets them take: they compute with
 * wider ones. */
static void operators_have_elements_with_kernels(void **state) {
    (void)state;
    static const struct { const char *text, *key; int64_t input; const char *element; } cases[] = {
        { "Where(u32 - 2 = 1 2, u32 - 2 = 3 4, bool - 2 = 1 0) -> u32 - 2",      "Where",     1, "i32" },
        { "Where(u64 - 2 = 1 2, u64 - 2 = 3 4, bool - 2 = 1 0) -> u64 - 2",      "Where",     1, "i64" },
        { "Where(i16 - 2 = 1 2, i16 - 2 = 3 4, bool - 2 = 1 0) -> i16 - 2",      "Where",     1, "i32" },
        { "Where(bool - 2 = 1 0, bool - 2 = 0 1, bool - 2 = 1 0) -> bool - 2",   "Where",     1, "i32" },
        { "Where(u8 - 2 = 1 2, u8 - 2 = 3 4, bool - 2 = 1 0) -> u8 - 2",         "Where",     1, "u8" },
        { "Add(i8 - 2 = 100 1, i8 - 2 = 100 2) -> i8 - 2",                       "Add",       0, "i32" },
        { "Add(u64 - 2 = 1 2, u64 - 2 = 3 4) -> u64 - 2",                        "Add",       0, "i64" },
        { "Div(u64 - 2 = 9 18446744073709551615, param u64 - 2 = 2 1) rounding_mode=TRUNC -> u64 - 2", "BitShift", 0, "u64" },
        { "Less(u32 - 2 = 1 2, u32 - 2 = 3 4) -> bool - 2",                      "Less",      0, "i64" },
        { "Maximum(i8 - 2 = 1 2, i8 - 2 = 3 4) -> i8 - 2",                       "Max",       0, "i32" },
        { "ClampScalar(i16 - 2 = 1 2) min=0 max=1 -> i16 - 2",                   "Clip",      0, "i32" },
        { "Pad(u16 * 2 = 1 3) padding=[1,1] -> u16 * 4",                         "Pad",       0, "i32" },
        { "Neg(i16 - 2 = 1 -2) -> i16 - 2",                                      "Neg",       0, "i32" },
        { "Sum(u32 - 2 = 1 2) dim=[0] -> u32 - -",                               "ReduceSum", 0, "i32" },
        { "Resize(u16 NCHW 1x1x1x2 = 1 2) dsize=[1,4] interpolation=INTER_NEAREST -> u16 NCHW 1x1x1x4",
          "Resize", 0, "i32" },
        { "Exp(bf16 - 2 = 1 2) -> bf16 - 2",                                     "Exp",       0, "fp32" },
        { "Tile(bf16 - 2 = 1 2) dims=[2] -> bf16 - 4",                           "Tile",      0, "fp32" },
        { "Reshape(bf16 - 2 = 1 2) shape=[1,2] layout=@layout(**) -> bf16 ** 1x2", "Reshape", 0, "bf16" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_case c;
        char key[40], element[16] = "no operator";
        const xir_network *net = operators_of(&c, cases[i].text);
        snprintf(key, sizeof key, "onnx::%s", cases[i].key);
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            if (!xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(key))) continue;
            element_word(xir_type_element(xir_value_type(xir_op_input(op, cases[i].input))), element);
        }
        if (strcmp(element, cases[i].element) != 0)
            fail_msg("%s: expected %s, found %s", cases[i].text, cases[i].element, element);
        op_case_end(&c);
    }
}

/* The letters of a Cast may also say that axes change places. */
static void casts_that_move_elements_become_two_operators(void **state) {
    (void)state;
    static const struct { const char *text; size_t transposes, casts; } cases[] = {
        { "Cast(fp32 NHWC 1x2x2x3 = 1 2 3 4 5 6 7 8 9 10 11 12) target_dtype=(i32 NCHW 1x3x2x2) -> i32 NCHW 1x3x2x2", 1, 1 },
        { "Cast(fp32 NHWC 1x2x2x2 = 1 2 3 4 5 6 7 8) target_dtype=(fp32 NCHW 1x2x2x2) -> fp32 NCHW 1x2x2x2",          1, 0 },
        { "Cast(fp32 NHWC 1x2x2x2 = 1 2 3 4 5 6 7 8) target_dtype=(i32 NHWC 1x2x2x2) -> i32 NHWC 1x2x2x2",            0, 1 },
        { "Cast(fp32 NHWC 1x2x2x2 = 1 2 3 4 5 6 7 8) target_dtype=(i32 **** 1x2x2x2) -> i32 **** 1x2x2x2",            0, 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_case c;
        size_t transposes = 0, casts = 0;
        const xir_network *net = operators_of(&c, cases[i].text);
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            transposes += xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Transpose"));
            casts += xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Cast"));
        }
        if (transposes != cases[i].transposes || casts != cases[i].casts)
            fail_msg("%s: found %zu Transposes and %zu Casts", cases[i].text, transposes, casts);
        op_case_end(&c);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

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
    CHECK_STR(seen[3], "d");   /* that of its result */
    CHECK_STR(seen[4], "n.3");
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
        cmocka_unit_test(the_version_is_that_of_the_option),
        cmocka_unit_test(the_version_is_that_of_the_source),
        cmocka_unit_test(a_version_in_which_an_operator_differs),
        cmocka_unit_test(the_version_is_what_ops_need),
        cmocka_unit_test(operators_have_elements_with_kernels),
        cmocka_unit_test(casts_that_move_elements_become_two_operators),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(names_of_operators_are_unique),
    };
    return _cmocka_run_group_tests("onnx_back", tests, COUNT(tests), group_begin, group_end);
}
