/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of ops that ONNX cannot say, with the option `custom`: any op of any class becomes one node, by
 * reflection. See custom.h for its attributes. */
#include <math.h>
#include <stdio.h>
#include <xir/place.h>
#include <xir/serialize.h>
#include "onnx/back.h"
#include "onnx/custom.h"
#include "number.h"

bool onnx_is_custom(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    const size_t n = sizeof CUSTOM_PREFIX - 1;
    return key.size > n && memcmp(key.data, CUSTOM_PREFIX, n) == 0 && !memchr(key.data + n, '.', key.size - n);
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static xir_str kept_text(xir_node *at, const char *data, size_t size) {
    char *text = node_take(at, size + 1);
    if (!text) return (void)node_no_memory(at), (xir_str){ NULL, 0 };
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    return (xir_str){ text, size };
}

static const char *name_with(xir_node *at, xir_str name, const char *suffix) {
    const size_t n = strlen(suffix);
    char *text = node_take(at, name.size + n + 1);
    if (!text) return (void)node_no_memory(at), NULL;
    memcpy(text, name.data, name.size);
    memcpy(text + name.size, suffix, n + 1);
    return text;
}

/* Returns the text that a call has printed; takes the buffer. */
static xir_any printed(xir_node *at, xir_status status, xir_text_buffer *text) {
    xir_str kept = { NULL, 0 };
    if (!status) kept = kept_text(at, text->data, text->size);
    else if (status == XIR_E_MEMORY) node_no_memory(at);
    else xir_node_unsupported(at, "an attribute that cannot be a text");
    xir_text_free(text);
    return xir_any_text(kept);
}

static xir_any object_text(xir_node *at, const xir_object *object) {
    xir_text_buffer text = { 0 };
    return printed(at, xir_object_print(at->c->ctx, object, 0, &text), &text);
}

/* The text of a map. Params have no text. */
static bool has_params(const xir_any *any, unsigned depth) {
    if (any->kind == XIR_ANY_PARAMS || depth > 64) return true;
    for (size_t i = 0; any->kind == XIR_ANY_LIST && i < any->as.list.size; i++)
        if (has_params(&any->as.list.items[i], depth + 1)) return true;
    for (size_t i = 0; any->kind == XIR_ANY_MAP && i < any->as.map.size; i++)
        if (has_params(&any->as.map.entries[i].value, depth + 1)) return true;
    return false;
}

static xir_any map_text(xir_node *at, xir_map map) {
    xir_text_buffer text = { 0 };
    const xir_any any = xir_any_map(map.entries, map.size);
    if (has_params(&any, 0)) return (void)xir_node_unsupported(at, "constants in a map"), xir_any_null();
    return printed(at, xir_any_print(at->c->ctx, &any, 0, &text), &text);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static bool is_float(double v) { return isfinite(v) && fabs(v) <= 0x1.fffffep127 && (double)(float)v == v; }

static xir_any real_text(xir_node *at, double v) {
    char digits[NUMBER_ROOM];
    if (isnan(v)) return xir_any_text(XIR_STR("nan"));
    if (isinf(v)) return xir_any_text(v > 0 ? XIR_STR("inf") : XIR_STR("-inf"));
    return xir_any_text(kept_text(at, digits, number_put_real(digits, v)));
}

static xir_any u64_any(xir_node *at, uint64_t v) {
    char digits[NUMBER_ROOM];
    if (v <= INT64_MAX) return xir_any_int((int64_t)v);
    return xir_any_text(kept_text(at, digits, number_put_u64(digits, v)));
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

typedef struct custom_sets {
    xir_node *at;
    xir_set  *sets;
    xir_any  *values;
    size_t    n, room;
} custom_sets;

static void put(custom_sets *s, const char *name, xir_any any) {
    if (xir_node_failed(s->at) || !name || s->n == s->room) return;
    s->values[s->n] = any;
    s->sets[s->n] = (xir_set){ .name = name, .kind = XIR_SET_ANY, .p = &s->values[s->n] };
    s->n++;
}

/* Returns true if ONNX has tensors of this type. The letters of its axes are in the text of the type. */
static bool is_tensor(xir_node *at, const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    return tensor && !xir_type_is_layouted(type) && !tensor->merged_distrs.size &&
           onnx_code_of(at, tensor->element_dtype) >= 0;
}

/* Params as ONNX can have them: themselves, or their bytes. */
static xir_value *as_tensor(xir_node *at, xir_value *v) {
    const xir_type *type = xir_value_type(v), *byte = xir_type_uint(at->c->ctx, 8);
    uint64_t bytes;
    if (!type || !xir_type_as_tensor(type)) return xir_node_unsupported(at, "constants without a type"), NULL;
    if (is_tensor(at, type)) return v;
    if (xir_type_bytes(type, &bytes) || bytes > INT64_MAX)
        return xir_node_unsupported(at, "constants of an unknown size"), NULL;
    const int64_t n = (int64_t)bytes;
    const xir_type *raw = byte ? xir_type_tensor(at->c->ctx, byte, NULL, &n, 1) : NULL;
    xir_value *made = raw ? node_alias(at, v) : NULL;
    if (!made || xir_value_set_type(made, raw) || xir_value_set_name(made, xir_value_name(v)))
        return node_no_memory(at), NULL;
    return made;
}

static xir_any params_any(xir_node *at, xir_value *v) {
    return (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = as_tensor(at, v) };
}

/* Item i of a list, and how many there are. */
static size_t items_of(const xir_attr *a) {
    switch (a->kind) {
    case XIR_KIND_BOOLS:   return a->as.bools.size;
    case XIR_KIND_I64S:    return a->as.i64s.size;
    case XIR_KIND_REALS:   return a->as.reals.size;
    case XIR_KIND_TEXTS:   return a->as.texts.size;
    case XIR_KIND_REFS:    return a->as.refs.size;
    case XIR_KIND_PARAMSS: return a->as.values.size;
    default:               return 0;
    }
}

static xir_any item_of(xir_node *at, const xir_attr *a, size_t i, bool floats) {
    switch (a->kind) {
    case XIR_KIND_BOOLS: return xir_any_int(a->as.bools.data[i]);
    case XIR_KIND_I64S:  return xir_any_int(a->as.i64s.data[i]);
    case XIR_KIND_REALS: return floats ? xir_any_real(a->as.reals.data[i]) : real_text(at, a->as.reals.data[i]);
    case XIR_KIND_TEXTS: return xir_any_text(a->as.texts.data[i]);
    case XIR_KIND_REFS:  return object_text(at, a->as.refs.data[i]);
    default:             return params_any(at, a->as.values.data[i]);
    }
}

static xir_any list_of(xir_node *at, const xir_attr *a) {
    const size_t n = items_of(a);
    bool floats = true;
    xir_any *items = node_take(at, (n + 1) * sizeof *items);
    if (!items) return (void)node_no_memory(at), xir_any_null();
    for (size_t i = 0; i < n && a->kind == XIR_KIND_REALS; i++) floats &= is_float(a->as.reals.data[i]);
    for (size_t i = 0; i < n && !xir_node_failed(at); i++) items[i] = item_of(at, a, i, floats);
    return xir_any_list(items, n);
}

static void put_params_types(custom_sets *s, const xir_field *f, xir_value *const *values, size_t n, bool list) {
    xir_any *items = node_take(s->at, (n + 1) * sizeof *items);
    if (!items) { (void)node_no_memory(s->at); return; }
    for (size_t i = 0; i < n && !xir_node_failed(s->at); i++)
        items[i] = object_text(s->at, xir_type_object(xir_value_type(values[i])));
    if (n) put(s, name_with(s->at, f->name, ".type"), list ? xir_any_list(items, n) : items[0]);
}

/* An attribute that is present. */
static void put_attribute(custom_sets *s, const xir_field *f, const xir_attr *a) {
    const char *name = name_with(s->at, f->name, "");
    switch (a->kind) {
    case XIR_KIND_BOOL: put(s, name, xir_any_int(a->as.boolean)); break;
    case XIR_KIND_I64:  put(s, name, xir_any_int(a->as.i64)); break;
    case XIR_KIND_U64:  put(s, name, u64_any(s->at, a->as.u64)); break;
    case XIR_KIND_REAL:
        put(s, name, is_float(a->as.real) ? xir_any_real(a->as.real) : real_text(s->at, a->as.real));
        break;
    case XIR_KIND_TEXT: put(s, name, xir_any_text(a->as.text)); break;
    case XIR_KIND_ENUM: put(s, name, xir_any_text(xir_str_of(f->members->names[a->as.enumerator]))); break;
    case XIR_KIND_REF:  put(s, name, object_text(s->at, a->as.ref)); break;
    case XIR_KIND_MAP:  put(s, name, map_text(s->at, a->as.map)); break;
    case XIR_KIND_PARAMS:
        put(s, name, params_any(s->at, a->as.params));
        put_params_types(s, f, &a->as.params, 1, false);
        break;
    case XIR_KIND_BOOLS: case XIR_KIND_I64S: case XIR_KIND_REALS: case XIR_KIND_TEXTS: case XIR_KIND_REFS:
    case XIR_KIND_PARAMSS:
        put(s, name, list_of(s->at, a));
        if (a->kind == XIR_KIND_PARAMSS) put_params_types(s, f, a->as.values.data, a->as.values.size, true);
        break;
    case XIR_KIND_RUNS:
        if (a->as.runs.size) xir_node_unsupported(s->at, "%s: runs", name ? name : "");
        break;
    case XIR_KIND_OPS:
        if (a->as.ops.size) xir_node_unsupported(s->at, "%s: ops inside of an op", name ? name : "");
        break;
    case XIR_KIND_COUNT: break;
    }
}

static void put_attributes(custom_sets *s) {
    const xir_class *cls = s->at->op->cls;
    xir_any *absent = node_take(s->at, (cls->n_fields + 1) * sizeof *absent);
    size_t n = 0;
    if (!absent) { (void)node_no_memory(s->at); return; }
    for (size_t i = 0; i < cls->n_fields && !xir_node_failed(s->at); i++) {
        const xir_field *f = &cls->fields[i];
        xir_attr a;
        if (xir_op_get(s->at->op, f->name, &a)) continue;
        if (!a.is_null) put_attribute(s, f, &a);
        else if (!field_equal(f, s->at->op->attrs, cls->defaults)) absent[n++] = xir_any_text(f->name);
    }
    if (n) put(s, CUSTOM_ABSENT, xir_any_list(absent, n));
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static xir_any type_text(xir_node *at, const xir_value *v) {
    return v && xir_value_type(v) ? object_text(at, xir_type_object(xir_value_type(v))) : xir_any_text(XIR_STR(""));
}

/* "batch;2*length;8" */
static xir_any dims_text(xir_node *at, const xir_type *type) {
    size_t size = 0;
    if (!xir_type_is_symbolic(type)) return xir_any_text(XIR_STR(""));
    for (size_t i = 0; i < xir_type_rank(type); i++) size += xir_type_dim_text(type, (int64_t)i, NULL, 0) + 1;
    char *text = node_take(at, size + 1);
    if (!text) return (void)node_no_memory(at), xir_any_null();
    size_t n = 0;
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        if (i) text[n++] = ';';
        n += xir_type_dim_text(type, (int64_t)i, text + n, size + 1 - n);
    }
    return xir_any_text((xir_str){ text, n });
}

static void put_types(custom_sets *s, size_t n_in, size_t n_out) {
    xir_node *at = s->at;
    xir_any *in = node_take(at, (n_in + 2 * n_out + 1) * sizeof *in);
    if (!in) { (void)node_no_memory(at); return; }
    xir_any *out = in + n_in, *dims = out + n_out;
    bool symbolic = false;
    for (size_t i = 0; i < n_in && !xir_node_failed(at); i++) in[i] = type_text(at, xir_op_input(at->op, (int64_t)i));
    for (size_t i = 0; i < n_out && !xir_node_failed(at); i++) {
        const xir_value *v = xir_op_output(at->op, (int64_t)i);
        out[i] = type_text(at, v);
        dims[i] = dims_text(at, xir_value_type(v));
        symbolic |= dims[i].kind == XIR_ANY_TEXT && dims[i].as.text.size;
    }
    if (n_in) put(s, CUSTOM_INPUTS, xir_any_list(in, n_in));
    if (n_out) put(s, CUSTOM_OUTPUTS, xir_any_list(out, n_out));
    if (symbolic) put(s, CUSTOM_DIMS, xir_any_list(dims, n_out));
}

/* ---- the node --------------------------------------------------------------------------------------------------- */

/* "onnx::icraft.xir.Conv2d": the last part of the class's key. What an identifier cannot have is a line. */
static const char *type_of_node(xir_node *at) {
    const xir_str key = xir_class_key(at->op->cls);
    size_t from = key.size;
    while (from && key.data[from - 1] != ':') from--;
    char *text = node_take(at, sizeof CUSTOM_PREFIX + 1 + key.size - from);
    if (!text) return (void)node_no_memory(at), NULL;
    memcpy(text, CUSTOM_PREFIX, sizeof CUSTOM_PREFIX);
    size_t n = sizeof CUSTOM_PREFIX - 1;
    if (from == key.size || (key.data[from] >= '0' && key.data[from] <= '9')) text[n++] = '_';
    for (size_t i = from; i < key.size; i++) {
        const char c = key.data[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text[n++] = plain ? c : '_';
    }
    text[n] = '\0';
    return text;
}

static bool put_all(custom_sets *s, size_t n_in, size_t n_out) {
    xir_node *at = s->at;
    const xir_target *target = xir_op_target(at->op);
    const xir_map *extra = xir_op_extra(at->op);
    s->room = 2 * (size_t)at->op->cls->n_fields + 8;
    s->sets = node_take(at, s->room * sizeof *s->sets);
    s->values = node_take(at, s->room * sizeof *s->values);
    if (!s->sets || !s->values) return node_no_memory(at);
    put(s, CUSTOM_CLASS, xir_any_text(xir_class_key(at->op->cls)));
    put_attributes(s);
    put_types(s, n_in, n_out);
    if (target && xir_target_kind_of(target) != XIR_TARGET_HOST)
        put(s, CUSTOM_TARGET, object_text(at, (const xir_object *)target));
    if (extra && extra->size) put(s, CUSTOM_EXTRA, map_text(at, *extra));
    return !xir_node_failed(at);
}

bool onnx_become_custom(xir_node *at) {
    custom_sets s = { .at = at };
    const size_t n_in = xir_op_input_count(at->op), n_out = xir_op_output_count(at->op);
    xir_value **in = node_take(at, (n_in + 1) * sizeof *in);
    const xir_type **types = node_take(at, (n_out + 1) * sizeof *types);
    if (!in || !types) return node_no_memory(at);
    if (!put_all(&s, n_in, n_out)) return false;
    for (size_t i = 0; i < n_in; i++) {
        in[i] = xir_op_input(at->op, (int64_t)i);
        if (in[i] && xir_value_is_params(in[i])) in[i] = as_tensor(at, in[i]);
    }
    for (size_t i = 0; i < n_out; i++) types[i] = xir_value_type(xir_op_output(at->op, (int64_t)i));
    const char *key = type_of_node(at);
    xir_op *op = xir_node_make_foreign(at, key, (xir_values){ in, n_in }, (xir_sets){ s.sets, s.n }, types, n_out);
    return foreign_gives(at, op) && onnx_name_rest(at, op);
}

/* With `custom`, what nothing else converts. A part of an op is never such a node: the whole op is one. */
xir_convert_fn *onnx_rest(xir_node *at, size_t i) {
    const xir_pass *pass = xir_node_pass(at);
    xir_convert_fn *ways[2];
    const size_t n = onnx_quantised_ways(at, ways);
    if (i < n) return ways[i];
    return i == n && pass && !at->depth && xir_pass_bool(pass, "custom") ? onnx_become_custom : NULL;
}
