/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of an op's neighbours and inputs, and what a pass may merge. */
#include <stdlib.h>
#include <xir/icraft.h>
#include "graph.h"

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* Adds an op to a list in which each op occurs once. A short list is searched itself; if it is long, the op's earlier
 * edges are searched, so that a wide op costs its edges and not their square. */
typedef struct neighbours { xir_op **out; size_t room, n; } neighbours;

static void add_neighbour(neighbours *list, xir_op *op) {
    if (list->n < list->room) list->out[list->n] = op;
    list->n++;
}

static int by_position(const void *a, const void *b) {
    uint32_t x = (*(xir_op *const *)a)->position, y = (*(xir_op *const *)b)->position;
    return (x > y) - (x < y);
}

static size_t finish(neighbours *list, bool sorted) {
    if (sorted && list->n <= list->room) qsort(list->out, list->n, sizeof *list->out, by_position);
    return list->n;
}

static bool listed_before(const xir_op *op, uint32_t end, const xir_op *producer) {
    for (uint32_t i = 0; i < end; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && value_op(v) == producer) return true;
    }
    return false;
}

size_t xir_op_producers(const xir_op *op, bool sorted, xir_op **out, size_t room) {
    if (!op) return 0;
    neighbours list = { out, room, 0 };
    uint8_t *seen = NULL;
    size_t bytes = (size_t)op->net->n_slots / 8 + 1;
    if (op->n_inputs > 16) seen = mem_new(&op->net->alloc, bytes);
    if (seen) memset(seen, 0, bytes);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        xir_op *p = v ? value_op(v) : NULL;
        if (!p) continue;
        if (seen) {
            if (seen[p->slot / 8] >> (p->slot % 8) & 1) continue;
            seen[p->slot / 8] |= (uint8_t)(1u << (p->slot % 8));
        } else if (listed_before(op, i, p)) {
            continue;
        }
        add_neighbour(&list, p);
    }
    if (seen) mem_free(&op->net->alloc, seen, bytes);
    return finish(&list, sorted);
}

/* A use is the first of its user if no earlier input of the user is one of these outputs. */
static bool first_use(const xir_op *op, const xir_use *use) {
    const xir_op *user = use->user;
    for (const xir_use *u = op_inputs(user); u < use; u++) {
        if (u->value && value_op(u->value) == op) return false;
    }
    return true;
}

size_t xir_op_consumers(const xir_op *op, bool sorted, xir_op **out, size_t room) {
    if (!op) return 0;
    neighbours list = { out, room, 0 };
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            if (first_use(op, u)) add_neighbour(&list, u->user);
        }
    }
    return finish(&list, sorted);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

size_t xir_op_data_inputs(const xir_op *op, xir_value **out, size_t room) {
    if (!op) return 0;
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (!v || value_is_params(v)) continue;
        if (n < room) out[n] = v;
        n++;
    }
    return n;
}

size_t xir_op_params_inputs(const xir_op *op, xir_value **out, size_t room) {
    if (!op) return 0;
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (!v || !value_is_params(v)) continue;
        if (n < room) out[n] = v;
        n++;
    }
    return n;
}

size_t xir_op_params_attrs(const xir_op *op, xir_value **out, size_t room) {
    if (!op) return 0;
    value_room g = { out, room, 0 };
    op_walk_attr_params(op, value_gather, &g);
    return g.n;
}

size_t xir_op_input_index_by_id(const xir_op *op, int64_t v_id, size_t *out, size_t room) {
    if (!op) return 0;
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (!op_inputs(op)[i].value || op_inputs(op)[i].value->id != v_id) continue;
        if (n < room) out[n] = i;
        n++;
    }
    return n;
}

/* ---- equality ---------------------------------------------------------------------------------------------------- */

bool xir_op_structural_equal(const xir_op *a, const xir_op *b) {
    if (a == b) return true;
    if (!a || !b || a->net != b->net || a->n_inputs != b->n_inputs) return false;
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        if (op_inputs(a)[i].value != op_inputs(b)[i].value) return false;
    }
    return op_makes_same(a, b);
}

uint32_t xir_op_structural_hash(const xir_op *op) {
    if (!op) return 0;
    uint64_t hash = (uint64_t)(uintptr_t)op->cls + op_attrs_hash(op);
    for (uint32_t i = 0; i < op->n_inputs; i++) hash = hash_bytes(hash, &op_inputs(op)[i].value, sizeof(void *));
    for (uint32_t i = 0; i < op->n_outputs; i++) hash ^= xir_object_hash((const xir_object *)op_outputs(op)[i].type);
    return (uint32_t)(hash ^ (hash >> 32));
}
