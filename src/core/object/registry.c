/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "registry.h"
#include <string.h>
#include "context.h"

static xir_status check_absent(xir_context *ctx, const void *const *items, size_t i, const char **name,
                               xir_diags *why) {
    (void)ctx, (void)items, (void)i;
    *name = "";
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
                     "this context was made without the component of the library that this belongs to");
}

/* The rules of a kind whose layer is not in the context: nothing may be registered. */
static const registry_rules absent = { .noun = "item", .check = check_absent };

static const registry_rules *rules_of(xir_context *ctx, registry_kind kind) {
    return ctx->lists[kind].rules ? ctx->lists[kind].rules : &absent;
}

static const registry_item *find(const registry *r, xir_str name) {
    const uint32_t *at = r->n ? text_table_find(&r->index, name) : NULL;
    return at ? &r->items[*at] : NULL;
}

void registry_define(xir_context *ctx, registry_kind kind, const registry_rules *rules) {
    ctx->lists[kind].rules = rules;
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

static size_t brought_by(const registry_rules *rules, const void *item, registry_item *out) {
    return item && rules->brings ? rules->brings(item, out) : 0;
}

size_t registry_count(xir_context *ctx, registry_kind kind, const void *const *items, size_t n) {
    size_t count = n;
    for (size_t i = 0; i < n; i++) count += brought_by(rules_of(ctx, kind), items[i], NULL);
    return count;
}

xir_status registry_check(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, registry_item *out,
                          size_t *n_out, xir_diags *why) {
    const registry_rules *rules = rules_of(ctx, kind);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        registry_item *item = &out[*n_out];
        *item = (registry_item){ .kind = kind, .it = items[i] };
        if (!item->it) return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "%s %zu is NULL", rules->noun, i);
        xir_status status = rules->check(ctx, items, i, &item->name, why);
        if (status) return status;
        *n_out += 1 + brought_by(rules, items[i], item + 1);
    }
    return XIR_OK;
}

/* ---- adding ----------------------------------------------------------------------------------------------------- */

static bool make_room(const xir_allocator *alloc, registry *r, size_t n) {
    if (!r->index.alloc) text_table_init(&r->index, alloc);
    return mem_reserve(alloc, (void **)&r->items, &r->room, r->n + n, sizeof *r->items) &&
           text_table_reserve(&r->index, r->n + n);
}

static bool overrides(const registry *r, const void *item) {
    return r->rules->overrides && r->rules->overrides(item);
}

/* Checks that no name is taken, in the lists or by an earlier item. The names are not added to the lists yet, because
 * items that do not enter may be freed. */
static xir_status names_are_free(xir_context *ctx, text_table *seen, const registry_item *items, size_t n,
                                 xir_diags *why) {
    for (size_t i = 0; i < n; i++) {
        const registry *r = &ctx->lists[items[i].kind];
        const xir_str name = xir_str_of(items[i].name);
        if ((find(r, name) && !overrides(r, items[i].it)) || text_table_find(&seen[items[i].kind], name)) {
            return diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "there is a %s '%.100s' already", r->rules->noun,
                             items[i].name);
        }
        if (n > 1 && !text_table_add(&seen[items[i].kind], name, 0)) return diag_memory(why);
    }
    return XIR_OK;
}

static bool make_room_for(xir_context *ctx, const registry_item *items, size_t n) {
    size_t more[REGISTRY_COUNT] = { 0 };
    bool room = true;
    for (size_t i = 0; i < n; i++) more[items[i].kind]++;
    for (size_t i = 0; i < REGISTRY_COUNT && room; i++)
        room = !more[i] || make_room(&ctx->alloc, &ctx->lists[i], more[i]);
    return room;
}

