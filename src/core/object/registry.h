/* Lists of what a context knows by name and the core does not look into: passes, conversions, formats. They only grow. Each
 * kind has rules, which the layer that owns the kind sets before the first item comes. */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include <xir/diag.h>

typedef enum registry_kind {
    REGISTRY_PASS,        /* const xir_pass_decl *     */
    REGISTRY_CONVERSION,  /* const xir_convert_row *   */
    REGISTRY_FORMAT,      /* const xir_format_decl *   */
    REGISTRY_COUNT
} registry_kind;

typedef struct registry_rules {
    const char *noun;      /* "pass", for sentences                               */
    /* Whether items[i] may be registered, but for its name being taken; those before it are registered together with it. Adds a
     * finding. No item is NULL. Sets *name to what the registry finds the item by; it lives as long as the item. */
    xir_status (*check)(xir_context *ctx, const void *const *items, size_t i, const char **name, xir_diags *why);
} registry_rules;

typedef struct registry_item {
    const char *name;
    const void *it;
} registry_item;

typedef struct registry {
    const registry_rules *rules;
    registry_item *items;
    size_t         n, room;
} registry;

/* Says what holds for a kind. `rules` is constant. */
void registry_define(xir_context *ctx, registry_kind kind, const registry_rules *rules);
/* Checks items that are registered together and notes their names in `out`, which has room for them. Stops at the first that may
 * not be registered: its status, a finding, and its index in *bad. XIR_E_INVALID if one is NULL. */
xir_status registry_check(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, registry_item *out,
                          size_t *bad, xir_diags *why);
/* Checks and adds `n` items, all or none. XIR_E_EXISTS with a finding if a name is taken, XIR_E_MEMORY. Items live as long as the
 * context. */
xir_status registry_add(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, xir_diags *why);
/* The second half in two steps, for a caller that holds the context's lock: names are free and there is room, or a finding; then
 * all enter, which cannot fail. */
xir_status registry_stage(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n, xir_diags *why);
void       registry_enter(xir_context *ctx, registry_kind kind, const registry_item *items, size_t n);
/* The item of a name, or by position; NULL: there is none. */
const void *registry_find(xir_context *ctx, registry_kind kind, xir_str name);
const void *registry_at(xir_context *ctx, registry_kind kind, size_t i);

#endif
