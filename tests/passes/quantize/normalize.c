/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass normalize: values are divided by ratios, constants contain them, and the network computes the same. The pass
 * quantize makes integers of the result. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <xir/region.h>
#include "support/story.h"

enum { SAMPLES = 4 };
static char path[60];

static xir_array *sample(const xir_network *net, size_t i, uint64_t seed) {
    xir_value *in[4];
    xir_network_inputs(net, in, 4);
    return xir_array_random(ctx, xir_value_type(in[i]), seed, why);
}

static void calibrate(const xir_network *net) {
    xir_calibration *c = xir_calibration_new(ctx, &XIR_INIT(xir_calibration_options, .channels = true), why);
    const size_t n = xir_network_inputs(net, NULL, 0);
    for (uint64_t seed = 1; seed <= SAMPLES; seed++) {
        xir_array *in[4];
        for (size_t i = 0; i < n; i++) in[i] = sample(net, i, seed * 10 + i);
        DOES(xir_calibration_add(c, net, (const xir_array *const *)in, n, NULL, why));
        for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    }
    snprintf(path, sizeof path, "normalize-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
}

/* Runs a pass with the calibration; notes are dropped. */
static void run_pass(xir_network *net, const char *pass, const char *options) {
    char text[300];
    snprintf(text, sizeof text, "calibration=\"%s\"%s%s", path, *options ? "," : "", options);
    const xir_status status = xir_pass_run(net, pass, text, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_diags_clear(why);
    DOES(xir_network_validate(net, why));
}

static xir_network *normalized(const char *story, const char *options) {
    xir_network *net = story_net(story);
    calibrate(net);
    run_pass(net, "normalize", options);
    unlink(path);
    return net;
}

static size_t count_casts(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = NULL; (op = xir_network_next_of_class(net, op, xir_cast_class()));) n++;
    return n;
}

static bool is_normalised(const xir_value *v) {
    return xir_type_kind_of(xir_type_element(xir_value_type(v))) == XIR_TYPE_NORMALIZED;
}

static double ratio(const xir_value *v, size_t i) {
    const xir_norm_ratios *r = xir_type_norm_ratios(xir_value_type(v));
    assert_non_null(r);
    return xir_norm_ratios_at(r, xir_norm_ratios_count(r) > 1 ? i : 0);
}

/* ---- the same numbers -------------------------------------------------------------------------------------------- */

/* Casts: one for each input; two more where the class does not take such maps, as a Pad with another number than 0. */
static const struct { const char *story; size_t casts; } stories[] = {
    { "x: NHWC 1 6 6 4; w: params HWIO 3 3 4 8; b: params 8; y = Conv2d x w b; r = ReLU y; s = Tanh r; out s", 1 },
    { "x: NHWC 1 6 6 4; w: params HWIO 3 3 2 8; b: params 8; y = Conv2d x w b [groups=2]; r = ReLU y; s = Tanh r;"
      "out s", 1 },
    { "x: NHWC 1 6 6 4; w: params HWIO 3 3 1 8; y = Conv2d x w [groups=4]; s = Tanh y; out s", 1 },
    { "x: NHWC 1 4 4 4; w: params HWOI 2 2 3 4; b: params 3; y = ConvTranspose2d x w b; s = Tanh y; out s", 1 },
    { "x: NHWC 1 4 4 4; w: params HWOI 2 2 3 4; b: params 6; y = ConvTranspose2d x w b [groups=2]; s = Tanh y; out s",
      1 },
    { "x: 3 4; w: params 4 5; b: params 5; y = Matmul x w b; s = Tanh y; out s", 1 },
    { "x: 3 4; w: params 4; y = Matmul x w; s = Tanh y; out s", 1 },
    { "x: 3 4; w: params 2 3; y = Matmul w x; s = Tanh y; out s", 1 },
    { "x: 4 4; t = Tanh x; y = Matmul x t; s = Tanh y; out s", 1 },
    { "x: 3 4; t = Tanh x; y = Add x t [alpha=2 beta=-1]; s = Tanh y; out s", 1 },
    { "x: 3 4; c: params 3 4; y = Add x c [beta=0.5]; s = Tanh y; out s", 1 },
    { "x: 3 4; c: params 1; y = Add c x [beta=0.5]; s = Tanh y; out s", 1 },
    { "x: 3 4; z: 3 1; a = Tanh z; y = Add x a; s = Tanh y; out s", 2 },
    { "x: 3 4; t = Tanh x; y = Multiply x t; s = Tanh y; out s", 1 },
    { "x: 3 4; c: params 3 4; y = Multiply x c; s = Tanh y; out s", 1 },
    { "x: 3 4; c: params 1; y = Multiply c x; s = Tanh y; out s", 1 },
    { "x: NHWC 1 2 2 4; v: params 4; m: params 4; y = BatchNorm2d x [variance=v mean=m]; s = Tanh y; out s", 1 },
    { "x: 3 4; t = Sigmoid x; c = Concat x t [axis=-1]; w: params 8 2; y = Matmul c w; s = Tanh y; out s", 1 },
    { "x: 3 4; t = Sigmoid x; c = Concat x t [axis=0]; w: params 4 2; y = Matmul c w; s = Tanh y; out s", 1 },
    { "x: 3 4; a, b = Split x [sections=2,2 axis=-1]; y = Add a b; s = Tanh y; out s", 1 },
    { "x: 3 4; t = Transpose x [dims=1,0 layout=@layout(**)]; w: params 3 2; y = Matmul t w; s = Tanh y; out s", 1 },
    { "x: 3 4; t = Reshape x [shape=12 layout=@layout(*)]; w: params 12 2; y = Matmul t w; s = Tanh y; out s", 1 },
    { "x: NHWC 1 4 4 3; y = MaxPool2d x [pool_width=2 pool_height=2]; z = AvgPool2d y [pool_width=2 pool_height=2];"
      "s = Tanh z; out s", 1 },
    { "x: 3 4; y = Pad x [padding=1,1,0,0]; s = Tanh y; out s", 1 },
    { "x: 3 4; y = Pad x [padding=1,1,0,0 value=0.5]; s = Tanh y; out s", 3 },
    { "x: 3 4; y = Slice x [begin=0,1 end=3,4 stride=1,2]; s = Tanh y; out s", 1 },
    { "x: 3 4; y = Softmax x [axis=-1]; s = Tanh y; out s", 1 },
};

static void check_normalised(const xir_network *real, const xir_network *net, const char *story, size_t casts) {
    CHECK_SAME_NUMBERS(real, net);
    if (count_casts(net) != casts) fail_msg("%s: %zu casts, expected %zu", story, count_casts(net), casts);
}

static void each_op_computes_the_same(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++)
        for (int channels = 0; channels < 2; channels++) {
            xir_network *real = story_net(stories[i].story);
            xir_network *net = normalized(stories[i].story, channels ? "per=channel" : "");
            check_normalised(real, net, stories[i].story, stories[i].casts);
            xir_network_free(real);
            xir_network_free(net);
        }
}

