/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bounds of Buyi's scales: a network that the pass quantize has made has no finding, and one for each bound that is
 * broken. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <xir/icraft.h>
#include "support/story.h"

enum { CHANNELS = 8 };

static const char story[] =
    "x: NHWC 1 4 4 4; w: params HWIO 3 3 4 8; b: params 8; y = Conv2d x w b [pad_top=1 pad_bottom=1 pad_left=1 "
    "pad_right=1]; v: params HWIO 3 3 1 8; c: params 8; d = Conv2d y v c [groups=8 pad_top=1 pad_bottom=1 pad_left=1 "
    "pad_right=1]; s = Sigmoid y; m = Multiply d s; f = Reshape m [shape=16,8 layout=@layout(**)]; g = Reshape s "
    "[shape=8,16 layout=@layout(**)]; p = Matmul f g; u: params 16 4; q = Matmul p u; r = Sigmoid q; out r";

static xir_network *quantized(const char *options) {
    char path[60], text[200];
    xir_network *net = story_net(story);
    xir_value *in = NULL;
    xir_network_inputs(net, &in, 1);
    xir_array *x = xir_array_random(ctx, xir_value_type(in), 1, why);
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ x }, 1, NULL, why));
    snprintf(path, sizeof path, "bounds-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
    xir_array_free(x);
    snprintf(text, sizeof text, "calibration=\"%s\",scheme=buyi,outputs=same%s", path, options);
    DOES(xir_pass_run(net, "quantize", text, NULL, why));
    xir_diags_clear(why);
    unlink(path);
    return net;
}

static const xir_target *buyi(void) { return xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL); }

/* The findings of a rule about an op. */
static size_t count_findings(const xir_network *net, const char *op, const char *words) {
    xir_diags *found = xir_diags_new(ctx);
    size_t n = 0;
    (void)xir_op_try(story_op(net, op), buyi(), found);
    for (size_t i = 0; i < xir_diags_count(found); i++) {
        char text[600];
        const xir_diag *d = xir_diags_at(found, i);
        snprintf(text, sizeof text, "%.*s", (int)d->message.size, d->message.data);
        n += d->severity == XIR_ERROR && strstr(text, words) != NULL;
    }
    xir_diags_free(found);
    return n;
}

/* Scales m * 2^-e, the first with other numbers than the rest. */
static const xir_scales *scales_of(int64_t m, int64_t e, int64_t first_m, int64_t first_e, size_t n, int64_t axis) {
    int64_t ms[64], es[64];
    double origins[64];
    for (size_t i = 0; i < n; i++) {
        ms[i] = i ? m : first_m;
        es[i] = i ? e : first_e;
        origins[i] = ldexp((double)ms[i], (int)-es[i]);
    }
    return xir_exp_scales_from(ctx, ms, es, origins, n, n > 1 ? axis : -1);
}

static void set_scales(const xir_network *net, const char *op, int64_t input, const xir_scales *scales) {
    xir_value *v = xir_op_input(story_op(net, op), input);
    const xir_type *type = xir_type_with_scale(ctx, xir_value_type(v), scales, why);
    assert_non_null(type);
    DOES(xir_value_set_type(v, type));
}

static void what_the_pass_makes_keeps_the_bounds(void **state) {
    (void)state;
    static const char *const options[] = { "", ",bits=16", ",ratios=channel" };
    static const char *const ops[] = { "y", "d", "s", "m", "f", "g", "p", "q", "r" };
    for (size_t k = 0; k < 2; k++) {
        xir_network *net = quantized(options[k]);
        for (size_t i = 0; i < COUNT(ops); i++) {
            xir_diags_clear(why);
            const xir_status status = xir_op_try(story_op(net, ops[i]), buyi(), why);
            if (status) xir_diags_print(why, stderr);
            if (status) fail_msg("%s: %s", options[k], ops[i]);
        }
        xir_diags_clear(why);
        xir_network_free(net);
    }
}

typedef struct broken {
    const char *what, *op;
    int64_t     input;                       /* -1: the result; -2: the cut_scale */
    int64_t     m, e, first_m, first_e;      /* the first channel has others      */
    const char *words;
} broken;

