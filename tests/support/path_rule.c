/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One search for each op. It finds the values for the op's inputs upward in the present network, and those for its
 * outputs downward; an op without inputs from other ops begins with its Params. A value that lies in between too is not
 * the end of a search. Then a search forward in the network as it was, from the ops that make the first ones, and one
 * backward from the last ones, must each meet all sources. Where the searches meet a value they go on at all values
 * that were found to be equal to it. */
#include "support/path_rule.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "provenance.h"
#include "support/net.h"

typedef struct id_list { int64_t *items; size_t n, room; } id_list;
typedef struct ops { const xir_op **items; size_t n, room; } ops;

typedef struct search {
    const xir_provenance *p;
    const xir_network    *was;
    uint32_t             *marks, mark;   /* by slot of either network */
    size_t                n_marks;
    ops                   queue;
    id_list               sources, begin, end;
    bool                  ends_open;     /* the search for the end met a value that has changed and leads nowhere */
    uint32_t             *equal;         /* by value origin: the next equal source value, in a ring    */
    uint32_t             *number;        /* of the source values of the network as it was, in the order of their ids */
    size_t                n_numbers;
} search;

static void add_id(id_list *list, int64_t id) {
    if (list->n == list->room) {
        list->room = list->room * 2 + 16;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->n++] = id;
}

static const xir_op *outermost(const xir_op *op) {
    while (op && xir_op_parent(op)) op = xir_op_parent(op);
    return op;
}

static void visit(search *s, const xir_op *inner) {
    const xir_op *op = outermost(inner);
    if (!op || s->marks[xir_op_slot(op)] == s->mark) return;
    s->marks[xir_op_slot(op)] = s->mark;
    if (s->queue.n == s->queue.room) {
        s->queue.room = s->queue.room * 2 + 64;
        s->queue.items = realloc((void *)s->queue.items, s->queue.room * sizeof *s->queue.items);
        assert_non_null(s->queue.items);
    }
    s->queue.items[s->queue.n++] = op;
}

static void start(search *s) {
    s->queue.n = 0;
    s->mark++;
}

/* ---- in the network as it is ------------------------------------------------------------------------------------ */

/* Adds the source values that a value stands for; false if there is none. */
static bool add_values(search *s, const xir_value *v, id_list *to) {
    int64_t few[64];
    size_t n;
    DOES(xir_provenance_values_of(s->p, v, NULL, 0, &n));
    int64_t *ids = n > COUNT(few) ? malloc(n * sizeof *ids) : few;
    assert_non_null(ids);
    DOES(xir_provenance_values_of(s->p, v, ids, n, &n));
    for (size_t i = 0; i < n; i++) add_id(to, ids[i]);
    if (ids != few) free(ids);
    return n > 0;
}

/* The inputs of an op that are Params or not; those of its sub ops too. */
static void add_inputs(search *s, const xir_op *op, bool constants, id_list *to) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (!v || xir_value_is_params(v) != constants) continue;
        if (add_values(s, v, to) && !value_is_between(s->p, v)) continue;
        if (!constants) visit(s, xir_value_op(v));
    }
    for (size_t i = 0; i < xir_class_field_count(xir_op_class(op)); i++) {
        const xir_field *f = xir_class_field_at(xir_op_class(op), i);
        xir_attr attr;
        if (f->kind != XIR_KIND_OPS || xir_op_get(op, f->name, &attr)) continue;
        for (size_t k = 0; k < attr.as.ops.size; k++) add_inputs(s, attr.as.ops.data[k], constants, to);
    }
}

static void find_begin(search *s, const xir_op *op) {
    s->begin.n = 0;
    for (int constants = 0; constants < 2 && !s->begin.n; constants++) {
        start(s);
        add_inputs(s, op, constants, &s->begin);
        for (size_t i = 0; i < s->queue.n; i++) add_inputs(s, s->queue.items[i], constants, &s->begin);
    }
}

static bool value_has_changed(const xir_provenance *p, const xir_value *v) {
    return pointer_table_find(&p->value_at, v) && !value_origin_of(p, v);
}

