/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Traits with names. A trait is a bit: the library's are the flags of a declaration, those of programs and plug-ins are
 * the other half, in the order of their registration. A context never forgets one. */
#include <xir/icraft.h>
#include "context.h"

static const struct { xir_str name; uint32_t bit; } own[] = {
    { { "activation", 10 }, XIR_TRAIT_ACTIVATION },
    { { "source",     6  }, XIR_TRAIT_SOURCE     },
    { { "sink",       4  }, XIR_TRAIT_SINK       },
    { { "free",       4  }, XIR_TRAIT_FREE       },
    { { "impure",     6  }, XIR_TRAIT_IMPURE     },
    { { "abstract",   8  }, XIR_TRAIT_ABSTRACT   },
};
enum { OWN = sizeof own / sizeof *own };

static xir_trait bit_of(uint32_t i) { return (xir_trait)1 << (TRAITS + i); }

/* Requires the lock. Looks at the first `n` traits with names. */
static xir_trait find(const xir_context *ctx, uint32_t n, xir_str name) {
    for (uint32_t i = 0; i < OWN; i++) {
        if (xir_str_equal(own[i].name, name)) return own[i].bit;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (xir_str_equal(ctx->traits[i], name)) return bit_of(i);
    }
    return 0;
}

xir_trait stage_trait(class_stage *stage, xir_str name, xir_status *status, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    const uint32_t n = ctx->n_traits + stage->n_traits;
    const xir_trait known = find(ctx, n, name);
    if (known) return known;
    if (!name.size) *status = diag_fail(why, XIR_E_INVALID, XIR_STR(""), "a trait has no name");
    else if (n == TRAITS)
        *status = diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "trait %.*s: the context has %d others already",
                            CLIP_TO(name, 100), TRAITS);
    if (*status) return 0;
    ctx->traits[n] = name;
    stage->n_traits++;
    return bit_of(n);
}

/* Stages of other threads do not stage traits meanwhile. */
xir_trait xir_trait_register(xir_context *ctx, xir_str name, xir_diags *why) {
    class_stage stage = { .ctx = ctx };
    xir_status status = XIR_OK;
    pthread_mutex_lock(&ctx->registering);
    pthread_mutex_lock(&ctx->lock);
    const xir_trait trait = stage_trait(&stage, name, &status, why);
    if (stage.n_traits && !arena_text(&ctx->arena, name, &ctx->traits[ctx->n_traits])) status = diag_memory(why);
    if (!status) stage_enter(&stage);
    pthread_mutex_unlock(&ctx->lock);
    pthread_mutex_unlock(&ctx->registering);
    return status ? 0 : trait;
}

xir_trait xir_trait_find(xir_context *ctx, xir_str name) {
    pthread_mutex_lock(&ctx->lock);
    const xir_trait trait = find(ctx, ctx->n_traits, name);
    pthread_mutex_unlock(&ctx->lock);
    return trait;
}

xir_str xir_trait_name(xir_context *ctx, xir_trait trait) {
    xir_str name = { "", 0 };
    for (uint32_t i = 0; i < OWN; i++) {
        if (own[i].bit == trait) name = own[i].name;
    }
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = 0; i < ctx->n_traits; i++) {
        if (bit_of(i) == trait) name = ctx->traits[i];
    }
    pthread_mutex_unlock(&ctx->lock);
    return name;
}

xir_status xir_class_add_trait(xir_context *ctx, const xir_class_decl *decl, xir_trait trait) {
    xir_class *cls = (xir_class *)(uintptr_t)xir_class_find_decl(ctx, decl);
    if (!cls) return XIR_E_UNKNOWN;
    pthread_mutex_lock(&ctx->lock);
    xir_status status = XIR_E_INVALID;
    for (uint32_t i = 0; i < ctx->n_traits; i++) {
        if (bit_of(i) == trait) status = XIR_OK;
    }
    if (!status) {
        class_give_traits(cls, trait);
        ctx->trait_epoch++;
    }
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

xir_str xir_class_trait_at(const xir_class *cls, size_t i) {
    for (xir_trait trait = 1; trait; trait <<= 1) {
        if (xir_class_has_trait(cls, trait) && i-- == 0) return xir_trait_name(cls->ctx, trait);
    }
    return (xir_str){ "", 0 };
}

bool xir_class_has_trait(const xir_class *cls, xir_trait trait) {
    const uint32_t given = atomic_load_explicit(&cls->more->given_traits, memory_order_relaxed);
    return trait && (((xir_trait)given << TRAITS | cls->traits) & trait) == trait;
}
