/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised numbers on the way to ONNX: each quantised case of cases/cases.txt becomes ops of XIR with quantised types,
 * operators of ONNX of several versions in a file, and ops of XIR again, which compute exactly the same. Then stories:
 * which operators a version has for what, what stays and why, and networks that stay in part. */
#include <xir/convert.h>
#include <xir/quant.h>
#include "cases.h"
#include "convert/way_back.h"
#include "support/story.h"

#define FOLDER XIR_TEST_DATA "/convert/onnx/cases/"

static char line[1 << 16];

static bool runs(xir_network *net, const char *pass, const char *options) {
    xir_diags_clear(why);
    return !xir_pass_run(net, pass, options, NULL, why);
}

static size_t count(const xir_network *net, const char *key) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(key));
    return n;
}

static size_t count_quantised(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            n += xir_type_is_quantized(xir_type_element(xir_value_type(xir_op_output(op, (int64_t)i))));
    return n;
}

/* ---- cases there and back --------------------------------------------------------------------------------------- */

static void run(const xir_network *net, const onnx_case *c, xir_array *out[8], size_t *n_out, const char *how) {
    const xir_array *in[CASE_VALUES];
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) if (!c->values[i].constant) in[n++] = case_array(&c->values[i]);
    *n_out = xir_op_input_count(xir_network_output_op(net));
    assert_true(*n_out <= 8);
    xir_diags_clear(why);
    if (xir_network_run(net, in, n, out, *n_out, NULL, why))
        fail_msg("%s, %s: %s", c->part[0], how, way_first_message());
    while (n > 0) xir_array_free((xir_array *)(uintptr_t)in[--n]);
}

static void check_same(const onnx_case *c, const xir_network *a, const xir_network *b, const char *how) {
    xir_array *x[8], *y[8];
    size_t n, m;
    xir_difference d;
    run(a, c, x, &n, how);
    run(b, c, y, &m, how);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        const bool real = xir_type_kind_of(xir_type_element(xir_array_type(x[i]))) == XIR_TYPE_FLOAT;
        const double most = real ? 1e-5 : 0;
        assert_int_equal(xir_array_compare(x[i], y[i], most, most, &d), XIR_OK);
        if (!d.same_shape || d.count)
            fail_msg("%s, %s: element %zu is %g, then %g", c->part[0], how, d.first, d.a, d.b);
        xir_array_free(x[i]);
        xir_array_free(y[i]);
    }
}

static bool is_quantised_case(const char *text) {
    return strstr(text, "Quant") || strstr(text, "QLinear") || strstr(text, "Integer") || strstr(text, "QGemm");
}

/* DequantizeLinear takes what QuantizeLinear gives, and not a copy of it. */
static void check_pairs(const onnx_case *c, const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (!xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Identity"))) continue;
        const xir_op *from = xir_value_op(xir_op_input(op, 0));
        const bool made = from && xir_str_equal(xir_class_key(xir_op_class(from)), XIR_STR("onnx::QuantizeLinear"));
        for (const xir_use *use = xir_value_uses(xir_op_output(op, 0)); made && use; use = xir_use_next(use)) {
            if (xir_str_equal(xir_class_key(xir_op_class(xir_use_op(use))), XIR_STR("onnx::DequantizeLinear")))
                fail_msg("%s: there is a copy inside of a pair", c->part[0]);
        }
    }
}