typedef struct written { char *data; size_t size, room; } written;

static bool keep(void *user, const void *data, size_t size) {
    written *w = user;
    if (w->size + size > w->room) w->data = realloc(w->data, w->room = (w->size + size) * 2);
    assert_non_null(w->data);
    memcpy(w->data + w->size, data, size);
    w->size += size;
    return true;
}

static xir_network *through_format(xir_network *net, const char *format) {
    written w = { 0 };
    DOES(xir_network_write(net, keep, &w, &XIR_INIT(xir_save_options, .format = format), why));
    xir_network *read = xir_network_read(ctx, w.data, w.size, XIR_STR("file"), NULL, why);
    assert_non_null(read);
    free(w.data);
    return read;
}

/* Files of the result compute the same. */
static void files_keep_the_ratios(void **state) {
    (void)state;
    static const char *const formats[] = { "fb", "imodel" };
    xir_network *net = normalized(stories[0].story, "per=channel");
    for (size_t i = 0; i < COUNT(formats); i++) {
        xir_network *read = through_format(net, formats[i]);
        CHECK_SAME_NUMBERS(net, read);
        assert_true(ratio(story_value(net, "y"), 3) == ratio(story_value(read, "y"), 3));
        xir_network_free(read);
    }
    xir_network_free(net);
}

