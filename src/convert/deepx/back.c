/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back: how its hooks make calls. A call has a tensor as its result, whose type is known; the tensor that it
 * writes into is made at the end (back_file.c). Numbers are texts, which the executor reads as float32: another number
 * is a tensor. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "deepx/deepx.h"
#include "number.h"

enum { MOST_DIM_DIGITS = 12 };

/* ---- elements and dims ------------------------------------------------------------------------------------------ */

const char *deepx_precision(const xir_type *element) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(element));
    if (xir_type_is_quantized(element)) return NULL;
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return "bool";
    if (real) return real->format == XIR_FLOAT_FP64 ? "float64" : real->format == XIR_FLOAT_FP32 ? "float32"
                   : real->format == XIR_FLOAT_FP16 ? "float16" : real->format == XIR_FLOAT_BF16 ? "bfloat16" : NULL;
    if (!whole || !whole->sign) return NULL;
    switch (xir_type_storage_bits(element)) {
    case 8:  return whole->ibits == 8 ? "int8" : NULL;
    case 16: return whole->ibits == 16 ? "int16" : NULL;
    case 32: return whole->ibits == 32 ? "int32" : NULL;
    case 64: return "int64";
    default: return NULL;
    }
}

static bool is_said(xir_node *at, const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return true;
    if (!deepx_precision(v_element(v))) return xir_node_unsupported(at, "elements that DeepX does not have");
    for (size_t i = 0; i < v_rank(v); i++) {
        if (v_dim(v, i) < 0) return xir_node_unsupported(at, "open dims");
        if (v_dim(v, i) == 0) return xir_node_unsupported(at, "no elements");
        if (v_dim(v, i) > INT32_MAX) return xir_node_unsupported(at, "a dim that does not fit into 32 bits");
    }
    return true;
}

bool deepx_back_check(xir_node *at) {
    if (!at->c->back.to) return true;
    for (size_t i = 0, n = op_values(at->op); i < n; i++) if (!is_said(at, op_value(at->op, i))) return false;
    return true;
}

const xir_type *deepx_result(const xir_node *at) { return xir_value_type(xir_op_output(at->op, 0)); }

