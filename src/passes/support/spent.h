/* Constants that a run does not compute because they would take too much. */
#ifndef PASSES_SPENT_H
#define PASSES_SPENT_H

#include "budget.h"
#include "graph.h"

/* Whether the op, which was to be computed within a budget, was refused for its work, and nobody has said so in this
 * run: then `out` has the end of a sentence, "it takes …". */
bool spent_on(xir_op *op, budget *within, char out[200]);
/* Before a pass makes constants: all of the run may have so many bytes, and twice those of the Params that the network
 * had when the first pass of the run asked. */
void spent_begin(budget *within, const xir_network *net, uint64_t free);
/* How many bytes are left for constants. */
uint64_t spent_left(const budget *within);
/* Gives back the bytes of a constant that is freed. */
void spent_less(budget *within, uint64_t bytes);
/* Adds the bytes of a constant that an op gives. False: not as many are left. `out` then has the end of a sentence,
 * "it has …", if nobody has said so in this run, and is empty otherwise. */
bool spent_bytes(xir_op *op, budget *within, uint64_t bytes, char out[200]);
/* Forgets what has been said, at the end of a run. */
void spent_nothing(xir_network *net, budget *within);

#endif
