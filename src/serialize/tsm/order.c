/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An order of execution: each node after its inputs, otherwise in the order of the file. Nodes of a file are in any
 * order. */
#include "tsm/tsm.h"

enum { NEW, OPEN, DONE };

typedef struct step { uint32_t node, next; } step;

typedef struct walk {
    tsm_reader *r;
    step       *stack;      /* as deep as there are nodes */
    size_t      depth, n;   /* of the order               */
} walk;

static void check_reached(tsm_reader *r, size_t i) {
    const tsm_node *n = &r->nodes[i];
    if (n->kind == TSM_INPUT && !n->listed)
        tsm_fault(r, XIR_E_MISSING, n->params, i, "", "an output depends on this <param>, which is not in the list of "
                  "inputs");
    else if (n->kind == TSM_OP && !n->n_inputs)
        tsm_fault(r, XIR_E_INVALID, n->params, i, "/inputs", "an output depends on this operator, which has no inputs: "
                  "TensorStack loads only <param> and <const> without inputs");
}

static void report_cycle(walk *w, const step *at, uint32_t input) {
    tsm_reader *r = w->r;
    const tsm_node *n = &r->nodes[at->node];
    const uint32_t from = tsm_input(n, input);
    char where[40];
    snprintf(where, sizeof where, "/inputs/%" PRIu32, input);
    tsm_fault(r, XIR_E_INVALID, n->inputs + 4 * (size_t)input, at->node, where, from == at->node
              ? "input %" PRIu32 " is the node itself (node %" PRIu32 "): expected one without a cycle"
              : "input %" PRIu32 " depends on this node (node %" PRIu32 "): expected one without a cycle", input, from);
}

/* Everything that a node depends on, then the node. `marks`: what an output reaches; the order is made otherwise. */
static void visit(walk *w, uint32_t root, bool marks) {
    tsm_node *nodes = w->r->nodes;
    if (nodes[root].state != NEW) return;
    nodes[root].state = OPEN;
    w->stack[w->depth++] = (step){ root, 0 };
    while (w->depth) {
        step *top = &w->stack[w->depth - 1];
        tsm_node *n = &nodes[top->node];
        if (top->next == n->n_inputs) {
            n->state = DONE;
            if (marks) n->reached = true;
            else w->r->order[w->n++] = top->node;
            w->depth--;
            continue;
        }
        const uint32_t input = top->next++, from = tsm_input(n, input);
        if (nodes[from].state == OPEN && !marks) report_cycle(w, top, input);
        if (nodes[from].state != NEW) continue;
        nodes[from].state = OPEN;
        w->stack[w->depth++] = (step){ from, 0 };
    }
}

bool tsm_order(tsm_reader *r) {
    walk w = { .r = r };
    w.stack = arena_take(&r->d.scratch, (r->n + 1) * sizeof *w.stack);
    r->order = arena_take(&r->d.scratch, (r->n + 1) * sizeof *r->order);
    if (!w.stack || !r->order) return trace_memory(&r->d.trace);
    for (uint32_t i = 0; i < r->n_ends[1]; i++) visit(&w, little_u32(r->ends[1] + 4 * (size_t)i), true);
    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].reached) check_reached(r, i);
        r->nodes[i].state = NEW;
    }
    for (size_t i = 0; i < r->n; i++) visit(&w, (uint32_t)i, false);
    return true;
}
