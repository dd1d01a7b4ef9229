/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values of constant inputs, for the few results that depend on them: shapes, counts, limits. A call has three
 * outcomes: the numbers; "unknown", if the input is computed at run time, has no bytes, too many of them or elements of
 * another kind; or a failure, if the type of the input is wrong. Once a function reads a value, its result is not
 * cached (xir_infer_input_value), so look at types first. */
#ifndef OPS_CONSTANT_H
#define OPS_CONSTANT_H

#include "sort.h"

/* Checks that input i has one element: rank 0, or one dim of 1 (or unknown). Otherwise XIR_E_INVALID. */
xir_status need_one(xir_infer *at, size_t i);

/* Integers in row-major order, for any rank. A list longer than MOST_CONSTANTS counts as unknown. */
enum { MOST_CONSTANTS = 256 };
typedef struct integer_list {
    bool    known;
    size_t  size;
    int64_t data[MOST_CONSTANTS];
} integer_list;
/* Fails like need_integers, and with XIR_E_LIMIT if a number exceeds int64. */
xir_status read_integers(xir_infer *at, size_t i, integer_list *out);

/* One number, integer or real. `real` is set in both cases. */
typedef struct constant_number {
    bool    known, is_integer;
    int64_t integer;
    double  real;
} constant_number;
/* Reads an input that has passed need_one and one of the checks above. XIR_E_LIMIT if it exceeds int64. */
xir_status read_number(xir_infer *at, size_t i, constant_number *out);

#endif
