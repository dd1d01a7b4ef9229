/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tables of functions by class. Setting a function finds the answer for every class at once, so that finding one is a
 * look into an array. Answers for classes that came later, or after a class was given a trait, are found each time. */
#include <xir/functor.h>
#include "context.h"

typedef struct by_trait { xir_trait trait; xir_any_fn *fn; } by_trait;

struct xir_functor {
    xir_context *ctx;
    xir_any_fn **own;        /* by number: of the class itself; NULL: none */
    xir_any_fn **found;      /* by number: the answer                      */
    by_trait    *traits;     /* in the order in which they were set        */
    xir_any_fn  *rest;
    size_t       own_room, found_room, trait_room, n_traits;
    uint32_t     n;          /* classes that both arrays know              */
    uint32_t     epoch;      /* of the context's traits at that time       */
};

xir_functor *xir_functor_new(xir_context *ctx) {
    xir_functor *f = mem_new(&ctx->alloc, sizeof *f);
    if (f) *f = (xir_functor){ .ctx = ctx };
    return f;
}

void xir_functor_free(xir_functor *f) {
    if (!f) return;
    const xir_allocator *alloc = &f->ctx->alloc;
    mem_free(alloc, (void *)f->own, f->own_room * sizeof *f->own);
    mem_free(alloc, (void *)f->found, f->found_room * sizeof *f->found);
    mem_free(alloc, f->traits, f->trait_room * sizeof *f->traits);
    mem_free(alloc, f, sizeof *f);
}

static xir_any_fn *search(const xir_functor *f, const xir_class *cls) {
    for (const xir_class *c = cls; c; c = c->more->base) {
        if (c->number < f->n && f->own[c->number]) return f->own[c->number];
    }
    for (size_t i = 0; i < f->n_traits; i++) {
        if (xir_class_has_trait(cls, f->traits[i].trait)) return f->traits[i].fn;
    }
    return f->rest;
}

xir_any_fn *xir_functor_find(const xir_functor *f, const xir_class *cls) {
    if (!f || !cls || cls->ctx != f->ctx) return NULL;
    const bool known = cls->number < f->n &&
                       f->epoch == atomic_load_explicit(&f->ctx->trait_epoch, memory_order_relaxed);
    return known ? f->found[cls->number] : search(f, cls);
}

/* ---- setting ---------------------------------------------------------------------------------------------------- */

/* Makes room for all classes; those that came since have no function. Requires the context's lock. */
static bool reserve(xir_functor *f) {
    const xir_context *ctx = f->ctx;
    if (!mem_reserve(&ctx->alloc, (void **)&f->own, &f->own_room, ctx->n_classes, sizeof *f->own) ||
        !mem_reserve(&ctx->alloc, (void **)&f->found, &f->found_room, ctx->n_classes, sizeof *f->found))
        return false;
    for (; f->n < ctx->n_classes; f->n++) f->own[f->n] = NULL;
    return true;
}

static void find_all(xir_functor *f) {
    f->epoch = f->ctx->trait_epoch;
    for (const xir_class *c = f->ctx->first_class; c; c = c->more->next) f->found[c->number] = search(f, c);
}

/* Sets `fn` at a place of the functor, or for the class if the place is NULL. */
static xir_status set(xir_functor *f, const xir_class *cls, xir_any_fn **at, xir_any_fn *fn) {
    pthread_mutex_lock(&f->ctx->lock);
    const bool room = reserve(f);
    if (room) {
        *(at ? at : &f->own[cls->number]) = fn;
        find_all(f);
    }
    pthread_mutex_unlock(&f->ctx->lock);
    return room ? XIR_OK : XIR_E_MEMORY;
}

xir_status xir_functor_set_class(xir_functor *f, const xir_class *cls, xir_any_fn *fn) {
    if (!f) return XIR_E_MISSING;
    if (!cls || cls->ctx != f->ctx || cls->number == UINT32_MAX) return XIR_E_UNKNOWN;
    return set(f, cls, NULL, fn);
}

xir_status xir_functor_set(xir_functor *f, const xir_class_decl *decl, xir_any_fn *fn) {
    return f ? xir_functor_set_class(f, xir_class_find_decl(f->ctx, decl), fn) : XIR_E_MISSING;
}

xir_status xir_functor_set_rest(xir_functor *f, xir_any_fn *fn) {
    return f ? set(f, NULL, &f->rest, fn) : XIR_E_MISSING;
}

/* A removed trait leaves the list, so that one that is set again is the last. */
static xir_status remove_trait(xir_functor *f, size_t i) {
    const by_trait was = f->traits[i];
    memmove(&f->traits[i], &f->traits[i + 1], (--f->n_traits - i) * sizeof *f->traits);
    xir_status status = set(f, NULL, &f->rest, f->rest);
    if (!status) return XIR_OK;
    memmove(&f->traits[i + 1], &f->traits[i], (f->n_traits++ - i) * sizeof *f->traits);
    f->traits[i] = was;
    return status;
}

xir_status xir_functor_set_trait(xir_functor *f, xir_trait trait, xir_any_fn *fn) {
    size_t i = 0;
    if (!f) return XIR_E_MISSING;
    if (!trait) return XIR_E_INVALID;
    while (i < f->n_traits && f->traits[i].trait != trait) i++;
    if (i < f->n_traits) return fn ? set(f, NULL, &f->traits[i].fn, fn) : remove_trait(f, i);
    if (!fn) return XIR_OK;
    if (!mem_reserve(&f->ctx->alloc, (void **)&f->traits, &f->trait_room, f->n_traits + 1, sizeof *f->traits))
        return XIR_E_MEMORY;
    f->traits[f->n_traits++] = (by_trait){ trait, fn };
    xir_status status = set(f, NULL, &f->rest, f->rest);
    if (status) f->n_traits--;
    return status;
}
