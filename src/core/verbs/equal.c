/* Equality of ops and networks. Within a network operands are the same pointer; between networks they are values with
 * equal properties. */
#include "graph.h"
#include "hash.h"
#include "symbol.h"

static bool same_text(const label *a, const label *b) { return xir_str_equal(name_text(a), name_text(b)); }

/* ---- values with equal properties -------------------------------------------------------------------------- */

static bool same_type(const xir_type *a, const xir_type *b) {
    return xir_object_equal((const xir_object *)a, (const xir_object *)b);
}

typedef struct two_pools { const object_pool *a, *b; } two_pools;

static bool same_interval(void *user, size_t i) {
    const two_pools *p = user;
    const symbol *x = symbol_at(p->a, i), *y = symbol_at(p->b, symbol_of(p->b, symbol_find(p->b, x->name)));
    return y && x->least == y->least && x->most == y->most;
}

/* Whether the symbols of equal types have the same values: types do not say it. */
static bool same_symbols(const xir_type *a, const xir_type *b) {
    if (!xir_type_is_symbolic(a)) return true;
    const xir_tensor_type *x = xir_type_as_tensor(a);
    two_pools p = { tensor_pool(x), tensor_pool(xir_type_as_tensor(b)) };
    if (p.a == p.b || !p.a || !p.b) return p.a == p.b;
    for (size_t i = 0; i < x->shape.size; i++)
        if (!expr_walk(p.a, x->shape.data[i], same_interval, &p)) return false;
    return true;
}

static bool same_map(const xir_map *a, const xir_map *b, bool bytes);

static bool same_value(const xir_value *a, const xir_value *b, bool bytes) {
    if (a == b) return true;
    if (!a || !b || a->id != b->id || value_is_params(a) != value_is_params(b) || !same_type(a->type, b->type))
        return false;
    if (!xir_str_equal(xir_value_name(a), xir_value_name(b)) || !same_map(xir_value_tags(a), xir_value_tags(b), bytes))
        return false;
    if (!same_symbols(a->type, b->type)) return false;
    if (!same_map(a->more ? a->more->extra : NULL, b->more ? b->more->extra : NULL, bytes)) return false;
    if (!xir_object_equal((const xir_object *)xir_value_mtype(a), (const xir_object *)xir_value_mtype(b))) return false;
    if (!value_is_params(a)) return true;
    if (value_params(a)->allow_no_data != value_params(b)->allow_no_data) return false;
    return !bytes || xir_params_equal(a, b);
}

static bool same_op(const xir_op *a, const xir_op *b, bool bytes);

static bool same_any(const xir_any *a, const xir_any *b, bool bytes) {
    if (a->kind != b->kind) return false;
    if (a->kind == XIR_ANY_PARAMS) return same_value(a->as.params, b->as.params, bytes);
    if (a->kind == XIR_ANY_LIST) {
        if (a->as.list.size != b->as.list.size) return false;
        for (size_t i = 0; i < a->as.list.size; i++) {
            if (!same_any(&a->as.list.items[i], &b->as.list.items[i], bytes)) return false;
        }
        return true;
    }
    if (a->kind == XIR_ANY_MAP) {
        if (a->as.map.size != b->as.map.size) return false;
        for (size_t i = 0; i < a->as.map.size; i++) {
            const xir_entry *x = &a->as.map.entries[i], *y = &b->as.map.entries[i];
            if (!xir_str_equal(x->key, y->key) || !same_any(&x->value, &y->value, bytes)) return false;
        }
        return true;
    }
    return xir_any_equal(a, b);
}

static bool same_map(const xir_map *a, const xir_map *b, bool bytes) {
    static const xir_map empty = { NULL, 0 };
    xir_any x = { .kind = XIR_ANY_MAP, .as.map = a ? *a : empty },
            y = { .kind = XIR_ANY_MAP, .as.map = b ? *b : empty };
    return same_any(&x, &y, bytes);
}

/* Attributes whose Params and sub ops may belong to another network. */
static bool same_attrs(const xir_class *cls, const void *a, const void *b, bool bytes) {
    if (a == b) return true;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const void *x = body_at(a, f), *y = body_at(b, f);
        if (f->kind == XIR_KIND_PARAMS) {
            if (!same_value(*(xir_value *const *)x, *(xir_value *const *)y, bytes)) return false;
        } else if (f->kind == XIR_KIND_PARAMSS) {
            const xir_values *l = x, *m = y;
            if (l->size != m->size) return false;
            for (size_t j = 0; j < l->size; j++) {
                if (!same_value(l->data[j], m->data[j], bytes)) return false;
            }
        } else if (f->kind == XIR_KIND_OPS) {
            const xir_ops *l = x, *m = y;
            if (l->size != m->size) return false;
            for (size_t j = 0; j < l->size; j++) {
                if (!same_op(l->data[j], m->data[j], bytes)) return false;
            }
        } else if (f->kind == XIR_KIND_MAP) {
            if (!same_map(x, y, bytes)) return false;
        } else if (!field_equal(f, a, b)) {
            return false;
        }
    }
    return true;
}

