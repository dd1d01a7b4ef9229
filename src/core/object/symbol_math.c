/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arithmetic of polynomials. Every result is canonical: terms in order, none with the factor 0, parts of floors
 * reduced. What would overflow or have too many terms is unknown. */
#include "symbol_table.h"

/* ---- sums and products ------------------------------------------------------------------------------------- */

void poly_atom(poly *out, uint32_t i) {
    out->unknown = false;
    out->n = 1;
    out->terms[0] = (poly_term){ .factor = 1, .n = 1, .atoms = { i } };
}

bool poly_is_number(const poly *p, int64_t *out) {
    *out = p->n ? p->terms[0].factor : 0;
    return !p->unknown && (p->n == 0 || (p->n == 1 && p->terms[0].n == 0));
}

int64_t poly_constant(const poly *p) {
    return p->n && p->terms[p->n - 1].n == 0 ? p->terms[p->n - 1].factor : 0;
}

static bool fits(int64_t factor) { return factor > -POLY_FACTOR && factor < POLY_FACTOR; }

/* Appends the term, whose place is the end. */
static void append(const symbol_table *t, poly *p, const poly_term *term, int64_t factor) {
    if (factor == 0) return;
    if (!terms_fit(t, p->n + 1) || !fits(factor)) {
        p->unknown = true;
        return;
    }
    p->terms[p->n] = *term;
    p->terms[p->n++].factor = factor;
}

void poly_add(const symbol_table *t, poly *out, const poly *a, int64_t factor, const poly *b) {
    poly sum = { .unknown = a->unknown || b->unknown };
    uint32_t i = 0, k = 0;
    while (!sum.unknown && (i < a->n || k < b->n)) {
        int order = i == a->n ? 1 : k == b->n ? -1 : term_order(t, &a->terms[i], &b->terms[k]);
        int64_t product = 0, total = order <= 0 ? a->terms[i].factor : 0;
        if (order >= 0 && (!mul_i64(factor, b->terms[k].factor, &product) || !add_i64(total, product, &total))) {
            sum.unknown = true;
            break;
        }
        append(t, &sum, order <= 0 ? &a->terms[i] : &b->terms[k], total);
        i += order <= 0;
        k += order >= 0;
    }
    *out = sum;
}

/* The atoms of two terms together, in order; false past the degree. */
static bool join_atoms(const symbol_table *t, const poly_term *a, const poly_term *b, poly_term *out) {
    uint32_t i = 0, k = 0;
    if (!degree_fits(t, a->n + b->n)) return false;
    out->n = 0;
    while (i < a->n || k < b->n) {
        bool first = k == b->n;
        if (i < a->n && k < b->n) {
            poly_term x = { .n = 1, .atoms = { a->atoms[i] } }, y = { .n = 1, .atoms = { b->atoms[k] } };
            first = term_order(t, &x, &y) <= 0;
        }
        out->atoms[out->n++] = first ? a->atoms[i++] : b->atoms[k++];
    }
    return true;
}

void poly_mul(const symbol_table *t, poly *out, const poly *a, const poly *b) {
    poly sum = { .unknown = a->unknown || b->unknown };
    for (uint32_t i = 0; i < a->n && !sum.unknown; i++) {
        poly row = { .unknown = false };   // one term times b is in order: the order is one of monomials
        for (uint32_t k = 0; k < b->n && !row.unknown; k++) {
            poly_term term = { 0 };
            int64_t factor;
            if (!mul_i64(a->terms[i].factor, b->terms[k].factor, &factor) ||
                !join_atoms(t, &a->terms[i], &b->terms[k], &term)) row.unknown = true;
            else append(t, &row, &term, factor);
        }
        poly_add(t, &sum, &sum, 1, &row);
    }
    *out = sum;
}

/* ---- quotients --------------------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b) {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t poly_common(const poly *p, bool all) {
    int64_t common = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (all || p->terms[i].n) common = gcd(common, p->terms[i].factor);
    }
    return common;
}

static void unknown(poly *out) {
    out->unknown = true;
    out->n = 0;
}

/* If p is floor(q/d) + k: floor(p/c) is floor((q + d*k)/(d*c)). */
static bool is_floor(const symbol_table *t, const poly *p, const atom **out) {
    if (p->n == 0 || p->n > 2 || p->terms[0].n != 1 || p->terms[0].factor != 1) return false;
    if (p->n == 2 && p->terms[1].n) return false;
    *out = &t->atoms[p->terms[0].atoms[0]];
    return (*out)->kind == ATOM_FLOOR;
}

