/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the families of `fold-products`. Row 0 of each pattern is the input of what remains. */
#ifndef PASSES_PRODUCTS_H
#define PASSES_PRODUCTS_H

#include <xir/ops.h>
#include "graph.h"
#include "pattern/families.h"

/* After a rewrite, factors further up may reach constants: visits the ops that lead to a value through first inputs, up
 * to a few of them. */
void products_touch_above(xir_rewriter *at, const xir_value *v);

/* The users of the op's result read `x`, its input, instead; their provenance includes the op, which is removed. Needs
 * no memory. */
void products_bypass(xir_rewriter *at, xir_op *op, xir_value *x);

/* A value between a folded constant and the product will have other elements: its name says so. The name before, which
 * products_restore gives back without memory, is in *was; NULL: it has none. */
xir_status products_rename(xir_value *v, const label **was);
void       products_restore(xir_value *v, const label *was);

extern const pass_rule products_factors[], products_norms[], products_pads[], products_orders[], products_forms[];

#endif
