/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tables that are like an earlier one are copies of it. A table lies at a constant distance from its predecessor, so
 * the offsets to items that both refer to grow by that distance, and only a table's own fields are set: of an op its
 * id, name, inputs and outputs; of a value its id and name. The other fields follow from an op's class, attributes and
 * target, or from a value's type, if it has nothing that is rare. The file has the same bytes as without copies. */
#include "flat/write.h"

static flat_pattern *pattern_of(flat_pattern *all, const void *a, const void *b, const void *c) {
    uint64_t mixed = (uint64_t)((uintptr_t)a ^ (uintptr_t)b) * UINT64_C(0x9E3779B97F4A7C15);
    flat_pattern *p = &all[(mixed >> 32) % FLAT_PATTERNS];
    if (p->what[0] == a && p->what[1] == b && p->what[2] == c) return p;
    p->what[0] = a;
    p->what[1] = b;
    p->what[2] = c;
    p->bytes = NULL;
    return p;
}

/* A field that is 0 is absent. An object in a row is written once; other things in rows may be written again. */
flat_pattern *flat_op_pattern(flat_writer *w, const xir_op *op) {
    if (op_more_of(op) || !op->cls->plain || op->id == 0) return NULL;
    return pattern_of(w->op_patterns, op->attrs, op->cls, op_target(op));
}

flat_pattern *flat_value_pattern(flat_writer *w, const xir_value *v) {
    const value_more *more = value_more_of(v);
    if (v->id == 0 || (more && (more->tags || more->extra || more->mtype))) return NULL;
    return pattern_of(w->value_patterns, v->type, NULL, NULL);
}

/* Fields lie in the order of flat_table_put. */
void flat_learn(flat_writer *w, flat_pattern *p, const flat_fields *f, const uint16_t *own, uint32_t n, uint32_t at) {
    uint64_t mine = 0;
    for (uint32_t i = 0; i < n; i++) mine |= (uint64_t)1 << own[i];
    if (flat_failed(w) || (mine & ~(f->wide | f->middle))) return;
    uint16_t places[FLAT_SLOTS], next = 4;
    p->n_shared = 0;
    for (uint64_t m = f->wide; m; m &= m - 1, next = (uint16_t)(next + 8)) places[__builtin_ctzll(m)] = next;
    for (uint64_t m = f->middle; m; m &= m - 1, next = (uint16_t)(next + 4)) {
        uint32_t slot = (uint32_t)__builtin_ctzll(m);
        places[slot] = next;
        if ((f->offsets & ~mine) >> slot & 1) p->shared[p->n_shared++] = next;
    }
    for (uint32_t i = 0; i < n; i++) p->own[i] = places[own[i]];
    p->size = (uint32_t)next + (uint32_t)__builtin_popcountll(f->narrow);
    p->at = at;
    p->bytes = flat_at(&w->b, at);
}

uint8_t *flat_copy(flat_writer *w, flat_pattern *p) {
    uint8_t *to = flat_take(&w->b, p->size, 8, 4);   /* an id has 8 bytes */
    if (!to) return NULL;
    uint32_t moved = flat_here(&w->b) - p->at;
    memcpy(to, p->bytes, p->size);
    little_put32(to, little_u32(to) - moved);        /* the distance to the vtable is signed the other way */
    for (uint32_t i = 0; i < p->n_shared; i++) {
        uint8_t *offset = to + p->shared[i];
        little_put32(offset, little_u32(offset) + moved);
    }
    p->bytes = to;
    p->at += moved;
    return to;
}
