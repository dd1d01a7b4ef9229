/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Settings that are current in a thread: a list in the context, newest first, of all threads. It is short, since a
 * thread adds one item per scope and per running pipeline. */
#include "manager/manager.h"

struct xir_pass_scope {
    pass_scope        link;
    xir_context      *ctx;
    xir_pass_settings set;
};

void scope_enter(xir_context *ctx, pass_scope *scope, const xir_pass_settings *set) {
    pthread_mutex_lock(&ctx->lock);
    *scope = (pass_scope){ ctx->scopes, pthread_self(), set };
    ctx->scopes = scope;
    pthread_mutex_unlock(&ctx->lock);
}

void scope_leave(xir_context *ctx, pass_scope *scope) {
    pthread_mutex_lock(&ctx->lock);
    pass_scope **link = &ctx->scopes;
    while (*link != scope) link = &(*link)->older;
    *link = scope->older;
    pthread_mutex_unlock(&ctx->lock);
}

bool scope_current(xir_context *ctx, xir_pass_settings *out) {
    pthread_mutex_lock(&ctx->lock);
    const pass_scope *scope = ctx->scopes;
    while (scope && !pthread_equal(scope->by, pthread_self())) scope = scope->older;
    if (scope) *out = *scope->set;
    pthread_mutex_unlock(&ctx->lock);
    return scope;
}

/* ---- interface ----------------------------------------------------------------------------------------------- */

xir_pass_scope *xir_pass_scope_new(xir_context *ctx, const xir_pass_settings *settings, xir_diags *why) {
    xir_pass_settings known;
    if (settings_take(NULL, ctx, settings, &known, why) != XIR_OK) return NULL;
    xir_pass_scope *scope = mem_new(&ctx->alloc, sizeof *scope);
    if (!scope) return diag_memory(why), NULL;
    scope->ctx = ctx;
    scope->set = known;
    context_retain(ctx);
    scope_enter(ctx, &scope->link, &scope->set);
    return scope;
}

void xir_pass_scope_free(xir_pass_scope *scope) {
    if (!scope) return;
    xir_context *ctx = scope->ctx;
    scope_leave(ctx, &scope->link);
    mem_free(&ctx->alloc, scope, sizeof *scope);
    xir_context_free(ctx);
}

bool xir_pass_current(xir_context *ctx, xir_pass_settings *out) {
    xir_pass_settings known;
    memset(&known, 0, sizeof known);
    const bool there = scope_current(ctx, &known);
    return sized_fill(SETTINGS, out, &known, NULL) == XIR_OK && there;
}

bool xir_pass_is_enabled(xir_context *ctx, const xir_pass_decl *pass) {
    xir_pass_settings known;
    return !scope_current(ctx, &known) || settings_fate(ctx, &known, pass, false) == XIR_PASS_RAN;
}
