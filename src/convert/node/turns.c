/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values that the way back has replaced, and values that are others with their axes in another order: an op that
 * permutes axes back finds the value that it began with. */
#include "node/node.h"

static bool note(conversion *c, xir_value **list[], size_t *n, size_t *room, pointer_table *of, const void *key,
                 xir_value *v) {
    if (!mem_reserve(context_alloc(c->ctx), (void **)list, room, *n + 1, sizeof **list)) return false;
    uint32_t *index = pointer_table_add(of, key, 0);
    if (!index) return false;
    *index = (uint32_t)*n;
    (*list)[(*n)++] = v;
    return true;
}

bool back_replace(conversion *c, xir_value *old, xir_value *now) {
    back_state *b = &c->back;
    if (back_is_result(c, old) && !pointer_table_add(&b->results, now, 0)) return false;
    return note(c, &b->by, &b->n_by, &b->by_room, &b->replaced, old, now);
}

bool back_is_result(const conversion *c, const xir_value *v) { return pointer_table_find(&c->back.results, v); }

xir_value *back_latest(const conversion *c, xir_value *v) {
    const uint32_t *index;
    while (v && (index = pointer_table_find(&c->back.replaced, v))) v = c->back.by[*index];
    return v;
}

xir_value *back_unturned(conversion *c, const xir_value *v, const int64_t *order, size_t rank) {
    const uint32_t *index = pointer_table_find(&c->back.turn_of, v);
    const back_turn *turn = index ? &c->back.turns[*index] : NULL;
    if (!turn || turn->rank != rank) return NULL;
    for (size_t i = 0; i < rank; i++)
        if (order[i] < 0 || order[i] >= (int64_t)rank || turn->order[order[i]] != i) return NULL;
    return back_latest(c, turn->from);
}

bool back_add_turn(conversion *c, xir_value *from, xir_value *to, const xir_ints *order) {
    back_state *b = &c->back;
    back_turn turn = { .from = from, .to = to, .rank = (uint32_t)order->n };
    if (order->n > sizeof turn.order) return true;
    for (size_t i = 0; i < order->n; i++) turn.order[i] = (uint8_t)order->v[i];
    if (!mem_reserve(context_alloc(c->ctx), (void **)&b->turns, &b->turn_room, b->n_turns + 1, sizeof *b->turns))
        return false;
    uint32_t *index = pointer_table_add(&b->turn_of, to, 0);
    if (!index) return false;
    *index = (uint32_t)b->n_turns;
    b->turns[b->n_turns++] = turn;
    return true;
}
