/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes of a body while its call runs: those of its values, each from the op that makes it to the last reader.
 * What the body's Input makes and its Output reads are the inputs and outputs of the call, and counted there. */
#include "legal.h"
#include "lives.h"

/* By position in the body: the bytes that are taken there, and those that are free again. */
typedef struct inside {
    const xir_liveness *l;
    const xir_op       *call;
    xir_ops             body;
    wide               *taken, *freed;
} inside;

static uint64_t size_of(const xir_type *type) {
    uint64_t bytes = 0;
    const xir_status status = type ? xir_type_bytes(type, &bytes) : XIR_E_UNKNOWN;
    return status == XIR_E_LIMIT ? UINT64_MAX : status ? 0 : bytes;
}

/* The position of the op of the body that a use is in. */
static size_t position_of(const inside *in, const xir_use *use) {
    const xir_op *op = use->user;
    while (op && op_more_of(op) && op_more_of(op)->parent != in->call) op = op_more_of(op)->parent;
    return op && op->slot < in->l->n_slots && in->l->place[op->slot] ? in->l->place[op->slot] - 1 : 0;
}

static void take_between(const inside *in, size_t first, size_t last, uint64_t bytes) {
    wide_add(&in->taken[first], bytes);
    wide_add(&in->freed[last + 1], bytes);
}

static bool add_op(const inside *in, size_t at) {
    const xir_op *op = in->body.data[at];
    const size_t output = in->body.size - 1;
    uint64_t further = 0;
    if (is_call(op->cls) && !lives_inside(in->l, op, &further)) return false;
    take_between(in, at, at, further);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        size_t last = at;
        for (const xir_use *use = op_outputs(op)[i].uses; use; use = use->next) {
            const size_t reader = position_of(in, use);
            if (reader > last) last = reader;
        }
        if (last < output) take_between(in, at, last, size_of(op_outputs(op)[i].type));
    }
    return true;
}

static uint64_t most_of(const inside *in) {
    wide sum = { 0 };
    uint64_t most = 0;
    for (size_t at = 0; at < in->body.size; at++) {
        sum.low += in->taken[at].low;
        sum.high += in->taken[at].high + (sum.low < in->taken[at].low);
        sum.high -= in->freed[at].high + (sum.low < in->freed[at].low);
        sum.low -= in->freed[at].low;
        const uint64_t now = sum.high ? UINT64_MAX : sum.low;
        if (now > most) most = now;
    }
    return most;
}

bool lives_inside(const xir_liveness *l, const xir_op *call, uint64_t *most) {
    xir_attr body;
    *most = 0;
    if (xir_op_get(call, XIR_STR("body"), &body) || body.kind != XIR_KIND_OPS || body.as.ops.size < 2) return true;
    const xir_allocator *alloc = &l->net->ctx->alloc;
    const size_t room = 2 * (body.as.ops.size + 1) * sizeof(wide);
    inside in = { .l = l, .call = call, .body = body.as.ops, .taken = mem_new(alloc, room) };
    if (!in.taken) return false;
    memset(in.taken, 0, room);
    in.freed = in.taken + in.body.size + 1;
    for (size_t i = 0; i < in.body.size; i++) l->place[in.body.data[i]->slot] = (uint32_t)i + 1;
    bool done = true;
    for (size_t i = 1; i + 1 < in.body.size && done; i++) done = add_op(&in, i);
    for (size_t i = 0; i < in.body.size; i++) l->place[in.body.data[i]->slot] = 0;   /* not in the order */
    *most = done ? most_of(&in) : 0;
    mem_free(alloc, in.taken, room);
    return done;
}