/* floor(p/c), where the factors of p are from 0 to c - 1. */
static void reduced_floor(object_pool *pool, poly *out, poly *p, int64_t c) {
    int64_t number, common, product;
    const atom *inner;
    if (poly_is_number(p, &number)) {
        poly_number(out, floor_div_i64(number, c));
        return;
    }
    common = gcd(poly_common(p, false), c);
    if (common > 1) {   // floor((g*q + k)/(g*d)) is floor((q + floor(k/g))/d)
        poly rest = { .unknown = false };
        for (uint32_t i = 0; i < p->n; i++) {
            append(pool->symbols, &rest, &p->terms[i], floor_div_i64(p->terms[i].factor, common));
        }
        *p = rest;
        c /= common;
        if (c == 1) {
            *out = *p;
            return;
        }
    }
    if (is_floor(pool->symbols, p, &inner) && mul_i64(inner->divisor, c, &product) && fits(product)) {
        poly q, k;
        poly_load(pool, inner->a, &q);
        poly_number(&k, poly_constant(p));
        poly_add(pool->symbols, &q, &q, inner->divisor, &k);
        if (!q.unknown) {
            poly_floor(pool, out, &q, product);
            return;
        }
    }
    poly minus = { .unknown = false };
    poly_add(pool->symbols, &minus, &minus, -1, p);
    int64_t least = poly_least(pool, p), most = poly_least(pool, &minus);
    if (least > INT64_MIN && most > INT64_MIN && floor_div_i64(least, c) == floor_div_i64(-most, c)) {
        poly_number(out, floor_div_i64(least, c));
        return;
    }
    uint32_t i;
    atom like = { .kind = ATOM_FLOOR, .divisor = c, .a = poly_store(pool, p) };
    if (like.a == EXPR_UNKNOWN || !atom_of(pool, &like, &i)) unknown(out);
    else poly_atom(out, i);
}

void poly_floor(object_pool *pool, poly *out, const poly *a, int64_t c) {
    poly whole = { .unknown = a->unknown || c < 1 }, rest = { .unknown = false }, part;
    for (uint32_t i = 0; i < a->n && !whole.unknown; i++) {
        int64_t quotient = floor_div_i64(a->terms[i].factor, c);
        append(pool->symbols, &whole, &a->terms[i], quotient);
        append(pool->symbols, &rest, &a->terms[i], a->terms[i].factor - quotient * c);
    }
    if (whole.unknown || !pool->symbols) {
        unknown(out);
        return;
    }
    reduced_floor(pool, &part, &rest, c);
    poly_add(pool->symbols, out, &whole, 1, &part);
}

/* a / b for terms; false if b does not divide a. */
static bool divide_term(const poly_term *a, const poly_term *b, poly_term *out) {
    uint32_t k = 0;
    if (a->factor % b->factor || a->n < b->n) return false;
    *out = (poly_term){ .factor = a->factor / b->factor };
    for (uint32_t i = 0; i < a->n; i++) {
        if (k < b->n && a->atoms[i] == b->atoms[k]) k++;
        else out->atoms[out->n++] = a->atoms[i];
    }
    return k == b->n;
}

/* The one q with q * b = a; unknown if b does not divide a. The division of the school, by leading terms: each step
 * removes the leading term of the rest, so it ends. */
static void poly_exact(const symbol_table *t, poly *out, const poly *a, const poly *b) {
    poly rest = *a, quotient = { .unknown = a->unknown || b->unknown || b->n == 0 };
    while (rest.n && !rest.unknown && !quotient.unknown) {
        poly step = { .n = 1 }, product;
        if (!divide_term(&rest.terms[0], &b->terms[0], &step.terms[0])) {
            quotient.unknown = true;
            break;
        }
        append(t, &quotient, &step.terms[0], step.terms[0].factor);
        poly_mul(t, &product, &step, b);
        poly_add(t, &rest, &rest, -1, &product);
    }
    quotient.unknown |= rest.unknown;
    *out = quotient;
}

/* ---- the greater and the less ------------------------------------------------------------------------------ */

static bool poly_at_least(object_pool *pool, const poly *a, const poly *b) {
    poly less;
    poly_add(pool->symbols, &less, a, -1, b);
    return !less.unknown && poly_least(pool, &less) >= 0;
}

/* Returns true if a wins over b for all values. */
static bool wins(object_pool *pool, bool max, const poly *a, const poly *b) {
    return max ? poly_at_least(pool, a, b) : poly_at_least(pool, b, a);
}

/* Returns true if p is one atom of the kind. */
static bool is_extreme(const symbol_table *t, const poly *p, bool max, expr parts[2]) {
    if (p->n != 1 || p->terms[0].n != 1 || p->terms[0].factor != 1) return false;
    const atom *a = &t->atoms[p->terms[0].atoms[0]];
    parts[0] = a->a;
    parts[1] = a->b;
    return a->kind == (max ? ATOM_MAX : ATOM_MIN);
}

/* max(max(x, y), b), where b wins over one of x and y: what is left without it. */
static bool absorb(object_pool *pool, poly *out, bool max, const poly *a, const poly *b) {
    expr parts[2];
    if (!is_extreme(pool->symbols, a, max, parts)) return false;
    for (int i = 0; i < 2; i++) {
        poly part;
        poly_load(pool, parts[i], &part);
        if (wins(pool, max, &part, b)) {
            *out = *a;
            return true;
        }
        if (wins(pool, max, b, &part)) {
            poly_load(pool, parts[1 - i], &part);
            poly_extreme(pool, out, max, &part, b);
            return true;
        }
    }
    return false;
}

