/* Constants as numbers, for passes that look at them. */
#ifndef PASSES_NUMBERS_H
#define PASSES_NUMBERS_H

#include "elements.h"
#include "graph.h"

/* The only element of Params; false if they are none, have another number of elements, no bytes, or no numbers. */
bool number_of_params(const xir_value *v, double *out);
/* Whether `x` is `wanted` up to a relative `within`, of 0 an absolute one. */
bool number_near(double x, double wanted, double within);

#endif
