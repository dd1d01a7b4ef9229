/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass quantize on small networks: which values are stored, by which types, and where floats stay. The formulas of
 * scales and constants are computed again here. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "support/story.h"

/* ---- a calibration of a network, as a file ----------------------------------------------------------------------- */

static char path[200];

static xir_array *sample(const xir_network *net, uint64_t seed) {
    xir_value *in = NULL;
    xir_network_inputs(net, &in, 1);
    return xir_array_random(ctx, xir_value_type(in), seed, why);
}

/* Counts two random samples; the path of the file is in `path`. */
static void calibrate(const xir_network *net) {
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        xir_array *in = sample(net, seed);
        DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
        xir_array_free(in);
    }
    snprintf(path, sizeof path, "quantize-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
}

static xir_status quantize(xir_network *net, const char *options) {
    char text[400];
    snprintf(text, sizeof text, "calibration=\"%s\"%s%s", path, *options ? "," : "", options);
    return xir_pass_run(net, "quantize", text, NULL, why);
}

/* The story after the pass, with its notes dropped. */
static xir_network *quantized(const char *story, const char *options) {
    xir_network *net = story_net(story);
    calibrate(net);
    const xir_status status = quantize(net, options);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
    unlink(path);
    return net;
}

/* "f32", "u8", "i8", "bf16", … of a value. */
static const char *element_word(const xir_value *v) {
    const xir_type *element = xir_type_element(xir_value_type(v));
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    static const char *const floats[] = { "f16", "f32", "f64", "bf16", "tf32", "e7", "e6" };
    if (real) return floats[real->format];
    const xir_integer_type *stored = xir_integer_type_of(xir_type_object(xir_type_storage(element)));
    if (xir_type_kind_of(element) == XIR_TYPE_CALIBRATED) return "calibrated";
    if (xir_type_kind_of(element) != XIR_TYPE_QUANTIZED || !stored) return "other";
    return stored->sign ? stored->ibits == 8 ? "i8" : "i16" : stored->ibits == 8 ? "u8" : "u16";
}

/* The ops in order: "Quantize x.quantized:u8; Conv2d y:f32". */
static void check_ops(const xir_network *net, const char *expected, const char *file, int line) {
    char found[2000] = "";
    const xir_op *end = xir_network_output_op(net);
    for (const xir_op *op = xir_op_next(xir_network_first(net)); op != end; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op)), name = xir_value_name(xir_op_output(op, 0));
        size_t at = key.size;
        while (at && key.data[at - 1] != ':') at--;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%.*s %.*s:%s", *found ? "; " : "",
                 (int)(key.size - at), key.data + at, (int)name.size, name.data, element_word(xir_op_output(op, 0)));
    }
    if (strcmp(found, expected) != 0) fail_msg("%s:%d: found\n%s\nexpected\n%s", file, line, found, expected);
}
#define CHECK_OPS(net, expected) check_ops(net, expected, __FILE__, __LINE__)

static void becomes(const char *story, const char *options, const char *expected, int line) {
    xir_network *net = quantized(story, options);
    check_ops(net, expected, __FILE__, line);
    xir_network_free(net);
}
#define BECOMES(story, options, expected) becomes(story, options, expected, __LINE__)

/* ---- which values are stored ------------------------------------------------------------------------------------- */

static const char chain[] = "x: NHWC 1 4 4 3; w: params HWIO 3 3 3 8; b: params 8; y = Conv2d x w b; z = ReLU y;"
                            "v: params HWIO 2 2 8 4; u = Conv2d z v; out u";

