/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types of values between parts that follow without a question, because the rule of the part's class is the library's
 * and its operands are plain tensors of floats (float_rule). Most are needed for their dims alone, so they are loose:
 * they are not looked up in the pool. Whatever is not certain is asked. */
#include "compose_walk.h"
#include "types.h"

/* ---- plain tensors ---------------------------------------------------------------------------------------------- */

static bool is_plain(compose_walk *w, const xir_type *type) {
    const xir_tensor_type *t = xir_type_as_tensor(type);
    if (!t || t->head.absent || t->head.extra || t->merged_distrs.size || !layout_is_plain(t->layout, t->shape.size))
        return false;
    const xir_type *element = t->element_dtype;
    if (element == w->element) return true;
    if (xir_type_kind_of(element) != XIR_TYPE_FLOAT ||
        (unsigned)((const xir_float_type *)element)->format > XIR_FLOAT_FPE6M9) return false;
    w->element = element;
    return true;
}

static bool has_floats(compose_walk *w, uint32_t value) {
    if (w->floats[value]) return true;
    const xir_value *v = w->now[value];
    return v && (w->floats[value] = is_plain(w, v->type));
}

/* ---- operands after the first one -------------------------------------------------------------------------------- */

/* Returns true if the one tensor broadcasts to the dims of the other. None of these is an expression, from which more
 * may follow. */
static bool broadcasts(const xir_tensor_type *from, const xir_tensor_type *to) {
    const size_t given = from->shape.size, more = to->shape.size - given;
    if (from->element_dtype != to->element_dtype || given > to->shape.size) return false;
    for (size_t i = 0; i < more; i++)
        if (to->shape.data[i] < XIR_UNKNOWN_DIM) return false;
    const int64_t *dims = to->shape.data + more;
    for (size_t i = 0; i < given; i++) {
        const int64_t by = from->shape.data[i];
        if (dims[i] < XIR_UNKNOWN_DIM || (by != dims[i] && by != 1)) return false;
    }
    return true;
}

/* Factors and addends have one type, as a rule. */
static bool params_fit(compose_walk *w, const compose_operand *o, const xir_type *first) {
    const xir_value *v = compose_params(w, o);
    if (!v) return false;
    if (v->type == w->plain && first == w->broad) return true;
    if (!is_plain(w, v->type) ||
        !broadcasts((const xir_tensor_type *)v->type, (const xir_tensor_type *)first)) return false;
    w->plain = v->type;
    w->broad = first;
    return true;
}

static bool value_fits(compose_walk *w, uint32_t value, const xir_type *first) {
    const xir_value *v = w->now[value];
    if (!v || v->type == first) return v;
    const loose_type *l = compose_loose(w, v->type);
    if (l && l->narrows == first) return true;
    return has_floats(w, value) && broadcasts((const xir_tensor_type *)v->type, (const xir_tensor_type *)first);
}

/* Returns true if the operands after the first one fit the first one's type. */
static bool fit_first(compose_walk *w, const compose_part *p, const xir_type *first) {
    bool fit = true;
    for (uint32_t k = 1; k < p->n_operands && fit; k++) {
        const compose_operand *o = &p->operands[k];
        compose_number v;
        switch (o->kind) {
        case OPERAND_VALUE:  fit = value_fits(w, o->value, first); break;
        case OPERAND_PARAMS: fit = params_fit(w, o, first); break;
        case OPERAND_NUMBER: fit = compose_number_of(w, o->number, &v) && !v.unknown; break;
        default:             fit = false; break;
        }
    }
    return fit;
}

/* Returns true if the attributes of a part are in bounds, and none that its rule refuses. */
static bool attrs_fit(compose_walk *w, const compose_part *p) {
    fits_fn *fits = p->cls->more->fits;
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        /* A number that is passed on need not be gathered for that. */
        const bool copied = s->kind == SETS_COPY && (s->to->kind == XIR_KIND_REAL || s->to->kind == XIR_KIND_I64);
        if (!fits && copied && number_is_good(s->to, body_at(w->attrs, s->from))) continue;
        if (compose_body(w, p)) return false;
        break;
    }
    return !fits || fits(p->n_settings ? w->body : p->body);
}

