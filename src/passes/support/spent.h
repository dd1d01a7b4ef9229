/* Constants that a run does not compute because they would take too much work or memory. */
#ifndef PASSES_SPENT_H
#define PASSES_SPENT_H

#include "budget.h"
#include "graph.h"

/* Whether the budget refused the op for its work and this run has not reported it yet. Then `out` gets the end of a
 * sentence: "it takes …". */
bool spent_on(xir_op *op, budget *within, char out[200]);
/* Begins a pass that makes constants. All constants of the run together may have `free` bytes plus twice the bytes
 * of the Params that the network had when the first such pass of the run began. */
void spent_begin(budget *within, const xir_network *net, uint64_t free);
/* The number of bytes left for constants. */
uint64_t spent_left(const budget *within);
/* Gives back the bytes of a constant that is freed. */
void spent_less(budget *within, uint64_t bytes);
/* Takes the bytes of an op's constant from the budget. False if too few are left: then `out` gets the end of a
 * sentence, "it has …", or the empty text if this run has reported it already. */
bool spent_bytes(xir_op *op, budget *within, uint64_t bytes, char out[200]);
/* Forgets what has been reported, at the end of a run. */
void spent_nothing(xir_network *net, budget *within);

#endif