/* ---- ratios ------------------------------------------------------------------------------------------------------ */

/* The ratio of a channel is its greatest number by 127, of a map for all channels that of the whole. */
static void ratios_are_those_of_the_ranges(void **state) {
    (void)state;
    static const char story[] = "x: 1 4; c: params 4 = 1 10 100 0; y = Multiply x c; s = Tanh y; out s";
    double most[4] = { 0 }, all = 0;
    xir_network *real = story_net(story);
    for (uint64_t seed = 1; seed <= SAMPLES; seed++) {
        xir_array *in = sample(real, 0, seed * 10);
        static const double c[] = { 1, 10, 100, 0 };
        for (size_t i = 0; i < 4; i++) most[i] = fmax(most[i], fabs(xir_array_real(in, i) * c[i]));
        xir_array_free(in);
    }
    for (size_t i = 0; i < 4; i++) all = fmax(all, most[i]);
    xir_network *net = normalized(story, "per=channel"), *even = normalized(story, "bits=16");
    for (size_t i = 0; i < 4; i++) {
        const double expected = fmin(fmax(1.5 * most[i], all / 128), all) / 127;   /* that of a channel has half more */
        if (!(fabs(ratio(story_value(net, "y"), i) / expected - 1) < 1e-6)) fail_msg("channel %zu", i);
        if (!(fabs(ratio(story_value(even, "y"), i) / (all / 32767) - 1) < 1e-6)) fail_msg("channel %zu", i);
    }
    xir_network_free(real);
    xir_network_free(net);
    xir_network_free(even);
}

static void ratios_are_joined_where_maps_are(void **state) {
    (void)state;
    xir_network *net = normalized("x: 2 2; t = Sigmoid x; last = Concat x t [axis=-1]; first = Concat x t [axis=0];"
                                  "a = Tanh last; b = Tanh first; out a b", "per=channel");
    const xir_value *x = story_value(net, "x.normalized"), *t = story_value(net, "t"), *last = story_value(net, "last");
    /* `first` makes the ratios of x and t equal, and `last` has both next to each other. */
    for (size_t i = 0; i < 2; i++) {
        assert_true(ratio(x, i) == ratio(t, i));
        assert_true(ratio(last, i) == ratio(x, i) && ratio(last, 2 + i) == ratio(t, i));
    }
    xir_network_free(net);
    net = normalized("x: 2 2; t = Sigmoid x; last = Concat x t [axis=-1]; a = Tanh last; out a", "");
    assert_true(ratio(story_value(net, "x.normalized"), 0) != ratio(story_value(net, "t"), 0));
    assert_true(ratio(story_value(net, "last"), 3) == ratio(story_value(net, "t"), 0));
    xir_network_free(net);
    net = normalized("x: 2 4; a, b = Split x [sections=1,3 axis=-1]; s = Tanh a; t = Tanh b; out s t",
                     "per=channel");
    for (size_t i = 0; i < 3; i++)
        assert_true(ratio(story_value(net, "b"), i) == ratio(story_value(net, "a"), 0));
    xir_network_free(net);
    /* A reshape that mixes channels, before which they have one ratio, through a chain. */
    net = normalized("x: 3 4; r = ReLU x; c = Copy r; y = Reshape c [shape=2,6 layout=@layout(**)]; s = Tanh y; out s",
                     "per=channel");
    for (size_t i = 1; i < 4; i++)
        assert_true(ratio(story_value(net, "x.normalized"), i) == ratio(story_value(net, "x.normalized"), 0));
    xir_network_free(net);
}

