/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The sign of any real, the least ones too, in a format without such an operation: formulas stand for it. */
#include <xir/exec.h>
#include <xir/pass.h>
#include "support/story.h"
#include "support/ways.h"

/* Bits of the least number, its opposite, 0 and 1. */
static const struct { const char *element; size_t bytes; uint64_t bits[4]; } reals[] = {
    { "fp16", 2, { 1, 0x8001, 0, 0x3C00 } },
    { "bf16", 2, { 1, 0x8001, 0, 0x3F80 } },
    { "fp32", 4, { 1, 0x80000001, 0, 0x3F800000 } },
    { "fp64", 8, { 1, 0x8000000000000001, 0, 0x3FF0000000000000 } },
};

static void signs_of_the_least_numbers(void **state) {
    (void)state;
    static const double expected[] = { 1, -1, 0, 1 };
    for (size_t i = 0; i < COUNT(reals); i++) {
        for (size_t w = 0; w < WAYS; w++) {
            char story[80];
            uint8_t bytes[4 * sizeof(uint64_t)];
            snprintf(story, sizeof story, "x: 4; p: params %s 4; y = Sign p; out y", reals[i].element);
            xir_network *net = story_net(story);
            xir_array *in = xir_array_random(ctx, FP32("*", 4), 1, why), *out = NULL;
            for (size_t k = 0; k < 4; k++) memcpy(bytes + k * reals[i].bytes, &reals[i].bits[k], reals[i].bytes);
            DOES(xir_params_set_copy(story_value(net, "p"), bytes, 4 * reals[i].bytes));
            DOES(xir_pass_run(net, ways_back[w], NULL, NULL, why));
            DOES(xir_pass_run(net, "to-xir", NULL, NULL, why));
            const size_t n = xir_network_inputs(net, NULL, 0);   /* an input that nothing uses may be left out */
            DOES(xir_network_run(net, (const xir_array *const[]){ in }, n, &out, 1, NULL, why));
            for (size_t k = 0; k < 4; k++)
                if (xir_array_real(out, k) != expected[k])
                    fail_msg("%s, %s: element %zu is %g", ways_back[w], reals[i].element, k, xir_array_real(out, k));
            xir_diags_clear(why);
            xir_array_free(in);
            xir_array_free(out);
            xir_network_free(net);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(signs_of_the_least_numbers) };
    return RUN_GROUP(tests);
}
