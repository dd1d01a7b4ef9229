/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Schemes as rows: those of the library, those of a plug-in, by which networks are quantised, and rows that are
 * refused. */
#include <math.h>
#include <stdio.h>
#include "passes/quantize/quantized.h"
#include "support/story.h"

#define PLUGIN XIR_TEST_PLUGINS "/scheme.so"

static const char net_story[] = "x: NHWC 1 4 4 3; w: params HWIO 3 3 3 8; b: params 8; y = Conv2d x w b; z = ReLU y;"
                                "v: params HWIO 2 2 8 4; c: params 4; u = Conv2d z v c; out u";

/* The network, quantised with options after a calibration on one sample. */
static xir_network *quantized(const char *options) {
    xir_network *net = story_net(net_story);
    xir_value *in = NULL;
    xir_network_inputs(net, &in, 1);
    xir_array *x = xir_array_random(ctx, xir_value_type(in), 1, why);
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ x }, 1, NULL, why));
    xir_array_free(x);
    quantise_by(net, c, options);
    return net;
}

static uint64_t bits_of(const xir_network *net, const char *op, int64_t input) {
    return xir_type_storage_bits(xir_value_type(xir_op_input(story_op(net, op), input)));
}

static bool is_power_of_two(double x) {
    int e;
    return frexp(x, &e) == 0.5;
}

/* Returns the signal-to-noise ratio of the quantised network on another sample, in dB. */
static double decibels(const xir_network *net) {
    xir_network *real = story_net(net_story);
    xir_value *in = NULL;
    xir_network_inputs(real, &in, 1);
    xir_array *x = xir_array_random(ctx, xir_value_type(in), 1, why), *expected = NULL, *found = NULL;
    DOES(xir_network_run(real, (const xir_array *const[]){ x }, 1, &expected, 1, NULL, why));
    DOES(xir_network_run(net, (const xir_array *const[]){ x }, 1, &found, 1, NULL, why));
    double power = 0, error = 0;
    for (size_t i = 0; i < xir_array_count(expected); i++) {
        const double e = xir_array_real(expected, i), f = xir_array_real(found, i);
        power += e * e;
        error += (e - f) * (e - f);
    }
    xir_array_free(x);
    xir_array_free(expected);
    xir_array_free(found);
    xir_network_free(real);
    return 10 * log10(power / error);
}

static void the_library_has_three(void **state) {
    (void)state;
    static const char *const names[] = { "onnx", "zhuge", "buyi" };
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_string_equal(xir_scheme_at(ctx, i)->name, names[i]);
        assert_ptr_equal(xir_scheme_find(ctx, xir_str_of(names[i])), xir_scheme_at(ctx, i));
    }
    assert_null(xir_scheme_at(ctx, COUNT(names)));
    assert_null(xir_scheme_find(ctx, XIR_STR("acme-shifts")));
}

