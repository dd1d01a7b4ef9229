/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a mix: each time a call reports it, and with memory again the choice is the
 * same. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "quant/written.h"
#include "support/scarce.h"
#include "support/story.h"

static const char story[] = "x: NHWC 1 2 2 3; w: params HWIO 1 1 3 4; b: params 4; y = Conv2d x w b; r = ReLU y;"
                            "s = Sigmoid r; v: params HWIO 1 1 4 2; u = Conv2d s v; out u";
static char path[60];

static xir_array *input_of(const xir_network *net, uint64_t seed) {
    return xir_array_random(xir_network_context(net), xir_value_type(story_value(net, "x")), seed, NULL);
}

static void calibrate(void) {
    xir_network *net = story_net(story);
    xir_array *in = input_of(net, 1);
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    snprintf(path, sizeof path, "mix-scarce-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
    xir_array_free(in);
    xir_network_free(net);
}

/* The CSV of a mix; NULL if a call fails. */
static const char *mixed(want *w, const xir_array *in, written *csv) {
    char text[200];
    snprintf(text, sizeof text, "calibration=\"%s\",scheme=buyi", path);
    const xir_mix_options how = XIR_INIT(xir_mix_options, .quantize = text, .least_snr = 60, .budget = 0.9);
    xir_mix *m = xir_mix_new(w->net, &how, w->why);
    xir_status status = m ? xir_mix_add(m, &in, 1, w->why) : XIR_E_MEMORY;
    if (!status) status = xir_mix_choose(m, w->why);
    *csv = (written){ .size = 0 };
    if (!status) status = xir_mix_write(m, keep, csv, w->why);
    xir_mix_free(m);
    return status ? NULL : csv->data;
}

static void mixing(want *w) {
    xir_array *in = NULL;
    const char *csv = NULL;
    written room;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, story));
    IN_PLENTY(w, in = input_of(w->net, 2));
    TRY_MAKE(w, csv, mixed(w, in, &room));
    IN_PLENTY(w, w->result = strdup(csv));
    xir_array_free(in);
}

static void a_mix_survives_the_end_of_memory(void **state) {
    (void)state;
    calibrate();
    run_scarcely("mix", mixing, false);
    unlink(path);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_mix_survives_the_end_of_memory) };
    return RUN_GROUP(tests);
}
