/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See compose_walk.h. */
#include "compose_walk.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "elements.h"
#include "number.h"
#include "types.h"

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Bytes for each value, or input of a part. */
enum { COMPOSE_EACH = 2 * sizeof(xir_value *) + sizeof(bool) };

bool compose_begin(compose_walk *w, object_pool *pool, xir_context *ctx, const xir_class *cls, const void *attrs,
                   xir_value *const *given, size_t n) {
    const composition *c = cls->more->composed;
    w->c = c;
    w->cls = cls;
    w->attrs = attrs;
    w->pool = pool;
    w->ctx = ctx;
    w->given = given;
    w->n_given = n;
    w->constant = NULL;
    w->user = NULL;
    w->n_inputs = 0;
    w->fault.status = XIR_OK;
    w->fault.field = NULL;
    w->number_element = w->number_type = w->element = w->plain = w->broad = NULL;
    w->next_loose = w->loose;
    w->used = 0;
    w->now = w->few;
    w->inputs = w->few_inputs;
    w->floats = w->few_floats;
    arena_init(&w->own, &ctx->alloc);
    /* A part reads its operands, or all inputs of the op. */
    w->room = c->n_values > n + c->most_operands ? c->n_values : n + c->most_operands;
    if (w->room > COMPOSE_FEW) {
        w->now = mem_new(&ctx->alloc, w->room * COMPOSE_EACH);
        if (!w->now) return false;
        w->inputs = w->now + w->room;
        w->floats = (bool *)(w->inputs + w->room);
    }
    memset((void *)w->now, 0, w->room * sizeof *w->now);
    memset(w->floats, 0, w->room * sizeof *w->floats);
    for (uint32_t i = 0; i < c->n_inputs && i < n; i++) w->now[i] = given[i];
    return true;
}

void compose_end(compose_walk *w) {
    if (w->now && w->now != w->few) mem_free(&w->ctx->alloc, (void *)w->now, w->room * COMPOSE_EACH);
    arena_free(&w->own);
}

/* ---- failing ---------------------------------------------------------------------------------------------------- */

static xir_status fail(compose_walk *w, xir_status status, const xir_field *field, const char *format, ...)
    XIR_PRINTF(4, 5);
static xir_status fail(compose_walk *w, xir_status status, const xir_field *field, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_vprint(w->fault.text, sizeof w->fault.text, format, list);
    va_end(list);
    w->fault.field = field;
    return w->fault.status = status;
}

