/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "pattern/families.h"
#include "manager/pass.h"
#include "pattern/pattern.h"

static xir_status make_rules(xir_pass *at, const pass_rule *const *families, size_t n_families, xir_rule *rules,
                             size_t *n) {
    for (size_t i = 0; i < n_families; i++) {
        for (const pass_rule *r = families[i]; r->pattern; r++, (*n)++) {
            xir_pattern *p = xir_pattern_new(xir_pass_context(at), r->pattern, xir_pass_diags(at));
            if (!p) return XIR_E_MEMORY;   /* no other error is possible */
            rules[*n] = (xir_rule){ .pattern = p, .rewrite = r->rewrite };
        }
    }
    return XIR_OK;
}

xir_status rules_run(xir_pass *at, const pass_rule *const *families, size_t n_families) {
    xir_rule rules[XIR_RULES];
    size_t n = 0, changes = 0;
    xir_status status = make_rules(at, families, n_families, rules, &n);
    if (!status) status = xir_network_rewrite(xir_pass_network(at), rules, n, sizeof *rules, 0, &changes,
                                              xir_pass_diags(at));
    for (size_t i = 0; i < n; i++) xir_pattern_free((xir_pattern *)(uintptr_t)rules[i].pattern);
    xir_pass_changed(at, changes);
    return status;
}
