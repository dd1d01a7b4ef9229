/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fuse`: replaces several ops by the one op that they amount to. Values inside a pattern must have no use
 * outside; the remaining op computes the last value, under its name. */
#include "fuse/fuse.h"
#include "manager/pass.h"
#include "normalised.h"
#include "pattern/pattern.h"
#include "types.h"

/* ---- conditions ------------------------------------------------------------------------------------------------- */

static bool is_one_scalar(xir_refs list, double wanted) {
    return list.size == 1 && list.data[0] && xir_scalar_as_real((const xir_scalar *)list.data[0]) == wanted;
}

static bool is_sum(const xir_op *op, double beta) {
    const xir_add_attrs *a = xir_add_of(op);
    return a && is_one_scalar(a->alpha, 1) && is_one_scalar(a->beta, beta) && a->cut_scale && !a->cut_scale->items.size;
}

bool fuse_plain_sum(const xir_op *op, void *user)        { return (void)user, is_sum(op, 1); }
bool fuse_plain_difference(const xir_op *op, void *user) { return (void)user, is_sum(op, -1); }

bool fuse_plain_product(const xir_op *op, void *user) {
    (void)user;
    const xir_multiply_attrs *a = xir_multiply_of(op);
    return a && a->cut_scale && !a->cut_scale->items.size;
}

bool fuse_factor(const xir_op *op, double *out) {
    const xir_div_attrs *div = xir_div_of(op);
    const xir_divide_scalar_attrs *by = xir_divide_scalar_of(op);
    if (by) {
        *out = 1 / by->divisor;
        return by->rounding_mode == XIR_ROUNDING_NONE;
    }
    if (div) {
        bool known = div->rounding_mode == XIR_ROUNDING_NONE && number_of_params(xir_op_input(op, 1), out);
        *out = 1 / *out;
        return known;
    }
    return fuse_plain_product(op, NULL) &&
           (number_of_params(xir_op_input(op, 1), out) || number_of_params(xir_op_input(op, 0), out));
}

bool fuse_check_ops(const xir_match *m) {
    for (uint64_t rows = m->pattern->op_rows; rows; rows &= rows - 1) {
        const xir_op *op = m->ops[__builtin_ctzll(rows)];
        if (op && (!target_is_host(op_target(op)) || op_has_normalised(op))) return false;
    }
    return true;
}

bool fuse_check_same(const xir_match *m, void *user) {
    (void)user;
    const xir_value *x = xir_match_value(m, 0), *y = xir_op_output(m->root, 0);
    return y && fuse_check_ops(m) && element_is_float(element_format_of(x->type)) && !xir_type_is_layouted(x->type) &&
           xir_type_equal(x->type, y->type);
}

bool fuse_is_plain(const xir_type *type) {
    const xir_tensor_type *t = xir_type_as_tensor(type);
    return t && !xir_type_is_quantized(t->element_dtype) && !xir_type_is_layouted(type) && t->merged_distrs.size == 0;
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

static const fuse_rule *const families[] = {
    fuse_attention, fuse_attention_heads, fuse_products, fuse_groups, fuse_norms, fuse_roots, fuse_activations,
    fuse_moves, fuse_windows, fuse_einsum,
};

static xir_status run(xir_pass *at) { return rules_run(at, families, sizeof families / sizeof *families); }

const xir_pass_decl pass_fuse = {
    XIR_PASS_HEAD("fuse", "replaces several ops by the one that they amount to: bias, GELU, GroupNorm, Roll and others"),
    .level = XIR_LEVEL_FAST,
    .run = run,
};
