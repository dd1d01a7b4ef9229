/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Registering classes. Sealed classes are on a stage, where only each other's rows find them, until all classes that
 * are registered together are valid. Then they enter the registry together. A sealed class never changes, except for
 * the inference functions and kernels that are added to it. */
#include <xir/exec.h>
#include "class_seal.h"
#include "compose.h"
#include "sized.h"

static bool is_readable(const xir_class_decl *decl) {
    return decl && decl->abi == XIR_ABI && decl->size >= SIZE_TO(xir_class_decl, rows) &&
           decl->row_size >= SIZE_TO(xir_row, form) && decl->rows;
}

/* Refuses a declaration or a row that sets members that this library does not know. An unknown word ends the walk;
 * it is refused later. */
static xir_status check_beyond(const xir_class_decl *decl, xir_diags *why) {
    row_walk w;
    bool strange = sized_beyond(decl, sizeof *decl, decl->size) < decl->size;
    for (const xir_row *row = row_first(&w, decl); !strange && row->decl != XIR_DECL_END; row = row_next(&w)) {
        if ((unsigned)row->decl >= XIR_DECL_COUNT) break;
        strange = sized_beyond(w.at, sizeof *row, w.size) < w.size;
    }
    if (!strange) return XIR_OK;
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "class %s sets a member that this version does not know",
                     decl->rows->name ? decl->rows->name : "?");
}

/* The traits of the TRAIT rows. */
static xir_status stage_traits_of(class_stage *stage, xir_class *cls, xir_diags *why) {
    xir_status status = XIR_OK;
    row_walk w;
    for (const xir_row *row = row_first(&w, cls->decl); row->decl != XIR_DECL_END && !status; row = row_next(&w)) {
        if (row->decl != XIR_DECL_TRAIT) continue;
        const xir_trait trait = stage_trait(stage, xir_str_of(row->name), &status, why);
        cls->traits |= (uint32_t)trait;
        class_give_traits(cls, trait);
    }
    return status;
}

xir_status stage_class(class_stage *stage, const xir_class_decl *decl, xir_diags *why) {
    if (!decl || decl->abi != XIR_ABI) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "expected a class declaration of version %u, found %u",
                         XIR_ABI, decl ? decl->abi : 0);
    }
    if (!is_readable(decl)) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""),
                         "a class declaration has %u bytes and %s of %u: at least %zu and %zu were expected", decl->size,
                         decl->rows ? "rows" : "no rows", decl->row_size, SIZE_TO(xir_class_decl, rows),
                         SIZE_TO(xir_row, form));
    }
    xir_context *ctx = stage->ctx;
    xir_str key = xir_str_of(decl->rows->name);
    xir_status status = check_beyond(decl, why);
    if (status) return status;
    xir_class *cls = NULL;
    pthread_mutex_lock(&ctx->lock);
    const xir_class *old = stage_find(stage, key);
    const uint32_t n_traits = stage->n_traits;
    if (!old) {
        cls = class_seal(stage, decl, &status, why);
        if (cls) status = stage_traits_of(stage, cls, why);
    } else if (!xir_str_equal(old->key, key)) {
        status = diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "class %s: the key is an old one of %s", key.data,
                           old->key.data);
    } else {
        status = diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "the class %s is registered already", key.data);
    }
    pthread_mutex_unlock(&ctx->lock);
    if (cls && !status) status = class_make_defaults(ctx, cls, decl, why);
    if (cls && !status) status = class_compose(stage, cls, why);
    if (!status) stage->classes[stage->n++] = cls;
    else stage->n_traits = n_traits;
    return status;
}

xir_status stage_reserve(const class_stage *stage, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    size_t keys = 0;
    for (size_t i = 0; i < stage->n; i++) keys += 1 + class_alias_count(stage->classes[i]->decl);
    return class_reserve_keys(ctx, keys) &&
           mem_reserve(&ctx->alloc, (void **)&ctx->forms, &ctx->form_room, ctx->n_forms + stage->n,
                                                  sizeof *ctx->forms) ? XIR_OK : diag_memory(why);
}

/* Makes a complete class visible to lookups. */
static void enter(xir_context *ctx, xir_class *cls) {
    class_put_key(ctx, cls->key, cls);
    row_walk w;
    for (const xir_row *row = row_first(&w, cls->decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl == XIR_DECL_ALIAS) class_put_key(ctx, xir_str_of(row->name), cls);
    }
    if (cls->more->form) ctx->forms[ctx->n_forms++] = cls;
    cls->number = ctx->n_classes++;
    xir_class *last = (xir_class *)(uintptr_t)ctx->last_class;
    ctx->last_class = cls;
    if (last) last->more->next = cls;
    else atomic_store_explicit(&ctx->first_class, cls, memory_order_release);
}

void stage_enter(const class_stage *stage) {
    stage->ctx->n_traits += stage->n_traits;
    for (size_t i = 0; i < stage->n; i++) enter(stage->ctx, stage->classes[i]);
}

