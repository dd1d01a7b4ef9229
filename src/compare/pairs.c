/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pairs the values of two networks: by provenance, by name, by the ops that xir_diff matches. What is found first
 * stays, and a value has one partner at most. */
#include "comparison.h"
#include <stdlib.h>

/* ---- sides ------------------------------------------------------------------------------------------------------- */

bool compare_open_side(compare_side *side, const xir_network *net, const xir_allocator *alloc) {
    side->net = net;
    side->slots = xir_network_slot_count(net);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) side->n += xir_op_output_count(op);
    side->first = compare_new(alloc, side->slots, sizeof *side->first);
    side->values = compare_new(alloc, side->n, sizeof *side->values);
    side->partner = compare_new(alloc, side->n, sizeof *side->partner);
    side->pair = compare_new(alloc, side->n, sizeof *side->pair);
    side->by = compare_new(alloc, side->n, sizeof *side->by);
    side->is_output = compare_new(alloc, side->n, sizeof *side->is_output);
    if (!side->first || !side->values || !side->partner || !side->pair || !side->by || !side->is_output) return false;
    for (size_t i = 0; i < side->slots; i++) side->first[i] = NO_NUMBER;
    for (size_t i = 0; i < side->n; i++) side->partner[i] = side->pair[i] = NO_NUMBER;
    uint32_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        side->first[xir_op_slot(op)] = n;
        for (size_t i = 0; i < xir_op_output_count(op); i++) side->values[n++] = xir_op_output(op, (int64_t)i);
    }
    const xir_op *output = xir_network_output_op(net);
    for (size_t i = 0; output && i < xir_op_input_count(output); i++) {
        const xir_value *v = xir_op_input(output, (int64_t)i);
        const uint32_t k = v ? compare_number(side, v) : NO_NUMBER;
        if (k != NO_NUMBER) side->is_output[k] = true;
    }
    return true;
}

void compare_close_side(compare_side *side, const xir_allocator *alloc) {
    compare_drop(alloc, side->first, side->slots, sizeof *side->first);
    compare_drop(alloc, (void *)side->values, side->n, sizeof *side->values);
    compare_drop(alloc, side->partner, side->n, sizeof *side->partner);
    compare_drop(alloc, side->pair, side->n, sizeof *side->pair);
    compare_drop(alloc, side->by, side->n, sizeof *side->by);
    compare_drop(alloc, side->is_output, side->n, sizeof *side->is_output);
}

uint32_t compare_number(const compare_side *side, const xir_value *value) {
    const xir_op *op = xir_value_op(value);
    if (!op || !side->net || xir_op_network(op) != side->net || !xir_op_is_placed(op) || xir_op_parent(op))
        return NO_NUMBER;
    return side->first[xir_op_slot(op)] + (uint32_t)xir_value_index(value);
}

bool compare_is_input(const compare_side *side, const xir_value *value) {
    return side->net && xir_value_op(value) == xir_network_input_op(side->net);
}

static const xir_class *class_of(const xir_value *v) { return xir_op_class(xir_value_op(v)); }

static void join(xir_compare *c, uint32_t i, uint32_t k, xir_compare_by by) {
    c->a.partner[i] = k;
    c->b.partner[k] = i;
    c->a.by[i] = (unsigned char)by;
}

static bool is_free(const compare_side *side, uint32_t i) { return side->partner[i] == NO_NUMBER; }

/* Returns true if elements of one can be at the places of the other, as far as their types tell. */
static bool fit(const xir_compare *c, uint32_t i, uint32_t k) {
    return compare_places_of(xir_value_type(c->a.values[i]), xir_value_type(c->b.values[k])) != PLACES_NONE;
}

/* ---- by provenance ----------------------------------------------------------------------------------------------- */

/* The places that record the sources of a network. */
typedef enum saying { SAYS_NOTHING, SAYS_BY_RECORDER, SAYS_BY_TAGS } saying;

static saying saying_of(const xir_network *net) {
    if (xir_provenance_of(net)) return SAYS_BY_RECORDER;
    return xir_provenance_has_tags(net) ? SAYS_BY_TAGS : SAYS_NOTHING;
}

enum { MOST_IDS = 64 };   /* that one value stands for; more do not make more pairs */

static size_t ids_of_tag(const xir_value *v, int64_t *ids) {
    const xir_any *tag = xir_map_find(xir_value_tags(v), XIR_STR(XIR_PROVENANCE_VALUES));
    size_t n = 0;
    if (!tag || tag->kind != XIR_ANY_LIST) return 0;
    for (size_t i = 0; i < tag->as.list.size && n < MOST_IDS; i++)
        if (tag->as.list.items[i].kind == XIR_ANY_INT) ids[n++] = tag->as.list.items[i].as.integer;
    return n;
}

