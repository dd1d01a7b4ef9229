/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Printing of differences: a line for people under a heading for the op, or an object for programs. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"

/* ---- naming things ------------------------------------------------------------------------------- */

static void describe(text *t, const xir_op *op) {
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

/* Writes the source of an input: "output 0 of icraft::xir::Conv2d 'c1' (op 3)". */
static void put_source(text *t, const xir_value *v) {
    const xir_op *maker = v ? xir_value_op(v) : NULL;
    if (!v) {
        text_put(t, "absent");
    } else if (maker) {
        text_printf(t, "output %zu of ", xir_value_index(v));
        describe(t, maker);
    } else {
        xir_str name = xir_value_name(v);
        text_printf(t, "%s %" PRId64, xir_value_is_params(v) ? "params" : "value", xir_value_id(v));
        if (name.size) text_printf(t, " '%.*s'", (int)(name.size < 200 ? name.size : 200), name.data);
    }
}

/* ---- what a network has in a field ------------------------------------------------------------- */

/* A number that a float can hold has as few digits as tell it from other floats, at most 9, unless all are wanted. */
static void put_real(text *t, double v, bool all) {
    char digits[40];
    if (all || !(fabs(v) <= (double)FLT_MAX) || (double)(float)v != v) {
        json_real(t, v);
        return;
    }
    for (int n = 1; n <= 9; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, v);
        if (strtof(digits, NULL) == (float)v) break;
    }
    text_put(t, digits);
    if (!strpbrk(digits, ".e")) text_put(t, ".0");
}

/* An object; a scalar, such as a factor, is spelled as a bare number. */
static void put_ref(text *t, const xir_object *object, bool all) {
    text spelled = { 0 };
    char *end = NULL;
    json_object(&spelled, object);
    double v = strtod(spelled.data, &end);
    bool real = end != spelled.data && !*end && strpbrk(spelled.data, ".e");
    if (real) put_real(t, v, all);
    else text_add(t, spelled.data, spelled.size);
    text_free(&spelled);
}

static void put_refs(text *t, const xir_refs *refs, bool all) {
    text_put(t, "[");
    for (size_t i = 0; i < refs->size; i++) {
        if (i) text_put(t, ",");
        put_ref(t, refs->data[i], all);
    }
    text_put(t, "]");
}

static void put_run(text *t, const xir_run *run, bool all) {
    text_printf(t, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",", run->end, run->m, run->exp);
    put_real(t, (double)run->value, all);
    text_put(t, "]");
}

#define PUT_LIST(list, put_item)                                    \
    do {                                                            \
        text_put(t, "[");                                           \
        for (size_t i = 0; i < (list).size; i++) {                  \
            if (i) text_put(t, ",");                                \
            put_item;                                               \
        }                                                           \
        text_put(t, "]");                                           \
    } while (0)

void put_attr(text *t, const xir_field *f, const xir_attr *v, bool all) {
    if (v->is_null) {
        text_put(t, "null");
        return;
    }
    switch (v->kind) {
    case XIR_KIND_BOOL:  text_put(t, v->as.boolean ? "true" : "false"); break;
    case XIR_KIND_I64:   text_printf(t, "%" PRId64, v->as.i64); break;
    case XIR_KIND_U64:   text_printf(t, "%" PRIu64, v->as.u64); break;
    case XIR_KIND_REAL:  put_real(t, v->as.real, all); break;
    case XIR_KIND_TEXT:  json_text(t, v->as.text); break;
    case XIR_KIND_REF:   put_ref(t, v->as.ref, all); break;
    case XIR_KIND_I64S:  json_i64s(t, v->as.i64s.data, v->as.i64s.size); break;
    case XIR_KIND_REFS:  put_refs(t, &v->as.refs, all); break;
    case XIR_KIND_BOOLS: PUT_LIST(v->as.bools, text_put(t, v->as.bools.data[i] ? "true" : "false")); break;
    case XIR_KIND_REALS: PUT_LIST(v->as.reals, put_real(t, v->as.reals.data[i], all)); break;
    case XIR_KIND_TEXTS: PUT_LIST(v->as.texts, json_text(t, v->as.texts.data[i])); break;
    case XIR_KIND_RUNS:  PUT_LIST(v->as.runs, put_run(t, &v->as.runs.data[i], all)); break;
    case XIR_KIND_ENUM:
        if (f && f->members && v->as.enumerator >= 0 && (size_t)v->as.enumerator < f->members->size) {
            json_text(t, xir_str_of(f->members->names[v->as.enumerator]));
        } else {
            text_printf(t, "%d", v->as.enumerator);
        }
        break;
    default: text_put(t, "null"); break;
    }
}

