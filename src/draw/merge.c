/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two networks as one list of ops, for a picture of their differences. An op of both is listed once, in the order of
 * the second network. An op that only the first one has comes after what precedes it there, apart from ops that moved,
 * and after the ops that make its inputs. So an arrow of either network leads back only where the two disagree about
 * the order. */
#include "merge.h"

typedef struct merging {
    const xir_allocator *alloc;
    const xir_diff      *diff;
    const xir_network   *a, *b;
    uint32_t            *place;     /* by slot of a: the op comes after so many ops of b   */
    uint32_t            *position;  /* by slot of b: the op and those before it            */
    uint32_t            *first;     /* by place: where its ops begin in `gone`             */
    const xir_op       **gone;      /* the ops that only a has, by place                   */
} merging;

static bool is_top(const xir_op *op) { return op && xir_op_is_placed(op) && !xir_op_parent(op); }

const xir_op *draw_match(const xir_diff *diff, const xir_op *op) {
    const xir_op *match = xir_diff_in_b(diff, op);
    if (!match) match = xir_diff_in_a(diff, op);
    return is_top(match) ? match : NULL;
}

static const xir_op *in_b(const merging *m, const xir_op *op) {
    const xir_op *match = xir_diff_in_b(m->diff, op);
    return is_top(match) ? match : NULL;
}

/* The place of an op that only a has; those of the ops before it are known. */
static uint32_t find_place(const merging *m, const xir_op *op, uint32_t place) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        const xir_op *maker = v ? xir_value_op(v) : NULL;
        if (maker && m->place[xir_op_slot(maker)] > place) place = m->place[xir_op_slot(maker)];
    }
    return place;
}

static void find_places(merging *m) {
    uint32_t n = 0, last = 0;
    for (const xir_op *op = xir_network_first(m->b); op; op = xir_op_next(op)) m->position[xir_op_slot(op)] = ++n;
    for (const xir_op *op = xir_network_first(m->a); op; op = xir_op_next(op)) {
        const xir_op *match = in_b(m, op);
        uint32_t *place = &m->place[xir_op_slot(op)];
        if (match) {
            *place = m->position[xir_op_slot(match)];
            if (*place > last && !(xir_diff_kinds(m->diff, op) & XIR_DIFF_MOVED)) last = *place;
        } else {
            *place = find_place(m, op, last);
            m->first[*place + 1]++;
        }
    }
    for (uint32_t i = 0; i <= n; i++) m->first[i + 1] += m->first[i];
    for (const xir_op *op = xir_network_first(m->a); op; op = xir_op_next(op))
        if (!in_b(m, op)) m->gone[m->first[m->place[xir_op_slot(op)]]++] = op;
}

/* After find_places, first[i] is where the ops of place i end. */
static size_t list_all(const merging *m, const xir_op **ops, const xir_op **was) {
    size_t n = 0, place = 0, gone = 0;
    const xir_op *next = xir_network_first(m->b);
    for (;; place++, next = xir_op_next(next)) {
        for (; gone < m->first[place]; gone++) ops[n++] = m->gone[gone];
        if (!next) return n;
        const xir_op *match = xir_diff_in_a(m->diff, next);
        was[n] = is_top(match) ? match : NULL;
        ops[n++] = next;
    }
}

bool draw_merge(const picture *p, const xir_op **ops, const xir_op **was, size_t *n) {
    merging m = { .alloc = p->alloc, .diff = p->how.diff, .a = xir_diff_a(p->how.diff), .b = xir_diff_b(p->how.diff) };
    m.place = draw_new(m.alloc, xir_network_slot_count(m.a), sizeof *m.place);
    m.position = draw_new(m.alloc, xir_network_slot_count(m.b), sizeof *m.position);
    m.first = draw_new(m.alloc, xir_network_op_count(m.b) + 2, sizeof *m.first);
    m.gone = draw_new(m.alloc, xir_network_op_count(m.a), sizeof *m.gone);
    const bool ok = m.place && m.position && m.first && m.gone;
    if (ok) {
        find_places(&m);
        *n = list_all(&m, ops, was);
    }
    draw_free(m.alloc, m.place);
    draw_free(m.alloc, m.position);
    draw_free(m.alloc, m.first);
    draw_free(m.alloc, (void *)m.gone);
    return ok;
}
