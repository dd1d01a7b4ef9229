/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Asks a target about the ops of a network. Answers depend on class, attributes and types alone, so ops that have them
 * in common are asked about once: a table remembers what is legal. An op that is not is asked about again, for the
 * sentences. */
#include <stdio.h>
#include <xir/legal.h>
#include "legal.h"
#include "sized.h"
#include "validate.h"

/* Places of the table, powers of two: what is rare must not push out the rest, and the table stays in the cache. */
enum { FEW = 1024, MANY = 8192 };

/* The key of an answer: all that it depends on. */
typedef struct question {
    const xir_class *cls;
    const void      *attrs;
    uintptr_t        in[INFER_INPUTS];
    const xir_type  *out;
} question;

typedef struct asking {
    const xir_network *net;
    xir_try_options    how;
    trial              t;
    object_pool        pool;
    rules_memo         memo;
    question          *legal;
    size_t             room;       /* of the table                  */
    bool               own;        /* only ops that have the target */
    xir_tried          found;
    xir_status         first;
} asking;

/* The place of an op in the table; NULL if it has more inputs or outputs than a question. */
static question *place_of(const asking *a, const xir_op *op, question *q) {
    *q = (question){ .cls = op->cls, .attrs = op->attrs };
    if (op->n_inputs > INFER_INPUTS || op->n_outputs != 1 || is_call(op->cls)) return NULL;
    uint64_t hash = (uintptr_t)q->attrs * UINT64_C(0x9E3779B97F4A7C15) + (uintptr_t)q->cls;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        q->in[i] = infer_key_of(op_inputs(op)[i].value);
        hash += q->in[i] * (uint64_t)(2 * i + 5);
    }
    q->out = op_outputs(op)[0].type;
    hash += (uintptr_t)q->out;
    return &a->legal[(hash ^ hash >> 7 ^ hash >> 17) & (a->room - 1)];
}

static bool is_end(const xir_op *op) { return op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK); }

/* Returns true if an op is a Cast of an input of the network, or all users of it are Outputs. */
static bool is_border(const xir_op *op) {
    const bool casts = xir_str_equal(op->cls->key, XIR_STR("icraft::xir::Cast"));
    if (!casts || !op->n_inputs || !op->n_outputs) return false;
    const xir_value *v = op_inputs(op)[0].value;
    const xir_op *maker = v ? value_op(v) : NULL;
    if (maker && maker->cls->traits & XIR_TRAIT_SOURCE) return true;
    const xir_use *use = xir_value_uses(&op_outputs(op)[0]);
    while (use && xir_use_op(use)->cls->traits & XIR_TRAIT_SINK) use = xir_use_next(use);
    return !use;
}

static xir_status ask(asking *a, const xir_op *op, size_t index) {
    question q;
    question *known = place_of(a, op, &q);
    if (known && memcmp(known, &q, sizeof q) == 0) return XIR_OK;
    bool noted = false;
    xir_diags *why = a->t.why;
    a->t.why = NULL;
    a->t.valid = true;
    xir_status status = try_op(&a->t, op, XIR_STR(""), &noted);
    a->t.why = why;
    a->t.valid = false;
    if (known && !status && !noted) *known = q;
    if (!status && (!noted || !why)) return XIR_OK;
    if (status == XIR_E_MEMORY || (status && is_border(op))) return status;
    char path[32];
    snprintf(path, sizeof path, "/ops/%zu", index);
    return try_op(&a->t, op, xir_str_of(path), &noted);
}

static void ask_all(asking *a) {
    const xir_target_kind kind = xir_target_kind_of(a->t.target);
    size_t index = 0;
    for (const xir_op *op = a->net->first; op && a->first != XIR_E_MEMORY; op = op->next, index++) {
        const bool asks = !a->how.asks || a->how.asks(a->how.user, op);
        if (!asks || is_end(op)) continue;
        if (a->own && xir_target_kind_of(op_target(op)) != kind) {
            a->found.elsewhere++;
            continue;
        }
        const xir_status status = ask(a, op, index);
        const bool border = status && status != XIR_E_MEMORY && is_border(op);
        if (border) a->found.borders++;
        else if (status) a->found.refused++;
        else a->found.legal++;
        if (!border) keep_first(&a->first, status);
        if (status == XIR_E_MEMORY) a->first = status;
        else if (a->how.answer) a->how.answer(a->how.user, op, status);
    }
}

/* Decides if rules about element types are asked, and if only the target's own ops are. */
static void look(asking *a) {
    const xir_target_kind kind = xir_target_kind_of(a->t.target);
    const xir_type *last = NULL;
    for (const xir_op *op = a->net->first; op && (!a->t.typed || !a->own); op = op->next) {
        if (!a->own) a->own = op_target(op) && xir_target_kind_of(op_target(op)) == kind;
        for (uint32_t i = 0; i < op->n_outputs && !a->t.typed; i++) {
            const xir_type *type = op_outputs(op)[i].type;
            if (type && type != last) a->t.typed = xir_type_is_quantized(xir_type_element(type));
            last = type;
        }
    }
    if (a->how.all) a->own = false;
}

xir_status xir_network_try(const xir_network *net, const xir_target *target, const xir_try_options *options,
                           xir_tried *out, xir_diags *why) {
    asking a = { .net = net };
    if (!net || !target) return diag_null(why, net ? "target" : "network");
    xir_status status = options ? sized_take(SIZED(xir_try_options, user), &a.how, options, why) : XIR_OK;
    if (status) return status;
    const xir_allocator *alloc = &net->alloc;
    for (a.room = FEW; a.room < MANY && a.room < net->n_ops / 8;) a.room *= 2;
    a.legal = mem_new(alloc, a.room * sizeof *a.legal);
    if (!a.legal) return diag_memory(why);
    memset((void *)a.legal, 0, a.room * sizeof *a.legal);
    pool_init_reader(&a.pool, &net->pool);
    a.t = (trial){ .target = target, .pool = &a.pool, .typed = a.how.typed, .why = why, .memo = &a.memo };
    look(&a);
    ask_all(&a);
    pool_free(&a.pool);
    mem_free(alloc, a.legal, a.room * sizeof *a.legal);
    if (a.first == XIR_E_MEMORY) return diag_memory(why);
    status = out ? sized_fill(SIZED(xir_tried, elsewhere), out, &a.found, why) : XIR_OK;
    return status ? status : a.first;
}
