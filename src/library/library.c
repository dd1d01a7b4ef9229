/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes a context for programs: every layer registers its part. Nothing in the lower layers knows this list. */
#include "context.h"
#include "library.h"

static xir_status (*const layers[])(xir_context *ctx) = {
    types_register, graph_register, ops_register, serialize_register, exec_register, passes_register,
    convert_register, targets_register,
};

xir_context *xir_context_new(const xir_allocator *allocator) {
    xir_context *ctx = context_make(allocator);
    for (size_t i = 0; ctx && i < sizeof layers / sizeof *layers; i++) {
        if (layers[i](ctx) == XIR_OK) continue;
        xir_context_free(ctx);
        return NULL;
    }
    return ctx;
}
