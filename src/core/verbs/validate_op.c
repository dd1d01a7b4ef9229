/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The check of an op by itself: its attributes, the types of its inputs and outputs, its target and sub ops. The rules
 * of its class and its target rely on the checks before them. */
#include <inttypes.h>
#include <stdio.h>
#include "legal.h"
#include "validate.h"

static bool is_good(const checker *c, const void *p) {
    uintptr_t bits = (uintptr_t)p >> 3;
    return c->good[(bits ^ (bits >> 9)) & (c->memo - 1)] == p;
}

static void note_good(checker *c, const void *p) {
    uintptr_t bits = (uintptr_t)p >> 3;
    c->good[(bits ^ (bits >> 9)) & (c->memo - 1)] = p;
}

xir_str place_under(place *p, xir_str path, const char *format, size_t i) {
    int n = snprintf(p->text, sizeof p->text, "%.*s", (int)path.size, path.data ? path.data : "");
    if (n >= 0 && (size_t)n < sizeof p->text) n += snprintf(p->text + n, sizeof p->text - (size_t)n, format, i);
    return (xir_str){ p->text, n < 0 ? 0 : (size_t)n < sizeof p->text ? (size_t)n : sizeof p->text - 1 };
}

static xir_str under_field(place *p, xir_str path, xir_str field) {
    int n = snprintf(p->text, sizeof p->text, "%.*s/%.*s", (int)path.size, path.data ? path.data : "", (int)field.size,
                     field.data);
    return (xir_str){ p->text, n < 0 ? 0 : (size_t)n < sizeof p->text ? (size_t)n : sizeof p->text - 1 };
}

/* ---- types ------------------------------------------------------------------------------------------------- */

static xir_status check_object(checker *c, const xir_object *object, xir_str path, xir_diags *why);

/* Checks a part of an object: many objects share element types and layouts. */
static xir_status check_part(checker *c, const xir_object *part, xir_str path, xir_diags *why) {
    if (!part || is_good(c, part)) return XIR_OK;
    xir_status status = check_object(c, part, path, why);
    if (!status) note_good(c, part);
    return status;
}

/* Checks bounds, references and the class's rule, for an object and everything it refers to. Readers limit how deep
 * objects nest. */
static xir_status check_object(checker *c, const xir_object *object, xir_str path, xir_diags *why) {
    if (object->cls->opaque) return XIR_OK;
    xir_status first = body_check(object->cls, object, XIR_STR(""), path, why);
    xir_infer at = { .ctx = c->net->ctx, .cls = object->cls, .attrs = object, .why = why, .path = path };
    if (!first) keep_first(&first, rule_check(&at));
    for (uint32_t i = 0; i < object->cls->n_fields; i++) {
        const xir_field *f = &object->cls->fields[i];
        if (f->kind == XIR_KIND_REF) {
            keep_first(&first, check_part(c, *(const xir_object *const *)body_at(object, f), path, why));
        } else if (f->kind == XIR_KIND_REFS) {
            const xir_refs *parts = body_at(object, f);
            for (size_t j = 0; j < parts->size; j++) keep_first(&first, check_part(c, parts->data[j], path, why));
        }
    }
    return first;
}

static bool is_integer(const xir_type *type) { return xir_type_kind_of(type) == XIR_TYPE_INTEGER; }

/* Arrays of ratios have one item per element of their axis if the storage is integer (since 3.8 of the original). */
static xir_status check_ratios(const xir_type *type, xir_str path, xir_diags *why) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    if (!ratios || !is_integer(xir_type_storage(type))) return XIR_OK;
    size_t rank = xir_type_rank(type), n = xir_norm_ratios_count(ratios);
    int64_t axis = xir_norm_ratios_axis(ratios);
    if (rank == 0 && n == 1) return XIR_OK;   /* one element, one ratio */
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        return diag_fail(why, XIR_E_BOUNDS, path, "the norm ratios are along axis %" PRId64 ", the rank is %zu",
                         axis, rank);
    }
    int64_t dim = xir_type_dim(type, axis, true);
    if (dim < 0 || (uint64_t)dim == n) return XIR_OK;
    return diag_fail(why, XIR_E_INVALID, path, "axis %" PRId64 " has %" PRId64 " elements: expected a norm ratio for "
                     "each of them, found %zu", axis, dim, n);
}

