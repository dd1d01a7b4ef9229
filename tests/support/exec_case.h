/* Cases of operations with their elements (op_case.h), which are run. */
#ifndef SUPPORT_EXEC_CASE_H
#define SUPPORT_EXEC_CASE_H

#include "support/op_case.h"

/* Runs a case: what is computed must be as near to what the case says as fp32 is, NaN where it says NaN; integers
 * are the same. Before that memory is refused, at each place in turn: then there are no results, and nothing is
 * lost. The same must come out of a network of this op, and of one whose inputs have no known dims, if its types can
 * be inferred then. An op whose types do not follow (quantised results) is given those that the case says. Behind
 * all that attributes that mean harm are tried, as a file that nobody has checked may have them: they are refused,
 * or computed. Prints the case if anything is otherwise. */
void exec_case_run(const char *text, const char *file, int line, op_counts *counts);

#endif