static void a_product_takes_integers_and_gives_floats(void **state) {
    (void)state;
    xir_network *net = quantized(chain, "");
    const xir_value *x = xir_op_input(story_op(net, "y"), 0), *w = xir_op_input(story_op(net, "y"), 1),
                    *b = xir_op_input(story_op(net, "y"), 2), *z = xir_op_input(story_op(net, "u"), 0);
    CHECK_STR(xir_value_name(x), "x.quantized");
    CHECK_STR(xir_value_name(z), "z.quantized");
    assert_int_equal(xir_type_storage_bits(xir_value_type(x)), 8);
    assert_int_equal(xir_type_kind_of(xir_type_element(xir_value_type(story_value(net, "y")))), XIR_TYPE_FLOAT);
    assert_int_equal(xir_type_kind_of(xir_type_element(xir_value_type(story_value(net, "u")))), XIR_TYPE_FLOAT);
    assert_int_equal(xir_scales_count(xir_type_scale(xir_value_type(w))), 8);
    /* The bias has the scales of the products. */
    const double sx = xir_scales_at(xir_type_scale(xir_value_type(x)), 0);
    for (size_t c = 0; c < 8; c++)
        assert_true(xir_scales_at(xir_type_scale(xir_value_type(b)), c) ==
                    (double)(float)(sx * xir_scales_at(xir_type_scale(xir_value_type(w)), c)));
    assert_int_equal(xir_type_zero_points(xir_value_type(z)).data[0], 0);   /* after a ReLU */
    xir_network_free(net);
}

/* Each constant is the nearest integer, and its scale the smallest one with which it fits. */
static void constants_are_the_nearest_integers(void **state) {
    (void)state;
    static const char *const options[] = { "", "per=tensor", "scheme=zhuge", "pow2" };
    for (size_t k = 0; k < COUNT(options); k++) {
        xir_network *before = story_net(chain), *net = quantized(chain, options[k]);
        xir_array *real = xir_array_from_params(xir_op_input(story_op(before, "y"), 1), why),
                  *now = xir_array_from_params(xir_op_input(story_op(net, "y"), 1), why);
        const xir_scales *scales = xir_type_scale(xir_array_type(now));
        const size_t n = xir_scales_count(scales), count = xir_array_count(now);
        double most[8] = { 0 };
        assert_int_equal(n, k == 1 ? 1 : 8);
        for (size_t i = 0; i < count; i++) most[i % n] = fmax(most[i % n], fabs(xir_array_real(real, i)));
        for (size_t c = 0; c < n; c++) {
            const double s = xir_scales_at(scales, c);
            int e;
            if (k == 3) assert_true(frexp(s, &e) == 0.5 && s >= most[c] / 127 * (1 - 1e-6) && s < most[c] / 63);
            else assert_true(fabs(s - most[c] / 127) <= 1e-6 * s);
        }
        for (size_t i = 0; i < count; i++) {
            const double s = xir_scales_at(scales, i % n);
            assert_true(fabs(xir_array_real(now, i) - xir_array_real(real, i)) <= s / 2 * (1 + 1e-6));
        }
        xir_array_free(real);
        xir_array_free(now);
        xir_network_free(before);
        xir_network_free(net);
    }
}

static const char other[] = "x: NHWC 1 4 4 3; w: params HWIO 1 1 3 3; y = Conv2d x w; s = Sigmoid y; m = MaxPool2d s "
                            "[pool_width=2 pool_height=2 stride_width=2 stride_height=2]; t = Copy m;"
                            "v: params HWIO 1 1 3 4; u = Conv2d m v; out u t";

static void each_kind_of_op_has_its_border(void **state) {
    (void)state;
    BECOMES(chain, "", "Quantize x.quantized:u8; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:u8; Conv2d u:f32");
    BECOMES(chain, "maps=sint",
            "Quantize x.quantized:i8; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:i8; Conv2d u:f32");
    BECOMES(chain, "bits=16",
            "Quantize x.quantized:u16; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:u16; Conv2d u:f32");
    BECOMES(chain, "outputs=same", "Quantize x.quantized:u8; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:u8;"
            " Conv2d u.computed:f32; Quantize u:u8");
    BECOMES(chain, "scheme=zhuge", "Cast x.quantized:i8; Conv2d y:i8; ReLU z:i8; Conv2d u:f32");
    BECOMES(chain, "scheme=zhuge,outputs=same", "Cast x.quantized:i8; Conv2d y:i8; ReLU z:i8; Conv2d u:i8");
    BECOMES(chain, "keep=u", "Quantize x.quantized:u8; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:u8;"
            " Cast z.quantized.real:f32; Conv2d u:f32");
    BECOMES(other, "", "Quantize x.quantized:u8; Conv2d y:f32; Quantize y.quantized:u8; Cast y.quantized.real:f32;"
            " Sigmoid s:f32; Quantize s.quantized:u8; MaxPool2d m:u8; Copy t.quantized:u8; Conv2d u:f32; Cast t:f32");
    BECOMES(other, "scope=products", "Quantize x.quantized:u8; Conv2d y:f32; Sigmoid s:f32; MaxPool2d m:f32;"
            " Quantize m.quantized:u8; Copy t:f32; Conv2d u:f32");
    BECOMES(other, "scheme=zhuge", "Cast x.quantized:i8; Conv2d y:i8; Sigmoid s:i8; MaxPool2d m:i8;"
            " Copy t.quantized:i8; Conv2d u:f32; Cast t:f32");
}

