/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes that are lists of rules: a rule is a pattern and its rewrite. */
#ifndef PASSES_FAMILIES_H
#define PASSES_FAMILIES_H

#include <xir/pass.h>
#include <xir/pattern.h>

typedef struct pass_rule {
    const xir_pattern_decl *pattern;
    xir_rewrite_fn         *rewrite;
} pass_rule;

/* Applies the rules of families, which are lists that end with a rule without a pattern, until none applies, and counts
 * the rewrites as changes of the pass. Where several rules fit an op, the first one is tried first: what remains should
 * not depend on that. With the key "rule-order" in the configuration of the run, a number other than 0, rules are tried
 * in another order, which depends on the number. */
xir_status rules_run(xir_pass *at, const pass_rule *const *families, size_t n);

#endif
