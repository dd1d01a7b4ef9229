/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The report of xir compare: a line for each pair, then the ops that make the first bad one in both networks, with
 * their attributes side by side. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "compare.h"
#include "diff.h"

enum { MOST_NAME = 80 };   /* bytes of a name, a sentence or an attribute that a line has room for */

/* ---- naming things -------------------------------------------------------------------------------------------- */

/* As xir extract takes it: the name, OP or OP:n, #ID. */
static void put_name(text *t, const xir_value *v) {
    const xir_str name = xir_value_name(v), op = xir_value_op(v) ? xir_op_name(xir_value_op(v)) : (xir_str){ 0 };
    if (name.size) {
        text_add(t, name.data, name.size);
    } else if (op.size) {
        text_add(t, op.data, op.size);
        if (xir_value_index(v)) text_printf(t, ":%zu", xir_value_index(v));
    } else {
        text_printf(t, "#%" PRId64, xir_value_id(v));
    }
}

static void put_op(text *t, const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op)), name = xir_op_name(op);
    text_printf(t, "#%" PRId64 " %.*s", xir_op_id(op), XIR_ARG(key));
    if (name.size) text_printf(t, " '%.*s'", XIR_ARG(name));
}

/* A whole text, clipped, and what is left of a column after it. */
static void print_cell(const text *t, size_t width) {
    print_clipped(stdout, text_of(t), MOST_NAME);
    const size_t size = t->size < MOST_NAME ? t->size : MOST_NAME;
    printf("%*s", size < width ? (int)(width - size) : 0, "");
}

