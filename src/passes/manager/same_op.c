/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See same_op.h. */
#include "same_op.h"
#include "body_values.h"
#include "hash.h"

enum { DEPTH = 8 };   /* of sub ops; deeper ones are like no others */

/* Two lists of sub ops that are compared, within two others. */
typedef struct bodies {
    const struct bodies *around;   /* NULL: the ops are in the order of their networks */
    body_values a, b;
} bodies;

typedef struct pair { const contents *a, *b; } pair;

static bool same_op(const pair *by, const bodies *in, const xir_op *a, const xir_op *b, int depth);

/* Returns true if an op cannot tell the values apart, if they have the same contents. It may matter which inputs are
 * constants: those of a normalised network contain ratios. */
static bool look_same(const xir_value *a, const xir_value *b) {
    if (!a || !b) return a == b;
    return value_is_params(a) == value_is_params(b) && xir_type_equal(a->type, b->type);
}

static bool same_input(const pair *by, const bodies *in, const xir_value *a, const xir_value *b) {
    if (!look_same(a, b)) return false;
    for (; in && a && !value_is_params(a); in = in->around) {
        const size_t i = body_index(&in->a, a), k = body_index(&in->b, b);
        if (i != k) return false;
        if (i != SIZE_MAX) return true;
    }
    const uint32_t number = contents_number(by->a, a);
    return number && number == contents_number(by->b, b);
}

static bool same_body(const pair *by, const bodies *around, const xir_allocator *alloc, const xir_ops *a,
                      const xir_ops *b, int depth) {
    if (a->size != b->size) return false;
    if (!a->size) return true;
    if (depth == DEPTH) return false;
    bodies in = { .around = around };
    const xir_status first = body_open(&in.a, alloc, *a), second = body_open(&in.b, alloc, *b);
    bool same = !first && !second;
    for (size_t i = 0; same && i < a->size; i++) same = same_op(by, &in, a->data[i], b->data[i], depth + 1);
    body_close(&in.a);
    body_close(&in.b);
    return same;
}

static bool same_params(const xir_value *a, const xir_value *b) {
    return a == b || (a && b && xir_type_equal(a->type, b->type) && xir_params_equal(a, b));
}

static bool same_list(const xir_values *a, const xir_values *b) {
    bool same = a->size == b->size;
    for (size_t i = 0; same && i < a->size; i++) same = same_params(a->data[i], b->data[i]);
    return same;
}

/* Of ops of one class. */
static bool same_attrs(const pair *by, const bodies *in, const xir_op *a, const xir_op *b, int depth) {
    const xir_class *cls = a->cls;
    bool same = true;
    for (uint32_t i = 0; a->attrs != b->attrs && same && i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const void *x = body_at(a->attrs, f), *y = body_at(b->attrs, f);
        switch (f->kind) {
        case XIR_KIND_PARAMS:  same = same_params(*(xir_value *const *)x, *(xir_value *const *)y); break;
        case XIR_KIND_PARAMSS: same = same_list(x, y); break;
        case XIR_KIND_OPS:     same = same_body(by, in, &a->net->ctx->alloc, x, y, depth); break;
        default:               same = field_equal(f, a->attrs, b->attrs); break;
        }
    }
    return same;
}

static bool same_op(const pair *by, const bodies *in, const xir_op *a, const xir_op *b, int depth) {
    if (a->cls != b->cls || a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs) return false;
    for (uint32_t i = 0; i < a->n_inputs; i++)
        if (!same_input(by, in, op_inputs(a)[i].value, op_inputs(b)[i].value)) return false;
    for (uint32_t i = 0; i < a->n_outputs; i++)
        if (!look_same(&op_outputs(a)[i], &op_outputs(b)[i])) return false;
    return xir_object_equal((const xir_object *)op_target(a), (const xir_object *)op_target(b)) &&
           xir_map_equal(xir_op_extra(a), xir_op_extra(b)) && same_attrs(by, in, a, b, depth);
}

bool op_computes_same(const contents *a_contents, const xir_op *a, const contents *b_contents, const xir_op *b) {
    return same_op(&(pair){ a_contents, b_contents }, NULL, a, b, 0);
}

/* ---- hashes ------------------------------------------------------------------------------------------------------ */

static uint64_t add(uint64_t hash, uint64_t v) { return hash_mix(hash ^ v, UINT64_C(0x9E3779B97F4A7C15)); }

static uint64_t hash_attrs(const contents *c, uint64_t hash, const xir_op *op, int depth);

/* Of sub ops what is their own: their classes, attributes and Params. */
static uint64_t hash_body(const contents *c, uint64_t hash, const xir_ops *ops, int depth) {
    hash = add(hash, ops->size);
    for (size_t i = 0; i < ops->size && depth < DEPTH; i++) {
        const xir_op *op = ops->data[i];
        hash = add(hash, hash_pointer(op->cls));
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const xir_value *v = op_inputs(op)[k].value;
            if (v && value_is_params(v)) hash = add(hash, contents_number(c, v));
        }
        hash = hash_attrs(c, hash, op, depth + 1);
    }
    return hash;
}

static uint64_t hash_list(const contents *c, uint64_t hash, const xir_values *list) {
    hash = add(hash, list->size);
    for (size_t i = 0; i < list->size; i++) hash = add(hash, contents_number(c, list->data[i]));
    return hash;
}

static uint64_t hash_attrs(const contents *c, uint64_t hash, const xir_op *op, int depth) {
    const xir_class *cls = op->cls;
    if (cls->plain) return add(hash, op_attrs_hash(op));
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const void *at = body_at(op->attrs, f);
        switch (f->kind) {
        case XIR_KIND_PARAMS:  hash = add(hash, contents_number(c, *(xir_value *const *)at)); break;
        case XIR_KIND_PARAMSS: hash = hash_list(c, hash, at); break;
        case XIR_KIND_OPS:     hash = hash_body(c, hash, at, depth); break;
        case XIR_KIND_REF:     hash = add(hash, xir_object_hash(*(const xir_object *const *)at)); break;
        default:               hash = field_hash(hash, f, op->attrs); break;
        }
    }
    return hash;
}

static uint64_t hash_of_type(uint64_t hash, const xir_value *v) {
    return add(hash, v ? xir_object_hash((const xir_object *)v->type) : 0);
}

bool op_hash_contents(const contents *c, const xir_op *op, uint64_t *out) {
    uint64_t hash = add(hash_pointer(op->cls), xir_object_hash((const xir_object *)op_target(op)));
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const uint32_t number = contents_number(c, v);
        if (!number) return false;
        hash = hash_of_type(add(hash, (uint64_t)number << 1 | (v && value_is_params(v))), v);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) hash = hash_of_type(hash, &op_outputs(op)[i]);
    const xir_map *extra = xir_op_extra(op);
    *out = hash_attrs(c, extra && extra->size ? map_hash(hash, extra) : hash, op, 0);
    return true;
}
