/* Constants that a run does not compute because they would take too much. */
#ifndef PASSES_SPENT_H
#define PASSES_SPENT_H

#include "budget.h"
#include "graph.h"

/* Whether the op, which was to be computed within a budget, was refused for its work, and nobody has said so in this
 * run: then `out` has the end of a sentence, "it takes …". */
bool spent_on(xir_op *op, budget *within, char out[200]);
/* Forgets what has been said, at the end of a run. */
void spent_nothing(xir_network *net, budget *within);

#endif
