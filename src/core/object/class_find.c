/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds the class of a key: in the context's table of keys, and among the classes that are being registered with it.
 * The table only grows; lookups take the context's lock. */
#include "class_seal.h"

/* ---- the table of keys -------------------------------------------------------------------------------------- */

bool class_reserve_keys(xir_context *ctx, size_t more) {
    size_t n = ctx->keys.n + more;
    return text_table_reserve(&ctx->keys, n) &&
           mem_reserve(&ctx->alloc, (void **)&ctx->by_key, &ctx->by_key_room, n, sizeof *ctx->by_key);
}

void class_put_key(xir_context *ctx, xir_str key, const xir_class *cls) {
    uint32_t n = (uint32_t)ctx->keys.n, at = *text_table_add(&ctx->keys, key, n);
    if (at == n || ctx->by_key[at]->opaque) ctx->by_key[at] = cls;
}

const xir_class *class_get_key(xir_context *ctx, xir_str key) {
    const uint32_t *at = text_table_find(&ctx->keys, key);
    return at ? ctx->by_key[*at] : NULL;
}

const xir_class *xir_class_find(xir_context *ctx, xir_str key) {
    pthread_mutex_lock(&ctx->lock);
    const xir_class *cls = class_get_key(ctx, key);
    pthread_mutex_unlock(&ctx->lock);
    return cls && !cls->opaque ? cls : NULL;
}

const xir_class *xir_class_find_decl(xir_context *ctx, const xir_class_decl *decl) {
    const xir_class *cls = xir_class_find(ctx, xir_str_of(decl->rows->name));
    return cls && cls->decl == decl ? cls : NULL;
}

const xir_class *xir_context_class_at(xir_context *ctx, size_t i) {
    const xir_class *cls = atomic_load_explicit(&ctx->first_class, memory_order_acquire);
    pthread_mutex_lock(&ctx->lock);
    while (cls && i--) cls = cls->more->next;
    pthread_mutex_unlock(&ctx->lock);
    return cls;
}

/* ---- the stage ---------------------------------------------------------------------------------------------- */

static bool has_alias(const xir_class_decl *decl, xir_str key) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl == XIR_DECL_ALIAS && xir_str_equal(xir_str_of(row->name), key)) return true;
    }
    return false;
}

const xir_class *stage_find(const class_stage *stage, xir_str key) {
    for (size_t i = 0; i < stage->n; i++) {
        const xir_class *cls = stage->classes[i];
        if (xir_str_equal(cls->key, key) || has_alias(cls->decl, key)) return cls;
    }
    const xir_class *cls = class_get_key(stage->ctx, key);
    return cls && !cls->opaque ? cls : NULL;
}
