/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Expressions with something else for their symbols: a number, another interval, the symbol of another pool.
 * Polynomials are walked atom by atom; their weight bounds the walk. */
#include "symbol_table.h"

/* ---- other expressions for symbols -------------------------------------------------------------------------- */

typedef struct remaking {
    object_pool       *to;
    const object_pool *from;
    expr_choice       *choose;
    void              *user;
    const poly        *known;    /* at least 0 for the values that matter; NULL: nothing is known */
} remaking;

static void remake(const remaking *r, expr e, poly *out);

/* Returns true if a is at least b where `known` is at least 0. */
static bool follows(const remaking *r, const poly *a, const poly *b) {
    poly rest;
    if (!r->known) return false;
    poly_add(r->to->symbols, &rest, a, -1, b);
    poly_add(r->to->symbols, &rest, &rest, -1, r->known);
    return !rest.unknown && poly_least(r->to, &rest) >= 0;
}

static void remake_extreme(const remaking *r, bool max, poly *out, const poly *other) {
    if (follows(r, out, other)) {
        if (!max) *out = *other;
    } else if (follows(r, other, out)) {
        if (max) *out = *other;
    } else {
        poly_extreme(r->to, out, max, out, other);
    }
}

static void remake_atom(const remaking *r, uint32_t i, poly *out) {
    const atom a = r->from->symbols->atoms[i];   // a copy: the table may grow, if it is that of `to`
    if (a.kind == ATOM_SYMBOL) {
        poly_load(r->to, r->choose(r->user, r->from, a.number), out);
        return;
    }
    remake(r, a.a, out);
    if (a.kind == ATOM_FLOOR) {
        int64_t number;
        if (poly_is_number(out, &number)) poly_number(out, floor_div_i64(number, a.divisor));
        else poly_floor(r->to, out, out, a.divisor);
        return;
    }
    poly other;
    remake(r, a.b, &other);
    remake_extreme(r, a.kind == ATOM_MAX, out, &other);
}

static void remake(const remaking *r, expr e, poly *out) {
    poly sum = { .unknown = false };
    const poly_record *record = record_of(r->from->symbols, e);
    if (!record) {
        poly_load(r->to, expr_is_symbolic(e) ? EXPR_UNKNOWN : e, out);
        return;
    }
    for (uint32_t i = 0; i < record->n && !sum.unknown; i++) {
        const poly_term *term = &record->terms[i];
        poly product, part;
        poly_number(&product, term->factor);
        for (uint32_t k = 0; k < term->n && !product.unknown; k++) {
            remake_atom(r, term->atoms[k], &part);
            poly_mul(r->to->symbols, &product, &product, &part);
        }
        poly_add(r->to->symbols, &sum, &sum, 1, &product);
    }
    *out = sum;
}

expr expr_remake(object_pool *to, const object_pool *from, expr e, expr_choice *choose, void *user) {
    if (!expr_is_symbolic(e)) return e;
    poly p;
    remake(&(remaking){ to, from, choose, user, NULL }, e, &p);
    return poly_store(to, &p);
}

static expr same_symbol(void *user, const object_pool *from, size_t i) {
    (void)user;
    return symbol_find(from, symbol_at(from, i)->name);
}

expr expr_given(object_pool *pool, expr e, expr more, expr less) {
    poly known, q, p;
    if (!expr_is_symbolic(e) || more == EXPR_UNKNOWN || less == EXPR_UNKNOWN) return e;
    poly_load(pool, more, &known);
    poly_load(pool, less, &q);
    poly_add(pool->symbols, &known, &known, -1, &q);
    if (known.unknown) return e;
    remake(&(remaking){ pool, pool, same_symbol, NULL, &known }, e, &p);
    expr made = poly_store(pool, &p);
    return made == EXPR_UNKNOWN ? e : made;
}

static expr same_name(void *user, const object_pool *from, size_t i) {
    object_pool *to = user;
    const symbol *s = symbol_at(from, i);
    expr e = symbol_find(to, s->name);
    if (e == EXPR_UNKNOWN) {
        const xir_status status = symbol_declare(to, s->name, s->least, s->most, &e, NULL);
        if (status == XIR_OK) return e;
        symbol_table *t = status == XIR_E_MEMORY ? symbol_table_of(to) : NULL;
        if (t) t->no_memory = true;
        return EXPR_UNKNOWN;
    }
    int64_t least, most;
    expr_range(to, e, &least, &most);
    return least >= s->least && most <= s->most ? e : EXPR_UNKNOWN;
}

expr expr_translate(object_pool *to, const object_pool *from, expr e) {
    return to == from ? e : expr_remake(to, from, e, same_name, to);
}

/* ---- numbers for symbols ------------------------------------------------------------------------------------ */

typedef struct values { const int64_t *v; size_t n; } values;

static bool value_of(const object_pool *pool, expr e, const values *of, int64_t *out);

static bool value_of_atom(const object_pool *pool, const atom *a, const values *of, int64_t *out) {
    int64_t x, y;
    if (a->kind == ATOM_SYMBOL) {
        *out = a->number < of->n ? of->v[a->number] : -1;
        return *out >= 0;
    }
    if (!value_of(pool, a->a, of, &x)) return false;
    *out = floor_div_i64(x, a->kind == ATOM_FLOOR ? a->divisor : 1);
    if (a->kind == ATOM_FLOOR) return true;
    if (!value_of(pool, a->b, of, &y)) return false;
    *out = (x > y) == (a->kind == ATOM_MAX) ? x : y;
    return true;
}

static bool value_of(const object_pool *pool, expr e, const values *of, int64_t *out) {
    const poly_record *record = record_of(pool->symbols, e);
    *out = expr_is_number(e) ? e : 0;
    for (uint32_t i = 0; record && i < record->n; i++) {
        const poly_term *term = &record->terms[i];
        int64_t product = term->factor, v;
        for (uint32_t k = 0; k < term->n; k++) {
            if (!value_of_atom(pool, &pool->symbols->atoms[term->atoms[k]], of, &v) || !mul_i64(product, v, &product)) {
                return false;
            }
        }
        if (!add_i64(*out, product, out)) return false;
    }
    return record || expr_is_number(e);
}

bool expr_evaluate(const object_pool *pool, expr e, const int64_t *v, size_t n, int64_t *out) {
    return value_of(pool_with(pool, e), e, &(values){ v, n }, out);
}

/* ---- which symbols ------------------------------------------------------------------------------------------- */

bool expr_walk(const object_pool *pool, expr e, bool (*visit)(void *user, size_t symbol), void *user) {
    pool = pool_with(pool, e);
    const poly_record *record = record_of(pool->symbols, e);
    for (uint32_t i = 0; record && i < record->n; i++) {
        for (uint32_t k = 0; k < record->terms[i].n; k++) {
            const atom *a = &pool->symbols->atoms[record->terms[i].atoms[k]];
            if (a->kind == ATOM_SYMBOL ? !visit(user, a->number)
                : !expr_walk(pool, a->a, visit, user) || !expr_walk(pool, a->b, visit, user)) return false;
        }
    }
    return true;
}
