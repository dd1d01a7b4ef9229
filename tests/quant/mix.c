/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Mixed precision: the worst ops get more bits until results are good enough. What the mix says about its choice is
 * found again by quantising with its CSV and running the network. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "quant/written.h"
#include "support/story.h"

#define MODELS XIR_TEST_DATA "/../examples/models/"

static char path[60];

static const char *calibration_path(void) {
    snprintf(path, sizeof path, "mix-%ld.json", (long)getpid());
    return path;
}

static void save(xir_calibration *c) {
    DOES(xir_calibration_save(c, calibration_path(), why));
    xir_calibration_free(c);
}

static xir_array *random_input(const xir_network *net, uint64_t seed) {
    xir_value *in = NULL;
    xir_network_inputs(net, &in, 1);
    return xir_array_random(ctx, xir_value_type(in), seed, why);
}

static void calibrate(const xir_network *net) {
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        xir_array *in = random_input(net, seed);
        DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
        xir_array_free(in);
    }
    save(c);
}

static xir_mix *mix_of(const xir_network *net, const char *options, xir_mix_options how) {
    char text[300];
    snprintf(text, sizeof text, "calibration=\"%s\"%s%s", path, *options ? "," : "", options);
    how.size = sizeof how;
    how.quantize = text;
    xir_mix *m = xir_mix_new(net, &how, why);
    if (!m) xir_diags_print(why, stderr);
    assert_non_null(m);
    xir_diags_clear(why);
    return m;
}

static xir_mix_state state_of(const xir_mix *m) {
    xir_mix_state s = XIR_INIT(xir_mix_state);
    DOES(xir_mix_state_of(m, &s, why));
    return s;
}

static void add(xir_mix *m, const xir_array *in) {
    const xir_status status = xir_mix_add(m, (const xir_array *const[]){ in }, 1, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
}

/* The network, quantised with the CSV of a mix as the text of the option. */
static xir_network *with_csv(const xir_network *net, const char *options, const char *csv) {
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, "calibration=\"%s\"%s%s,precision=\"", path, *options ? "," : "",
                                 options);
    for (; *csv; csv++) {
        if (*csv == '"' || *csv == '\\') text[at++] = '\\';
        text[at++] = *csv;
    }
    text[at++] = '"';
    text[at] = '\0';
    xir_network *made = xir_network_clone(net);
    const xir_status status = xir_pass_run(made, "quantize", text, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_diags_clear(why);
    DOES(xir_network_validate(made, why));
    return made;
}

/* Sums over samples for dB: the power of the real results, and of the error. */
static void add_error(const xir_network *real, const xir_network *made, const xir_array *in, double sums[2]) {
    xir_array *expected = NULL, *found = NULL;
    DOES(xir_network_run(real, &in, 1, &expected, 1, NULL, why));
    DOES(xir_network_run(made, &in, 1, &found, 1, NULL, why));
    for (size_t i = 0; i < xir_array_count(expected); i++) {
        const double e = xir_array_real(expected, i), f = xir_array_real(found, i);
        sums[0] += e * e;
        sums[1] += (e - f) * (e - f);
    }
    xir_array_free(expected);
    xir_array_free(found);
}

/* ---- a trained network ------------------------------------------------------------------------------------------- */

enum { CALIBRATED = 32, IMAGES = 64 };

static xir_array *digits;

static xir_array *digit(size_t i) {
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "****", 1, 1, 8, 8);
    size_t size = 0;
    const float *all = xir_array_data(digits, &size);
    return xir_array_copy(ctx, type, all + i * 64, 64 * sizeof *all, why);
}

static xir_network *trained(void) {
    digits = xir_array_load_npy(ctx, MODELS "digits_inputs.npy", why);
    xir_network *net = xir_network_load(ctx, MODELS "digits.onnx", NULL, why);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    DOES(xir_pipeline_run(p, net, NULL, NULL, why));
    xir_pipeline_free(p);
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    for (size_t i = 0; i < CALIBRATED; i++) {
        xir_array *in = digit(i);
        DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
        xir_array_free(in);
    }
    save(c);
    return net;
}

