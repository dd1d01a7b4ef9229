/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the families of `fold-products`. Row 0 of each pattern is the input of what remains. */
#ifndef PASSES_PRODUCTS_H
#define PASSES_PRODUCTS_H

#include <xir/ops.h>
#include "pattern/families.h"

/* After a rewrite, factors further up may reach constants: visits the ops that lead to a value through first inputs, up
 * to a few of them. */
void products_touch_above(xir_rewriter *at, const xir_value *v);

/* A value between a folded constant and the product has other elements from now on. Its name says so. */
xir_status products_changed(xir_value *v);
/* Takes that name back, which the network still has: it needs no memory. */
void products_restore(xir_value *v);

extern const pass_rule products_factors[], products_norms[], products_pads[], products_orders[], products_forms[];

#endif