/* One side as JSON, or as words, which in JSON are a text. False: the network does not have the field. */
static bool put_side(text *t, const xir_diff_item *r, const xir_diff_side *side, bool json, bool all) {
    text words = { 0 };
    switch (side->what) {
    case XIR_DIFF_NOTHING: return false;
    case XIR_DIFF_ATTR:    put_attr(t, r->attr, &side->as.attr, all); return true;
    case XIR_DIFF_ANY:     json_any(t, side->as.any); return true;
    case XIR_DIFF_INPUT:   put_source(&words, side->as.value); break;
    case XIR_DIFF_VALUE:   type_words(&words, xir_value_type(side->as.value)); break;
    default:               text_put(&words, "bytes"); break;
    }
    if (json) json_text(t, text_of(&words));
    else text_add(t, words.data, words.size);
    text_free(&words);
    return true;
}

/* ---- records ------------------------------------------------------------------------------------- */

enum { CLIP = 100 };

static void begin_record(reporting *p, json_out *j, const char *change, const xir_diff_item *r) {
    text_put(&j->t, p->records++ ? ",\n" : "\n");
    text_put(&j->t, "{");
    j->more = false;
    json_str(j, "change", xir_str_of(change));
    json_str(j, "in", xir_str_of(r->a || r->b ? "op" : "network"));
    if (!r->a && !r->b) return;
    json_op(j, "op_a", r->a);
    json_op(j, "op_b", r->b);
}

static void end_record(json_out *j) {
    json_close(j, '}');
    write_to(stdout, j->t.data, j->t.size);
    text_free(&j->t);
}

/* The line before the differences of an op, once. */
static void show_heading(reporting *p, const xir_diff_item *r) {
    const xir_op *op = r->a ? r->a : r->b;
    if (!op) {
        if (!p->records) printf("network\n");   /* its own fields come first */
        return;
    }
    if (op == p->shown) return;
    p->shown = op;
    text t = { 0 };
    describe_whole(&t, op);
    print_text(stdout, text_of(&t));
    printf("\n");
    text_free(&t);
}

/* "  ~ field: " */
static void begin_line(reporting *p, const xir_diff_item *r) {
    show_heading(p, r);
    p->records++;
    printf("  ~ ");
    print_text(stdout, r->field);
    printf(": ");
}

/* Of a in red, of b in green, as what is removed and added. */
static void print_side(bool there, const text *t, bool of_a) {
    paint(stdout, of_a ? "31" : "32");
    if (there) print_clipped(stdout, text_of(t), CLIP);
    else printf("(none)");
    paint(stdout, "0");
}

static void report_change(reporting *p, const xir_diff_item *r) {
    text a = { 0 }, b = { 0 };
    bool has_a = put_side(&a, r, &r->in_a, p->json, false), has_b = put_side(&b, r, &r->in_b, p->json, false);
    if (has_a && has_b && strcmp(a.data, b.data) == 0) {   /* a double and its float */
        text_free(&a);
        text_free(&b);
        put_side(&a, r, &r->in_a, p->json, true);
        put_side(&b, r, &r->in_b, p->json, true);
    }
    if (p->json) {
        json_out j = { 0 };
        begin_record(p, &j, "changed", r);
        json_str(&j, "field", r->field);
        json_member(&j, "a");
        text_put(&j.t, has_a ? a.data : "null");
        json_member(&j, "b");
        text_put(&j.t, has_b ? b.data : "null");
        end_record(&j);
    } else {
        begin_line(p, r);
        print_side(has_a, &a, true);
        printf(" -> ");
        print_side(has_b, &b, false);
        printf("\n");
    }
    text_free(&a);
    text_free(&b);
}

