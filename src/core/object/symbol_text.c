/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Expressions as text. A text may come from a hostile file: it is read in one pass, parentheses are bounded by
 * max_depth and PARSE_DEPTH, and no step makes more of it than its polynomial. */
#include <stdio.h>
#include "forms.h"
#include "number.h"
#include "symbol_table.h"

/* ---- printing ------------------------------------------------------------------------------------------------ */

static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '?'; }
static bool is_inner(int c)  { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; }

static const char *const functions[] = { "floor", "ceil", "max", "min" };
enum { FLOOR, CEIL, MAX, MIN, FUNCTIONS };

static int function_of(xir_str word) {
    int i = 0;
    while (i < FUNCTIONS && !xir_str_equal(word, xir_str_of(functions[i]))) i++;
    return i;
}

/* Returns true if a name needs no quotes: "batch", "?0". */
static bool is_word(xir_str name) {
    bool is_so = name.size && is_letter(name.data[0]) && function_of(name) == FUNCTIONS &&
        !xir_str_equal(name, XIR_STR("?"));
    for (size_t i = 1; i < name.size && is_so; i++) is_so = is_inner(name.data[i]);
    return is_so;
}

/* A quote in a name is written twice. */
static void print_name(xir_str name, buffer *out) {
    if (is_word(name)) {
        buffer_put(out, name.data, name.size);
        return;
    }
    buffer_char(out, '\'');
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '\'') buffer_char(out, '\'');
        buffer_char(out, name.data[i]);
    }
    buffer_char(out, '\'');
}

static void print_atom(const object_pool *pool, const atom *a, buffer *out) {
    if (a->kind == ATOM_SYMBOL) {
        print_name(a->range.name, out);
        return;
    }
    if (a->kind == ATOM_FLOOR) {
        const poly_record *part = record_of(pool->symbols, a->a);
        bool sum = part && part->n > 1;
        buffer_str(out, sum ? "floor((" : "floor(");
        expr_print(pool, a->a, out);
        buffer_str(out, sum ? ")/" : "/");
        form_put_i64(out, a->divisor);
    } else {
        buffer_str(out, a->kind == ATOM_MAX ? "max(" : "min(");
        expr_print(pool, a->a, out);
        buffer_str(out, ", ");
        expr_print(pool, a->b, out);
    }
    buffer_char(out, ')');
}

void expr_print(const object_pool *pool, expr e, buffer *out) {
    pool = pool_with(pool, e);
    const poly_record *record = record_of(pool->symbols, e);
    if (expr_is_number(e)) form_put_i64(out, e);
    else if (!record) buffer_char(out, '?');
    for (uint32_t i = 0; record && i < record->n; i++) {
        const poly_term *term = &record->terms[i];
        int64_t factor = term->factor;
        if (i) {
            buffer_str(out, factor < 0 ? " - " : " + ");
            if (factor < 0) factor = -factor;
        } else if (factor == -1 && term->n) {
            buffer_char(out, '-');
            factor = 1;
        }
        bool alone = term->n == 0 || factor != 1;
        if (alone) form_put_i64(out, factor);
        for (uint32_t k = 0; k < term->n; k++) {
            if (alone || k) buffer_char(out, '*');
            print_atom(pool, &pool->symbols->atoms[term->atoms[k]], out);
        }
    }
}

size_t dim_text(const object_pool *pool, int64_t dim, char *out, size_t size) {
    if (!dim_is_symbolic(dim) || !pool) {
        char digits[24] = "?";
        const size_t whole = dim < 0 ? 1 : number_put_i64(digits, dim), n = whole < size ? whole : size - 1;
        if (size) memcpy(out, digits, n), out[n] = '\0';
        return whole;
    }
    buffer text;
    buffer_init(&text, pool->arena.alloc);
    expr_print(pool, dim, &text);
    size_t whole = text.failed ? 1 : text.size, n = whole < size ? whole : size - 1;
    if (size) {
        memcpy(out, text.failed ? "?" : text.data, n);
        out[n] = '\0';
    }
    buffer_free(&text);
    return whole;
}

/* ---- parsing ------------------------------------------------------------------------------------------------- */

enum { PARSE_DEPTH = 64 };