static xir_status check_type_itself(checker *c, const xir_type *type, xir_str path, xir_diags *why) {
    xir_status first = check_object(c, (const xir_object *)type, path, why);
    if (!first && xir_type_kind_of(type) == XIR_TYPE_TENSOR) first = check_ratios(type, path, why);
    if (!first) note_good(c, type);
    return first;
}

static inline xir_status check_type(checker *c, const xir_type *type, xir_str path, xir_diags *why) {
    return is_good(c, type) ? XIR_OK : check_type_itself(c, type, path, why);
}

/* ---- ops --------------------------------------------------------------------------------------------------- */

bool class_is_foreign(const xir_class *cls) {
    static const char own[] = "icraft::";
    return cls->opaque && (cls->key.size < sizeof own - 1 || memcmp(cls->key.data, own, sizeof own - 1) != 0);
}

value_words value_called(const xir_value *v) {
    value_words w;
    xir_str called = xir_value_name(v);
    int n = text_clip(called, 80);
    if (n) snprintf(w.text, sizeof w.text, "value %" PRId64 " '%.*s'", v->id, n, called.data);
    else snprintf(w.text, sizeof w.text, "value %" PRId64, v->id);
    return w;
}

static xir_status check_inputs(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    const xir_class *cls = op->cls;
    xir_status first = XIR_OK;
    place p;
    if (op->n_inputs < cls->more->least_inputs) {
        keep_first(&first, diag_fail(why, XIR_E_MISSING, place_under(&p, path, "/inputs", 0),
                                     "%.*s needs %" PRIu32 " inputs, found %" PRIu32, (int)cls->key.size, cls->key.data,
                                     cls->more->least_inputs, op->n_inputs));
    }
    if (!cls->many_inputs && op->n_inputs > cls->more->n_inputs) {
        keep_first(&first, diag_fail(why, XIR_E_INVALID, place_under(&p, path, "/inputs", 0),
                                     "%.*s takes at most %" PRIu32 " inputs, found %" PRIu32, (int)cls->key.size,
                                     cls->key.data, cls->more->n_inputs, op->n_inputs));
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        bool optional = i < cls->more->n_inputs && cls->more->inputs[i].decl == XIR_DECL_OPT;
        if (!v) {
            if (optional || class_is_foreign(cls)) continue;
            keep_first(&first, diag_fail(why, XIR_E_MISSING, place_under(&p, path, "/inputs/%zu", i),
                                         "the input is absent"));
            continue;
        }
        if (value_op(v)) continue;   /* checked with the op that makes it */
        if (!value_is_params(v)) {
            keep_first(&first, diag_fail(why, XIR_E_MISSING, place_under(&p, path, "/inputs/%zu", i),
                                         "no op makes %s", value_called(v).text));
        }
        if (v->type)
            keep_first(&first, check_type(c, v->type, why ? place_under(&p, path, "/inputs/%zu/dtype", i) : path, why));
    }
    return first;
}

static xir_status check_any(checker *c, const xir_any *any, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    if (any->kind == XIR_ANY_PARAMS)
        return any->as.params->type ? check_type(c, any->as.params->type, path, why) : XIR_OK;
    for (size_t i = 0; any->kind == XIR_ANY_LIST && i < any->as.list.size; i++) {
        keep_first(&first, check_any(c, &any->as.list.items[i], path, why));
    }
    for (size_t i = 0; any->kind == XIR_ANY_MAP && i < any->as.map.size; i++) {
        keep_first(&first, check_any(c, &any->as.map.entries[i].value, path, why));
    }
    return first;
}

