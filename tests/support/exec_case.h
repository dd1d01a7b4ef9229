/* Cases of the executor as text: what an operation computes. tests/exec_cases/ has a file of them for each family. A case is one of
 * op_case.h whose inputs get numbers, behind `::`, an array for each input that is no `param`, and whose outputs are numbers,
 * behind `=>`; arrays are separated by `;`:
 *
 *     Add(i8 * 3, i8 - -) -> i8 * 3 :: 1 2 127 ; 1 => 2 3 -128
 *     Div(i8 * 1, i8 - -) rounding_mode=TRUNC -> i8 * 1 :: 1 ; 0 => !! invalid "divided by 0"
 *
 * Numbers are as strtod reads them (nan, inf, 1e-3), those of integers as strtoll does; of quantised types they are what elements stand
 * for. Real results may differ from what is said by 1e-6 of it, or 1e-6 if it is below 1.
 *
 * The case is run as an op and as a network, once with the types as they are and once with all dims of the network's inputs unknown,
 * unless its types cannot be inferred then. */
#ifndef SUPPORT_EXEC_CASE_H
#define SUPPORT_EXEC_CASE_H

#include "support/op_case.h"

/* Runs a case; prints it with what was expected and what was found if that is not the same. */
void exec_case_run(const char *text, const char *file, int line, op_counts *counts);

/* An array of a type from a text of numbers; NULL, with the sentence in `fault`, if they are not as many as it has elements. */
xir_array *exec_array(const xir_type *type, const char *text, size_t size, char fault[200]);

#endif