/* An op without integers in ONNX computes floats between Casts, and `strict` refuses it; Zhuge stores every result. */
static void an_op_that_the_scheme_lacks_stays_a_float(void **state) {
    (void)state;
    static const char story[] = "x: 1 4; y = Softmax x [axis=-1]; z = CumSum y [axis=-1]; w: params 4 2;"
                                "u = Matmul z w; out u";
    BECOMES(story, "", "Quantize x.quantized:u8; Cast x.quantized.real:f32; Softmax y:f32; Quantize y.quantized:u8;"
            " Cast y.quantized.real:f32; CumSum z:f32; Quantize z.quantized:u8; Matmul u:f32");
    BECOMES(story, "scheme=zhuge", "Cast x.quantized:i8; Softmax y:i8; CumSum z:i8; Matmul u:f32");
    xir_network *net = story_net(story);
    calibrate(net);
    assert_int_equal(quantize(net, "scheme=onnx,strict"), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "does not compute the op on stored numbers");
    unlink(path);
    xir_network_free(net);
}

/* Params that two products share become Params of each. */
static void shared_weights_are_stored_twice(void **state) {
    (void)state;
    xir_network *net = quantized("x: 1 4; w: params 4 4; b: params 4; y = Matmul x w b; z = Sigmoid y;"
                                 "u = Matmul z w b; out u", "");
    assert_ptr_not_equal(xir_op_input(story_op(net, "y"), 1), xir_op_input(story_op(net, "u"), 1));
    assert_ptr_not_equal(xir_op_input(story_op(net, "y"), 2), xir_op_input(story_op(net, "u"), 2));
    xir_network_free(net);
}

/* The scale of a channel grows if a bias of 32 bits would not fit; the others stay. */
static void a_large_bias_fits(void **state) {
    (void)state;
    xir_network *net = quantized("x: 1 2; w: params 2 3 = 1e-6 1 2 1e-6 1 2; b: params 3 = 1e6 0 1;"
                                 "y = Matmul x w b; out y", "");
    const xir_value *w = xir_op_input(story_op(net, "y"), 1);
    xir_array *b = xir_array_from_params(xir_op_input(story_op(net, "y"), 2), why);
    assert_true(fabs(xir_array_real(b, 0) - 1e6) < 1 && fabs(xir_array_real(b, 2) - 1) < 1e-4);
    assert_true(xir_scales_at(xir_type_scale(xir_value_type(w)), 0) > 1e-6);
    assert_true(fabs(xir_scales_at(xir_type_scale(xir_value_type(w)), 1) * 127 - 1) < 1e-6);
    xir_array_free(b);
    xir_network_free(net);
}

/* Numbers far from 1, and none at all. */
static void extreme_constants(void **state) {
    (void)state;
    xir_network *net = quantized("x: 1 2; w: params 2 3 = 1e-30 1e30 0 1e-30 1e30 0; b: params 3 = 0 0 0;"
                                 "y = Matmul x w b; out y", "");
    const xir_scales *scales = xir_type_scale(xir_value_type(xir_op_input(story_op(net, "y"), 1)));
    assert_true(xir_scales_at(scales, 0) >= 1e-33 && xir_scales_at(scales, 1) > 1e27 && xir_scales_at(scales, 2) == 1);
    xir_network_free(net);
}

