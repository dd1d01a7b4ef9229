/* xir diff: what differs between two networks, said in their terms. Ops are the same by what match.c finds, values by who makes
 * them and Params by where they are used; so ids may differ, and the order of keys and the numbers of lines never matter.
 * Each difference is one record, a line for people or an object for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"

static bool        with_params, with_ids, as_json;
static const char *tolerance_word;

typedef struct pair_of_params {
    const xir_value *a, *b;
} pair_of_params;

typedef struct diffing {
    mates           m;
    double          tolerance;
    bool            json;
    size_t          added, removed, moved, changed, records, renumbered;
    bool            network;                     /* its own fields differ          */
    const xir_op   *shown;                       /* whose heading was printed last */
    pair_of_params *seen;                        /* open addressing                */
    size_t          seen_room, seen_count;
} diffing;

/* Where a difference is: of which ops, and under which names in them. */
typedef struct spot {
    const xir_op *a, *b;     /* both NULL: of the network */
    text         *field;     /* "outputs/0/dtype"          */
} spot;

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
    for (const xir_op *parent = xir_op_parent(op); parent; parent = NULL) {
        describe(&t, parent);
        text_put(&t, " / ");
    }
    describe(&t, op);
    print_text(stdout, text_of(&t));
    printf("\n");
    text_free(&t);
}

static void print_value(const text *v) { print_clipped(stdout, text_of(v), CLIP); }

/* One field has other values; they are given as JSON, NULL where there is none. */
static void report_change(diffing *d, const spot *s, const text *a, const text *b) {
    if (d->json) {
        json_out j = { 0 };
        begin_record(d, &j, "changed", s);
        json_str(&j, "field", text_of(s->field));
        json_member(&j, "a");
        text_put(&j.t, a ? a->data : "null");
        json_member(&j, "b");
        text_put(&j.t, b ? b->data : "null");
        end_record(&j);
        return;
    }
    show_heading(d, s);
    d->records++;
    printf("  ~ ");
    print_text(stdout, text_of(s->field));
    printf(": ");
    if (a) print_value(a);
    else printf("(none)");
    printf(" -> ");
    if (b) print_value(b);
    else printf("(none)");
    printf("\n");
}

/* The same where the values are not the file's, but words about it. */
static void report_words(diffing *d, const spot *s, const text *a, const text *b) {
    if (!d->json) {
        report_change(d, s, a, b);
        return;
    }
    text x = { 0 }, y = { 0 };
    if (a) json_text(&x, text_of(a));
    if (b) json_text(&y, text_of(b));
    report_change(d, s, a ? &x : NULL, b ? &y : NULL);
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

static void report_values(diffing *d, const spot *s, const value_diff *v, const xir_type *type) {
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
        show_heading(d, s);
        d->records++;
        printf("  ~ ");
        print_text(stdout, text_of(s->field));
        printf(": %" PRIu64 " of %" PRIu64 " %s differ", v->count, v->of, v->by_bytes ? "bytes" : "values");
        if (v->by_bytes) printf(", the first at %" PRIu64 "\n", v->at);
        else printf(", by at most %s, at %s: %s -> %s\n", bare(&largest), place.data, bare(&a), bare(&b));
    }
    text_free(&place);
    text_free(&largest);
    text_free(&a);
    text_free(&b);
}