/* Checks the types of Params in attributes. */
static xir_status check_attr_params(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    place p, q;
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        const void *at = body_at(op->attrs, f);
        xir_values list = { NULL, 0 };
        if (f->kind == XIR_KIND_PARAMS) list = (xir_values){ at, 1 };
        else if (f->kind == XIR_KIND_PARAMSS) list = *(const xir_values *)at;
        else if (f->kind == XIR_KIND_MAP) {
            const xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(const xir_map *)at };
            keep_first(&first, check_any(c, &map, why ? under_field(&p, path, f->name) : path, why));
        }
        for (size_t j = 0; j < list.size; j++) {
            const xir_value *v = list.data[j];
            if (!v || !v->type) continue;
            xir_str field = why ? under_field(&q, path, f->name) : path;
            if (why) field = place_under(&p, field, f->kind == XIR_KIND_PARAMS ? "/dtype" : "/%zu/dtype", j);
            keep_first(&first, check_type(c, v->type, field, why));
        }
    }
    const xir_map *extra = xir_op_extra(op);
    for (size_t i = 0; extra && i < extra->size; i++) {
        keep_first(&first, check_any(c, &extra->entries[i].value, why ? under_field(&p, path, extra->entries[i].key)
                                     : path, why));
    }
    return first;
}

/* Refuses an op of one accelerator in a network for another. */
static xir_status check_target(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    const xir_target *ai = c->net->ai_target;
    if (!ai || op_target(op) == c->net->host) return XIR_OK;   // most ops
    if (!xir_target_row_of(op_target(op))->accelerator) return XIR_OK;
    const xir_object *own = (const xir_object *)op_target(op), *other = (const xir_object *)ai;
    if (xir_object_equal(own, other)) return XIR_OK;
    place p;
    const xir_str at = place_under(&p, path, "/compile_target", 0);
    if (!xir_network_has_ai_target(c->net))
        return diag_fail(why, XIR_E_INVALID, at,
                         "the op targets %.*s, but the network has no ai_target: expected the same",
                         WHOLE(own->cls->key));
    return diag_fail(why, XIR_E_INVALID, at, "the op targets %.*s, but its network targets %.*s", WHOLE(own->cls->key),
                     WHOLE(other->cls->key));
}

static xir_status check_children(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            place p, q;
            xir_str at = why ? place_under(&p, under_field(&q, path, f->name), "/%zu", j) : path;
            keep_first(&first, checker_op(c, children->data[j], at, why));
        }
    }
    return first;
}

/* A rule sees class, attributes, target and input types: if these are the same as in a valid op, the op is valid. */
static xir_status check_rule(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    infer_memo key = { .cls = op->cls, .attrs = op->attrs, .target = op_target(op) };
    uint64_t hash = (uintptr_t)op->attrs * (uint64_t)3;
    for (uint32_t i = 0; i < op->n_inputs && i < INFER_INPUTS; i++) {
        key.in[i] = infer_key_of(op_inputs(op)[i].value);
        hash += key.in[i] * (uint64_t)(2 * i + 5);
    }
    size_t slot = (size_t)(hash ^ (hash >> 7) ^ (hash >> 17)) & (c->memo - 1);
    infer_memo *memo = op->n_inputs <= INFER_INPUTS && c->ruled ? &c->ruled[slot] : NULL;
    if (memo && memcmp(memo, &key, sizeof key) == 0) return XIR_OK;
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), why);
    at.pool = &c->pool;
    at.op = op;
    at.path = path;
    xir_status status = infer_check(&at);
    infer_end(&at);
    if (!status && !at.read_values && memo) *memo = key;
    return status;
}

/* The rules of the op's target, with the declared types of the outputs. */
static xir_status check_legal(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), why);
    at.pool = &c->pool;
    at.op = op;
    at.path = path;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(&at, op_outputs(op)[i].type);
    bool noted = false;
    if (!status) status = rules_check(&at, c->rules, op_is_quantised(op), &noted);
    infer_end(&at);
    return status;
}

