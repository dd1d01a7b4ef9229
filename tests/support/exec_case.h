/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Cases of operations with elements (op_case.h), which are executed. */
#ifndef SUPPORT_EXEC_CASE_H
#define SUPPORT_EXEC_CASE_H

#include "support/op_case.h"

/* Runs a case. The results must be as close to the case as fp32 is: NaN where it has NaN, and integers equal. Before
 * that, memory is refused at each allocation in turn: there are no results then, and nothing leaks. A network of
 * this op must give the same, and so must one whose inputs have unknown dims, if its types can be inferred then. An
 * op whose types cannot be inferred (quantised results) gets those that the case states. At the end come hostile
 * attributes, as an unchecked file may have them: they are refused, or computed. Prints the case if any of this
 * fails. */
void exec_case_run(const char *text, const char *file, int line, op_counts *counts);

#endif
