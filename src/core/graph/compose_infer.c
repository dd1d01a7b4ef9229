/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The answers that follow from a composition: inference, checks, work, and the numbers that inputs take. The parts are
 * asked one after another, each for the types that those before it gave. A finding of a part is repeated as one of the
 * op; it names the part, and its place is that attribute or input of the op that the part got. */
#include <math.h>
#include <stdio.h>
#include "compose_ask.h"
#include "sized.h"
#include "types.h"

/* ---- values that stand for others ------------------------------------------------------------------------------- */

static xir_value *make_constant(void *user, const xir_type *type, double number) {
    asking *a = user;
    xir_value *v = compose_room(&a->w, sizeof *v);
    (void)number;
    a->no_bytes = (params){ 0 };
    a->constant = (value_more){ .net = a->plain.net, .name = &name_empty, .params = &a->no_bytes };
    if (v) *v = (xir_value){ .type = type, .from = value_from(&a->constant) };
    return v;
}

/* In a run the arrays of constants do not say that they are, but the op does. */
static bool mark_constants(asking *a) {
    const xir_op *run = a->at->run;
    for (size_t i = 0; run && i < a->n_inputs && i < run->n_inputs; i++) {
        const xir_value *of = op_inputs(run)[i].value;
        if (!of || !value_is_params(of) || !a->inputs[i] || value_is_params(a->inputs[i])) continue;
        value_more *more = i < MARKS ? &a->marks[i].more : arena_take(&a->w.own, sizeof *more);
        xir_value *v = i < MARKS ? &a->marks[i].value : arena_take(&a->w.own, sizeof *v);
        if (!more || !v) return false;
        *more = (value_more){ .net = value_net(of), .name = &name_empty, .params = value_params(of) };
        *v = (xir_value){ .type = a->inputs[i]->type, .from = value_from(more) };
        a->inputs[i] = v;
        if (i < a->w.c->n_inputs) a->w.now[i] = v;
    }
    return true;
}

static xir_network *network_of(const asking *a) {
    if (a->at->op) return a->at->op->net;
    if (a->at->run) return a->at->run->net;
    for (size_t i = 0; i < a->n_inputs; i++)
        if (a->inputs[i]) return value_net(a->inputs[i]);
    return NULL;
}

bool asking_begin(asking *a, xir_infer *at) {
    const composition *c = at->cls->more->composed;
    a->at = at;
    a->n_inputs = at->n_inputs;
    a->read_values = false;
    a->inputs = a->few_inputs;
    a->own = a->few;
    if (a->n_inputs > STAND_INS) a->inputs = mem_new(&at->ctx->alloc, a->n_inputs * sizeof *a->inputs);
    if (c->n_values > STAND_INS) a->own = mem_new(&at->ctx->alloc, c->n_values * sizeof *a->own);
    for (size_t i = 0; i < a->n_inputs && a->inputs; i++) a->inputs[i] = infer_input(at, i);
    const bool ok = compose_begin(&a->w, at->pool, at->ctx, at->cls, at->attrs, a->inputs, a->inputs ? a->n_inputs : 0);
    if (!ok || !a->inputs || !a->own) return false;
    a->w.constant = make_constant;
    a->w.user = a;
    a->plain = (value_more){ .net = network_of(a), .name = &name_empty };
    return mark_constants(a);
}

void asking_end(asking *a) {
    if (a->inputs && a->inputs != a->few_inputs)
        mem_free(&a->at->ctx->alloc, (void *)a->inputs, a->n_inputs * sizeof *a->inputs);
    if (a->own && a->own != a->few) mem_free(&a->at->ctx->alloc, a->own, a->w.c->n_values * sizeof *a->own);
    compose_end(&a->w);
}

/* ---- one part --------------------------------------------------------------------------------------------------- */

void asking_start(asking *a, const compose_part *p, xir_infer *q, xir_diags *why) {
    infer_start_in(q, a->at->ctx, a->at->pool, p->cls, a->w.body, a->at->target, a->w.inputs, a->w.n_inputs,
                   (xir_str){ NULL, 0 }, why);
}

