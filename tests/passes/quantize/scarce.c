/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of quantize and calibrate: each time the pass reports it, and with memory again a
 * copy of the network becomes what it always becomes. */
#include <stdio.h>
#include <unistd.h>
#include "support/op_list.h"
#include "support/scarce.h"
#include "support/story.h"

static const char story[] = "x: NHWC 1 4 4 3; w: params HWIO 3 3 3 8; b: params 8; y = Conv2d x w b; r = ReLU y;"
                            "s = Sigmoid r; a = Add r s; c = Copy a; v: params HWIO 2 2 8 4; u = Conv2d c v; out u";
static char path[60];
static const char *pass, *options;

static void calibrate(void) {
    xir_network *net = story_net(story);
    xir_array *in = xir_array_random(ctx, xir_value_type(story_value(net, "x")), 1, why);
    xir_calibration *c = xir_calibration_new(ctx, &XIR_INIT(xir_calibration_options, .channels = true), why);
    DOES(xir_calibration_add(c, net, (const xir_array *const[]){ in }, 1, NULL, why));
    snprintf(path, sizeof path, "scarce-%ld.json", (long)getpid());
    DOES(xir_calibration_save(c, path, why));
    xir_calibration_free(c);
    xir_array_free(in);
    xir_network_free(net);
}

/* The network after the pass; NULL if it fails. */
static xir_network *changed(want *w) {
    char text[300];
    xir_network *net = xir_network_clone(w->net);
    if (!net) return NULL;
    snprintf(text, sizeof text, "calibration=\"%s\"%s", path, options);
    if (xir_pass_run(net, pass, text, NULL, w->why) == XIR_OK) return net;
    xir_network_free(net);
    return NULL;
}

static void quantizing(want *w) {
    xir_network *net = NULL;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, story));
    TRY_MAKE(w, net, changed(w));
    IN_PLENTY(w, w->result = op_list_typed(net));
    xir_network_free(net);
}

static void both_survive_the_end_of_memory(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        { "quantize", "" }, { "quantize", ",scheme=zhuge" }, { "quantize", ",scheme=buyi" },
        { "quantize", ",type=bf16" }, { "calibrate", "" },
        { "normalize", ",per=channel" }, { "quantize", ",scheme=buyi,ratios=channel" },
    };
    calibrate();
    for (size_t i = 0; i < COUNT(rows); i++) {
        pass = rows[i][0];
        options = rows[i][1];
        run_scarcely(*options ? options : pass, quantizing, false);
    }
    unlink(path);
}

/* A network of Buyi loses its ratios. */
static xir_network *freed(want *w) {
    xir_network *net = xir_network_clone(w->net);
    if (!net) return NULL;
    if (xir_pass_run(net, "denormalize", NULL, NULL, w->why) == XIR_OK) return net;
    xir_network_free(net);
    return NULL;
}

static xir_network *buyi_net(want *w) {
    char text[300];
    xir_network *net = story_net_in(w->ctx, story);
    snprintf(text, sizeof text, "calibration=\"%s\",scheme=buyi", path);
    if (net && xir_pass_run(net, "quantize", text, NULL, NULL) == XIR_OK) return net;
    xir_network_free(net);
    return NULL;
}

static void freeing(want *w) {
    xir_network *net = NULL;
    IN_PLENTY(w, w->net = buyi_net(w));
    TRY_MAKE(w, net, freed(w));
    IN_PLENTY(w, w->result = op_list_typed(net));
    xir_network_free(net);
}

static void ratios_survive_the_end_of_memory(void **state) {
    (void)state;
    calibrate();
    run_scarcely("denormalize", freeing, false);
    unlink(path);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_survive_the_end_of_memory),
        cmocka_unit_test(ratios_survive_the_end_of_memory),
    };
    return RUN_GROUP(tests);
}
