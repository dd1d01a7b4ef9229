/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs a class's check and inference for a target, or the host's if the target has none of its own. An answer is a pure
 * function of class, attributes, target and input types, which are all unique pointers within a network. So a memo can
 * reuse answers: in a network of repeated blocks, few ops are inferred. */
#include <inttypes.h>
#include <stdio.h>
#include "graph.h"
#include "symbol.h"
#include "types.h"

void infer_start(xir_infer *at, xir_network *net, const xir_class *cls, const void *attrs, const xir_target *target,
                 xir_value *const *inputs, size_t n, xir_str op_name, xir_diags *why) {
    infer_start_in(at, net->ctx, &net->pool, cls, attrs, target, inputs, n, op_name, why);
}

void infer_start_in(xir_infer *at, xir_context *ctx, object_pool *pool, const xir_class *cls, const void *attrs,
                    const xir_target *target, xir_value *const *inputs, size_t n, xir_str op_name, xir_diags *why) {
    at->ctx = ctx;
    at->pool = pool;
    at->cls = cls;
    at->attrs = attrs;
    at->target = target;
    at->op = NULL;
    at->values = inputs;
    at->run = NULL;
    at->n_inputs = n;
    at->out = at->few;
    at->n_out = 0;
    at->room = sizeof at->few / sizeof at->few[0];
    at->out_on_heap = false;
    at->read_values = false;
    at->as_host = false;
    at->takes.in = NULL;
    at->takes.out = NULL;
    at->needs = NULL;
    at->found = NULL;
    at->status = XIR_OK;
    at->why = why;
    at->path = (xir_str){ NULL, 0 };
    at->place = 0;
    at->op_name = op_name;
}

void infer_end(xir_infer *at) {
    if (at->out_on_heap) mem_free(&at->ctx->alloc, (void *)at->out, at->room * sizeof *at->out);
    at->out_on_heap = false;
}

/* The name of the port of an input, "weights"; for surplus inputs that of the last port. */
static const char *port_name(const xir_class *cls, size_t i) {
    const class_more *more = cls->more;
    if (!more->n_inputs) return "input";
    return more->inputs[i < more->n_inputs ? i : more->n_inputs - 1].name.data;   /* texts of rows are terminated */
}

/* Checks that the target accepts the tile sizes of input i. */
static xir_status check_tiles(xir_infer *at, size_t i, const xir_target_row *row) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, i));
    layout_axis a;
    for (form_text t = layout_walk(layout); layout_next(&t, &a);) {
        const int64_t *tile = row->tiles;
        while (a.unit && *tile && *tile != a.unit) tile++;
        if (!a.unit || *tile) continue;
        char where[32];
        snprintf(where, sizeof where, "inputs/%zu", i);
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, where,
                              "%s has tiles of %" PRId64 " elements, which %s does not take", port_name(at->cls, i),
                              a.unit, row->name);
    }
    return XIR_OK;
}

/* A few targets accept only some tile sizes; they refuse others before any rule of a class runs. */
static xir_status check_target(xir_infer *at) {
    if (!at->ctx->choosy_targets) return XIR_OK;   // most contexts have none
    unsigned kind = xir_target_kind_of(at->target);
    xir_status status = XIR_OK;
    if (!(at->ctx->choosy_targets >> kind & 1)) return XIR_OK;
    for (size_t i = 0; i < at->n_inputs && !status; i++) {
        if (xir_type_is_layouted(xir_infer_input(at, i))) status = check_tiles(at, i, at->ctx->targets[kind]);
    }
    return status;
}

xir_status infer_check(xir_infer *at) {
    xir_status status = check_target(at);
    return status ? status : rule_check(at);
}

/* An output has no type if an input has none. */
static xir_status check_types(xir_infer *at) {
    size_t none = 0, untyped = 0;
    while (none < at->n_out && at->out[none]) none++;
    if (none == at->n_out) return XIR_OK;
    while (untyped < at->n_inputs && (!infer_has_input(at, untyped) || xir_infer_input(at, untyped))) untyped++;
    return untyped < at->n_inputs ? XIR_OK
           : xir_infer_fail(at, XIR_E_INVALID, NULL, "its inference gives no type for output %zu", none);
}