static void cases_go_there_and_back(void **state) {
    (void)state;
    static const int versions[] = { 11, 13, 17, 21 };
    FILE *f = fopen(FOLDER "cases.txt", "r");
    size_t cases = 0, kept = 0, types[COUNT(versions)] = { 0 }, had = 0;
    onnx_case c;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (*line == '@') { line[strcspn(line, "\n")] = '\0'; case_define(line); continue; }
        if (!is_quantised_case(line) || !case_read(&c, line)) continue;
        xir_network *net = case_network(&c);
        if (!runs(net, "to-xir", "strict") || !way_is_whole(net, false))
            fail_msg("%s: %s", c.part[0], way_first_message());
        cases++;
        had += count_quantised(net);
        for (size_t i = 0; i < COUNT(versions); i++) {
            char options[40], how[40];
            xir_network *back = xir_network_clone(net);
            snprintf(options, sizeof options, "opset=%d", versions[i]);
            snprintf(how, sizeof how, "version %d", versions[i]);
            if (!runs(back, "xir-to-onnx", options)) fail_msg("%s: %s", c.part[0], way_first_message());
            if (!way_is_whole(back, true)) {
                kept++;
                xir_network_free(back);
                continue;
            }
            check_pairs(&c, back);
            xir_diags_clear(why);
            xir_network *read = way_through_file(back, "onnx", xir_dialect_check);
            if (!read) fail_msg("%s, %s: %s", c.part[0], how, way_first_message());
            if (!runs(read, "to-xir", "strict")) fail_msg("%s, %s: %s", c.part[0], how, way_first_message());
            check_same(&c, net, read, how);
            types[i] += count_quantised(read);
            xir_network_free(read);
            xir_network_free(back);
        }
        xir_network_free(net);
    }
    fclose(f);
    printf("%zu cases with %zu quantised values, %zu stay in a version; afterwards %zu, %zu, %zu, %zu\n", cases, had, kept,
           types[0], types[1], types[2], types[3]);
    assert_true(cases >= 50 && kept * 8 <= cases * COUNT(versions));
    assert_true(types[1] * 4 >= had * 3);   /* the types come back */
    xir_diags_clear(why);
}

/* ---- which operators -------------------------------------------------------------------------------------------- */

/* A network of one case of an operation (support/op_case.h). */
static xir_network *net_of(op_case *c, const char *text) {
    static op_counts counts;
    counts.out = stderr;
    if (!op_case_begin(c, text, "pairs.c", __LINE__, &counts)) fail_msg("%s: %s", text, c->t.fault);
    /* its types need not follow from those of its inputs */
    xir_op *op = xir_network_add(c->net, &XIR_INIT(xir_op_desc,
        .cls = c->cls, .attrs = c->body, .inputs = c->inputs, .n_inputs = c->n_inputs, .types = c->outputs,
        .n_types = c->n_outputs, .name = XIR_STR("op"), .id = XIR_NO_ID));
    if (!op) fail_msg("%s: %s", text, way_first_message());
    assert_non_null(xir_output(xir_at_end(c->net), XIR_VALUES(xir_op_output(op, 0))));
    return c->net;
}

#define SCALED(bits)   #bits "{@scales([axis=-1]0.5)}"
#define CHANNELS       "q8{@scales([axis=-1]0.5,0.25)}"

