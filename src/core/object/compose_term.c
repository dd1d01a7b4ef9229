/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Terms of a composition: read, and computed. Integers are exact or refused, quotients too. */
#include "compose_reader.h"
#include "number.h"

/* ---- computing -------------------------------------------------------------------------------------------------- */

static double as_real(compose_number v) { return v.is_real ? v.real : (double)v.integer; }

static bool of_field(const xir_field *f, const void *attrs, compose_number *out) {
    const void *at = body_at(attrs, f);
    if (f->kind == XIR_KIND_REAL) *out = (compose_number){ .is_real = true, .real = *(const double *)at };
    else if (f->kind == XIR_KIND_BOOL) *out = (compose_number){ .integer = *(const bool *)at };
    else *out = (compose_number){ .integer = *(const int64_t *)at };
    return f->kind != XIR_KIND_U64 || out->integer >= 0;
}

static bool combine(compose_term_kind kind, compose_number a, compose_number b, compose_number *out) {
    if (a.is_real || b.is_real) {
        const double x = as_real(a), y = as_real(b);
        *out = (compose_number){ .is_real = true, .unknown = a.unknown || b.unknown };
        out->real = kind == COMPOSE_SUM ? x + y : kind == COMPOSE_DIFFERENCE ? x - y
                  : kind == COMPOSE_PRODUCT ? x * y : x / y;
        return true;
    }
    *out = (compose_number){ .unknown = a.unknown || b.unknown };
    if (out->unknown) return true;
    switch (kind) {
    case COMPOSE_SUM:        return add_i64(a.integer, b.integer, &out->integer);
    case COMPOSE_DIFFERENCE: return sub_i64(a.integer, b.integer, &out->integer);
    case COMPOSE_PRODUCT:    return mul_i64(a.integer, b.integer, &out->integer);
    default:
        if (!b.integer || (b.integer == -1 && a.integer == INT64_MIN) || a.integer % b.integer) return false;
        out->integer = a.integer / b.integer;
        return true;
    }
}

