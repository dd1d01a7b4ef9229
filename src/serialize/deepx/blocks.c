/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The blocks of a network, read from its tag and checked by themselves: see blocks.h. */
#include <stdio.h>
#include "deepx/blocks.h"

static bool fault(deepx_block *b, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
static bool fault(deepx_block *b, xir_status status, const char *sentence, ...) {
    va_list args;
    if (b->status) return true;
    b->status = status;
    va_start(args, sentence);
    vsnprintf(b->fault, sizeof b->fault, sentence, args);
    va_end(args);
    return true;
}

/* ---- the lines of one block ------------------------------------------------------------------------------------- */

bool deepx_is_shape(xir_str text) {
    bool x = false;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (c != 'x' && c != '?' && !is_digit(c)) return false;
        x |= c == 'x' || c == '?';
    }
    return x;
}

deepx_slot_kind deepx_kind_in_block(const deepx_line *line, const deepx_slot *slot) {
    const bool ret = (size_t)(slot - line->slots) >= line->n_args;
    const bool shape_or_type = xir_str_equal(line->name, XIR_STR("newtensor")) || deepx_is_shape(slot->value);
    return !ret && shape_or_type ? DEEPX_SLOT_TEXT : deepx_kind_of(line, slot);
}

enum { IS_PARAMETER = 1, IS_RETURN = 2, IS_MADE = 4 };

typedef struct body { deepx_block *block; text_table names; } body;

static bool use(body *b, xir_str name) {
    if (text_table_find(&b->names, name)) return true;
    return fault(b->block, XIR_E_MISSING, "'%.*s' is used before a line of the block makes it", CLIP(name));
}

static bool make(body *b, xir_str name) {
    uint32_t *marks = text_table_add(&b->names, name, 0);
    if (!marks) return false;
    if (*marks & IS_PARAMETER)
        return fault(b->block, XIR_E_UNSUPPORTED, "the block writes its parameter '%.*s'", CLIP(name));
    *marks |= IS_MADE;
    return true;
}

static bool look_at_slot(body *b, const deepx_line *line, const deepx_slot *slot) {
    const bool ret = (size_t)(slot - line->slots) >= line->n_args;
    xir_str items = slot->value, item;
    const deepx_slot_kind kind = deepx_kind_in_block(line, slot);
    if (kind == DEEPX_SLOT_TEXT) return !ret || make(b, slot->value);
    if (kind == DEEPX_SLOT_TENSORS) items = deepx_inner(items);
    while (deepx_next_item(&items, &item))
        if (!(ret ? make(b, item) : use(b, item))) return false;
    return true;
}

static bool look_at_line(body *b, deepx_slots *slots, xir_str text) {
    deepx_place quiet = { .text = text.data, .line = text.data, .quiet = true };
    deepx_line line;
    if (!deepx_read_line(&quiet, slots, text, &line)) return quiet.status != XIR_E_MEMORY;
    for (size_t i = 0; i < line.n_args + line.n_rets; i++)
        if (!look_at_slot(b, &line, &line.slots[i])) return false;
    const bool unnamed = xir_str_equal(line.name, XIR_STR("load")) || xir_str_equal(line.name, XIR_STR("renametensor"));
    if (unnamed)
        fault(b->block, XIR_E_UNSUPPORTED, "the block calls %.*s, which makes a name outside of it", CLIP(line.name));
    return true;
}

static bool look_at_body(deepx_blocks *all, deepx_slots *slots, deepx_block *block) {
    body b = { .block = block };
    bool ok = true;
    text_table_init(&b.names, all->alloc);
    for (size_t i = 0; i < block->n_formals && ok; i++)
        ok = text_table_add(&b.names, block->formals[i].name, i < block->n_params ? IS_PARAMETER : IS_RETURN);
    for (size_t i = 0; i < block->n_lines && ok; i++) ok = look_at_line(&b, slots, block->lines[i].text);
    for (size_t i = block->n_params; i < block->n_formals && ok; i++) {
        const uint32_t *marks = text_table_find(&b.names, block->formals[i].name);
        if (!(*marks & IS_MADE))
            fault(block, XIR_E_INVALID, "no line of the block writes '%.*s'", CLIP(block->formals[i].name));
    }
    text_table_free(&b.names);
    return ok;
}

/* ---- blocks that call blocks ------------------------------------------------------------------------------------ */

static xir_str function_of(xir_str text) {
    const char *p = text.data, *end = p + text.size;
    while (p < end && !deepx_is_blank(*p) && *p != '(') p++;
    return (xir_str){ text.data, (size_t)(p - text.data) };
}

static void find_callees(deepx_blocks *b) {
    for (size_t i = 0; i < b->n; i++) {
        for (size_t k = 0; k < b->list[i].n_lines; k++) {
            deepx_block_line *line = &b->list[i].lines[k];
            const uint32_t *at = text_table_find(&b->names, function_of(line->text));
            line->calls = at ? *at + 1 : 0;
        }
    }
}

typedef struct step { uint32_t block; size_t line; } step;
enum { NEW, OPEN, DONE };

