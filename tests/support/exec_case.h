/* Cases of operations with their elements (op_case.h), which are run. */
#ifndef SUPPORT_EXEC_CASE_H
#define SUPPORT_EXEC_CASE_H

#include "support/op_case.h"

/* Runs a case: what is computed must be as near to what the case says as fp32 is, NaN where it says NaN. Before that memory is refused,
 * at each place in turn: then there are no results, and nothing is lost. Prints the case if anything is otherwise. */
void exec_case_run(const char *text, const char *file, int line, op_counts *counts);

#endif
