/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes of nodes of the library's own domain: each one is checked against what the class declares. */
#include <math.h>
#include <xir/serialize.h>
#include "onnx/custom_read.h"
#include "number.h"

bool custom_wrong(custom_reading *r, xir_status code, xir_str name, const char *what) {
    char where[120];
    snprintf(where, sizeof where, "attribute/%.*s", CLIP_TO(name, 100));
    return xir_node_invalid(r->at, code, where, "%.*s: %s", CLIP_TO(name, 100), what);
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

/* Returns the object for which a text of JSON stands, or NULL after a finding with the parser's words, which are in
 * `why`. */
static const void *parsed(custom_reading *r, xir_str name, const void *it, const xir_diags *why) {
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    if (!it && (!d || d->code == XIR_E_MEMORY)) node_no_memory(r->at);
    else if (!it) {
        char text[200];
        snprintf(text, sizeof text, "%.*s", CLIP_TO(d->message, 190));
        custom_wrong(r, d->code, name, text);
    }
    return it;
}

const xir_object *custom_parse(custom_reading *r, xir_str name, xir_str json) {
    xir_context *ctx = r->at->c->ctx;
    xir_diags *why = xir_diags_new(ctx);
    const xir_object *object = parsed(r, name, why ? xir_object_parse(ctx, json, why) : NULL, why);
    xir_diags_free(why);
    return object;
}

bool custom_parse_type(custom_reading *r, xir_str name, const xir_any *any, const xir_type **out) {
    *out = NULL;
    if (any->kind != XIR_ANY_TEXT) return custom_wrong(r, XIR_E_TYPE, name, "expected the text of a type");
    if (!any->as.text.size) return true;
    const xir_object *object = custom_parse(r, name, any->as.text);
    if (!object) return false;
    if (!xir_object_body(object, xir_tensor_type_class()))
        return custom_wrong(r, XIR_E_TYPE, name, "expected a tensor type");
    *out = (const xir_type *)object;
    return true;
}

bool custom_parse_map(custom_reading *r, xir_str name, xir_str json, xir_map *out) {
    xir_diags *why = xir_diags_new(r->at->c->ctx);
    const xir_any *any = parsed(r, name, why ? xir_any_parse(r->at->c->net, json, why) : NULL, why);
    xir_diags_free(why);
    if (!any) return false;
    if (any->kind != XIR_ANY_MAP) return custom_wrong(r, XIR_E_TYPE, name, "expected a map");
    *out = any->as.map;
    return true;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static bool whole_of(const xir_any *any, int64_t *out) {
    if (any->kind != XIR_ANY_INT && any->kind != XIR_ANY_BOOL) return false;
    *out = any->kind == XIR_ANY_INT ? any->as.integer : any->as.boolean;
    return true;
}

static bool text_number(xir_str text, number *out) {
    return text.size && number_parse(text.data, text.size, out) == text.size;
}

static bool real_of(const xir_any *any, double *out) {
    number n;
    if (any->kind == XIR_ANY_REAL || any->kind == XIR_ANY_INT || any->kind == XIR_ANY_PARAMS) {
        const double v = node_any_real(any, NAN), other = node_any_real(any, 0);
        *out = v;
        return any->kind != XIR_ANY_PARAMS || v == other || isnan(other);
    }
    if (any->kind != XIR_ANY_TEXT) return false;
    if (xir_str_equal(any->as.text, XIR_STR("nan"))) return *out = NAN, true;
    if (xir_str_equal(any->as.text, XIR_STR("inf"))) return *out = INFINITY, true;
    if (xir_str_equal(any->as.text, XIR_STR("-inf"))) return *out = -INFINITY, true;
    if (!text_number(any->as.text, &n) || n.kind == NUMBER_OVERFLOW) return false;
    *out = n.kind == NUMBER_I64 ? (double)n.i64 : n.kind == NUMBER_U64 ? (double)n.u64 : n.real;
    return true;
}

static bool u64_of(const xir_any *any, uint64_t *out) {
    number n;
    if (any->kind == XIR_ANY_INT && any->as.integer >= 0) return *out = (uint64_t)any->as.integer, true;
    if (any->kind != XIR_ANY_TEXT || !text_number(any->as.text, &n) || n.kind != NUMBER_U64) return false;
    *out = n.u64;
    return true;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static bool has_size_of(const xir_value *v, const xir_type *type) {
    uint64_t has, needs;
    return xir_type_bytes(type, &needs) == XIR_OK && xir_type_bytes(xir_value_type(v), &has) == XIR_OK && has == needs;
}

bool custom_store_the_same(const xir_type *a, const xir_type *b) {
    return xir_type_equal(xir_type_storage(a), xir_type_storage(b));
}

/* Returns true if a type is one that no tensor of a file has, so that a tensor has its bytes. */
static bool is_raw(xir_node *at, const xir_value *v, const xir_type *type) {
    const xir_integer_type *byte = xir_integer_type_of(xir_type_object(v_element(v)));
    const bool bytes = byte && !byte->sign && byte->ibits == 8 && v_rank(v) == 1;
    return bytes && (xir_type_is_layouted(type) || xir_type_as_tensor(type)->merged_distrs.size ||
                     onnx_code_of(at, xir_type_element(type)) < 0);
}

bool custom_as_typed(custom_reading *r, xir_str name, xir_value **v, const xir_type *type) {
    if (!type || xir_type_equal(type, xir_value_type(*v))) return true;
    if (!has_size_of(*v, type)) return custom_wrong(r, XIR_E_CORRUPT, name, "its type has another number of bytes");
    const bool fits = custom_store_the_same(xir_type_element(type), v_element(*v)) &&
                      type_same_dims(type, xir_value_type(*v));
    if (!fits && !is_raw(r->at, *v, type))
        return custom_wrong(r, XIR_E_TYPE, name, "the tensor has other elements or dims");
    xir_value *made = node_alias(r->at, *v);
    if (!made || xir_value_set_type(made, type) || xir_value_set_name(made, xir_value_name(*v)))
        return node_no_memory(r->at);
    *v = made;
    return true;
}

/* The declared type of Params in an attribute, the i-th of a list. */
static bool params_of(custom_reading *r, const xir_field *f, const xir_any *any, size_t i, bool list, xir_value **out) {
    char room[160];
    const int most = text_clip(f->name, 140);
    const int n = snprintf(room, sizeof room, "%.*s.type", most, f->name.data);
    const xir_str name = { room, (size_t)n };
    const xir_any *said = xir_map_find(r->given, name);
    const xir_type *type = NULL;
    if (any->kind != XIR_ANY_PARAMS) return custom_wrong(r, XIR_E_TYPE, f->name, "expected a tensor");
    if (said && list) said = said->kind == XIR_ANY_LIST && i < said->as.list.size ? &said->as.list.items[i] : NULL;
    if (said && !custom_parse_type(r, name, said, &type)) return false;
    *out = any->as.params;
    if (!xir_value_type(*out) || !xir_type_as_tensor(xir_value_type(*out)))
        return custom_wrong(r, XIR_E_TYPE, f->name, "expected a tensor of numbers");
    return custom_as_typed(r, name, out, type);
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static bool reference_of(custom_reading *r, const xir_field *f, const xir_any *any, const xir_object **out) {
    if (any->kind != XIR_ANY_TEXT) return custom_wrong(r, XIR_E_TYPE, f->name, "expected the text of an object");
    *out = custom_parse(r, f->name, any->as.text);
    if (!*out) return false;
    return !f->of || xir_class_is_a(xir_object_class(*out), f->of) ||
           custom_wrong(r, XIR_E_TYPE, f->name, "expected an object of another class");
}

static bool word_of(const xir_field *f, const xir_any *any, int *out) {
    for (size_t i = 0; any->kind == XIR_ANY_TEXT && i < f->members->size; i++)
        if (xir_str_equal(any->as.text, xir_str_of(f->members->names[i]))) return *out = (int)i, true;
    return false;
}

/* Reads item i of a list into an array of the kind's C type. */
static bool item_of(custom_reading *r, const xir_field *f, const xir_any *any, size_t i, void *to) {
    int64_t whole;
    switch (f->kind) {
    case XIR_KIND_BOOLS:
        if (!whole_of(any, &whole) || (whole != 0 && whole != 1)) break;
        return ((bool *)to)[i] = whole != 0, true;
    case XIR_KIND_I64S:
        if (!whole_of(any, &((int64_t *)to)[i])) break;
        return true;
    case XIR_KIND_REALS:
        if (!real_of(any, &((double *)to)[i])) break;
        return true;
    case XIR_KIND_TEXTS:
        if (any->kind != XIR_ANY_TEXT) break;
        return ((xir_str *)to)[i] = any->as.text, true;
    case XIR_KIND_REFS:    return reference_of(r, f, any, &((const xir_object **)to)[i]);
    case XIR_KIND_PARAMSS: return params_of(r, f, any, i, true, &((xir_value **)to)[i]);
    default: break;
    }
    return custom_wrong(r, XIR_E_TYPE, f->name, "an item of the list is of another kind");
}

static bool read_list(custom_reading *r, const xir_field *f, const xir_any *any, xir_attr *out) {
    enum { LARGEST = sizeof(xir_str) };
    const size_t n = any->kind == XIR_ANY_LIST ? any->as.list.size : 0;
    if (any->kind != XIR_ANY_LIST) return custom_wrong(r, XIR_E_TYPE, f->name, "expected a list");
    void *items = n < SIZE_MAX / LARGEST ? node_take(r->at, (n + 1) * LARGEST) : NULL;
    if (!items) return node_no_memory(r->at);
    for (size_t i = 0; i < n; i++) if (!item_of(r, f, &any->as.list.items[i], i, items)) return false;
    switch (f->kind) {
    case XIR_KIND_BOOLS: out->as.bools = (xir_bools){ items, n }; break;
    case XIR_KIND_I64S:  out->as.i64s = (xir_i64s){ items, n }; break;
    case XIR_KIND_REALS: out->as.reals = (xir_reals){ items, n }; break;
    case XIR_KIND_TEXTS: out->as.texts = (xir_texts){ items, n }; break;
    case XIR_KIND_REFS:  out->as.refs = (xir_refs){ items, n }; break;
    default:             out->as.values = (xir_values){ items, n }; break;
    }
    return true;
}

static bool read_attribute(custom_reading *r, const xir_field *f, const xir_any *any, xir_attr *out) {
    int64_t whole;
    *out = (xir_attr){ .kind = f->kind };
    switch (f->kind) {
    case XIR_KIND_BOOL:
        if (!whole_of(any, &whole) || (whole != 0 && whole != 1))
            return custom_wrong(r, XIR_E_TYPE, f->name, "expected 0 or 1");
        return out->as.boolean = whole != 0, true;
    case XIR_KIND_I64:
        return whole_of(any, &out->as.i64) || custom_wrong(r, XIR_E_TYPE, f->name, "expected an integer");
    case XIR_KIND_U64:
        return u64_of(any, &out->as.u64) ||
               custom_wrong(r, XIR_E_TYPE, f->name, "expected an integer that is not below 0");
    case XIR_KIND_REAL:
        return real_of(any, &out->as.real) || custom_wrong(r, XIR_E_TYPE, f->name, "expected a real");
    case XIR_KIND_TEXT:
        if (any->kind != XIR_ANY_TEXT) return custom_wrong(r, XIR_E_TYPE, f->name, "expected a text");
        return out->as.text = any->as.text, true;
    case XIR_KIND_ENUM:
        return word_of(f, any, &out->as.enumerator) ||
               custom_wrong(r, XIR_E_TYPE, f->name, "expected one of the words of the class");
    case XIR_KIND_REF:    return reference_of(r, f, any, &out->as.ref);
    case XIR_KIND_PARAMS: return params_of(r, f, any, 0, false, &out->as.params);
    case XIR_KIND_MAP:
        if (any->kind != XIR_ANY_TEXT) return custom_wrong(r, XIR_E_TYPE, f->name, "expected the text of a map");
        return custom_parse_map(r, f->name, any->as.text, &out->as.map);
    case XIR_KIND_RUNS: case XIR_KIND_OPS: case XIR_KIND_COUNT:
        return custom_wrong(r, XIR_E_TYPE, f->name, "no node has an attribute of this kind");
    default: return read_list(r, f, any, out);
    }
}

static bool is_absent(const custom_reading *r, xir_str name) {
    const xir_any *list = custom_find(r, CUSTOM_ABSENT);
    for (size_t i = 0; list && list->kind == XIR_ANY_LIST && i < list->as.list.size; i++) {
        const xir_any *item = &list->as.list.items[i];
        if (item->kind == XIR_ANY_TEXT && xir_str_equal(item->as.text, name)) return true;
    }
    return false;
}

bool custom_read_attributes(custom_reading *r) {
    const xir_class *cls = r->cls;
    r->named = node_take(r->at, (cls->n_fields + 1) * sizeof *r->named);
    if (!r->named) return node_no_memory(r->at);
    for (size_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const xir_any *any = xir_map_find(r->given, f->name);
        xir_named_attr *to = &r->named[r->n_named];
        to->name = f->name;
        if (!any && is_absent(r, f->name)) {
            if (!(f->flags & XIR_FIELD_OPTIONAL)) return custom_wrong(r, XIR_E_INVALID, f->name, "it cannot be absent");
            to->value = (xir_attr){ .kind = f->kind, .is_null = true };
        } else if (!any) {
            if (f->flags & XIR_FIELD_REQUIRED) return custom_wrong(r, XIR_E_MISSING, f->name, "it is missing");
            continue;
        } else if (!read_attribute(r, f, any, &to->value)) {
            return false;
        }
        r->n_named++;
    }
    return true;
}

bool custom_are_known(custom_reading *r) {
    static const char *const own[] = { CUSTOM_CLASS, CUSTOM_INPUTS, CUSTOM_OUTPUTS, CUSTOM_DIMS, CUSTOM_ABSENT,
                                       CUSTOM_TARGET, CUSTOM_EXTRA };
    for (size_t i = 0; i < r->given->size; i++) {
        const xir_str name = r->given->entries[i].key;
        bool known = xir_class_field(r->cls, name) != NULL;
        for (size_t k = 0; k < COUNT(own) && !known; k++) known = xir_str_equal(name, xir_str_of(own[k]));
        for (size_t k = 0; k < r->cls->n_fields && !known; k++) {   /* "NAME.type" */
            const xir_str f = r->cls->fields[k].name;
            known = name.size == f.size + 5 && memcmp(name.data, f.data, f.size) == 0 &&
                    memcmp(name.data + f.size, ".type", 5) == 0;
        }
        if (!known) return custom_wrong(r, XIR_E_UNKNOWN, name, "the class has no such attribute");
    }
    return true;
}