/* For maps of 8 bits. */
static const broken cases[] = {
    { "m of 0",             "y", 1,  200, 14, 0,   14, "m is 0"                                     },
    { "m of 256",           "y", 1,  200, 14, 256, 14, "m is 256"                                   },
    { "two exponents",      "y", 1,  200, 14, 200, 13, "several exponents"                          },
    { "e below b",          "y", 1,  200, 7,  200, 7,  "the exponent is 7"                          },
    { "e above 2b + 5",     "y", 1,  200, 22, 200, 22, "the exponent is 22"                         },
    { "m below 128",        "y", 1,  100, 14, 100, 14, "the greatest m is 100"                      },
    { "n above 2b",         "y", 2,  0,   17, 0,   17, "the exponent is 17"                         },
    { "n below b",          "y", 2,  0,   7,  0,   7,  "the exponent is 7"                          },
    { "another m",          "y", 2,  99,  12, 99,  12, "that of the weights"                        },
    { "e of depthwise",     "d", 1,  200, 17, 200, 17, "the exponent is 17"                         },
    { "a map's scale",      "y", -1, 2,   1,  2,   1,  "a scale of the normalised map"              },
    { "a map's exponent",   "y", -1, 1,   0,  1,   1,  "a scale of the normalised map"              },
    { "m of a cut",         "m", -2, 200, 10, 256, 10, "m is 256"                                   },
    { "e of a cut",         "m", -2, 200, 17, 200, 17, "the exponent is 17"                         },
    { "e of a product",     "p", -2, 200, 22, 200, 22, "the exponent is 22"                         },
    { "e of a Matmul",      "q", 1,  200, 5,  200, 5,  "the exponent is 5"                          },
};

/* Scales with the m of the weights where a case says 0. */
static const xir_scales *scales_of_case(const xir_network *net, const broken *c, size_t n) {
    int64_t ms[64], es[64], e;
    double origins[64], origin;
    if (c->m) return scales_of(c->m, c->e, c->first_m, c->first_e, n, c->input == 1 ? 3 : c->input == 2 ? 0 : -1);
    const xir_scales *weights = xir_type_scale(xir_value_type(xir_op_input(story_op(net, c->op), 1)));
    for (size_t i = 0; i < n; i++) {
        assert_true(xir_scales_exp_at(weights, i, &ms[i], &e, &origin));
        es[i] = c->e;
        origins[i] = ldexp((double)ms[i], (int)-c->e);
    }
    return xir_exp_scales_from(ctx, ms, es, origins, n, 0);
}

static void each_broken_bound_is_found(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const broken *c = &cases[i];
        xir_network *net = quantized("");
        assert_int_equal(count_findings(net, c->op, c->words), 0);
        if (c->input == -2) {
            const size_t n = (size_t)xir_type_dim(xir_value_type(story_value(net, c->op)), -1, false);
            const xir_scales *cut = scales_of(c->m, c->e, c->first_m, c->first_e, n, -1);
            DOES(xir_op_set(story_op(net, c->op), XIR_STR("cut_scale"),
                            &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = (const xir_object *)cut }));
        } else if (c->input == -1) {
            xir_value *v = story_value(net, c->op);
            const xir_scales *ones = scales_of(c->m, c->e, c->first_m, c->first_e, CHANNELS, -1);
            DOES(xir_value_set_type(v, xir_type_with_scale(ctx, xir_value_type(v), ones, why)));
        } else {
            const xir_scales *was = xir_type_scale(xir_value_type(xir_op_input(story_op(net, c->op), c->input)));
            set_scales(net, c->op, c->input, scales_of_case(net, c, xir_scales_count(was)));
        }
        if (count_findings(net, c->op, c->words) != 1) {
            xir_diags_clear(why);
            xir_op_try(story_op(net, c->op), buyi(), why);
            xir_diags_print(why, stderr);
            fail_msg("%s: %zu findings", c->what, count_findings(net, c->op, c->words));
        }
        xir_network_free(net);
    }
}

/* A bias of six bits less, of the same m, and constants of other widths or of plain scales. */
static void other_types_are_found(void **state) {
    (void)state;
    xir_network *net = quantized("");
    int64_t m, e, n;
    double origin;
    const xir_value *w = xir_op_input(story_op(net, "y"), 1), *b = xir_op_input(story_op(net, "y"), 2);
    assert_true(xir_scales_exp_at(xir_type_scale(xir_value_type(w)), 0, &m, &e, &origin));
    assert_true(xir_scales_exp_at(xir_type_scale(xir_value_type(b)), 0, &m, &n, &origin));
    assert_true(e - n >= 0 && e - n <= 5);
    const double plain = 0.01;
    set_scales(net, "y", 1, xir_scales_from(ctx, &plain, 1, -1));
    assert_int_equal(count_findings(net, "y", "a scale is not m * 2^-e"), 1);
    xir_network_free(net);
    net = quantized("");
    set_scales(net, "y", 2, xir_scales_from(ctx, &plain, 1, -1));
    assert_int_equal(count_findings(net, "y", "a scale is not m * 2^-n"), 1);
    xir_network_free(net);
    /* Weights of 16 bits for maps of 8. */
    xir_network *wide = quantized(",bits=16");
    net = quantized("");
    xir_value *map = story_value(wide, "y");
    DOES(xir_value_set_type(map, xir_value_type(story_value(net, "y"))));
    assert_int_equal(count_findings(wide, "y", "weights of 16 bits for maps of 8"), 1);
    xir_network_free(wide);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_pass_makes_keeps_the_bounds),
        cmocka_unit_test(each_broken_bound_is_found),
        cmocka_unit_test(other_types_are_found),
    };
    return RUN_GROUP(tests);
}
