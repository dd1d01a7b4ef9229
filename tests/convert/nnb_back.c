/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way to NNB and back: every case of the executor's tables (tests/exec), and of nnb_back.txt, is an op of XIR. As a
 * network it becomes functions of NNabla: only those that its C runtime computes, or all that an exporter writes. They
 * are written to a file, read and checked, and become ops of XIR again, which compute the same. Bools and integers are
 * floats there, so results are compared as reals. NNB_BACK=1 prints for each class how many cases are converted, with
 * the runtime's functions and with all, and why the first one is not; NNB_STAYS=1 prints each case that is not
 * converted. */
#include <math.h>
#include <xir/nnb.h>
#include "convert/way_back.h"
#include "support/nnb_make.h"
#include "support/story.h"

/* The array with its elements as 32-bit floats. */
static xir_array *as_reals(const xir_array *a) {
    const xir_type *real = xir_type_with_element(ctx, xir_array_type(a), xir_type_float(ctx, XIR_FLOAT_FP32), NULL);
    xir_array *out = xir_array_new(ctx, real, why);
    assert_non_null(out);
    for (size_t i = 0; i < xir_array_count(a); i++) ((float *)xir_array_edit(out))[i] = (float)xir_array_real(a, i);
    return out;
}

/* The array as an input of an NNB: fixed point keeps its bytes, other elements are floats. */
static xir_array *as_input(const xir_array *a, const xir_value *input) {
    if (!xir_type_is_quantized(xir_type_element(xir_array_type(a)))) return as_reals(a);
    size_t size;
    const void *data = xir_array_data(a, &size);
    xir_array *out = xir_array_copy(ctx, xir_value_type(input), data, size, why);
    assert_non_null(out);
    return out;
}

static bool results_are_real(const op_case *c) {
    const xir_value *v = xir_op_input(xir_network_output_op(c->net), 0);
    return xir_type_kind_of(xir_type_element(xir_value_type(v))) == XIR_TYPE_FLOAT;
}

/* Results that floats do not show: integers beyond 24 bits, and what becomes of NaN where the result is not a real. */
static bool is_beyond(const op_case *c, xir_array **in) {
    for (size_t i = 0; i < c->n_args; i++) {
        const bool whole = xir_type_kind_of(xir_type_element(xir_array_type(in[i]))) == XIR_TYPE_INTEGER;
        for (size_t k = 0; k < xir_array_count(in[i]); k++) {
            const double v = xir_array_real(in[i], k);
            if (whole ? fabs(v) > 0x1p24 : isnan(v) && !results_are_real(c)) return true;
        }
    }
    return false;
}

/* In the first column of a class are cases that are converted with the runtime's functions, in the second with all. */
static void convert(way_case *w, bool all) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net), *again = NULL;
    char how[60];
    snprintf(how, sizeof how, "%s%s", all ? ", all functions" : "", w->how);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-nnb", all ? "runtime=false" : NULL, NULL, why), XIR_OK);
    if (!way_is_whole(net, true)) {
        if (getenv("NNB_STAYS")) printf("%s%s: %s\n", w->c.text, how, way_first_message());
        way_reason(t, all, way_first_message());
    } else {
        t->count[all]++;
        xir_diags_clear(why);
        again = way_through_file(net, "nnb", xir_nnb_check);
        if (!again) op_case_fail(&w->c, "a file", "%s%s", way_first_message(), how);
        xir_diags_clear(why);
        const bool back = again && !xir_pass_run(again, "nnb-to-xir", "strict", NULL, why) &&
            way_is_whole(again, false);
        if (again && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), how);
        if (back) way_compute(&w->c, NULL, again, w->in, as_input, as_reals, how);
    }
    xir_network_free(net);
    xir_network_free(again);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        if (w.op && !is_beyond(&w.c, w.in)) {
            convert(&w, false);
            convert(&w, true);
            counts->good++;
        }
        way_case_end(&w);
    }
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("convert/nnb_back.txt", each, &counts);
    way_summary("NNB_BACK", totals);
    printf("%zu classes: %zu become the runtime's functions, %zu an exporter's\n", way_n_classes, totals[0],
           totals[1]);
    assert_true(totals[0] >= 106 && totals[1] >= 124);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