static void put_number(text *t, const xir_elements_diff *v, bool of_a, bool all) {
    if (v->integers && v->is_unsigned) text_printf(t, "%" PRIu64, (uint64_t)(of_a ? v->int_a : v->int_b));
    else if (v->integers) text_printf(t, "%" PRId64, of_a ? v->int_a : v->int_b);
    else put_real(t, of_a ? v->a : v->b, all);
}

/* The place of an element: an index a dim. */
static void put_place(text *t, const xir_type *type, uint64_t at) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
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

static void report_elements(reporting *p, const xir_diff_item *r) {
    const xir_elements_diff *v = r->elements;
    text place = { 0 }, largest = { 0 }, a = { 0 }, b = { 0 };
    const bool bare_count = v->by_bytes || v->not_compared;
    if (!bare_count) {
        put_place(&place, xir_value_type(r->in_a.as.value), v->at);
        put_number(&a, v, true, false);
        put_number(&b, v, false, false);
        if (strcmp(a.data, b.data) == 0) {
            text_free(&a);
            text_free(&b);
            put_number(&a, v, true, true);
            put_number(&b, v, false, true);
        }
        if (v->integers) text_printf(&largest, "%" PRIu64, v->largest_int);
        else json_real(&largest, v->largest);
    }
    if (p->json) {
        json_out j = { 0 };
        begin_record(p, &j, "changed", r);
        json_str(&j, "field", r->field);
        json_str(&j, "unit", xir_str_of(v->not_compared ? "none" : v->by_bytes ? "byte" : "element"));
        json_uint(&j, "differ", v->differ);
        json_uint(&j, "of", v->of);
        json_member(&j, "at");
        if (bare_count) text_printf(&j.t, "%" PRIu64, v->at);
        else text_put(&j.t, place.data);
        if (!bare_count) {
            json_member(&j, "largest");
            text_put(&j.t, largest.data);
            json_member(&j, "a");
            text_put(&j.t, a.data);
            json_member(&j, "b");
            text_put(&j.t, b.data);
        }
        end_record(&j);
    } else {
        begin_line(p, r);
        if (v->not_compared) printf("not compared: the elements have other places, and no layout says which\n");
        else printf("%" PRIu64 " of %" PRIu64 " %s differ", v->differ, v->of, v->by_bytes ? "bytes" : "values");
        if (v->by_bytes) printf(", the first at %" PRIu64 "\n", v->at);
        else if (!v->not_compared)
            printf(", by at most %s, at %s: %s -> %s\n", bare(&largest), place.data, bare(&a), bare(&b));
    }
    text_free(&place);
    text_free(&largest);
    text_free(&a);
    text_free(&b);
}

static void report_op(reporting *p, const char *change, const xir_diff_item *r) {
    if (p->json) {
        json_out j = { 0 };
        begin_record(p, &j, change, r);
        if (r->a) json_op(&j, "after_a", r->after_a);
        if (r->b) json_op(&j, "after_b", r->after_b);
        end_record(&j);
        return;
    }
    p->records++;
    p->shown = r->a ? r->a : r->b;
    text t = { 0 };
    text_put(&t, change[0] == 'a' ? "+ " : change[0] == 'r' ? "- " : "> ");
    const xir_op *op = r->a ? r->a : r->b, *after = r->b ? r->after_b : r->after_a;
    describe_whole(&t, op);
    text_printf(&t, ": %s", change);
    if (r->a && r->b) {
        text_put(&t, " from after ");
        if (r->after_a) describe(&t, r->after_a);
        else text_put(&t, "nothing");
        text_put(&t, " to");
    }
    if (r->b) {
        text_put(&t, " after ");
        if (after) describe(&t, after);
        else text_put(&t, "nothing");
    }
    paint(stdout, change[0] == 'a' ? "32" : change[0] == 'r' ? "31" : "36");
    print_text(stdout, text_of(&t));
    paint(stdout, "0");
    printf("\n");
    text_free(&t);
}

void report(reporting *p, const xir_diff_item *r) {
    switch (r->kind) {
    case XIR_DIFF_REMOVED: report_op(p, "removed", r); break;
    case XIR_DIFF_ADDED:   report_op(p, "added", r); break;
    case XIR_DIFF_MOVED:   report_op(p, "moved", r); break;
    case XIR_DIFF_CHANGED:
        if (r->elements) report_elements(p, r);
        else report_change(p, r);
        break;
    }
}