/* An op that only one network has, or that stands elsewhere in the order; `after` is the op before it in the network. */
static void report_op(diffing *d, const char *change, const spot *s, const xir_op *after_a, const xir_op *after_b) {
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
    for (const xir_op *parent = xir_op_parent(op); parent; parent = NULL) {
        describe(&t, parent);
        text_put(&t, " / ");
    }
    describe(&t, op);
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

/* ---- fields -------------------------------------------------------------------------------------- */

/* Goes into a part of a field; leave with the size that it had. */
static size_t into(const spot *s, const char *format, ...) XIR_PRINTF(2, 3);
static size_t into(const spot *s, const char *format, ...) {
    size_t size = s->field->size;
    va_list args;
    va_start(args, format);
    char *name = NULL;
    if (vasprintf(&name, format, args) >= 0) {
        if (size) text_put(s->field, "/");
        text_put(s->field, name);
        free(name);
    }
    va_end(args);
    return size;
}

static void leave(const spot *s, size_t size) {
    s->field->size = size;
    s->field->data[size] = '\0';
}

static size_t into_key(const spot *s, xir_str key) {
    size_t size = s->field->size;
    if (size) text_put(s->field, "/");
    text_add(s->field, key.data, key.size);
    return size;
}

static void compare_texts(diffing *d, const spot *s, xir_str a, xir_str b) {
    if (xir_str_equal(a, b)) return;
    text x = { 0 }, y = { 0 };
    json_text(&x, a);
    json_text(&y, b);
    report_change(d, s, &x, &y);
}

static void compare_objects(diffing *d, const spot *s, const xir_object *a, const xir_object *b) {
    if (xir_object_equal(a, b)) return;
    text x = { 0 }, y = { 0 };
    json_object(&x, a);
    json_object(&y, b);
    report_change(d, s, &x, &y);
}

/* ---- types --------------------------------------------------------------------------------------- */

static void compare_shapes(diffing *d, const spot *s, const xir_i64s *a, const xir_i64s *b) {
    if (a->size == b->size && (!a->size || memcmp(a->data, b->data, a->size * sizeof *a->data) == 0)) return;
    text x = { 0 }, y = { 0 };
    json_i64s(&x, a->data, a->size);
    json_i64s(&y, b->data, b->size);
    report_change(d, s, &x, &y);
}

static void put_refs(text *t, const xir_refs *refs) {
    text_put(t, "[");
    for (size_t i = 0; i < refs->size; i++) {
        if (i) text_put(t, ",");
        json_object(t, refs->data[i]);
    }
    text_put(t, "]");
}

static bool same_refs(const xir_refs *a, const xir_refs *b) {
    if (a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++) {
        if (!xir_object_equal(a->data[i], b->data[i])) return false;
    }
    return true;
}

static void compare_refs(diffing *d, const spot *s, const xir_refs *a, const xir_refs *b) {
    if (same_refs(a, b)) return;
    text x = { 0 }, y = { 0 };
    put_refs(&x, a);
    put_refs(&y, b);
    report_change(d, s, &x, &y);
}

/* Tensors part by part. */
static void compare_types(diffing *d, const spot *s, const xir_type *a, const xir_type *b) {
    if (a == b || (a && b && xir_type_equal(a, b))) return;
    const xir_tensor_type *x = xir_type_tensor(a), *y = xir_type_tensor(b);
    size_t before = d->records, size;
    if (x && y) {
        size = into(s, "element_dtype");
        compare_objects(d, s, xir_type_object(x->element_dtype), xir_type_object(y->element_dtype));
        leave(s, size);
        size = into(s, "shape");
        compare_shapes(d, s, &x->shape, &y->shape);
        leave(s, size);
        size = into(s, "layout");
        compare_objects(d, s, (const xir_object *)x->layout, (const xir_object *)y->layout);
        leave(s, size);
        size = into(s, "merged_distrs");
        compare_refs(d, s, &x->merged_distrs, &y->merged_distrs);
        leave(s, size);
    }
    if (d->records == before) compare_objects(d, s, xir_type_object(a), xir_type_object(b));
}

/* ---- values -------------------------------------------------------------------------------------- */

static void compare_maps(diffing *d, const spot *s, const xir_map *a, const xir_map *b);

/* What a value says of itself; not its id, and not who makes it. */
static void compare_value(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    size_t size = into(s, "name");
    compare_texts(d, s, xir_value_name(a), xir_value_name(b));
    leave(s, size);
    size = into(s, "dtype");
    compare_types(d, s, xir_value_type(a), xir_value_type(b));
    leave(s, size);
    size = into(s, "mtype");
    compare_objects(d, s, (const xir_object *)xir_value_mtype(a), (const xir_object *)xir_value_mtype(b));
    leave(s, size);
    size = into(s, "tags");
    compare_maps(d, s, xir_value_tags(a), xir_value_tags(b));
    leave(s, size);
    if (xir_value_id(a) == xir_value_id(b)) return;
    d->renumbered++;
    if (!with_ids) return;
    text x = { 0 }, y = { 0 };
    text_printf(&x, "%" PRId64, xir_value_id(a));
    text_printf(&y, "%" PRId64, xir_value_id(b));
    size = into(s, "v_id");
    report_change(d, s, &x, &y);
    leave(s, size);
}

/* Whether the pair is new: Params that several ops use are compared where they are used first. */
static bool first_time(diffing *d, const xir_value *a, const xir_value *b) {
    if (d->seen_count * 2 >= d->seen_room) {
        size_t room = d->seen_room ? d->seen_room * 2 : 256;
        pair_of_params *old = d->seen;
        d->seen = take(room, sizeof *d->seen);
        size_t was = d->seen_room;
        d->seen_room = room;
        d->seen_count = 0;
        for (size_t i = 0; i < was; i++) {
            if (old[i].a) first_time(d, old[i].a, old[i].b);
        }
        free(old);
    }
    uint64_t h = ((uint64_t)(uintptr_t)a >> 4) * UINT64_C(0x9E3779B97F4A7C15) ^ ((uint64_t)(uintptr_t)b >> 4) * UINT64_C(0xC2B2AE3D27D4EB4F);
    for (size_t at = (size_t)(h >> 20) & (d->seen_room - 1);; at = (at + 1) & (d->seen_room - 1)) {
        if (d->seen[at].a == a && d->seen[at].b == b) return false;
        if (d->seen[at].a) continue;
        d->seen[at] = (pair_of_params){ a, b };
        d->seen_count++;
        return true;
    }
}

static void compare_params(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    if (!first_time(d, a, b)) return;
    compare_value(d, s, a, b);
    if (xir_params_allow_no_data(a) != xir_params_allow_no_data(b)) {
        text x = { 0 }, y = { 0 };
        text_put(&x, xir_params_allow_no_data(a) ? "true" : "false");
        text_put(&y, xir_params_allow_no_data(b) ? "true" : "false");
        size_t size = into(s, "_allow_no_data");
        report_change(d, s, &x, &y);
        leave(s, size);
    }
    if (!with_params) return;
    bool has_a = xir_params_has_data(a), has_b = xir_params_has_data(b);
    if (has_a && has_b) {
        value_diff v = compare_values(a, b, d->tolerance);
        size_t size = into(s, "data");
        if (v.differ) report_values(d, s, &v, xir_value_type(a));
        leave(s, size);
    } else if (has_a != has_b) {
        text x = { 0 };
        text_put(&x, "bytes");
        size_t size = into(s, "data");
        report_words(d, s, has_a ? &x : NULL, has_b ? &x : NULL);
        leave(s, size);
    }
}

/* ---- values without a class ---------------------------------------------------------------------- */

static bool has_params(const xir_any *any) {
    if (any->kind == XIR_ANY_PARAMS) return true;
    if (any->kind == XIR_ANY_LIST) {
        for (size_t i = 0; i < any->as.list.size; i++) {
            if (has_params(&any->as.list.items[i])) return true;
        }
    }
    if (any->kind == XIR_ANY_MAP) {
        for (size_t i = 0; i < any->as.map.size; i++) {
            if (has_params(&any->as.map.entries[i].value)) return true;
        }
    }
    return false;
}

/* Params in them are compared as Params, so what holds some is gone into. */
static void compare_any(diffing *d, const spot *s, const xir_any *a, const xir_any *b) {
    if (a && b && a->kind == XIR_ANY_PARAMS && b->kind == XIR_ANY_PARAMS && a->as.params && b->as.params) {
        compare_params(d, s, a->as.params, b->as.params);
        return;
    }
    if (a && b && a->kind == XIR_ANY_MAP && b->kind == XIR_ANY_MAP) {
        compare_maps(d, s, &a->as.map, &b->as.map);
        return;
    }
    bool lists = a && b && a->kind == XIR_ANY_LIST && b->kind == XIR_ANY_LIST && a->as.list.size == b->as.list.size;
    if (lists && has_params(a) && has_params(b)) {
        for (size_t i = 0; i < a->as.list.size; i++) {
            size_t size = into(s, "%zu", i);
            compare_any(d, s, &a->as.list.items[i], &b->as.list.items[i]);
            leave(s, size);
        }
        return;
    }
    if (a && b && xir_any_equal(a, b)) return;
    text x = { 0 }, y = { 0 };
    if (a) json_any(&x, a);
    if (b) json_any(&y, b);
    report_change(d, s, a ? &x : NULL, b ? &y : NULL);
}

static int key_order(xir_str a, xir_str b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Key by key. */
static void compare_maps(diffing *d, const spot *s, const xir_map *a, const xir_map *b) {
    size_t i = 0, j = 0, n = a ? a->size : 0, m = b ? b->size : 0;
    while (i < n || j < m) {
        int order = i == n ? 1 : j == m ? -1 : key_order(a->entries[i].key, b->entries[j].key);
        size_t size = into_key(s, order <= 0 ? a->entries[i].key : b->entries[j].key);
        compare_any(d, s, order <= 0 ? &a->entries[i].value : NULL, order >= 0 ? &b->entries[j].value : NULL);
        leave(s, size);
        i += order <= 0;
        j += order >= 0;
    }
}

/* ---- attributes ---------------------------------------------------------------------------------- */

static void compare_lists(diffing *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b);

static void put_attr(text *t, const xir_field *f, const xir_attr *v) {
    if (v->is_null) {
        text_put(t, "null");
        return;
    }
    switch (v->kind) {
    case XIR_KIND_BOOL: text_put(t, v->as.boolean ? "true" : "false"); return;
    case XIR_KIND_I64:  text_printf(t, "%" PRId64, v->as.i64); return;
    case XIR_KIND_U64:  text_printf(t, "%" PRIu64, v->as.u64); return;
    case XIR_KIND_REAL: json_real(t, v->as.real); return;
    case XIR_KIND_TEXT: json_text(t, v->as.text); return;
    case XIR_KIND_ENUM:
        if (f->members && v->as.enumerator >= 0 && (size_t)v->as.enumerator < f->members->size) {
            json_text(t, xir_str_of(f->members->words[v->as.enumerator]));
        } else {
            text_printf(t, "%d", v->as.enumerator);
        }
        return;
    case XIR_KIND_REF:  json_object(t, v->as.ref); return;
    case XIR_KIND_I64S: json_i64s(t, v->as.i64s.data, v->as.i64s.size); return;
    case XIR_KIND_REFS: put_refs(t, &v->as.refs); return;
    case XIR_KIND_BOOLS: case XIR_KIND_REALS: case XIR_KIND_TEXTS: case XIR_KIND_RUNS: break;
    default: text_put(t, "null"); return;
    }
    text_put(t, "[");
    size_t n = v->kind == XIR_KIND_BOOLS ? v->as.bools.size : v->kind == XIR_KIND_REALS ? v->as.reals.size
             : v->kind == XIR_KIND_TEXTS ? v->as.texts.size : v->as.runs.size;
    for (size_t i = 0; i < n; i++) {
        if (i) text_put(t, ",");
        if (v->kind == XIR_KIND_BOOLS) text_put(t, v->as.bools.data[i] ? "true" : "false");
        else if (v->kind == XIR_KIND_REALS) json_real(t, v->as.reals.data[i]);
        else if (v->kind == XIR_KIND_TEXTS) json_text(t, v->as.texts.data[i]);
        else text_printf(t, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",%.9g]", v->as.runs.data[i].end, v->as.runs.data[i].m,
                         v->as.runs.data[i].exp, (double)v->as.runs.data[i].value);
    }
    text_put(t, "]");
}

static bool same_bytes(const void *a, const void *b, size_t n, size_t m, size_t size) {
    return n == m && (!n || memcmp(a, b, n * size) == 0);
}

/* Whether two attributes of a kind that holds neither Params nor ops nor maps are the same. */
static bool same_attr(const xir_attr *a, const xir_attr *b) {
    if (a->is_null || b->is_null) return a->is_null == b->is_null;
    switch (a->kind) {
    case XIR_KIND_BOOL:  return a->as.boolean == b->as.boolean;
    case XIR_KIND_I64:   return a->as.i64 == b->as.i64;
    case XIR_KIND_U64:   return a->as.u64 == b->as.u64;
    case XIR_KIND_REAL:  return a->as.real == b->as.real || (isnan(a->as.real) && isnan(b->as.real));
    case XIR_KIND_TEXT:  return xir_str_equal(a->as.text, b->as.text);
    case XIR_KIND_ENUM:  return a->as.enumerator == b->as.enumerator;
    case XIR_KIND_REF:   return xir_object_equal(a->as.ref, b->as.ref);
    case XIR_KIND_BOOLS: return same_bytes(a->as.bools.data, b->as.bools.data, a->as.bools.size, b->as.bools.size, sizeof(bool));
    case XIR_KIND_I64S:  return same_bytes(a->as.i64s.data, b->as.i64s.data, a->as.i64s.size, b->as.i64s.size, sizeof(int64_t));
    case XIR_KIND_REALS: return same_bytes(a->as.reals.data, b->as.reals.data, a->as.reals.size, b->as.reals.size, sizeof(double));
    case XIR_KIND_REFS:  return same_refs(&a->as.refs, &b->as.refs);
    case XIR_KIND_TEXTS:
        if (a->as.texts.size != b->as.texts.size) return false;
        for (size_t i = 0; i < a->as.texts.size; i++) {
            if (!xir_str_equal(a->as.texts.data[i], b->as.texts.data[i])) return false;
        }
        return true;
    case XIR_KIND_RUNS:
        if (a->as.runs.size != b->as.runs.size) return false;
        for (size_t i = 0; i < a->as.runs.size; i++) {
            const xir_run *x = &a->as.runs.data[i], *y = &b->as.runs.data[i];
            if (x->end != y->end || x->m != y->m || x->exp != y->exp || memcmp(&x->value, &y->value, sizeof x->value) != 0) return false;
        }
        return true;
    default: return true;
    }
}

/* One of two Params, either may be missing. */
static void compare_params_attr(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    if (a && b) {
        compare_params(d, s, a, b);
    } else if (a || b) {
        text x = { 0 };
        type_words(&x, xir_value_type(a ? a : b));
        report_words(d, s, a ? &x : NULL, b ? &x : NULL);
    }
}

static void compare_attr(diffing *d, const spot *s, const xir_field *f, const xir_attr *a, const xir_attr *b) {
    switch (f->kind) {
    case XIR_KIND_PARAMS:
        compare_params_attr(d, s, a->is_null ? NULL : a->as.params, b->is_null ? NULL : b->as.params);
        return;
    case XIR_KIND_PARAMSS:
        for (size_t i = 0; i < a->as.values.size || i < b->as.values.size; i++) {
            size_t size = into(s, "%zu", i);
            compare_params_attr(d, s, i < a->as.values.size ? a->as.values.data[i] : NULL, i < b->as.values.size ? b->as.values.data[i] : NULL);
            leave(s, size);
        }
        return;
    case XIR_KIND_MAP:
        compare_maps(d, s, &a->as.map, &b->as.map);
        return;
    case XIR_KIND_OPS: return;   /* after the op itself */
    default: break;
    }
    if (same_attr(a, b)) return;
    text x = { 0 }, y = { 0 };
    put_attr(&x, f, a);
    put_attr(&y, f, b);
    report_change(d, s, &x, &y);
}

/* ---- inputs -------------------------------------------------------------------------------------- */

/* What stands at an input: "output 0 of icraft::xir::Conv2d 'c1' (op 3)". */
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

/* Whether two values are each other's mate. */
static bool same_source(const diffing *d, const xir_value *a, const xir_value *b) {
    if (!a || !b) return a == b;
    if (xir_value_is_params(a) || xir_value_is_params(b)) return xir_value_is_params(a) && xir_value_is_params(b);
    const xir_op *p = xir_value_op(a), *q = xir_value_op(b);
    if (p && q) return mate_of_a(&d->m, p) == q && xir_value_index(a) == xir_value_index(b);
    return p == q;
}

static void report_input(diffing *d, const spot *s, size_t i, const xir_value *a, const xir_value *b, bool has_a, bool has_b) {
    text x = { 0 }, y = { 0 };
    if (has_a) put_source(&x, a);
    if (has_b) put_source(&y, b);
    size_t size = into(s, "inputs/%zu", i);
    report_words(d, s, has_a ? &x : NULL, has_b ? &y : NULL);
    leave(s, size);
}

/* What is the same at the beginning and at the end is left alone, so that one more input is one difference. */
static void compare_inputs(diffing *d, const spot *s) {
    size_t n = xir_op_input_count(s->a), m = xir_op_input_count(s->b), head = 0, tail = 0;
    while (head < n && head < m && same_source(d, xir_op_input(s->a, (int64_t)head), xir_op_input(s->b, (int64_t)head))) head++;
    while (head + tail < n && head + tail < m &&
           same_source(d, xir_op_input(s->a, (int64_t)(n - tail - 1)), xir_op_input(s->b, (int64_t)(m - tail - 1)))) tail++;
    for (size_t i = 0; i < n || i < m; i++) {
        size_t at_a = i, at_b = i;
        bool in_tail = i >= (n > m ? n : m) - tail;
        if (in_tail && n > m) at_b = i - (n - m);
        if (in_tail && m > n) at_a = i - (m - n);
        bool has_a = in_tail || i < n - tail, has_b = in_tail || i < m - tail;
        const xir_value *a = has_a ? xir_op_input(s->a, (int64_t)at_a) : NULL, *b = has_b ? xir_op_input(s->b, (int64_t)at_b) : NULL;
        if (!has_a && !has_b) continue;
        if (has_a != has_b || !same_source(d, a, b)) {
            report_input(d, s, has_a ? at_a : at_b, a, b, has_a, has_b);
        } else if (a && !xir_value_op(a)) {
            size_t size = into(s, "inputs/%zu", at_a);
            if (xir_value_is_params(a)) compare_params(d, s, a, b);
            else compare_value(d, s, a, b);
            leave(s, size);
        }
    }
}

/* ---- ops ----------------------------------------------------------------------------------------- */

static void compare_outputs(diffing *d, const spot *s) {
    size_t n = xir_op_output_count(s->a), m = xir_op_output_count(s->b);
    for (size_t i = 0; i < n || i < m; i++) {
        size_t size = into(s, "outputs/%zu", i);
        if (i < n && i < m) {
            compare_value(d, s, xir_op_output(s->a, (int64_t)i), xir_op_output(s->b, (int64_t)i));
        } else {
            text x = { 0 };
            type_words(&x, xir_value_type(xir_op_output(i < n ? s->a : s->b, (int64_t)i)));
            report_words(d, s, i < n ? &x : NULL, i < m ? &x : NULL);
        }
        leave(s, size);
    }
}

static void compare_attrs(diffing *d, const spot *s) {
    const xir_class *cls = xir_op_class(s->a);
    size_t size = into(s, "_type_key");
    compare_texts(d, s, xir_class_key(cls), xir_class_key(xir_op_class(s->b)));
    leave(s, size);
    if (!same_class(cls, xir_op_class(s->b))) return;
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a, b;
        if (xir_op_get(s->a, f->name, &a) || xir_op_get(s->b, f->name, &b)) continue;
        size = into_key(s, f->name);
        compare_attr(d, s, f, &a, &b);
        leave(s, size);
    }
    compare_maps(d, s, xir_op_extra(s->a), xir_op_extra(s->b));
}

static void compare_id(diffing *d, const spot *s) {
    if (xir_op_id(s->a) == xir_op_id(s->b)) return;
    d->renumbered++;
    if (!with_ids) return;
    text x = { 0 }, y = { 0 };
    text_printf(&x, "%" PRId64, xir_op_id(s->a));
    text_printf(&y, "%" PRId64, xir_op_id(s->b));
    size_t size = into(s, "op_id");
    report_change(d, s, &x, &y);
    leave(s, size);
}

static void compare_children(diffing *d, const spot *s) {
    const xir_class *cls = xir_op_class(s->a);
    if (!same_class(cls, xir_op_class(s->b))) return;
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a, b;
        if (f->kind != XIR_KIND_OPS || xir_op_get(s->a, f->name, &a) || xir_op_get(s->b, f->name, &b)) continue;
        if (!a.as.ops.size && !b.as.ops.size) continue;
        match_ops(&d->m, a.as.ops.data, a.as.ops.size, b.as.ops.data, b.as.ops.size);
        compare_lists(d, a.as.ops.data, a.as.ops.size, b.as.ops.data, b.as.ops.size);
    }
}