void poly_extreme(object_pool *pool, poly *out, bool max, const poly *a, const poly *b) {
    uint32_t i;
    poly result;
    if (a->unknown || b->unknown) {
        unknown(out);
        return;
    }
    if (wins(pool, max, a, b)) result = *a;
    else if (wins(pool, max, b, a)) result = *b;
    else if (!absorb(pool, &result, max, a, b) && !absorb(pool, &result, max, b, a)) {
        expr x = poly_store(pool, a), y = poly_store(pool, b);
        if (x == EXPR_UNKNOWN || y == EXPR_UNKNOWN) {
            unknown(out);
            return;
        }
        bool swap = expr_order(pool->symbols, x, y) > 0;
        atom like = { .kind = max ? ATOM_MAX : ATOM_MIN, .a = swap ? y : x, .b = swap ? x : y };
        if (atom_of(pool, &like, &i)) poly_atom(&result, i);
        else unknown(&result);
    }
    *out = result;
}

/* ---- expressions ------------------------------------------------------------------------------------------- */

static bool numbers(expr a, expr b) { return expr_is_number(a) && expr_is_number(b); }
static bool any_unknown(expr a, expr b) { return a == EXPR_UNKNOWN || b == EXPR_UNKNOWN; }
/* A number of 64 bits that is too small would look like a handle. */
static expr number_or_unknown(int64_t v) { return v >= EXPR_LEAST ? v : EXPR_UNKNOWN; }

static void load_both(const object_pool *pool, expr a, expr b, poly *p, poly *q) {
    poly_load(pool, a, p);
    poly_load(pool, b, q);
}

static expr add_scaled(object_pool *pool, expr a, int64_t factor, expr b) {
    poly p, q;
    load_both(pool, a, b, &p, &q);
    poly_add(pool->symbols, &p, &p, factor, &q);
    return poly_store(pool, &p);
}

expr expr_add(object_pool *pool, expr a, expr b) {
    int64_t v = 0;
    if (any_unknown(a, b)) return EXPR_UNKNOWN;
    if (!numbers(a, b)) return add_scaled(pool, a, 1, b);
    return add_i64(a, b, &v) ? number_or_unknown(v) : EXPR_UNKNOWN;
}

expr expr_sub(object_pool *pool, expr a, expr b) {
    int64_t v = 0;
    if (any_unknown(a, b)) return EXPR_UNKNOWN;
    if (!numbers(a, b)) return add_scaled(pool, a, -1, b);
    return sub_i64(a, b, &v) ? number_or_unknown(v) : EXPR_UNKNOWN;
}

expr expr_mul(object_pool *pool, expr a, expr b) {
    int64_t v = 0;
    poly p, q;
    if (a == 0 || b == 0) return 0;
    if (any_unknown(a, b)) return EXPR_UNKNOWN;
    if (numbers(a, b)) return mul_i64(a, b, &v) ? number_or_unknown(v) : EXPR_UNKNOWN;
    load_both(pool, a, b, &p, &q);
    poly_mul(pool->symbols, &p, &p, &q);
    return poly_store(pool, &p);
}

static expr extreme(object_pool *pool, bool max, expr a, expr b) {
    poly p, q;
    if (any_unknown(a, b)) return EXPR_UNKNOWN;
    if (a == b) return a;
    if (numbers(a, b)) return (a > b) == max ? a : b;
    load_both(pool, a, b, &p, &q);
    poly_extreme(pool, &p, max, &p, &q);
    return poly_store(pool, &p);
}

expr expr_max(object_pool *pool, expr a, expr b) { return extreme(pool, true, a, b); }
expr expr_min(object_pool *pool, expr a, expr b) { return extreme(pool, false, a, b); }

expr expr_exact_div(object_pool *pool, expr a, expr b) {
    poly p, q;
    if (any_unknown(a, b) || b == 0) return EXPR_UNKNOWN;
    if (numbers(a, b)) return a % b ? EXPR_UNKNOWN : b == -1 ? expr_sub(pool, 0, a) : a / b;
    load_both(pool, a, b, &p, &q);
    poly_exact(pool->symbols, &p, &p, &q);
    return poly_store(pool, &p);
}

expr expr_floor_div(object_pool *pool, expr a, expr b) {
    poly p;
    if (any_unknown(a, b) || b == 0) return EXPR_UNKNOWN;
    if (!expr_is_number(b) || b < 1) return expr_exact_div(pool, a, b);
    if (expr_is_number(a)) return floor_div_i64(a, b);
    poly_load(pool, a, &p);
    poly_floor(pool, &p, &p, b);
    return poly_store(pool, &p);
}

expr expr_ceil_div(object_pool *pool, expr a, expr b) {
    if (any_unknown(a, b) || b == 0) return EXPR_UNKNOWN;
    if (!expr_is_number(b) || b < 1) return expr_exact_div(pool, a, b);
    if (expr_is_number(a)) return floor_div_i64(a, b) + (a % b != 0);
    return expr_floor_div(pool, expr_add(pool, a, b - 1), b);
}
