/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads constants as numbers. */
#ifndef PASSES_NUMBERS_H
#define PASSES_NUMBERS_H

#include "elements.h"
#include "graph.h"

/* The bytes of Params; NULL if there are none, or fewer than the type takes: the type may have been replaced. */
const void *whole_params(const xir_value *v);
/* The only element of Params as a number; false if `v` is not Params or is the default of an input, has no bytes, no
 * numbers or not one element. */
bool number_of_params(const xir_value *v, double *out);
/* Returns true if `x` is `wanted` within a relative error; an absolute one if `wanted` is 0. */
bool number_near(double x, double wanted, double within);
/* The least normal number above 0 of a float format, and its greatest number. */
void number_range(element_format f, double *least, double *greatest);

#endif