/* Puts the types of values that a part sees into the pool. */
static xir_status settle(asking *a, const compose_part *p) {
    bool settled = true;
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const compose_operand *o = &p->operands[k];
        if (o->kind == OPERAND_VALUE && a->w.now[o->value]) settled &= compose_settle(&a->w, a->w.now[o->value]);
    }
    for (uint32_t i = 0; i < p->n_settings; i++) {
        const compose_setting *s = &p->settings[i];
        if (s->kind == SETS_TYPE && a->w.now[s->value]) settled &= compose_settle(&a->w, a->w.now[s->value]);
    }
    return settled ? XIR_OK : XIR_E_MEMORY;
}

xir_status asking_settle(asking *a) {
    bool settled = true;
    for (uint32_t i = 0; i < a->w.c->n_values && a->w.next_loose > a->w.loose; i++)
        if (a->w.now[i]) settled &= compose_settle(&a->w, a->w.now[i]);
    return settled ? XIR_OK : XIR_E_MEMORY;
}

/* Infers the part into q->out, which infer_end frees. */
static xir_status infer_part(asking *a, const compose_part *p, xir_infer *q, xir_diags *why) {
    xir_status status = a->w.next_loose > a->w.loose ? settle(a, p) : XIR_OK;
    if (!status) status = compose_enter(&a->w, p);
    asking_start(a, p, q, why);
    if (status) return status;
    status = infer_run(q);
    a->read_values |= q->read_values;
    if (status || q->n_out == p->n_results) return status;
    return xir_infer_fail(q, XIR_E_INVALID, NULL, "it gives %zu results, the composition names %u", q->n_out,
                          p->n_results);
}

/* Reports why a part fails: asks it once more, with a list for the finding. */
static xir_status report(asking *a, const compose_part *p, xir_status status) {
    xir_infer *at = a->at, q;
    char where[100];
    if (status == XIR_E_MEMORY) return status;
    if (!at->why) return at->status = status;
    if (a->w.fault.status) {
        const xir_field *f = a->w.fault.field;
        compose_blame(a->w.c, p, f ? f->name : XIR_STR(""), where, sizeof where);
        return xir_infer_fail(at, status, *where ? where : NULL, "part %%%.*s: %.*s: %s", CLIP(p->label),
                              CLIP_TO(p->cls->key, 200), a->w.fault.text);
    }
    xir_diags *found = xir_diags_new(at->ctx);
    if (!found) return XIR_E_MEMORY;
    (void)infer_part(a, p, &q, found);
    infer_end(&q);
    const xir_diag *d = xir_diags_at(found, 0);
    compose_blame(a->w.c, p, d ? d->path : XIR_STR(""), where, sizeof where);
    if (d)
        xir_infer_fail(at, status, *where ? where : NULL, "part %%%.*s: %.*s", CLIP(p->label), WHOLE(d->message));
    else
        xir_infer_fail(at, status, NULL, "part %%%.*s: %.*s has no type inference", CLIP(p->label),
                       CLIP_TO(p->cls->key, 200));
    xir_diags_free(found);
    return status;
}

static void keep(asking *a, uint32_t value, const xir_type *type) {
    xir_value *v = &a->own[value];
    *v = (xir_value){ .type = type, .from = value_from(&a->plain) };
    a->w.now[value] = v;
}

/* The result of a part that keeps the type of its first operand is stood for by the same value, unless that is an
 * input: inputs may be Params. */
static void keep_first(asking *a, const compose_part *p) {
    xir_value *v = a->w.now[p->operands[0].value];
    if (v->from == value_from(&a->plain)) a->w.now[p->first] = v;
    else keep(a, p->first, v->type);
}

