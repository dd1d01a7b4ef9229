/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Planning: any buffers are refused with a finding, or they get a plan that the checker accepts, that is the same every
 * time, and that more effort does not make larger. */
#include <string.h>
#include <xir/xir.h>
#include "fuzz.h"

enum { MOST = 64, BYTES = 8 };

static xir_buffer buffer_of(const uint8_t *d) {
    return (xir_buffer){ .from = d[0] % 32, .to = d[0] % 32 + (int8_t)(d[1] % 40) - 1,
                         .size = d[7] % 16 ? d[2] : UINT64_MAX >> (d[2] % 24), .align = d[3] % 8 ? 0 : d[4],
                         .fixed = d[5] % 8 == 1, .offset = (uint64_t)d[4] * (d[3] % 3),
                         .group = d[6] % 8 ? 0 : d[6] % 3u };
}

static uint64_t plan(xir_context *ctx, const xir_buffer *b, size_t n, xir_effort effort) {
    xir_diags *why = xir_diags_new(ctx);
    const xir_memory_options how = XIR_INIT(xir_memory_options, .effort = effort, .steps = 20000);
    xir_memory_plan *plan = xir_memory_plan_new(ctx, b, n, &how, why), *again;
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    must(plan || xir_diags_count(why) > 0);
    if (plan) {
        const uint64_t *offsets = xir_memory_plan_offsets(plan);
        must(!xir_memory_plan_peak(plan, &peak, why) && peak.bytes >= peak.bound);
        must(!xir_memory_plan_check(ctx, b, offsets, n, peak.bytes, why));
        again = xir_memory_plan_new(ctx, b, n, &how, why);
        must(again && (!n || !memcmp(offsets, xir_memory_plan_offsets(again), n * sizeof *offsets)));
        xir_memory_plan_free(again);
    }
    xir_memory_plan_free(plan);
    xir_diags_free(why);
    return plan ? peak.bytes : UINT64_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    xir_buffer buffers[MOST];
    uint64_t offsets[MOST];
    const size_t n = size / BYTES < MOST ? size / BYTES : MOST;
    for (size_t i = 0; i < n; i++) {
        buffers[i] = buffer_of(data + i * BYTES);
        offsets[i] = (uint64_t)data[i * BYTES + 6] * 3;
    }
    const uint64_t sweep = plan(ctx, buffers, n, XIR_EFFORT_SWEEP), orders = plan(ctx, buffers, n, XIR_EFFORT_ORDERS);
    must(orders <= sweep && plan(ctx, buffers, n, XIR_EFFORT_SEARCH) <= orders);
    (void)!xir_memory_plan_check(ctx, buffers, offsets, n, 500, NULL);
    return 0;
}
