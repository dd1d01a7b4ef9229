/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The arrays of a network's inputs against its symbolic dims. */
#ifndef EXEC_SYMBOLIC_H
#define EXEC_SYMBOLIC_H

#include "actual.h"

/* Checks that the symbols have values with which every dim is that of its array: a dim that is one symbol gives its
 * value; then each expression is computed. An expression whose symbols no such dim gives is not checked. XIR_E_BOUNDS
 * for a value outside the interval, XIR_E_INVALID for dims that contradict each other; the finding names inputs, dims
 * and texts. `arrays` has one for each output of `in`, NULL where one is missing. */
xir_status check_symbols(const xir_op *in, const xir_array *const *arrays, xir_diags *why);

#endif