static void put_place(text *t, const xir_type *type, uint64_t at) {
    const size_t rank = xir_type_rank(type);
    int64_t *index = take(rank + 1, sizeof *index);
    for (size_t i = rank; i-- > 0;) {
        const int64_t dim = xir_type_dim(type, (int64_t)i, false);
        const uint64_t of = dim > 0 ? (uint64_t)dim : UINT64_MAX;   /* an open dim is the last that is known */
        index[i] = (int64_t)(at % of);
        at /= of;
    }
    if (rank) json_i64s(t, index, rank);
    else text_put(t, "its only element");
    free(index);
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static double key_of(const compared *what, const xir_compare_pair *p) {
    switch (what->order) {
    case ORDER_LARGEST:   return -p->worst.largest;
    case ORDER_RELATIVE:  return -p->worst.relative;
    case ORDER_COSINE:    return p->worst.cosine;
    case ORDER_SQNR:      return p->worst.snr;
    case ORDER_SATURATED: return -p->worst.saturated;
    default:              return 0;
    }
}

typedef struct place { double key; size_t at; } place;

/* Values of another shape first, then the worst; equal ones as they are computed. */
static int by_key(const void *x, const void *y) {
    const place *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static place *places_of(const compared *what, size_t n) {
    place *places = take(n + 1, sizeof *places);
    for (size_t i = 0; i < n; i++) {
        const xir_compare_pair *p = xir_compare_at(what->c, i);
        const bool none = what->order != ORDER_RUN && !p->same_shape;
        places[i] = (place){ none ? -INFINITY : key_of(what, p), i };
    }
    qsort(places, n, sizeof *places, by_key);
    return places;
}

static void print_figures(const xir_compare_figures *g, bool bad) {
    printf("%c %9.3g %9.3g %9.6f %8.1f %9.2g%%", bad ? '!' : ' ', g->largest, g->relative, g->cosine, g->snr,
           100 * g->saturated);
}

static void print_pair(const compared *what, const xir_compare_pair *p) {
    text t = { 0 };
    const xir_str key = xir_class_key(xir_op_class(xir_value_op(p->b ? p->b : p->a)));
    if (p->samples) print_figures(&p->worst, p->bad);
    else printf("! %49s", p->same_shape ? "not computed" : "another shape");
    put_name(&t, p->a);
    text_printf(&t, "  %.*s", XIR_ARG(key));
    printf("  ");
    print_text(stdout, text_of(&t));
    putchar('\n');
    text_free(&t);
    if (!what->each || !p->samples) return;
    print_figures(&p->mean, false);
    printf("    the mean\n");
}

static void print_table(const compared *what, const xir_compare_state *state) {
    const size_t n = xir_compare_count(what->c);
    place *places = places_of(what, n);
    table_begin();
    printf("%11s %9s %9s %8s %10s  value\n", "largest", "relative", "cosine", "SNR dB", "saturated");
    for (size_t i = 0; i < n; i++) print_pair(what, xir_compare_at(what->c, places[i].at));
    table_end();
    free(places);
    printf("%zu pair%s, %zu bad", n, n == 1 ? "" : "s", state->bad);
    if (what->each) printf(", %zu samples", state->samples);
    printf("; %zu value%s of A and %zu %s of B in no pair\n", state->alone_a, state->alone_a == 1 ? "" : "s",
           state->alone_b, xir_compare_at(what->c, 0)->by == XIR_COMPARE_BY_FILE ? "files" : "values");
}

/* ---- side by side --------------------------------------------------------------------------------------------- */

/* Called with each thing that the two ops have, as words; NULL: one has none. */
typedef void row_fn(void *user, const char *name, const text *a, const text *b);

static void row(row_fn *fn, void *user, const char *name, text *a, text *b) {
    text_add(a, "", 1);
    text_add(b, "", 1);
    a->size--;
    b->size--;
    fn(user, name, a, b);
    text_free(a);
    text_free(b);
}

static void put_attr_of(text *t, const xir_op *op, xir_str name) {
    xir_attr v;
    const xir_field *f = op ? xir_class_field(xir_op_class(op), name) : NULL;
    if (f && !xir_op_get(op, name, &v)) put_attr(t, f, &v, false);
}

static void put_value(text *t, const xir_value *v) {
    if (!v) {
        text_put(t, "absent");
        return;
    }
    put_name(t, v);
    text_put(t, "  ");
    type_words(t, xir_value_type(v));
}

static void attribute_rows(const xir_op *a, const xir_op *b, row_fn *fn, void *user) {
    for (int side = 0; side < 2; side++) {
        const xir_op *op = side ? b : a;
        const xir_field *f;
        for (size_t i = 0; op && (f = xir_class_field_at(xir_op_class(op), i)); i++) {
            text of_a = { 0 }, of_b = { 0 };
            if (side && a && xir_class_field(xir_op_class(a), f->name)) continue;
            if (f->kind == XIR_KIND_PARAMS || f->kind == XIR_KIND_PARAMSS || f->kind == XIR_KIND_OPS ||
                f->kind == XIR_KIND_MAP) continue;
            char *name = take(f->name.size + 1, 1);
            memcpy(name, f->name.data, f->name.size);
            put_attr_of(&of_a, a, f->name);
            put_attr_of(&of_b, b, f->name);
            row(fn, user, name, &of_a, &of_b);
            free(name);
        }
    }
}

/* The name of an input's port; of the last one, if it takes several, with its position. */
static void port_name(char *out, size_t size, const xir_op *op, size_t i) {
    const xir_class *cls = xir_op_class(op);
    const size_t ports = xir_class_input_count(cls);
    const xir_port *port = ports ? xir_class_input_at(cls, i < ports ? i : ports - 1) : NULL;
    if (!port || port->decl == XIR_DECL_VAR) snprintf(out, size, "input %zu", i);
    else snprintf(out, size, "%.*s", XIR_ARG(port->name));
}

/* Describes the difference between the elements of two constants. */
static void put_elements(text *t, const xir_value *a, const xir_value *b) {
    xir_elements_diff d = XIR_INIT(xir_elements_diff);
    if (!a || !b || !xir_value_is_params(a) || !xir_value_is_params(b)) return;
    if (xir_params_compare(a, b, 0, &d) || d.not_compared || !d.differ) return;
    text_printf(t, "%" PRIu64 " of %" PRIu64 " %s differ from A's", d.differ, d.of, d.by_bytes ? "bytes" : "elements");
    if (!d.by_bytes && !d.integers) text_printf(t, ", by at most %.3g", d.largest);
}

static void value_rows(const xir_op *a, const xir_op *b, row_fn *fn, void *user) {
    const size_t n_a = xir_op_input_count(a), n_b = b ? xir_op_input_count(b) : 0, n = n_a > n_b ? n_a : n_b;
    for (size_t i = 0; i < n; i++) {
        text of_a = { 0 }, of_b = { 0 }, none = { 0 }, differ = { 0 };
        char name[64];
        const xir_value *x = xir_op_input(a, (int64_t)i), *y = b ? xir_op_input(b, (int64_t)i) : NULL;
        port_name(name, sizeof name, i < n_a ? a : b, i);
        put_value(&of_a, x);
        if (b) put_value(&of_b, y);
        row(fn, user, name, &of_a, &of_b);
        put_elements(&differ, x, y);
        if (differ.size) row(fn, user, name, &none, &differ);
        text_free(&differ);
        text_free(&none);
    }
    text of_a = { 0 }, of_b = { 0 };
    put_value(&of_a, xir_op_output(a, 0));
    if (b) put_value(&of_b, xir_op_output(b, 0));
    row(fn, user, "output", &of_a, &of_b);
}

/* Measures and prints the rows; without a second op there is one column. */
typedef struct sheet {
    size_t name, a;     /* the widths of the columns     */
    bool   measures, single;
} sheet;

static void sheet_row(void *user, const char *name, const text *a, const text *b) {
    sheet *s = user;
    const size_t wide = strlen(name), wide_a = a->size < MOST_NAME ? a->size : MOST_NAME;
    if (s->measures) {
        if (wide > s->name) s->name = wide;
        if (wide_a > s->a) s->a = wide_a;
        return;
    }
    const bool same = s->single || strcmp(a->data, b->data) == 0;
    printf("%c %-*s  ", same ? ' ' : '~', (int)s->name, name);
    print_cell(a, s->single ? 0 : s->a);
    if (!s->single) printf("  ");
    if (!s->single) print_cell(b, 0);
    putchar('\n');
}

static void rows_of(const xir_op *a, const xir_op *b, row_fn *fn, void *user) {
    attribute_rows(a, b, fn, user);
    value_rows(a, b, fn, user);
}

static void print_sheet(const xir_op *a, const xir_op *b) {
    sheet s = { .measures = true, .single = !b };
    rows_of(a, b, sheet_row, &s);
    s.measures = false;
    if (b) printf("  %-*s  %-*s  %s\n", (int)s.name, "", (int)s.a, "A", "B");
    rows_of(a, b, sheet_row, &s);
}

/* ---- the first bad pair --------------------------------------------------------------------------------------- */

static const xir_op **ops_of(const compared *what, const xir_compare_pair *p, bool of_b, size_t *n) {
    *n = xir_compare_ops(what->c, p, of_b, NULL, 0);
    if (*n == SIZE_MAX) *n = 0;   /* memory: said at the end of the program */
    const xir_op **ops = take(*n + 1, sizeof *ops);
    xir_compare_ops(what->c, p, of_b, ops, *n);
    return ops;
}

/* The op that makes a value, and those before it that no pair shows. */
static void print_ops(const compared *what, const xir_compare_pair *p, bool of_b) {
    size_t n;
    const xir_op **ops = ops_of(what, p, of_b, &n);
    for (size_t i = 0; i < n && i < 10; i++) {
        text t = { 0 };
        text_put(&t, i ? "   after " : of_b ? "  B: " : "  A: ");
        put_op(&t, ops[i]);
        print_text(stdout, text_of(&t));
        putchar('\n');
        text_free(&t);
    }
    if (n > 10) printf("   and %zu more\n", n - 10);
    free((void *)ops);
}

static void print_first(const compared *what, const xir_compare_pair *p) {
    text t = { 0 };
    put_name(&t, p->a);
    printf("\nthe first bad value: ");
    print_text(stdout, text_of(&t));
    printf("\n");
    text_free(&t);
    print_ops(what, p, false);
    if (p->b) print_ops(what, p, true);
    printf("\n");
    print_sheet(xir_value_op(p->a), p->b ? xir_value_op(p->b) : NULL);
}

static int complain_first(const compared *what, const xir_compare_pair *p) {
    text name = { 0 }, op = { 0 }, at = { 0 };
    put_name(&name, p->a);
    put_op(&op, xir_value_op(p->b ? p->b : p->a));
    text_add(&name, "", 1);
    text_add(&op, "", 1);
    if (!p->same_shape) {
        complain_of(FAULTY, what->name_b, "the first bad value is '%s' of op %s: it has another shape", name.data,
                    op.data);
    } else {
        put_place(&at, xir_value_type(p->a), p->at);
        text_add(&at, "", 1);
        complain_of(FAULTY, what->name_b, "the first bad value is '%s' of op %s: expected %.9g at %s, found %.9g; %"
                    PRIu64 " of %" PRIu64 " elements differ, by up to %.3g; SNR %.1f dB", name.data, op.data,
                    p->expected, at.data, p->found, p->differ, p->of, p->worst.largest, p->worst.snr);
    }
    text_free(&name);
    text_free(&op);
    text_free(&at);
    return FAULTY;
}

/* ---- JSON ----------------------------------------------------------------------------------------------------- */

static void json_figures(json_out *j, const char *name, const xir_compare_figures *g) {
    const char *const names[] = { "largest", "relative", "cosine", "snr", "saturated" };
    const double numbers[] = { g->largest, g->relative, g->cosine, g->snr, g->saturated };
    json_open(j, name, '{');
    for (size_t i = 0; i < 5; i++) {
        json_member(j, names[i]);
        json_real(&j->t, numbers[i]);
    }
    json_close(j, '}');
}

static void json_op(json_out *j, const char *name, const xir_op *op) {
    json_open(j, name, '{');
    json_int(j, "op_id", xir_op_id(op));
    json_str(j, "name", xir_op_name(op));
    json_str(j, "type_key", xir_class_key(xir_op_class(op)));
    json_close(j, '}');
}

static void json_pair(json_out *j, const char *name, const xir_compare_pair *p, bool each) {
    static const char *const by[] = { "source", "name", "match", "file", "position" };
    json_open(j, name, '{');
    json_str(j, "value", xir_value_name(p->a));
    json_int(j, "v_id_a", xir_value_id(p->a));
    if (p->b) json_int(j, "v_id_b", xir_value_id(p->b));
    json_op(j, "op_a", xir_value_op(p->a));
    if (p->b) json_op(j, "op_b", xir_value_op(p->b));
    json_str(j, "by", xir_str_of(by[p->by]));
    json_bool(j, "bad", p->bad);
    json_bool(j, "same_shape", p->same_shape);
    if (p->samples) {
        json_figures(j, each ? "worst" : "figures", &p->worst);
        if (each) json_figures(j, "mean", &p->mean);
        json_uint(j, "differ", p->differ);
        json_uint(j, "of", p->of);
        json_uint(j, "at", p->at);
        json_member(j, "expected");
        json_real(&j->t, p->expected);
        json_member(j, "found");
        json_real(&j->t, p->found);
    }
    if (!name) json_close(j, '}');
}

static void json_row(void *user, const char *name, const text *a, const text *b) {
    json_out *j = user;
    json_open(j, NULL, '{');
    json_str(j, "name", xir_str_of(name));
    json_str(j, "a", text_of(a));
    json_str(j, "b", text_of(b));
    json_close(j, '}');
}

static void json_ops(json_out *j, const char *name, const compared *what, const xir_compare_pair *p, bool of_b) {
    size_t n;
    const xir_op **ops = ops_of(what, p, of_b, &n);
    json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) json_op(j, NULL, ops[i]);
    json_close(j, ']');
    free((void *)ops);
}

static void json_report(json_out *j, const compared *what, const xir_compare_state *state,
                        const xir_compare_pair *bad) {
    const size_t n = xir_compare_count(what->c);
    place *places = places_of(what, n);
    json_uint(j, "samples", state->samples);
    json_uint(j, "bad", state->bad);
    json_uint(j, "alone_a", state->alone_a);
    json_uint(j, "alone_b", state->alone_b);
    json_open(j, "pairs", '[');
    for (size_t i = 0; i < n; i++) json_pair(j, NULL, xir_compare_at(what->c, places[i].at), what->each);
    json_close(j, ']');
    free(places);
    if (!bad) {
        json_null(j, "first_bad");
        return;
    }
    json_pair(j, "first_bad", bad, what->each);
    json_ops(j, "ops_a", what, bad, false);
    if (bad->b) json_ops(j, "ops_b", what, bad, true);
    json_open(j, "side_by_side", '[');
    rows_of(xir_value_op(bad->a), bad->b ? xir_value_op(bad->b) : NULL, json_row, j);
    json_close(j, ']');
    json_close(j, '}');
}

int compare_report(const compared *what, json_out *j) {
    xir_compare_state state = XIR_INIT(xir_compare_state);
    const xir_compare_pair *bad = xir_compare_first_bad(what->c);
    xir_compare_state_of(what->c, &state, NULL);
    if (j) {
        json_report(j, what, &state, bad);
    } else {
        print_table(what, &state);
        if (bad) print_first(what, bad);
    }
    return bad ? complain_first(what, bad) : DONE;
}
