/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An Einsum as sums, transposes and matrix products. Operands meet two by two, from the left. Of each pair, letters
 * that nothing later needs are summed: those of one operand before, those of both by the product. The caller makes the
 * ops, so that passes and conversions share the plan. */
#ifndef PASSES_EINSUM_H
#define PASSES_EINSUM_H

#include <xir/network.h>

enum { EINSUM_DIMS = 16 };   /* of an operand, and of a product */

typedef enum einsum_kind {
    EINSUM_SUM,          /* of x over the axes `list`, which go         */
    EINSUM_RESHAPE,      /* of x to the dims `list`                     */
    EINSUM_TRANSPOSE,    /* of x by the order `list`                    */
    EINSUM_PRODUCT       /* of x [.., m, k] and y [.., k, n]: m, k, n   */
} einsum_kind;

typedef struct einsum_maker {
    /* Makes one op and returns its result; NULL: it failed, and nothing further is made. */
    xir_value *(*make)(void *user, einsum_kind kind, xir_value *x, xir_value *y, const int64_t *list, size_t n);
    void  *user;
    bool   joins_batch;  /* products have at most one dim in front of the matrices */
} einsum_maker;

/* Makes the ops for an equation that inference accepts for these operands. Returns the result, which is in[0] if no op
 * is needed. NULL: `make` failed; or, with a text in *obstacle, the equation has no such form: it has a diagonal, dims
 * that are open, or too many. */
xir_value *einsum_make(const einsum_maker *maker, xir_str equation, xir_value *const *in, size_t n_in,
                       const char **obstacle);

#endif
