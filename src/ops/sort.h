/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of the kind of elements: XIR_E_TYPE for the wrong kind. Inputs without a type and types of classes unknown to
 * the library pass. need_numbers also accepts quantised types, which stand for numbers. */
#ifndef OPS_SORT_H
#define OPS_SORT_H

#include "shape.h"

xir_status need_reals(xir_infer *at, size_t i);      /* floating-point numbers                   */
xir_status need_numbers(xir_infer *at, size_t i);    /* floating-point numbers or integers       */
xir_status need_bools(xir_infer *at, size_t i);
/* Integers used as counts or indices: no other type is allowed. */
xir_status need_integers(xir_infer *at, size_t i);

/* The element type of a tensor. For a type that is not a tensor, the type itself. */
const xir_type *element_of(const xir_type *type);
/* Returns true if the elements are plain integers, or plain floating-point numbers. False without a type. */
bool            holds_integers(const xir_type *type);
bool            holds_reals(const xir_type *type);

#endif
