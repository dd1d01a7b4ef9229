/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants that a run does not compute because they would take too much work or memory. */
#ifndef PASSES_SPENT_H
#define PASSES_SPENT_H

#include "budget.h"
#include "graph.h"

/* Returns true if the budget refused the op for its work and this run has not reported it yet. Then `out` gets the end
 * of a sentence: "it takes …". */
bool spent_on(xir_op *op, budget *within, char out[200]);
/* Begins a pass that makes constants: counts the bytes of the Params, unless an earlier pass of the run has. */
void spent_begin(budget *within, const xir_network *net);
/* Returns true if an op's constant of so many bytes fits in those that are left `of` something. Otherwise `out` gets
 * the end of a sentence, "it has …", or the empty text if this run has reported it already. */
bool spent_bytes(xir_op *op, budget *within, uint64_t bytes, uint64_t left, const char *of, char out[200]);
/* Forgets what has been reported, at the end of a run. */
void spent_nothing(xir_network *net, budget *within);

#endif