typedef struct parsing {
    form_text    t;
    object_pool *pool;
    unsigned     depth, most;
    bool         known_only;   /* declares no symbols */
} parsing;

static bool parse_sum(parsing *p, poly *out);

static void skip_spaces(parsing *p) { while (form_skip(&p->t, ' ')) { } }

static bool take(parsing *p, char c) {
    skip_spaces(p);
    return form_skip(&p->t, c);
}

static bool need(parsing *p, char c) {
    return take(p, c) || form_expected(&p->t, XIR_E_SYNTAX, p->t.at, "'%c'", c);
}

static bool enter(parsing *p) {
    if (++p->depth <= p->most) return true;
    form_fail(p->t.why, XIR_E_LIMIT, p->t.at, "expected up to %u levels of parentheses, found more", p->most);
    return false;
}

static bool parse_number(parsing *p, int64_t *out) {
    size_t at = p->t.at;
    if (!form_i64(&p->t, "a number", out)) return false;
    if (*out < POLY_FACTOR) return true;
    form_fail(p->t.why, XIR_E_BOUNDS, at, "expected a number below 2^62, found %lld", (long long)*out);
    return false;
}

static bool parse_divisor(parsing *p, int64_t *out) {
    skip_spaces(p);
    size_t at = p->t.at;
    if (form_next(&p->t) < '0' || form_next(&p->t) > '9') return form_expected(&p->t, XIR_E_SYNTAX, at, "a number");
    if (!parse_number(p, out)) return false;
    if (*out > 0) return true;
    form_fail(p->t.why, XIR_E_BOUNDS, at, "expected a divisor above 0, found 0");
    return false;
}

static void divide(parsing *p, poly *out, int64_t by) {
    int64_t plain;
    if (poly_is_number(out, &plain)) poly_number(out, floor_div_i64(plain, by));
    else poly_floor(p->pool, out, out, by);
}

/* After the name and "(". */
static bool parse_function(parsing *p, int function, poly *out) {
    poly other;
    int64_t by;
    if (!enter(p) || !parse_sum(p, out)) return false;
    if (function == FLOOR || function == CEIL) {
        if (!need(p, '/') || !parse_divisor(p, &by)) return false;
        poly_number(&other, function == CEIL ? by - 1 : 0);
        poly_add(p->pool->symbols, out, out, 1, &other);
        divide(p, out, by);
    } else {
        if (!need(p, ',') || !parse_sum(p, &other)) return false;
        poly_extreme(p->pool, out, function == MAX, out, &other);
    }
    p->depth--;
    return need(p, ')');
}

/* `at` is where the name begins in the text. */
static bool parse_symbol(parsing *p, xir_str name, size_t at, poly *out) {
    expr e = symbol_find(p->pool, name);
    if (!symbol_name_ok(name)) {
        form_fail(p->t.why, XIR_E_SYNTAX, at, "expected the name of a symbol (1 to %d bytes of UTF-8 without control "
                  "characters), found %zu bytes", SYMBOL_NAME_MOST, name.size);
        return false;
    }
    if (e == EXPR_UNKNOWN && p->known_only) {
        form_fail(p->t.why, XIR_E_UNKNOWN, at, "expected a known symbol, found another name");
        return false;
    }
    const xir_status status = e == EXPR_UNKNOWN ? symbol_declare(p->pool, name, 0, SYMBOL_MOST, &e, NULL) : XIR_OK;
    if (status == XIR_E_LIMIT) {
        form_fail(p->t.why, status, at, "expected up to %u symbols, found more", p->pool->ctx->limits.max_symbols);
    } else if (status) {
        form_fail(p->t.why, XIR_E_MEMORY, at, "out of memory");
    }
    if (status) return false;
    poly_load(p->pool, e, out);
    return true;
}

static bool parse_quoted(parsing *p, poly *out) {
    char name[SYMBOL_NAME_MOST + 1];
    size_t n = 0, at = p->t.at++;
    for (;; p->t.at++) {
        if (p->t.at == p->t.size) return form_expected(&p->t, XIR_E_SYNTAX, p->t.at, "a quote after the name");
        char c = p->t.data[p->t.at];
        if (c == '\'' && !(p->t.at + 1 < p->t.size && p->t.data[p->t.at + 1] == '\'')) break;
        p->t.at += c == '\'';
        if (n == sizeof name) {
            form_fail(p->t.why, XIR_E_LIMIT, at, "expected a name of up to %d bytes, found more", SYMBOL_NAME_MOST);
            return false;
        }
        name[n++] = c;
    }
    p->t.at++;
    return parse_symbol(p, (xir_str){ name, n }, at, out);
}

