/* How differences are said: a line for people under a heading for the op, or an object for programs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"

/* ---- naming things ------------------------------------------------------------------------------- */

void describe(text *t, const xir_op *op) {
    xir_str key = xir_class_key(xir_op_class(op)), name = xir_op_name(op);
    text_add(t, key.data, key.size);
    if (name.size) {
        text_put(t, " '");
        text_add(t, name.data, name.size);
        text_put(t, "'");
    }
    text_printf(t, " (op %" PRId64 ")", xir_op_id(op));
}

/* With the op it is part of, if it is a sub op. */
static void describe_whole(text *t, const xir_op *op) {
    const xir_op *parent = xir_op_parent(op);
    if (parent) {
        describe(t, parent);
        text_put(t, " / ");
    }
    describe(t, op);
}

static void json_op(json_out *j, const char *name, const xir_op *op) {
    if (!op) {
        json_null(j, name);
        return;
    }
    json_open(j, name, '{');
    json_int(j, "op_id", xir_op_id(op));
    json_str(j, "name", xir_op_name(op));
    json_str(j, "type_key", xir_class_key(xir_op_class(op)));
    const xir_op *parent = xir_op_parent(op);
    if (parent) json_int(j, "parent_id", xir_op_id(parent));
    json_close(j, '}');
}

/* ---- records ------------------------------------------------------------------------------------- */

enum { CLIP = 100 };

static void begin_record(diffing *d, json_out *j, const char *change, const spot *s) {
    text_put(&j->t, d->records++ ? ",\n" : "\n");
    text_put(&j->t, "{");
    j->more = false;
    json_str(j, "change", xir_str_of(change));
    json_str(j, "in", xir_str_of(s->a || s->b ? "op" : "network"));
    if (!s->a && !s->b) return;
    json_op(j, "op_a", s->a);
    json_op(j, "op_b", s->b);
}

static void end_record(json_out *j) {
    json_close(j, '}');
    write_to(stdout, j->t.data, j->t.size);
    text_free(&j->t);
}

/* The line before the differences of an op, once. */
static void show_heading(diffing *d, const spot *s) {
    const xir_op *op = s->a ? s->a : s->b;
    if (!op) {
        if (!d->records) printf("network\n");   /* its own fields come first */
        return;
    }
    if (op == d->shown) return;
    d->shown = op;
    text t = { 0 };
    describe_whole(&t, op);
    print_text(stdout, text_of(&t));
    printf("\n");
    text_free(&t);
}

/* "  ~ field: " */
static void begin_line(diffing *d, const spot *s) {
    show_heading(d, s);
    d->records++;
    printf("  ~ ");
    print_text(stdout, text_of(s->field));
    printf(": ");
}

void report_change(diffing *d, const spot *s, text *a, text *b) {
    if (d->json) {
        json_out j = { 0 };
        begin_record(d, &j, "changed", s);
        json_str(&j, "field", text_of(s->field));
        json_member(&j, "a");
        text_put(&j.t, a ? a->data : "null");
        json_member(&j, "b");
        text_put(&j.t, b ? b->data : "null");
        end_record(&j);
    } else {
        begin_line(d, s);
        if (a) print_clipped(stdout, text_of(a), CLIP);
        else printf("(none)");
        printf(" -> ");
        if (b) print_clipped(stdout, text_of(b), CLIP);
        else printf("(none)");
        printf("\n");
    }
    if (a) text_free(a);
    if (b) text_free(b);
}

static void quote(text *t) {
    text quoted = { 0 };
    json_text(&quoted, text_of(t));
    text_free(t);
    *t = quoted;
}

void report_words(diffing *d, const spot *s, text *a, text *b) {
    if (d->json && a) quote(a);
    if (d->json && b) quote(b);
    report_change(d, s, a, b);
}

static void put_number(text *t, const value_diff *v, bool of_a) {
    if (v->integers && v->is_unsigned) text_printf(t, "%" PRIu64, (uint64_t)(of_a ? v->ia : v->ib));
    else if (v->integers) text_printf(t, "%" PRId64, of_a ? v->ia : v->ib);
    else json_real(t, of_a ? v->a : v->b);
}

