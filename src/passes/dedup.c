/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* dedup: keeps the first of several Params that have the same bytes.
 *
 *     a = conv(x, w)   w: 64 KiB             a = conv(x, w)
 *     b = conv(y, v)   v: equal to w   ->    b = conv(y, w)
 *
 * Two Params are equal if they have the same type, tags and undeclared keys, lie in the same memory, and have the same
 * bytes, of any number: -0 and 0 differ, and a NaN is equal to itself. Inputs with a default stay, since a caller may
 * replace them one by one, and so do Params that are attributes. Params that are mapped from a file are not read unless
 * `lazy` asks for it: mapping exists so that nobody reads them. Others are read in full only where two have the same
 * size and first bytes. The name of a network result is preserved (upkeep.h). */
#include "hash.h"
#include "support/upkeep.h"

enum { HEAD = 4096, MOST_KINDS = 16 };   /* types of Params with equal bytes that are distinguished */

typedef struct dedup {
    const xir_allocator *alloc;
    xir_value **all;          /* in the order of use                                            */
    uint32_t   *next;         /* by the same number: the next with the same bytes, + 1          */
    size_t      n, room;      /* of `all`                                                       */
    text_table  heads, wholes;
    size_t      changes;
} dedup;

static bool add(void *user, xir_value *v) {
    dedup *d = user;
    if (!mem_reserve(d->alloc, (void **)&d->all, &d->room, d->n + 1, sizeof *d->all)) return false;
    d->all[d->n++] = v;
    return true;
}

/* Lists all Params, and makes room for a key of each: tables that grow as they fill take longer than all else. */
static xir_status begin(dedup *d, const xir_network *net) {
    if (!net_walk_params(net, add, d) || !text_table_reserve(&d->heads, d->n)) return XIR_E_MEMORY;
    d->next = mem_new(d->alloc, (d->n + 1) * sizeof *d->next);
    if (!d->next) return XIR_E_MEMORY;
    memset(d->next, 0, (d->n + 1) * sizeof *d->next);
    return XIR_OK;
}

/* The bytes; empty if they are not to be read. */
static xir_str bytes_of(const xir_value *v, bool lazy) {
    const blob *data = value_params(v)->data;
    if (!data || !data->size || (data->mapped && !lazy) || value_is_default(v)) return (xir_str){ 0 };
    uint64_t size = 0;
    const void *bytes = xir_params_data(v, &size);
    return bytes && size <= SIZE_MAX ? (xir_str){ bytes, (size_t)size } : (xir_str){ 0 };
}

static bool are_one(const xir_value *a, const xir_value *b) {
    const value_more *x = value_more_of(a), *y = value_more_of(b);
    return same_kind(a, b) && xir_map_equal(x->tags, y->tags) && xir_map_equal(x->extra, y->extra);
}

/* Looks for the first Params with the bytes of the `i`-th, and adds this one if it is of a new kind. */
static xir_status keep_first(dedup *d, size_t i, xir_str bytes) {
    uint32_t *found = text_table_add(&d->wholes, bytes, (uint32_t)i);
    if (!found) return XIR_E_MEMORY;
    size_t kinds = 0;
    for (uint32_t at = *found; at != i; kinds++) {
        if (are_one(d->all[at], d->all[i])) {
            size_t moved = 0;
            const xir_status status = value_replace(d->all[at], d->all[i], false, &moved);
            d->changes += moved > 0;
            return status;
        }
        if (!d->next[at]) {
            if (kinds + 1 < MOST_KINDS) d->next[at] = (uint32_t)i + 1;
            return XIR_OK;
        }
        at = d->next[at] - 1;
    }
    return XIR_OK;
}

static xir_status look_at(dedup *d, size_t i, bool lazy) {
    const xir_str bytes = bytes_of(d->all[i], lazy);
    if (!bytes.size) return XIR_OK;
    const xir_str head = { bytes.data, bytes.size < HEAD ? bytes.size : HEAD };
    const size_t before = d->heads.n;
    uint32_t *first = text_table_add(&d->heads, head, (uint32_t)i);
    if (!first) return XIR_E_MEMORY;
    if (d->heads.n > before) return XIR_OK;
    xir_status status = XIR_OK;
    if (*first != UINT32_MAX) {              /* now it is read in full, too */
        status = keep_first(d, *first, bytes_of(d->all[*first], lazy));
        *first = UINT32_MAX;
    }
    return status ? status : keep_first(d, i, bytes);
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    const bool lazy = xir_pass_bool(at, "lazy");
    dedup d = { .alloc = &net->alloc };
    text_table_init(&d.heads, &net->alloc);
    text_table_init(&d.wholes, &net->alloc);
    xir_status status = begin(&d, net);
    for (size_t i = 0; i < d.n && !status; i++) status = look_at(&d, i, lazy);
    mem_free(&net->alloc, d.next, (d.n + 1) * sizeof *d.next);
    mem_free(&net->alloc, (void *)d.all, d.room * sizeof *d.all);
    text_table_free(&d.wholes);
    text_table_free(&d.heads);
    xir_pass_changed(at, d.changes);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

static const xir_pass_option options[] = {
    { "lazy", XIR_PASS_BOOL, "false", "read Params that are mapped from a file, too" },
};

const xir_pass_decl pass_dedup = {
    XIR_PASS_HEAD("dedup", "keeps the first of several Params with the same bytes"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
