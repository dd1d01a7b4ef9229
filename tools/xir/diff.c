/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir diff: what differs between two networks, in their own terms. */
#include <stdlib.h>
#include <string.h>
#include "diff.h"

static bool        with_params, with_ids, ids_ignored, as_json;
static const char *tolerance_word;
static word_list   ignored;

/* ---- networks ------------------------------------------------------------------------------------ */

static void print_summary(const xir_diff_counts *n) {
    printf("%sops: %zu removed, %zu added, %zu moved, %zu changed\n", n->network ? "the network itself changed; " : "",
           (size_t)n->removed, (size_t)n->added, (size_t)n->moved, (size_t)n->changed);
}

static void note_renumbered(size_t n) {
    xir_diags *why = new_diags();
    xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""), "%zu op%s or value%s the same but for the id; --ids shows them",
                  n, n == 1 ? "" : "s", n == 1 ? " is" : "s are");
    say(why);
    xir_diags_free(why);
}

/* The part of a name that a sentence has room for. */
static int shown(xir_str name) { return (int)(name.size < 80 ? name.size : 80); }

static void note_exchanged(const xir_diff_counts *n) {
    xir_str x = xir_op_name(n->exchanged_a[0]), y = xir_op_name(n->exchanged_a[1]);
    xir_diags *why = new_diags();
    xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""), "'%.*s' and '%.*s' look as if their names were exchanged; "
                  "--ignore names matches ops by structure", shown(x), x.data, shown(y), y.data);
    say(why);
    xir_diags_free(why);
}

static int compare(const loaded *a, const loaded *b, xir_diff_options how) {
    xir_diags *why = new_diags();
    xir_diff *d = xir_diff_new(a->net, b->net, &how, why);
    if (!d) {
        int code = exit_of(xir_diags_at(why, 0)->code);
        say(why);
        xir_diags_free(why);
        return code;
    }
    xir_diags_free(why);
    xir_diff_counts counts = XIR_INIT(xir_diff_counts);
    reporting p = { .json = as_json };
    size_t n = xir_diff_count(d);
    xir_diff_summary(d, &counts);
    if (as_json) json_begun();
    if (as_json) printf("[");
    for (size_t i = 0; i < n; i++) report(&p, xir_diff_at(d, i));
    if (as_json) printf(n ? "\n]\n" : "]\n");
    else if (n) print_summary(&counts);
    if (counts.exchanged) note_exchanged(&counts);
    if (counts.renumbered && !how.ids && !ids_ignored) note_renumbered((size_t)counts.renumbered);
    xir_diff_free(d);
    return n ? FAULTY : DONE;
}

/* ---- the command --------------------------------------------------------------------------------- */

static int read_tolerance(double *out) {
    *out = 0;
    if (!tolerance_word) return DONE;
    char *end;
    *out = strtod(tolerance_word, &end);
    if (end != tolerance_word && !*end && *out >= 0) return DONE;
    return complain(MISUSED, "--tolerance takes a number that is not below 0, not '%s'", tolerance_word);
}

/* "names,order,ids" */
static int read_ignored_words(xir_diff_options *how, const char *word) {
    while (word) {
        size_t n = strcspn(word, ",");
        xir_str w = { word, n };
        if (xir_str_equal(w, XIR_STR("names"))) how->ignore |= XIR_DIFF_IGNORE_NAMES;
        else if (xir_str_equal(w, XIR_STR("order"))) how->ignore |= XIR_DIFF_IGNORE_ORDER;
        else if (xir_str_equal(w, XIR_STR("ids"))) ids_ignored = true;
        else return complain(MISUSED, "--ignore takes names, order or ids, not '%.*s'", (int)n, word);
        word = word[n] ? word + n + 1 : NULL;
    }
    return DONE;
}

static int read_ignored(xir_diff_options *how) {
    for (size_t i = 0; i < ignored.n; i++)
        if (read_ignored_words(how, ignored.items[i])) return MISUSED;
    if (!ids_ignored || !with_ids) return DONE;
    return complain(MISUSED, "--ids and --ignore ids contradict each other");
}

static int run(int n, char **operands) {
    (void)n;
    xir_diff_options how = XIR_INIT(xir_diff_options, .ids = with_ids);
    if (check_colour() || read_tolerance(&how.tolerance) || read_ignored(&how)) return MISUSED;
    if (tolerance_word) with_params = true;
    if (with_params && load_args.no_params) {
        return complain(MISUSED, "%s and --no-params contradict each other",
                        tolerance_word ? "--tolerance" : "--params");
    }
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0) {
        return complain(MISUSED, "only one of the two can be standard input");
    }
    /* Without --params the structures are compared, so nothing else is read; and what a file that does not fit its
     * MD5 has instead is just what is asked. */
    how.params = with_params;
    load_args.no_params = !with_params;
    loaded a = { 0 }, b = { 0 };
    int code = load(&a, operands[0], XIR_LOAD_NO_MD5);
    if (!code) code = load(&b, operands[1], XIR_LOAD_NO_MD5);
    if (!code) code = compare(&a, &b, how);
    unload(&a);
    unload(&b);
    free((void *)ignored.items);
    return code;
}

static const option options[] = {
    { "params", NULL, WORD_NONE, &with_params, "compare the parameters by value" },
    { "tolerance", "T", WORD_TEXT, &tolerance_word, "floats that differ by at most T are the same; implies --params" },
    { "ids", NULL, WORD_NONE, &with_ids, "compare ids too" },
    { "ignore", "LIST", WORD_TEXT, &ignored, "ignore names, order or ids, or several: names,order", .many = true },
    { "json", NULL, WORD_NONE, &as_json, "print a list of JSON objects, one for each difference" },
    COLOR_OPTION,
    NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command diff_command = {
    .name = "diff", .operands = "A B", .is = WORD_FILE,
    .doc = "prints what differs between two networks",
    .details = "Ops are recognised by name, by id, and by their neighbours, not by their position. Ops that were "
               "removed (-), added (+), moved in the execution order (>) or changed (~) are listed, attribute by "
               "attribute. A different id alone is not a difference.",
    .faulty = "the networks differ, or a file is invalid",
    .examples = (const example[]){
        { "xir convert digits.onnx same.json", "Make a file to compare with." },
        { "xir diff digits.onnx same.json --params", "Compare two networks, and their parameters by value." },
        { NULL, NULL },
    },
    .related = "compare view",
    .options = options, .least = 2, .most = 2, .run = run,
};