static void compare_mates(diffing *d, const xir_op *a, const xir_op *b) {
    text field = { 0 };
    text_put(&field, "");
    const spot s = { a, b, &field };
    size_t before = d->records, size = into(&s, "name");
    compare_texts(d, &s, xir_op_name(a), xir_op_name(b));
    leave(&s, size);
    compare_id(d, &s);
    compare_attrs(d, &s);
    size = into(&s, "compile_target");
    compare_objects(d, &s, (const xir_object *)xir_op_target(a), (const xir_object *)xir_op_target(b));
    leave(&s, size);
    compare_inputs(d, &s);
    compare_outputs(d, &s);
    size = into(&s, "tags");
    compare_maps(d, &s, xir_op_tags(a), xir_op_tags(b));
    leave(&s, size);
    d->changed += d->records != before;
    compare_children(d, &s);
    text_free(&field);
}

static const xir_op *before_in(xir_op *const *list, size_t i) { return i ? list[i - 1] : NULL; }

/* Everything about two lists of ops whose mates are known: what is gone, in the order of the first; then the second's. */
static void compare_lists(diffing *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b) {
    bool *moved = take(n_a, sizeof *moved);
    size_t *from = take(n_b, sizeof *from);
    find_moved(&d->m, a, n_a, b, n_b, moved);
    for (size_t i = 0; i < n_a; i++) {
        const xir_op *mate = mate_of_a(&d->m, a[i]);
        if (mate) {
            from[d->m.index_b[xir_op_slot(mate)]] = i;
            continue;
        }
        d->removed++;
        report_op(d, "removed", &(spot){ a[i], NULL, NULL }, before_in(a, i), NULL);
    }
    for (size_t j = 0; j < n_b; j++) {
        if (!mate_of_b(&d->m, b[j])) {
            d->added++;
            report_op(d, "added", &(spot){ NULL, b[j], NULL }, NULL, before_in(b, j));
            continue;
        }
        size_t i = from[j];
        if (moved[i]) {
            d->moved++;
            report_op(d, "moved", &(spot){ a[i], b[j], NULL }, before_in(a, i), before_in(b, j));
        }
        compare_mates(d, a[i], b[j]);
    }
    free(moved);
    free(from);
}

