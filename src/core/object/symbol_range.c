/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values that an expression may have, and their consequences. Bounds are sums over terms; an atom that is not a
 * symbol is also replaced by what bounds it (n - 4*floor(n/4) is from 0 to 3), for a few steps.
 *
 * INT64_MIN as a lower bound and INT64_MAX as an upper one mean unbounded. Saturated bounds stay true. */
#include "symbol_table.h"

static bool is_infinite(int64_t v) { return v == INT64_MIN || v == INT64_MAX; }

static int64_t mul_bound(int64_t a, int64_t b) {
    int64_t v;
    if (a == 0 || b == 0) return 0;
    if (!is_infinite(a) && !is_infinite(b) && mul_i64(a, b, &v)) return v;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

typedef struct interval { int64_t least, most; } interval;

static interval mul_intervals(interval a, interval b) {
    const int64_t v[4] = { mul_bound(a.least, b.least), mul_bound(a.least, b.most), mul_bound(a.most, b.least),
                           mul_bound(a.most, b.most) };
    interval out = { v[0], v[0] };
    for (int i = 1; i < 4; i++) {
        if (v[i] < out.least) out.least = v[i];
        if (v[i] > out.most) out.most = v[i];
    }
    return out;
}

static interval term_interval(const object_pool *pool, const poly_term *term) {
    interval out = { term->factor, term->factor };
    for (uint32_t k = 0; k < term->n; k++) {
        const symbol *range = atom_range(pool, term->atoms[k]);
        out = mul_intervals(out, (interval){ range->least, range->most });
    }
    return out;
}

/* From the terms alone. */
static int64_t plain_least(const object_pool *pool, const poly *p) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t least = term_interval(pool, &p->terms[i]).least;
        if (least == INT64_MIN) return INT64_MIN;
        if (!add_i64(sum, least, &sum)) {
            if (least < 0) return INT64_MIN;
            sum = INT64_MAX;
        }
    }
    return sum;
}

/* ---- replacing atoms --------------------------------------------------------------------------------------- */

/* A search stops after so many polynomials: bounds then are what has been found. */
enum { STEPS = 48, DEEP = 3 };

static int64_t search_least(const object_pool *pool, const poly *p, int depth, int *steps);

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

/* The bound of factor * atom + rest, where the atom's term is replaced by factor * part. */
static int64_t with_part(const object_pool *pool, const poly *rest, int64_t factor, expr part, int depth, int *steps) {
    poly p;
    poly_load(pool, part, &p);
    poly_add(pool->symbols, &p, rest, factor, &p);
    return p.unknown ? INT64_MIN : search_least(pool, &p, depth - 1, steps);
}

/* c*p is at least c*rest + factor*(part - slack) for one floor(part/c). */
static int64_t with_floor(const object_pool *pool, const poly *rest, int64_t factor, const atom *a, int depth,
                          int *steps) {
    poly p, slack, zero = { .unknown = false };
    poly_load(pool, a->a, &p);
    poly_number(&slack, factor > 0 ? a->divisor - 1 : 0);
    poly_add(pool->symbols, &p, &p, -1, &slack);
    poly_add(pool->symbols, &p, &zero, factor, &p);
    poly_add(pool->symbols, &p, &p, a->divisor, rest);
    int64_t least = p.unknown ? INT64_MIN : search_least(pool, &p, depth - 1, steps);
    return least == INT64_MIN ? INT64_MIN : -floor_div_i64(-least, a->divisor);   // rounded up
}

static int64_t without_atom(const object_pool *pool, const poly *p, uint32_t i, int depth, int *steps) {
    const poly_term *term = &p->terms[i];
    const atom *a = &pool->symbols->atoms[term->atoms[0]];
    poly rest = *p;
    rest.n--;
    memmove(&rest.terms[i], &rest.terms[i + 1], (rest.n - i) * sizeof rest.terms[0]);
    if (a->kind == ATOM_FLOOR) return with_floor(pool, &rest, term->factor, a, depth, steps);
    int64_t x = with_part(pool, &rest, term->factor, a->a, depth, steps);
    int64_t y = with_part(pool, &rest, term->factor, a->b, depth, steps);
    /* The atom is at least, or at most, each of its parts: both bounds hold. Otherwise it is one of them. */
    bool both = (a->kind == ATOM_MAX) == (term->factor > 0);
    return both ? greater(x, y) : less(x, y);
}

static int64_t search_least(const object_pool *pool, const poly *p, int depth, int *steps) {
    int64_t best = plain_least(pool, p);
    for (uint32_t i = 0; i < p->n && depth > 0; i++) {
        const poly_term *term = &p->terms[i];
        if (term->n != 1 || pool->symbols->atoms[term->atoms[0]].kind == ATOM_SYMBOL) continue;
        if (p->n == 1 || --*steps < 0) break;
        best = greater(best, without_atom(pool, p, i, depth, steps));
    }
    return best;
}

int64_t poly_least(const object_pool *pool, const poly *p) {
    int steps = STEPS;
    return p->unknown ? INT64_MIN : search_least(pool, p, DEEP, &steps);
}

/* ---- expressions ------------------------------------------------------------------------------------------- */

void expr_range(const object_pool *pool, expr e, int64_t *least, int64_t *most) {
    poly p, minus = { .unknown = false };
    poly_load(pool, e, &p);
    *least = INT64_MIN;
    *most = INT64_MAX;
    if (expr_is_number(e)) *least = *most = e;
    if (p.unknown || expr_is_number(e)) return;
    poly_add(pool->symbols, &minus, &minus, -1, &p);
    *least = poly_least(pool, &p);
    int64_t negative = poly_least(pool, &minus);
    *most = negative == INT64_MIN ? INT64_MAX : -negative;
}

/* a - b; false if it is unknown. */
static bool difference(object_pool *pool, expr a, expr b, poly *out) {
    poly q;
    if (a == EXPR_UNKNOWN || b == EXPR_UNKNOWN) return false;
    poly_load(pool, a, out);
    poly_load(pool, b, &q);
    poly_add(pool->symbols, out, out, -1, &q);
    return !out->unknown;
}

bool expr_at_least(object_pool *pool, expr a, expr b) {
    poly p;
    if (expr_is_number(a) && expr_is_number(b)) return a >= b;
    return difference(pool, a, b, &p) && poly_least(pool, &p) >= 0;
}

bool expr_never_equal(object_pool *pool, expr a, expr b) {
    poly p, minus = { .unknown = false };
    if (expr_is_number(a) && expr_is_number(b)) return a != b;
    if (a == b || !difference(pool, a, b, &p)) return false;
    int64_t common = poly_common(&p, false);
    if (common && poly_constant(&p) % common) return true;
    poly_add(pool->symbols, &minus, &minus, -1, &p);
    return poly_least(pool, &p) > 0 || (!minus.unknown && poly_least(pool, &minus) > 0);
}
