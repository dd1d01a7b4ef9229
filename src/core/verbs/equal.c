/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Equality of ops and networks. Within a network operands are the same pointer; between networks they are values with
 * equal properties. */
#include <xir/equal.h>
#include <xir/icraft.h>
#include "graph.h"
#include "hash.h"
#include "sized.h"
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

/* Returns true if the symbols of equal types have the same values: types do not say it. */
static bool same_symbols(const xir_type *a, const xir_type *b) {
    if (!xir_type_is_symbolic(a)) return true;
    const xir_tensor_type *x = xir_type_as_tensor(a);
    two_pools p = { tensor_pool(x), tensor_pool(xir_type_as_tensor(b)) };
    if (p.a == p.b || !p.a || !p.b) return p.a == p.b;
    for (size_t i = 0; i < x->shape.size; i++)
        if (!expr_walk(p.a, x->shape.data[i], same_interval, &p)) return false;
    return true;
}

/* The criteria, and the op of the second network for each one of the first: by slot, only without ids. */
typedef struct comparing {
    unsigned               flags;
    const xir_equal_rules *rules;
    const xir_op         **other;
    uint32_t               depth;   /* of Params in tags of Params */
} comparing;

static bool counts(const comparing *c, unsigned what) { return !(c->flags & what); }

static bool same_map(const comparing *c, const xir_map *a, const xir_map *b);

static bool same_notes(const comparing *c, const xir_map *a, const xir_map *b) {
    return !counts(c, XIR_EQUAL_NO_TAGS) || same_map(c, a, b);
}

/* Returns true if the values are the same place of their networks. */
static bool same_place(const comparing *c, const xir_value *a, const xir_value *b) {
    if (counts(c, XIR_EQUAL_NO_IDS)) return a->id == b->id;
    if (!value_op(a) || !value_op(b)) return value_op(a) == value_op(b);
    return c->other[value_op(a)->slot] == value_op(b) && xir_value_index(a) == xir_value_index(b);
}

static bool same_value(const comparing *c, const xir_value *a, const xir_value *b) {
    if (a == b) return true;
    if (!a || !b) return false;
    if (c->rules && c->rules->value) {
        xir_sameness answer = c->rules->value(c->rules->user, a, b);
        if (answer != XIR_SAME_IF_USUAL) return answer == XIR_SAME_ALWAYS;
    }
    if (!same_place(c, a, b) || value_is_params(a) != value_is_params(b) || !same_type(a->type, b->type)) return false;
    if (counts(c, XIR_EQUAL_NO_NAMES) && !xir_str_equal(xir_value_name(a), xir_value_name(b))) return false;
    if (!same_symbols(a->type, b->type)) return false;
    if (!same_notes(c, xir_value_tags(a), xir_value_tags(b))) return false;
    if (!same_notes(c, xir_value_extra(a), xir_value_extra(b))) return false;
    if (counts(c, XIR_EQUAL_NO_TARGETS) &&
        !xir_object_equal((const xir_object *)xir_value_mtype(a), (const xir_object *)xir_value_mtype(b))) return false;
    if (!value_is_params(a)) return true;
    if (value_params(a)->allow_no_data != value_params(b)->allow_no_data) return false;
    return !counts(c, XIR_EQUAL_NO_BYTES) || xir_params_equal(a, b);
}

static bool same_op(const comparing *c, const xir_op *a, const xir_op *b);

/* Params in a tag have tags of their own. No file can nest them deeper than max_depth, and Params that name each other
 * are nested without end: both count as different. */
static bool same_nested(const comparing *c, const xir_value *a, const xir_value *b) {
    comparing inner = *c;
    if (a && inner.depth++ == value_net(a)->ctx->limits.max_depth) return false;
    return same_value(&inner, a, b);
}

static bool same_any(const comparing *c, const xir_any *a, const xir_any *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == XIR_ANY_PARAMS) return same_nested(c, a->as.params, b->as.params);
    if (a->kind == XIR_ANY_LIST) {
        if (a->as.list.size != b->as.list.size) return false;
        for (size_t i = 0; i < a->as.list.size; i++) {
            if (!same_any(c, &a->as.list.items[i], &b->as.list.items[i])) return false;
        }
        return true;
    }
    if (a->kind == XIR_ANY_MAP) {
        if (a->as.map.size != b->as.map.size) return false;
        for (size_t i = 0; i < a->as.map.size; i++) {
            const xir_entry *x = &a->as.map.entries[i], *y = &b->as.map.entries[i];
            if (!xir_str_equal(x->key, y->key) || !same_any(c, &x->value, &y->value)) return false;
        }
        return true;
    }
    return xir_any_equal(a, b);
}

static bool same_map(const comparing *c, const xir_map *a, const xir_map *b) {
    static const xir_map empty = { NULL, 0 };
    xir_any x = { .kind = XIR_ANY_MAP, .as.map = a ? *a : empty },
            y = { .kind = XIR_ANY_MAP, .as.map = b ? *b : empty };
    return same_any(c, &x, &y);
}

static bool same_list(const comparing *c, const xir_values *a, const xir_values *b) {
    if (a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++) {
        if (!same_value(c, a->data[i], b->data[i])) return false;
    }
    return true;
}

static bool same_sub_ops(const comparing *c, const xir_ops *a, const xir_ops *b) {
    if (a->size != b->size) return false;
    for (size_t i = 0; i < a->size && c->other; i++) c->other[a->data[i]->slot] = b->data[i];
    for (size_t i = 0; i < a->size; i++) {
        if (!same_op(c, a->data[i], b->data[i])) return false;
    }
    return true;
}