static uint64_t plus(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

/* One after another, the callees before their callers, without recursion here. */
static void measure_from(deepx_blocks *b, uint32_t first, step *steps, uint8_t *states) {
    size_t n = 0;
    steps[n++] = (step){ first, 0 };
    states[first] = OPEN;
    while (n) {
        step *s = &steps[n - 1];
        deepx_block *block = &b->list[s->block];
        if (s->line == block->n_lines) {
            states[s->block] = DONE;
            n--;
            continue;
        }
        const uint32_t calls = block->lines[s->line].calls;
        deepx_block *callee = calls ? &b->list[calls - 1] : NULL;
        if (callee && states[calls - 1] == NEW) {
            states[calls - 1] = OPEN;
            steps[n++] = (step){ calls - 1, 0 };
            continue;
        }
        s->line++;
        if (callee && states[calls - 1] == OPEN) {
            for (size_t i = n; i-- > 0;) {
                fault(&b->list[steps[i].block], XIR_E_UNSUPPORTED, "the block calls itself, through '%.*s'",
                      CLIP(i + 1 < n ? b->list[steps[i + 1].block].name : callee->name));
                if (steps[i].block == calls - 1) break;
            }
        } else if (callee && callee->status) {
            fault(block, callee->status, "the block calls '%.*s', which cannot be used", CLIP(callee->name));
        }
        block->size = plus(block->size, plus(1, callee ? callee->size : 0));
    }
}

static bool measure(deepx_blocks *b) {
    step *steps = mem_new(b->alloc, (b->n + 1) * sizeof *steps);
    uint8_t *states = mem_new(b->alloc, b->n + 1);
    if (states) memset(states, NEW, b->n + 1);
    for (uint32_t i = 0; steps && states && i < b->n; i++)
        if (states[i] == NEW) measure_from(b, i, steps, states);
    const bool ok = steps && states;
    mem_free(b->alloc, steps, (b->n + 1) * sizeof *steps);
    mem_free(b->alloc, states, b->n + 1);
    return ok;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static bool add_block(deepx_blocks *b, deepx_slots *slots, xir_str text, uint32_t at_tag) {
    deepx_place quiet = { .text = text.data, .line = text.data, .quiet = true };
    const char *end;
    if (!mem_reserve(b->alloc, (void **)&b->list, &b->room, b->n + 1, sizeof *b->list)) return false;
    deepx_block *block = &b->list[b->n];
    *block = (deepx_block){ .number = at_tag };
    b->n++;
    if (!deepx_read_block(&quiet, slots, text.data, &end, text.data + text.size, block)) {
        fault(block, quiet.status, "the block is malformed");
        return quiet.status != XIR_E_MEMORY;
    }
    uint32_t *at = text_table_add(&b->names, block->name, (uint32_t)b->n - 1);
    block->again = at && *at != b->n - 1;
    return at != NULL;
}

bool deepx_blocks_begin(deepx_blocks *b, const xir_network *net) {
    const xir_any *tag = xir_map_find(net->tags, XIR_STR(DEEPX_TAG_DEFS));
    const xir_list texts = tag && tag->kind == XIR_ANY_LIST ? tag->as.list : (xir_list){ NULL, 0 };
    *b = (deepx_blocks){ .alloc = context_alloc(net->ctx) };
    deepx_slots slots = { .alloc = b->alloc };
    text_table_init(&b->names, b->alloc);
    bool ok = true;
    for (size_t i = 0; i < texts.size && ok; i++) {
        const xir_any *item = &texts.items[i];
        if (item->kind == XIR_ANY_TEXT && deepx_is_block(item->as.text))
            ok = add_block(b, &slots, item->as.text, (uint32_t)i);
    }
    find_callees(b);
    for (size_t i = 0; i < b->n && ok; i++) ok = look_at_body(b, &slots, &b->list[i]);
    ok = ok && (!b->n || measure(b));
    deepx_slots_free(&slots);
    return ok;
}

void deepx_blocks_end(deepx_blocks *b) {
    for (size_t i = 0; i < b->n; i++) {
        mem_free(b->alloc, b->list[i].formals, b->list[i].formal_room * sizeof *b->list[i].formals);
        mem_free(b->alloc, b->list[i].lines, b->list[i].line_room * sizeof *b->list[i].lines);
    }
    mem_free(b->alloc, b->list, b->room * sizeof *b->list);
    text_table_free(&b->names);
}

const deepx_block *deepx_block_of(const deepx_blocks *b, const xir_op *op) {
    const xir_str key = op->cls->key;
    if (!b->n || !deepx_is_op(op)) return NULL;
    const uint32_t *at = text_table_find(&b->names, (xir_str){ key.data + 7, key.size - 7 });
    return at ? &b->list[*at] : NULL;
}

uint64_t deepx_blocks_size(const deepx_blocks *b, const xir_network *net) {
    uint64_t n = 0;
    for (const xir_op *op = net->first; op; op = op->next) {
        const deepx_block *block = deepx_block_of(b, op);
        n = plus(n, block && !block->status ? block->size : 0);
    }
    return n;
}

uint64_t deepx_blocks_most(const xir_network *net) { return net->ctx->limits.max_inlined; }