/* The first attribute of the op that a term depends on. */
static const xir_field *attr_of(const compose_term *term) {
    if (term->kind == COMPOSE_ATTR) return term->field;
    const xir_field *a = term->a ? attr_of(term->a) : NULL;
    return a || !term->b ? a : attr_of(term->b);
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

bool compose_leave_out(compose_walk *w, const compose_part *p) {
    bool out = false;
    for (const compose_operand *o = p->operands + 1, *end = p->operands + p->n_operands; o < end && !out; o++) {
        if (o->kind == OPERAND_PARAMS) out = o->needed && !compose_params(w, o);
        else if (o->kind == OPERAND_VALUE) out = o->needed && !w->now[o->value];
    }
    if (!out) return false;
    w->now[p->first] = w->now[p->operands[0].value];
    w->floats[p->first] = w->floats[p->operands[0].value];
    return true;
}

/* The type of a number: one element of the type of the first value that the part reads; fp32 if those are not plain
 * numbers. */
static xir_status type_of_number(compose_walk *w, const compose_part *p, const xir_type **out) {
    const xir_type *first = NULL;
    for (uint32_t k = 0; k < p->n_operands && !first; k++) {
        const compose_operand *o = &p->operands[k];
        if (o->kind == OPERAND_VALUE && w->now[o->value]) first = w->now[o->value]->type;
        if (o->kind == OPERAND_REST && w->n_given >= w->c->n_inputs && w->given[w->c->n_inputs - 1])
            first = w->given[w->c->n_inputs - 1]->type;
    }
    const xir_type *element = first ? xir_type_element(first) : NULL;
    if (!element) return fail(w, XIR_E_MISSING, NULL, "the value whose type a number has is absent or has no type");
    if (!element_readable(element)) element = w->ctx->fp32;
    if (element != w->number_element) {   /* parts usually read numbers of one type */
        const xir_layout *layout = layout_default(w->pool, 0);
        w->number_type = layout ? type_tensor(w->pool, element, layout, (xir_i64s){ 0 }, (xir_refs){ 0 }) : NULL;
        w->number_element = w->number_type ? element : NULL;
    }
    *out = w->number_type;
    return *out ? XIR_OK : (w->fault.status = XIR_E_MEMORY);
}

static int64_t any_dim(const compose_term *term, const xir_type *type) {
    if (term->kind == COMPOSE_LETTER) return xir_type_axis_dim(type, term->letter, false);
    const int64_t rank = (int64_t)xir_type_rank(type), i = term->integer < 0 ? term->integer + rank : term->integer;
    return i < 0 || i >= rank ? XIR_UNKNOWN_DIM : xir_type_dim(type, i, false);
}

static int64_t dim_of(void *user, const compose_term *term) {
    const xir_value *v = ((const compose_walk *)user)->now[term->value];
    if (!v || object_what(v->type) != 1 + XIR_TYPE_TENSOR) return XIR_UNKNOWN_DIM;
    const xir_tensor_type *t = (const xir_tensor_type *)v->type;
    /* Most layouts have a letter for each dim. */
    const bool plain = term->kind == COMPOSE_LETTER && t->layout && t->layout->axes.size == t->shape.size;
    for (size_t i = 0; plain && i < t->shape.size && t->layout->axes.data[i] >= 'A'; i++)
        if (t->layout->axes.data[i] == term->letter) return t->shape.data[i] < 0 ? XIR_UNKNOWN_DIM : t->shape.data[i];
    return any_dim(term, v->type);
}

bool compose_number_of(compose_walk *w, const compose_term *term, compose_number *out) {
    return compose_compute(term, w->attrs, dim_of, w, out);
}

static xir_status operand_number(compose_walk *w, const compose_part *p, const compose_operand *o, xir_value **out) {
    compose_number v;
    const xir_type *type = NULL;
    const xir_status status = type_of_number(w, p, &type);
    if (status) return status;
    if (!compose_number_of(w, o->number, &v) || v.unknown)
        return fail(w, XIR_E_BOUNDS, NULL, "a number that it reads exceeds 64 bits, or depends on a dim that is not known");
    const double x = v.is_real ? v.real : (double)v.integer;
    const xir_type *element = xir_type_element(type);
    if (!v.is_real && !element_is_float(element_format_of(element)) && (x >= 0x1p63 || (int64_t)x != v.integer))
        return fail(w, XIR_E_TYPE, NULL, "the number %" PRId64 " has more than the 53 bits of a constant", v.integer);
    if (!element_has(element, x))
        return fail(w, XIR_E_TYPE, NULL, "the number %g does not fit the elements of the first value that it reads", x);
    *out = w->constant(w->user, type, x);
    return *out ? XIR_OK : (w->fault.status = XIR_E_MEMORY);
}

static xir_status gather(compose_walk *w, const compose_part *p) {
    xir_status status = XIR_OK;
    w->n_inputs = 0;
    for (uint32_t k = 0; k < p->n_operands && !status; k++) {
        const compose_operand *o = &p->operands[k];
        if (o->kind == OPERAND_REST) {
            for (size_t i = w->c->n_inputs - 1; i < w->n_given; i++) w->inputs[w->n_inputs++] = w->given[i];
            continue;
        }
        xir_value *v = NULL;
        if (o->kind == OPERAND_VALUE) v = w->now[o->value];
        if (o->kind == OPERAND_PARAMS) v = compose_params(w, o);
        if (o->kind == OPERAND_NUMBER) status = operand_number(w, p, o, &v);
        w->inputs[w->n_inputs++] = v;
    }
    return status;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static const xir_object *scalar(compose_walk *w, const xir_field *to, compose_number v) {
    const xir_class *real = w->ctx->types[CLASS_float_imm], *integer = w->ctx->types[CLASS_int_imm];
    const double x = v.is_real ? v.real : (double)v.integer;
    const xir_float_imm as_real = { .head.cls = real, .value = number_to_f32(x) };
    const xir_int_imm as_integer = { .head.cls = integer, .value = v.integer };
    const bool is_real = to->of == real || (to->of != integer && v.is_real);
    return pool_intern(w->pool, is_real ? &as_real.head : &as_integer.head);
}

static xir_status set_number(compose_walk *w, const compose_setting *s, void *out) {
    compose_number v;
    if (!compose_number_of(w, s->terms[0], &v) || v.unknown)
        return fail(w, XIR_E_BOUNDS, s->to, "%.*s exceeds 64 bits, is not whole, or depends on a dim that is not known",
                    CLIP(s->to->name));
    const double real = v.is_real ? v.real : (double)v.integer;
    const xir_object **item;
    switch (s->to->kind) {
    case XIR_KIND_BOOL: *(bool *)out = v.integer != 0; return XIR_OK;
    case XIR_KIND_REAL: *(double *)out = number_to_f32(real); return XIR_OK;
    case XIR_KIND_REF:
        *(const xir_object **)out = scalar(w, s->to, v);
        return *(const xir_object **)out ? XIR_OK : (w->fault.status = XIR_E_MEMORY);
    case XIR_KIND_REFS:
        item = compose_room(w, sizeof *item);
        if (item) *item = scalar(w, s->to, v);
        if (!item || !*item) return w->fault.status = XIR_E_MEMORY;
        *(xir_refs *)out = (xir_refs){ item, 1 };
        return XIR_OK;
    default: *(int64_t *)out = v.integer; return XIR_OK;
    }
}

/* Writes the dims at the beginning of a list that a value has in this order, and returns how many. */
static uint32_t set_letters(const compose_walk *w, const compose_setting *s, int64_t *items) {
    const xir_value *v = s->letters ? w->now[s->terms[0]->value] : NULL;
    if (!v || object_what(v->type) != 1 + XIR_TYPE_TENSOR) return 0;
    const xir_tensor_type *t = (const xir_tensor_type *)v->type;
    const size_t rank = t->layout && t->layout->axes.size == t->shape.size ? t->shape.size : 0;
    uint32_t i = 0;
    for (; i < s->letters && i < rank && t->layout->axes.data[i] == s->terms[i]->letter; i++)
        items[i] = t->shape.data[i] < 0 ? XIR_UNKNOWN_DIM : t->shape.data[i];
    return i;
}

/* Returns true for a term that is an attribute or a dim: an integer that is known. */
static inline bool is_leaf(compose_walk *w, const compose_term *term, int64_t *out) {
    if (term->kind == COMPOSE_LETTER) return (*out = dim_of(w, term)) >= 0;
    if (term->kind != COMPOSE_ATTR || term->field->kind != XIR_KIND_I64) return false;
    *out = *(const int64_t *)body_at(w->attrs, term->field);
    return true;
}

/* Computes an integer without reals and unknown dims. False if there are any, or if it has no result. */
static bool computed(compose_walk *w, const compose_term *term, int64_t *out) {
    int64_t a, b;
    if (!term->a) {
        if (term->kind == COMPOSE_INTEGER) return *out = term->integer, true;
        return term->kind == COMPOSE_DIM ? (*out = dim_of(w, term)) >= 0 : is_leaf(w, term, out);
    }
    if ((!is_leaf(w, term->a, &a) && !computed(w, term->a, &a)) ||
        (!is_leaf(w, term->b, &b) && !computed(w, term->b, &b))) return false;
    switch (term->kind) {
    case COMPOSE_SUM:        return add_i64(a, b, out);
    case COMPOSE_DIFFERENCE: return sub_i64(a, b, out);
    case COMPOSE_PRODUCT:    return mul_i64(a, b, out);
    default:
        if (b <= 0 || a % b) return false;
        *out = a / b;
        return true;
    }
}

bool compose_dims(compose_walk *w, const compose_setting *s, int64_t *out) {
    uint32_t i = set_letters(w, s, out);
    while (i < s->n && (is_leaf(w, s->terms[i], &out[i]) || computed(w, s->terms[i], &out[i]))) i++;
    return i == s->n;
}

static xir_status set_list(compose_walk *w, const compose_setting *s, void *out) {
    void *items = compose_room(w, (s->n + 1) * 8);
    if (!items) return w->fault.status = XIR_E_MEMORY;
    const bool integers = s->to->kind == XIR_KIND_I64S, done = integers && compose_dims(w, s, items);
    for (uint32_t i = 0; i < s->n && !done; i++) {
        compose_number v;
        if (!compose_number_of(w, s->terms[i], &v))
            return fail(w, XIR_E_BOUNDS, s->to, "item %u of %.*s exceeds 64 bits, or a quotient is not whole", i,
                        CLIP(s->to->name));
        if (integers) ((int64_t *)items)[i] = v.unknown ? -1 : v.integer;
        else if (s->to->kind == XIR_KIND_REALS)
            ((double *)items)[i] = number_to_f32(v.is_real ? v.real : (double)v.integer);
        else if (!(((const xir_object **)items)[i] = scalar(w, s->to, v))) return w->fault.status = XIR_E_MEMORY;
    }
    if (integers) *(xir_i64s *)out = (xir_i64s){ items, s->n };
    else if (s->to->kind == XIR_KIND_REALS) *(xir_reals *)out = (xir_reals){ items, s->n };
    else *(xir_refs *)out = (xir_refs){ items, s->n };
    return XIR_OK;
}

static xir_status set_asked(compose_walk *w, const compose_setting *s, void *out) {
    const xir_value *v = w->now[s->value];
    const xir_tensor_type *t = v ? xir_type_as_tensor(v->type) : NULL;
    if (!t)
        return fail(w, v ? XIR_E_TYPE : XIR_E_MISSING, s->to, "%%%.*s, which %.*s is taken from, is not a tensor",
                    CLIP(w->c->labels[s->value]), CLIP(s->to->name));
    *(const xir_object **)out = s->kind == SETS_LAYOUT ? (const xir_object *)t->layout
                              : s->kind == SETS_TYPE ? &t->head : (const xir_object *)t->element_dtype;
    return XIR_OK;
}

static size_t size_of(const xir_field *f) {
    switch (f->kind) {
    case XIR_KIND_BOOL: return sizeof(bool);
    case XIR_KIND_ENUM: return sizeof(int);
    case XIR_KIND_I64: case XIR_KIND_U64: case XIR_KIND_REAL: case XIR_KIND_REF: case XIR_KIND_PARAMS: return 8;
    default: return sizeof(xir_str);   /* lists, texts, maps: a pointer and a size */
    }
}
_Static_assert(sizeof(xir_str) == 16 && sizeof(xir_i64s) == 16 && sizeof(xir_map) == 16 && sizeof(xir_refs) == 16 &&
               sizeof(void *) == 8, "size_of says so");

/* The rows of the part bind what comes from the op. */
static xir_status check_field(compose_walk *w, const compose_part *p, const compose_setting *s, const void *body) {
    const xir_field *f = s->to;
    const void *at = body_at(body, f);
    if (f->kind == XIR_KIND_I64S || f->kind == XIR_KIND_REALS) return XIR_OK;   // without bounds
    if (f->kind == XIR_KIND_REF ? ref_is_good(f, *(const xir_object *const *)at) : number_is_good(f, at)) return XIR_OK;
    if (field_check(p->cls, f, body, XIR_STR(""), XIR_STR(""), NULL) == XIR_OK) return XIR_OK;
    xir_diags *found = xir_diags_new(w->ctx);
    if (!found) return w->fault.status = XIR_E_MEMORY;
    const xir_status status = field_check(p->cls, f, body, XIR_STR(""), XIR_STR(""), found);
    const xir_diag *d = status ? xir_diags_at(found, 0) : NULL;
    if (status) fail(w, status, f, "%.*s", d ? (int)d->message.size : 0, d ? d->message.data : "");
    xir_diags_free(found);
    return status;
}

xir_status compose_body(compose_walk *w, const compose_part *p) {
    w->body = p->body;
    w->used = 0;
    if (!p->n_settings) return XIR_OK;
    char *body = compose_room(w, p->cls->body_size);
    if (!body) return w->fault.status = XIR_E_MEMORY;
    memcpy(body, p->body, p->cls->body_size);
    w->body = body;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < p->n_settings && !status; i++) {
        const compose_setting *s = &p->settings[i];
        void *out = body + s->to->offset;
        switch (s->kind) {
        case SETS_COPY:   memcpy(out, body_at(w->attrs, s->from), size_of(s->to)); break;
        case SETS_NUMBER: status = set_number(w, s, out); break;
        case SETS_LIST:   status = set_list(w, s, out); break;
        default:         status = set_asked(w, s, out); break;
        }
        if (!status) status = check_field(w, p, s, body);
    }
    return status;
}

xir_status compose_enter(compose_walk *w, const compose_part *p) {
    w->fault.status = XIR_OK;
    const xir_status status = compose_body(w, p);
    return status ? status : gather(w, p);
}

/* ---- blame ------------------------------------------------------------------------------------------------------ */

static void blame_input(const composition *c, const compose_part *p, size_t i, char *out, size_t room) {
    const compose_operand *o = i < p->n_operands ? &p->operands[i] : NULL;
    const xir_field *f = NULL;
    if (o && o->kind == OPERAND_VALUE && c->blame[o->value] != UINT32_MAX)
        snprintf(out, room, "inputs/%u", c->blame[o->value]);
    if (!o && p->n_operands && p->operands[p->n_operands - 1].kind == OPERAND_REST)
        snprintf(out, room, "inputs/%zu", c->n_inputs - 1 + i - (p->n_operands - 1));
    if (o && o->kind == OPERAND_REST) snprintf(out, room, "inputs/%u", c->n_inputs - 1);
    if (o && o->kind == OPERAND_PARAMS) f = o->field;
    if (o && o->kind == OPERAND_NUMBER) f = attr_of(o->number);
    if (f) snprintf(out, room, "%.*s", CLIP(f->name));
}

static void find_blame(const composition *c, const compose_part *p, xir_str path, char *out, size_t room) {
    *out = '\0';
    while (path.size && *path.data == '/') path.data++, path.size--;
    if (path.size > 7 && memcmp(path.data, "inputs/", 7) == 0) {
        size_t i = 0;
        for (size_t k = 7; k < path.size && is_digit(path.data[k]) && i < 1000000; k++)
            i = i * 10 + (size_t)(path.data[k] - '0');
        blame_input(c, p, i, out, room);
        return;
    }
    xir_str name = path;
    for (size_t i = 0; i < path.size; i++)
        if (path.data[i] == '/') { name.size = i; break; }
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        const xir_field *f = s->from;
        if (!xir_str_equal(s->to->name, name)) continue;
        for (uint32_t k = 0; k < s->n && !f; k++) f = attr_of(s->terms[k]);
        if (f) snprintf(out, room, "%.*s", CLIP(f->name));
    }
}

/* The only input that the values of a part depend on. */
static void blame_values(const composition *c, const compose_part *p, char *out, size_t room) {
    uint32_t only = UINT32_MAX;
    for (uint32_t k = 0; k < p->n_operands; k++) {
        if (p->operands[k].kind != OPERAND_VALUE) continue;
        const uint32_t i = c->blame[p->operands[k].value];
        if (i == UINT32_MAX || (only != UINT32_MAX && only != i)) return;
        only = i;
    }
    if (only != UINT32_MAX) snprintf(out, room, "inputs/%u", only);
}

void compose_blame(const composition *c, const compose_part *p, xir_str path, char *out, size_t room) {
    find_blame(c, p, path, out, room);
    if (!*out) blame_values(c, p, out, room);
}
