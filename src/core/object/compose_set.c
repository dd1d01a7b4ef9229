/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads what is in braces after a part: "{*, alpha=leak, dims=[0, -1], layout=NHWC}". What is constant goes into the
 * body of the part, the rest becomes settings. */
#include "compose_reader.h"
#include <stdio.h>
#include "number.h"

enum { MOST_ITEMS = 256 };

typedef struct setting_list {
    compose_setting items[128];
    uint32_t        n;
    uint64_t        seen[4];    /* fields of the part that have been set */
} setting_list;

static bool add_setting(compose_reader *r, setting_list *l, const compose_setting *s) {
    if (l->n == sizeof l->items / sizeof *l->items)
        return compose_fail(r, r->at, XIR_E_LIMIT, "a part has too many attributes");
    l->items[l->n++] = *s;
    return true;
}

static bool see(compose_reader *r, const char *at, setting_list *l, const compose_part *p, const xir_field *f) {
    const size_t i = (size_t)(f - p->cls->fields);
    if (i >= 256) return compose_fail(r, at, XIR_E_LIMIT, "only the first 256 attributes of a part can be set");
    if (l->seen[i / 64] >> (i % 64) & 1)
        return compose_fail(r, at, XIR_E_EXISTS, "'%.*s' is given twice", CLIP(f->name));
    l->seen[i / 64] |= UINT64_C(1) << (i % 64);
    return true;
}

/* ---- attributes of the class ------------------------------------------------------------------------------------ */

static bool same_members(const xir_enum *a, const xir_enum *b) {
    if (a == b) return true;
    if (!a || !b || a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++)
        if (strcmp(a->names[i], b->names[i]) != 0) return false;
    return true;
}

/* Returns true if a copy of the one attribute fits the other. */
static bool can_copy(const xir_field *from, const xir_field *to) {
    if (from->kind != to->kind) return false;
    if (to->kind == XIR_KIND_ENUM) return same_members(from->members, to->members);
    if (to->kind == XIR_KIND_REF || to->kind == XIR_KIND_REFS)
        return !to->of || (from->of && xir_class_is_a(from->of, to->of));
    return true;
}

/* "*": the attributes that the class and the part have under one name. */
static bool set_all(compose_reader *r, const char *at, setting_list *l, const compose_part *p) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->cls->n_fields && i < 256; i++) {
        const xir_field *to = &p->cls->fields[i], *from = xir_class_field(r->cls, to->name);
        if (!from || l->seen[i / 64] >> (i % 64) & 1) continue;
        if (!can_copy(from, to))
            return compose_fail(r, at, XIR_E_TYPE, "attribute '%.*s' is of kind %s, but in %.*s of kind %s",
                                CLIP(from->name), xir_kind_name(from->kind), CLIP_TO(p->cls->key, 100),
                                xir_kind_name(to->kind));
        const compose_setting copy = { .kind = SETS_COPY, .to = to, .from = from };
        if (!see(r, at, l, p, to) || !add_setting(r, l, &copy)) return false;
        n++;
    }
    return n || compose_fail(r, at, XIR_E_INVALID, "the class has no attribute of %.*s", CLIP_TO(p->cls->key, 100));
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static const xir_object *scalar_of(compose_reader *r, const xir_field *to, compose_number v) {
    xir_context *ctx = r->ctx;
    const xir_class *real = ctx->types[CLASS_float_imm], *integer = ctx->types[CLASS_int_imm];
    const bool as_real = to->of == real || (to->of != integer && v.is_real);
    const xir_object *made = as_real
        ? (const xir_object *)xir_scalar_real(ctx, v.is_real ? v.real : (double)v.integer)
        : (const xir_object *)xir_scalar_int(ctx, v.integer);
    return made ? made : (compose_no_memory(r), NULL);
}

/* Returns true if numbers of this kind can be items or, with `whole`, values of the attribute. */
static bool takes_numbers(const compose_reader *r, const xir_field *to, bool list, bool real) {
    const xir_class *scalar = r->ctx->types[CLASS_scalar];
    const bool objects = to->of && xir_class_is_a(to->of, scalar) && to->of != r->ctx->types[CLASS_bool_imm] &&
                         !(real && to->of == r->ctx->types[CLASS_int_imm]);
    switch (to->kind) {
    case XIR_KIND_I64: case XIR_KIND_U64: case XIR_KIND_BOOL: return !list && !real;
    case XIR_KIND_REAL:  return !list;
    case XIR_KIND_REF:   return !list && objects;
    case XIR_KIND_I64S:  return list && !real;
    case XIR_KIND_REALS: return list;
    case XIR_KIND_REFS:  return objects;
    default:             return false;
    }
}

