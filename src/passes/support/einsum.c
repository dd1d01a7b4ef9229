/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/einsum.h"
#include <string.h>
#include <xir/type.h>

enum { LETTERS = 128 };

/* A value and the letters of its axes with their dims; axes of "..." are digits, from the last one back. */
typedef struct term { xir_value *v; size_t n; char letters[EINSUM_DIMS]; int64_t dims[EINSUM_DIMS]; } term;

typedef struct word { size_t n; char c[EINSUM_DIMS]; } word;
typedef struct dims { size_t n; int64_t d[EINSUM_DIMS + 1]; } dims;

/* `at` is the end of the terms that have been read; `counts` those of each letter in all terms; `last` is the end of
 * its last place there, that of '.' for "...". */
typedef struct sum {
    const einsum_maker *maker;
    xir_str             text;
    size_t              at, arrow;       /* arrow: where the terms end           */
    bool                explicit;        /* it has an arrow                      */
    size_t              counts[LETTERS], last[LETTERS];
    bool                in_result[LETTERS];
    const char         *obstacle;
} sum;

static bool no(sum *s, const char *obstacle) {
    s->obstacle = obstacle;
    return false;
}

static bool has(const term *t, char c) { return t->n && memchr(t->letters, c, t->n) != NULL; }

static size_t place(const term *t, char c) { return (size_t)((const char *)memchr(t->letters, c, t->n) - t->letters); }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_of_dots(char c) { return c >= '0' && c <= '9'; }

/* ---- the equation ----------------------------------------------------------------------------------------------- */

static void begin(sum *s) {
    const char *arrow = s->text.size ? memchr(s->text.data, '-', s->text.size) : NULL;
    s->explicit = arrow != NULL;
    s->arrow = arrow ? (size_t)(arrow - s->text.data) : s->text.size;
    for (size_t i = 0; i < s->arrow; i++) {
        const char c = s->text.data[i];
        if (is_letter(c)) s->counts[(size_t)c]++;
        if (is_letter(c) || c == '.') s->last[(size_t)c] = i + 1;
    }
    bool dots = !s->explicit && s->last['.'];
    for (size_t i = s->arrow; i < s->text.size; i++) {
        const char c = s->text.data[i];
        if (is_letter(c)) s->in_result[(size_t)c] = true;
        dots |= c == '.';
    }
    for (char c = '0'; c <= 'z'; c++) {
        if (is_of_dots(c)) s->in_result[(size_t)c] = dots;
        else if (!s->explicit) s->in_result[(size_t)c] = s->counts[(size_t)c] == 1;
    }
}

static bool add_axis(sum *s, term *t, char letter) {
    const int64_t dim = xir_type_dim(xir_value_type(t->v), (int64_t)t->n, false);
    if (has(t, letter)) return no(s, "diagonals");
    if (dim < 0) return no(s, "open dims");
    t->letters[t->n] = letter;
    t->dims[t->n++] = dim;
    return true;
}

/* Reads the letters up to the next comma or the end. "..." has as many dims as the others leave. */
static bool read_term(sum *s, xir_value *v, term *t) {
    *t = (term){ .v = v };
    const size_t rank = xir_type_rank(xir_value_type(v));
    size_t end = s->at, letters = 0;
    for (; end < s->arrow && s->text.data[end] != ','; end++) letters += is_letter(s->text.data[end]);
    if (rank > EINSUM_DIMS || letters > rank) return no(s, "very many dims");
    for (; s->at < end; s->at++) {
        const char c = s->text.data[s->at];
        if (is_letter(c) && !add_axis(s, t, c)) return false;
        if (c != '.') continue;
        if (rank - letters > 10) return no(s, "very many dims");
        for (size_t i = rank - letters; i > 0; i--) if (!add_axis(s, t, (char)('0' + i - 1))) return false;
        s->at += 2;
    }
    s->at += s->at < s->arrow;
    return true;
}

/* Returns true if the result or a later term has the letter. */
static bool is_needed(const sum *s, char c) {
    return s->in_result[(size_t)c] || s->last[is_of_dots(c) ? (size_t)'.' : (size_t)c] > s->at;
}

