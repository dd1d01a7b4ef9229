/* Constants as numbers, for passes that look at them or compute new ones: floats of 16, 32 and 64 bits and integers of
 * whole bytes, by definition and not by speed. Quantised elements are none of these. */
#ifndef PASSES_NUMBERS_H
#define PASSES_NUMBERS_H

#include "graph.h"

/* How the elements of a type lie in memory. */
typedef enum number_form {
    NUMBER_NONE,    /* no numbers for these functions */
    NUMBER_FP16, NUMBER_BF16, NUMBER_FP32, NUMBER_FP64,
    NUMBER_I8, NUMBER_I16, NUMBER_I32, NUMBER_I64, NUMBER_U8, NUMBER_U16, NUMBER_U32, NUMBER_U64
} number_form;

/* Of a tensor or an element type; NULL is NUMBER_NONE. */
number_form number_form_of(const xir_type *type);
static inline bool number_is_float(number_form form) { return form >= NUMBER_FP16 && form <= NUMBER_FP64; }
/* Element i of bytes that need not be aligned; written rounded once, to nearest even, for floats only. */
double number_read(number_form form, const void *bytes, size_t i);
void   number_write(number_form form, void *bytes, size_t i, double x);

/* The only element of Params; false if they are none, have another number of elements, no bytes, or no numbers. */
bool number_of_params(const xir_value *v, double *out);
/* Whether `x` is `wanted` up to a relative `within`, of 0 an absolute one. */
bool number_near(double x, double wanted, double within);

#endif