/* The place of an element: an index a dim. */
static void put_place(text *t, const xir_type *type, uint64_t at) {
    const xir_tensor_type *tensor = xir_type_tensor(type);
    size_t rank = tensor ? tensor->shape.size : 0;
    int64_t *index = take(rank, sizeof *index);
    for (size_t i = rank; i-- > 0;) {
        uint64_t dim = tensor->shape.data[i] > 0 ? (uint64_t)tensor->shape.data[i] : 1;
        index[i] = (int64_t)(at % dim);
        at /= dim;
    }
    json_i64s(t, index, rank);
    free(index);
}

/* "inf" without its quotes, for people. */
static const char *bare(text *t) {
    if (t->size < 2 || t->data[0] != '"') return t->data;
    t->data[t->size - 1] = '\0';
    return t->data + 1;
}

void report_values(diffing *d, const spot *s, const value_diff *v, const xir_type *type) {
    text place = { 0 }, largest = { 0 }, a = { 0 }, b = { 0 };
    if (!v->by_bytes) {
        put_place(&place, type, v->at);
        put_number(&a, v, true);
        put_number(&b, v, false);
        if (v->integers) text_printf(&largest, "%" PRIu64, v->largest_integer);
        else json_real(&largest, v->largest);
    }
    if (d->json) {
        json_out j = { 0 };
        begin_record(d, &j, "changed", s);
        json_str(&j, "field", text_of(s->field));
        json_str(&j, "unit", xir_str_of(v->by_bytes ? "byte" : "element"));
        json_uint(&j, "differ", v->count);
        json_uint(&j, "of", v->of);
        json_member(&j, "at");
        if (v->by_bytes) text_printf(&j.t, "%" PRIu64, v->at);
        else text_put(&j.t, place.data);
        if (!v->by_bytes) {
            json_member(&j, "largest");
            text_put(&j.t, largest.data);
            json_member(&j, "a");
            text_put(&j.t, a.data);
            json_member(&j, "b");
            text_put(&j.t, b.data);
        }
        end_record(&j);
    } else {
        begin_line(d, s);
        printf("%" PRIu64 " of %" PRIu64 " %s differ", v->count, v->of, v->by_bytes ? "bytes" : "values");
        if (v->by_bytes) printf(", the first at %" PRIu64 "\n", v->at);
        else printf(", by at most %s, at %s: %s -> %s\n", bare(&largest), place.data, bare(&a), bare(&b));
    }
    text_free(&place);
    text_free(&largest);
    text_free(&a);
    text_free(&b);
}

void report_op(diffing *d, const char *change, const spot *s, const xir_op *after_a, const xir_op *after_b) {
    if (d->json) {
        json_out j = { 0 };
        begin_record(d, &j, change, s);
        if (s->a) json_op(&j, "after_a", after_a);
        if (s->b) json_op(&j, "after_b", after_b);
        end_record(&j);
        return;
    }
    d->records++;
    d->shown = s->a ? s->a : s->b;
    text t = { 0 };
    text_put(&t, change[0] == 'a' ? "+ " : change[0] == 'r' ? "- " : "> ");
    const xir_op *op = s->a ? s->a : s->b, *after = s->b ? after_b : after_a;
    describe_whole(&t, op);
    text_printf(&t, ": %s", change);
    if (s->a && s->b) {
        text_put(&t, " from behind ");
        if (after_a) describe(&t, after_a);
        else text_put(&t, "nothing");
        text_put(&t, " to");
    }
    if (s->b) {
        text_put(&t, " behind ");
        if (after) describe(&t, after);
        else text_put(&t, "nothing");
    }
    print_text(stdout, text_of(&t));
    printf("\n");
    text_free(&t);
}

/* ---- where it is --------------------------------------------------------------------------------- */

size_t into(const spot *s, xir_str part) {
    size_t size = s->field->size;
    if (size) text_put(s->field, "/");
    text_add(s->field, part.data, part.size);
    return size;
}

size_t into_index(const spot *s, size_t i) {
    size_t size = s->field->size;
    text_printf(s->field, size ? "/%zu" : "%zu", i);
    return size;
}

void leave(const spot *s, size_t size) {
    s->field->size = size;
    s->field->data[size] = '\0';
}
