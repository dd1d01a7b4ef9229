/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading calibrations: any bytes are refused with a finding, or they give a calibration that is written and read again
 * as the same text, and whose values have ranges by every method. */
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>
#include "fuzz.h"

typedef struct written { char *data; size_t size; } written;

static bool keep(void *user, const void *data, size_t size) {
    written *w = user;
    w->data = realloc(w->data, w->size + size + 1);
    must(w->data != NULL);
    memcpy(w->data + w->size, data, size);
    w->size += size;
    return true;
}

static void check(xir_context *ctx, const xir_calibration *c, xir_diags *why) {
    written once = { 0 }, twice = { 0 };
    must(xir_calibration_write(c, keep, &once, why) == XIR_OK);
    xir_calibration *again = xir_calibration_read(ctx, (xir_str){ once.data, once.size }, XIR_STR("again"), why);
    must(again && xir_calibration_write(again, keep, &twice, why) == XIR_OK);
    must(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    for (size_t i = 0; i < xir_calibration_count(c) && i < 4; i++)
        for (int method = XIR_RANGE_MAX; method <= XIR_RANGE_KLD; method++) {
            double low, high;
            const xir_range_options how = XIR_INIT(xir_range_options, .method = (xir_range_method)method);
            must(xir_calibration_range(c, i, &how, &low, &high, why) == XIR_OK && low <= 0 && high >= 0);
        }
    xir_calibration_free(again);
    free(once.data);
    free(twice.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    xir_diags *why = xir_diags_new(ctx);
    xir_calibration *c = xir_calibration_read(ctx, (xir_str){ (const char *)data, size }, XIR_STR("in"), why);
    must(c || xir_diags_count(why) > 0);
    if (c) check(ctx, c, why);
    xir_calibration_free(c);
    xir_diags_free(why);
    return 0;
}
