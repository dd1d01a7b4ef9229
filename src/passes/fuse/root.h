/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rows that LayerNorm and RMSNorm share: a value divided by sqrt(variance + eps), or multiplied by its reciprocal. The
 * names of the rows have a prefix; `variance` and `data` are rows before them. */
#ifndef FUSE_ROOT_H
#define FUSE_ROOT_H

#include "fuse/fuse.h"

#define ROOT_NAMES(p)                                                                                                \
    p##EPS, p##SUM, p##SQRT, p##HALF, p##RAISED, p##ROOT, p##ONE, p##RECIPROCAL, p##PART, p##MINUS, p##LOW, \
    p##INVERSE, p##DIVIDED, p##SCALED, p##OUT

#define ROOT_ROWS(p, variance, data)                                                                                 \
    [p##EPS]        = { XIR_ROW_PARAMS },                                                                            \
    [p##SUM]        = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(variance, p##EPS), .commutes = true,               \
                        .where = fuse_plain_sum },                                                                   \
    [p##SQRT]       = { XIR_ROW_OP(xir_sqrt_class), XIR_ROW_INPUTS(p##SUM) },                                        \
    [p##HALF]       = { XIR_ROW_NUMBER(0.5) },                                                                       \
    [p##RAISED]      = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(p##SUM, p##HALF) },                               \
    [p##ROOT]       = { XIR_ROW_EITHER(p##SQRT, p##RAISED) },                                                        \
    [p##ONE]        = { XIR_ROW_NUMBER(1) },                                                                         \
    [p##RECIPROCAL] = { XIR_ROW_OP(xir_reciprocal_class), XIR_ROW_INPUTS(p##ROOT) },                                 \
    [p##PART]       = { XIR_ROW_OP(xir_div_class), XIR_ROW_INPUTS(p##ONE, p##ROOT), .where = fuse_true_quotient },   \
    [p##MINUS]      = { XIR_ROW_NUMBER(-0.5) },                                                                      \
    [p##LOW]        = { XIR_ROW_OP(xir_pow_class), XIR_ROW_INPUTS(p##SUM, p##MINUS) },                               \
    [p##INVERSE]    = { XIR_ROW_EITHER(p##RECIPROCAL, p##PART, p##LOW) },                                            \
    [p##DIVIDED]    = { XIR_ROW_OP(xir_div_class), XIR_ROW_INPUTS(data, p##ROOT), .where = fuse_true_quotient },     \
    [p##SCALED]     = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(data, p##INVERSE), .commutes = true,          \
                        .where = fuse_plain_product },                                                               \
    [p##OUT]        = { XIR_ROW_EITHER(p##DIVIDED, p##SCALED) }

/* The dims of a Mean over a value, all of them if it lists none. `room` has room for FUSE_DIMS. */
enum { FUSE_DIMS = 32 };
xir_i64s fuse_mean_dims(const xir_op *mean, const xir_type *type, int64_t *room);
bool     fuse_keeps_dims(const xir_op *op, void *user);         /* a Mean that keeps its dims         */
bool     fuse_true_quotient(const xir_op *op, void *user);      /* a Div that does not round          */
/* Returns true if a constant has exactly the dims of a type that `axis` lists, and 1 elsewhere. */
bool     fuse_has_dims(const xir_type *constant, const xir_type *type, xir_i64s axis);

#endif