static void floats_of_fewer_bits(void **state) {
    (void)state;
    static const char *const words[] = { "bf16", "f16", "tf32" }, *const types[] = { "bf16", "fp16", "tf32" };
    for (size_t i = 0; i < COUNT(types); i++) {
        char options[40], expected[300];
        snprintf(options, sizeof options, "type=%s", types[i]);
        snprintf(expected, sizeof expected, "Cast x.rounded:%s; Conv2d y:%s; ReLU z:%s; Conv2d u.computed:%s; Cast u:f32",
                 words[i], words[i], words[i], words[i]);
        xir_network *net = story_net(chain);
        size_t changes = 0;
        DOES(xir_pass_run(net, "quantize", options, NULL, why));
        CHECK_OPS(net, expected);
        DOES(xir_network_validate(net, why));
        DOES(xir_pass_run(net, "quantize", options, &changes, why));   /* nothing is left to do */
        assert_int_equal(changes, 0);
        xir_network_free(net);
    }
    xir_network *net = story_net("x: 1 2; w: params 2 1 = 1e5 1; y = Matmul x w; out y");
    assert_int_equal(xir_pass_run(net, "quantize", "type=fp16", NULL, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "the constant 'w' is 100000 at element 0");
    xir_network_free(net);
}

/* ---- the three stages -------------------------------------------------------------------------------------------- */

static void calibrated_types_are_ranges(void **state) {
    (void)state;
    xir_network *net = story_net(chain), *direct = quantized(chain, "");
    char text[300];
    calibrate(net);
    snprintf(text, sizeof text, "calibration=\"%s\"", path);
    DOES(xir_pass_run(net, "calibrate", text, NULL, why));
    CHECK_OPS(net, "Conv2d y:calibrated; ReLU z:calibrated; Conv2d u:calibrated");
    const xir_type *element = xir_type_element(xir_value_type(story_value(net, "z")));
    const xir_calibrated_type *z = xir_calibrated_type_of(xir_type_object(element));
    assert_true(z->min.data[0] == 0 && z->max.data[0] == z->sat.data[0] && z->max.data[0] > 0);
    DOES(xir_network_validate(net, why));
    DOES(xir_pass_run(net, "quantize", NULL, NULL, why));
    assert_true(xir_type_equal(xir_value_type(xir_op_input(story_op(net, "u"), 0)),
                               xir_value_type(xir_op_input(story_op(direct, "u"), 0))));
    CHECK_OPS(net, "Quantize x.quantized:u8; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:u8; Conv2d u:f32");
    unlink(path);
    xir_network_free(net);
    xir_network_free(direct);
}

static void a_second_run_changes_nothing(void **state) {
    (void)state;
    xir_network *net = story_net(other);
    size_t changes = 0;
    char text[300];
    calibrate(net);
    DOES(quantize(net, ""));
    snprintf(text, sizeof text, "calibration=\"%s\"", path);
    DOES(xir_pass_run(net, "quantize", text, &changes, why));
    assert_int_equal(changes, 0);
    xir_diags_clear(why);
    unlink(path);
    xir_network_free(net);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    static const struct { const char *options; xir_status code; const char *part; } rows[] = {
        { "scheme=buy",          XIR_E_UNKNOWN,     "there is no scheme 'buy'"             },
        { "method=most",         XIR_E_UNKNOWN,     "there is no method 'most'"            },
        { "maps=int",            XIR_E_UNKNOWN,     "uint or sint, found 'int'"            },
        { "scheme=zhuge,maps=uint", XIR_E_UNKNOWN,  "maps of the scheme zhuge are sint"    },
        { "per=layer",           XIR_E_UNKNOWN,     "expected channel or tensor"           },
        { "scope=some",          XIR_E_UNKNOWN,     "expected all or products"             },
        { "outputs=int",         XIR_E_UNKNOWN,     "expected float or same"               },
        { "type=fp8",            XIR_E_UNKNOWN,     "expected int, bf16, fp16 or tf32"     },
        { "bits=4",              XIR_E_BOUNDS,      "8 or 16 bits, found 4"                },
        { "scheme=zhuge,bits=16", XIR_E_BOUNDS,     "have 8 bits, found 16"                },
        { "keep=nobody",         XIR_E_UNKNOWN,     "no op is called 'nobody'"             },
        { "type=bf16,keep=y",    XIR_E_UNSUPPORTED, "those of all ops"                     },
        { "type=fp16,bits=8",    XIR_E_UNSUPPORTED, "bits: this is about integers"         },
        { "type=fp16,maps=sint", XIR_E_UNSUPPORTED, "maps: this is about integers"         },
        { "type=tf32,pow2",      XIR_E_UNSUPPORTED, "pow2: this is about integers"         },
        { "method=percentile,percent=101", XIR_E_BOUNDS, "at most 100"                     },
        { "method=percentile,percent=0", XIR_E_BOUNDS, "above 0, at most 100, found 0"     },
    };
    xir_network *net = story_net(chain);
    calibrate(net);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(quantize(net, rows[i].options), rows[i].code);
        check_finding(rows[i].code, rows[i].part);
    }
    assert_int_equal(xir_pass_run(net, "quantize", NULL, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "no ranges are known");
    assert_int_equal(xir_pass_run(net, "quantize", "calibration=nowhere.json", NULL, why), XIR_E_IO);
    check_finding(XIR_E_IO, "cannot be read");
    xir_network *stranger = story_net("a: 1 4; b: params 4 4; c = Matmul a b; out c");
    assert_int_equal(quantize(stranger, ""), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "of another network");
    xir_network_free(stranger);
    unlink(path);
    assert_int_equal(xir_pass_run(net, "quantize", "calibration=missing", NULL, NULL), XIR_E_IO);
    xir_network_free(net);
}

/* ---- single ops -------------------------------------------------------------------------------------------------- */

static void write_csv(const char *csv, const char *text) {
    FILE *file = fopen(csv, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static xir_status quantize_by(xir_network *net, const char *rows, const char *options) {
    char csv[60], text[500];
    snprintf(csv, sizeof csv, "precision-%ld.csv", (long)getpid());
    write_csv(csv, rows);
    snprintf(text, sizeof text, "calibration=\"%s\",precision=\"%s\"%s", path, csv, options);
    const xir_status status = xir_pass_run(net, "quantize", text, NULL, why);
    unlink(csv);
    return status;
}

#define TITLES "op,type,bits,per,saturation\n"

static void single_ops_have_other_bits(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    calibrate(net);
    DOES(quantize_by(net, "# chosen by hand\r\n" TITLES "\"z\",ReLU,16,,\r\n\ny,Conv2d,,tensor,\n", ""));
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
    CHECK_OPS(net, "Quantize x.quantized:u8; Conv2d y:f32; ReLU z:f32; Quantize z.quantized:u16; Conv2d u:f32");
    assert_int_equal(xir_scales_count(xir_type_scale(xir_value_type(xir_op_input(story_op(net, "y"), 1)))), 1);
    assert_int_equal(xir_scales_count(xir_type_scale(xir_value_type(xir_op_input(story_op(net, "u"), 1)))), 4);
    xir_network_free(net);
    /* All convolutions in floats, by their class. */
    net = story_net(chain);
    DOES(quantize_by(net, TITLES "*,Conv2d,float\n", ""));
    xir_diags_clear(why);
    CHECK_OPS(net, "Quantize x.quantized:u8; Cast x.quantized.real:f32; Conv2d y:f32; ReLU z:f32; "
                   "Quantize z.quantized:u8; Cast z.quantized.real:f32; Conv2d u:f32");
    xir_network_free(net);
    /* A row by id; the last one counts. */
    net = story_net(chain);
    char rows[100];
    snprintf(rows, sizeof rows, TITLES "*,*,16\n%lld,,8\n", (long long)xir_op_id(story_op(net, "z")));
    DOES(quantize_by(net, rows, ",scheme=buyi"));
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
    assert_int_equal(xir_type_storage_bits(xir_value_type(xir_op_input(story_op(net, "y"), 1))), 16);
    xir_network_free(net);
    unlink(path);
}

static void a_row_that_means_nothing_is_refused(void **state) {
    (void)state;
    static const struct { const char *rows, *options; xir_status code; const char *part; } rows[] = {
        { TITLES "nobody,,16\n", "", XIR_E_UNKNOWN, ":2: the row matches no op of the network, found 'nobody,,16'" },
        { TITLES "\ny,Matmul,16\n", "", XIR_E_UNKNOWN, ":3: the row matches no op" },
        { TITLES "*,Matmul,16\n", "", XIR_E_UNKNOWN, "the row matches no op" },
        { TITLES ",,16\n", "", XIR_E_UNKNOWN, "the row matches no op" },
        { TITLES "99999999999999999999999,,16\n", "", XIR_E_UNKNOWN, "the row matches no op" },
        { TITLES "y,,12\n", "", XIR_E_BOUNDS, "bits: expected 8, 16 or float, found '12'" },
        { TITLES "y,,16\n", ",scheme=zhuge", XIR_E_BOUNDS, "bits: expected 8 or float, found '16'" },
        { TITLES "y,,8,row\n", "", XIR_E_UNKNOWN, "per: expected tensor or channel, found 'row'" },
        { TITLES "y,,8,,best\n", "", XIR_E_UNKNOWN, "saturation: expected max" },
        { TITLES "y,,8,,max,1\n", "", XIR_E_SYNTAX, "expected at most 5 cells" },
        { TITLES "\"y,,8\n", "", XIR_E_SYNTAX, "expected a quotation mark" },
        { TITLES "\"y\"z,8\n", "", XIR_E_SYNTAX, "expected a comma" },
        { "y,,8\n", "", XIR_E_SYNTAX, ":1: expected the columns op,type,bits,per,saturation" },
        { TITLES "y,,8\n", ",type=bf16", XIR_E_UNSUPPORTED, "floats of another type" },
    };
    xir_network *net = story_net(chain);
    calibrate(net);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(quantize_by(net, rows[i].rows, rows[i].options), rows[i].code);
        check_finding(rows[i].code, rows[i].part);
    }
    assert_int_equal(quantize(net, "precision=nowhere.csv"), XIR_E_IO);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->file, XIR_STR("nowhere.csv")));
    check_finding(XIR_E_IO, "cannot open: No such file or directory");
    unlink(path);
    xir_network_free(net);
}

