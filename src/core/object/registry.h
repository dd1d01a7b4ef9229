/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of named items that a context holds and the core does not interpret: passes, conversions, dialects, formats,
 * schemes. A list finds its items by a hash of their names; an item may have several names. Only passes leave their
 * list again, or take the place of others. Each kind has rules, which the layer that owns the kind sets before the
 * first item is added; in a context without that layer nothing of the kind is accepted. */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include <xir/diag.h>
#include "hash.h"

typedef enum registry_kind {
    REGISTRY_PASS,        /* const xir_pass_decl *     */
    REGISTRY_CONVERSION,  /* const xir_convert_row *   */
    REGISTRY_DIALECT,     /* const xir_dialect_decl *  */
    REGISTRY_FORMAT,      /* const xir_format_decl *   */
    REGISTRY_SCHEME,      /* const xir_scheme_decl *   */
    REGISTRY_COUNT
} registry_kind;

typedef struct registry_item {
    registry_kind kind;
    const char   *name;
    const void   *it;
} registry_item;

typedef struct registry_rules {
    const char *noun;      /* "pass", for sentences                               */
    /* Checks whether items[i] may be registered, except that its name may be taken; the items before it are registered
     * together with it. Adds a finding. No item is NULL. Sets *name to the item's name in the registry, which lives as
     * long as the item. */
    xir_status (*check)(xir_context *ctx, const void *const *items, size_t i, const char **name, xir_diags *why);
    /* Counts the items that an item adds to other lists, and writes them to `out` unless it is NULL. NULL: it adds
     * none. It may be called for the number before the item is checked, and returns 0 for one that it cannot read. */
    size_t     (*brings)(const void *item, registry_item *out);
    /* Returns true if the item takes the place of one with its name. NULL: none does. */
    bool       (*overrides)(const void *item);
} registry_rules;

typedef struct registry {
    const registry_rules *rules;
    registry_item *items;
    size_t         n, room;
    text_table     index;   /* name -> position; it has no allocator until something is added */
} registry;

/* Sets the rules of a kind. `rules` is constant. */
void registry_define(xir_context *ctx, registry_kind kind, const registry_rules *rules);
/* The number of items that enter lists if these are registered: they themselves, and those that they bring. */
size_t registry_count(xir_context *ctx, registry_kind kind, const void *const *items, size_t n);
/* Checks items that are registered together and writes the items that enter lists to `out`, which has room for
 * registry_count. Stops at the first that may not be registered, with its status and a finding. XIR_E_INVALID if one is
 * NULL. */
xir_status registry_check(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, registry_item *out,
                          size_t *n_out, xir_diags *why);
/* Checks and adds `n` items, all or none. XIR_E_EXISTS with a finding if a name is taken, XIR_E_MEMORY. Items live
 * as long as the context. */
xir_status registry_add(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, xir_diags *why);
/* The same for items that the library itself declares, which its tests check: of any kinds, with their names.
 * XIR_E_MEMORY. */
xir_status registry_add_own(xir_context *ctx, const registry_item *items, size_t n);
/* The second half in two steps, for items of any kinds, for a caller that holds the context's lock. The first checks
 * that the names are free and makes room, or fails with a finding. Then all enter, which cannot fail. */
xir_status registry_stage(xir_context *ctx, const registry_item *items, size_t n, xir_diags *why);
void       registry_enter(xir_context *ctx, const registry_item *items, size_t n);
/* Takes an item and all its names out of a list, in which others move up. Cannot fail. */
void registry_remove(xir_context *ctx, registry_kind kind, const void *it);
/* An item by name or by position; NULL if there is none. */
const void *registry_find(xir_context *ctx, registry_kind kind, xir_str name);
const void *registry_at(xir_context *ctx, registry_kind kind, size_t i);
/* The item at a position, with its name; false if there is none. */
bool registry_item_at(xir_context *ctx, registry_kind kind, size_t i, registry_item *out);
void registry_free(const xir_allocator *alloc, registry *r);

#endif
