/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The attributes of a call: the text of its types, and the texts of those slots that have no tensors. Calls with the
 * same ones share them. */
#include "deepx/reader.h"

static bool print_types(deepx_reader *r, const deepx_line *line) {
    const slot_code *codes = r->codes.data;
    buffer *out = &r->types;
    char digits[NUMBER_ROOM];
    out->size = 0;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) {
        if (i == line->n_args) buffer_str(out, i ? " -> " : "-> ");
        else if (i) buffer_str(out, ", ");
        if (line->slots[i].type.size) deepx_type_print(out, line->slots[i].is);
        else buffer_char(out, '_');
        if (deepx_kind_in(codes[i]) != DEEPX_SLOT_TENSORS) continue;
        buffer_char(out, '*');
        buffer_put(out, digits, number_put_u64(digits, codes[i] >> CODE_ITEMS));
    }
    if (!line->n_rets) buffer_str(out, line->n_args ? " ->" : "->");
    return !out->failed || trace_memory(&r->d.trace);
}

/* The memo where these slots belong; NULL if they are too many. */
static types_memo *types_memo_of(deepx_reader *r, const deepx_line *line) {
    const slot_code *codes = r->codes.data;
    uint64_t hash = line->n_args;
    if (r->codes.size > MEMO_SLOTS) return NULL;
    for (size_t i = 0; i < r->codes.size; i++) hash = hash_mix(hash ^ codes[i], UINT64_C(0x9E3779B97F4A7C15));
    return &r->type_memos[hash % TYPE_MEMOS];
}

static bool find_types(deepx_reader *r, const deepx_line *line, xir_any *out) {
    types_memo *memo = types_memo_of(r, line);
    const size_t size = r->codes.size * sizeof(slot_code);
    const bool known = memo && memo->text.kind == XIR_ANY_TEXT && memo->n_args == line->n_args &&
                       memo->n_rets == line->n_rets && (!size || memcmp(memo->codes, r->codes.data, size) == 0);
    if (!known) {
        char *copy = print_types(r, line) ? arena_copy(&r->d.net->arena, r->types.data, r->types.size) : NULL;
        if (!copy) return trace_memory(&r->d.trace);
        *out = xir_any_text((xir_str){ copy, r->types.size });
        if (!memo) return true;
        *memo = (types_memo){ .n_args = line->n_args, .n_rets = line->n_rets, .text = *out };
        if (size) memcpy(memo->codes, r->codes.data, size);
    }
    if (known) *out = memo->text;
    return true;
}

/* Returns true if a call with these types has the same texts. The same text of types is that of the same slots. */
static bool has_texts(const deepx_reader *r, const deepx_line *line, const xir_map *extra) {
    const slot_code *codes = r->codes.data;
    const xir_entry *e = extra->entries;
    for (size_t i = 0; i < r->codes.size; i++) {
        const bool text = deepx_kind_in(codes[i]) == DEEPX_SLOT_TEXT;
        if (text && !xir_str_equal(e->value.as.text, line->slots[i].value)) return false;
        e += text;
    }
    return true;
}

static texts_memo *texts_memo_of(deepx_reader *r, const deepx_line *line, const char *types) {
    const slot_code *codes = r->codes.data;
    uint64_t hash = hash_pointer(types) ^ hash_pointer(r->d.node.type->cls);
    for (size_t i = 0; i < r->codes.size; i++)
        if (deepx_kind_in(codes[i]) == DEEPX_SLOT_TEXT)
            hash = hash_text(hash, line->slots[i].value.data, line->slots[i].value.size);
    return &r->texts_memos[hash % TEXTS_MEMOS];
}

static bool texts_are_in(const deepx_reader *r, const deepx_line *line, const texts_memo *memo, const char *types) {
    return memo && memo->extra && memo->cls == r->d.node.type->cls && memo->types == types &&
           has_texts(r, line, memo->extra);
}

bool deepx_add_attributes(deepx_reader *r, const deepx_line *line, call_plan *plan) {
    const slot_code *codes = r->codes.data;
    xir_any types = plan->types;
    if (types.kind != XIR_ANY_TEXT && !find_types(r, line, &types)) return false;
    const char *text = types.as.text.data;
    if (!texts_are_in(r, line, plan->texts, text))
        plan->texts = r->codes.size > MEMO_SLOTS ? NULL : texts_memo_of(r, line, text);
    texts_memo *memo = plan->texts;
    if (texts_are_in(r, line, memo, text)) return dialect_node_attrs_shared(&r->d, memo->extra);
    if (memo) *memo = (texts_memo){ .cls = r->d.node.type->cls, .types = text };
    for (size_t i = 0; i < r->codes.size; i++) {
        if (deepx_kind_in(codes[i]) != DEEPX_SLOT_TEXT) continue;
        char key[DEEPX_KEY_ROOM];
        const xir_any value = xir_any_text(line->slots[i].value);
        const bool ret = i >= line->n_args;
        if (!dialect_node_attr(&r->d, deepx_slot_key(key, ret, ret ? i - line->n_args : i), &value)) return false;
    }
    return dialect_node_attr_kept(&r->d, XIR_STR(DEEPX_TYPES), types);
}
