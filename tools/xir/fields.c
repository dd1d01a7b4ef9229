/* What of two things that are the same one differs: types part by part, maps key by key, attributes row by row, parameters by what
 * they say and, if asked, by their bytes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "diff.h"

/* Into a part if there is one; SIZE_MAX: nothing to leave. */
static size_t into_part(const spot *s, const char *part) { return part ? into(s, xir_str_of(part)) : SIZE_MAX; }
static void   leave_part(const spot *s, size_t size)     { if (size != SIZE_MAX) leave(s, size); }

/* ---- simple ones --------------------------------------------------------------------------------- */

static void report(diffing *d, const spot *s, const char *part, text *a, text *b) {
    size_t size = into_part(s, part);
    report_change(d, s, a, b);
    leave_part(s, size);
}

void compare_texts(diffing *d, const spot *s, const char *part, xir_str a, xir_str b) {
    if (xir_str_equal(a, b)) return;
    text x = { 0 }, y = { 0 };
    json_text(&x, a);
    json_text(&y, b);
    report(d, s, part, &x, &y);
}

void compare_numbers(diffing *d, const spot *s, const char *part, int64_t a, int64_t b) {
    if (a == b) return;
    text x = { 0 }, y = { 0 };
    text_printf(&x, "%" PRId64, a);
    text_printf(&y, "%" PRId64, b);
    report(d, s, part, &x, &y);
}

void compare_objects(diffing *d, const spot *s, const char *part, const xir_object *a, const xir_object *b) {
    if (xir_object_equal(a, b)) return;
    text x = { 0 }, y = { 0 };
    json_object(&x, a);
    json_object(&y, b);
    report(d, s, part, &x, &y);
}

/* ---- types --------------------------------------------------------------------------------------- */

static bool same_bytes(const void *a, const void *b, size_t n, size_t m, size_t size) {
    return n == m && (!n || memcmp(a, b, n * size) == 0);
}

static bool same_refs(const xir_refs *a, const xir_refs *b) {
    if (a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++) {
        if (!xir_object_equal(a->data[i], b->data[i])) return false;
    }
    return true;
}

static void put_refs(text *t, const xir_refs *refs) {
    text_put(t, "[");
    for (size_t i = 0; i < refs->size; i++) {
        if (i) text_put(t, ",");
        json_object(t, refs->data[i]);
    }
    text_put(t, "]");
}

static void compare_shapes(diffing *d, const spot *s, const xir_i64s *a, const xir_i64s *b) {
    if (same_bytes(a->data, b->data, a->size, b->size, sizeof *a->data)) return;
    text x = { 0 }, y = { 0 };
    json_i64s(&x, a->data, a->size);
    json_i64s(&y, b->data, b->size);
    report(d, s, "shape", &x, &y);
}

static void compare_distrs(diffing *d, const spot *s, const xir_refs *a, const xir_refs *b) {
    if (same_refs(a, b)) return;
    text x = { 0 }, y = { 0 };
    put_refs(&x, a);
    put_refs(&y, b);
    report(d, s, "merged_distrs", &x, &y);
}

/* Of tensors what differs; what is not seen in any part (undeclared keys) as a whole. */
static void compare_types(diffing *d, const spot *s, const xir_type *a, const xir_type *b) {
    if (a == b || (a && b && xir_type_equal(a, b))) return;
    const xir_tensor_type *x = xir_type_tensor(a), *y = xir_type_tensor(b);
    size_t before = d->records, size = into(s, XIR_STR("dtype"));
    if (x && y) {
        compare_objects(d, s, "element_dtype", xir_type_object(x->element_dtype), xir_type_object(y->element_dtype));
        compare_shapes(d, s, &x->shape, &y->shape);
        compare_objects(d, s, "layout", (const xir_object *)x->layout, (const xir_object *)y->layout);
        compare_distrs(d, s, &x->merged_distrs, &y->merged_distrs);
    }
    if (d->records == before) compare_objects(d, s, NULL, xir_type_object(a), xir_type_object(b));
    leave(s, size);
}

/* ---- values -------------------------------------------------------------------------------------- */