/* ---- loose types ------------------------------------------------------------------------------------------------ */

static bool is_full(const compose_walk *w) { return w->next_loose == w->loose + COMPOSE_LOOSE; }

/* Returns the type with the dims that have been written to the next loose type. */
static const xir_type *loosen(compose_walk *w, const xir_type *element, const xir_type *narrows, int64_t count) {
    loose_type *l = w->next_loose++;
    l->type = (xir_tensor_type){
        .head = { .cls = w->ctx->tensor_class },
        .element_dtype = element,
        .shape = { l->dims.dims, l->dims.rank },
        .layout = l->dims.layout,
    };
    l->narrows = narrows;
    l->count = count;
    l->own = NULL;
    return (const xir_type *)&l->type;
}

bool compose_settle(compose_walk *w, xir_value *v) {
    loose_type *l = compose_loose(w, v->type);
    if (!l) return true;
    if (!l->own) l->own = (const xir_type *)pool_intern(w->pool, &l->type.head);
    v->type = l->own;
    return l->own;
}

/* Returns true if the first input, which is plain, has these floats in these dims. Many ops give its type again. */
static bool is_input(const compose_walk *w, const xir_type *element, const moved_dims *dims) {
    const xir_tensor_type *t = (const xir_tensor_type *)w->now[0]->type;
    if (t->layout != dims->layout || t->shape.size != dims->rank || t->element_dtype != element) return false;
    size_t i = 0;
    while (i < dims->rank && t->shape.data[i] == dims->dims[i]) i++;
    return i == dims->rank;
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

/* Returns the type with the dims and the layout that have been written to the next loose type. */
static const xir_type *give_dims(compose_walk *w, const xir_type *first, bool narrows, int64_t count) {
    const xir_type *element = ((const xir_tensor_type *)first)->element_dtype;
    if (w->c->n_inputs && w->floats[0] && is_input(w, element, &w->next_loose->dims)) return w->now[0]->type;
    return loosen(w, element, narrows ? first : NULL, count);
}

static const xir_type *moved(compose_walk *w, const compose_part *p, const xir_type *first) {
    if (is_full(w) || compose_body(w, p)) return NULL;
    moved_dims *dims = &w->next_loose->dims;
    return p->cls->more->moved(w->body, first, dims) ? give_dims(w, first, dims->narrows, 0) : NULL;
}

/* Finds the dims that an attribute lists, and the layout that another one is, where they are as they are in most
 * compositions. */
static bool shape_of(compose_walk *w, const compose_part *p, moved_dims *out) {
    const class_more *more = p->cls->more;
    const xir_tensor_type *like = NULL;   /* a plain one, with the layout */
    xir_i64s listed = *(const xir_i64s *)body_at(p->body, more->dims);
    out->layout = *(const xir_layout *const *)body_at(p->body, more->dims_layout);
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        if (s->to == more->dims_layout && s->kind == SETS_LAYOUT && has_floats(w, s->value))
            like = (const xir_tensor_type *)w->now[s->value]->type;
        else if (s->to != more->dims) return false;
        else if (s->kind == SETS_COPY) listed = *(const xir_i64s *)body_at(w->attrs, s->from);
        else if (s->kind != SETS_LIST || s->n > MOVED_DIMS || !compose_dims(w, s, out->dims)) return false;
        else listed = (xir_i64s){ out->dims, s->n };
    }
    if (like) out->layout = like->layout;
    out->rank = listed.size;
    if (listed.size > MOVED_DIMS) return false;
    for (size_t i = 0; i < listed.size && listed.data != out->dims; i++) out->dims[i] = listed.data[i];
    return (like && like->shape.size == listed.size) || layout_is_plain(out->layout, listed.size);
}

