/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `canon`: gives ops that compute the same bits one form, so that other passes and back ends have to know only
 * that one. Each rule lessens a number: ops; then ops of the form that it gives up. So a run ends. */
#include "canon/canon.h"
#include "manager/pass.h"
#include "pattern/pattern.h"
#include "support/upkeep.h"
#include "types.h"

bool canon_check_ops(const xir_match *m) {
    for (uint64_t rows = m->pattern->op_rows; rows; rows &= rows - 1) {
        const size_t row = (size_t)__builtin_ctzll(rows);
        const xir_op *op = m->ops[row];
        if (op && xir_op_extra(op)) return false;
        if (op == m->root && row != (size_t)m->pattern->root) return false;   /* it reads itself */
    }
    return fuse_check_ops(m);
}

bool canon_check(const xir_match *m, void *user) {
    const xir_value *x = xir_match_value(m, 0), *y = xir_op_output(m->root, 0);
    (void)user;
    return y && canon_check_ops(m) && fuse_is_plain(x->type) && xir_type_equal(x->type, y->type);
}

bool canon_check_floats(const xir_match *m, void *user) {
    return canon_check(m, user) && element_is_float(element_format_of(xir_match_value(m, 0)->type));
}

xir_value *canon_number(const xir_match *m, double number) {
    const xir_type *x = xir_match_value(m, 0)->type;
    xir_network *net = m->root->net;
    const int64_t one = 1;
    const xir_i64s dims = { &one, xir_type_rank(x) ? 1 : 0 };
    const xir_type *type = type_tensor(&net->pool, xir_type_element(x), NULL, dims, (xir_refs){ 0 });
    uint64_t bytes = 0, room[2] = { 0 };
    if (!type || xir_type_bytes(type, &bytes) || bytes > sizeof room) return NULL;
    element_put_real(element_format_of(x), room, 0, number);
    return xir_params_copy(net, XIR_STR(""), type, room, bytes);
}

xir_verdict canon_keep(const xir_match *m, xir_value *kept) {
    xir_value *old = xir_op_output(m->root, 0);
    size_t moved = 0;
    if (value_replace(kept, old, false, &moved)) return XIR_REWRITE_FAILED;
    if (!moved) return XIR_REWRITE_LEFT;
    for (uint64_t rows = m->pattern->op_rows; rows;) {        /* the root first, then what it read */
        const int row = 63 - __builtin_clzll(rows);
        xir_op *op = m->ops[row];
        rows ^= UINT64_C(1) << row;
        if (op && op_is_unused(op) && xir_op_erase(op)) return XIR_REWRITE_FAILED;
    }
    return XIR_REWRITE_DONE;
}

static xir_status run(xir_pass *at) {
    static const pass_rule *const families[] = {
        canon_clips, canon_images, canon_pairs, canon_parts, canon_products, canon_slices, canon_windows,
    };
    return rules_run(at, families, sizeof families / sizeof *families);
}

const xir_pass_decl pass_canon = {
    XIR_PASS_HEAD("canon", "gives ops that compute the same bits one form"),
    .level = XIR_LEVEL_EXACT,
    .run = run,
};
