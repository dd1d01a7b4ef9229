/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fold-products`: what is constant before a product becomes part of its constants: factors and addends of one
 * number or one per channel, those of a norm, and padding. Quotients that remain become products. Each rewrite lessens
 * a number: ops; then constants of norms; then quotients and powers. So a run ends. Exact except for rounding, since
 * constants are computed in double and rounded once. */
#include "products/products.h"
#include <string.h>
#include "manager/pass.h"
#include "provenance.h"
#include "support/upkeep.h"

void products_touch_above(xir_rewriter *at, const xir_value *v) {
    enum { STEPS = 8 };
    for (size_t i = 0; i < STEPS && v && value_op(v); i++) {
        xir_op *op = value_op(v);
        xir_rewriter_touch(at, op);
        v = op->n_inputs ? op_inputs(op)[0].value : NULL;
    }
}

void products_bypass(xir_rewriter *at, xir_op *op, xir_value *x) {
    const xir_value *y = xir_op_output(op, 0);
    while (y->uses) {
        xir_use *use = y->uses;
        xir_op *user = use->user;
        provenance_absorbed(user, op);
        use_unlink(use);
        use_link(use, user, x);
        xir_rewriter_touch(at, user);
    }
    op->net->epoch++;
    op_drop(op);
    products_touch_above(at, x);
}

xir_status products_rename(xir_value *v, const label **was) {
    static const char suffix[] = ".folded";
    enum { MOST = 200 };
    char room[MOST + sizeof suffix];
    const xir_str name = xir_value_name(v);
    const size_t n = (size_t)text_clip(name, MOST);
    *was = name.size ? value_more_of(v)->name : NULL;
    if (!*was) return XIR_OK;
    memcpy(room, name.data, n);
    memcpy(room + n, suffix, sizeof suffix);
    return xir_value_set_name(v, xir_str_of(room));
}

void products_restore(xir_value *v, const label *was) {
    if (!was) return;
    value_more_of(v)->name = was;
    value_named(v);
}

/* A factor may be further from a constant than the rewriter looks: then the rules are tried again. */
static xir_status run(xir_pass *at) {
    static const pass_rule *const families[] = {
        products_factors, products_norms, products_pads, products_orders, products_forms,
    };
    xir_status status = XIR_OK;
    for (size_t before = SIZE_MAX; !status && at->changes != before;) {
        before = at->changes;
        status = rules_run(at, families, sizeof families / sizeof *families);
    }
    return status;
}

const xir_pass_decl pass_fold_products = {
    XIR_PASS_HEAD("fold-products", "folds factors, addends and padding into the products that read them"),
    .level = XIR_LEVEL_FAST,
    .run = run,
};
