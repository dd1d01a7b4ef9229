/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes of XIR's ops on the way back, in the kinds that files have: hooks ask for them as they ask for those of a
 * foreign op. */
#include "node/node.h"

/* A number of an object; false if it does not have one. */
static bool any_of_object(const xir_object *object, xir_any *out) {
    switch (object_what(object)) {
    case WHAT_BOOL: *out = xir_any_bool(xir_scalar_as_int((const xir_scalar *)object) != 0); return true;
    case WHAT_INT:  *out = xir_any_int(xir_scalar_as_int((const xir_scalar *)object)); return true;
    case WHAT_REAL: *out = xir_any_real(xir_scalar_as_real((const xir_scalar *)object)); return true;
    default: return false;
    }
}

static bool any_of_list(conversion *c, const xir_attr *attr, size_t n, xir_any *out) {
    xir_any *items = arena_take(&c->brief, (n + 1) * sizeof *items);
    c->no_memory |= !items;
    for (size_t i = 0; items && i < n; i++) {
        switch (attr->kind) {
        case XIR_KIND_BOOLS: items[i] = xir_any_bool(attr->as.bools.data[i]); break;
        case XIR_KIND_I64S:  items[i] = xir_any_int(attr->as.i64s.data[i]); break;
        case XIR_KIND_REALS: items[i] = xir_any_real(attr->as.reals.data[i]); break;
        case XIR_KIND_TEXTS: items[i] = xir_any_text(attr->as.texts.data[i]); break;
        default: if (!any_of_object(attr->as.refs.data[i], &items[i])) return false;
        }
    }
    *out = xir_any_list(items, n);
    return items;
}

const xir_any *own_attr(const xir_node *at, xir_str name) {
    const xir_field *f = xir_class_field(at->op->cls, name);
    return f ? own_field(at, f) : NULL;
}

const xir_i64s *own_ints(const xir_node *at, xir_str name) {
    const xir_field *f = xir_class_field(at->op->cls, name);
    const xir_i64s *list = f && f->kind == XIR_KIND_I64S ? body_at(at->op->attrs, f) : NULL;
    return list && !(f->flags & XIR_FIELD_OPTIONAL && !list->data) ? list : NULL;
}

const xir_any *own_field(const xir_node *at, const xir_field *f) {
    xir_attr attr;
    conversion *c = at->c;
    body_get(f, at->op->attrs, &attr);
    if (attr.is_null) return NULL;
    xir_any *any = arena_take(&c->brief, sizeof *any);
    c->no_memory |= !any;
    if (!any) return NULL;
    switch (f->kind) {
    case XIR_KIND_BOOL:   *any = xir_any_bool(attr.as.boolean); return any;
    case XIR_KIND_I64:    *any = xir_any_int(attr.as.i64); return any;
    case XIR_KIND_U64:    *any = xir_any_int((int64_t)attr.as.u64); return attr.as.u64 <= INT64_MAX ? any : NULL;
    case XIR_KIND_REAL:   *any = xir_any_real(attr.as.real); return any;
    case XIR_KIND_TEXT:   *any = xir_any_text(attr.as.text); return any;
    case XIR_KIND_ENUM:   *any = xir_any_text(xir_str_of(f->members->names[attr.as.enumerator])); return any;
    case XIR_KIND_PARAMS: *any = (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = attr.as.params }; return any;
    case XIR_KIND_REF:    return any_of_object(attr.as.ref, any) ? any : NULL;
    case XIR_KIND_BOOLS:  return any_of_list(c, &attr, attr.as.bools.size, any) ? any : NULL;
    case XIR_KIND_I64S:   return any_of_list(c, &attr, attr.as.i64s.size, any) ? any : NULL;
    case XIR_KIND_REALS:  return any_of_list(c, &attr, attr.as.reals.size, any) ? any : NULL;
    case XIR_KIND_TEXTS:  return any_of_list(c, &attr, attr.as.texts.size, any) ? any : NULL;
    case XIR_KIND_REFS:   return any_of_list(c, &attr, attr.as.refs.size, any) ? any : NULL;
    default: return NULL;
    }
}

bool own_is_default(const xir_op *op, uint64_t except, xir_str *other) {
    const xir_class *cls = op->cls;
    if (op->attrs == cls->defaults) return true;
    for (size_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if ((i < 64 && except >> i & 1) || field_equal(f, op->attrs, cls->defaults)) continue;
        *other = f->name;
        return false;
    }
    return true;
}
