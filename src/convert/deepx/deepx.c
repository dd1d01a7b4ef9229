/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX as a dialect (docs/deepx.md): which functions only compute, older names, and what hooks ask of a call. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "deepx/deepx.h"
#include "number.h"

/* ---- the dialect ------------------------------------------------------------------------------------------------ */

xir_str deepx_function(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    const bool is_call = key.size > 7 && memcmp(key.data, "deepx::", 7) == 0;
    return is_call ? (xir_str){ key.data + 7, key.size - 7 } : (xir_str){ "", 0 };
}

bool deepx_calls(const xir_op *op, const char *function) {
    const xir_str own = deepx_function(op);
    const size_t n = strlen(function);
    return own.size == n && memcmp(own.data, function, n) == 0;
}

/* Findings count ops as files do: the Input op is 0, the first call 1. */
int64_t deepx_number_of(const xir_op *op) { return xir_op_id(op); }

/* Functions that change the executor's tables or draw numbers. What is not in the table may do anything. */
bool deepx_is_pure(const xir_op *op) {
    static const char *const others[] = { "newtensor", "deltensor", "renametensor", "print", "save", "load",
                                          "loadtensordata", "argset", "vecset", "uniform", "normal", "dropout" };
    for (size_t i = 0; i < COUNT(others); i++)
        if (deepx_calls(op, others[i])) return false;
    return xir_convert_find(xir_network_context(xir_op_network(op)), xir_class_key(xir_op_class(op))) != NULL;
}

