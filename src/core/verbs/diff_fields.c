/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares the fields of two matching things: types part by part, maps key by key, attributes row by row, Params by
 * their properties and, if requested, by their bytes. */
#include <math.h>
#include <stdio.h>
#include <xir/symbols.h>
#include "diff.h"
#include "hash.h"
#include "symbol.h"

/* ---- simple ones --------------------------------------------------------------------------------------------- */

static void changed_in(xir_diff *d, const char *part, xir_diff_side a, xir_diff_side b) {
    size_t size = diff_into_part(d, part);
    diff_changed(d, a, b);
    diff_leave(d, size);
}

static xir_diff_side attr_side(xir_attr attr) { return (xir_diff_side){ .what = XIR_DIFF_ATTR, .as.attr = attr }; }

static xir_diff_side text_side(xir_str v)   { return attr_side((xir_attr){ .kind = XIR_KIND_TEXT, .as.text = v }); }
static xir_diff_side number_side(int64_t v) { return attr_side((xir_attr){ .kind = XIR_KIND_I64, .as.i64 = v }); }
static xir_diff_side flag_side(bool v)      { return attr_side((xir_attr){ .kind = XIR_KIND_BOOL, .as.boolean = v }); }
static xir_diff_side object_side(const xir_object *v) {
    return attr_side((xir_attr){ .kind = XIR_KIND_REF, .is_null = !v, .as.ref = v });
}
static xir_diff_side any_side(const xir_any *v) {
    return v ? (xir_diff_side){ .what = XIR_DIFF_ANY, .as.any = v } : diff_nothing();
}

void diff_texts(xir_diff *d, const char *part, xir_str a, xir_str b) {
    if (!xir_str_equal(a, b)) changed_in(d, part, text_side(a), text_side(b));
}

void diff_numbers(xir_diff *d, const char *part, int64_t a, int64_t b) {
    if (a != b) changed_in(d, part, number_side(a), number_side(b));
}

void diff_objects(xir_diff *d, const char *part, const xir_object *a, const xir_object *b) {
    if (!xir_object_equal(a, b)) changed_in(d, part, object_side(a), object_side(b));
}

/* ---- symbols --------------------------------------------------------------------------------------------------- */

/* The symbols in the types of a network. */
static xir_symbol *symbols_of(xir_diff *d, const xir_network *net, size_t *n) {
    *n = xir_network_symbols(net, NULL, 0);
    d->failed |= *n == SIZE_MAX;
    xir_symbol *symbols = *n && !d->failed ? arena_take(&d->memory, *n * sizeof *symbols) : NULL;
    d->failed |= *n && (!symbols || xir_network_symbols(net, symbols, *n) != *n);
    return d->failed ? NULL : symbols;
}

static xir_diff_side interval_side(xir_diff *d, const xir_symbol *s) {
    char text[48];
    xir_str kept = { NULL, 0 };
    snprintf(text, sizeof text, "%lld..%lld", (long long)s->least, (long long)s->most);
    d->failed |= !arena_text(&d->memory, xir_str_of(text), &kept);
    return text_side(kept);
}

