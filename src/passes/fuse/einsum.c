/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An Einsum of one operand becomes a Sum and a Transpose, one of two operands that sums a letter of both a Matmul:
 *
 *     y = Einsum a b [bhid,bhjd->bhij]    =>    t = Transpose b [0,1,3,2]
 *                                               y = Matmul a t
 *
 * Outer products, diagonals and three or more operands stay. Each rewrite lessens the number of Einsums. */
#include <xir/sugar.h>
#include "fuse/fuse.h"
#include "support/einsum.h"
#include "support/upkeep.h"

enum { X, Y, OUT };

static const xir_pattern_row rows[] = {
    [X]   = { XIR_ROW_ANY },
    [Y]   = { XIR_ROW_ANY, .optional = true },
    [OUT] = { XIR_ROW_OP(xir_einsum_class), XIR_ROW_INPUTS(X, Y) },
};

static size_t operands_of(const xir_match *m, xir_value *in[2]) {
    in[0] = xir_match_value(m, X);
    in[1] = xir_match_value(m, Y);
    return in[1] ? 2 : 1;
}

static bool is_float(const xir_value *v) {
    return fuse_is_plain(v->type) && element_is_float(element_format_of(v->type));
}

/* Counts the ops that would be made, and products that sum nothing. */
typedef struct trial { size_t ops, outer; } trial;

static xir_value *try_op(void *user, einsum_kind kind, xir_value *x, xir_value *y, const int64_t *list, size_t n) {
    trial *t = user;
    (void)y, (void)n;
    t->ops++;
    t->outer += kind == EINSUM_PRODUCT && list[1] == 1;
    return x;
}

static bool is_product(const xir_match *m, void *user) {
    xir_value *in[2], *y = xir_op_output(m->root, 0);
    const char *obstacle;
    trial t = { 0 };
    const size_t n = operands_of(m, in);
    (void)user;
    if (!y || !fuse_check_ops(m) || !is_float(y) || !is_float(in[0]) || (n > 1 && !is_float(in[1]))) return false;
    if (xir_value_is_params(in[0]) && (n == 1 || xir_value_is_params(in[1]))) return false;   /* fold computes it */
    return einsum_make(&(einsum_maker){ try_op, &t, false }, xir_einsum_of(m->root)->equation, in, n, &obstacle) &&
           t.ops && !t.outer;
}

static const xir_pattern_decl einsum = { XIR_PATTERN_HEAD("einsum", rows), .check = is_product };

static xir_value *make_op(void *user, einsum_kind kind, xir_value *x, xir_value *y, const int64_t *list, size_t n) {
    const xir_match *m = user;
    const xir_at at = xir_match_at(m);
    if (kind == EINSUM_SUM) {
        xir_sum_attrs a = xir_sum_init();
        a.dim = (xir_i64s){ list, n };
        a.keepdim = false;
        return XIR_OP(at, sum, .input = x, .attrs = &a);
    }
    if (kind == EINSUM_RESHAPE) {
        xir_reshape_attrs a = xir_reshape_init();
        a.shape = (xir_i64s){ list, n };
        a.layout = xir_layout_default(at.net->ctx, n);
        return a.layout ? XIR_OP(at, reshape, .input = x, .attrs = &a) : NULL;
    }
    if (kind == EINSUM_TRANSPOSE) {
        xir_transpose_attrs a = xir_transpose_init();
        a.dims = (xir_i64s){ list, n };
        a.layout = xir_layout_default(at.net->ctx, n);
        return a.layout ? XIR_OP(at, transpose, .input = x, .attrs = &a) : NULL;
    }
    return XIR_OP(at, matmul, .x = x, .k = y);
}

/* The letters of the axes are those of the Einsum's result. */
static xir_value *with_layout(const xir_match *m, xir_value *v) {
    const xir_type *wanted = xir_op_output(m->root, 0)->type;
    if (!v || xir_type_equal(v->type, wanted)) return v;
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = xir_type_as_tensor(wanted)->shape;
    a.layout = xir_type_layout(wanted);
    return XIR_OP(xir_match_at(m), reshape, .input = v, .attrs = &a);
}

static xir_verdict to_product(xir_rewriter *at, const xir_match *m, const void *user) {
    xir_value *in[2];
    const char *obstacle;
    (void)at, (void)user;
    const size_t n = operands_of(m, in);
    const einsum_maker maker = { make_op, (void *)(uintptr_t)m, false };
    xir_value *y = einsum_make(&maker, xir_einsum_of(m->root)->equation, in, n, &obstacle);
    return xir_match_replace(m, with_layout(m, y));
}

const fuse_rule fuse_einsum[] = { { &einsum, to_product }, { NULL, NULL } };