/* Letters of axes survive: what follows a pool finds rows and columns. */
static void maps_keep_their_letters(void **state) {
    static const char *const nets[] = {
        "x: NCHW 1 2 6 5; k: params HWIO 3 3 2 2; p = MaxPool2d x [pool_height=2 pool_width=2]; c = Conv2d p k; out c",
        "x: NCHW 1 2 6 5; k: params HWIO 3 3 2 2; p = Upsample x [height=12 width=10]; c = Conv2d p k; out c",
        "x: NCHW 1 2 6 5; k: params HWIO 3 3 2 2; p = GroupNorm x [groups=2]; c = Conv2d p k; out p c",
        "x: NCHW 1 2 6 5; p = AvgPool2d x [pool_height=2 pool_width=2]; q = InstanceNorm2d p; out p q",
        "x: NCW 1 2 6; p = MaxPool1d x [pool_width=2]; q = MaxPool1d p [pool_width=3]; out q",
        "x: NHWC 1 6 5 2; k: params HWIO 3 3 2 2; p = Mean x [dim=1 keepdim=true]; y = Add x p; c = Conv2d y k; out c",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(nets); i++) {
        xir_network *before = story_net(nets[i]), *net = xir_network_clone(before);
        assert_int_equal(xir_pass_run(net, "xir-to-nnb", "strict", NULL, why), XIR_OK);
        xir_network *again = way_through_file(net, "nnb", xir_nnb_check);
        assert_non_null(again);
        assert_int_equal(xir_pass_run(again, "nnb-to-xir", "strict", NULL, why), XIR_OK);
        CHECK_SAME_NUMBERS(before, again);
        xir_network_free(before);
        xir_network_free(again);
        xir_network_free(net);
    }
}

/* ---- fixed point ------------------------------------------------------------------------------------------------ */

/* "Affine ReLU": the functions of a network. */
static const char *functions_of(const xir_network *net) {
    static char text[400];
    size_t n = 0;
    *text = '\0';
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op));
        if (!xir_class_is_opaque(xir_op_class(op))) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? " " : "", (int)key.size - 5, key.data + 5);
    }
    return text;
}

static xir_network *net_of(const char *text) {
    static nnb_made file;
    nnb_make(&file, text);
    xir_network *net = xir_network_read(ctx, file.bytes, file.size, XIR_STR("x.nnb"), NULL, why);
    assert_non_null(net);
    return net;
}

/* A network of NNB whose parameters are 1, 2, 3, …, in steps of 2^-bits. After it was XIR it has these functions again,
 * and computes the same. */
static void goes_back(const char *text, const char *functions, int line) {
    xir_network *before = net_of(text);
    assert_int_equal(xir_pass_run(before, "nnb-to-xir", "strict", NULL, why), XIR_OK);
    xir_network *net = xir_network_clone(before);
    assert_int_equal(xir_pass_run(net, "xir-to-nnb", "weights=FIXED8,strict", NULL, why), XIR_OK);
    if (strcmp(functions_of(net), functions)) fail_msg("line %d: %s, not %s", line, functions_of(net), functions);
    xir_network *again = way_through_file(net, "nnb", xir_nnb_check);
    if (!again) xir_diags_print(why, stderr);
    assert_non_null(again);
    assert_int_equal(xir_pass_run(again, "nnb-to-xir", "strict", NULL, why), XIR_OK);
    CHECK_SAME_NUMBERS(before, again);
    xir_network_free(before);
    xir_network_free(net);
    xir_network_free(again);
}
#define GOES_BACK(text, functions) goes_back("nnb 3 44\n" text, functions, __LINE__)

