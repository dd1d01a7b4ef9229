/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The part of a context that the lowest layer knows: allocator and limits. Every context begins with it
 * (object/context.h). */
#ifndef CORE_CONTEXT_BASE_H
#define CORE_CONTEXT_BASE_H

#include <xir/context.h>

typedef struct context_base {
    xir_allocator alloc;
    xir_limits    limits;
} context_base;

static inline const context_base *context_base_of(const xir_context *ctx) {
    return (const context_base *)(const void *)ctx;
}
static inline const xir_allocator *context_alloc(const xir_context *ctx) { return &context_base_of(ctx)->alloc; }

#endif