/* Attributes whose Params and sub ops may belong to another network. */
static bool same_attrs(const comparing *c, const xir_class *cls, const void *a, const void *b) {
    if (a == b) return true;
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const void *x = body_at(a, f), *y = body_at(b, f);
        bool same;
        switch (f->kind) {
        case XIR_KIND_PARAMS:  same = same_value(c, *(xir_value *const *)x, *(xir_value *const *)y); break;
        case XIR_KIND_PARAMSS: same = same_list(c, x, y);                                            break;
        case XIR_KIND_OPS:     same = same_sub_ops(c, x, y);                                         break;
        case XIR_KIND_MAP:     same = same_map(c, x, y);                                             break;
        default:               same = field_equal(f, a, b);                                          break;
        }
        if (!same) return false;
    }
    return true;
}

static bool same_op(const comparing *c, const xir_op *a, const xir_op *b) {
    if (a == b) return true;
    if (c->rules && c->rules->op) {
        xir_sameness answer = c->rules->op(c->rules->user, a, b);
        if (answer != XIR_SAME_IF_USUAL) return answer == XIR_SAME_ALWAYS;
    }
    if (a->cls != b->cls || a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs) return false;
    if (counts(c, XIR_EQUAL_NO_IDS) && a->id != b->id) return false;
    if (counts(c, XIR_EQUAL_NO_NAMES) && !same_text(op_label(a), op_label(b))) return false;
    if (counts(c, XIR_EQUAL_NO_TARGETS) &&
        !xir_object_equal((const xir_object *)op_target(a), (const xir_object *)op_target(b))) return false;
    if (!same_notes(c, xir_op_tags(a), xir_op_tags(b)) || !same_notes(c, xir_op_extra(a), xir_op_extra(b)))
        return false;
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        if (!same_value(c, op_inputs(a)[i].value, op_inputs(b)[i].value)) return false;
    }
    for (uint32_t i = 0; i < a->n_outputs; i++) {
        if (!same_value(c, &op_outputs(a)[i], &op_outputs(b)[i])) return false;
    }
    return same_attrs(c, a->cls, a->attrs, b->attrs);
}

bool xir_op_identical(const xir_op *a, const xir_op *b) {
    const comparing c = { .flags = XIR_EQUAL_NO_BYTES };
    return a == b || (a && b && same_op(&c, a, b));
}

/* ---- networks ----------------------------------------------------------------------------------------------- */

static bool same_fields(const xir_network *a, const xir_network *b) {
    for (int i = 0; i <= XIR_TEXT_XIR_VERSION; i++) {   /* ORDER TEXT: the later ones depend on bytes */
        if (!xir_str_equal(a->text[i], b->text[i])) return false;
    }
    return xir_object_equal((const xir_object *)a->ai_target, (const xir_object *)b->ai_target);
}

static bool same_network(const comparing *c, const xir_network *a, const xir_network *b) {
    if (a->n_ops != b->n_ops || (counts(c, XIR_EQUAL_NO_FIELDS) && !same_fields(a, b))) return false;
    if (!same_notes(c, a->tags, b->tags) || !same_notes(c, a->extra, b->extra)) return false;
    const xir_op *y = b->first;
    for (const xir_op *x = a->first; x && c->other; x = x->next, y = y->next) c->other[x->slot] = y;
    y = b->first;
    for (const xir_op *x = a->first; x; x = x->next, y = y->next) {
        if (!same_op(c, x, y)) return false;
    }
    return true;
}

bool xir_network_equal(const xir_network *a, const xir_network *b, bool with_params) {
    const comparing c = { .flags = with_params ? 0 : XIR_EQUAL_NO_BYTES };
    return a == b || (a && b && same_network(&c, a, b));
}

#define RULES_STRUCT SIZED(xir_equal_rules, value)
enum { ALL_FLAGS = 2 * XIR_EQUAL_NO_FIELDS - 1 };

xir_status xir_network_equal_by(const xir_network *a, const xir_network *b, const xir_equal_rules *given, bool *equal) {
    xir_equal_rules rules = { 0 };
    if (!a || !b || !equal) return XIR_E_MISSING;
    xir_status status = given ? sized_take(RULES_STRUCT, &rules, given, NULL) : XIR_OK;
    if (status) return status;
    if (rules.flags & ~(unsigned)ALL_FLAGS) return XIR_E_UNSUPPORTED;
    comparing c = { .flags = rules.flags, .rules = &rules };
    const size_t bytes = ((size_t)a->n_slots + 1) * sizeof *c.other;
    if (rules.flags & XIR_EQUAL_NO_IDS) {
        c.other = mem_new(&a->alloc, bytes);
        if (!c.other) return XIR_E_MEMORY;
        memset((void *)c.other, 0, bytes);
    }
    *equal = same_network(&c, a, b);
    if (c.other) mem_free(&a->alloc, (void *)c.other, bytes);
    return XIR_OK;
}

/* ---- what a pass may merge --------------------------------------------------------------------------------- */

bool op_makes_same(const xir_op *a, const xir_op *b) {
    if (a->cls != b->cls || a->n_outputs != b->n_outputs) return false;
    if (!xir_object_equal((const xir_object *)op_target(a), (const xir_object *)op_target(b))) return false;
    for (uint32_t i = 0; i < a->n_outputs; i++) {
        if (!same_type(op_outputs(a)[i].type, op_outputs(b)[i].type)) return false;
    }
    return (a->attrs == b->attrs || body_equal(a->cls, a->attrs, b->attrs)) &&
           xir_map_equal(xir_op_extra(a), xir_op_extra(b));
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