/* Refuses a number of types that is not that of the class's outputs. */
static xir_status check_results(xir_infer *at) {
    const class_more *more = at->cls->more;
    if (at->cls->many_outputs || at->n_out == more->n_outputs) return check_types(at);
    return xir_infer_fail(at, XIR_E_INVALID, NULL, "its inference gives %zu type%s: expected %" PRIu32
                          ", one for each output of the class", at->n_out, at->n_out == 1 ? "" : "s", more->n_outputs);
}

xir_status infer_run(xir_infer *at) {
    const xir_class *cls = at->cls;
    unsigned kind = xir_target_kind_of(at->target);
    xir_infer_fn *own = class_infer_of(cls, kind), *fn = own ? own : class_infer_tiled(cls, kind);
    const class_more *more = cls->more;
    bool alone = own ? more->alone >> kind & 1 : fn ? more->alone_tiled : more->alone >> XIR_TARGET_HOST & 1;
    if (!fn) fn = more->infer[XIR_TARGET_HOST];
    if (!fn) return XIR_E_UNKNOWN;
    at->n_out = 0;
    xir_status status = alone ? check_target(at) : infer_check(at);
    if (!status) status = rule_run(at, fn);
    if ((at->pool->symbols || at->pool->forgot) && expr_no_memory(at->pool)) status = rule_failed(at, XIR_E_MEMORY);
    if (!status) status = at->status;
    return status ? status : check_results(at);
}

xir_status xir_infer_as_host(xir_infer *at) {
    const class_more *more = at->cls->more;
    xir_infer_fn *host = more->infer[XIR_TARGET_HOST];
    if (!host) return XIR_E_UNKNOWN;
    if (at->as_host || xir_target_kind_of(at->target) == XIR_TARGET_HOST)
        return xir_infer_fail(at, XIR_E_INVALID, NULL, "the host's rule asks for itself");
    at->as_host = true;
    at->n_out = 0;
    xir_status status = more->alone >> XIR_TARGET_HOST & 1 ? XIR_OK : rule_check(at);
    if (!status) status = rule_run(at, host);
    at->as_host = false;
    return status ? status : at->status;
}

/* ---- what a function sees ---------------------------------------------------------------------------------- */

size_t xir_infer_input_count(const xir_infer *at) { return at->n_inputs; }

xir_value *infer_input(const xir_infer *at, size_t i) {
    return i < at->n_inputs ? (at->op ? op_inputs(at->op)[i].value : at->values[i]) : NULL;
}


const xir_type *xir_infer_input(const xir_infer *at, size_t i) {
    const xir_value *v = infer_input(at, i);
    return v ? v->type : NULL;
}

bool infer_has_input(const xir_infer *at, size_t i) { return infer_input(at, i) != NULL; }

const xir_type *xir_infer_output(const xir_infer *at, size_t i) { return i < at->n_out ? at->out[i] : NULL; }

bool xir_infer_input_is_params(const xir_infer *at, size_t i) {
    const xir_value *v = at->run && i < at->n_inputs ? op_inputs(at->run)[i].value : infer_input(at, i);
    return v && value_is_params(v);
}

const xir_value *xir_infer_input_value(xir_infer *at, size_t i) {
    at->read_values = true;
    return infer_input(at, i);
}

/* ---- what it asks for ----------------------------------------------------------------------------------------- */

xir_status xir_infer_need_tensors(xir_infer *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = xir_infer_input(at, i);
        if (xir_type_as_tensor(type) && !xir_type_is_layouted(type)) continue;
        char where[32];
        const char *name = port_name(at->cls, i);
        snprintf(where, sizeof where, "inputs/%zu", i);
        if (!type) return xir_infer_fail(at, XIR_E_MISSING, where, "%s is absent or has no type", name);
        if (!xir_type_as_tensor(type)) return xir_infer_fail(at, XIR_E_TYPE, where, "%s is not a tensor", name);
        xir_str layout = xir_layout_text(xir_type_layout(type));
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, where,
                              "%s is tiled (%.*s): layouted inputs need the back end's inference, or the types of the "
                              "outputs given", name, (int)layout.size, layout.data);
    }
    return XIR_OK;
}