/* Stores a constant number. */
static bool store_number(compose_reader *r, const char *at, const compose_part *p, const xir_field *to, void *body,
                         compose_number v) {
    void *out = body_at(body, to);
    switch (to->kind) {
    case XIR_KIND_BOOL: *(bool *)out = v.integer != 0; break;
    case XIR_KIND_REAL: {
        const double x = v.is_real ? v.real : (double)v.integer;
        *(double *)out = number_to_f32(x);
        break;
    }
    case XIR_KIND_REF:  *(const xir_object **)out = scalar_of(r, to, v); break;
    case XIR_KIND_REFS: {
        const xir_object *one = scalar_of(r, to, v), **item = one ? compose_keep(r, &one, sizeof one) : NULL;
        *(xir_refs *)out = (xir_refs){ item, item != NULL };
        break;
    }
    default: *(int64_t *)out = v.integer; break;
    }
    if (r->status) return false;
    if (field_check(p->cls, to, body, XIR_STR(""), XIR_STR(""), NULL) == XIR_OK) return true;
    return compose_fail(r, at, XIR_E_BOUNDS, "the number is outside the bounds of '%.*s'", CLIP(to->name));
}

static bool store_list(compose_reader *r, const xir_field *to, void *body, const compose_term *const *terms,
                       const char *at, uint32_t n) {
    static const int64_t none = 0;
    void *out = body_at(body, to);
    void *items = compose_keep(r, NULL, (n + 1) * 8);
    for (uint32_t i = 0; i < n && items; i++) {
        compose_number v;
        if (!compose_compute(terms[i], NULL, NULL, NULL, &v))
            return compose_fail(r, at, XIR_E_BOUNDS, "number %u of the list exceeds 64 bits, or divides by 0", i);
        const double real = v.is_real ? v.real : (double)v.integer;
        if (to->kind == XIR_KIND_I64S) ((int64_t *)items)[i] = v.integer;
        else if (to->kind == XIR_KIND_REALS) ((double *)items)[i] = number_to_f32(real);
        else ((const xir_object **)items)[i] = scalar_of(r, to, v);
    }
    if (r->status) return false;
    if (to->kind == XIR_KIND_I64S) *(xir_i64s *)out = (xir_i64s){ n ? items : &none, n };
    else if (to->kind == XIR_KIND_REALS) *(xir_reals *)out = (xir_reals){ items, n };
    else *(xir_refs *)out = (xir_refs){ items, n };
    return true;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool no_such_kind(compose_reader *r, const char *at, const xir_field *to, const char *found) {
    return compose_fail(r, at, XIR_E_TYPE, "attribute '%.*s' is of kind %s, found %s", CLIP(to->name),
                        xir_kind_name(to->kind), found);
}

/* "@scales([axis=-1]0.5)": up to the comma or brace that ends the value. */
static bool read_form(compose_reader *r, const xir_field *to, void *body) {
    const char *at = r->at;
    int open = 0;
    while (r->at < r->end) {
        const char c = *r->at;
        if (c == '(' || c == '[' || c == '{') open++;
        if ((c == ')' || c == ']' || c == '}') && --open < 0) break;
        if (c == ',' && !open) break;
        r->at++;
    }
    form_error e = { 0 };
    xir_str text = { at, (size_t)(r->at - at) };
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\n')) text.size--;
    const xir_object *object = form_parse(&r->ctx->pool, text, &e);
    if (!object && e.status == XIR_E_MEMORY) return compose_no_memory(r);
    if (!object) return compose_fail(r, at + (e.at < text.size ? e.at : 0), XIR_E_SYNTAX, "%s", e.message);
    if (to->kind != XIR_KIND_REF || (to->of && !xir_class_is_a(object->cls, to->of)))
        return no_such_kind(r, at, to, "an object of another kind");
    *(const xir_object **)body_at(body, to) = object;
    return true;
}

static bool read_text(compose_reader *r, const xir_field *to, void *body) {
    const char *at = r->at++, *from = r->at;
    while (r->at < r->end && *r->at != '"') r->at++;
    if (r->at == r->end) return compose_fail(r, at, XIR_E_SYNTAX, "the text does not end");
    if (to->kind != XIR_KIND_TEXT) return no_such_kind(r, at, to, "a text");
    const xir_str text = { from, (size_t)(r->at++ - from) };
    *(xir_str *)body_at(body, to) = text;
    return true;
}

/* "[1, groups, %x.C / groups]". */
static bool read_list(compose_reader *r, const xir_field *to, void *body, setting_list *l) {
    const compose_term *terms[MOST_ITEMS];
    uint32_t n = 0;
    bool constant = true, real = false;
    const char *at = r->at++;
    if (!compose_take(r, ']')) {
        do {
            if (n == MOST_ITEMS) return compose_fail(r, at, XIR_E_LIMIT, "the list has more than %d items", MOST_ITEMS);
            if (!compose_read_term(r, &terms[n])) return false;
            constant &= terms[n]->is_constant;
            real |= terms[n++]->is_real;
        } while (compose_take(r, ','));
        if (!compose_need(r, ']')) return false;
    }
    if (!takes_numbers(r, to, true, real))
        return no_such_kind(r, at, to, real ? "a list of reals" : "a list of integers");
    if (constant) return store_list(r, to, body, terms, at, n);
    uint32_t letters = 0;
    while (letters < n && terms[letters]->kind == COMPOSE_LETTER && terms[letters]->value == terms[0]->value) letters++;
    const compose_setting s = { .kind = SETS_LIST, .to = to, .n = n, .letters = letters,
                                .terms = compose_keep(r, (const void *)terms, n * sizeof *terms) };
    return s.terms && add_setting(r, l, &s);
}

/* "layout(%x)", "type(%x)", "element(%x)". */
static bool read_asked(compose_reader *r, const char *at, const xir_field *to, compose_setting_kind kind,
                       setting_list *l) {
    static const class_number asked[] = {
        [SETS_LAYOUT] = CLASS_layout, [SETS_TYPE] = CLASS_tensor_type, [SETS_ELEMENT] = CLASS_type,
    };
    compose_setting s = { .kind = kind, .to = to };
    r->at++;
    if (!compose_value(r, &s.value) || !compose_need(r, ')')) return false;
    const xir_class *cls = r->ctx->types[asked[kind]];
    if (to->kind != XIR_KIND_REF || !to->of || (!xir_class_is_a(cls, to->of) && !xir_class_is_a(to->of, cls)))
        return no_such_kind(r, at, to, kind == SETS_LAYOUT ? "a layout" : "a type");
    return add_setting(r, l, &s);
}

/* A literal that is one word. */
static bool is_literal(compose_reader *r, const char *at, xir_str word, const xir_field *to, void *body, bool *done) {
    void *out = body_at(body, to);
    *done = true;
    if (to->kind == XIR_KIND_ENUM) {
        for (size_t i = 0; i < to->members->size; i++)
            if (xir_str_equal(word, xir_str_of(to->members->names[i]))) return *(int *)out = (int)i, true;
    }
    const bool yes = xir_str_equal(word, XIR_STR("true"));
    if (to->kind == XIR_KIND_BOOL && (yes || xir_str_equal(word, XIR_STR("false")))) return *(bool *)out = yes, true;
    if (xir_str_equal(word, XIR_STR("null"))) {
        if (!(to->flags & XIR_FIELD_OPTIONAL)) return compose_fail(r, at, XIR_E_TYPE, "'%.*s' cannot be null",
                                                                  CLIP(to->name));
        return true;   /* the default */
    }
    if (to->kind == XIR_KIND_REF && to->of == r->ctx->types[CLASS_layout] && !xir_class_field(r->cls, word)) {
        char text[256];
        const int n = snprintf(text, sizeof text, "@layout(%.*s)", (int)word.size, word.data);
        form_error e = { 0 };
        const xir_object *layout = word.size < 200 ? form_parse(&r->ctx->pool, (xir_str){ text, (size_t)n }, &e) : NULL;
        if (!layout && e.status == XIR_E_MEMORY) return compose_no_memory(r);
        if (!layout)
            return compose_fail(r, at, XIR_E_SYNTAX, "'%.*s' is neither an attribute nor a layout", CLIP(word));
        return *(const xir_object **)out = layout, true;
    }
    return *done = false;
}

static bool read_number(compose_reader *r, const char *at, const compose_part *p, const xir_field *to, void *body,
                        setting_list *l) {
    const compose_term *term;
    compose_number v;
    if (!compose_read_term(r, &term)) return false;
    if (!takes_numbers(r, to, false, term->is_real))
        return no_such_kind(r, at, to, term->is_real ? "a real" : "an integer");
    if (term->is_constant) {
        if (compose_compute(term, NULL, NULL, NULL, &v)) return store_number(r, at, p, to, body, v);
        return compose_fail(r, at, XIR_E_BOUNDS, "the number exceeds 64 bits, or divides by 0");
    }
    const compose_setting s = { .kind = SETS_NUMBER, .to = to, .n = 1,
                                .terms = compose_keep(r, (const void *)&term, sizeof term) };
    return s.terms && add_setting(r, l, &s);
}

/* Reads what follows the '='. */
static bool read_setting(compose_reader *r, const compose_part *p, const xir_field *to, void *body, setting_list *l) {
    compose_skip(r);
    const char *at = r->at;
    if (to->kind == XIR_KIND_OPS) return no_such_kind(r, at, to, "a value");
    if (compose_next_is(r, '@')) return read_form(r, to, body);
    if (compose_next_is(r, '"')) return read_text(r, to, body);
    if (compose_next_is(r, '[')) return read_list(r, to, body, l);
    const xir_str word = compose_word(r, false);
    if (compose_next_is(r, '(')) {
        if (xir_str_equal(word, XIR_STR("layout")))  return read_asked(r, at, to, SETS_LAYOUT, l);
        if (xir_str_equal(word, XIR_STR("type")))    return read_asked(r, at, to, SETS_TYPE, l);
        if (xir_str_equal(word, XIR_STR("element"))) return read_asked(r, at, to, SETS_ELEMENT, l);
    }
    bool done = false;
    if (word.size && (is_literal(r, at, word, to, body, &done) || done)) return !r->status;
    const xir_field *from = word.size ? xir_class_field(r->cls, word) : NULL;
    const bool alone = compose_next_is(r, ',') || compose_next_is(r, '}');
    if (from && alone && can_copy(from, to))
        return add_setting(r, l, &(compose_setting){ .kind = SETS_COPY, .to = to, .from = from });
    if (from && from->kind != XIR_KIND_I64 && from->kind != XIR_KIND_U64 && from->kind != XIR_KIND_REAL &&
        from->kind != XIR_KIND_BOOL)
        return compose_fail(r, at, XIR_E_TYPE, "attribute '%.*s' is of kind %s, but '%.*s' of %.*s of kind %s",
                            CLIP(from->name), xir_kind_name(from->kind), CLIP(to->name), CLIP_TO(p->cls->key, 100),
                            xir_kind_name(to->kind));
    r->at = at;
    return read_number(r, at, p, to, body, l);
}

static bool read_one(compose_reader *r, compose_part *p, void *body, setting_list *l) {
    compose_skip(r);
    const char *at = r->at;
    if (compose_take(r, '*')) return set_all(r, at, l, p);
    const xir_str word = compose_word(r, false);
    if (!word.size) return compose_expected(r, "the name of an attribute, or '*'");
    const xir_field *to = xir_class_field(p->cls, word);
    if (!to) {
        const xir_str near = class_suggest(p->cls, word);
        return compose_fail(r, at, XIR_E_UNKNOWN, "%.*s has no attribute '%.*s'%s%.*s%s", CLIP_TO(p->cls->key, 100),
                            CLIP(word), near.size ? ": perhaps '" : "", CLIP(near), near.size ? "' is meant" : "");
    }
    return see(r, at, l, p, to) && compose_need(r, '=') && read_setting(r, p, to, body, l);
}

bool compose_read_settings(compose_reader *r, compose_part *part, void *body) {
    setting_list l;
    const char *at = r->at;
    l.n = 0;
    memset(l.seen, 0, sizeof l.seen);
    if (compose_take(r, '{') && !compose_take(r, '}')) {
        do {
            if (!read_one(r, part, body, &l)) return false;
        } while (compose_take(r, ','));
        if (!compose_need(r, '}')) return false;
    }
    for (uint32_t i = 0; i < part->cls->n_fields && i < 256; i++) {
        const xir_field *f = &part->cls->fields[i];
        if (f->flags & XIR_FIELD_REQUIRED && !(l.seen[i / 64] >> (i % 64) & 1))
            return compose_fail(r, at, XIR_E_MISSING, "%.*s needs its attribute '%.*s'", CLIP_TO(part->cls->key, 100),
                                CLIP(f->name));
    }
    part->n_settings = l.n;
    part->settings = compose_keep(r, l.items, l.n * sizeof *l.items);
    return part->settings;
}
