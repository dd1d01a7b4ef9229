/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes by name, for the kinds that most have: a kind is a row, the calls are made of it. */
#include "graph.h"

/* KIND: the end of the calls' names, the kind, the type of C, the member of xir_attr. */
#define SINGLES(KIND)                                     \
    KIND(bool,   BOOL,   bool,        boolean)            \
    KIND(i64,    I64,    int64_t,     i64)                \
    KIND(real,   REAL,   double,      real)               \
    KIND(params, PARAMS, xir_value *, params)

/* ---- setting ------------------------------------------------------------------------------------------------- */

static xir_status set(xir_op *op, const char *attr, xir_attr value) {
    return op ? xir_op_set(op, xir_str_of(attr), &value) : XIR_E_MISSING;
}

#define SET(id, K, type, member)                                                  \
    xir_status xir_op_set_##id(xir_op *op, const char *attr, type v) {            \
        return set(op, attr, (xir_attr){ .kind = XIR_KIND_##K, .as.member = v }); \
    }
SINGLES(SET)

xir_status xir_op_set_i64s(xir_op *op, const char *attr, const int64_t *v, size_t n) {
    return set(op, attr, (xir_attr){ .kind = XIR_KIND_I64S, .as.i64s = { v, n } });
}

xir_status xir_op_set_text(xir_op *op, const char *attr, const char *v) {
    return set(op, attr, (xir_attr){ .kind = XIR_KIND_TEXT, .as.text = xir_str_of(v) });
}

/* ---- getting ------------------------------------------------------------------------------------------------- */

/* The attribute as one of this kind. */
static xir_status get(const xir_op *op, const char *attr, xir_kind kind, xir_attr *out) {
    const xir_field *f = op ? xir_class_field(op->cls, xir_str_of(attr)) : NULL;
    if (!f) return op ? XIR_E_UNKNOWN : XIR_E_MISSING;
    body_get(f, op->attrs, out);
    if (out->is_null) return f->kind == kind ? XIR_E_MISSING : XIR_E_TYPE;
    if (f->kind == XIR_KIND_I64 && kind == XIR_KIND_REAL) out->as.real = (double)out->as.i64;
    else if (f->kind == XIR_KIND_ENUM && kind == XIR_KIND_TEXT)
        out->as.text = xir_str_of(f->members->names[out->as.enumerator]);
    else if (f->kind != kind) return XIR_E_TYPE;
    return XIR_OK;
}

#define GET(id, K, type, member)                                                   \
    xir_status xir_op_get_##id(const xir_op *op, const char *attr, type *out) {    \
        xir_attr value;                                                            \
        xir_status status = get(op, attr, XIR_KIND_##K, &value);                   \
        if (!status) *out = value.as.member;                                       \
        return status;                                                             \
    }
SINGLES(GET)
GET(i64s, I64S, xir_i64s, i64s)
GET(text, TEXT, xir_str, text)
