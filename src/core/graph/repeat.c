/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Adding an op like the latest one of its class. Networks repeat themselves: with the same attributes, target and types
 * of inputs, everything that can fail has been checked and the type of the output is known. So the network keeps, for
 * each class, what the program gave for an op whose output type was remembered. Another such op takes a comparison and
 * a copy. Whatever differs goes the ordinary way, in build.c, which alone writes findings.
 *
 * Of a class with lists the latest few are kept, the older ones in the places of classes that the network does not
 * have: a Transpose is often followed by its inverse, and an importer makes one more of each. */
#include "graph.h"

enum { KEPT = 4 };

/* The memo of the k-th latest op. */
static repeat_memo *memo_at(xir_network *net, const xir_class *cls, size_t k) {
    return &net->repeats[(cls->number + k * (CLASS_MEMO / KEPT)) % CLASS_MEMO];
}
static repeat_memo *memo_of(xir_network *net, const xir_class *cls) { return memo_at(net, cls, 0); }

void repeats_forget(xir_network *net) {
    for (size_t i = 0; i < CLASS_MEMO; i++) net->repeats[i].cls = NULL;
}

/* ---- what is kept ----------------------------------------------------------------------------------------------- */

/* An object that the network does not own may be freed, and another one may get its address. So attributes that refer
 * to one are not kept. */
static bool refers_to_own(const xir_class *cls, const void *given, const void *stored) {
    for (uint32_t i = 0; i < cls->more->n_refs; i++) {
        const xir_field *f = &cls->fields[cls->more->refs[i]];
        const void *ref = *(const void *const *)body_at(given, f);
        if (ref && ref != *(const void *const *)body_at(stored, f)) return false;
    }
    return true;
}

static bool can_repeat(const xir_op_desc *d, size_t n_inputs, const infer_memo *answer) {
    const xir_class *cls = d->cls;
    return (cls->plain || cls->valued) && n_inputs && !(cls->traits & XIR_TRAIT_SOURCE) && !d->n_named &&
           (!d->target || d->target == answer->target) &&
           (!d->attrs || !cls->plain || refers_to_own(cls, d->attrs, answer->attrs));
}

/* Attributes with lists are compared with the stored ones, since the program owns the lists that it gives. */
static bool keeps_given(const xir_op_desc *d) { return d->attrs && d->cls->plain; }

/* Makes room for the latest op; the oldest one is forgotten. */
static void age(xir_network *net, const xir_class *cls) {
    repeat_memo *kept[KEPT] = { memo_of(net, cls) };
    size_t n = 1;
    for (size_t k = 1; k < KEPT; k++) {
        repeat_memo *m = memo_at(net, cls, k);
        if (!m->cls || m->cls == cls) kept[n++] = m;
    }
    const repeat_memo oldest = *kept[n - 1];
    while (--n > 0) *kept[n] = *kept[n - 1];
    *kept[0] = oldest;
}

void op_note_repeat(xir_network *net, const xir_op_desc *d, size_t n_inputs, const infer_memo *answer) {
    if (!can_repeat(d, n_inputs, answer)) return;
    const uint32_t size = d->cls->body_size;
    repeat_memo *m = memo_of(net, d->cls);
    if (!d->cls->plain && m->cls == d->cls) age(net, d->cls);
    m->cls = NULL;
    if (keeps_given(d) && m->given_room < size) {
        char *room = arena_take(&net->arena, size);
        if (!room) return;   /* which only costs time */
        m->given = room;
        m->given_room = size;
    }
    if (keeps_given(d)) memcpy(m->given, d->attrs, size);
    m->has_given = d->attrs != NULL;
    m->n_inputs = (uint32_t)n_inputs;
    m->epoch = net->infer_epoch;   /* of the answer: another thread may register a function */
    m->answer = *answer;
    m->cls = d->cls;
}

/* ---- the comparison --------------------------------------------------------------------------------------------- */

#define INLINED static inline __attribute__((always_inline))   /* calls would take a tenth of the time */

INLINED bool same_given(const repeat_memo *m, const void *attrs) {
    const xir_class *cls = m->cls;
    if (!attrs || !m->has_given) return !attrs && !m->has_given;
    if (!body_is_made(cls, attrs)) return false;
    if (!cls->plain) return body_same(cls, attrs, m->answer.attrs);
    for (uint32_t i = 0; i < cls->more->n_spans; i++) {
        const class_span *s = &cls->more->spans[i];
        if (memcmp((const char *)attrs + s->start, m->given + s->start, s->size) != 0) return false;
    }
    return true;
}

INLINED bool same_inputs(const xir_network *net, const repeat_memo *m, xir_value *const *inputs) {
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        const xir_value *v = inputs[i];
        if (infer_key_of(v) != m->answer.in[i]) return false;
        if (v && (value_net(v) != net || value_is_spent(v))) return false;
    }
    return true;
}

/* The op gets the next ids, which no table lists. */
static bool is_simple(const xir_network *net, const xir_op_desc *d) {
    enum { MOST_IDS = INFER_INPUTS + 2 };
    const bool place = !d->before || (d->before->net == net && d->before->flags & OP_PLACED);
    return place && !d->types && !d->n_named && d->id == XIR_NO_ID && net->n_ops &&
           !atomic_load_explicit(&net->has_ids, memory_order_relaxed) && net->next_op_id < INT64_MAX - MOST_IDS &&
           net->next_value_id < INT64_MAX - MOST_IDS;
}

INLINED bool is_like(const xir_network *net, const repeat_memo *m, const xir_op_desc *d, size_t n) {
    const bool same = m->cls == d->cls && n == m->n_inputs && m->epoch == net->ctx->infer_epoch &&
                      (d->target ? d->target : net->host) == m->answer.target;
    return same && same_given(m, d->attrs) && same_inputs(net, m, d->inputs);
}

/* Apart from `find`, into which the compiler joins the first comparison. */
static __attribute__((noinline)) const repeat_memo *find_older(xir_network *net, const xir_op_desc *d, size_t n) {
    for (size_t k = 1; k < KEPT; k++) {
        const repeat_memo *m = memo_at(net, d->cls, k);
        if (is_like(net, m, d, n)) return m;
    }
    return NULL;
}

static const repeat_memo *find(xir_network *net, const xir_op_desc *d) {
    if (!d->cls || !is_simple(net, d)) return NULL;
    const repeat_memo *m = memo_of(net, d->cls);
    size_t n = d->n_inputs;
    while (n && !d->inputs[n - 1]) n--;
    if (is_like(net, m, d, n)) return m;
    return d->cls->plain ? NULL : find_older(net, d, n);
}

/* ---- the copy --------------------------------------------------------------------------------------------------- */

xir_op *op_repeat(xir_network *net, const xir_op_desc *d) {
    const repeat_memo *m = find(net, d);
    const label *text = m ? net_name(net, d->name) : NULL;
    void *end;
    xir_op *op = text ? op_make_whole(net, m->cls, m->answer.attrs, d->inputs, m->n_inputs, 1, 0, &end) : NULL;
    if (!op) return NULL;
    if (!op_set_own_target(op, m->answer.target)) {
        for (uint32_t i = 0; i < m->n_inputs; i++) use_unlink(&op_inputs(op)[i]);
        return NULL;
    }
    op_set_label(op, text);
    op->id = net->next_op_id++;
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        xir_value *v = d->inputs[i];
        if (v && v->id < 0 && value_is_params(v)) v->id = net->next_value_id++;
    }
    xir_value *output = op_outputs(op);
    output->type = m->answer.out;
    output->id = net->next_value_id++;
    op_link(op, d->before);
    return op;
}
