/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Places in a text: the line of a call or definition, and in it the parameter or the return slot that a path names. Op
 * 0 has no line, each other op one. An input of a call is one of its tensors, in order; those after its own are what
 * its return slots held. A line with many findings is read once. */
#include "deepx/deepx.h"

/* The positions at which calls or definitions begin. */
typedef struct starts { uint64_t *at; size_t n, room; } starts;
typedef struct lines {
    const xir_allocator *alloc;
    xir_str              text;
    starts               calls, defs;
    deepx_slots          slots;
    const char          *last;       /* the line that was read last, and whether it could be */
    bool                 is_read;
    deepx_line           line;
    uint64_t            *ends;       /* how many tensors its slots have, each with those before it */
    size_t               room;
    bool                 no_memory;
} lines;

static bool note_line(void *user, deepx_kind kind, xir_str whole, const deepx_line *line) {
    lines *l = user;
    starts *to = kind == DEEPX_CALL ? &l->calls : &l->defs;
    if (!mem_reserve(l->alloc, (void **)&to->at, &to->room, to->n + 1, sizeof *to->at)) return false;
    (void)whole;
    to->at[to->n++] = (uint64_t)(line->name.data - l->text.data);
    return true;
}

/* Takes a word and the number after it from the beginning of a path. */
static bool take_number(xir_str *path, const char *word, uint64_t *out) {
    const size_t n = strlen(word);
    const char *p = path->data + n, *end = path->data + path->size;
    *out = 0;
    if (path->size <= n || memcmp(path->data, word, n) != 0) return false;
    for (; p < end && is_digit(*p) && *out < UINT32_MAX; p++) *out = 10 * *out + (uint64_t)(*p - '0');
    *path = (xir_str){ p, (size_t)(end - p) };
    return true;
}

/* ---- slots of a call -------------------------------------------------------------------------------------------- */

static size_t tensors_in(const deepx_line *line, const deepx_slot *slot) {
    xir_str items = deepx_inner(slot->value), item;
    size_t n = 0;
    const deepx_slot_kind kind = deepx_kind_of(line, slot);
    if (kind != DEEPX_SLOT_TENSORS) return kind == DEEPX_SLOT_TENSOR;
    while (deepx_next_item(&items, &item)) n++;
    return n;
}

static bool count_tensors(lines *l) {
    const size_t n = l->line.n_args + l->line.n_rets;
    uint64_t end = 0;
    if (!mem_reserve(l->alloc, (void **)&l->ends, &l->room, n, sizeof *l->ends)) return !(l->no_memory = true);
    for (size_t k = 0; k < n; k++) l->ends[k] = end += tensors_in(&l->line, &l->line.slots[k]);
    return true;
}

/* The slot of a tensor, counted over those from `first` on; NULL if they have fewer. */
static const deepx_slot *slot_of_tensor(const lines *l, size_t first, uint64_t i) {
    const size_t n = l->line.n_args + l->line.n_rets;
    size_t low = first, high = n;
    if (first) i += l->ends[first - 1];
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (l->ends[middle] <= i) low = middle + 1;
        else high = middle;
    }
    return low < n ? &l->line.slots[low] : NULL;
}

/* A parameter by its number among those of a list. */
static const deepx_slot *slot_at(const deepx_line *line, size_t first, size_t n, uint64_t i) {
    return i < n ? &line->slots[first + i] : NULL;
}

static const deepx_slot *slot_of(const lines *l, xir_str rest) {
    const deepx_line *line = &l->line;
    uint64_t i;
    if (take_number(&rest, "/attribute/arg", &i)) return slot_at(line, 0, line->n_args, i);
    if (take_number(&rest, "/attribute/ret", &i)) return slot_at(line, line->n_args, line->n_rets, i);
    if (take_number(&rest, "/output/", &i)) return slot_of_tensor(l, line->n_args, i);
    return take_number(&rest, "/input/", &i) ? slot_of_tensor(l, 0, i) : NULL;
}

static bool read_line(lines *l, const char *p) {
    deepx_place quiet = { .quiet = true, .text = p, .line = p };
    const char *end = l->text.data + l->text.size, *feed = memchr(p, '\n', (size_t)(end - p));
    xir_str text = { p, (size_t)((feed ? feed : end) - p) };
    if (text.size && text.data[text.size - 1] == '\r') text.size--;
    return deepx_read_line(&quiet, &l->slots, text, &l->line) && count_tensors(l);
}

static uint64_t place_in_line(lines *l, uint64_t start, xir_str rest) {
    const char *p = l->text.data + start;
    if (!rest.size) return start;
    if (l->last != p) l->is_read = read_line(l, p);
    l->last = p;
    const deepx_slot *slot = l->is_read ? slot_of(l, rest) : NULL;
    return slot ? (uint64_t)(slot->whole.data - l->text.data) : start;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static size_t place_of(xir_str path, lines *l) {
    uint64_t i;
    if (take_number(&path, "/ops/", &i))
        return i && i <= l->calls.n ? (size_t)place_in_line(l, l->calls.at[i - 1], path) : SIZE_MAX;
    return take_number(&path, "/defs/", &i) && i < l->defs.n ? (size_t)l->defs.at[i] : SIZE_MAX;
}

xir_status deepx_find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user) {
    deepx_place quiet = { .quiet = true };
    if (!text.size) text.data = "";
    lines l = { .alloc = context_alloc(ctx), .text = text, .slots = { .alloc = context_alloc(ctx) } };
    (void)user;
    const bool ok = deepx_walk(&quiet, l.alloc, text, ctx->as_calls, note_line, &l);
    for (size_t i = 0; i < n && ok; i++) places[i].byte = place_of(places[i].path, &l);
    mem_free(l.alloc, l.calls.at, l.calls.room * sizeof *l.calls.at);
    mem_free(l.alloc, l.defs.at, l.defs.room * sizeof *l.defs.at);
    mem_free(l.alloc, l.ends, l.room * sizeof *l.ends);
    deepx_slots_free(&l.slots);
    return ok && !l.no_memory ? XIR_OK : XIR_E_MEMORY;
}
