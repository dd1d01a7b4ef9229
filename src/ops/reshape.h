/* Reshapes: the counting that tiled and other tensors share. */
#ifndef OPS_RESHAPE_H
#define OPS_RESHAPE_H

#include "move.h"

/* The dims of the output, made unless it fails; -1 in `shape` is what is left. */
xir_status reshape_dims(xir_infer *at, xir_i64s input, xir_i64s shape, dim_list *out);

/* Finds the dims that stay whole: those before and behind which input and output have the same number of elements,
 * to[k] is where dim k stands then, -1 for the others. Dims of 1 don't count. */
void find_whole(xir_i64s in, xir_i64s out, int64_t *to);

/* Checks, and if asked to gives, a reshape from or to tiles. */
xir_status retile(xir_infer *at, bool give);

#endif
