#include "registry.h"
#include <string.h>
#include "context.h"

static const registry_item *find(const registry_item *items, size_t n, xir_str name) {
    for (size_t i = 0; i < n; i++) {
        if (xir_str_equal(xir_str_of(items[i].name), name)) return &items[i];
    }
    return NULL;
}

xir_status registry_stage(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, size_t *taken) {
    registry *r = &ctx->lists[kind];
    for (*taken = 0; *taken < n; ++*taken) {
        xir_str name = xir_str_of(items[*taken].name);
        if (find(r->items, r->n, name) || find(items, *taken, name)) return XIR_E_EXISTS;
    }
    return mem_reserve(&ctx->alloc, (void **)&r->items, &r->room, r->n + n, sizeof *r->items) ? XIR_OK : XIR_E_MEMORY;
}

void registry_enter(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n) {
    registry *r = &ctx->lists[kind];
    for (size_t i = 0; i < n; i++) r->items[r->n++] = items[i];
}

xir_status registry_add(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, size_t *taken) {
    pthread_mutex_lock(&ctx->lock);
    xir_status status = registry_stage(ctx, kind, items, n, taken);
    if (!status) registry_enter(ctx, kind, items, n);
    pthread_mutex_unlock(&ctx->lock);
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