/* An element type in the dims of another type. */
static const xir_type *shaped(xir_node *at, const xir_type *element, const xir_type *dims) {
    const xir_ints list = node_dims_of(at, dims);
    return list.v ? node_type(at, element, NULL, &list) : NULL;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* "[3 4]"; a tensor without dims has one of 1. */
const char *deepx_vector(xir_node *at, const xir_ints *v) {
    char *text = node_take(at, v->n * MOST_DIM_DIGITS + 4), *p = text;
    if (!text) return node_no_memory(at), NULL;
    *p++ = '[';
    for (size_t i = 0; i < v->n; i++) {
        if (i) *p++ = ' ';
        p += number_put_i64(p, (int32_t)v->v[i]);
    }
    if (!v->n) *p++ = '1';
    memcpy(p, "]", 2);
    return text;
}

const char *deepx_dims(xir_node *at, const xir_type *type) {
    const xir_ints list = node_dims_of(at, type);
    return list.v ? deepx_vector(at, &list) : NULL;
}

bool deepx_holds(double v) { return isnan(v) || number_to_f32(v) == v; }

const char *deepx_digits(xir_node *at, double v) {
    char *text = node_take(at, 32);
    if (!text) return node_no_memory(at), NULL;
    if (isnan(v)) return "nan";
    if (isinf(v)) return v < 0 ? "-inf" : "inf";
    snprintf(text, 32, "%.9g", v);
    return text;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

typedef struct call {
    char    types[220], keys[4][8];
    size_t  size, n_sets;
    xir_set sets[5];
} call;

static void put(call *c, const char *text) {
    const size_t n = strlen(text);
    if (n >= sizeof c->types - c->size) return;
    memcpy(c->types + c->size, text, n);
    c->size += n;
}

static void put_tensor(call *c, const char *kind, const char *precision) {
    put(c, kind);
    put(c, "<");
    put(c, precision);
    put(c, ">");
}

static void put_text(call *c, size_t slot, const char *type, const char *text) {
    memcpy(c->keys[c->n_sets], (char[]){ 'a', 'r', 'g', (char)('0' + slot % 10), '\0' }, 5);
    put(c, type);
    c->sets[c->n_sets] = (xir_set)WORD(c->keys[c->n_sets], xir_str_of(text));
    c->n_sets++;
}

/* The types of the slots, by the letters of `form`, and the texts as attributes. */
static bool put_slots(xir_node *at, call *c, const char *form, xir_values in, const char *const *texts,
                      const char *var) {
    const size_t after = strchr(form, 'L') ? strlen(strchr(form, 'L')) - 1 : 0;
    for (size_t slot = 0, taken = 0; form[slot]; slot++) {
        if (slot) put(c, ", ");
        const char *precision = taken < in.size ? deepx_precision(v_element(in.data[taken])) : NULL;
        switch (form[slot]) {
        case 'T':
            if (!precision) return xir_node_unsupported(at, "elements that DeepX does not have");
            put_tensor(c, "tensor", precision);
            taken++;
            continue;
        case 'L': {
            char items[NUMBER_ROOM + 1];
            size_t others = 0;   /* tensors after the list */
            for (size_t i = 0; i < after; i++) others += form[slot + 1 + i] == 'T';
            if (!precision) return xir_node_unsupported(at, "elements that DeepX does not have");
            items[number_put_u64(items, in.size - others)] = '\0';
            put_tensor(c, "listtensor", precision);
            put(c, "*");
            put(c, items);
            taken = in.size - others;
            continue;
        }
        default: break;
        }
        const char *text = *texts++;
        if (!text) return node_no_memory(at);
        put_text(c, slot, form[slot] == 'V' ? "vector<int32>" : form[slot] == 's' ? "var<string>"
                        : form[slot] == 'b' ? "var<bool>" : form[slot] == 'i' ? "var<int32>"
                        : form[slot] == 'f' ? "var<float32>" : var, text);
    }
    return true;
}

xir_value *deepx_call(xir_node *at, const char *key, const char *form, xir_values in, const char *const *texts,
                      const xir_type *type) {
    call c = { .size = 0 };
    if (xir_node_failed(at) || !type) return NULL;
    for (size_t i = 0; i < in.size; i++) if (!in.data[i]) return NULL;
    const xir_type *of = xir_type_element(in.size ? xir_value_type(in.data[0]) : type);
    const char *result = deepx_precision(xir_type_element(type));
    const bool whole = xir_type_kind_of(of) == XIR_TYPE_INTEGER;
    if (!put_slots(at, &c, form, in, texts, whole ? "var<int32>" : "var<float32>")) return NULL;
    if (!result) return xir_node_unsupported(at, "elements that DeepX does not have"), NULL;
    put(&c, *form ? " -> " : "-> ");
    put_tensor(&c, "tensor", result);
    c.sets[c.n_sets] = (xir_set)WORD("types", ((xir_str){ c.types, c.size }));
    return foreign_value(at, key, in, (xir_sets){ c.sets, c.n_sets + 1 }, type);
}

bool deepx_gives(xir_node *at, const char *form, xir_values in, const char *const *texts) {
    xir_value *v = deepx_call(at, at->to->row->name, form, in, texts, deepx_result(at));
    return v && xir_node_result(at, 0, v);
}

xir_value *deepx_spread(xir_node *at, xir_value *x, const xir_type *dims) {
    if (xir_node_failed(at) || !x || !dims) return NULL;
    if (type_same_dims(xir_value_type(x), dims)) return x;
    const char *texts[] = { deepx_dims(at, dims) };
    return deepx_call(at, "deepx::broadcastTo", "TV", INS(x), texts, shaped(at, v_element(x), dims));
}

bool deepx_is_number(xir_node *at, size_t i, double *out) {
    const xir_value *own = xir_node_optional_input(at, i);
    return own && !v_is_bool(own) && node_is_number(at, i, out) && deepx_holds(*out) &&
           (!v_is_integer(own) || fabs(*out) <= 0x1p24);
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* The number that all elements are; false if they differ or a call cannot say it. */
static bool is_uniform(const xir_value *v, double *out) {
    const xir_type *element = v_element(v);
    const size_t size = (size_t)xir_type_storage_bits(element) / 8;
    uint64_t bytes;
    const uint8_t *data = xir_params_data(v, &bytes);
    if (!data || !size || bytes < size || bytes % size || xir_type_kind_of(element) == XIR_TYPE_BOOL) return false;
    if (memcmp(data, data + size, (size_t)bytes - size) != 0) return false;   /* each is the one before it */
    int64_t whole = 0;
    const bool integer = xir_type_kind_of(element) == XIR_TYPE_INTEGER;
    if (integer) elements_to_ints(element, data, 0, 1, &whole);
    else elements_to_reals(element, data, 0, 1, out);
    if (integer) *out = (double)whole;
    return deepx_holds(*out) && !isnan(*out) && (!integer || (whole <= 1 << 24 && whole >= -(1 << 24)));
}

/* Filled by `constant`, or read from the files of the program, whose names are given at the end. */
xir_value *deepx_back_constant(xir_node *at, xir_value *own) {
    double v;
    char types[80];
    const char *precision = deepx_precision(v_element(own));
    if (!precision) return NULL;
    if (xir_params_has_data(own) && is_uniform(own, &v)) {
        const char *texts[] = { deepx_digits(at, v) };
        return deepx_call(at, "deepx::constant", "n", (xir_values){ NULL, 0 }, texts, xir_value_type(own));
    }
    xir_value *shaped = v_rank(own) ? own : make_shaped(at, own, (int64_t[]){ 1 }, 1);
    if (!shaped) return NULL;
    const xir_type *type = xir_value_type(own);
    snprintf(types, sizeof types, "var<string> -> tensor<%s>", precision);
    const xir_set sets[] = { WORD("arg0", XIR_STR("w")), WORD("types", xir_str_of(types)), OBJ("data", shaped) };
    return foreign_value(at, "deepx::loadtensordata", (xir_values){ NULL, 0 }, (xir_sets){ sets, 3 }, type);
}
