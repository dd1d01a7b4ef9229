/* How many bytes the texts of a network have. A file has at least as many. */
#include "graph.h"

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

uint64_t net_text_bytes(const xir_network *net) {
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
