/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "parts.h"

#define NONE UINT32_MAX

bool parts_is_accelerated(const xir_op *op) { return xir_target_row_of(xir_op_target(op))->accelerator; }

bool parts_plans(const parts *p, const xir_op *op) { return !p->accelerated || parts_is_accelerated(op); }

bool parts_takes(const parts *p, const xir_value *v) {
    if (parts_plans(p, value_op(v))) return true;
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (parts_plans(p, u->user)) return true;
    }
    return false;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

/* An input comes from the host, or is one of the network. */
static bool is_input(const parts *p, const xir_value *v) {
    const xir_op *op = value_op(v);
    return p->accelerated ? !parts_is_accelerated(op) : op->cls->traits & XIR_TRAIT_SOURCE;
}

static bool is_output(const parts *p, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (p->accelerated ? !parts_is_accelerated(u->user) : u->user->cls->traits & XIR_TRAIT_SINK) return true;
    }
    return false;
}

static segment segment_for(const parts *p, const xir_value *v) {
    if (!p->etm) return SEGMENT_MAPS;
    return is_input(p, v) ? SEGMENT_INPUT : is_output(p, v) ? SEGMENT_OUTPUT : SEGMENT_MAPS;
}

bool parts_is_map(const parts *p, const xir_value *v) {
    return parts_takes(p, v) && segment_for(p, v) == SEGMENT_MAPS;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* The parts of a set so far. Views of one value, one after the other in the order of ops, are a group; a group is
 * written over the one before it when nothing reads that any more. */
typedef struct set {
    const xir_value *root;         /* of the group                                            */
    bool             from_input;   /* the first value of the group is an input                */
    uint32_t         inputs;       /* the part of the group's inputs                          */
    uint32_t         others;       /* the part of its other values, and of maps before them   */
} set;

static void begin_group(const parts *p, set *s, const xir_value *root, segment its) {
    s->root = root;
    s->from_input = its == SEGMENT_INPUT;
    s->inputs = NONE;
    if (s->others != NONE && p->all[s->others].its != SEGMENT_MAPS) s->others = NONE;
}

static bool add_part(parts *p, const xir_value *v, uint64_t bytes, segment its, uint32_t *number) {
    if (!mem_reserve(&p->net->alloc, (void **)&p->all, &p->room, p->n + 1, sizeof *p->all)) return false;
    *number = (uint32_t)p->n;
    p->all[p->n++] = (part){ .first = v, .bytes = bytes, .its = its };
    return true;
}

static bool add_value(parts *p, set *sets, const xir_value *v, const xir_value *root) {
    const size_t its_set = xir_memory_buffers_find(p->sets, v);
    if (its_set == SIZE_MAX) return true;
    set *s = &sets[its_set];
    const segment its = segment_for(p, v);
    if (s->root != root) begin_group(p, s, root, its);
    const bool with_inputs = its == SEGMENT_INPUT || (its == SEGMENT_MAPS && s->from_input);
    uint32_t *number = with_inputs ? &s->inputs : &s->others;
    const uint64_t bytes = xir_memory_buffers_data(p->sets)[its_set].size;
    if (*number == NONE && !add_part(p, v, bytes, with_inputs ? SEGMENT_INPUT : its, number)) return false;
    if (its < p->all[*number].its) p->all[*number].its = its;
    return pointer_table_add(&p->numbers, v, *number) != NULL;
}

bool parts_make(parts *p, const xir_liveness *views) {
    const size_t n = xir_memory_buffers_count(p->sets) + 1;
    set *sets = mem_new(&p->net->alloc, n * sizeof *sets);
    bool ok = sets != NULL;
    pointer_table_init(&p->numbers, &p->net->alloc);
    for (size_t i = 0; ok && i < n; i++) sets[i] = (set){ .inputs = NONE, .others = NONE };
    for (const xir_op *op = p->net->first; op && ok; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && ok; i++) {
            xir_life life = XIR_INIT(xir_life);
            if (xir_liveness_of(views, &op_outputs(op)[i], &life)) ok = add_value(p, sets, &op_outputs(op)[i], life.in);
        }
    }
    mem_free(&p->net->alloc, sets, n * sizeof *sets);
    return ok;
}

part *parts_find(const parts *p, const xir_value *v) {
    const uint32_t *number = pointer_table_find(&p->numbers, v);
    return number ? &p->all[*number] : NULL;
}

void parts_close(parts *p) {
    mem_free(&p->net->alloc, p->all, p->room * sizeof *p->all);
    pointer_table_free(&p->numbers);
}