void compare_value(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    compare_texts(d, s, "name", xir_value_name(a), xir_value_name(b));
    compare_types(d, s, xir_value_type(a), xir_value_type(b));
    compare_objects(d, s, "mtype", (const xir_object *)xir_value_mtype(a), (const xir_object *)xir_value_mtype(b));
    compare_maps(d, s, "tags", xir_value_tags(a), xir_value_tags(b));
    d->renumbered += xir_value_id(a) != xir_value_id(b);
    if (d->with_ids) compare_numbers(d, s, "v_id", xir_value_id(a), xir_value_id(b));
}

/* Whether the pair is new. */
static bool first_time(diffing *d, const xir_value *a, const xir_value *b) {
    if (d->seen_count * 2 >= d->seen_room) {
        size_t was = d->seen_room;
        params_pair *old = d->seen;
        d->seen_room = was ? was * 2 : 256;
        d->seen = take(d->seen_room, sizeof *d->seen);
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
        d->seen[at] = (params_pair){ a, b };
        d->seen_count++;
        return true;
    }
}

static void compare_data(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    bool has_a = xir_params_has_data(a), has_b = xir_params_has_data(b);
    size_t size = into(s, XIR_STR("data"));
    if (has_a && has_b) {
        value_diff v = compare_values(a, b, d->tolerance);
        if (v.differ) report_values(d, s, &v, xir_value_type(a));
    } else if (has_a != has_b) {
        text x = { 0 };
        text_put(&x, "bytes");
        report_words(d, s, has_a ? &x : NULL, has_b ? &x : NULL);
    }
    leave(s, size);
}

void compare_params(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    if (!first_time(d, a, b)) return;
    compare_value(d, s, a, b);
    if (xir_params_allow_no_data(a) != xir_params_allow_no_data(b)) {
        text x = { 0 }, y = { 0 };
        text_put(&x, xir_params_allow_no_data(a) ? "true" : "false");
        text_put(&y, xir_params_allow_no_data(b) ? "true" : "false");
        report(d, s, "_allow_no_data", &x, &y);
    }
    if (d->with_params) compare_data(d, s, a, b);
}

