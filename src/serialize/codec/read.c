/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading from a source: classless values, members of maps, reals. Ops and networks are in op.c, value.c and network.c.
 *
 * Recursion is as deep as values are nested, which sources limit. Lists are gathered in the scratch arena and copied
 * once their owner is known, so no size in a file is ever trusted. */
#include <math.h>
#include <stdio.h>
#include "codec/read.h"

void decoder_init(decoder *d, xir_context *ctx, xir_network *net, const source_ops *ops, xir_str file, xir_str text,
                  xir_diags *why) {
    memset(d, 0, sizeof *d);
    d->trace = (trace){ .ctx = ctx, .why = why, .file = file, .text = text };
    d->ctx = ctx;
    d->net = net;
    d->pool = net ? &net->pool : context_pool(ctx);
    d->round = true;
    d->most_op_id = d->most_value_id = INT64_MIN;
    /* The seed differs from run to run, so that no file can be made to fill one slot of a table. */
    d->seed = (uint64_t)(uintptr_t)d ^ (uint64_t)(uintptr_t)text.data << 16;
    arena_init(&d->keep, context_alloc(ctx));
    arena_init(&d->scratch, context_alloc(ctx));
    arena_take(&d->scratch, 8);
    d->scratch_chunk = d->scratch.chunks;
    d->scratch_next = d->scratch.next;
    codec_plans_init(&d->plans, &d->keep, ops->bake);
    for (int i = 0; i < VALUE_KEYS; i++) codec_bake(&d->value[i], ops->bake, value_keys[i], i);
}

void decoder_free(decoder *d) {
    const xir_allocator *a = context_alloc(d->ctx);
    mem_free(a, d->open, d->open_room);
    mem_free(a, d->objects, d->object_room * sizeof *d->objects);
    mem_free(a, d->values, d->value_room * sizeof *d->values);
    mem_free(a, d->op_ids, d->op_id_room * sizeof *d->op_ids);
    mem_free(a, d->value_table.slots, d->value_table.room * sizeof *d->value_table.slots);
    mem_free(a, d->op_table.slots, d->op_table.room * sizeof *d->op_table.slots);
    codec_plans_free(&d->plans);
    arena_free(&d->keep);
    arena_free(&d->scratch);
}

void decoder_source(decoder *d, source *s, const source_ops *ops, const void *data, size_t size) {
    uint32_t deepest = d->ctx->limits.max_depth;
    if (!d->has_size) d->values_left = d->ctx->limits.max_values + size / (d->trace.text.data ? 3 : 8);
    d->has_size = true;
    *s = (source){ .ops = ops, .at = data, .start = data, .end = data ? (const char *)data + size : NULL,
                   .trace = &d->trace,
                   .scratch = &d->scratch, .deepest = deepest < CODEC_DEEPEST ? deepest : CODEC_DEEPEST };
}

void decoder_rewind(decoder *d) {
    d->open_size = 0;
    if (d->scratch.chunks == d->scratch_chunk) {
        d->scratch.next = d->scratch_next;
        return;
    }
    arena_free(&d->scratch);
    arena_take(&d->scratch, 8);
    d->scratch_chunk = d->scratch.chunks;
    d->scratch_next = d->scratch.next;
}

/* A file may have a list every few bytes: the first block is small. A list at the end of the arena grows in place. */
void *gather_slow(decoder *d, gathered *g, size_t item) {
    enum { FIRST = 64 };
    size_t few = item < FIRST ? FIRST / item : 1, more = g->room ? g->room * 2 : few;
    if (more >= SIZE_MAX / 2 / item) {
        trace_memory(&d->trace);
        return NULL;
    }
    if (!arena_extend(&d->scratch, g->data, g->room * item, more * item)) {
        void *bigger = arena_take(&d->scratch, more * item);
        if (!bigger) {
            trace_memory(&d->trace);
            return NULL;
        }
        if (g->size) memcpy(bigger, g->data, g->size * item);
        g->data = bigger;
    }
    g->room = more;
    return (char *)g->data + g->size++ * item;
}

/* ---- lists ------------------------------------------------------------------------------------------------- */

