#include "registry.h"
#include <string.h>
#include "context.h"

/* For who holds the lock. */
static const registry_item *find(const registry *r, xir_str name) {
    for (size_t i = 0; i < r->n; i++) {
        if (xir_str_equal(xir_str_of(r->items[i].name), name)) return &r->items[i];
    }
    return NULL;
}

static xir_status enter(xir_context *ctx, registry *r, const registry_item *items, size_t n, size_t *taken) {
    size_t before = r->n;
    if (!mem_reserve(&ctx->alloc, (void **)&r->items, &r->room, r->n + n, sizeof *r->items)) return XIR_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (find(r, xir_str_of(items[i].name))) {
            r->n = before;
            *taken = i;
            return XIR_E_EXISTS;
        }
        r->items[r->n++] = items[i];
    }
    return XIR_OK;
}

xir_status registry_add(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, size_t *taken) {
    pthread_mutex_lock(&ctx->lock);
    xir_status status = enter(ctx, &ctx->lists[kind], items, n, taken);
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

const void *registry_find(xir_context *ctx, registry_kind kind, xir_str name) {
    pthread_mutex_lock(&ctx->lock);
    const registry_item *found = find(&ctx->lists[kind], name);
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
