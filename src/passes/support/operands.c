/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/operands.h"

enum { OPERANDS = 3 };

static xir_status change(operand_change *c, size_t k) {
    const size_t at = c->at + k;
    if (!k) c->n_before = c->op->n_inputs;
    if (!c->now[k]) return XIR_OK;
    if (at >= c->op->n_inputs) return xir_op_add_input(c->op, c->now[k]);
    c->was[k] = xir_op_input(c->op, at);
    return xir_op_set_input(c->op, at, c->now[k]);
}

/* The old operands have ids, and the op has room for them: this cannot fail. */
static void restore(const operand_change *c, size_t k) {
    const size_t at = c->at + k;
    if (!c->now[k]) return;
    if (at >= c->n_before) (void)xir_op_remove_input(c->op, at);
    else (void)xir_op_set_input(c->op, at, c->was[k]);
}

xir_status operands_change(operand_change *list, size_t n) {
    for (size_t i = 0; i < n * OPERANDS; i++) {
        const xir_status status = change(&list[i / OPERANDS], i % OPERANDS);
        if (!status) continue;
        while (i--) restore(&list[i / OPERANDS], i % OPERANDS);
        return status;
    }
    return XIR_OK;
}

void operands_restore(const operand_change *list, size_t n) {
    for (size_t i = n * OPERANDS; i--;) restore(&list[i / OPERANDS], i % OPERANDS);
}