static void add(word *w, char c) { if (w->n < EINSUM_DIMS) w->c[w->n++] = c; }

static void add_dots(word *w, const term *x) {
    for (char c = '9'; c >= '0'; c--) if (has(x, c)) add(w, c);
}

/* The letters of the result in their order. Those of "..." are the ones that x has. */
static void read_result(const sum *s, const term *x, word *out) {
    out->n = 0;
    if (!s->explicit) {
        add_dots(out, x);
        for (char c = 'A'; c <= 'z'; c++) if (is_letter(c) && s->counts[(size_t)c] == 1) add(out, c);
        return;
    }
    for (size_t i = s->arrow; i < s->text.size; i++) {
        const char c = s->text.data[i];
        if (is_letter(c)) add(out, c);
        if (c == '.') add_dots(out, x), i += 2;
    }
}

/* ---- ops of one operand ----------------------------------------------------------------------------------------- */

static bool make(const sum *s, einsum_kind kind, term *x, const term *y, const int64_t *list, size_t n) {
    x->v = s->maker->make(s->maker->user, kind, x->v, y ? y->v : NULL, list, n);
    return x->v;
}

static bool reshape(const sum *s, term *x, const int64_t *is, size_t n_is, const int64_t *wanted, size_t n) {
    if (n_is == n && (!n || memcmp(is, wanted, n * sizeof *is) == 0)) return true;
    return make(s, EINSUM_RESHAPE, x, NULL, wanted, n);
}

static bool sum_out(const sum *s, term *t, const word *letters) {
    int64_t axes[EINSUM_DIMS];
    term rest = { .n = 0 };
    if (!letters->n) return true;
    for (size_t i = 0; i < letters->n; i++) axes[i] = (int64_t)place(t, letters->c[i]);
    if (!make(s, EINSUM_SUM, t, NULL, axes, letters->n)) return false;
    rest.v = t->v;
    for (size_t i = 0; i < t->n; i++) {
        if (memchr(letters->c, t->letters[i], letters->n)) continue;
        rest.letters[rest.n] = t->letters[i];
        rest.dims[rest.n++] = t->dims[i];
    }
    *t = rest;
    return true;
}

/* Axes of size 1 that broadcast have no part in the product. */
static bool drop_ones(const sum *s, term *t, const term *other) {
    term rest = { .v = t->v };
    for (size_t i = 0; i < t->n; i++) {
        if (t->dims[i] == 1 && has(other, t->letters[i]) && other->dims[place(other, t->letters[i])] != 1) continue;
        rest.letters[rest.n] = t->letters[i];
        rest.dims[rest.n++] = t->dims[i];
    }
    if (!reshape(s, &rest, t->dims, t->n, rest.dims, rest.n)) return false;
    *t = rest;
    return true;
}

/* The axes of t in the order of these letters; it has all of them. */
static bool in_order(const sum *s, term *t, const word *letters) {
    int64_t order[EINSUM_DIMS];
    term now = { .v = t->v, .n = t->n };
    bool same = true;
    for (size_t i = 0; i < t->n; i++) {
        const size_t from = place(t, letters->c[i]);
        same &= from == i;
        order[i] = (int64_t)from;
        now.letters[i] = letters->c[i];
        now.dims[i] = t->dims[from];
    }
    if (!same && !make(s, EINSUM_TRANSPOSE, &now, NULL, order, t->n)) return false;
    *t = now;
    return true;
}

/* ---- two operands ----------------------------------------------------------------------------------------------- */

static void push(dims *list, int64_t dim) { list->d[list->n++] = dim; }

static bool append(word *w, const word *more) {
    if (more->n > EINSUM_DIMS - w->n) return false;
    memcpy(w->c + w->n, more->c, more->n);
    w->n += more->n;
    return true;
}

/* The product of the dims of these letters; false if it exceeds 63 bits. */
static bool size_of(const term *t, const word *letters, int64_t *size) {
    *size = 1;
    for (size_t i = 0; i < letters->n; i++)
        if (__builtin_mul_overflow(*size, t->dims[place(t, letters->c[i])], size)) return false;
    return true;
}

