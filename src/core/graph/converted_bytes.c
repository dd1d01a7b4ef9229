/* How many bytes the Params and the texts of a network have, and a conversion of it may make. */
#include <stdlib.h>
#include "graph.h"

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
    for (size_t i = 0; map && i < map->size; i++)
        n += map->entries[i].key.size + any_text_bytes(&map->entries[i].value);
    return n;
}

static uint64_t bytes_of_value(const xir_value *v) {
    const value_more *more = value_more_of(v);
    return more ? more->name->size + bytes_of_map(more->tags) + bytes_of_map(more->extra) : 0;
}

static uint64_t text_bytes(const xir_network *net) {
    uint64_t n = bytes_of_map(net->tags) + bytes_of_map(net->extra);
    for (const xir_op *op = net->first; op; op = op->next) {
        const op_more *more = op_more_of(op);
        n += op_label(op)->size;
        if (more) n += bytes_of_map(more->tags) + bytes_of_map(more->extra);
        for (size_t i = 0; i < op->n_outputs; i++) n += bytes_of_value(&op_outputs(op)[i]);
    }
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) n += bytes_of_value(v);
    return n;
}

/* ---- Params ----------------------------------------------------------------------------------------------------- */

typedef struct range { const uint8_t *from, *to; } range;

static int compare_ranges(const void *a, const void *b) {
    const range *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* The bytes in all ranges together, each once. */
static uint64_t bytes_of_union(range *ranges, size_t n) {
    uint64_t bytes = 0;
    const uint8_t *end = NULL;
    qsort(ranges, n, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = ranges[i].from > end ? ranges[i].from : end;
        if (ranges[i].to <= from) continue;
        bytes += (uint64_t)(ranges[i].to - from);
        end = ranges[i].to;
    }
    return bytes;
}

/* Params may share bytes, so that a small file has very many. Few bytes are not worth a look. */
uint64_t net_params_bytes(const xir_network *net) {
    enum { FEW = 4 << 20 };
    uint64_t all = 0;
    size_t n = 0, i = 0;
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        const blob *data = value_params(v)->data;
        n += data != NULL;
        if (data && !add_u64(all, data->size, &all)) all = UINT64_MAX;
    }
    range *ranges = all > FEW && n > 1 ? mem_new(&net->alloc, n * sizeof *ranges) : NULL;
    if (!ranges) return all;
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        const blob *data = value_params(v)->data;
        if (data) ranges[i++] = (range){ data->bytes, data->bytes + data->size };
    }
    all = bytes_of_union(ranges, n);
    mem_free(&net->alloc, ranges, n * sizeof *ranges);
    return all;
}

uint64_t net_converted_most(const xir_network *net) {
    enum { TIMES = 16 };
    uint64_t n;
    const bool ok = add_u64(net_params_bytes(net), text_bytes(net), &n) && mul_u64(n, TIMES, &n) &&
                    add_u64(n, net->ctx->limits.max_converted, &n);
    return ok ? n : UINT64_MAX;
}
