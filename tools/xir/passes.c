/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir passes: what passes of this build, and of plug-ins, say of themselves. */
#include <stdlib.h>
#include <string.h>
#include "opt.h"

static bool as_json;

static const char *const level_words[] = { "", "needed", "exact", "fast", "max" };   /* ORDER LEVEL */
static const char *const kind_words[]  = { "integer", "number", "bool", "text" };    /* ORDER PASS_KIND */

static const char *level_word(int level) { return level_words[level ? level : XIR_LEVEL_NEEDED]; }

int level_of(const char *word) {
    for (int i = XIR_LEVEL_NEEDED; i <= XIR_LEVEL_MAX; i++) {
        const char digit[] = { (char)('0' + i), '\0' };
        if (strcmp(word, level_words[i]) == 0 || strcmp(word, digit) == 0) return i;
    }
    return 0;
}

/* Another name of a pass, which a dialect gives it; NULL past the end. */
static const char *other_name(const xir_pass_decl *pass, size_t i) {
    const xir_dialect_decl *dialect;
    for (size_t k = 0; (dialect = xir_dialect_at(context, k)); k++) {
        if (dialect->pass && xir_pass_find(context, xir_str_of(dialect->pass)) == pass && i-- == 0)
            return dialect->pass;
    }
    return NULL;
}

/* ---- as text ------------------------------------------------------------------------------------- */

static void print_pass(const xir_pass_decl *pass) {
    const char *other;
    printf("%s\n  %s\n  level: %s\n", pass->name, pass->doc, level_word(pass->level));
    for (size_t i = 0; (other = other_name(pass, i)); i++) printf("  also: %s\n", other);
    for (const char *const *need = pass->needs; need && *need; need++) printf("  needs: %s\n", *need);
    if (pass->n_options) printf("\noptions\n");
    xir_pass_option o;
    for (size_t i = 0; xir_pass_option_at(pass, i, &o); i++) {
        printf("  %s: %s", o.name, kind_words[o.kind]);
        if (o.default_text && *o.default_text) printf(" = %s", o.default_text);
        printf("\n    %s\n", o.doc);
    }
}

static void print_list(void) {
    size_t most = 0;
    const xir_pass_decl *pass;
    for (size_t i = 0; (pass = xir_pass_at(context, i)); i++)
        most = strlen(pass->name) > most ? strlen(pass->name) : most;
    table_begin();
    for (size_t i = 0; (pass = xir_pass_at(context, i)); i++) {
        printf("%-*s  %-6s  %s\n", (int)most, pass->name, level_word(pass->level), pass->doc);
    }
    table_end();
    printf("\nwithout --passes xir opt runs: %s\n", xir_default_pipeline());
}

/* ---- as JSON ------------------------------------------------------------------------------------- */

static void put_pass(json_out *j, const xir_pass_decl *pass) {
    json_open(j, NULL, '{');
    json_str(j, "name", xir_str_of(pass->name));
    json_str(j, "doc", xir_str_of(pass->doc));
    json_str(j, "level", xir_str_of(level_word(pass->level)));
    json_open(j, "also", '[');
    const char *other;
    for (size_t i = 0; (other = other_name(pass, i)); i++) json_str(j, NULL, xir_str_of(other));
    json_close(j, ']');
    json_open(j, "needs", '[');
    for (const char *const *need = pass->needs; need && *need; need++) json_str(j, NULL, xir_str_of(*need));
    json_close(j, ']');
    json_open(j, "options", '[');
    xir_pass_option o;
    for (size_t i = 0; xir_pass_option_at(pass, i, &o); i++) {
        json_open(j, NULL, '{');
        json_str(j, "name", xir_str_of(o.name));
        json_str(j, "kind", xir_str_of(kind_words[o.kind]));
        json_str(j, "default", xir_str_of(o.default_text));
        json_str(j, "doc", xir_str_of(o.doc));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json(const xir_pass_decl *one) {
    json_out j = { 0 };
    const xir_pass_decl *pass;
    json_open(&j, NULL, '{');
    json_str(&j, "default", xir_str_of(xir_default_pipeline()));
    json_open(&j, "passes", '[');
    for (size_t i = 0; (pass = xir_pass_at(context, i)); i++)
        if (!one || pass == one) put_pass(&j, pass);
    json_close(&j, ']');
    json_close(&j, '}');
    json_print(&j);
}

/* ---- the command --------------------------------------------------------------------------------- */

static int unknown(const char *name) {
    size_t n = 0;
    while (xir_pass_at(context, n)) n++;
    const char **names = take(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = xir_pass_at(context, i)->name;
    const char *meant = nearest(name, names);
    if (meant) complain(MISUSED, "there is no pass '%s'; did you mean '%s'?", name, meant);
    else complain(MISUSED, "there is no pass '%s'; xir passes lists them", name);
    free((void *)names);
    return MISUSED;
}

static int run(int n, char **operands) {
    const xir_pass_decl *one = n ? xir_pass_find(context, xir_str_of(operands[0])) : NULL;
    if (n && !one) return unknown(operands[0]);
    if (as_json) print_json(one);
    else if (one) print_pass(one);
    else print_list();
    return DONE;
}

static const option options[] = {
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object: the default pipeline, and all about the passes" },
    { 0 },
};

const command passes_command = {
    .name = "passes", .operands = "[NAME]", .is = WORD_PASS,
    .doc = "lists the passes, or prints all about one",
    .details = "Passes are what xir opt runs. With --plugin those of the plug-in are listed too.",
    .examples = (const example[]){
        { "xir passes", "List the passes, and the default pipeline." },
        { "xir passes fold", "Read all about one." },
        { NULL, NULL },
    },
    .related = "opt ops",
    .options = options, .least = 0, .most = 1, .run = run,
};
