/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts the bytes of a network's Params and texts. They decide how many bytes a conversion of it may make. */
#include "graph.h"
#include "hash.h"

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of_map(const xir_map *map);

uint64_t any_text_bytes(const xir_any *any) {
    enum { A_NUMBER = 4 };
    uint64_t n = 0;
    if (any->kind == XIR_ANY_TEXT) return any->as.text.size;
    if (any->kind == XIR_ANY_MAP) return bytes_of_map(&any->as.map);
    if (any->kind != XIR_ANY_LIST) return 0;
    for (size_t i = 0; i < any->as.list.size; i++) {
        const xir_any *item = &any->as.list.items[i];
        const bool number = item->kind == XIR_ANY_INT || item->kind == XIR_ANY_REAL;
        n += number ? A_NUMBER : any_text_bytes(item);
    }
    return n;
}

static uint64_t bytes_of_map(const xir_map *map) {
    uint64_t n = 0;
    for (size_t i = 0; i < map->size; i++) n += map->entries[i].key.size + any_text_bytes(&map->entries[i].value);
    return n;
}

static uint64_t bytes_of_maps(const xir_map *tags, const xir_map *extra) {
    return (tags ? bytes_of_map(tags) : 0) + (extra ? bytes_of_map(extra) : 0);
}

static uint64_t bytes_of_value(const xir_value *v) {
    const value_more *more = value_more_of(v);
    return more ? more->name->size + bytes_of_maps(more->tags, more->extra) : 0;
}

static uint64_t text_bytes(const xir_network *net) {
    uint64_t n = bytes_of_maps(net->tags, net->extra);
    for (const xir_op *op = net->first; op; op = op->next) {
        const op_more *more = op_more_of(op);
        n += op_label(op)->size;
        if (more) n += bytes_of_maps(more->tags, more->extra);
        for (size_t i = 0; i < op->n_outputs; i++) n += bytes_of_value(&op_outputs(op)[i]);
    }
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) n += bytes_of_value(v);
    return n;
}

/* ---- Params ----------------------------------------------------------------------------------------------------- */

/* A blob, and the bytes of all Params that are parts of it. */
typedef struct whole { const blob *root; uint64_t parts; } whole;
typedef struct wholes { pointer_table of; whole *rows; size_t n, room; } wholes;

static whole *whole_of(const xir_network *net, wholes *w, const blob *root) {
    if (w->n && w->rows[w->n - 1].root == root) return &w->rows[w->n - 1];   /* most often there is one file */
    uint32_t *at = pointer_table_add(&w->of, root, (uint32_t)w->n);
    if (!at) return NULL;
    if (*at < w->n) return &w->rows[*at];
    if (!mem_reserve(&net->alloc, (void **)&w->rows, &w->room, w->n + 1, sizeof *w->rows)) return NULL;
    w->rows[w->n] = (whole){ .root = root };
    return &w->rows[w->n++];
}

/* Parts of a file may overlap, so that a small file has very many: they count at most as the whole file. */
uint64_t net_params_bytes(const xir_network *net) {
    uint64_t all = 0;
    wholes w = { .n = 0 };
    pointer_table_init(&w.of, &net->alloc);
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        const blob *data = value_params(v)->data, *root = data;
        while (root && root->parent) root = root->parent;
        whole *of = root != data ? whole_of(net, &w, root) : NULL;
        uint64_t bytes = data ? data->size : 0;
        if (of && bytes > root->size - of->parts) bytes = root->size - of->parts;
        if (of) of->parts += bytes;
        if (!add_u64(all, bytes, &all)) all = UINT64_MAX;
    }
    pointer_table_free(&w.of);
    mem_free(&net->alloc, w.rows, w.room * sizeof *w.rows);
    return all;
}

uint64_t net_converted_most(const xir_network *net) {
    enum { TIMES = 16 };
    uint64_t n;
    const bool ok = add_u64(net_params_bytes(net), text_bytes(net), &n) && mul_u64(n, TIMES, &n) &&
                    add_u64(n, net->ctx->limits.max_converted, &n);
    return ok ? n : UINT64_MAX;
}
