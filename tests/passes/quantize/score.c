/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The accuracy that quantisation costs a trained network: calibrated on the first 32 digits, measured on the last 32 by
 * the power of the error of the logits; all 64 digits keep their label. The figures are the least that each scheme must
 * reach; a prototype in NumPy reached a few tenths more. Files of the results compute the same bits. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "support/formats.h"
#include "support/net.h"

#define MODELS XIR_TEST_DATA "/../examples/models/"
enum { IMAGES = 64, CALIBRATED = 32, PIXELS = 64, CLASSES = 10 };

static float images[IMAGES][PIXELS];
static int64_t labels[IMAGES];
static char path[60];

static void read_npy(const char *file, void *out, size_t size) {
    xir_array *array = xir_array_load_npy(ctx, file, why);
    size_t found = 0;
    assert_non_null(array);
    const void *data = xir_array_data(array, &found);
    assert_int_equal(found, size);
    memcpy(out, data, size);
    xir_array_free(array);
}

static xir_array *image(size_t i) {
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "****", 1, 1, 8, 8);
    return xir_array_copy(ctx, type, images[i], sizeof images[i], why);
}

static void logits_of(const xir_network *net, double out[IMAGES][CLASSES]) {
    for (size_t i = 0; i < IMAGES; i++) {
        xir_array *in = image(i), *result = NULL;
        const xir_status status = xir_network_run(net, (const xir_array *const *)&in, 1, &result, 1, NULL, why);
        if (status) xir_diags_print(why, stderr);
        assert_int_equal(status, XIR_OK);
        for (size_t k = 0; k < CLASSES; k++) out[i][k] = xir_array_real(result, k);
        xir_array_free(in);
        xir_array_free(result);
    }
}

static size_t count_right(double logits[IMAGES][CLASSES]) {
    size_t right = 0;
    for (size_t i = 0; i < IMAGES; i++) {
        size_t best = 0;
        for (size_t k = 1; k < CLASSES; k++) best = logits[i][k] > logits[i][best] ? k : best;
        right += (int64_t)best == labels[i];
    }
    return right;
}

/* 10 log10 of the power of the logits over that of the error, of the digits that were not calibrated. */
static double decibels(double real[IMAGES][CLASSES], double now[IMAGES][CLASSES]) {
    double power = 0, error = 0;
    for (size_t i = CALIBRATED; i < IMAGES; i++)
        for (size_t k = 0; k < CLASSES; k++) {
            power += real[i][k] * real[i][k];
            error += (real[i][k] - now[i][k]) * (real[i][k] - now[i][k]);
        }
    return 10 * log10(power / error);
}

/* The optimised network, calibrated. */
static xir_network *prepare(void) {
    read_npy(MODELS "digits_inputs.npy", images, sizeof images);
    read_npy(MODELS "digits_labels.npy", labels, sizeof labels);
    xir_network *net = xir_network_load(ctx, MODELS "digits.onnx", NULL, why);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why);
    assert_int_equal(xir_pipeline_run(p, net, NULL, NULL, why), XIR_OK);
    xir_pipeline_free(p);
    xir_calibration *c = xir_calibration_new(ctx, &XIR_INIT(xir_calibration_options, .channels = true), why);
    for (size_t i = 0; i < CALIBRATED; i++) {
        xir_array *in = image(i);
        DOES(xir_calibration_add(c, net, (const xir_array *const *)&in, 1, NULL, why));
        xir_array_free(in);
    }
    snprintf(path, sizeof path, "score-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
    return net;
}

static const struct { const char *options; double least; } rows[] = {
    { "scheme=onnx",                            42   },
    { "scheme=onnx,per=tensor",                 40   },
    { "scheme=onnx,scope=products",             42   },
    { "scheme=zhuge",                           39   },
    { "scheme=zhuge,pow2",                      34.5 },
    { "scheme=onnx,pow2",                       34.5 },
    { "scheme=onnx,pow2,maps=sint,per=tensor",  34.5 },
    { "scheme=buyi",                            37.5 },
    { "scheme=buyi,ratios=channel",             38   },
    { "scheme=buyi,bits=16",                    50   },
    { "type=bf16",                              48   },
    { "type=fp16",                              68   },
    { "type=tf32",                              68   },
};

static void each_scheme_keeps_the_digits(void **state) {
    (void)state;
    static double real[IMAGES][CLASSES], now[IMAGES][CLASSES];
    xir_network *net = prepare();
    logits_of(net, real);
    assert_int_equal(count_right(real), IMAGES);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char options[200];
        xir_network *made = xir_network_clone(net);
        snprintf(options, sizeof options, "calibration=\"%s\",%s", path, rows[i].options);
        const xir_status status = xir_pass_run(made, "quantize", options, NULL, why);
        if (status) xir_diags_print(why, stderr);
        assert_int_equal(status, XIR_OK);
        xir_diags_clear(why);
        DOES(xir_network_validate(made, why));
        logits_of(made, now);
        const double db = decibels(real, now);
        if (!(db >= rows[i].least)) fail_msg("%s: %.2f dB, expected %g", rows[i].options, db, rows[i].least);
        assert_int_equal(count_right(now), IMAGES);
        xir_network_free(made);
    }
    unlink(path);
    xir_network_free(net);
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

static void files_compute_the_same_bits(void **state) {
    (void)state;
    static double here[IMAGES][CLASSES], there[IMAGES][CLASSES];
    static const char *const formats[] = { "fb", "imodel" };
    char options[200];
    xir_network *net = prepare();
    snprintf(options, sizeof options, "calibration=\"%s\"", path);
    assert_int_equal(xir_pass_run(net, "quantize", options, NULL, why), XIR_OK);
    xir_diags_clear(why);
    logits_of(net, here);
    for (size_t i = 0; i < COUNT(formats); i++) {
        written w = { 0 };
        const xir_save_options how = XIR_INIT(xir_save_options, .format = formats[i]);
        DOES(xir_network_write(net, keep, &w, &how, why));
        xir_network *read = xir_network_read(ctx, w.data, w.size, XIR_STR("file"), NULL, why);
        assert_non_null(read);
        logits_of(read, there);
        assert_memory_equal(here, there, sizeof here);
        xir_network_free(read);
        free(w.data);
    }
    unlink(path);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scheme_keeps_the_digits),
        cmocka_unit_test(files_compute_the_same_bits),
    };
    return RUN_GROUP(tests);
}