/* Either may be missing. */
static void compare_some_params(diffing *d, const spot *s, const xir_value *a, const xir_value *b) {
    if (a && b) {
        compare_params(d, s, a, b);
    } else if (a || b) {
        text x = { 0 };
        type_words(&x, xir_value_type(a ? a : b));
        report_words(d, s, a ? &x : NULL, b ? &x : NULL);
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

/* Either may be NULL. Params in them are compared as Params, so lists that hold some are gone into. */
static void compare_any(diffing *d, const spot *s, const xir_any *a, const xir_any *b) {
    bool kind = a && b && a->kind == b->kind;
    if (kind && a->kind == XIR_ANY_PARAMS && a->as.params && b->as.params) {
        compare_params(d, s, a->as.params, b->as.params);
    } else if (kind && a->kind == XIR_ANY_MAP) {
        compare_maps(d, s, NULL, &a->as.map, &b->as.map);
    } else if (kind && a->kind == XIR_ANY_LIST && a->as.list.size == b->as.list.size && has_params(a) && has_params(b)) {
        for (size_t i = 0; i < a->as.list.size; i++) {
            size_t size = into_index(s, i);
            compare_any(d, s, &a->as.list.items[i], &b->as.list.items[i]);
            leave(s, size);
        }
    } else if (!kind || !xir_any_equal(a, b)) {
        text x = { 0 }, y = { 0 };
        if (a) json_any(&x, a);
        if (b) json_any(&y, b);
        report_change(d, s, a ? &x : NULL, b ? &y : NULL);
    }
}

static int key_order(xir_str a, xir_str b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

void compare_maps(diffing *d, const spot *s, const char *part, const xir_map *a, const xir_map *b) {
    size_t i = 0, j = 0, n = a ? a->size : 0, m = b ? b->size : 0, whole = into_part(s, part);
    while (i < n || j < m) {
        int order = i == n ? 1 : j == m ? -1 : key_order(a->entries[i].key, b->entries[j].key);
        size_t size = into(s, order <= 0 ? a->entries[i].key : b->entries[j].key);
        compare_any(d, s, order <= 0 ? &a->entries[i].value : NULL, order >= 0 ? &b->entries[j].value : NULL);
        leave(s, size);
        i += order <= 0;
        j += order >= 0;
    }
    leave_part(s, whole);
}

/* ---- attributes ---------------------------------------------------------------------------------- */

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

static void put_run(text *t, const xir_run *run) {
    text_printf(t, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",", run->end, run->m, run->exp);
    json_real(t, (double)run->value);
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

static void put_attr(text *t, const xir_field *f, const xir_attr *v) {
    if (v->is_null) {
        text_put(t, "null");
        return;
    }
    switch (v->kind) {
    case XIR_KIND_BOOL:  text_put(t, v->as.boolean ? "true" : "false"); break;
    case XIR_KIND_I64:   text_printf(t, "%" PRId64, v->as.i64); break;
    case XIR_KIND_U64:   text_printf(t, "%" PRIu64, v->as.u64); break;
    case XIR_KIND_REAL:  json_real(t, v->as.real); break;
    case XIR_KIND_TEXT:  json_text(t, v->as.text); break;
    case XIR_KIND_REF:   json_object(t, v->as.ref); break;
    case XIR_KIND_I64S:  json_i64s(t, v->as.i64s.data, v->as.i64s.size); break;
    case XIR_KIND_REFS:  put_refs(t, &v->as.refs); break;
    case XIR_KIND_BOOLS: PUT_LIST(v->as.bools, text_put(t, v->as.bools.data[i] ? "true" : "false")); break;
    case XIR_KIND_REALS: PUT_LIST(v->as.reals, json_real(t, v->as.reals.data[i])); break;
    case XIR_KIND_TEXTS: PUT_LIST(v->as.texts, json_text(t, v->as.texts.data[i])); break;
    case XIR_KIND_RUNS:  PUT_LIST(v->as.runs, put_run(t, &v->as.runs.data[i])); break;
    case XIR_KIND_ENUM:
        if (f->members && v->as.enumerator >= 0 && (size_t)v->as.enumerator < f->members->size) {
            json_text(t, xir_str_of(f->members->words[v->as.enumerator]));
        } else {
            text_printf(t, "%d", v->as.enumerator);
        }
        break;
    default: text_put(t, "null"); break;
    }
}

static void compare_attr(diffing *d, const spot *s, const xir_field *f, const xir_attr *a, const xir_attr *b) {
    switch (f->kind) {
    case XIR_KIND_PARAMS:
        compare_some_params(d, s, a->is_null ? NULL : a->as.params, b->is_null ? NULL : b->as.params);
        return;
    case XIR_KIND_PARAMSS:
        for (size_t i = 0; i < a->as.values.size || i < b->as.values.size; i++) {
            size_t size = into_index(s, i);
            compare_some_params(d, s, i < a->as.values.size ? a->as.values.data[i] : NULL, i < b->as.values.size ? b->as.values.data[i] : NULL);
            leave(s, size);
        }
        return;
    case XIR_KIND_MAP:
        compare_maps(d, s, NULL, &a->as.map, &b->as.map);
        return;
    case XIR_KIND_OPS: return;
    default: break;
    }
    if (same_attr(a, b)) return;
    text x = { 0 }, y = { 0 };
    put_attr(&x, f, a);
    put_attr(&y, f, b);
    report_change(d, s, &x, &y);
}

void compare_attrs(diffing *d, const spot *s) {
    const xir_class *cls = xir_op_class(s->a);
    compare_texts(d, s, "_type_key", xir_class_key(cls), xir_class_key(xir_op_class(s->b)));
    if (!same_class(cls, xir_op_class(s->b))) return;
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a, b;
        if (xir_op_get(s->a, f->name, &a) || xir_op_get(s->b, f->name, &b)) continue;
        size_t size = into(s, f->name);
        compare_attr(d, s, f, &a, &b);
        leave(s, size);
    }
    compare_maps(d, s, NULL, xir_op_extra(s->a), xir_op_extra(s->b));
}
