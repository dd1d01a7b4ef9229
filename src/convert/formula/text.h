/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas as texts: "x == 0 ? 1 : Sin(x) / x". They make one op after the other, from left to right.
 *
 *   x y z w           the values
 *   a b c d           the numbers
 *   e = Exp(-x); …    another letter, from here on
 *   alpha  alpha:1    an attribute of the node, a real; what it is if the file does not have it
 *   + - * /  -x       ops of two values, or of a value and a number, which becomes a scalar of its elements. A quotient
 *                     of a value by a number is a DivideScalar
 *   < <= > >= == !=   comparisons
 *   c ? p : q         Where
 *   Sin(x)  Pow(x, 2) an op of this class of XIR. Attributes follow its inputs: ELU(x, alpha=a), Mod(x, y, fmod=1),
 *                     Div(x, y, rounding_mode='TRUNC')
 *   Row(x, y)         an op of the class of the node's row
 *   like(p)           p in the elements of x
 *
 * Numbers next to each other are computed at once; `inf` is one. Scalars without a value next to them have the elements
 * of x. */
#ifndef CONVERT_TEXT_H
#define CONVERT_TEXT_H

#include "node/helpers.h"

#define NUMBERS(...) (const double[]){ __VA_ARGS__ }
/* The value of a formula, of at most four values and four numbers (NULL: none); NULL after a failure. */
xir_value *make_formula(xir_node *at, const char *text, xir_values in, const double *numbers);
/* The node's own inputs, and its output 0. */
bool formula_gives(xir_node *at, const char *text, const double *numbers);
/* A hook that only is a formula. */
#define FORMULA(name, text) bool name(xir_node *at) { return formula_gives(at, text, NULL); }

#endif