static void constants_that_cannot_be_stored_are_named(void **state) {
    (void)state;
    xir_network *net = story_net("x: 1 2; w: params 2 1; y = Matmul x w; out y");
    xir_value *w = story_value(net, "w");
    calibrate(net);
    static const float bad[] = { 1, NAN };
    DOES(xir_params_set_copy(w, bad, sizeof bad));
    assert_int_equal(quantize(net, ""), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the constant 'w' is not finite at element 1");
    xir_network_free(net);
    net = story_net("x: 1 2; w: params 2 1 = none; y = Matmul x w; out y");
    assert_int_equal(quantize(net, ""), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "the constant 'w' has no bytes");
    xir_network_free(net);
    unlink(path);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_takes_integers_and_gives_floats),
        cmocka_unit_test(constants_are_the_nearest_integers),
        cmocka_unit_test(each_kind_of_op_has_its_border),
        cmocka_unit_test(an_op_that_the_scheme_lacks_stays_a_float),
        cmocka_unit_test(shared_weights_are_stored_twice),
        cmocka_unit_test(a_large_bias_fits),
        cmocka_unit_test(extreme_constants),
        cmocka_unit_test(floats_of_fewer_bits),
        cmocka_unit_test(calibrated_types_are_ranges),
        cmocka_unit_test(a_second_run_changes_nothing),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(single_ops_have_other_bits),
        cmocka_unit_test(a_row_that_means_nothing_is_refused),
        cmocka_unit_test(constants_that_cannot_be_stored_are_named),
    };
    return RUN_GROUP(tests);
}