/* The type of the only result of a part, if it follows without a question; otherwise NULL. */
static const xir_type *known_type(asking *a, const compose_part *p, unsigned target) {
    const compose_part *like = p->like ? &a->w.c->parts[p->like - 1] : NULL;
    if (like) {
        const uintptr_t key = infer_key_of(a->w.now[p->operands[0].value]);
        if (!(key & 1) && key == infer_key_of(a->w.now[like->operands[0].value])) {
            a->w.floats[p->first] = a->w.floats[like->first];
            return a->w.now[like->first]->type;
        }
    }
    return compose_floats(&a->w, p, target);
}

bool asking_left_out(const asking *a, const compose_part *p) {
    return p->optional && a->w.now[p->first] && a->w.now[p->first] != &a->own[p->first];
}

xir_status asking_infer(asking *a, asking_more_fn *more, void *user, const compose_part **failed) {
    const composition *c = a->w.c;
    const unsigned target = xir_target_kind_of(a->at->target);
    const bool quick = !more && target == XIR_TARGET_HOST;
    xir_status status = XIR_OK;
    for (const compose_part *p = c->parts, *end = p + c->n_parts; p < end; p++) {
        if (compose_is_left_out(&a->w, p)) continue;
        if (p->kept && quick && compose_keeps(&a->w, p)) {
            keep_first(a, p);
            continue;
        }
        const xir_type *known = more ? NULL : known_type(a, p, target);
        if (known) {
            keep(a, p->first, known);
            continue;
        }
        xir_infer q;
        status = infer_part(a, p, &q, NULL);
        if (status) *failed = p;
        for (uint32_t k = 0; k < p->n_results && !status; k++) keep(a, p->first + k, q.out[k]);
        if (!status && more) status = more(a, p, &q, user);
        infer_end(&q);
        if (status) break;
    }
    a->at->read_values |= a->read_values;
    return status;
}

/* ---- the rows --------------------------------------------------------------------------------------------------- */

static xir_status give(asking *a) {
    const composition *c = a->w.c;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < c->n_outputs && !status; i++) {
        const xir_value *v = a->w.now[c->outputs[i]];
        if (!v) return xir_infer_fail(a->at, XIR_E_MISSING, NULL, "%%%.*s is absent", CLIP(c->labels[c->outputs[i]]));
        const loose_type *l = compose_loose(&a->w, v->type);
        status = l ? xir_infer_result_tensor(a->at, l->type.element_dtype, l->dims.layout, l->dims.dims, l->dims.rank)
                   : xir_infer_result(a->at, v->type);
    }
    return status;
}

xir_status composed_infer(xir_infer *at) {
    asking a;
    const compose_part *failed = NULL;
    xir_status status = asking_begin(&a, at) ? asking_infer(&a, NULL, NULL, &failed) : XIR_E_MEMORY;
    if (failed) status = report(&a, failed, status);
    if (!status) status = give(&a);
    asking_end(&a);
    return status;
}

/* Returns true if types can be checked: those of all inputs are known, and no required one is missing. */
static bool is_complete(const xir_infer *at) {
    for (size_t i = 0; i < at->n_inputs; i++)
        if (infer_has_input(at, i) && !xir_infer_input(at, i)) return false;
    for (uint32_t i = 0; i < at->cls->more->least_inputs; i++)
        if (at->cls->more->inputs[i].decl == XIR_DECL_IN && !infer_has_input(at, i)) return false;
    return true;
}

xir_status composed_check(xir_infer *at) {
    asking a;
    const compose_part *failed = NULL;
    if (!is_complete(at)) return XIR_OK;
    xir_status status = asking_begin(&a, at) ? asking_infer(&a, NULL, NULL, &failed) : XIR_E_MEMORY;
    /* Types that do not follow, as those of quantised results, are given. */
    if (status == XIR_E_UNSUPPORTED || status == XIR_E_UNKNOWN) status = XIR_OK;
    else if (failed) status = report(&a, failed, status);
    asking_end(&a);
    return status;
}

typedef struct sum { uint64_t multiply_adds, element_ops; bool products; } sum;

