/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that ask for parts of values. */
#ifndef CORE_NEEDS_WALK_H
#define CORE_NEEDS_WALK_H

#include "graph.h"

/* The ops of a region in execution order, as a new array of n + 1 that the caller frees. XIR_E_INVALID for an op that
 * is not placed in the network or is listed twice. */
xir_status region_sort(const xir_network *net, xir_op *const *ops, size_t n, const xir_op ***out, xir_diags *why);

/* The NEEDS function of xir::Call: its body is asked. */
xir_status needs_of_call(xir_infer *at, xir_ops body);

#endif