/* The ids of the sources of a value; its own id in a network that says nothing. */
static xir_status ids_of(const xir_value *v, saying said, int64_t *ids, size_t *n) {
    *n = 1;
    ids[0] = xir_value_id(v);
    if (said == SAYS_BY_TAGS) *n = ids_of_tag(v, ids);
    if (said != SAYS_BY_RECORDER) return XIR_OK;
    xir_status status = xir_provenance_values_of(xir_provenance_of(xir_value_network(v)), v, ids, MOST_IDS, n);
    if (*n > MOST_IDS) *n = MOST_IDS;
    return status;
}

/* A value under one of its ids; in a list that is sorted by id, then by number. */
typedef struct of_id { int64_t id; uint32_t number; } of_id;

static int by_id(const void *x, const void *y) {
    const of_id *a = x, *b = y;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

typedef struct of_ids { of_id *items; size_t n; } of_ids;

/* Lists the ids of all values of a side. */
static xir_status list_ids(const compare_side *side, saying said, const xir_allocator *alloc, of_ids *out) {
    int64_t ids[MOST_IDS];
    size_t n, all = 0;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < side->n && !status; i++, all += n) status = ids_of(side->values[i], said, ids, &n);
    if (status) return status;
    out->items = compare_new(alloc, all, sizeof *out->items);
    if (!out->items) return XIR_E_MEMORY;
    for (size_t i = 0; i < side->n && !status; i++) {
        status = ids_of(side->values[i], said, ids, &n);
        for (size_t k = 0; k < n && !status && out->n < all; k++)
            out->items[out->n++] = (of_id){ ids[k], (uint32_t)i };
    }
    out->n = all;
    if (!status) qsort(out->items, all, sizeof *out->items, by_id);
    return status;
}

/* The index of the first item with an id, or of where it would be. */
static size_t first_of_id(const of_ids *list, int64_t id) {
    size_t from = 0, to = list->n;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (list->items[mid].id < id) from = mid + 1;
        else to = mid;
    }
    return from;
}

/* Returns true if at least half of the sources in one list are values of the other network: then the ids refer to
 * it. */
static bool are_sources(const of_ids *named, const of_ids *own) {
    size_t known = 0;
    for (size_t i = 0; i < named->n; i++) {
        const size_t k = first_of_id(own, named->items[i].id);
        known += k < own->n && own->items[k].id == named->items[i].id;
    }
    return 2 * known >= named->n;
}

/* For each id the first value of `a` and the first of `b`: these are the nearest to the op that computes it. */
static void join_ids(xir_compare *c, const of_ids *a, const of_ids *b) {
    for (size_t i = 0; i < a->n; i++) {
        const uint32_t number = a->items[i].number;
        if (!is_free(&c->a, number)) continue;
        for (size_t k = first_of_id(b, a->items[i].id); k < b->n && b->items[k].id == a->items[i].id; k++) {
            const uint32_t other = b->items[k].number;
            if (!is_free(&c->b, other) || !fit(c, number, other)) continue;
            join(c, number, other, XIR_COMPARE_BY_SOURCE);
            break;
        }
    }
}

static xir_status join_sources(xir_compare *c) {
    const saying a = saying_of(c->a.net), b = saying_of(c->b.net);
    of_ids in_a = { 0 }, in_b = { 0 };
    if (a == SAYS_NOTHING && b == SAYS_NOTHING) return XIR_OK;
    xir_status status = list_ids(&c->a, a, c->alloc, &in_a);
    if (!status) status = list_ids(&c->b, b, c->alloc, &in_b);
    const bool apart = !status && ((a == SAYS_NOTHING && !are_sources(&in_b, &in_a)) ||
                                   (b == SAYS_NOTHING && !are_sources(&in_a, &in_b)));
    if (!status && !apart) join_ids(c, &in_a, &in_b);
    compare_drop(c->alloc, in_a.items, in_a.n, sizeof *in_a.items);
    compare_drop(c->alloc, in_b.items, in_b.n, sizeof *in_b.items);
    return status;
}

/* ---- by name ----------------------------------------------------------------------------------------------------- */

/* A value under its name, or if it has none under that of its op. */
typedef struct of_name { xir_str name; size_t output; uint32_t number; } of_name;

static of_name name_of(const compare_side *side, uint32_t i) {
    const xir_value *v = side->values[i];
    const xir_str own = xir_value_name(v);
    if (own.size) return (of_name){ own, SIZE_MAX, i };
    return (of_name){ xir_op_name(xir_value_op(v)), xir_value_index(v), i };
}

static int order_of_names(const of_name *a, const of_name *b) {
    const size_t n = a->name.size < b->name.size ? a->name.size : b->name.size;
    const int order = n ? memcmp(a->name.data, b->name.data, n) : 0;
    if (order) return order;
    if (a->name.size != b->name.size) return a->name.size < b->name.size ? -1 : 1;
    return (a->output > b->output) - (a->output < b->output);
}

static int by_name(const void *x, const void *y) {
    const of_name *a = x, *b = y;
    const int order = order_of_names(a, b);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static size_t first_of_name(const of_name *items, size_t n, const of_name *key) {
    size_t from = 0, to = n;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (order_of_names(&items[mid], key) < 0) from = mid + 1;
        else to = mid;
    }
    return from;
}

