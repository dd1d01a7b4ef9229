/* What the families of `fuse` share: a rule is a pattern and what becomes of it. Row 0 of each pattern is what the
 * fused op reads. */
#ifndef PASSES_FUSE_H
#define PASSES_FUSE_H

#include <xir/ops.h>
#include <xir/pattern.h>
#include "support/numbers.h"

typedef struct fuse_rule {
    const xir_pattern_decl *pattern;
    xir_rewrite_fn         *rewrite;
} fuse_rule;

/* Each ends with a rule without a pattern. */
extern const fuse_rule fuse_activations[], fuse_norms[], fuse_products[];

/* Conditions of rows. */
bool fuse_plain_sum(const xir_op *op, void *user);          /* lhs + rhs, not requantised              */
bool fuse_plain_difference(const xir_op *op, void *user);   /* lhs - rhs                               */
bool fuse_plain_product(const xir_op *op, void *user);      /* lhs * rhs                               */

/* What Multiply, Div or DivideScalar multiplies its other operand by, if one is Params of one element. */
bool fuse_factor(const xir_op *op, double *out);

/* Checks of matches: all ops are the host's, and none is on maps in normalised numbers, for which its constants
 * would be stored; elements are floats, not tiled, and the root has the type of row 0. */
bool fuse_check_ops(const xir_match *m);
bool fuse_check_same(const xir_match *m, void *user);

#endif
