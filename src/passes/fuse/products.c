/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A constant that is added to a matrix product becomes its bias. The sum of two computed values stays: it joins two
 * branches. */
#include "fuse/fuse.h"

static bool is_plain_matmul(const xir_op *op, void *user) {
    (void)user;
    const xir_matmul_attrs *a = xir_matmul_of(op);
    return a->cut_scale && !a->cut_scale->items.size;
}

enum { M_X, M_K, M_PRODUCT, M_BIAS, M_OUT };
static const xir_pattern_row bias_rows[] = {
    [M_X]       = { XIR_ROW_ANY },
    [M_K]       = { XIR_ROW_ANY },
    [M_PRODUCT] = { XIR_ROW_OP(xir_matmul_class), XIR_ROW_INPUTS(M_X, M_K), .where = is_plain_matmul },
    [M_BIAS]    = { XIR_ROW_PARAMS },
    [M_OUT]     = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(M_PRODUCT, M_BIAS), .commutes = true,
                    .where = fuse_plain_sum },
};

/* The constant broadcasts to the product, not the other way round. */
static bool broadcasts(const xir_match *m, void *user) {
    (void)user;
    const xir_value *product = xir_match_value(m, M_PRODUCT), *sum = xir_match_value(m, M_OUT);
    return sum && fuse_check_ops(m) && element_is_float(element_format_of(product->type)) &&
           xir_type_equal(product->type, sum->type);
}

static const xir_pattern_decl bias = { XIR_PATTERN_HEAD("matmul-bias", bias_rows), .closed = true,
                                       .check = broadcasts };

static xir_verdict add_bias(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    xir_op *product = xir_match_op(m, M_PRODUCT);
    xir_value *constant = xir_match_value(m, M_BIAS);
    bool has_place = xir_op_input_count(product) > 2;   /* an absent operand */
    xir_status status = has_place ? xir_op_set_input(product, 2, constant) : xir_op_add_input(product, constant);
    return status ? XIR_REWRITE_FAILED : xir_match_replace(m, xir_match_value(m, M_PRODUCT));
}

const fuse_rule fuse_products[] = {
    { &bias, add_bias },
    { NULL, NULL },
};