static void an_op_without_a_rule_stays_a_float(void **state) {
    (void)state;
    static const char story[] = "x: 3 4; c: params 3 4; y = Maximum x c; z = Tanh y; s = Sigmoid z; out s";
    xir_network *real = story_net(story), *net = normalized(story, "");
    assert_false(is_normalised(story_value(net, "y")));
    assert_true(is_normalised(story_value(net, "z")));
    check_normalised(real, net, story, 3);
    xir_network_free(net);
    xir_network *kept = normalized("x: 3 4; y = Tanh x; z = Tanh y; s = Sigmoid z; out s", "keep=z");
    assert_false(is_normalised(story_value(kept, "z")));
    xir_network_free(kept);
    xir_network_free(real);
}

/* ---- factors of products ----------------------------------------------------------------------------------------- */

static const xir_scales *cut_of(const xir_op *op) {
    xir_attr cut;
    DOES(xir_op_get(op, XIR_STR("cut_scale"), &cut));
    return xir_scales_of(cut.as.ref);
}

/* Of two maps no constant could contain the ratios: the product is multiplied by Nx * Ny / Nz of each channel. */
static void a_product_of_two_maps_has_a_cut(void **state) {
    (void)state;
    static const struct { const char *story, *x; } rows[] = {
        { "x: 3 4; t = Tanh x; y = Multiply x t; s = Tanh y; out s", "x.normalized" },
        { "x: 4 4; t = Tanh x; y = Matmul x t; s = Tanh y; out s", "x.normalized" },
        { "x: NHWC 1 4 4 4; k: HWIO 1 1 4 4; r = Tanh x; t = Tanh k; y = Conv2d r t; s = Tanh y; out s", "r" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int channels = 0; channels < 2; channels++) {
            xir_network *net = normalized(rows[i].story, channels ? "per=channel" : "");
            const xir_value *x = story_value(net, rows[i].x), *t = story_value(net, "t"), *y = story_value(net, "y");
            const xir_scales *cut = cut_of(story_op(net, "y"));
            const size_t n = xir_scales_count(cut);
            if (n != 1 && n != 4) fail_msg("%s: %zu factors", rows[i].story, n);
            for (size_t c = 0; c < 4; c++) {
                const double expected = ratio(x, c) * ratio(t, c) / ratio(y, c);
                const double found = xir_scales_at(cut, n > 1 ? c : 0);
                if (!(fabs(found / expected - 1) < 1e-6)) fail_msg("%s, channel %zu: %g", rows[i].story, c, found);
            }
            xir_network_free(net);
        }
}

/* The effect of a back end's factor on the constants is not known: an op of each class that has one stays a float. */
static void an_op_that_has_a_cut_stays_a_float(void **state) {
    (void)state;
    static const char *const stories_of[] = {
        "x: 3 4; t = Tanh x; y = Add x t; s = Tanh y; out s",
        "x: 3 4; t = Tanh x; y = Multiply x t; s = Tanh y; out s",
        "x: 3 4; w: params 4 5; y = Matmul x w; s = Tanh y; out s",
        "x: NLC 1 6 4; w: params LIO 3 4 8; y = Conv1d x w; s = Tanh y; out s",
        "x: NHWC 1 6 6 4; w: params HWIO 3 3 4 8; y = Conv2d x w; s = Tanh y; out s",
        "x: NDHWC 1 4 4 4 2; w: params DHWIO 3 3 3 2 4; y = Conv3d x w; s = Tanh y; out s",
    };
    static const char *const passes[][2] = { { "normalize", "" }, { "quantize", "scheme=buyi" } };
    const xir_scales *cut = xir_scales_from(ctx, (const double[]){ 0.5 }, 1, -1);
    for (size_t i = 0; i < COUNT(stories_of); i++)
        for (size_t k = 0; k < COUNT(passes); k++) {
            xir_network *net = story_net(stories_of[i]);
            DOES(xir_op_set(story_op(net, "y"), XIR_STR("cut_scale"),
                            &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = (const xir_object *)cut }));
            calibrate(net);
            run_pass(net, passes[k][0], passes[k][1]);
            unlink(path);
            const xir_value *y = story_value(net, "y");
            if (xir_type_kind_of(xir_type_element(xir_value_type(y))) != XIR_TYPE_FLOAT) fail_msg("%s", stories_of[i]);
            assert_int_equal(xir_scales_count(cut_of(story_op(net, "y"))), 1);
            assert_true(xir_scales_at(cut_of(story_op(net, "y")), 0) == 0.5);
            xir_network_free(net);
        }
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

/* 10 log10 of the power of the results over that of the error, on samples that were calibrated. */
static double decibels(const xir_network *real, const xir_network *net) {
    double power = 0, error = 0;
    for (uint64_t seed = 1; seed <= SAMPLES; seed++) {
        xir_array *in = sample(real, 0, seed * 10), *a = NULL, *b = NULL;
        DOES(xir_network_run(real, (const xir_array *const[]){ in }, 1, &a, 1, NULL, why));
        DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &b, 1, NULL, why));
        for (size_t i = 0; i < xir_array_count(a); i++) {
            const double x = xir_array_real(a, i), e = x - xir_array_real(b, i);
            power += x * x;
            error += e * e;
        }
        xir_array_free(in);
        xir_array_free(a);
        xir_array_free(b);
    }
    return 10 * log10(power / error);
}