static void digits_become_better_within_the_budget(void **state) {
    (void)state;
    static const struct { const char *options; double least, budget; } rows[] = {
        { "scheme=buyi",            50,   1    },
        { "scheme=buyi",            39.5, 0.5  },
        { "scheme=zhuge",           40,   0.25 },
        { "scheme=onnx,per=tensor", 41.5, 0.25 },
    };
    xir_network *net = trained();
    for (size_t k = 0; k < COUNT(rows); k++) {
        xir_mix *m = mix_of(net, rows[k].options, (xir_mix_options){ .least_snr = rows[k].least,
                                                                     .budget = rows[k].budget });
        for (size_t i = CALIBRATED; i < IMAGES; i++) {
            xir_array *in = digit(i);
            add(m, in);
            xir_array_free(in);
        }
        DOES(xir_mix_choose(m, why));
        const xir_mix_state s = state_of(m);
        if (!s.good || s.plain_snr >= rows[k].least || s.snr < rows[k].least)
            fail_msg("%s: %.2f dB without, %.2f with %d of %d values", rows[k].options, s.plain_snr, s.snr,
                     (int)s.raised, (int)s.stored);
        assert_true(s.raised > 0 && (double)s.raised <= rows[k].budget * (double)s.stored);
        assert_true(s.cosine > s.plain_cosine && s.samples == IMAGES - CALIBRATED);

        written csv = { .size = 0 };
        double sums[2] = { 0 };
        DOES(xir_mix_write(m, keep, &csv, why));
        xir_network *made = with_csv(net, rows[k].options, csv.data);
        for (size_t i = CALIBRATED; i < IMAGES; i++) {
            xir_array *in = digit(i);
            add_error(net, made, in, sums);
            xir_array_free(in);
        }
        assert_true(fabs(10 * log10(sums[0] / sums[1]) - s.snr) < 1e-6);
        xir_network_free(made);
        xir_mix_free(m);
    }
    unlink(path);
    xir_array_free(digits);
    xir_network_free(net);
}

/* ---- small networks ---------------------------------------------------------------------------------------------- */

/* The second product takes most of its result away, so what is stored before it counts. */
static const char chain[] = "x: NHWC 1 4 4 3; w: params HWIO 1 1 3 8; b: params 8; y = Conv2d x w b; r = ReLU y;"
                            "m = Transpose r [dims=0,2,1,3 layout=@layout(NHWC)]; v: params HWIO 1 1 8 8; z = Conv2d m v; s = Sigmoid z;"
                            "u: params HWIO 1 1 8 4; t = Conv2d s u; out t";

static xir_mix *mixed(const xir_network *net, const char *options, xir_mix_options how) {
    calibrate(net);
    xir_mix *m = mix_of(net, options, how);
    for (uint64_t seed = 11; seed <= 13; seed++) {
        xir_array *in = random_input(net, seed);
        add(m, in);
        xir_array_free(in);
    }
    DOES(xir_mix_choose(m, why));
    unlink(path);
    return m;
}

static xir_mix_op item_of(const xir_mix *m, const char *name) {
    xir_mix_op item = XIR_INIT(xir_mix_op);
    for (size_t i = 0; xir_mix_at(m, i, &item); i++)
        if (xir_str_equal(xir_op_name(item.op), xir_str_of(name))) return item;
    fail_msg("no op of the mix is called %s", name);
    return item;
}

static void ops_have_their_values(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    xir_mix *m = mixed(net, "scheme=onnx", (xir_mix_options){ .below = 0.5 });
    xir_mix_state s = state_of(m);
    assert_int_equal(s.stored, 5);                         /* x, r, m, z, s */
    assert_true(s.good && s.raised == 0 && s.tried == 1 && s.cosine == s.plain_cosine);
    assert_int_equal(item_of(m, "r").values, 2);           /* and what the Transpose makes of it */
    assert_int_equal(item_of(m, "y").values, 2);           /* y is not stored: it is of the group of r */
    assert_true(item_of(m, "y").cosine == item_of(m, "r").cosine);
    assert_int_equal(item_of(m, "z").values, 1);
    xir_mix_op item = XIR_INIT(xir_mix_op);
    double before = 0;
    for (size_t i = 0; xir_mix_at(m, i, &item); i++) {
        assert_true(item.cosine >= before && item.cosine > 0.9 && item.cosine < 1 && !item.chosen && item.bits == 8);
        before = item.cosine;
    }
    assert_int_equal(xir_mix_count(m), 6);                 /* the Input op, y, r, m, z, s */
    xir_mix_free(m);
    xir_network_free(net);
}

