/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading buffers: any text is refused with a finding at a line, or it gives buffers, the same every time. Those that
 * can be planned have a plan that the checker accepts. */
#include <string.h>
#include <xir/xir.h>
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    const xir_str text = { (const char *)data, size };
    xir_diags *why = xir_diags_new(ctx);
    xir_buffer *buffers, *again;
    uint64_t *offsets, *others;
    size_t n, m;
    if (xir_memory_csv_read(ctx, text, &buffers, &offsets, &n, why)) {
        must(xir_diags_count(why) == 1 && xir_diags_at(why, 0)->line > 0);
    } else {
        must(!xir_memory_csv_read(ctx, text, &again, &others, &m, why) && m == n && !others == !offsets);
        for (size_t i = 0; i < n; i++) must(buffers[i].size == again[i].size && buffers[i].to == again[i].to);
        if (offsets) (void)!xir_memory_plan_check(ctx, buffers, offsets, n, 0, NULL);
        const xir_memory_options how = XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SEARCH, .steps = 20000);
        xir_memory_plan *plan = xir_memory_plan_new(ctx, buffers, n, &how, NULL);
        if (plan) must(!xir_memory_plan_check(ctx, buffers, xir_memory_plan_offsets(plan), n, 0, NULL));
        xir_memory_plan_free(plan);
        xir_memory_csv_free(ctx, again, others, m);
        xir_memory_csv_free(ctx, buffers, offsets, n);
    }
    xir_diags_free(why);
    return 0;
}