/* Checks the objects among the attributes, and what they refer to. */
static xir_status check_attr_objects(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_REF && f->kind != XIR_KIND_REFS) continue;
        const void *at = body_at(op->attrs, f);
        const xir_refs list = f->kind == XIR_KIND_REF ? (xir_refs){ at, 1 } : *(const xir_refs *)at;
        place p, q;
        xir_str field = why ? under_field(&p, path, f->name) : path;
        for (size_t j = 0; j < list.size; j++) {
            xir_str item = why && f->kind == XIR_KIND_REFS ? place_under(&q, field, "/%zu", j) : field;
            keep_first(&first, check_part(c, list.data[j], item, why));
        }
    }
    return first;
}

/* Checks the rows. Those that are not set have only that finding. */
static xir_status check_rows(const xir_op *op, xir_str path, xir_diags *why) {
    const xir_class *cls = op->cls;
    const xir_str name = name_text(op_label(op));
    const uint64_t unset = op_unset(op);
    if (!unset) return body_check(cls, op->attrs, name, path, why);
    xir_status first = class_check_set(cls, unset, name, path, why);
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (i >= 64 || !(unset >> i & 1))
            keep_first(&first, field_check(cls, &cls->fields[i], op->attrs, name, path, why));
    }
    return first;
}

/* Most ops have the target of the op before. */
static bool asks_rules(checker *c, const xir_target *target) {
    if (c->asked != target) c->asks = has_strict_rules(target);
    c->asked = target;
    return c->asks;
}

xir_status checker_op(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    const xir_class *cls = op->cls;
    xir_status first = XIR_OK;
    if (op_unset(op) || !is_good(c, op->attrs)) {
        keep_first(&first, check_rows(op, path, why));
        keep_first(&first, check_attr_objects(c, op, path, why));
        if (!first && cls->plain) note_good(c, op->attrs);
    }
    keep_first(&first, check_inputs(c, op, path, why));
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_type *type = op_outputs(op)[i].type;
        place p;
        xir_str at = why ? place_under(&p, path, "/outputs/%zu/dtype", i) : path;
        if (type) keep_first(&first, check_type(c, type, at, why));
    }
    const bool inferred = op->flags & OP_DRAFT && !op->n_outputs;   // when it is completed
    if (!cls->many_outputs && op->n_outputs != cls->more->n_outputs && !inferred) {
        place p;
        keep_first(&first, diag_fail(why, XIR_E_INVALID, place_under(&p, path, "/outputs", 0),
                                     "%.*s has %" PRIu32 " outputs, found %" PRIu32, (int)cls->key.size, cls->key.data,
                                     cls->more->n_outputs, op->n_outputs));
    }
    if (!cls->plain || op_more_of(op)) keep_first(&first, check_attr_params(c, op, path, why));
    keep_first(&first, check_target(c, op, path, why));
    /* The class's own rule relies on the checks before it. */
    if (!first && (cls->more->check || c->net->ctx->choosy_targets)) keep_first(&first, check_rule(c, op, path, why));
    if (!first && !cls->opaque && asks_rules(c, op_target(op)) && !is_call(cls))
        keep_first(&first, check_legal(c, op, path, why));
    if (!cls->plain) keep_first(&first, check_children(c, op, path, why));
    return first;
}

/* Faults are rare: only then everything is done again, to make the sentences. */
xir_status xir_op_validate(const xir_op *op, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    enum { PARTS = 16 };
    const void *good[PARTS] = { NULL };
    checker c = { .net = op->net, .memo = PARTS, .good = good };
    xir_status status = XIR_OK;
    pool_init_reader(&c.pool, &op->net->pool);
    for (int said = 0; said < (why ? 2 : 1) && (!said || status); said++)
        status = checker_op(&c, op, XIR_STR(""), said ? why : NULL);
    pool_free(&c.pool);
    return status;
}
