/* Which sort of elements an input has: XIR_E_TYPE if it is another one. Nothing is said of an input without a type,
 * of types of a class that the library does not know, and, of numbers, of quantised ones: those stand for numbers. */
#ifndef OPS_SORT_H
#define OPS_SORT_H

#include "shape.h"

xir_status need_reals(xir_infer *at, size_t i);      /* floating-point numbers                   */
xir_status need_numbers(xir_infer *at, size_t i);    /* floating-point numbers or integers       */
xir_status need_bools(xir_infer *at, size_t i);
/* Integers that count or point: nothing else will do. */
xir_status need_integers(xir_infer *at, size_t i);

/* The element type of a tensor, or a type that is no tensor: what is computed of one number is computed of it. */
const xir_type *element_of(const xir_type *type);
/* Whether those are plain integers, or plain floating-point numbers. False without a type. */
bool            holds_integers(const xir_type *type);
bool            holds_reals(const xir_type *type);

#endif