void diff_symbols(xir_diff *d, const xir_network *a, const xir_network *b) {
    size_t n_a = 0, n_b = 0;
    const xir_symbol *of_a = symbols_of(d, a, &n_a), *of_b = of_a ? symbols_of(d, b, &n_b) : NULL;
    if (!of_b) return;
    /* By their numbers in b, so that each is looked up once. */
    size_t declared = 0;
    while (symbol_at(&b->pool, declared)) declared++;
    const xir_symbol **by_number = diff_take(d, declared, sizeof *by_number);
    for (size_t i = 0; by_number && i < n_b; i++)
        by_number[symbol_of(&b->pool, symbol_find(&b->pool, of_b[i].name))] = &of_b[i];
    const size_t size = diff_into(d, XIR_STR("xir.symbols"));
    for (size_t i = 0; by_number && i < n_a; i++) {
        const xir_symbol *x = &of_a[i];
        const size_t number = symbol_of(&b->pool, symbol_find(&b->pool, x->name));
        const xir_symbol *y = number < declared ? by_number[number] : NULL;
        if (!y || (x->least == y->least && x->most == y->most)) continue;
        const size_t outer = diff_into(d, x->name);
        diff_changed(d, interval_side(d, x), interval_side(d, y));
        diff_leave(d, outer);
    }
    diff_leave(d, size);
    diff_give(d, (void *)by_number, declared, sizeof *by_number);
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static bool same_bytes(const void *a, const void *b, size_t n, size_t m, size_t size) {
    return n == m && (!n || memcmp(a, b, n * size) == 0);
}

#define SAME_ITEMS(a, b) same_bytes((a).data, (b).data, (a).size, (b).size, sizeof *(a).data)

static bool same_refs(const xir_refs *a, const xir_refs *b) {
    if (a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++) {
        if (!xir_object_equal(a->data[i], b->data[i])) return false;
    }
    return true;
}

/* The dims of a type; as texts if one of them is an expression. */
static xir_diff_side shape_side(xir_diff *d, const xir_tensor_type *type) {
    xir_attr attr = { .kind = XIR_KIND_I64S, .as.i64s = type->shape };
    const object_pool *pool = tensor_pool(type);
    xir_str *texts = pool ? arena_take(&d->memory, type->shape.size * sizeof *texts) : NULL;
    d->failed |= pool && !texts;
    for (size_t i = 0; texts && i < type->shape.size; i++) {
        const dim_word word = word_of_dim(pool, type->shape.data[i]);
        d->failed |= !arena_text(&d->memory, xir_str_of(word.text), &texts[i]);
    }
    if (texts && !d->failed) {
        attr = (xir_attr){ .kind = XIR_KIND_TEXTS, .as.texts = { texts, type->shape.size } };
    }
    return attr_side(attr);
}

/* Records the differing parts of tensors; if no part shows the difference (undeclared keys), the whole. */
static void diff_types(xir_diff *d, const xir_type *a, const xir_type *b) {
    if (a == b || (a && b && xir_type_equal(a, b))) return;
    const xir_tensor_type *x = xir_type_as_tensor(a), *y = xir_type_as_tensor(b);
    size_t before = d->n, size = diff_into(d, XIR_STR("dtype"));
    if (x && y) {
        diff_objects(d, "element_dtype", xir_type_object(x->element_dtype), xir_type_object(y->element_dtype));
        if (!SAME_ITEMS(x->shape, y->shape)) changed_in(d, "shape", shape_side(d, x), shape_side(d, y));
        diff_objects(d, "layout", (const xir_object *)x->layout, (const xir_object *)y->layout);
        if (!same_refs(&x->merged_distrs, &y->merged_distrs)) {
            changed_in(d, "merged_distrs", attr_side((xir_attr){ .kind = XIR_KIND_REFS, .as.refs = x->merged_distrs }),
                       attr_side((xir_attr){ .kind = XIR_KIND_REFS, .as.refs = y->merged_distrs }));
        }
    }
    if (d->n == before) diff_objects(d, NULL, xir_type_object(a), xir_type_object(b));
    diff_leave(d, size);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

void diff_values(xir_diff *d, const xir_value *a, const xir_value *b) {
    if (!(d->how.ignore & XIR_DIFF_IGNORE_NAMES)) diff_texts(d, "name", xir_value_name(a), xir_value_name(b));
    diff_types(d, xir_value_type(a), xir_value_type(b));
    diff_objects(d, "mtype", (const xir_object *)xir_value_mtype(a), (const xir_object *)xir_value_mtype(b));
    diff_maps(d, "tags", xir_value_tags(a), xir_value_tags(b));
    d->counts.renumbered += a->id != b->id;
    if (d->how.ids) diff_numbers(d, "v_id", a->id, b->id);
}

static diff_pair *find_pair(diff_pair *pairs, size_t room, const xir_value *a, const xir_value *b) {
    size_t at = (size_t)hash_mix(hash_pointer(a), ~hash_pointer(b)) & (room - 1);
    while (pairs[at].a && (pairs[at].a != a || pairs[at].b != b)) at = (at + 1) & (room - 1);
    return &pairs[at];
}

static bool grow_pairs(xir_diff *d) {
    size_t room = d->seen_room ? d->seen_room * 2 : 256;
    diff_pair *pairs = diff_take(d, room, sizeof *pairs);
    if (!pairs) return false;
    for (size_t i = 0; i < d->seen_room; i++) {
        if (d->seen[i].a) *find_pair(pairs, room, d->seen[i].a, d->seen[i].b) = d->seen[i];
    }
    diff_give(d, d->seen, d->seen_room, sizeof *d->seen);
    d->seen = pairs;
    d->seen_room = room;
    return true;
}

/* Returns true if the pair is new. */
static bool first_time(xir_diff *d, const xir_value *a, const xir_value *b) {
    if (d->seen_n * 2 >= d->seen_room && !grow_pairs(d)) return false;
    diff_pair *pair = find_pair(d->seen, d->seen_room, a, b);
    if (pair->a) return false;
    *pair = (diff_pair){ a, b };
    d->seen_n++;
    return true;
}

/* Bytes of a mapped file may turn out to be lost when they are accessed. */
static bool has_bytes(const xir_value *v) {
    uint64_t size;
    if (!xir_params_has_data(v)) return false;
    (void)xir_params_data(v, &size);
    return xir_params_has_data(v);
}

static void diff_data(xir_diff *d, const xir_value *a, const xir_value *b) {
    bool has_a = has_bytes(a), has_b = has_bytes(b);
    size_t size = diff_into(d, XIR_STR("data"));
    xir_elements_diff found = XIR_INIT(xir_elements_diff);
    if (has_a != has_b) {
        diff_one_sided(d, XIR_DIFF_BYTES, has_a ? a : NULL, has_b ? b : NULL);
    } else if (has_a && (d->failed |= xir_params_compare(a, b, d->how.tolerance, &found) == XIR_E_MEMORY,
                         found.differ || found.not_compared)) {
        const xir_elements_diff *kept = arena_copy(&d->memory, &found, sizeof found);
        size_t n = d->n;
        d->failed |= !kept;
        diff_changed(d, diff_side_value(XIR_DIFF_ELEMENTS, a), diff_side_value(XIR_DIFF_ELEMENTS, b));
        if (d->n > n) d->records[n].elements = kept;
    }
    diff_leave(d, size);
}

void diff_params(xir_diff *d, const xir_value *a, const xir_value *b) {
    if (!first_time(d, a, b)) return;
    diff_values(d, a, b);
    bool none_a = xir_params_allow_no_data(a), none_b = xir_params_allow_no_data(b);
    if (none_a != none_b) changed_in(d, "_allow_no_data", flag_side(none_a), flag_side(none_b));
    if (d->how.params) diff_data(d, a, b);
}

/* Either may be NULL. */
static void diff_some_params(xir_diff *d, const xir_value *a, const xir_value *b) {
    if (a && b) {
        diff_params(d, a, b);
    } else if (a || b) {
        diff_one_sided(d, XIR_DIFF_VALUE, a, b);
    }
}

/* ---- values without a class ------------------------------------------------------------------------------------ */

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

/* Either may be NULL. Params inside are compared as Params, so lists that contain Params are entered. */
static void diff_any(xir_diff *d, const xir_any *a, const xir_any *b) {
    bool kind = a && b && a->kind == b->kind;
    if (kind && a->kind == XIR_ANY_PARAMS && a->as.params && b->as.params) {
        diff_params(d, a->as.params, b->as.params);
    } else if (kind && a->kind == XIR_ANY_MAP) {
        diff_maps(d, NULL, &a->as.map, &b->as.map);
    } else if (kind && a->kind == XIR_ANY_LIST && a->as.list.size == b->as.list.size && has_params(a) &&
               has_params(b)) {
        for (size_t i = 0; i < a->as.list.size; i++) {
            size_t size = diff_into_index(d, i);
            diff_any(d, &a->as.list.items[i], &b->as.list.items[i]);
            diff_leave(d, size);
        }
    } else if (!kind || !xir_any_equal(a, b)) {
        diff_changed(d, any_side(a), any_side(b));
    }
}

void diff_maps(xir_diff *d, const char *part, const xir_map *a, const xir_map *b) {
    size_t i = 0, j = 0, n = a ? a->size : 0, m = b ? b->size : 0;
    if (!n && !m) return;
    size_t whole = diff_into_part(d, part);
    while (i < n || j < m) {
        int order = i == n ? 1 : j == m ? -1 : str_order(a->entries[i].key, b->entries[j].key);
        size_t size = diff_into(d, order <= 0 ? a->entries[i].key : b->entries[j].key);
        diff_any(d, order <= 0 ? &a->entries[i].value : NULL, order >= 0 ? &b->entries[j].value : NULL);
        diff_leave(d, size);
        i += order <= 0;
        j += order >= 0;
    }
    diff_leave(d, whole);
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

/* Returns true if two attributes are equal, of a kind that contains neither Params nor ops nor maps. */
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
    case XIR_KIND_BOOLS: return SAME_ITEMS(a->as.bools, b->as.bools);
    case XIR_KIND_I64S:  return SAME_ITEMS(a->as.i64s, b->as.i64s);
    case XIR_KIND_REALS: return SAME_ITEMS(a->as.reals, b->as.reals);
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
            if (x->end != y->end || x->m != y->m || x->exp != y->exp) return false;
            if (memcmp(&x->value, &y->value, sizeof x->value) != 0) return false;
        }
        return true;
    default: return true;
    }
}