/* If several values have one name, the first free one gets the first partner. */
static bool join_names(xir_compare *c) {
    size_t n = 0;
    of_name *items = compare_new(c->alloc, c->b.n, sizeof *items);
    if (!items) return false;
    for (uint32_t k = 0; k < c->b.n; k++)
        if (is_free(&c->b, k) && name_of(&c->b, k).name.size) items[n++] = name_of(&c->b, k);
    qsort(items, n, sizeof *items, by_name);
    for (uint32_t i = 0; i < c->a.n; i++) {
        const of_name key = name_of(&c->a, i);
        if (!is_free(&c->a, i) || !key.name.size) continue;
        for (size_t k = first_of_name(items, n, &key); k < n && !order_of_names(&items[k], &key); k++) {
            const uint32_t other = items[k].number;
            if (!is_free(&c->b, other)) continue;
            if (class_of(c->a.values[i]) == class_of(c->b.values[other]) || fit(c, i, other))
                join(c, i, other, XIR_COMPARE_BY_NAME);
            break;
        }
    }
    compare_drop(c->alloc, items, c->b.n, sizeof *items);
    return true;
}

/* ---- by the ops that correspond ---------------------------------------------------------------------------------- */

static bool all_joined(const compare_side *side) {
    for (uint32_t i = 0; i < side->n; i++)
        if (is_free(side, i)) return false;
    return true;
}

/* Returns true if two ops read the same values, as far as the pairs of their inputs are known. The order may differ,
 * since one network may be wrong. A value that only one of them reads does not count if the other one has an input
 * without a pair. */
static bool read_the_same(const xir_compare *c, const xir_op *a, const xir_op *b) {
    bool lacks = false;
    for (size_t i = 0; i < xir_op_input_count(a); i++) {
        const xir_value *v = xir_op_input(a, (int64_t)i);
        const uint32_t k = v ? compare_number(&c->a, v) : NO_NUMBER;
        const uint32_t other = k != NO_NUMBER ? c->a.partner[k] : NO_NUMBER;
        if (other != NO_NUMBER && !xir_op_input_index(b, c->b.values[other], NULL, 0)) lacks = true;
    }
    for (size_t i = 0; i < xir_op_input_count(b) && lacks; i++) {
        const xir_value *v = xir_op_input(b, (int64_t)i);
        const uint32_t k = v ? compare_number(&c->b, v) : NO_NUMBER;
        if (k != NO_NUMBER && is_free(&c->b, k)) return true;
    }
    return !lacks;
}

/* Returns true if values of ops have been joined by their names: then values of other names are not the same. */
static bool have_common_names(const xir_compare *c) {
    for (uint32_t i = 0; i < c->a.n; i++)
        if (!is_free(&c->a, i) && c->a.by[i] == XIR_COMPARE_BY_NAME && !compare_is_input(&c->a, c->a.values[i]))
            return true;
    return false;
}

static bool have_other_names(const xir_value *a, const xir_value *b) {
    const xir_str x = xir_value_name(a), y = xir_value_name(b);
    return x.size && y.size && !xir_str_equal(x, y);
}

/* Passes call a value that is not "y" but on the way to it "y.folded" or "y.Conv2d". */
static bool is_on_the_way(const xir_value *to, const xir_value *v) {
    const xir_str y = xir_value_name(to), name = xir_value_name(v);
    return y.size && name.size > y.size + 1 && name.data[y.size] == '.' && memcmp(name.data, y.data, y.size) == 0;
}

static xir_status join_matches(xir_compare *c, xir_diags *why) {
    const bool named = have_common_names(c);
    if (all_joined(&c->a) || all_joined(&c->b)) return XIR_OK;
    const xir_diff_options how = XIR_INIT(xir_diff_options, .match_only = true);
    xir_diff *diff = xir_diff_new(c->a.net, c->b.net, &how, why);
    if (!diff) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < c->a.n; i++) {
        const xir_value *v = c->a.values[i];
        const xir_op *other = is_free(&c->a, i) ? xir_diff_in_b(diff, xir_value_op(v)) : NULL;
        if (!other || xir_op_class(other) != class_of(v) || !read_the_same(c, xir_value_op(v), other)) continue;
        const xir_value *w = xir_op_output(other, (int64_t)xir_value_index(v));
        const uint32_t k = w ? compare_number(&c->b, w) : NO_NUMBER;
        if (k == NO_NUMBER || !is_free(&c->b, k) || (named && have_other_names(v, w))) continue;
        if (is_on_the_way(v, w) || is_on_the_way(w, v)) continue;
        join(c, i, k, XIR_COMPARE_BY_MATCH);
    }
    xir_diff_free(diff);
    return XIR_OK;
}

xir_status compare_find_partners(xir_compare *c, xir_diags *why) {
    xir_status status = join_sources(c);
    if (!status && !join_names(c)) status = XIR_E_MEMORY;
    if (status) return xir_diags_add(why, XIR_ERROR, status, XIR_STR(""),
                                     status == XIR_E_MEMORY ? "out of memory" : "the provenance is not complete");
    return join_matches(c, why);
}