/* ---- networks ------------------------------------------------------------------------------------ */

static void compare_networks(diffing *d) {
    static const struct { const char *key; xir_network_text which; } texts[] = {
        { "name", XIR_TEXT_NAME }, { "framework_kind", XIR_TEXT_FRAMEWORK }, { "framework_version", XIR_TEXT_FRAMEWORK_VERSION },
        { "icraft_version", XIR_TEXT_ICRAFT_VERSION }, { "icraft_xir_version", XIR_TEXT_XIR_VERSION }, { "params_md5", XIR_TEXT_PARAMS_MD5 },
    };
    const xir_network *a = d->m.a, *b = d->m.b;
    text field = { 0 };
    text_put(&field, "");
    const spot s = { NULL, NULL, &field };
    size_t size;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].which == XIR_TEXT_PARAMS_MD5 && with_params) continue;   /* the values themselves are compared */
        size = into(&s, "%s", texts[i].key);
        compare_texts(d, &s, xir_network_text_of(a, texts[i].which), xir_network_text_of(b, texts[i].which));
        leave(&s, size);
    }
    if (!with_params && xir_network_params_bytes(a) != xir_network_params_bytes(b)) {
        text x = { 0 }, y = { 0 };
        text_printf(&x, "%" PRIu64, xir_network_params_bytes(a));
        text_printf(&y, "%" PRIu64, xir_network_params_bytes(b));
        size = into(&s, "params_bytes");
        report_change(d, &s, &x, &y);
        leave(&s, size);
    }
    size = into(&s, "ai_target");
    compare_objects(d, &s, (const xir_object *)xir_network_ai_target(a), (const xir_object *)xir_network_ai_target(b));
    leave(&s, size);
    size = into(&s, "tags");
    compare_maps(d, &s, xir_network_tags(a), xir_network_tags(b));
    leave(&s, size);
    compare_maps(d, &s, xir_network_extra(a), xir_network_extra(b));
    d->network = d->records > 0;
    text_free(&field);
}

