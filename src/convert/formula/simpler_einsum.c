/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Einsum as sums, transposes and matrix products: the operands meet two by two, from the left. Of each pair, letters
 * that nothing later needs are summed: those of one operand before, those of both by the product. */
#include <string.h>
#include "formula/parts.h"
#include "formula/simpler.h"

enum { MOST_DIMS = 16, LETTERS = 128 };

/* A value and the letters of its axes; dims of "..." are the digits, from the last one back. */
typedef struct term { xir_value *v; size_t n; char letters[MOST_DIMS]; } term;

static bool has(const term *t, char c) { return t->n && memchr(t->letters, c, t->n) != NULL; }

static size_t place(const term *t, char c) { return (size_t)((const char *)memchr(t->letters, c, t->n) - t->letters); }

/* ---- the equation ----------------------------------------------------------------------------------------------- */

/* Reads the letters up to the next comma or arrow. "..." has as many dims as the others leave of `rank`. */
static bool read_term(xir_node *at, const char **p, const char *end, size_t rank, term *t) {
    size_t letters = 0;
    for (const char *q = *p; q < end && *q != ',' && *q != '-'; q++) letters += *q != ' ' && *q != '.';
    if (letters > rank || rank > MOST_DIMS) return xir_node_unsupported(at, "%zu dims", rank);
    for (; *p < end && **p != ',' && **p != '-'; ++*p) {
        if (**p == ' ') continue;
        if (**p != '.') {
            if (has(t, **p)) return xir_node_unsupported(at, "diagonals");
            t->letters[t->n++] = **p;
            continue;
        }
        for (size_t i = rank - letters; i > 0; i--) {
            if (i > 10) return xir_node_unsupported(at, "%zu dims", rank);
            t->letters[t->n++] = (char)('0' + i - 1);
        }
        *p += 2;
    }
    return t->n == rank || xir_node_unsupported(at, "%zu dims", rank);
}

/* Without an arrow: the dims of "...", and the letters that occur once, capitals first. */
static void usual_output(const term *terms, size_t n, term *out) {
    size_t count[LETTERS] = { 0 };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < terms[i].n; k++) count[(unsigned char)terms[i].letters[k]]++;
    for (char c = '9'; c >= '0'; c--) if (count[(size_t)c] && out->n < MOST_DIMS) out->letters[out->n++] = c;
    for (char c = 'A'; c <= 'z'; c++) if (count[(size_t)c] == 1 && out->n < MOST_DIMS) out->letters[out->n++] = c;
}

static bool read_equation(xir_node *at, term *terms, term *out) {
    const xir_str text = xir_node_text(at, "equation", "");
    const char *p = text.size ? text.data : "", *end = p + text.size;
    for (size_t i = 0; i < at->n_in; i++) {
        terms[i] = (term){ .v = xir_node_input(at, i) };
        if (!terms[i].v || !xir_node_need_dims(at, terms[i].v, 0, SIZE_MAX)) return false;
        if (!read_term(at, &p, end, v_rank(terms[i].v), &terms[i])) return false;
        p += p < end && *p == ',';
    }
    *out = (term){ .n = 0 };
    if (p == end) return usual_output(terms, at->n_in, out), true;
    p += 2;
    return read_term(at, &p, end, v_rank(xir_op_output(at->op, 0)), out);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static bool sum_out(xir_node *at, term *t, const char *letters, size_t n) {
    xir_ints axes = xir_node_make_ints(at, n, 0);
    for (size_t i = 0; i < n && axes.v; i++) axes.v[i] = (int64_t)place(t, letters[i]);
    if (!axes.v || !n) return axes.v;
    t->v = xir_node_reduced(at, "Sum", t->v, &axes, false);
    for (size_t i = 0; i < n; i++) {
        char *at_letter = t->letters + place(t, letters[i]);
        memmove(at_letter, at_letter + 1, (size_t)(t->letters + t->n-- - at_letter) - 1);
    }
    return t->v;
}

/* Axes of size 1 that broadcast have no part in the product. */
static bool drop_ones(xir_node *at, term *t, const term *other) {
    xir_ints dims = xir_node_make_ints(at, t->n, 1);
    size_t n = 0;
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < t->n; i++) {
        const int64_t dim = v_dim(t->v, i);
        if (dim == 1 && has(other, t->letters[i]) && v_dim(other->v, place(other, t->letters[i])) != 1) continue;
        dims.v[n] = dim;
        t->letters[n++] = t->letters[i];
    }
    if (n == t->n) return true;
    dims.n = t->n = n;
    t->v = make_reshaped(at, t->v, &dims);
    return t->v;
}

