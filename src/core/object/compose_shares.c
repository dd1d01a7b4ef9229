/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The SHARES row of a composed class. An element of the first output depends, of an input, on the element in the same
 * place and on no other one, if every way from the input to the output leads through parts that promise this. The
 * output is the bytes of an input if every part on the way to it is a view. Broadcasting between does no harm: dims
 * only grow on the way, so an output with the dims of the input had them everywhere. */
#include "compose.h"

/* The inputs that a value may share bytes with: bit i is input i. */
typedef struct place { uint64_t same, other, view; } place;

static place of_operand(const place *known, const composition *c, const compose_operand *o) {
    if (o->kind == OPERAND_REST) {
        const uint64_t last = c->n_inputs && c->n_inputs <= 64 ? UINT64_C(1) << (c->n_inputs - 1) : 0;
        return (place){ .same = last };
    }
    return o->kind == OPERAND_VALUE ? known[o->value] : (place){ 0 };
}

static place through(const place *known, const composition *c, const compose_part *p) {
    const class_shares *row = &p->cls->more->shares;
    const uint32_t ports = p->cls->more->n_inputs;
    place out = { 0 };
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const place in = of_operand(known, c, &p->operands[k]);
        const uint32_t port = k < ports ? k : ports - 1;
        const bool named = port < 64 && row->inputs >> port & 1;
        if (named && row->kind == SHARES_OVER) {
            out.same |= in.same;
            out.other |= in.other;
        } else {
            out.other |= in.same | in.other;
        }
        if (named && row->kind == SHARES_VIEW) out.view |= in.view;
        if (p->optional && k == 0) {
            out.same |= in.same;
            out.other |= in.other;
            out.view &= in.view;
        }
    }
    return out;
}

class_shares compose_shares(const composition *c) {
    place known[64 + 2 * COMPOSE_PARTS];
    class_shares row = { .kind = SHARES_NOTHING };
    if (c->n_inputs > 64 || c->n_values > sizeof known / sizeof *known || !c->n_outputs) return row;
    for (uint32_t i = 0; i < c->n_inputs; i++)
        known[i] = (place){ .same = UINT64_C(1) << i, .view = UINT64_C(1) << i };
    for (uint32_t i = 0; i < c->n_parts; i++) {
        const compose_part *p = &c->parts[i];
        known[p->first] = through(known, c, p);
        /* Rows speak of the first output. */
        for (uint32_t k = 1; k < p->n_results; k++) {
            const place first = known[p->first];
            known[p->first + k] = (place){ .other = first.same | first.other };
        }
    }
    const place out = known[c->outputs[0]];
    if (out.view && !(out.view & (out.view - 1))) return (class_shares){ .kind = SHARES_VIEW, .inputs = out.view };
    if (out.same & ~out.other) return (class_shares){ .kind = SHARES_OVER, .inputs = out.same & ~out.other };
    return row;
}