/* If no choice within the budget is good enough, the best one is kept, and the state is not `good`. */
static void the_budget_bounds_the_choice(void **state) {
    (void)state;
    static const struct { double budget; uint64_t most; } rows[] = {
        { 0.1, 0 }, { 0.2, 1 }, { 0.4, 2 }, { 0.6, 3 }, { 1, 5 },
    };
    xir_network *net = story_net(chain);
    double before = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_mix *m = mixed(net, "scheme=onnx", (xir_mix_options){ .least_snr = 1e5, .budget = rows[i].budget });
        const xir_mix_state s = state_of(m);
        assert_true(i + 1 == COUNT(rows) || !s.good);
        if (s.raised > rows[i].most) fail_msg("budget %g: %d values", rows[i].budget, (int)s.raised);
        assert_true(s.snr >= before - 3);
        before = s.snr;
        xir_mix_free(m);
    }
    assert_true(before > 100 || before == INFINITY);       /* all in floats */
    xir_network_free(net);
}

/* The fewest ops are chosen, and 16 bits before floats. */
static void no_more_ops_are_chosen_than_needed(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    xir_mix *all = mixed(net, "scheme=buyi", (xir_mix_options){ .least_snr = 1e5, .budget = 1 });
    xir_mix *plain = mixed(net, "scheme=buyi", (xir_mix_options){ .below = 0.1 });
    const double from = state_of(plain).snr;
    size_t n = 0, wide = 0, before = 0;
    for (int step = 1; step <= 3; step++) {
        xir_mix *m = mixed(net, "scheme=buyi", (xir_mix_options){ .least_snr = from + 4 * step, .budget = 1 });
        const xir_mix_state s = state_of(m);
        xir_mix_op item = XIR_INIT(xir_mix_op);
        assert_true(s.good && s.tried <= 3 + 4 * 3);
        n = wide = 0;
        for (size_t i = 0; xir_mix_at(m, i, &item); i++) {
            n += item.chosen != 0;
            wide += item.bits == 16;
        }
        assert_true(n >= before && n > 0 && wide <= n);
        before = n;
        xir_mix_free(m);
    }
    xir_mix_free(all);
    xir_mix_free(plain);
    xir_network_free(net);
}

/* Names that a CSV or a pipeline reads otherwise; ops without a name, or with that of another, are called by their
 * ids. */
