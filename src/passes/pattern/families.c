/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "pattern/families.h"
#include "manager/pass.h"
#include "number.h"
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

/* Reads the number of the configuration key "rule-order", 0 if there is none. Programs give it as a number or, like the
 * command line, as text. */
static xir_status read_order(xir_pass *at, uint64_t *out) {
    const xir_any *order = xir_pass_config(at, "rule-order");
    number n = { .kind = NUMBER_U64 };
    *out = 0;
    if (!order) return XIR_OK;
    if (order->kind == XIR_ANY_INT && order->as.integer >= 0) *out = (uint64_t)order->as.integer;
    else if (order->kind == XIR_ANY_UINT) *out = order->as.uinteger;
    else if (order->kind == XIR_ANY_TEXT && number_parse(order->as.text.data, order->as.text.size, &n) ==
                                                order->as.text.size && n.kind == NUMBER_I64 && n.i64 >= 0)
        *out = (uint64_t)n.i64;
    else return xir_pass_fail(at, XIR_E_TYPE, NULL, "rule-order: expected a number from 0 on");
    return XIR_OK;
}

/* Puts the rules into one of their orders, each of which is as likely (splitmix64). */
static void shuffle(xir_rule *rules, size_t n, uint64_t seed) {
    for (size_t i = n; i > 1; i--) {
        uint64_t z = seed += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        const size_t k = (size_t)((z ^ (z >> 31)) % i);
        const xir_rule last = rules[i - 1];
        rules[i - 1] = rules[k];
        rules[k] = last;
    }
}

xir_status rules_run(xir_pass *at, const pass_rule *const *families, size_t n_families) {
    xir_rule rules[XIR_RULES];
    size_t n = 0, changes = 0;
    uint64_t order;
    xir_status status = make_rules(at, families, n_families, rules, &n);
    if (!status) status = read_order(at, &order);
    if (!status && order) shuffle(rules, n, order);
    if (!status) status = xir_network_rewrite(xir_pass_network(at), rules, n, sizeof *rules, 0, &changes,
                                              xir_pass_diags(at));
    for (size_t i = 0; i < n; i++) xir_pattern_free((xir_pattern *)(uintptr_t)rules[i].pattern);
    xir_pass_changed(at, changes);
    return status;
}