/* Channels of very different sizes, which the next product makes equal again: one ratio loses the small ones. */
static const char uneven[] =
    "x: 4 4; c: params 4 = 1 0.01 0.1 0.003; y = Multiply x c; d: params 4 = 1 100 10 300; z = Multiply y d;"
    "w: params 4 4; r = Matmul z w; out r";

static void ratios_by_channel_gain(void **state) {
    (void)state;
    xir_network *real = story_net(uneven), *one = story_net(uneven), *each = story_net(uneven);
    calibrate(real);
    run_pass(one, "quantize", "scheme=buyi");
    run_pass(each, "quantize", "scheme=buyi,ratios=channel");
    const double with_one = decibels(real, one), with_each = decibels(real, each);
    if (!(with_each > with_one + 20)) fail_msg("%.1f dB, %.1f dB by channel", with_one, with_each);
    xir_network_free(real);
    xir_network_free(one);
    xir_network_free(each);
    unlink(path);
}

/* normalize, then quantize, computes what quantize alone computes, to a step where a constant is near a tie. */
static void a_normalised_network_becomes_integers(void **state) {
    (void)state;
    static const char *const options[] = { "", "channel" };
    for (size_t s = 0; s < COUNT(stories); s++)
        for (size_t i = 0; i < COUNT(options); i++) {
            xir_network *real = story_net(stories[s].story), *net = story_net(stories[s].story);
            if (xir_network_inputs(real, NULL, 0) > 1) {
                xir_network_free(real);
                xir_network_free(net);
                continue;
            }
            calibrate(real);
            run_pass(net, "normalize", *options[i] ? "per=channel" : "");
            DOES(xir_pass_run(net, "quantize", "scheme=buyi", NULL, why));
            xir_diags_clear(why);
            DOES(xir_network_validate(net, why));
            const double db = decibels(real, net);
            if (!(db > 25)) fail_msg("%s, %s: %.1f dB", stories[s].story, options[i], db);
            for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
                for (size_t k = 0; k < xir_op_output_count(op); k++)
                    assert_false(is_normalised(xir_op_output(op, (int64_t)k)));
            xir_network_free(real);
            xir_network_free(net);
            unlink(path);
        }
}

/* ---- and back ---------------------------------------------------------------------------------------------------- */

static bool has_ratios(const xir_value *v) { return xir_type_norm_ratios(xir_value_type(v)) != NULL; }

static void denormalize(xir_network *net) {
    size_t changes = 0;
    const xir_status status = xir_pass_run(net, "denormalize", NULL, &changes, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_true(changes > 0);
    DOES(xir_network_validate(net, why));
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        for (size_t k = 0; k < xir_op_output_count(op); k++) assert_false(has_ratios(xir_op_output(op, (int64_t)k)));
    DOES(xir_pass_run(net, "denormalize", NULL, &changes, why));
    assert_int_equal(changes, 0);
}

/* Floats: constants are what they were, to their precision. */
static void a_network_of_floats_is_what_it_was(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++)
        for (int channels = 0; channels < 2; channels++) {
            xir_network *real = story_net(stories[i].story);
            xir_network *net = normalized(stories[i].story, channels ? "per=channel" : "");
            denormalize(net);
            CHECK_SAME_NUMBERS(real, net);
            xir_network_free(real);
            xir_network_free(net);
        }
}