bool each_item(decoder *d, source *s, item_fn *read, void *user) {
    if (s->ops->shape(s) != SHAPE_LIST) return source_expected(s, "a list");
    if (!s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = 0 };
    d->trace.top = &f;
    int stepped;
    while ((stepped = s->ops->item(s, f.index == 0)) == 1 && read(d, s, user)) f.index++;
    d->trace.top = f.up;
    return stepped == 0;
}

bool item_bool(decoder *d, source *s, void *user) {
    bool *out = gather(d, user, sizeof *out);
    return out && s->ops->boolean(s, out);
}

bool item_i64(decoder *d, source *s, void *user) {
    int64_t *out = gather(d, user, sizeof *out);
    return out && s->ops->integer(s, out);
}

bool item_text(decoder *d, source *s, void *user) {
    xir_str *out = gather(d, user, sizeof *out);
    return out && s->ops->text(s, out);
}

/* ---- reals ------------------------------------------------------------------------------------------------- */

bool special_real(xir_str text, double *out) {
    if (xir_str_equal(text, XIR_STR("inf")))       *out = (double)INFINITY;
    else if (xir_str_equal(text, XIR_STR("-inf"))) *out = -(double)INFINITY;
    else if (xir_str_equal(text, XIR_STR("nan")))  *out = (double)NAN;
    else return false;
    return true;
}

/* Rounds as the version of the network requires. */
bool fit_real(decoder *d, const source *s, const void *at, double v, double *out) {
    *out = d->round ? number_to_f32(v) : v;
    if (isfinite(v) && !isfinite(*out)) {
        return source_fail(s, at, XIR_E_BOUNDS, "%g is more than a float32 can hold", v);
    }
    return true;
}

bool read_real(decoder *d, source *s, double *out) {
    const void *at = s->at;
    shape found = s->ops->shape(s);
    if (found == SHAPE_TEXT) {
        xir_str text;
        if (!s->ops->text(s, &text)) return false;
        if (special_real(text, out)) return true;
        return source_fail(s, at, XIR_E_TYPE, "expected a number, \"inf\", \"-inf\" or \"nan\", found \"%.*s\"",
                           CLIP(text));
    }
    if (found != SHAPE_NUMBER) return source_expected(s, "a number");
    number n;
    if (!s->ops->number(s, &n)) return false;
    double v = n.kind == NUMBER_I64 ? (double)n.i64 : n.kind == NUMBER_U64 ? (double)n.u64 : n.real;
    return fit_real(d, s, at, v, out);
}

bool item_real(decoder *d, source *s, void *user) {
    double *out = gather(d, user, sizeof *out);
    return out && read_real(d, s, out);
}

/* ---- classless values -------------------------------------------------------------------------------------- */

/* A classless value takes 24 bytes, and an entry of a map 40 and its key, for as little as a byte or two of a file.
 * So their number is limited. Items wait on a stack until their count is known: the stack moves as it grows, where
 * an arena would keep every size it had. */

enum { KEY = 2 };   /* what a key counts */

static bool count_value(decoder *d, const source *s, uint64_t n) {
    if (d->values_left >= n) {
        d->values_left -= n;
        return true;
    }
    return source_fail(s, s->at, XIR_E_LIMIT, "more values without a class than the limit of %" PRIu64
                       " and the size of the input allow", d->ctx->limits.max_values);
}

static bool put_open(decoder *d, const void *item, size_t size) {
    if (!mem_reserve(context_alloc(d->ctx), (void **)&d->open, &d->open_room, d->open_size + size, 1))
        return trace_memory(&d->trace);
    memcpy(d->open + d->open_size, item, size);
    d->open_size += size;
    return true;
}

/* The items from `begin` on, moved to the scratch arena; NULL if out of memory, which is recorded. */
static void *close_items(decoder *d, size_t begin) {
    enum { LARGE = 1 << 20 };
    void *items = arena_copy(&d->scratch, d->open + begin, d->open_size - begin);
    if (!items) trace_memory(&d->trace);
    d->open_size = begin;
    if (!begin && d->open_room > LARGE) {
        mem_free(context_alloc(d->ctx), d->open, d->open_room);
        d->open = NULL;
        d->open_room = 0;
    }
    return items;
}

static bool item_any(decoder *d, source *s, void *user) {
    const bool *with_params = user;
    xir_any item;
    return any_in(d, s, &item, *with_params) && put_open(d, &item, sizeof item);
}

