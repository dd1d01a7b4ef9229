/* Lists of what a context knows by name and the core does not look into: passes, conversions. They only grow. */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include <xir/base.h>

typedef struct xir_context xir_context;

typedef enum registry_kind {
    REGISTRY_PASS,        /* const xir_pass_decl *     */
    REGISTRY_CONVERSION,  /* const xir_convert_row *   */
    REGISTRY_COUNT
} registry_kind;

typedef struct registry_item {
    const char *name;
    const void *it;
} registry_item;

typedef struct registry {
    registry_item *items;
    size_t         n, room;
} registry;

/* Adds `n` items, all or none: XIR_E_EXISTS if one has a name that is taken (its index is in *taken), XIR_E_MEMORY. Names and items
 * must stay until the context is freed. */
xir_status registry_add(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, size_t *taken);
/* The same in two steps, for who holds the context's lock: names are free and there is room; then all enter, which cannot fail. */
xir_status registry_stage(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, size_t *taken);
void       registry_enter(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n);
/* The item of a name, or by position; NULL: there is none. */
const void *registry_find(xir_context *ctx, registry_kind kind, xir_str name);
const void *registry_at(xir_context *ctx, registry_kind kind, size_t i);

#endif
