/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fold-batchnorm`: a factor and an addend for each channel, before or after a convolution or a product with a
 * constant matrix, become part of its weights and bias. Exact except for rounding: weights are computed in double and
 * rounded once. If two transposes that undo each other stand between, as a conversion leaves them, they are removed
 * too.
 *
 * After: output channel c is multiplied by f[c], so all weights of this output are, and the bias becomes bias * f + a.
 * Before: weights that read channel c are multiplied by f[c], and the bias gains the sum of a[c] * weights. That is
 * only correct if each output reads all its weights: so not with zero padding, and not in transposed convolutions. A
 * single number for all channels stays where it is: it is usually the end of an activation, and `fuse` needs the whole
 * activation.
 *
 * Factors and addends apply to floats. The other side of the convolution may be a feature map in normalised numbers,
 * for which its weights are stored. The weights are multiplied all the same, because the op is linear in each
 * operand. */
#include "fuse/fuse.h"
#include "manager/pass.h"
#include "pattern/families.h"
#include "support/affine.h"
#include "support/linear.h"
#include "types.h"

/* ---- patterns --------------------------------------------------------------------------------------------------- */

#define LINEAR \
    XIR_ROW_OP(xir_conv1d_class, xir_conv2d_class, xir_conv3d_class, xir_conv_transpose1d_class, \
               xir_conv_transpose2d_class, xir_conv_transpose3d_class, xir_matmul_class)
#define AFFINE \
    XIR_ROW_OP(xir_batch_norm1d_class, xir_batch_norm2d_class, xir_batch_norm3d_class, xir_multiply_class, \
               xir_add_class, xir_div_class, xir_divide_scalar_class)
#define TRANSPOSE XIR_ROW_OP(xir_transpose_class)

/* Both patterns have a row for the first op, whatever it is, so that their row numbers agree. */
enum { X, WEIGHTS, BIAS, CONSTANT, FIRST, THERE, BACK, BETWEEN, LAST };

static const xir_pattern_row after_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [WEIGHTS]  = { XIR_ROW_PARAMS },
    [BIAS]     = { XIR_ROW_PARAMS, .optional = true },
    [CONSTANT] = { XIR_ROW_PARAMS, .optional = true },
    [FIRST]    = { LINEAR, XIR_ROW_INPUTS(X, WEIGHTS, BIAS) },
    [THERE]    = { TRANSPOSE, XIR_ROW_INPUTS(FIRST) },
    [BACK]     = { TRANSPOSE, XIR_ROW_INPUTS(THERE) },
    [BETWEEN]  = { XIR_ROW_EITHER(FIRST, BACK) },
    [LAST]     = { AFFINE, XIR_ROW_INPUTS(BETWEEN, CONSTANT), .commutes = true },
};
static const xir_pattern_row before_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [WEIGHTS]  = { XIR_ROW_PARAMS },
    [BIAS]     = { XIR_ROW_PARAMS, .optional = true },
    [CONSTANT] = { XIR_ROW_PARAMS, .optional = true },
    [FIRST]    = { AFFINE, XIR_ROW_INPUTS(X, CONSTANT), .commutes = true },
    [THERE]    = { TRANSPOSE, XIR_ROW_INPUTS(FIRST) },
    [BACK]     = { TRANSPOSE, XIR_ROW_INPUTS(THERE) },
    [BETWEEN]  = { XIR_ROW_EITHER(FIRST, BACK) },
    [LAST]     = { LINEAR, XIR_ROW_INPUTS(BETWEEN, WEIGHTS, BIAS) },
};

/* Returns true if the transposes between, if any, undo each other. A transpose to another element type converts. */
static bool comes_back(const xir_match *m) {
    if (!xir_match_op(m, THERE)) return true;
    const xir_type *from = xir_type_element(xir_match_value(m, FIRST)->type),
                    *to = xir_type_element(xir_match_value(m, THERE)->type);
    if (!xir_type_equal(from, to)) return false;
    xir_i64s there = xir_transpose_of(xir_match_op(m, THERE))->dims,
             back = xir_transpose_of(xir_match_op(m, BACK))->dims;
    int64_t rank = (int64_t)there.size;
    for (int64_t i = 0; i < rank && (int64_t)back.size == rank; i++) {
        int64_t at = back.data[i] < 0 ? back.data[i] + rank : back.data[i];
        if (at < 0 || at >= rank || (there.data[at] != i && there.data[at] + rank != i)) return false;
    }
    return back.size == there.size &&
           xir_type_equal(xir_match_value(m, FIRST)->type, xir_match_value(m, BETWEEN)->type);
}

static bool read_after(const xir_match *m, linear *l, affine *a) {
    xir_op *first = xir_match_op(m, FIRST), *last = xir_match_op(m, LAST);
    if (!linear_of(first, l) || !target_is_host(op_target(last)) || !comes_back(m)) return false;
    const xir_type *type = op_outputs(first)[0].type;
    const int64_t dim = linear_dim(l, type);
    return dim >= 0 && xir_type_dim(type, dim, false) == l->out_channels &&
           affine_of(last, xir_match_value(m, BETWEEN), dim, l->out_channels, a);
}

static bool read_before(const xir_match *m, linear *l, affine *a) {
    xir_op *first = xir_match_op(m, FIRST), *last = xir_match_op(m, LAST);
    const xir_value *x = xir_match_value(m, X);
    if (value_op(x) == first) return false;   /* it reads itself: its readers would still read it */
    if (!linear_of(last, l) || !target_is_host(op_target(first)) || !fuse_is_plain(x->type)) return false;
    const int64_t dim = linear_dim(l, x->type);
    return dim >= 0 && comes_back(m) && xir_type_dim(x->type, dim, false) == l->in_channels &&
           affine_of(first, x, dim, l->in_channels, a) && !a->uniform &&
           (affine_adds_nothing(a, l->in_channels) || linear_reads_all(l));
}

static bool may_fold_before(const xir_match *m, void *user) {
    linear l;
    affine a;
    return (void)user, read_before(m, &l, &a);
}

/* A match can have no other form, so the rewrite reads it alone, once. Before an op, either operand of constants may be
 * the data. */
static const xir_pattern_decl after = { XIR_PATTERN_HEAD("batchnorm-after", after_rows), .closed = true };
static const xir_pattern_decl before = {
    XIR_PATTERN_HEAD("batchnorm-before", before_rows), .closed = true, .check = may_fold_before,
};

/* The match that remains has one op less: that, or nothing has changed. */
static xir_verdict refit(const xir_match *m, const linear *l, const affine *a, bool is_after) {
    const size_t n = (size_t)(is_after ? l->out_channels : l->in_channels);
    channel_line few[FEW_CHANNELS] = { { 1, 0 } }, *lines = few;
    if (n > FEW_CHANNELS) lines = mem_new(&l->op->net->alloc, n * sizeof *lines);
    if (!lines) {
        net_no_memory(l->op->net);
        return XIR_REWRITE_FAILED;
    }
    for (size_t c = 0; c < n; c++) lines[c] = (channel_line){ affine_factor(a, c), affine_addend(a, c) };
    linear_made made;
    const xir_status status = linear_make(l, lines, is_after, &made);
    if (lines != few) mem_free(&l->op->net->alloc, lines, n * sizeof *lines);
    operand_change change = linear_change(l->op, &made, xir_match_value(m, X));
    if (status || operands_change(&change, 1)) return XIR_REWRITE_FAILED;
    const xir_verdict verdict = xir_match_replace(m, xir_op_output(l->op, 0));
    if (verdict != XIR_REWRITE_DONE) operands_restore(&change, 1);
    return verdict;
}

static xir_verdict fold_after(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    linear l;
    affine a;
    return read_after(m, &l, &a) ? refit(m, &l, &a, true) : XIR_REWRITE_LEFT;
}

static xir_verdict fold_before(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    linear l;
    affine a;
    return read_before(m, &l, &a) ? refit(m, &l, &a, false) : XIR_REWRITE_LEFT;
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

static const pass_rule rules[] = {
    { &after,  fold_after  },
    { &before, fold_before },
    { NULL, NULL },
};

static xir_status run(xir_pass *at) {
    static const pass_rule *const families[] = { rules };
    return rules_run(at, families, 1);
}

const xir_pass_decl pass_fold_batchnorm = {
    XIR_PASS_HEAD("fold-batchnorm", "folds BatchNorm and constants per channel into adjacent weights"),
    .level = XIR_LEVEL_FAST,
    .run = run,
};
