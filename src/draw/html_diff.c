/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The differences of two networks, for the page: the kinds of each op's differences, and rows of a field with its
 * content on both sides. The rows of an op are next to each other, sub ops included; those of the network itself come
 * last. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "html_out.h"

typedef struct row { uint32_t key, left, right; } row;   /* numbers of strings */

typedef struct differing {
    const picture *p;
    html_json     *j;
    html_table    *strings;
    uint32_t      *first;    /* by node, then the network: its first row; one more */
    row           *rows;
    size_t         n;
    bool           no_memory;
} differing;

/* A text in the making. It is short: the page is for reading. */
enum { MOST = 1000, MOST_NAME = 200 };
typedef struct words { char text[MOST + 64]; size_t n; } words;

static void put(words *w, xir_str s) {
    const size_t room = MOST - w->n, n = s.size < room ? s.size : room;
    if (n) memcpy(w->text + w->n, s.data, n);
    w->n += n;
    if (n < s.size && w->n == MOST) {
        memcpy(w->text + w->n, "…", 3);
        w->n += 3;
    }
    if (w->n > MOST) w->n = MOST + 3;
}

static void put_word(words *w, const char *text) { if (w->n < MOST) put(w, xir_str_of(text)); }

static void put_name(words *w, xir_str s) {
    if (w->n < MOST) put(w, (xir_str){ s.data, s.size < MOST_NAME ? s.size : MOST_NAME });
}

static void put_integer(words *w, const char *before, int64_t v) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, v);
    put_word(w, before);
    put_word(w, text);
}

static void put_op(words *w, const xir_op *op) {
    put_name(w, draw_class_word(op));
    put_word(w, " ");
    if (xir_op_name(op).size) put_name(w, xir_op_name(op));
    else put_integer(w, "#", xir_op_id(op));
}

/* ---- a side of a field ------------------------------------------------------------------------------------------- */

static void put_printed(differing *d, words *w, xir_status status, xir_text_buffer *text) {
    if (status == XIR_E_MEMORY) d->no_memory = true;
    if (!status) put(w, (xir_str){ text->data, text->size });
    xir_text_free(text);
}

static void put_attr(differing *d, words *w, const xir_op *op, const xir_diff_item *r, const xir_attr *v) {
    xir_context *ctx = xir_network_context(d->p->net);
    xir_text_buffer text = { 0 };
    if (v->is_null) {
        put_word(w, "null");
    } else if (v->kind == XIR_KIND_TEXT) {
        put(w, v->as.text);
    } else if (v->kind == XIR_KIND_REF) {
        put_printed(d, w, xir_object_print(ctx, v->as.ref, 0, &text), &text);
    } else if (v->kind == XIR_KIND_I64) {
        put_integer(w, "", v->as.i64);
    } else if (r->attr && op) {
        put_printed(d, w, xir_op_attr_print(op, r->attr->name, 0, &text), &text);
    } else {
        put_word(w, v->kind == XIR_KIND_BOOL ? (v->as.boolean ? "true" : "false") : "another one");
    }
}

/* Writes the source of an input: the op that makes it, or its name. */
static void put_source(words *w, const xir_value *v) {
    const xir_op *maker = v ? xir_value_op(v) : NULL;
    if (!v) put_word(w, "absent");
    else if (maker) {
        put_integer(w, "output ", (int64_t)xir_value_index(v));
        put_word(w, " of ");
        put_op(w, maker);
    } else {
        put_integer(w, xir_value_is_params(v) ? "Params " : "value ", xir_value_id(v));
        put_word(w, " ");
        put_name(w, xir_value_name(v));
    }
}