static void a_plugin_adds_schemes(void **state) {
    (void)state;
    xir_context *whole = ctx;
    ctx = xir_context_new(NULL);
    DOES(xir_plugin_load(ctx, PLUGIN, why));
    DOES(xir_plugin_load(ctx, PLUGIN, why));
    assert_string_equal(xir_scheme_at(ctx, 3)->name, "acme-shifts");
    assert_string_equal(xir_scheme_at(ctx, 4)->name, "acme-ratios");
    assert_null(xir_scheme_at(ctx, 5));

    xir_network *net = quantized("scheme=acme-shifts");
    CHECK_STR(xir_value_name(xir_op_input(story_op(net, "u"), 0)), "z.quantized");
    assert_int_equal(bits_of(net, "y", 0), 8);
    assert_int_equal(bits_of(net, "y", 1), 6);
    assert_int_equal(bits_of(net, "y", 2), 24);
    for (int64_t i = 0; i < 3; i++) {
        const xir_scales *scales = xir_type_scale(xir_value_type(xir_op_input(story_op(net, "y"), i)));
        assert_int_equal(xir_scales_count(scales), 1);
        assert_true(is_power_of_two(xir_scales_at(scales, 0)));
    }
    assert_true(decibels(net) > 20);
    xir_network_free(net);
    net = quantized("scheme=acme-shifts,bits=12");
    assert_int_equal(bits_of(net, "u", 0), 12);
    assert_int_equal(bits_of(net, "u", 1), 6);
    xir_network_free(net);

    net = quantized("scheme=acme-ratios");
    assert_int_equal(bits_of(net, "y", 0), 10);
    assert_int_equal(bits_of(net, "y", 1), 10);
    assert_int_equal(bits_of(net, "y", 2), 20);
    int64_t m, e, m_bias, n, greatest = 0;
    double origin;
    const xir_scales *w = xir_type_scale(xir_value_type(xir_op_input(story_op(net, "y"), 1))),
                     *b = xir_type_scale(xir_value_type(xir_op_input(story_op(net, "y"), 2)));
    for (size_t c = 0; c < xir_scales_count(w); c++) {
        assert_true(xir_scales_exp_at(w, c, &m, &e, &origin) && xir_scales_exp_at(b, c, &m_bias, &n, &origin));
        assert_true(m >= 1 && m <= 15 && m_bias == m && e >= n && e - n <= 3);
        greatest = m > greatest ? m : greatest;
    }
    assert_true(greatest >= 8);
    assert_true(decibels(net) > 30);
    xir_network_free(net);

    net = story_net(net_story);
    assert_int_equal(xir_pass_run(net, "quantize", "scheme=acme", NULL, why), XIR_E_UNKNOWN);
    check_finding(XIR_E_UNKNOWN, "there is no scheme 'acme': expected onnx, zhuge, buyi, acme-shifts or acme-ratios");
    assert_int_equal(xir_pass_run(net, "quantize", "scheme=acme-shifts,bits=16", NULL, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "maps of the scheme acme-shifts have 8 or 12 bits, found 16");
    xir_network_free(net);
    xir_context_free(ctx);
    ctx = whole;
}

/* A row without its head. */
#define ROW(traits_, maps, wide, weights, bias_, format, bits, m, shift)                                              \
    { XIR_SCHEME_HEAD("acme", "of a test"), .traits = (traits_), .map_bits = (maps), .wide_bits = (wide),            \
      .weight_bits = (weights), .bias = (xir_scheme_bias)(bias_), .bias_format = (xir_float_format)(format),         \
      .bias_bits = (bits), .most_m = (m), .most_shift = (shift) }
enum {
    NORM = XIR_SCHEME_NORMALISED, PRODUCT = XIR_SCHEME_BIAS_PRODUCT, FLOATS = XIR_SCHEME_BIAS_FLOAT,
    EXP = XIR_SCHEME_BIAS_EXP, BF16 = XIR_FLOAT_BF16, UNKNOWN = XIR_FLOAT_FPE6M9 + 1
};

static void rows_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    static const struct { xir_scheme_decl row; xir_status status; const char *words; } cases[] = {
        { { .abi = 1, .size = sizeof(xir_scheme_decl) }, XIR_E_ABI, "another version of the binary interface" },
        { { .abi = XIR_ABI, .size = 8 },  XIR_E_ABI,     "another version of the binary interface"  },
        { { XIR_SCHEME_HEAD("A", "x") },  XIR_E_INVALID, "'A' is not a scheme"                      },
        { { XIR_SCHEME_HEAD(NULL, "x") }, XIR_E_INVALID, "'' is not a scheme"                       },
        { { XIR_SCHEME_HEAD("a", NULL) }, XIR_E_INVALID, "'a' is not a scheme"                      },
        { { XIR_SCHEME_HEAD("onnx", "x"), .map_bits = 8, .bias_bits = 32 }, XIR_E_EXISTS, "there is a scheme 'onnx'" },
        /*    traits maps wide weights bias  format bits m  shift */
        { ROW(128,   8,   0,   0, PRODUCT, 0,       32, 0,      0), XIR_E_UNSUPPORTED, "what this version does not know" },
        { ROW(0,     8,   0,   0, 3,       0,       32, 0,      0), XIR_E_INVALID, "a bias that is known"              },
        { ROW(0,     8,   0,   0, FLOATS,  UNKNOWN, 0,  0,      0), XIR_E_INVALID, "a bias_format"                     },
        { ROW(0,     8,   0,   0, PRODUCT, BF16,    32, 0,      0), XIR_E_INVALID, "for a bias of floats alone"        },
        { ROW(NORM,  8,   0,   0, PRODUCT, 0,       32, 0,      0), XIR_E_INVALID, "normalised maps and a bias of"     },
        { ROW(0,     8,   0,   0, EXP,     0,       0,  1,      0), XIR_E_INVALID, "normalised maps and a bias of"     },
        { ROW(NORM,  8,   0,   8, EXP,     0,       0,  255,    0), XIR_E_INVALID, "no other trait and no weight_bits" },
        { ROW(NORM | 32, 8, 0, 0, EXP,     0,       0,  255,    0), XIR_E_INVALID, "no other trait and no weight_bits" },
        { ROW(0,     1,   0,   0, PRODUCT, 0,       32, 0,      0), XIR_E_BOUNDS,  "map_bits of 2 to 16"               },
        { ROW(0,     17,  0,   0, PRODUCT, 0,       32, 0,      0), XIR_E_BOUNDS,  "map_bits of 2 to 16"               },
        { ROW(0,     8,   8,   0, PRODUCT, 0,       32, 0,      0), XIR_E_BOUNDS,  "wide_bits of 0, or more"           },
        { ROW(0,     8,   17,  0, PRODUCT, 0,       32, 0,      0), XIR_E_BOUNDS,  "wide_bits of 0, or more"           },
        { ROW(0,     8,   0,   1, PRODUCT, 0,       32, 0,      0), XIR_E_BOUNDS,  "weight_bits of 0, or 2 to 16"      },
        { ROW(0,     8,   0,   0, PRODUCT, 0,       7,  0,      0), XIR_E_BOUNDS,  "bias_bits of 8 to 32"              },
        { ROW(0,     8,   0,   0, PRODUCT, 0,       33, 0,      0), XIR_E_BOUNDS,  "bias_bits of 8 to 32"              },
        { ROW(NORM,  8,   0,   0, EXP,     0,       32, 255,    0), XIR_E_BOUNDS,  "otherwise 0"                       },
        { ROW(NORM,  8,   0,   0, EXP,     0,       0,  0,      0), XIR_E_BOUNDS,  "a most_m of 2^k - 1"               },
        { ROW(NORM,  8,   0,   0, EXP,     0,       0,  200,    0), XIR_E_BOUNDS,  "a most_m of 2^k - 1"               },
        { ROW(NORM,  8,   0,   0, EXP,     0,       0,  131071, 0), XIR_E_BOUNDS,  "a most_m of 2^k - 1"               },
        { ROW(0,     8,   0,   0, PRODUCT, 0,       32, 255,    0), XIR_E_BOUNDS,  "a most_m of 2^k - 1"               },
        { ROW(NORM,  8,   0,   0, EXP,     0,       0,  255,   17), XIR_E_BOUNDS,  "a most_shift of 0 to 16"           },
        { ROW(0,     8,   0,   0, PRODUCT, 0,       32, 0,      1), XIR_E_BOUNDS,  "a most_shift of 0 to 16"           },
    };
    xir_context *fresh = xir_context_new(NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const xir_status status = xir_scheme_register(fresh, &cases[i].row, why);
        if (status != cases[i].status)
            fail_msg("row %zu: found %s, expected %s", i, xir_status_name(status), xir_status_name(cases[i].status));
        check_finding(cases[i].status, cases[i].words);
    }
    assert_int_equal(xir_scheme_register(fresh, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "scheme 0 is NULL");
    assert_null(xir_scheme_at(fresh, 3));
    static const xir_scheme_decl fine = ROW(0, 8, 0, 0, PRODUCT, 0, 32, 0, 0);
    DOES(xir_scheme_register(fresh, &fine, why));
    assert_ptr_equal(xir_scheme_find(fresh, XIR_STR("acme")), &fine);
    xir_context_free(fresh);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_has_three),
        cmocka_unit_test(a_plugin_adds_schemes),
        cmocka_unit_test(rows_that_contradict_themselves_are_refused),
    };
    return RUN_GROUP(tests);
}