static void add_outputs(search *s, const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_value *v = xir_op_output(op, (int64_t)i);
        if (add_values(s, v, &s->end) && !value_is_between(s->p, v)) continue;
        if (!xir_value_uses(v) && value_has_changed(s->p, v)) s->ends_open = true;
        for (const xir_use *u = xir_value_uses(v); u; u = xir_use_next(u)) visit(s, xir_use_op(u));
    }
}

static void find_end(search *s, const xir_op *op) {
    s->end.n = 0;
    s->ends_open = false;
    start(s);
    add_outputs(s, op);
    for (size_t i = 0; i < s->queue.n; i++) add_outputs(s, s->queue.items[i]);
}

/* ---- equal values ----------------------------------------------------------------------------------------------- */

/* The value origin of a source value by its id: they are sorted. */
static uint32_t number_of(const search *s, int64_t id) {
    size_t low = 0, high = s->n_numbers;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->p->values[s->number[middle]].id < id) low = middle + 1;
        else high = middle;
    }
    assert_true(low < s->n_numbers && s->p->values[s->number[low]].id == id);
    return s->number[low];
}

static const xir_provenance *sorted_of;
static int by_id(const void *a, const void *b) {
    const int64_t x = sorted_of->values[*(const uint32_t *)a].id;
    const int64_t y = sorted_of->values[*(const uint32_t *)b].id;
    return (x > y) - (x < y);
}

static bool in_ring(const search *s, uint32_t a, uint32_t b) {
    uint32_t i = a;
    do i = s->equal[i];
    while (i != a && i != b);
    return i == b;
}

/* Every join of values that was ever noted. The first of a list stands for all of it. */
static void find_equal(search *s) {
    const size_t n = s->p->n_values;
    uint32_t *first = calloc(n, sizeof *first);
    s->equal = malloc((n + 1) * sizeof *s->equal);
    s->number = malloc((n + 1) * sizeof *s->number);
    assert_true(first && s->equal && s->number);
    s->n_numbers = 0;
    for (size_t i = 0; i < n; i++) s->equal[i] = (uint32_t)i;
    for (size_t i = 1; i < n; i++) {
        const value_origin v = s->p->values[i];
        if (!v.b) s->number[s->n_numbers++] = (uint32_t)i;
        first[i] = v.b ? first[v.a] : (uint32_t)i;
        const uint32_t a = first[i], b = v.b ? first[v.b] : a, next = s->equal[a];
        if (in_ring(s, a, b)) continue;
        s->equal[a] = s->equal[b];
        s->equal[b] = next;
    }
    free(first);
    sorted_of = s->p;
    if (s->n_numbers) qsort(s->number, s->n_numbers, sizeof *s->number, by_id);
}

/* Goes on from a value as it was, and from all that equal it: up to the op that makes it, or down to its users. */
static void pass_value(search *s, const xir_value *v, bool up, bool down) {
    const uint32_t first = number_of(s, xir_value_id(v));
    uint32_t i = first;
    do {
        const xir_value *same = xir_network_value_by_id(s->was, s->p->values[i].id);
        assert_non_null(same);
        if (up) visit(s, xir_value_op(same));
        for (const xir_use *u = down ? xir_value_uses(same) : NULL; u; u = xir_use_next(u)) visit(s, xir_use_op(u));
        i = s->equal[i];
    } while (i != first);
}

/* ---- in the network as it was ----------------------------------------------------------------------------------- */

static void go_down(search *s, const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) pass_value(s, xir_op_output(op, (int64_t)i), false, true);
}

static void go_up(search *s, const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v) pass_value(s, v, true, false);
    }
    for (size_t i = 0; i < xir_class_field_count(xir_op_class(op)); i++) {
        const xir_field *f = xir_class_field_at(xir_op_class(op), i);
        xir_attr attr;
        if (f->kind != XIR_KIND_OPS || xir_op_get(op, f->name, &attr)) continue;
        for (size_t k = 0; k < attr.as.ops.size; k++) go_up(s, attr.as.ops.data[k]);
    }
}