static bool parse_word(parsing *p, poly *out) {
    size_t at = p->t.at;
    while (is_inner(form_next(&p->t))) p->t.at++;
    xir_str word = { p->t.data + at, p->t.at - at };
    int function = function_of(word);
    if (function < FUNCTIONS) return need(p, '(') && parse_function(p, function, out);
    if (word.size > SYMBOL_NAME_MOST) {
        form_fail(p->t.why, XIR_E_LIMIT, at, "expected a name of up to %d bytes, found %zu", SYMBOL_NAME_MOST,
                  word.size);
        return false;
    }
    return parse_symbol(p, word, at, out);
}

static bool parse_factor(parsing *p, poly *out) {
    int64_t plain;
    skip_spaces(p);
    int c = form_next(&p->t);
    if (c >= '0' && c <= '9') {
        if (!parse_number(p, &plain)) return false;
        poly_number(out, plain);
        return true;
    }
    if (c == '(') {
        p->t.at++;
        if (!enter(p) || !parse_sum(p, out)) return false;
        p->depth--;
        return need(p, ')');
    }
    if (c == '\'') return parse_quoted(p, out);
    if (is_letter(c)) return parse_word(p, out);
    return form_expected(&p->t, XIR_E_SYNTAX, p->t.at, "a number, a name or '('");
}

/* a * b, and a // 4: the single '/' belongs to floor and ceil. */
static bool parse_product(parsing *p, poly *out) {
    if (!parse_factor(p, out)) return false;
    for (;;) {
        poly other;
        int64_t by;
        skip_spaces(p);
        bool halves = p->t.at + 1 < p->t.size && p->t.data[p->t.at] == '/' && p->t.data[p->t.at + 1] == '/';
        if (halves) {
            p->t.at += 2;
            if (!parse_divisor(p, &by)) return false;
            divide(p, out, by);
        } else if (take(p, '*')) {
            if (!parse_factor(p, &other)) return false;
            poly_mul(p->pool->symbols, out, out, &other);
        } else {
            return true;
        }
    }
}

static bool parse_sum(parsing *p, poly *out) {
    poly part, zero = { .unknown = false };
    bool minus = take(p, '-');
    if (!parse_product(p, out)) return false;
    if (minus) poly_add(p->pool->symbols, out, &zero, -1, out);
    for (;;) {
        bool plus = take(p, '+');
        if (!plus && !take(p, '-')) return true;
        if (!parse_product(p, &part)) return false;
        poly_add(p->pool->symbols, out, out, plus ? 1 : -1, &part);
    }
}

static bool parse(object_pool *pool, xir_str text, bool known_only, expr *out, form_error *why) {
    parsing p = { .pool = pool, .most = PARSE_DEPTH, .known_only = known_only };
    poly sum;
    *out = EXPR_UNKNOWN;
    if (pool->ctx->limits.max_depth < p.most) p.most = pool->ctx->limits.max_depth;
    form_begin(&p.t, text, why);
    if (text.size > pool->ctx->limits.max_expr_text) {
        form_fail(why, XIR_E_LIMIT, 0, "expected up to %u bytes, found %zu", pool->ctx->limits.max_expr_text,
                  text.size);
        return false;
    }
    if (!parse_sum(&p, &sum)) return false;
    skip_spaces(&p);
    if (p.t.at < p.t.size) return form_expected(&p.t, XIR_E_SYNTAX, p.t.at, "an operator or the end");
    *out = poly_store(pool, &sum);
    if (!expr_no_memory(pool)) return true;
    form_fail(why, XIR_E_MEMORY, 0, "out of memory");
    return false;
}

bool expr_parse(object_pool *pool, xir_str text, expr *out, form_error *why) {
    return parse(pool, text, false, out, why);
}

bool expr_parse_known(object_pool *pool, xir_str text, expr *out, form_error *why) {
    return parse(pool, text, true, out, why);
}