static bool same_op(const xir_op *a, const xir_op *b, bool bytes) {
    if (a == b) return true;
    if (a->cls != b->cls || a->id != b->id || a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs) return false;
    if (!same_text(a->name, b->name) || !xir_object_equal((const xir_object *)a->target, (const xir_object *)b->target))
        return false;
    if (!same_map(xir_op_tags(a), xir_op_tags(b), bytes) || !same_map(xir_op_extra(a), xir_op_extra(b), bytes))
        return false;
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        if (!same_value(a->inputs[i].value, b->inputs[i].value, bytes)) return false;
    }
    for (uint32_t i = 0; i < a->n_outputs; i++) {
        if (!same_value(&a->outputs[i], &b->outputs[i], bytes)) return false;
    }
    return same_attrs(a->cls, a->attrs, b->attrs, bytes);
}

bool xir_op_identical(const xir_op *a, const xir_op *b) { return a == b || (a && b && same_op(a, b, false)); }

bool xir_network_equal(const xir_network *a, const xir_network *b, bool with_params) {
    if (a == b) return true;
    if (!a || !b || a->n_ops != b->n_ops) return false;
    for (int i = 0; i <= XIR_TEXT_XIR_VERSION; i++) {   /* ORDER TEXT: the later ones depend on bytes */
        if (!xir_str_equal(a->text[i], b->text[i])) return false;
    }
    if (!xir_object_equal((const xir_object *)a->ai_target, (const xir_object *)b->ai_target)) return false;
    if (!same_map(a->tags, b->tags, with_params) || !same_map(a->extra, b->extra, with_params)) return false;
    const xir_op *y = b->first;
    for (const xir_op *x = a->first; x; x = x->next, y = y->next) {
        if (!same_op(x, y, with_params)) return false;
    }
    return true;
}

/* ---- what a pass may merge --------------------------------------------------------------------------------- */

bool op_makes_same(const xir_op *a, const xir_op *b) {
    if (a->cls != b->cls || a->n_outputs != b->n_outputs) return false;
    if (!xir_object_equal((const xir_object *)a->target, (const xir_object *)b->target)) return false;
    for (uint32_t i = 0; i < a->n_outputs; i++) {
        if (!same_type(a->outputs[i].type, b->outputs[i].type)) return false;
    }
    return (a->attrs == b->attrs || body_equal(a->cls, a->attrs, b->attrs)) &&
           xir_map_equal(xir_op_extra(a), xir_op_extra(b));
}

bool xir_op_structural_equal(const xir_op *a, const xir_op *b) {
    if (a == b) return true;
    if (!a || !b || a->net != b->net || a->n_inputs != b->n_inputs) return false;
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        if (a->inputs[i].value != b->inputs[i].value) return false;
    }
    return op_makes_same(a, b);
}

/* Attributes by content: equal content may be stored twice, and so may what it refers to. */
uint64_t op_attrs_hash(const xir_op *op) {
    const xir_class *cls = op->cls;
    _Alignas(16) char space[256];
    uint64_t hash = 0;
    /* one stretch of memory, with hashes in place of references */
    if (cls->plain && cls->body_size <= sizeof space) {
        memcpy(space, op->attrs, cls->body_size);
        for (uint32_t i = 0; i < cls->more->n_refs; i++) {
            void *at = body_at(space, &cls->fields[cls->more->refs[i]]);
            *(uintptr_t *)at = xir_object_hash(*(const xir_object *const *)at);
        }
        body_hash_into(cls, space, &hash);
        return hash;
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (f->kind != XIR_KIND_REF) hash = field_hash(hash, f, op->attrs);
        else hash ^= xir_object_hash(*(const xir_object *const *)body_at(op->attrs, f)) * (uint64_t)(2 * i + 1);
    }
    return hash;
}

uint32_t xir_op_structural_hash(const xir_op *op) {
    if (!op) return 0;
    uint64_t hash = (uint64_t)(uintptr_t)op->cls + op_attrs_hash(op);
    for (uint32_t i = 0; i < op->n_inputs; i++) hash = hash_bytes(hash, &op->inputs[i].value, sizeof(void *));
    for (uint32_t i = 0; i < op->n_outputs; i++) hash ^= xir_object_hash((const xir_object *)op->outputs[i].type);
    return (uint32_t)(hash ^ (hash >> 32));
}
