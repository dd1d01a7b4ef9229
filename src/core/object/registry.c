#include "registry.h"
#include <string.h>
#include "context.h"

static const registry_item *find(const registry_item *items, size_t n, xir_str name) {
    for (size_t i = 0; i < n; i++) {
        if (xir_str_equal(xir_str_of(items[i].name), name)) return &items[i];
    }
    return NULL;
}

void registry_define(xir_context *ctx, registry_kind kind, const registry_rules *rules) { ctx->lists[kind].rules = rules; }

xir_status registry_check(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, registry_item *out,
                          size_t *bad, xir_diags *why) {
    const registry_rules *rules = ctx->lists[kind].rules;
    for (*bad = 0; *bad < n; ++*bad) {
        registry_item *item = &out[*bad];
        *item = (registry_item){ .it = items[*bad] };
        if (!item->it) return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "%s %zu is NULL", rules->noun, *bad);
        xir_status status = rules->check(ctx, items, *bad, &item->name, why);
        if (status) return status;
    }
    return XIR_OK;
}

xir_status registry_stage(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, xir_diags *why) {
    registry *r = &ctx->lists[kind];
    for (size_t i = 0; i < n; i++) {
        xir_str name = xir_str_of(items[i].name);
        if (!find(r->items, r->n, name) && !find(items, i, name)) continue;
        return diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "there is a %s '%.100s' already", r->rules->noun, items[i].name);
    }
    if (mem_reserve(&ctx->alloc, (void **)&r->items, &r->room, r->n + n, sizeof *r->items)) return XIR_OK;
    return diag_memory(why);
}

void registry_enter(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n) {
    registry *r = &ctx->lists[kind];
    for (size_t i = 0; i < n; i++) r->items[r->n++] = items[i];
}

xir_status registry_add(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, xir_diags *why) {
    size_t bad, size = (n ? n : 1) * sizeof(registry_item);
    registry_item *named = n <= SIZE_MAX / sizeof *named ? mem_new(&ctx->alloc, size) : NULL;
    if (!named) return diag_memory(why);
    xir_status status = registry_check(ctx, kind, items, n, named, &bad, why);
    if (!status) {
        pthread_mutex_lock(&ctx->lock);
        status = registry_stage(ctx, kind, named, n, why);
        if (!status) registry_enter(ctx, kind, named, n);
        pthread_mutex_unlock(&ctx->lock);
    }
    mem_free(&ctx->alloc, named, size);
    return status;
}

const void *registry_find(xir_context *ctx, registry_kind kind, xir_str name) {
    pthread_mutex_lock(&ctx->lock);
    const registry *r = &ctx->lists[kind];
    const registry_item *found = find(r->items, r->n, name);
    const void *it = found ? found->it : NULL;
    pthread_mutex_unlock(&ctx->lock);
    return it;
}

const void *registry_at(xir_context *ctx, registry_kind kind, size_t i) {
    pthread_mutex_lock(&ctx->lock);
    const registry *r = &ctx->lists[kind];
    const void *it = i < r->n ? r->items[i].it : NULL;
    pthread_mutex_unlock(&ctx->lock);
    return it;
}
