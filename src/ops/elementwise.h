/* What operations that work element by element share, with one input or with a pair that is broadcast. */
#ifndef OPS_ELEMENTWISE_H
#define OPS_ELEMENTWISE_H

#include "broadcast.h"

/* The output is what the input is: XIR_E_UNSUPPORTED if that is quantised, as values are computed. */
xir_status function_infer(xir_infer *at);

/* Element types and shapes of both inputs fit each other. Of a tiled pair only what the target has rules for is
 * judged. */
xir_status check_pair(xir_infer *at);
/* Gives what both are broadcast to; if they are tiled they must lie alike. */
xir_status give_pair(xir_infer *at, const xir_type *element);

/* The channels of a shape in the layout of `like`: the dim C, else O, else I, else the last one; 1 without dims. */
int64_t channels_of(const xir_type *like, const int64_t *dims, size_t rank);

#endif
