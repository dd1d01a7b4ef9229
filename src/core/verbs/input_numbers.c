/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The numbers that the inputs of a network may be: one walk from its results to its inputs, in which the TAKES row of
 * each class narrows the ranges of what an op reads. Ranges are kept only for ops of whose outputs something is
 * asked. */
#include "legal.h"
#include "sized.h"

typedef struct range_walk {
    const xir_allocator *alloc;
    uint32_t            *first;    /* of an op, by slot: 1 + the position of the range of its output 0; 0: none */
    size_t               slots;
    xir_numbers           *ranges;   /* of all outputs of such an op, one after another                           */
    size_t               n, room;
    xir_numbers           *in;       /* of the op that is asked                                                   */
    size_t               in_room;
} range_walk;

static xir_numbers *ranges_of(const range_walk *w, const xir_op *op) {
    uint32_t first = w->first[op->slot];
    return first ? &w->ranges[first - 1] : NULL;
}

/* Narrows the range of a value that an op makes. False without memory. */
static bool narrow(range_walk *w, const xir_value *v, const xir_numbers *by) {
    const xir_op *maker = v ? xir_value_op(v) : NULL;
    if (!maker || !op_is_in(maker) || numbers_are_any(by)) return true;
    if (!w->first[maker->slot]) {
        size_t n = w->n + maker->n_outputs;
        if (n >= UINT32_MAX) return true;
        if (!mem_reserve(w->alloc, (void **)&w->ranges, &w->room, n, sizeof *w->ranges)) return false;
        for (size_t i = w->n; i < n; i++) w->ranges[i] = xir_numbers_any();
        w->first[maker->slot] = (uint32_t)w->n + 1;
        w->n = n;
    }
    (void)numbers_narrow(&ranges_of(w, maker)[xir_value_index(v)], by);
    return true;
}

static bool ask(range_walk *w, const xir_op *op);

/* A call takes what the ops of its body take. A body that nobody has checked may be anything. */
static bool ask_body(range_walk *w, const xir_op *op, xir_ops body) {
    const xir_op *in = body.data[0], *out = body.data[body.size - 1];
    for (uint32_t i = 0; i < op->n_outputs && i < out->n_inputs && ranges_of(w, op); i++) {
        const xir_numbers range = ranges_of(w, op)[i];   /* narrowing another value may move them */
        if (!narrow(w, op_inputs(out)[i].value, &range)) return false;
    }
    for (size_t k = body.size; k-- > 0;)
        if (!ask(w, body.data[k])) return false;
    for (uint32_t i = 0; i < op->n_inputs && i < in->n_outputs && ranges_of(w, in); i++) {
        const xir_numbers range = ranges_of(w, in)[i];
        if (!narrow(w, op_inputs(op)[i].value, &range)) return false;
    }
    return true;
}

static bool ask(range_walk *w, const xir_op *op) {
    xir_attr body;
    if (is_call(op->cls) && !xir_op_get(op, XIR_STR("body"), &body) && body.kind == XIR_KIND_OPS && body.as.ops.size)
        return ask_body(w, op, body.as.ops);
    if (!op->cls->more->takes || !op->n_inputs) return true;
    if (!mem_reserve(w->alloc, (void **)&w->in, &w->in_room, op->n_inputs, sizeof *w->in)) return false;
    if (op_takes(op, ranges_of(w, op), w->in) == XIR_E_MEMORY) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (!narrow(w, xir_op_input(op, i), &w->in[i])) return false;
    return true;
}

xir_status xir_network_input_numbers(const xir_network *net, xir_numbers *out, size_t n, xir_diags *why) {
    const xir_numbers any = xir_numbers_any();
    for (size_t i = 0; i < n; i++) {
        xir_status status = sized_fill(NUMBERS_STRUCT, (char *)out + i * out->size, &any, why);
        if (status) return status;
    }
    if (!net) return diag_null(why, "net");
    if (!n) return XIR_OK;
    range_walk w = { .alloc = context_alloc(net->ctx), .slots = (size_t)net->n_slots + 1 };
    w.first = mem_new(w.alloc, w.slots * sizeof *w.first);
    bool ready = w.first != NULL;
    if (ready) memset(w.first, 0, w.slots * sizeof *w.first);
    for (const xir_op *op = xir_network_last(net); op && ready; op = xir_op_prev(op)) ready = ask(&w, op);
    const xir_op *input = xir_network_input_op(net);
    const xir_numbers *found = ready && input ? ranges_of(&w, input) : NULL;
    for (size_t i = 0; found && i < n && i < input->n_outputs; i++)
        (void)sized_fill(NUMBERS_STRUCT, (char *)out + i * out->size, &found[i], why);
    mem_free(w.alloc, w.in, w.in_room * sizeof *w.in);
    mem_free(w.alloc, w.ranges, w.room * sizeof *w.ranges);
    mem_free(w.alloc, w.first, w.slots * sizeof *w.first);
    return ready ? XIR_OK : diag_memory(why);
}