xir_status xir_class_register(xir_context *ctx, const xir_class_decl *decl, xir_diags *why) {
    xir_class *one = NULL;
    class_stage stage = { .ctx = ctx, .classes = &one };
    pthread_mutex_lock(&ctx->registering);
    bool again = is_readable(decl) && xir_class_find_decl(ctx, decl);
    xir_status status = again ? XIR_OK : stage_class(&stage, decl, why);
    if (!status) {
        pthread_mutex_lock(&ctx->lock);
        status = stage_reserve(&stage, why);
        if (!status) stage_enter(&stage);
        pthread_mutex_unlock(&ctx->lock);
    }
    pthread_mutex_unlock(&ctx->registering);
    return status;
}

/* Ops and objects of one unknown key are two classes. The class of objects is registered under the key with a prefix
 * byte that occurs in no text. A file may have as many such classes as ops, so they share what is equal in all of them:
 * the empty body of ops, and what registered classes have of their own. */
static const xir_object no_body;
static const xir_class *make_opaque(xir_context *ctx, xir_str registered, bool is_op) {
    xir_class *cls = arena_take(&ctx->arena, sizeof *cls);
    xir_object *body = is_op ? (xir_object *)(uintptr_t)&no_body : arena_take(&ctx->arena, sizeof *body);
    xir_str text;
    if (!cls || !body || !arena_text(&ctx->arena, registered, &text)) return NULL;
    if (!is_op) *body = (xir_object){ .cls = cls };
    *cls = (xir_class){ .ctx = ctx, .is_op = is_op, .number = UINT32_MAX, .opaque = true, .plain = true,
                        .many_inputs = true, .many_outputs = true, .more = class_more_of_opaque(is_op),
                        .traits = XIR_TRAIT_FREE | XIR_TRAIT_IMPURE, .body_size = is_op ? 0 : sizeof(xir_object),
                        .defaults = body };
    cls->key = is_op ? text : (xir_str){ text.data + 1, text.size - 1 };
    class_put_key(ctx, text, cls);
    return cls;
}

const xir_class *class_opaque(xir_context *ctx, xir_str key, bool is_op) {
    buffer text;
    buffer_init(&text, &ctx->alloc);
    if (!is_op) buffer_char(&text, '\xFF');
    if (key.size < INT32_MAX) buffer_put(&text, key.data, key.size);   /* as names (net_name) */
    else text.failed = true;
    const xir_class *cls = NULL;
    pthread_mutex_lock(&ctx->lock);
    if (!text.failed && class_reserve_keys(ctx, 1)) {
        xir_str registered = { text.data, text.size };
        cls = class_get_key(ctx, registered);
        if (!cls || cls->is_op != is_op) cls = make_opaque(ctx, registered, is_op);
    }
    pthread_mutex_unlock(&ctx->lock);
    buffer_free(&text);
    return cls;
}

const xir_class *xir_class_opaque(xir_context *ctx, xir_str key) {
    return key.size ? class_opaque(ctx, key, true) : NULL;
}

/* Few classes have inference for targets outside of the library: those get room for all possible targets. */
bool class_reserve_infer(xir_class *cls, unsigned target) {
    if (target < XIR_TARGET_COUNT || cls->more->infer_more) return true;
    infer_slot *slots = arena_take(&cls->ctx->arena, XIR_TARGET_MAX * sizeof *slots);
    for (unsigned i = 0; slots && i < XIR_TARGET_MAX; i++) atomic_init(&slots[i], NULL);
    if (slots) cls->more->infer_more = slots;
    return slots != NULL;
}

/* Other threads may infer at the same time: a thread that sees the function also sees that it needs the check first. */
void class_set_infer(xir_class *cls, unsigned target, xir_infer_fn *fn) {
    cls->more->alone &= ~(UINT32_C(1) << target);
    if (target == XIR_TARGET_HOST) cls->more->floats = FLOATS_ASKED;
    if (target < XIR_TARGET_COUNT) cls->more->infer[target] = fn;
    else cls->more->infer_more[target] = fn;
}

xir_status xir_infer_register(xir_context *ctx, const xir_class_decl *decl, int target, xir_infer_fn *fn) {
    const xir_class *cls = xir_class_find_decl(ctx, decl);
    if (!cls) return XIR_E_UNKNOWN;
    xir_class *writable = (xir_class *)(uintptr_t)cls;
    xir_status status = XIR_E_BOUNDS;
    pthread_mutex_lock(&ctx->lock);
    if (target >= 0 && (unsigned)target < ctx->n_targets) {
        status = class_reserve_infer(writable, (unsigned)target) ? XIR_OK : XIR_E_MEMORY;
    }
    if (!status) {
        class_set_infer(writable, (unsigned)target, fn);
        ctx->infer_epoch++;
    }
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

void class_set_kernel(xir_class *cls, xir_kernel_fn *fn) { cls->more->kernel = fn; }

xir_status xir_kernel_register(xir_context *ctx, const xir_class_decl *decl, xir_kernel_fn *fn) {
    const xir_class *cls = xir_class_find_decl(ctx, decl);
    if (!cls) return XIR_E_UNKNOWN;
    pthread_mutex_lock(&ctx->lock);
    class_set_kernel((xir_class *)(uintptr_t)cls, fn);
    pthread_mutex_unlock(&ctx->lock);
    return XIR_OK;
}
