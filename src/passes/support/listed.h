/* Ops that take a list of integers from their last input instead of an attribute. */
#ifndef PASSES_LISTED_H
#define PASSES_LISTED_H

#include "graph.h"

/* Whether the op is a Reshape, Expand, Tile, Slice, Pad or Resize with such an input. Its attribute is then all -1, and
 * says nothing else. */
bool op_is_listed(const xir_op *op);

#endif
