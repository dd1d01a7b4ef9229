/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the families of `fuse`: a rule is a pattern and its rewrite. Row 0 of each pattern is the input of the
 * fused op. */
#ifndef PASSES_FUSE_H
#define PASSES_FUSE_H

#include <xir/ops.h>
#include "support/numbers.h"
#include "pattern/families.h"

typedef pass_rule fuse_rule;

/* Each list ends with a rule without a pattern. */
extern const fuse_rule fuse_activations[], fuse_norms[], fuse_products[];
extern const fuse_rule fuse_attention[], fuse_attention_heads[];
extern const fuse_rule fuse_einsum[], fuse_groups[], fuse_moves[], fuse_roots[], fuse_windows[];

/* Conditions for rows. */
bool fuse_plain_sum(const xir_op *op, void *user);          /* lhs + rhs, not requantised              */
bool fuse_plain_difference(const xir_op *op, void *user);   /* lhs - rhs                               */
bool fuse_plain_product(const xir_op *op, void *user);      /* lhs * rhs                               */

/* The factor that Multiply, Div or DivideScalar applies to its other operand, if one operand is Params of one
 * element. */
bool fuse_factor(const xir_op *op, double *out);

/* Checks of matches: every op runs on the host and none works on feature maps in normalised numbers, for which its
 * constants would be stored; elements are floats in an untiled layout, and the root has the type of row 0. */
bool fuse_check_ops(const xir_match *m);
bool fuse_check_same(const xir_match *m, void *user);
/* Returns true if a type is a tensor that is neither quantised nor tiled nor partly valid. */
bool fuse_is_plain(const xir_type *type);

#endif