xir_status xir_infer_product(xir_infer *at, const char *where, const int64_t *dims, size_t n, int64_t *out) {
    bool unknown = false, fits = true;
    *out = 1;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] == 0) {
            *out = 0;
            return XIR_OK;
        }
        if (dims[i] < 0) unknown = true;
        else fits = fits && mul_i64(*out, dims[i], out);
    }
    if (unknown) {
        expr product = 1;
        for (size_t i = 0; i < n; i++) product = expr_mul(at->pool, product, expr_of_dim(dims[i]));
        *out = dim_of_expr(product);
    }
    if (unknown || fits) return XIR_OK;
    return xir_infer_fail(at, XIR_E_LIMIT, where, "the product of %zu dims exceeds 64 bits", n);
}

/* ---- what it gives -------------------------------------------------------------------------------------------- */

static xir_status give(xir_infer *at, const xir_type *type) {
    if (at->n_out == at->room) {
        size_t room = at->room * 2;
        const xir_type **out = mem_new(&at->ctx->alloc, room * sizeof *out);
        if (!out) return rule_failed(at, XIR_E_MEMORY);
        memcpy((void *)out, (const void *)at->out, at->n_out * sizeof *out);
        infer_end(at);
        at->out = out;
        at->room = room;
        at->out_on_heap = true;
    }
    at->out[at->n_out++] = type;
    return XIR_OK;
}

/* The current type of the next output: inference usually gives the same type again, which then need not be looked up.
 * NULL if there is none, or if a file has spelled it in its own way. */
static const xir_type *now_there(const xir_infer *at) {
    if (!at->op || at->n_out >= at->op->n_outputs) return NULL;
    const xir_type *type = op_outputs(at->op)[at->n_out].type;
    return type && !((const xir_object *)type)->absent ? type : NULL;
}

static bool is_plain_layout(const xir_layout *layout, size_t rank) {
    xir_str text = xir_layout_text(layout);
    if (text.size != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        if (text.data[i] != '*') return false;
    }
    return true;
}

static bool is_tensor_of(const xir_type *type, const xir_type *element, const xir_layout *layout, const int64_t *dims,
                         size_t rank) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor || tensor->element_dtype != element || tensor->shape.size != rank || tensor->merged_distrs.size ||
        tensor->head.extra ||
        !(layout ? tensor->layout == layout : is_plain_layout(tensor->layout, rank))) return false;
    for (size_t i = 0; i < rank; i++) {
        if (tensor->shape.data[i] != dims[i]) return false;
    }
    return true;
}

/* Returns true if no dim is an expression: those must be of the pool. */
static bool are_numbers(const int64_t *dims, size_t rank) {
    size_t i = 0;
    while (i < rank && dims[i] >= XIR_UNKNOWN_DIM) i++;
    return i == rank;
}

/* Returns true if the result is the type of the first input, which many ops keep: then it need not be looked up either.
 * False if a file has spelled that in its own way. */
static bool is_first(const xir_infer *at, const xir_type *element, const xir_layout *layout, const int64_t *dims,
                     size_t rank) {
    const xir_type *type = xir_infer_input(at, 0);
    return type && !((const xir_object *)type)->absent && is_tensor_of(type, element, layout, dims, rank) &&
           are_numbers(dims, rank);
}

xir_status infer_see_output(xir_infer *at, const xir_type *type) { return give(at, type); }

xir_status xir_infer_result(xir_infer *at, const xir_type *type) {
    /* The types of values are in the network's pool. */
    if (type && (type == now_there(at) || type == xir_infer_input(at, 0))) return give(at, type);
    const xir_type *own = type ? (const xir_type *)pool_intern(at->pool, (const xir_object *)type) : NULL;
    return own || !type ? give(at, own) : rule_failed(at, XIR_E_MEMORY);
}

xir_status xir_infer_change(xir_infer *at, size_t i, const xir_type *type) {
    if (i >= at->n_out)
        return xir_infer_fail(at, XIR_E_BOUNDS, NULL, "output %zu is changed, but %zu are inferred", i, at->n_out);
    const xir_type *own = type ? (const xir_type *)pool_intern(at->pool, (const xir_object *)type) : NULL;
    if (type && !own) return rule_failed(at, XIR_E_MEMORY);
    at->out[i] = own;
    return XIR_OK;
}