/* Names of early documents: "add_scalar". */
size_t deepx_spelled(xir_str type, char *out, size_t room) {
    static const char end[] = "_scalar";
    const size_t n = sizeof end - 1;
    if (type.size <= n || memcmp(type.data + type.size - n, end, n) != 0 || type.size > room) return 0;
    memcpy(out, type.data, type.size - n);
    memcpy(out + type.size - n, end + 1, n - 1);
    return type.size - 1;
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static xir_str trimmed(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (xir_str){ p, (size_t)(end - p) };
}

xir_str deepx_text(const xir_node *at, size_t i) {
    char key[24];
    snprintf(key, sizeof key, "arg%zu", i);
    return xir_node_text(at, key, "");
}

bool deepx_invalid(xir_node *at, size_t i, xir_status code, const char *sentence) {
    char where[40];
    const xir_str text = deepx_text(at, i);
    snprintf(where, sizeof where, "attribute/arg%zu", i);
    return xir_node_invalid(at, code, where, "%s, found '%.*s'", sentence, CLIP_TO(text, 80));
}

/* Digits as JSON has them, with a '+', with a '.' at either end, inf and nan. */
bool deepx_parse_number(xir_str text, double *out) {
    char plain[400];
    number n;
    size_t size = 0;
    const char *p = text.data, *end = p + text.size;
    const bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (end - p == 3 && (memcmp(p, "inf", 3) == 0 || memcmp(p, "nan", 3) == 0)) {
        *out = *p == 'n' ? NAN : minus ? -INFINITY : INFINITY;
        return true;
    }
    while (p + 1 < end && *p == '0' && p[1] >= '0' && p[1] <= '9') p++;
    if ((size_t)(end - p) > sizeof plain - 3) return false;
    bool digits = false, point = false;
    for (; p < end; p++) {
        if (*p == '.') {
            if (point) return false;
            point = true;
            if (!digits) plain[size++] = '0';
            const bool more = p + 1 < end && p[1] >= '0' && p[1] <= '9';
            if (!more && !digits) return false;
            if (!more) continue;
        }
        digits |= *p >= '0' && *p <= '9';
        plain[size++] = *p;
    }
    if (!size || number_parse(plain, size, &n) != size) return false;
    const double v = n.kind == NUMBER_I64 ? (double)n.i64 : n.kind == NUMBER_U64 ? (double)n.u64 : n.real;
    *out = minus ? -v : v;
    return true;
}

bool deepx_number(xir_node *at, size_t i, double *out) {
    const xir_str text = deepx_text(at, i);
    *out = 0;
    if (xir_node_failed(at)) return false;
    if (!deepx_parse_number(text, out)) return deepx_invalid(at, i, XIR_E_TYPE, "expected a number");
    *out = number_to_f32(*out);
    return true;
}

bool deepx_flag(xir_node *at, size_t i, bool *out) {
    static const char *const words[] = { "false", "true", "False", "True", "FALSE", "TRUE", "0", "1" };
    const xir_str text = deepx_text(at, i);
    *out = false;
    for (size_t k = 0; k < COUNT(words); k++) {
        if (!xir_str_equal(text, xir_str_of(words[k]))) continue;
        *out = k % 2;
        return true;
    }
    return !xir_node_failed(at) && deepx_invalid(at, i, XIR_E_TYPE, "expected true or false");
}

/* The next item of a list whose items blanks or commas separate; empty at its end. */
static xir_str next_item(xir_str *rest) {
    const char *p = rest->data, *end = p + rest->size, *start;
    while (p < end && (*p == ' ' || *p == '\t' || *p == ',')) p++;
    for (start = p; p < end && *p != ' ' && *p != '\t' && *p != ','; p++) {}
    *rest = (xir_str){ p, (size_t)(end - p) };
    return (xir_str){ start, (size_t)(p - start) };
}

static bool parse_int(xir_str text, int64_t *out) {
    const bool minus = text.size && text.data[0] == '-';
    size_t i = minus;
    *out = 0;
    for (; i < text.size && text.data[i] >= '0' && text.data[i] <= '9' && *out <= INT32_MAX; i++)
        *out = 10 * *out + (text.data[i] - '0');
    const bool whole = i == text.size && i > (size_t)minus && *out <= (int64_t)INT32_MAX + minus;
    if (minus) *out = -*out;
    return whole;
}

bool deepx_ints(xir_node *at, size_t i, xir_ints *out) {
    const xir_str whole = deepx_text(at, i);
    xir_str list = trimmed(whole.data, whole.data + whole.size), rest, item;
    size_t n = 0;
    *out = (xir_ints){ NULL, 0 };
    if (xir_node_failed(at)) return false;
    const char first = list.size >= 2 ? list.data[0] : ' ', last = list.size >= 2 ? list.data[list.size - 1] : ' ';
    if ((first == '[' && last == ']') || (first == last && (first == '"' || first == '\'')))
        list = (xir_str){ list.data + 1, list.size - 2 };
    for (rest = list; next_item(&rest).size;) n++;
    *out = xir_node_make_ints(at, n, 0);
    if (!out->v) return false;
    rest = list;
    for (size_t k = 0; k < n; k++) {
        item = next_item(&rest);
        if (!parse_int(item, &out->v[k])) return deepx_invalid(at, i, XIR_E_TYPE, "expected a vector of integers");
    }
    return true;
}

bool deepx_axes(xir_node *at, size_t i, size_t rank, xir_ints *out) {
    xir_ints list;
    if (!deepx_ints(at, i, &list)) return false;
    xir_ints marks = xir_node_make_ints(at, rank, list.n == 0);
    for (size_t k = 0; k < list.n && marks.v; k++) {
        if (list.v[k] < -(int64_t)rank || list.v[k] >= (int64_t)rank)
            return deepx_invalid(at, i, XIR_E_BOUNDS, "an axis is out of range: expected axes of the tensor");
        marks.v[list.v[k] < 0 ? list.v[k] + (int64_t)rank : list.v[k]] = 1;
    }
    *out = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    out->n = 0;
    for (size_t k = 0; k < rank; k++) if (marks.v[k]) out->v[out->n++] = (int64_t)k;
    return true;
}

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

const xir_type *deepx_target(const xir_node *at) {
    const xir_op *op = xir_node_op(at);
    const size_t n = xir_op_input_count(op);
    const xir_value *out = xir_op_output_count(op) ? xir_op_output(op, 0) : NULL;
    if (!out) return NULL;
    if (xir_type_as_tensor(xir_value_type(out))) return xir_value_type(out);
    const xir_value *last = n ? xir_op_input(op, (int64_t)n - 1) : NULL;
    const bool former = last && xir_str_equal(xir_value_name(last), xir_value_name(out));
    return former && xir_type_as_tensor(xir_value_type(last)) ? xir_value_type(last) : NULL;
}

const xir_type *deepx_known_target(xir_node *at) {
    const xir_type *type = deepx_target(at);
    if (xir_node_failed(at)) return NULL;
    if (!type) return xir_node_unsupported(at, "the type of the tensor that it writes into is unknown"), NULL;
    if (xir_type_has_unknown_dim(type))
        return xir_node_unsupported(at, "the tensor that it writes into has open dims"), NULL;
    return type;
}

xir_value *deepx_scalar(xir_node *at, const xir_type *element, double v) {
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    return xir_node_scalar(at, element, real ? v : trunc(v));
}
