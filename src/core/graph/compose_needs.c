/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The NEEDS function that follows from a composition: the parts are asked from the last to the first, each for what
 * those after it need of its results. An answer is exact as far as those of the parts are: of a value between two
 * parts, a box with more elements than the part that asked may have holes, so that what follows from it may be more
 * than is needed.
 *
 * An op of the class can compute a part of its output if each of its parts can, from the same part of each value. If
 * one needs another attribute, as a convolution inside of a map needs less padding, this must be an attribute of the
 * class that is passed on to it alone. A type with open dims is that of each tile. Numbers and attributes that depend
 * on dims cannot be the same in a part. */
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
    asking   *a;
    xir_box  *known;      /* by value of the composition: what is needed of it      */
    bool      tile;
    bool      possible;   /* an op of the class can compute the part,               */
    tile_attr attrs[MOST_TILE_ATTRS];   /* with these attributes                    */
    size_t    n_attrs;
} needing;

static bool is_input(const asking *a, uint32_t value) { return value < a->w.c->n_inputs; }

static bool same_extent(const xir_box *a, const xir_box *b) { return box_contains(a, b) && box_contains(b, a); }

/* Adds what is needed of a value. A part that needs less of it than another one would read other elements. */
static void add_box(needing *n, uint32_t value, const xir_box *box) {
    xir_box *known = &n->known[value];
    if (!known->none && !same_extent(known, box)) n->possible = false;
    box_join(known, box);
}

/* Adds what a part needs of its operands. `of`: what was asked about. */
static void add_boxes(needing *n, const compose_part *p, const xir_box *in, const xir_box *of) {
    size_t i = 0;
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const compose_operand *o = &p->operands[k];
        if (o->kind == OPERAND_REST) break;    /* read from the boxes of the rest */
        xir_box box = in[i], all = XIR_INIT(xir_box);
        const xir_value *v = n->a->w.inputs[i++];
        if (o->kind == OPERAND_PARAMS && v && !xir_box_whole(v->type, &all, NULL) && !same_extent(&all, &box))
            n->possible = false;   /* constants of the class are whole */
        if (o->kind != OPERAND_VALUE) continue;
        if (!of->exact) box.exact = 0;
        if (!is_input(n->a, o->value) && xir_box_elements(&box) > xir_box_elements(of)) box.exact = 0;
        add_box(n, o->value, &box);
    }
}

/* ---- attributes of tiles ---------------------------------------------------------------------------------------- */

static bool has_attr(const compose_term *t, const xir_field *f) {
    return t && ((t->kind == COMPOSE_ATTR && t->field == f) || has_attr(t->a, f) || has_attr(t->b, f));
}

/* The number of places of a composition in which an attribute of the class is. */
static size_t count_uses(const composition *c, const xir_field *f) {
    size_t n = 0;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        const compose_part *p = &c->parts[i];
        for (uint32_t k = 0; k < p->n_operands; k++) n += has_attr(p->operands[k].number, f);
        for (uint32_t k = 0; k < p->n_settings; k++) {
            const compose_setting *s = &p->settings[k];
            n += s->from == f;
            for (uint32_t j = 0; j < s->n; j++) n += has_attr(s->terms[j], f);
        }
    }
    return n;
}

/* Returns true if each dim of a type is open, or that of the tile. */
static bool has_dims_of(const xir_type *type, const xir_box *tile) {
    bool same = type && xir_type_rank(type) == tile->rank;
    for (uint32_t k = 0; same && k < tile->rank; k++) {
        const int64_t dim = xir_type_dim(type, k, false);
        same = dim < 0 || dim == tile->end[k] - tile->begin[k];
    }
    return same;
}

/* Returns true if a part has an attribute of its tile already. */
static bool has_already(const xir_class *cls, const void *body, const tile_attr *attr, const xir_box *tile) {
    const xir_field *f = xir_class_field(cls, xir_str_of(attr->name));
    if (f && attr->kind == TILE_TYPE && f->kind == XIR_KIND_REF)
        return has_dims_of(*(const xir_type *const *)body_at(body, f), tile);
    return f && attr->kind == TILE_I64 && f->kind == XIR_KIND_I64 &&
           *(const int64_t *)body_at(body, f) == attr->numbers[0];
}

/* The attribute of the class that is passed on as one of a part, and to nothing else; NULL if there is none. */
static const xir_field *passed_on(const composition *c, const compose_part *p, const char *name) {
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        if (xir_str_equal(s->to->name, xir_str_of(name)))
            return s->kind == SETS_COPY && count_uses(c, s->from) == 1 ? s->from : NULL;
    }
    return NULL;
}

/* Notes the attributes with which a part computes its tile. False if the op cannot pass them on. */
static bool note_attrs(needing *n, const compose_part *p, const infer_needs_seen *seen, const xir_box *tile) {
    for (size_t i = 0; i < seen->n_attrs; i++) {
        const tile_attr *attr = &seen->attrs[i];
        if (has_already(p->cls, n->a->w.body, attr, tile)) continue;
        const xir_field *f = p->n_results == 1 ? passed_on(n->a->w.c, p, attr->name) : NULL;
        if (!f || attr->kind == TILE_TYPE || n->n_attrs == MOST_TILE_ATTRS) return false;
        if (attr->kind == TILE_I64 && (f->kind != XIR_KIND_I64 || !number_is_good(f, attr->numbers))) return false;
        n->attrs[n->n_attrs] = *attr;
        n->attrs[n->n_attrs++].name = f->name.data;
    }
    return true;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

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
    n->possible = n->possible && seen.possible && box_contains(&of, &seen.makes) && !is_of_dims(p) &&
                  note_attrs(n, p, &seen, &of);
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
        if (asking_left_out(n->a, p)) add_box(n, p->operands[0].value, &n->known[p->first]);
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
    if (!n->possible) return;
    xir_tile_same(at);
    for (size_t i = 0; i < n->n_attrs; i++) {
        const tile_attr *attr = &n->attrs[i];
        if (attr->kind == TILE_I64) xir_tile_i64(at, attr->name, attr->numbers[0]);
        else xir_tile_i64s(at, attr->name, attr->numbers, attr->n);
    }
}

xir_status composed_needs(xir_infer *at) {
    const xir_box *part = xir_needs_part(at);
    const size_t output = xir_needs_output(at);
    const compose_part *failed = NULL;
    asking a;
    needing n = { .a = &a, .tile = xir_tile_asked(at), .possible = true, .n_attrs = 0 };
    xir_status status = asking_begin(&a, at) ? XIR_OK : XIR_E_MEMORY;
    if (!status) status = asking_infer(&a, NULL, NULL, &failed);
    if (!status) status = asking_settle(&a);
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