xir_status xir_infer_result_tensor(xir_infer *at, const xir_type *element, const xir_layout *layout,
                                   const int64_t *dims, size_t rank) {
    const xir_type *now = now_there(at);
    if (now && is_tensor_of(now, element, layout, dims, rank)) return give(at, now);
    if (is_first(at, element, layout, dims, rank)) return give(at, xir_infer_input(at, 0));
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] >= XIR_UNKNOWN_DIM || expr_is_of(at->pool, dims[i])) continue;
        return xir_infer_fail(at, XIR_E_BOUNDS, NULL,
                              "expected dims from -1 on (-1: unknown) of the result, found %lld "
                              "as dim %zu", (long long)dims[i], i);
    }
    const xir_tensor_type body = {
        .head = { .cls = at->ctx->tensor_class },
        .element_dtype = element,
        .shape = { dims, rank },
        .layout = layout ? layout : layout_default(at->pool, rank),
    };
    if (!body.layout) return rule_failed(at, XIR_E_MEMORY);
    const xir_type *own = (const xir_type *)pool_intern(at->pool, &body.head);
    return own ? give(at, own) : rule_failed(at, XIR_E_MEMORY);
}

xir_status xir_infer_result_like(xir_infer *at, const xir_type *like, const int64_t *dims, size_t rank) {
    const xir_tensor_type *tensor = xir_type_as_tensor(like);
    if (!tensor) return xir_infer_fail(at, XIR_E_TYPE, NULL, "expected a tensor type to take element and layout from");
    const xir_layout *layout = xir_layout_rank(tensor->layout) == rank ? tensor->layout : NULL;
    return xir_infer_result_tensor(at, tensor->element_dtype, layout, dims, rank);
}

/* ---- the memo ---------------------------------------------------------------------------------------------- */

/* The memo grows with its use, up to a size that stays in the cache: layers of real networks repeat, but seldom next to
 * each other. Each slot has the latest answer, so a lookup probes only one slot. */
enum { MEMO_FIRST = 64, MEMO_MOST = 4096 };

static uint64_t hash_key(const infer_memo *key) {
    uint64_t sum = (uint64_t)(uintptr_t)key->cls * 3 + (uint64_t)(uintptr_t)key->attrs * 5 +
                   (uint64_t)(uintptr_t)key->target * 7 + (uint64_t)key->in[0] * 9 +
                   (uint64_t)key->in[1] * 11 + (uint64_t)key->in[2] * 13;
    return hash_pointer((const void *)(uintptr_t)sum);
}

static infer_memo *memo_slot(xir_network *net, const infer_memo *key) {
    return &net->inferred[key->hash & (net->inferred_room - 1)];
}

bool infer_recall(xir_network *net, infer_memo *key) {
    key->hash = hash_key(key);
    if (!net->inferred_room) return false;
    if (net->infer_epoch != net->ctx->infer_epoch) {   /* another function has been registered */
        memset(net->inferred, 0, net->inferred_room * sizeof *net->inferred);
        net->infer_epoch = net->ctx->infer_epoch;
    }
    const infer_memo *found = memo_slot(net, key);
    if (found->hash != key->hash || found->cls != key->cls || found->attrs != key->attrs ||
        found->target != key->target || found->in[0] != key->in[0] || found->in[1] != key->in[1] ||
        found->in[2] != key->in[2]) return false;
    key->out = found->out;
    return true;
}

void net_forget_inferred(xir_network *net) {
    repeats_forget(net);
    composed_forget(net);
    if (net->inferred_room) memset(net->inferred, 0, net->inferred_room * sizeof *net->inferred);
}

/* Doubles the room. Without memory the memo keeps its size, which only costs time. */
static void grow_memo(xir_network *net) {
    uint32_t before = net->inferred_room, room = before ? before * 2 : MEMO_FIRST;
    infer_memo *old = net->inferred, *now = mem_new(&net->alloc, room * sizeof *now);
    net->infer_news = 0;
    if (!now) return;
    memset(now, 0, room * sizeof *now);
    net->inferred = now;
    net->inferred_room = room;
    for (uint32_t i = 0; i < before; i++) {
        if (old[i].cls) *memo_slot(net, &old[i]) = old[i];
    }
    mem_free(&net->alloc, old, before * sizeof *old);
}

void infer_remember(const xir_infer *at, xir_network *net, infer_memo *key) {
    if (at->n_inputs > INFER_INPUTS || at->read_values || at->cls->more->has_params || at->n_out != 1) return;
    if (net->infer_news++ >= net->inferred_room && net->inferred_room < MEMO_MOST) grow_memo(net);
    if (!net->inferred_room) return;
    key->out = at->out[0];
    *memo_slot(net, key) = *key;
}