/* Calls that such maps enter or leave are inlined, also calls in calls. */
static void calls_are_opened(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *real = story_net(stories[i].story), *net = normalized(stories[i].story, "");
        const int64_t last = (int64_t)xir_network_op_count(net) - 2;
        for (int64_t k = last; k >= 1 && k >= last - 1; k--) {   /* a Cast may be the only op */
            xir_op *op = xir_network_op_at(net, k);
            assert_non_null(xir_outline(net, &op, 1, NULL));
        }
        denormalize(net);
        CHECK_SAME_NUMBERS(real, net);
        xir_network_free(real);
        xir_network_free(net);
    }
}

/* The stored numbers of a value, which both networks have; how many differ, by one at most. */
static size_t count_steps(const xir_network *a, const xir_network *b, int64_t id, const char *story) {
    xir_array *in[4], *of[2] = { NULL };
    const size_t n = xir_network_inputs(a, NULL, 0);
    size_t differ = 0;
    for (size_t i = 0; i < n; i++) in[i] = sample(a, i, 70 + i);
    for (int side = 0; side < 2; side++) {
        const xir_network *net = side ? b : a;
        const xir_value *v = xir_op_output(op_of(net, id), 0);
        const xir_op *op = NULL;
        xir_run_state *run = xir_run_new(net, (const xir_array *const *)in, n, NULL, why);
        do DOES(xir_run_step(run, &op, why)); while (op && op != xir_value_op(v));
        xir_array *found = xir_run_value(run, v, why);
        size_t size;
        const void *bytes = xir_array_data(found, &size);
        const xir_type *plain = xir_type_with_element(ctx, xir_array_type(found),
                                                      xir_type_storage(xir_array_type(found)), why);
        of[side] = xir_array_copy(ctx, plain, bytes, size, why);
        xir_array_free(found);
        xir_run_free(run);
    }
    for (size_t i = 0; i < xir_array_count(of[0]); i++) {
        const double gap = fabs(xir_array_real(of[0], i) - xir_array_real(of[1], i));
        if (gap > 1) fail_msg("%s: op %d differs by %g steps", story, (int)id, gap);
        differ += gap != 0;
    }
    for (int side = 0; side < 2; side++) xir_array_free(of[side]);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return differ;
}

/* Integers: what is stored is the same, but for numbers next to a tie; and so are the bytes of the weights. */
static void stored_numbers_are_the_same(void **state) {
    (void)state;
    static const char *const options[] = { "scheme=buyi", "scheme=buyi,bits=16", "scheme=buyi,ratios=channel" };
    size_t differ = 0, compared = 0;
    for (size_t i = 0; i < COUNT(stories); i++)
        for (size_t k = 0; k < COUNT(options); k++) {
            xir_network *net = story_net(stories[i].story);
            calibrate(net);
            run_pass(net, "quantize", options[k]);
            unlink(path);
            xir_network *plain = xir_network_clone(net);
            denormalize(plain);
            for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
                const xir_value *v = xir_op_output(op, 0);
                if (!v || !has_ratios(v)) continue;
                differ += count_steps(net, plain, xir_op_id(op), stories[i].story);
                compared++;
            }
            xir_network_free(plain);
            xir_network_free(net);
        }
    assert_true(compared > 150);
    if (differ > 40) fail_msg("%zu numbers of %zu values differ", differ, compared);
}