/* Returns how many sources a search has met. */
static size_t met(const search *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->sources.n; i++) {
        const xir_op *op = outermost(xir_network_op_by_id(s->was, s->sources.items[i]));
        assert_non_null(op);
        n += s->marks[xir_op_slot(op)] == s->mark;
    }
    return n;
}

/* Returns true if a search from some values meets all sources. It ends when it has. */
static bool meets_all(search *s, const id_list *from, bool down) {
    size_t next = 1;
    start(s);
    for (size_t i = 0; i < from->n; i++) {
        const xir_value *v = xir_network_value_by_id(s->was, from->items[i]);
        assert_non_null(v);
        pass_value(s, v, true, down && !xir_value_op(v));
    }
    for (size_t i = 0; i < s->queue.n; i++) {
        if (i + 1 == next) {
            if (met(s) == s->sources.n) return true;
            next *= 2;
        }
        if (down) go_down(s, s->queue.items[i]);
        else go_up(s, s->queue.items[i]);
    }
    return met(s) == s->sources.n;
}

/* ---- the rule --------------------------------------------------------------------------------------------------- */

static const char *check(search *s, const xir_op *op) {
    static char sentence[600];
    int64_t few[64];
    size_t n;
    DOES(xir_provenance_of_op(s->p, op, NULL, 0, &n));
    int64_t *ids = n > COUNT(few) ? malloc(n * sizeof *ids) : few;
    assert_non_null(ids);
    DOES(xir_provenance_of_op(s->p, op, ids, n, &n));
    s->sources.n = 0;
    for (size_t i = 0; i < n; i++) add_id(&s->sources, ids[i]);
    if (ids != few) free(ids);
    find_begin(s, op);
    find_end(s, op);
    const bool down = !s->begin.n || meets_all(s, &s->begin, true);
    if (down && (!s->end.n || s->ends_open || meets_all(s, &s->end, false))) return NULL;
    int at = snprintf(sentence, sizeof sentence, "op %" PRId64 " (%.*s) %s:", xir_op_id(op),
                      (int)xir_class_key(xir_op_class(op)).size, xir_class_key(xir_op_class(op)).data,
                      down ? "has a source that its outputs do not come from"
                           : "has a source that its inputs do not reach");
    for (size_t i = 0; i < s->sources.n && i < 12; i++)
        at += snprintf(sentence + at, sizeof sentence - (size_t)at, " %" PRId64, s->sources.items[i]);
    at += snprintf(sentence + at, sizeof sentence - (size_t)at, "; values");
    for (size_t i = 0; i < s->begin.n && i < 5; i++)
        at += snprintf(sentence + at, sizeof sentence - (size_t)at, " %" PRId64, s->begin.items[i]);
    at += snprintf(sentence + at, sizeof sentence - (size_t)at, " to");
    for (size_t i = 0; i < s->end.n && i < 5; i++)
        at += snprintf(sentence + at, sizeof sentence - (size_t)at, " %" PRId64, s->end.items[i]);
    return sentence;
}

const char *broken_path(const xir_provenance *p, const xir_network *was, path_counts *counts) {
    const xir_network *net = xir_provenance_network(p);
    const size_t a = xir_network_slot_count(net), b = xir_network_slot_count(was);
    search s = { .p = p, .was = was, .n_marks = (a > b ? a : b) + 1 };
    s.marks = calloc(s.n_marks, sizeof *s.marks);
    assert_non_null(s.marks);
    const char *broken = NULL;
    find_equal(&s);
    for (const xir_op *op = xir_network_first(net); op && !broken; op = xir_op_next(op)) {
        broken = check(&s, op);
        counts->ops++;
        counts->named += s.sources.n > 0;
    }
    free(s.marks);
    free(s.equal);
    free(s.number);
    free((void *)s.queue.items);
    free(s.sources.items);
    free(s.begin.items);
    free(s.end.items);
    return broken;
}