/* The axes of t in the order of these letters, all of which it has. */
static bool in_order(xir_node *at, term *t, const char *letters) {
    int64_t order[MOST_DIMS];
    bool same = true;
    for (size_t i = 0; i < t->n; i++) order[i] = (int64_t)place(t, letters[i]), same &= order[i] == (int64_t)i;
    if (!same) t->v = xir_node_transposed(at, t->v, order, t->n, NULL);
    memcpy(t->letters, letters, t->n);
    return t->v;
}

/* The product of the dims of these letters. */
static int64_t size_of(const term *t, const char *letters, size_t n) {
    int64_t size = 1;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_mul_overflow(size, v_dim(t->v, place(t, letters[i])), &size)) return -1;
    }
    return size;
}

typedef struct word { size_t n; char c[2 * MOST_DIMS]; } word;

static void add(word *w, const word *more) {
    memcpy(w->c + w->n, more->c, more->n);
    w->n += more->n;
}

/* [both, rows, summed] times [both, summed, columns]. */
static bool meet(xir_node *at, term *x, term *y, const bool needed[LETTERS]) {
    word both = { 0 }, summed = { 0 }, rows = { 0 }, columns = { 0 }, single[2] = { { 0 } };
    if (!drop_ones(at, x, y) || !drop_ones(at, y, x)) return false;
    for (size_t i = 0; i < x->n; i++) {
        const char c = x->letters[i];
        word *w = has(y, c) ? needed[(size_t)c] ? &both : &summed : needed[(size_t)c] ? &rows : &single[0];
        w->c[w->n++] = c;
    }
    for (size_t i = 0; i < y->n; i++) {
        const char c = y->letters[i];
        word *w = has(x, c) ? NULL : needed[(size_t)c] ? &columns : &single[1];
        if (w) w->c[w->n++] = c;
    }
    if (!sum_out(at, x, single[0].c, single[0].n) || !sum_out(at, y, single[1].c, single[1].n)) return false;
    if (both.n + rows.n + columns.n > MOST_DIMS) return xir_node_unsupported(at, "very many dims");
    word left = both, right = both, all = both;
    add(&left, &rows), add(&left, &summed), add(&right, &summed), add(&right, &columns);
    add(&all, &rows), add(&all, &columns);
    if (!in_order(at, x, left.c) || !in_order(at, y, right.c)) return false;
    const int64_t b = size_of(x, both.c, both.n), m = size_of(x, rows.c, rows.n), k = size_of(x, summed.c, summed.n),
                  n = size_of(y, columns.c, columns.n);
    if (b < 0 || m < 0 || k < 0 || n < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits");
    int64_t dims[MOST_DIMS];
    for (size_t i = 0; i < all.n; i++) {
        const term *from = i < both.n + rows.n ? x : y;
        dims[i] = v_dim(from->v, place(from, all.c[i]));
    }
    const size_t skip = both.n ? 0 : 1;
    xir_value *v = make_matrix_product(at, make_shaped(at, x->v, (int64_t[]){ b, m, k } + skip, 3 - skip),
                                       make_shaped(at, y->v, (int64_t[]){ b, k, n } + skip, 3 - skip));
    *x = (term){ .v = make_shaped(at, v, dims, all.n), .n = all.n };
    memcpy(x->letters, all.c, all.n);
    return x->v;
}

/* Letters that the output or a later term has. */
static void note_needed(const term *out, const term *later, size_t n, bool needed[LETTERS]) {
    memset(needed, 0, LETTERS * sizeof *needed);
    for (size_t k = 0; k < out->n; k++) needed[(size_t)out->letters[k]] = true;
    for (size_t i = 0; i < n; i++) for (size_t k = 0; k < later[i].n; k++) needed[(size_t)later[i].letters[k]] = true;
}

bool simpler_einsum(xir_node *at) {
    bool needed[LETTERS];
    term out, *terms = node_take(at, (at->n_in + 1) * sizeof *terms);
    if (!terms) return node_no_memory(at);
    if (!at->n_in || !read_equation(at, terms, &out)) return !at->n_in && xir_node_unsupported(at, "no inputs");
    term x = terms[0];
    for (size_t i = 1; i < at->n_in; i++) {
        note_needed(&out, terms + i + 1, at->n_in - i - 1, needed);
        if (!meet(at, &x, &terms[i], needed)) return false;
    }
    char alone[MOST_DIMS];
    size_t n = 0;
    for (size_t i = 0; i < x.n; i++) if (!has(&out, x.letters[i])) alone[n++] = x.letters[i];
    if (!sum_out(at, &x, alone, n) || x.n != out.n || !in_order(at, &x, out.letters)) return false;
    return x.v == xir_node_input(at, 0) ? xir_node_becomes(at, "Copy", INS(x.v), NO_SETS)
                                        : xir_node_result(at, 0, x.v);
}