/* An op that cannot lose the ratios keeps those of the whole network. */
static void an_op_that_keeps_ratios_is_named(void **state) {
    (void)state;
    size_t changes = 1;
    xir_network *net = normalized("x: 3 4; t = Tanh x; y = Add x t; out y", "");
    const xir_scales *cut = xir_scales_from(ctx, (const double[]){ 0.5 }, 1, -1);
    DOES(xir_op_set(story_op(net, "y"), XIR_STR("cut_scale"),
                    &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = (const xir_object *)cut }));
    DOES(xir_pass_run(net, "denormalize", NULL, &changes, why));
    check_finding(XIR_OK, "the op cannot lose the ratios of its maps: the network stays normalised");
    assert_int_equal(changes, 0);
    assert_true(has_ratios(story_value(net, "t")));
    assert_int_equal(xir_pass_run(net, "denormalize", "strict", NULL, why), XIR_E_UNSUPPORTED);
    check_finding(XIR_E_UNSUPPORTED, "the op cannot lose the ratios of its maps");
    xir_network_free(net);
}

static void scales_are_those_of_the_ratios(void **state) {
    (void)state;
    xir_network *net = story_net(stories[0].story);
    calibrate(net);
    run_pass(net, "quantize", "scheme=buyi");
    unlink(path);
    xir_network *plain = xir_network_clone(net);
    denormalize(plain);
    const double nx = ratio(story_value(net, "x.quantized"), 0), nz = ratio(story_value(net, "y"), 0);
    const xir_scales *x = xir_type_scale(xir_value_type(story_value(plain, "x.quantized")));
    assert_int_equal(xir_scales_count(x), 1);
    assert_true(xir_scales_at(x, 0) == nx);
    for (int64_t i = 1; i < 3; i++) {
        const xir_value *was = xir_op_input(story_op(net, "y"), i), *now = xir_op_input(story_op(plain, "y"), i);
        uint64_t size[2];
        const void *bytes[2] = { xir_params_data(was, &size[0]), xir_params_data(now, &size[1]) };
        assert_true(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
        for (size_t c = 0; c < 8; c++) {
            const double s = xir_scales_at(xir_type_scale(xir_value_type(was)), c) * nz / (i == 1 ? nx : 1);
            assert_true(fabs(xir_scales_at(xir_type_scale(xir_value_type(now)), c) / s - 1) < 1e-6);
        }
    }
    xir_network_free(plain);
    xir_network_free(net);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    static const struct { const char *options; xir_status code; const char *part; } rows[] = {
        { "per=both", XIR_E_UNKNOWN, "per: expected tensor or channel" },
        { "bits=1", XIR_E_BOUNDS, "bits: expected 2 to 16, found 1" },
        { "keep=nobody", XIR_E_UNKNOWN, "no op is called 'nobody'" },
    };
    xir_network *net = story_net(stories[0].story);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(xir_pass_run(net, "normalize", rows[i].options, NULL, why), rows[i].code);
        check_finding(rows[i].code, rows[i].part);
    }
    /* Ranges of channels that nobody has counted. */
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    xir_array *in = sample(net, 0, 1);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    snprintf(path, sizeof path, "normalize-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    char text[200];
    snprintf(text, sizeof text, "calibration=\"%s\",per=channel", path);
    assert_int_equal(xir_pass_run(net, "normalize", text, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "no ranges of channels");
    xir_array_free(in);
    xir_calibration_free(c);
    unlink(path);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_op_computes_the_same),
        cmocka_unit_test(files_keep_the_ratios),
        cmocka_unit_test(ratios_are_those_of_the_ranges),
        cmocka_unit_test(ratios_are_joined_where_maps_are),
        cmocka_unit_test(an_op_without_a_rule_stays_a_float),
        cmocka_unit_test(a_product_of_two_maps_has_a_cut),
        cmocka_unit_test(an_op_that_has_a_cut_stays_a_float),
        cmocka_unit_test(ratios_by_channel_gain),
        cmocka_unit_test(a_normalised_network_becomes_integers),
        cmocka_unit_test(a_network_of_floats_is_what_it_was),
        cmocka_unit_test(calls_are_opened),
        cmocka_unit_test(stored_numbers_are_the_same),
        cmocka_unit_test(scales_are_those_of_the_ratios),
        cmocka_unit_test(an_op_that_keeps_ratios_is_named),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return RUN_GROUP(tests);
}