static void put_side(differing *d, words *w, const xir_diff_item *r, bool second) {
    const xir_diff_side *side = second ? &r->in_b : &r->in_a;
    const xir_elements_diff *e = r->elements;
    xir_text_buffer text = { 0 };
    char type[256];
    switch (side->what) {
    case XIR_DIFF_NOTHING: put_word(w, "(none)"); break;
    case XIR_DIFF_ATTR:    put_attr(d, w, second ? r->b : r->a, r, &side->as.attr); break;
    case XIR_DIFF_ANY:
        put_printed(d, w, xir_any_print(xir_network_context(d->p->net), side->as.any, 0, &text), &text);
        break;
    case XIR_DIFF_INPUT:   put_source(w, side->as.value); break;
    case XIR_DIFF_VALUE:
        put(w, (xir_str){ type, draw_type_text(xir_value_type(side->as.value), type, sizeof type) });
        break;
    case XIR_DIFF_BYTES:   put_word(w, "bytes"); break;
    case XIR_DIFF_ELEMENTS:
        if (e->not_compared) snprintf(type, sizeof type, "other places: not compared");
        else if (e->by_bytes) snprintf(type, sizeof type, "%" PRIu64 " of %" PRIu64 " bytes differ", e->differ, e->of);
        else if (e->integers && e->is_unsigned)
            snprintf(type, sizeof type, "%" PRIu64, (uint64_t)(second ? e->int_b : e->int_a));
        else if (e->integers) snprintf(type, sizeof type, "%" PRId64, second ? e->int_b : e->int_a);
        else snprintf(type, sizeof type, "%.9g", second ? e->b : e->a);
        put_word(w, type);
        break;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static uint32_t number(differing *d, const words *w) {
    return html_number(d->strings, (xir_str){ w->text, w->n }, true);
}

static void put_key(words *w, const xir_diff_item *r) {
    const xir_op *op = r->b ? r->b : r->a;
    const xir_elements_diff *e = r->elements;
    char text[128];
    if (op && xir_op_parent(op)) {
        put_op(w, op);
        put_word(w, r->kind == XIR_DIFF_REMOVED ? " was removed" : r->kind == XIR_DIFF_ADDED ? " was added" : ": ");
    }
    if (r->kind == XIR_DIFF_MOVED) put_word(w, "order");
    if (r->kind == XIR_DIFF_CHANGED) put(w, r->field);
    if (!e || e->by_bytes || e->not_compared) return;
    snprintf(text, sizeof text, ", %" PRIu64 " of %" PRIu64 " elements differ, most at %" PRIu64, e->differ, e->of,
             e->at);
    put_word(w, text);
}

static void put_after(words *w, const xir_op *after) {
    put_word(w, after ? "after " : "first");
    if (after) put_op(w, after);
}

static void fill_row(differing *d, const xir_diff_item *r, row *out) {
    words key = { .n = 0 }, left = { .n = 0 }, right = { .n = 0 };
    put_key(&key, r);
    if (r->kind == XIR_DIFF_MOVED) {
        put_after(&left, r->after_a);
        put_after(&right, r->after_b);
    } else if (r->kind == XIR_DIFF_CHANGED) {
        put_side(d, &left, r, false);
        put_side(d, &right, r, true);
    }
    *out = (row){ number(d, &key), number(d, &left), number(d, &right) };
}

/* An op that was removed or added says so by itself; what differs about an op that is not drawn is left out. */
static bool has_row(const differing *d, size_t i) {
    const xir_diff_item *r = xir_diff_at(d->p->how.diff, i);
    const xir_op *op = r->b ? r->b : r->a;
    if (!op) return true;
    if (d->p->records[i] == DRAW_NONE) return false;
    return xir_op_parent(op) || r->kind == XIR_DIFF_MOVED || r->kind == XIR_DIFF_CHANGED;
}

static size_t owner(const differing *d, size_t i) {
    const uint32_t node = d->p->records[i];
    return node == DRAW_NONE ? d->p->n_nodes : node;
}

static bool find_rows(differing *d) {
    const picture *p = d->p;
    const size_t records = xir_diff_count(p->how.diff);
    d->first = draw_new(p->alloc, p->n_nodes + 2, sizeof *d->first);
    if (!d->first) return false;
    for (size_t i = 0; i < records; i++) {
        if (!has_row(d, i)) continue;
        d->first[owner(d, i) + 1]++;
        d->n++;
    }
    for (size_t i = 0; i <= p->n_nodes; i++) d->first[i + 1] += d->first[i];
    d->rows = draw_new(p->alloc, d->n, sizeof *d->rows);
    if (!d->rows) return false;
    for (size_t i = 0; i < records; i++)
        if (has_row(d, i)) fill_row(d, xir_diff_at(p->how.diff, i), &d->rows[d->first[owner(d, i)]++]);
    return true;   /* first[i] is where the rows of i end */
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void put_nodes(differing *d) {
    const picture *p = d->p;
    html_column(d->j, "change");
    for (size_t i = 0; i < p->n_nodes; i++) html_cell(d->j, draw_changes(p, i));
    html_close(d->j, ']');
    html_column(d->j, "lost");
    for (size_t i = 0; i < p->n_nodes; i++) html_cell(d->j, p->lost[i]);
    html_close(d->j, ']');
    html_column(d->j, "was");      /* the number of the op in the first network */
    for (size_t i = 0; i < p->n_nodes; i++)
        html_cell(d->j, xir_op_id(draw_was(p, i) ? draw_was(p, i) : p->nodes[i].op));
    html_close(d->j, ']');
    html_column(d->j, "line");     /* draw_change, by segment */
    for (size_t i = 0; i < p->n_segments; i++) html_cell(d->j, p->segments[i].change);
    html_close(d->j, ']');
}

static void put_rows(differing *d) {
    html_column(d->j, "rows");
    for (size_t i = 0; i <= d->p->n_nodes; i++)
        html_cell(d->j, (int64_t)d->first[i] - (int64_t)(i ? d->first[i - 1] : 0));
    html_close(d->j, ']');
    for (int column = 0; column < 3; column++) {
        static const char *const names[] = { "key", "before", "after" };
        html_column(d->j, names[column]);
        for (size_t i = 0; i < d->n; i++)
            html_cell(d->j, column == 0 ? d->rows[i].key : column == 1 ? d->rows[i].left : d->rows[i].right);
        html_close(d->j, ']');
    }
}

bool html_diff(const picture *p, html_json *j, html_table *strings) {
    differing d = { .p = p, .j = j, .strings = strings };
    if (!p->how.diff) return true;
    const bool ok = find_rows(&d);
    if (ok) {
        html_open(j, "diff", '{');
        put_nodes(&d);
        put_rows(&d);
        html_close(j, '}');
        html_string(j, "other", xir_network_name(xir_diff_b(p->how.diff)));
    }
    draw_free(p->alloc, d.first);
    draw_free(p->alloc, d.rows);
    return ok && !d.no_memory;
}