static void fixed_point_stays_fixed(void **state) {
    (void)state;
    GOES_BACK("inputs 0\noutputs 4\nbuffers 3 2 2\nv i8:4 1,3 b0\nv i8:5 3,2 p6\nv i8:3 2 p2\nv i8:2 1,2 b1\n"
              "v i8:2 1,2 b2\nf 0 0,1,2>3 i1\nf 14 3>4 B0\n", "Affine ReLU");
    GOES_BACK("inputs 0\noutputs 1\nbuffers 4 4\nv i8:4 4 b0\nv i8:3 4 b1\nf 11 0>1\n", "Sigmoid");
    GOES_BACK("inputs 0\noutputs 1\nbuffers 4 16\nv i8:4 4 b0\nv f 4 b1\nf 70 0>1\n", "Log");
    GOES_BACK("inputs 0\noutputs 2\nbuffers 50 50 50\nv i16:9 1,1,5,5 b0\nv i16:9 1,1,5,5 b1\nv i16:9 1,1,2,2 b2\n"
              "f 14 0>1 B0\nf 5 1>2 [2,2] [2,2] B1 [0,0]\n", "ReLU MaxPooling");
}

/* Computations that the runtime does not do in fixed point are between casts: a sum of two scales, a product with more
 * fraction bits than its factors, a convolution without a bias, or of more than one type. */
static void some_of_it_is_computed_in_floats(void **state) {
    (void)state;
    GOES_BACK("inputs 0 1\noutputs 2\nbuffers 4 4 4\nv i8:4 4 b0\nv i8:3 4 b1\nv i8:3 4 b2\nf 31 0,1>2 B0\n",
              "Identity Identity Add2 Identity");
    GOES_BACK("inputs 0 1\noutputs 2\nbuffers 4 4 4\nv i8:3 4 b0\nv i8:3 4 b1\nv i8:3 4 b2\nf 31 0,1>2 B0\n", "Add2");
    GOES_BACK("inputs 0 1\noutputs 2\nbuffers 4 4 4\nv i8:1 4 b0\nv i8:2 4 b1\nv i8:4 4 b2\nf 34 0,1>2\n",
              "Identity Identity Mul2 Identity");
    GOES_BACK("inputs 0\noutputs 3\nbuffers 9 4\nv i8:4 1,1,3,3 b0\nv i8:4 1,1,2,2 p4\nv i8:3 1 p1\n"
              "v i8:2 1,1,2,2 b1\nf 265 0,1,2>3 i1 [0,0] [1,1] [1,1] i1 B0\n", "Convolution");
    GOES_BACK("inputs 0\noutputs 2\nbuffers 9 4\nv i8:4 1,1,3,3 b0\nv i8:4 1,1,2,2 p4\nv i8:2 1,1,2,2 b1\n"
              "f 265 0,1>2 i1 [0,0] [1,1] [1,1] i1 B0\n", "Identity Identity Convolution Identity");
    GOES_BACK("inputs 0\noutputs 2\nbuffers 36 16\nv f 1,1,3,3 b0\nv i8:4 1,1,2,2 p4\nv f 1,1,2,2 b1\n"
              "f 265 0,1>2 i1 [0,0] [1,1] [1,1] i1 B0\n", "Identity Convolution");
}

/* NNabla pads with 0 or more: what is cut off is a Slice. */
static void padding_below_0_is_cut_off(void **state) {
    static const struct { const char *pad, *functions; } cases[] = {
        { "Pad x [padding=0,0,0,0,-1,-2,0,-1]",                  "Slice Slice"     },
        { "Pad x [padding=0,0,1,0,-1,2,0,-1]",                   "Slice Slice Pad" },
        { "Pad x [padding=0,0,0,0,0,0,-2,1 mode=REFLECTION]",    "Slice Pad"       },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "x: 1 2 6 5; y = %s; out y", cases[i].pad);
        xir_network *before = story_net(text), *net = xir_network_clone(before);
        DOES(xir_pass_run(net, "xir-to-nnb", "strict", NULL, why));
        assert_string_equal(functions_of(net), cases[i].functions);
        xir_network *again = way_through_file(net, "nnb", xir_nnb_check);
        DOES(xir_pass_run(again, "nnb-to-xir", "strict", NULL, why));
        CHECK_SAME_NUMBERS(before, again);
        xir_network_free(before);
        xir_network_free(again);
        xir_network_free(net);
    }
}

/* ---- the types of parameters ------------------------------------------------------------------------------------ */

/* The kinds of elements of a parameter, given two numbers that take turns: fraction bits, or one of these. */
enum { REAL = -1, REAL_WITH_NOTE = -2, SIGNS = -3 };

