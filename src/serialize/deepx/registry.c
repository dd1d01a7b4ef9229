/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See registry.h. */
#include "deepx/registry.h"

static bool add(deepx_registry *r, const deepx_line *line, xir_str text, uint32_t place) {
    const size_t n = line->n_args + line->n_rets;
    if (!mem_reserve(r->alloc, (void **)&r->list, &r->room, r->n + 1, sizeof *r->list)) return false;
    deepx_type *slots = arena_take(&r->arena, (n + 1) * sizeof *slots);
    uint32_t *first = text_table_add(&r->names, line->name, 0);
    if (!slots || !first) return false;
    for (size_t i = 0; i < n; i++) slots[i] = line->slots[i].is;
    if (line->meta.data) text = deepx_trim(text.data, line->meta.data - 2);
    r->list[r->n] = (deepx_definition){
        .name = line->name, .author = deepx_meta_value(line->meta, "author"), .text = text, .slots = slots,
        .n_args = (uint32_t)line->n_args, .n_rets = (uint32_t)line->n_rets, .number = place };
    if (!*first) {
        *first = (uint32_t)++r->n;
        return true;
    }
    /* the last of the list is kept in the first, so that definitions keep their order in linear time */
    deepx_definition *head = &r->list[*first - 1], *last = head->last ? &r->list[head->last - 1] : head;
    last->next = head->last = (uint32_t)++r->n;
    return true;
}

/* The functions that the executor has only on a graphics card. */
static const char *const on_cards[] = {
    "matmul(tensor<float64|float32>:A, tensor<float64|float32>:B)->(tensor<float64|float32>:C) // author=cublas",
    "add(tensor<float64|float32>:a, tensor<float64|float32>:b)->(tensor<float64|float32>:c) // author=cublas",
};

static bool add_text(deepx_registry *r, deepx_slots *slots, xir_str text, uint32_t place) {
    deepx_place quiet = { .text = text.data, .line = text.data, .quiet = true };
    deepx_line line;
    if (deepx_is_block(text)) return true;
    const bool read = deepx_read_line(&quiet, slots, text, &line);
    return read ? add(r, &line, text, place) : quiet.status != XIR_E_MEMORY;
}

bool deepx_registry_begin(deepx_registry *r, const xir_network *net) {
    const xir_any *tag = xir_map_find(net->tags, XIR_STR(DEEPX_TAG_DEFS));
    const xir_list texts = tag && tag->kind == XIR_ANY_LIST ? tag->as.list : (xir_list){ NULL, 0 };
    *r = (deepx_registry){ .alloc = context_alloc(net->ctx) };
    deepx_slots slots = { .alloc = r->alloc };
    arena_init(&r->arena, r->alloc);
    text_table_init(&r->names, r->alloc);
    bool ok = true;
    for (size_t i = 0; i < texts.size && ok; i++)
        if (texts.items[i].kind == XIR_ANY_TEXT) ok = add_text(r, &slots, texts.items[i].as.text, (uint32_t)i);
    r->is_own = r->n > 0;
    for (size_t i = 0; i < deepx_n_known && ok && !r->is_own; i++)
        ok = add_text(r, &slots, xir_str_of(deepx_known_lines[i]), (uint32_t)i);
    for (size_t i = 0; i < sizeof on_cards / sizeof *on_cards && ok && !r->is_own; i++)
        ok = add_text(r, &slots, xir_str_of(on_cards[i]), (uint32_t)(deepx_n_known + i));
    deepx_slots_free(&slots);
    return ok;
}

void deepx_registry_end(deepx_registry *r) {
    text_table_free(&r->names);
    mem_free(r->alloc, r->list, r->room * sizeof *r->list);
    arena_free(&r->arena);
}

const deepx_definition *deepx_registry_find(const deepx_registry *r, xir_str name) {
    const uint32_t *first = text_table_find(&r->names, name);
    return first ? &r->list[*first - 1] : NULL;
}
