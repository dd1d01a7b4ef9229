/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A context counts its holders: its maker and every network. The last one frees what it owns. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <xir/plugin.h>
#include "context.h"
#include "sized.h"
#include "symbol_table.h"

xir_context *context_make(const xir_allocator *allocator) {
    const xir_allocator *alloc = allocator ? allocator : &memory_default;
    xir_context *ctx = mem_new(alloc, sizeof *ctx);
    if (!ctx) return NULL;
    memset((void *)ctx, 0, sizeof *ctx);
    ctx->alloc = *alloc;
    atomic_init(&ctx->references, 1);
    atomic_init(&ctx->first_class, NULL);
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->registering, NULL);
    ctx->limits = XIR_INIT(xir_limits, .max_bytes = (uint64_t)1 << 40, .max_stream = (uint64_t)4 << 30,
                           .max_depth = 128, .max_values = 1000000,
                           .max_findings = 1000, .max_op_work = 2000000000, .max_work = 2000000000,
                           .max_expr_terms = POLY_TERMS, .max_expr_degree = POLY_DEGREE, .max_expr_depth = 8,
                           .max_expr_weight = 192, .max_expr_text = 1 << 18, .max_symbols = 1000000,
                           .max_ops = 1000000000, .max_elements = INT64_MAX,
                           .max_rounds = 64, .max_unrolled = 10000, .max_inlined = 100000,
                           .max_unpacked = (uint64_t)64 << 20, .max_read_memory = (uint64_t)56 << 20,
                           .max_converted = (uint64_t)64 << 20);
    arena_init(&ctx->arena, &ctx->alloc);
    text_table_init(&ctx->keys, &ctx->alloc);
    pool_init(&ctx->pool, ctx, &ctx->lock);
    return ctx;
}

void context_refuse(xir_context *ctx, const char *format, ...) {
    va_list list;
    va_start(list, format);
    pthread_mutex_lock(&ctx->lock);
    ctx->refused.is_there = true;
    ctx->refused.by = pthread_self();
    vsnprintf(ctx->refused.words, sizeof ctx->refused.words, format, list);
    pthread_mutex_unlock(&ctx->lock);
    va_end(list);
}

bool context_take_refusal(xir_context *ctx, char out[sizeof ((type_refusal *)0)->words]) {
    pthread_mutex_lock(&ctx->lock);
    bool mine = ctx->refused.is_there && pthread_equal(ctx->refused.by, pthread_self());
    if (mine) {
        memcpy(out, ctx->refused.words, sizeof ctx->refused.words);
        ctx->refused.is_there = false;
    }
    pthread_mutex_unlock(&ctx->lock);
    return mine;
}

void context_retain(xir_context *ctx) { atomic_fetch_add_explicit(&ctx->references, 1, memory_order_relaxed); }

void xir_context_free(xir_context *ctx) {
    if (!ctx || atomic_fetch_sub_explicit(&ctx->references, 1, memory_order_acq_rel) != 1) return;
    if (ctx->free_left) ctx->free_left(ctx);
    pool_free(&ctx->pool);
    text_table_free(&ctx->keys);
    mem_free(&ctx->alloc, (void *)ctx->by_key, ctx->by_key_room * sizeof *ctx->by_key);
    mem_free(&ctx->alloc, (void *)ctx->forms, ctx->form_room * sizeof *ctx->forms);
    for (size_t i = 0; i < REGISTRY_COUNT; i++) registry_free(&ctx->alloc, &ctx->lists[i]);
    arena_free(&ctx->arena);
    pthread_mutex_destroy(&ctx->registering);
    pthread_mutex_destroy(&ctx->lock);
    while (ctx->n_plugins) {   // the last first
        plugin *last = &ctx->plugins[--ctx->n_plugins];
        if (last->handle) dlclose(last->handle);
    }
    xir_allocator alloc = ctx->alloc;
    mem_free(&alloc, ctx->plugins, ctx->plugin_room * sizeof *ctx->plugins);
    mem_free(&alloc, ctx, sizeof *ctx);
}

const xir_allocator *xir_context_allocator(const xir_context *ctx) { return ctx ? context_alloc(ctx) : NULL; }

#define LIMITS SIZED(xir_limits, max_bytes)

xir_status xir_context_limits(const xir_context *ctx, xir_limits *out, xir_diags *why) {
    return sized_fill(LIMITS, out, &ctx->limits, why);
}

/* Expressions are computed in arrays of a fixed size, and by recursion. */
static xir_status check_most(const xir_limits *given, xir_diags *why) {
    const struct { const char *name; uint32_t given, most; } rows[] = {
        { "max_expr_terms",  given->max_expr_terms,  POLY_TERMS       },
        { "max_expr_degree", given->max_expr_degree, POLY_DEGREE      },
        { "max_expr_depth",  given->max_expr_depth,  POLY_DEPTH_MOST  },
        { "max_expr_weight", given->max_expr_weight, POLY_WEIGHT_MOST },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].given <= rows[i].most) continue;
        return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "%s: expected up to %u, found %u", rows[i].name, rows[i].most,
                         rows[i].given);
    }
    return XIR_OK;
}

xir_status xir_context_set_limits(xir_context *ctx, const xir_limits *limits, xir_diags *why) {
    xir_limits given;
    xir_status status = sized_take(LIMITS, &given, limits, why);
    if (!status) status = check_most(&given, why);
    if (status) return status;
    if (given.max_bytes) ctx->limits.max_bytes = given.max_bytes;
    if (given.max_depth) ctx->limits.max_depth = given.max_depth;
    if (given.max_stream) ctx->limits.max_stream = given.max_stream;
    if (given.max_values) ctx->limits.max_values = given.max_values;
    if (given.max_findings) ctx->limits.max_findings = given.max_findings;
    if (given.max_op_work) ctx->limits.max_op_work = given.max_op_work;
    if (given.max_work) ctx->limits.max_work = given.max_work;
    if (given.max_expr_terms) ctx->limits.max_expr_terms = given.max_expr_terms;
    if (given.max_expr_degree) ctx->limits.max_expr_degree = given.max_expr_degree;
    if (given.max_expr_depth) ctx->limits.max_expr_depth = given.max_expr_depth;
    if (given.max_expr_weight) ctx->limits.max_expr_weight = given.max_expr_weight;
    if (given.max_expr_text) ctx->limits.max_expr_text = given.max_expr_text;
    if (given.max_symbols) ctx->limits.max_symbols = given.max_symbols;
    if (given.max_ops) ctx->limits.max_ops = given.max_ops;
    if (given.max_elements) ctx->limits.max_elements = given.max_elements;
    if (given.max_rounds) ctx->limits.max_rounds = given.max_rounds;
    if (given.max_unrolled) ctx->limits.max_unrolled = given.max_unrolled;
    if (given.max_inlined) ctx->limits.max_inlined = given.max_inlined;
    if (given.max_unpacked) ctx->limits.max_unpacked = given.max_unpacked;
    if (given.max_read_memory) ctx->limits.max_read_memory = given.max_read_memory;
    if (given.max_converted) ctx->limits.max_converted = given.max_converted;
    return XIR_OK;
}

bool xir_context_plugin_at(xir_context *ctx, size_t i, xir_str *name, xir_str *path) {
    pthread_mutex_lock(&ctx->lock);
    bool there = i < ctx->n_plugins;
    if (there) {
        *name = ctx->plugins[i].name;
        *path = ctx->plugins[i].path;
    }
    pthread_mutex_unlock(&ctx->lock);
    return there;
}