xir_status registry_stage(xir_context *ctx, const registry_item *items, size_t n, xir_diags *why) {
    text_table seen[REGISTRY_COUNT];
    for (size_t i = 0; i < REGISTRY_COUNT; i++) text_table_init(&seen[i], &ctx->alloc);
    xir_status status = names_are_free(ctx, seen, items, n, why);
    for (size_t i = 0; i < REGISTRY_COUNT; i++) text_table_free(&seen[i]);
    return status || make_room_for(ctx, items, n) ? status : diag_memory(why);
}

/* The item takes the place of `old` under all its names. */
static void take_place(registry *r, const registry_item *item, const void *old) {
    const uint32_t at = *text_table_find(&r->index, xir_str_of(item->name));
    for (size_t i = 0; i < r->n; i++) {
        if (r->items[i].it == old) r->items[i].it = item->it;
    }
    r->items[at].name = item->name;
}

void registry_enter(xir_context *ctx, const registry_item *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        registry *r = &ctx->lists[items[i].kind];
        const registry_item *old = find(r, xir_str_of(items[i].name));
        if (old) {
            take_place(r, &items[i], old->it);
            continue;
        }
        (void)text_table_add(&r->index, xir_str_of(items[i].name), (uint32_t)r->n);   /* room has been made */
        r->items[r->n++] = items[i];
    }
}

void registry_remove(xir_context *ctx, registry_kind kind, const void *it) {
    pthread_mutex_lock(&ctx->lock);
    registry *r = &ctx->lists[kind];
    const size_t n = r->n;
    r->n = 0;
    text_table_clear(&r->index);
    for (size_t i = 0; i < n; i++) {
        if (r->items[i].it == it) continue;
        (void)text_table_add(&r->index, xir_str_of(r->items[i].name), (uint32_t)r->n);   /* it had room */
        r->items[r->n++] = r->items[i];
    }
    pthread_mutex_unlock(&ctx->lock);
}

xir_status registry_add_own(xir_context *ctx, const registry_item *items, size_t n) {
    pthread_mutex_lock(&ctx->lock);
    const bool room = make_room_for(ctx, items, n);
    if (room) registry_enter(ctx, items, n);
    pthread_mutex_unlock(&ctx->lock);
    return room ? XIR_OK : XIR_E_MEMORY;
}

xir_status registry_add(xir_context *ctx, registry_kind kind, const void *const *items, size_t n, xir_diags *why) {
    const size_t count = registry_count(ctx, kind, items, n), size = (count ? count : 1) * sizeof(registry_item);
    size_t named = 0;
    registry_item *out = count <= SIZE_MAX / sizeof *out ? mem_new(&ctx->alloc, size) : NULL;
    if (!out) return diag_memory(why);
    xir_status status = registry_check(ctx, kind, items, n, out, &named, why);
    if (!status) {
        pthread_mutex_lock(&ctx->lock);
        status = registry_stage(ctx, out, named, why);
        if (!status) registry_enter(ctx, out, named);
        pthread_mutex_unlock(&ctx->lock);
    }
    mem_free(&ctx->alloc, out, size);
    return status;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

const void *registry_find(xir_context *ctx, registry_kind kind, xir_str name) {
    pthread_mutex_lock(&ctx->lock);
    const registry_item *found = find(&ctx->lists[kind], name);
    const void *it = found ? found->it : NULL;
    pthread_mutex_unlock(&ctx->lock);
    return it;
}

bool registry_item_at(xir_context *ctx, registry_kind kind, size_t i, registry_item *out) {
    pthread_mutex_lock(&ctx->lock);
    const registry *r = &ctx->lists[kind];
    const bool there = i < r->n;
    if (there) *out = r->items[i];
    pthread_mutex_unlock(&ctx->lock);
    return there;
}

const void *registry_at(xir_context *ctx, registry_kind kind, size_t i) {
    registry_item item;
    return registry_item_at(ctx, kind, i, &item) ? item.it : NULL;
}

void registry_free(const xir_allocator *alloc, registry *r) {
    mem_free(alloc, r->items, r->room * sizeof *r->items);
    if (r->index.alloc) text_table_free(&r->index);
}