static bool list_in(decoder *d, source *s, xir_any *out, bool with_params) {
    size_t begin = d->open_size;
    if (!each_item(d, s, item_any, &with_params)) return false;
    size_t n = (d->open_size - begin) / sizeof(xir_any);
    const xir_any *items = n ? close_items(d, begin) : NULL;
    *out = xir_any_list(items, n);
    return !n || items;
}

/* Of two equal keys the last one counts, as in the original. But a map that may be Params must not repeat a key. */
static bool map_in(decoder *d, source *s, xir_map *out, bool with_params) {
    const void *at = s->at;
    size_t begin = d->open_size, n = 0;
    if (!s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = SIZE_MAX };
    d->trace.top = &f;
    int stepped;
    for (bool first = true; (stepped = s->ops->key(s, first, &f.key)) == 1; first = false) {
        xir_entry entry = { .key = f.key };
        if (!count_value(d, s, KEY) || !any_in(d, s, &entry.value, with_params) || !put_open(d, &entry, sizeof entry))
            break;
        f.key = (xir_str){ NULL, 0 };   /* a fault between members is one of the map */
    }
    d->trace.top = f.up;
    if (stepped != 0) return false;
    size_t all = (d->open_size - begin) / sizeof(xir_entry);
    xir_entry *sorted = all ? close_items(d, begin) : NULL;
    if (all && (!sorted || !entries_sort(&d->scratch, sorted, all))) return trace_memory(&d->trace);
    for (size_t i = 0; i < all; i++) {
        if (i + 1 == all || !xir_str_equal(sorted[i].key, sorted[i + 1].key)) sorted[n++] = sorted[i];
        else if (with_params && xir_str_equal(sorted[i].key, XIR_STR("_type_key")))
            return key_again(d, s, at, sorted[i].key);
    }
    *out = (xir_map){ sorted, n };
    return true;
}

bool any_in(decoder *d, source *s, xir_any *out, bool with_params) {
    *out = (xir_any){ 0 };
    if (!count_value(d, s, 1)) return false;
    switch (s->ops->shape(s)) {
    case SHAPE_NONE:
        return false;
    case SHAPE_NULL:
        out->kind = XIR_ANY_NULL;
        return s->ops->null(s);
    case SHAPE_BOOL:
        out->kind = XIR_ANY_BOOL;
        return s->ops->boolean(s, &out->as.boolean);
    case SHAPE_NUMBER: {
        number n;
        if (!s->ops->number(s, &n)) return false;
        out->kind = n.kind == NUMBER_I64 ? XIR_ANY_INT : n.kind == NUMBER_U64 ? XIR_ANY_UINT : XIR_ANY_REAL;
        if (n.kind == NUMBER_I64)      out->as.integer = n.i64;
        else if (n.kind == NUMBER_U64) out->as.uinteger = n.u64;
        else                           out->as.real = n.real;
        return true;
    }
    case SHAPE_TEXT:
        out->kind = XIR_ANY_TEXT;
        return s->ops->text(s, &out->as.text);
    case SHAPE_BYTES:
        return source_expected(s, "a value that is not bytes");
    case SHAPE_LIST:
        return list_in(d, s, out, with_params);
    case SHAPE_MAP: {
        xir_str key;
        if (s->ops->params && s->ops->params(s, &out->as.params)) {
            out->kind = XIR_ANY_PARAMS;
            return true;
        }
        if (with_params && s->ops->member(s, XIR_STR("_type_key"), &key) && xir_str_equal(key, params_class_key)) {
            out->kind = XIR_ANY_PARAMS;
            return decode_params(d, s, &out->as.params);
        }
        out->kind = XIR_ANY_MAP;
        return map_in(d, s, &out->as.map, with_params);
    }
    }
    return false;
}

bool skip_item(decoder *d, source *s) {
    xir_any ignored;
    if (!s->ops->skip) return any_in(d, s, &ignored, false);
    s->ops->skip(s);
    return true;
}

bool decode_any(decoder *d, source *s, xir_any *out) { return any_in(d, s, out, false); }

bool decode_map(decoder *d, source *s, xir_map *out, bool with_params) {
    return s->ops->shape(s) == SHAPE_MAP ? map_in(d, s, out, with_params) : source_expected(s, "a map");
}

