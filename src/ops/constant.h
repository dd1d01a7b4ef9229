/* The numbers of a constant input, for the few results that depend on them: shapes, counts, limits. There are three
 * answers: the numbers; not known, where the input is a run-time value, has no bytes, or has more of them or other
 * ones than are read here; and a failure, where the type says that they are not what was expected. Once a function
 * asks for numbers its answer is not reused (xir_infer_input_value), so types are looked at first. */
#ifndef OPS_CONSTANT_H
#define OPS_CONSTANT_H

#include "sort.h"

/* One element: rank 0, or one dim of 1 (or unknown). XIR_E_INVALID otherwise. */
xir_status need_one(xir_infer *at, size_t i);

/* Integers in the order of the elements, whatever the rank. More than MOST_CONSTANTS are not known. */
enum { MOST_CONSTANTS = 256 };
typedef struct integer_list {
    bool    known;
    size_t  size;
    int64_t data[MOST_CONSTANTS];
} integer_list;
/* Fails as need_integers does, and with XIR_E_LIMIT if a number exceeds int64. */
xir_status read_integers(xir_infer *at, size_t i, integer_list *out);

/* One number, integer or real; as a real it is `real` in both cases. */
typedef struct constant_number {
    bool    known, is_integer;
    int64_t integer;
    double  real;
} constant_number;
/* Of an input for which need_one and one of the two others hold. XIR_E_LIMIT if it exceeds int64. */
xir_status read_number(xir_infer *at, size_t i, constant_number *out);

#endif