static void rows_name_their_ops(void **state) {
    (void)state;
    static const char *const names[] = { "a,b", "#c", "*", "", "\\d\\", " e ", "f\"g", "h;i" };
    for (size_t k = 0; k < COUNT(names); k++) {
        xir_network *net = story_net(chain);
        calibrate(net);
        DOES(xir_op_set_name(story_op(net, "z"), xir_str_of(names[k])));
        xir_mix *m = mix_of(net, "scheme=onnx", (xir_mix_options){ .least_snr = 1e4, .budget = 1 });
        xir_array *in = random_input(net, 5);
        add(m, in);
        DOES(xir_mix_choose(m, why));
        written csv = { .size = 0 };
        double sums[2] = { 0 };
        DOES(xir_mix_write(m, keep, &csv, why));
        xir_network *made = with_csv(net, "scheme=onnx", csv.data);
        add_error(net, made, in, sums);
        const double snr = sums[1] > 0 ? 10 * log10(sums[0] / sums[1]) : INFINITY;
        if (!(snr == state_of(m).snr || fabs(snr - state_of(m).snr) < 1e-6)) fail_msg("'%s': %s", names[k], csv.data);
        assert_non_null(strstr(csv.data, ",Conv2d,"));
        xir_network_free(made);
        xir_array_free(in);
        xir_mix_free(m);
        unlink(path);
        xir_network_free(net);
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void refuses_options(const xir_network *net, xir_mix_options how, xir_status code, const char *words) {
    how.size = sizeof how;
    assert_null(xir_mix_new(net, &how, why));
    check_finding(code, words);
}

static bool never(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return false;
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    char text[200];
    xir_network *net = story_net(chain);
    calibrate(net);
    snprintf(text, sizeof text, "calibration=\"%s\"", path);
    refuses_options(net, (xir_mix_options){ .below = -1 },    XIR_E_INVALID, "below and budget");
    refuses_options(net, (xir_mix_options){ .below = NAN },   XIR_E_INVALID, "below and budget");
    refuses_options(net, (xir_mix_options){ .budget = 2 },    XIR_E_INVALID, "below and budget");
    refuses_options(net, (xir_mix_options){ .least_snr = -1 }, XIR_E_INVALID, "least_snr");
    refuses_options(net, (xir_mix_options){ .quantize = "scheme=none" }, XIR_E_UNKNOWN, "there is no scheme 'none'");
    refuses_options(net, (xir_mix_options){ .quantize = "" }, XIR_E_MISSING, "no ranges are known");
    refuses_options(net, (xir_mix_options){ .quantize = "type=bf16" }, XIR_E_MISSING, "stores no value");
    assert_null(xir_mix_new(NULL, NULL, why));
    check_finding(XIR_E_MISSING, "found NULL");

    xir_mix *m = mix_of(net, "", (xir_mix_options){ .below = 0.5 });
    xir_array *in = random_input(net, 1);
    written csv = { .size = 0 };
    xir_mix_op item = { .size = 0 };
    assert_int_equal(xir_mix_choose(m, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "no samples");
    DOES(xir_mix_write(m, keep, &csv, why));
    assert_string_equal(csv.data, "op,type,bits,per,saturation\n");
    assert_int_equal(xir_mix_write(m, never, NULL, why), XIR_E_IO);
    check_finding(XIR_E_IO, "cannot be written");
    assert_int_equal(xir_mix_write(m, NULL, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "found NULL");
    assert_false(xir_mix_at(m, 0, &item));
    assert_int_equal(xir_mix_add(m, NULL, 1, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "found NULL");
    assert_int_equal(xir_mix_add(m, (const xir_array *const[]){ in, in }, 2, why), XIR_E_BOUNDS);
    check_finding(XIR_E_BOUNDS, "expected 1 inputs, found 2");
    assert_int_equal(xir_mix_add(m, (const xir_array *const[]){ NULL }, 1, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "an input of the sample is NULL");
    add(m, in);
    DOES(xir_mix_choose(m, why));
    DOES(xir_mix_choose(m, why));
    /* Another shape fails the run; then the mix is spent. */
    xir_array *other = xir_array_new(ctx, FP32("NHWC", 1, 5, 4, 3), why);
    assert_int_equal(xir_mix_add(m, (const xir_array *const[]){ other }, 1, why), XIR_E_BOUNDS);
    xir_diags_clear(why);
    assert_int_equal(xir_mix_add(m, (const xir_array *const[]){ in }, 1, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "begin again");
    assert_int_equal(xir_mix_choose(m, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "begin again");
    xir_mix_free(m);

    DOES(xir_pass_run(net, "quantize", text, NULL, why));
    xir_diags_clear(why);
    refuses_options(net, (xir_mix_options){ .quantize = text }, XIR_E_INVALID, "quantised already");
    assert_int_equal(xir_mix_count(NULL), 0);
    assert_int_equal(xir_mix_add(NULL, NULL, 0, why), XIR_E_MISSING);
    xir_diags_clear(why);
    xir_mix_free(NULL);
    xir_array_free(other);
    xir_array_free(in);
    unlink(path);
    xir_network_free(net);
}

static bool stop(void *user) {
    int *left = user;
    return (*left)-- <= 0;
}

static void a_mix_can_be_ended(void **state) {
    (void)state;
    xir_network *net = story_net(chain);
    int left = 0;
    calibrate(net);
    xir_mix *m = mix_of(net, "", (xir_mix_options){ .cancel = stop, .user = &left });
    xir_array *in = random_input(net, 1);
    assert_int_equal(xir_mix_add(m, (const xir_array *const[]){ in }, 1, why), XIR_E_CANCELLED);
    xir_diags_clear(why);
    xir_mix_free(m);
    xir_array_free(in);
    unlink(path);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_become_better_within_the_budget),
        cmocka_unit_test(ops_have_their_values),
        cmocka_unit_test(the_budget_bounds_the_choice),
        cmocka_unit_test(no_more_ops_are_chosen_than_needed),
        cmocka_unit_test(rows_name_their_ops),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_mix_can_be_ended),
    };
    return RUN_GROUP(tests);
}
