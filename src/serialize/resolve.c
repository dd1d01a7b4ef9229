/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops and targets whose class has become known: what was kept of them without a class is read again, as a file would be
 * read now. */
#include "codec/any_io.h"
#include "codec/read.h"

/* The state of reading: made for the first op, and again after one that failed or had sub ops, since it remembers the
 * objects it made. */
typedef struct resolver {
    xir_network *net;
    xir_diags   *why;
    decoder      d;
    any_levels  *levels;
    bool         ready;
} resolver;

static void resolver_end(resolver *r) {
    if (r->ready) decoder_free(&r->d);
    mem_free(&r->net->alloc, r->levels, sizeof *r->levels);
    r->ready = false;
    r->levels = NULL;
}

static bool resolver_begin(resolver *r) {
    if (!r->ready) decoder_init(&r->d, r->net->ctx, r->net, &any_source, XIR_STR(""), (xir_str){ NULL, 0 }, r->why);
    if (!r->ready) r->levels = mem_new(&r->net->alloc, sizeof *r->levels);
    r->ready = true;
    r->d.made = NULL;
    decoder_rewind(&r->d);
    return r->levels || trace_memory(&r->d.trace);
}

/* Turns an op of an opaque class into one of `cls`: its undeclared attributes become rows, as if they were read from a
 * file now. On failure, with a finding, the op is unchanged. */
static xir_status resolve(resolver *r, xir_op *op, const xir_class *cls, const frame *up) {
    static const xir_map none = { NULL, 0 };
    xir_any map = { .kind = XIR_ANY_MAP, .as.map = xir_op_extra(op) ? *xir_op_extra(op) : none };
    source s;
    if (resolver_begin(r)) {
        r->d.trace.top = up;
        any_source_init(&r->d, &s, &map, r->levels);
        decode_attrs(&r->d, &s, op, cls);
    }
    xir_status status = r->d.trace.status;
    if (status || r->d.n_values || r->d.n_op_ids) resolver_end(r);
    return status;
}

/* ---- a network of them ------------------------------------------------------------------------------------- */

typedef struct resolving {
    resolver         r;
    xir_status       status;         /* of the first failure */
    const xir_class *opaque, *real;  /* of the last op; NULL: still unknown. A look-up takes the context's lock */
    const xir_target *was, *now;     /* the last target of an unknown class, and its replacement */
} resolving;

static const xir_class *real_class(resolving *w, const xir_op *op) {
    if (w->opaque != op->cls) {
        const xir_class *cls = xir_class_find(op->net->ctx, op->cls->key);
        w->opaque = op->cls;
        w->real = cls && cls->is_op && !(cls->traits & XIR_TRAIT_ABSTRACT) ? cls : NULL;
    }
    return w->real;
}

/* The object of an unknown class as a map. */
static bool as_map(resolver *r, const xir_object *object, xir_any *out) {
    const xir_entry type = { XIR_STR("_type_key"), { .kind = XIR_ANY_TEXT, .as.text = object->cls->key } };
    const xir_map *extra = object->extra;
    size_t n = extra ? extra->size : 0, at = 0;
    xir_entry *entries = arena_take(&r->d.scratch, (n + 1) * sizeof *entries);
    if (!entries) return trace_memory(&r->d.trace);
    while (at < n && str_order(extra->entries[at].key, type.key) < 0) at++;
    for (size_t i = 0; i < n; i++) entries[i + (i >= at)] = extra->entries[i];
    entries[at] = type;
    *out = (xir_any){ .kind = XIR_ANY_MAP, .as.map = { entries, n + 1 } };
    return true;
}

/* Reads a target again whose class has become known; NULL with the status of the failure. */
static const xir_target *resolve_target(resolver *r, const xir_target *target, const frame *up) {
    const xir_object *made = NULL;
    xir_any map;
    source s;
    if (resolver_begin(r)) {
        r->d.trace.top = up;
        if (as_map(r, (const xir_object *)target, &map)) {
            any_source_init(&r->d, &s, &map, r->levels);
            if (!decode_object(&r->d, &s, r->net->ctx->types[CLASS_target], &made)) made = NULL;
        }
    }
    return (const xir_target *)made;
}

/* Returns true if the unknown class of a target has become a real one. */
static bool is_target_known(const xir_target *target) {
    const xir_class *cls = ((const xir_object *)target)->cls;
    if (!cls->opaque) return false;
    const xir_class *real = xir_class_find(cls->ctx, cls->key);
    return real && class_target(cls->ctx, real) >= 0;
}

/* The target as an object of its class, if the class has become known; otherwise the same target. */
static const xir_target *visit_target(resolving *w, const xir_target *target, const frame *up, const char *key) {
    if (!target || !((const xir_object *)target)->cls->opaque) return target;
    if (w->was != target) {
        const frame at = { .up = up, .key = xir_str_of(key), .index = SIZE_MAX };
        w->was = target;
        w->now = is_target_known(target) ? resolve_target(&w->r, target, &at) : w->was;
        xir_status status = w->now ? XIR_OK : w->r.d.trace.status;
        if (!w->now) resolver_end(&w->r);
        if (!w->status) w->status = status;
    }
    return w->now ? w->now : target;
}

static void visit(resolving *w, xir_op *op, const frame *at);

static void visit_children(resolving *w, const xir_op *op, const frame *at) {
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops children = *(const xir_ops *)body_at(op->attrs, f);
        const frame list = { .up = at, .key = f->name, .index = SIZE_MAX };
        for (size_t j = 0; j < children.size; j++) {
            const frame item = { .up = &list, .index = j };
            visit(w, children.data[j], &item);
        }
    }
}

/* Recurses as deep as sub ops are nested, which readers limit. */
static void visit(resolving *w, xir_op *op, const frame *at) {
    const xir_target *target = visit_target(w, op_target(op), at, "compile_target");
    if (target != op_target(op) && !op_set_own_target(op, target)) {
        const xir_status full = diag_memory(w->r.why);
        if (!w->status) w->status = full;
    }
    const xir_class *cls = op->cls->opaque ? real_class(w, op) : NULL;
    xir_status status = cls ? resolve(&w->r, op, cls, at) : XIR_OK;   /* with its sub ops */
    if (!w->status) w->status = status;
    if (!cls) visit_children(w, op, at);
}

xir_status xir_network_resolve(xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    resolving *w = mem_new(&net->alloc, sizeof *w);
    if (!w) return diag_memory(why);
    memset(w, 0, sizeof *w);
    w->r.net = net;
    w->r.why = why;
    const frame list = { .key = XIR_STR("ops"), .index = SIZE_MAX };
    frame item = { .up = &list, .index = 0 };
    net->ai_target = visit_target(w, net->ai_target, NULL, "ai_target");
    for (xir_op *op = net->first; op; op = op->next, item.index++) visit(w, op, &item);
    resolver_end(&w->r);
    xir_status status = w->status;
    mem_free(&net->alloc, w, sizeof *w);
    return status;
}