static void versions_have_their_forms(void **state) {
    (void)state;
    static const struct { const char *text; int version; size_t read, written; } cases[] = {
        { "Cast(" SCALED(q8) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",            11, 1, 0 },
        { "Cast(" SCALED(qu8) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",           11, 1, 0 },
        { "Cast(" SCALED(q32) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",           11, 1, 0 },
        { "Cast(" CHANNELS " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",              12, 0, 0 },   /* axis: 13 */
        { "Cast(" CHANNELS " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",              13, 1, 0 },
        { "Cast(" SCALED(q16) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",           20, 0, 0 },   /* int16: 21 */
        { "Cast(" SCALED(q16) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",           21, 1, 0 },
        { "Cast(" SCALED(q4) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2",            21, 1, 0 },
        { "Cast(fp32 * 2) target_dtype=(" SCALED(q8) " * 2) -> " SCALED(q8) " * 2",  13, 0, 1 },
        { "Cast(fp32 * 2) target_dtype=(" SCALED(q16) " * 2) -> " SCALED(q16) " * 2", 13, 0, 0 },
        { "Quantize(fp32 * 2) target_dtype=(" SCALED(qu8) " * 2) rounding=HALF_EVEN full_range=true -> " SCALED(qu8) " * 2",
          11, 0, 1 },
        { "ReLU(" SCALED(q8) " * 2) alpha=0.5 -> " SCALED(q8) " * 2",                13, 1, 1 },
        { "Transpose(" SCALED(q8) " ** 2x3) dims=[1,0] layout=@layout(**) -> " SCALED(q8) " ** 3x2", 13, 0, 0 },
        { "BitCast(" SCALED(q8) " * 2) target_dtype=(i8 * 2) -> i8 * 2",             13, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_case c;
        char options[40];
        xir_network *net = net_of(&c, cases[i].text);
        snprintf(options, sizeof options, "opset=%d,strict", cases[i].version);
        if (!runs(net, "xir-to-onnx", options)) fail_msg("%s: %s", cases[i].text, way_first_message());
        const size_t read = count(net, "onnx::DequantizeLinear"), written = count(net, "onnx::QuantizeLinear");
        if (read != cases[i].read || written != cases[i].written)
            fail_msg("%s, version %d: expected %zu and %zu, found %zu and %zu", cases[i].text, cases[i].version,
                     cases[i].read, cases[i].written, read, written);
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {   /* all have zero points */
            const bool pair = xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::DequantizeLinear")) ||
                              xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::QuantizeLinear"));
            if (pair && (xir_op_input_count(op) != 3 || !xir_op_input(op, 2)))
                fail_msg("%s: there is no zero point", cases[i].text);
        }
        assert_int_equal(count_quantised(net), 0);
        assert_int_equal(xir_dialect_check(net, why), XIR_OK);
        op_case_end(&c);
    }
}

/* The results after the way there and back are those of the executor before. */
static void compute_again(const char *text) {
    op_case c;
    xir_difference d;
    xir_network *net = net_of(&c, text), *made = xir_network_clone(net);
    if (!runs(made, "xir-to-onnx", "strict")) fail_msg("%s: %s", text, way_first_message());
    if (!runs(made, "to-xir", "strict")) fail_msg("%s: %s", text, way_first_message());
    xir_array *in[3] = { NULL }, *own[3] = { NULL }, *x, *stored, *y;
    size_t n = 0;
    for (; n < 3 && c.given[n]; n++) {
        assert_non_null(in[n] = xir_array_from_params(c.given[n], why));
        own[n] = way_stored(in[n]);
    }
    assert_int_equal(xir_network_run(net, (const xir_array *const *)in, n, &x, 1, NULL, why), XIR_OK);
    if (xir_network_run(made, (const xir_array *const *)own, n, &y, 1, NULL, why))
        fail_msg("%s: %s", text, way_first_message());
    assert_int_equal(xir_array_compare(stored = way_stored(x), y, 0, 0, &d), XIR_OK);
    if (!d.same_shape || d.count) fail_msg("%s: element %zu is %g, then %g", text, d.first, d.a, d.b);
    for (size_t k = 0; k < n; k++) {
        xir_array_free(in[k]);
        xir_array_free(own[k]);
    }
    xir_array_free(x);
    xir_array_free(stored);
    xir_array_free(y);
    xir_network_free(made);
    op_case_end(&c);
}

#define ZEROS(bits)    #bits "{@scales([axis=-1]0.5) [5]}"

/* Conversions without reals: the operator, perhaps a Clip, and nothing else. */
static void integers_are_computed_as_they_are(void **state) {
    (void)state;
    static const struct { const char *text, *key; size_t clips; } cases[] = {
        { "MaxPool2d(" SCALED(q8) " NHWC 1x1x4x1 = -128 -128 3 -7) pool_height=1 pool_width=2 stride_width=2 -> "
              SCALED(q8) " NHWC 1x1x2x1 = -127 3", "MaxPool", 1 },
        { "MaxPool2d(" ZEROS(qu8) " NHWC 1x1x4x1 = 0 0 3 255) pool_height=1 pool_width=2 stride_width=2 -> "
              ZEROS(qu8) " NHWC 1x1x2x1 = 0 255", "MaxPool", 0 },
        { "MaxPool1d(" ZEROS(q8) " NWC 1x3x1 = -128 -9 4) pool_width=2 pad_left=1 -> " ZEROS(q8) " NWC 1x3x1", "MaxPool", 1 },
        { "Max(" SCALED(q8) " - 2x2 = -128 -128 3 4) dim=1 -> " SCALED(q8) " - 2 = -127 4", "ReduceMax", 1 },
        { "Min(" ZEROS(qu8) " - 2x2 = 9 8 3 4) dim=1 -> " ZEROS(qu8) " - 2 = 8 3", "ReduceMin", 0 },
        { "ReLU(" SCALED(q8) " * 4 = -128 -1 0 127) -> " SCALED(q8) " * 4 = 0 0 0 127", "Clip", 1 },
        { "ReLU(" ZEROS(q8) " * 4 = -128 4 5 6) -> " ZEROS(q8) " * 4 = 5 5 5 6", "Clip", 1 },
        { "ReLU(q8{@scales([axis=-1]0.5) [-128]} * 3 = -128 -127 6) -> q8{@scales([axis=-1]0.5) [-128]} * 3 = -127 -127 6",
          "Clip", 1 },
        { "ReLU(" ZEROS(qu8) " * 4 = 0 4 5 255) max_value=6 -> " ZEROS(qu8) " * 4 = 5 5 5 17", "Clip", 1 },
        { "ReLU(q8{@scales([axis=-1]0.3)} * 3 = -5 1 9) max_value=1 -> q8{@scales([axis=-1]0.3)} * 3 = 0 1 3", "Clip", 1 },
        { "ReLU(" SCALED(qu8) " * 2 = 0 255) -> " SCALED(qu8) " * 2 = 0 255", NULL, 0 },
        { "ClampScalar(" SCALED(q8) " * 3 = -128 0 9) min=-1.2 max=1.2 -> " SCALED(q8) " * 3 = -2 0 2", "Clip", 1 },
        { "ClampScalar(" SCALED(q8) " * 2 = -128 9) max=1.2 -> " SCALED(q8) " * 2 = -127 2", "Clip", 1 },
        { "Hardtanh(" ZEROS(qu8) " * 3 = 0 5 255) -> " ZEROS(qu8) " * 3 = 3 5 7", "Clip", 1 },
        { "Pad(" ZEROS(q8) " * 2 = -128 3) padding=[1,1] -> " ZEROS(q8) " * 4 = 5 -127 3 5", "Pad", 1 },
        { "Pad(" SCALED(q8) " * 2 = -128 3) padding=[1,1] value=2 -> " SCALED(q8) " * 4 = 4 -127 3 4", "Pad", 1 },
        { "Pad(" SCALED(q8) " * 2 = -128 3) padding=[1,1] -> " SCALED(q8) " * 4 = 0 -128 3 0", "Pad", 0 },
        { "Copy(" SCALED(q8) " * 2 = -128 3) -> " SCALED(q8) " * 2 = -128 3", NULL, 0 },
        { "ScatterND(" SCALED(q8) " * 3 = -128 1 2, param i64 ** 1x1 = 1, " SCALED(q8) " * 1 = -128) -> "
              SCALED(q8) " * 3 = -128 -128 2", "ScatterND", 0 },
        { "Resize(" SCALED(q8) " NCHW 1x1x1x2 = -128 3) dsize=[1,4] interpolation=INTER_NEAREST -> "
              SCALED(q8) " NCHW 1x1x1x4 = -128 -128 3 3", "Resize", 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_case c;
        char options[40], key[40];
        for (int version = 13; version <= 21; version += 4) {
            xir_network *net = net_of(&c, cases[i].text);
            const bool clip = cases[i].key && strcmp(cases[i].key, "Clip") == 0;
            const size_t expected = (cases[i].key != NULL) + (clip ? 0 : cases[i].clips) + 2;
            snprintf(options, sizeof options, "opset=%d,strict", version);
            snprintf(key, sizeof key, "onnx::%s", cases[i].key ? cases[i].key : "");
            if (!runs(net, "xir-to-onnx", options)) fail_msg("%s: %s", cases[i].text, way_first_message());
            size_t n = 0;   /* without Transposes of the maps */
            for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
                n += !xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Transpose"));
            /* an input that is the result is copied under its name */
            const size_t copies = cases[i].key ? 0 : count(net, "onnx::Identity");
            const bool whole = n - copies == expected && (!cases[i].key || count(net, key) == 1) &&
                               count(net, "onnx::Clip") == cases[i].clips;
            if (!whole) fail_msg("%s, version %d: %zu operators", cases[i].text, version, n);
            op_case_end(&c);
        }
        compute_again(cases[i].text);
    }
}

/* A quantised constant is moved as it is stored: there is nothing between it and DequantizeLinear, nor after that. */
static void constants_are_moved_as_integers(void **state) {
    (void)state;
    static const struct { const char *text; int64_t axis; const char *integers; } cases[] = {
        { "Conv2d(" SCALED(q8) " NCHW 1x2x1x1 = 3 -4, param q8{@scales([axis=3]0.5,0.25,1)} HWIO 1x1x2x3 = 1 2 3 4 5 -128) -> "
              SCALED(q8) " NCHW 1x3x1x1", 0, "1 4 2 5 3 -128" },
        { "Conv2d(" SCALED(q8) " NCHW 1x2x1x1 = 3 -4, param " SCALED(q8) " HWIO 1x1x2x3 = 1 2 3 4 5 -128) -> fp32 NCHW 1x3x1x1",
          -1, "1 4 2 5 3 -128" },
        { "ConvTranspose2d(" SCALED(q8) " NCHW 1x2x1x1 = 3 -4, param " SCALED(q8) " HWOI 1x1x3x2 = 1 2 3 4 5 -128) -> "
              "fp32 NCHW 1x3x1x1", -1, "1 3 5 2 4 -128" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_case c;
        xir_network *net = net_of(&c, cases[i].text);
        if (!runs(net, "xir-to-onnx", "opset=13,strict")) fail_msg("%s: %s", cases[i].text, way_first_message());
        if (count(net, "onnx::Transpose") || count(net, "onnx::Identity"))
            fail_msg("%s: a constant is turned", cases[i].text);
        assert_int_equal(count(net, "onnx::DequantizeLinear"), 2);
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            const xir_value *v = xir_op_input_count(op) ? xir_op_input(op, 0) : NULL;
            if (!v || !xir_value_is_params(v)) continue;
            const xir_any *axis = xir_op_extra(op) ? xir_map_find(xir_op_extra(op), XIR_STR("axis")) : NULL;
            assert_true(xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::DequantizeLinear")));
            assert_int_equal(axis ? axis->as.integer : -1, cases[i].axis);
            char text[80] = "";
            const int8_t *bytes = xir_params_data(v, NULL);
            for (size_t k = 0, n = 0; k < 6; k++)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", k ? " " : "", bytes[k]);
            assert_string_equal(text, cases[i].integers);
        }
        op_case_end(&c);
        compute_again(cases[i].text);
    }
}

static void what_stays_has_a_reason(void **state) {
    (void)state;
    static const struct { const char *text, *options, *part; } cases[] = {
        { "Cast(" SCALED(q3) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2", "opset=21", "integers of 3 bits" },
        { "Cast(" SCALED(q4) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2", "opset=20", "integers of 4 bits" },
        { "Cast(" SCALED(q40) " * 2) target_dtype=(fp32 * 2) -> fp32 * 2", "opset=21", "integers of 40 bits" },
        { "Cast(n8{@norm_ratios([axis=-1]2*0.5)} * 2) target_dtype=(fp32 * 2) -> fp32 * 2", "opset=21", "another kind" },
        { "Quantize(fp32 * 2) target_dtype=(" SCALED(q8) " * 2) rounding=HALF_EVEN -> " SCALED(q8) " * 2", "opset=21",
          "without the least integer" },
        { "Quantize(fp32 * 2) target_dtype=(" SCALED(q16) " * 2) rounding=HALF_EVEN full_range=true -> " SCALED(q16) " * 2",
          "opset=20", "16 bits" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_case c;
        xir_network *net = net_of(&c, cases[i].text);
        if (!runs(net, "xir-to-onnx", cases[i].options)) fail_msg("%s: %s", cases[i].text, way_first_message());
        assert_false(way_is_whole(net, true));
        if (!strstr(way_first_message(), cases[i].part))
            fail_msg("%s: expected '%s', found '%s'", cases[i].text, cases[i].part, way_first_message());
        CHECK_SOUND(net);
        op_case_end(&c);
    }
    xir_diags_clear(why);
}

/* Integers that are moved stay as they are, also the least one and those that no float has. */
static void moved_integers_stay(void **state) {
    (void)state;
    static const char *const cases[] = {
        "Roll(" SCALED(q8) " ** 1x4 = -128 127 -3 5) shifts=[1] dims=[1] -> " SCALED(q8) " ** 1x4 = 5 -128 127 -3",
        "Roll(" SCALED(q32) " * 3 = 16777217 -2147483648 -16777219) shifts=[1] dims=[0] -> "
            SCALED(q32) " * 3 = -16777219 16777217 -2147483648",
        "SwapOrder(" SCALED(q8) " * 3 = -128 1 2) order=[2,0,1] axis=0 -> " SCALED(q8) " * 3",
        "ChannelShuffle(" SCALED(q8) " NHWC 1x1x1x4 = -128 1 2 -127) groups=2 -> " SCALED(q8) " NHWC 1x1x1x4",
        "Pad(" SCALED(q8) " * 2 = -128 3) padding=[1,1] mode=REPLICATION -> " SCALED(q8) " * 4 = -128 -128 3 3",
        "Pad(" SCALED(q8) " * 2 = -128 3) padding=[1,1] -> " SCALED(q8) " * 4 = 0 -128 3 0",
        "Pad(q8{@scales([axis=-1]0.5) [5]} * 2 = -120 3) padding=[1,1] -> "
            "q8{@scales([axis=-1]0.5) [5]} * 4 = 5 -120 3 5",
        "GatherElements(" SCALED(q8) " * 3 = -128 1 2, i64 * 2 = 0 2) axis=0 -> " SCALED(q8) " * 2 = -128 2",
        "GatherND(" SCALED(q8) " * 3 = -128 1 2, i64 ** 2x1 = 0 2) -> " SCALED(q8) " * 2 = -128 2",
        "Slice(q8{@scales([axis=1]0.5,0.25)} ** 2x2 = -128 1 2 -128) begin=[1,0] end=[2,2] stride=[1,1] -> "
            "q8{@scales([axis=1]0.5,0.25)} ** 1x2 = 2 -128",
        "Slice(q8{@scales([axis=1]0.5,0.25)} ** 2x2 = 1 -128 2 -128) begin=[0,1] end=[2,2] stride=[1,1] -> "
            "q8{@scales([axis=1]0.25)} ** 2x1 = -128 -128",
        "Tile(q8{@scales([axis=1]0.5,0.25)} ** 1x2 = -128 -128) dims=[2,1] -> "
            "q8{@scales([axis=1]0.5,0.25)} ** 2x2 = -128 -128 -128 -128",
        "Expand(q8{@scales([axis=1]0.5,0.25)} ** 1x2 = -128 -128) sizes=[2,2] -> "
            "q8{@scales([axis=1]0.5,0.25)} ** 2x2 = -128 -128 -128 -128",
        "Transpose(q8{@scales([axis=1]0.5,0.25)} ** 1x2 = -128 -128) dims=[1,0] layout=@layout(**) -> "
            "q8{@scales([axis=0]0.5,0.25)} ** 2x1 = -128 -128",
        "Upsample(" SCALED(q8) " NHWC 1x1x2x1 = -128 3) height=1 width=4 -> " SCALED(q8) " NHWC 1x1x4x1 = -128 -128 3 3",
        "Resize(" SCALED(q8) " NHWC 1x1x2x1 = -128 3) dsize=[1,4] interpolation=INTER_NEAREST -> "
            SCALED(q8) " NHWC 1x1x4x1 = -128 -128 3 3",
        "ScatterND(" SCALED(q8) " * 3 = -128 1 2, i64 ** 1x1 = 1, " SCALED(q8) " * 1 = -128) -> " SCALED(q8) " * 3 = -128 -128 2",
        "Unfold(" SCALED(q8) " NHWC 1x2x1x1 = -128 3) kernel_height=1 -> " SCALED(q8) " NLC 1x2x1 = -128 3",
        "Upsample(" SCALED(q32) " NHWC 1x1x1x1 = 16777217) height=1 width=2 -> " SCALED(q32) " NHWC 1x1x2x1 = 16777217 16777217",
        "Unfold(q8{@scales([axis=-1]0.5) [5]} NHWC 1x1x1x1 = 7) kernel_width=2 pad_left=1 -> "
            "q8{@scales([axis=-1]0.5) [5]} NLC 1x1x2 = 5 7",
        /* another type: the real number is stored in it */
        "Roll(q8{@scales([axis=-1]0.1)} * 2 = 3 -128) shifts=[1] dims=[0] -> q8{@scales([axis=-1]0.2)} * 2",
        "Roll(q8{@scales([axis=-1]0.2)} * 2 = 3 -128) shifts=[1] dims=[0] -> q8{@scales([axis=-1]0.1)} * 2",
    };
    for (size_t i = 0; i < COUNT(cases); i++) compute_again(cases[i]);
}

/* Results between two integers, and of large scales. */
static void results_are_rounded_once(void **state) {
    (void)state;
    static const char *const cases[] = {
        "Cast(fp64 * 3 = 0.49999999999999994 0.5 -0.49999999999999994) target_dtype=(q8{@scales([axis=-1]1)} * 3) -> "
            "q8{@scales([axis=-1]1)} * 3 = 0 1 0",
        "Cast(fp32 * 3 = 3.4e38 -3.4e38 1e37) target_dtype=(q8{@scales([axis=-1]10633823966279326983230456482242756608)} * 3)"
            " -> q8{@scales([axis=-1]10633823966279326983230456482242756608)} * 3 = 32 -32 1",
        "Cast(fp64 * 2 = 1e30 -1e30) target_dtype=(" SCALED(q32) " * 2) -> " SCALED(q32) " * 2 = 2147483647 -2147483647",
        "Max(" SCALED(q32) " - 2x2 = -2147483648 -2147483648 3 4) dim=1 -> " SCALED(q32) " - 2 = -2147483647 4",
        "ReLU(" SCALED(q32) " * 3 = -5 16777217 2147483647) max_value=8388608.5 -> " SCALED(q32) " * 3",
        "Cast(fp32 * 1 = inf) target_dtype=(" SCALED(q8) " * 1) -> " SCALED(q8) " * 1 = 127",
    };
    for (size_t i = 0; i < COUNT(cases); i++) compute_again(cases[i]);
}

/* The letters of a Cast may say that axes change places; its scales then lie along another axis. */
static void casts_may_move_elements(void **state) {
    (void)state;
    static const char *const cases[] = {
        "Cast(" SCALED(q8) " NHWC 1x1x2x2 = 1 2 -128 4) target_dtype=(fp32 NCHW 1x2x1x2) -> fp32 NCHW 1x2x1x2",
        "Cast(q8{@scales([axis=3]0.5,0.25)} NHWC 1x1x2x2 = 1 2 3 4) target_dtype=(fp32 NCHW 1x2x1x2) -> fp32 NCHW 1x2x1x2",
        "Cast(q8{@scales([axis=3]0.5,0.25)} NHWC 1x1x2x2 = 1 2 3 4) target_dtype=(fp16 NCHW 1x2x1x2) -> fp16 NCHW 1x2x1x2",
        "Cast(fp32 NHWC 1x1x2x2 = 1 2 3.3 -4) target_dtype=(q8{@scales([axis=1]0.5,0.25)} NCHW 1x2x1x2) -> "
            "q8{@scales([axis=1]0.5,0.25)} NCHW 1x2x1x2",
        "Cast(" SCALED(q8) " NHWC 1x1x2x2 = 1 2 -128 4) target_dtype=(qu8{@scales([axis=-1]0.25) [7]} NCHW 1x2x1x2) -> "
            "qu8{@scales([axis=-1]0.25) [7]} NCHW 1x2x1x2",
    };
    for (size_t i = 0; i < COUNT(cases); i++) compute_again(cases[i]);
}

/* A part of the network stays: quantised values keep their types, and BitCasts stand between them and operators. */
static void parts_stay(void **state) {
    (void)state;
    op_case c;
    xir_network *net = net_of(&c, "ReLU(" SCALED(q8) " * 2 = -3 4) alpha=0.5 -> " SCALED(q8) " * 2 = -2 4");
    xir_op *output = xir_network_output_op(net);
    xir_value *q = xir_op_input(output, 0);
    const xir_type *had = xir_value_type(q);
    const xir_scales *scales = xir_type_scale(xir_type_element(had));
    const xir_type *own = xir_type_quantized(ctx, scales, NULL, 0, xir_type_sint(ctx, 3), NULL);
    const xir_type *type = xir_type_with_element(ctx, had, own, why);
    assert_non_null(type);
    xir_at at = xir_at_end(net);
    at.before = output;
    xir_value *few = XIR_OP(at, cast, .input = q, .attrs = XIR_ATTRS(cast, (target_dtype, xir_type_as_tensor(type))));
    assert_non_null(few);
    DOES(xir_op_add_input(output, few));
    xir_network *made = xir_network_clone(net);
    assert_true(runs(made, "xir-to-onnx", ""));
    assert_false(way_is_whole(made, true));
    assert_int_equal(count(made, "onnx::QuantizeLinear"), 1);
    assert_int_equal(count(made, "icraft::xir::Cast"), 1);
    assert_true(count(made, "xir::BitCast") >= 1);
    assert_int_equal(xir_network_validate(made, why), XIR_OK);
    if (!runs(made, "to-xir", "strict")) fail_msg("%s", way_first_message());
    xir_array *in = xir_array_from_params(c.given[0], why), *x[2], *y[2];
    xir_difference d;
    assert_int_equal(xir_network_run(net, (const xir_array *const *)&in, 1, x, 2, NULL, why), XIR_OK);
    assert_int_equal(xir_network_run(made, (const xir_array *const *)&in, 1, y, 2, NULL, why), XIR_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(xir_array_compare(x[i], y[i], 0, 0, &d), XIR_OK);
        assert_true(d.same_shape && !d.count);
        xir_array_free(x[i]);
        xir_array_free(y[i]);
    }
    xir_array_free(in);
    xir_network_free(made);
    op_case_end(&c);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_go_there_and_back),
        cmocka_unit_test(versions_have_their_forms),
        cmocka_unit_test(integers_are_computed_as_they_are),
        cmocka_unit_test(constants_are_moved_as_integers),
        cmocka_unit_test(what_stays_has_a_reason),
        cmocka_unit_test(moved_integers_stay),
        cmocka_unit_test(results_are_rounded_once),
        cmocka_unit_test(casts_may_move_elements),
        cmocka_unit_test(parts_stay),
    };
    return _cmocka_run_group_tests("onnx_pairs", tests, COUNT(tests), group_begin, group_end);
}