/* Multiplies dims. False if one is 0 or unknown, or 64 bits are exceeded. */
static inline bool multiply(const int64_t *dims, size_t rank, int64_t *out) {
    *out = 1;
    for (size_t i = 0; i < rank; i++)
        if (dims[i] <= 0 || !mul_i64(*out, dims[i], out)) return false;
    return true;
}

/* Returns the number of elements of a plain tensor; 0: unknown, or to be asked. */
static int64_t count_of(compose_walk *w, const xir_type *type) {
    const loose_type *l = compose_loose(w, type);
    const xir_i64s dims = ((const xir_tensor_type *)type)->shape;
    int64_t count;
    if (l && l->count) return l->count;
    return multiply(dims.data, dims.size, &count) ? count : 0;
}

static const xir_type *reshaped(compose_walk *w, const compose_part *p, const xir_type *first) {
    moved_dims *out = &w->next_loose->dims;
    if (is_full(w) || !shape_of(w, p, out)) return NULL;
    const int64_t count = count_of(w, first);
    int64_t known;
    if (!count) return NULL;
    if (!multiply(out->dims, out->rank, &known)) {
        size_t left = 0;       /* the index of -1: what remains */
        while (left < out->rank && out->dims[left] != -1) left++;
        if (left == out->rank) return NULL;
        out->dims[left] = 1;
        if (!multiply(out->dims, out->rank, &known) || count % known) return NULL;
        out->dims[left] = count / known;
    } else if (count != known) return NULL;
    return give_dims(w, first, false, count);
}

/* The type of a comparison of tensors of this type. */
static const xir_type *truths(compose_walk *w, const xir_tensor_type *of) {
    const size_t rank = of->shape.size;
    if (is_full(w) || rank > MOVED_DIMS || !broadcasts(of, of)) return NULL;
    moved_dims *dims = &w->next_loose->dims;
    dims->layout = of->layout;
    dims->rank = rank;
    for (size_t i = 0; i < rank; i++) dims->dims[i] = of->shape.data[i];
    return loosen(w, w->ctx->truth, NULL, 0);
}

/* Returns true for truths with the dims and the layout of a plain tensor. */
static bool is_condition(const xir_value *v, const xir_tensor_type *of) {
    const xir_tensor_type *t = v ? xir_type_as_tensor(v->type) : NULL;
    const size_t rank = of->shape.size;
    return t && t->layout == of->layout && t->shape.size == rank && !t->merged_distrs.size &&
           xir_type_kind_of(t->element_dtype) == XIR_TYPE_BOOL &&
           (!rank || memcmp(t->shape.data, of->shape.data, rank * sizeof *of->shape.data) == 0);
}

static const xir_type *chosen(const compose_walk *w, const compose_part *p, const xir_type *first) {
    const compose_operand *o = p->operands;
    const bool same = p->n_operands == 3 && o[1].kind == OPERAND_VALUE && o[2].kind == OPERAND_VALUE &&
                      w->now[o[1].value] && w->now[o[1].value]->type == first;
    return same && !p->n_settings && is_condition(w->now[o[2].value], (const xir_tensor_type *)first) ? first : NULL;
}

const xir_type *compose_floats(compose_walk *w, const compose_part *p, unsigned target) {
    if (!p->any_floats) return NULL;
    const float_rule rule = p->cls->more->floats;
    const uint32_t value = p->operands[0].value;
    if (rule == FLOATS_ASKED || (target != XIR_TARGET_HOST && class_infer_on(p->cls, target)) ||
        !has_floats(w, value)) return NULL;
    const xir_type *first = w->now[value]->type, *out;
    if (rule == FLOATS_RESHAPED) out = reshaped(w, p, first);
    else if (rule == FLOATS_MOVED) out = moved(w, p, first);
    else if (rule == FLOATS_CHOSEN) out = chosen(w, p, first);
    else if ((!p->numbers && !fit_first(w, p, first)) || !attrs_fit(w, p)) return NULL;
    else out = rule == FLOATS_KEPT ? first : truths(w, (const xir_tensor_type *)first);
    w->floats[p->first] = out && rule != FLOATS_COMPARED;
    return out;
}
