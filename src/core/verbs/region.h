/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files about regions. */
#ifndef CORE_REGION_H
#define CORE_REGION_H

#include <xir/region.h>
#include "graph.h"

/* Checks that item `i` of a region is a placed op of the network: XIR_E_INVALID. */
xir_status region_op_check(const xir_network *net, const xir_op *op, size_t i, xir_diags *why);

/* The placed op that makes a value, itself or through a sub op; NULL for Params, values without an op, and what an op
 * makes that is not placed. */
static inline const xir_op *placed_maker(const xir_value *v) {
    const xir_op *op = value_op(v);
    while (op && op->flags & OP_CHILD) op = op_more_of(op)->parent;
    return op && op->flags & OP_PLACED ? op : NULL;
}

#endif