static xir_op **all_ops(const xir_network *net) {
    xir_op **ops = take(xir_network_op_count(net), sizeof *ops);
    size_t n = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) ops[n++] = op;
    return ops;
}

static void print_summary(const diffing *d) {
    if (!d->records) return;
    printf("%sops: %zu removed, %zu added, %zu moved, %zu changed\n", d->network ? "the network itself changed; " : "", d->removed, d->added,
           d->moved, d->changed);
}

static int compare(const loaded *a, const loaded *b, double tolerance) {
    diffing d = { .tolerance = tolerance, .json = as_json };
    mates_init(&d.m, a->net, b->net);
    xir_op **ops_a = all_ops(a->net), **ops_b = all_ops(b->net);
    size_t n_a = xir_network_op_count(a->net), n_b = xir_network_op_count(b->net);
    match_ops(&d.m, ops_a, n_a, ops_b, n_b);
    if (as_json) printf("[");
    compare_networks(&d);
    compare_lists(&d, ops_a, n_a, ops_b, n_b);
    if (as_json) printf(d.records ? "\n]\n" : "]\n");
    else print_summary(&d);
    if (d.renumbered && !with_ids) {
        xir_diags *why = new_diags();
        xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""), "%zu op%s or value%s the same but for the id; --ids shows them", d.renumbered,
                      d.renumbered == 1 ? "" : "s", d.renumbered == 1 ? " is" : "s are");
        say(why);
        xir_diags_free(why);
    }
    free((void *)ops_a);
    free((void *)ops_b);
    free(d.seen);
    mates_free(&d.m);
    return d.records ? FAULTY : DONE;
}