bool compose_compute(const compose_term *term, const void *attrs, compose_dim_fn *dim, void *user,
                     compose_number *out) {
    switch (term->kind) {
    case COMPOSE_INTEGER: *out = (compose_number){ .integer = term->integer }; return true;
    case COMPOSE_REAL:    *out = (compose_number){ .is_real = true, .real = term->real }; return true;
    case COMPOSE_ATTR:    return of_field(term->field, attrs, out);
    case COMPOSE_DIM:
    case COMPOSE_LETTER: {
        const int64_t found = dim(user, term);
        *out = (compose_number){ .integer = found, .unknown = found < 0 };
        return true;
    }
    default: break;
    }
    compose_number a, b;
    return compose_compute(term->a, attrs, dim, user, &a) && compose_compute(term->b, attrs, dim, user, &b) &&
           combine(term->kind, a, b, out);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static const compose_term *keep_term(compose_reader *r, const compose_term *term) {
    return compose_keep(r, term, sizeof *term);
}

static bool pair_of(compose_reader *r, compose_term_kind kind, const compose_term *a, const compose_term *b,
                    const compose_term **out) {
    const compose_term term = {
        .kind = kind, .a = a, .b = b, .is_real = a->is_real || b->is_real,
        .is_constant = a->is_constant && b->is_constant,
    };
    *out = keep_term(r, &term);
    return *out;
}

/* "%x[1]", "%x.C": a dim. */
static bool read_dim(compose_reader *r, const compose_term **out) {
    compose_term term = { .kind = COMPOSE_DIM };
    number n;
    if (!compose_value(r, &term.value)) return false;
    if (compose_take(r, '.')) {
        const char *at = r->at;
        const xir_str word = compose_word(r, false);
        if (word.size != 1 || !memchr("NHWDCIOL", word.data[0], 8))
            return compose_fail(r, at, XIR_E_SYNTAX, "expected the letter of an axis, one of N H W D C I O L");
        term.kind = COMPOSE_LETTER;
        term.letter = word.data[0];
    } else {
        if (!compose_need(r, '[')) return false;
        compose_skip(r);
        const size_t size = number_parse(r->at, (size_t)(r->end - r->at), &n);
        if (!size || n.kind != NUMBER_I64) return compose_expected(r, "the index of a dim");
        r->at += size;
        term.integer = n.i64;
        if (!compose_need(r, ']')) return false;
    }
    *out = keep_term(r, &term);
    return *out;
}

static bool read_attr(compose_reader *r, const compose_term **out) {
    const char *at = r->at;
    const xir_str word = compose_word(r, false);
    const xir_field *f = word.size ? xir_class_field(r->cls, word) : NULL;
    if (!word.size) return compose_expected(r, "a number, an attribute of the class or a dim such as %x[0]");
    if (!f) {
        const xir_str near = class_suggest(r->cls, word);
        return compose_fail(r, at, XIR_E_UNKNOWN, "the class has no attribute '%.*s'%s%.*s%s", CLIP(word),
                            near.size ? ": perhaps '" : "", CLIP(near), near.size ? "' is meant" : "");
    }
    if (f->kind != XIR_KIND_I64 && f->kind != XIR_KIND_U64 && f->kind != XIR_KIND_REAL && f->kind != XIR_KIND_BOOL)
        return compose_fail(r, at, XIR_E_TYPE, "attribute '%.*s' is of kind %s, expected a number", CLIP(word),
                            xir_kind_name(f->kind));
    const compose_term term = { .kind = COMPOSE_ATTR, .field = f, .is_real = f->kind == XIR_KIND_REAL };
    *out = keep_term(r, &term);
    return *out;
}

static bool read_factor(compose_reader *r, const compose_term **out) {
    compose_skip(r);
    const char *at = r->at;
    if (compose_take(r, '(')) {
        if (++r->nested > COMPOSE_NESTED)
            return compose_fail(r, at, XIR_E_LIMIT, "parentheses are nested deeper than %d", COMPOSE_NESTED);
        if (!compose_read_term(r, out) || !compose_need(r, ')')) return false;
        r->nested--;
        return true;
    }
    if (compose_next_is(r, '%')) return read_dim(r, out);
    number n;
    const size_t size = number_parse(r->at, (size_t)(r->end - r->at), &n);
    if (!size) return read_attr(r, out);
    if (n.kind == NUMBER_U64 || n.kind == NUMBER_OVERFLOW)
        return compose_fail(r, at, XIR_E_BOUNDS, "the number is too large");
    r->at += size;
    const bool real = n.kind == NUMBER_REAL;
    const compose_term term = { .kind = real ? COMPOSE_REAL : COMPOSE_INTEGER, .is_real = real, .is_constant = true,
                                .integer = real ? 0 : n.i64, .real = real ? n.real : 0 };
    *out = keep_term(r, &term);
    return *out;
}

static bool read_product(compose_reader *r, const compose_term **out) {
    if (!read_factor(r, out)) return false;
    for (;;) {
        const bool times = compose_take(r, '*');
        const compose_term *right;
        if (!times && !compose_take(r, '/')) return true;
        if (!read_factor(r, &right) || !pair_of(r, times ? COMPOSE_PRODUCT : COMPOSE_QUOTIENT, *out, right, out))
            return false;
    }
}

bool compose_read_term(compose_reader *r, const compose_term **out) {
    static const compose_term zero = { .kind = COMPOSE_INTEGER, .is_constant = true };
    number n;
    compose_skip(r);
    /* "-1" is a number, "-x" is 0 - x. */
    const bool minus = compose_next_is(r, '-') && !number_parse(r->at, (size_t)(r->end - r->at), &n);
    const compose_term *right;
    if (minus) r->at++;
    if (!read_product(r, out)) return false;
    if (minus && !pair_of(r, COMPOSE_DIFFERENCE, &zero, *out, out)) return false;
    for (;;) {
        const bool plus = compose_take(r, '+');
        if (!plus && !compose_take(r, '-')) return true;
        if (!read_product(r, &right) || !pair_of(r, plus ? COMPOSE_SUM : COMPOSE_DIFFERENCE, *out, right, out))
            return false;
    }
}