static const xir_value *item(const xir_values *list, size_t i) { return i < list->size ? list->data[i] : NULL; }

static void diff_attr(xir_diff *d, const xir_attr *a, const xir_attr *b) {
    switch (a->kind) {
    case XIR_KIND_PARAMS:
        diff_some_params(d, a->is_null ? NULL : a->as.params, b->is_null ? NULL : b->as.params);
        return;
    case XIR_KIND_PARAMSS:
        for (size_t i = 0; i < a->as.values.size || i < b->as.values.size; i++) {
            size_t size = diff_into_index(d, i);
            diff_some_params(d, item(&a->as.values, i), item(&b->as.values, i));
            diff_leave(d, size);
        }
        return;
    case XIR_KIND_MAP:
        diff_maps(d, NULL, &a->as.map, &b->as.map);
        return;
    case XIR_KIND_OPS: return;
    default: break;
    }
    if (!same_attr(a, b)) diff_changed(d, attr_side(*a), attr_side(*b));
}

void diff_attrs(xir_diff *d) {
    const xir_op *x = d->at_a, *y = d->at_b;
    diff_texts(d, "_type_key", x->cls->key, y->cls->key);
    if (!diff_same_class(x->cls, y->cls)) return;
    for (size_t i = 0; i < xir_class_field_count(x->cls); i++) {
        const xir_field *f = xir_class_field_at(x->cls, i);
        xir_attr a, b;
        if (xir_op_get(x, f->name, &a) || xir_op_get(y, f->name, &b)) continue;
        size_t size = diff_into(d, f->name);
        d->attr = f;
        diff_attr(d, &a, &b);
        d->attr = NULL;
        diff_leave(d, size);
    }
    diff_maps(d, NULL, xir_op_extra(x), xir_op_extra(y));
}