/* ---- the command --------------------------------------------------------------------------------- */

static int read_tolerance(double *out) {
    *out = 0;
    if (!tolerance_word) return DONE;
    char *end;
    *out = strtod(tolerance_word, &end);
    if (end == tolerance_word || *end || !(*out >= 0)) return complain(MISUSED, "--tolerance takes a number from 0, not '%s'", tolerance_word);
    return DONE;
}

static int run(int n, char **operands) {
    (void)n;
    double tolerance;
    if (read_tolerance(&tolerance)) return MISUSED;
    if (tolerance_word) with_params = true;
    if (with_params && load_args.no_params) {
        return complain(MISUSED, "%s and --no-params contradict each other", tolerance_word ? "--tolerance" : "--params");
    }
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0) return complain(MISUSED, "only one of the two can be standard input");
    /* Without --params the structures are compared, so nothing else is read; and what a file that does not fit its MD5 has
     * instead is just what is asked. */
    load_args.no_params = !with_params;
    loaded a = { 0 }, b = { 0 };
    int code = load(&a, operands[0], XIR_LOAD_NO_MD5);
    if (!code) code = load(&b, operands[1], XIR_LOAD_NO_MD5);
    if (!code) code = compare(&a, &b, tolerance);
    unload(&a);
    unload(&b);
    return code;
}

static const option options[] = {
    { "params", NULL, &with_params, "compare the parameters by value" },
    { "tolerance", "T", &tolerance_word, "floats that differ by at most T are the same; implies --params" },
    { "ids", NULL, &with_ids, "ids count too" },
    { "json", NULL, &as_json, "a list of JSON objects, one a difference" },
    NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION,
    { 0 },
};

const command diff_command = {
    .name = "diff", .operands = "A B", .summary = "says what differs between two networks",
    .details = "Ops are recognised by name, by id, and by their neighbours, not by where they stand. What was removed (-), added (+),\n"
               "moved in the execution order (>) and changed (~) is said attribute by attribute. Ids alone are no difference.\n",
    .options = options, .least = 2, .most = 2, .run = run,
};
