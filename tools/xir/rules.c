/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules of targets: those about one class, for xir ops CLASS, and all of them as Markdown, which is
 * docs/targets.md, byte for byte; a test compares. */
#include "ops.h"

static bool names_classes(const xir_target_rule *rule) { return rule->cls || rule->key || rule->traits; }

static bool names_class(const xir_target_rule *rule, const xir_class *cls) {
    if (rule->cls) return xir_class_find_decl(context, rule->cls()) == cls;
    if (rule->key) return xir_str_equal(xir_str_of(rule->key), xir_class_key(cls));
    return rule->traits && (xir_class_traits(cls) & rule->traits) == rule->traits;
}

/* ---- of one class -------------------------------------------------------------------------------- */

static void print_rule(const xir_target_rule *rule) {
    if (rule->needs) printf("  needs %s%s", rule->needs, rule->flags & XIR_RULE_NOTE ? ", it is said" : "");
    else if (rule->flags & XIR_RULE_EXCLUDES) fputs("  does not run it", stdout);
    else return;
    if (rule->mend) printf("; %s", rule->mend);
    puts("");
}

void print_rules_of(const xir_class *cls) {
    const xir_target_row *row;
    for (size_t i = 0; (row = xir_target_row_at(context, i)); i++) {
        size_t n = 0, excluding = 0;
        for (size_t k = 0; k < row->n_rules; k++) {
            n += names_class(&row->rules[k], cls);
            excluding += names_class(&row->rules[k], cls) && row->rules[k].flags & XIR_RULE_EXCLUDES;
        }
        if (!row->n_rules) continue;
        printf("\non %s\n", row->name);
        if (!n) puts("  does not run it");
        for (size_t k = 0; k < row->n_rules && n; k++) {
            const xir_target_rule *rule = &row->rules[k];
            const bool whole = rule->flags & XIR_RULE_EXCLUDES;
            if (names_class(rule, cls) && whole == (excluding > 0)) print_rule(rule);
        }
        if (n && !excluding) puts("  runs it");
    }
}

/* ---- the page ------------------------------------------------------------------------------------ */

static const char preface[] =
    "# What targets run\n"
    "\n"
    "The rules that the library has for its targets. The program prints this page (`xir ops --rules`); `xir ops Conv2d`\n"
    "lists those about one class.\n"
    "\n"
    "```console\n"
    "$ xir check net.fb --target buyi         # or zhuge:330: what the target does not run, and what mends it\n"
    "$ xir opt net.fb out.fb --passes \"legalize{target=buyi},partition{target=buyi}\"\n"
    "```\n"
    "\n"
    "`xir check --target` asks about every op as if it were for the target, unless the network has ops of the target\n"
    "already: then about these. Input and Output are the host's, and so are Casts of an input or for an output. A target\n"
    "runs no classes but those that are listed. Rules about *elements* are asked of networks with quantised values, or\n"
    "with `--typed`. Breaking a *note* is not an error: a source hints at it, or sources disagree. Ops of classes that\n"
    "are *compiled* are instructions already, and no rule is asked about them.\n"
    "\n"
    "In C, `xir_op_try` and `xir_network_try` ([`xir/legal.h`](../include/xir/legal.h)) ask the same, and\n"
    "`xir_target_set_rules` ([`xir/place.h`](../include/xir/place.h)) replaces the rules: a back end may know more than\n"
    "the published manuals. Ops that break these rules are valid all the same, in files and for passes.\n"
    "[writing-a-target.md](writing-a-target.md) says how rules are written.\n";

static void put_cell(text *t, const char *words) {
    for (const char *c = words ? words : ""; *c; c++) {
        if (*c == '|' || *c == '*' || *c == '_') text_put(t, "\\");
        text_add(t, c, 1);
    }
    text_put(t, " |");
}

static void put_class(text *t, const xir_target_rule *rule) {
    if (rule->cls) {
        const xir_str name = short_key(xir_class_find_decl(context, rule->cls()));
        text_printf(t, "| %.*s | ", (int)name.size, name.data);
    } else {
        text_printf(t, "| %s | ", rule->key ? rule->key : rule->traits ? "activations" : "every class");
    }
}

static void put_rule(text *t, const xir_target_rule *rule) {
    const char *kind = rule->flags & XIR_RULE_NOTE ? " (note)" : rule->flags & XIR_RULE_TYPES ? " (elements)" : "";
    put_class(t, rule);
    text_printf(t, "`%s`%s | ", rule->name ? rule->name : "", kind);
    put_cell(t, rule->needs ? rule->needs : rule->flags & XIR_RULE_EXCLUDES ? "is not run"
                : rule->flags & XIR_RULE_COMPILED ? "is compiled" : "is run");
    text_put(t, " ");
    put_cell(t, rule->mend);
    text_put(t, " ");
    put_cell(t, rule->source);
    text_put(t, "\n");
}

static void put_target(text *t, const xir_target_row *row) {
    text_printf(t, "\n## %s\n\nThe target `%s`: %s.\n\n| class | rule | needs | what mends it | source |\n|---|---|---|---|---|\n",
                row->name, row->name, row->doc);
    for (size_t i = 0; i < row->n_rules; i++) {
        if (!names_classes(&row->rules[i])) put_rule(t, &row->rules[i]);
    }
    for (size_t i = 0; i < row->n_rules; i++) {
        if (names_classes(&row->rules[i])) put_rule(t, &row->rules[i]);
    }
}

void print_rules_markdown(void) {
    text t = { 0 };
    const xir_target_row *row;
    text_put(&t, preface);
    for (size_t i = 0; (row = xir_target_row_at(context, i)); i++) {
        if (row->n_rules) put_target(&t, row);
    }
    write_to(stdout, t.data, t.size);
    text_free(&t);
}
