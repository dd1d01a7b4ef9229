/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* New operands of several ops, which all get them or none does. A rewrite that changes constants of many ops at once
 * needs this: a network in which only some have theirs would compute something else. */
#ifndef PASSES_OPERANDS_H
#define PASSES_OPERANDS_H

#include "graph.h"

/* Operand `at` + k of the op becomes now[k], unless that is NULL. One after the last is added, such as a bias. */
typedef struct operand_change {
    xir_op    *op;
    uint32_t   at;
    xir_value *now[3];
    xir_value *was[3];        /* set by operands_change, for operands_restore */
    uint32_t   n_before;
} operand_change;

/* On failure, which can only be XIR_E_MEMORY for operands that the op takes, every op has the operands that it had. */
xir_status operands_change(operand_change *list, size_t n);
/* Undoes a change that succeeded. Needs no memory. */
void       operands_restore(const operand_change *list, size_t n);

#endif
