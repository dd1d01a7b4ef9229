/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fold-products`: what is constant before a product becomes part of its constants: factors and addends of one
 * number or one per channel, those of a norm, and padding. Each rewrite lessens a number: ops; then constants of norms.
 * So a run ends. Exact except for rounding: constants are computed in double and rounded once. */
#include "products/products.h"
#include "manager/pass.h"

static xir_status run(xir_pass *at) {
    static const pass_rule *const families[] = { products_factors, products_norms, products_pads };
    return rules_run(at, families, sizeof families / sizeof *families);
}

const xir_pass_decl pass_fold_products = {
    XIR_PASS_HEAD("fold-products", "folds factors, addends and padding into the products that read them"),
    .level = XIR_LEVEL_FAST,
    .run = run,
};
