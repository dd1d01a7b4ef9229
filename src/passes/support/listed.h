/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that take a list of integers from their last input instead of an attribute. */
#ifndef PASSES_LISTED_H
#define PASSES_LISTED_H

#include "graph.h"

/* Returns true if the op is a Reshape, Expand, Tile, Slice, Pad or Resize with such an input. Its attribute is then all
 * -1, and says nothing else. */
bool op_is_listed(const xir_op *op);

/* If the list of such an op is constant, its numbers become the attribute, and the input is removed; *done says so. An
 * op whose type would change is left as it is, and so is one that is wrong. XIR_E_MEMORY is the only failure. */
xir_status op_settle_list(xir_op *op, bool *done);

#endif
