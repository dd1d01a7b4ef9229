/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* dce: removes pure ops whose outputs are unused, and then the ops that only they used.
 *
 *     x = input()                  x = input()
 *     a = conv(x, w)               r = relu(x)
 *     b = sigmoid(a)       ->      output(r)
 *     r = relu(x)
 *     output(r)
 *
 * Params belong to a network through their users: w disappears with a. An op that writes, draws random numbers or is
 * unknown stays (upkeep.h). One walk from the end meets users before producers. In a network that is not sorted the
 * walk may already have passed a producer; such producers wait on a stack. Ops that use each other in a cycle stay;
 * sort reports them. */
#include "support/upkeep.h"

typedef struct passed { xir_op **ops; size_t n, room; } passed;

static bool is_useless(const xir_op *op) { return op_is_unused(op) && op_is_pure(op); }

/* Removes an op and pushes its producers after position `here` that are useless now. False: out of memory. */
static bool drop(xir_network *net, xir_op *op, uint32_t here, passed *stack) {
    bool ok = true;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (!v) continue;
        use_unlink(&op_inputs(op)[i]);
        xir_op *producer = value_op(v);
        if (v->uses || !producer || producer == op || !(producer->flags & OP_PLACED) || producer->position < here)
            continue;
        if (!is_useless(producer)) continue;
        ok = ok && mem_reserve(&net->alloc, (void **)&stack->ops, &stack->room, stack->n + 1, sizeof *stack->ops);
        if (ok) stack->ops[stack->n++] = producer;
    }
    op_drop(op);
    return ok;
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    passed stack = { NULL, 0, 0 };
    size_t n = 0;
    bool ok = true;
    for (xir_op *op = net->last, *before; ok && op; op = before) {
        before = op->prev;
        if (!is_useless(op)) continue;
        uint32_t here = op->position;
        ok = drop(net, op, here, &stack);
        for (n++; ok && stack.n; n++) ok = drop(net, stack.ops[--stack.n], here, &stack);
    }
    mem_free(&net->alloc, (void *)stack.ops, stack.room * sizeof *stack.ops);
    xir_pass_changed(at, n);
    return ok ? XIR_OK : pass_no_memory(at);
}

const xir_pass_decl pass_dce = {
    XIR_PASS_HEAD("dce", "removes ops whose results are unused"),
    .level = XIR_LEVEL_EXACT,
    .run = run,
};
