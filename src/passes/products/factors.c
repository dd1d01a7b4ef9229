/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A factor and an addend, of one number or one per index of a dim, that go into the constants of all ops that use the
 * result, directly or through linear ops.
 *
 *     y = Multiply x s                         a = Mean x
 *     a = Mean y               =>              b = Conv2d a w'      w' = w * s
 *     b = Conv2d a w                           c = Conv2d x v'      v' = v * s
 *     c = Conv2d y v
 */
#include "canon/canon.h"
#include "products/absorb.h"
#include "products/products.h"
#include "support/affine.h"

enum { X, CONSTANT, OUT };

static const xir_pattern_row rows[] = {
    [X]        = { XIR_ROW_ANY },
    [CONSTANT] = { XIR_ROW_PARAMS, .optional = true },
    [OUT]      = { XIR_ROW_OP(xir_multiply_class, xir_add_class, xir_div_class, xir_divide_scalar_class,
                              xir_batch_norm1d_class, xir_batch_norm2d_class, xir_batch_norm3d_class),
                   XIR_ROW_INPUTS(X, CONSTANT), .commutes = true },
};

/* The dim along which the op's constant lies, and its size; if it is one number, any dim. */
static bool read_dim(const xir_match *m, int64_t *dim, int64_t *size) {
    const xir_type *x = xir_match_value(m, X)->type;
    const xir_value *constant = xir_match_value(m, CONSTANT);
    const int64_t rank = (int64_t)xir_type_rank(x), more = constant ? rank - (int64_t)xir_type_rank(constant->type) : 0;
    *dim = channel_dim(x);
    if (more < 0 || rank < 1) return false;
    for (int64_t i = 0, found = -1; constant && i < rank - more; i++) {
        if (xir_type_dim(constant->type, i, false) == 1) continue;
        if (found >= 0) return false;
        *dim = found = i + more;
    }
    *size = xir_type_dim(x, *dim, false);
    return true;
}

/* The numbers are left to the rewrite, which needs them. */
static bool may_be_affine(const xir_match *m, void *user) {
    (void)user;
    return absorb_may(xir_op_output(m->root, 0)) && canon_check_ops(m) &&
           fuse_is_plain(xir_match_value(m, X)->type) && xir_match_op(m, X) != m->root;
}

static const xir_pattern_decl affine_ = { XIR_PATTERN_HEAD("affine", rows), .check = may_be_affine };

static xir_verdict fold(xir_rewriter *at, const xir_match *m, const void *user) {
    int64_t dim, size;
    affine a;
    absorption c;
    xir_verdict verdict = XIR_REWRITE_LEFT;
    (void)user;
    if (!read_dim(m, &dim, &size) || !affine_of(m->root, xir_match_value(m, X), dim, size, &a)) return XIR_REWRITE_LEFT;
    const bool one = a.uniform || size == 1;
    if (!one && (size < 1 || size > ABSORB_LINES)) return XIR_REWRITE_LEFT;
    channel_line *lines = absorb_begin(&c, xir_op_output(m->root, 0), dim, one ? 1 : (size_t)size);
    for (size_t i = 0; lines && i < c.n_lines; i++)
        lines[i] = (channel_line){ affine_factor(&a, i), affine_addend(&a, i) };
    absorb_frees(&c, xir_match_value(m, CONSTANT));
    if (lines && absorb_plan(&c)) {
        verdict = absorb_make(&c) || absorb_take(&c) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
        if (verdict == XIR_REWRITE_DONE) {
            absorb_done(&c, at);
            products_bypass(at, m->root, xir_match_value(m, X));
        }
    }
    if (c.no_memory) {
        net_no_memory(c.net);
        verdict = XIR_REWRITE_FAILED;
    }
    absorb_end(&c);
    return verdict;
}

const pass_rule products_factors[] = { { &affine_, fold }, { NULL, NULL } };