static xir_status add_work(asking *a, const compose_part *p, xir_infer *q, void *user) {
    sum *all = user;
    xir_work one;
    (void)p;
    const xir_status status = infer_work(q, &one);
    a->at->work.unsaid |= q->work.unsaid;
    a->at->work.open |= q->work.open;
    all->products |= !q->work.no_products;
    if (status) return status == XIR_E_BOUNDS ? XIR_OK : status;
    all->multiply_adds = xir_work_add(all->multiply_adds, one.multiply_adds);
    all->element_ops = xir_work_add(all->element_ops, one.element_ops);
    return XIR_OK;
}

xir_status composed_work(xir_infer *at) {
    asking a;
    const compose_part *failed = NULL;
    sum all = { 0 };
    xir_status status = asking_begin(&a, at) ? asking_infer(&a, add_work, &all, &failed) : XIR_E_MEMORY;
    asking_end(&a);
    if (status == XIR_E_MEMORY) return status;
    if (status) {
        /* An op that is not valid: as if nothing were known. */
        const xir_status unknown = xir_work_unknown(at);
        (void)xir_work_result(at, 0, xir_work_outputs(at));
        return unknown;
    }
    return all.products ? xir_work_result(at, all.multiply_adds, all.element_ops)
                        : xir_work_elementwise(at, all.element_ops);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static const xir_numbers any = { .size = sizeof any, .low = -INFINITY, .high = INFINITY };

/* Asks a part which numbers it takes, and narrows those of its operands. */
static xir_status narrow(asking *a, const compose_part *p, xir_numbers *known) {
    xir_numbers few[STAND_INS], *in = few;
    xir_infer q;
    const xir_status status = compose_enter(&a->w, p);
    if (status || !p->cls->more->takes) return status;
    if (a->w.n_inputs > STAND_INS) in = arena_take(&a->w.own, a->w.n_inputs * sizeof *in);
    if (!in) return XIR_E_MEMORY;
    for (size_t i = 0; i < a->w.n_inputs; i++) in[i] = any;
    asking_start(a, p, &q, NULL);
    q.takes = (infer_takes_seen){ .in = in, .out = &known[p->first], .n_out = p->n_results };
    xir_status asked = XIR_OK;
    for (uint32_t i = 0; i < p->n_results && !asked; i++)
        asked = infer_see_output(&q, a->w.now[p->first + i]->type);
    if (!asked) asked = p->cls->more->takes(&q);
    a->read_values |= q.read_values;
    infer_end(&q);
    for (uint32_t k = 0; k < p->n_operands && !asked; k++)
        if (p->operands[k].kind == OPERAND_VALUE) (void)numbers_narrow(&known[p->operands[k].value], &in[k]);
    return asked == XIR_E_MEMORY ? asked : XIR_OK;
}

static xir_status narrow_all(asking *a, xir_numbers *known) {
    const composition *c = a->w.c;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < c->n_values; i++) known[i] = any;
    for (uint32_t i = 0; i < c->n_outputs; i++) (void)xir_takes_output(a->at, i, &known[c->outputs[i]]);
    for (uint32_t i = c->n_parts; i-- > 0 && !status;) {
        const compose_part *p = &c->parts[i];
        if (asking_left_out(a, p)) (void)numbers_narrow(&known[p->operands[0].value], &known[p->first]);
        else status = narrow(a, p, known);
    }
    for (uint32_t i = 0; i < c->n_inputs && !status; i++) xir_takes(a->at, i, &known[i]);
    return status;
}

xir_status composed_takes(xir_infer *at) {
    asking a;
    const compose_part *failed = NULL;
    xir_numbers *known = NULL;
    xir_status status = asking_begin(&a, at) ? asking_infer(&a, NULL, NULL, &failed) : XIR_E_MEMORY;
    if (!status) status = asking_settle(&a);
    if (!status) known = arena_take(&a.w.own, a.w.c->n_values * sizeof *known);
    if (!status) status = known ? narrow_all(&a, known) : XIR_E_MEMORY;
    asking_end(&a);
    return status;
}
