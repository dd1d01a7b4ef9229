/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The order of a foreign network: a file may have nodes in any order, or in a cycle, which has no order. Depth-first
 * search from ops to the producers of their inputs, with an explicit stack; linear. */
#include <stdio.h>
#include "walk/walk.h"

typedef enum mark { NEW, OPEN, DONE } mark;
typedef struct step { xir_op *op; size_t input; } step;

static bool is_sorted(const conversion *c) {
    for (const xir_op *op = xir_network_first(c->net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < op->n_inputs; i++) {
            const xir_op *producer = op_inputs(op)[i].value ? value_op(op_inputs(op)[i].value) : NULL;
            if (producer && (!op_is_in(producer) || !xir_op_before(producer, op)) && !(producer->flags & OP_CHILD))
                return false;
        }
    }
    return true;
}

/* Reports "a -> b -> a" for the steps that form the cycle. */
static xir_status report_cycle(conversion *c, const step *stack, size_t from, size_t depth) {
    char text[600];
    size_t n = 0;
    for (size_t i = from; i <= depth && n < sizeof text - 120; i++) {
        const xir_op *op = i == depth ? stack[from].op : stack[i].op;
        xir_str name = xir_op_name(op);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s'%.*s' (%s %lld)", i > from ? " needs " : "",
                              CLIP_TO(name, 60),
                              convert_node(c->dialect), (long long)convert_number(c->dialect, op));
        if (i < depth && i - from == 3 && depth - from > 5) {
            n += (size_t)snprintf(text + n, sizeof text - n, " needs %zu more, of which the last", depth - i - 1);
            i = depth - 1;
        }
    }
    char path[80];
    snprintf(path, sizeof path, "%.50s%lld", convert_nodes(c->dialect),
             (long long)convert_number(c->dialect, stack[from].op));
    c->cyclic = true;
    if (c->checking && DECLARED(c->dialect, check_file)) return XIR_OK;   /* its own check has found it */
    if (!c->status) c->status = XIR_E_INVALID;
    xir_diags_add(c->why, XIR_ERROR, XIR_E_INVALID, xir_str_of(path),
                  "%sthe graph has a cycle: %s", c->prefix, text);
    return XIR_OK;
}

/* Visits one op and everything that it needs; each op follows its operands in `order`. */
static void visit(conversion *c, xir_op *root, uint8_t *marks, step *stack, xir_op **order, size_t *n) {
    size_t depth = 0;
    if (marks[root->slot] != NEW) return;
    marks[root->slot] = OPEN;
    stack[depth++] = (step){ root, 0 };
    while (depth) {
        step *s = &stack[depth - 1];
        if (s->input == s->op->n_inputs) {
            marks[s->op->slot] = DONE;
            order[(*n)++] = s->op;
            depth--;
            continue;
        }
        const xir_value *v = op_inputs(s->op)[s->input++].value;
        xir_op *producer = v ? value_op(v) : NULL;
        if (!producer || !(producer->flags & OP_PLACED)) continue;
        if (marks[producer->slot] == NEW) {
            marks[producer->slot] = OPEN;
            stack[depth++] = (step){ producer, 0 };
        } else if (marks[producer->slot] == OPEN) {
            size_t from = depth - 1;
            while (stack[from].op != producer) from--;
            report_cycle(c, stack, from, depth);
        }
    }
}

xir_status conversion_order(conversion *c, bool *sorted) {
    const xir_allocator *alloc = context_alloc(c->ctx);
    size_t slots = xir_network_slot_count(c->net), ops = xir_network_op_count(c->net), n = 0;
    *sorted = is_sorted(c);
    if (*sorted) return XIR_OK;
    uint8_t *marks = mem_new(alloc, slots);
    step *stack = mem_new(alloc, ops * sizeof *stack);
    xir_op **order = mem_new(alloc, ops * sizeof *order);
    if (marks && stack && order) {
        memset(marks, NEW, slots);
        for (xir_op *op = xir_network_first(c->net); op; op = xir_op_next(op)) visit(c, op, marks, stack, order, &n);
        xir_op *output = xir_network_output_op(c->net);
        for (size_t i = 0; i < n; i++) if (order[i] != output) (void)xir_op_move(order[i], output);
    }
    bool done = marks && stack && order;
    mem_free(alloc, marks, slots);
    mem_free(alloc, stack, ops * sizeof *stack);
    mem_free(alloc, order, ops * sizeof *order);
    return done ? XIR_OK : XIR_E_MEMORY;
}
