/* What liveness knows of shared bytes, for the checker of addresses. */
#ifndef CORE_SHARES_H
#define CORE_SHARES_H

#include <xir/op.h>

/* Whether the SHARES row of an op's class names an input. */
bool shares_names_input(const xir_op *op, size_t input);

/* Whether elements of both types are in the same places, if they are in the same order. */
bool shares_same_places(const xir_type *a, const xir_type *b);

#endif