/* [both, rows, summed] times [both, summed, columns]. */
static bool meet(sum *s, term *x, term *y) {
    word both = { 0 }, summed = { 0 }, rows = { 0 }, columns = { 0 }, single[2] = { { 0 } };
    if (!drop_ones(s, x, y) || !drop_ones(s, y, x)) return false;
    for (size_t i = 0; i < x->n; i++) {
        const char c = x->letters[i];
        const bool needed = is_needed(s, c);
        add(has(y, c) ? needed ? &both : &summed : needed ? &rows : &single[0], c);
    }
    for (size_t i = 0; i < y->n; i++)
        if (!has(x, y->letters[i])) add(is_needed(s, y->letters[i]) ? &columns : &single[1], y->letters[i]);
    if (!sum_out(s, x, &single[0]) || !sum_out(s, y, &single[1])) return false;

    word left = both, right = both, all = both;
    if (!append(&left, &rows) || !append(&left, &summed) || !append(&right, &summed) || !append(&right, &columns) ||
        !append(&all, &rows) || !append(&all, &columns) || both.n > EINSUM_DIMS - 2) return no(s, "very many dims");
    if (!in_order(s, x, &left) || !in_order(s, y, &right)) return false;
    int64_t b, m, k, n;
    if (!size_of(x, &both, &b) || !size_of(x, &rows, &m) || !size_of(x, &summed, &k) || !size_of(y, &columns, &n))
        return no(s, "dims whose product exceeds 63 bits");
    /* If nothing but rows is in front, one matrix multiplies all of them. */
    dims of_x = { 0 }, of_y = { 0 }, of_product;
    const bool joins = s->maker->joins_batch, broadcasts = !joins && !both.n && rows.n > 0;
    if (joins && both.n) push(&of_x, b), push(&of_y, b);
    for (size_t i = 0; i < both.n && !joins; i++) push(&of_x, x->dims[i]), push(&of_y, x->dims[i]);
    for (size_t i = 0; i < rows.n && broadcasts; i++) push(&of_x, x->dims[i]);
    if (!broadcasts) push(&of_x, m);
    of_product = of_x;
    push(&of_product, n), push(&of_x, k), push(&of_y, k), push(&of_y, n);
    if (!reshape(s, x, x->dims, x->n, of_x.d, of_x.n) || !reshape(s, y, y->dims, y->n, of_y.d, of_y.n) ||
        !make(s, EINSUM_PRODUCT, x, y, (int64_t[]){ m, k, n }, 3)) return false;

    term out = { .v = x->v, .n = all.n };
    for (size_t i = 0; i < all.n; i++) {
        const term *from = i < both.n + rows.n ? x : y;
        out.letters[i] = all.c[i];
        out.dims[i] = from->dims[place(from, all.c[i])];
    }
    if (!reshape(s, &out, of_product.d, of_product.n, out.dims, out.n)) return false;
    *x = out;
    return true;
}

static bool make_all(sum *s, xir_value *const *in, size_t n_in, term *x) {
    term y;
    word alone = { 0 }, out;
    if (!read_term(s, in[0], x)) return false;
    for (size_t i = 1; i < n_in; i++)
        if (!read_term(s, in[i], &y) || !meet(s, x, &y)) return false;
    for (size_t i = 0; i < x->n; i++) if (!s->in_result[(size_t)x->letters[i]]) add(&alone, x->letters[i]);
    if (!sum_out(s, x, &alone)) return false;
    read_result(s, x, &out);
    return out.n == x->n ? in_order(s, x, &out) : no(s, "very many dims");
}

xir_value *einsum_make(const einsum_maker *maker, xir_str equation, xir_value *const *in, size_t n_in,
                       const char **obstacle) {
    sum s = { .maker = maker, .text = equation };
    term x;
    begin(&s);
    const bool made = n_in > 0 ? make_all(&s, in, n_in, &x) : no(&s, "no inputs");
    *obstacle = s.obstacle;
    return made ? x.v : NULL;
}