typedef struct weights_case { const char *weights; float a, b; int expected; } weights_case;

static const weights_case weights_cases[] = {
    { "FLOAT32", 0.5f,        0.25f,     REAL           },
    { "FIXED8",  0,           0,         7              },
    { "FIXED8",  0.25f,       -0.5f,     7              },
    { "FIXED8",  0.999f,      -0.999f,   7              },
    { "FIXED8",  1,           0.5f,      6              },   /* 1 itself does not fit 7 fraction bits, but -1 does */
    { "FIXED8",  -1,          0.5f,      7              },
    { "FIXED8",  -1,          1,         6              },
    { "FIXED8",  1.5f,        -0.5f,     6              },
    { "FIXED8",  2,           -1,        5              },
    { "FIXED8",  -2,          1.5f,      6              },
    { "FIXED8",  3,           -0.5f,     5              },
    { "FIXED8",  4,           -4,        4              },
    { "FIXED8",  -4,          3.5f,      5              },
    { "FIXED8",  100,         0,         0              },
    { "FIXED8",  -128,        127,       0              },
    { "FIXED8",  128,         0,         REAL_WITH_NOTE },
    { "FIXED8",  -129,        0,         REAL_WITH_NOTE },
    { "FIXED8",  INFINITY,    0,         REAL_WITH_NOTE },
    { "FIXED8",  NAN,         0,         REAL_WITH_NOTE },
    { "FIXED16", 0.5f,        0,         15             },
    { "FIXED16", 1,           0,         14             },
    { "FIXED16", -1,          0,         15             },
    { "FIXED16", 3,           0,         13             },
    { "FIXED16", 128,         0,         7              },
    { "FIXED16", -128,        0,         8              },
    { "FIXED16", -32768,      32767,     0              },
    { "FIXED16", 32768,       0,         REAL_WITH_NOTE },
    { "FIXED16", 1e10f,       0,         REAL_WITH_NOTE },
    { "SIGN",    1,           -1,        SIGNS          },
    { "SIGN",    1,           -0.5f,     REAL           },
};

static int bits_of(const xir_type *element, bool note) {
    const xir_scales *scale = xir_type_scale(element);
    if (scale) return -(int)log2(xir_scales_at(scale, 0));
    if (xir_type_kind_of(element) != XIR_TYPE_FLOAT) return SIGNS;
    return note ? REAL_WITH_NOTE : REAL;
}

static void weights_get_the_exporters_fraction_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(weights_cases); i++) {
        const weights_case *c = &weights_cases[i];
        const float numbers[] = { c->a, c->b, c->a, c->b, c->a, c->b, c->a, c->b };
        char settings[40];
        xir_value *params;
        xir_network *net = net_of("nnb 3 44\ninputs 0\noutputs 2\nbuffers 32 32\nv f 8 b0\nv f 8 p32\nv f 8 b1\n"
                                  "f 31 0,1>2 B0\n");
        assert_int_equal(xir_network_params(net, &params, 1), 1);
        DOES(xir_params_set_copy(params, numbers, sizeof numbers));
        DOES(xir_pass_run(net, "nnb-to-xir", "strict", NULL, why));
        snprintf(settings, sizeof settings, "weights=%s", c->weights);
        xir_diags_clear(why);
        DOES(xir_pass_run(net, "xir-to-nnb", settings, NULL, why));
        assert_int_equal(xir_network_params(net, &params, 1), 1);
        const int found = bits_of(xir_type_element(xir_value_type(params)), xir_diags_count_of(why, XIR_NOTE) > 0);
        if (found != c->expected)
            fail_msg("%s of %g and %g: expected %d, found %d", c->weights, (double)c->a, (double)c->b, c->expected,
                     found);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
        cmocka_unit_test(maps_keep_their_letters),
        cmocka_unit_test(padding_below_0_is_cut_off),
        cmocka_unit_test(fixed_point_stays_fixed),
        cmocka_unit_test(some_of_it_is_computed_in_floats),
        cmocka_unit_test(weights_get_the_exporters_fraction_bits),
    };
    return _cmocka_run_group_tests("nnb_back", tests, COUNT(tests), group_begin, group_end);
}
