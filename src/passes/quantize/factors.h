/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Factors, which two files put into constants. A factor is N of the plan by the N that the constants of the
 * network contain already. */
#ifndef QUANTIZE_FACTORS_H
#define QUANTIZE_FACTORS_H

#include "constants.h"

/* Fills the ratios of a constant, whose dim `dim` has the channels of the value. XIR_E_MEMORY. */
xir_status factors_along(const quantizing *q, const xir_value *of, int64_t dim, const xir_value *v,
                         constant_ratios *out);
/* Returns true if a value has factors other than 1. */
bool       factors_matter(const quantizing *q, const xir_value *v);
/* The product of the dims after one. */
size_t     elements_after_dim(const xir_type *type, int64_t dim);

/* The last dim of a type; 1 for rank 0. */
int64_t    last_dim(const xir_type *type);
/* Joins the channels of a value unless they are the n of the last dim, or one. */
void       even_unless_last(quantizing *q, const xir_value *v, int64_t n);

/* ---- factors_product.c: convolutions and matrix products --------------------------------------------------------- */

bool       product_factors_fit(const quantizing *q, const xir_op *op);
void       product_factors_join(quantizing *q, const xir_op *op);
xir_status product_factors_apply(quantizing *q, xir_op *op);
/* Opens the weights and the bias of a product of a map and a constant, with their ratios; the caller closes both.
 * Without a bias bias->value is NULL. */
xir_status product_open(quantizing *q, const xir_op *op, int64_t axis, constant *weights, constant *bias);

/* Gives an op the cut_scale Nx * Ny / Nz of the product of two maps. */
xir_status cut_apply(quantizing *q, xir_op *op);
/* Replaces an operand by the constant with its ratios, as floats. */
xir_status operand_apply(quantizing *q, xir_op *op, uint32_t at, const constant *c);

#endif
