/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The NEEDS function that follows from a composition: the parts are asked from the last to the first, each for what
 * those after it need of its results. An answer is exact as far as those of the parts are: of a value between two
 * parts, a box with more elements than the part that asked may have holes, so that what follows from it may be more
 * than is needed.
 *
 * An op of the class can compute a part of its output if each of its parts can, without another attribute. A number or
 * an attribute that depends on dims would be another one. */
#include "compose_ask.h"

/* ---- attributes that depend on dims ------------------------------------------------------------------------------ */

static bool depends_on_dims(const compose_term *t) {
    if (t->kind == COMPOSE_DIM || t->kind == COMPOSE_LETTER) return true;
    return (t->a && depends_on_dims(t->a)) || (t->b && depends_on_dims(t->b));
}

static bool is_of_dims(const compose_part *p) {
    for (uint32_t k = 0; k < p->n_operands; k++)
        if (p->operands[k].kind == OPERAND_NUMBER && depends_on_dims(p->operands[k].number)) return true;
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        if (s->kind == SETS_TYPE) return true;
        if (s->kind != SETS_NUMBER && s->kind != SETS_LIST) continue;
        for (uint32_t k = 0; k < s->n; k++)
            if (depends_on_dims(s->terms[k])) return true;
    }
    return false;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

typedef struct needing {
    asking  *a;
    xir_box *known;       /* by value of the composition: what is needed of it      */
    bool     tile;
    bool     possible;    /* an op of the class can compute the part                */
} needing;

static bool is_input(const asking *a, uint32_t value) { return value < a->w.c->n_inputs; }

/* Adds what a part needs of its operands. `of`: what was asked about. */
static void add_boxes(needing *n, const compose_part *p, const xir_box *in, const xir_box *of) {
    size_t i = 0;
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const compose_operand *o = &p->operands[k];
        if (o->kind == OPERAND_REST) break;    /* read from the boxes of the rest */
        xir_box box = in[i++];
        if (o->kind != OPERAND_VALUE) continue;
        if (!of->exact) box.exact = 0;
        if (!is_input(n->a, o->value) && xir_box_elements(&box) > xir_box_elements(of)) box.exact = 0;
        box_join(&n->known[o->value], &box);
    }
}

/* Asks a part for one of its results. */
static xir_status ask_result(needing *n, const compose_part *p, uint32_t result, xir_box *in) {
    asking *a = n->a;
    const xir_box of = n->known[p->first + result];
    infer_needs_seen seen = { .output = result, .part = of, .in = in, .tile = n->tile };
    xir_infer q;
    xir_status status = XIR_OK;
    asking_start(a, p, &q, NULL);
    for (uint32_t i = 0; i < p->n_results && !status; i++)
        status = infer_see_output(&q, a->w.now[p->first + i]->type);
    if (!status) status = infer_needs(&q, &seen, NULL);
    infer_end(&q);
    if (status) return status;
    n->possible = n->possible && seen.possible && !seen.n_attrs && box_contains(&of, &seen.makes) && !is_of_dims(p);
    add_boxes(n, p, in, &of);
    return XIR_OK;
}

static xir_status ask_part(needing *n, const compose_part *p) {
    asking *a = n->a;
    bool asked = false;
    for (uint32_t i = 0; i < p->n_results; i++) asked |= !n->known[p->first + i].none;
    if (!asked) return XIR_OK;
    /* A part that reads any number of inputs: all of them, whole. */
    if (p->n_operands && p->operands[p->n_operands - 1].kind == OPERAND_REST) return XIR_E_UNSUPPORTED;
    xir_status status = compose_enter(&a->w, p);
    xir_box few[8], *in = a->w.n_inputs <= 8 ? few : arena_take(&a->w.own, a->w.n_inputs * sizeof *in);
    if (!in) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < p->n_results && !status; i++)
        if (!n->known[p->first + i].none) status = ask_result(n, p, i, in);
    return status;
}

static xir_status ask_all(needing *n) {
    const composition *c = n->a->w.c;
    xir_status status = XIR_OK;
    for (uint32_t i = c->n_parts; i-- > 0 && !status;) {
        const compose_part *p = &c->parts[i];
        if (asking_left_out(n->a, p)) box_join(&n->known[p->operands[0].value], &n->known[p->first]);
        else status = ask_part(n, p);
    }
    return status;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

static void give(xir_infer *at, const needing *n) {
    for (uint32_t i = 0; i < n->a->w.c->n_inputs; i++) {
        const xir_box *box = &n->known[i];
        if (box->none) xir_needs_none(at, i);
        for (uint32_t k = 0; k < box->rank && !box->none; k++) xir_needs_along(at, i, k, box->begin[k], box->end[k]);
        if (!box->none && !box->exact) xir_needs_wide(at, i);
    }
    if (n->possible) xir_tile_same(at);
}

xir_status composed_needs(xir_infer *at) {
    const xir_box *part = xir_needs_part(at);
    const size_t output = xir_needs_output(at);
    const compose_part *failed = NULL;
    asking a;
    needing n = { .a = &a, .tile = xir_tile_asked(at), .possible = true };
    xir_status status = asking_begin(&a, at) ? XIR_OK : XIR_E_MEMORY;
    if (!status) status = asking_infer(&a, NULL, NULL, &failed);
    if (!status && (!part || output >= a.w.c->n_outputs)) status = XIR_E_INVALID;
    if (!status) n.known = arena_take(&a.w.own, a.w.c->n_values * sizeof *n.known);
    if (!status && !n.known) status = XIR_E_MEMORY;
    if (!status) {
        for (uint32_t i = 0; i < a.w.c->n_values; i++)
            n.known[i] = (xir_box){ .size = sizeof *n.known, .none = 1, .exact = 1 };
        xir_box of = *part;
        of.exact = 1;
        n.known[a.w.c->outputs[output]] = of;
        status = ask_all(&n);
    }
    if (!status) give(at, &n);
    asking_end(&a);
    return status;
}