/* ---- the members of a map with rows ------------------------------------------------------------------------ */

bool members_begin(decoder *d, source *s, members *m, const xir_class *cls) {
    *m = (members){ .at = s->at };
    m->seen = m->few;
    size_t words = (cls->n_fields + 8) / 64 + 1;
    if (words <= sizeof m->few / sizeof m->few[0]) return true;
    m->seen = arena_take(&d->scratch, words * sizeof *m->seen);
    if (!m->seen) return trace_memory(&d->trace);
    memset(m->seen, 0, words * sizeof *m->seen);
    return true;
}

uint64_t members_absent(const members *m, const xir_class *cls) {
    uint64_t all = cls->n_fields >= 64 ? UINT64_MAX : (UINT64_C(1) << cls->n_fields) - 1;
    return ~m->seen[0] & all;
}

/* Finds the second occurrence, from the beginning of the map: this happens once at most. */
bool key_again(decoder *d, const source *s, const void *at, xir_str key) {
    trace silent = { .ctx = d->ctx };
    source again = *s;
    again.trace = &silent;
    again.at = at;
    again.depth = 0;
    const void *where = at;
    xir_str name;
    int times = 0;
    bool ok = again.ops->enter(&again);
    for (bool first = true; ok && again.ops->key(&again, first, &name) == 1; first = false) {
        if (xir_str_equal(name, key) && ++times == 2) {
            where = again.at;
            break;
        }
        ok = skip_item(d, &again);
    }
    return source_fail(s, where, XIR_E_EXISTS, "the key \"%.*s\" appears twice", CLIP(key));
}

bool sort_extra(decoder *d, const source *s, const void *at, gathered *extra, xir_map *out) {
    *out = (xir_map){ NULL, extra->size };
    if (!extra->size) return true;
    xir_entry *sorted = extra->data;
    if (!entries_sort(&d->scratch, sorted, extra->size)) return trace_memory(&d->trace);
    for (size_t i = 1; i < extra->size; i++) {
        if (xir_str_equal(sorted[i - 1].key, sorted[i].key)) return key_again(d, s, at, sorted[i].key);
    }
    out->entries = sorted;
    return true;
}

bool add_extra(decoder *d, source *s, gathered *extra, xir_str key, bool with_params) {
    xir_entry entry = { .key = key };
    if (!count_value(d, s, KEY) || !any_in(d, s, &entry.value, with_params)) return false;
    xir_entry *out = gather(d, extra, sizeof *out);
    if (out) *out = entry;
    return out != NULL;
}

int next_member(source *s, const codec_plan *plan, bool first, uint32_t *next, xir_str *name, int *what) {
    if (*next < plan->n_keys && s->ops->key_is(s, first, &plan->keys[*next])) {
        *name = plan->keys[*next].name;
        *what = plan->keys[(*next)++].what;
        return 1;
    }
    *name = (xir_str){ NULL, 0 };   /* a fault between members is one of the map */
    int stepped = s->ops->key(s, first, name);
    if (stepped != 1) return stepped;
    const class_key *key = class_find_key(plan->cls, *name, *next);
    *what = key ? key->field : KEY_NONE;
    if (key) *next = (uint32_t)(key - plan->cls->more->keys) + 1;
    return 1;
}

bool members_note(decoder *d, const source *s, members *m, const xir_class *cls, int what, xir_str name) {
    uint32_t bit = member_bit(cls, what);
    if (m->seen[bit / 64] >> (bit % 64) & 1) return key_again(d, s, m->at, name);
    m->seen[bit / 64] |= UINT64_C(1) << (bit % 64);
    return true;
}

/* Copies a map for the network; NULL if it is empty. False if out of memory. */
bool keep_map(decoder *d, const xir_map *from, const xir_map **out) {
    *out = NULL;
    if (!from->size) return true;
    xir_any map = { .kind = XIR_ANY_MAP, .as.map = *from }, copy;
    xir_map *kept = arena_take(&d->net->arena, sizeof *kept);
    if (!kept || !any_copy(&d->net->arena, &map, &copy)) return trace_memory(&d->trace);
    *kept = copy.as.map;
    *out = kept;
    return true;
}
